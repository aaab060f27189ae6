"""Periodicity: motions of known period, and motions that only look so."""

from __future__ import annotations

import numpy as np
import pytest
from oscillators import TURN, duffing, linear, loose_slider_crank

import kempe as kp


@pytest.mark.parametrize(("forcing", "periods"), [(0.20, 1), (0.28, 2), (0.29, 4), (0.37, 5), (0.50, 0), (0.65, 2)])
def test_the_cascade_of_duffings_oscillator(forcing: float, periods: int) -> None:
    """The forcings for which textbooks show cycles of one, two, four and five periods, chaos, and two again."""
    period = TURN / 1.2
    res = duffing(forcing).simulate(period * np.arange(301), tolerance=1e-10)
    found = res.periodicity(period, skip=220 * period)
    assert found.periods == periods
    assert found.verdict == ("periodic" if periods else "not periodic")


@pytest.mark.parametrize("divisor", [1, 2, 3, 7])
def test_a_free_oscillation_that_fits_n_times(divisor: int) -> None:
    """Undamped with the frequency 1/n beside a forcing of frequency 1: the sum repeats itself every n periods."""
    res = linear(2.0 if divisor == 1 else 1.0 / divisor**2, 0.0 if divisor > 1 else 1.0).simulate(
        40 * TURN, steps=40 * 4, tolerance=1e-11
    )
    assert res.periodicity(TURN).periods == divisor


def test_two_frequencies_that_do_not_fit_are_not_periodic() -> None:
    golden = (1 + np.sqrt(5)) / 2
    res = linear(golden**2, 0.0).simulate(TURN * np.arange(201), tolerance=1e-11)
    found = res.periodicity(TURN, most=60)
    assert found.verdict == "not periodic" and found.width > 1e-3


@pytest.mark.parametrize("drift", [1e-4, 1e-6])
def test_a_slow_drift_is_not_taken_for_a_period(drift: float) -> None:
    """Each point is next to the one before, and yet the motion never comes back."""
    m = kp.Mechanism("sled")
    sled = m.body("sled", 1.0, 1.0, at=(1.0, 0.0))
    m.translational("rail", m.ground, sled)
    m.force("drive", sled, (lambda t: kp.cos(t), 0.0))
    res = m.simulate(TURN * np.arange(41), velocities={"sled.vx": drift / TURN}, tolerance=1e-12)
    found = res.periodicity(TURN)
    assert not found.periodic
    assert found.widths[0] == pytest.approx(20 * drift, rel=1e-3)


def test_a_motion_that_still_settles_says_so_and_then_is_periodic() -> None:
    res = linear(4.0, 0.15).simulate(100 * TURN, steps=100 * 4, tolerance=1e-10)
    early = res.periodicity(TURN, skip=10 * TURN)
    assert early.verdict in ("undecided", "not periodic")
    assert early.settling == pytest.approx(np.exp(-0.075 * TURN), rel=0.1)
    assert res.periodicity(TURN, skip=60 * TURN).periods == 1


def test_what_a_loose_pin_does_is_told_only_where_the_tolerance_explains_it() -> None:
    """The limit cycle of the case file takes two revolutions; a coarse run cannot tell it from what looks like one."""
    m, period, velocities = loose_slider_crank(0.18e-3, 1e10)
    fine = m.simulate(period * np.arange(61), tolerance=1e-11, velocities=velocities)
    assert fine.periodicity(period).periods == 2
    coarse = m.simulate(period * np.arange(61), tolerance=1e-6, velocities=velocities)
    assert coarse.periodicity(period).verdict == "undecided"
    m, period, velocities = loose_slider_crank(0.5e-3, 9.4e9)
    wild = m.simulate(period * np.arange(61), tolerance=1e-9, velocities=velocities)
    assert wild.periodicity(period).verdict == "not periodic"


def test_turning_on_and_on_is_periodic() -> None:
    m = kp.Mechanism("crank")
    crank = m.body("crank", 1.0, 1.0, at=(1.0, 0.0))
    pin = m.revolute("O", m.ground, crank, at=(0, 0))
    m.driver("motor", pin.angle, kp.constant_speed(-3.0))
    res = m.simulate(20 * TURN / 3.0, steps=200)
    assert res.periodicity(TURN / 3.0).periods == 1
    half = res.periodicity(TURN / 6.0)
    assert half.periods == 2  # after half a turn it is upside down


def test_points_of_a_map_are_those_of_the_motion() -> None:
    """Undamped from x = 1: x = cos 2t + (cos t - cos 2t) / 3."""
    res = linear(4.0, 0.0).simulate(10 * TURN, steps=10 * 8, tolerance=1e-12)
    points = res.poincare("x", TURN, skip=2 * TURN, phase=0.25)
    t = 0.25 * TURN + TURN * np.arange(2, 10)
    exact = np.cos(2 * t) + (np.cos(t) - np.cos(2 * t)) / 3
    assert list(points) == ["x", "x.v"] and points.t == pytest.approx(t, rel=1e-13)
    assert points["x"] == pytest.approx(exact, abs=1e-9)


def test_instants_that_were_not_written_down_are_not_made_up() -> None:
    res = linear(4.0, 0.0).simulate(10 * TURN, steps=77)
    with pytest.raises(kp.ModelError, match=r"no point at t = 6\.28.*whole periods must be output times"):
        res.poincare("x", TURN)
    with pytest.raises(kp.ModelError, match="its rate not among the histories"):
        res.poincare("energy.kinetic", TURN)
    with pytest.raises(kp.ModelError, match="within the motion"):
        res.periodicity(100 * TURN)
    fixed = linear(4.0, 0.1).simulate(10 * TURN, steps=40, step=TURN / 4000, method="alpha")
    with pytest.raises(kp.ModelError, match="has fixed steps: say within="):
        fixed.periodicity(TURN)
    assert fixed.periodicity(TURN, within=10.0).periods == 1
