"""Simulation: the motion of a mechanism under forces, by any of the formulations of the literature."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from kempe.analysis.assembly import Pose
from kempe.analysis.explaining import explain
from kempe.analysis.integrators import INTEGRATORS, Integrator
from kempe.analysis.methods import method_named
from kempe.analysis.moving import Moving, starting_state
from kempe.analysis.posing import Posed
from kempe.analysis.times import time_grid
from kempe.elements import plain_number
from kempe.errors import ConvergenceError, ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.results.provenance import versions
from kempe.solvers import course as co
from kempe.solvers import motion as mo
from kempe.solvers import quasi_definite as qd
from kempe.solvers.bookkeeping import begin

#: So many events are kept in compiled memory before they are handed over.
EVENTS = 256
#: Compiled code looks up (for Ctrl-C, progress and checkpoints) about this often, in seconds; at first after so many
#: steps. Checkpoints are written about so often.
LOOK_UP, FIRST_CHUNK, SAVE_EVERY = 0.3, 200, 30.0
#: The penalty of a constraint row, in units of the inertia it acts on, where none is given.
PENALTY = 1e7
#: Where constraints depend on each other they do so only where all hold. Off by d, as within a step, a row that should
#: do nothing acts with d, and without a shift above d^2 its multiplier would be violations over d. With it, weak
#: constraints need more refinement, and more of Newton's iterations: a still larger shift slows those down.
REDUNDANT_SHIFT, REDUNDANT_SWEEPS = 1e-7, 8


@dataclass(frozen=True)
class SwitchEvent:
    """A switch met on the way: when, which element, into which mode, and the state there."""

    kind: str
    t: float
    element: str
    mode: str
    message: str
    q: np.ndarray
    v: np.ndarray


def simulate(
    model: Model,
    times: float | Sequence[float] | np.ndarray,
    *,
    method: str = "auto",
    steps: int = 200,
    tolerance: float = 1e-8,
    step: float | None = None,
    max_step: float | None = None,
    start: Pose | None = None,
    velocities: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    audit: bool = True,
    checkpoint: str | Path | None = None,
    progress: Callable[[float, float], None] | None = None,
    **options: Any,
) -> Result:
    """Simulate: the motion from assembled initial conditions, with reactions and an energy audit.

    ``times`` is an increasing grid of output times, or an end time (then the grid has ``steps`` equal steps from 0).
    ``method`` names a formulation (see ``kempe.METHODS``); further keywords are its options. ``tolerance`` bounds the
    local error of positions in mechanism sizes (radians for angles) and of velocities in the same by the fastest
    motion so far; multipliers are left out of the test. ``step`` takes fixed steps instead.

    ``start`` is where assembly begins (default: the sketch); ``velocities`` names rates ("crank.omega") to start with,
    kept as far as the joints allow; ``result.initial`` says what was changed. ``audit=False`` leaves out the work of
    forces and drivers (``energy.dissipated``, ``energy.supplied``), which saves a little time.

    Memory is bounded by the output grid, not by the number of steps. Ctrl-C returns what exists, with the status
    "interrupted". ``checkpoint`` names a file that is kept up to date (every half minute, and on Ctrl-C), from which
    :func:`kempe.resume` goes on. ``progress`` is called now and then with the time reached and the end.
    """
    settings: dict[str, Any] = {"method": method, "tolerance": tolerance, "step": step, "max_step": max_step}
    settings |= {"parameters": dict(parameters or {}), "audit": audit, "options": options, "steps": steps}
    return Simulation(model, times, start=start, velocities=velocities, **settings).run(progress, checkpoint)


class Simulation:
    """One run: equations, work space and course, and the events met."""

    def __init__(
        self,
        model: Model,
        times: Any,
        *,
        method: str = "auto",
        steps: int = 200,
        tolerance: float = 1e-8,
        step: float | None = None,
        max_step: float | None = None,
        start: Pose | None = None,
        velocities: Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
        audit: bool = True,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        options = dict(options or {})
        #: How it was called, but for times and start: a checkpoint keeps this.
        self.arguments = {
            "method": method,
            "tolerance": tolerance,
            "step": step,
            "max_step": max_step,
            "parameters": dict(parameters or {}),
            "audit": audit,
            "options": options,
        }
        self.grid = time_grid(times, steps)
        self.method, self.options = method_named(method, options)
        self.tolerance = _within(tolerance, "tolerance", 1e-14, 0.1)
        self.step = 0.0 if step is None else _within(step, "step", 0.0, np.inf)
        span = float(self.grid[-1] - self.grid[0])
        self.max_step = span if max_step is None else _within(max_step, "max_step", 0.0, np.inf)
        self.posed = Posed(model, parameters)
        self.redundant: list[str] = []
        self.events: list[SwitchEvent] = []
        self.integrator: Integrator = INTEGRATORS[self.method.solver](self)
        self.moving = Moving(self.posed, self.integrator.needs)
        t0 = float(self.grid[0])
        q, v, self.initial = starting_state(self.posed, t0, start, velocities)
        self.mass, self.flexible = self.moving.linear(q, v, t0)
        self.eq = self.moving.equations(self._compliance())
        self.wk = mo.new_work(self.eq, self.posed.x)
        self.course = self.new_course(self.wk)
        self._begin(q, v, t0, audit)

    # --- set-up ----------------------------------------------------------------------------------------------------

    def _compliance(self) -> np.ndarray:
        """The compliance of each constraint row: a shift that refinement takes out, or the inverse of a penalty."""
        if "penalty" in self.options and self.method.solver == "runge-kutta":
            return self.inverse_penalty()
        return mo.SHIFT * self.flexible

    def inverse_penalty(self) -> np.ndarray:
        """The compliance that the penalty of each constraint row means."""
        penalty = self.options["penalty"]
        if penalty is None:
            return self.flexible / PENALTY
        return np.full(self.moving.m, 1.0 / _within(penalty, "penalty", 0.0, np.inf))

    def new_course(self, wk: mo.Work) -> co.Course:
        """Empty memory for a run in a work space."""
        n, m, K = self.moving.n, self.moving.m, len(self.grid)
        N, G = n + m, len(self.moving.programs.switches)
        stops = [switch.stops for _, switch in self.moving.programs.switches]
        latches = mo.size_out(self.moving.programs.latches)
        return co.Course(
            s=np.zeros(co.SCALARS),
            x=np.zeros((co.VECTORS, N)),
            f=np.zeros(self.integrator.memory(n, m)),
            g=np.zeros((6, G)),
            powers=np.zeros((2, 5)),
            latches=np.zeros(max(latches, 1)),
            stops=np.array(stops, dtype=np.int64),
            beside=mo.beside(wk),
            grid=self.grid,
            t_out=np.zeros(K),
            q_out=np.zeros((K, n)),
            v_out=np.zeros((K, n)),
            al_out=np.zeros((K, N)),
            e_out=np.zeros((K, 6)),
            event_times=np.zeros(EVENTS),
            event_switches=np.zeros(EVENTS, dtype=np.int64),
            event_states=np.zeros((EVENTS, 2 * n + N)),
        )

    def _begin(self, q: np.ndarray, v: np.ndarray, t: float, audit: bool) -> None:
        n, s, x = self.moving.n, self.course.s, self.course.x
        x[co.Q, :n], x[co.V, :n], x[co.UNIT] = q, v, 1.0
        if self.method.name == "canonical":
            heavy = float(np.max(self.mass * self.posed.scale**2)) / self.posed.scale**2
            x[co.UNIT, :n] = np.where(self.mass > 0, self.mass, 1e-3 * heavy)
        settings = {
            co.T: t,
            co.END: self.grid[-1],
            co.TOLERANCE: self.tolerance,
            co.STEP: self.step,
            co.LARGEST: self.max_step,
            co.SWEEPS: self.options.get("iterations", 3),
            co.PROJECT: self.options.get("project", self.method.name in ("auto", "ali3p")),
            co.OMEGA: self.options.get("omega", 0.0),
            co.DAMPING: self.options.get("damping", 1.0),
            co.KIND: self.method.kind,
            co.AUDIT: (1 + self.moving.programs.rheonomic) if audit and self.moving.programs.has_power else 0,
            co.STIFF: 0.0 if self.method.solver == "auto" else -1.0,
            co.LAST_EVENT: -np.inf,
            co.SMALLEST: 1e-12 * (self.grid[-1] - self.grid[0]),
            # as for velocities: at rest, one size in the whole time is what the work is measured by
            co.ENERGY: 0.5 * np.max(self.mass * self.posed.scale**2) / (self.grid[-1] - self.grid[0]) ** 2,
        }
        for key, value in settings.items():
            s[key] = float(value)
        if not begin(self.eq, self.wk, self.course, float(self.method.order)):
            raise ConvergenceError(explain(self, co.SINGULAR))
        self._weigh_pivots()
        self.integrator.begin()

    def _weigh_pivots(self) -> None:
        """Learn from the factors at the start: which constraints depend on others, what no inertia resists."""
        plan, n = self.moving.programs.plan, self.moving.n
        order, diagonal = (plan[plan[k] : plan[k + 1]] for k in (qd.ORDER, qd.DIAGONAL))
        pivot = np.zeros(len(order))
        pivot[order] = 1.0 / np.abs(self.wk.lu[diagonal])  # the factors hold reciprocals
        loose = np.flatnonzero((self.moving.massless > 0) & (pivot[:n] < 1e3 * self.moving.massless))
        if len(loose):
            listed = ", ".join(f"'{self.posed.system.names[k][0]}'" for k in loose[:4])
            raise ModelError(
                f"no inertia resists the motion of {listed}; "
                "give these parts mass and inertia, or hold them with a joint"
            )
        weak = np.flatnonzero(pivot[n:] < 1e-6 * self.flexible)
        self.redundant = [self.posed.system.rows[k].label for k in weak]
        if self.redundant:
            self.course.s[co.REDUNDANT] = 1.0
            self.eq.step_shift[n:] = -REDUNDANT_SHIFT * self.flexible
            if "iterations" not in self.options:  # methods that have it have penalties of their own
                self.eq.shift[n:] = self.eq.step_shift[n:]
                self.course.s[co.SWEEPS] = REDUNDANT_SWEEPS

    # --- the run -----------------------------------------------------------------------------------------------------

    def run(
        self, progress: Callable[[float, float], None] | None = None, checkpoint: str | Path | None = None
    ) -> Result:
        """Integrate to the end, or as far as it goes."""
        from kempe.analysis.checkpoints import write_checkpoint

        s, chunk, saved, looks = self.course.s, FIRST_CHUNK, monotonic(), 0
        began, rate = float(s[co.T]), float(s[co.RATE])
        try:
            while True:
                s[co.BUDGET], begun = chunk, monotonic()
                code = self.integrator.advance()
                self._collect_events()
                if code in (co.PAUSE, co.EVENTS_FULL):
                    now, looks = monotonic(), looks + 1
                    if looks > 2 and s[co.RATE] > 1e6 * rate and s[co.T] - began < 0.05 * (s[co.END] - began):
                        code = co.RUNAWAY
                        break
                    if looks > 6:
                        began, looks, rate = float(s[co.T]), 0, min(rate, float(s[co.RATE]))
                    chunk = max(1, int(chunk * min(10.0, LOOK_UP / max(now - begun, 1e-3))))
                    if progress:
                        progress(float(s[co.T]), float(s[co.END]))
                    if checkpoint is not None and now - saved > SAVE_EVERY:
                        write_checkpoint(self, checkpoint)
                        saved = now
                    continue
                if self.integrator.resumes(code):
                    continue
                break
        except KeyboardInterrupt:
            if checkpoint is not None:
                write_checkpoint(self, checkpoint)
            return self._result("interrupted", f"interrupted at t = {s[co.T]:.10g}")
        if code == co.REACHED:
            return self._result("complete", "the whole time span was covered")
        if code == co.STOPPED:
            return self._result("stopped", self.events[-1].message)
        reason = explain(self, code)
        raise ConvergenceError(reason, self._result("failed", reason))

    def _collect_events(self) -> None:
        course, n = self.course, self.moving.n
        for k in range(int(course.s[co.N_EVENTS])):
            element, switch = self.moving.programs.switches[course.event_switches[k]]
            if not switch.told:
                continue
            t, state = float(course.event_times[k]), course.event_states[k].copy()
            note = switch.note or f"{switch.source} -> {switch.target}"
            message = f"'{element.name}' at t = {t:.10g}: {note}"
            self.events.append(
                SwitchEvent("switch", t, element.name, switch.target, message, state[:n], state[n : 2 * n])
            )
        course.s[co.N_EVENTS] = 0

    def _result(self, status: str, message: str) -> Result:
        course, n, system = self.course, self.moving.n, self.posed.system
        K = int(course.s[co.K_OUT])
        e = course.e_out[:K]
        stored = e[:, :3].sum(axis=1)
        balance = stored - stored[:1].sum() + e[:, 3] - e[:, 4]
        names = ("kinetic", "potential", "elastic", "dissipated", "supplied")
        series = {f"energy.{name}": e[:, k].copy() for k, name in enumerate(names)}
        series["energy.balance"] = balance
        if course.s[co.AUDIT] == 0 and self.moving.programs.has_power:  # without audit, nobody knows the work done
            for name in ("dissipated", "supplied", "balance"):
                del series[f"energy.{name}"]
        labels = [row.label for row in system.rows]
        series.update({f"lambda.{label}": course.al_out[:K, n + k].copy() for k, label in enumerate(labels)})
        counts = {"steps": co.STEPS, "rejected": co.REJECTED, "evaluations": co.EVALUATIONS}
        counts["factorisations"] = co.FACTORISATIONS
        stats: dict[str, Any] = {name: int(course.s[k]) for name, k in counts.items()}
        stats["largest violation"] = float(course.s[co.VIOLATION])
        stats["method"] = self.integrator.name
        if self.redundant:
            stats["redundant constraints"] = self.redundant
            listed = ", ".join(f"'{label}'" for label in self.redundant[:6])
            more = f" and {len(self.redundant) - 6} more" if len(self.redundant) > 6 else ""
            message += f"; redundant: {listed}{more} (the motion is the same without, their reactions are not unique)"
        return Result(
            t=course.t_out[:K].copy(),
            q=course.q_out[:K].copy(),
            v=course.v_out[:K].copy(),
            a=course.al_out[:K, :n].copy(),
            columns=list(system.names),
            success=status in ("complete", "stopped"),
            status=status,
            message=message,
            events=list(self.events),
            stats=stats,
            provenance={
                "analysis": "simulate",
                "model": self.posed.model.name,
                "method": self.method.name,
                "tolerance": self.tolerance,
                "parameters": dict(zip(self.posed.model.parameters, self.posed.parameters.tolist(), strict=True)),
                **versions(),
            },
            model=self.posed.model,
            series=series,
            initial=self.initial,
        )


def _within(value: Any, what: str, low: float, high: float) -> float:
    number = plain_number(value, what)
    if not low < number <= high:
        raise ModelError(
            f"{what} must be above {low:g}" + (f" and at most {high:g}" if high < np.inf else "") + f", not {number:g}"
        )
    return number
