"""Explicit Runge-Kutta of order 8 (Dormand and Prince) on forms whose accelerations or velocities can be solved for.

The forms: Lagrange multipliers with projection to the constraints after every step; Baumgarte's stabilisation; penalty;
augmented Lagrangian in accelerations (eq. 10.91 of Garcia de Jalon and Bayo) and in canonical momenta (eq. 10.92);
independent coordinates. The integrated vector is [q, v or p, work dissipated, work supplied, integral of Phi].
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import DOP853

from kempe.solvers.bookkeeping import accumulate, after_step
from kempe.solvers.canonical import after_canonical, canonical_rates, momenta
from kempe.solvers.course import (
    AL,
    ALPHA,
    AUDIT,
    BUDGET,
    DAMPING,
    DISSIPATED,
    END,
    EVALUATIONS,
    EXTRA,
    FACTORISATIONS,
    FAILED,
    FRESH,
    K_OUT,
    KIND,
    MEMORY,
    OMEGA,
    OWN,
    PAUSE,
    PROJECT,
    RATE,
    REACHED,
    REJECTED,
    RESELECT,
    RUNAWAY,
    SIGMA,
    SINGULAR,
    SMALLEST,
    STAGE_SWEEPS,
    STEP,
    STIFF,
    STIFFNESS,
    SUPPLIED,
    SWEEPS,
    SWITCHED,
    TOLERANCE,
    UNIT,
    V_S,
    VIOLATION,
    H,
    Q,
    T,
    V,
    next_step,
    settle,
    step_end,
)
from kempe.solvers.course import ENERGY as ENERGY_SEEN
from kempe.solvers.independent import independent_accelerations
from kempe.solvers.jit import compiled, entry
from kempe.solvers.motion import (
    ENERGY,
    EXPLICIT,
    accelerations,
    evaluate,
    project_position,
    project_velocity,
    violation,
)
from kempe.solvers.pack import part
from kempe.solvers.program import load_multipliers, load_rates, run
from kempe.solvers.vectors import copy

INDEX1, CANONICAL_FORM, INDEPENDENT = 0, 1, 2  # kinds of forms

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
#: Differences below this fraction of the numbers are rounding.
ROUNDING = 1e-15


def size(n: int, m: int) -> int:
    """How long the integrated vector is."""
    return 2 * n + 2 + m


@compiled
def _rates(eq, wk, course, y, al, f):
    """The rate of the integrated vector from known accelerations."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    for i in range(n):
        f[i] = y[n + i]
        f[n + i] = al[i]
    f[2 * n] = 0.0
    f[2 * n + 1] = 0.0
    for k in range(m):
        f[2 * n + 2 + k] = 0.0
    if course.s[AUDIT] > 0:
        load_multipliers(eq.layout, al[n:], wk.x)
        run(part(eq.indices, ENERGY), wk.x, wk.y, wk.e)
        f[2 * n] = wk.e[3]
        f[2 * n + 1] = wk.e[4]


@compiled
def rate_of(eq, wk, basis, course, t, y, f, al):
    """The rate of the integrated vector; accelerations and multipliers go to ``al`` where the form has them.

    ``basis`` is a choice of independent coordinates, or None for the other forms (compiled without them then).
    """
    s, n = course.s, eq.scale.shape[0]
    s[EVALUATIONS] += 1
    s[FACTORISATIONS] += 1
    if s[KIND] == CANONICAL_FORM:
        return canonical_rates(eq, wk, course, t, y, f, al)
    if basis is None:
        if not evaluate(eq, wk, y[:n], y[n : 2 * n], t):
            return SINGULAR
        accelerations(eq, wk, y[n : 2 * n], s[OMEGA], s[DAMPING], int(s[STAGE_SWEEPS]), al)
    else:
        code = independent_accelerations(eq, wk, basis, t, y, al)
        if code != REACHED:
            return code
    _rates(eq, wk, course, y, al, f)
    return REACHED


