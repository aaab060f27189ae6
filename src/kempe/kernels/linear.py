"""Factorisation and solution of a small sparse system as straight machine code, without loops and indices.

For a few dozen unknowns the bookkeeping of a sparse factorisation takes longer than its arithmetic; written out it
runs three to five times faster. The pattern is that of a plan of ``solvers.quasi_definite``.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from kempe.kernels.compiler import Kernel, compile_function


def count_operations(start: np.ndarray, diagonal: np.ndarray, column: np.ndarray) -> int:
    """How many multiplications a factorisation takes."""
    upper = start[1:] - diagonal - 1
    lower = [column[start[i] : diagonal[i]] for i in range(len(diagonal))]
    return int(sum(upper[row].sum() + len(row) for row in lower))


def factor_kernel(
    start: np.ndarray,
    column: np.ndarray,
    diagonal: np.ndarray,
    entries: Sequence[tuple[int, int, int]],
    order: np.ndarray,
) -> Kernel:
    """Machine code for [values, shift] -> factors, their diagonal as reciprocals.

    ``entries`` are (row, column, place in the values) of the permuted matrix; ``shift`` is in the original order.
    """
    n = len(diagonal)
    size = 1 + max((place for _, _, place in entries), default=-1)
    values, shift = ca.SX.sym("a", size), ca.SX.sym("s", n)
    rows: list[dict[int, ca.SX]] = [dict.fromkeys(column[start[i] : start[i + 1]].tolist(), ca.SX(0)) for i in range(n)]
    for i, j, place in entries:
        rows[i][j] = rows[i][j] + values[place]
    reciprocal: list[ca.SX] = []
    for i in range(n):
        row = rows[i]
        row[i] = row[i] + shift[int(order[i])]
        for j in column[start[i] : diagonal[i]].tolist():
            multiplier = row[j] * reciprocal[j]
            row[j] = multiplier
            for k in column[diagonal[j] + 1 : start[j + 1]].tolist():
                row[k] = row[k] - multiplier * rows[j][k]
        reciprocal.append(1 / row[i])
        row[i] = reciprocal[i]
    factors = [rows[i][j] for i in range(n) for j in column[start[i] : start[i + 1]].tolist()]
    return compile_function(ca.vertcat(values, shift), ca.vertcat(*factors))


def solve_kernel(start: np.ndarray, column: np.ndarray, diagonal: np.ndarray, order: np.ndarray) -> Kernel:
    """Machine code for [factors, right-hand side] -> solution, both in the original order."""
    n = len(diagonal)
    lu, b = ca.SX.sym("lu", len(column)), ca.SX.sym("b", n)
    y: list[ca.SX] = []
    for i in range(n):
        total = b[int(order[i])]
        for k in range(start[i], diagonal[i]):
            total = total - lu[int(k)] * y[column[k]]
        y.append(total)
    x: list[ca.SX] = [ca.SX(0)] * n
    for i in range(n - 1, -1, -1):
        total = y[i]
        for k in range(diagonal[i] + 1, start[i + 1]):
            total = total - lu[int(k)] * x[column[k]]
        x[i] = total * lu[int(diagonal[i])]
    back = np.argsort(order)
    return compile_function(ca.vertcat(lu, b), ca.vertcat(*[x[int(back[k])] for k in range(n)]))
