"""What an element is: named fields (its data) and equations on the symbolic view of those fields.

A field says which coordinates it needs (``parts``), which numbers (``data``), which tables, what it looks like to
the equations (``symbolic``), and what makes two fields give the same equations (``structure``). Elements with equal
structure share one compiled kernel; only their coordinates and numbers differ.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from kempe.elements.numbers import Number, evaluate, number, positive
from kempe.errors import ModelError


class Table:
    """A cubic piecewise polynomial: the engine finds the interval, a kernel sees only the five numbers of a cubic."""

    WIDTH = 5  # left end of the interval and the four coefficients in powers of (x - left)

    def __init__(self, breaks: np.ndarray, coefficients: np.ndarray, period: float = 0.0) -> None:
        self.breaks = np.ascontiguousarray(breaks, dtype=float)  # n + 1, increasing
        self.coefficients = np.ascontiguousarray(coefficients, dtype=float)  # n x 4, ascending powers
        self.period = period

    def pieces(self, x: np.ndarray) -> np.ndarray:
        """The left ends and the coefficients that hold at each x (outside the table: those of the end pieces)."""
        turns = np.floor((x - self.breaks[0]) / self.period) * self.period if self.period else np.zeros(len(x))
        k = np.clip(np.searchsorted(self.breaks, x - turns, side="right") - 1, 0, len(self.coefficients) - 1)
        return np.column_stack([self.breaks[k] + turns, self.coefficients[k]])

    def piece(self, x: float) -> np.ndarray:
        """The left end and the coefficients that hold at x."""
        return self.pieces(np.array([x], dtype=float))[0]


@dataclass(frozen=True)
class Switch:
    """A way out of a mode: when ``guard`` falls from positive to zero, the element enters the mode ``target``.

    ``latch`` gives values to keep from that instant on (the approach speed of a contact), by the names in ``latches``.
    ``note`` says in words what happens, for the list of events.
    """

    source: str
    guard: Any
    target: str
    latch: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    #: Whether the run ends here.
    stops: bool = False
    #: False for switches that nobody needs to hear of.
    told: bool = True


class Source:
    """Where a symbolic view takes coordinates, numbers and tables from: kernel symbols, or the drawn pose."""

    t: Any

    def rate(self, expression: Any) -> Any:
        """The rate of an expression of the coordinates."""
        raise NotImplementedError

    def push(self, expression: Any, effort: Any) -> Any:
        """The generalised force of an effort that does work on the change of an expression of the coordinates."""
        raise NotImplementedError

    def coordinates(self, part: Part) -> list[Any]:
        """The coordinates of a part."""
        raise NotImplementedError

    def numbers(self, values: Sequence[Number]) -> list[Any]:
        """The given numbers as the equations see them."""
        raise NotImplementedError

    def table(self, table: Table, argument: Any) -> Any:
        """The table's value at an argument."""
        raise NotImplementedError

    def placed(self, carrier: Any, placed: Any) -> Any:
        """A marker or frame on a carrier as the equations see it (a source that asks for forces displaces it)."""
        return placed

    def component(self, part: Part, index: int) -> Any:
        """One coordinate of a part as the equations see it."""
        return self.coordinates(part)[index]

    def hybrid(self, element: Element) -> tuple[Any, dict[str, Any]]:
        """How a switching element sees its mode (a function of a mode's name and an expression) and latched values."""
        raise NotImplementedError


class Field:
    """A datum of an element; see the module text. The default is a field without coordinates, numbers or tables."""

    def parts(self) -> Iterable[Part]:
        """The parts whose coordinates are used."""
        return ()

    def data(self) -> Iterable[Number]:
        """The numbers used, in the order in which ``symbolic`` asks for them."""
        return ()

    def tables(self) -> Iterable[Table]:
        """The tables used, in the order in which ``symbolic`` asks for them."""
        return ()

    def structure(self) -> Hashable:
        """Equal structures give equal equations."""
        return (type(self),)

    def symbolic(self, source: Source) -> Any:
        """The field as the equations see it."""
        raise NotImplementedError


class Scalar(Field):
    """One number."""

    def __init__(self, value: Number) -> None:
        self.value = value

    def data(self) -> Iterable[Number]:
        return (self.value,)

    def symbolic(self, source: Source) -> Any:
        return source.numbers([self.value])[0]


