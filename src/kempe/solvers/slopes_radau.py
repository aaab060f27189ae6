"""Directions and weights through a step of Radau IIA (``radau``).

The three stages are linear in a direction, with the tangent of each stage. They are solved for as the method solves its
own: with the matrices of the start in the eigenbasis, again and again until nothing changes; transposed for weights.
The projections at the end are those of directions (see ``slopes_runge_kutta``).
"""

from __future__ import annotations

import numpy as np

from kempe.solvers import quasi_definite as qd
from kempe.solvers.directions import pull, push
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import Equations, Work, place_all
from kempe.solvers.radau import (
    A_INVERSE,
    BACK,
    IMAGINARY_PART,
    NODES,
    REAL,
    REAL_PART,
    TRANSFORM,
    A,
    factor_tangents,
    put_error,
    put_tangents,
)
from kempe.solvers.slopes import (
    Slopes,
    add_scaled,
    at_kink,
    collect,
    copy_some,
    ends_at_switch,
    lean,
    pull_accelerations,
    pull_gauge,
    push_accelerations,
    push_gauge,
    put_direction,
    read_gauge,
    solve_stage,
    solve_transposed,
    stir,
    zero,
)
from kempe.solvers.slopes_runge_kutta import project_direction, project_weight
from kempe.solvers.tape import Tape, take_state
from kempe.solvers.vectors import copy

#: So often stages are corrected. Corrections below the first of these shares are rounding, and so are those below the
#: second that do not fall any more.
MOST, ROUNDING, ROUGH, NOTHING = 100, 1e-14, 1e-8, 1e-15
#: The difference of the method's quadrature and of the one through its start, its second stage and its end: what an
#: integral may be off by, at most.
_NODES = np.array([*NODES, 0.0])
_VANDERMONDE = np.vander(_NODES[[1, 2, 3]], 3, increasing=True).T
_SIMPSON = np.linalg.solve(_VANDERMONDE, 1.0 / np.arange(1, 4))
COARSER = np.array([A[2, 0], A[2, 1] - _SIMPSON[0], A[2, 2] - _SIMPSON[1], -_SIMPSON[2]])
#: Which of the factors kept are those of the end.
AT_END = 0


