"""The references of gradients are worth their name: beside closed forms, and computed anew."""

from __future__ import annotations

import numpy as np
import pytest
from designs import Design
from differences import Motion
from gradient_references import DESIGNS, computed, reference

import kempe as kp


def test_functionals_of_a_swing():
    """Of x = cos t: integrals, extremes and what is beyond a bound, in closed form."""
    m = kp.Mechanism("swing")
    mass = m.point("mass", at=(1, 0), mass=1.0)
    m.spring("spring", m.ground, mass, stiffness=1.0, length=0)
    motion = Motion(Design(m, 7.0, ()), {})
    assert motion.value(("integral", "mass.x**2")) == pytest.approx(3.5 + np.sin(14.0) / 4, rel=1e-11)
    assert motion.value(("final", "mass.vx")) == pytest.approx(-np.sin(7.0), rel=1e-11)
    assert motion.value(("maximum", "mass.vx")) == pytest.approx(1.0, rel=1e-11)
    assert motion.value(("minimum", "mass.x")) == pytest.approx(-1.0, rel=1e-11)
    half = np.pi / 3  # cos t is above 1/2 from 0 to there, and around the whole turn as far as the end
    each = half * 3 / 4 + np.sin(2 * half) / 4 - np.sin(half)
    end = 7.0 - 2 * np.pi
    last = end * 3 / 4 + np.sin(2 * end) / 4 - np.sin(end)
    assert motion.value(("violation", "mass.x", 0.5)) == pytest.approx(2 * each + last, rel=1e-10)


def test_the_folding_rhombus_turns_with_constant_acceleration():
    """Its coupler only shifts: the acceleration is the load by the inertia about the pivots."""
    design = DESIGNS["singular_passing"]()
    L, mass, load = design.parameters.values()
    inertia = L**2 * (mass / 3 + 0.6 / 3 + 0.8)
    turned, change = load * design.end**2 / inertia / 2, np.array([-2 / L, -(L**2) / 3 / inertia, 1 / load])
    kept = reference("singular_passing")
    np.testing.assert_allclose(kept.values[1], 0.5 - turned, rtol=1e-10)
    np.testing.assert_allclose(kept.gradients[1], -turned * change, rtol=1e-8)
    np.testing.assert_allclose(kept.gradients[0], (load / inertia) ** 2 * design.end**3 / 3 * 2 * change, rtol=1e-8)


def test_every_design_has_a_reference():
    for name, build in DESIGNS.items():
        design, kept = build(), reference(name)
        assert kept.gradients.shape == (len(design.asked), len(design.parameters))
        assert kept.off <= 3e-8


@pytest.mark.parametrize("name", ["singular_passing", "bouncing"])
def test_references_are_what_is_computed_now(name):
    now, kept = computed(DESIGNS[name]()), reference(name)
    np.testing.assert_allclose(now.values, kept.values, rtol=1e-9)
    np.testing.assert_allclose(now.gradients, kept.gradients, rtol=1e-6, atol=1e-8 * abs(kept.gradients).max())
