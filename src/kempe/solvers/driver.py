"""The one loop of every simulation: steps tried, accepted or refused, audited, searched for switches, written down."""

from __future__ import annotations

import numpy as np

from kempe.solvers.course import (
    EVENTS_FULL,
    FAILED,
    PASSED,
    PAUSE,
    REACHED,
    RESELECT,
    RUNAWAY,
    SINGULAR,
    STIFFNESS,
    TURN,
    Course,
    call,
    first_step,
    refinements,
)
from kempe.solvers.jit import compiled, piece, rare
from kempe.solvers.motion import Equations, Work, consistent, copy_state, keep_first, powers, solve_state
from kempe.solvers.output import write_until
from kempe.solvers.pack import window
from kempe.solvers.tape import ACROSS, ROOM, note_step
from kempe.solvers.vectors import copy, largest

#: A motion faster than this many sizes in a step cannot be followed.
RUNS_AWAY = 1e12
#: How much of the fastest rate is forgotten while a motion at that rate would go by one size.
FORGET = 1.0
#: A step refused so often in a row, or velocities moved to the constraints by so many tolerances, may show a jump.
STUBBORN, PUSHED = 4, 1e3
#: A step that is cut where surfaces part goes so much further, to meet it within.
PARTING = 1.02
#: It is not cut to less than this share of it: a step as short as rounding has no accelerations.
SHORTEST = 0.05
#: On tape, steps come nearer to it by so much at a time, until so little of the contact is left: derivatives of its
#: force have a root there.
NEARING, LAST = 0.6, 0.002
#: A singular position is crossed where a step would come within this many of its lengths.
NEAR = 2.0
#: A step that comes as near as this many of its lengths to a singular position may have gone across it.
BEYOND = 2.5


@compiled
def _until_parting(eq, wk, course, h):
    """A step, cut where surfaces that press are about to part: beyond that their force has a kink.

    That instant is foreseen from how deep they are, and how fast and faster they come out.
    """
    follower, hybrids, watch, G = eq.follows.follower, eq.hybrids, course.watch, course.watch.taken.shape[0]
    for c in range(follower.shape[0]):
        if follower[c] < 0 or hybrids.source[c] == 0 or hybrids.swift[c] > 0 or hybrids.target[c] != 0:
            continue
        if int(wk.x[hybrids.mode_at[hybrids.owner[c]]]) != hybrids.source[c]:
            continue
        g, r, s = watch.end[c], watch.end[G + c], watch.end[2 * G + c]
        square = r * r - 2.0 * g * s
        if g > 0.0 and square >= 0.0 and np.sqrt(square) > r:
            cut = PARTING * 2.0 * g / (np.sqrt(square) - r)
            if course.tape.on > 0 and h > NEARING * cut and cut > LAST * (course.now.t - course.last_switch):
                h = NEARING * cut
            elif SHORTEST * h < cut < h:
                h = cut
    return h


@compiled
def _next_stop(course):
    """Where a step has to end: at the end, or before it where a tape wants to."""
    tape = course.tape
    while tape.stops[tape.next_stop] <= course.now.t:
        tape.next_stop += 1
    return min(course.end, tape.stops[tape.next_stop])


@compiled
def _next_step(eq, wk, course):
    """The step to try: the proposed or the fixed one, not beyond the end or a stop; the last two of equal length."""
    left = _next_stop(course) - course.now.t
    h = course.fixed if course.fixed > 0.0 else min(course.step, course.largest, course.passage.bound)
    if course.fixed == 0.0:
        tested = eq.hybrids.tested
        for k in range(tested.shape[0]):
            fast = abs(course.now.v[tested[k]])
            if fast * h > TURN:
                h = TURN / fast
        h = _until_parting(eq, wk, course, h)
    if h > 0.9999999 * left:
        return left
    if course.fixed == 0.0 and h > 0.5 * left:
        return 0.5 * left
    return h


