"""Elements a user writes as a plain Python function, and coordinates a user defines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import casadi as ca

from kempe.calling import suggestion
from kempe.elements.base import Element, Field, Group, check_name
from kempe.elements.functions import Expression, arguments_of, called_on_symbols
from kempe.elements.geometry import Placed, plain
from kempe.elements.numbers import shown
from kempe.elements.parts import Carrier, Coordinate, Marker, PlacedBody, as_carrier
from kempe.elements.planar import angle_beyond, cross
from kempe.elements.quantities import Angle, Seen, as_marker, drawn_value
from kempe.elements.sources import KernelSource, Source
from kempe.elements.spatial import PlacedInSpace
from kempe.errors import ModelError


class UserElement(Element):
    """An element whose equations are a user's function of parts, and of time if it takes one argument more.

    Arguments with a default keep it: they are neither parts nor the time.
    """

    def __init__(self, name: str, what: str, function: Callable[..., Any], parts: tuple[Any, ...]) -> None:
        if not callable(function):
            raise ModelError(f"{what} needs a function first, lambda crank: ... say, not {shown(function)}")
        if not parts:
            raise ModelError(f"{what} needs the parts it acts on, behind the function")
        for part in parts:
            if not isinstance(part, Field):
                raise ModelError(f"{what}: {shown(part)} is not a part, marker or coordinate of a model")
        takes = arguments_of(function, [called(part) for part in parts], ["t"], f"{what}: the function")
        super().__init__(name, parts=list(parts))
        source = KernelSource(self)
        arguments = [as_moving(field.symbolic(source), self.rates(source)) for field in self.given]
        if takes != len(parts):
            arguments.append(source.t)
        words = f"{what}: your function"
        value = called_on_symbols(lambda *a: self.returned(_something(function(*a), words), words), arguments, words)
        self.fields["body"] = Expression(value, self._own(source), words)

    @property
    def given(self) -> tuple[Field, ...]:
        """The parts, markers and coordinates the function takes."""
        group = self.fields["parts"]
        assert isinstance(group, Group)
        return group.fields

    def rates(self, source: KernelSource) -> Callable[[Any], Any]:
        """What gives the function the rate of an expression."""
        return source.rate

    def returned(self, result: Any, what: str) -> ca.SX:
        """What the function returned, as one column."""
        raise NotImplementedError

    def _own(self, source: KernelSource) -> list[Any]:
        """The symbols the function was called with: coordinates, rates, time, and the numbers of the parts."""
        count = len(list(self.fields["parts"].data()))  # (a CasADi slice [:0] is not empty)
        return [source.q, source.v, source.t, *(source.p[k] for k in range(count))]

    def view(self, source: Source) -> Any:
        x = super().view(source)
        assert isinstance(source, KernelSource)
        x.returned = x.body(*self._own(source))
        return x


def _something(returned: Any, what: str) -> Any:
    if returned is None:
        raise ModelError(f"{what} returned nothing; is there a return?")
    return returned


class UserConstraint(UserElement):
    """A constraint given as a Python function of parts (and, if it takes one argument more or any number, of time).

    Arguments with a default keep it and do not count.

    A body arrives with ``x``, ``y``, ``angle`` and ``point(s)``; a marker or point with its position ``r``; a
    coordinate or quantity as a number, which is its ``value`` too. There are no rates: a constraint holds between
    positions. Design parameters may be used from the surrounding scope.
    """

    called = "constraint"

    def __init__(self, name: str, function: Callable[..., Any], *parts: Any, rows: Any = None) -> None:
        what = f"constraint '{name}'"
        super().__init__(name, what, function, parts)
        written: ca.SX = self.fields["body"].value  # type: ignore[attr-defined]
        n = written.numel()
        if n == 0:
            raise ModelError(f"{what}: the function returned no equation")
        if any(written[k].is_op(op) for k in range(n) for op in _QUESTIONS):
            raise ModelError(f"{what}: an equation is written as what must be zero, a - b, not as a comparison")
        if rows is not None:
            if isinstance(rows, str) or not isinstance(rows, Iterable):
                raise ModelError(f"{what}: rows must be a list of names, not {shown(rows)}")
            rows = [check_name(row, "row") for row in rows]
        self.rows = tuple(rows) if rows is not None else ("value",) if n == 1 else tuple(str(k + 1) for k in range(n))
        if len(self.rows) != n or len(set(self.rows)) != n:
            raise ModelError(f"{what}: {n} equations need {n} different row names, not {list(self.rows)}")

    def rates(self, source: KernelSource) -> Callable[[Any], Any]:
        def refused(_: Any) -> Any:
            raise ModelError(
                f"constraint '{self.name}': a constraint holds between positions and has no rates (vx, omega, rate); "
                "a motion is prescribed by m.driver(...), a force that depends on rates is an m.user_force(...)"
            )

        return refused

    def returned(self, result: Any, what: str) -> ca.SX:
        return _flat(result if isinstance(result, (list, tuple)) else [result])

    def phi(self, x: Any) -> Any:
        return x.returned


#: Operations whose result is a truth value.
_QUESTIONS = (ca.OP_EQ, ca.OP_NE, ca.OP_LT, ca.OP_LE, ca.OP_NOT, ca.OP_AND, ca.OP_OR)


def _flat(values: Any) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *[ca.vec(ca.SX(value)) for value in values])


class Moving(PlacedBody):
    """A body, point or marker as a user's function sees it: where it is, and how fast it moves."""

    _rate: Callable[[Any], Any]
    _known = ("x", "y", "angle", "r", "u", "n", "point", "vx", "vy", "omega", "v", "velocity")

    def __init__(self, frame: Any, rate: Callable[[Any], Any]) -> None:
        super().__init__(frame)
        object.__setattr__(self, "_rate", rate)  # (the fields of a Placed are frozen)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        hint = suggestion(name, self._known) or f"; it has {', '.join(self._known)}"
        raise ModelError(f"'{self.name}' has no '{name}' in a function of yours{hint}")

    v = property(lambda self: self._rate(self.r), doc="The velocity.")
    vx = property(lambda self: self.v[0])
    vy = property(lambda self: self.v[1])

    @property
    def omega(self) -> ca.SX:
        """The angular velocity, of a bar as well."""
        return self._rate(self.angle) if self.turned is not None else cross(self.u, self._rate(self.u))

    def velocity(self, local: Any) -> ca.SX:
        """The velocity of a point given in the part's axes."""
        return self._rate(self.point(local))


