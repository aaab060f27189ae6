"""Friction, stops, impulses and clearance in space: exact motions, planar twins, and balances."""

import numpy as np
import pytest

import kempe as kp

G = 9.81


@pytest.mark.parametrize(("slope", "mu"), [(0.5, 0.2), (0.1, 0.2)])
def test_a_block_on_a_slope_slides_or_stays(slope, mu):
    m = kp.Mechanism("slope", dim=3, gravity=(0, 0, -G))
    b = m.body("b", mass=2.0, inertia=(0.1, 0.1, 0.1))
    m.prismatic("P", m.ground, b, axis=(np.cos(slope), 0, -np.sin(slope)), friction=kp.Coulomb(mu))
    slid = m.simulate(1.0).array("P.displacement")[-1]
    assert slid == pytest.approx(max(0.0, G * (np.sin(slope) - mu * np.cos(slope))) / 2, abs=1e-12)


def test_two_pads_feel_what_tips_the_slider():
    """A weight beside a level guide tips it: each pad bears N/2 and M/length, and friction is that of both."""
    m = kp.Mechanism("rail", dim=3, gravity=(0, 0, -G))
    b = m.body("b", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0.3, 0, 0))
    m.prismatic("P", m.ground, b, axis=(1, 0, 0), at=(0, 0, 0), on_j=(-0.3, 0, 0), friction=kp.Coulomb(0.1), length=0.2)
    res = m.simulate(0.1, velocities={"b.vx": 5.0})
    N, M = 2.0 * G, 2.0 * G * 0.3
    assert res["P.friction"].values[0] == pytest.approx(-0.1 * (abs(N / 2 + M / 0.2) + abs(N / 2 - M / 0.2)), rel=1e-9)


def rubbing(dim: int) -> kp.Mechanism:
    m = kp.Mechanism("pendulum", dim=dim, gravity=(0, -G, 0)[:dim])
    pin = {"friction": kp.Coulomb(0.3), "radius": 0.1}
    if dim == 2:
        m.revolute("A", m.ground, m.body("b", mass=1.0, inertia=0.1, at=(0.5, 0)), at=(0, 0), **pin)
    else:
        b = m.body("b", mass=1.0, inertia=(0.05, 0.1, 0.1), at=(0.5, 0, 0))
        m.revolute("A", m.ground, b, at=(0, 0, 0), axis=(0, 0, 1), **pin)
    return m


def test_a_pin_rubs_as_in_the_plane():
    flat, space = (rubbing(dim).simulate(np.linspace(0, 3, 61), tolerance=1e-9) for dim in (2, 3))
    assert np.abs(flat.array("b.x") - space.array("b.x")).max() < 1e-8
    assert np.abs(flat.array("A.friction") - space.array("A.friction")).max() < 1e-8
    assert [e.mode for e in flat.events] == [e.mode for e in space.events]


def loose(dim: int) -> kp.Mechanism:
    m = kp.Mechanism("loose", dim=dim, gravity=(0, -G, 0)[:dim])
    play = {"clearance": 1e-3, "contact": kp.LankaraniNikravesh(stiffness=1e8, restitution=0.8)}
    play["friction"] = kp.RooneyDeravi(0.1, speed=1e-2)
    if dim == 2:
        b = m.body("b", mass=1.0, inertia=0.1, at=(0.5, 0))
        m.revolute("A", m.ground, b, at=(0, 0), bearing_radius=0.02, **play)
    else:
        b = m.body("b", mass=1.0, inertia=(0.05, 0.1, 0.1), at=(0.5, 0, 0))
        m.spherical("A", m.ground, b, at=(0, 0, 0), socket_radius=0.02, **play)
    return m


def test_a_ball_in_a_wide_socket_is_a_journal_in_a_plane():
    flat, space = (loose(dim).simulate(np.linspace(0, 0.1, 101), tolerance=1e-10) for dim in (2, 3))
    assert len(flat.contacts("A")) == len(space.contacts("A")) > 2
    assert np.abs(flat.array("b.x") - space.array("b.x")).max() < 1e-8
    assert np.abs(flat.array("A.force") - space.array("A.force")).max() < 1e-5 * flat.array("A.force").max()


