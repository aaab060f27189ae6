"""Optima that are known, by every method: designs, values, multipliers, and what is said of them."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from closed_forms import HOCK_SCHITTKOWSKI, METHODS, ClosedForm, Known, convex, rosenbrock

import kempe as kp


def agrees(found: kp.Optimum, known: Known, sizes: np.ndarray | float = 1.0, unit: float = 1.0) -> None:
    """The optimum is the known one, to what first-order conditions at the accuracy say."""
    assert found.success and found.feasible, found.message
    assert found.objective / unit == pytest.approx(known.objective, abs=2e-5 * max(1.0, abs(known.objective)))
    x = np.array(list(found.parameters.values())) / sizes
    assert x == pytest.approx(np.array(known.design), abs=5e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("number", HOCK_SCHITTKOWSKI)
def test_hock_and_schittkowski(number: str, method: str) -> None:
    known = HOCK_SCHITTKOWSKI[number]
    found = kp.solve_design(known.problem(), method=method)
    agrees(found, known)
    rates = {active.name: active.multiplier for active in found.active}
    assert {name: rates.get(name, 0.0) for name in known.multipliers} == pytest.approx(known.multipliers, rel=1e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("number", HOCK_SCHITTKOWSKI)
def test_units_do_not_matter(number: str, method: str) -> None:
    """In other units of parameters and functionals the same design is found."""
    known = HOCK_SCHITTKOWSKI[number]
    for seed in range(3):
        problem, sizes, units = known.scaled(seed)
        agrees(kp.solve_design(problem, method=method), known, sizes, units[0])


@pytest.mark.parametrize("method", METHODS)
def test_convex_problems_are_solved(method: str) -> None:
    for seed in range(100):
        known = convex(seed)
        found = kp.solve_design(known.problem(), method=method)
        assert found.success, (seed, found.message)
        assert found.objective == pytest.approx(known.objective, abs=1e-5 * max(1.0, abs(known.objective))), seed
        rates = {active.name: active.multiplier for active in found.active}
        told = {name: rates.get(name, 0.0) for name in known.multipliers}
        assert told == pytest.approx(known.multipliers, rel=5e-3, abs=5e-3), seed


def test_multipliers_are_what_relaxing_a_limit_brings() -> None:
    """The optimum of the problem with a limit changed a little moves as the multiplier says."""
    known = HOCK_SCHITTKOWSKI["71"]
    rates = {active.name: active.multiplier for active in kp.solve_design(known.problem(), accuracy=1e-9).active}
    for name, limits in (
        ("g1 >= 25", [("g1", 25.0 - 0.01, None), ("g2", 40.0, 40.0)]),
        ("g2 = 40", [("g1", 25.0, None), ("g2", 40.01, 40.01)]),
    ):
        relaxed = Known(known.evaluator, limits, known.start, known.bounds, 0.0, [])
        fall = known.objective - kp.solve_design(relaxed.problem(), accuracy=1e-9).objective
        assert fall == pytest.approx(0.01 * rates[name], rel=1e-3)


def test_an_optimum_is_verified_whatever_the_method_says() -> None:
    found = kp.solve_design(HOCK_SCHITTKOWSKI["1"].problem(), max_iterations=3)
    assert found.status == "stopped" and not found.success
    assert "not shown to be optimal" in found.message
    assert found.residual is not None and found.residual > 1e-4


def test_values_and_gradients_of_one_design_are_one_run() -> None:
    problem = HOCK_SCHITTKOWSKI["71"].problem()
    p = problem.start
    for _ in range(3):
        problem.slopes(p)
        problem.at(p)
    assert (problem.runs, problem.gradient_runs) == (0, 1)


@pytest.mark.parametrize("method", METHODS)
def test_no_design_outside_the_bounds_is_evaluated(method: str) -> None:
    known = HOCK_SCHITTKOWSKI["24"]
    evaluator = ClosedForm(2, known.evaluator.functions)
    kp.solve_design(Known(evaluator, known.limits, known.start, known.bounds, 0, []).problem(), method=method)
    asked = np.array(evaluator.asked)
    assert (asked >= 0).all() and (asked <= 10).all()


@pytest.mark.parametrize("method", METHODS)
def test_history_begins_at_the_start_and_ends_at_the_optimum(method: str) -> None:
    known = HOCK_SCHITTKOWSKI["43"]
    found = kp.solve_design(known.problem(), method=method)
    first, last = found.history[0], found.history[-1]
    assert list(first.parameters.values()) == known.start and first.objective == 0.0
    assert last.objective == pytest.approx(found.objective, rel=1e-6)
    assert [it.number for it in found.history] == list(range(len(found.history)))


def many_valleys(x: np.ndarray) -> tuple[float, object]:
    """Rastrigin's function, moved: one lowest point among many."""
    d = x - [0.7, -1.3]
    return float((d**2 + 2 - 2 * np.cos(2 * np.pi * d)).sum()), 2 * d + 4 * np.pi * np.sin(2 * np.pi * d)


def test_many_starts_find_the_lowest_valley() -> None:
    known = Known(ClosedForm(2, [many_valleys]), [], [3.2, 3.1], [(-4, 4)] * 2, 0.0, [0.7, -1.3])
    alone = kp.solve_design(known.problem())
    assert alone.success and alone.objective > 1.0
    found = kp.solve_design(known.problem(), starts=40, seed=1)
    agrees(found, known)
    assert len(found.starts) == 40 and found.starts[0].objective == alone.objective
    again = kp.solve_design(known.problem(), starts=40, seed=1, workers=1)
    assert again.parameters == found.parameters and again.starts == found.starts


