"""When something stuck, slid or touched: intervals of modes from a run, from files, from one of many runs."""

from __future__ import annotations

import copy
import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from rubbing import GRAVITY, ball, belt, stick_and_slip

import kempe as kp


@pytest.fixture(scope="module")
def dragged():
    return belt().simulate(4.0)


@pytest.fixture(scope="module")
def bounced():
    return ball(0.5).simulate(3.0)


def test_a_block_sticks_and_slips_as_the_closed_forms_say(dragged):
    stuck, slid = stick_and_slip()
    found = dragged.intervals("belt")
    assert len(found) == 6
    np.testing.assert_allclose([end - begin for begin, end in found[1:]], stuck, atol=1e-7)
    np.testing.assert_allclose([b[0] - a[1] for a, b in pairwise(found)], slid, atol=1e-7)


def test_the_modes_of_an_element_fill_the_whole_run(dragged, bounced):
    for result, name in ((dragged, "belt"), (bounced, "floor")):
        modes = result.model.elements[name].modes
        spans = sorted(span for mode in modes for span in result.intervals(name, mode))
        assert spans[0][0] == result.t[0] and spans[-1][1] == result.t[-1]
        assert all(a[1] == b[0] for a, b in pairwise(spans))
        assert result.intervals(name, modes) == [(result.t[0], result.t[-1])]


def test_a_mode_that_lasts_ends_with_the_run(bounced):
    rest = 3 * math.sqrt(2 / GRAVITY)  # the limit of all bounces for e = 1/2
    ((begin, end),) = bounced.intervals(bounced.model["floor"], "rest")
    assert begin == pytest.approx(rest, abs=1e-9) and end == 3.0
    assert bounced.intervals("floor", "flight") == [(0.0, begin)]  # bounces interrupt the flight for no time


def test_the_first_mode_counts_from_the_start():
    lying = ball(0.5, height=0.0).simulate(1.0)
    assert lying.intervals("floor", "rest") == [(0.0, 1.0)] and lying.intervals("floor", "flight") == []
    assert lying.first_modes == {"floor": "rest"}


def test_a_run_that_stopped_ends_where_it_stopped():
    m = ball(0.5)
    m.event("low", m["ball"].y, 0.5, stop=True)
    stopped = m.simulate(3.0)
    assert stopped.intervals("floor", "flight") == [(0.0, stopped.t[-1])] and stopped.t[-1] < 1.0


def test_copies_and_files_have_the_same_intervals(dragged, tmp_path):
    wanted = {mode: dragged.intervals("belt", mode) for mode in ("stick", "slower", "faster")}
    path = dragged.save(tmp_path / "belt.nc")
    loaded, bare = kp.Result.load(path, trust="rubbing"), kp.Result.load(path)
    assert loaded.model is not None and bare.model is None
    for other in (pickle.loads(pickle.dumps(dragged)), copy.deepcopy(dragged), loaded):
        assert {mode: other.intervals("belt", mode) for mode in wanted} == wanted
        assert np.array_equal(other.array("belt.slip"), dragged.array("belt.slip"))
    assert bare.intervals("belt") == wanted["stick"]
    with pytest.raises(kp.ModelError, match="'belt' has no mode 'faster'; its modes are 'slower', 'stick'"):
        bare.intervals("belt", "faster")  # without the model only those that were met are known


def test_each_of_many_runs_has_its_own():
    speeds = [0.05, 0.1, 0.2]
    runs = kp.run_many(belt(), {"speed": speeds}, "all", 2.0)
    for k, speed in enumerate(speeds):
        alone = belt().simulate(2.0, parameters={"speed": speed})
        assert runs.result(k).intervals("belt") == alone.intervals("belt") != []
        assert runs.result(k).first_modes == alone.first_modes


def test_what_cannot_be_answered_is_said(dragged):
    for arguments, words in (
        (("blet",), "there is no element 'blet' in this result; did you mean 'belt'?"),
        (("spring",), "'spring' does not switch; what switches is 'belt'"),
        ((3.0,), "there is no element 3.0 in this result"),
        (("belt", "stuck"), "'belt' has no mode 'stuck'; its modes are 'stick', 'slower', 'faster'"),
        (("belt", []), "'belt' has no mode ''"),
        (("belt", ["stick", "open"]), "'belt' has no mode 'open'"),
    ):
        with pytest.raises(kp.ModelError) as caught:
            dragged.intervals(*arguments)
        assert str(caught.value).startswith(words)
    still = kp.Mechanism("pendulum", gravity=(0, -1))
    still.revolute("pin", still.ground, still.body("rod", 1.0, 1.0, at=(1, 0)), at=(0, 0))
    with pytest.raises(kp.ModelError, match="this result has no intervals: nothing in it switches"):
        still.simulate(0.1).intervals("pin")
    still.driver("motor", still["rod"].angle, kp.constant_speed(1.0))
    with pytest.raises(kp.ModelError, match="it is no simulation"):
        still.kinematics(0.1).intervals("pin")


def test_impacts_take_the_energy_that_is_lost(bounced):
    impacts = bounced.impacts
    first = impacts[0]
    fall = math.sqrt(2 * GRAVITY)
    assert first.t == pytest.approx(math.sqrt(2 / GRAVITY), abs=1e-10) and first.elements == ["floor"]
    assert first.impulses == {"floor.gap": pytest.approx(-2.0 * 1.5 * fall, abs=1e-9)}
    assert sum(impact.lost for impact in impacts) == pytest.approx(2.0 * GRAVITY, abs=1e-9)
    times = np.array([impact.t for impact in impacts])
    np.testing.assert_allclose(times[:20], math.sqrt(2 / GRAVITY) * (3 - 2 * 0.5 ** np.arange(20)), atol=1e-10)
    assert not belt().simulate(0.5).impacts


def test_a_known_impulse_is_an_impact_even_of_a_free_body(tmp_path):
    m = kp.Mechanism("puck")
    m.impulse("blow", m.body("puck", 2.0, 1.0, at=(0, 0)), 0.3, force=(4.0, 0), on=(0, 0.5))
    result = m.simulate(1.0)
    (impact,) = result.impacts
    assert (impact.t, impact.elements, impact.impulses, impact.lost) == (
        pytest.approx(0.3, abs=1e-12),
        ["blow"],
        {},
        0.0,
    )
    assert kp.Result.load(result.save(tmp_path / "puck.nc")).impacts == [impact]
    assert result.array("puck.vx")[-1] == pytest.approx(2.0) and result.array("puck.omega")[-1] == pytest.approx(-2.0)
    assert [line for line in result.plot("puck.vx").axes[0].lines if line.get_label() == "impulses"]


def test_a_notebook_shows_impulses(bounced, dragged):
    html = bounced.events._repr_html_()
    assert "<th>impulses</th><th>energy lost</th>" in html and f"<td>floor.gap {-13.2883:.6g}" in html
    assert "impulses" not in dragged.events._repr_html_()
