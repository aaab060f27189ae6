"""Solving a design problem: from one start or from many, side by side, and what is said of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
from scipy.stats import qmc

from kempe.calling import explained, suggestion
from kempe.design.optimum import Demand, Optimum, Start
from kempe.design.problem import DesignProblem, Halted, Point, Scales, Wall
from kempe.design.searching import OPTIMISERS, Found, Search
from kempe.design.telling import active_requirements, message
from kempe.design.trail import Trail
from kempe.elements import shown
from kempe.errors import ConvergenceError, ModelError
from kempe.simulation.progress import Progress, Report, reporting
from kempe.simulation.task import within

#: So many designs in the bounds are tried where a start cannot be evaluated.
TRIES = 32


@explained
def solve_design(
    problem: DesignProblem,
    *,
    method: str = "slsqp",
    starts: int = 1,
    max_iterations: int | None = None,
    accuracy: float = 1e-6,
    seed: int = 0,
    workers: int | None = None,
    progress: Progress = None,
    name: str = "",
) -> Optimum:
    """Solve a design problem.

    ``method`` is "slsqp", "trust-constr" (SciPy), "ipopt" (CasADi) or "steepest-descent" (Haug, Wehage and Barman,
    1981). A start that misses requirements is first led to a design that meets them, by the least largest violation;
    if there is none nearby, the result says so and which requirements block. With ``starts`` the search begins at that
    many designs, the first being the problem's own, the others a Latin hypercube in the bounds drawn by ``seed``, side
    by side on ``workers`` threads (default: all cores). ``accuracy`` is how closely requirements are met, in units of
    their limits, and how well first-order conditions hold. Ctrl-C returns the best design so far. ``progress`` is as in
    :func:`kempe.simulate`, and a function is told the iterations done and the most there may be.
    """
    if not isinstance(method, str) or method not in OPTIMISERS:
        known = ", ".join(OPTIMISERS)
        raise ModelError(
            f"there is no method {shown(method)}{suggestion(str(method), OPTIMISERS) or f'; there are {known}'}"
        )
    for what, value in (("starts", starts), ("max_iterations", max_iterations), ("workers", workers)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ModelError(f"{what} must be a whole number of at least 1, not {shown(value)}")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ModelError(f"seed must be a whole number, not {shown(seed)}")
    accuracy = within(accuracy, "accuracy", 1e-12, 0.1)
    title = f"'{name}': optimise" if name else "optimise"
    with reporting(progress, title) as report:
        board = Board(starts * (max_iterations or OPTIMISERS[method][1]), report)
        searches = Searches(problem, method, max_iterations, accuracy, board)
        found = searches.run(_designs(problem, starts, seed), starts, workers or os.cpu_count() or 1)
    return _optimum(found, method, name)


class Board:
    """Where all searches tell how far they have come; shows the best design so far."""

    def __init__(self, most: int, report: Report | None) -> None:
        self.most, self.report = most, report
        self.lock = threading.Lock()
        self.done = 0
        self.best: tuple[bool, float] | None = None

    def tell(self, trail: Trail) -> None:
        """An iteration of one of the searches is over."""
        with self.lock:
            self.done += 1
            assert trail.best is not None
            rank = trail.rank(trail.best.values)
            self.best = rank if self.best is None else min(rank, self.best)
            if self.report:
                what = "violation" if self.best[0] else trail.problem.minimise
                self.report(min(self.done, self.most), self.most, f"{what} {self.best[1]:.6g}")


@dataclass(frozen=True)
class Unstarted:
    """A start that could not be evaluated, or was not any more."""

    problem: DesignProblem
    parameters: np.ndarray
    status: str


class Searches:
    """Searches with one method from several designs, in the units of the first."""

    def __init__(self, problem: DesignProblem, method: str, most: int | None, accuracy: float, board: Board) -> None:
        self.problem, self.method, self.most, self.accuracy, self.board = problem, method, most, accuracy, board

    def run(self, designs: Iterator[np.ndarray], starts: int, workers: int) -> list[Found | Unstarted]:
        """What each start led to; designs that cannot be evaluated are no starts."""
        begin = self._first(designs)
        scales = Scales.at(self.problem, begin)
        jobs: list[Callable[[], Found | Unstarted]] = [lambda: self._search(self.problem, begin, scales)]
        if starts == 1:
            return [jobs[0]()]
        for p in islice(designs, starts - 1):
            twin = self.problem.twin()  # (here, before threads ask for what they share)
            jobs.append(partial(self._other, twin, p, scales))
        return self._side_by_side(jobs, workers if hasattr(self.problem.evaluator, "twin") else 1)

    def _side_by_side(self, jobs: list[Callable[[], Found | Unstarted]], workers: int) -> list[Found | Unstarted]:
        """All searches on some threads; Ctrl-C, which meets this one alone, has each end with the best it has."""
        done: Future[list[Found | Unstarted]] = Future()

        def work() -> None:
            try:
                with ThreadPoolExecutor(min(workers, len(jobs))) as pool:
                    done.set_result(list(pool.map(lambda job: job(), jobs)))
            except BaseException as error:
                done.set_exception(error)

        try:
            threading.Thread(target=work).start()
            while not wait([done], timeout=0.2).done:
                pass
        except KeyboardInterrupt:
            self.problem.halt.set()
        try:
            return done.result()  # (a second Ctrl-C waits for nobody)
        finally:
            self.problem.halt.clear()

    def _search(self, problem: DesignProblem, begin: Point, scales: Scales) -> Found:
        return Search(problem, self.method, self.most, self.accuracy).run(begin, scales, self.board.tell)

    def _first(self, designs: Iterator[np.ndarray]) -> Point:
        """The first design that can be evaluated."""
        reasons = []
        for _, p in zip(range(TRIES), designs):
            try:
                return self.problem.slopes(p)
            except Wall as wall:
                reasons.append(wall)
        many = f"; nor can {len(reasons) - 1} other designs in the bounds" if len(reasons) > 1 else ""
        raise ConvergenceError(f"the start of the optimisation cannot be evaluated: {reasons[0]}{many}") from reasons[0]

    def _other(self, problem: DesignProblem, p: np.ndarray, scales: Scales) -> Found | Unstarted:
        try:
            begin = problem.slopes(p)
        except Wall:
            return Unstarted(problem, p, "wall")
        except Halted:
            return Unstarted(problem, p, "interrupted")
        return self._search(problem, begin, scales)


def _designs(problem: DesignProblem, starts: int, seed: int) -> Iterator[np.ndarray]:
    """The start, then designs in the bounds; none where a parameter has no bounds."""
    free = [n for n, lo, hi in zip(problem.parameters, problem.lower, problem.upper) if not np.isfinite(hi - lo)]
    if free and starts > 1:
        raise ModelError(f"several starts are drawn within the bounds of the parameters, but '{free[0]}' has none")
    yield problem.start
    if free:
        return
    cube = qmc.LatinHypercube(len(problem.parameters), seed=seed)
    while True:
        for share in cube.random(starts - 1 or TRIES):
            yield problem.lower + share * (problem.upper - problem.lower)


def _optimum(searches: list[Found | Unstarted], method: str, name: str) -> Optimum:
    """All that is said of the best of the searches."""
    begun = [found for found in searches if isinstance(found, Found)]
    best = min(begun, key=lambda found: found.rank)
    problem, point, scales, before = best.problem, best.point, best.trail.scales, begun[0].begin
    counts = {
        "iterations": sum(len(found.trail.iterations) for found in begun),
        "runs": sum(each.problem.runs for each in searches),
        "gradients": sum(each.problem.gradient_runs for each in searches),
        "walls": sum(len(each.problem.walls) for each in searches),
    }
    status = "interrupted" if any(found.status == "interrupted" for found in searches) else best.status
    holds = best.conditions if status == "optimal" else None
    return Optimum(
        status=status,
        message=message(best, status, method, counts, len(searches)),
        feasible=best.trail.met(point.values),
        violation=best.trail.violation(point.values),
        residual=best.conditions.residual if best.conditions and not best.blocks else None,
        method=method,
        minimise=problem.minimise,
        objective=float(point.values[problem.objective]),
        parameters=problem.named(point.parameters),
        values=dict(zip(problem.functionals, map(float, point.values), strict=True)),
        before=problem.named(before.parameters),
        values_before=dict(zip(problem.functionals, map(float, before.values), strict=True)),
        bounds={n: (float(a), float(b)) for n, a, b in zip(problem.parameters, problem.lower, problem.upper)},
        demands=[_demand(best.trail, k, before, point) for k in range(len(problem.limits))],
        active=active_requirements(problem, scales, holds, point) if holds else [],
        blocks=best.blocks if status == "infeasible" else {},
        history=best.trail.iterations,
        walls=[wall for each in searches for wall in each.problem.walls],
        starts=[_start(each) for each in searches],
        counts=counts,
        name=name,
    )


def _demand(trail: Trail, k: int, before: Point, after: Point) -> Demand:
    limit, unit = trail.problem.limits[k], trail.scales.units[k]
    values = (float(before.values[limit.place]), float(after.values[limit.place]))
    missed = (limit.violation(before.values) / unit, limit.violation(after.values) / unit)
    met = tuple(0.0 if by <= trail.accuracy else float(by) for by in missed)
    return Demand(limit.words, limit.limit, *values, *met)


def _start(search: Found | Unstarted) -> Start:
    if isinstance(search, Unstarted):
        return Start(search.problem.named(search.parameters), search.status, None, None, 0)
    values, trail = search.point.values, search.trail
    objective = float(values[search.problem.objective])
    begin = search.problem.named(search.begin.parameters)
    return Start(begin, search.status, objective, trail.violation(values), len(trail.iterations))
