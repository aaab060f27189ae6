"""Linear systems of a mechanism at rest on one fixed sparse pattern, and how stiff it is along its free motions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from kempe.analysis.tangents import State, free_motions, settle
from kempe.simulation.posing import Posed

#: What is added to the multiplier block of the linear system and taken out again by refinement.
COMPLIANCE = 1e-11
#: Up to so many coordinates the reduced stiffness is a full matrix; beyond, its lowest eigenvalues are iterated for.
FEW = 20
#: So many vectors at most are kept to find the lowest eigenvalues.
KRYLOV = 40
#: A vector is known when so small a part of it is wrong; its eigenvalue is then wrong by the square of it.
SHARP = 1e-9
#: So many are enough to know about how soft the softest motion is.
SOFT = 15


class Look(NamedTuple):
    """The equations in one pose at rest: forces, violations, entries of Phi_q and of Phi_q^T - Q_lambda."""

    f: np.ndarray
    Phi: np.ndarray
    J: np.ndarray
    G: np.ndarray


class Saddle:
    """Linear systems [K, G; J, 0] on the fixed pattern of a mechanism, in scaled free coordinates and rows.

    K is f_q, J is Phi_q, and G its transpose, less Q_lambda where forces depend on multipliers; each is a list of its
    entries. Dependent rows of J do no harm: a small number stands in the empty block, and refinement takes it out.
    """

    def __init__(self, posed: Posed, t: float, free: np.ndarray) -> None:
        self.posed, self.t, self.free = posed, t, free
        d, scale, row_scale = posed.system.dynamics, posed.scale, posed.row_scale
        self.n, self.m = len(free), posed.system.m
        place = np.full(posed.system.n, -1)
        place[free] = np.arange(self.n)
        right = d.right if d.loaded else (d.jacobian_columns, d.jacobian_rows)

        def kept(rows: np.ndarray, columns: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, ...]:
            """Which entries are of free coordinates, their rows and columns, and what they are multiplied by."""
            which = np.flatnonzero((rows >= 0) & (columns >= 0))
            return which, rows[which], columns[which], unit[which]

        block = scale[d.block_rows] * scale[d.block_columns]
        steep = scale[d.jacobian_columns] / row_scale[d.jacobian_rows]
        self._K = kept(place[d.block_rows], place[d.block_columns], block)
        self._J = kept(d.jacobian_rows, place[d.jacobian_columns], steep)
        self._G = kept(place[right[0]], right[1], scale[right[0]] / row_scale[right[1]])
        size, diagonal = self.n + self.m, np.arange(self.n + self.m)
        rows = np.concatenate([self._K[1], self._G[1], self.n + self._J[1], diagonal])
        columns = np.concatenate([self._K[2], self.n + self._G[2], self._J[2], diagonal])
        keys, self._slot = np.unique(columns * size + rows, return_inverse=True)
        self._indices = (keys % size).astype(np.int32)
        self._starts = np.searchsorted(keys, size * np.arange(size + 1)).astype(np.int32)

    def look(self, q: np.ndarray, lam: np.ndarray) -> Look:
        """The equations in a pose, where forces that depend on multipliers feel the given ones."""
        posed = self.posed
        system, d, n, m = posed.system, posed.system.dynamics, posed.system.n, posed.system.m
        settle(posed, at := State(q, np.zeros(n), self.t))
        out = system.evaluate(d.explicit, posed.x, q, at.t, at.v, lam / posed.row_scale)
        J, G = np.split(out[n + 3 * m + len(d.block_rows) :], [len(d.jacobian_rows)])
        G = G[:-1] if d.loaded else J
        (steep, _, _, steep_unit), (right, _, _, right_unit) = self._J, self._G
        f = (out[:n] * posed.scale)[self.free]
        return Look(f, out[n : n + m] / posed.row_scale, J[steep] * steep_unit, G[right] * right_unit)

    def stiffness(self, q: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """The entries of f_q in a pose, the curvature of constraints included."""
        posed = self.posed
        system, d, n, m = posed.system, posed.system.dynamics, posed.system.n, posed.system.m
        settle(posed, at := State(q, np.zeros(n), self.t))
        out = system.evaluate(d.tangent, posed.x, q, at.t, at.v, lam / posed.row_scale, at.v, (0.0, 0.0, 1.0))
        which, _, _, unit = self._K
        K = out[n + m : n + m + len(d.block_rows)][which] * unit
        return np.where(np.isfinite(K), K, 0.0)  # a spring without length has no direction, and no stiffness

    def pulled(self, K: np.ndarray, step: np.ndarray) -> np.ndarray:
        """K step."""
        return np.bincount(self._K[1], K * step[self._K[2]], self.n)

    def carried(self, J: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """J^T lambda."""
        return np.bincount(self._J[2], J * lam[self._J[1]], self.n)

    def felt(self, at: Look, lam: np.ndarray) -> np.ndarray:
        """Q_lambda lambda."""
        return self.carried(at.J, lam) - np.bincount(self._G[1], at.G * lam[self._G[2]], self.n)

    def full(self, K: np.ndarray) -> csc_matrix:
        """K as a matrix."""
        return csc_matrix((K, self._K[1:3]), shape=(self.n, self.n))

    def jacobian(self, at: Look) -> np.ndarray:
        """J as a full matrix."""
        return csc_matrix((at.J, self._J[1:3]), shape=(self.m, self.n)).toarray()

    def right(self, at: Look) -> np.ndarray:
        """G as a full matrix."""
        return csc_matrix((at.G, self._G[1:3]), shape=(self.n, self.m)).toarray()

    def symmetric(self, K: np.ndarray, at: Look) -> bool:
        """Whether all forces have a potential, and none depends on multipliers in a way that motions feel."""
        rng = np.random.default_rng(1)
        level = self.factors(None, at, 1.0)
        x, y = (level.solve(rng.normal(size=self.n))[0] for _ in range(2))
        work = x @ self.pulled(K, y), y @ self.pulled(K, x)
        size = float(np.abs(K).max(initial=0.0)) * np.linalg.norm(x) * np.linalg.norm(y)
        felt = self.felt(at, rng.normal(size=self.m))
        return abs(work[0] - work[1]) <= 1e-12 * size and abs(x @ felt) <= 1e-9 * np.linalg.norm(x) * max(
            float(np.linalg.norm(felt)), 1e-300
        )

    def factors(self, K: np.ndarray | None, at: Look, shift: float) -> Factors:
        """The factors of [K + shift, G; J, 0]; without K, of [shift, G; J, 0]."""
        matrix = self.matrix(np.zeros(len(self._K[0])) if K is None else K, at, shift, -COMPLIANCE)
        return Factors(matrix, splu(matrix, permc_spec="COLAMD"), self.n)

    def matrix(self, K: np.ndarray, at: Look, shift: float = 0.0, corner: float = 0.0) -> csc_matrix:
        """[K + shift, G; J, corner]."""
        diagonal = np.concatenate([np.full(self.n, shift), np.full(self.m, corner)])
        values = np.bincount(self._slot, np.concatenate([K, at.G, at.J, diagonal]), len(self._indices))
        return csc_matrix((values, self._indices, self._starts), shape=(self.n + self.m,) * 2)


class Factors:
    """A saddle that has been factored, with the small number in its empty block."""

    def __init__(self, matrix: csc_matrix, lu: Any, n: int) -> None:
        self.matrix, self.lu, self.n = matrix, lu, n

    @property
    def dependent(self) -> bool:
        """Whether rows of J depend on others: nothing but the small number is left of their pivots then."""
        return bool(np.abs(self.lu.U.diagonal()).min(initial=1.0) < 100 * COMPLIANCE)

    def solve(self, force: np.ndarray, gap: np.ndarray | None = None, sweeps: int = 4) -> tuple[np.ndarray, np.ndarray]:
        """The movement and the multipliers that a force causes, or that close a gap."""
        n, rhs = self.n, np.zeros(self.matrix.shape[0])
        rhs[:n] = force
        if gap is not None:
            rhs[n:] = gap
        x = self.lu.solve(rhs)
        last = np.inf
        for _ in range(sweeps):
            left = rhs - self.matrix @ x
            left[n:] -= COMPLIANCE * x[n:]
            change = self.lu.solve(left)
            size = float(np.abs(change[:n]).max(initial=0.0))
            if not size < 0.5 * last:
                break
            x, last = x + change, size
            if size <= 1e-15 * float(np.abs(x[:n]).max(initial=0.0)):
                break
        return x[:n], x[n:]


def lowest_stiffness(saddle: Saddle, K: np.ndarray, at: Look) -> tuple[np.ndarray, np.ndarray]:
    """The lowest eigenvalues of the stiffness along the motions that constraints leave open, and those motions.

    Of a small mechanism, or with forces that no potential has, they are all of them; of a large one a few, found by
    Lanczos' method: first as the ends of the spectrum, then sharply, by the inverse of the stiffness shifted below it.
    """
    if saddle.n <= FEW or not saddle.symmetric(K, at):
        return _all(saddle, K, at)
    level = saddle.factors(None, at, 1.0)
    start = level.solve(np.random.default_rng(0).normal(size=saddle.n))[0]
    if np.linalg.norm(start) < 1e-9 * np.sqrt(saddle.n):
        return np.zeros(0), np.zeros((saddle.n, 0))
    ends, _, unsure = _lanczos(lambda x: level.solve(saddle.pulled(K, x), sweeps=1)[0], start, 60)
    spread = max(float(np.abs(ends).max()), 1e-300)
    below = float(ends[0]) - float(unsure[0]) - 1e-3 * spread
    for _ in range(12):
        shifted = saddle.factors(K, at, -below)
        inverse, ways, residual = _lanczos(lambda x, f=shifted: f.solve(x, sweeps=1)[0], start, KRYLOV)  # type: ignore[misc]
        order = np.argsort(-inverse)[:8]
        values, start = below + 1.0 / inverse[order], ways[:, order].sum(axis=1)
        if inverse[0] < -0.01 / spread:  # something lies lower still (less than that is rounding)
            below = 2.0 * (below + 1.0 / float(inverse[0])) - spread
        elif residual[-1] <= SHARP * inverse[-1]:
            break
        else:
            below = float(values[0]) - 0.1 * (float(values[0]) - below)
    return values, ways[:, order]


def softest(saddle: Saddle, K: np.ndarray, level: Factors, guess: np.ndarray) -> tuple[float, np.ndarray]:
    """About the lowest eigenvalue of the stiffness along free motions, and its motion, from a guess of the latter."""
    start = level.solve(guess, sweeps=1)[0]
    if np.linalg.norm(start) < 1e-9 * np.linalg.norm(guess):
        return 0.0, guess
    values, ways, _ = _lanczos(lambda x: level.solve(saddle.pulled(K, x), sweeps=1)[0], start, SOFT)
    return float(values[0]), ways[:, 0]


def _all(saddle: Saddle, K: np.ndarray, at: Look) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues in order, with full matrices.

    Multipliers vanish from L^T (K N z + G lambda) with L^T G = 0; where no force depends on them L is N.
    """
    ones = np.ones(saddle.n), np.ones(saddle.m)
    N = free_motions(saddle.jacobian(at), *ones)
    if N.shape[1] == 0:
        return np.zeros(0), N
    reduced = N.T @ (saddle.full(K) @ N)
    if saddle.posed.system.dynamics.loaded:
        L = free_motions(saddle.right(at).T, *ones)
        if L.shape == N.shape:
            reduced = np.linalg.solve(L.T @ N, L.T @ (saddle.full(K) @ N))
    values, vectors = np.linalg.eigh((reduced + reduced.T) / 2)
    if np.abs(reduced - reduced.T).max() > 1e-9 * max(float(np.abs(reduced).max()), 1e-300):  # no potential
        general, right = np.linalg.eig(reduced)
        order = np.argsort(general.real)
        values, vectors = general.real[order], right.real[:, order]
    return values, N @ vectors


def _lanczos(
    apply: Callable[[np.ndarray], np.ndarray], start: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eigenvalues of a symmetric operator in order, with vectors and residuals, from the Krylov space of a start.

    It ends where the largest one is known sharply, or with ``most`` vectors. Each new vector is made orthogonal to all
    others, twice.
    """
    V, alpha, beta = np.zeros((most, len(start))), [], []
    v = start / np.linalg.norm(start)
    for k in range(most):
        V[k] = v
        w = apply(v)
        alpha.append(float(v @ w))
        for _ in range(2):
            w = w - V[: k + 1].T @ (V[: k + 1] @ w)
        beta.append(float(np.linalg.norm(w)))
        exhausted = beta[-1] <= 1e-12 * max(map(abs, alpha))
        if k % 10 == 9 or exhausted or k == most - 1:
            values, s = eigh_tridiagonal(np.array(alpha), np.array(beta[:-1]))
            residual = beta[-1] * np.abs(s[-1])
            if exhausted or residual[-1] <= SHARP * abs(values[-1]):
                break
        v = w / beta[-1]
    return values, V[: len(alpha)].T @ s, residual
