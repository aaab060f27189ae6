"""Tables within expressions: a call of a table on symbols is a polynomial whose numbers are looked up later.

A table called on an expression answers with the polynomial of one of its pieces, in symbols: where the piece begins and
its coefficients. Derivatives by the argument are then those of the polynomial, by the chain rule, to any order. Which
symbols are pieces of which table, and where that is read, is written down here. Whoever evaluates an expression asks
for its readings, looks the pieces up and puts their numbers in: compiled systems as inputs of kernels, ``Staged`` for
everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import csc_matrix

#: How far beyond its data a table may be read all the same, in lengths of it: rounding is no mistake.
SLACK = 1e-9

_serial = count()
# Symbols do not know who made them, and nobody knows how long an expression lives: what was read once stays known.
_by_symbol: dict[int, Reading] = {}
_by_place: dict[tuple[int, ...], Reading] = {}


class Reading:
    """A table read at an argument (two for a table of two axes): ``piece`` are the symbols of the piece found there."""

    def __init__(self, table: Any, arguments: Sequence[ca.SX]) -> None:
        self.table, self.arguments = table, [ca.SX(a) for a in arguments]
        self.piece = ca.SX.sym("piece", table.width)
        self._enter()

    def _enter(self) -> None:
        self.serial = next(_serial)  # what is read within an argument comes first
        for k in range(self.piece.numel()):
            _by_symbol[self.piece[k].element_hash()] = self
        _by_place[_place(self.table, self.arguments)] = self

    def __getstate__(self) -> dict[str, Any]:
        return {"table": self.table, "arguments": list(self.arguments), "piece": self.piece}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._enter()

    @property
    def value(self) -> ca.SX:
        """The table's value there."""
        return ca.SX(self.table.polynomial([self.piece[k] for k in range(self.piece.numel())], self.arguments))

    @property
    def level(self) -> int:
        """1, or one more than the tables that have to be read before."""
        return 1 + max((inner.level for inner in readings_in(self.arguments)), default=0)

    @property
    def margins(self) -> list[ca.SX]:
        """How far the arguments are inside the data, in lengths of it: from below and from above, axis by axis."""
        found = []
        for k, argument in enumerate(self.arguments):
            low, high = self.piece[3 * k + 1], self.piece[3 * k + 2]
            found += [(argument - low) / (high - low), (high - argument) / (high - low)]
        return found


def _place(table: Any, arguments: Sequence[ca.SX]) -> tuple[int, ...]:
    return (id(table), *(a.element_hash() for a in arguments))


def _reading(table: Any, arguments: Sequence[ca.SX]) -> Reading:
    """A table read at a place, once."""
    return _by_place.get(_place(table, arguments)) or Reading(table, arguments)


def read(table: Any, arguments: Sequence[ca.SX]) -> ca.SX:
    """The value of a table at expressions."""
    return _reading(table, arguments).value


def readings_in(expressions: Iterable[Any]) -> list[Reading]:
    """The readings in some expressions, and in the arguments of these, each once; inner ones first."""
    found: dict[int, Reading] = {}
    todo = [e for e in expressions if isinstance(e, ca.SX)]
    while todo and _by_symbol:
        for symbol in ca.symvar(todo.pop()):
            reading = _by_symbol.get(symbol.element_hash())
            if reading is not None and reading.serial not in found:
                found[reading.serial] = reading
                todo += reading.arguments
    return [found[serial] for serial in sorted(found)]


def is_piece(symbol: ca.SX) -> bool:
    """Whether a symbol is a number of a table's piece."""
    return symbol.element_hash() in _by_symbol


def pieces_of(readings: Iterable[Reading]) -> ca.SX:
    """The symbols of all pieces as one column."""
    return ca.vertcat(ca.SX(0, 1), *[reading.piece for reading in readings])


def places_of(readings: Iterable[Reading]) -> ca.SX:
    """All arguments as one column."""
    return ca.vertcat(ca.SX(0, 1), *[argument for reading in readings for argument in reading.arguments])


def substituted(expressions: Sequence[ca.SX], old: Sequence[ca.SX], new: Sequence[Any]) -> list[ca.SX]:
    """Expressions with symbols replaced, in the arguments of tables too: those are read at the new place."""
    old, new = list(old), [ca.SX(n) for n in new]
    for reading in readings_in(expressions):
        moved = _reading(reading.table, ca.substitute(reading.arguments, old, new))
        old.append(reading.piece)
        new.append(moved.piece)
    return list(ca.substitute([ca.SX(e) for e in expressions], old, new))


