"""The course of a simulation: its state, the step to take next, what was written down, and how integrators are called.

An integrator is four functions of (equations, work space, course, its own memory, a number) that return a code:

- ``begin``: start afresh from ``course.now`` (at the start, after a switch);
- ``step(h)``: try a step of length h; the new state goes to ``course.next``, its error to ``course.error``;
- ``close(h)``: the step was accepted (``course.before`` and ``course.now`` are its ends) or, with a negative number,
  refused; either way ``course.step`` becomes what to try next;
- ``inside(theta)``: the state at a share of the last step, into ``course.inside``.

They are called by address, so that the driver is compiled once for all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from kempe.solvers.channels import Choice, new_choice
from kempe.solvers.frames import Count, FloatRows, Floats, Frame, Ints, Real
from kempe.solvers.jit import PLAIN, _numbers, compiled
from kempe.solvers.motion import Equations, State, Work, beside, new_state
from kempe.solvers.tape import Tape, no_tape

REACHED, PAUSE, FAILED, SINGULAR, RUNAWAY, STIFFNESS, EVENTS_FULL, STOPPED = range(8)
CHATTERING, RESELECT, UNSETTLED, PASSED, CRAWLS, INADMISSIBLE = range(8, 14)

#: Where constraints depend on each other, Newton's first corrections move the multipliers by much and the positions by
#: little, back and forth: so often they may grow.
PATIENCE = 3
#: Newton's corrections below this that do not fall any more, so many times, are rounding.
ROUNDING, STUCK = 1e-11, 2
#: The largest turn within a step, in radians, of bodies that guards depend on.
TURN = 1.0
#: So deep intervals are split within each other; two more rows of that stack are scratch.
DEEPEST = 46
#: Near singular positions so many states are kept, and polynomials through them have so many terms.
KEPT, TERMS = 24, 14
#: A step is looked at in so many places for its weakest one.
SAMPLES = 8
#: So many places where steps were refused again and again are kept.
SPOTS = 8
#: How many sets of modes have a step remembered.
REMEMBERED = 64


class Outputs(Frame):
    """The points of the output grid."""

    grid: Floats
    t: Floats  # as the grid, but for a last point where an event stops the run
    q: FloatRows
    v: FloatRows
    al: FloatRows
    e: FloatRows  # kinetic, of gravity, elastic, dissipated, supplied, constraint violation
    written: Count


class Log(Frame):
    """The switches met: the oldest are taken out by the caller when there is no more room."""

    t: Floats
    switch: Ints
    mode: Ints  # the mode entered
    state: FloatRows  # rows: q, v, [a, lambda] behind the switch, end to end
    impulse: FloatRows  # rows: impulses of the constraints at that instant
    lost: Floats  # the energy that the jumps of that instant took, with its first event
    followed: FloatRows  # rows: of an element that comes back to its first mode what was followed on the way
    count: Count


class Watch(Frame):
    """Guards along a step; values, rates and second rates of all G guards stand behind each other in rows of 3 G."""

    start: Floats  # at the start of the step
    end: Floats  # at its end
    left: Floats  # at the left end of the interval looked at
    stack: FloatRows  # at right ends of intervals still to be looked at, the nearest last
    theta: Floats  # their places in the step
    near: Floats  # scratch
    taken: Ints  # per switch: 1 where it is taken now
    fired: Floats  # per switch: when it was last taken
    interval: Floats  # per switch: how long before that the time before was
    earlier: Floats  # per switch: the interval before that
    remembered: Floats  # by sets of modes: the step that the first one in them has led to, or the last if it was longer
    restitution: Floats  # per constraint row: restitution of the jump, or -1 where it does not jump
    kick: Floats  # per coordinate: impulse of known size
    slack: Floats  # per switch: what its guard may be below zero until it has been clear of it
    went: Ints  # per switch: 1 where it passed in the last round
    armed: Count  # 1 where rates at the start of the step are not those at the end of the step before
    solved: Count  # 1 where some guard of the present modes depends on multipliers or accelerations
    jumps: Count  # 1 where switches taken at this instant make velocities jump
    entered: Count  # 1 until the first step in the present modes is made


class Trail(Frame):
    """What is followed of elements that are out of their first mode (``solvers.following``)."""

    samples: FloatRows  # at the quarters of a step
    so_far: Floats  # the largest values, and the integrals of rates


class Passage(Frame):
    """How sound the constraints are, states of the motion where they are not, and a crossing (``solvers.crossing``)."""

    # per row that is watched
    row: Ints
    place: Ints  # of its pivot among the factors
    sound: Floats  # the largest pivot seen
    now: Floats  # the arc sine of the root of its pivot over the largest, after the last step
    before: Floats  # the same after the step before
    landing: Floats  # that root behind a crossing
    # states kept, in a ring
    t: Floats
    q: FloatRows
    v: FloatRows
    al: FloatRows
    s: Floats  # how sound the weakest row was
    # polynomials nearest to the last of them
    coefficients: FloatRows  # per coordinate
    rates: FloatRows  # the same for velocities, where they have polynomials of their own
    Q: FloatRows  # orthogonal polynomials on the data, and how they are made of Legendre's
    R: FloatRows
    base: FloatRows  # values and derivatives at a time
    weight: Floats  # of the data
    change: Floats  # what each term changes
    middle: Real  # of the time they are for, and half its length
    half: Real
    samples: FloatRows  # pivots of the watched rows at places within a step
    depth: Floats  # per watched row: how near to zero its pivot comes, by its neighbourhood, and when
    lowest_at: Floats
    found: Floats  # times within a step at which pivots are zero, and of which watched rows
    found_row: Ints
    # the singular positions met, until the caller takes them out
    met_t: Floats
    met_row: Ints
    met_q: FloatRows
    met_v: FloatRows
    met: Count
    kept: Count  # how many states have been kept
    count: Count  # how many of them the polynomials are made of
    terms: Count  # how many terms are taken
    origin: Real  # when the crossing starts
    instant: Real  # when the position is singular
    singular: Count  # how many times within the crossing it is
    ahead: Real  # how far ahead in time the next singular position seems, or inf
    weak: Real  # how sound the row is that makes it so
    weak_row: Count  # its number among those watched
    bound: Real  # the longest step that does not come too near, nor jumps across unseen
    doubt: Real  # the doubt that was left when a crossing was last refused
    sound_now: Real  # how sound the weakest row is
    rest: Real  # for how long nothing can come near, so that fixed steps need not be looked at
    since: Real  # how long ago the last look was
    near: Count  # 1 where the singular position is to be crossed however short the step
    tried: Count  # 1 where a crossing has been tried from the present state
    off: Count  # 1 where nothing is to be watched
    own_factors: Count  # 1 where the integrator leaves the factors of the new state behind
    rough: Count  # 1 where its velocities and accelerations are less accurate than positions


class Spots(Frame):
    """Where the step control had to shorten steps a lot: states next to what may be a jump in a force or law."""

    t: Floats
    q: FloatRows
    v: FloatRows
    count: Count


class Course(Frame):
    """The state of a run, and what was written down."""

    now: State
    before: State  # the state at the start of the last step
    next: State  # the state that a step leads to
    inside: State  # a state within the last step
    edge_before: State  # the ends of the last step with true accelerations, for interpolation
    edge_now: State
    beside: Work  # the work space with other factors, for points within steps, so that those of the step survive
    watch: Watch
    choice: Choice
    trail: Trail
    passage: Passage
    outputs: Outputs
    log: Log
    spots: Spots
    tape: Tape
    powers: FloatRows  # dissipated and supplied, at the quarters of the last step
    # what the caller decides
    begun: Real  # where the run begins
    end: Real  # where it ends
    tolerance: Real
    fixed: Real  # a fixed step, or 0
    largest: Real  # the largest step allowed
    smallest: Real  # a step that must be smaller than this is a failure
    order: Real  # of the method
    refinements: Count  # how often accelerations are refined
    audit: Count  # 1: work is accumulated; 2: and depends on multipliers, of constraints that move or loads that rub
    redundant: Count  # 1 where constraints depend on each other
    budget: Count  # steps left before the caller wants to look up
    # what happens
    step: Real  # the step to try next
    error: Real  # of the last step, in tolerances
    rate: Real  # the fastest motion of late, in sizes per time
    slowest: Real  # the rate that counts at rest
    energy: Real  # the largest kinetic energy of late
    least_energy: Real  # the kinetic energy that counts at rest
    violation: Real  # the largest constraint violation seen at the end of a step
    pushed: Real  # how far a projection moved velocities at most, in tolerances, and when
    pushed_at: Real
    stiff: Real  # signs of stiffness; below zero: not looked for
    last_switch: Real  # when the last switch was met
    fresh: Count  # 1 at the start and after a switch, 2 behind a singular position: the integrator begins afresh
    crossing: Count  # 1 while the last step is one across a singular position
    own_work: Count  # 1 where the integrator accumulates work itself
    rough: Count  # 1 where guards are watched along steps with accelerations less accurate than the motion
    steps: Count
    rejected: Count
    evaluations: Count
    factorisations: Count
    refused: Count  # how often the step at hand has been refused
    crowded: Count  # how many instants of switching followed each other without progress
    culprit: Count  # the switch that does not come to rest
    # the integrator: addresses of its functions and of its memory
    begin_at: Count
    step_at: Count
    close_at: Count
    inside_at: Count
    memory_at: Count
    # what looks for switches after a step, and settles modes at the start (compiled only where something switches)
    after_step_at: Count
    settle_at: Count
    touch_at: Count  # what chooses the modes of all that touches, behind impacts
    accumulate_at: Count  # what adds up work, for integrators that do not
    # what watches for singular positions, crosses them, is the motion within, and goes on behind (0: nothing watches)
    keep_at: Count
    cross_at: Count
    along_at: Count
    tell_at: Count
    find_at: Count


def _new_passage(eq: Equations, loops: bool) -> Passage:
    """Memory for crossings; nothing is watched where constraints cannot lose rank on the way."""
    n, m, watched = eq.n, eq.m, eq.m if loops else 0
    place = np.zeros(n + m, dtype=np.int64)
    place[eq.plan.order] = eq.plan.diagonal
    room, kept = (64, KEPT) if watched else (0, 0)
    return Passage(
        row=np.arange(watched),
        place=place[n : n + watched].copy(),
        **{name: np.zeros(watched) for name in ("sound", "now", "before", "landing")},
        t=np.zeros(kept),
        q=np.zeros((kept, n)),
        v=np.zeros((kept, n)),
        al=np.zeros((kept, n + m)),
        s=np.zeros(kept),
        coefficients=np.zeros((n if watched else 0, TERMS)),
        rates=np.zeros((n if watched else 0, TERMS)),
        Q=np.zeros((3 * kept, TERMS)),
        R=np.zeros((TERMS, TERMS)),
        base=np.zeros((3, TERMS)),
        weight=np.zeros(3 * kept),
        change=np.zeros(TERMS),
        samples=np.zeros((SAMPLES, watched)),
        depth=np.zeros(watched),
        lowest_at=np.zeros(watched),
        found=np.zeros(4),
        found_row=np.zeros(4, dtype=np.int64),
        met_t=np.zeros(room),
        met_row=np.zeros(room, dtype=np.int64),
        met_q=np.zeros((room, n)),
        met_v=np.zeros((room, n)),
        ahead=np.inf,
        bound=np.inf,
    )


def new_course(eq: Equations, wk: Work, grid: np.ndarray, room: int, loops: bool, tape: Tape | None = None) -> Course:
    """Empty memory for a run with room for so many events; ``loops``: constraints can lose rank on the way."""
    n, m, K, G = eq.n, eq.m, len(grid), len(eq.hybrids.owner)
    N = n + m
    room = room + 8 * G
    followed, widest = eq.followed.size_out, int(np.diff(eq.follows.at).max(initial=0))
    now, before = new_state(n, m), new_state(n, m)
    return Course(
        now=now,
        before=before,
        edge_now=State(q=now.q, v=now.v, al=np.zeros(N)),
        edge_before=State(q=before.q, v=before.v, al=np.zeros(N)),
        next=new_state(n, m),
        inside=new_state(n, m),
        beside=beside(wk),
        watch=Watch(
            *(np.zeros(3 * G) for _ in range(3)),
            np.zeros((DEEPEST + 2, 3 * G)),
            np.zeros(DEEPEST + 2),
            np.zeros(3 * G),
            np.zeros(G, dtype=np.int64),
            np.full(G, -np.inf),
            np.full(G, np.inf),
            np.full(G, np.inf),
            np.zeros(REMEMBERED),
            np.zeros(max(m, 1)),
            np.zeros(n),
            np.zeros(G),
            np.zeros(G, dtype=np.int64),
        ),
        choice=new_choice(eq),
        trail=Trail(samples=np.zeros((5, max(1, followed))), so_far=np.zeros(max(1, followed))),
        passage=_new_passage(eq, loops),
        outputs=Outputs(
            grid=grid,
            t=np.zeros(K),
            q=np.zeros((K, n)),
            v=np.zeros((K, n)),
            al=np.zeros((K, N)),
            e=np.zeros((K, 6)),
        ),
        log=Log(
            t=np.zeros(room),
            switch=np.zeros(room, dtype=np.int64),
            mode=np.zeros(room, dtype=np.int64),
            state=np.zeros((room, 2 * n + N)),
            impulse=np.zeros((room, max(m, 1))),
            lost=np.zeros(room),
            followed=np.zeros((room, widest)),
        ),
        spots=Spots(t=np.zeros(SPOTS), q=np.zeros((SPOTS, n)), v=np.zeros((SPOTS, n))),
        tape=no_tape() if tape is None else tape,
        powers=np.zeros((2, 5)),
    )


if PLAIN:
    memories: dict[int, Any] = {}

    def call(address: int, eq: Any, wk: Any, course: Any, memory: int, number: float) -> int:
        """Call a function of the integrator."""
        return int(_numbers[address](eq, wk, course, memories[memory], number))

else:

    @intrinsic
    def call(_: Any, address: Any, eq: Any, wk: Any, course: Any, memory: Any, number: Any) -> Any:  # type: ignore[no-redef]
        """Call a function of the integrator."""
        signature = types.int64(types.int64, eq, wk, course, types.int64, types.float64)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer, whole = ir.IntType(8).as_pointer(), ir.IntType(64)
            kinds = [pointer, pointer, pointer, pointer, ir.DoubleType()]
            function = builder.inttoptr(args[0], ir.FunctionType(whole, kinds).as_pointer())
            memory_at = builder.inttoptr(args[4], pointer)
            return builder.call(function, [args[1], args[2], args[3], memory_at, args[5]])

        return signature, codegen


def remember(memory: Frame) -> int:
    """The number by which compiled code finds an integrator's memory."""
    if PLAIN:
        memories[memory.address] = memory
    return memory.address


