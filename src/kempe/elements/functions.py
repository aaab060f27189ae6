"""What a user's Python function returned, kept as an expression: the design parameters in it are its numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import casadi as ca

from kempe.elements.base import Field, Source, failed_on_symbols
from kempe.elements.numbers import Number, parameters_of
from kempe.elements.readings import arguments_of, pieces_of, readings_in, substituted
from kempe.errors import ModelError


def digest(function: ca.Function) -> bytes:
    """What a function computes, in few bytes: equal digests mean equal instructions."""
    return hashlib.sha256(function.serialize().encode()).digest()


class Expression(Field):
    """An expression of symbols of its own and of design parameters; the equations see it as a function of the former.

    ``what`` says in the user's words whose function gave it.
    """

    def __init__(self, value: ca.SX, own: Sequence[ca.SX], what: str) -> None:
        self.value, self.own = value, list(own)
        symbols = ca.vertcat(ca.SX(0, 1), *own)
        self.parameters = parameters_of(value, symbols, what)
        self._symbols = [symbols, ca.vertcat(ca.SX(0, 1), *map(ca.SX, self.parameters))]
        readings = readings_in([value])
        self.tables = [reading.table for reading in readings]
        # what symbols are called makes no difference
        symbols_and_pieces = [*self._symbols, pieces_of(readings)]
        nameless = [ca.SX.sym("x", s.numel()) for s in symbols_and_pieces]
        said = ca.substitute([value, arguments_of(readings)], symbols_and_pieces, nameless)
        self._key = (digest(ca.Function("f", nameless, said)), *(table.structure() for table in self.tables))

    def data(self) -> Iterable[Number]:
        return list(self.parameters)

    def structure(self) -> Hashable:
        return (type(self), self._key)

    def symbolic(self, source: Source) -> Callable[..., ca.SX]:
        numbers = ca.vertcat(ca.SX(0, 1), *source.numbers(list(self.parameters)))
        return lambda *own: substituted([self.value], self._symbols, [ca.vertcat(ca.SX(0, 1), *own), numbers])[0]


def called_on_symbols(function: Callable[..., Any], arguments: Sequence[Any], what: str) -> Any:
    """What a user's function returns for symbols, or an error that says why it cannot be called with them."""
    try:
        return function(*arguments)
    except ModelError:
        raise
    except Exception as error:
        raise ModelError(f"{what} {failed_on_symbols(error)}") from error


def scalar_expression(function: Callable[..., Any], names: Sequence[str], what: str) -> Expression:
    """A user's function of a few numbers that returns one number."""
    own = [ca.SX.sym(name) for name in names]

    def one(*arguments: Any) -> ca.SX:
        return ca.SX(function(*arguments))

    value = called_on_symbols(one, own, what)
    if value.numel() != 1:
        raise ModelError(f"{what} must return one number, not {value.numel()}")
    return Expression(value, own, what)
