"""Programs written out whole: each kernel call at its place, what several need computed once, factors and solutions.

Whatever ``run`` does with a program in a loop over its calls, machine code made here does in one go, operation by
operation the same: digits do not depend on whether a program is fused. So it may happen at any time, while steps run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import casadi as ca
import numpy as np

from kempe.kernels.linear import Pattern, eliminated, factored, solved, solved_transposed
from kempe.kernels.sheet import Sheet
from kempe.solvers.directions import Directions
from kempe.solvers.program import ROW_WEIGHT, STATE, WEIGHTS, Kernels, Program


def outputs_of(sheet: Sheet, program: Program, given: Mapping[int, int] | None = None) -> list[int]:
    """The outputs of a program whose x is the sheet's first input, but for places whose values are given."""
    known = given or {}
    found_at = dict(zip(program.gather_to.tolist(), program.gather_from.tolist(), strict=True))
    held, made = program.kernels.held, list[int]()

    def reading(at: int) -> Callable[[int], int]:
        def read(place: int) -> int:
            where = found_at.get(at + place, at + place)
            return known[where] if where in known else sheet.read(0, where)

        return read

    for number, at in zip(program.kernel.tolist(), program.x_at.tolist(), strict=True):
        kernel = held[number]
        made += sheet.put_in(kernel.steps, reading(at), kernel.n_out)
    return sheet.sum_at(program.size_out, [made[k] for k in program.source.tolist()], program.target.tolist())


def can_be_fused(program: Program) -> bool:
    """Whether all kernels of a program are straight: none has a loop over columns."""
    return straight(program.kernels, program.kernel)


def straight(kernels: Kernels, numbers: np.ndarray) -> bool:
    """Whether none of these kernels has a loop."""
    return all(kernels.held[number].columns is None for number in set(numbers.tolist()))


def whole(program: Program) -> Sheet:
    """A program: of x its outputs."""
    sheet = Sheet()
    _write(sheet, 1, outputs_of(sheet, program))
    return sheet


def with_factors(program: Program, first: int, pattern: Pattern) -> Sheet:
    """A program whose outputs from ``first`` on are values of a matrix: of x and shift its outputs and the factors."""
    sheet = Sheet()
    out = outputs_of(sheet, program)
    _write(sheet, 2, out)
    _write(sheet, 3, factored(sheet, pattern, out[first:], _inputs(sheet, 1, len(pattern.order))))
    return sheet


def accelerating(program: Program, n: int, m: int, pattern: Pattern) -> Sheet:
    """The explicit program, solved: of x and shift accelerations and multipliers, and a number where that went well."""
    sheet = Sheet()
    out = outputs_of(sheet, program)
    shift = _inputs(sheet, 1, n + m)
    lu, pivots = eliminated(sheet, pattern, [{i: shift[k]} for i, k in enumerate(pattern.order)], out[n + 3 * m :])
    right = [*(sheet.negate(f) for f in out[:n]), *out[n + 2 * m : n + 3 * m]]
    _write(sheet, 2, solved(sheet, pattern, lu, right))
    # a reciprocal that is not finite, or zero, times what it is of is no number
    unity = [sheet.multiply(lu[k], pivot) for k, pivot in zip(pattern.diagonal, pivots, strict=True)]
    sheet.write(3, 0, sheet.total(unity))
    return sheet


def iterating(program: Program, n: int, m: int, pattern: Pattern) -> Sheet:
    """An iteration of Newton's method: of x and factors the next x, and with units how far it went and was off before.

    The right-hand side is -[f, weight Phi]; accelerations, rates and coordinates change by the solution, weighted as in
    the tangents.
    """
    sheet = Sheet()
    out, weight = outputs_of(sheet, program), sheet.read(0, ROW_WEIGHT)
    right = [sheet.negate(f) for f in out[:n]] + [sheet.negate(sheet.multiply(weight, phi)) for phi in out[n : n + m]]
    found = solved(sheet, pattern, _inputs(sheet, 1, len(pattern.column)), right)
    units, moved = _inputs(sheet, 2, n + m), list[int]()
    to_v, to_q = sheet.read(0, WEIGHTS + 1), sheet.read(0, WEIGHTS + 2)
    for i in range(n):
        for at, change in (
            (STATE + i, sheet.multiply(to_q, found[i])),
            (STATE + n + i, sheet.multiply(to_v, found[i])),
            (STATE + 2 * n + i, found[i]),
        ):
            sheet.write(0, at, sheet.add(sheet.read(0, at), change))
        moved.append(sheet.multiply(sheet.size(found[i]), units[i]))
    for k in range(m):
        at = STATE + 3 * n + k
        sheet.write(0, at, sheet.add(sheet.read(0, at), found[n + k]))
    off = [sheet.multiply(sheet.size(out[n + k]), units[n + k]) for k in range(m)]
    _write(sheet, 3, [sheet.multiply(to_q, sheet.largest(moved)), sheet.largest(off)])
    return sheet


