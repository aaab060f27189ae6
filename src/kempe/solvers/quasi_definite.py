"""The linear system of every formulation: [Mhat, Phi_q^T; Phi_q, -C], factored without pivoting on a fixed pattern.

A quasi-definite matrix (the upper block positive definite, C positive) can be factored in any order. The order is
chosen once per model for little fill, each multiplier behind the coordinates it needs, and the fill is found once;
``factor`` then only does arithmetic. Mhat need not be symmetric, its pattern is. C and a small addition to
coordinates without inertia are a *shift* of the diagonal: large enough to factor, small enough that one or two steps
of refinement with the true matrix take its effect away (this is the iteration of the augmented Lagrangian method).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from kempe.kernels.call import call_vectors, less_product
from kempe.kernels.compiler import Code, compile_sheet
from kempe.kernels.linear import Pattern, count_operations, factor_sheet, solve_sheet
from kempe.kernels.llvm_ir import LANES
from kempe.solvers import blocks as by_blocks
from kempe.solvers.batching import Elimination, Entries, Fill, lay_out
from kempe.solvers.frames import Count, Frame, Ints
from kempe.solvers.jit import compiled, rare
from kempe.solvers.ordering import safe_order, wide_order
from kempe.solvers.pack import floats_at, place_of
from kempe.solvers.program import Kernels

#: Up to so many multiplications a factorisation is written out as machine code.
WRITTEN_OUT = 1200
#: Systems of more unknowns are eliminated by blocks, unless too few of them can be taken side by side.
LARGE, SIDE_BY_SIDE = 1000, 2.0
#: What is tried as the slack of their order.
SLACKS = (3.0, 1.0)
#: So many operations a processor does in a cycle; so many cycles it waits from one pivot to the next, there and back.
AT_ONCE, LINK = 2.5, 29.0


class Plan(Frame):
    """The pattern of the permuted factors row by row, and where the matrix entries come from."""

    kernels: Kernels
    order: Ints  # row k of the permuted matrix is row order[k] of the original
    start: Ints  # row k of LU is start[k]:start[k + 1]
    column: Ints
    diagonal: Ints  # the place of the diagonal of row k
    a_start: Ints  # entries of row k of the permuted matrix: places in the value array, columns
    a_place: Ints
    a_column: Ints
    e_row: Ints  # all entries of the original matrix, for products
    e_column: Ints
    e_place: Ints
    written_out: Ints  # 1 where there is machine code for this pattern; numbers of that which factors, and which solves
    blocks: by_blocks.Blocks
    large: Count  # 1 where the elimination goes by blocks
    size_values: Count

    @property
    def work(self) -> tuple[int, int]:
        """About how many operations a factorisation takes, and a solution."""
        if self.large:
            return by_blocks.work(self.blocks)
        return count_operations(self.start, self.diagonal, self.column), 2 * len(self.column)

    def __reduce__(self) -> Any:
        made, (kind, values) = super().__reduce__()
        if self.written_out[0] and isinstance(self.kernels.held[self.written_out[1]], Code):
            values = {**values, "written_out": np.zeros_like(self.written_out)}  # (fused code stays in its process)
        return made, (kind, values)


def planned(
    groups: Sequence[np.ndarray],
    neighbours: Sequence[set[int]],
    after: Sequence[set[int]],
    entries: tuple[np.ndarray, np.ndarray, np.ndarray],
    kernels: Kernels,
    tree: bool = False,
) -> Plan:
    """The plan for groups of unknowns, some of which wait for others, and rows, columns and places of the entries.

    A ``tree`` is eliminated from all its ends at once, which makes chains of operations shorter. (Where there are loops
    the last pivot shows how sound they are: it had better be that of one row.)
    """
    rows, columns, places = entries
    order, by = safe_order(groups, neighbours, after), None
    if len(order) > LARGE:
        by = _by_blocks(groups, neighbours, after, rows, columns)
        fill = len(_filled(order, rows, columns).column)
        if fill < SIDE_BY_SIDE * by.numbers:
            by = None
    elif tree:
        other = wide_order(groups, neighbours, after, 1.0)[0]
        order = min((order, other), key=lambda each: _cycles(_filled(each, rows, columns)))
    return plan(len(order), rows, columns, places, order if by is None else by.order, kernels, by)


def _cycles(fill: Fill) -> float:
    """About how many cycles a factorisation with a solution takes: for all its operations, or for the longest chain."""
    start, column, diagonal = fill
    deep = np.zeros(len(diagonal), dtype=np.int64)
    for i in range(len(diagonal)):
        deep[i] = 1 + deep[column[start[i] : diagonal[i]]].max(initial=0)
    operations = count_operations(start, diagonal, column) + len(column)
    return max(operations / AT_ONCE, LINK * int(deep.max(initial=0)))


def _by_blocks(
    groups: Sequence[np.ndarray],
    neighbours: Sequence[set[int]],
    after: Sequence[set[int]],
    rows: np.ndarray,
    columns: np.ndarray,
) -> Elimination:
    """The better elimination by blocks; the second is tried where the first leaves many lanes empty."""
    found = []
    for slack in SLACKS:
        order, ends = wide_order(groups, neighbours, after, slack)
        fill = _filled(order, rows, columns)
        found.append(Elimination.of(order, fill, ends))
        if len(fill.column) > 0.75 * LANES * found[-1].numbers:
            break
    return min(found, key=lambda each: each.numbers)


def plan(
    n: int,
    rows: np.ndarray,
    columns: np.ndarray,
    places: np.ndarray,
    order: np.ndarray,
    kernels: Kernels,
    by: Elimination | None = None,
) -> Plan:
    """Find the fill of a matrix of symmetric pattern in an order; ``places`` says where its values are found.

    The elimination goes ``by`` blocks where such is given, in the same order.
    """
    back = np.argsort(order)
    r, c = back[rows], back[columns]
    sort = np.lexsort((c, r))
    a_start = np.searchsorted(r[sort], np.arange(n + 1)).astype(np.int64)
    start, column, diagonal = _filled(order, rows, columns) if by is None else by.fill
    written_out, blocks = np.zeros(3, dtype=np.int64), by_blocks.nothing()
    if by is not None:
        blocks = lay_out(by, Entries(r, c, places))
        diagonal = blocks.diagonal
    whole = (np.ascontiguousarray(array, dtype=np.int64) for array in (order, start, column, diagonal, a_start))
    more = (np.ascontiguousarray(a, dtype=np.int64) for a in (places[sort], c[sort], rows, columns, places))
    size_values = int(places.max(initial=-1)) + 1
    made = Plan(kernels, *whole, *more, written_out, blocks, int(by is not None), size_values)
    if by is None and count_operations(start, diagonal, column) <= WRITTEN_OUT:
        pattern = pattern_of(made)
        both = (kernels.number(compile_sheet(sheet(pattern))) for sheet in (factor_sheet, solve_sheet))
        written_out[:] = [1, *both]
    return made


def pattern_of(plan: Plan) -> Pattern:
    """The pattern of a plan, for writing it out; one by blocks has another place for every number."""
    if plan.large:
        raise ValueError("a system that is eliminated by blocks is not written out")
    row = np.repeat(np.arange(len(plan.diagonal)), np.diff(plan.a_start))
    entries = list(zip(row.tolist(), plan.a_column.tolist(), plan.a_place.tolist(), strict=True))
    start, column, diagonal, order = (a.tolist() for a in (plan.start, plan.column, plan.diagonal, plan.order))
    return Pattern(start, column, diagonal, order, entries)


def _filled(order: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> Fill:
    """The pattern of L + U of a matrix of symmetric pattern, eliminated in an order."""
    n, back = len(order), np.argsort(order)
    start, column = _fill(n, back[rows], back[columns])
    own = np.repeat(np.arange(n), np.diff(start))
    return Fill(start, column, np.flatnonzero(own == column))


def _fill(n: int, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pattern of L + U of a matrix of symmetric pattern: where each row starts, and its columns."""
    everything = np.arange(n)
    r, c = np.concatenate([rows, columns, everything]), np.concatenate([columns, rows, everything])
    pattern = ca.Sparsity.triplet(n, n, r.tolist(), c.tolist())
    upper = pattern.ldl(False)[0]  # of L^T, without its diagonal
    i, j = (np.array(places, dtype=np.int64) for places in upper.get_triplet())
    r, c = np.concatenate([i, j, everything]), np.concatenate([j, i, everything])
    sort = np.lexsort((c, r))
    return np.searchsorted(r[sort], np.arange(n + 1)).astype(np.int64), c[sort]


