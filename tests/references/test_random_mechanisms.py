"""A share of the random mechanisms of ``make nightly``: Kempe's motions against the reference."""

from __future__ import annotations

import numpy as np
import pytest
from comparing import TOLERANCE, Verdict, drawn, judged, methods_of
from drawing import FAMILIES, draw
from truths import Truth, glance, truth

#: Of every family, with stops, drivers, redundant constraints and stiff dampers among them, and quick to compute.
SHARE = (
    *(0, 3, 8, 12, 15, 16, 20, 21, 24, 25, 27, 28, 29, 33, 37, 58),
    *(202, 205, 207, 209, 210, 211, 213, 215, 216, 217, 218, 219, 225, 226, 228, 231, 232, 233, 236, 237, 239, 240),
    *(241, 244, 245, 246, 247, 248, 249, 253, 255, 257, 264, 265),
    *(1003, 1004, 1007, 1010, 1011, 1012, 1013),
)


def verdict(seed: int, method: str) -> Verdict:
    """By a single run of the reference; by all it can do where that disagrees."""
    plan, reference, names = drawn(seed)
    quick = judged(seed, plan, glance(plan, reference), method, names)
    return quick if quick.verdict == "agrees" else judged(seed, plan, truth(plan, reference, seed), method, names)


@pytest.mark.parametrize("seed", SHARE)
def test_kempe_agrees_with_the_reference(seed):
    for method in methods_of(seed):
        found = verdict(seed, method)
        assert found.verdict in ("agrees", "explained"), found


def test_the_share_is_a_fair_one():
    """Every family, and what makes a motion hard."""
    plans = [draw(seed) for seed in SHARE]
    assert {*FAMILIES, "change point", "rattle"} <= {plan.family for plan, _ in plans}
    assert sum(bool(reference.stops) for _, reference in plans) >= 8
    assert sum(reference.rank < reference.m for _, reference in plans) >= 2
    assert sum(plan.stiff for plan, _ in plans) >= 1
    assert max(max(reference.mass) / min(reference.mass) for _, reference in plans) > 1e3


def test_a_wrong_motion_is_found():
    """A motion off by a thousandth, at one instant and in one coordinate, does not pass for an agreement."""
    plan, reference, names = drawn(SHARE[0])
    true = glance(plan, reference)
    moved = true.positions.copy()
    moved[-1, 0] += 1e-3 * true.unit[0]
    wrong = Truth(**{**true.__dict__, "positions": moved})
    assert judged(SHARE[0], plan, true, "auto", names).verdict == "agrees"
    assert judged(SHARE[0], plan, wrong, "auto", names).verdict == "WRONG"
    assert np.all(true.allowed(TOLERANCE, 1000.0) < 1e-3)
