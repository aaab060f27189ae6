"""Measures, the named outputs of one's own: expressions of whatever a result has by name."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import Field, Part
from kempe.elements.functions import arguments_of, called_on_symbols
from kempe.elements.numbers import Number, named_symbol, parameters_in, shown
from kempe.elements.quantities import as_quantity
from kempe.elements.readings import Staged, is_piece, readings_in
from kempe.elements.sources import Source
from kempe.elements.tables import Table
from kempe.elements.user import as_moving, called
from kempe.errors import AccuracyWarning, ModelError
from kempe.model.expressions import mentioned, parse, write


@dataclass(frozen=True)
class Definition:
    """A quantity with a name: an expression of other quantities (``symbols`` by name), design parameters and time."""

    name: str
    expression: ca.SX
    symbols: Mapping[str, ca.SX]
    t: ca.SX
    #: What it is ("angle", "length"), where that is known.
    kind: str = ""

    @property
    def alias(self) -> str | None:
        """The quantity it is another name of, if it is."""
        return next((n for n, symbol in self.symbols.items() if ca.is_equal(self.expression, symbol)), None)

    @property
    def needs(self) -> list[str]:
        """The names of the quantities it is made of."""
        return list(self.symbols)

    def text(self, parameters: Mapping[str, Any], tables: Callable[[Any], str]) -> str:
        """The expression as a file has it."""
        known = {**self.symbols, **{name: ca.SX(p) for name, p in parameters.items()}}
        return write(self.expression, known, {"t": self.t}, tables)

    def over(self, t: np.ndarray, history: Callable[[str], np.ndarray], parameters: Mapping[str, float]) -> np.ndarray:
        """Its values over a motion, from the histories of what it is made of."""
        used = parameters_in(self.foreign())
        symbols = [*self.symbols.values(), self.t, *(ca.SX(p) for p in used)]
        values = [*(history(name) for name in self.symbols), t, *(np.full(len(t), parameters[p.label]) for p in used)]
        if not len(t):
            return np.zeros(0)
        staged, numbers = Staged([ca.vertcat(*symbols)], [self.expression]), np.vstack(values)
        found = staged(numbers)[0].ravel()
        beyond = [staged.outside(numbers[:, k]) for k in range(len(t))] if staged.readings else []
        wrong = [k for k, words in enumerate(beyond) if words]
        if wrong:
            found[wrong] = np.nan
            when = f"first at t = {t[wrong[0]]:.6g}"
            warnings.warn(f"measure '{self.name}': {beyond[wrong[0]][0]}, {when}", AccuracyWarning, stacklevel=5)
        return found

    def foreign(self) -> list[ca.SX]:
        """The symbols in it that are design parameters."""
        own = {symbol.element_hash() for symbol in (*self.symbols.values(), self.t)}
        return [symbol for symbol in _symbols_in(self.expression) if symbol.element_hash() not in own]


def written(
    name: str,
    text: str,
    parameters: Mapping[str, Any],
    known: Callable[[str], bool],
    names: Collection[str],
    tables: Sequence[Any] = (),
    what: str = "",
) -> Definition:
    """A measure given as text; ``known`` says which quantities it may mention, ``names`` what may have been meant.

    Messages are about ``what``, which is a measure of that name unless said otherwise.
    """
    what, t = what or f"measure '{name}'", ca.SX.sym("t")
    nameless = [table for table in tables if not (isinstance(table, Table) and table.name)]
    if nameless:
        raise ModelError(f"{what}: behind an expression stand tables that have a name, not {shown(nameless[0])}")
    try:
        wanted = [n for n in mentioned(text) if known(n) or n not in parameters]
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None
    strange = [n for n in wanted if not known(n)]
    if strange:
        near = difflib.get_close_matches(strange[0], [*names, *parameters], n=3)
        hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
        raise ModelError(f"{what}: there is no quantity '{strange[0]}'{hint}")
    symbols = {n: named_symbol(n) for n in wanted}
    named = {**{table.name: table for table in tables}, **parameters, **symbols}
    try:
        return Definition(
            name,
            parse(text, named, {"t": t}),
            symbols,
            t,
        )
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None


def measured(name: str, what: Any, parts: Sequence[Any]) -> Definition:
    """A measure of a quantity, or of a function of parts."""
    words, source = f"measure '{name}'", _Named()
    if isinstance(what, Field) or not callable(what):
        if parts:
            raise ModelError(f"{words}: only a function takes parts")
        quantity = as_quantity(what, words)
        seen = quantity.symbolic(source)
        return source.measure(name, ca.SX(getattr(seen, "value", seen)), getattr(quantity, "kind", ""))
    for part in parts:
        if not isinstance(part, Field):
            raise ModelError(f"{words}: {shown(part)} is not a part, marker or coordinate of a model")
    arguments = [as_moving(part.symbolic(source), source.rate) for part in parts]
    takes = arguments_of(what, [called(part) for part in parts], ["t"], f"{words}: the function")
    if takes != len(parts):
        arguments.append(source.t)
    value = called_on_symbols(lambda *a: _one(what(*a), words), arguments, f"{words}: your function")
    return source.measure(name, value)


def _symbols_in(expression: ca.SX) -> list[ca.SX]:
    """The symbols of an expression and of the arguments of its tables, but not their pieces."""
    arguments = [argument for reading in readings_in([expression]) for argument in reading.arguments]
    return [s for s in ca.symvar(ca.vertcat(expression, *arguments)) if not is_piece(s)]


def _one(value: Any, what: str) -> ca.SX:
    found = ca.SX(ca.vertcat(*value) if isinstance(value, (list, tuple)) else value)
    if found.numel() != 1:
        raise ModelError(f"{what}: the function must return one number, not {found.numel()}")
    return found


class _Named(Source):
    """Every coordinate, rate and acceleration as a symbol of its own, made when it is first asked for."""

    def __init__(self) -> None:
        self.t = ca.SX.sym("t")
        self._symbols: dict[str, ca.SX] = {}
        self._follows: list[tuple[str, str]] = []

    def _symbol(self, name: str) -> ca.SX:
        return self._symbols.setdefault(name, named_symbol(name))

    def coordinates(self, part: Part) -> list[Any]:
        for value, rate, second in part.names():
            if (value, rate) not in self._follows:
                self._follows += [(value, rate), (rate, second)]
        return [self._symbol(names[0]) for names in part.names()]

    def numbers(self, values: Sequence[Number]) -> list[Any]:
        return list(values)

    def rate(self, expression: Any) -> Any:
        pairs = [(self._symbol(now), self._symbol(then)) for now, then in self._follows]
        symbols, rates = (ca.vertcat(ca.SX(0, 1), *side) for side in zip(*pairs, strict=True))
        return ca.jtimes(ca.SX(expression), symbols, rates)

    def measure(self, name: str, expression: ca.SX, kind: str = "") -> Definition:
        """An expression of these symbols as a measure."""
        used = {symbol.element_hash() for symbol in _symbols_in(expression)}
        symbols = {n: s for n, s in self._symbols.items() if s.element_hash() in used}
        return Definition(name, expression, symbols, self.t, kind)
