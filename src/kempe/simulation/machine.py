"""A machine runs one simulation at a time: compiled equations, memory, and an integrator.

``begin`` puts numbers, an assembled start and consistent velocities in; ``advance`` goes on. A batch uses one machine
for many designs after each other, so that one run and a run among many are the same, digit for digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from kempe.calling import suggestion
from kempe.elements import Part
from kempe.errors import ConvergenceError, ModelError
from kempe.simulation.assembling import Pose, assembled, pose_array, pose_of, whole_turns
from kempe.simulation.compiling import Compiling
from kempe.simulation.equations import equations
from kempe.simulation.explaining import explain
from kempe.simulation.integrators import INTEGRATORS, Integrator, connect_switching
from kempe.simulation.posing import Posed, checked_inputs
from kempe.simulation.task import Task
from kempe.simulation.velocities import rates
from kempe.simulation.wording import unfollowed
from kempe.solvers import course as co
from kempe.solvers import motion as mo
from kempe.solvers import start as st
from kempe.solvers.driver import advance, begin, go_on
from kempe.solvers.frames import put_back
from kempe.solvers.impact import NEAR, touch_values
from kempe.solvers.tape import Tape, new_tape
from kempe.system import System
from kempe.system.dependence import NOTHING, RANK, combinations, idle_multipliers, most_first
from kempe.system.sharing import ELASTIC, Sharing, sharing
from kempe.system.sizes import draw, new_sketch

#: So many events are kept in compiled memory before they are handed over.
EVENTS = 256
#: So many rows of a tape are kept in compiled memory before they are handed over.
TAPE = 2000
#: Up to so many coordinates full matrices are looked at where a start is not as it should be.
DENSE = 600
#: So often a subspace is iterated, each time with an error of about a compliance by a flexibility left.
SUBSPACE = 3
#: The penalty of a constraint row, in units of the inertia it acts on, where none is given.
PENALTY = 1e7
#: Where constraints depend on each other they do so only where all hold. Off by d, as within a step, a row that should
#: do nothing acts with d, and without a shift above d^2 its multiplier would be violations over d. With it, weak
#: constraints need more refinement, and more of Newton's iterations: a still larger shift slows those down.
REDUNDANT_SHIFT, REDUNDANT_SWEEPS = 1e-7, 8


@dataclass(frozen=True)
class InitialConditions:
    """Where a motion starts, and what had to be changed for it.

    ``moved`` and ``changed`` name the coordinates and the given velocities that differ from what was asked for, with
    the change; ``pose`` is the start itself.
    """

    pose: Pose
    moved: dict[str, float] = field(default_factory=dict)
    changed: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = []
        for what, table in (("moved to assemble", self.moved), ("velocity changed", self.changed)):
            if table:
                listed = ", ".join(f"{name} by {value:.6g}" for name, value in list(table.items())[:6])
                lines.append(f"{what}: {listed}" + (f" and {len(table) - 6} more" if len(table) > 6 else ""))
        return "; ".join(lines) or "as given"


def _listed(names: list[str]) -> str:
    """Some names."""
    return ", ".join(f"'{name}'" for name in names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _penalties(system: System, given: Any) -> dict[int, float]:
    """Penalties by row, where they were given by the names of rows or joints."""
    found: dict[int, float] = {}
    for name, value in given.items() if isinstance(given, Mapping) else ():
        rows = [k for k, row in enumerate(system.rows) if name in (row.label, row.element.name)]
        if not rows:
            known = [name for row in system.rows for name in (row.label, row.element.name)]
            raise ModelError(f"penalty: there is no constraint '{name}'{suggestion(name, known)}")
        found |= {k: float(value) for k in rows}
    return found


class Machine:
    """Equations, work space, course and integrator of a task on a system."""

    def __init__(self, system: System, task: Task) -> None:
        self.system, self.task = system, task
        if system.n == 0:
            raise ModelError(f"'{system.model.name}' has no moving part yet: add a body or a point")
        if system.dynamics.loaded and not task.method.multipliers:
            felt = ", ".join(f"'{e.name}'" for e, f in zip(system.elements, system.families, strict=True) if f.loaded)
            raise ModelError(f"method '{task.method.name}' cannot carry forces that depend on a joint's load: {felt}")
        self.integrator: Integrator = INTEGRATORS[task.method.solver](task)
        self.sketch = new_sketch(system)
        self.compiling = Compiling(system, task.compile)
        eq = equations(system, self.integrator.needs, self.sketch.scale, self.sketch.row_scale)
        self.eq = self.compiling.of(eq)
        self.wk = mo.new_work(self.eq, system.template)
        self.course = co.new_course(self.eq, self.wk, task.grid, EVENTS, system.has_loops, self._tape())
        self.start = st.new_start(self.eq)
        self._at_first = self.eq, self.wk, self.course
        self._settings()
        self._numbers = self.course.snapshot()
        #: Rows that others imply, and how such rows share a load.
        self.redundant: list[int] = []
        self.sharing: Sharing | None = None
        self._involved: np.ndarray | None = None
        #: Penalties that were given by row.
        self.penalties = _penalties(system, task.options.get("penalty"))
        self.held_at_first = np.zeros(0)
        #: Coordinates, rates and inputs where it last stood before a motion began.
        self.stood = np.zeros(0), np.zeros(0), np.zeros(0)
        self.first_modes: dict[str, str] = {}
        self.parameters = system.model.parameter_vector(None)

    def _tape(self) -> Tape | None:
        """What the run is written on, where it is to be differentiated."""
        if self.task.stops is None:
            return None
        hybrids = self.eq.hybrids
        kept = [np.arange(at, at + 1 + count) for at, count in zip(hybrids.mode_at, hybrids.kept, strict=True)]
        z_at = np.concatenate([np.zeros(0, np.int64), *kept, hybrids.row_at]).astype(np.int64)
        return new_tape(self.eq, z_at, np.array(self.task.stops), TAPE, 3 * (self.eq.n + self.eq.m))

    # --- the start -------------------------------------------------------------------------------------------------

    def begin(self, parameters: np.ndarray, inputs: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """Start at parameter values; raises where there is no start.

        ``inputs`` are the numbers and the sketch at these values, where they are known and checked already.
        """
        self.compiling.begin(self.integrator.functions_fused)
        self.stand(parameters, inputs)
        # as for velocities: at rest, one size in the whole time is what the work is measured by
        self.course.energy = self.course.least_energy = 0.5 * self.start.unit / max(self.task.span, 1e-100) ** 2
        self.integrator.prepare(self)
        connect_switching(self.course)
        self.course.memory_at = co.remember(self.course.now)  # (not looked at before there is an integrator)
        self.check_tables()
        self.weigh()  # before loads are asked for: redundant constraints share them in a way of their own
        code = begin(self.eq, self.wk, self.course)
        if code not in (co.REACHED, co.EVENTS_FULL):
            raise ConvergenceError(explain(self, code))
        self.first_modes = self.modes()
        with self._let_loose():
            self._check_branch()
        self.integrator.begin(self)

    def stand(self, parameters: np.ndarray, inputs: tuple[np.ndarray, np.ndarray] | None = None) -> None:
        """Stand assembled and with consistent velocities where the motion begins."""
        self.parameters = parameters
        self.eq, self.wk, self.course = self._at_first
        self._clear()
        x, drawn = checked_inputs(self.system, parameters) if inputs is None else inputs
        draw(self.system, self.sketch, x, drawn)
        eq = self.eq
        np.divide(1.0, eq.scale, out=eq.units[: eq.n])
        np.divide(1.0, eq.row_scale, out=eq.units[eq.n :])
        self.wk.x[:] = x
        if self.task.start is not None:
            drawn = pose_array(self.system, self.task.start)
        now = self.course.now
        now.t = self.task.begun
        self.start.drawn[:] = now.q[:] = drawn
        self._assemble()
        self._place_velocities()
        self.stood = now.q.copy(), now.v.copy(), self.wk.x.copy()

    def weigh(self) -> None:
        """Learn from the factors where it stands what the linear system needs: shifts, shares, what nothing resists."""
        stood = self.wk.x.copy()  # (which rows are in force is none of its business)
        with self._let_loose():
            self._weigh_pivots()
        self.wk.x[:] = stood
        self.shift_rows()

    def check_tables(self) -> None:
        """A motion cannot begin beyond the data of a table."""
        now = self.course.now
        wrong = self.system.outside_data(self.wk.x.copy(), now.q, now.t, now.v)
        if wrong:
            raise ModelError([f"{words}, and the motion would begin outside" for words in wrong])

    def posed(self) -> Posed:
        """The same numbers for questions outside compiled code."""
        names = list(self.system.model.parameters)
        return Posed(self.system.model, dict(zip(names, self.parameters.tolist(), strict=True)))

    def _clear(self) -> None:
        """No trace of a run before."""
        put_back(self._numbers)
        watch = self.course.watch
        watch.fired.fill(-np.inf)
        watch.interval.fill(np.inf)
        watch.earlier.fill(np.inf)
        watch.remembered.fill(0.0)
        watch.slack.fill(0.0)
        self.eq.share.fill(1.0)
        self.course.passage.sound.fill(0.0)
        self.course.now.al.fill(0.0)
        self.redundant, self.sharing, self._involved = [], None, None

    def _assemble(self) -> None:
        """Close all joints, in the pose nearest to the sketch: in compiled code, else by every means there is."""
        now, wk = self.course.now, self.wk
        if mo.violation_at(self.eq, wk, now) <= st.CLOSED:
            return
        if self.system.drives.any():
            self.start.drawn[:] = whole_turns(self.system, self.wk.x.copy(), self.start.drawn, now.t)
        if not st.assemble(self.eq, wk, self.start, now):
            posed = self.posed()
            posed.drawn = self.start.drawn.copy()
            now.q[:] = assembled(posed, now.t)

    def _place_velocities(self) -> None:
        """Consistent velocities, the given ones kept as far as possible."""
        eq, wk, start, now = self.eq, self.wk, self.start, self.course.now
        start.given.fill(0.0)
        start.is_given.fill(0.0)
        for k, value in rates(self.system, self.task.velocities, now.q).items():
            start.given[k], start.is_given[k] = value, 1.0
        now.v[:] = start.given
        switches = len(eq.hybrids.owner) > 0
        if switches:
            mo.first_modes(eq, wk, now)
        st.weigh(eq, wk, start, now)
        if switches:
            mo.set_rows(eq, wk)
        left = self._velocities_in_contact() if len(eq.touches.normal) else st.velocities(eq, wk, start, now)
        if not isfinite(left):
            light = [part.name for part in self.system.parts if not self._mass_of(part).any()]
            if light:
                raise ModelError(_without_inertia(light))
            raise ModelError(
                "the start velocities are not finite: a number of the model or a velocity is far too large"
            )
        if not left <= 1e-9:
            nu = self.system.linear(wk.x.copy(), now.q, now.t)[2] / eq.row_scale
            on = self.system.in_force(wk.x)
            raise ModelError(unfollowed(self.system, self.scaled_jacobian() * on[:, None], nu * on, now.t))
        #: Which of the rows that are not always in force were, for the velocities at the start.
        self.held_at_first = wk.x[eq.hybrids.row_at].copy()
        if switches:
            mo.first_modes(eq, wk, now)

    def _mass_of(self, part: Part) -> np.ndarray:
        """What resists each coordinate of a part."""
        first = self.system.first[part.name]
        return np.asarray(self.start.mass[first : first + len(part.channels)] > 0.0)

    def _velocities_in_contact(self) -> float:
        """Consistent velocities where gaps may be closed: those close up that would have to go through each other.

        A gap whose closing would change a velocity that was given stays as it is: there is an impact at the start.
        Friction holds nothing here: what is asked to slide slides.
        """
        eq, wk, start, now, touches = self.eq, self.wk, self.start, self.course.now, self.eq.touches
        gaps = [e for e in range(len(touches.normal)) if touches.normal[e] >= 0]
        closed: set[int] = set()
        refused: set[int] = set()
        rubbing = touches.stick >= 0
        wk.x[touches.stick_at[rubbing]] = 0.0
        eq.shift[eq.n + touches.stick[rubbing]] = -eq.flexible[touches.stick[rubbing]]

        def velocities() -> float:
            for e in gaps:
                row, on = touches.normal[e], e in closed
                wk.x[touches.normal_at[e]] = on
                eq.shift[eq.n + row] = -eq.compliance[row] if on else -eq.flexible[row]
            return float(st.velocities(eq, wk, start, now))

        def through() -> dict[int, float]:
            touch_values(eq, wk, now)
            limit = 1e-10 * max(1.0 / self.task.span, float(np.abs(now.v / eq.scale).max(initial=0.0)))
            found = {}
            for e in gaps:
                at, size = touches.at[e], eq.row_scale[touches.normal[e]]
                if wk.touch[at + mo.GAP] <= NEAR * size and wk.touch[at + mo.APPROACH] < -limit * size:
                    found[e] = float(wk.touch[at + mo.APPROACH] / size)
            return found

        left = velocities()
        for _ in range(2 * len(gaps)):
            found = {e: speed for e, speed in through().items() if e not in refused}
            if not found or not np.isfinite(left):
                break
            worst = min(found, key=lambda e: found[e])
            closed.add(worst)
            left = velocities()
            given = np.flatnonzero(start.is_given)
            pace = max(1.0 / self.task.span, float(np.abs(start.given / eq.scale).max(initial=0.0)))
            if not left <= 1e-9 or np.any(np.abs(now.v - start.given)[given] > 1e-9 * pace * eq.scale[given]):
                closed.discard(worst)
                refused.add(worst)
                left = velocities()
        for e in sorted(closed):  # one that would part by itself holds nothing
            closed.discard(e)
            left = velocities()
            if e in through():
                closed.add(e)
                left = velocities()
        return left

    def initial(self) -> InitialConditions:
        """What the start differs by from what was asked for; to be asked before the motion begins."""
        names, now, scale = self.system.names, self.course.now, self.sketch.scale
        q, v, drawn = now.q, now.v, self.start.drawn
        moved = {names[k][0]: float(q[k] - drawn[k]) for k in np.flatnonzero(np.abs(q - drawn) > 1e-9 * scale)}
        limit = 1e-9 * max(1.0, float(np.abs(v / scale).max(initial=0.0)))
        given, wanted = np.flatnonzero(self.start.is_given), self.start.given
        changed = {names[k][1]: float(v[k] - wanted[k]) for k in given if abs(v[k] - wanted[k]) > limit * scale[k]}
        return InitialConditions(pose_of(self.system, drawn, q, v), moved, changed)

    def modes(self) -> dict[str, str]:
        """The present mode of each element that switches."""
        if not len(self.eq.hybrids.mode_at):
            return {}
        elements = [self.system.elements[k] for k in self.system.dynamics.hybrid]
        present = self.wk.x[self.eq.hybrids.mode_at].astype(int)
        return {e.name: e.modes[mode] for e, mode in zip(elements, present, strict=True) if e.modes}

    # --- settings --------------------------------------------------------------------------------------------------

    def _settings(self) -> None:
        """What is the same for every run of the task."""
        task, course, d = self.task, self.course, self.system.dynamics
        course.begun, course.end = task.begun, float(task.grid[-1])
        course.tolerance, course.fixed, course.largest = task.tolerance, task.step, task.max_step
        course.smallest = 1e-12 * task.span
        course.order = float(task.method.order)
        course.refinements = task.options.get("iterations", 3)
        course.audit = (1 + (d.rheonomic or d.loaded)) if task.audit and d.has_power else 0
        course.stiff = -1.0
        course.last_switch = -np.inf

    def inverse_penalty(self) -> np.ndarray:
        """The compliance that the penalty of each constraint row means."""
        penalty = self.task.options["penalty"]
        if self.penalties:
            found = self.eq.flexible / PENALTY
            found[list(self.penalties)] = 1.0 / np.array(list(self.penalties.values()))
            return found
        if penalty is None:
            return self._shared_compliance(1.0 / PENALTY)
        found = np.full(self.eq.m, 1.0 / penalty)
        if self.sharing is not None and self.sharing.kind == ELASTIC:  # it is the penalty of the stiffest row
            weight = self.sharing.weight
            found[weight > 0.0] *= weight[weight > 0.0] / weight[weight > 0.0].min()
        return found

    @contextmanager
    def _let_loose(self) -> Iterator[None]:
        """Without the rows of what touches: that several of them hold the same thing is in the nature of contacts."""
        touches, wk = self.eq.touches, self.wk
        for rows, places in ((touches.normal, touches.normal_at), (touches.stick, touches.stick_at)):
            if len(rows):
                wk.x[places[rows >= 0]] = 0.0
        self.shift_rows()
        yield
        mo.set_rows(self.eq, wk)

    def _weigh_pivots(self) -> None:
        """Learn from the factors at the start: which constraints depend on others, what no inertia resists."""
        eq, n, plan = self.eq, self.eq.n, self.eq.plan
        if not st.has_odd_pivots(eq, self.wk, self.course.now):
            return
        pivot = np.zeros(len(plan.order))
        pivot[plan.order] = 1.0 / np.abs(self.wk.lu[plan.diagonal])  # the factors hold reciprocals
        massless = eq.shift[:n]
        loose = np.flatnonzero((massless > 0) & (pivot[:n] < st.ODD_MASS * massless))
        if len(loose):
            raise ModelError(_without_inertia([self.system.names[k][0] for k in loose]))
        weak = np.flatnonzero((pivot[n:] < st.ODD_ROW * eq.flexible) & self.system.in_force(self.wk.x))
        if len(weak):
            self._share(weak)

    def _share(self, weak: np.ndarray) -> None:
        """Where pivots of rows are weak: shifts that resolve what does nothing, and decide how loads are shared."""
        eq, idle = self.eq, self._idle(len(weak))
        self.redundant = self._blamed(idle)
        if self.redundant:
            self.sharing = self._sharing()
            self._involved = np.where(np.abs(idle) > NOTHING, idle, 0.0) / eq.row_scale[:, None]
        self.course.redundant = 1
        eq.step_compliance[:] = self._shared_compliance(REDUNDANT_SHIFT)
        if "iterations" in self.task.options:  # methods that have it have penalties of their own
            eq.compliance[:] = self.inverse_penalty()
        else:
            eq.compliance[:] = eq.step_compliance
            self.course.refinements = REDUNDANT_SWEEPS
        self.shift_rows()

    def _sharing(self) -> Sharing:
        """How constraints that hold the same thing share it."""
        now, sizes = self.course.now, (self.sketch.size, self.eq.row_scale)
        return sharing(self.system, self.parameters, (now.q, now.t), sizes, self.task.reactions, self.penalties)

    def _shared_compliance(self, share: float) -> np.ndarray:
        """Compliances near a share of the flexibilities, in proportion to how loads are shared."""
        if self.sharing is None or self._involved is None:
            return share * self.eq.flexible
        return self.sharing.compliance(self.eq.flexible, self._whole(), self._involved, share)

    def _whole(self) -> np.ndarray:
        """Per row the sum of Phi_q M^-1 Phi_q^T here, of coordinates with inertia; no less than the flexibility."""
        eq, mass, now = self.eq, self.start.mass, self.course.now
        rows, columns, values = self.system.jacobian(self.wk.x.copy(), now.q, now.t)
        shares = np.divide(values**2, mass[columns], out=np.zeros_like(values), where=mass[columns] > 0.0)
        return np.maximum(np.bincount(rows, shares, eq.m), eq.flexible)

    def _idle(self, most: int) -> np.ndarray:
        """The multipliers of joints, in row sizes, that exert nothing here, a column each; no more than so many."""
        eq, system = self.eq, self.system
        on = system.in_force(self.wk.x)
        on[[k for k in (*eq.touches.normal, *eq.touches.stick) if k >= 0]] = False
        if not on.any():
            return np.zeros((eq.m, 0))
        if eq.n > DENSE:
            return self._idle_of_many(on, most)
        found = idle_multipliers(self.scaled_jacobian()[on], np.ones(eq.n), np.ones(int(on.sum())))
        idle = np.zeros((eq.m, found.shape[1]))
        idle[on] = found
        return idle

    def _idle_of_many(self, on: np.ndarray, most: int) -> np.ndarray:
        """The same by inverse iteration with (Phi_q M^-1 Phi_q^T + C), for which no full matrix is needed."""
        eq, wk, now = self.eq, self.course.beside, self.course.now
        compliance = np.where(on, -eq.shift[eq.n :], 0.0)
        found = np.random.default_rng(0).normal(size=(eq.m, most)) * on[:, None]
        if not mo.evaluate(eq, wk, now):
            return np.zeros((eq.m, 0))
        for _ in range(SUBSPACE):
            for k in range(most):
                wk.rhs[: eq.n], wk.rhs[eq.n :] = 0.0, -compliance * found[:, k] / eq.row_scale
                mo.solve(eq, wk)
                found[:, k] = np.where(on, wk.correction[eq.n :] * eq.row_scale, 0.0)
            found = np.linalg.qr(found)[0]
        rows, columns, values = self.system.jacobian(self.wk.x.copy(), now.q, now.t)
        J = csc_matrix((values * eq.scale[columns] / eq.row_scale[rows], (rows, columns)), shape=(eq.m, eq.n))
        _, sizes, ways = np.linalg.svd(J.T @ found, full_matrices=False)
        return np.asarray(found @ ways[sizes <= NOTHING * np.abs(J).max()].T)

    def _blamed(self, idle: np.ndarray) -> list[int]:
        """The rows that others imply."""
        return [one.row for one in combinations(idle, self.system.blame_order)]

    def shared_rows(self) -> np.ndarray:
        """Which rows share loads with others."""
        if self._involved is None:
            return np.zeros(self.eq.m, dtype=bool)
        return np.asarray(np.abs(self._involved).max(axis=1) > 0.0)

    def felt_and_shared(self) -> list[str]:
        """The elements whose forces depend on loads that redundant constraints share."""
        involved, system = self.shared_rows(), self.system
        loaded = [(k, e.name) for k, e in enumerate(system.elements) if system.families[k].loaded]
        return [name for k, name in loaded if involved[system.lam_of[k]].any()]

    def scaled_jacobian(self) -> np.ndarray:
        """Phi_q at the present position, in sizes."""
        now = self.course.now
        return self.system.linear(self.wk.x.copy(), now.q, now.t)[1] * self.eq.scale / self.eq.row_scale[:, None]

    def always_redundant(self) -> tuple[list[str], list[str]]:
        """The rows that depend on others: those that still do, and those that did so only at the start."""
        if not self.redundant:
            return [], []
        still = self._blamed(self._idle(len(self.redundant)))
        if len(still) >= len(self.redundant):  # (here may be the singular position)
            still = self.redundant
        labels = self.system.row_labels
        return [labels[k] for k in still], [labels[k] for k in self.redundant if k not in still]

    def _check_branch(self) -> None:
        """Refuse velocities that no motion through a singular start has: no acceleration would meet the constraints."""
        eq, wk, now = self.eq, self.wk, self.course.now
        if not eq.m or eq.n > DENSE or not st.has_odd_pivots(eq, wk, now):
            return
        J = self.scaled_jacobian()
        on = self.system.in_force(wk.x)
        U, sizes, Vt = np.linalg.svd(J[on])
        rank = int((sizes > RANK * sizes.max(initial=1e-300)).sum())
        gamma = self.system.gamma(wk.x.copy(), now.q, now.t, now.v) / eq.row_scale
        left = U[:, rank:].T @ gamma[on]
        pace = float(np.abs(now.v / eq.scale).max(initial=0.0))
        if not len(left) or np.abs(left).max() <= 1e-8 * pace**2:
            return
        weight = np.abs(U[:, rank:]).max(axis=1)
        rows = [row for row, yes in zip(self.system.rows, on, strict=True) if yes]
        joints = list(dict.fromkeys(rows[k].owner for k in most_first(weight) if weight[k] > 0.1))
        free = np.abs(Vt[rank:]).max(axis=0)
        moving = [self.system.names[k][1] for k in most_first(free) if free[k] > 0.1]
        raise ModelError(
            f"'{self.system.model.name}' starts in a singular position (the constraints of {_listed(joints)} depend on "
            "each other there), from which several branches lead, and the velocities fit none of them: no acceleration "
            "keeps the joints together. Give the velocities of one branch "
            f"(of {_listed(moving)}), or start a little beside it"
        )

    def shift_rows(self) -> None:
        """Put the compliances of the rows in force into the linear system."""
        eq, n = self.eq, self.eq.n
        np.negative(eq.compliance, out=eq.shift[n:])
        np.negative(eq.step_compliance, out=eq.step_shift[n:])
        if len(eq.hybrids.row):  # else all rows are in force, always
            off = ~self.system.in_force(self.wk.x)
            eq.shift[n:][off] = eq.step_shift[n:][off] = -eq.flexible[off]

    # --- going on ----------------------------------------------------------------------------------------------------

    def advance(self, budget: int) -> int:
        """Go on for so many steps; returns a code of ``solvers.course``. Trouble that can be dealt with is."""
        while True:
            self.course.budget = budget
            code = int(advance(self.eq, self.wk, self.course))
            if not self.integrator.resumes(self, code):
                return code

    def go_on_beside(self, other: Machine, q: np.ndarray, v: np.ndarray, share: float = 0.0) -> None:
        """Go on near the state of another machine on the same system, at its time and in its modes.

        Values that elements keep from their switches become the other's, but for a share of the difference where both
        are in the same mode. The joints are closed, and switches that are due are taken.
        """
        eq, wk, now, then = self.eq, self.wk, self.course.now, other.course.now
        for at, kept in zip(eq.hybrids.mode_at, eq.hybrids.kept, strict=True):
            own, its = wk.x[at : at + 1 + kept], other.wk.x[at : at + 1 + kept]
            own[:] = its + (share * (own - its) if own[0] == its[0] else 0.0)
        self.course.watch.slack[:] = other.course.watch.slack
        mo.set_rows(eq, wk)
        now.t, now.q[:], now.v[:], now.al[:] = then.t, q, v, then.al
        code = int(go_on(eq, wk, self.course))
        if code not in (co.REACHED, co.EVENTS_FULL):
            raise ConvergenceError(explain(self, code))


def _without_inertia(names: list[str]) -> str:
    """What is said of parts or coordinates that nothing resists."""
    listed = ", ".join(f"'{name}'" for name in names[:4])
    return f"no inertia resists the motion of {listed}; give these parts mass and inertia, or hold them with a joint"
