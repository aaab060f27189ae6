"""Linearisation: how small deviations from a state of motion or rest develop, in independent coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import qr

from kempe.analysis.mobility import neighbours
from kempe.analysis.statics import Equilibrium, equilibrium
from kempe.analysis.tangents import (
    LOAD_ITERATIONS,
    State,
    drifts,
    explicit,
    free_motions,
    tangents,
    with_inertia,
)
from kempe.calling import explained
from kempe.elements import plain_number
from kempe.errors import ModelError
from kempe.model import Model
from kempe.simulation.assembling import Pose, coordinate_index, named_pose, pose_array
from kempe.simulation.posing import Posed
from kempe.simulation.starting import machine_at
from kempe.solvers.least_squares import DENSE
from kempe.system.dependence import constraint_rank, most_first


@dataclass(frozen=True)
class Linearised:
    """Small motions about a state: M z'' + C z' + K z = 0 in the independent coordinates z, called ``names``.

    A deviation z of the independent coordinates moves all coordinates by ``basis @ z``. ``A`` is the state matrix:
    d/dt [z, z'] = A [z, z']. ``a`` are the accelerations of all coordinates in the state itself, ``multipliers`` its
    multipliers. Only about an equilibrium, or a motion that repeats itself, is A the same at later times.
    """

    names: list[str]
    M: np.ndarray
    C: np.ndarray
    K: np.ndarray
    basis: np.ndarray
    pose: Pose
    a: np.ndarray
    multipliers: dict[str, float]
    time: float = 0.0
    parameters: dict[str, float] = field(default_factory=dict)
    #: K as it would be if no force cancelled another: what its rounding errors are measured by.
    gross: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)), repr=False)

    @property
    def A(self) -> np.ndarray:
        """The state matrix [0, 1; -M^-1 K, -M^-1 C]."""
        f = len(self.names)
        return np.block(
            [[np.zeros((f, f)), np.eye(f)], [-np.linalg.solve(self.M, self.K), -np.linalg.solve(self.M, self.C)]]
        )

    @property
    def eigenvalues(self) -> np.ndarray:
        """The eigenvalues of A, slowest first: deviations grow where the real part is positive."""
        found = np.linalg.eigvals(self.A)
        return found[np.lexsort((found.imag, np.round(np.abs(found), 12)))]

    def __str__(self) -> str:
        listed = ", ".join(f"{e:.4g}" for e in self.eigenvalues[:8])
        return f"linearised in {', '.join(self.names)}; eigenvalues {listed}"


@explained
def linearise(
    model: Model,
    about: Pose | Equilibrium | None = None,
    *,
    velocities: Mapping[str, float] | None = None,
    time: float | None = None,
    coordinates: Iterable[str] = (),
    parameters: Mapping[str, float] | None = None,
) -> Linearised:
    """Linearise the motion about a state, exactly: constraints are differentiated through twice.

    ``about`` is an equilibrium (drivers then stand still, coordinates that were held stay held), or a pose, which is
    assembled and moves with the given ``velocities`` and with its drivers at ``time``. Without it, the equilibrium
    near the sketch is sought, or, with velocities, the sketch itself is taken. ``coordinates`` names independent
    coordinates to use; by default those that describe the motion best, angles before lengths.

    With q = q(z, t): f(q, v, a, t, lambda) = 0 is differentiated along R = dq/dz, where Phi_q R = 0. The multipliers
    drop out of R^T df = 0, and dv and da follow from Phi' = 0 and Phi'' = 0. Where forces depend on multipliers they
    drop out of L^T df = 0 instead, with L^T (Phi_q^T - Q_lambda) = 0; M is then not symmetric.
    """
    if about is None and velocities is None:
        about = equilibrium(model, time=time or 0.0, parameters=parameters)
    if isinstance(about, Equilibrium):
        if velocities:
            raise ModelError("an equilibrium is at rest: give its pose (.pose) to linearise about a motion")
        t = about.time if time is None else plain_number(time, "the time")
        posed = Posed(model, about.parameters if parameters is None else parameters)
        held = [coordinate_index(posed, name) for name in about.holding]
        q = pose_array(posed.system, about.pose)
        return small_motions(posed, State(q, np.zeros(len(q)), t), coordinates, held, standing=True)
    t = 0.0 if time is None else plain_number(time, "the time")
    now = machine_at(model, t, about, velocities, parameters).course.now
    return small_motions(Posed(model, parameters), State(now.q.copy(), now.v.copy(), t), coordinates)


def small_motions(
    posed: Posed, at: State, coordinates: Iterable[str] = (), held: Iterable[int] = (), standing: bool = False
) -> Linearised:
    """The linearisation about a state; ``standing``: drivers and everything else are at rest."""
    system, n = posed.system, posed.system.n
    posed.within_data(at.q, at.t, at.v)
    here = explicit(posed, at)
    fixed = np.eye(n)[list(held)]
    J = np.vstack([here.J.toarray(), fixed])
    row_scale = np.concatenate([posed.row_scale, posed.scale[list(held)]])
    N = free_motions(J, posed.scale, row_scale)
    M = here.M.toarray()
    if N.shape[1] == 0:
        raise ModelError(f"'{posed.model.name}' has no degree of freedom left: there is nothing to linearise")
    with_inertia(posed, N, M)
    _regular(posed, at, len(J), N)
    chosen = _independent(posed, N, coordinates)
    R = _basis(posed, N, chosen)

    inverse = np.linalg.pinv(J * posed.scale / row_scale[:, None], rcond=1e-11) if len(J) else np.zeros((n, 0))

    def dependent(rhs: np.ndarray) -> np.ndarray:
        """X with Phi_q X = rhs that leaves the independent coordinates alone."""
        whole = np.concatenate([rhs, np.zeros((len(fixed), *rhs.shape[1:]))])
        X = (posed.scale * (inverse @ (whole.T / row_scale).T).T).T
        return X - R @ X[chosen]

    driven = np.zeros(n) if standing else dependent(here.gamma)
    lam, L, taken, reduced = np.zeros(len(J)), R, inverse.T, R.T @ M @ R
    for _ in range(LOAD_ITERATIONS):
        f, last = here.f, lam
        if system.dynamics.loaded:  # Newton's method: f(lambda) is linear here
            here = explicit(posed, at, last[: system.m])
            felt = np.hstack([here.felt.toarray(), np.zeros((n, len(fixed)))])
            L, taken = _other_side(posed, J.T - felt, row_scale, chosen)
            f, reduced = here.f + felt @ last, L.T @ M @ R
        a = driven if standing else driven - R @ np.linalg.solve(reduced, L.T @ (f + M @ driven))
        lam = -(taken @ ((M @ a + f) * posed.scale)) / row_scale
        if not system.dynamics.loaded or np.abs(lam - last).max(initial=0.0) <= 1e-13 * np.abs(lam).max(initial=0.0):
            break
    else:
        raise ModelError(f"'{posed.model.name}': forces that depend on loads, and the loads, do not settle")
    f_v, f_q = (matrix.toarray() for matrix in tangents(posed, at, a, lam[: system.m]))
    C, K = L.T @ f_v @ R, L.T @ f_q @ R
    if not standing:
        rate_q, second_q = drifts(posed, at, a)
        W = dependent(-rate_q @ R)  # dv by z; R is dv by z'
        B = dependent(-2.0 * rate_q @ R)  # da by z', for Phi''_v = 2 Phi'_q
        D = dependent(-second_q @ R - 2.0 * rate_q @ W)  # da by z
        C += L.T @ M @ B
        K += L.T @ (f_v @ W + M @ D)
    forces = np.abs(here.f) + np.abs(J).T @ np.abs(lam)
    labels = [row.label for row in system.rows]
    return Linearised(
        names=[system.names[k][0] for k in chosen],
        M=reduced,
        C=C,
        K=K,
        basis=R,
        pose=named_pose(posed, at.q, at.v),
        a=a,
        multipliers=dict(zip(labels, lam[: system.m].tolist(), strict=True)),
        time=at.t,
        parameters=dict(zip(posed.model.parameters, posed.parameters.tolist(), strict=True)),
        gross=np.abs(L).T @ np.abs(f_q) @ np.abs(R) + np.diag(np.abs(L).T @ forces / posed.scale[chosen]),
    )


def _other_side(
    posed: Posed, G: np.ndarray, row_scale: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """L with L^T G = 0, one in the independent coordinates, and what takes a force to (scaled) multipliers."""
    L = free_motions(G.T, posed.scale, row_scale)
    if L.shape[1] != len(chosen) or np.linalg.svd(L[chosen], compute_uv=False)[-1] < 1e-8:
        raise ModelError(f"'{posed.model.name}': a force that depends on a load jams the motion")
    scaled = G * posed.scale[:, None] / row_scale
    return _basis(posed, L, chosen), np.linalg.pinv(scaled, rcond=1e-11)


def _regular(posed: Posed, at: State, rows: int, N: np.ndarray) -> None:
    """In a singular position the small motions are not those of the mechanism."""
    n = posed.system.n
    if rows + N.shape[1] == n or rows > posed.system.m or n > DENSE:
        return  # no row depends on others
    every = np.ones(posed.system.m, dtype=bool)
    near = neighbours(posed, at.q, at.t, every, N)
    ranks = [constraint_rank(posed.linear(q, at.t)[1], posed.scale, posed.row_scale)[0] for q in near]
    if not near or max(ranks) + N.shape[1] > n:
        free = np.abs(N).max(axis=1)
        listed = ", ".join(posed.system.names[k][0] for k in most_first(free)[:3])
        raise ModelError(
            f"'{posed.model.name}' is in a singular position, where small motions ({listed}) are not those of the "
            "mechanism; see m.mobility()"
        )


def _independent(posed: Posed, N: np.ndarray, wanted: Iterable[str]) -> np.ndarray:
    """The places of independent coordinates: the wanted ones, or those that follow the motion best."""
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    count = N.shape[1]
    if not names:
        prefer = np.where(posed.system.is_angle, 2.0, 1.0)
        order = qr((N * prefer[:, None]).T, pivoting=True, mode="r")[1]
        return np.sort(order[:count])
    chosen = np.array([coordinate_index(posed, name) for name in names])
    if len(set(names)) != count:
        raise ModelError(
            f"'{posed.model.name}' has {count} degrees of freedom, so it takes {count} independent coordinates, "
            f"not {len(set(names))}"
        )
    if np.linalg.svd(N[chosen], compute_uv=False)[-1] < 1e-8:
        raise ModelError(f"in this position the motion does not follow from {', '.join(names)}: choose others")
    return chosen


def _basis(posed: Posed, N: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """R = dq/dz: the motions in which one independent coordinate moves by one and the others stay."""
    whole = N * posed.scale[:, None]
    R = np.linalg.solve(whole[chosen].T, whole.T).T
    R[chosen] = np.eye(len(chosen))
    return R
