"""Instants at which an integrand jumps because a condition in it changes: they move with the design.

An integral to such an instant t* and on from it changes by (f before - f behind) dt*, and where the condition is that g
passes zero, dt* = -dg / g', with dg at a fixed time and g' along the motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kempe.errors import ConvergenceError
from kempe.solvers.sweeping import push_point

if TYPE_CHECKING:
    from kempe.design.differentiating import Differentiated

#: A jump below this share of the integrand is rounding.
ROUNDING = 1e-11


@dataclass(frozen=True)
class Break:
    """A kink passed at the end of a row: per integral the weight of the kink's change, -(f before - f behind) / g'."""

    kink: int
    weights: np.ndarray


def breaks_of(run: Differentiated) -> dict[int, list[Break]]:
    """Per row of the tape the kinks passed at its end at which an integrand jumps."""
    found: dict[int, list[Break]] = {}
    changed = run.sides[:-1] != run.sides[1:]
    steps = run.tape.t[:-1, 1] > run.tape.t[:-1, 0]  # (at instants of switching these are part of the switch)
    for row in np.flatnonzero(changed.any(axis=1) & steps).tolist():
        before, behind = (_integrands(run, row, run.sides[k]) for k in (row, row + 1))
        jump = np.where(np.abs(before - behind) > ROUNDING * (np.abs(before) + np.abs(behind)), before - behind, 0.0)
        if jump.any():
            rates, kinks = _rates(run, row), np.flatnonzero(changed[row]).tolist()
            if not rates[kinks].all():
                t = float(run.tape.t[row, 1])
                words = f"an integrand jumps at t = {t:.6g}, where its condition is met for an instant only"
                raise ConvergenceError(f"{words}: such an integral has no derivative")
            found[row] = [Break(kink, -jump / rates[kink] / len(kinks)) for kink in kinks]
    return found


def _integrands(run: Differentiated, row: int, sides: np.ndarray) -> np.ndarray:
    """The integrands at the end of a row, on given sides of all kinks."""
    slopes, work = run.at_row(row, 0, run.watched.integrand)
    slopes.parameters[len(run.parameters) :] = sides
    if push_point(run.machine.eq, work, slopes, run.state(row)) == 0:
        run.fail(row)
    return slopes.point.outputs[: slopes.point.size].copy()


def _rates(run: Differentiated, row: int) -> np.ndarray:
    """How fast the kinks change along the motion at the end of a row."""
    slopes, work = run.at_row(row, 1, run.watched.point)
    state = run.state(row)
    slopes.dq[0], slopes.dv[0], slopes.dt[0] = state.v, state.al[: run.machine.eq.n], 1.0
    if push_point(run.machine.eq, work, slopes, state) == 0:
        run.fail(row)
    return slopes.dpoint[0, run.first_kink :].copy()
