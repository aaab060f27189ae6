"""Rigid links in space made of the points and unit vectors a user names, which neighbours may share.

Points that two links share are a ball joint, a point and a vector a hinge, and so on: no joint is needed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import Element, Part, Positive
from kempe.elements.bodies import PAIRS, Euler
from kempe.elements.geometry import column, plain
from kempe.elements.links import Bar, RigidLink
from kempe.elements.numbers import Number, evaluate, number, positive, shown, vector
from kempe.elements.parts import Carrier, Component, Point
from kempe.elements.rotations import unit
from kempe.elements.sources import DrawnSource, Source
from kempe.elements.spatial import SPACE, PlacedInSpace
from kempe.errors import ModelError

#: Directions whose drawn angle is smaller than this are taken as parallel.
PARALLEL = 1e-3


class Vector(Part, Carrier):
    """A unit vector in natural coordinates: its three components are unknowns unless it is fixed."""

    space = SPACE
    holds = False

    def __init__(self, name: str, along: Any, fixed: bool = False, owner: Element | None = None) -> None:
        direction = unit(along, f"vector '{name}': along")
        self.direction: tuple[Number, ...] = tuple(plain(direction[k]) for k in range(3))
        self.fixed, self.owner = bool(fixed), owner
        self.channels = () if fixed else tuple((c, f"v{c}", f"a{c}") for c in "xyz")  # type: ignore[misc]
        super().__init__(name, () if fixed else self.direction)

    x = property(lambda self: Component(self, 0), doc="The x component as a quantity.")
    y = property(lambda self: Component(self, 1), doc="The y component as a quantity.")
    z = property(lambda self: Component(self, 2), doc="The z component as a quantity.")

    def kinds(self) -> list[str]:
        return ["direction"] * len(self.channels)

    def natural_scale(self) -> list[float]:
        return [1.0] * len(self.channels)

    def data(self) -> Iterable[Number]:
        return self.direction if self.fixed else ()

    def structure(self) -> Hashable:
        return (Vector, self.fixed)

    def frame(self, source: Source) -> PlacedInSpace:
        components = source.numbers(self.direction) if self.fixed else source.coordinates(self)
        return PlacedInSpace(self.name, ca.SX.zeros(3), (column(components),))

    def symbolic(self, source: Source) -> Any:
        return source.placed(self, self.frame(source)).u

    def virtual(self, coordinates: list[Any]) -> ca.SX:
        """A shift leaves it, a turn moves it by turn x n."""
        turned = -ca.skew(column(coordinates)) if coordinates else ca.SX(0, 3)
        return ca.horzcat(ca.SX(turned.shape[0], 3), turned)


class Rod(RigidLink):
    """A rigid bar in space between two points; it has no inertia about its own axis.

    Constant distance, (d.d - L^2)/2 = 0. ``centre`` is the distance of the centre of mass from the first point,
    ``inertia`` about the centre of mass and across the bar.
    """

    called = "bar"

    def __init__(
        self,
        name: str,
        points: tuple[Any, ...],
        *,
        length: Any = None,
        mass: Any = None,
        centre: Any = None,
        inertia: Any = None,
        gravity: Any = (0.0, 0.0, 0.0),
        stiffness: Any = None,
    ) -> None:
        what = f"bar '{name}'"
        self._check(what, points)
        a, b = (column(p.location) for p in points)
        span = positive(plain(ca.norm_2(b - a)) if length is None else length, f"{what}: length")
        inertial: list[Number] = []
        if mass is not None:
            m = positive(mass, f"{what}: mass")
            along = span / 2 if centre is None else number(centre, f"{what}: centre")
            central = m * span**2 / 12 if inertia is None else positive(inertia, f"{what}: inertia")
            inertial = [m, along, central + m * along**2]
        elif centre is not None or inertia is not None:
            raise ModelError(f"{what} has a centre of mass or an inertia, but no mass")
        self.carrier = Bar(name, points[0], points[1], span)
        self.points = points
        self.rows = ("length",)
        Element.__init__(
            self,
            name,
            points=list(points),
            length=Positive(span, f"{what}: length"),
            inertial=inertial,
            gravity=gravity if inertial else [],
        )
        self._has_inertia = bool(inertial)
        self.stiffen(stiffness)

    def phi(self, x: Any) -> list[Any]:
        d = x.points[1].r - x.points[0].r
        return [(ca.dot(d, d) - x.length**2) / 2]

    def kinetic(self, x: Any) -> Any:
        mass, along, inertia = x.inertial
        v = x.d(x.points[0].r)
        a = (x.d(x.points[1].r) - v) / x.length  # velocity gained per unit along the bar's axis
        return mass * ca.dot(v, v) / 2 + mass * along * ca.dot(v, a) + inertia * ca.dot(a, a) / 2

    def weight(self, x: Any) -> Any:
        if not x.inertial:
            return 0.0
        mass, along, _ = x.inertial
        first, second = (p.r for p in x.points)
        return -mass * ca.dot(column(x.gravity), first + along * (second - first) / x.length)


class Solid(Carrier):
    """A rigid link of points and vectors seen as something joints can sit on.

    Its origin is its first point, its axes are those of the world in the drawn pose. ``basis`` are three independent
    directions: further points, and unit vectors.
    """

    space = SPACE
    solid = True

    def __init__(self, name: str, origin: Point, basis: Sequence[Part], inverse: Sequence[Number]) -> None:
        self.name, self.origin, self.basis, self.inverse = name, origin, tuple(basis), tuple(inverse)

    def parts(self) -> Iterable[Part]:
        return [part for field in (self.origin, *self.basis) for part in field.parts()]

    def data(self) -> Iterable[Number]:
        return [*(c for field in (self.origin, *self.basis) for c in field.data()), *self.inverse]

    def structure(self) -> Hashable:
        return (Solid, tuple(field.structure() for field in (self.origin, *self.basis)))

    def frame(self, source: Source) -> PlacedInSpace:
        origin = self.origin.frame(source).r
        if isinstance(source, DrawnSource):
            return PlacedInSpace(self.name, origin, SPACE.ground("").axes)
        directions = [
            item.frame(source).r - origin if isinstance(item, Point) else item.symbolic(source) for item in self.basis
        ]
        inverse = source.numbers(self.inverse)
        axes = [sum(inverse[3 * i + k] * d for i, d in enumerate(directions)) for k in range(3)]
        return PlacedInSpace(self.name, origin, tuple(axes))

    def __repr__(self) -> str:
        return f"Solid({self.name!r})"


class RigidSolid(RigidLink):
    """The constraints and the inertia of a rigid link of points and unit vectors in space.

    Three directions d_1, d_2, d_3 (from the first point to others, and unit vectors; where there are too few, unit
    vectors of the link's own) span it: their products d_i . d_k stay as they are drawn. Every other point and vector of
    it is a fixed combination of them, and so is every material point: the mass matrix is constant. Conditions that a
    neighbour which shares the points has already are not stated twice.
    """

    called = "solid"
    keeps_rigid = True

    def __init__(
        self,
        name: str,
        items: tuple[Any, ...],
        *,
        mass: Any = None,
        centre: Any = None,
        inertia: Any = None,
        gravity: Any = (0.0, 0.0, 0.0),
        known: frozenset[Any] = frozenset(),
    ) -> None:
        what = f"solid '{name}'"
        points = tuple(item for item in items if isinstance(item, Point))
        vectors = tuple(item for item in items if isinstance(item, Vector))
        for item in items:
            if not isinstance(item, (Point, Vector)) or item.space is not SPACE:
                raise ModelError(f"{what} is made of points and vectors in space, not {shown(item)}")
        if len(set(items)) < len(items):
            raise ModelError(f"{what} names a point or vector twice")
        if not points:
            raise ModelError(f"{what} needs a point at least")
        origin, drawn = points[0], {item: _drawn(item, points[0]) for item in (*points[1:], *vectors)}
        basis = _independent(drawn)
        own: list[Vector] = []
        while len(basis) < 3:
            made = Vector(f"{name} e{len(own) + 1}", _across([drawn[item] for item in basis]), owner=self)
            own.append(made)
            drawn[made] = column(made.direction)
            basis.append(made)
        D = ca.horzcat(*[drawn[item] for item in basis])
        inverse = ca.inv(D)
        products = {(i, k): plain(ca.dot(D[:, i], D[:, k])) for i, k in PAIRS}
        self.conditions = {pair: _condition(origin, *(basis[k] for k in pair)) for pair in PAIRS}
        #: Which of the six it states: not those that a neighbour has, nor those between what is fixed.
        moves = {pair: any(basis[k].channels for k in pair) or origin.channels for pair in PAIRS}
        self.stated = tuple(p for p in PAIRS if self.conditions[p] not in known and moves[p])
        others = [item for item in drawn if item not in basis and item not in own]
        places = [[plain(c) for c in ca.vertsplit(ca.mtimes(inverse, drawn[item]))] for item in others]
        self.points, self.others, self.own = points, tuple(others), tuple(own)
        self.rows = (
            *(_row(basis[i], basis[k]) for i, k in self.stated),
            *(f"{item.name} {c}" for item in others for c in "xyz"),
        )
        self.carrier = Solid(name, origin, basis, [plain(inverse[i, k]) for i in range(3) for k in range(3)])  # type: ignore[assignment]
        inertial, self.flat = self._inertial(what, mass, centre, inertia, inverse)
        Element.__init__(
            self,
            name,
            origin=origin,
            basis=list(basis),
            products=[products[pair] for pair in PAIRS],
            others=others,
            places=places,
            inertial=inertial,
            gravity=gravity if inertial else [],
        )
        self._has_inertia = bool(inertial)

    aside = RigidLink.aside | {"others", "own", "conditions"}

    def _inertial(self, what: str, mass: Any, centre: Any, inertia: Any, inverse: ca.SX) -> tuple[list[Number], bool]:
        """Mass, first moments and second moments in the three directions."""
        if mass is None:
            if centre is not None or inertia is not None:
                raise ModelError(f"{what} has a centre of mass or an inertia, but no mass")
            return [], False
        if inertia is None:
            raise ModelError(f"{what}: give inertia= about its centre of mass, in its own axes, too")
        m = positive(mass, f"{what}: mass")
        g = column(vector((0.0, 0.0, 0.0) if centre is None else centre, f"{what}: centre", 3))
        euler = Euler(inertia, f"{what}: inertia")
        I = ca.vertcat(*[ca.horzcat(*[ca.SX(c) for c in row]) for row in euler.inertia])
        J = ca.trace(I) / 2 * ca.SX.eye(3) - I + m * ca.mtimes(g, g.T)
        first = m * ca.mtimes(inverse, g)
        second = ca.mtimes([inverse, J, inverse.T])
        numbers = [m, *ca.vertsplit(first), *(second[i, k] for i, k in PAIRS)]
        return [plain(c) for c in numbers], euler.flat

    def view(self, source: Source) -> Any:
        x = super().view(source)
        x.directions = [item.r - x.origin.r if hasattr(item, "r") else item for item in x.basis]
        return x

    def _all(self, x: Any) -> dict[tuple[int, int], Any]:
        found = {}
        for (i, k), product in zip(PAIRS, x.products, strict=True):
            found[i, k] = (ca.dot(x.directions[i], x.directions[k]) - product) / (2 if i == k else 1)
        return found

    def phi(self, x: Any) -> list[Any]:
        conditions = self._all(x)
        equations = [conditions[pair] for pair in self.stated]
        for item, place in zip(x.others, x.places, strict=True):
            here = sum(c * d for c, d in zip(place, x.directions, strict=True))
            gap = item.r - x.origin.r - here if hasattr(item, "r") else item - here
            equations += [gap[0], gap[1], gap[2]]
        return equations

    def kinetic(self, x: Any) -> Any:
        mass, first, second = x.inertial[0], x.inertial[1:4], x.inertial[4:]
        v, rates = x.d(x.origin.r), [x.d(d) for d in x.directions]
        energy = mass * ca.dot(v, v) / 2 + ca.dot(v, sum(c * rate for c, rate in zip(first, rates, strict=True)))
        for (i, k), entry in zip(PAIRS, second, strict=True):
            energy += entry * ca.dot(rates[i], rates[k]) / (2 if i == k else 1)
        if self.flat:  # (as in a flat body: zero in every motion)
            weight = second[0] + second[1] + second[2]
            energy += weight * ca.sumsqr(x.d(ca.vertcat(*self._all(x).values()))) / 2
        return energy

    def weight(self, x: Any) -> Any:
        if not x.inertial:
            return 0.0
        moment = sum(c * d for c, d in zip(x.inertial[1:4], x.directions, strict=True))
        return -ca.dot(column(x.gravity), x.inertial[0] * x.origin.r + moment)

    def row_kinds(self) -> Mapping[str, str]:
        return {}


def _drawn(item: Any, origin: Point) -> ca.SX:
    return column(item.direction) if isinstance(item, Vector) else column(item.location) - column(origin.location)


def _independent(drawn: Mapping[Any, ca.SX]) -> list[Any]:
    """Up to three items whose drawn directions are independent, in order."""
    chosen: list[Any] = []
    seen = np.zeros((0, 3))
    for item, direction in drawn.items():
        d = np.array(evaluate(ca.vertsplit(direction)), dtype=float)
        size = np.linalg.norm(d)
        if size == 0.0:
            continue
        rest = d / size - seen.T @ (seen @ (d / size))
        if np.linalg.norm(rest) > PARALLEL and len(chosen) < 3:
            chosen.append(item)
            seen = np.vstack([seen, rest / np.linalg.norm(rest)])
    return chosen


def _across(directions: Sequence[ca.SX]) -> list[float]:
    """A unit vector across those that are there."""
    known = np.array([evaluate(ca.vertsplit(d)) for d in directions], dtype=float).reshape(len(directions), 3)
    return [float(c) for c in np.linalg.svd(np.vstack([known, np.zeros((1, 3))]))[2][len(directions)]]


def _condition(origin: Point, first: Part, second: Part) -> Any:
    """A condition by what it is between, so that two links that share it state it once."""
    ends = [frozenset((origin, item)) if isinstance(item, Point) else item for item in (first, second)]
    return frozenset(ends)


def _row(first: Part, second: Part) -> str:
    if first is second:
        return f"{first.name} length".replace(".", " ")
    return f"{first.name} {second.name}".replace(".", " ")
