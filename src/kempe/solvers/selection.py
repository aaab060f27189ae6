"""The modes of all that touches, chosen together at an instant: behind its impacts, with forces that are admissible.

A guard of a touching element (its gap closes, its load reaches the limit of sticking, its sliding comes to rest) only
says that modes have to be chosen. All elements that touch take part: what rests may stick or slide either way, what is
closed may open (``choice``). Where more than one set of modes is admissible the one with the least forces is taken, and
it is noted down that there were others; where none is, the run ends.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.channels import BACKWARD, FORWARD, HELD, OUT, let, loads, reduce
from kempe.solvers.choice import LEAST_SHARE, find, prefer, weakest
from kempe.solvers.course import FAILED, INADMISSIBLE, REACHED, Course, refinements
from kempe.solvers.impact import UNSEEN, slow, strike, touch_values, touches_now
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import (
    APPROACH,
    GAP,
    MOST,
    SLIP,
    Equations,
    State,
    Work,
    explicit_values,
    place,
    set_rows,
    solve_refined,
)
from kempe.solvers.program import run

#: How much softer what touches is than joints are, where both hold the same thing: so its shares decide.
SOFTER = 1e4
#: Shares of its own effect that a normal force keeps where the friction it makes is counted in: next to nothing is a
#: force that is not determined (Painleve's paradox), little is next to that.
NEARLY_NOTHING, LITTLE = 1e-3, 0.05
#: Of elements that hold the same thing one after the other may be said to slide, each where the others have taken what
#: it held: from so many instants without progress on, what slid stays so.
IN_TURN = 1
#: What a guard may be below zero, in units of the motion, until it has been clear of it.
SLACK = 1e-12


@compiled
def _remember(eq, wk, course):
    """Modes and loads before the instant."""
    touches, choice, n = eq.touches, course.choice, eq.n
    largest = 0.0
    for k in range(eq.m):
        largest = max(largest, abs(course.now.al[n + k]))
    for e in range(touches.element.shape[0]):
        choice.mode[e] = int(wk.x[touches.mode_at[e]])
        choice.hit[e] = choice.pressed[e] = 0
        if touches.normal[e] >= 0 and choice.mode[e] != touches.open[e]:
            choice.pressed[e] = int(course.now.al[n + touches.normal[e]] < -1e-9 * largest)


@compiled
def _take_part(eq, wk, course):
    """Every joint that rubs, and every gap that is closed and does not open."""
    touches, choice = eq.touches, course.choice
    for e in range(touches.element.shape[0]):
        row = touches.normal[e]
        opens = row >= 0 and (
            wk.touch[touches.at[e] + APPROACH] > slow(eq, course, row) or not touches_now(eq, wk, course, e)
        )
        choice.involved[e] = int(not opens)


@compiled
def _state_of(eq, choice, c):
    """The state of a channel in the mode its element had before."""
    touches, e = eq.touches, choice.touch[c]
    mode = choice.mode[e]
    if mode == touches.open[e] and choice.normal_of[e] >= 0:
        return HELD
    if choice.is_normal[c] > 0 or mode == touches.closed[e]:
        return HELD
    return FORWARD if mode == touches.forward[e] else BACKWARD


@compiled
def _options(eq, wk, course):
    """What every channel may do: the direction of what slides is known, what rests may do anything."""
    choice, touches = course.choice, eq.touches
    for c in range(choice.count):
        e, choice.allowed[c], choice.at_rest[c] = choice.touch[c], 0, 1
        choice.state[c] = _state_of(eq, choice, c)
        if choice.is_normal[c] > 0:
            let(choice, c, HELD)
            let(choice, c, OUT)
            continue
        if choice.normal_of[e] >= 0:
            let(choice, c, OUT)
        slip = wk.touch[touches.at[e] + SLIP]
        stuck = choice.mode[e] == touches.closed[e] and choice.hit[e] == 0 and course.choice.struck == 0
        if stuck or choice.rests[e] > 0 or abs(slip) <= slow(eq, course, choice.row[c]):
            let(choice, c, HELD)
            let(choice, c, FORWARD)
            let(choice, c, BACKWARD)
            choice.state[c] = HELD  # (at rest it sticks if it can)
        else:
            choice.at_rest[c] = 0
            choice.state[c] = FORWARD if slip > 0.0 else BACKWARD
            let(choice, c, choice.state[c])


@piece
def _without(eq: Equations, wk: Work, course: Course) -> int:
    """Accelerations and multipliers without the channels, and the accelerations of the channels then."""
    choice, now, n, m = course.choice, course.now, eq.n, eq.m
    values, at = explicit_values(eq, wk), eq.upper + eq.jacobian_row.shape[0]
    for i in range(n):
        wk.rhs[i] = -wk.out[i]
    for k in range(m):
        wk.rhs[n + k] = 0.0 if choice.channel_of[k] >= 0 else wk.out[n + 2 * m + k]
    for k in range(eq.right_row.shape[0]):
        wk.rhs[eq.right_row[k]] += (values[at + k] - values[eq.mirror[k]]) * now.al[n + eq.right_column[k]]
    solve_refined(eq, wk, refinements(course))
    for k in range(n + m):
        choice.base[k] = wk.solution[k]
    for c in range(choice.count):
        total = -wk.out[n + 2 * m + choice.row[c]]
        for i in range(n):
            total += choice.J[c, i] * choice.base[i]
        choice.y0[c] = total
        choice.lam[c] = now.al[n + choice.row[c]]
    return 1


@piece
def _weigh(eq: Equations, wk: Work, course: Course) -> int:
    """Shares of channels that may hold the same thing: by what each could hold."""
    choice, largest = course.choice, 0.0
    loads(eq, wk, choice)
    for c in range(choice.count):
        choice.weight[c] = 1.0
        if choice.is_normal[c] == 0:
            choice.weight[c] = wk.touch[eq.touches.at[choice.touch[c]] + MOST] * choice.unit[c]
            largest = max(largest, choice.weight[c])
    for c in range(choice.count):
        if choice.is_normal[c] == 0:
            choice.weight[c] = max(choice.weight[c] / largest, LEAST_SHARE) if largest > 0.0 else 1.0
    return 1


@compiled
def _put_shares(eq, choice):
    """The same shares for the rows in force, in the linear system of the motion: softer than all joints are there."""
    for c in range(choice.count):
        k = choice.row[c]
        eq.share[k] = SOFTER * choice.unit[c] ** 2 / (choice.weight[c] * eq.flexible[k])


@compiled
def _mode_of(eq, choice, e):
    """The mode that an element's channels say."""
    touches = eq.touches
    n, s = choice.normal_of[e], choice.stick_of[e]
    if touches.normal[e] >= 0 and (n < 0 or choice.state[n] == OUT):
        return touches.open[e]
    if s < 0 or choice.state[s] == HELD:
        return touches.closed[e]
    return touches.forward[e] if choice.state[s] == FORWARD else touches.backward[e]


