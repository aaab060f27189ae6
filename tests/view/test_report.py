"""The HTML report: what is in the file. What it does in a browser is in test_report_page.py."""

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from reading import Content, Tags

import kempe as kp
from kempe.view.geometry import drawing_of
from kempe.view.report import report, report_html
from kempe.view.report_data import NUMBERS, ROWS

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import antiparallelogram
import bearings_of_a_hoist
import disk_cam
import jansen_leg

HOSTILE = "</script><img src=x onerror=alert(1)>"


def slider_crank(name="slider-crank", rod="rod", driven=True):
    m = kp.Mechanism(name, gravity=(0, -9.81))
    length = m.parameter("rod length", 0.3, bounds=(0.2, 0.5))
    crank = m.body("crank", mass=1.0, inertia=0.01)
    slider = m.body("slider", at=(0.4, 0.0), mass=2.0, inertia=0.01)
    bar = m.body(rod, at=(0.25, 0.05), angle=-0.1, mass=1.0, inertia=0.01)
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, bar, on_i=(0.1, 0), on_j=(-length / 2, 0))
    m.revolute("B", bar, slider, on_i=(length / 2, 0), on_j=(0, 0))
    height = m.parameter("height", 0.0)
    m.translational("guide", m.ground, slider, axis=(1, 0), on_i=(0, height), on_j=(0, 0))
    m.spring("coil", m.ground, slider, on_i=(0.8, 0), on_j=(0, 0), stiffness=100.0, length=0.4)
    if driven:
        m.driver("motor", crank.angle, kp.constant_speed(2 * np.pi))
    return m


def equations(length):
    return kp.Equations(
        "slider-crank in equations",
        {"x": 1.0 + length, "crank": 0.0, "rod": np.pi / 2},
        parameters={"l": length},
        constraints=lambda q, t, p: {
            "loop x": -q.x + kp.cos(q.crank) + p.l * kp.sin(q.rod),
            "loop y": kp.sin(q.crank) - p.l * kp.cos(q.rod),
            "motor": q.crank - kp.pi / 12 * t,
        },
    )


@pytest.mark.parametrize("example", [jansen_leg, disk_cam, antiparallelogram])
def test_file_is_small_and_refers_to_nothing_outside(example, tmp_path):
    model = example.build()
    result = model.kinematics(np.linspace(0, example.TIMES[-1], 5001), **example.OPTIONS)
    path = report(model, result, tmp_path / "new" / "report.html")
    assert path.stat().st_size < 600_000
    tags = Tags(path.read_text(encoding="utf-8"))
    assert not [a for _, a in tags.tags if "src" in a or "href" in a]
    assert model.name in tags.text and all(name in tags.text for name in [*model.parts, *model.elements])


def test_every_number_of_the_result_is_in_the_page():
    model = slider_crank(driven=False)
    result = model.simulate(1.0, velocities={"crank.omega": 8.0})
    page = Content(report_html(model, result))
    assert np.abs(page.times() - result.t).max() < 1e-13
    assert [q["name"] for q in page.told["quantities"]] == result.names
    for name in result.names:
        assert np.array_equal(page.values(name), result.array(name).astype(np.float32)), name
    loads = {load["name"]: load for load in page.told["runs"][0]["loads"]}
    assert set(loads) == {"O", "A", "B", "guide", "coil"} and loads["coil"]["group"] == "loads"
    force = page.array(loads["B"]["force"]).reshape(2, -1).T
    assert np.array_equal(force, result.reaction("B").force.astype(np.float32)) and loads["B"]["on"] == "slider"


@pytest.mark.parametrize("example", [jansen_leg, disk_cam, antiparallelogram])
def test_points_are_where_the_drawing_has_them(example):
    model = example.build()
    result = model.kinematics(np.linspace(0, example.TIMES[-1], 101), **example.OPTIONS)
    drawing = drawing_of(model, result.q)
    points = Content(report_html(model, result)).points()
    assert np.abs(points - drawing.points).max() < 1e-6 * drawing.size


