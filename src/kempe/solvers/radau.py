"""Radau IIA of order 5 with the constraints at velocity level, and the position projected after every step.

The unknowns are the velocity increments of the three stages and their multipliers; positions follow by quadrature,
accelerations by differentiation. Simplified Newton in the eigenbasis of the method's matrix gives one real and one
complex system, both of the form [f_a + f_v / mu + f_q / mu^2, Phi_q^T; Phi_q, -C] with mu = eigenvalue / h.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers import quasi_definite as qd
from kempe.solvers.course import FAILED, REACHED, Course, choose_step, refinements
from kempe.solvers.frames import Complexes, ComplexRows, FloatRows, Floats, Frame, Real
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import Equations, State, Work, consistent, hermite, new_state, place_all, run_program, solve
from kempe.solvers.program import load_weights
from kempe.solvers.vectors import copy

_ROOT = np.sqrt(6.0)
NODES = np.array([(4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0])
A = np.array(
    [
        [(88 - 7 * _ROOT) / 360, (296 - 169 * _ROOT) / 1800, (-2 + 3 * _ROOT) / 225],
        [(296 + 169 * _ROOT) / 1800, (88 + 7 * _ROOT) / 360, (-2 - 3 * _ROOT) / 225],
        [(16 - _ROOT) / 36, (16 + _ROOT) / 36, 1 / 9],
    ]
)
A_INVERSE = np.linalg.inv(A)


def _eigenbasis() -> tuple[float, complex, np.ndarray]:
    """The eigenvalues g and a + ib of A^-1 and T with T^-1 A^-1 T = [g, 0, 0; 0, a, -b; 0, b, a]."""
    values, vectors = np.linalg.eig(A_INVERSE)
    real = int(np.argmin(np.abs(values.imag)))
    pair = int(np.argmin(values.imag))  # a - ib
    x = vectors[:, pair]
    T = np.column_stack([vectors[:, real].real, x.real, x.imag])
    return float(values[real].real), complex(np.conj(values[pair])), T


REAL, COMPLEX, TRANSFORM = _eigenbasis()
REAL_PART, IMAGINARY_PART = COMPLEX.real, COMPLEX.imag
BACK = np.linalg.inv(TRANSFORM)
ERROR = np.array([-13 - 7 * _ROOT, -13 + 7 * _ROOT, -1]) / 3


#: How far accelerations may lie apart, in tolerances over h^2, before they count as stiff.
BENT = 10.0


class Memory(Frame):
    """What the method keeps from step to step."""

    tangents: FloatRows  # 3 rows: values with weights (1, 0, 0), (0, 1, 0), (0, 0, 1)
    values: Floats
    complex_values: Complexes
    complex_lu: Complexes
    complex_w: ComplexRows  # 3 rows of length N
    z: FloatRows  # 3 rows of length N: velocity increments and multipliers
    r: FloatRows  # 3 rows of length N: residuals, then corrections
    stage: State
    speed: Floats  # of the error estimate
    slip: Floats
    matrix_step: Real  # the step for which the factors at hand were made, 0 for none
    bend: Floats  # n: accelerations of the collocation polynomial at the end of a step
    contraction: Real  # how well Newton's method converged last; 0 before the first step


def new_memory(eq) -> Memory:
    """Memory for a system."""
    n, N = eq.n, eq.n + eq.m
    size = eq.tangent.size_out - N
    return Memory(
        tangents=np.zeros((3, size)),
        values=np.zeros(size),
        complex_values=np.zeros(size, dtype=complex),
        complex_lu=np.zeros(qd.size(eq.plan), dtype=complex),
        complex_w=np.zeros((3, N), dtype=complex),
        z=np.zeros((3, N)),
        r=np.zeros((3, N)),
        stage=new_state(n, eq.m),
        speed=np.zeros(n),
        slip=np.zeros(n),
        bend=np.zeros(n),
    )


@piece
def begin(eq: Equations, wk: Work, course: Course, memory: Memory, _: float) -> int:
    """Begin from the present state: no history, no matrix."""
    memory.matrix_step = memory.contraction = 0.0
    copy(course.now.al, course.edge_now.al)
    return REACHED


@compiled
def put_tangents(eq, wk, state, matrices):
    """The three tangents at a state."""
    n, m = eq.n, eq.m
    for k in range(3):
        load_weights(eq.layout, 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, wk.x)
        place_all(eq, wk, state)
        run_program(eq.tangent, wk)
        for i in range(matrices.values.shape[0]):
            matrices.tangents[k, i] = wk.out[n + m + i]


@compiled
def factor_tangents(eq, matrices, h, lu, sweep):
    """Factor the real and the complex matrix for a step h; 0 where that failed."""
    x, z = h / REAL, h / (REAL_PART + 1j * IMAGINARY_PART)
    tangents, values, complex_values = matrices.tangents, matrices.values, matrices.complex_values
    for i in range(values.shape[0]):
        a = tangents[0, i]
        if i < eq.upper:
            values[i] = a + x * (tangents[1, i] + x * tangents[2, i])
            complex_values[i] = a + z * (tangents[1, i] + z * tangents[2, i])
        else:
            values[i] = a
            complex_values[i] = a
    if not qd.factor(eq.plan, values, eq.step_shift, lu, sweep):
        return 0
    return int(qd.factor_in_loops(eq.plan, complex_values, eq.step_shift, matrices.complex_lu, matrices.complex_w[2]))


@piece
def _factor(eq: Equations, wk: Work, course: Course, memory: Memory, h: float, fresh: int) -> int:
    """Factor both matrices for a step h, with new tangents if they are to be fresh; 0 where that failed."""
    if fresh > 0:
        put_tangents(eq, wk, course.now, memory)
    course.factorisations += 2
    return factor_tangents(eq, memory, h, wk.lu, wk.sweep)


@compiled
def _guess(eq, course, memory, h):
    """First stages: the last step extrapolated, or constant acceleration."""
    n, m, now = eq.n, eq.m, course.now
    last = now.t - course.before.t
    for k in range(3):
        far = memory.contraction > 0.0 and h * NODES[k] <= 1.5 * last
        if far:
            hermite(1.0 + h * NODES[k] / last, last, course.before, now, course.inside)
        for i in range(n):
            if far:
                memory.z[k, i] = course.inside.v[i] - now.v[i]
            else:
                memory.z[k, i] = h * NODES[k] * now.al[i]
        for j in range(m):
            memory.z[k, n + j] = now.al[n + j]


@compiled
def _stage(eq, course, memory, h, k, state):
    """Position, velocity, acceleration and multipliers of a stage."""
    n, m, now, z = eq.n, eq.m, course.now, memory.z
    for i in range(n):
        position, acceleration = NODES[k] * now.v[i], 0.0
        for j in range(3):
            position += A[k, j] * z[j, i]
            acceleration += A_INVERSE[k, j] * z[j, i]
        state.q[i] = now.q[i] + h * position
        state.v[i] = now.v[i] + z[k, i]
        state.al[i] = acceleration / h
    for j in range(m):
        state.al[n + j] = z[k, n + j]


@compiled
def _residuals(eq, wk, course, memory, h):
    """What the stages leave of the equations of motion and of Phi' = 0, into ``memory.r``."""
    n, m, r = eq.n, eq.m, memory.r
    for k in range(3):
        stage = memory.stage
        _stage(eq, course, memory, h, k, stage)
        stage.t = course.now.t + NODES[k] * h
        place_all(eq, wk, stage)
        run_program(eq.residual, wk)
        for i in range(n):
            r[k, i] = -wk.out[i]
        run_program(eq.velocity, wk)
        for j in range(m):
            r[k, n + j] = -wk.out[m + j]
    course.evaluations += 3


