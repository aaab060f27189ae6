"""The page of a report in a real browser: every control, and that what is seen is what was computed."""

import csv
import json
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from test_report import HOSTILE, equations, slider_crank

import kempe as kp
from kempe.view.geometry import drawing_of
from kempe.view.report_data import picture_of
from kempe.view.shapes import shapes_of

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import antiparallelogram
import disk_cam
import geneva_wheel
import jansen_leg
import modes_of_a_frame
import planetary_gear
import rack_steering

CSS = By.CSS_SELECTOR


def opened(browser, path):
    """The page, loaded, without a word of complaint or a request for anything but itself."""
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(Path(path).resolve().as_uri())
    wait(lambda: browser.execute_script("return document.body.dataset.ready == 'yes'"))
    quiet(browser)
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"}
    # `chrome:` is the browser loading pieces of its own windows, which happens whenever it likes.
    assert {u for u in urls if not u.startswith(("data:", "blob:", "chrome:"))} == {Path(path).resolve().as_uri()}
    return browser


def quiet(browser):
    """Nothing was complained about; that it paints without a graphics card is the browser's own affair."""
    said = [entry for entry in browser.get_log("browser") if entry["level"] not in ("INFO", "DEBUG")]
    assert not [entry for entry in said if "GPU stall due to ReadPixels" not in entry["message"]]


def wait(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.03)


def asked(page, expression):
    return page.execute_script(f"return {expression}")


def row(page):
    return asked(page, "report.player.row")


def press(page, *keys):
    ActionChains(page).send_keys(*keys).perform()


def click(page, selector):
    element = page.find_element(CSS, selector)
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def pick(page, search, words, name):
    """Choose something in a search box, with the pointer."""
    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", search)
    search.find_element(CSS, "input").send_keys(words)
    choices = [li for li in search.find_elements(CSS, "li[data-name]") if li.get_attribute("data-name") == name]
    choices[0].click()


def drag(page, plot, begin, end, shift=False):
    """Hold the pointer down from one share of a plot's width to another."""
    box = page.execute_script(
        "arguments[0].scrollIntoView({block: 'center'}); const b = arguments[0].getBoundingClientRect();"
        "return [b.left + EDGE.left, b.right - EDGE.right, b.top + 60]", plot
    )  # fmt: skip
    at = [round(box[0] + share * (box[1] - box[0])) for share in (begin, end)]
    chain = ActionChains(page)
    if shift:
        chain.key_down(Keys.SHIFT)
    pointer = chain.w3c_actions.pointer_action
    pointer.move_to_location(at[0], round(box[2])).pointer_down()
    pointer.move_to_location(at[1], round(box[2])).pointer_up()
    chain.perform()
    if shift:
        ActionChains(page).key_up(Keys.SHIFT).perform()


def number(text):
    return float(text.replace("\u2212", "-").removeprefix("t = "))


@pytest.fixture(scope="module")
def leg(tmp_path_factory):
    result = jansen_leg.build().kinematics(np.linspace(0, 2 * np.pi, 721))
    path = tmp_path_factory.mktemp("leg") / "leg.html"
    return result.report(path, traces=["foot"], plots=["foot.x", "knee.x", "foot.vy"]), result


@pytest.fixture(scope="module")
def drop(tmp_path_factory):
    model = slider_crank("drop", driven=False)
    model.bump_stop("stop", model["slider"].x, 0.35, 5000)
    model.torque("brake", model["crank"], 1.5)
    result = model.simulate(1.0, velocities={"crank.omega": 8.0})
    assert result.events
    return result.report(tmp_path_factory.mktemp("drop") / "drop.html", plots=["slider.x", "B.force"]), result