def test_springs_and_spirals_are_where_the_drawing_has_them():
    model = slider_crank(driven=False)
    model.torsion_spring("spiral", model.ground, model["crank"], stiffness=1.0)
    result = model.simulate(1.0, velocities={"crank.omega": 8.0})
    drawing = drawing_of(model, result.q)
    points = Content(report_html(model, result)).points()
    assert len(drawing.strokes["spiral"][0]) > 40
    assert np.abs(points - drawing.points).max() < 1e-6 * drawing.size


def test_a_long_motion_is_thinned_and_keeps_its_peaks_and_events():
    model = slider_crank()
    result = model.kinematics(np.linspace(0, 1, 9000))
    result.v[4321, 1], result.v[7777, 1] = 50.0, -70.0
    name = result.columns[1][1]
    page = Content(report_html(model, result, plots=[name]))
    kept = page.values(name)
    assert len(kept) <= ROWS + 4 and kept.max() == 50.0 and kept.min() == -70.0
    assert (np.diff(page.times()) > 0).all() and page.times()[0] == 0.0 and page.times()[-1] == 1.0
    assert len(page.numbers) <= NUMBERS + 1000
    flat = antiparallelogram.build()
    bare = flat.kinematics(np.linspace(0, antiparallelogram.TIMES[-1], 8000), **antiparallelogram.OPTIONS)
    times = Content(report_html(flat, bare)).times()
    assert all(np.abs(times - event.t).min() <= np.abs(bare.t - event.t).min() + 1e-12 for event in bare.events)


def test_what_is_derived_for_some_rows_is_what_the_whole_result_has():
    model = slider_crank(driven=False)
    model.bump_stop("stop", model["slider"].x, 0.35, 5000)
    result = model.simulate(2.0, steps=6000, velocities={"crank.omega": 8.0})
    page = Content(report_html(model, result))
    rows = np.abs(result.t[:, None] - page.times()).argmin(axis=0)
    assert len(rows) < len(result) / 2 and np.any(result.array("stop.force")) and len(result.events) >= 4
    for name in result.names:
        assert np.array_equal(page.values(name), result.array(name)[rows].astype(np.float32)), name


def test_events_parameters_mobility_and_settings_are_told():
    model = antiparallelogram.build()
    result = model.kinematics(antiparallelogram.TIMES, **antiparallelogram.OPTIONS)
    page = Tags(report_html(model, result, title="Four flat positions"))
    assert all(event.message in page.text for event in result.events) and len(result.events) == 4
    moments = [float(a["data-t"]) for _, a in page.tags if "data-t" in a]
    assert np.allclose(moments, antiparallelogram.FLAT, rtol=0, atol=1e-9)
    assert str(model.mobility()) in page.text and "Four flat positions" in page.text
    crank = slider_crank()
    longer = Tags(report_html(crank, crank.kinematics(1.0, parameters={"rod length": 0.4375})))
    assert "0.4375" in longer.text and "0.2 … 0.5" in longer.text and "No singular position" in longer.text


def test_what_a_run_doubts_about_itself_stands_at_the_top():
    model = slider_crank(driven=False)
    with pytest.warns(kp.AccuracyWarning) as said:
        result = model.simulate(3.0, velocities={"crank.omega": 8.0}, method="baumgarte", step=0.05)
    told = [str(warning.message) for warning in said]
    page = Tags(report_html(model, result))
    assert told == result.stats["audit"] and all(page.text.count(sentence) == 1 for sentence in told)
    assert page.text.index(told[0]) < page.text.index("Mobility")


def test_a_model_without_geometry_has_plots_and_tables_only():
    model = equations(0.5)
    result = model.kinematics(np.arange(0, 4, 0.06), on_singular="stop")
    text = report_html(model, result)
    assert result.status == "lock-up" and result.message in Tags(text).text
    page = Content(text)
    assert not page.told["pictures"] and sum(len(p["names"]) for p in page.told["panels"]) == 6


def test_one_frame_and_none():
    model = slider_crank()
    result = model.kinematics([0.25])
    one = report_html(model, result)
    assert Content(one).told["panels"] == [] and "Values that are not zero" in one
    empty = kp.Result(result.t[:0], result.q[:0], result.v[:0], result.a[:0], result.columns, False, "lock-up", "stuck")
    page = report_html(model, empty)
    assert "stuck" in Tags(page).text and Content(page).told["runs"][0]["values"] == {}


