"""Singular positions are crossed along the branch of the motion, by extrapolation.

Where constraints lose rank, the weakest singular value s of Phi_q passes through zero. A position projected there with
a violation of rounding size r is off by r/s along the weak direction, and the velocity projected with it by r v/s^2:
the nearer to the singular position a step ends, the worse. But the motion along its branch is smooth. So no step ends
near the instant: position, velocity and acceleration at a few states before it give a polynomial, which leads to a
state behind it where the constraints are sound again. That state has to satisfy the constraints as it is, but for what
the polynomial's own error and rounding explain; otherwise (a linkage that only nearly is singular, a lock-up) the
crossing is refused and the motion approaches further. Within the crossing the motion is the polynomial through the
states before and the one behind.

How sound a constraint row is shows in its pivot, which is what other rows leave of Phi_q M^-1 Phi_q^T: the square of s
in that row's own measure, by the largest pivot it has had. Between links that turn, s is about the sine of an angle, so
the arc sine of s tells best when it will be zero.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.course import FAILED, KEPT, REACHED, SAMPLES, TERMS, Course, call, refinements
from kempe.solvers.jit import compiled, piece, rare
from kempe.solvers.motion import (
    Equations,
    State,
    Work,
    accelerations,
    consistent,
    copy_state,
    evaluate,
    explicit_at,
    project_position,
    project_velocity,
)
from kempe.solvers.vectors import copy

#: Integrators that are less accurate than their positions have states kept where some row is below this soundness.
WEAK = 0.8
#: They take short steps: their states are kept in distances of this share of that to the singular position.
SPACED = 0.15
#: Below this they cross, however short their steps.
TOO_NEAR = 0.03
#: By how much the arc sine of the soundness may change in a step, so that none jumps across a singular position.
CHANGE = 0.7
#: With short fixed steps the constraints are looked at again after this share of that time, and so many steps at most:
#: a look costs a factorisation, which such steps do without.
RESTING, LONGEST_REST = 0.05, 16
#: Of how many states the polynomials may be made.
STATES = (16, 12, 9, 6, 4)
#: Where those of the fewest states are off by more than this, in sizes, more states do not make up for it: most rows
#: that become less sound only turn round.
HOPELESS = 1e-3
#: How large the polynomial's error may be, in tolerances, for integrators that are less accurate than their positions,
#: and in any case with fixed steps.
SHARE, ROUGH_SHARE, ROUGHLY = 0.01, 3.0, 1e-4
#: How large it may be where it does not become smaller any more, in tolerances; three times that at tight ones.
AT_LAST, TIGHT = 3.0, 1e-9
#: Nearer than this to a singular position the motion does not come by shorter and shorter steps.
NEAREST = 1e-6
#: A pivot is zero where it is this fraction of what it is in the next place looked at.
ZERO = 1e-3
#: It may be, where a parabola through three of those places has this fraction as its lowest value.
DEEP = 0.3
#: Rounding that a position has, in sizes; what it may be magnified to by the weak constraints.
ROUNDING = 1e-13
#: Where multipliers grow like 1/s (a force on the weak direction), their pole must be at least this much of them.
POLE, ROUGH_POLE = 1e-4, 1e-2


@compiled
def _look(wk, course):
    """How sound each watched row is by the factors at hand."""
    p = course.passage
    for j in range(p.row.shape[0]):
        pivot = 1.0 / abs(wk.lu[p.place[j]])  # the factors hold reciprocals
        if pivot > p.sound[j]:
            p.sound[j] = pivot
        p.before[j] = p.now[j]
        p.now[j] = np.arcsin(np.sqrt(pivot / p.sound[j]))


@compiled
def _time_for(eq, course, way):
    """How long the motion takes for a way ahead, in units of the way of the last step; it may gain speed."""
    before, now = course.before, course.now
    moved, fast, gain = 0.0, 0.0, 0.0
    for i in range(eq.n):
        unit = 1.0 / eq.scale[i] ** 2
        moved += (now.q[i] - before.q[i]) ** 2 * unit
        fast += now.v[i] ** 2 * unit
        gain += now.v[i] * now.al[i] * unit
    moved, fast = np.sqrt(moved), np.sqrt(fast)
    if not fast * moved > 0.0:
        return np.inf
    gain = max(gain / fast, 0.0)
    return 2.0 * way * moved / (fast + np.sqrt(fast * fast + 2.0 * gain * way * moved))


@piece
def keep(eq: Equations, wk: Work, course: Course, _: State, h: float) -> int:
    """After a step of length h: when the next singular position seems due; states near one are kept.

    With h = 0: at the start of a motion, and behind a switch.
    """
    p, now = course.passage, course.now
    p.tried, p.near = 0, 0
    if 0.0 < h < p.rest:
        p.rest, p.since, p.ahead = p.rest - h, p.since + h, p.ahead - h
        return REACHED
    p.ahead, p.bound, p.rest = np.inf, np.inf, 0.0
    if h == 0.0:
        p.kept = 0
        p.since = 0.0
        p.doubt = np.inf
        for j in range(p.row.shape[0]):
            p.now[j] = np.inf
    passed = p.since + h
    p.since = 0.0
    factors = wk if p.own_factors > 0 else course.beside
    if p.own_factors == 0 and evaluate(eq, course.beside, now) == 0:
        return REACHED
    _look(factors, course)
    weakest, fastest = np.inf, 0.0
    for j in range(p.row.shape[0]):
        s, before = p.now[j], p.before[j]
        weakest = min(weakest, s)
        if before < np.inf:
            fastest = max(fastest, abs(s - before) * h / passed)
            if s < before and passed * s < p.ahead * (before - s):
                p.ahead, p.weak, p.weak_row = passed * s / (before - s), s, j
    if p.ahead < np.inf:
        p.ahead = _time_for(eq, course, p.ahead / h)
        p.near = p.rough > 0 and p.weak < TOO_NEAR
    if fastest > 0.0:
        p.bound = _time_for(eq, course, CHANGE / fastest)
        if course.fixed > 0.0 and p.own_factors == 0:
            p.rest = min(RESTING * min(p.ahead, p.bound), LONGEST_REST * h)
    p.sound_now = weakest
    if p.rough == 0:
        _put(p, now, weakest)
    elif weakest < WEAK and (p.kept == 0 or now.t - p.t[(p.kept - 1) % KEPT] > SPACED * p.ahead):
        _keep_consistent(eq, course)
    return REACHED


@compiled
def _put(p, state, sound):
    """Put a state into the ring, with the least soundness there."""
    at = p.kept % KEPT
    p.t[at], p.s[at] = state.t, max(sound, 1e-8)
    copy(state.q, p.q[at])
    copy(state.v, p.v[at])
    copy(state.al, p.al[at])
    p.kept += 1


@compiled
def _keep_consistent(eq, course):
    """Keep the present state of an integrator that is less accurate than its positions, made consistent."""
    p = course.passage
    copy_state(course.now, course.inside)
    if consistent(eq, course.beside, course.inside, np.inf, refinements(course)) < np.inf:
        _put(p, course.inside, p.sound_now)


@compiled
def _base(p, t):
    """Legendre's polynomials at a time, with first and second derivatives, as rows of ``p.base``."""
    u, unit = (t - p.middle) / p.half, 1.0 / p.half
    base = p.base
    base[0, 0], base[1, 0], base[2, 0] = 1.0, 0.0, 0.0
    base[0, 1], base[1, 1], base[2, 1] = u, unit, 0.0
    for k in range(1, TERMS - 1):
        a, b = (2 * k + 1) / (k + 1), k / (k + 1)
        base[0, k + 1] = a * u * base[0, k] - b * base[0, k - 1]
        base[1, k + 1] = a * (u * base[1, k] + unit * base[0, k]) - b * base[1, k - 1]
        base[2, k + 1] = a * (u * base[2, k] + 2.0 * unit * base[1, k]) - b * base[2, k - 1]


