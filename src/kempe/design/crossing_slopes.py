"""Directions and weights across singular positions.

Next to a singular position the equations do not determine the motion, which goes across by polynomials
(``solvers.crossing``). So do its directions: they are as smooth in time, and each is taken across by the polynomial
nearest to it and to its rate at the ends of the steps before. Integrals across are Gauss's.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev

from kempe.errors import ConvergenceError
from kempe.kernels.compiler import call_address
from kempe.solvers import motion as mo
from kempe.solvers.gauge import Gauge
from kempe.solvers.slopes import Slopes
from kempe.solvers.sweeping import project_back, project_on
from kempe.solvers.tape import NEWMARK, RADAU, STEP, Tape, take_state

#: So many steps before the crossing are looked at, and polynomials have so many terms less than there are data.
BEFORE, SPARE = 12, 6
#: No more terms than these.
TERMS = 14
#: Integrals across are sums of so many values.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


class CrossingSlopes:
    """One crossing: which rows of the tape it rests on, and with which weights."""

    def __init__(self, eq: mo.Equations, tape: Tape, row: int) -> None:
        self.eq, self.tape, self.row = eq, tape, row
        steps: list[int] = []
        for k in range(row - 1, -1, -1):
            if tape.kind[k] not in (STEP, NEWMARK, RADAU) or len(steps) == BEFORE:
                break
            steps.append(k)
        #: The rows at whose ends directions are looked at, in order.
        self.rows = steps[::-1]
        if not steps:
            t = float(tape.t[row, 0])
            raise ConvergenceError(f"the singular position at t = {t:.6g} is too near to the start, or to a switch")
        times = tape.t[self.rows, 1]
        self.first, self.last = (float(t) for t in tape.t[row])
        self._middle, self._half = 0.5 * (times[0] + self.last), 0.5 * (self.last - times[0])
        self.terms = max(2, min(TERMS, 2 * len(times) - SPARE))
        self._pace = self._half / self.terms  # (what a rate counts for, beside a value)
        data = np.vstack([self._base(times, 0), self._pace * self._base(times, 1)])
        self._fit = np.linalg.pinv(data, rcond=1e-13)

    def _base(self, times: np.ndarray, order: int) -> np.ndarray:
        """The terms of polynomials, or their derivatives, at times, a row each."""
        u = (np.atleast_1d(times) - self._middle) / self._half
        made = [chebyshev.chebval(u, chebyshev.chebder(one, order)) for one in np.eye(self.terms)]
        return np.array(made).T / self._half**order

    def weights(self, t: float, order: int) -> tuple[np.ndarray, np.ndarray]:
        """Weights of positions and of rates at the rows before, for a derivative of the position at a time."""
        made, K = self._base(np.array([t]), order)[0] @ self._fit, len(self.rows)
        return made[:K], self._pace * made[K:]

    def _taken(self, t: float, order: int, dq: np.ndarray, dv: np.ndarray) -> np.ndarray:
        a, b = self.weights(t, order)
        return np.tensordot(a, dq, 1) + np.tensordot(b, dv, 1)

    # --- forward -----------------------------------------------------------------------------------------------------

    def push(self, s: Slopes, work: mo.Work, history: dict[int, tuple[np.ndarray, np.ndarray]]) -> None:
        """Directions behind the crossing, and integrals across it; ``history`` has those at the ends of rows."""
        dq, dv = (np.array([history[row][k] for row in self.rows]) for k in (0, 1))
        for t, weight, state in self._nodes(s):
            mo.place_all(self.eq, work, state)
            w = _inputs(s.integrand, work.x, state, s.parameters)
            s.integral[:] += weight * _called(s.integrand, s.integrand.value, w, s.integrand.size)
            ways = [self._taken(t, order, dq, dv) for order in (0, 1, 2)] if len(s.dq) else []
            for d in range(len(s.dq)):
                along = mo.new_state(self.eq.n, self.eq.m)
                along.q[:], along.v[:], along.al[: self.eq.n] = (way[d] for way in ways)
                dw = _inputs(s.integrand, _alone(self.eq, s.dx[d], along), along, s.dp[d], 0.0)
                found = _called(s.integrand, s.integrand.push, np.concatenate([w, dw]), s.integrand.size)
                s.dintegral[d] += weight * found
        s.dq[:], s.dv[:] = self._taken(self.last, 0, dq, dv), self._taken(self.last, 1, dq, dv)
        if project_on(self.eq, work, s, self._end()) == 0:
            raise ConvergenceError(f"the motion cannot be differentiated at t = {self.last:.6g}")

    # --- backward ----------------------------------------------------------------------------------------------------

    def pull(self, s: Slopes, work: mo.Work, pending: dict[int, tuple[np.ndarray, np.ndarray]]) -> None:
        """Weights at the ends of rows before, added to ``pending``; there are none at the start of the crossing."""
        if project_back(self.eq, work, s, self._end()) == 0:
            raise ConvergenceError(f"the motion cannot be differentiated at t = {self.last:.6g}")
        self._spread(self.last, 0, s.qbar, pending)
        self._spread(self.last, 1, s.vbar, pending)
        s.qbar[:], s.vbar[:] = 0.0, 0.0
        n, X, g = self.eq.n, len(work.x), s.integrand
        for t, weight, state in self._nodes(s):
            mo.place_all(self.eq, work, state)
            w = _inputs(g, work.x, state, s.parameters)
            bars = np.zeros((len(s.qbar), X + 3 * n + self.eq.m + 1 + len(s.parameters)))
            for f in range(len(s.qbar)):
                found = _called(g, g.pull, np.concatenate([w, weight * s.seed[f]]), len(g.place))
                np.add.at(bars[f], g.place, found)
            s.xbar[:] += bars[:, :X]
            s.pbar[:] += bars[:, X + 3 * n + self.eq.m + 1 :]
            for order in range(3):
                self._spread(t, order, bars[:, X + order * n : X + (order + 1) * n], pending)

    def _spread(self, t: float, order: int, bar: np.ndarray, pending: dict[int, tuple[np.ndarray, np.ndarray]]) -> None:
        a, b = self.weights(t, order)
        for k, row in enumerate(self.rows):
            q, v = pending.setdefault(row, (np.zeros_like(bar), np.zeros_like(bar)))
            q += a[k] * bar
            v += b[k] * bar

    # --- the motion across -------------------------------------------------------------------------------------------

    def _end(self) -> mo.State:
        state = mo.new_state(self.eq.n, self.eq.m)
        take_state(self.tape.end[self.row], state)
        state.t = self.last
        return state

    def _nodes(self, s: Slopes) -> list[tuple[float, float, mo.State]]:
        """Times, weights and states of the quadrature across."""
        n, m, X = self.eq.n, self.eq.m, s.xbar.shape[1]
        loads = (s.integrand.place >= X + 3 * n) & (s.integrand.place < X + 3 * n + m)
        if not s.integrand.size:
            return []
        if loads.any():
            raise ConvergenceError(
                f"the integral of a reaction across the singular position at t = {self.first:.6g} is not known there"
            )
        start, h = mo.new_state(n, m), self.last - self.first
        found: list[tuple[float, float, mo.State]] = []
        take_state(self.tape.start[self.row], start)
        for u, weight in zip(NODES, WEIGHTS, strict=True):
            theta, state = 0.5 * (1.0 + u), mo.new_state(n, m)
            mo.hermite(theta, h, start, self._end(), state)
            state.t = self.first + theta * h
            found.append((state.t, 0.5 * h * float(weight), state))
        return found


def _inputs(g: Gauge, x: np.ndarray, state: mo.State, parameters: np.ndarray, t: float | None = None) -> np.ndarray:
    """The inputs of a gauge at a state."""
    return np.concatenate([x, state.q, state.v, state.al, [state.t if t is None else t], parameters])[g.place]


def _alone(eq: mo.Equations, dx: np.ndarray, along: mo.State) -> np.ndarray:
    """A direction of x with that of a state put in."""
    found, layout = dx.copy(), eq.layout
    found[layout.q], found[layout.v], found[layout.a] = along.q, along.v, along.al[: layout.n]
    return found


def _called(g: Gauge, kernel: int, inputs: np.ndarray, size: int) -> np.ndarray:
    """A kernel of a gauge, called from Python."""
    given, found = np.ascontiguousarray(inputs), np.zeros(max(size, 1))
    call_address(int(g.kernels.address_of[kernel]), given.ctypes.data, found.ctypes.data)
    return found[:size]
