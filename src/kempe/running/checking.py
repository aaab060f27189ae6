"""Names in a file that do not exist, found before anything runs, each with its line."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from kempe.api import Equations, Mechanism
from kempe.design.evaluating import METHODS as DIFFERENTIATED
from kempe.design.functionals import Functional
from kempe.design.reading import quantities_in, read_functional, read_requirement
from kempe.design.searching import OPTIMISERS
from kempe.elements import Joint, SpatialJoint
from kempe.errors import KempeError, ModelError
from kempe.model import files
from kempe.results.energy import PARTS
from kempe.simulation.methods import METHODS, method_named
from kempe.system import compiled
from kempe.system.derived import derived_names

#: Analyses whose results have multipliers, and so reactions.
LOADED = ("simulate", "inverse_dynamics", "resume", "sweep")


def unknown_in(document: files.Document, model: Any) -> list[str]:
    """Names under 'analyses' and 'outputs' that do not exist."""
    return [*unknown_analyses(document, model), *_unknown_outputs(document, model)]


def unknown_analyses(document: files.Document, model: Any) -> list[str]:
    """Names under 'analyses' that do not exist."""
    found: list[str] = []
    earlier: list[str] = []
    for k, item in enumerate(document.data.analyses):
        found += unknown_names(item.kind, item.spec, model, earlier, partial(document.line, "analyses", k, item.kind))
        if item.kind == "equilibrium":
            earlier.append(item.spec.name)
    return found


def unknown_names(kind: str, spec: Any, model: Any, earlier: Iterable[str], where: Callable[..., str]) -> list[str]:
    """Methods, options, velocities, coordinates, parameters, quantities and equilibria that one analysis names."""
    system = compiled(model)
    named: dict[str, tuple[str, Iterable[str]]] = {
        "parameters": ("parameter", model.parameters),
        "designs": ("parameter", model.parameters),
        "by": ("parameter", model.parameters),
        "bounds": ("parameter", model.parameters),
        "velocities": ("velocity", [*(names[1] for names in system.names), *system.spins]),
        "hold": ("coordinate", [names[0] for names in system.names]),
        "coordinates": ("coordinate", [names[0] for names in system.names]),
        "quantities": ("quantity", histories(model, True)),
        "start": ("equilibrium before this entry called", earlier),
        "about": ("equilibrium before this entry called", earlier),
    }
    found = []
    for key, (what, known) in named.items():
        given = getattr(spec, key, None) or ()
        for k, name in enumerate([given] if isinstance(given, str) else given):
            if name not in known:
                place = (key, name) if isinstance(given, dict) else (key, k)
                found.append(f"{where(*place)}: there is no {what} '{name}'{_near(name, known)}")
    if kind == "optimise":
        return [*found, *unknown_in_design(spec, model, where)]
    if hasattr(spec, "method"):
        try:
            method_named(spec.method, getattr(spec, "options", {}))
        except ModelError as error:
            found.append(f"{where('options' if spec.method in METHODS else 'method')}: {error}")
    return found


def unknown_in_design(spec: Any, model: Any, where: Callable[..., str]) -> list[str]:
    """What an optimisation names that does not exist: methods, functionals, quantities in them."""
    found = []
    if spec.method not in OPTIMISERS:
        known = _near(spec.method, OPTIMISERS) or f"; there are {', '.join(OPTIMISERS)}"
        found.append(f"{where('method')}: there is no method '{spec.method}'{known}")
    if spec.formulation not in DIFFERENTIATED:
        listed = ", ".join(DIFFERENTIATED)
        found.append(f"{where('formulation')}: motions are differentiated by {listed}, not by '{spec.formulation}'")
    known_names = {*histories(model, True), *model.parameters}
    texts: list[tuple[str, Any, tuple[Any, ...]]] = [(spec.minimise, read_functional, ("minimise",))]
    texts += [(text, _required, ("subject_to", k)) for k, text in enumerate(spec.subject_to)]
    for text, read, place in texts:
        try:
            for name in quantities_in(read(text, model.parameters)):
                if name not in known_names:
                    found.append(f"{where(*place)}: there is no quantity '{name}'{_near(name, known_names)}")
        except ModelError as error:
            found.append(f"{where(*place)}: {error}")
    return found


def _required(text: str, parameters: Any) -> Functional:
    return read_requirement(text, parameters).functional


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def histories(model: Any, loaded: bool) -> list[str]:
    """The names of all histories that a result has; ``loaded``: with multipliers and energies."""
    system = compiled(model)
    labels = [row.label for row in system.rows]
    names = [name for triple in system.names for name in triple]
    names += derived_names(system, labels if loaded else ())
    if loaded:
        names += ["energy", *(f"energy.{part}" for part in (*PARTS, "total", "balance"))]
        names += [f"lambda.{label}" for label in labels]
    for name, measure in model.measures.items():
        names += [name] if all(need in names for need in measure.needs) else []
    return names


def _unknown_outputs(document: files.Document, model: Any) -> list[str]:
    """Names under 'outputs' that no result will have."""
    plotted = histories(model, any(item.kind in LOADED for item in document.data.analyses))
    movers = [name for name, part in model.parts.items() if hasattr(part, "at")]
    movers += [name for name, element in model.elements.items() if isinstance(element, (Joint, SpatialJoint))]
    found = []
    for key, known in (("plots", plotted), ("traces", movers)):
        for k, name in enumerate(getattr(document.data.outputs, key)):
            if name not in known:
                found.append(f"{document.line('outputs', key, k)}: {key}: there is no '{name}'{_near(name, known)}")
    return found


def check_file(path: str | Path, trust: Iterable[str] = ()) -> tuple[list[str], str]:
    """All findings about a file (grave ones begin with 'error'), and the mobility of its model if it has one."""
    try:
        document = files.read(path)
        model = files.build(document, Mechanism, Equations, trust=trust)
    except ModelError as error:
        return [f"error: {finding}" for finding in error.findings], ""
    try:
        unknown = [f"error: {finding}" for finding in unknown_in(document, model)]
        return [*unknown, *(str(f) for f in model.check())], str(model.mobility())
    except KempeError as error:
        return [f"error: {error}"], ""