@compiled
def _orthogonal(p):
    """Turn the rows of ``p.base`` into those of the polynomials that are orthogonal on the data."""
    for r in range(3):
        for k in range(TERMS):
            total = p.base[r, k]
            for j in range(k):
                total -= p.base[r, j] * p.R[j, k]
            p.base[r, k] = total / p.R[k, k] if p.R[k, k] > 0.0 else 0.0


@compiled
def _fit(eq, course, count, until):
    """Polynomials for all coordinates, nearest to the last states kept.

    Position, velocity and acceleration are data of one polynomial. Each weighs by its noise: the errors of single
    steps, and rounding r, which next to a singular position shows as r/s in a position, r v/s^2 in a velocity and
    r v^2/s^3 in an acceleration. Of integrators whose velocities are not quite the rates of their positions, each is
    smooth by itself: positions and velocities have polynomials of their own.
    """
    p = course.passage
    first = p.t[(p.kept - count) % KEPT]
    p.middle, p.half, p.count = 0.5 * (first + until), 0.5 * (until - first), count
    unit, kinds = 1.0 / course.rate, 1 if p.rough > 0 else 3
    noise = course.tolerance * (1e-3 if p.rough == 0 else 1.0) if course.fixed == 0.0 else 1e-12
    for node in range(count):
        at = (p.kept - 1 - node) % KEPT
        _base(p, p.t[at])
        rounding, scale = 1e-16, 1.0
        for r in range(kinds):
            rounding /= p.s[at]
            weight = scale / (noise + rounding)
            scale *= unit
            for k in range(TERMS):
                p.Q[kinds * node + r, k] = weight * p.base[r, k]
            p.weight[kinds * node + r] = weight
    _make_orthogonal(p, kinds * count)
    for i in range(eq.n):
        for k in range(TERMS):
            p.coefficients[i, k] = p.rates[i, k] = 0.0
        for node in range(count):
            at = (p.kept - 1 - node) % KEPT
            q, v, a = p.q[at, i], p.v[at, i], p.al[at, i]
            if kinds > 1:
                for k in range(TERMS):
                    p.coefficients[i, k] += p.Q[3 * node, k] * q + p.Q[3 * node + 1, k] * v + p.Q[3 * node + 2, k] * a
            else:
                for k in range(TERMS):
                    p.coefficients[i, k] += p.Q[node, k] * q
                    p.rates[i, k] += p.Q[node, k] * v


