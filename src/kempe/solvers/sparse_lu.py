"""LU factorisation on a fixed pattern: order and pivots are chosen once, numbers are refactored many times.

Order and pivots are chosen at one matrix, for least fill (in large ones by SciPy's SuperLU); the fill is found once;
``factor`` then redoes only the arithmetic. Where the chosen pivots have become poor (a multiplier above ``GROWTH``: a
crank that turns makes each of its entries vanish twice per turn), a small matrix is factored once with full columns and
fresh pivots; for a large one the caller is told and plans again.
"""

from __future__ import annotations

import numpy as np

from kempe.kernels.call import less_product
from kempe.solvers.jit import compiled, entry
from kempe.solvers.pack import pack, part

GROWTH = 1e5

# parts of a plan: the pattern of L and U of the permuted matrix, row by row, and where its entries come from
ROW_PERM, COLUMN_PERM = 0, 1  # row k of the permuted matrix is row ROW_PERM[k] of the original
START, COLUMN, DIAGONAL = 2, 3, 4  # row k of LU is START[k]:START[k + 1]; DIAGONAL is the place of its diagonal
A_START, A_PLACE, A_COLUMN = 5, 6, 7  # entries of row k of the permuted matrix: places in the value array, columns
PARITY = 8  # the sign of the two permutations together

#: Up to this size poor pivots are answered with a full factorisation.
FULL = 64
#: A pivot is at least this share of the largest entry in its column, where it is chosen.
LARGE = 0.1
SINGULAR = "the matrix is singular whatever its entries"


def plan_lu(
    n: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, places: np.ndarray | None = None
) -> np.ndarray:
    """Choose order and pivots for a square sparse matrix, and find the fill; returns a packed plan.

    ``places`` says where each entry is found in the value array given to ``factor`` (default: in this order).
    """
    row_perm, column_perm = _orders(n, rows, columns, values)
    row_of, column_of = np.argsort(row_perm), np.argsort(column_perm)
    r, c = row_of[rows], column_of[columns]
    order = np.lexsort((c, r))
    a_start = np.searchsorted(r[order], np.arange(n + 1))
    pattern: list[list[int]] = []
    for i in range(n):
        row = set(c[order[a_start[i] : a_start[i + 1]]].tolist()) | {i}
        done: set[int] = set()
        while True:  # rows of U that this row is reduced by, from the left
            todo = [k for k in row if k < i and k not in done]
            if not todo:
                break
            k = min(todo)
            done.add(k)
            row.update(j for j in pattern[k] if j > k)
        pattern.append(sorted(row))
    start = np.cumsum([0, *map(len, pattern)])
    column = np.array([j for row in pattern for j in row], dtype=np.int64)
    diagonal = np.array([start[i] + pattern[i].index(i) for i in range(n)], dtype=np.int64)
    source = order if places is None else places[order]
    parity = np.array([_parity(row_perm) * _parity(column_perm)])
    return pack([row_perm, column_perm, start, column, diagonal, a_start, source, c[order], parity])


def _parity(permutation: np.ndarray) -> int:
    """The sign of a permutation."""
    seen, sign = np.zeros(len(permutation), dtype=bool), 1
    for first in range(len(permutation)):
        length, k = 0, first
        while not seen[k]:
            seen[k] = True
            k = int(permutation[k])
            length += 1
        if length and length % 2 == 0:
            sign = -sign
    return sign


def size_lu(plan: np.ndarray) -> int:
    """How many numbers a factorisation takes: L and U, then a full matrix, its pivots, and which of them holds."""
    n, fill = int(plan[DIAGONAL + 1] - plan[DIAGONAL]), int(plan[COLUMN + 1] - plan[COLUMN])
    return fill + (n * n + n if n <= FULL else 0) + 1


