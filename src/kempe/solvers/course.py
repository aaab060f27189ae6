"""The course of a simulation: its state, the step to take next, and the motion within the last step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kempe.solvers.frames import FloatRows, Floats, Frame, Ints
from kempe.solvers.jit import compiled
from kempe.solvers.motion import Work, hermite
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
    SWITCHED,  # 1 at the start and after a switch: the integrator begins afresh
    FRESH,  # 1 when independent coordinates have just been chosen
    ORDER,
    MEMORY_2,
    ENERGY,  # the largest kinetic energy seen, or the least that counts
    STAGE_SWEEPS,  # refinements within a step, where fewer are enough
    REDUNDANT,  # 1 where constraints depend on each other
    OWN,  # the dense output: 0 Hermite, 1 the integrator's polynomials, 2 the same with momenta
) = range(40)
SCALARS = 40

REACHED, PAUSE, FAILED, SINGULAR, RUNAWAY, STIFFNESS, EVENTS_FULL, STOPPED, CHATTERING, RESELECT = range(10)

#: Where constraints depend on each other, Newton's first corrections move the multipliers by much and the positions by
#: little, back and forth: so often they may grow.
PATIENCE = 3


@dataclass(frozen=True, eq=False)
class Course(Frame):
    """The state of a run and its outputs."""

    s: Floats
    x: FloatRows  # the rows listed above, of length N
    f: FloatRows  # coefficients of the integrator's own dense output, or stages
    g: FloatRows  # guards: before, now, scratch
    powers: FloatRows  # dissipated and supplied, at the quarters of the last step
    latches: Floats
    stops: Ints  # per switch: 1 where it ends the run
    beside: Work  # the work space with other factors, for output points, so that those of the step survive
    grid: Floats
    t_out: Floats  # as the grid, but for a last point where an event stops the run
    q_out: FloatRows
    v_out: FloatRows
    al_out: FloatRows
    e_out: FloatRows  # kinetic, of gravity, elastic, dissipated, supplied, constraint violation
    event_times: Floats
    event_switches: Ints
    event_states: FloatRows  # rows: q, v, [a, lambda] end to end


@compiled
def accept(course, t):
    """Make the present state the one before."""
    s = course.s
    for i in range(course.x.shape[1]):
        course.x[Q_0, i] = course.x[Q, i]
        course.x[V_0, i] = course.x[V, i]
        course.x[AL_0, i] = course.x[AL, i]
    s[T_0] = s[T]
    s[DISSIPATED_0], s[SUPPLIED_0] = s[DISSIPATED], s[SUPPLIED]
    s[T] = t


@compiled
def between(course, n, theta, q, v):
    """Position and velocity within the last step, by Hermite interpolation of both its ends."""
    x = course.x
    hermite(theta, course.s[T] - course.s[T_0], x[Q_0], x[V_0], x[AL_0], x[Q], x[V], x[AL], q[:n], v)


@compiled
def dense(course, n, theta, q, v):
    """Position and velocity within the last step: by Hermite, or by the integrator's own polynomials."""
    x, h, own = course.x, course.s[T] - course.s[T_0], course.s[OWN]
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
        between(course, n, theta, q, v)


@compiled
def sweeps(course):
    """How often accelerations are refined where the motion is written down."""
    return max(4, int(course.s[SWEEPS]))


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


@compiled
def next_step(course, halve):
    """The step to try: the proposed or the fixed one, not beyond the end; if wished the last two of equal length."""
    s = course.s
    h = s[STEP] if s[STEP] > 0 else min(s[H], s[LARGEST])
    left = s[END] - s[T]
    if h > 0.9999999 * left:
        return left
    if halve and s[STEP] == 0 and h > 0.5 * left:
        return 0.5 * left
    return h


@compiled
def choose_step(course, h, error, order, most):
    """The next step of an implicit method after one of length h; small changes are not worth a new matrix."""
    s = course.s
    if s[STEP] == 0:
        grow = 0.9 * max(error, 1e-8) ** (-1.0 / order)
        s[H] = h * min(most, max(0.3, grow)) if grow > 1.2 or grow < 1.0 else h


@compiled
def step_end(course, h):
    """Where a step ends: exactly at the end of the run if it is the last."""
    s = course.s
    return s[END] if h == s[END] - s[T] else s[T] + h


@compiled
def settle(eq, course, t, q, v, al):
    """Make a new state the present one; RUNAWAY where it moves too fast to be followed."""
    s, x = course.s, course.x
    h = t - s[T]
    accept(course, t)
    fastest = s[RATE]
    for i in range(eq.scale.shape[0]):
        x[Q, i] = q[i]
        x[V, i] = v[i]
        fastest = max(fastest, abs(v[i]) / eq.scale[i])
    s[RATE] = fastest
    copy(al, x[AL])
    s[STEPS] += 1
    return REACHED if s[RATE] < 1e12 / h else RUNAWAY
