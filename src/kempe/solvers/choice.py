"""Forces of all that touch, found together: which contacts close, which joints stick, which way they slide.

Every gap that is closed and every joint that rubs is a *channel*: a constraint row with a multiplier. With all other
constraints in force, rates of the channels depend on their multipliers linearly, y = y0 + A lambda, and so do the
multipliers of all other rows, on which friction may depend. So a state of the channels (closed or open, stick, forward
or backward) is judged in a small dense system, by Newton's method because of friction that depends on loads:

- closed: y = 0 and lambda <= 0; open: lambda = 0 and y >= 0;
- stick: y = 0 and |lambda| <= most; forward: lambda = sliding and y >= 0; backward: lambda = -sliding and y <= 0.

Where y are accelerations the multipliers are forces; in an impact y are velocities over a fictitious time and the
multipliers impulses. A state whose conditions all hold is *admissible*. It is sought by changing what is violated, and
where that does not lead to one, by going through all states.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.frames import Count, FloatRows, Floats, Frame, Ints, Real
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import (
    MOST,
    SLIDING,
    TOUCH_VALUES,
    Equations,
    State,
    Work,
    explicit_at,
    explicit_values,
    factor,
    solve_refined,
)
from kempe.solvers.program import load_multipliers, run

#: States of a channel. OUT: it does nothing (an open gap, friction of an open contact); HELD: closed or sticking;
#: DRIVEN: its multiplier is given.
OUT, HELD, FORWARD, BACKWARD, DRIVEN = range(5)
#: Conditions may be missed by this share of the forces in play.
SLIGHT = 1e-10
#: What a guard said to slide or open needs this much room to be found sticking or closed again, or else less than the
#: second share of a force the other way.
ROOM, AGAINST = 1e-7, 4e-7
#: The softness of channels that hold the same thing, as a share of their own flexibility.
SOFT = 1e-9
#: Residuals of a state, as a share of the forces in play, and rounding of all forces in the units of these.
EXACT, ROUNDING = 1e-14, 1e-5
#: So many states are gone through at most; up to so many, whether another one is admissible too.
MOST_STATES, LOOKED_THROUGH = 60_000, 243
#: Impulses are so strong that given loads are nothing beside them.
STRONG = 1e18
#: So often the shares of channels that stick together are changed; none gets less than this share.
SHARING, LEAST_SHARE = 40, 1e-2
#: Where none is loaded by more than this share of what it can hold, shares are left as they are; where all are loaded
#: by more than the second, some are taken to be at their limits, so that it is known when the last of them slides.
ROOMY, TIGHT = 0.7, 0.999
#: Newton's iterations for one state.
ITERATIONS = 40


class Choice(Frame):
    """The channels of an instant, and the state that is chosen."""

    # per touching element: its channels or -1, and what is known of it
    normal_of: Ints
    stick_of: Ints
    involved: Ints  # 1 where it has channels now
    meets: Ints  # 1 where its guard says that its gap closes
    parts: Ints  # 1 where its guard says that it opens
    slides: Ints  # 1 where its guard says that it slides
    rests: Ints  # 1 where its guard says that its sliding came to rest
    plastic: Ints  # 1 where its impacts do not throw back any more
    pressed: Ints  # 1 where it was closed with a force
    hit: Ints  # 1 where an impulse acted on it
    room: Floats  # what is left until it slides, where it sticks
    pressing: Floats  # what is left until it opens, where it is closed
    mode: Ints  # its mode before
    # per channel
    touch: Ints
    row: Ints
    is_normal: Ints
    allowed: Ints  # the states it may have, as bits
    at_rest: Ints  # 1 where its rate is zero, so that y decides
    state: Ints
    best: Ints
    spare: Ints
    J: FloatRows
    motion: FloatRows  # accelerations by its multiplier
    carried: FloatRows  # multipliers of all rows by its multiplier
    A: FloatRows
    y0: Floats
    y: Floats
    size: Floats  # the size of what y / unit is the sum of
    lam: Floats
    given: Floats  # the multiplier of a driven channel
    unit: Floats  # the root of its flexibility: y / unit and lambda unit are of one kind
    weight: Floats  # of its share where several hold the same thing
    kept: Floats
    rate: Floats  # its rate
    before: Floats  # its rate before an impact
    bounce: Floats  # the restitution of an approaching gap
    poisson: Ints  # 1 where that is Poisson's
    forced: Floats  # how fast known impulses change its rate along the path of an impact
    lead: Floats  # how fast its rate is to change there
    total: Floats  # its impulse
    phase: Floats  # the same, of the first phase
    matrix: FloatRows
    residual: Floats
    # per row
    channel_of: Ints  # the channel of a row, or -1
    all_lam: Floats
    impulse: Floats  # impulses of all rows at this instant
    base: Floats  # N: accelerations and multipliers without the channels
    option: Ints  # per touching element: which of its options is looked at
    all_forces: Real  # the size of all forces, or momenta, on the system, in the units of y / unit
    count: Count
    glued: Count  # 1 where an impact ends flights that are too low to be seen
    impulsive: Count  # 1 where multipliers are impulses
    tight: Count  # 1 where channels that stick together are all about to slide
    static: Count  # 1 where sliding from rest is judged with the friction of sticking
    several: Count  # how often more than one state was admissible
    several_at: Real  # when that was first so
    several_touch: Count  # and of what
    lost: Real  # energy lost in the impacts of this instant
    struck: Count  # 1 where velocities jumped at this instant


def new_choice(eq: Equations) -> Choice:
    """Memory for all channels that there can be."""
    T, n, m = len(eq.touches.element), eq.n, eq.m
    K = int((eq.touches.normal >= 0).sum() + (eq.touches.stick >= 0).sum())
    ints = (
        "normal_of",
        "stick_of",
        "involved",
        "meets",
        "parts",
        "slides",
        "rests",
        "plastic",
        "pressed",
        "hit",
        "mode",
        "option",
    )
    channel_ints = ("touch", "row", "is_normal", "allowed", "at_rest", "state", "best", "spare", "poisson")
    reals = (
        "y0",
        "y",
        "size",
        "lam",
        "given",
        "unit",
        "weight",
        "kept",
        "rate",
        "before",
        "bounce",
        "forced",
        "lead",
        "total",
        "phase",
    )
    return Choice(
        **{name: np.zeros(T, dtype=np.int64) for name in ints},
        **{name: np.zeros(K, dtype=np.int64) for name in channel_ints},
        **{name: np.zeros(K) for name in (*reals, "residual")},
        J=np.zeros((K, n)),
        motion=np.zeros((K, n)),
        carried=np.zeros((K, m)),
        A=np.zeros((K, K)),
        matrix=np.zeros((K, K)),
        channel_of=np.full(m, -1, dtype=np.int64),
        all_lam=np.zeros(m),
        impulse=np.zeros(m),
        base=np.zeros(n + m),
        room=np.zeros(T),
        pressing=np.zeros(T),
    )


@compiled
def _bit(state):
    return 1 << state


@compiled
def _enter(choice, touch, row, is_normal):
    """One more channel."""
    c = choice.count
    choice.touch[c], choice.row[c], choice.is_normal[c] = touch, row, is_normal
    choice.channel_of[row] = c
    choice.weight[c] = 1.0
    choice.count = c + 1
    return c


@piece
def reduce(eq: Equations, wk: Work, choice: Choice, state: State, impulsive: int) -> int:
    """The channels of all elements involved: their rows, and how rates and loads answer to their multipliers.

    Forces of other elements that depend on multipliers have no part in an impact (``impulsive``). Behind it the work
    space has the equations without the channels, factored, and no element slides.
    """
    touches, n, m = eq.touches, eq.n, eq.m
    choice.count, choice.impulsive = 0, impulsive
    for k in range(m):
        choice.channel_of[k] = -1
    for e in range(touches.element.shape[0]):
        choice.normal_of[e] = choice.stick_of[e] = -1
        if touches.normal[e] >= 0:
            wk.x[touches.normal_at[e]] = choice.involved[e]
            eq.shift[n + touches.normal[e]] = -eq.flexible[touches.normal[e]]
        if touches.stick[e] >= 0:
            wk.x[touches.stick_at[e]] = choice.involved[e]
            eq.shift[n + touches.stick[e]] = -eq.flexible[touches.stick[e]]
        wk.x[touches.mode_at[e]] = touches.closed[e]  # in which no friction slides
        if choice.involved[e] > 0:
            if touches.normal[e] >= 0:
                choice.normal_of[e] = _enter(choice, e, touches.normal[e], 1)
            if touches.stick[e] >= 0:
                choice.stick_of[e] = _enter(choice, e, touches.stick[e], 0)
    explicit_at(eq, wk, state)
    values, at = explicit_values(eq, wk), eq.upper
    for c in range(choice.count):
        for i in range(n):
            choice.J[c, i] = 0.0
    for k in range(eq.jacobian_row.shape[0]):
        c = choice.channel_of[eq.jacobian_row[k]]
        if c >= 0:
            choice.J[c, eq.jacobian_column[k]] += values[at + k]
            values[at + k] = 0.0
    at += eq.jacobian_row.shape[0]
    for k in range(eq.right_row.shape[0]):
        if choice.channel_of[eq.right_column[k]] >= 0:
            values[at + k] = 0.0
        elif impulsive > 0:
            values[at + k] = values[eq.mirror[k]]
    if factor(eq, wk) == 0:
        return 0
    for c in range(choice.count):
        for i in range(n):
            wk.rhs[i] = -choice.J[c, i]
        for k in range(m):
            wk.rhs[n + k] = 0.0
        solve_refined(eq, wk, 4)
        for i in range(n):
            choice.motion[c, i] = wk.solution[i]
        for k in range(m):
            choice.carried[c, k] = wk.solution[n + k]
    for c in range(choice.count):
        for d in range(choice.count):
            total = 0.0
            for i in range(n):
                total += choice.J[c, i] * choice.motion[d, i]
            choice.A[c, d] = total
    total = 1e-280
    for i in range(n):
        mass = explicit_values(eq, wk)[eq.diagonal[i]]
        if mass > 0.0:
            total += state.v[i] ** 2 * mass if impulsive > 0 else wk.out[i] ** 2 / mass
    choice.all_forces = np.sqrt(total)
    for c in range(choice.count):  # what nothing can move has no flexibility: a channel that others hold already
        choice.unit[c] = np.sqrt(max(-choice.A[c, c], 1e-14 * eq.flexible[choice.row[c]]))
    return 1


@piece
def loads(eq: Equations, wk: Work, choice: Choice) -> int:
    """All multipliers that follow from those of the channels, and what friction is there.

    Beside impulses forces are nothing: friction of a given load has no part in an impact.
    """
    for k in range(eq.m):
        choice.all_lam[k] = choice.base[eq.n + k]
    for c in range(choice.count):
        lam = choice.lam[c]
        for k in range(eq.m):
            choice.all_lam[k] += lam * choice.carried[c, k]
    for c in range(choice.count):
        choice.all_lam[choice.row[c]] = choice.lam[c]
    if choice.impulsive == 0:
        load_multipliers(eq.layout, choice.all_lam, wk.x)
        run(eq.touch, wk.x, wk.y, wk.touch)
        return 1
    for k in range(eq.m):
        choice.all_lam[k] *= STRONG
    load_multipliers(eq.layout, choice.all_lam, wk.x)
    run(eq.touch, wk.x, wk.y, wk.touch)
    for k in range(eq.m):
        choice.all_lam[k] /= STRONG
    for e in range(eq.touches.at.shape[0]):
        wk.touch[eq.touches.at[e] + MOST] /= STRONG
        wk.touch[eq.touches.at[e] + SLIDING] /= STRONG
    return 1


@compiled
def _sign(state):
    return 1.0 if state == FORWARD else -1.0


@compiled
def _limit(choice, c):
    """Which friction a sliding channel has: with ``static``, from rest, that of sticking."""
    return MOST if choice.static > 0 and choice.at_rest[c] > 0 else SLIDING


@compiled
def _rates(choice):
    """The rates that follow from the multipliers, and the size of what they are the sum of."""
    for c in range(choice.count):
        total, size = choice.y0[c], abs(choice.y0[c])
        for d in range(choice.count):
            part = choice.A[c, d] * choice.lam[d]
            total += part
            size += abs(part)
        choice.y[c] = total
        choice.size[c] = max(size / choice.unit[c], ROUNDING * choice.all_forces)


@compiled
def _row_of_friction(eq, wk, choice, c):
    """The residual lambda -+ friction of a sliding channel, and its derivatives by all channels."""
    touches, e, M = eq.touches, choice.touch[c], choice.matrix
    sign, limit, at = _sign(choice.state[c]), _limit(choice, c), touches.at[e]
    first, last = touches.first_lam[e], touches.first_lam[e + 1]
    choice.residual[c] = choice.lam[c] - sign * wk.touch[at + limit]
    for d in range(choice.count):
        M[c, d] = 0.0
    M[c, c] = 1.0
    slopes = at + TOUCH_VALUES + (last - first if limit == SLIDING else 0)
    for k in range(first, last):
        slope = sign * wk.touch[slopes + k - first]
        if slope != 0.0:
            own = choice.channel_of[touches.lam_row[k]]
            if own >= 0:
                M[c, own] -= slope
            else:
                for d in range(choice.count):
                    M[c, d] -= slope * choice.carried[d, touches.lam_row[k]]


@compiled
def _eliminate(M, r, K):
    """Solve M x = r in place by elimination with pivoting; False where a pivot vanishes."""
    for k in range(K):
        best, at = abs(M[k, k]), k
        for i in range(k + 1, K):
            if abs(M[i, k]) > best:
                best, at = abs(M[i, k]), i
        if not best > 0.0:
            return False
        if at != k:
            for j in range(k, K):
                M[k, j], M[at, j] = M[at, j], M[k, j]
            r[k], r[at] = r[at], r[k]
        for i in range(k + 1, K):
            f = M[i, k] / M[k, k]
            if f != 0.0:
                for j in range(k, K):
                    M[i, j] -= f * M[k, j]
                r[i] -= f * r[k]
    for k in range(K - 1, -1, -1):
        for j in range(k + 1, K):
            r[k] -= M[k, j] * r[j]
        r[k] /= M[k, k]
    return True


@piece
def solve_state(eq: Equations, wk: Work, choice: Choice) -> int:
    """The multipliers of a state of all channels, into ``lam``, and their rates into ``y``; 0 where there are none.

    Newton's method. Channels that hold the same thing make its matrix singular; a little softness says how they share
    it, and has no effect on what they hold, since residuals are those of the true equations.
    """
    K, M, r = choice.count, choice.matrix, choice.residual
    last = np.inf
    for _ in range(ITERATIONS):
        loads(eq, wk, choice)
        _rates(choice)
        worst = 0.0
        for c in range(K):
            s, unit, size = choice.state[c], choice.unit[c], choice.size[c]
            if s in (FORWARD, BACKWARD):
                _row_of_friction(eq, wk, choice, c)
            else:
                for d in range(K):
                    M[c, d] = choice.A[c, d] if s == HELD else 0.0
                if s == HELD:
                    r[c] = choice.y[c]
                    M[c, c] -= SOFT * unit**2 / choice.weight[c]
                else:
                    M[c, c] = 1.0
                    r[c] = choice.lam[c] - (choice.given[c] if s == DRIVEN else 0.0)
            scale = 1.0 / unit if s == HELD else unit  # in units of one kind
            r[c] *= scale
            for d in range(K):
                M[c, d] *= scale / choice.unit[d]
            worst = max(worst, abs(r[c]) / size)
        if not worst < np.inf:
            return 0
        if worst <= EXACT or (worst <= 1e3 * EXACT and worst > 0.5 * last):
            return 1
        last = worst
        if not _eliminate(M, r, K):
            return 0
        for c in range(K):
            choice.lam[c] -= r[c] / choice.unit[c]
    return 0


@compiled
def _missed(eq, wk, choice, c):
    """By how much a channel misses its condition, as a share of the forces in play; not above zero where it holds."""
    s, e, unit, size = choice.state[c], choice.touch[c], choice.unit[c], choice.size[c]
    y, lam = choice.y[c] / unit / size, choice.lam[c] * unit / size
    if choice.is_normal[c] > 0:
        if choice.allowed[c] == 1 << HELD:
            return -1.0
        if s == HELD:  # (what is pressed by nothing is open)
            return lam + (SLIGHT if choice.parts[e] == 0 else ROOM)
        return -y - (SLIGHT if choice.parts[e] == 0 else AGAINST) if s == OUT else -1.0
    if s == HELD:
        most = wk.touch[eq.touches.at[e] + MOST] * unit / size
        return abs(lam) - most + (ROOM * most if choice.slides[e] > 0 else -SLIGHT)
    if s in (FORWARD, BACKWARD) and choice.at_rest[c] > 0:
        return -_sign(s) * y - (SLIGHT if choice.slides[e] == 0 else AGAINST)
    return -1.0


@compiled
def _may(choice, c, state):
    return (choice.allowed[c] & _bit(state)) > 0


@compiled
def _follow(choice, e):
    """Friction of a contact is there while that is closed."""
    n, s = choice.normal_of[e], choice.stick_of[e]
    if n < 0 or s < 0:
        return
    if choice.state[n] == OUT:
        choice.state[s] = OUT
    elif choice.state[s] == OUT:
        choice.state[s] = HELD if _may(choice, s, HELD) else (FORWARD if _may(choice, s, FORWARD) else BACKWARD)


@compiled
def _change(choice, c):
    """Another state for a channel that misses its condition."""
    s, lam = choice.state[c], choice.lam[c]
    if choice.is_normal[c] > 0:
        if s == HELD and _may(choice, c, OUT):
            choice.state[c] = OUT
        elif s == OUT and _may(choice, c, HELD):
            choice.state[c] = HELD
        _follow(choice, choice.touch[c])
    elif s == HELD:
        wanted = FORWARD if lam > 0.0 else BACKWARD
        if _may(choice, c, wanted):
            choice.state[c] = wanted
    elif _may(choice, c, HELD):
        choice.state[c] = HELD
    elif s == FORWARD and _may(choice, c, BACKWARD):
        choice.state[c] = BACKWARD
    elif s == BACKWARD and _may(choice, c, FORWARD):
        choice.state[c] = FORWARD


@piece
def judge(eq: Equations, wk: Work, choice: Choice) -> float:
    """By how much the present state of all channels misses its conditions; not above zero where it is admissible."""
    if solve_state(eq, wk, choice) == 0:
        return np.inf
    worst = -1.0
    for c in range(choice.count):
        worst = max(worst, _missed(eq, wk, choice, c))
    return worst


@compiled
def _start_afresh(choice):
    """Forces of nothing, but on the side of those that press."""
    for c in range(choice.count):
        choice.lam[c] = -1e-30 if choice.is_normal[c] > 0 else 0.0


@compiled
def _overload(eq, wk, choice):
    """How far the most heavily loaded of the sticking channels is loaded, as a share of what it can hold; how many."""
    worst, many = 0.0, 0
    for c in range(choice.count):
        if choice.is_normal[c] == 0 and choice.state[c] == HELD:
            most = wk.touch[eq.touches.at[choice.touch[c]] + MOST]
            worst = max(worst, abs(choice.lam[c]) / max(most, 1e-300))
            many += 1
    return worst, many


@compiled
def _shift_shares(eq, wk, choice, overload):
    """More for those that could hold more, in proportion."""
    largest = 0.0
    for c in range(choice.count):
        if choice.is_normal[c] == 0:
            if choice.state[c] == HELD:
                most = wk.touch[eq.touches.at[choice.touch[c]] + MOST]
                load = abs(choice.lam[c]) / max(most, 1e-300) / overload
                choice.weight[c] *= min(1.0 / max(load, 1e-300), 4.0)
            largest = max(largest, choice.weight[c])
    for c in range(choice.count):
        if choice.is_normal[c] == 0:
            choice.weight[c] = max(choice.weight[c] / max(largest, 1e-300), LEAST_SHARE)


@piece
def _share(eq: Equations, wk: Work, choice: Choice) -> float:
    """Let channels that stick together share what they hold so that all have room, if that can be: ``judge``."""
    worst = judge(eq, wk, choice)
    least, many = _overload(eq, wk, choice)
    first, choice.tight = least, 0
    if not worst < np.inf or many < 2 or least < ROOMY:
        return worst
    for c in range(choice.count):
        choice.kept[c] = choice.weight[c]
    overload, in_vain = least, 0
    for _ in range(SHARING):
        _shift_shares(eq, wk, choice, overload)
        _start_afresh(choice)  # (shares are those of what is found from nothing)
        if not judge(eq, wk, choice) < np.inf:
            break
        overload, many = _overload(eq, wk, choice)
        in_vain += 1
        if overload < (1.0 - 1e-6) * least:
            least, in_vain = overload, 0
            for c in range(choice.count):
                choice.kept[c] = choice.weight[c]
        if in_vain > 2 or least < ROOMY:
            break
    for c in range(choice.count):
        choice.weight[c] = choice.kept[c]
    _start_afresh(choice)
    worst = judge(eq, wk, choice)
    choice.tight = int(least > TIGHT and abs(overload - first) > 1e-6)  # (and shares make a difference)
    return worst


@piece
def _saturate(eq: Equations, wk: Work, choice: Choice) -> int:
    """Take the most heavily loaded of the sticking channels to be at its limit; 0 where that is not admissible.

    Only one that slides with the friction of sticking: any other would let go.
    """
    worst, which = 0.0, -1
    for c in range(choice.count):
        if choice.is_normal[c] == 0 and choice.state[c] == HELD:
            at = eq.touches.at[choice.touch[c]]
            load = abs(choice.lam[c]) / max(wk.touch[at + MOST], 1e-300)
            state = FORWARD if choice.lam[c] > 0.0 else BACKWARD
            lets_go = wk.touch[at + SLIDING] < (1.0 - 1e-12) * wk.touch[at + MOST]
            if load > worst and not lets_go and (choice.allowed[c] & _bit(state)) > 0:
                worst, which = load, c
    if which < 0:
        return 0
    choice.state[which] = FORWARD if choice.lam[which] > 0.0 else BACKWARD
    ends = judge(eq, wk, choice) <= 0.0
    if not ends:
        choice.state[which] = HELD
        judge(eq, wk, choice)
    return int(ends)


@piece
def _walk(eq: Equations, wk: Work, choice: Choice) -> int:
    """Change what is violated until nothing is: all at once at first, then only the first; whether that led to rest."""
    K = choice.count
    for attempt in range(6 * K + 6):
        worst = _share(eq, wk, choice) if attempt < K else judge(eq, wk, choice)
        if worst <= 0.0:
            if choice.tight > 0 and attempt < K and _saturate(eq, wk, choice) > 0:
                continue
            return 1
        if not worst < np.inf:
            return 0
        changed = False
        for c in range(K):
            if _missed(eq, wk, choice, c) > 0.0 and not (changed and attempt > 2 * K):
                _change(choice, c)
                changed = True
    return 0


@compiled
def _options(choice, e):
    """How many states an element may have."""
    n, s = choice.normal_of[e], choice.stick_of[e]
    slides = 0
    if s >= 0:
        slides = int(_may(choice, s, HELD)) + int(_may(choice, s, FORWARD)) + int(_may(choice, s, BACKWARD))
    if n < 0:
        return max(slides, 1)
    closed = (slides if s >= 0 else 1) if _may(choice, n, HELD) or _may(choice, n, DRIVEN) else 0
    return closed + int(_may(choice, n, OUT))


@compiled
def _put_option(choice, e, option):
    """An element's option by its number: closed and sticking first, open last."""
    n, s = choice.normal_of[e], choice.stick_of[e]
    if n >= 0:
        closed = _options(choice, e) - int(_may(choice, n, OUT))
        if option >= closed:
            choice.state[n] = OUT
            if s >= 0:
                choice.state[s] = OUT
            return
        choice.state[n] = DRIVEN if _may(choice, n, DRIVEN) else HELD
    if s >= 0:
        for state in (HELD, FORWARD, BACKWARD):
            if _may(choice, s, state):
                if option == 0:
                    choice.state[s] = state
                    return
                option -= 1


