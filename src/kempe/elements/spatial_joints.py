"""Joints in space, each composed of a few conditions on two markers; the joint's axis is the third of its markers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from kempe.elements.base import Element, Positive, kind_of
from kempe.elements.friction import as_friction
from kempe.elements.geometry import length_of
from kempe.elements.joints import where
from kempe.elements.numbers import evaluate, number, shown
from kempe.elements.parts import Carrier, Coordinate, Marker
from kempe.elements.quantities import Angle, AxialDisplacement, drawn_value
from kempe.elements.rotations import frame_along, unit
from kempe.elements.sources import DrawnSource
from kempe.elements.spatial import SPACE
from kempe.elements.touching import Touching
from kempe.errors import ModelError


def fasten(
    what: str,
    i: Any,
    j: Any,
    at: Any,
    on_i: Any,
    on_j: Any,
    axis: Any = None,
    *,
    turned: bool = True,
    default: str = "",
) -> tuple[Marker, Marker]:
    """The two markers of a joint in space, as :func:`kempe.elements.joints.attach` makes them in the plane.

    ``axis`` is a world direction of the drawn pose, or a pair of them, one for each side. A side that is a marker keeps
    the axes it has; where only one is, the other takes the same directions in the drawn pose. ``turned`` says that the
    joint has an axis, which then must be given.
    """
    for part in (i, j):
        carrier = part.carrier if isinstance(part, Marker) else part
        if isinstance(carrier, Carrier) and carrier.space is not SPACE:
            raise ModelError(f"{what}: '{carrier.name}' is a part of a planar mechanism")
    sides, at = where(what, i, j, at, on_i, on_j, default)
    given = [part if isinstance(part, Marker) else None for part in (i, j)]
    worlds = _directions(what, given, axis, turned)
    markers = []
    for (carrier, local), marker, world in zip(sides, given, worlds, strict=True):
        frame = carrier.frame(DrawnSource())
        turn = SPACE.framed(frame, world) if world is not None else marker.turn if marker is not None else ()
        point = SPACE.located(frame, _world(at)) if local is None else carrier.on(local).point
        markers.append(Marker(carrier, point, turn))
    return markers[0], markers[1]


def _world(at: Any) -> ca.SX:
    return ca.vertcat(*[ca.SX(c) for c in SPACE.vector(at, "at")])


def _directions(what: str, given: list[Marker | None], axis: Any, turned: bool) -> list[ca.SX | None]:
    """Per side the world axes of the drawn pose as columns; None for a marker that keeps its own."""
    if axis is not None:
        pair = axis if isinstance(axis, tuple) and len(axis) == 2 else (axis, axis)
        kept = [part for part in given if part is not None and part.turn]
        if kept:
            raise ModelError(f"{what}: the marker on '{kept[0].name}' has axes of its own; leave the axis out")
        frames = [frame_along(unit(direction, f"{what}: axis")) for direction in pair]
        return [frames[0], frames[1]]
    known = [part for part in given if part is not None]
    if not known:
        if turned:
            raise ModelError(f"{what}: say how its axis is: axis=(x, y, z), a world direction in the drawn pose")
        return [ca.SX.eye(3), ca.SX.eye(3)]
    if len(known) == 2:
        return [None, None]
    seen = known[0].symbolic(DrawnSource())
    frame = seen.matrix if len(seen.axes) == 3 else ca.SX.eye(3)
    return [None if part is not None else frame for part in given]


# --- conditions: what joints are made of -----------------------------------------------------------------------------


def together(x: Any) -> list[Any]:
    """The two points coincide, in world directions."""
    gap = x.i.r - x.j.r
    return [gap[0], gap[1], gap[2]]


def across(x: Any) -> list[Any]:
    """The point of j is on the axis of i."""
    gap = x.j.r - x.i.r
    return [ca.dot(x.i.u, gap), ca.dot(x.i.n, gap)]


def tilted(x: Any) -> list[Any]:
    """The axis of j is that of i: how it tilts about the first and the second direction of i."""
    return [-ca.dot(x.i.n, x.j.w), ca.dot(x.i.u, x.j.w)]


def turned(x: Any) -> Any:
    """The first direction of j is that of i, where the axes are the same."""
    return ca.dot(x.i.n, x.j.u)


#: Rows of these conditions.
TOGETHER, ACROSS, TILTED, TURNED = ("x", "y", "z"), ("across 1", "across 2"), ("tilt 1", "tilt 2"), ("turn",)
_LENGTHS = {*TOGETHER, *ACROSS, "normal", "length", "pitch"}


class SpatialJoint(Element):
    """A joint between two markers in space.

    A ``stiffness`` of its rows says how joints that hold the same thing share the load (``elements.stiffness``).
    """

    def __init__(self, name: str, *, stiffness: Any = None, **fields: Any) -> None:
        super().__init__(name, **fields)
        self.stiffen(stiffness)

    @property
    def markers(self) -> tuple[Marker, Marker]:
        """The joint's two sides."""
        return self.fields["i"], self.fields["j"]  # type: ignore[return-value]

    def row_kinds(self) -> Mapping[str, str]:
        return {row: "length" if row in _LENGTHS else "angle" for row in self.rows}


