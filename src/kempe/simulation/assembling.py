"""Closing joints from a rough sketch, and consistent velocities: what assembly and every other analysis begin with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kempe.elements import plain_number, positive
from kempe.errors import AssemblyError, ModelError
from kempe.simulation.posing import Posed
from kempe.simulation.velocities import rates
from kempe.simulation.wording import held_names, no_coordinate, unfollowed
from kempe.solvers.least_squares import DENSE, levenberg_marquardt, shortest_step
from kempe.solvers.start import CLOSED
from kempe.system import System

#: How many other starts are tried when the sketch itself leads nowhere.
RESTARTS = 24
#: Up to so many coordinates a nearly closed pose is closed with full matrices.
FEW = 60


@dataclass(frozen=True)
class Pose:
    """Coordinates (and, if asked for, velocities) by the user's names."""

    values: dict[str, float]
    rates: dict[str, float] = field(default_factory=dict)
    #: What each coordinate was moved by from the sketch.
    moved: dict[str, float] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        if name in self.values:
            return self.values[name]
        if name in self.rates:
            return self.rates[name]
        raise ModelError(f"a pose has no '{name}'; it has {', '.join(self.values)}")

    def __contains__(self, name: object) -> bool:
        return name in self.values or name in self.rates

    def __iter__(self) -> Iterator[str]:
        return iter({**self.values, **self.rates})

    @property
    def q(self) -> np.ndarray:
        """The coordinates as an array, in the model's order."""
        return np.array(list(self.values.values()))


def named_pose(posed: Posed, q: np.ndarray, v: np.ndarray | None = None) -> Pose:
    """Arrays as a pose with names."""
    return pose_of(posed.system, posed.drawn, q, v)


def pose_of(system: System, drawn: np.ndarray, q: np.ndarray, v: np.ndarray | None = None) -> Pose:
    """Arrays as a pose with names; ``drawn`` is what it was moved from."""
    names = system.names
    values = {n[0]: c for n, c in zip(names, q.tolist(), strict=True)}
    rates = {} if v is None else {n[1]: c for n, c in zip(names, v.tolist(), strict=True)}
    moved = {n[0]: c for n, c in zip(names, (q - drawn).tolist(), strict=True)}
    return Pose(values, rates, moved)


def pose_array(system: System, pose: Pose) -> np.ndarray:
    """The coordinates of a pose in the system's order."""
    if not isinstance(pose, Pose):
        raise ModelError(f"a start must be a pose, as m.assemble() returns it, not {type(pose).__name__}")
    missing = [n[0] for n in system.names if n[0] not in pose.values]
    if missing:
        raise ModelError(f"the pose lacks {', '.join(missing)}")
    return np.array([pose.values[n[0]] for n in system.names])


def assembled(
    posed: Posed, time: float, hold: Iterable[str] = (), weights: Mapping[str, float] | None = None
) -> np.ndarray:
    """The assembled coordinates nearest to the drawn ones."""
    posed.drawn = whole_turns(posed.system, posed.x, posed.drawn, time)
    give = _give(posed, hold, weights)
    scale = posed.row_scale

    def residual(q: np.ndarray) -> tuple[np.ndarray, Any]:
        Phi, J, _ = posed.linear(q, time)
        if not (np.isfinite(Phi).all() and np.isfinite(J).all()):
            return np.full(len(Phi), np.inf), J
        scaled = J / scale[:, None]
        if not (np.isfinite(scaled).all() and np.isfinite(Phi / scale).all()):
            return np.full(len(Phi), np.inf), J
        if posed.system.n > DENSE:
            from scipy.sparse import csc_matrix

            return Phi / scale, csc_matrix(scaled)
        return Phi / scale, scaled

    stride = 0.5 * posed.scale
    best = levenberg_marquardt(residual, posed.drawn.copy(), give, stride)
    if best.residual > CLOSED:
        best = _restarted(posed, residual, give, stride, best)
    if best.residual > CLOSED:
        closest = _closest(residual, best.q, give)
        nearly = levenberg_marquardt(residual, closest, give, stride)
        if nearly.residual > CLOSED:
            raise _open(posed, closest, time)
        best = nearly
    return _nearest(posed, residual, give, stride, best.q)


