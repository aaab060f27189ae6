"""What a run has to supply for functionals: integrals along it, values at an instant, largest and least values."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from typing import Any, ClassVar, Literal

import casadi as ca

from kempe.elements.numbers import Number, number, parameters_in
from kempe.elements.quantities import as_quantity
from kempe.errors import ModelError
from kempe.model.expressions import write
from kempe.model.measures import Definition
from kempe.system.expressing import Expressions

#: How a quantity is read as an expression: ``Expressions.of`` or ``Expressions.sided``.
Read = Callable[[Any, str], ca.SX]
#: An instant of a run: its start, its end, or a time within it.
Instant = Literal["start", "end"] | float


class Leaf:
    """A number that comes out of a run, made of one quantity; functionals are expressions of leaves."""

    kind: ClassVar[Literal["integral", "point", "extreme"]]

    def __init__(self, quantity: Any, what: str) -> None:
        #: A text, a quantity of parts, a measure, or a number.
        self.quantity = as_watched(quantity, what)
        #: What it is in words.
        self.text = f"{what} {said(self.quantity)}"

    def expression(self, expressions: Expressions) -> ca.SX:
        """What is integrated, taken or watched, at an instant."""
        return self.of(expressions.of)

    def key(self) -> Hashable:
        """Equal for leaves that are the same number."""
        return (type(self), *(_identity(value) for name, value in vars(self).items() if name != "text"))

    def of(self, read: Read) -> ca.SX:
        """The same, where quantities are read in some way."""
        return read(self.quantity, self.text)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"


class Integral(Leaf):
    """The integral of a quantity over the time of the run."""

    kind = "integral"

    def __init__(self, quantity: Any, what: str = "integral of") -> None:
        super().__init__(quantity, what)

    def integrand(self, expressions: Expressions) -> ca.SX:
        """What is integrated, smooth, with the sides of its kinks as symbols; no step may go across a kink."""
        return self.of(expressions.sided)


class SquareIntegral(Integral):
    """The integral of the square of a quantity."""

    def of(self, read: Read) -> ca.SX:
        """The square."""
        return super().of(read) ** 2


class Excess(Integral):
    """The integral of the square of how far a quantity exceeds a limit (or, ``below``, falls short of it).

    <eta>, eq. 6.10 of Haug, Wehage and Barman (1981), of eta = +-(quantity - limit) of their eq. 4.6.
    """

    def __init__(self, quantity: Any, limit: Any, *, below: bool) -> None:
        super().__init__(quantity, "violation of")
        self.limit = as_watched(limit, f"the limit in the {self.text}")
        self.below = below
        self.text += f" {'>=' if below else '<='} {said(self.limit)}"

    def eta(self, read: Read) -> ca.SX:
        """What is above zero beyond the limit."""
        by = read(self.quantity, self.text) - read(self.limit, f"the limit in the {self.text}")
        return -by if self.below else by

    def of(self, read: Read) -> ca.SX:
        """<eta>: the square of what is above zero."""
        return ca.fmax(self.eta(read), 0.0) ** 2

    def integrand(self, expressions: Expressions) -> ca.SX:
        """The square on one side, nothing on the other."""
        side = expressions.side(self.eta(expressions.of))
        return self.of(expressions.sided) if side is None else side * self.eta(expressions.sided) ** 2


class Exponential(Integral):
    """The integral of exp(sharpness (quantity - around))."""

    def __init__(self, quantity: Any, sharpness: float, around: float) -> None:
        super().__init__(quantity, "smooth maximum of")
        self.sharpness, self.around = sharpness, around

    def of(self, read: Read) -> ca.SX:
        """The exponential."""
        return ca.exp(self.sharpness * (super().of(read) - self.around))


class Point(Leaf):
    """A quantity at an instant of the run."""

    kind = "point"

    def __init__(self, quantity: Any, at: Instant) -> None:
        super().__init__(quantity, {"start": "initial", "end": "final"}.get(str(at), "value of"))
        self.at = at
        self.text += "" if isinstance(at, str) else f" at t = {at:g}"


class Extreme(Leaf):
    """The largest value of a quantity over time, or the least."""

    kind = "extreme"

    def __init__(self, quantity: Any, *, largest: bool) -> None:
        super().__init__(quantity, "largest" if largest else "least")
        self.largest = largest


def as_watched(quantity: Any, what: str) -> Any:
    """What may be watched along a run: a text (which a model has to understand), a quantity, a measure, a number."""
    if isinstance(quantity, str):
        if not quantity.strip():
            raise ModelError(f"{what}: the text is empty; name a quantity, as in 'slider.x'")
        return quantity.strip()
    if isinstance(quantity, Definition):
        return quantity
    if isinstance(quantity, (int, float, ca.SX)):
        return number(quantity, what)
    return as_quantity(quantity, what)


def said(quantity: Any) -> str:
    """A quantity in words; what is joined of several stands in brackets."""
    if isinstance(quantity, str):
        return quantity if re.fullmatch(r"[\w. ]+|\{[^{}]*\}(\.[\w.]+)?", quantity) else f"({quantity})"
    if isinstance(quantity, (float, ca.SX)):
        return number_text(quantity)
    return str(quantity.name)


def number_text(value: Number) -> str:
    """A number, or an expression of parameters, as a user would write it."""
    if not isinstance(value, ca.SX):
        return f"{value:g}"
    named: Mapping[str, ca.SX] = {p.label: ca.SX(p) for p in parameters_in([value])}
    return next((name for name, p in named.items() if ca.is_equal(p, value)), "") or write(value, named)


def _identity(value: Any) -> Hashable:
    """What makes a part of a leaf the same: its value, or that it is this one."""
    return value if isinstance(value, (str, bool, int, float)) else id(value)
