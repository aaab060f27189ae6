"""The chain of the benchmark ``sensitivity`` is the same for Kempe and for IDAS."""

from __future__ import annotations

import numpy as np

from kempe.benchmarks import sensitivity_problems as given
from kempe.benchmarks.sensitivity import evaluator
from kempe.benchmarks.sensitivity_peers import Idas

LINKS = 3


def test_integral_and_gradient_agree_with_idas():
    (value,), (gradient,) = evaluator(LINKS, LINKS * len(given.KINDS), "adjoint")()
    peer, p = Idas(LINKS, 1e-10), given.values(LINKS)
    np.testing.assert_allclose(peer.simulation()(p), value, rtol=1e-7)
    np.testing.assert_allclose(peer.adjoint()(p), gradient, rtol=1e-5, atol=1e-6 * abs(gradient).max())
    np.testing.assert_allclose(peer.forward(4)(p), gradient[:4], rtol=1e-6)


def test_parameters_are_named_link_by_link():
    m = given.chain(LINKS)
    assert list(m.parameters) == list(given.names(LINKS))
    np.testing.assert_array_equal(m.parameter_vector(), given.values(LINKS))