# --- the drawing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", [jansen_leg, disk_cam, geneva_wheel, planetary_gear, rack_steering])
def test_every_stroke_is_where_the_picture_has_it(browser, example, tmp_path):
    model = example.build()
    result = model.kinematics(np.linspace(0, example.TIMES[-1], 41), **example.OPTIONS)
    page = opened(browser, result.report(tmp_path / "x.html"))
    drawing = drawing_of(model, result.q)
    unit = float(np.ptp(drawing.points[0], axis=0).max()) / 440.0
    shapes = shapes_of(drawing, unit)
    assert len(shapes) == len(picture_of(drawing)["shapes"]) == asked(page, "report.mechanism.drawn.length")
    scale = asked(page, "report.mechanism.scale")
    for frame in (0, 17, 40):
        page.execute_script("report.player.go(arguments[0])", frame)
        paths = asked(page, "report.mechanism.drawn.map(([element]) => element.getAttribute('d'))")
        origin = np.array(asked(page, "report.mechanism.pixel(0, 0)"))
        for shape, path in zip(shapes, paths, strict=True):
            where = shape.where(drawing.points[frame], 4 / 3 / scale)
            where = where[np.isfinite(where).all(axis=1)] * scale * (1, -1) + origin
            if shape.kind != "marks":
                drawn = np.array([[float(x) for x in p.split()] for p in path.strip("MZ").replace("M", "L").split("L")])
                assert np.abs(drawn - where).max() < 0.02, shape
            else:  # the path of a mark begins on its left, of a square at its upper left corner
                marks = [re.split("[ah]", mark)[0].split() for mark in path.strip("M").split("M")]
                half = shape.size * 2 / 3
                drawn = np.array(marks, dtype=float) + np.array([half, half * (shape.mark == "s")])
                assert np.abs(drawn - where).max() < 0.02, shape


def test_names_and_paths_can_be_switched(browser, leg):
    page = opened(browser, leg[0])
    names = lambda: {t.text for t in page.find_elements(CSS, "text.name") if t.is_displayed()}  # noqa: E731
    assert set("bcdefghijkm") | {"foot", "knee"} <= names()
    click(page, "#names")
    assert not names()
    click(page, "#names")
    assert "foot" in names()
    boxes = page.find_elements(CSS, "[data-trace]")
    assert [box.get_attribute("data-trace") for box in boxes if box.is_selected()] == ["foot"]
    paths = lambda: [p.get_attribute("data-path") for p in page.find_elements(CSS, "[data-path]")]  # noqa: E731
    assert paths() == ["foot"]
    click(page, '[data-trace="foot"]')
    assert paths() == []
    click(page, '[data-trace="knee"]')
    assert paths() == ["knee"]
    page.execute_script("report.player.go(99)")
    result = leg[1]
    dot = page.find_element(CSS, '[data-dot="knee"]')
    there = [float(dot.get_attribute(c)) for c in ("cx", "cy")]
    at = [float(result.array(f"knee.{c}")[99]) for c in "xy"]
    assert np.allclose(there, page.execute_script("return report.mechanism.pixel(...arguments)", *at), atol=0.01)


def test_zoom_and_fit(browser, leg):
    page = opened(browser, leg[0])
    before = asked(page, "report.mechanism.scale")
    click(page, "#closer")
    click(page, "#closer")
    assert np.isclose(asked(page, "report.mechanism.scale"), 1.4**2 * before)
    click(page, "#farther")
    assert np.isclose(asked(page, "report.mechanism.scale"), 1.4 * before)
    svg = page.find_element(CSS, "#picture svg")
    ActionChains(page).drag_and_drop_by_offset(svg, 50, 30).perform()
    assert np.allclose(asked(page, "report.mechanism.shift"), [50, 30], atol=1)
    click(page, "#fit")
    assert asked(page, "[report.mechanism.scale, ...report.mechanism.shift]") == [before, 0, 0]


def test_the_pointer_tells_where_a_point_is(browser, leg):
    page, result = opened(browser, leg[0]), leg[1]
    x, y = (float(result.array(f"foot.{c}")[0]) for c in "xy")
    script = """const b = report.mechanism.svg.getBoundingClientRect(), [x, y] = report.mechanism.pixel(...arguments)
    return [b.left + x, b.top + y]"""
    at = page.execute_script(script, x, y)
    chain = ActionChains(page)
    chain.w3c_actions.pointer_action.move_to_location(*map(round, at))
    chain.perform()
    said = page.find_element(CSS, "#tip").text.split()
    assert said[0] == "foot" and np.allclose([number(said[2]), number(said[4])], [x, y], rtol=1e-4)