def close(posed: Posed, q: np.ndarray, time: float, give: np.ndarray | None = None) -> np.ndarray | None:
    """The pose with closed joints nearest to one that is nearly closed; None where none is near."""
    system, scale = posed.system, posed.row_scale
    rows, columns = system.jacobian_places

    def residual(p: np.ndarray) -> tuple[np.ndarray, Any]:
        from scipy.sparse import csc_matrix

        out = system.evaluate(system.position, posed.x, p, time)
        values = out[system.m : system.m + len(rows)] / scale[rows]
        J = csc_matrix((values, (rows, columns)), shape=(system.m, system.n))
        return out[: system.m] / scale, J.toarray() if system.n <= FEW else J

    if system.m == 0:
        return q
    stride = 0.5 * posed.scale
    found = levenberg_marquardt(residual, q, posed.scale**2 if give is None else give, stride, iterations=30)
    return found.q if found.residual <= CLOSED else None


def whole_turns(system: System, x: np.ndarray, drawn: np.ndarray, time: float) -> np.ndarray:
    """The sketch with driven bodies counted in the turn their driver asks for.

    A crank drawn at -pi/2 and driven from 3 pi/2 is drawn right. Bodies whose whole turns another constraint notices (a
    weld, a guide, a gear, a rack) are left as drawn, because there they mean something.
    """
    Phi, J, _ = system.linear(x, drawn, time)
    used = J != 0
    angular = used.any(axis=1) & ~(used & ~system.is_angle).any(axis=1)
    q = drawn.copy()
    for row in np.flatnonzero(angular & system.drives):
        columns = np.flatnonzero(used[row])
        if len(columns) == 1 and abs(J[row, columns[0]]) == 1.0 and np.isfinite(Phi[row]):
            turned, turns = q.copy(), np.round(Phi[row] / (2 * np.pi))
            if turns == 0:
                continue
            turned[columns[0]] -= 2 * np.pi * turns * J[row, columns[0]]
            noticed = np.abs(system.Phi(x, turned, time) - Phi)[~system.drives]
            if not noticed.max(initial=0.0) > 1e-9 * max(1.0, float(np.abs(J).max())):
                q = turned
    return q


def _give(posed: Posed, hold: Iterable[str], weights: Mapping[str, float] | None) -> np.ndarray:
    """How far each coordinate gives way: its scale squared over its weight, zero when held."""
    give = posed.scale**2
    for name, weight in (weights or {}).items():
        give[coordinate_index(posed, name)] /= positive(weight, f"the weight of '{name}'")
    for name in held_names(hold):
        give[coordinate_index(posed, name)] = 0.0
    return give


def coordinate_index(posed: Posed, name: str) -> int:
    """The place of a coordinate by its name."""
    try:
        return posed.system.index(name)
    except (KeyError, TypeError):
        raise ModelError(no_coordinate(posed.system, name)) from None


