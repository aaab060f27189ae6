"""One-step implicit methods of order 2 with the constraints at position level (index 3).

Generalised-alpha (Chung and Hulbert; Arnold and Bruels) and, with the trapezoidal rule and a penalty in the
multiplier block, the augmented Lagrangian of index 3 with projections of velocities and accelerations (ALI3-P).

Newton's unknowns are (beta' dq, dlambda) with the constraint row multiplied by beta', so that the matrix
[f_a + gamma'/beta' f_v + 1/beta' f_q, Phi_q^T; Phi_q, -C] is conditioned independently of the step. It is kept from
step to step as long as Newton's method converges well with it.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers import quasi_definite as qd
from kempe.solvers.bookkeeping import accumulate, after_step
from kempe.solvers.course import (
    AL,
    AL_0,
    ALPHA,
    BUDGET,
    END,
    EVALUATIONS,
    FACTORISATIONS,
    FAILED,
    FRESH,
    MEMORY,
    ORDER,
    OWN,
    PATIENCE,
    PAUSE,
    PROJECT,
    RATE,
    REACHED,
    REDUNDANT,
    REJECTED,
    RUNAWAY,
    SIGMA,
    SMALLEST,
    STEP,
    SWITCHED,
    TOLERANCE,
    H,
    Q,
    T,
    V,
    choose_step,
    next_step,
    settle,
    step_end,
    sweeps,
)
from kempe.solvers.jit import compiled, entry
from kempe.solvers.motion import (
    _CHANGE,
    _D,
    _R,
    _RHS,
    _W,
    EXPLICIT,
    PLAN,
    RESIDUAL,
    TANGENT,
    explicit_values,
    place_all,
    place_for_balance,
    share,
    times_jacobian,
)
from kempe.solvers.pack import part
from kempe.solvers.program import load_rates, load_weights, run
from kempe.solvers.vectors import copy

#: Newton's corrections end below this, in sizes.
CLOSE = 1e-11
#: A contraction worse than this asks for a new matrix.
POOR = 0.1

# the constants of the method, in course.f[0]
ALPHA_M, ALPHA_F, BETA, GAMMA = range(4)
#: per row of the constraints, in course.f[1]: the compliance of ALI3-P. With course.s[ALPHA] = 2 it is the inverse of
#: a penalty, so that beta' times it stands in the matrix; with 1 it stands there itself, whatever the step.
COMPLIANCE = 1


def constants(radius: float) -> np.ndarray:
    """The constants of generalised-alpha for a spectral radius at infinity."""
    alpha_m, alpha_f = (2 * radius - 1) / (radius + 1), radius / (radius + 1)
    gamma = 0.5 + alpha_f - alpha_m
    return np.array([alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma])


@compiled
def restart(course):
    """Begin from the present state: no history, algorithmic acceleration equal to the true one."""
    for i in range(course.x.shape[1]):
        course.x[SIGMA, i] = course.x[AL, i]
        course.x[AL_0, i] = course.x[AL, i]
    course.s[SWITCHED] = 0.0
    course.s[OWN] = 0.0
    course.s[MEMORY] = 0.0  # length of the last step: none
    course.s[ORDER] = 0.0  # step of the matrix at hand: none


@compiled
def _compliance(eq, course, k, factor_a):
    """The compliance of a constraint row in the matrix."""
    if course.s[ALPHA] == 0:
        return -eq.step_shift[eq.scale.shape[0] + k]
    return course.f[COMPLIANCE, k] * (factor_a if course.s[ALPHA] > 1 else 1.0)


@compiled
def _factor(eq, wk, course, h, factor_a):
    """Evaluate residual and tangent at the state in the inputs, and factor."""
    s, n, m = course.s, eq.scale.shape[0], eq.row_scale.shape[0]
    plan = part(eq.indices, PLAN)
    run(part(eq.indices, TANGENT), wk.x, wk.y, wk.out)
    shift = wk.w[_CHANGE]
    copy(eq.step_shift, shift)
    for k in range(m):
        shift[n + k] = -_compliance(eq, course, k, factor_a)
    ok = qd.factor(plan, wk.out[n + m :], shift, wk.lu, wk.w[_W])
    s[FACTORISATIONS] += 1
    s[ORDER] = h if ok else 0.0
    return ok


@compiled
def _newton(eq, wk, course, t, h, q, v, al):
    """Newton's method for one step; 0 when converged. The new state is in q, v, al."""
    s, n, m = course.s, eq.scale.shape[0], eq.row_scale.shape[0]
    plan = part(eq.indices, PLAN)
    constants = course.f[0]
    beta = constants[BETA]
    factor_a = (1.0 - constants[ALPHA_M]) / (h * h * beta * (1.0 - constants[ALPHA_F]))
    to_v, to_q = constants[GAMMA] / (h * beta * factor_a), 1.0 / factor_a
    rhs, x, w = wk.w[_RHS], wk.w[_D], wk.w[_W]
    if s[ORDER] != h:
        load_weights(eq.layout, 1.0, to_v, to_q, wk.x)
        fresh = True
    else:
        fresh = s[FRESH] > 0
    last, theta, renewed = 0.0, 1.0, fresh
    patience = PATIENCE if s[REDUNDANT] > 0 else 0
    close = max(min(CLOSE, 1e-3 * s[TOLERANCE]), 1e-14)
    most = 60 if s[ALPHA] > 1 else 12
    for iteration in range(most):
        place_for_balance(eq, wk, q, v, al, t)
        s[EVALUATIONS] += 1
        if fresh:
            if not _factor(eq, wk, course, h, factor_a):
                return 1
        else:
            run(part(eq.indices, RESIDUAL), wk.x, wk.y, wk.out)
        for i in range(n):
            rhs[i] = -wk.out[i]
        violated = 0.0
        for k in range(m):
            rhs[n + k] = -factor_a * wk.out[n + k]
            violated = max(violated, abs(wk.out[n + k]) / eq.row_scale[k])
        qd.solve(plan, wk.lu, rhs, x, w)
        size = 0.0
        for i in range(n):
            change = x[i]
            al[i] += change
            v[i] += to_v * change
            q[i] += to_q * change
            move = abs(to_q * change) / eq.scale[i]
            if not move <= size:
                size = move
        for k in range(m):
            al[n + k] += x[n + k]
        if not size < 1e3:
            s[ORDER] = 0.0
            return 1
        if iteration > 0:
            theta = size / max(last, 1e-300)
            if size < 1e-15:
                theta = 0.0
            if theta > POOR and size > 0.1 * close:
                if theta > 2.0 and renewed:
                    patience -= 1
                if patience < 0 or iteration > most - 3:
                    s[ORDER] = 0.0
                    return 1
                renewed = fresh = True  # a new matrix, from the present iterate
                last = size
                if not (size < close and violated < close):
                    continue
        else:
            theta = 1.0  # nothing is known yet of how this step converges
        fresh = False
        last = size
        # what is left after this correction is about size theta / (1 - theta)
        if (iteration > 0 and size * theta < close * (1.0 - theta)) or (size < close and violated < close):
            s[FRESH] = 1.0 if iteration > 0 and theta > 0.5 * POOR else 0.0
            return 0
    s[ORDER] = 0.0
    return 1