class Staged:
    """Expressions as a function of numbers: tables are looked up level by level, then all is evaluated."""

    def __init__(self, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]) -> None:
        self.readings = readings_in(outputs)
        pieces = pieces_of(self.readings)
        self._outputs = ca.Function("f", [*inputs, pieces], [ca.densify(ca.SX(e)) for e in outputs])
        self._arguments = ca.Function("f", [*inputs, pieces], [ca.densify(places_of(self.readings))])
        self._levels = max((reading.level for reading in self.readings), default=0)
        self._slopes: ca.Function | None = None
        self._stated = inputs, outputs
        self._shapes = [self._outputs.size_out(k) for k in range(self._outputs.n_out())]
        self._length = inputs[0].numel() if len(inputs) == 1 else -1

    def slopes(self, *values: Any) -> csc_matrix:
        """The derivative of the first output by the first input, for inputs of one column."""
        if self._slopes is None:
            inputs, outputs = self._stated
            derivative = ca.jacobian(ca.SX(outputs[0]), inputs[0], {"allow_reverse": False})
            self._slopes = ca.Function("f", [*inputs, pieces_of(self.readings)], [derivative])
        found = self._slopes(*values, self._looked_up(values)[0])
        pattern = found.sparsity()
        parts = (np.array(found.nonzeros(), dtype=float), np.array(pattern.row()), np.array(pattern.colind()))
        return csc_matrix(parts, shape=found.shape)

    def __call__(self, *values: Any) -> list[np.ndarray]:
        """The outputs for inputs of one column, or of many."""
        if self._levels == 0 and len(values) == 1 and np.shape(values[0]) == (self._length,):
            return self._of_numbers(values[0])
        found = self._outputs(*values, self._looked_up(values)[0])
        return [np.array(e, dtype=float) for e in (found if isinstance(found, (tuple, list)) else [found])]

    def _of_numbers(self, values: Any) -> list[np.ndarray]:
        """The outputs for one vector where no table is read: the same function, without matrices of CasADi's."""
        given: Any = np.array(values, dtype=float)
        found: list[Any] = [np.zeros(rows * columns) for rows, columns in self._shapes]
        memory: Any
        memory, evaluate = self._outputs.buffer()  # (of this call: several threads may evaluate)
        memory.set_arg(0, memoryview(given))
        for k, array in enumerate(found):
            memory.set_res(k, memoryview(array))
        evaluate()
        return [array.reshape(shape, order="F") for array, shape in zip(found, self._shapes, strict=True)]

    def outside(self, *values: Any) -> list[str]:
        """What is read beyond the data of a table that does not allow it, in words."""
        if not self.readings:
            return []
        return outside_data([reading.table for reading in self.readings], self._looked_up(values)[1].ravel())

    def _looked_up(self, values: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        """The pieces that hold, and the arguments at which the tables are read."""
        columns = max((np.atleast_2d(np.asarray(v).T).shape[0] for v in values), default=1)
        pieces, arguments = (
            np.zeros((self._outputs.size1_in(self._outputs.n_in() - 1), columns)),
            np.zeros((0, columns)),
        )
        for _ in range(self._levels):
            arguments = np.array(self._arguments(*values, pieces), dtype=float)
            pieces = looked_up([reading.table for reading in self.readings], arguments)
        return pieces, arguments

    @property
    def said(self) -> str:
        """What it computes, as text."""
        functions = [self._outputs.serialize(), self._arguments.serialize()]
        return repr([*functions, [reading.table.key for reading in self.readings]])


def looked_up(tables: Sequence[Any], arguments: np.ndarray) -> np.ndarray:
    """The pieces of tables at their arguments (rows of it, one column per place), one below the other."""
    found, at = [np.zeros((0, arguments.shape[1]))], 0
    for table in tables:
        found.append(table.pieces(*arguments[at : at + table.dim]).T)
        at += table.dim
    return np.vstack(found)


def outside_data(tables: Sequence[Any], arguments: np.ndarray, slack: float = SLACK) -> list[str]:
    """Which tables are read beyond their data though they do not allow it, in words."""
    found, at = [], 0
    for table in tables:
        found += table.beyond(*arguments[at : at + table.dim], slack=slack)
        at += table.dim
    return list(dict.fromkeys(found))
