"""A mechanism with friction and contacts as plain data, and what Kempe and the reference make of it.

Places are world points of the start. Contacts and joints have the names under which their modes are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import moreau
import numpy as np
import rigid

import kempe as kp

Place = tuple[float, float]


@dataclass(frozen=True)
class Body:
    """A rigid body at its centre of mass, with its velocity."""

    name: str
    mass: float
    inertia: float
    at: Place
    angle: float = 0.0


@dataclass(frozen=True)
class Rubbing:
    """Dry friction: coefficients, the radius of a pin, the distance of two pads of a guide."""

    kinetic: float
    static: float
    radius: float = 0.1
    pads: float = 0.0

    def law(self) -> Any:
        return kp.Coulomb(self.kinetic, self.static)

    def reference(self) -> rigid.Friction:
        return rigid.Friction(self.kinetic, self.static, self.radius, self.pads)


@dataclass(frozen=True)
class Joint:
    """A joint of kind "revolute", "guide" or "slot"."""

    name: str
    kind: str
    i: str
    j: str
    at: Place
    axis: Place = (1.0, 0.0)
    friction: Rubbing | None = None


@dataclass(frozen=True)
class Motor:
    """A body turned relative to the ground by offset + speed t + a sin(omega t), counted from its start."""

    name: str
    j: str
    speed: float
    amplitude: float = 0.0
    omega: float = 1.0

    def law(self, t: float) -> tuple[float, float]:
        swing, beat = self.amplitude, self.omega
        return self.speed * t + swing * math.sin(beat * t), self.speed + swing * beat * math.cos(beat * t)


@dataclass(frozen=True)
class Belt:
    """Friction of a body with a belt of given speed along an axis, pressed by a given force."""

    name: str
    j: str
    axis: Place
    friction: Rubbing
    normal: float
    speed: float


@dataclass(frozen=True)
class Spring:
    """A spring and damper between two world points of the start; ``length`` is its free one."""

    name: str
    i: str
    a: Place
    j: str
    b: Place
    stiffness: float
    length: float
    damping: float = 0.0


@dataclass(frozen=True)
class Torsion:
    """A torsion spring and damper between the ground and a body; ``angle`` is free of torque."""

    name: str
    j: str
    stiffness: float
    angle: float
    damping: float = 0.0


@dataclass(frozen=True)
class Push:
    """A torque M sin(omega t) on a body and a force F sin(omega t) along an axis on its centre."""

    name: str
    j: str
    torque: float
    force: Place
    omega: float


@dataclass(frozen=True)
class Line:
    """A point of j, or a circle about it, on the left of a line of i."""

    name: str
    i: str
    at: Place
    axis: Place
    j: str
    point: Place
    radius: float = 0.0
    restitution: float = 0.0
    friction: Rubbing | None = None


@dataclass(frozen=True)
class Circles:
    """Circles about the centres of two bodies, or about a place of the ground; the second may be inside."""

    name: str
    i: str
    at: Place
    j: str
    radii: tuple[float, float]
    inside: bool = False
    restitution: float = 0.0
    friction: Rubbing | None = None


@dataclass(frozen=True)
class Stop:
    """A rigid stop of an angle to the ground, of x or of y; ``side`` is where it acts."""

    name: str
    j: str
    kind: str
    limit: float
    side: str
    restitution: float = 0.0
    friction = None


@dataclass
class Plan:
    """All of a mechanism, its start velocities and how long it is followed."""

    family: str
    gravity: Place
    bodies: list[Body] = field(default_factory=list)
    elements: list[Any] = field(default_factory=list)
    velocities: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    end: float = 1.0
    open_ended: bool = False
    """More joints stick than the mechanism has freedoms, and let go above their kinetic friction: when they do depends
    on how they share the load, which rigid bodies do not say."""

    def body(self, name: str) -> Body:
        return next(body for body in self.bodies if body.name == name)

    def of(self, kind: Any) -> list[Any]:
        return [element for element in self.elements if isinstance(element, kind)]

    @property
    def rubbing(self) -> list[str]:
        """The names of all that has friction."""
        return [e.name for e in self.elements if getattr(e, "friction", None) is not None]

    @property
    def contacts(self) -> list[Any]:
        return self.of((Line, Circles, Stop))

    @property
    def size(self) -> float:
        """The largest extent at the start."""
        places = np.array([(0.0, 0.0), *(body.at for body in self.bodies)])
        return float(np.ptp(places, axis=0).max()) + 0.2

    def start_names(self) -> dict[str, float]:
        """The start velocities under Kempe's names."""
        return {
            f"{body}.{rate}": v
            for body, given in self.velocities.items()
            for rate, v in zip(("vx", "vy", "omega"), given, strict=True)
        }


