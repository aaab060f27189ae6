"""The report of an optimum: what is in the file, and what a browser shows of it."""

import sys
from pathlib import Path

import numpy as np
import pytest
from reading import Content, Tags

import kempe as kp
from kempe import view
from kempe.view.optimum_report import optimum_html

sys.path.insert(0, str(Path(__file__).parents[1] / "design"))
from closed_forms import HOCK_SCHITTKOWSKI

HOSTILE = "</script><img src=x onerror=alert(1)>"


def pendulum(name="pendulum"):
    m = kp.Mechanism(name, gravity=(0, -9.81))
    length = m.parameter("length", 0.5, bounds=(0.2, 2.0))
    arm = m.body("arm", mass=1.0, inertia=0.01, at=(length, 0))
    m.revolute("pin", m.ground, arm, on_i=(0, 0), on_j=(-length, 0))
    return m


@pytest.fixture(scope="module")
def motions():
    m = pendulum()
    return m.simulate(1.0), m.simulate(1.0, parameters={"length": 0.9})


@pytest.fixture(scope="module")
def optimum():
    return kp.solve_design(HOCK_SCHITTKOWSKI["71"].problem(), method="steepest-descent", name=HOSTILE)


def test_both_motions_are_in_the_page(optimum, motions):
    page = Content(optimum_html(optimum, motions))
    before, after = motions
    assert page.told["behind"] == 1 and [run["label"] for run in page.told["runs"]] == ["after", "before"]
    for run, result in zip(page.told["runs"], (after, before), strict=True):
        values = page.array(run["values"]["arm.angle"])
        assert np.array_equal(values, result.array("arm.angle").astype(np.float32))


def test_what_is_said_is_in_the_page(optimum, motions):
    tags = Tags(optimum_html(optimum, motions))
    assert HOSTILE in tags.text and "onerror" not in str(tags.tags)
    assert "'g1 >= 25': relaxing it by 1 % lowers 'f' by about 0.138" in tags.text
    assert "held by" in tags.text and "4.743" in tags.text


def test_a_report_needs_two_motions_of_one_mechanism(optimum, motions):
    with pytest.raises(kp.ModelError, match="two motions"):
        optimum.report("nowhere.html")
    other = kp.Mechanism("other")
    body = other.body("stone", mass=1.0, inertia=1.0)
    other.spring("coil", other.ground, body, on_i=(1, 0), on_j=(0, 0), stiffness=1.0, length=0.5)
    with pytest.raises(kp.ModelError, match="coordinates differ"):
        optimum.report("nowhere.html", results=(motions[0], other.simulate(0.1)))


def test_pictures_show_every_iteration(optimum, tmp_path):
    history = optimum.plot()
    objective, violation, parameters = history.axes[:3]
    assert len(objective.lines[0].get_xdata()) == len(optimum.history)
    assert objective.lines[0].get_ydata()[-1] == optimum.history[-1].objective
    assert len([line for line in parameters.lines if not line.get_label().startswith("_")]) == 4
    assert violation.get_yscale() == "log"
    changes = optimum.plot_changes()
    assert len(changes.axes[0].patches) == 2 * (1 + 4 + 2)
    for figure in (history, changes):
        assert view.save(figure, tmp_path / "p.png").stat().st_size > 1000


def test_a_browser_draws_one_over_the_other(browser, optimum, motions, tmp_path):
    path = optimum.report(tmp_path / "optimum.html", results=motions, plots=["arm.angle"])
    browser.get(path.as_uri())
    for _ in range(100):
        if browser.find_element("tag name", "body").get_attribute("data-ready"):
            break
    drawn = "return [...document.querySelectorAll('#picture .%s path')].map((p) => p.getAttribute('d'))"
    first = browser.execute_script(drawn % "behind")
    assert first and len(first) == len(browser.execute_script(drawn % "shapes"))
    browser.execute_script("report.player.go(report.run.t.length - 1)")
    last = browser.execute_script(drawn % "behind")
    assert last != first and last != browser.execute_script(drawn % "shapes")
    assert len(browser.find_elements("css selector", ".panel .curve.first")) == 1
    assert "Pale" in browser.find_element("id", "beside").text
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
