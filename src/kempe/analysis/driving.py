"""Is a mechanism driven as it must be: neither too little, nor too much, nor against its joints?"""

from __future__ import annotations

import numpy as np

from kempe.analysis.mobility import Mobility, mobility, neighbours
from kempe.errors import ModelError
from kempe.simulation.assembling import assembled
from kempe.simulation.posing import Posed
from kempe.system.dependence import constraint_rank, most_first


def enough_drivers(posed: Posed, t: float) -> None:
    """There must be at least as many constraints and drivers as coordinates."""
    if posed.system.m < posed.system.n:
        info = _mobility(posed, t)
        J = posed.linear(assembled(posed, t), t)[1]  # of drivers too: what they move is not free
        rank, _, (_, _, Vt) = constraint_rank(J, posed.scale, posed.row_scale)
        raise ModelError(f"{_counts(posed, info)}; still free: {_free(posed, Vt[rank:])}; drive as many, or simulate")


def no_contradiction(posed: Posed, q: np.ndarray, t: float) -> None:
    """Drivers must be neither too few, nor contradict joints or each other; a singular position is no contradiction."""
    system = posed.system
    own = ~system.drives
    J = posed.linear(q, t)[1]
    rank_own, _, (_, _, Vt_own) = constraint_rank(J[own], posed.scale, posed.row_scale[own])
    rank, _, (U, _, Vt) = constraint_rank(J, posed.scale, posed.row_scale)
    left, right = U[:, rank:], Vt[rank:]
    if rank < system.n and system.m == system.n and rank_own == own.sum():
        _no_permanent_dependence(posed, q, t, Vt_own[rank_own:].T, left, right)
        return
    info = _mobility(posed, t)
    if info.drivers > max(info.dof, 0) and info.drivers:
        raise ModelError(
            f"'{posed.model.name}' has too many drivers: {info.dof} degrees of freedom, {info.drivers} driven; "
            f"these contradict or repeat each other: {_owners(posed, left)}"
        )
    if rank < system.n and not info.singular_position and info.drivers < info.dof:
        raise ModelError(f"{_counts(posed, info)}; still free: {_free(posed, right)}")


def _no_permanent_dependence(
    posed: Posed, q: np.ndarray, t: float, null: np.ndarray, left: np.ndarray, right: np.ndarray
) -> None:
    """A driver that depends on the joints in neighbouring positions too drives nothing."""
    near = neighbours(posed, q, t, ~posed.system.drives, null)
    ranks = [constraint_rank(posed.linear(p, t)[1], posed.scale, posed.row_scale)[0] for p in near]
    if near and max(ranks) < posed.system.n:
        raise ModelError(
            f"'{posed.model.name}' is not fully driven: these contradict or repeat each other: "
            f"{_owners(posed, left)}; still free: {_free(posed, right)}"
        )


def _mobility(posed: Posed, t: float) -> Mobility:
    parameters = dict(zip(posed.model.parameters, posed.parameters, strict=True))
    return mobility(posed.model, time=t, parameters=parameters)


def _counts(posed: Posed, info: Mobility) -> str:
    freedom = "1 degree of freedom" if info.dof == 1 else f"{info.dof} degrees of freedom"
    return f"'{posed.model.name}' is not fully driven: {freedom}, {info.drivers} driven"


def _owners(posed: Posed, left: np.ndarray) -> str:
    """The joints and drivers whose rows occur in vanishing combinations."""
    rows = np.flatnonzero(np.abs(left).max(axis=1, initial=0.0) > 1e-7)
    return ", ".join(f"'{name}'" for name in dict.fromkeys(posed.system.rows[k].owner for k in rows))


def _free(posed: Posed, right: np.ndarray) -> str:
    """The coordinates that can still move, strongest first."""
    weight = np.abs(right).max(axis=0)
    order = [k for k in most_first(weight) if weight[k] > 1e-9]
    return ", ".join(posed.system.names[k][0] for k in order[:6])
