"""Parts that own coordinates, the ground, and markers: points with a direction that sit on them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from kempe.calling import explained
from kempe.elements.base import Element, Field, Group, Part, Positive, Scalar
from kempe.elements.kinds import COORDINATE
from kempe.elements.numbers import Number, evaluate, number, shown, vector
from kempe.elements.planar import Placed, column, rotate
from kempe.elements.sources import DrawnSource, Source
from kempe.errors import ModelError


class Carrier(Field):
    """Something a marker can sit on: ground, body, point, bar."""

    name: str

    def frame(self, source: Source) -> Placed:
        """Origin and axis of the carrier."""
        raise NotImplementedError

    @explained
    def on(self, point: Any, angle: Any = 0.0) -> Marker:
        """A marker at a point given in the carrier's own axes, its axis turned by ``angle``."""
        return Marker(self, vector(point, f"a point of '{self.name}'"), number(angle, f"an angle on '{self.name}'"))

    def at(self, point: Any = (0.0, 0.0), angle: Any = 0.0) -> Marker:
        """The name of ``on`` in version 0.1."""
        return self.on(point, angle)

    @explained
    def at_world(self, point: Any, axis: Any = None) -> Marker:
        """A marker at a world point of the drawn pose, its axis along a world direction of the drawn pose."""
        frame = self.frame(DrawnSource())
        world = vector(point, f"a point of '{self.name}'")
        if frame.axis is None:
            return Marker(self, (0.0, 0.0))
        direction = frame.axis
        offset = column(world) - frame.r
        local = (ca.dot(direction, offset), direction[0] * offset[1] - direction[1] * offset[0])
        turn: Any = 0.0
        if axis is not None:
            along = column(vector(axis, f"an axis on '{self.name}'"))
            if not np.any(evaluate([along[0], along[1]])):
                raise ModelError(f"an axis on '{self.name}' must not be the zero vector")
            turn = ca.atan2(direction[0] * along[1] - direction[1] * along[0], ca.dot(direction, along))
        return Marker(self, (plain(local[0]), plain(local[1])), plain(turn))


def plain(value: Any) -> Number:
    """A float where an expression has no parameters left in it."""
    value = ca.SX(value)
    return float(value) if value.is_constant() else value


class Ground(Carrier):
    """The fixed world; its name is 'ground'."""

    name = "ground"

    def frame(self, source: Source) -> Placed:
        return Placed("ground", ca.SX(2, 1), column([1.0, 0.0]), ca.SX(0))

    def symbolic(self, source: Source) -> Any:
        return source.placed(self, self.frame(source))

    def told(self) -> str:
        return "the ground"

    def __repr__(self) -> str:
        return "Ground()"


class Component(Field):
    """One coordinate of a part as a measurable quantity (``body.x``, ``body.angle``)."""

    def told(self) -> str:
        return self.name

    def __init__(self, part: Part, index: int) -> None:
        self.part, self.index = part, index
        self.name = f"{part.name}.{part.channels[index][0]}"

    def parts(self) -> Iterable[Part]:
        return (self.part,)

    @property
    def kind(self) -> str:
        """What it measures."""
        return self.part.kinds()[self.index]

    def structure(self) -> Hashable:
        return (Component, type(self.part), self.index)

    def symbolic(self, source: Source) -> Any:
        return source.component(self.part, self.index)


class Body(Part, Carrier):
    """A rigid body with the coordinates (x, y, angle) of its own frame, placed at its centre of mass."""

    channels: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("x", "vx", "ax"),
        ("y", "vy", "ay"),
        ("angle", "omega", "alpha"),
    )

    def __init__(self, name: str, at: Any = (0.0, 0.0), angle: Any = 0.0) -> None:
        what = f"body '{name}'"
        super().__init__(name, (*vector(at, f"{what}: at"), number(angle, f"{what}: angle")))

    x = property(lambda self: Component(self, 0), doc="The x coordinate as a quantity.")
    y = property(lambda self: Component(self, 1), doc="The y coordinate as a quantity.")
    angle = property(lambda self: Component(self, 2), doc="The angle as a quantity.")

    def frame(self, source: Source) -> Placed:
        x, y, angle = source.coordinates(self)
        return Placed(self.name, column([x, y]), column([ca.cos(angle), ca.sin(angle)]), ca.SX(angle))

    def symbolic(self, source: Source) -> Any:
        return PlacedBody(source.placed(self, self.frame(source)))


