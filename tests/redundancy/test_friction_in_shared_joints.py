"""Friction feels the load that a joint has: where joints share one, the elastic share decides about the motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kempe as kp

G = 9.81
METHODS: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("auto", "baumgarte", "penalty", "augmented", "radau", "bdf")},
    "alpha": {"step": 1e-3},
    "ali3p": {"step": 1e-3},
}


@pytest.mark.parametrize("method", METHODS)
def test_a_rotor_in_two_pins_that_are_not_equally_stiff(method: str) -> None:
    """F = m g is shared as k_1 : k_2, and the rotor slows down by the torques of both."""
    mass, inertia, pins = 3.0, 0.2, ((2e8, 0.2, 0.02), (1e8, 0.05, 0.03))
    m = kp.Mechanism("rotor", gravity=(0.0, -G))
    rotor = m.body("rotor", mass, inertia, at=(0.0, 0.0))
    for k, (stiffness, mu, radius) in enumerate(pins):
        m.revolute(f"pin {k}", m.ground, rotor, at=(0, 0), friction=mu, radius=radius, stiffness=stiffness)
    found = m.simulate(np.linspace(0.0, 0.5, 6), velocities={"rotor.omega": 10.0}, method=method, **METHODS[method])
    shares = np.array([k for k, _, _ in pins]) / sum(k for k, _, _ in pins)
    torque = sum(share * mu * radius for share, (_, mu, radius) in zip(shares, pins, strict=True)) * mass * G
    assert np.abs(found.array("rotor.omega") - (10.0 - torque / inertia * found.t)).max() < 1e-6
    assert np.allclose(found["pin 0.force"], shares[0] * mass * G, rtol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_block_on_three_feet(method: str) -> None:
    """N_i = k_i (a + b x_i) with sum N = m g, and about the centre of mass, h above the guide, sum N (x - h mu) = 0."""
    mass, height = 2.0, 0.15
    x, mu, k = np.array([-0.4, 0.1, 0.5]), np.array([0.3, 0.1, 0.2]), np.array([1e7, 4e7, 2e7])
    m = kp.Mechanism("block", gravity=(0.0, -G))
    block = m.body("block", mass, 0.1, at=(0.0, height))
    for i in range(3):
        local = (float(x[i]), -height)
        more: dict[str, Any] = {"friction": float(mu[i]), "stiffness": float(k[i])}
        m.pin_in_slot(f"foot {i}", m.ground, block, axis=(1, 0), on_j=local, on_i=(float(x[i]), 0.0), **more)
    a, b = np.linalg.solve([[k.sum(), k @ x], [k @ (x - height * mu), (k * x) @ (x - height * mu)]], [mass * G, 0.0])
    borne = k * (a + b * x)
    assert (borne > 0).all()
    found = m.simulate(np.linspace(0.0, 0.5, 6), velocities={"block.vx": 3.0}, method=method, **METHODS[method])
    slow = (mu @ borne) / mass
    assert np.abs(found.array("block.vx") - (3.0 - slow * found.t)).max() < 1e-6
    for i in range(3):
        assert np.allclose(found[f"foot {i}.force.y"], borne[i], rtol=1e-5)
    back = m.inverse_dynamics(found)
    assert np.allclose(back["foot 1.force.y"], borne[1], rtol=1e-6)


def test_a_block_that_comes_to_rest_on_three_feet_stays() -> None:
    m = kp.Mechanism("block", gravity=(0.0, -G))
    block = m.body("block", 2.0, 0.1, at=(0.0, 0.1))
    for i, (x, k) in enumerate(((-0.4, 1e7), (0.1, 4e7), (0.5, 2e7))):
        m.pin_in_slot(
            f"foot {i}", m.ground, block, axis=(1, 0), on_i=(x, 0.0), on_j=(x, -0.1), friction=0.2, stiffness=k
        )
    found = m.simulate(1.0, velocities={"block.vx": 1.0})
    stop = 1.0 / (0.2 * G)
    assert abs(found.array("block.x")[-1] - 0.5 * stop) < 1e-6 and abs(found.array("block.vx")[-1]) < 1e-9


def test_a_method_that_gives_redundant_rows_no_load_is_refused() -> None:
    m = kp.Mechanism("rotor", gravity=(0.0, -G))
    rotor = m.body("rotor", 1.0, 0.2, at=(0.0, 0.0))
    m.revolute("one", m.ground, rotor, at=(0, 0), friction=0.1, radius=0.02)
    m.revolute("other", m.ground, rotor, at=(0, 0), friction=0.1, radius=0.02)
    with pytest.raises(kp.ModelError, match=r"'independent'.*'one'"):
        m.simulate(0.1, method="independent", velocities={"rotor.omega": 1.0})
