"""Lock-ups and bifurcations: found whatever the grid, located exactly, all branches named and followed."""

from __future__ import annotations

import numpy as np
import pytest
from linkages import coupled_parallelograms, four_bar, parallelogram

import kempe as kp

FLAT = np.pi - 0.7  # when a parallelogram drawn at 0.7 rad and turned with speed 1 is flat
GRIDS = [0.01, 0.37, 1.9]


@pytest.mark.parametrize("step", GRIDS)
def test_parallelogram_goes_on_as_parallelogram_or_as_antiparallelogram(step):
    m = four_bar(1, 2, 1, 2)
    grid = np.arange(0, 12.5, step)
    smooth = m.kinematics(grid, on_singular="cross")
    flats = [FLAT + k * np.pi for k in range(4) if FLAT + k * np.pi < grid[-1]]
    assert np.abs(np.array([e.t for e in smooth.events]) - flats).max() < 1e-11
    assert all(e.kind == "bifurcation" and e.ranks == (8, 8, 8) for e in smooth.events)
    assert np.abs(smooth.array("rocker.angle") - smooth.array("crank.angle")).max() < 1e-11
    crossed = m.kinematics(grid, on_singular="cross", branch=[1, 0])
    after = (crossed.t > flats[0] + 0.01) & (crossed.t < flats[1] - 0.01)
    # antiparallelogram: tan(rocker/2) = -(2 + 1)/(2 - 1) tan(crank/2)
    half = [np.tan(crossed.array(f"{name}.angle")[after] / 2) for name in ("rocker", "crank")]
    assert np.abs(half[0] / half[1] + 3).max() < 1e-9
    omega = crossed.array("rocker.omega")
    assert (omega[after] < 0).all() and np.abs(omega[crossed.t < flats[0] - 0.01] - 1).max() < 1e-10


@pytest.mark.parametrize("loops", [2, 3])
@pytest.mark.parametrize("step", [0.01, 0.5])
def test_loops_that_become_flat_together_branch_independently(loops, step):
    m = coupled_parallelograms(loops)
    result = m.kinematics(np.arange(0, 4, step), on_singular="stop")
    event = result.events[0]
    assert abs(event.t - FLAT) < 1e-11
    n = 3 + 6 * loops
    assert event.ranks[:2] == (n - loops, n - loops)
    assert len(event.branches) == 2**loops  # each loop either way
    # each rocker either turns with the crank or against it with (d - 1)/(d + 1) times its speed
    for branch in event.branches:
        for k in range(loops):
            d = 2.0 + k
            assert min(abs(branch.velocity[f"rocker {k}.angle"] - w) for w in (1.0, -(d - 1) / (d + 1))) < 1e-8


def test_a_third_crank_off_the_line_removes_the_bifurcation():
    m = parallelogram(3, side=0.5)
    m.driver("motor", m["crank 1"].angle, kp.constant_speed(1.0))
    for step in (0.02, 0.5, 3.0):
        result = m.kinematics(np.arange(0, 12.5, step))
        assert result.success and not result.events
        assert np.abs(result.array("crank 2.angle") - result.array("crank 1.angle")).max() < 1e-10
        assert np.abs(result.array("coupler.angle")).max() < 1e-10


@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-8, 1e-10])
@pytest.mark.parametrize("step", [0.01, 0.5])
def test_a_nearly_singular_linkage_keeps_its_branch(gap, step):
    """A rocker longer by a hair has no singular position: crank and rocker pass the flat position in opposite turns."""
    result = four_bar(1, 2, 1 + gap, 2).kinematics(np.arange(0, 5.5, step))
    assert result.success and not result.events
    assert result.array("rocker.omega")[-1] < 0


@pytest.mark.parametrize("gap", [1e-2, 1e-5, 1e-8, 1e-10])
@pytest.mark.parametrize("step", [0.01, 0.5])
def test_a_rocker_shorter_by_a_hair_locks_before_the_flat_position(gap, step):
    result = four_bar(1, 2, 1 - gap, 2).kinematics(np.arange(0, 5.5, step), on_singular="stop")
    exact = np.arccos((1 + 4 - (3 - gap) ** 2) / 4) - 0.7
    assert result.status == "lock-up"
    # the angle itself is ill-conditioned: an error eps in the lengths moves it by eps / sin(angle)
    assert abs(result.events[0].t - exact) < 1e-15 / np.sin(exact + 0.7) + 1e-12


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("speed", [1e-3, 1.0, 1e4])
def test_size_and_speed_do_not_matter(scale, speed):
    lengths = [scale * x for x in (1, 2, 1, 2)]
    m = four_bar(*lengths, law=kp.constant_speed(speed))
    result = m.kinematics(np.linspace(0, 6.0 / speed, 50), on_singular="cross")
    times = np.array([e.t for e in result.events]) * speed
    assert np.abs(times - [FLAT, FLAT + np.pi]).max() < 1e-10


