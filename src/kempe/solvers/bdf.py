"""Backward differentiation of order 1 to 5 with variable step, on the index-3 or the stabilised index-2 form.

The method of DADS and Adams. Backward differences of q and v at equal spacing (changed by interpolation when the step
changes) predict the next state; the corrector solves f = 0 with q' = v and v' = a replaced by the formula, so that
only q (index 3) or v (index 2) and the multipliers are unknown: [f_a + c f_v + c^2 f_q, Phi_q^T; Phi_q, -C] with
c = h / alpha. In the stabilised form of Gear, Gupta and Leimkuhler the velocities satisfy Phi' = 0 and a second
multiplier moves the positions to Phi = 0.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.course import (
    FAILED,
    PATIENCE,
    REACHED,
    ROUNDING,
    STUCK,
    Course,
    close_enough,
    in_tolerances,
    refinements,
)
from kempe.solvers.frames import Count, FloatRows, Floats, Frame, Real
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import Equations, Work, factor_step, place_all, run_program, share, solve
from kempe.solvers.program import load_weights

MAX_ORDER = 5
GAMMA = np.array([0.0, 1.0, 1.5, 11.0 / 6.0, 25.0 / 12.0, 137.0 / 60.0])  # sums of 1/j
ERROR = 1.0 / np.arange(1.0, MAX_ORDER + 3)  # ERROR[k]: constant of the local error at order k
SIDE = MAX_ORDER + 1


#: What rounding leaves in a step, in sizes: errors below that are not asked for.
NOISE = 2e-13


class Memory(Frame):
    """What the method keeps from step to step; vectors are [q, v]."""

    differences: FloatRows  # backward differences 0..7 at equal spacing
    spacing: Real  # that spacing
    predicted: Floats
    psi: Floats  # what the formula has of known differences
    correction: Floats
    scratch: FloatRows  # of a change of step
    change: FloatRows  # three small matrices for that
    order: Count  # of the next step
    used: Count  # of the last step
    highest: Count  # the highest order allowed
    stabilised: Count  # 1: index 2 with a second multiplier; 0: index 3
    taken: Count  # steps taken at this order and step
    matrix_step: Real  # c of the matrix at hand, 0 for none
    renew: Count  # 1 where the matrix has grown too old


def new_memory(n: int, m: int) -> Memory:
    """Memory for a system."""
    vectors = {name: np.zeros(2 * n) for name in ("predicted", "psi", "correction")}
    rows = {"differences": np.zeros((8, 2 * n)), "scratch": np.zeros((8, 2 * n))}
    return Memory(**vectors, **rows, change=np.zeros((3, SIDE * SIDE)), highest=MAX_ORDER)


@piece
def begin(eq: Equations, wk: Work, course: Course, memory: Memory, _: float) -> int:
    """Begin from the present state, with the past that constant accelerations would have left: order 2 at once."""
    n, D, now = eq.n, memory.differences, course.now
    order = min(2, memory.highest)
    if course.fixed > 0.0:
        course.step = course.fixed
    else:
        pace = 1e-300
        for i in range(n):
            pace = max(pace, np.sqrt(abs(now.al[i]) / eq.scale[i]), abs(now.v[i]) / eq.scale[i])
        # (positions of that past are off the constraints by h^3, which index 3 differentiates twice)
        power = 1.0 / (order + 1) if memory.stabilised > 0 else 0.5
        course.step = min(course.step, 0.5 * course.tolerance**power / pace)
    h = course.step
    for k in range(8):
        for i in range(2 * n):
            D[k, i] = 0.0
    for i in range(n):
        bent = h * h * now.al[i] if order > 1 else 0.0
        D[0, i], D[0, n + i] = now.q[i], now.v[i]
        D[1, i], D[1, n + i] = h * now.v[i] - 0.5 * bent, h * now.al[i]
        D[2, i] = bent
    memory.spacing = h
    memory.order, memory.used, memory.taken, memory.matrix_step = order, order, 0, 0.0
    return REACHED


@compiled
def _change_step(memory, order, h):
    """Differences for another step, by interpolation."""
    D, scratch, factor = memory.differences, memory.scratch, h / memory.spacing
    M, U, R = memory.change[0], memory.change[1], memory.change[2]
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
    for column in range(D.shape[1]):
        for i in range(order + 1):
            total = 0.0
            for k in range(order + 1):
                total += R[SIDE * k + i] * D[k, column]
            scratch[i, column] = total
        for i in range(order + 1):
            D[i, column] = scratch[i, column]
    memory.spacing = h
    memory.taken = 0


@compiled
def _put_state(eq, memory, c, state):
    """Velocities and accelerations from the correction of q (index 3), or accelerations from that of v (index 2)."""
    n, predicted, psi, correction = eq.n, memory.predicted, memory.psi, memory.correction
    for i in range(n):
        state.q[i] = predicted[i] + correction[i]
        if memory.stabilised == 0:
            correction[n + i] = (psi[i] + correction[i]) / c - predicted[n + i]
        state.v[i] = predicted[n + i] + correction[n + i]
        state.al[i] = (psi[n + i] + correction[n + i]) / c


@compiled
def _to_positions(eq, wk, memory, state):
    """The second multiplier of the stabilised form: move the positions to Phi = 0; how far, and the violation."""
    n, m, x = eq.n, eq.m, wk.correction
    for i in range(n):
        wk.rhs[i] = 0.0
        state.q[i] = memory.predicted[i] + memory.correction[i]
    place_all(eq, wk, state)
    run_program(eq.velocity, wk)
    violated, size = 0.0, 0.0
    for k in range(m):
        wk.rhs[n + k] = -wk.out[k]
        violated = max(violated, abs(wk.out[k]) / eq.row_scale[k])
    solve(eq, wk)
    for i in range(n):
        memory.correction[i] += x[i]
        move = abs(x[i]) / eq.scale[i]
        if not move <= size:
            size = move
    return size, violated


@compiled
def _newton(eq, wk, course, memory, c):
    """The corrector; whether it converged. The new state is in ``course.next``."""
    n, m, state, correction = eq.n, eq.m, course.next, memory.correction
    rhs, x = wk.rhs, wk.correction
    fresh = memory.matrix_step != c or memory.renew > 0
    if memory.matrix_step != c:
        load_weights(eq.layout, 1.0, c, c * c, wk.x)
    index3 = memory.stabilised == 0
    for i in range(n):
        correction[n + i] = 0.0
        # index 2: the formula q' = v holds from the start; what the second multiplier adds comes on top
        correction[i] = 0.0 if index3 else c * memory.predicted[n + i] - memory.psi[i]
    for j in range(m):
        state.al[n + j] = course.now.al[n + j]
    # (index 3 shows what Newton leaves in velocities over c, which the stabilised form has as unknowns of their own)
    close = close_enough(course, c) if index3 else max(0.01 / in_tolerances(course, 1.0, 5.0, NOISE), 2e-15)
    last, theta, renewed, stuck = 0.0, 1.0, fresh, 0
    patience = PATIENCE if course.redundant > 0 else 0
    for iteration in range(12):
        _put_state(eq, memory, c, state)
        place_all(eq, wk, state)
        course.evaluations += 1
        if fresh:
            run_program(eq.tangent, wk)
            course.factorisations += 1
            memory.matrix_step = c
            if factor_step(eq, wk) == 0:
                memory.matrix_step = 0.0
                return False
        else:
            run_program(eq.residual, wk)
        violated = 0.0
        for i in range(n):
            rhs[i] = -wk.out[i]
        for k in range(m):
            rhs[n + k] = -wk.out[n + k] / (c * c)
            violated = max(violated, abs(wk.out[n + k]) / eq.row_scale[k])
        if not index3:
            run_program(eq.velocity, wk)
            for k in range(m):
                rhs[n + k] = -wk.out[m + k] / c
        solve(eq, wk)
        size = 0.0
        for i in range(n):
            correction[i] += c * c * x[i]
            move = abs(c * c * x[i]) / eq.scale[i]
            if not index3:
                correction[n + i] += c * x[i]
                move = max(move, abs(c * x[i]) / (eq.scale[i] * course.rate))
            if not move <= size:
                size = move
        for k in range(m):
            state.al[n + k] += x[n + k]
        if not index3:
            move, violated = _to_positions(eq, wk, memory, state)
            if not move <= size:
                size = move
        if not size < 1e3:
            memory.matrix_step = 0.0
            return False
        if iteration > 0:
            theta = 0.0 if size < 1e-15 else size / max(last, 1e-300)
            if theta > 0.2 and size > 0.1 * close:
                stuck = stuck + 1 if theta > 0.5 else 0
                if size < ROUNDING and renewed and (stuck > STUCK or iteration > 8):
                    memory.renew = 1
                    _put_state(eq, memory, c, state)
                    return True
                if theta > 2.0 and renewed and size > ROUNDING:
                    patience -= 1
                if patience < 0 or (iteration > 9 and size > ROUNDING):
                    memory.matrix_step = 0.0
                    return False
                renewed = fresh = True
                last = size
                if not (size < close and violated < close):
                    continue
        else:
            theta = 1.0
        fresh = False
        last = size
        if (iteration > 0 and size * theta < close * (1.0 - theta)) or (size < close and violated < close):
            memory.renew = 1 if iteration > 0 and theta > 0.1 else 0
            _put_state(eq, memory, c, state)
            return True
    memory.matrix_step = 0.0
    return False


@compiled
def _norm(eq, course, memory, row, order):
    """The size of a row of differences in units of the tolerance: positions, and velocities in the stabilised form."""
    n, total, rate = eq.n, 0.0, max(course.rate, 1e-300)
    both = memory.stabilised > 0
    for i in range(n):
        total += (row[i] / eq.scale[i]) ** 2
        if both:
            total += (row[n + i] / (eq.scale[i] * rate)) ** 2
    return in_tolerances(course, ERROR[order] * np.sqrt(total / (2 * n if both else n)), float(order), NOISE)


@piece
def step(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """One step."""
    order, D = memory.order, memory.differences
    if h != memory.spacing:
        _change_step(memory, order, h)
    alpha = GAMMA[order]
    for i in range(2 * eq.n):
        predicted, psi = 0.0, 0.0
        for k in range(order + 1):
            predicted += D[k, i]
            if k > 0:
                psi += GAMMA[k] * D[k, i]
        memory.predicted[i] = predicted
        memory.psi[i] = psi / alpha
    if not _newton(eq, wk, course, memory, h / alpha):
        return FAILED
    course.error = _norm(eq, course, memory, memory.correction, order)
    if course.redundant > 0 and (course.error <= 1.0 or course.fixed > 0.0):
        share(eq, course.beside, course.next, refinements(course))
    return REACHED


@piece
def close(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """After a step: differences, order and length of the next."""
    order, D, error = memory.order, memory.differences, course.error
    if h < 0.0:
        factor = 0.5
        if error > 1.0 or not error < np.inf:
            factor = max(0.2, 0.9 * error ** (-1.0 / (order + 1))) if error < np.inf else 0.2
        course.step = -h * factor
        memory.matrix_step = 0.0
        return REACHED
    for i in range(2 * eq.n):
        d = memory.correction[i]
        D[order + 2, i] = d - D[order + 1, i]
        D[order + 1, i] = d
        for k in range(order, -1, -1):
            D[k, i] += D[k + 1, i]
    memory.taken += 1
    memory.used = order
    if course.fixed > 0.0:
        if memory.taken > order and order < memory.highest:
            memory.order = order + 1
            memory.taken = 0
        return REACHED
    course.step = h
    if memory.taken > order:
        _choose(eq, course, memory, order, error, h)
    return REACHED


@compiled
def _choose(eq, course, memory, order, error, h):
    """The order and the step that promise most."""
    D = memory.differences
    lower = _norm(eq, course, memory, D[order], order - 1) if order > 1 else np.inf
    higher = _norm(eq, course, memory, D[order + 2], order + 1) if order < memory.highest else np.inf
    best, factor = order, max(error, 1e-10) ** (-1.0 / (order + 1))
    if max(lower, 1e-10) ** (-1.0 / order) > factor:
        best, factor = order - 1, max(lower, 1e-10) ** (-1.0 / order)
    if max(higher, 1e-10) ** (-1.0 / (order + 2)) > factor:
        best, factor = order + 1, max(higher, 1e-10) ** (-1.0 / (order + 2))
    factor = min(5.0, 0.85 * factor)
    memory.order = best
    memory.taken = 0
    if factor > 1.2 or factor < 0.9:
        course.step = h * factor


@piece
def inside(eq: Equations, wk: Work, course: Course, memory: Memory, theta: float) -> int:
    """The state at a share of the last step: the polynomials through the points that the formula used."""
    n, D, s, state = eq.n, memory.differences, theta - 1.0, course.inside
    h = course.now.t - course.before.t
    for i in range(2 * n):
        value, slope, term, rise = D[0, i], 0.0, 1.0, 0.0
        for k in range(1, memory.used + 1):
            # the product of (s + j) / (j + 1) for j < k, and its derivative
            rise = (rise * (s + k - 1) + term) / k
            term = term * (s + k - 1) / k
            value += term * D[k, i]
            slope += rise * D[k, i]
        if i < n:
            state.q[i] = value
        else:
            state.v[i - n] = value
            state.al[i - n] = slope / h
    for k in range(n, n + eq.m):
        state.al[k] = (1.0 - theta) * course.before.al[k] + theta * course.now.al[k]
    return REACHED