def test_quantities_have_their_units():
    model = slider_crank()
    model.units = "m, kg, s"
    page = Content(report_html(model, model.inverse_dynamics(1.0)))
    labels = {one["name"]: one["label"] for one in page.told["quantities"]}
    assert labels["slider.vx"] == "slider.vx (m/s)" and labels["B.force"] == "B.force (N)"
    assert page.told["time"] == "t (s)" and page.told["units"]["force"] == "N"


def test_inverse_dynamics_opens_with_efforts():
    model = slider_crank()
    page = Content(report_html(model, model.inverse_dynamics(1.0)))
    assert page.told["panels"][0]["names"] == ["motor.effort"]


def test_names_are_escaped():
    model = slider_crank(HOSTILE, HOSTILE + " rod")
    text = report_html(model, model.kinematics(1.0), traces=[HOSTILE + " rod"], plots=[HOSTILE + " rod.angle"])
    page = Tags(text)
    assert HOSTILE not in text and HOSTILE in page.text and not [t for t, _ in page.tags if t == "img"]


def test_unknown_names_are_refused():
    model = slider_crank()
    result = model.kinematics(1.0)
    with pytest.raises(kp.ModelError, match="no moving point or body 'nobody' to trace; there are 'crank'"):
        report_html(model, result, traces=["nobody"])
    with pytest.raises(kp.ModelError, match="no moving point or body 'sliders' to trace; there are 'slider'"):
        report_html(model, result, traces=["sliders"])
    with pytest.raises(kp.ModelError, match=re.escape("no quantity 'slider.z'")):
        report_html(model, result, plots=["slider.z"])
    with pytest.raises(kp.ModelError, match="plots must be a list"):
        report_html(model, result, plots="slider.x")


def test_the_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    model = slider_crank()
    result = model.kinematics(1.0)
    target = tmp_path / "report.html"
    target.write_text("before")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        report(model, result, target)
    monkeypatch.undo()
    assert target.read_text() == "before" and list(tmp_path.iterdir()) == [target]
    report(model, result, target)
    assert target.read_text().startswith("<!DOCTYPE html>") and list(tmp_path.iterdir()) == [target]


def test_values_that_are_not_numbers_stay_out():
    model = slider_crank()
    result = model.kinematics(1.0)
    result.v[7:9], result.q[30] = np.nan, np.inf
    page = Content(report_html(model, result))
    assert len(page.times()) == len(result) - 1 and np.isnan(page.values("crank.omega")[7:9]).all()
    assert np.isfinite(page.points()).all()


# --- families, rest, modes ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def family():
    model = slider_crank(driven=False)
    designs = {"rod length": [0.25, 0.3, 0.35, 0.3], "height": [0, 0, 0, 9]}  # the last cannot be assembled
    runs = kp.run_many(model, designs, "all", 0.5, steps=50, velocities={"crank.omega": 8.0})
    return model, runs


def test_a_design_as_a_result_is_that_of_a_simulation(family):
    model, runs = family
    for design, length in enumerate([0.25, 0.3, 0.35]):
        options = {"steps": 50, "velocities": {"crank.omega": 8.0}, "parameters": {"rod length": length}}
        alone, one = model.simulate(0.5, **options), runs.result(design)
        assert (
            one.names == alone.names
            and one.success
            and one.provenance["parameters"] == {"rod length": length, "height": 0.0}
        )
        for name in alone.names:
            assert np.array_equal(one.array(name), alone.array(name)), name
        assert np.array_equal(one.reaction("A").moment, alone.reaction("A").moment)


def test_a_family_has_a_run_per_design(family):
    model, runs = family
    result = model.simulate(0.5, velocities={"crank.omega": 8.0})
    page = Content(report_html(model, result, family=runs))
    assert page.told["chooser"] == {"kind": "parameters", "names": ["rod length", "height"]}
    assert [run["parameters"]["rod length"] for run in page.told["runs"]] == [0.3, 0.25, 0.3, 0.35, 0.3]
    assert np.array_equal(page.values("slider.x", 3), runs["slider.x"][2].astype(np.float32))
    drawing = drawing_of(model, runs.result(2).q, {"rod length": 0.35})
    assert np.abs(page.points(3) - drawing.points).max() < 1e-6 * drawing.size
    assert not page.told["runs"][4]["success"] and page.told["runs"][4]["message"] == runs.reasons[3]


