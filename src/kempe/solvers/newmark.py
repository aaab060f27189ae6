"""One-step implicit methods of order 2 with the constraints at position level (index 3).

Generalised-alpha (Chung and Hulbert; Arnold and Bruels) and, with the trapezoidal rule and a penalty in the
multiplier block, the augmented Lagrangian of index 3 with projections of velocities and accelerations (ALI3-P).

Newton's unknowns are (beta' dq, dlambda) with the constraint row multiplied by beta', so that the matrix
[f_a + gamma'/beta' f_v + 1/beta' f_q, Phi_q^T - Q_lambda; Phi_q, -C] is conditioned independently of the step. It is
kept from step to step as long as Newton's method converges well with it.
"""

from __future__ import annotations

import numpy as np

from kempe.kernels.call import call_vectors
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
    State,
    Work,
    accelerations,
    evaluate,
    explicit_at,
    fused,
    project_velocity,
    run_program,
    share,
    solve,
)
from kempe.solvers.pack import window
from kempe.solvers.program import ROW_WEIGHT, TIME, load_weights, look_up
from kempe.solvers.vectors import add_multiple, copy, extrapolate, largest, put_multiple, take_difference

#: Corrections are not asked to fall below this, times the root of the number of coordinates, in sizes.
MANY = 5e-16
#: A contraction worse than this asks for a new matrix.
POOR = 0.1
#: What Newton's method leaves of a step may be this share of what its formula leaves out; not at tolerances below
#: this, nor where derivatives are taken: then it is the solution of the step's equations that is asked for.
NEGLIGIBLE, EXACT = 2e-3, 5e-9
#: So many steps in a row it may end with its first correction, where by the contraction seen before no more is left, or
#: this share of what is close enough (it has the same sign in each step, and adds up to it over the step squared); and
#: where constraints were violated by no more than this, in sizes.
TRUST, LEFT, VIOLATED = 16, 0.05, 1e-11
#: After so many steps of one length it is looked which differences predict best.
LOOK = 8
#: With a penalty that is given: the same, and the largest number of corrections of the multipliers in a step.
SLOW, SOFT = 0.98, 30


class Memory(Frame):
    """What the methods keep from step to step."""

    alpha_m: Real
    alpha_f: Real
    beta: Real
    gamma: Real
    at: State  # the state in the head of x, on which Newton's method works
    algorithmic: Floats  # accelerations of the algorithm, not of the motion
    compliance: Floats  # per constraint row, of ALI3-P
    penalty: Count  # 0: none; 1: the compliance stands in the matrix itself; 2: it is the inverse of a penalty
    project: Count  # 1 where velocities and accelerations are projected
    last_step: Real  # length of the last step, 0 for none
    matrix_step: Real  # the step for which the factors at hand were made, 0 for none
    renew: Count  # 1 where the matrix has grown too old
    age: Count  # steps since the matrix was made
    at_first: Real  # by how much a first correction reduces what is left, where the matrix is new; 1 where unknown
    ageing: Real  # by how much that becomes worse in a step
    size: Real  # of the last first correction
    reach: Real  # for corrections up to this that may hold
    trust: Count  # for so many steps it is taken for granted
    fewest: Count  # evaluations in the step for which the matrix was made
    # backward differences of accelerations and multipliers over steps of one length
    first: Floats
    second: Floats
    third: Floats
    equal: Count  # how many such steps there were
    w2: Real  # how much the second and the third count in predictions
    w3: Real
    left_out: Real  # what the formula leaves out of a position in a step, in sizes


def new_memory(eq: Equations, wk: Work) -> Memory:
    """Memory for a system and the inputs of its kernels."""
    layout = eq.layout
    at = State(q=wk.x[layout.q], v=wk.x[layout.v], al=wk.x[layout.a.start : layout.head])
    differences = {name: np.zeros(eq.n + eq.m) for name in ("first", "second", "third")}
    return Memory(at=at, algorithmic=np.zeros(eq.n), compliance=np.zeros(eq.m), **differences)