@compiled
def _states(choice):
    """How many states there are altogether."""
    total = 1.0
    for e in range(choice.involved.shape[0]):
        if choice.involved[e] > 0:
            total *= _options(choice, e)
    return total


@compiled
def _next_options(choice):
    """The next state in order; False behind the last."""
    for e in range(choice.involved.shape[0]):
        if choice.involved[e] > 0:
            choice.option[e] += 1
            if choice.option[e] < _options(choice, e):
                _put_option(choice, e, choice.option[e])
                return True
            choice.option[e] = 0
            _put_option(choice, e, 0)
    return False


@compiled
def _first_options(choice):
    for e in range(choice.involved.shape[0]):
        choice.option[e] = 0
        if choice.involved[e] > 0:
            _put_option(choice, e, 0)


@compiled
def _slipping(choice):
    """How many channels slide or are open although they might be held."""
    total = 0
    for c in range(choice.count):
        total += int(choice.state[c] != HELD and _may(choice, c, HELD))
    return total


@piece
def _go_through(eq: Equations, wk: Work, choice: Choice) -> int:
    """Of all states the admissible one in which most is held; 0 where there is none."""
    if _states(choice) > MOST_STATES:
        return 0
    found, fewest = False, 1 << 30
    _first_options(choice)
    while True:
        if _slipping(choice) < fewest:
            _start_afresh(choice)
            if judge(eq, wk, choice) <= 0.0:
                found, fewest = True, _slipping(choice)
                for c in range(choice.count):
                    choice.best[c] = choice.state[c]
        if not _next_options(choice):
            break
    if not found:
        return 0
    for c in range(choice.count):
        choice.state[c] = choice.best[c]
    return 1


