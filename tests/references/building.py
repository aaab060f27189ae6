"""The mechanism of a plan as a user of Kempe would write it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from planar import HOLD, Law
from plans import (
    Bar,
    Body,
    Cubic,
    Drag,
    Driver,
    Gear,
    Joint,
    Limit,
    Link,
    Load,
    Place,
    Plan,
    Point,
    Rack,
    Slider,
    Spring,
    Torque,
    Torsion,
)

import kempe as kp

Vary = Callable[[kp.Mechanism, Plan], Plan]


class _Builder:
    """Adds one part or element after the other."""

    def __init__(self, plan: Plan, vary: Vary | None = None) -> None:
        self.m = kp.Mechanism(plan.family, gravity=plan.gravity)
        plan = plan if vary is None else vary(self.m, plan)
        self.known: dict[str, Any] = {"ground": self.m.ground}
        self.points = {part.name for part in plan.of(Point)}
        for part in plan.parts:
            getattr(self, "_" + type(part).__name__.lower())(part)
        for number, element in enumerate(plan.elements):
            kind = type(element).__name__.lower()
            getattr(self, "_" + kind)(f"{kind} {number}", element)

    def _body(self, body: Body) -> None:
        self.known[body.name] = self.m.body(body.name, body.mass, body.inertia, at=body.at, angle=body.angle)

    def _point(self, point: Point) -> None:
        fixed = "xy" if point.fixed else ""
        self.known[point.name] = self.m.point(point.name, at=point.at, fixed=fixed, mass=point.mass)

    def _bar(self, bar: Bar) -> None:
        ends = self.known[bar.first], self.known[bar.second]
        mass = {} if bar.mass is None else {"mass": bar.mass}
        self.known[bar.name] = self.m.bar(bar.name, *ends, **mass)

    def _at(self, name: str, at: Place) -> Any:
        part = self.known[name]
        return part if name in self.points else part.at_world(at)

    @staticmethod
    def _law(law: Law) -> Any:
        if law.kind == "speed":
            return kp.constant_speed(*law.numbers)
        if law.kind == "harmonic":
            return kp.harmonic(*law.numbers)
        rise, duration, begin = law.numbers
        return kp.polynomial345(rise, duration, begin=begin)

    def _joint(self, name: str, joint: Joint) -> None:
        i, j = self.known[joint.i], self.known[joint.j]
        if joint.kind in ("revolute", "weld"):
            getattr(self.m, joint.kind)(name, i, j, at=joint.at)
        elif joint.kind == "slot":
            self.m.pin_in_slot(name, i, j, at=joint.at, axis=joint.axis)
        else:
            self.m.translational(name, i, j.at_world(joint.at), at=joint.at, axis=joint.axis)

    def _link(self, name: str, link: Link) -> None:
        ends = self._at(link.i, link.a), self._at(link.j, link.b)
        if link.law == HOLD:
            self.m.link(name, *ends)
        else:
            self.m.driver(name, kp.distance(*ends), self._law(link.law))

    def _gear(self, name: str, gear: Gear) -> None:
        i, j, carrier = (self.known[n] for n in (gear.i, gear.j, gear.carrier))
        given = {} if gear.carrier == "ground" else {"carrier": carrier}
        if gear.kind == "belt":
            self.m.belt(name, i, j, radii=gear.radii, crossed=gear.opposite, **given)
        else:
            self.m.gear(name, i, j, teeth=gear.radii, internal=not gear.opposite, **given)

    def _rack(self, name: str, rack: Rack) -> None:
        self.m.rack_and_pinion(name, self.known[rack.pinion], self.known[rack.rack], radius=rack.radius, axis=rack.axis)

    def _driver(self, name: str, driver: Driver) -> None:
        self.m.driver(name, getattr(self.known[driver.body], driver.coordinate), self._law(driver.law))

    def _slider(self, name: str, slider: Slider) -> None:
        j = self.known[slider.j].at_world(slider.at)
        guide = self.m.translational(name + " guide", self.known[slider.i], j, at=slider.at, axis=slider.axis)
        self.m.driver(name, guide.displacement, self._law(slider.law))

    def _spring(self, name: str, s: Spring) -> None:
        ends = self._at(s.i, s.a), self._at(s.j, s.b)
        self.m.spring(name, *ends, stiffness=s.stiffness, length=s.length, damping=s.damping, force=s.force)

    def _torsion(self, name: str, s: Torsion) -> None:
        ends = self.known[s.i], self.known[s.j]
        self.m.torsion_spring(name, *ends, stiffness=s.stiffness, angle=s.angle, damping=s.damping, torque=s.torque)

    @staticmethod
    def _swung(value: float, omega: float) -> Any:
        return value if omega == 0.0 else lambda t: value * kp.cos(omega * t)

    def _load(self, name: str, load: Load) -> None:
        part = self.known[load.part]
        force = tuple(self._swung(f, load.omega) for f in load.force)
        if load.part in self.points:
            self.m.force(name, part, force)
        else:
            self.m.force(name, part, force, at=load.at, frame="body" if load.follows else "world")

    def _torque(self, name: str, torque: Torque) -> None:
        self.m.torque(name, self.known[torque.body], self._swung(torque.torque, torque.omega))

    def _drag(self, name: str, drag: Drag) -> None:
        def air(b: Any) -> Any:
            speed = kp.sqrt(b.vx**2 + b.vy**2 + 1e-300)
            return (-drag.c * speed * b.vx, -drag.c * speed * b.vy, 0.0)

        self.m.user_force(name, air, self.known[drag.body])

    def _cubic(self, name: str, cubic: Cubic) -> None:
        self.m.user_force(name, lambda b: (0.0, 0.0, -cubic.k * (b.angle - cubic.angle) ** 3), self.known[cubic.body])

    def _limit(self, name: str, limit: Limit) -> None:
        kind, *where = limit.quantity
        if kind == "distance":
            i, a, j, b = where
            quantity = kp.distance(self._at(i, a), self._at(j, b))
        else:
            quantity = getattr(self.known[where[0]], kind)
        self.m.bump_stop(name, quantity, limit.limit, limit.stiffness, damping=limit.damping, side=limit.side)


def mechanism(plan: Plan, vary: Vary | None = None) -> kp.Mechanism:
    """A plan as a mechanism of Kempe; ``vary`` may put design parameters of it into the plan."""
    return _Builder(plan, vary).m
