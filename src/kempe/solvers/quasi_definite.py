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

import numpy as np

from kempe.kernels.call import call_kernel
from kempe.kernels.linear import count_operations, factor_kernel, solve_kernel
from kempe.solvers.jit import allocating, compiled
from kempe.solvers.pack import pack, part

# parts of a plan: the pattern of the permuted factors row by row, and where the matrix entries come from
ORDER = 0  # row k of the permuted matrix is row ORDER[k] of the original
START, COLUMN, DIAGONAL = 1, 2, 3  # row k of LU is START[k]:START[k + 1]; DIAGONAL is the place of its diagonal
A_START, A_PLACE, A_COLUMN = 4, 5, 6  # entries of row k of the permuted matrix: places in the value array, columns
E_ROW, E_COLUMN, E_PLACE = 7, 8, 9  # all entries of the original matrix, for products
KERNELS = 10  # addresses of machine code that factors and solves this pattern, or zeros; then how many values there are

#: Up to so many multiplications a factorisation is written out as machine code.
WRITTEN_OUT = 1200


def plan(n: int, rows: np.ndarray, columns: np.ndarray, places: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Find the fill of a matrix of symmetric pattern in an order; ``places`` says where its values are found."""
    back = np.argsort(order)
    r, c = back[rows], back[columns]
    sort = np.lexsort((c, r))
    a_start = np.searchsorted(r[sort], np.arange(n + 1)).astype(np.int64)
    start, column = _fill(n, a_start, c[sort].astype(np.int64))
    diagonal = np.array([start[i] + np.searchsorted(column[start[i] : start[i + 1]], i) for i in range(n)])
    size_values = int(places.max(initial=-1)) + 1
    kernels = np.array([0, 0, size_values])
    if count_operations(start, diagonal, column) <= WRITTEN_OUT:
        entries = list(zip(r[sort].tolist(), c[sort].tolist(), places[sort].tolist(), strict=True))
        kernels[0] = factor_kernel(start, column, diagonal, entries, order).address
        kernels[1] = solve_kernel(start, column, diagonal, order).address
    return pack([order, start, column, diagonal, a_start, places[sort], c[sort], rows, columns, places, kernels])


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


@allocating
def _fill(n, a_start, a_column):
    """The pattern of L + U, row by row, by the elimination tree."""
    parent = np.full(n, -1, dtype=np.int64)
    seen = np.full(n, -1, dtype=np.int64)
    count = np.ones(n, dtype=np.int64)
    for i in range(n):
        seen[i] = i
        for k in range(a_start[i], a_start[i + 1]):
            j = a_column[k]
            while j < i and seen[j] != i:
                if parent[j] == -1:
                    parent[j] = i
                count[i] += 1  # the entry (i, j)
                count[j] += 1  # and its mirror image (j, i)
                seen[j] = i
                j = parent[j]
    start = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        start[i + 1] = start[i] + count[i]
    column = np.zeros(start[n], dtype=np.int64)
    filled = start[:n].copy()
    lower = np.zeros(n, dtype=np.int64)
    seen[:] = -1
    for i in range(n):  # rows in order: the mirror images of earlier rows have been entered by then
        seen[i] = i
        size = 0
        for k in range(a_start[i], a_start[i + 1]):
            j = a_column[k]
            while j < i and seen[j] != i:
                lower[size] = j
                size += 1
                seen[j] = i
                j = parent[j]
        found = np.sort(lower[:size])
        for k in range(size):
            column[filled[i]] = found[k]
            filled[i] += 1
        column[filled[i]] = i
        filled[i] += 1
        for k in range(size):
            # the place of (j, i) is behind the diagonal of row j, which is complete to its left
            column[filled[found[k]]] = i
            filled[found[k]] += 1
    return start, column


def size(packed: np.ndarray) -> int:
    """How much memory it takes: the factors, then a right-hand side, values and shifts for machine code."""
    factors, n = int(packed[COLUMN + 1] - packed[COLUMN]), int(packed[DIAGONAL + 1] - packed[DIAGONAL])
    return factors + 2 * n + int(packed[packed[KERNELS] + 2])


@compiled
def factor(plan, values, shift, lu, work):
    """Factor; diagonals are stored as reciprocals. False when a pivot vanished or is not finite."""
    kernels, diagonal = part(plan, KERNELS), part(plan, DIAGONAL)
    if kernels[0] == 0:
        return factor_in_loops(plan, values, shift, lu, work)
    n, at = diagonal.shape[0], plan[COLUMN + 1] - plan[COLUMN] + diagonal.shape[0]
    for k in range(kernels[2]):
        lu[at + k] = values[k]
    for i in range(n):
        lu[at + kernels[2] + i] = shift[i]
    call_kernel(kernels[0], lu, at, lu, 0)
    for i in range(n):
        pivot = lu[diagonal[i]]
        if pivot == 0.0 or not np.isfinite(pivot):
            return False
    return True


@compiled
def solve(plan, lu, b, x, work):
    """X = K^-1 b with the factors at hand (x may be b)."""
    kernels, n = part(plan, KERNELS), plan[DIAGONAL + 1] - plan[DIAGONAL]
    if kernels[1] == 0:
        solve_in_loops(plan, lu, b, x, work)
        return
    at = plan[COLUMN + 1] - plan[COLUMN]
    for i in range(n):
        lu[at + i] = b[i]
    call_kernel(kernels[1], lu, 0, x, 0)


@compiled
def factor_in_loops(plan, values, shift, lu, work):
    """Factor; diagonals are stored as reciprocals. False when a pivot vanished or is not finite."""
    start, column, diagonal = part(plan, START), part(plan, COLUMN), part(plan, DIAGONAL)
    order = part(plan, ORDER)
    a_start, a_place, a_column = part(plan, A_START), part(plan, A_PLACE), part(plan, A_COLUMN)
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
    start, column, diagonal = part(plan, START), part(plan, COLUMN), part(plan, DIAGONAL)
    order = part(plan, ORDER)
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
def subtract_product(plan, values, x, r):
    """R -= K x with the true matrix, without the shift."""
    row, column, place = part(plan, E_ROW), part(plan, E_COLUMN), part(plan, E_PLACE)
    for k in range(row.shape[0]):
        r[row[k]] -= values[place[k]] * x[column[k]]
