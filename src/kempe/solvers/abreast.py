"""The calls of a large program LANES at a time, in vector registers.

Calls with the same kernel are independent of each other. LANES of them find their inputs in x by one index, and leave
their outputs side by side. Outputs are added up in the order in which the program names them, so the digits are those
of the calls one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kempe.kernels.call import call_indexed, call_kernel
from kempe.kernels.llvm_ir import LANES
from kempe.kernels.side_by_side import can_be_wide, side_by_side
from kempe.solvers.frames import Count, Frame, Ints
from kempe.solvers.jit import compiled

_INT = np.int64


class Abreast(Frame):
    """Calls LANES at a time, as far as as many have the same kernel; those that remain; the sums of their outputs."""

    kernel: Ints  # per LANES calls: the number of the kernel that does all of them
    index_at: Ints  # where the places of their inputs begin in the index
    y_at: Ints  # where their outputs begin in the scratch
    index: Ints
    alone: Ints  # calls that remain, by their number in the program; where their outputs begin in the scratch
    alone_y_at: Ints
    gather_from: Ints  # what these read of the head of x, and where they expect it
    gather_to: Ints
    first: Ints  # per result: the first of the outputs that are added up to it, or a zero
    rest_from: Ints  # the others, in turn
    rest_to: Ints
    zero_at: Count  # where the scratch has a zero
    size_y: Count  # how long the scratch is


class Adding(NamedTuple):
    """Which outputs of a program, side by side as its calls are, are added to which of its results, in turn."""

    source: np.ndarray
    target: np.ndarray
    size: int


NOTHING = Adding(np.zeros(0, dtype=_INT), np.zeros(0, dtype=_INT), 0)


class _Together(NamedTuple):
    """LANES calls with the same kernel."""

    kernel: Any
    calls: np.ndarray


def _grouped(calls: Sequence[Any]) -> tuple[list[_Together], list[int]]:
    """Calls LANES at a time, and those that remain."""
    of_kernel: dict[int, list[int]] = {}
    for k, kernel in enumerate(calls):
        of_kernel.setdefault(kernel.address, []).append(k)
    together, alone = list[_Together](), list[int]()
    for which in of_kernel.values():
        kernel = calls[which[0]]
        whole = len(which) // LANES * LANES if can_be_wide(kernel) else 0
        together += [_Together(kernel, np.array(which[k : k + LANES])) for k in range(0, whole, LANES)]
        alone += which[whole:]
    return together, alone


def abreast(
    number: Callable[[Any], int], calls: Sequence[Any], x_at: np.ndarray, found_at: np.ndarray, adding: Adding
) -> Abreast:
    """The calls of a program (kernels, and where their inputs begin in x) LANES at a time.

    ``number`` enters a kernel into the table, ``found_at`` says where in x the value of each place is found.
    """
    together, alone = _grouped(calls)
    wide = {each.kernel.address: each.kernel for each in together}
    numbers = {address: number(side_by_side(kernel)) for address, kernel in wide.items()}
    reads = [np.array(each.kernel.reads, dtype=_INT)[:, None] for each in together]
    index_at = LANES * np.cumsum([0, *(len(r) for r in reads)])
    y_at = LANES * np.cumsum([0, *(each.kernel.n_out for each in together)])
    alone_y_at = y_at[-1] + np.cumsum([0, *(calls[k].n_out for k in alone)])
    before = np.cumsum([0, *(kernel.n_out for kernel in calls)])
    place = np.zeros(before[-1], dtype=_INT)  # of each output in the scratch
    for each, at in zip(together, y_at.tolist(), strict=False):
        outputs = np.arange(each.kernel.n_out)
        place[before[each.calls][:, None] + outputs] = at + np.arange(LANES)[:, None] + LANES * outputs
    for k, at in zip(alone, alone_y_at.tolist(), strict=False):
        place[before[k] : before[k + 1]] = at + np.arange(calls[k].n_out)
    gather_to = _joined([x_at[k] + np.array(calls[k].reads, dtype=_INT) for k in alone])
    moved = found_at[gather_to] != gather_to
    arrays = {
        "kernel": [numbers[each.kernel.address] for each in together],
        "index_at": index_at,
        "y_at": y_at,
        "index": _joined([found_at[x_at[each.calls] + r].ravel() for each, r in zip(together, reads, strict=True)]),
        "alone": alone,
        "alone_y_at": alone_y_at,
        "gather_from": found_at[gather_to][moved],
        "gather_to": gather_to[moved],
        **_sums(adding if calls else NOTHING, place, int(alone_y_at[-1])),
    }
    whole = {name: np.array(array, dtype=_INT) for name, array in arrays.items()}
    return Abreast(**whole, zero_at=int(alone_y_at[-1]), size_y=int(alone_y_at[-1]) + 1)


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=_INT), *arrays])


def _sums(adding: Adding, place: np.ndarray, zero_at: int) -> dict[str, np.ndarray]:
    """The first output of every sum, and the others in turn."""
    met, once = np.unique(adding.target, return_index=True)
    first = np.full(adding.size, zero_at, dtype=_INT)
    first[met] = place[adding.source[once]]
    later = np.setdiff1d(np.arange(len(adding.target)), once)
    return {"first": first, "rest_from": place[adding.source[later]], "rest_to": adding.target[later]}


@compiled
def run_abreast(wide, table, kernel, x_at, x, y, out):
    """Evaluate a program; ``kernel`` and ``x_at`` are those of its single calls."""
    index_at, y_at, index = wide.index_at, wide.y_at, wide.index
    for k in range(wide.kernel.shape[0]):
        call_indexed(table[wide.kernel[k]], x, 0, y, y_at[k], index, index_at[k])
    gather_from, gather_to = wide.gather_from, wide.gather_to
    for k in range(gather_from.shape[0]):
        x[gather_to[k]] = x[gather_from[k]]
    alone, alone_y_at = wide.alone, wide.alone_y_at
    for k in range(alone.shape[0]):
        call_kernel(table[kernel[alone[k]]], x, x_at[alone[k]], y, alone_y_at[k])
    y[wide.zero_at] = 0.0
    first, rest_from, rest_to = wide.first, wide.rest_from, wide.rest_to
    for i in range(first.shape[0]):
        out[i] = 0.0 + y[first[i]]
    for k in range(rest_from.shape[0]):
        out[rest_to[k]] += y[rest_from[k]]