# --- the reference ----------------------------------------------------------------------------------------------------


def reference(plan: Plan) -> moreau.Bodies:
    """The mechanism of a plan for the reference."""
    m = moreau.Bodies(plan.gravity)
    number = {"ground": rigid.GROUND}
    for body in plan.bodies:
        velocity = plan.velocities.get(body.name, (0.0, 0.0, 0.0))
        number[body.name] = m.body(body.mass, body.inertia, (*body.at, body.angle), velocity)
    turned = {"ground": 0.0, **{body.name: body.angle for body in plan.bodies}}

    def axes(name: str, d: Place) -> Place:
        """A world direction of the start in the axes of a body, of unit length."""
        c, s, size = math.cos(turned[name]), math.sin(turned[name]), math.hypot(*d)
        return ((c * d[0] + s * d[1]) / size, (-s * d[0] + c * d[1]) / size)

    for e in plan.elements:
        i, j = number[getattr(e, "i", "ground")], number[e.j]
        friction = e.friction.reference() if getattr(e, "friction", None) else None
        if isinstance(e, Joint) and e.kind == "revolute":
            m.joints.append(rigid.Pin(i, m.local(i, e.at), j, m.local(j, e.at), friction, e.name))
        elif isinstance(e, Joint):
            keeps, turn = e.kind == "guide", turned[e.j] - turned[e.i]
            ends = m.local(i, e.at), axes(e.i, e.axis), j, m.local(j, e.at)
            m.joints.append(rigid.Guide(i, *ends, turn, friction, keeps, e.name))
        elif isinstance(e, Motor):
            m.joints.append(rigid.Motor(rigid.GROUND, j, _offset(e, turned[e.j]), e.name))
        elif isinstance(e, Belt):
            m.rubs.append(rigid.Rub(j, axes("ground", e.axis), friction, e.normal, e.speed, e.name))
        elif isinstance(e, Spring):
            m.springs.append(rigid.Spring(i, m.local(i, e.a), j, m.local(j, e.b), e.stiffness, e.length, e.damping))
        elif isinstance(e, Torsion):
            m.torsions.append(rigid.Torsion(rigid.GROUND, j, e.stiffness, e.angle, e.damping))
        elif isinstance(e, Push):
            m.loads.append(rigid.Load(j, _pushing(e)))
        elif isinstance(e, Line):
            ends = m.local(i, e.at), axes(e.i, e.axis), j, m.local(j, e.point)
            m.contacts.append(rigid.OnLine(i, *ends, e.radius, e.restitution, friction, e.name))
        elif isinstance(e, Circles):
            on = e.at if e.i == "ground" else (0.0, 0.0)
            m.contacts.append(rigid.Circles(i, on, j, (0, 0), e.radii, e.inside, e.restitution, friction, e.name))
        elif isinstance(e, Stop):
            free = -1.0 if e.side == "above" else 1.0
            d = {"angle": None, "x": (1.0, 0.0), "y": (0.0, 1.0)}[e.kind]
            m.contacts.append(rigid.Limit(rigid.GROUND, j, e.limit, free, d, e.restitution, e.name))
    return m


def _offset(motor: Motor, start: float) -> Any:
    def law(t: float) -> tuple[float, float]:
        turn, rate = motor.law(t)
        return start + turn, rate

    return law


def _pushing(push: Push) -> Any:
    def load(t: float) -> tuple[float, float, float]:
        s = math.sin(push.omega * t)
        return push.force[0] * s, push.force[1] * s, push.torque * s

    return load