def constants(radius: float) -> tuple[float, float, float, float]:
    """The constants of generalised-alpha for a spectral radius at infinity."""
    alpha_m, alpha_f = (2 * radius - 1) / (radius + 1), radius / (radius + 1)
    gamma = 0.5 + alpha_f - alpha_m
    return alpha_m, alpha_f, 0.25 * (gamma + 0.5) ** 2, gamma


@compiled
def _know_nothing(memory):
    """Forget how Newton's method converges."""
    memory.at_first = memory.ageing = 1.0
    memory.trust = memory.age = 0


@piece
def begin(eq: Equations, wk: Work, course: Course, memory: Memory, _: float) -> int:
    """Begin from the present state: no history, algorithmic acceleration equal to the true one."""
    for i in range(eq.n):
        memory.algorithmic[i] = course.now.al[i]
    memory.last_step = memory.matrix_step = 0.0
    _know_nothing(memory)
    memory.equal, memory.w2, memory.w3, memory.left_out = 0, 0.0, 0.0, 0.0
    return REACHED


@piece
def _factor(eq: Equations, wk: Work, course: Course, memory: Memory, h: float, factor_a: float) -> int:
    """Evaluate residual and tangent at the state in the inputs, and factor."""
    n, m = eq.n, eq.m
    shift = wk.change
    copy(eq.step_shift, shift)
    if memory.penalty > 0:
        for k in range(m):
            if eq.step_shift[n + k] == -eq.step_compliance[k]:  # (a row in force)
                shift[n + k] = -memory.compliance[k] * (factor_a if memory.penalty > 1 else 1.0)
    if eq.whole.stepping > 0:
        call_vectors(fused(eq, eq.whole.stepping), (wk.x, shift, wk.out, wk.lu))
        ok = qd.sound(eq.plan, wk.lu)
    else:
        run_program(eq.tangent, wk)
        ok = qd.factor(eq.plan, window(wk.out, n + m, wk.out.shape[0]), shift, wk.lu, wk.sweep)
    course.factorisations += 1
    memory.matrix_step, memory.age = h if ok else 0.0, 0
    return int(ok)


@compiled
def _correct(eq, wk, state, factor_a, to_v, to_q):
    """Correct with the factors at hand: how far that goes and how far off the constraints were, in ``wk.told``."""
    n, m, x, units = eq.n, eq.m, wk.correction, eq.units
    put_multiple(window(wk.out, 0, n), -1.0, window(wk.rhs, 0, n))
    put_multiple(window(wk.out, n, n + m), -factor_a, window(wk.rhs, n, n + m))
    solve(eq, wk)
    add_multiple(x, 1.0, state.al)
    add_multiple(window(x, 0, n), to_v, state.v)
    add_multiple(window(x, 0, n), to_q, state.q)
    wk.told[0] = to_q * largest(x, window(units, 0, n))
    wk.told[1] = largest(window(wk.out, n, n + m), window(units, n, n + m))


@compiled
def _contraction(memory):
    """By how much a first correction is expected to reduce what is left."""
    return memory.at_first + memory.ageing * memory.age


@compiled
def _learn(memory, first, second, close):
    """See from two corrections how Newton's method converges.

    Where the second is within rounding, a matrix that is new is as good as one can be, and of one that is not it is
    only known that it has aged by no more than that.
    """
    found = max(second, 0.5 * close) / max(first, 1e-300)
    if memory.age == 0:
        memory.at_first = found if second > close else 0.0
    elif second > close:
        memory.ageing = max(found - memory.at_first, 0.0) / memory.age
    else:
        memory.ageing = min(memory.ageing, found / memory.age)
    memory.reach = 2.0 * first


@compiled
def _too_old(eq, memory, limit, close):
    """Whether a new matrix is worth it: with it a single correction is enough, and the old one would not do at all, or
    need a second one, for more steps than it costs.
    """
    if memory.trust == 0 or memory.age == 0 or not memory.at_first * memory.size < limit:
        return False
    old, size = _contraction(memory), memory.size
    if old > POOR and old * size > 10.0 * close:  # (what is near rounding says little)
        return True
    return old * size > limit and eq.renewal * memory.ageing * size < limit


