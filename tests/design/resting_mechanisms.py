"""Mechanisms that stand still, with design parameters in springs, masses, places, laws and contacts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import kempe as kp
from kempe.elements import Element, Load

G = 9.81


@dataclass(frozen=True)
class Resting:
    """A mechanism, how its equilibrium is sought, and quantities that are unique there."""

    build: Callable[[], Any]
    quantities: tuple[str, ...]
    options: dict[str, Any]
    modes: bool


RESTING: dict[str, Resting] = {}


def resting(*quantities: str, modes: bool = True, **options: Any) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def register(build: Callable[[], Any]) -> Callable[[], Any]:
        RESTING[build.__name__] = Resting(build, quantities, options, modes)
        return build

    return register


def mechanism(name: str, **parameters: float) -> tuple[Any, ...]:
    m = kp.Mechanism(name, gravity=(0, -G))
    return m, *(m.parameter(label, value) for label, value in parameters.items())


@resting("O.force", "A.force.x", "s.force")
def hanging_chain() -> kp.Mechanism:
    m, k, L, M, c, free = mechanism("chain", k=30.0, L=0.5, M=2.0, c=0.7, free=0.3)
    a = m.body("a", M, M * L**2 / 12, at=(0.1, -L / 2), angle=-1.5)
    b = m.body("b", 1.0, 0.03, at=(0.1, -0.75), angle=-1.4)
    m.revolute("O", m.ground, a, on_i=(0, 0), on_j=(-L / 2, 0))
    m.revolute("A", a, b, on_i=(L / 2, 0), on_j=(-0.25, 0))
    m.spring("s", m.ground.on((1.0, 0.2 * L)), b.on((0.25, 0)), stiffness=k, length=free, damping=c)
    return m


@resting("O.force", "B.force", "s.force", "C.force.y")
def sprung_four_bar() -> kp.Mechanism:
    m, a, b, c, k = mechanism("four-bar", a=0.5, b=0.9, c=0.7, k=60.0)
    crank = m.body("crank", a, a**3 / 12, at=(0.2, 0.2), angle=0.9)
    coupler = m.body("coupler", b, b**3 / 12, at=(0.6, 0.6), angle=0.4)
    rocker = m.body("rocker", c, c**3 / 12, at=(1.1, 0.4), angle=1.3)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-a / 2, 0))
    m.revolute("A", crank, coupler, on_i=(a / 2, 0), on_j=(-b / 2, 0))
    m.revolute("B", coupler, rocker, on_i=(b / 2, 0), on_j=(c / 2, 0))
    m.revolute("C", m.ground, rocker, on_i=(1.0, 0), on_j=(-c / 2, 0))
    m.spring("s", m.ground.on((-0.5, 1.2)), coupler.on((0, 0)), stiffness=k, length=0.4, damping=1.5)
    return m


@resting("motor.effort", "O0.force.y + O1.force.y + O2.force.y")
def three_sprung_cranks() -> kp.Mechanism:
    """Redundant; a driver holds a lever whose law has a parameter."""
    m, r, gap, k, turn = mechanism("three cranks", r=1.0, gap=0.9, k=40.0, turn=0.2)
    tip = (r * kp.cos(0.7), r * kp.sin(0.7))
    coupler = m.body("coupler", 3.0, 0.2, at=(tip[0] + gap, tip[1]))
    for number in range(3):
        crank = m.body(f"crank {number}", 0.5, 0.05, at=(number * gap + tip[0] / 2, tip[1] / 2), angle=0.7)
        m.revolute(f"O{number}", m.ground, crank, on_i=(number * gap, 0), on_j=(-r / 2, 0))
        m.revolute(f"A{number}", crank, coupler, on_i=(r / 2, 0), on_j=((number - 1) * gap, 0))
    lever = m.body("lever", 1.0, 0.1, at=(-1.0, 1.0))
    m.revolute("L", m.ground, lever, on_i=(-1.0, 1.0), on_j=(0, 0))
    m.driver("motor", lever.angle, lambda t: turn + t)
    m.spring("s", lever.on((0.0, 0.3)), coupler.on((0, 0)), stiffness=k, length=0.5, damping=0.4)
    m.torsion_spring("t", m.ground, m["crank 1"], stiffness=k, angle=1.0, damping=r)
    return m


@resting("floor.force", "wall.force", "s.force")
def pressed_contacts() -> kp.Mechanism:
    """A block on a floor and against a wall, each by a law of contact: powers of the depth, one that keeps a speed."""
    m, M, stiffness, k = mechanism("contact", M=2.0, stiffness=3e4, k=100.0)
    block = m.body("block", M, 0.1, at=(0.098, 0.098))
    law = kp.LankaraniNikravesh(0.6, stiffness=0.5 * stiffness)
    m.bump_stop("floor", block.y, 0.1, stiffness, side="below", exponent=1.5)
    m.bump_stop("wall", block.x, 0.1, side="below", contact=law)
    m.spring("s", m.ground.on((-0.9, 1)), block, stiffness=k, length=1.2, damping=1.0)
    m.torsion_spring("t", m.ground, block, stiffness=1.0, angle=0.1, damping=0.01)
    return m


@resting("arm.angle * scale", "O.force.x")
def tabled_spring() -> kp.Mechanism:
    """A torque by a table that is scaled and read at a place that depends on a parameter."""
    m, scale, lag, M = mechanism("tabled", scale=1.3, lag=0.2, M=1.5)
    table = kp.table([-2.0, -1.0, 0.0, 1.0, 2.0], [-9.0, -3.0, 0.0, 4.0, 9.0])
    arm = m.body("arm", M, 0.2, at=(0.5, 0.0))
    m.revolute("O", m.ground, arm, on_i=(0, 0), on_j=(-0.5, 0))
    m.user_force("pull", lambda b: (0, 0, -scale * table(b.angle - lag) - 0.3 * b.omega), arm)
    return m


class Wedge(Element):
    """A force along x that grows with what a joint carries: equilibrium through f_lambda."""

    def __init__(self, name: str, i: Any, joint: Element, share: Any) -> None:
        super().__init__(name, i=i, load=Load(joint), share=share)

    def force(self, x: Any) -> Any:
        carried = kp.sqrt(x.load["x"] ** 2 + x.load["y"] ** 2 + 0.1)
        return x.push(x.i.angle, x.share * carried)


@resting("O.force", "s.force")
def loaded() -> kp.Mechanism:
    m, share, M, k = mechanism("loaded", share=0.1, M=2.0, k=50.0)
    arm = m.body("arm", M, 0.2, at=(0.5, 0.0))
    pin = m.revolute("O", m.ground, arm, on_i=(0, 0), on_j=(-0.5, 0))
    m.add(Wedge("wedge", arm, pin, share))
    m.spring("s", m.ground.on((0.8, 1.0)), arm.on((0.4, 0)), stiffness=k, length=0.6, damping=0.5)
    return m


@resting("O.force", "holding.arm.angle", modes=False, hold="arm.angle")
def held_arm() -> kp.Mechanism:
    """A coordinate that is held where it is drawn, which depends on a parameter."""
    m, turn, M, k = mechanism("held", turn=0.4, M=2.0, k=100.0)
    arm = m.body("arm", M, 0.2, at=(0.5 * kp.cos(turn), 0.5 * kp.sin(turn)), angle=turn)
    bob = m.body("bob", 0.5, 0.02, at=(1.0, 0.1), angle=-1.2)
    m.revolute("O", m.ground, arm, on_i=(0, 0), on_j=(-0.5, 0))
    m.revolute("A", arm, bob, on_i=(0.5, 0), on_j=(-0.2, 0))
    m.spring("s", m.ground.on((0, 1.0)), arm.on((0.3, 0)), stiffness=k, length=0.2)
    return m


@resting("mesh.force", "G.force.x")
def geared() -> kp.Mechanism:
    """Wheels of radii that are parameters, torsion springs, and a weight on an arm."""
    m, first, second, k, M = mechanism("geared", first=0.3, second=0.2, k=8.0, M=1.0)
    one = m.body("one", 1.0, 0.05)
    two = m.body("two", M, 0.03, at=(first + second, -0.1))
    m.revolute("F", m.ground, one, on_i=(0, 0), on_j=(0, 0))
    m.revolute("G", m.ground, two, on_i=(first + second, 0), on_j=(0, 0.1))
    m.gear("mesh", one.on((0, 0)), two.on((0, 0.1)), radii=(first, second))
    m.torsion_spring("t", m.ground, one, stiffness=k, angle=0.3, damping=0.2)
    return m


@resting("S.force", "p.x + q1.x")
def points_and_bars() -> kp.Mechanism:
    m, k, M, gap = mechanism("points", k=200.0, M=1.0, gap=1.2)
    left, right = m.point("left", (0, 0), fixed="xy"), m.point("right", (gap, 0.1), fixed="xy")
    p, q = m.point("p", (0.4, -0.5), mass=M), m.point("q1", (0.9, -0.6), mass=0.7)
    m.bar("lp", left, p, mass=0.3)
    m.bar("pq", p, q)
    m.spring("S", q, right, stiffness=k, length=0.3, damping=1.0)
    return m


@resting("z1 * z2 + a")
def equations() -> kp.Equations:
    """Coordinates of one's own: two coupled oscillators that harden, one of them pushed, a third tied to them."""
    return kp.Equations(
        "oscillators",
        {"z1": 0.1, "z2": 0.2, "z3": 0.1},
        mass=lambda q, p: [[1 + p.a * q.z2**2, 0.2, 0], [0.2, 2.0, 0], [0, 0, 0.5]],
        force=lambda q, v, t, p: [
            p.F - p.k * q.z1 - p.a * q.z1**3 + q.z2 - 0.1 * v.z1,
            q.z1 - 2 * p.k * q.z2 - 0.2 * p.a * v.z2,
            -q.z3 - 0.3 * v.z3,
        ],
        constraints=lambda q, t, p: {"tie": q.z3 - p.a * q.z1 * q.z2},
        parameters={"k": 3.0, "F": 2.0, "a": 0.5},
    )