def test_several_starts_need_bounds() -> None:
    known = Known(ClosedForm(2, [rosenbrock]), [], [0, 0], [(0, 1), None], 0, [])
    with pytest.raises(kp.ModelError, match="'x1' has none"):
        kp.solve_design(known.problem(), starts=4)


class Interrupting(ClosedForm):
    """Presses Ctrl-C in its 20th evaluation, or, where several threads ask, soon after."""

    pressed = False

    def gradients(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = super().gradients(p)
        if len(self.asked) >= 20 and not self.pressed:
            self.pressed = True
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)  # (it is the main thread that hears of it)
        return found


@pytest.mark.parametrize("starts", [1, 3])
@pytest.mark.parametrize("method", METHODS)
def test_interrupting_returns_the_best_so_far(method: str, starts: int) -> None:
    known = Known(Interrupting(2, [rosenbrock]), [], [-2, 1], [(-10, 10), (-1.5, 10)], 0.0, [1, 1])
    assert threading.current_thread() is threading.main_thread()
    found = kp.solve_design(known.problem(), method=method, starts=starts, accuracy=1e-9)
    assert found.status == "interrupted" and "interrupted" in found.message
    assert found.objective <= min(rosenbrock(p)[0] for p in known.evaluator.asked[:19])


def test_a_restart_goes_on_from_where_a_search_ended() -> None:
    known = HOCK_SCHITTKOWSKI["1"]
    first = kp.solve_design(known.problem(), max_iterations=5)
    going_on = Known(known.evaluator, [], list(first.parameters.values()), known.bounds, 0.0, [1, 1])
    second = kp.solve_design(going_on.problem())
    agrees(second, known)
    assert second.values_before == first.values


def test_progress_is_told() -> None:
    told: list[tuple[float, float]] = []
    found = kp.solve_design(HOCK_SCHITTKOWSKI["43"].problem(), progress=lambda *args: told.append(args))
    assert len(told) == len(found.history) and told[-1][0] == len(found.history) <= told[-1][1]


@pytest.mark.parametrize(
    "options, words",
    [
        ({"method": "slsq"}, "did you mean 'slsqp'"),
        ({"method": "newton"}, "there are slsqp"),
        ({"method": ["slsqp"]}, "there is no method"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"starts": 0}, "starts must be a whole number"),
        ({"accuracy": 0.0}, "accuracy must be above"),
        ({"max_iterations": 1.5}, "max_iterations must be a whole number"),
    ],
)
def test_what_cannot_be_asked_for(options: dict, words: str) -> None:
    with pytest.raises(kp.ModelError, match=words):
        kp.solve_design(HOCK_SCHITTKOWSKI["1"].problem(), **options)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"minimise": "h"}, "no functional 'h'"),
        ({"subject_to": [("g9", None, 1.0)]}, "subject_to: there is no functional 'g9'"),
        ({"subject_to": [("g1", None, None)]}, "has no limit"),
        ({"subject_to": [("g1", 2.0, 1.0)]}, "cannot be at least 2 and at most 1"),
        ({"bounds": {"y": (0, 1)}}, "no design parameter 'y'"),
        ({"bounds": {"x0": (1, 0)}}, "must not cross"),
        ({"bounds": {"x0": 3}}, "two numbers"),
        ({"start": {"x0": 1.0}}, "'x1' has no value"),
        ({"start": {"x0": 1.0, "x1": float("nan")}}, "start of 'x1'"),
        ({"scales": {"x0": -1.0}}, "above zero"),
        ({"scales": 3.0}, "as a mapping"),
        ({"bounds": 3.0}, "as a mapping"),
        ({"bounds": {"x0": (1, 2)}}, "'x0' begins at 0, outside its bounds 1 .. 2"),
    ],
)
def test_problems_that_are_none(arguments: dict, words: str) -> None:
    evaluator = HOCK_SCHITTKOWSKI["6"].evaluator
    given = {"minimise": "f", "start": {"x0": 0.0, "x1": 0.0}} | arguments
    with pytest.raises(kp.ModelError, match=words):
        kp.DesignProblem(evaluator, **given)


def test_it_reads_well() -> None:
    told = str(kp.solve_design(HOCK_SCHITTKOWSKI["71"].problem(), name="box"))
    assert told.startswith("'box': optimal (by slsqp")
    assert "'g1 >= 25': relaxing it by 1 % lowers 'f' by about 0.138 (0.81 %)" in told
    assert "the bound 'x0 >= 1'" in told
    assert "before" in told and "within 1 .. 5" in told


def test_an_evaluator_that_answers_in_another_shape_is_told() -> None:
    class Wrong(ClosedForm):
        def gradients(self, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return np.zeros(2), np.zeros((2, 3))

    with pytest.raises(kp.ConvergenceError, match="gives 1 values, and gradients of 1 rows and 2 columns"):
        kp.solve_design(Known(Wrong(2, [rosenbrock]), [], [0, 0], [None] * 2, 0, []).problem())


def test_an_optimum_can_be_pickled() -> None:
    found = kp.solve_design(HOCK_SCHITTKOWSKI["43"].problem(), method="steepest-descent")
    assert pickle.loads(pickle.dumps(found)) == found
