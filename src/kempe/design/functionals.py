"""Functionals: numbers that a whole motion has, to be bounded, made small and differentiated.

A functional is an expression of *leaves* (what a run supplies: integrals, values at an instant, extremes) and of design
parameters, eqs. 4.4 and 4.5 of Haug, Wehage and Barman (1981).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from kempe.calling import explained, explained_methods
from kempe.design.leaves import (
    Excess,
    Exponential,
    Extreme,
    Integral,
    Leaf,
    Point,
    SquareIntegral,
    as_watched,
    number_text,
    said,
)
from kempe.design.requirements import Requirement, between
from kempe.elements.base import check_name
from kempe.elements.numbers import Parameter, number, parameters_in, plain_number, shown
from kempe.elements.readings import readings_in
from kempe.errors import ModelError

#: How tightly the parts of a written functional hold together: a sum, a product, a leaf, a single word.
SUM, PRODUCT, LEAF, WORD = range(4)
#: Below this a root has no derivative worth the name.
TINY = 1e-300


@explained_methods
class Functional:
    """A number that a motion has, made of what a run supplies and of design parameters.

    Functionals are made by :func:`kempe.integral`, :func:`kempe.final` and so on, combined with numbers, design
    parameters and each other by ``+ - * / **`` and ``abs``, and compared: ``kp.final("crank.omega") <= 0.3`` is a
    :class:`kempe.Requirement`, and so is ``==``.
    """

    # CasADi's expressions leave operations with them to this class.
    __array_priority__ = 2000.0

    def __init__(
        self,
        expression: ca.SX,
        leaves: Mapping[Leaf, ca.SX],
        text: str,
        level: int = LEAF,
        name: str | None = None,
    ) -> None:
        self._expression, self._leaves = expression, dict(leaves)
        self._level = level if name is None else WORD
        #: What it is in words.
        self.text = text
        #: What it goes by: the name it was given, or else these words.
        self.name = text if name is None else check_name(name, "functional")

    @property
    def leaves(self) -> list[Leaf]:
        """What a run has to supply."""
        return list(self._leaves)

    def called(self, name: str) -> Functional:
        """The same functional under a name."""
        return Functional(self._expression, self._leaves, self.text, name=name)

    def equals(self, value: Any) -> Requirement:
        """The requirement that it has a value: a number, a design parameter or another functional."""
        return self._compared(value, "=", at_least=True, at_most=True)

    def between(self, low: float, high: float) -> Requirement:
        """The requirement that it lies between two numbers."""
        return between(self, low, high)

    def of(self, leaves: Mapping[Leaf, Any]) -> ca.SX:
        """The functional as an expression of leaves and design parameters."""
        old = [ca.SX(0, 1), *self._leaves.values()]
        new = [ca.SX(0, 1), *(leaves[leaf] for leaf in self._leaves)]
        return ca.substitute(self._expression, ca.vertcat(*old), ca.vertcat(*new))

    # --- arithmetic ----------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Functional:
        return self._joined(other, "{} + {}", SUM, (SUM, SUM), lambda a, b: a + b)

    def __radd__(self, other: Any) -> Functional:
        return self if isinstance(other, int) and other == 0 else as_functional(other) + self  # (sum begins with 0)

    def __sub__(self, other: Any) -> Functional:
        return self._joined(other, "{} - {}", SUM, (SUM, PRODUCT), lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Functional:
        return as_functional(other) - self

    def __mul__(self, other: Any) -> Functional:
        return self._joined(other, "{} * {}", PRODUCT, (PRODUCT, PRODUCT), lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Functional:
        return as_functional(other) * self

    def __truediv__(self, other: Any) -> Functional:
        return self._joined(other, "{} / {}", PRODUCT, (PRODUCT, LEAF), lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Functional:
        return as_functional(other) / self

    def __pow__(self, other: Any) -> Functional:
        return self._joined(other, "{}**{}", LEAF, (WORD, WORD), lambda a, b: a**b)

    def __rpow__(self, other: Any) -> Functional:
        return as_functional(other) ** self

    def __neg__(self) -> Functional:
        return Functional(-self._expression, self._leaves, f"-{self._within(PRODUCT)}", PRODUCT)

    def __pos__(self) -> Functional:
        return self

    def __abs__(self) -> Functional:
        return Functional(ca.fabs(self._expression), self._leaves, f"|{self}|", WORD)

    def _joined(
        self, other: Any, text: str, level: int, needs: tuple[int, int], operation: Callable[[Any, Any], Any]
    ) -> Functional:
        second = as_functional(other)
        words = text.format(self._within(needs[0]), second._within(needs[1]))
        expression = operation(self._expression, second._expression)
        return Functional(ca.SX(expression), {**self._leaves, **second._leaves}, words, level)

    def _within(self, level: int) -> str:
        """How it is written as a part of something that holds together so tightly."""
        return self.name if self._level >= level else f"({self.name})"

    # --- comparisons ---------------------------------------------------------------------------------------------

    def __le__(self, other: Any) -> Requirement:
        return self._compared(other, "<=", at_most=True)

    def __ge__(self, other: Any) -> Requirement:
        return self._compared(other, ">=", at_least=True)

    __lt__, __gt__ = __le__, __ge__

    def __eq__(self, other: Any) -> Requirement:  # type: ignore[override]
        known = isinstance(other, (Functional, ca.SX, int, float, np.number))
        return self.equals(other) if known and other is not self else NotImplemented

    __hash__ = object.__hash__

    def _compared(self, other: Any, sign: str, at_least: bool = False, at_most: bool = False) -> Requirement:
        bound = as_functional(other)
        fixed = bound._expression.is_constant()
        limit, compared = (float(bound._expression), self) if fixed else (0.0, self - bound)
        low, high = limit if at_least else -np.inf, limit if at_most else np.inf
        return Requirement(compared, low, high, f"{self} {sign} {bound}")

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Functional({self.text})" if self.name == self.text else f"Functional({self.name}: {self.text})"

    def __bool__(self) -> bool:
        raise ModelError(f"'{self}' is known only after a run; it is neither true nor false")


def as_functional(value: Any, what: str = "what a functional is combined with") -> Functional:
    """A functional as it is; a number or an expression of design parameters, as one that needs no run."""
    if isinstance(value, Functional):
        return value
    if isinstance(value, (str, Requirement)):
        hint = f"; kp.final({value!r}), kp.integral({value!r}), ...?" if isinstance(value, str) else ""
        raise ModelError(f"{what} must be a functional, a number or a design parameter, not {shown(value)}{hint}")
    given = number(value, what)
    if isinstance(given, ca.SX) and readings_in([given]):
        raise ModelError(f"{what} reads a table; in functionals there may be none")
    return Functional(ca.SX(given), {}, number_text(given), _tightness(given))


def _tightness(value: Any) -> int:
    """How tightly a number, or an expression of parameters, holds together as it is written."""
    if not isinstance(value, ca.SX):
        return WORD if value >= 0 else SUM
    if value.is_symbolic():
        return WORD
    return PRODUCT if value.op() in (ca.OP_MUL, ca.OP_DIV, ca.OP_TWICE, ca.OP_SQ, ca.OP_CONSTPOW, ca.OP_POW) else SUM


# --- the functionals there are -------------------------------------------------------------------------------------


def _of(leaf: Leaf, name: str | None) -> Functional:
    symbol = ca.SX.sym("leaf")
    return Functional(symbol, {leaf: symbol}, leaf.text, LEAF, name)


@explained
def integral(what: Any, *, name: str | None = None) -> Functional:
    """The integral of a quantity over the time of a run.

    ``what`` is the name of anything results have ("slider.ax", "B.force", a measure), a text of such names, design
    parameters and ``t`` ("motor.effort**2 + 3 * k"), or a quantity (``body.x``, ``kp.distance(a, b)``).
    """
    return _of(Integral(what), name)


@explained
def final(what: Any, *, name: str | None = None) -> Functional:
    """The value of a quantity at the end of a run."""
    return _of(Point(what, "end"), name)


@explained
def initial(what: Any, *, name: str | None = None) -> Functional:
    """The value of a quantity at the start of a run."""
    return _of(Point(what, "start"), name)


@explained
def value_at(what: Any, t: float, *, name: str | None = None) -> Functional:
    """The value of a quantity at a time of a run."""
    return _of(Point(what, plain_number(t, "value_at: the time")), name)


@explained
def maximum(what: Any, *, name: str | None = None) -> Functional:
    """The largest value of a quantity over time.

    Its derivative jumps where two peaks are equally large; :func:`smooth_maximum`, and a :func:`violation` of a bound
    that is a design parameter itself, have none such.
    """
    return _of(Extreme(what, largest=True), name)


@explained
def minimum(what: Any, *, name: str | None = None) -> Functional:
    """The least value of a quantity over time."""
    return _of(Extreme(what, largest=False), name)


@explained
def violation(what: Any, *, at_most: Any = None, at_least: Any = None, name: str | None = None) -> Functional:
    """By how much a bound is violated over time: the integral of the square of what is beyond it.

    It is zero exactly where the bound holds at all times, and smooth (eqs. 4.6 and 6.10 of Haug, Wehage and Barman,
    1981): ``kp.violation("O.force.y", at_most=10.0).equals(0)``. A bound may be a number, a design parameter or
    anything that ``what`` may be. With a design parameter ``b`` as bound, ``b`` made small subject to ``violation(what,
    at_most=b).equals(0)`` makes the largest value small (eqs. 6.5 to 6.10).
    """
    if at_most is None and at_least is None:
        raise ModelError(f"violation of {said(as_watched(what, 'violation of'))}: give at_most= or at_least=")
    bounds = [(limit, below) for limit, below in ((at_most, False), (at_least, True)) if limit is not None]
    parts = [_of(Excess(what, limit, below=below), None) for limit, below in bounds]
    if len(parts) == 1:
        return parts[0] if name is None else parts[0].called(name)
    leaves = {**parts[0]._leaves, **parts[1]._leaves}
    (high, low), seen = ([said(as_watched(limit, "the bound")) for limit, _ in bounds]), said(as_watched(what, ""))
    words = f"violation of {low} <= {seen} <= {high}"
    return Functional(parts[0]._expression + parts[1]._expression, leaves, words, LEAF, name)


@explained
def mean(what: Any, *, name: str | None = None) -> Functional:
    """The mean of a quantity over time."""
    return _over_time(Integral(what, "mean"), name, lambda average: average)


@explained
def rms(what: Any, *, name: str | None = None) -> Functional:
    """The root of the mean square of a quantity over time."""
    return _over_time(SquareIntegral(what, "rms"), name, lambda average: ca.sqrt(ca.fmax(average, TINY)))


@explained
def smooth_maximum(what: Any, *, sharpness: float, around: float = 0.0, name: str | None = None) -> Functional:
    """A smooth stand-in for the largest value of a quantity y: log(mean of exp(s y)) / s, s being the ``sharpness``.

    It lies below the largest value, the closer the sharper it is: by about log(T / d) / s, where y stays within 1/s of
    its peak for the time d of the whole T. It has one derivative where the maximum has two, and costs one integral.
    Where s y is larger than some hundreds exp is no number any more: then say ``around`` which value y is (what comes
    out does not depend on it).
    """
    s = plain_number(sharpness, "smooth_maximum: the sharpness")
    if s <= 0:
        raise ModelError(f"smooth_maximum: the sharpness must be above zero, not {s:g}")
    middle = plain_number(around, "smooth_maximum: around")
    return _over_time(Exponential(what, s, middle), name, lambda average: middle + ca.log(average) / s)


def _over_time(leaf: Leaf, name: str | None, of_average: Callable[[ca.SX], ca.SX]) -> Functional:
    """A function of the average of an integrand over time (the length of a run is an integral too)."""
    total, length = ca.SX.sym("leaf"), ca.SX.sym("time")
    return Functional(of_average(total / length), {leaf: total, Integral(1.0): length}, leaf.text, LEAF, name)


#: The functionals by name, as files and command lines call them.
FUNCTIONALS: dict[str, Callable[..., Functional]] = {
    made.__name__: made
    for made in (integral, final, initial, value_at, maximum, minimum, violation, mean, rms, smooth_maximum)
}


# --- several of them -----------------------------------------------------------------------------------------------


def named(given: Any, what: str = "functionals") -> dict[str, Functional]:
    """One functional, several, or several by name: each under the name it goes by."""
    if isinstance(given, Mapping):
        found = [as_functional(f, f"'{name}'").called(name) for name, f in given.items()]
    else:
        items = given if isinstance(given, (list, tuple)) else [given]
        found = [as_functional(f.functional if isinstance(f, Requirement) else f, what) for f in items]
    names = [f.name for f in found]
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise ModelError(f"{what}: '{twice}' is there twice; give them names, name=...")
    if not found:
        raise ModelError(f"{what}: there must be at least one")
    return dict(zip(names, found, strict=True))


class Functionals:
    """Several functionals as one function of what runs supply.

    ``leaves`` is what is supplied, each once, in this order; ``parameters`` are all design parameters of the model, of
    which those that follow from others count as parameters of their own here.
    """

    def __init__(self, functionals: Mapping[str, Functional], parameters: Sequence[Parameter]) -> None:
        self.names = list(functionals)
        self.parameters = [parameter.label for parameter in parameters]
        by_key = {leaf.key(): leaf for f in functionals.values() for leaf in f.leaves}
        self.leaves = list(by_key.values())
        number_of = {key: k for k, key in enumerate(by_key)}
        leaves = ca.SX.sym("leaves", len(self.leaves))
        made = [f.of({leaf: leaves[number_of[leaf.key()]] for leaf in f.leaves}) for f in functionals.values()]
        own = {parameter.element_hash() for parameter in parameters}
        for name, expression in zip(self.names, made, strict=True):
            inner = [s for s in ca.symvar(expression) if not ca.depends_on(leaves, s)]
            strange = next((p.label for p in parameters_in(inner) if p.element_hash() not in own), None)
            if strange is not None:
                raise ModelError(f"'{name}' uses parameter '{strange}', which belongs to another model")
        everything = ca.densify(ca.vertcat(ca.SX(0, 1), *made))
        p = ca.vertcat(ca.SX(0, 1), *[ca.SX(parameter) for parameter in parameters])
        slopes = [ca.densify(ca.jacobian(everything, by)) for by in (leaves, p)]
        self._values = ca.Function("values", [leaves, p], [everything])
        self._slopes = ca.Function("slopes", [leaves, p], slopes)

    def values(self, leaves: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """The functionals (F,) from what a run supplied (L,), at values of the parameters (P,)."""
        found = np.array(self._values(leaves, parameters), dtype=float).reshape(len(self.names))
        return self._finite(found, "its value", leaves)

    def weights(self, leaves: np.ndarray, parameters: np.ndarray) -> np.ndarray:
        """Their derivatives by the leaves (F, L)."""
        found = np.array(self._slopes(leaves, parameters)[0], dtype=float)
        return self._finite(found, "its gradient", leaves)

    def gradients(
        self, leaves: np.ndarray, by_parameters: np.ndarray, parameters: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Their values (F,) and derivatives by the parameters (F, P), from those of the leaves (L, P)."""
        values = self.values(leaves, parameters)
        by_leaves, explicit = self.slopes(leaves, parameters)
        return values, self._finite(explicit + by_leaves @ by_parameters, "its gradient", leaves)

    def slopes(self, leaves: np.ndarray, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Their derivatives by what a run supplied (F, L), and by the parameters where they stand themselves (F, P)."""
        by_leaves, explicit = (np.array(e, dtype=float) for e in self._slopes(leaves, parameters))
        return by_leaves, explicit

    def _finite(self, found: np.ndarray, what: str, leaves: np.ndarray) -> np.ndarray:
        for name, row in zip(self.names, found, strict=True):
            if not np.isfinite(row).all():
                raise ModelError(f"'{name}': {what} is not finite{self._reason(leaves)}")
        return found

    def _reason(self, leaves: np.ndarray) -> str:
        for leaf, value in zip(self.leaves, leaves, strict=True):
            if not np.isfinite(value):
                sharp = isinstance(leaf, Exponential)
                return f": the {leaf.text} is {value}" + ("; say around= which value it is" if sharp else "")
        return " at this design"
