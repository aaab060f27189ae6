"""What differentiating a run is made of: directions and weights of states, pushed and pulled through its equations.

*Push* takes directions (per design parameter: how the state changes) forward, *pull* takes weights (per functional: how
it changes with the state) backward. Both end in the matrix that the motion itself ends in, with its factors: as it is
for directions, transposed for weights.
"""

from __future__ import annotations

import numpy as np

from kempe.kernels.call import call_kernel, call_vectors
from kempe.solvers import quasi_definite as qd
from kempe.solvers.directions import Directions, pull, push
from kempe.solvers.frames import Complexes, ComplexRows, Count, FloatBlocks, FloatRows, Floats, Frame, Real
from kempe.solvers.gauge import Gauge
from kempe.solvers.jit import compiled, piece
from kempe.solvers.motion import (
    Equations,
    State,
    Work,
    accelerations,
    evaluate,
    explicit_at,
    explicit_values,
    factor,
    fused,
    new_state,
    place_all,
)
from kempe.solvers.program import STATE, TIME
from kempe.solvers.tape import INSTANT
from kempe.solvers.vectors import copy

#: Stages that are kept of a step at most, and its end.
KEPT_STAGES = 13
#: What is mixed into a direction that is watched, as a share of it.
LITTLE = 1e-12


class Stages(Frame):
    """Memory for the stages of a step."""

    tangents: FloatRows
    values: Floats
    lu: Floats
    complex_values: Complexes
    complex_lu: Complexes
    complex_w: ComplexRows
    z: FloatRows  # of a direction: 3 rows of length N
    r: FloatRows  # what is left of its equations, then its correction
    known: FloatBlocks  # of a direction: per stage the parts of q, v, a that are known


def new_stages(eq: Equations) -> Stages:
    """Memory for a system."""
    n, N, size = eq.n, eq.n + eq.m, eq.plan.size_values
    return Stages(
        tangents=np.zeros((3, size)),
        values=np.zeros(size),
        lu=np.zeros(qd.size(eq.plan)),
        complex_values=np.zeros(size, dtype=complex),
        complex_lu=np.zeros(qd.size(eq.plan), dtype=complex),
        complex_w=np.zeros((3, N), dtype=complex),
        z=np.zeros((3, N)),
        r=np.zeros((3, N)),
        known=np.zeros((3, 3, n)),
    )


class Slopes(Frame):
    """Directions, weights, and the memory to push and pull them."""

    motion: Directions  # f, Phi''
    residual: Directions  # f, Phi
    stages: Directions  # f, Phi'
    velocity: Directions  # Phi, Phi'
    guards: Directions
    latches: Directions
    integrand: Gauge
    point: Gauge
    parameters: Floats  # the design parameters
    # per direction
    dx: FloatRows  # like x: numbers and kept values stay, the rest is put in
    dp: FloatRows  # of the design parameters
    dq: FloatRows
    dv: FloatRows
    dal: FloatRows
    dg: FloatRows  # of accelerations of the algorithm
    dt: Floats  # of an instant of switching
    flow: Floats  # like x: the direction of the motion itself
    none: Floats  # the same, of the design parameters
    end_q: Floats  # how the state at the end of a step, and integrals along it, change with its end
    end_v: Floats
    end_integral: Floats
    end_al: Floats
    end_g: Floats
    constants: Floats  # of the method
    kinks: Floats  # times at which forces have kinks, and steps end
    leaning: Real  # so long within a step that ends there derivatives are taken
    radau: Stages
    dintegral: FloatRows
    dpoint: FloatRows
    # per weight
    xbar: FloatRows
    pbar: FloatRows
    qbar: FloatRows
    vbar: FloatRows
    albar: FloatRows
    gbar: FloatRows
    tbar: Floats
    seed: FloatRows  # of the integrals
    point_seed: FloatRows
    integral: Floats  # values of integrals so far
    ends: Floats  # integrands where an integral ends
    doubts: FloatRows  # per row of the tape, where it is asked for: by how much two quadratures of integrals differ
    sizes: Floats  # integrals of the sizes of integrands
    strays: Floats  # per row of the tape, where it is asked for: what the last direction is off by, as a share of it
    reach: Floats  # how large that has been, in scales: positions and velocities
    anything: Floats  # n: numbers at random
    three_sums: Floats  # scratch
    five_sums: Floats
    # stages of a step: states, factors, and their directions or weights
    at: State
    q: FloatRows
    v: FloatRows
    al: FloatRows
    lu: FloatRows
    values: FloatRows
    first: FloatBlocks  # per direction or weight and stage: of the velocity, as a rate of positions
    second: FloatBlocks  # of the acceleration and multipliers
    # scratch
    out: Floats
    rhs: Floats
    solution: Floats
    correction: Floats
    remainder: Floats
    sweep: Floats
    one: Floats
    two: Floats
    three: Floats
    nothing: Floats
    sweeps: Count  # how often solutions are refined


