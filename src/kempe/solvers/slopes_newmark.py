"""Directions and weights through a step of generalised-alpha (``newmark``), exactly: the state has accelerations too.

With g the accelerations of the algorithm, g1 = ((1 - alpha_f) a1 + alpha_f a0 - alpha_m g0) / (1 - alpha_m),
q1 = q0 + h v0 + h^2 ((1/2 - beta) g0 + beta g1), v1 = v0 + h ((1 - gamma) g0 + gamma g1), f = 0 and Phi = 0 at the end.
Integrals along the step are by the trapezoidal rule, of the method's order.
"""

from __future__ import annotations

from kempe.kernels.call import call_vectors
from kempe.solvers import quasi_definite as qd
from kempe.solvers.directions import pull, push
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import Equations, Work, fused, place_all, run_program
from kempe.solvers.newmark import error_share
from kempe.solvers.pack import window
from kempe.solvers.program import load_weights
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
    solve_against,
    solve_along,
    solve_stage,
    stir,
    zero,
)
from kempe.solvers.tape import Tape, take_state
from kempe.solvers.vectors import copy

#: The places of the constants.
ALPHA_M, ALPHA_F, BETA, GAMMA = range(4)
#: Which of the factors kept are those of the start, and of the step.
AT_START, OF_STEP = 0, 1


@compiled
def _begin(eq, wk, s, tape, row):
    """At the start: the factors of a step that began afresh, and the integrands; 0 where that failed."""
    take_state(tape.start[row], s.at)
    s.at.t = tape.t[row, 0]
    if tape.switch[row] > 0:
        if solve_stage(eq, wk, s, s.at, AT_START) == 0:
            return 0
    else:
        place_all(eq, wk, s.at)
    if at_kink(s, tape.t[row, 0]):
        lean(eq, s, tape.start[row], s.leaning)
        place_all(eq, wk, s.at)
    return 1


@compiled
def _finish(eq, wk, s, tape, row):
    """At the end: the matrix of the step, factored; 0 where that failed."""
    n, m, h, c = eq.n, eq.m, tape.t[row, 1] - tape.t[row, 0], s.constants
    factor_a = (1.0 - c[ALPHA_M]) / (h * h * c[BETA] * (1.0 - c[ALPHA_F]))
    to_v, to_q = c[GAMMA] / (h * c[BETA] * factor_a), 1.0 / factor_a
    take_state(tape.end[row], s.at)
    s.at.t = tape.t[row, 1]
    load_weights(eq.layout, 1.0, to_v, to_q, wk.x)
    place_all(eq, wk, s.at)
    stepping = eq.whole.stepping  # (which another thread may switch on)
    if stepping > 0:
        call_vectors(fused(eq, stepping), (wk.x, eq.step_shift, wk.out, s.lu[OF_STEP]))
    else:
        run_program(eq.tangent, wk)
    values = window(wk.out, n + m, wk.out.shape[0])
    for i in range(s.values.shape[1]):
        s.values[OF_STEP, i] = values[i]
    if at_kink(s, tape.t[row, 1]):
        lean(eq, s, tape.end[row], -s.leaning)
        place_all(eq, wk, s.at)
    if stepping > 0:
        return int(qd.sound(eq.plan, s.lu[OF_STEP]))
    return int(qd.factor(eq.plan, s.values[OF_STEP], eq.step_shift, s.lu[OF_STEP], s.sweep))


@compiled
def _rescaled(tape, row, n):
    """By how much accelerations of the algorithm were stretched for this step: h over the step before."""
    last = tape.more[row, n]
    return (tape.t[row, 1] - tape.t[row, 0]) / last if last > 0.0 else 1.0


@compiled
def _push_start(eq, wk, s, tape, row, dx, dp, dq, dv, dal, dg, t0, t1, total):
    """Directions of the accelerations at the start, and of the integrands there."""
    n, h = eq.n, tape.t[row, 1] - tape.t[row, 0]
    if tape.switch[row] > 0:
        push_accelerations(eq, wk, s, AT_START, dx, dq, dv, t0, dal)
        for i in range(n):
            dg[i] = dal[i]
    else:
        ratio = _rescaled(tape, row, n)
        for i in range(n):
            dg[i] = dal[i] + ratio * (dg[i] - dal[i])
    if s.integrand.size > 0:
        add_scaled(total, 0.5 * (t1 - t0), s.ends)
        push_gauge(s.integrand, wk, s, s.at, dx, dp, dq, dv, dal, n, t0, eq.layout)
        add_scaled(total, 0.5 * h, s.integrand.outputs)


