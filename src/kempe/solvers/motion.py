"""Equations of motion in compiled form, f(q, v, a, t, lambda) = 0 and Phi(q, t) = 0, and what integrators need of them.

Accelerations with multipliers, projections to the constraints and Newton corrections all end in the same matrix
(``quasi_definite``). Vectors of length N = n + m hold n entries for the coordinates and m for the constraint rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kempe.solvers import quasi_definite as qd
from kempe.solvers.frames import FloatRows, Floats, Frame, Ints
from kempe.solvers.jit import compiled, entry, pasted
from kempe.solvers.pack import pack, part, window
from kempe.solvers.program import (
    Layout,
    load,
    load_accelerations,
    load_for_balance,
    load_multipliers,
    load_rates,
    run,
    size_arguments,
    size_out,
    size_y,
)

# parts of the indices
RESIDUAL, TANGENT, EXPLICIT, VALUE, CANONICAL, ENERGY, GUARDS, LATCHES = range(8)  # programs
PLAN = 8  # a plan of quasi_definite
J_ROW, J_COLUMN = 9, 10  # entries of Phi_q
SIZES = 11  # n, m, number of values in the upper block
SWITCHES = 12  # four numbers per switch: place of the mode in x, mode entered, how many values to keep, where they are
VELOCITY = 14  # a program
MODES = 13  # two numbers per switching element: place of the mode in x, place of the first mode among the latches
PROGRAMS = (RESIDUAL, TANGENT, EXPLICIT, VALUE, CANONICAL, ENERGY, GUARDS, LATCHES, VELOCITY)

#: Shift of the multiplier block, as a fraction of Phi_q M^-1 Phi_q^T.
SHIFT = 1e-11


@dataclass(frozen=True, eq=False)
class Equations(Frame):
    """What a motion has to satisfy."""

    layout: Layout
    indices: Ints  # the parts listed above
    scale: Floats  # per coordinate: what counts as a movement of size one
    row_scale: Floats  # per row: what counts as a violation of size one
    shift: Floats  # N, added to the diagonal of the linear system
    step_shift: Floats  # the same for the matrix of an implicit step


@dataclass(frozen=True, eq=False)
class Work(Frame):
    """Scratch memory of one run."""

    x: Floats  # inputs of all kernels; modes and latched values live here
    y: Floats
    out: Floats
    lu: Floats
    w: FloatRows  # rows of length N
    e: Floats  # energies and powers


def make_equations(
    layout: Layout, indices: Sequence[np.ndarray], scale: np.ndarray, row_scale: np.ndarray, shift: np.ndarray
) -> Equations:
    """Equations from their index arrays, in the order listed above."""
    return Equations(layout, pack(indices), scale, row_scale, shift, shift.copy())


def new_work(eq: Equations, x: np.ndarray) -> Work:
    """Scratch memory; x holds the numbers of the elements (a copy is taken: modes are kept in it)."""
    programs = [eq.indices[eq.indices[k] : eq.indices[k + 1]] for k in PROGRAMS]
    plan = eq.indices[eq.indices[PLAN] : eq.indices[PLAN + 1]]
    y = max(1, size_arguments(eq.layout), *(size_y(p) for p in programs))
    out = max(1, *(size_out(p) for p in programs))
    return Work(
        x.copy(), np.zeros(y), np.zeros(out), np.zeros(qd.size(plan)), np.zeros((12, len(eq.shift))), np.zeros(5)
    )


def beside(wk: Work) -> Work:
    """The same work space with factors of its own."""
    return replace(wk, lu=np.zeros_like(wk.lu))


# rows of the scratch memory used here; integrators use the first six
_RHS, _R, _D, _W, _CHANGE = 7, 8, 9, 10, 11


@compiled
def place(eq, wk, q, v, t):
    """Put a state into the inputs."""
    load(eq.layout, q, t, wk.x, wk.y)
    load_rates(eq.layout, v, wk.x)


@pasted
def explicit_values(eq, wk):
    """The values of [M, Phi_q^T; Phi_q, 0] after the explicit program has run."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    return window(wk.out, n + 3 * m, wk.out.shape[0])


@compiled
def times_jacobian(eq, values, v, sign, r):
    """R += sign * Phi_q v, both of their own length; ``values`` are those of the linear system."""
    row, column = part(eq.indices, J_ROW), part(eq.indices, J_COLUMN)
    at = part(eq.indices, SIZES)[2]
    for k in range(row.shape[0]):
        r[row[k]] += sign * values[at + k] * v[column[k]]


