"""Laying out an elimination by blocks: which blocks there are, of what shape, and which are taken side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kempe.kernels.blocks import Shape, backward_kernel, factor_kernel, forward_kernel
from kempe.kernels.llvm_ir import LANES
from kempe.solvers.blocks import Blocks
from kempe.solvers.program import Kernels

_INT = np.int64
#: So many entries may shapes with machine code have in all, and so many multiplications a factorisation that has it.
WRITTEN_OUT, LONG = 6000, 8000


class Fill(NamedTuple):
    """A matrix of symmetric pattern with its fill, row by row, in the order of elimination."""

    start: np.ndarray  # row k is start[k]:start[k + 1]
    column: np.ndarray
    diagonal: np.ndarray  # the place of the diagonal of row k


class Entries(NamedTuple):
    """The entries of a matrix in the order of elimination, and where their values are."""

    rows: np.ndarray
    columns: np.ndarray
    places: np.ndarray


class _Steps(NamedTuple):
    """The blocks in their order: the shape of each, and its unknowns (pivots, then the border) by their position."""

    shapes: list[Shape]
    kind: np.ndarray  # per block the number of its shape
    unknowns: list[np.ndarray]
    parent: np.ndarray  # the block that the first unknown of its border belongs to, or -1


def _steps(fill: Fill, ends: np.ndarray) -> _Steps:
    """The shape of each block between ``ends``."""
    owner = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
    known: dict[Shape, int] = {}
    kind, unknowns, parent = [], [], []
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        above = dict.fromkeys(range(first, last), 0)
        for i in range(first, last):
            for j in fill.column[fill.diagonal[i] + 1 : fill.start[i + 1]].tolist():
                above[j] = above.get(j, 0) | 1 << (i - first)
        # (sorted so that equal blocks have equal shapes, in whichever order their neighbours follow)
        border = sorted((bits, j) for j, bits in above.items() if j >= last)
        shape = Shape(last - first, (*(above[j] for j in range(first, last)), *(bits for bits, _ in border)))
        kind.append(known.setdefault(shape, len(known)))
        unknowns.append(np.array([*range(first, last), *(j for _, j in border)], dtype=_INT))
        parent.append(int(owner[min(j for _, j in border)]) if border else -1)
    return _Steps(list(known), np.array(kind), unknowns, np.array(parent))


def _batches(steps: _Steps) -> list[list[int]]:
    """Blocks of the same shape that are ready at the same time, LANES at a time as long as there are as many."""
    missing = np.bincount(steps.parent[steps.parent >= 0], minlength=len(steps.kind))
    ready: list[list[int]] = [[] for _ in steps.shapes]
    for k in np.flatnonzero(missing == 0).tolist():
        ready[steps.kind[k]].append(k)
    made: list[list[int]] = []
    while any(ready):
        fullest = max(range(len(ready)), key=lambda s: min(len(ready[s]), LANES))
        batch, ready[fullest] = ready[fullest][:LANES], ready[fullest][LANES:]
        made.append(batch)
        for parent in steps.parent[batch].tolist():
            if parent >= 0:
                missing[parent] -= 1
                if missing[parent] == 0:
                    ready[steps.kind[parent]].append(parent)
    return made


class Elimination(NamedTuple):
    """An order of elimination by blocks: the steps, and which of them are taken side by side."""

    order: np.ndarray
    fill: Fill
    steps: _Steps
    batches: list[list[int]]

    @classmethod
    def of(cls, order: np.ndarray, fill: Fill, ends: np.ndarray) -> Elimination:
        """The elimination of blocks that end at ``ends`` of an order."""
        steps = _steps(fill, ends)
        return cls(order, fill, steps, _batches(steps))

    @property
    def numbers(self) -> int:
        """How many times LANES numbers the factors have: what a solution takes time for."""
        return sum(self.steps.shapes[self.steps.kind[batch[0]]].entries for batch in self.batches)


class _Shaped(NamedTuple):
    """All blocks of one shape: one row of each array for each of them."""

    shape: Shape
    unknowns: np.ndarray  # by their position
    batch: np.ndarray
    lane: np.ndarray

    def on(self, starts: np.ndarray, count: int) -> np.ndarray:
        """Places of ``count`` numbers of each block, where batches begin at ``starts``."""
        places: np.ndarray = (starts[self.batch] + self.lane)[:, None] + LANES * np.arange(count)
        return places


def _shaped(steps: _Steps, batches: Sequence[Sequence[int]]) -> list[_Shaped]:
    lane, number = np.zeros(len(steps.kind), dtype=_INT), np.zeros(len(steps.kind), dtype=_INT)
    for k, batch in enumerate(batches):
        lane[batch], number[batch] = np.arange(len(batch)), k
    found = []
    for s, shape in enumerate(steps.shapes):
        which = np.flatnonzero(steps.kind == s)
        unknowns = np.array([steps.unknowns[k] for k in which], dtype=_INT).reshape(len(which), len(shape.above))
        found.append(_Shaped(shape, unknowns, number[which], lane[which]))
    return found


class _Places:
    """Where the entries of a matrix are in the factors."""

    def __init__(self, n: int, blocks: Sequence[_Shaped], lu_at: np.ndarray) -> None:
        self.n = n
        keys, places = [], []
        for of in blocks:
            inner, (i, j) = np.arange(of.shape.pivots), _pairs(of.shape.upper)
            rows, columns = np.concatenate([inner, i, j]), np.concatenate([inner, j, i])
            keys.append((of.unknowns[:, rows] * n + of.unknowns[:, columns]).ravel())
            places.append(of.on(lu_at, of.shape.entries).ravel())
        whole = np.concatenate(keys)
        sort = np.argsort(whole)
        self._keys, self._places = whole[sort], np.concatenate(places)[sort]

    def of(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The places of entries."""
        places: np.ndarray = self._places[np.searchsorted(self._keys, rows * self.n + columns)]
        return places


