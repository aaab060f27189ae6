"""Every element: exact derivatives, the same equations wherever it is drawn, one kernel for all of its kind.

A new element with a constraint needs an example here; ``test_every_element_has_an_example`` says which one is missing.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pytest

import kempe as kp
from kempe import elements as el
from kempe.elements.contacts import RigidContact, SurfaceContact
from kempe.elements.curves import Contact
from kempe.simulation.posing import Posed
from kempe.system.families import Family, family_of

# --- the examples -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawing:
    """Where on the paper a mechanism is drawn: scaled, turned and shifted."""

    scale: float = 1.0
    turn: float = 0.0
    shift: tuple[float, float] = (0.0, 0.0)

    @property
    def rotation(self) -> np.ndarray:
        c, s = np.cos(self.turn), np.sin(self.turn)
        return np.array([[c, -s], [s, c]])

    def __call__(self, x: float, y: float) -> np.ndarray:
        """The world place of a point of the drawing."""
        return self.shift + self.scale * self.rotation @ [x, y]

    def along(self, x: float, y: float) -> np.ndarray:
        """The world direction of a direction of the drawing."""
        return self.rotation @ [x, y]

    def space(self, x: float, y: float, z: float) -> np.ndarray:
        """The same for a drawing in space, which is turned about z."""
        return np.append(self(x, y), self.scale * z)

    def along_space(self, x: float, y: float, z: float) -> np.ndarray:
        return np.append(self.along(x, y), z)

    @property
    def turned(self) -> kp.Rotation:
        return kp.Rotation.about("z", self.turn)


@dataclass(frozen=True)
class Example:
    """A mechanism with one element to look at; ``world`` says that it refers to the world's axes or origin."""

    of: type[el.Element]
    build: Callable[[Drawing], tuple[Any, el.Element]]
    world: bool = False


EXAMPLES: dict[str, Example] = {}


def example(of: type[el.Element], world: bool = False) -> Callable[[Callable], Callable]:
    def register(build: Callable[[Drawing], tuple[Any, el.Element]]) -> Callable:
        EXAMPLES[build.__name__] = Example(of, build, world)
        return build

    return register


def bodies(d: Drawing) -> tuple[kp.Mechanism, el.Body, el.Body, el.Body]:
    m = kp.Mechanism("three bodies")
    a = m.body("a", at=d(0.3, 0.1), angle=d.turn + 0.4)
    b = m.body("b", at=d(1.1, 0.7), angle=d.turn - 0.3)
    c = m.body("c", at=d(-0.4, 0.9), angle=d.turn + 1.1)
    return m, a, b, c


def bars(d: Drawing) -> tuple[kp.Mechanism, el.Bar, el.Bar]:
    """Two bars, of which the first has an end on the ground."""
    m = kp.Mechanism("two bars")
    places = {"O": (0.2, -0.1), "A": (0.6, 0.8), "B": (1.7, 0.3), "C": (1.2, -0.6)}
    o, a, b, c = (m.point(name, d(*place), fixed="xy" if name == "O" else "") for name, place in places.items())
    return m, m.bar("OA", o, a), m.bar("BC", b, c)


