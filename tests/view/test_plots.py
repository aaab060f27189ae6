"""Plots show the numbers they are asked for, over what they are asked for, and say what they are in."""

import itertools

import numpy as np
import pytest
from engines import START, engine

import kempe as kp
from kempe import view
from kempe.view.labels import label_of


@pytest.fixture(scope="module")
def result():
    return engine().simulate(0.4, steps=80, velocities=START)


@pytest.fixture(scope="module")
def longer():
    return engine(0.25, name="long engine").simulate(0.3, steps=50, velocities=START)


@pytest.fixture(scope="module")
def runs():
    rods = [0.30, 0.15, 0.25, 0.20]
    names = ["slider.x", "crank.angle", "B.force"]
    return kp.run_many(engine(), {"rod length": rods}, names, 0.3, steps=40, velocities=START)


def lines(axes, called):
    return [line for line in axes.lines if line.get_gid() == called]


def laid_out(figure):
    """Every text of a figure lies inside it, and none is empty of room."""
    figure.draw_without_rendering()
    renderer, whole = figure._get_renderer(), figure.bbox
    texts = [t for axes in figure.axes for t in (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts)]
    for text in [*texts, *figure.texts]:
        if text.get_text() and text.get_visible():
            box = text.get_window_extent(renderer)
            assert whole.x0 - 1 <= box.x0 and box.x1 <= whole.x1 + 1, text
            assert whole.y0 - 1 <= box.y0 and box.y1 <= whole.y1 + 1, text
    for axes in [a for a in figure.axes if a.get_label() != "<colorbar>"]:
        assert axes.get_window_extent().width > 20 and axes.get_window_extent().height > 20
    return figure


# --- one result -----------------------------------------------------------------------------------------------------


def test_any_quantity_over_any_other(result):
    names = ["crank.angle", "B.force", "slider.vx", "energy.kinetic", "coil.length"]
    for x, y in itertools.permutations(names, 2):
        (axes,) = laid_out(result.plot(y, x=x)).axes
        (line,) = lines(axes, "engine")
        np.testing.assert_array_equal(line.get_xdata(), result.array(x))
        np.testing.assert_array_equal(line.get_ydata(), result.array(y))
        assert (axes.get_xlabel(), axes.get_ylabel()) == (label_of(result, x), label_of(result, y))


def test_labels_say_units(result):
    figure = result.plot(["slider.x", "rod.x", "slider.ax", "B.force", "B.moment", "energy.kinetic", "crank.omega"])
    said = [axes.get_ylabel() for axes in figure.axes]
    assert said == ["position (m)", "slider.ax (m/s²)", "B.force (N)", "B.moment (N m)", "energy.kinetic (J)",
                    "crank.omega (rad/s)"]  # fmt: skip
    assert figure.axes[-1].get_xlabel() == "t (s)"


def test_degrees_are_shown_and_kept_out_of_the_data(result):
    before = {name: result.array(name).copy() for name in result.names}
    figure = result.plot(["crank.angle", "crank.omega", "slider.x"], x="rod.angle", degrees=True)
    angle, omega, x = figure.axes
    assert [a.get_ylabel() for a in figure.axes] == ["crank.angle (°)", "crank.omega (°/s)", "slider.x (m)"]
    assert x.get_xlabel() == "rod.angle (°)"
    for axes, name, factor in (
        (angle, "crank.angle", 180 / np.pi),
        (omega, "crank.omega", 180 / np.pi),
        (x, "slider.x", 1),
    ):
        np.testing.assert_allclose(lines(axes, "engine")[0].get_ydata(), factor * result.array(name), rtol=1e-14)
    for name, values in before.items():
        np.testing.assert_array_equal(result.array(name), values)


def test_degrees_without_units_say_so():
    res = engine(units=None).simulate(0.05, steps=5, velocities=START)
    figure = res.plot(["crank.angle", "crank.omega", "crank.alpha", "slider.x"], degrees=True)
    said = [axes.get_ylabel() for axes in figure.axes]
    assert said == ["crank.angle (°)", "crank.omega (°/time)", "crank.alpha (°/time²)", "slider.x"]


def test_a_twin_scale_is_on_the_right(result):
    left, right = laid_out(result.plot("slider.x", twin="B.force")).axes
    assert (left.get_ylabel(), right.get_ylabel()) == ("slider.x (m)", "B.force (N)")
    assert right.yaxis.get_label_position() == "right"
    np.testing.assert_array_equal(lines(left, "engine")[0].get_ydata(), result.array("slider.x"))
    np.testing.assert_array_equal(lines(right, "engine")[0].get_ydata(), result.array("B.force"))
    assert lines(left, "engine")[0].get_color() == left.yaxis.label.get_color() != right.yaxis.label.get_color()
    figure = laid_out(result.plot(["slider.x", "rod.x"], twin=["B.force", "crank.omega"], x="crank.angle"))
    (key,) = figure.legends
    assert {text.get_text() for text in key.get_texts()} == {"slider.x", "rod.x", "B.force", "crank.omega"}


