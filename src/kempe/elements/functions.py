"""What a user's Python function returned, kept as an expression: the design parameters in it are its numbers."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import casadi as ca

from kempe.elements.base import Field
from kempe.elements.numbers import Number, parameters_of
from kempe.elements.readings import pieces_of, places_of, readings_in, substituted
from kempe.elements.sources import Source
from kempe.elements.tracing import failed_on_symbols
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
        said = ca.substitute([value, places_of(readings)], symbols_and_pieces, nameless)
        self._key = (digest(ca.Function("f", nameless, said)), *(table.structure() for table in self.tables))

    def data(self) -> Iterable[Number]:
        return list(self.parameters)

    def structure(self) -> Hashable:
        return (type(self), self._key)

    def symbolic(self, source: Source) -> Callable[..., ca.SX]:
        numbers = ca.vertcat(ca.SX(0, 1), *source.numbers(list(self.parameters)))
        return lambda *own: substituted([self.value], self._symbols, [ca.vertcat(ca.SX(0, 1), *own), numbers])[0]


def signature_of(function: Any) -> int:
    """How many arguments a user's function is given: its positional parameters without a default.

    A parameter with a default keeps it, whatever its place (``lambda body, k=0.5: ...``): it is never taken for the
    time. -1 when the function takes any number (``*arguments``).
    """
    parameters = inspect.signature(function).parameters.values()
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in positional if p.default is p.empty]
    any_number = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return -1 if any_number and len(needed) == len(positional) else len(needed)


def arguments_of(function: Any, given: Sequence[str], also: Sequence[str], what: str) -> int:
    """How many arguments a user's function is to be called with: those given, and ``also`` if it asks for more.

    A function that takes any other number is refused, and told what it would get.
    """
    try:
        takes = signature_of(function)
    except (TypeError, ValueError):  # written in C, perhaps: nothing is known of its arguments
        return len(given)
    if takes == -1:
        return len(given) + len(also)
    if takes in (len(given), len(given) + len(also)):
        return takes
    more = f", or with ({', '.join([*given, *also])})" if also else ""
    own = str(inspect.signature(function))
    raise ModelError(
        f"{what} is called with ({', '.join(given)}){more}; yours takes {own}"
        + ("; arguments with a default keep it" if "=" in own else "")
    )


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
    arguments_of(function, names, (), what)
    own = [ca.SX.sym(name) for name in names]

    def one(*arguments: Any) -> ca.SX:
        returned = function(*arguments)
        if returned is None or isinstance(returned, (list, tuple)):
            given = "nothing (is there a return?)" if returned is None else f"{len(returned)} of them"
            raise ModelError(f"{what} must return one number, not {given}")
        return ca.SX(returned)

    value = called_on_symbols(one, own, what)
    if value.numel() != 1:
        raise ModelError(f"{what} must return one number, not {value.numel()}")
    return Expression(value, own, what)
