"""Gradients of random mechanisms: a share of those that ``gradient_sweep`` looks at."""

from __future__ import annotations

import pytest
from agreeing import differentiated
from gradient_references import REFUSED, known_seeds
from gradient_sweep import compare
from random_motions import random_design

import kempe as kp


@pytest.mark.parametrize("seed", known_seeds()[::5])
def test_direct_and_adjoint_and_differences_agree(seed):
    compare(seed)


def test_there_are_two_hundred():
    assert len(known_seeds()) == 200


@pytest.mark.parametrize("seed", REFUSED)
def test_impacts_without_a_derivative_are_refused(seed):
    with pytest.raises(kp.ConvergenceError, match=r"has no derivative here|is not known there"):
        differentiated(random_design(seed), "adjoint")
