"""Parts that own coordinates, the ground, and markers: points with a direction that sit on them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, ClassVar

import casadi as ca

from kempe.calling import explained
from kempe.elements.base import Element, Field, Group, Part, Positive, Scalar
from kempe.elements.geometry import Geometry, column
from kempe.elements.kinds import COORDINATE
from kempe.elements.looks import Look
from kempe.elements.numbers import Number, number, shown, vector
from kempe.elements.planar import PLANE, PlacedInPlane, rotate
from kempe.elements.sealing import Absent
from kempe.elements.sources import DrawnSource, Source
from kempe.errors import ModelError


class Carrier(Field):
    """Something a marker can sit on: ground, body, point, bar."""

    name: str
    #: The plane, or space.
    space: Geometry = PLANE
    #: Whether it takes a moment about any axis: a body does.
    solid: ClassVar[bool] = False
    #: Whether joints can sit on it: on all but directions.
    holds: ClassVar[bool] = True

    def frame(self, source: Source) -> Any:
        """Origin and axes of the carrier."""
        raise NotImplementedError

    def symbolic(self, source: Source) -> Any:
        return source.placed(self, self.frame(source))

    @explained
    def on(self, point: Any = None, angle: Any = None, *, rotation: Any = None) -> Marker:
        """A marker at a point given in the carrier's own axes (its origin if none is given).

        Its axes are the carrier's, turned by ``angle`` in the plane, by ``rotation`` in space.
        """
        words = f"a point of '{self.name}'"
        place = self.space.origin if point is None else self.space.vector(point, words)
        return Marker(self, place, self.space.turn(angle, rotation, f"an angle on '{self.name}'"))

    def at(self, point: Any = None, angle: Any = None) -> Marker:
        """The name of ``on`` in version 0.1."""
        return self.on(point, angle)

    @explained
    def at_world(self, point: Any, axis: Any = None) -> Marker:
        """A marker at a world point of the drawn pose, its axis along a world direction of the drawn pose.

        The axis is the first of the marker's in the plane, and its third in space.
        """
        frame = self.frame(DrawnSource())
        world = column(self.space.vector(point, f"a point of '{self.name}'"))
        turn = () if axis is None else self.space.aligned(frame, axis, f"an axis on '{self.name}'")
        return Marker(self, self.space.located(frame, world), turn)

    def virtual(self, coordinates: list[Any]) -> ca.SX:
        """How its coordinates change with a shift of its origin and a turn about it: a column for each of them."""
        raise NotImplementedError


class Ground(Carrier):
    """The fixed world; its name is 'ground'."""

    name = "ground"

    def __init__(self, space: Geometry = PLANE) -> None:
        self.space = space
        #: Meshes to show in pictures in space.
        self.looks: tuple[Look, ...] = ()

    def _open(self) -> frozenset[str]:
        return frozenset({"looks"})

    def structure(self) -> Hashable:
        return (Ground, self.space.name)

    def frame(self, source: Source) -> Any:
        return self.space.ground(self.name)

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

    solid = True

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

    def frame(self, source: Source) -> PlacedInPlane:
        x, y, angle = source.coordinates(self)
        return PlacedInPlane(self.name, column([x, y]), column([ca.cos(angle), ca.sin(angle)]), ca.SX(angle))

    def virtual(self, coordinates: list[Any]) -> ca.SX:
        return ca.SX.eye(3)

    def symbolic(self, source: Source) -> Any:
        return PlacedBody(source.placed(self, self.frame(source)))


class PlacedBody(PlacedInPlane):
    """A body as a user's own equation sees it: ``x``, ``y``, ``angle`` and ``point(s)``."""

    def __init__(self, frame: PlacedInPlane) -> None:
        super().__init__(frame.name, frame.r, frame.axis, frame.turned)

    x = property(lambda self: self.r[0])
    y = property(lambda self: self.r[1])

    def point(self, local: Any) -> ca.SX:
        """The world position of a point given in the body's axes."""
        return self.r + rotate(self.angle, column(local))


