"""Planar geometry in symbols: rotation, markers as the equations see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.geometry import Geometry, Placed, column, plain
from kempe.elements.numbers import Number, evaluate, number, vector
from kempe.errors import ModelError


def perpendicular(a: ca.SX) -> ca.SX:
    """The vector turned by a quarter turn counter-clockwise."""
    return ca.vertcat(-a[1], a[0])


def cross(a: ca.SX, b: ca.SX) -> ca.SX:
    """The third component of a x b."""
    return a[0] * b[1] - a[1] * b[0]


def rotate(angle: Any, a: ca.SX) -> ca.SX:
    """E(angle) a, eq. 2.2 of Haug, Wehage and Barman (1981)."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(c * a[0] - s * a[1], s * a[0] + c * a[1])


@dataclass(frozen=True)
class PlacedInPlane(Placed):
    """A marker in the plane: its position, its axis, and its angle where the carrier has one."""

    axis: ca.SX | None = None
    turned: ca.SX | None = None

    @property
    def u(self) -> ca.SX:
        """The unit vector along the marker's axis."""
        if self.axis is None:
            raise ModelError(f"'{self.name}' is a point and has no direction; use a body or a bar here")
        return self.axis

    @property
    def n(self) -> ca.SX:
        """The unit vector across the marker's axis."""
        return perpendicular(self.u)

    @property
    def directions(self) -> tuple[ca.SX, ...]:
        return (self.u, self.n)

    @property
    def angle(self) -> ca.SX:
        """The angle of the marker's axis, counted over full turns."""
        if self.turned is None:
            raise ModelError(
                f"'{self.name}' has no angle that counts full turns; use a body, or give it one with m.angle(...)"
            )
        return self.turned

    def displaced(self, d: ca.SX, centre: ca.SX) -> Placed:
        if self.axis is None:
            return PlacedInPlane(self.name, self.r + d[:2])
        r = centre + d[:2] + rotate(d[2], self.r - centre)
        turned = None if self.turned is None else self.turned + d[2]
        return PlacedInPlane(self.name, r, rotate(d[2], self.axis), turned)

    def angle_to(self, other: Any) -> ca.SX:
        """Between -pi and pi where a carrier has no angle of its own."""
        if self.turned is not None and other.turned is not None:
            return other.turned - self.turned
        return ca.atan2(cross(self.u, other.u), ca.dot(self.u, other.u))

    def angle_beyond(self, other: Any, target: Any) -> ca.SX:
        """With a body on both sides the plain difference, so that full turns count.

        Without, it is the angle between the axis of the other and the target direction.
        """
        if self.turned is not None and other.turned is not None:
            return other.turned - self.turned - target
        aim = rotate(target, self.u)
        return ca.atan2(cross(aim, other.u), ca.dot(aim, other.u))

    def turned_by(self, x: Any, torque: Any) -> Any:
        if self.turned is not None:
            return x.push(self.turned, torque)
        return x.push(ca.atan2(self.u[1], self.u[0]), torque)


class Plane(Geometry):
    """Two directions, and turns about the third."""

    name, letters, turns = "plane", "xy", 1

    def ground(self, name: str) -> PlacedInPlane:
        return PlacedInPlane(name, ca.SX(2, 1), column([1.0, 0.0]), ca.SX(0))

    def point(self, name: str, r: ca.SX) -> PlacedInPlane:
        return PlacedInPlane(name, r)

    def bar(self, name: str, r: ca.SX, along: ca.SX) -> PlacedInPlane:
        return PlacedInPlane(name, r, along)

    def turn(self, angle: Any, rotation: Any, what: str) -> tuple[Number, ...]:
        if rotation is not None:
            raise ModelError(f"{what}: in the plane a direction is given by angle=, not by rotation=")
        value = number(0.0 if angle is None else angle, what)
        return () if not isinstance(value, ca.SX) and value == 0.0 else (value,)

    def marked(self, frame: PlacedInPlane, point: Sequence[Any], turn: Sequence[Any]) -> PlacedInPlane:
        if frame.axis is None:
            return frame
        r = frame.r + point[0] * frame.u + point[1] * frame.n
        if not turn:
            return PlacedInPlane(frame.name, r, frame.axis, frame.turned)
        axis = ca.cos(turn[0]) * frame.u + ca.sin(turn[0]) * frame.n
        return PlacedInPlane(frame.name, r, axis, None if frame.turned is None else frame.turned + turn[0])

    def located(self, frame: PlacedInPlane, world: ca.SX) -> tuple[Number, ...]:
        if frame.axis is None:
            return self.origin
        offset = world - frame.r
        return (plain(ca.dot(frame.axis, offset)), plain(cross(frame.axis, offset)))

    def aligned(self, frame: PlacedInPlane, axis: Any, what: str) -> tuple[Number, ...]:
        along = column(vector(axis, what))
        if frame.axis is None:
            return ()
        if not np.any(evaluate([along[0], along[1]])):
            raise ModelError(f"{what} must not be the zero vector")
        return self.turn(plain(ca.atan2(cross(frame.axis, along), ca.dot(frame.axis, along))), None, what)

    def swept(self, turn: Any, arm: Any) -> Any:
        return turn * perpendicular(arm)

    def moment(self, arm: Any, force: Any) -> Any:
        return cross(arm, force)


#: The geometry of planar mechanisms.
PLANE = PlacedInPlane.space = Plane()


def relative_angle(i: Placed, j: Placed) -> ca.SX:
    """The angle of j as seen from i; between -pi and pi where a carrier has no angle of its own."""
    return i.angle_to(j)


def angle_beyond(i: Placed, j: Placed, target: Any) -> ca.SX:
    """By how much the angle of j seen from i exceeds a target, zero on exactly one relative orientation."""
    return i.angle_beyond(j, target)
