"""Factorisation and solution of a sparse system as straight machine code, without loops and indices.

For a few dozen unknowns the bookkeeping of a sparse factorisation takes longer than its arithmetic; written out it
runs three to five times faster. Each operation is that of the loops in ``solvers.quasi_definite``, in the same order.

The factors are L D U with ones on the diagonals of L and of U, and the reciprocals of D: a processor waits for one
operation, not for two, from each unknown to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from kempe.kernels.sheet import Sheet


class Pattern(NamedTuple):
    """The pattern of the factors, row by row, of a permuted matrix; and where its entries come from."""

    start: list[int]
    column: list[int]
    diagonal: list[int]
    order: list[int]
    entries: list[tuple[int, int, int]]  # row and column of the permuted matrix, place among the values


def count_operations(start: np.ndarray, diagonal: np.ndarray, column: np.ndarray) -> int:
    """How many multiplications a factorisation takes."""
    upper = start[1:] - diagonal - 1
    lower = [column[start[i] : diagonal[i]] for i in range(len(diagonal))]
    return int(sum(upper[row].sum() + len(row) for row in lower))


def factored(sheet: Sheet, pattern: Pattern, values: Sequence[int], shift: Sequence[int]) -> list[int]:
    """The factors of a matrix, their diagonal as reciprocals; ``shift`` is in the original order."""
    rows: list[dict[int, int]] = [{i: shift[k]} for i, k in enumerate(pattern.order)]
    return eliminated(sheet, pattern, rows, values)[0]


def eliminated(
    sheet: Sheet, pattern: Pattern, rows: list[dict[int, int]], values: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The factors of a matrix whose entries are added to what ``rows`` hold, and its pivots."""
    start, column, diagonal, _, entries = pattern
    n, zero = len(diagonal), sheet.constant(0.0)
    for i, j, place in entries:
        rows[i][j] = sheet.add(rows[i][j], values[place]) if j in rows[i] else values[place]
    one, pivots = sheet.constant(1.0), list[int]()
    for i in range(n):
        row = rows[i]
        for j in column[start[i] : diagonal[i]]:
            if j not in row:
                continue
            value, row[j] = row[j], sheet.multiply(row[j], rows[j][j])
            for k in column[diagonal[j] + 1 : start[j + 1]]:
                if k in rows[j]:
                    row[k] = sheet.reduce(row.get(k, zero), value, rows[j][k])
        pivots.append(row[i])
        row[i] = sheet.apply(ca.OP_DIV, one, row[i])
        for k in column[diagonal[i] + 1 : start[i + 1]]:
            if k in row:
                row[k] = sheet.multiply(row[k], row[i])
        for value in row.values():
            sheet.want(value)
    return [rows[i].get(j, zero) for i in range(n) for j in column[start[i] : start[i + 1]]], pivots


def solved(
    sheet: Sheet, pattern: Pattern, lu: Sequence[int], b: Sequence[int], into: Sequence[int] | None = None
) -> list[int]:
    """The solution for a right-hand side, both in the original order; ``into`` is that of columns where they differ."""
    start, column, diagonal, order, _ = pattern
    n, zero = len(diagonal), sheet.constant(0.0)

    def reduced(total: int, places: range) -> int:
        for k in places:
            if lu[k] != zero and work[column[k]] != zero:
                total = sheet.reduce(total, lu[k], work[column[k]])
        return total

    work = [-1] * n
    for i in range(n):
        work[i] = sheet.want(reduced(b[order[i]], range(start[i], diagonal[i])))
    for i in range(n - 1, -1, -1):
        total = work[i] if work[i] == zero else sheet.multiply(work[i], lu[diagonal[i]])
        work[i] = sheet.want(reduced(total, range(diagonal[i] + 1, start[i + 1])))
    return _placed(work, order if into is None else into)


def _placed(values: Sequence[int], order: Sequence[int]) -> list[int]:
    found = [-1] * len(values)
    for value, k in zip(values, order, strict=True):
        found[k] = value
    return found


def solved_transposed(
    sheet: Sheet, pattern: Pattern, lu: Sequence[int], b: Sequence[int], into: Sequence[int]
) -> list[int]:
    """The solution with the transposed matrix, whose columns are in the order ``into``."""
    start, column, diagonal, order, _ = pattern
    n, zero = len(diagonal), sheet.constant(0.0)
    work = [b[k] for k in into]

    def reduce(places: range, by: int) -> None:
        for k in places:
            if lu[k] != zero:
                work[column[k]] = sheet.reduce(work[column[k]], lu[k], by)

    for i in range(n):
        reduce(range(diagonal[i] + 1, start[i + 1]), work[i])
        work[i] = sheet.multiply(work[i], lu[diagonal[i]])
    for i in range(n - 1, -1, -1):
        reduce(range(start[i], diagonal[i]), work[i])
    return _placed(work, order)


def factor_sheet(pattern: Pattern) -> Sheet:
    """Of values and shift: the factors."""
    sheet = Sheet()
    size = 1 + max((place for _, _, place in pattern.entries), default=-1)
    values = [sheet.read(0, k) for k in range(size)]
    shift = [sheet.read(1, k) for k in range(len(pattern.order))]
    for k, value in enumerate(factored(sheet, pattern, values, shift)):
        sheet.write(2, k, value)
    return sheet


def solve_sheet(pattern: Pattern, transposed: bool = False) -> Sheet:
    """Of factors and a right-hand side: the solution, with the transposed matrix where that is asked for."""
    sheet = Sheet()
    lu = [sheet.read(0, k) for k in range(len(pattern.column))]
    b = [sheet.read(1, k) for k in range(len(pattern.order))]
    solution = solved_transposed if transposed else solved
    for k, value in enumerate(solution(sheet, pattern, lu, b, pattern.order)):
        sheet.write(2, k, value)
    return sheet