@compiled
def _newton(eq, wk, course, memory, h):
    """Newton's method for one step, on the state in the head of x; whether it converged."""
    n, state = eq.n, memory.at
    factor_a = (1.0 - memory.alpha_m) / (h * h * memory.beta * (1.0 - memory.alpha_f))
    to_v, to_q = memory.gamma / (h * memory.beta * factor_a), 1.0 / factor_a
    wk.x[TIME], wk.x[ROW_WEIGHT] = course.next.t, factor_a
    load_weights(eq.layout, 1.0, to_v, to_q, wk.x)
    if memory.matrix_step != h:
        _know_nothing(memory)
    patience = PATIENCE if course.redundant > 0 or memory.penalty > 1 else 0
    close = max(close_enough(course, h), MANY * np.sqrt(n))  # (rounding of solutions grows with their size)
    roughly = course.tolerance > EXACT and course.tape.on == 0
    enough = NEGLIGIBLE * memory.left_out if roughly else 0.0
    limit = max(enough, LEFT * close)
    memory.age += 1
    fresh = memory.matrix_step != h or memory.renew > 0 or _too_old(eq, memory, limit, close)
    last, theta, renewed, stuck = 0.0, 1.0, fresh, 0
    soft = memory.penalty > 1  # then the multipliers are corrected by the penalty, at a rate that it decides
    most = SOFT if soft else 12
    for iteration in range(most):
        course.evaluations += 1
        look_up(eq.layout, wk.x, wk.y)
        if fresh:
            if _factor(eq, wk, course, memory, h, factor_a) == 0:
                return False
            _correct(eq, wk, state, factor_a, to_v, to_q)
        elif eq.whole.iterating > 0:
            call_vectors(fused(eq, eq.whole.iterating), (wk.x, wk.lu, eq.units, wk.told))
        else:
            run_program(eq.residual, wk)
            _correct(eq, wk, state, factor_a, to_v, to_q)
        size, violated = wk.told[0], wk.told[1]
        if not size < 1e3:
            memory.matrix_step = 0.0
            return False
        if iteration == 0:
            memory.size, expected = size, _contraction(memory)
            known = memory.trust > 0 and expected < POOR and size < memory.reach
            if known and expected * size < limit and violated < VIOLATED:
                memory.trust -= 1
                memory.renew = 0
                return True
        if iteration > 0:
            theta = size / max(last, 1e-300)
            if size < 1e-15:
                theta = 0.0
            if iteration == 1:
                _learn(memory, last, size, close)
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
        if (iteration > 0 and size * theta < max(enough, close) * (1.0 - theta)) or (size < close and violated < close):
            # (projections show what a first correction leaves)
            memory.trust = 0 if soft or memory.project > 0 else TRUST
            if renewed:
                memory.fewest = iteration + 1
            many = memory.trust == 0 and iteration + 1 > memory.fewest + eq.renewal
            memory.renew = int(iteration > 0 and (theta > 0.5 * POOR or many))
            return True
    memory.matrix_step = 0.0
    return soft and last < 1e-3  # what is left is taken over by the multipliers of the next steps


@compiled
def _advance_q(q, v, a, old, new_a, new_q, h, of_old, of_now, of_new):
    """Positions at the end of a step by the method's formula."""
    for i in range(q.shape[0]):
        new_q[i] = q[i] + h * v[i] + (of_old * old[i] + of_now * a[i] + of_new * new_a[i])


@compiled
def _advance_v(v, a, old, new_a, new_v, of_old, of_now, of_new):
    """The same for velocities."""
    for i in range(v.shape[0]):
        new_v[i] = v[i] + (of_old * old[i] + of_now * a[i] + of_new * new_a[i])


