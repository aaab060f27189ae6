"""The HTML report: what is in the file, and what it does in a real browser."""

import json
import os
import re
import sys
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import kempe as kp
from kempe.view.report import report, report_html, thinned

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import antiparallelogram
import disk_cam
import jansen_leg

HOSTILE = "</script><img src=x onerror=alert(1)>"


def slider_crank(name="slider-crank", rod="rod"):
    m = kp.Mechanism(name)
    length = m.parameter("rod length", 0.3, bounds=(0.2, 0.5))
    crank, slider = m.body("crank"), m.body("slider", at=(0.4, 0.0))
    bar = m.body(rod, at=(0.25, 0.05), angle=-0.1)
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, bar, on_i=(0.1, 0), on_j=(-length / 2, 0))
    m.revolute("B", bar, slider, on_i=(length / 2, 0), on_j=(0, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0), at=(0, 0))
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


class Tags(HTMLParser):
    """The tags with their attributes and the text outside of scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self._inside = [], "", None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside not in ("script", "style"):
            self.text += data


# --- the file ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("example", [jansen_leg, disk_cam, antiparallelogram])
def test_file_is_small_and_refers_to_nothing_outside(example, tmp_path):
    model = example.build()
    result = model.kinematics(np.linspace(0, example.TIMES[-1], 5001), **example.OPTIONS)
    path = report(model, result, tmp_path / "new" / "report.html")
    assert path.stat().st_size < 3_000_000
    tags = Tags(path.read_text(encoding="utf-8"))
    assert not [a for _, a in tags.tags if "src" in a or "href" in a]
    assert model.name in tags.text and all(name in tags.text for name in [*model.parts, *model.elements])


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


def test_a_model_without_geometry_has_plots_and_tables_only():
    model = equations(0.5)
    result = model.kinematics(np.arange(0, 4, 0.06), on_singular="stop")
    page = Tags(report_html(model, result))
    assert result.status == "lock-up" and result.message in page.text
    assert "Mechanism" not in page.text and "Time plots" in page.text
    assert sum("data-curve" in a for _, a in page.tags) == 6  # three coordinates and their rates


def test_one_frame_and_none():
    model = slider_crank()
    one = Tags(report_html(model, model.kinematics([0.25])))
    assert next(a for tag, a in one.tags if tag == "button").keys() >= {"disabled"}
    result = model.kinematics([0.25])
    empty = kp.Result(result.t[:0], result.q[:0], result.v[:0], result.a[:0], result.columns, False, "lock-up", "stuck")
    page = Tags(report_html(model, empty))
    assert "stuck" in page.text and "Time plots" not in page.text and not [t for t, _ in page.tags if t == "script"]


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
    text = report_html(model, result)
    assert "NaN" not in text[text.rindex("docs_json") :] and "Infinity" not in text[text.rindex("docs_json") :]


def test_thinning_keeps_every_peak():
    t = np.linspace(0, 1, 100_000)
    values = np.sin(2 * np.pi * t)
    values[[31_234, 70_001]] = 5.0, -7.0
    points = thinned(t, values, 2000)
    assert len(points) <= 2000 and points[:, 1].max() == 5.0 and points[:, 1].min() == -7.0
    assert (np.diff(points[:, 0]) > 0).all() and points[0, 0] == 0 and points[-1, 0] == 1
    assert np.abs(np.interp(points[:, 0], t, values) - points[:, 1]).max() < 1e-12


# --- in a browser ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def leg(tmp_path_factory):
    model = jansen_leg.build()
    result = model.kinematics(np.linspace(0, 2 * np.pi, 721))
    path = tmp_path_factory.mktemp("leg") / "leg.html"
    return report(model, result, path, traces=["foot"], plots=["foot.x", "knee.x", "foot.vy"]), result


def opened(browser, path):
    """The page, loaded and without a word of complaint or a request for anything but itself."""
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(path.as_uri())
    wait(lambda: browser.execute_script("return document.body.dataset.ready == 'yes' && Bokeh.documents[0].is_idle"))
    complaints = [entry for entry in browser.get_log("browser") if entry["level"] not in ("INFO", "DEBUG")]
    assert not complaints
    sent = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    urls = {m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"}
    # `chrome:` is the browser loading pieces of its own windows, which happens whenever it likes.
    assert {url for url in urls if not url.startswith(("data:", "blob:", "chrome:"))} == {path.as_uri()}
    return browser


def wait(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def data(page, source, column):
    script = "return Array.from(Bokeh.documents[0].get_model_by_name(arguments[0]).data[arguments[1]], x => x)"
    return page.execute_script(script, source, column)


def times(page):
    return [float(x) for x in page.find_element(By.ID, "time").text.replace("\u2212", "-").removeprefix("t = ").split()]


def frame(page):
    return int(page.find_element(By.ID, "frame").get_property("value"))


def cursors(page):
    script = "return [...Bokeh.documents[0]._all_models.values()].filter(m => m.name == 'cursor').map(m => m.location)"
    return page.execute_script(script)


def row_shown(page, result):
    """The row of the result that the cursors stand at."""
    (moment,) = set(cursors(page))
    return int(np.argmin(np.abs(result.t - moment)))


def assert_drawn(page, result):
    """Bars, pins and the dot of the trace are where the result has them."""
    row, size = row_shown(page, result), 100.0
    at = {p: [result.array(f"{p}.{c}")[row] for c in "xy"] for p in ("foot", "knee", "heel", "hip", "top", "pin")}
    at |= {"centre": [0.0, 0.0], "pivot": [-38.0, -7.8]}
    dot = [data(page, "trace 0", c)[0] for c in "xy"]
    assert np.allclose(dot, at["foot"], rtol=0, atol=1e-6 * size)
    ends = np.stack([data(page, "bars", "xs"), data(page, "bars", "ys")], axis=-1)
    model = jansen_leg.build()
    bars = [[p.name for p in e.points] for e in model.elements.values() if e.kind == "rigid link"]
    assert ends.shape == (11, 2, 2)
    expected = np.array([[at[first], at[second]] for first, second in bars])
    assert np.allclose(ends, expected, rtol=0, atol=1e-6 * size)
    pins = sorted(zip(data(page, "pins", "x"), data(page, "pins", "y"), strict=True))
    assert np.allclose(pins, sorted(at.values()), rtol=0, atol=1e-6 * size)
    lengths = np.hypot(*(ends[:, 1] - ends[:, 0]).T)
    assert np.allclose(sorted(lengths), sorted(jansen_leg.LENGTH.values()), rtol=1e-6)


def test_scrubbing_moves_the_mechanism(browser, leg):
    path, result = leg
    page = opened(browser, path)
    slider = page.find_element(By.ID, "frame")
    assert frame(page) == 0
    assert_drawn(page, result)
    for keys, expected in ((Keys.ARROW_RIGHT * 5, 5), (Keys.END, 299), (Keys.HOME + Keys.ARROW_RIGHT, 1)):
        slider.send_keys(keys)
        assert frame(page) == expected
        assert_drawn(page, result)
    ActionChains(page).move_to_element(slider).click().perform()  # the middle of the bar
    assert 140 < frame(page) < 160
    assert_drawn(page, result)
    assert np.isclose(times(page)[0], result.t[row_shown(page, result)], rtol=1e-4)
    shown = page.find_element(By.CSS_SELECTOR, '[data-curve="0-0"]').text.replace("\u2212", "-")
    assert np.isclose(float(shown), result.array("foot.x")[row_shown(page, result)], rtol=1e-4)


def test_play_advances_and_pause_holds(browser, leg):
    path, result = leg
    page = opened(browser, path)
    play = page.find_element(By.ID, "play")
    play.click()
    assert play.text == "Pause"
    wait(lambda: frame(page) > 3)
    first = frame(page)
    wait(lambda: frame(page) > first)
    play.click()
    assert play.text == "Play"
    held = frame(page)
    time.sleep(0.3)
    assert frame(page) == held
    assert_drawn(page, result)
    page.find_element(By.CSS_SELECTOR, '#speed option[value="4"]').click()
    page.find_element(By.ID, "frame").send_keys(Keys.END + Keys.ARROW_LEFT)
    play.click()
    wait(lambda: frame(page) < 100)  # it begins again at the end
    play.click()


def test_traces_and_names_can_be_switched(browser, leg):
    page = opened(browser, leg[0])
    boxes = page.find_elements(By.CSS_SELECTOR, "[data-trace]")
    assert [box.is_selected() for box in boxes] == [True] + [False] * 5
    light = f"return {pixels_of('#56B4E9')}"  # the colour of the sixth point, the foot, and of bar d
    with_trace = page.execute_script(light)
    boxes[0].click()
    wait(lambda: page.execute_script(light) < with_trace - 100)
    boxes[0].click()
    wait(lambda: page.execute_script(light) == with_trace)
    names = page.find_element(By.ID, "names")
    shown = "return Bokeh.documents[0].get_model_by_name('names text').visible"
    assert page.execute_script(shown) and sorted(filter(None, data(page, "names", "text"))) == list("bcdefghijkm")
    names.click()
    assert not page.execute_script(shown)


def pixels_of(colour):
    """JavaScript that counts the pixels of about this colour in the first figure."""
    r, g, b = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    near = " && ".join(f"Math.abs(d[4 * k + {c}] - {v}) < 60" for c, v in enumerate((r, g, b)))
    return f"""(() => {{
      const view = Bokeh.index.get_by_id(Bokeh.documents[0].roots()[0].id)
      const canvas = view.canvas_view.primary.canvas
      const d = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data
      let n = 0
      for (let k = 0; k < d.length / 4; k++) if (d[4 * k + 3] > 100 && {near}) n++
      return n
    }})()"""


def test_clicking_in_a_plot_sets_the_time(browser, leg):
    path, result = leg
    page = opened(browser, path)
    plots = page.find_elements(By.CSS_SELECTOR, "div.keys + div")
    assert len(plots) == 2 == len(cursors(page))  # foot.x and knee.x share one
    for plot, share in ((plots[0], 0.25), (plots[1], 0.75)):
        page.execute_script("arguments[0].firstElementChild.scrollIntoView({block: 'center'})", plot)
        inside = page.execute_script(
            """const view = Bokeh.index.get_by_id(Bokeh.documents[0].roots()[arguments[0]].id)
            const box = view.frame.bbox, at = view.canvas_view.el.getBoundingClientRect()
            const x = box.left + arguments[1] * box.width
            return [at.left + x, at.top + box.top + box.height / 2, view.frame.x_scale.invert(x)]""",
            1 + plots.index(plot),
            share,
        )
        click = ActionChains(page)
        click.w3c_actions.pointer_action.move_to_location(round(inside[0]), round(inside[1])).click()
        click.perform()
        wait(lambda wanted=inside[2]: all(abs(moment - wanted) < 0.03 for moment in cursors(page)))
        assert_drawn(page, result)


def test_an_event_can_be_gone_to(browser, tmp_path):
    model = antiparallelogram.build()
    result = model.kinematics(antiparallelogram.TIMES, **antiparallelogram.OPTIONS)
    page = opened(browser, report(model, result, tmp_path / "flat.html"))
    page.find_elements(By.CSS_SELECTOR, "button.at")[2].click()
    assert np.allclose(cursors(page), antiparallelogram.FLAT[2], atol=1e-9)
    assert np.allclose(data(page, "bars", "ys"), 0.0, atol=1e-6)  # all bars lie on one line


def test_a_simulation_is_told(browser, tmp_path):
    model = kp.Mechanism("drop", gravity=(0, -9.81))
    ball = model.body("ball", mass=0.5, inertia=0.01, at=(0, 0.4))
    model.bump_stop("floor", ball.y, 0.0, 2000)
    result = model.simulate(1.0)
    path = report(model, result, tmp_path / "drop.html", plots=["ball.y", "floor.force", "energy"])
    page = opened(browser, path)
    heads = [head.text for head in page.find_elements(By.CSS_SELECTOR, "h2")]
    assert heads == ["Mechanism", "Time plots", "Energy", "Mobility", "Events", "Model", "Solver", "Run"]
    rows = page.find_elements(By.CSS_SELECTOR, "section table")[0].text.splitlines()
    assert [row.split()[0] for row in rows[1:]] == ["kinetic", "potential", "elastic", "total", "balance"]
    assert len(page.find_elements(By.CSS_SELECTOR, "div.keys")) == 3  # a panel each for y, force and energy
    page.find_elements(By.CSS_SELECTOR, "button.at")[1].click()
    assert np.allclose(cursors(page), result.events[1].t, atol=0.005)


def test_equal_axes_on_wide_and_narrow_windows(browser, leg):
    page = opened(browser, leg[0])
    try:
        for width in (1280, 390):
            page.execute_cdp_cmd(
                "Emulation.setDeviceMetricsOverride",
                dict(width=width, height=900, deviceScaleFactor=1, mobile=False),
            )
            wait(lambda limit=width: page.execute_script("return document.documentElement.scrollWidth") <= limit)
            wait(lambda: np.isclose(*page.execute_script(SCALES), rtol=0.01))
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


SCALES = """const f = Bokeh.documents[0].get_model_by_name("mechanism")
return [(f.x_range.end - f.x_range.start) / f.inner_width, (f.y_range.end - f.y_range.start) / f.inner_height]"""


def test_hostile_names_are_shown_and_do_nothing(browser, tmp_path):
    rod = HOSTILE + " $$x$$ [[1]]"
    model = slider_crank(HOSTILE, rod)
    page = opened(browser, report(model, model.kinematics(1.0), tmp_path / "x.html", traces=[rod], plots=[f"{rod}.x"]))
    assert page.title == HOSTILE and page.find_element(By.TAG_NAME, "h1").text == HOSTILE
    assert rod in page.find_element(By.CSS_SELECTOR, ".chips").text
    assert f"{rod}.x" in page.find_element(By.CSS_SELECTOR, ".keys").text
    assert not page.find_elements(By.TAG_NAME, "img")
    page.find_element(By.ID, "frame").send_keys(Keys.ARROW_RIGHT)
    assert frame(page) == 1  # an open alert would have raised


def test_equations_have_a_cursor_too(browser, tmp_path):
    model = equations(1.0)
    result = model.kinematics(np.arange(0, 12, 0.06), on_singular="cross", branch=1)
    page = opened(browser, report(model, result, tmp_path / "equations.html"))
    page.find_element(By.ID, "frame").send_keys(Keys.ARROW_RIGHT * 3)
    assert np.allclose(cursors(page), result.t[3])


def test_one_frame_opens(browser, tmp_path):
    model = slider_crank()
    page = opened(browser, report(model, model.kinematics([0.25]), tmp_path / "one.html"))
    assert not page.find_element(By.ID, "play").is_enabled() and times(page) == [0.25]