@compiled
def _make_orthogonal(p, rows):
    """Orthogonal polynomials on the data, by Gram and Schmidt, twice; then what gives coefficients from data."""
    for k in range(TERMS):
        for j in range(k):
            p.R[j, k] = 0.0
        for _ in range(2):
            for j in range(k):
                total = 0.0
                for r in range(rows):
                    total += p.Q[r, j] * p.Q[r, k]
                p.R[j, k] += total
                for r in range(rows):
                    p.Q[r, k] -= total * p.Q[r, j]
        length = 0.0
        for r in range(rows):
            length += p.Q[r, k] ** 2
        p.R[k, k] = np.sqrt(length) if k < rows else 0.0
        for r in range(rows):
            p.Q[r, k] = p.Q[r, k] / p.R[k, k] if p.R[k, k] > 0.0 else 0.0
    for r in range(rows):
        for k in range(TERMS):
            p.Q[r, k] *= p.weight[r]


@compiled
def _polynomials(eq, course, t, state):
    """Position, velocity and acceleration of all coordinates at a time."""
    p = course.passage
    _base(p, t)
    _orthogonal(p)
    apart = p.rough > 0
    for i in range(eq.n):
        q, v, a = 0.0, 0.0, 0.0
        for k in range(p.terms):
            c = p.coefficients[i, k]
            q += c * p.base[0, k]
            if apart:
                v += p.rates[i, k] * p.base[0, k]
                a += p.rates[i, k] * p.base[1, k]
            else:
                v += c * p.base[1, k]
                a += c * p.base[2, k]
        state.q[i], state.v[i], state.al[i] = q, v, a


@piece
def _doubt(eq: Equations, course: Course, t: float) -> float:
    """The least error of the polynomials at a time, in sizes and their rate, with as many terms as leave the least.

    What the last two terms change, and how fast that falls, says what further ones would.
    """
    p = course.passage
    _base(p, t)
    _orthogonal(p)
    terms = min(TERMS, p.count if p.rough > 0 else 3 * p.count)
    for k in range(terms):
        largest = 0.0
        for i in range(eq.n):
            c, unit = p.coefficients[i, k], 1.0 / eq.scale[i]
            rate = p.rates[i, k] * p.base[0, k] if p.rough > 0 else c * p.base[1, k]
            largest = max(largest, abs(c * p.base[0, k]) * unit, abs(rate) * unit / course.rate)
        p.change[k] = largest
    least = np.inf
    for k in range(3, terms):
        last, earlier = max(p.change[k], p.change[k - 1]), max(p.change[k - 2], p.change[k - 3])
        doubt = last * min(1.0, max(0.1, last / earlier)) if earlier > 0.0 else last
        if doubt < least:
            least, p.terms = doubt, k + 1
    return least


