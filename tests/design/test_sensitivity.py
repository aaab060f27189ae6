"""Where a guard only just reaches zero, or only just does not, a sensitivity says so."""

from __future__ import annotations

import numpy as np
import pytest

import kempe as kp


def oscillator(beyond: float) -> kp.Mechanism:
    """A mass that swings between 1 and -1 on a spring, past a stop that it meets ``beyond`` before its end."""
    m = kp.Mechanism("oscillator")
    k, mass = m.parameter("k", 4.0), m.parameter("mass", 1.0)
    body = m.body("body", mass=mass, inertia=1.0, at=(1.0, 0.0))
    m.translational("guide", m.ground, body, axis=(1, 0), at=(0, 0))
    m.spring("spring", m.ground.on((-10.0, 0.0)), body, stiffness=k, length=10.0)
    m.bump_stop("stop", body.x, -1.0 + beyond, stiffness=50.0, side="below")
    return m


@pytest.mark.parametrize(("beyond", "said"), [(1e-7, "only just reaches"), (-1e-7, "only just misses")])
def test_a_graze_is_told(beyond, said):
    m = oscillator(beyond)
    with pytest.warns(kp.AccuracyWarning, match=f"'stop' {said} its limit near t = 1.57"):
        found = m.sensitivity(2.0, kp.final("body.x"))
    assert said in str(found)


@pytest.mark.parametrize("beyond", [0.3, -0.3])
def test_what_is_clear_of_a_graze_is_not(beyond):
    found = oscillator(beyond).sensitivity(2.0, kp.final("body.x"), tolerance=1e-11)
    assert not found.warnings
    if beyond < 0:
        t = 2.0
        true = -np.sin(2.0 * t) * t / 4.0  # d cos(sqrt(k) t) / dk at k = 4
        assert found["final body.x"]["k"] == pytest.approx(true, rel=1e-9)


def test_a_tape_in_a_file_gives_the_same_gradient(monkeypatch):
    m = oscillator(0.3)
    asked = [kp.integral("body.x**2"), kp.final("body.vx")]
    here = m.sensitivity(3.0, asked, gradient="adjoint")
    monkeypatch.setattr("kempe.design.differentiating.MEMORY", 5000)
    filed = m.sensitivity(3.0, asked, gradient="adjoint")
    assert filed.gradients == here.gradients


def test_start_velocities_may_be_design_parameters():
    m = kp.Mechanism("throw", gravity=(0, -10.0))
    u, v = m.parameter("u", 3.0), m.parameter("v", 4.0)
    m.body("stone", mass=1.0, inertia=1.0)
    asked = [kp.final("stone.x"), kp.final("stone.y")]
    for way in ("direct", "adjoint"):
        found = m.sensitivity(0.5, asked, velocities={"stone.vx": u * v, "stone.vy": v}, gradient=way)
        assert found.gradient(asked[0]) == pytest.approx([2.0, 1.5], rel=1e-12)
        assert found.gradient(asked[1]) == pytest.approx([0.0, 0.5], abs=1e-12)
    res = m.simulate(0.5, velocities={"stone.vx": u * v}, parameters={"u": 5.0})
    assert float(res["stone.vx"][0]) == pytest.approx(20.0, rel=1e-14)


def test_the_end_moves_where_an_event_ends_the_run():
    m = kp.Mechanism("fall", gravity=(0, -10.0))
    H = m.parameter("H", 5.0)
    body = m.body("body", mass=1.0, inertia=1.0, at=(0, H))
    m.event("down", body.y, stop=True)
    asked = [kp.final("t"), kp.final("body.vy"), kp.integral("body.y")]
    for way in ("direct", "adjoint"):
        found = m.sensitivity(3.0, asked, gradient=way, tolerance=1e-10)
        assert list(found.values.values()) == pytest.approx([1.0, -10.0, 10.0 / 3.0], rel=1e-9)
        assert [found.gradient(f)[0] for f in asked] == pytest.approx([0.1, -1.0, 1.0], rel=1e-8)


def test_many_designs_are_each_as_they_are_alone():
    m = oscillator(0.3)
    asked = [kp.integral("body.x**2"), kp.maximum("body.vx")]
    evaluator = kp.Evaluator(m, 2.0, asked, gradient="adjoint")
    designs = np.column_stack([np.linspace(2.0, 6.0, 7), np.linspace(1.0, 2.0, 7)])
    found = evaluator.many(np.vstack([designs, [[2.0, -1.0]]]), workers=2)
    for k, design in enumerate(designs):
        values, gradients = kp.Evaluator(m, 2.0, asked, gradient="adjoint").gradients(design)
        np.testing.assert_array_equal(found.values[k], values)
        np.testing.assert_array_equal(found.gradients[k], gradients)
    assert list(found.failures) == [7]
    assert "mass" in found.failures[7]


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ([], "by: there must be at least one"),
        (["k", "k"], "by: 'k' is there twice"),
        (3, "unknown parameter '3'"),
        ("mas", "did you mean 'mass'"),
    ],
)
def test_parameters_that_there_are_not(by, said):
    with pytest.raises(kp.ModelError, match=said):
        oscillator(0.3).sensitivity(2.0, kp.final("body.x"), by)
