"""Gradients of motions by the direct and the adjoint method, on mechanisms of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from agreeing import EQUAL, STEPS, TRUE, differentiated, taylor
from designs import functional
from differences import scaled
from gradient_references import DESIGNS, reference

from kempe.design.evaluating import Evaluator

#: Contact forces in proportion to depth^1.5 have a derivative with a vertical slope where they begin, which makes
#: gradients less accurate than motions.
LESS_TRUE = {"clearance": 5e-6, "contact_laws": 1e-5}
#: After jumps without end, which both methods cut off.
LESS_EQUAL = {"comes_to_rest": 3e-8}


@pytest.mark.parametrize("name", DESIGNS)
def test_direct_and_adjoint_and_differences_agree(name):
    design, true = DESIGNS[name](), reference(name)
    at = np.array([*design.parameters.values()])
    values, direct = differentiated(design, "direct")
    same, adjoint = differentiated(design, "adjoint")
    np.testing.assert_array_equal(values, same)
    np.testing.assert_allclose(values, true.values, rtol=TRUE)
    assert scaled(direct - adjoint, true.gradients, at).max() <= LESS_EQUAL.get(name, EQUAL)
    assert scaled(direct - true.gradients, true.gradients, at).max() <= LESS_TRUE.get(name, TRUE) + true.off


@pytest.mark.parametrize("name", DESIGNS)
def test_taylor_is_of_order_two(name):
    """What a linear prediction misses is a quarter at half the step, or less; by a wrong gradient it would be half."""
    design = DESIGNS[name]()
    values, gradient = differentiated(design, "adjoint")
    along = np.random.default_rng(1).uniform(-1, 1, len(design.parameters))
    missed = taylor(design, gradient, along)
    noise = 1e-9 * np.maximum(np.abs(values), np.abs(gradient * [*design.parameters.values()]).max(axis=1))
    for k in range(len(STEPS) - 1):
        seen = missed[k + 1] > 10 * noise
        orders = np.log2(missed[k][seen] / missed[k + 1][seen])
        assert (orders > 1.6).all(), (design.asked, missed)


@pytest.mark.parametrize("name", ["driven", "four_bar", "bump_stop", "stick_slip", "backlash", "lift_off"])
def test_radau_has_the_same_gradients(name):
    design, true = DESIGNS[name](), reference(name)
    asked, at = [functional(each) for each in design.asked], np.array([*design.parameters.values()])
    options = {**design.options, "method": "radau", "tolerance": 1e-9}
    found = [
        Evaluator(design.model, design.end, asked, gradient=g, **options).gradients(at) for g in ("direct", "adjoint")
    ]
    np.testing.assert_allclose(found[0][0], true.values, rtol=TRUE)
    assert scaled(found[0][1] - found[1][1], true.gradients, at).max() <= EQUAL
    assert scaled(found[0][1] - true.gradients, true.gradients, at).max() <= TRUE + true.off


@pytest.mark.parametrize("name", ["four_bar", "double_pendulum", "own_equations"])
def test_fixed_steps_of_alpha_are_differentiated_exactly(name):
    """The discrete solution itself, far from converged: differences of it, extrapolated, know nothing of the motion."""
    design = DESIGNS[name]()
    asked = [functional(each) for each in design.asked if each[0] in ("integral", "final")]
    at = np.array([*design.parameters.values()])
    evaluator = Evaluator(design.model, design.end, asked, method="alpha", step=0.01, gradient="adjoint")
    gradients = evaluator.gradients(at)[1]
    for k in range(len(at)):
        along, h = np.eye(len(at))[k], 1e-3 * abs(at[k])
        coarse, fine = (
            (evaluator.values(at + s * along) - evaluator.values(at - s * along)) / (2 * s) for s in (h, h / 2)
        )
        np.testing.assert_allclose(
            gradients[:, k] * at[k],
            (4 * fine - coarse) / 3 * at[k],
            rtol=1e-6,  # (multipliers show what Newton's method leaves, over the square of the step)
            atol=1e-8 * np.abs(gradients * at).max(),
        )
