"""Which coordinates to take as independent: those the constraints leave freest in the present position."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import qr

from kempe.analysis.mobility import RANK
from kempe.errors import ConvergenceError
from kempe.solvers import course as co
from kempe.solvers.independent import Basis, make_basis


def choose_basis(run: Any) -> Basis:
    """Independent coordinates and independent rows at the present position of a simulation."""
    posed, moving, n = run.posed, run.moving, run.moving.n
    q, t = run.course.x[co.Q, :n], float(run.course.s[co.T])
    d = moving.programs
    out = posed.system.evaluate(d.explicit, posed.x, q, t, run.course.x[co.V, :n])
    values = out[n + 3 * moving.m + len(d.block_rows) :]
    J = np.zeros((moving.m, n))
    J[d.jacobian_rows, d.jacobian_columns] = values
    J *= posed.scale / posed.row_scale[:, None]
    _, R, order = qr(J, pivoting=True, mode="economic") if moving.m else (None, np.zeros((0, n)), np.arange(n))
    sizes = np.abs(np.diag(R))
    rank = int((sizes > RANK * sizes.max(initial=1e-300)).sum())
    active = np.sort(qr(J.T, pivoting=True, mode="r")[1][:rank]) if moving.m else np.zeros(0, dtype=np.int64)
    chosen = np.sort(order[rank:])
    if len(chosen) + len(active) != n:
        raise ConvergenceError("no independent coordinates could be chosen in this position")
    entries = (d.jacobian_rows, d.jacobian_columns, values)
    return make_basis(n, entries, chosen.astype(np.int64), active.astype(np.int64), (d.block_rows, d.block_columns))
