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

#: Eigenvalues nearer to each other than this share of the largest count as equal.
EQUAL = 1e-7


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


@dataclass(frozen=True)
class Vibration:
    """An eigenvalue, its derivatives by parameters, and how near the next one is, as a share of the largest."""

    value: complex
    slopes: np.ndarray
    gap: float


def undamped(posed: Posed, at_rest: Rest, matrices: Pencil) -> list[Vibration]:
    """The squared frequencies of (K - omega^2 M) phi + G mu = 0."""
    K, M = matrices.reduced(matrices.K), matrices.reduced(matrices.M)
    values, left, right = eig(K, M, left=True, right=True)
    found = []
    for k, value in enumerate(values):
        phi, psi = matrices.N @ right[:, k], matrices.L @ left[:, k].conj()
        change = _changed(posed, at_rest, matrices, phi, psi, (0.0, -value))
        slope = change / (psi @ matrices.M @ phi)
        found.append(Vibration(complex(value), slope, _gap(values, k)))
    return found


def damped(posed: Posed, at_rest: Rest, matrices: Pencil) -> list[Vibration]:
    """The eigenvalues s of (s^2 M + s C + K) phi + G mu = 0."""
    M, C, K = (matrices.reduced(A) for A in (matrices.M, matrices.C, matrices.K))
    one, none = np.eye(len(M)), np.zeros_like(M)
    A, B = np.block([[none, one], [-K, -C]]), np.block([[one, none], [none, M]])
    values, left, right = eig(A, B, left=True, right=True)
    found = []
    for k, s in enumerate(values):
        phi, psi = matrices.N @ right[: len(M), k], matrices.L @ left[len(M) :, k].conj()
        change = _changed(posed, at_rest, matrices, phi, psi, (s, s * s))
        slope = -change / (psi @ (2 * s * matrices.M + matrices.C) @ phi)
        found.append(Vibration(complex(s), slope, _gap(values, k)))
    return found


def _gap(values: np.ndarray, k: int) -> float:
    others = np.abs(np.delete(values, k) - values[k])
    return float(others.min(initial=np.inf) / max(float(np.abs(values).max()), 1e-300))


def _changed(
    posed: Posed,
    at_rest: Rest,
    matrices: Pencil,
    phi: np.ndarray,
    psi: np.ndarray,
    rates: tuple[complex, complex],
) -> np.ndarray:
    """What psi^T (A phi + G mu) + nu^T J phi changes by with matrices alone; A = K + rates[0] C + rates[1] M."""
    system, along = posed.system, at_rest.along
    A = matrices.K + rates[0] * matrices.C + rates[1] * matrices.M
    mu = np.linalg.lstsq(matrices.G, -A @ phi, rcond=1e-12)[0][: system.m]
    nu = np.linalg.lstsq(matrices.J.T, -A.T @ psi, rcond=1e-12)[0][: system.m]
    to = system.layout
    moved = np.zeros(len(along.x), dtype=complex)
    moved[to.q_to], moved[to.v_to], moved[to.a_to] = (w * phi[to.q_from] for w in (1.0, *rates))
    moved[to.lam_to] = mu[to.lam_from]
    return along.steepness(moved, np.concatenate([psi, nu]))
