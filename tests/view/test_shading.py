"""What sticks is shaded behind the curves it holds; impacts stand on the time axis, as high as they are large."""

from __future__ import annotations

import numpy as np
import pytest
from rubbing import ball, belt
from test_report_page import CSS, asked, opened

import kempe as kp
from kempe.view.sticking import LEAST, STEM, held_by, sticking


@pytest.fixture(scope="module")
def dragged():
    m = belt()
    m.measure("stretch", kp.distance(m.ground.on((-1, 0)), m["block"]))
    return m.simulate(4.0)


@pytest.fixture(scope="module")
def stopped():
    """The belt stands still: the block swings out and stays where it stops."""
    m = belt(0.0)
    m.measure("stretch", kp.distance(m.ground.on((-1, 0)), m["block"]))
    return m.simulate(4.0, velocities={"block.vx": 2.0})


@pytest.fixture(scope="module")
def bounced():
    return ball(0.8).simulate(2.0)


def bands(axes):
    return [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches]


def test_the_curves_of_an_element_are_shaded_where_it_sticks(dragged):
    figure = dragged.plot(["block.x", "block.vx", "belt.slip", "spring.force"])
    for axes in figure.axes[:3]:
        np.testing.assert_allclose(bands(axes), dragged.intervals("belt"), atol=1e-14)
        assert "belt sticks" in [text.get_text() for text in axes.get_legend().get_texts()]
    assert bands(figure.axes[3]) == [] and figure.axes[3].get_legend() is None
    for options in ({"events": False}, {"x": "block.x"}, {"beside": {"again": dragged}}):
        assert not any(bands(axes) for axes in dragged.plot("block.vx", **options).axes)


def test_what_stands_still_while_something_sticks_is_held_by_it(dragged, stopped):
    held = {name: held_by(stopped, name, sticking(stopped)) for name in stopped.names}
    assert held["stretch"] == held["block.x"] == held["block.vx"] == held["belt.slip"] == ["belt"]
    assert not held["block.y"] and not held["guide.force"] and not held["spring.force"]
    assert held_by(dragged, "stretch", sticking(dragged)) == []  # the belt takes it along
    ((begin, end),) = bands(stopped.plot("stretch").axes[0])
    assert end == 4.0 and np.ptp(stopped.array("stretch")[stopped.t >= begin]) < 1e-9


def test_impulses_stand_on_the_time_axis(bounced):
    above, below = bounced.plot(["ball.y", "ball.vy"]).axes
    (marks,) = [line for line in below.lines if line.get_label() == "impulses"]
    np.testing.assert_array_equal(marks.get_xdata(), [impact.t for impact in bounced.impacts])
    np.testing.assert_allclose(marks.get_ydata(), LEAST + (STEM - LEAST) * 0.8 ** np.arange(len(bounced.impacts)))
    assert not [line for line in above.lines if line.get_label() == "impulses"]


def test_of_many_events_those_are_left_out_that_are_seen_anyway():
    often = ball(0.7).simulate(5.0)
    assert len(often.events) > 12
    for axes in often.plot(["ball.y", "ball.vy"]).axes:
        assert not [line for line in axes.lines if line.get_linestyle() == "--"]


def test_the_report_shows_them_too(browser, dragged, bounced, tmp_path):
    page = opened(browser, dragged.report(tmp_path / "belt.html", plots=["block.vx", "spring.force"]))
    shown = page.find_elements(CSS, "[data-stuck=belt]")
    assert len(shown) == len(dragged.intervals("belt"))
    plot = "report.charts.plots[0]"
    times = [[asked(page, f"{plot}.back({float(band.get_attribute('x')) + add})")
              for add in (0.0, float(band.get_attribute("width")))] for band in shown]  # fmt: skip
    np.testing.assert_allclose(times, dragged.intervals("belt"), atol=1e-6)
    assert asked(page, f"{plot}.stuck(0.2).join()") == "belt" and asked(page, f"{plot}.stuck(0.6).join()") == ""
    assert page.find_element(CSS, "#panels .keys").text.count("belt sticks") == 1
    page = opened(browser, bounced.report(tmp_path / "ball.html", plots=["ball.vy"]))
    stems = [float(each.get_attribute("data-impact")) for each in page.find_elements(CSS, "[data-impact]")]
    np.testing.assert_allclose(stems, [impact.t for impact in bounced.impacts])
    assert len(page.find_elements(CSS, "#marks .hit")) == len(bounced.impacts)
    assert "floor.gap -15.946" in page.page_source and "energy lost" in page.page_source
