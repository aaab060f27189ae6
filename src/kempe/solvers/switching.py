"""Switches: taken together, followed by jumps of the velocities, and settled. Where they are due, ``guards`` finds.

**Taking.** All guards that have fallen to zero at the instant found, or would within ``TOGETHER`` of it, switch
together. Where switches jump, one linear system gives the impulses of all of them and of all constraints in force
(``impact``). Switches of what touches only say that modes are to be chosen (``selection``).

**Settling.** In the new modes some guard may be below zero already: those switches are taken at the same instant, until
nothing is due.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.course import (
    CHATTERING,
    EVENTS_FULL,
    FAILED,
    REACHED,
    REMEMBERED,
    STOPPED,
    UNSETTLED,
    Course,
    call,
    first_step,
    modes_number,
    refinements,
)
from kempe.solvers.following import follow, tell_followed
from kempe.solvers.guards import arm, first_crossing, inside_mode, look_at, looked_over
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
    set_rows,
)
from kempe.solvers.output import within, write_now, write_until
from kempe.solvers.program import run
from kempe.solvers.tape import INSTANT, SETTLED, TAKE, cut_step, note_behind, note_here

#: Guards that reach zero within this fraction of the time (or of the step) switch together.
TOGETHER = 2e-13
#: A sequence of switches ends in its limit where less than this fraction of the run is left of it.
NEGLIGIBLE = 1e-11
#: Flights lower than about this share of a gap's size are over where they do not shorten in a steady ratio any more,
#: within this share of it: there rounding of positions decides.
FLAT, STEADY = 1e-12, 0.01
#: Forces that begin at a switch (of a contact, with depth^1.5) have derivatives with a root there: on tape, steps begin
#: so much shorter.
GENTLY = 0.001
#: So often the end of a step is moved until the guard that ends it is zero there.
LANDINGS = 5
#: So many instants of switching without progress are chattering; so often modes may change at one instant.
CHATTER, ROUNDS = 200, 100


@compiled
def _take_slack_back(eq, wk, course):
    """Guards that have been clear of zero get no slack any more."""
    watch = course.watch
    for c in range(watch.slack.shape[0]):
        if watch.slack[c] > 0.0 and inside_mode(eq, wk, c) and watch.end[c] > 4.0 * watch.slack[c]:
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
    if course.watch.entered > 0:  # what the first step in these modes has taught
        course.watch.remembered[modes_number(eq, wk) % REMEMBERED] = course.step
        course.watch.entered = 0
    if not looked_over(eq, wk, course):
        theta = first_crossing(eq, wk, course)
        if theta < 0.0:
            return FAILED
        if theta <= 1.0:
            return _meet(eq, wk, course, theta)
    _take_slack_back(eq, wk, course)
    if follow(eq, wk, course, 1.0) == 0:
        return FAILED
    return REACHED if write_until(eq, wk, course, course.now.t) > 0 else FAILED


@piece
def _meet(eq: Equations, wk: Work, course: Course, theta: float) -> int:
    """Go back to an instant of switching, switch, and settle."""
    now, watch = course.now, course.watch
    h = now.t - course.before.t
    at = course.before.t + theta * h if theta < 1.0 else now.t
    if write_until(eq, wk, course, at) == 0 or follow(eq, wk, course, min(theta, 1.0)) == 0:
        return FAILED
    if theta < 1.0:
        if within(eq, wk, course, theta) != 0:
            return FAILED
        copy_state(course.inside, now)
        now.t = at
    tape = course.tape
    if tape.on > 0 and course.crossing == 0:
        at = _land(eq, wk, course, at)
    number = modes_number(eq, wk) % REMEMBERED  # (a contact ends in short steps: what it began with counts then)
    watch.remembered[number] = max(watch.remembered[number], course.step)
    if not consistent(eq, course.beside, now, np.inf, refinements(course)) < np.inf:
        return FAILED
    course.crowded = course.crowded + 1 if at - course.last_switch <= 1e-12 * (1.0 + abs(at)) else 0
    course.last_switch = at
    G = watch.taken.shape[0]
    if course.crowded == 0:
        for e in range(course.choice.slides.shape[0]):
            course.choice.slides[e] = 0
    if course.crowded > CHATTER + G:
        for c in range(G):
            course.culprit = c if watch.taken[c] > 0 else course.culprit
        return CHATTERING
    look_at(eq, wk, course, now)
    instant = TOGETHER * max(abs(at), h)
    for c in range(G):
        g, r = watch.near[c], watch.near[G + c]
        if eq.hybrids.solved[c] == 0 and inside_mode(eq, wk, c) and r < 0.0 and g + r * instant <= 0.0:
            watch.taken[c] = 1
    if tape.on > 0:
        note_here(wk, course, INSTANT, _deciding(eq, wk, watch))
    return settle(eq, wk, course)


@compiled
def _deciding(eq, wk, watch):
    """The first of the switches that are due: it says when."""
    for c in range(watch.taken.shape[0]):
        if watch.taken[c] > 0 and inside_mode(eq, wk, c):
            return c
    return -1


@piece
def _land(eq: Equations, wk: Work, course: Course, at: float) -> float:
    """A step of the integrator that ends at an instant of switching, in place of the point within a longer one.

    So all of the motion consists of steps, which can be differentiated. The instant is moved until the guard is zero
    there. Where that cannot be had, the point within stands.
    """
    now, before, watch, G = course.now, course.before, course.watch, course.watch.taken.shape[0]
    c, error = _deciding(eq, wk, watch), course.error
    found = at
    course.tape.count -= 1  # (the step at hand is written anew)
    for _ in range(LANDINGS):
        if not before.t < found < np.inf:
            break
        dissipated, supplied = now.dissipated, now.supplied
        copy_state(before, now)
        course.next.t = found
        course.next.dissipated, course.next.supplied = dissipated, supplied
        code = call(course.begin_at, eq, wk, course, course.memory_at, 0.0)
        if code == REACHED:
            code = call(course.step_at, eq, wk, course, course.memory_at, found - before.t)
        if code != REACHED or not (course.error <= 1.0 or course.fixed > 0.0):
            break
        copy_state(course.next, now)
        now.t, now.dissipated, now.supplied = found, dissipated, supplied
        at = found
        if c < 0 or consistent(eq, course.beside, now, np.inf, refinements(course)) == np.inf:
            break
        look_at(eq, wk, course, now)
        if not watch.near[G + c] < 0.0 or abs(watch.near[c]) <= TOGETHER * abs(watch.near[G + c]) * abs(at):
            break
        found = at - watch.near[c] / watch.near[G + c]
    if now.t != at:
        copy_state(course.inside, now)
        now.t = at
    course.error = error
    course.tape.count += 1
    cut_step(course)
    return at


@piece
def settle(eq: Equations, wk: Work, course: Course) -> int:
    """Take the switches marked in ``course.watch.taken``, then all that are due in the new modes."""
    watch, now = course.watch, course.now
    stops, tape = 0, course.tape
    for _ in range(ROUNDS):
        if tape.on > 0:
            note_here(wk, course, TAKE, 0)
        stops = max(stops, _take(eq, wk, course))
        code = _jump(eq, wk, course)
        if code != REACHED:
            return code
        if not consistent(eq, course.beside, now, np.inf, refinements(course)) < np.inf:
            return FAILED
        _record(eq, course)
        if tape.on > 0:
            note_behind(wk, course)
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
    if tape.on > 0:
        course.step *= GENTLY
    course.fresh = watch.entered = 1
    if tape.on > 0:
        note_here(wk, course, SETTLED, 0)
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
        if e >= 0 and inside_mode(eq, wk, c):
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
        if not inside_mode(eq, wk, c) or eq.hybrids.toucher[c] >= 0:
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
    for c in range(G):
        watch.went[c] = 0
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
        if watch.taken[c] == 0 or not inside_mode(eq, wk, c):
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
        watch.went[c] = 1
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
    tell_followed(eq, wk, course, c, k)
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
