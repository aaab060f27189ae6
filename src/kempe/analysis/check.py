"""A look over a whole model: everything suspicious at once, each finding naming the part or joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kempe.analysis.doubts import doubts
from kempe.analysis.mobility import mobility
from kempe.analysis.redundancy import components_listed, redundancy
from kempe.calling import explained
from kempe.elements import Gear
from kempe.elements.parts import Inertia
from kempe.errors import AssemblyError, KempeError
from kempe.model import Model
from kempe.simulation.assembling import assembled
from kempe.simulation.posing import Posed
from kempe.system import System


@dataclass(frozen=True)
class Finding:
    """One thing worth knowing: ``grave`` when an analysis will fail or mislead because of it."""

    grave: bool
    about: str
    message: str

    def __str__(self) -> str:
        return f"{'error' if self.grave else 'note'}: {self.message}"


@explained
def check(model: Model, *, parameters: Mapping[str, float] | None = None) -> list[Finding]:
    """All findings about a model: numbers, connections, assembly, mobility, derivatives, and what is hardly meant.

    The last are questions about what is legal: angles of more than a turn, masses without gravity, springs without
    stiffness, parts and forces far away from all others.
    """
    findings = _bounds(model)
    try:
        posed = Posed(model, parameters)
    except KempeError as error:
        return [*findings, Finding(True, model.name, str(error))]
    findings += _connections(posed.system) + _meshes(posed.system)
    findings += [Finding(False, about, question) for about, question in doubts(posed.system)]
    try:
        q = assembled(posed, 0.0)
    except AssemblyError as error:
        return [*findings, *(Finding(True, name, str(error)) for name in list(error.gaps)[:1])]
    moved = np.abs((q - posed.drawn) / posed.scale)
    far = int(np.argmax(moved))
    if moved[far] > 0.3:
        name = posed.system.names[far][0]
        findings.append(Finding(False, name, f"assembly moves '{name}' from {posed.drawn[far]:.4g} to {q[far]:.4g}"))
    findings += _mobility(model, parameters)
    return findings + _derivatives(posed, q)


def _bounds(model: Model) -> list[Finding]:
    outside = [
        p for p in model.parameters.values() if p.bounds is not None and not p.bounds[0] <= p.value <= p.bounds[1]
    ]
    return [
        Finding(False, p.label, f"parameter '{p.label}' = {p.value} is outside its bounds {p.bounds}") for p in outside
    ]


def _connections(system: System) -> list[Finding]:
    """Parts that neither a constraint nor a force acts on."""
    own = (element for element in system.elements if not isinstance(element, Inertia))
    touched = {part.name for element in own for part in element.parts()}
    loose = [part.name for part in system.parts if part.name not in touched]
    return [Finding(False, name, f"'{name}' is connected to nothing") for name in loose]


def _meshes(system: System) -> list[Finding]:
    """Gears and belts of which a motion's reactions would miss the force between the wheels."""
    if not any(element.has_inertia for element in system.elements):
        return []
    without = [e for e in system.elements if isinstance(e, Gear) and e.torque_only]
    return [
        Finding(
            False,
            e.name,
            f"{e.kind} '{e.name}' passes on a torque only, and bearings do not feel its force; "
            "say where the wheels' centres are: on_i=, on_j=",
        )
        for e in without
    ]


def _mobility(model: Model, parameters: Mapping[str, float] | None) -> list[Finding]:
    info = mobility(model, parameters=parameters)
    findings = []
    permanent = [d for d in info.redundant if d.permanent]
    for d in permanent:
        joints = ", ".join(f"'{name}'" for name in d.elements)
        findings.append(Finding(False, d.elements[-1], f"redundant constraint: {d.row} adds nothing to {joints}"))
    if permanent and any(element.has_inertia for element in model.elements.values()):
        findings += _reactions(model, parameters)
    if info.shaky or info.singular_position:
        findings.append(Finding(True, model.name, str(info)))
    if info.drivers > info.dof:
        findings.append(Finding(True, model.name, f"{info.drivers} rows drive {info.dof} degrees of freedom"))
    return findings


def _reactions(model: Model, parameters: Mapping[str, float] | None) -> list[Finding]:
    """Reactions that nothing determines."""
    left = redundancy(model, parameters=parameters).left
    if not left:
        return []
    words = f"rigid-body mechanics does not determine {components_listed(left)}: give these joints stiffness="
    return [Finding(False, model.name, words)]


def _derivatives(posed: Posed, q: np.ndarray) -> list[Finding]:
    """Each row's Jacobian against differences to either side: a user's own element may have a kink here."""
    system = posed.system
    Phi, J, _ = posed.linear(q, 0.0)
    wrong = np.zeros(system.m)
    step = 1e-7
    for k in range(system.n):
        for side in (step, -step):
            d = np.zeros(system.n)
            d[k] = side * posed.scale[k]
            slope = (posed.Phi(q + d, 0.0) - Phi) / side
            wrong = np.maximum(wrong, np.abs(slope - J[:, k] * posed.scale[k]) / posed.row_scale)
    rows = [system.rows[k] for k in np.flatnonzero(~(wrong < 1e-4))]
    return [
        Finding(False, row.owner, f"'{row.label}' is not smooth in this pose: its derivative differs from differences")
        for row in rows
    ]