def _restarted(posed: Posed, residual: Any, give: np.ndarray, stride: np.ndarray, best: Any) -> Any:
    """Other starts around the sketch; of those that close, the one nearest to the sketch."""
    rng = np.random.default_rng(0)
    metric = np.where(give > 0, give, np.inf)
    found = []
    for k in range(RESTARTS):
        spread = 0.15 * (1 + k // 6)
        start = posed.drawn + np.sqrt(give) * rng.uniform(-spread, spread, posed.system.n)
        trial = levenberg_marquardt(residual, start, give, stride)
        if trial.residual <= CLOSED:
            found.append((float(np.sum((trial.q - posed.drawn) ** 2 / metric)), k, trial))
        elif trial.residual < best.residual:
            best = trial
        if len(found) >= 3:
            break
    return min(found)[2] if found else best


def _nearest(posed: Posed, residual: Any, give: np.ndarray, stride: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Slide along the constraints to the assembled pose nearest to the sketch."""
    metric = np.where(give > 0, give, np.inf)

    def distance(p: np.ndarray) -> float:
        return float(np.sum((p - posed.drawn) ** 2 / metric))

    here = distance(q)
    for _ in range(60):
        _, J = residual(q)
        wish = np.where(give > 0, posed.drawn - q, 0.0)
        along = wish + shortest_step(J, np.asarray(J @ wish).ravel(), give)
        if float(np.max(np.abs(along) / posed.scale, initial=0.0)) < 1e-10:
            break
        step = 1.0
        while step > 1e-4:
            trial = levenberg_marquardt(residual, q + step * along, give, stride, iterations=30)
            there = distance(trial.q)
            if trial.residual <= CLOSED and there < here * (1 - 1e-12):
                break
            step *= 0.5
        else:
            break
        q, here = trial.q, there
    return q


def _closest(residual: Any, q: np.ndarray, give: np.ndarray) -> np.ndarray:
    """The pose of least violation near q."""
    from scipy.optimize import least_squares

    if not np.isfinite(residual(q)[0]).all():
        return q
    free = np.flatnonzero(give > 0)

    def moved(z: np.ndarray) -> np.ndarray:
        p = q.copy()
        p[free] += z * np.sqrt(give[free])
        return p

    try:
        found = least_squares(
            lambda z: np.nan_to_num(residual(moved(z))[0], posinf=1e6),
            np.zeros(len(free)),
            jac=lambda z: np.asarray(residual(moved(z))[1])[:, free] * np.sqrt(give[free]),
            xtol=1e-14,
            ftol=1e-15,
            gtol=1e-14,
            max_nfev=400,
        )
    except (ValueError, np.linalg.LinAlgError):  # it met numbers that are not finite
        return q
    return moved(found.x)


def _open(posed: Posed, q: np.ndarray, time: float) -> AssemblyError:
    """The error that names each open joint and its gap at the closest pose found."""
    Phi = posed.Phi(q, time)
    gaps: dict[str, float] = {}
    sizes: dict[str, float] = {}
    for row, gap, size in zip(posed.system.rows, Phi, Phi / posed.row_scale, strict=True):
        name = row.owner
        gaps[name] = float(np.hypot(gaps.get(name, 0.0), gap))
        sizes[name] = float(np.hypot(sizes.get(name, 0.0), size))
    undefined = [name for name, size in sizes.items() if not np.isfinite(size)]
    if undefined:
        listed = ", ".join(f"'{name}'" for name in undefined)
        message = f"cannot assemble '{posed.model.name}': not defined in the drawn pose: {listed}"
        return AssemblyError(message, named_pose(posed, q), dict.fromkeys(undefined, np.inf))
    worst = max(sizes.values())
    open_joints = {name: gaps[name] for name in sorted(gaps, key=lambda n: -sizes[n]) if sizes[name] > 1e-3 * worst}
    listed = ", ".join(f"'{name}' by {gap:.4g}" for name, gap in list(open_joints.items())[:8])
    more = "" if len(open_joints) <= 8 else f" and {len(open_joints) - 8} more"
    message = f"cannot assemble '{posed.model.name}': these stay open in the closest pose found: {listed}{more}"
    return AssemblyError(message + "; the pose is in .pose", named_pose(posed, q), open_joints)


def consistent_velocity(
    posed: Posed, q: np.ndarray, time: float, given: Mapping[str, float] | None = None
) -> np.ndarray:
    """Velocities that satisfy Phi_q v = nu: the given ones kept as far as possible, the others as small as possible."""
    named = {name: plain_number(value, f"velocity '{name}'") for name, value in (given or {}).items()}
    wanted = rates(posed.system, named, q)
    _, J, nu = posed.linear(q, time)
    scale = posed.row_scale
    scaled = J * posed.scale / scale[:, None]
    w = np.linalg.lstsq(scaled, nu / scale, rcond=1e-12)[0]  # rates in mechanism sizes per time
    w += np.linalg.lstsq(scaled, nu / scale - scaled @ w, rcond=1e-12)[0]
    if wanted:
        _, s, Vt = np.linalg.svd(scaled)
        free = Vt[int((s > 1e-12 * s.max(initial=1e-300)).sum()) :].T  # motions the constraints leave open
        which = list(wanted)
        missing = np.array(list(wanted.values())) / posed.scale[which] - w[which]
        # a given velocity is not worth others a million times as fast: that would be rounding next to a dead centre
        w += free @ np.linalg.lstsq(free[which], missing, rcond=1e-6)[0]
    v = w * posed.scale
    gap = (J @ v - nu) / scale
    if np.abs(gap).max(initial=0.0) > 1e-9 * max(1.0, float(np.abs(v / posed.scale).max(initial=0.0))):
        raise ModelError(unfollowed(posed.system, scaled, nu / scale, time))
    return v