@compiled
def _edges(eq, course):
    """The accelerations with which the step is interpolated: solved for where guards are watched along a rough one."""
    copy(course.edge_now.al, course.edge_before.al)
    copy_state(course.now, course.inside)
    solve_state(eq, course.beside, course.inside, refinements(course))
    copy(course.inside.al, course.edge_now.al)


@compiled
def _accept(eq, course, t):
    """Make the new state the present one; RUNAWAY where it moves too fast to be followed."""
    copy_state(course.now, course.before)
    copy_state(course.next, course.now)
    course.now.t = t
    fastest = largest(course.now.v, window(eq.units, 0, eq.n))
    # a motion at the old rate would have gone by so many sizes: what is over by then is forgotten
    forgotten = 1.0 + FORGET * course.rate * (t - course.before.t)
    course.rate = max(course.rate / forgotten, fastest, course.slowest)
    course.energy = max(course.energy / (forgotten * forgotten), course.least_energy)
    course.steps += 1
    return REACHED if course.rate * (t - course.before.t) < RUNS_AWAY else RUNAWAY


@compiled
def _mark(course):
    """Note down a place where the step had to become much shorter."""
    spots, now = course.spots, course.now
    k = spots.count
    if k < spots.t.shape[0]:
        spots.t[k] = now.t
        copy(now.q, spots.q[k])
        copy(now.v, spots.v[k])
        spots.count = k + 1


@compiled
def _look_back(eq, wk, course):
    """After an accepted step: look for switches within it, and write outputs down."""
    if eq.hybrids.owner.shape[0] > 0:
        return call(course.after_step_at, eq, wk, course, course.memory_at, 0.0)
    return REACHED if write_until(eq, wk, course, course.now.t) > 0 else FAILED


@rare
def _cross(eq: Equations, wk: Work, course: Course, h: float) -> int:
    """Go across the singular position ahead in one step; PASSED where that was done, REACHED where it was refused."""
    memory = course.memory_at
    course.next.dissipated, course.next.supplied = course.now.dissipated, course.now.supplied
    if call(course.cross_at, eq, wk, course, memory, h) != REACHED:
        return REACHED
    own_work, within_at, t = course.own_work, course.inside_at, course.next.t
    course.inside_at, course.own_work, course.crossing = course.along_at, 0, 1
    if course.audit > 0 and own_work > 0:
        call(course.accumulate_at, eq, wk, course, memory, -1.0)
    _accept(eq, course, t)
    if course.tape.on > 0:
        note_step(course, ACROSS)
    if course.audit > 0:
        call(course.accumulate_at, eq, wk, course, memory, 0.0)
    code = _look_back(eq, wk, course)
    told = call(course.tell_at, eq, wk, course, memory, 0.0)
    course.inside_at, course.own_work, course.crossing = within_at, own_work, 0
    if code == REACHED:
        code = told
    return PASSED if code == REACHED else code


