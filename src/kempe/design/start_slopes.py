"""How the start of a motion depends on design parameters: through assembly, and through the start velocities.

The assembled pose is the one nearest to the sketch d: W (q - d) + Phi_q^T mu = 0, Phi = 0, W = diag(1 / size^2).
The start velocities are those of least kinetic energy with the given ones kept: M v + Phi_q^T mu + E^T kappa = 0,
Phi' = 0, E v = given. Both are differentiated as the linear systems that follow from them.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.sparse import coo_matrix

from kempe.design.saddle import Saddle, Standing, added, against, along, diagonal
from kempe.errors import ModelError
from kempe.simulation.machine import Machine
from kempe.simulation.posing import checked_inputs
from kempe.simulation.velocities import rate_slopes
from kempe.solvers import start as st
from kempe.solvers.directions import Directions
from kempe.system.sizes import draw

#: Poses that differ by more than this, in sizes, were moved to assemble.
MOVED = 1e-9


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

    def _pose(self) -> None:
        eq, n, m = self.eq, self.eq.n, self.eq.m
        here = Standing(self.system, self.t, self.q, self.x)
        W, J = diagonal(1.0 / eq.scale**2), here.jacobian()
        self.mu = np.zeros(m)
        if self.moved and m:
            away = (self.drawn - self.q) / eq.scale**2
            self.mu = Saddle(W, J, eq.row_scale, 1.0).solve(np.concatenate([away, np.zeros(m)]))[n:]
        self._at_pose = here.placed(np.zeros(n), np.zeros(n), self.mu)
        H = added(W, coo_matrix(self._curvature())) if self.moved and m else W
        self._pose_system = Saddle(H, J, eq.row_scale, 1.0)

    def _curvature(self) -> np.ndarray:
        """(Phi_q^T mu)_q, column by column."""
        n, first = self.eq.n, self.system.layout.q.start
        found, dx = np.zeros((n, n)), np.zeros(len(self.x))
        for k in range(n):
            dx[first + k] = 1.0
            found[:, k] = along(self.inertia, self._at_pose, dx)
            dx[first + k] = 0.0
        return found

    # --- the velocities --------------------------------------------------------------------------------------------

    def _velocities(self) -> None:
        eq, start, n, m = self.eq, self.start, self.eq.n, self.eq.m
        x = self.stood.copy()
        x[eq.hybrids.row_at] = self.machine.held_at_first
        here = Standing(self.system, self.t, self.q, x)
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
        H, J = added(here.mass(), diagonal(light)), here.jacobian()
        below = np.concatenate([J.row, m + np.arange(len(given))]), np.concatenate([J.col, given])
        all_rows = coo_matrix((np.concatenate([J.data, np.ones(len(given))]), below), shape=(m + len(given), n))
        rows = np.concatenate([eq.row_scale, np.ones(len(given))])
        self.given = given
        #: What the given angular velocities make of the rates of axes changes with these.
        self._turned = rate_slopes(self.system, self.machine.task.velocities, self.q)
        on = self.system.in_force(x)
        self._velocity_system = Saddle(H, all_rows, rows, unit)
        self.nu = np.zeros(m)
        if all_rows.shape[0]:
            found = self._velocity_system.solve(np.concatenate([np.zeros(n), all_rows @ self.v]))
            self.nu = found[n : n + m] * on if m else self.nu
        self._at_velocity = here.placed(self.v, self.v, self.nu)

    # --- forward and backward ----------------------------------------------------------------------------------------

    def push(self, dx: np.ndarray, dd: np.ndarray, dgiven: np.ndarray, dsize: np.ndarray) -> tuple[np.ndarray, ...]:
        """Directions of q and v, a row each, from rows of directions of numbers, sketch, given velocities and size."""
        n, m, layout = self.eq.n, self.eq.m, self.system.layout
        count = len(dx)
        rhs = np.zeros((n + m, count))
        for k in range(count):
            rhs[:n, k] = dd[k] / self.eq.scale**2 + self._stretch * dsize[k]
            if self.moved:
                rhs[:n, k] -= along(self.inertia, self._at_pose, dx[k])
            rhs[n:, k] = -along(self.velocity, self._at_pose, dx[k])[:m]
        dq = self._pose_system.solve(rhs)[:n].T
        dv = np.zeros_like(dq)
        rhs = np.zeros((self._velocity_system.K.shape[0], count))
        for k in range(count):
            direction = dx[k].copy()
            direction[layout.q] = dq[k]
            rhs[:n, k] = -along(self.inertia, self._at_velocity, direction)
            rhs[n : n + m, k] = -along(self.velocity, self._at_velocity, direction)[m:]
            rhs[n + m :, k] = (dgiven[k] + self._turned @ dq[k])[self.given]
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
            bar = np.zeros(len(self.x))
            against(self.inertia, self._at_velocity, -w[:n], bar)
            against(self.velocity, self._at_velocity, np.concatenate([np.zeros(m), -w[n : n + m]]), bar)
            gbar[f, self.given] = w[n + m :]
            q = qbar[f] + bar[layout.q] + self._turned.T @ gbar[f]
            self._forget_state(bar)
            xbar[f] += bar
            rhs = np.zeros(n + m)
            rhs[:n] = q
            w = self._pose_system.solve(rhs, "T")
            dbar[f] = w[:n] / self.eq.scale**2
            sizebar[f] = float(w[:n] @ self._stretch)
            bar = np.zeros(len(self.x))
            if self.moved:
                against(self.inertia, self._at_pose, -w[:n], bar)
            against(self.velocity, self._at_pose, np.concatenate([-w[n:], np.zeros(m)]), bar)
            self._forget_state(bar)
            xbar[f] += bar
        return dbar, gbar, sizebar

    def _forget_state(self, bar: np.ndarray) -> None:
        bar[: self.system.layout.head] = 0.0

    @cached_property
    def _stretch(self) -> np.ndarray:
        """-W_size (q - d): what a larger mechanism size changes of what is nearest."""
        eq = self.eq
        if not self.moved:
            return np.zeros(eq.n)
        lengths = np.isnan(self.system.natural_scale)
        return np.where(lengths, 2.0 * (self.q - self.drawn) / eq.scale**3, 0.0)

    @cached_property
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
