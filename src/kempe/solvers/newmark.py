"""One-step implicit methods of order 2 with the constraints at position level (index 3).

Generalised-alpha (Chung and Hulbert; Arnold and Bruels) and, with the trapezoidal rule and a penalty in the
multiplier block, the augmented Lagrangian of index 3 with projections of velocities and accelerations (ALI3-P).

Newton's unknowns are (beta' dq, dlambda) with the constraint row multiplied by beta', so that the matrix
[f_a + gamma'/beta' f_v + 1/beta' f_q, Phi_q^T - Q_lambda; Phi_q, -C] is conditioned independently of the step. It is
kept from step to step as long as Newton's method converges well with it.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers import quasi_definite as qd
from kempe.solvers.course import (
    FAILED,
    PATIENCE,
    REACHED,
    ROUNDING,
    STUCK,
    Course,
    choose_step,
    close_enough,
    in_tolerances,
    refinements,
)
from kempe.solvers.frames import Count, Floats, Frame, Real
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import (
    Equations,
    Work,
    accelerations,
    evaluate,
    explicit_at,
    place_all,
    project_velocity,
    residual_of,
    run_program,
    share,
    solve,
)
from kempe.solvers.pack import window
from kempe.solvers.program import load_weights
from kempe.solvers.vectors import copy

#: Corrections are not asked to fall below this, times the root of the number of coordinates, in sizes.
MANY = 5e-16
#: A contraction worse than this asks for a new matrix.
POOR = 0.1
#: With a penalty that is given: the same, and the largest number of corrections of the multipliers in a step.
SLOW, SOFT = 0.98, 30


class Memory(Frame):
    """What the methods keep from step to step."""

    alpha_m: Real
    alpha_f: Real
    beta: Real
    gamma: Real
    algorithmic: Floats  # accelerations of the algorithm, not of the motion
    compliance: Floats  # per constraint row, of ALI3-P
    penalty: Count  # 0: none; 1: the compliance stands in the matrix itself; 2: it is the inverse of a penalty
    project: Count  # 1 where velocities and accelerations are projected
    last_step: Real  # length of the last step, 0 for none
    matrix_step: Real  # the step for which the factors at hand were made, 0 for none
    renew: Count  # 1 where the matrix has grown too old


def new_memory(n: int, m: int) -> Memory:
    """Memory for a system."""
    return Memory(algorithmic=np.zeros(n), compliance=np.zeros(m))


def constants(radius: float) -> tuple[float, float, float, float]:
    """The constants of generalised-alpha for a spectral radius at infinity."""
    alpha_m, alpha_f = (2 * radius - 1) / (radius + 1), radius / (radius + 1)
    gamma = 0.5 + alpha_f - alpha_m
    return alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma


@piece
def begin(eq: Equations, wk: Work, course: Course, memory: Memory, _: float) -> int:
    """Begin from the present state: no history, algorithmic acceleration equal to the true one."""
    for i in range(eq.n):
        memory.algorithmic[i] = course.now.al[i]
    memory.last_step = memory.matrix_step = 0.0
    return REACHED


@piece
def _factor(eq: Equations, wk: Work, course: Course, memory: Memory, h: float, factor_a: float) -> int:
    """Evaluate residual and tangent at the state in the inputs, and factor."""
    n, m = eq.n, eq.m
    run_program(eq.tangent, wk)
    shift = wk.change
    copy(eq.step_shift, shift)
    if memory.penalty > 0:
        for k in range(m):
            if eq.step_shift[n + k] == -eq.step_compliance[k]:  # (a row in force)
                shift[n + k] = -memory.compliance[k] * (factor_a if memory.penalty > 1 else 1.0)
    ok = qd.factor(eq.plan, window(wk.out, n + m, wk.out.shape[0]), shift, wk.lu, wk.sweep)
    course.factorisations += 1
    memory.matrix_step = h if ok else 0.0
    return int(ok)


@compiled
def _newton(eq, wk, course, memory, h):
    """Newton's method for one step; whether it converged. The new state is in ``course.next``."""
    n, m, state = eq.n, eq.m, course.next
    q, v, al = state.q, state.v, state.al
    factor_a = (1.0 - memory.alpha_m) / (h * h * memory.beta * (1.0 - memory.alpha_f))
    to_v, to_q = memory.gamma / (h * memory.beta * factor_a), 1.0 / factor_a
    rhs, x = wk.rhs, wk.correction
    if memory.matrix_step != h:
        load_weights(eq.layout, 1.0, to_v, to_q, wk.x)
        fresh = True
    else:
        fresh = memory.renew > 0
    last, theta, renewed, stuck = 0.0, 1.0, fresh, 0
    patience = PATIENCE if course.redundant > 0 or memory.penalty > 1 else 0
    close = max(close_enough(course, h), MANY * np.sqrt(n))  # (rounding of solutions grows with their size)
    soft = memory.penalty > 1  # then the multipliers are corrected by the penalty, at a rate that it decides
    most = SOFT if soft else 12
    for iteration in range(most):
        course.evaluations += 1
        if fresh:
            place_all(eq, wk, state)
            if _factor(eq, wk, course, memory, h, factor_a) == 0:
                return False
        else:
            residual_of(eq, wk, state)
        for i in range(n):
            rhs[i] = -wk.out[i]
        violated = 0.0
        for k in range(m):
            rhs[n + k] = -factor_a * wk.out[n + k]
            violated = max(violated, abs(wk.out[n + k]) / eq.row_scale[k])
        solve(eq, wk)
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
            memory.matrix_step = 0.0
            return False
        if iteration > 0:
            theta = size / max(last, 1e-300)
            if size < 1e-15:
                theta = 0.0
            if theta > (SLOW if soft else POOR) and size > 0.1 * close:
                stuck = stuck + 1 if theta > 0.5 else 0
                if size < ROUNDING and renewed and (stuck > STUCK or iteration > 8):
                    memory.renew = 1
                    return True
                if theta > 2.0 and renewed and size > ROUNDING:
                    patience -= 1
                if patience < 0 or (iteration > most - 3 and not soft and size > ROUNDING):
                    memory.matrix_step = 0.0
                    return False
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
            memory.renew = 1 if iteration > 0 and theta > 0.5 * POOR else 0
            return True
    memory.matrix_step = 0.0
    return soft and last < 1e-3  # what is left is taken over by the multipliers of the next steps


