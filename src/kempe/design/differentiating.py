"""A run written on tape, and the derivatives of what is asked of it: forward by direction, or backward by functional.

``run`` simulates; ``values`` are integrals and point values along the tape; ``direct`` pushes one direction per design
parameter through it, ``adjoint`` pulls one set of weights per functional back. Both differentiate the discrete
solution, its steps frozen, through the same kernels and the same factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NoReturn

import numpy as np
from scipy.sparse import csc_matrix

from kempe.design.breaks import Break, breaks_of
from kempe.design.crossing_slopes import CrossingSlopes
from kempe.design.first_mode_slopes import FirstModeSlopes
from kempe.design.jump_slopes import JumpSlopes
from kempe.design.places import Place
from kempe.design.start_slopes import StartSlopes
from kempe.errors import ConvergenceError
from kempe.results import Result
from kempe.simulation.machine import InitialConditions, Machine
from kempe.simulation.running import Record, finished, go, violated
from kempe.simulation.task import Task
from kempe.simulation.velocities import Velocities
from kempe.solvers import motion as mo
from kempe.solvers import newmark as nm
from kempe.solvers.course import REACHED, STOPPED
from kempe.solvers.gauge import Gauge
from kempe.solvers.slopes import Slopes, new_slopes
from kempe.solvers.sweeping import pull_point, pull_rows, push_point, push_rows
from kempe.solvers.tape import ACROSS, INSTANT, JUMP, NEWMARK, RADAU, SETTLED, STEP, TAKE, Tape, take_state
from kempe.system import System

#: What is differentiated along directions.
DIRECTIONS = ("motion", "residual", "stages", "velocity", "guards", "latches")
#: The same at the start and at jumps, outside of compiled code.
RARELY = ("inertia", "jumps", "touch")
#: What sweeps run most by the kind of steps on a tape (``system.fusion``): functions, and directional derivatives.
RUN_MOST: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] = {
    STEP: (("evaluating", "refining", "factoring", "solving"), ("motion", "velocity")),
    NEWMARK: (("stepping", "refining", "factoring", "solving"), ("residual",)),
    RADAU: (("evaluating", "refining", "tangent", "factoring", "solving"), ("stages", "velocity", "motion")),
}
#: And for weights.
TRANSPOSED = ("solving_transposed", "refining_transposed")


#: Quadratures of a step may differ by so many tolerances, in sizes of the integral.
DOUBT = 1.0
#: A direction may be off by so many tolerances per step, as a share of it; never by more than this.
STRAY, STRAYED = 1e3, 1e-3
#: One that moves less than this many sizes, as parameters change by their own, is none; the least size of a parameter.
NO_REACH, LEAST_SIZE = 1e-9, 1e-2
#: So many bytes of a tape are kept in memory.
MEMORY = 1 << 28
#: At a kink of a force derivatives are taken this share of the run beside it.
LEANING = 1e-8
#: Instants are the same within this share of a run.
SAME = 1e-10
#: Room for so many times at which steps have to end.
STOPS = 64


@dataclass(frozen=True)
class Watched:
    """What is asked of a run: integrals of quantities, and quantities at places of it (one per output).

    The last ``kinks`` of these quantities are kinks of the integrands.
    """

    integrand: Gauge
    point: Gauge
    kinks: int = 0


def functions_swept(kinds: Iterable[int], ways: Sequence[str]) -> tuple[str, ...]:
    """What is worth fusing for sweeps over steps of some kinds; of "push" and "pull" the ways in which they go."""
    found: list[tuple[str, ...]] = [TRANSPOSED] if "pull" in ways else []
    for functions, differentiated in (RUN_MOST[kind] for kind in kinds if kind in RUN_MOST):
        found += [functions, tuple(f"{way} {name}" for way in ways for name in differentiated)]
    return tuple(dict.fromkeys(name for names in found for name in names))


class Differentiated:
    """A model's run on tape, differentiated by design parameters."""

    def __init__(
        self, system: System, task: Task, watched: Watched, by: Sequence[str], velocities: Velocities | None = None
    ) -> None:
        self.system, self.watched, self.by = system, watched, list(by)
        self.velocities = Velocities(system, None) if velocities is None else velocities
        self._task = task
        self.machine = self._machine(STOPS)
        self.directions = {name: self.machine.compiling.directions(name) for name in (*DIRECTIONS, *RARELY)}
        self._blocks: list[dict[str, np.ndarray]] = []
        #: So many bytes of a tape are kept in memory, more in a temporary file.
        self.memory = MEMORY
        self._spilled: TemporaryDirectory[str] | None = None
        #: By how much a direction was off in a step, as a share of it, when steps were looked at last.
        self.strayed = 0.0
        self._rows = 0
        self._shapes: dict[str, tuple[tuple[int, ...], np.dtype]] = {}
        self._result: Result | None = None
        self._ended: tuple[Record, int, InitialConditions | None] = (Record(), REACHED, None)
        #: Per row of the tape: the sides of kinks, which integrands see behind the parameters.
        self.sides = np.zeros((0, watched.kinks))
        #: Per row of the tape: where integrands jump, as the last sweep found it.
        self._breaks: dict[int, list[Break]] = {}
        #: Times at which forces have kinks, and steps end.
        self.kinks: list[float] = []
        # derivatives of the start of the last run, once they are asked for: every sweep begins or ends there
        self._start_slopes: StartSlopes | None = None
        self._first_mode_slopes: FirstModeSlopes | None = None
        self._number_slopes: tuple[csc_matrix, csc_matrix] | None = None

    # --- the run -----------------------------------------------------------------------------------------------------

    def _machine(self, room: int) -> Machine:
        return Machine(self.system, replace(self._task, stops=(np.inf,) * room))

    def _stop_at(self, times: Sequence[float]) -> None:
        """Let steps end at times."""
        first, last = self._task.begun, float(self._task.grid[-1])
        least, stops = SAME * (last - first), list[float]()
        for t in sorted(times):
            if (stops[-1] if stops else first) + least < t < last - least:
                stops.append(t)
        if len(stops) > len(self.machine.course.tape.stops) - 1:
            self.machine = self._machine(2 * len(stops))
        self.machine.course.tape.stops[:] = np.inf
        self.machine.course.tape.stops[: len(stops)] = stops

    def ends_at(self, times: Sequence[float]) -> bool:
        """Whether some step ends at each of these times."""
        ends = self.tape.t[:, 1]
        within = SAME * (ends[-1] - self._task.begun)
        return all(np.abs(ends - t).min() <= within for t in times)

    def run(self, parameters: np.ndarray, stops: Sequence[float] = ()) -> None:
        """Simulate at parameter values, onto tape, with steps that end at some times; raises where that fails."""
        self._stop_at(stops)
        machine, record = self.machine, Record()
        if self._spilled is not None:
            self._spilled.cleanup()
        self._blocks, self._spilled, self._rows = [], None, 0
        machine.task.velocities.update(self.velocities.at(parameters))
        machine.begin(parameters)
        self.x, self.sweeps = machine.wk.x.copy(), max(2, machine.course.refinements)
        self._harvest()
        self.begun = self._rows + sum(len(block["kind"]) for block in self._blocks)
        initial = machine.initial()
        code = go(machine, record, lambda machine, _: self._harvest())
        self._harvest()
        if code not in (REACHED, STOPPED) or record.outside or violated(machine):
            found = finished(machine, record, code, initial)
            raise ConvergenceError(found.message, found)
        self._ended, self._result = (record, code, initial), None
        self.parameters = parameters
        self.tape = self._whole()
        self._start_slopes = self._first_mode_slopes = self._number_slopes = None
        self.sides, self.kinks = np.zeros((len(self.tape.kind), self.watched.kinks)), []

    @property
    def result(self) -> Result:
        """The last run as a result, made when it is asked for."""
        if self._result is None:
            self._result = finished(self.machine, *self._ended)
        return self._result

    def __del__(self) -> None:
        if getattr(self, "_spilled", None) is not None:
            self._spilled.cleanup()  # type: ignore[union-attr]

    @property
    def first_kink(self) -> int:
        """The first kink among the quantities at places."""
        return self.watched.point.size - self.watched.kinks

    def _harvest(self) -> None:
        """Take what is written out of compiled memory."""
        tape = self.machine.course.tape
        names = ("kind", "t", "start", "end", "more", "switch")
        if tape.count:
            self._blocks.append({name: getattr(tape, name)[: tape.count].copy() for name in names})
        tape.count = 0
        self._spill()

    def _spill(self) -> None:
        """Beyond so much memory, what is written goes to a temporary file."""
        size = sum(array.nbytes for block in self._blocks for array in block.values())
        if size > self.memory:
            self._spilled = self._spilled or TemporaryDirectory(prefix="kempe-tape-")
            for block in self._blocks:
                for name, array in block.items():
                    with open(Path(self._spilled.name) / name, "ab") as file:
                        file.write(array.tobytes())
            self._rows += sum(len(block["kind"]) for block in self._blocks)
            self._shapes = {name: (array.shape[1:], array.dtype) for name, array in self._blocks[0].items()}
            self._blocks = []

    def _whole(self) -> Tape:
        last = self.machine.course.tape
        if self._spilled is not None:
            self.memory, kept = 0, self.memory
            self._spill()
            self.memory = kept
            joined: dict[str, np.ndarray] = {
                name: np.memmap(Path(self._spilled.name) / name, dtype, "r+", shape=(self._rows, *shape))
                for name, (shape, dtype) in self._shapes.items()
            }
        elif not self._blocks:
            return last
        else:
            joined = {name: np.concatenate([block[name] for block in self._blocks]) for name in self._blocks[0]}
        return last.changed(**joined, count=len(joined["kind"]))

    # --- the sweeps --------------------------------------------------------------------------------------------------

    @contextmanager
    def _sweeping(self, *ways: str) -> Iterator[None]:
        """While the tape is swept over in some ways: what is worth it is fused, and the time counts."""
        compiling, begun = self.machine.compiling, perf_counter()
        compiling.about_to_run(functions_swept(np.unique(self.tape.kind).tolist(), ways))
        yield
        compiling.ran_on(perf_counter() - begun)

    def slopes(
        self, directions: int, weights: int, point: Gauge | None = None, doubts: int = 0, strays: int = 0
    ) -> tuple[Slopes, mo.Work]:
        """Memory for so many directions or weights, and a work space in the modes of the start."""
        machine, w = self.machine, self.watched
        slopes = new_slopes(
            machine.eq,
            self.x,
            {name: self.directions[name] for name in DIRECTIONS},
            w.integrand,
            w.point if point is None else point,
            np.append(self.parameters, np.zeros(self.sides.shape[1])),
            directions,
            weights,
            self.sweeps,
            np.array(self.kinks),
            LEANING * self._task.span,
            doubts,
            strays,
        )
        memory = machine.integrator.memory
        if isinstance(memory, nm.Memory):
            slopes.constants[:] = memory.alpha_m, memory.alpha_f, memory.beta, memory.gamma
        work = mo.new_work(machine.eq, self.x)
        taken = np.flatnonzero(self.tape.kind == TAKE)
        if len(taken):  # the modes before the first switches
            Z = len(self.tape.z_at)
            work.x[self.tape.z_at] = self.tape.more[taken[0], :Z]
        mo.set_rows(machine.eq, work)
        return slopes, work

    def at_row(self, row: int, directions: int, point: Gauge) -> tuple[Slopes, mo.Work]:
        """The same in the modes of a row, for quantities of one's own."""
        slopes, work = self.slopes(directions, 0, point)
        modes = self.modes_of_rows()
        if modes is not None:
            work.x[self.tape.z_at] = modes[row]
            mo.set_rows(self.machine.eq, work)
        return slopes, work

    def modes_of_rows(self) -> np.ndarray | None:
        """Modes and kept values at the start of each row; None where nothing switches."""
        Z, kind = len(self.tape.z_at), self.tape.kind
        taken = np.flatnonzero(kind == TAKE)
        if not len(taken):
            return None
        found = np.zeros((len(kind), Z))
        found[: taken[0] + 1] = self.tape.more[taken[0], :Z]
        for row, following in zip(taken, [*taken[1:], len(kind) - 1], strict=True):
            found[row + 1 : following + 1] = self.tape.more[row, Z : 2 * Z]
        return found

    def _points(self, places: Sequence[Place]) -> dict[int, list[int]]:
        """Per row of the tape: the point values that belong to its end (row -1: to the start); at kinks, none."""
        kind, ends = self.tape.kind, self.tape.t[:, 1]
        found: dict[int, list[int]] = {}
        for k, place in enumerate(places):
            if place.side == "start":
                row = self.begun - 1
            elif place.side == "end":
                row = len(kind) - 1
            elif place.side == "within":
                row = int(np.searchsorted(ends, place.t, side="right")) - 1
            else:
                rows = np.flatnonzero(kind == (INSTANT if place.side == "before" else SETTLED))
                row = int(rows[np.argmin(np.abs(ends[rows] - place.t))])
            found.setdefault(row, []).append(k)
        for row in np.flatnonzero((self.sides[:-1] != self.sides[1:]).any(axis=1)).tolist():
            found.setdefault(row, [])
        return dict(sorted(found.items()))

    def _on_sides(self, s: Slopes, row: int) -> None:
        """Let integrands know on which side of kinks a row is."""
        if self.sides.shape[1]:
            s.parameters[len(self.parameters) :] = self.sides[row]

    def state(self, row: int) -> mo.State:
        """The state at the end of a row."""
        state = mo.new_state(self.machine.eq.n, self.machine.eq.m)
        take_state(self.tape.end[row] if row >= 0 else self.tape.start[self.begun], state)
        state.t = float(self.tape.t[row, 1] if row >= 0 else self.tape.t[self.begun, 0])
        return state

    def fail(self, row: int) -> NoReturn:
        """Say that a row cannot be differentiated."""
        t = float(self.tape.t[row, 0])
        raise ConvergenceError(f"the derivative of the motion cannot be had at t = {t:.6g}: the equations are singular")

    def blame(self) -> str:
        """Which element has no derivative in a state on the way, in words."""
        d, work = self.directions["motion"], mo.new_work(self.machine.eq, self.x)
        using = [k for k, f in enumerate(self.system.families) if f.moves]
        modes, state = self.modes_of_rows(), mo.new_state(self.machine.eq.n, self.machine.eq.m)
        along = np.random.default_rng(0).standard_normal(len(self.x))
        for row in range(len(self.tape.kind)):
            take_state(self.tape.start[row], state)
            state.t = float(self.tape.t[row, 0])
            if modes is not None:
                work.x[self.tape.z_at] = modes[row]
            mo.place_all(self.machine.eq, work, state)
            for call, k in enumerate(using):
                at, kernel = self.system.inputs_at(k), self.system.kernels.held[int(d.push[call])]
                if not np.isfinite(kernel(np.concatenate([work.x[at], along[at]]))).all():
                    element = self.system.elements[k]
                    return (
                        f"{element.kind} '{element.name}' has none at t = {state.t:.6g} (the root of zero, or a "
                        "quotient of zeros, in its equations or in a derivative of them?)"
                    )
        return "something asked for has none in a state on the way (the root of zero, or a quotient of zeros?)"

    def _jump(self, row: int, work: mo.Work) -> JumpSlopes:
        """The jump of a row at which a sweep has stopped."""
        if self.tape.kind[row] != JUMP:
            self.fail(row)
        return JumpSlopes(self.system, self.directions, self.tape, row, work.x, self.machine.eq.hybrids.row_at)

    def _crossings(self) -> dict[int, CrossingSlopes]:
        """All crossings of singular positions, by row."""
        rows = np.flatnonzero(self.tape.kind == ACROSS).tolist()
        return {row: CrossingSlopes(self.machine.eq, self.tape, row) for row in rows}

    def _forward(self, s: Slopes, work: mo.Work, places: Sequence[Place]) -> tuple[np.ndarray, np.ndarray]:
        """Push all directions; point values and their directions (a row per direction)."""
        eq, tape, last = self.machine.eq, self.tape, len(self.tape.kind)
        size = self.first_kink
        values, slopes, at = np.zeros(size), np.zeros((len(s.dq), size)), 0
        crossings = self._crossings()
        history: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        rests = {row for crossing in crossings.values() for row in crossing.rows}
        places_of = self._points(places)
        for row in sorted({*places_of, *rests, last - 1}):
            points = places_of.get(row, [])
            while at <= row:
                self._on_sides(s, at)
                at = push_rows(eq, work, s, tape, at, row + 1)
                if at > row:
                    break
                if at in crossings:
                    crossings[at].push(s, work, history)
                else:
                    self._jump(at, work).push(s)
                at += 1
            if row in rests:
                history[row] = s.dq.copy(), s.dv.copy()
            if points:
                if push_point(eq, work, s, self.state(row)) == 0:
                    self.fail(max(row, 0))
                values[points], slopes[:, points] = s.point.outputs[points], s.dpoint[:, points]
            if row in self._breaks and len(s.dq):
                push_point(eq, work, s, self.state(row))
                for passed in self._breaks[row]:
                    s.dintegral[:] += np.outer(s.dpoint[:, self.first_kink + passed.kink], passed.weights)
        return values, slopes

    def values(self, places: Sequence[Place]) -> tuple[np.ndarray, np.ndarray, list[float]]:
        """Integrals and point values; and times at which steps should end besides, for integrals as accurate as asked.

        Where the two quadratures of a step differ by more than the tolerance allows, it is to be split.
        """
        s, work = self.slopes(0, 0, doubts=len(self.tape.kind))
        with self._sweeping():
            points, _ = self._forward(s, work, places)
        if self._task.step > 0.0 or not self.watched.integrand.size:
            return s.integral.copy(), points, []
        share = s.doubts / np.maximum(s.sizes, 1e-300) / self._task.tolerance
        return s.integral.copy(), points, self._within(share.max(axis=1) / DOUBT)

    def direct(self, places: Sequence[Place]) -> tuple[np.ndarray, np.ndarray, list[float]]:
        """A row of derivatives by the design parameters for each integral, and for each point value.

        And times at which steps should end besides: those of ``too_long``.
        """
        by = self.system.model.parameter_slopes(self.parameters, self.by)
        s, slopes = self._pushed(np.column_stack([by, by @ self._mixed()]), places)
        return s.dintegral[:-1].T.copy(), slopes[:-1].T.copy(), self._split(s)

    def too_long(self) -> list[float]:
        """Times within steps that follow the motion but are too long for its derivatives.

        At rest steps grow as they like, and what the motion does not do its derivatives may, and fast. One direction is
        looked at, a mixture of all parameters.
        """
        by = self.system.model.parameter_slopes(self.parameters, self.by)
        return self._split(self._pushed((by @ self._mixed())[:, None], ())[0])

    def _mixed(self) -> np.ndarray:
        """A direction in which all design parameters change, about by their sizes."""
        names = list(self.system.model.parameters)
        sizes = np.maximum(np.abs(self.parameters[[names.index(name) for name in self.by]]), LEAST_SIZE)
        return np.random.default_rng(0).uniform(0.5, 1.5, len(sizes)) * sizes

    def _pushed(self, by: np.ndarray, places: Sequence[Place]) -> tuple[Slopes, np.ndarray]:
        """Directions of the parameters (as columns) pushed to the end, and those of point values."""
        self._breaks = breaks_of(self)
        s, work = self.slopes(by.shape[1], 0, strays=len(self.tape.kind))
        s.reach[:] = NO_REACH, NO_REACH / self._task.span
        to_x, to_start = self._numbers()
        s.dx[:], s.dp[:, : len(by)] = (to_x @ by).T, by.T
        start = self._start()
        drawn = (to_start @ by).T if self.machine.task.start is None else np.zeros((by.shape[1], self.machine.eq.n))
        given = (self.velocities.slopes(self.parameters, self.machine.stood[0]) @ by).T
        s.dq[:], s.dv[:] = start.push(s.dx, drawn, given, start.size_slopes @ by)
        self._first_modes().push(s)
        with self._sweeping("push"):
            return s, self._forward(s, work, places)[1]

    def _split(self, s: Slopes) -> list[float]:
        """Times that split the steps in which the last direction is too far off."""
        allowed = min(STRAY * self._task.tolerance, STRAYED)
        self.strayed = float(s.strays.max(initial=0.0))
        return [] if self._task.step > 0.0 else self._within(s.strays / allowed)

    def _within(self, share: np.ndarray) -> list[float]:
        """Times that split the rows of which the share of what is allowed is above one."""
        found: list[float] = []
        for row in np.flatnonzero(share > 1.0):
            parts = min(8, int(np.ceil(share[row] ** (1.0 / 6.0)) + 1))
            first, last = self.tape.t[row]
            found += np.linspace(first, last, parts + 1)[1:-1].tolist()
        return found

    def adjoint(self, seeds: np.ndarray, point_seeds: np.ndarray, places: Sequence[Place]) -> np.ndarray:
        """Per row of weights of integrals and point values: the derivative of their sum by the design parameters."""
        self._breaks = breaks_of(self)
        s, work = self.slopes(0, len(seeds))
        s.seed[:] = seeds
        self._last_modes(work)
        with self._sweeping("pull"):
            self._backward(s, work, point_seeds, places)
        self._first_modes().pull(s)
        start = self._start()
        dbar, given, sizebar = start.pull(s.qbar, s.vbar, s.xbar)
        to_x, to_start = self._numbers()
        total = s.pbar[:, : len(self.parameters)] + s.xbar @ to_x + np.outer(sizebar, start.size_slopes)
        total += given @ self.velocities.slopes(self.parameters, self.machine.stood[0])
        if self.machine.task.start is None:
            total += dbar @ to_start
        return total @ self.system.model.parameter_slopes(self.parameters, self.by)

    def _backward(self, s: Slopes, work: mo.Work, point_seeds: np.ndarray, places: Sequence[Place]) -> None:
        """Pull all weights to the start."""
        eq, tape, at = self.machine.eq, self.tape, len(self.tape.kind)
        crossings, places_of = self._crossings(), self._points(places)
        pending: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        rests = {row for crossing in crossings.values() for row in crossing.rows}
        for row in sorted({*places_of, *rests, -1}, reverse=True):
            points = places_of.get(row, [])
            while at > row + 1:
                self._on_sides(s, at - 1)
                at = pull_rows(eq, work, s, tape, row + 1, at) + 1
                if at > row + 1:
                    at -= 1
                    if at in crossings:
                        crossings[at].pull(s, work, pending)
                    else:
                        self._jump(at, work).pull(s)
            if row in pending:
                s.qbar[:] += pending[row][0]
                s.vbar[:] += pending[row][1]
            if not points and row not in self._breaks:
                continue
            s.point_seed[:] = 0.0
            s.point_seed[:, points] = point_seeds[:, points]
            for passed in self._breaks.get(row, ()):
                s.point_seed[:, self.first_kink + passed.kink] = s.seed @ passed.weights
            if pull_point(eq, work, s, self.state(row)) == 0:
                self.fail(max(row, 0))

    def _start(self) -> StartSlopes:
        """The derivatives of the start."""
        if self._start_slopes is None:
            d = self.directions
            self._start_slopes = StartSlopes(self.machine, d["inertia"], d["velocity"])
        return self._start_slopes

    def _numbers(self) -> tuple[csc_matrix, csc_matrix]:
        """The derivatives of all numbers, and of the sketch, by all parameters."""
        if self._number_slopes is None:
            self._number_slopes = self.system.number_slopes(self.parameters)
        return self._number_slopes

    def _first_modes(self) -> FirstModeSlopes:
        """The derivatives of what the first modes keep and close."""
        if self._first_mode_slopes is None:
            self._first_mode_slopes = FirstModeSlopes(self.machine, self.directions, self.tape)
        return self._first_mode_slopes

    def _last_modes(self, work: mo.Work) -> None:
        """Put the modes and kept values of the end into the inputs."""
        taken = np.flatnonzero(self.tape.kind == TAKE)
        if len(taken):
            Z = len(self.tape.z_at)
            work.x[self.tape.z_at] = self.tape.more[taken[-1], Z : 2 * Z]
            mo.set_rows(self.machine.eq, work)
