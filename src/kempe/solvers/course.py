"""The course of a simulation: its state, what is written down, and the switches met on the way.

Every integrator advances a ``Course`` by steps. After a step it calls ``after_step``, which looks for switches,
puts the state at the earliest one found, and writes down the output points passed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kempe.solvers.jit import compiled, inlined
from kempe.solvers.motion import VALUE, Work, consistent, guard_values, hermite, powers, switch, violation
from kempe.solvers.pack import part
from kempe.solvers.program import load, run
from kempe.solvers.vectors import copy

# rows of the state: position, velocity, [acceleration, multipliers]; the same before the last step; scratch; the unit
# of the second half of the integrated vector (mass for momenta, else 1); multipliers of the canonical form, or
# algorithmic accelerations
Q, V, AL, Q_0, V_0, AL_0, Q_S, V_S, AL_S, EXTRA, UNIT, SIGMA = range(12)
VECTORS = 12

# scalars
(
    T,  # the time
    T_0,  # the time before the last step
    H,  # the step to try next
    END,  # where the run ends
    TOLERANCE,
    STEP,  # a fixed step, or 0
    LARGEST,  # the largest step allowed
    RATE,  # the fastest motion seen, in sizes per time
    DISSIPATED,
    SUPPLIED,
    DISSIPATED_0,
    SUPPLIED_0,
    POWER_D,  # the present powers
    POWER_S,
    POWER_D_0,
    POWER_S_0,
    OMEGA,  # stabilisation of constraints
    DAMPING,
    SWEEPS,
    PROJECT,
    AUDIT,  # 1: work is accumulated; 2: and there are constraints that move
    K_OUT,  # the next output point
    N_EVENTS,
    STEPS,
    REJECTED,
    EVALUATIONS,
    FACTORISATIONS,
    VIOLATION,  # the largest constraint violation seen at the end of a step
    STIFF,  # signs of stiffness
    BUDGET,  # steps left before the caller wants to look up
    MEMORY,  # the error of the last step, for step control
    KIND,  # the formulation
    ALPHA,  # a penalty, or the spectral radius
    LAST_EVENT,  # when the last switch was met
    CHATTER,  # how many switches were met at that instant
    SMALLEST,  # a step that must be smaller than this is a failure
    SWITCHED,  # 1 after a switch: start afresh
    FRESH,  # 1 when independent coordinates have just been chosen
    ORDER,
    MEMORY_2,
    ENERGY,  # the largest kinetic energy seen
    STAGE_SWEEPS,  # refinements within a step, where fewer are enough
    REDUNDANT,  # 1 where constraints depend on each other
) = range(43)
SCALARS = 43

REACHED, PAUSE, FAILED, SINGULAR, RUNAWAY, STIFFNESS, EVENTS_FULL, STOPPED, CHATTERING, RESELECT = range(10)


class Course(NamedTuple):
    """The state of a run and its outputs."""

    s: np.ndarray
    x: np.ndarray  # the rows listed above, of length N
    f: np.ndarray  # coefficients of the integrator's own dense output, or stages
    g: np.ndarray  # guards: before, now, scratch
    latches: np.ndarray
    stops: np.ndarray  # per switch: 1 where it ends the run
    lu: np.ndarray  # factors for output points, so that those of the step survive
    grid: np.ndarray
    q_out: np.ndarray
    v_out: np.ndarray
    al_out: np.ndarray
    e_out: np.ndarray  # kinetic, of gravity, elastic, dissipated, supplied, constraint violation
    event_times: np.ndarray
    event_switches: np.ndarray
    event_states: np.ndarray  # rows: q, v, [a, lambda] end to end


@inlined
def accept(course, t):
    """Make the present state the one before."""
    s = course.s
    for i in range(course.x.shape[1]):
        course.x[Q_0, i] = course.x[Q, i]
        course.x[V_0, i] = course.x[V, i]
        course.x[AL_0, i] = course.x[AL, i]
    s[T_0] = s[T]
    s[DISSIPATED_0], s[SUPPLIED_0] = s[DISSIPATED], s[SUPPLIED]
    s[POWER_D_0], s[POWER_S_0] = s[POWER_D], s[POWER_S]
    s[T] = t


@compiled
def dense(course, n, own, theta, q, v):
    """Position and velocity within the last step: by Hermite (own = 0), or the integrator's polynomials (1 and 2)."""
    x, h = course.x, course.s[T] - course.s[T_0]
    if own == 2:  # momenta are integrated: velocities are the rate of the polynomial for the positions
        f = course.f
        for i in range(n):
            total, slope = 0.0, 0.0
            for r in range(6, -1, -1):
                total += f[r, i]
                share, turn = (theta, 1.0) if r % 2 == 0 else (1.0 - theta, -1.0)
                slope = slope * share + total * turn
                total *= share
            q[i] = x[Q_0, i] + total
            v[i] = slope / h
    elif own == 1:
        f = course.f
        for i in range(n):
            for which in range(2):
                total = 0.0
                k = n * which + i
                for r in range(6, -1, -1):
                    total += f[r, k]
                    total *= theta if r % 2 == 0 else 1.0 - theta
                if which == 0:
                    q[i] = x[Q_0, i] + total
                else:
                    v[i] = x[V_0, i] + total
    else:
        hermite(theta, h, x[Q_0], x[V_0], x[AL_0], x[Q], x[V], x[AL], q[:n], v)


