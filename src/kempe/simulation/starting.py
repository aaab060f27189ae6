"""Machines made ready: at the start of a motion, or standing in one consistent state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kempe.model import Model
from kempe.simulation.assembling import Pose
from kempe.simulation.machine import Machine
from kempe.simulation.task import new_task
from kempe.simulation.times import check_room
from kempe.simulation.velocities import Velocities
from kempe.system import compiled


def begun(model: Model, times: Any, *, parameters: Mapping[str, float] | None = None, **settings: Any) -> Machine:
    """A machine at the start of the simulation that the settings describe (see ``new_task``)."""
    system, vector = compiled(model), model.parameter_vector(parameters)
    given = Velocities(system, settings.pop("velocities", None)).at(vector)
    task = new_task(times, velocities=given, **settings)
    check_room(len(task.grid), 2 * (3 * system.n + system.m + 7), f"{system.n} coordinates")
    machine = Machine(system, task)
    machine.begin(vector)
    return machine


def machine_at(
    model: Model,
    time: float,
    start: Pose | None = None,
    velocities: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Machine:
    """A machine that stands, assembled and with consistent velocities, where a motion would begin."""
    task = new_task([time, time + 1.0], method="projection", start=start, velocities=velocities)
    machine = Machine(compiled(model), task)
    machine.stand(model.parameter_vector(parameters))
    return machine
