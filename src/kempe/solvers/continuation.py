"""Following the solution of Phi(q, t) = 0 in time, on one branch, without stepping over a singular position.

One step predicts q from the last two positions, velocities and accelerations (a quintic), corrects by Newton's method
and then solves for velocity and acceleration at the corrected point. A step is refused, and halved, when

- Newton's first contraction is poor (the Newton-Kantorovich condition: the solution found is then the one nearby);
- the motion over the step is not the integral of the velocities at its ends (a jump to another branch);
- the signed smallest singular value of Phi_q is not where its recent course says (a pair of sign changes inside).

The smallest singular value sigma = u^T Phi_q w is tracked with the sign that makes u and w continuous, so it changes
sign where the Jacobian becomes singular along the branch, also where several singular values vanish at once and the
determinant keeps its sign. The code that calls ``track`` decides what a sign change, a stall or a dip means.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers.frames import FloatRows, Floats, Frame, Ints
from kempe.solvers.jit import compiled, entry
from kempe.solvers.program import Layout, Program, load, load_rates, run, size_arguments
from kempe.solvers.sparse_lu import GROWTH, determinant_sign, factor, size_lu, solve, solve_transposed
from kempe.solvers.vectors import add, copy, dot, towards

REACHED, REPLAN, STALL, CROSS, DIP, INCONSISTENT = range(6)

#: Largest movement in one inner step, as a fraction of the mechanism's size or in radians.
STRIDE = 0.2
#: Rounding in a predicted coordinate, as a fraction of its size.
ROUNDING = 1e-15
#: No step ends where the smallest singular value is below this fraction of its usual size: rounding rules there.
TOO_CLOSE = 1e-6
#: A step below this fraction of the largest allowed one is a stall.
SMALLEST = 1e-10


class Path(Frame):
    """The equations of a driven system, square in its active rows."""

    layout: Layout
    position: Program  # [Phi, Phi_q, nu]
    acceleration: Program  # gamma
    plan: Ints  # a packed plan of sparse_lu
    active: Ints  # the rows solved for; the others must then hold by themselves
    entry_row: Ints  # per Jacobian entry: its row among the active ones (or -1) and its column
    entry_column: Ints
    scale: Floats  # per coordinate: what counts as a movement of size one
    row_scale: Floats  # per row: what counts as a violation of size one


# rows of a state's vectors: coordinates with their derivatives, the same one step before, and the singular vectors
Q, V, A, Q_1, V_1, A_1, LEFT, RIGHT = range(8)
# its scalars: time and singular value, now and at the last two steps; step size; sign of the determinant; usual value
T, SIGMA, SIGMA_1, T_1, SIGMA_2, T_2, H, DET, REFERENCE = range(9)


class State(Frame):
    """Where the motion is."""

    x: FloatRows  # 8 vectors, see above
    s: Floats  # 9 scalars, see above

    @property
    def q(self) -> np.ndarray:
        """The coordinates."""
        return self.x[Q]

    @property
    def v(self) -> np.ndarray:
        """The velocities."""
        return self.x[V]

    @property
    def a(self) -> np.ndarray:
        """The accelerations."""
        return self.x[A]


def new_state(n: int) -> State:
    """An empty state."""
    state = State(np.zeros((8, n)), np.zeros(9))
    state.x[LEFT] = state.x[RIGHT] = 1.0 / np.sqrt(n)
    return state


class Work(Frame):
    """Scratch memory of one path."""

    x: Floats
    y: Floats
    out: Floats
    gamma: Floats
    lu: Floats
    n: FloatRows  # 8 x n scratch


def new_work(path: Path, x: np.ndarray) -> Work:
    """Scratch memory; x holds the numbers of the elements."""
    n = len(path.scale)
    y = max(1, path.position.size_y, path.acceleration.size_y, size_arguments(path.layout))
    out, gamma, lu = (np.zeros(k) for k in (path.position.size_out, len(path.row_scale), size_lu(path.plan)))
    return Work(x, np.zeros(y), out, gamma, lu, np.zeros((8, n)))


@compiled
def _norm(path, d):
    largest = 0.0
    for i in range(d.shape[0]):
        size = abs(d[i]) / path.scale[i]
        if size > largest:
            largest = size
        elif size != size:
            return size  # NaN must not get lost
    return largest


@compiled
def entries(path):
    """How many structural non-zeros Phi_q has."""
    return path.entry_row.shape[0]


@compiled
def _active(path, full, offset, sign, b):
    active = path.active
    for k in range(b.shape[0]):
        b[k] = sign * full[offset + active[k]]


@compiled
def _jacobian_times(path, values, w, b, sign):
    """B += sign * J w on the active rows."""
    entry_row, entry_column = path.entry_row, path.entry_column
    for k in range(values.shape[0]):
        row = entry_row[k]
        if row >= 0:
            b[row] += sign * values[k] * w[entry_column[k]]


@compiled
def _refined(path, work, values, rhs, x, sweeps):
    """Solve J x = rhs with the factorisation at hand and refine with the present J, at most so many times."""
    r, d, w = work.n[5], work.n[6], work.n[7]
    plan = path.plan
    solve(plan, work.lu, rhs, x, w)
    for _ in range(sweeps):
        copy(rhs, r)
        _jacobian_times(path, values, x, r, -1.0)
        solve(plan, work.lu, r, d, w)
        add(x, d)
        size, change = _norm(path, x), _norm(path, d)
        if not change > 1e-8 * size:
            break


@entry
def rates(path, work, q, t, v, a):
    """Velocity and acceleration at a solved position; True when they could be had."""
    m = path.row_scale.shape[0]
    values = work.out[m : m + entries(path)]
    load(path.layout, q, t, work.x, work.y)
    run(path.position, work.x, work.y, work.out)
    if not factor(path.plan, values, work.lu, work.n[7]) < GROWTH:
        return False
    return _rates(path, work, values, m + values.shape[0], v, a, 1)


@compiled
def _rates(path, work, values, nu_at, v, a, sweeps):
    rhs = work.n[4]
    _active(path, work.out, nu_at, 1.0, rhs)
    _refined(path, work, values, rhs, v, sweeps)
    load_rates(path.layout, v, work.x)
    run(path.acceleration, work.x, work.y, work.gamma)
    _active(path, work.gamma, 0, 1.0, rhs)
    _refined(path, work, values, rhs, a, sweeps)
    return np.isfinite(_norm(path, v)) and np.isfinite(_norm(path, a))


@entry
def correct(path, work, q, t, wary):
    """Newton's method on the active rows, in place; returns a code and the size of the first correction.

    The code is 0: solved, 1: not solved, 2: pivots should be chosen again.

    ``wary`` refuses a poor first contraction. On success the factorisation and the position outputs belong to the
    solution, up to about the first correction.
    """
    m = path.row_scale.shape[0]
    values = work.out[m : m + entries(path)]
    rhs, d, w = work.n[4], work.n[5], work.n[7]
    load(path.layout, q, t, work.x, work.y)
    run(path.position, work.x, work.y, work.out)
    growth = factor(path.plan, values, work.lu, w)
    if not growth < GROWTH:
        return 2, 0.0
    first, last = 0.0, 0.0
    noise = 2e-14 + ROUNDING * _norm(path, q)
    for iteration in range(25):
        _active(path, work.out, 0, -1.0, rhs)
        solve(path.plan, work.lu, rhs, d, w)
        size = _norm(path, d)
        if not size < (0.25 if wary else 1e3):
            return 1, first
        if iteration == 0:
            first = size
        elif iteration == 1 and wary and first > 1e-9 and size > 0.125 * first:
            return 1, first
        elif iteration > 1 and size > 0.5 * last:
            # rounding near a singular position: as good as it gets
            add(q, d)
            return (0 if size < 1e-8 else 1), first
        add(q, d)
        last = size
        if size < noise:
            return 0, first
        load(path.layout, q, t, work.x, work.y)
        run(path.position, work.x, work.y, work.out)
        if size > 1e-5:
            growth = factor(path.plan, values, work.lu, w)
            if not growth < GROWTH:
                return 2, first
    return 1, first


@compiled
def _violation(path, out):
    """Largest violation of the rows that are not solved for."""
    worst = 0.0
    for k in range(path.row_scale.shape[0]):
        worst = max(worst, abs(out[k]) / path.row_scale[k])
    return worst


@compiled
def singular_value(path, work, state):
    """Update the tracked singular vectors with one sweep of inverse iteration; returns the signed value."""
    m = path.row_scale.shape[0]
    values = work.out[m : m + entries(path)]
    d, w = work.n[4], work.n[7]
    solve(path.plan, work.lu, state.x[LEFT], d, w)
    towards(d, state.x[RIGHT])
    solve_transposed(path.plan, work.lu, state.x[RIGHT], d, w)
    towards(d, state.x[LEFT])
    for i in range(d.shape[0]):
        d[i] = 0.0
    _jacobian_times(path, values, state.x[RIGHT], d, 1.0)
    return dot(state.x[LEFT], d)


@entry
def determinant(path, work):
    """The sign of the determinant of the Jacobian factored last."""
    return determinant_sign(path.plan, work.lu)


@entry
def begin(path, work, state, sweeps):
    """Rates and singular value at the state's q and t; True when the Jacobian could be factored."""
    s = state.s
    if not rates(path, work, state.x[Q], s[T], state.x[V], state.x[A]):
        return False
    for _ in range(sweeps):
        s[SIGMA] = singular_value(path, work, state)
    s[SIGMA_1] = s[SIGMA_2] = s[SIGMA]
    s[T_1] = s[T_2] = s[T]
    s[DET] = determinant(path, work)
    s[REFERENCE] = max(s[REFERENCE], abs(s[SIGMA]))
    s[H] = 0.02 * stride(path, state)
    return True