@inlined
def _cubic(theta, h, w0, w1, p0, p1):
    """The cubic through values and rates at both ends of a step."""
    x2, x3 = theta * theta, theta * theta * theta
    return w0 + (w1 - w0) * (3.0 * x2 - 2.0 * x3) + h * (p0 * (theta - 2.0 * x2 + x3) + p1 * (x3 - x2))


@compiled
def work_within(course, n, own, theta):
    """Work dissipated and supplied up to a share of the last step."""
    s, h = course.s, course.s[T] - course.s[T_0]
    if theta >= 1.0:
        return s[DISSIPATED], s[SUPPLIED]
    if own == 1:
        d, e = 0.0, 0.0
        for r in range(6, -1, -1):
            share = theta if r % 2 == 0 else 1.0 - theta
            d = (d + course.f[r, 2 * n]) * share
            e = (e + course.f[r, 2 * n + 1]) * share
        return s[DISSIPATED_0] + d, s[SUPPLIED_0] + e
    d = _cubic(theta, h, s[DISSIPATED_0], s[DISSIPATED], s[POWER_D_0], s[POWER_D])
    return d, _cubic(theta, h, s[SUPPLIED_0], s[SUPPLIED], s[POWER_S_0], s[POWER_S])


@compiled
def write(eq, wk, course, t, q, v, al, dissipated, supplied, left):
    """Write one output point down."""
    n = eq.scale.shape[0]
    k = int(course.s[K_OUT])
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


@inlined
def _beside(wk, course):
    """The same work space with other factors."""
    return Work(wk.x, wk.y, wk.out, course.lu, wk.w, wk.e)


@compiled
def write_until(eq, wk, course, t, own):
    """Write down the output points up to a time within the last step, from the dense output."""
    s, n = course.s, eq.scale.shape[0]
    if not (s[K_OUT] < course.grid.shape[0] and course.grid[int(s[K_OUT])] <= t):
        return True
    load(eq.layout, course.x[Q, :n], s[T], wk.x, wk.y)
    run(part(eq.indices, VALUE), wk.x, wk.y, course.x[EXTRA])
    s[VIOLATION] = max(s[VIOLATION], violation(eq, course.x[EXTRA]))
    beside = _beside(wk, course)
    q, v, al = course.x[Q_S], course.x[V_S], course.x[AL_S]
    h = s[T] - s[T_0]
    while s[K_OUT] < course.grid.shape[0] and course.grid[int(s[K_OUT])] <= t:
        at = course.grid[int(s[K_OUT])]
        theta = (at - s[T_0]) / h if h > 0.0 else 1.0
        if theta >= 1.0:
            copy(course.x[Q], q)
            copy(course.x[V], v)
        else:
            dense(course, n, own, theta, q, v)
        left = consistent(eq, beside, q[:n], v[:n], at, al, course.x[EXTRA], np.inf, True)
        if not left < np.inf:
            return False
        d, e = work_within(course, n, own, theta)
        write(eq, wk, course, at, q[:n], v[:n], al, d, e, left)
    return True


@compiled
def arm(eq, wk, course):
    """Evaluate the guards at the present state."""
    n = eq.scale.shape[0]
    if course.g.shape[1] > 0:
        guard_values(eq, wk, course.x[Q, :n], course.x[V, :n], course.s[T], course.x[AL, n:], course.g[1])


@inlined
def _multipliers(course, n, theta, lam):
    for k in range(n, course.x.shape[1]):
        lam[k - n] = (1.0 - theta) * course.x[AL_0, k] + theta * course.x[AL, k]


@compiled
def _guards_within(eq, wk, course, own, theta, g):
    n = eq.scale.shape[0]
    q, v, lam = course.x[Q_S], course.x[V_S], course.x[EXTRA]
    dense(course, n, own, theta, q, v)
    _multipliers(course, n, theta, lam)
    t = course.s[T_0] + theta * (course.s[T] - course.s[T_0])
    guard_values(eq, wk, q[:n], v[:n], t, lam, g)


@compiled
def _earliest(eq, wk, course, own):
    """The earliest switch of the last step: its number and share of the step; number -1 when there is none."""
    s, g = course.s, course.g
    count = g.shape[1]
    # g[0]: at the start of the step (g[1] of the step before); g[3..5]: inside; g[1]: at the end
    copy(g[1], g[0])
    n = eq.scale.shape[0]
    parts = 4
    for k in range(1, parts):
        _guards_within(eq, wk, course, own, k / parts, g[2 + k])
    guard_values(eq, wk, course.x[Q, :n], course.x[V, :n], s[T], course.x[AL, n:], g[1])
    best, first = -1, np.inf
    for c in range(count):
        for k in range(1, parts + 1):
            here = g[1, c] if k == parts else g[2 + k, c]
            before = g[0, c] if k == 1 else g[1 + k, c]
            if here <= 0.0 and (before > 0.0 or here < before):
                low, high = (k - 1) / parts, k / parts
                if before > 0.0:
                    low, high = _bracket(eq, wk, course, own, c, low, high, before, here)
                else:
                    high = low
                if high < first:
                    best, first = c, high
                break
    return best, first


