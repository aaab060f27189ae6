"""Vectors, entry by entry: numba's array expressions cost more than their arithmetic for short ones.

Loops over arrays that are arguments, and of which few are written, are made to take several numbers at a time.
"""

from __future__ import annotations

import numpy as np

from kempe.kernels.call import as_bits, as_number
from kempe.solvers.jit import compiled


@compiled
def largest(values, units):
    """The largest of |values| in units; what is no number counts as larger than any."""
    found = 0  # (numbers that are not negative are in the order of their digits, and what is no number comes last)
    for i in range(units.shape[0]):
        found = max(found, as_bits(abs(values[i]) * units[i]))
    return as_number(found)


@compiled
def extrapolate(now, first, second, third, w1, w2, w3, found):
    """Found = now + w1 first + w2 second + w3 third."""
    for i in range(found.shape[0]):
        found[i] = now[i] + w1 * first[i] + w2 * second[i] + w3 * third[i]


@compiled
def put_multiple(source, factor, target):
    """Target = factor source."""
    for i in range(target.shape[0]):
        target[i] = factor * source[i]


@compiled
def add_multiple(source, factor, target):
    """Target += factor source."""
    for i in range(target.shape[0]):
        target[i] += factor * source[i]


@compiled
def take_difference(now, before, first, second, third):
    """Backward differences of one more value."""
    for i in range(first.shape[0]):
        change = now[i] - before[i] - first[i]
        third[i] = change - second[i]
        second[i] = change
    for i in range(first.shape[0]):
        first[i] = now[i] - before[i]


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