def size(plan: Plan) -> int:
    """How much memory the factors take."""
    return by_blocks.size(plan.blocks) if plan.large else len(plan.column)


@compiled
def factor(plan, values, shift, lu, work):
    """Factor; diagonals are stored as reciprocals. False when a pivot vanished or is not finite."""
    if plan.large > 0:
        return by_blocks.factor(plan.blocks, values, shift, lu)
    if plan.written_out[0] == 0:
        return _factor_by_rows(plan, place_of(values), place_of(shift), place_of(lu), place_of(work)) > 0
    call_vectors(plan.kernels.address_of[plan.written_out[1]], (values, shift, lu))
    return sound(plan, lu)


@compiled
def sound(plan, lu):
    """Whether all pivots of factors are finite and not zero."""
    diagonal = plan.diagonal
    for i in range(diagonal.shape[0]):
        pivot = lu[diagonal[i]]
        if pivot == 0.0 or not np.isfinite(pivot):
            return False
    return True


@compiled
def solve(plan, lu, b, x, work):
    """X = K^-1 b with the factors at hand (x must not be b)."""
    if plan.large > 0:
        by_blocks.solve(plan.blocks, lu, b, x)
        return
    if plan.written_out[0] == 0:
        _solve_by_rows(plan, place_of(lu), place_of(b), place_of(x), place_of(work))
        return
    call_vectors(plan.kernels.address_of[plan.written_out[2]], (lu, b, x))