@entry
def stride(path, state):
    """The longest time step that keeps the movement within STRIDE."""
    v, a = _norm(path, state.x[V]), _norm(path, state.x[A])
    if v == 0.0 and a == 0.0:
        return np.inf
    return STRIDE / (v + np.sqrt(STRIDE * a))


@entry
def copy_state(source, target):
    """Target = source."""
    for k in range(source.x.shape[0]):
        for i in range(source.x.shape[1]):
            target.x[k, i] = source.x[k, i]
    copy(source.s, target.s)


@compiled
def _predict(state, h, q):
    """Extrapolate the quintic through the last two positions, velocities and accelerations (or the last one alone)."""
    s = state.s
    h1 = s[T] - s[T_1]
    if not h1 > 0.0 or h > 2.0 * h1:
        for i in range(q.shape[0]):
            q[i] = state.x[Q, i] + h * (state.x[V, i] + 0.5 * h * state.x[A, i])
        return
    x = 1.0 + h / h1
    x3, x4, x5 = x**3, x**4, x**5
    dq = 10.0 * x3 - 15.0 * x4 + 6.0 * x5
    v_1, v_0 = h1 * (x - 6.0 * x3 + 8.0 * x4 - 3.0 * x5), h1 * (-4.0 * x3 + 7.0 * x4 - 3.0 * x5)
    a_1, a_0 = h1 * h1 * 0.5 * (x * x - 3.0 * x3 + 3.0 * x4 - x5), h1 * h1 * (0.5 * x3 - x4 + 0.5 * x5)
    for i in range(q.shape[0]):
        change = dq * (state.x[Q, i] - state.x[Q_1, i]) + v_1 * state.x[V_1, i] + v_0 * state.x[V, i]
        q[i] = state.x[Q_1, i] + change + a_1 * state.x[A_1, i] + a_0 * state.x[A, i]


