"""Rigid links in natural coordinates: bars between two points, and plates that carry more."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import Element, Part, Positive
from kempe.elements.geometry import column, plain
from kempe.elements.numbers import Number, evaluate, positive, shown, vector
from kempe.elements.parts import Carrier, Marker, Point
from kempe.elements.planar import perpendicular
from kempe.elements.sources import DrawnSource, Source
from kempe.errors import ModelError


class Bar(Carrier):
    """A rigid link seen as something joints can sit on: its axis runs from its first point to its second."""

    def __init__(self, name: str, first: Point, second: Point, length: Number) -> None:
        self.name, self.first, self.second, self.length = name, first, second, length
        self.space = first.space

    def parts(self) -> Iterable[Part]:
        return [*self.first.parts(), *self.second.parts()]

    def data(self) -> Iterable[Number]:
        return [*self.first.data(), *self.second.data(), self.length]

    def structure(self) -> Hashable:
        return (Bar, self.first.structure(), self.second.structure())

    def frame(self, source: Source) -> Any:
        a, b = self.first.frame(source).r, self.second.frame(source).r
        drawn = isinstance(source, DrawnSource)  # a sketch may be off the true length
        length = ca.norm_2(b - a) if drawn else source.numbers([self.length])[0]
        return self.space.bar(self.name, a, (b - a) / length)

    def __repr__(self) -> str:
        return f"Bar({self.name!r})"


class RigidLink(Element):
    """The constraints and the inertia of a link through two or more points.

    Constant distance of the first two, (d.d - L^2)/2 = 0; each further point keeps its place (a, b) in the axes
    of the first two: r - r_1 - (a d + b d_perp)/L = 0. Every material point is then linear in r_1 and r_2, so the
    mass matrix is constant (for a uniform bar m/6 [2 1; 1 2] in each direction).
    """

    aside = Element.aside | {"carrier"}

    def __init__(
        self,
        name: str,
        points: tuple[Any, ...],
        *,
        length: Any = None,
        places: Any = None,
        mass: Any = None,
        centre: Any = None,
        inertia: Any = None,
        gravity: Any = (0.0, 0.0),
        stiffness: Any = None,
    ) -> None:
        what = f"{'bar' if len(points) == 2 else 'plate'} '{name}'"
        self._check(what, points)
        drawn = [column(p.location) for p in points]
        d = drawn[1] - drawn[0]
        span = positive(plain(ca.norm_2(d)) if length is None else length, f"{what}: length")
        if places is None:
            unit = d / ca.norm_2(d)
            offsets = [r - drawn[0] for r in drawn[2:]]
            places = [(plain(ca.dot(unit, o)), plain(ca.dot(perpendicular(unit), o))) for o in offsets]
        if len(places) != len(points) - 2:
            raise ModelError(f"{what}: places must hold one pair for each point after the second")
        inertial: list[Number] = []
        if mass is not None:
            m = positive(mass, f"{what}: mass")
            com = vector((span / 2, 0.0) if centre is None else centre, f"{what}: centre")
            # about the first point, from the inertia about the centre of mass (a uniform bar: m L^2 / 12)
            central = m * span**2 / 12 if inertia is None else positive(inertia, f"{what}: inertia")
            inertial = [m, *com, central + m * (com[0] ** 2 + com[1] ** 2)]
        elif centre is not None or inertia is not None:
            raise ModelError(f"{what} has a centre of mass or an inertia, but no mass")
        self.carrier = Bar(name, points[0], points[1], span)
        self.points: tuple[Point, ...] = points
        self.rows = ("length", *(f"{p.name} {c}" for p in points[2:] for c in "xy"))
        super().__init__(
            name,
            points=list(points),
            length=Positive(span, f"{what}: length"),
            places=[list(vector(p, f"{what}: place")) for p in places],
            inertial=inertial,
            gravity=gravity if inertial else [],
        )
        self._has_inertia = bool(inertial)
        self.stiffen(stiffness)

    @staticmethod
    def _check(what: str, points: tuple[Any, ...]) -> None:
        """Two points or more, none twice, and the first two apart."""
        if len(points) < 2:
            raise ModelError(f"{what} needs at least two points")
        for k, point in enumerate(points):
            if not isinstance(point, Point):
                raise ModelError(f"{what}: point {k + 1} must be a point made by m.point, not {shown(point)}")
            if point in points[:k]:
                raise ModelError(f"{what} passes twice through point '{point.name}'")
        if not np.any(np.subtract(evaluate(points[1].location), evaluate(points[0].location))):
            raise ModelError(f"{what}: its points '{points[0].name}' and '{points[1].name}' are drawn at one place")

    @property
    def has_inertia(self) -> bool:
        return self._has_inertia

    def phi(self, x: Any) -> list[Any]:
        first, second, *others = [p.r for p in x.points]
        d = second - first
        equations = [(ca.dot(d, d) - x.length**2) / 2]
        for r, (a, b) in zip(others, x.places, strict=True):
            gap = r - first - (a * d + b * perpendicular(d)) / x.length
            equations += [gap[0], gap[1]]
        return equations

    def kinetic(self, x: Any) -> Any:
        mass, xg, yg, inertia = x.inertial
        v = x.d(x.points[0].r)
        a = (x.d(x.points[1].r) - v) / x.length  # velocity gained per unit along the bar's axis
        b = perpendicular(a)
        return mass * ca.dot(v, v) / 2 + mass * ca.dot(v, xg * a + yg * b) + inertia * ca.dot(a, a) / 2

    def weight(self, x: Any) -> Any:
        if not x.inertial:
            return 0.0
        mass, xg, yg, _ = x.inertial
        axis = (x.points[1].r - x.points[0].r) / x.length
        centre = x.points[0].r + xg * axis + yg * perpendicular(axis)
        return -mass * ca.dot(ca.vertcat(*x.gravity), centre)

    def on(self, point: Any, angle: Any = 0.0) -> Marker:
        """A marker in the axes of the link's first two points."""
        return self.carrier.on(point, angle)


def drawn_distance(a: Marker, b: Marker) -> Number:
    """How far two markers are apart in the drawn pose."""
    source = DrawnSource()
    return plain(ca.norm_2(b.symbolic(source).r - a.symbolic(source).r))
