"""Kinetic energies that depend on time or have terms of first degree in the rates: Lagrange's equations in full."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kempe as kp
from kempe.elements import Element

MASS, LENGTH, GRAVITY, STROKE, FREQUENCY = 2.0, 0.5, 9.81, 0.3, 5.0


class ShakenPendulum(Element):
    """A mass on a rod whose pivot moves by STROKE sin(FREQUENCY t), in one angle."""

    def __init__(self, name: str, angle: Any) -> None:
        super().__init__(name, angle=angle, mass=MASS, length=LENGTH)

    def kinetic(self, x: Any) -> Any:
        speed, turning = STROKE * FREQUENCY * kp.cos(FREQUENCY * x.t), x.d(x.angle)
        along = speed + x.length * kp.cos(x.angle) * turning
        return x.mass / 2 * (along**2 + (x.length * kp.sin(x.angle) * turning) ** 2)

    def weight(self, x: Any) -> Any:
        return -x.mass * GRAVITY * x.length * kp.cos(x.angle)


class LosingMass(Element):
    """A mass m(t) on a spring: d/dt(m v) = -k s."""

    def __init__(self, name: str, place: Any) -> None:
        super().__init__(name, place=place, mass=MASS, rate=0.7, stiffness=40.0)

    def kinetic(self, x: Any) -> Any:
        return x.mass * kp.exp(-x.rate * x.t) / 2 * x.d(x.place) ** 2

    def potential(self, x: Any) -> Any:
        return x.stiffness / 2 * x.place**2


class Hoop(Element):
    """A bead on a hoop that turns at a given speed: T has a part without rates."""

    def __init__(self, name: str, angle: Any) -> None:
        super().__init__(name, angle=angle, mass=MASS, radius=LENGTH, speed=6.0)

    def kinetic(self, x: Any) -> Any:
        across = x.radius * kp.sin(x.angle) * x.speed
        return x.mass / 2 * ((x.radius * x.d(x.angle)) ** 2 + across**2)

    def weight(self, x: Any) -> Any:
        return -x.mass * GRAVITY * x.radius * kp.cos(x.angle)


def shaken(t: float, y: np.ndarray) -> list[float]:
    push = STROKE * FREQUENCY**2 * np.sin(FREQUENCY * t) * np.cos(y[0])
    return [y[1], (push - GRAVITY * np.sin(y[0])) / LENGTH]


def losing(t: float, y: np.ndarray) -> list[float]:
    return [y[1], 0.7 * y[1] - 40.0 / (MASS * np.exp(-0.7 * t)) * y[0]]


def hoop(t: float, y: np.ndarray) -> list[float]:
    return [y[1], np.sin(y[0]) * (6.0**2 * np.cos(y[0]) - GRAVITY / LENGTH)]


@pytest.mark.parametrize("method", ["auto", "canonical", "independent", "radau", "bdf", "alpha"])
@pytest.mark.parametrize(("element", "equation"), [(ShakenPendulum, shaken), (LosingMass, losing), (Hoop, hoop)])
def test_motion_and_energy(element: Any, equation: Any, method: str) -> None:
    m = kp.Mechanism("one coordinate")
    m.add(element("mass", m.coordinate("s", 0.4)))
    order_2 = method == "alpha"
    result = m.simulate(1.0, steps=20, method=method, tolerance=1e-6 if order_2 else 1e-9)
    exact = solve_ivp(equation, (0, 1), [0.4, 0.0], rtol=1e-11, atol=1e-12, t_eval=result.t).y
    np.testing.assert_allclose(result.array("s"), exact[0], rtol=0, atol=1e-3 if order_2 else 1e-6)
    np.testing.assert_allclose(result.v[:, 0], exact[1], rtol=0, atol=2e-2 if order_2 else 1e-5)
    # what the support, or the mass that leaves, brings in is accounted for
    size = np.abs(result.series["energy.kinetic"]).max()
    assert np.abs(result.series["energy.supplied"]).max() > 0.01 * size
    assert np.abs(result.series["energy.balance"]).max() < (1e-3 if order_2 else 1e-6) * size
