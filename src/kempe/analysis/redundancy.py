"""Which reactions of a mechanism rigid-body mechanics determines, which it does not, and what decides about those."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kempe.analysis.mobility import rows_in_force
from kempe.calling import explained
from kempe.elements import plain_number
from kempe.model import Model
from kempe.simulation.assembling import Pose, assembled, pose_array
from kempe.simulation.posing import Posed
from kempe.system import System
from kempe.system.dependence import combinations
from kempe.system.sharing import ELASTIC, levers
from kempe.system.uniqueness import Uniqueness

#: So many terms of a combination, and so many names, are written out.
TERMS, NAMES = 8, 12


@dataclass(frozen=True)
class SharedLoad:
    """Joints that hold the same thing, and the combinations of their forces that do nothing and are free.

    A combination has the force (or moment) of each row by its label, that of the last row being one.
    """

    joints: list[str]
    combinations: list[dict[str, float]]

    def __str__(self) -> str:
        joints, free = _listed(self.joints), len(self.combinations)
        said = "one combination of their forces does" if free == 1 else f"{free} combinations of their forces do"
        lines = [f"{joints} share{'s' * (len(self.joints) == 1)} a load: {said} nothing and can be anything"]
        for one in self.combinations:
            terms = [f"{value:+.4g} {label}" for label, value in list(one.items())[:TERMS]]
            lines.append(f"  {' '.join(terms)}" + (f" ... ({len(one) - TERMS} more)" if len(one) > TERMS else ""))
        return "\n".join(lines)


@dataclass(frozen=True)
class Redundancy:
    """What rigid-body mechanics determines of the reactions in a position.

    ``unique`` are the joints and drivers whose reaction it determines, ``undetermined`` those of which it leaves
    components open, with these. ``shared`` says who holds the same thing. ``decided`` is what tells the open ones: by
    the stiffnesses of joints they are "elastic", without any only the smallest can be given ("minimum norm"). ``left``
    are components that are told by nothing: rows without a stiffness that hold the same thing are equally rigid.
    """

    degree: int
    unique: list[str]
    undetermined: dict[str, list[str]]
    shared: list[SharedLoad]
    decided: str
    left: dict[str, list[str]] = field(default_factory=dict)
    message: str = ""

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        from html import escape

        facts = {
            "redundant constraints": self.degree,
            "determined": _listed(self.unique) or "none",
            "not determined": components_listed(self.undetermined) or "none",
        }
        rows = "".join(f"<tr><td>{name}</td><td>{escape(str(value))}</td></tr>" for name, value in facts.items())
        return f"<table>{rows}</table><pre>{escape(self.message)}</pre>"


@explained
def redundancy(
    model: Model, *, pose: Pose | None = None, time: float = 0.0, parameters: Mapping[str, float] | None = None
) -> Redundancy:
    """Which reactions rigid-body mechanics determines, by the names of joints, and what decides about the others.

    The mechanism is assembled first (from ``pose``, or from the sketch); drivers hold it as joints do. Constraints that
    depend on each other leave some reactions open: multipliers that exert nothing together can be added to any. In a
    singular position there may be more of these than beside it.
    """
    time = plain_number(time, "the time")
    posed = Posed(model, parameters)
    if pose is not None:
        posed.drawn = pose_array(posed.system, pose)
    q = assembled(posed, time)
    system = posed.system
    at = Uniqueness(system, posed.parameters, q, time, rows_in_force(posed, q, time))
    sharing = at.shared()
    named = [k for k, e in enumerate(system.elements) if e.rows and not e.keeps_rigid]
    undetermined = _open(at, named, at.idle)
    left = _open(at, named, sharing.untold(at.idle)) if sharing.kind == ELASTIC else undetermined
    found = Redundancy(
        degree=at.idle.shape[1],
        unique=[system.elements[k].name for k in named if system.elements[k].name not in undetermined],
        undetermined=undetermined,
        shared=_shared(at, posed),
        decided=sharing.kind if undetermined else "",
        left=left,
    )
    object.__setattr__(found, "message", _describe(model.name, found))
    return found


def _open(at: Uniqueness, named: list[int], idle: np.ndarray) -> dict[str, list[str]]:
    """The components of reactions that idle multipliers change, by element."""
    found = {at.system.elements[k].name: at.open_components(k, idle) for k in named}
    return {name: components for name, components in found.items() if components}


def _shared(at: Uniqueness, posed: Posed) -> list[SharedLoad]:
    """The groups of rows that idle multipliers connect, with combinations in forces and moments."""
    system = at.system
    lever = levers(system, at.parameters, at.q, at.t)[0]
    lever = np.where(np.isfinite(lever) & ~system.keeps_rigid, lever, 1.0)
    found: list[SharedLoad] = []
    made = combinations(at.scaled, system.blame_order)
    for group in _connected(system, at.scaled):
        own = [one for one in made if one.row in group]
        joints = list(dict.fromkeys(system.rows[k].owner for k in group if not system.keeps_rigid[k]))
        forces = []
        for one in own:
            force = one.shares / posed.row_scale * lever
            shown = [one.row, *(int(k) for k in np.flatnonzero(force * ~system.keeps_rigid) if k != one.row)]
            forces.append({system.rows[k].label: float(force[k] / force[one.row]) for k in shown})
        found.append(SharedLoad(joints, forces))
    return found


def _connected(system: System, idle: np.ndarray) -> list[list[int]]:
    """The rows that idle multipliers involve, in groups of joints that have nothing to do with each other."""
    owner = np.array([row.owner for row in system.rows])
    together = (np.abs(idle @ idle.T) > 1e-9) | ((owner[:, None] == owner) & ~system.keeps_rigid)
    left, found = [int(k) for k in np.flatnonzero(np.abs(idle).max(axis=1, initial=0.0))], []
    while left:
        group = {left[0]}
        while (more := {k for k in left for j in group if together[j, k]}) - group:
            group |= more
        found.append(sorted(group))
        left = [k for k in left if k not in group]
    return found


def _describe(name: str, found: Redundancy) -> str:
    if not found.degree:
        return f"'{name}': no constraint is redundant here; every reaction is determined"
    count = f"{found.degree} redundant constraint{'s' * (found.degree > 1)}"
    lines = [f"'{name}': {count}", *(str(shared) for shared in found.shared)]
    if not found.undetermined:
        lines.append("every reaction is determined all the same")
        return "\n".join(lines)
    lines.append(f"determined by rigid-body mechanics: {_listed(found.unique) or 'no reaction'}")
    lines.append(f"not determined by it: {components_listed(found.undetermined)}")
    if found.decided == ELASTIC:
        told = (
            "the stiffnesses of joints decide" if not found.left else "of these the stiffnesses of joints decide some"
        )
        lines.append(f"{told}: reactions='elastic'")
    if found.left:
        what = "not told by them" if found.decided == ELASTIC else "no stiffness tells them"
        rest = f": {components_listed(found.left)}" if found.decided == ELASTIC else ""
        lines.append(f"{what}{rest}; give these joints stiffness= (until then the smallest that fit are given)")
    return "\n".join(lines)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return ", ".join(f"'{name}'" for name in names[:NAMES]) + more


def components_listed(table: Mapping[str, list[str]]) -> str:
    """Components by joint in few words: all that are called alike are one."""
    words = [f"{name}.{what}" for name, components in table.items() for what in gathered(components)]
    more = f" and {len(words) - NAMES} more" if len(words) > NAMES else ""
    return ", ".join(words[:NAMES]) + more


def gathered(components: list[str]) -> list[str]:
    """Components of which all of a kind are there as one word: force.x and force.y are the force."""
    heads = list(dict.fromkeys(name.partition(".")[0] for name in components))
    found = []
    for head in heads:
        own = [name for name in components if name.partition(".")[0] == head]
        found += [head] if head in ("force", "moment") and len(own) > 1 else own
    return found