@compiled
def solve_refined(eq, wk, values, rhs, sol, sweeps):
    """Solve with the factors at hand, then refine with the true matrix until it no longer helps.

    Returns how much the first refinement changed the upper part, relative to its size.
    """
    plan = part(eq.indices, PLAN)
    r, d, w = wk.w[_R], wk.w[_D], wk.w[_W]
    N = eq.shift.shape[0]
    qd.solve(plan, wk.lu, rhs, sol, w)
    last, first = np.inf, 0.0
    for sweep in range(sweeps):
        for i in range(N):
            r[i] = rhs[i]
        qd.subtract_product(plan, values, sol, r)
        qd.solve(plan, wk.lu, r, d, w)
        size, change = 1e-300, 0.0
        for i in range(eq.scale.shape[0]):
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


@compiled
def accelerations(eq, wk, v, omega, damping, sweeps, sol):
    """Solve for accelerations and multipliers after the explicit program has run and its matrix is factored.

    Constraint violations are stabilised with Phi'' + 2 damping omega Phi' + omega^2 Phi = 0. With ``sweeps`` = 0 the
    shift is not taken out again: the penalty method.
    """
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    rhs = wk.w[_RHS]
    for i in range(n):
        rhs[i] = -wk.out[i]
    for k in range(m):
        rhs[n + k] = wk.out[n + 2 * m + k]
    if omega > 0.0:
        rate = wk.w[_R]
        for k in range(m):
            rate[k] = -wk.out[n + m + k]
        times_jacobian(eq, explicit_values(eq, wk), v, 1.0, rate)
        for k in range(m):
            rhs[n + k] -= 2.0 * damping * omega * rate[k] + omega * omega * wk.out[n + k]
    return solve_refined(eq, wk, explicit_values(eq, wk), rhs, sol, sweeps)


@compiled
def violation(eq, phi):
    """The largest constraint violation, in row sizes; NaN is kept."""
    worst = 0.0
    for k in range(eq.row_scale.shape[0]):
        size = abs(phi[k]) / eq.row_scale[k]
        if not size <= worst:
            worst = size
            if size != size:
                return np.inf
    return worst


@compiled
def project_position(eq, wk, q, t, phi, limit):
    """Move q to the constraints with the factors at hand; the violation that is left (inf: moved beyond ``limit``)."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    rhs, d, w = wk.w[_RHS], wk.w[_D], wk.w[_W]
    last, moved = np.inf, 0.0
    for _ in range(12):
        load(eq.layout, q, t, wk.x, wk.y)
        run(part(eq.indices, VALUE), wk.x, wk.y, phi)
        size = violation(eq, phi)
        if not size < 1e6:
            return np.inf
        if size < 2e-15 or (size > 0.5 * last and size < 1e-12):
            break
        if size > 0.9 * last:
            break
        last = size
        for i in range(n):
            rhs[i] = 0.0
        for k in range(m):
            rhs[n + k] = -phi[k]
        qd.solve(part(eq.indices, PLAN), wk.lu, rhs, d, w)
        for i in range(n):
            q[i] += d[i]
            moved = max(moved, abs(d[i]) / eq.scale[i])
        if moved > limit:
            return np.inf
    return size


@compiled
def project_velocity(eq, wk, v):
    """Move v to Phi_q v = nu after the explicit program has run at q; returns how far, in sizes per time."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    rhs, d = wk.w[_RHS], wk.w[_CHANGE]
    for i in range(n):
        rhs[i] = 0.0
    rate = wk.w[_R]
    for k in range(m):
        rate[k] = wk.out[n + m + k]
    times_jacobian(eq, explicit_values(eq, wk), v, -1.0, rate)
    for k in range(m):
        rhs[n + k] = rate[k]
    solve_refined(eq, wk, explicit_values(eq, wk), rhs, d, 2)
    moved = 0.0
    for i in range(n):
        v[i] += d[i]
        moved = max(moved, abs(d[i]) / eq.scale[i])
    return moved


@compiled
def evaluate(eq, wk, q, v, t):
    """Run the explicit program at a state and factor its matrix; False when that failed."""
    place(eq, wk, q, v, t)
    run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
    return qd.factor(part(eq.indices, PLAN), explicit_values(eq, wk), eq.shift, wk.lu, wk.w[_W])


@entry
def solve_state(eq, wk, q, v, t, sweeps, sol):
    """[a, lambda] of a consistent state; False when they cannot be had."""
    if not evaluate(eq, wk, q, v, t):
        return False
    accelerations(eq, wk, v, 0.0, 1.0, sweeps, sol)
    return True


