"""Requirements that cannot be met: said so, with the least violation and what blocks."""

from __future__ import annotations

import numpy as np
import pytest
from closed_forms import METHODS, ClosedForm, Known

import kempe as kp


def square(x: np.ndarray) -> tuple[float, object]:
    return float(x @ x), 2 * x


def total(x: np.ndarray) -> tuple[float, object]:
    return float(x.sum()), np.ones(len(x))


def apart(x: np.ndarray) -> tuple[float, object]:
    return float(x[0] - x[1]), [1.0, -1.0]


def solved(functions: list, limits: list, method: str, start: tuple = (0.3, 0.2)) -> kp.Optimum:
    known = Known(ClosedForm(2, functions), limits, list(start), [(0, 1)] * 2, 0, [])
    return kp.solve_design(known.problem(), method=method)


@pytest.mark.parametrize("method", METHODS)
def test_one_requirement_against_the_bounds(method: str) -> None:
    """X + y >= 3 in the unit square: at (1, 1) a third is missing."""
    found = solved([square, total], [("g1", 3.0, None)], method)
    assert found.status == "infeasible" and not found.feasible and not found.success
    assert found.violation == pytest.approx(1 / 3, rel=1e-6)
    assert list(found.parameters.values()) == pytest.approx([1, 1], abs=1e-6)
    assert found.blocks == pytest.approx({"g1 >= 3": 1.0})
    assert "'g1 >= 3' is missed by 1 (by 33.3 %)" in found.message
    assert "'g1 >= 3' cannot be met within the bounds 'x0 <= 1' and 'x1 <= 1'" in found.message
    assert "optimal" not in found.message and "converged" not in found.message


@pytest.mark.parametrize("method", METHODS)
def test_two_that_contradict_each_other(method: str) -> None:
    """X + y >= 1.5 and <= 1 in units of their limits: both missed by a fifth at 1.2; shares as 1.5 to 1."""
    found = solved([square, total], [("g1", 1.5, None), ("g1", None, 1.0)], method)
    assert found.status == "infeasible"
    assert found.values["g1"] == pytest.approx(1.2, rel=1e-6)
    assert found.violation == pytest.approx(0.2, rel=1e-6)
    assert found.blocks == pytest.approx({"g1 >= 1.5": 0.6, "g1 <= 1": 0.4}, rel=1e-5)
    assert "'g1 >= 1.5' and 'g1 <= 1' cannot be met together" in found.message


@pytest.mark.parametrize("method", METHODS)
def test_those_that_could_be_met_do_not_block(method: str) -> None:
    found = solved([square, total, apart], [("g1", 3.0, 3.0), ("g2", None, 0.5)], method)
    assert found.status == "infeasible" and list(found.blocks) == ["g1 = 3"]


@pytest.mark.parametrize("method", METHODS)
def test_least_violation_of_random_linear_requirements(method: str) -> None:
    """The least largest violation is that of a linear program, solved directly."""
    from scipy.optimize import linprog

    for seed in range(20):
        rng = np.random.default_rng(seed)
        A, b = rng.normal(size=(6, 3)), rng.uniform(0.5, 1.5, 6) * rng.choice([-1, 1], 6)
        functions = [square, *((lambda p, a=a: (a @ p, a)) for a in A)]
        limits = [(f"g{k + 1}", None, float(b[k])) for k in range(6)]
        known = Known(ClosedForm(3, functions), limits, rng.uniform(-1, 1, 3).tolist(), [(-1, 1)] * 3, 0, [])
        problem = known.problem()
        found = kp.solve_design(problem, method=method)
        units = np.maximum(np.abs(b), 1e-3 * np.abs(A @ problem.start))  # (of limits near zero)
        best = linprog([0, 0, 0, 1], np.column_stack([A, -units]), b, bounds=[(-1, 1)] * 3 + [(0, None)])
        if best.fun > 1e-5:
            assert found.status == "infeasible", (seed, found.message)
            assert found.violation == pytest.approx(best.fun, rel=1e-4), seed
        else:
            assert found.success and found.violation <= 1e-6, (seed, found.message)


@pytest.mark.parametrize("method", METHODS)
def test_an_infeasible_start_is_led_to_a_feasible_design(method: str) -> None:
    """A ring around the origin, started inside of it: the nearest points of a ring to a point outside are known."""
    distance = lambda x: (float((x[0] - 3) ** 2 + x[1] ** 2), [2 * (x[0] - 3), 2 * x[1]])  # noqa: E731
    known = Known(ClosedForm(2, [distance, square]), [("g1", 1.0, 4.0)], [0.1, 0.3], [(-5, 5)] * 2, 1.0, [2, 0])
    found = kp.solve_design(known.problem(), method=method)
    assert found.success and found.objective == pytest.approx(1.0, rel=1e-5)
    assert list(found.parameters.values()) == pytest.approx([2, 0], abs=1e-3)
    assert found.history[0].phase == "requirements" and found.history[-1].phase == "objective"
    assert found.history[0].violations == {"g1 >= 1": pytest.approx(0.9)}


def waves(seed: int) -> tuple[list, list, np.ndarray]:
    """Four functions with several valleys, limits of three of them, and all values on a grid."""
    rng = np.random.default_rng(seed)
    A, b, c, w = rng.normal(size=(4, 2)), rng.normal(size=(4, 2)), rng.uniform(-1, 1, 4), rng.uniform(0.5, 2, 4)
    limits = rng.uniform(-1.5, 0.5, 3)

    def function(k: int):
        def of(x: np.ndarray) -> tuple[float, object]:
            phase = w[k] * (A[k] @ x) + c[k]
            value = float(np.sin(phase) + b[k] @ x + 0.3 * x @ x)
            return value, np.cos(phase) * w[k] * A[k] + b[k] + 0.6 * x

        return of

    X = np.stack(np.meshgrid(np.linspace(-2, 2, 161), np.linspace(-2, 2, 161)), -1).reshape(-1, 2)
    grid = np.sin(w * (X @ A.T) + c) + X @ b.T + 0.3 * (X**2).sum(axis=1)[:, None]
    return [function(k) for k in range(4)], [(f"g{k + 1}", None, float(limits[k])) for k in range(3)], grid


@pytest.mark.parametrize("method", METHODS)
def test_what_is_called_infeasible_is(method: str) -> None:
    """With several starts the verdict is that of trying every design of a fine grid."""
    for seed in range(15):
        functions, limits, grid = waves(seed)
        met = np.all([grid[:, k + 1] <= limits[k][2] for k in range(3)], axis=0)
        known = Known(ClosedForm(2, functions), limits, [0.3, -0.2], [(-2, 2)] * 2, 0, [])
        found = kp.solve_design(known.problem(), method=method, starts=6, seed=1, workers=1)
        assert found.status == ("optimal" if met.any() else "infeasible"), (seed, found.message)
        if not met.any():
            excess = np.max([(grid[:, k + 1] - limits[k][2]) / abs(limits[k][2]) for k in range(3)], axis=0)
            assert found.violation <= excess.min() + 1e-6, seed
