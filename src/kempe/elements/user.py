"""Elements a user writes as a plain Python function, and coordinates a user defines."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import casadi as ca

from kempe.elements.base import Element, Field, KernelSource, Source, failed_on_symbols, signature_of
from kempe.elements.numbers import Number, parameters_of
from kempe.elements.parts import Coordinate, plain
from kempe.elements.planar import angle_beyond
from kempe.elements.quantities import Angle, as_marker, drawn_value
from kempe.errors import ModelError


class _Body(Field):
    """The expression a user's function returned, with the design parameters it uses as its numbers."""

    def __init__(self, element: Element, function: Callable[..., Any], what: str, takes_time: bool) -> None:
        source = KernelSource(element)
        arguments = [f.symbolic(source) for f in element.fields["parts"].fields]  # type: ignore[attr-defined]
        if takes_time:
            arguments.append(source.t)
        try:
            result = function(*arguments)
            rows = result if isinstance(result, (list, tuple)) else [result]
            self.value = ca.vertcat(*[ca.vec(ca.SX(row)) for row in rows])
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(f"{what}: your function {failed_on_symbols(error)}") from error
        own = ca.vertcat(source.q, source.t, source.p)
        self.parameters = parameters_of(self.value, own, f"{what}: your function")
        self._symbols = ca.vertcat(source.q, source.t, source.p)
        self._key = ca.Function(
            "f", [self._symbols, *map(ca.SX, self.parameters)], [self.value], {"allow_free": False}
        ).serialize()

    def data(self) -> Iterable[Number]:
        return list(self.parameters)

    def structure(self) -> Hashable:
        return self._key

    def symbolic(self, source: Source) -> Any:
        values = [ca.SX(v) for v in source.numbers(list(self.parameters))]
        return lambda own: ca.substitute([self.value], [self._symbols, *map(ca.SX, self.parameters)], [own, *values])[0]


class UserConstraint(Element):
    """A constraint given as a Python function of parts (and, if it takes one argument more or any number, of time).

    A body arrives with ``x``, ``y``, ``angle`` and ``point(s)``; a marker or point with its position ``r``; a
    coordinate as a number. Design parameters may be used from the surrounding scope.
    """

    def __init__(self, name: str, function: Callable[..., Any], *parts: Any, rows: Any = None) -> None:
        what = f"constraint '{name}'"
        if not callable(function):
            raise ModelError(f"{what} needs a function, not {function!r}")
        for part in parts:
            if not isinstance(part, Field):
                raise ModelError(f"{what}: {part!r} is not a part, marker or coordinate of a model")
        takes = signature_of(function)
        if takes not in (-1, len(parts), len(parts) + 1):
            raise ModelError(f"{what}: the function takes {takes} arguments, but {len(parts)} parts were given")
        super().__init__(name, parts=list(parts))
        body = _Body(self, function, what, takes != len(parts))
        self.fields["body"] = body
        n = body.value.numel()
        if n == 0:
            raise ModelError(f"{what}: the function returned no equation")
        self.rows = tuple(rows) if rows is not None else ("value",) if n == 1 else tuple(str(k + 1) for k in range(n))
        if len(self.rows) != n or len(set(self.rows)) != n:
            raise ModelError(f"{what}: {n} equations need {n} different row names, not {list(self.rows)}")

    def view(self, source: Source) -> Any:
        x = super().view(source)
        assert isinstance(source, KernelSource)
        count = sum(len(list(f.data())) for key, f in self.fields.items() if key == "parts")
        numbers = [source.p[k] for k in range(count)]  # (a CasADi slice [:0] is not empty)
        x.own = ca.vertcat(source.q, source.t, *numbers)
        return x

    def phi(self, x: Any) -> Any:
        return x.body(x.own)


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

    def phi(self, x: Any) -> Any:
        return angle_beyond(x.i, x.j, x.theta)
