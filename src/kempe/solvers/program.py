"""Evaluating many kernels at once: gather inputs, call each kernel, add its outputs where they belong.

The long input vector ``x`` begins with the state of the system, its *head*; behind it lie the inputs of all kernel
calls side by side: numbers, modes and table pieces live there. A *program* is one list of calls (all constraint values,
say) with what they read of the head and the places of their outputs. A program holds kernels by number; one table per
system holds their addresses. All of it is plain index arrays, so a new model compiles nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from kempe.kernels.call import call_kernel, call_vectors
from kempe.kernels.compiler import Code
from kempe.kernels.llvm_ir import LANES
from kempe.solvers.abreast import Abreast, Adding, abreast, run_abreast
from kempe.solvers.frames import Count, FloatRows, Floats, Frame, Ints
from kempe.solvers.jit import compiled, entry, piece, rare
from kempe.solvers.pack import floats_at, place_of, window

#: Threads enter kernels one after the other.
_ENTERING = threading.Lock()


class Kernels(Frame):
    """The one table of addresses; everything else knows kernels by their number in it."""

    address_of: Ints

    def __init__(self, capacity: int) -> None:
        super().__init__(address_of=np.zeros(capacity, dtype=np.int64))
        #: The kernels themselves, which keep their machine code alive.
        self.held: list[Any] = []
        self._known: dict[int, int] = {}

    def number(self, kernel: Any) -> int:
        """The number of a kernel, entered into the table when it is new."""
        with _ENTERING:
            if kernel.address not in self._known:
                if len(self.held) == len(self.address_of):
                    raise RuntimeError("the table of kernels is full")
                self.address_of[len(self.held)] = kernel.address
                self._known[kernel.address] = len(self.held)
                self.held.append(kernel)
            return self._known[kernel.address]

    def __reduce__(self) -> Any:
        held = [None if isinstance(kernel, Code) else kernel for kernel in self.held]  # (fused code stays here)
        return _table_of, (len(self.address_of), held)


def _table_of(capacity: int, held: list[Any]) -> Kernels:
    """The same kernels under the same numbers, at the addresses they have in this process."""
    table = Kernels(capacity)
    for k, kernel in enumerate(held):
        table.held.append(kernel)
        if kernel is not None:
            table.address_of[k] = kernel.address
            table._known.setdefault(kernel.address, k)
    return table


class Program(Frame):
    """A list of kernel calls whose outputs are added up."""

    kernels: Kernels
    gather_from: Ints  # x[gather_to[k]] = x[gather_from[k]]: what its kernels read of the head
    gather_to: Ints
    kernel: Ints  # per call: the kernel's number
    x_at: Ints  # per call: where its inputs begin in x
    y_at: Ints  # per call: where its outputs begin in the scratch
    source: Ints  # scratch[source[k]] is added to out[target[k]]
    target: Ints
    wide: Abreast
    size_y: Count  # how long the scratch is
    size_out: Count  # how long the result is
    large: Count  # 1 where calls are taken LANES at a time
    fused: Count  # one more than the number of the function that does all of it; 0 while there is none

    @property
    def side_by_side(self) -> int:
        """How many operations are done at once."""
        return LANES if self.large else 1

    def __reduce__(self) -> Any:
        made, (kind, values) = super().__reduce__()
        return made, (kind, {**values, "fused": 0})  # (fused code stays in its process)


#: The head of x: time, the weights of the acceleration, velocity and position tangents, the weight of constraint rows
#: in Newton's corrections; coordinates, rates, accelerations, multipliers. Behind it lie the inputs of kernel calls.
TIME, WEIGHTS, ROW_WEIGHT, STATE = 0, 1, 4, 5


class Layout(Frame):
    """What the head of x holds, and the tables read on the way."""

    n: Count  # coordinates
    m: Count  # constraint rows
    slot_table: Ints  # per reading of a table: the table, where its piece goes in x, its first argument
    slot_at: Ints
    slot_argument: Ints
    first_axis: Ints  # per table its first axis, per axis its first break, per table its first coefficient
    first_break: Ints
    first_number: Ints
    breaks: Floats
    periods: Floats  # per axis, 0 when it does not repeat
    limits: FloatRows  # per axis: where the data begin and end
    coefficients: Floats  # per table piece by piece, the second axis running fastest
    arguments: Program  # where the tables are read
    levels: Count  # how many are read one within the other
    late: Count  # whether some are read at rates, accelerations or multipliers

    @property
    def q(self) -> slice:
        """Where the head of x has the coordinates."""
        return slice(STATE, STATE + self.n)

    @property
    def v(self) -> slice:
        """Where it has their rates."""
        return slice(STATE + self.n, STATE + 2 * self.n)

    @property
    def a(self) -> slice:
        """Where it has the accelerations."""
        return slice(STATE + 2 * self.n, STATE + 3 * self.n)

    @property
    def lam(self) -> slice:
        """Where it has the multipliers."""
        return slice(STATE + 3 * self.n, self.head)

    @property
    def head(self) -> int:
        """How long the head is."""
        return size_head(self.n, self.m)


def size_head(n: int, m: int) -> int:
    """How long the head of x is."""
    return STATE + 3 * n + m


def make_program(
    kernels: Kernels,
    calls: Sequence[Any],
    x_at: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    size_out: int,
    found_at: np.ndarray | None = None,
    large: bool = False,
) -> Program:
    """A program whose calls (kernels) write their outputs side by side; ``source`` of them is added at ``target``.

    ``found_at`` says for every place of x where in x its value is found: there, or in the head. In a ``large`` one
    calls are taken LANES at a time.
    """
    y_at = np.cumsum([0, *(kernel.n_out for kernel in calls)])
    reads = [int(at) + np.asarray(kernel.reads, dtype=np.int64) for kernel, at in zip(calls, x_at, strict=True)]
    gather_to = np.concatenate([np.zeros(0, np.int64), *reads])
    gather_from = gather_to if found_at is None else found_at[gather_to]
    moved = gather_from != gather_to
    adding = Adding(np.asarray(source, dtype=np.int64), np.asarray(target, dtype=np.int64), size_out)
    found = np.arange(int(gather_to.max(initial=-1)) + 1) if found_at is None else found_at
    wide = abreast(kernels.number, calls if large else [], np.asarray(x_at), found, adding)
    return Program(
        kernels=kernels,
        gather_from=gather_from[moved],
        gather_to=gather_to[moved],
        kernel=np.array([kernels.number(kernel) for kernel in calls], dtype=np.int64),
        x_at=np.asarray(x_at, dtype=np.int64),
        y_at=y_at[:-1].astype(np.int64),
        source=np.asarray(source, dtype=np.int64),
        target=np.asarray(target, dtype=np.int64),
        wide=wide,
        size_y=max(int(y_at[-1]), wide.size_y),
        size_out=size_out,
        large=int(large),
    )


def size_arguments(layout: Layout) -> int:
    """How much scratch reading the tables takes."""
    return layout.arguments.size_y + layout.arguments.size_out


@compiled
def run(program, x, y, out):
    """Evaluate a program: out = sum of the outputs of its calls."""
    if program.fused > 0:
        call_vectors(program.kernels.address_of[program.fused - 1], (x, out))
        return
    if program.large > 0:
        _run_abreast(program, place_of(x), x.shape[0], place_of(y), place_of(out))
    else:
        _run_one_by_one(program, place_of(x), x.shape[0], place_of(y), place_of(out))


@rare
def _run_abreast(program: Program, at: int, size: int, scratch: int, result: int) -> int:
    """Evaluate a program LANES calls at a time: inputs, their number, scratch and result are at these places."""
    x, y, out = floats_at(at, size), floats_at(scratch, program.size_y), floats_at(result, program.size_out)
    run_abreast(program.wide, program.kernels.address_of, program.kernel, program.x_at, x, y, out)
    return 1


@piece
def _run_one_by_one(program: Program, at: int, size: int, scratch: int, result: int) -> int:
    """Evaluate a program call by call, in the same way."""
    x, y, out = floats_at(at, size), floats_at(scratch, program.size_y), floats_at(result, program.size_out)
    gather_from, gather_to = program.gather_from, program.gather_to
    for k in range(gather_from.shape[0]):
        x[gather_to[k]] = x[gather_from[k]]
    table, kernel, x_at, y_at = program.kernels.address_of, program.kernel, program.x_at, program.y_at
    for k in range(kernel.shape[0]):
        call_kernel(table[kernel[k]], x, x_at[k], y, y_at[k])
    for k in range(program.size_out):
        out[k] = 0.0
    source, target = program.source, program.target
    for k in range(source.shape[0]):
        out[target[k]] += y[source[k]]
    return 1


@compiled
def load(layout, q, t, x, y):
    """Put coordinates, time and the table pieces that hold there into x."""
    for i in range(layout.n):
        x[STATE + i] = q[i]
    load_time(layout, t, x, y)


@compiled
def load_time(layout, t, x, y):
    """Put time and the table pieces into x that hold there at coordinates which are in x."""
    x[TIME] = t
    look_up(layout, x, y)


@compiled
def load_rates(layout, v, x):
    """Put rates of the coordinates into x."""
    at = STATE + layout.n
    for i in range(layout.n):
        x[at + i] = v[i]


@compiled
def load_accelerations(layout, a, x):
    """Put accelerations of the coordinates into x."""
    at = STATE + 2 * layout.n
    for i in range(layout.n):
        x[at + i] = a[i]


@compiled
def load_weights(layout, c0, c1, c2, x):
    """Put the weights of the acceleration, velocity and position tangents into x."""
    x[WEIGHTS] = c0
    x[WEIGHTS + 1] = c1
    x[WEIGHTS + 2] = c2


@compiled
def load_multipliers(layout, lam, x):
    """Put multipliers (weights of the constraint rows) into x."""
    at = STATE + 3 * layout.n
    for k in range(layout.m):
        x[at + k] = lam[k]


@compiled
def look_up(layout, x, y):
    """Look all tables up for what the head of x has."""
    if layout.slot_table.shape[0] > 0:
        _load_tables(layout, place_of(x), x.shape[0], place_of(y), y.shape[0])


@compiled
def load_late_tables(layout, x, y):
    """Look tables up again that are read at rates, accelerations or multipliers, once these are in x."""
    if layout.late > 0:
        _load_tables(layout, place_of(x), x.shape[0], place_of(y), y.shape[0])


@rare
def _load_tables(layout: Layout, at: int, size: int, scratch: int, room: int) -> int:
    """Put the pieces that hold at the tables' arguments into x: those within arguments of others come first."""
    x, y = floats_at(at, size), floats_at(scratch, room)
    arguments = window(y, layout.arguments.size_y, y.shape[0])  # behind the outputs of the calls
    for _ in range(layout.levels):
        run(layout.arguments, x, y, arguments)
        for slot in range(layout.slot_table.shape[0]):
            _load_piece(layout, slot, arguments, x)
    return 1