@piece
def advance(eq: Equations, wk: Work, course: Course) -> int:
    """Integrate until the end, an event that stops, or trouble."""
    memory = course.memory_at
    tape = course.tape
    while course.now.t < course.end:
        if course.fresh > 0:
            tape.began = 1
            code = call(course.begin_at, eq, wk, course, memory, 0.0)
            if code != REACHED:
                return code
            if course.fresh == 1 and course.keep_at != 0:
                call(course.keep_at, eq, wk, course, memory, 0.0)
            course.fresh = 0
            if course.rough > 0:
                copy(course.now.al, course.edge_now.al)
            if course.audit > 0 and course.own_work == 0:
                call(course.accumulate_at, eq, wk, course, memory, -1.0)
        if course.budget <= 0 or (tape.on > 0 and tape.count + ROOM > tape.kind.shape[0]):
            return PAUSE
        if course.keep_at != 0 and course.passage.met + 4 > course.passage.met_t.shape[0]:
            return EVENTS_FULL
        course.budget -= 1
        h = _next_step(eq, wk, course)
        passage = course.passage
        if (passage.ahead < NEAR * h or passage.near > 0) and passage.tried == 0:
            code = _cross(eq, wk, course, h)
            if code == PASSED:
                continue
            if code != REACHED:
                return code
            h = _next_step(eq, wk, course)
        stop = _next_stop(course)
        t = stop if h == stop - course.now.t else course.now.t + h
        if not t > course.now.t:
            return FAILED
        course.error = 0.0
        course.next.t = t
        course.next.dissipated, course.next.supplied = course.now.dissipated, course.now.supplied
        code = call(course.step_at, eq, wk, course, memory, h)
        accepted = code == REACHED and (course.error <= 1.0 or (course.fixed > 0.0 and course.error < np.inf))
        if not accepted:
            course.rejected += 1
            course.refused += 1
            if code == REACHED:
                code = FAILED
            if code in (RESELECT, RUNAWAY):
                return code
            if course.fixed > 0.0 or h < course.smallest:
                return code
            call(course.close_at, eq, wk, course, memory, -h)
            continue
        if _accept(eq, course, t) != REACHED:
            return RUNAWAY
        if course.refused >= STUBBORN or (course.pushed > PUSHED and course.pushed_at == t):
            _mark(course)
        course.refused = 0
        call(course.close_at, eq, wk, course, memory, h)
        if course.keep_at != 0:
            due = passage.ahead
            call(course.keep_at, eq, wk, course, memory, h)
            if due < BEYOND * h:
                call(course.find_at, eq, wk, course, memory, 0.0)
        if course.rough > 0:
            _edges(eq, course)
        if course.audit > 0 and course.own_work == 0:
            call(course.accumulate_at, eq, wk, course, memory, 0.0)
        if tape.on > 0:
            note_step(course, tape.method)
        code = _look_back(eq, wk, course)
        if course.keep_at != 0:  # what lay behind a switch has not been met yet
            while passage.met > 0 and passage.met_t[passage.met - 1] > course.now.t:
                passage.met -= 1
        if code != REACHED:
            return code
        if course.stiff > 15.0:
            return STIFFNESS
    return REACHED


@piece
def begin(eq: Equations, wk: Work, course: Course) -> int:
    """From q, v and modes at the start: consistent values, modes settled, the first output."""
    now, touches, choice = course.now, eq.touches, course.choice
    for e in range(choice.mode.shape[0]):  # friction has to be chosen first: it may have no forces at all
        choice.mode[e] = int(wk.x[touches.mode_at[e]])
        if choice.mode[e] != touches.open[e] or touches.normal[e] < 0:
            wk.x[touches.mode_at[e]] = touches.closed[e]
    if not consistent(eq, wk, now, np.inf, refinements(course)) < np.inf:
        return SINGULAR
    for e in range(choice.mode.shape[0]):
        wk.x[touches.mode_at[e]] = choice.mode[e]
    copy_state(now, course.before)
    for c in range(course.trail.so_far.shape[0]):
        course.trail.so_far[c] = 0.0
    course.step = first_step(eq, course, now)
    if eq.hybrids.owner.shape[0] > 0:
        keep_first(eq, wk, now)  # (where surfaces that were drawn within each other are now)
        code = call(course.settle_at, eq, wk, course, course.memory_at, 0.0)
        if code != REACHED:
            return code
    course.step = first_step(eq, course, now)
    if course.audit > 0:
        powers(eq, wk, now)
        course.energy = max(course.energy, wk.e[0])
    copy_state(now, course.before)
    course.fresh = 1
    return REACHED if write_until(eq, wk, course, now.t) > 0 else FAILED


@piece
def go_on(eq: Equations, wk: Work, course: Course) -> int:
    """From another q and v at the same time, in the same modes: consistent values, switches that are due taken."""
    if not consistent(eq, wk, course.now, np.inf, refinements(course)) < np.inf:
        return SINGULAR
    code = REACHED
    if eq.hybrids.owner.shape[0] > 0:
        code = call(course.settle_at, eq, wk, course, course.memory_at, 0.0)
    copy_state(course.now, course.before)
    course.fresh = 1
    return code
