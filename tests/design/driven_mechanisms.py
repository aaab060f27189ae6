"""Driven mechanisms with design parameters everywhere: in lengths, places, laws, masses, springs and tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import kempe as kp

DRIVEN: dict[str, Callable[[], kp.Mechanism]] = {}
"""Every mechanism, to be driven for one unit of time."""


def driven(build: Callable[[], kp.Mechanism]) -> Callable[[], kp.Mechanism]:
    DRIVEN[build.__name__] = build
    return build


def mechanism(name: str, **parameters: float) -> tuple[Any, ...]:
    m = kp.Mechanism(name, gravity=(0.3, -9.81))
    return m, *(m.parameter(label, value) for label, value in parameters.items())


@driven
def slider_crank() -> kp.Mechanism:
    """Offset, with a law that depends on a length, a number that follows from another, and a spring."""
    m, r, L, e, w, M = mechanism("slider-crank", r=0.1, L=0.3, e=0.02, w=3.0, M=2.0)
    double = m.parameter("double", 2 * r)
    crank = m.body("crank", 1.0, 0.01, at=(r / 2 * kp.cos(0.3), r / 2 * kp.sin(0.3)), angle=0.3)
    rod = m.body("rod", 0.5 * L, L**2 / 20, at=(0.2, 0.0), angle=-0.1)
    slider = m.body("slider", M, 0.01, at=(0.38, 0.02))
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-r / 2, 0))
    m.revolute("A", crank, rod, on_i=(double / 4, 0), on_j=(-L / 2, 0))
    m.revolute("B", rod, slider, on_i=(L / 2, 0), on_j=(0, 0))
    m.translational("guide", m.ground.on((0, e)), slider.on((0, 0)), axis=(1, 0))
    m.driver("motor", crank.angle, lambda t: 0.3 + w * t + 0.5 * r * t**2)
    m.spring("spring", m.ground.on((0.7, e)), slider, stiffness=20 * M, length=2 * L, damping=0.3)
    return m


@driven
def four_bar() -> kp.Mechanism:
    m, a, b, c, d = mechanism("four-bar", a=0.3, b=0.9, c=0.7, d=1.0)
    crank = m.body("crank", a, a**3 / 12, at=(0.1, 0.1), angle=0.7)
    coupler = m.body("coupler", b, b**3 / 12, at=(0.6, 0.5), angle=0.6)
    rocker = m.body("rocker", c, c**3 / 12, at=(1.1, 0.4), angle=1.3)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-a / 2, 0))
    m.revolute("A", crank, coupler, on_i=(a / 2, 0), on_j=(-b / 2, 0))
    m.revolute("B", coupler, rocker, on_i=(b / 2, 0), on_j=(c / 2, 0))
    m.revolute("C", m.ground, rocker, on_i=(d, 0), on_j=(-c / 2, 0))
    m.driver("motor", crank.angle, lambda t: 0.7 + 2 * t)
    m.measure("tip", lambda body: body.x + 0.3 * b * kp.cos(body.angle + a), coupler)
    return m


@driven
def three_cranks() -> kp.Mechanism:
    """Redundant: a coupler on three parallel cranks, which share their length."""
    m, r, gap, M = mechanism("three cranks", r=1.0, gap=0.9, M=3.0)
    theta = 0.7
    tip = (r * kp.cos(theta), r * kp.sin(theta))
    coupler = m.body("coupler", M, 0.2, at=(tip[0] + gap, tip[1]))
    for k in range(3):
        crank = m.body(f"crank {k}", 0.5, 0.05, at=(k * gap + tip[0] / 2, tip[1] / 2), angle=theta)
        m.revolute(f"O{k}", m.ground, crank, on_i=(k * gap, 0), on_j=(-r / 2, 0))
        m.revolute(f"A{k}", crank, coupler, on_i=(r / 2, 0), on_j=((k - 1) * gap, 0))
    m.driver("motor", m["crank 0"].angle, lambda t: theta + t + 0.2 * t**2)
    return m


@driven
def planetary_gears() -> kp.Mechanism:
    """A sun and a planet on an arm, both driven, with pitch radii that push at the teeth."""
    m, sun_radius, planet_radius, w = mechanism("gears", sun_radius=0.3, planet_radius=0.2, w=1.5)
    arm = m.body("arm", 1.0, 0.1, at=(0.2, 0.0))
    sun = m.body("sun", 1.0, 0.05)
    planet = m.body("planet", 0.7, 0.02, at=(sun_radius + planet_radius, 0.0))
    m.revolute("O", m.ground, arm, on_i=(0, 0), on_j=(-0.2, 0))
    m.revolute("S", m.ground, sun, on_i=(0, 0), on_j=(0, 0))
    m.revolute("P", arm, planet, on_i=(sun_radius + planet_radius - 0.2, 0), on_j=(0, 0))
    m.gear("mesh", sun.on((0, 0)), planet.on((0, 0)), radii=(sun_radius, planet_radius), carrier=arm)
    m.driver("slow", arm.angle, lambda t: 0.4 * kp.sin(w * t))
    m.driver("fast", sun.angle, lambda t: w * t + t**2)
    m.torque("load", planet, -2.0)
    return m


@driven
def cam() -> kp.Mechanism:
    """A roller on a disk whose radius is a closed spline, scaled by a parameter."""
    m, size, roller, w = mechanism("cam", size=1.0, roller=0.1, w=2.0)
    angles = np.linspace(0, 2 * np.pi, 13)
    radius = kp.table(angles, 1 + 0.15 * np.cos(angles) + 0.05 * np.sin(2 * angles), periodic=True)
    cam = m.body("cam", 2.0, 0.3)
    m.revolute("O", m.ground, cam, on_i=(0, 0), on_j=(0, 0))
    follower = m.body("follower", 0.5, 0.01, at=(0.0, 1.25))
    m.translational("guide", m.ground, follower, axis=(0, 1), at=(0, 1))
    profile = kp.curve(lambda s: (size * radius(s) * kp.cos(s), size * radius(s) * kp.sin(s)))
    m.cam_roller("contact", cam, follower, profile=profile, radius=roller)
    m.driver("motor", cam.angle, lambda t: 0.2 + w * t)
    m.spring("return", m.ground.on((0, 3)), follower, stiffness=50.0, length=1.0)
    return m


@driven
def rack_and_belt() -> kp.Mechanism:
    m, radius, small, k = mechanism("rack and belt", radius=0.25, small=0.1, k=30.0)
    wheel = m.body("wheel", 1.0, 0.05, at=(0, 0))
    pulley = m.body("pulley", 0.3, 0.01, at=(1.0, 0))
    rack = m.body("rack", 2.0, 0.1, at=(0, -radius))
    m.revolute("W", m.ground, wheel, on_i=(0, 0), on_j=(0, 0))
    m.revolute("P", m.ground, pulley, on_i=(1.0, 0), on_j=(0, 0))
    m.translational("way", m.ground.on((0, -radius)), rack.on((0, 0)), axis=(1, 0))
    m.rack_and_pinion("teeth", wheel.on((0, 0)), rack.on((0, 0)), radius=radius, axis=(1, 0))
    m.belt("belt", wheel.on((0, 0)), pulley.on((0, 0)), radii=(radius, small), preload=5.0)
    m.driver("motor", pulley.angle, kp.harmonic(1.0 + small, 3.0, 0.2))
    m.spring("spring", m.ground.on((2, -1)), rack, stiffness=k, length=0.5)
    return m


@driven
def quick_return() -> kp.Mechanism:
    """Whitworth's: a pin in a slot, a slider on top, and a load that changes with the stroke."""
    m, r, h, reach = mechanism("quick return", r=0.15, h=0.4, reach=0.9)
    crank = m.body("crank", 1.0, 0.02, at=(0.05, h), angle=0.4)
    arm = m.body("arm", 2.0, 0.2, at=(0.1, 0.4), angle=1.3)
    ram = m.body("ram", 5.0, 0.1, at=(0.2, 0.8))
    m.revolute("O", m.ground, crank, on_i=(0, h), on_j=(0, 0))
    m.revolute("Q", m.ground, arm, on_i=(0, 0), on_j=(-0.4, 0))
    m.pin_in_slot("slot", arm.on((0, 0)), crank.on((r, 0)), axis=(1, 0))
    m.pin_in_slot("head", arm.on((0, 0)), ram.on((0, 0)), axis=(1, 0))
    m.translational("way", m.ground.on((0, reach)), ram.on((0, 0)), axis=(1, 0))
    m.driver("motor", crank.angle, lambda t: 0.4 + 2.5 * t)
    m.user_force("cut", lambda b: (-100 * r * b.x**2, 0.0, 0.0), ram)
    return m


