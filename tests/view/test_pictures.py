"""Pictures show what was asked, are written whole, and say what is wrong."""

import importlib.util
import sys
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from PIL import Image

import kempe as kp
from kempe import view
from kempe.view.geometry import drawing_of
from kempe.view.painter import Painter, canvas

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(p.stem for p in EXAMPLES.glob("*.py") if p.stem != "demo")


def load(name):
    spec = importlib.util.spec_from_file_location(f"pictured_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def leg():
    model = load("jansen_leg").build()
    return model, model.kinematics(np.linspace(0.0, 2.0 * np.pi, 61))


@pytest.fixture(scope="module")
def changing():
    module = load("antiparallelogram")
    model = module.build()
    return model, model.kinematics(module.TIMES, **module.OPTIONS)


def boxes(figure):
    """The rectangles of the names in a drawing, in pixels."""
    figure.draw_without_rendering()
    texts = [c for c in figure.axes[0].texts if isinstance(c, Annotation)]
    # without the leader lines, which are part of an annotation's own extent
    return {t.get_text(): super(Annotation, t).get_window_extent() for t in texts}


def empty(result):
    none = np.zeros((0, result.q.shape[1]))
    return kp.Result(np.zeros(0), none, none, none, result.columns, message="stopped at once")


# --- drawings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_example_can_be_drawn_with_its_names_apart_and_inside(name):
    model = load(name).build()
    figure = view.draw(model)
    named = boxes(figure)
    parts = [p for p in model.parts if isinstance(model.parts[p], kp.elements.Carrier)]
    assert set(parts) <= set(named)
    area = figure.bbox
    for text, box in named.items():
        assert area.x0 <= box.x0 and box.x1 <= area.x1 and area.y0 <= box.y0 and box.y1 <= area.y1, text
    listed = list(named.items())
    for k, (first, a) in enumerate(listed):
        for second, b in listed[:k]:
            across, up = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
            assert across <= 2.0 or up <= 2.0, (first, second)


def test_names_can_be_left_out(leg):
    assert not boxes(view.draw(leg[0], names=False))


def test_a_given_pose_is_drawn(leg):
    model, result = leg
    pose = kp.assemble(model)
    turned = kp.analysis.Pose({n[0]: float(x) for n, x in zip(result.columns, result.q[20], strict=True)})
    for given in (pose, turned):
        drawn = [line.get_xydata() for line in view.draw(model, given).axes[0].lines]
        foot = (given["foot.x"], given["foot.y"])
        assert any((np.abs(points - foot).max(axis=1) < 1e-12).any() for points in drawn)


def test_a_moved_painting_equals_a_fresh_one(leg):
    model, result = leg
    drawing = drawing_of(model, result.q)
    moved = Painter(canvas(drawing, "")[1], drawing, 0.5)
    moved.show(25)
    fresh = Painter(canvas(drawing, "")[1], drawing, 0.5, frame=25)
    for a, b in zip(moved.artists, fresh.artists, strict=True):
        first, second = (x.get_xydata() if isinstance(x, Line2D) else x.get_xy() for x in (a, b))
        np.testing.assert_array_equal(first, second)


def test_a_system_of_equations_has_nothing_to_draw():
    system = kp.Equations("numbers", {"x": 1.0}, constraints=lambda q, t, p: {"x": q.x - 1 - t})
    with pytest.raises(kp.ModelError, match="no bodies, points or joints"):
        view.draw(system)


# --- plots, paths, orbits -------------------------------------------------------------------------------------------


def test_quantities_of_one_kind_share_axes(leg):
    figure = view.plot(leg[1], ["foot.x", "foot.vx", "foot.y", "pin.vy"])
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["position", "velocity"]
    shown = [[line.get_label() for line in axes.lines] for axes in figure.axes]
    assert shown == [["foot.x", "foot.y"], ["foot.vx", "pin.vy"]]
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), leg[1].array("foot.x"))
    assert figure.axes[1].get_xlabel() == "t"


def test_legends_stand_beside_the_data(leg):
    figure = view.plot(leg[1], ["foot.x", "foot.y"])
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1
    assert axes.get_legend().get_window_extent().x1 <= figure.bbox.x1


