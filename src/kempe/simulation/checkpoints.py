"""Checkpoints: a simulation written down so that it can be continued, digit for digit, by another process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from kempe.errors import KempeError, ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.simulation import running
from kempe.simulation.assembling import Pose
from kempe.simulation.machine import InitialConditions, Machine
from kempe.simulation.running import Record, SwitchEvent, finished, go, result
from kempe.simulation.task import new_task
from kempe.system import compiled

FORMAT = 3


def run_to_the_end(
    machine: Machine,
    record: Record,
    initial: InitialConditions | None,
    progress: Callable[[float, float], None] | None = None,
    checkpoint: str | Path | None = None,
) -> Result:
    """Run a machine to its end with checkpoints on the way; Ctrl-C returns what exists."""
    saved = monotonic()

    def look_up(machine: Machine, record: Record) -> None:
        nonlocal saved
        if checkpoint is not None and monotonic() - saved > running.SAVE_EVERY:
            write_checkpoint(machine, record, initial, checkpoint)
            saved = monotonic()

    try:
        code = go(machine, record, look_up, progress)
    except KeyboardInterrupt:
        record.collect(machine)
        if checkpoint is not None:
            write_checkpoint(machine, record, initial, checkpoint)
        return result(machine, record, "interrupted", f"interrupted at t = {machine.course.now.t:.10g}", initial)
    return finished(machine, record, code, initial)


def _memory(machine: Machine) -> dict[str, Any]:
    """Everything that compiled code keeps: the course, the inputs and factors, the integrator's memory."""
    eq, wk, integrator = machine.eq, machine.wk, machine.integrator
    assert integrator.memory is not None
    kept = {f"course {name}": value for name, value in machine.course.contents()}
    kept |= {f"memory {name}": value for name, value in integrator.memory.contents()}
    for name in ("shift", "step_shift", "compliance", "step_compliance", "flexible"):
        kept[f"equations {name}"] = getattr(eq, name)
    kept |= {"work x": wk.x, "work lu": wk.lu}
    return {name: value for name, value in kept.items() if not name.endswith("_at")}


def write_checkpoint(machine: Machine, record: Record, initial: InitialConditions | None, path: str | Path) -> Path:
    """Write a simulation down; the file is replaced only when it is complete."""
    target = Path(path)
    system = machine.system
    about = {
        "format": FORMAT,
        "model": system.model.name,
        "coordinates": [names[0] for names in system.names],
        "arguments": machine.task.arguments,
        "parameters": machine.parameters.tolist(),
        "integrator": machine.integrator.name,
        "redundant": machine.redundant,
        "initial": None if initial is None else [initial.pose.__dict__, initial.moved, initial.changed],
        "events": [[e.t, e.element, e.mode, e.message, e.impulses, e.lost] for e in record.events],
    }
    states = np.array([np.concatenate([e.q, e.v]) for e in record.events])
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    with open(temporary, "wb") as file:
        np.savez(file, about=np.array(json.dumps(about)), events=states, grid=machine.task.grid, **_memory(machine))
    os.replace(temporary, target)
    return target


def resume(
    model: Model,
    path: str | Path,
    *,
    checkpoint: bool = True,
    progress: Callable[[float, float], None] | None = None,
) -> Result:
    """Go on with a simulation from its checkpoint file; the result covers the whole time, from the very start.

    ``model`` must be the same as the one the checkpoint was written for. With ``checkpoint`` the file is kept up to
    date while the run goes on.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            data = {key: stored[key] for key in stored.files}
        about: dict[str, Any] = json.loads(str(data["about"]))
    except FileNotFoundError:
        raise KempeError(f"there is no checkpoint file '{path}'") from None
    except (OSError, ValueError, KeyError) as error:
        raise KempeError(f"'{path}' is not a checkpoint file ({error})") from None
    if about.get("format") != FORMAT:
        raise KempeError(f"the checkpoint '{path}' was written by another version of Kempe and cannot be continued")
    system = compiled(model)
    if [names[0] for names in system.names] != about["coordinates"]:
        raise ModelError(f"the checkpoint '{path}' was written for another model ('{about['model']}')")
    machine = Machine(system, new_task(data["grid"], **about["arguments"]))
    machine.begin(np.array(about["parameters"], dtype=float))
    machine.integrator.catch_up(machine, about["integrator"])
    machine.redundant = about["redundant"]
    _restore(machine, data)
    record, n = Record(), system.n
    for (t, element, mode, message, impulses, lost), state in zip(about["events"], data["events"], strict=True):
        q, v = state[:n], state[n:]
        record.events.append(SwitchEvent("switch", t, element, mode, message, q, v, impulses, lost))
    start = about["initial"]
    initial = None if start is None else InitialConditions(Pose(**start[0]), start[1], start[2])
    return run_to_the_end(machine, record, initial, progress, path if checkpoint else None)


def _restore(machine: Machine, data: dict[str, np.ndarray]) -> None:
    """Put everything that compiled code keeps back; addresses are those of this process."""
    integrator = machine.integrator
    assert integrator.memory is not None

    def named(prefix: str) -> dict[str, Any]:
        return {key[len(prefix) + 1 :]: value for key, value in data.items() if key.startswith(f"{prefix} ")}

    machine.course.restore(named("course"))
    integrator.memory.restore(named("memory"))
    for name, value in named("equations").items():
        getattr(machine.eq, name)[...] = value
    for name, value in named("work").items():
        getattr(machine.wk, name)[...] = value
