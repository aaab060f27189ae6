"""Which coordinates to take as independent: those the constraints leave freest in the present position."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

from kempe.errors import ConvergenceError
from kempe.solvers.independent import make_basis
from kempe.solvers.runge_kutta import Basis
from kempe.system.dependence import RANK

if TYPE_CHECKING:
    from kempe.simulation.machine import Machine


def choose_basis(machine: Machine) -> Basis:
    """Independent coordinates and independent rows at the present position of a run."""
    system, eq, now = machine.system, machine.eq, machine.course.now
    n, m, d = eq.n, eq.m, system.dynamics
    out = system.evaluate(d.explicit, machine.wk.x, now.q, now.t, now.v)
    values = out[n + 3 * m + eq.upper :][: len(d.jacobian_rows)]
    J = np.zeros((m, n))
    J[d.jacobian_rows, d.jacobian_columns] = values
    J *= eq.scale / eq.row_scale[:, None]
    _, R, order = qr(J, pivoting=True, mode="economic") if m else (None, np.zeros((0, n)), np.arange(n))
    sizes = np.abs(np.diag(R))
    rank = int((sizes > RANK * sizes.max(initial=1e-300)).sum())
    active = np.sort(qr(J.T, pivoting=True, mode="r")[1][:rank]) if m else np.zeros(0, dtype=np.int64)
    chosen = np.sort(order[rank:])
    if len(chosen) + len(active) != n:
        raise ConvergenceError("no independent coordinates could be chosen in this position")
    entries = (d.jacobian_rows, d.jacobian_columns, values)
    return make_basis(n, entries, chosen.astype(np.int64), active.astype(np.int64), (d.block_rows, d.block_columns))
