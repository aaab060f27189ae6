"""A planar mechanism as plain data, and how the reference reads it.

Places are world points of the drawn pose, in which every plan is assembled. A part is named by its name, or "ground".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from planar import GROUND, HOLD, Law, Planar, Stop

Place = tuple[float, float]


@dataclass(frozen=True)
class Body:
    name: str
    mass: float
    inertia: float
    at: Place
    angle: float


@dataclass(frozen=True)
class Point:
    name: str
    at: Place
    mass: float | None = None
    fixed: bool = False


@dataclass(frozen=True)
class Bar:
    """Between two points; uniform, or without mass."""

    name: str
    first: str
    second: str
    mass: float | None = None


@dataclass(frozen=True)
class Joint:
    """kind: revolute, weld, translational, slot. A guide's line goes through ``at``, where j's point is."""

    kind: str
    i: str
    j: str
    at: Place
    axis: Place = (1.0, 0.0)


@dataclass(frozen=True)
class Link:
    """A rod between two points of parts; with a law its length is driven."""

    i: str
    a: Place
    j: str
    b: Place
    law: Law = HOLD


@dataclass(frozen=True)
class Gear:
    """kind: gear or belt (both by the ratio of radii, i's over j's, negative for wheels that turn oppositely)."""

    kind: str
    i: str
    j: str
    radii: Place
    opposite: bool
    carrier: str = "ground"


@dataclass(frozen=True)
class Rack:
    pinion: str
    rack: str
    radius: float
    axis: Place


@dataclass(frozen=True)
class Driver:
    """A coordinate of a body ("x", "y", "angle") that follows a law from its drawn value."""

    body: str
    coordinate: str
    law: Law


@dataclass(frozen=True)
class Slider:
    """A guide between i and j, along which j is displaced by a law."""

    i: str
    j: str
    at: Place
    axis: Place
    law: Law


@dataclass(frozen=True)
class Spring:
    i: str
    a: Place
    j: str
    b: Place
    stiffness: float
    length: float
    damping: float = 0.0
    force: float = 0.0


@dataclass(frozen=True)
class Torsion:
    i: str
    j: str
    stiffness: float
    angle: float
    damping: float = 0.0
    torque: float = 0.0


@dataclass(frozen=True)
class Load:
    """A force times cos(omega t)."""

    part: str
    at: Place
    force: Place
    follows: bool = False
    omega: float = 0.0


@dataclass(frozen=True)
class Torque:
    body: str
    torque: float
    omega: float = 0.0


@dataclass(frozen=True)
class Drag:
    """-c |v| v on a body: a user's own force."""

    body: str
    c: float


@dataclass(frozen=True)
class Cubic:
    """-k (angle - a)^3 on a body, a being its drawn angle: a user's own force."""

    body: str
    k: float
    angle: float


@dataclass(frozen=True)
class Limit:
    """A bump stop on a coordinate of a body, or on the distance of two points of parts."""

    quantity: tuple[Any, ...]
    limit: float
    stiffness: float
    damping: float
    side: str


@dataclass
class Plan:
    """A mechanism, its start and how long it runs."""

    family: str
    gravity: Place
    parts: list[Any] = field(default_factory=list)
    elements: list[Any] = field(default_factory=list)
    velocities: dict[str, float] = field(default_factory=dict)
    end: float = 1.0
    pace: float = 1.0
    """A rate of the motion: what counts as a velocity of one is the size of the mechanism times it."""
    stiff: bool = False
    """Whether the reference needs an implicit method."""

    def part(self, name: str) -> Any:
        return next(part for part in self.parts if part.name == name)

    def of(self, kind: type) -> list[Any]:
        return [each for each in (*self.parts, *self.elements) if isinstance(each, kind)]