# rows of course.f: dense output, then the stages (the last three serve the dense output), then vectors
STAGE, Y, Y_NEW, LAST = 7, 23, 24, 25
ROWS = 26


@compiled
def restart(eq, wk, basis, course):
    """Begin from the present q and v: integrated vector and first stage."""
    s, n = course.s, eq.scale.shape[0]
    s[SWITCHED] = 0.0
    s[OWN] = 2.0 if s[KIND] == CANONICAL_FORM else 1.0
    s[STAGE_SWEEPS] = s[SWEEPS]
    y = course.f[Y]
    for i in range(n):
        y[i] = course.x[Q, i]
        y[n + i] = course.x[V, i]
    y[2 * n] = s[DISSIPATED]
    y[2 * n + 1] = s[SUPPLIED]
    if s[KIND] == CANONICAL_FORM:
        momenta(eq, wk, course, y)
    code = rate_of(eq, wk, basis, course, s[T], y, course.f[STAGE], course.x[AL])
    if s[KIND] == CANONICAL_FORM:
        after_canonical(eq, wk, course)
    return code


@compiled
def _stages(eq, wk, basis, course, h):
    """The stages of a step of length h, and the new vector."""
    s, f, n = course.s, course.f, eq.scale.shape[0]
    ny = f.shape[1] if s[KIND] == CANONICAL_FORM else 2 * n + 2
    for stage in range(1, STAGES + 1):
        for k in range(ny):
            f[Y_NEW, k] = 0.0
        for j in range(stage):
            weight = A[stage, j]
            if weight != 0.0:
                for k in range(ny):
                    f[Y_NEW, k] += weight * f[STAGE + j, k]
        for k in range(ny):
            f[Y_NEW, k] = f[Y, k] + h * f[Y_NEW, k]
        if stage == STAGES - 1:
            copy(f[Y_NEW], f[LAST])
        if stage < STAGES:
            code = rate_of(eq, wk, basis, course, s[T] + C[stage] * h, f[Y_NEW], f[STAGE + stage], wk.w[6])
            if code != REACHED:
                return code
    return REACHED


@compiled
def _error(eq, course, h):
    """The estimated error of the step in units of the tolerance: position by size, velocity by size and rate."""
    s, f, n = course.s, course.f, eq.scale.shape[0]
    rate = max(s[RATE], 1e-300)
    e3, e5 = 0.0, 0.0
    for k in range(2 * n):
        three, five = 0.0, 0.0
        for j in range(STAGES):
            three += E3[j] * f[STAGE + j, k]
            five += E5[j] * f[STAGE + j, k]
        unit = eq.scale[k] if k < n else eq.scale[k - n] * rate * course.x[UNIT, k - n]
        e3 += (three / unit) ** 2
        e5 += (five / unit) ** 2
    if s[AUDIT] > 0 and s[ENERGY_SEEN] > 0.0:  # the work done counts by the largest kinetic energy, a tenth as much
        for k in range(2 * n, 2 * n + 2):
            three, five = 0.0, 0.0
            for j in range(STAGES):
                three += E3[j] * f[STAGE + j, k]
                five += E5[j] * f[STAGE + j, k]
            e3 += (0.1 * three / s[ENERGY_SEEN]) ** 2
            e5 += (0.1 * five / s[ENERGY_SEEN]) ** 2
    if e5 == 0.0 and e3 == 0.0:
        return 0.0
    return h * e5 / np.sqrt((e5 + 0.01 * e3) * 2 * n) / s[TOLERANCE]


