"""Friction in joints and of quantities, by Coulomb's law and by smooth ones, against motions that are known."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kempe as kp
from kempe.system.families import family_of

G = 10.0


def block(friction: Any, x: float = 0.1, stiffness: float = 100.0, **more: Any) -> Any:
    """A kilogram on a spring, in a guide with friction."""
    m = kp.Mechanism("block", gravity=(0, -G))
    b = m.body("b", mass=1.0, inertia=0.1, at=(x, 0))
    m.translational("guide", m.ground, b, friction=friction, **more)
    m.spring("spring", m.ground, b, on_i=(-1, 0), stiffness=stiffness, length=1.0)
    return m


def test_a_mass_on_a_spring_stops_after_the_known_number_of_half_cycles() -> None:
    """Each half cycle takes 2 mu N/k of the amplitude; it rests where the spring cannot pull it loose."""
    mu, x = 0.07, 0.1
    res = block(mu, x).simulate(3.0, tolerance=1e-11)
    half, drop = np.pi / 10.0, 2 * mu * G / 100.0
    turns = []
    while x > mu * G / 100.0:
        x -= drop
        turns.append(x)
    assert res.array("b.x")[-1] == pytest.approx((-1) ** len(turns) * x, abs=1e-9)
    assert res.events[-1].t == pytest.approx(half * len(turns), abs=1e-9) and res.events[-1].mode == "stick"
    assert res.array("guide.slip")[-1] == 0.0
    assert res.array("guide.force.x") == pytest.approx(res.array("guide.friction"), abs=1e-9)  # sliding and sticking
    assert res.array("guide.force.y") == pytest.approx(G)
    assert res.array("guide.friction")[-1] == pytest.approx(100.0 * res.array("b.x")[-1], abs=1e-7)
    assert res.array("energy.dissipated")[-1] == pytest.approx(0.5 * 100 * (0.1**2 - x**2), rel=1e-7)


def test_static_friction_holds_what_kinetic_friction_would_not() -> None:
    held = block(kp.Coulomb(0.2, 0.5), 0.049).simulate(1.0)
    assert not held.events and np.ptp(held.array("b.x")) == 0.0
    slides = block(kp.Coulomb(0.2, 0.5), 0.051).simulate(1.0)
    assert np.ptp(slides.array("b.x")) > 0.01


def test_both_pads_of_a_guide_feel_a_load_off_its_centre() -> None:
    """A slider pulled at an arm: the pads bear N/2 +- M/length, so a long arm jams what a short one moves."""
    for arm, moves in ((0.05, True), (0.6, False)):
        m = kp.Mechanism("drawer")
        b = m.body("b", mass=1.0, inertia=0.1)
        m.translational("guide", m.ground, b, friction=0.3, length=0.3)
        m.force("pull", b, (2.0, 0.0), on=(0.0, arm))
        res = m.simulate(1.0)
        friction = 0.3 * 2 * (2.0 * arm) / 0.3  # N = 0, both pads bear M / length
        expected = (2.0 - friction) / 2 if moves else 0.0
        assert res.array("b.x")[-1] == pytest.approx(expected, abs=1e-9)
        assert res.array("guide.friction")[-1] == pytest.approx(-(friction if moves else 2.0))


def test_pin_friction_is_a_torque_of_the_load() -> None:
    """A wheel that runs down: m r^2 w' = -mu R m g, and the load of the joint has the torque in it."""
    m = kp.Mechanism("wheel", gravity=(0, -G))
    wheel = m.body("wheel", mass=2.0, inertia=0.5)
    m.revolute("axle", m.ground, wheel, at=(0, 0), friction=0.1, radius=0.05)
    res = m.simulate(4.0, velocities={"wheel.omega": 0.6})
    torque = 0.1 * 0.05 * 20.0
    stop = 0.6 * 0.5 / torque
    assert res.events[-1].t == pytest.approx(stop, abs=1e-9) and res.events[-1].mode == "stick"
    runs = res.t < stop
    assert res.array("wheel.omega") == pytest.approx(np.where(runs, 0.6 - torque / 0.5 * res.t, 0.0), abs=1e-9)
    assert res.array("axle.friction")[runs] == pytest.approx(-torque)
    assert res.array("axle.moment")[runs] == pytest.approx(-torque)
    assert res.reaction("axle", on=m.ground).moment[runs] == pytest.approx(torque)
    assert res.array("axle.slip") == pytest.approx(0.05 * res.array("wheel.omega"), abs=1e-12)


def test_a_pin_that_bears_nothing_does_not_rub() -> None:
    m = kp.Mechanism("wheel")
    wheel = m.body("wheel", mass=2.0, inertia=0.5)
    m.revolute("axle", m.ground, wheel, at=(0, 0), friction=0.1, radius=0.05)
    res = m.simulate(1.0, velocities={"wheel.omega": 0.6})
    assert res.array("wheel.omega") == pytest.approx(0.6, abs=1e-12)


