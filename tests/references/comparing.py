"""What Kempe makes of a random mechanism, held to the reference: agreement, an explained failure, or a defect.

**The error** of a run is the largest over all output times and all coordinates: positions in sizes of the mechanism
(its largest extent as drawn) or radians, velocities in the same times the fastest rate of the motion.

**What is allowed** at a time is ``MULTIPLES[method]`` tolerances times the growth of a disturbance up to then, and
three times the bound of the reference. The growth is measured: the start is moved by ``NUDGE`` in a few directions, and
a coarse run of the reference is off by some tens of its tolerances; the larger counts. The bound is by how much the
reference differs from itself at a hundred times its tolerance. The balance of energy that Kempe keeps is held to the
same, in energies that changed hands.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from building import mechanism
from drawing import draw
from plans import Plan, Reference
from truths import Truth

import kempe as kp

TOLERANCE = 1e-8
LOOSE = 1e-6
"""The tolerance of methods of order 2."""
MULTIPLES = {"auto": 1000.0, "alpha": 10_000.0, "ali3p": 10_000.0, "bdf": 10_000.0, "bdf3": 10_000.0}
OTHERS = ("projection", "radau", "augmented", "bdf", "canonical", "alpha", "independent", "bdf3", "ali3p")
"""Methods that take their turn beside "auto"; those without projection are wrong by design after a while."""
EVERY = 3
"""One case in so many is computed by another method as well."""
PARTS = ("kinetic", "potential", "elastic", "dissipated", "supplied")
NEARER = 5.0
"""A hundredth of the tolerance brings a run nearer to the truth by this factor at least: 20 for a method of order 2."""
VERDICTS = ("agrees", "explained", "no reference", "gave up", "loose", "WRONG", "CRASH", "HANG")
"""explained: neither could go on, and Kempe said why. gave up: Kempe stopped, and said why, where the reference went
on. loose: too far from the reference, but nearer with a smaller tolerance in proportion."""


@dataclass(frozen=True)
class Verdict:
    """What became of one run."""

    seed: int
    family: str
    method: str
    verdict: str
    error: float = 0.0
    tolerances: float = 0.0
    """The error in tolerances, with the growth of disturbances taken out."""
    balance: float = 0.0
    """What Kempe's balance of energy lacks, in the same and in the energies that change hands."""
    seconds: float = 0.0
    steps: int = 0
    words: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def methods_of(seed: int) -> tuple[str, ...]:
    """The methods that a case is computed by."""
    return ("auto", OTHERS[seed // EVERY % len(OTHERS)]) if seed % EVERY == 0 else ("auto",)


def judged(
    seed: int, plan: Plan, true: Truth, method: str, names: list[tuple[str, str]], tolerance: float | None = None
) -> Verdict:
    """Run Kempe by a method and compare."""
    if tolerance is None:
        tolerance = LOOSE if method in ("alpha", "ali3p") else TOLERANCE
    multiple = MULTIPLES.get(method, MULTIPLES["auto"])
    begin = time.perf_counter()

    def verdict(kind: str, **more: Any) -> Verdict:
        return Verdict(seed, plan.family, method, kind, seconds=time.perf_counter() - begin, **more)

    if not true.failed and (true.bound[-1] > 1e-3 or true.drift > 1e-6):
        return verdict("no reference", words=f"bound {true.bound[-1]:.1e}, drift of energy {true.drift:.1e}")
    try:
        result = _simulated(plan, true.times, method, tolerance)
    except kp.KempeError as error:
        return verdict("explained" if true.failed else "gave up", words=str(error))
    except Exception as error:  # whatever it is: a user should never see it
        return verdict("CRASH", words=f"{type(error).__name__}: {error}")
    if not result.success:
        return verdict("explained" if true.failed else "gave up", words=result.message)
    if true.failed:
        return verdict("no reference", words=f"Kempe went on; {true.failed}")
    error = true.error(*_histories(result, names))
    steps = int(result.stats.get("steps", 0))
    units = float((error / (tolerance * true.growth + 3 * true.bound)).max())
    lacking = float((_lacking(result, _least(plan)) / (tolerance * true.growth + 3 * true.bound)).max())
    figures = {"error": float(error.max()), "tolerances": units, "balance": lacking, "steps": steps}
    if not np.isfinite(error).all():
        return verdict("WRONG", words="not finite", **figures)
    if lacking > multiple:
        return verdict("WRONG", words="the balance of energy", **figures)
    if (error <= true.allowed(tolerance, multiple)).all():
        return verdict("agrees", **figures)
    try:
        finer = true.error(*_histories(_simulated(plan, true.times, method, tolerance / 100), names))
    except kp.KempeError as trouble:
        return verdict("WRONG", words=f"and at a hundredth of the tolerance: {trouble}", **figures)
    nearer = float((finer / true.allowed(tolerance / 30, multiple)).max())
    words = f"allowed {true.allowed(tolerance, multiple)[-1]:.1e}; {finer.max():.1e} at a hundredth of the tolerance"
    return verdict("loose" if nearer <= 1 or finer.max() < error.max() / NEARER else "WRONG", words=words, **figures)


def _simulated(plan: Plan, times: np.ndarray, method: str, tolerance: float) -> kp.Result:
    return mechanism(plan).simulate(times, method=method, tolerance=tolerance, velocities=plan.velocities)


def _lacking(result: kp.Result, least: float) -> np.ndarray:
    """By how much the energies of a result do not balance, per time, in the most that changed hands or was kinetic."""
    changed = sum(np.abs(result.array(f"energy.{part}") - result.array(f"energy.{part}")[0]) for part in PARTS)
    return np.abs(result.array("energy.balance")) / (float(np.max(changed + result.array("energy.kinetic"))) + least)


def _least(plan: Plan) -> float:
    """An energy to measure by where nothing moves, or only between two outputs: all mass at the pace of the plan."""
    places = np.array([(0.0, 0.0), *(part.at for part in plan.parts if hasattr(part, "at"))])
    mass = sum(part.mass or 0.0 for part in plan.parts)
    return float(mass * (np.ptp(places, axis=0).max() * plan.pace) ** 2)


def _histories(result: kp.Result, names: list[tuple[str, str]]) -> tuple[np.ndarray, np.ndarray]:
    positions, velocities = (np.column_stack([result.array(pair[k]) for pair in names]) for k in (0, 1))
    return positions, velocities


def drawn(seed: int) -> tuple[Plan, Reference, list[tuple[str, str]]]:
    """The case of a seed, and the names of what is compared."""
    plan, reference = draw(seed)
    return plan, reference, [(q, v) for q, v, *_ in reference.observed]