class MovingInSpace(PlacedInSpace):
    """A body, point or marker in space as a user's function sees it: where it is, and how fast it moves.

    ``u``, ``n`` and ``w`` are its axes, ``omega`` its angular velocity, all in world axes.
    """

    _rate: Callable[[Any], Any]
    _known = ("x", "y", "z", "r", "u", "n", "w", "point", "vx", "vy", "vz", "omega", "v", "velocity")

    def __init__(self, frame: PlacedInSpace, rate: Callable[[Any], Any]) -> None:
        super().__init__(frame.name, frame.r, frame.axes)
        object.__setattr__(self, "_rate", rate)

    __getattr__ = Moving.__getattr__
    x = property(lambda self: self.r[0])
    y = property(lambda self: self.r[1])
    z = property(lambda self: self.r[2])
    v = property(lambda self: self._rate(self.r), doc="The velocity.")
    vx = property(lambda self: self.v[0])
    vy = property(lambda self: self.v[1])
    vz = property(lambda self: self.v[2])
    omega = property(lambda self: PlacedInSpace.omega(self, self._rate))  # type: ignore[assignment]

    def point(self, local: Any) -> ca.SX:
        """The world position of a point given in the part's axes."""
        return self.r + self.along(local)

    def velocity(self, local: Any) -> ca.SX:
        """The velocity of a point given in the part's axes."""
        return self._rate(self.point(local))


class Value(ca.SX):
    """A coordinate or quantity as a user's function sees it: a number that knows how fast it changes."""

    def __init__(self, value: Any, rate: Callable[[Any], Any]) -> None:
        super().__init__(ca.SX(value))
        self._rate = rate

    value = property(lambda self: self, doc="The number itself.")
    rate = property(lambda self: self._rate(ca.SX(self)), doc="How fast it changes.")


def as_moving(field: Any, rate: Callable[[Any], Any]) -> Any:
    """A part as a user's function gets it: where it is, and how fast it moves."""
    if isinstance(field, PlacedInSpace):
        return MovingInSpace(field, rate)
    if isinstance(field, Placed):
        return Moving(field, rate)
    return Value(field.value if isinstance(field, Seen) else field, rate)


