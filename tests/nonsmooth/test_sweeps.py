"""A share of the 600 random mechanisms of ``sweep.py``: Kempe against Moreau's time stepping."""

from __future__ import annotations

import numpy as np
import pytest
from random_touching import COLLIDING, FIRST_IMPACT, RUBBING, draw
from touching_plans import coordinates
from touching_verdicts import allowed, compared, judged, simulated, truth

#: Quick to compute, of every family.
RUB = (24, 90, 42, 18, 36, 25, 49, 13, 31, 38, 32, 20, 86, 8, 22, 34, 40, 10, 87, 15, 33, 21, 167, 11)
COLLIDE = (1049, 1035, 1007, 1022, 1029, 1036, 1023, 1044, 1037, 1030, 1059, 1045, 1017, 1052, 1018, 1011)
COLLIDE += (1012, 1047, 1005, 1020, 1041)


@pytest.mark.parametrize("seed", [*RUB, *COLLIDE])
def test_kempe_agrees_with_time_stepping(seed):
    plan = draw(seed)
    found = judged(seed, plan, truth(plan, most=4), more=1)
    assert found.verdict == "agrees", found
    assert found.falls < 0.75, found


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
    plan = draw(RUB[3])
    true, result = truth(plan), simulated(plan)
    q = np.column_stack([result.array(name) for name in coordinates(plan)])
    off, last = compared(q, true)
    assert (off <= allowed(true))[:last].all()
    q[last // 2, 0] += 1e-2 * plan.size
    off, last = compared(q, true)
    assert not (off <= allowed(true))[:last].all()


def test_all_seeds_can_be_drawn():
    counts = [len(draw(seed).rubbing) for seed in range(300)]
    assert set(counts) == set(range(1, 11))
    assert all(draw(seed).contacts for seed in range(FIRST_IMPACT, FIRST_IMPACT + 300))
