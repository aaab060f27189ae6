"""A run written on tape, and the derivatives of what is asked of it: forward by direction, or backward by functional.

``run`` simulates; ``values`` are integrals and point values along the tape; ``direct`` pushes one direction per design
parameter through it, ``adjoint`` pulls one set of weights per functional back. Both differentiate the discrete solution,
its steps frozen, through the same kernels and the same factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kempe.design.jump_slopes import JumpSlopes
from kempe.design.start_slopes import StartSlopes
from kempe.errors import ConvergenceError
from kempe.results import Result
from kempe.simulation.machine import Machine
from kempe.simulation.running import Record, finished, go
from kempe.simulation.task import Task
from kempe.solvers import motion as mo
from kempe.solvers.gauge import Gauge
from kempe.solvers.slopes import Slopes, new_slopes
from kempe.solvers.sweeping import pull_point, pull_rows, push_point, push_rows
from kempe.solvers.tape import JUMP, TAKE, Tape, take_state
from kempe.system import System
from kempe.system.directions import directions_of

#: What is differentiated along directions.
DIRECTIONS = ("motion", "residual", "stages", "velocity", "inertia", "guards", "jumps", "latches")
#: The same, only at jumps.
AT_JUMPS = ("velocity", "inertia", "jumps", "touch")


@dataclass(frozen=True)
class Watched:
    """What is asked of a run: integrals of quantities, and quantities at points of time (one per output)."""

    integrand: Gauge
    point: Gauge
    times: tuple[float, ...]


class Differentiated:
    """A model's run on tape, differentiated by design parameters."""

    def __init__(self, system: System, task: Task, watched: Watched, by: Sequence[str]) -> None:
        self.system, self.watched, self.by = system, watched, list(by)
        stops = sorted({t for t in watched.times if task.begun < t < task.grid[-1]})
        self.machine = Machine(system, replace(task, stops=tuple(stops)))
        self.directions = {name: directions_of(system, name) for name in (*DIRECTIONS, "touch")}
        self._blocks: list[dict[str, np.ndarray]] = []

    # --- the run -----------------------------------------------------------------------------------------------------

    def run(self, parameters: np.ndarray) -> Result:
        """Simulate at parameter values, onto tape; raises where that fails."""
        machine, record = self.machine, Record()
        self._blocks = []
        machine.begin(parameters)
        self.x = machine.wk.x.copy()
        self._harvest()
        self.begun = sum(len(block["kind"]) for block in self._blocks)
        initial = machine.initial()
        code = go(machine, record, lambda machine, _: self._harvest())
        self._harvest()
        found = finished(machine, record, code, initial)
        if found.status == "violated":
            raise ConvergenceError(found.message, found)
        self.parameters = parameters
        self.tape = self._whole()
        return found

    def _harvest(self) -> None:
        """Take what is written out of compiled memory."""
        tape = self.machine.course.tape
        names = ("kind", "t", "start", "end", "more", "switch")
        if tape.count:
            self._blocks.append({name: getattr(tape, name)[: tape.count].copy() for name in names})
        tape.count = 0

    def _whole(self) -> Tape:
        last = self.machine.course.tape
        if not self._blocks:
            return last
        joined = {name: np.concatenate([block[name] for block in self._blocks]) for name in self._blocks[0]}
        return last.changed(**joined, count=len(joined["kind"]))

    # --- the sweeps --------------------------------------------------------------------------------------------------

    def _slopes(self, directions: int, weights: int) -> tuple[Slopes, mo.Work]:
        machine, w = self.machine, self.watched
        slopes = new_slopes(
            machine.eq,
            self.x,
            {name: self.directions[name] for name in DIRECTIONS},
            w.integrand,
            w.point,
            self.parameters,
            directions,
            weights,
            machine.course.refinements,
        )
        work = mo.new_work(machine.eq, self.x)
        taken = np.flatnonzero(self.tape.kind == TAKE)
        if len(taken):  # the modes before the first switches
            Z = len(self.tape.z_at)
            work.x[self.tape.z_at] = self.tape.more[taken[0], :Z]
        mo.set_rows(machine.eq, work)
        return slopes, work

    def _points(self) -> dict[int, list[int]]:
        """Per row of the tape: the point values that belong to its end (row -1: to the start)."""
        ends = self.tape.t[:, 1]
        found: dict[int, list[int]] = {}
        for k, t in enumerate(self.watched.times):
            row = -1 if t <= self.machine.task.begun else int(np.searchsorted(ends, t, side="right")) - 1
            found.setdefault(row, []).append(k)
        return dict(sorted(found.items()))

    def _state(self, row: int) -> mo.State:
        """The state at the end of a row."""
        state = mo.new_state(self.machine.eq.n, self.machine.eq.m)
        take_state(self.tape.end[row] if row >= 0 else self.tape.start[self.begun], state)
        state.t = float(self.tape.t[row, 1] if row >= 0 else self.tape.t[self.begun, 0])
        return state

    def _fail(self, row: int) -> None:
        t = float(self.tape.t[row, 0])
        raise ConvergenceError(f"the derivative of the motion cannot be had at t = {t:.6g}: the equations are singular")

    def _jump(self, row: int, work: mo.Work) -> JumpSlopes:
        """The jump of a row at which a sweep has stopped."""
        if self.tape.kind[row] != JUMP:
            self._fail(row)
        return JumpSlopes(self.system, self.directions, self.tape, row, work.x, self.machine.eq.hybrids.row_at)

    def _forward(self, s: Slopes, work: mo.Work) -> tuple[np.ndarray, np.ndarray]:
        """Push all directions; point values and their directions (a row per direction)."""
        eq, tape, last = self.machine.eq, self.tape, len(self.tape.kind)
        size = self.watched.point.size
        values, slopes, at = np.zeros(size), np.zeros((len(s.dq), size)), 0
        for row, points in [*self._points().items(), (last - 1, [])]:
            while at <= row:
                at = push_rows(eq, work, s, tape, at, row + 1)
                if at <= row:
                    self._jump(at, work).push(s)
                    at += 1
            if points:
                if push_point(eq, work, s, self._state(row)) == 0:
                    self._fail(max(row, 0))
                values[points], slopes[:, points] = s.point.outputs[points], s.dpoint[:, points]
        return values, slopes

    def values(self) -> tuple[np.ndarray, np.ndarray]:
        """Integrals and point values."""
        s, work = self._slopes(0, 0)
        points, _ = self._forward(s, work)
        return s.integral.copy(), points

    def direct(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Integrals, point values, and a row of derivatives by the design parameters for each of both."""
        s, work = self._slopes(len(self.by), 0)
        by = self.system.model.parameter_slopes(self.parameters, self.by)
        to_x, to_start = self.system.number_slopes(self.parameters)
        s.dx[:], s.dp[:] = (to_x @ by).T, by.T
        start = self._start()
        drawn = (to_start @ by).T if self.machine.task.start is None else np.zeros((len(self.by), self.machine.eq.n))
        s.dq[:], s.dv[:] = start.push(s.dx, drawn, np.zeros_like(drawn), start.size_slopes() @ by)
        points, slopes = self._forward(s, work)
        return s.integral.copy(), points, s.dintegral.T.copy(), slopes.T.copy()

    def adjoint(self, seeds: np.ndarray, point_seeds: np.ndarray) -> np.ndarray:
        """Per row of weights of integrals and point values: the derivative of their sum by the design parameters."""
        s, work = self._slopes(0, len(seeds))
        eq, tape, at = self.machine.eq, self.tape, len(self.tape.kind)
        s.seed[:] = seeds
        self._last_modes(work)
        for row, points in [*reversed(self._points().items()), (-1, [])]:
            while at > row + 1:
                at = pull_rows(eq, work, s, tape, row + 1, at) + 1
                if at > row + 1:
                    at -= 1
                    self._jump(at, work).pull(s)
            if not points:
                continue
            s.point_seed[:] = 0.0
            s.point_seed[:, points] = point_seeds[:, points]
            if pull_point(eq, work, s, self._state(row)) == 0:
                self._fail(max(row, 0))
        start = self._start()
        dbar, _, sizebar = start.pull(s.qbar, s.vbar, s.xbar)
        to_x, to_start = self.system.number_slopes(self.parameters)
        total = s.pbar + s.xbar @ to_x + np.outer(sizebar, start.size_slopes())
        if self.machine.task.start is None:
            total += dbar @ to_start
        return total @ self.system.model.parameter_slopes(self.parameters, self.by)

    def _start(self) -> StartSlopes:
        """The derivatives of the start."""
        machine = self.machine
        machine.stand(self.parameters)
        return StartSlopes(machine, self.directions["inertia"], self.directions["velocity"])

    def _last_modes(self, work: mo.Work) -> None:
        """Put the modes and kept values of the end into the inputs."""
        taken = np.flatnonzero(self.tape.kind == TAKE)
        if len(taken):
            Z = len(self.tape.z_at)
            work.x[self.tape.z_at] = self.tape.more[taken[-1], Z : 2 * Z]
            mo.set_rows(self.machine.eq, work)
