"""Joints. Each is one class: its data and its equations; everything else is derived from those."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import DrawnSource, Element, Positive
from kempe.elements.links import drawn_distance
from kempe.elements.numbers import Number, evaluate, number, positive, vector
from kempe.elements.parts import Carrier, Ground, Marker, Point, as_carrier, plain
from kempe.elements.planar import angle_beyond
from kempe.elements.quantities import Angle, Displacement, Distance, as_quantity, drawn_value
from kempe.errors import ModelError


def attach(
    what: str, i: Any, j: Any, at: Any, on_i: Any, on_j: Any, axis: Any = None, default: str = ""
) -> tuple[Marker, Marker]:
    """The two markers of a joint: from a world point of the drawn pose, or from points in the parts' own axes.

    A point not given in a part's own axes follows from the other side and the drawn pose. ``default`` says where
    the joint is when nothing is given ("j": at the origin of j). ``axis`` is a world direction of the drawn pose.
    """
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
        on_i = (0.0, 0.0)
    if isinstance(second, Point) and on_j is None:
        on_j = (0.0, 0.0)

    def world(carrier: Carrier, local: Any) -> tuple[Number, ...]:
        r = carrier.at(local).symbolic(DrawnSource()).r
        return (plain(r[0]), plain(r[1]))

    if at is None:
        if on_i is not None:
            at = world(first, on_i)
        elif on_j is not None:
            at = world(second, on_j)
        elif default == "j":
            at = world(second, (0.0, 0.0))
        else:
            raise ModelError(f"{what}: say where it is: at=(x, y) in the drawn pose, or on_i=(x, y) and on_j=(x, y)")
    markers = []
    for carrier, local in ((first, on_i), (second, on_j)):
        placed = carrier.at_world(at, axis)
        markers.append(placed if local is None else Marker(carrier, carrier.at(local).point, placed.angle))
    return markers[0], markers[1]


def between(what: str, i: Any, j: Any, on_i: Any = None, on_j: Any = None) -> tuple[Marker, Marker]:
    """The two ends of a rod or spring: points in the parts' own axes (their origins if not given), or markers."""
    ends = []
    for part, local, which, key in ((i, on_i, "first", "on_i"), (j, on_j, "second", "on_j")):
        carrier = as_carrier(part, f"{what}: the {which} part")
        if isinstance(part, Marker) and local is not None:
            raise ModelError(f"{what}: the {which} part is a marker and has its point; leave {key}= out")
        ends.append(part if isinstance(part, Marker) else carrier.at((0.0, 0.0) if local is None else local))
    if ends[0].carrier is ends[1].carrier:
        raise ModelError(f"{what} connects '{ends[0].name}' with itself")
    return ends[0], ends[1]


class Joint(Element):
    """A joint between two markers ``i`` and ``j``."""

    @property
    def markers(self) -> tuple[Marker, Marker]:
        """The joint's two sides."""
        return self.fields["i"], self.fields["j"]  # type: ignore[return-value]

    @property
    def angle(self) -> Angle:
        """The angle of the second part's marker as seen from the first's: something to drive or measure."""
        return Angle(*self.markers)


class Revolute(Joint):
    """A pin: a point of i and a point of j coincide (eq. 2.6 of Haug, Wehage and Barman, 1981)."""

    rows = ("x", "y")

    def __init__(self, name: str, i: Any, j: Any, *, at: Any = None, on_i: Any = None, on_j: Any = None) -> None:
        mi, mj = attach(f"revolute joint '{name}'", i, j, at, on_i, on_j)
        super().__init__(name, i=mi, j=mj)

    def phi(self, x: Any) -> Any:
        return x.i.r - x.j.r


class Translational(Joint):
    """A prismatic guide: j slides along an axis of i and does not turn in it.

    ``axis`` is a world direction in the drawn pose, ``at`` a world point of the guide line (where j is drawn if not
    given; ``on_i`` gives it in the axes of i), ``on_j`` the point of j that stays on it (its origin if not given). The
    relative angle stays as drawn unless ``angle`` gives it.
    Equations 2.8 and 2.9 of Haug, Wehage and Barman (1981) say the same with two normals of nonzero length; here
    the normal is the axis turned by a quarter, and the angle is kept exactly.
    """

    rows = ("normal", "rotation")

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
    ) -> None:
        if on_j is None and not isinstance(j, Marker):
            on_j = (0.0, 0.0)
        mi, mj = attach(f"translational joint '{name}'", i, j, at, on_i, on_j, axis)
        super().__init__(name, i=mi, j=mj, turned=kept_angle(f"translational joint '{name}'", mi, mj, angle))

    @property
    def displacement(self) -> Displacement:
        """How far the point of j is along the guide line from its point: something to drive or measure."""
        return Displacement(*self.markers)

    def phi(self, x: Any) -> list[Any]:
        return [ca.dot(x.i.n, x.j.r - x.i.r), angle_beyond(x.i, x.j, x.turned)]


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
        self, name: str, i: Any, j: Any, *, at: Any = None, on_i: Any = None, on_j: Any = None, angle: Any = None
    ) -> None:
        mi, mj = attach(f"weld '{name}'", i, j, at, on_i, on_j, default="j")
        super().__init__(name, i=mi, j=mj, turned=kept_angle(f"weld '{name}'", mi, mj, angle))

    def phi(self, x: Any) -> list[Any]:
        gap = x.i.r - x.j.r
        return [gap[0], gap[1], angle_beyond(x.i, x.j, x.turned)]


