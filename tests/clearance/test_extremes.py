"""How validation finds extremes between output points."""

from __future__ import annotations

import numpy as np

from kempe.validation.extremes import crest, extremes

RATES = np.array([3.0, 7.0, 11.0])


def waves(times: np.ndarray) -> dict[str, np.ndarray]:
    """Of three designs: smooth ones, and ones with a corner in the middle of nowhere."""
    phase = np.outer(RATES, times) - 1.0
    return {"smooth": np.exp(-times / 9) * np.sin(phase), "corner": 2 - np.abs(times - RATES[:, None] / 11.3)}


def test_a_smooth_peak_and_a_corner_are_found_between_samples():
    found = extremes(waves, 0.0, 2.0, 60)
    fine = waves(np.linspace(0.0, 2.0, 2_000_001))
    for name, within in (("smooth", 1e-4), ("corner", 1e-3)):
        least, largest = found[name]
        assert np.abs(least - fine[name].min(axis=1)).max() < within
        assert np.abs(largest - fine[name].max(axis=1)).max() < within
    coarse = waves(np.linspace(0.0, 2.0, 61))["corner"].max(axis=1)
    assert np.abs(coarse - 2).max() > 5 * np.abs(found["corner"][1] - 2).max()


def test_a_peak_at_the_end_is_the_end_itself():
    found = extremes(lambda times: {"ramp": times[None, :] ** 2}, 1.0, 3.0, 10)
    assert found["ramp"][0][0] == 1.0
    assert found["ramp"][1][0] == 9.0


def test_a_crest_is_exact_for_parabolas_and_never_below_a_sample():
    times = np.linspace(0.0, 1.0, 14)
    tops = np.array([0.31, 0.5, 0.77])
    assert np.abs(crest(4 - (times - tops[:, None]) ** 2) - 4).max() < 1e-14
    rising = np.array([[0.0, 1.0, 2.0, 5.0]])
    assert crest(rising)[0] == 5.0
    assert crest(np.ones((1, 5)))[0] == 1.0
