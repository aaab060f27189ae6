"""Points of the output grid written down, and the work of forces added up, from the motion within steps."""

from __future__ import annotations

import numpy as np

from kempe.solvers.course import Course, call, refinements
from kempe.solvers.jit import compiled, piece, rare
from kempe.solvers.motion import (
    Equations,
    State,
    Work,
    consistent,
    copy_state,
    hermite,
    powers,
    solve_state,
    violation_at,
)


@compiled
def _work(p, theta, h):
    """The work, up to a share of a step, from the powers at its quarters."""
    return integral(p[0], p[1], p[2], p[3], p[4], theta, h)


@compiled
def integral(p0, p1, p2, p3, p4, theta, h):
    """The integral, up to a share of a step, of the quartic through values at its quarters; Boole's rule for 1."""
    u = 4.0 * theta
    d1, d2, d3 = p1 - p0, p2 - 2.0 * p1 + p0, p3 - 3.0 * p2 + 3.0 * p1 - p0
    d4 = p4 - 4.0 * p3 + 6.0 * p2 - 4.0 * p1 + p0
    total = p0 + u * (d1 / 2.0 - d2 / 4.0 + d3 / 6.0 - d4 / 8.0)
    total += u * u * (d2 / 6.0 - d3 / 6.0 + 11.0 * d4 / 72.0) + u**3 * (d3 / 24.0 - d4 / 16.0) + u**4 * d4 / 120.0
    return 0.25 * h * u * total


@piece
def within(eq: Equations, wk: Work, course: Course, theta: float) -> int:
    """The state at a share of the last step, into ``course.inside``; its ends are exact."""
    inside, before, now = course.inside, course.before, course.now
    if theta >= 1.0:
        copy_state(now, inside)
        return 0
    if theta <= 0.0:
        copy_state(before, inside)
        return 0
    h = now.t - before.t
    inside.dissipated, inside.supplied = before.dissipated, before.supplied
    code = call(course.inside_at, eq, wk, course, course.memory_at, theta)
    inside.t = before.t + theta * h
    if course.own_work == 0 and course.audit > 0:
        inside.dissipated = before.dissipated + _work(course.powers[0], theta, h)
        inside.supplied = before.supplied + _work(course.powers[1], theta, h)
    return code


@compiled
def between_ends(course, theta):
    """The state at a share of the last step by the quintic of its ends, which costs no evaluations."""
    h = course.now.t - course.before.t
    if course.rough > 0:
        hermite(theta, h, course.edge_before, course.edge_now, course.inside)
    else:
        hermite(theta, h, course.before, course.now, course.inside)
    course.inside.t = course.before.t + theta * h


@piece
def hermite_within(eq: Equations, wk: Work, course: Course, memory: State, theta: float) -> int:
    """The interpolant of integrators that have none of their own."""
    between_ends(course, theta)
    for k in range(eq.n, eq.n + eq.m):
        course.inside.al[k] = (1.0 - theta) * course.before.al[k] + theta * course.now.al[k]
    return 0


@compiled
def write(eq, wk, course, state, left):
    """Write one output point down."""
    out = course.outputs
    k = out.written
    out.t[k] = state.t
    for i in range(eq.n):
        out.q[k, i] = state.q[i]
        out.v[k, i] = state.v[i]
    for i in range(eq.n + eq.m):
        out.al[k, i] = state.al[i]
    powers(eq, wk, state)
    for i in range(3):
        out.e[k, i] = wk.e[i]
    out.e[k, 3] = state.dissipated
    out.e[k, 4] = state.supplied
    out.e[k, 5] = left
    out.written = k + 1


@piece
def write_until(eq: Equations, wk: Work, course: Course, t: float) -> int:
    """Write down the output points up to a time within the last step; 0 where that failed."""
    out, before, now = course.outputs, course.before, course.now
    if not (out.written < out.grid.shape[0] and out.grid[out.written] <= t):
        return 1
    course.violation = max(course.violation, violation_at(eq, wk, now))
    h = now.t - before.t
    while out.written < out.grid.shape[0] and out.grid[out.written] <= t:
        at = out.grid[out.written]
        code = within(eq, wk, course, (at - before.t) / h if h > 0.0 else 1.0)
        course.inside.t = at
        if code != 0:
            return 0
        if course.crossing > 0:
            left = violation_at(eq, wk, course.inside)
        else:
            left = consistent(eq, course.beside, course.inside, np.inf, refinements(course))
        if not left < np.inf:
            return 0
        write(eq, wk, course, course.inside, left)
    return 1


@piece
def write_now(eq: Equations, wk: Work, course: Course) -> int:
    """Write the present state down, where a run stops, unless it is written already."""
    out, t = course.outputs, course.now.t
    k = out.written
    written = k > 0 and t - out.t[k - 1] <= 1e-12 * (1.0 + abs(t))
    if k < out.grid.shape[0] and not written:
        write(eq, wk, course, course.now, violation_at(eq, wk, course.now))
    return 1


@rare
def accumulate(eq: Equations, wk: Work, course: Course, _: State, number: float) -> int:
    """Add the work of the last step, from the powers at its ends and at three points between.

    With a negative number: only look at the powers of the present state, from which the next step starts.
    """
    p, now, before = course.powers, course.now, course.before
    h = now.t - before.t
    p[0, 0], p[1, 0] = p[0, 4], p[1, 4]
    for k in range(1 if number >= 0.0 else 4, 5):
        if k < 4:
            call(course.inside_at, eq, wk, course, course.memory_at, 0.25 * k)
            course.inside.t = before.t + 0.25 * k * h
        else:
            copy_state(now, course.inside)
        if course.audit > 1 and course.crossing == 0:
            # where constraints move, multipliers are solved for: those of implicit methods are not as accurate
            solve_state(eq, course.beside, course.inside, refinements(course))
        powers(eq, wk, course.inside)
        p[0, k], p[1, k] = wk.e[3], wk.e[4]
    if number >= 0.0:
        now.dissipated = before.dissipated + _work(p[0], 1.0, h)
        now.supplied = before.supplied + _work(p[1], 1.0, h)
    return 0