def test_a_family_of_kinematic_results():
    model = slider_crank()
    results = [model.kinematics(1.0, parameters={"rod length": length}) for length in (0.25, 0.3, 0.4)]
    page = Content(report_html(model, results[1], family=results))
    assert [run["parameters"]["rod length"] for run in page.told["runs"]] == [0.3, 0.25, 0.3, 0.4]


def test_a_family_that_cannot_be_shown_is_refused(family):
    model, runs = family
    result = runs.result(0)
    few = kp.run_many(model, {"rod length": [0.3]}, ["slider.x"], 0.5)
    with pytest.raises(kp.ModelError, match="quantities='all'"):
        report_html(model, result, family=few)
    with pytest.raises(kp.ModelError, match="family must be"):
        report_html(model, result, family=[1, 2])
    with pytest.raises(kp.ModelError, match="all the same parameters"):
        report_html(model, result, family=[result])
    with pytest.raises(kp.ModelError, match="there is no design 9: designs are numbered from 0 to 3"):
        runs.result(9)


def test_results_of_other_models_are_refused():
    model, other = slider_crank(), jansen_leg.build()
    result = model.kinematics(1.0)
    with pytest.raises(kp.ModelError, match="is not a result of this model"):
        report_html(other, result)
    with pytest.raises(kp.ModelError, match="is not a result of this model"):
        report_html(model, result, family=[other.kinematics(1.0)])


def test_a_stored_result_is_told_like_the_one_it_was(tmp_path):
    model = slider_crank(driven=False)
    model.bump_stop("stop", model["slider"].x, 0.35, 5000)
    result = model.simulate(1.0, velocities={"crank.omega": 8.0})
    stored = kp.Result.load(result.save(tmp_path / "run.nc"))
    one, two = (Content(report_html(r.model, r)) for r in (result, stored))
    assert np.array_equal(one.numbers, two.numbers) and one.told == two.told
    assert one.told["runs"][0]["events"]


def test_an_equilibrium_is_told_with_the_forces_that_keep_it(tmp_path):
    model = bearings_of_a_hoist.build()
    found = model.equilibrium()
    page = Content(found.report(tmp_path / "rest.html").read_text(encoding="utf-8"))
    assert page.told["forces"] and len(page.times()) == 1
    for load in page.told["runs"][0]["loads"]:
        force = found.result().reaction(load["name"]).force[0]
        assert np.allclose(page.array(load["force"]), force, rtol=1e-6, atol=1e-6 * np.abs(force).max())
    hanging = kp.Mechanism("hanging", gravity=(0, -10.0))
    mass = hanging.body("mass", mass=3.0, inertia=1.0, at=(0, -1))
    hanging.revolute("hook", hanging.ground, mass, at=(0, 0))
    assert np.allclose(hanging.equilibrium().result().reaction("hook").force, [[0.0, 30.0]], atol=1e-9)


def test_modes_are_told_each_as_a_motion(tmp_path):
    model = kp.Mechanism("two masses")
    last = model.ground
    for k in range(2):
        mass = model.body(f"mass {k}", mass=1.0, inertia=1.0, at=(k + 1.0, 0))
        model.translational(f"guide {k}", model.ground, mass, axis=(1, 0), at=(0, 0))
        model.spring(f"coil {k}", last, mass, on_i=(0, 0), on_j=(0, 0), stiffness=100.0, length=1.0)
        last = mass
    modes = model.modes()
    page = Content(modes.report(tmp_path / "modes.html").read_text(encoding="utf-8"))
    golden = 10 * (np.sqrt(5) + np.array([-1, 1])) / 2  # rad/s, of two equal masses on two equal springs
    assert [run["label"] for run in page.told["runs"]] == [
        f"mode {k}: {w / 2 / np.pi:.4g} Hz" for k, w in enumerate(golden)
    ]
    first, second = page.values("mass 0.x", 1) - 1, page.values("mass 1.x", 1) - 2
    assert np.abs(first).max() > 0.1 and np.allclose(first, -(1 + np.sqrt(5)) / 2 * second, rtol=0, atol=1e-5)
