"""Joints. Each is one class: its data and its equations; everything else is derived from those."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import Element, Positive
from kempe.elements.friction import as_friction
from kempe.elements.geometry import length_of, plain
from kempe.elements.links import drawn_distance
from kempe.elements.numbers import Number, evaluate, not_negative, number, positive, unless_zero, vector
from kempe.elements.parts import Body, Carrier, Ground, Marker, Point, as_carrier
from kempe.elements.planar import PlacedInPlane, angle_beyond, cross, relative_angle
from kempe.elements.quantities import Angle, Displacement, Distance, Quantity, as_quantity, drawn_value
from kempe.elements.sources import DrawnSource, Source
from kempe.elements.touching import Touching
from kempe.errors import ModelError


def attach(
    what: str, i: Any, j: Any, at: Any, on_i: Any, on_j: Any, axis: Any = None, default: str = ""
) -> tuple[Marker, Marker]:
    """The two markers of a joint: from a world point of the drawn pose, or from points in the parts' own axes.

    A point not given in a part's own axes follows from the other side and the drawn pose. ``default`` says where
    the joint is when nothing is given ("j": at the origin of j). ``axis`` is a world direction of the drawn pose.
    """
    sides, at = where(what, i, j, at, on_i, on_j, default)
    markers = []
    for carrier, local in sides:
        placed = carrier.at_world(at, axis)
        markers.append(placed if local is None else Marker(carrier, carrier.on(local).point, placed.turn))
    return markers[0], markers[1]


def where(
    what: str, i: Any, j: Any, at: Any, on_i: Any, on_j: Any, default: str = ""
) -> tuple[list[tuple[Carrier, Any]], Any]:
    """Where a joint is: per side the carrier and the point in its own axes, if that is given; and the world point."""
    if isinstance(i, Marker):
        i, on_i = i.carrier, i.point if on_i is None else on_i
    if isinstance(j, Marker):
        j, on_j = j.carrier, j.point if on_j is None else on_j
    first, second = as_carrier(i, f"{what}: the first part"), as_carrier(j, f"{what}: the second part")
    if first is second:
        raise ModelError(f"{what} connects '{first.name}' with itself")
    if at is not None and on_i is not None and on_j is not None:
        raise ModelError(f"{what}: give at=, or on_i= and on_j=, but not all three")
    if isinstance(first, Point) and on_i is None:
        on_i = first.space.origin
    if isinstance(second, Point) and on_j is None:
        on_j = second.space.origin

    def world(carrier: Carrier, local: Any) -> tuple[Number, ...]:
        r = carrier.on(local).symbolic(DrawnSource()).r
        return tuple(plain(r[k]) for k in range(r.numel()))

    if at is None:
        if on_i is not None:
            at = world(first, on_i)
        elif on_j is not None:
            at = world(second, on_j)
        elif default == "j":
            at = world(second, second.space.origin)
        else:
            place = first.space.places
            raise ModelError(f"{what}: say where it is: at={place} in the drawn pose, or on_i={place} and on_j={place}")
    return [(first, on_i), (second, on_j)], at


def between(what: str, i: Any, j: Any, on_i: Any = None, on_j: Any = None) -> tuple[Marker, Marker]:
    """The two ends of a rod or spring: points in the parts' own axes (their origins if not given), or markers."""
    ends = []
    for part, local, which, key in ((i, on_i, "first", "on_i"), (j, on_j, "second", "on_j")):
        carrier = as_carrier(part, f"{what}: the {which} part")
        if isinstance(part, Marker) and local is not None:
            raise ModelError(f"{what}: the {which} part is a marker and has its point; leave {key}= out")
        ends.append(part if isinstance(part, Marker) else carrier.on(local))
    if ends[0].carrier is ends[1].carrier:
        raise ModelError(f"{what} connects '{ends[0].name}' with itself")
    return ends[0], ends[1]


class Joint(Element):
    """A joint between two markers ``i`` and ``j``.

    A ``stiffness`` of its rows says how joints that hold the same thing share the load (``elements.stiffness``).
    """

    def __init__(self, name: str, *, stiffness: Any = None, **fields: Any) -> None:
        super().__init__(name, **fields)
        self.stiffen(stiffness)

    @property
    def markers(self) -> tuple[Marker, Marker]:
        """The joint's two sides."""
        return self.fields["i"], self.fields["j"]  # type: ignore[return-value]

    @property
    def angle(self) -> Angle:
        """The angle of the second part's marker as seen from the first's: something to drive or measure."""
        return Angle(*self.markers)


