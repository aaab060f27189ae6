"""A run audits itself: what the tolerance does not explain is said, with time and parts."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from kempe.errors import AccuracyWarning
from kempe.simulation.explaining import worst_row
from kempe.solvers.driver import PUSHED

if TYPE_CHECKING:
    from kempe.simulation.machine import Machine

#: So many tolerances (the most that docs/accuracy.md has of a method's motion) the energy may be off, by the largest
#: energy that was exchanged; with any tolerance it may be off by the second number, and with fixed steps or a loose
#: tolerance not by more than the third.
ENERGY, LEAST, MOST = 1e4, 1e-7, 0.03
#: So many tolerances constraints may be violated, in sizes; violations below the second are none. How far velocities
#: may be moved to them after a step is the driver's ``PUSHED``.
VIOLATION, ROUNDING = 1e2, 1e-9


def findings(machine: Machine, t: np.ndarray, series: dict[str, np.ndarray]) -> list[str]:
    """What a run that came to its end has to say about its accuracy."""
    course, task = machine.course, machine.task
    told: list[str] = []
    tolerance = task.tolerance if task.step == 0.0 else np.inf
    if "energy.balance" in series and len(t) > 1:
        kinds = course.outputs.e[: len(t), :5]  # kinetic, potential, elastic, dissipated, supplied
        most, least = kinds.max(axis=0), kinds.min(axis=0)
        exchanged = max(*(most - least).tolist(), float(most[0]))
        # (at rest, as for the errors of steps; and output times may all be instants at which little moves)
        exchanged = max(exchanged, course.least_energy, course.energy)
        off = np.abs(series["energy.balance"])
        limit = min(max(ENERGY * tolerance, LEAST), MOST)
        if exchanged > 0.0 and off.max() > limit * exchanged:
            when = t[int(np.argmax(off > limit * exchanged))]
            asked = f"the tolerance of {tolerance:g} explains" if limit < MOST else "a motion to be trusted has"
            told.append(
                f"the energy balance is off by {off.max() / exchanged:.2g} of the largest energy exchanged, more than "
                f"{asked}, from t = {when:.6g} on; {_advice(machine)}"
            )
    limit = max(VIOLATION * tolerance, ROUNDING) if tolerance < np.inf else 1e-6
    if course.violation > limit:
        name, _ = worst_row(machine)
        told.append(
            f"constraints were violated by up to {course.violation:.2g} sizes on the way, at the end most of all "
            f"'{name}'; {_advice(machine)}"
        )
    if course.pushed > PUSHED and tolerance < np.inf:
        told.append(
            f"at t = {course.pushed_at:.6g} velocities had to be moved by {course.pushed:.2g} tolerances to meet the "
            "constraints: these are nearly dependent there, or a law jumps"
        )
    if course.choice.several:
        system = machine.system
        k = system.dynamics.hybrid[machine.eq.touches.element[course.choice.several_touch]]
        more = f", and {course.choice.several - 1} times more" if course.choice.several > 1 else ""
        told.append(
            f"at t = {course.choice.several_at:.10g}{more} several sets of modes of what touches were admissible, "
            f"among them of '{system.elements[k].name}': rigid bodies with this friction do not decide which; the one "
            "with the least forces was taken"
        )
    if course.choice.paradox:
        k = machine.system.dynamics.hybrid[machine.eq.touches.element[course.choice.paradox_touch]]
        told.append(
            f"at t = {course.choice.paradox_at:.10g} '{machine.system.elements[k].name}' opened where its friction all "
            "but takes back what its normal force does (Painleve's paradox): rigid bodies hardly determine the force "
            "there, nor what comes behind"
        )
    return told


def _advice(machine: Machine) -> str:
    """What to try."""
    if machine.task.step > 0.0:
        return "try a smaller step"
    if machine.task.method.name in ("penalty", "baumgarte"):
        return "this method answers to violations instead of removing them: try method='auto'"
    return "try a smaller tolerance, and look for forces or laws that jump"


def warn(told: list[str]) -> None:
    """Say it where somebody may be listening."""
    for sentence in told:
        warnings.warn(sentence, AccuracyWarning, stacklevel=2)
