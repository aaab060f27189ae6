"""How a mechanism can move: degrees of freedom, redundant constraints by name, permanent or only in this position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kempe.calling import explained
from kempe.elements import plain_number
from kempe.model import Model
from kempe.simulation.assembling import CLOSED, Pose, assembled, pose_array
from kempe.simulation.posing import Posed
from kempe.simulation.velocities import rates
from kempe.solvers.least_squares import levenberg_marquardt
from kempe.system.dependence import RANK, combinations, constraint_rank, idle_multipliers, most_first


@dataclass(frozen=True)
class Dependency:
    """One dependent constraint: the row that adds nothing, the vanishing combination, and the joints involved."""

    row: str
    combination: dict[str, float]
    permanent: bool
    elements: list[str]

    def __str__(self) -> str:
        others = {row: -c / self.combination[self.row] for row, c in self.combination.items() if row != self.row}
        if not others:
            return f"{self.row} constrains nothing"
        terms = [f"{c:+.4g} {row}" for row, c in list(others.items())[:8]]
        more = f" ... ({len(others) - 8} more)" if len(others) > 8 else ""
        return f"{self.row} = {' '.join(terms)}{more}"


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom and redundancy of a mechanism, its drivers left out.

    ``gruebler`` is the count coordinates minus constraints, ``dof`` the true number of degrees of freedom,
    ``instantaneous`` the number in exactly this position; they differ where constraints are redundant or the
    position is singular. ``gap`` is the ratio of the smallest singular value taken as nonzero to the largest taken
    as zero (infinite when none is zero).
    """

    coordinates: int
    constraints: int
    gruebler: int
    dof: int
    instantaneous: int
    drivers: int
    redundant: list[Dependency]
    gap: float
    singular_position: bool
    shaky: bool
    free: list[str] = field(default_factory=list)
    message: str = ""

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        from html import escape

        facts = {
            "degrees of freedom": self.dof,
            "driven": self.drivers,
            "coordinates": self.coordinates,
            "constraints": self.constraints,
            "Gruebler count": self.gruebler,
            "redundant": sum(d.permanent for d in self.redundant),
        }
        rows = "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in facts.items())
        return f"<table>{rows}</table><p>{escape(self.message)}</p>"


def rows_in_force(posed: Posed, q: np.ndarray, time: float) -> np.ndarray:
    """Which constraint rows hold in the modes in which a motion from rest in a position would begin; friction none."""
    system = posed.system
    if system.conditions.shape[1]:
        system.dynamics.put_first_modes(posed.x, q, time, np.zeros(system.n))
        posed.x[system.giving] = 0.0
    return system.in_force(posed.x)


@explained
def mobility(
    model: Model, *, pose: Pose | None = None, time: float = 0.0, parameters: Mapping[str, float] | None = None
) -> Mobility:
    """Degrees of freedom, redundant constraints by joint name, and whether the position is singular.

    The mechanism is assembled first (from ``pose``, or from the sketch). A redundancy is permanent when it is there
    in neighbouring assembled positions too; otherwise the position is singular.
    """
    time = plain_number(time, "the time")
    posed = Posed(model, parameters)
    if pose is not None:
        posed.drawn = pose_array(posed.system, pose)
    q = assembled(posed, time)
    system = posed.system
    own = ~system.drives & rows_in_force(posed, q, time)
    J = posed.linear(q, time)[1][own]
    rank, gap, (U, _, Vt) = constraint_rank(J, posed.scale, posed.row_scale[own])
    generic, beside = _neighbouring_rank(posed, q, time, own, rank, Vt)
    moves = beside is not None
    dependencies = _dependencies(posed, own, U[:, rank:])
    if beside is not None and rank < generic:
        still = idle_multipliers(posed.linear(beside, time)[1][own], posed.scale, posed.row_scale[own])
        permanent = _dependencies(posed, own, still)
        named = {d.row for d in permanent}
        dependencies = permanent + [replace(d, permanent=False) for d in dependencies if d.row not in named]
    elif rank < generic:
        always = len(dependencies) - (generic - rank)
        dependencies = [replace(d, permanent=k < always) for k, d in enumerate(dependencies)]
    shaky = rank < generic and not moves
    instantaneous, dof = system.n - rank, system.n - generic
    free = _free_coordinates(Vt[rank:], system)
    result = Mobility(
        coordinates=system.n,
        constraints=len(J),
        gruebler=system.n - len(J),
        dof=dof,
        instantaneous=instantaneous,
        drivers=int(system.drives.sum()),
        redundant=dependencies,
        gap=gap,
        singular_position=rank < generic,
        shaky=shaky,
        free=free,
    )
    object.__setattr__(result, "message", _describe(model.name, result))
    return result


