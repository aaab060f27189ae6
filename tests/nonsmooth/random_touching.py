"""Random mechanisms with dry friction in 1 to 10 joints, and with 1 to 20 or more impacts, each by its seed.

All in metres, kilograms and seconds of about one, assembled as drawn, with start velocities that the joints allow.
Seeds up to 299 rub, seeds from ``FIRST_IMPACT`` on collide.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from moreau import Stepper
from rigid import Motor as ReferenceMotor
from rigid import Pose
from touching_plans import (
    Belt,
    Body,
    Circles,
    Joint,
    Line,
    Motor,
    Place,
    Plan,
    Push,
    Rubbing,
    Spring,
    Stop,
    Torsion,
    reference,
)

G = 9.81
FIRST_IMPACT = 1000


def pair(v: Any) -> Place:
    return (float(v[0]), float(v[1]))


class Pen:
    """Draws a plan, part by part."""

    def __init__(self, rng: np.random.Generator, family: str, gravity: Place = (0.0, -G)) -> None:
        self.rng, self.plan = rng, Plan(family, gravity)

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def between(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def number(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def name(self, kind: str) -> str:
        return f"{kind} {len(self.plan.elements)}"

    def add(self, element: Any) -> Any:
        self.plan.elements.append(element)
        return element

    # --- parts --------------------------------------------------------------------------------------------------------

    def body(self, at: Any, mass: float, inertia: float, angle: float = 0.0) -> str:
        name = f"b{len(self.plan.bodies)}"
        self.plan.bodies.append(Body(name, mass, inertia, pair(at), angle))
        return name

    def rod(self, a: Any, b: Any) -> str:
        """A rod between two points, of even or uneven mass."""
        a, b = np.asarray(a, float), np.asarray(b, float)
        d, mass = b - a, self.between(0.5, 2.0)
        length = float(np.hypot(*d))
        return self.body(
            a + d * self.between(0.4, 0.6), mass, mass * length**2 / 12 * self.between(0.8, 1.5), math.atan2(d[1], d[0])
        )

    def disc(self, at: Any, radius: float) -> str:
        mass = self.between(0.5, 2.0)
        return self.body(at, mass, mass * radius**2 * self.between(0.3, 0.6), self.between(-3, 3))

    def friction(self, radius: float = 0.0, pads: float = 0.0, most: float = 0.6) -> Rubbing:
        kinetic = self.between(0.05, most)
        static = kinetic * (self.between(1.05, 1.5) if self.chance(0.4) else 1.0)
        return Rubbing(kinetic, static, radius or self.between(0.03, 0.15), pads)

    def pin(self, i: str, j: str, at: Any, rubs: bool = True) -> str:
        name = self.name("pin")
        return str(self.add(Joint(name, "revolute", i, j, pair(at), friction=self.friction() if rubs else None)).name)

    def guide(self, i: str, j: str, at: Any, axis: Any, rubs: bool = True) -> str:
        pads = self.between(0.4, 0.8) if self.chance(0.4) else 0.0
        friction = self.friction(pads=pads, most=0.4) if rubs else None
        return str(self.add(Joint(self.name("guide"), "guide", i, j, pair(at), pair(axis), friction)).name)

    def slot(self, i: str, j: str, at: Any, axis: Any, rubs: bool = True) -> None:
        friction = self.friction(most=0.3) if rubs else None
        self.add(Joint(self.name("slot"), "slot", i, j, pair(at), pair(axis), friction))

    def spring(self, i: str, a: Any, j: str, b: Any, stiffness: float) -> None:
        length = math.dist(pair(a), pair(b)) * self.between(0.6, 1.1)
        damping = self.between(0.0, 1.0) if self.chance(0.3) else 0.0
        self.add(Spring(self.name("spring"), i, pair(a), j, pair(b), stiffness, length, damping))

    def push(self, body: str, torque: float, force: float = 0.0) -> None:
        push = self.between(-1, 1) * torque, (self.between(-1, 1) * force, 0.0)
        self.add(Push(self.name("push"), body, *push, self.between(2.0, 9.0)))


# --- friction ---------------------------------------------------------------------------------------------------------


def hang(pen: Pen, last: str, at: Any, count: int, steep: float = 1.4, rubs: bool = True) -> None:
    """Rods hung on a part, one on the other."""
    at = np.asarray(at, float)
    for _ in range(count):
        turn = -math.pi / 2 + pen.between(-steep, steep)
        end = at + pen.between(0.3, 0.7) * np.array([math.cos(turn), math.sin(turn)])
        rod = pen.rod(at, end)
        pen.pin(last, rod, at, rubs)
        at, last = end, rod


def chain(pen: Pen) -> None:
    """Rods hung on the ground, some with a torsion spring."""
    hang(pen, "ground", (0, 0), pen.number(1, 5))
    if pen.chance(0.4):
        body = pen.plan.bodies[0]
        pen.add(Torsion(pen.name("torsion"), body.name, pen.between(5, 20), body.angle + pen.between(-1, 1)))


def cart(pen: Pen) -> None:
    """A slider on a straight, level or inclined guide, with rods hung on it and a spring behind it."""
    slope = pen.between(-0.3, 0.3) if pen.chance(0.5) else 0.0
    axis = (math.cos(slope), math.sin(slope))
    slider = pen.body((0, 0), pen.between(0.5, 3), 0.1)
    pen.guide("ground", slider, (0, 0), axis)
    hang(pen, slider, (0, 0), pen.number(0, 3))
    if pen.chance(0.6):
        pen.spring("ground", (-1.0, 0.3), slider, (0, 0), pen.between(20, 150))
    if pen.chance(0.4):
        pen.push(slider, 0.0, 30.0)


def settle(pen: Pen, first: int) -> None:
    """Friction within a loop: mostly with one coefficient; with two, it may be open when the loop gets loose."""
    rubbing = [(k, e) for k, e in enumerate(pen.plan.elements) if k >= first and getattr(e, "friction", None)]
    if len(rubbing) < 2 or all(e.friction.static == e.friction.kinetic for _, e in rubbing):
        return
    if pen.chance(0.15):
        pen.plan.open_ended = True
        return
    for k, e in rubbing:
        pen.plan.elements[k] = replace(e, friction=replace(e.friction, static=e.friction.kinetic))


def loop(pen: Pen) -> tuple[str, str]:
    """A four-bar with friction in some of its pins; its crank and its rocker."""
    D = np.array([pen.between(0.8, 1.2), pen.between(-0.2, 0.2)])
    turn, lean = pen.between(0.5, 2.6), pen.between(0.9, 2.2)
    A = pen.between(0.25, 0.5) * np.array([math.cos(turn), math.sin(turn)])
    B = D + pen.between(0.5, 0.9) * np.array([math.cos(lean), math.sin(lean)])
    crank, coupler, rocker = pen.rod((0, 0), A), pen.rod(A, B), pen.rod(D, B)
    places = (("ground", crank, (0, 0)), (crank, coupler, A), (coupler, rocker, B), ("ground", rocker, D))
    rubbing = pen.rng.permutation(4) < pen.number(1, 4)
    for (i, j, at), rubs in zip(places, rubbing, strict=True):
        pen.pin(i, j, at, bool(rubs))
    settle(pen, 0)
    return crank, rocker


def four_bar(pen: Pen) -> None:
    """A four-bar that falls, is pulled by a spring, shaken, or turned to and fro by a motor, with rods hung on it."""
    crank, rocker = loop(pen)
    drive = pen.rng.choice(["falls", "spring", "push", "motor"])
    if drive == "spring":
        pen.spring("ground", (0.4, 1.2), rocker, pen.plan.body(rocker).at, pen.between(20, 80))
    elif drive == "push":
        pen.push(crank, 12.0)
    elif drive == "motor":
        pen.add(Motor(pen.name("motor"), crank, 0.0, pen.between(0.1, 0.25), pen.between(2, 8)))
    if pen.chance(0.4):
        hang(pen, rocker, pen.plan.body(rocker).at, pen.number(1, 3), 0.8)


def slider_crank(pen: Pen) -> None:
    """A crank, a rod and a slider with friction in pins and guide, driven or falling."""
    turn, r = pen.between(0.4, 2.7), pen.between(0.15, 0.3)
    A = r * np.array([math.cos(turn), math.sin(turn)])
    offset = pen.between(-0.05, 0.05)
    reach = pen.between(0.6, 1.0)
    B = np.array([A[0] + math.sqrt(reach**2 - (A[1] - offset) ** 2), offset])
    crank, rod = pen.rod((0, 0), A), pen.rod(A, B)
    slider = pen.body(B, pen.between(0.5, 2.0), 0.05)
    rubbing = pen.rng.permutation(4) < pen.number(1, 4)
    pen.pin("ground", crank, (0, 0), bool(rubbing[0]))
    pen.pin(crank, rod, A, bool(rubbing[1]))
    pen.pin(rod, slider, B, bool(rubbing[2]))
    pen.guide("ground", slider, B, (1, 0), bool(rubbing[3]))
    settle(pen, 0)
    drive = pen.rng.choice(["falls", "spring", "push", "motor"])
    if drive == "spring":
        pen.spring("ground", (B[0] + 1.0, offset), slider, B, pen.between(20, 100))
    elif drive == "push":
        pen.push(slider, 0.0, 40.0)
    elif drive == "motor":
        pen.add(Motor(pen.name("motor"), crank, pen.between(-6, 6), pen.between(0.0, 0.5), pen.between(2, 8)))
    if pen.chance(0.4):
        hang(pen, slider, B, pen.number(1, 3))


def yoke(pen: Pen) -> None:
    """A crank with a pin in the slot of a slider."""
    turn, r = pen.between(0.3, 2.8), pen.between(0.2, 0.4)
    A = r * np.array([math.cos(turn), math.sin(turn)])
    crank = pen.rod((0, 0), A)
    slider = pen.body((A[0], 0.0), pen.between(0.5, 2.0), 0.1)
    pen.pin("ground", crank, (0, 0), pen.chance(0.6))
    pen.guide("ground", slider, (A[0], 0.0), (1, 0), pen.chance(0.6))
    pen.slot(slider, crank, A, (pen.between(-0.2, 0.2), 1.0))
    settle(pen, 0)
    if pen.chance(0.5):
        pen.spring("ground", (A[0] + 1.2, 0.0), slider, (A[0], 0.0), pen.between(20, 100))
    if pen.chance(0.5):
        pen.push(crank, 8.0)


def blocks(pen: Pen) -> None:
    """Blocks in guides above each other, coupled by springs, shaken; one may lie on a belt."""
    before = None
    for k in range(pen.number(1, 10)):
        at = (pen.between(-0.3, 0.3), -0.4 * k)
        slope = pen.between(-0.3, 0.3)
        block = pen.body(at, pen.between(0.5, 2.0), 0.05)
        belt = pen.chance(0.25)
        axis = (1.0, 0.0) if belt else (math.cos(slope), math.sin(slope))
        pen.guide("ground", block, at, axis, rubs=not belt)
        pen.spring("ground", (at[0] - 1.2, at[1]), block, at, pen.between(30, 200))
        if belt:
            weight = pen.between(5, 20)
            pen.add(Belt(pen.name("belt"), block, (1.0, 0.0), pen.friction(), weight, pen.between(-0.6, 0.6)))
        if before is not None:
            pen.spring(*before, block, at, pen.between(20, 100))
        if pen.chance(0.5):
            pen.push(block, 0.0, 15.0)
        before = (block, at)


RUBBING = {"chain": chain, "cart": cart, "four-bar": four_bar, "slider-crank": slider_crank, "yoke": yoke}
RUBBING["blocks"] = blocks

# --- impacts ----------------------------------------------------------------------------------------------------------


def walls(pen: Pen, body: str, radius: float, size: float, e: float, friction: Rubbing | None) -> None:
    """Four walls around a disc."""
    s, at = size / 2, pen.plan.body(body).at
    sides = {"floor": ((0.0, -s), (1.0, 0.0)), "right": ((s, 0.0), (0.0, 1.0))}
    sides |= {"roof": ((0.0, s), (-1.0, 0.0)), "left": ((-s, 0.0), (0.0, -1.0))}
    for name, (through, axis) in sides.items():
        pen.add(Line(f"{name} {body}", "ground", through, axis, body, at, radius, e, friction))


def balls(pen: Pen) -> None:
    """Discs in a box, with or without gravity and friction."""
    if pen.chance(0.4):
        pen.plan.gravity = (0.0, 0.0)
    e = 1.0 if pen.chance(0.2) else pen.between(0.4, 0.95)
    friction = pen.friction() if pen.chance(0.5) else None
    places = [(-0.45, -0.3), (0.4, 0.35), (0.35, -0.45), (-0.35, 0.45)][: pen.number(1, 4)]
    radii = []
    for at in places:
        radii.append(pen.between(0.08, 0.2))
        body = pen.disc(np.asarray(at) + pen.rng.uniform(-0.1, 0.1, 2), radii[-1])
        walls(pen, body, radii[-1], 1.6, e, friction)
    for i in range(len(places)):
        for j in range(i):
            pen.add(Circles(f"hit {j} {i}", f"b{j}", (0, 0), f"b{i}", (radii[j], radii[i]), False, e, friction))


def fallen_rod(pen: Pen) -> None:
    """A rod, or two of them, whose ends fall on a floor or on an incline."""
    slope = pen.between(-0.3, 0.3) if pen.chance(0.5) else 0.0
    axis = (math.cos(slope), math.sin(slope))
    e = pen.between(0.0, 0.7) if pen.chance(0.8) else 0.0
    friction = pen.friction() if pen.chance(0.5) else None
    for k in range(pen.number(1, 2)):
        turn, length = pen.between(-1.3, 1.3), pen.between(0.4, 0.9)
        middle = np.array([1.5 * k, pen.between(0.5, 0.8)])
        half = 0.5 * length * np.array([math.cos(turn), math.sin(turn)])
        rod = pen.rod(middle - half, middle + half)
        for side, end in (("tail", middle - half), ("head", middle + half)):
            at = (0.0, -0.4)
            pen.add(Line(f"{side} {k}", "ground", at, axis, rod, pair(end), 0.0, e, friction))


def stopped_pendulum(pen: Pen) -> None:
    """Rods hung on the ground, the angle of one or two of them between rigid stops."""
    hang(pen, "ground", (0, 0), pen.number(1, 3), 0.9, rubs=pen.chance(0.3))
    e = pen.between(0.0, 0.9)
    for body in pen.plan.bodies[: pen.number(1, 2)]:
        for side, sign in (("above", 1), ("below", -1)):
            if pen.chance(0.7) or side == "above":
                limit = body.angle + sign * pen.between(0.1, 0.6)
                pen.add(Stop(f"{side} {body.name}", body.name, "angle", limit, side, e))


def stopped_linkage(pen: Pen) -> None:
    """A four-bar or a slider-crank whose last link meets stops."""
    e = pen.between(0.0, 0.9)
    if pen.chance(0.5):
        crank, rocker = loop(pen)
        body, kind, drawn = pen.plan.body(rocker), "angle", pen.plan.body(rocker).angle
        size = 0.3
        pen.push(crank, 10.0)
    else:
        slider_crank(pen)
        body = pen.plan.bodies[2]
        pen.plan.elements = [x for x in pen.plan.elements if not isinstance(x, Motor)]
        kind, drawn, size = "x", body.at[0], 0.15
        pen.push(pen.plan.bodies[0].name, 10.0)
    keeps = pen.chance(0.5)
    if not keeps:
        pen.plan.elements = [_smooth(x) for x in pen.plan.elements]
        pen.plan.open_ended = False
    for side, sign in (("above", 1), ("below", -1)):
        pen.add(Stop(f"{side} end", body.name, kind, drawn + sign * pen.between(0.2, 1.0) * size, side, e))


def _smooth(element: Any) -> Any:
    if not isinstance(element, Joint):
        return element
    return Joint(element.name, element.kind, element.i, element.j, element.at, element.axis)


def table(pen: Pen) -> None:
    """Discs that fall on a table on springs, in a vertical guide."""
    top = pen.body((0, 0), pen.between(1, 4), 0.2)
    pen.guide("ground", top, (0, 0), (0, 1), rubs=pen.chance(0.3))
    stiffness = pen.between(100, 600)
    weight = pen.plan.body(top).mass * G
    pen.add(Spring("leg", "ground", (0.0, -1.0), top, (0.0, 0.0), stiffness, 1.0 + weight / stiffness))
    e = pen.between(0.2, 0.95)
    friction = pen.friction() if pen.chance(0.4) else None
    for k in range(pen.number(1, 2)):
        r = pen.between(0.05, 0.15)
        at = (0.6 * k - 0.2, pen.between(0.25, 0.8))
        disc = pen.disc(at, r)
        pen.add(Line(f"table {disc}", top, (0.0, 0.0), (1.0, 0.0), disc, pair(at), r, e, friction))


def bowl(pen: Pen) -> None:
    """A disc within a ring."""
    e, r = pen.between(0.0, 0.95), pen.between(0.05, 0.15)
    friction = pen.friction() if pen.chance(0.6) else None
    disc = pen.disc((pen.between(-0.5, 0.5), pen.between(-0.2, 0.4)), r)
    pen.add(Circles("ring", "ground", (0.0, 0.0), disc, (1.0, r), True, e, friction))


def struck(pen: Pen) -> None:
    """A disc that flies at a pendulum's disc; both in front of a wall."""
    e = pen.between(0.3, 1.0)
    rods = pen.number(1, 2)
    hang(pen, "ground", (0, 0.6), rods, 0.3, rubs=pen.chance(0.5))
    last = pen.plan.bodies[-1]
    r = pen.between(0.1, 0.2)
    at = (last.at[0] - pen.between(0.6, 0.9), last.at[1] + pen.between(-0.05, 0.05))
    ball = pen.disc(at, r)
    pen.add(Circles("strikes", last.name, (0, 0), ball, (0.15, r), False, e))
    pen.add(Line("wall", "ground", (last.at[0] - 1.5, 0.0), (0.0, -1.0), ball, at, r, e))
    pen.add(Line("floor", "ground", (0.0, last.at[1] - 0.6), (1.0, 0.0), ball, at, r, e))
    pen.plan.velocities[ball] = (pen.between(2, 5), pen.between(0, 1.5), pen.between(-5, 5))