@compiled
def _bracket(eq, wk, course, own, c, low, high, g_low, g_high):
    """Close in on a zero crossing by the Illinois method; the guard is positive at ``low`` and not at ``high``."""
    for _ in range(100):
        if high - low <= 2e-16 * (1.0 + abs(course.s[T_0]) / max(course.s[T] - course.s[T_0], 1e-300)):
            break
        middle = high - g_high * (high - low) / (g_high - g_low)
        if not (low < middle < high):
            middle = 0.5 * (low + high)
            if not (low < middle < high):
                break
        _guards_within(eq, wk, course, own, middle, course.g[2])
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


@inlined
def after_step(eq, wk, course, own):
    """Look for switches, write outputs down; REACHED, EVENTS_FULL, STOPPED, CHATTERING or FAILED.

    When a switch was met the state is the one behind it, and ``course.s[SWITCHED]`` is 1: start afresh.
    """
    s = course.s
    s[SWITCHED] = 0.0
    if course.g.shape[1] > 0:
        number, theta = _earliest(eq, wk, course, own)
        if number >= 0:
            return _meet(eq, wk, course, own, number, theta)
    if not write_until(eq, wk, course, s[T], own):
        return FAILED
    return REACHED


@compiled
def _meet(eq, wk, course, own, number, theta):
    s, n = course.s, eq.scale.shape[0]
    q, v = course.x[Q_S], course.x[V_S]
    h = s[T] - s[T_0]
    at = s[T_0] + theta * h
    if not write_until(eq, wk, course, at if theta < 1.0 else s[T], own):
        return FAILED
    if theta < 1.0:
        dense(course, n, own, theta, q, v)
        s[DISSIPATED], s[SUPPLIED] = work_within(course, n, own, theta)
        copy(q, course.x[Q])
        copy(v, course.x[V])
        s[T] = at
    s[CHATTER] = s[CHATTER] + 1 if at - s[LAST_EVENT] <= 1e-12 * (1.0 + abs(at)) else 0.0
    s[LAST_EVENT] = at
    if s[CHATTER] > 100:
        return CHATTERING
    switch(eq, wk, number, course.x[Q, :n], course.x[V, :n], s[T], course.latches)
    beside = _beside(wk, course)
    if (
        not consistent(eq, beside, course.x[Q, :n], course.x[V, :n], s[T], course.x[AL], course.x[EXTRA], np.inf, True)
        < np.inf
    ):
        return FAILED
    arm(eq, wk, course)
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
        dense(course, n, 0, theta, q, v)
    else:
        copy(course.x[Q], q)
        copy(course.x[V], v)
    t = s[T_0] + theta * (s[T] - s[T_0]) if theta < 1.0 else s[T]
    if s[AUDIT] > 1:
        consistent(eq, _beside(wk, course), q[:n], v[:n], t, al, course.x[EXTRA], np.inf, False)
    powers(eq, wk, q[:n], v[:n], t, al[n:])


@compiled
def present_powers(eq, wk, course):
    """Evaluate the powers of the present state."""
    if course.s[AUDIT] > 0:
        powers_within(eq, wk, course, 1.0)
        course.s[POWER_D], course.s[POWER_S] = wk.e[3], wk.e[4]


@compiled
def accumulate(eq, wk, course):
    """Add the work of the last step, by Boole's rule on the powers at its ends and at three points between."""
    s = course.s
    if s[AUDIT] > 0:
        d, e = 7.0 * s[POWER_D_0], 7.0 * s[POWER_S_0]
        for k in range(1, 5):
            powers_within(eq, wk, course, 0.25 * k)
            weight = 7.0 if k == 4 else 12.0 if k == 2 else 32.0
            d += weight * wk.e[3]
            e += weight * wk.e[4]
        s[POWER_D], s[POWER_S] = wk.e[3], wk.e[4]
        h = s[T] - s[T_0]
        s[DISSIPATED] += h / 90.0 * d
        s[SUPPLIED] += h / 90.0 * e


@compiled
def first_step(eq, course, order):
    """A cautious first step from the present velocities and accelerations."""
    s = course.s
    rate = 0.0
    for i in range(eq.scale.shape[0]):
        rate = max(rate, abs(course.x[V, i]) / eq.scale[i], np.sqrt(abs(course.x[AL, i]) / eq.scale[i]))
    # at rest, one size in the whole time is what a velocity error is measured by
    s[RATE] = max(s[RATE], rate, 1.0 / max(s[END] - s[T], 1e-300))
    s[H] = min(s[LARGEST], 0.1 * s[TOLERANCE] ** (1.0 / order) / rate if rate > 0.0 else 1e-3 * s[LARGEST])