@driven
def excavator() -> kp.Mechanism:
    """Points and bars moved by the lengths of cylinders."""
    m, foot, stroke, M = mechanism("excavator", foot=0.8, stroke=0.2, M=4.0)
    o = m.point("o", (0, 0), fixed="xy")
    f = m.point("f", (foot, -0.3), fixed="xy")
    a, b = m.point("a", (0.7, 0.8), mass=1.0), m.point("b", (1.5, 1.2), mass=M)
    m.bar("oa", o, a, mass=2.0)
    m.bar("ab", a, b, mass=0.5 * M)
    m.driver("boom", kp.distance(f, a), lambda t: 1.1 + stroke * kp.sin(t))
    m.driver("stick", kp.distance(o, b), lambda t: 1.7 + 0.05 * t)
    return m


@driven
def own_joint() -> kp.Mechanism:
    """A user's constraint and a user's element, with parameters in the functions themselves."""
    m, n, k, shift = mechanism("own joint", n=1.6, k=40.0, shift=0.1)
    wheel = m.body("wheel", 1.0, 0.1)
    lever = m.body("lever", 0.5, 0.03, at=(1.0, 0.2))
    m.revolute("W", m.ground, wheel, on_i=(0, 0), on_j=(0, 0))
    m.revolute("L", m.ground, lever, on_i=(1.0, 0), on_j=(0, -0.2))
    m.constraint("gearing", lambda a, b: b.angle - shift * kp.sin(n * a.angle), wheel, lever)
    m.driver("motor", wheel.angle, lambda t: 0.3 + t)
    m.user_force("pull", lambda a, b: [(0, 0, -k * b.angle**3 * a.angle), (0, 0, k * kp.cos(b.angle))], wheel, lever)
    return m