@compiled
def _load_piece(layout, slot, arguments, x):
    """Per axis where the piece begins and where the data begin and end, then the coefficients."""
    table, at, argument = layout.slot_table[slot], layout.slot_at[slot], layout.slot_argument[slot]
    breaks, first_break = layout.breaks, layout.first_break
    piece, count = 0, 1
    for axis in range(layout.first_axis[table], layout.first_axis[table + 1]):
        first, last = first_break[axis], first_break[axis + 1] - 1  # breaks first..last
        s, turns = arguments[argument], 0.0
        if layout.periods[axis] > 0.0:
            turns = np.floor((s - breaks[first]) / layout.periods[axis]) * layout.periods[axis]
        low, high = first, last - 1  # piece k lies between breaks k and k + 1
        while low < high:
            middle = (low + high + 1) // 2
            if breaks[middle] <= s - turns:
                low = middle
            else:
                high = middle - 1
        x[at] = breaks[low] + turns
        x[at + 1] = layout.limits[axis, 0]
        x[at + 2] = layout.limits[axis, 1]
        piece = piece * (last - first) + low - first
        at, argument, count = at + 3, argument + 1, 4 * count
    from_ = layout.first_number[table] + piece * count
    for k in range(count):
        x[at + k] = layout.coefficients[from_ + k]


@entry
def evaluated(layout, program, q, v, a, lam, weights, t, x, y, out):
    """Run a program once, from Python; vectors of length zero are left as they are in x."""
    load(layout, q, t, x, y)
    if v.shape[0] > 0:
        load_rates(layout, v, x)
    if a.shape[0] > 0:
        load_accelerations(layout, a, x)
    if lam.shape[0] > 0:
        load_multipliers(layout, lam, x)
    if weights.shape[0] > 0:
        load_weights(layout, weights[0], weights[1], weights[2], x)
    load_late_tables(layout, x, y)
    run(program, x, y, out)