@rare
def _factor_by_rows(plan: Plan, values: int, shift: int, factors: int, work: int) -> int:
    """The factors of real values at their places, in loops."""
    n = plan.diagonal.shape[0]
    lu = floats_at(factors, plan.column.shape[0])
    return int(_factor_rows(plan, floats_at(values, plan.size_values), floats_at(shift, n), lu, floats_at(work, n)))


@rare
def _solve_by_rows(plan: Plan, factors: int, b: int, x: int, work: int) -> int:
    """The solution for real numbers at their places, in loops."""
    n = plan.diagonal.shape[0]
    lu = floats_at(factors, plan.column.shape[0])
    _solve_rows(plan, lu, floats_at(b, n), floats_at(x, n), floats_at(work, n))
    return 1


@compiled
def factor_in_loops(plan, values, shift, lu, work):
    """The same for any size and for complex numbers; ``work`` has the type of the factors."""
    if plan.large > 0:
        return by_blocks.factor_in_loops(plan.blocks, values, shift, lu)
    return _factor_rows(plan, values, shift, lu, work)


@compiled
def _factor_rows(plan, values, shift, lu, work):
    """Row by row, each reduced by those before it."""
    start, column, diagonal, order = plan.start, plan.column, plan.diagonal, plan.order
    a_start, a_place, a_column = plan.a_start, plan.a_place, plan.a_column
    for i in range(diagonal.shape[0]):
        first, middle, last = start[i], diagonal[i], start[i + 1]
        for k in range(first, last):
            work[column[k]] = 0.0
        work[i] = shift[order[i]]
        for k in range(a_start[i], a_start[i + 1]):
            work[a_column[k]] += values[a_place[k]]
        for k in range(first, middle):
            j = column[k]
            value = work[j]
            lu[k] = value * lu[diagonal[j]]
            if value != 0.0:  # (rows that are not in force are zeros within the pattern)
                for s in range(diagonal[j] + 1, start[j + 1]):
                    work[column[s]] = less_product(work[column[s]], value, lu[s])
        pivot = work[i]
        if pivot == 0.0 or not np.isfinite(pivot):
            return False
        reciprocal = 1.0 / pivot
        lu[middle] = reciprocal
        for k in range(middle + 1, last):
            lu[k] = work[column[k]] * reciprocal
    return True


@compiled
def solve_in_loops(plan, lu, b, x, work):
    """X = K^-1 b with the factors at hand (x may be b)."""
    if plan.large > 0:
        by_blocks.solve_in_loops(plan.blocks, lu, b, x)
        return
    _solve_rows(plan, lu, b, x, work)


@compiled
def _solve_rows(plan, lu, b, x, work):
    """Row by row, forward and backward."""
    start, column, diagonal, order = plan.start, plan.column, plan.diagonal, plan.order
    n = diagonal.shape[0]
    for i in range(n):
        total = b[order[i]]
        for k in range(start[i], diagonal[i]):
            total = less_product(total, lu[k], work[column[k]])
        work[i] = total
    for i in range(n - 1, -1, -1):
        total = work[i] * lu[diagonal[i]]
        for k in range(diagonal[i] + 1, start[i + 1]):
            total = less_product(total, lu[k], work[column[k]])
        work[i] = total
        x[order[i]] = total


@compiled
def solve_transposed(plan, lu, b, x, work):
    """X = K^-T b with the factors at hand (x may be b): K = L D U, so U^T y = b and L^T x = D^-1 y."""
    if plan.large > 0:
        by_blocks.solve_transposed(plan.blocks, lu, b, x)
        return
    start, column, diagonal, order = plan.start, plan.column, plan.diagonal, plan.order
    n = diagonal.shape[0]
    for i in range(n):
        work[i] = b[order[i]]
    for i in range(n):
        for k in range(diagonal[i] + 1, start[i + 1]):
            work[column[k]] = less_product(work[column[k]], lu[k], work[i])
        work[i] *= lu[diagonal[i]]
    for i in range(n - 1, -1, -1):
        for k in range(start[i], diagonal[i]):
            work[column[k]] = less_product(work[column[k]], lu[k], work[i])
        x[order[i]] = work[i]


@compiled
def subtract_product(plan, values, x, r):
    """R -= K x with the true matrix, without the shift."""
    row, column, place = plan.e_row, plan.e_column, plan.e_place
    for k in range(row.shape[0]):
        r[row[k]] = less_product(r[row[k]], values[place[k]], x[column[k]])


@compiled
def subtract_transposed_product(plan, values, x, r):
    """R -= K^T x with the true matrix, without the shift."""
    row, column, place = plan.e_row, plan.e_column, plan.e_place
    for k in range(row.shape[0]):
        r[column[k]] = less_product(r[column[k]], values[place[k]], x[row[k]])