@piece
def _newton(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """Simplified Newton for the stages; 1 when converged."""
    n, m, r, z, cw = eq.n, eq.m, memory.r, memory.z, memory.complex_w
    rhs, x = wk.rhs, wk.correction
    mu = (REAL_PART + 1j * IMAGINARY_PART) / h
    last, theta = 0.0, 1.0
    close = max(1e-3 * course.tolerance if course.fixed == 0.0 else 0.0, 2e-15)
    rounding = max(100.0 * close, 1e-10 if course.fixed > 0.0 else 1e-11)
    for iteration in range(15):
        _residuals(eq, wk, course, memory, h)
        for i in range(n + m):
            r0, r1, r2 = r[0, i], r[1, i], r[2, i]
            t0 = BACK[0, 0] * r0 + BACK[0, 1] * r1 + BACK[0, 2] * r2
            t1 = BACK[1, 0] * r0 + BACK[1, 1] * r1 + BACK[1, 2] * r2
            t2 = BACK[2, 0] * r0 + BACK[2, 1] * r1 + BACK[2, 2] * r2
            rhs[i] = t0 if i < n else t0 * REAL / h
            cw[0, i] = t1 + 1j * t2 if i < n else (t1 + 1j * t2) * mu
        solve(eq, wk)
        qd.solve_in_loops(eq.plan, memory.complex_lu, cw[0], cw[1], cw[2])
        size = 0.0
        for i in range(n + m):
            if i < n:
                w0, wc = x[i] * h / REAL, cw[1, i] / mu
            else:
                w0, wc = x[i], cw[1, i]
            for k in range(3):
                change = TRANSFORM[k, 0] * w0 + TRANSFORM[k, 1] * wc.real + TRANSFORM[k, 2] * wc.imag
                z[k, i] += change
                if i < n:
                    move = abs(change) / (eq.scale[i] * max(course.rate, 1e-300))
                    if not move <= size:
                        size = move
        if not size < 1e6:
            return 0
        if iteration > 0:
            theta = size / max(last, 1e-300)
            # the first correction mends the multipliers and disturbs the velocities by as much: judge from the third
            if iteration > 1 and theta > 0.95 and size > rounding:
                return 0
            if iteration > 1 and theta > 0.5 and size < 1e-12:
                return 1
        last = size
        if size * theta < close * (1.0 - min(theta, 0.5)) or size < 0.1 * close:
            memory.contraction = theta if iteration > 1 else 0.5 * memory.contraction
            return 1
    return int(last < rounding)


@compiled
def put_error(eq, matrices, z, v, al, h, speed, slip, rhs):
    """The right-hand side of the error estimate for increments z from v and al on; ``slip``: that of positions."""
    rows, columns, tangents = eq.plan.e_row, eq.plan.e_column, matrices.tangents
    for i in range(eq.n):
        speed[i], slip[i] = al[i], v[i]
        for k in range(3):
            position = NODES[k] * v[i]
            for j in range(3):
                position += A[k, j] * z[j, i]
            speed[i] += ERROR[k] * z[k, i] / h
            slip[i] += ERROR[k] * position
    for i in range(eq.n + eq.m):
        rhs[i] = 0.0
    for k in range(eq.upper):  # the entries of the upper block come first
        rhs[rows[k]] += tangents[0, k] * speed[columns[k]] - h / REAL * tangents[2, k] * slip[columns[k]]


@piece
def _error(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> float:
    """The estimated error of the step in units of the tolerance, filtered by the real matrix."""
    n, now = eq.n, course.now
    put_error(eq, memory, memory.z, now.v, now.al, h, memory.speed, memory.slip, wk.rhs)
    solve(eq, wk)
    total, rate = 0.0, max(course.rate, 1e-300)
    for i in range(n):
        e_v = h / REAL * wk.correction[i]
        e_q = h / REAL * (e_v + memory.slip[i])
        total += (e_q / eq.scale[i]) ** 2 + (e_v / (eq.scale[i] * rate)) ** 2
    return np.sqrt(total / (2 * n)) / course.tolerance


@piece
def step(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """One step."""
    state = course.next
    for attempt in range(2):
        fresh = memory.matrix_step == 0.0 or memory.contraction > 0.05
        if fresh or memory.matrix_step != h:
            if _factor(eq, wk, course, memory, h, int(fresh)) == 0:
                return FAILED
            memory.matrix_step = h
        _guess(eq, course, memory, h)
        if _newton(eq, wk, course, memory, h) > 0:
            break
        if fresh or attempt > 0:
            return FAILED
        memory.matrix_step = 0.0  # the same step again with a new matrix
        course.rejected += 1
    course.error = _error(eq, wk, course, memory, h)
    if not (course.error <= 1.0 or (course.fixed > 0.0 and course.error < np.inf)):
        return REACHED
    _stage(eq, course, memory, h, 2, state)
    if course.tape.on > 0:
        for k in range(3):
            for i in range(eq.n + eq.m):
                course.tape.more[course.tape.count, k * (eq.n + eq.m) + i] = memory.z[k, i]
    for i in range(eq.n):
        memory.bend[i] = state.al[i]
    # the projection corrects errors of the size of the tolerance; more means that the step went astray
    limit = 1e3 * course.tolerance if course.fixed == 0.0 else np.inf
    violated = consistent(eq, course.beside, state, limit, refinements(course))
    if not violated < np.inf:
        return FAILED
    course.violation = max(course.violation, violated)
    return REACHED


@piece
def close(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """After a step: the length of the next."""
    error = course.error
    if h < 0.0:
        missed = error > 1.0 or not error < np.inf
        course.step = -h * (max(0.1, 0.9 * error ** (-0.25)) if missed and error < np.inf else 0.1 if missed else 0.25)
        memory.matrix_step = 0.0
        return REACHED
    memory.contraction = max(memory.contraction, 1e-10)
    _bend(eq, course, memory, h)
    choose_step(course, h, error, 4.0, 5.0)
    return REACHED


@compiled
def _bend(eq, course, memory, h):
    """The accelerations to interpolate with, at the end of a step.

    Those of the motion, but where it is stiff: a damper turns an error of the velocity, however small, into any
    acceleration. There the collocation polynomial has the better one.
    """
    now, end = course.now, course.edge_now
    copy(end.al, course.edge_before.al)
    copy(now.al, end.al)
    apart = 0.0
    for i in range(eq.n):
        apart = max(apart, abs(memory.bend[i] - now.al[i]) / eq.scale[i])
    if apart * h * h > BENT * course.tolerance:
        for i in range(eq.n):
            end.al[i] = memory.bend[i]


@piece
def inside(eq: Equations, wk: Work, course: Course, memory: Memory, theta: float) -> int:
    """The state at a share of the last step."""
    hermite(theta, course.now.t - course.before.t, course.edge_before, course.edge_now, course.inside)
    for k in range(eq.n, eq.n + eq.m):
        course.inside.al[k] = (1.0 - theta) * course.before.al[k] + theta * course.now.al[k]
    return REACHED