def test_events_are_marked_and_named(changing):
    _, result = changing
    figure = view.plot(result, ["rocker.angle", "rocker.omega"])
    for axes in figure.axes:
        marks = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2]
        np.testing.assert_allclose(marks, [event.t for event in result.events])
    assert [text.get_text() for text in figure.axes[0].texts] == ["bifurcation"] * 4


def test_events_at_almost_one_time_are_named_above_each_other(leg):
    result = kp.Result(*(getattr(leg[1], k) for k in ("t", "q", "v", "a", "columns")))
    result.events = [SimpleNamespace(kind="bifurcation", t=t) for t in (1.0, 1.01, 1.02)]
    figure = view.plot(result, "foot.x")
    figure.draw_without_rendering()
    heights = sorted(text.get_window_extent().y0 for text in figure.axes[0].texts)
    assert (np.diff(heights) > 8.0).all()


def test_paths_are_the_solution_on_equal_axes(changing):
    model, result = changing
    figure = view.path(result, ["coupler", "B", ("coupler", (2.0, 0.0))], model=model)
    (axes,) = figure.axes
    assert axes.get_aspect() == 1.0
    lines = {line.get_label(): line.get_xydata() for line in axes.lines}
    np.testing.assert_array_equal(lines["coupler"][:, 0], result.array("coupler.x"))
    np.testing.assert_allclose(np.hypot(lines["B"][:, 0] - 2.0, lines["B"][:, 1]), 1.0, rtol=1e-11)
    np.testing.assert_allclose(lines["coupler (2, 0)"], lines["B"], atol=1e-11)


def test_a_path_needs_no_model(leg):
    figure = view.path(leg[1], "foot")
    assert figure.axes[0].get_xlabel() == "foot.x"
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), leg[1].array("foot.y"))


def test_an_orbit_is_one_quantity_over_another(leg):
    (axes,) = view.orbit(leg[1], "foot.x", "foot.vx").axes
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), leg[1].array("foot.x"))
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), leg[1].array("foot.vx"))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("foot.x", "foot.vx")


# --- animations -----------------------------------------------------------------------------------------------------


def lasting(path):
    with Image.open(path) as film:
        held = []
        for k in range(film.n_frames):
            film.seek(k)
            held.append(film.info["duration"])
        return held


@pytest.mark.parametrize(("frames", "seconds"), [(12, 1.0), (30, 2.5), (7, 1.0)])
def test_a_gif_has_the_frames_and_the_time_asked_for(leg, tmp_path, frames, seconds):
    target = view.animate(*leg, tmp_path / "new" / "leg.gif", frames=frames, seconds=seconds, trace=["foot"])
    held = lasting(target)
    assert len(held) == frames
    assert sum(held) == pytest.approx(1000 * seconds)
    assert [p.name for p in target.parent.iterdir()] == ["leg.gif"]
    with Image.open(target) as film:
        assert film.convert("RGB").getpixel((2, 2)) == (255, 255, 255)


def test_uneven_times_are_shown_as_long_as_they_last(leg, tmp_path):
    result = leg[0].kinematics(np.array([0.0, 0.5, 1.0, 3.0, 3.5]))
    held = lasting(view.animate(leg[0], result, tmp_path / "leg.gif", seconds=4.0))
    assert held[2] > 3 * held[0]
    assert sum(held) == 4000


def test_frames_go_to_a_folder(leg, tmp_path):
    target = view.animate(*leg, tmp_path / "frames", frames=9)
    view.animate(*leg, tmp_path / "frames", frames=5, vectors=["foot"])
    names = sorted(p.name for p in target.iterdir())
    assert names == [f"frame_{k:04d}.png" for k in range(5)]
    assert [p.name for p in tmp_path.iterdir()] == ["frames"]
    pictures = [np.asarray(Image.open(target / name)) for name in names]
    assert len({p.shape for p in pictures}) == 1
    assert all((a != b).any() for a, b in pairwise(pictures))


def test_a_point_with_one_fixed_coordinate_has_a_vector(tmp_path):
    module = load("toggle_press")
    model = module.build()
    result = model.kinematics(module.TIMES)
    assert len(list(view.animate(model, result, tmp_path / "press", frames=3, vectors=["ram"]).iterdir())) == 3


