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


def agree(
    found: np.ndarray, true: np.ndarray, doubt: np.ndarray, unit: np.ndarray, what: str, least: float = 1e-3
) -> None:
    """Columns of derivatives are equal to 1e-9 of the largest in each, of a unit (value per parameter), or of least."""
    largest = np.max([np.abs(true).max(axis=0), unit, np.full(true.shape[1], least)], axis=0)
    beyond = (doubt / largest).max()
    assert beyond <= 1e-7, f"{what}: differences are no measure here, they may be off by {beyond:.2g}"
    wrong = (np.abs(found - true) - doubt) / largest
    assert wrong.max() <= 1e-9, f"{what}: off by {wrong.max():.2g} at {np.unravel_index(wrong.argmax(), wrong.shape)}"
