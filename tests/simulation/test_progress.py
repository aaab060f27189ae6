"""Progress of long work: silent where nobody looks on, shown in a terminal and in a notebook, told to functions."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import pytest

import kempe as kp
from kempe.simulation import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def pendulum() -> kp.Mechanism:
    m = kp.Mechanism("swing", gravity=(0, -9.81))
    length = m.parameter("length", 1.0)
    bob = m.body("bob", mass=1.0, inertia=0.1, at=(length, 0))
    m.revolute("pin", m.ground, bob, on_i=(0, 0), on_j=(-length, 0))
    return m


def driven() -> kp.Mechanism:
    m = pendulum()
    m.driver("motor", m["bob"].angle, kp.constant_speed(1.0))
    return m


@pytest.fixture
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run reports, and every bar shows at once."""
    monkeypatch.setattr("kempe.simulation.running.FIRST_CHUNK", 5)
    monkeypatch.setattr("kempe.simulation.running.LOOK_UP", 0.0)
    monkeypatch.setattr(sys.modules["kempe.analysis.kinematics"], "CHUNK", 10)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)


def works(progress) -> None:
    """Every analysis that reports."""
    m, d = pendulum(), driven()
    m.simulate([1.0, 2.0, 3.0], progress=progress)
    d.kinematics(1.0, progress=progress)
    d.inverse_dynamics(1.0, progress=progress)
    kp.run_many(m, {"length": [1.0, 1.5]}, ["bob.x"], 1.0, progress=progress)


def test_a_function_is_told_how_far_it_is(looks_often, capfd):
    seen: list[tuple[float, float]] = []
    works(lambda done, wanted: seen.append((done, wanted)))
    assert {wanted for _, wanted in seen} == {3.0, 201, 2}
    for end in (3.0, 201, 2):
        done = [d for d, wanted in seen if wanted == end]
        assert all(0 < d <= end for d in done)
    assert capfd.readouterr() == ("", "")


def test_nothing_is_shown_in_pipes_or_where_it_is_not_wanted(looks_often, capfd, monkeypatch):
    works(None)
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr(sys, "stderr", Terminal())
    works(False)
    assert sys.stderr.getvalue() == "" and capfd.readouterr().out == ""


def test_a_terminal_shows_a_bar_that_goes_away(looks_often, monkeypatch, capfd):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    pendulum().simulate(200.0)
    said = sys.stderr.getvalue()
    assert "'swing': simulate" in said and "%" in said
    assert said.rstrip().endswith("\x1b[2K")  # the line is taken away
    assert capfd.readouterr().out == ""


def test_short_work_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    pendulum().simulate(0.1)  # compiled by now
    monkeypatch.setattr(sys, "stderr", Terminal())
    pendulum().simulate(0.1)
    assert sys.stderr.getvalue() == ""


def test_a_notebook_shows_a_bar_that_goes_away(looks_often, monkeypatch):
    pages: list[dict[str, str]] = []
    handle = SimpleNamespace(update=lambda page, raw: pages.append(page))

    def display(page, raw, display_id):
        pages.append(page)
        return handle

    shown = SimpleNamespace(display=display)
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell, display=shown))
    monkeypatch.setitem(sys.modules, "IPython.display", shown)
    pendulum().simulate(200.0)
    assert "<progress" in pages[0]["text/html"] and any("value=" in page["text/html"] for page in pages)
    assert pages[-1]["text/html"] == ""


def test_work_within_work_has_one_bar(looks_often, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.reporting(True, "outer") as outer, progress.reporting(True, "inner") as inner:
        assert outer is not None and inner is None
    with progress.reporting(True, "later") as later:
        assert later is not None


@pytest.mark.parametrize("wrong", [5, "yes", 0.0])
def test_other_things_are_refused(wrong):
    for work in (lambda: pendulum().simulate(1.0, progress=wrong), lambda: driven().kinematics(1.0, progress=wrong)):
        with pytest.raises(kp.ModelError, match="progress must be None, True, False or a function"):
            work()
