"""Linear systems, inputs and derivatives at one position, outside of compiled code: at the start, and at jumps."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix
from scipy.sparse.linalg import splu

from kempe.solvers.directions import Directions, pulled, pushed
from kempe.system import System

#: What a pivot of the multiplier block gets, in squares of row sizes, and how often a solution is refined.
SHIFT, SWEEPS = 1e-11, 6


class Saddle:
    """[H, J^T; L, 0], factored with a small shift that refinement takes out again; L is J where it is not given."""

    def __init__(self, H: Any, J: Any, row_scale: np.ndarray, unit: float, L: Any = None) -> None:
        n, N, H, J = H.shape[0], H.shape[0] + J.shape[0], H.tocoo(), J.tocoo()
        L, own = J if L is None else L.tocoo(), np.arange(n, N)
        rows, columns = np.concatenate([H.row, J.col, n + L.row, own]), np.concatenate([H.col, n + J.row, L.col, own])
        values = np.concatenate([H.data, J.data, L.data, -SHIFT * row_scale**2 / unit])
        # (by their entries: putting sparse matrices together and adding them takes longer than the factorisation)
        shifted = csc_matrix((values, (rows, columns)), shape=(N, N))
        values[len(values) - len(own) :] = 0.0
        self.K = csc_matrix((values, (rows, columns)), shape=(N, N))
        self.factors = splu(shifted)

    def solve(self, rhs: np.ndarray, trans: str = "N") -> np.ndarray:
        """The solution for one or more right-hand sides, as columns."""
        K = self.K if trans == "N" else self.K.T
        found = self.factors.solve(rhs, trans)
        for _ in range(SWEEPS):
            found += self.factors.solve(rhs - K @ found, trans)
        return found


def diagonal(values: np.ndarray) -> Any:
    """A diagonal matrix."""
    return coo_matrix((values, (range(len(values)), range(len(values)))))


def added(one: Any, other: Any) -> Any:
    """The sum of two matrices, by their entries."""
    places = np.concatenate([one.row, other.row]), np.concatenate([one.col, other.col])
    return coo_matrix((np.concatenate([one.data, other.data]), places), shape=one.shape)


class Standing:
    """What a system has in one position: inputs of all kernels, matrices, and derivatives along directions of these."""

    def __init__(self, system: System, t: float, q: np.ndarray, x: np.ndarray) -> None:
        self.system, self.t, self.q, self.x = system, t, q, x

    def placed(self, v: np.ndarray, a: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """Inputs with rates, accelerations and multipliers."""
        x = self.x.copy()
        self.system.evaluate(self.system.layout.arguments, x, self.q, self.t, v, lam, a)
        return x

    def jacobian(self) -> Any:
        """Phi_q."""
        rows, columns, values = self.system.jacobian(self.x.copy(), self.q, self.t)
        return coo_matrix((values, (rows, columns)), shape=(self.system.m, self.system.n))

    def mass(self) -> Any:
        """M."""
        d, n = self.system.dynamics, self.system.n
        out = self.system.evaluate(d.explicit, self.x.copy(), self.q, self.t, np.zeros(n))
        values = out[n + 3 * self.system.m :][: len(d.block_rows)]
        return coo_matrix((values, (d.block_rows, d.block_columns)), shape=(n, n))


def along(d: Directions, x: np.ndarray, dx: np.ndarray) -> np.ndarray:
    """The change of all outputs along a direction of inputs."""
    out = np.zeros(max(1, d.size))
    pushed(d, x, dx, out)
    return out[: d.size]


def against(d: Directions, x: np.ndarray, weights: np.ndarray, bar: np.ndarray) -> None:
    """Add to ``bar`` what the weighted outputs change by, per input."""
    pulled(d, x, np.append(weights, 0.0), bar)