def test_events_are_marked_on_request(result):
    times = [event.t for event in result.events]
    assert times
    marked = [line.get_xdata()[0] for line in result.plot("slider.x").axes[0].lines[1:]]
    np.testing.assert_allclose(marked, times)
    assert len(result.plot("slider.x", events=False).axes[0].lines) == 1
    over = result.plot("slider.vx", x="slider.x").axes[0]
    crosses = next(line for line in over.lines if line.get_marker() == "x")
    np.testing.assert_allclose(crosses.get_xdata(), 0.28, atol=2e-4)  # the wall is met there
    assert not [line for line in result.plot("slider.vx", x="slider.x", events=False).axes[0].lines
                if line.get_marker() == "x"]  # fmt: skip


# --- several results ------------------------------------------------------------------------------------------------


def test_results_lie_over_each_other_with_their_names(result, longer):
    figure = laid_out(result.plot(["slider.x", "B.force"], beside={"longer rod": longer}, label="as built"))
    for axes, name in zip(figure.axes, ("slider.x", "B.force"), strict=True):
        for called, res in (("as built", result), ("longer rod", longer)):
            (line,) = lines(axes, called)
            np.testing.assert_array_equal(line.get_xydata(), np.column_stack([res.t, res.array(name)]))
    key = figure.axes[0].get_legend()
    assert [text.get_text() for text in key.get_texts()] == ["as built", "longer rod"]
    drawn = [handle.get_color() for handle in key.get_lines()]
    assert drawn == [lines(figure.axes[0], called)[0].get_color() for called in ("as built", "longer rod")]
    assert len(set(drawn)) == 2


def test_results_are_called_by_their_models_or_numbered(result, longer):
    assert set(texts(view.plot([result, longer], "slider.x"))) == {"engine", "long engine"}
    assert texts(view.plot([result, result], "slider.x")) == ["engine 1", "engine 2"]
    assert texts(view.plot([result, longer], "slider.x", labels=["a", "b"], twin="B.force")) == ["a", "b"]


def texts(figure):
    (key,) = [*figure.legends, *(a.get_legend() for a in figure.axes if a.get_legend())]
    return [text.get_text() for text in key.get_texts()]


def test_what_cannot_be_plotted_is_said(result, longer, runs):
    other = kp.Mechanism("other")
    other.body("b", mass=1, inertia=1)
    still = other.simulate(0.1, steps=2)
    for attempt, words in (
        (lambda: view.plot([result, still], "slider.x", labels=["a", "b"]), "'b': there is no quantity 'slider.x'"),
        (lambda: result.plot("slider.x", x="crank.angel"), "crank.angle"),
        (lambda: result.plot("slider.x", twin="B.forc"), "B.force"),
        (lambda: view.plot([result, longer], "slider.x", labels=["a"]), "2 different labels"),
        (lambda: view.plot([result, longer], "slider.x", labels=["a", "a"]), "2 different labels"),
        (lambda: view.plot([], "slider.x"), "give a result"),
        (lambda: view.plot(3, "slider.x"), "give a result"),
        (lambda: result.plot("slider.x", beside=longer), "beside= maps"),
        (lambda: result.plot("slider.x", size=(0, 3)), "inches"),
        (lambda: result.plot("slider.x", size=3), "inches"),
        (lambda: view.plot(result, "slider.x", by="rod length"), "run_many"),
        (lambda: result.plot(["slider.x", "rod.x"], twin="B.force", beside={"b": longer}), "one and one"),
        (lambda: runs.plot("slider.y"), "no quantity 'slider.y'"),
        (lambda: runs.plot("rod length"), "by='rod length'"),
        (lambda: runs.plot("slider.x", by="rod lenght"), "did you mean 'rod length'"),
        (lambda: runs.plot([]), "at least one"),
    ):
        with pytest.raises(kp.ModelError) as caught:
            attempt()
        assert words in str(caught.value)


# --- families -------------------------------------------------------------------------------------------------------


def test_a_family_has_a_line_per_design_coloured_by_its_parameter(runs):
    figure = laid_out(runs.plot(["slider.x", "B.force"]))
    panels, bar = figure.axes[:2], figure.axes[2]
    assert bar.get_ylabel() == "rod length"
    assert [axes.get_ylabel() for axes in panels] == ["slider.x (m)", "B.force (N)"]
    order = np.argsort(runs.designs["rod length"])
    for axes, name in zip(panels, ("slider.x", "B.force"), strict=True):
        (bundle,) = axes.collections
        np.testing.assert_array_equal(bundle.get_array(), runs.designs["rod length"][order])
        for k, path in zip(order, bundle.get_paths(), strict=True):
            np.testing.assert_array_equal(path.vertices, np.column_stack([runs.t, runs[name][k]]))
    low, high = panels[0].get_ylim()
    assert low < runs["slider.x"].min() and high > runs["slider.x"].max()


