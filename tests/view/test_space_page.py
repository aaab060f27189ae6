"""The page of a mechanism in space in a real browser: what is seen is where it was computed, and can be turned."""

import time

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from test_report_page import asked, click, opened, press, quiet, wait
from test_space import platform

import kempe as kp

CSS = By.CSS_SELECTOR
#: The colours (red, green, blue) around a pixel of the picture, drawn at this moment.
AROUND = """
const [px, py, reach] = arguments, space = report.mechanism, {gl} = space.light
const sharp = space.canvas.width / space.width
space.show(space.row)
const side = 2 * reach + 1, found = new Uint8Array(4 * side * side)
const corner = [Math.round(px * sharp) - reach, space.canvas.height - Math.round(py * sharp) - reach]
gl.readPixels(...corner, side, side, gl.RGBA, gl.UNSIGNED_BYTE, found)
return Array.from(found)
"""


@pytest.fixture(scope="module")
def result():
    return platform().simulate(np.linspace(0.0, 0.5, 41))


@pytest.fixture(scope="module")
def path(result, tmp_path_factory):
    return result.report(tmp_path_factory.mktemp("space") / "bench.html", traces=["bob"])


@pytest.fixture
def page(browser, path):
    return opened(browser, path)


def around(page, pixel, reach=3):
    return np.array(page.execute_script(AROUND, *pixel[:2], reach)).reshape(-1, 4)


def test_points_are_where_the_solution_has_them_in_every_row(page, result):
    for name in ("plate", "rod", "bob"):
        for row in (0, 13, 40):
            where = asked(page, f"report.mechanism.place(report.mechanism.picture.traces['{name}'], {row})")
            assert where == pytest.approx([result.array(f"{name}.{c}")[row] for c in "xyz"], abs=1e-6)


def test_solids_are_painted_where_their_points_are(page):
    """The middle of the rod has its colour on the picture, from three sides, and nothing is painted far away."""
    hue = np.array([int(asked(page, "report.mechanism.colour('rod')")[k : k + 2], 16) for k in (1, 3, 5)])
    for view in ([-58, 26], [-90, 0], [20, 40]):
        page.execute_script(f"report.mechanism.eye.fit({view}); report.player.go(20)")
        seen = around(page, asked(page, "report.mechanism.at(report.mechanism.picture.traces.rod)"), 6)
        solid = seen[seen[:, 3] == 255][:, :3] / 255.0
        shades = solid / solid.max(axis=1, keepdims=True)
        assert (np.abs(shades - hue / hue.max()).max(axis=1) < 0.2).any()
        assert (around(page, [3, 3])[:, 3] == 0).all()
    quiet(page)


def test_everything_is_in_the_picture_from_every_side(page):
    for view in ([-58, 26], [-90, 0], [0, 0], [-90, 90], [140, -35]):
        page.execute_script(f"report.mechanism.eye.fit({view}); report.mechanism.show(0)")
        at = np.array(asked(page, "report.mechanism.picture.corners.map((c) => report.mechanism.pixel(c))"))
        width, height = asked(page, "[report.mechanism.width, report.mechanism.height]")
        assert (at[:, 2] > 0).all() and (at[:, :2] > 0).all() and (at[:, :2] < [width, height]).all()
        middle = (at[:, :2].min(axis=0) + at[:, :2].max(axis=0)) / 2
        assert middle == pytest.approx([width / 2, height / 2], abs=0.02 * width)


def test_the_pointer_turns_moves_and_zooms(page):
    canvas = page.find_element(CSS, "#picture canvas")
    before = asked(page, "[report.mechanism.eye.azimuth, report.mechanism.eye.elevation]")
    ActionChains(page).move_to_element(canvas).click_and_hold().move_by_offset(80, 40).release().perform()
    after = asked(page, "[report.mechanism.eye.azimuth, report.mechanism.eye.elevation]")
    assert after == pytest.approx([before[0] - 0.5, before[1] + 0.25], abs=0.02)
    held = asked(page, "report.mechanism.place(report.mechanism.picture.traces.rod)")
    start = asked(page, f"report.mechanism.pixel({held})")
    drag = ActionChains(page).key_down(Keys.SHIFT).move_to_element(canvas).click_and_hold().move_by_offset(60, -30)
    drag.release().key_up(Keys.SHIFT).perform()
    time.sleep(0.3)
    assert np.subtract(asked(page, f"report.mechanism.pixel({held})"), start)[:2] == pytest.approx([60, -30], abs=12)
    zoom = asked(page, "report.mechanism.eye.zoom")
    page.execute_script(
        "report.mechanism.canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: -240, cancelable: true}))"
    )
    assert asked(page, "report.mechanism.eye.zoom") == pytest.approx(zoom * np.exp(0.4))
    press(page, "f")
    assert asked(page, "report.mechanism.eye.zoom") == 1


def test_keys_and_buttons_choose_the_view(page):
    click(page, "[data-view='[-90,90]']")
    assert asked(page, "report.mechanism.eye.axes") == [
        pytest.approx([1, 0, 0], abs=1e-9),
        pytest.approx([0, 1, 0], abs=1e-9),
        pytest.approx([0, 0, 1], abs=1e-9),
    ]
    page.find_element(CSS, "#picture canvas").click()
    before = asked(page, "report.mechanism.eye.azimuth")
    press(page, "d", "d", "a")
    assert asked(page, "report.mechanism.eye.azimuth") == pytest.approx(before + 0.1)
    press(page, " ")
    assert asked(page, "report.player.playing")
    press(page, " ")
    quiet(page)


