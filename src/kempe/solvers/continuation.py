"""Following the solution of Phi(q, t) = 0 in time, on one branch, without stepping over a singular position.

One step predicts q from the last positions, velocities and accelerations, corrects by Newton's method and solves for
velocity and acceleration with the last factors of Phi_q. Where an instant is written out as one function (``instant``),
that does all but the prediction at once; the digits are the same. A step is refused, and halved, when

- Newton's first contraction is poor (the Newton-Kantorovich condition: the solution found is then the one nearby);
- the motion over the step is not the integral of the velocities at its ends (a jump to another branch);
- the signed smallest singular value of Phi_q is not where its recent course says (a pair of sign changes inside).

The smallest singular value sigma = u^T Phi_q w is tracked with the sign that makes u and w continuous, so it changes
sign where the Jacobian becomes singular along the branch, also where several singular values vanish at once and the
determinant keeps its sign. The code that calls ``track`` decides what a sign change, a stall or a dip means.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kempe.kernels.call import call_vectors
from kempe.solvers.frames import Count, FloatBlocks, FloatRows, Floats, Frame, Ints, Real
from kempe.solvers.jit import compiled, entry, pasted
from kempe.solvers.pack import window
from kempe.solvers.program import STATE, Layout, Program, load_rates, load_time, run, size_arguments
from kempe.solvers.sparse_lu import GROWTH, determinant_sign, factor, size_lu, solve, solve_transposed
from kempe.solvers.vectors import add, copy, dot

REACHED, REPLAN, STALL, CROSS, DIP, INCONSISTENT = range(6)

#: Largest movement in one inner step, as a fraction of the mechanism's size or in radians.
STRIDE = 0.2
#: Rounding in a predicted coordinate, as a fraction of its size.
ROUNDING = 1e-15
#: Steps whose lengths differ by less than this share are even.
EVEN = 1e-10
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
    per_scale: Floats  # its reciprocal
    row_scale: Floats  # per row: what counts as a violation of size one
    instant: Count  # the address of the function that does all of an instant; 0 where there is none


#: So many instants a state remembers, the one that is being tried included (a power of two).
INSTANTS = 8
# vectors of an instant: coordinates with their derivatives, and the singular vectors (the right one of any length)
Q, V, A, LEFT, RIGHT = range(5)
# its single numbers: time, singular value and sign of the determinant; largest coordinate and velocity, in sizes; the
# longest time step that may begin there; the step that led there, Newton's last correction, and by what the motion over
# the step is not the integral of the velocities; a check of what was computed at once
T, SIGMA, DET, EXTENT, SPEED, LONGEST, STEP, SIZE, GAP, CHECK = range(10)


@compiled
def _slot(state, back):
    """The place of the present instant, or of one so many steps back (or ahead)."""
    return (state.now - back) & (INSTANTS - 1)


class Instant(NamedTuple):
    """A motion at a time."""

    t: float
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    sigma: float


class State(Frame):
    """Where the motion is, and where it was at the last steps."""

    x: FloatBlocks  # INSTANTS x 5 vectors, see above
    s: FloatRows  # INSTANTS x 10 numbers, see above
    now: Count  # the present instant
    step: Real  # the time step to try
    usual: Real  # the largest singular value seen

    def instant(self, back: int = 0) -> Instant:
        """The present instant, or one so many steps back."""
        k = (self.now - back) % INSTANTS
        q, v, a = self.x[k, Q].copy(), self.x[k, V].copy(), self.x[k, A].copy()
        return Instant(float(self.s[k, T]), q, v, a, float(self.s[k, SIGMA]))

    def go_back(self) -> None:
        """Undo the last step."""
        self.now = (self.now - 1) % INSTANTS


def new_state(q: np.ndarray, t: float) -> State:
    """A state that is at a position, of which the rest is not known yet."""
    state = State(np.zeros((INSTANTS, 5, len(q))), np.zeros((INSTANTS, 10)))
    state.x[0, LEFT] = state.x[0, RIGHT] = 1.0 / np.sqrt(len(q))
    state.x[0, Q], state.s[0, T] = q, t
    return state


# rows of scratch: Newton's correction; then what is free to use
CORRECTION, RHS, R, D, SWEEP = range(5)


class Work(Frame):
    """Scratch memory of one path."""

    x: Floats
    y: Floats
    out: Floats
    gamma: Floats
    lu: Floats
    n: FloatRows  # 5 vectors, see above


def new_work(path: Path, x: np.ndarray) -> Work:
    """Scratch memory; x holds the numbers of the elements."""
    n = len(path.scale)
    y = max(1, path.position.size_y, path.acceleration.size_y, size_arguments(path.layout))
    out, gamma, lu = (np.zeros(k) for k in (path.position.size_out, len(path.row_scale), size_lu(path.plan)))
    return Work(x, np.zeros(y), out, gamma, lu, np.zeros((5, n)))


@compiled
def _norm(path, d):
    """The largest entry, in sizes; NaN must not get lost."""
    per_scale, largest, sound = path.per_scale, 0.0, True
    for i in range(d.shape[0]):
        size = abs(d[i]) * per_scale[i]
        largest = size if size > largest else largest
        sound &= size == size
    return largest if sound else np.nan


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
    r, d, w = work.n[R], work.n[D], work.n[SWEEP]
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


@pasted
def _guess(path, work):
    """The coordinates in the head of the kernels' inputs."""
    return window(work.x, STATE, STATE + path.scale.shape[0])


