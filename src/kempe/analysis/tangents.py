"""The equations of motion in one state, f = M a + h - Q + Phi_q^T lambda and Phi, with all their first derivatives."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csc_matrix

from kempe.errors import ModelError
from kempe.simulation.posing import Posed
from kempe.solvers.least_squares import DENSE
from kempe.system.dependence import RANK, constraint_rank, most_first

#: So often forces that depend on multipliers are evaluated again until both agree.
LOAD_ITERATIONS = 40


class State(NamedTuple):
    """Where the equations are looked at."""

    q: np.ndarray
    v: np.ndarray
    t: float


class Explicit(NamedTuple):
    """h - Q, what is left of f without accelerations and Phi_q^T lambda; Phi and gamma; M, Phi_q and Q_lambda."""

    f: np.ndarray
    Phi: np.ndarray
    gamma: np.ndarray
    M: csc_matrix
    J: csc_matrix
    felt: csc_matrix


def settle(posed: Posed, at: State) -> None:
    """Put every switching element into the mode in which a motion from this state would begin."""
    posed.system.dynamics.put_first_modes(posed.x, at.q, at.t, at.v)


def explicit(posed: Posed, at: State, lam: np.ndarray | None = None) -> Explicit:
    """The equations without accelerations; forces that depend on multipliers feel the given ones (else none).

    Switching elements are settled first.
    """
    settle(posed, at)
    d, n, m = posed.system.dynamics, posed.system.n, posed.system.m
    out = posed.system.evaluate(d.explicit, posed.x, at.q, at.t, at.v, np.zeros(m) if lam is None else lam)
    values = out[n + 3 * m :]
    upper, right = len(d.block_rows), len(d.block_rows) + len(d.jacobian_rows)
    M = csc_matrix((values[:upper], (d.block_rows, d.block_columns)), shape=(n, n))
    J = csc_matrix((values[upper:right], (d.jacobian_rows, d.jacobian_columns)), shape=(m, n))
    felt = csc_matrix((n, m))
    if d.loaded:
        felt = (J.T - csc_matrix((values[right:-1], d.right), shape=(n, m))).tocsc()
    return Explicit(out[:n], out[n : n + m], out[n + 2 * m : n + 3 * m], M, J, felt)


def tangents(posed: Posed, at: State, a: np.ndarray, lam: np.ndarray) -> tuple[csc_matrix, csc_matrix]:
    """f_v and f_q, the curvature (Phi_q^T lambda)_q of the constraints included."""
    settle(posed, at)
    system, x = posed.system, posed.x
    d, n, m = system.dynamics, system.n, system.m
    found = []
    for weights in ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        out = system.evaluate(d.tangent, x, at.q, at.t, at.v, lam, a, weights)
        values = out[n + m : n + m + len(d.block_rows)]
        found.append(csc_matrix((values, (d.block_rows, d.block_columns)), shape=(n, n)))
    return found[0], found[1]


def drifts(posed: Posed, at: State, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(Phi')_q and (Phi'')_q with Phi' = Phi_q v + Phi_t and Phi'' = Phi_q a - gamma, as full matrices."""
    system = posed.system
    out = system.evaluate(system.drift, posed.x, at.q, at.t, at.v, a=a).reshape(2, system.m, system.n)
    return out[0], out[1]


def free_motions(J: np.ndarray, scale: np.ndarray, row_scale: np.ndarray) -> np.ndarray:
    """The motions N (one per column, in units of ``scale``, orthonormal) that the constraints leave open."""
    n = len(scale)
    if n <= DENSE:
        rank, _, (_, _, Vt) = constraint_rank(J, scale, row_scale)
        return Vt[rank:].T
    Q, R, _ = qr((J * scale / row_scale[:, None]).T, pivoting=True)
    sizes = np.abs(np.diag(R))
    return Q[:, int((sizes > RANK * sizes.max(initial=1e-300)).sum()) :]


def inertialess(posed: Posed, N: np.ndarray, M: np.ndarray) -> list[str]:
    """The coordinates that can move without any inertia to resist, strongest first."""
    if N.shape[1] == 0:
        return []
    values, vectors = np.linalg.eigh(N.T @ (M * np.outer(posed.scale, posed.scale)) @ N)
    loose = N @ vectors[:, values < 1e-12 * max(float(values[-1]), 1e-300)]
    if loose.shape[1] == 0:
        return []
    weight = np.abs(loose).max(axis=1)
    return [posed.system.names[k][0] for k in most_first(weight) if weight[k] > 1e-3]


def with_inertia(posed: Posed, N: np.ndarray, M: np.ndarray) -> None:
    """Every motion that is left must be resisted by inertia, or there are no accelerations to speak of."""
    loose = inertialess(posed, N, M)
    if loose:
        listed = ", ".join(f"'{name}'" for name in loose[:4])
        raise ModelError(
            f"'{posed.model.name}': no inertia resists the motion of {listed}; "
            "give these parts mass and inertia, or hold them with a joint"
        )