def called(part: Field) -> str:
    """What stands for a part where the arguments of a function are listed."""
    return str(getattr(part, "name", "coordinate"))


def _size(part: Field) -> int:
    """How many numbers a part takes as its effort."""
    carrier = part.carrier if isinstance(part, Marker) else part
    if not isinstance(carrier, Carrier):
        return 1
    return carrier.space.moves if carrier.solid and carrier is part else carrier.space.dim


def _effort(part: Field) -> str:
    """What these are."""
    if _size(part) == 1:
        return "one number"
    letters = as_carrier(part, "a part").space.letters
    forces, moments = [f"F{c}" for c in letters], ["M"] if len(letters) == 2 else [f"M{c}" for c in letters]
    return f"({', '.join(forces + (moments if _size(part) > len(letters) else []))})"


class UserForce(UserElement):
    """A force given as a Python function of parts (and, if it takes one argument more or any number, of time).

    Arguments with a default keep it and do not count.

    A body arrives with ``x``, ``y``, ``angle``, ``vx``, ``vy``, ``omega``, ``point(s)`` and ``velocity(s)``; a marker,
    point or bar with its position ``r`` and velocity ``v``; a coordinate or quantity as a number with a ``rate`` (its
    ``value`` is the number itself). The function returns one entry for each part, in order: (Fx, Fy, M) for a body,
    force at its origin and moment; (Fx, Fy) for a marker, point or bar; a number for a coordinate or quantity; 0 for
    nothing. In space a body takes (Fx, Fy, Fz, Mx, My, Mz) in world axes, a marker, point or bar (Fx, Fy, Fz). For a
    single part it returns that entry. What the force does counts as supplied energy. Design parameters
    may be used from the surrounding scope.
    """

    def __init__(self, name: str, function: Callable[..., Any], *parts: Any) -> None:
        super().__init__(name, f"user force '{name}'", function, parts)

    def sizes(self) -> list[int]:
        """How many numbers each part takes."""
        return [_size(f) for f in self.given]

    def returned(self, result: Any, what: str) -> ca.SX:
        sizes = self.sizes()
        wrapped = isinstance(result, (list, tuple)) and len(result) == 1
        entries = [result] if len(sizes) == 1 and not wrapped else result
        if not isinstance(entries, (list, tuple)) or len(entries) != len(sizes):
            raise ModelError(f"{what} must return a list with one entry for each of its {len(sizes)} parts")
        efforts = []
        for part, entry, size in zip(self.given, entries, sizes, strict=True):
            effort = _flat(entry if isinstance(entry, (list, tuple)) else [entry])
            if effort.numel() == 1 and effort.is_zero():
                effort = ca.SX.zeros(size)
            if effort.numel() != size:
                name = getattr(part, "name", "a coordinate")
                raise ModelError(f"{what} must return {_effort(part)} for '{name}', not {effort.numel()} numbers")
            efforts.append(effort)
        return ca.vertcat(*efforts)

    def force(self, x: Any) -> Any:
        pushed, at = 0.0, 0
        for part, size in zip(x.parts, self.sizes(), strict=True):
            effort = x.returned[at : at + size]
            at += size
            if size == 1:
                pushed += x.push(part.value if isinstance(part, Seen) else part, effort)
                continue
            dim = part.space.dim
            pushed += x.push(part.r, effort[:dim])
            if size > dim:
                pushed += part.turned_by(x, effort[dim:])
        return pushed


class AngleCoordinate(Element):
    """A coordinate that counts the angle of j as seen from i, so that a bar's turns can be driven or geared."""

    rows = ("angle",)

    def __init__(self, name: str, i: Any, j: Any) -> None:
        what = f"angle '{name}'"
        mi, mj = as_marker(i, f"{what}: the first part"), as_marker(j, f"{what}: the second part")
        if mi.carrier is mj.carrier:
            raise ModelError(f"{what} measures '{mi.name}' against itself")
        self.coordinate = Coordinate(name, plain(drawn_value(Angle(mi, mj))), owner=self, angle=True)
        super().__init__(name, i=mi, j=mj, theta=self.coordinate)

    def row_kinds(self) -> Mapping[str, str]:
        return {"angle": "angle"}

    def phi(self, x: Any) -> Any:
        return angle_beyond(x.i, x.j, x.theta)
