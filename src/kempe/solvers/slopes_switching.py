"""Directions and weights through the instants of switching.

The instant t* at which a guard g falls through zero moves with the parameters: dt* = -dg / g'. From there on directions
are those of the states at the moving instant, until the step behind it has led to a time that stays. Together with
jumps this is the saltation of hybrid systems, for the steps as they are.
"""

from __future__ import annotations

from kempe.solvers.directions import pull, push
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import Equations, Work, place_all, set_rows
from kempe.solvers.slopes import (
    Slopes,
    add_scaled,
    collect,
    pull_accelerations,
    push_accelerations,
    put_direction,
    solve_stage,
    zero,
)
from kempe.solvers.slopes_runge_kutta import project_direction, project_weight
from kempe.solvers.tape import Tape, take_state
from kempe.solvers.vectors import dot


@compiled
def put_modes(eq, wk, tape, row, behind):
    """Put the modes and kept values before or behind switches into the inputs."""
    z_at = tape.z_at
    Z = z_at.shape[0]
    for i in range(Z):
        wk.x[z_at[i]] = tape.more[row, behind * Z + i]
    set_rows(eq, wk)


@compiled
def _arrive(eq, wk, s, tape, row):
    """Put the state at an instant into the inputs, solved and factored as stage 0; 0 where that failed."""
    take_state(tape.start[row], s.at)
    s.at.t = tape.t[row, 0]
    return solve_stage(eq, wk, s, s.at, 0)


@compiled
def _guard_along(eq, wk, s, c, dx, dq, dv, dt):
    """How the guard of a switch changes along a direction of the state at stage 0."""
    push_accelerations(eq, wk, s, 0, dx, dq, dv, dt, s.three)
    put_direction(eq.layout, dq, dv, s.three, eq.n, dt, dx)
    push(s.guards, wk.x, dx, s.out)
    return s.out[c]


@piece
def push_instant(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """How the instant moves along each direction, and directions of the state at it."""
    c = tape.switch[row]
    if _arrive(eq, wk, s, tape, row) == 0:
        return 0
    project_direction(eq, wk, s, 0, s.flow, s.end_q, s.end_v, 1.0)
    rate = _guard_along(eq, wk, s, c, s.flow, s.end_q, s.end_v, 1.0)
    for d in range(s.dq.shape[0]):
        project_direction(eq, wk, s, 0, s.dx[d], s.dq[d], s.dv[d], 0.0)
        s.dt[d] = -_guard_along(eq, wk, s, c, s.dx[d], s.dq[d], s.dv[d], 0.0) / rate
        add_scaled(s.dintegral[d], s.dt[d], s.end_integral)
        add_scaled(s.dq[d], s.dt[d], s.end_q)
        add_scaled(s.dv[d], s.dt[d], s.end_v)
    return 1


@piece
def pull_instant(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """The same backward; how the state changes with the instant is in ``s.end_q`` and ``s.end_v``."""
    c = tape.switch[row]
    if _arrive(eq, wk, s, tape, row) == 0:
        return 0
    project_direction(eq, wk, s, 0, s.flow, s.end_q, s.end_v, 1.0)
    rate = _guard_along(eq, wk, s, c, s.flow, s.end_q, s.end_v, 1.0)
    for f in range(s.qbar.shape[0]):
        moves = s.tbar[f] + dot(s.seed[f], s.end_integral)
        moves += dot(s.qbar[f], s.end_q) + dot(s.vbar[f], s.end_v)
        for k in range(s.guards.size):
            s.out[k] = 0.0
        s.out[c] = -moves / rate
        pull(s.guards, wk.x, s.out, s.xbar[f])
        zero(s.three)
        collect(eq.layout, s.xbar[f], s.qbar[f], s.vbar[f], s.three, eq.n)
        pull_accelerations(eq, wk, s, 0, f, s.three, s.qbar[f], s.vbar[f])
        s.tbar[f] = 0.0
        project_weight(eq, wk, s, 0, f)
    return 1


@piece
def push_take(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Directions of the values that are kept from switches on; then the modes behind them."""
    h, Z, state = eq.hybrids, tape.z_at.shape[0], s.at
    take_state(tape.start[row], state)
    state.t = tape.t[row, 0]
    place_all(eq, wk, state)
    for d in range(s.dq.shape[0]):
        put_direction(eq.layout, s.dq[d], s.dv[d], s.nothing, eq.n, s.dt[d], s.dx[d])
        push(s.latches, wk.x, s.dx[d], s.out)
        for c in range(h.owner.shape[0]):
            if tape.more[row, 2 * Z + c] > 0.0:
                e = h.owner[c]
                for k in range(h.kept[e]):
                    s.dx[d, h.mode_at[e] + 1 + k] = s.out[h.kept_at[c] + k]
    put_modes(eq, wk, tape, row, 1)
    return 1


@piece
def pull_take(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """The same backward."""
    h, Z, state = eq.hybrids, tape.z_at.shape[0], s.at
    put_modes(eq, wk, tape, row, 0)
    take_state(tape.start[row], state)
    state.t = tape.t[row, 0]
    place_all(eq, wk, state)
    for f in range(s.qbar.shape[0]):
        for k in range(s.latches.size):
            s.out[k] = 0.0
        some = False
        for c in range(h.owner.shape[0]):
            if tape.more[row, 2 * Z + c] > 0.0:
                e = h.owner[c]
                for k in range(h.kept[e]):
                    at = h.mode_at[e] + 1 + k
                    s.out[h.kept_at[c] + k] = s.xbar[f, at]
                    some |= s.xbar[f, at] != 0.0
                    s.xbar[f, at] = 0.0
        if some:
            pull(s.latches, wk.x, s.out, s.xbar[f])
            s.tbar[f] += collect(eq.layout, s.xbar[f], s.qbar[f], s.vbar[f], s.three, eq.n)
    return 1


@piece
def push_settled(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """Directions brought to the constraints that hold behind all switches of an instant."""
    if _arrive(eq, wk, s, tape, row) == 0:
        return 0
    for d in range(s.dq.shape[0]):
        project_direction(eq, wk, s, 0, s.dx[d], s.dq[d], s.dv[d], s.dt[d])
    return 1


@piece
def pull_settled(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """The same backward."""
    if _arrive(eq, wk, s, tape, row) == 0:
        return 0
    for f in range(s.qbar.shape[0]):
        s.tbar[f] += project_weight(eq, wk, s, 0, f)
    return 1
