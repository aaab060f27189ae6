"""Planar geometry in symbols: rotation, markers as the equations see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from kempe.errors import ModelError


def column(values: Any) -> ca.SX:
    """A CasADi column from a list of numbers or symbols."""
    return ca.vertcat(*[ca.SX(v) for v in values])


def perpendicular(a: ca.SX) -> ca.SX:
    """The vector turned by a quarter turn counter-clockwise."""
    return ca.vertcat(-a[1], a[0])


def cross(a: ca.SX, b: ca.SX) -> ca.SX:
    """The third component of a x b."""
    return a[0] * b[1] - a[1] * b[0]


def length_of(x: Any, y: Any) -> ca.SX:
    """The length of a vector; at length zero, where it has no direction, its derivatives are zero."""
    squared = x * x + y * y
    return ca.if_else(squared > 0, ca.sqrt(squared), 0.0)


def rotate(angle: Any, a: ca.SX) -> ca.SX:
    """E(angle) a, eq. 2.2 of Haug, Wehage and Barman (1981)."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(c * a[0] - s * a[1], s * a[0] + c * a[1])


@dataclass(frozen=True)
class Placed:
    """A marker in the plane: its position, its axis, and its angle where the carrier has one."""

    name: str
    r: ca.SX
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
    def angle(self) -> ca.SX:
        """The angle of the marker's axis, counted over full turns."""
        if self.turned is None:
            raise ModelError(
                f"'{self.name}' has no angle that counts full turns; use a body, or give it one with m.angle(...)"
            )
        return self.turned


def relative_angle(i: Placed, j: Placed) -> ca.SX:
    """The angle of j as seen from i; between -pi and pi where a carrier has no angle of its own."""
    if i.turned is not None and j.turned is not None:
        return j.turned - i.turned
    return ca.atan2(cross(i.u, j.u), ca.dot(i.u, j.u))


def angle_beyond(i: Placed, j: Placed, target: ca.SX) -> ca.SX:
    """By how much the angle of j seen from i exceeds a target, zero on exactly one relative orientation.

    With a body on both sides it is the plain difference, so that full turns count. Without, it is the angle
    between the axis of j and the target direction, which is smooth around zero whatever the target.
    """
    if i.turned is not None and j.turned is not None:
        return j.turned - i.turned - target
    aim = rotate(target, i.u)
    return ca.atan2(cross(aim, j.u), ca.dot(aim, j.u))
