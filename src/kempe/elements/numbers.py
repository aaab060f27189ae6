"""Numbers in a model: plain ones, design parameters, and expressions of design parameters."""

from __future__ import annotations

import inspect
import math
import re
import weakref
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, TypeAlias

import casadi as ca
import numpy as np

from kempe.elements.readings import Staged, is_piece, places_of, readings_in, substituted
from kempe.errors import ModelError

#: A number in a model: a float, or a CasADi scalar made of design parameters.
Number: TypeAlias = "float | ca.SX"

# CasADi announces a change of what numpy functions return for its symbols; Kempe does not depend on it.
if hasattr(ca.GlobalOptions, "setNumpyMode"):
    ca.GlobalOptions.setNumpyMode(-1)

#: No number of a model is larger than this, whatever the unit: squares and products leave the range of floats.
LARGEST = 1e100

_known: weakref.WeakValueDictionary[int, Parameter] = weakref.WeakValueDictionary()


def named_symbol(name: str) -> ca.SX:
    """A symbol that shows a name, whatever the name (CasADi takes brackets for a list of names)."""
    return ca.SX.sym(name.replace("[", "(").replace("]", ")"))


class Parameter(ca.SX):
    """A named design parameter: a CasADi symbol that knows its value.

    It can stand wherever a number can, and so can any expression of it (``0.25 * L**3 / 12``, ``kp.sin(L)``).
    Changing ``value`` rebuilds and recompiles nothing. One that is given as an expression of others follows them; that
    is its ``formula``.
    """

    def __init__(
        self, name: str, value: Any, bounds: tuple[float, float] | None = None, *, symbol: ca.SX | None = None
    ) -> None:
        super().__init__(named_symbol(name) if symbol is None else symbol)
        self._label = name
        self.bounds = bounds
        self._formula: ca.SX | None = None
        self._unfolded: ca.SX | None = None
        if isinstance(value, ca.SX) and not value.is_constant():
            self._formula = ca.SX(number(value, f"parameter '{name}': the value"))
            if bounds is not None:
                raise ModelError(f"parameter '{name}' follows from others, which have bounds; it cannot have its own")
        else:
            self.value = value
        if symbol is None and self.bounds is not None and not self.bounds[0] <= self.value <= self.bounds[1]:
            raise ModelError(f"parameter '{name}': the value {self.value} is outside its bounds {self.bounds}")
        _known[self.element_hash()] = self

    def still(self, value: float) -> Parameter:
        """The same symbol with a value of its own, for a model that is to stay as it is."""
        made = Parameter.__new__(Parameter)
        ca.SX.__init__(made, self)
        made._label, made._bounds = self._label, self._bounds
        made._formula, made._unfolded = self._formula, self._unfolded
        registered = _known.setdefault(self.element_hash(), made)
        if registered is not made:
            made._registered = registered  # the symbol is known as long as anybody has it
        if self._formula is None:
            made.value = value
        return made

    @property
    def label(self) -> str:
        """Its name."""
        return self._label

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the largest value of a design."""
        return self._bounds

    @bounds.setter
    def bounds(self, bounds: tuple[float, float] | None) -> None:
        self._bounds = None if bounds is None else _checked_bounds(self.label, bounds)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ("value", "bounds", "this", "thisown") and not name.startswith("_"):
            raise ModelError(f"'{name}' of parameter '{self.label}' cannot be assigned to; its value and bounds can")
        super().__setattr__(name, value)

    def __copy__(self) -> Parameter:
        return self  # what makes it a parameter is that it is this one

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Parameter:
        return self

    def __reduce_ex__(self, _: Any) -> Any:
        raise ModelError(f"parameter '{self.label}' travels with its model: pickle the model, and ask it for it there")

    @property
    def value(self) -> float:
        """The current value."""
        return self._value if self._formula is None else float(evaluate([self._formula])[0])

    @value.setter
    def value(self, value: float) -> None:
        if self._formula is not None:
            raise ModelError(f"parameter '{self.label}' {self.follows}")
        self._value = plain_number(value, f"parameter '{self.label}': the value")

    @property
    def formula(self) -> ca.SX | None:
        """The expression of other parameters that it follows; None for one that has a value of its own."""
        return self._formula

    @property
    def unfolded(self) -> ca.SX:
        """Its formula in parameters that have values of their own; itself where it has one."""
        if self._formula is None:
            return ca.SX(self)
        if self._unfolded is None:
            self._unfolded = unfolded(self._formula)
        return self._unfolded

    @property
    def follows(self) -> str:
        """From what it follows, as the end of a sentence."""
        names = ", ".join(f"'{p.label}'" for p in parameters_in([self._formula]))
        return f"follows from {names}; change that"

    def __repr__(self) -> str:
        return f"Parameter({self.label!r}, {self.value!r})"


def plain_number(value: Any, what: str) -> float:
    """A finite float and no expression."""
    checked = number(value, what)
    if isinstance(checked, ca.SX):
        raise ModelError(f"{what} must be a finite number, not an expression of parameters")
    return checked


def _checked_bounds(name: str, bounds: Any) -> tuple[float, float]:
    given = plain_array(bounds, f"parameter '{name}': bounds")
    if given.shape != (2,):
        raise ModelError(f"parameter '{name}': bounds must be two numbers, not {shown(bounds)}")
    low, high = given.tolist()
    if not low <= high:
        raise ModelError(f"parameter '{name}': the lower bound {low} is above the upper bound {high}")
    return low, high


def parameters_in(expressions: Iterable[Any]) -> list[Parameter]:
    """The design parameters that occur in some numbers, each once, in order of first appearance."""
    found: dict[int, Parameter] = {}
    expressions = list(expressions)
    for expression in [*(a for reading in readings_in(expressions) for a in reading.arguments), *expressions]:
        if isinstance(expression, ca.SX):
            for symbol in ca.symvar(expression):
                parameter = _known.get(symbol.element_hash())
                if parameter is None and is_piece(symbol):
                    continue
                if parameter is None:
                    raise ModelError(f"the symbol '{symbol.name()}' is not a parameter of this model")
                found.setdefault(symbol.element_hash(), parameter)
    return list(found.values())


def parameters_of(expression: ca.SX, own: ca.SX, what: str) -> list[Parameter]:
    """The design parameters in an expression a user's function returned, apart from its own symbols.

    Refuses what ``math`` functions make of a symbol, which is NaN.
    """
    own = ca.SX(own)
    expression = ca.vertcat(ca.vec(ca.SX(expression)), places_of(readings_in([ca.SX(expression)])))
    mine = {symbol.element_hash() for symbol in ca.symvar(own)}
    strangers = [s for s in ca.symvar(expression) if s.element_hash() not in mine]
    function = ca.Function("f", [own, ca.vertcat(ca.SX(0, 1), *strangers)], [expression])
    for k in range(function.n_instructions()):
        if function.instruction_id(k) == ca.OP_CONST and math.isnan(function.instruction_constant(k)):
            raise ModelError(f"{what} contains NaN; use kp.sin, kp.sqrt and such, not those of the math module")
    try:
        return parameters_in(s for s in strangers if not is_piece(s))
    except ModelError as error:
        raise ModelError(f"{what}: {error}") from None


def unfolded(expression: ca.SX) -> ca.SX:
    """An expression with the formulas of parameters that follow from others in their place."""
    derived = [p for p in parameters_in([expression]) if p.formula is not None]
    if not derived:
        return expression
    return substituted([expression], [ca.SX(p) for p in derived], [p.unfolded for p in derived])[0]


def evaluate(expressions: Sequence[Number]) -> np.ndarray:
    """The present values of some numbers."""
    if not any(isinstance(e, ca.SX) for e in expressions):
        return np.array(expressions, dtype=float)
    column = unfolded(ca.vertcat(*[ca.SX(e) for e in expressions]))
    parameters = parameters_in([column])
    numbers = np.array([p.value for p in parameters])
    if not readings_in([column]):
        values = ca.substitute([column], [ca.SX(p) for p in parameters], [ca.SX(n) for n in numbers])[0]
        return np.array(ca.DM(values), dtype=float).ravel()
    staged = Staged([ca.vertcat(ca.SX(0, 1), *[ca.SX(p) for p in parameters])], [column])
    wrong = staged.outside(numbers)
    if wrong:
        raise ModelError(wrong)
    return staged(numbers)[0].ravel()


def number(value: Any, what: str) -> Number:
    """A finite float, or an expression of parameters; ``what`` says in the user's words where it stands."""
    if isinstance(value, ca.SX):
        if value.numel() != 1:
            raise ModelError(f"{what} must be one number, not {value.numel()}")
        if not value.is_constant():
            if not abs(evaluate([value])[0]) <= LARGEST:
                raise ModelError(
                    f"{what} is not finite, or beyond {LARGEST:g}, at the present values of its parameters: {value}"
                )
            return ca.SX(value)
        value = float(value)
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise ModelError(f"{what} must be a number, not {shown(value)}{unit_hint(value)}")
    try:
        value = float(value)
    except OverflowError:
        raise ModelError(f"{what} is too large") from None
    except Exception:  # whatever an object of the user's says to being taken for a number
        raise ModelError(f"{what} must be a number, not {shown(value)}") from None
    if not math.isfinite(value):
        raise ModelError(f"{what} must be finite, not {value!r}")
    if abs(value) > LARGEST:
        raise ModelError(f"{what} is too large: {value!r} is beyond {LARGEST:g}")
    return value


