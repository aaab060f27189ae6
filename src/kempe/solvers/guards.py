"""Guards along a step: looked at, judged, and where one falls to zero, closed in on.

A guard g is known with its rate g' and second rate g'' wherever it is looked at. On an interval between two such
places it is judged by the cubic through values and rates; how far the second rates disagree with that cubic says how
far it can be trusted. An interval on which some guard can neither be cleared nor crosses beyond doubt is split where
the cubic is lowest. What can be missed: a dip within an interval on which value, rate and second rate at both ends are
those of a cubic that stays clear of zero by several times the disagreement. No interval turns a body that a guard
depends on by more than ``TURN``, so that a guard that repeats with each turn cannot hide between two ends.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.course import DEEPEST, TURN, Course, refinements
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import Equations, State, Work, place_all, solve_state
from kempe.solvers.output import within
from kempe.solvers.program import run
from kempe.solvers.vectors import copy

#: How far a guard may lie from its cubic, in units of what its second rates disagree by (the quintic through them
#: lies within 0.018 of it).
TRUST = 0.05
#: Difference steps for the rates of guards that have to be solved for, as a share of the step.
DIFFERENCE = 0.01

#: After so many looks within a step what is not decided counts as clear: a guard that lies at zero along a step.
LOOKS = 500

CLEAR, SPLIT, CROSSES, AT_ONCE = range(4)


@compiled
def inside_mode(eq, wk, c):
    """Whether a switch leads out of the present mode of its element."""
    h = eq.hybrids
    return int(wk.x[h.mode_at[h.owner[c]]]) == h.source[c]


@piece
def look_at(eq: Equations, wk: Work, course: Course, state: State) -> int:
    """The guards of a state with its accelerations and multipliers, into ``course.watch.near``."""
    place_all(eq, wk, state)
    near, slack = course.watch.near, course.watch.slack
    run(eq.guards, wk.x, wk.y, near)
    for c in range(slack.shape[0]):
        near[c] += slack[c]
    return 1


@compiled
def _solve_inside(eq, course):
    """Accelerations and multipliers of the state within the step, where guards depend on them."""
    if course.watch.solved > 0 and course.crossing == 0:
        solve_state(eq, course.beside, course.inside, refinements(course))


@compiled
def _keep_sample(near, samples, k, G):
    for c in range(G):
        samples[k * G + c] = near[c]


@piece
def look_within(eq: Equations, wk: Work, course: Course, theta: float) -> int:
    """The guards at a share of the last step, into ``course.watch.near``; 0 where that failed."""
    near, G = course.watch.near, eq.hybrids.owner.shape[0]
    if course.watch.solved == 0:
        if within(eq, wk, course, theta) != 0:
            return 0
        look_at(eq, wk, course, course.inside)
        return 1
    # rates along multipliers are differences of solutions: at three places, the one asked for the last
    samples, h = course.watch.stack[DEEPEST], course.now.t - course.before.t
    place = 0 if theta < DIFFERENCE else (2 if theta > 1.0 - DIFFERENCE else 1)
    first = theta - place * DIFFERENCE
    for step in range(1, 4):
        k = (place + step) % 3
        if within(eq, wk, course, theta if step == 3 else first + k * DIFFERENCE) != 0:
            return 0
        _solve_inside(eq, course)
        look_at(eq, wk, course, course.inside)
        _keep_sample(near, samples, k, G)
    for c in range(G):
        a, b, d = samples[c], samples[G + c], samples[2 * G + c]
        curve = a - 2.0 * b + d
        if eq.hybrids.solved[c] > 0:
            near[G + c] = (0.5 * (d - a) + (place - 1.0) * curve) / (DIFFERENCE * h)
        if eq.hybrids.solved[c] > 0 or eq.hybrids.swift[c] > 0:
            near[2 * G + c] = curve / (DIFFERENCE * h) ** 2
    return 1


@compiled
def _dips(c0, c1, c2, c3, doubt):
    """Where in (0, 1) the cubic c0 + c1 u + c2 u^2 + c3 u^3 comes nearest to zero, or 0 where it stays clear of it.

    What the guard can differ from the cubic by vanishes at both ends, with its slope: doubt 16 u^2 (1 - u)^2.
    """
    worst, at = 0.0, 0.0
    for k in range(12):
        if k < 9:
            u = 0.1 * (k + 1)
        elif k == 9:
            u = 0.02
        else:  # where the cubic has its minimum: two ways of writing it, each safe on one side
            square = c2 * c2 - 3.0 * c1 * c3
            if square < 0.0:
                break
            root = np.sqrt(square)
            below = 3.0 * c3 if k == 10 else -(c2 + root)
            u = (root - c2 if k == 10 else c1) / below if below != 0.0 else -1.0
            if not 0.0 < u < 1.0:
                continue
        value = c0 + u * (c1 + u * (c2 + u * c3)) - 16.0 * doubt * (u * (1.0 - u)) ** 2
        if value <= worst:
            worst, at = value, u
    return at


@compiled
def _verdict(g0, r0, s0, g1, r1, s1, w, narrow):
    """What a guard does on an interval of length w, and where to split it if that cannot be told."""
    low = min(g0, g1)
    if low > 1.5 * (w * max(abs(r0), abs(r1)) + 0.5 * w * w * max(abs(s0), abs(s1))):
        return CLEAR, 0.5
    c0, c1 = g0, w * r0
    c2, c3 = 3.0 * (g1 - g0) - w * (2.0 * r0 + r1), 2.0 * (g0 - g1) + w * (r0 + r1)
    doubt = TRUST * (abs(w * w * s0 - 2.0 * c2) + abs(w * w * s1 - 2.0 * c2 - 6.0 * c3))
    rises = r0 > 0.0 or (r0 == 0.0 and s0 > 0.0)
    if g0 <= 0.0 and not rises:  # it has just been at zero, and does not leave it upwards
        return (AT_ONCE, 0.0) if g1 <= 0.0 or r0 < 0.0 else (CLEAR, 0.5)
    if g1 <= 0.0:
        if g0 <= 0.0:
            return (CLEAR, 0.5) if narrow else (SPLIT, 0.3)
        if doubt > 0.25 * (g0 - g1) and not narrow:
            return SPLIT, 0.5
        return CROSSES, 0.5
    at = 0.0 if narrow else _dips(c0, c1, c2, c3, doubt)
    return (SPLIT, min(max(at, 0.05), 0.95)) if at > 0.0 else (CLEAR, 0.5)


@compiled
def _root(g0, r0, g1, r1, w):
    """The first zero in (0, 1] of the cubic through values and rates; positive before it, not behind it."""
    c0, c1 = g0, w * r0
    c2, c3 = 3.0 * (g1 - g0) - w * (2.0 * r0 + r1), 2.0 * (g0 - g1) + w * (r0 + r1)
    low, high, u = 0.0, 1.0, g0 / (g0 - g1) if g0 > g1 else 0.5
    for _ in range(60):
        value = c0 + u * (c1 + u * (c2 + u * c3))
        slope = c1 + u * (2.0 * c2 + 3.0 * u * c3)
        if value > 0.0:
            low = u
        else:
            high = u
        newton = u - value / slope if slope < 0.0 else -1.0
        if not low < newton < high:
            newton = 0.5 * (low + high)
        if abs(newton - u) <= 1e-16 or high - low <= 1e-16:
            break
        u = newton
    return u


@compiled
def _parts(eq, course):
    """Into how many parts a step is cut from the start, so that nothing turns by more than ``TURN`` in one."""
    fast, h = 0.0, course.now.t - course.before.t
    for k in range(eq.hybrids.tested.shape[0]):
        i = eq.hybrids.tested[k]
        fast = max(fast, abs(course.before.v[i]), abs(course.now.v[i]), abs(course.now.q[i] - course.before.q[i]) / h)
    return max(1, int(np.ceil(0.999 * fast * h / TURN)))


@piece
def first_crossing(eq: Equations, wk: Work, course: Course) -> float:
    """The share of the last step at which the first guard falls to zero; 2 where none does, -1 where it failed."""
    watch = course.watch
    for c in range(watch.taken.shape[0]):
        watch.taken[c] = 0
    copy(watch.start, watch.left)
    parts, a = _parts(eq, course), 0.0
    for part in range(1, parts + 1):
        if part < parts:
            if look_within(eq, wk, course, part / parts) == 0:
                return -1.0
            copy(watch.near, watch.stack[0])
        else:
            copy(watch.end, watch.stack[0])
        found = _first_crossing_in(eq, wk, course, a, part / parts)
        if found <= 1.0:
            return found
        a = part / parts
    return 2.0


@piece
def _first_crossing_in(eq: Equations, wk: Work, course: Course, a: float, end: float) -> float:
    """The same within a part of the step, the guards at whose ends are known."""
    watch, G, h = course.watch, eq.hybrids.owner.shape[0], course.now.t - course.before.t
    left, stack, theta = watch.left, watch.stack, watch.theta
    theta[0] = end
    digits = 1e-13 * (1.0 + abs(course.before.t) / max(h, 1e-300))
    depth, looks, at_once = 1, 0, False
    while depth > 0:
        b, right = theta[depth - 1], stack[depth - 1]
        narrow = b - a < digits or depth >= DEEPEST - 1 or looks > LOOKS
        decision, split = CLEAR, 0.5
        for c in range(G):
            if inside_mode(eq, wk, c):
                found, at = _verdict(
                    left[c],
                    left[G + c],
                    left[2 * G + c],
                    right[c],
                    right[G + c],
                    right[2 * G + c],
                    (b - a) * h,
                    narrow,
                )
                if found == AT_ONCE:
                    watch.taken[c] = 1
                    at_once = True
                if found == SPLIT and decision != SPLIT:
                    decision, split = SPLIT, at
                elif found == SPLIT:
                    split = min(split, at)
                elif found == CROSSES and decision == CLEAR:
                    decision = CROSSES
        if at_once:
            return a
        if decision == CLEAR:
            a = b
            copy(right, left)
            depth -= 1
        elif decision == SPLIT:
            middle = a + split * (b - a)
            looks += 1
            if look_within(eq, wk, course, middle) == 0:
                return -1.0
            copy(watch.near, stack[depth])
            theta[depth] = middle
            depth += 1
        else:
            return _close_in(eq, wk, course, a, b, depth - 1)
    return 2.0


@piece
def _close_in(eq: Equations, wk: Work, course: Course, a: float, b: float, depth: int) -> float:
    """The first crossing in an interval at whose right end some guard is not positive, to the last digit."""
    watch, G, h = course.watch, eq.hybrids.owner.shape[0], course.now.t - course.before.t
    left, right = watch.left, watch.stack[depth]
    digits = 4e-16 * (1.0 + abs(course.before.t) / max(h, 1e-300))
    slow = 0
    for _ in range(120):
        width = b - a
        if width <= digits:
            break
        u, pad = 1.0, 0.0
        for c in range(G):
            if right[c] <= 0.0 and left[c] > 0.0 and inside_mode(eq, wk, c):
                u = min(u, _root(left[c], left[G + c], right[c], right[G + c], width * h))
        if slow >= 3:
            u = 0.5
        elif slow > 0:  # the estimate keeps falling to one side: reach beyond it
            pad = (8.0**slow) * digits / width
            u += pad if slow % 2 == 1 else -pad
        middle = a + min(max(u, 1e-3 if slow >= 3 else 0.0), 1.0) * width
        if not a < middle < b:
            middle = a + 0.5 * digits if middle <= a else b - 0.5 * digits
            if not a < middle < b:
                middle = 0.5 * (a + b)
                if not a < middle < b:
                    break
        if look_within(eq, wk, course, middle) == 0:
            return -1.0
        crossed = False
        for c in range(G):
            crossed |= watch.near[c] <= 0.0 and left[c] > 0.0 and inside_mode(eq, wk, c)
        if crossed:
            b = middle
            copy(watch.near, right)
        else:
            a = middle
            copy(watch.near, left)
        slow = 0 if b - a < 0.3 * width else slow + 1
        if slow > 4:
            slow = 0
    for c in range(G):
        if right[c] <= 0.0 and left[c] > 0.0 and inside_mode(eq, wk, c):
            watch.taken[c] = 1
    return b


@piece
def arm(eq: Equations, wk: Work, course: Course) -> int:
    """Look at the guards of the present state: where the next step starts from."""
    watch = course.watch
    look_at(eq, wk, course, course.now)
    copy(watch.near, watch.end)
    watch.armed, watch.solved = 1, 0
    for c in range(watch.slack.shape[0]):
        if eq.hybrids.solved[c] > 0 and inside_mode(eq, wk, c):
            watch.solved = 1
    return 1


@compiled
def looked_over(eq, wk, course):
    """Look at the guards at the end of the step; whether all are clear without looking within it."""
    watch, G = course.watch, eq.hybrids.owner.shape[0]
    copy(watch.end, watch.start)
    if watch.solved > 0:
        if watch.armed > 0:
            look_within(eq, wk, course, 0.0)
            for c in range(G):
                if eq.hybrids.solved[c] > 0:
                    watch.start[G + c] = watch.near[G + c]
                if eq.hybrids.solved[c] > 0 or eq.hybrids.swift[c] > 0:
                    watch.start[2 * G + c] = watch.near[2 * G + c]
        look_within(eq, wk, course, 1.0)
    else:
        look_at(eq, wk, course, course.now)
    watch.armed = 0
    copy(watch.near, watch.end)
    h, a, b = course.now.t - course.before.t, watch.start, watch.end
    if _parts(eq, course) > 1:
        return False
    for c in range(G):
        if inside_mode(eq, wk, c):
            found, _ = _verdict(a[c], a[G + c], a[2 * G + c], b[c], b[G + c], b[2 * G + c], h, False)
            if found != CLEAR:
                return False
    return True