class Turning(SpatialJoint):
    """A joint about an axis: with an angle."""

    @property
    def angle(self) -> Angle:
        """The angle of the second part as seen from the first about the axis: zero as drawn, between -pi and pi.

        It is something to drive or measure; ``m.angle(name, joint)`` counts it over full turns.
        """
        return Angle(*self.markers)

    def outputs(self, x: Any) -> dict[str, Any]:
        angle = x.i.angle_to(x.j)
        return {**super().outputs(x), "angle": angle, "rate": x.d(angle)}

    def output_kinds(self) -> Mapping[str, str]:
        return {**super().output_kinds(), "angle": "angle", "rate": "angular velocity"}


class Sliding(SpatialJoint):
    """A joint along an axis: with a displacement."""

    @property
    def displacement(self) -> AxialDisplacement:
        """How far the point of j is along the axis from that of i: something to drive or measure."""
        return AxialDisplacement(*self.markers)

    def outputs(self, x: Any) -> dict[str, Any]:
        along = ca.dot(x.i.w, x.j.r - x.i.r)
        return {**super().outputs(x), "displacement": along, "speed": x.d(along)}

    def output_kinds(self) -> Mapping[str, str]:
        return {**super().output_kinds(), "displacement": "length", "speed": "velocity"}


class SpatialRevolute(Touching, Turning):
    """A hinge: a point and an axis of i and of j coincide.

    ``axis`` is a world direction in the drawn pose, ``at`` a world point of it; or the sides are markers, whose third
    axis is the hinge's.

    With ``friction``, a coefficient or a law, a torque mu R F resists turning: R is the pin's ``radius`` and F the
    force it bears. With a ``length`` it bears that force and its bending moment on two bearings, half of the length to
    either side, and both rub.
    """

    called = "revolute"
    rows = own_rows = (*TOGETHER, *TILTED)

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        axis: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
        radius: Any = None,
        length: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"revolute joint '{name}'"
        mi, mj = fasten(what, i, j, at, on_i, on_j, axis)
        law = as_friction(friction, f"{what}: friction")
        if law is not None and radius is None:
            raise ModelError(f"{what}: friction acts on the surface of the pin: give its radius= too")
        if friction is None and (radius is not None or length is not None):
            key = "radius" if radius is not None else "length"
            raise ModelError(f"{what}: a {key} is that of a pin with friction: give friction= too")
        size = None if law is None else Positive(radius, f"{what}: radius")
        apart = None if law is None or length is None else Positive(length, f"{what}: length")
        rubbing = self._touching(name, closes=False, friction=law)
        super().__init__(name, i=mi, j=mj, radius=size, length=apart, stiffness=stiffness, **rubbing)

    def slid(self, x: Any) -> Any:
        return x.radius * x.i.angle_to(x.j)

    def here(self, x: Any) -> dict[str, Any]:
        return {"place": x.i.angle_to(x.j)}

    def held(self, x: Any, place: Any) -> Any:
        return x.radius * x.i.angle_beyond(x.j, place)

    def pressed(self, x: Any) -> Any:
        force = ca.vertcat(*[x.lam[row] for row in TOGETHER])
        if x.length is None:
            return length_of(*ca.vertsplit(force))
        return on_two(force, (x.lam["tilt 1"] * x.i.n - x.lam["tilt 2"] * x.i.u) / x.length)

    def phi(self, x: Any) -> list[Any]:
        return [*together(x), *tilted(x), *self.touching_rows(x)]

    def row_kinds(self) -> Mapping[str, str]:
        return {**SpatialJoint.row_kinds(self), **({"stick": "length"} if self.rubs else {})}

    def outputs(self, x: Any) -> dict[str, Any]:
        """Angle and rate, and friction as the torque it is."""
        found = {**Turning.outputs(self, x), **super().outputs(x)}
        return {**found, "friction": x.radius * found["friction"]} if "friction" in found else found

    def output_kinds(self) -> Mapping[str, str]:
        return {**Turning.output_kinds(self), "friction": "moment", "slip": "velocity"}


