"""What happens between the steps of a simulation: switches met, output points written down, work added up.

After a step an integrator calls ``after_step``, which looks for switches, puts the state at the earliest one found,
and writes down the output points passed.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.course import (
    AL,
    AL_0,
    AL_S,
    AUDIT,
    CHATTER,
    CHATTERING,
    DISSIPATED,
    DISSIPATED_0,
    EVENTS_FULL,
    EXTRA,
    FAILED,
    K_OUT,
    LAST_EVENT,
    N_EVENTS,
    OWN,
    Q_S,
    REACHED,
    STOPPED,
    SUPPLIED,
    SUPPLIED_0,
    SWITCHED,
    T_0,
    V_S,
    VIOLATION,
    Q,
    T,
    V,
    accept,
    between,
    dense,
    first_step,
    sweeps,
)
from kempe.solvers.jit import compiled, entry
from kempe.solvers.motion import (
    VALUE,
    consistent,
    first_modes,
    guard_values,
    powers,
    solve_state,
    switch,
    violation,
)
from kempe.solvers.pack import part
from kempe.solvers.program import load, run
from kempe.solvers.vectors import copy


@compiled
def _work(p, theta, h):
    """The integral, up to a share of a step, of the quartic through the powers at its quarters; Boole's rule for 1."""
    u = 4.0 * theta
    d1, d2, d3 = p[1] - p[0], p[2] - 2.0 * p[1] + p[0], p[3] - 3.0 * p[2] + 3.0 * p[1] - p[0]
    d4 = p[4] - 4.0 * p[3] + 6.0 * p[2] - 4.0 * p[1] + p[0]
    total = p[0] + u * (d1 / 2.0 - d2 / 4.0 + d3 / 6.0 - d4 / 8.0)
    total += u * u * (d2 / 6.0 - d3 / 6.0 + 11.0 * d4 / 72.0) + u**3 * (d3 / 24.0 - d4 / 16.0) + u**4 * d4 / 120.0
    return 0.25 * h * u * total


@compiled
def work_within(course, n, theta):
    """Work dissipated and supplied up to a share of the last step."""
    s, h = course.s, course.s[T] - course.s[T_0]
    if theta >= 1.0:
        return s[DISSIPATED], s[SUPPLIED]
    if s[OWN] == 1:
        d, e = 0.0, 0.0
        for r in range(6, -1, -1):
            share = theta if r % 2 == 0 else 1.0 - theta
            d = (d + course.f[r, 2 * n]) * share
            e = (e + course.f[r, 2 * n + 1]) * share
        return s[DISSIPATED_0] + d, s[SUPPLIED_0] + e
    p = course.powers
    return s[DISSIPATED_0] + _work(p[0], theta, h), s[SUPPLIED_0] + _work(p[1], theta, h)


@compiled
def write(eq, wk, course, t, q, v, al, dissipated, supplied, left):
    """Write one output point down."""
    n = eq.scale.shape[0]
    k = int(course.s[K_OUT])
    course.t_out[k] = t
    for i in range(n):
        course.q_out[k, i] = q[i]
        course.v_out[k, i] = v[i]
    for i in range(al.shape[0]):
        course.al_out[k, i] = al[i]
    powers(eq, wk, q, v, t, al[n:])
    for i in range(3):
        course.e_out[k, i] = wk.e[i]
    course.e_out[k, 3] = dissipated
    course.e_out[k, 4] = supplied
    course.e_out[k, 5] = left
    course.s[K_OUT] = k + 1


@compiled
def write_until(eq, wk, course, t):
    """Write down the output points up to a time within the last step, from the dense output."""
    s, n = course.s, eq.scale.shape[0]
    if not (s[K_OUT] < course.grid.shape[0] and course.grid[int(s[K_OUT])] <= t):
        return True
    load(eq.layout, course.x[Q, :n], s[T], wk.x, wk.y)
    run(part(eq.indices, VALUE), wk.x, wk.y, course.x[EXTRA])
    s[VIOLATION] = max(s[VIOLATION], violation(eq, course.x[EXTRA]))
    q, v, al = course.x[Q_S], course.x[V_S], course.x[AL_S]
    h = s[T] - s[T_0]
    while s[K_OUT] < course.grid.shape[0] and course.grid[int(s[K_OUT])] <= t:
        at = course.grid[int(s[K_OUT])]
        theta = (at - s[T_0]) / h if h > 0.0 else 1.0
        if theta >= 1.0:
            copy(course.x[Q], q)
            copy(course.x[V], v)
        else:
            dense(course, n, theta, q, v)
        left = consistent(eq, course.beside, q[:n], v[:n], at, al, course.x[EXTRA], np.inf, sweeps(course))
        if not left < np.inf:
            return False
        d, e = work_within(course, n, theta)
        write(eq, wk, course, at, q[:n], v[:n], al, d, e, left)
    return True


