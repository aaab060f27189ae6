"""Gradients of two hundred random mechanisms: springs, drivers, soft stops, dry friction, impacts."""

from __future__ import annotations

import numpy as np
import pytest
from agreeing import EQUAL, TRUE, differentiated
from gradient_references import REFUSED, known_seeds, random_reference
from random_motions import direction, random_design

import kempe as kp


@pytest.mark.parametrize("seed", known_seeds())
def test_direct_and_adjoint_and_differences_agree(seed):
    design, true = random_design(seed), random_reference(seed)
    along = direction(seed, len(design.parameters))
    values, direct = differentiated(design, "direct")
    _, adjoint = differentiated(design, "adjoint")
    assert (np.abs(values - true.values) <= TRUE * true.size).all()
    assert (np.abs((direct - adjoint) @ along) <= EQUAL * true.size).all()
    assert (np.abs(direct @ along - true.slopes) <= TRUE * true.size).all()


def test_there_are_two_hundred():
    assert len(known_seeds()) == 200


@pytest.mark.parametrize("seed", REFUSED)
def test_impacts_without_a_derivative_are_refused(seed):
    with pytest.raises(kp.ConvergenceError, match=r"has no derivative here|is not known there"):
        differentiated(random_design(seed), "adjoint")
