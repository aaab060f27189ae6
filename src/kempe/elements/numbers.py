"""Numbers in a model: plain ones, design parameters, and expressions of design parameters."""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from kempe.errors import ModelError

#: A number in a model: a float, or a CasADi scalar made of design parameters.
Number: TypeAlias = "float | ca.SX"

# CasADi announces a change of what numpy functions return for its symbols; Kempe does not depend on it.
if hasattr(ca.GlobalOptions, "setNumpyMode"):
    ca.GlobalOptions.setNumpyMode(-1)

_known: weakref.WeakValueDictionary[int, Parameter] = weakref.WeakValueDictionary()


class Parameter(ca.SX):
    """A named design parameter: a CasADi symbol that knows its value.

    It can stand wherever a number can, and so can any expression of it (``0.25 * L**3 / 12``, ``kp.sin(L)``).
    Changing ``value`` rebuilds and recompiles nothing.
    """

    def __init__(self, name: str, value: float, bounds: tuple[float, float] | None = None) -> None:
        super().__init__(ca.SX.sym(name))
        if bounds is not None and not (bounds[0] <= bounds[1]):
            raise ModelError(f"parameter '{name}': the lower bound {bounds[0]} is above the upper bound {bounds[1]}")
        self.label = name
        self.bounds = bounds
        self.value = value
        _known[self.element_hash()] = self

    @property
    def value(self) -> float:
        """The current value."""
        return self._value

    @value.setter
    def value(self, value: float) -> None:
        if isinstance(value, ca.SX) or not math.isfinite(float(value)):
            raise ModelError(f"parameter '{self.label}': the value must be a finite number, not {value!r}")
        self._value = float(value)

    def __repr__(self) -> str:
        return f"Parameter({self.label!r}, {self.value!r})"


def parameters_in(expressions: Iterable[Any]) -> list[Parameter]:
    """The design parameters that occur in some numbers, each once, in order of first appearance."""
    found: dict[int, Parameter] = {}
    for expression in expressions:
        if isinstance(expression, ca.SX):
            for symbol in ca.symvar(expression):
                parameter = _known.get(symbol.element_hash())
                if parameter is None:
                    raise ModelError(f"the symbol '{symbol.name()}' is not a parameter of this model")
                found.setdefault(symbol.element_hash(), parameter)
    return list(found.values())


def evaluate(expressions: Sequence[Number]) -> np.ndarray:
    """The present values of some numbers."""
    if not any(isinstance(e, ca.SX) for e in expressions):
        return np.array(expressions, dtype=float)
    parameters = parameters_in(expressions)
    values = ca.substitute(
        [ca.SX(ca.vertcat(*[ca.SX(e) for e in expressions]))],
        [ca.SX(p) for p in parameters],
        [ca.SX(p.value) for p in parameters],
    )[0]
    return np.array(ca.DM(values), dtype=float).ravel()


def number(value: Any, what: str) -> Number:
    """A finite float, or an expression of parameters; ``what`` says in the user's words where it stands."""
    if isinstance(value, ca.SX):
        if value.numel() != 1:
            raise ModelError(f"{what} must be one number, not {value.numel()}")
        if not value.is_constant():
            if not math.isfinite(evaluate([value])[0]):
                raise ModelError(f"{what} is not finite at the present values of its parameters: {value}")
            return ca.SX(value)
        value = float(value)
    if isinstance(value, bool):
        raise ModelError(f"{what} must be a number, not {value!r}")
    try:
        value = float(value)
    except (TypeError, ValueError):
        raise ModelError(f"{what} must be a number, not {value!r}") from None
    if not math.isfinite(value):
        raise ModelError(f"{what} must be finite, not {value!r}")
    return value


def positive(value: Any, what: str) -> Number:
    """A number that is above zero (at the present parameter values)."""
    checked = number(value, what)
    if evaluate([checked])[0] <= 0:
        raise ModelError(f"{what} must be above zero, not {float(evaluate([checked])[0])!r}")
    return checked


def vector(value: Any, what: str, size: int = 2) -> tuple[Number, ...]:
    """A tuple of numbers of the right length."""
    if isinstance(value, ca.SX) and value.numel() == size and size > 1:
        value = [value[k] for k in range(size)]
    try:
        items = list(value)
    except TypeError:
        raise ModelError(f"{what} must be {size} numbers, not {value!r}") from None
    if len(items) != size:
        raise ModelError(f"{what} must be {size} numbers, not {len(items)}")
    return tuple(number(item, f"{what}[{k}]") for k, item in enumerate(items))