@piece
def find(eq: Equations, wk: Work, choice: Choice) -> int:
    """An admissible state from the one at hand, with its multipliers and rates; 0 where there is none."""
    for c in range(choice.count):
        choice.best[c] = choice.state[c]
    if _walk(eq, wk, choice) > 0:
        return 1
    for c in range(choice.count):
        choice.state[c] = choice.best[c]
    for e in range(choice.involved.shape[0]):
        if choice.involved[e] > 0:
            _follow(choice, e)
    _start_afresh(choice)
    if _walk(eq, wk, choice) > 0:
        return 1
    if _go_through(eq, wk, choice) == 0:
        return 0
    _start_afresh(choice)
    return int(judge(eq, wk, choice) <= 0.0)


@piece
def prefer(eq: Equations, wk: Work, choice: Choice) -> int:
    """Whether the state at hand is the only admissible one, as far as all can be gone through.

    Of several the one with the least forces is taken: where friction makes a contact press itself the harder the more
    it presses, that is the one which is stable. Sliding from rest is judged with the friction of sticking here: that a
    joint at rest could go on sliding with less friction is no choice.
    """
    K, states = choice.count, _states(choice)
    if states > LOOKED_THROUGH or states < 2.0:
        return 1
    for c in range(K):
        choice.best[c], choice.spare[c] = choice.state[c], choice.state[c]
        choice.phase[c] = choice.lam[c]
    alone, least, first = 1, np.inf, True
    choice.static = 1
    _first_options(choice)
    while True:
        _start_afresh(choice)
        if judge(eq, wk, choice) <= 0.0:
            forces = 0.0
            for c in range(K):
                forces += (choice.lam[c] * choice.unit[c]) ** 2
                if first:
                    choice.before[c] = choice.y[c]
                elif abs(choice.y[c] - choice.before[c]) > 1e-6 * choice.size[c] * choice.unit[c]:
                    alone, choice.several_touch = 0, choice.touch[c]
            first = False
            if forces < 0.999 * least:
                least = forces
                for c in range(K):
                    choice.spare[c] = choice.state[c]
        if not _next_options(choice):
            break
    choice.static = 0
    if alone == 0:
        for c in range(K):
            choice.state[c] = choice.spare[c]
        _start_afresh(choice)
        if judge(eq, wk, choice) <= 0.0:
            return 0
    for c in range(K):
        choice.state[c] = choice.best[c]
        choice.lam[c] = choice.phase[c]
    loads(eq, wk, choice)
    _rates(choice)
    return alone


@piece
def weakest(eq: Equations, wk: Work, choice: Choice) -> int:
    """The touching element next to whose present state forces are not determined, or -1 where they all are."""
    solve_state(eq, wk, choice)
    found, least = -1, 1e-3
    for c in range(choice.count):
        if choice.state[c] in (FORWARD, BACKWARD):
            n = choice.normal_of[choice.touch[c]]
            _row_of_friction(eq, wk, choice, c)
            own = choice.matrix[c, c]
            if n >= 0:  # what a normal force does to its own gap, with the friction it makes
                own = (choice.A[n, n] - choice.matrix[c, n] * choice.A[n, c]) / choice.A[n, n]
            if own < least:
                found, least = choice.touch[c], own
    return found
