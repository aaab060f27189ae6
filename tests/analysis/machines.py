"""Mechanisms with mass in motion, shared by the tests of dynamics: each with its start and a time span."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import kempe as kp
from kempe.simulation.posing import Posed

GRAVITY = (0.0, -9.81)


@dataclass(frozen=True)
class Machine:
    """A model with the velocities it starts with, and how long it is watched."""

    model: Any
    end: float = 1.0
    velocities: dict[str, float] = field(default_factory=dict)

    def simulate(self, times: Any = None, **options: Any) -> kp.Result:
        given = np.linspace(0.0, self.end, 11) if times is None else times
        return self.model.simulate(given, velocities=self.velocities, **options)


def link(m: kp.Mechanism, name: str, start: Any, end: Any, mass: float = 1.0) -> kp.elements.Body:
    """A uniform bar from one point to another."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    way = end - start
    return m.body(name, mass, mass * (way @ way) / 12, at=(start + end) / 2, angle=np.arctan2(way[1], way[0]))


def violation(model: Any, result: kp.Result) -> float:
    """The largest constraint violation at the output points, in sizes."""
    posed = Posed(model)
    if posed.system.m == 0:
        return 0.0
    gaps = [posed.Phi(q, t) / posed.row_scale for q, t in zip(result.q, result.t, strict=True)]
    return float(np.abs(gaps).max())


def difference(one: kp.Result, other: kp.Result, model: Any, *, rates: bool = True) -> float:
    """The largest difference of positions in sizes, and of velocities in sizes by the fastest motion."""
    scale = Posed(model).scale
    worst = np.abs((one.q - other.q) / scale).max()
    if rates:
        fastest = max(float(np.abs(other.v / scale).max()), 1e-3)
        worst = max(worst, np.abs((one.v - other.v) / scale).max() / fastest)
    return float(worst)


# --- ten machines ---------------------------------------------------------------------------------------------------


def slider_crank() -> Machine:
    """Gravity, a torque on the crank, a spring with damper at the slider."""
    m = kp.Mechanism("slider-crank", gravity=GRAVITY)
    A = 0.4 * np.array([np.cos(0.8), np.sin(0.8)])
    B = np.array([A[0] + np.sqrt(1.0 - A[1] ** 2), 0.0])
    crank, rod = link(m, "crank", (0, 0), A), link(m, "rod", A, B, 0.7)
    slider = m.body("slider", 0.5, 0.01, at=B)
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=A)
    m.revolute("B", rod, slider, at=B)
    m.translational("guide", m.ground, slider, at=(0, 0), axis=(1, 0))
    m.spring("spring", m.ground, slider, on_i=(3, 0), stiffness=12.0, length=1.5, damping=0.4)
    m.torque(crank, 1.5)
    return Machine(m, 1.2, {"crank.omega": 4.0})


def four_bar_of_bodies() -> Machine:
    """Crank and rocker under gravity."""
    m = kp.Mechanism("four-bar of bodies", gravity=GRAVITY)
    O, A, B, C = np.array([[0, 0], [0.2, 0.45], [1.2, 0.9], [1.4, 0]])
    crank, coupler, rocker = link(m, "crank", O, A), link(m, "coupler", A, B, 2.0), link(m, "rocker", C, B)
    m.revolute("O", m.ground, crank, at=O)
    m.revolute("A", crank, coupler, at=A)
    m.revolute("B", coupler, rocker, at=B)
    m.revolute("C", m.ground, rocker, at=C)
    return Machine(m, 1.5, {"crank.omega": 3.0})


def four_bar_of_points() -> Machine:
    """The same idea in natural coordinates, with a plate and a spring to its corner."""
    m = kp.Mechanism("four-bar of points", gravity=GRAVITY)
    O, C = m.point("O", (0, 0), fixed="xy"), m.point("C", (1.4, 0), fixed="xy")
    A, B, P = m.point("A", (0.2, 0.45)), m.point("B", (1.2, 0.9)), m.point("P", (0.6, 1.3))
    m.bar("crank", O, A, mass=1.0)
    m.plate("coupler", A, B, P, mass=2.0, centre=(0.5, 0.2), inertia=0.2)
    m.bar("rocker", C, B, mass=1.0)
    m.spring("spring", m.ground, P, on_i=(-1, 2), stiffness=6.0, length=1.0, damping=0.2)
    return Machine(m, 1.2, {"A.vx": -1.0})


def double_pendulum() -> Machine:
    """Two links that swing through large angles."""
    m = kp.Mechanism("double pendulum", gravity=GRAVITY)
    upper, lower = link(m, "upper", (0, 0), (0.9, 0.2)), link(m, "lower", (0.9, 0.2), (1.5, 0.8), 0.6)
    m.revolute("O", m.ground, upper, at=(0, 0))
    m.revolute("A", upper, lower, at=(0.9, 0.2))
    return Machine(m, 1.2, {"upper.omega": 1.0, "lower.omega": -2.0})