@compiled
def _predict(eq, course, h, q, v, al):
    """Extrapolate accelerations and multipliers; position and velocity by the method's own formulas."""
    s, n, constants = course.s, eq.scale.shape[0], course.f[0]
    alpha_m, alpha_f, beta, gamma = constants[ALPHA_M], constants[ALPHA_F], constants[BETA], constants[GAMMA]
    N = eq.shift.shape[0]
    # (a higher order would amplify the alternating part that accelerations and multipliers of index 3 have)
    ratio = h / s[MEMORY] if s[MEMORY] > 0.0 else 0.0
    for i in range(N):
        if i == n and s[REDUNDANT] > 0:
            ratio = 0.0  # extrapolated, the part of the multipliers that does nothing would grow without bound
        al[i] = course.x[AL, i] + ratio * (course.x[AL, i] - course.x[AL_0, i])
    for i in range(n):
        old = course.x[SIGMA, i]
        new = ((1.0 - alpha_f) * al[i] + alpha_f * course.x[AL, i] - alpha_m * old) / (1.0 - alpha_m)
        q[i] = course.x[Q, i] + h * course.x[V, i] + h * h * ((0.5 - beta) * old + beta * new)
        v[i] = course.x[V, i] + h * ((1.0 - gamma) * old + gamma * new)


@compiled
def _error(eq, course, h, al):
    """The local error in units of the tolerance, from the change of the algorithmic acceleration."""
    s, n, constants = course.s, eq.scale.shape[0], course.f[0]
    alpha_m, alpha_f = constants[ALPHA_M], constants[ALPHA_F]
    share = abs(constants[BETA] - 1.0 / 6.0) + 0.5 * abs(alpha_f - alpha_m)
    total = 0.0
    for i in range(n):
        old = course.x[SIGMA, i]
        new = ((1.0 - alpha_f) * al[i] + alpha_f * course.x[AL, i] - alpha_m * old) / (1.0 - alpha_m)
        total += ((new - old) / eq.scale[i]) ** 2
    return share * h * h * np.sqrt(total / n) / s[TOLERANCE]


