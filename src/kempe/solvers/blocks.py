"""Elimination by blocks, for large systems: LANES blocks of the same shape at a time, in vector registers.

A *block* is what is eliminated as one: a body, say, with the multipliers of its own rows, or those of a joint. Blocks
that do not depend on each other and have the same ``Shape`` make a *batch*. The factors of a batch lie beside each
other, as do its unknowns in the vector that ``solve`` works on; lanes that no block takes are filled with ones and
zeros. Shapes that occur often have machine code, for the others, for complex numbers and for transposed systems the
same is done in loops over their patterns.
"""

from __future__ import annotations

from typing import get_type_hints

import numpy as np

from kempe.kernels.call import call_indexed
from kempe.kernels.lanes import (
    TILE,
    divide_tile,
    factor_tile,
    put,
    put_product,
    reduce_tile,
    subtract_product,
    subtract_tiles,
)
from kempe.kernels.llvm_ir import LANES
from kempe.solvers.frames import Count, Frame, Ints
from kempe.solvers.jit import compiled, rare
from kempe.solvers.pack import floats_at, place_of
from kempe.solvers.program import Kernels


class Blocks(Frame):
    """The batches in the order of their elimination, their shapes, and where numbers come from and go to."""

    kernels: Kernels  # per shape with machine code three: factor, forward, backward
    # per batch
    shape: Ints
    lu_at: Ints  # where its factors begin
    w_at: Ints  # where its unknowns begin in the vector
    index_at: Ints  # where the places of its border begin in the index
    update_at: Ints  # its updates are update_at[k]:update_at[k + 1]
    # per shape
    kernel: Ints  # the numbers of its three kernels, or -1
    pivots: Ints
    border: Ints
    row_at: Ints  # the first of its rows
    upper: Ints  # how many entries are above the diagonal
    # per row of a shape
    row_start: Ints  # entries of the row above the diagonal are row_start[i]:row_start[i + 1]
    row_column: Ints
    row_entry: Ints  # their numbers among those of the shape
    # per number
    index: Ints  # places of the border in the vector, counted from the batch's own unknowns
    update_to: Ints  # the numbers of later blocks that a batch adds to, for all pairs of its border
    value_from: Ints  # entries of the matrix: from the values, to the factors
    value_to: Ints
    idle: Ints  # the diagonal of lanes that no block takes
    diagonal: Ints  # pivots in the order of elimination, and where their shift is
    shift_from: Ints
    source: Ints  # vector[k] is the right-hand side's source[k]
    place: Ints  # the solution's [i] is vector[place[i]]
    size_values: Count
    size_lu: Count
    size_w: Count
    size_front: Count  # scratch of loops


def nothing() -> Blocks:
    """No blocks at all: for systems that are not large."""
    arrays = [name for name, hint in get_type_hints(Blocks).items() if hint is np.ndarray]
    return Blocks(Kernels(1), **{name: np.zeros(0, dtype=np.int64) for name in arrays})


def size(blocks: Blocks) -> int:
    """How much memory factors and scratch take."""
    return blocks.size_lu + blocks.size_w + blocks.size_front


def work(blocks: Blocks) -> tuple[int, int]:
    """About how many operations a factorisation takes, and a solution; LANES of them at once count as one."""
    row = np.diff(blocks.row_start)
    by_shape = np.add.reduceat(row * (row + 1), blocks.row_at[:-1])
    batches = np.bincount(blocks.shape, minlength=len(by_shape))
    moved = len(blocks.update_to) + len(blocks.value_to)
    return int(batches @ by_shape) + moved, blocks.size_lu // LANES


@compiled
def factor(blocks, values, shift, lu):
    """Factor; diagonals are stored as reciprocals. False when a pivot vanished or is not finite."""
    return factor_batches(blocks, place_of(values), place_of(shift), place_of(lu)) > 0


@rare
def factor_batches(blocks: Blocks, values: int, shift: int, factors: int) -> int:
    """The factors of real values at their places, by machine code where there is some."""
    lu = floats_at(factors, blocks.size_lu + blocks.size_w + blocks.size_front)
    _gather(blocks, floats_at(values, blocks.size_values), floats_at(shift, blocks.diagonal.shape[0]), lu)
    updates = blocks.size_lu + blocks.size_w
    for batch in range(blocks.shape.shape[0]):
        number = blocks.kernel[3 * blocks.shape[batch]]
        if number < 0:
            _factor_in_loops(blocks, blocks.shape[batch], blocks.lu_at[batch], lu)
        else:
            address = blocks.kernels.address_of[number]
            call_indexed(address, lu, blocks.lu_at[batch], lu, updates, blocks.index, 0)
        _pass_on(blocks, batch, updates, lu)
    return int(_sound(blocks, lu))


