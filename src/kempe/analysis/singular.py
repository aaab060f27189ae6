"""Singular positions of a driven mechanism: located exactly, classified, and their branches found.

Source: Haug's classification (section 3.7 of his kinematics text, as in the ME451 lecture notes): at a position where
Phi_q loses rank, the motion locks up when rank [Phi_q nu] > rank Phi_q, and bifurcates when the ranks agree and
rank [Phi_q gamma] agrees as well. The last condition depends on the velocity and holds only for velocities that a
branch really has; solved for the velocity it yields the tangents of all branches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kempe.results.events import Branch, SingularPosition
from kempe.simulation.posing import Posed
from kempe.system.dependence import most_first

#: Singular values below this fraction of the largest count as zero at a located singular position.
ZERO = 1e-7


@dataclass
class Located:
    """A converged singular point: coordinates, time, and by how much the constraints had to be shifted to have it."""

    q: np.ndarray
    t: float
    shift: float


class Square:
    """The active rows of a posed system, scaled: the square problem whose singular points are sought."""

    def __init__(self, posed: Posed, active: np.ndarray, row_scale: np.ndarray) -> None:
        self.posed, self.active = posed, active
        self.scale, self.row_scale = posed.scale, row_scale[active]
        self.n = posed.system.n

    def linear(self, q: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scaled Phi, Phi_z and Phi_t, where q = scale * z."""
        Phi, J, nu = self.posed.linear(q, t)
        r = self.row_scale
        return Phi[self.active] / r, J[self.active] * self.scale / r[:, None], -nu[self.active] / r

    def curvature(self, q: np.ndarray, t: float, psi: np.ndarray) -> np.ndarray:
        """The symmetric matrix of second derivatives of psi^T Phi by (z, t)."""
        lam = np.zeros(self.posed.system.m)
        lam[self.active] = psi / self.row_scale
        by_qq, by_qt, by_tt = self.posed.system.curvatures(self.posed.x, q, t, lam)
        E = np.zeros((self.n + 1, self.n + 1))
        E[:-1, :-1] = by_qq * self.scale * self.scale[:, None]
        E[:-1, -1] = E[-1, :-1] = by_qt * self.scale
        E[-1, -1] = by_tt
        return E


