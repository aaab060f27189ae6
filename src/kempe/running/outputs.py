"""What the analyses of a file write: data for programs, and pictures for people."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from kempe import view
from kempe.analysis import Equilibrium, Horizon, Linearised, Lyapunov, Modes, Response, Runs
from kempe.design import Optimum
from kempe.disk import replacing, write_whole
from kempe.elements import ClearanceRevolute
from kempe.model.building import Builder
from kempe.results import Result
from kempe.results.storage import write_netcdf
from kempe.running.entries import Run
from kempe.running.summaries import data_of

#: So many modes are animated, the slowest.
ANIMATED = 3


def write(run: Run, model: Any, outputs: Any, place: Path) -> None:
    """Write the outcome of an analysis to files whose names begin with ``place``."""
    if isinstance(run.result, Result):
        _write_motion(run, model, outputs, place)
    elif isinstance(run.result, Runs):
        _write_designs(run, outputs, place)
    elif run.result is not None:
        text = json.dumps(data_of(run.result), indent=1, ensure_ascii=False)
        run.files.append(write_whole(_named(place, ".json"), text.encode()))
    if isinstance(run.result, Response):
        _write_orbits(run, place)
    if isinstance(run.result, Horizon) or (isinstance(run.result, Lyapunov) and np.isfinite(run.result.growth).all()):
        run.files.append(view.save(run.result.plot(), _named(place, ".png")))
    if isinstance(run.result, Optimum):
        _write_optimum(run, model, outputs, place)
    if isinstance(run.result, Equilibrium | Linearised) and isinstance(model, Builder):
        run.files.append(view.save(view.draw(model, run.result.pose), _named(place, ".png")))
    if isinstance(run.result, Modes) and isinstance(model, Builder) and outputs.animation:
        for k in range(min(ANIMATED, len(run.result))):
            run.files.append(run.result.animate(k, _named(place, f"_{k}.gif"), trace=outputs.traces))
    if isinstance(run.result, Equilibrium | Modes) and isinstance(model, Builder) and outputs.report:
        run.files.append(run.result.report(_named(place, ".html")))


def _named(place: Path, ending: str) -> Path:
    return place.with_name(place.name + ending)


def _write_motion(run: Run, model: Any, outputs: Any, place: Path) -> None:
    result = run.result
    run.files += [result.save(_named(place, ".nc")), result.to_csv(_named(place, ".csv"))]
    if len(result) < 2:
        return
    there = {*result.names, *(["energy"] if "energy.kinetic" in result.series else [])}
    plots = [name for name in outputs.plots if name in there]  # what only another analysis has is left to that
    if plots:
        run.files.append(view.save(view.plot(result, plots), _named(place, ".png")))
    if isinstance(model, Builder):
        run.files.append(view.save(view.draw(model), place.with_name("mechanism.png")))
        if outputs.animation:
            run.files.append(view.animate(model, result, _named(place, ".gif"), trace=outputs.traces))
    if outputs.report:
        shown = {"plots": plots, "traces": outputs.traces}
        run.files.append(view.report(model, result, _named(place, ".html"), **shown))


def _write_optimum(run: Run, model: Any, outputs: Any, place: Path) -> None:
    """The way to an optimum and what changed; before and after in motion."""
    found: Optimum = run.result
    if found.history:
        run.files.append(view.save(found.plot(), _named(place, "_history.png")))
    run.files.append(view.save(found.plot_changes(), _named(place, "_changes.png")))
    if outputs.report and found.results is not None and isinstance(model, Builder):
        plots = [name for name in outputs.plots if name in found.results[1].names]
        run.files.append(found.report(_named(place, ".html"), plots=plots, traces=outputs.traces))


def _write_orbits(run: Run, place: Path) -> None:
    """The motion behind a response, and the orbit of each journal."""
    found: Response = run.result
    run.files.append(found.result.save(_named(place, ".nc")))
    elements = {} if found.result.model is None else found.result.model.elements
    for name in found.contacts:
        if isinstance(elements.get(name), ClearanceRevolute):
            stem = re.sub(r"[^\w+-]+", "_", name)
            picture = found.result.plot_orbit(name, skip=found.skip)
            run.files.append(view.save(picture, _named(place, f"_{stem}.png")))


def _write_designs(run: Run, outputs: Any, place: Path) -> None:
    runs = run.result
    dataset = runs.to_dataset()
    odd = {name: re.sub(r"[^\w .+@()-]", "_", str(name)) for name in dataset.data_vars}
    run.files.append(write_netcdf(dataset.rename({k: v for k, v in odd.items() if k != v}), _named(place, ".nc")))
    run.files.append(_write_table(runs, _named(place, ".csv")))
    if len(runs.t) > 1 and runs.ok.any():
        run.files.append(view.save(view.plot(runs, list(runs.values)), _named(place, ".png")))


def _write_table(runs: Runs, path: Path) -> Path:
    """A line per design and time: the number of the design, its parameters, the time, the quantities."""
    size, times = len(runs), len(runs.t)
    columns = {"design": np.repeat(np.arange(size), times)}
    columns |= {name: np.repeat(values, times) for name, values in runs.designs.items()}
    columns |= {"t": np.tile(runs.t, size)}
    columns |= {name: values.ravel() for name, values in runs.values.items()}
    header = ",".join('"' + name.replace('"', '""') + '"' if re.search('[",]', name) else name for name in columns)
    with replacing(path) as fresh:
        table = np.column_stack(list(columns.values()))
        np.savetxt(fresh, table, delimiter=",", header=header, comments="", fmt="%.17g", encoding="utf-8")
    return path
