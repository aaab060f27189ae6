"""Random mechanisms: trees, loops, slider-cranks, wheels, points and bars, with forces, drivers and stops.

A plan is drawn in sizes, masses and times of about one, always assembled, and then scaled to a size, a mass and a time
of its own. Start velocities are random ones that the constraints allow.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
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
    Plan,
    Point,
    Rack,
    Reference,
    Slider,
    Spring,
    Torque,
    Torsion,
)

MOST_TURNS = 700.0
"""The fastest rate times the duration is at most this in a motion that the reference computes explicitly."""


class Pen:
    """Draws a plan, part by part."""

    def __init__(self, rng: np.random.Generator, family: str) -> None:
        self.rng = rng
        gravity = (0.0, 0.0) if rng.random() < 0.2 else (0.0, -1.0)
        self.plan = Plan(family, gravity)
        self.spread = rng.choice([0.0, 0.5, 1.5, 3.0], p=[0.3, 0.4, 0.2, 0.1])
        """Masses are 10 to a power between this and its negative."""

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def log(self, low: float, high: float) -> float:
        return float(10 ** self.rng.uniform(low, high))

    def mass(self) -> float:
        return self.log(-self.spread, self.spread)

    def vector(self, size: float = 1.0) -> np.ndarray:
        return self.rng.uniform(-size, size, 2)

    def direction(self) -> tuple[float, float]:
        if self.chance(0.4):
            return (1.0, 0.0) if self.chance(0.5) else (0.0, 1.0)
        a = self.rng.uniform(-np.pi, np.pi)
        return (float(np.cos(a)), float(np.sin(a)))

    # --- parts ------------------------------------------------------------------------------------------------------

    def body(self, at: Any, length: float = 1.0, angle: float | None = None) -> str:
        name = f"b{len(self.plan.parts)}"
        mass = self.mass()
        turn = self.rng.uniform(-np.pi, np.pi) if angle is None else angle
        inertia = mass * length**2 * self.rng.uniform(0.03, 0.2)
        self.plan.parts.append(Body(name, mass, float(inertia), pair(at), float(turn)))
        return name

    def rod(self, a: Any, b: Any) -> str:
        """A body from a to b, its centre of mass somewhere near the middle."""
        a, b = np.asarray(a), np.asarray(b)
        d = b - a
        middle = a + d * self.rng.uniform(0.3, 0.7)
        if self.chance(0.3):
            middle = middle + self.vector(0.2) * np.hypot(*d)
        angle = float(np.arctan2(d[1], d[0])) if self.chance(0.7) else None
        return self.body(middle, float(np.hypot(*d)), angle)

    def point(self, at: Any, fixed: bool = False, mass: float | None = None) -> str:
        name = f"p{len(self.plan.parts)}"
        self.plan.parts.append(Point(name, pair(at), mass, fixed))
        return name

    def bar(self, first: str, second: str, mass: float | None) -> str:
        name = f"r{len(self.plan.parts)}"
        self.plan.parts.append(Bar(name, first, second, mass))
        return name

    def join(self, kind: str, i: str, j: str, at: Any, axis: Any = (1.0, 0.0)) -> None:
        self.plan.elements.append(Joint(kind, i, j, pair(at), pair(axis)))

    def add(self, element: Any) -> None:
        self.plan.elements.append(element)

    @property
    def bodies(self) -> list[Body]:
        return self.plan.of(Body)

    def place(self, name: str) -> np.ndarray:
        return np.zeros(2) if name == "ground" else np.array(self.plan.part(name).at)

    def spot(self) -> tuple[str, np.ndarray]:
        """A random place on a random part that can carry a load."""
        parts = [
            part for part in self.plan.parts if isinstance(part, (Body, Point)) and not getattr(part, "fixed", False)
        ]
        bars = [part for part in self.plan.of(Bar) if part.mass is not None]
        if bars and self.chance(0.3):
            bar = bars[self.rng.integers(len(bars))]
            a, b = self.place(bar.first), self.place(bar.second)
            return bar.name, a + (b - a) * self.rng.uniform(0.2, 0.8)
        part = parts[self.rng.integers(len(parts))]
        return part.name, np.array(part.at) + (self.vector(0.3) if isinstance(part, Body) else 0.0)

    def law(self) -> Law:
        kind = self.rng.choice(["speed", "harmonic", "rise"])
        if kind == "speed":
            return Law("speed", (float(self.rng.uniform(-2, 2)),))
        if kind == "harmonic":
            numbers = self.rng.uniform(0.05, 0.3), self.rng.uniform(0.5, 4.0), self.rng.uniform(-3, 3)
            return Law("harmonic", tuple(map(float, numbers)))
        numbers = self.rng.uniform(-0.3, 0.3), self.rng.uniform(1.0, 4.0), self.rng.uniform(0.0, 1.0)
        return Law("rise", tuple(map(float, numbers)))


def pair(v: Any) -> tuple[float, float]:
    return (float(v[0]), float(v[1]))


# --- families ---------------------------------------------------------------------------------------------------------


def tree(pen: Pen) -> None:
    """Bodies hung on each other and on the ground by any joint, some loops closed by rods."""
    rng = pen.rng
    floating = pen.chance(0.12)
    for k in range(int(rng.integers(1, 7))):
        parent = "ground" if k == 0 or pen.chance(0.15) else pen.bodies[rng.integers(k)].name
        near = pen.place(parent)
        at = near + np.sign(pen.vector()) * rng.uniform(0.25, 1.0, 2)
        body = pen.body(at)
        if k == 0 and floating:
            continue
        where = (near + at) / 2 + pen.vector(0.2)
        kind = str(rng.choice(["revolute", "translational", "slot", "weld"], p=[0.7, 0.14, 0.1, 0.06]))
        pen.join(kind, parent, body, at if kind == "translational" and pen.chance(0.5) else where, pen.direction())
    if len(pen.bodies) > 1:
        for _ in range(int(rng.integers(0, 3))):
            i, j = rng.choice(len(pen.bodies), 2, replace=False)
            ends = [np.array(pen.bodies[b].at) + pen.vector(0.4) for b in (i, j)]
            if np.hypot(*(ends[1] - ends[0])) > 0.3:
                pen.add(Link(pen.bodies[i].name, pair(ends[0]), pen.bodies[j].name, pair(ends[1])))
    if pen.chance(0.06) and pen.plan.elements:
        pen.add(pen.plan.elements[rng.integers(len(pen.plan.elements))])  # a joint given twice


def four_bar(pen: Pen) -> None:
    """A four-bar loop; some with a second loop on it, some a parallelogram with a crank too many."""
    rng = pen.rng
    O, D = np.zeros(2), np.array([rng.uniform(0.8, 2.0), rng.uniform(-0.5, 0.5)])
    if pen.chance(0.15):
        turn, length = rng.uniform(0.5, 2.6), rng.uniform(0.4, 1.0)
        arm = length * np.array([np.cos(turn), np.sin(turn)])
        coupler = pen.rod(O + arm, D + arm)
        for foot in (O, D, (O + D) / 2) if pen.chance(0.6) else (O, D):
            crank = pen.rod(foot, foot + arm)
            pen.join("revolute", "ground", crank, foot)
            pen.join("revolute", crank, coupler, foot + arm)
        return
    turns = rng.uniform(-np.pi, np.pi, 2)
    A = O + rng.uniform(0.2, 0.8) * np.array([np.cos(turns[0]), np.sin(turns[0])])
    B = D + rng.uniform(0.5, 1.5) * np.array([np.cos(turns[1]), np.sin(turns[1])])
    crank, coupler, rocker = pen.rod(O, A), pen.rod(A, B), pen.rod(B, D)
    pen.join("revolute", "ground", crank, O)
    pen.join("revolute", crank, coupler, A)
    pen.join("revolute", coupler, rocker, B)
    pen.join("revolute", rocker, "ground", D)
    if pen.chance(0.4):
        on = str(rng.choice([coupler, rocker]))
        E, F, G = pen.place(on) + pen.vector(0.4), pen.place(on) + pen.vector(1.2), pen.vector(2.0)
        first, second = pen.rod(E, F), pen.rod(F, G)
        pen.join("revolute", on, first, E)
        pen.join("revolute", first, second, F)
        pen.join(*(("revolute", second, "ground", G) if pen.chance(0.7) else ("slot", "ground", second, G, (1.0, 0.4))))


def slider_crank(pen: Pen) -> None:
    """A crank, a rod and a slider in a guide, with an offset and an inclination."""
    rng = pen.rng
    turn = rng.uniform(-np.pi, np.pi)
    r = rng.uniform(0.2, 0.6)
    A = r * np.array([np.cos(turn), np.sin(turn)])
    B = np.array([A[0] + rng.uniform(0.7, 2.0), rng.uniform(-0.3, 0.3)])
    crank, rod, slider = pen.rod((0, 0), A), pen.rod(A, B), pen.body(B, 0.3)
    pen.join("revolute", "ground", crank, (0, 0))
    pen.join("revolute", crank, rod, A)
    pen.join("revolute", rod, slider, B)
    pen.join("translational", "ground", slider, B, (1.0, rng.choice([0.0, 0.3])))
    if pen.chance(0.3):
        hung = pen.body(B + pen.vector(0.5) - (0, 0.3))
        pen.join("revolute", slider, hung, B)


def wheels(pen: Pen) -> None:
    """Gears and belts on fixed axes or on an arm, with a rack or a pendulum behind them."""
    rng = pen.rng
    planetary = pen.chance(0.35)
    carrier = "ground"
    at = np.zeros(2)
    if planetary:
        carrier = pen.body((0.4, 0.0))
        pen.join("revolute", "ground", carrier, (0.0, 0.0))
    last, radius = None, 0.0
    for k in range(int(rng.integers(2, 5))):
        r = rng.uniform(0.1, 0.5)
        at = at + (np.array([radius + r, 0.0]) if k else 0.0)
        off = pen.vector(0.15) if pen.chance(0.5) and not planetary else np.zeros(2)
        wheel = pen.body(at + off, r)
        pen.join("revolute", carrier if k or not planetary else "ground", wheel, at)
        if last is not None:
            belt = pen.chance(0.35)
            opposite = not belt or pen.chance(0.2)
            radii = (float(radius), float(r))
            pen.add(Gear("belt" if belt else "gear", last, wheel, radii, opposite, carrier))
        last, radius = wheel, r
    if pen.chance(0.5) and not planetary:
        axis, rim = (1.0, 0.0), at + np.array([0.0, radius])
        rack = pen.body(rim, 0.5, angle=0.0)
        pen.join("translational", "ground", rack, rim, axis)
        pen.add(Rack(str(last), rack, float(-radius), axis))
        if pen.chance(0.4):
            hung = pen.body(at + pen.vector(0.5))
            pen.join("revolute", rack, hung, rim)
    elif pen.chance(0.6):
        hung = pen.body(at + pen.vector(0.6))
        pen.join("revolute", str(last), hung, at + pen.vector(0.3))


def points_and_bars(pen: Pen) -> None:
    """Chains, loops and triangles of bars, heavy or not, with a body here and there."""
    rng = pen.rng
    before = pen.point((0, 0), fixed=True)
    chain = [before]
    light = pen.chance(0.4)
    for _ in range(int(rng.integers(1, 5))):
        at = pen.place(chain[-1]) + np.sign(pen.vector()) * rng.uniform(0.2, 0.9, 2)
        chain.append(pen.point(at, mass=pen.mass() if light or pen.chance(0.3) else None))
        pen.bar(chain[-2], chain[-1], None if light else pen.mass())
    if len(chain) > 3 and pen.chance(0.6):
        end = pen.point(pen.place(chain[-1]) + pen.vector(1.0) + (0.2, 0), fixed=True)
        pen.bar(chain[-1], end, None if light else pen.mass())
    if pen.chance(0.4):
        at = pen.place(chain[-1]) + pen.vector(0.5)
        body = pen.body(at)
        pen.join("revolute", body, chain[-1], pen.place(chain[-1]))
    if len(chain) > 2 and pen.chance(0.25):
        pen.bar(chain[-1], chain[-3], None if light else pen.mass())


FAMILIES = {
    "tree": (tree, 0.3),
    "four-bar": (four_bar, 0.2),
    "slider-crank": (slider_crank, 0.15),
    "wheels": (wheels, 0.15),
    "points and bars": (points_and_bars, 0.2),
}


def change_point(pen: Pen) -> None:
    """A four-bar that nearly lies flat on its way: it turns round a corner where one of equal sums would fork."""
    rng = pen.rng
    crank, ground = rng.uniform(0.3, 0.8), rng.uniform(0.9, 1.5)
    coupler, rocker = (ground, crank) if pen.chance(0.5) else (crank, ground)
    coupler += pen.log(-5.0, -1.0) * rng.choice([-1.0, 1.0])
    turn = rng.uniform(0.4, 1.2) * rng.choice([-1.0, 1.0])
    O, D = np.zeros(2), np.array([ground, 0.0])
    A = crank * np.array([np.cos(turn), np.sin(turn)])
    reach = np.hypot(*(D - A))
    along = (coupler**2 - rocker**2 + reach**2) / (2 * reach)
    across = np.sqrt(max(coupler**2 - along**2, 0.0)) * rng.choice([-1.0, 1.0])
    u = (D - A) / reach
    B = A + along * u + across * np.array([-u[1], u[0]])
    for first, second in ((O, A), (A, B), (B, D)):
        pen.rod(first, second)
    one, two, three = (body.name for body in pen.bodies)
    for i, j, at in (("ground", one, O), (one, two, A), (two, three, B), (three, "ground", D)):
        pen.join("revolute", i, j, at)
    pen.add(Torque(one, -float(np.sign(turn)) * pen.log(-0.5, 0.5)))


def long_chain(pen: Pen) -> None:
    """Many rods, one hung on the other."""
    at, last = np.zeros(2), "ground"
    for _ in range(int(pen.rng.integers(8, 14))):
        turn = pen.rng.uniform(-2.5, -0.6)
        end = at + 0.4 * np.array([np.cos(turn), np.sin(turn)])
        body = pen.rod(at, end)
        pen.join("revolute", last, body, at)
        at, last = end, body


def rattle(pen: Pen) -> None:
    """A block between two stops, with a pendulum in it that meets stops too."""
    rng = pen.rng
    block = pen.body((0.0, 0.0), angle=0.0)
    pen.join("translational", "ground", block, (0.0, 0.0), (1.0, 0.0))
    bob = pen.body((0.0, -0.5), angle=0.0)
    pen.join("revolute", block, bob, (0.0, 0.0))
    for name, kind, side in ((block, "x", -1), (block, "x", 1), (bob, "angle", -1), (bob, "angle", 1)):
        k = pen.log(1.0, 4.0)
        c = 2 * np.sqrt(k) * pen.log(-2.0, -0.3) if pen.chance(0.5) else 0.0
        words = "above" if side > 0 else "below"
        pen.add(Limit((kind, name), float(side * rng.uniform(0.02, 0.2)), float(k), float(c), words))


HARD = {"change point": change_point, "long chain": long_chain, "rattle": rattle}
"""What seeds from ``FIRST_HARD`` on draw."""
FIRST_HARD = 1000

# --- forces, drivers, stops -------------------------------------------------------------------------------------------


def springs(pen: Pen) -> None:
    stiff = pen.rng.choice([0.0, 2.0, 4.0], p=[0.65, 0.2, 0.15])
    for _ in range(int(pen.rng.integers(0, 4))):
        i, a = pen.spot()
        j, b = ("ground", pen.vector(1.5)) if pen.chance(0.5) else pen.spot()
        length = float(np.hypot(*(b - a)))
        if i == j or length < 0.3:
            continue
        k = pen.log(-0.5, 1.5) * 10**stiff
        c = 2 * np.sqrt(k) * pen.log(-2.0, 0.5) if pen.chance(0.5) else 0.0
        if stiff == 4.0 and pen.chance(0.8):
            c = np.sqrt(k) * pen.log(1.0, 2.5)
        free = length * (pen.rng.uniform(0.4, 1.2) if stiff == 0.0 else 1.0)
        force = float(pen.rng.uniform(-0.5, 0.5)) if pen.chance(0.2) else 0.0
        pen.add(Spring(i, pair(a), j, pair(b), float(k), float(free), float(c), force))


def torsions(pen: Pen) -> None:
    for body in pen.bodies:
        if pen.chance(0.15):
            other = "ground" if pen.chance(0.5) else str(pen.rng.choice([b.name for b in pen.bodies]))
            if other == body.name:
                continue
            drawn = body.angle - (0.0 if other == "ground" else pen.plan.part(other).angle)
            k, c = pen.log(-1.0, 1.0), pen.log(-2.0, 0.0) if pen.chance(0.5) else 0.0
            free = drawn + pen.rng.uniform(-1, 1)
            torque = float(pen.rng.uniform(-0.3, 0.3)) if pen.chance(0.3) else 0.0
            pen.add(Torsion(other, body.name, k, float(free), c, torque))


def loads(pen: Pen) -> None:
    if pen.chance(0.25):
        part, at = pen.spot()
        omega = float(pen.rng.uniform(0.5, 5.0)) if pen.chance(0.5) else 0.0
        follows = pen.chance(0.5) and part in [b.name for b in pen.bodies]
        pen.add(Load(part, pair(at), pair(pen.vector(1.0)), follows, omega))
    for body in pen.bodies:
        if pen.chance(0.1):
            omega = float(pen.rng.uniform(0.5, 5.0)) if pen.chance(0.5) else 0.0
            pen.add(Torque(body.name, float(pen.rng.uniform(-0.5, 0.5)), omega))
        if pen.chance(0.07):
            pen.add(Drag(body.name, pen.log(-2.0, 0.0)))
        if pen.chance(0.05):
            pen.add(Cubic(body.name, pen.log(-1.0, 0.5), body.angle))


def drivers(pen: Pen) -> None:
    """At most one, on a crank, a guide or the length of a rod."""
    if not pen.chance(0.22):
        return
    pinned = [e for e in pen.plan.elements if isinstance(e, Joint) and e.i == "ground" and e.kind == "revolute"]
    guided = [e for e in pen.plan.elements if isinstance(e, Joint) and e.i == "ground" and e.kind == "translational"]
    rods = pen.plan.of(Link)
    if rods and pen.chance(0.4):
        rod = rods[pen.rng.integers(len(rods))]
        pen.plan.elements[pen.plan.elements.index(rod)] = replace(rod, law=_small(pen.law()))
    elif guided and pen.chance(0.6):
        guide = guided[pen.rng.integers(len(guided))]
        slider = Slider(guide.i, guide.j, guide.at, guide.axis, _small(pen.law()))
        pen.plan.elements[pen.plan.elements.index(guide)] = slider
    elif pinned:
        pen.add(Driver(pinned[pen.rng.integers(len(pinned))].j, "angle", pen.law()))


def _small(law: Law) -> Law:
    """A law that moves a guide or a rod by little."""
    return Law("harmonic", (0.1, 2.0, 0.5)) if law.kind == "speed" else law


def stops(pen: Pen) -> None:
    """On coordinates that are free to move, some of them with preload."""
    if not pen.chance(0.3) or not pen.bodies:
        return
    for _ in range(int(pen.rng.integers(1, 3))):
        body = pen.bodies[pen.rng.integers(len(pen.bodies))]
        k = pen.log(1.0, 3.5)
        c = 2 * np.sqrt(k) * pen.log(-2.0, -0.3) if pen.chance(0.5) else 0.0
        side = "above" if pen.chance(0.5) else "below"
        away = pen.rng.uniform(0.02, 0.5) * (1 if side == "above" else -1)
        kind = str(pen.rng.choice(["angle", "x", "y", "distance"], p=[0.4, 0.2, 0.2, 0.2]))
        if kind == "distance":
            a, b = np.array(body.at) + pen.vector(0.2), np.array(body.at) + pen.vector(1.0) + (0.3, 0.3)
            drawn, quantity = float(np.hypot(*(b - a))), (kind, body.name, pair(a), "ground", pair(b))
            if drawn < 0.2 or drawn + away < 0.1:
                continue
        else:
            drawn = {"angle": body.angle, "x": body.at[0], "y": body.at[1]}[kind]
            quantity = (kind, body.name)
        pen.add(Limit(quantity, float(drawn + away), float(k), float(c), side))


# --- scaling ----------------------------------------------------------------------------------------------------------

#: The unit of every number that has one, as powers of (length, mass, time); lists of numbers share a unit.
UNITS: dict[tuple[str, str], tuple[float, float, float]] = {
    ("*", "at"): (1, 0, 0),
    ("*", "a"): (1, 0, 0),
    ("*", "b"): (1, 0, 0),
    ("*", "mass"): (0, 1, 0),
    ("Body", "inertia"): (2, 1, 0),
    ("Gear", "radii"): (1, 0, 0),
    ("Rack", "radius"): (1, 0, 0),
    ("Spring", "stiffness"): (0, 1, -2),
    ("Spring", "length"): (1, 0, 0),
    ("Spring", "damping"): (0, 1, -1),
    ("Spring", "force"): (1, 1, -2),
    ("Torsion", "stiffness"): (2, 1, -2),
    ("Torsion", "damping"): (2, 1, -1),
    ("Torsion", "torque"): (2, 1, -2),
    ("*", "omega"): (0, 0, -1),
    ("Load", "force"): (1, 1, -2),
    ("Torque", "torque"): (2, 1, -2),
    ("Drag", "c"): (-1, 1, 0),
    ("Cubic", "k"): (2, 1, -2),
}


def scaled(plan: Plan, L: float, M: float, T: float) -> Plan:
    """The same mechanism in other units."""

    def unit(powers: tuple[float, float, float]) -> float:
        return L ** powers[0] * M ** powers[1] * T ** powers[2]

    def law(given: Law, size: float) -> Law:
        units = {"hold": (), "speed": (size / T,), "harmonic": (size, 1 / T, 1.0), "rise": (size, T, T)}[given.kind]
        return Law(given.kind, tuple(n * u for n, u in zip(given.numbers, units, strict=True)))

    def one(item: Any) -> Any:
        changed: dict[str, Any] = {}
        kind = type(item).__name__
        for f in fields(item):
            value, powers = getattr(item, f.name), UNITS.get((kind, f.name), UNITS.get(("*", f.name)))
            if isinstance(value, Law):
                changed[f.name] = law(value, 1.0 if getattr(item, "coordinate", "") == "angle" else L)
            elif powers is not None and value is not None:
                u = unit(powers)
                changed[f.name] = tuple(u * c for c in value) if isinstance(value, tuple) else u * value
        if isinstance(item, Limit):
            turns = item.quantity[0] == "angle"
            where = [tuple(L * c for c in w) if isinstance(w, tuple) else w for w in item.quantity]
            changed = {
                "quantity": tuple(where),
                "limit": item.limit * (1.0 if turns else L),
                "stiffness": item.stiffness * unit((2, 1, -2) if turns else (0, 1, -2)),
                "damping": item.damping * unit((2, 1, -1) if turns else (0, 1, -1)),
            }
        return replace(item, **changed)

    g = unit((1, 0, -2))
    return replace(
        plan,
        gravity=(plan.gravity[0] * g, plan.gravity[1] * g),
        parts=[one(part) for part in plan.parts],
        elements=[one(element) for element in plan.elements],
    )


# --- the whole --------------------------------------------------------------------------------------------------------


def draw(seed: int) -> tuple[Plan, Reference]:
    """The mechanism of a seed, ready to run, as plain data and as the reference sees it."""
    rng = np.random.default_rng(seed)
    while True:
        found = _attempt(rng, seed >= FIRST_HARD)
        if found is not None:
            return found


def _attempt(rng: np.random.Generator, hard: bool) -> tuple[Plan, Reference] | None:
    names = list(HARD if hard else FAMILIES)
    family = str(rng.choice(names) if hard else rng.choice(names, p=[FAMILIES[name][1] for name in names]))
    pen = Pen(rng, family)
    (HARD[family] if hard else FAMILIES[family][0])(pen)
    for dress in (springs, torsions, loads, drivers, stops):
        dress(pen)
    L, M, T = (1.0, 1.0, 1.0) if pen.chance(0.3) else (pen.log(-3, 3), pen.log(-3, 3), pen.log(-2, 1))
    plan = scaled(pen.plan, L, M, T)
    reference = Reference(plan)
    held = sum(part.mass is not None and not part.fixed for part in plan.of(Point))  # their angles are idle
    freedom = reference.n - reference.rank - held
    driven = any(getattr(e, "law", HOLD) != HOLD for e in plan.elements)
    if freedom < (0 if driven else 1) or reference.condition > 1e4 * 10**pen.spread:
        return None
    return _started(plan, reference, rng, T)


def _started(plan: Plan, reference: Reference, rng: np.random.Generator, T: float) -> tuple[Plan, Reference] | None:
    """A start velocity, a duration, and the method of the reference."""
    speed = rng.choice([0.0, 1.0, 1.0]) / T
    v = rng.uniform(-1, 1, reference.n) * reference.unit * speed
    for body in plan.of(Point):
        if body.mass is not None and not body.fixed:
            v[3 * reference.carriers[body.name] + 2] = 0.0
    q, v = reference.projected(0.0, reference.q0[None], v[None])
    modes = tuple(0 for _ in reference.stops)
    a = reference.accelerations(0.0, q, v, modes)
    u = reference.unit
    # a stiff damper brakes hard at first: that is no pace of the motion
    pace = max(float(np.abs(v / u).max()), min(float(np.sqrt(np.abs(a / u).max())), 3 / T), 0.1 / T)
    end = rng.uniform(2.0, 8.0) / pace
    eigen = np.linalg.eigvals(reference.tangent(0.0, q[0], v[0], modes, pace))
    touching = [np.sqrt(s.stiffness * float((s.quantity(q, v)[2] ** 2 / reference.M).sum())) for s in reference.stops]
    fastest = max([float(np.abs(eigen).max()), pace, *touching])
    stiff = False
    if fastest * end > MOST_TURNS:
        swinging = float(np.abs(eigen.imag).max())
        stiff = not reference.stops and swinging * end < MOST_TURNS
        if not stiff:
            end = MOST_TURNS / fastest
    _, velocities = reference.seen(q, v)
    named = {name: float(v) for (_, name, _, _), v in zip(reference.observed, velocities[0], strict=True)}
    plan = replace(plan, velocities=named, end=float(end), pace=float(pace), stiff=stiff)
    reference.plan = plan
    reference.v0 = v[0]
    return plan, reference
