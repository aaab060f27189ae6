"""The state of all channels that holds: which contacts close, which joints stick, which way they slide.

A state whose conditions all hold (``channels``) is *admissible*. It is sought by changing what is violated, and where
that does not lead to one, by going through all states. Channels that hold the same thing, as joints of one loop that
all stick do, share it so that all have room, if that can be.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.channels import (
    BACKWARD,
    DRIVEN,
    FORWARD,
    HELD,
    OUT,
    Choice,
    loads,
    rates_of,
    row_of_friction,
    sign_of,
    solve_state,
)
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import MOST, SLIDING, Equations, Work

#: Conditions may be missed by this share of the forces in play.
SLIGHT = 1e-10
#: What a guard said to slide or open needs this much room to be found sticking or closed again, or else less than the
#: second share of a force the other way.
ROOM, AGAINST = 1e-7, 4e-7
#: So many states are gone through at most; up to so many, whether another one is admissible too.
MOST_STATES, LOOKED_THROUGH = 60_000, 243
#: So often the shares of channels that stick together are changed; none gets less than this share.
SHARING, LEAST_SHARE = 40, 1e-2
#: Where none is loaded by more than this share of what it can hold, shares are left as they are; where all are loaded
#: by more than the second, some are taken to be at their limits, so that it is known when the last of them slides.
ROOMY, TIGHT = 0.7, 0.999


@compiled
def _missed(eq, wk, choice, c):
    """By how much a channel misses its condition, as a share of the forces in play; not above zero where it holds."""
    s, e, unit, size = choice.state[c], choice.touch[c], choice.unit[c], choice.size[c]
    y, lam = choice.y[c] / unit / size, choice.lam[c] * unit / size
    if choice.is_normal[c] > 0:
        if choice.allowed[c] in (1 << HELD, 1 << OUT):  # (there is no choice)
            return -1.0
        if s == HELD:  # (what is pressed by nothing is open)
            return lam + (SLIGHT if choice.parts[e] == 0 else ROOM)
        return -y - (SLIGHT if choice.parts[e] == 0 else AGAINST) if s == OUT else -1.0
    if s == HELD:
        most = wk.touch[eq.touches.at[e] + MOST] * unit / size
        return abs(lam) - most + (ROOM * most if choice.slides[e] > 0 else -SLIGHT)
    if s in (FORWARD, BACKWARD) and choice.at_rest[c] > 0:
        return -sign_of(s) * y - (SLIGHT if choice.slides[e] == 0 else AGAINST)
    return -1.0


@compiled
def _may(choice, c, state):
    return (choice.allowed[c] & (1 << state)) > 0


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
            if load > worst and not lets_go and (choice.allowed[c] & (1 << state)) > 0:
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
    rates_of(choice)
    return alone


@piece
def weakest(eq: Equations, wk: Work, choice: Choice, least: float) -> int:
    """The sliding element whose friction all but takes back what its normal force does to it, or -1 where none does."""
    solve_state(eq, wk, choice)
    for c in range(choice.count):  # (on the side of forces that press)
        if choice.is_normal[c] > 0 and choice.lam[c] >= 0.0:
            choice.lam[c] = -1e-30
    loads(eq, wk, choice)
    found = -1
    for c in range(choice.count):
        if choice.state[c] in (FORWARD, BACKWARD):
            n = choice.normal_of[choice.touch[c]]
            row_of_friction(eq, wk, choice, c)
            own = choice.matrix[c, c]
            if n >= 0:  # what a normal force does to its own gap, with the friction it makes
                own = (choice.A[n, n] - choice.matrix[c, n] * choice.A[n, c]) / choice.A[n, n]
            if own < least:
                found, least = choice.touch[c], own
    return found
