"""A mechanism at rest and how it changes with design parameters.

At rest f(q, 0, 0, t, lambda) = 0 and Phi(q, t) = 0 whatever the parameters are, so that

    [ f_q    f_lambda ] [ q_p      ]     [ f_p   ]
    [ Phi_q     0     ] [ lambda_p ] = - [ Phi_p ],

the tangent of the equilibrium itself, the curvature (Phi_q^T lambda)_q of the constraints included.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kempe.analysis import Equilibrium
from kempe.analysis.saddles import Look, Saddle
from kempe.analysis.tangents import State, free_motions, settle
from kempe.design.chain import Chain
from kempe.design.driven import LEFT, contradiction
from kempe.design.leaning import Leaning
from kempe.design.shared_slopes import multiplier_slopes
from kempe.errors import ModelError
from kempe.simulation.assembling import coordinate_index, pose_array
from kempe.simulation.posing import Posed
from kempe.solvers.least_squares import DENSE
from kempe.system.dependence import most_first

#: Below this share of the largest stiffness a motion is resisted by none.
SOFT = 1e-11


@dataclass(frozen=True)
class Rest:
    """A pose at rest with its multipliers, and how both change with each parameter (one row each)."""

    t: float
    q: np.ndarray
    lam: np.ndarray
    held: np.ndarray
    q_p: np.ndarray
    lam_p: np.ndarray
    #: What the efforts on held coordinates change by.
    holding_p: np.ndarray
    #: The same in the inputs of all kernels.
    along: Leaning


def rest(posed: Posed, chain: Chain, found: Equilibrium, drawn: np.ndarray) -> Rest:
    """How an equilibrium changes; ``drawn`` are the derivatives of the coordinates where they are held."""
    system, n = posed.system, posed.system.n
    q, still = pose_array(system, found.pose), np.zeros(n)
    lam = np.array([found.multipliers[row.label] for row in system.rows])
    held = np.array([coordinate_index(posed, name) for name in found.holding], dtype=int)
    settle(posed, State(q, still, found.time))
    here = Leaning(posed, chain)
    here.stand(q, found.time, still, still, lam)
    q_p = np.zeros((len(chain), n))
    if not chain.names:  # nothing is asked about but the pose itself
        return Rest(found.time, q, lam, held, q_p, np.zeros((0, system.m)), q_p[:, held], here)
    _nothing_stuck(posed)
    q_p[:, held] = drawn[:, held]
    here.lean(dq=q_p)
    here.keep()
    saddle = Saddle(posed, found.time, np.setdiff1d(np.arange(n), held))
    q_p[:, saddle.free], lam_p, unit = _solved(posed, saddle, here, q, lam, found.stiffness)
    here.lean(dq=q_p)
    if n <= DENSE and not system.dynamics.loaded:
        lam_p = _multipliers(posed, saddle, here, q, lam * posed.row_scale) / posed.row_scale
    here.lean(dlam=lam_p)
    here.keep()
    _fulfilled(posed, saddle, here, q_p, lam_p, unit)
    return Rest(found.time, q, lam, held, q_p, lam_p, here.balance()[:, held], here)


def _solved(
    posed: Posed, saddle: Saddle, here: Leaning, q: np.ndarray, lam: np.ndarray, stiffness: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """What free coordinates and multipliers change by, for what forces and constraints do; the largest stiffness."""
    at, K = saddle.look(q, lam * posed.row_scale), saddle.stiffness(q, lam * posed.row_scale)
    _determined(posed, saddle, K, at, stiffness)
    unit = max(float(np.abs(K).max(initial=0.0)), float(np.abs(at.f).max(initial=0.0)), 1e-300)
    try:
        factors = saddle.factors(K / unit, at, 0.0)
    except RuntimeError:  # exactly singular
        raise _indifferent(posed, "its softest motion") from None
    forces = -(here.balance() * posed.scale)[:, saddle.free] / unit
    gaps = -here.positions()[0] / posed.row_scale
    solved = [factors.solve(force, gap) for force, gap in zip(forces, gaps, strict=True)]
    moved = np.array([move for move, _ in solved]) * posed.scale[saddle.free]
    return moved, np.array([multipliers for _, multipliers in solved]) * unit / posed.row_scale, unit


def _multipliers(posed: Posed, saddle: Saddle, here: Leaning, q: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """How the multipliers change that balance the forces on free coordinates."""
    free, n = saddle.free, posed.system.n
    G, wanted, scale = np.zeros((n, saddle.m)), np.zeros((len(here.dx), n)), np.zeros(n)
    G[free] = saddle.right(saddle.look(q, lam))
    wanted[:, free] = -(here.balance() * posed.scale)[:, free]
    scale[free] = posed.scale[free]
    return multiplier_slopes(posed, here, G, lam, wanted, scale)


def _nothing_stuck(posed: Posed) -> None:
    """What friction holds rests where it was put: that is no function of parameters."""
    system = posed.system
    for k, element in enumerate(system.elements):
        places = system.giving[(system.giving >= system.x_at[k]) & (system.giving < system.x_at[k + 1])]
        if posed.x[places].any():
            raise ModelError(
                f"'{element.name}' is held by friction, so that '{posed.model.name}' rests where it was put: its "
                "equilibrium has no derivatives by parameters"
            )


def _determined(posed: Posed, saddle: Saddle, K: np.ndarray, at: Look, stiffness: float) -> None:
    """Where a motion is resisted by nothing, no equilibrium beside this one is the next."""
    if saddle.n > DENSE:
        if stiffness == 0.0:
            raise _indifferent(posed, "its softest motion")
        return
    ones = np.ones(saddle.n), np.ones(saddle.m)
    N, L = free_motions(saddle.jacobian(at), *ones), free_motions(saddle.right(at).T, *ones)
    if N.shape[1] == 0:
        return
    whole = saddle.full(K)
    size = float(np.abs(K).max(initial=0.0)) + float(np.abs(at.f).max(initial=0.0))
    _, s, Vt = np.linalg.svd(L.T @ (whole @ N))
    if s[-1] <= SOFT * max(size, 1e-300):
        weight = np.abs(N @ Vt[-1])
        free = [posed.system.names[saddle.free[k]][0] for k in most_first(weight)[:3]]
        raise _indifferent(posed, ", ".join(free))


def _indifferent(posed: Posed, what: str) -> ModelError:
    return ModelError(
        f"'{posed.model.name}' rests indifferently: nothing decides {what}, so that its equilibrium has no derivatives "
        "by parameters; hold a coordinate (hold=...), or add a spring"
    )


def _fulfilled(posed: Posed, saddle: Saddle, here: Leaning, q_p: np.ndarray, lam_p: np.ndarray, unit: float) -> None:
    """Forces and constraints must both stay zero along every direction; ``unit`` is the largest stiffness."""
    moved = np.abs(q_p / posed.scale).max(axis=1, initial=0.0)
    open_, push = np.abs(here.positions()[0]) / posed.row_scale, np.abs(here.balance() * posed.scale)[:, saddle.free]
    here.dx[:, here.system.layout.q] = here.dx[:, here.system.layout.lam] = 0.0  # numbers alone
    gap, force = np.abs(here.positions()[0]) / posed.row_scale, np.abs(here.balance() * posed.scale)
    here.lean(dq=q_p, dlam=lam_p)
    carried = np.abs(lam_p * posed.row_scale).max(axis=1, initial=0.0)
    for k, name in enumerate(here.chain.names):
        if open_[k].max(initial=0.0) > LEFT * (moved[k] + gap[k].max(initial=0.0) + force[k].max() / unit):
            raise contradiction(posed, open_[k], name)
        if push[k].max(initial=0.0) > LEFT * (force[k].max() + carried[k]):
            raise ModelError(
                f"the equilibrium of '{posed.model.name}' has no derivative by '{name}': an element keeps values of "
                "the pose, or the pose is next to a singular one"
            )
