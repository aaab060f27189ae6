"""Derivatives of what kernels give along a direction of all their inputs (push), and transposed (pull).

A direction is a vector like x, the long input of all kernels. Transposed, weights of the outputs become a vector like x
too: what the weighted outputs change by, per input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kempe.kernels.call import call_kernel, call_vectors
from kempe.solvers.frames import Count, Floats, Frame, Ints
from kempe.solvers.jit import compiled, entry
from kempe.solvers.program import Kernels


class Fused(Frame):
    """Functions that push and pull in one go (``fusing``): one more than their numbers, 0 where there is none."""

    push: Count  # x, dx -> out
    pull: Count  # x, weights, xbar -> xbar

    def __reduce__(self) -> Any:
        return Fused, ()  # (fused code stays in its process)


class Directions(Frame):
    """Calls of kernels that differentiate, with the places of their inputs and outputs."""

    kernels: Kernels
    push: Ints  # per call: the numbers of both kernels
    pull: Ints
    start: Ints  # its inputs are found in x at found_at[start[k]:start[k + 1]]
    found_at: Ints
    first: Ints  # its outputs are target[first[k]:first[k + 1]]
    target: Ints
    size: Count  # how many outputs there are
    scratch: Floats  # inputs of one call
    found: Floats  # outputs of one call
    fused: Fused


def directions(kernels: Kernels, calls: list[tuple], size: int) -> Directions:
    """From calls, each (kernel to push, kernel to pull, where its inputs are in x, targets of its outputs)."""
    counts, widths = [len(target) for *_, target in calls], [len(found_at) for _, _, found_at, _ in calls]
    widest, none = max(widths, default=0), np.zeros(0, np.int64)
    return Directions(
        kernels=kernels,
        push=np.array([push for push, *_ in calls], dtype=np.int64),
        pull=np.array([pull for _, pull, *_ in calls], dtype=np.int64),
        start=np.cumsum([0, *widths]).astype(np.int64),
        found_at=np.concatenate([none, *(found_at for _, _, found_at, _ in calls)]).astype(np.int64),
        first=np.cumsum([0, *counts]).astype(np.int64),
        target=np.concatenate([none, *(target for *_, target in calls)]).astype(np.int64),
        size=size,
        scratch=np.zeros(widest + max([widest, *counts]) + 1),
        found=np.zeros(max([widest, *counts, 1])),
        fused=Fused(),
    )


@compiled
def push(d, x, dx, out):
    """The change of all outputs along dx."""
    if d.fused.push > 0:
        call_vectors(d.kernels.address_of[d.fused.push - 1], (x, dx, out))
        return
    table, scratch, found, first, target = d.kernels.address_of, d.scratch, d.found, d.first, d.target
    start, found_at = d.start, d.found_at
    for i in range(d.size):
        out[i] = 0.0
    for k in range(d.push.shape[0]):
        count = start[k + 1] - start[k]
        for i in range(count):
            at = found_at[start[k] + i]
            scratch[i] = x[at]
            scratch[count + i] = dx[at]
        call_kernel(table[d.push[k]], scratch, 0, found, 0)
        for i in range(first[k], first[k + 1]):
            out[target[i]] += found[i - first[k]]


@compiled
def pull(d, x, weights, xbar):
    """Add to xbar what the weighted outputs change by, per input."""
    if d.fused.pull > 0:
        call_vectors(d.kernels.address_of[d.fused.pull - 1], (x, weights, xbar))
        return
    table, scratch, found, first, target = d.kernels.address_of, d.scratch, d.found, d.first, d.target
    start, found_at = d.start, d.found_at
    for k in range(d.pull.shape[0]):
        count, some = start[k + 1] - start[k], False
        for i in range(first[k], first[k + 1]):
            weight = weights[target[i]]
            some |= weight != 0.0
            scratch[count + i - first[k]] = weight
        if not some:
            continue
        for i in range(count):
            scratch[i] = x[found_at[start[k] + i]]
        call_kernel(table[d.pull[k]], scratch, 0, found, 0)
        for i in range(count):
            xbar[found_at[start[k] + i]] += found[i]


@entry
def pushed(d, x, dx, out):
    """``push`` from Python."""
    push(d, x, dx, out)


@entry
def pulled(d, x, weights, xbar):
    """``pull`` from Python."""
    pull(d, x, weights, xbar)