def on_two(force: Any, tipping: Any) -> Any:
    """What two bearings bear together of a force and of a pair of forces that a moment makes."""
    sides = [force / 2 + tipping, force / 2 - tipping]
    return sum(length_of(*ca.vertsplit(side)) for side in sides)


class Prismatic(Touching, Sliding):
    """A guide: j slides along an axis of i and does not turn.

    ``axis`` is a world direction in the drawn pose, ``at`` a world point of the guide (where j is drawn if not given).

    With ``friction``, a coefficient or a law, mu N resists sliding, N being the force across the guide. With a
    ``length`` the guide bears that force and its bending moment on two pads, half of the length to either side of the
    point of j, and both rub. What the moment about the axis itself presses is not counted.
    """

    rows = own_rows = (*ACROSS, *TILTED, *TURNED)

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        axis: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
        length: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"prismatic joint '{name}'"
        mi, mj = fasten(what, i, j, at, on_i, on_j, axis, default="j")
        law = as_friction(friction, f"{what}: friction")
        if friction is None and length is not None:
            raise ModelError(f"{what}: a length is that of a guide with friction: give friction= too")
        pads = None if law is None or length is None else Positive(length, f"{what}: length")
        rubbing = self._touching(name, closes=False, friction=law)
        super().__init__(name, i=mi, j=mj, length=pads, stiffness=stiffness, **rubbing)

    def slid(self, x: Any) -> Any:
        return ca.dot(x.i.w, x.j.r - x.i.r)

    def pressed(self, x: Any) -> Any:
        force = ca.vertcat(x.lam["across 1"], x.lam["across 2"])
        if x.length is None:
            return length_of(*ca.vertsplit(force))
        return on_two(force, ca.vertcat(-x.lam["tilt 2"], x.lam["tilt 1"]) / x.length)

    def phi(self, x: Any) -> list[Any]:
        return [*across(x), *tilted(x), turned(x), *self.touching_rows(x)]

    def row_kinds(self) -> Mapping[str, str]:
        return {**SpatialJoint.row_kinds(self), **({"stick": "length"} if self.rubs else {})}

    def outputs(self, x: Any) -> dict[str, Any]:
        return {**Sliding.outputs(self, x), **super().outputs(x)}

    def output_kinds(self) -> Mapping[str, str]:
        return {**Sliding.output_kinds(self), "friction": "force", "slip": "velocity"}


class Axial(SpatialJoint):
    """A joint that its axis and a point say all about: a subclass has rows and their equations."""

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        axis: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"{kind_of(type(self))} '{name}'"
        mi, mj = fasten(what, i, j, at, on_i, on_j, axis, default="j")
        super().__init__(name, i=mi, j=mj, stiffness=stiffness)


class Universal(SpatialJoint):
    """A cross: a point of i and a point of j coincide, and an axis of i stays perpendicular to one of j.

    ``axis_i`` and ``axis_j`` are the two arms of the cross, world directions in the drawn pose at right angles: the
    first turns in i, the second in j. The sides may be markers instead, whose third axes these are.
    """

    rows = (*TOGETHER, "cross")

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        axis_i: Any = None,
        axis_j: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"universal joint '{name}'"
        if (axis_i is None) != (axis_j is None):
            raise ModelError(f"{what}: give both arms of its cross, axis_i= and axis_j=")
        axes = None
        if axis_i is not None:
            axes = (axis_i, axis_j)
            arms = [unit(axis, f"{what}: {key}") for axis, key in zip(axes, ("axis_i", "axis_j"), strict=True)]
            if abs(evaluate([ca.dot(*arms)])[0]) > 0.1:
                raise ModelError(f"{what}: the arms of its cross, axis_i and axis_j, must be drawn at right angles")
        mi, mj = fasten(what, i, j, at, on_i, on_j, axes)
        super().__init__(name, i=mi, j=mj, stiffness=stiffness)

    def phi(self, x: Any) -> list[Any]:
        return [*together(x), ca.dot(x.i.w, x.j.w)]


