"""The motions and measures of the benchmark of accuracy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kempe as kp
from kempe.benchmarks import accuracy

PAGE = Path(__file__).parents[2] / "docs" / "accuracy.md"


def test_the_pendulum_obeys_its_equation():
    """The energy of Jacobi's motion is that of the start, and its velocity is its rate."""
    amplitude, frequency = 2.0, 3.0
    t, h = np.linspace(0.0, 5.0, 401), 1e-6
    swing, rate = accuracy.pendulum_motion(amplitude, frequency, t)
    assert swing[0] == pytest.approx(amplitude) and rate[0] == pytest.approx(0.0, abs=1e-12)
    energy = rate**2 / 2 - frequency**2 * np.cos(swing)
    assert np.abs(energy - energy[0]).max() < 1e-12
    ahead, behind = (accuracy.pendulum_motion(amplitude, frequency, t + s)[0] for s in (h, -h))
    assert np.abs((ahead - behind) / (2 * h) - rate).max() < 1e-8


def test_truths_from_elsewhere_are_those_of_kempe():
    for problem in (accuracy.pendulum(), accuracy.double_pendulum()):
        assert accuracy.known(problem).doubt < 1e-11


def test_an_error_is_told_in_sizes_and_in_rates():
    case = accuracy.known(accuracy.pendulum())
    size, rate = case.unit[0], np.abs(case.v / case.unit).max()
    q, v = case.q.copy(), case.v.copy()
    q[5, 1] += 1e-3 * size
    v[7, 2] -= 3e-3 * rate
    assert case.error(q, case.v) == pytest.approx(1e-3)
    assert case.error(case.q, v) == pytest.approx(3e-3)


def test_a_smaller_tolerance_is_a_smaller_error_until_time_is_up():
    case = accuracy.known(accuracy.double_pendulum())
    loose, tight = (accuracy.sample(case, "auto", tolerance) for tolerance in (1e-4, 1e-10))
    assert isinstance(loose, accuracy.Sample) and isinstance(tight, accuracy.Sample)
    assert tight.error < 1e-3 * loose.error and tight.steps > loose.steps
    assert accuracy.sample(case, "alpha", 1e-10, budget=0.0) == "takes too long"


def test_both_swings_repeat_after_their_period():
    for swing in (accuracy.swinging_pendulum(), accuracy.double_parallelogram()):
        result = swing.model.simulate(swing.period, steps=4, tolerance=1e-10, velocities=swing.velocities)
        turned = result.q[-1] - result.q[0]
        assert np.abs(np.sin(turned / 2)).max() < 1e-6  # whole turns are no movement
        assert np.abs(result.v[-1] - result.v[0]).max() < 1e-5


def test_the_page_has_every_method():
    """Tables of methods that have gone, or that lack a new one, are out of date."""
    tables = PAGE.read_text().split("<!--")[1]
    listed = [line.split("`")[1] for line in tables.splitlines() if line.startswith("| `")]
    assert listed == [*kp.METHODS] * 3


def test_tables_say_what_was_not_reached(monkeypatch):
    """A cell has figures, or says that motions stopped, or is a dash where the time was up."""
    rows = [
        accuracy.Row("auto", 1e-4, 2.0, 30.0, 40.0, ()),
        accuracy.Row("auto", 1e-6, None, None, None, ("four-bar 0: it stops", "tree 2: it stops")),
        accuracy.Row("auto", 1e-8, None, None, None, ("pendulum: takes too long",)),
    ]
    drifts = [accuracy.Drift("pendulum", "auto", 12.0, 1e-5, 30.0, "leaves its branch before t = 3")]
    case = accuracy.known(accuracy.pendulum())
    monkeypatch.setattr(accuracy, "measured", lambda: accuracy.Report([case], rows, drifts))
    lines = accuracy.markdown().splitlines()
    assert "| `auto` | 2 / 30 | 2 stop | - | - | - |" in lines
    assert "| `auto` | 40 | - | - | - | - |" in lines
    assert "| `auto` | 1.0e-05 in 12 periods; leaves its branch |" in lines
    named = {record.quantity: record for record in accuracy.records()}
    assert named["auto at 0.0001: global error over tolerance, largest"].ratio == pytest.approx(100 / 30)
    assert "leaves its branch" in named["auto: drift of energy, pendulum"].conditions
