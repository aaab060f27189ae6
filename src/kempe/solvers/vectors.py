"""Short vectors, entry by entry: numba's array expressions cost more than their arithmetic there."""

from __future__ import annotations

import numpy as np

from kempe.solvers.jit import compiled


@compiled
def copy(source, target):
    """Target = source, entry by entry (a slice assignment costs more than the copy for short vectors)."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@compiled
def dot(a, b):
    """The scalar product."""
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] * b[i]
    return total


@compiled
def towards(a, reference):
    """Scale a to length one, in the half space of the reference, and store it there."""
    factor = 1.0 / np.sqrt(dot(a, a))
    if dot(a, reference) < 0.0:
        factor = -factor
    for i in range(a.shape[0]):
        reference[i] = factor * a[i]


@compiled
def add(q, d):
    """Q += d."""
    for i in range(q.shape[0]):
        q[i] += d[i]
