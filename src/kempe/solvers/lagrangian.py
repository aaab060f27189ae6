"""The form of index 1: accelerations and multipliers from one linear system, for explicit Runge-Kutta.

Lagrange multipliers with projection to the constraints after every step; Baumgarte's stabilisation; penalty; augmented
Lagrangian in accelerations (eq. 10.91 of Garcia de Jalon and Bayo).
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.course import FAILED, REACHED, SINGULAR, Course, call
from kempe.solvers.jit import piece
from kempe.solvers.motion import (
    Equations,
    Work,
    accelerate,
    accelerations,
    copy_state,
    evaluate,
    explicit_at,
    powers,
    project_position,
    project_velocity,
    violation_at,
)
from kempe.solvers.runge_kutta import STAGES, Memory
from kempe.solvers.vectors import copy


@piece
def put_rates(eq: Equations, wk: Work, course: Course, memory: Memory, stage: int) -> int:
    """The rate of the integrated vector from known accelerations."""
    n, f, at = eq.n, memory.k[stage], memory.at
    for i in range(n):
        f[i] = at.v[i]
        f[n + i] = at.al[i]
    f[2 * n] = 0.0
    f[2 * n + 1] = 0.0
    if course.audit > 0:
        powers(eq, wk, at)
        f[2 * n] = wk.e[3]
        f[2 * n + 1] = wk.e[4]
    return 1


@piece
def rates(eq: Equations, wk: Work, course: Course, memory: Memory, stage: float) -> int:
    """The rate of the trial vector, as a stage."""
    course.evaluations += 1
    course.factorisations += 1
    # factors are left behind by the last stage, for the projection, and at ends of steps, for those who watch pivots
    if stage == 0.0 or stage == STAGES - 1 or stage == STAGES:
        if evaluate(eq, wk, memory.at) == 0:
            return SINGULAR
        if not accelerations(eq, wk, memory.at, memory.omega, memory.damping, memory.stage_refinements) < np.inf:
            return SINGULAR
    elif accelerate(eq, wk, memory.at, memory.omega, memory.damping, memory.stage_refinements) == 0:
        return SINGULAR
    put_rates(eq, wk, course, memory, int(stage))
    return REACHED


@piece
def start(eq: Equations, wk: Work, course: Course, memory: Memory, _: float) -> int:
    """The integrated vector of the present state, and its rate by the form at hand as the first stage."""
    n, now = eq.n, course.now
    copy_state(now, memory.at)
    memory.trial[2 * n] = now.dissipated
    memory.trial[2 * n + 1] = now.supplied
    code = call(memory.rates_at, eq, wk, course, course.memory_at, 0.0)
    copy(memory.at.al, now.al)
    return code


@piece
def finish(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """The state at the end of a step: projected if wished, with its rate as stage 12."""
    n, at = eq.n, memory.at
    if memory.project == 0:
        code = rates(eq, wk, course, memory, float(STAGES))
        if code != REACHED:
            return code
        course.violation = max(course.violation, violation_at(eq, wk, at))
    else:
        limit = 1e3 * max(course.tolerance, 1e-12) if course.fixed == 0.0 else np.inf
        left = project_position(eq, wk, at, limit)
        if not left < np.inf:
            return FAILED
        course.violation = max(course.violation, left)
        course.factorisations += 1
        if evaluate(eq, wk, at) == 0:
            return SINGULAR
        moved = project_velocity(eq, wk, at)
        if not moved < np.inf:
            return FAILED
        if moved > course.pushed * course.tolerance * course.rate:
            course.pushed, course.pushed_at = moved / (course.tolerance * course.rate), at.t
        if moved > 1e-3 * course.tolerance * course.rate:
            explicit_at(eq, wk, at)
        refined = accelerations(eq, wk, at, memory.omega, memory.damping, course.refinements)
        if not refined < np.inf:
            return SINGULAR
        if memory.own_refinements == 0:  # where refinement changes nothing that counts, the next stages do without
            memory.stage_refinements = 0 if refined < 1e-2 * course.tolerance else course.refinements
        put_rates(eq, wk, course, memory, STAGES)
    at.dissipated, at.supplied = memory.trial[2 * n], memory.trial[2 * n + 1]
    if course.audit > 0:
        course.energy = max(course.energy, wk.e[0])
    copy_state(at, course.next)
    return REACHED