@compiled
def _factored(path, work, t):
    """Evaluate Phi, Phi_q and nu at the coordinates in the head and factor; whether pivots were good."""
    m = path.row_scale.shape[0]
    load_time(path.layout, t, work.x, work.y)
    run(path.position, work.x, work.y, work.out)
    return factor(path.plan, work.out[m : m + entries(path)], work.lu, work.n[SWEEP]) < GROWTH


@entry
def rates(path, work, q, t, v, a):
    """Velocity and acceleration at a solved position; True when they could be had."""
    copy(q, _guess(path, work))
    return _factored(path, work, t) and _rates(path, work, v, a, 1)


@compiled
def _rates(path, work, v, a, sweeps):
    m, rhs = path.row_scale.shape[0], work.n[RHS]
    values = work.out[m : m + entries(path)]
    _active(path, work.out, m + values.shape[0], 1.0, rhs)
    _refined(path, work, values, rhs, v, sweeps)
    load_rates(path.layout, v, work.x)
    run(path.acceleration, work.x, work.y, work.gamma)
    _active(path, work.gamma, 0, 1.0, rhs)
    _refined(path, work, values, rhs, a, sweeps)
    return np.isfinite(_norm(path, v)) and np.isfinite(_norm(path, a))


@compiled
def _at_once(path, work, state, k):
    """Everything about instant k, from a guess in the head, by its one function; False where that is in doubt."""
    s = state.s[k]
    load_time(path.layout, s[T], work.x, work.y)
    vectors = (work.x, path.per_scale, state.x[(k - 1) & (INSTANTS - 1)], state.x[k], s, work.out)
    call_vectors(path.instant, vectors)
    return s[CHECK] < GROWTH


@compiled
def _corrected(path, work, state, k):
    """Newton's correction of the guess in the head, for instant k; whether pivots were good."""
    if not _factored(path, work, state.s[k, T]):
        return False
    guess, q, d = _guess(path, work), state.x[k, Q], work.n[CORRECTION]
    _active(path, work.out, 0, -1.0, work.n[RHS])
    solve(path.plan, work.lu, work.n[RHS], d, work.n[SWEEP])
    for i in range(d.shape[0]):
        q[i] = guess[i] + d[i]
    state.s[k, SIZE] = _norm(path, d)
    return True


#: How Newton's method ended: solved; solved with everything else about the instant; as good as rounding lets it; not
#: solved; pivots should be chosen again.
SOLVED, ALL_SOLVED, ROUGH, UNSOLVED, POOR = range(5)


@compiled
def _newton(path, work, state, k, extent):
    """Newton's method on the active rows, for instant k from a guess in the head; refuses a poor first contraction.

    The factorisation and the position outputs belong to the solution, up to the last correction.
    """
    first, last, noise = 0.0, 0.0, 2e-14 + ROUNDING * extent
    for iteration in range(25):
        at_once = path.instant != 0 and _at_once(path, work, state, k)
        if not at_once and not _corrected(path, work, state, k):
            return POOR
        size = state.s[k, SIZE]
        if size < noise:
            return ALL_SOLVED if at_once else SOLVED
        if not size < 0.25:
            return UNSOLVED
        if iteration == 0:
            first = size
        elif iteration == 1 and first > 1e-9 and size > 0.125 * first:
            return UNSOLVED
        elif iteration > 1 and size > 0.5 * last:  # rounding near a singular position
            if at_once and not _corrected(path, work, state, k):  # (for the factors, with which rates are refined)
                return POOR
            return ROUGH if size < 1e-8 else UNSOLVED
        copy(state.x[k, Q], _guess(path, work))
        last = size
    return UNSOLVED


@entry
def solved(path, work, state):
    """Solve from the position that the state has for a guess, velocities and accelerations too; whether it could be."""
    k, here = state.now, state.x[state.now]
    copy(here[Q], _guess(path, work))
    if _newton(path, work, state, k, _norm(path, here[Q])) > ROUGH:
        return False
    return rates(path, work, here[Q], state.s[k, T], here[V], here[A])


