"""Explicit Runge-Kutta of order 8 (Dormand and Prince) on forms whose accelerations or velocities can be solved for.

The integrated vector is [q, v or p, work dissipated, work supplied, integral of Phi]. A form (``lagrangian``,
``canonical``, ``independent``) gives three functions that are called by address: ``start`` makes the vector of the
present state, ``rates(stage)`` the rate of the vector in ``memory.trial`` at ``memory.at.t``, ``finish`` the new state
from the vector at the end of a step, with its rate as stage 12.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import DOP853

from kempe.solvers.course import REACHED, Course, call
from kempe.solvers.frames import Count, FloatRows, Floats, Frame, Ints, Real
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import Equations, State, Work
from kempe.solvers.vectors import copy

STAGES = 12
A = np.ascontiguousarray(np.vstack([DOP853.A[:STAGES, :STAGES], DOP853.B[None, :STAGES]]))
C = np.ascontiguousarray(DOP853.C[:STAGES])
E3, E5 = np.ascontiguousarray(DOP853.E3), np.ascontiguousarray(DOP853.E5)
A_EXTRA, C_EXTRA = np.ascontiguousarray(DOP853.A_EXTRA), np.ascontiguousarray(DOP853.C_EXTRA)
D = np.ascontiguousarray(DOP853.D)
#: Step control: safety, the weight of the step before, the largest growth.
SAFETY, PI, GROWTH = 0.87, 0.03, 4.0
#: The product of step and fastest rate beyond which a step counts as held back by stability: about half of where that
#: ends (6.4 for dampers, 6.0 for springs), and more than steps held back by accuracy come to.
STABILITY = 3.3
#: Momenta hold the integral of the multipliers, which grows with time; after so many steps it starts anew from zero.
AGE = 100
#: Differences below this fraction of the numbers are rounding.
ROUNDING = 1e-15


class Basis(Frame):
    """A choice of independent coordinates, for the form that has them (empty for the others)."""

    plan: Ints  # of [Phi_q; B], a packed plan of sparse_lu
    chosen: Ints  # the independent coordinates
    active: Ints  # the constraint rows that decide the others
    mass_row: Ints  # entries of M
    mass_column: Ints
    values: Floats  # values of Phi_q, then a one
    lu: Floats
    R: FloatRows  # f + 1 rows of length n: the columns of R, then S c
    H: FloatRows  # f x (f + 1): R^T M R and its right-hand side
    b: Floats  # n each
    d: Floats
    sweep: Floats
    v: Floats
    Mx: Floats
    push: Floats
    limit: Real  # how fast dependent coordinates may become, by the independent ones
    fresh: Count  # 1 when they have just been chosen


def no_basis() -> Basis:
    """An empty basis."""
    ints, floats, rows = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0))
    return Basis(ints, ints, ints, ints, ints, floats, floats, rows, rows, *([floats] * 6))


class Memory(Frame):
    """What the method keeps from step to step."""

    y: Floats  # the integrated vector
    y_before: Floats  # the same at the start of the last step
    trial: Floats  # the vector of a stage, at last the new one
    last: Floats  # the vector of the last stage but one, to look for stiffness
    at: State  # the trial vector as a state: its q and v are those of the vector
    k: FloatRows  # 16 stages: the twelfth is at the new point, the last three serve the dense output
    dense: FloatRows  # 7 coefficients of the dense output
    unit: Floats  # per coordinate: the unit of the second half of the vector (mass for momenta, else 1)
    sigma: Floats  # m: multipliers of the momenta, in the canonical form
    basis: Basis
    errors: Floats  # error of the step before, for step control
    integrated: Count  # how much of the vector is integrated
    momenta: Count  # 1 where the second half of the vector is momenta
    project: Count  # 1 where the end of a step is projected to the constraints
    age: Count  # steps since it began afresh
    own_refinements: Count  # 1 where the user decides how often accelerations are refined
    stage_refinements: Count  # refinements within a step, where fewer are enough
    omega: Real  # stabilisation of constraints
    damping: Real
    dense_ready: Count  # 1 when the dense output belongs to the last step
    follows: Count  # 1 when the last stage of the step before is the first of the next
    refused: Count  # 1 right after a refusal
    start_at: Count  # addresses of the form's functions
    rates_at: Count
    finish_at: Count


def new_memory(n: int, m: int, basis: Basis | None = None) -> Memory:
    """Memory for a system."""
    size = 2 * n + 2 + m
    y, y_before, trial, last = (np.zeros(size) for _ in range(4))
    return Memory(
        y=y,
        y_before=y_before,
        trial=trial,
        last=last,
        at=State(q=trial[:n], v=trial[n : 2 * n], al=np.zeros(n + m)),
        k=np.zeros((16, size)),
        dense=np.zeros((7, size)),
        unit=np.ones(n),
        sigma=np.zeros(m),
        basis=basis or no_basis(),
        errors=np.zeros(1),
        integrated=2 * n + 2,
        damping=1.0,
    )


@piece
def begin(eq: Equations, wk: Work, course: Course, memory: Memory, _: float) -> int:
    """Begin from the present state: integrated vector and first stage."""
    memory.dense_ready = memory.follows = 0
    memory.stage_refinements = course.refinements
    code = call(memory.start_at, eq, wk, course, course.memory_at, 0.0)
    copy(memory.trial, memory.y)
    return code


@piece
def step(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """One step: its stages, the new vector, its error, the new state."""
    y, trial, k, size = memory.y, memory.trial, memory.k, memory.integrated
    memory.dense_ready = 0
    memory.age += 1
    if memory.momenta > 0 and memory.project > 0 and memory.age > AGE:
        code = begin(eq, wk, course, memory, 0.0)
        if code != REACHED:
            return code
    if memory.follows > 0:
        copy(k[STAGES], k[0])
        memory.follows = 0
    for stage in range(1, STAGES + 1):
        for i in range(size):
            trial[i] = 0.0
        for j in range(stage):
            weight = A[stage, j]
            if weight != 0.0:
                row = k[j]
                for i in range(size):
                    trial[i] += weight * row[i]
        for i in range(size):
            trial[i] = y[i] + h * trial[i]
        if stage == STAGES - 1:
            copy(trial, memory.last)
        if stage < STAGES:
            memory.at.t = course.now.t + C[stage] * h
            code = call(memory.rates_at, eq, wk, course, course.memory_at, float(stage))
            if code != REACHED:
                return code
    course.error = _error(eq, course, memory, h)
    if not (course.error <= 1.0 or (course.fixed > 0.0 and course.error < np.inf)):
        return REACHED
    memory.at.t = course.next.t
    return call(memory.finish_at, eq, wk, course, course.memory_at, h)


@compiled
def _error(eq, course, memory, h):
    """The estimated error of the step in units of the tolerance: position by size, velocity by size and rate."""
    n, k = eq.n, memory.k
    rate = max(course.rate, 1e-300)
    e3, e5 = 0.0, 0.0
    for i in range(2 * n):
        three, five = 0.0, 0.0
        for j in range(STAGES):
            three += E3[j] * k[j, i]
            five += E5[j] * k[j, i]
        unit = eq.scale[i] if i < n else eq.scale[i - n] * rate * memory.unit[i - n]
        e3 += (three / unit) ** 2
        e5 += (five / unit) ** 2
    if (
        course.own_work > 0 and course.energy > 0.0
    ):  # the work done counts by the largest kinetic energy, a tenth as much
        for i in range(2 * n, 2 * n + 2):
            three, five = 0.0, 0.0
            for j in range(STAGES):
                three += E3[j] * k[j, i]
                five += E5[j] * k[j, i]
            e3 += (0.1 * three / course.energy) ** 2
            e5 += (0.1 * five / course.energy) ** 2
    if e5 == 0.0 and e3 == 0.0:
        return 0.0
    return h * e5 / np.sqrt((e5 + 0.01 * e3) * 2 * n) / course.tolerance


@piece
def close(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """After a step: the vector of the next, its length, signs of stiffness."""
    error = course.error
    if h < 0.0:
        missed = error > 1.0 or not error < np.inf
        course.step = -h * (max(0.2, 0.9 * error ** (-0.125)) if missed and error < np.inf else 0.1 if missed else 0.25)
        memory.refused = 1
        return REACHED
    if course.stiff >= 0.0 and memory.momenta == 0:
        if _looks_stiff(eq, memory, h):
            course.stiff += 1.0
        elif course.stiff > 0.0:
            course.stiff = max(course.stiff - 0.25, 0.0)
    copy(memory.y, memory.y_before)
    copy(memory.trial, memory.y)
    memory.follows = 1
    if course.fixed == 0.0:
        # the error of the step before counts too, and no growth right after a refusal: fewer refusals
        grow = SAFETY * max(error, 1e-10) ** (-0.125 + 0.75 * PI) * max(memory.errors[0], 1e-4) ** PI
        course.step = h * min(1.0 if memory.refused > 0 else GROWTH, max(0.333, grow))
        memory.errors[0] = error
    memory.refused = 0
    return REACHED


@compiled
def _looks_stiff(eq, memory, h):
    """Whether the step is about as long as stability allows, from two states at its end and their accelerations."""
    n, trial, last, k = eq.n, memory.trial, memory.last, memory.k
    dq, dv, da, noise_q, noise_v = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        dq += ((trial[i] - last[i]) / eq.scale[i]) ** 2
        dv += ((trial[n + i] - last[n + i]) / eq.scale[i]) ** 2
        da += ((k[STAGES, n + i] - k[STAGES - 1, n + i]) / eq.scale[i]) ** 2
        noise_q += (ROUNDING * trial[i] / eq.scale[i]) ** 2
        noise_v += (ROUNDING * trial[n + i] / eq.scale[i]) ** 2
    if not dv > noise_v:
        return False
    fast = np.sqrt(da / dv)
    if dq > noise_q:  # springs: where they do not move by more than rounding, dampers alone decide
        fast = min(fast, (da / dq) ** 0.25)
    return h * fast > STABILITY


@piece
def _prepare_dense(eq: Equations, wk: Work, course: Course, memory: Memory) -> int:
    """Coefficients of the dense output of order 7."""
    t, h = course.before.t, course.now.t - course.before.t
    k, dense, trial, size = memory.k, memory.dense, memory.trial, memory.integrated
    y0, y1 = memory.y_before, memory.y
    for extra in range(3):
        for i in range(size):
            trial[i] = 0.0
        for j in range(STAGES + 1 + extra):
            weight = A_EXTRA[extra, j]
            if weight != 0.0:
                for i in range(size):
                    trial[i] += weight * k[j, i]
        for i in range(size):
            trial[i] = y0[i] + h * trial[i]
        memory.at.t = t + C_EXTRA[extra] * h
        code = call(memory.rates_at, eq, wk, course, course.memory_at, float(STAGES + 1 + extra))
        if code != REACHED:
            return code
    for i in range(size):
        change = y1[i] - y0[i]
        dense[0, i] = change
        dense[1, i] = h * k[0, i] - change
        dense[2, i] = 2.0 * change - h * (k[0, i] + k[STAGES, i])
    for r in range(4):
        for i in range(size):
            dense[3 + r, i] = 0.0
        for j in range(16):
            weight = D[r, j]
            if weight != 0.0:
                for i in range(size):
                    dense[3 + r, i] += h * weight * k[j, i]
    memory.dense_ready = 1
    return REACHED


@compiled
def _polynomial(dense, i, theta):
    """A dense output at a share of the step, with its first and second derivative by that share."""
    value, slope, curve = 0.0, 0.0, 0.0
    for r in range(6, -1, -1):
        value += dense[r, i]
        share, turn = (theta, 1.0) if r % 2 == 0 else (1.0 - theta, -1.0)
        curve = curve * share + 2.0 * slope * turn
        slope = slope * share + value * turn
        value *= share
    return value, slope, curve


@piece
def inside(eq: Equations, wk: Work, course: Course, memory: Memory, theta: float) -> int:
    """The state at a share of the last step, by the method's own polynomials."""
    if memory.dense_ready == 0:
        code = _prepare_dense(eq, wk, course, memory)
        if code != REACHED:
            return code
    n, dense, state, before = eq.n, memory.dense, course.inside, course.before
    h = course.now.t - before.t
    for i in range(n):
        value, slope, curve = _polynomial(dense, i, theta)
        state.q[i] = memory.y_before[i] + value
        if memory.momenta > 0:  # velocities are the rate of the polynomial for the positions
            state.v[i] = slope / h
            state.al[i] = curve / (h * h)
        else:
            value, slope, curve = _polynomial(dense, n + i, theta)
            state.v[i] = memory.y_before[n + i] + value
            state.al[i] = slope / h
    for k in range(n, n + eq.m):
        state.al[k] = (1.0 - theta) * before.al[k] + theta * course.now.al[k]
    if course.own_work > 0:
        state.dissipated = before.dissipated + _polynomial(dense, 2 * n, theta)[0]
        state.supplied = before.supplied + _polynomial(dense, 2 * n + 1, theta)[0]
    return REACHED