# --- Kempe ------------------------------------------------------------------------------------------------------------


def mechanism(plan: Plan, vary: Callable[[kp.Mechanism, Plan], Plan] | None = None) -> kp.Mechanism:
    """The mechanism of a plan as a user of Kempe would write it; ``vary`` may put design parameters into the plan."""
    m = kp.Mechanism(plan.family, gravity=plan.gravity)
    plan = plan if vary is None else vary(m, plan)
    part: dict[str, Any] = {"ground": m.ground}
    for body in plan.bodies:
        part[body.name] = m.body(body.name, body.mass, body.inertia, at=body.at, angle=body.angle)
    for e in plan.elements:
        i, j = part[getattr(e, "i", "ground")], part[e.j]
        friction: dict[str, Any] = {"friction": e.friction.law()} if getattr(e, "friction", None) else {}
        if isinstance(e, Joint) and e.kind == "revolute":
            radius = {"radius": e.friction.radius} if e.friction else {}
            m.revolute(e.name, i, j, at=e.at, **friction, **radius)
        elif isinstance(e, Joint) and e.kind == "guide":
            pads = {"length": e.friction.pads} if e.friction and e.friction.pads else {}
            m.translational(e.name, i, j.at_world(e.at), at=e.at, axis=e.axis, **friction, **pads)
        elif isinstance(e, Joint):
            m.pin_in_slot(e.name, i, j, at=e.at, axis=e.axis, **friction)
        elif isinstance(e, Motor):
            m.driver(e.name, j.angle, _law(e, plan.body(e.j).angle))
        elif isinstance(e, Belt):
            size = math.hypot(*e.axis)
            along = e.axis[0] / size * j.x + e.axis[1] / size * j.y if e.axis[1] else j.x
            m.friction(e.name, along, normal=e.normal, speed=e.speed, **friction)
        elif isinstance(e, Spring):
            ends = i.at_world(e.a), j.at_world(e.b)
            m.spring(e.name, *ends, stiffness=e.stiffness, length=e.length, damping=e.damping)
        elif isinstance(e, Torsion):
            m.torsion_spring(e.name, m.ground, j, stiffness=e.stiffness, angle=e.angle, damping=e.damping)
        elif isinstance(e, Push):
            m.user_force(e.name, _shaking(e), j)
        elif isinstance(e, Line):
            given = {"axis": e.axis, "at": e.at, "on_j": _own(plan, e.j, e.point), "restitution": e.restitution}
            if e.radius:
                m.circle_line_contact(e.name, i, j, radius=e.radius, **given, **friction)
            else:
                m.point_line_contact(e.name, i, j, **given, **friction)
        elif isinstance(e, Circles):
            on = e.at if e.i == "ground" else (0.0, 0.0)
            given = {"radii": e.radii, "inside": e.inside, "restitution": e.restitution}
            m.circle_contact(e.name, i, j, on_i=on, **given, **friction)
        elif isinstance(e, Stop):
            m.stop(e.name, getattr(j, e.kind), e.limit, side=e.side, restitution=e.restitution)
    return m


def _own(plan: Plan, name: str, at: Place) -> Place:
    body = plan.body(name)
    c, s, dx, dy = math.cos(body.angle), math.sin(body.angle), at[0] - body.at[0], at[1] - body.at[1]
    return (c * dx + s * dy, -s * dx + c * dy)


def _law(motor: Motor, start: float) -> Any:
    return lambda t: start + motor.speed * t + motor.amplitude * kp.sin(motor.omega * t)


def _shaking(push: Push) -> Any:
    def load(body: Any, t: Any) -> tuple[Any, Any, Any]:
        s = kp.sin(push.omega * t)
        return push.force[0] * s, push.force[1] * s, push.torque * s

    return load


def coordinates(plan: Plan) -> list[str]:
    """The names of all coordinates, in the order of the reference."""
    return [f"{body.name}.{c}" for body in plan.bodies for c in ("x", "y", "angle")]


def rates(plan: Plan) -> list[str]:
    """The names of all velocities, in the same order."""
    return [f"{body.name}.{c}" for body in plan.bodies for c in ("vx", "vy", "omega")]