class Point(Part, Carrier):
    """A point in natural coordinates: x and y (and z in space) are unknowns unless fixed."""

    def __init__(self, name: str, at: Any = None, fixed: str = "", space: Geometry = PLANE) -> None:
        self.space, letters = space, space.letters
        location = space.origin if at is None else space.vector(at, f"point '{name}': at")
        if not isinstance(fixed, str) or not set(fixed) <= set(letters):
            some = ", ".join(f"'{c}'" for c in letters)
            raise ModelError(f"point '{name}': fixed must be '', {some} or '{letters}', not {fixed!r}")
        self.fixed = "".join(c for c in letters if c in fixed)
        self.location = location
        self._free = "".join(c for c in letters if c not in fixed)
        self.channels = tuple((c, f"v{c}", f"a{c}") for c in self._free)  # type: ignore[misc]
        super().__init__(name, [value for value, c in zip(location, letters, strict=True) if c not in fixed])

    def _quantity(self, which: str) -> Component:
        if which in self._free:
            return Component(self, self._free.index(which))
        if which not in self.space.letters:
            raise Absent(self, which)
        raise ModelError(f"point '{self.name}': {which} is fixed and cannot be driven or measured as a coordinate")

    x = property(lambda self: self._quantity("x"), doc="The x coordinate as a quantity.")
    y = property(lambda self: self._quantity("y"), doc="The y coordinate as a quantity.")
    z = property(lambda self: self._quantity("z"), doc="The z coordinate as a quantity, in space.")

    def data(self) -> Iterable[Number]:
        return [value for value, c in zip(self.location, self.space.letters, strict=True) if c in self.fixed]

    def structure(self) -> Hashable:
        return (Point, self.space.name, self.fixed)

    def frame(self, source: Source) -> Any:
        free = iter(source.coordinates(self) if self.channels else [])
        known = iter(source.numbers(list(self.data())))
        where = [next(known) if c in self.fixed else next(free) for c in self.space.letters]
        return self.space.point(self.name, column(where))

    def symbolic(self, source: Source) -> Any:
        return source.placed(self, self.frame(source))

    def virtual(self, coordinates: list[Any]) -> ca.SX:
        moved = [self.space.letters.index(c) for c in self._free]
        return ca.SX.eye(self.space.moves)[moved, :]

    def on(self, point: Any = None, angle: Any = None, *, rotation: Any = None) -> Marker:
        place = self.space.origin if point is None else self.space.vector(point, f"a point of '{self.name}'")
        if any(isinstance(c, ca.SX) or c != 0 for c in place):
            raise ModelError(f"'{self.name}' is a point: nothing can sit beside it")
        return Marker(self, place)


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
    """A point on a carrier, with axes: what joints connect.

    ``turn`` holds the numbers of its own axes in those of the carrier, as the geometry counts them; none if they are
    the same.
    """

    def __init__(self, carrier: Carrier, point: tuple[Number, ...], turn: tuple[Number, ...] = ()) -> None:
        self.carrier, self.point, self.turn = carrier, point, turn

    @property
    def name(self) -> str:
        """The carrier's name."""
        return self.carrier.name

    @property
    def angle(self) -> Number:
        """In the plane: the angle of its axis in the carrier's axes."""
        return self.turn[0] if self.turn else 0.0

    def parts(self) -> Iterable[Part]:
        return self.carrier.parts()

    def data(self) -> Iterable[Number]:
        if isinstance(self.carrier, Point):
            return list(self.carrier.data())
        return [*self.carrier.data(), *self.point, *self.turn]

    def structure(self) -> Hashable:
        return (Marker, self.carrier.structure(), bool(self.turn))

    def symbolic(self, source: Source) -> Any:
        return source.placed(self.carrier, self._placed(source))

    def _placed(self, source: Source) -> Any:
        frame = self.carrier.frame(source)
        if isinstance(self.carrier, Point):
            return frame
        point = source.numbers(self.point)
        return self.carrier.space.marked(frame, point, source.numbers(self.turn))


def as_carrier(value: Any, what: str) -> Carrier:
    """A part a joint can be attached to."""
    if isinstance(value, Marker):
        return value.carrier
    if not isinstance(value, Carrier):
        raise ModelError(
            f"{what} must be a body, a point, a bar or the ground of this model, not {shown(value)}{_meant(value)}"
        )
    if not value.holds:
        raise ModelError(f"{what}: '{value.name}' is a direction, and nothing can sit on it")
    return value


def _meant(value: Any) -> str:
    """The end of a sentence that says how to write a part that was given as something else."""
    if isinstance(value, str):
        return f"; a part is asked of its model by name: m[{value!r}]"
    if isinstance(value, (tuple, list)) and len(value) in (2, 3):
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