def test_arrows_are_the_forces_of_the_result(page, result):
    click(page, "#reactions")
    page.execute_script("report.player.go(25)")
    shown = {a["load"]["name"]: a for a in asked(page, "report.mechanism.arrows.shown")}
    for name in ("O", "A", "B"):
        load = result.reaction(name)
        assert shown[name]["force"] == pytest.approx(load.force[25], rel=1e-5, abs=1e-4)
        assert shown[name]["moment"] == pytest.approx(load.moment[25], rel=1e-5, abs=1e-4)
        assert shown[name]["foot"] == pytest.approx(load.point[25], abs=1e-5)
    foot, force = shown["A"]["foot"], shown["A"]["force"]
    unit = asked(page, "report.mechanism.arrows.unit(report.mechanism, 'force')")
    tip = asked(page, f"report.mechanism.pixel({[f + 0.6 * unit * v for f, v in zip(foot, force, strict=True)]})")
    seen = around(page, tip, 4)
    assert (seen[:, 3] == 255).any()
    said = page.execute_script("return report.mechanism.arrows.near(...arguments[0])", tip[:2])
    assert said[0][1] == "spherical A on rod"
    click(page, "#reactions")
    assert not asked(page, "report.mechanism.arrows.shown.length")


def test_paths_are_drawn_and_switched(page):
    assert asked(page, "report.mechanism.lines.map(({name}) => name)") == ["bob"]
    click(page, "[data-trace=rod]")
    assert asked(page, "report.mechanism.lines.map(({name}) => name)") == ["bob", "rod"]
    at = asked(page, "report.mechanism.pixel(report.mechanism.place(report.mechanism.picture.traces.bob, 20))")
    assert (around(page, at)[:, 3] == 255).any()
    click(page, "[data-trace=rod]")


def test_names_stand_beside_their_parts(page):
    page.execute_script("report.mechanism.eye.fit(); report.player.go(0)")
    words = asked(page, "[...document.querySelectorAll('.names text')].map((text) => text.textContent)")
    assert {"plate", "rod", "bob"} <= set(words)


def test_dark_and_narrow(page):
    click(page, "#theme")
    wait(
        lambda: (
            asked(page, "report.mechanism.dark") == (asked(page, "document.documentElement.dataset.theme") == "dark")
        )
    )
    page.set_window_size(420, 800)
    wait(lambda: asked(page, "report.mechanism.width") < 420)
    assert asked(page, "report.mechanism.canvas.width / report.mechanism.width") >= 1
    page.set_window_size(1280, 900)
    quiet(page)


def test_the_graphics_card_may_forget(page):
    page.execute_script(
        "window.lost = report.mechanism.light.gl.getExtension('WEBGL_lose_context'); lost.loseContext()"
    )
    wait(lambda: asked(page, "report.mechanism.lost"))
    page.execute_script("report.player.go(3); lost.restoreContext()")
    wait(lambda: not asked(page, "report.mechanism.lost"))
    seen = around(page, asked(page, "report.mechanism.at(report.mechanism.picture.traces.rod)"), 6)
    assert (seen[:, 3] == 255).any()


def test_without_webgl_there_is_a_still(browser, path):
    script = "HTMLCanvasElement.prototype.getContext = (old => function (kind, ...rest) {\
        return kind == 'webgl2' ? null : old.call(this, kind, ...rest) })(HTMLCanvasElement.prototype.getContext)"
    told = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    try:
        page = opened(browser, path)
        assert asked(page, "byId('still').naturalWidth") > 300
        press(page, Keys.ARROW_RIGHT)
        assert asked(page, "report.player.row") == 1  # plots go on
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", told)


def test_an_animation_as_a_page_plays_by_itself(browser, result, tmp_path):
    page = opened(browser, result.animate(tmp_path / "bench.html", trace="bob", view="front", seconds=1.0))
    wait(lambda: asked(page, "report.player.row") > 3)
    assert asked(page, "report.mechanism.eye.azimuth") == pytest.approx(-np.pi / 2)
    assert asked(page, "document.querySelectorAll('.panel').length") == 0
    quiet(page)


def test_an_animation_keeps_still_for_who_wants_it_so(browser, result, tmp_path):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    try:
        page = opened(browser, result.animate(tmp_path / "bench.html"))
        time.sleep(0.4)
        assert not asked(page, "report.player.playing") and asked(page, "report.player.row") == 0
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_planar_motion_is_a_page_too(browser, tmp_path):
    m = kp.Mechanism("pendulum", gravity=(0, -9.81))
    m.revolute("O", m.ground, m.body("bob", mass=1.0, inertia=0.1, at=(1, 0)), at=(0, 0))
    page = opened(browser, m.simulate(1.0).animate(tmp_path / "pendulum.html", trace=["bob"]))
    wait(lambda: asked(page, "report.player.row") > 3)
    assert asked(page, "document.querySelectorAll('[data-path=bob]').length") == 1
