"""Contacts with a contact law: points, lines and circles that press into each other where they touch.

The builders of rigid contacts make them where ``contact=`` is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from kempe.elements.base import Element, Positive
from kempe.elements.contact_laws import Surfaces, as_contact
from kempe.elements.geometry import column, length_of
from kempe.elements.parts import Marker
from kempe.elements.planar import perpendicular, relative_angle
from kempe.elements.pressing import Pressing
from kempe.elements.surfaces import CircleAndLine, PointAndLine, TwoCircles, on_line


class PressingContact(Pressing):
    """A contact of two surfaces with a contact law, and with smooth friction if there is any."""

    def _make(
        self,
        name: str,
        what: str,
        ends: tuple[Marker, Marker],
        contact: Any,
        friction: Any,
        surfaces: Surfaces | None,
        **fields: Any,
    ) -> None:
        pressing = self._pressing(name, what, as_contact(contact, f"{what}: contact", surfaces), friction)
        super().__init__(name, i=ends[0], j=ends[1], **fields, **pressing)

    def gap(self, x: Any) -> Any:
        """How far the surfaces are apart."""
        raise NotImplementedError

    def depth(self, x: Any) -> Any:
        return -self.gap(x)

    def outputs(self, x: Any) -> dict[str, Any]:
        return {"gap": self.gap(x), **super().outputs(x)}

    def output_kinds(self) -> Mapping[str, str]:
        return {"gap": "length", **super().output_kinds()}


class PressingPointLineContact(PointAndLine, PressingContact):
    """A point of j that a line of i pushes to its left side, by a contact law.

    Friction acts at the point. A point has no radius, so that the law needs a stiffness.
    """

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        contact: Any,
        axis: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
    ) -> None:
        what = f"point line contact '{name}'"
        ends = on_line(what, i, j, axis, at, on_i, on_j)
        self._make(name, what, ends, contact, friction, None)


class PressingCircleLineContact(CircleAndLine, PressingContact):
    """A circle of j that a line of i pushes to its left side, by a contact law: a tyre, a ball that gives.

    Friction acts at the lowest point of the undeformed circle.
    """

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        radius: Any,
        contact: Any,
        axis: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
    ) -> None:
        what = f"circle line contact '{name}'"
        ends = on_line(what, i, j, axis, at, on_i, on_j)
        size = Positive(radius, f"{what}: radius")
        self._make(name, what, ends, contact, friction, Surfaces(second=size.value), radius=size)


class RubbingCircles(Element):
    """How circles slide that press into each other: friction acts at one point of both, the surface of that of j."""

    def surface(self, x: Any) -> Any:
        """Where the surface of j is, from its centre, along the line from the centre of i to that of j."""
        raise NotImplementedError

    def _seen(self, x: Any) -> tuple[Any, Any]:
        """The centre of j in the axes of i, and the direction along the surfaces there."""
        d = x.j.r - x.i.r
        seen = column([ca.dot(x.i.u, d), ca.dot(x.i.n, d)])
        return seen, perpendicular(seen) / ca.fmax(length_of(seen[0], seen[1]), 1e-300)

    def slip(self, x: Any) -> Any:
        """How fast the surface of j moves along that of i."""
        return self.moved(x)

    def moved(self, x: Any) -> Any:
        """How fast the surface of j moves along what of i is at the same place."""
        seen, along = self._seen(x)
        moved = x.d(seen[0]) * along[0] + x.d(seen[1]) * along[1]
        return moved + self.surface(x) * x.d(relative_angle(x.i, x.j))

    def rub(self, x: Any, effort: Any) -> Any:
        """The generalised force of an effort on j along the surfaces."""
        seen, along = self._seen(x)
        return x.push(seen, effort * along) + x.push(relative_angle(x.i, x.j), effort * self.surface(x))


class PressingCircleContact(TwoCircles, RubbingCircles, PressingContact):
    """Two circles that push each other away by a contact law, or with ``inside=True`` one that is held in a ring.

    Friction acts at the surface of the circle of j, on both.
    """

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        radii: Any,
        contact: Any,
        on_i: Any = None,
        on_j: Any = None,
        inside: bool = False,
        friction: Any = None,
    ) -> None:
        what = f"circle contact '{name}'"
        ends, circles = self.circles(what, i, j, on_i, on_j, radii, inside)
        surfaces = Surfaces(circles["first"].value, circles["second"].value, inside)
        self._make(name, what, ends, contact, friction, surfaces, **circles)

    def surface(self, x: Any) -> Any:
        return x.second if x.inside else -x.second
