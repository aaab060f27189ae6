"""When functions of a system are written out whole: in memory, on disk, or compiled beside the steps that run.

Fused code (``solvers.fusing``) gives the digits that the loops over kernel calls give, so it can be switched on at any
time: one number in a frame says that it is there, and compiled solvers read it at every call. A function is kept on
disk under a key of what it is written from (kernels, index arrays, the factorisation's pattern), so that it is found
without writing it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.calling import suggestion
from kempe.elements import shown
from kempe.errors import ModelError
from kempe.kernels import compiler, emitting, linear, llvm_ir, scheduling, sheet, steps, trigonometry
from kempe.kernels.beside import BESIDE
from kempe.kernels.compiler import Code, key_of, known_code, sheet_code
from kempe.kernels.linear import Pattern, count_operations, factor_sheet, solve_sheet
from kempe.kernels.sheet import Sheet
from kempe.solvers import fusing
from kempe.solvers.directions import Directions, Fused
from kempe.solvers.motion import Equations, Whole
from kempe.solvers.program import Kernels, Program
from kempe.solvers.quasi_definite import Plan, pattern_of
from kempe.system.directions import directions_of

if TYPE_CHECKING:
    from kempe.system.system import System

log = logging.getLogger("kempe")

#: What a user may ask for, and the variable of the environment that says what holds where nothing is asked for.
COMPILE, VARIABLE = ("auto", "never", "always"), "KEMPE_COMPILE"
#: After so many seconds of running, fused code that is on disk is worth reading: a millisecond for each function.
READING = 0.005
#: It is worth compiling beside a run that lasts, so far and as far as it seems, as long as compiling will: so many
#: seconds for each step of a function, and not less than this.
COST, LEAST = 1e-4, 0.1
#: A function of about so many steps or more is not written out: compiling it takes a minute of somebody's patience.
LONGEST = 60_000


def compile_named(given: str | None) -> str:
    """When to fuse, as it was asked for; raises ModelError where there is no such choice."""
    said = os.environ.get(VARIABLE) or "auto" if given is None else given
    if said not in COMPILE:
        what = "compile" if given is not None else VARIABLE
        words = suggestion(said, COMPILE) if isinstance(said, str) else ""
        raise ModelError(f"{what} must be 'auto', 'never' or 'always', not {shown(said)}{words}")
    return said


@dataclass(frozen=True)
class Job:
    """A function that may be written out: what it is made from, how long it would be, its steps, how it is put in."""

    content: Sequence[str | bytes]
    size: int
    sheet: Callable[[], Sheet]
    put: Callable[[int], None]


@cache
def sources() -> bytes:
    """What functions are written out by: an edit in any of it makes what is kept stale."""
    modules = (compiler, emitting, linear, llvm_ir, scheduling, sheet, steps, trigonometry, fusing)
    return b"".join(Path(str(module.__file__)).read_bytes() for module in modules)


def _key(job: Job) -> str:
    return key_of("fused", sources(), *job.content)


def content_of(program: Program) -> list[str | bytes]:
    """What a program says, for a key."""
    keys = [program.kernels.held[number].code.key for number in program.kernel.tolist()]
    arrays = (program.x_at, program.gather_from, program.gather_to, program.source, program.target)
    return [*keys, *_bytes(arrays), str(program.size_out)]


def content_of_directions(d: Directions, way: str) -> list[str | bytes]:
    """What directional derivatives say in one way, "push" or "pull", for a key."""
    keys = [d.kernels.held[number].code.key for number in getattr(d, way).tolist()]
    return [way, *keys, *_bytes((d.start, d.found_at, d.first, d.target)), str(d.size)]


def content_of_plan(plan: Plan) -> list[str | bytes]:
    """What the plan of a factorisation says, for a key."""
    names = ("order", "start", "column", "diagonal", "a_start", "a_place", "a_column", "e_row", "e_column", "e_place")
    return [*_bytes(getattr(plan, name) for name in names), str(plan.size_values)]


def _bytes(arrays: Iterable[np.ndarray]) -> list[bytes]:
    return [repr(array.shape).encode() + array.tobytes() for array in arrays]


def size_of(program: Program) -> int:
    """About how many steps a program has."""
    return _steps(program.kernels, program.kernel)


def _steps(kernels: Kernels, numbers: np.ndarray) -> int:
    return sum(len(kernels.held[number].steps) for number in numbers.tolist())


#: Functions that do several things at once (``solvers.motion.Whole``): the program each begins with, and its sheet.
_SEVERAL: dict[str, tuple[str, Callable[[Program, int, int, Pattern], Sheet]]] = {
    "evaluating": ("explicit", lambda program, n, m, pattern: fusing.with_factors(program, n + 3 * m, pattern)),
    "accelerating": ("explicit", fusing.accelerating),
    "projecting": ("value", fusing.projecting),
    "stepping": ("tangent", lambda program, n, m, pattern: fusing.with_factors(program, n + m, pattern)),
    "iterating": ("residual", fusing.iterating),
}
#: Those in which a matrix is factored.
_FACTORING = ("evaluating", "accelerating", "stepping")
#: What directional derivatives are written out by, each way: "push motion" is one of these functions.
_WAYS: dict[str, Callable[[Directions], Sheet]] = {"push": fusing.pushing, "pull": fusing.pulling}


class Fusion:
    """The functions of a system that can be written out, and which of them are."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._lock, self._making = threading.RLock(), threading.Lock()
        self._jobs: dict[str, Job | None] = {}
        self._directions: dict[str, Directions] = {}
        self._looked_for: set[str] = set()
        self._asked_for: set[str] = set()
        #: The functions in use, with the seconds each took to compile (0 where it was found).
        self.ready: dict[str, float] = {}
        #: For how many seconds motions of the system were computed.
        self.spent = 0.0
        self._written_at_first = system.dynamics.plan.written_out.copy()

    # --- what there is ---------------------------------------------------------------------------------------------

    def job(self, name: str) -> Job | None:
        """A function by name; None where it cannot be written out or need not be."""
        with self._lock:
            if name not in self._jobs:
                made = self._job(name)
                self._jobs[name] = made if made is not None and made.size <= LONGEST else None
            return self._jobs[name]

    def _job(self, name: str) -> Job | None:
        d, n, m = self._system.dynamics, self._system.n, self._system.m
        if d.plan.large > 0:  # (by blocks, and with other digits)
            return None
        if name == "accelerating" and d.loaded:  # (then they are Newton's)
            return None
        if name in _SEVERAL:
            of, write = _SEVERAL[name]
            program = self.program(of)
            if not fusing.can_be_fused(program):
                return None
            content = [name, str(n), str(m), *content_of(program), *self._plan]
            factors = self._size_factors if name in _FACTORING else 0
            size = size_of(program) + factors + self._size_solution
            return Job(content, size, lambda: write(program, n, m, self._pattern), self._into(d.whole, name))
        way, _, of = name.partition(" ")
        if way in _WAYS:
            return self._direction_job(way, self._shared(of))
        transposed = name.endswith("_transposed")
        if name in ("refining", "refining_transposed"):
            entries = (d.plan.e_row, d.plan.e_column, d.plan.e_place)
            size = self._size_solution + 2 * len(d.plan.e_row)
            made = lambda: fusing.refining(self._pattern, entries, d.plan.size_values, transposed)  # noqa: E731
            return Job([name, *self._plan], size, made, self._into(d.whole, name))
        if name == "solving_transposed":
            made = lambda: solve_sheet(self._pattern, transposed)  # noqa: E731
            return Job([name, *self._plan], self._size_solution, made, self._into(d.whole, name))
        if name in ("factoring", "solving"):
            if self._written_at_first[0]:
                return None
            write_out, place = (factor_sheet, 1) if name == "factoring" else (solve_sheet, 2)
            size = self._size_factors if name == "factoring" else self._size_solution
            return Job([name, *self._plan], size, lambda: write_out(self._pattern), self._written(place))
        program = self.program(name)
        if len(program.kernel) == 0 or not fusing.can_be_fused(program):
            return None
        return Job(
            ["program", *content_of(program)],
            size_of(program),
            lambda: fusing.whole(program),
            self._into(program, "fused"),
        )

    def _direction_job(self, way: str, d: Directions) -> Job | None:
        numbers = getattr(d, way)
        if len(numbers) == 0 or not fusing.straight(d.kernels, numbers):
            return None
        size = _steps(d.kernels, numbers) + len(d.found_at) + len(d.target)
        return Job(content_of_directions(d, way), size, lambda: _WAYS[way](d), self._into(d.fused, way))

    def _shared(self, name: str) -> Directions:
        """Directional derivatives whose index arrays and fused functions all others share."""
        with self._lock:
            if name not in self._directions:
                self._directions[name] = directions_of(self._system, name)
            return self._directions[name]

    def directions(self, name: str, fused: bool = True) -> Directions:
        """Directional derivatives (``directions_of``) with memory of their own, using what is written out or not."""
        d = self._shared(name)
        own = {"scratch": np.zeros_like(d.scratch), "found": np.zeros_like(d.found)}
        return d.changed(**own, fused=d.fused if fused else Fused())

    def program(self, name: str) -> Program:
        """A program of the system."""
        if name == "arguments":
            return self._system.layout.arguments
        return getattr(self._system if name == "value" else self._system.dynamics, name)  # type: ignore[no-any-return]

    @cached_property
    def _pattern(self) -> Pattern:
        return pattern_of(self._system.dynamics.plan)

    @cached_property
    def _plan(self) -> list[str | bytes]:
        return [key_of(*content_of_plan(self._system.dynamics.plan))]

    @cached_property
    def _size_factors(self) -> int:
        """About how many steps a factorisation has."""
        plan = self._system.dynamics.plan
        return count_operations(plan.start, plan.diagonal, plan.column) + len(plan.column)

    @property
    def _size_solution(self) -> int:
        """About how many steps a solution has, with reading the factors."""
        return 2 * len(self._system.dynamics.plan.column)

    @staticmethod
    def _into(frame: Whole | Program | Fused, field: str) -> Callable[[int], None]:
        return lambda number: setattr(frame, field, number + 1)

    def _written(self, place: int) -> Callable[[int], None]:
        def put(number: int) -> None:
            written = self._system.dynamics.plan.written_out
            written[place] = number
            if {"factoring", "solving"} <= self.ready.keys():
                written[0] = 1

        return put

    # --- switching on ----------------------------------------------------------------------------------------------

    def _enter(self, name: str, job: Job, code: Code, seconds: float) -> None:
        with self._lock:
            if name not in self.ready:
                number = self._system.kernels.number(code)  # (the table keeps the code alive)
                self.ready[name] = seconds
                job.put(number)

    def read(self, names: Iterable[str]) -> None:
        """Use what is in memory or on disk of these functions."""
        for name in names:
            if name in self._looked_for:
                continue
            self._looked_for.add(name)
            job = self.job(name)
            code = None if job is None else known_code(_key(job))
            if job is not None and code is not None:
                self._enter(name, job, code, 0.0)

    def make(self, names: Iterable[str]) -> None:
        """Have these functions written out now."""
        for name in names:
            job = self.job(name)
            with self._making:  # (another thread may be at it)
                if job is None or name in self.ready:
                    continue
                begun, key = perf_counter(), _key(job)
                found = known_code(key)
                code = sheet_code(key, job.sheet) if found is None else found
                self._enter(name, job, code, perf_counter() - begun if found is None else 0.0)

    def make_beside(self, names: Iterable[str]) -> None:
        """Have these functions written out one after the other, in a thread."""
        with self._lock:
            fresh = [name for name in names if name not in self._asked_for]
            self._asked_for.update(fresh)
        BESIDE.do([lambda name=name: self._try(name) for name in fresh])  # type: ignore[misc]

    def _try(self, name: str) -> None:
        try:
            self.make([name])
        except Exception as error:  # a run goes on without it
            log.warning("'%s': %s is not compiled: %s", self._system.model.name, name, error)

    @property
    def seconds(self) -> float:
        """How long compiling took so far."""
        return sum(self.ready.values())

    def worth(self, names: Iterable[str]) -> list[str]:
        """Which of these functions can be written out, and are short enough."""
        return [name for name in names if self.job(name) is not None]

    def missing(self, names: Iterable[str]) -> int:
        """How many of these functions could be in use and are not."""
        return len(self.worth(names)) - sum(name in self.ready for name in names)

    def spend(self, seconds: float, names: Iterable[str], expected: float = 0.0) -> None:
        """Note that motions were computed for so long, and seem to be for longer; do what is worth it for these."""
        self.spent += seconds
        if self.spent <= READING:
            return
        self.read(names)
        jobs, lasts = {name: self.job(name) for name in names}, self.spent + expected
        self.make_beside(name for name, job in jobs.items() if job and lasts > max(LEAST, COST * job.size))

    def __reduce__(self) -> Any:
        return Fusion, (self._system,)  # (what is in use is so in this process)

    # --- without -----------------------------------------------------------------------------------------------------

    def without(self, eq: Equations) -> Equations:
        """Equations that never use what is written out, arrays shared."""
        plain = {name: p.changed(fused=0) for name, p in eq.fields().items() if isinstance(p, Program)}
        layout = eq.layout.changed(arguments=eq.layout.arguments.changed(fused=0))
        return eq.changed(
            layout=layout,
            plan=eq.plan.changed(written_out=self._written_at_first.copy()),
            whole=Whole(),
            **plain,
        )