@compiled
def arm(eq, wk, course):
    """Evaluate the guards at the present state."""
    n = eq.scale.shape[0]
    if course.g.shape[1] > 0:
        guard_values(eq, wk, course.x[Q, :n], course.x[V, :n], course.s[T], course.x[AL, n:], course.g[1])


@compiled
def _multipliers(course, n, theta, lam):
    for k in range(n, course.x.shape[1]):
        lam[k - n] = (1.0 - theta) * course.x[AL_0, k] + theta * course.x[AL, k]


@compiled
def _guards_within(eq, wk, course, theta, g):
    n = eq.scale.shape[0]
    q, v, lam = course.x[Q_S], course.x[V_S], course.x[EXTRA]
    dense(course, n, theta, q, v)
    _multipliers(course, n, theta, lam)
    t = course.s[T_0] + theta * (course.s[T] - course.s[T_0])
    guard_values(eq, wk, q[:n], v[:n], t, lam, g)


@compiled
def _earliest(eq, wk, course):
    """The earliest switch of the last step: its number and share of the step; number -1 when there is none."""
    s, g = course.s, course.g
    count = g.shape[1]
    # g[0]: at the start of the step (g[1] of the step before); g[3..5]: inside; g[1]: at the end
    copy(g[1], g[0])
    n = eq.scale.shape[0]
    parts = 4
    for k in range(1, parts):
        _guards_within(eq, wk, course, k / parts, g[2 + k])
    guard_values(eq, wk, course.x[Q, :n], course.x[V, :n], s[T], course.x[AL, n:], g[1])
    best, first = -1, np.inf
    for c in range(count):
        for k in range(1, parts + 1):
            here = g[1, c] if k == parts else g[2 + k, c]
            before = g[0, c] if k == 1 else g[1 + k, c]
            if here <= 0.0 and (before > 0.0 or here < before):
                low, high = (k - 1) / parts, k / parts
                if before > 0.0:
                    low, high = _bracket(eq, wk, course, c, low, high, before, here)
                else:
                    high = low
                if high < first:
                    best, first = c, high
                break
    return best, first


@compiled
def _bracket(eq, wk, course, c, low, high, g_low, g_high):
    """Close in on a zero crossing by the Illinois method; the guard is positive at ``low`` and not at ``high``."""
    for _ in range(100):
        if high - low <= 2e-16 * (1.0 + abs(course.s[T_0]) / max(course.s[T] - course.s[T_0], 1e-300)):
            break
        middle = high - g_high * (high - low) / (g_high - g_low)
        if not (low < middle < high):
            middle = 0.5 * (low + high)
            if not (low < middle < high):
                break
        _guards_within(eq, wk, course, middle, course.g[2])
        value = course.g[2, c]
        if value > 0.0:
            if middle - low < 1e-3 * (high - low):
                g_high *= 0.5
            low, g_low = middle, value
            g_high *= 0.5
        else:
            high, g_high = middle, value
            g_low *= 0.5
    return low, high


@compiled
def after_step(eq, wk, course):
    """Look for switches, write outputs down; REACHED, EVENTS_FULL, STOPPED, CHATTERING or FAILED.

    When a switch was met the state is the one behind it, and ``course.s[SWITCHED]`` is 1.
    """
    s = course.s
    if course.g.shape[1] > 0:
        number, theta = _earliest(eq, wk, course)
        if number >= 0:
            return _meet(eq, wk, course, number, theta)
    if not write_until(eq, wk, course, s[T]):
        return FAILED
    return REACHED


