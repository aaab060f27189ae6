"""Time grids as users give them, and when two times are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from kempe.elements import plain_number, positive
from kempe.errors import ModelError


def time_grid(times: Any, steps: int) -> np.ndarray:
    """An increasing grid from what the user gave."""
    if np.ndim(times) == 0:
        end = float(positive(plain_number(times, "the end time"), "the end time"))
        if not isinstance(steps, (int, np.integer)) or steps < 1:
            raise ModelError(f"steps must be a whole number of at least 1, not {steps!r}")
        return np.linspace(0.0, end, int(steps) + 1)
    try:
        grid = np.ascontiguousarray(times, dtype=float)
    except (TypeError, ValueError):
        raise ModelError("times must be numbers") from None
    if grid.ndim != 1 or len(grid) == 0:
        raise ModelError(f"times must be a list of at least one time, not an array of shape {grid.shape}")
    if not np.isfinite(grid).all():
        raise ModelError("times must be finite")
    if not (np.diff(grid) > 0).all():
        raise ModelError("times must increase")
    return grid


def same_time(t: float) -> float:
    """How near a grid point must be to a singular position to count as being there."""
    return 1e-9 * max(1.0, abs(t))