@compiled
def share(eq, wk, q, v, t, sweeps, lam):
    """The smallest multipliers with the same forces: what does nothing would drift from step to step."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    if not evaluate(eq, wk, q, v, t):
        return
    rhs, sol = wk.w[_RHS], wk.w[_CHANGE]
    for i in range(n + m):
        rhs[i] = 0.0
        sol[i] = lam[i - n] if i >= n else 0.0
    qd.subtract_product(part(eq.indices, PLAN), explicit_values(eq, wk), sol, rhs)
    for i in range(n + m):
        rhs[i] = -rhs[i] if i < n else 0.0
    solve_refined(eq, wk, explicit_values(eq, wk), rhs, sol, sweeps)
    for k in range(m):
        lam[k] = sol[n + k]


@compiled
def consistent(eq, wk, q, v, t, sol, phi, limit, sweeps):
    """Project q and v to the constraints and solve for [a, lambda]; the violation left, or inf where it failed.

    The factors in the work space need not belong to q; afterwards they do.
    """
    if not evaluate(eq, wk, q, v, t):
        return np.inf
    left = project_position(eq, wk, q, t, phi, limit)
    if not left < np.inf or not evaluate(eq, wk, q, v, t):
        return np.inf
    project_velocity(eq, wk, v)
    load_rates(eq.layout, v, wk.x)
    run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
    accelerations(eq, wk, v, 0.0, 1.0, sweeps, sol)
    for i in range(eq.scale.shape[0]):
        if not np.isfinite(sol[i]):
            return np.inf
    return left


@compiled
def powers(eq, wk, q, v, t, lam):
    """Energies and powers of a state, left in ``wk.e``: kinetic, of gravity, elastic, dissipated, supplied."""
    place(eq, wk, q, v, t)
    load_multipliers(eq.layout, lam, wk.x)
    run(part(eq.indices, ENERGY), wk.x, wk.y, wk.e)


@compiled
def guard_values(eq, wk, q, v, t, lam, out):
    """The guards of all switches."""
    place(eq, wk, q, v, t)
    load_multipliers(eq.layout, lam, wk.x)
    run(part(eq.indices, GUARDS), wk.x, wk.y, out)


@entry
def first_modes(eq, wk, q, v, t, latches):
    """Put every switching element into its first mode."""
    place(eq, wk, q, v, t)
    run(part(eq.indices, LATCHES), wk.x, wk.y, latches)
    modes = part(eq.indices, MODES)
    for k in range(modes.shape[0] // 2):
        wk.x[modes[2 * k]] = latches[modes[2 * k + 1]]


@compiled
def switch(eq, wk, number, q, v, t, latches):
    """Let an element pass through one of its switches: keep values, enter the new mode."""
    place(eq, wk, q, v, t)
    run(part(eq.indices, LATCHES), wk.x, wk.y, latches)
    table = part(eq.indices, SWITCHES)
    mode_at, target, count, first = (
        table[4 * number],
        table[4 * number + 1],
        table[4 * number + 2],
        table[4 * number + 3],
    )
    wk.x[mode_at] = target
    for k in range(count):
        wk.x[mode_at + 1 + k] = latches[first + k]


@compiled
def place_for_balance(eq, wk, q, v, al, t):
    """As ``place_all``, but rates and accelerations only for the elements whose balance of forces depends on them."""
    n = eq.scale.shape[0]
    load(eq.layout, q, t, wk.x, wk.y)
    load_for_balance(eq.layout, v, al, wk.x)
    load_multipliers(eq.layout, al[n:], wk.x)


@compiled
def place_all(eq, wk, q, v, al, t):
    """Put a state with accelerations and multipliers (one vector) into the inputs."""
    n = eq.scale.shape[0]
    place(eq, wk, q, v, t)
    load_accelerations(eq.layout, al[:n], wk.x)
    load_multipliers(eq.layout, al[n:], wk.x)


@compiled
def hermite(theta, h, q0, v0, a0, q1, v1, a1, q, v):
    """The quintic through position, velocity and acceleration at both ends of a step, and its rate."""
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
    for i in range(q.shape[0]):
        step = q1[i] - q0[i]
        q[i] = q0[i] + p * step + u0 * v0[i] + u1 * v1[i] + b0 * a0[i] + b1 * a1[i]
        v[i] = dp * step + du0 * v0[i] + du1 * v1[i] + db0 * a0[i] + db1 * a1[i]