@compiled
def _switch_between(eq, e, source, target):
    """The switch of a touching element that leads from one mode to another."""
    h, element = eq.hybrids, eq.touches.element[e]
    for c in range(h.first_switch[element], h.end_switch[element]):
        if h.source[c] == source and h.target[c] == target:
            return c
    return h.first_switch[element]


@compiled
def _put_slack(eq, wk, course, e, mode):
    """Guards that are about zero where a mode begins may be a little below it, until they have been clear of it."""
    touches, slack, choice = eq.touches, course.watch.slack, course.choice
    at = touches.at[e]
    for guard in (touches.gap_guard[e], touches.forward_guard[e], touches.backward_guard[e]):
        if guard >= 0:
            slack[guard] = 0.0
    if mode == touches.open[e] and touches.normal[e] >= 0:
        row = touches.normal[e]
        slack[touches.gap_guard[e]] = max(-wk.touch[at + GAP], 0.0)  # (a flight begins where the gap is)
        if wk.touch[at + APPROACH] > slow(eq, course, row):
            if choice.meets[e] > 0 and choice.hit[e] == 0:  # it seemed to close by rounding
                slack[touches.gap_guard[e]] += UNSEEN * eq.row_scale[row]
        elif touches_now(eq, wk, course, e):
            slack[touches.gap_guard[e]] += SLACK * eq.row_scale[row]
    elif touches.stick[e] >= 0 and (mode == touches.forward[e] or mode == touches.backward[e]):
        row = touches.stick[e]
        if abs(wk.touch[at + SLIP]) <= slow(eq, course, row):
            guard = touches.forward_guard[e] if mode == touches.forward[e] else touches.backward_guard[e]
            slack[guard] = SLACK * max(course.rate, course.slowest) * eq.row_scale[row] + 2.0 * abs(wk.touch[at + SLIP])


@compiled
def _log(eq, course, e, mode):
    """Write the change of an element's mode, or an impact on it, down; the state behind it is put in later."""
    log, choice = course.log, course.choice
    k = log.count
    log.t[k] = course.now.t
    log.switch[k] = _switch_between(eq, e, choice.mode[e], mode)
    log.mode[k] = mode
    log.lost[k] = 0.0
    for i in range(eq.m):
        log.impulse[k, i] = 0.0
    log.state[k, 0] = np.nan
    log.count = k + 1


