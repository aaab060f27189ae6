"""The tape of a run: its accepted steps and its switches, in order, for whoever differentiates it afterwards.

A row has a kind, the times and the states at both ends of what it stands for, and more where the kind needs it:

- ``STEP``: a step of Runge-Kutta, ``NEWMARK``, ``RADAU``: of these; ``more`` is what the integrator keeps for it
  (accelerations of the algorithm, stages); ``OTHER``: of one that is not differentiated;
- ``INSTANT``: the instant at which a guard falls through zero, in the modes before;
- ``TAKE``: switches taken at one instant; ``more`` has modes and kept values before and behind, and which switches;
- ``JUMP``: velocities that jump then; ``more`` has per constraint row what it does and its restitution, and which of
  the rows that are not always in force act;
- ``SETTLED``: the state behind all switches of an instant;
- ``ACROSS``: a step across a singular position.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.frames import Count, FloatRows, Floats, Frame, Ints
from kempe.solvers.jit import compiled
from kempe.solvers.motion import Equations

STEP, INSTANT, TAKE, JUMP, SETTLED, ACROSS, NEWMARK, RADAU, OTHER = range(9)
#: What a row does in a jump: it does nothing; its rate is reversed by its restitution (others hold: with none); its
#: impulse is that of sliding forward or backward; what it does is not known in closed form.
STILL, THROWN, SLID_FORWARD, SLID_BACKWARD, UNKNOWN = range(5)
#: A loop of the driver writes at most this many rows less four per round of switches.
ROOM = 420


class Tape(Frame):
    """Rows, and where they are kept in memory until the caller takes them out."""

    kind: Ints
    t: FloatRows  # per row: where it begins and ends
    start: FloatRows  # per row: q, v, [a, lambda]
    end: FloatRows
    more: FloatRows
    switch: Ints  # of an instant: the switch that decides it; of a step: 1 where the integrator had begun afresh
    stops: Floats  # times at which a step has to end, increasing, the last one infinite
    z_at: Ints  # where x has the modes, the kept values and the rows in force of all that switches
    count: Count
    next_stop: Count  # the first of those that lies ahead
    taking: Count  # the row of the switches that are being taken
    method: Count  # the kind of its steps
    began: Count  # 1 where the integrator has begun afresh since the last step
    on: Count  # 1 where it is written


def no_tape() -> Tape:
    """Nothing is written down."""
    ints, rows = np.zeros(0, dtype=np.int64), np.zeros((0, 0))
    return Tape(ints, rows, rows, rows, rows, ints, np.full(1, np.inf), ints)


def new_tape(eq: Equations, z_at: np.ndarray, stops: np.ndarray, rows: int, more: int) -> Tape:
    """Memory for so many rows; ``more`` is how much an integrator keeps per step."""
    n, N = eq.n, eq.n + eq.m
    more = max(more, 2 * len(z_at) + len(eq.hybrids.owner), 2 * eq.m + len(eq.hybrids.row), 1)
    rows = max(rows, 2 * ROOM)
    return Tape(
        kind=np.zeros(rows, dtype=np.int64),
        t=np.zeros((rows, 2)),
        start=np.zeros((rows, 2 * n + N)),
        end=np.zeros((rows, 2 * n + N)),
        more=np.zeros((rows, more)),
        switch=np.zeros(rows, dtype=np.int64),
        stops=np.append(stops, np.inf),
        z_at=z_at,
        on=1,
    )


@compiled
def put_state(state, row):
    """Q, v, [a, lambda] end to end."""
    n = state.q.shape[0]
    for i in range(n):
        row[i] = state.q[i]
        row[n + i] = state.v[i]
    for i in range(state.al.shape[0]):
        row[2 * n + i] = state.al[i]


@compiled
def take_state(row, state):
    """The same back."""
    n = state.q.shape[0]
    for i in range(n):
        state.q[i] = row[i]
        state.v[i] = row[n + i]
    for i in range(state.al.shape[0]):
        state.al[i] = row[2 * n + i]


@compiled
def note_step(course, kind):
    """Write an accepted step down; what the integrator keeps for it is in its row already."""
    tape = course.tape
    k = tape.count
    tape.kind[k] = kind
    tape.t[k, 0], tape.t[k, 1] = course.before.t, course.now.t
    put_state(course.before, tape.start[k])
    put_state(course.now, tape.end[k])
    tape.switch[k] = tape.began
    tape.began = 0
    tape.count = k + 1


@compiled
def cut_step(course):
    """The step written down last ends earlier, at the present state, and began afresh."""
    tape = course.tape
    k = tape.count - 1
    tape.t[k, 1] = course.now.t
    put_state(course.now, tape.end[k])
    tape.switch[k] = 1


@compiled
def note_here(wk, course, kind, switch):
    """Write down that something happens at the present state; modes and kept values stand in front of ``more``."""
    tape = course.tape
    k, z_at = tape.count, tape.z_at
    tape.kind[k] = kind
    tape.t[k, 0] = tape.t[k, 1] = course.now.t
    put_state(course.now, tape.start[k])
    put_state(course.now, tape.end[k])
    tape.switch[k] = switch
    for i in range(z_at.shape[0]):
        tape.more[k, i] = wk.x[z_at[i]]
    tape.count = k + 1
    if kind == TAKE:
        tape.taking = k


@compiled
def note_behind(wk, course):
    """The switches being taken led to the present state: modes and kept values, and which went, follow."""
    tape, watch = course.tape, course.watch
    k, z_at, Z = tape.taking, tape.z_at, tape.z_at.shape[0]
    put_state(course.now, tape.end[k])
    for i in range(Z):
        tape.more[k, Z + i] = wk.x[z_at[i]]
    for c in range(watch.went.shape[0]):
        tape.more[k, 2 * Z + c] = watch.went[c]


@compiled
def note_jump(eq, wk, course):
    """Write down that velocities are about to jump; what rows do and the velocities behind are put in later."""
    tape, m = course.tape, eq.m
    k = tape.count
    tape.kind[k] = JUMP
    tape.t[k, 0] = tape.t[k, 1] = course.now.t
    put_state(course.now, tape.start[k])
    tape.switch[k] = 0
    for i in range(m):
        tape.more[k, i] = STILL
        tape.more[k, m + i] = 0.0
    for c in range(eq.hybrids.row.shape[0]):
        tape.more[k, 2 * m + c] = wk.x[eq.hybrids.row_at[c]]
    tape.count = k + 1
