"""Canonical momenta with an augmented Lagrangian: eq. 10.92 of Garcia de Jalon and Bayo, for explicit Runge-Kutta.

Velocities follow from (M + Phi_q^T alpha Phi_q) v = p - ..., solved as the quasi-definite system whose multipliers
sigma are the momenta of the constraints.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers import quasi_definite as qd
from kempe.solvers.course import FAILED, REACHED, SINGULAR, Course
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import (
    Equations,
    Work,
    accelerations,
    evaluate,
    explicit_at,
    explicit_values,
    project_position,
    project_velocity,
    run_program,
    solve,
)
from kempe.solvers.pack import window
from kempe.solvers.program import load_late_tables, load_multipliers, load_rates
from kempe.solvers.runge_kutta import STAGES, Memory
from kempe.solvers.vectors import copy


@piece
def rates(eq: Equations, wk: Work, course: Course, memory: Memory, stage: float) -> int:
    """The rate of the trial vector [q, p, work, integral of Phi], as a stage.

    Velocities and the multipliers of the momenta go to ``memory.at.al``.
    """
    n, m, at, f = eq.n, eq.m, memory.at, memory.k[int(stage)]
    p, total = at.v, window(memory.trial, 2 * n + 2, 2 * n + 2 + m)
    course.evaluations += 1
    course.factorisations += 1
    if evaluate(eq, wk, at) == 0:
        return SINGULAR
    sol, rhs, r, d = at.al, wk.residual, wk.rhs, wk.correction
    omega, damping = memory.omega, memory.damping
    for i in range(n):
        rhs[i] = p[i]
        sol[i] = 0.0
    for k in range(m):
        rhs[n + k] = wk.out[n + m + k] - 2.0 * damping * omega * wk.out[n + k] - omega * omega * total[k]
        f[2 * n + 2 + k] = wk.out[n + k]
        sol[n + k] = memory.sigma[k]
    last = np.inf
    for _ in range(course.refinements + 1):
        copy(rhs, r)
        qd.subtract_product(eq.plan, explicit_values(eq, wk), sol, r)
        solve(eq, wk)
        change, largest = 0.0, 1e-300
        for i in range(n):
            change = max(change, abs(d[i]) / eq.scale[i])
            largest = max(largest, abs(sol[i] + d[i]) / eq.scale[i])
        if not change < 0.5 * last:
            break
        for i in range(n + m):
            sol[i] += d[i]
        last = change
        if change < 1e-15 * largest:
            break
    load_rates(eq.layout, sol, wk.x)
    load_multipliers(eq.layout, window(sol, n, n + m), wk.x)
    load_late_tables(eq.layout, wk.x, wk.y)
    run_program(eq.canonical, wk)
    for i in range(n):
        f[i] = sol[i]
        f[n + i] = wk.out[i]
    f[2 * n] = 0.0
    f[2 * n + 1] = 0.0
    return REACHED


@compiled
def _put_momenta(eq, wk, memory, state):
    """The trial vector's p = M v + Phi_q^T sigma with the sigma at hand."""
    n, m = eq.n, eq.m
    explicit_at(eq, wk, state)
    sol, r = wk.change, wk.residual
    for i in range(n):
        sol[i] = state.v[i]
        r[i] = 0.0
    for k in range(m):
        sol[n + k] = memory.sigma[k]
        r[n + k] = 0.0
    qd.subtract_product(eq.plan, explicit_values(eq, wk), sol, r)
    for i in range(n):
        memory.trial[n + i] = -r[i]


@compiled
def _true_accelerations(eq, wk, course, state):
    """Accelerations and multipliers of a state, behind the momenta."""
    explicit_at(eq, wk, state)
    return accelerations(eq, wk, state, 0.0, 1.0, course.refinements) < np.inf


@piece
def start(eq: Equations, wk: Work, course: Course, memory: Memory, _: float) -> int:
    """The integrated vector of the present state, and its rate as the first stage."""
    now = course.now
    for k in range(memory.trial.shape[0]):
        memory.trial[k] = 0.0
    for k in range(eq.m):
        memory.sigma[k] = 0.0
    memory.age = 0
    copy(now.q, memory.at.q)
    memory.at.t = now.t
    _put_momenta(eq, wk, memory, now)
    return rates(eq, wk, course, memory, 0.0)


@piece
def finish(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """The state at the end of a step: projected if wished, with its rate as stage 12."""
    n, m, at, state = eq.n, eq.m, memory.at, course.next
    code = rates(eq, wk, course, memory, float(STAGES))
    if code != REACHED:
        return code
    for k in range(m):
        memory.sigma[k] = at.al[n + k]
    for i in range(n):
        state.q[i] = at.q[i]
        state.v[i] = memory.k[STAGES, i]
    if memory.project > 0:
        limit = 1e3 * max(course.tolerance, 1e-12) if course.fixed == 0.0 else np.inf
        left = project_position(eq, wk, state, limit)
        if not left < np.inf:
            return FAILED
        course.violation = max(course.violation, left)
        course.factorisations += 1
        if evaluate(eq, wk, state) == 0:
            return SINGULAR
        if not project_velocity(eq, wk, state) < np.inf:
            return FAILED
        copy(state.q, at.q)
        _put_momenta(eq, wk, memory, state)
        code = rates(eq, wk, course, memory, float(STAGES))
        if code != REACHED:
            return code
        for k in range(m):
            memory.sigma[k] = at.al[n + k]
    return REACHED if _true_accelerations(eq, wk, course, state) else SINGULAR
