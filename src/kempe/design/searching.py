"""The search for a design from one start: first one that meets the requirements, then the best one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kempe.design.conditions import Conditions, conditions
from kempe.design.libraries import ipopt, slsqp, trust_constr
from kempe.design.problem import DesignProblem, Halted, Point, Scales, Wall
from kempe.design.program import LeastViolation, Program
from kempe.design.steepest_descent import steepest_descent
from kempe.design.trail import Trail, beside_wall

#: What a method is: a function of a program, the most iterations and the accuracy; it gives the last design and why it
#: is the last.
Method = Callable[[Program, int, float], tuple[np.ndarray, str]]

#: Name -> method and the most iterations it takes unless told.
OPTIMISERS: dict[str, tuple[Method, int]] = {
    "slsqp": (slsqp, 200),
    "trust-constr": (trust_constr, 1000),
    "ipopt": (ipopt, 300),
    "steepest-descent": (steepest_descent, 500),
}

#: First-order conditions count as met up to this many accuracies.
MET = 100.0
#: A method is started afresh so often from where it ended, as long as that leads on.
RESTARTS = 3


@dataclass
class Found:
    """What a search from one start came to."""

    status: str
    ending: str
    trail: Trail
    point: Point
    begin: Point
    conditions: Conditions | None = None
    #: What takes part in blocking, in shares, where requirements cannot be met.
    blocks: dict[str, float] = field(default_factory=dict)

    @property
    def rank(self) -> tuple[bool, float]:
        """A key by which searches are compared: the lower the better."""
        return self.trail.rank(self.point.values)

    @property
    def problem(self) -> DesignProblem:
        """The problem with the counts of this search."""
        return self.trail.problem


class Search:
    """A search from one start with one method."""

    def __init__(self, problem: DesignProblem, method: str, most: int | None, accuracy: float) -> None:
        self.problem, self.accuracy = problem, accuracy
        self.method, usual = OPTIMISERS[method]
        self.most = usual if most is None else most

    def run(self, begin: Point, scales: Scales, tell: Callable[[Trail], None]) -> Found:
        """Search from a design; Ctrl-C ends it with the best design so far."""
        assert begin.gradients is not None
        slope = np.abs(begin.gradients[self.problem.objective] * scales.parameters).max(initial=0.0)
        trail = Trail(self.problem, scales, self.accuracy, float(slope), tell)
        trail.see(begin)
        try:
            return self._search(trail, begin)
        except (KeyboardInterrupt, Halted):
            assert trail.best is not None
            return Found("interrupted", "it was interrupted", trail, trail.best, begin)

    def _search(self, trail: Trail, begin: Point) -> Found:
        point, found = begin, None
        for _ in range(1 + RESTARTS):
            if not trail.met(point.values):
                found = self._meet(trail, point, begin)
                point = found.point
                blocked = found.status == "infeasible" and not trail.met(point.values)
                if blocked or found.conditions is None:
                    return found
            before = trail.rank(point.values)
            found = self._descend(trail, point, begin)
            point = found.point
            if found.status == "optimal" or len(trail.iterations) >= self.most or beside_wall(trail, point):
                break
            if trail.met(point.values) and not _better(trail.rank(point.values), before, self.accuracy):
                break
        assert found is not None
        return found

    def _descend(self, trail: Trail, point: Point, begin: Point) -> Found:
        """Minimise the objective with the method that was asked for."""
        trail.scales = trail.scales.reweighted(self.problem, point)
        program = Program(trail, point)
        z, why = self.method(program, max(self.most - len(trail.iterations), 1), self.accuracy)
        end, held = self._looked_at(program, program.design(z))
        if not self._shown(held) or not trail.met(end.values):
            end, held = self._looked_at(program, end.parameters if trail.best is None else trail.best.parameters)
        optimal = self._shown(held) and trail.met(end.values)
        return Found("optimal" if optimal else "stopped", why, trail, end, begin, held)

    def _meet(self, trail: Trail, point: Point, begin: Point) -> Found:
        """Look for a design that meets the requirements: the least violation, or which of them block."""
        for method in (slsqp, steepest_descent):
            trail.scales = trail.scales.reweighted(self.problem, point)
            program = LeastViolation(trail, point)
            _, why = method(program, max(self.most - len(trail.iterations), 1), self.accuracy)
            assert trail.best is not None
            point, held = self._looked_at(program, trail.best.parameters)
            if self._shown(held) or trail.met(point.values) or held is None:
                break
        blocks = {} if held is None else program.blocks(held.multipliers)
        stays = self._shown(held) and held is not None and held.at_lower[-1] == 0.0  # (not because it is all but zero)
        return Found("infeasible" if stays else "stopped", why, trail, point, begin, held, blocks)

    def _looked_at(self, program: Program, p: np.ndarray) -> tuple[Point, Conditions | None]:
        """A design with the first-order conditions there; without them where it has no gradients."""
        try:
            point = program.trail.see(self.problem.slopes(p))
        except Wall:
            assert program.trail.best is not None
            return program.trail.best, None
        z = program.place(point)
        return point, conditions(program, z, program.slopes_of(point, z))

    def _shown(self, held: Conditions | None) -> bool:
        """Whether first-order conditions hold."""
        return held is not None and held.residual <= MET * self.accuracy


def _better(new: tuple[bool, float], old: tuple[bool, float], share: float) -> bool:
    """Whether a rank is better than another by more than a share."""
    if new[0] != old[0]:
        return new < old
    return new[1] < old[1] - share * max(abs(old[1]), abs(new[1]))
