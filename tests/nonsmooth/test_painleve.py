"""Painleve's rod: where rigid bodies with friction have no motion, or several, that is said.

A rod slides on a floor with its lower end. With the point's mobility (a, b, c) as in ``routh.py`` its normal
acceleration is f + k N, f without contact and k = c - mu s b for sliding in direction s. Both signs of both numbers:

| | f < 0 | f > 0 |
|---|---|---|
| k > 0 | it slides, N = -f/k | it opens |
| k < 0 | no N: inconsistent | it opens, or slides: undetermined |
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import kempe as kp

G = 9.81


def rod(turn: float, spin: float, mu: float, speed: float) -> tuple[kp.Mechanism, dict[str, float], float, float]:
    """A rod whose tail slides, its start velocities, and k and f."""
    half, mass = 0.5, 1.0
    inertia = mass * half**2 / 3
    m = kp.Mechanism("Painleve", gravity=(0, -G))
    body = m.body("rod", mass, inertia, at=(half * math.cos(turn), half * math.sin(turn)), angle=turn)
    m.point_line_contact("floor", m.ground, body, on_j=(-half, 0), friction=mu)
    rx, ry = -half * math.cos(turn), -half * math.sin(turn)
    velocities = {"rod.vx": speed + spin * ry, "rod.vy": -spin * rx, "rod.omega": spin}
    k = 1 / mass + rx**2 / inertia - mu * math.copysign(1, speed) * (-rx * ry / inertia)
    return m, velocities, k, -G - spin**2 * ry


def test_all_four_cases_over_random_rods():
    rng = np.random.default_rng(23)
    met = dict.fromkeys(["slides", "opens", "inconsistent", "undetermined"], 0)
    while min(met.values()) < 8:
        turn, spin = rng.uniform(0.2, 1.4), rng.uniform(-8, 8)
        mu, speed = rng.uniform(0.1, 4.0), rng.uniform(0.5, 2.0) * rng.choice([-1, 1])
        m, velocities, k, f = rod(turn, spin, mu, speed)
        if min(abs(k), abs(f)) < 0.05:
            continue
        case = ("slides" if f < 0 else "opens") if k > 0 else ("inconsistent" if f < 0 else "undetermined")
        met[case] += 1
        if met[case] > 8:
            continue
        if case == "inconsistent":
            with pytest.raises(kp.KempeError, match=r"(?s)'floor' at t = 0 .*Painleve"):
                m.simulate(1e-4, steps=2, velocities=velocities)
            continue
        if case == "undetermined":
            with pytest.warns(kp.AccuracyWarning, match=r"several sets of modes .*'floor'"):
                result = m.simulate(1e-4, steps=2, velocities=velocities)
        else:
            result = m.simulate(1e-4, steps=2, velocities=velocities)
        normal = result.array("floor.normal")[0]
        assert normal == pytest.approx(-f / k if case == "slides" else 0.0, rel=1e-9)


@pytest.mark.parametrize(
    ("turn", "spin", "mu", "speed"),
    [(0.5133, 3.47, 1.5991, -4.668), (0.3817, 4.882, 2.6133, -2.799), (0.322, 4.52, 1.647, -3.55)],
)
def test_a_rod_that_turns_into_the_paradox_says_so(turn, spin, mu, speed):
    """It slides in order first. Next to k = 0 it ends, or opens (Genot and Brogliato, 1999); either is said."""
    m, velocities, k, f = rod(turn, spin, mu, speed)
    assert k > 0.2 and f < 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.AccuracyWarning)
        try:
            told = m.simulate(0.6, velocities=velocities).message
        except kp.ConvergenceError as error:
            told = str(error)
    # (the second passes the singular point in one step, and finds by its energy that it should not have)
    assert ("'floor'" in told and "Painleve" in told) or "the energy balance is off" in told


def test_what_is_said_names_the_pose():
    m, velocities, _, _ = rod(1.0, 0.0, 2.5, -1.0)
    with pytest.raises(kp.KempeError, match=r"rod\.angle = 1\b"):
        m.simulate(0.1, velocities=velocities)


def test_less_friction_than_four_thirds_is_never_a_paradox():
    """For a uniform rod k > 0 for all angles where mu < 4/3 (Painleve 1905)."""
    for turn in np.linspace(0.05, 1.5, 30):
        assert rod(float(turn), 0.0, 1.333, -1.0)[2] > 0
    assert min(rod(float(turn), 0.0, 1.34, -1.0)[2] for turn in np.linspace(0.9, 1.3, 200)) < 0
