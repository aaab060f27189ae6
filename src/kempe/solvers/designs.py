"""Many simulations of one model at different numbers, each from assembly to the last output, in compiled code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kempe.solvers import course as co
from kempe.solvers import quasi_definite as qd
from kempe.solvers.bookkeeping import begin
from kempe.solvers.frames import FloatBlocks, FloatRows, Floats, Frame, IntRows, Ints
from kempe.solvers.jit import compiled, entry
from kempe.solvers.motion import (
    EXPLICIT,
    J_COLUMN,
    J_ROW,
    PLAN,
    SIZES,
    explicit_values,
    place,
    times_jacobian,
    violation,
)
from kempe.solvers.pack import part
from kempe.solvers.program import run
from kempe.solvers.runge_kutta import advance

#: Codes beyond those of a course.
NOT_ASSEMBLED, NO_VELOCITY = 100, 101
CLOSED = 1e-12


@dataclass(frozen=True, eq=False)
class Table(Frame):
    """The designs and what is wanted of them."""

    x: FloatRows  # per design: the inputs of all kernels
    drawn: FloatRows  # per design: the sketch
    settings: Floats  # the scalars of a course at its start
    stiffness: Floats  # per coordinate: how much it resists being moved by assembly
    given: Floats  # per coordinate: its velocity at the start
    heavy: Floats  # per coordinate: how much its velocity resists being changed
    diagonal: Ints  # places of the diagonal among the values
    mass_shift: Floats  # two numbers: shift of massless coordinates, of constraint rows
    pick: IntRows  # per quantity: 0 position, 1 velocity, 2 acceleration or multiplier, 3 energy; and the column
    values: FloatBlocks  # designs x outputs x quantities
    status: Ints  # per design


@compiled
def _weighted(eq, wk, table, weights, values):
    """Factor [W, Phi_q^T; Phi_q, -C] after the explicit program has run; ``values`` holds it."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    upper = part(eq.indices, SIZES)[2]
    source = explicit_values(eq, wk)
    for k in range(values.shape[0]):
        values[k] = 0.0 if k < upper else source[k]
    for i in range(n):
        values[table.diagonal[i]] = weights[i]
    shift = wk.w[0]
    for i in range(n):
        shift[i] = 0.0
    for k in range(m):
        shift[n + k] = -1e-12 * eq.row_scale[k] ** 2
    return qd.factor(part(eq.indices, PLAN), values, shift, wk.lu, wk.w[10])


@compiled
def _refined(eq, wk, values, rhs, d):
    """Solve with the weighted matrix and refine twice."""
    plan = part(eq.indices, PLAN)
    r, e, w = wk.w[1], wk.w[2], wk.w[10]
    qd.solve(plan, wk.lu, rhs, d, w)
    for _ in range(2):
        for i in range(eq.shift.shape[0]):
            r[i] = rhs[i]
        qd.subtract_product(plan, values, d, r)
        qd.solve(plan, wk.lu, r, e, w)
        for i in range(eq.shift.shape[0]):
            d[i] += e[i]


@compiled
def assemble(eq, wk, table, drawn, t, q, v, values):
    """The assembled pose nearest to the sketch, into q; False when there is none nearby."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    rhs, d = wk.w[3], wk.w[4]
    for i in range(n):
        q[i] = drawn[i]
    sliding = False
    for iteration in range(200):
        place(eq, wk, q, v, t)
        run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
        size = violation(eq, wk.out[n : n + m])
        if not size < 1e6:
            return False
        if iteration == 0 and size <= CLOSED:
            return True
        if not _weighted(eq, wk, table, table.stiffness, values):
            return False
        for i in range(n):
            rhs[i] = table.stiffness[i] * (drawn[i] - q[i]) if sliding else 0.0
        for k in range(m):
            rhs[n + k] = -wk.out[n + k]
        _refined(eq, wk, values, rhs, d)
        step = 0.0
        for i in range(n):
            step = max(step, abs(d[i]) / eq.scale[i])
        short = min(1.0, 0.5 / max(step, 1e-300))
        for i in range(n):
            q[i] += short * d[i]
        if size <= CLOSED:
            if sliding and step < 1e-10:
                return True
            sliding = True
        elif iteration > 60 and not sliding:
            return False
    # the slide along the constraints converges slowly where they curve: what there is will do if it is closed
    return size <= CLOSED


@compiled
def _velocity(eq, wk, table, t, q, v, values):
    """Velocities that satisfy the constraints, the given ones kept as far as possible."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    rhs, d, rate = wk.w[3], wk.w[4], wk.w[5]
    for i in range(n):
        v[i] = table.given[i]
    place(eq, wk, q, v, t)
    run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
    if not _weighted(eq, wk, table, table.heavy, values):
        return False
    for _ in range(3):
        for k in range(m):
            rate[k] = wk.out[n + m + k]
        times_jacobian(eq, explicit_values(eq, wk), v, -1.0, rate)
        for i in range(n):
            rhs[i] = table.heavy[i] * (table.given[i] - v[i]) if table.heavy[i] * eq.scale[i] ** 2 > 1.5 else 0.0
        for k in range(m):
            rhs[n + k] = rate[k]
        _refined(eq, wk, values, rhs, d)
        for i in range(n):
            v[i] += d[i]
    worst, fast = 0.0, 0.0
    for k in range(m):
        rate[k] = wk.out[n + m + k]
    times_jacobian(eq, explicit_values(eq, wk), v, -1.0, rate)
    for k in range(m):
        worst = max(worst, abs(rate[k]) / eq.row_scale[k])
    for i in range(n):
        fast = max(fast, abs(v[i]) / eq.scale[i])
    return worst <= 1e-9 * max(1.0, fast)


