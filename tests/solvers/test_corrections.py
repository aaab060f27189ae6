"""How well the equations of a step of generalised-alpha are solved: beside its own error nothing is left of them."""

from __future__ import annotations

import numpy as np
import pytest

import kempe as kp
from kempe.benchmarks import dynamics, peers

CASES = {
    "slider-crank": (peers.slider_crank(), 1e-3, 1.0),
    "four-bar": (peers.four_bar(), 2e-3, 2.0),
    "double pendulum": (peers.chain(2), 2e-3, 1.5),
    "chain of 10": (peers.chain(10), 1e-3, 0.5),
    "chain of 40": (peers.chain(40), 1e-3, 0.3),
}


def motion(name: str, **options: object) -> tuple[kp.Result, np.ndarray]:
    """A motion with fixed steps, and all of its reactions."""
    problem, step, end = CASES[name]
    found = dynamics.build(problem).simulate(np.linspace(0.0, end, 51), method="alpha", step=step, **options)
    return found, np.array([values for key, values in found.series.items() if key.startswith("lambda.")])


@pytest.mark.parametrize("name", CASES)
def test_what_is_left_is_little_beside_the_error_of_the_formula(name: str) -> None:
    problem, _, end = CASES[name]
    (rough, its_loads), (solved, loads) = motion(name), motion(name, tolerance=1e-12)
    true = dynamics.build(problem).simulate(np.linspace(0.0, end, 51), tolerance=1e-11)
    for what in ("q", "v"):
        left = np.abs(getattr(rough, what) - getattr(solved, what)).max()
        error = np.abs(getattr(solved, what) - getattr(true, what)).max()
        assert left < 0.05 * error, what
    true_loads = np.array([values for key, values in true.series.items() if key.startswith("lambda.")])
    assert np.abs(its_loads - loads).max() < 0.05 * np.abs(loads - true_loads).max()
    assert rough.stats["largest violation"] < 1e-10
    assert rough.stats["evaluations"] < solved.stats["evaluations"]


@pytest.mark.parametrize("name", CASES)
def test_half_the_step_leaves_a_quarter_of_the_error(name: str) -> None:
    problem, step, end = CASES[name]
    true = dynamics.build(problem).simulate([0.0, end], tolerance=1e-11).q[-1]

    def error(h: float) -> float:
        found = dynamics.build(problem).simulate([0.0, end], method="alpha", step=h)
        return float(np.abs(found.q[-1] - true).max())

    assert 3.4 < error(step) / error(step / 2) < 4.6


def test_a_matrix_that_ages_fast_is_made_anew_rather_than_corrected_for() -> None:
    """A long straight chain: a turn by a millionth changes what its ends feel by a tenth."""
    m = dynamics.build(peers.chain(150))
    found = m.simulate([0.0, 0.04], method="alpha", step=1e-3)
    assert found.stats["evaluations"] < 2 * found.stats["steps"]
    exact = m.simulate([0.0, 0.04], method="alpha", step=1e-3, tolerance=1e-12)
    assert np.abs(found.q - exact.q).max() < 1e-8