def test_bars_stick_in_their_pins_wherever_they_are() -> None:
    """A bar has no angle that counts turns: it is held where it is, also beyond half a turn."""
    for angle in np.linspace(-3.0, 3.0, 5):
        m = kp.Mechanism("pendulum", gravity=(0, -G))
        tip = m.point("tip", at=(np.cos(angle), np.sin(angle)))
        bar = m.bar("bar", m.point("O"), tip, mass=1.0)
        m.revolute("axle", m.ground, bar, at=(0, 0), friction=1.0, radius=0.8)
        res = m.simulate(0.5)
        assert np.ptp(res.array("tip.x")) < 1e-12 and np.ptp(res.array("tip.y")) < 1e-12


def test_a_block_on_a_belt_sticks_and_slips() -> None:
    """The stick-slip of a mass on a moving belt: from stick to release by the spring, then a known slide."""
    m = kp.Mechanism("belt")
    b = m.body("b", mass=1.0, inertia=1.0)
    m.translational("way", m.ground, b)
    m.spring("spring", m.ground, b, on_i=(-1, 0), stiffness=100.0, length=1.0)
    m.friction("belt", b.x, friction=kp.Coulomb(0.3, 0.5), normal=10.0, speed=0.2)
    res = m.simulate(3.0, velocities={"b.vx": 0.2})
    release = 0.5 * 10 / 100 / 0.2  # where k x = mu_s N
    modes = [(event.mode, event.t) for event in res.events if event.t > 0]
    assert modes[0][0] == "backward" and modes[0][1] == pytest.approx(release, abs=1e-9)
    # sliding: x = x_k + A sin(10 (t - t0) + phase), back to the belt's speed at the mirrored place
    above = 0.05 - 0.03
    slide = (2 * np.pi - 2 * np.arctan2(above * 10, 0.2)) / 10  # until x' is the belt's speed again
    assert modes[1][0] == "stick" and modes[1][1] == pytest.approx(release + slide, abs=1e-8)
    again = modes[1][1] + 2 * above / 0.2
    assert modes[2][0] == "backward" and modes[2][1] == pytest.approx(again, abs=1e-8)


def test_a_surface_that_swings_carries_what_lies_on_it() -> None:
    m = kp.Mechanism("tray")
    b = m.body("b", mass=1.0, inertia=1.0)
    m.translational("way", m.ground, b)
    m.friction("tray", b.x, friction=0.5, normal=10.0, surface=lambda t: 0.1 * (1 - kp.cos(3 * t)))
    res = m.simulate(4.0)
    assert res.array("b.x") == pytest.approx(0.1 * (1 - np.cos(3 * res.t)), abs=1e-9)
    assert res.energy.error < 1e-6


def test_friction_takes_the_load_of_a_joint() -> None:
    """A band on a shaft, pressed by what the pin bears: the same as the friction of the pin itself."""
    built = []
    for own in (True, False):
        m = kp.Mechanism("pendulum", gravity=(0, -G))
        bob = m.body("bob", mass=2.0, inertia=0.1, at=(0.5, 0))
        friction = {"friction": 0.3, "radius": 0.04} if own else {}
        pin = m.revolute("pin", m.ground, bob, at=(0, 0), **friction)
        if not own:
            m.friction("band", pin.angle, friction=0.3 * 0.04, normal=pin)
        built.append(m.simulate(2.0, tolerance=1e-10))
    assert built[0].array("bob.angle") == pytest.approx(built[1].array("bob.angle"), abs=1e-8)


def test_stribeck_and_viscous_friction_while_sliding() -> None:
    """Against an integration of the same law by other code."""
    law = kp.Coulomb(0.1, 0.4, stribeck=0.5, viscous=0.7)
    m = kp.Mechanism("block", gravity=(0, -G))
    b = m.body("b", mass=1.0, inertia=1.0)
    m.translational("guide", m.ground, b, friction=law)
    res = m.simulate(0.6, velocities={"b.vx": 2.0}, tolerance=1e-10)

    def slows(t: float, v: np.ndarray) -> np.ndarray:
        return -G * (0.1 + 0.3 * np.exp(-((v / 0.5) ** 2))) - 0.7 * v

    ref = solve_ivp(slows, (0, 0.6), [2.0], t_eval=res.t, rtol=1e-11, atol=1e-12).y[0]
    assert res.array("b.vx") == pytest.approx(ref, abs=1e-8)
    assert res.array("guide.friction") == pytest.approx(slows(0, ref), abs=1e-6)


def share(law: Any, v: np.ndarray) -> np.ndarray:
    """The friction of a law under a unit load at given velocities."""
    m = kp.Mechanism("block")
    b = m.body("b", mass=1.0, inertia=1.0)
    m.translational("way", m.ground, b)
    m.friction("rub", b.x, friction=law, normal=1.0)
    return np.array([m.simulate([0.0, 1e-9], velocities={"b.vx": speed}).array("rub.friction")[0] for speed in v])


