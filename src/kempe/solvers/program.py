"""Evaluating many kernels at once: gather inputs, call each kernel, add its outputs where they belong.

A *layout* says where coordinates, rates, time, multipliers and table pieces go in the long input vector ``x`` that
holds the inputs of all kernel calls side by side. A *program* is one list of calls (all constraint values, say) with
the places of their outputs. Both are plain index arrays (see ``pack``), so a new model compiles nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kempe.kernels.call import call_kernel
from kempe.solvers.frames import FloatRows, Floats, Frame, Ints
from kempe.solvers.jit import compiled, entry
from kempe.solvers.pack import pack, part, window

# parts of a program
ADDRESS, X_AT, Y_AT = 0, 1, 2  # per call: the kernel's address, where its inputs and its outputs begin
SOURCE, TARGET = 3, 4  # y[SOURCE[k]] is added to out[TARGET[k]]
SIZES = 5  # length of y, length of out

# parts of a layout
Q_FROM, Q_TO, V_TO, A_TO = 0, 1, 2, 3  # x[Q_TO[k]] = q[Q_FROM[k]], and the same for rates and accelerations
T_TO = 4
C_TO = 5  # the first of three weights
LAM_FROM, LAM_TO = 6, 7
SLOT_TABLE, SLOT_AT = 8, 9  # per slot: its table, and where the table's piece goes in x
TABLE_START = 10  # per table: its first break; one more than tables
ARGUMENTS = 11  # a program: where the tables are read
B_FROM, BV_TO, BA_TO = 12, 13, 14  # the same for the elements whose balance depends on rates or accelerations


@dataclass(frozen=True, eq=False)
class Layout(Frame):
    """Where things go in x, and the tables read on the way."""

    places: Ints  # the parts listed above
    tables: FloatRows  # per break: the break and the four coefficients of the piece that begins there
    periods: Floats  # per table, 0 when it does not repeat


def make_program(
    address: Sequence[int], x_at: np.ndarray, y_sizes: Sequence[int], target: np.ndarray, size_out: int
) -> np.ndarray:
    """A program whose calls write their outputs side by side, to be added at ``target`` one by one."""
    y_at = np.cumsum([0, *y_sizes])
    calls = [np.array(address, dtype=np.int64), np.asarray(x_at, dtype=np.int64), y_at[:-1]]
    return pack([*calls, np.arange(y_at[-1]), target, np.array([y_at[-1], size_out])])


def size_y(program: np.ndarray) -> int:
    """How much scratch a program's outputs take."""
    return int(program[program[SIZES]])


def size_arguments(layout: Layout) -> int:
    """How much scratch reading the tables takes."""
    program = layout.places[layout.places[ARGUMENTS] : layout.places[ARGUMENTS + 1]]
    return size_y(program) + size_out(program)


def size_out(program: np.ndarray) -> int:
    """How long a program's result is."""
    return int(program[program[SIZES] + 1])


@entry
def run(program, x, y, out):
    """Evaluate a program: out = sum of the outputs of its calls."""
    address, x_at, y_at = part(program, ADDRESS), part(program, X_AT), part(program, Y_AT)
    for k in range(address.shape[0]):
        call_kernel(address[k], x, x_at[k], y, y_at[k])
    for k in range(part(program, SIZES)[1]):
        out[k] = 0.0
    source, target = part(program, SOURCE), part(program, TARGET)
    for k in range(source.shape[0]):
        out[target[k]] += y[source[k]]


@entry
def load(layout, q, t, x, y):
    """Put coordinates, time and the table pieces that hold there into x."""
    q_from, q_to, t_to = part(layout.places, Q_FROM), part(layout.places, Q_TO), part(layout.places, T_TO)
    for k in range(q_from.shape[0]):
        x[q_to[k]] = q[q_from[k]]
    for k in range(t_to.shape[0]):
        x[t_to[k]] = t
    if part(layout.places, SLOT_TABLE).shape[0] > 0:
        _load_tables(layout, x, y)


@entry
def load_rates(layout, v, x):
    """Put rates of the coordinates into x."""
    q_from, v_to = part(layout.places, Q_FROM), part(layout.places, V_TO)
    for k in range(q_from.shape[0]):
        x[v_to[k]] = v[q_from[k]]


@entry
def load_accelerations(layout, a, x):
    """Put accelerations of the coordinates into x."""
    q_from, a_to = part(layout.places, Q_FROM), part(layout.places, A_TO)
    for k in range(q_from.shape[0]):
        x[a_to[k]] = a[q_from[k]]


@entry
def load_for_balance(layout, v, a, x):
    """Put rates and accelerations into x where the balance of forces depends on them."""
    b_from, v_to, a_to = part(layout.places, B_FROM), part(layout.places, BV_TO), part(layout.places, BA_TO)
    for k in range(b_from.shape[0]):
        i = b_from[k]
        x[v_to[k]] = v[i]
        x[a_to[k]] = a[i]


@entry
def load_weights(layout, c0, c1, c2, x):
    """Put the weights of the acceleration, velocity and position tangents into x."""
    c_to = part(layout.places, C_TO)
    for k in range(c_to.shape[0]):
        x[c_to[k]] = c0
        x[c_to[k] + 1] = c1
        x[c_to[k] + 2] = c2


@entry
def load_multipliers(layout, lam, x):
    """Put multipliers (weights of the constraint rows) into x."""
    lam_from, lam_to = part(layout.places, LAM_FROM), part(layout.places, LAM_TO)
    for k in range(lam_from.shape[0]):
        x[lam_to[k]] = lam[lam_from[k]]


@compiled
def _load_tables(layout, x, y):
    table_of, slot_at = part(layout.places, SLOT_TABLE), part(layout.places, SLOT_AT)
    start, tables = part(layout.places, TABLE_START), layout.tables
    program = part(layout.places, ARGUMENTS)
    arguments = window(y, part(program, SIZES)[0], y.shape[0])  # behind the outputs of the calls
    run(program, x, y, arguments)
    for slot in range(table_of.shape[0]):
        table = table_of[slot]
        first, last = start[table], start[table + 1] - 1  # breaks first..last
        s = arguments[slot]
        turns = 0.0
        if layout.periods[table] > 0.0:
            turns = np.floor((s - tables[first, 0]) / layout.periods[table]) * layout.periods[table]
        low, high = first, last - 1  # piece k lies between breaks k and k + 1
        while low < high:
            middle = (low + high + 1) // 2
            if tables[middle, 0] <= s - turns:
                low = middle
            else:
                high = middle - 1
        at = slot_at[slot]
        x[at] = tables[low, 0] + turns
        for k in range(1, 5):
            x[at + k] = tables[low, k]