def test_arrows_of_forces_are_to_scale(browser, drop):
    page, result = opened(browser, drop[0]), drop[1]
    assert not page.find_elements(CSS, "[data-force]") and not page.find_element(CSS, "#with-scale").is_displayed()
    click(page, "#reactions")
    k = int(np.argmax(result.reaction("B").magnitude))
    page.execute_script("report.player.go(arguments[0])", k)

    def shown():
        arrows = asked(
            page, "report.mechanism.arrows.shown.map(({load, x, y, tip}) => [load.name, tip[0] - x, y - tip[1]])"
        )
        return {name: np.array(rest) for name, *rest in arrows}

    first = shown()
    assert set(first) == {"O", "A", "B", "guide"}
    force = {name: result.reaction(name).force[k] for name in first}
    pixels = np.linalg.norm(first["B"]) / np.linalg.norm(force["B"])
    for name in first:
        assert np.allclose(first[name], pixels * force[name], atol=1e-3 * pixels * np.linalg.norm(force["B"]))
    legend = page.find_elements(CSS, '[data-force="scale"]')
    length = float(page.execute_script("return arguments[0].getTotalLength()", legend[0])) + 10
    text = page.find_elements(CSS, "text.title")
    stands_for = number(
        next(t.text for t in text if t.find_element(By.XPATH, "..").tag_name == "g" and t.text and t.text != "t")
    )
    assert np.isclose(length, pixels * stands_for, rtol=0.02)
    page.execute_script("const s = document.getElementById('scale'); s.value = 1; s.dispatchEvent(new Event('input'))")
    assert np.allclose(shown()["B"], 2 * first["B"])
    click(page, "#loads")
    assert set(shown()) - {"stop"} == {"O", "A", "B", "guide", "coil", "brake"}
    click(page, "#reactions")
    assert "coil" in shown() and "B" not in shown()
    quiet(page)


# --- the time --------------------------------------------------------------------------------------------------------


def test_keys_and_scrubbing(browser, leg):
    page, result = opened(browser, leg[0]), leg[1]
    assert row(page) == 0
    press(page, Keys.ARROW_RIGHT * 5)
    assert row(page) == 5
    press(page, Keys.ARROW_LEFT)
    assert row(page) == 4
    ActionChains(page).key_down(Keys.SHIFT).send_keys(Keys.ARROW_RIGHT).key_up(Keys.SHIFT).perform()
    assert row(page) == 14
    press(page, Keys.END)
    assert row(page) == 720
    press(page, Keys.HOME)
    assert row(page) == 0
    click(page, "#ahead")
    click(page, "#ahead")
    click(page, "#back")
    assert row(page) == 1
    slider = page.find_element(By.ID, "frame")
    ActionChains(page).move_to_element(slider).click().perform()  # the middle of the bar
    assert 340 < row(page) < 380
    k = row(page)
    assert np.isclose(number(page.find_element(By.ID, "time").text), result.t[k], rtol=1e-4)
    shown = page.find_element(CSS, '[data-value="foot.x"]').text
    assert np.isclose(number(shown), result.array("foot.x")[k], rtol=1e-4)


def test_space_plays_and_pauses_whatever_was_clicked_before(browser, leg):
    page = opened(browser, leg[0])
    click(page, "#names")
    press(page, " ")
    wait(lambda: row(page) > 3)
    assert page.find_element(By.ID, "play").text == "Pause"
    first = row(page)
    wait(lambda: row(page) > first)
    press(page, " ")
    assert page.find_element(By.ID, "play").text == "Play"
    held = row(page)
    time.sleep(0.2)
    assert row(page) == held
    assert page.find_element(By.ID, "names").is_selected() is False  # the space bar did not switch it back
    click(page, "#play")
    wait(lambda: row(page) != held)
    click(page, "#play")
    page.execute_script("document.getElementById('speed').value = '4'; report.player.go(719)")
    click(page, "#play")
    wait(lambda: row(page) < 600)  # it begins again at the end
    click(page, "#play")


def test_events_are_marked_and_can_be_gone_to(browser, tmp_path):
    model = antiparallelogram.build()
    result = model.kinematics(antiparallelogram.TIMES, **antiparallelogram.OPTIONS)
    page = opened(browser, result.report(tmp_path / "flat.html"))
    click(page, "tr:nth-child(3) button.at")
    assert np.isclose(asked(page, "report.player.t[report.player.row]"), antiparallelogram.FLAT[2], atol=1e-9)
    marks = page.find_elements(CSS, "#marks [data-event]")
    assert np.allclose([float(m.get_attribute("data-event")) for m in marks], antiparallelogram.FLAT, atol=1e-9)
    ActionChains(page).move_to_element(marks[1]).perform()
    assert result.events[1].message in page.find_element(By.ID, "tip").text
    marks[1].click()
    assert np.isclose(asked(page, "report.player.t[report.player.row]"), antiparallelogram.FLAT[1], atol=1e-9)
    lines = asked(page, "report.charts.plots[0].svg.querySelectorAll('[data-event]').length")
    assert lines == 4


