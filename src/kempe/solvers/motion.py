"""Equations of motion in compiled form, f(q, v, a, t, lambda) = 0 and Phi(q, t) = 0, and what integrators need of them.

Accelerations with multipliers, projections to the constraints, jumps and Newton corrections all end in the same matrix
(``quasi_definite``). Vectors of length N = n + m hold n entries for the coordinates and m for the constraint rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kempe.kernels.call import call_vectors
from kempe.solvers import quasi_definite as qd
from kempe.solvers.frames import Count, Floats, Frame, Ints, Real
from kempe.solvers.jit import compiled, pasted, piece, rare
from kempe.solvers.pack import window
from kempe.solvers.program import (
    Layout,
    Program,
    load,
    load_accelerations,
    load_late_tables,
    load_multipliers,
    load_rates,
    run,
    size_arguments,
)
from kempe.solvers.vectors import copy, largest

#: Shift of the multiplier block, as a fraction of Phi_q M^-1 Phi_q^T.
SHIFT = 1e-11
#: The most that rows which share what they hold are softened to, as such a fraction.
SOFTEST = 1e-6


#: A switch behind which nothing is known: the run ends there, whatever else is due.
AT_ITS_END = 2


class Hybrids(Frame):
    """The elements that switch, their switches, the rows that depend on modes, and the jumps."""

    # per switching element
    mode_at: Ints  # where its mode is in x; the values it keeps follow
    first_mode_at: Ints  # where its first mode is among the latches
    kept: Ints  # how many values it keeps
    first_switch: Ints  # its switches are first_switch..end_switch - 1
    end_switch: Ints
    # per switch
    owner: Ints  # its element
    source: Ints  # the mode it leads out of
    target: Ints  # the mode it leads to
    limit: Ints  # the mode that a sequence of ever shorter intervals ends in, or -1
    stops: Ints  # 1 where the run ends, AT_ITS_END where it cannot go on
    jumps: Ints  # 1 where velocities jump
    solved: Ints  # 1 where its guard depends on multipliers or accelerations
    kept_at: Ints  # where the values it keeps are among the latches
    # per row that is not always in force
    row: Ints
    row_at: Ints  # where x says whether it is
    row_mode_at: Ints  # where x has the mode that decides
    row_modes: Ints  # the modes in which it is, as bits
    # per row that acts impulsively at a switch
    impulse_switch: Ints
    impulse_row: Ints
    impulse_condition: Ints  # its number among the rows not always in force, or -1
    restitution_at: Ints  # where its restitution is among the jumps
    # per coordinate that gets a known impulse at a switch
    kick_switch: Ints
    kick_coordinate: Ints
    kick_at: Ints
    tested: Ints  # the coordinates that are angles and that guards depend on
    swift: Ints  # per switch: 1 where its guard depends on rates, whose second rates are not known
    toucher: Ints  # per switch: the number of its element among those that touch, or -1


class Touches(Frame):
    """The elements that touch: contacts that close, joints that rub. A mode that there is not is -1."""

    # per touching element
    element: Ints  # its number among the elements that switch
    mode_at: Ints  # where its mode is in x
    open: Ints  # its modes: open; closed or sticking; sliding forward and backward
    closed: Ints
    forward: Ints
    backward: Ints
    normal: Ints  # the constraint row of its gap, or -1
    stick: Ints  # the row that holds it where it sticks, or -1
    normal_at: Ints  # where x says whether these rows are in force
    stick_at: Ints
    gap_guard: Ints  # its switches that watch the gap, sliding forward and sliding backward, or -1
    forward_guard: Ints
    backward_guard: Ints
    at: Ints  # where its values are among those of the program ``touch`` (see TOUCH_VALUES)
    first_lam: Ints  # the rows whose multipliers its friction may depend on are lam_row[first_lam[k]:first_lam[k + 1]]
    lam_row: Ints


class Follows(Frame):
    """The elements that are followed while they are out of their first mode (``solvers.following``)."""

    mode_at: Ints  # per element: where its mode is in x
    at: Ints  # its values are at[k]..at[k + 1] - 1 of those of the program ``followed``
    largest: Ints  # of so many of them, the first, the largest counts; of the others the integral
    follower: Ints  # per switch: the number of its element among these, or -1


#: What the program ``touch`` has of each: these, then the derivatives of ``most`` and of ``sliding`` by multipliers.
GAP, APPROACH, SLIP, MOST, SLIDING, RESTITUTION, POISSON, TOUCH_VALUES = range(8)


class Whole(Frame):
    """Functions that do several things at once (``fusing``): one more than their numbers, 0 where there is none."""

    evaluating: Count  # x, shift -> outputs of the explicit program, factors
    accelerating: Count  # x, shift -> accelerations with multipliers, a number where they could be had
    refining: Count  # values, factors, right-hand side, solution -> its change
    solving_transposed: Count  # factors, right-hand side -> solution with the transposed matrix
    refining_transposed: Count  # values, factors, right-hand side, solution -> its change
    projecting: Count  # x, factors -> Phi, correction
    stepping: Count  # x, shift -> outputs of the tangent program, factors
    iterating: (
        Count  # x, factors, units -> x after an iteration of Newton's method, how far it went, how far off it was
    )

    def __reduce__(self) -> Any:
        return Whole, ()  # (fused code stays in its process)


class Equations(Frame):
    """What a motion has to satisfy."""

    layout: Layout
    plan: qd.Plan
    whole: Whole
    residual: Program
    tangent: Program
    explicit: Program
    value: Program
    velocity: Program
    canonical: Program
    energy: Program
    guards: Program
    latches: Program
    jumps: Program
    touch: Program
    followed: Program
    hybrids: Hybrids
    touches: Touches
    follows: Follows
    jacobian_row: Ints  # entries of Phi_q
    jacobian_column: Ints
    right_row: Ints  # entries of Phi_q^T - Q_lambda, where it has values of its own: coordinate, constraint row
    right_column: Ints
    mirror: Ints  # per such entry: the value that Phi_q^T alone would have
    diagonal: Ints  # places of the diagonal of the upper block among the values
    n: Count
    m: Count
    upper: Count  # how many values the upper block has
    renewal: Real  # what a new matrix of a step costs, in iterations of Newton's method
    loaded: Count  # 1 where applied forces depend on multipliers
    scale: Floats  # per coordinate: what counts as a movement of size one
    row_scale: Floats  # per row: what counts as a violation of size one
    units: Floats  # N: the reciprocals of both
    compliance: Floats  # per row in force: what stands in the multiplier block
    share: Floats  # per row: a factor of it, by which rows that hold the same thing share it
    step_compliance: Floats  # the same for the matrix of an implicit step
    flexible: Floats  # per row: its share of Phi_q M^-1 Phi_q^T, which stands there where a row is not in force
    shift: Floats  # N, added to the diagonal of the linear system
    step_shift: Floats  # the same for the matrix of an implicit step


class State(Frame):
    """A state of motion: time, position, velocity, accelerations with multipliers, work done so far."""

    t: Real
    q: Floats
    v: Floats
    al: Floats  # N: accelerations, then multipliers
    dissipated: Real
    supplied: Real


def new_state(n: int, m: int) -> State:
    """An empty state."""
    return State(q=np.zeros(n), v=np.zeros(n), al=np.zeros(n + m))


class Work(Frame):
    """Scratch memory of one run, and the inputs of its kernels."""

    x: Floats  # inputs of all kernels; modes and latched values live here
    y: Floats
    out: Floats
    lu: Floats
    e: Floats  # energies and powers: kinetic, of gravity, elastic, dissipated, supplied
    told: Floats  # single numbers that functions tell besides
    rhs: Floats  # N: the right-hand side of a linear system
    correction: Floats  # N: its solution by ``solve``
    solution: Floats  # N: its solution by ``solve_refined``
    residual: Floats  # N
    change: Floats  # N
    sweep: Floats  # N: scratch of factorisation and solution
    rate: Floats  # m
    phi: Floats  # m
    latches: Floats
    jumps: Floats
    touch: Floats


def new_work(eq: Equations, x: np.ndarray) -> Work:
    """Scratch memory; x holds the numbers of the elements (a copy is taken: modes are kept in it)."""
    programs = [program for program in eq.fields().values() if isinstance(program, Program)]
    N = eq.n + eq.m
    return Work(
        x.copy(),
        np.zeros(max(1, size_arguments(eq.layout), *(p.size_y for p in programs))),
        np.zeros(max(1, *(p.size_out for p in programs))),
        np.zeros(qd.size(eq.plan)),
        np.zeros(5),
        np.zeros(4),
        *(np.zeros(N) for _ in range(8)),
        np.zeros(max(1, eq.latches.size_out)),
        np.zeros(max(1, eq.jumps.size_out)),
        np.zeros(max(1, eq.touch.size_out)),
    )


def beside(wk: Work) -> Work:
    """The same inputs with factors and vectors of their own."""
    own = ("lu", "rhs", "correction", "solution", "residual", "change", "sweep", "rate", "phi")
    return wk.changed(**{name: np.zeros_like(getattr(wk, name)) for name in own})


@compiled
def copy_state(source, target):
    """Target = source."""
    target.t = source.t
    copy(source.q, target.q)
    copy(source.v, target.v)
    copy(source.al, target.al)
    target.dissipated = source.dissipated
    target.supplied = source.supplied


@compiled
def _place(eq, wk, state):
    load(eq.layout, state.q, state.t, wk.x, wk.y)
    load_rates(eq.layout, state.v, wk.x)
    if eq.loaded > 0:
        load_multipliers(eq.layout, window(state.al, eq.n, eq.n + eq.m), wk.x)
    load_late_tables(eq.layout, wk.x, wk.y)


@piece
def place(eq: Equations, wk: Work, state: State) -> int:
    """Put a state into the inputs, with its multipliers where forces depend on them."""
    _place(eq, wk, state)
    return 1


@piece
def place_all(eq: Equations, wk: Work, state: State) -> int:
    """Put a state with accelerations and multipliers into the inputs."""
    load(eq.layout, state.q, state.t, wk.x, wk.y)
    load_rates(eq.layout, state.v, wk.x)
    load_accelerations(eq.layout, state.al, wk.x)
    load_multipliers(eq.layout, window(state.al, eq.n, eq.n + eq.m), wk.x)
    load_late_tables(eq.layout, wk.x, wk.y)
    return 1


@piece
def run_program(program: Program, wk: Work) -> int:
    """Evaluate a program on the inputs, into ``wk.out``."""
    run(program, wk.x, wk.y, wk.out)
    return 1


@pasted
def fused(eq, number):
    """The address of a function that does several things at once."""
    return eq.plan.kernels.address_of[number - 1]


@pasted
def explicit_values(eq, wk):
    """The values of [M, Phi_q^T - Q_lambda; Phi_q, 0] after the explicit program has run."""
    return window(wk.out, eq.n + 3 * eq.m, wk.out.shape[0])


@piece
def add_rates(eq: Equations, wk: Work, state: State, sign: float) -> int:
    """Add sign * Phi_q v to ``wk.rate``, after the explicit program has run."""
    row, column, at, v, rate = eq.jacobian_row, eq.jacobian_column, eq.n + 3 * eq.m + eq.upper, state.v, wk.rate
    for k in range(row.shape[0]):
        rate[row[k]] += sign * wk.out[at + k] * v[column[k]]
    return 1


@piece
def factor(eq: Equations, wk: Work) -> int:
    """Factor the matrix whose values the explicit program left, with the shift; 0 when that failed."""
    return int(qd.factor(eq.plan, explicit_values(eq, wk), eq.shift, wk.lu, wk.sweep))


@piece
def factor_step(eq: Equations, wk: Work) -> int:
    """Factor the matrix whose values the tangent program left, with the shift of a step; 0 when that failed."""
    values = window(wk.out, eq.n + eq.m, wk.out.shape[0])
    return int(qd.factor(eq.plan, values, eq.step_shift, wk.lu, wk.sweep))


@piece
def solve(eq: Equations, wk: Work) -> int:
    """Solve for ``wk.rhs`` with the factors at hand, into ``wk.correction``."""
    qd.solve(eq.plan, wk.lu, wk.rhs, wk.correction, wk.sweep)
    return 1


@piece
def solve_refined(eq: Equations, wk: Work, sweeps: int) -> float:
    """Solve for ``wk.rhs``, then refine with the true matrix until it no longer helps, into ``wk.solution``.

    The true matrix is the one whose values the explicit program left, without the shift. Returns how much the first
    refinement changed the upper part, relative to its size.
    """
    plan, rhs, sol, r, d = eq.plan, wk.rhs, wk.solution, wk.residual, wk.correction
    N = eq.n + eq.m
    qd.solve(plan, wk.lu, rhs, sol, wk.sweep)
    last, first = np.inf, 0.0
    for sweep in range(sweeps):
        if eq.whole.refining > 0:
            call_vectors(fused(eq, eq.whole.refining), (explicit_values(eq, wk), wk.lu, rhs, sol, d))
        else:
            for i in range(N):
                r[i] = rhs[i]
            qd.subtract_product(plan, explicit_values(eq, wk), sol, r)
            qd.solve(plan, wk.lu, r, d, wk.sweep)
        size, change = 1e-300, 0.0
        for i in range(eq.n):
            size = max(size, abs(sol[i]) / eq.scale[i])
            change = max(change, abs(d[i]) / eq.scale[i])
        if sweep == 0:
            first = change / size
        if not change < 0.5 * last:
            break
        for i in range(N):
            sol[i] += d[i]
        last = change
        if change < 1e-15 * size:
            break
    return first


@piece
def explicit_at(eq: Equations, wk: Work, state: State) -> int:
    """Run the explicit program at a state."""
    place(eq, wk, state)
    run_program(eq.explicit, wk)
    return 1


@piece
def evaluate(eq: Equations, wk: Work, state: State) -> int:
    """Run the explicit program at a state and factor its matrix; 0 when that failed (called most: no pieces)."""
    _place(eq, wk, state)
    if eq.whole.evaluating > 0:
        call_vectors(fused(eq, eq.whole.evaluating), (wk.x, eq.shift, wk.out, wk.lu))
        return int(qd.sound(eq.plan, wk.lu))
    run(eq.explicit, wk.x, wk.y, wk.out)
    return factor(eq, wk)


@piece
def accelerate(eq: Equations, wk: Work, state: State, omega: float, damping: float, sweeps: int) -> int:
    """Accelerations and multipliers of a state, of which nothing else need be left behind; 0 where there are none."""
    number = eq.whole.accelerating
    if sweeps == 0 and omega == 0.0 and number > 0:
        _place(eq, wk, state)
        call_vectors(fused(eq, number), (wk.x, eq.shift, state.al, wk.told))
        return int(np.isfinite(wk.told[0]))
    return int(evaluate(eq, wk, state) > 0 and accelerations(eq, wk, state, omega, damping, sweeps) < np.inf)


@compiled
def _right_hand_side(eq, wk, state, omega, damping):
    """[Q, gamma - 2 damping omega Phi' - omega^2 Phi] after the explicit program has run."""
    n, m, rhs = eq.n, eq.m, wk.rhs
    for i in range(n):
        rhs[i] = -wk.out[i]
    for k in range(m):
        rhs[n + k] = wk.out[n + 2 * m + k]
    if omega > 0.0:
        for k in range(m):
            wk.rate[k] = -wk.out[n + m + k]
        add_rates(eq, wk, state, 1.0)
        for k in range(m):
            rhs[n + k] -= 2.0 * damping * omega * wk.rate[k] + omega * omega * wk.out[n + k]


#: So often a force that depends on multipliers is evaluated again.
LOAD_ITERATIONS = 40


@rare
def _solve_loaded(eq: Equations, wk: Work, state: State, omega: float, damping: float, sweeps: int) -> float:
    """Newton's method for accelerations and multipliers where forces depend on the latter; inf where it fails."""
    n, m, at = eq.n, eq.m, eq.upper + eq.jacobian_row.shape[0]
    last = np.inf
    for iteration in range(LOAD_ITERATIONS):
        values = explicit_values(eq, wk)
        _right_hand_side(eq, wk, state, omega, damping)
        depends = False
        for k in range(eq.right_row.shape[0]):
            slope = values[at + k] - values[eq.mirror[k]]
            depends |= slope != 0.0 or state.al[n + eq.right_column[k]] == 0.0  # (at zero a size has no slope)
            wk.rhs[eq.right_row[k]] += slope * state.al[n + eq.right_column[k]]
        for k in range(m):
            wk.change[k] = state.al[n + k]
        first = solve_refined(eq, wk, sweeps)
        for i in range(n + m):
            state.al[i] = wk.solution[i]
        size, change = 1e-300, 0.0
        for k in range(m):
            unit = np.sqrt(eq.flexible[k])
            size = max(size, abs(state.al[n + k]) * unit)
            change = max(change, abs(state.al[n + k] - wk.change[k]) * unit)
        if not change < np.inf:
            return np.inf
        # (the error left is the square of the last change; there is none where nothing depends on loads at present)
        if not depends or change <= 1e-8 * size or (iteration > 1 and change < 1e-11 * size and change > 0.5 * last):
            return first
        last = change
        explicit_at(eq, wk, state)
        if factor(eq, wk) == 0:
            return np.inf
    return np.inf


@piece
def accelerations(eq: Equations, wk: Work, state: State, omega: float, damping: float, sweeps: int) -> float:
    """Solve for the accelerations and multipliers of a state at which the equations were evaluated.

    Constraint violations are stabilised with Phi'' + 2 damping omega Phi' + omega^2 Phi = 0. With ``sweeps`` = 0 the
    shift is not taken out again: the penalty method. Returns how much refinement changed; inf where they cannot be had.
    """
    if eq.loaded > 0:
        return _solve_loaded(eq, wk, state, omega, damping, sweeps)
    _right_hand_side(eq, wk, state, omega, damping)
    first = solve_refined(eq, wk, sweeps)
    for i in range(eq.n + eq.m):
        state.al[i] = wk.solution[i]
    return first


@piece
def solve_state(eq: Equations, wk: Work, state: State, sweeps: int) -> int:
    """The accelerations and multipliers of a consistent state; 0 when they cannot be had."""
    if evaluate(eq, wk, state) == 0:
        return 0
    return int(accelerations(eq, wk, state, 0.0, 1.0, sweeps) < np.inf)


@compiled
def violation(eq, phi):
    """The largest constraint violation, in row sizes; NaN is kept."""
    worst = largest(phi, window(eq.units, eq.n, eq.n + eq.m))
    return worst if worst == worst else np.inf


@piece
def violation_at(eq: Equations, wk: Work, state: State) -> float:
    """The largest constraint violation of a state, in row sizes."""
    load(eq.layout, state.q, state.t, wk.x, wk.y)
    run(eq.value, wk.x, wk.y, wk.phi)
    return violation(eq, wk.phi)


@piece
def project_position(eq: Equations, wk: Work, state: State, limit: float) -> float:
    """Move q to the constraints with the factors at hand; the violation that is left (inf: moved beyond ``limit``)."""
    n, m, q, projecting = eq.n, eq.m, state.q, eq.whole.projecting  # (which another thread may switch on)
    last, moved, size = np.inf, 0.0, 0.0
    for _ in range(12):
        if projecting > 0:
            load(eq.layout, q, state.t, wk.x, wk.y)
            call_vectors(fused(eq, projecting), (wk.x, wk.lu, wk.phi, wk.correction))
            size = violation(eq, wk.phi)
        else:
            size = violation_at(eq, wk, state)
        if not size < 1e6:
            return np.inf
        if size < 2e-15 or (size > 0.5 * last and size < 1e-12):
            break
        if size > 0.9 * last:
            break
        last = size
        if projecting == 0:
            for i in range(n):
                wk.rhs[i] = 0.0
            for k in range(m):
                wk.rhs[n + k] = -wk.phi[k]
            solve(eq, wk)
        for i in range(n):
            q[i] += wk.correction[i]
            moved = max(moved, abs(wk.correction[i]) / eq.scale[i])
        if moved > limit:
            return np.inf
    return size


@piece
def project_velocity(eq: Equations, wk: Work, state: State) -> float:
    """Move v to Phi_q v = nu after the equations were evaluated at q; returns how far, in sizes per time."""
    n, m = eq.n, eq.m
    for i in range(n):
        wk.rhs[i] = 0.0
    for k in range(m):
        wk.rate[k] = wk.out[n + m + k]
    add_rates(eq, wk, state, -1.0)
    for k in range(m):
        wk.rhs[n + k] = wk.rate[k]
    solve_refined(eq, wk, 2)
    moved = 0.0
    for i in range(n):
        state.v[i] += wk.solution[i]
        moved = max(moved, abs(wk.solution[i]) / eq.scale[i])
    return moved


@piece
def consistent(eq: Equations, wk: Work, state: State, limit: float, sweeps: int) -> float:
    """Project q and v to the constraints and solve for [a, lambda]; the violation left, or inf where it failed.

    The factors in the work space need not belong to q; afterwards they do.
    """
    if evaluate(eq, wk, state) == 0:
        return np.inf
    left = project_position(eq, wk, state, limit)
    if not left < np.inf or evaluate(eq, wk, state) == 0:
        return np.inf
    project_velocity(eq, wk, state)
    explicit_at(eq, wk, state)
    if not accelerations(eq, wk, state, 0.0, 1.0, sweeps) < np.inf:
        return np.inf
    for i in range(eq.n):
        if not np.isfinite(state.al[i]):
            return np.inf
    return left


@piece
def share(eq: Equations, wk: Work, state: State, sweeps: int) -> int:
    """The smallest multipliers with the same forces: what does nothing would drift from step to step."""
    n, m = eq.n, eq.m
    if evaluate(eq, wk, state) == 0:
        return 0
    rhs, sol = wk.rhs, wk.change
    for i in range(n + m):
        rhs[i] = 0.0
        sol[i] = state.al[i] if i >= n else 0.0
    qd.subtract_product(eq.plan, explicit_values(eq, wk), sol, rhs)
    for i in range(n + m):
        rhs[i] = -rhs[i] if i < n else 0.0
    solve_refined(eq, wk, sweeps)
    for k in range(m):
        state.al[n + k] = wk.solution[n + k]
    return 1


@piece
def powers(eq: Equations, wk: Work, state: State) -> int:
    """Energies and powers of a state, left in ``wk.e``: kinetic, of gravity, elastic, dissipated, supplied."""
    place_all(eq, wk, state)
    run_program(eq.energy, wk)
    for k in range(5):
        wk.e[k] = wk.out[k]
    return 1


@piece
def set_rows(eq: Equations, wk: Work) -> int:
    """Rows in force as the modes say: in the inputs, and in the multiplier block."""
    h, n = eq.hybrids, eq.n
    for c in range(h.row.shape[0]):
        k = h.row[c]
        on = (h.row_modes[c] >> int(wk.x[h.row_mode_at[c]])) & 1
        wk.x[h.row_at[c]] = on
        # (as soft as refinement can take out again)
        softest = SOFTEST * eq.flexible[k]
        soft = min(eq.compliance[k] * eq.share[k], max(eq.compliance[k], softest))
        step_soft = min(eq.step_compliance[k] * eq.share[k], max(eq.step_compliance[k], softest))
        eq.shift[n + k] = -soft if on > 0 else -eq.flexible[k]
        eq.step_shift[n + k] = -step_soft if on > 0 else -eq.flexible[k]
    return 1


@rare
def keep_first(eq: Equations, wk: Work, state: State) -> int:
    """Keep at a state what the first switch into the present mode of each element would."""
    h = eq.hybrids
    place(eq, wk, state)
    run(eq.latches, wk.x, wk.y, wk.latches)
    for e in range(h.mode_at.shape[0]):
        for s in range(h.first_switch[e], h.end_switch[e]):
            if h.target[s] == int(wk.x[h.mode_at[e]]):
                for k in range(h.kept[e]):
                    wk.x[h.mode_at[e] + 1 + k] = wk.latches[h.kept_at[s] + k]
                break
    return 1


@piece
def first_modes(eq: Equations, wk: Work, state: State) -> int:
    """Put every switching element into its first mode, with the values that a switch into it would keep."""
    h = eq.hybrids
    place(eq, wk, state)
    run(eq.latches, wk.x, wk.y, wk.latches)
    for e in range(h.mode_at.shape[0]):
        wk.x[h.mode_at[e]] = wk.latches[h.first_mode_at[e]]
    keep_first(eq, wk, state)
    set_rows(eq, wk)
    touches = eq.touches
    for e in range(touches.stick.shape[0]):  # whether it sticks is chosen later, when velocities are known
        if touches.stick[e] >= 0:
            wk.x[touches.stick_at[e]] = 0.0
            eq.shift[eq.n + touches.stick[e]] = -eq.flexible[touches.stick[e]]
    return 1


@piece
def hermite(theta: float, h: float, before: State, now: State, inside: State) -> int:
    """The quintic through position, velocity and acceleration at both ends of a step, with its rates."""
    x = theta
    x2 = x * x
    x3 = x2 * x
    x4 = x3 * x
    x5 = x4 * x
    p = 10.0 * x3 - 15.0 * x4 + 6.0 * x5
    u0, u1 = h * (x - 6.0 * x3 + 8.0 * x4 - 3.0 * x5), h * (-4.0 * x3 + 7.0 * x4 - 3.0 * x5)
    b0, b1 = h * h * 0.5 * (x2 - 3.0 * x3 + 3.0 * x4 - x5), h * h * 0.5 * (x3 - 2.0 * x4 + x5)
    dp = (30.0 * x2 - 60.0 * x3 + 30.0 * x4) / h
    du0, du1 = 1.0 - 18.0 * x2 + 32.0 * x3 - 15.0 * x4, -12.0 * x2 + 28.0 * x3 - 15.0 * x4
    db0, db1 = h * 0.5 * (2.0 * x - 9.0 * x2 + 12.0 * x3 - 5.0 * x4), h * 0.5 * (3.0 * x2 - 8.0 * x3 + 5.0 * x4)
    ddp = (60.0 * x - 180.0 * x2 + 120.0 * x3) / (h * h)
    ddu0, ddu1 = (-36.0 * x + 96.0 * x2 - 60.0 * x3) / h, (-24.0 * x + 84.0 * x2 - 60.0 * x3) / h
    ddb0, ddb1 = 1.0 - 9.0 * x + 18.0 * x2 - 10.0 * x3, 3.0 * x - 12.0 * x2 + 10.0 * x3
    q0, v0, a0, q1, v1, a1 = before.q, before.v, before.al, now.q, now.v, now.al
    for i in range(q0.shape[0]):
        step = q1[i] - q0[i]
        inside.q[i] = q0[i] + p * step + u0 * v0[i] + u1 * v1[i] + b0 * a0[i] + b1 * a1[i]
        inside.v[i] = dp * step + du0 * v0[i] + du1 * v1[i] + db0 * a0[i] + db1 * a1[i]
        inside.al[i] = ddp * step + ddu0 * v0[i] + ddu1 * v1[i] + ddb0 * a0[i] + ddb1 * a1[i]
    return 1
