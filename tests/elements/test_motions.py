"""Laws of motion: what a driver asks for is what the body does, with its velocity and acceleration."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import kempe as kp

Array = np.ndarray
#: Position, velocity and acceleration as functions of time.
Expected = tuple[Callable[[Array], Array], Callable[[Array], Array], Callable[[Array], Array]]

DRAWN = 0.7


def slider(law: Any) -> kp.Mechanism:
    """A body on a guide along x, drawn at x = 0.7 and driven in x."""
    m = kp.Mechanism("slider")
    body = m.body("body", at=(DRAWN, 0.2))
    m.translational("guide", m.ground, body, axis=(1, 0))
    m.driver("drive", body.x, law)
    return m


def check(m: kp.Mechanism, times: Array, expected: Expected, tolerance: float = 1e-12) -> None:
    result = m.kinematics(times)
    assert result.success
    for name, f in zip(("x", "vx", "ax"), expected, strict=True):
        truth = f(times) * np.ones_like(times)
        np.testing.assert_allclose(result.array(f"body.{name}"), truth, rtol=tolerance, atol=tolerance, err_msg=name)
    for still in ("y", "angle"):
        np.testing.assert_allclose(result.array(f"body.{still}"), 0.2 if still == "y" else 0.0, atol=1e-14)


SMOOTH: dict[str, tuple[Any, Expected]] = {
    "held": (1.3, (lambda t: 1.3, lambda t: 0.0, lambda t: 0.0)),
    "constant speed": (
        kp.constant_speed(-0.4),
        (lambda t: DRAWN - 0.4 * t, lambda t: -0.4, lambda t: 0.0),
    ),
    "constant speed from a start": (
        kp.constant_speed(2.5, start=-3.0),
        (lambda t: -3 + 2.5 * t, lambda t: 2.5, lambda t: 0.0),
    ),
    "constant acceleration": (
        kp.constant_acceleration(9.81, speed=-1.5),
        (lambda t: DRAWN - 1.5 * t + 9.81 * t**2 / 2, lambda t: -1.5 + 9.81 * t, lambda t: 9.81),
    ),
    "harmonic": (
        kp.harmonic(0.3, 4.0, phase=0.5),
        (
            lambda t: DRAWN + 0.3 * (np.sin(4 * t + 0.5) - np.sin(0.5)),
            lambda t: 1.2 * np.cos(4 * t + 0.5),
            lambda t: -4.8 * np.sin(4 * t + 0.5),
        ),
    ),
    "harmonic from a start": (
        kp.harmonic(0.3, 4.0, start=0.0),
        (lambda t: 0.3 * np.sin(4 * t), lambda t: 1.2 * np.cos(4 * t), lambda t: -4.8 * np.sin(4 * t)),
    ),
    "a function": (
        lambda t: kp.exp(-t) * kp.cos(3 * t),
        (
            lambda t: np.exp(-t) * np.cos(3 * t),
            lambda t: -np.exp(-t) * (np.cos(3 * t) + 3 * np.sin(3 * t)),
            lambda t: np.exp(-t) * (6 * np.sin(3 * t) - 8 * np.cos(3 * t)),
        ),
    ),
    "a function with a choice": (
        lambda t: kp.if_else(t < 1, 0.5, 0.5 + (t - 1) ** 3),
        (
            lambda t: 0.5 + np.maximum(t - 1, 0) ** 3,
            lambda t: 3 * np.maximum(t - 1, 0) ** 2,
            lambda t: 6 * np.maximum(t - 1, 0),
        ),
    ),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_law_of_motion(name: str) -> None:
    law, expected = SMOOTH[name]
    check(slider(law), np.linspace(0, 2, 41), expected)
    check(slider(law), np.linspace(-1.3, 0.9, 7), expected)


#: Shape of a rise and its first two derivatives, on 0 ... 1.
SHAPES: dict[str, tuple[Callable, Expected]] = {
    "cycloidal": (
        kp.cycloidal,
        (
            lambda s: s - np.sin(2 * np.pi * s) / (2 * np.pi),
            lambda s: 1 - np.cos(2 * np.pi * s),
            lambda s: 2 * np.pi * np.sin(2 * np.pi * s),
        ),
    ),
    "polynomial345": (
        kp.polynomial345,
        (
            lambda s: 10 * s**3 - 15 * s**4 + 6 * s**5,
            lambda s: 30 * s**2 - 60 * s**3 + 30 * s**4,
            lambda s: 60 * s - 180 * s**2 + 120 * s**3,
        ),
    ),
    "harmonic_rise": (
        kp.harmonic_rise,
        (
            lambda s: (1 - np.cos(np.pi * s)) / 2,
            lambda s: np.pi / 2 * np.sin(np.pi * s),
            lambda s: np.pi**2 / 2 * np.cos(np.pi * s),
        ),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("start", [None, -0.2])
def test_rise_between_dwells(name: str, start: float | None) -> None:
    law, shape = SHAPES[name]
    rise, duration, begin = -0.6, 0.8, 0.5
    low = DRAWN if start is None else start

    def during(k: int) -> Callable[[Array], Array]:
        def f(t: Array) -> Array:
            s = (t - begin) / duration
            after = 1.0 if k == 0 else 0.0
            value = np.where(s <= 0, 0.0, np.where(s >= 1, after, shape[k](s)))
            return (low if k == 0 else 0.0) + rise * value / duration**k

        return f

    times = np.linspace(0, 2, 38)  # none at the ends of the rise, where the acceleration of one law jumps
    assert np.abs(times - begin).min() > 1e-3 and np.abs(times - begin - duration).min() > 1e-3
    check(slider(law(rise, duration, begin, start)), times, (during(0), during(1), during(2)))


@pytest.mark.parametrize("law", [kp.cycloidal, kp.polynomial345])
def test_rise_begins_and_ends_at_rest(law: Callable) -> None:
    result = slider(law(1.5, 2.0, 1.0)).kinematics([0.5, 1.0, 3.0, 3.5])
    for name in ("vx", "ax"):
        np.testing.assert_allclose(result.array(f"body.{name}"), 0.0, atol=1e-13)
    np.testing.assert_allclose(result.array("body.x"), DRAWN + np.array([0, 0, 1.5, 1.5]), rtol=1e-14)


# --- splines ------------------------------------------------------------------------------------------------------

KNOTS = np.array([0.0, 0.3, 0.5, 1.1, 1.6, 2.0])
VALUES = np.array([0.7, 0.9, 0.4, 0.45, 1.2, 0.7])


def derivatives(fit: CubicSpline) -> Expected:
    return fit, fit.derivative(1), fit.derivative(2)


@pytest.mark.parametrize("ends", ["not-a-knot", "natural", "clamped"])
def test_spline_is_the_one_of_scipy_also_beyond_its_ends(ends: str) -> None:
    times = np.sort(np.concatenate([np.linspace(-0.4, 2.7, 60), KNOTS]))
    check(slider(kp.spline(KNOTS, VALUES, ends=ends)), times, derivatives(CubicSpline(KNOTS, VALUES, bc_type=ends)))


def test_periodic_spline_goes_round() -> None:
    fit = CubicSpline(KNOTS, VALUES, bc_type="periodic", extrapolate="periodic")
    times = np.sort(np.concatenate([np.linspace(-3.1, 7.3, 120), KNOTS[1:-1] + 2.0]))
    check(slider(kp.spline(KNOTS, VALUES, periodic=True)), times, derivatives(fit))


@pytest.mark.parametrize("n", [2, 3, 4])
def test_spline_through_few_points_is_the_polynomial(n: int) -> None:
    t, x = KNOTS[:n], VALUES[:n]
    polynomial = np.polynomial.Polynomial.fit(t, x, n - 1)
    expected = polynomial, polynomial.deriv(1), polynomial.deriv(2)
    check(slider(kp.spline(t, x)), np.linspace(-0.5, 1.5, 21), expected, 1e-11)


def test_two_splines_keep_their_own_tables() -> None:
    m = kp.Mechanism("two sliders")
    fits = [CubicSpline(KNOTS, VALUES), CubicSpline(KNOTS[:4], -2 * VALUES[:4])]
    for k, fit in enumerate(fits):
        body = m.body(f"body {k}", at=(float(fit(0)), 0))
        m.translational(f"guide {k}", m.ground, body)
        m.driver(f"drive {k}", body.x, kp.spline(fit.x, fit(fit.x)))
    result = m.kinematics(np.linspace(0, 2, 31))
    for k, fit in enumerate(fits):
        np.testing.assert_allclose(result.array(f"body {k}.x"), fit(result.t), atol=1e-12)
        np.testing.assert_allclose(result.array(f"body {k}.ax"), fit(result.t, 2), atol=1e-11)


# --- numbers of a law that are design parameters ------------------------------------------------------------------


def test_numbers_of_a_law_may_be_parameters() -> None:
    m = kp.Mechanism("slider")
    a, w = m.parameter("amplitude", 0.3), m.parameter("omega", 4.0)
    body = m.body("body", at=(a, 0.2))
    m.translational("guide", m.ground, body)
    m.driver("drive", body.x, kp.harmonic(2 * a, w, start=a))
    times = np.linspace(0, 1, 11)

    def motion(a: float, w: float) -> Array:
        return a + 2 * a * np.sin(w * times)

    np.testing.assert_allclose(m.kinematics(times).array("body.x"), motion(0.3, 4.0), atol=1e-13)
    changed = m.kinematics(times, parameters={"omega": 2.0})
    np.testing.assert_allclose(changed.array("body.x"), motion(0.3, 2.0), atol=1e-13)
    m.set(amplitude=-0.1)
    np.testing.assert_allclose(m.kinematics(times).array("body.x"), motion(-0.1, 4.0), atol=1e-13)


def test_a_function_of_time_may_use_parameters() -> None:
    m = kp.Mechanism("slider")
    a = m.parameter("amplitude", 0.3)
    body = m.body("body", at=(0.3, 0.2))
    m.translational("guide", m.ground, body)
    m.driver("drive", body.x, lambda t: a * kp.cos(2 * t))
    times = np.linspace(0, 1, 11)
    for value in (0.3, 0.5):
        result = m.kinematics(times, parameters={"amplitude": value})
        np.testing.assert_allclose(result.array("body.x"), value * np.cos(2 * times), atol=1e-13)
        np.testing.assert_allclose(result.array("body.ax"), -4 * value * np.cos(2 * times), atol=1e-13)


def test_point_driver_leads_a_point_along_a_path() -> None:
    m = kp.Mechanism("tracer")
    body = m.body("body", at=(0.0, 0.0))
    tip = body.on((0.5, 0.0))
    m.driver("turn", body.angle, kp.constant_speed(1.0))
    m.point_driver("lead", tip, kp.harmonic(0.2, 3.0), lambda t: 0.1 * t**2)
    result = m.kinematics(np.linspace(0, 1, 11))
    t = result.t
    np.testing.assert_allclose(result.array("body.x"), 0.5 + 0.2 * np.sin(3 * t) - 0.5 * np.cos(t), atol=1e-12)
    np.testing.assert_allclose(result.array("body.y"), 0.1 * t**2 - 0.5 * np.sin(t), atol=1e-12)
    np.testing.assert_allclose(result.array("body.ay"), 0.2 + 0.5 * np.sin(t), atol=1e-12)
