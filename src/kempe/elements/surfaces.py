"""Where the surfaces of a contact are: points, lines and circles of two parts, how far apart, and how far slid.

Rigid contacts (``contacts``) and those with a contact law (``pressing_contacts``) are made of the same ones.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from kempe.elements.base import Element, Limit, Positive, Scalar
from kempe.elements.geometry import length_of
from kempe.elements.joints import attach
from kempe.elements.numbers import evaluate, vector
from kempe.elements.parts import Marker
from kempe.errors import ModelError


class TwoSurfaces(Element):
    """A surface of ``i`` and one of ``j``."""

    @property
    def markers(self) -> tuple[Marker, Marker]:
        """The points on its two parts."""
        return self.fields["i"], self.fields["j"]  # type: ignore[return-value]


class PointAndLine(TwoSurfaces):
    """A point of j and a line of i, to the left of which it is."""

    def gap(self, x: Any) -> Any:
        """How far the point is from the line."""
        return ca.dot(x.i.n, x.j.r - x.i.r)

    def slid(self, x: Any) -> Any:
        """How far the point is along the line."""
        return ca.dot(x.i.u, x.j.r - x.i.r)


class CircleAndLine(TwoSurfaces):
    """A circle of j and a line of i, to the left of which it is."""

    def gap(self, x: Any) -> Any:
        """How far the circle is from the line."""
        return ca.dot(x.i.n, x.j.r - x.i.r) - x.radius

    def slid(self, x: Any) -> Any:
        """How far the circle has slid along the line, which rolling is not."""
        return ca.dot(x.i.u, x.j.r - x.i.r) + x.radius * (x.j.angle - x.i.angle)


def smooth_gap(apart: Any, reach: Any) -> Any:
    """(c^2 - e^2) / (2 c): zero where c - e is, with the same rate there, and smooth at e = 0 where e is not.

    A journal that flies across its bearing passes near the centre: between two steps a guard with a tip there can hide
    that it has left on the other side.
    """
    return (reach**2 - ca.dot(apart, apart)) / (2 * reach)


class TwoCircles(TwoSurfaces):
    """Circles of i and j side by side, or that of j inside that of i."""

    #: What is said of a circle that has no room in the other.
    tight = "the circle of i, the first radius, must be larger than the one inside"

    def gap(self, x: Any) -> Any:
        """How far the circles are apart."""
        d = x.j.r - x.i.r
        apart = length_of(d[0], d[1])
        return x.first - x.second - apart if x.inside else apart - x.first - x.second

    def clear(self, x: Any) -> Any:
        """The gap of squares, which is smooth where centres pass each other."""
        d = x.j.r - x.i.r
        return smooth_gap(d, x.first - x.second) if x.inside else -smooth_gap(d, x.first + x.second)

    def limits(self) -> list[Limit]:
        first, second = (self.fields[key] for key in ("first", "second"))
        assert isinstance(first, Scalar) and isinstance(second, Scalar)
        play = first.value - second.value
        tight = [Limit(play, f"{self.told()}: {self.tight}", play, strict=True)]
        return [*super().limits(), *(tight if self.fields["inside"].structure() else [])]

    def circles(
        self, what: str, i: Any, j: Any, on_i: Any, on_j: Any, radii: Any, inside: bool
    ) -> tuple[tuple[Marker, Marker], dict[str, Any]]:
        """The centres and the fields of two circles; centres that are not given are the parts' origins."""
        first, second = (Positive(r, f"{what}: radii") for r in vector(radii, f"{what}: radii"))
        if not isinstance(inside, bool):
            raise ModelError(f"{what}: inside must be True or False, not {inside!r}")
        if inside and evaluate([first.value - second.value])[0] <= 0.0:
            raise ModelError(f"{what}: {self.tight}")
        centres = [
            (0.0, 0.0) if on is None and not isinstance(part, Marker) else on for part, on in ((i, on_i), (j, on_j))
        ]
        ends = attach(what, i, j, None, centres[0], centres[1])
        return ends, {"first": first, "second": second, "inside": inside}


def on_line(what: str, i: Any, j: Any, axis: Any, at: Any, on_i: Any, on_j: Any) -> tuple[Marker, Marker]:
    """A line of i, through the origin of i if nothing else is said, and a point of j."""
    if on_j is None and not isinstance(j, Marker):
        on_j = (0.0, 0.0)
    if at is None and on_i is None and not isinstance(i, Marker):
        on_i = (0.0, 0.0)
    ends = attach(what, i, j, at, on_i, on_j, (1.0, 0.0) if axis is None else axis)
    return (i, ends[1]) if isinstance(i, Marker) and axis is None and at is None and on_i is None else ends
