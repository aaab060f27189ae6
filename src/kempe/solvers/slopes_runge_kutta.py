"""Directions and weights through a step of explicit Runge-Kutta with projection (``runge_kutta``, ``lagrangian``).

The stages are computed again from the state at the start. A step that begins at an instant of switching begins at a
time that moves; one that ends at such an instant is pushed along its end besides (``push_end``). The projections at the
end move a state by its local error; they are differentiated as projections of directions, with what depends on how far
they moved left out.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.directions import pull, push
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import Equations, Work, place_all
from kempe.solvers.runge_kutta import E3, E5, STAGES, A, C
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
from kempe.solvers.vectors import copy, dot


@compiled
def _put_stage(s, start, n, h, stage):
    """Position and velocity of a stage, from those before it."""
    for i in range(n):
        q, v = 0.0, 0.0
        for j in range(stage):
            q += A[stage, j] * s.v[j, i]
            v += A[stage, j] * s.al[j, i]
        s.at.q[i] = start[i] + h * q
        s.at.v[i] = start[n + i] + h * v


@compiled
def _stage(eq, wk, s, tape, row, stage):
    """Solve a stage and keep it; the end of the step is the last."""
    n, t, h = eq.n, tape.t[row, 0], tape.t[row, 1] - tape.t[row, 0]
    if stage == STAGES:
        take_state(tape.end[row], s.at)
        s.at.t = tape.t[row, 1]
    else:
        _put_stage(s, tape.start[row], n, h, stage)
        s.at.t = t + C[stage] * h
        for k in range(n, n + eq.m):  # (a guess, where forces depend on multipliers)
            s.at.al[k] = tape.start[row, 2 * n + k]
    _lean(eq, s, tape, row, stage)
    if solve_stage(eq, wk, s, s.at, stage) == 0:
        return 0
    copy(s.at.q, s.q[stage])
    copy(s.at.v, s.v[stage])
    copy(s.at.al, s.al[stage])
    return 1


@compiled
def _lean(eq, s, tape, row, stage):
    """Take the side of a kink at which the step begins or ends."""
    if stage == 0:
        if at_kink(s, tape.t[row, 0]):
            lean(eq, s, tape.start[row], s.leaning)
    elif (stage == STAGES or C[stage] == 1.0) and at_kink(s, tape.t[row, 1]):
        lean(eq, s, tape.end[row], -s.leaning)


@compiled
def project_direction(eq, wk, s, k, dx, dq, dv, dt):
    """Bring a direction of the state of stage k, which is in the inputs, to the constraints."""
    n, m = eq.n, eq.m
    for level in range(2):
        put_direction(eq.layout, dq, dv, s.nothing, n, dt, dx)
        push(s.velocity, wk.x, dx, s.out)
        for i in range(n):
            s.rhs[i] = 0.0
        for i in range(m):
            s.rhs[n + i] = -s.out[level * m + i]
        solve_along(eq, s, s.lu[k], s.values[k])
        target = dv if level > 0 else dq
        for i in range(n):
            target[i] += s.solution[i]


@compiled
def project_weight(eq, wk, s, k, f):
    """The same for the weights of the state, backward; the weight of the time is returned."""
    n, m, tbar = eq.n, eq.m, 0.0
    for level in range(1, -1, -1):
        bar = s.vbar[f] if level > 0 else s.qbar[f]
        for i in range(n + m):
            s.rhs[i] = bar[i] if i < n else 0.0
        solve_against(eq, s, s.lu[k], s.values[k])
        for i in range(2 * m):
            s.out[i] = 0.0
        for i in range(m):
            s.out[level * m + i] = -s.solution[n + i]
        pull(s.velocity, wk.x, s.out, s.xbar[f])
        tbar += collect(eq.layout, s.xbar[f], s.qbar[f], s.vbar[f], s.remainder, n)
    return tbar


@compiled
def _push_stage(eq, wk, s, stage, h, dx, dp, dq, dv, first, second, t0, t1, total):
    """The direction of one stage, which is in the inputs, from those before it; integrals are added up."""
    n, g, dh, weight = eq.n, s.integrand, t1 - t0, A[STAGES, stage]
    dQ, dV, dt = s.one, s.two, t0 + C[stage] * (t1 - t0)
    for i in range(n):
        q, v = 0.0, 0.0
        for j in range(stage):
            q += A[stage, j] * (h * first[j, i] + dh * s.v[j, i])
            v += A[stage, j] * (h * second[j, i] + dh * s.al[j, i])
        dQ[i], dV[i] = dq[i] + q, dv[i] + v
        first[stage, i] = dV[i]
    push_accelerations(eq, wk, s, stage, dx, dQ, dV, dt, second[stage])
    if g.size > 0 and weight != 0.0:
        if dh != 0.0:
            add_scaled(total, dh * weight, s.ends)
        push_gauge(g, wk, s, s.at, dx, dp, dQ, dV, second[stage], n, dt, eq.layout)
        add_scaled(total, h * weight, g.outputs)


@compiled
def _stray(eq, s, row, h, first, second):
    """By how much the embedded formulas differ along a direction: steps may be too long for it alone."""
    for k in range(2):
        stages = second if k > 0 else first
        three, five = 0.0, 0.0
        for i in range(eq.n):
            e3, e5 = 0.0, 0.0
            for j in range(STAGES):
                e3 += E3[j] * stages[j, i]
                e5 += E5[j] * stages[j, i]
            three, five = max(three, abs(e3) / eq.scale[i]), max(five, abs(e5) / eq.scale[i])
        if five > 0.0:
            off = h * five * five / np.sqrt(five * five + 0.01 * three * three)
            s.strays[row] = max(s.strays[row], off / s.reach[k])


@compiled
def _push_finish(eq, wk, s, h, dx, dq, dv, first, second, t0, t1):
    """The direction at the end, whose state is in the inputs."""
    n, dh = eq.n, t1 - t0
    for j in range(STAGES):
        for i in range(n):
            dq[i] += A[STAGES, j] * (h * first[j, i] + dh * s.v[j, i])
            dv[i] += A[STAGES, j] * (h * second[j, i] + dh * s.al[j, i])
    project_direction(eq, wk, s, STAGES, dx, dq, dv, t1)


@piece
def push_step(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Directions at the end of a step from those at its start, and integrals along it; 0 where that failed.

    ``s.dt`` is how its start moves. Where its end is an instant of switching, how the state there changes with it goes
    to ``s.end_q``, ``s.end_v`` and ``s.end_integral``.
    """
    h, g, ends = tape.t[row, 1] - tape.t[row, 0], s.integrand, ends_at_switch(tape, row)
    D, doubts = s.dq.shape[0], s.doubts.shape[0] > 0
    zero(s.three_sums)
    zero(s.five_sums)
    if ends:
        zero(s.end_q)
        zero(s.end_v)
        zero(s.end_integral)
    watched = s.strays.shape[0] > 0 and s.dt[D - 1] == 0.0
    if watched:
        stir(eq, s, s.dq[D - 1], s.dv[D - 1])
    for stage in range(STAGES):
        if _stage(eq, wk, s, tape, row, stage) == 0:
            return 0
        if g.size > 0:
            read_gauge(g, wk, s, s.at)
            copy_some(g.outputs, s.ends)
            add_scaled(s.integral, h * A[STAGES, stage], s.ends)
            if doubts:
                for i in range(g.size):
                    s.sizes[i] += h / STAGES * abs(s.ends[i])
                add_scaled(s.three_sums, E3[stage], s.ends)
                add_scaled(s.five_sums, E5[stage], s.ends)
        for d in range(D):
            _push_stage(
                eq,
                wk,
                s,
                stage,
                h,
                s.dx[d],
                s.dp[d],
                s.dq[d],
                s.dv[d],
                s.first[d],
                s.second[d],
                s.dt[d],
                0.0,
                s.dintegral[d],
            )
        if ends:
            _push_stage(
                eq, wk, s, stage, h, s.flow, s.none, s.end_q, s.end_v, s.first[D], s.second[D], 0.0, 1.0, s.end_integral
            )
    if doubts:
        for i in range(g.size):
            three, five = s.three_sums[i] ** 2, s.five_sums[i] ** 2
            s.doubts[row, i] = h * five / np.sqrt(five + 0.01 * three) if five > 0.0 else 0.0
    if D == 0 and not ends:
        return 1
    if _stage(eq, wk, s, tape, row, STAGES) == 0:
        return 0
    if watched:
        _stray(eq, s, row, h, s.first[D - 1], s.second[D - 1])
    for d in range(D):
        _push_finish(eq, wk, s, h, s.dx[d], s.dq[d], s.dv[d], s.first[d], s.second[d], s.dt[d], 0.0)
        s.dt[d] = 0.0
    if ends:
        _push_finish(eq, wk, s, h, s.flow, s.end_q, s.end_v, s.first[D], s.second[D], 0.0, 1.0)
    return 1


