"""What a search for a design has seen: its iterations, and the best design so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kempe.design.problem import DesignProblem, Point, Scales


@dataclass(frozen=True)
class Iteration:
    """One accepted design on the way.

    ``phase`` is "requirements" while a design is sought that meets them, then "objective". ``values`` are those of all
    functionals, ``violations`` says by how much each requirement that is not met is missed, ``violation`` is the
    largest of these in units of the limits. ``account`` is what a method tells of itself.
    """

    phase: str
    number: int
    parameters: dict[str, float]
    objective: float
    values: dict[str, float]
    violations: dict[str, float]
    violation: float
    account: Any = None


@dataclass
class Trail:
    """The iterations of one search and the best design it has seen.

    A design is better than another if it meets the requirements and has the lower objective; or, where neither does,
    if its largest violation is lower.
    """

    problem: DesignProblem
    scales: Scales
    accuracy: float
    #: The steepest slope of the objective at the start, over the scales of the parameters.
    steepness: float
    tell: Callable[[Trail], None] = lambda _: None
    iterations: list[Iteration] = field(default_factory=list)
    best: Point | None = None
    _seen: dict[bytes, np.ndarray] = field(default_factory=dict)

    def violation(self, values: np.ndarray) -> float:
        """The largest violation, in units of the limits."""
        limits = zip(self.problem.limits, self.scales.units, strict=True)
        return max((limit.violation(values) / unit for limit, unit in limits), default=0.0)

    def met(self, values: np.ndarray) -> bool:
        """Whether all requirements are met, within the accuracy."""
        return self.violation(values) <= self.accuracy

    def met_at(self, p: np.ndarray) -> bool:
        """Whether all requirements are met at a design that was seen."""
        values = self._seen.get(p.tobytes())
        return values is not None and self.met(values)

    def rank(self, values: np.ndarray) -> tuple[bool, float]:
        """A key by which designs are compared: the lower the better."""
        met = self.met(values)
        return not met, float(values[self.problem.objective]) if met else self.violation(values)

    def see(self, point: Point) -> Point:
        """A design was evaluated."""
        self._seen[point.parameters.tobytes()] = point.values
        if self.best is None or self.rank(point.values) < self.rank(self.best.values):
            self.best = point
        return point

    def note(self, phase: str, p: np.ndarray, account: Any = None) -> None:
        """A design was accepted by a method; one that was never evaluated is none."""
        values = self._seen.get(p.tobytes())
        if values is None:
            return
        problem = self.problem
        if self.iterations and self.iterations[-1].parameters == problem.named(p):
            self.iterations.pop()  # (a phase begins where the one before ended)
        missed = {limit.words: limit.violation(values) for limit in problem.limits}
        self.iterations.append(
            Iteration(
                phase,
                len(self.iterations),
                problem.named(p),
                float(values[problem.objective]),
                dict(zip(problem.functionals, map(float, values), strict=True)),
                {words: by for words, by in missed.items() if by > 0},
                self.violation(values),
                account,
            )
        )
        self.tell(self)


#: A wall that is closer to a design than this, in scales of the parameters, is beside it.
BESIDE = 0.01


def beside_wall(trail: Trail, point: Point) -> str:
    """Why designs beside this one cannot be evaluated; nothing where there is no wall."""
    for wall in reversed(trail.problem.walls):
        away = (np.array(list(wall.parameters.values())) - point.parameters) / trail.scales.parameters
        if np.abs(away).max() <= BESIDE:
            return wall.reason
    return ""
