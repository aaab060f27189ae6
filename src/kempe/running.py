"""Running a model file: its analyses one after another, and what it asks to be written."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kempe import view
from kempe.api import Equations, Mechanism
from kempe.errors import ConvergenceError, KempeError, ModelError, SingularPositionError
from kempe.model import files
from kempe.results import Result
from kempe.system import compiled


@dataclass
class Run:
    """One analysis that was run: its result, what was written, and why it ended early if it did."""

    name: str
    result: Result
    error: str = ""
    files: list[Path] = field(default_factory=list)


def run_file(
    path: str | Path, out: str | Path | None = None, progress: Callable[[str, int, int], None] | None = None
) -> list[Run]:
    """Run every analysis of a model file and write results, plots, animation and report to a folder.

    The folder is ``out/`` with the file's name below it unless given. An analysis that ends early leaves what exists.
    """
    document = files.read(path)
    model = files.build(document, Mechanism, Equations)
    if not document.data.analyses:
        raise ModelError(f"{path}: there is nothing to run; add an entry under 'analyses'")
    unknown = unknown_outputs(document, model)
    if unknown:
        raise ModelError(unknown)
    stem = Path(path).name.removesuffix(".yaml").removesuffix(".kempe")
    folder = Path("out") / stem if out is None else Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    runs = []
    for k, item in enumerate(document.data.analyses):
        spec = item.kinematics
        name = spec.name if len(document.data.analyses) == 1 or spec.name != "kinematics" else f"kinematics {k + 1}"
        run = analyse(model, spec, name, progress)
        _write(run, model, document.data.outputs, folder)
        runs.append(run)
    return runs


def analyse(model: Any, spec: Any, name: str, progress: Callable[[str, int, int], None] | None) -> Run:
    """One analysis of a file; one that ends early keeps what exists."""
    import numpy as np

    times: Any = spec.times
    if hasattr(times, "end"):
        times = np.linspace(times.start, times.end, times.steps + 1)
    report = None if progress is None else (lambda done, wanted: progress(name, done, wanted))
    try:
        result = model.kinematics(
            times,
            steps=spec.steps,
            on_singular=spec.on_singular,
            branch=spec.branch,
            parameters=spec.parameters,
            progress=report,
        )
    except (SingularPositionError, ConvergenceError) as error:
        return Run(name, error.result, str(error))
    return Run(name, result, "" if result.success else result.message)


def unknown_outputs(document: files.Document, model: Any) -> list[str]:
    """Names under 'outputs' that no result will have, each with its line."""
    histories = [name for triple in compiled(model).names for name in triple]
    movers = [name for name, part in model.parts.items() if hasattr(part, "at")]
    found = []
    for key, known in (("plots", histories), ("traces", movers)):
        for k, name in enumerate(getattr(document.data.outputs, key)):
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                found.append(f"{document.line('outputs', key, k)}: {key}: there is no '{name}'{hint}")
    return found


def _write(run: Run, model: Any, outputs: Any, folder: Path) -> None:
    stem = run.name.replace(" ", "_")
    run.files += [run.result.save(folder / f"{stem}.nc"), run.result.to_csv(folder / f"{stem}.csv")]
    if len(run.result) < 2:
        return
    if outputs.plots:
        run.files.append(view.save(view.plot(run.result, outputs.plots), folder / f"{stem}.png"))
    if isinstance(model, Mechanism):
        run.files.append(view.save(view.draw(model), folder / "mechanism.png"))
        if outputs.animation:
            run.files.append(view.animate(model, run.result, folder / f"{stem}.gif", trace=outputs.traces))
    if outputs.report:
        shown = {"plots": outputs.plots, "traces": outputs.traces}
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
        unknown = [f"error: {finding}" for finding in unknown_outputs(document, model)]
        return [*unknown, *(str(f) for f in model.check())], str(model.mobility())
    except KempeError as error:
        return [f"error: {error}"], ""


def compiles_first() -> bool:
    """Whether the solvers have to be compiled before the first analysis on this machine."""
    from kempe.solvers.continuation import track
    from kempe.solvers.jit import is_kept

    return not is_kept(track)


def examples_folder() -> Path:
    """Where the examples are: in the source tree, or installed beside the program."""
    import sys

    candidates = [Path(__file__).parents[2] / "examples", Path(sys.prefix) / "share" / "kempe" / "examples"]
    for folder in candidates:
        if any(folder.glob("*.kempe.yaml")):
            return folder
    raise KempeError("the examples are not installed with this copy of Kempe")
