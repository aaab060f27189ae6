"""Directions and weights through jumps of velocities.

Behind a jump M (v+ - v-) + Phi_q^T Lambda = P. A row that holds or is thrown back has Phi'(v+) = -e Phi'(v-), one that
slid throughout has an impulse in proportion to those that press, one that does nothing has none. With these conditions
kept, the jump is differentiated as one linear system.
"""

from __future__ import annotations

import numpy as np

from kempe.design.saddle import Standing, against, along
from kempe.errors import ConvergenceError
from kempe.solvers import motion as mo
from kempe.solvers.channels import STRONG
from kempe.solvers.directions import Directions
from kempe.solvers.program import TIME
from kempe.solvers.slopes import Slopes
from kempe.solvers.tape import SLID_BACKWARD, SLID_FORWARD, TAKE, THROWN, UNKNOWN, Tape
from kempe.system import System


class JumpSlopes:
    """One jump of a tape, as a linear system."""

    def __init__(
        self, system: System, directions: dict[str, Directions], tape: Tape, row: int, x: np.ndarray, row_at: np.ndarray
    ) -> None:
        self.system, self.directions = system, directions
        n, m = self.n, self.m = system.n, system.m
        self.q, self.before = tape.start[row, :n], tape.start[row, n : 2 * n]
        self.behind, self.t = tape.end[row, n : 2 * n], float(tape.t[row, 0])
        self.kind, self.e = tape.more[row, :m].astype(int), tape.more[row, m : 2 * m]
        taking = max(k for k in range(row) if tape.kind[k] == TAKE)
        Z, G = len(tape.z_at), len(system.dynamics.switches)
        self.went = np.flatnonzero(tape.more[taking, 2 * Z : 2 * Z + G])
        self._check(tape, row)
        self.x = x.copy()
        self.x[row_at] = tape.more[row, 2 * m : 2 * m + len(row_at)]
        self.acts = system.in_force(self.x) & (self.kind != 0)
        self._assemble()

    def _check(self, tape: Tape, row: int) -> None:
        unknown = np.flatnonzero(self.kind == UNKNOWN)
        if len(unknown):
            label = self.system.rows[int(unknown[0])].label
            raise ConvergenceError(
                f"the impact at t = {self.t:.6g} has no derivative here: within it, sliding at '{label}' reverses, or "
                "energy or Poisson's law decides how it ends"
            )

    def _assemble(self) -> None:
        system, n, m = self.system, self.n, self.m
        M = system.mass_matrix(self.x.copy(), self.q, self.t)
        J = system.linear(self.x.copy(), self.q, self.t)[1]
        self.rate = self._rates(self.before)
        self.kick, self.e_from = self._impulses()
        A = np.zeros((n + m, n + m))
        A[:n, :n], A[:n, n:] = M, J.T
        thrown = self.acts & (self.kind == THROWN)
        A[n:][thrown, :n] = J[thrown]
        rest = np.flatnonzero(~thrown)
        A[n + rest, n + rest] = 1.0
        self.M, self.A, self.thrown = M, A, thrown
        push = M @ (self.behind - self.before) - self.kick
        # (of rows that hold the same thing any share will do: they are differentiated alike)
        impulses = np.linalg.lstsq(J[self.acts].T, -push, rcond=1e-12)[0] if self.acts.any() else np.zeros(0)
        self.impulse = np.zeros(m)
        self.impulse[self.acts] = impulses
        self._put_friction()
        self.inverse = np.linalg.pinv(self.A, rcond=1e-13)
        here, still, none = Standing(system, self.t, self.q, self.x), np.zeros(n), np.zeros(m)
        #: Inputs with the jump and its impulses; before and behind it; and before it with what rubs.
        self._inputs = (
            here.placed(self.before, self.behind - self.before, self.impulse),
            here.placed(self.before, still, none),
            here.placed(self.behind, still, none),
            here.placed(self.before, still, STRONG * self.impulse),
        )

    def _rates(self, v: np.ndarray) -> np.ndarray:
        """Phi' at a velocity."""
        system = self.system
        _, J, nu = system.linear(self.x.copy(), self.q, self.t)
        return J @ v - nu

    def _impulses(self) -> tuple[np.ndarray, dict[int, tuple[str, int]]]:
        """Known impulses, and where the restitution of each row comes from."""
        system, d = self.system, self.system.dynamics
        h, kick, found = d.hybrids, np.zeros(self.n), {}
        values = system.evaluate(d.jumps, self.x.copy(), self.q, self.t, self.before) if d.switches else np.zeros(0)
        for c in self.went.tolist():
            for k in np.flatnonzero(h.kick_switch == c):
                kick[h.kick_coordinate[k]] += values[h.kick_at[k]]
            for k in np.flatnonzero(h.impulse_switch == c):
                found[int(h.impulse_row[k])] = ("jumps", int(h.restitution_at[k]))
        for e, row in enumerate(d.touches.normal.tolist()):
            if row >= 0:
                found[row] = ("touch", mo.TOUCH_VALUES * e + mo.RESTITUTION)
        return kick, {row: place for row, place in found.items() if self.e[row] > 0.0}

    def _put_friction(self) -> None:
        """Rows that slid: their impulse is friction by the impulses that press."""
        system, n = self.system, self.n
        d = system.dynamics
        self.slid: list[tuple[int, int, float]] = []
        for e, row in enumerate(d.touches.stick.tolist()):
            if row < 0 or self.kind[row] not in (SLID_FORWARD, SLID_BACKWARD):
                continue
            sign = 1.0 if self.kind[row] == SLID_FORWARD else -1.0
            at = int(d.touches.at[e])
            first, last = int(d.touches.first_lam[e]), int(d.touches.first_lam[e + 1])
            lams = d.touches.lam_row[first:last]
            values = system.evaluate(
                d.touch, self.x.copy(), self.q, self.t, self.before, STRONG * self.impulse, np.zeros(n)
            )
            by_lam = values[at + mo.TOUCH_VALUES + len(lams) : at + mo.TOUCH_VALUES + 2 * len(lams)]
            self.A[n + row, n + lams] -= sign * by_lam
            self.slid.append((row, mo.TOUCH_VALUES * e + mo.SLIDING, sign))

    # --- forward and backward ----------------------------------------------------------------------------------------

    def _along(self, name: str, x: np.ndarray, dx: np.ndarray) -> np.ndarray:
        return along(self.directions[name], x, dx)

    def push(self, s: Slopes) -> None:
        """Directions behind the jump."""
        n, m, layout = self.n, self.m, self.system.layout
        h = self.system.dynamics.hybrids
        heavy, first, last, rubbing = self._inputs
        for d in range(len(s.dq)):
            dx = s.dx[d].copy()
            dx[: layout.head] = 0.0
            dx[layout.q], dx[TIME] = s.dq[d], s.dt[d]
            rhs = np.zeros(n + m)
            rhs[:n] = self.M @ s.dv[d] - self._along("inertia", heavy, dx)[:n]
            rate = self._along("velocity", last, dx)[m : 2 * m]
            dx[layout.v] = s.dv[d]
            rate = rate + self.e * self._along("velocity", first, dx)[m : 2 * m]
            if len(self.went) and len(h.kick_switch):
                known = self._along("jumps", first, dx)
                for c in self.went.tolist():
                    for k in np.flatnonzero(h.kick_switch == c):
                        rhs[h.kick_coordinate[k]] += known[h.kick_at[k]]
            for row, (name, place) in self.e_from.items():
                rate[row] += self._along(name, first, dx)[place] * self.rate[row]
            rhs[n:][self.thrown] = -rate[self.thrown]
            for row, place, sign in self.slid:
                rhs[n + row] = sign * self._along("touch", rubbing, dx)[place] / STRONG
            s.dv[d] = (self.inverse @ rhs)[:n]

    def pull(self, s: Slopes) -> None:
        """Weights before the jump."""
        n, m, layout = self.n, self.m, self.system.layout
        h = self.system.dynamics.hybrids
        heavy, first, last, rubbing = self._inputs
        for f in range(len(s.qbar)):
            w = self.inverse.T @ np.concatenate([s.vbar[f], np.zeros(m)])
            thrown = np.where(self.thrown, w[n:], 0.0)
            vbar = self.M.T @ w[:n]
            bar = np.zeros(len(self.x))
            self._against("inertia", heavy, -w[:n], bar)
            self._against("velocity", last, np.concatenate([np.zeros(m), -thrown]), bar)
            for row, place, sign in self.slid:
                weights = np.zeros(self.directions["touch"].size)
                weights[place] = sign * w[n + row] / STRONG
                self._against("touch", rubbing, weights, bar)
            for places in (layout.v, layout.a, layout.lam):
                bar[places] = 0.0
            self._against("velocity", first, np.concatenate([np.zeros(m), -self.e * thrown]), bar)
            for name in ("jumps", "touch"):
                weights = np.zeros(self.directions[name].size)
                for row, (source, place) in self.e_from.items():
                    if source == name:
                        weights[place] -= thrown[row] * self.rate[row]
                if name == "jumps":
                    for c in self.went.tolist():
                        for k in np.flatnonzero(h.kick_switch == c):
                            weights[h.kick_at[k]] += w[h.kick_coordinate[k]]
                if weights.any():
                    self._against(name, first, weights, bar)
            s.qbar[f] += bar[layout.q]
            s.vbar[f] = vbar + bar[layout.v]
            s.tbar[f] += bar[TIME]
            bar[: layout.head] = 0.0
            s.xbar[f] += bar

    def _against(self, name: str, x: np.ndarray, weights: np.ndarray, bar: np.ndarray) -> None:
        against(self.directions[name], x, weights, bar)
