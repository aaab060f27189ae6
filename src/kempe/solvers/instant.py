"""One instant of a driven motion, written out: Newton's correction, velocity, acceleration and singular value at once.

Operation by operation this is what ``continuation`` does with loops, for the fixed order of a plan.
"""

from __future__ import annotations

import casadi as ca

from kempe.kernels.linear import Pattern, eliminated, solved, solved_transposed
from kempe.kernels.sheet import Sheet
from kempe.solvers import continuation as co
from kempe.solvers import sparse_lu
from kempe.solvers.fusing import outputs_of
from kempe.solvers.pack import unpacked
from kempe.solvers.program import STATE

#: The vectors of the function: the inputs of all kernels with the guess in their head, reciprocals of sizes, the
#: instant before, the instant and its single numbers, the outputs of the position program.
_X, _PER_SCALE, _OLD, _NEW, _NUMBERS, _OUT = range(6)


def instant(path: co.Path) -> Sheet:
    """Everything about an instant, with a check that is below GROWTH only where pivots are good and all is finite."""
    sheet, n, m = Sheet(), len(path.scale), len(path.row_scale)
    pattern, columns = _pattern(path)
    out = outputs_of(sheet, path.position)
    lu, pivots = eliminated(sheet, pattern, [{} for _ in range(n)], out[m : len(out) - m])
    active = path.active.tolist()

    def solution(right: list[int]) -> list[int]:
        return solved(sheet, pattern, lu, right, columns)

    d = solution([sheet.negate(out[k]) for k in active])
    q = [sheet.add(sheet.read(_X, STATE + i), d[i]) for i in range(n)]
    v = solution([out[len(out) - m + k] for k in active])
    gamma = outputs_of(sheet, path.acceleration, {STATE + n + i: value for i, value in enumerate(v)})
    a = solution([gamma[k] for k in active])
    right = solution(_old(sheet, co.LEFT, n))
    left = solved_transposed(sheet, pattern, lu, right, columns)
    left, right, sigma = _singular_value(sheet, left, right, _old(sheet, co.RIGHT, n))
    gap = _gap(sheet, q, v, a)
    v_size, a_size = _norm(sheet, v), _norm(sheet, a)
    stride = sheet.constant(co.STRIDE)
    pace = sheet.add(v_size, sheet.apply(ca.OP_SQRT, sheet.multiply(stride, a_size)))
    numbers = {
        co.SIGMA: sigma,
        co.DET: _sign(sheet, path, [lu[k] for k in pattern.diagonal]),
        co.EXTENT: _norm(sheet, q),
        co.SPEED: v_size,
        co.LONGEST: sheet.apply(ca.OP_DIV, stride, pace),
        co.SIZE: _norm(sheet, d),
        co.GAP: _norm(sheet, gap),
        co.CHECK: _check(sheet, pattern, lu, pivots, gap),
    }
    for row, values in {co.Q: q, co.V: v, co.A: a, co.LEFT: left, co.RIGHT: right}.items():
        for i, value in enumerate(values):
            sheet.write(_NEW, row * n + i, value)
    for place, value in numbers.items():
        sheet.write(_NUMBERS, place, value)
    if m > n:  # rows that are not solved for must hold by themselves
        for k in range(m):
            sheet.write(_OUT, k, out[k])
    return sheet


def _old(sheet: Sheet, row: int, n: int) -> list[int]:
    return [sheet.read(_OLD, row * n + i) for i in range(n)]


def _singular_value(
    sheet: Sheet, left: list[int], right: list[int], before: list[int]
) -> tuple[list[int], list[int], int]:
    """The singular vectors, the left one of length one, the right one on the side of that before; and the value."""
    one, length = sheet.constant(1.0), _dot(sheet, left, left)
    side = sheet.apply(ca.OP_COPYSIGN, one, _dot(sheet, right, before))
    per_length = sheet.apply(ca.OP_DIV, one, sheet.apply(ca.OP_SQRT, length))
    size = sheet.apply(ca.OP_SQRT, sheet.apply(ca.OP_DIV, _dot(sheet, right, right), length))
    return (
        [sheet.multiply(e, per_length) for e in left],
        [sheet.multiply(d, side) for d in right],
        sheet.multiply(side, size),
    )


def _gap(sheet: Sheet, q: list[int], v: list[int], a: list[int]) -> list[int]:
    """The motion over the step, less the integral of the velocities at its ends."""
    n, h = len(q), sheet.read(_NUMBERS, co.STEP)
    half = sheet.multiply(sheet.constant(0.5), h)
    twelfth = sheet.apply(ca.OP_DIV, sheet.multiply(h, h), sheet.constant(12.0))
    found = []
    for i in range(n):
        q_1, v_1, a_1 = (sheet.read(_OLD, row * n + i) for row in (co.Q, co.V, co.A))
        moved = sheet.subtract(sheet.subtract(q[i], q_1), sheet.multiply(half, sheet.add(v_1, v[i])))
        found.append(sheet.add(moved, sheet.multiply(twelfth, sheet.subtract(a[i], a_1))))
    return found


def _norm(sheet: Sheet, values: list[int]) -> int:
    return sheet.largest([sheet.multiply(sheet.size(x), sheet.read(_PER_SCALE, i)) for i, x in enumerate(values)])


def _pattern(path: co.Path) -> tuple[Pattern, list[int]]:
    """The pattern of a plan's factors, and the order of its columns."""
    order, columns, start, column, diagonal, a_start, a_place, a_column, _ = (p.tolist() for p in unpacked(path.plan))
    row = [i for i in range(len(order)) for _ in range(a_start[i], a_start[i + 1])]
    return Pattern(start, column, diagonal, order, list(zip(row, a_column, a_place, strict=True))), columns


def _dot(sheet: Sheet, a: list[int], b: list[int]) -> int:
    total = sheet.multiply(a[0], b[0])
    for x, y in zip(a[1:], b[1:], strict=True):
        total = sheet.add(total, sheet.multiply(x, y))
    return total


def _sign(sheet: Sheet, path: co.Path, diagonal: list[int]) -> int:
    """The sign of the determinant."""
    sign = sheet.constant(float(unpacked(path.plan)[sparse_lu.PARITY][0]))
    for pivot in diagonal:
        sign = sheet.multiply(sign, sheet.apply(ca.OP_COPYSIGN, sheet.constant(1.0), pivot))
    return sign


def _check(sheet: Sheet, pattern: Pattern, lu: list[int], pivots: list[int], gap: list[int]) -> int:
    """The sum of the sizes of all multipliers, of ones for pivots with a reciprocal, and of zeros for finite gaps."""
    parts = [sheet.multiply(sheet.constant(0.0), x) for x in gap]
    for i, pivot in enumerate(pivots):
        parts.append(sheet.multiply(pivot, lu[pattern.diagonal[i]]))
        parts += [sheet.size(lu[k]) for k in range(pattern.start[i], pattern.diagonal[i])]
    while len(parts) > 1:  # in pairs: a chain of sums would take longer than all else
        rest = parts[-1:] if len(parts) % 2 else []
        parts = [sheet.add(x, y) for x, y in zip(parts[::2], parts[1::2], strict=False)] + rest
    return parts[0]