@compiled
def _best_fit(eq, course, enough):
    """Polynomials through as many of the last states as leave little doubt at the next; that doubt."""
    p, t = course.passage, course.next.t
    if p.rough == 0 and course.fixed == 0.0:
        _fit(eq, course, min(STATES[-1], p.kept), t)
        quick = _doubt(eq, course, t)
        if quick > HOPELESS:
            return quick
    least, best = np.inf, 0
    for k in range(len(STATES)):
        count = min(STATES[k], p.kept)
        if count > 1:
            _fit(eq, course, count, t)
            doubt = _doubt(eq, course, t)
            if doubt < least:
                least, best = doubt, count
            if course.fixed == 0.0 and doubt <= enough:
                return doubt
    if best > 0:
        _fit(eq, course, best, t)
        _doubt(eq, course, t)
    return least


@compiled
def _land(eq, wk, course, x, doubt):
    """The state behind the singular position; whether it satisfies the constraints as it should."""
    p, state = course.passage, course.next
    _polynomials(eq, course, state.t, state)
    copy_state(state, course.inside)
    course.evaluations += 1
    course.factorisations += 2
    if evaluate(eq, wk, state) == 0:
        return False
    sound = 1.0
    for j in range(p.row.shape[0]):
        s = np.sqrt(min(1.0, 1.0 / abs(wk.lu[p.place[j]]) / p.sound[j]))
        p.landing[j] = s
        sound = min(sound, s)
    if not sound > 0.4 * min(p.sound_now, 0.5):
        return False
    if not project_position(eq, wk, state, np.inf) < 1e-12 or evaluate(eq, wk, state) == 0:
        return False
    if not project_velocity(eq, wk, state) < np.inf:
        return False
    explicit_at(eq, wk, state)
    if not accelerations(eq, wk, state, 0.0, 1.0, refinements(course)) < np.inf:
        return False
    fall, slip, jerk = 0.0, 0.0, 0.0
    for i in range(eq.n):
        fall = max(fall, abs(state.q[i] - course.inside.q[i]) / eq.scale[i])
        slip = max(slip, abs(state.v[i] - course.inside.v[i]) / (eq.scale[i] * course.rate))
        jerk = max(jerk, abs(state.al[i] - course.inside.al[i]) / eq.scale[i])
    noise = ROUNDING / sound
    short = min(x, 1.0 / course.rate)
    # of the two, the polynomial has less rounding; but implicit methods would correct it in a step however short
    if p.own_factors > 0 and slip <= noise / sound and fall <= noise:
        copy(course.inside.q, state.q)
        copy(course.inside.v, state.v)
    return (
        fall <= 10.0 * doubt + noise
        and slip <= 30.0 * (doubt + noise / sound) + 10.0 * fall / sound
        and (p.rough > 0 or jerk * short * short <= 1e3 * (doubt + noise / sound) + 10.0 * fall / sound)
    )


@compiled
def _go_to(eq, wk, course, x, along):
    """Factor the equations at a time from the start of the last step, or of a crossing; whether that could be done."""
    if along > 0:
        _polynomials(eq, course, course.passage.origin + x, course.inside)
        course.inside.t = course.passage.origin + x
    else:
        h = course.now.t - course.before.t
        if call(course.inside_at, eq, wk, course, course.memory_at, x / h) != REACHED:
            return False
        course.inside.t = course.before.t + x
    return evaluate(eq, course.beside, course.inside) > 0


@compiled
def _pivot(eq, wk, course, row, x, along):
    """The pivot of a row at a time."""
    if not _go_to(eq, wk, course, x, along):
        return np.inf
    return 1.0 / abs(course.beside.lu[course.passage.place[row]])


