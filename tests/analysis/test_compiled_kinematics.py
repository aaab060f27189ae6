"""Driven motions with instants written out as one function, without, and switched on midway: the same digits."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from linkages import coupled_parallelograms, four_bar, parallelogram

import kempe as kp
from kempe.analysis.kinematics import kinematics
from kempe.kernels.beside import BESIDE
from kempe.system import compiled, driven

EXAMPLES = Path(__file__).parents[2] / "examples"
#: Driven mechanisms of all kinds: higher pairs, gears, redundant constraints, natural coordinates, bodies in space.
FILES = (
    *("antiparallelogram", "bennett_linkage", "cardan_gear", "chebyshev_lambda", "disk_cam", "elliptic_trammel"),
    *("four_bar", "geneva_wheel", "hart_inversor", "jansen_leg", "pantograph", "peaucellier", "planetary_gear"),
    *("quick_return", "rack_steering", "scotch_yoke", "slider_crank", "spatial_slider_crank", "toggle_press", "watt"),
)


def outcome(follow: Callable[..., kp.Result], choice: str) -> tuple[kp.Result, str]:
    """A motion, or as much of it as there is and why."""
    try:
        return follow(compile=choice), ""
    except (kp.SingularPositionError, kp.ConvergenceError) as error:
        return error.result, str(error)


def both_ways(follow: Callable[..., kp.Result]) -> kp.Result:
    """A motion with loops and with instants written out, whose digits are the same."""
    (apart, why), (whole, why_not) = outcome(follow, "never"), outcome(follow, "always")
    assert why == why_not
    assert_same(apart, whole)
    assert apart.provenance["compiled"] == "nothing"
    return whole


def assert_same(one: kp.Result, other: kp.Result) -> None:
    for name in ("t", "q", "v", "a"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert [(e.t, e.message) for e in one.events] == [(e.t, e.message) for e in other.events]
    assert (one.message, one.stats) == (other.message, other.stats)


@pytest.mark.parametrize("name", FILES)
def test_examples(name: str) -> None:
    m = kp.load(EXAMPLES / f"{name}.kempe.yaml")
    end = 2.0 if name == "bennett_linkage" else 1.0
    for steps in (7, 300):
        result = both_ways(lambda steps=steps, **choice: m.kinematics(end, steps=steps, on_singular="stop", **choice))
        assert result.provenance["compiled"] == "instants"


@pytest.mark.parametrize("step", [0.003, 0.05, 0.5])
@pytest.mark.parametrize("lengths", [(1, 4, 3, 4), (1, 2, 1 + 1e-8, 2), (1, 2, 1.0, 2), (2, 1, 2, 1), (1, 3, 3, 1)])
def test_singular_positions_and_near_misses(lengths: tuple[float, ...], step: float) -> None:
    m = four_bar(*lengths)
    for on_singular in ("raise", "stop", "cross"):
        both_ways(lambda how=on_singular, **choice: m.kinematics(np.arange(0, 7, step), on_singular=how, **choice))


def test_several_loops_flat_at_once() -> None:
    both_ways(lambda **choice: coupled_parallelograms(2).kinematics(3.0, on_singular="cross", branch=1, **choice))


def test_redundant_constraints_that_hold_and_that_contradict() -> None:
    for side in (0.0, 0.3):
        m = parallelogram(cranks=3, side=side)
        m.driver("motor", m["crank 1"].angle, kp.constant_speed(1.0))
        both_ways(lambda m=m, **choice: m.kinematics(2.0, on_singular="stop", **choice))


@pytest.mark.parametrize("seed", range(12))
def test_random_linkages_and_laws(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, c, d = rng.uniform(0.5, 3.0, 4)
    w, e = rng.uniform(0.5, 4.0, 2)
    try:
        m = four_bar(a, b, c, d, law=lambda t: 0.7 + w * t + 0.3 * kp.sin(e * t))
        times = np.cumsum(rng.choice([0.001, 0.01, 0.02], 400))
        both_ways(lambda **choice: m.kinematics(times, on_singular="cross", **choice))
    except kp.KempeError as error:  # links that cannot be assembled
        assert "assembl" in str(error)


def test_switched_on_midway_beside_the_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever instants are computed at once, in whichever of several threads."""
    grid = np.arange(6000) / 1000
    apart = four_bar(1, 4, 3, 4).kinematics(grid, compile="never")
    monkeypatch.setattr(driven, "READING", np.inf)
    monkeypatch.setattr(driven, "COMPILING", 0.0)
    monkeypatch.setitem(kinematics.__wrapped__.__globals__, "CHUNK", 50)
    m = four_bar(1, 4, 3, 4)
    with ThreadPoolExecutor(3) as pool:
        for midway in pool.map(lambda _: m.kinematics(grid, compile="auto"), range(6)):
            assert_same(apart, midway)
    BESIDE.finish()
    later = m.kinematics(grid, compile="auto")
    assert later.provenance["compiled"] == "instants"
    assert_same(apart, later)


def test_a_short_motion_compiles_nothing_and_other_numbers_use_what_is_there() -> None:
    m = kp.Mechanism("swing")
    length = m.parameter("length", 1.0)
    body = m.body("arm", at=(0.5, 0))
    m.revolute("O", m.ground, body, on_i=(0, 0), on_j=(-length / 2, 0))
    m.driver("motor", body.angle, lambda t: kp.sin(3 * t))
    assert m.kinematics(1.0, compile="auto").provenance["compiled"] == "nothing"
    for value in (1.0, 2.5):
        both_ways(lambda value=value, **choice: m.kinematics(1.0, parameters={"length": value}, **choice))
    assert m.kinematics(1.0, compile="auto").provenance["compiled"] == "instants"
    assert len(compiled(m).driven._functions) == 1


def test_models_travel_without_their_machine_code() -> None:
    m = four_bar(1, 4, 3, 4)
    here = m.kinematics(1.0, compile="always")
    there = pickle.loads(pickle.dumps(m)).kinematics(1.0, compile="always")
    assert_same(here, there)


def test_poor_pivots_are_left_to_the_loops() -> None:
    """Coordinates of a crank of points vanish at quarter turns, one or the other of which was chosen for a pivot."""
    m = kp.Mechanism("four-bar of points")
    O, D = m.point("O", at=(0, 0), fixed="xy"), m.point("D", at=(4, 0), fixed="xy")
    A, B = m.point("A", at=(1, 0)), m.point("B", at=(3.8, 3.0))
    crank = m.bar("crank", O, A, length=1)
    m.bar("coupler", A, B, length=4)
    m.bar("rocker", D, B, length=3)
    m.driver("motor", kp.angle(m.ground, crank), kp.constant_speed(2 * np.pi))
    result = both_ways(lambda **choice: m.kinematics(np.arange(721) / 360, **choice))
    assert np.abs(result.array("A.x") - np.cos(2 * np.pi * result.t)).max() < 1e-13
    assert np.abs(result.array("A.vy") - 2 * np.pi * np.cos(2 * np.pi * result.t)).max() < 1e-12


def test_bad_choices_are_explained() -> None:
    with pytest.raises(kp.ModelError, match="compile must be 'auto', 'never' or 'always'"):
        four_bar(1, 4, 3, 4).kinematics(1.0, compile="allways")