class PlacedBody(Placed):
    """A body as a user's own equation sees it: ``x``, ``y``, ``angle`` and ``point(s)``."""

    def __init__(self, frame: Placed) -> None:
        super().__init__(frame.name, frame.r, frame.axis, frame.turned)

    x = property(lambda self: self.r[0])
    y = property(lambda self: self.r[1])

    def point(self, local: Any) -> ca.SX:
        """The world position of a point given in the body's axes."""
        return self.r + rotate(self.angle, column(local))


class Point(Part, Carrier):
    """A point in natural coordinates: x and y are unknowns unless fixed."""

    def __init__(self, name: str, at: Any = (0.0, 0.0), fixed: str = "") -> None:
        location = vector(at, f"point '{name}': at")
        if not isinstance(fixed, str) or not set(fixed) <= {"x", "y"}:
            raise ModelError(f"point '{name}': fixed must be '', 'x', 'y' or 'xy', not {fixed!r}")
        self.fixed = "".join(c for c in "xy" if c in fixed)
        self.location = location
        free = [k for k, c in enumerate("xy") if c not in fixed]
        self.channels = tuple((("x", "vx", "ax"), ("y", "vy", "ay"))[k] for k in free)  # type: ignore[misc]
        super().__init__(name, [location[k] for k in free])

    def _quantity(self, which: str) -> Component:
        for k, channel in enumerate(self.channels):
            if channel[0] == which:
                return Component(self, k)
        raise ModelError(f"point '{self.name}': {which} is fixed and cannot be driven or measured as a coordinate")

    x = property(lambda self: self._quantity("x"), doc="The x coordinate as a quantity.")
    y = property(lambda self: self._quantity("y"), doc="The y coordinate as a quantity.")

    def data(self) -> Iterable[Number]:
        return [value for value, c in zip(self.location, "xy", strict=True) if c in self.fixed]

    def structure(self) -> Hashable:
        return (Point, self.fixed)

    def frame(self, source: Source) -> Placed:
        free = iter(source.coordinates(self) if self.channels else [])
        known = iter(source.numbers(list(self.data())))
        return Placed(self.name, column([next(known) if c in self.fixed else next(free) for c in "xy"]))

    def symbolic(self, source: Source) -> Any:
        return source.placed(self, self.frame(source))

    def on(self, point: Any = (0.0, 0.0), angle: Any = 0.0) -> Marker:
        if any(isinstance(c, ca.SX) or c != 0 for c in vector(point, f"a point of '{self.name}'")):
            raise ModelError(f"'{self.name}' is a point: nothing can sit beside it")
        return Marker(self, (0.0, 0.0))


class Coordinate(Part):
    """A scalar coordinate: an angle of a bar, a curve parameter, or a user's own generalised coordinate."""

    channels: ClassVar[tuple[tuple[str, str, str], ...]] = (("value", "v", "a"),)

    def __init__(
        self,
        name: str,
        start: Any = 0.0,
        owner: Element | None = None,
        angle: bool = False,
        scale: float | None = None,
    ) -> None:
        super().__init__(name, (number(start, f"coordinate '{name}': start"),))
        self.owner = owner
        self._angle = angle
        self._scale = scale

    def names(self) -> list[tuple[str, str, str]]:
        return [(self.name, f"{self.name}.v", f"{self.name}.a")]

    def is_angle(self) -> list[bool]:
        return [self._angle]

    def kinds(self) -> list[str]:
        return [self.kind]

    @property
    def kind(self) -> str:
        """What it measures, as far as that is known."""
        return "angle" if self._angle else COORDINATE

    def natural_scale(self) -> list[float]:
        return [self._scale] if self._scale is not None else super().natural_scale()

    def symbolic(self, source: Source) -> Any:
        return source.coordinates(self)[0]