class Reference(Planar):
    """A plan in maximal coordinates.

    Points and bars are read differently from Kempe, which has the coordinates of points: here a heavy bar is a body, a
    point with mass is a body too, and any other point is an end of a bar.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(np.array(plan.gravity))
        self.plan = plan
        self.bodies: dict[str, int] = {"ground": GROUND}
        self.carriers: dict[str, int] = {}
        for part in plan.of(Body):
            self.bodies[part.name] = self.body(part.mass, part.inertia, *part.at, part.angle)
        for part in plan.of(Point):
            if part.fixed:
                self.carriers[part.name] = GROUND
            elif part.mass is not None:
                self.carriers[part.name] = self.body(part.mass, part.mass * self._span() ** 2, *part.at, 0.0)
        for part in plan.of(Bar):
            if part.mass is not None:
                self._bar(part)
        for part in plan.of(Bar):
            if part.mass is None:
                a, b = (np.array(plan.part(name).at) for name in (part.first, part.second))
                ends = self.of_part(part.first, a), self.of_part(part.second, b)
                self.distance(*ends, float(np.hypot(*(b - a))))
        for element in plan.elements:
            getattr(self, "_" + type(element).__name__.lower())(element)
        #: Names of a coordinate and its rate in Kempe's results; body and marker or coordinate here.
        self.observed = [*self._observed()]
        self.ready()

    def _span(self) -> float:
        places = np.array([part.at for part in (*self.plan.of(Point), *self.plan.of(Body))])
        return float(np.ptp(places, axis=0).max())

    def _bar(self, bar: Bar) -> None:
        a, b = (np.array(self.plan.part(name).at) for name in (bar.first, bar.second))
        d = b - a
        body = self.body(bar.mass, bar.mass * float(d @ d) / 12, *((a + b) / 2), float(np.arctan2(d[1], d[0])))
        self.bodies[bar.name] = body
        for name, end in ((bar.first, a), (bar.second, b)):
            if name in self.carriers:
                self.pin(self.marker(self.carriers[name], end), self.marker(body, end))
            else:
                self.carriers[name] = body

    def of_part(self, name: str, at: Any) -> int:
        """A marker on a body, bar or point."""
        return self.marker(self.bodies[name] if name in self.bodies else self.carriers[name], np.asarray(at))

    def _observed(self):
        for part in self.plan.of(Body):
            for k, (q, v) in enumerate((("x", "vx"), ("y", "vy"), ("angle", "omega"))):
                yield f"{part.name}.{q}", f"{part.name}.{v}", self.marker(self.bodies[part.name], part.at), k
        for part in self.plan.of(Point):
            if not part.fixed:
                for k, (q, v) in enumerate((("x", "vx"), ("y", "vy"))):
                    yield f"{part.name}.{q}", f"{part.name}.{v}", self.of_part(part.name, part.at), k

    def seen(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What Kempe's result shows, from rows of q and v here: one column for each observed coordinate."""
        P, _, A = self._places(q)
        e, r = self._extended(v)[:, self.mb], self._extended(q)[:, self.mb]
        V = e[..., :2] + e[..., 2:] * A
        columns = [
            (r[:, marker, 2], e[:, marker, 2]) if k == 2 else (P[:, marker, k], V[:, marker, k])
            for _, _, marker, k in self.observed
        ]
        positions, velocities = (np.stack(part, axis=-1) for part in zip(*columns, strict=True))
        return positions, velocities

    @property
    def seen_unit(self) -> np.ndarray:
        """What counts as one in the columns of ``seen``."""
        return np.array([1.0 if k == 2 else self.size for *_, k in self.observed])

    # --- elements ---------------------------------------------------------------------------------------------------

    def _joint(self, joint: Joint) -> None:
        i, j = self.of_part(joint.i, joint.at), self.of_part(joint.j, joint.at)
        if joint.kind in ("revolute", "weld"):
            self.pin(i, j)
        else:
            x, y = np.asarray(joint.axis) / np.hypot(*joint.axis)
            self.slide(i, j, np.array([-y, x]))
        if joint.kind in ("translational", "weld"):
            self.linear({(self.bodies[joint.j], 2): 1.0, (self.bodies[joint.i], 2): -1.0})

    def _link(self, link: Link) -> None:
        length = float(np.hypot(*(np.array(link.b) - link.a)))
        self.distance(self.of_part(link.i, link.a), self.of_part(link.j, link.b), length, link.law)

    def _gear(self, gear: Gear) -> None:
        ratio = (-1 if gear.opposite else 1) * gear.radii[0] / gear.radii[1]
        i, j, c = (self.bodies[name] for name in (gear.i, gear.j, gear.carrier))
        self.linear({(j, 2): 1.0, (i, 2): -ratio, (c, 2): ratio - 1.0})

    def _rack(self, rack: Rack) -> None:
        x, y = np.asarray(rack.axis) / np.hypot(*rack.axis)
        i, j = self.bodies[rack.pinion], self.bodies[rack.rack]
        self.linear({(j, 0): x, (j, 1): y, (i, 0): -x, (i, 1): -y, (i, 2): -rack.radius})

    def _driver(self, driver: Driver) -> None:
        self.linear({(self.bodies[driver.body], ("x", "y", "angle").index(driver.coordinate)): 1.0}, driver.law)

    def _slider(self, slider: Slider) -> None:
        self._joint(Joint("translational", slider.i, slider.j, slider.at, slider.axis))
        axis = np.asarray(slider.axis) / np.hypot(*slider.axis)
        self.slide(self.of_part(slider.i, slider.at), self.of_part(slider.j, slider.at), axis, law=slider.law)

    def _spring(self, s: Spring) -> None:
        self.spring(self.of_part(s.i, s.a), self.of_part(s.j, s.b), s.stiffness, s.length, s.damping, s.force)

    def _torsion(self, s: Torsion) -> None:
        self.torsion(self.bodies[s.i], self.bodies[s.j], s.stiffness, s.angle, s.damping, s.torque)

    def _load(self, load: Load) -> None:
        self.load(self.of_part(load.part, load.at), np.array(load.force), load.follows, load.omega)

    def _torque(self, torque: Torque) -> None:
        self.torque(self.bodies[torque.body], torque.torque, torque.omega)

    def _drag(self, drag: Drag) -> None:
        self.drag(self.bodies[drag.body], drag.c)

    def _cubic(self, cubic: Cubic) -> None:
        self.cubic(self.bodies[cubic.body], cubic.k)

    def _limit(self, limit: Limit) -> None:
        kind, *where = limit.quantity
        if kind == "distance":
            i, a, j, b = where
            quantity = self.separation(self.of_part(i, a), self.of_part(j, b))
        else:
            quantity = self.component(self.bodies[where[0]], ("x", "y", "angle").index(kind))
        side = 1.0 if limit.side == "above" else -1.0
        self.stops.append(Stop(quantity, limit.limit, limit.stiffness, limit.damping, side))
