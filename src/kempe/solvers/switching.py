"""Switches: found within a step, taken together, followed by jumps of the velocities, and settled.

**Finding.** A guard g is known with its rate g' and second rate g'' wherever it is looked at. On an interval between
two such places it is judged by the cubic through values and rates; how far the second rates disagree with that cubic
says how far it can be trusted. An interval on which some guard can neither be cleared nor crosses beyond doubt is split
where the cubic is lowest. What can be missed: a dip within an interval on which value, rate and second rate at both
ends are those of a cubic that stays clear of zero by several times the disagreement. No interval turns a body that a
guard depends on by more than ``TURN``, so that a guard that repeats with each turn cannot hide between two ends.

**Taking.** All guards that have fallen to zero at the instant found, or would within ``TOGETHER`` of it, switch
together. Where switches jump, one linear system gives the impulses of all of them and of all constraints in force.

**Settling.** In the new modes some guard may be below zero already: those switches are taken at the same instant, until
nothing is due.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.course import (
    CHATTERING,
    DEEPEST,
    EVENTS_FULL,
    FAILED,
    REACHED,
    REMEMBERED,
    STOPPED,
    TURN,
    UNSETTLED,
    Course,
    call,
    first_step,
    modes_number,
    refinements,
)
from kempe.solvers.impact import jump
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import (
    AT_ITS_END,
    Equations,
    State,
    Work,
    consistent,
    copy_state,
    place,
    place_all,
    set_rows,
    solve_state,
)
from kempe.solvers.output import within, write_now, write_until
from kempe.solvers.program import run
from kempe.solvers.vectors import copy

#: Guards that reach zero within this fraction of the time (or of the step) switch together.
TOGETHER = 2e-13
#: A sequence of switches ends in its limit where less than this fraction of the run is left of it.
NEGLIGIBLE = 1e-11
#: Flights lower than about this share of a gap's size are over where they do not shorten in a steady ratio any more,
#: within this share of it: there rounding of positions decides.
FLAT, STEADY = 1e-12, 0.01
#: So many instants of switching without progress are chattering; so often modes may change at one instant.
CHATTER, ROUNDS = 200, 100
#: How far a guard may lie from its cubic, in units of what its second rates disagree by (the quintic through them
#: lies within 0.018 of it).
TRUST = 0.05
#: Difference steps for the rates of guards that have to be solved for, as a share of the step.
DIFFERENCE = 0.01

#: After so many looks within a step what is not decided counts as clear: a guard that lies at zero along a step.
LOOKS = 500

CLEAR, SPLIT, CROSSES, AT_ONCE = range(4)


@compiled
def _inside_mode(eq, wk, c):
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
            if _inside_mode(eq, wk, c):
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
            if right[c] <= 0.0 and left[c] > 0.0 and _inside_mode(eq, wk, c):
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
            crossed |= watch.near[c] <= 0.0 and left[c] > 0.0 and _inside_mode(eq, wk, c)
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
        if right[c] <= 0.0 and left[c] > 0.0 and _inside_mode(eq, wk, c):
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
        if eq.hybrids.solved[c] > 0 and _inside_mode(eq, wk, c):
            watch.solved = 1
    return 1


@compiled
def _looked_over(eq, wk, course):
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
        if _inside_mode(eq, wk, c):
            found, _ = _verdict(a[c], a[G + c], a[2 * G + c], b[c], b[G + c], b[2 * G + c], h, False)
            if found != CLEAR:
                return False
    return True


@compiled
def _take_slack_back(eq, wk, course):
    """Guards that have been clear of zero get no slack any more."""
    watch = course.watch
    for c in range(watch.slack.shape[0]):
        if watch.slack[c] > 0.0 and _inside_mode(eq, wk, c) and watch.end[c] > 4.0 * watch.slack[c]:
            watch.end[c] -= watch.slack[c]
            watch.slack[c] = 0.0


@piece
def settle_first(eq: Equations, wk: Work, course: Course, _: State, __: float) -> int:
    """At the start: take all switches that are due in the first modes."""
    for c in range(course.watch.taken.shape[0]):
        course.watch.taken[c] = 0
    return settle(eq, wk, course)


@piece
def after_step(eq: Equations, wk: Work, course: Course, _: State, __: float) -> int:
    """Look for switches in the last step and write outputs down; ``course.fresh`` is 1 where the modes changed."""
    if not _looked_over(eq, wk, course):
        theta = first_crossing(eq, wk, course)
        if theta < 0.0:
            return FAILED
        if theta <= 1.0:
            return _meet(eq, wk, course, theta)
    _take_slack_back(eq, wk, course)
    return REACHED if write_until(eq, wk, course, course.now.t) > 0 else FAILED


@piece
def _meet(eq: Equations, wk: Work, course: Course, theta: float) -> int:
    """Go back to an instant of switching, switch, and settle."""
    now, watch = course.now, course.watch
    h = now.t - course.before.t
    at = course.before.t + theta * h if theta < 1.0 else now.t
    if write_until(eq, wk, course, at) == 0:
        return FAILED
    if theta < 1.0:
        if within(eq, wk, course, theta) != 0:
            return FAILED
        copy_state(course.inside, now)
        now.t = at
    watch.remembered[modes_number(eq, wk) % REMEMBERED] = course.step
    if not consistent(eq, course.beside, now, np.inf, refinements(course)) < np.inf:
        return FAILED
    course.crowded = course.crowded + 1 if at - course.last_switch <= 1e-12 * (1.0 + abs(at)) else 0
    course.last_switch = at
    G = watch.taken.shape[0]
    if course.crowded > CHATTER + G:
        for c in range(G):
            course.culprit = c if watch.taken[c] > 0 else course.culprit
        return CHATTERING
    look_at(eq, wk, course, now)
    instant = TOGETHER * max(abs(at), h)
    for c in range(G):
        g, r = watch.near[c], watch.near[G + c]
        if eq.hybrids.solved[c] == 0 and _inside_mode(eq, wk, c) and r < 0.0 and g + r * instant <= 0.0:
            watch.taken[c] = 1
    return settle(eq, wk, course)


@piece
def settle(eq: Equations, wk: Work, course: Course) -> int:
    """Take the switches marked in ``course.watch.taken``, then all that are due in the new modes."""
    watch, now = course.watch, course.now
    stops = 0
    for _ in range(ROUNDS):
        stops = max(stops, _take(eq, wk, course))
        code = _jump(eq, wk, course)
        if code != REACHED:
            return code
        if not consistent(eq, course.beside, now, np.inf, refinements(course)) < np.inf:
            return FAILED
        _record(eq, course)
        if stops >= AT_ITS_END or _due(eq, wk, course) == 0:
            break
        if course.log.count + watch.taken.shape[0] > course.log.t.shape[0]:
            return UNSETTLED
    else:
        return UNSETTLED
    _ease(eq, wk, course)
    arm(eq, wk, course)
    known = watch.remembered[modes_number(eq, wk) % REMEMBERED]
    course.step = min(known, course.largest) if known > 0.0 else first_step(eq, course, now)
    course.fresh = 1
    if stops > 0:
        write_now(eq, wk, course)
        return STOPPED
    return EVENTS_FULL if course.log.count + 4 * watch.taken.shape[0] >= course.log.t.shape[0] else REACHED


@compiled
def _ease(eq, wk, course):
    """What was found to hold has room to: where several hold the same thing, the motion may share it differently.

    Where guards leave less than half the room that was found, they are eased to that; if it is used up, modes are
    chosen again, with new shares.
    """
    watch, choice, h, touches = course.watch, course.choice, eq.hybrids, eq.touches
    if choice.involved.shape[0] == 0:
        return
    look_at(eq, wk, course, course.now)
    for c in range(watch.slack.shape[0]):
        e = h.toucher[c]
        if e >= 0 and _inside_mode(eq, wk, c):
            room = 0.0
            if h.solved[c] > 0:
                opens = touches.normal[e] >= 0 and h.target[c] == touches.open[e]
                room = 0.5 * (choice.pressing[e] if opens else choice.room[e])
            if watch.near[c] <= room:
                watch.slack[c] += 1.01 * (room - watch.near[c])


@piece
def _due(eq: Equations, wk: Work, course: Course) -> int:
    """Mark the switches that are due in the present modes; whether there are any."""
    watch, now = course.watch, course.now
    G, found = watch.taken.shape[0], False
    instant = TOGETHER * max(abs(now.t), course.before.t - course.begun, 1e-300)
    look_at(eq, wk, course, now)
    for c in range(G):
        watch.taken[c] = 0
        if not _inside_mode(eq, wk, c) or eq.hybrids.toucher[c] >= 0:
            continue
        g, r, s = watch.near[c], watch.near[G + c], watch.near[2 * G + c]
        if eq.hybrids.solved[c] > 0 or eq.hybrids.stops[c] >= AT_ITS_END:
            due = g < 0.0
        else:
            noise = (abs(r) + abs(s) * instant) * instant
            falls = r < -abs(s) * instant or (r <= abs(s) * instant and s < 0.0)
            due = (
                (g < -noise and r <= 0.0 and (r < 0.0 or s < 0.0))
                or (abs(g) <= noise and falls)
                or (g == 0.0 and falls)
            )
        if due:
            watch.taken[c] = 1
            found = True
            course.culprit = c
    return int(found)


@piece
def _take(eq: Equations, wk: Work, course: Course) -> int:
    """Let the marked switches pass: keep values, enter modes; above zero where one of them ends the run."""
    h, watch, now = eq.hybrids, course.watch, course.now
    G, stops = watch.taken.shape[0], 0
    watch.jumps = 0
    place(eq, wk, now)
    run(eq.latches, wk.x, wk.y, wk.latches)
    for c in range(G):
        if watch.taken[c] > 0 and h.jumps[c] > 0:
            watch.jumps = 1
    if watch.jumps > 0:
        run(eq.jumps, wk.x, wk.y, wk.jumps)
        for k in range(eq.m):
            watch.restitution[k] = -1.0
        for i in range(eq.n):
            watch.kick[i] = 0.0
    for c in range(G):
        if watch.taken[c] == 0 or not _inside_mode(eq, wk, c):
            continue  # (of several ways out of a mode at one instant the first is taken)
        e = h.owner[c]
        if h.toucher[c] >= 0 and h.source[c] != h.target[c]:  # (what stays in its mode keeps its place anew)
            _call_for_choice(eq, course, c)
            continue
        accumulated = _accumulates(h, course, c) or _is_plastic(h, wk, c)
        wk.x[h.mode_at[e]] = h.limit[c] if accumulated else h.target[c]
        for k in range(h.kept[e]):
            wk.x[h.mode_at[e] + 1 + k] = wk.latches[h.kept_at[c] + k]
        stops = max(stops, h.stops[c])
        if h.jumps[c] > 0:
            for k in range(h.impulse_switch.shape[0]):
                if h.impulse_switch[k] == c:
                    watch.restitution[h.impulse_row[k]] = 0.0 if accumulated else wk.jumps[h.restitution_at[k]]
            for k in range(h.kick_switch.shape[0]):
                if h.kick_switch[k] == c:
                    watch.kick[h.kick_coordinate[k]] += wk.jumps[h.kick_at[k]]
        _log(eq, wk, course, c)
    set_rows(eq, wk)
    return stops


@compiled
def _call_for_choice(eq, course, c):
    """Note down what the guard of a touching element says; what it does is chosen with all others."""
    h, touches, choice, e = eq.hybrids, eq.touches, course.choice, eq.hybrids.toucher[c]
    if h.source[c] == touches.open[e] and touches.normal[e] >= 0:
        watch, G = course.watch, course.watch.taken.shape[0]
        ratio = watch.interval[c] / watch.earlier[c]  # of the intervals before
        ends = _accumulates(h, course, c)
        steady = abs(watch.interval[c] / watch.earlier[c] - ratio) < STEADY * ratio
        flat = watch.interval[c] * abs(watch.near[G + c]) < FLAT * eq.row_scale[touches.normal[e]]
        choice.meets[e], choice.plastic[e] = 1, int(ends or (flat and not steady))
    elif h.target[c] == touches.open[e] and touches.normal[e] >= 0:
        choice.parts[e] = 1
    elif h.source[c] == touches.closed[e]:
        choice.slides[e] = 1
    else:
        choice.rests[e] = 1


@piece
def _jump(eq: Equations, wk: Work, course: Course) -> int:
    """The impacts of an instant, then the modes of all that touches; impulses and energy go to the events of it."""
    choice, log = course.choice, course.log
    choice.lost, choice.struck = 0.0, 0
    for k in range(eq.m):
        choice.impulse[k] = 0.0
    code = REACHED
    if choice.involved.shape[0] > 0:
        code = call(course.touch_at, eq, wk, course, course.memory_at, float(course.watch.jumps))
    elif course.watch.jumps > 0:
        jump(eq, wk, course)
    if choice.struck > 0:
        first = True
        for k in range(log.count - 1, -1, -1):
            if not np.isnan(log.state[k, 0]):
                break
            for i in range(eq.m):
                log.impulse[k, i] = choice.impulse[i]
            first = k == 0 or not np.isnan(log.state[k - 1, 0])
            if first:
                log.lost[k] = choice.lost
    return code


@compiled
def _is_plastic(h, wk, c):
    """Whether a switch that has a limit does not throw back at all: then that limit is where it leads."""
    found = False
    if h.limit[c] >= 0:
        for k in range(h.impulse_switch.shape[0]):
            if h.impulse_switch[k] == c:
                if wk.jumps[h.restitution_at[k]] != 0.0:
                    return False
                found = True
    return found


@compiled
def _accumulates(h, course, c):
    """Whether a switch follows itself ever faster, so that what is left of the sequence is too short to matter."""
    watch, t = course.watch, course.now.t
    interval, last, earlier = t - watch.fired[c], watch.interval[c], watch.earlier[c]
    watch.fired[c], watch.interval[c], watch.earlier[c] = t, interval, last
    if h.limit[c] < 0:
        return False
    if max(interval, last) <= 1e-14 * abs(t):  # for the third time at one instant
        return True
    if not interval < last or not last < earlier or not earlier < np.inf:
        return False
    ratio = max(interval / last, last / earlier)
    return interval * ratio / (1.0 - ratio) < NEGLIGIBLE * (course.end - course.begun)


@compiled
def _log(eq, wk, course, c):
    """Write a switch down; the state behind it follows in ``_record``."""
    log = course.log
    k = log.count
    log.t[k] = course.now.t
    log.switch[k] = c
    log.mode[k] = int(wk.x[eq.hybrids.mode_at[eq.hybrids.owner[c]]])
    log.lost[k] = 0.0
    for i in range(eq.m):
        log.impulse[k, i] = 0.0
    log.state[k, 0] = np.nan  # until it is known
    log.count = k + 1


@compiled
def _record(eq, course):
    """The state behind the switches just taken."""
    log, now, n = course.log, course.now, eq.n
    for k in range(log.count - 1, -1, -1):
        if not np.isnan(log.state[k, 0]):
            break
        for i in range(n):
            log.state[k, i] = now.q[i]
            log.state[k, n + i] = now.v[i]
        for i in range(n + eq.m):
            log.state[k, 2 * n + i] = now.al[i]
