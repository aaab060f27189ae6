"""The linear system of every formulation: [Mhat, Phi_q^T; Phi_q, -C], factored without pivoting on a fixed pattern.

A quasi-definite matrix (the upper block positive definite, C positive) can be factored in any order. The order is
chosen once per model for little fill, each multiplier behind the coordinates it needs, and the fill is found once;
``factor`` then only does arithmetic. Mhat need not be symmetric, its pattern is. C and a small addition to
coordinates without inertia are a *shift* of the diagonal: large enough to factor, small enough that one or two steps
of refinement with the true matrix take its effect away (this is the iteration of the augmented Lagrangian method).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import casadi as ca
import numpy as np

from kempe.kernels.call import call_kernel
from kempe.kernels.linear import count_operations, factor_kernel, solve_kernel
from kempe.solvers.frames import Count, Frame, Ints
from kempe.solvers.jit import compiled
from kempe.solvers.program import Kernels

#: Up to so many multiplications a factorisation is written out as machine code.
WRITTEN_OUT = 1200


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
    size_values: Count


def plan(
    n: int, rows: np.ndarray, columns: np.ndarray, places: np.ndarray, order: np.ndarray, kernels: Kernels
) -> Plan:
    """Find the fill of a matrix of symmetric pattern in an order; ``places`` says where its values are found."""
    back = np.argsort(order)
    r, c = back[rows], back[columns]
    sort = np.lexsort((c, r))
    a_start = np.searchsorted(r[sort], np.arange(n + 1)).astype(np.int64)
    start, column = _fill(n, r, c)
    diagonal = np.array([start[i] + np.searchsorted(column[start[i] : start[i + 1]], i) for i in range(n)], np.int64)
    written_out = np.zeros(3, dtype=np.int64)
    if count_operations(start, diagonal, column) <= WRITTEN_OUT:
        entries = list(zip(r[sort].tolist(), c[sort].tolist(), places[sort].tolist(), strict=True))
        written_out[:] = [
            1,
            kernels.number(factor_kernel(start, column, diagonal, entries, order)),
            kernels.number(solve_kernel(start, column, diagonal, order)),
        ]
    whole = (np.ascontiguousarray(array, dtype=np.int64) for array in (order, start, column, diagonal, a_start))
    more = (np.ascontiguousarray(a, dtype=np.int64) for a in (places[sort], c[sort], rows, columns, places))
    return Plan(kernels, *whole, *more, written_out, int(places.max(initial=-1)) + 1)


def safe_order(groups: Sequence[np.ndarray], neighbours: Sequence[set[int]], after: Sequence[set[int]]) -> np.ndarray:
    """Minimum degree on groups of unknowns, where a group waits until those in ``after`` have been eliminated.

    A multiplier that waits for the coordinates it acts on has the pivot -(Phi_q M^-1 Phi_q^T), which is safe however
    small the shift; a coordinate without inertia waits for its multipliers in turn.
    """
    size = np.array([len(g) for g in groups])
    links = [set(s) for s in neighbours]
    waiting = [set(s) for s in after]
    blocks: list[list[int]] = [[] for _ in groups]
    for k, s in enumerate(waiting):
        for j in s:
            blocks[j].append(k)
    done = np.zeros(len(groups), dtype=bool)
    heap = [(int(sum(size[j] for j in links[k])), k) for k in range(len(groups)) if not waiting[k]]
    heapq.heapify(heap)
    order: list[int] = []
    while heap:
        degree, k = heapq.heappop(heap)
        if done[k]:
            continue
        now = int(sum(size[j] for j in links[k]))
        if now > degree:
            heapq.heappush(heap, (now, k))
            continue
        done[k] = True
        order.append(k)
        around = links[k]
        for j in around:
            links[j] |= around
            links[j] -= {j, k}
            if not waiting[j]:
                heapq.heappush(heap, (int(sum(size[i] for i in links[j])), j))
        for j in blocks[k]:
            waiting[j].discard(k)
            if not waiting[j] and not done[j]:
                heapq.heappush(heap, (int(sum(size[i] for i in links[j])), j))
        links[k] = set()
    rest = [k for k in range(len(groups)) if not done[k]]
    return np.concatenate([np.zeros(0, np.int64), *(groups[k] for k in [*order, *rest])]).astype(np.int64)


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
    """How much memory it takes: the factors, then a right-hand side, values and shifts for machine code."""
    return len(plan.column) + 2 * len(plan.diagonal) + plan.size_values


@compiled
def factor(plan, values, shift, lu, work):
    """Factor; diagonals are stored as reciprocals. False when a pivot vanished or is not finite."""
    diagonal = plan.diagonal
    if plan.written_out[0] == 0:
        return factor_in_loops(plan, values, shift, lu, work)
    n, at = diagonal.shape[0], plan.column.shape[0] + diagonal.shape[0]
    for k in range(plan.size_values):
        lu[at + k] = values[k]
    for i in range(n):
        lu[at + plan.size_values + i] = shift[i]
    call_kernel(plan.kernels.address_of[plan.written_out[1]], lu, at, lu, 0)
    for i in range(n):
        pivot = lu[diagonal[i]]
        if pivot == 0.0 or not np.isfinite(pivot):
            return False
    return True


@compiled
def solve(plan, lu, b, x, work):
    """X = K^-1 b with the factors at hand (x may be b)."""
    if plan.written_out[0] == 0:
        solve_in_loops(plan, lu, b, x, work)
        return
    at = plan.column.shape[0]
    for i in range(plan.diagonal.shape[0]):
        lu[at + i] = b[i]
    call_kernel(plan.kernels.address_of[plan.written_out[2]], lu, 0, x, 0)


@compiled
def factor_in_loops(plan, values, shift, lu, work):
    """The same for any size and for complex numbers; ``work`` has the type of the factors."""
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
            multiplier = work[j] * lu[diagonal[j]]
            lu[k] = multiplier
            if multiplier != 0.0:  # (rows that are not in force are zeros within the pattern)
                for s in range(diagonal[j] + 1, start[j + 1]):
                    work[column[s]] -= multiplier * lu[s]
        for k in range(middle, last):
            lu[k] = work[column[k]]
        pivot = lu[middle]
        if pivot == 0.0 or not np.isfinite(pivot):
            return False
        lu[middle] = 1.0 / pivot
    return True


@compiled
def solve_in_loops(plan, lu, b, x, work):
    """X = K^-1 b with the factors at hand (x may be b)."""
    start, column, diagonal, order = plan.start, plan.column, plan.diagonal, plan.order
    n = diagonal.shape[0]
    for i in range(n):
        total = b[order[i]]
        for k in range(start[i], diagonal[i]):
            total -= lu[k] * work[column[k]]
        work[i] = total
    for i in range(n - 1, -1, -1):
        total = work[i]
        for k in range(diagonal[i] + 1, start[i + 1]):
            total -= lu[k] * work[column[k]]
        work[i] = total * lu[diagonal[i]]
        x[order[i]] = work[i]


@compiled
def solve_transposed(plan, lu, b, x, work):
    """X = K^-T b with the factors at hand (x may be b): K = L U, so U^T y = b and L^T x = y."""
    start, column, diagonal, order = plan.start, plan.column, plan.diagonal, plan.order
    n = diagonal.shape[0]
    for i in range(n):
        work[i] = b[order[i]]
    for i in range(n):
        work[i] *= lu[diagonal[i]]
        for k in range(diagonal[i] + 1, start[i + 1]):
            work[column[k]] -= lu[k] * work[i]
    for i in range(n - 1, -1, -1):
        for k in range(start[i], diagonal[i]):
            work[column[k]] -= lu[k] * work[i]
        x[order[i]] = work[i]


@compiled
def subtract_product(plan, values, x, r):
    """R -= K x with the true matrix, without the shift."""
    row, column, place = plan.e_row, plan.e_column, plan.e_place
    for k in range(row.shape[0]):
        r[row[k]] -= values[place[k]] * x[column[k]]
