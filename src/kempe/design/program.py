"""A design problem as methods see it: in sizes near one, with everything required as c <= 0 or c = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kempe.design.problem import Point
from kempe.design.trail import Trail

#: A requirement with at least this share of the multipliers takes part in blocking.
BLOCKING = 1e-3


@dataclass(frozen=True)
class Slopes:
    """An objective and rows of requirements with their gradients."""

    f: float
    c: np.ndarray
    df: np.ndarray
    dc: np.ndarray


class Program:
    """Minimise f(z) subject to c(z) <= 0, or = 0 where ``equal`` says so, and lower <= z <= upper.

    z are the changes of the parameters in their scales, f is in that of the objective, and c in units of the limits
    times their weights. Both functions raise Wall where a design cannot be evaluated.
    """

    phase = "objective"

    def __init__(self, trail: Trail, start: Point) -> None:
        self.trail, problem, scales = trail, trail.problem, trail.scales
        self.scale, self.origin = scales.parameters, start.parameters
        self.lower, self.upper = self._z(problem.lower), self._z(problem.upper)
        self.start = np.zeros(len(self.origin))
        self.equal = np.array([limit.sense == 0 for limit in problem.limits], dtype=bool)
        self.weights = scales.weights
        self.units = scales.units / scales.weights
        #: The steepest slope of the objective at the start of the search.
        self.steepness = trail.steepness / scales.objective

    def names(self) -> list[str]:
        """What rows, lower bounds and upper bounds are called."""
        return [*(limit.words for limit in self.trail.problem.limits), *self._bounds(">="), *self._bounds("<=")]

    def _bounds(self, sign: str) -> list[str]:
        problem = self.trail.problem
        bounds = problem.lower if sign == ">=" else problem.upper
        return [f"{n} {sign} {x:.6g}" for n, x in zip(problem.parameters, bounds, strict=True) if np.isfinite(x)]

    def _z(self, p: np.ndarray) -> np.ndarray:
        return (p - self.origin) / self.scale

    def place(self, point: Point) -> np.ndarray:
        """Where a design is."""
        count = len(self.scale)
        return np.clip(self._z(point.parameters), self.lower[:count], self.upper[:count])

    def design(self, z: np.ndarray) -> np.ndarray:
        """The parameters, within their bounds, and on them where z is."""
        count, problem = len(self.scale), self.trail.problem
        p = np.clip(self.origin + z[:count] * self.scale, problem.lower, problem.upper)
        p = np.where(z[:count] <= self.lower[:count], problem.lower, p)
        return np.where(z[:count] >= self.upper[:count], problem.upper, p)

    def values(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and the rows."""
        return self._values(self.trail.see(self.trail.problem.at(self.design(z))))

    def _values(self, point: Point) -> tuple[float, np.ndarray]:
        problem = self.trail.problem
        c = np.array([limit.excess(point.values) for limit in problem.limits]) / self.units
        return float(point.values[problem.objective]) / self.trail.scales.objective, c

    def slopes(self, z: np.ndarray) -> Slopes:
        """The same with gradients."""
        return self.slopes_of(self.trail.see(self.trail.problem.slopes(self.design(z))), z)

    def slopes_of(self, point: Point, z: np.ndarray) -> Slopes:
        """The same from what was found at the design."""
        problem = self.trail.problem
        assert point.gradients is not None
        rows = [limit.slope(point.gradients) for limit in problem.limits]
        dc = np.array(rows).reshape(len(rows), len(self.scale)) * self.scale / self.units[:, None]
        df = point.gradients[problem.objective] * self.scale / self.trail.scales.objective
        return Slopes(*self._values(point), df, dc)

    def note(self, z: np.ndarray, account: Any = None) -> None:
        """An iteration is over."""
        self.trail.note(self.phase, self.design(z), account)

    def enough(self, z: np.ndarray) -> bool:
        """Whether there is no need to go on from a design that was evaluated."""
        return False


class LeastViolation(Program):
    """The least violation: minimise s subject to c(z) <= s, and -s <= c(z) <= s where c is to be zero.

    The bound formulation of a largest value, with s, as a share of the violation at the start, an artificial parameter
    behind the others (eqs. 6.5 to 6.10 of Haug, Wehage and Barman, 1981).
    """

    phase = "requirements"

    def __init__(self, trail: Trail, start: Point) -> None:
        super().__init__(trail, start)
        both = np.flatnonzero(self.equal)
        self.rows = np.concatenate([np.arange(len(self.equal)), both])
        self.sides = np.concatenate([np.ones(len(self.equal)), -np.ones(len(both))])
        self.weights = trail.scales.weights[self.rows]
        self.first_violation = trail.violation(start.values)
        #: What all of s is in each row.
        self.shares = self.weights * self.first_violation
        self.steepness = 1.0
        self.equal = np.zeros(len(self.rows), dtype=bool)
        self.start = np.append(self.start, 1.0)
        self.lower, self.upper = np.append(self.lower, 0.0), np.append(self.upper, np.inf)

    def names(self) -> list[str]:
        """What rows, lower bounds and upper bounds are called."""
        rows = [self.trail.problem.limits[row].words for row in self.rows]
        return [*rows, *self._bounds(">="), "violation >= 0", *self._bounds("<=")]

    def values(self, z: np.ndarray) -> tuple[float, np.ndarray]:
        """The violation allowed, and by how much each row exceeds it."""
        _, c = super().values(z)
        return float(z[-1]), self.sides * c[self.rows] - self.shares * z[-1]

    def slopes_of(self, point: Point, z: np.ndarray) -> Slopes:
        """The same with gradients."""
        found = super().slopes_of(point, z)
        c = self.sides * found.c[self.rows] - self.shares * z[-1]
        dc = np.column_stack([self.sides[:, None] * found.dc[self.rows], -self.shares])
        return Slopes(float(z[-1]), c, np.append(np.zeros(len(self.scale)), 1.0), dc)

    def place(self, point: Point) -> np.ndarray:
        """Where a design is, with just the violation that it has."""
        return np.append(super().place(point), self.trail.violation(point.values) / self.first_violation)

    def blocks(self, multipliers: np.ndarray) -> dict[str, float]:
        """By their shares, the requirements that hold the violation up."""
        shares: dict[str, float] = {}
        for row, share in zip(self.rows, multipliers * self.shares, strict=True):
            words = self.trail.problem.limits[row].words
            shares[words] = shares.get(words, 0.0) + float(share)
        return {words: share for words, share in shares.items() if share > BLOCKING}

    def enough(self, z: np.ndarray) -> bool:
        """Whether the requirements are met."""
        return self.trail.met_at(self.design(z))
