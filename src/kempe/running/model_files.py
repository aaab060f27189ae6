"""Model files run: all their analyses, or one that is asked for, with what they write in a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kempe import view
from kempe.api import Equations, Mechanism
from kempe.disk import told
from kempe.errors import KempeError, ModelError
from kempe.model import files
from kempe.model.analyses import ANALYSES
from kempe.running.checking import unknown_analyses, unknown_in, unknown_names
from kempe.running.entries import Run, analyse
from kempe.running.outputs import write
from kempe.simulation.progress import Progress

#: What a command adds to, entry by entry; anything else it replaces.
MERGED = ("parameters", "velocities", "options")


def model_from(path: str | Path, trust: Iterable[str] = ()) -> Any:
    """The model of a file, without running anything."""
    return files.build(files.read(path), Mechanism, Equations, trust=trust)


def plots_of(path: str | Path) -> list[str]:
    """The quantities that a file wants to see."""
    return list(files.read(path).data.outputs.plots)


def run_file(
    path: str | Path, out: str | Path | None = None, progress: Progress = None, trust: Iterable[str] = ()
) -> list[Run]:
    """Run every analysis of a model file and write what came out, with plots, animations and reports, to a folder.

    The folder is ``out/`` with the file's name below it unless given. An analysis that ends early leaves what exists.
    """
    document = files.read(path)
    model = files.build(document, Mechanism, Equations, trust=trust)
    if not document.data.analyses:
        raise ModelError(f"{path}: there is nothing to run; add an entry under 'analyses'")
    unknown = unknown_in(document, model)
    if unknown:
        raise ModelError(unknown)
    folder = _folder(Path("out") / _plain(path) if out is None else Path(out))
    runs: list[Run] = []
    alone = len(document.data.analyses) == 1
    stems = {"mechanism"}
    rest: dict[str, Any] = {}
    for k, item in enumerate(document.data.analyses):
        name = item.spec.name if alone or item.spec.name != item.kind else f"{item.kind} {k + 1}"
        place = folder / _stem(name, stems)
        checkpoint = folder / item.spec.checkpoint if item.kind == "resume" else place.with_name(f"{place.name}.npz")
        with _said_where(document.line("analyses", k, item.kind)):
            run = analyse(model, item.kind, item.spec, name, rest, checkpoint, progress)
        if item.kind == "equilibrium" and run.result is not None:
            rest[item.spec.name] = run.result
        write(run, model, document.data.outputs, place)
        runs.append(run)
    return runs


def run_one(
    path: str | Path,
    kind: str,
    changes: Mapping[str, Any],
    checkpoint: Path | None = None,
    out: str | Path | None = None,
    progress: Progress = None,
    trust: Iterable[str] = (),
) -> Run:
    """Run one analysis of the model in a file; what came out is written where a folder is given.

    Where the file has an entry of that kind, its first is what is meant, but for the ``changes``. ``checkpoint`` is the
    file that a simulation is written to, or resumed from.
    """
    document = files.read(path)
    model = files.build(document, Mechanism, Equations, trust=trust)
    mine = [item.spec for item in document.data.analyses if item.kind == kind]
    given = mine[0].model_dump(exclude_unset=True) if mine else {}
    if isinstance(given.get("times"), dict) and "steps" in changes:
        given["times"]["steps"] = changes["steps"]
    for key, value in changes.items():
        given[key] = {**given.get(key, {}), **value} if key in MERGED else value
    spec = _checked(kind, given)
    command = f"kempe {kind.replace('_', '-')}"
    known = [item.spec.name for item in document.data.analyses if item.kind == "equilibrium"]
    unknown = [*unknown_analyses(document, model), *unknown_names(kind, spec, model, known, lambda *_: command)]
    if unknown:
        raise ModelError(unknown)
    run = analyse(model, kind, spec, spec.name, _equilibria(document, model, spec, changes), checkpoint, progress)
    if out is not None:
        write(run, model, document.data.outputs, _folder(Path(out)) / _stem(spec.name, {"mechanism"}))
    return run


def _checked(kind: str, given: dict[str, Any]) -> Any:
    """What a command line asks for, as an entry of a file would."""
    try:
        return ANALYSES[kind].model_validate(given)
    except ValidationError as error:
        findings = []
        for item in error.errors(include_url=False, include_context=False):
            key = ".".join(str(part) for part in item["loc"][:2] if isinstance(part, int) or "[" not in part)
            words = item["msg"].removeprefix("Value error, ").replace("Input should", "should")
            words = "is missing, here and in the file" if item["type"] == "missing" else words
            findings.append(f"kempe {kind.replace('_', '-')}: {key} {words}")
        raise ModelError(list(dict.fromkeys(findings))) from None


@contextmanager
def _said_where(line: str) -> Iterator[None]:
    """Mistakes that an analysis finds are told with the line of its entry."""
    try:
        yield
    except ModelError as error:
        raise ModelError([f"{line}: {finding}" for finding in error.findings]) from error
    except KempeError as error:
        raise KempeError(f"{line}: {error}") from error


def _folder(folder: Path) -> Path:
    with told(folder):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _plain(path: str | Path) -> str:
    return Path(path).name.removesuffix(".yaml").removesuffix(".kempe")


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


def _equilibria(
    document: files.Document, model: Any, spec: Any, changes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The equilibrium that an analysis begins with, by its name in the file; with the same changes of parameters."""
    wanted = getattr(spec, "start", None) or getattr(spec, "about", None)
    if wanted is None:
        return {}
    named = [item.spec for item in document.data.analyses if item.kind == "equilibrium" and item.spec.name == wanted]
    parameters = {**named[0].parameters, **(changes or {}).get("parameters", {})}
    asked = named[0].model_copy(update={"parameters": parameters})
    found = analyse(model, "equilibrium", asked, wanted, _equilibria(document, model, asked, changes), None, False)
    return {wanted: found.result}


def animate_file(
    path: str | Path, out: Path, traces: list[str], vectors: list[str], trust: Iterable[str] = (), seen: Any = None
) -> tuple[Path, str]:
    """Animate the first motion of a model file; where it was written, and why the motion ended early if it did."""
    model, run, traced = _first_motion(path, trust)
    written = view.animate(model, run.result, out, trace=traces or traced, vectors=vectors, view=seen)
    return written, run.error


def show_file(
    path: str | Path, traces: list[str], port: int, trust: Iterable[str] = (), seen: Any = None
) -> tuple[Any, str]:
    """Show the first motion of a model file live; what shows it, and why the motion ended early if it did."""
    model, run, traced = _first_motion(path, trust)
    return view.show(model, run.result, trace=traces or traced, port=port, view=seen), run.error


def _first_motion(path: str | Path, trust: Iterable[str]) -> tuple[Any, Any, list[str]]:
    """The first motion of a model file: the model, the run, and the points whose paths the file asks for."""
    document = files.read(path)
    moving = [item for item in document.data.analyses if item.kind in ("kinematics", "simulate", "inverse_dynamics")]
    if not moving:
        raise ModelError(f"{path}: there is no motion to animate among its analyses")
    model = files.build(document, Mechanism, Equations, trust=trust)
    unknown = unknown_analyses(document, model)
    if unknown:
        raise ModelError(unknown)
    kind, spec = moving[0].kind, moving[0].spec
    run = analyse(model, kind, spec, "animation", _equilibria(document, model, spec), None, None)
    if run.result is None:
        raise KempeError(run.error)
    return model, run, document.data.outputs.traces