class Planar(Axial):
    """A plate on a plane: a plane of j stays in one of i; j slides and turns in it. ``axis`` is the plane's normal."""

    rows = ("normal", *TILTED)

    def phi(self, x: Any) -> list[Any]:
        return [ca.dot(x.i.w, x.j.r - x.i.r), *tilted(x)]


class SpatialWeld(SpatialJoint):
    """Two parts made one, as they are drawn (or as the axes of the two markers say)."""

    called = "weld"

    rows = (*TOGETHER, *TILTED, *TURNED)

    def __init__(
        self, name: str, i: Any, j: Any, *, at: Any = None, on_i: Any = None, on_j: Any = None, stiffness: Any = None
    ) -> None:
        mi, mj = fasten(f"weld '{name}'", i, j, at, on_i, on_j, turned=False, default="j")
        super().__init__(name, i=mi, j=mj, stiffness=stiffness)

    def phi(self, x: Any) -> list[Any]:
        return [*together(x), *tilted(x), turned(x)]


class PointOnLine(Axial, Sliding):
    """A point of j stays on a line of i, along ``axis``, and is free to turn."""

    rows = ACROSS

    def phi(self, x: Any) -> list[Any]:
        return across(x)


class PointOnPlane(Axial):
    """A point of j stays in a plane of i, whose normal is ``axis``."""

    rows = ("normal",)

    def phi(self, x: Any) -> list[Any]:
        return [ca.dot(x.i.w, x.j.r - x.i.r)]


class Screw(Sliding):
    """A screw in a nut: j turns about an axis of i and moves ``pitch`` along it with every full turn.

    Displacements and angles count from the drawn pose; the angle, "H angle" of a screw "H", over full turns.
    """

    rows = (*ACROSS, *TILTED, "angle", "pitch")

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        pitch: Any,
        axis: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"screw '{name}'"
        mi, mj = fasten(what, i, j, at, on_i, on_j, axis, default="j")
        rise = number(pitch, f"{what}: pitch")
        start = drawn_value(AxialDisplacement(mi, mj))
        self.angle = Coordinate(f"{name} angle", drawn_value(Angle(mi, mj)), owner=self, angle=True)
        super().__init__(name, i=mi, j=mj, stiffness=stiffness, theta=self.angle, pitch=rise, drawn=start)

    def phi(self, x: Any) -> list[Any]:
        along = ca.dot(x.i.w, x.j.r - x.i.r) - x.drawn
        turning = x.i.angle_beyond(x.j, x.theta)
        return [*across(x), *tilted(x), turning, along - x.pitch * x.theta / (2 * ca.pi)]


class SpatialGear(Element):
    """Two joints whose angles turn in a ratio: angle_j = ratio angle_i from the drawn pose on, over full turns.

    Any axes will do: spur and bevel gears, worms, belts. Teeth pass on a torque, and bearings feel nothing else.
    """

    called = "gear"

    rows = ("angle 1", "angle 2", "ratio")

    def __init__(self, name: str, i: Any, j: Any, *, ratio: Any) -> None:
        what = f"gear '{name}'"
        wheels = [_turning(what, joint) for joint in (i, j)]
        value = number(ratio, f"{what}: ratio")
        if evaluate([value])[0] == 0.0:
            raise ModelError(f"{what}: the ratio must not be zero")
        turns = [
            Coordinate(f"{name} angle {k + 1}", drawn_value(Angle(*markers)), owner=self, angle=True)
            for k, markers in enumerate(wheels)
        ]
        drawn = [drawn_value(Angle(*markers)) for markers in wheels]
        super().__init__(
            name,
            i=list(wheels[0]),
            j=list(wheels[1]),
            turns=turns,
            ratio=value,
            constant=drawn[1] - value * drawn[0],
        )

    def row_kinds(self) -> Mapping[str, str]:
        return dict.fromkeys(self.rows, "angle")

    def phi(self, x: Any) -> list[Any]:
        counted = [pair[0].angle_beyond(pair[1], turn) for pair, turn in zip((x.i, x.j), x.turns, strict=True)]
        return [*counted, x.turns[1] - x.ratio * x.turns[0] - x.constant]


def _turning(what: str, joint: Any) -> tuple[Marker, Marker]:
    if not isinstance(joint, Turning):
        raise ModelError(f"{what} couples two revolute or cylindrical joints, not {shown(joint)}")
    return joint.markers