@compiled
def _violation(path, out):
    """Largest violation of the rows that are not solved for."""
    worst = 0.0
    for k in range(path.row_scale.shape[0]):
        worst = max(worst, abs(out[k]) / path.row_scale[k])
    return worst


@compiled
def _singular_value(path, work, old, new):
    """One sweep of inverse iteration from old singular vectors to new ones; returns the signed value.

    With d = J^-1 u and e = J^-T d the value is |d| / |e|. (J J^T)^-1 is positive definite, so e keeps to the side of u;
    d is turned to the side of the right vector before, and with it the sign of the value.
    """
    left, right, w = new[LEFT], new[RIGHT], work.n[SWEEP]
    solve(path.plan, work.lu, old[LEFT], right, w)
    solve_transposed(path.plan, work.lu, right, left, w)
    squared, length = dot(right, right), dot(left, left)
    side = np.copysign(1.0, dot(right, old[RIGHT]))
    per_length = 1.0 / np.sqrt(length)
    for i in range(left.shape[0]):
        left[i] *= per_length
        right[i] *= side
    return side * np.sqrt(squared / length)


@entry
def determinant(path, work):
    """The sign of the determinant of the Jacobian factored last."""
    return determinant_sign(path.plan, work.lu)


@entry
def begin(path, work, state, sweeps):
    """Rates and singular value at the state's q and t; True when the Jacobian could be factored."""
    now, last = state.now, _slot(state, 1)
    here, s = state.x[now], state.s[now]
    if not rates(path, work, here[Q], s[T], here[V], here[A]):
        return False
    for _ in range(sweeps):
        for i in range(here.shape[1]):
            state.x[last, LEFT, i], state.x[last, RIGHT, i] = here[LEFT, i], here[RIGHT, i]
        s[SIGMA] = _singular_value(path, work, state.x[last], here)
    s[DET] = determinant(path, work)
    _measure(path, work, state, now)
    for back in range(1, 3):  # the steps before were of no length
        state.s[_slot(state, back), T], state.s[_slot(state, back), SIGMA] = s[T], s[SIGMA]
    state.usual = max(state.usual, abs(s[SIGMA]))
    state.step = 0.02 * s[LONGEST]
    return True


@compiled
def _measure(path, work, state, k):
    """The sizes of an instant: of coordinates and velocities, of the steps that may follow, of the gap behind it."""
    new, old, s, gap = state.x[k], state.x[(k - 1) & (INSTANTS - 1)], state.s[k], work.n[D]
    h = s[STEP]
    for i in range(gap.shape[0]):
        gap[i] = new[Q, i] - old[Q, i] - 0.5 * h * (old[V, i] + new[V, i]) + h * h / 12.0 * (new[A, i] - old[A, i])
    s[EXTENT], s[SPEED], s[GAP] = _norm(path, new[Q]), _norm(path, new[V]), _norm(path, gap)
    s[LONGEST] = STRIDE / (s[SPEED] + np.sqrt(STRIDE * _norm(path, new[A])))  # so that the movement stays within STRIDE


@compiled
def _predict(state, h, q):
    """Extrapolate from the last instants.

    After two steps of this length the interpolant of three velocities and accelerations is integrated, which adds next
    to no rounding: one correction is enough on a fine grid. Else it is the quintic through two positions, velocities
    and accelerations, or a parabola.
    """
    old, before, older = state.x[state.now], state.x[_slot(state, 1)], state.x[_slot(state, 2)]
    h1 = state.s[state.now, T] - state.s[_slot(state, 1), T]
    h2 = state.s[_slot(state, 1), T] - state.s[_slot(state, 2), T]
    if abs(h - h1) <= EVEN * h and abs(h - h2) <= EVEN * h:
        u, w = h / 240.0, h * h / 240.0
        for i in range(q.shape[0]):
            past = u * (608.0 * before[V, i] + 581.0 * older[V, i]) + w * (1080.0 * before[A, i] + 173.0 * older[A, i])
            q[i] = old[Q, i] + (past - 949.0 * u * old[V, i] + 637.0 * w * old[A, i])
        return
    dq, v_1, v_0, a_1, a_0 = 0.0, 0.0, h, 0.0, 0.5 * h * h
    if h1 > 0.0 and not h > 2.0 * h1:
        x = 1.0 + h / h1
        x3, x4, x5 = x**3, x**4, x**5
        dq = 10.0 * x3 - 15.0 * x4 + 6.0 * x5 - 1.0
        v_1, v_0 = h1 * (x - 6.0 * x3 + 8.0 * x4 - 3.0 * x5), h1 * (-4.0 * x3 + 7.0 * x4 - 3.0 * x5)
        a_1, a_0 = h1 * h1 * 0.5 * (x * x - 3.0 * x3 + 3.0 * x4 - x5), h1 * h1 * (0.5 * x3 - x4 + 0.5 * x5)
    for i in range(q.shape[0]):
        change = dq * (old[Q, i] - before[Q, i]) + v_1 * before[V, i] + v_0 * old[V, i]
        q[i] = old[Q, i] + (change + a_1 * before[A, i] + a_0 * old[A, i])