def test_a_journal_with_play_balances_its_energy():
    m = kp.Mechanism("journal", dim=3, gravity=(0, 0, -G))
    b = m.body("b", mass=1.0, inertia=(0.002, 0.01, 0.01))
    play = {"clearance": 1e-4, "length": 0.1, "bearing_radius": 0.02, "friction": kp.RooneyDeravi(0.2, speed=1e-2)}
    m.cylindrical(
        "C", m.ground, b, axis=(1, 0, 0), at=(0, 0, 0), contact=kp.HuntCrossley(stiffness=1e8, restitution=0.5), **play
    )
    m.force("F", b, (0.1, 0.2, 0), on=(0.03, 0, 0))
    res = m.simulate(np.linspace(0, 0.05, 51), velocities={"b.omega.x": 30.0}, tolerance=1e-9)
    assert np.ptp(res["energy.balance"].values) < 1e-7
    assert res["C 1.penetration"].values.max() > 0 < res["C 2.penetration"].values.max()


def test_a_shaft_that_turns_slides_easily():
    """Friction opposes (v, R omega) as one vector: both fall in one ratio, m v' / v = I omega' / (R^2 omega)."""
    m = kp.Mechanism("shaft", dim=3, gravity=(0, 0, -G))
    b = m.body("b", mass=1.0, inertia=(0.05**2, 0.1, 0.1))
    m.cylindrical(
        "C", m.ground, b, axis=(1, 0, 0), at=(0, 0, 0), friction=kp.RooneyDeravi(0.2, speed=1e-3), radius=0.05
    )
    res = m.simulate(np.linspace(0, 0.3, 31), velocities={"b.vx": 0.6, "b.omega.x": 0.8 / 0.05}, tolerance=1e-9)
    v, turning = res.array("b.vx"), 0.05 * res["b.omega.x"].values
    assert v * 0.8 == pytest.approx(turning * 0.6, abs=1e-8)
    assert np.hypot(v, turning) == pytest.approx(1.0 - 0.2 * G * res.t, abs=1e-8)


def test_a_hammer_and_a_floor():
    m = kp.Mechanism("drop", dim=3, gravity=(0, 0, -G))
    b = m.body("b", mass=2.0, inertia=(0.1, 0.2, 0.25), at=(0, 0, 1))
    m.impulse("hit", b, 0.1, force=(1.0, 0, 0), torque=(0, 0, 0.5))
    m.stop("floor", kp.displacement(m.ground, b), 0.2, restitution=0.8)
    res = m.simulate(np.linspace(0, 0.6, 61))
    assert res.array("b.vx")[-1] == pytest.approx(0.5) and res["b.omega.z"].values[-1] == pytest.approx(2.0)
    bounce = next(e for e in res.events if e.element == "floor")
    assert bounce.t == pytest.approx(np.sqrt(1.6 / G), abs=1e-9)


def test_modes_of_what_may_spin_idly():
    """A rod on two balls turns about itself and nothing resists: rounding there is no push."""
    m = kp.Mechanism("swing", dim=3, gravity=(0, 0, -G))
    bars = [m.body(name, mass=1.0, inertia=(0.1, 0.1, 1e-3), at=(0, y, -0.5)) for name, y in (("a", 0.0), ("b", 1.0))]
    rod = m.body("rod", mass=1.0, inertia=(0.1, 1e-3, 0.1), at=(0, 0.5, -1))
    for bar, y in zip(bars, (0.0, 1.0), strict=True):
        m.revolute(f"R{y:g}", m.ground, bar, at=(0, y, 0), axis=(0, 1, 0))
        m.spherical(f"S{y:g}", bar, rod, at=(0, y, -1))
    inertia, weight = 2 * (0.1 + 0.25) + 1.0, (2 * 0.5 + 1.0) * G
    found = m.modes().frequencies
    assert min(abs(f - np.sqrt(weight / inertia)) for f in found) < 1e-9
    assert min(abs(f) for f in found) == 0.0