@compiled
def factor_in_loops(blocks, values, shift, lu):
    """The same for complex numbers."""
    _gather(blocks, values, shift, lu)
    for batch in range(blocks.shape.shape[0]):
        _factor_in_loops(blocks, blocks.shape[batch], blocks.lu_at[batch], lu)
        _pass_on(blocks, batch, blocks.size_lu + blocks.size_w, lu)
    return _sound(blocks, lu)


@compiled
def _gather(blocks, values, shift, lu):
    """The matrix with its shift, where its factors will be."""
    for k in range(blocks.size_lu):
        lu[k] = 0.0
    idle, diagonal, shift_from = blocks.idle, blocks.diagonal, blocks.shift_from
    for k in range(idle.shape[0]):
        lu[idle[k]] = 1.0
    for i in range(diagonal.shape[0]):
        lu[diagonal[i]] = shift[shift_from[i]]
    value_from, value_to = blocks.value_from, blocks.value_to
    for k in range(value_from.shape[0]):
        lu[value_to[k]] += values[value_from[k]]


@compiled
def _pass_on(blocks, batch, updates, lu):
    """Add what a batch leaves to later blocks."""
    update_to, first = blocks.update_to, blocks.update_at[batch]
    for k in range(blocks.update_at[batch + 1] - first):
        lu[update_to[first + k]] += lu[updates + k]


@compiled
def _sound(blocks, lu):
    """Whether all pivots are numbers other than zero."""
    diagonal = blocks.diagonal
    for i in range(diagonal.shape[0]):
        pivot = lu[diagonal[i]]
        if pivot == 0.0 or not np.isfinite(pivot):
            return False
    return True


@compiled
def _factor_in_loops(blocks, shape, at, lu):
    """The factors of one batch, as a full matrix in tiles, in the scratch behind what it leaves to later blocks."""
    p, b = blocks.pivots[shape], blocks.border[shape]
    whole = (p + TILE - 1) // TILE * TILE
    n = whole + (b + TILE - 1) // TILE * TILE
    row, updates = LANES * n, blocks.size_lu + blocks.size_w
    front = updates + LANES * b * b
    _fill_front(blocks, shape, at, lu, front, row)
    for tile in range(0, whole, TILE):
        on = front + tile * row + LANES * tile
        factor_tile(lu, on, row)
        for j in range(tile + TILE, n, TILE):
            divide_tile(lu, front + j * row + LANES * tile, on, row)
            reduce_tile(lu, front + tile * row + LANES * j, on, row)
        for j in range(tile + TILE, n, TILE):
            for k in range(tile + TILE, n, TILE):
                below, right = front + j * row + LANES * tile, front + tile * row + LANES * k
                subtract_tiles(lu, front + j * row + LANES * k, below, right, row)
    _read_front(blocks, shape, at, lu, front, row)
    for j in range(b):
        for k in range(b):
            put(lu, updates + LANES * (j * b + k), front + (whole + j) * row + LANES * (whole + k))