class PinInSlot(Joint):
    """A pin of j in a straight slot of i: a point of j stays on a line of i, and may turn and slide."""

    rows = ("normal",)

    def __init__(
        self, name: str, i: Any, j: Any, *, axis: Any, at: Any = None, on_i: Any = None, on_j: Any = None
    ) -> None:
        mi, mj = attach(f"pin in slot '{name}'", i, j, at, on_i, on_j, axis)
        super().__init__(name, i=mi, j=mj)

    @property
    def displacement(self) -> Displacement:
        """How far the pin is along the slot."""
        return Displacement(*self.markers)

    def phi(self, x: Any) -> Any:
        return ca.dot(x.i.n, x.j.r - x.i.r)


class Link(Joint):
    """A massless rod with pins at both ends: (d.d - L^2)/(2 L) = 0, whose multiplier is the force in the rod."""

    rows = ("length",)

    def __init__(self, name: str, i: Any, j: Any, *, on_i: Any = None, on_j: Any = None, length: Any = None) -> None:
        what = f"distance link '{name}'"
        mi, mj = between(what, i, j, on_i, on_j)
        given = drawn_distance(mi, mj) if length is None else length
        super().__init__(name, i=mi, j=mj, length=Positive(given, f"{what}: length"))

    @property
    def distance(self) -> Distance:
        """The rod's length as a quantity."""
        return Distance(*self.markers)

    def phi(self, x: Any) -> Any:
        d = x.j.r - x.i.r
        return (ca.dot(d, d) - x.length**2) / (2 * x.length)


class Gear(Element):
    """Two wheels in mesh on a carrier: (angle_j - angle_c) = ratio (angle_i - angle_c) + constant.

    Give ``ratio`` (negative for external teeth) or ``teeth=(z_i, z_j)``, with ``internal=True`` for a ring gear.
    The constant is that of the drawn pose. With the ground as carrier the wheels have fixed axes; with an arm
    as carrier they are a planetary pair.
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
        internal: bool = False,
        carrier: Any = None,
    ) -> None:
        what = f"gear pair '{name}'"
        if (ratio is None) == (teeth is None):
            raise ModelError(f"{what}: give either ratio= or teeth=")
        if teeth is not None:
            zi, zj = (positive(z, f"{what}: teeth") for z in vector(teeth, f"{what}: teeth"))
            ratio = zi / zj if internal else -zi / zj
        ratio = number(ratio, f"{what}: ratio")
        if evaluate([ratio])[0] == 0.0:
            raise ModelError(f"{what}: the ratio must not be zero")
        # a wheel or carrier that is the ground does not turn
        wheels = [
            None if isinstance(part, Ground) else as_quantity(part, f"{what}: {role}")
            for role, part in (("wheel", i), ("wheel", j), ("carrier", Ground() if carrier is None else carrier))
        ]
        turning = [list(w.parts()) for w in wheels if w is not None]
        if any(p in turning[k] for k in range(len(turning)) for other in turning[:k] for p in other):
            raise ModelError(f"{what} connects '{turning[0][0].name}' with itself")
        if wheels[0] is None and wheels[1] is None:
            raise ModelError(f"{what}: at least one wheel must turn")
        a, b, c = (0.0 if w is None else drawn_value(w) for w in wheels)
        constant = (b - c) - ratio * (a - c)
        super().__init__(name, i=wheels[0], j=wheels[1], arm=wheels[2], ratio=ratio, constant=constant)

    def phi(self, x: Any) -> Any:
        i, j, c = (0.0 if w is None else w.value for w in (x.i, x.j, x.arm))
        return (j - c) - x.ratio * (i - c) - x.constant


class Belt(Gear):
    """A belt or chain over two wheels: the rims move alike (oppositely when crossed)."""

    aside = Element.aside | {"radii"}

    def __init__(self, name: str, i: Any, j: Any, *, radii: Any, crossed: bool = False, carrier: Any = None) -> None:
        ri, rj = (positive(r, f"belt '{name}': radius") for r in vector(radii, f"belt '{name}': radii"))
        self.radii = (ri, rj)  # for drawings
        super().__init__(name, i, j, ratio=-ri / rj if crossed else ri / rj, carrier=carrier)


class RackAndPinion(Element):
    """A rack j that moves by ``radius`` times the pinion's turn along the rack's axis (drawn world direction).

    The pinion is i; a positive turn moves the rack along the axis, as seen from the pinion's origin: on a rack that
    does not move, the ground say, the pinion rolls. Positions and angles count from the drawn pose.
    """

    rows = ("ratio",)

    def __init__(self, name: str, i: Any, j: Any, *, radius: Any, axis: Any = (1.0, 0.0), frame: Any = None) -> None:
        what = f"rack and pinion '{name}'"
        pinion, rack = as_carrier(i, f"{what}: the pinion"), as_carrier(j, f"{what}: the rack")
        if pinion is rack:
            raise ModelError(f"{what} connects '{pinion.name}' with itself")
        base = Ground() if frame is None else as_carrier(frame, f"{what}: the frame")
        guide = base.at_world((0.0, 0.0), axis)
        slid, turned = Displacement(guide, rack.at((0.0, 0.0))), Angle(guide, pinion.at((0.0, 0.0)))
        centre = Displacement(guide, pinion.at((0.0, 0.0)))
        if base is pinion or base is rack:
            raise ModelError(f"{what}: the frame must be another part than the pinion and the rack")
        r = number(radius, f"{what}: radius")
        if evaluate([r])[0] == 0.0:
            raise ModelError(f"{what}: the radius must not be zero")
        drawn = plain(drawn_value(slid) - drawn_value(centre) - r * drawn_value(turned))
        super().__init__(name, i=turned, j=slid, centre=centre, radius=r, constant=drawn)

    def phi(self, x: Any) -> Any:
        return x.j.value - x.centre.value - x.radius * x.i.value - x.constant


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
