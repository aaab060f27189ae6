"""Friction and contacts in analyses that are not simulations."""

from typing import Any

import numpy as np
import pytest

import kempe as kp

G = 9.81


def slider_crank(speed: float | None, **friction: Any) -> Any:
    m = kp.Mechanism("slider-crank", gravity=(0, -G))
    crank = m.body("crank", mass=0.5, inertia=1e-3, at=(0.05 * np.cos(1), 0.05 * np.sin(1)), angle=1.0)
    turn = -np.arcsin(0.1 * np.sin(1) / 0.3)
    pin = np.array([0.1 * np.cos(1), 0.1 * np.sin(1)])
    end = pin + 0.3 * np.array([np.cos(turn), np.sin(turn)])
    rod = m.body("rod", mass=0.3, inertia=2e-3, at=tuple((pin + end) / 2), angle=turn)
    slider = m.body("slider", mass=0.4, inertia=1e-3, at=tuple(end))
    rub = {**friction, "radius": 0.01} if friction else {}
    m.revolute("O", m.ground, crank, at=(0, 0), **rub)
    m.revolute("A", crank, rod, at=tuple(pin), **rub)
    m.revolute("B", rod, slider, at=tuple(end), **rub)
    m.translational("P", m.ground, slider, **friction)
    if speed is not None:
        m.driver("motor", crank.angle, kp.constant_speed(speed))
    return m


def test_friction_is_no_joint() -> None:
    """Mobility, check and kinematics are those of the mechanism without it."""
    rubbing, plain = slider_crank(5.0, friction=0.2), slider_crank(5.0)
    assert rubbing.mobility().dof == plain.mobility().dof == 1
    assert [str(f) for f in rubbing.check()] == [str(f) for f in plain.check()]
    kin = rubbing.kinematics(1.0)
    assert np.array_equal(kin.q, plain.kinematics(1.0).q)
    assert "P.slip" in kin.names and "P.friction" not in kin.names  # no forces are known


def test_a_driven_motion_begins_against_friction() -> None:
    """Inverse dynamics and simulation say the same of loads, friction and effort."""
    m = slider_crank(5.0, friction=kp.Coulomb(0.2, 0.3))
    inv, sim = m.inverse_dynamics(1.0), m.simulate(1.0, tolerance=1e-10)
    assert sim.success and "redundant" not in inv.message
    assert sim.q == pytest.approx(inv.q, abs=1e-8)
    slides = np.all([np.abs(sim.array(f"{j}.slip")) > 1e-3 for j in "OABP"], axis=0)
    for name in ("motor.effort", "O.force", "P.friction", "B.friction"):
        scale = np.abs(inv.array(name)).max()
        assert sim.array(name)[slides] == pytest.approx(inv.array(name)[slides], abs=1e-6 * scale), name
    smooth = slider_crank(5.0)
    assert np.abs(smooth.inverse_dynamics(1.0).array("motor.effort") - inv.array("motor.effort")).max() > 0.01


def test_accelerations_feel_what_sticks_and_slides() -> None:
    for mu, expected in ((0.9, 0.0), (0.2, 3.0 - 0.2 * G)):
        m = kp.Mechanism("block", gravity=(3.0, -G))
        m.translational("guide", m.ground, m.body("b", mass=1.0, inertia=0.1), friction=mu)
        found = m.accelerations()
        assert found["b.ax"] == pytest.approx(expected, abs=1e-12)
        assert found["guide.normal"] == pytest.approx(-G)
        away = m.accelerations({"b.vx": 1.0})
        assert away["b.ax"] == pytest.approx(3.0 - mu * G)


def test_an_equilibrium_that_friction_or_a_floor_holds() -> None:
    m = kp.Mechanism("block", gravity=(3.0, -G))
    block = m.body("b", mass=1.0, inertia=0.1)
    m.translational("guide", m.ground, block, friction=0.9)
    m.spring("spring", m.ground, block, on_i=(-1, 0), stiffness=100.0, length=1.0)
    assert m.equilibrium()["b.x"] == 0.0
    m = kp.Mechanism("ball", gravity=(0, -G))
    ball = m.body("ball", mass=1.0, inertia=0.1, at=(0, 0.1))
    m.circle_line_contact("floor", m.ground, ball, radius=0.1)
    m.spring("up", m.ground, ball, on_i=(0, 1), stiffness=1.0, length=0.0)
    rest = m.equilibrium()
    assert rest["ball.y"] == pytest.approx(0.1, abs=1e-12)


def test_friction_that_cannot_hold_an_equilibrium_says_so() -> None:
    m = kp.Mechanism("block", gravity=(3.0, -G))
    block = m.body("b", mass=1.0, inertia=0.1)
    m.translational("guide", m.ground, block, friction=0.2)
    m.spring("spring", m.ground, block, on_i=(-1, 0), stiffness=100.0, length=1.0)
    with pytest.raises(kp.ConvergenceError, match="'guide' does not hold"):
        m.equilibrium()