class Positive(Scalar):
    """A number that must be above zero, whatever the parameters become."""

    def __init__(self, value: Any, what: str) -> None:
        super().__init__(positive(value, what))
        self.what = what


class Static(Field):
    """A fixed choice that is part of the equations (a word, an integer, None)."""

    def __init__(self, value: Hashable) -> None:
        self.value = value

    def structure(self) -> Hashable:
        return self.value

    def symbolic(self, source: Source) -> Any:
        return self.value


class Group(Field):
    """Several fields in a fixed order, seen as a list."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self.fields = tuple(fields)

    def parts(self) -> Iterable[Part]:
        return [part for f in self.fields for part in f.parts()]

    def data(self) -> Iterable[Number]:
        return [value for f in self.fields for value in f.data()]

    def tables(self) -> Iterable[Table]:
        return [table for f in self.fields for table in f.tables()]

    def structure(self) -> Hashable:
        return tuple(f.structure() for f in self.fields)

    def symbolic(self, source: Source) -> list[Any]:
        return [f.symbolic(source) for f in self.fields]


class Part(Field):
    """Something that owns coordinates: a body, a point, a scalar coordinate.

    ``channels`` names, for each coordinate, its value, its rate and its acceleration in results.
    """

    channels: ClassVar[tuple[tuple[str, str, str], ...]] = ()

    def __init__(self, name: str, start: Sequence[Number]) -> None:
        self.name = name
        self.start = tuple(start)

    def names(self) -> list[tuple[str, str, str]]:
        """The full names of value, rate and acceleration of each coordinate."""
        return [tuple(f"{self.name}.{c}" for c in channel) for channel in self.channels]  # type: ignore[misc]

    def is_angle(self) -> list[bool]:
        """Which coordinates are angles: whole turns of them are no movement."""
        return [channel[0] == "angle" for channel in self.channels]

    def natural_scale(self) -> list[float]:
        """What counts as a movement of size one: 1 for an angle, NaN for a length (the mechanism's size decides)."""
        return [1.0 if angle else float("nan") for angle in self.is_angle()]

    def parts(self) -> Iterable[Part]:
        return (self,) if self.channels else ()

    def structure(self) -> Hashable:
        return (type(self),)

    def symbolic(self, source: Source) -> Any:
        return SimpleNamespace(**dict(zip([c[0] for c in self.channels], source.coordinates(self), strict=True)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Element:
    """A joint, driver, bar or force: named fields, and equations on their symbolic view.

    A subclass passes its fields to ``super().__init__`` and defines any of

    - ``phi(x)``: constraint equations, named one by one in ``rows``;
    - ``kinetic(x)``: kinetic energy;
    - ``weight(x)`` and ``potential(x)``: potential energy, of gravity and elastic; their forces are derived;
    - ``damping(x)`` and ``force(x)``: generalised forces on its coordinates, those that dissipate and all others;
    - ``outputs(x)``: what results show under the element's name (the length and the tension of a spring).

    ``x`` has each field by its name, seen symbolically; ``x.t`` is the time, ``x.d(e)`` the rate of an expression e of
    the coordinates, and ``x.push(e, effort)`` the generalised force of an effort that does work on the change of e.

    An element that switches names its ``modes`` and defines ``switches(x)`` and ``first_mode(x)``; ``x.mode(name, e)``
    is e in that mode and zero in any other, ``x.kept[name]`` a value latched when its mode began.
    """

    rows: tuple[str, ...] = ()
    #: True where the equations are M a = Q as written, the velocity terms of a varying M included in Q by the user.
    newtonian: ClassVar[bool] = False
    #: The modes of an element that switches; the mode is part of the state.
    modes: ClassVar[tuple[str, ...]] = ()
    #: Names of the values it latches.
    latches: ClassVar[tuple[str, ...]] = ()
    #: True for elements that prescribe a motion; they are left out of the mobility count.
    drives: ClassVar[bool] = False

    def __init__(self, name: str, **fields: Any) -> None:
        self.name = name
        self.fields: dict[str, Field] = {key: as_field(value, f"'{name}': {key}") for key, value in fields.items()}
        #: Coordinates that exist for this element only (a curve parameter, say); added to the model with it.
        self.auxiliary: list[Part] = []
        for f in self.fields.values():
            self.auxiliary += [p for p in f.parts() if getattr(p, "owner", None) is self]

    def phi(self, x: Any) -> Any:
        """The constraint equations, one for each of ``rows``."""
        raise NotImplementedError(f"{type(self).__name__} has no constraint equations")

    def kinetic(self, x: Any) -> Any:
        """The kinetic energy."""
        raise NotImplementedError(f"{type(self).__name__} has no inertia")

    def weight(self, x: Any) -> Any:
        """The potential energy of gravity."""
        return 0.0

    def potential(self, x: Any) -> Any:
        """The elastic energy."""
        return 0.0

    def damping(self, x: Any) -> Any:
        """The generalised force that dissipates, on the coordinates of ``parts()``, in their order."""
        return 0.0

    def force(self, x: Any) -> Any:
        """The generalised force on the coordinates of ``parts()``, in their order."""
        return 0.0

    def outputs(self, x: Any) -> dict[str, Any]:
        """Histories that results have of the element, by name, as expressions of coordinates, rates and time."""
        return {}

    def switches(self, x: Any) -> list[Switch]:
        """The ways out of each mode."""
        return []

    def first_mode(self, x: Any) -> Any:
        """The number of the mode at the start of a motion."""
        return 0.0

    @property
    def has_inertia(self) -> bool:
        """Whether the element contributes kinetic energy."""
        return type(self).kinetic is not Element.kinetic

    def parts(self) -> list[Part]:
        """The parts whose coordinates the element touches, each once."""
        return list(dict.fromkeys(part for f in self.fields.values() for part in f.parts()))

    def data(self) -> list[Number]:
        """The element's numbers in the order in which its kernels read them."""
        return [value for f in self.fields.values() for value in f.data()]

    def positives(self) -> list[Positive]:
        """The numbers that must stay above zero."""
        return [f for f in self.fields.values() if isinstance(f, Positive)]

    def tables(self) -> list[Table]:
        """The element's tables."""
        return [table for f in self.fields.values() for table in f.tables()]

    def structure(self) -> Hashable:
        """Elements of equal structure share their kernels."""
        places = {part: k for k, part in enumerate(self.parts())}
        shared = tuple(places[part] for f in self.fields.values() for part in f.parts())
        return (type(self), self.rows, shared, *((key, f.structure()) for key, f in self.fields.items()))

    def view(self, source: Source) -> SimpleNamespace:
        """The fields as the equations see them."""
        x = SimpleNamespace(t=source.t, d=source.rate, push=source.push)
        for key, f in self.fields.items():
            setattr(x, key, f.symbolic(source))
        if self.modes:
            x.mode, x.kept = source.hybrid(self)
        return x

    def drives_rows(self) -> list[bool]:
        """Which rows prescribe a motion."""
        return [self.drives] * len(self.rows)

    def row_label(self, row: str) -> str:
        """A row as a user reads it."""
        return f"{self.name}.{row}"

    def row_owner(self, row: str) -> str:
        """Whom to name when a row is the trouble."""
        return self.name

    @property
    def kind(self) -> str:
        """The element's type as a user would call it."""
        return kind_of(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def as_field(value: Any, what: str) -> Field:
    """A value given to an element as a field: fields as they are, words and None as fixed choices, else a number."""
    if isinstance(value, Field):
        return value
    if value is None or isinstance(value, (str, bool)):
        return Static(value)
    if isinstance(value, (list, tuple)):
        return Group(as_field(item, f"{what}[{k}]") for k, item in enumerate(value))
    return Scalar(number(value, what))


class KernelSource(Source):
    """Fresh symbols for one element: coordinates by part, numbers and table pieces in order of use."""

    def __init__(self, element: Element) -> None:
        self.t = ca.SX.sym("t")
        self._parts = {part: ca.SX.sym(part.name, len(part.channels)) for part in element.parts()}
        self.q = ca.vertcat(ca.SX(0, 1), *self._parts.values())
        self.v = ca.SX.sym("v", self.q.numel())
        #: Mode and latched values, of an element that switches.
        self.z = ca.SX.sym("z", 1 + len(element.latches) if element.modes else 0)
        self._p: list[ca.SX] = []
        self.arguments: list[ca.SX] = []
        self._pieces: list[ca.SX] = []

    def push(self, expression: Any, effort: Any) -> ca.SX:
        """(de/dq)^T effort; differentiated forward, so that nothing undefined leaks from an untaken side."""
        return ca.mtimes(ca.jacobian(ca.SX(expression), self.q, {"allow_reverse": False}).T, ca.SX(effort))

    def hybrid(self, element: Element) -> tuple[Any, dict[str, Any]]:
        def mode(name: str, expression: Any) -> ca.SX:
            return ca.if_else(self.z[0] == element.modes.index(name), expression, 0.0)

        return mode, {name: self.z[1 + k] for k, name in enumerate(element.latches)}

    def coordinates(self, part: Part) -> list[Any]:
        symbols = self._parts[part]
        return [symbols[k] for k in range(symbols.numel())]

    def rate(self, expression: Any) -> ca.SX:
        """How fast an expression of the coordinates changes when they change at the rates ``v``."""
        return ca.jtimes(ca.SX(expression), self.q, self.v)

    def numbers(self, values: Sequence[Number]) -> list[Any]:
        fresh = [ca.SX.sym(f"p{len(self._p) + k}") for k in range(len(values))]
        self._p += fresh
        return fresh

    def table(self, table: Table, argument: Any) -> Any:
        piece = ca.SX.sym(f"table{len(self._pieces)}", Table.WIDTH)
        self._pieces.append(piece)
        self.arguments.append(ca.SX(argument))
        return cubic(piece, argument)

    @property
    def p(self) -> ca.SX:
        """The numbers handed out so far."""
        return ca.vertcat(ca.SX(0, 1), *self._p)

    @property
    def pieces(self) -> ca.SX:
        """The table pieces handed out so far."""
        return ca.vertcat(ca.SX(0, 1), *self._pieces)


def cubic(piece: Any, x: Any) -> Any:
    """The value at x of the cubic (left end, c0, c1, c2, c3)."""
    d = x - piece[0]
    return piece[1] + d * (piece[2] + d * (piece[3] + d * piece[4]))


class DrawnSource(Source):
    """The pose as the user drew it: start values and numbers themselves, parameters left symbolic."""

    t = 0.0

    def coordinates(self, part: Part) -> list[Any]:
        return list(part.start)

    def numbers(self, values: Sequence[Number]) -> list[Any]:
        return list(values)

    def table(self, table: Table, argument: Any) -> Any:
        return float(cubic(table.piece(evaluate([argument])[0]), evaluate([argument])[0]))


def kind_of(element: Any) -> str:
    """An element class as a user would call it: its name in words."""
    return re.sub(r"(?<!^)(?=[A-Z])", " ", element.__name__).lower()


def failed_on_symbols(error: Exception) -> str:
    """The end of a sentence that says why a user's function could not be traced."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if "Wrong number or type" in reason or "conversion" in reason.lower():
        reason = "it must return numbers made of its arguments and parameters"
    return f"failed on symbols ({reason}); write it with kp.sin, kp.sqrt, kp.if_else and such"


_traced: set[Hashable] = set()


def trace(element: Element) -> None:
    """Write an element's equations out once per structure, so that a mistake in them shows when it is added."""
    key = element.structure()
    if key in _traced:
        return
    view = element.view(KernelSource(element))
    if element.rows:
        element.phi(view)
    if element.has_inertia:
        element.kinetic(view)
    equations = (element.weight, element.potential, element.damping, element.force, element.outputs, element.switches)
    for equation in equations:
        equation(view)
    _traced.add(key)


def check_name(name: Any, what: str) -> str:
    """A usable name: a non-empty string without the dot that separates names in results."""
    if not isinstance(name, str) or not name.strip():
        raise ModelError(f"a {what} needs a name: a non-empty string, not {name!r}")
    if "." in name:
        raise ModelError(f"the name '{name}' contains a dot, which separates part and quantity in results")
    return name


def signature_of(function: Any) -> int:
    """How many positional arguments a user's function takes (-1 when it takes any number)."""
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return -1
    return sum(k in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD) for k in kinds)