def unit_hint(value: Any) -> str:
    """The end of a sentence that says how to write a number that was given as text."""
    if not isinstance(value, str):
        return ""
    found = re.fullmatch(r"\s*([-+]?\d*[.,]?\d+(?:[eE][-+]?\d+)?)\s*([A-Za-z°µ%][\w°µ%/²³·^ ]*)?", value)
    if found is None:
        return ""
    plain = found[1].replace(",", ".")
    return f"; write {plain}, without a unit" if found[2] else f"; write {plain}"


def plain_array(values: Any, what: str) -> np.ndarray:
    """Real numbers as a new array of floats; words, truth values and complex numbers are none."""
    try:
        given = np.asarray(values)
        if given.dtype.kind == "O":
            given = np.array([plain_number(item, what) for item in given.ravel()]).reshape(given.shape)
        if given.size and given.dtype.kind not in "iuf":
            raise ModelError(f"{what} must be numbers, not {shown(values)}")
        return np.array(given, dtype=float, order="C")
    except ModelError:
        raise
    except MemoryError:
        raise ModelError(f"{what}: these are more numbers than there is memory for") from None
    except Exception:  # whatever objects of the user's say to being put into an array
        raise ModelError(f"{what} must be numbers, not {shown(values)}") from None


class Told:
    """Something that messages call by the user's name for it."""

    def told(self) -> str:
        """What it is called."""
        kind = re.sub(r"(?<!^)(?=[A-Z])", " ", type(self).__name__).lower()
        name = vars(self).get("name")
        return f"{kind} '{name}'" if isinstance(name, str) else kind


