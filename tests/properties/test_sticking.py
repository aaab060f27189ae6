"""Random blocks that stick and slip: methods that share no code tell the same story of modes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import kempe as kp

sys.path.insert(0, str(Path(__file__).parents[1] / "elements"))
from test_own_switching import block

METHODS = ("auto", "radau", "augmented", "independent", "alpha", "bdf")


@pytest.mark.parametrize("seed", range(12))
def test_a_shaken_block_on_a_belt_does_the_same_with_every_method(seed):
    rng = np.random.default_rng([7, seed])
    mass, static, belt, end = rng.uniform(0.5, 3), rng.uniform(0.3, 0.6), rng.uniform(-1, 1), rng.uniform(1, 4)
    pull, omega, spring, speed = rng.uniform(2, 40), rng.uniform(1, 8), rng.uniform(10, 200), rng.uniform(-2, 2)
    stories, ends = [], []
    for method in METHODS:
        m, body, _ = block(mass, static=static, belt=belt)
        m.user_force("shaker", lambda b, t: (pull * kp.sin(omega * t) - spring * b.x, 0, 0), body)
        result = m.simulate(end, method=method, tolerance=1e-9, steps=5, velocities={"b.vx": speed})
        stories.append([event.mode for event in result.events])
        ends.append(result.array("b.x")[-1])
    assert all(story == stories[0] for story in stories)
    exact = dict(zip(METHODS, ends, strict=True))
    for method in METHODS:
        assert abs(exact[method] - exact["auto"]) < (1e-3 if method in ("alpha", "bdf") else 1e-6), method