@compiled
def _push_end(eq, wk, s, tape, row, dx, dp, dq, dv, dal, dg, t0, t1, total):
    """Directions at the end."""
    n, m, h, c, dh = eq.n, eq.m, tape.t[row, 1] - tape.t[row, 0], s.constants, t1 - t0
    am, af, beta, gamma = c[ALPHA_M], c[ALPHA_F], c[BETA], c[GAMMA]
    factor_a = (1.0 - am) / (h * h * beta * (1.0 - af))
    to_v, to_q = gamma / (h * beta * factor_a), 1.0 / factor_a
    start, end, g0 = tape.start[row], tape.end[row], tape.more[row]
    known = s.one
    for i in range(n):
        known[i] = (af * dal[i] - am * dg[i]) / (1.0 - am)
        g1 = ((1.0 - af) * end[2 * n + i] + af * start[2 * n + i] - am * g0[i]) / (1.0 - am)
        dq[i] += h * dv[i] + h * h * ((0.5 - beta) * dg[i] + beta * known[i])
        dq[i] += dh * (start[n + i] + 2.0 * h * ((0.5 - beta) * g0[i] + beta * g1))
        dv[i] += h * ((1.0 - gamma) * dg[i] + gamma * known[i]) + dh * ((1.0 - gamma) * g0[i] + gamma * g1)
    put_direction(eq.layout, dq, dv, s.nothing, n, t1, dx)
    push(s.residual, wk.x, dx, s.out)
    for i in range(n + m):
        s.rhs[i] = -s.out[i] if i < n else -factor_a * s.out[i]
    solve_along(eq, s, s.lu[OF_STEP], s.values[OF_STEP])
    for i in range(n + m):
        dal[i] = s.solution[i]
    for i in range(n):
        dq[i] += to_q * dal[i]
        dv[i] += to_v * dal[i]
        dg[i] = known[i] + (1.0 - af) / (1.0 - am) * dal[i]
    if s.integrand.size > 0:
        add_scaled(total, 0.5 * dh, s.ends)
        push_gauge(s.integrand, wk, s, s.at, dx, dp, dq, dv, dal, n, t1, eq.layout)
        add_scaled(total, 0.5 * h, s.integrand.outputs)


@compiled
def _integrands(wk, s, weight):
    """The integrands at the state in the inputs, kept and counted."""
    if s.integrand.size > 0:
        read_gauge(s.integrand, wk, s, s.at)
        copy_some(s.integrand.outputs, s.ends)
        add_scaled(s.integral, weight, s.ends)


@compiled
def _stray(eq, s, row, h, old, new):
    """The method's own estimate of its error, for a direction: steps may be too long for it alone."""
    share = error_share(s.constants[ALPHA_M], s.constants[ALPHA_F], s.constants[BETA])
    for i in range(eq.n):
        s.strays[row] = max(s.strays[row], share * h * h * abs(new[i] - old[i]) / (eq.scale[i] * s.reach[0]))


