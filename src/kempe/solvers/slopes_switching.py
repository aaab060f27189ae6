"""Directions and weights through the instants of switching.

The instant t* at which a guard g falls through zero moves with the parameters: dt* = -dg / g'. From ``INSTANT`` to
``SETTLED`` directions are those of the states at that moving instant, ds + s' dt*; before and behind, with the rates s'
of the modes there, at a time that stays. Together with jumps this is the saltation of hybrid systems.
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
    read_gauge,
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
def _keep_values(s):
    """Keep what the integrands are at one end of an integral whose end moves."""
    for k in range(s.integrand.size):
        s.ends[k] = s.integrand.outputs[k]


@compiled
def _guard_rate(eq, wk, s, state, c):
    """How fast the guard of a switch changes along the motion at stage 0, which is in the inputs."""
    push_accelerations(eq, wk, s, 0, s.flow, state.v, state.al, 1.0, s.three)
    put_direction(eq.layout, state.v, state.al, s.three, eq.n, 1.0, s.flow)
    push(s.guards, wk.x, s.flow, s.out)
    return s.out[c]


@piece
def push_instant(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """How the instant moves along each direction, and directions of the state at it."""
    c, state = tape.switch[row], s.at
    take_state(tape.start[row], state)
    state.t = tape.t[row, 0]
    if solve_stage(eq, wk, s, state, 0) == 0:
        return 0
    rate = _guard_rate(eq, wk, s, state, c) if c >= 0 else 0.0
    read_gauge(s.integrand, wk, s, state)
    _keep_values(s)
    for d in range(s.dq.shape[0]):
        project_direction(eq, wk, s, 0, d)
        s.dt[d] = 0.0
        if rate != 0.0:
            push_accelerations(eq, wk, s, 0, s.dx[d], s.dq[d], s.dv[d], 0.0, s.three)
            put_direction(eq.layout, s.dq[d], s.dv[d], s.three, eq.n, 0.0, s.dx[d])
            push(s.guards, wk.x, s.dx[d], s.out)
            s.dt[d] = -s.out[c] / rate
        add_scaled(s.dintegral[d], s.dt[d], s.ends)
        for i in range(eq.n):
            s.dq[d, i] += state.v[i] * s.dt[d]
            s.dv[d, i] += state.al[i] * s.dt[d]
    return 1


@piece
def pull_instant(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """The same backward."""
    c, state = tape.switch[row], s.at
    take_state(tape.start[row], state)
    state.t = tape.t[row, 0]
    if solve_stage(eq, wk, s, state, 0) == 0:
        return 0
    rate = _guard_rate(eq, wk, s, state, c) if c >= 0 else 0.0
    read_gauge(s.integrand, wk, s, state)
    _keep_values(s)
    for f in range(s.qbar.shape[0]):
        s.tbar[f] += dot(s.seed[f], s.ends)
        for i in range(eq.n):
            s.tbar[f] += s.qbar[f, i] * state.v[i] + s.vbar[f, i] * state.al[i]
        if rate != 0.0:
            for k in range(s.guards.size):
                s.out[k] = 0.0
            s.out[c] = -s.tbar[f] / rate
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
    """Directions at a time that stays, behind all switches of an instant."""
    state = s.at
    take_state(tape.start[row], state)
    state.t = tape.t[row, 0]
    if solve_stage(eq, wk, s, state, 0) == 0:
        return 0
    read_gauge(s.integrand, wk, s, state)
    _keep_values(s)
    for d in range(s.dq.shape[0]):
        add_scaled(s.dintegral[d], -s.dt[d], s.ends)
        add_scaled(s.dq[d], -s.dt[d], state.v)
        for i in range(eq.n):
            s.dv[d, i] -= s.dt[d] * state.al[i]
        s.dt[d] = 0.0
        project_direction(eq, wk, s, 0, d)
    return 1


@piece
def pull_settled(eq: Equations, wk: Work, s: Slopes, tape: Tape, row: int) -> int:
    """The same backward."""
    state = s.at
    take_state(tape.start[row], state)
    state.t = tape.t[row, 0]
    if solve_stage(eq, wk, s, state, 0) == 0:
        return 0
    read_gauge(s.integrand, wk, s, state)
    _keep_values(s)
    for f in range(s.qbar.shape[0]):
        project_weight(eq, wk, s, 0, f)
        s.tbar[f] = -dot(s.seed[f], s.ends)
        for i in range(eq.n):
            s.tbar[f] -= s.qbar[f, i] * state.v[i] + s.vbar[f, i] * state.al[i]
    return 1
