"""Impacts of all that touches at an instant: impulses with restitution and friction, and the velocities behind them.

**Rounds.** All gaps that are closed and approach act together. Gaps that are closed and do not approach take part as
one-sided constraints where their impact would be plastic or where they were pressed; all others wait, and have a round
of their own at the same instant if they approach then (so an impulse passes through a row of balls one by one).

**A round** is a path of velocities over a fictitious time. In the first half every approaching gap is brought to rest,
at rates in proportion; in the second half it leaves: by Newton's law up to e times the velocity before, by Poisson's
with e times the impulse of the first half. Along the path friction acts as it does in motion, at joints by their
impulsive loads: its direction is that of sliding, and where a sliding velocity passes zero it sticks or reverses, as is
admissible (``choice``). For one contact this is Routh's method. Without friction it is M dv + Phi_q^T Lambda = 0 with
u+ >= -e u-, complementary to impulses that push. Friction takes energy all along the path; where Newton's law would
give back more energy than there was, or where friction locks what would have to leave, the second half ends before.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.channels import BACKWARD, DRIVEN, FORWARD, HELD, OUT, let, reduce
from kempe.solvers.choice import find
from kempe.solvers.course import FAILED, INADMISSIBLE, REACHED, Course
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import (
    APPROACH,
    GAP,
    POISSON,
    RESTITUTION,
    Equations,
    State,
    Work,
    add_rates,
    explicit_at,
    explicit_values,
    factor,
    place_all,
    set_rows,
    solve_refined,
)
from kempe.solvers.program import run
from kempe.solvers.tape import SLID_BACKWARD, SLID_FORWARD, STILL, THROWN, UNKNOWN, note_jump, put_state

#: Impacts that are no faster than this many times one that is over are over too.
ALIKE = 10.0
#: So many rounds at one instant; the impacts of all further ones are plastic, and all that touches takes part.
PATIENT, ROUNDS = 200, 260
#: A gap is closed within this share of its size, a velocity is zero within this share of the motion.
NEAR, REST = 1e-11, 1e-11
#: Impulses below this share of the largest are rounding.
NOTHING = 1e-15
#: Heights below this share of a gap's size are lost in the rounding of positions.
UNSEEN = 1e-15
#: Velocities that come to rest within this share of what they were do so together; so near its end a path is over.
TOGETHER = 1e-12
#: So many changes of sliding directions in a round, per channel.
CHANGES = 20


@piece
def touch_values(eq: Equations, wk: Work, state: State) -> int:
    """Gaps, slips and friction of all that touches, into ``wk.touch``."""
    place_all(eq, wk, state)
    run(eq.touch, wk.x, wk.y, wk.touch)
    return 1


@compiled
def slow(eq, course, row):
    """What counts as no velocity of a row."""
    return REST * max(course.rate, course.slowest) * eq.row_scale[row]


@compiled
def touches_now(eq, wk, course, e):
    """Whether a gap is closed: it was, or it is within rounding and what it moves by in an instant."""
    touches, choice = eq.touches, course.choice
    if choice.mode[e] != touches.open[e] or choice.meets[e] > 0:
        return True
    at, row = touches.at[e], touches.normal[e]
    instant = 2e-13 * max(abs(course.now.t), course.now.t - course.before.t)
    return wk.touch[at + GAP] <= NEAR * eq.row_scale[row] + abs(wk.touch[at + APPROACH]) * instant


@piece
def _take_part(eq: Equations, wk: Work, course: Course, late: int) -> int:
    """Mark who takes part in a round; whether anything approaches."""
    touches, choice = eq.touches, course.choice
    touch_values(eq, wk, course.now)
    approaches = 0
    for e in range(touches.element.shape[0]):
        choice.involved[e] = 1
        if touches.normal[e] < 0:
            continue
        speed, limit = wk.touch[touches.at[e] + APPROACH], slow(eq, course, touches.normal[e])
        plastic = wk.touch[touches.at[e] + RESTITUTION] == 0.0 or choice.plastic[e] > 0 or late > 0
        if not touches_now(eq, wk, course, e) or speed > limit:
            choice.involved[e] = 0
        elif speed < -limit:
            approaches = 1
        else:
            choice.involved[e] = int(plastic or choice.pressed[e] > 0)
    return approaches


@compiled
def _begin_round(eq, wk, course, late):
    """Rates of all channels before a round, and how approaching gaps are to leave."""
    choice, touches, v = course.choice, eq.touches, course.now.v
    choice.glued = 1
    for c in range(choice.count):
        at, row, total = touches.at[choice.touch[c]], choice.row[c], -wk.out[eq.n + eq.m + choice.row[c]]
        for i in range(eq.n):
            total += choice.J[c, i] * v[i]
        choice.rate[c] = choice.before[c] = total if abs(total) > slow(eq, course, row) else 0.0
        choice.total[c] = choice.phase[c] = choice.forced[c] = choice.given[c] = 0.0
        choice.seen[c] = 0
        choice.lam[c] = -1e-30 if choice.is_normal[c] > 0 else 0.0
        choice.state[c] = HELD
        choice.poisson[c] = int(wk.touch[at + POISSON] > 0.0)
        bounce, e = wk.touch[at + RESTITUTION], choice.touch[c]
        if choice.is_normal[c] > 0:  # the next flight is e^2 times as high as the one before, which was u T / 4
            height = 0.25 * bounce**2 * abs(total) * course.watch.interval[touches.gap_guard[e]]
            over = choice.plastic[e] > 0 or (bounce > 0.0 and height < UNSEEN * eq.row_scale[row])
            if choice.rate[c] < 0.0 and not over:
                choice.glued = 0
            if over or late > 0:
                bounce = 0.0
        choice.bounce[c] = bounce
    for k in range(eq.n + eq.m):
        choice.base[k] = 0.0


@compiled
def _aim_normal(choice, c, half, left, jammed):
    """What a gap may do in the next piece of the path, and what it is led to.

    Where the flights of all that approaches are over, what rests stays at rest: it would only pass them on.
    """
    choice.at_rest[c] = 1
    if choice.before[c] < 0.0 and half > 0:
        if jammed:
            choice.given[c] = choice.before[c] / choice.unit[c] ** 2
            let(choice, c, DRIVEN)
        elif half == 1:
            choice.lead[c] = -choice.rate[c] / left
        elif choice.total[c] == 0.0:  # others threw it off
            let(choice, c, OUT)
        elif choice.poisson[c] > 0:
            choice.given[c] = choice.bounce[c] * choice.phase[c]
            let(choice, c, DRIVEN)
        else:
            choice.lead[c] = (-choice.bounce[c] * choice.before[c] - choice.rate[c]) / left
    elif choice.rate[c] > 0.0:
        let(choice, c, OUT)
    elif choice.glued > 0 and half > 0:
        let(choice, c, HELD)
        choice.state[c] = HELD
        return
    if choice.allowed[c] == 0:
        let(choice, c, HELD)
        let(choice, c, OUT)
    elif choice.allowed[c] == 1 << OUT:
        choice.state[c] = OUT
    else:
        choice.state[c] = DRIVEN


@compiled
def _aim(choice, half, left, jammed):
    """What every channel may do in the next piece of the path: of the first or second half, or of known impulses."""
    for c in range(choice.count):
        choice.allowed[c] = choice.at_rest[c] = 0
        choice.lead[c] = 0.0
        if choice.state[c] == DRIVEN:
            choice.state[c] = HELD
        if choice.is_normal[c] > 0:
            _aim_normal(choice, c, half, left, jammed)
        elif choice.rate[c] == 0.0:
            choice.at_rest[c] = 1
            let(choice, c, HELD)
            let(choice, c, FORWARD)
            let(choice, c, BACKWARD)
        else:
            sliding = FORWARD if choice.rate[c] > 0.0 else BACKWARD
            let(choice, c, sliding)
            choice.state[c] = sliding
        choice.y0[c] = choice.forced[c] - choice.lead[c]
    for c in range(choice.count):  # friction of what is open does nothing
        n = choice.normal_of[choice.touch[c]]
        if choice.is_normal[c] == 0 and n >= 0:
            let(choice, c, OUT)
            if choice.state[n] == OUT:
                choice.state[c] = OUT
            elif choice.state[c] == OUT:
                choice.state[c] = HELD


@compiled
def _pace(choice, c):
    """How fast the rate of a channel changes along the path."""
    return choice.y[c] + choice.lead[c]


@compiled
def _created(choice, ahead):
    """The energy that the channels have given since the start of the round, ``ahead`` on the present piece."""
    total = 0.0
    for c in range(choice.count):
        speed = choice.rate[c] + ahead * _pace(choice, c)
        total -= 0.5 * (choice.total[c] + ahead * choice.lam[c]) * (choice.before[c] + speed)
    return total


@compiled
def _spent(choice, ahead):
    """How far on the present piece the energy given back is all there was."""
    low, high = 0.0, ahead
    for _ in range(60):
        middle = 0.5 * (low + high)
        if _created(choice, middle) > 0.0:
            high = middle
        else:
            low = middle
    return low


@compiled
def _go_on(choice, ahead, which):
    """Go on along the path; what came to rest is at rest to the last digit."""
    for c in range(choice.count):
        change = ahead * _pace(choice, c)
        choice.rate[c] += change
        if abs(choice.rate[c]) <= TOGETHER * (abs(choice.before[c]) + abs(change)):
            choice.rate[c] = 0.0
        choice.total[c] += ahead * choice.lam[c]
        if ahead > 0.0:
            choice.seen[c] |= 1 << choice.state[c]
        held = choice.state[c] == HELD and (choice.is_normal[c] == 0 or choice.before[c] == 0.0)
        if c == which or held:
            choice.rate[c] = 0.0


@piece
def _follow_path(eq: Equations, wk: Work, course: Course, half: int) -> int:
    """Follow one half of the path, or with 0 known impulses; 0 where no state is admissible, 2 where energy ends it."""
    choice, left, jammed = course.choice, 1.0, False
    for _ in range(CHANGES * (choice.count + 1)):
        _aim(choice, half, left, jammed)
        if find(eq, wk, choice) == 0:
            if half == 2:
                return 2  # friction locks it: it does not leave
            if jammed or half != 1:
                return 0
            jammed = True  # no impulse brings it to rest while it slides: it is pressed until the sliding ends
            continue
        ahead, which = np.inf if jammed else left, -1
        for c in range(choice.count):
            rate, pace = choice.rate[c], _pace(choice, c)
            turns = choice.is_normal[c] == 0 or choice.before[c] >= 0.0 or half == 0
            if turns and rate * pace < 0.0 and -rate / pace < ahead:
                ahead, which = -rate / pace, c
        if not ahead < np.inf:
            return 0
        ends = half == 2 and _created(choice, ahead) > 0.0
        if ends:
            ahead, which = _spent(choice, ahead), -1
        _go_on(choice, ahead, which)
        if ends:
            return 2
        if not jammed:
            left -= ahead
        jammed = False
        if left <= TOGETHER:
            return 1
    return 0


@compiled
def _add_up(eq, wk, course):
    """Velocities, impulses and energy behind a round."""
    choice, now, n, m = course.choice, course.now, eq.n, eq.m
    lost, supplied, largest = 0.0, 0.0, 0.0
    for c in range(choice.count):
        largest = max(largest, abs(choice.total[c]) * choice.unit[c])
    for c in range(choice.count):
        total, row = choice.total[c], choice.row[c]
        if abs(total) * choice.unit[c] <= NOTHING * largest:  # what only lies there is not hit
            continue
        choice.impulse[row] += total
        if choice.is_normal[c] > 0:
            choice.hit[choice.touch[c]] = 1
        lost += 0.5 * total * (choice.before[c] + choice.rate[c])
        supplied -= total * wk.out[n + m + row]
        for i in range(n):
            now.v[i] += total * choice.motion[c, i]
        for k in range(m):
            if choice.channel_of[k] < 0:
                choice.impulse[k] += total * choice.carried[c, k]
                supplied -= total * choice.carried[c, k] * wk.out[n + m + k]
    choice.lost += lost
    now.dissipated += lost
    now.supplied += supplied
    choice.struck = 1


@piece
def collide(eq: Equations, wk: Work, course: Course, late: int) -> int:
    """One round: all that approaches, with all that takes part."""
    choice = course.choice
    if reduce(eq, wk, choice, course.now, 1) == 0:
        return FAILED
    touch_values(eq, wk, course.now)
    _begin_round(eq, wk, course, late)
    if _follow_path(eq, wk, course, 1) == 0:
        return INADMISSIBLE
    for c in range(choice.count):
        choice.phase[c] = choice.total[c]
    code = _follow_path(eq, wk, course, 2)
    if code == 0:
        return INADMISSIBLE
    if course.tape.on > 0:
        _note_round(eq, wk, course, code)
    _add_up(eq, wk, course)
    if course.tape.on > 0:
        put_state(course.now, course.tape.end[course.tape.count - 1])
    return REACHED


@piece
def _note_round(eq: Equations, wk: Work, course: Course, code: int) -> int:
    """Write a round down: which rows were thrown back or held, which slid throughout, and where neither is true."""
    choice, tape, m = course.choice, course.tape, eq.m
    note_jump(eq, wk, course)
    row, pressing = tape.more[tape.count - 1], 0
    for k in range(m):
        row[k] = THROWN  # (joints hold)
    for c in range(choice.count):
        k, seen, slides = choice.row[c], choice.seen[c], (1 << FORWARD) | (1 << BACKWARD)
        if choice.total[c] == 0.0 or seen == 1 << OUT:
            row[k] = STILL
        elif choice.is_normal[c] > 0:
            pressing += 1
            row[k], row[m + k] = THROWN, choice.bounce[c] if choice.before[c] < 0.0 else 0.0
            if code == 2 or seen & (1 << OUT) > 0 or (choice.poisson[c] > 0 and row[m + k] > 0.0):
                row[k] = UNKNOWN
        elif choice.rate[c] == 0.0 and seen & (1 << HELD) > 0:
            row[k] = THROWN
        elif seen & slides == seen and seen != slides:
            row[k] = SLID_FORWARD if seen == 1 << FORWARD else SLID_BACKWARD
        else:
            row[k] = UNKNOWN
    if pressing == 1 and choice.count == 1 and code != 2 and choice.is_normal[0] > 0:
        row[choice.row[0]] = THROWN  # (of one impact without friction both laws say the same)
    return 1


@piece
def _kick(eq: Equations, wk: Work, course: Course) -> int:
    """Known impulses, and rows that jump by themselves, while all that touches answers without being thrown back."""
    choice, watch, now, n, m = course.choice, course.watch, course.now, eq.n, eq.m
    _put_jumping_rows(eq, wk, watch)
    _take_part(eq, wk, course, 1)
    for e in range(choice.involved.shape[0]):
        row = eq.touches.normal[e]
        if row >= 0 and wk.touch[eq.touches.at[e] + APPROACH] < -slow(eq, course, row):
            choice.involved[e] = 0
    if reduce(eq, wk, choice, now, 1) == 0:
        return FAILED
    touch_values(eq, wk, now)
    _begin_round(eq, wk, course, 1)
    for k in range(m):
        wk.rate[k] = -wk.out[n + m + k]
    add_rates(eq, wk, now, 1.0)
    for i in range(n):
        wk.rhs[i] = watch.kick[i]
    for k in range(m):
        free = choice.channel_of[k] >= 0
        wk.rhs[n + k] = 0.0 if free else -(1.0 + max(watch.restitution[k], 0.0)) * wk.rate[k]
    solve_refined(eq, wk, 6)
    if course.tape.on > 0:
        note_jump(eq, wk, course)
        for k in range(m):
            course.tape.more[course.tape.count - 1, k] = UNKNOWN if choice.count > 0 else THROWN
            course.tape.more[course.tape.count - 1, m + k] = max(watch.restitution[k], 0.0)
    for k in range(n + m):
        choice.base[k] = wk.solution[k]
    for c in range(choice.count):
        for i in range(n):
            choice.forced[c] += choice.J[c, i] * choice.base[i]
    if _follow_path(eq, wk, course, 0) == 0:
        return INADMISSIBLE
    lost, supplied = 0.0, 0.0
    for k in range(m):
        if choice.channel_of[k] < 0:
            impulse = choice.base[n + k]
            for c in range(choice.count):
                impulse += choice.total[c] * choice.carried[c, k]
            lost += impulse * 0.5 * (1.0 - max(watch.restitution[k], 0.0)) * wk.rate[k]
            choice.impulse[k] += choice.base[n + k]
            supplied -= choice.base[n + k] * wk.out[n + m + k]
    for i in range(n):
        supplied += watch.kick[i] * now.v[i]
        now.v[i] += choice.base[i]
    _add_up(eq, wk, course)
    if course.tape.on > 0:
        put_state(now, course.tape.end[course.tape.count - 1])
    for i in range(n):
        supplied += 0.5 * watch.kick[i] * (choice.base[i] + _answered(choice, i))
    choice.lost += lost
    now.dissipated += lost
    now.supplied += supplied
    return REACHED


@compiled
def _answered(choice, i):
    """The velocity that the impulses of all channels gave a coordinate."""
    total = 0.0
    for c in range(choice.count):
        total += choice.total[c] * choice.motion[c, i]
    return total


@piece
def _end_together(eq: Equations, wk: Work, course: Course) -> int:
    """What comes to rest brings to rest what touches with it and is no faster: they would throw each other for ever."""
    touches, choice, fastest = eq.touches, course.choice, 0.0
    touch_values(eq, wk, course.now)
    for e in range(touches.element.shape[0]):
        if choice.plastic[e] > 0:
            fastest = max(fastest, abs(wk.touch[touches.at[e] + APPROACH]) / eq.row_scale[touches.normal[e]])
    for e in range(touches.element.shape[0]):
        if fastest == 0.0 or touches.normal[e] < 0 or not touches_now(eq, wk, course, e):
            continue
        if abs(wk.touch[touches.at[e] + APPROACH]) <= ALIKE * fastest * eq.row_scale[touches.normal[e]]:
            choice.plastic[e] = 1
    return 1


@piece
def strike(eq: Equations, wk: Work, course: Course, kicked: int) -> int:
    """All impacts of this instant: known impulses first, then what approaches, round by round."""
    if kicked > 0:
        code = _kick(eq, wk, course)
        if code != REACHED:
            return code
    _end_together(eq, wk, course)
    for number in range(ROUNDS):
        late = int(number >= PATIENT)
        if _take_part(eq, wk, course, late) == 0:
            return REACHED
        code = collide(eq, wk, course, late)
        if code != REACHED:
            return code
    return INADMISSIBLE


@compiled
def _put_jumping_rows(eq, wk, watch):
    """Rows that jump are in force for the instant."""
    h = eq.hybrids
    for k in range(h.impulse_row.shape[0]):
        row, c = h.impulse_row[k], h.impulse_condition[k]
        if c >= 0 and watch.restitution[row] >= 0.0:
            wk.x[h.row_at[c]] = 1.0
            eq.shift[eq.n + row] = -eq.compliance[row]


@piece
def jump(eq: Equations, wk: Work, course: Course) -> int:
    """The velocities behind an instant at which nothing touches: M dv + Phi_q^T Lambda = P.

    Rows that jump have Phi_q dv = -(1 + e) Phi', all others in force hold behind it: e = 0 for them. The work of Lambda
    is dissipated but for what moving constraints do, that of known impulses P is supplied.
    """
    watch, now, choice = course.watch, course.now, course.choice
    n, m = eq.n, eq.m
    _put_jumping_rows(eq, wk, watch)
    explicit_at(eq, wk, now)
    values = explicit_values(eq, wk)
    at = eq.upper + eq.jacobian_row.shape[0]
    for k in range(eq.mirror.shape[0]):  # forces that depend on multipliers have no part in an impact
        values[at + k] = values[eq.mirror[k]]
    factor(eq, wk)
    for k in range(m):
        wk.rate[k] = -wk.out[n + m + k]
    add_rates(eq, wk, now, 1.0)
    rhs, d = wk.rhs, wk.solution
    for i in range(n):
        rhs[i] = watch.kick[i]
    for k in range(m):
        rhs[n + k] = -(1.0 + max(watch.restitution[k], 0.0)) * wk.rate[k]
    solve_refined(eq, wk, 6)
    if course.tape.on > 0:
        note_jump(eq, wk, course)
        for k in range(m):
            course.tape.more[course.tape.count - 1, k] = THROWN
            course.tape.more[course.tape.count - 1, m + k] = max(watch.restitution[k], 0.0)
    lost, supplied = 0.0, 0.0
    for k in range(m):
        e = max(watch.restitution[k], 0.0)
        lost += d[n + k] * 0.5 * (1.0 - e) * wk.rate[k]
        supplied -= d[n + k] * wk.out[n + m + k]
        choice.impulse[k] += d[n + k]
    for i in range(n):
        supplied += watch.kick[i] * (now.v[i] + 0.5 * d[i])
        now.v[i] += d[i]
    if course.tape.on > 0:
        put_state(now, course.tape.end[course.tape.count - 1])
    now.dissipated += lost
    now.supplied += supplied
    choice.lost += lost
    choice.struck = 1
    set_rows(eq, wk)
    return 1
