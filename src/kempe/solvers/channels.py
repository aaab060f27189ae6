"""Channels: what touches as a small dense system, in which forces are found for given modes.

Every gap that is closed and every joint that rubs is a *channel*: a constraint row with a multiplier. With all other
constraints in force, rates of the channels depend on their multipliers linearly, y = y0 + A lambda, and so do the
multipliers of all other rows, on which friction may depend. So a state of the channels (closed or open, stick, forward
or backward) is judged in a small dense system, by Newton's method because of friction that depends on loads:

- closed: y = 0 and lambda <= 0; open: lambda = 0 and y >= 0;
- stick: y = 0 and |lambda| <= most; forward: lambda = sliding and y >= 0; backward: lambda = -sliding and y <= 0.

Where y are accelerations the multipliers are forces; in an impact y are velocities over a fictitious time and the
multipliers impulses. ``choice`` looks for a state in which all conditions hold.
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
#: The softness of channels that hold the same thing, as a share of their own flexibility.
SOFT = 1e-9
#: Residuals of a state, as a share of the forces in play, and rounding of all forces in the units of these.
EXACT, ROUNDING = 1e-14, 1e-5
#: Impulses are so strong that given loads are nothing beside them.
STRONG = 1e18
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
    seen: Ints  # the states it has had in an impact, as bits
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
    paradox: Count  # 1 where a contact opened next to Painleve's paradox: when, and which
    paradox_at: Real
    paradox_touch: Count
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
    channel_ints = ("touch", "row", "is_normal", "allowed", "at_rest", "state", "best", "spare", "poisson", "seen")
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
def let(choice, c, state):
    """Allow a channel a state."""
    choice.allowed[c] |= 1 << state


@compiled
def sign_of(state):
    """The direction of sliding."""
    return 1.0 if state == FORWARD else -1.0


@compiled
def _limit(choice, c):
    """Which friction a sliding channel has: with ``static``, from rest, that of sticking."""
    return MOST if choice.static > 0 and choice.at_rest[c] > 0 else SLIDING


@compiled
def rates_of(choice):
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
def row_of_friction(eq, wk, choice, c):
    """The residual lambda -+ friction of a sliding channel, and its derivatives by all channels."""
    touches, e, M = eq.touches, choice.touch[c], choice.matrix
    sign, limit, at = sign_of(choice.state[c]), _limit(choice, c), touches.at[e]
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
        rates_of(choice)
        worst = 0.0
        for c in range(K):
            s, unit, size = choice.state[c], choice.unit[c], choice.size[c]
            if s in (FORWARD, BACKWARD):
                row_of_friction(eq, wk, choice, c)
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
