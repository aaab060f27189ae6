"""Forces and laws that jump: found next to a state, and told with what to do about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from kempe.simulation.machine import Machine

#: How near to a state an element is looked at for a jump, in sizes (where a motion crawls, where steps were refused),
#: and what counts as one, by the element's own size.
CRAWLING, REFUSED, JUMP = 1e-7, 1e-3, 1e-2


def jumping(machine: Machine, q: np.ndarray, v: np.ndarray, t: float, within: float) -> dict[str, str]:
    """The elements whose forces or laws jump next to a state, and with what: velocity, position or time."""
    system, eq, course = machine.system, machine.eq, machine.course
    x = machine.wk.x
    pace = max(course.rate, 1e-300)
    found: dict[str, str] = {}
    for what in ("velocity", "position", "time"):
        for share in (1.0, -1.0):
            sides = []
            for near in (within, 0.1 * within):
                dv = near * pace * eq.scale * _direction(v, eq.scale, share) if what == "velocity" else 0.0 * v
                dq = near * eq.scale * _direction(v, eq.scale, share) if what == "position" else 0.0 * q
                dt = near / pace if what == "time" else 0.0
                up, down = system.each(q + dq, v + dv, t + dt, x), system.each(q - dq, v - dv, t - dt, x)
                sides.append((up, down))
            for k, element in enumerate(system.elements):
                (up, down), (near_up, near_down) = (sides[0][0][k], sides[0][1][k]), (sides[1][0][k], sides[1][1][k])
                size = max(float(np.abs(up).max(initial=0.0)), float(np.abs(down).max(initial=0.0)))
                wide, narrow = (float(np.abs(a - b).max(initial=0.0)) for a, b in ((up, down), (near_up, near_down)))
                if narrow > JUMP * size and narrow > 0.5 * wide and element.name not in found:
                    found[element.name] = what
    return found


def _direction(v: np.ndarray, scale: np.ndarray, share: float) -> np.ndarray:
    """Every coordinate forward, or alternately forward and back."""
    return np.ones(len(v)) if share > 0 else np.where(np.arange(len(v)) % 2 == 0, 1.0, -1.0)


def jumps_met(machine: Machine) -> dict[str, tuple[float, str]]:
    """The elements that jumped where steps had to become much shorter: when first, and with what."""
    spots, met = machine.course.spots, {}
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
