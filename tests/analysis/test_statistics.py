"""Statistics over periods, horizons, and the page about a machine: against closed forms and independent sums."""

from __future__ import annotations

import numpy as np
import pytest
from oscillators import TURN, linear, loose_slider_crank, ueda

import kempe as kp


def test_the_numbers_of_a_sine_are_its_own() -> None:
    """X'' + 4 x = 3 cos t from x = 1 at rest is x = cos t."""
    res = linear(4.0, 0.0, forcing=3.0).simulate(6 * TURN, steps=6 * 360, tolerance=1e-11)
    found = res.statistics(["x", "x.v"], TURN, skip=2 * TURN)
    assert found.periods == 4 and not found.coarse
    for name in ("x", "x.v"):
        assert found[name].largest == pytest.approx(np.ones((1, 4)), abs=1e-4)
        assert found[name].least == pytest.approx(-np.ones((1, 4)), abs=1e-4)
        assert found[name].mean == pytest.approx(np.zeros((1, 4)), abs=1e-9)
        assert found[name].rms == pytest.approx(np.full((1, 4), np.sqrt(0.5)), rel=1e-4)


def test_means_do_not_depend_on_where_output_times_lie() -> None:
    rng = np.random.default_rng(3)
    even = linear(4.0, 0.1).simulate(6 * TURN, steps=6 * 400)
    odd = linear(4.0, 0.1).simulate(np.sort(np.concatenate([[0.0, 6 * TURN], rng.uniform(0, 6 * TURN, 4000)])))
    a, b = (res.statistics("x", TURN, skip=TURN)["x"] for res in (even, odd))
    for what in ("largest", "mean", "rms"):
        assert getattr(a, what) == pytest.approx(getattr(b, what), abs=2e-4)


def test_several_starts_are_counted_together() -> None:
    m = linear(4.0, 0.2)
    starts = [m.simulate(8 * TURN, steps=8 * 100, velocities={"x.v": v}) for v in (0.0, 1.0, 2.0)]
    found = kp.statistics(starts, "x", TURN, skip=TURN)
    alone = [res.statistics("x", TURN, skip=TURN)["x"] for res in starts]
    assert np.array_equal(found["x"].magnitude, np.vstack([one.magnitude for one in alone]))
    peaks = [one.magnitude.max() for one in alone]
    over = found["x"].over_runs()
    assert (over.least, over.median, over.largest) == tuple(sorted(peaks))


def test_runs_of_many_designs_are_counted_like_single_ones() -> None:
    m = kp.Mechanism("shaker")
    stiffness = m.parameter("stiffness", 4.0)
    mass = m.body("mass", 1.0, 1.0, at=(1.0, 0.0))
    m.translational("rail", m.ground, mass)
    m.user_force("spring", lambda b, t: (kp.cos(t) - stiffness * b.x - 0.2 * b.vx, 0, 0), mass)
    runs = m.run_many({"stiffness": [3.0, 5.0]}, ["mass.x"], 5 * TURN, steps=500)
    found = kp.statistics(runs, "mass.x", TURN)
    single = m.simulate(5 * TURN, steps=500, parameters={"stiffness": 5.0}).statistics("mass.x", TURN)
    assert np.array_equal(found["mass.x"].rms[1], single["mass.x"].rms[0])


def test_peaks_between_output_points_are_doubted_and_then_found() -> None:
    """The limit cycle of the case file: 29461 m/s^2 and 5421.5 N, which a few hundred points a turn do not see."""
    m, period, velocities = loose_slider_crank(0.18e-3, 1e10)
    asked = {"velocities": velocities, "tolerance": 1e-10}
    first = m.simulate(24 * period, steps=24 * 200, **asked)
    seen = first.statistics(["slider.ax", "B.force"], period, skip=20 * period)
    assert seen.coarse and "may lie between output points" in str(seen)
    second = m.simulate(first.contact_times(200), **asked)
    assert [e.t for e in second.events] == [e.t for e in first.events]  # the same motion
    found = second.statistics(["slider.ax", "B.force"], period, skip=20 * period)
    assert not found.coarse
    assert found["slider.ax"].over_periods().largest == pytest.approx(29461.0, rel=3e-4)
    assert found["B.force"].over_periods().largest == pytest.approx(5421.5, rel=3e-4)
    followed = second.contacts("B").array("force")  # along the steps, not at points
    late = second.contacts("B").array("begin") > 20 * period
    assert found["B.force"].over_periods().largest == pytest.approx(followed[late].max(), rel=1e-4)