@example(el.Revolute)
def revolute(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.revolute("J", a, b, at=d(0.8, 0.2))


@example(el.Revolute)
def revolute_on_the_ground(d: Drawing) -> Any:
    m, a, _, _ = bodies(d)
    return m, m.revolute("J", m.ground, a, at=d(-0.2, 0.5))


@example(el.Revolute)
def revolute_of_bar_and_body(d: Drawing) -> Any:
    m, bar, _ = bars(d)
    body = m.body("body", at=d(0.9, 0.9), angle=d.turn + 0.3)
    return m, m.revolute("J", bar, body, at=d(0.4, 0.4))


@example(el.Translational)
def translational(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.translational("J", a, b, axis=d.along(0.6, 0.8), at=d(0.5, 0.5))


@example(el.Translational)
def translational_on_the_ground(d: Drawing) -> Any:
    m, a, _, _ = bodies(d)
    return m, m.translational("J", m.ground, a, axis=d.along(0.8, -0.6))


@example(el.Translational)
def translational_along_a_bar(d: Drawing) -> Any:
    m, bar, _ = bars(d)
    body = m.body("body", at=d(0.5, 0.5), angle=d.turn + 0.3)
    return m, m.translational("J", bar, body, axis=d.along(0.4, 0.9))


@example(el.Weld)
def weld(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.weld("J", a, b)


@example(el.Weld)
def weld_of_two_bars(d: Drawing) -> Any:
    m, first, second = bars(d)
    return m, m.weld("J", first, second, at=d(1.0, 0.1))


@example(el.PinInSlot)
def pin_in_slot(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.pin_in_slot("J", a, b, at=d(0.9, 0.4), axis=d.along(0.3, 1.0))


@example(el.Link)
def link(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.link("J", a, b, on_i=(0.1 * d.scale, 0.2 * d.scale), on_j=(-0.3 * d.scale, 0.0))


@example(el.Link)
def link_of_a_point(d: Drawing) -> Any:
    m, a, _, _ = bodies(d)
    return m, m.link("J", m.point("P", d(0.9, 0.9)), a, on_j=(0.1 * d.scale, 0.2 * d.scale))


@example(el.RigidLink)
def bar(d: Drawing) -> Any:
    m, _, _ = bars(d)
    return m, m.elements["OA"]


@example(el.RigidLink)
def plate(d: Drawing) -> Any:
    m = kp.Mechanism("plate")
    points = [m.point(f"P{k}", d(*at)) for k, at in enumerate([(0.1, 0.2), (1.2, 0.4), (0.7, 1.1), (-0.3, 0.8)])]
    m.plate("plate", *points, mass=2.0, centre=(0.5 * d.scale, 0.2 * d.scale), inertia=0.3)
    return m, m.elements["plate"]


@example(el.Gear)
def gear(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.gear("J", a, b, ratio=-0.4 * d.scale)


@example(el.Gear)
def planetary_gear(d: Drawing) -> Any:
    m, a, b, c = bodies(d)
    return m, m.gear("J", a, b, teeth=(21, 55), internal=True, carrier=c)


@example(el.Gear)
def gear_with_centres(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.gear("J", a, b, ratio=-0.4 * d.scale, on_i=(0.1, 0.2), on_j=(0.3, -0.1))


@example(el.Gear)
def planetary_gear_with_centres(d: Drawing) -> Any:
    m, a, b, c = bodies(d)
    return m, m.gear("J", a.on((0.1, 0.0)), b, radii=(0.2, 0.5 * d.scale), internal=True, carrier=c)


@example(el.Gear)
def gear_on_a_ring_that_is_the_ground(d: Drawing) -> Any:
    m, a, _, c = bodies(d)
    return m, m.gear("J", m.ground, a, teeth=(50, 21), internal=True, carrier=c, on_i=d(0.2, -0.6))


@example(el.Belt)
def belt_with_centres(d: Drawing) -> Any:
    m, a, b, c = bodies(d)
    return m, m.belt("J", a, b, radii=(0.2 * d.scale, 0.3), on_i=(0.05, 0.0), preload=0.4, carrier=c)


@example(el.Belt)
def belt(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.belt("J", a, b, radii=(0.2 * d.scale, 0.3), crossed=True)


@example(el.RackAndPinion)
def rack_and_pinion(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.rack_and_pinion("J", a, b, radius=0.2 * d.scale, axis=d.along(1.0, 0.2))


@example(el.RackAndPinion)
def rack_and_pinion_on_a_carriage(d: Drawing) -> Any:
    m, a, b, c = bodies(d)
    return m, m.rack_and_pinion("J", a, b, radius=0.2 * d.scale, axis=d.along(1.0, 0.2), frame=c)


@example(el.RackAndPinion)
def rack_and_pinion_beside_its_origin(d: Drawing) -> Any:
    m, a, _, _ = bodies(d)
    return m, m.rack_and_pinion("J", a, m.ground, radius=-0.2 * d.scale, axis=d.along(1.0, 0.2), on_i=(0.1, 0.1))


@example(el.RackAndPinion)
def rack_that_is_a_bar(d: Drawing) -> Any:
    m, _, bar = bars(d)
    pinion = m.body("body", at=d(0.9, 0.9), angle=d.turn + 0.3)
    return m, m.rack_and_pinion("J", pinion, bar, radius=0.2 * d.scale, axis=d.along(1.0, 0.2), frame=m.ground)


@example(el.RackAndPinion, world=True)
def rack_that_is_a_point(d: Drawing) -> Any:
    m, a, _, _ = bodies(d)
    return m, m.rack_and_pinion("J", a, m.point("P", at=d(0.6, 0.9)), radius=0.2 * d.scale, axis=d.along(1.0, 0.2))


@example(el.Coupler)
def coupler(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    across = kp.distance(a.on((0.1, 0.0)), b)
    return m, m.coupler("J", [(1.0, kp.angle(a, b)), (-0.7 * d.scale, across), (0.2, m.coordinate("z", 0.4))])


@example(el.PointOnCurve)
def point_on_curve(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    size = m.parameter("size", 0.5 * d.scale)
    ellipse = kp.curve(lambda s: (size * kp.cos(s), 1.5 * size * kp.sin(s)))
    return m, m.point_on_curve("J", a, b, curve=ellipse, on_j=(0.05 * d.scale, 0.1 * d.scale))


@example(el.PointOnCurve)
def point_on_spline(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    track = kp.curve_through(d.scale * np.array([(-0.5, 0.1), (0.2, 0.5), (0.9, 0.2), (1.5, 0.9)]))
    return m, m.point_on_curve("J", a, b, curve=track)


@example(el.CamRoller)
def cam_roller(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    size = m.parameter("size", 0.5 * d.scale)
    disk = kp.polar(lambda s: size * (1 + 0.2 * kp.cos(2 * s)))
    return m, m.cam_roller("J", a, b, profile=disk, radius=0.1 * d.scale)


@example(el.CamRoller)
def cam_roller_on_a_spline(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    ring = d.scale * np.array([(0.5, 0.0), (0.1, 0.6), (-0.4, 0.1), (-0.1, -0.5)])
    return m, m.cam_roller("J", a, b, profile=kp.curve_through(ring, closed=True), radius=0.1 * d.scale)


@example(el.CamFlat)
def cam_flat(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    size = m.parameter("size", 0.5 * d.scale)
    disk = kp.polar(lambda s: size * (1 + 0.2 * kp.cos(s)))
    return m, m.cam_flat("J", a, b, profile=disk, axis=d.along(-0.6, 0.8))


@example(el.CamRoller)
def cam_roller_that_lifts_off(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    size = m.parameter("size", 0.5 * d.scale)
    disk = kp.polar(lambda s: size * (1 + 0.2 * kp.cos(2 * s)))
    return m, m.cam_roller("J", a, b, profile=disk, radius=0.1 * d.scale, lift_off=True, restitution=0.3 * d.turn**2)


@example(el.CamFlat)
def cam_flat_that_lifts_off(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    size = m.parameter("size", 0.5 * d.scale)
    disk = kp.polar(lambda s: size * (1 + 0.2 * kp.cos(s)))
    return m, m.cam_flat("J", a, b, profile=disk, axis=d.along(-0.6, 0.8), lift_off=True)


@example(el.PointOnCurve)
def point_that_leaves_a_spline(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    track = kp.curve_through(d.scale * np.array([(-0.5, 0.1), (0.2, 0.5), (0.9, 0.2), (1.5, 0.9)]))
    return m, m.point_on_curve("J", a, b, curve=track, lift_off=True)


@example(el.CurveContact)
def curve_contact(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    size = m.parameter("size", 0.5 * d.scale)
    ellipse = kp.curve(lambda s: (size * kp.cos(s), 1.5 * size * kp.sin(s)))
    return m, m.curve_contact("J", a, b, curve=ellipse, stiffness=1e3, damping=3.0, radius=0.1 * d.scale)


@example(el.UserConstraint, world=True)
def constraint_from_a_table(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    grid = d.scale * np.linspace(-8.0, 8.0, 30)
    lift = kp.table(grid, d.scale * np.sin(grid / d.scale), outside="extrapolate")
    bent = kp.table(grid, grid, np.sin(grid / d.scale)[:, None] * np.cos(grid / d.scale), outside="hold")
    return m, m.constraint("J", lambda i, j: [j.y - lift(i.x - j.x), bent(i.x, lift(j.y))], a, b)


@example(el.CurveContact)
def roller_that_rubs_on_a_curve(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    size = m.parameter("size", 0.5 * d.scale)
    disk = kp.polar(lambda s: size * (1 + 0.2 * kp.cos(2 * s)))
    law, friction = kp.Hertz(1e3), kp.RooneyDeravi(0.3, speed=0.1 * d.scale)
    return m, m.curve_contact("J", a, b, curve=disk, radius=0.1 * d.scale, contact=law, friction=friction)


@example(el.Driver)
def driven_angle(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.driver("J", m.revolute("pin", a, b, at=d(0.8, 0.2)).angle, kp.harmonic(0.3 * d.scale, 1.2, 0.2))


@example(el.Driver)
def driven_angle_of_bars(d: Drawing) -> Any:
    m, first, second = bars(d)
    return m, m.driver("J", kp.angle(first, second), kp.constant_speed(0.3 * d.scale))


@example(el.Driver)
def driven_distance(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.driver("J", kp.distance(a, b), kp.cycloidal(0.3 * d.scale, 2.0, -0.4))


@example(el.Driver)
def driven_displacement(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    guide = m.translational("guide", a, b, axis=d.along(0.6, 0.8))
    law = kp.spline([0, 0.3, 0.9, 1.4], d.scale * np.array([0.0, 0.2, 0.1, 0.4]))
    return m, m.driver("J", guide.displacement, law)


@example(el.Driver, world=True)
def driven_coordinate(d: Drawing) -> Any:
    m, a, _, _ = bodies(d)
    reach = m.parameter("reach", 0.4 * d.scale)
    return m, m.driver("J", a.x, lambda t: reach * kp.cos(1.5 * t) + kp.if_else(t > 0.1, t**2, 0))


@example(el.PointDriver, world=True)
def driven_point(d: Drawing) -> Any:
    m, a, _, _ = bodies(d)
    laws = kp.constant_acceleration(0.3 * d.scale, 0.1), kp.polynomial345(0.5, 2.0, -0.3)
    return m, m.point_driver("J", a.on((0.2 * d.scale, 0.1)), *laws)


@example(el.UserConstraint)
def user_constraint(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    share = m.parameter("share", 0.3 * d.scale)

    def equations(i: Any, j: Any, tip: Any, t: Any) -> list[Any]:
        gap = i.point((0.3, 0.1)) - tip.r
        stretch = kp.sqrt(ca.dot(gap, gap)) - share
        return [kp.if_else(stretch > 0, stretch**3, kp.log(stretch)) - t**2, kp.tanh(j.angle - i.angle) * share]

    return m, m.constraint("J", equations, a, b, b.on((0.2 * d.scale, 0.0)))


@example(el.AngleCoordinate)
def counted_angle(d: Drawing) -> Any:
    m, first, second = bars(d)
    m.angle("J", first, second)
    return m, m.elements["J"]


@example(el.Revolute)
def revolute_with_friction(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.revolute("J", a, b, at=d(0.8, 0.2), friction=0.3, radius=0.1 * d.scale)


@example(el.Revolute)
def revolute_of_bars_with_friction(d: Drawing) -> Any:
    m, first, second = bars(d)
    return m, m.revolute("J", first, second, at=d(1.0, 0.1), friction=kp.Coulomb(0.3, 0.4), radius=0.1 * d.scale)


@example(el.Translational)
def translational_with_friction(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.translational("J", a, b, axis=d.along(0.6, 0.8), friction=0.3, length=0.2 * d.scale)


@example(el.PinInSlot)
def pin_in_slot_with_friction(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.pin_in_slot("J", a, b, at=d(0.9, 0.4), axis=d.along(0.3, 1.0), friction=kp.Coulomb(0.1 * d.scale))


@example(el.Revolute)
def revolute_with_bristles(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.revolute("J", a, b, at=d(0.8, 0.2), friction=kp.LuGre(0.2, 0.3, 0.1, 10.0 * d.scale), radius=0.1)


@example(el.PointLineContact)
def point_on_a_line(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.point_line_contact("J", a, b, axis=d.along(0.6, 0.8), at=d(0.5, 0.5), restitution=0.3 * d.turn**2)


@example(el.PointLineContact)
def point_on_a_line_with_friction(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.point_line_contact("J", a, b, axis=d.along(-1, 0), on_j=(0.1 * d.scale, 0), friction=0.3, law="poisson")


@example(el.CircleLineContact)
def wheel_on_a_line(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.circle_line_contact("J", a, b, radius=0.2 * d.scale, axis=d.along(0.6, 0.8), friction=0.3)


@example(el.CircleContact)
def circles(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.circle_contact("J", a, b, radii=(0.8 * d.scale, 0.5), on_j=(0.1 * d.scale, 0.0), friction=0.3)


@example(el.CircleContact)
def circle_in_a_ring(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.circle_contact("J", a, b, radii=(0.9 * d.scale, 0.3), inside=True, friction=0.3)


@example(el.CircleContact)
def smooth_circles(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.circle_contact("J", a, b, radii=(0.8 * d.scale, 0.5), restitution=0.8)


@example(el.LooseRevolute)
def revolute_with_backlash(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    places = {"on_i": (0.1 * d.scale, 0.0), "on_j": (0.3 * d.scale, 0.0)}
    return m, m.revolute("J", a, b, **places, backlash=0.05 * d.scale, friction=0.2, radius=0.1)


@example(el.PointLineContact)
def corner_of_a_slider_with_backlash(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    size = {"length": 0.2 * d.scale, "width": 0.1}
    guide = m.translational("J", a, b, axis=d.along(0.6, 0.8), at=d(0.5, 0.5), backlash=0.01, **size)
    return m, guide.corners[1]


@example(el.Stop)
def stop(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.stop("J", kp.distance(a, b), 0.5 * d.scale, side="above", restitution=0.4)


@example(el.Friction)
def friction(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    return m, m.friction("J", kp.angle(a, b), friction=0.4, normal=2.0 * d.scale)


@example(el.Friction)
def friction_under_the_load_of_a_joint(d: Drawing) -> Any:
    m, a, b, _ = bodies(d)
    pin = m.revolute("pin", a, b, at=d(0.8, 0.2))
    return m, m.friction("J", kp.distance(a, b), friction=0.4 * d.scale, normal=pin)


@example(el.Friction, world=True)
def friction_on_a_moving_belt(d: Drawing) -> Any:
    m, a, _, _ = bodies(d)
    return m, m.friction("J", a.x, friction=kp.Coulomb(0.2, 0.3), normal=lambda t: 2.0 + t, speed=0.3 * d.scale)


@example(el.SystemEquations, world=True)
def equations(d: Drawing) -> Any:
    m = kp.Equations(
        "pendulum on a circle",
        {"x": 0.3, "y": 0.5, "theta": 0.2},
        constraints=lambda q, t, p: [q.x - p.l * kp.sin(q.theta) * kp.cos(t), q.x**2 + q.y * kp.exp(-q.theta) - p.l],
        mass=lambda q, p: [[p.m, 0, 0], [0, p.m, p.m * kp.sin(q.x)], [0, p.m * kp.sin(q.x), p.m * p.l**2]],
        parameters={"l": 0.7 * d.scale, "m": 2.0},
    )
    return m, m.elements["equations"]


# --- in space ---------------------------------------------------------------------------------------------------------


def two_bodies_in_space(d: Drawing) -> tuple[Any, Any, Any]:
    m = kp.Mechanism("two", dim=3)
    tilted = kp.Rotation.euler("ZXZ", (0.3, 0.5, -0.2))
    a = m.body("a", mass=2.0, inertia=(0.2, 0.3, 0.4), at=d.space(0.2, 0.1, 0.3), rotation=d.turned @ tilted)
    b = m.body("b", at=d.space(1.1, 0.5, -0.2), rotation=d.turned @ kp.Rotation.about((1, 2, 0.5), 0.7))
    return m, a, b


@example(el.RigidBody)
def body_in_space(d: Drawing) -> Any:
    m, *_ = two_bodies_in_space(d)
    return m, m.elements["a.rigid"]


@example(el.Spherical, world=True)
def spherical(d: Drawing) -> Any:
    m, a, b = two_bodies_in_space(d)
    return m, m.spherical("S", a, b, at=d.space(0.6, 0.4, 0.1))


def about(verb: str, **more: Any) -> Callable[[Drawing], Any]:
    def build(d: Drawing) -> Any:
        m, a, b = two_bodies_in_space(d)
        where = {"at": d.space(0.6, 0.4, 0.1), "axis": d.along_space(0.4, 0.8, -0.5)}
        return m, getattr(m, verb)("J", a, b, **where, **more)

    build.__name__ = f"{verb} in space"
    return build


for kind, verb, more in (
    (el.SpatialRevolute, "revolute", {}),
    (el.Cylindrical, "cylindrical", {}),
    (el.Prismatic, "prismatic", {}),
    (el.Planar, "planar", {}),
    (el.PointOnLine, "point_on_line", {}),
    (el.PointOnPlane, "point_on_plane", {}),
):
    example(kind, world=kind in (el.SpatialRevolute, el.Prismatic))(about(verb, **more))


@example(el.SpatialRevolute, world=True)
def hinge_with_friction(d: Drawing) -> Any:
    m, a, b = two_bodies_in_space(d)
    rubbing = {"friction": kp.Coulomb(0.2), "radius": 0.1 * d.scale, "length": 0.4 * d.scale}
    return m, m.revolute("J", a, b, at=d.space(0.6, 0.4, 0.1), axis=d.along_space(0.4, 0.8, -0.5), **rubbing)


@example(el.Prismatic, world=True)
def guide_with_friction(d: Drawing) -> Any:
    m, a, b = two_bodies_in_space(d)
    return m, m.prismatic("J", a, b, axis=d.along_space(0.4, 0.8, -0.5), friction=0.2, length=0.3 * d.scale)


@example(el.Screw, world=True)
def screw(d: Drawing) -> Any:
    m, a, b = two_bodies_in_space(d)
    where = {"at": d.space(0.6, 0.4, 0.1), "axis": d.along_space(0.4, 0.8, -0.5)}
    return m, m.screw("J", a, b, pitch=0.3 * d.scale, **where)


@example(el.Universal, world=True)
def universal(d: Drawing) -> Any:
    m, a, b = two_bodies_in_space(d)
    arms = {"axis_i": d.along_space(1, 0, 0), "axis_j": d.along_space(0, 0.6, 0.8)}
    return m, m.universal("U", a, b, at=d.space(0.6, 0.4, 0.1), **arms)


@example(el.SpatialWeld, world=True)
def weld_in_space(d: Drawing) -> Any:
    m, a, b = two_bodies_in_space(d)
    return m, m.weld("W", a, b, at=d.space(0.6, 0.4, 0.1))


@example(el.SpatialGear, world=True)
def bevel_gear(d: Drawing) -> Any:
    m, a, b = two_bodies_in_space(d)
    first = m.revolute("A", m.ground, a, at=d.space(0.2, 0.1, 0.3), axis=d.along_space(0, 0.6, 0.8))
    second = m.revolute("B", m.ground, b, at=d.space(1.1, 0.5, -0.2), axis=d.along_space(1, 0.2, 0))
    return m, m.gear("G", first, second, ratio=-1.5)


@example(el.Rod)
def bar_in_space(d: Drawing) -> Any:
    m = kp.Mechanism("bar", dim=3)
    ends = [m.point("P", at=d.space(0.2, 0.1, 0.3)), m.point("Q", at=d.space(1.1, 0.5, -0.2))]
    m.bar("PQ", *ends, mass=2.0)
    return m, m.elements["PQ"]


@example(el.RigidSolid)
def solid_of_points_and_vectors(d: Drawing) -> Any:
    m = kp.Mechanism("solid", dim=3)
    P, Q, R = (m.point(name, at=d.space(*at)) for name, at in zip("PQR", np.eye(3) + 0.1, strict=True))
    n, k = m.vector("n", d.along_space(0.2, 0.5, 1.0)), m.vector("k", d.along_space(1, -0.5, 0.3))
    m.solid("S", P, Q, n, R, k, mass=1.5, centre=(0.1, 0.2, 0.3), inertia=(0.3, 0.4, 0.5))
    return m, m.elements["S"]


@example(el.RigidSolid)
def solid_with_vectors_of_its_own(d: Drawing) -> Any:
    m = kp.Mechanism("solid", dim=3)
    m.solid("S", m.point("P", at=d.space(0.3, 0.2, 0.1)), m.vector("n", d.along_space(0.2, 0.5, 1.0)))
    return m, m.elements["S"]


def subclasses(cls: type) -> Iterator[type]:
    for sub in cls.__subclasses__():
        yield sub
        yield from subclasses(sub)


def test_every_element_has_an_example() -> None:
    with_constraints = {
        c for c in subclasses(el.Element) if c.phi is not el.Element.phi and c.__module__.startswith("kempe.")
    } - {Contact, el.Touching, RigidContact, SurfaceContact}
    assert {e.of for e in EXAMPLES.values()} == with_constraints


# --- an element in a random position ------------------------------------------------------------------------------


class Placed:
    """One element of an example in a random position near the drawn one, at random rates and multipliers."""

    def __init__(self, name: str, drawing: Drawing) -> None:
        model, self.element = EXAMPLES[name].build(drawing)
        assert type(self.element) is EXAMPLES[name].of
        self.posed = posed = Posed(model)
        self.system = system = posed.system
        self.k = system.elements.index(self.element)
        self.family: Family = system.families[self.k]
        self.rows, self.columns = system.rows_of[self.k], system.q_of[self.k]
        posed.x[self._conditions()] = 1.0  # all rows in force
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.q = posed.drawn + 0.1 * drawing.scale * rng.uniform(-1, 1, system.n)
        self.t = 0.37
        self.v = rng.uniform(-1, 1, system.n)
        self.lam = np.zeros(system.m)
        self.lam[self.rows] = rng.uniform(0.5, 1.5, len(self.rows))
        self.lam_own = self.lam[self.rows]
        self.direction = np.append(self.v[self.columns], 1.0)  # rates of the element's coordinates and of the time
        Phi, J, nu = system.linear(posed.x, self.q, self.t)
        self.Phi, self.J, self.nu = Phi[self.rows], J[np.ix_(self.rows, self.columns)], nu[self.rows]
        self.outside = np.delete(J[self.rows], self.columns, axis=1)
        self.gamma = system.gamma(posed.x, self.q, self.t, self.v)[self.rows]
        H, H_t, H_tt = system.curvatures(posed.x, self.q, self.t, self.lam)
        own = self.columns
        self.hessian = np.block([[H[np.ix_(own, own)], H_t[own][:, None]], [H_t[own][None, :], np.array([[H_tt]])]])
        self.inputs = posed.x[system.inputs_at(self.k)]

    def _conditions(self) -> list[int]:
        """Where the inputs say of rows that are not always in force whether they are."""
        first = self.system.x_at[self.k] + self.family.at["z"] + 1 + len(self.family.latches)
        return [int(first) + k for k in range(len(self.element.conditional_rows()))]

    @property
    def gradient(self) -> np.ndarray:
        """The compiled derivative of Phi by (q, t)."""
        return np.column_stack([self.J, -self.nu])

    @property
    def moving(self) -> list[int]:
        """The places of (q, t) in the element's inputs."""
        at = self.family.at
        return [*range(at["q"], at["q"] + self.family.q.numel()), at["t"]]

    def value(self) -> Callable[[np.ndarray], np.ndarray]:
        """Phi as CasADi evaluates it, of offsets from the position, one per column."""
        function = ca.Function("phi", [self.family.x], [self.family.phi])

        def at(offsets: np.ndarray) -> np.ndarray:
            x = np.repeat(self.inputs[:, None], offsets.shape[1], axis=1)
            x[self.moving] += offsets
            return np.array(function(x))

        return at


TURNED = Drawing(scale=1.3, turn=0.4, shift=(0.2, -0.5))


@pytest.fixture(params=EXAMPLES, scope="module")
def placed(request: pytest.FixtureRequest) -> Placed:
    return Placed(request.param, TURNED)


def close(actual: Any, expected: Any, tolerance: float) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0.0)))


# --- derivatives --------------------------------------------------------------------------------------------------

#: Weights of central differences of sixth order at -3 ... 3.
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180
PLACES = np.arange(-3, 4)


def test_derivatives_against_differences_of_sixth_order(placed: Placed) -> None:
    phi, n, h = placed.value(), len(placed.moving), 0.01
    close(placed.Phi, phi(np.zeros((n, 1)))[:, 0], 1e-15)
    for k, axis in enumerate(np.eye(n)):
        close(placed.gradient[:, k], phi(h * np.outer(axis, PLACES)) @ FIRST / h, 1e-9)
    close(placed.gamma, -phi(h * np.outer(placed.direction, PLACES)) @ SECOND / h**2, 1e-9)
    size = max(1.0, np.abs(placed.hessian).max())
    for i, j in zip(*np.tril_indices(n), strict=True):
        if i == j:
            expected = placed.lam_own @ phi(h * np.outer(np.eye(n)[i], PLACES)) @ SECOND
        else:
            grid = np.zeros((n, 7, 7))
            grid[i], grid[j] = h * PLACES[:, None], h * PLACES[None, :]
            expected = FIRST @ (placed.lam_own @ phi(grid.reshape(n, 49))).reshape(7, 7) @ FIRST
        assert abs(placed.hessian[i, j] - expected / h**2) < 1e-9 * size


def test_derivatives_against_reverse_differentiation(placed: Placed) -> None:
    f, reverse = placed.family, {"allow_forward": False}
    z = ca.vertcat(f.q, f.t)
    gradient = ca.jacobian(f.phi, z, reverse)
    hessian = ca.jacobian(gradient.T @ f.own, z, reverse)
    numbers = ca.jacobian(f.phi, f.p, reverse)
    along = ca.vertcat(f.v, 1)
    gamma = -ca.vertcat(*[along.T @ ca.jacobian(gradient[k, :], z, reverse) @ along for k in range(f.n_rows)])
    outputs = [f.phi, gradient, hessian, gamma, numbers]
    Phi, Phi_z, H, g, Phi_p = (np.array(e) for e in ca.Function("reverse", [f.x], outputs)(placed.inputs))
    close(placed.Phi, Phi.ravel(), 1e-14)
    close(placed.gradient, Phi_z, 1e-13)
    close(placed.hessian, H, 1e-13)
    close(placed.gamma, g.ravel(), 1e-13)
    kernel, (block,) = f.variant("parameter")
    compiled = np.zeros(Phi_p.shape)
    compiled[block.rows, block.columns] = kernel(placed.inputs)
    close(compiled, Phi_p, 1e-13)


def test_an_element_touches_only_its_own_coordinates(placed: Placed) -> None:
    assert not placed.outside.any()


# --- complex step -------------------------------------------------------------------------------------------------


def _atan2(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The analytic continuation of the angle of (x, y), away from the origin."""
    steep = np.abs(y.real) > np.abs(x.real)
    with np.errstate(all="ignore"):
        flat = np.arctan(y / x) + np.where(x.real < 0, np.copysign(np.pi, y.real), 0.0)
        upright = np.copysign(np.pi / 2, y.real) - np.arctan(x / y)
    return np.where(steep, upright, flat)


def _truth(a: np.ndarray) -> np.ndarray:
    return np.asarray(a, dtype=complex)


#: CasADi operations in complex arithmetic; choices are made by the real part.
COMPLEX: dict[int, Callable[..., np.ndarray]] = {
    ca.OP_ADD: np.add,
    ca.OP_SUB: np.subtract,
    ca.OP_MUL: np.multiply,
    ca.OP_DIV: np.divide,
    ca.OP_NEG: np.negative,
    ca.OP_SQ: np.square,
    ca.OP_TWICE: lambda a: a + a,
    ca.OP_INV: lambda a: 1 / a,
    ca.OP_SQRT: np.sqrt,
    ca.OP_POW: np.power,
    ca.OP_CONSTPOW: np.power,
    ca.OP_SIN: np.sin,
    ca.OP_COS: np.cos,
    ca.OP_TAN: np.tan,
    ca.OP_TANH: np.tanh,
    ca.OP_EXP: np.exp,
    ca.OP_LOG: np.log,
    ca.OP_ATAN2: _atan2,
    ca.OP_FABS: lambda a: np.where(a.real < 0, -a, a),
    ca.OP_LT: lambda a, b: _truth(a.real < b.real),
    ca.OP_LE: lambda a, b: _truth(a.real <= b.real),
    ca.OP_NOT: lambda a: _truth(a.real == 0),
    ca.OP_IF_ELSE_ZERO: lambda c, a: np.where(c.real != 0, a, 0),
}


def interpreted(function: ca.Function, x: np.ndarray) -> np.ndarray:
    """A CasADi function evaluated on complex columns, instruction by instruction."""
    work = np.zeros((function.sz_w(), x.shape[1]), dtype=complex)
    out = np.zeros((function.nnz_out(0), x.shape[1]), dtype=complex)
    for k in range(function.n_instructions()):
        op, i, o = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_INPUT:
            work[o[0]] = x[i[1]]
        elif op == ca.OP_OUTPUT:
            out[o[1]] = work[i[0]]
        elif op == ca.OP_CONST:
            work[o[0]] = function.instruction_constant(k)
        else:
            work[o[0]] = COMPLEX[op](*(work[j] for j in i))
    return out


def test_jacobian_against_the_complex_step(placed: Placed) -> None:
    h, n = 1e-30, len(placed.moving)
    x = np.repeat(placed.inputs[:, None].astype(complex), n, axis=1)
    x[placed.moving] += 1j * h * np.eye(n)
    function = ca.Function("phi", [placed.family.x], [ca.densify(placed.family.phi)])
    result = interpreted(function, x)
    close(result.real, np.repeat(placed.Phi[:, None], n, axis=1), 1e-14)
    close(placed.gradient, result.imag / h, 1e-13)


# --- the same equations wherever it is drawn ----------------------------------------------------------------------


def moved(q: np.ndarray, system: Any, d: Drawing) -> np.ndarray:
    """A position of the mechanism drawn at the origin, carried along with the drawing."""
    q = q.copy()
    for part in system.parts:
        at = system.first[part.name]
        if isinstance(part, (el.Body, el.Point, el.SpatialBody)) and part.channels:
            q[at : at + 2] = d(*q[at : at + 2])
        if isinstance(part, el.Body):
            q[at + 2] += d.turn
        first = at + 3 if isinstance(part, el.SpatialBody) else at if isinstance(part, el.Vector) else at + 12
        for axis in range(first, at + len(part.channels), 3):
            q[axis : axis + 2] = d.along(*q[axis : axis + 2])
    return q


@pytest.mark.parametrize("name", [name for name, e in EXAMPLES.items() if e.of is not el.SystemEquations])
def test_a_rigid_motion_of_the_whole_drawing_changes_nothing(name: str) -> None:
    here, there = Drawing(turn=0.2), Drawing(turn=0.2 + 0.9, shift=(3.0, -2.0))
    between = Drawing(turn=0.9, shift=(3.0, -2.0))
    a = Placed(name, here)
    b = Placed(name, there)
    q = moved(a.q, a.system, between)
    Phi, J, _ = b.system.linear(b.posed.x, q, a.t)
    J = J[np.ix_(b.rows, b.columns)]
    assert np.linalg.matrix_rank(J, 1e-9) == np.linalg.matrix_rank(a.J, 1e-9)
    if not EXAMPLES[name].world:
        assert np.linalg.norm(Phi[b.rows]) == pytest.approx(np.linalg.norm(a.Phi), rel=1e-12, abs=1e-13)
        assert np.linalg.svd(J, compute_uv=False) == pytest.approx(np.linalg.svd(a.J, compute_uv=False), rel=1e-12)


# --- one kernel for all of a kind ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_two_of_a_kind_share_their_kernels(name: str) -> None:
    first, second = (Placed(name, d) for d in (TURNED, Drawing(scale=0.8, turn=-0.7, shift=(1.0, 2.0))))
    assert first.element is not second.element
    assert family_of(first.element) is family_of(second.element)
    for variant in ("value", "position", "acceleration", "curvature"):
        assert first.family.variant(variant).kernel.address == second.family.variant(variant).kernel.address
    assert not np.array_equal(first.inputs, second.inputs)