@compiled
def _set_shift(eq, wk, table):
    """The shifts of the diagonal for the masses at hand, after the explicit program has run."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    values, upper = explicit_values(eq, wk), part(eq.indices, SIZES)[2]
    row, column = part(eq.indices, J_ROW), part(eq.indices, J_COLUMN)
    unit = 0.0
    for i in range(n):
        unit = max(unit, values[table.diagonal[i]] * eq.scale[i] ** 2)
    most, least = wk.w[3], wk.w[4]
    for k in range(m):
        most[k] = 0.0
        least[k] = np.inf
    for k in range(row.shape[0]):
        i, entry = column[k], values[upper + k]
        mass = values[table.diagonal[i]]
        flexible = entry * entry / (mass if mass > 0.0 else unit / eq.scale[i] ** 2)
        most[row[k]] = max(most[row[k]], flexible)
        if abs(entry) * eq.scale[i] > 1e-3 * eq.row_scale[row[k]]:
            least[row[k]] = min(least[row[k]], flexible)
    for i in range(n):
        eq.shift[i] = 0.0 if values[table.diagonal[i]] > 0.0 else table.mass_shift[0] * unit / eq.scale[i] ** 2
    for k in range(m):
        size = least[k] if least[k] < np.inf else most[k]
        eq.shift[n + k] = -table.mass_shift[1] * max(size, 1e-4 * most[k], 1e-300)


@compiled
def _one(eq, wk, course, table, design, values):
    """Simulate one design; the code of its end."""
    n = eq.scale.shape[0]
    s, x = course.s, course.x
    for k in range(wk.x.shape[0]):
        wk.x[k] = table.x[design, k]
    for k in range(s.shape[0]):
        s[k] = table.settings[k]
    for r in range(x.shape[0]):
        for i in range(x.shape[1]):
            x[r, i] = 1.0 if r == co.UNIT else 0.0
    q, v, t = x[co.Q, :n], x[co.V, :n], s[co.T]
    if not assemble(eq, wk, table, table.drawn[design], t, q, v, values):
        return NOT_ASSEMBLED
    if not _velocity(eq, wk, table, t, q, v, values):
        return NO_VELOCITY
    _set_shift(eq, wk, table)
    if not begin(eq, wk, course, 8.0):
        return co.SINGULAR
    while True:
        s[co.BUDGET] = 1e6
        code = advance(eq, wk, None, course)
        s[co.N_EVENTS] = 0
        if code != co.PAUSE and code != co.EVENTS_FULL:
            return code


@entry
def simulate_designs(eq, wk, course, table, first, last, values):
    """Simulate the designs first..last-1."""
    for design in range(first, last):
        if table.status[design] != 0:
            continue
        table.status[design] = _one(eq, wk, course, table, design, values)
        for k in range(int(course.s[co.K_OUT])):
            if course.t_out[k] != course.grid[k]:
                break  # where an event stopped the run
            for j in range(table.pick.shape[0]):
                which, column = table.pick[j, 0], table.pick[j, 1]
                if which == 0:
                    table.values[design, k, j] = course.q_out[k, column]
                elif which == 1:
                    table.values[design, k, j] = course.v_out[k, column]
                elif which == 2:
                    table.values[design, k, j] = course.al_out[k, column]
                elif column < 5:
                    table.values[design, k, j] = course.e_out[k, column]
                else:
                    stored = course.e_out[k, 0] + course.e_out[k, 1] + course.e_out[k, 2]
                    begun = course.e_out[0, 0] + course.e_out[0, 1] + course.e_out[0, 2]
                    table.values[design, k, j] = stored - begun + course.e_out[k, 3] - course.e_out[k, 4]
