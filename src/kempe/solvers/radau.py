"""Radau IIA of order 5 with the constraints at velocity level, and the position projected after every step.

The unknowns are the velocity increments of the three stages and their multipliers; positions follow by quadrature,
accelerations by differentiation. Simplified Newton in the eigenbasis of the method's matrix gives one real and one
complex system, both of the form [f_a + f_v / mu + f_q / mu^2, Phi_q^T; Phi_q, -C] with mu = eigenvalue / h.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kempe.solvers import quasi_definite as qd
from kempe.solvers.bookkeeping import accumulate, after_step
from kempe.solvers.course import (
    AL,
    BUDGET,
    END,
    EVALUATIONS,
    EXTRA,
    FACTORISATIONS,
    FAILED,
    MEMORY,
    ORDER,
    OWN,
    PAUSE,
    Q_S,
    RATE,
    REACHED,
    REJECTED,
    RUNAWAY,
    SMALLEST,
    STEP,
    SWITCHED,
    T_0,
    TOLERANCE,
    V_S,
    VIOLATION,
    H,
    Q,
    T,
    V,
    between,
    choose_step,
    next_step,
    settle,
    step_end,
    sweeps,
)
from kempe.solvers.frames import Complexes, ComplexRows, FloatRows, Floats, Frame
from kempe.solvers.jit import compiled, entry
from kempe.solvers.motion import (
    PLAN,
    RESIDUAL,
    SIZES,
    TANGENT,
    VELOCITY,
    consistent,
    place_all,
)
from kempe.solvers.pack import part
from kempe.solvers.program import load_weights, run

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


@dataclass(frozen=True, eq=False)
class Stages(Frame):
    """Memory of the method."""

    tangents: FloatRows  # 3 rows: values with weights (1, 0, 0), (0, 1, 0), (0, 0, 1)
    values: Floats
    complex_values: Complexes
    complex_lu: Complexes
    complex_w: ComplexRows  # 3 rows of length N
    z: FloatRows  # 3 rows of length N: velocity increments and multipliers
    r: FloatRows  # 3 rows of length N: residuals, then corrections


def new_stages(eq) -> Stages:
    """Memory for a system."""
    plan = eq.indices[eq.indices[PLAN] : eq.indices[PLAN + 1]]
    tangent = eq.indices[eq.indices[TANGENT] : eq.indices[TANGENT + 1]]
    N = len(eq.shift)
    size = int(tangent[tangent[5] + 1]) - N
    return Stages(
        np.zeros((3, size)),
        np.zeros(size),
        np.zeros(size, dtype=complex),
        np.zeros(qd.size(plan), dtype=complex),
        np.zeros((3, N), dtype=complex),
        np.zeros((3, N)),
        np.zeros((3, N)),
    )


@compiled
def restart(course):
    """Begin from the present state: no history, no matrix."""
    course.s[SWITCHED] = 0.0
    course.s[OWN] = 0.0
    course.s[MEMORY] = 0.0
    course.s[ORDER] = 0.0


@compiled
def _tangents(eq, wk, st, course):
    """The three tangents at the present state."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    for k in range(3):
        load_weights(eq.layout, 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0, wk.x)
        place_all(eq, wk, course.x[Q], course.x[V], course.x[AL], course.s[T])
        run(part(eq.indices, TANGENT), wk.x, wk.y, wk.out)
        for i in range(st.values.shape[0]):
            st.tangents[k, i] = wk.out[n + m + i]


@compiled
def _factor(eq, wk, st, course, h):
    """Factor the real and the complex matrix for a step h."""
    plan = part(eq.indices, PLAN)
    upper = part(eq.indices, SIZES)[2]
    x, z = h / REAL, h / (REAL_PART + 1j * IMAGINARY_PART)
    for i in range(st.values.shape[0]):
        a = st.tangents[0, i]
        if i < upper:
            st.values[i] = a + x * (st.tangents[1, i] + x * st.tangents[2, i])
            st.complex_values[i] = a + z * (st.tangents[1, i] + z * st.tangents[2, i])
        else:
            st.values[i] = a
            st.complex_values[i] = a
    course.s[FACTORISATIONS] += 2
    ok = qd.factor(plan, st.values, eq.step_shift, wk.lu, wk.w[10])
    return ok and qd.factor_in_loops(plan, st.complex_values, eq.step_shift, st.complex_lu, st.complex_w[2])


