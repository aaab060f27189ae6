"""Chains of parallelograms as numbers: built as points or as bodies, with the exact motion along their branch.

All cranks stay parallel and all couplers keep their direction, so there is one degree of freedom: with the angle theta
of the cranks the kinetic energy is A theta'^2 / 2 with constant A, and the potential is that of one weight S on them,
A theta'' = g . R'(theta) S. Whenever the cranks lie along the line of their pivots every loop is singular.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
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
        """theta''."""
        return self.p * np.cos(theta) + self.q * np.sin(theta)

    def rates(self, _: float, y: np.ndarray) -> list[float]:
        """Of angle and speed, and of their change with the size of the speed at the start."""
        c, s = np.cos(y[0]), np.sin(y[0])
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