@compiled
def _try(path, work, state, h, hmax, fresh):
    """One step of length h; on success the state has moved on to it."""
    k = _slot(state, -1)
    s, s_1, new = state.s[state.now], state.s[_slot(state, 1)], state.s[k]
    new[T], new[STEP] = s[T] + h, h
    _predict(state, h, _guess(path, work))
    code = _newton(path, work, state, k, s[EXTENT])
    if code == POOR and not fresh:
        return REPLAN
    if code > ROUGH:
        return STALL
    if code != ALL_SOLVED:
        if not _rates(path, work, state.x[k, V], state.x[k, A], 0 if code == SOLVED else 5):
            return STALL
        new[SIGMA] = _singular_value(path, work, state.x[state.now], state.x[k])
        new[DET] = determinant(path, work)
        _measure(path, work, state, k)
    if path.row_scale.shape[0] > path.scale.shape[0] and _violation(path, work.out) > 1e-8:
        return INCONSISTENT
    if not new[GAP] <= 0.01 * h * max(s[SPEED], new[SPEED]) + 1e-9:
        return STALL
    if not abs(new[SIGMA]) >= TOO_CLOSE * state.usual:
        return STALL
    if s[T] > s_1[T] and h > 1e-4 * hmax:
        course = s[SIGMA] + (s[SIGMA] - s_1[SIGMA]) / (s[T] - s_1[T]) * h
        if abs(new[SIGMA] - course) > 0.5 * max(abs(new[SIGMA]), abs(s[SIGMA])):
            return STALL
    state.usual = max(state.usual, abs(new[SIGMA]))
    state.now = k
    return REACHED


@compiled
def _dips(first, middle, last):
    """Whether the singular value has just passed a minimum that may hide a zero."""
    s0, s1, s2 = abs(first[SIGMA]), abs(middle[SIGMA]), abs(last[SIGMA])
    if not (s1 < s0 and s1 <= s2 and middle[T] > first[T]):
        return False
    h1, h2 = middle[T] - first[T], last[T] - middle[T]
    slope1, slope2 = (s1 - s0) / h1, (s2 - s1) / h2
    curve = (slope2 - slope1) / (h1 + h2)
    slope = (slope1 * h2 + slope2 * h1) / (h1 + h2)
    return s1 - slope * slope / (4.0 * curve) < 0.5 * s1


@compiled
def advance(path, work, state, target, limit, fresh):
    """Step from the state's time to a target time."""
    while state.s[state.now, T] < target:
        s = state.s[state.now]
        hmax = min(s[LONGEST], limit)
        h = min(state.step, hmax)
        left = target - s[T]
        if h > 0.999 * left:
            h = left
        elif h > 0.5 * left:
            h = 0.5 * left
        if s[T] + h <= s[T]:
            return STALL
        code = _try(path, work, state, h, hmax, fresh)
        if code == REPLAN:
            return REPLAN
        if code == INCONSISTENT and h < 1e-3 * hmax:
            return INCONSISTENT
        if code != REACHED:
            state.step = 0.5 * h
            if h < SMALLEST * hmax:
                return STALL
            continue
        fresh = False
        state.step = min(2.0 * max(h, state.step), hmax)
        s_new = state.s[state.now]
        if h == left:
            s_new[T] = target
        if s_new[SIGMA] * s[SIGMA] <= 0.0 or s_new[DET] != s[DET]:
            return CROSS
        if _dips(state.s[_slot(state, 2)], s, s_new):
            return DIP
    return REACHED


@entry
def track(path, work, state, grid, k, limit, fresh, out_q, out_v, out_a):
    """Record the motion at grid[k:]; returns a code and the number of the first point not recorded."""
    while k < grid.shape[0]:
        code = advance(path, work, state, grid[k], limit, fresh)
        if code != REACHED:
            return code, k
        here = state.x[state.now]
        for i in range(here.shape[1]):
            out_q[k, i] = here[Q, i] + 0.0  # no negative zeros
            out_v[k, i] = here[V, i] + 0.0
            out_a[k, i] = here[A, i] + 0.0
        k += 1
    return REACHED, k