@compiled
def refinements(course):
    """How often accelerations are refined where the motion is written down."""
    return max(4, course.refinements)


@compiled
def modes_number(eq, wk):
    """A number for the present set of modes."""
    number = 1469598103
    mode_at = eq.hybrids.mode_at
    for e in range(mode_at.shape[0]):
        number = (number * 16777619 + int(wk.x[mode_at[e]]) + 1) % 2305843009213693951
    return number


@compiled
def first_step(eq, course, state):
    """A cautious first step from velocities and accelerations."""
    rate = 0.0
    for i in range(eq.n):
        rate = max(rate, abs(state.v[i]) / eq.scale[i], np.sqrt(abs(state.al[i]) / eq.scale[i]))
    # at rest, one size in the whole time is what a velocity error is measured by
    course.slowest = 1.0 / max(course.end - course.begun, 1e-300)
    course.rate = max(course.rate, rate, course.slowest)
    cautious = 0.1 * course.tolerance ** (1.0 / course.order) / rate if rate > 0.0 else 1e-3 * course.largest
    return min(course.largest, cautious)


@compiled
def close_enough(course, h):
    """How far Newton's corrections of positions must fall, in sizes: velocities and accelerations show them over h.

    Where rounding does not let them fall so far, ``ROUNDING`` will do.
    """
    pace = min(1.0, course.rate * h)
    return max(min(1e-11, 1e-3 * course.tolerance) * pace * pace, 2e-15)


@compiled
def in_tolerances(course, error, order, noise):
    """An error of a step in units of what is allowed so that the sum of all is about the tolerance.

    Steps are as long as tolerance^(1 / order), so their number is the inverse of that; rounding must stay below.
    """
    return error / max(course.tolerance ** (1.0 + 1.0 / order), min(course.tolerance, noise))


@compiled
def choose_step(course, h, error, order, most):
    """The next step of an implicit method after one of length h; small changes are not worth a new matrix."""
    if course.fixed == 0.0:
        grow = 0.9 * max(error, 1e-8) ** (-1.0 / order)
        course.step = h * min(most, max(0.3, grow)) if grow > 1.2 or grow < 1.0 else h
