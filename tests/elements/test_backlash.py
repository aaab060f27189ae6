"""Joints with backlash, and known impulses."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import kempe as kp

G = 9.81


def slider_crank(speed: float, gravity: float = G) -> tuple[Any, Any, Any, Any]:
    """A slider-crank with all but its piston pin and guide."""
    m = kp.Mechanism("slider-crank", gravity=(0, -gravity))
    crank = m.body("crank", mass=0.5, inertia=1e-3, at=(0.05, 0))
    rod = m.body("rod", mass=0.3, inertia=2e-3, at=(0.25, 0))
    slider = m.body("slider", mass=0.4, inertia=1e-3, at=(0.4, 0))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=(0.1, 0))
    m.driver("motor", crank.angle, kp.constant_speed(speed))
    return m, crank, rod, slider


def test_a_loose_pin_stays_in_its_hole_and_pushes_only() -> None:
    m, _, rod, slider = slider_crank(30.0)
    m.revolute("B", rod, slider, at=(0.4, 0), backlash=5e-4, friction=0.1, radius=0.01)
    m.translational("guide", m.ground, slider)
    res = m.simulate(1.0)
    assert res.success and res.energy.error < 1e-6
    assert res.array("B.gap").min() > -1e-9 and res.array("B.normal").min() > -1e-9
    assert res.array("B.gap")[0] == pytest.approx(5e-4) and {event.mode for event in res.events} > {"stick"}
    assert np.abs(res.array("B.friction")).max() <= 0.1 * res.array("B.normal").max() + 1e-9


def test_a_pin_that_cannot_leave_moves_as_one_without_backlash_shifted() -> None:
    """A pendulum in a loose bearing without friction hangs on a rod longer by the backlash, from its own inertia."""
    m = kp.Mechanism("loose", gravity=(0, -G))
    bob = m.body("bob", mass=1.0, inertia=1e-9, at=(0, -0.01))
    m.revolute("hang", m.ground, bob, on_i=(0, 0), on_j=(0, 0), backlash=0.01)
    res = m.simulate(0.3, velocities={"bob.vx": 0.05})
    ref = kp.Mechanism("rod", gravity=(0, -G))
    point = ref.point("bob", at=(0, -0.01), mass=1.0)
    ref.link("rod", ref.ground, point)
    same = ref.simulate(0.3, velocities={"bob.vx": 0.05})
    assert res.array("bob.x") == pytest.approx(same.array("bob.x"), abs=1e-9)
    assert res.array("hang.normal") == pytest.approx(same.array("lambda.rod.length"), rel=1e-6)


def test_a_loose_slider_visits_all_four_cases() -> None:
    """No contact, one corner, two on one side, two on opposite sides; none goes beyond its line, energy balances."""
    m, _, rod, slider = slider_crank(25.0)
    m.revolute("B", rod, slider, at=(0.4, 0))
    guide = m.translational("P", m.ground, slider, backlash=5e-4, length=0.06, width=0.04, friction=0.1)
    m.force("gas", slider, (0.0, lambda t: 30 * kp.sin(47 * t)), on=(0.02, 0.0))
    res = m.simulate(2.0, steps=4000, tolerance=1e-10)
    assert res.success and res.energy.error < 1e-6
    for corner in guide.corners:
        assert res.array(f"{corner.name}.gap").min() > -1e-9
        assert res.array(f"{corner.name}.normal").min() > -1e-9
    assert set(res.array("P.case")) == {0.0, 1.0, 2.0, 3.0}
    largest = 2 * 5e-4 / 0.06  # the tilt of a wedged slider, but for its width
    assert np.abs(res.array("P.tilt")).max() == pytest.approx(largest, rel=0.02)
    cases = guide.cases(res)
    assert cases[0][0] == 0.0 and cases[-1][1] == 2.0
    assert all(a[1] == b[0] and a[2] != b[2] for a, b in pairwise(cases))
    assert {corners for *_, corners in cases} >= {"", "A", "B", "AB", "CD"} and {"AD", "BC"} & {c for *_, c in cases}
    for begin, end, corners in cases:
        inside = (res.t > begin) & (res.t < end)
        kind = 3.0 if set(corners) & set("AB") and set(corners) & set("CD") else float(len(corners))
        assert np.all(res.array("P.case")[inside] == kind)
    touching = sum((res.array(f"{corner.name}.normal") > 0).astype(int) for corner in guide.corners)
    assert np.array_equal(np.minimum(touching, 2), np.minimum(res.array("P.case"), 2))


@pytest.mark.parametrize("friction", [None, 0.1])
@pytest.mark.parametrize("restitution", [0.2, 0.8, 1.0])
def test_a_slider_that_rattles_comes_to_rest_between_its_impacts(restitution: float, friction: float | None) -> None:
    """Corners that throw each other end their bounces together: none sinks in, energy balances, none hangs."""
    m, _, rod, slider = slider_crank(25.0)
    m.revolute("B", rod, slider, at=(0.4, 0))
    more = {"restitution": restitution, "friction": friction}
    guide = m.translational("P", m.ground, slider, backlash=5e-4, length=0.06, width=0.04, **more)
    m.force("gas", slider, (0.0, lambda t: 30 * kp.sin(47 * t)), on=(0.02, 0.0))
    res = m.simulate(0.5)
    assert res.success and res.energy.error < 1e-6 and len(res.events) < 5000
    assert min(res.array(f"{corner.name}.gap").min() for corner in guide.corners) > -1e-9


def test_the_sweet_spot_of_a_pendulum() -> None:
    """An impulse at I/(m l) from the axle puts none on the bearing; elsewhere what the balance of momentum says."""
    for place in (2 / 3, 1.0, 0.2):
        m = kp.Mechanism("bat")
        bat = m.body("bat", mass=2.0, inertia=2.0 / 12, at=(0.5, 0))
        m.revolute("grip", m.ground, bat, at=(0, 0))
        m.impulse("hit", bat, 0.5, force=(0.0, 3.0), on=(place - 0.5, 0.0))
        res = m.simulate(1.0)
        omega = 3.0 * place / (2.0 / 3)
        assert res.array("bat.omega")[[0, -1]] == pytest.approx([0.0, omega], abs=1e-9)
        assert res.events[0].t == 0.5
        # the multiplier is the impulse on the bat: 2 v = 3 + lambda
        assert res.events[0].impulses.get("grip.y", 0.0) == pytest.approx(2.0 * omega * 0.5 - 3.0, abs=1e-12)
        assert res.array("energy.supplied")[-1] == pytest.approx(0.5 * 2 / 3 * omega**2)


def test_a_four_bar_is_hit() -> None:
    """The jump of velocities of (10.20), from masses and constraints by other code."""
    m = kp.Mechanism("four-bar")
    crank = m.body("crank", mass=1.0, inertia=0.1, at=(0, 0.5), angle=np.pi / 2)
    coupler = m.body("coupler", mass=2.0, inertia=0.3, at=(1.0, 1.25), angle=np.arctan2(0.5, 2.0))
    rocker = m.body("rocker", mass=1.5, inertia=0.2, at=(2.0, 0.75), angle=np.pi / 2)
    m.revolute("A", m.ground, crank, at=(0, 0))
    m.revolute("B", crank, coupler, at=(0, 1.0))
    m.revolute("C", coupler, rocker, at=(2.0, 1.5))
    m.revolute("D", m.ground, rocker, at=(2.0, 0))
    m.impulse("hit", coupler, 0.1, force=(1.0, -2.0), torque=0.4, at=(1.5, 1.0))
    res = m.simulate(0.2)
    w = np.array([res.array(f"{name}.omega")[-1] for name in ("crank", "coupler", "rocker")])
    hit = res.events[0]
    # virtual power with one freedom: crank at rate 1, the coupler translates its ends along x, so it turns not at all
    # (B and C both move along x; C moves 1.5 as fast per radian of the rocker)
    rates = {"crank": 1.0, "coupler": 0.0, "rocker": 1 / 1.5}
    inertia = (0.1 + 0.25) + 2.0 * 1.0 + (0.2 + 1.5 * 0.75**2) / 1.5**2
    omega = (1.0 * -1.0) / inertia  # the coupler moves by -1 along x per radian of the crank
    state = [hit[f"{name}.omega"] for name in rates]
    assert state == pytest.approx([omega * rate for rate in rates.values()], abs=1e-9)
    assert np.isfinite(w).all()
    total = np.array([hit.impulses["A.x"] + hit.impulses["D.x"], hit.impulses["A.y"] + hit.impulses["D.y"]])
    momentum = omega * np.array([-1.0 * 0.5 - 2.0 * 1.0 - 1.5 * 0.75 / 1.5, 0.0])
    assert total == pytest.approx(momentum - [1.0, -2.0], abs=1e-9)


def test_an_impulse_before_the_start_is_over() -> None:
    for time, expected in ((-1.0, 0.0), (0.0, 1.5), (0.3, 1.5), (1.5, 0.0)):
        m = kp.Mechanism("free")
        puck = m.body("puck", mass=2.0, inertia=0.5)
        m.impulse("hit", puck, time, force=(0.0, 3.0))
        res = m.simulate(1.0)
        assert res.array("puck.vy")[-1] == pytest.approx(expected)
        assert res.energy.error < 1e-12
