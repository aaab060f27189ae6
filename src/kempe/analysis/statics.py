"""Static equilibrium: the pose in which all forces balance and nothing moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import bmat, csc_matrix, diags, eye
from scipy.sparse.linalg import splu

from kempe.analysis.tangents import State, explicit, free_motions, tangents
from kempe.elements import plain_number
from kempe.errors import ConvergenceError, ModelError
from kempe.model import Model
from kempe.simulation.assembling import Pose, assembled, close, coordinate_index, named_pose, pose_array
from kempe.simulation.posing import Posed
from kempe.solvers.least_squares import DENSE, levenberg_marquardt

#: What is added to the multiplier block of the linear system and taken out again by refinement.
COMPLIANCE = 1e-11
#: An eigenvalue of the stiffness below this fraction of the forces and stiffnesses at work counts as zero.
NEUTRAL = 1e-11
#: Farther than so many mechanism sizes (or radians) from the start nothing is sought.
AWAY = 3e3


@dataclass(frozen=True)
class Equilibrium:
    """A pose at rest, the multipliers that keep it together, and whether it returns there when disturbed.

    ``stiffness`` is the smallest eigenvalue of the reduced stiffness, lengths counted in mechanism sizes and angles in
    radians (infinite where nothing can move): positive when stable, zero when indifferent, negative when unstable.
    ``holding`` are the efforts needed on coordinates that were held. ``residual`` is the largest force left, as a
    fraction of the forces and stiffnesses at work.
    """

    pose: Pose
    multipliers: dict[str, float]
    stable: bool
    stiffness: float
    residual: float
    time: float = 0.0
    holding: dict[str, float] = field(default_factory=dict)
    parameters: dict[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        for table in (self.multipliers, self.pose.values):
            if name in table:
                return table[name]
        raise ModelError(f"an equilibrium has no '{name}'; it has {', '.join([*self.pose.values, *self.multipliers])}")

    def __str__(self) -> str:
        kind = "stable" if self.stable else "indifferent" if self.stiffness == 0 else "unstable"
        where = ", ".join(f"{name} = {value:.6g}" for name, value in list(self.pose.values.items())[:12])
        return f"{kind} equilibrium (smallest stiffness {self.stiffness:.4g}): {where}"


def equilibrium(
    model: Model,
    *,
    start: Pose | None = None,
    time: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    hold: Iterable[str] = (),
    stable: bool = True,
    tolerance: float = 1e-12,
) -> Equilibrium:
    """Find the pose in which all forces balance: f(q, 0, 0, t, lambda) = 0 and Phi(q, t) = 0.

    From ``start`` (default: the sketch) the mechanism slides downhill along its joints until nothing pushes it any
    further, which ends in a stable equilibrium; an unstable one, met on the way or drawn, is left. With
    ``stable=False`` the equilibrium nearest to the start is sought, of whichever kind. Laws of time stand still at
    ``time``; drivers hold. ``hold`` names coordinates ("crank.angle") that stay where they start; ``.holding`` says
    what that takes. No mass is needed but for weight. Raises ConvergenceError where there is no equilibrium.
    """
    t = plain_number(time, "the time")
    limit = plain_number(tolerance, "tolerance")
    if not 0 < limit < 1:
        raise ModelError(f"tolerance must be between 0 and 1, not {limit:g}")
    posed = Posed(model, parameters)
    if start is not None:
        posed.drawn = pose_array(posed.system, start)
    names = [hold] if isinstance(hold, str) else list(hold)
    held = np.array([coordinate_index(posed, name) for name in names], dtype=int)
    balance = _Balance(posed, t, held, assembled(posed, t, names), limit)
    if stable:
        balance.slide()
    else:
        balance.nearest()
    return balance.found(dict(zip(names, held.tolist(), strict=True)))


class _Point:
    """The forces in one pose at rest, all in units of the mechanism (energy, sizes, radians)."""

    def __init__(self, balance: _Balance, q: np.ndarray) -> None:
        at = explicit(balance.posed, State(q, np.zeros(len(q)), balance.t))
        scale, row_scale = balance.posed.scale, balance.posed.row_scale
        self.q, self.whole, self.J_whole = q, at.f, at.J
        self.f = (at.f * scale)[balance.free]
        self.J = (diags(1.0 / row_scale) @ at.J @ diags(scale)).tocsc()[:, balance.free]
        self.Phi = at.Phi / row_scale
        self.finite = bool(np.isfinite(self.f).all() and np.isfinite(self.J.data).all())
        self.push, self.lam = np.full(len(self.f), np.inf), np.zeros(len(self.Phi))
        if self.finite:
            weight = max(balance.unit, float(np.abs(self.f).max(initial=0.0)), 1e-300)
            self.push, lam = Saddle(eye(len(self.f)), self.J).solve(-self.f / weight)
            self.push, self.lam = weight * self.push, weight * lam

    @property
    def force(self) -> float:
        """The largest force that no joint takes."""
        return float(np.abs(self.push).max(initial=0.0))


class Saddle:
    """The factors of [H, J^T; J, 0], H of order one; dependent rows of J do no harm."""

    def __init__(self, H: csc_matrix, J: csc_matrix) -> None:
        self.n, m = H.shape[0], J.shape[0]
        self.matrix = bmat([[H, J.T], [J, None]], format="csc") if m else csc_matrix(H)
        shift = diags(np.concatenate([np.zeros(self.n), np.full(m, -COMPLIANCE)]))
        self.factors = splu((self.matrix + shift).tocsc())

    def solve(self, force: np.ndarray, sweeps: int = 4) -> tuple[np.ndarray, np.ndarray]:
        """The movement and the multipliers that a force causes."""
        rhs = np.concatenate([force, np.zeros(self.matrix.shape[0] - self.n)])
        x = self.factors.solve(rhs)
        last = np.inf
        for _ in range(sweeps):
            change = self.factors.solve(rhs - self.matrix @ x)
            size = float(np.abs(change[: self.n]).max(initial=0.0))
            if not size < 0.5 * last:
                break
            x, last = x + change, size
        return x[: self.n], x[self.n :]


class _Balance:
    """One search: the mechanism, what is held, and where it has come to."""

    def __init__(self, posed: Posed, t: float, held: np.ndarray, q: np.ndarray, tolerance: float) -> None:
        self.posed, self.t, self.held, self.tolerance = posed, t, held, tolerance
        self.free = np.setdiff1d(np.arange(posed.system.n), held)
        self.give = posed.scale**2
        self.give[held] = 0.0
        #: No step goes farther: an angle turns by less than one radian, so that the nearest turn is found.
        self.far = np.where(posed.system.is_angle, 1.0, np.inf)[self.free]
        self.unit = 0.0
        self.start = q
        self.here = _Point(self, q)
        if not self.here.finite:
            raise ModelError(f"'{posed.model.name}': a force is not defined in the start pose; draw it elsewhere")
        self.weigh()

    def weigh(self) -> None:
        """The size of the forces and stiffnesses at work so far: what a residual is measured by."""
        stiffest = float(np.abs(self.stiffness(self.here).data).max(initial=0.0))
        pulling = [self.here.f, self.here.J.T @ self.here.lam]
        self.unit = max(self.unit, stiffest, *(float(np.abs(p).max(initial=0.0)) for p in pulling))

    def stiffness(self, point: _Point) -> csc_matrix:
        """f_q at rest, in the free coordinates."""
        n = self.posed.system.n
        lam = point.lam / self.posed.row_scale
        K = tangents(self.posed, State(point.q, np.zeros(n), self.t), np.zeros(n), lam)[1]
        scaled = (diags(self.posed.scale) @ K @ diags(self.posed.scale)).tocsc()[self.free][:, self.free]
        scaled.data[~np.isfinite(scaled.data)] = 0.0  # a spring without length has no direction, and no stiffness
        return scaled

    def moved(self, by: np.ndarray) -> _Point | None:
        """The point reached by a movement of the free coordinates, joints closed."""
        q = self.here.q.copy()
        q[self.free] += self.posed.scale[self.free] * by
        near = close(self.posed, q, self.t, self.give)
        if near is None:
            return None
        point = _Point(self, near)
        return point if point.finite else None

    def work(self, point: _Point) -> float:
        """How much the potential energy grows from here to a point nearby: the forces along the way, by trapezoids."""
        way = ((point.q - self.here.q) / self.posed.scale)[self.free]
        return -0.5 * float((self.here.push + point.push) @ way)

    # --- downhill --------------------------------------------------------------------------------------------------

    def slide(self) -> None:
        """Go downhill to a stable equilibrium; leave unstable ones along their weakest direction."""
        first = self.here
        try:
            for _ in range(12):
                self.descend()
                if not self.leave():
                    return
            raise self.failure("every equilibrium met is unstable")
        except ConvergenceError:
            if not self._stable_near(first):
                raise

    def _stable_near(self, first: _Point) -> bool:
        """Whether the nearest equilibrium happens to be stable: where forces turn in circles, no way is downhill."""
        last, self.here = self.here, first
        try:
            self.nearest()
            if min(self.reduced()[0], default=0.0) >= 0:
                return True
        except ConvergenceError:
            pass
        self.here = last
        return False

    def descend(self) -> None:
        """Newton's method with a shift that keeps it going downhill (a trust region without its eigenvalues)."""
        shift, reach = 1e-2, 0.5
        for _ in range(500):
            here = self.here
            if here.force <= self.limit and not self.polish():
                return
            if here.force <= 1e-3 * self.unit and self.polish():
                continue
            K = self.stiffness(here)
            step = self._step(K, shift)
            slope = -float(here.push @ step) if step is not None else 0.0
            if step is None or not slope < 0:
                shift = max(10.0 * shift, 1e-8)
                if shift > 1e12:
                    break
                continue
            step *= min(1.0, float((np.fmin(reach, self.far) / np.fmax(np.abs(step), 1e-300)).min()))
            slope = -float(here.push @ step)
            hoped = slope + 0.5 * float(step @ (K @ step))
            there = self.moved(step)
            gained = 0.0 if there is None else self.work(there)
            good = gained / hoped if hoped < 0 else float(gained < 0)
            if there is None or not (gained < 0 and good > 0.05):
                shift, reach = 4.0 * shift, 0.25 * min(reach, float(np.abs(step).max()))
                if reach < 1e-13:
                    break
                continue
            if good > 0.7:
                shift, reach = 0.2 * shift if shift > 1e-14 else 0.0, 2.0 * reach
            elif good < 0.3:
                shift, reach = max(4.0 * shift, 1e-8), 0.5 * reach
            self.here = there
            self.weigh()
            if self.away > AWAY:
                break
        if self.here.force > self.limit:
            raise self.failure("nothing stops the motion" if self.away > 0.01 * AWAY else "the forces do not balance")

    @property
    def away(self) -> float:
        """How far from the start it has come, in mechanism sizes or radians."""
        return float(np.abs((self.here.q - self.start) / self.posed.scale).max())

    @property
    def limit(self) -> float:
        """The force that counts as none."""
        return self.tolerance * self.unit

    def _step(self, K: csc_matrix, shift: float) -> np.ndarray | None:
        unit = max(self.unit, 1e-300)
        try:
            return Saddle(K / unit + shift * eye(len(self.free)), self.here.J).solve(self.here.push / unit)[0]
        except RuntimeError:  # exactly singular
            return None

    def polish(self, uphill: bool = False) -> bool:
        """One plain step of Newton's method, kept if it halves the force at least."""
        step = self._step(self.stiffness(self.here), 0.0)
        if step is None or not np.isfinite(step).all() or np.abs(step).max(initial=0.0) > 0.1:
            return False
        if not uphill and self.here.push @ step < 0:
            return False
        there = self.moved(step)
        if there is None or not there.force < 0.5 * self.here.force:
            return False
        self.here = there
        self.weigh()
        return True

    def leave(self) -> bool:
        """From an equilibrium that is not stable, go a little way downhill, if there is one."""
        values, ways = self.reduced()
        if len(values) == 0 or values[0] > 0:
            return False
        for k in np.flatnonzero((values <= 0) & (np.abs(ways).max(axis=0) > 0)):
            way = ways[:, k] / ways[np.abs(ways[:, k]).argmax(), k]
            tried = [self.moved(sign * size * way) for size in (1e-3, 1e-2, 0.05) for sign in (1.0, -1.0)]
            downhill = [(self.work(p), i) for i, p in enumerate(tried) if p is not None]
            gained, best = min(downhill, default=(0.0, 0))
            if gained < -1e-13 * self.unit:
                self.here = tried[best]  # type: ignore[assignment]
                self.weigh()
                return True
        return False

    # --- any equilibrium -------------------------------------------------------------------------------------------

    def nearest(self) -> None:
        """Solve f = 0 and Phi = 0 for coordinates and multipliers together, from the start."""
        n, unit = len(self.free), max(self.unit, 1e-300)

        def residual(x: np.ndarray) -> tuple[np.ndarray, np.ndarray | csc_matrix]:
            q = self.start.copy()
            q[self.free] += self.posed.scale[self.free] * x[:n]
            point = _Point(self, q)
            point.lam = unit * x[n:]
            r = np.concatenate([(point.f + point.J.T @ point.lam) / unit, point.Phi])
            K = self.stiffness(point) / unit
            whole = bmat([[K, point.J.T], [point.J, None]], format="csc") if len(point.Phi) else K
            return r, whole if len(r) > DENSE else whole.toarray()

        first = np.concatenate([np.zeros(n), self.here.lam / unit])
        stride = np.concatenate([np.full(n, 0.5), np.full(len(first) - n, np.inf)])
        found = levenberg_marquardt(residual, first, np.ones(len(first)), stride)
        near = self.moved(found.q[:n])
        if near is not None:
            self.here = near
            self.weigh()
            while self.polish(uphill=True):
                pass
        if near is None or self.here.force > self.limit:
            raise self.failure("the forces do not balance")

    # --- what comes back ---------------------------------------------------------------------------------------------

    def reduced(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of the reduced stiffness in order, those near zero as zero, and the motions they belong to."""
        free = self.free
        J = self.here.J_whole.toarray()[:, free]
        N = free_motions(J, self.posed.scale[free], self.posed.row_scale)
        if N.shape[1] == 0:
            return np.zeros(0), N
        K = N.T @ (self.stiffness(self.here) @ N)
        values, vectors = np.linalg.eigh((K + K.T) / 2)
        if np.abs(K - K.T).max() > 1e-9 * max(float(np.abs(K).max()), 1e-300):  # forces that no potential has
            general, right = np.linalg.eig(K)
            order = np.argsort(general.real)
            values, vectors = general.real[order], right.real[:, order]
        return np.where(np.abs(values) <= NEUTRAL * self.unit, 0.0, values), N @ vectors

    def found(self, names: dict[str, int]) -> Equilibrium:
        """The equilibrium by names."""
        posed, here = self.posed, self.here
        values, _ = self.reduced()
        lam = here.lam
        if len(here.f) <= DENSE and len(lam):  # of all multipliers that balance, the smallest
            lam = np.linalg.lstsq(here.J.toarray().T, -here.f, rcond=1e-12)[0]
        lam = lam / posed.row_scale
        labels = [row.label for row in posed.system.rows]
        left = here.whole + here.J_whole.T @ lam
        return Equilibrium(
            pose=named_pose(posed, here.q),
            multipliers=dict(zip(labels, lam.tolist(), strict=True)),
            stable=bool(len(values) == 0 or values[0] > 0),
            stiffness=float(values[0]) if len(values) else np.inf,
            residual=here.force / self.unit if self.unit > 0 else 0.0,
            time=self.t,
            holding={name: float(left[k]) for name, k in names.items()},
            parameters=dict(zip(posed.model.parameters, posed.parameters.tolist(), strict=True)),
        )

    def failure(self, reason: str) -> ConvergenceError:
        """Why there is none, with what is still pushed and how hard."""
        posed, push = self.posed, np.abs(self.here.push)
        strongest = [k for k in np.argsort(-push, kind="stable") if push[k] > 0.3 * push.max(initial=0.0)][:3]
        efforts = {self.free[k]: self.here.push[k] / posed.scale[self.free[k]] for k in strongest}
        listed = ", ".join(f"{e:.4g} on '{posed.system.names[k][0]}'" for k, e in efforts.items())
        return ConvergenceError(
            f"no equilibrium of '{posed.model.name}' was found near the start: {reason}; still unbalanced: {listed}; "
            "add what holds it (a spring, a joint, hold=...) or start elsewhere",
            named_pose(posed, self.here.q),
        )