@piece
def push_step(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Directions at the end of a step from those at its start, and integrals along it; 0 where that failed."""
    h, ends, D = tape.t[row, 1] - tape.t[row, 0], ends_at_switch(tape, row), s.dq.shape[0]
    watched = s.strays.shape[0] > 0 and s.dt[D - 1] == 0.0
    if watched:
        stir(eq, s, s.dq[D - 1], s.dv[D - 1])
    if _begin(eq, wk, s, tape, row) == 0:
        return 0
    _integrands(wk, s, 0.5 * h)
    for d in range(D):
        _push_start(
            eq, wk, s, tape, row, s.dx[d], s.dp[d], s.dq[d], s.dv[d], s.dal[d], s.dg[d], s.dt[d], 0.0, s.dintegral[d]
        )
    if ends:
        for part in (s.end_q, s.end_v, s.end_integral, s.end_al, s.end_g):
            zero(part)
        _push_start(eq, wk, s, tape, row, s.flow, s.none, s.end_q, s.end_v, s.end_al, s.end_g, 0.0, 1.0, s.end_integral)
    if _finish(eq, wk, s, tape, row) == 0:
        return 0
    _integrands(wk, s, 0.5 * h)
    if watched:
        copy(s.dg[D - 1], s.two)
    for d in range(D):
        _push_end(
            eq, wk, s, tape, row, s.dx[d], s.dp[d], s.dq[d], s.dv[d], s.dal[d], s.dg[d], s.dt[d], 0.0, s.dintegral[d]
        )
        s.dt[d] = 0.0
    if watched:
        _stray(eq, s, row, h, s.two, s.dg[D - 1])
    if ends:
        _push_end(eq, wk, s, tape, row, s.flow, s.none, s.end_q, s.end_v, s.end_al, s.end_g, 0.0, 1.0, s.end_integral)
    return 1


@piece
def pull_step(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Weights at the start of a step from those at its end; that of the time there goes to ``s.tbar``."""
    if _finish(eq, wk, s, tape, row) == 0:
        return 0
    _integrands(wk, s, 0.0)
    for f in range(s.qbar.shape[0]):
        _pull_end(eq, wk, s, tape, row, f)
    if _begin(eq, wk, s, tape, row) == 0:
        return 0
    _integrands(wk, s, 0.0)
    for f in range(s.qbar.shape[0]):
        _pull_start(eq, wk, s, tape, row, f)
    return 1


@piece
def _pull_end(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int, f: int) -> int:
    """From the end to q0, v0, a0 and g0, whose weights take the places of those at the end."""
    n, m, h, c = eq.n, eq.m, tape.t[row, 1] - tape.t[row, 0], s.constants
    am, af, beta, gamma = c[ALPHA_M], c[ALPHA_F], c[BETA], c[GAMMA]
    factor_a = (1.0 - am) / (h * h * beta * (1.0 - af))
    to_v, to_q = gamma / (h * beta * factor_a), 1.0 / factor_a
    start, end, g0 = tape.start[row], tape.end[row], tape.more[row]
    q, v, al, g = s.qbar[f], s.vbar[f], s.albar[f], s.gbar[f]
    hbar = 0.0
    if s.integrand.size > 0:
        for k in range(s.integrand.size):
            hbar += 0.5 * s.seed[f, k] * s.ends[k]
        pull_gauge(s.integrand, wk, s, s.at, f, s.seed[f], 0.5 * h, q, v, al)
        collect(eq.layout, s.xbar[f], q, v, al, n)
    known = s.one
    for i in range(n):
        al[i] += (1.0 - af) / (1.0 - am) * g[i]
        known[i] = g[i]
        s.rhs[i] = al[i] + to_v * v[i] + to_q * q[i]
    for i in range(n, n + m):
        s.rhs[i] = al[i]
    solve_against(eq, s, s.lu[OF_STEP], s.values[OF_STEP])
    for i in range(n + m):
        s.out[i] = -s.solution[i] if i < n else -factor_a * s.solution[i]
    pull(s.residual, wk.x, s.out, s.xbar[f])
    collect(eq.layout, s.xbar[f], q, v, s.remainder, n)
    for i in range(n):
        g1 = ((1.0 - af) * end[2 * n + i] + af * start[2 * n + i] - am * g0[i]) / (1.0 - am)
        hbar += q[i] * (start[n + i] + 2.0 * h * ((0.5 - beta) * g0[i] + beta * g1))
        hbar += v[i] * ((1.0 - gamma) * g0[i] + gamma * g1)
        known[i] += h * h * beta * q[i] + h * gamma * v[i]
        g[i] = h * h * (0.5 - beta) * q[i] + h * (1.0 - gamma) * v[i] - am / (1.0 - am) * known[i]
        al[i] = af / (1.0 - am) * known[i]
        v[i] += h * q[i]
    for i in range(n, n + m):
        al[i] = 0.0
    s.tbar[f] = -hbar
    return 1


@piece
def _pull_start(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int, f: int) -> int:
    """What the start is made of: integrands, stretched accelerations of the algorithm, or a fresh beginning."""
    n, h = eq.n, tape.t[row, 1] - tape.t[row, 0]
    q, v, al, g = s.qbar[f], s.vbar[f], s.albar[f], s.gbar[f]
    if s.integrand.size > 0:
        for k in range(s.integrand.size):
            s.tbar[f] -= 0.5 * s.seed[f, k] * s.ends[k]
        s.tbar[f] += pull_gauge(s.integrand, wk, s, s.at, f, s.seed[f], 0.5 * h, q, v, al)
        s.tbar[f] += collect(eq.layout, s.xbar[f], q, v, al, n)
    if tape.switch[row] > 0:
        for i in range(n):
            al[i] += g[i]
            g[i] = 0.0
        s.tbar[f] += pull_accelerations(eq, wk, s, AT_START, f, al, q, v)
        zero(al)
    else:
        ratio = _rescaled(tape, row, n)
        for i in range(n):
            al[i] += (1.0 - ratio) * g[i]
            g[i] *= ratio
    return 1