def _pairs(pairs: Sequence[tuple[int, int]]) -> np.ndarray:
    """Two rows: the first of each pair, the second of each."""
    return np.array(pairs, dtype=_INT).reshape(-1, 2).T


def lay_out(elimination: Elimination, entries: Entries) -> Blocks:
    """An elimination of a matrix as index arrays, with machine code."""
    order, _, steps, batches = elimination
    n = len(order)
    blocks = _shaped(steps, batches)
    shape = np.array([steps.kind[batch[0]] for batch in batches], dtype=_INT)
    pivots, border, size = (
        np.array([getattr(s, name) for s in steps.shapes], dtype=_INT) for name in ("pivots", "border", "entries")
    )
    lu_at, w_at, index_at = (LANES * np.cumsum([0, *count[shape]]) for count in (size, pivots, border))
    place = np.zeros(n, dtype=_INT)  # of each position in the vector
    for of in blocks:
        place[of.unknowns[:, : of.shape.pivots]] = of.on(w_at, of.shape.pivots)
    source = np.zeros(w_at[-1] + LANES, dtype=_INT)
    source[place] = order
    solution = np.zeros(n, dtype=_INT)
    solution[order] = place
    places = _Places(n, blocks, lu_at)
    value_to = places.of(entries.rows, entries.columns)
    sort = np.argsort(value_to, kind="stable")
    arrays = {
        "shape": shape,
        "lu_at": lu_at,
        "w_at": w_at,
        "index_at": index_at,
        "pivots": pivots,
        "border": border,
        "upper": (size - pivots) // 2,
        "index": _index(blocks, place, w_at, index_at, border[shape]),
        "value_from": entries.places[sort],
        "value_to": value_to[sort],
        "idle": _idle(batches, lu_at, pivots[shape]),
        "diagonal": places.of(np.arange(n), np.arange(n)),
        "shift_from": order,
        "source": source,
        "place": solution,
        **_updates(blocks, places, border[shape], int(lu_at[-1] + w_at[-1])),
        **_rows(steps.shapes),
    }
    kernels, arrays["kernel"] = _kernels(steps.shapes, np.bincount(shape, minlength=len(steps.shapes)))
    return Blocks(
        kernels,
        **{name: np.ascontiguousarray(array, dtype=_INT) for name, array in arrays.items()},
        size_values=int(entries.places.max(initial=-1)) + 1,
        size_lu=int(lu_at[-1]),
        size_w=len(source),
        size_front=LANES * max(sum(s.front) ** 2 + s.border**2 for s in steps.shapes),
    )


