"""Independent coordinates: the motion in as many coordinates as there are degrees of freedom (eq. 10.90).

Some coordinates z are chosen so that the others follow from them: [Phi_q; B] is regular, B picking z. Its inverse
[S R] gives the velocities R z' + S nu and the equations R^T M R z'' = R^T (Q - M S c). The choice is made outside
(``RESELECT`` asks for another one); nothing here is shared with the quasi-definite system.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kempe.solvers import sparse_lu
from kempe.solvers.course import REACHED, RESELECT
from kempe.solvers.frames import FloatRows, Floats, Frame, Ints
from kempe.solvers.jit import compiled
from kempe.solvers.motion import EXPLICIT, SIZES, place
from kempe.solvers.pack import pack, part
from kempe.solvers.program import load_rates, run

# parts of a basis's indices
PLAN, CHOSEN, ACTIVE, ROW_PLACE, M_ROW, M_COLUMN = range(6)


@dataclass(frozen=True, eq=False)
class Basis(Frame):
    """A choice of independent coordinates."""

    indices: Ints  # plan of [Phi_q; B], chosen coordinates, active rows, per row its place among the active
    values: Floats  # values of Phi_q, then a one
    lu: Floats
    R: FloatRows  # f + 1 rows of length n: the columns of R, then S c
    W: FloatRows  # 8 rows of length n
    H: FloatRows  # f x (f + 1): R^T M R and its right-hand side


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
        pack([plan, chosen, active, place, upper[0], upper[1]]),
        everything.copy(),
        np.zeros(sparse_lu.size_lu(plan)),
        np.zeros((f + 1, n)),
        np.zeros((8, n)),
        np.zeros((max(f, 1), f + 1)),
    )


@compiled
def _times_mass(eq, wk, basis, x, out):
    """Out = M x from the values of the explicit program."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    row, column = part(basis.indices, M_ROW), part(basis.indices, M_COLUMN)
    for i in range(n):
        out[i] = 0.0
    for k in range(row.shape[0]):
        out[row[k]] += wk.out[n + 3 * m + k] * x[column[k]]


@compiled
def _take_jacobian(eq, wk, basis):
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    at = n + 3 * m + part(eq.indices, SIZES)[2]
    for k in range(basis.values.shape[0] - 1):
        basis.values[k] = wk.out[at + k]


@compiled
def _rows_of(eq, wk, basis, offset, sign, b):
    """B = the active rows of a vector in the explicit outputs, then zeros for the independent coordinates."""
    active = part(basis.indices, ACTIVE)
    for k in range(active.shape[0]):
        b[k] = sign * wk.out[offset + active[k]]
    for k in range(active.shape[0], b.shape[0]):
        b[k] = 0.0


@compiled
def _good(eq, basis, chosen):
    """Whether the dependent coordinates move not much faster, by the independent ones, than when these were chosen."""
    fastest = 0.0
    for k in range(chosen.shape[0]):
        for i in range(eq.scale.shape[0]):
            fastest = max(fastest, abs(basis.R[k, i]) * eq.scale[chosen[k]] / eq.scale[i])
    limit = basis.W[6]
    if limit[0] == 0.0:
        limit[0] = 3.0 * max(fastest, 1.0)
    return fastest <= limit[0]


@compiled
def independent_accelerations(eq, wk, basis, t, y, al):
    """Make y's dependent coordinates and velocities follow, then accelerations and multipliers into ``al``."""
    n, m = eq.scale.shape[0], eq.row_scale.shape[0]
    plan, chosen = part(basis.indices, PLAN), part(basis.indices, CHOSEN)
    active, f = part(basis.indices, ACTIVE), chosen.shape[0]
    b, d, w, v = basis.W[0], basis.W[1], basis.W[2], basis.W[3]
    q, rates = y[:n], y[n : 2 * n]
    for iteration in range(12):
        place(eq, wk, q, rates, t)
        run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
        _take_jacobian(eq, wk, basis)
        if not sparse_lu.factor(plan, basis.values, basis.lu, w) < sparse_lu.GROWTH:
            return RESELECT
        _rows_of(eq, wk, basis, n, -1.0, b)
        sparse_lu.solve(plan, basis.lu, b, d, w)
        size = 0.0
        for i in range(n):
            q[i] += d[i]
            size = max(size, abs(d[i]) / eq.scale[i])
        if not size < 0.5:
            return RESELECT
        if size < 1e-13:
            break
        if iteration > 3 and size < 1e-11:
            break
    else:
        return RESELECT
    # velocities: v = R z' + S nu
    _rows_of(eq, wk, basis, n + m, 1.0, b)
    for k in range(f):
        b[n - f + k] = rates[chosen[k]]
    sparse_lu.solve(plan, basis.lu, b, v, w)
    for i in range(n):
        rates[i] = v[i]
    load_rates(eq.layout, rates, wk.x)
    run(part(eq.indices, EXPLICIT), wk.x, wk.y, wk.out)
    # the columns of R, and S c
    for k in range(f):
        for i in range(n):
            b[i] = 0.0
        b[n - f + k] = 1.0
        sparse_lu.solve(plan, basis.lu, b, basis.R[k], w)
    _rows_of(eq, wk, basis, n + 2 * m, 1.0, b)
    sparse_lu.solve(plan, basis.lu, b, basis.R[f], w)
    if not _good(eq, basis, chosen):
        return RESELECT
    Mx, push = basis.W[4], basis.W[5]
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
        return RESELECT
    for i in range(n):
        total = basis.R[f, i]
        for k in range(f):
            total += basis.R[k, i] * basis.H[k, f]
        al[i] = total
    # multipliers: Phi_q^T lambda = Q - M a
    _times_mass(eq, wk, basis, al, Mx)
    for i in range(n):
        push[i] = -wk.out[i] - Mx[i]
    sparse_lu.solve_transposed(plan, basis.lu, push, d, w)
    for k in range(m):
        al[n + k] = 0.0
    for k in range(active.shape[0]):
        al[n + active[k]] = d[k]
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