@piece
def _factor(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Factor the real and the complex matrix of a step at its start; 0 where that failed."""
    take_state(tape.start[row], s.at)
    s.at.t = tape.t[row, 0]
    put_tangents(eq, wk, s.at, s.radau)
    return factor_tangents(eq, s.radau, tape.t[row, 1] - tape.t[row, 0], s.radau.lu, s.sweep)


@compiled
def _put_stage(eq, wk, s, tape, row, k):
    """Put a stage into the inputs."""
    n, m, h, start, z = eq.n, eq.m, tape.t[row, 1] - tape.t[row, 0], tape.start[row], tape.more[row]
    N = n + m
    for i in range(n):
        position, acceleration = NODES[k] * start[n + i], 0.0
        for j in range(3):
            position += A[k, j] * z[j * N + i]
            acceleration += A_INVERSE[k, j] * z[j * N + i]
        s.at.q[i] = start[i] + h * position
        s.at.v[i] = start[n + i] + z[k * N + i]
        s.at.al[i] = acceleration / h
    for j in range(m):
        s.at.al[n + j] = z[k * N + n + j]
    s.at.t = tape.t[row, 0] + NODES[k] * h
    place_all(eq, wk, s.at)
    if k == 2 and at_kink(s, tape.t[row, 1]):
        lean(eq, s, tape.end[row], -s.leaning)
        place_all(eq, wk, s.at)


@compiled
def _solve_stage(eq, wk, s, tape, row, k):
    """Put a stage into the inputs with the accelerations and multipliers of its state; 0 where that failed.

    Those of the stage itself are of lower order: integrals of reactions would be too.
    """
    _put_stage(eq, wk, s, tape, row, k)
    return solve_stage(eq, wk, s, s.at, k)


@compiled
def _along_stage(eq, s, h, k, dq, dv, dal):
    """The direction of a stage from what is known of it and from the increments in ``z``."""
    n, m, st = eq.n, eq.m, s.radau
    for i in range(n):
        position, acceleration = 0.0, 0.0
        for j in range(3):
            position += A[k, j] * st.z[j, i]
            acceleration += A_INVERSE[k, j] * st.z[j, i]
        dq[i] = st.known[k, 0, i] + h * position
        dv[i] = st.known[k, 1, i] + st.z[k, i]
        dal[i] = st.known[k, 2, i] + acceleration / h
    for j in range(m):
        dal[n + j] = st.z[k, n + j]


@compiled
def _correct(eq, s, h):
    """From what is left in ``r`` to a correction there: the method's own simplified Newton step."""
    n, m, st = eq.n, eq.m, s.radau
    r, cw, mu = st.r, st.complex_w, (REAL_PART + 1j * IMAGINARY_PART) / h
    for i in range(n + m):
        t0, t1, t2 = 0.0, 0.0, 0.0
        for k in range(3):
            t0 += BACK[0, k] * r[k, i]
            t1 += BACK[1, k] * r[k, i]
            t2 += BACK[2, k] * r[k, i]
        s.rhs[i] = t0 if i < n else t0 * REAL / h
        cw[0, i] = t1 + 1j * t2 if i < n else (t1 + 1j * t2) * mu
    qd.solve(eq.plan, st.lu, s.rhs, s.solution, s.sweep)
    qd.solve_in_loops(eq.plan, st.complex_lu, cw[0], cw[1], cw[2])
    for i in range(n + m):
        w0 = s.solution[i] * h / REAL if i < n else s.solution[i]
        wc = cw[1, i] / mu if i < n else cw[1, i]
        for k in range(3):
            r[k, i] = TRANSFORM[k, 0] * w0 + TRANSFORM[k, 1] * wc.real + TRANSFORM[k, 2] * wc.imag


@compiled
def _correct_back(eq, s, h):
    """The same, transposed."""
    n, m, st = eq.n, eq.m, s.radau
    r, cw, mu = st.r, st.complex_w, (REAL_PART + 1j * IMAGINARY_PART) / h
    for i in range(n + m):
        t0, t1, t2 = 0.0, 0.0, 0.0
        for k in range(3):
            t0 += TRANSFORM[k, 0] * r[k, i]
            t1 += TRANSFORM[k, 1] * r[k, i]
            t2 += TRANSFORM[k, 2] * r[k, i]
        # (real transposes of complex numbers are their conjugates: all of it is done on conjugates)
        s.rhs[i] = t0 * h / REAL if i < n else t0
        cw[0, i] = (t1 - 1j * t2) / mu if i < n else t1 - 1j * t2
    solve_transposed(eq, st.lu, s.rhs, s.solution, s.sweep)
    qd.solve_transposed(eq.plan, st.complex_lu, cw[0], cw[1], cw[2])
    for i in range(n + m):
        w0 = s.solution[i] if i < n else s.solution[i] * REAL / h
        wc = cw[1, i] if i < n else cw[1, i] * mu
        for k in range(3):
            r[k, i] = BACK[0, k] * w0 + BACK[1, k] * wc.real - BACK[2, k] * wc.imag


@compiled
def _add_correction(eq, s):
    """Add a correction to the increments; how large it is beside them, 0 where nothing at all changes any more."""
    st, change, size, any_change, any_size = s.radau, 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        for i in range(eq.n + eq.m):
            st.z[k, i] += st.r[k, i]
            any_change, any_size = max(any_change, abs(st.r[k, i])), max(any_size, abs(st.z[k, i]))
            if i < eq.n:
                change = max(change, abs(st.r[k, i]) / eq.scale[i])
                size = max(size, abs(st.z[k, i]) / eq.scale[i])
    return 0.0 if any_change <= NOTHING * any_size else change / max(size, 1e-300)


@compiled
def _know(eq, s, tape, row, dq, dv, t0, t1):
    """What is known of the direction of each stage: of the start, and of the moving ends of the step."""
    n, N, st, dh = eq.n, eq.n + eq.m, s.radau, t1 - t0
    h, start, z = tape.t[row, 1] - tape.t[row, 0], tape.start[row], tape.more[row]
    for k in range(3):
        for i in range(n):
            position, acceleration = NODES[k] * start[n + i], 0.0
            for j in range(3):
                position += A[k, j] * z[j * N + i]
                acceleration += A_INVERSE[k, j] * z[j * N + i]
            st.known[k, 0, i] = dq[i] + h * NODES[k] * dv[i] + dh * position
            st.known[k, 1, i] = dv[i]
            st.known[k, 2, i] = -dh * acceleration / (h * h)


@piece
def _push(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int, d: int, t0: float, t1: float) -> int:
    """One direction through the stages; d below zero: along the end of the step. 0 where it does not converge."""
    h, st = tape.t[row, 1] - tape.t[row, 0], s.radau
    ends = d < 0
    dx, dp = (s.flow, s.none) if ends else (s.dx[d], s.dp[d])
    dq, dv, total = (s.end_q, s.end_v, s.end_integral) if ends else (s.dq[d], s.dv[d], s.dintegral[d])
    watched = s.strays.shape[0] > 0 and d >= 0 and d == s.dq.shape[0] - 1 and t0 == 0.0
    if watched:
        stir(eq, s, dq, dv)
    _know(eq, s, tape, row, dq, dv, t0, t1)
    for k in range(3):
        for i in range(eq.n + eq.m):
            st.z[k, i] = 0.0
    last = np.inf
    for _ in range(MOST):
        for k in range(3):
            _put_stage(eq, wk, s, tape, row, k)
            _along_stage(eq, s, h, k, s.one, s.two, s.three)
            put_direction(eq.layout, s.one, s.two, s.three, eq.n, t0 + NODES[k] * (t1 - t0), dx)
            push(s.stages, wk.x, dx, s.out)
            for i in range(eq.n + eq.m):
                st.r[k, i] = -s.out[i]
        _correct(eq, s, h)
        change = _add_correction(eq, s)
        if change < ROUNDING or (change < ROUGH and change > 0.5 * last):
            last = 0.0
            break
        last = change
    if not last < ROUGH:
        return 0
    if s.integrand.size > 0:
        for k in range(3):
            if _solve_stage(eq, wk, s, tape, row, k) == 0:
                return 0
            _along_stage(eq, s, h, k, s.one, s.two, s.three)
            push_accelerations(eq, wk, s, k, dx, s.one, s.two, t0 + NODES[k] * (t1 - t0), s.three)
            if t1 != t0:
                read_gauge(s.integrand, wk, s, s.at)
                copy_some(s.integrand.outputs, s.ends)
                add_scaled(total, (t1 - t0) * A[2, k], s.ends)
            push_gauge(
                s.integrand, wk, s, s.at, dx, dp, s.one, s.two, s.three, eq.n, t0 + NODES[k] * (t1 - t0), eq.layout
            )
            add_scaled(total, h * A[2, k], s.integrand.outputs)
    if watched and _stray(eq, wk, s, tape, row, d) == 0:
        return 0
    _along_stage(eq, s, h, 2, s.one, s.two, s.three)
    copy_some(s.one, dq)
    copy_some(s.two, dv)
    return 1


@piece
def _stray(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int, d: int) -> int:
    """The method's own estimate of its error, for a direction: steps may be too long for it alone."""
    h = tape.t[row, 1] - tape.t[row, 0]
    take_state(tape.start[row], s.at)
    s.at.t = tape.t[row, 0]
    if solve_stage(eq, wk, s, s.at, 0) == 0:
        return 0
    push_accelerations(eq, wk, s, 0, s.dx[d], s.dq[d], s.dv[d], 0.0, s.three)
    put_error(eq, s.radau, s.radau.z, s.dv[d], s.three, h, s.one, s.two, s.rhs)
    qd.solve(eq.plan, s.radau.lu, s.rhs, s.solution, s.sweep)
    for i in range(eq.n):
        e_v = h / REAL * s.solution[i]
        e_q = h / REAL * (e_v + s.two[i])
        off = max(abs(e_q) / s.reach[0], abs(e_v) / s.reach[1]) / eq.scale[i]
        s.strays[row] = max(s.strays[row], off)
    return 1


@compiled
def _put_start(eq, wk, s, tape, row):
    """Put the start of the step into the inputs."""
    take_state(tape.start[row], s.at)
    s.at.t = tape.t[row, 0]
    place_all(eq, wk, s.at)


@compiled
def _arrive(eq, wk, s, tape, row):
    """Put the end of the step into the inputs, solved and factored; 0 where that failed."""
    take_state(tape.end[row], s.at)
    s.at.t = tape.t[row, 1]
    return solve_stage(eq, wk, s, s.at, AT_END)


@piece
def push_step(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Directions at the end of a step from those at its start, and integrals along it; 0 where that failed."""
    h, D, ends = tape.t[row, 1] - tape.t[row, 0], s.dq.shape[0], ends_at_switch(tape, row)
    if (D > 0 or ends) and _factor(eq, wk, s, tape, row) == 0:
        return 0
    if s.integrand.size > 0:
        for k in range(3):
            if _solve_stage(eq, wk, s, tape, row, k) == 0:
                return 0
            read_gauge(s.integrand, wk, s, s.at)
            add_scaled(s.integral, h * A[2, k], s.integrand.outputs)
            if s.doubts.shape[0] > 0:
                if k == 0:
                    zero(s.five_sums)
                for i in range(s.integrand.size):
                    s.sizes[i] += h / 3.0 * abs(s.integrand.outputs[i])
                add_scaled(s.five_sums, COARSER[k], s.integrand.outputs)
        if s.doubts.shape[0] > 0:
            _put_start(eq, wk, s, tape, row)
            read_gauge(s.integrand, wk, s, s.at)
            for i in range(s.integrand.size):
                s.doubts[row, i] = h * abs(s.five_sums[i] + COARSER[3] * s.integrand.outputs[i])
    for d in range(D):
        if _push(eq, wk, s, tape, row, d, s.dt[d], 0.0) == 0:
            return 0
    if ends:
        zero(s.end_q)
        zero(s.end_v)
        zero(s.end_integral)
        if _push(eq, wk, s, tape, row, -1, 0.0, 1.0) == 0:
            return 0
    if (D > 0 or ends) and _arrive(eq, wk, s, tape, row) == 0:
        return 0
    for d in range(D):
        project_direction(eq, wk, s, AT_END, s.dx[d], s.dq[d], s.dv[d], 0.0)
        s.dt[d] = 0.0
    if ends:
        project_direction(eq, wk, s, AT_END, s.flow, s.end_q, s.end_v, 1.0)
    return 1


@piece
def pull_step(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Weights at the start of a step from those at its end; that of the time there goes to ``s.tbar``."""
    if _arrive(eq, wk, s, tape, row) == 0:
        return 0
    for f in range(s.qbar.shape[0]):
        project_weight(eq, wk, s, AT_END, f)
    if _factor(eq, wk, s, tape, row) == 0:
        return 0
    for f in range(s.qbar.shape[0]):
        if _pull(eq, wk, s, tape, row, f) == 0:
            return 0
    return 1


@compiled
def _spread(eq, s, h, k, q, v, al):
    """Weights of a stage's state as weights of the increments, added to ``r``, and of what is known, to ``known``."""
    n, m, st = eq.n, eq.m, s.radau
    for i in range(n):
        for j in range(3):
            st.r[j, i] += h * A[k, j] * q[i] + A_INVERSE[k, j] / h * al[i]
        st.r[k, i] += v[i]
        st.known[k, 0, i] += q[i]
        st.known[k, 1, i] += v[i]
        st.known[k, 2, i] += al[i]
    for j in range(m):
        st.r[k, n + j] += al[n + j]


@piece
def _pull(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int, f: int) -> int:
    """One set of weights through the stages; 0 where it does not converge."""
    n, N, h, st = eq.n, eq.n + eq.m, tape.t[row, 1] - tape.t[row, 0], s.radau
    q, v, al, tbar, hbar = s.one, s.two, s.three, 0.0, 0.0
    for k in range(3):
        for i in range(N):
            st.r[k, i] = st.z[k, i] = 0.0
        for part in range(3):
            for i in range(n):
                st.known[k, part, i] = 0.0
    zero(al)
    zero(q)
    zero(v)
    copy(s.qbar[f], q)
    copy(s.vbar[f], v)
    _spread(eq, s, h, 2, q, v, al)
    if s.integrand.size > 0:
        for k in range(3):
            if _solve_stage(eq, wk, s, tape, row, k) == 0:
                return 0
            read_gauge(s.integrand, wk, s, s.at)
            for i in range(s.integrand.size):
                hbar += A[2, k] * s.seed[f, i] * s.integrand.outputs[i]
            zero(q)
            zero(v)
            zero(al)
            at = pull_gauge(s.integrand, wk, s, s.at, f, s.seed[f], h * A[2, k], q, v, al)
            at += collect(eq.layout, s.xbar[f], q, v, al, n)
            at += pull_accelerations(eq, wk, s, k, f, al, q, v)
            tbar += (1.0 - NODES[k]) * at
            zero(al)
            _spread(eq, s, h, k, q, v, al)
    # J^T y = r by corrections; z gathers y, and s.second the right-hand side
    b = s.second[f]
    for k in range(3):
        for i in range(N):
            b[k, i] = st.r[k, i]
    last = np.inf
    for _ in range(MOST):
        _correct_back(eq, s, h)
        change = _add_weight(eq, s)
        if change < ROUNDING or (change < ROUGH and change > 0.5 * last):
            last = 0.0
            break
        last = change
        _leave(eq, wk, s, tape, row, f)
    if not last < ROUGH:
        return 0
    for k in range(3):
        _put_stage(eq, wk, s, tape, row, k)
        for i in range(N):
            s.out[i] = -st.z[k, i]
        zero(q)
        zero(v)
        zero(al)
        pull(s.stages, wk.x, s.out, s.xbar[f])
        tbar += (1.0 - NODES[k]) * collect(eq.layout, s.xbar[f], q, v, al, n)
        for i in range(n):
            st.known[k, 0, i] += q[i]
            st.known[k, 1, i] += v[i]
            st.known[k, 2, i] += al[i]
    start, z = tape.start[row], tape.more[row]
    zero(s.qbar[f])
    zero(s.vbar[f])
    for k in range(3):
        for i in range(n):
            position, acceleration = NODES[k] * start[n + i], 0.0
            for j in range(3):
                position += A[k, j] * z[j * N + i]
                acceleration += A_INVERSE[k, j] * z[j * N + i]
            s.qbar[f, i] += st.known[k, 0, i]
            s.vbar[f, i] += h * NODES[k] * st.known[k, 0, i] + st.known[k, 1, i]
            hbar += position * st.known[k, 0, i] - acceleration / (h * h) * st.known[k, 2, i]
    s.tbar[f] = tbar - hbar
    return 1


@compiled
def _add_weight(eq, s):
    """Add a correction to the weights of the stages' equations; how large it is beside them."""
    st, change, size = s.radau, 0.0, 0.0
    for k in range(3):
        for i in range(eq.n + eq.m):
            st.z[k, i] += st.r[k, i]
            change = max(change, abs(st.r[k, i]))
            size = max(size, abs(st.z[k, i]))
    return change / max(size, 1e-300)


@piece
def _leave(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int, f: int) -> int:
    """What is left of the transposed equations, b - J^T z, into ``r``; b is in ``s.second``."""
    n, N, st, q, v, al = eq.n, eq.n + eq.m, s.radau, s.one, s.two, s.three
    h, b = tape.t[row, 1] - tape.t[row, 0], s.second[f]
    for k in range(3):
        for i in range(N):
            st.r[k, i] = b[k, i]
    for k in range(3):
        _put_stage(eq, wk, s, tape, row, k)
        for i in range(N):
            s.out[i] = -st.z[k, i]
        zero(q)
        zero(v)
        zero(al)
        zero(s.flow)
        pull(s.stages, wk.x, s.out, s.flow)
        collect(eq.layout, s.flow, q, v, al, n)
        for i in range(n):
            for j in range(3):
                st.r[j, i] += h * A[k, j] * q[i] + A_INVERSE[k, j] / h * al[i]
            st.r[k, i] += v[i]
        for j in range(n, N):
            st.r[k, j] += al[j]
    zero(s.flow)
    return 1