def test_a_film_needs_ffmpeg(leg, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(kp.ModelError, match="ffmpeg"):
        view.animate(*leg, tmp_path / "leg.mp4")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def pretended(tmp_path, monkeypatch):
    """A program called ffmpeg that writes how many pictures it was sent to its last argument, or fails."""

    def make(code):
        folder = tmp_path / "bin"
        folder.mkdir()
        program = folder / "ffmpeg"
        program.write_text(
            f"#!{sys.executable}\nimport sys\ndata = sys.stdin.buffer.read()\n"
            f"open(sys.argv[-1], 'w').write(str(data.count(b'IHDR')))\n{code}\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(folder))

    return make


def test_a_film_gets_every_frame(leg, tmp_path, pretended):
    pretended("")
    assert view.animate(*leg, tmp_path / "leg.mp4", frames=8).read_text() == "8"


def test_a_failed_film_leaves_nothing(leg, tmp_path, pretended):
    pretended("sys.exit('no such codec')")
    with pytest.raises(kp.ModelError, match="no such codec"):
        view.animate(*leg, tmp_path / "leg.mp4", frames=4)
    assert [p.name for p in tmp_path.iterdir()] == ["bin"]


# --- writing and mistakes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["png", "pdf", "svg"])
def test_pictures_are_written_whole(leg, tmp_path, kind):
    target = view.save(view.plot(leg[1], "foot.x"), tmp_path / "a" / f"foot.{kind}")
    assert target.stat().st_size > 1000
    assert [p.name for p in target.parent.iterdir()] == [f"foot.{kind}"]


def test_an_interrupted_picture_does_not_replace_the_old_one(leg, tmp_path):
    target = tmp_path / "foot.png"
    target.write_bytes(b"old")
    figure = view.plot(leg[1], "foot.x")

    def broken(*args, **options):
        args[0].write(b"half")
        raise KeyboardInterrupt

    figure.savefig = broken
    with pytest.raises(KeyboardInterrupt):
        view.save(figure, target)
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["foot.png"]


def test_unknown_names_are_errors_that_suggest_known_ones(leg, tmp_path):
    model, result = leg
    with pytest.raises(kp.ModelError, match="foot"):
        view.plot(result, ["foot.x", "foot.z"])
    with pytest.raises(kp.ModelError, match="'sole'"):
        view.path(result, "sole", model=model)
    with pytest.raises(kp.ModelError, match="feet"):
        view.orbit(result, "feet.x", "foot.y")
    for options in ({"trace": ["sole"]}, {"vectors": ["sole"]}):
        with pytest.raises(kp.ModelError, match="sole"):
            view.animate(model, result, tmp_path / "leg.gif", **options)
    with pytest.raises(kp.ModelError, match="no path"):
        view.path(result, "motor", model=model)
    for nothing in (view.plot, view.path):
        with pytest.raises(kp.ModelError, match="at least one"):
            nothing(result, [])
    assert not list(tmp_path.iterdir())


def test_empty_results_are_errors(leg, tmp_path):
    model, none = leg[0], empty(leg[1])
    for attempt in (
        lambda: view.plot(none, "foot.x"),
        lambda: view.path(none, "foot"),
        lambda: view.orbit(none, "foot.x", "foot.y"),
        lambda: view.animate(model, none, tmp_path / "leg.gif"),
        lambda: view.draw(model, motion=none),
    ):
        with pytest.raises(kp.ModelError, match=r"empty.*stopped at once"):
            attempt()


def test_unknown_suffixes_are_errors(leg, tmp_path):
    with pytest.raises(kp.ModelError, match=r"\.gif"):
        view.animate(*leg, tmp_path / "leg.webm")
    with pytest.raises(kp.ModelError, match=r"\.png"):
        view.save(view.plot(leg[1], "foot.x"), tmp_path / "foot.xyz")
    with pytest.raises(kp.ModelError, match="above zero"):
        view.animate(*leg, tmp_path / "leg.gif", frames=0)
    (tmp_path / "taken").write_text("")
    with pytest.raises(kp.ModelError, match="is a file"):
        view.animate(*leg, tmp_path / "taken")
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]


def test_a_result_of_another_model_is_an_error(leg, changing, tmp_path):
    with pytest.raises(kp.ModelError, match="not a result of this model"):
        view.animate(changing[0], leg[1], tmp_path / "leg.gif")
