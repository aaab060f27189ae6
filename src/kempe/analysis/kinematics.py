"""Positions, velocities and accelerations of a driven mechanism, with every singular position found and named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from kempe.analysis.driving import enough_drivers, no_contradiction
from kempe.analysis.passage import Passage, hermite, passage
from kempe.analysis.singular import Located, SingularPosition, Square, arrival_first, classify, locate
from kempe.calling import explained
from kempe.elements import shown
from kempe.errors import ConvergenceError, ModelError, SingularPositionError
from kempe.model import Model
from kempe.results import Result
from kempe.results.provenance import versions
from kempe.simulation.assembling import Pose, assembled, pose_array
from kempe.simulation.posing import Posed
from kempe.simulation.progress import Progress, Report, reporting
from kempe.simulation.times import check_room, same_time, time_grid
from kempe.solvers import continuation as co
from kempe.solvers.sparse_lu import plan_lu
from kempe.system.dependence import constraint_rank, most_first
from kempe.system.fusion import compile_named

#: A bifurcation is perfect when the constraints need to be shifted by no more than this to have it.
PERFECT = 1e-11

#: So many grid points are computed without looking up (for Ctrl-C and for progress).
CHUNK = 10_000
#: A stall is explained by a singular position this near (in mechanism sizes or radians).
NEAR = 0.05

BranchChoice = int | str | Callable[[SingularPosition], int]


@explained
def kinematics(
    model: Model,
    times: float | Sequence[float] | np.ndarray,
    *,
    steps: int = 200,
    on_singular: str = "raise",
    branch: BranchChoice | Sequence[BranchChoice] = 0,
    start: Pose | None = None,
    parameters: Mapping[str, float] | None = None,
    compile: str | None = None,
    progress: Progress = None,
) -> Result:
    """Positions, velocities and accelerations on a time grid, on one branch.

    ``times`` is an increasing grid, or an end time (then the grid has ``steps`` equal steps from 0). The mechanism
    must be fully driven. ``start`` is where assembly begins at the first time (default: the sketch).

    At a singular position: ``on_singular="raise"`` raises SingularPositionError (with the motion so far in
    ``.result``), ``"stop"`` returns the motion up to that instant, which is its last row (velocities and accelerations
    are those of arrival; where they do not exist, in a lock-up, they are nan there), ``"cross"`` goes on through
    bifurcations on the chosen ``branch``: 0 is the smooth continuation, 1, 2, ... the others in the order of the
    event's ``branches``; a function of the event may choose; a list gives one choice per bifurcation, the last one
    repeated. A lock-up cannot be crossed: it raises, or stops with ``"stop"``.

    ``compile`` ("auto", "never", "always") is as in :func:`kempe.simulate`.
    ``progress`` is as in :func:`kempe.simulate`, and a function is told how many points are done and wanted. Ctrl-C
    returns what exists, with the status "interrupted".
    """
    if not isinstance(on_singular, str) or on_singular not in ("raise", "stop", "cross"):
        raise ModelError(f"on_singular must be 'raise', 'stop' or 'cross', not {shown(on_singular)}")
    grid, compiling = time_grid(times, steps), compile_named(compile)
    posed = Posed(model, parameters)
    check_room(len(grid), 6 * posed.system.n, f"{posed.system.n} coordinates")
    if start is not None:
        posed.drawn = pose_array(posed.system, start)
    motion = _Motion(posed, grid, on_singular, branch, compiling)
    with reporting(progress, f"'{model.name}': kinematics") as report:
        motion.progress = report or motion.progress
        return motion.run()


class _Motion:
    """One run: the state of the continuation, the recorded grid points and the events met."""

    def __init__(self, posed: Posed, grid: np.ndarray, on_singular: str, branch: Any, compiling: str) -> None:
        self.posed, self.grid, self.on_singular, self.compiling = posed, grid, on_singular, compiling
        self.compiled = "nothing"
        self.choices = list(branch) if isinstance(branch, (list, tuple)) else [branch]
        n = posed.system.n
        self.Q, self.V, self.A = np.empty((3, len(grid), n))  # (one piece of memory costs a third of the time of three)
        self.events: list[SingularPosition] = []
        self.progress: Report = lambda done, wanted: None
        self.stats = {"replans": 0, "events located": 0}
        span = float(grid[-1] - grid[0])
        self.limit = self.usual_limit = span / 64 if span > 0 else 1.0
        self.careful_until = -np.inf

    # --- set-up ------------------------------------------------------------------------------------------------

    def run(self) -> Result:
        posed, t0 = self.posed, float(self.grid[0])
        enough_drivers(posed, t0)
        posed.x[posed.system.closed] = 1.0
        q = assembled(posed, t0)
        self.row_scale = posed.row_scale
        self.k = 0
        if not self._starts_regular(q, t0):
            no_contradiction(posed, q, t0)
            self._choose_rows(q, t0)
            event = self._event_at_start(q, t0)
            if event is not None:
                result = self._meet(event, None)
                return self._go() if result is None else result
            self._resume(q, t0)
        self._record(0, *self.state.instant()[1:4])
        self.k = 1
        return self._go()

    def _event_at_start(self, q: np.ndarray, t: float) -> SingularPosition | None:
        """A singular position exactly at the start; one that is merely near is met in due course."""
        event = classify(self.square, q, t)
        if event is None:
            return None
        found = self._perfect(q, t, np.inf) or locate(self.square, q, t, np.inf, bifurcation=False)
        if found is None or np.abs((found.q - q) / self.posed.scale).max() > NEAR:
            return event
        return classify(self.square, found.q, t) if abs(found.t - t) <= same_time(t) else None

    def _starts_regular(self, q: np.ndarray, t: float) -> bool:
        """Whether the Jacobian is square and plainly regular, which spares all questions of rank."""
        system = self.posed.system
        if system.m != system.n:
            return False
        self._choose_rows(q, t)
        try:
            self._plan(q, t)
        except np.linalg.LinAlgError:
            return False
        self.state = co.new_state(q, t)
        if not co.begin(self.path, self.work, self.state, 8):
            return False
        largest = np.abs(system.evaluate(system.position, self.posed.x, q, t)[system.m : -system.m]).max()
        return abs(self.state.instant().sigma) > 1e-6 * largest

    def _choose_rows(self, q: np.ndarray, t: float) -> None:
        """Choose independent rows to solve for; redundant ones must then hold by themselves."""
        from scipy.linalg import qr

        system = self.posed.system
        if system.m == system.n:
            self.active = np.arange(system.n)
        else:
            J = self.posed.linear(q, t)[1] * self.posed.scale / self.row_scale[:, None]
            order = qr(J.T, pivoting=True, mode="r")[1]
            self.active = np.sort(order[: system.n])
        self.square = Square(self.posed, self.active, self.row_scale)

    def _plan(self, q: np.ndarray, t: float) -> None:
        """Choose pivots at a position and set up the compiled path."""
        system = self.posed.system
        rows, columns = system.jacobian_places
        place = np.full(system.m, -1, dtype=np.int64)
        place[self.active] = np.arange(system.n)
        out = system.evaluate(system.position, self.posed.x, q, t)
        values = out[system.m : system.m + len(rows)]
        used = np.flatnonzero(place[rows] >= 0)
        plan = plan_lu(system.n, place[rows][used], columns[used], values[used], used)
        self.path = co.Path(
            layout=system.layout,
            position=system.position,
            acceleration=system.acceleration,
            plan=plan,
            active=np.ascontiguousarray(self.active, dtype=np.int64),
            entry_row=np.ascontiguousarray(place[rows], dtype=np.int64),
            entry_column=np.ascontiguousarray(columns, dtype=np.int64),
            scale=self.posed.scale,
            per_scale=1.0 / self.posed.scale,
            row_scale=np.ascontiguousarray(self.row_scale),
        )
        self.work = co.new_work(self.path, self.posed.x)
        self.stats["replans"] += 1
        if self.compiling != "never":
            system.driven.put_in(self.path)

    # --- the loop ----------------------------------------------------------------------------------------------

    def _record(self, k: int, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        self.Q[k], self.V[k], self.A[k] = q + 0.0, v + 0.0, a + 0.0  # no negative zeros

    def _go(self) -> Result:
        """Follow the motion; hand over to ``_meet`` at singular positions."""
        try:
            return self._follow()
        except KeyboardInterrupt:
            return self._result(False, "interrupted", f"interrupted at t = {self.state.instant().t:.10g}")

    def _follow(self) -> Result:
        fresh, idle, reached = False, 0, -np.inf
        while True:
            end = len(self.grid)
            if self.limit < self.usual_limit:
                end = min(end, int(np.searchsorted(self.grid, self.careful_until)) + 1)
            code = self._track(min(end, self.k + CHUNK), fresh)
            fresh = False
            if code == co.REACHED and self.k < len(self.grid):
                if self.k >= end:
                    self.limit = self.usual_limit
                self.progress(self.k, len(self.grid))
                continue
            if code == co.REACHED:
                self._within_data()
                return self._result(True, "complete", "the whole time span was covered")
            if code == co.REPLAN:
                self._replan()
                fresh = True
                continue
            if code == co.INCONSISTENT:
                return self._contradiction()
            t = self.state.instant().t
            idle = idle + 1 if t <= reached else 0
            reached = max(reached, t)
            if idle > 60:
                self._stalled()
            event = self._investigate(code)
            if event is not None:
                result = self._meet(event, self.state.instant(1 if code != co.STALL else 0))
                if result is not None:
                    return result

    def _track(self, end: int, fresh: bool) -> int:
        """Follow the motion up to a grid point, with an instant written out as one function when that is worth it."""
        begun, first, driven = perf_counter(), self.k, self.posed.system.driven
        if self.compiling == "always":
            driven.make(self.path)
        if self.path.instant:
            self.compiled = "instants"
        code, self.k = co.track(
            self.path, self.work, self.state, self.grid[:end], first, self.limit, fresh, self.Q, self.V, self.A
        )
        if self.compiling == "auto" and self.k > first:
            seconds = perf_counter() - begun
            driven.spend(self.path, seconds, seconds * (len(self.grid) - self.k) / (self.k - first))
        return int(code)

    def _replan(self) -> None:
        """New pivots, chosen where the old ones failed; the state itself stays where it was."""
        here = self.state.instant()
        self._plan(self.posed.x[self.posed.system.layout.q].copy(), here.t)
        co.rates(self.path, self.work, here.q, here.t, here.v, here.a)
        self.state.s[self.state.now, co.DET] = co.determinant(self.path, self.work)

    def _investigate(self, code: int) -> SingularPosition | None:
        """Look for the singular position that a stall, a sign change or a dip of the singular value announces."""
        state, here, before = self.state, self.state.instant(), self.state.instant(1)
        self.stats["events located"] += 1
        t0, t1 = before.t, here.t
        if self._better_rows(code):
            return None
        if code == co.STALL:
            for found in (
                self._perfect(here.q, t1, np.inf),
                locate(self.square, here.q, t1, np.inf, bifurcation=False),
            ):
                if found is None or found.t < t1 - 1e-9 * self._pace():
                    continue
                if np.abs((found.q - here.q) / self.posed.scale).max() < NEAR:
                    return self._classified(found, here)
            return self._stalled()
        if code == co.DIP:
            t0 = state.instant(2).t
        share = abs(before.sigma) / max(abs(before.sigma) + abs(here.sigma), 1e-300)
        middle = t0 + share * (t1 - t0) if code == co.CROSS else before.t
        guess = before.q + (middle - before.t) * before.v
        found = self._perfect(guess, middle, reach=2 * (t1 - t0))
        slack = 1e-9 * max(t1 - t0, 1e-300)
        if found is not None and t0 - slack <= found.t <= t1 + slack:
            return self._classified(found, before)
        if code == co.CROSS and t1 - t0 > 1e-7 * self._pace():
            # Perhaps a jump over a narrow gap between two branches: go back and look again with smaller steps.
            state.go_back()
            self.limit, self.careful_until = min(self.limit, 0.1 * (t1 - t0)), t1
            state.step = min(state.step, self.limit)
            return None
        if self.grid[min(self.k, len(self.grid) - 1)] == t1:
            self._record(self.k, here.q, here.v, here.a)
            self.k += 1
        return None

    def _classified(self, found: Located, back: co.Instant) -> SingularPosition | None:
        """What a located position is; with redundant constraints, the chosen rows alone may be singular there."""
        event = classify(self.square, found.q, found.t)
        if event is not None and self.posed.system.m > self.posed.system.n:
            J = self.posed.linear(found.q, found.t)[1]
            if constraint_rank(J, self.posed.scale, self.row_scale)[0] == self.posed.system.n:
                self._choose_rows(found.q, found.t)
                self._resume(back.q, back.t)
                return None
        return event

    def _better_rows(self, code: int) -> bool:
        """With redundant constraints: whether only the chosen rows are nearly singular; then others are chosen."""
        if self.posed.system.m == self.posed.system.n:
            return False
        here, back = self.state.instant(), self.state.instant(0 if code == co.STALL else 1)
        J = self.posed.linear(here.q, here.t)[1] * self.posed.scale / self.row_scale[:, None]
        whole, chosen = (np.linalg.svd(part, compute_uv=False)[-1] for part in (J, J[self.active]))
        if whole < 10 * chosen:
            return False
        self._choose_rows(here.q, here.t)
        self._resume(back.q, back.t)
        return True

    def _pace(self) -> float:
        """The time in which the mechanism moves by about its own size."""
        return min(
            float(self.state.s[self.state.now, co.LONGEST]) / co.STRIDE, float(self.grid[-1] - self.grid[0]) or 1.0
        )

    def _perfect(self, q: np.ndarray, t: float, reach: float) -> Located | None:
        """A bifurcation nearby whose branches really meet."""
        found = locate(self.square, q, t, reach, bifurcation=True)
        return found if found is not None and found.shift <= PERFECT else None

    def _resume(self, q: np.ndarray, t: float) -> None:
        """Begin to follow the motion afresh from a solved position."""
        self.state = co.new_state(q, t)
        self._plan(q, t)
        if not co.begin(self.path, self.work, self.state, 8):
            raise ConvergenceError(f"the velocities at t = {t:.10g} could not be computed")

    def _stalled(self) -> SingularPosition | None:
        t, q = self.state.instant()[:2]
        Phi = self.posed.Phi(q, float(np.nextafter(t, np.inf)) + 1e-9 * self._pace())
        worst = self.posed.system.rows[int(np.argmax(np.abs(Phi) / self.row_scale))]
        raise ConvergenceError(
            f"the motion cannot be continued beyond t = {t:.10g} although no singular position was found there; "
            f"'{worst.label}' changes fastest (does a driver jump?)",
            self._result(False, "stalled", "the motion could not be continued"),
        )

    def _contradiction(self) -> Result:
        t, q = self.state.instant()[:2]
        Phi = np.abs(self.posed.Phi(q, t)) / self.row_scale
        names = [self.posed.system.rows[k].owner for k in most_first(Phi)[:3]]
        raise ConvergenceError(
            f"redundant constraints contradict each other after t = {t:.10g}: {', '.join(dict.fromkeys(names))}",
            self._result(False, "contradiction", "redundant constraints contradict each other"),
        )

    # --- singular positions --------------------------------------------------------------------------------------

    def _meet(self, event: SingularPosition, arrival: co.Instant | None) -> Result | None:
        """Record up to a singular position, then raise, stop (with a result) or cross (None), as the user asked."""
        self.k = min(self.k, int(np.searchsorted(self.grid, event.t - same_time(event.t))))
        if event.kind == "bifurcation" and arrival is not None:
            v = arrival.v + (event.t - arrival.t) * arrival.a
            event = arrival_first(event, v, self.posed.scale)
        self.events.append(event)
        if arrival is not None:
            self._fill_before(event, arrival)
        if event.kind == "bifurcation" and self.on_singular == "cross":
            self._leave(event)
            return None
        if self.on_singular == "stop":
            return self._ended_at(event)
        raise SingularPositionError(event.message, event, self._result(False, event.kind, event.message))

    def _ended_at(self, event: SingularPosition) -> Result:
        """The motion up to a singular position and in it: its velocities are those of arrival, if there are any."""
        near = self._passage(event, 0) if event.kind == "bifurcation" and event.branches else None
        none = np.full(len(event.q), np.nan)
        last = (event.q, none, none) if near is None else near.at(event.t)
        if self.k < len(self.grid):
            self._record(self.k, *last)
            self.grid = np.append(self.grid[: self.k], event.t)
            self.k += 1
        words = "" if near is not None else "; the last row has its pose, velocities do not exist there (nan)"
        return self._result(False, event.kind, event.message + words)

    def _fill_before(self, event: SingularPosition, arrival: co.Instant) -> None:
        """Grid points between the last step and the singular position."""
        t0 = arrival.t
        while self.k < len(self.grid) and self.grid[self.k] < event.t - same_time(event.t):
            t = float(self.grid[self.k])
            s = t - t0
            guess = arrival.q + s * (arrival.v + s * arrival.a / 2)
            if event.kind == "bifurcation":
                guess = hermite(t0, arrival.q, arrival.v, event.t, event.q, self._velocity(event, 0), t)
            solution = self._solve(guess, t)
            if solution is None:
                break
            self._record(self.k, *solution)
            self.k += 1
        if event.kind == "bifurcation" and (near := self._passage(event, 0)) is not None:
            for k in range(self.k - 1, -1, -1):
                if not near.near(float(self.grid[k])):
                    break
                self._record(k, *near.at(float(self.grid[k])))

    def _velocity(self, event: SingularPosition, which: int) -> np.ndarray:
        tangent = event.tangents[which]
        return tangent[:-1] * self.posed.scale / tangent[-1]

    def _solve(self, guess: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Position, velocity and acceleration at one time from a guess."""
        self._plan(guess, t)
        state = co.new_state(guess, t)
        return state.instant()[1:4] if co.solved(self.path, self.work, state) else None

    def _leave(self, event: SingularPosition) -> None:
        """Go on from a bifurcation on the chosen branch; near it, interpolate along the branch."""
        choice = self._chosen(event)
        after = self._passage(event, choice)
        if after is None:
            raise self._lost(event, choice)
        while self.k < len(self.grid) and self.grid[self.k] <= after.t_after:
            t = float(self.grid[self.k])
            solution = after.at(t) if after.near(t) else self._solve(after.at(t)[0], t)
            if solution is None:
                raise self._lost(event, choice)
            self._record(self.k, *solution)
            self.k += 1
        self._resume(after.q_after, after.t_after)

    def _passage(self, event: SingularPosition, choice: int) -> Passage | None:
        """A branch around a bifurcation, if it moves in time and can be followed."""
        if event.branches[choice].vertical:
            return None
        moving = [k for k, branch in enumerate(event.branches) if not branch.vertical]
        velocities = [self._velocity(event, k) for k in moving]
        v = velocities[moving.index(choice)]
        speed = float(np.abs(v / self.posed.scale).max())
        pace = 1.0 / speed if speed > 0 else self.limit
        return passage(event, moving.index(choice), velocities, self._solve, pace)

    def _lost(self, event: SingularPosition, choice: int) -> ConvergenceError:
        message = f"branch {choice} of the bifurcation at t = {event.t:.10g} could not be followed"
        return ConvergenceError(message, self._result(False, "stalled", message))

    def _chosen(self, event: SingularPosition) -> int:
        met = sum(e.kind == "bifurcation" for e in self.events) - 1
        choice: Any = self.choices[min(met, len(self.choices) - 1)]
        if callable(choice):
            choice = choice(event)
        if not isinstance(choice, (int, np.integer)) or not 0 <= choice < len(event.branches):
            raise ModelError(f"branch {choice!r} does not exist: {event.message}")
        if event.branches[choice].vertical:
            raise ModelError(
                f"branch {choice} cannot be followed in time: on it the driver stands still ({event.message})"
            )
        return int(choice)

    # --- what comes back -----------------------------------------------------------------------------------------

    def _within_data(self) -> None:
        """Refuse a motion during which a table was read beyond its data; what came before is in the error."""
        for k, t in enumerate(self.grid[: self.k] if self.posed.system.watches else ()):
            wrong = self.posed.system.outside_data(self.posed.x.copy(), self.Q[k], float(t), self.V[k])
            if wrong:
                self.k, message = k, f"{wrong[0]}, and the motion has left them at t = {t:.10g}"
                raise ConvergenceError(message, self._result(False, "failed", message))

    def _result(self, success: bool, status: str, message: str) -> Result:
        system, k = self.posed.system, self.k
        return Result(
            t=self.grid[:k],
            q=self.Q[:k],
            v=self.V[:k],
            a=self.A[:k],
            columns=system.names,
            success=success,
            status=status,
            message=message,
            events=list(self.events),
            stats=dict(self.stats),
            provenance={
                "model": self.posed.model.name,
                "analysis": "kinematics",
                "method": "continuation with Newton's method; position error below 1e-12 mechanism sizes",
                "compiled": self.compiled,
                "on_singular": self.on_singular,
                "branch": [c if isinstance(c, int) else "chosen by a function" for c in self.choices],
                "parameters": dict(zip(self.posed.model.parameters, self.posed.parameters.tolist(), strict=True)),
                **versions(),
            },
            model=self.posed.model,
        )