@compiled
def _predict(eq, course, memory, h):
    """Extrapolate accelerations and multipliers; position and velocity by the method's own formulas."""
    n, now, state = eq.n, course.now, memory.at
    alpha_m, alpha_f, beta, gamma = memory.alpha_m, memory.alpha_f, memory.beta, memory.gamma
    w1 = h / memory.last_step if memory.last_step > 0.0 else 0.0
    w2, w3 = memory.w2, memory.w3
    if h != memory.last_step:
        w2 = w3 = 0.0
    extrapolate(now.al, memory.first, memory.second, memory.third, w1, w2, w3, state.al)
    if course.redundant > 0:  # extrapolated, the part of the multipliers that does nothing would grow without bound
        copy(window(now.al, n, n + eq.m), window(state.al, n, n + eq.m))
    # the algorithmic acceleration is made of the old one and of both accelerations
    of_old, of_now, of_new = -alpha_m / (1.0 - alpha_m), alpha_f / (1.0 - alpha_m), (1.0 - alpha_f) / (1.0 - alpha_m)
    algorithmic, b, c = memory.algorithmic, h * h * beta, h * gamma
    old_q, old_v = h * h * (0.5 - beta) + b * of_old, h * (1.0 - gamma) + c * of_old
    _advance_q(now.q, now.v, now.al, algorithmic, state.al, state.q, h, old_q, b * of_now, b * of_new)
    _advance_v(now.v, now.al, algorithmic, state.al, state.v, old_v, c * of_now, c * of_new)


@compiled
def _algorithmic(a, before, found, alpha_m, alpha_f):
    """The algorithmic acceleration at the end of a step."""
    share_ = 1.0 / (1.0 - alpha_m)
    for i in range(found.shape[0]):
        found[i] = share_ * ((1.0 - alpha_f) * a[i] + alpha_f * before[i] - alpha_m * found[i])


@compiled
def error_share(alpha_m, alpha_f, beta):
    """The local error, as a share of the change of the algorithmic acceleration."""
    return abs(beta - 1.0 / 6.0) + 0.5 * abs(alpha_f - alpha_m)


@compiled
def _difference(eq, course, memory, h):
    """Take the step into the differences; now and then see which prediction would have been best.

    Predictions are now + first + w2 second + w3 third: polynomials of degree one, two and three, and those of degree
    one and two with a part that alternates from step to step, which accelerations and multipliers of index 3 have.
    """
    now, before, first, second, third = course.now, course.before, memory.first, memory.second, memory.third
    memory.equal = memory.equal + 1 if h == memory.last_step else 1
    if memory.equal % LOOK == 0 or memory.equal < LOOK:
        one, two, three, other_one, other_two = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(eq.n):
            off, d2, d3, unit = now.al[i] - before.al[i] - first[i], second[i], third[i], eq.units[i]
            one = max(one, abs(off) * unit)
            two = max(two, abs(off - d2) * unit)
            three = max(three, abs(off - d2 - d3) * unit)
            other_one = max(other_one, abs(off + d2) * unit)
            other_two = max(other_two, abs(off - d2 + d3) * unit)
        # the method is of order two: what counts is how accelerations bend, without what alternates
        memory.left_out = 0.5 * h * h * other_one * error_share(memory.alpha_m, memory.alpha_f, memory.beta)
        least, memory.w2, memory.w3 = one, 0.0, 0.0
        if two < least:
            least, memory.w2, memory.w3 = two, 1.0, 0.0
        if three < least:
            least, memory.w2, memory.w3 = three, 1.0, 1.0
        if other_one < least:
            least, memory.w2, memory.w3 = other_one, -1.0, 0.0
        if other_two < least:
            least, memory.w2, memory.w3 = other_two, 1.0, -1.0
    take_difference(now.al, before.al, first, second, third)
    if memory.equal < LOOK:
        memory.w2 = memory.w3 = 0.0
    if memory.equal < 3:
        memory.left_out = 0.0


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
    copy(memory.at.q, course.next.q)
    copy(memory.at.v, course.next.v)
    copy(memory.at.al, course.next.al)
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
    if memory.project > 0:
        copy(window(now.al, 0, eq.n), memory.algorithmic)
    else:
        _algorithmic(now.al, before.al, memory.algorithmic, alpha_m, alpha_f)
    _difference(eq, course, memory, h)
    memory.last_step = h
    choose_step(course, h, error, 3.0, 2.0)
    return REACHED
