"""Arrows are what they say: where they begin, along what they point, in one scale that stands below."""

import re

import numpy as np
import pytest
from engines import START, engine
from matplotlib.text import Annotation
from PIL import Image

import kempe as kp
from kempe import view
from kempe.view.margin import round_below
from kempe.view.pictures import motion_drawing
from kempe.view.vectors import LONGEST, _every, add_vectors, vectors_of


@pytest.fixture(scope="module")
def running():
    m = engine()
    return m, m.simulate(0.5, steps=60, velocities=START)


def arrow(drawing, name):
    """Foot and tip of an arrow over time."""
    return drawing.points[:, drawing.arrows[name][0]], drawing.points[:, drawing.heads[name][0]]


def test_arrows_begin_where_they_act_and_are_the_vectors_in_one_scale(running):
    m, res = running
    names = ["B.force", "coil.force", "push", "slider", "B.velocity", "rod.acceleration"]
    drawing = motion_drawing(m, res)
    add_vectors(drawing, vectors_of(m, res, names))
    zero = np.zeros(len(res))
    crank, angle = res.array("crank.angle"), res.array("rod.angle")
    pin = np.column_stack([res.array("slider.x"), zero])
    rod = np.column_stack([res.array("rod.x"), res.array("rod.y")])
    expected = {
        "B.force": (pin, np.column_stack([res.array("B.force.x"), res.array("B.force.y")])),
        "coil.force": (pin, np.column_stack([res.array("coil.force"), zero])),  # pulled towards x = 0.6
        "push": (rod, np.tile([3.0, 4.0], (len(res), 1))),
        "slider": (pin, np.column_stack([res.array("slider.vx"), zero])),
        "B.velocity": (pin, np.column_stack([res.array("slider.vx"), zero])),
        "rod.acceleration": (rod, np.column_stack([res.array("rod.ax"), res.array("rod.ay")])),
    }
    kinds = {"B.force": "force", "coil.force": "force", "push": "force", "rod.acceleration": "acceleration"}
    for name, (where, value) in expected.items():
        foot, tip = arrow(drawing, name)
        np.testing.assert_allclose(foot, where, atol=1e-9, err_msg=name)
        scale = drawing.scales[kinds.get(name, "velocity")]
        np.testing.assert_allclose(tip - foot, scale * value, atol=1e-8 * drawing.size, err_msg=name)
    longest = max(np.linalg.norm(tip - foot, axis=1).max() for foot, tip in (arrow(drawing, n) for n in kinds))
    assert longest == pytest.approx(LONGEST * drawing.size, rel=1e-9)
    np.testing.assert_allclose(rod, 0.1 * np.column_stack([np.cos(crank), np.sin(crank)])
                               + 0.1 * np.column_stack([np.cos(angle), np.sin(angle)]), atol=1e-8)  # fmt: skip


def test_moments_are_arcs_about_their_pin_in_their_sense(running):
    m, res = running
    drawing = motion_drawing(m, res)
    add_vectors(drawing, vectors_of(m, res, ["clock.torque", "load"]))
    back = -res.array("clock.torque")  # a positive torque of the spring turns the crank back
    for name, moment in (("load", np.full(len(res), 0.5)), ("clock.torque", back)):
        arc = drawing.points[:, drawing.arrows[name]]
        np.testing.assert_allclose(np.ptp(np.hypot(arc[..., 0], arc[..., 1]), axis=1), 0.0, atol=1e-12)  # about O
        turned = np.unwrap(np.arctan2(arc[..., 1], arc[..., 0]), axis=1)
        sweep = turned[:, -1] - turned[:, 0]
        np.testing.assert_allclose(sweep, 2 * np.pi * drawing.scales["moment"] * moment, atol=1e-9)


def test_an_arrow_stands_in_for_the_sign_of_its_load(running):
    m, res = running
    drawing = motion_drawing(m, res)
    assert {"push", "load"} <= drawing.arrows.keys()
    add_vectors(drawing, vectors_of(m, res, ["push.force", "load.torque", "rod"]))
    assert set(drawing.arrows) == set(drawing.heads) == {"push.force", "load.torque", "rod"}
    assert drawing.hues["rod"] != drawing.hues["push.force"]


def test_a_scale_can_be_given(running):
    m, res = running
    drawing = motion_drawing(m, res)
    add_vectors(drawing, vectors_of(m, res, ["push", "rod"]), {"force": 0.01})
    foot, tip = arrow(drawing, "push")
    np.testing.assert_allclose(np.linalg.norm(tip - foot, axis=1), 0.05, rtol=1e-9)
    for wrong in ({"forces": 1.0}, {"force": 0.0}, {"force": float("nan")}):
        with pytest.raises(kp.ModelError, match="how long one unit is drawn"):
            add_vectors(drawing, vectors_of(m, res, ["push"]), wrong)


@pytest.mark.parametrize(("value", "below"), [(1.0, 1.0), (1.99, 1.0), (4.99, 2.0), (730.0, 500.0), (2e-9, 2e-9)])
def test_scales_are_round(value, below):
    assert round_below(value) == pytest.approx(below)


