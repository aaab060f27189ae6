"""A posed mechanism made ready to move: its equations of motion with scales and shifts, and where it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csc_matrix, diags
from scipy.sparse.linalg import splu

from kempe.analysis.assembly import CLOSED, Pose, assembled, consistent_velocity, named_pose, pose_array
from kempe.analysis.posing import Posed
from kempe.elements import plain_number
from kempe.errors import ConvergenceError, ModelError
from kempe.solvers import motion as mo
from kempe.solvers.least_squares import DENSE
from kempe.solvers.program import make_program

#: What a coordinate without inertia gets in the linear system, as a fraction of the largest inertia.
MASSLESS = 1e-10


@dataclass(frozen=True)
class InitialConditions:
    """Where a motion starts, and what had to be changed for it.

    ``moved`` and ``changed`` name the coordinates and the given velocities that differ from what was asked for, with
    the change; ``pose`` is the start itself.
    """

    pose: Pose
    moved: dict[str, float] = field(default_factory=dict)
    changed: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = []
        for what, table in (("moved to assemble", self.moved), ("velocity changed", self.changed)):
            if table:
                listed = ", ".join(f"{name} by {value:.6g}" for name, value in list(table.items())[:6])
                lines.append(f"{what}: {listed}" + (f" and {len(table) - 6} more" if len(table) > 6 else ""))
        return "; ".join(lines) or "as given"


class Moving:
    """The compiled equations of one model at parameter values."""

    def __init__(self, posed: Posed, programs: tuple[str, ...] = (), massless: np.ndarray | None = None) -> None:
        self.posed = posed
        self.system = posed.system
        self.programs = self.system.dynamics
        self._chosen = programs
        self.massless = np.zeros(self.system.n) if massless is None else massless
        if not any(f.kinetic is not None for f in self.system.families):
            raise ModelError(
                f"'{posed.model.name}' has no mass: give its bodies mass and inertia (kinematics needs none)"
            )

    @property
    def n(self) -> int:
        """How many coordinates."""
        return self.system.n

    @property
    def m(self) -> int:
        """How many constraint rows."""
        return self.system.m

    def linear(self, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """The diagonal of M and, per row, the stiffest share of Phi_q M^-1 Phi_q^T (massless coordinates left soft)."""
        d, n, m = self.programs, self.n, self.m
        out = self.system.evaluate(d.explicit, self.posed.x, q, t, v)
        values = out[n + 3 * m :]
        on_diagonal = d.block_rows == d.block_columns
        mass = np.zeros(n)
        mass[d.block_rows[on_diagonal]] = values[: len(d.block_rows)][on_diagonal]
        unit = float(np.max(mass * self.posed.scale**2, initial=0.0)) / self.posed.scale**2
        soft = np.where(mass > 0, mass, unit)
        jacobian = values[len(d.block_rows) :]
        entries = jacobian**2 / soft[d.jacobian_columns]
        most, least = np.zeros(m), np.full(m, np.inf)
        np.maximum.at(most, d.jacobian_rows, entries)
        seen = np.abs(jacobian) * self.posed.scale[d.jacobian_columns] > 1e-3 * self.posed.row_scale[d.jacobian_rows]
        np.minimum.at(least, d.jacobian_rows[seen], entries[seen])
        typical = float(np.median(most[most > 0])) if np.any(most > 0) else 1.0
        self.massless = np.where(mass > 0, 0.0, MASSLESS * unit)
        flexible = np.fmax(np.where(np.isfinite(least), least, typical), 1e-4 * most)
        return mass, flexible

    def equations(self, compliance: np.ndarray) -> mo.Equations:
        """The compiled equations with a compliance per constraint row."""
        d = self.programs
        empty = make_program([], np.zeros(0, np.int64), [], np.zeros(0, np.int64), 0)
        canonical = d.canonical if "canonical" in self._chosen else empty
        implicit = (d.residual, d.tangent, d.velocity) if "implicit" in self._chosen else (empty, empty, empty)
        modes = np.column_stack(d.mode_places).ravel() if d.hybrid else np.zeros(0, np.int64)
        indices = [*implicit[:2], d.explicit, self.system.value, canonical, d.energy, d.guards, d.latches, d.plan]
        indices += [d.jacobian_rows, d.jacobian_columns, np.array([self.n, self.m, len(d.block_rows)])]
        indices += [d.switch_table.ravel(), modes, implicit[2]]
        shift = np.concatenate([self.massless, -compliance])
        return mo.make_equations(self.system.layout, indices, self.posed.scale, self.posed.row_scale, shift)


def starting_state(
    posed: Posed, t: float, start: Pose | None, velocities: Mapping[str, float] | None
) -> tuple[np.ndarray, np.ndarray, InitialConditions]:
    """Assembled coordinates and consistent velocities, the given ones kept as far as possible."""
    if start is not None:
        posed.drawn = pose_array(posed, start)
    wanted = dict(start.rates) if start is not None else {}
    wanted.update(velocities or {})
    q = posed.drawn.copy()
    scaled = posed.Phi(q, t) / posed.row_scale
    if not np.abs(scaled).max(initial=0.0) <= CLOSED:
        q = assembled(posed, t)
    if posed.system.n <= DENSE:
        v = consistent_velocity(posed, q, t, wanted)
    else:
        v = _sparse_velocity(posed, q, t, wanted)
    names = posed.system.names
    moved = {
        names[k][0]: float(q[k] - posed.drawn[k]) for k in np.flatnonzero(np.abs(q - posed.drawn) > 1e-9 * posed.scale)
    }
    given = {n[1]: k for k, n in enumerate(names) if n[1] in wanted}
    limit = 1e-9 * max(1.0, float(np.abs(v / posed.scale).max(initial=0.0)))
    changed = {
        name: float(v[k] - wanted[name])
        for name, k in given.items()
        if abs(v[k] - wanted[name]) > limit * posed.scale[k]
    }
    return q, v, InitialConditions(named_pose(posed, q, v), moved, changed)


def _sparse_velocity(posed: Posed, q: np.ndarray, t: float, given: Mapping[str, float]) -> np.ndarray:
    """Velocities nearest to the given ones (and to rest) that satisfy the constraints, for many coordinates."""
    system = posed.system
    place = {n[1]: k for k, n in enumerate(system.names)}
    unknown = [name for name in given if name not in place]
    if unknown:
        raise ModelError(f"there is no velocity '{unknown[0]}'")
    out = system.evaluate(system.position, posed.x, q, t)
    rows, columns = system.jacobian_places
    J = csc_matrix(
        (out[system.m : system.m + len(rows)] * posed.scale[columns] / posed.row_scale[rows], (rows, columns)),
        shape=(system.m, system.n),
    )
    nu = out[system.m + len(rows) :] / posed.row_scale
    give, target = np.ones(system.n), np.zeros(system.n)
    for name, value in given.items():
        give[place[name]] = 1e-6
        target[place[name]] = plain_number(value, f"velocity '{name}'") / posed.scale[place[name]]
    normal = splu((J @ diags(give) @ J.T + 1e-12 * diags(np.ones(system.m))).tocsc())
    w = target.copy()
    for _ in range(4):
        w += give * (J.T @ normal.solve(nu - J @ w))
    if np.abs(nu - J @ w).max(initial=0.0) > 1e-8 * max(1.0, float(np.abs(w).max(initial=0.0))):
        raise ConvergenceError("no velocity satisfies all constraints in this position")
    return w * posed.scale
