"""Derivatives from values alone: central differences, extrapolated, with an estimate of what they are wrong by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def richardson(f: Callable[[float], Any], p: float, step: float, rounds: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """The derivative of f at p, and how far it may be off, entry by entry.

    Central differences of steps ``step``, ``step / 2``, ... are extrapolated to zero in even powers of the step. Of the
    triangle that arises the entry is taken whose neighbours differ least from it, and twice that difference told.
    """
    last: list[np.ndarray] = []
    best, error = np.zeros(()), np.asarray(np.inf)
    for k in range(rounds):
        h = step / 2**k
        row = [(np.asarray(f(p + h), dtype=float) - np.asarray(f(p - h), dtype=float)) / (2 * h)]
        for j, coarse in enumerate(last):
            row.append(row[j] + (row[j] - coarse) / (4.0 ** (j + 1) - 1))
            doubt = np.fmax(np.abs(row[-1] - row[-2]), np.abs(row[-1] - coarse))
            better = doubt < error
            best, error = np.where(better, row[-1], best), np.where(better, doubt, error)
        last = row
    return best, 2 * error