@compiled
def _fill_front(blocks, shape, at, lu, front, row):
    """The numbers of a batch as a full matrix; rows and columns that fill up its tiles are those of the identity."""
    p, first = blocks.pivots[shape], blocks.row_at[shape]
    upper, lower = at + LANES * p, at + LANES * (p + blocks.upper[shape])
    start, column, entry = blocks.row_start, blocks.row_column, blocks.row_entry
    whole = (p + TILE - 1) // TILE * TILE
    for k in range(front, front + row * (row // LANES)):
        lu[k] = 0.0
    for i in range(p, whole):
        for lane in range(LANES):
            lu[front + i * row + LANES * i + lane] = 1.0
    for i in range(p):
        put(lu, front + i * row + LANES * i, at + LANES * i)
        for k in range(start[first + i], start[first + i + 1]):
            j = column[k] if column[k] < p else whole + column[k] - p
            put(lu, front + i * row + LANES * j, upper + LANES * entry[k])
            put(lu, front + j * row + LANES * i, lower + LANES * entry[k])


@compiled
def _read_front(blocks, shape, at, lu, front, row):
    """The factors of a batch out of a full matrix."""
    p, first = blocks.pivots[shape], blocks.row_at[shape]
    upper, lower = at + LANES * p, at + LANES * (p + blocks.upper[shape])
    start, column, entry = blocks.row_start, blocks.row_column, blocks.row_entry
    whole = (p + TILE - 1) // TILE * TILE
    for i in range(p):
        put(lu, at + LANES * i, front + i * row + LANES * i)
        for k in range(start[first + i], start[first + i + 1]):
            j = column[k] if column[k] < p else whole + column[k] - p
            put(lu, upper + LANES * entry[k], front + i * row + LANES * j)
            put(lu, lower + LANES * entry[k], front + j * row + LANES * i)


@compiled
def solve(blocks, lu, b, x):
    """X = K^-1 b with the factors at hand (x may be b)."""
    solve_batches(blocks, place_of(lu), place_of(b), place_of(x))


@rare
def solve_batches(blocks: Blocks, factors: int, b: int, x: int) -> int:
    """The solution for real numbers at their places, by machine code where there is some."""
    n, w = blocks.place.shape[0], blocks.size_lu
    lu = floats_at(factors, blocks.size_lu + blocks.size_w + blocks.size_front)
    _enter(blocks, lu, floats_at(b, n))
    table, kernel, index, shape = blocks.kernels.address_of, blocks.kernel, blocks.index, blocks.shape
    lu_at, w_at, index_at, count = blocks.lu_at, blocks.w_at, blocks.index_at, blocks.shape.shape[0]
    for batch in range(count):
        number = kernel[3 * shape[batch] + 1]
        if number < 0:
            _forward(blocks, batch, shape[batch], lu, blocks.upper[shape[batch]], 0)
        else:
            call_indexed(table[number], lu, lu_at[batch], lu, w + w_at[batch], index, index_at[batch])
    for batch in range(count - 1, -1, -1):
        number = kernel[3 * shape[batch] + 2]
        if number < 0:
            _backward(blocks, batch, shape[batch], lu, 0, 1)
        else:
            call_indexed(table[number], lu, lu_at[batch], lu, w + w_at[batch], index, index_at[batch])
    _leave(blocks, lu, floats_at(x, n))
    return 1


@compiled
def solve_in_loops(blocks, lu, b, x):
    """The same for complex numbers."""
    _enter(blocks, lu, b)
    count = blocks.shape.shape[0]
    for batch in range(count):
        _forward(blocks, batch, blocks.shape[batch], lu, blocks.upper[blocks.shape[batch]], 0)
    for batch in range(count - 1, -1, -1):
        _backward(blocks, batch, blocks.shape[batch], lu, 0, 1)
    _leave(blocks, lu, x)


@compiled
def solve_transposed(blocks, lu, b, x):
    """X = K^-T b with the factors at hand: K = L U, so U^T y = b and L^T x = y."""
    _enter(blocks, lu, b)
    count = blocks.shape.shape[0]
    for batch in range(count):
        _forward(blocks, batch, blocks.shape[batch], lu, 0, 1)
    for batch in range(count - 1, -1, -1):
        _backward(blocks, batch, blocks.shape[batch], lu, blocks.upper[blocks.shape[batch]], 0)
    _leave(blocks, lu, x)


@compiled
def _forward(blocks, batch, shape, lu, skipped, scaled):
    """One batch forward, with L or U^T: as many entries are ``skipped``; ``scaled`` where there is a diagonal."""
    p, first, at = blocks.pivots[shape], blocks.row_at[shape], blocks.lu_at[batch]
    w, sums = blocks.size_lu + blocks.w_at[batch], blocks.size_lu + blocks.size_w
    entries, index_at = at + LANES * (p + skipped), blocks.index_at[batch]
    start, column, entry, index = blocks.row_start, blocks.row_column, blocks.row_entry, blocks.index
    for k in range(sums, sums + LANES * blocks.border[shape]):
        lu[k] = 0.0
    for i in range(p):
        own = w + LANES * i
        if scaled > 0:
            put_product(lu, own, own, at + LANES * i)
        for k in range(start[first + i], start[first + i + 1]):
            j, e = column[k], entries + LANES * entry[k]
            if j < p:
                subtract_product(lu, w + LANES * j, e, own)
            else:
                subtract_product(lu, sums + LANES * (j - p), e, own)
    for k in range(LANES * blocks.border[shape]):  # (two may go to the same place)
        lu[w + index[index_at + k]] += lu[sums + k]


@compiled
def _backward(blocks, batch, shape, lu, skipped, scaled):
    """One batch backward, with U or L^T, in the same way."""
    p, first, at = blocks.pivots[shape], blocks.row_at[shape], blocks.lu_at[batch]
    w, known = blocks.size_lu + blocks.w_at[batch], blocks.size_lu + blocks.size_w
    entries, index_at = at + LANES * (p + skipped), blocks.index_at[batch]
    start, column, entry, index = blocks.row_start, blocks.row_column, blocks.row_entry, blocks.index
    for k in range(LANES * blocks.border[shape]):
        lu[known + k] = lu[w + index[index_at + k]]
    for i in range(p - 1, -1, -1):
        own = w + LANES * i
        for k in range(start[first + i], start[first + i + 1]):
            j = column[k]
            subtract_product(lu, own, entries + LANES * entry[k], w + LANES * j if j < p else known + LANES * (j - p))
        if scaled > 0:
            put_product(lu, own, own, at + LANES * i)


@compiled
def _enter(blocks, lu, b):
    """Put a right-hand side into the vector."""
    w, source = blocks.size_lu, blocks.source
    for k in range(source.shape[0]):
        lu[w + k] = b[source[k]]


@compiled
def _leave(blocks, lu, x):
    """Take the solution out of the vector."""
    w, place = blocks.size_lu, blocks.place
    for i in range(place.shape[0]):
        x[i] = lu[w + place[i]]