@compiled
def _guess(eq, st, course, h):
    """First stages: the last step extrapolated, or constant acceleration."""
    s, n, m = course.s, eq.scale.shape[0], eq.row_scale.shape[0]
    last = s[T] - s[T_0]
    for k in range(3):
        far = s[MEMORY] > 0.0 and h * NODES[k] <= 1.5 * last
        if far:
            between(course, n, 1.0 + h * NODES[k] / last, course.x[Q_S], course.x[V_S])
        for i in range(n):
            if far:
                st.z[k, i] = course.x[V_S, i] - course.x[V, i]
            else:
                st.z[k, i] = h * NODES[k] * course.x[AL, i]
        for j in range(m):
            st.z[k, n + j] = course.x[AL, n + j]


@compiled
def _stage(eq, wk, st, course, h, k, q, v, al):
    """Position, velocity, acceleration and multipliers of a stage."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    for i in range(n):
        position, acceleration = NODES[k] * course.x[V, i], 0.0
        for j in range(3):
            position += A[k, j] * st.z[j, i]
            acceleration += A_INVERSE[k, j] * st.z[j, i]
        q[i] = course.x[Q, i] + h * position
        v[i] = course.x[V, i] + st.z[k, i]
        al[i] = acceleration / h
    for j in range(m):
        al[n + j] = st.z[k, n + j]


@compiled
def _newton(eq, wk, st, course, h):
    """Simplified Newton for the stages; True when converged."""
    s, n, m = course.s, eq.scale.shape[0], eq.row_scale.shape[0]
    plan = part(eq.indices, PLAN)
    q, v, al, rhs, x, w = wk.w[0], wk.w[1], wk.w[2], wk.w[3], wk.w[4], wk.w[10]
    mu = (REAL_PART + 1j * IMAGINARY_PART) / h
    last, theta = 0.0, 1.0
    close = max(1e-3 * s[TOLERANCE] if s[STEP] == 0 else 1e-13, 1e-13)
    for iteration in range(15):
        for k in range(3):
            _stage(eq, wk, st, course, h, k, q, v, al)
            place_all(eq, wk, q, v, al, s[T] + NODES[k] * h)
            run(part(eq.indices, RESIDUAL), wk.x, wk.y, wk.out)
            for i in range(n):
                st.r[k, i] = -wk.out[i]
            run(part(eq.indices, VELOCITY), wk.x, wk.y, wk.out)
            for j in range(m):
                st.r[k, n + j] = -wk.out[m + j]
        s[EVALUATIONS] += 3
        for i in range(n + m):
            r0, r1, r2 = st.r[0, i], st.r[1, i], st.r[2, i]
            t0 = BACK[0, 0] * r0 + BACK[0, 1] * r1 + BACK[0, 2] * r2
            t1 = BACK[1, 0] * r0 + BACK[1, 1] * r1 + BACK[1, 2] * r2
            t2 = BACK[2, 0] * r0 + BACK[2, 1] * r1 + BACK[2, 2] * r2
            rhs[i] = t0 if i < n else t0 * REAL / h
            st.complex_w[0, i] = t1 + 1j * t2 if i < n else (t1 + 1j * t2) * mu
        qd.solve(plan, wk.lu, rhs, x, w)
        qd.solve_in_loops(plan, st.complex_lu, st.complex_w[0], st.complex_w[1], st.complex_w[2])
        size = 0.0
        for i in range(n + m):
            if i < n:
                w0, wc = x[i] * h / REAL, st.complex_w[1, i] / mu
            else:
                w0, wc = x[i], st.complex_w[1, i]
            for k in range(3):
                change = TRANSFORM[k, 0] * w0 + TRANSFORM[k, 1] * wc.real + TRANSFORM[k, 2] * wc.imag
                st.z[k, i] += change
                if i < n:
                    move = abs(change) / (eq.scale[i] * max(s[RATE], 1e-300))
                    if not move <= size:
                        size = move
        if not size < 1e6:
            return False
        if iteration > 0:
            theta = size / max(last, 1e-300)
            # the first correction mends the multipliers and disturbs the velocities by as much: judge from the third
            if iteration > 1 and theta > 0.95 and size > 100.0 * close:
                return False
        last = size
        if size * theta < close * (1.0 - min(theta, 0.5)) or size < 0.1 * close:
            s[MEMORY] = theta if iteration > 1 else 0.5 * s[MEMORY]
            return True
    return last < 100.0 * close


@compiled
def _error(eq, wk, st, course, h):
    """The estimated error of the step in units of the tolerance, filtered by the real matrix."""
    s, n, m = course.s, eq.scale.shape[0], eq.row_scale.shape[0]
    rows, columns = part(part(eq.indices, PLAN), qd.E_ROW), part(part(eq.indices, PLAN), qd.E_COLUMN)
    upper = part(eq.indices, SIZES)[2]
    speed, slip, rhs, x = wk.w[0], wk.w[1], wk.w[3], wk.w[4]
    for i in range(n):
        a, b = course.x[AL, i], course.x[V, i]
        for k in range(3):
            position = NODES[k] * course.x[V, i]
            for j in range(3):
                position += A[k, j] * st.z[j, i]
            a += ERROR[k] * st.z[k, i] / h
            b += ERROR[k] * position
        speed[i], slip[i] = a, b
        rhs[i] = 0.0
    for j in range(m):
        rhs[n + j] = 0.0
    for k in range(upper):  # the entries of the upper block come first
        rhs[rows[k]] += st.tangents[0, k] * speed[columns[k]] - h / REAL * st.tangents[2, k] * slip[columns[k]]
    qd.solve(part(eq.indices, PLAN), wk.lu, rhs, x, wk.w[10])
    total, rate = 0.0, max(s[RATE], 1e-300)
    for i in range(n):
        e_v = h / REAL * x[i]
        e_q = h / REAL * (e_v + slip[i])
        total += (e_q / eq.scale[i]) ** 2 + (e_v / (eq.scale[i] * rate)) ** 2
    return np.sqrt(total / (2 * n)) / s[TOLERANCE]


@entry
def advance(eq, wk, st, course):
    """Integrate until the end, an event that stops, or trouble."""
    s, n = course.s, eq.scale.shape[0]
    q, v = wk.w[5], wk.w[6]
    while s[T] < s[END]:
        if s[SWITCHED] > 0:
            restart(course)
        if s[BUDGET] <= 0:
            return PAUSE
        s[BUDGET] -= 1
        h = next_step(course, True)
        fresh = s[ORDER] == 0.0
        if fresh or s[MEMORY] > 0.05:
            _tangents(eq, wk, st, course)
            fresh = True
        if fresh or s[ORDER] != h:
            if not _factor(eq, wk, st, course, h):
                return FAILED
            s[ORDER] = h
        _guess(eq, st, course, h)
        ok = _newton(eq, wk, st, course, h)
        error = 0.0
        if ok:
            error = _error(eq, wk, st, course, h)
            ok = error <= 1.0 or (s[STEP] > 0 and error < np.inf)
            if not ok:
                s[H] = h * max(0.1, 0.9 * error ** (-0.25)) if error < np.inf else 0.1 * h
        elif not fresh:
            s[ORDER] = 0.0  # the same step again with a new matrix
            s[REJECTED] += 1
            continue
        else:
            s[H] = 0.25 * h
        if ok:
            t = step_end(course, h)
            _stage(eq, wk, st, course, h, 2, q, v, wk.w[2])
            # the projection corrects errors of the size of the tolerance; more means that the step went astray
            limit = 1e3 * s[TOLERANCE] if s[STEP] == 0 else np.inf
            violated = consistent(eq, course.beside, q[:n], v[:n], t, course.x[EXTRA], wk.w[0], limit, sweeps(course))
            ok = violated < np.inf
            if not ok:
                s[H] = 0.25 * h
        if not ok:
            s[REJECTED] += 1
            s[ORDER] = 0.0
            if s[STEP] > 0 or h < s[SMALLEST]:
                return FAILED
            continue
        if settle(eq, course, t, q, v, course.x[EXTRA]) != REACHED:
            return RUNAWAY
        s[VIOLATION] = max(s[VIOLATION], violated)
        s[MEMORY] = max(s[MEMORY], 1e-10)
        accumulate(eq, wk, course)
        choose_step(course, h, error, 4.0, 5.0)
        code = after_step(eq, wk, course)
        if s[SWITCHED] > 0:
            s[H] = min(s[H], h) * 0.1
        if code != REACHED:
            return code
    return REACHED
