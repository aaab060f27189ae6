"""Mechanisms without switches, with design parameters of every kind."""

from __future__ import annotations

import numpy as np
from designs import Design

import kempe as kp
from kempe.validation.dads_slider_crank import slider_crank

GRAVITY = 9.81


def _rod(m: kp.Mechanism, name: str, mass, i, j) -> kp.elements.Body:
    """A uniform rod between two places; what they are made of may be parameters."""
    dx, dy = j[0] - i[0], j[1] - i[1]
    length = kp.sqrt(dx**2 + dy**2)
    return m.body(name, mass, mass * length**2 / 12, at=((i[0] + j[0]) / 2, (i[1] + j[1]) / 2), angle=kp.atan2(dy, dx))


def dads() -> Design:
    """The slider-crank of the DADS report: the start moves with the length of the coupler."""
    m = slider_crank()
    asked = (
        ("violation", "b1 * (spring.length - 15.68)**2 / b4 - 1", 0.0),
        ("final", "crank.omega"),
        ("maximum", "{lambda.12.y}"),
        ("integral", "{34}.force**2"),
    )
    return Design(m, 2.0, asked)


def four_bar() -> Design:
    """A four-bar with spring and damper under gravity; a coupler that is longer than drawn moves its assembly."""
    m = kp.Mechanism("four-bar")
    g, k, c = m.parameter("g", GRAVITY), m.parameter("k", 60.0), m.parameter("c", 0.8)
    crank, density, free = m.parameter("crank", 0.3), m.parameter("density", 2.0), m.parameter("free", 0.5)
    stretch = m.parameter("stretch", 0.02)
    m.gravity = (0, -g)
    O, A, B, C = (0.0, 0.0), (0.05, crank), (0.75, 0.6), (0.8, 0.0)
    links = [(O, A), (A, B), (C, B)]
    bodies = []
    for name, (i, j) in zip(("input", "coupler", "output"), links, strict=True):
        bodies.append(_rod(m, name, density * kp.sqrt((i[0] - j[0]) ** 2 + (i[1] - j[1]) ** 2), i, j))
    m.revolute("O", m.ground, bodies[0], at=O)
    m.revolute("A", bodies[0], bodies[1], at=A)
    half, upper = (kp.sqrt((i[0] - j[0]) ** 2 + (i[1] - j[1]) ** 2) / 2 for i, j in links[1:])
    m.revolute("B", bodies[1], bodies[2], on_i=(half + stretch, 0.0), on_j=(upper, 0.0))
    m.revolute("C", m.ground, bodies[2], at=C)
    m.spring("spring", m.ground, bodies[1], on_i=(0.2, 1.0), stiffness=k, length=free, damping=c)
    asked = (
        ("integral", "A.force.x**2 + A.force.y**2"),
        ("final", "coupler.angle"),
        ("maximum", "input.omega"),
        ("integral", "ground.shaking.x**2"),
    )
    return Design(m, 1.0, asked)


def double_pendulum() -> Design:
    """Two rods that hang; the upper one's length moves the start of the lower one."""
    m = kp.Mechanism("double pendulum", gravity=(0, -GRAVITY))
    first, second, mass = m.parameter("first", 0.5), m.parameter("second", 0.4), m.parameter("mass", 1.2)
    lean, c = m.parameter("lean", 0.6), m.parameter("c", 0.05)
    A = (first * kp.sin(lean), -first * kp.cos(lean))
    B = (A[0] + second, A[1])
    upper, lower = _rod(m, "upper", mass, (0.0, 0.0), A), _rod(m, "lower", 0.7, A, B)
    m.revolute("O", m.ground, upper, at=(0, 0))
    m.revolute("A", upper, lower, at=A)
    m.torsion_spring("bearing", upper, lower, stiffness=0.4, damping=c)
    m.measure("tip", lambda body: body.point((second / 2, 0.0))[0], lower)
    asked = (("integral", "tip**2"), ("final", "tip"), ("maximum", "O.force"), ("final", "lower.omega * upper.omega"))
    return Design(m, 1.0, asked)


def stiff_chain() -> Design:
    """Masses on a line between springs and dampers a thousand times apart."""
    m = kp.Mechanism("stiff chain")
    soft, hard = m.parameter("soft", 20.0), m.parameter("hard", 4e4)
    thick, mass, reach = m.parameter("thick", 400.0), m.parameter("mass", 0.5), m.parameter("reach", 0.2)
    last = m.ground
    for k in range(4):
        body = m.body(f"m{k}", mass * (1 + 0.3 * k), 0.01, at=(reach * (k + 1), 0))
        m.translational(f"guide {k}", m.ground, body, axis=(1, 0), at=(0, 0))
        stiffness, damping = (soft, 0.1) if k % 2 == 0 else (hard, thick)
        m.spring(f"s{k}", last, body, stiffness=stiffness, damping=damping, length=0.19)
        last = body
    m.force("pull", last, (lambda t: 2 * kp.sin(4 * t), 0))
    asked = (("integral", "m3.vx**2"), ("final", "m1.x"), ("integral", "s1.force**2"))
    return Design(m, 1.0, asked, {"method": "radau"}, panels=150)


