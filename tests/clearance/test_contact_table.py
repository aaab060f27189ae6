"""Isolated impacts: what the table of contacts says against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kempe as kp

MASS, STIFFNESS, SPEED = 0.7, 3e8, 1.3


def ball(contact: object, speed: float = SPEED) -> kp.Mechanism:
    m = kp.Mechanism("ball")
    body = m.body("ball", MASS, 1e-3, at=(0.01, 0.0))
    m.translational("rail", m.ground, body)
    m.bump_stop("wall", body.x, 0.0, contact=contact)
    return m


@pytest.mark.parametrize("law", [kp.LankaraniNikravesh, kp.HuntCrossley, kp.Flores, kp.Gonthier])
@pytest.mark.parametrize("told", [0.3, 0.6, 0.9])
def test_an_impact_is_told_as_it_was(law: type, told: float) -> None:
    contact = law(told, STIFFNESS)
    res = ball(contact).simulate(0.02, velocities={"ball.vx": -SPEED}, tolerance=1e-12, steps=3)
    (hit,) = res.contacts("wall")
    e = contact.true_restitution
    assert hit.approach == pytest.approx(SPEED, rel=1e-12)
    assert hit.restitution == pytest.approx(e, abs=1e-9)
    assert hit.lost == pytest.approx(MASS * SPEED**2 * (1 - e**2) / 2, rel=1e-7)
    assert hit.begin == pytest.approx(0.01 / SPEED, rel=1e-12)
    assert hit.rubbed == 0.0 and math.isnan(hit.angle)


def test_the_largest_force_is_hertz_own() -> None:
    """All kinetic energy in the spring: K d^2.5 / 2.5 = m v^2 / 2; the contact lasts 2.9432751 d / v."""
    res = ball(kp.Hertz(STIFFNESS)).simulate(0.02, velocities={"ball.vx": -SPEED}, tolerance=1e-11, steps=2)
    (hit,) = res.contacts()
    depth = (1.25 * MASS * SPEED**2 / STIFFNESS) ** 0.4
    assert hit.force == pytest.approx(STIFFNESS * depth**1.5, rel=1e-8)
    lasts = 2 * math.sqrt(math.pi) * math.gamma(1.4) / math.gamma(0.9) * depth / SPEED
    assert hit.end - hit.begin == pytest.approx(lasts, rel=1e-8)
    assert hit.restitution == pytest.approx(1.0, abs=1e-10) and hit.lost == 0.0


def test_energy_lost_is_the_area_of_the_loop() -> None:
    times = np.linspace(0.0, 0.02, 200_001)
    res = ball(kp.LankaraniNikravesh(0.8, STIFFNESS)).simulate(times, velocities={"ball.vx": -SPEED}, tolerance=1e-11)
    (hit,) = res.contacts()
    depth, force = res.array("wall.penetration"), res.array("wall.force")
    assert hit.lost == pytest.approx(np.trapezoid(force, depth), rel=1e-5)
    assert hit.force == pytest.approx(force.max(), rel=1e-6)
    assert hit.lost == pytest.approx(res.energy.dissipated[-1], rel=1e-7)


def test_a_contact_that_has_not_ended_says_so() -> None:
    res = ball(kp.Hertz(STIFFNESS)).simulate(0.01 / SPEED + 2e-5, velocities={"ball.vx": -SPEED})
    (hit,) = res.contacts()
    assert math.isnan(hit.end) and math.isnan(hit.departure) and hit.force > 0.0


def test_contacts_are_kept_in_files(tmp_path) -> None:
    res = ball(kp.Gonthier(0.5, STIFFNESS)).simulate(0.02, velocities={"ball.vx": -SPEED})
    again = kp.Result.load(res.save(tmp_path / "hit.nc"))
    assert str(again.contacts()) == str(res.contacts())
    assert "departure" in str(res.contacts())


def test_elements_without_a_law_have_no_contacts() -> None:
    m = kp.Mechanism()
    body = m.body("ball", 1.0, 1.0, at=(0.1, 0.0))
    m.stop("wall", body.x, 0.0)
    res = m.simulate(0.1)
    with pytest.raises(kp.ModelError, match="nothing in 'mechanism' presses by a contact law"):
        res.contacts()
    with pytest.raises(kp.ModelError, match="'wall' has no contacts with a contact law"):
        res.contacts("wall")
    with pytest.raises(kp.ModelError, match="no column 'strength'"):
        ball(kp.Hertz(1.0)).simulate(0.1).contacts().array("strength")


def test_many_designs_tell_the_same_contacts() -> None:
    """Contacts that have ended, and one that has not."""
    m = kp.Mechanism("ball")
    stiffness = m.parameter("stiffness", STIFFNESS)
    body = m.body("ball", MASS, 1e-3, at=(0.01, 0.0))
    m.translational("rail", m.ground, body)
    m.bump_stop("wall", body.x, 0.0, contact=kp.Gonthier(0.5, stiffness))
    for end in (0.02, 0.01 / SPEED + 2e-5):
        speed = {"ball.vx": -SPEED}
        runs = m.run_many({"stiffness": [STIFFNESS, 2 * STIFFNESS]}, "all", end, velocities=speed)
        for design, value in enumerate((STIFFNESS, 2 * STIFFNESS)):
            alone = m.simulate(end, velocities=speed, parameters={"stiffness": value})
            assert str(runs.result(design).contacts()) == str(alone.contacts())