COLLIDING = {
    "balls": balls,
    "fallen rod": fallen_rod,
    "stopped pendulum": stopped_pendulum,
    "stopped linkage": stopped_linkage,
    "table": table,
    "bowl": bowl,
    "struck": struck,
}

# --- a plan -----------------------------------------------------------------------------------------------------------


def draw(seed: int) -> Plan:
    """The plan of a seed."""
    rng = np.random.default_rng([11, seed])
    families = COLLIDING if seed >= FIRST_IMPACT else RUBBING
    for attempt in range(100):
        family = list(families)[(seed + attempt // 50) % len(families)]
        pen = Pen(rng, family)
        families[family](pen)
        plan = pen.plan
        rubbing = len(plan.rubbing)
        if seed < FIRST_IMPACT and not 1 <= rubbing <= 10:
            continue
        plan.end = pen.between(0.6, 1.4)
        _set_off(plan, pen)
        gaps = [c.look(Pose(np.array(reference(plan).start)))[0] for c in reference(plan).contacts]
        if min(gaps, default=1.0) > 0.02:
            return plan
    raise AssertionError(seed)


def _set_off(plan: Plan, pen: Pen) -> None:
    """Random start velocities that the joints allow: the nearest in the metric of the masses."""
    pace = float(pen.rng.choice([0.0, 1.0, 3.0]))
    v = pen.rng.normal(size=3 * len(plan.bodies)) * pace
    for k, body in enumerate(plan.bodies):
        if body.name in plan.velocities:
            v[3 * k : 3 * k + 3] = plan.velocities[body.name]
        elif plan.family == "balls":
            v[3 * k : 3 * k + 2] = pen.rng.uniform(-4, 4, 2)
    m = reference(plan)
    stepper = Stepper(m, 1e-3)
    W = stepper.directions(Pose(stepper.q))[: stepper.bilateral]
    asked = [rate for joint in m.joints for rate in _rates(joint)]
    root = np.sqrt(stepper.inverse)
    off = np.array(asked) - W @ v
    v = v + root * (np.linalg.pinv(W * root) @ off if len(off) else 0.0)
    v[np.abs(v) < 1e-13] = 0.0
    plan.velocities = {body.name: tuple(map(float, v[3 * k : 3 * k + 3])) for k, body in enumerate(plan.bodies)}


def _rates(joint: Any) -> list[float]:
    if isinstance(joint, ReferenceMotor):
        return [joint.law(0.0)[1]]
    return [0.0] * len(joint.values(Pose(np.zeros(300)), 0.0))