def test_smooth_laws_have_the_curves_they_are_named_for() -> None:
    v = np.array([-2.0, -0.6, -0.3, -0.01, 0.0, 0.01, 0.3, 0.45, 0.6, 2.0])
    a, sign = np.abs(v), np.sign(v)
    threlfall = np.where(a < 0.5, (1 - np.exp(-6 * a)) / (1 - np.exp(-3)), 1.0)
    assert share(kp.Threlfall(0.3, 0.5), v) == pytest.approx(-0.3 * threlfall * sign, abs=1e-12)
    assert share(kp.RooneyDeravi(0.3, 0.5), v) == pytest.approx(-0.3 * np.minimum(a / 0.5, 1) * sign, abs=1e-12)
    s, x = a / 0.2, (a - 0.2) / 0.3
    modified = np.where(s < 1, 0.4 * (3 * s - s**3) / 2, np.where(x < 1, 0.4 - 0.1 * x**2 * (3 - 2 * x), 0.3))
    assert share(kp.ModifiedCoulomb(0.3, 0.4, (0.2, 0.5)), v) == pytest.approx(-modified * sign, abs=1e-12)
    stribeck = np.tanh(v / 0.05) * (0.3 + 0.1 * np.exp(-((v / 0.5) ** 2))) + 0.2 * v
    assert share(kp.Stribeck(0.3, 0.4, 0.5, viscous=0.2), v) == pytest.approx(-stribeck, abs=1e-12)


@pytest.mark.parametrize("law", [kp.Threlfall, kp.RooneyDeravi])
def test_smooth_laws_come_near_to_coulomb(law: Any) -> None:
    """The motion differs in proportion to the speed at which the law is smoothed."""
    exact = block(0.07).simulate(1.5).array("b.x")
    errors = [np.abs(block(law(0.07, v)).simulate(1.5).array("b.x") - exact).max() for v in (1e-2, 1e-3, 1e-4)]
    assert errors[0] < 0.01 and errors[2] < 1e-4
    assert errors[1] < 0.3 * errors[0] and errors[2] < 0.3 * errors[1]


def test_lugre_against_an_integration_of_its_own_equations() -> None:
    law = kp.LuGre(0.1, 0.15, 0.05, 1e4, damping=30.0, viscous=0.4)
    res = block(law, 0.1).simulate(1.0, tolerance=1e-10)

    def rates(t: float, y: np.ndarray) -> list[float]:
        x, v, z = y
        g = G * (0.1 + 0.05 * np.exp(-((v / 0.05) ** 2)))
        dz = v - 1e4 * abs(v) * z / g
        return [v, -100 * x - 1e4 * z - 30.0 * dz - 0.4 * v, dz]

    ref = solve_ivp(rates, (0, 1.0), [0.1, 0, 0], "Radau", t_eval=res.t, rtol=1e-10, atol=1e-13).y
    assert res.array("b.x") == pytest.approx(ref[0], abs=1e-8)
    assert res.array("guide bristles.v") == pytest.approx(ref[2], abs=1e-9)
    assert res.energy.error < 1e-7


def test_bristles_follow_the_load() -> None:
    """In a joint whose load changes, LuGre's friction settles at mu times the load."""
    m = kp.Mechanism("crank", gravity=(0, -G))
    wheel = m.body("wheel", mass=2.0, inertia=0.5)
    m.revolute("axle", m.ground, wheel, at=(0, 0), friction=kp.LuGre(0.1, 0.1, 0.1, 1e5), radius=0.05)
    m.force("load", wheel, (0.0, lambda t: -100 * t))
    m.driver("motor", wheel.angle, kp.constant_speed(2.0))
    res = m.simulate(1.0)
    late = res.t > 0.1
    expected = -0.1 * 0.05 * (20.0 + 100 * res.t)
    assert res.array("axle.friction")[late] == pytest.approx(expected[late], rel=1e-2)
    assert res.array("motor.effort")[late] == pytest.approx(-expected[late], rel=1e-2)


def test_a_joint_without_friction_is_what_it_was() -> None:
    """The same kernels, rows and modes, whether friction is left out or zero."""
    m = kp.Mechanism("pair")
    bodies = [m.body(name, mass=1.0, inertia=1.0) for name in "abc"]
    plain = m.revolute("plain", m.ground, bodies[0], at=(0, 0))
    zero = m.revolute("zero", m.ground, bodies[1], at=(0, 0), friction=0.0, radius=0.1)
    assert family_of(plain) is family_of(zero)
    assert plain.modes == () and plain.rows == ("x", "y")


def test_what_nothing_presses_and_nothing_pulls_stays_where_it_is() -> None:
    m = kp.Mechanism("still")
    a, b = (m.body(name, mass=1.0, inertia=1.0, at=(k, 0)) for k, name in enumerate("ab"))
    m.translational("guide", m.ground, a, friction=0.2)
    m.revolute("pin", a, b, at=(0.5, 0), friction=0.2, radius=0.1)
    m.force("late", a, (lambda t: kp.if_else(t > 0.5, t - 0.5, 0.0), 0.0))
    res = m.simulate(1.0)
    early = res.t <= 0.5
    assert np.ptp(res.q[early], axis=0).max() < 1e-15
    assert res.intervals("pin", "stick") == [(0.0, 1.0)] or res.array("pin.slip")[-1] == 0.0
    assert res.array("a.x")[-1] == pytest.approx(0.5**3 / 12, abs=1e-9)