def shown(value: Any) -> str:
    """What a user gave as it is shown in a message: not longer than a line, and never an error itself."""
    try:
        text = value.told() if isinstance(value, Told) else "a function" if inspect.isroutine(value) else repr(value)
    except Exception:
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= 120 else text[:117] + "..."


def positive(value: Any, what: str) -> Number:
    """A number that is above zero (at the present parameter values)."""
    checked = number(value, what)
    if evaluate([checked])[0] < 1 / LARGEST:
        raise ModelError(f"{what} must be above zero, not {float(evaluate([checked])[0])!r}")
    return checked


def not_negative(value: Any, what: str) -> Number:
    """A number that is not below zero (at the present parameter values)."""
    checked = number(value, what)
    if evaluate([checked])[0] < 0:
        raise ModelError(f"{what} must not be below zero, not {float(evaluate([checked])[0])!r}")
    return checked


def unless_zero(value: Number) -> Number | None:
    """None for a plain zero, which leaves its term out of the equations; a parameter stays, whatever its value."""
    return value if isinstance(value, ca.SX) or value != 0 else None


def _pair(size: int) -> str:
    return ", (x, y)" if size == 2 else ""


def vector(value: Any, what: str, size: int = 2) -> tuple[Number, ...]:
    """A tuple of numbers of the right length."""
    if isinstance(value, ca.SX) and value.numel() == size and size > 1:
        value = [value[k] for k in range(size)]
    if isinstance(value, (str, bytes, dict, set, frozenset)):
        raise ModelError(f"{what} must be {size} numbers{_pair(size)}, not {shown(value)}")
    try:
        items = list(islice(value, 1000))
    except Exception:
        raise ModelError(f"{what} must be {size} numbers{_pair(size)}, not {shown(value)}") from None
    if len(items) != size:
        raise ModelError(f"{what} must be {size} numbers, not {len(items)} of them")
    return tuple(number(item, f"{what}[{k}]") for k, item in enumerate(items))