class Revolute(Touching, Joint):
    """A pin: a point of i and a point of j coincide (eq. 2.6 of Haug, Wehage and Barman, 1981).

    With ``friction``, a coefficient or a law, a torque mu R F resists turning: R is the pin's ``radius`` and F what it
    bears.
    """

    rows = own_rows = ("x", "y")

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
        radius: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"revolute joint '{name}'"
        mi, mj = attach(what, i, j, at, on_i, on_j)
        law = as_friction(friction, f"{what}: friction")
        if law is not None and radius is None:
            raise ModelError(f"{what}: friction acts on the surface of the pin: give its radius= too")
        if law is None and radius is not None and friction is None:
            raise ModelError(f"{what}: a radius is that of a pin with friction: give friction= too")
        rubbing = self._touching(name, closes=False, friction=law)
        size = None if law is None else Positive(radius, f"{what}: radius")
        super().__init__(name, i=mi, j=mj, radius=size, stiffness=stiffness, **rubbing)

    def row_kinds(self) -> Mapping[str, str]:
        return dict.fromkeys(self.rows, "length")

    def slid(self, x: Any) -> Any:
        return x.radius * relative_angle(x.i, x.j)

    def here(self, x: Any) -> dict[str, Any]:
        return {"place": relative_angle(x.i, x.j)}

    def held(self, x: Any, place: Any) -> Any:
        return x.radius * angle_beyond(x.i, x.j, place)

    def pressed(self, x: Any) -> Any:
        return length_of(x.lam["x"], x.lam["y"])

    def phi(self, x: Any) -> Any:
        pinned = x.i.r - x.j.r
        return [pinned[0], pinned[1], *self.touching_rows(x)] if self.rubs else pinned

    def outputs(self, x: Any) -> dict[str, Any]:
        """Friction as the torque it is."""
        found = super().outputs(x)
        return {**found, "friction": x.radius * found["friction"]} if found else {}

    def output_kinds(self) -> Mapping[str, str]:
        return {"friction": "moment", "slip": "velocity"}


class Translational(Touching, Joint):
    """A prismatic guide: j slides along an axis of i and does not turn in it.

    ``axis`` is a world direction in the drawn pose, ``at`` a world point of the guide line (where j is drawn if not
    given; ``on_i`` gives it in the axes of i), ``on_j`` the point of j that stays on it (its origin if not given). The
    relative angle stays as drawn unless ``angle`` gives it.
    Equations 2.8 and 2.9 of Haug, Wehage and Barman (1981) say the same with two normals of nonzero length; here
    the normal is the axis turned by a quarter, and the angle is kept exactly.

    With ``friction``, a coefficient or a law, mu N resists sliding, N being the force across the guide. With a
    ``length`` the guide bears on two pads, half of it to either side of the point of j. They bear N/2 + M/length and
    N/2 - M/length, M being the moment about that point, and both rub: a guide loaded off its centre feels it.
    """

    rows = own_rows = ("normal", "rotation")

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        axis: Any = (1.0, 0.0),
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        angle: Any = None,
        friction: Any = None,
        length: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"translational joint '{name}'"
        if on_j is None and not isinstance(j, Marker):
            on_j = (0.0, 0.0)
        mi, mj = attach(what, i, j, at, on_i, on_j, axis)
        law = as_friction(friction, f"{what}: friction")
        if friction is None and length is not None:
            raise ModelError(f"{what}: a length is that of a guide with friction: give friction= too")
        pads = None if law is None or length is None else Positive(length, f"{what}: length")
        rubbing = self._touching(name, closes=False, friction=law)
        turned = kept_angle(what, mi, mj, angle)
        super().__init__(name, i=mi, j=mj, turned=turned, length=pads, stiffness=stiffness, **rubbing)

    @property
    def displacement(self) -> Displacement:
        """How far the point of j is along the guide line from its point: something to drive or measure."""
        return Displacement(*self.markers)

    def row_kinds(self) -> Mapping[str, str]:
        return {**super().row_kinds(), "rotation": "angle"}

    def slid(self, x: Any) -> Any:
        return ca.dot(x.i.u, x.j.r - x.i.r)

    def pressed(self, x: Any) -> Any:
        across = x.lam["normal"]
        if x.length is None:
            return ca.fabs(across)
        tipping = x.lam["rotation"] / x.length
        return ca.fabs(across / 2 + tipping) + ca.fabs(across / 2 - tipping)

    def phi(self, x: Any) -> list[Any]:
        guided = [ca.dot(x.i.n, x.j.r - x.i.r), angle_beyond(x.i, x.j, x.turned)]
        return guided + self.touching_rows(x)