class Marker(Field):
    """A point on a carrier, with a direction: what joints connect."""

    def __init__(self, carrier: Carrier, point: tuple[Number, ...], angle: Number = 0.0) -> None:
        self.carrier, self.point, self.angle = carrier, point, angle

    @property
    def name(self) -> str:
        """The carrier's name."""
        return self.carrier.name

    def _turned(self) -> bool:
        return isinstance(self.angle, ca.SX) or self.angle != 0.0

    def parts(self) -> Iterable[Part]:
        return self.carrier.parts()

    def data(self) -> Iterable[Number]:
        if isinstance(self.carrier, Point):
            return list(self.carrier.data())
        return [*self.carrier.data(), *self.point, *([self.angle] if self._turned() else [])]

    def structure(self) -> Hashable:
        return (Marker, self.carrier.structure(), self._turned())

    def symbolic(self, source: Source) -> Placed:
        return source.placed(self.carrier, self._placed(source))

    def _placed(self, source: Source) -> Placed:
        frame = self.carrier.frame(source)
        if frame.axis is None:
            return frame
        s = column(source.numbers(self.point))
        turn = source.numbers([self.angle])[0] if self._turned() else None
        r = frame.r + s[0] * frame.u + s[1] * frame.n
        if turn is None:
            return Placed(self.name, r, frame.axis, frame.turned)
        axis = ca.cos(turn) * frame.u + ca.sin(turn) * frame.n
        return Placed(self.name, r, axis, None if frame.turned is None else frame.turned + turn)


def as_carrier(value: Any, what: str) -> Carrier:
    """A part a joint can be attached to."""
    if isinstance(value, Marker):
        return value.carrier
    if not isinstance(value, Carrier):
        raise ModelError(
            f"{what} must be a body, a point, a bar or the ground of this model, not {shown(value)}{_meant(value)}"
        )
    return value


def _meant(value: Any) -> str:
    """The end of a sentence that says how to write a part that was given as something else."""
    if isinstance(value, str):
        return f"; a part is asked of its model by name: m[{value!r}]"
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return f"; a place on the ground is m.ground.on({shown(value)})"
    return ""


class Gravity(Group):
    """The acceleration of gravity: one for all parts of a mechanism, and the one thing of a model that may change."""

    def __init__(self, values: tuple[Number, ...]) -> None:
        super().__init__(Scalar(value) for value in values)

    def change(self, values: tuple[Number, ...]) -> None:
        """Take other values (for the model, which has its equations laid out anew)."""
        vars(self)["fields"] = tuple(Scalar(value) for value in values)


class Inertia(Element):
    """Kinetic energy of a body about its centre of mass, and its weight: eq. 2.3 of Haug, Wehage and Barman (1981)."""

    def __init__(self, name: str, body: Body, mass: Any, inertia: Any, gravity: Any = (0.0, 0.0)) -> None:
        super().__init__(
            name,
            body=body,
            mass=Positive(mass, f"body '{body.name}': mass"),
            inertia=Positive(inertia, f"body '{body.name}': inertia"),
            gravity=gravity,
        )

    def kinetic(self, x: Any) -> Any:
        return x.mass * ca.sumsqr(x.d(x.body.r)) / 2 + x.inertia * x.d(x.body.angle) ** 2 / 2

    def weight(self, x: Any) -> Any:
        return -x.mass * ca.dot(column(x.gravity), x.body.r)


class PointMass(Element):
    """Kinetic energy of a particle, and its weight."""

    def __init__(self, name: str, point: Point, mass: Any, gravity: Any = (0.0, 0.0)) -> None:
        what = f"point '{point.name}': mass"
        super().__init__(name, point=point, mass=Positive(mass, what), gravity=gravity)

    def kinetic(self, x: Any) -> Any:
        return x.mass * ca.sumsqr(x.d(x.point.r)) / 2

    def weight(self, x: Any) -> Any:
        return -x.mass * ca.dot(column(x.gravity), x.point.r)
