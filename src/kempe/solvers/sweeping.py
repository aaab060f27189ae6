"""The two sweeps over a tape: directions forward, weights backward, row by row."""

from __future__ import annotations

from kempe.solvers import slopes_newmark as nm
from kempe.solvers import slopes_radau as radau
from kempe.solvers import slopes_runge_kutta as rk
from kempe.solvers import slopes_switching as switching
from kempe.solvers.jit import piece
from kempe.solvers.motion import Equations, State, Work
from kempe.solvers.slopes import (
    Slopes,
    collect,
    pull_accelerations,
    pull_gauge,
    push_accelerations,
    push_gauge,
    read_gauge,
    solve_stage,
    zero,
)
from kempe.solvers.tape import INSTANT, NEWMARK, RADAU, SETTLED, STEP, TAKE, Tape


@piece
def _push_step(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Push directions through a step."""
    if tape.kind[row] == NEWMARK:
        return nm.push_step(eq, wk, s, tape, row)
    if tape.kind[row] == RADAU:
        return radau.push_step(eq, wk, s, tape, row)
    return rk.push_step(eq, wk, s, tape, row)


@piece
def push_rows(eq: Equations, wk: Work, s: Slopes, tape: Tape, first: int, last: int) -> int:
    """Push directions through rows first..last - 1; the row that is a jump or failed, or last."""
    for row in range(first, last):
        kind, done = tape.kind[row], 0
        if kind in (STEP, NEWMARK, RADAU):
            done = _push_step(eq, wk, s, tape, row)
        elif kind == INSTANT:
            done = switching.push_instant(eq, wk, s, tape, row)
        elif kind == TAKE:
            done = switching.push_take(eq, wk, s, tape, row)
        elif kind == SETTLED:
            done = switching.push_settled(eq, wk, s, tape, row)
        if done == 0:
            return row
    return last


@piece
def pull_rows(eq: Equations, wk: Work, s: Slopes, tape: Tape, first: int, last: int) -> int:
    """Pull weights through rows last - 1..first; the row that is a jump or failed, or first - 1."""
    for row in range(last - 1, first - 1, -1):
        kind, done = tape.kind[row], 0
        if kind == STEP:
            done = rk.pull_step(eq, wk, s, tape, row)
        elif kind == NEWMARK:
            done = nm.pull_step(eq, wk, s, tape, row)
        elif kind == RADAU:
            done = radau.pull_step(eq, wk, s, tape, row)
        elif kind == INSTANT:
            done = _push_step(eq, wk, s, tape, row - 1)  # (how the state changes with the instant)
            if done > 0:
                done = switching.pull_instant(eq, wk, s, tape, row)
        elif kind == TAKE:
            done = switching.pull_take(eq, wk, s, tape, row)
        elif kind == SETTLED:
            done = switching.pull_settled(eq, wk, s, tape, row)
        if done == 0:
            return row
    return first - 1


@piece
def project_on(eq: Equations, wk: Work, s: Slopes, state: State) -> int:
    """Bring all directions to the constraints at a state; 0 where that failed."""
    if solve_stage(eq, wk, s, state, 0) == 0:
        return 0
    for d in range(s.dq.shape[0]):
        rk.project_direction(eq, wk, s, 0, s.dx[d], s.dq[d], s.dv[d], 0.0)
    return 1


@piece
def project_back(eq: Equations, wk: Work, s: Slopes, state: State) -> int:
    """The same for weights."""
    if solve_stage(eq, wk, s, state, 0) == 0:
        return 0
    for f in range(s.qbar.shape[0]):
        rk.project_weight(eq, wk, s, 0, f)
    return 1


@piece
def push_point(eq: Equations, wk: Work, s: Slopes, state: State) -> int:
    """Values of the point gauge at a state, into its outputs, and how they change along every direction."""
    if solve_stage(eq, wk, s, state, 0) == 0:
        return 0
    for d in range(s.dq.shape[0]):
        push_accelerations(eq, wk, s, 0, s.dx[d], s.dq[d], s.dv[d], s.dt[d], s.dal[d])
        push_gauge(s.point, wk, s, state, s.dx[d], s.dp[d], s.dq[d], s.dv[d], s.dal[d], eq.n, s.dt[d], eq.layout)
        for k in range(s.point.size):
            s.dpoint[d, k] = s.point.outputs[k]
    read_gauge(s.point, wk, s, state)
    return 1


@piece
def pull_point(eq: Equations, wk: Work, s: Slopes, state: State) -> int:
    """Weights of the point gauge's values (``s.point_seed``) at a state, added to those of the state."""
    if solve_stage(eq, wk, s, state, 0) == 0:
        return 0
    albar = s.three
    for f in range(s.qbar.shape[0]):
        zero(albar)
        s.tbar[f] += pull_gauge(s.point, wk, s, state, f, s.point_seed[f], 1.0, s.qbar[f], s.vbar[f], albar)
        s.tbar[f] += collect(eq.layout, s.xbar[f], s.qbar[f], s.vbar[f], albar, eq.n)
        s.tbar[f] += pull_accelerations(eq, wk, s, 0, f, albar, s.qbar[f], s.vbar[f])
    return 1
