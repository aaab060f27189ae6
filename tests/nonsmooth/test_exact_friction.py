"""Dry friction against exact solutions: sticking, sliding, reversal, and when each begins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kempe as kp
from kempe.simulation.checkpoints import write_checkpoint
from kempe.simulation.running import Record
from kempe.simulation.starting import begun

G = 9.81
#: Methods that can carry friction, and how near to the truth they come at the tolerance of these tests.
METHODS = {"auto": 1e-7, "projection": 1e-7, "augmented": 1e-7, "radau": 1e-7, "independent": 1e-7, "alpha": 1e-3}
METHODS |= {"bdf": 1e-5, "bdf3": 1e-5, "ali3p": 1e-3}


def story(result: Any) -> list[str]:
    return [event.mode for event in result.events if hasattr(event, "mode")]


def incline(slope: float, friction: Any, gravity: float = G) -> tuple[kp.Mechanism, Any]:
    """A block in a guide; the guide is the x axis, gravity leans."""
    m = kp.Mechanism("incline", gravity=(gravity * math.sin(slope), -gravity * math.cos(slope)))
    block = m.body("block", 2.0, 0.1)
    m.translational("guide", m.ground, block, axis=(1, 0), friction=friction)
    return m, block


@pytest.mark.parametrize("method", METHODS)
def test_a_block_thrown_up_an_incline_comes_back(method):
    slope, mu, v = 0.5, 0.3, 3.0
    up = G * (math.sin(slope) + mu * math.cos(slope))
    down = G * (math.sin(slope) - mu * math.cos(slope))
    m, _ = incline(slope, mu)
    result = m.simulate(1.0, method=method, tolerance=1e-9, velocities={"block.vx": -v})
    top = v / up
    t = result.t
    exact = np.where(t < top, -v * t + up * t**2 / 2, -v * top / 2 + down * (t - top) ** 2 / 2)
    assert np.abs(result.array("block.x") - exact).max() < METHODS[method]
    turned = [e.t for e in result.events if e.t > 0]
    assert turned == pytest.approx([top], abs=METHODS[method])
    assert story(result)[-1] == "forward"


def test_a_block_stays_where_friction_is_steeper_than_the_slope():
    for mu, moves in ((math.tan(0.5) * 1.0001, False), (math.tan(0.5) * 0.9999, True)):
        m, _ = incline(0.5, mu)
        result = m.simulate(1.0)
        assert (result.array("block.x")[-1] > 1e-6) == moves
        if not moves:
            assert np.abs(result.array("block.x")).max() < 1e-20


def test_a_block_that_slides_stops_and_stays():
    slope, mu, v = 0.3, 0.6, 2.0
    slow = G * (mu * math.cos(slope) - math.sin(slope))
    m, _ = incline(slope, mu)
    result = m.simulate(2.0, tolerance=1e-10, velocities={"block.vx": v})
    assert [e.t for e in result.events if e.t > 0] == pytest.approx([v / slow], abs=1e-10)
    assert result.array("block.x")[-1] == pytest.approx(v**2 / slow / 2, abs=1e-10)
    assert result.array("block.vx")[-1] == 0.0
    assert result.array("energy.dissipated")[-1] == pytest.approx(
        2 * (v**2 / 2 + G * math.sin(slope) * v**2 / slow / 2), rel=1e-9
    )


def test_static_above_kinetic_holds_longer_and_then_lets_go():
    """A force that grows in time: it lets go at mu_s m g, and slides with mu_k m g from then on."""
    mass, static, kinetic, rise = 2.0, 0.5, 0.3, 4.0
    m = kp.Mechanism("pulled", gravity=(0, -G))
    block = m.body("block", mass, 0.1)
    m.translational("guide", m.ground, block, axis=(1, 0), friction=kp.Coulomb(kinetic, static))
    m.user_force("pull", lambda b, t: (rise * t, 0, 0), block)
    go = static * mass * G / rise
    result = m.simulate(go + 1.0, tolerance=1e-10)
    assert [e.t for e in result.events if e.t > 0] == pytest.approx([go], abs=1e-10)
    s = 1.0
    exact = (rise * s**3 / 6 + (static - kinetic) * mass * G * s**2 / 2) / mass
    assert result.array("block.x")[-1] == pytest.approx(exact, abs=1e-9)


def test_a_block_thrown_up_sticks_between_kinetic_and_static():
    """tan(slope) between the coefficients: it stays at the top, though the kinetic friction could not hold it."""
    slope, v = 0.4, 2.0
    m, _ = incline(slope, kp.Coulomb(0.9 * math.tan(slope), 1.1 * math.tan(slope)))
    result = m.simulate(1.0, velocities={"block.vx": -v})
    assert story(result)[-1] == "stick"
    top = v / (1.9 * G * math.sin(slope))
    assert result.array("block.x")[-1] == pytest.approx(-v * top / 2, abs=1e-8)


def sprung(mu: Any, x0: float, k: float = 100.0) -> kp.Mechanism:
    m = kp.Mechanism("sprung", gravity=(0, -G))
    block = m.body("block", 1.0, 0.1, at=(x0, 0))
    m.translational("guide", m.ground, block, axis=(1, 0), friction=mu)
    m.spring("spring", m.ground.on((-10, 0)), block, stiffness=k, length=10.0)
    return m


@pytest.mark.parametrize("method", METHODS)
def test_a_mass_on_a_spring_stops_after_the_known_number_of_half_cycles(method):
    k, mu, x0 = 100.0, 0.3, 0.5
    lost, x, turns = mu * G / k, x0, 0
    while abs(x) > lost:
        x, turns = -math.copysign(abs(x) - 2 * lost, x), turns + 1
    result = sprung(mu, x0).simulate(turns * math.pi / 10 + 1.0, method=method, tolerance=1e-9)
    events = [event for event in result.events if event.t > 0]
    near = METHODS[method] * 3
    assert [e.t for e in events] == pytest.approx([j * math.pi / 10 for j in range(1, turns + 1)], abs=near)
    assert events[-1].mode == "stick"
    assert result.array("block.x")[-1] == pytest.approx(x, abs=near)
    assert result.array("block.x")[-1] == pytest.approx(events[-1]["block.x"], abs=1e-13)


def test_all_half_cycles_with_static_above_kinetic():
    """It stops where the spring is within static friction, though the kinetic one would let it go on."""
    k, kinetic, static, x0 = 100.0, 0.3, 0.42, 0.5
    lost, x, turns = kinetic * G / k, x0, 0
    while abs(x) > static * G / k:
        x, turns = -math.copysign(abs(x) - 2 * lost, x), turns + 1
    result = sprung(kp.Coulomb(kinetic, static), x0).simulate(turns * math.pi / 10 + 1.0, tolerance=1e-10)
    assert [e.t for e in result.events if e.t > 0][-1] == pytest.approx(turns * math.pi / 10, abs=1e-9)
    assert result.array("block.x")[-1] == pytest.approx(x, abs=1e-9)


def test_a_mass_on_a_belt_sticks_and_slips_with_the_known_period():
    k, speed, static, kinetic = 40.0, 0.3, 0.6, 0.35
    omega, far, near = math.sqrt(k), static * G / k, kinetic * G / k
    phase = math.atan2(speed / omega, far - near)
    slips = (math.pi + 2 * phase) / omega
    period = slips + 2 * (far - near) / speed
    m = kp.Mechanism("belt", gravity=(0, -G))
    block = m.body("block", 1.0, 0.1, at=(far - 0.1, 0))
    m.translational("guide", m.ground, block, axis=(1, 0))
    m.friction("belt", block.x, friction=kp.Coulomb(kinetic, static), normal=G, speed=speed)
    m.spring("spring", m.ground.on((-10, 0)), block, stiffness=k, length=10.0)
    result = m.simulate(0.1 / speed + 3.5 * period, tolerance=1e-10, velocities={"block.vx": speed})
    first = 0.1 / speed
    loose = [e.t for e in result.events if e.mode == "backward"]
    caught = [e.t for e in result.events if e.mode == "stick" and e.t > 0]
    assert loose == pytest.approx([first + j * period for j in range(4)], abs=1e-9)
    assert caught[:3] == pytest.approx([first + slips + j * period for j in range(3)], abs=1e-9)
    low = near - math.hypot(far - near, speed / omega)
    assert result.array("block.x").min() == pytest.approx(low, abs=1e-3)


def test_the_period_of_a_belt_does_not_depend_on_where_it_began():
    m = kp.Mechanism("belt", gravity=(0, -G))
    block = m.body("block", 1.0, 0.1)
    m.translational("guide", m.ground, block, axis=(1, 0))
    m.friction("belt", block.x, friction=kp.Coulomb(0.2, 0.4), normal=G, speed=0.1)
    m.spring("spring", m.ground.on((-10, 0)), block, stiffness=60.0, length=10.0)
    result = m.simulate(12.0, tolerance=1e-10)
    times = [e.t for e in result.events if e.mode == "backward" and e.t > 1.0]
    assert np.ptp(np.diff(times)) < 1e-8


def pads(offset: float, length: float, mu: float = 0.2) -> Any:
    """A block pushed up a vertical guide by a force beside it."""
    m = kp.Mechanism("pads")
    block = m.body("block", 1.0, 0.1)
    m.translational("guide", m.ground, block, axis=(0, 1), friction=mu, length=length)
    m.user_force("push", lambda b, t: (0, 10.0, 10.0 * offset), block)
    return m


def test_a_guide_loaded_off_its_centre_feels_both_pads():
    """Moment F d: pads bear F d / L each, so that friction is 2 mu F d / L; above F it is jammed."""
    result = pads(0.5, 1.0).simulate(1.0)
    assert result.array("block.y")[-1] == pytest.approx(10 * (1 - 2 * 0.2 * 0.5) / 2, rel=1e-8)
    assert np.abs(pads(2.6, 1.0).simulate(1.0).array("block.y")).max() < 1e-20
    assert pads(2.4, 1.0).simulate(1.0).array("block.y")[-1] > 0.1


def test_a_pendulum_with_pin_friction_stops_where_gravity_cannot_turn_it():
    """At rest the pin bears the weight: it can hold where m g l sin(a) <= mu R m g."""
    mu, radius, length = 0.4, 0.1, 0.5
    m = kp.Mechanism("pendulum", gravity=(0, -G))
    bob = m.body("bob", 1.3, 0.02, at=(length * math.sin(1.0), -length * math.cos(1.0)), angle=1.0)
    m.revolute("pin", m.ground, bob, at=(0, 0), friction=mu, radius=radius)
    result = m.simulate(20.0, tolerance=1e-10)
    last = [e for e in result.events if e.mode == "stick"][-1]
    assert abs(math.sin(last["bob.angle"])) <= mu * radius / length
    # where it sticks each step leaves rounding of what was left before: 1e-16 of it, then 1e-32, ...
    assert abs(result.array("bob.omega")[-1]) < 1e-30
    lost = 1.3 * G * length * (math.cos(last["bob.angle"]) - math.cos(1.0))
    assert result.array("energy.dissipated")[-1] == pytest.approx(lost, rel=1e-8)
    # just above and just below the angle at which it can hold
    for share, holds in ((0.999, True), (1.001, False)):
        angle = math.asin(share * mu * radius / length)
        m = kp.Mechanism("hung", gravity=(0, -G))
        bob = m.body("bob", 1.3, 0.02, at=(length * math.sin(angle), -length * math.cos(angle)), angle=angle)
        m.revolute("pin", m.ground, bob, at=(0, 0), friction=mu, radius=radius)
        result = m.simulate(0.5)
        assert (story(result)[-1:] in ([], ["stick"])) == holds
        assert (np.ptp(result.array("bob.angle")) == 0.0) == holds


def test_smooth_friction_comes_near_as_its_speed_goes_to_zero():
    """Both laws of the book, and the velocity scale by tens: the distance falls by tens."""
    exact = sprung(0.3, 0.5).simulate(1.4, tolerance=1e-10).array("block.x")
    for law in (kp.RooneyDeravi, kp.Threlfall):
        off = []
        for speed in (1e-1, 1e-2, 1e-3):
            smooth = sprung(law(0.3, speed), 0.5).simulate(1.4, tolerance=1e-10, method="radau").array("block.x")
            off.append(np.abs(smooth - exact).max())
        assert off[1] < 0.2 * off[0], off
        assert off[2] < 0.2 * off[1], off


def test_runs_of_a_family_are_the_single_runs():
    m = kp.Mechanism("family", gravity=(0, -G))
    mu = m.parameter("mu", 0.3)
    block = m.body("block", 1.0, 0.1, at=(0.5, 0))
    m.translational("guide", m.ground, block, axis=(1, 0), friction=mu)
    m.spring("spring", m.ground.on((-10, 0)), block, stiffness=100.0, length=10.0)
    values = [0.05, 0.1, 0.3, 0.6]
    runs = kp.run_many(m, {"mu": values}, ["block.x"], 2.0)
    for k, value in enumerate(values):
        single = m.simulate(2.0, parameters={"mu": value})
        assert np.array_equal(runs["block.x"][k], single.array("block.x"))


@pytest.mark.parametrize("method", ["auto", "radau", "bdf", "alpha"])
def test_a_run_that_was_cut_goes_on_digit_for_digit(method, tmp_path):
    m, path = sprung(kp.Coulomb(0.3, 0.4), 0.5), tmp_path / "run.npz"
    whole = m.simulate(2.0, method=method, tolerance=1e-6)
    machine, record = begun(m, 2.0, method=method, tolerance=1e-6), Record()
    initial = machine.initial()
    machine.advance((whole.stats["steps"] + whole.stats["rejected"]) // 2)
    record.collect(machine)
    write_checkpoint(machine, record, initial, path)
    again = kp.resume(m, path)
    assert np.array_equal(again.q, whole.q)
    assert [(e.t, e.message) for e in again.events] == [(e.t, e.message) for e in whole.events]
