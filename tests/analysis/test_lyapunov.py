"""Lyapunov exponents against exact ones: eigenvalues, the contraction of areas by impacts, and published figures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oscillators import TURN, linear, loose_slider_crank, striking, ueda

import kempe as kp


def test_an_overdamped_oscillator_has_its_slow_eigenvalue() -> None:
    """X'' + 3 x' + 2 x = cos t: eigenvalues -1 and -2, whatever the forcing."""
    found = linear(2.0, 3.0).lyapunov(1.0, 20)
    assert found.growth == pytest.approx(np.full(20, -1.0), abs=1e-3)
    assert found.verdict == "regular" and found.per_time == pytest.approx(-1.0, abs=1e-3)


def test_a_saddle_has_its_positive_eigenvalue() -> None:
    """X'' = 4 x, at rest in x = 0: neighbours part with e^(2 t), and it is no use to wait for chaos to say so."""
    found = linear(-4.0, 0.0, forcing=0.0, at=0.0).lyapunov(0.5, 20)
    assert found.growth == pytest.approx(np.ones(20), abs=1e-4)


def test_a_damped_oscillation_shrinks_with_half_its_damping() -> None:
    """What the norm adds and takes within an oscillation is bounded, so that it falls with the number of periods."""
    found = linear(4.0, 0.3).lyapunov(TURN, 400)
    assert found.per_time == pytest.approx(-0.15, abs=math.log(2.0) / (400 * TURN))


@pytest.mark.parametrize("restitution", [0.6, 0.8])
@pytest.mark.parametrize("stiffness", [0.0625, 0.2])
def test_an_impact_shrinks_areas_by_the_square_of_its_restitution(stiffness: float, restitution: float) -> None:
    """Undamped between impacts, each of which multiplies areas by e^2; complex multipliers share that equally."""
    m = striking(stiffness, restitution=restitution)
    per_period = 1.0 if stiffness == 0.2 else 0.5  # impacts
    motion = m.simulate(TURN * np.arange(301), tolerance=1e-10)
    assert len([hit for hit in motion.impacts if hit.t > 200 * TURN]) == 100 * per_period
    found = m.lyapunov(TURN, 400, skip=200 * TURN)
    assert found.per_period == pytest.approx(per_period * math.log(restitution), abs=0.008)
    assert found.verdict == "regular"


def test_what_a_contact_keeps_goes_on_at_every_rescaling() -> None:
    """The exponent does not know at which instant of the period the neighbours are drawn together, in flight or not."""
    found, touching = [], []
    for phase in (0.0, 2.0, 4.0):
        m = striking(phase=phase, contact=kp.LankaraniNikravesh(0.3, 30.0))
        motion = m.simulate(TURN * np.arange(151), tolerance=1e-10)
        last = 150 * TURN
        touching.append(any(a < last <= b for a, b in motion.intervals("wall", ("contact", "released"))))
        found.append(m.lyapunov(TURN, 300, skip=100 * TURN).per_period)
    assert any(touching) and not all(touching)
    assert found == pytest.approx([found[0]] * 3, abs=0.006)


def test_uedas_attractor_has_the_published_exponent() -> None:
    found = ueda().lyapunov(TURN, 3000)
    assert found.verdict == "chaotic"
    assert abs(found.per_time - 0.1034) < 4 * found.per_time_error
    assert found.per_time_error < 0.005


def test_a_driven_pendulum_has_the_published_exponent() -> None:
    """X'' + 0.05 x' + sin x = 0.6 sin 0.7 t, as a body on a pin that goes round: 0.1400 (Sprott)."""
    m = kp.Mechanism("pendulum", gravity=(0, -1))
    bob = m.body("bob", 1.0, 1e-9, at=(0, -1))
    m.revolute("pin", m.ground, bob, at=(0, 0))
    m.user_force("drive", lambda b, t: (0, 0, 0.6 * kp.sin(0.7 * t) - 0.05 * b.omega), bob)
    found = m.lyapunov(TURN / 0.7, 1500)
    assert found.verdict == "chaotic"
    assert abs(found.per_time - 0.1400) < 4 * found.per_time_error
    assert found.per_time_error < 0.005


def test_a_loose_pin_is_regular_or_chaotic_by_its_clearance() -> None:
    m, period, velocities = loose_slider_crank(0.18e-3, 1e10)
    quiet = m.lyapunov(period, 40, skip=30 * period, velocities=velocities)
    assert quiet.verdict == "regular" and -2.2 < quiet.per_period < -1.0
    m, period, velocities = loose_slider_crank(0.5e-3, 9.4e9)
    wild = m.lyapunov(period, 60, velocities=velocities)
    assert wild.verdict == "chaotic" and 2.5 < wild.per_period < 5.0


def test_the_size_of_the_separation_does_not_matter() -> None:
    found = [ueda().lyapunov(TURN, 300, separation=d).per_period for d in (1e-8, 1e-6)]
    assert found[0] == pytest.approx(found[1], abs=0.2)  # the motions part, their statistics do not


def test_neighbours_that_fall_together_are_told() -> None:
    """A mass that falls against a dead stop and stays there forgets where it came from."""
    m = kp.Mechanism("dead stop")
    mass = m.body("mass", 1.0, 1.0, at=(0.5, 0.0))
    m.translational("rail", m.ground, mass)
    m.force("push", mass, (-1.0, 0.0))
    m.stop("wall", mass.x, 0.0, restitution=0.0)
    found = m.lyapunov(2.0, 5, skip=0.0)
    assert found.per_period == -np.inf and found.verdict == "regular" and "fall together" in str(found)
    with pytest.raises(kp.ModelError, match="no part is free to move at t = 20"):
        m.lyapunov(2.0, 5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"period": -1.0}, "period must be above zero"),
        ({"period": 1.0, "periods": 0}, "periods must be a whole number"),
        ({"period": 1.0, "skip": -1.0}, "skip must be a time"),
        ({"period": 1.0, "separation": 1.0}, "separation must be above"),
        ({"period": 1.0, "perods": 3}, "did you mean periods"),
    ],
)
def test_nonsense_is_refused(given: dict, words: str) -> None:
    with pytest.raises(kp.ModelError, match=words):
        linear(1.0, 0.1).lyapunov(**given)


def test_a_driven_machine_without_freedom_is_refused() -> None:
    m = kp.Mechanism("crank")
    crank = m.body("crank", 1.0, 1.0)
    pin = m.revolute("O", m.ground, crank, at=(0, 0))
    m.driver("motor", pin.angle, kp.constant_speed(1.0))
    with pytest.raises(kp.ModelError, match="no part is free to move"):
        m.lyapunov(1.0, 3)