@compiled
def _try(path, work, state, before, h, hmax, fresh):
    """One step of length h from ``before`` (a copy of ``state``); on success ``state`` is the new one."""
    s = state.s
    q, v, a = work.n[0], work.n[1], work.n[2]
    _predict(state, h, q)
    t = s[T] + h
    code, first = correct(path, work, q, t, True)
    if code == 2 and not fresh:
        copy(q, state.x[Q])  # where to choose new pivots
        return REPLAN
    if code != 0:
        return STALL
    m = path.row_scale.shape[0]
    values = work.out[m : m + entries(path)]
    if not _rates(path, work, values, m + values.shape[0], v, a, 0 if first < 2e-14 + ROUNDING * _norm(path, q) else 5):
        return STALL
    if m > path.scale.shape[0] and _violation(path, work.out) > 1e-8:
        return INCONSISTENT
    gap, travel = work.n[3], 0.0
    for i in range(q.shape[0]):
        gap[i] = q[i] - state.x[Q, i] - 0.5 * h * (state.x[V, i] + v[i]) + h * h / 12.0 * (a[i] - state.x[A, i])
        travel = max(travel, h * max(abs(v[i]), abs(state.x[V, i])) / path.scale[i])
    if _norm(path, gap) > 0.01 * travel + 1e-9:
        return STALL
    copy(state.x[Q], state.x[Q_1])
    copy(state.x[V], state.x[V_1])
    copy(state.x[A], state.x[A_1])
    copy(q, state.x[Q])
    copy(v, state.x[V])
    copy(a, state.x[A])
    s[T] = t
    s[SIGMA_2], s[T_2] = s[SIGMA_1], s[T_1]
    s[SIGMA_1], s[T_1] = s[SIGMA], before.s[T]
    s[SIGMA] = singular_value(path, work, state)
    s[DET] = determinant(path, work)
    if abs(s[SIGMA]) < TOO_CLOSE * s[REFERENCE]:
        copy_state(before, state)
        return STALL
    if s[T_1] > s[T_2] and h > 1e-4 * hmax:
        course = s[SIGMA_1] + (s[SIGMA_1] - s[SIGMA_2]) / (s[T_1] - s[T_2]) * h
        if abs(s[SIGMA] - course) > 0.5 * max(abs(s[SIGMA]), abs(s[SIGMA_1])):
            copy_state(before, state)
            return STALL
    s[REFERENCE] = max(s[REFERENCE], abs(s[SIGMA]))
    return REACHED


