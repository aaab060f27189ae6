"""Checkpoints: a simulation written down so that it can be continued, digit for digit, by another process."""

from __future__ import annotations

import hashlib
import io
import json
import logging
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from kempe.calling import explained
from kempe.disk import as_path, check_writable, read_whole, replacing
from kempe.errors import FileError, KempeError, ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.results.events import retold, told
from kempe.simulation import running
from kempe.simulation.assembling import Pose
from kempe.simulation.machine import InitialConditions, Machine
from kempe.simulation.patience import Patience
from kempe.simulation.progress import Progress, Report, reporting
from kempe.simulation.running import Record, finished, go, result
from kempe.simulation.task import new_task
from kempe.system import compiled

log = logging.getLogger("kempe")

FORMAT = 5
#: A checkpoint larger than this is none.
LARGEST = 1 << 34


def run_to_the_end(
    machine: Machine,
    record: Record,
    initial: InitialConditions | None,
    progress: Report | None = None,
    checkpoint: str | Path | None = None,
) -> Result:
    """Run a machine to its end with checkpoints on the way; Ctrl-C returns what exists."""
    saved, trouble = monotonic(), ""
    if checkpoint is not None:
        check_writable(checkpoint)

    def save() -> None:
        nonlocal saved, trouble
        if checkpoint is None:
            return
        try:
            write_checkpoint(machine, record, initial, checkpoint)
            trouble = ""
        except FileError as error:  # a full disk is no reason to lose the run
            trouble = f"; {error}"
            log.warning("checkpoint: %s", error)
        saved = monotonic()

    patience = Patience(initial)

    def look_up(machine: Machine, record: Record) -> None:
        patience.look(machine, record)
        if monotonic() - saved > running.SAVE_EVERY:
            save()

    try:
        code = go(machine, record, look_up, progress)
    except KeyboardInterrupt:
        record.collect(machine)
        save()
        words = f"interrupted at t = {machine.course.now.t:.10g}{trouble}"
        return result(machine, record, "interrupted", words, initial)
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
    system = machine.system
    about = {
        "format": FORMAT,
        "model": system.model.name,
        "digest": system.digest,
        "coordinates": [names[0] for names in system.names],
        "arguments": machine.task.arguments,
        "parameters": machine.parameters.tolist(),
        "integrator": machine.integrator.name,
        "redundant": machine.redundant,
        "first_modes": machine.first_modes,
        "initial": None if initial is None else [initial.pose.__dict__, initial.moved, initial.changed],
        "events": [told(event) for event in record.events],
    }
    states = np.array([np.concatenate([e.q, e.v]) for e in record.events])
    arrays = {"events": states, "grid": machine.task.grid, **_memory(machine)}
    arrays = {name: np.asarray(value) for name, value in arrays.items()}
    text = json.dumps(about)
    with replacing(path) as fresh, open(fresh, "wb") as file:
        np.savez(file, about=np.array(text), checksum=np.array(_checksum(text, arrays)), **arrays)
    return as_path(path)


def _checksum(about: str, arrays: dict[str, np.ndarray]) -> str:
    """What stands in a checkpoint, in few letters."""
    found = hashlib.sha256(about.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(array.tobytes())
    return found.hexdigest()


@explained
def resume(
    model: Model,
    path: str | Path,
    *,
    checkpoint: bool = True,
    compile: str | None = None,
    progress: Progress = None,
) -> Result:
    """Go on with a simulation from its checkpoint file; the result covers the whole time, from the very start.

    ``model`` must be the same as the one the checkpoint was written for. With ``checkpoint`` the file is kept up to
    date while the run goes on. ``compile`` and ``progress`` are as in :func:`kempe.simulate`.
    """
    about, data = read_checkpoint(path)
    system = compiled(model)
    if about["digest"] != system.digest:
        same = [names[0] for names in system.names] == about["coordinates"]
        what = f"the checkpoint '{path}' was written for another model ('{about['model']}')"
        raise ModelError(what + (": its coordinates are the same, its equations or numbers are not" if same else ""))
    with reporting(progress, f"'{model.name}': resume", float(data["grid"][0])) as report:
        machine = Machine(system, new_task(data["grid"], **about["arguments"], compile=compile))
        machine.begin(np.array(about["parameters"], dtype=float))
        machine.integrator.catch_up(machine, about["integrator"], _named(data, "memory"))
        machine.redundant, machine.first_modes = about["redundant"], about["first_modes"]
        _restore(machine, data, path)
        record, n = Record(), system.n
        for plain, state in zip(about["events"], data["events"], strict=True):
            record.events.append(retold(plain, system.names, state[:n], state[n:]))
        start = about["initial"]
        initial = None if start is None else InitialConditions(Pose(**start[0]), start[1], start[2])
        return run_to_the_end(machine, record, initial, report, path if checkpoint else None)


def read_checkpoint(path: str | Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What a checkpoint says and the arrays in it, whole as they were written; raises KempeError otherwise.

    Nothing in a file is executed: arrays of objects, which numpy would unpickle, are refused.
    """
    if not as_path(path).exists():
        raise KempeError(f"there is no checkpoint file '{path}'")
    content = io.BytesIO(read_whole(path, LARGEST))
    try:
        with np.load(content, allow_pickle=False) as stored:
            data = {key: stored[key] for key in stored.files}
        text = str(data.pop("about"))
        about = json.loads(text)
        form, checksum = about["format"], str(data.pop("checksum", ""))
    except Exception as error:  # a file of somebody else's can be anything
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise KempeError(f"'{path}' is not a checkpoint file, or not a whole one ({reason})") from None
    if form != FORMAT:
        raise KempeError(f"the checkpoint '{path}' was written by another version of Kempe and cannot be continued")
    if checksum != _checksum(text, data):
        raise KempeError(f"the checkpoint '{path}' is damaged (its checksum is another) and cannot be continued")
    return about, data


def _restore(machine: Machine, data: dict[str, np.ndarray], path: str | Path) -> None:
    """Put everything that compiled code keeps back; addresses are those of this process."""
    integrator = machine.integrator
    assert integrator.memory is not None
    for name, value in _memory(machine).items():
        kept, here = data.get(name), np.asarray(value)
        if kept is None or kept.shape != here.shape or kept.dtype != here.dtype:
            raise KempeError(f"the checkpoint '{path}' does not fit: '{name}' is missing or has another size")
    machine.course.restore(_named(data, "course"))
    integrator.memory.restore(_named(data, "memory"))
    for name, value in _named(data, "equations").items():
        getattr(machine.eq, name)[...] = value
    for name, value in _named(data, "work").items():
        getattr(machine.wk, name)[...] = value


def _named(data: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The contents of one frame."""
    return {key[len(prefix) + 1 :]: value for key, value in data.items() if key.startswith(f"{prefix} ")}