def _orders(n: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which row and column comes when."""
    # A singular matrix has an order too: a small random shift of its entries gives something to pivot on.
    shift = 1e-10 * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    shifted = values + np.random.default_rng(0).uniform(0.5, 1.5, len(values)) * shift
    return _sparsest(n, rows, columns, shifted) if n <= FULL else _superlu(n, rows, columns, shifted)


def _sparsest(n: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Markowitz's order: the pivot that makes least fill comes next, if it is not small in its column.

    In mechanisms these are the ones and minus ones with which coordinates enter the equations of joints: they stay
    good pivots wherever the mechanism moves.
    """
    A, there = np.zeros((n, n)), np.zeros((n, n), dtype=bool)
    np.add.at(A, (rows, columns), values)
    there[rows, columns] = True
    order, column_order = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for k in range(n):
        size = np.abs(A)
        good = there & (size >= LARGE * size.max(axis=0)) & (size > 0.0)
        if not good.any():
            raise np.linalg.LinAlgError(SINGULAR)
        fill = np.outer(there.sum(axis=1) - 1.0, there.sum(axis=0) - 1.0)
        i, j = np.unravel_index(np.argmin(np.where(good, fill, np.inf)), (n, n))
        order[k], column_order[k] = i, j
        others = there[:, j].copy()
        others[i] = False
        there[others] |= there[i]
        A[others] -= np.outer(A[others, j] / A[i, j], A[i])
        A[i], A[:, j], there[i], there[:, j] = 0.0, 0.0, False, False
    return order, column_order


def _superlu(n: int, rows: np.ndarray, columns: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu

    try:
        lu = splu(csc_matrix((values, (rows, columns)), shape=(n, n)), permc_spec="COLAMD", diag_pivot_thresh=LARGE)
    except RuntimeError as error:
        raise np.linalg.LinAlgError(SINGULAR) from error
    return np.argsort(lu.perm_r), lu.perm_c.argsort()


@entry
def factor(plan, values, lu, work):
    """Refactor; returns the largest multiplier (above GROWTH: plan again; inf: singular)."""
    growth = _factor_sparse(plan, values, lu, work)
    lu[-1] = 0.0
    n = plan[DIAGONAL + 1] - plan[DIAGONAL]
    if growth < GROWTH or n > FULL:
        return growth
    lu[-1] = 1.0
    return _factor_full(plan, values, lu)


@compiled
def _factor_sparse(plan, values, lu, work):
    start, column, diagonal = part(plan, START), part(plan, COLUMN), part(plan, DIAGONAL)
    n = diagonal.shape[0]
    a_start, a_place, a_column = part(plan, A_START), part(plan, A_PLACE), part(plan, A_COLUMN)
    largest = 0.0
    for i in range(n):
        for k in range(start[i], start[i + 1]):
            work[column[k]] = 0.0
        for k in range(a_start[i], a_start[i + 1]):
            work[a_column[k]] += values[a_place[k]]
        for k in range(start[i], diagonal[i]):
            j = column[k]
            value = work[j]
            lu[k] = value * lu[diagonal[j]]  # the diagonal holds reciprocals
            if value != 0.0:
                largest = max(largest, abs(lu[k]))
                for s in range(diagonal[j] + 1, start[j + 1]):
                    work[column[s]] = less_product(work[column[s]], value, lu[s])
        pivot = work[i]
        if pivot == 0.0 or not np.isfinite(pivot):
            return np.inf
        reciprocal = 1.0 / pivot
        lu[diagonal[i]] = reciprocal
        for k in range(diagonal[i] + 1, start[i + 1]):
            lu[k] = work[column[k]] * reciprocal
    return largest


@compiled
def _factor_full(plan, values, lu):
    """Row by row with partial pivoting, of the permuted matrix, behind the sparse factors in ``lu``."""
    n, at = plan[DIAGONAL + 1] - plan[DIAGONAL], plan[COLUMN + 1] - plan[COLUMN]
    a_start, a_place, a_column = part(plan, A_START), part(plan, A_PLACE), part(plan, A_COLUMN)
    A, pivots = lu[at : at + n * n].reshape((n, n)), lu[at + n * n : at + n * n + n]
    for i in range(n):
        for j in range(n):
            A[i, j] = 0.0
        for k in range(a_start[i], a_start[i + 1]):
            A[i, a_column[k]] += values[a_place[k]]
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[p, k]):
                p = i
        pivots[k] = p
        if A[p, k] == 0.0 or not np.isfinite(A[p, k]):
            return np.inf
        for j in range(n):
            A[k, j], A[p, j] = A[p, j], A[k, j]
        A[k, k] = 1.0 / A[k, k]
        for i in range(k + 1, n):
            A[i, k] *= A[k, k]
            for j in range(k + 1, n):
                A[i, j] -= A[i, k] * A[k, j]
    return 1.0


@compiled
def _solve_full(plan, lu, work, transposed):
    """Solve with the full factors, in place in ``work`` (permuted rows in, permuted columns out, or the reverse)."""
    n, at = plan[DIAGONAL + 1] - plan[DIAGONAL], plan[COLUMN + 1] - plan[COLUMN]
    A, pivots = lu[at : at + n * n].reshape((n, n)), lu[at + n * n : at + n * n + n]
    if transposed:
        for i in range(n):
            for j in range(i):
                work[i] -= A[j, i] * work[j]
            work[i] *= A[i, i]
        for i in range(n - 1, -1, -1):
            for j in range(i + 1, n):
                work[i] -= A[j, i] * work[j]
    for step in range(n):
        k = n - 1 - step if transposed else step
        p = int(pivots[k])
        work[k], work[p] = work[p], work[k]
    if not transposed:
        for i in range(n):
            for j in range(i):
                work[i] -= A[i, j] * work[j]
        for i in range(n - 1, -1, -1):
            for j in range(i + 1, n):
                work[i] -= A[i, j] * work[j]
            work[i] *= A[i, i]


@entry
def solve(plan, lu, b, x, work):
    """X = A^-1 b."""
    start, column, diagonal = part(plan, START), part(plan, COLUMN), part(plan, DIAGONAL)
    row_perm, column_perm = part(plan, ROW_PERM), part(plan, COLUMN_PERM)
    n = diagonal.shape[0]
    if lu[-1] == 1.0:
        for i in range(n):
            work[i] = b[row_perm[i]]
        _solve_full(plan, lu, work, False)
    else:
        for i in range(n):
            total = b[row_perm[i]]
            for k in range(start[i], diagonal[i]):
                total = less_product(total, lu[k], work[column[k]])
            work[i] = total
        for i in range(n - 1, -1, -1):
            total = work[i] * lu[diagonal[i]]
            for k in range(diagonal[i] + 1, start[i + 1]):
                total = less_product(total, lu[k], work[column[k]])
            work[i] = total
    for i in range(n):
        x[column_perm[i]] = work[i]


@entry
def solve_transposed(plan, lu, b, x, work):
    """X = A^-T b."""
    start, column, diagonal = part(plan, START), part(plan, COLUMN), part(plan, DIAGONAL)
    row_perm, column_perm = part(plan, ROW_PERM), part(plan, COLUMN_PERM)
    n = diagonal.shape[0]
    for i in range(n):
        work[i] = b[column_perm[i]]
    if lu[-1] == 1.0:
        _solve_full(plan, lu, work, True)
    else:
        for i in range(n):
            total = work[i]
            for k in range(diagonal[i] + 1, start[i + 1]):
                work[column[k]] = less_product(work[column[k]], lu[k], total)
            work[i] = total * lu[diagonal[i]]
        for i in range(n - 1, -1, -1):
            total = work[i]
            for k in range(start[i], diagonal[i]):
                work[column[k]] = less_product(work[column[k]], lu[k], total)
    for i in range(n):
        x[row_perm[i]] = work[i]


@entry
def determinant_sign(plan, lu):
    """The sign of the determinant."""
    diagonal = part(plan, DIAGONAL)
    n, at = diagonal.shape[0], plan[COLUMN + 1] - plan[COLUMN]
    sign = float(part(plan, PARITY)[0])
    for i in range(n):
        if lu[-1] == 1.0:
            if lu[at + i * n + i] < 0.0:
                sign = -sign
            if lu[at + n * n + i] != i:
                sign = -sign
        elif lu[diagonal[i]] < 0.0:
            sign = -sign
    return sign
