"""Portraits of motions show the numbers of the motion, with the start-up left out, and all words within the picture."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import kempe as kp
from kempe import view

sys.path.insert(0, str(Path(__file__).parents[1] / "analysis"))
from oscillators import TURN, linear, loose_slider_crank, ueda


@pytest.fixture(scope="module")
def loose():
    m, period, velocities = loose_slider_crank(0.5e-3, 9.4e9)
    return m.simulate(6 * period, steps=6 * 300, velocities=velocities), period


@pytest.fixture(scope="module")
def swing():
    return linear(4.0, 0.1).simulate(20 * TURN, steps=20 * 50)


def inside(figure):
    """Every text of a figure lies inside it."""
    figure.draw_without_rendering()
    renderer, whole = figure._get_renderer(), figure.bbox
    legends = [text for axes in figure.axes if axes.get_legend() for text in axes.get_legend().get_texts()]
    labels = [t for axes in figure.axes for t in (axes.xaxis.label, axes.yaxis.label, *axes.texts)]
    for text in [*legends, *labels, *figure.texts]:
        box = text.get_window_extent(renderer)
        if text.get_text() and text.get_visible():
            assert whole.x0 - 1 <= box.x0 and box.x1 <= whole.x1 + 1, text
            assert whole.y0 - 1 <= box.y0 and box.y1 <= whole.y1 + 1, text
    return figure


def test_an_orbit_is_the_path_of_the_journal_heavy_where_it_presses(loose):
    res, period = loose
    (axes,) = inside(res.plot_orbit("B", skip=2 * period)).axes
    flight, contact = axes.collections
    begun = 2 * 300
    drawn = np.array([p for pieces in (flight, contact) for piece in pieces.get_segments() for p in piece])
    path = np.column_stack([res.array("B.x"), res.array("B.y")])[begun:]
    nearest = np.abs(drawn[None] - path[:, None]).max(axis=2).min(axis=1)
    assert nearest.max() < 1e-15
    far = [np.hypot(*np.array(pieces.get_segments()).reshape(-1, 2).T) for pieces in (flight, contact)]
    assert far[0].max() <= 0.5e-3 + 1e-9 and far[1].min() >= 0.5e-3 - 1e-9  # of a tolerance of 1e-8
    (circle,) = axes.patches
    assert circle.get_radius() == pytest.approx(0.5e-3) and circle.center == (0.0, 0.0)
    low, high = axes.get_xlim()
    assert (low, high) == axes.get_ylim() and axes.get_box_aspect() == 1.0


def test_an_orbit_knows_the_clearance_of_its_own_run():
    m = kp.Mechanism("loose pendulum", gravity=(0, -9.81))
    play = m.parameter("play", 1e-3)
    bob = m.body("bob", 1.0, 0.01, at=(0.1, 0))
    law = kp.HuntCrossley(0.5, 1e9)
    m.revolute("pin", m.ground, bob, on_i=(0, 0), on_j=(-0.1, 0), clearance=play, bearing_radius=0.01, contact=law)
    res = m.simulate(0.02, steps=40, parameters={"play": 2e-3})
    (circle,) = res.plot_orbit("pin").axes[0].patches
    assert circle.get_radius() == pytest.approx(2e-3)


@pytest.mark.parametrize("how", ["backlash", "film"])
def test_journals_with_backlash_and_in_films_have_orbits_too(how):
    m = kp.Mechanism("pendulum", gravity=(0, -9.81))
    bob = m.body("bob", 1.0, 0.01, at=(0.1, 0))
    play = {"clearance": 1e-3, "contact": kp.ShortBearing(0.1, 0.02), "bearing_radius": 0.01}
    play = {"backlash": 1e-3, "restitution": 0.5} if how == "backlash" else play
    m.revolute("pin", m.ground, bob, on_i=(0, 0), on_j=(-0.1, 0), **play)
    res = m.simulate(0.05, steps=100, tolerance=1e-10)
    (axes,) = inside(res.plot_orbit("pin")).axes
    (circle,) = axes.patches
    assert circle.get_radius() == pytest.approx(1e-3)
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert ("film" in words) == (how == "film") and "play" in words
    places = np.concatenate([piece for pieces in axes.collections for piece in pieces.get_segments()])
    assert np.hypot(*places.T).max() <= 1e-3 * (1 + 1e-6)


def test_a_phase_portrait_is_a_coordinate_and_its_rate(swing):
    (axes,) = inside(swing.plot_phase("x", skip=10 * TURN, period=TURN)).axes
    curve, points = axes.lines
    np.testing.assert_array_equal(curve.get_xdata(), swing.array("x")[500:])
    np.testing.assert_array_equal(curve.get_ydata(), swing.array("x.v")[500:])
    np.testing.assert_array_equal(points.get_xdata(), swing.array("x")[500::50])
    (axes,) = inside(swing.plot_phase(["x", "energy.kinetic"])).axes
    assert axes.get_ylabel() == "energy.kinetic"


def test_a_map_shows_its_points(swing):
    points = swing.poincare("x", TURN, skip=5 * TURN)
    (axes,) = inside(points.plot()).axes
    (line,) = axes.lines
    np.testing.assert_array_equal(line.get_xdata(), points["x"])
    np.testing.assert_array_equal(line.get_ydata(), points["x.v"])


def test_a_map_of_one_point_is_not_a_cloud_of_rounding():
    res = linear(4.0, 1.0).simulate(60 * TURN, steps=60, tolerance=1e-12)
    (axes,) = inside(res.poincare("x", TURN, skip=40 * TURN).plot()).axes
    low, high = axes.get_xlim()
    assert np.ptp(axes.lines[0].get_xdata()) < 1e-3 * (high - low)


def test_exponents_and_horizons_are_shown_with_what_was_found():
    found = ueda().lyapunov(TURN, 40)
    (axes,) = inside(found.plot()).axes
    np.testing.assert_allclose(axes.lines[1].get_ydata()[-1], found.per_period)
    known = ueda().horizon(40 * TURN, steps=40 * 20)
    (axes,) = inside(known.plot()).axes
    assert len(axes.lines) == 3 and "tolerance 1e-10" in [line.get_label() for line in axes.lines]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda loose, swing: loose.plot_orbit("C"), "'C' is no revolute joint with play"),
        (lambda loose, swing: swing.plot_orbit("B"), "no revolute joint with play in this result"),
        (lambda loose, swing: swing.plot_phase(["x", "x.v", "x.a"]), "two quantities"),
        (lambda loose, swing: swing.plot_phase("x", skip=-1), "skip must be a time"),
        (lambda loose, swing: view.plot_phase(swing, "y"), "no quantity 'y'"),
        (lambda loose, swing: swing.plot_phase("x", skpi=1), "did you mean skip"),
    ],
)
def test_nonsense_is_refused(call, words, loose, swing):
    with pytest.raises(kp.ModelError, match=words):
        call(loose[0], swing)