def redundant() -> Design:
    """A parallelogram with a third crank, on a table that slides in two guides: constraints say things twice."""
    m = kp.Mechanism("redundant", gravity=(0, -GRAVITY))
    L, w, k = m.parameter("L", 0.4), m.parameter("w", 1.0), m.parameter("k", 30.0)
    table, lean = m.parameter("table", 3.0), m.parameter("lean", 0.4)
    base = m.body("base", table, 0.2, at=(0, 0))
    m.translational("guide", m.ground, base, axis=(1, 0), at=(0, 0))
    m.translational("second guide", m.ground, base, axis=(1, 0), at=(0, 0.1), on_j=(0.2, 0.1))
    m.spring("spring", m.ground, base, on_i=(-1, 0), stiffness=k, length=0.95)
    tip = (L * kp.sin(lean), L * kp.cos(lean))
    bar = m.body("bar", 1.5, 0.1, at=(tip[0], tip[1]))
    for name, x in (("left", -0.5), ("middle", 0.1), ("right", 0.5)):
        foot, head = (x * w, 0.0), (x * w + tip[0], tip[1])
        crank = _rod(m, name, 0.3, foot, head)
        m.revolute(f"{name} foot", base, crank, at=foot)
        m.revolute(f"{name} head", crank, bar, at=head)
    asked = (("integral", "base.vx**2"), ("final", "bar.y"), ("maximum", "spring.force"))
    return Design(m, 0.3, asked)


def driven() -> Design:
    """A crank whose driver speeds up by a law with parameters; the effort is what counts."""
    m = kp.Mechanism("driven crank", gravity=(0, -GRAVITY))
    r, rod, speed = m.parameter("r", 0.1), m.parameter("rod", 0.35), m.parameter("speed", 8.0)
    swing, mass = m.parameter("swing", 0.4), m.parameter("mass", 0.8)
    offset = m.parameter("offset", 0.03)
    crank = _rod(m, "crank", 0.4, (0.0, 0.0), (r, 0.0))
    far = r + kp.sqrt(rod**2 - offset**2)
    coupler = _rod(m, "coupler", 0.5, (r, 0.0), (far, offset))
    slider = m.body("slider", mass, 0.01, at=(far, offset))
    pin = m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, coupler, at=(r, 0))
    m.revolute("B", coupler, slider, at=(far, offset))
    m.translational("guide", m.ground, slider, axis=(1, 0), at=(0, offset))
    m.driver("motor", pin.angle, lambda t: speed * t + swing * kp.sin(3 * t))
    asked = (
        ("integral", "motor.power**2"),
        ("maximum", "motor.effort"),
        ("integral", "slider.ax**2"),
        ("final", "B.force.y"),
    )
    return Design(m, 1.0, asked)


def singular_passing() -> Design:
    """A rhombus that folds through the position in which all its bars are in line."""
    m = kp.Mechanism("folding rhombus")
    L, mass, load = m.parameter("L", 0.5), m.parameter("mass", 1.0), m.parameter("load", 2.0)
    turn = 0.5
    A, B = (L * kp.cos(turn), L * kp.sin(turn)), (1.2 + L * kp.cos(turn), L * kp.sin(turn))
    first, second = _rod(m, "first", mass, (0.0, 0.0), A), _rod(m, "second", 0.6, (1.2, 0.0), B)
    coupler = _rod(m, "coupler", 0.8, A, B)
    m.revolute("O", m.ground, first, at=(0, 0))
    m.revolute("C", m.ground, second, at=(1.2, 0))
    m.revolute("A", first, coupler, at=A)
    m.revolute("B", coupler, second, at=B)
    m.torque("push", first, -load)
    asked = (("integral", "first.omega**2"), ("final", "first.angle"), ("final", "coupler.x"))
    return Design(m, 1.5, asked)