@compiled
def _meet(eq, wk, course, number, theta):
    s, n = course.s, eq.scale.shape[0]
    q, v = course.x[Q_S], course.x[V_S]
    h = s[T] - s[T_0]
    at = s[T_0] + theta * h
    if not write_until(eq, wk, course, at if theta < 1.0 else s[T]):
        return FAILED
    if theta < 1.0:
        dense(course, n, theta, q, v)
        s[DISSIPATED], s[SUPPLIED] = work_within(course, n, theta)
        copy(q, course.x[Q])
        copy(v, course.x[V])
        s[T] = at
    s[CHATTER] = s[CHATTER] + 1 if at - s[LAST_EVENT] <= 1e-12 * (1.0 + abs(at)) else 0.0
    s[LAST_EVENT] = at
    if s[CHATTER] > 100:
        return CHATTERING
    switch(eq, wk, number, course.x[Q, :n], course.x[V, :n], s[T], course.latches)
    q, v = course.x[Q, :n], course.x[V, :n]
    left = consistent(eq, course.beside, q, v, s[T], course.x[AL], course.x[EXTRA], np.inf, sweeps(course))
    if not left < np.inf:
        return FAILED
    arm(eq, wk, course)
    present_powers(eq, wk, course)
    k = int(s[N_EVENTS])
    course.event_times[k] = s[T]
    course.event_switches[k] = number
    N = course.x.shape[1]
    for i in range(n):
        course.event_states[k, i] = course.x[Q, i]
        course.event_states[k, n + i] = course.x[V, i]
    for i in range(N):
        course.event_states[k, 2 * n + i] = course.x[AL, i]
    s[N_EVENTS] = k + 1
    s[SWITCHED] = 1.0
    if course.stops[number] > 0:
        last = int(s[K_OUT])
        written = last > 0 and s[T] - course.t_out[last - 1] <= 1e-12 * (1.0 + abs(s[T]))
        if last < course.grid.shape[0] and not written:
            write(eq, wk, course, s[T], q, v, course.x[AL], s[DISSIPATED], s[SUPPLIED], left)
        return STOPPED
    if k + 1 >= course.event_times.shape[0]:
        return EVENTS_FULL
    return REACHED


@compiled
def powers_within(eq, wk, course, theta):
    """Leave the powers within the last step (theta = 1: at its end) in ``wk.e``, by Hermite interpolation.

    Where constraints move (``AUDIT`` = 2) the multipliers are solved for, since those of implicit methods are not as
    accurate as their motion.
    """
    s, n = course.s, eq.scale.shape[0]
    q, v, al = course.x[Q_S], course.x[V_S], course.x[AL_S]
    if theta < 1.0:
        between(course, n, theta, q, v)
    else:
        copy(course.x[Q], q)
        copy(course.x[V], v)
    t = s[T_0] + theta * (s[T] - s[T_0]) if theta < 1.0 else s[T]
    if s[AUDIT] > 1:
        solve_state(eq, course.beside, q[:n], v[:n], t, sweeps(course), al)
    powers(eq, wk, q[:n], v[:n], t, al[n:])


@compiled
def present_powers(eq, wk, course):
    """Evaluate the powers of the present state."""
    if course.s[AUDIT] > 0:
        powers_within(eq, wk, course, 1.0)
        course.powers[0, 4], course.powers[1, 4] = wk.e[3], wk.e[4]


@compiled
def accumulate(eq, wk, course):
    """Add the work of the last step, from the powers at its ends and at three points between."""
    s, p = course.s, course.powers
    if s[AUDIT] > 0:
        p[0, 0], p[1, 0] = p[0, 4], p[1, 4]
        for k in range(1, 5):
            powers_within(eq, wk, course, 0.25 * k)
            p[0, k], p[1, k] = wk.e[3], wk.e[4]
        h = s[T] - s[T_0]
        s[DISSIPATED] += _work(p[0], 1.0, h)
        s[SUPPLIED] += _work(p[1], 1.0, h)


@entry
def begin(eq, wk, course, order):
    """From q and v at the start: first modes, consistent values, the first output; False where there are none."""
    s, n = course.s, eq.scale.shape[0]
    q, v = course.x[Q, :n], course.x[V, :n]
    first_modes(eq, wk, q, v, s[T], course.latches)
    if not consistent(eq, wk, q, v, s[T], course.x[AL], course.x[EXTRA], np.inf, sweeps(course)) < np.inf:
        return False
    arm(eq, wk, course)
    accept(course, s[T])
    present_powers(eq, wk, course)
    first_step(eq, course, order)
    s[SWITCHED] = 1.0
    return write_until(eq, wk, course, s[T])
