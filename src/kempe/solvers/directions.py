"""Derivatives of what kernels give along a direction of all their inputs (push), and transposed (pull).

A direction is a vector like x, the long input of all kernels. Transposed, weights of the outputs become a vector like x
too: what the weighted outputs change by, per input.
"""

from __future__ import annotations

import numpy as np

from kempe.kernels.call import call_kernel
from kempe.solvers.frames import Count, Floats, Frame, Ints
from kempe.solvers.jit import compiled, entry
from kempe.solvers.program import Kernels


class Directions(Frame):
    """Calls of kernels that differentiate, with the places of their inputs and outputs."""

    kernels: Kernels
    push: Ints  # per call: the numbers of both kernels
    pull: Ints
    x_at: Ints  # where its inputs begin in x, and how many there are
    inputs: Ints
    first: Ints  # its outputs are target[first[k]:first[k + 1]]
    target: Ints
    size: Count  # how many outputs there are
    scratch: Floats  # inputs of one call
    found: Floats  # outputs of one call


def directions(kernels: Kernels, calls: list[tuple], size: int) -> Directions:
    """From calls, each (kernel to push, kernel to pull, where its inputs begin, how many, targets of its outputs)."""
    counts = [len(target) for *_, target in calls]
    widest = max((inputs for *_, inputs, _ in calls), default=0)
    ints = [np.array(column, dtype=np.int64) for column in zip(*(call[:4] for call in calls), strict=True)]
    push, pull, x_at, inputs = ints if calls else [np.zeros(0, dtype=np.int64)] * 4
    return Directions(
        kernels=kernels,
        push=push,
        pull=pull,
        x_at=x_at,
        inputs=inputs,
        first=np.cumsum([0, *counts]).astype(np.int64),
        target=np.concatenate([np.zeros(0, np.int64), *(target for *_, target in calls)]).astype(np.int64),
        size=size,
        scratch=np.zeros(widest + max([widest, *counts]) + 1),
        found=np.zeros(max([widest, *counts, 1])),
    )


@compiled
def push(d, x, dx, out):
    """The change of all outputs along dx."""
    table, scratch, found, first, target = d.kernels.address_of, d.scratch, d.found, d.first, d.target
    for i in range(d.size):
        out[i] = 0.0
    for k in range(d.push.shape[0]):
        at, count = d.x_at[k], d.inputs[k]
        for i in range(count):
            scratch[i] = x[at + i]
            scratch[count + i] = dx[at + i]
        call_kernel(table[d.push[k]], scratch, 0, found, 0)
        for i in range(first[k], first[k + 1]):
            out[target[i]] += found[i - first[k]]


@compiled
def pull(d, x, weights, xbar):
    """Add to xbar what the weighted outputs change by, per input."""
    table, scratch, found, first, target = d.kernels.address_of, d.scratch, d.found, d.first, d.target
    for k in range(d.pull.shape[0]):
        at, count, some = d.x_at[k], d.inputs[k], False
        for i in range(first[k], first[k + 1]):
            weight = weights[target[i]]
            some |= weight != 0.0
            scratch[count + i - first[k]] = weight
        if not some:
            continue
        for i in range(count):
            scratch[i] = x[at + i]
        call_kernel(table[d.pull[k]], scratch, 0, found, 0)
        for i in range(count):
            xbar[at + i] += found[i]


@entry
def pushed(d, x, dx, out):
    """``push`` from Python."""
    push(d, x, dx, out)


@entry
def pulled(d, x, weights, xbar):
    """``pull`` from Python."""
    pull(d, x, weights, xbar)