@compiled
def put_direction(layout, dq, dv, dal, n, dt, dx):
    """Put the direction of a state into dx."""
    dx[TIME] = dt
    for i in range(n):
        dx[STATE + i] = dq[i]
        dx[STATE + n + i] = dv[i]
    for i in range(n + layout.m):
        dx[STATE + 2 * n + i] = dal[i]


@compiled
def collect(layout, xbar, qbar, vbar, albar, n):
    """Add the weights of a state, taken out of xbar; that of the time is returned."""
    for i in range(n):
        qbar[i] += xbar[STATE + i]
        vbar[i] += xbar[STATE + n + i]
    for i in range(n + layout.m):
        albar[i] += xbar[STATE + 2 * n + i]
    tbar = xbar[TIME]
    for i in range(STATE + 3 * n + layout.m):
        xbar[i] = 0.0
    return tbar


@compiled
def zero(a):
    """A = 0."""
    for i in range(a.shape[0]):
        a[i] = 0.0


@compiled
def add_scaled(a, factor, b):
    """A += factor b."""
    for i in range(a.shape[0]):
        a[i] += factor * b[i]


@compiled
def copy_some(source, target):
    """Target = as much of the source."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@compiled
def stir(eq, s, dq, dv):
    """How large the direction that is watched has been; and a little of everything is mixed into it.

    What it does not have by chance, other directions have by rounding, and steps that are too long let it grow.
    """
    for i in range(eq.n):
        s.reach[0] = max(s.reach[0], abs(dq[i]) / eq.scale[i])
        s.reach[1] = max(s.reach[1], abs(dv[i]) / eq.scale[i])
    for i in range(eq.n):
        dq[i] += LITTLE * s.anything[i] * s.reach[0] * eq.scale[i]
        dv[i] += LITTLE * s.anything[i] * s.reach[1] * eq.scale[i]


@compiled
def ends_at_switch(tape, row):
    """Whether a row of a tape is followed by an instant of switching."""
    return row + 1 < tape.kind.shape[0] and tape.kind[row + 1] == INSTANT


@compiled
def at_kink(s, t):
    """Whether a force has a kink at a time at which steps end."""
    found = False
    for k in range(s.kinks.shape[0]):
        found |= s.kinks[k] == t
    return found


@compiled
def lean(eq, s, row, by):
    """Move a state along the motion for a time, to one side of a kink; its accelerations are those of a row."""
    n, state = eq.n, s.at
    state.t += by
    for i in range(n):
        state.q[i] += by * state.v[i]
        state.v[i] += by * row[2 * n + i]


@compiled
def solve_along(eq, s, lu, values):
    """Solve for ``s.rhs`` with factors and the true matrix, into ``s.solution``."""
    N = eq.n + eq.m
    qd.solve(eq.plan, lu, s.rhs, s.solution, s.sweep)
    for _ in range(s.sweeps):
        if eq.whole.refining > 0:
            call_vectors(fused(eq, eq.whole.refining), (values, lu, s.rhs, s.solution, s.correction))
        else:
            for i in range(N):
                s.remainder[i] = s.rhs[i]
            qd.subtract_product(eq.plan, values, s.solution, s.remainder)
            qd.solve(eq.plan, lu, s.remainder, s.correction, s.sweep)
        if not _adds(eq, s):
            break


@compiled
def solve_against(eq, s, lu, values):
    """The same with the transposed matrix."""
    N = eq.n + eq.m
    solve_transposed(eq, lu, s.rhs, s.solution, s.sweep)
    for _ in range(s.sweeps):
        if eq.whole.refining_transposed > 0:
            call_vectors(fused(eq, eq.whole.refining_transposed), (values, lu, s.rhs, s.solution, s.correction))
        else:
            for i in range(N):
                s.remainder[i] = s.rhs[i]
            qd.subtract_transposed_product(eq.plan, values, s.solution, s.remainder)
            qd.solve_transposed(eq.plan, lu, s.remainder, s.correction, s.sweep)
        if not _adds(eq, s):
            break


@compiled
def solve_transposed(eq, lu, b, x, work):
    """X = K^-T b with the factors at hand (x must not be b)."""
    if eq.whole.solving_transposed > 0:
        call_vectors(fused(eq, eq.whole.solving_transposed), (lu, b, x))
    else:
        qd.solve_transposed(eq.plan, lu, b, x, work)


@compiled
def _adds(eq, s):
    """Add a correction; whether another one may be worth it."""
    change, size = 0.0, 0.0
    for i in range(eq.n + eq.m):
        change = max(change, abs(s.correction[i]))
        s.solution[i] += s.correction[i]
        size = max(size, abs(s.solution[i]))
    return change > 1e-14 * size


@piece
def solve_stage(eq: Equations, wk: Work, s: Slopes, state: State, k: int) -> int:
    """Accelerations of a state, and the factors of its matrix as those of stage k; 0 where that failed."""
    if evaluate(eq, wk, state) == 0 or not accelerations(eq, wk, state, 0.0, 1.0, s.sweeps) < np.inf:
        return 0
    if eq.loaded > 0:  # at the multipliers found at last
        explicit_at(eq, wk, state)
        if factor(eq, wk) == 0:
            return 0
    copy(wk.lu, s.lu[k])
    values = explicit_values(eq, wk)
    for i in range(s.values.shape[1]):
        s.values[k, i] = values[i]
    place_all(eq, wk, state)
    return 1


@compiled
def push_accelerations(eq, wk, s, k, dx, dq, dv, dt, dal):
    """How accelerations and multipliers of stage k, which is in the inputs, change along a direction.

    ``dx`` has its numbers and kept values; coordinates, rates and time are put in.
    """
    put_direction(eq.layout, dq, dv, s.nothing, eq.n, dt, dx)
    push(s.motion, wk.x, dx, s.out)
    for i in range(eq.n + eq.m):
        s.rhs[i] = -s.out[i]
    solve_along(eq, s, s.lu[k], s.values[k])
    for i in range(eq.n + eq.m):
        dal[i] = s.solution[i]


@compiled
def pull_accelerations(eq, wk, s, k, f, albar, qbar, vbar):
    """Weights of accelerations and multipliers of stage k, which is in the inputs, as weights of q and v, added.

    Returns the weight of the time.
    """
    copy(albar, s.rhs)
    solve_against(eq, s, s.lu[k], s.values[k])
    for i in range(eq.n + eq.m):
        s.out[i] = -s.solution[i]
    pull(s.motion, wk.x, s.out, s.xbar[f])
    return collect(eq.layout, s.xbar[f], qbar, vbar, s.remainder, eq.n)  # (what is left of a and lambda is in K)


@compiled
def gather(g, n, x, q, v, al, t, parameters, at):
    """Inputs of a gauge from all there is, from ``at`` on."""
    X, N = x.shape[0], al.shape[0]
    for k in range(g.place.shape[0]):
        i = g.place[k]
        if i < X:
            value = x[i]
        elif i < X + n:
            value = q[i - X]
        elif i < X + 2 * n:
            value = v[i - X - n]
        elif i < X + 2 * n + N:
            value = al[i - X - 2 * n]
        elif i == X + 2 * n + N:
            value = t
        else:
            value = parameters[i - X - 2 * n - N - 1]
        g.inputs[at + k] = value


@compiled
def read_gauge(g, wk, s, state):
    """The values of a gauge at a state that is in the inputs, into its outputs."""
    gather(g, state.q.shape[0], wk.x, state.q, state.v, state.al, state.t, s.parameters, 0)
    call_kernel(g.kernels.address_of[g.value], g.inputs, 0, g.outputs, 0)


@compiled
def push_gauge(g, wk, s, state, dx, dp, dq, dv, dal, n, dt, layout):
    """How the values of a gauge change along a direction, into its outputs."""
    put_direction(layout, dq, dv, dal, n, dt, dx)
    gather(g, state.q.shape[0], wk.x, state.q, state.v, state.al, state.t, s.parameters, 0)
    gather(g, n, dx, dq, dv, dal, dt, dp, g.place.shape[0])
    call_kernel(g.kernels.address_of[g.push], g.inputs, 0, g.outputs, 0)


@compiled
def pull_gauge(g, wk, s, state, f, weights, factor, qbar, vbar, albar):
    """Weights of a gauge's values as weights of the state, added; that of the time is returned."""
    W, X, n, N = g.place.shape[0], wk.x.shape[0], state.q.shape[0], state.al.shape[0]
    gather(g, state.q.shape[0], wk.x, state.q, state.v, state.al, state.t, s.parameters, 0)
    for k in range(g.size):
        g.inputs[W + k] = factor * weights[k]
    call_kernel(g.kernels.address_of[g.pull], g.inputs, 0, g.outputs, 0)
    tbar = 0.0
    for k in range(W):
        i, value = g.place[k], g.outputs[k]
        if i < X:
            s.xbar[f, i] += value
        elif i < X + n:
            qbar[i - X] += value
        elif i < X + 2 * n:
            vbar[i - X - n] += value
        elif i < X + 2 * n + N:
            albar[i - X - 2 * n] += value
        elif i == X + 2 * n + N:
            tbar += value
        else:
            s.pbar[f, i - X - 2 * n - N - 1] += value
    return tbar


