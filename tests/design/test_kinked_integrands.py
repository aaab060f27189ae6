"""Integrals of what has kinks and jumps (abs, max, conditions): values and gradients are those of closed forms."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import kempe as kp
from kempe.design.evaluating import Evaluator

UP, END = 5.0, 0.9
DESIGN = {"g": 9.81, "limit": 0.6}


def thrown() -> kp.Mechanism:
    m = kp.Mechanism("thrown ball")
    g = m.parameter("g", DESIGN["g"])
    m.parameter("limit", DESIGN["limit"])
    m.gravity = (0.0, -g)
    m.body("ball", mass=2.0, inertia=1.0)
    return m


def height(t: Any, g: Any) -> Any:
    return UP * t - g * t**2 / 2


def sum_of(f: Any, a: Any, b: Any) -> Any:
    """The integral of a polynomial of low degree, with complex ends."""
    x, w = np.polynomial.legendre.leggauss(6)
    return sum(weight * f(a + (b - a) * (place + 1) / 2) for place, weight in zip(x, w, strict=True)) * (b - a) / 2


def closed_forms(g: Any, h: Any) -> dict[str, Any]:
    """Functionals of the flight, analytic in g and the limit h."""
    top, root = UP / g, (UP**2 - 2 * g * h) ** 0.5
    up, down = (UP - root) / g, (UP + root) / g  # where it passes the limit
    speed = lambda t: UP - g * t  # noqa: E731
    y = lambda t: height(t, g)  # noqa: E731
    return {
        "abs(ball.vy)": sum_of(speed, 0.0, top) - sum_of(speed, top, END),
        "max(ball.y, limit)": h * (up + END - down) + sum_of(y, up, down),
        "1 if ball.y > limit else 0": down - up,
        "ball.y**2 if ball.y <= limit else 3 * limit * t": sum_of(lambda t: y(t) ** 2, 0.0, up)
        + sum_of(lambda t: y(t) ** 2, down, END)
        + sum_of(lambda t: 3 * h * t, up, down),
        "sign(ball.vy) * ball.y": sum_of(y, 0.0, top) - sum_of(y, top, END),
        "abs(abs(ball.vy) - 2 * limit)": sum(
            abs_of(lambda t: abs_speed(t, g) - 2 * h, a, b)
            for a, b in pairwise([0.0, (UP - 2 * h) / g, top, (UP + 2 * h) / g, END])
        ),
        "if_else(t > limit, ball.y, 0)": sum_of(y, h, END),
    }


def abs_speed(t: Any, g: Any) -> Any:
    v = UP - g * t
    return v if np.real(v) >= 0 else -v


def abs_of(f: Any, a: Any, b: Any) -> Any:
    return sum_of(lambda t: f(t) if np.real(f((a + b) / 2)) > 0 else -f(t), a, b)


@pytest.mark.parametrize("gradient", ["direct", "adjoint"])
@pytest.mark.parametrize("method", ["projection", "radau"])
def test_closed_forms_of_a_flight(gradient: str, method: str) -> None:
    names = list(closed_forms(**{"g": 9.81, "h": 0.6}))
    options = {"gradient": gradient, "velocities": {"ball.vy": UP}, "method": method, "tolerance": 1e-10}
    found = Evaluator(thrown(), END, [kp.integral(name) for name in names], ["g", "limit"], **options)
    values, gradients = found.gradients(list(DESIGN.values()))
    true = np.array(list(closed_forms(9.81, 0.6).values()))
    np.testing.assert_allclose(values, true, rtol=1e-9)
    step = 1e-30j
    by_g = np.imag(list(closed_forms(9.81 + step, 0.6).values())) / 1e-30
    by_h = np.imag(list(closed_forms(9.81, 0.6 + step).values())) / 1e-30
    np.testing.assert_allclose(gradients[:, 0], by_g, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(gradients[:, 1], by_h, rtol=1e-7, atol=1e-9)


def bouncing() -> kp.Mechanism:
    m = kp.Mechanism("bouncing ball", gravity=(0.0, -9.81))
    e = m.parameter("e", 0.7)
    h = m.parameter("h", 1.0)
    m.body("ball", mass=1.0, inertia=1.0, at=(0.0, h))
    m.circle_line_contact("floor", m.ground, m["ball"], radius=0.1, restitution=e)
    return m


def test_kinks_between_impacts() -> None:
    """Speeds jump at impacts, and change sign there: that is no kink of their size in between."""
    m = bouncing()
    texts = ["abs(ball.vy)", "1 if ball.y > 0.4 else 0", "max(ball.vy, 0)", "sign(ball.vy) * ball.y"]
    functionals = [kp.integral(text) for text in texts]
    one, other = (Evaluator(m, 1.6, functionals, gradient=g, tolerance=1e-10) for g in ("direct", "adjoint"))
    p = np.array([0.7, 1.0])
    _, gradients = one.gradients(p)
    assert len(one.result.impacts) >= 3
    np.testing.assert_allclose(other.gradients(p)[1], gradients, rtol=1e-9)
    for k in range(2):
        h = 1e-4 * np.eye(2)[k]
        fine, coarse = ((one.values(p + c * h) - one.values(p - c * h)) / (2e-4 * c) for c in (1, 2))
        np.testing.assert_allclose(gradients[:, k], (4 * fine - coarse) / 3, rtol=1e-6)