def kept_angle(what: str, i: Marker, j: Marker, given: Any) -> Number:
    """The relative angle a joint keeps: as drawn, or the given one in the turn that is nearest to the drawing."""
    drawn = drawn_value(Angle(i, j))
    if given is None:
        return drawn
    asked = number(given, f"{what}: angle")
    turns = round(float(evaluate([drawn])[0] - evaluate([asked])[0]) / (2 * ca.pi))
    return asked + 2 * ca.pi * turns


class Weld(Joint):
    """Two parts made one: neither slides nor turns in the other."""

    rows = ("x", "y", "rotation")

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        angle: Any = None,
        stiffness: Any = None,
    ) -> None:
        mi, mj = attach(f"weld '{name}'", i, j, at, on_i, on_j, default="j")
        turned = kept_angle(f"weld '{name}'", mi, mj, angle)
        super().__init__(name, i=mi, j=mj, turned=turned, stiffness=stiffness)

    def row_kinds(self) -> Mapping[str, str]:
        return {"x": "length", "y": "length", "rotation": "angle"}

    def phi(self, x: Any) -> list[Any]:
        gap = x.i.r - x.j.r
        return [gap[0], gap[1], angle_beyond(x.i, x.j, x.turned)]


class PinInSlot(Touching, Joint):
    """A pin of j in a straight slot of i: a point of j stays on a line of i, and may turn and slide.

    With ``friction``, a coefficient or a law, mu N resists sliding, N being the force between pin and slot.
    """

    rows = own_rows = ("normal",)

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        axis: Any,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"pin in slot '{name}'"
        mi, mj = attach(what, i, j, at, on_i, on_j, axis)
        rubbing = self._touching(name, closes=False, friction=as_friction(friction, f"{what}: friction"))
        super().__init__(name, i=mi, j=mj, stiffness=stiffness, **rubbing)

    @property
    def displacement(self) -> Displacement:
        """How far the pin is along the slot."""
        return Displacement(*self.markers)

    def slid(self, x: Any) -> Any:
        return ca.dot(x.i.u, x.j.r - x.i.r)

    def pressed(self, x: Any) -> Any:
        return ca.fabs(x.lam["normal"])

    def phi(self, x: Any) -> list[Any]:
        return [ca.dot(x.i.n, x.j.r - x.i.r), *self.touching_rows(x)]


class Link(Joint):
    """A massless rod with pins at both ends: (d.d - L^2)/(2 L) = 0, whose multiplier is the force in the rod."""

    rows = ("length",)

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        on_i: Any = None,
        on_j: Any = None,
        length: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"distance link '{name}'"
        mi, mj = between(what, i, j, on_i, on_j)
        given = drawn_distance(mi, mj) if length is None else length
        super().__init__(name, i=mi, j=mj, length=Positive(given, f"{what}: length"), stiffness=stiffness)

    @property
    def distance(self) -> Distance:
        """The rod's length as a quantity."""
        return Distance(*self.markers)

    def row_kinds(self) -> Mapping[str, str]:
        return {"length": "length"}

    def phi(self, x: Any) -> Any:
        d = x.j.r - x.i.r
        return (ca.dot(d, d) - x.length**2) / (2 * x.length)


#: What teeth are cut with unless a pressure angle is given: 20 degrees, as ISO 53 has it.
PRESSURE_ANGLE = math.radians(20.0)


def _leaning(what: str, pressure_angle: Any) -> Number | None:
    """The tangent of a pressure angle; None where nothing pushes the wheels apart."""
    alpha = not_negative(PRESSURE_ANGLE if pressure_angle is None else pressure_angle, f"{what}: pressure_angle")
    if evaluate([alpha])[0] >= math.pi / 2:
        raise ModelError(f"{what}: pressure_angle is in radians, below a quarter turn, not {evaluate([alpha])[0]:g}")
    return unless_zero(plain(ca.tan(alpha)))


