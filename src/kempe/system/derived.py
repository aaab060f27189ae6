"""Which quantities a motion has by name besides its coordinates: outputs of elements, loads of joints."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Literal

from kempe.elements import Joint, Point
from kempe.elements.surfaces import TwoSurfaces
from kempe.system.system import System
from kempe.system.wrenches import heavy, second_part

#: What a derived quantity is: of which element, and which of its columns.
Derived = tuple[Literal["output", "force", "effort", "power", "shaking"], int, Any]
#: The resultant of the inertia forces of all moving parts, which the ground feels.
SHAKING = ("ground.shaking", "ground.shaking.x", "ground.shaking.y", "ground.shaking.moment")


def derived_names(system: System, known: Container[str]) -> dict[str, Derived]:
    """Quantities that can be computed when asked for: outputs of elements and loads of joints.

    ``known`` are the labels of the constraint rows whose multipliers there are.
    """
    found: dict[str, Derived] = {}
    for k, (element, family) in enumerate(zip(system.elements, system.families, strict=True)):
        loads = [e for e in (element, *element.loads()) if not all(e.row_label(row) in known for row in e.rows)]
        unknown = family.felt_outputs if loads else frozenset()
        found |= {f"{element.name}.{name}": ("output", k, name) for name in family.outputs if name not in unknown}
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
            ends = ["force", "force.x", "force.y", *([] if isinstance(part.carrier, Point) else ["moment"])]
            for end in ends:  # (an element that shows a force of its own means that)
                found.setdefault(f"{element.name}.{end}", ("force", k, end))
    if heavy(system):
        found |= {name: ("shaking", -1, name) for name in SHAKING}
    return found