@resting("mover.effort", "G.force")
def own_constraint() -> kp.Mechanism:
    m, n, k, shift = mechanism("own", n=1.6, k=12.0, shift=0.1)
    wheel, lever = m.body("wheel", 1.0, 0.1), m.body("lever", 0.5, 0.03, at=(1.0, 0.2))
    mover = m.body("stand", 1.0, 0.1, at=(2.0, 0.0))
    m.revolute("W", m.ground, wheel, on_i=(0, 0), on_j=(0, 0.1))
    m.revolute("G", m.ground, lever, on_i=(1.0, 0), on_j=(0, -0.2))
    m.translational("floor", m.ground, mover, axis=(1, 0))
    m.driver("mover", mover.x, lambda t: 2.0 + shift * n)
    m.constraint("gearing", lambda a, b: b.angle - shift * kp.sin(n * a.angle), wheel, lever)
    m.torsion_spring("t", m.ground, wheel, stiffness=k, angle=0.5, damping=0.3)
    m.spring("pull", lever.on((0, 0.2)), mover.on((0, 0.5)), stiffness=k, length=0.3)
    return m


def chain_of_masses(count: int, k: float = 100.0, M: float = 2.0) -> kp.Mechanism:
    """Masses on a line between springs: omega_j = 2 sqrt(k/M) sin(j pi / (2 (count + 1)))."""
    m = kp.Mechanism("masses")
    stiffness, mass, c = m.parameter("k", k), m.parameter("M", M), m.parameter("c", 0.3)
    last: Any = m.ground.on((0, 0))
    for j in range(count):
        body = m.body(f"b{j}", mass, 1.0, at=(j + 1.0, 0))
        m.translational(f"way {j}", m.ground, body, axis=(1, 0))
        m.spring(f"s{j}", last, body, stiffness=stiffness, length=1.0, damping=c)
        last = body
    m.spring("end", last, m.ground.on((count + 1.0, 0)), stiffness=stiffness, length=1.0, damping=c)
    return m


def repeated(count: int = 2) -> kp.Mechanism:
    """Equal pendulums side by side."""
    m = kp.Mechanism("pendulums", gravity=(0, -G))
    L = m.parameter("L", 0.5)
    for j in range(count):
        bob = m.body(f"b{j}", 1.0, 0.01, at=(1.0 * j, -L), angle=-np.pi / 2)
        m.revolute(f"O{j}", m.ground, bob, on_i=(1.0 * j, 0), on_j=(-L, 0))
    return m