class Gear(Element):
    """Two wheels in mesh on a carrier: (angle_j - angle_c) = ratio (angle_i - angle_c) + constant.

    Give ``ratio`` (negative for external teeth), ``teeth=(z_i, z_j)`` or pitch ``radii=(r_i, r_j)``, the last two with
    ``internal=True`` for a ring gear. The constant is that of the drawn pose. With the ground as carrier the wheels
    have fixed axes; with an arm as carrier they are a planetary pair.

    Wheels alone pass on a torque, and their bearings feel nothing of the teeth. With their centres, ``on_i`` and
    ``on_j`` in their own axes (or markers as wheels; a centre not given is the wheel's origin), angle_c is the angle of
    the line of centres. The teeth then push at the pitch point, which divides that line as the ratio says:

    - across the line with W = T_j / r_j = ``|lambda (1 - ratio)|`` / distance, the work of the constraint itself;
    - along it with W tan(``pressure_angle``), 20 degrees unless given, whichever flank is loaded: wheels are pushed
      apart, or with internal teeth together (Shigley's Mechanical Engineering Design, section 13-14).

    The line of centres must stay within half a turn of where the carrier, or the drawing, has it.
    """

    rows = ("ratio",)

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        ratio: Any = None,
        teeth: Any = None,
        radii: Any = None,
        internal: bool = False,
        carrier: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        pressure_angle: Any = None,
    ) -> None:
        what = f"gear pair '{name}'"
        if sum(given is not None for given in (ratio, teeth, radii)) != 1:
            raise ModelError(f"{what}: give either ratio= or teeth= or radii=")
        for key, sizes in (("teeth", teeth), ("radii", radii)):
            if sizes is not None:
                of_i, of_j = (positive(z, f"{what}: {key}") for z in vector(sizes, f"{what}: {key}"))
                ratio = of_i / of_j if internal else -of_i / of_j
        centres = _centres(what, i, j, on_i, on_j)
        if centres is None and pressure_angle is not None:
            raise ModelError(f"{what}: a pressure angle needs the wheels' centres: give on_i= and on_j=")
        leaning = None if centres is None else _leaning(what, pressure_angle)
        self._tie(name, what, i, j, ratio, carrier, centres, leaning=leaning)

    def _tie(self, name: str, what: str, i: Any, j: Any, ratio: Any, carrier: Any, centres: Any, **fields: Any) -> None:
        """Fields and constant of a pair of wheels whose turns are in a ratio."""
        ratio = number(ratio, f"{what}: ratio")
        if evaluate([ratio])[0] == 0.0:
            raise ModelError(f"{what}: the ratio must not be zero")
        i, j = (part.carrier if isinstance(part, Marker) else part for part in (i, j))
        # a wheel or carrier that is the ground does not turn
        wheels = [
            None if isinstance(part, Ground) else as_quantity(_turn_of(part), f"{what}: {role}")
            for role, part in (("wheel", i), ("wheel", j), ("carrier", Ground() if carrier is None else carrier))
        ]
        turning = [list(w.parts()) for w in wheels if w is not None]
        if any(p in turning[k] for k in range(len(turning)) for other in turning[:k] for p in other):
            raise ModelError(f"{what} connects '{turning[0][0].name}' with itself")
        if wheels[0] is None and wheels[1] is None:
            raise ModelError(f"{what}: at least one wheel must turn")
        a, b, c = (0.0 if w is None else drawn_value(w) for w in wheels)
        line = None
        if centres is not None:
            a, b = (plain(m.symbolic(DrawnSource()).angle) for m in centres)
            d = _drawn_line(what, centres)
            line = plain(ca.atan2(d[1], d[0])) - c
            c = c + line
        constant = (b - c) - ratio * (a - c)
        super().__init__(
            name,
            centres=list(centres or ()),  # first, so that moments of reactions are about them
            i=wheels[0],
            j=wheels[1],
            arm=wheels[2],
            ratio=ratio,
            constant=constant,
            line=line,
            **fields,
        )

    @property
    def torque_only(self) -> bool:
        """Whether it has no centres although its wheels could have them."""
        wheels = [self.fields[key] for key in ("i", "j")]
        bodies = [not isinstance(w, Quantity) or isinstance(next(iter(w.parts())), Body) for w in wheels]
        return all(bodies) and not self.fields["centres"].fields  # type: ignore[attr-defined]

    def row_kinds(self) -> Mapping[str, str]:
        return {"ratio": "angle"}

    def phi(self, x: Any) -> Any:
        i, j, c = (0.0 if w is None else w.value for w in (x.i, x.j, x.arm))
        if x.centres:
            i, j = (wheel.angle for wheel in x.centres)
            d = x.centres[1].r - x.centres[0].r
            drawn = c + x.line
            u = ca.vertcat(ca.cos(drawn), ca.sin(drawn))
            c = drawn + ca.atan2(cross(u, d), ca.dot(u, d))  # the angle of d, in the turn of the carrier
        return (j - c) - x.ratio * (i - c) - x.constant

    def force(self, x: Any) -> Any:
        if not x.centres:
            return 0.0
        distance = ca.norm_2(x.centres[1].r - x.centres[0].r)
        return x.push(distance, self.apart(x, distance))

    def apart(self, x: Any, distance: Any) -> Any:
        """The force that pushes the centres apart."""
        if x.leaning is None:
            return 0.0
        return -ca.sign(x.ratio) * x.leaning * ca.fabs(x.lam["ratio"] * (1 - x.ratio)) / distance


