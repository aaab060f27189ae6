"""Independent coordinates: the motion in as many coordinates as there are degrees of freedom (eq. 10.90).

Some coordinates z are chosen so that the others follow from them: [Phi_q; B] is regular, B picking z. Its inverse
[S R] gives the velocities R z' + S nu and the equations R^T M R z'' = R^T (Q - M S c). The choice is made outside
(``RESELECT`` asks for another one); nothing here is shared with the quasi-definite system.
"""

from __future__ import annotations

import numpy as np

from kempe.solvers import sparse_lu
from kempe.solvers.course import FAILED, REACHED, RESELECT, Course
from kempe.solvers.jit import compiled, piece
from kempe.solvers.lagrangian import put_rates
from kempe.solvers.lagrangian import start as lagrangian_start
from kempe.solvers.motion import Equations, Work, copy_state, explicit_at, violation_at
from kempe.solvers.runge_kutta import STAGES, Basis, Memory
from kempe.solvers.vectors import copy


def make_basis(
    n: int, entries: tuple[np.ndarray, np.ndarray, np.ndarray], chosen: np.ndarray, active: np.ndarray, upper: tuple
) -> Basis:
    """A basis from the entries of Phi_q (rows, columns, values here), the chosen coordinates and independent rows."""
    rows, columns, values = entries
    m = int(rows.max(initial=-1)) + 1
    place = np.full(max(m, 1), -1, dtype=np.int64)
    place[active] = np.arange(len(active))
    used = np.flatnonzero(place[rows] >= 0) if len(rows) else np.zeros(0, np.int64)
    f = len(chosen)
    r = np.concatenate([place[rows][used], len(active) + np.arange(f)]).astype(np.int64)
    c = np.concatenate([columns[used], chosen]).astype(np.int64)
    places = np.concatenate([used, np.full(f, len(rows))]).astype(np.int64)
    everything = np.append(values, 1.0)
    plan = sparse_lu.plan_lu(n, r, c, everything[places], places)
    return Basis(
        plan=plan,
        chosen=chosen,
        active=active,
        mass_row=np.ascontiguousarray(upper[0]),
        mass_column=np.ascontiguousarray(upper[1]),
        values=everything.copy(),
        lu=np.zeros(sparse_lu.size_lu(plan)),
        R=np.zeros((f + 1, n)),
        H=np.zeros((max(f, 1), f + 1)),
        **{name: np.zeros(n) for name in ("b", "d", "sweep", "v", "Mx", "push")},
        fresh=1,
    )


@compiled
def _times_mass(eq, wk, basis, x, out):
    """Out = M x from the values of the explicit program."""
    at, row, column = eq.n + 3 * eq.m, basis.mass_row, basis.mass_column
    for i in range(eq.n):
        out[i] = 0.0
    for k in range(row.shape[0]):
        out[row[k]] += wk.out[at + k] * x[column[k]]


@compiled
def _rows_of(eq, wk, basis, offset, sign, b):
    """B = the active rows of a vector in the explicit outputs, then zeros for the independent coordinates."""
    active = basis.active
    for k in range(active.shape[0]):
        b[k] = sign * wk.out[offset + active[k]]
    for k in range(active.shape[0], b.shape[0]):
        b[k] = 0.0


@compiled
def _good(eq, basis):
    """Whether the dependent coordinates move not much faster, by the independent ones, than when these were chosen."""
    fastest, chosen = 0.0, basis.chosen
    for k in range(chosen.shape[0]):
        for i in range(eq.n):
            fastest = max(fastest, abs(basis.R[k, i]) * eq.scale[chosen[k]] / eq.scale[i])
    if basis.limit == 0.0:
        basis.limit = 3.0 * max(fastest, 1.0)
    return fastest <= basis.limit


@compiled
def _dependent(eq, wk, memory):
    """Let the dependent coordinates and velocities of the trial vector follow from the independent ones."""
    n, m, at, basis = eq.n, eq.m, memory.at, memory.basis
    b, d, w, first = basis.b, basis.d, basis.sweep, eq.n + 3 * eq.m + eq.upper
    converged, last = False, np.inf
    for _ in range(12):
        explicit_at(eq, wk, at)
        for k in range(basis.values.shape[0] - 1):
            basis.values[k] = wk.out[first + k]
        if not sparse_lu.factor(basis.plan, basis.values, basis.lu, w) < sparse_lu.GROWTH:
            return False
        _rows_of(eq, wk, basis, n, -1.0, b)
        sparse_lu.solve(basis.plan, basis.lu, b, d, w)
        size = 0.0
        for i in range(n):
            at.q[i] += d[i]
            size = max(size, abs(d[i]) / eq.scale[i])
        if not size < 0.5:
            return False
        if size < 1e-14 or (size < 1e-11 and size > 0.1 * last):  # (velocities follow with the matrix before this)
            converged = True
            break
        last = size
    if not converged:
        return False
    # velocities: v = R z' + S nu
    _rows_of(eq, wk, basis, n + m, 1.0, b)
    f = basis.chosen.shape[0]
    for k in range(f):
        b[n - f + k] = at.v[basis.chosen[k]]
    sparse_lu.solve(basis.plan, basis.lu, b, basis.v, w)
    copy(basis.v, at.v)
    explicit_at(eq, wk, at)
    return True


