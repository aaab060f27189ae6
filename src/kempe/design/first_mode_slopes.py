"""How the first modes of a motion depend on design parameters: what they keep from the start on, and what they close.

Rows that are in force from the start on, because surfaces rest on each other there, are closed like joints: from q the
motion begins at q+ with M (q+ - q) + Phi_q^T mu = 0, M and Phi_q at q, and Phi(q+) = 0; velocities likewise. Then an
element that begins in a mode keeps the values that the first switch into it would: the place at which a joint sticks.
"""

from __future__ import annotations

import numpy as np

from kempe.design.saddle import Saddle, Standing, against, along
from kempe.simulation.machine import Machine
from kempe.solvers.directions import Directions
from kempe.solvers.slopes import Slopes
from kempe.solvers.tape import Tape


class FirstModeSlopes:
    """What happens between where a machine stood and the first switches on a tape, differentiated."""

    def __init__(self, machine: Machine, directions: dict[str, Directions], tape: Tape) -> None:
        self.system, self.eq, self.directions = machine.system, machine.eq, directions
        q, v, self.x = machine.stood
        n, switches = self.eq.n, len(self.eq.hybrids.owner) > 0
        self.before = Standing(self.system, machine.task.begun, q, self.x)
        self.closes = bool(self.x[self.eq.hybrids.row_at].any())
        if switches:  # (then these are the first rows of a tape)
            q, v = tape.start[0, :n].copy(), tape.start[0, n : 2 * n].copy()
        self.after = Standing(self.system, machine.task.begun, q, self.x)
        self._at_latches = self.after.placed(v, np.zeros(n), np.zeros(self.eq.m))
        self._kept, self._from = self._latched()
        if self.closes:
            self._close(machine.stood[1], v)

    def _latched(self) -> tuple[np.ndarray, np.ndarray]:
        """Where x has the values that are kept from the start on, and where they come from among the latches."""
        h, kept, source = self.eq.hybrids, [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for e, at in enumerate(h.mode_at):
            switches = range(h.first_switch[e], h.end_switch[e])
            into = next((s for s in switches if h.target[s] == int(self.x[at])), None)
            if into is not None:
                kept.append(at + 1 + np.arange(h.kept[e]))
                source.append(h.kept_at[into] + np.arange(h.kept[e]))
        return np.concatenate(kept), np.concatenate(source)

    def _close(self, v: np.ndarray, rates: np.ndarray) -> None:
        """The linear systems of positions and of velocities, and the inputs in which they are differentiated."""
        n, m, scale, nothing = self.eq.n, self.eq.m, self.eq.row_scale, np.zeros(self.eq.n)
        after = self.after
        M, J, L = self.before.mass(), self.before.jacobian(), after.jacobian()
        unit = max(float(np.abs(M.diagonal() * self.eq.scale**2).max(initial=0.0)), 1e-300)
        self._masses = M, after.mass()
        self._systems = Saddle(M, J, scale, unit, L), Saddle(self._masses[1], L, scale, unit)
        moved = after.q - self.before.q, rates - v
        mu = [K.solve(np.concatenate([nothing, L @ d]))[n:] for K, d in zip(self._systems, moved, strict=True)]
        self._heavy = self.before.placed(v, moved[0], mu[0]), after.placed(rates, moved[1], mu[1])
        self._closed = after.placed(rates, nothing, np.zeros(m))

    # --- forward and backward ----------------------------------------------------------------------------------------

    def push(self, s: Slopes) -> None:
        """Directions of kept values, coordinates and rates where the first switches are looked for."""
        layout = self.system.layout
        for d in range(len(s.dq)):
            if self.closes:
                s.dq[d] = self._push(0, s.dx[d], s.dq[d], np.zeros(self.eq.n), s.dq[d])
                s.dv[d] = self._push(1, s.dx[d], s.dq[d], s.dq[d], s.dv[d])
            dx = s.dx[d].copy()
            dx[layout.q], dx[layout.v] = s.dq[d], s.dv[d]
            s.dx[d, self._kept] = along(self.directions["latches"], self._at_latches, dx)[self._from]

    def _push(self, level: int, dx: np.ndarray, dq: np.ndarray, at: np.ndarray, dy: np.ndarray) -> np.ndarray:
        """The direction of what is closed (positions or velocities): ``dq`` of the masses, ``at`` of the rows."""
        m, layout = self.eq.m, self.system.layout
        x = dx.copy()
        x[layout.q] = dq
        left = self._masses[level] @ dy - along(self.directions["inertia"], self._heavy[level], x)
        x[layout.q] = at
        rows = along(self.directions["velocity"], self._closed, x)[level * m : (level + 1) * m]
        return self._systems[level].solve(np.concatenate([left, -rows]))[: self.eq.n]

    def pull(self, s: Slopes) -> None:
        """Weights of coordinates, rates and numbers at the start."""
        layout = self.system.layout
        for f in range(len(s.qbar)):
            weights, bar = np.zeros(self.directions["latches"].size), np.zeros(len(self.x))
            weights[self._from], s.xbar[f, self._kept] = s.xbar[f, self._kept], 0.0
            against(self.directions["latches"], self._at_latches, weights, bar)
            s.qbar[f] += bar[layout.q]
            s.vbar[f] += bar[layout.v]
            s.xbar[f] += self._numbers(bar)
            if self.closes:
                s.vbar[f], masses, rows = self._pull(1, s.vbar[f], s.xbar[f])
                s.qbar[f], masses, _ = self._pull(0, s.qbar[f] + masses + rows, s.xbar[f])
                s.qbar[f] += masses

    def _pull(self, level: int, ybar: np.ndarray, xbar: np.ndarray) -> tuple[np.ndarray, ...]:
        """Weights of what was closed, of the coordinates in the masses, and of those in the rows."""
        n, m, layout = self.eq.n, self.eq.m, self.system.layout
        w = self._systems[level].solve(np.concatenate([ybar, np.zeros(m)]), "T")
        heavy, rows, weights = np.zeros(len(self.x)), np.zeros(len(self.x)), np.zeros(2 * m)
        against(self.directions["inertia"], self._heavy[level], -w[:n], heavy)
        weights[level * m : (level + 1) * m] = -w[n:]
        against(self.directions["velocity"], self._closed, weights, rows)
        places = [bar[layout.q].copy() for bar in (heavy, rows)]
        xbar += self._numbers(heavy) + self._numbers(rows)
        return self._masses[level].T @ w[:n], *places

    def _numbers(self, bar: np.ndarray) -> np.ndarray:
        """The weights of numbers and kept values alone."""
        bar[: self.system.layout.head] = 0.0
        return bar
