"""Backward differentiation of order 1 to 5 with variable step, on the index-3 or the stabilised index-2 form.

The method of DADS and Adams. Backward differences of q and v at equal spacing (changed by interpolation when the step
changes) predict the next state; the corrector solves f = 0 with q' = v and v' = a replaced by the formula, so that
only q (index 3) or v (index 2) and the multipliers are unknown: [f_a + c f_v + c^2 f_q, Phi_q^T; Phi_q, -C] with
c = h / alpha. In the stabilised form of Gear, Gupta and Leimkuhler the velocities satisfy Phi' = 0 and a second
multiplier moves the positions to Phi = 0.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers import quasi_definite as qd
from kempe.solvers.bookkeeping import accumulate, after_step
from kempe.solvers.course import (
    AL,
    ALPHA,
    BUDGET,
    END,
    EVALUATIONS,
    FACTORISATIONS,
    FAILED,
    FRESH,
    KIND,
    MEMORY,
    MEMORY_2,
    ORDER,
    OWN,
    PATIENCE,
    PAUSE,
    RATE,
    REACHED,
    REDUNDANT,
    REJECTED,
    RUNAWAY,
    SMALLEST,
    STEP,
    SWITCHED,
    TOLERANCE,
    H,
    Q,
    T,
    V,
    next_step,
    settle,
    step_end,
    sweeps,
)
from kempe.solvers.jit import compiled, entry
from kempe.solvers.motion import PLAN, RESIDUAL, TANGENT, VELOCITY, place_all, share
from kempe.solvers.pack import part
from kempe.solvers.program import load_weights, run

INDEX3, STABILISED = 0, 1
MAX_ORDER = 5
GAMMA = np.array([0.0, 1.0, 1.5, 11.0 / 6.0, 25.0 / 12.0, 137.0 / 60.0])  # sums of 1/j
ERROR = 1.0 / np.arange(1.0, MAX_ORDER + 3)  # ERROR[k]: constant of the local error at order k

# rows of course.f, of length 2 n: differences 0..7, predictor, psi, correction, scratch; then three small matrices
PREDICTED, PSI, CORRECTION, SCRATCH, MATRICES = 8, 9, 10, 11, 19
ROWS = 20
SIDE = MAX_ORDER + 1


def columns(n: int) -> int:
    """How long the rows must be."""
    return max(2 * n, 3 * SIDE * SIDE)


@compiled
def restart(eq, course):
    """Begin with order 1 from the present state."""
    s, n, f = course.s, eq.scale.shape[0], course.f
    for k in range(f.shape[0]):
        for i in range(2 * n):
            f[k, i] = 0.0
    for i in range(n):
        f[0, i] = course.x[Q, i]
        f[0, n + i] = course.x[V, i]
        f[1, i] = s[H] * course.x[V, i]
        f[1, n + i] = s[H] * course.x[AL, i]
    s[SWITCHED] = 0.0
    s[OWN] = 0.0
    s[ORDER] = 1.0
    s[MEMORY] = 0.0  # c of the matrix at hand: none
    s[MEMORY_2] = 0.0  # steps taken at this order and step


@compiled
def change_step(eq, course, order, factor):
    """Differences for a step changed by a factor, by interpolation."""
    f, n = course.f, eq.scale.shape[0]
    M, U, R = f[MATRICES], f[MATRICES, SIDE * SIDE :], f[MATRICES, 2 * SIDE * SIDE :]
    for j in range(order + 1):
        M[j] = U[j] = 1.0
        for i in range(1, order + 1):
            M[SIDE * i + j] = M[SIDE * (i - 1) + j] * (i - 1 - factor * j) / i if j > 0 else 0.0
            U[SIDE * i + j] = U[SIDE * (i - 1) + j] * (i - 1 - j) / i if j > 0 else 0.0
    for i in range(order + 1):
        for j in range(order + 1):
            R[SIDE * i + j] = 0.0
            for k in range(order + 1):
                R[SIDE * i + j] += M[SIDE * i + k] * U[SIDE * k + j]
    for column in range(2 * n):
        for i in range(order + 1):
            total = 0.0
            for k in range(order + 1):
                total += R[SIDE * k + i] * f[k, column]
            f[SCRATCH + i, column] = total
        for i in range(order + 1):
            f[i, column] = f[SCRATCH + i, column]


@compiled
def _state(eq, course, c, q, v, al):
    """Velocities and accelerations from the correction of q (index 3), or accelerations from that of v (index 2)."""
    s, f, n = course.s, course.f, eq.scale.shape[0]
    for i in range(n):
        q[i] = f[PREDICTED, i] + f[CORRECTION, i]
        if s[KIND] == INDEX3:
            f[CORRECTION, n + i] = (f[PSI, i] + f[CORRECTION, i]) / c - f[PREDICTED, n + i]
        v[i] = f[PREDICTED, n + i] + f[CORRECTION, n + i]
        al[i] = (f[PSI, n + i] + f[CORRECTION, n + i]) / c


@compiled
def _newton(eq, wk, course, t, c, q, v, al):
    """The corrector; 0 when converged."""
    s, f, n, m = course.s, course.f, eq.scale.shape[0], eq.row_scale.shape[0]
    plan = part(eq.indices, PLAN)
    rhs, x, w = wk.w[3], wk.w[4], wk.w[10]
    fresh = s[MEMORY] != c or s[FRESH] > 0
    if s[MEMORY] != c:
        load_weights(eq.layout, 1.0, c, c * c, wk.x)
    index3 = s[KIND] == INDEX3
    for i in range(n):
        f[CORRECTION, n + i] = 0.0
        # index 2: the formula q' = v holds from the start; what the second multiplier adds comes on top
        f[CORRECTION, i] = 0.0 if index3 else c * f[PREDICTED, n + i] - f[PSI, i]
    for j in range(m):
        al[n + j] = course.x[AL, n + j]
    close = max(min(1e-11, 1e-3 * s[TOLERANCE]), 1e-14)
    last, theta, renewed = 0.0, 1.0, fresh
    patience = PATIENCE if s[REDUNDANT] > 0 else 0
    for iteration in range(12):
        _state(eq, course, c, q, v, al)
        place_all(eq, wk, q, v, al, t)
        s[EVALUATIONS] += 1
        if fresh:
            run(part(eq.indices, TANGENT), wk.x, wk.y, wk.out)
            s[FACTORISATIONS] += 1
            s[MEMORY] = c
            if not qd.factor(plan, wk.out[n + m :], eq.step_shift, wk.lu, w):
                s[MEMORY] = 0.0
                return 1
        else:
            run(part(eq.indices, RESIDUAL), wk.x, wk.y, wk.out)
        violated = 0.0
        for i in range(n):
            rhs[i] = -wk.out[i]
        for k in range(m):
            rhs[n + k] = -wk.out[n + k] / (c * c)
            violated = max(violated, abs(wk.out[n + k]) / eq.row_scale[k])
        if not index3:
            run(part(eq.indices, VELOCITY), wk.x, wk.y, wk.out)
            for k in range(m):
                rhs[n + k] = -wk.out[m + k] / c
        qd.solve(plan, wk.lu, rhs, x, w)
        size = 0.0
        for i in range(n):
            if index3:
                f[CORRECTION, i] += c * c * x[i]
            else:
                f[CORRECTION, n + i] += c * x[i]
                f[CORRECTION, i] += c * c * x[i]
            step = abs(c * c * x[i]) / eq.scale[i]
            if not step <= size:
                size = step
        for k in range(m):
            al[n + k] += x[n + k]
        if not index3:
            for i in range(n):
                rhs[i] = 0.0
                q[i] = f[PREDICTED, i] + f[CORRECTION, i]
            place_all(eq, wk, q, v, al, t)
            run(part(eq.indices, VELOCITY), wk.x, wk.y, wk.out)
            for k in range(m):
                rhs[n + k] = -wk.out[k]
                violated = max(violated, abs(wk.out[k]) / eq.row_scale[k])
            qd.solve(plan, wk.lu, rhs, x, w)
            for i in range(n):
                f[CORRECTION, i] += x[i]
                step = abs(x[i]) / eq.scale[i]
                if not step <= size:
                    size = step
        if not size < 1e3:
            s[MEMORY] = 0.0
            return 1
        if iteration > 0:
            theta = 0.0 if size < 1e-15 else size / max(last, 1e-300)
            if theta > 0.2 and size > 0.1 * close:
                if theta > 2.0 and renewed:
                    patience -= 1
                if patience < 0 or iteration > 9:
                    s[MEMORY] = 0.0
                    return 1
                renewed = fresh = True
                last = size
                if not (size < close and violated < close):
                    continue
        else:
            theta = 1.0
        fresh = False
        last = size
        if (iteration > 0 and size * theta < close * (1.0 - theta)) or (size < close and violated < close):
            s[FRESH] = 1.0 if iteration > 0 and theta > 0.1 else 0.0
            _state(eq, course, c, q, v, al)
            return 0
    s[MEMORY] = 0.0
    return 1


@compiled
def _norm(eq, course, row, factor):
    """The size of a row of differences in units of the tolerance: positions, and velocities in the stabilised form."""
    s, f, n = course.s, course.f, eq.scale.shape[0]
    total, rate = 0.0, max(s[RATE], 1e-300)
    both = s[KIND] == STABILISED
    for i in range(n):
        total += (f[row, i] / eq.scale[i]) ** 2
        if both:
            total += (f[row, n + i] / (eq.scale[i] * rate)) ** 2
    return factor * np.sqrt(total / (2 * n if both else n)) / s[TOLERANCE]


@entry
def advance(eq, wk, course):
    """Integrate until the end, an event that stops, or trouble."""
    s, f, n = course.s, course.f, eq.scale.shape[0]
    q, v, al = wk.w[0], wk.w[1], wk.w[2]
    while s[T] < s[END]:
        if s[SWITCHED] > 0:
            restart(eq, course)
        if s[BUDGET] <= 0:
            return PAUSE
        s[BUDGET] -= 1
        order = int(s[ORDER])
        h = next_step(course, False)
        if h != s[H]:
            change_step(eq, course, order, h / s[H])
            s[H] = h
            s[MEMORY_2] = 0.0
        alpha = GAMMA[order]
        c = h / alpha
        for i in range(2 * n):
            predicted, psi = 0.0, 0.0
            for k in range(order + 1):
                predicted += f[k, i]
                if k > 0:
                    psi += GAMMA[k] * f[k, i]
            f[PREDICTED, i] = predicted
            f[PSI, i] = psi / alpha
        t = step_end(course, h)
        code = _newton(eq, wk, course, t, c, q, v, al)
        error = 0.0
        if code == 0:
            error = _norm(eq, course, CORRECTION, ERROR[order])
            if not error <= 1.0 and s[STEP] == 0:
                code = 2
        if code != 0:
            s[REJECTED] += 1
            if s[STEP] > 0 or h < s[SMALLEST]:
                return FAILED
            factor = 0.5
            if code == 2:
                factor = max(0.2, 0.9 * error ** (-1.0 / (order + 1))) if error < np.inf else 0.2
            change_step(eq, course, order, factor)
            s[H] = factor * h
            s[MEMORY_2] = 0.0
            s[MEMORY] = 0.0
            continue
        if s[REDUNDANT] > 0:
            share(eq, course.beside, q[:n], v[:n], t, sweeps(course), al[n:])
        if settle(eq, course, t, q, v, al) != REACHED:
            return RUNAWAY
        for i in range(2 * n):
            d = f[CORRECTION, i]
            f[order + 2, i] = d - f[order + 1, i]
            f[order + 1, i] = d
            for k in range(order, -1, -1):
                f[k, i] += f[k + 1, i]
        accumulate(eq, wk, course)
        s[MEMORY_2] += 1
        if s[STEP] > 0:
            if s[MEMORY_2] > order and order < s[ALPHA]:
                s[ORDER] = order + 1
                s[MEMORY_2] = 0.0
        elif s[MEMORY_2] > order:
            _choose(eq, course, order, error)
        code = after_step(eq, wk, course)
        if s[SWITCHED] > 0:
            s[H] = min(s[H], h) * 0.02
        if code != REACHED:
            return code
    return REACHED


@compiled
def _choose(eq, course, order, error):
    """The order and the step that promise most."""
    s = course.s
    lower = _norm(eq, course, order, ERROR[order - 1]) if order > 1 else np.inf
    higher = _norm(eq, course, order + 2, ERROR[order + 1]) if order < s[ALPHA] else np.inf
    best, factor = order, max(error, 1e-10) ** (-1.0 / (order + 1))
    if max(lower, 1e-10) ** (-1.0 / order) > factor:
        best, factor = order - 1, max(lower, 1e-10) ** (-1.0 / order)
    if max(higher, 1e-10) ** (-1.0 / (order + 2)) > factor:
        best, factor = order + 1, max(higher, 1e-10) ** (-1.0 / (order + 2))
    factor = min(5.0, 0.85 * factor)
    s[ORDER] = best
    s[MEMORY_2] = 0.0
    if factor > 1.2 or factor < 0.9:
        change_step(eq, course, best, factor)
        s[H] *= factor