# --- plots -----------------------------------------------------------------------------------------------------------


def test_curves_are_where_the_numbers_are(browser, leg):
    page, result = opened(browser, leg[0]), leg[1]
    plots = page.find_elements(CSS, ".panel")
    assert len(plots) == 2  # foot.x and knee.x share one
    for name in ("foot.x", "knee.x"):
        path = page.find_element(CSS, f'[data-curve="{name}"]').get_attribute("d")
        drawn = np.array([[float(x) for x in p.split()] for p in path.strip("M").split("L")])
        across, up = asked(page, "[report.charts.plots[0].across, report.charts.plots[0].up]")
        width = asked(page, "report.charts.plots[0].width")
        x = 58 + (result.t - across[0]) / (across[1] - across[0]) * (width - 72)
        y = 10 + (up[1] - result.array(name)) / (up[1] - up[0]) * (190 - 34)
        assert np.abs(drawn - np.column_stack([x, y])).max() < 0.02


def test_hovering_tells_values_and_dragging_sets_the_time(browser, leg):
    page, result = opened(browser, leg[0]), leg[1]
    plot = page.find_element(CSS, ".panel svg")
    drag(page, plot, 0.2, 0.6)
    across = asked(page, "report.charts.plots[0].across")
    wanted = across[0] + 0.6 * (across[1] - across[0])
    assert abs(result.t[row(page)] - wanted) < 0.03
    said = page.find_element(By.ID, "tip").text.split()
    k = row(page)
    told = dict(zip(said[::2], map(number, said[1::2]), strict=True))
    expected = {"t": result.t[k], "foot.x": result.array("foot.x")[k], "knee.x": result.array("knee.x")[k]}
    assert told.keys() == expected.keys() and np.allclose(list(told.values()), list(expected.values()), rtol=1e-4)


def test_a_stretch_of_time_can_be_enlarged(browser, leg):
    page = opened(browser, leg[0])
    plot = page.find_element(CSS, ".panel svg")
    whole = asked(page, "report.charts.plots.map((plot) => plot.across)")
    drag(page, plot, 0.25, 0.5, shift=True)
    low, high = whole[0]
    for across in asked(page, "report.charts.plots.map((plot) => plot.across)"):
        assert np.allclose(across, [low + 0.25 * (high - low), low + 0.5 * (high - low)], atol=0.02)
    assert row(page) == 0  # zooming does not move the time
    ActionChains(page).double_click(plot).perform()
    assert asked(page, "report.charts.plots.map((plot) => plot.across)") == whole


def test_plots_are_chosen_by_the_reader(browser, leg):
    page, result = opened(browser, leg[0]), leg[1]
    names = lambda: asked(page, "report.charts.plots.map((plot) => [plot.x, ...plot.names])")  # noqa: E731
    assert names() == [["t", "foot.x", "knee.x"], ["t", "foot.vy"]]
    pick(page, page.find_element(CSS, "#add .search"), "heel a", "heel.ay")
    assert names()[2] == ["t", "heel.ay"]
    pick(page, page.find_elements(CSS, ".panel .add")[1], "knee.vy", "knee.vy")
    assert names()[1] == ["t", "foot.vy", "knee.vy"]
    pick(page, page.find_elements(CSS, ".panel .over")[1], "foot.x", "foot.x")
    assert names()[1] == ["foot.x", "foot.vy", "knee.vy"]
    across = asked(page, "report.charts.plots[1].across")
    x = result.array("foot.x")
    assert np.isclose(across[1] - across[0], 1.02 * np.ptp(x), rtol=1e-5)
    drag(page, page.find_elements(CSS, ".panel svg")[1], 0.3, 0.7)  # the nearest point of a curve over another
    k = row(page)
    shown = page.find_elements(CSS, '[data-value="foot.vy"]')[0].text
    assert np.isclose(number(shown), result.array("foot.vy")[k], rtol=1e-4)
    click(page, '[aria-label="remove foot.vy"]')
    assert names()[1] == ["foot.x", "knee.vy"]
    click(page, ".panel:nth-child(3) [title='Remove this plot']")
    assert names() == [["t", "foot.x", "knee.x"], ["foot.x", "knee.vy"]]
    box = page.find_element(CSS, "#add input")
    box.send_keys("foot.ax", Keys.ARROW_DOWN, Keys.ENTER)
    assert names()[-1] == ["t", "foot.ax"]
    box.send_keys("no such thing")
    assert "nothing is called that" in page.find_element(CSS, "#add ul").text
    box.send_keys(Keys.ESCAPE)
    assert not page.find_element(CSS, "#add ul").is_displayed()
    assert all(
        len(set(colours)) == len(colours)
        for colours in asked(page, "report.charts.plots.map((p) => p.names.map((n) => p.colour(n)))")
    )
    quiet(page)


