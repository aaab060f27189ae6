"""How the start of a motion depends on design parameters: through assembly, and through the start velocities.

The assembled pose is the one nearest to the sketch d: W (q - d) + Phi_q^T mu = 0, Phi = 0, W = diag(1 / size^2).
The start velocities are those of least kinetic energy with the given ones kept: M v + Phi_q^T mu + E^T kappa = 0,
Phi' = 0, E v = given. Both are differentiated as the linear systems that follow from them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import bmat, coo_matrix, csc_matrix, diags
from scipy.sparse.linalg import splu

from kempe.errors import ModelError
from kempe.simulation.machine import Machine
from kempe.simulation.posing import checked_inputs
from kempe.solvers import start as st
from kempe.solvers.directions import Directions, pulled, pushed
from kempe.system.sizes import draw

#: What a pivot of the multiplier block gets, in squares of row sizes, and how often a solution is refined.
SHIFT, SWEEPS = 1e-11, 6
#: Poses that differ by more than this, in sizes, were moved to assemble.
MOVED = 1e-9


class _Saddle:
    """[H, J^T; J, 0], factored with a small shift that refinement takes out again."""

    def __init__(self, H: Any, J: Any, row_scale: np.ndarray, unit: float) -> None:
        n, m = H.shape[0], J.shape[0]
        self.n, self.K = n, csc_matrix(bmat([[H, J.T], [J, None]]) if m else H)
        shift = diags(np.concatenate([np.zeros(n), -SHIFT * row_scale**2 / unit]))
        self.factors = splu(csc_matrix(self.K + shift))

    def solve(self, rhs: np.ndarray, trans: str = "N") -> np.ndarray:
        """The solution for one or more right-hand sides, as columns."""
        K = self.K if trans == "N" else self.K.T
        found = self.factors.solve(rhs, trans)
        for _ in range(SWEEPS):
            found += self.factors.solve(rhs - K @ found, trans)
        return found


class StartSlopes:
    """The derivatives of the start at which a machine stands by numbers x, sketch d and given velocities."""

    def __init__(self, machine: Machine, inertia: Directions, velocity: Directions) -> None:
        self.machine, self.inertia, self.velocity = machine, inertia, velocity
        self.system, self.eq, self.start = machine.system, machine.eq, machine.start
        self.q, self.v, self.stood = machine.stood
        self.t = machine.task.begun
        self.drawn = self.start.drawn.copy()
        self.x = checked_inputs(self.system, machine.parameters)[0]
        self.moved = bool(np.any(np.abs(self.q - self.drawn) > MOVED * self.eq.scale))
        self._pose()
        self._velocities()

    # --- the assembled pose ----------------------------------------------------------------------------------------

    def _placed(self, x: np.ndarray, a: np.ndarray, lam: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Inputs of all kernels in the start position."""
        placed = x.copy()
        self.system.evaluate(self.system.layout.arguments, placed, self.q, self.t, v, lam, a)
        return placed

    def _jacobian(self, x: np.ndarray) -> Any:
        rows, columns, values = self.system.jacobian(x.copy(), self.q, self.t)
        return coo_matrix((values, (rows, columns)), shape=(self.eq.m, self.eq.n)).tocsc()

    def _pose(self) -> None:
        eq, n, m = self.eq, self.eq.n, self.eq.m
        W, J = diags(1.0 / eq.scale**2), self._jacobian(self.x)
        self.mu = np.zeros(m)
        if self.moved and m:
            away = (self.drawn - self.q) / eq.scale**2
            self.mu = _Saddle(W, J, eq.row_scale, 1.0).solve(np.concatenate([away, np.zeros(m)]))[n:]
        self._at_pose = self._placed(self.x, np.zeros(n), self.mu, np.zeros(n))
        H = csc_matrix(W + self._curvature()) if self.moved and m else W
        self._pose_system = _Saddle(H, J, eq.row_scale, 1.0)

    def _curvature(self) -> np.ndarray:
        """(Phi_q^T mu)_q, column by column."""
        layout, n = self.system.layout, self.eq.n
        found, dx, out = np.zeros((n, n)), np.zeros(len(self.x)), np.zeros(max(1, self.inertia.size))
        for k in range(n):
            dx[layout.q_to[layout.q_from == k]] = 1.0
            pushed(self.inertia, self._at_pose, dx, out)
            dx[layout.q_to[layout.q_from == k]] = 0.0
            found[:, k] = out
        return found

    # --- the velocities --------------------------------------------------------------------------------------------

    def _velocities(self) -> None:
        eq, start, n, m = self.eq, self.start, self.eq.n, self.eq.m
        x = self.stood.copy()
        x[eq.hybrids.row_at] = self.machine.held_at_first
        given = np.flatnonzero(start.is_given)
        pace = max(float(np.abs(self.v / eq.scale).max(initial=0.0)), 1e-300)
        missed = np.abs(self.v - start.given)[given] > 1e-7 * pace * eq.scale[given]
        if missed.any():
            names = ", ".join(f"'{self.system.names[k][1]}'" for k in given[missed])
            raise ModelError(
                f"the joints do not allow the velocity of {names} that was given, and what comes closest to it is not "
                "differentiated: give velocities that can be had"
            )
        unit = start.unit if start.unit > 0.0 else 1.0
        weight = unit / eq.scale**2
        light = np.where(start.mass <= 0.0, st.MASSLESS * weight, 0.0) if start.unit > 0.0 else weight
        H = self._mass(x) + diags(light)
        E = coo_matrix((np.ones(len(given)), (range(len(given)), given)), shape=(len(given), n)).tocsc()
        J = self._jacobian(x)
        rows = np.concatenate([eq.row_scale, np.ones(len(given))])
        self.given = given
        on = self.system.in_force(x)
        all_rows = csc_matrix(bmat([[J], [E]])) if len(given) and m else (J if m else E)
        self._velocity_system = _Saddle(H, all_rows, rows, unit) if all_rows.shape[0] else _Saddle(H, J, rows, unit)
        self.nu = np.zeros(m)
        if all_rows.shape[0]:
            found = self._velocity_system.solve(np.concatenate([np.zeros(n), all_rows @ self.v]))
            self.nu = found[n : n + m] * on if m else self.nu
        self._at_velocity = self._placed(x, self.v, self.nu, self.v)

    def _mass(self, x: np.ndarray) -> Any:
        d = self.system.dynamics
        out = self.system.evaluate(d.explicit, x.copy(), self.q, self.t, np.zeros(self.eq.n))
        values = out[self.eq.n + 3 * self.eq.m :][: len(d.block_rows)]
        return coo_matrix((values, (d.block_rows, d.block_columns)), shape=(self.eq.n, self.eq.n)).tocsc()

    # --- forward and backward ----------------------------------------------------------------------------------------

    def push(self, dx: np.ndarray, dd: np.ndarray, dgiven: np.ndarray, dsize: np.ndarray) -> tuple[np.ndarray, ...]:
        """Directions of q and v, a row each, from rows of directions of numbers, sketch, given velocities and size."""
        n, m, layout = self.eq.n, self.eq.m, self.system.layout
        count = len(dx)
        rhs, out, both = np.zeros((n + m, count)), np.zeros(max(1, n)), np.zeros(max(1, 2 * m))
        for k in range(count):
            pushed(self.inertia, self._at_pose, dx[k], out)
            pushed(self.velocity, self._at_pose, dx[k], both)
            rhs[:n, k] = dd[k] / self.eq.scale**2 + self._stretch() * dsize[k]
            if self.moved:
                rhs[:n, k] -= out[:n]
            rhs[n:, k] = -both[:m]
        dq = self._pose_system.solve(rhs)[:n].T
        dv = np.zeros_like(dq)
        rhs = np.zeros((self._velocity_system.K.shape[0], count))
        for k in range(count):
            along = dx[k].copy()
            along[layout.q_to] = dq[k][layout.q_from]
            pushed(self.inertia, self._at_velocity, along, out)
            pushed(self.velocity, self._at_velocity, along, both)
            rhs[:n, k] = -out[:n]
            rhs[n : n + m, k] = -both[m : 2 * m]
            rhs[n + m :, k] = dgiven[k][self.given]
        dv = self._velocity_system.solve(rhs)[:n].T
        return np.ascontiguousarray(dq), np.ascontiguousarray(dv)

    def pull(self, qbar: np.ndarray, vbar: np.ndarray, xbar: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights of numbers (added to the rows of xbar), sketch, given velocities and size from those of q and v."""
        n, m, layout = self.eq.n, self.eq.m, self.system.layout
        dbar, gbar, sizebar = np.zeros_like(qbar), np.zeros_like(vbar), np.zeros(len(qbar))
        for f in range(len(qbar)):
            rhs = np.zeros(self._velocity_system.K.shape[0])
            rhs[:n] = vbar[f]
            w = self._velocity_system.solve(rhs, "T")
            both = np.concatenate([np.zeros(m), -w[n : n + m], np.zeros(1)])
            bar = np.zeros(len(self.x))
            pulled(self.inertia, self._at_velocity, np.append(-w[:n], 0.0), bar)
            pulled(self.velocity, self._at_velocity, both, bar)
            gbar[f, self.given] = w[n + m :]
            q = qbar[f] + np.bincount(layout.q_from, bar[layout.q_to], minlength=n)
            self._forget_state(bar)
            xbar[f] += bar
            rhs = np.zeros(n + m)
            rhs[:n] = q
            w = self._pose_system.solve(rhs, "T")
            dbar[f] = w[:n] / self.eq.scale**2
            sizebar[f] = float(w[:n] @ self._stretch())
            bar = np.zeros(len(self.x))
            if self.moved:
                pulled(self.inertia, self._at_pose, np.append(-w[:n], 0.0), bar)
            pulled(self.velocity, self._at_pose, np.concatenate([-w[n:], np.zeros(m + 1)]), bar)
            self._forget_state(bar)
            xbar[f] += bar
        return dbar, gbar, sizebar

    def _forget_state(self, bar: np.ndarray) -> None:
        layout = self.system.layout
        for places in (layout.q_to, layout.v_to, layout.a_to, layout.t_to, layout.lam_to):
            bar[places] = 0.0

    def _stretch(self) -> np.ndarray:
        """-W_size (q - d): what a larger mechanism size changes of what is nearest."""
        eq = self.eq
        if not self.moved:
            return np.zeros(eq.n)
        lengths = np.isnan(self.system.natural_scale)
        return np.where(lengths, 2.0 * (self.q - self.drawn) / eq.scale**3, 0.0)

    def size_slopes(self) -> np.ndarray:
        """How the mechanism's size, by which lengths count, changes with each parameter (by differences)."""
        P = len(self.machine.parameters)
        found = np.zeros(P)
        if not self.moved or not np.isnan(self.system.natural_scale).any():
            return found
        sketch, system = self.machine.sketch, self.system
        for k in range(P):
            step = 1e-4 * max(abs(self.machine.parameters[k]), 1e-3)

            def size(by: float, k: int = k) -> float:
                p = self.machine.parameters.copy()
                p[k] += by
                x, drawn = system.inputs(p)
                draw(system, sketch, x, drawn)
                return float(sketch.size)

            coarse, fine = ((size(h) - size(-h)) / (2 * h) for h in (step, step / 2))
            found[k] = (4 * fine - coarse) / 3
        draw(system, sketch, *system.inputs(self.machine.parameters))
        return found
