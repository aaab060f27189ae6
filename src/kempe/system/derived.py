"""Which quantities a motion has by name besides its coordinates: outputs of elements, loads of joints."""

from __future__ import annotations

from collections.abc import Container
from functools import reduce
from typing import Any, Literal

import numpy as np

from kempe.elements import Joint, Point
from kempe.elements.geometry import Geometry
from kempe.elements.surfaces import TwoSurfaces
from kempe.system.system import System
from kempe.system.wrenches import heavy, second_part

#: What a derived quantity is: of which element, and which of its columns.
Derived = tuple[Literal["output", "force", "effort", "power", "shaking"], int, Any]
#: The resultant of the inertia forces of all moving parts, which the ground feels.
SHAKING = "ground.shaking"


def shaking_names(system: System) -> tuple[str, ...]:
    """Its size, its components, and its moment about the origin of the world."""
    ends = [load.removeprefix("force.") for load in system.space.loads]
    return (SHAKING, *(f"{SHAKING}.{end}" for end in ends))


def load_names(space: Geometry, turns: bool) -> tuple[str, ...]:
    """What there is of a load: its size and components, and those of its moment where there is one."""
    forces = ("force", *space.loads[: space.dim])
    moments = space.loads[space.dim :]
    return (*forces, *(("moment",) if space.turns > 1 else ()), *moments) if turns else forces


def lengths(vectors: np.ndarray) -> np.ndarray:
    """How long vectors are, a row each."""
    return np.asarray(reduce(np.hypot, vectors.T))


def load_values(space: Geometry, which: str, force: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """One of these, from a force and a moment over time."""
    if which == "force":
        return lengths(force)
    if which == "moment" and space.turns > 1:
        return lengths(moment)
    return np.hstack([force, moment])[:, space.loads.index(which)]


def derived_names(system: System, known: Container[str]) -> dict[str, Derived]:
    """Quantities that can be computed when asked for: outputs of elements and loads of joints.

    ``known`` are the labels of the constraint rows whose multipliers there are.
    """
    found: dict[str, Derived] = {}
    for k, (element, family) in enumerate(zip(system.elements, system.families, strict=True)):
        loads = [e for e in (element, *element.loads()) if not all(e.row_label(row) in known for row in e.rows)]
        unknown = family.felt_outputs if loads else frozenset()
        found |= {f"{element.shown_as}.{name}": ("output", k, name) for name in family.outputs if name not in unknown}
        if element.shown_as != element.name:  # (what holds a body together is no joint)
            continue
        presses = isinstance(element, (Joint, TwoSurfaces)) and "force" in family.outputs
        if not (element.rows or presses) or element in loads:
            continue
        if element.drives:
            ends = [""] if len(element.rows) == 1 else [f".{row}" for row in element.rows]
            found |= {f"{element.name}.effort{end}": ("effort", k, i) for i, end in enumerate(ends)}
            found[f"{element.name}.power"] = ("power", k, None)
            continue
        part = second_part(element)
        if part is not None:
            # (an element that shows a force of its own means that)
            for end in load_names(system.space, not isinstance(part.carrier, Point)):
                found.setdefault(f"{element.name}.{end}", ("force", k, end))
    if heavy(system):
        found |= {name: ("shaking", -1, name) for name in shaking_names(system)}
    return found
