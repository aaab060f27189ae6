"""A share of the random designs of ``random_sweep.py``: their derivatives are those of differences."""

import pytest
from random_sweep import driven, resting

#: Of every family, with redundant constraints that agree and that contradict each other at other values.
SHARE = (*range(12), 19, 27, 35, 49, 61, 85, 88)


@pytest.mark.parametrize("seed", SHARE)
def test_driven_motions_and_what_they_take(seed: int) -> None:
    assert driven(seed) == ("contradicts" if seed in (35, 49) else "agrees")


@pytest.mark.parametrize("seed", SHARE)
def test_equilibria_and_vibrations(seed: int) -> None:
    assert resting(seed) == ("contradicts" if seed in (35, 49) else "agrees")
