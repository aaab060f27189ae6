"""One entry under ``analyses``: what is asked for becomes a call, and its outcome a run."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kempe.analysis import Response, Runs, response, resume, run_many
from kempe.errors import ConvergenceError, ModelError, SingularPositionError
from kempe.simulation.progress import Progress


@dataclass
class Run:
    """One analysis that was run: its outcome, what was written, and why it ended early if it did.

    ``result`` is what the function of that name returns; None where nothing was found.
    """

    name: str
    kind: str
    result: Any
    error: str = ""
    files: list[Path] = field(default_factory=list)


def analyse(
    model: Any, kind: str, spec: Any, name: str, earlier: Mapping[str, Any], checkpoint: Path | None, progress: Progress
) -> Run:
    """Run one analysis; one that ends early keeps what exists.

    ``earlier`` are the equilibria found before, by name; ``checkpoint`` is where a simulation is written down.
    """
    given = {key: value for key, value in dict(spec).items() if key != "name"}
    if not given.get("parameters"):
        given.pop("parameters", None)  # those of the model, or of the equilibrium that it is about
    try:
        result = _called(model, kind, given, earlier, checkpoint, progress)
    except (SingularPositionError, ConvergenceError) as error:
        return Run(name, kind, error.result, str(error))
    if isinstance(result, Runs):
        return Run(name, kind, result, _failures(result))
    failed = not getattr(result, "success", True)
    return Run(name, kind, result, result.message if failed else "")


def _called(
    model: Any,
    kind: str,
    given: dict[str, Any],
    earlier: Mapping[str, Any],
    checkpoint: Path | None,
    progress: Progress,
) -> Any:
    if kind == "resume":
        return resume(model, checkpoint or given["checkpoint"], compile=given["compile"], progress=progress)
    for key in ("start", "about"):
        if given.get(key) is not None:
            found = earlier.get(given[key])
            if found is None:
                raise ModelError(f"the equilibrium '{given[key]}' was not found, so that nothing can begin there")
            given[key] = found if key == "about" else found.pose
    if "times" in given:
        given["times"] = _grid(given["times"])
    given |= given.pop("options", {})
    if kind == "equilibrium":
        return model.equilibrium(**given)
    if kind in ("linearise", "modes"):
        if "velocities" in given:
            given["velocities"] = given["velocities"] or None
        return getattr(model, kind)(given.pop("about"), **given)
    if kind == "sweep":
        return _swept(model, given, progress)
    if kind == "response":
        return _response(model, given, progress)
    if kind == "lyapunov":
        return model.lyapunov(progress=progress, **given)
    if kind == "optimise":
        given["by"] = given["by"] or None
    if kind == "horizon":
        given["quantities"] = given["quantities"] or None
    if kind == "simulate":
        given["checkpoint"] = checkpoint if given["checkpoint"] else None
    return getattr(model, kind)(given.pop("times"), progress=progress, **given)


def _grid(times: Any) -> Any:
    if not hasattr(times, "end"):
        return times
    with np.errstate(all="ignore"):  # what is not finite is told soon enough
        return np.linspace(times.start, times.end, times.steps + 1)


def _swept(model: Any, given: dict[str, Any], progress: Progress) -> Runs:
    """A table of designs; parameters that are the same for all of them are columns like the others."""
    columns = {name: _values(values) for name, values in given.pop("designs").items()}
    if given.pop("combine"):
        rows = list(itertools.product(*columns.values()))
        columns = {name: [row[k] for row in rows] for k, name in enumerate(columns)}
    size = len(next(iter(columns.values())))
    same = {name: [value] * size for name, value in given.pop("parameters", {}).items()}
    quantities, times = given.pop("quantities"), given.pop("times")
    return run_many(model, {**same, **columns}, quantities, times, progress=progress, **given)


def _response(model: Any, given: dict[str, Any], progress: Progress) -> Response:
    """A motion over whole periods, and what there is to say of it."""
    period, periods, skip = given.pop("period"), given.pop("periods"), given.pop("skip")
    motion = model.simulate(periods * period, steps=periods * given.pop("steps"), progress=progress, **given)
    return response(motion, period, skip=skip)


def _values(values: Any) -> list[float]:
    if hasattr(values, "count") and hasattr(values, "end"):
        return np.linspace(values.start, values.end, values.count).tolist()
    return list(values)


def _failures(runs: Runs) -> str:
    """What there is to say where designs did not run to the end."""
    if not runs.reasons:
        return ""
    number, reason = next(iter(runs.reasons.items()))
    design = ", ".join(f"{name} = {values[number]:.6g}" for name, values in runs.designs.items())
    return f"{len(runs.reasons)} of {len(runs)} designs failed; number {number} ({design}): {reason}"
