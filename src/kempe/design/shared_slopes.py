"""How multipliers change with design parameters where redundant constraints share a load.

Those that are taken have the least sum of w lambda^2 (``system.sharing``), so that w lambda = Phi_q y for some y. What
no force decides of lambda_p is then decided by w lambda_p + w_p lambda = (dPhi_q) y + Phi_q y_p, across all Phi_q.
"""

from __future__ import annotations

import numpy as np

from kempe.design.leaning import Leaning
from kempe.errors import ModelError
from kempe.simulation.posing import Posed
from kempe.system.dependence import constraint_rank, idle_multipliers
from kempe.system.sharing import Sharing, sharing

#: By this share of a parameter it is moved to either side, to see how weights change.
STEP = 1e-5


def multiplier_slopes(
    posed: Posed, here: Leaning, G: np.ndarray, lam: np.ndarray, wanted: np.ndarray, scale: np.ndarray
) -> np.ndarray:
    """How multipliers change of which G lambda_p must be what is wanted, a row per parameter.

    All is in sizes of coordinates and rows, which stay as they are; ``scale`` is that of G's rows.
    """
    rank, _, (U, s, Vt) = constraint_rank(G, np.ones(G.shape[1]), np.ones(G.shape[0]))
    left, right = U[:, :rank] / s[:rank], Vt[:rank]
    found = wanted @ left @ right
    found = found + (wanted - found @ G.T) @ left @ right
    on = np.flatnonzero(np.abs(G).max(axis=0, initial=0.0))
    idle = np.zeros((G.shape[1], len(on) - rank))
    idle[on] = idle_multipliers(G[:, on].T, np.ones(len(G)), np.ones(len(on)))
    if not idle.shape[1] or posed.system.dynamics.loaded:
        return np.asarray(found)
    choice, rows = _choice(posed, here), posed.row_scale
    if choice.untold(idle / rows[:, None]).shape[1]:
        raise ModelError(
            f"'{posed.model.name}': reactions that no stiffness tells have no derivatives by parameters; "
            "m.redundancy() says which joints need stiffness="
        )
    w = choice.weight / rows**2
    y = left @ (right @ (w * lam))
    across = here.steepened(y * scale) / rows - _weight_slopes(posed, here) / rows**2 * lam - found * w
    return np.asarray(found + np.linalg.solve(idle.T * w @ idle, (across @ idle).T).T @ idle.T)


def _choice(posed: Posed, here: Leaning, k: int | None = None, step: float = 0.0) -> Sharing:
    """How loads are shared a step along the k-th parameter, the coordinates going with it."""
    layout, parameters, q = posed.system.layout, posed.parameters, here.q
    if k is not None:
        parameters, q = parameters + step * here.chain.parameters[k], q + step * here.dx[k, layout.q]
    return sharing(posed.system, parameters, (q, here.t), (posed.size, posed.row_scale))


def _weight_slopes(posed: Posed, here: Leaning) -> np.ndarray:
    """How the weights change with each parameter."""
    found, names = [], list(posed.model.parameters)
    for k, name in enumerate(here.chain.names):
        step = STEP * (abs(posed.parameters[names.index(name)]) or 1.0)
        ends = [_choice(posed, here, k, side).weight for side in (step, -step)]
        found.append((ends[0] - ends[1]) / (2.0 * step))
    return np.array(found)