def user_elements() -> Design:
    """A joint and a force of one's own: a bead on a parabola that is slowed down by drag."""
    m = kp.Mechanism("bead on a parabola", gravity=(0, -GRAVITY))
    bend, drag, mass = m.parameter("bend", 0.8), m.parameter("drag", 0.3), m.parameter("mass", 0.6)
    side = m.parameter("side", 0.7)
    bead = m.body("bead", mass, 0.01, at=(side, bend * side**2))
    m.constraint("wire", lambda b: [b.y - bend * b.x**2, b.angle], bead, rows=["on", "upright"])
    m.user_force("air", lambda b: (-drag * b.vx * (1 + b.vx**2 + b.vy**2), 0.0, 0.0), bead)
    asked = (
        ("integral", "bead.x**2"),
        ("final", "bead.vx"),
        ("minimum", "bead.x"),
        ("integral", "{lambda.wire.on}**2"),
    )
    return Design(m, 1.0, asked)


def gears() -> Design:
    """Two gears and a belt between a motor's torque and a lifted weight."""
    m = kp.Mechanism("winch", gravity=(0, -GRAVITY))
    small, large = m.parameter("small", 0.05), m.parameter("large", 0.14)
    inertia, load, drum = m.parameter("inertia", 2e-3), m.parameter("load", 4.0), m.parameter("drum", 0.06)
    motor = m.body("motor", 0.5, inertia, at=(0, 0))
    wheel = m.body("wheel", 1.0, 8e-3, at=(small + large, 0.0))
    pulley = m.body("pulley", 0.4, 1e-3, at=(0.5, 0.3))
    weight = m.body("weight", load, 0.02, at=(0.5 + drum, -0.5))
    for name, body in (("m", motor), ("w", wheel), ("p", pulley)):
        m.revolute(name, m.ground, body, on_j=(0, 0))
    m.gear("mesh", motor, wheel, radii=(small, large), on_i=(0, 0), on_j=(0, 0))
    m.belt("belt", wheel, pulley, radii=(0.08, 0.05), on_i=(0, 0), on_j=(0, 0), preload=60.0)
    m.translational("guide", m.ground, weight, axis=(0, 1), at=(0.5 + drum, 0))
    m.coupler("rope", [(1.0, weight.y), (-drum, pulley.angle)])
    m.torque("torque", motor, lambda t: 2.0 + 0.5 * kp.sin(10 * t))
    asked = (("integral", "m.force**2"), ("final", "weight.vy"), ("maximum", "w.force.y"), ("final", "motor.angle"))
    return Design(m, 0.8, asked)


def tables() -> Design:
    """A crank driven by a spline against a spring whose force is a table."""
    m = kp.Mechanism("tables", gravity=(0, -GRAVITY))
    lever, mass = m.parameter("lever", 0.3), m.parameter("mass", 0.7)
    more, c = m.parameter("more", 1.0), m.parameter("c", 0.4)
    knots = (0.0, 0.25, 0.5, 0.75, 1.0)
    path = kp.table(knots, [0.0, 0.12, 0.2, 0.1, 0.02], name="path")
    law = kp.table(np.linspace(-0.6, 0.6, 13), 30 * np.sinh(2 * np.linspace(-0.6, 0.6, 13)), name="law")
    cart = m.body("cart", 1.0, 0.1, at=(0, 0))
    guide = m.translational("guide", m.ground, cart, axis=(1, 0), at=(0, 0))
    m.driver("push", guide.displacement, lambda t: more * path(t))
    arm = _rod(m, "arm", mass, (0.0, 0.0), (lever, -0.1))
    m.revolute("pin", cart, arm, at=(0, 0))
    m.user_force("spring", lambda a: (0.0, 0.0, -law(a.angle) * lever**2 - c * a.omega * 0.01), arm)
    asked = (("integral", "arm.angle**2"), ("final", "arm.omega"), ("integral", "push.effort**2"))
    return Design(m, 1.0, asked, breaks=knots[1:-1])


def bars_and_points() -> Design:
    """A truss that swings, in natural coordinates."""
    m = kp.Mechanism("truss", gravity=(0, -GRAVITY))
    L, heavy, k = m.parameter("L", 0.6), m.parameter("heavy", 1.1), m.parameter("k", 80.0)
    high = m.parameter("high", 0.5)
    P, Q = m.point("P", at=(0, 0), fixed="xy"), m.point("Q", at=(L, 0.0))
    R, S = m.point("R", at=(L / 2, -high), mass=heavy), m.point("S", at=(1.4, 0.3), mass=0.4)
    m.bar("PQ", P, Q, mass=0.5)
    m.bar("QR", Q, R, mass=0.4)
    m.bar("PR", P, R)
    m.bar("QS", Q, S, mass=0.6)
    m.spring("spring", R, S, stiffness=k, length=1.0, damping=0.5)
    asked = (
        ("integral", "S.vy**2"),
        ("final", "R.x"),
        ("maximum", "spring.length"),
        ("integral", "{lambda.QS.length}**2"),
    )
    return Design(m, 0.8, asked)