@piece
def _enter(eq: Equations, wk: Work, course: Course) -> int:
    """Put all elements into their modes, keep what is to be kept, and write down what changed."""
    touches, choice, h, now = eq.touches, course.choice, eq.hybrids, course.now
    place(eq, wk, now)
    run(eq.latches, wk.x, wk.y, wk.latches)
    for e in range(touches.element.shape[0]):
        mode, element = _mode_of(eq, choice, e), touches.element[e]
        wk.x[touches.mode_at[e]] = mode
        if mode != choice.mode[e] or choice.hit[e] > 0:
            c = _switch_between(eq, e, choice.mode[e], mode)
            course.watch.went[c] = 1
            for k in range(h.kept[element]):
                wk.x[touches.mode_at[e] + 1 + k] = wk.latches[h.kept_at[c] + k]
            _log(eq, course, e, mode)
    for e in range(touches.element.shape[0]):
        _put_slack(eq, wk, course, e, int(wk.x[touches.mode_at[e]]))
        choice.meets[e] = choice.parts[e] = choice.rests[e] = choice.plastic[e] = 0
        if course.crowded < IN_TURN:
            choice.slides[e] = 0
    for c in range(choice.count):
        held = choice.state[c] == HELD
        now.al[eq.n + choice.row[c]] = choice.lam[c] if held else 0.0
    for k in range(eq.m):
        if choice.channel_of[k] < 0:
            now.al[eq.n + k] = choice.all_lam[k]
    for e in range(touches.element.shape[0]):
        for row in (touches.normal[e], touches.stick[e]):
            if row >= 0 and choice.channel_of[row] < 0:
                now.al[eq.n + row] = 0.0
    set_rows(eq, wk)
    return 1


@compiled
def _note_paradox(eq, wk, course):
    """Note down where a sliding contact opens because its friction all but takes back what its normal force does."""
    choice, opens = course.choice, False
    for e in range(choice.parts.shape[0]):
        opens |= choice.parts[e] > 0 and eq.touches.stick[e] >= 0 and choice.mode[e] != eq.touches.closed[e]
    if opens:
        e = weakest(eq, wk, choice, LITTLE)
        if e >= 0 and choice.parts[e] > 0:
            choice.paradox, choice.paradox_at, choice.paradox_touch = 1, course.now.t, e


@piece
def choose(eq: Equations, wk: Work, course: Course) -> int:
    """Choose and enter the modes of all that touches."""
    choice = course.choice
    touch_values(eq, wk, course.now)
    _take_part(eq, wk, course)
    if reduce(eq, wk, choice, course.now, 0) == 0:
        return FAILED
    _without(eq, wk, course)
    touch_values(eq, wk, course.now)
    _options(eq, wk, course)
    _note_paradox(eq, wk, course)
    _weigh(eq, wk, course)
    if find(eq, wk, choice) == 0:
        return INADMISSIBLE
    if prefer(eq, wk, choice) == 0:
        if choice.several == 0:
            choice.several_at = course.now.t
        choice.several += 1
    _put_shares(eq, choice)
    loads(eq, wk, choice)
    for e in range(choice.involved.shape[0]):
        n, s = choice.normal_of[e], choice.stick_of[e]
        choice.pressing[e] = -choice.lam[n] if n >= 0 and choice.state[n] == HELD else 0.0
        held = s >= 0 and choice.state[s] == HELD
        choice.room[e] = wk.touch[eq.touches.at[e] + MOST] - abs(choice.lam[s]) if held else 0.0
    return REACHED


@piece
def touch_down(eq: Equations, wk: Work, course: Course, _: State, kicked: float) -> int:
    """The impacts of an instant, and the modes behind them; above zero, velocities have been kicked besides."""
    choice = course.choice
    _remember(eq, wk, course)
    code = strike(eq, wk, course, int(kicked > 0.0))
    if code == REACHED:
        code = choose(eq, wk, course)
    if code != REACHED:
        for e in range(choice.mode.shape[0]):
            wk.x[eq.touches.mode_at[e]] = choice.mode[e]
        set_rows(eq, wk)
        return code
    touch_values(eq, wk, course.now)
    _enter(eq, wk, course)
    return REACHED


@piece
def undetermined(eq: Equations, wk: Work, course: Course) -> int:
    """The touching element whose friction leaves its own force undetermined in the present state and modes, or -1."""
    choice = course.choice
    _remember(eq, wk, course)
    touch_values(eq, wk, course.now)
    _take_part(eq, wk, course)
    if reduce(eq, wk, choice, course.now, 0) == 0:
        return -1
    _without(eq, wk, course)
    touch_values(eq, wk, course.now)
    _options(eq, wk, course)
    for e in range(choice.mode.shape[0]):
        wk.x[eq.touches.mode_at[e]] = choice.mode[e]
    found = weakest(eq, wk, choice, NEARLY_NOTHING)
    set_rows(eq, wk)
    return found
