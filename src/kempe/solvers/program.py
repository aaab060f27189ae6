"""Evaluating many kernels at once: gather inputs, call each kernel, add its outputs where they belong.

A *layout* says where coordinates, rates, time, multipliers and table pieces go in the long input vector ``x`` that
holds the inputs of all kernel calls side by side. A *program* is one list of calls (all constraint values, say) with
the places of their outputs. A program holds kernels by number; one table per system holds their addresses. All of it
is plain index arrays, so a new model compiles nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kempe.kernels.call import call_kernel
from kempe.solvers.frames import Count, FloatRows, Floats, Frame, Ints
from kempe.solvers.jit import compiled, entry
from kempe.solvers.pack import window


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
        if kernel.address not in self._known:
            if len(self.held) == len(self.address_of):
                raise RuntimeError("the table of kernels is full")
            self._known[kernel.address] = len(self.held)
            self.address_of[len(self.held)] = kernel.address
            self.held.append(kernel)
        return self._known[kernel.address]

    def __reduce__(self) -> Any:
        return _table_of, (len(self.address_of), list(self.held))


def _table_of(capacity: int, held: list[Any]) -> Kernels:
    """The same kernels under the same numbers, at the addresses they have in this process."""
    table = Kernels(capacity)
    for k, kernel in enumerate(held):
        table.address_of[k] = kernel.address
        table._known.setdefault(kernel.address, k)
        table.held.append(kernel)
    return table


class Program(Frame):
    """A list of kernel calls whose outputs are added up."""

    kernels: Kernels
    kernel: Ints  # per call: the kernel's number
    x_at: Ints  # per call: where its inputs begin in x
    y_at: Ints  # per call: where its outputs begin in the scratch
    source: Ints  # scratch[source[k]] is added to out[target[k]]
    target: Ints
    size_y: Count  # how long the scratch is
    size_out: Count  # how long the result is


class Layout(Frame):
    """Where things go in x, and the tables read on the way."""

    q_from: Ints  # x[q_to[k]] = q[q_from[k]], and the same for rates and accelerations
    q_to: Ints
    v_to: Ints
    a_to: Ints
    t_to: Ints
    c_to: Ints  # the first of three weights
    lam_from: Ints
    lam_to: Ints
    swift_from: Ints  # as q_from, for the elements whose balance of forces depends on rates or accelerations
    swift_v_to: Ints
    swift_a_to: Ints
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


def make_program(
    kernels: Kernels, calls: Sequence[Any], x_at: np.ndarray, source: np.ndarray, target: np.ndarray, size_out: int
) -> Program:
    """A program whose calls (kernels) write their outputs side by side; ``source`` of them is added at ``target``."""
    y_at = np.cumsum([0, *(kernel.n_out for kernel in calls)])
    return Program(
        kernels=kernels,
        kernel=np.array([kernels.number(kernel) for kernel in calls], dtype=np.int64),
        x_at=np.asarray(x_at, dtype=np.int64),
        y_at=y_at[:-1].astype(np.int64),
        source=np.asarray(source, dtype=np.int64),
        target=np.asarray(target, dtype=np.int64),
        size_y=int(y_at[-1]),
        size_out=size_out,
    )


def size_arguments(layout: Layout) -> int:
    """How much scratch reading the tables takes."""
    return layout.arguments.size_y + layout.arguments.size_out


@compiled
def run(program, x, y, out):
    """Evaluate a program: out = sum of the outputs of its calls."""
    table, kernel, x_at, y_at = program.kernels.address_of, program.kernel, program.x_at, program.y_at
    for k in range(kernel.shape[0]):
        call_kernel(table[kernel[k]], x, x_at[k], y, y_at[k])
    for k in range(program.size_out):
        out[k] = 0.0
    source, target = program.source, program.target
    for k in range(source.shape[0]):
        out[target[k]] += y[source[k]]


@compiled
def load(layout, q, t, x, y):
    """Put coordinates, time and the table pieces that hold there into x."""
    q_from, q_to, t_to = layout.q_from, layout.q_to, layout.t_to
    for k in range(q_from.shape[0]):
        x[q_to[k]] = q[q_from[k]]
    for k in range(t_to.shape[0]):
        x[t_to[k]] = t
    if layout.slot_table.shape[0] > 0:
        _load_tables(layout, x, y)


@compiled
def load_rates(layout, v, x):
    """Put rates of the coordinates into x."""
    q_from, v_to = layout.q_from, layout.v_to
    for k in range(q_from.shape[0]):
        x[v_to[k]] = v[q_from[k]]


@compiled
def load_accelerations(layout, a, x):
    """Put accelerations of the coordinates into x."""
    q_from, a_to = layout.q_from, layout.a_to
    for k in range(q_from.shape[0]):
        x[a_to[k]] = a[q_from[k]]


@compiled
def load_for_balance(layout, v, a, x):
    """Put rates and accelerations into x where the balance of forces depends on them."""
    swift, v_to, a_to = layout.swift_from, layout.swift_v_to, layout.swift_a_to
    for k in range(swift.shape[0]):
        i = swift[k]
        x[v_to[k]] = v[i]
        x[a_to[k]] = a[i]


@compiled
def load_weights(layout, c0, c1, c2, x):
    """Put the weights of the acceleration, velocity and position tangents into x."""
    c_to = layout.c_to
    for k in range(c_to.shape[0]):
        x[c_to[k]] = c0
        x[c_to[k] + 1] = c1
        x[c_to[k] + 2] = c2


@compiled
def load_multipliers(layout, lam, x):
    """Put multipliers (weights of the constraint rows) into x."""
    lam_from, lam_to = layout.lam_from, layout.lam_to
    for k in range(lam_from.shape[0]):
        x[lam_to[k]] = lam[lam_from[k]]


@compiled
def load_late_tables(layout, x, y):
    """Look tables up again that are read at rates, accelerations or multipliers, once these are in x."""
    if layout.late > 0:
        _load_tables(layout, x, y)


@compiled
def _load_tables(layout, x, y):
    """Put the pieces that hold at the tables' arguments into x: those within arguments of others come first."""
    arguments = window(y, layout.arguments.size_y, y.shape[0])  # behind the outputs of the calls
    for _ in range(layout.levels):
        run(layout.arguments, x, y, arguments)
        for slot in range(layout.slot_table.shape[0]):
            _load_piece(layout, slot, arguments, x)


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