@piece
def pull_step(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Weights at the start of a step from those at its end, with those of integrals along it; 0 where that failed.

    The weight of the time at its start goes to ``s.tbar``.
    """
    n, h = eq.n, tape.t[row, 1] - tape.t[row, 0]
    for stage in range(STAGES + 1):
        if _stage(eq, wk, s, tape, row, stage) == 0:
            return 0
    F = s.qbar.shape[0]
    for f in range(F):
        project_weight(eq, wk, s, STAGES, f)
        s.tbar[f] = 0.0
        for j in range(STAGES):
            for i in range(n):
                s.tbar[f] -= A[STAGES, j] * (s.qbar[f, i] * s.v[j, i] + s.vbar[f, i] * s.al[j, i])
                s.first[f, j, i] = h * A[STAGES, j] * s.qbar[f, i]
                s.second[f, j, i] = h * A[STAGES, j] * s.vbar[f, i]
            for i in range(n, n + eq.m):
                s.second[f, j, i] = 0.0
    for stage in range(STAGES - 1, -1, -1):
        _place_stage(eq, wk, s, tape, row, stage)
        if s.integrand.size > 0:
            read_gauge(s.integrand, wk, s, s.at)
            copy_some(s.integrand.outputs, s.ends)
        for f in range(F):
            _pull_stage(eq, wk, s, f, stage, h)
    return 1


@compiled
def _place_stage(eq, wk, s, tape, row, stage):
    """Put a stage that was kept into the inputs."""
    copy(s.q[stage], s.at.q)
    copy(s.v[stage], s.at.v)
    copy(s.al[stage], s.at.al)
    s.at.t = tape.t[row, 0] + C[stage] * (tape.t[row, 1] - tape.t[row, 0])
    place_all(eq, wk, s.at)


@piece
def _pull_stage(eq: Equations, wk: Work, s: Slopes, f: int, stage: int, h: float) -> int:
    """The weights of one stage, spread to the start and to the stages before it."""
    n, g, weight, tbar = eq.n, s.integrand, A[STAGES, stage], 0.0
    Q, V, albar = s.one, s.two, s.second[f, stage]
    zero(Q)
    copy(s.first[f, stage], V)
    if g.size > 0 and weight != 0.0:
        s.tbar[f] -= weight * dot(s.seed[f], s.ends)
        tbar += pull_gauge(g, wk, s, s.at, f, s.seed[f], h * weight, Q, V, albar)
        tbar += collect(eq.layout, s.xbar[f], Q, V, albar, n)
    tbar += pull_accelerations(eq, wk, s, stage, f, albar, Q, V)
    s.tbar[f] += (1.0 - C[stage]) * tbar
    for i in range(n):
        s.qbar[f, i] += Q[i]
        s.vbar[f, i] += V[i]
    for j in range(stage):
        a = A[stage, j]
        if a != 0.0:
            for i in range(n):
                s.tbar[f] -= a * (Q[i] * s.v[j, i] + V[i] * s.al[j, i])
                s.first[f, j, i] += h * a * Q[i]
                s.second[f, j, i] += h * a * V[i]
    return 1