def test_a_still_shows_the_time_the_sizes_and_the_scale(running):
    _, res = running
    figure = res.draw(0.25, vectors=["B.force", "slider.velocity"])
    texts = {t.get_text() for t in figure.axes[0].texts}
    row = int(np.abs(res.t - 0.25).argmin())
    assert f"B.force {res.array('B.force')[row]:.4g} N" in texts
    assert f"slider.velocity {abs(res.array('slider.vx')[row]):.4g} m/s" in texts
    assert f"t = {res.t[row]:.3f} s" in texts
    assert any(re.fullmatch(r"[125]0* N", text) for text in texts), texts
    inside = figure.bbox
    figure.draw_without_rendering()
    for text in figure.axes[0].texts:
        box = super(Annotation, text).get_window_extent() if isinstance(text, Annotation) else text.get_window_extent()
        if text.get_text():
            assert inside.x0 <= box.x0 and box.x1 <= inside.x1 and inside.y0 <= box.y0 and box.y1 <= inside.y1, text
    drawn = [line.get_xydata() for line in figure.axes[0].lines]
    slider = (res.array("slider.x")[row], 0.0)
    assert any((np.abs(points - slider).max(axis=1) < 1e-9).any() for points in drawn)


def test_a_time_outside_the_motion_is_an_error(running):
    m, res = running
    for at in (-0.1, 0.6, float("nan")):
        with pytest.raises(kp.ModelError, match=r"from t = 0 to 0\.5"):
            res.draw(at)
    with pytest.raises(kp.ModelError, match="motion="):
        m.draw(at=0.1)
    with pytest.raises(kp.ModelError, match="motion="):
        m.draw(vectors=["B.force"])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("B.forc", "B.force"), ("sliderr", "slider"), ("slider.speed", "slider"), ("rod length", "no vector"),
        ("", "no vector"), ("load.force", "load.torque"),
    ],
)  # fmt: skip
def test_unknown_vectors_are_errors_that_suggest_known_ones(running, name, words, tmp_path):
    with pytest.raises(kp.ModelError) as caught:
        running[1].animate(tmp_path / "x.gif", vectors=[name])
    assert f"there is no vector '{name}' in 'engine'" in str(caught.value) and words in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_forces_need_an_analysis_that_finds_them(tmp_path):
    m = kp.Mechanism("bare")
    arm = m.body("arm", at=(1, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0))
    m.driver("motor", arm.angle, kp.constant_speed(1.0))
    with pytest.raises(kp.ModelError, match="simulate and inverse_dynamics"):
        m.kinematics(1.0, steps=4).animate(tmp_path / "x.gif", vectors=["pin.force"])


def test_every_vector_of_a_machine_can_be_shown(running):
    m, res = running
    names = _every(m)
    assert len(names) > 50
    drawing = motion_drawing(m, res)
    add_vectors(drawing, vectors_of(m, res, names))
    assert np.isfinite(drawing.points).all()
    assert set(names) <= set(drawing.arrows)


def test_a_resting_point_has_no_arrow_and_no_scale(tmp_path):
    m = kp.Mechanism("rest")
    m.body("stone", mass=1, inertia=1)
    res = m.simulate(1.0, steps=3)
    folder = res.animate(tmp_path / "rest", vectors=["stone", "stone.acceleration"], frames=2)
    pictures = [np.asarray(Image.open(p)) for p in sorted(folder.iterdir())]
    assert pictures[0].shape == pictures[1].shape
    assert (pictures[0] != pictures[1]).any()  # the time


def test_arrows_keep_their_colour_in_a_gif_that_begins_without_them(tmp_path):
    """The palette is that of the first frame: the scale below has the colour already."""
    m = kp.Mechanism("late")
    stone = m.body("stone", mass=1, inertia=1)
    m.force("push", stone, (lambda t: t, 0.0))
    target = m.simulate(1.0, steps=10).animate(tmp_path / "late.gif", vectors=["push"], frames=5)
    with Image.open(target) as film:
        film.seek(4)
        pixels = np.asarray(film.convert("RGB")).reshape(-1, 3).astype(int)
    assert (np.abs(pixels - (0xA3, 0x00, 0x3A)).max(axis=1) < 12).sum() > 200


def test_a_force_of_ones_own_is_shown_where_it_acts():
    m = kp.Mechanism("own", units="m, kg, s")
    a, b = m.body("a", mass=1, inertia=1, at=(0, 0)), m.body("b", mass=1, inertia=1, at=(2, 0))
    m.user_force("wind", lambda a, b: ((7.0, 0.0, 0.0), 0), a, b)
    m.user_force("twist", lambda a, b: ((0.0, 0.0, 3.0), 0), a, b)
    res = m.simulate(0.1, steps=3)
    wind, twist = vectors_of(m, res, ["wind", "twist"])
    assert (wind.kind, twist.kind) == ("force", "moment")
    np.testing.assert_allclose(wind.value, np.tile([7.0, 0.0], (4, 1)), rtol=1e-12)
    np.testing.assert_allclose(wind.foot[:, 0], res.array("a.x"), atol=1e-12)
    np.testing.assert_allclose(twist.value, 3.0, rtol=1e-12)


def test_inverse_dynamics_shows_its_efforts(tmp_path):
    m = kp.Mechanism("hoist", gravity=(0, -10.0), units="m, kg, s")
    arm = m.body("arm", mass=2.0, inertia=0.1, at=(1, 0))
    m.revolute("pin", m.ground, arm, at=(0, 0))
    m.driver("motor", arm.angle, 0.0)
    res = m.inverse_dynamics(1.0, steps=2)
    (effort,) = vectors_of(m, res, "motor.effort")
    assert effort.kind == "moment"
    np.testing.assert_allclose(effort.value, 20.0, rtol=1e-9)  # holds 2 kg at 1 m
    np.testing.assert_allclose(effort.foot, 0.0, atol=1e-12)
    (held,) = vectors_of(m, res, "pin.force")
    np.testing.assert_allclose(held.value, np.tile([0.0, 20.0], (3, 1)), atol=1e-9)
    assert view.save(res.draw(vectors=["motor", "pin"]), tmp_path / "hoist.png").exists()