@piece
def _close_in(eq: Equations, wk: Work, course: Course, row: int, length: float, along: int) -> float:
    """When within a step the pivot of a row is zero, from where the samples say, by parabolas; -1 where it is not."""
    p = course.passage
    x, reach, first = p.lowest_at[row], length / SAMPLES, 0.0
    for sweep in range(5):
        left, right = _pivot(eq, wk, course, row, x - reach, along), _pivot(eq, wk, course, row, x + reach, along)
        middle = _pivot(eq, wk, course, row, x, along)
        bend = left - 2.0 * middle + right
        if not (bend > 0.0 and bend < np.inf):
            return -1.0
        if sweep == 0:
            first = max(left, right)
        shift = 0.5 * reach * (left - right) / bend
        lowest = middle - 0.25 * (left - right) * shift / reach if abs(shift) < reach else middle
        if sweep == 4 and lowest > ZERO * first + 30.0 * abs(eq.shift[eq.n + p.row[row]]):
            return -1.0
        x += min(max(shift, -reach), reach)
        reach *= 0.2
    return x if 0.0 <= x <= length else -1.0


@piece
def _seek(eq: Equations, wk: Work, course: Course, length: float, along: int) -> int:
    """The times within a step at which pivots are zero, into ``passage.found``; how many.

    Parabolas through samples say which may be, and when; of those at about the same time the deepest is looked at.
    """
    p = course.passage
    for k in range(SAMPLES):
        if not _go_to(eq, wk, course, length * (k + 0.5) / SAMPLES, along):
            return 0
        for j in range(p.row.shape[0]):
            p.samples[k, j] = 1.0 / abs(course.beside.lu[p.place[j]])
    for j in range(p.row.shape[0]):
        p.depth[j] = np.inf
        for k in range(1, SAMPLES - 1):
            left, middle, right = p.samples[k - 1, j], p.samples[k, j], p.samples[k + 1, j]
            bend = left - 2.0 * middle + right
            edge = k == 1 or k == SAMPLES - 2
            if bend > 0.0 and abs(left - right) < (4.0 if edge else 2.0) * bend:
                depth = (middle - 0.125 * (left - right) ** 2 / bend) / max(left, right)
                if depth < p.depth[j]:
                    at = length * (k + 0.5) / SAMPLES + 0.5 * length / SAMPLES * (left - right) / bend
                    p.depth[j], p.lowest_at[j] = depth, min(max(at, 0.0), length)
    count = 0
    for _ in range(3 * p.found.shape[0]):
        best, least = -1, DEEP
        for j in range(p.row.shape[0]):
            if p.depth[j] < least:
                best, least = j, p.depth[j]
        if best < 0 or count == p.found.shape[0]:
            break
        x, at = _close_in(eq, wk, course, best, length, along), p.lowest_at[best]
        p.depth[best] = np.inf
        if x >= 0.0:
            known = False
            for k in range(count):
                known |= abs(p.found[k] - x) < 1e-4 * length
            if not known:
                p.found[count] = x
                p.found_row[count] = best
                count += 1
            for j in range(p.row.shape[0]):
                if abs(p.lowest_at[j] - at) < 0.02 * length:
                    p.depth[j] = np.inf
    return count


@rare
def find(eq: Equations, wk: Work, course: Course, _: State, __: float) -> int:
    """Whether the last step went across singular positions; they are told as a crossing is."""
    p = course.passage
    h = course.now.t - course.before.t
    for k in range(_seek(eq, wk, course, h, 0)):
        call(course.inside_at, eq, wk, course, course.memory_at, p.found[k] / h)
        _log(course, course.before.t + p.found[k], p.found_row[k])
    return REACHED


@compiled
def _log(course, t, row):
    """Write a singular position down with the state at it."""
    p = course.passage
    k = p.met
    p.met_t[k] = t
    p.met_row[k] = p.row[row]
    copy(course.inside.q, p.met_q[k])
    copy(course.inside.v, p.met_v[k])
    p.met = k + 1


