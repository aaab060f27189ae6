"""A driven motion and how it changes with design parameters, position by position.

Eqs. 10.73 to 10.75 of Garcia de Jalon and Bayo: with Phi, Phi' = Phi_q v + Phi_t and Phi'' = Phi_q a - gamma, all of
them zero whatever the parameters are,

    Phi_q q_p = -Phi_p,    Phi_q v_p = -(Phi'_q q_p + Phi'_p),    Phi_q a_p = -(Phi''_q q_p + Phi''_v v_p + Phi''_p),

and with f = M a + h - Q + Phi_q^T lambda, the balance of forces of inverse dynamics,

    f_lambda lambda_p = -(f_q q_p + f_v v_p + f_a a_p + f_p).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from kempe.analysis.tangents import State
from kempe.design.chain import Chain
from kempe.design.leaning import Leaning
from kempe.design.shared_slopes import multiplier_slopes
from kempe.errors import ModelError
from kempe.results import Result
from kempe.simulation.posing import Posed
from kempe.solvers.least_squares import DENSE
from kempe.system.dependence import constraint_rank, most_first

#: Equations are fulfilled when no larger part of them than this is left.
LEFT = 1e-8


@dataclass(frozen=True)
class Instant:
    """A state of motion, and how it changes with each parameter (one row each)."""

    t: float
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    lam: np.ndarray
    q_p: np.ndarray
    v_p: np.ndarray
    a_p: np.ndarray
    lam_p: np.ndarray
    #: The same in the inputs of all kernels.
    along: Leaning


def driven_instants(posed: Posed, chain: Chain, motion: Result, forces: bool) -> Iterator[Instant]:
    """The positions of a driven motion one after the other, with ``forces`` also its multipliers."""
    system = posed.system
    lam = np.zeros((len(motion.t), system.m))
    if forces:
        lam = np.column_stack(
            [np.zeros((len(motion.t), 0)), *(motion.series[f"lambda.{r.label}"] for r in system.rows)]
        )
    posed.x[system.closed], none = 1.0, np.zeros((0, system.n))
    for k, t in enumerate(motion.t):
        here = Leaning(posed, chain)
        here.stand(motion.q[k], float(t), motion.v[k], motion.a[k], lam[k])
        q_p, v_p, a_p = _rates(posed, here, motion, k) if chain.names else (none, none, none)
        at, lam_p = State(motion.q[k], motion.v[k], float(t)), np.zeros((len(chain), system.m))
        here = _settled(posed, chain, at, motion.a[k], lam[k])
        here.lean(q_p, v_p, a_p)
        here.keep()
        if forces and chain.names:
            lam_p = _multipliers(posed, here, at, lam[k])
            here.lean(dlam=lam_p)
        posed.x[system.closed] = 1.0
        yield Instant(float(t), motion.q[k], motion.v[k], motion.a[k], lam[k], q_p, v_p, a_p, lam_p, here)


def _rates(posed: Posed, here: Leaning, motion: Result, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How position, velocity and acceleration change."""
    solve = _Solved(posed, motion.q[k], float(motion.t[k]), here.chain)
    speed, pull = (np.abs(rates / posed.scale).max() for rates in (motion.v[k], motion.a[k]))
    q_p = -solve(here.positions()[0])
    here.lean(dq=q_p)
    moved = np.abs(q_p / posed.scale).max(axis=1)
    v_p = -solve(here.positions()[1], moved * speed)
    here.lean(dv=v_p)
    a_p = -solve(here.accelerations(), moved * (pull + speed**2) + np.abs(v_p / posed.scale).max(axis=1) * speed)
    return q_p, v_p, a_p


