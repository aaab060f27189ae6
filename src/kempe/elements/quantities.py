"""Scalars that can be measured, driven or coupled: coordinates, angles, distances, displacements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from kempe.calling import explained
from kempe.elements.base import Group
from kempe.elements.geometry import plain
from kempe.elements.numbers import Number, shown
from kempe.elements.parts import Component, Coordinate, Marker, Point, as_carrier
from kempe.elements.planar import angle_beyond, relative_angle
from kempe.elements.sources import DrawnSource, Source
from kempe.errors import ModelError


@dataclass(frozen=True)
class Seen:
    """A quantity as the equations see it."""

    quantity: Quantity
    fields: list[Any]

    @property
    def value(self) -> Any:
        """What the quantity is."""
        return self.quantity.value(self.fields)

    def beyond(self, target: Any) -> Any:
        """Zero exactly where the quantity has the target value."""
        return self.quantity.beyond(self.fields, target)

    def above(self, target: Any) -> Any:
        """By how much the quantity exceeds a target, in its own unit."""
        return self.quantity.above(self.fields, target)


class Quantity(Group):
    """A scalar made from parts and markers."""

    name = "quantity"
    #: What it is (see ``kinds``).
    kind = "length"

    def symbolic(self, source: Source) -> Any:
        return Seen(self, super().symbolic(source))

    def value(self, x: list[Any]) -> Any:
        """The quantity from the symbolic fields."""
        raise NotImplementedError

    def beyond(self, x: list[Any], target: Any) -> Any:
        """Zero exactly where the quantity has the target value."""
        return self.value(x) - target

    def above(self, x: list[Any], target: Any) -> Any:
        """By how much the quantity exceeds a target, in its own unit."""
        return self.value(x) - target

    def structure(self) -> Any:
        return (type(self), super().structure())


class Measure(Quantity):
    """A coordinate of a part."""

    def __init__(self, coordinate: Component | Coordinate) -> None:
        super().__init__([coordinate])
        self.name = coordinate.name
        self.kind = coordinate.kind

    def value(self, x: list[Any]) -> Any:
        return x[0]


class Angle(Quantity):
    """The angle of marker j's axis as seen from marker i's, counted over full turns where both are on bodies."""

    kind = "angle"

    def __init__(self, i: Marker, j: Marker) -> None:
        super().__init__([i, j])
        self.name = f"angle of {j.name} from {i.name}"

    def value(self, x: list[Any]) -> Any:
        return relative_angle(x[0], x[1])

    def beyond(self, x: list[Any], target: Any) -> Any:
        return angle_beyond(x[0], x[1], target)

    above = beyond


class Distance(Quantity):
    """The distance between two markers (it must not vanish)."""

    def __init__(self, i: Marker, j: Marker) -> None:
        super().__init__([i, j])
        if i.carrier is j.carrier:
            raise ModelError(f"a distance needs points of two parts, not two of '{i.name}'")
        self.name = f"distance from {i.name} to {j.name}"

    def value(self, x: list[Any]) -> Any:
        return ca.norm_2(x[1].r - x[0].r)

    def beyond(self, x: list[Any], target: Any) -> Any:
        d = x[1].r - x[0].r
        return (ca.dot(d, d) - target**2) / (2 * target)


class Displacement(Quantity):
    """How far marker j has moved along the axis of marker i."""

    def __init__(self, i: Marker, j: Marker) -> None:
        super().__init__([i, j])
        self.name = f"displacement of {j.name} along {i.name}"

    def value(self, x: list[Any]) -> Any:
        return ca.dot(x[0].u, x[1].r - x[0].r)


class AxialDisplacement(Displacement):
    """How far marker j has moved along the third axis of marker i, in space."""

    def value(self, x: list[Any]) -> Any:
        return ca.dot(x[0].w, x[1].r - x[0].r)


def as_marker(value: Any, what: str) -> Marker:
    """A marker as it is; a body, point or bar by its origin."""
    return value if isinstance(value, Marker) else as_carrier(value, what).on()


def as_quantity(value: Any, what: str) -> Quantity:
    """A quantity as it is; a coordinate by its value."""
    if isinstance(value, Quantity):
        return value
    if isinstance(value, (Component, Coordinate)):
        return Measure(value)
    choices = choices_of(value)
    if choices:
        raise ModelError(f"{what} must be one number, not all of '{value.name}'; choose {either(choices)}")
    hint = ""
    if isinstance(value, str):
        owner, _, rest = value.partition(".")
        hint = f"; a part is asked of its model by name: m[{owner!r}]" + (f".{rest}" if rest else "")
    raise ModelError(
        f"{what} must be a quantity (body.x, body.angle, joint.angle, kp.distance(a, b), a coordinate), "
        f"not {shown(value)}{hint}"
    )


def choices_of(value: Any) -> list[str]:
    """The quantities of a part or element, as a user would write them after its name."""
    if not isinstance(getattr(value, "name", None), str):
        return []
    if isinstance(value, Point):
        return [f"{value.name}.{channel[0]}" for channel in value.channels]
    kinds = (Component, Quantity)
    found = [
        key
        for key in ("x", "y", "z", "angle", "displacement", "distance")
        if isinstance(getattr(value, key, None), kinds)
    ]
    return [f"{value.name}.{key}" for key in found]


def either(choices: Sequence[str]) -> str:
    """A choice in words: a, b or c."""
    return " or ".join([", ".join(choices[:-1]), choices[-1]] if len(choices) > 1 else choices)


def drawn_value(quantity: Quantity) -> Number:
    """The quantity's value in the drawn pose."""
    return plain(quantity.symbolic(DrawnSource()).value)


@explained
def distance(i: Any, j: Any) -> Distance:
    """The distance between two points of parts: ``kp.distance(ram.on((0, 0)), frame)``."""
    return Distance(as_marker(i, "the first end of a distance"), as_marker(j, "the second end of a distance"))


@explained
def displacement(i: Any, j: Any) -> Displacement:
    """How far the second part, or marker, is along the axis of the first, which is its third axis in space.

    ``kp.displacement(m.ground.on((0, 0, 0)), ball)`` is the height of a ball over the ground.
    """
    along = as_marker(i, "the first part of a displacement"), as_marker(j, "the second part of a displacement")
    return (AxialDisplacement if along[0].carrier.space.dim == 3 else Displacement)(*along)


@explained
def angle(i: Any, j: Any) -> Angle:
    """The angle of the second part as seen from the first: ``kp.angle(crank, rod)``.

    In space it is that of the second marker's first axis about the third of the first one, between -pi and pi.
    """
    return Angle(as_marker(i, "the first part of an angle"), as_marker(j, "the second part of an angle"))