@rare
def cross(eq: Equations, wk: Work, course: Course, _: State, h: float) -> int:
    """Try to go across the singular position ahead, into ``course.next``; a step of length h would reach it.

    Where it is refused, ``course.passage.bound`` is the longest step that does not come too near.
    """
    p, now = course.passage, course.now
    p.tried = 1
    if p.weak > NEAREST:
        p.bound = min(p.bound, 0.5 * p.ahead)
    p.origin = now.t
    if p.rough > 0 and (p.kept == 0 or p.t[(p.kept - 1) % KEPT] != now.t):
        _keep_consistent(eq, course)
    # the nearer, the more would rounding do to a state that is projected
    enough = course.tolerance * (SHARE if p.rough == 0 else ROUGH_SHARE) + 0.01 * ROUNDING / max(p.sound_now, 1e-8) ** 2
    if course.fixed > 0.0:
        enough = ROUGHLY
    for attempt in range(4):
        x = p.ahead * (2.0 + attempt)
        if course.fixed > 0.0:
            x = course.fixed * np.ceil(p.ahead / course.fixed + 1.5 + attempt)  # (a fixed step needs room behind it)
        elif x > course.largest:
            return FAILED
        course.next.t = now.t + x
        doubt = _best_fit(eq, course, enough)
        if attempt == 0:
            # where coming nearer has not helped it will not: noise is all that is left
            at_last = course.tolerance * (AT_LAST if course.tolerance > TIGHT else 3.0 * AT_LAST)
            if doubt > 0.3 * p.doubt and doubt <= at_last:
                enough = max(enough, at_last)
            p.doubt = doubt
        if not doubt <= enough:
            return FAILED
        if _land(eq, wk, course, x, doubt):
            guess = x * p.weak / (p.weak + p.landing[p.weak_row])
            _put(p, course.next, p.landing[p.weak_row])
            _fit(eq, course, min(p.count + 1, KEPT), course.next.t)
            _doubt(eq, course, now.t + guess)
            p.singular = _seek(eq, wk, course, x, 1)
            p.instant = now.t + (p.found[0] if p.singular > 0 else guess)
            return REACHED
    return FAILED


@rare
def inside(eq: Equations, wk: Work, course: Course, _: State, theta: float) -> int:
    """The state at a share of a crossing."""
    _along(eq, course, theta * (course.now.t - course.before.t))
    return REACHED


@piece
def _along(eq: Equations, course: Course, x: float) -> int:
    """The state at a time from the start of a crossing, into ``course.inside``.

    Position and velocity are those of the polynomial. Multipliers are interpolated; where a force acts on the weak
    direction they have a pole at the singular instant.
    """
    p, state, n = course.passage, course.inside, eq.n
    t, pole = p.origin + x, p.instant
    _polynomials(eq, course, t, state)
    behind = (p.kept - 1) % KEPT  # the state behind, and those before
    away, least = t - pole, 1e-9 * (p.t[behind] - p.origin)
    if abs(away) < least:
        away = least if away >= 0.0 else -least
    nodes = min(p.count, 6)
    for k in range(n, n + eq.m):
        value, rest, fewer, scaled, largest = 0.0, 0.0, 0.0, 0.0, 1e-300
        for j in range(nodes):
            at = (p.kept - 1 - j) % KEPT
            here, there, without = 1.0, 1.0, 1.0
            for r in range(nodes):
                if r != j:
                    other = p.t[(p.kept - 1 - r) % KEPT]
                    here *= (t - other) / (p.t[at] - other)
                    there *= (pole - other) / (p.t[at] - other)
                    if r < nodes - 1:
                        without *= (pole - other) / (p.t[at] - other)
            force, lever = p.al[at, k], p.t[at] - pole
            if j < nodes - 1:
                fewer += without * force * lever
            value += here * force
            scaled += here * force * lever
            rest += there * force * lever
            largest = max(largest, abs(force * lever))
        least_pole = max((ROUGH_POLE if p.rough > 0 else POLE) * largest, 5.0 * abs(rest - fewer))
        state.al[k] = scaled / away if p.singular > 0 and abs(rest) > least_pole else value
    return 1


@rare
def tell(eq: Equations, wk: Work, course: Course, _: State, __: float) -> int:
    """After a crossing: write it down with the state at the singular instant, and go on from behind it.

    A switch within the crossing has ended it; the run may end within it too.
    """
    p, now = course.passage, course.now
    for k in range(p.singular):
        if min(now.t, course.end) >= p.origin + p.found[k]:
            _along(eq, course, p.found[k])
            _log(course, p.origin + p.found[k], p.found_row[k])
    if course.fresh == 0:
        course.step = min(now.t - p.origin, course.largest)
        if now.t > course.end:
            _along(eq, course, course.end - p.origin)
            copy(course.inside.q, now.q)
            copy(course.inside.v, now.v)
            copy(course.inside.al, now.al)
            now.t = course.end
        for j in range(p.row.shape[0]):
            p.now[j] = np.inf
        p.ahead = p.bound = np.inf
        p.tried = p.near = 0
        p.doubt = np.inf
        course.fresh = 2
    return REACHED