def projecting(program: Program, n: int, m: int, pattern: Pattern) -> Sheet:
    """Of x and factors Phi, and the solution for [0, -Phi]."""
    sheet = Sheet()
    phi, zero = outputs_of(sheet, program), sheet.constant(0.0)
    _write(sheet, 2, phi)
    right = [zero] * n + [sheet.negate(value) for value in phi]
    _write(sheet, 3, solved(sheet, pattern, _inputs(sheet, 1, len(pattern.column)), right))
    return sheet


Entries = tuple[np.ndarray, np.ndarray, np.ndarray]


def refining(pattern: Pattern, entries: Entries, size: int, transposed: bool = False) -> Sheet:
    """Of values, factors, a right-hand side and a solution: what the solution is to be changed by."""
    sheet, N = Sheet(), len(pattern.order)
    values, lu, right, found = (_inputs(sheet, k, count) for k, count in enumerate((size, len(pattern.column), N, N)))
    for i, j, place in zip(*(array.tolist() for array in entries), strict=True):
        row, column = (j, i) if transposed else (i, j)
        right[row] = sheet.reduce(right[row], values[place], found[column])
    change = solved_transposed if transposed else solved
    _write(sheet, 4, change(sheet, pattern, lu, right, pattern.order))
    return sheet


def pushing(d: Directions) -> Sheet:
    """Of x and a direction what all outputs change by."""
    sheet, made = Sheet(), list[int]()
    for k, number in enumerate(d.push.tolist()):
        found_at, target = _places(d, k)
        inputs = [sheet.read(vector, at) for vector in (0, 1) for at in found_at]
        made += sheet.put_in(d.kernels.held[number].steps, inputs.__getitem__, len(target))
    _write(sheet, 2, sheet.sum_at(d.size, made, d.target.tolist()))
    return sheet


def pulling(d: Directions) -> Sheet:
    """Of x, weights of all outputs and xbar, to which it is added, what the weighted outputs change by.

    A call whose weights are all zero adds nothing, whatever its kernel makes of them.
    """
    sheet, sums = Sheet(), dict[int, int]()
    zero = sheet.constant(0.0)
    for k, number in enumerate(d.pull.tolist()):
        found_at, target = _places(d, k)
        weights = [sheet.read(1, at) for at in target]
        some = _any(sheet, [sheet.apply(ca.OP_NE, weight, zero) for weight in weights])
        inputs = [*(sheet.read(0, at) for at in found_at), *weights]
        made = sheet.put_in(d.kernels.held[number].steps, inputs.__getitem__, len(found_at))
        for at, value in zip(found_at, made, strict=True):
            if value != zero:
                before = sums[at] if at in sums else sheet.read(2, at)
                sums[at] = sheet.add(before, sheet.apply(ca.OP_IF_ELSE_ZERO, some, value))
    for at, value in sums.items():
        sheet.write(2, at, value)
    return sheet


def _places(d: Directions, k: int) -> tuple[list[int], list[int]]:
    """Where a call finds its inputs in x, and where its outputs go."""
    return d.found_at[d.start[k] : d.start[k + 1]].tolist(), d.target[d.first[k] : d.first[k + 1]].tolist()


def _any(sheet: Sheet, conditions: Sequence[int]) -> int:
    """Whether one of the conditions holds."""
    found = conditions[0] if conditions else sheet.constant(0.0)
    for condition in conditions[1:]:
        found = sheet.apply(ca.OP_OR, found, condition)
    return found


def _inputs(sheet: Sheet, vector: int, count: int) -> list[int]:
    return [sheet.read(vector, k) for k in range(count)]


def _write(sheet: Sheet, vector: int, values: list[int]) -> None:
    for k, value in enumerate(values):
        sheet.write(vector, k, value)
