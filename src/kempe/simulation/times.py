"""Time grids as users give them, and when two times are the same."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np

from kempe.elements import plain_array, plain_number, positive, shown
from kempe.errors import ModelError

#: So many output times at most.
MOST_TIMES = 10_000_000
#: Times and time spans beyond these are a mistake, whatever the unit: their squares leave the range of numbers.
SHORTEST, LONGEST = 1e-100, 1e100


def time_grid(times: Any, steps: int) -> np.ndarray:
    """An increasing grid from what the user gave."""
    if isinstance(steps, (bool, np.bool_)) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise ModelError(f"steps must be a whole number of at least 1, not {shown(steps)}")
    if isinstance(times, (str, bytes)) or not hasattr(times, "__len__") or getattr(times, "ndim", 1) == 0:
        end = float(positive(plain_number(times, "the end time"), "the end time"))
        if steps >= MOST_TIMES:
            raise ModelError(f"{shown(steps)} steps are too many (at most {MOST_TIMES - 1})")
        return _checked(np.linspace(0.0, end, int(steps) + 1))
    grid = plain_array(times, "times")
    if grid.ndim != 1 or len(grid) == 0:
        raise ModelError(f"times must be an end time, or a list of times, not {shown(times)}")
    if len(grid) > MOST_TIMES:
        raise ModelError(f"{len(grid)} times are too many (at most {MOST_TIMES})")
    return _checked(grid)


def _checked(grid: np.ndarray) -> np.ndarray:
    """A grid whose times can be told apart and squared."""
    if not np.isfinite(grid).all():
        raise ModelError("times must be finite")
    largest, span = float(np.abs(grid).max()), float(grid[-1] / 2 - grid[0] / 2) * 2
    if largest > LONGEST:
        raise ModelError(f"times must be within {LONGEST:g}, not {largest:g}")
    if len(grid) > 1 and 0 <= span < max(SHORTEST, 1e7 * np.spacing(largest)):
        raise ModelError(f"the time span from {grid[0]:.17g} to {grid[-1]:.17g} is too short to be divided")
    if not (np.diff(grid) > 0).all():
        k = int(np.argmax(~(np.diff(grid) > 0)))
        raise ModelError(f"times must increase, but {grid[k + 1]:g} follows {grid[k]:g}")
    return grid


def check_room(times: int, numbers: int, what: str) -> None:
    """Refuse histories that no memory can hold, before a run fills it: ``numbers`` at each of so many ``times``."""
    needed = 8.0 * times * numbers
    if needed > _memory():
        raise ModelError(
            f"{times} output times for {what} take {needed / 2**30:.3g} GiB, more than this machine has; ask for fewer"
        )


@cache
def _memory() -> float:
    """The memory of this machine, in bytes."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return float(2**36)


def same_time(t: float) -> float:
    """How near a grid point must be to a singular position to count as being there."""
    return 1e-9 * max(1.0, abs(t))
