"""Directions and weights through a step of explicit Runge-Kutta with projection (``runge_kutta``, ``lagrangian``).

The stages are computed again from the state at the start. The projections at the end move a state by its local error;
they are differentiated as projections of directions, with what depends on how far they moved left out.
"""

from __future__ import annotations

from kempe.solvers.directions import pull, push
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import Equations, Work, place_all
from kempe.solvers.runge_kutta import STAGES, A, C
from kempe.solvers.slopes import (
    Slopes,
    add_scaled,
    collect,
    pull_accelerations,
    pull_gauge,
    push_accelerations,
    push_gauge,
    put_direction,
    read_gauge,
    solve_against,
    solve_along,
    solve_stage,
    zero,
)
from kempe.solvers.tape import Tape, take_state
from kempe.solvers.vectors import copy


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
    if solve_stage(eq, wk, s, s.at, stage) == 0:
        return 0
    copy(s.at.q, s.q[stage])
    copy(s.at.v, s.v[stage])
    copy(s.at.al, s.al[stage])
    return 1


@compiled
def project_direction(eq, wk, s, k, d):
    """Bring a direction of the state of stage k, which is in the inputs, to the constraints."""
    n, m, dq, dv = eq.n, eq.m, s.dq[d], s.dv[d]
    for level in range(2):
        put_direction(eq.layout, dq, dv, s.nothing, n, 0.0, s.dx[d])
        push(s.velocity, wk.x, s.dx[d], s.out)
        for i in range(n):
            s.rhs[i] = 0.0
        for i in range(m):
            s.rhs[n + i] = -s.out[level * m + i]
        solve_along(eq, s, s.lu[k], s.values[k])
        add_scaled(dv if level > 0 else dq, 1.0, s.solution[:n])


@compiled
def project_weight(eq, wk, s, k, f):
    """The same for the weights of the state, backward."""
    n, m = eq.n, eq.m
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
        collect(eq.layout, s.xbar[f], s.qbar[f], s.vbar[f], s.remainder, n)


@piece
def push_step(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Directions at the end of a step from those at its start, and integrals along it; 0 where that failed."""
    n, h, g = eq.n, tape.t[row, 1] - tape.t[row, 0], s.integrand
    dQ, dV = s.one, s.two
    for stage in range(STAGES):
        if _stage(eq, wk, s, tape, row, stage) == 0:
            return 0
        weight = h * A[STAGES, stage]
        if g.size > 0 and weight != 0.0:
            read_gauge(g, wk, s, s.at)
            add_scaled(s.integral, weight, g.outputs)
        for d in range(s.dq.shape[0]):
            for i in range(n):
                q, v = 0.0, 0.0
                for j in range(stage):
                    q += A[stage, j] * s.first[d, j, i]
                    v += A[stage, j] * s.second[d, j, i]
                dQ[i], dV[i] = s.dq[d, i] + h * q, s.dv[d, i] + h * v
                s.first[d, stage, i] = dV[i]
            push_accelerations(eq, wk, s, stage, s.dx[d], dQ, dV, 0.0, s.second[d, stage])
            if g.size > 0 and weight != 0.0:
                push_gauge(g, wk, s, s.at, d, dQ, dV, s.second[d, stage], n, 0.0, eq.layout)
                add_scaled(s.dintegral[d], weight, g.outputs)
    if _stage(eq, wk, s, tape, row, STAGES) == 0:
        return 0
    for d in range(s.dq.shape[0]):
        for j in range(STAGES):
            for i in range(n):
                s.dq[d, i] += h * A[STAGES, j] * s.first[d, j, i]
                s.dv[d, i] += h * A[STAGES, j] * s.second[d, j, i]
        project_direction(eq, wk, s, STAGES, d)
    return 1


@piece
def pull_step(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Weights at the start of a step from those at its end, with those of integrals along it; 0 where that failed."""
    n, h = eq.n, tape.t[row, 1] - tape.t[row, 0]
    for stage in range(STAGES + 1):
        if _stage(eq, wk, s, tape, row, stage) == 0:
            return 0
    F = s.qbar.shape[0]
    for f in range(F):
        project_weight(eq, wk, s, STAGES, f)
        for j in range(STAGES):
            for i in range(n):
                s.first[f, j, i] = h * A[STAGES, j] * s.qbar[f, i]
                s.second[f, j, i] = h * A[STAGES, j] * s.vbar[f, i]
            for i in range(n, n + eq.m):
                s.second[f, j, i] = 0.0
    for stage in range(STAGES - 1, -1, -1):
        _place_stage(eq, wk, s, tape, row, stage)
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
    n, g, weight = eq.n, s.integrand, h * A[STAGES, stage]
    Q, V, albar = s.one, s.two, s.second[f, stage]
    zero(Q)
    copy(s.first[f, stage], V)
    if g.size > 0 and weight != 0.0:
        pull_gauge(g, wk, s, s.at, f, s.seed[f], weight, Q, V, albar)
        collect(eq.layout, s.xbar[f], Q, V, albar, n)
    pull_accelerations(eq, wk, s, stage, f, albar, Q, V)
    for i in range(n):
        s.qbar[f, i] += Q[i]
        s.vbar[f, i] += V[i]
    for j in range(stage):
        a = h * A[stage, j]
        if a != 0.0:
            for i in range(n):
                s.first[f, j, i] += a * Q[i]
                s.second[f, j, i] += a * V[i]
    return 1
