"""Small vibrations and how their frequencies and damping change with design parameters.

A free vibration exp(s t) about a pose at rest moves coordinates by phi and multipliers by mu, where

    (s^2 M + s C + K) phi + G mu = 0,    J phi = 0    (M = f_a, C = f_v, K = f_q, G = f_lambda, J = Phi_q).

With the solution psi, nu of the transposed equations, the derivative of a simple eigenvalue s is

    s_p = -(psi^T [(s^2 M_p + s C_p + K_p) phi + G_p mu] + nu^T J_p phi) / (psi^T (2 s M + C) phi),

derivatives of matrices taken along the equilibrium, which moves with the parameters too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eig

from kempe.analysis.tangents import State, explicit, free_motions, tangents
from kempe.design.resting import Rest
from kempe.simulation.posing import Posed

#: Eigenvalues nearer to each other than this share of their size, or that of the largest, count as equal.
EQUAL, NOISE = 1e-7, 1e-12


@dataclass(frozen=True)
class Pencil:
    """M, C and K of all coordinates, J and G of all constraints (held coordinates too), and both reduced."""

    M: np.ndarray
    C: np.ndarray
    K: np.ndarray
    J: np.ndarray
    G: np.ndarray
    #: Motions that constraints leave open, and what takes multipliers out.
    N: np.ndarray
    L: np.ndarray

    def reduced(self, matrix: np.ndarray) -> np.ndarray:
        """A matrix along free motions."""
        return self.L.T @ matrix @ self.N


def pencil(posed: Posed, at_rest: Rest) -> Pencil:
    """The equations of small vibrations about a pose at rest."""
    n, held = posed.system.n, at_rest.held
    at = State(at_rest.q, np.zeros(n), at_rest.t)
    found = explicit(posed, at, at_rest.lam)
    C, K = (matrix.toarray() for matrix in tangents(posed, at, np.zeros(n), at_rest.lam))
    fixed = np.eye(n)[held]
    J = np.vstack([found.J.toarray(), fixed])
    G = np.hstack([(found.J.T - found.felt).toarray(), fixed.T])
    row_scale = np.concatenate([posed.row_scale, posed.scale[held]])
    N, L = (free_motions(A, posed.scale, row_scale) * posed.scale[:, None] for A in (J, G.T))
    return Pencil(found.M.toarray(), C, K, J, G, N, L)


class Vibrations:
    """The eigenvalues of small vibrations about a pose at rest, and how each changes with design parameters."""

    def __init__(self, posed: Posed, at_rest: Rest, matrices: Pencil, damped: bool) -> None:
        self.posed, self.at_rest, self.matrices, self.damped = posed, at_rest, matrices, damped
        M, C, K = (matrices.reduced(A) for A in (matrices.M, matrices.C, matrices.K))
        if damped:  # s [1, 0; 0, M] [phi; s phi] = [0, 1; -K, -C] [phi; s phi]
            one, none = np.eye(len(M)), np.zeros_like(M)
            A, B = np.block([[none, one], [-K, -C]]), np.block([[one, none], [none, M]])
            self.values, left, right = eig(A, B, left=True, right=True)
            left, right = left[len(M) :], right[: len(M)]
        else:
            self.values, left, right = eig(K, M, left=True, right=True)
        self._phi, self._psi = matrices.N @ right, matrices.L @ left.conj()
        self._largest = float(np.abs(self.values).max(initial=0.0))

    def like(self, value: complex, other: complex) -> bool:
        """Whether two eigenvalues are the same but for rounding."""
        return abs(value - other) <= EQUAL * abs(value) + NOISE * self._largest

    def nearest(self, value: complex) -> int:
        """The number of the eigenvalue that a value is."""
        return int(np.abs(self.values - value).argmin())

    def simple(self, k: int) -> bool:
        """Whether there is no other like it."""
        return not any(self.like(self.values[k], other) for other in np.delete(self.values, k))

    def slopes(self, k: int) -> np.ndarray:
        """The derivatives of an eigenvalue: of s where there is damping, of omega^2 where there is none."""
        value, phi, psi, pencil = self.values[k], self._phi[:, k], self._psi[:, k], self.matrices
        if self.damped:
            change = self._changed(phi, psi, (value, value * value))
            return -change / (psi @ (2 * value * pencil.M + pencil.C) @ phi)
        return self._changed(phi, psi, (0.0, -value)) / (psi @ pencil.M @ phi)

    def _changed(self, phi: np.ndarray, psi: np.ndarray, rates: tuple[complex, complex]) -> np.ndarray:
        """What psi^T (A phi + G mu) + nu^T J phi changes by with matrices alone; A = K + rates[0] C + rates[1] M."""
        system, along, pencil = self.posed.system, self.at_rest.along, self.matrices
        A = pencil.K + rates[0] * pencil.C + rates[1] * pencil.M
        mu = np.linalg.lstsq(pencil.G, -A @ phi, rcond=1e-12)[0][: system.m]
        nu = np.linalg.lstsq(pencil.J.T, -A.T @ psi, rcond=1e-12)[0][: system.m]
        to = system.layout
        moved = np.zeros(len(along.x), dtype=complex)
        moved[to.q], moved[to.v], moved[to.a] = (w * phi for w in (1.0, *rates))
        moved[to.lam] = mu
        return along.steepness(moved, np.concatenate([psi, nu]))
