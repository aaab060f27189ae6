"""Chains of parallelograms as numbers: built as points or as bodies, with the exact motion along their branch.

All cranks stay parallel and all couplers keep their direction, so there is one degree of freedom: with the angle theta
of the cranks the kinetic energy is A theta'^2 / 2 with constant A, and the potential is that of one weight S on them,
A theta'' = g . R'(theta) S. Whenever the cranks lie along the line of their pivots every loop is singular.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, sin, sqrt
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import BarycentricInterpolator
from scipy.optimize import brentq

import kempe as kp


def direction(angle: Any) -> np.ndarray:
    """Unit vectors, in the last axis."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


@dataclass
class Link:
    """Mass, centre of mass in the link's own axes, inertia about it."""

    mass: float
    centre: tuple[float, float]
    inertia: float


def uniform(mass: float, length: float) -> Link:
    """A uniform bar."""
    return Link(mass, (length / 2, 0.0), mass * length**2 / 12)


@dataclass
class Chain:
    """Parallelograms side by side: cranks of one length on pivots along a line, a coupler between each two."""

    length: float
    gaps: np.ndarray
    cranks: list[Link]
    couplers: list[Link]
    gravity: tuple[float, float] = (0.0, -9.81)
    line: float = 0.0
    """The direction of the line of pivots."""
    angle: float = np.pi / 2
    """Of the cranks at the start."""
    speed: float = 1.0
    kind: str = "points"
    end: float = 1.0
    flats: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """The instants of the flat positions until the end."""
    solved: Any = None

    def __post_init__(self) -> None:
        along = np.concatenate([[0.0], np.cumsum(self.gaps)])
        self.pivots = along[:, None] * direction(self.line)
        carried = sum(link.mass for link in self.couplers)
        self.A = carried * self.length**2 + sum(b.inertia + b.mass * np.dot(b.centre, b.centre) for b in self.cranks)
        self.S = sum(b.mass * np.array(b.centre) for b in self.cranks) + np.array([carried * self.length, 0.0])
        g, S = np.array(self.gravity), self.S
        # g . R'(theta) S = p cos(theta) + q sin(theta)
        self.p, self.q = (g[1] * S[0] - g[0] * S[1]) / self.A, -(g[0] * S[0] + g[1] * S[1]) / self.A

    # --- the exact motion --------------------------------------------------------------------------------------------

    def pull(self, theta: Any) -> Any:
        """The acceleration theta''."""
        return self.p * np.cos(theta) + self.q * np.sin(theta)

    def rates(self, _: float, y: np.ndarray) -> list[float]:
        """Of angle and speed, and of their change with the size of the speed at the start."""
        c, s = cos(y[0]), sin(y[0])
        return [y[1], self.p * c + self.q * s, y[3], (self.q * c - self.p * s) * y[2]]

    def solve(self, end: float) -> Any:
        """The exact motion until a time, at least."""
        if self.solved is not None and self.solved.t_max >= end:
            return self.solved
        y = [self.angle, self.speed, 0.0, self.speed]
        rate = self.fastest()
        tiny = np.array([1.0, rate, 1e3, 1e3 * rate]) * 1e-14
        found = solve_ivp(
            self.rates, (0.0, end), y, "DOP853", rtol=3e-14, atol=tiny, dense_output=True, max_step=0.5 / rate
        )
        self.solved = found.sol
        return self.solved

    def fastest(self) -> float:
        """The largest speed there can be, by its energy."""
        high = np.hypot(self.p, self.q) - self.p * np.sin(self.angle) + self.q * np.cos(self.angle)
        return float(np.sqrt(self.speed**2 + 2 * max(high, 0.0)))

    def find_flats(self, sol: Any, end: float) -> np.ndarray:
        """All instants at which the cranks lie along the line of pivots."""
        t = np.linspace(0.0, end, int(end * self.fastest() / 0.05) + 2)
        height = np.sin(sol(t)[0] - self.line)
        found = []
        for k in np.flatnonzero(height[:-1] * height[1:] < 0):
            at = brentq(lambda t: np.sin(sol(t)[0] - self.line), t[k], t[k + 1], xtol=1e-14 * end, rtol=1e-15)
            found.append(float(at))
        return np.array(found)

    def exact(self, times: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Angles, speeds, accelerations; and by how much a relative change of the energy grows until then.

        That growth is in radians, and in radians by the fastest motion, at least 1.
        """
        y = self.solve(float(np.max(times)))(np.asarray(times, dtype=float))
        growth = 0.5 * max(np.abs(y[2]).max(), np.abs(y[3]).max() / self.fastest())  # (E ~ speed^2)
        return y[0], y[1], self.pull(y[0]), max(1.0, growth)

    # --- the model ---------------------------------------------------------------------------------------------------

    def build(self) -> kp.Mechanism:
        m = kp.Mechanism(f"{len(self.gaps)} parallelograms of {self.kind}", gravity=self.gravity)
        tips = self.pivots + self.length * direction(self.angle)
        if self.kind == "points":
            A = [m.point(f"A{i}", at=at, fixed="xy") for i, at in enumerate(self.pivots)]
            B = [m.point(f"B{i}", at=at) for i, at in enumerate(tips)]
            for i, b in enumerate(self.cranks):
                m.bar(f"v{i}", A[i], B[i], length=self.length, mass=b.mass, centre=b.centre, inertia=b.inertia)
            for i, b in enumerate(self.couplers):
                options: dict[str, Any] = {"mass": b.mass, "centre": b.centre, "inertia": b.inertia}
                m.bar(f"h{i}", B[i], B[i + 1], length=self.gaps[i], **options)
            return m
        v = [self._body(m, f"v{i}", b, self.pivots[i], self.angle) for i, b in enumerate(self.cranks)]
        h = [self._body(m, f"h{i}", b, tips[i], self.line) for i, b in enumerate(self.couplers)]
        for i, b in enumerate(self.cranks):
            m.revolute(f"A{i}", m.ground, v[i], on_i=self.pivots[i], on_j=-np.array(b.centre))
        for i, b in enumerate(self.couplers):
            first, second = np.array([self.length, 0.0]), np.array([self.gaps[i], 0.0])
            m.revolute(f"L{i}", v[i], h[i], on_i=first - self.cranks[i].centre, on_j=-np.array(b.centre))
            m.revolute(f"R{i}", v[i + 1], h[i], on_i=first - self.cranks[i + 1].centre, on_j=second - b.centre)
        return m

    @staticmethod
    def _body(m: kp.Mechanism, name: str, b: Link, start: np.ndarray, angle: float) -> Any:
        turn = np.column_stack([direction(angle), direction(angle + np.pi / 2)])
        return m.body(name, b.mass, b.inertia, at=start + turn @ b.centre, angle=angle)

    @property
    def velocities(self) -> dict[str, float]:
        """What the start is given by."""
        if self.kind == "bodies":
            return {"v0.omega": self.speed}
        vx, vy = self.length * self.speed * direction(self.angle + np.pi / 2)
        return {"B0.vx": vx, "B0.vy": vy}

    def simulate(self, times: Any, **options: Any) -> kp.Result:
        return self.build().simulate(times, velocities=self.velocities, **options)

    # --- what a result is off by -------------------------------------------------------------------------------------

    def tips(self, theta: np.ndarray) -> np.ndarray:
        """Of all cranks, by time, crank and coordinate."""
        return self.pivots[None] + self.length * direction(theta)[:, None, :]

    def angles(self, result: kp.Result) -> np.ndarray:
        """Of all cranks, by time and crank; those of points within half a turn."""
        count = range(len(self.cranks))
        if self.kind == "bodies":
            return np.column_stack([result.array(f"v{i}.angle") for i in count])
        way = self.places(result) - self.pivots[None]
        return np.arctan2(way[..., 1], way[..., 0])

    def places(self, result: kp.Result) -> np.ndarray:
        """The tips of a result."""
        count = range(len(self.cranks))
        if self.kind == "points":
            return np.stack(
                [np.column_stack([result.array(f"B{i}.x"), result.array(f"B{i}.y")]) for i in count], axis=1
            )
        return self.pivots[None] + self.length * direction(self.angles(result))

    def apart(self, result: kp.Result) -> float:
        """How far the cranks are from parallel, in radians."""
        theta = self.angles(result)
        off = theta - theta[:, :1]
        return float(np.abs(np.sin(off / 2) * 2).max())


def pick(seed: int, kind: str, most: int = 40) -> Chain:
    """A random chain that passes its flat positions two to eight times, none of them slowly."""
    rng = np.random.default_rng(seed)
    while True:
        loops = int(np.exp(rng.uniform(0.0, np.log(most + 0.99))))
        size = 10.0 ** rng.uniform(-2, 2)
        length = size * rng.uniform(0.5, 1.5)
        gaps = length * (np.ones(loops) if rng.uniform() < 0.3 else rng.uniform(0.3, 2.5, loops))
        unit = 10.0 ** rng.uniform(-1, 1)
        if rng.uniform() < 0.4:
            heavy = unit * 10.0 ** rng.uniform(-0.5, 0.5)
            cranks = [uniform(unit, length) for _ in range(loops + 1)]
            couplers = [uniform(heavy, gap) for gap in gaps]
        else:
            cranks = [_uneven(rng, unit, length) for _ in range(loops + 1)]
            couplers = [_uneven(rng, unit, gap) for gap in gaps]
        pull = 0.0 if rng.uniform() < 0.1 else size * 10.0 ** rng.uniform(-1, 2)
        gravity = tuple(float(g) for g in pull * direction(rng.uniform(-np.pi, np.pi)))
        line = float(rng.uniform(-np.pi, np.pi))
        angle = line + rng.choice([-1.0, 1.0]) * rng.uniform(0.3, np.pi - 0.3)
        c = Chain(length, gaps, cranks, couplers, gravity, line, float(angle), 1.0, kind)
        frequency = float(np.sqrt(np.hypot(c.p, c.q)))
        c.speed = float(rng.choice([-1.0, 1.0]) * rng.uniform(0.3, 4.0) * (frequency or 1.0))
        end, wanted, share = 40.0 / c.fastest(), int(rng.integers(2, 8)), rng.uniform(0.2, 0.8)
        sol = c.solve(end)
        flats = c.find_flats(sol, end)
        if len(flats) <= wanted or np.abs(sol(flats)[1]).min() < 0.3 * c.fastest():
            continue
        c.flats, c.end = flats[:wanted], float(flats[wanted - 1] + share * (flats[wanted] - flats[wanted - 1]))
        return c


def _uneven(rng: np.random.Generator, unit: float, length: float) -> Link:
    mass = unit * 10.0 ** rng.uniform(-0.5, 0.5)
    centre = (length * rng.uniform(-0.2, 1.2), length * rng.uniform(-0.3, 0.3))
    return Link(mass, (float(centre[0]), float(centre[1])), mass * length**2 * rng.uniform(0.03, 0.3))


# --- reactions ----------------------------------------------------------------------------------------------------


def reactions(c: Chain, t: float) -> dict[str, float]:
    """Forces on the second body of each joint from Newton's and Euler's equations of all links; not in flat positions.

    Unknown are two components at each joint, three equations stand for each link; they are one too many since the
    accelerations are known.
    """
    theta, omega, _, _ = (np.array(x).ravel() for x in c.exact([t]))
    angle, speed, turn = theta[0], omega[0], float(c.pull(theta[0]))
    loops = len(c.gaps)
    names = [f"A{i}" for i in range(loops + 1)] + [f"{s}{i}" for i in range(loops) for s in "LR"]
    column = {name: 2 * k for k, name in enumerate(names)}
    R = np.column_stack([direction(angle), direction(angle + np.pi / 2)])
    fixed = np.column_stack([direction(c.line), direction(c.line + np.pi / 2)])
    tip, g = R @ np.array([c.length, 0.0]), np.array(c.gravity)

    def moved(r: np.ndarray) -> np.ndarray:
        """The acceleration of a point of a crank at r from its pivot."""
        return turn * np.array([-r[1], r[0]]) - speed**2 * r

    A, b = np.zeros((3 * (2 * loops + 1), 2 * len(names))), np.zeros(3 * (2 * loops + 1))

    def link(row: int, mass: float, a: np.ndarray, couple: float, pins: list[tuple[str, float, np.ndarray]]) -> None:
        for name, sign, arm in pins:
            at = column[name]
            A[row, at] = A[row + 1, at + 1] = sign
            A[row + 2, at : at + 2] = sign * np.array([-arm[1], arm[0]]) / c.length
        b[row : row + 2] = mass * (a - g)
        b[row + 2] = couple / c.length

    for i, crank in enumerate(c.cranks):
        centre = R @ np.array(crank.centre)
        pins = [(f"A{i}", 1.0, -centre)]
        pins += [(f"L{i}", -1.0, tip - centre)] if i < loops else []
        pins += [(f"R{i - 1}", -1.0, tip - centre)] if i else []
        link(3 * i, crank.mass, moved(centre), crank.inertia * turn, pins)
    for i, coupler in enumerate(c.couplers):
        arm = fixed @ np.array(coupler.centre)
        other = fixed @ np.array([c.gaps[i], 0.0]) - arm
        # of a revolute between a crank (first) and a coupler (second) the force on the coupler counts
        pins = [(f"L{i}", 1.0, -arm), (f"R{i}", 1.0, other)]
        link(3 * (loops + 1 + i), coupler.mass, moved(tip), 0.0, pins)
    force = np.linalg.lstsq(A, b, rcond=None)[0]
    return {f"{name}.{axis}": float(force[column[name] + k]) for name in names for k, axis in enumerate("xy")}


def across(c: Chain, flat: float, times: np.ndarray, reach: float, *, pole: bool) -> dict[str, np.ndarray]:
    """Reactions at times next to a flat position, by interpolation across it; or, smooth too, t - flat times these."""
    nodes = reach * np.cos(np.pi * (np.arange(10) + 0.5) / 10)
    values = [reactions(c, flat + x) for x in nodes]
    factors = nodes if pole else np.ones_like(nodes)
    found = {}
    for name in values[0]:
        data = [x * v[name] for x, v in zip(factors, values, strict=True)]
        found[name] = BarycentricInterpolator(nodes, data)(times - flat)
    return found


# --- cases with numbers of their own ------------------------------------------------------------------------------


def plain_chain(loops: int = 1, kind: str = "bodies", even: bool = True, **given: Any) -> Chain:
    """Cranks of 1 m on pivots 1.3 m apart, turning over; or with one heavy crank and coupler."""
    gaps = np.full(loops, 1.3)
    cranks, couplers = [uniform(1.0, 1.0) for _ in range(loops + 1)], [uniform(1.0, 1.3) for _ in gaps]
    if not even:
        cranks[0], couplers[0] = Link(2.0, (0.6, 0.1), 0.3), Link(1.5, (0.3, 0.1), 0.2)
    c = Chain(1.0, gaps, cranks, couplers, kind=kind, **({"line": 0.3, "angle": 1.2, "speed": 4.0, "end": 2.0} | given))
    flats = c.find_flats(c.solve(c.end + 1.0), c.end + 1.0)
    c.flats = flats[flats < c.end]
    return c


@dataclass
class FourBar:
    """Uniform links of these lengths on pivots at 0 and (ground, 0), drawn near a parallelogram, without gravity.

    The branch is a curve F(theta, phi) = 0 of both cranks' angles. With kinetic energy to spare the motion goes along
    it at the speed that the energy gives, so (theta, phi)' is along the tangent, and of first order.
    """

    crank: float
    coupler: float
    rocker: float
    ground: float
    angle: float = 1.2
    speed: float = 3.0

    def ends(self, y: Any) -> tuple[float, float, float, float]:
        """Where the coupler is held."""
        return (
            self.crank * cos(y[0]),
            self.crank * sin(y[0]),
            self.ground + self.rocker * cos(y[1]),
            self.rocker * sin(y[1]),
        )

    def closing(self, y: Any) -> float:
        """F, half of what the coupler's length squared is too much by."""
        a, b, c, d = self.ends(y)
        return 0.5 * ((c - a) ** 2 + (d - b) ** 2 - self.coupler**2)

    def gradient(self, y: Any) -> tuple[float, float]:
        """Of F."""
        a, b, c, d = self.ends(y)
        return (c - a) * b - (d - b) * a, -(c - a) * d + (d - b) * (c - self.ground)

    def tangent(self, y: Any) -> tuple[float, float]:
        """Along the branch, as long as the motion is fast."""
        F = self.gradient(y)
        p, q = F[1], -F[0]
        one, other, both = self.crank**2, self.rocker**2, self.crank * self.rocker * cos(y[0] - y[1])
        twice = (self.crank + self.coupler) / 3 * one * p * p + (self.rocker + self.coupler) / 3 * other * q * q
        length = sqrt(twice + self.coupler / 3 * both * p * q)
        return p / length, q / length

    def start(self) -> np.ndarray:
        """The angles at which it is closed, parallel."""
        phi = brentq(lambda p: self.closing(np.array([self.angle, p])), self.angle - 0.3, self.angle + 0.3, xtol=1e-16)
        return np.array([self.angle, phi])

    def exact(self, times: np.ndarray) -> np.ndarray:
        """Both angles at times."""
        y = self.start()
        rate = self.speed / self.tangent(y)[0]

        def rates(_: float, y: np.ndarray) -> list[float]:
            F, T = self.gradient(y), self.tangent(y)
            back = 30 * self.closing(y) / (F[0] ** 2 + F[1] ** 2)  # to the curve
            return [rate * T[0] - back * F[0], rate * T[1] - back * F[1]]

        return solve_ivp(rates, (0, times[-1]), y, "DOP853", times, rtol=1e-13, atol=1e-14).y.T

    def build(self, kind: str) -> kp.Mechanism:
        m, y = kp.Mechanism("nearly a parallelogram"), self.start()
        ends = self.ends(y)
        A, B, C = np.array(ends[:2]), np.array(ends[2:]), np.array([self.ground, 0.0])
        if kind == "points":
            pivots = [m.point("O", at=(0, 0), fixed="xy"), m.point("C", at=C, fixed="xy")]
            pins = [m.point("A", at=A), m.point("B", at=B)]
            m.bar("crank", pivots[0], pins[0], length=self.crank, mass=self.crank)
            m.bar("coupler", pins[0], pins[1], length=self.coupler, mass=self.coupler)
            m.bar("rocker", pivots[1], pins[1], length=self.rocker, mass=self.rocker)
            return m
        sizes = {"crank": self.crank, "coupler": self.coupler, "rocker": self.rocker}
        places = {"crank": (0 * A, A), "coupler": (A, B), "rocker": (C, B)}
        bodies = {}
        for name, (start, end) in places.items():
            way = end - start
            at, angle = (start + end) / 2, float(np.arctan2(way[1], way[0]))
            bodies[name] = m.body(name, sizes[name], sizes[name] ** 3 / 12, at=at, angle=angle)
        half = {name: np.array([size / 2, 0.0]) for name, size in sizes.items()}
        m.revolute("O", m.ground, bodies["crank"], on_i=(0, 0), on_j=-half["crank"])
        m.revolute("A", bodies["crank"], bodies["coupler"], on_i=half["crank"], on_j=-half["coupler"])
        m.revolute("B", bodies["coupler"], bodies["rocker"], on_i=half["coupler"], on_j=half["rocker"])
        m.revolute("C", m.ground, bodies["rocker"], on_i=C, on_j=-half["rocker"])
        return m

    def simulate(self, kind: str, times: np.ndarray, **options: Any) -> kp.Result:
        rates = {"crank.omega": self.speed}
        if kind == "points":
            vx, vy = self.speed * self.crank * direction(self.angle + np.pi / 2)
            rates = {"A.vx": vx, "A.vy": vy}
        return self.build(kind).simulate(times, velocities=rates, **options)

    def apart(self, kind: str, result: kp.Result, y: np.ndarray) -> float:
        """The largest distance of both pins from where angles put them."""
        if kind == "points":
            found = [np.column_stack([result.array(f"{n}.x"), result.array(f"{n}.y")]) for n in "AB"]
        else:
            found = [self.crank * direction(result.array("crank.angle"))]
            found += [np.array([self.ground, 0.0]) + self.rocker * direction(result.array("rocker.angle"))]
        true = [self.crank * direction(y[:, 0]), np.array([self.ground, 0.0]) + self.rocker * direction(y[:, 1])]
        return float(max(np.abs(f - t).max() for f, t in zip(found, true, strict=True)))
