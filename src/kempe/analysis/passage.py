"""Passing a bifurcation: the motion on one branch through a singular position, from solutions on both sides of it.

On the branch itself position, velocity and acceleration are smooth, but close to the bifurcation the equations lose
digits (1/d, 1/d^2 and 1/d^3 of them at a distance d). The branch is therefore solved for at a few well-conditioned
points on both sides and interpolated in between, with the exact position and tangent at the bifurcation itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kempe.analysis.singular import SingularPosition

#: Solves at a time from a guess: (q, v, a), or None where there is no solution.
Solve = Callable[[np.ndarray, float], tuple[np.ndarray, np.ndarray, np.ndarray] | None]

#: Distances of the samples from the bifurcation, in times in which the mechanism moves by its own size.
SPACINGS = (0.03, 0.01, 0.003, 0.001, 3e-4)
PER_SIDE = 4


@dataclass
class Passage:
    """A branch around a bifurcation: where it leads on to, and the motion in between."""

    t: float
    spacing: float
    q_after: np.ndarray
    _times: np.ndarray
    _values: np.ndarray

    @property
    def t_after(self) -> float:
        """A time beyond the bifurcation from which the equations can be followed again."""
        return self.t + self.spacing

    def near(self, t: float) -> bool:
        """Whether interpolation is better than solving at a time."""
        return abs(t - self.t) < 0.5 * self.spacing

    def at(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity and acceleration on the branch near the bifurcation."""
        from scipy.interpolate import KroghInterpolator

        s = (t - self.t) / self.spacing
        q, v, a = KroghInterpolator(self._times, self._values).derivatives(s, 3)
        return q, v / self.spacing, a / self.spacing**2


def passage(
    event: SingularPosition, choice: int, velocities: list[np.ndarray], solve: Solve, pace: float
) -> Passage | None:
    """The passage on a branch; ``velocities`` are those of all branches that move in time."""
    v = velocities[choice]
    others = [other for k, other in enumerate(velocities) if k != choice]
    for size in SPACINGS:
        found = _sampled(event, v, others, solve, size * pace)
        if found is not None:
            return found
    return None


def _sampled(
    event: SingularPosition, v: np.ndarray, others: list[np.ndarray], solve: Solve, spacing: float
) -> Passage | None:
    sides = [_side(event, v, others, solve, direction * spacing) for direction in (1.0, -1.0)]
    if not sides[0]:
        return None
    samples = sorted([(0.0, event.q, v), *sides[0], *sides[1]], key=lambda sample: sample[0])
    # every sample gives a value and a slope: a node that counts twice
    times = np.repeat([s for s, _, _ in samples], 2)
    values = np.array([row for _, q, rate in samples for row in (q, rate * spacing)])
    return Passage(event.t, spacing, sides[0][0][1], times, values)


def _side(
    event: SingularPosition, v: np.ndarray, others: list[np.ndarray], solve: Solve, step: float
) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """Solutions on one side, at 1, 2, 3, ... steps; empty when the first already lies on another branch."""
    found = []
    q, rate, acceleration = event.q, v, np.zeros_like(v)
    for k in range(1, PER_SIDE + 1):
        solution = solve(q + step * rate + step**2 * acceleration / 2, event.t + k * step)
        if solution is None:
            break
        back = solution[1] - k * step * solution[2]  # the velocity seen from here at the bifurcation
        apart = min((float(np.abs(back - other).max()) for other in others), default=np.inf)
        if float(np.abs(back - v).max()) > 0.3 * apart:
            break
        q, rate, acceleration = solution
        found.append((np.copysign(k, step), q, rate))
    return found if len(found) >= 2 else []


def hermite(t0: float, q0: Any, v0: Any, t1: float, q1: Any, v1: Any, t: float) -> np.ndarray:
    """Cubic Hermite interpolation."""
    h = t1 - t0
    s = (t - t0) / h
    return (
        (1 + 2 * s) * (1 - s) ** 2 * q0 + s * (1 - s) ** 2 * h * v0 + s**2 * (3 - 2 * s) * q1 + s**2 * (s - 1) * h * v1
    )