@compiled
def _project(eq, wk, course, h, q, v, al, t):
    """Velocities and accelerations to the constraints (ALI3-P), in the metric of the matrix at the new state.

    With the matrix of an earlier step the projection would not be orthogonal, and the method of order 1 only.
    """
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    plan = part(eq.indices, PLAN)
    rhs, d, w, rate = wk.w[_RHS], wk.w[_D], wk.w[_W], wk.w[_R]
    place_all(eq, wk, q, v, al, t)
    if not _factor(eq, wk, course, h, 4.0 / (h * h)):
        return False
    run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
    for level in range(2):
        for _ in range(3):
            at = n + m if level == 0 else n + 2 * m
            for k in range(m):
                rate[k] = wk.out[at + k]
            times_jacobian(eq, explicit_values(eq, wk), v if level == 0 else al, -1.0, rate)
            worst = 0.0
            for i in range(n):
                rhs[i] = 0.0
            for k in range(m):
                rhs[n + k] = rate[k]
                worst = max(worst, abs(rate[k]) / eq.row_scale[k])
            qd.solve(plan, wk.lu, rhs, d, w)
            for i in range(n):
                if level == 0:
                    v[i] += d[i]
                else:
                    al[i] += d[i]
            if worst < 1e-13 * course.s[RATE]:
                break
        if level == 0:
            load_rates(eq.layout, v, wk.x)
            run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
    return True


@entry
def advance(eq, wk, course):
    """Integrate until the end, an event that stops, or trouble."""
    s, n = course.s, eq.scale.shape[0]
    q, v, al = wk.w[0], wk.w[1], wk.w[2]
    while s[T] < s[END]:
        if s[SWITCHED] > 0:
            restart(course)
        if s[BUDGET] <= 0:
            return PAUSE
        s[BUDGET] -= 1
        h = next_step(course, False)
        if abs(h - s[ORDER]) < 1e-9 * h:
            h = s[ORDER]
        if not s[T] + h > s[T]:
            return FAILED
        if s[MEMORY] > 0.0 and s[MEMORY] != h:
            # the algorithmic acceleration belongs to a time that depends on the step
            for i in range(n):
                course.x[SIGMA, i] = course.x[AL, i] + h / s[MEMORY] * (course.x[SIGMA, i] - course.x[AL, i])
        _predict(eq, course, h, q, v, al)
        t = step_end(course, h)
        code = _newton(eq, wk, course, t, h, q, v, al)
        error = 0.0
        if code == 0 and s[STEP] == 0:
            error = _error(eq, course, h, al)
            if not error <= 1.0:
                code = 2
        if code != 0:
            s[REJECTED] += 1
            s[ORDER] = 0.0
            if s[STEP] > 0 or h < s[SMALLEST]:
                return FAILED
            if s[MEMORY] > 0.0 and s[MEMORY] != h:
                for i in range(n):
                    course.x[SIGMA, i] = course.x[AL, i] + s[MEMORY] / h * (course.x[SIGMA, i] - course.x[AL, i])
            s[H] = h * max(0.2, 0.9 * error ** (-1.0 / 3.0)) if code == 2 else 0.25 * h
            continue
        if s[REDUNDANT] > 0:
            share(eq, course.beside, q[:n], v[:n], t, sweeps(course), al[n:])
        constants = course.f[0]
        for i in range(n):
            old = course.x[SIGMA, i]
            new = (1.0 - constants[ALPHA_F]) * al[i] + constants[ALPHA_F] * course.x[AL, i] - constants[ALPHA_M] * old
            course.x[SIGMA, i] = new / (1.0 - constants[ALPHA_M])
        if s[PROJECT] > 0:
            if not _project(eq, wk, course, h, q, v, al, t):
                return FAILED
            for i in range(n):
                course.x[SIGMA, i] = al[i]
        if settle(eq, course, t, q, v, al) != REACHED:
            return RUNAWAY
        s[MEMORY] = h
        accumulate(eq, wk, course)
        choose_step(course, h, error, 3.0, 2.0)
        code = after_step(eq, wk, course)
        if s[SWITCHED] > 0:
            s[H] = min(s[H], h) * 0.1
        if code != REACHED:
            return code
    return REACHED