def new_slopes(
    eq: Equations,
    x: np.ndarray,
    directions: dict[str, Directions],
    integrand: Gauge,
    point: Gauge,
    parameters: np.ndarray,
    count: int,
    weights: int,
    sweeps: int,
    kinks: np.ndarray,
    leaning: float,
    doubts: int = 0,
    strays: int = 0,
) -> Slopes:
    """Memory for so many directions, or weights; ``doubts``, ``strays``: for those of so many rows."""
    n, N, X, P = eq.n, eq.n + eq.m, len(x), len(parameters)
    widest = max(N, 2 * eq.m, n, *(d.size for d in directions.values()))
    size = eq.plan.size_values
    most = max(count + 1, weights)
    return Slopes(
        **directions,
        integrand=integrand,
        point=point,
        parameters=parameters,
        **{name: np.zeros((count, size_)) for name, size_ in (("dx", X), ("dp", P), ("dq", n), ("dv", n), ("dal", N))},
        dg=np.zeros((count, n)),
        dt=np.zeros(count),
        flow=np.zeros(X),
        none=np.zeros(P),
        end_q=np.zeros(n),
        end_v=np.zeros(n),
        end_integral=np.zeros(integrand.size),
        end_al=np.zeros(N),
        end_g=np.zeros(n),
        constants=np.zeros(4),
        kinks=kinks,
        leaning=leaning,
        radau=new_stages(eq),
        dintegral=np.zeros((count, integrand.size)),
        dpoint=np.zeros((count, point.size)),
        **{name: np.zeros((weights, s)) for name, s in (("xbar", X), ("pbar", P), ("qbar", n), ("vbar", n))},
        albar=np.zeros((weights, N)),
        gbar=np.zeros((weights, n)),
        tbar=np.zeros(weights),
        seed=np.zeros((weights, integrand.size)),
        point_seed=np.zeros((weights, point.size)),
        integral=np.zeros(integrand.size),
        ends=np.zeros(integrand.size),
        doubts=np.zeros((doubts, integrand.size)),
        sizes=np.zeros(integrand.size),
        strays=np.zeros(strays),
        reach=np.zeros(2),
        anything=np.random.default_rng(0).uniform(-1.0, 1.0, n),
        three_sums=np.zeros(integrand.size),
        five_sums=np.zeros(integrand.size),
        at=new_state(n, eq.m),
        **{name: np.zeros((KEPT_STAGES, s)) for name, s in (("q", n), ("v", n), ("al", N), ("values", size))},
        lu=np.zeros((KEPT_STAGES, qd.size(eq.plan))),
        first=np.zeros((most, KEPT_STAGES, n)),
        second=np.zeros((most, KEPT_STAGES, N)),
        out=np.zeros(widest),
        **{name: np.zeros(N) for name in ("rhs", "solution", "correction", "remainder", "sweep")},
        **{name: np.zeros(N) for name in ("one", "two", "three", "nothing")},
        sweeps=sweeps,
    )
