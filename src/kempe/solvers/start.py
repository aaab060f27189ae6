"""Where a motion starts: sizes, an assembled position, consistent velocities and the shifts of the linear system.

One version for one run and for many: a batch is a loop around it.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.frames import FloatRows, Floats, Frame, Ints, Real
from kempe.solvers.jit import piece
from kempe.solvers.motion import (
    SHIFT,
    Equations,
    State,
    Work,
    add_rates,
    evaluate,
    explicit_at,
    explicit_values,
    factor,
    project_velocity,
    solve_refined,
    violation,
)
from kempe.solvers.pack import window
from kempe.solvers.program import Layout, Program, load, run

#: A mechanism is assembled when every scaled residual is below this.
CLOSED = 1e-12
#: What a coordinate without inertia gets in the linear system, as a fraction of the largest inertia.
MASSLESS = 1e-10
#: A pivot below this many times its shift, or this fraction of a row's flexibility, is not what it should be.
ODD_MASS, ODD_ROW = 1e3, 1e-6
#: How much more a given velocity weighs than the kinetic energy of others.
GIVEN = 1e4


class Sketch(Frame):
    """A drawn pose and what counts as size one in it."""

    layout: Layout
    position: Program  # [Phi, Phi_q, nu]
    row: Ints  # places of the entries of Phi_q
    column: Ints
    natural: Floats  # per coordinate: what counts as a movement of one; NaN where the mechanism's size decides
    offsets: FloatRows  # other poses to look at, in units of the scale
    x: Floats
    y: Floats
    out: Floats
    drawn: Floats
    trial: Floats
    scale: Floats
    row_scale: Floats
    largest: Floats  # per row, scratch
    size: Real  # a characteristic length


@piece
def measure(sketch: Sketch) -> int:
    """The mechanism's size, and what counts as a movement and a violation of size one.

    The size is the spread of the drawn lengths and of lever arms: in a row that also has lengths, the derivative by an
    angle is a length. A row's scale is the largest violation that a movement of size one makes, seen around the sketch.
    """
    n, m = sketch.scale.shape[0], sketch.row_scale.shape[0]
    natural, row, column = sketch.natural, sketch.row, sketch.column
    load(sketch.layout, sketch.drawn, 0.0, sketch.x, sketch.y)
    run(sketch.position, sketch.x, sketch.y, sketch.out)
    longest = 0.0
    for k in range(m):
        sketch.largest[k] = 0.0
    for i in range(n):
        if np.isnan(natural[i]):
            longest = max(longest, abs(sketch.drawn[i]))
    for k in range(row.shape[0]):
        if np.isnan(natural[column[k]]) and sketch.out[m + k] != 0.0:
            sketch.largest[row[k]] = 1.0
    for k in range(row.shape[0]):
        lever = abs(sketch.out[m + k] * natural[column[k]])
        if sketch.largest[row[k]] > 0.0 and lever < np.inf:
            longest = max(longest, lever)
    sketch.size = longest if longest > 0.0 else 1.0
    for i in range(n):
        sketch.scale[i] = sketch.size if np.isnan(natural[i]) else natural[i]
    for k in range(m):
        sketch.row_scale[k] = 0.0
    for pose in range(sketch.offsets.shape[0]):
        for i in range(n):
            sketch.trial[i] = sketch.drawn[i] + sketch.offsets[pose, i] * sketch.scale[i]
        load(sketch.layout, sketch.trial, 0.0, sketch.x, sketch.y)
        run(sketch.position, sketch.x, sketch.y, sketch.out)
        for k in range(m):
            sketch.largest[k] = 0.0
        for k in range(row.shape[0]):
            moved = abs(sketch.out[m + k] * sketch.scale[column[k]])
            if not moved <= sketch.largest[row[k]]:
                sketch.largest[row[k]] = moved
        for k in range(m):
            if sketch.largest[k] < np.inf:
                sketch.row_scale[k] = max(sketch.row_scale[k], sketch.largest[k])
    for k in range(m):
        if sketch.row_scale[k] == 0.0:
            sketch.row_scale[k] = 1.0
    return 1


class Start(Frame):
    """What is wanted of a start, and scratch memory to find it."""

    drawn: Floats  # the sketch
    given: Floats  # per coordinate: its velocity at the start
    is_given: Floats  # 1 where it is given
    wanted: Floats  # scratch: what is aimed at
    gap: Floats  # scratch: what was missing last
    weight: Floats  # scratch: N
    step: Floats  # scratch: N
    mass: Floats  # per coordinate: the diagonal of M
    unit: Real  # the largest inertia, per squared scale


def new_start(eq: Equations) -> Start:
    """Empty memory."""
    n, N = eq.n, eq.n + eq.m
    return Start(*(np.zeros(n) for _ in range(5)), *(np.zeros(N) for _ in range(2)), np.zeros(n))


@piece
def _make_symmetric(eq: Equations, wk: Work) -> int:
    """Leave Phi_q^T alone in the block to the right of the values of the explicit program."""
    values = explicit_values(eq, wk)
    at = eq.upper + eq.jacobian_row.shape[0]
    for k in range(eq.mirror.shape[0]):
        values[at + k] = values[eq.mirror[k]]
    return 1


@piece
def assemble(eq: Equations, wk: Work, start: Start, now: State) -> int:
    """The assembled pose nearest to the sketch, into ``now.q``; 0 when there is none nearby."""
    n, m, q = eq.n, eq.m, now.q
    rhs, d = wk.rhs, wk.solution
    for i in range(n):
        q[i] = start.drawn[i]
    sliding, size = False, 0.0
    for iteration in range(200):
        explicit_at(eq, wk, now)
        size = violation(eq, window(wk.out, n, n + m))
        if not size < 1e6:
            return 0
        if iteration == 0 and size <= CLOSED:
            return 1
        _make_symmetric(eq, wk)
        values = explicit_values(eq, wk)
        for k in range(eq.upper):
            values[k] = 0.0
        for i in range(n):
            values[eq.diagonal[i]] = 1.0 / eq.scale[i] ** 2
            eq.shift[i] = 0.0
        for k in range(m):
            eq.shift[n + k] = -1e-12 * eq.row_scale[k] ** 2
        if factor(eq, wk) == 0:
            return 0
        for i in range(n):
            rhs[i] = (start.drawn[i] - q[i]) / eq.scale[i] ** 2 if sliding else 0.0
        for k in range(m):
            rhs[n + k] = -wk.out[n + k]
        solve_refined(eq, wk, 2)
        step = 0.0
        for i in range(n):
            step = max(step, abs(d[i]) / eq.scale[i])
        short = min(1.0, 0.5 / max(step, 1e-300))
        for i in range(n):
            q[i] += short * d[i]
        if size <= CLOSED:
            if sliding and step < 1e-10:
                break
            sliding = True
        elif iteration > 60 and not sliding:
            return 0
    # the slide along the constraints converges slowly where they curve: what there is will do if it is closed
    for _ in range(5):
        explicit_at(eq, wk, now)
        size = violation(eq, window(wk.out, n, n + m))
        if size <= CLOSED:
            return 1
        for i in range(n):
            rhs[i] = 0.0
        for k in range(m):
            rhs[n + k] = -wk.out[n + k]
        solve_refined(eq, wk, 2)
        for i in range(n):
            q[i] += d[i]
    return 0


@piece
def weigh(eq: Equations, wk: Work, start: Start, now: State) -> int:
    """Masses and flexibilities in a position, and the shifts of the linear system that follow.

    Per row, the flexibility is the stiffest share of Phi_q M^-1 Phi_q^T (massless coordinates left soft); the
    compliance is a small fraction of it. All rows are seen as if they were in force, and left so.
    """
    n, m = eq.n, eq.m
    for c in range(eq.hybrids.row_at.shape[0]):  # seen as if all were in force
        wk.x[eq.hybrids.row_at[c]] = 1.0
    explicit_at(eq, wk, now)
    values = explicit_values(eq, wk)
    start.unit = 0.0
    for i in range(n):
        start.mass[i] = values[eq.diagonal[i]]
        start.unit = max(start.unit, start.mass[i] * eq.scale[i] ** 2)
    most, least = start.weight, start.step
    for k in range(m):
        most[k] = 0.0
        least[k] = np.inf
    for k in range(eq.jacobian_row.shape[0]):
        i, r, entry = eq.jacobian_column[k], eq.jacobian_row[k], values[eq.upper + k]
        mass = start.mass[i] if start.mass[i] > 0.0 else start.unit / eq.scale[i] ** 2
        flexible = entry * entry / mass
        most[r] = max(most[r], flexible)
        if abs(entry) * eq.scale[i] > 1e-3 * eq.row_scale[r]:
            least[r] = min(least[r], flexible)
    typical, count = 0.0, 0
    for k in range(m):
        if most[k] > 0.0:
            typical += np.log(most[k])
            count += 1
    typical = np.exp(typical / count) if count > 0 else 1.0
    for i in range(n):
        eq.shift[i] = 0.0 if start.mass[i] > 0.0 else MASSLESS * start.unit / eq.scale[i] ** 2
        eq.step_shift[i] = eq.shift[i]
    for k in range(m):
        eq.flexible[k] = max(least[k] if least[k] < np.inf else typical, 1e-4 * most[k])
        eq.compliance[k] = SHIFT * eq.flexible[k]
        eq.step_compliance[k] = eq.compliance[k]
        eq.shift[n + k] = -eq.compliance[k]
        eq.step_shift[n + k] = -eq.step_compliance[k]
    return 1


@piece
def has_odd_pivots(eq: Equations, wk: Work, now: State) -> int:
    """Whether some pivot of the linear system shows constraints that depend on others, or a motion without inertia."""
    evaluate(eq, wk, now)
    plan, n = eq.plan, eq.n
    for k in range(plan.order.shape[0]):
        i, pivot = plan.order[k], 1.0 / abs(wk.lu[plan.diagonal[k]])  # the factors hold reciprocals
        if i < n:
            if eq.shift[i] > 0.0 and pivot < ODD_MASS * eq.shift[i]:
                return 1
        elif pivot < ODD_ROW * eq.flexible[i - n]:
            return 1
    return 0


@piece
def velocities(eq: Equations, wk: Work, start: Start, now: State) -> float:
    """Velocities that satisfy the constraints, into ``now.v``; how far they are from that, in row sizes.

    The given ones are kept as far as the constraints allow, the others are those of least kinetic energy (without
    inertia: of least size).
    """
    n, m, v = eq.n, eq.m, now.v
    for i in range(n):
        v[i] = start.given[i]
        start.wanted[i] = start.given[i]
        start.gap[i] = np.inf
    explicit_at(eq, wk, now)
    values = explicit_values(eq, wk)
    _make_symmetric(eq, wk)
    unit = start.unit if start.unit > 0.0 else 1.0
    for i in range(n):
        weight = unit / eq.scale[i] ** 2
        start.weight[i] = GIVEN * weight if start.is_given[i] > 0.0 else 0.0
        light = MASSLESS * weight if start.mass[i] <= 0.0 else 0.0  # (what has no inertia moves as little as may be)
        values[eq.diagonal[i]] += start.weight[i] + (light if start.unit > 0.0 else weight)
    if factor(eq, wk) == 0:
        return np.inf
    rhs, d = wk.rhs, wk.solution
    for _ in range(10):
        for i in range(n):
            rhs[i] = start.weight[i] * start.wanted[i]
        for k in range(m):
            rhs[n + k] = wk.out[n + m + k]
        solve_refined(eq, wk, 8)
        again = False
        for i in range(n):
            v[i] = d[i]
            if start.is_given[i] > 0.0:
                gap = start.given[i] - d[i]
                if abs(gap) < 0.5 * start.gap[i] and gap != 0.0:  # it can be had: aim beyond it by what is missing
                    start.wanted[i] += gap
                    again = True
                start.gap[i] = abs(gap)
        if not again:
            break
    if evaluate(eq, wk, now) == 0:
        return np.inf
    project_velocity(eq, wk, now)
    for k in range(m):
        wk.rate[k] = wk.out[n + m + k]
    add_rates(eq, wk, now, -1.0)
    worst, fast = 0.0, 1.0
    for k in range(m):
        worst = max(worst, abs(wk.rate[k]) / eq.row_scale[k])
    for i in range(n):
        fast = max(fast, abs(v[i]) / eq.scale[i])
    return worst / fast
