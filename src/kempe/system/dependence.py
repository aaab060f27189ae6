"""Constraints that depend on each other: multipliers that together exert nothing, and the rows blamed for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

#: A singular value below this fraction of the largest counts as zero.
RANK = 1e-8
#: A share of a combination below this counts as none.
NOTHING = 1e-7


def most_first(weight: np.ndarray) -> list[int]:
    """Places in the order of what weighs most; what differs by less than a percent of the largest stays."""
    largest = float(weight.max(initial=0.0))
    return [int(k) for k in np.argsort(-np.round(weight / (largest or 1.0), 2), kind="stable")]


def constraint_rank(J: np.ndarray, scale: np.ndarray, row_scale: np.ndarray) -> tuple[int, float, Any]:
    """Rank of a scaled Jacobian, the gap that separates zero from nonzero, and its singular value decomposition."""
    scaled = J * scale / row_scale[:, None]
    if min(scaled.shape) == 0:
        return 0, np.inf, (np.eye(len(J)), np.zeros(0), np.eye(J.shape[1]))
    U, s, Vt = np.linalg.svd(scaled)
    limit = RANK * s[0] if s[0] > 0 else 1.0
    rank = int((s > limit).sum())
    gap = np.inf if rank == len(s) or s[rank] == 0 else float(s[rank - 1] / s[rank]) if rank else np.inf
    return rank, gap, (U, s, Vt)


def idle_multipliers(J: np.ndarray, scale: np.ndarray, row_scale: np.ndarray) -> np.ndarray:
    """Multipliers that exert nothing, Phi_q^T lambda = 0: an orthonormal basis, a column each, of lambda row_scale."""
    rank, _, (U, _, _) = constraint_rank(J, scale, row_scale)
    return U[:, rank:]


class Combination(NamedTuple):
    """Multipliers that exert nothing together: the row that is blamed, whose share is one, and the share of each."""

    row: int
    shares: np.ndarray


def combinations(idle: np.ndarray, order: np.ndarray) -> list[Combination]:
    """What idle multipliers are made of, the rows that come last in an order blamed, each for one combination.

    They are brought to echelon form from the last row up, so that each names a different last row and no other such
    row. Combinations without some last rows are then the same as if these were not there: those of joints alone do not
    depend on drivers, which come behind them.
    """
    N = idle.T[:, order].copy()
    pivots: list[int] = []
    for column in range(N.shape[1] - 1, -1, -1):
        done = len(pivots)
        if done == len(N):
            break
        k = done + int(np.argmax(np.abs(N[done:, column])))
        if abs(N[k, column]) < NOTHING * np.abs(N[k]).max():
            N[done:, column] = 0.0
            continue
        N[[done, k]] = N[[k, done]]
        N[done] /= N[done, column]
        for other in range(len(N)):
            if other != done:
                N[other] -= N[other, column] * N[done]
        pivots.append(column)
    back = np.argsort(order)
    clean = np.where(np.abs(N) < NOTHING * np.abs(N).max(axis=1, initial=1e-300, keepdims=True), 0.0, N)[:, back]
    return [Combination(int(order[pivot]), clean[k]) for k, pivot in enumerate(pivots)]