def own_equations() -> Design:
    """A pendulum on a cart as equations of one's own, with a constraint."""
    m = kp.Equations(
        "own equations",
        {"x": 0.3, "y": -0.4, "s": 0.0},
        constraints=lambda q, t, p: {"rod": ((q.x - q.s) ** 2 + q.y**2 - p.L**2) / 2},
        mass=lambda q, p: [[p.m, 0, 0], [0, p.m, 0], [0, 0, p.M]],
        force=lambda q, v, t, p: [0, -GRAVITY * p.m, -p.k * q.s - p.c * v.s + kp.sin(5 * t)],
        parameters={"L": 0.5, "m": 0.8, "M": 2.0, "k": 40.0, "c": 1.5},
    )
    asked = (("integral", "s**2"), ("final", "x"), ("maximum", "s"), ("integral", "{lambda.rod}**2"))
    return Design(m, 1.2, asked)


def cam() -> Design:
    """A roller follower on a cam whose profile is made of parameters."""
    m = kp.Mechanism("cam", gravity=(0, -GRAVITY))
    lift, round_, roller = m.parameter("lift", 0.012), m.parameter("base", 0.05), m.parameter("roller", 0.012)
    k, speed = m.parameter("k", 400.0), m.parameter("speed", 12.0)
    disk = m.body("disk", 1.0, 2e-3, at=(0, 0))
    pin = m.revolute("O", m.ground, disk, at=(0, 0))
    m.driver("motor", pin.angle, kp.constant_speed(speed))
    follower = m.body("follower", 0.3, 1e-3, at=(0, round_ + roller))
    m.translational("guide", m.ground, follower, axis=(0, 1), at=(0, 0))
    profile = kp.polar(lambda s: round_ + lift * (1 - kp.cos(2 * (s - np.pi / 2))) / 2)
    m.cam_roller("cam", disk, follower, profile=profile, radius=roller)
    m.spring("spring", m.ground, follower, on_i=(0, 0.3), stiffness=k, length=0.25)
    asked = (("integral", "motor.effort**2"), ("maximum", "follower.vy"), ("final", "{lambda.cam.x}"))
    return Design(m, 0.5, asked)


def lugre() -> Design:
    """A block that bristles slow down on a table that runs below it; it never moves as fast as the table."""
    m = kp.Mechanism("bristles", gravity=(0, -GRAVITY))
    mass, mu, sigma = m.parameter("mass", 1.0), m.parameter("mu", 0.15), m.parameter("sigma", 4e3)
    k, shaken, speed = m.parameter("k", 40.0), m.parameter("shaken", 1.0), m.parameter("speed", 2.5)
    block = m.body("block", mass, 0.01, at=(0, 0))
    guide = m.translational("guide", m.ground, block, axis=(1, 0), at=(0, 0))
    law = kp.LuGre(mu, 0.25, 0.3, sigma, damping=30.0, viscous=0.2)
    m.friction("table", block.x, friction=law, normal=guide, speed=speed)
    m.spring("spring", m.ground, block, on_i=(-0.5, 0), stiffness=k)
    m.force("shake", block, (lambda t: 2 * shaken * kp.sin(7 * t), 0))
    asked = (("integral", "block.vx**2"), ("final", "block.x"), ("final", "table.friction"))
    return Design(m, 1.0, asked, panels=200)


def lubricated() -> Design:
    """A shaft in a film of oil."""
    m = kp.Mechanism("journal in oil", gravity=(0, -GRAVITY))
    viscosity, play = m.parameter("viscosity", 0.02), m.parameter("play", 1e-4)
    mass, speed, width = m.parameter("mass", 20.0), m.parameter("speed", 100.0), m.parameter("width", 0.02)
    shaft = m.body("shaft", mass, 0.1)
    film = kp.ShortBearing(viscosity=viscosity, width=width, film="full")
    m.revolute("J", m.ground, shaft, at=(0, 0), clearance=play, bearing_radius=0.025, contact=film)
    m.driver("motor", kp.angle(m.ground, shaft), kp.constant_speed(speed))
    asked = (("integral", "J.eccentricity"), ("final", "J.film"), ("integral", "motor.effort"))
    return Design(m, 0.05, asked)


SMOOTH = (
    dads,
    four_bar,
    double_pendulum,
    stiff_chain,
    redundant,
    driven,
    singular_passing,
    user_elements,
    gears,
    tables,
    bars_and_points,
    own_equations,
    cam,
    lugre,
    lubricated,
)
