"""Small rectangular systems: damped Gauss-Newton (Levenberg-Marquardt) with steps of least weighted length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_matrix, diags, eye
from scipy.sparse.linalg import splu

#: Up to this many unknowns full matrices are used (a rank-deficient system then gets its exact shortest step).
DENSE = 400


@dataclass
class Solution:
    """Where an iteration ended: the point, the scaled residual norm, and how many evaluations it took."""

    q: np.ndarray
    residual: float
    evaluations: int


def shortest_step(J: np.ndarray | csc_matrix, r: np.ndarray, give: np.ndarray, damping: float = 0.0) -> np.ndarray:
    """The step d of least length in the metric 1/give that brings J d to -r (or as near as the damping allows).

    It solves (J G J^T + damping I) y = -r, d = G J^T y with G = diag(give), which is the quasi-definite system
    [1/G, -J^T; J, damping] [d; y] = [0; -r] with d eliminated.
    """
    if isinstance(J, np.ndarray):
        root = np.sqrt(give)
        U, s, Vt = np.linalg.svd(J * root, full_matrices=False)
        kept = s > 1e-13 * s.max(initial=1e-300)
        gain = np.where(kept, s / np.where(kept, s * s + damping, 1.0), 0.0)
        return -root * (Vt.T @ (gain * (U.T @ r)))
    G = diags(give)
    floor = max(damping, 1e-14 * float(np.abs(J.data).max(initial=1.0)) ** 2)
    y = splu((J @ G @ J.T + floor * eye(J.shape[0])).tocsc()).solve(-r)
    return give * (J.T @ y)


def levenberg_marquardt(
    residual: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray | csc_matrix]],
    q: np.ndarray,
    give: np.ndarray,
    stride: np.ndarray,
    tolerance: float = 1e-15,
    iterations: int = 200,
) -> Solution:
    """Minimise |r(q)| from q with steps of least weighted length; ``stride`` bounds a step per coordinate."""
    r, J = residual(q)
    cost, evaluations = float(np.linalg.norm(r)), 1
    if not np.isfinite(cost):
        return Solution(q, np.inf, evaluations)
    damping = 1e-3 * cost
    stuck = 0
    for _ in range(iterations):
        if cost <= tolerance:
            break
        d = shortest_step(J, r, give, damping)
        d = d / max(1.0, float(np.max(np.abs(d) / stride, initial=0.0)))
        trial_r, trial_J = residual(q + d)
        evaluations += 1
        trial = float(np.linalg.norm(trial_r))
        if np.isfinite(trial) and trial < cost:
            slow = trial > 0.999 * cost
            stuck = stuck + 1 if slow else 0
            q, r, J = q + d, trial_r, trial_J
            damping = min(damping * 0.2, 1e-3 * trial)
            cost = trial
            if stuck > 20:
                break
        else:
            if cost < 1e-11:  # rounding
                break
            damping = max(damping * 8.0, 1e-10)
            if damping > 1e12:
                break
    return Solution(q, cost, evaluations)