def _neighbouring_rank(
    posed: Posed, q: np.ndarray, time: float, own: np.ndarray, rank: int, Vt: np.ndarray
) -> tuple[int, np.ndarray | None]:
    """The largest rank found in assembled positions nearby, and one of these; None where there are none at all."""
    full = min(int(own.sum()), posed.system.n)
    null = Vt[rank:].T
    if rank == full or null.shape[1] == 0:
        return rank, q if null.shape[1] > 0 else None
    near = neighbours(posed, q, time, own, null)
    if not near:  # where there is nothing but the position itself, it moves only infinitesimally
        return full, None
    found = [constraint_rank(posed.linear(p, time)[1][own], posed.scale, posed.row_scale[own])[0] for p in near]
    best = int(np.argmax(found))
    return (found[best], near[best]) if found[best] > rank else (rank, q)


def neighbours(posed: Posed, q: np.ndarray, time: float, own: np.ndarray, null: np.ndarray) -> list[np.ndarray]:
    """Assembled positions near q that satisfy the rows ``own``, reached along the columns of ``null`` (scaled)."""

    def residual(p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        Phi, J, _ = posed.linear(p, time)
        scale = posed.row_scale[own]
        return Phi[own] / scale, J[own] / scale[:, None]

    rng = np.random.default_rng(0)
    found = []
    for step in (1e-3, 1e-2):
        for _ in range(3 + null.shape[1]):
            direction = null @ rng.normal(size=null.shape[1])
            direction *= step / np.abs(direction).max()
            near = levenberg_marquardt(
                residual, q + direction * posed.scale, posed.scale**2, posed.scale, tolerance=1e-15
            )
            travelled = np.abs((near.q - q) / posed.scale).max()
            if near.residual <= CLOSED and travelled > 0.05 * step:
                found.append(near.q)
    return found


def _dependencies(posed: Posed, own: np.ndarray, idle: np.ndarray) -> list[Dependency]:
    """Dependent rows, the latest added first to be blamed, each with its vanishing combination."""
    rows = [row for row, mine in zip(posed.system.rows, own, strict=True) if mine]
    order = posed.system.blame_order
    place = np.cumsum(own) - 1
    found = []
    for one in combinations(idle, place[order[own[order]]]):
        shares = one.shares / posed.row_scale[own]
        shares /= shares[one.row]
        used = [int(j) for j in np.flatnonzero(shares) if not rows[j].element.keeps_rigid or j == one.row]
        combination = {rows[j].label: float(shares[j]) for j in used}
        elements = list(dict.fromkeys(rows[j].owner for j in used))
        found.append(Dependency(rows[one.row].label, combination, True, elements))
    return found


def _free_coordinates(null: np.ndarray, system: Any) -> list[str]:
    """The coordinates that move, strongest first."""
    if len(null) == 0:
        return []
    weight = np.abs(null).max(axis=0)
    order = most_first(weight)
    return [system.names[k][0] for k in order if weight[k] > 1e-9]


def _describe(name: str, m: Mobility) -> str:
    lines = [
        f"'{name}': {m.coordinates} coordinates, {m.constraints} constraints; "
        f"Gruebler count {m.gruebler}, true degrees of freedom {m.dof}" + (f", {m.drivers} driven" if m.drivers else "")
    ]
    permanent = [d for d in m.redundant if d.permanent]
    if permanent:
        lines.append(f"{len(permanent)} redundant constraint{'s' if len(permanent) > 1 else ''}:")
        lines += [f"  {d}" for d in permanent]
        lines.append("  (the motion is the same without them; m.redundancy() says which reactions are not unique)")
    if m.shaky:
        lines.append(
            f"shaky: it can move infinitesimally ({', '.join(m.free[:4])}), but no position nearby can be assembled"
        )
    elif m.singular_position:
        lines.append(
            f"singular position: {m.instantaneous} degrees of freedom here instead of {m.dof}; "
            f"free here: {', '.join(m.free[:6])}"
        )
        lines += [f"  {d}" for d in m.redundant if not d.permanent]
    if np.isfinite(m.gap) and m.gap < 1e4:
        lines.append(f"caution: the rank is uncertain (gap only {m.gap:.3g})")
    return "\n".join(lines)


@explained
def ranks(
    model: Model,
    pose: Pose | Mapping[str, float],
    velocities: Mapping[str, float] | None = None,
    *,
    time: float = 0.0,
    parameters: Mapping[str, float] | None = None,
) -> tuple[int, int, int]:
    """The ranks of Phi_q, [Phi_q nu] and [Phi_q gamma] in a pose, at velocities given by name (others zero)."""
    posed = Posed(model, parameters)
    q = pose_array(posed.system, pose if isinstance(pose, Pose) else Pose(dict(pose)))
    v = np.zeros(posed.system.n)
    for k, value in rates(posed.system, velocities or {}, q).items():
        v[k] = value
    _, J, nu = posed.linear(q, time)
    gamma = posed.gamma(q, time, v)
    scale = posed.row_scale
    base = J * posed.scale / scale[:, None]
    limit = RANK * np.linalg.norm(base, 2)
    found = []
    for column in (None, nu, gamma):
        matrix = base if column is None else np.column_stack([base, column / scale])
        found.append(int((np.linalg.svd(matrix, compute_uv=False) > limit).sum()))
    return found[0], found[1], found[2]