def test_a_family_over_another_quantity_in_degrees(runs):
    (axes, _) = laid_out(runs.plot("slider.x", x="crank.angle", degrees=True, events=True)).axes
    assert axes.get_xlabel() == "crank.angle (°)"
    k = int(np.argmin(runs.designs["rod length"]))
    np.testing.assert_allclose(axes.collections[0].get_paths()[0].vertices[:, 0], np.degrees(runs["crank.angle"][k]))


def test_designs_that_stop_end_where_they_stopped():
    m = kp.Mechanism("drop", gravity=(0, -10.0))
    height = m.parameter("height", 1.0)
    ball = m.body("ball", mass=1, inertia=1, at=(0, height))
    arm = m.body("arm", at=(3, 0))
    m.revolute("pin", m.ground, arm, at=(2, 0))
    m.driver("hold", arm.angle, 0.0)
    m.event("floor", ball.y, 0.0, stop=True)
    runs = kp.run_many(m, {"height": [0.21, 5.0]}, ["ball.y"], 0.5, steps=20)
    (bundle,) = runs.plot("ball.y").axes[0].collections
    short, whole = (path.vertices for path in bundle.get_paths())
    assert len(whole) == 21 and short[-1, 0] <= np.sqrt(0.042) < short[-1, 0] + 0.025
    assert np.isfinite(short).all()


def test_a_family_of_equals_needs_no_scale(runs):
    same = kp.run_many(engine(), {"rod length": [0.2, 0.2]}, ["slider.x"], 0.1, steps=4, velocities=START)
    figure = same.plot("slider.x")
    assert len(figure.axes) == 1


def test_runs_know_their_units(runs):
    assert [runs.unit(name) for name in ("t", "slider.x", "crank.angle", "B.force")] == ["s", "m", "rad", "N"]


# --- odd numbers and names ------------------------------------------------------------------------------------------


def made(values, name="a.x", t=None):
    """A result with one history."""
    values = np.asarray(values, dtype=float)
    t = np.linspace(0.0, 1.0, len(values)) if t is None else t
    table = values[:, None]
    owner = name.rpartition(".")[0]
    return kp.Result(t, table, table, table, [(name, f"{owner}.vx", f"{owner}.ax")])


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e-12, 1.0, 1e12, 1e30, 1e300])
@pytest.mark.parametrize("shape", ["wave", "constant", "rounding", "zero", "offset", "one"])
def test_any_numbers_can_be_plotted(scale, shape):
    size = {0: None, 1: (2.0, 1.5), 2: (14.0, 2.0)}[(len(shape) + int(np.log10(scale))) % 3]
    t = np.linspace(0.0, 1.0, 50)
    values = {
        "wave": np.sin(9 * t), "constant": np.full(50, 0.3), "rounding": 0.3 + 1e-16 * np.sin(40 * t),
        "zero": np.zeros(50), "offset": 1.0 + 1e-7 * np.sin(9 * t), "one": np.array([0.3]),
    }[shape] * scale  # fmt: skip
    for options in ({}, {"x": "a.vx"}, {"twin": "a.ax"}, {"beside": {"b": made(values)}}):
        figure = laid_out(made(values).plot("a.x", size=size, label="a", **options))
        low, high = figure.axes[0].get_ylim()
        assert np.isfinite([low, high]).all() and low <= values.min() and values.max() <= high
        if shape in ("constant", "rounding"):
            assert high - low > 1e-3 * scale


def test_what_is_not_finite_here_and_there_is_left_out(result):
    holes = made([np.nan, 1.0, np.inf, 2.0, -np.inf])
    for options in ({}, {"x": "a.vx"}, {"twin": "a.vx"}):
        low, high = laid_out(holes.plot("a.x", **options)).axes[0].get_ylim()
        assert low <= 1.0 and 2.0 <= high < 3.0
    with pytest.raises(kp.ModelError, match="no finite value"):
        made([np.nan, np.inf]).plot("a.x")


def test_what_is_only_rounding_beside_its_kind_is_shown_as_nothing(result):
    (axes,) = result.plot("slider.y", events=False).axes
    assert np.ptp(result.array("slider.y")) < 1e-9
    assert np.ptp(axes.get_ylim()) > 0.01


NAMES = ["_hidden", "cost $5$", "$\\frac", "a" * 120, "a very long name of a part " * 4, "größe ° ²", "% a"]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_can_stand_in_a_picture(name, tmp_path):
    name = name.strip()
    m = kp.Mechanism(name, gravity=(0, -9.81))
    body = m.body(name, mass=1, inertia=1, at=(1, 0))
    m.revolute(f"{name} pin", m.ground, body, at=(0, 0))
    res = m.simulate(0.1, steps=4)
    figure = laid_out(res.plot([f"{name}.x", f"{name}.y", f"{name} pin.force"]))
    assert len(figure.axes[0].get_legend().get_texts()) == 2
    laid_out(res.plot(f"{name}.x", twin=f"{name}.y"))
    laid_out(res.plot(f"{name}.x", x=f"{name}.y", beside={"other": res}))
    view.save(res.draw(0.05, vectors=[f"{name} pin.force"]), tmp_path / "still.png", dpi=50)
    assert res.animate(tmp_path / "a.gif", frames=2, vectors=[name]).exists()
