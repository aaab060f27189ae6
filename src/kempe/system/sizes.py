"""How large a mechanism is: what counts as a movement of one in each coordinate, and what it does to each row."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from kempe.solvers.program import size_arguments
from kempe.solvers.start import Sketch, measure
from kempe.system.system import System

#: How far other poses are looked at for the scale of constraint rows, in mechanism sizes.
SPREADS = (0.0, 0.1, 0.3)


@lru_cache(maxsize=8)
def _offsets(n: int) -> np.ndarray:
    """The poses around a drawn one that are looked at, in sizes: always the same, and only read."""
    rng = np.random.default_rng(0)
    return np.array([spread * rng.uniform(-1, 1, n) for spread in SPREADS])


def new_sketch(system: System) -> Sketch:
    """Memory for the sizes of a system; ``measure`` fills in scales."""
    rows, columns = system.jacobian_places
    y = max(1, system.position.size_y, size_arguments(system.layout))
    n, m = system.n, system.m
    return Sketch(
        layout=system.layout,
        position=system.position,
        row=np.ascontiguousarray(rows),
        column=np.ascontiguousarray(columns),
        natural=system.natural_scale,
        offsets=_offsets(n),
        x=np.zeros(len(system.template)),
        y=np.zeros(y),
        out=np.zeros(max(1, system.position.size_out)),
        drawn=np.zeros(n),
        trial=np.zeros(n),
        scale=np.zeros(n),
        row_scale=np.zeros(m),
        largest=np.zeros(max(m, 1)),
    )


def draw(system: System, sketch: Sketch, x: np.ndarray, drawn: np.ndarray) -> None:
    """Measure a pose; rows that are not always in force count as if they were."""
    sketch.x[:], sketch.drawn[:] = x, drawn
    sketch.x[system.conditions[1]] = 1.0
    measure(sketch)
