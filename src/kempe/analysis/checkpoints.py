"""Checkpoints: a simulation written down so that it can be continued, digit for digit, by another process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kempe.analysis.dynamics import Simulation, SwitchEvent
from kempe.errors import KempeError, ModelError
from kempe.model import Model
from kempe.results import Result

FORMAT = 2


def write_checkpoint(run: Simulation, path: str | Path) -> Path:
    """Write a simulation down; the file is replaced only when it is complete."""
    target = Path(path)
    about = {
        "format": FORMAT,
        "model": run.posed.model.name,
        "coordinates": [names[0] for names in run.posed.system.names],
        "arguments": run.arguments,
        "integrator": run.integrator.name,
        "events": [[e.t, e.element, e.mode, e.message] for e in run.events],
    }
    arrays: dict[str, Any] = {f"course {key}": value for key, value in run.course.arrays().items()}
    arrays.update({f"memory {key}": value for key, value in run.integrator.arrays().items()})
    states = np.array([np.concatenate([e.q, e.v]) for e in run.events])
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    with open(temporary, "wb") as file:
        np.savez(file, about=np.array(json.dumps(about)), events=states, grid=run.grid, **arrays)
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
    arguments = about["arguments"]
    run = Simulation(model, data["grid"], start=None, velocities=None, **arguments)
    if [names[0] for names in run.posed.system.names] != about["coordinates"]:
        raise ModelError(f"the checkpoint '{path}' was written for another model ('{about['model']}')")
    run.integrator.catch_up(about["integrator"])
    n = run.moving.n
    for key, value in run.course.arrays().items():
        value[...] = data[f"course {key}"]
    for key, value in run.integrator.arrays().items():
        value[...] = data[f"memory {key}"]
    for (t, element, mode, message), state in zip(about["events"], data["events"], strict=True):
        run.events.append(SwitchEvent("switch", t, element, mode, message, state[:n], state[n:]))
    return run.run(progress, path if checkpoint else None)