def _index(
    blocks: Sequence[_Shaped], place: np.ndarray, w_at: np.ndarray, index_at: np.ndarray, border: np.ndarray
) -> np.ndarray:
    """Where the border of each batch is in the vector, counted from its own unknowns; of empty lanes it is the end."""
    index = np.full(index_at[-1], w_at[-1], dtype=_INT)
    for of in blocks:
        index[of.on(index_at, of.shape.border)] = place[of.unknowns[:, of.shape.pivots :]]
    return index - np.repeat(w_at[:-1], LANES * border)


def _idle(batches: Sequence[Sequence[int]], lu_at: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    """The diagonal of lanes that no block takes."""
    places = [
        (at + np.arange(len(batch), LANES)[:, None] + LANES * np.arange(count)).ravel()
        for batch, at, count in zip(batches, lu_at, pivots, strict=False)
    ]
    return np.concatenate(places)


def _updates(blocks: Sequence[_Shaped], places: _Places, border: np.ndarray, nowhere: int) -> dict[str, np.ndarray]:
    """Where each batch adds to later blocks: for all pairs of its border in all lanes, also those that add nothing."""
    update_at = LANES * np.cumsum([0, *border**2])
    update_to = nowhere + np.arange(update_at[-1]) % LANES  # (a place for each lane: none waits for another)
    for of in blocks:
        (i, j), p, b = _pairs(of.shape.meetings), of.shape.pivots, of.shape.border
        to = places.of(of.unknowns[:, p + i], of.unknowns[:, p + j])
        update_to[of.on(update_at, b * b)[:, i * b + j]] = to
    return {"update_at": update_at, "update_to": update_to}


def _rows(shapes: Sequence[Shape]) -> dict[str, np.ndarray]:
    """The entries of all shapes row by row."""
    row_at, row_start, row_column, row_entry = [0], [0], list[int](), list[int]()
    for shape in shapes:
        number = {pair: k for k, pair in enumerate(shape.upper)}
        for i in range(shape.pivots):
            row = shape.row(i)
            row_column += row
            row_entry += [number[i, j] for j in row]
            row_start.append(len(row_column))
        row_at.append(row_at[-1] + shape.pivots)
    found = {"row_at": row_at, "row_start": row_start, "row_column": row_column, "row_entry": row_entry}
    return {name: np.array(values, dtype=_INT) for name, values in found.items()}


def _kernels(shapes: Sequence[Shape], counts: np.ndarray) -> tuple[Kernels, np.ndarray]:
    """Machine code for the shapes that most of the work is in; three numbers for each."""
    kernels, numbers = Kernels(max(3 * len(shapes), 1)), np.full(3 * len(shapes), -1, dtype=_INT)
    left = WRITTEN_OUT
    for s in sorted(range(len(shapes)), key=lambda s: -counts[s] * shapes[s].entries):
        left -= shapes[s].entries
        if left < 0:
            break
        if shapes[s].operations <= LONG:
            numbers[3 * s] = kernels.number(factor_kernel(shapes[s]))
        numbers[3 * s + 1] = kernels.number(forward_kernel(shapes[s]))
        numbers[3 * s + 2] = kernels.number(backward_kernel(shapes[s]))
    return kernels, numbers