def test_a_driver_that_turns_back_exactly_at_the_limit_leaves_two_ways():
    a, b, c, d = 1, 1.2, 1.1, 2.6
    limit = np.arccos((a * a + d * d - (b + c) ** 2) / (2 * a * d))
    m = four_bar(a, b, c, d, theta=0.2, law=kp.harmonic(limit - 0.2, 1.0))
    for branch in (0, 1):
        result = m.kinematics(np.linspace(0, 3, 31), on_singular="cross", branch=branch)
        assert len(result.events) == 1 and abs(result.events[0].t - np.pi / 2) < 1e-7
        # elbow up all the time, or elbow down on the way back
        bend = np.sin(result.array("rocker.angle") - result.array("coupler.angle"))
        flipped = np.sign(bend[-1]) != np.sign(bend[0])
        assert flipped == (branch == 0)


def test_a_rhombus_can_fold_while_its_driver_stands_still():
    m = four_bar(1, 1, 1, 1)
    result = m.kinematics(np.arange(0, 6, 0.1), on_singular="stop")
    assert abs(result.events[0].t - FLAT) < 1e-11
    crossed = m.kinematics(np.arange(0, 6, 0.1), on_singular="cross", branch=[1, 0])
    folded = crossed.events[1]
    assert any(b.vertical for b in folded.branches)
    with pytest.raises(kp.ModelError, match="cannot be followed in time"):
        m.kinematics(np.arange(0, 6, 0.1), on_singular="cross", branch=[1, 1])


def test_a_motion_may_begin_at_a_bifurcation():
    m = four_bar(1, 2, 1, 2, theta=0.0)
    with pytest.raises(kp.SingularPositionError, match="bifurcation at t = 0") as caught:
        m.kinematics([0, 0.1, 0.2])
    assert len(caught.value.result) == 0
    ends = sorted(m.kinematics([0, 0.1, 0.2], on_singular="cross", branch=k).array("rocker.omega")[0] for k in (0, 1))
    assert np.abs(np.array(ends) - [-3, 1]).max() < 1e-9


def test_a_start_just_before_a_bifurcation_is_not_at_it():
    m = four_bar(1, 2, 1, 2)
    for before in (1e-4, 1e-6, 1e-7):
        result = m.kinematics([FLAT - before, FLAT + 0.5], on_singular="cross", start=m.assemble(time=FLAT - before))
        assert [abs(e.t - FLAT) < 1e-11 for e in result.events] == [True]
        assert abs(result.array("rocker.omega")[-1] - 1) < 1e-9 or result.array("rocker.omega")[-1] < 0


def test_digits_are_kept_up_to_the_bifurcation():
    grid = FLAT - np.array([0.1, 1e-2, 1e-3, 1e-5, 1e-7])
    for mode in ("stop", "cross"):
        result = four_bar(1, 2, 1, 2).kinematics([0.0, *grid, FLAT + 1e-3], on_singular=mode)
        for k in range(1, 6):
            assert abs(result.array("rocker.omega")[k] - 1) < 1e-11 and abs(result.array("rocker.alpha")[k]) < 1e-9


def test_a_grid_of_two_points_misses_nothing():
    result = four_bar(1, 2, 1, 2).kinematics([0.0, 100.0], on_singular="cross")
    assert np.abs(np.array([e.t for e in result.events]) - (FLAT + np.pi * np.arange(32))).max() < 1e-11


def test_what_is_raised_stopped_and_chosen():
    m = four_bar(1, 2, 1, 2)
    grid = np.arange(0, 4, 0.1)
    with pytest.raises(kp.SingularPositionError) as caught:
        m.kinematics(grid)
    assert caught.value.event.kind == "bifurcation"
    assert caught.value.result.t[-1] == pytest.approx(2.4)
    stopped = m.kinematics(grid, on_singular="stop")
    assert not stopped.success and stopped.status == "bifurcation" and len(stopped) == 26
    assert stopped.t[-1] == stopped.events[0].t and np.allclose(stopped.q[-1], stopped.events[0].q, atol=1e-10)
    assert stopped.array("rocker.omega")[-1] == pytest.approx(1.0, abs=1e-6)
    chosen = m.kinematics(grid, on_singular="cross", branch=lambda event: len(event.branches) - 1)
    assert chosen.array("rocker.omega")[-1] < 0
    with pytest.raises(kp.ModelError, match="branch 5 does not exist"):
        m.kinematics(grid, on_singular="cross", branch=5)
    locked = four_bar(1, 2, 0.9, 2)
    with pytest.raises(kp.SingularPositionError, match=r"driver 'motor'.*'O', 'A', 'B' and 'C'"):
        locked.kinematics(grid, on_singular="cross")


def test_many_bifurcations_in_one_run():
    result = four_bar(1, 2, 1, 2).kinematics(np.linspace(0, 400 * np.pi, 500), on_singular="cross")
    assert result.success and len(result.events) == 400


def test_a_driver_that_jumps_or_ends_is_named():
    for law, when in ((lambda t: 0.7 + kp.floor(t), 1.0), (lambda t: 0.7 + kp.sqrt(2 - t), 2.0)):
        m = four_bar(1, 2, 2.2, 2.5, theta=0.7, law=law)
        m = four_bar(1, 2, 2.2, 2.5, theta=0.7 + float(kp.sqrt(2.0)) * (when == 2.0), law=law)
        with pytest.raises(kp.ConvergenceError, match="motor") as caught:
            m.kinematics(np.arange(0, 4, 0.1))
        assert caught.value.result.t[-1] == pytest.approx(when, abs=0.11)
        assert np.isfinite(caught.value.result.a).all()