@driven
def tabled_law() -> kp.Mechanism:
    """A law by a table, read at a place that depends on parameters; and a number of the model that is read from one."""
    m, scale, lag, x = mechanism("tabled law", scale=0.5, lag=0.15, x=0.62)
    lift = kp.table([0, 0.5, 1.0, 1.5, 2.0], [0.0, 0.4, 0.5, 0.1, 0.3])
    rail = kp.table([0.0, 0.4, 0.8, 1.2], [0.1, 0.3, 0.35, 0.2])
    arm = m.body("arm", 1.0, 0.1, at=(0.3, 0.0))
    car = m.body("car", 1.5, 0.1, at=(0.4, 0.5))
    m.revolute("O", m.ground, arm, on_i=(0, 0), on_j=(-rail(x), 0))
    m.driver("turn", arm.angle, lambda t: scale * lift(t + lag))
    m.translational("way", m.ground.on((0, 0.5)), car.on((0, rail(x) - 0.1)), axis=(1, 0.2))
    m.driver("drive", car.x, lambda t: 0.4 + scale * lift(0.8 * t + 2 * lag))
    return m


@driven
def six_bar() -> kp.Mechanism:
    """Two loops, a link without inertia, and a coupler of angles."""
    m, a, b, c, e = mechanism("six-bar", a=0.3, b=0.8, c=0.7, e=0.5)
    crank = m.body("crank", 0.5, 0.01, at=(0.1, 0.1), angle=0.8)
    coupler = m.body("coupler", 1.0, 0.05, at=(0.6, 0.6), angle=0.6)
    rocker = m.body("rocker", 1.0, 0.05, at=(1.1, 0.4), angle=1.3)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-a / 2, 0))
    m.revolute("A", crank, coupler, on_i=(a / 2, 0), on_j=(-b / 2, 0))
    m.revolute("B", coupler, rocker, on_i=(b / 2, 0), on_j=(c / 2, 0))
    m.revolute("C", m.ground, rocker, on_i=(1.0, 0), on_j=(-c / 2, 0))
    slider = m.body("slider", 2.0, 0.1, at=(1.6, 0.9))
    m.translational("way", m.ground.on((0, 0.9)), slider.on((0, 0)), axis=(1, 0))
    m.link("rod", rocker.on((c / 2, 0)), slider.on((0, 0)), length=e)
    m.driver("motor", crank.angle, lambda t: 0.8 + 1.5 * t)
    return m


@driven
def rubbing() -> kp.Mechanism:
    """Friction in a joint that turns one way, by the load of the joint; stops that are pressed, one keeps a speed."""
    m, mu, radius, stiffness = mechanism("rubbing", mu=0.2, radius=0.05, stiffness=800.0)
    arm = m.body("arm", 2.0, 0.1, at=(0.5, 0.0))
    m.revolute("O", m.ground, arm, on_i=(0, 0), on_j=(-0.5, 0), friction=mu, radius=radius)
    m.driver("motor", arm.angle, lambda t: t + 0.5 * mu * t**2)
    m.bump_stop("stop", arm.angle, -0.2, stiffness, damping=2.0, side="above")
    law = kp.LankaraniNikravesh(0.7, stiffness=5 * stiffness)
    m.bump_stop("soft", arm.angle, -0.1, side="above", contact=law)
    m.spring("spring", m.ground.on((1.0, 1.0)), arm.on((0.5, 0)), stiffness=stiffness / 20, length=0.3, damping=1.0)
    return m


@driven
def scotch_yoke() -> kp.Mechanism:
    """With a second guide that repeats the first, both along a tilted way."""
    m, r, tilt, M = mechanism("scotch yoke", r=0.2, tilt=0.3, M=2.0)
    crank = m.body("crank", 1.0, 0.05)
    along = (kp.cos(tilt), kp.sin(tilt))
    yoke = m.body("yoke", M, 0.1, at=(0.1, 0.05), angle=tilt)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(0, 0))
    m.translational("way", m.ground.on((0, 0)), yoke.on((0, 0)), axis=along)
    m.translational("other way", m.ground.on((0, 0)), yoke.on((0.3, 0)), axis=along)
    m.pin_in_slot("pin", yoke.on((0, 0)), crank.on((r, 0)), axis=(-kp.sin(tilt), kp.cos(tilt)))
    m.driver("motor", crank.angle, lambda t: 0.4 + 1.7 * t)
    return m
