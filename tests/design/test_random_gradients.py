"""Gradients of two hundred random mechanisms: springs, drivers, soft stops, dry friction, impacts."""

from __future__ import annotations

import numpy as np
import pytest
from agreeing import EQUAL, TRUE, differentiated
from gradient_references import KNOWN, random_reference, size_of
from random_designs import direction, random_design


@pytest.mark.parametrize("seed", KNOWN)
def test_direct_and_adjoint_and_differences_agree(seed):
    design, true = random_design(seed), random_reference(seed)
    along = direction(seed, len(design.parameters))
    values, direct = differentiated(design, "direct")
    _, adjoint = differentiated(design, "adjoint")
    size = size_of(true.values, true.slopes)
    known = true.off <= 1e-8 * size
    np.testing.assert_allclose(values[known], true.values[known], rtol=1e-7, atol=0)
    assert (np.abs((direct - adjoint) @ along) <= EQUAL * size).all()
    assert (np.abs(direct @ along - true.slopes) <= TRUE * size)[known].all()
