"""What is true of a plan: its motion by the reference, how far to trust it, and how a disturbance grows on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from planar import Accuracy
from plans import Plan, Reference

OUTPUTS = 9
NUDGE = 1e-8
NUDGES = 3
FINE, COARSE = 1e-12, 1e-10
FAILURES = (ArithmeticError, np.linalg.LinAlgError, ValueError)
"""How a reference ends that cannot go on."""


@dataclass(frozen=True)
class Truth:
    """The motion by the reference, how far it can be trusted, and how a disturbance grows on the way."""

    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    unit: np.ndarray
    rate: float
    bound: np.ndarray
    growth: np.ndarray
    energy: np.ndarray
    drift: float
    """By how much the energy changes, in parts of itself, where it should not."""
    failed: str = ""

    def error(self, positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """By how much another motion is off, per time."""
        off = np.abs(positions - self.positions) / self.unit, np.abs(velocities - self.velocities) / self.unit
        return np.maximum(off[0].max(axis=1), off[1].max(axis=1) / self.rate)

    def allowed(self, tolerance: float, multiple: float) -> np.ndarray:
        """How far off a run at a tolerance may be, per time."""
        return multiple * tolerance * self.growth + 3 * self.bound


def glance(plan: Plan, reference: Reference) -> Truth:
    """Compute a plan by the reference once, and not at its best: enough where Kempe agrees with it to many digits."""
    times = np.linspace(0.0, plan.end, OUTPUTS)
    unit, one, q, v = reference.seen_unit, np.ones(OUTPUTS), reference.q0, reference.v0
    try:
        qs, vs = reference.motion(q, v, times, Accuracy(COARSE, plan.stiff), plan.pace)
    except FAILURES as error:
        empty = np.zeros((OUTPUTS, 0))
        return Truth(times, empty, empty, unit, 1.0, one, one, one, 0.0, failed=str(error))
    positions, velocities = reference.seen(qs[0], vs[0])
    rate = max(float(np.abs(velocities / unit).max()), 0.01 * plan.pace)
    return Truth(times, positions, velocities, unit, rate, 0 * one, one, one, 0.0)


def truth(plan: Plan, reference: Reference, seed: int) -> Truth:
    """Compute a plan by the reference, twice, and disturbed."""
    times = np.linspace(0.0, plan.end, OUTPUTS)
    fine, coarse = (Accuracy(tolerance, plan.stiff) for tolerance in (FINE, COARSE))
    q, v = reference.q0[None], reference.v0[None]
    starts = [(q, v), *_nudged(plan, reference, seed)]
    unit, nothing = reference.seen_unit, np.zeros(0)
    try:
        rough = _seen(reference, *reference.motion(q, v, times, coarse, plan.pace))[0]
        if plan.stiff or reference.stops:
            copies = [reference.motion(*start, times, fine, plan.pace) for start in starts]
            qs, vs = (np.concatenate(part) for part in zip(*copies, strict=True))
        else:
            together = [np.concatenate(part) for part in zip(*starts, strict=True)]
            qs, vs = reference.motion(*together, times, fine, plan.pace)
    except FAILURES as error:
        empty = np.zeros((OUTPUTS, 0))
        return Truth(times, empty, empty, unit, 1.0, nothing, nothing, nothing, 0.0, failed=str(error))
    runs = _seen(reference, qs, vs)
    rate = max(float(np.abs(runs[0][1] / unit).max()), 0.01 * plan.pace)
    kinetic, potential = reference.energy(qs[0], vs[0])
    total, size = kinetic + potential, np.ptp(kinetic) + np.ptp(potential) + kinetic.max()
    drift = float(np.ptp(total) / size) if reference.conservative and size > 0 else 0.0
    found = Truth(times, *runs[0], unit, rate, nothing, nothing, kinetic, drift)
    bound = np.maximum.accumulate(found.error(*rough)) + 1e-14
    growth = np.max([found.error(*run) for run in runs[1:]], axis=0) / NUDGE
    growth = np.maximum.accumulate(np.maximum(growth, 1.0))
    growth = np.maximum(growth, bound / (10 * COARSE))  # a disturbance on the way may grow more than one of the start
    return Truth(times, *runs[0], unit, rate, bound, growth, kinetic, drift)


def _nudged(plan: Plan, reference: Reference, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng([seed, 1])
    for _ in range(1 if plan.stiff else NUDGES):  # stiff copies run one by one and take long
        dq, dv = NUDGE * rng.uniform(-1, 1, (2, reference.n)) * reference.unit
        yield reference.projected(0.0, (reference.q0 + dq)[None], (reference.v0 + plan.pace * dv)[None])


def _seen(reference: Reference, qs: np.ndarray, vs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    return [reference.seen(q, v) for q, v in zip(qs, vs, strict=True)]
