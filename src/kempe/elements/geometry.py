"""What the plane and space have in common: a marker as the equations see it, and what a carrier of markers can do.

Every carrier (the ground, a body, a point, a bar) declares its origin, its axes and its virtual motions through the
geometry it lives in: ``PLANE`` (``elements.planar``) or ``SPACE`` (``elements.spatial``). Forces, reactions, measures,
joints and pictures ask it, and so hold in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from kempe.elements.numbers import Number, vector


def column(values: Any) -> ca.SX:
    """A CasADi column from a list of numbers or symbols."""
    return ca.vertcat(*[ca.SX(v) for v in values])


def plain(value: Any) -> Number:
    """A float where an expression has no parameters left in it."""
    value = ca.SX(value)
    return float(value) if value.is_constant() else value


def length_of(*components: Any) -> ca.SX:
    """The length of a vector; at length zero, where it has no direction, its derivatives are zero."""
    squared = sum(c * c for c in components)
    return ca.if_else(squared > 0, ca.sqrt(squared), 0.0)


@dataclass(frozen=True)
class Placed:
    """A marker, or a part that carries markers, as equations see it: a name, a position and perhaps axes."""

    name: str
    r: ca.SX

    space: ClassVar[Geometry]

    def displaced(self, d: ca.SX, centre: ca.SX) -> Placed:
        """The same after a small displacement d of what carries it: a shift, and a turn about a centre."""
        raise NotImplementedError

    @property
    def directions(self) -> tuple[ca.SX, ...]:
        """Its axes."""
        raise NotImplementedError

    def along(self, components: Any) -> ca.SX:
        """The world vector that has these components along its axes."""
        return ca.SX(sum(ca.SX(c) * axis for c, axis in zip(components, self.directions, strict=True)))

    def angle_to(self, other: Any) -> ca.SX:
        """The angle of another marker as seen from this one."""
        raise NotImplementedError

    def angle_beyond(self, other: Any, target: Any) -> ca.SX:
        """By how much that angle exceeds a target: zero on exactly one relative orientation, and smooth there."""
        raise NotImplementedError

    def turned_by(self, x: Any, torque: Any) -> Any:
        """The generalised force of a torque on what carries the marker."""
        raise NotImplementedError


class Geometry:
    """The plane, or space."""

    #: What it is called, and the names of its directions.
    name: str
    letters: str
    #: Components of a rotation; of a virtual displacement: those of a shift, then those of a turn.
    turns: int

    def __reduce__(self) -> str:
        return self.name.upper()  # there is one of each

    @property
    def dim(self) -> int:
        """How many components a position has."""
        return len(self.letters)

    @property
    def moves(self) -> int:
        """How many components a virtual displacement has."""
        return self.dim + self.turns

    @property
    def origin(self) -> tuple[Number, ...]:
        """A place: no offset."""
        return (0.0,) * self.dim

    @property
    def places(self) -> str:
        """How a place is written: (x, y) or (x, y, z)."""
        return f"({', '.join(self.letters)})"

    @property
    def loads(self) -> tuple[str, ...]:
        """The components of a force and a moment, in the order of a virtual displacement."""
        turning = ("moment",) if self.turns == 1 else tuple(f"moment.{c}" for c in self.letters)
        return (*(f"force.{c}" for c in self.letters), *turning)

    def vector(self, value: Any, what: str) -> tuple[Number, ...]:
        """As many numbers as a position has."""
        return vector(value, what, self.dim)

    def ground(self, name: str) -> Placed:
        """The fixed world."""
        raise NotImplementedError

    def point(self, name: str, r: ca.SX) -> Placed:
        """Something without axes."""
        raise NotImplementedError

    def bar(self, name: str, r: ca.SX, along: ca.SX) -> Placed:
        """Something with one direction, and no angle that counts turns."""
        raise NotImplementedError

    def turn(self, angle: Any, rotation: Any, what: str) -> tuple[Number, ...]:
        """The numbers of a marker's own axes, from how a user gives them; none where they are the carrier's."""
        raise NotImplementedError

    def marked(self, frame: Any, point: Sequence[Any], turn: Sequence[Any]) -> Placed:
        """A marker in a frame: at a point, in the frame's axes, with axes of its own."""
        raise NotImplementedError

    def located(self, frame: Any, world: ca.SX) -> tuple[Number, ...]:
        """A world point in the axes of a frame."""
        raise NotImplementedError

    def aligned(self, frame: Any, axis: Any, what: str) -> tuple[Number, ...]:
        """The numbers of a marker whose axis is along a world direction."""
        raise NotImplementedError

    def swept(self, turn: Any, arm: Any) -> Any:
        """How the end of an arm moves with a small turn."""
        raise NotImplementedError

    def moment(self, arm: Any, force: Any) -> Any:
        """The moment of a force with an arm, in symbols."""
        raise NotImplementedError
