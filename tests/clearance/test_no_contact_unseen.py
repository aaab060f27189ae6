"""A share of the sweep for contacts that go by unseen; ``contact_sweep.py`` has the rest."""

from __future__ import annotations

import pytest
from contact_sweep import verdict

#: Number 44 flew across the centre of its bearing, and out on the other side, within one step.
SEEDS = (1, 4, 5, 13, 44)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_contact_goes_by_unseen(seed: int) -> None:
    told, counts = verdict(seed)
    assert told == []
    assert counts["contacts"] > 0