@compiled
def _predict(eq, course, memory, h):
    """Extrapolate accelerations and multipliers; position and velocity by the method's own formulas."""
    n, now, state = eq.n, course.now, course.next
    alpha_m, alpha_f, beta, gamma = memory.alpha_m, memory.alpha_f, memory.beta, memory.gamma
    # (a higher order would amplify the alternating part that accelerations and multipliers of index 3 have)
    ratio = h / memory.last_step if memory.last_step > 0.0 else 0.0
    for i in range(n + eq.m):
        if i == n and course.redundant > 0:
            ratio = 0.0  # extrapolated, the part of the multipliers that does nothing would grow without bound
        state.al[i] = now.al[i] + ratio * (now.al[i] - course.before.al[i])
    for i in range(n):
        old = memory.algorithmic[i]
        new = ((1.0 - alpha_f) * state.al[i] + alpha_f * now.al[i] - alpha_m * old) / (1.0 - alpha_m)
        state.q[i] = now.q[i] + h * now.v[i] + h * h * ((0.5 - beta) * old + beta * new)
        state.v[i] = now.v[i] + h * ((1.0 - gamma) * old + gamma * new)


@compiled
def error_share(alpha_m, alpha_f, beta):
    """The local error, as a share of the change of the algorithmic acceleration."""
    return abs(beta - 1.0 / 6.0) + 0.5 * abs(alpha_f - alpha_m)


@compiled
def _error(eq, course, memory, h):
    """The local error in units of the tolerance, from the change of the algorithmic acceleration."""
    alpha_m, alpha_f = memory.alpha_m, memory.alpha_f
    share_ = error_share(alpha_m, alpha_f, memory.beta)
    total = 0.0
    for i in range(eq.n):
        old = memory.algorithmic[i]
        new = ((1.0 - alpha_f) * course.next.al[i] + alpha_f * course.now.al[i] - alpha_m * old) / (1.0 - alpha_m)
        total += ((new - old) / eq.scale[i]) ** 2
    return in_tolerances(course, share_ * h * h * np.sqrt(total / eq.n), 2.0, 3e-14)


@piece
def _project(eq: Equations, wk: Work, course: Course) -> int:
    """Velocities and accelerations to the constraints (ALI3-P), in the metric of the mass matrix."""
    state, side = course.next, course.beside
    if evaluate(eq, side, state) == 0 or not project_velocity(eq, side, state) < np.inf:
        return 0
    explicit_at(eq, side, state)
    return int(accelerations(eq, side, state, 0.0, 1.0, refinements(course)) < np.inf)


@piece
def step(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """One step."""
    if abs(h - memory.matrix_step) < 1e-9 * h:
        h = memory.matrix_step  # a difference of rounding is not worth a new matrix
    if memory.last_step > 0.0 and memory.last_step != h:
        # the algorithmic acceleration belongs to a time that depends on the step
        for i in range(eq.n):
            now = course.now.al[i]
            memory.algorithmic[i] = now + h / memory.last_step * (memory.algorithmic[i] - now)
    _predict(eq, course, memory, h)
    if not _newton(eq, wk, course, memory, h):
        return FAILED
    if course.fixed == 0.0:
        course.error = _error(eq, course, memory, h)
        if not course.error <= 1.0:
            return REACHED
    if course.tape.on > 0:
        copy(memory.algorithmic, course.tape.more[course.tape.count])
        course.tape.more[course.tape.count, eq.n] = memory.last_step
    if course.redundant > 0:
        share(eq, course.beside, course.next, refinements(course))
    if memory.project > 0:
        return REACHED if _project(eq, wk, course) > 0 else FAILED
    return REACHED


@piece
def close(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """After a step: the algorithmic acceleration of the next, and its length."""
    error, now, before = course.error, course.now, course.before
    if h < 0.0:
        memory.matrix_step = 0.0
        if memory.last_step > 0.0 and memory.last_step != -h:
            for i in range(eq.n):
                here = now.al[i]
                memory.algorithmic[i] = here + memory.last_step / -h * (memory.algorithmic[i] - here)
        course.step = -h * (max(0.2, 0.9 * error ** (-1.0 / 3.0)) if 1.0 < error < np.inf else 0.25)
        return REACHED
    alpha_m, alpha_f = memory.alpha_m, memory.alpha_f
    for i in range(eq.n):
        old = memory.algorithmic[i]
        new = (1.0 - alpha_f) * now.al[i] + alpha_f * before.al[i] - alpha_m * old
        memory.algorithmic[i] = now.al[i] if memory.project > 0 else new / (1.0 - alpha_m)
    memory.last_step = h
    choose_step(course, h, error, 3.0, 2.0)
    return REACHED