# --- what can be taken away ------------------------------------------------------------------------------------------


@pytest.fixture
def downloads(browser, tmp_path):
    folder = tmp_path / "downloads"
    folder.mkdir()
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})

    def fetched(act):
        before = set(folder.iterdir())
        act()
        done = lambda: [f for f in set(folder.iterdir()) - before if not f.name.endswith((".crdownload", ".tmp"))]  # noqa: E731
        wait(lambda: done() and done()[0].stat().st_size > 0)
        return done()[0]

    return fetched


def test_tables_are_those_of_the_result(browser, leg, downloads):
    page, result = opened(browser, leg[0]), leg[1]
    for button, names in (("#save-all", result.names), (".panel [title^='These']", ["foot.x", "knee.x"])):
        file = downloads(lambda button=button: click(page, button))
        head, *rows = csv.reader(file.read_text().splitlines())
        assert head == ["t", *names] and file.suffix == ".csv"
        table = np.array(rows, dtype=float)
        assert np.allclose(table[:, 0], result.t, rtol=1e-12)
        expected = np.column_stack([result.array(name) for name in names])
        assert np.allclose(table[:, 1:], expected, rtol=2e-7, atol=1e-30)


def test_pictures_stand_for_themselves(browser, leg, downloads, tmp_path):
    page = opened(browser, leg[0])
    for button in ("#stage-svg", ".panel [title$='SVG']"):
        file = downloads(lambda button=button: click(page, button))
        text = file.read_text()
        assert text.startswith("<svg") and "var(" not in text and "color-mix" not in text and "color(" not in text
    for button in ("#stage-png", ".panel [title$='PNG']"):
        file = downloads(lambda button=button: click(page, button))
        image = np.asarray(Image.open(file).convert("RGB"))
        assert image.shape[1] > 600 and len(np.unique(image.reshape(-1, 3), axis=0)) > 50


# --- families and modes ----------------------------------------------------------------------------------------------


def test_sliders_choose_among_designs(browser, tmp_path):
    model = slider_crank(driven=False)
    grid = {"rod length": [0.25, 0.35, 0.45, 0.3], "height": [0, 0, 0, 9]}  # the last cannot be assembled
    runs = kp.run_many(model, grid, "all", 0.5, steps=50, velocities={"crank.omega": 8.0})
    result = model.simulate(0.5, steps=50, velocities={"crank.omega": 8.0})
    page = opened(browser, result.report(tmp_path / "family.html", family=runs, plots=["slider.x"]))
    slider = page.find_element(CSS, "[data-parameter='rod length']")
    assert asked(page, "report.run.number") == 0 and not page.find_elements(CSS, ".curve.first")
    page.execute_script("report.player.go(20)")
    slider.send_keys(Keys.ARROW_RIGHT)
    assert asked(page, "report.run.parameters['rod length']") == 0.35 and row(page) == 20
    shown = number(page.find_element(CSS, '[data-value="slider.x"]').text)
    assert np.isclose(shown, runs["slider.x"][1, 20], rtol=1e-4) and len(page.find_elements(CSS, ".curve.first")) == 1
    page.find_element(CSS, "[data-parameter=height]").send_keys(Keys.END)
    assert runs.reasons[3] in page.find_element(By.ID, "design").text
    quiet(page)
    click(page, "#home")
    assert asked(page, "report.run.number") == 0 and row(page) == 0
    slider.send_keys(Keys.HOME)
    assert asked(page, "report.run.parameters['rod length']") == 0.25
    quiet(page)


def test_modes_are_chosen_and_go_round(browser, tmp_path):
    modes = modes_of_a_frame.build().modes(count=4)
    page = opened(browser, modes.report(tmp_path / "modes.html"))
    buttons = page.find_elements(CSS, ".modes button")
    assert [b.text for b in buttons] == [f"mode {k}: {h:.4g} Hz" for k, h in enumerate(modes.hertz)]
    page.execute_script("report.player.go(30)")
    buttons[2].click()
    assert asked(page, "report.run.number") == 2 and row(page) == 30  # the same phase
    assert buttons[2].get_attribute("aria-pressed") == "true"
    motion = modes.motion(2, frames=90)
    shown = asked(page, "report.run.values['beam 2.x'][30]")
    assert np.isclose(shown, motion.array("beam 2.x")[30], rtol=1e-5)


