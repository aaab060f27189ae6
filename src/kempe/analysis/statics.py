"""Static equilibrium: the pose in which all forces balance and nothing moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from kempe.analysis.saddles import Saddle, lowest_stiffness, softest
from kempe.analysis.tangents import LOAD_ITERATIONS, State, explicit
from kempe.calling import explained
from kempe.elements import plain_number
from kempe.errors import ConvergenceError, ModelError
from kempe.model import Model
from kempe.results import VIEWS, Result
from kempe.simulation.assembling import (
    CLOSED,
    Pose,
    assembled,
    close,
    coordinate_index,
    named_pose,
    pose_array,
    whole_turns,
)
from kempe.simulation.posing import Posed
from kempe.simulation.wording import held_names
from kempe.solvers.least_squares import DENSE, levenberg_marquardt
from kempe.system import compiled
from kempe.system.dependence import combinations, idle_multipliers, most_first
from kempe.system.sharing import sharing

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
    stats: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    model: Model | None = field(default=None, repr=False, compare=False)

    def __getitem__(self, name: str) -> float:
        for table in (self.multipliers, self.pose.values):
            if name in table:
                return table[name]
        if self.model is None:
            known = ", ".join([*self.pose.values, *self.multipliers])
            raise ModelError(f"an equilibrium has no '{name}'; it has {known}")
        return float(self.result().array(name)[0])

    @property
    def kind(self) -> str:
        """Whether it is "stable", "indifferent" or "unstable"."""
        return "stable" if self.stable else "indifferent" if self.stiffness == 0 else "unstable"

    def result(self) -> Result:
        """The pose as a result of one instant: to be drawn, or asked for reactions."""
        if self.model is None:
            raise ModelError("this equilibrium does not know its model")
        q = self.pose.q[None]
        held = "".join(f"; holding {name} takes {effort:.6g}" for name, effort in self.holding.items())
        return Result(
            t=np.array([self.time]),
            q=q,
            v=np.zeros_like(q),
            a=np.zeros_like(q),
            columns=list(compiled(self.model).names),
            status=f"{self.kind} equilibrium",
            message=("nothing can move" if np.isinf(self.stiffness) else f"smallest stiffness {self.stiffness:.4g}")
            + held,
            stats=dict(self.stats),
            provenance={"model": self.model.name, "analysis": "equilibrium", "parameters": dict(self.parameters)},
            model=self.model,
            series={f"lambda.{label}": np.array([value]) for label, value in self.multipliers.items()},
        )

    def report(self, path: str | Path, *, title: str = "") -> Path:
        """One HTML file with the mechanism at rest and the forces that keep it there; see :func:`kempe.view.report`."""
        return VIEWS["report"](self.model, self.result(), path, title=title)

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(f"<tr><td>{escape(name)}</td><td>{x:.6g}</td></tr>" for name, x in self.pose.values.items())
        head = f"{self.kind} equilibrium, smallest stiffness {self.stiffness:.4g}"
        return f"<p>{head}</p><table><tr><th>coordinate</th><th>value</th></tr>{rows}</table>"

    def __str__(self) -> str:
        where = ", ".join(f"{name} = {value:.6g}" for name, value in list(self.pose.values.items())[:12])
        return f"{self.kind} equilibrium (smallest stiffness {self.stiffness:.4g}): {where}"


@explained
def equilibrium(
    model: Model,
    *,
    start: Pose | None = None,
    time: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    hold: Any = (),
    stable: bool = True,
    tolerance: float = 1e-12,
) -> Equilibrium:
    """Find the pose in which all forces balance: f(q, 0, 0, t, lambda) = 0 and Phi(q, t) = 0.

    From ``start`` (default: the sketch) the mechanism slides downhill along its joints until nothing pushes it any
    further, which ends in a stable equilibrium; an unstable one, met on the way or drawn, is left. With
    ``stable=False`` the equilibrium nearest to the start is sought, of whichever kind. Laws of time stand still at
    ``time``; drivers hold. ``hold`` names coordinates ("crank.angle", or the quantity
    itself) that stay where they start; ``.holding`` says
    what that takes. No mass is needed but for weight. Raises ConvergenceError where there is no equilibrium.
    """
    t = plain_number(time, "the time")
    limit = plain_number(tolerance, "tolerance")
    if not 0 < limit < 1:
        raise ModelError(f"tolerance must be between 0 and 1, not {limit:g}")
    posed = Posed(model, parameters)
    if start is not None:
        posed.drawn = pose_array(posed.system, start)
    names = held_names(hold)
    held = np.array([coordinate_index(posed, name) for name in names], dtype=int)
    balance = _Balance(posed, t, names, held, limit)
    if stable:
        balance.slide()
    else:
        balance.nearest()
    return balance.found(dict(zip(names, held.tolist(), strict=True)))


class _Point:
    """The forces in one pose at rest, all in units of the mechanism (energy, sizes, radians).

    ``push`` is what no joint takes, ``lam`` what the joints take: push + J^T lambda = -f, J push = 0. Where forces
    depend on multipliers they are found together, by Newton's method.
    """

    def __init__(self, saddle: Saddle, q: np.ndarray, guess: np.ndarray | None = None) -> None:
        self.saddle, self.q = saddle, q
        self.lam = np.zeros(saddle.m) if guess is None else guess
        self.push = np.full(saddle.n, np.inf)
        loaded = saddle.posed.system.dynamics.loaded
        self.finite = True
        for _ in range(LOAD_ITERATIONS if loaded else 1):
            self.at = saddle.look(q, self.lam)
            if not all(np.isfinite(values).all() for values in self.at):
                break
            try:
                self.level = saddle.factors(None, self.at, 1.0)
            except RuntimeError:  # exactly singular: a force grows with what it causes
                break
            last = self.lam
            self.push, self.lam = self.level.solve(-self.at.f - saddle.felt(self.at, last) if loaded else -self.at.f)
            if not loaded or np.abs(self.lam - last).max(initial=0.0) <= 1e-13 * np.abs(self.lam).max(initial=0.0):
                return
        self.finite = False

    @cached_property
    def K(self) -> np.ndarray:
        """The entries of f_q."""
        return self.saddle.stiffness(self.q, self.lam)

    @cached_property
    def lowest(self) -> tuple[np.ndarray, np.ndarray]:
        """The lowest eigenvalues of the reduced stiffness in order, and the motions they belong to."""
        return lowest_stiffness(self.saddle, self.K, self.at)

    @property
    def force(self) -> float:
        """The largest force that no joint takes."""
        return float(np.abs(self.push).max(initial=0.0))


class _Balance:
    """One search: the mechanism, what is held, and where it has come to."""

    def __init__(self, posed: Posed, t: float, names: list[str], held: np.ndarray, tolerance: float) -> None:
        self.posed, self.t, self.held, self.tolerance = posed, t, held, tolerance
        self.free = np.setdiff1d(np.arange(posed.system.n), held)
        self.saddle = Saddle(posed, t, self.free)
        self.give = posed.scale**2
        self.give[held] = 0.0
        #: No step goes farther: an angle turns by less than one radian, so that the nearest turn is found.
        self.far = np.where(posed.system.is_angle, 1.0, np.inf)[self.free]
        self.unit = 0.0
        posed.drawn = whole_turns(posed.system, posed.x, posed.drawn, t)
        drawn = self.closed(posed.drawn, 30)
        self.start = assembled(posed, t, names) if drawn is None else drawn
        self.here = _Point(self.saddle, self.start)
        if not self.here.finite:
            raise ModelError(f"'{posed.model.name}': a force is not defined in the start pose; draw it elsewhere")
        self.weigh()

    def weigh(self) -> None:
        """The size of the forces and stiffnesses at work so far: what a residual is measured by."""
        at = self.here.at
        work = (at.f, self.saddle.carried(at.J, self.here.lam), self.here.K)
        self.unit = max(self.unit, *(float(np.abs(values).max(initial=0.0)) for values in work))

    def closed(self, q: np.ndarray, rounds: int = 12) -> np.ndarray | None:
        """The pose with closed joints that the shortest steps lead to; None where they lead nowhere."""
        last, none = np.inf, np.zeros(self.saddle.m)
        for _ in range(rounds if len(none) else 0):
            at = self.saddle.look(q, none)
            size = float(np.linalg.norm(at.Phi))
            if size <= 1e-15 or (size <= CLOSED and size > 0.5 * last):
                return q
            if not (size < 2.0 * last and np.isfinite(at.J).all()):
                return None
            last = size
            step, _ = self.saddle.factors(None, at, 1.0).solve(np.zeros(len(self.free)), -at.Phi, 1)
            q = q.copy()
            q[self.free] += self.posed.scale[self.free] * step / max(1.0, 2.0 * float(np.abs(step).max(initial=0.0)))
        return None if len(none) else q

    def moved(self, by: np.ndarray) -> _Point | None:
        """The point reached by a movement of the free coordinates, joints closed."""
        q = self.here.q.copy()
        q[self.free] += self.posed.scale[self.free] * by
        near = self.closed(q)
        if near is None:
            near = close(self.posed, q, self.t, self.give)
        if near is None:
            return None
        point = _Point(self.saddle, near, self.here.lam)
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
        """Newton's method with a shift that keeps it going downhill, also where the stiffness is negative."""
        shift, reach = 1e-2, 0.5
        way = np.random.default_rng(0).normal(size=len(self.free))
        for _ in range(500):
            here = self.here
            if here.force <= self.limit and not self.polish():
                return
            if here.force <= 1e-3 * self.unit and self.polish():
                continue
            low, way = softest(self.saddle, here.K, here.level, way)
            step = self._step(max(shift, -1.5 * low / max(self.unit, 1e-300)))  # saddles must not attract
            slope = -float(here.push @ step) if step is not None else 0.0
            if step is None or not slope < 0:
                shift = max(10.0 * shift, 1e-8)
                if shift > 1e12:
                    break
                continue
            step *= min(1.0, float((np.fmin(reach, self.far) / np.fmax(np.abs(step), 1e-300)).min()))
            slope = -float(here.push @ step)
            hoped = slope + 0.5 * float(step @ self.saddle.pulled(here.K, step))
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

    def _step(self, shift: float) -> np.ndarray | None:
        unit, here = max(self.unit, 1e-300), self.here
        try:
            return self.saddle.factors(here.K / unit, here.at, shift).solve(here.push / unit)[0]
        except RuntimeError:  # exactly singular
            return None

    def polish(self, uphill: bool = False) -> bool:
        """One plain step of Newton's method, kept if it halves the force at least."""
        step = self._step(0.0)
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
            lam = unit * x[n:]
            at = self.saddle.look(q, lam)
            r = np.concatenate([(at.f + self.saddle.carried(at.J, lam)) / unit, at.Phi])
            whole = self.saddle.matrix(self.saddle.stiffness(q, lam) / unit, at)
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
        """Eigenvalues of the reduced stiffness in order, those near zero as zero, and the motions they belong to.

        Of a large mechanism they are the lowest few.
        """
        values, ways = self.here.lowest
        return np.where(np.abs(values) <= NEUTRAL * self.unit, 0.0, values), ways

    def found(self, names: dict[str, int]) -> Equilibrium:
        """The equilibrium by names."""
        posed, here = self.posed, self.here
        posed.within_data(here.q, self.t, np.zeros(len(here.q)))
        values, _ = self.reduced()
        self._held(here.lam / posed.row_scale)
        shared, said = self._shared()
        lam = shared / posed.row_scale
        labels = [row.label for row in posed.system.rows]
        at = explicit(posed, State(here.q, np.zeros(len(here.q)), self.t), lam)
        left = at.f + at.J.T @ lam
        return Equilibrium(
            pose=named_pose(posed, here.q),
            multipliers=dict(zip(labels, lam.tolist(), strict=True)),
            stable=bool(len(values) == 0 or values[0] > 0),
            stiffness=float(values[0]) if len(values) else np.inf,
            residual=here.force / self.unit if self.unit > 0 else 0.0,
            time=self.t,
            holding={name: float(left[k]) for name, k in names.items()},
            parameters=dict(zip(posed.model.parameters, posed.parameters.tolist(), strict=True)),
            stats=said,
            model=posed.model.kept(),
        )

    def _shared(self) -> tuple[np.ndarray, dict[str, Any]]:
        """Of all multipliers that balance, those that stiffnesses tell, or the smallest; and what is said of them."""
        here, saddle, posed, system = self.here, self.saddle, self.posed, self.posed.system
        if saddle.n > DENSE or not here.level.dependent:
            return here.lam, {}
        J, on = saddle.jacobian(here.at), system.in_force(posed.x)
        idle = np.zeros((saddle.m, 0))
        if on.any():
            found = idle_multipliers(J[on], np.ones(saddle.n), np.ones(int(on.sum())))
            idle = np.zeros((saddle.m, found.shape[1]))
            idle[on] = found
        choice = sharing(system, posed.parameters, (here.q, self.t), (posed.size, posed.row_scale))
        rows = [system.rows[one.row].label for one in combinations(idle, system.blame_order)]
        said = {"redundant constraints": rows, "reactions": choice.kind} if rows else {}
        if system.dynamics.loaded:
            return here.lam, said
        lam = np.linalg.lstsq(J.T, -here.at.f, rcond=1e-12)[0]
        units = posed.row_scale
        return choice.chosen(lam / units, idle / units[:, None]) * units, said

    def _held(self, lam: np.ndarray) -> None:
        """What holds by its load must be able to: no guard of the modes at rest may be below zero."""
        posed, d, n = self.posed, self.posed.system.dynamics, self.posed.system.n
        if not any(f.solved_guards for f in posed.system.families if f.modes):
            return
        rest = np.zeros(n)
        guards = posed.system.evaluate(d.guards, posed.x, self.here.q, self.t, rest, lam, rest)[: len(d.switches)]
        due = [
            (e, s) for (e, s), g, solved in zip(d.switches, guards, d.hybrids.solved, strict=True) if solved and g < 0
        ]
        if due:
            (element, switch), *_ = due
            raise self.failure(f"'{element.name}' does not hold ({switch.note or switch.target})")

    def failure(self, reason: str) -> ConvergenceError:
        """Why there is none, with what is still pushed and how hard."""
        posed, push = self.posed, np.abs(self.here.push)
        strongest = [k for k in most_first(push) if push[k] > 0.3 * push.max(initial=0.0)][:3]
        efforts = {self.free[k]: self.here.push[k] / posed.scale[self.free[k]] for k in strongest}
        listed = ", ".join(f"{e:.4g} on '{posed.system.names[k][0]}'" for k, e in efforts.items())
        return ConvergenceError(
            f"no equilibrium of '{posed.model.name}' was found near the start: {reason}; still unbalanced: {listed}; "
            "add what holds it (a spring, a joint, hold=...) or start elsewhere",
            named_pose(posed, self.here.q),
        )
