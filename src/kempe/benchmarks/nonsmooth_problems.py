"""Impacts and dry friction with known ends: what Kempe and its peers are given in the benchmark ``nonsmooth``.

All are trees of slides and hinges, so that a peer with joints of its own can take them as they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GRAVITY = 9.81


@dataclass(frozen=True)
class Problem:
    """Joint coordinates at the start, how long, and where they end."""

    name: str
    start: np.ndarray
    velocity: np.ndarray
    end_time: float
    ends: np.ndarray
    about: str

    def error(self, found: np.ndarray) -> float:
        """The largest distance from where the joints should end; infinite where a run broke down."""
        off = float(np.abs(np.asarray(found) - self.ends).max())
        return off if np.isfinite(off) else np.inf


# --- balls in a box -------------------------------------------------------------------------------------------------

BALLS, RESTITUTION, WIDE = 10, 0.8, 1.0
"""Balls that do not meet each other, in a box of this width."""


def flight(x: float, v: float, t: float, gravity: float, width: float = np.inf) -> tuple[float, int]:
    """Where a point is that bounces between 0 and ``width`` with the restitution, and how often it bounced."""
    bounces = 0
    while True:
        down = (v + np.sqrt(v * v + 2 * gravity * x)) / gravity if gravity else (-x / v if v < 0 else np.inf)
        up = (width - x) / v if v > 0 and not gravity else np.inf
        left = min(down, up)
        if left >= t:
            return x + v * t - gravity * t * t / 2, bounces
        v = -RESTITUTION * (v - gravity * left)
        x, t, bounces = (0.0 if down < up else width), t - left, bounces + 1


def balls() -> tuple[Problem, int]:
    """Ten balls (x and y of each) in a box under gravity, until all are about to come to rest; and their bounces."""
    heights, speeds = np.linspace(0.6, 1.0, BALLS), np.linspace(0.7, 1.6, BALLS)
    start = np.column_stack([np.full(BALLS, 0.5 * WIDE), heights]).ravel()
    velocity = np.column_stack([speeds, np.zeros(BALLS)]).ravel()
    end, known = 2.5, []
    for h, v in zip(heights, speeds, strict=True):
        known += [flight(0.5 * WIDE, v, end, 0.0, WIDE), flight(h, 0.0, end, GRAVITY)]
    ends, count = np.array([place for place, _ in known]), sum(bounces for _, bounces in known)
    about = f"{BALLS} balls in a box, {count} bounces with e = {RESTITUTION:g} in {end:g} s, exact motion known"
    return Problem("balls in a box", start, velocity, end, ends, about), count


# --- a block on a spring --------------------------------------------------------------------------------------------

STIFFNESS, MASS, FRICTION, OUT = 100.0, 1.0, 0.3, 0.52
"""The friction is this share of the weight."""


def block() -> Problem:
    """A block pulled out and let go: each half swing is shorter by 2 mu m g / k, until the spring cannot move it."""
    shift = 2 * FRICTION * MASS * GRAVITY / STIFFNESS
    swings = int(np.ceil((OUT - shift / 2) / shift))
    end = (-1.0) ** swings * (OUT - swings * shift)
    half = np.pi * np.sqrt(MASS / STIFFNESS)
    about = f"{swings} half swings of {half:.3g} s with friction {FRICTION:g} m g, then at rest; exact motion known"
    return Problem("block on a spring", np.array([OUT]), np.zeros(1), 3.0, np.array([end]), about)


# --- a double pendulum on a slider ----------------------------------------------------------------------------------

LENGTH, LOAD = 1.0, 10.0
"""Point masses: the slider and the far ends of both links."""
TORQUES = (73.575, 25.0, 10.0)
"""The friction of the slide (N) and of both hinges (N m): constant, as peers know it."""
PENDULUM = (0.10648050217, -1.88985313207, -0.09161291163)
"""Where slide, first and relative second angle are after 4 s: see ``tests/benchmarks/test_nonsmooth.py``."""


def pendulum() -> Problem:
    """A double pendulum that hangs on a slider, let go horizontally, with friction in all three joints."""
    about = "4 s with constant friction in all three joints, which stick and slip 20 times; end converged to 1e-10"
    return Problem("double pendulum on a slider", np.zeros(3), np.zeros(3), 4.0, np.array(PENDULUM), about)
