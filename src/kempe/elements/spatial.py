"""Geometry of space in symbols: markers as the equations see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.geometry import Geometry, Placed, plain
from kempe.elements.numbers import Number, evaluate
from kempe.elements.rotations import Rotation, as_rotation, frame_along, unit
from kempe.errors import ModelError

#: How far from its line, in lengths of its drawing, a point of a bar may be drawn.
BESIDE = 1e-9


@dataclass(frozen=True)
class PlacedInSpace(Placed):
    """A marker in space: its position and its axes. A point has none, a bar one: along itself."""

    axes: tuple[ca.SX, ...] = ()

    @property
    def u(self) -> ca.SX:
        """The unit vector along the marker's first axis."""
        if not self.axes:
            raise ModelError(f"'{self.name}' is a point and has no direction; use a body here")
        return self.axes[0]

    @property
    def n(self) -> ca.SX:
        """The unit vector along the marker's second axis."""
        return self._full()[1]

    @property
    def w(self) -> ca.SX:
        """The unit vector along the marker's third axis, which is that of joints."""
        return self._full()[2]

    def _full(self) -> tuple[ca.SX, ...]:
        if len(self.axes) != 3:
            kind = "a bar of two points, which has no axes across it" if self.axes else "a point and has no direction"
            raise ModelError(f"'{self.name}' is {kind}; use a body here")
        return self.axes

    @property
    def directions(self) -> tuple[ca.SX, ...]:
        return self._full()

    @property
    def matrix(self) -> ca.SX:
        """The three axes as columns."""
        return ca.horzcat(*self._full())

    def local(self, vector: Any) -> ca.SX:
        """The components of a world vector along the marker's axes."""
        return ca.vertcat(*[ca.dot(axis, vector) for axis in self._full()])

    def omega(self, rate: Any) -> ca.SX:
        """The angular velocity in world axes: e_k' = omega x e_k gives omega = sum of e_k x e_k' / 2."""
        return ca.SX(sum(ca.cross(e, rate(e)) for e in self._full()) / 2)

    def displaced(self, d: ca.SX, centre: ca.SX) -> Placed:
        shift, turn = d[:3], d[3:]
        if not self.axes:
            return PlacedInSpace(self.name, self.r + shift)
        r = self.r + shift + ca.cross(turn, self.r - centre)
        return PlacedInSpace(self.name, r, tuple(axis + ca.cross(turn, axis) for axis in self.axes))

    def angle_to(self, other: Any) -> ca.SX:
        """The angle of the other's first axis about the third of this one, from its first: between -pi and pi."""
        return ca.atan2(ca.dot(self.n, other.u), ca.dot(self.u, other.u))

    def angle_beyond(self, other: Any, target: Any) -> ca.SX:
        c, s = ca.cos(target), ca.sin(target)
        aim, side = c * self.u + s * self.n, c * self.n - s * self.u
        return ca.atan2(ca.dot(side, other.u), ca.dot(aim, other.u))

    def turned_by(self, x: Any, torque: Any) -> Any:
        """Half of the torque's product with each axis: the sum of e_k x (T x e_k) / 2 is T."""
        return sum(x.push(e, ca.cross(torque, e) / 2) for e in self._full())


class Space(Geometry):
    """Three directions, and turns about each."""

    name, letters, turns = "space", "xyz", 3

    def ground(self, name: str) -> PlacedInSpace:
        axes = ca.SX.eye(3)
        return PlacedInSpace(name, ca.SX(3, 1), tuple(ca.densify(axes[:, k]) for k in range(3)))

    def point(self, name: str, r: ca.SX) -> PlacedInSpace:
        return PlacedInSpace(name, r)

    def bar(self, name: str, r: ca.SX, along: ca.SX) -> PlacedInSpace:
        return PlacedInSpace(name, r, (along,))

    def turn(self, angle: Any, rotation: Any, what: str) -> tuple[Number, ...]:
        if angle is not None:
            raise ModelError(f"{what}: in space directions are given by rotation=, not by angle=")
        if rotation is None:
            return ()
        made = as_rotation(rotation, what)
        return () if made.is_none else made.axes

    def marked(self, frame: PlacedInSpace, point: Sequence[Any], turn: Sequence[Any]) -> PlacedInSpace:
        if not frame.axes:
            return frame
        r = frame.r + sum(c * axis for c, axis in zip(point, frame.axes, strict=False))
        if not turn:
            return PlacedInSpace(frame.name, r, frame.axes)
        mixed = [sum(turn[3 * k + i] * axis for i, axis in enumerate(frame.axes)) for k in range(3)]
        return PlacedInSpace(frame.name, r, tuple(mixed))

    def located(self, frame: PlacedInSpace, world: ca.SX) -> tuple[Number, ...]:
        if not frame.axes:
            return self.origin
        offset = world - frame.r
        if len(frame.axes) == 3:
            return tuple(plain(ca.dot(axis, offset)) for axis in frame.axes)
        along = ca.dot(frame.u, offset)
        beside = evaluate([ca.norm_2(offset - along * frame.u)])[0]
        if beside > BESIDE * (1.0 + np.abs(evaluate([along])[0])):
            raise ModelError(f"'{frame.name}' is a bar of two points: what sits on it sits on its line; use a solid")
        return (plain(along), 0.0, 0.0)

    def aligned(self, frame: PlacedInSpace, axis: Any, what: str) -> tuple[Number, ...]:
        return self.framed(frame, frame_along(unit(axis, what)))

    def framed(self, frame: PlacedInSpace, world: ca.SX) -> tuple[Number, ...]:
        """The numbers of a marker that has world axes (columns) in the drawn pose."""
        if len(frame.axes) != 3:
            return ()
        made = Rotation._of(ca.mtimes(frame.matrix.T, world))
        return () if made.is_none else made.axes

    def swept(self, turn: Any, arm: Any) -> Any:
        return ca.cross(turn, arm)

    def moment(self, arm: Any, force: Any) -> Any:
        return ca.cross(arm, force)


#: The geometry of spatial mechanisms.
SPACE = PlacedInSpace.space = Space()