def _turn_of(wheel: Any) -> Any:
    """A body as a wheel by its angle; anything else as it is."""
    return wheel.angle if isinstance(wheel, Body) else wheel


def _centres(what: str, i: Any, j: Any, on_i: Any, on_j: Any) -> tuple[Marker, Marker] | None:
    """The centres of two wheels as markers on them; None where nothing is said of them."""
    if not (isinstance(i, Marker) or isinstance(j, Marker)) and on_i is None and on_j is None:
        return None
    for part in (i, j):
        if not isinstance(part, (Marker, Body, Ground)):
            raise ModelError(f"{what}: only a body or the ground has a centre as a wheel, not {part!r}")
    return between(what, i, j, on_i, on_j)


def _drawn_line(what: str, centres: tuple[Marker, Marker]) -> ca.SX:
    """The line of centres in the drawn pose."""
    source = DrawnSource()
    d = centres[1].symbolic(source).r - centres[0].symbolic(source).r
    if np.hypot(*evaluate([d[0], d[1]])) == 0.0:
        raise ModelError(f"{what}: the wheels have the same centre; draw them apart, or leave on_i= and on_j= out")
    return d


class Belt(Gear):
    """A belt or chain over two wheels: the rims move alike (oppositely when crossed).

    Wheels alone pass on a torque. With their centres (``on_i``, ``on_j``, as for a gear) the two strands pull: the
    difference of their tensions is T_j / r_j, their sum 2 ``preload``, or that difference where it is more, for the
    slack strand does not push. Without preload that is a chain, or a belt just tight enough.
    """

    aside = Element.aside | {"radii"}

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        radii: Any,
        crossed: bool = False,
        carrier: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        preload: Any = 0.0,
    ) -> None:
        what = f"belt '{name}'"
        ri, rj = (positive(r, f"{what}: radius") for r in vector(radii, f"{what}: radii"))
        self.radii = (ri, rj)  # for drawings
        tension = unless_zero(not_negative(preload, f"{what}: preload"))
        centres = _centres(what, i, j, on_i, on_j)
        if centres is None and tension is not None:
            raise ModelError(f"{what}: a preload needs the wheels' centres: give on_i= and on_j=")
        across = rj + ri if crossed else rj - ri
        if centres is not None and evaluate([ca.norm_2(_drawn_line(what, centres)) - ca.fabs(across)])[0] <= 0:
            raise ModelError(f"{what}: the wheels are too near for a belt around both")
        ratio = -ri / rj if crossed else ri / rj
        self._tie(name, what, i, j, ratio, carrier, centres, outer=rj, across=across, preload=tension)

    def apart(self, x: Any, distance: Any) -> Any:
        """The strands pull the centres together; they lean against the line of centres, by sin = across/distance."""
        tight = ca.fabs(x.lam["ratio"]) / x.outer  # less the slack one
        both = tight if x.preload is None else ca.fmax(tight, 2 * x.preload)
        return -both * ca.sqrt(1 - (x.across / distance) ** 2)