@compiled
def _dips(s):
    """Whether the singular value has just passed a minimum that may hide a zero."""
    s0, s1, s2 = abs(s[SIGMA_2]), abs(s[SIGMA_1]), abs(s[SIGMA])
    if not (s1 < s0 and s1 <= s2 and s[T_1] > s[T_2]):
        return False
    h1, h2 = s[T_1] - s[T_2], s[T] - s[T_1]
    slope1, slope2 = (s1 - s0) / h1, (s2 - s1) / h2
    curve = (slope2 - slope1) / (h1 + h2)
    slope = (slope1 * h2 + slope2 * h1) / (h1 + h2)
    return s1 - slope * slope / (4.0 * curve) < 0.5 * s1


@compiled
def advance(path, work, state, before, target, limit, fresh):
    """Step from the state's time to a target time; ``before`` is the state before the last step on return."""
    s = state.s
    while s[T] < target:
        hmax = min(stride(path, state), limit)
        h = min(s[H], hmax)
        left = target - s[T]
        if h > 0.999 * left:
            h = left
        elif h > 0.5 * left:
            h = 0.5 * left
        if s[T] + h <= s[T]:
            return STALL
        copy_state(state, before)
        code = _try(path, work, state, before, h, hmax, fresh)
        if code == REPLAN:
            return REPLAN
        if code == INCONSISTENT and h < 1e-3 * hmax:
            return INCONSISTENT
        if code != REACHED:
            copy_state(before, state)
            s[H] = 0.5 * h
            if h < SMALLEST * hmax:
                return STALL
            continue
        fresh = False
        s[H] = min(2.0 * max(h, s[H]), hmax)
        if h == left:
            s[T] = target
        if s[SIGMA] * s[SIGMA_1] <= 0.0 or s[DET] != before.s[DET]:
            return CROSS
        if _dips(s):
            return DIP
    return REACHED


@entry
def track(path, work, state, before, grid, k, limit, fresh, out_q, out_v, out_a):
    """Record the motion at grid[k:]; returns a code and the number of the first point not recorded."""
    while k < grid.shape[0]:
        code = advance(path, work, state, before, grid[k], limit, fresh)
        if code != REACHED:
            return code, k
        for i in range(state.x.shape[1]):
            out_q[k, i] = state.x[Q, i]
            out_v[k, i] = state.x[V, i]
            out_a[k, i] = state.x[A, i]
        k += 1
    return REACHED, k