@compiled
def _finish(eq, wk, basis, course, t, limit):
    """The state at the end of a step from the new vector: projected if wished, with its rate as stage 12."""
    s, f, n, m = course.s, course.f, eq.scale.shape[0], eq.row_scale.shape[0]
    y, rate = f[Y_NEW], f[STAGE + STAGES]
    al = wk.w[6]
    q, v = y[:n], y[n : 2 * n]
    if s[KIND] == CANONICAL_FORM:
        code = rate_of(eq, wk, basis, course, t, y, rate, al)
        if code != REACHED:
            return code
        for k in range(m):
            course.x[SIGMA, n + k] = al[n + k]
        for i in range(n):
            course.x[V_S, i] = rate[i]
        v = course.x[V_S, :n]
    elif basis is not None or s[PROJECT] == 0:
        code = rate_of(eq, wk, basis, course, t, y, rate, al)
        if code != REACHED:
            return code
        s[VIOLATION] = max(s[VIOLATION], violation(eq, wk.out[n:]))
    if s[PROJECT] > 0:
        left = project_position(eq, wk, q, t, course.x[EXTRA], limit)
        if not left < np.inf:
            return FAILED
        s[VIOLATION] = max(s[VIOLATION], left)
        s[FACTORISATIONS] += 1
        if not evaluate(eq, wk, q, v, t):
            return SINGULAR
        moved = project_velocity(eq, wk, v)
        if not moved < np.inf:
            return FAILED
        if s[KIND] == INDEX1:
            if moved > 1e-3 * s[TOLERANCE] * s[RATE]:
                load_rates(eq.layout, v, wk.x)
                run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
            refined = accelerations(eq, wk, v, s[OMEGA], s[DAMPING], int(s[SWEEPS]), al)
            if s[ALPHA] == 0:  # where refinement changes nothing that counts, the stages of the next step do without
                s[STAGE_SWEEPS] = 0.0 if refined < 1e-2 * s[TOLERANCE] else s[SWEEPS]
            _rates(eq, wk, course, y, al, rate)
    if s[KIND] == CANONICAL_FORM:
        code = settle(eq, course, t, q, v, al)
        if code != REACHED:
            return code
        if s[PROJECT] > 0:
            momenta(eq, wk, course, y)
            code = rate_of(eq, wk, basis, course, t, y, rate, al)
            if code != REACHED:
                return code
        copy(al, course.x[AL])
        after_canonical(eq, wk, course)
        accumulate(eq, wk, course)
        return REACHED
    code = settle(eq, course, t, q, v, al)
    s[DISSIPATED], s[SUPPLIED] = y[2 * n], y[2 * n + 1]
    course.powers[0, 4], course.powers[1, 4] = rate[2 * n], rate[2 * n + 1]
    s[ENERGY_SEEN] = max(s[ENERGY_SEEN], wk.e[0] if s[AUDIT] > 0 else 0.0)
    return code


@compiled
def _dense(eq, wk, basis, course, h):
    """Coefficients of the dense output of order 7."""
    s, f = course.s, course.f
    ny = f.shape[1]
    for extra in range(3):
        for k in range(ny):
            f[LAST, k] = 0.0
        for j in range(STAGES + 1 + extra):
            weight = A_EXTRA[extra, j]
            if weight != 0.0:
                for k in range(ny):
                    f[LAST, k] += weight * f[STAGE + j, k]
        for k in range(ny):
            f[LAST, k] = f[Y, k] + h * f[LAST, k]
        code = rate_of(eq, wk, basis, course, s[T] - h + C_EXTRA[extra] * h, f[LAST], f[STAGE + 13 + extra], wk.w[6])
        if code != REACHED:
            return code
    for k in range(ny):
        change = f[Y_NEW, k] - f[Y, k]
        f[0, k] = change
        f[1, k] = h * f[STAGE, k] - change
        f[2, k] = 2.0 * change - h * (f[STAGE, k] + f[STAGE + STAGES, k])
    for r in range(4):
        for k in range(ny):
            f[3 + r, k] = 0.0
        for j in range(16):
            weight = D[r, j]
            if weight != 0.0:
                for k in range(ny):
                    f[3 + r, k] += h * weight * f[STAGE + j, k]
    return REACHED