# --- the page as a whole ---------------------------------------------------------------------------------------------


def screen(page, width, height=900, dark=False):
    metrics = dict(width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    scheme = {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)


@pytest.fixture
def resizable(browser):
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_side_by_side_on_wide_screens_and_stacked_on_phones(resizable, leg):
    boxes = """[...document.querySelectorAll('#stage, #charts, #bar')].map((e) => {
      const b = e.getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom] })"""
    for width in (1600, 390):
        screen(resizable, width)
        page = opened(resizable, leg[0])
        wait(lambda limit=width: asked(resizable, "document.documentElement.scrollWidth") <= limit)
        stage, charts, bar = asked(page, boxes)
        assert bar[3] <= 901 and bar[1] - bar[0] <= width
        assert (stage[1] <= charts[0]) if width == 1600 else (stage[3] <= charts[2])
        corner = asked(page, "[report.mechanism.pixel(0, 0), report.mechanism.pixel(1, 1)]")
        assert np.isclose(corner[1][0] - corner[0][0], corner[0][1] - corner[1][1])  # equal axes
    quiet(resizable)


def test_dark_follows_the_system_and_can_be_switched(resizable, leg):
    back = "getComputedStyle(document.body).backgroundColor"
    light = lambda page: sum(map(int, asked(page, back)[4:-1].split(","))) > 600  # noqa: E731
    screen(resizable, 1280, dark=True)
    page = opened(resizable, leg[0])
    assert not light(page)
    click(page, "#theme")
    assert light(page)
    click(page, "#theme")
    assert not light(page)
    screen(resizable, 1280)
    wait(lambda: light(page))


def test_hostile_names_are_shown_and_do_nothing(browser, tmp_path):
    rod = HOSTILE + ' $$x$$ [[1]] "quoted" '
    model = slider_crank(HOSTILE, rod.strip())
    rod = rod.strip()
    page = opened(browser, model.kinematics(1.0).report(tmp_path / "x.html", traces=[rod], plots=[f"{rod}.x"]))
    assert page.title == HOSTILE and page.find_element(By.TAG_NAME, "h1").text == HOSTILE
    assert rod in page.find_element(By.ID, "traces").text
    assert f"{rod}.x" in page.find_element(CSS, ".keys").text
    assert not page.find_elements(By.TAG_NAME, "img")
    press(page, Keys.ARROW_RIGHT)
    assert row(page) == 1  # an open alert would have raised


def test_a_notebook_shows_the_page_itself(browser, leg, tmp_path):
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!DOCTYPE html><body>{leg[0]._repr_html_()}</body>", encoding="utf-8")
    browser.get(notebook.as_uri())
    browser.switch_to.frame(0)
    try:
        wait(lambda: asked(browser, "document.body.dataset.ready == 'yes'"))
        click(browser, "#ahead")
        assert row(browser) == 1
    finally:
        browser.switch_to.default_content()
    quiet(browser)


def test_equations_have_plots_and_a_cursor(browser, tmp_path):
    model = equations(1.0)
    result = model.kinematics(np.arange(0, 12, 0.06), on_singular="cross", branch=1)
    page = opened(browser, result.report(tmp_path / "equations.html"))
    press(page, Keys.ARROW_RIGHT * 3)
    assert row(page) == 3 and not page.find_element(By.ID, "stage").is_displayed()
    assert page.find_element(By.ID, "charts").is_displayed()


def test_one_frame_and_none_open(browser, tmp_path):
    model = slider_crank()
    result = model.kinematics([0.25])
    page = opened(browser, result.report(tmp_path / "one.html"))
    assert page.find_element(By.ID, "stage").is_displayed() and not page.find_element(By.ID, "bar").is_displayed()
    empty = kp.Result(result.t[:0], result.q[:0], result.v[:0], result.a[:0], result.columns, False, "lock-up", "stuck")
    empty.model = model
    page = opened(browser, empty.report(tmp_path / "none.html"))
    assert "stuck" in page.find_element(CSS, ".top").text and not page.find_element(By.ID, "stage").is_displayed()
