"""Forces and laws that jump: found next to a state, and told with what to do about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kempe.simulation.machine import Machine

#: How near to a state an element is looked at for a jump, in sizes (where a motion crawls, where steps were refused),
#: and what counts as one, by the element's own size.
CRAWLING, REFUSED, JUMP = 1e-5, 1e-3, 1e-2


def jumping(machine: Machine, q: np.ndarray, v: np.ndarray, t: float, within: float) -> dict[str, str]:
    """The elements whose forces or laws jump next to a state, and with what: velocity, position or time.

    What an element gives on both sides of the state is compared at two distances: of a jump both differences are alike.
    """
    found: dict[str, str] = {}
    directions = np.ones(len(q)), np.where(np.arange(len(q)) % 2 == 0, 1.0, -1.0)
    for what in ("velocity", "position", "time"):
        for direction in directions if what != "time" else directions[:1]:
            wide, narrow = (_across(machine, q, v, t, what, share * direction) for share in (within, 0.1 * within))
            for element, (size, far), (_, near) in zip(machine.system.elements, wide, narrow, strict=True):
                if near > JUMP * size and near > 0.5 * far:
                    found.setdefault(element.name, what)
    return found


def _across(
    machine: Machine, q: np.ndarray, v: np.ndarray, t: float, what: str, share: np.ndarray
) -> list[tuple[float, float]]:
    """Per element: the size of what it gives next to a state, and how far both sides differ."""
    scale, pace = machine.eq.scale, max(machine.course.rate, 1e-300)
    dq = share * scale if what == "position" else np.zeros(len(q))
    dv = share * scale * pace if what == "velocity" else np.zeros(len(q))
    dt = float(np.abs(share).max(initial=0.0)) / pace if what == "time" else 0.0
    up, down = (machine.system.each(q + s * dq, v + s * dv, t + s * dt, machine.wk.x) for s in (1.0, -1.0))
    pairs = zip(up, down, strict=True)
    return [(max(_largest(a), _largest(b)), _largest(a - b)) for a, b in pairs]


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max(initial=0.0))


def jumps_met(machine: Machine) -> dict[str, tuple[float, str]]:
    """The elements that jumped where steps had to become much shorter: when first, and with what."""
    spots = machine.course.spots
    met: dict[str, tuple[float, str]] = {}
    for k in range(spots.count):
        t = float(spots.t[k])
        for name, what in jumping(machine, spots.q[k], spots.v[k], t, REFUSED).items():
            met.setdefault(name, (t, what))
    return met


def told_jumps(found: dict[str, str], t: float) -> str:
    """A sentence about elements that jump."""
    parts = [f"'{name}' jumps with the {what}" for name, what in list(found.items())[:4]]
    advice = (
        "a force with the sign of a velocity holds a part at rest by jumping back and forth: write dry friction as an "
        "element with modes that stick and slip (kp.Switch), or round it off: tanh(v / v0)"
        if "velocity" in found.values()
        else "write it as an element with modes (kp.Switch), or round it off"
    )
    return f"{' and '.join(parts)} at t = {t:.10g}; {advice}"