def cam() -> Machine:
    """An eccentric disk that lifts a roller against a spring, its shaft slowed by a friction torque."""
    m = kp.Mechanism("cam", gravity=GRAVITY)
    disk = kp.curve(lambda s: (0.1 + 0.3 * kp.cos(s), 0.3 * kp.sin(s)))
    shaft = m.body("shaft", 2.0, 0.1, at=(0, 0))
    slide = m.body("slide", 0.5, 0.01, at=(0, np.sqrt(0.38**2 - 0.1**2)))
    m.revolute("bearing", m.ground, shaft, at=(0, 0))
    m.translational("guide", m.ground, slide, at=(0, 0), axis=(0, 1))
    m.cam_roller("roller", shaft, slide, profile=disk, radius=0.08)
    m.spring("spring", m.ground, slide, on_i=(0, 1.5), stiffness=40.0, length=1.0)
    m.torsion_spring("friction", m.ground, shaft, damping=0.05)
    return Machine(m, 1.0, {"shaft.omega": 9.0})


def gears() -> Machine:
    """A planetary pair whose arm is a pendulum and whose planet is unbalanced."""
    m = kp.Mechanism("gears", gravity=GRAVITY)
    sun, arm = m.body("sun", 1.0, 0.05), link(m, "arm", (0, 0), (0.5, 0.3))
    planet = m.body("planet", 0.8, 0.02, at=(0.55, 0.32))
    m.revolute("sun shaft", m.ground, sun, at=(0, 0))
    m.revolute("arm shaft", m.ground, arm, at=(0, 0))
    m.revolute("planet pin", arm, planet, at=(0.5, 0.3))
    m.gear("mesh", sun, planet, teeth=(20, 30), carrier=arm)
    m.torsion_spring("brake", m.ground, sun, stiffness=0.5, damping=0.02)
    return Machine(m, 1.2, {"arm.omega": 2.0, "sun.omega": -3.0})


def masses_on_springs() -> Machine:
    """Point masses in the plane without any constraint: springs, a damper, a force in time."""
    m = kp.Mechanism("masses on springs", gravity=GRAVITY)
    a, b = m.point("a", (0.5, 0), mass=1.0), m.point("b", (1.2, 0.4), mass=0.5)
    m.spring("S1", m.ground, a, on_i=(0, 0), stiffness=30.0, length=0.4, damping=0.5)
    m.spring("S2", a, b, stiffness=20.0, length=0.7)
    m.spring("S3", m.ground, b, on_i=(2, 1), law=lambda length, rate: 3 * length**3 + 0.2 * rate)
    m.force(b, (lambda t: 2 * kp.sin(5 * t), 0.0))
    return Machine(m, 1.2, {"a.vx": 1.0, "b.vy": -1.0})


def driven() -> Machine:
    """A crank that a motor drives at a varying speed, and a pendulum that hangs on the slider it moves."""
    m = kp.Mechanism("driven", gravity=GRAVITY)
    A, B = np.array([0.3, 0.0]), np.array([1.3, 0.0])
    crank, rod, slider = link(m, "crank", (0, 0), A), link(m, "rod", A, B), m.body("slider", 1.0, 0.01, at=B)
    bob = m.body("bob", 0.5, 0.02, at=(1.4, -0.6))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=A)
    m.revolute("B", rod, slider, at=B)
    m.translational("guide", m.ground, slider, at=(0, 0), axis=(1, 0))
    m.revolute("hook", slider, bob, at=B)
    m.driver("motor", crank.angle, lambda t: 5 * t + 0.5 * kp.sin(3 * t))
    return Machine(m, 1.2)


def equations() -> Machine:
    """A pendulum on a cart in its own coordinates: the mass matrix varies, and a rod ties the cart to a second one."""

    def mass(q: Any, p: Any) -> Any:
        return [[2.0 + p.m, p.m * kp.cos(q.f), 0.0], [p.m * kp.cos(q.f), p.m, 0.0], [0.0, 0.0, 1.0]]

    def force(q: Any, v: Any, t: Any, p: Any) -> Any:
        return [p.m * kp.sin(q.f) * v.f**2 - 8 * q.x - 0.3 * v.x, -9.81 * p.m * kp.sin(q.f), -3 * v.y]

    return Machine(
        kp.Equations(
            "cart with pendulum",
            {"x": 0.3, "f": 1.1, "y": 0.91**0.5},
            mass=mass,
            force=force,
            constraints=lambda q, t, p: {"rod": (q.x**2 + q.y**2 - 1) / 2},
            parameters={"m": 0.7},
        ),
        1.2,
        {"x.v": 0.5, "f.v": 1.0},
    )


def rolling() -> Machine:
    """An unbalanced disc that rolls on the ground without slip."""
    m = kp.Mechanism("rolling", gravity=GRAVITY)
    disc, weight = m.body("disc", 2.0, 0.09, at=(0, 0.3)), m.body("weight", 1.0, 0.004, at=(0.15, 0.35))
    rack = m.body("rack", 1.0, 0.01, at=(0, 0))
    m.weld("rim", disc, weight)
    m.constraint("height", lambda b: b.y - 0.3, disc)
    m.translational("bed", m.ground, rack, at=(0, 0), axis=(1, 0))
    m.rack_and_pinion("rim on rack", disc, rack, radius=0.3, pressure_angle=0)  # friction, not teeth
    m.coupler("roll", [(1.0, disc.x), (0.3, disc.angle)])
    m.spring("buffer", m.ground, rack, on_i=(-2, 0), stiffness=15.0, damping=0.2)
    return Machine(m, 1.2, {"disc.omega": -3.0})


MACHINES: dict[str, Callable[[], Machine]] = {
    build.__name__: build
    for build in (
        slider_crank,
        four_bar_of_bodies,
        four_bar_of_points,
        double_pendulum,
        cam,
        gears,
        masses_on_springs,
        driven,
        equations,
        rolling,
    )
}