@compiled
def _looks_stiff(eq, course, h):
    """Whether the step is about as long as stability allows, from two states at its end and their accelerations."""
    f, n = course.f, eq.scale.shape[0]
    dq, dv, da, noise_q, noise_v = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        dq += ((f[Y_NEW, i] - f[LAST, i]) / eq.scale[i]) ** 2
        dv += ((f[Y_NEW, n + i] - f[LAST, n + i]) / eq.scale[i]) ** 2
        da += ((f[STAGE + STAGES, n + i] - f[STAGE + STAGES - 1, n + i]) / eq.scale[i]) ** 2
        noise_q += (ROUNDING * f[Y_NEW, i] / eq.scale[i]) ** 2
        noise_v += (ROUNDING * f[Y_NEW, n + i] / eq.scale[i]) ** 2
    if not dv > noise_v:
        return False
    fast = np.sqrt(da / dv)
    if dq > noise_q:  # springs: where they do not move by more than rounding, dampers alone decide
        fast = min(fast, (da / dq) ** 0.25)
    return h * fast > STABILITY


@entry
def advance(eq, wk, basis, course):
    """Integrate until the end, an event that stops, or trouble."""
    s, f = course.s, course.f
    refused, again_refused = False, False
    while s[T] < s[END]:
        if s[SWITCHED] > 0:
            code = restart(eq, wk, basis, course)
            if code != REACHED:
                return code
        if s[BUDGET] <= 0:
            return PAUSE
        s[BUDGET] -= 1
        h = next_step(course, True)
        if not s[T] + h > s[T]:
            return FAILED
        code = _stages(eq, wk, basis, course, h)
        error = 0.0
        if code == REACHED:
            error = _error(eq, course, h)
            if not (error <= 1.0 or (s[STEP] > 0 and error < np.inf)):
                code = FAILED
                s[H] = h * max(0.2, 0.9 * error ** (-0.125)) if error < np.inf else 0.1 * h
            else:
                limit = 1e3 * max(s[TOLERANCE], 1e-12) if s[STEP] == 0 else np.inf
                code = _finish(eq, wk, basis, course, step_end(course, h), limit)
                if code == RUNAWAY:
                    return RUNAWAY
                if code != REACHED:
                    s[H] = 0.25 * h
        else:
            s[H] = 0.25 * h
        if code != REACHED:
            s[REJECTED] += 1
            again_refused = True
            if code == RESELECT:
                if s[FRESH] == 0:
                    return RESELECT
                code = FAILED
            if s[STEP] > 0 or h < s[SMALLEST]:
                return code
            continue
        s[FRESH] = 0.0
        refused, again_refused = again_refused, False
        if s[STIFF] >= 0 and s[OWN] == 1:
            if _looks_stiff(eq, course, h):
                s[STIFF] += 1
            elif s[STIFF] > 0:
                s[STIFF] -= 0.25
        if s[STEP] == 0:
            # the error of the step before counts too, and no growth right after a refusal: fewer refusals
            grow = SAFETY * max(error, 1e-10) ** (-0.125 + 0.75 * PI) * max(s[MEMORY], 1e-4) ** PI
            s[H] = h * min(1.0 if refused else GROWTH, max(0.333, grow))
            s[MEMORY] = error
        needed = s[K_OUT] < course.grid.shape[0] and course.grid[int(s[K_OUT])] < s[T]
        if needed or course.g.shape[1] > 0:
            code = _dense(eq, wk, basis, course, h)
            if code != REACHED:
                return code
        code = after_step(eq, wk, course)
        if s[SWITCHED] > 0:
            s[H] = min(s[H], h) * 0.1
        else:
            copy(f[Y_NEW], f[Y])
            copy(f[STAGE + STAGES], f[STAGE])
        if code != REACHED:
            return code
        if s[STIFF] > 15:
            return STIFFNESS
    return REACHED
