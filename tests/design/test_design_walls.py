"""Designs that cannot be evaluated: every method steps back from them, and says where it met them."""

from __future__ import annotations

import numpy as np
import pytest
from closed_forms import METHODS, ClosedForm, Known, rosenbrock

import kempe as kp


def outside(radius: float):
    return lambda x: bool(x @ x > radius**2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(10))
def test_an_optimum_within_the_wall_is_found(method: str, seed: int) -> None:
    """A quadratic valley inside of a disc, from starts close to its rim, in bounds three times as wide."""
    rng = np.random.default_rng(seed)
    slopes = 10 ** rng.uniform(0, 2, 2)
    x = rng.uniform(-0.5, 0.5, 2)
    valley = lambda p: (float(((p - x) ** 2) @ slopes), 2 * slopes * (p - x))  # noqa: E731
    angle = rng.uniform(0, 2 * np.pi)
    start = [0.95 * np.cos(angle), 0.95 * np.sin(angle)]
    known = Known(ClosedForm(2, [valley], outside(1.0)), [], start, [(-3, 3)] * 2, 0.0, x.tolist())
    found = kp.solve_design(known.problem(), method=method)
    assert found.success, found.message
    assert list(found.parameters.values()) == pytest.approx(x, abs=1e-3)
    met = [p for p in known.evaluator.asked if p @ p > 1]
    assert found.counts["walls"] == len(found.walls) == len(met)
    assert ("a wall was met" in found.message) == bool(met)


@pytest.mark.parametrize("method", METHODS)
def test_a_curved_valley_beside_a_wall(method: str) -> None:
    known = Known(ClosedForm(2, [rosenbrock], outside(2.0)), [], [-1.2, 1], [(-3, 3)] * 2, 0.0, [1, 1])
    found = kp.solve_design(known.problem(), method=method)
    assert found.success, found.message
    assert list(found.parameters.values()) == pytest.approx([1, 1], abs=2e-2)


@pytest.mark.parametrize("method", METHODS)
def test_requirements_beside_a_wall(method: str) -> None:
    """A total of x + y >= 1.2 within the unit disc: the least x^2 + 4 y^2 there is at (0.96, 0.24)."""
    weighted = lambda x: (float(x[0] ** 2 + 4 * x[1] ** 2), [2 * x[0], 8 * x[1]])  # noqa: E731
    total = lambda x: (float(x.sum()), [1.0, 1.0])  # noqa: E731
    evaluator = ClosedForm(2, [weighted, total], outside(1.0))
    known = Known(evaluator, [("g1", 1.2, None)], [0.5, 0.5], [(-3, 3)] * 2, 0, [])
    found = kp.solve_design(known.problem(), method=method)
    if method == "trust-constr":  # (it goes far off a requirement first, where the wall is in its way)
        assert found.success or ("beside this one cannot be evaluated" in found.message and found.objective < 1.3)
        return
    assert found.success, found.message
    assert list(found.parameters.values()) == pytest.approx([0.96, 0.24], abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_an_optimum_behind_the_wall_is_not_claimed(method: str) -> None:
    """The objective falls towards a wall: the best design lies at it, and is not called optimal."""
    slope = lambda x: (float(x[0] + 2 * x[1]), [1.0, 2.0])  # noqa: E731
    known = Known(ClosedForm(2, [slope], outside(1.0)), [], [0.3, 0.2], [(-3, 3)] * 2, 0, [])
    found = kp.solve_design(known.problem(), method=method)
    assert found.status == "stopped" and not found.success
    assert "designs beside this one cannot be evaluated (joints 'A' and 'B' stay 0.1 apart)" in found.message
    assert found.objective < -2.0  # (of -2.236 at the rim)


@pytest.mark.parametrize("method", METHODS)
def test_one_parameter_is_led_to_the_wall_itself(method: str) -> None:
    falling = lambda x: (float(-x[0]), [-1.0])  # noqa: E731
    known = Known(ClosedForm(1, [falling], lambda x: bool(x[0] > 0.7)), [], [0.1], [(0, 1)], 0, [])
    found = kp.solve_design(known.problem(), method=method)
    assert found.status == "stopped" and found.parameters["x0"] == pytest.approx(0.7, abs=1e-3)


def test_numbers_that_are_none_are_a_wall() -> None:
    def pole(x: np.ndarray) -> tuple[float, object]:
        log = np.log(x[0]) if x[0] > 0 else np.nan
        return float(log**2), [2 * log / x[0] if x[0] > 0 else np.inf]

    for method in METHODS:
        known = Known(ClosedForm(1, [pole]), [], [0.1], [(-5, 5)], 0.0, [1.0])
        found = kp.solve_design(known.problem(), method=method)
        assert found.success and found.parameters["x0"] == pytest.approx(1.0, abs=1e-3), found.message


def test_a_start_that_cannot_be_evaluated_is_replaced() -> None:
    known = Known(ClosedForm(2, [rosenbrock], outside(2.0)), [], [2.5, 2.5], [(-3, 3)] * 2, 0.0, [1, 1])
    found = kp.solve_design(known.problem())
    assert found.success
    assert "a wall was met" in found.message and "first at x0 = 2.5, x1 = 2.5" in found.message


def test_nowhere_to_start() -> None:
    everywhere = ClosedForm(2, [rosenbrock], lambda x: True)
    with pytest.raises(kp.ConvergenceError, match="; nor can 31 other designs"):
        kp.solve_design(Known(everywhere, [], [0, 0], [(-3, 3)] * 2, 0, []).problem())
    with pytest.raises(kp.ConvergenceError, match="cannot be evaluated: joints"):
        kp.solve_design(Known(everywhere, [], [0, 0], [None] * 2, 0, []).problem())


def test_starts_behind_walls_are_listed() -> None:
    known = Known(ClosedForm(2, [rosenbrock], outside(2.0)), [], [0, 0], [(-3, 3)] * 2, 0.0, [1, 1])
    found = kp.solve_design(known.problem(), starts=12)
    assert found.success
    assert {start.status for start in found.starts} == {"optimal", "wall"}


def test_other_errors_are_not_walls() -> None:
    def wrong(x: np.ndarray) -> tuple[float, object]:
        raise ZeroDivisionError("a mistake in somebody's function")

    for method in METHODS:
        with pytest.raises(ZeroDivisionError):
            kp.solve_design(Known(ClosedForm(1, [wrong]), [], [0.0], [(0, 1)], 0, []).problem(), method=method)