class RackAndPinion(Element):
    """A rack j that moves by ``radius`` times the pinion's turn along the rack's axis (drawn world direction).

    The pinion is i, its centre ``on_i`` in its own axes (its origin if not given). A positive turn moves the rack along
    the axis, as seen from that centre: on a rack that does not move, the ground say, the pinion rolls. Positions and
    angles count from the drawn pose. The axis turns with the rack; for a rack that is a point it turns with ``frame``.

    The teeth push at the pitch point, ``radius`` to the right of the centre: along the axis with W = ``|lambda|``, and
    across it with W tan(``pressure_angle``), away from the rack: 20 degrees where the pinion's centre is given, none
    where neither is (an origin that is not the centre would feel a false force). Zero is for a disc without teeth.
    """

    rows = ("ratio",)

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        radius: Any,
        axis: Any = (1.0, 0.0),
        frame: Any = None,
        on_i: Any = None,
        pressure_angle: Any = None,
    ) -> None:
        what = f"rack and pinion '{name}'"
        rack = as_carrier(j, f"{what}: the rack")
        centre, _ = between(what, i, j, on_i)
        base = Ground() if frame is None else as_carrier(frame, f"{what}: the frame")
        if base is centre.carrier or base is rack:
            raise ModelError(f"{what}: the frame must be another part than the pinion and the rack")
        r = number(radius, f"{what}: radius")
        if evaluate([r])[0] == 0.0:
            raise ModelError(f"{what}: the radius must not be zero")
        guide = base.at_world((0.0, 0.0), axis)
        # a body and the ground count their turns; for any other rack the frame does
        counting = None if frame is None and isinstance(rack, (Body, Ground)) else guide
        origin = rack.on((0.0, 0.0)).symbolic(DrawnSource()).r
        teeth = rack.at_world((plain(origin[0]), plain(origin[1])), axis)
        at, along = centre.symbolic(DrawnSource()), teeth.symbolic(DrawnSource())
        u, turned = _rolling(at, along, None if counting is None else counting.symbolic(DrawnSource()))
        constant = plain(ca.dot(u, along.r - at.r) - r * turned)
        placed = on_i is not None or isinstance(i, Marker) or pressure_angle is not None
        leaning = _leaning(what, pressure_angle) if placed else None
        super().__init__(name, i=centre, j=teeth, frame=counting, radius=r, leaning=leaning, constant=constant)

    def view(self, source: Source) -> Any:
        x = super().view(source)
        x.u, x.turned = _rolling(x.i, x.j, x.frame)
        return x

    def row_kinds(self) -> Mapping[str, str]:
        return {"ratio": "length"}

    def phi(self, x: Any) -> Any:
        return ca.dot(x.u, x.j.r - x.i.r) - x.radius * x.turned - x.constant

    def force(self, x: Any) -> Any:
        if x.leaning is None:
            return 0.0
        height = cross(x.u, x.i.r - x.j.r)
        return x.push(height, ca.sign(x.radius) * x.leaning * ca.fabs(x.lam["ratio"]))


def _rolling(pinion: PlacedInPlane, rack: PlacedInPlane, frame: PlacedInPlane | None) -> tuple[ca.SX, ca.SX]:
    """The direction of a rack, and the angle of a pinion as seen from it."""
    if frame is None or rack.turned is not None:
        return rack.u, relative_angle(rack, pinion)
    turned = relative_angle(frame, pinion)
    return (frame.u, turned) if rack.axis is None else (rack.u, turned - relative_angle(frame, rack))


class Coupler(Element):
    """A linear relation between quantities: the sum of coefficient times quantity keeps its drawn (or given) value."""

    rows = ("relation",)

    def __init__(self, name: str, terms: Any, *, constant: Any = None) -> None:
        what = f"coupler '{name}'"
        pairs = list(terms) if isinstance(terms, (list, tuple)) else []
        if len(pairs) < 2 or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
            raise ModelError(f"{what} needs a list of at least two (coefficient, quantity) pairs")
        coefficients = [number(c, f"{what}: coefficient") for c, _ in pairs]
        quantities = [as_quantity(q, f"{what}: term") for _, q in pairs]
        if not np.any(evaluate(coefficients)):
            raise ModelError(f"{what}: the coefficients must not all be zero")
        if constant is None:
            constant = sum(c * drawn_value(q) for c, q in zip(coefficients, quantities, strict=True))
        super().__init__(
            name, quantities=quantities, coefficients=coefficients, constant=number(constant, f"{what}: constant")
        )

    def phi(self, x: Any) -> Any:
        return sum(c * q.value for c, q in zip(x.coefficients, x.quantities, strict=True)) - x.constant
