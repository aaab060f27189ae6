"""Accelerations and multipliers in one state, by the formulation of one's choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kempe.calling import explained
from kempe.elements import plain_number, positive
from kempe.errors import ConvergenceError, ModelError
from kempe.model import Model
from kempe.simulation.assembling import Pose, pose_of
from kempe.simulation.machine import Machine
from kempe.simulation.starting import machine_at
from kempe.solvers import motion as mo


@dataclass(frozen=True)
class Accelerations:
    """Accelerations and multipliers by name, and the state they belong to."""

    values: dict[str, float]
    multipliers: dict[str, float]
    pose: Pose

    def __getitem__(self, name: str) -> float:
        if name in self.values:
            return self.values[name]
        if name in self.multipliers:
            return self.multipliers[name]
        raise ModelError(f"there is no acceleration or multiplier '{name}'")

    @property
    def a(self) -> np.ndarray:
        """The accelerations as an array, in the model's order."""
        return np.array(list(self.values.values()))


#: How far accelerations may miss the constraints, in their own size, before they are none.
ROUGH = 1e-6


def _missed(machine: Machine) -> float:
    """By how much the accelerations miss Phi_q a = gamma, for what the terms of that are.

    Where forces cancel there is nothing but rounding in them: then what the reactions alone would make counts.
    """
    eq, now, system, x = machine.eq, machine.course.now, machine.system, machine.wk.x.copy()
    J = system.linear(x, now.q, now.t)[1]
    gamma, a = system.gamma(x, now.q, now.t, now.v), now.al[: eq.n]
    missed = np.abs(J @ a - gamma)
    mass, push = machine.start.mass, np.abs(J).T @ np.abs(now.al[eq.n :])
    alone = np.divide(push, mass, out=np.zeros(eq.n), where=mass > 0.0)
    terms = np.abs(J) @ (np.abs(a) + alone) + np.abs(gamma)
    return float((missed / eq.row_scale).max(initial=0.0) / max(float((terms / eq.row_scale).max(initial=0.0)), 1e-300))


@explained
def accelerations(
    model: Model,
    velocities: Mapping[str, float] | None = None,
    *,
    penalty: float | None = None,
    iterations: int | None = None,
    start: Pose | None = None,
    time: float = 0.0,
    parameters: Mapping[str, float] | None = None,
) -> Accelerations:
    """Accelerations and multipliers in the assembled pose with consistent velocities.

    Without ``penalty``: the Lagrange multiplier method (eq. 10.89 of Garcia de Jalon and Bayo). With it: the augmented
    Lagrangian of eq. 10.91, the multipliers starting at zero and updated ``iterations`` times (1 is the pure penalty
    method; default: until they stand still). Both hold in singular positions and with redundant constraints.
    """
    if iterations is not None and (not isinstance(iterations, (int, np.integer)) or iterations < 1):
        raise ModelError(f"iterations must be a whole number of at least 1, not {iterations!r}")
    machine = machine_at(model, plain_number(time, "the time"), start, velocities, parameters)
    touches = len(machine.eq.touches.element) > 0
    if touches:  # what touches has to choose its modes
        machine.begin(machine.parameters)
    else:
        machine.weigh()
    machine.check_tables()
    eq, now, system = machine.eq, machine.course.now, machine.system
    if penalty is not None:
        eq.compliance[:] = 1.0 / float(positive(plain_number(penalty, "penalty"), "penalty"))
        machine.shift_rows()
    if not mo.solve_state(eq, machine.wk, now, 50 if iterations is None else iterations - 1):
        raise ConvergenceError("the accelerations cannot be solved for: some part has neither inertia nor a joint")
    sol = now.al
    if penalty is None and iterations is None and not touches and _missed(machine) > ROUGH:
        raise ConvergenceError(
            "the accelerations could not be solved for to more than a few digits: parts without inertia, or numbers of "
            "very different size, stand in the way"
        )
    names = [n[2] for n in system.names]
    labels = [row.label for row in system.rows]
    return Accelerations(
        dict(zip(names, sol[: eq.n].tolist(), strict=True)),
        dict(zip(labels, sol[eq.n :].tolist(), strict=True)),
        pose_of(system, machine.start.drawn, now.q, now.v),
    )
