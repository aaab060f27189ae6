"""Sweeps in space that are too long for the suite.

    python tests/spatial/spatial_sweep.py mechanisms 0 500      random mechanisms against Newton and Euler
    python tests/spatial/spatial_sweep.py revolutions 10000     a free body against Jacobi's functions

Each disagreement is printed with its seed.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from spatial_motions import FreeBody
from spatial_plans import ROWS, drawn, poses, velocities
from test_spatial_exact import BODY, floating, momentum
from test_spatial_joints import lacking

TIMES = np.linspace(0.0, 0.3, 4)
METHODS = ("auto", "radau", "augmented", "independent", "canonical")
APART, UNBALANCED = 1e-7, 1e-7


def mechanism(seed: int) -> tuple[float, float, str]:
    """By how much the motion is off, what the balance of all bodies lacks, and what was drawn."""
    plan = drawn(seed, 1 + seed % 8)
    m = plan.reference()
    start = plan.start(m)
    method = METHODS[seed % len(METHODS)]
    result = plan.build().simulate(TIMES, velocities=velocities(start), tolerance=1e-11, method=method)
    r, R = poses(result, len(plan.bodies))
    truth = m.motion(start, TIMES)
    off = max(max(np.abs(r[k] - s.r).max(), np.abs(R[k] - s.R).max()) for k, s in enumerate(truth))
    left, size = lacking(plan, result)
    told = f"{method}, {len(plan.bodies)} bodies, " + " ".join(joint.kind for joint in plan.joints)
    return float(off), float(np.abs(left).max() / size), told


def mechanisms(first: int, last: int) -> int:
    bad = 0
    met: dict[str, int] = dict.fromkeys(ROWS, 0)
    begun, largest = time.perf_counter(), np.zeros(2)
    for seed in range(first, last):
        try:
            off, lack, told = mechanism(seed)
        except Exception as error:  # whatever it is, it is a finding
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
            bad += 1
            continue
        for word in told.split():
            met[word] = met.get(word, 0) + (word in ROWS)
        largest = np.maximum(largest, [off, lack])
        if off > APART or lack > UNBALANCED:
            print(f"seed {seed}: off by {off:.1e}, unbalanced by {lack:.1e}: {told}", flush=True)
            bad += 1
    seconds = time.perf_counter() - begun
    print(f"{last - first} mechanisms in {seconds:.0f} s, {bad} findings; at most off by {largest[0]:.1e},", end=" ")
    print(f"unbalanced by {largest[1]:.1e}; joints: {', '.join(f'{met[kind]} {kind}' for kind in ROWS)}")
    return bad


def revolutions(count: int, truth: FreeBody = BODY) -> int:
    """Energy, momentum and the turn itself, a thousand at a time."""
    bad = 0
    for tolerance in (1e-10, 1e-12):
        end = count * 2 * np.pi / truth.omega_3
        m, start = floating(truth)
        begun = time.perf_counter()
        result = m.simulate(np.linspace(0.0, end, 1001), velocities=start, tolerance=tolerance)
        seconds = time.perf_counter() - begun
        L, energy = momentum(result, truth.inertia), result.array("energy.kinetic")
        off = np.abs(result.rotation("b") - truth.rotation(result.t)).max()
        turned, lost = np.abs(L / truth.momentum - [0, 0, 1]).max(), np.abs(energy / energy[0] - 1).max()
        print(
            f"{count} revolutions at a tolerance of {tolerance:g} in {seconds:.1f} s: momentum {turned:.1e}, "
            f"energy {lost:.1e}, direction cosines {off:.1e}"
        )
        bad += int(max(turned, lost) > 1e-5)
    return bad


if __name__ == "__main__":
    what, *numbers = sys.argv[1:] or ["mechanisms"]
    if what == "revolutions":
        sys.exit(revolutions(*map(int, numbers or ["10000"])))
    sys.exit(min(mechanisms(*map(int, numbers or ["0", "200"])), 1))
