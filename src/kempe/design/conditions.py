"""First-order conditions of an optimum, looked at by themselves: multipliers by least squares, and what they leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from kempe.design.program import Program, Slopes

#: A requirement or bound is active if it is closer than this, in units of its limit or of the parameter's scale.
NEAR = 1e-4


@dataclass(frozen=True)
class Conditions:
    """The conditions of Karush, Kuhn and Tucker at a design, in the sizes of a program.

    ``multipliers`` belong to its rows, ``at_lower`` and ``at_upper`` to the bounds of its parameters. ``residual`` is
    the largest component of df + multipliers dc that no multipliers of the right sign take away, or of multiplier times
    distance, as a share of the steepest slope of the objective, here or at the start.
    """

    multipliers: np.ndarray
    at_lower: np.ndarray
    at_upper: np.ndarray
    residual: float


def conditions(program: Program, z: np.ndarray, found: Slopes) -> Conditions:
    """The multipliers that fit best, and what they leave."""
    rows = np.flatnonzero(program.equal | (found.c >= -NEAR))
    low = np.flatnonzero(z - program.lower <= NEAR)
    high = np.flatnonzero(program.upper - z <= NEAR)
    unit = np.eye(len(z))
    free = rows[program.equal[rows]]
    columns = np.vstack([found.dc[rows], -unit[low], unit[high], -found.dc[free]])
    multipliers, at_lower, at_upper = np.zeros(len(found.c)), np.zeros(len(z)), np.zeros(len(z))
    left = found.df.copy()
    if len(columns):
        sizes = np.maximum(np.linalg.norm(columns, axis=1), 1e-300)
        weights = nnls((columns / sizes[:, None]).T, -found.df)[0] / sizes
        left += weights @ columns
        ends = np.cumsum([len(rows), len(low), len(high)])
        of_rows, at_lower[low], at_upper[high], negative = np.split(weights, ends)
        multipliers[rows] = of_rows
        multipliers[free] -= negative
    apart = [np.abs(multipliers * found.c), _times(at_lower, z - program.lower), _times(at_upper, program.upper - z)]
    size = max(np.abs(found.df).max(initial=0.0), program.steepness, 1e-6 * abs(found.f), 1e-300)
    residual = max(np.abs(each).max(initial=0.0) for each in (left, *apart)) / size
    return Conditions(multipliers, at_lower, at_upper, float(residual))


def reached(program: Program, z: np.ndarray, found: Slopes, accuracy: float) -> bool:
    """Whether requirements and first-order conditions hold at a design."""
    missed = np.where(program.equal, np.abs(found.c), np.maximum(found.c, 0.0)) / program.weights
    return bool(missed.max(initial=0.0) <= accuracy) and conditions(program, z, found).residual <= accuracy


def _times(multipliers: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Multipliers times distances, which may be infinite where the multiplier is zero."""
    return multipliers * np.where(multipliers > 0, room, 0.0)