@compiled
def _accelerations(eq, wk, memory):
    """Accelerations and multipliers of the trial state: R^T M R z'' = R^T (Q - M S c)."""
    n, m, at, basis = eq.n, eq.m, memory.at, memory.basis
    plan, b, d, w, f = basis.plan, basis.b, basis.d, basis.sweep, basis.chosen.shape[0]
    for k in range(f):
        for i in range(n):
            b[i] = 0.0
        b[n - f + k] = 1.0
        sparse_lu.solve(plan, basis.lu, b, basis.R[k], w)
    _rows_of(eq, wk, basis, n + 2 * m, 1.0, b)
    sparse_lu.solve(plan, basis.lu, b, basis.R[f], w)
    if not _good(eq, basis):
        return False
    Mx, push = basis.Mx, basis.push
    _times_mass(eq, wk, basis, basis.R[f], Mx)
    for i in range(n):
        push[i] = -wk.out[i] - Mx[i]
    for j in range(f):
        _times_mass(eq, wk, basis, basis.R[j], Mx)
        for k in range(f):
            total = 0.0
            for i in range(n):
                total += basis.R[k, i] * Mx[i]
            basis.H[k, j] = total
        total = 0.0
        for i in range(n):
            total += basis.R[j, i] * push[i]
        basis.H[j, f] = total
    if not _cholesky(basis.H, f):
        return False
    for i in range(n):
        total = basis.R[f, i]
        for k in range(f):
            total += basis.R[k, i] * basis.H[k, f]
        at.al[i] = total
    # multipliers: Phi_q^T lambda = Q - M a
    _times_mass(eq, wk, basis, at.al, Mx)
    for i in range(n):
        push[i] = -wk.out[i] - Mx[i]
    sparse_lu.solve_transposed(plan, basis.lu, push, d, w)
    for k in range(m):
        at.al[n + k] = 0.0
    for k in range(basis.active.shape[0]):
        at.al[n + basis.active[k]] = d[k]
    return True


@compiled
def _loaded(eq, wk, memory):
    """Where forces depend on multipliers: the same again until these stand still; whether they do."""
    n, lam = eq.n, wk.change
    for _ in range(60 if eq.loaded > 0 else 0):
        for k in range(eq.m):
            lam[k] = memory.at.al[n + k]
        explicit_at(eq, wk, memory.at)
        if not _accelerations(eq, wk, memory):
            return False
        size, change = 1e-300, 0.0
        for k in range(eq.m):
            size = max(size, abs(lam[k]))
            change = max(change, abs(memory.at.al[n + k] - lam[k]))
        if change <= 1e-14 * size:
            return True
    return eq.loaded == 0


@piece
def rates(eq: Equations, wk: Work, course: Course, memory: Memory, stage: float) -> int:
    """The rate of the trial vector, as a stage."""
    course.evaluations += 1
    course.factorisations += 1
    if not _dependent(eq, wk, memory) or not _accelerations(eq, wk, memory) or not _loaded(eq, wk, memory):
        return FAILED if memory.basis.fresh > 0 else RESELECT
    put_rates(eq, wk, course, memory, int(stage))
    return REACHED


@piece
def start(eq: Equations, wk: Work, course: Course, memory: Memory, _: float) -> int:
    """The integrated vector of the present state, and its rate as the first stage."""
    if memory.basis.fresh == 0 and eq.hybrids.row.shape[0] > 0:
        return RESELECT  # other rows may be in force
    return lagrangian_start(eq, wk, course, memory, 0.0)


@piece
def finish(eq: Equations, wk: Work, course: Course, memory: Memory, h: float) -> int:
    """The state at the end of a step, with its rate as stage 12."""
    n, at = eq.n, memory.at
    code = rates(eq, wk, course, memory, float(STAGES))
    if code != REACHED:
        return code
    memory.basis.fresh = 0
    course.violation = max(course.violation, violation_at(eq, wk, at))
    at.dissipated, at.supplied = memory.trial[2 * n], memory.trial[2 * n + 1]
    if course.audit > 0:
        course.energy = max(course.energy, wk.e[0])
    copy_state(at, course.next)
    return REACHED


@compiled
def _cholesky(H, f):
    """Solve H[:, :f] x = H[:, f] in place, x in the last column."""
    for j in range(f):
        for k in range(j):
            H[j, j] -= H[j, k] * H[j, k]
        if not H[j, j] > 0.0:
            return False
        H[j, j] = np.sqrt(H[j, j])
        for i in range(j + 1, f):
            for k in range(j):
                H[i, j] -= H[i, k] * H[j, k]
            H[i, j] /= H[j, j]
    for i in range(f):
        for k in range(i):
            H[i, f] -= H[i, k] * H[k, f]
        H[i, f] /= H[i, i]
    for i in range(f - 1, -1, -1):
        for k in range(i + 1, f):
            H[i, f] -= H[k, i] * H[k, f]
        H[i, f] /= H[i, i]
    return True
