"""A share of the 600 random mechanisms of ``sweep.py``: Kempe against Moreau's time stepping."""

from __future__ import annotations

import numpy as np
import pytest
from random_touching import COLLIDING, FIRST_IMPACT, RUBBING, draw
from touching_plans import coordinates
from touching_verdicts import allowed, compared, judged, simulated, truth

#: Quick to compute, of every family.
RUB = (0, 2, 5, 6, 7, 8, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 28, 29)
COLLIDE = (1002, 1003, 1005, 1007, 1009, 1010, 1012, 1013, 1014, 1017, 1019, 1020, 1022, 1023, 1024, 1027, 1004, 1031)


@pytest.mark.parametrize("seed", [*RUB, *COLLIDE])
def test_kempe_agrees_with_time_stepping(seed):
    found = judged(seed)
    assert found.verdict == "agrees", found
    assert found.falls < 0.75 or found.error < 5e-3, found


def test_the_share_is_a_fair_one():
    plans = {seed: draw(seed) for seed in (*RUB, *COLLIDE)}
    assert {plan.family for plan in plans.values()} == {*RUBBING, *COLLIDING}
    assert {len(plans[seed].rubbing) for seed in RUB} >= {1, 2, 3, 4, 5}
    kinds = {
        e.kind for seed in RUB for e in plans[seed].elements if e.name in plans[seed].rubbing and hasattr(e, "kind")
    }
    assert kinds == {"revolute", "guide", "slot"}
    assert any(
        e.friction.static > e.friction.kinetic for s in RUB for e in plans[s].elements if e.name in plans[s].rubbing
    )


def test_a_wrong_motion_is_found():
    """A motion off by a hundredth does not pass for an agreement."""
    plan = draw(COLLIDE[1])
    true, result = truth(plan), simulated(plan)
    q = np.column_stack([result.array(name) for name in coordinates(plan)])
    off, last = compared(q, true)
    assert (off <= allowed(true))[:last].all()
    q[last // 2, 0] += 1e-2 * plan.size
    off, last = compared(q, true)
    assert not (off <= allowed(true))[:last].all()


def test_all_seeds_can_be_drawn():
    counts = [len(draw(seed).rubbing) for seed in range(300)]
    assert set(counts) >= set(range(1, 9)) and max(counts) <= 10
    assert all(draw(seed).contacts for seed in range(FIRST_IMPACT, FIRST_IMPACT + 300))
