"""Running a model file: its analyses one after another, and what it asks to be written."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from kempe import view
from kempe.api import Equations, Mechanism
from kempe.disk import told
from kempe.errors import ConvergenceError, KempeError, ModelError, SingularPositionError
from kempe.model import files
from kempe.results import Result
from kempe.results.energy import PARTS
from kempe.results.reactions import derived_names
from kempe.simulation.methods import METHODS, method_named
from kempe.system import compiled


@dataclass
class Run:
    """One analysis that was run: its result, what was written, and why it ended early if it did."""

    name: str
    result: Result
    error: str = ""
    files: list[Path] = field(default_factory=list)


def run_file(
    path: str | Path, out: str | Path | None = None, progress: Callable[[str, float, float], None] | None = None
) -> list[Run]:
    """Run every analysis of a model file and write results, plots, animation and report to a folder.

    The folder is ``out/`` with the file's name below it unless given. An analysis that ends early leaves what exists.
    """
    document = files.read(path)
    model = files.build(document, Mechanism, Equations)
    if not document.data.analyses:
        raise ModelError(f"{path}: there is nothing to run; add an entry under 'analyses'")
    unknown = [*unknown_names(document, model), *unknown_outputs(document, model)]
    if unknown:
        raise ModelError(unknown)
    stem = Path(path).name.removesuffix(".yaml").removesuffix(".kempe")
    folder = Path("out") / stem if out is None else Path(out)
    with told(folder):
        folder.mkdir(parents=True, exist_ok=True)
    runs = []
    alone = len(document.data.analyses) == 1
    stems = {"mechanism"}
    for k, item in enumerate(document.data.analyses):
        name = item.spec.name if alone or item.spec.name != item.kind else f"{item.kind} {k + 1}"
        run = analyse(model, item, name, progress)
        _write(run, model, document.data.outputs, folder / _stem(name, stems))
        runs.append(run)
    return runs


def _stem(name: str, taken: set[str]) -> str:
    """The name of an analysis as that of files in a folder, unlike those before it."""
    words = re.sub(r"[^\w+-]+", "_", name).strip("_") or "analysis"
    first = stem = words.encode(errors="replace")[:120].decode(errors="ignore")
    number = 1
    while stem.lower() in taken:
        number += 1
        stem = f"{first}_{number}"
    taken.add(stem.lower())
    return stem


def analyse(model: Any, item: Any, name: str, progress: Callable[[str, float, float], None] | None) -> Run:
    """One analysis of a file; one that ends early keeps what exists."""
    import numpy as np

    given = dict(item.spec)
    del given["name"]
    times: Any = given.pop("times")
    if hasattr(times, "end"):
        with np.errstate(all="ignore"):  # what is not finite is told soon enough
            times = np.linspace(times.start, times.end, times.steps + 1)
    given |= given.pop("options", {})
    start = float(np.ravel(times)[0]) if item.kind == "simulate" and np.ndim(times) else 0.0
    report = None if progress is None else (lambda done, wanted: progress(name, done - start, wanted - start))
    try:
        result = getattr(model, item.kind)(times, progress=report, **given)
    except (SingularPositionError, ConvergenceError) as error:
        if error.result is None:
            raise
        return Run(name, error.result, str(error))
    return Run(name, result, "" if result.success else result.message)


def unknown_names(document: files.Document, model: Any) -> list[str]:
    """Methods, options, velocities and parameters under 'analyses' that do not exist, each with its line."""
    rates = [names[1] for names in compiled(model).names]
    found = []
    for k, item in enumerate(document.data.analyses):
        where = partial(document.line, "analyses", k, item.kind)
        for name in item.spec.parameters:
            if name not in model.parameters:
                found.append(
                    f"{where('parameters', name)}: there is no parameter '{name}'{_near(name, model.parameters)}"
                )
        if item.kind != "simulate":
            continue
        for name in item.spec.velocities:
            if name not in rates:
                found.append(f"{where('velocities', name)}: there is no velocity '{name}'{_near(name, rates)}")
        try:
            method_named(item.spec.method, item.spec.options)
        except ModelError as error:
            found.append(f"{where('options' if item.spec.method in METHODS else 'method')}: {error}")
    return found


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def unknown_outputs(document: files.Document, model: Any) -> list[str]:
    """Names under 'outputs' that no result will have, each with its line."""
    system = compiled(model)
    labels = [row.label for row in system.rows]
    simulated = any(item.kind == "simulate" for item in document.data.analyses)
    histories = [name for triple in system.names for name in triple]
    histories += derived_names(system, labels if simulated else ())
    if simulated:
        histories += ["energy", *(f"energy.{part}" for part in (*PARTS, "total", "balance"))]
        histories += [f"lambda.{label}" for label in labels]
    movers = [name for name, part in model.parts.items() if hasattr(part, "at")]
    found = []
    for key, known in (("plots", histories), ("traces", movers)):
        for k, name in enumerate(getattr(document.data.outputs, key)):
            if name not in known:
                found.append(f"{document.line('outputs', key, k)}: {key}: there is no '{name}'{_near(name, known)}")
    return found


def _write(run: Run, model: Any, outputs: Any, place: Path) -> None:
    folder, stem = place.parent, place.name
    run.files += [run.result.save(folder / f"{stem}.nc"), run.result.to_csv(folder / f"{stem}.csv")]
    if len(run.result) < 2:
        return
    there = {*run.result.names, *(["energy"] if "energy.kinetic" in run.result.series else [])}
    plots = [name for name in outputs.plots if name in there]  # what only another analysis has is left to that
    if plots:
        run.files.append(view.save(view.plot(run.result, plots), folder / f"{stem}.png"))
    if isinstance(model, Mechanism):
        run.files.append(view.save(view.draw(model), folder / "mechanism.png"))
        if outputs.animation:
            run.files.append(view.animate(model, run.result, folder / f"{stem}.gif", trace=outputs.traces))
    if outputs.report:
        shown = {"plots": plots, "traces": outputs.traces}
        run.files.append(view.report(model, run.result, folder / f"{stem}.html", **shown))


def model_from(path: str | Path) -> Any:
    """The model of a file, without running anything."""
    return files.build(files.read(path), Mechanism, Equations)


def check_file(path: str | Path) -> tuple[list[str], str]:
    """All findings about a file (grave ones begin with 'error'), and the mobility of its model if it has one."""
    try:
        document = files.read(path)
        model = files.build(document, Mechanism, Equations)
    except ModelError as error:
        return [f"error: {finding}" for finding in error.findings], ""
    try:
        wrong = [*unknown_names(document, model), *unknown_outputs(document, model)]
        unknown = [f"error: {finding}" for finding in wrong]
        return [*unknown, *(str(f) for f in model.check())], str(model.mobility())
    except KempeError as error:
        return [f"error: {error}"], ""


def compiles_first(path: str | Path) -> bool:
    """Whether solvers have to be compiled before the analyses of a file can run on this machine."""
    from kempe.simulation.integrators import INTEGRATORS
    from kempe.solvers.continuation import track
    from kempe.solvers.driver import advance
    from kempe.solvers.jit import is_kept

    try:
        items = files.read(path).data.analyses
    except KempeError:
        return False
    chosen = [METHODS.get(item.spec.method) for item in items if item.kind == "simulate"]
    needed = [piece for method in chosen if method for piece in (advance, *INTEGRATORS[method.solver].functions)]
    needed += [track for item in items if item.kind == "kinematics"]
    return not all(is_kept(solver) for solver in needed)


def examples_folder() -> Path:
    """Where the examples are: in the source tree, or installed beside the program."""
    import sys

    candidates = [Path(__file__).parents[2] / "examples", Path(sys.prefix) / "share" / "kempe" / "examples"]
    for folder in candidates:
        if any(folder.glob("*.kempe.yaml")):
            return folder
    raise KempeError("the examples are not installed with this copy of Kempe")