def test_the_page_about_a_machine_adds_up() -> None:
    m, period, velocities = loose_slider_crank(0.5e-3, 9.4e9)
    res = m.simulate(12 * period, steps=12 * 400, tolerance=1e-10, velocities=velocities)
    page = res.response(period, skip=4 * period)
    contacts = res.contacts("B")
    begin = contacts.array("begin")
    assert page.periods == 8
    assert page.contacts["B"].begins.sum() == ((begin >= 4 * period) & (begin < 12 * period)).sum()
    assert page.contacts["B"].force.max() >= 0.999 * np.nanmax(contacts.array("force")[begin > 4 * period])
    # without friction, damping in the contact is all that takes energy
    assert contacts.array("lost").sum() == pytest.approx(res.array("energy.dissipated")[-1], rel=1e-5)
    assert page.contacts["B"].lost.sum() == pytest.approx(page.dissipated.sum(), rel=0.05)
    stored = res.energy.total[400 * np.arange(4, 13)]
    assert page.supplied - page.dissipated == pytest.approx(np.diff(stored), abs=1e-6)
    assert "not periodic" in str(page) or "undecided" in str(page)


def test_the_power_of_a_driver_is_what_it_supplies() -> None:
    m, period, velocities = loose_slider_crank(0.18e-3, 1e10)
    res = m.simulate(period / 50, steps=4000, tolerance=1e-11, velocities=velocities)
    power, t = res.array("motor.power"), res.t
    assert power == pytest.approx(res.array("motor.effort") * TURN / period, rel=1e-12)
    work = np.concatenate([[0.0], np.cumsum(np.diff(t) * (power[1:] + power[:-1]) / 2)])
    assert work == pytest.approx(res.array("energy.supplied"), abs=1e-7 * np.abs(work).max())
    assert res.kind("motor.power") == "power"


def test_a_regular_motion_has_no_horizon() -> None:
    found = linear(4.0, 0.1).horizon(20 * TURN, steps=400)
    assert found.t == np.inf and not found.chaotic and "agree to the end" in str(found)
    assert found.result.provenance["tolerance"] == 1e-12


def test_chaos_is_said_and_its_horizon_moves_by_the_exponent() -> None:
    """Smaller tolerances gain about ln(100) / 0.1034 each time: single motions part faster and slower than the mean."""
    found = ueda().horizon(60 * TURN, steps=60 * 60, tolerances=(1e-6, 1e-8, 1e-10, 1e-12))
    assert found.chaotic and str(found).startswith("chaotic: single values mean nothing beyond t = ")
    gained = (found.horizons[-1] - found.horizons[0]) / 2
    assert 0.5 < gained / (np.log(100.0) / 0.1034) < 2.0
    t = found.t_points
    assert (found.distances[-1][t <= found.t] <= found.agreement).all()


def test_runs_that_part_without_chaos_are_not_called_chaotic() -> None:
    """A free oscillation in a hard spring: its phase runs off in proportion to time."""
    m = kp.Equations("hard spring", {"x": 1.0}, mass=lambda q, p: [[1.0]], force=lambda q, v, t, p: [-(q.x**3)])
    found = m.horizon(4000.0, steps=8000, tolerances=(1e-4, 1e-5, 1e-6), agreement=1e-2)
    assert found.t < np.inf and not found.chaotic


def test_a_page_needs_no_contacts() -> None:
    m = kp.Mechanism("crank")
    crank = m.body("crank", 1.0, 1.0, at=(1.0, 0.0))
    pin = m.revolute("O", m.ground, crank, at=(0, 0))
    m.driver("motor", pin.angle, kp.constant_speed(3.0))
    page = m.simulate(20 * TURN / 3.0, steps=20 * 40).response(TURN / 3.0)
    assert page.contacts == {} and page.periodicity.periods == 1
    assert "motor.power" in str(page)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda res: res.statistics([], TURN), "name at least one quantity"),
        (lambda res: res.statistics("y", TURN), "no quantity 'y'"),
        (lambda res: res.statistics("x", TURN, skip=5.5 * TURN), "no whole period"),
        (lambda res: kp.statistics([], "x", TURN), "give a result"),
        (lambda res: res.contact_times(), "nothing in this result presses"),
        (lambda res: res.statistics("x", TURN)["x"].over_periods("most"), "no 'most' of a period"),
        (lambda res: linear(1.0, 0.1).horizon(1.0, tolerances=(1e-8,)), "two or more"),
        (lambda res: linear(1.0, 0.1).horizon(1.0, tolerances=(1e-10, 1e-8)), "smaller than the one before"),
        (lambda res: linear(1.0, 0.1).horizon(1.0, agreement=0), "agreement must be above"),
    ],
)
def test_nonsense_is_refused(call: object, words: str) -> None:
    res = linear(4.0, 0.1).simulate(6 * TURN, steps=60)
    with pytest.raises(kp.ModelError, match=words):
        call(res)  # type: ignore[operator]
