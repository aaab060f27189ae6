"""The extremes of histories: around the highest of their samples, a motion is sampled again, closely."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

#: So many of the highest samples of each history are looked at closely, with so many points around each of them.
HIGHEST, AROUND = 3, 81


def extremes(
    sample: Callable[[np.ndarray], Mapping[str, np.ndarray]], begin: float, end: float, points: int
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The least and the largest value of each quantity between two instants, of every design.

    ``sample(times)`` gives the quantities by name, with a row per design and a column per time. Peaks in which friction
    turns round have corners: no curve through a few samples finds them.
    """
    grid, step = np.linspace(begin, end, points + 1), (end - begin) / points
    coarse = sample(grid)
    near = {int(k) for rows in coarse.values() for row in rows for way in (row, -row) for k in _highest(way)}
    closely = np.concatenate([grid[k] + step * np.linspace(-1.0, 1.0, AROUND) for k in sorted(near)])
    fine = sample(np.unique(np.clip(closely, begin, end)))
    both = {name: np.concatenate([coarse[name], fine[name]], axis=1) for name in coarse}
    return {name: (values.min(axis=1), values.max(axis=1)) for name, values in both.items()}


def _highest(row: np.ndarray) -> np.ndarray:
    """Where the highest of its local maxima are."""
    padded = np.concatenate([[-np.inf], row, [-np.inf]])
    peaks = np.flatnonzero((row >= padded[:-2]) & (row >= padded[2:]))
    return peaks[np.argsort(row[peaks])[-HIGHEST:]]


def crest(values: np.ndarray) -> np.ndarray:
    """The largest value of each row, by a parabola through its highest sample and the two beside it."""
    k = np.clip(values.argmax(axis=1), 1, values.shape[1] - 2)
    before, top, after = (values[np.arange(len(k)), k + side] for side in (-1, 0, 1))
    bend = before - 2 * top + after
    rise = np.divide((after - before) ** 2, -8 * bend, out=np.zeros_like(top), where=bend < 0)
    return np.maximum(values.max(axis=1), top + rise)
