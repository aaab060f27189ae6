"""Gradients of motions that begin in every state a motion can begin in: what the start keeps and closes counts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from starting_designs import STARTS

import kempe as kp
from kempe.design.evaluating import Evaluator

TOLERANCE, STEP = 1e-10, 2e-3
#: Between direct and adjoint, and between either and differences, in shares of the largest derivative.
EQUAL, TRUE = 1e-10, 1e-6
#: Where a force grows with depth^1.5; where a motion at rest says nothing of how fast its derivative swings.
LESS_TRUE = {"keeps_the_speed_of_approach": 1e-5, "rests_on_a_spring": 1e-5}


def _sizes(p: np.ndarray) -> np.ndarray:
    return np.where(p == 0.0, 1e-2, np.abs(p))


def _differences(found: Evaluator, p: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The derivative of all values along a direction, extrapolated."""
    rows = [[(found.values(p + h * along) - found.values(p - h * along)) / (2 * h) for h in STEP / 2.0 ** np.arange(3)]]
    for order in (4.0, 16.0):
        rows.append([fine + (fine - coarse) / (order - 1) for coarse, fine in pairwise(rows[-1])])
    return rows[-1][0]


@pytest.mark.parametrize("name", STARTS)
def test_gradients_know_the_state_in_which_a_motion_begins(name: str) -> None:
    m, end, asked, options = STARTS[name]()
    asked = [each.called(f"asked {k}") for k, each in enumerate(asked)]
    p = np.array([parameter.value for parameter in m.parameters.values()])
    direct, adjoint = (
        Evaluator(m, end, asked, gradient=way, tolerance=TOLERANCE, **options) for way in ("direct", "adjoint")
    )
    values, forward = direct.gradients(p)
    same, backward = adjoint.gradients(p)
    assert direct.warnings == []
    np.testing.assert_array_equal(values, same)
    forward, backward = forward * _sizes(p), backward * _sizes(p)
    unit = np.abs(forward).max(axis=1) + 1e-6
    assert (np.abs(forward - backward).max(axis=1) <= EQUAL * unit).all()
    for seed in range(2):
        along = np.random.default_rng(seed).uniform(-1, 1, len(p))
        off = np.abs(forward @ along - _differences(direct, p, along * _sizes(p)))
        assert (off <= LESS_TRUE.get(name, TRUE) * unit).all(), off / unit


@pytest.mark.parametrize("method", ["projection", "radau"])
def test_a_block_that_friction_holds_stays_where_it_is_drawn(method: str) -> None:
    m = kp.Mechanism("held", gravity=(0, -10))
    b = m.body("b", 1.0, 0.1, at=(m.parameter("x0", 0.3), 0))
    m.translational("guide", m.ground, b, axis=(1, 0), at=(0, 0), friction=0.4)
    for way in ("direct", "adjoint"):
        found = m.sensitivity(1.0, [kp.final("b.x"), kp.integral("b.x")], gradient=way, method=method)
        np.testing.assert_allclose([found.gradient(name)[0] for name in found.values], [1.0, 1.0], rtol=1e-12)


@pytest.mark.parametrize(("method", "accuracy"), [("projection", 1e-5), ("radau", 1e-4), ("alpha", 2e-2)])
def test_the_derivative_of_rest_swings(method: str, accuracy: float) -> None:
    """A mass at rest on a spring: d y / d y0 = exp(-d t) (cos w t + d/w sin w t), though nothing moves."""
    k, c, mass, end = 1e3, 5.0, 1.0, 0.5
    m = kp.Mechanism("rests", gravity=(0, -10))
    b = m.body("b", mass, 0.1, at=(0, m.parameter("y0", -10.0 * mass / k)))
    m.translational("guide", m.ground, b, axis=(0, 1), at=(0, 0))
    m.bump_stop("stop", b.y, 0.0, stiffness=k, damping=c)
    found = m.sensitivity(end, kp.final("b.y"), method=method)
    decay = c / (2 * mass)
    w = np.sqrt(k / mass - decay**2)
    true = np.exp(-decay * end) * (np.cos(w * end) + decay / w * np.sin(w * end))
    np.testing.assert_allclose(found["final b.y"]["y0"], true, rtol=accuracy)


def test_a_fast_mode_that_the_motion_does_not_have_is_in_its_derivative() -> None:
    """Two equal oscillators, tied by a stiff spring that is never stretched: were it longer, they would shake."""
    k, stiff, mass, end = 10.0, 3e3, 1.0, 3.0
    m = kp.Mechanism("twins")
    length = m.parameter("length", 0.5)
    a, b = m.body("a", mass, 0.1, at=(0.5, 0)), m.body("b", mass, 0.1, at=(1.0, 0))
    for name, body, foot in (("left", a, 0.0), ("right", b, 0.5)):
        m.translational(f"{name} guide", m.ground, body, axis=(1, 0), at=(0, 0))
        m.spring(name, m.ground.on((foot, 0)), body, stiffness=k, length=0.3)
    m.spring("tie", a, b, stiffness=stiff, length=length)
    found = m.sensitivity(end, kp.final("b.x"), tolerance=1e-10)
    square = (k + 2 * stiff) / mass  # of the frequency at which they swing against each other
    true = stiff / mass / square * (1 - np.cos(np.sqrt(square) * end))
    np.testing.assert_allclose(found["final b.x"]["length"], true, atol=1e-6)  # (it swings between 0 and 1)