class _Solved:
    """Phi_q in one position, as what takes a change of the constraints to that of the coordinates."""

    def __init__(self, posed: Posed, q: np.ndarray, t: float, chain: Chain) -> None:
        self.posed, self.t, self.chain = posed, t, chain
        system = posed.system
        rows, columns, values = system.jacobian(posed.x, q, t)
        scaled = values * posed.scale[columns] / posed.row_scale[rows]
        self.J: Any = csc_matrix((scaled, (rows, columns)), shape=(system.m, system.n))
        self.large = system.n > DENSE and system.m == system.n
        if self.large:
            try:
                self.lu = splu(self.J)
            except RuntimeError:
                raise self._singular() from None
            return
        self.J = self.J.toarray()
        rank, _, (U, s, Vt) = constraint_rank(self.J, np.ones(system.n), np.ones(system.m))
        if rank < system.n:
            raise self._singular()
        self.inverse = (Vt[:rank].T / s[:rank]) @ U[:, :rank].T

    def _singular(self) -> ModelError:
        return ModelError(
            f"'{self.posed.model.name}' is in a singular position at t = {self.t:.10g}, where its motion has no "
            "derivatives by parameters; leave this time out"
        )

    def __call__(self, change: np.ndarray, parts: np.ndarray | float = 0.0) -> np.ndarray:
        """The change of the coordinates; ``parts`` is how large the parts may be that a change is the sum of."""
        posed = self.posed
        scaled = change / posed.row_scale
        found = self._solved(scaled)
        left = scaled - (self.J @ found.T).T
        found = found + self._solved(left)
        left = np.abs(scaled - (self.J @ found.T).T)
        limit = LEFT * (np.abs(scaled).max(axis=1, initial=0.0) + np.abs(found).max(axis=1, initial=0.0) + parts)
        beyond = left.max(axis=1, initial=0.0) > limit
        if beyond.any():
            k = int(np.argmax(beyond))
            raise contradiction(posed, left[k], self.chain.names[k], f" at t = {self.t:.10g}")
        return found * posed.scale

    def _solved(self, scaled: np.ndarray) -> np.ndarray:
        return self.lu.solve(scaled.T).T if self.large else scaled @ self.inverse.T


def contradiction(posed: Posed, left: np.ndarray, parameter: str, when: str = "") -> ModelError:
    """Redundant constraints hold together only as the model was drawn, not when one of its numbers changes."""
    rows = [k for k in most_first(left) if left[k] > 1e-3 * left.max()]
    owners = ", ".join(f"'{name}'" for name in list(dict.fromkeys(posed.system.rows[k].owner for k in rows))[:4])
    return ModelError(
        f"'{posed.model.name}' cannot be assembled with another value of '{parameter}': its redundant constraints "
        f"({owners}) would contradict each other{when}, so there is no derivative; let them share their numbers"
    )


def _settled(posed: Posed, chain: Chain, at: State, a: np.ndarray, lam: np.ndarray) -> Leaning:
    """A state as inverse dynamics sees it: elements that switch are in their first modes, friction holds nothing."""
    posed.system.dynamics.put_first_modes(posed.x, at.q, at.t, at.v)
    posed.x[posed.system.giving] = 0.0
    here = Leaning(posed, chain)
    here.stand(at.q, at.t, at.v, a, lam)
    return here


def _multipliers(posed: Posed, here: Leaning, at: State, lam: np.ndarray) -> np.ndarray:
    """How the multipliers change: G lambda_p = -df, with G = f_lambda = Phi_q^T - Q_lambda."""
    system, d, n, m = posed.system, posed.system.dynamics, posed.system.n, posed.system.m
    values = system.evaluate(d.explicit, here.x.copy(), at.q, at.t, at.v, lam)[n + 3 * m + len(d.block_rows) :]
    steep = len(d.jacobian_rows)
    places, right = (d.right, values[steep:-1]) if d.loaded else ((d.jacobian_columns, d.jacobian_rows), values[:steep])
    units = posed.scale[places[0]] / posed.row_scale[places[1]]
    G = csc_matrix((right * units, places), shape=(n, m))
    wanted = -here.balance() * posed.scale
    if n > DENSE and m == n:
        return splu(G).solve(wanted.T).T / posed.row_scale
    return multiplier_slopes(posed, here, G.toarray(), lam * posed.row_scale, wanted, posed.scale) / posed.row_scale