def _null_vectors(J: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    U, s, Vt = np.linalg.svd(J)
    return U[:, -1], s, Vt[-1]


def locate(square: Square, q: np.ndarray, t: float, reach: float, bifurcation: bool) -> Located | None:
    """Newton's method for a singular point near (q, t); None when it does not converge within the time ``reach``.

    Unknown are q, t and the left null vector psi: Phi = 0, Phi_q^T psi = 0, psi0^T psi = 1. This is regular at a
    lock-up (a quadratic fold). At a bifurcation psi^T Phi_t vanishes too; that equation is added together with a
    shift mu of the constraints along psi0 (Phi + mu psi0 = 0), whose value says whether the bifurcation is perfect:
    it is zero exactly when the two branches really meet.
    """
    n = square.n
    z, s, mu = q / square.scale, t, 0.0
    psi0, _, _ = _null_vectors(square.linear(q, t)[1])
    psi = psi0.copy()
    size = 2 * n + 1 + (1 if bifurcation else 0)
    previous = np.inf
    for _ in range(40):
        Phi, J, Phi_t = square.linear(z * square.scale, s)
        E = square.curvature(z * square.scale, s, psi)
        A, r = np.zeros((size, size)), np.zeros(size)
        r[:n], r[n : 2 * n], r[2 * n] = Phi + mu * psi0, J.T @ psi, psi0 @ psi - 1.0
        A[:n, :n], A[:n, n] = J, Phi_t
        A[n : 2 * n, : n + 1] = E[:-1]
        A[n : 2 * n, n + 1 : 2 * n + 1] = J.T
        A[2 * n, n + 1 : 2 * n + 1] = psi0
        if bifurcation:
            A[:n, -1] = psi0
            r[-1] = psi @ Phi_t
            A[-1, : n + 1] = E[-1]
            A[-1, n + 1 : 2 * n + 1] = Phi_t
        if not (np.isfinite(A).all() and np.isfinite(r).all()):
            return None
        d = np.linalg.lstsq(A, -r, rcond=1e-13)[0]
        z, s, psi = z + d[:n], s + d[n], psi + d[n + 1 : 2 * n + 1]
        if bifurcation:
            mu += d[-1]
        change = float(np.abs(d[: n + 1]).max())
        if abs(s - t) > reach or not np.isfinite(change):
            return None
        if change < 1e-15 or (change < 1e-10 and change >= 0.5 * previous):
            left = np.abs(r).max()
            return Located(z * square.scale, s, abs(mu)) if left < 1e-9 else None
        previous = change
    return None


def classify(square: Square, q: np.ndarray, t: float, zero: float = ZERO) -> SingularPosition | None:
    """What happens at a singular point; None when Phi_q has full rank there."""
    posed = square.posed
    _, J, Phi_t = square.linear(q, t)
    U, s, Vt = np.linalg.svd(J)
    limit = zero * s[0]
    rank = int((s > limit).sum())
    if rank == square.n:
        return None
    left, right = U[:, rank:], Vt[rank:].T
    names = posed.system.names
    moving = [names[k][0] for k in _strongest(np.abs(right).max(axis=1))]
    blamed = list(
        dict.fromkeys(posed.system.rows[square.active[k]].owner for k in _strongest(np.abs(left).max(axis=1)))
    )
    pushed = np.abs(left.T @ Phi_t).max()
    common: dict[str, Any] = dict(t=float(t), singular_values=s, moving=moving, blamed=blamed)
    common |= {"columns": names, "q": q.copy()}
    if pushed > limit + zero * np.abs(Phi_t).max(initial=0.0):
        extended = np.linalg.svd(np.column_stack([J, Phi_t]), compute_uv=False)
        rank_v = int((extended > limit).sum())
        return SingularPosition(
            kind="lock-up",
            ranks=(rank, rank_v, rank_v),
            branches=[],
            message=_lock_up(posed, t, blamed, moving),
            **common,
        )
    tangents, degenerate = _tangents(square, q, t, J, Phi_t, left)
    branches, finite = [], []
    for tangent in tangents:
        vertical = abs(tangent[-1]) < 1e-7
        rate = tangent[:-1] * square.scale / (1.0 if vertical else tangent[-1])
        branches.append(Branch({n[0]: float(c) for n, c in zip(names, rate, strict=True)}, vertical))
        finite.append(tangent)
    rank_a = _rank_with_gamma(square, q, t, J, limit, [b for b in branches if not b.vertical])
    kind = "degenerate" if degenerate or not branches else "bifurcation"
    return SingularPosition(
        kind=kind,
        ranks=(rank, rank, rank_a),
        branches=branches,
        message=_bifurcation(kind, t, branches, moving),
        tangents=finite,
        **common,
    )


def arrival_first(event: SingularPosition, velocity: np.ndarray, scale: np.ndarray) -> SingularPosition:
    """Reorder the branches so that 0 is the smooth continuation of a motion that arrives with a velocity."""
    arriving = np.append(velocity / scale, 1.0)
    arriving /= np.linalg.norm(arriving)
    order = sorted(range(len(event.tangents)), key=lambda k: -abs(float(event.tangents[k] @ arriving)))
    branches, tangents = [event.branches[k] for k in order], [event.tangents[k] for k in order]
    message = _bifurcation(event.kind, event.t, branches, event.moving)
    return replace(event, branches=branches, tangents=tangents, message=message)


def _rank_with_gamma(
    square: Square, q: np.ndarray, t: float, J: np.ndarray, limit: float, branches: list[Branch]
) -> int:
    """Rank of [Phi_q gamma] at the velocity of the first branch (at rest when there is none)."""
    v = np.array(list(branches[0].velocity.values())) if branches else np.zeros(square.n)
    gamma = square.posed.gamma(q, t, v)[square.active] / square.row_scale
    return int((np.linalg.svd(np.column_stack([J, gamma]), compute_uv=False) > limit).sum())


def _strongest(weights: np.ndarray) -> list[int]:
    """Indices of the entries that matter, largest first."""
    share = np.round(weights / weights.max(initial=1e-300), 6)
    return [k for k in most_first(share) if share[k] > 0]


def _tangents(
    square: Square, q: np.ndarray, t: float, J: np.ndarray, Phi_t: np.ndarray, left: np.ndarray
) -> tuple[list[np.ndarray], bool]:
    """Unit tangents (z', t') with t' >= 0 of all branches, and whether the second order leaves them open.

    A tangent T lies in the null space of [Phi_q Phi_t], and psi^T D2Phi(T, T) = 0 for every left null vector psi:
    k quadratic forms in k + 1 unknowns.
    """
    k = left.shape[1]
    extended = np.column_stack([J, Phi_t])
    basis = np.linalg.svd(extended)[2][-(k + 1) :].T
    forms = []
    for psi in left.T:
        E = square.curvature(q, t, psi)
        forms.append(basis.T @ E @ basis)
    size = max(float(np.abs(f).max()) for f in forms)
    if any(float(np.abs(f).max()) < 1e-8 * max(size, 1.0) for f in forms):
        return [], True
    coefficients = _binary_roots(forms[0]) if k == 1 else _common_zeros(forms)
    tangents = []
    for c in coefficients:
        tangent = basis @ c
        tangent /= np.linalg.norm(tangent)
        if tangent[-1] < 0:
            tangent = -tangent
        tangents.append(tangent)
    return tangents, False


def _binary_roots(form: np.ndarray) -> list[np.ndarray]:
    """The real lines on which a binary quadratic form vanishes (its eigenvalues must differ in sign)."""
    (low, high), vectors = np.linalg.eigh(form)
    if low > 0 or high < 0 or low == high == 0:
        return []
    a, b = np.sqrt(-low), np.sqrt(high)
    first, second = b * vectors[:, 0] + a * vectors[:, 1], b * vectors[:, 0] - a * vectors[:, 1]
    if min(a, b) < 1e-5 * max(a, b):  # a double line: the branches touch
        return [first]
    return [first, second]


def _common_zeros(forms: list[np.ndarray]) -> list[np.ndarray]:
    """All isolated real common zeros (up to sign) of k quadratic forms in k + 1 unknowns, by many Newton starts."""
    k = len(forms)
    rng = np.random.default_rng(0)
    size = max(float(np.abs(f).max()) for f in forms)
    found: list[np.ndarray] = []
    for _ in range(60 * 4**k):
        c = rng.normal(size=k + 1)
        c /= np.linalg.norm(c)
        for _ in range(40):
            r = np.array([c @ f @ c for f in forms] + [0.0]) / size
            A = np.vstack([2 * c @ f / size for f in forms] + [c])
            d = np.linalg.lstsq(A, -r, rcond=1e-12)[0]
            c = c + d
            c /= np.linalg.norm(c)
            if np.abs(d).max() < 1e-14:
                break
        worst = max(abs(c @ f @ c) for f in forms)
        if worst < 1e-11 * size and not any(abs(abs(c @ other) - 1) < 1e-8 for other in found):
            found.append(c)
    return found


def _lock_up(posed: Posed, t: float, blamed: list[str], moving: list[str]) -> str:
    driving = {row.owner for row in posed.system.rows if row.drives}
    drivers = [n for n in blamed if n in driving]
    joints = [n for n in blamed if n not in drivers]
    who = f"driver '{drivers[0]}' asks" if drivers else "the prescribed motion asks"
    whom = _list(joints) if joints else "the constraints"
    return (
        f"lock-up at t = {t:.10g}: {who} for a motion that {whom} cannot follow; {_list(moving)} would have to move "
        "infinitely fast"
    )


def _bifurcation(kind: str, t: float, branches: list[Branch], moving: list[str]) -> str:
    if kind == "degenerate":
        return (
            f"singular position at t = {t:.10g}: velocities and accelerations do not decide how {_list(moving)} go on"
        )
    ways = "; ".join(f"branch {k}: {_rates(b, moving)}" for k, b in enumerate(branches))
    return f"bifurcation at t = {t:.10g}: the mechanism can go on in {len(branches)} ways ({ways})"


def _rates(branch: Branch, moving: list[str]) -> str:
    if branch.vertical:
        return f"{moving[0]} moves while the driver stands still"
    noise = 1e-12 * max(abs(v) for v in branch.velocity.values())
    rates = {name: branch.velocity[name] if abs(branch.velocity[name]) > noise else 0.0 for name in moving[:3]}
    return ", ".join(f"d {name}/dt = {rate:.6g}" for name, rate in rates.items())


def _list(names: list[str]) -> str:
    quoted = [f"'{n}'" for n in names[:4]]
    if len(names) > 4:
        return ", ".join(quoted) + f" and {len(names) - 4} more"
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " and " + quoted[-1] if quoted else "nothing"
