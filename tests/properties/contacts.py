"""Contacts whose instants are known without Kempe.

A ball between stops moves by closed forms: parabolas, and (damped) oscillations about a shifted rest. Between the
turning points of a guard, which are closed forms too, the guard is monotone: no crossing can be overlooked, however
short. What has no closed form (pendulums, points that fly past each other) is integrated with DOP853 at 1e-12 in short
windows, and each window is searched on a fine grid for crossings and for dips between the grid's points.

A stop is told here as documented: it touches where its depth rises through zero; it lets go where the depth falls
through zero; with damping it is released where its force falls through zero, and presses again where it rises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ellipk, ellipkinc

G = 9.81
#: (instant, element, mode) in order of time.
Story = list[tuple[float, str, str]]


@dataclass(frozen=True)
class Stop:
    """A one-sided spring and damper: ``side`` is 1 where it acts above its limit, -1 where it acts below."""

    name: str
    limit: float
    stiffness: float
    side: int = -1
    damping: float = 0.0

    def ends(self, mode: str) -> list[tuple[str, tuple[float, float, float]]]:
        """What ends a mode: the next mode, and (p, r, s) of the guard p y + r y' + s that falls through zero."""
        depth = (float(self.side), 0.0, -self.side * self.limit)
        force = (self.side * self.stiffness, self.side * self.damping, -self.side * self.stiffness * self.limit)
        if mode == "free":
            return [("contact", _negative(depth))]
        if self.damping == 0.0:
            return [("free", depth)]
        return [("released", force)] if mode == "contact" else [("free", depth), ("contact", _negative(force))]

    def first(self, y: float, v: float) -> str:
        """The mode at the start."""
        depth, rate = self.side * (y - self.limit), self.side * v
        if depth < 0 or (depth == 0 and rate < 0):
            return "free"
        return "contact" if self.stiffness * depth + self.damping * rate >= 0 else "released"


def _negative(guard: tuple[float, float, float]) -> tuple[float, float, float]:
    return (-guard[0], -guard[1], -guard[2])


class Linear:
    """The motion y'' = A - B y - C y' from y0 and v0, in closed form."""

    def __init__(self, A: float, B: float, C: float, y0: float, v0: float) -> None:
        self.A, self.B, self.C, self.y0, self.v0 = A, B, C, y0, v0
        self.rest = A / B if B else 0.0

    def at(self, t: float) -> tuple[float, float]:
        if self.B == 0.0:
            return self.y0 + self.v0 * t + self.A * t * t / 2, self.v0 + self.A * t
        z, dz = self._decaying(self.y0 - self.rest, self.v0, t)
        return self.rest + z, dz

    def _decaying(self, z0: float, v0: float, t: float) -> tuple[float, float]:
        """Value and rate of z'' + C z' + B z = 0."""
        a, square = self.C / 2, self.B - self.C**2 / 4
        if square > 0:
            w = np.sqrt(square)
            c, s, b = np.cos(w * t), np.sin(w * t), (v0 + a * z0) / w
            fade = np.exp(-a * t)
            return fade * (z0 * c + b * s), fade * (v0 * c - (a * b + w * z0) * s)
        slow, fast = self._rates()
        second = (v0 - slow * z0) / (fast - slow)
        first = z0 - second
        e, f = first * np.exp(slow * t), second * np.exp(fast * t)
        return e + f, slow * e + fast * f

    def _rates(self) -> tuple[float, float]:
        a = self.C / 2
        s = np.sqrt(a * a - self.B)
        return -self.B / (a + s), -(a + s)

    def turns(self, p: float, r: float, end: float) -> Iterable[float]:
        """Where the rate of p y + r y' vanishes, in order, before an end."""
        a0 = self.A - self.B * self.y0 - self.C * self.v0
        u, du = p * self.v0 + r * a0, p * a0 - r * (self.B * self.v0 + self.C * a0)
        if self.B == 0.0:
            times = [-u / du] if du else []
        elif self.B > self.C**2 / 4:
            w = np.sqrt(self.B - self.C**2 / 4)
            phase = np.arctan2(-u, (du + self.C * u / 2) / w) % np.pi
            times = (phase + np.pi * np.arange(np.ceil(end * w / np.pi) + 1)) / w
        else:
            slow, fast = self._rates()
            second = (du - slow * u) / (fast - slow)
            ratio = -second / (u - second) if u != second else 0.0
            times = [np.log(ratio) / (slow - fast)] if ratio > 0 else []
        return [float(t) for t in times if 0.0 < t < end]

    def falls(self, guard: tuple[float, float, float], end: float) -> float:
        """The first instant at which the guard falls through zero; infinity where there is none before the end."""
        p, r, s = guard

        def value(t: float) -> float:
            y, v = self.at(t)
            return p * y + r * v + s

        unit = 1e-13 * (abs(p) * (abs(self.y0) + abs(s / p if p else 0)) + abs(r * self.v0))
        low, before = 0.0, value(0.0)
        for high in [*self.turns(p, r, end), end]:
            here = value(high)
            if here < before and low == 0.0 and before <= unit:  # on its zero at the start and falling
                return 0.0
            if before > 0.0 >= here:
                return float(brentq(value, low, high, xtol=1e-16, rtol=1e-15))
            low, before = high, here
        return np.inf


def ball(stops: Sequence[Stop], y: float, v: float, end: float, mass: float = 1.0, gravity: float = G) -> Story:
    """What the stops of a ball that moves along y meet, by closed forms."""
    modes, t, story = {stop.name: stop.first(y, v) for stop in stops}, 0.0, []
    while len(story) < 4000:
        pressed = [stop for stop in stops if modes[stop.name] == "contact"]
        motion = Linear(
            -gravity + sum(stop.stiffness * stop.limit for stop in pressed) / mass,
            sum(stop.stiffness for stop in pressed) / mass,
            sum(stop.damping for stop in pressed) / mass,
            y,
            v,
        )
        found = [
            (motion.falls(guard, end - t), stop.name, mode)
            for stop in stops
            for mode, guard in stop.ends(modes[stop.name])
        ]
        after, name, mode = min(found)
        if not after < end - t:
            return story
        y, v = motion.at(after)
        t += after
        modes[name] = mode
        story.append((t, name, mode))
    raise AssertionError("too many contacts for a reference")


# --- what has no closed form ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pressed:
    """A system q'' = acceleration(q, v, forces) with stops on depths(q, v) -> (depth, its rate), all by rows."""

    names: tuple[str, ...]
    stiffness: tuple[float, ...]
    damping: tuple[float, ...]
    acceleration: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    depths: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    window: float = 0.1

    def story(self, q: Any, v: Any, end: float, *, once: bool = False, trace: list[Any] | None = None) -> Story:
        """Integrated in short windows, each searched for crossings and dips; to an end, or ``once`` let go.

        ``trace`` collects the states on the way, by columns.
        """
        t, x, story = 0.0, np.concatenate([q, v]).astype(float), []
        modes = self._first(x)
        while t < end * (1 - 1e-14) and not (once and story and story[-1][2] == "free"):
            window = min(self._window(modes), end - t)
            solution = solve_ivp(
                lambda _, x, modes=tuple(modes): self._rate(x, modes),
                (0.0, window),
                x,
                "DOP853",
                rtol=1e-12,
                atol=1e-14,
                max_step=window / 2,
                dense_output=True,
            )
            found = [
                (self._falls(solution.sol, guard, window), k, mode)
                for k, current in enumerate(modes)
                for mode, guard in self._ends(k, current)
            ]
            after, k, mode = min(found, key=lambda item: item[0])
            if trace is not None:
                trace.append(solution.sol(np.linspace(0.0, min(after, window), 101)))
            x = solution.sol(min(after, window))
            t += min(after, window)
            if after < window:
                modes[k] = mode
                story.append((t, self.names[k], mode))
        return story

    def _window(self, modes: Sequence[str]) -> float:
        return min([self.window] + [2 / np.sqrt(k) for k, m in zip(self.stiffness, modes, strict=True) if m != "free"])

    def _halves(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = len(x) // 2
        return x[:half], x[half:]

    def _rate(self, x: np.ndarray, modes: Sequence[str]) -> np.ndarray:
        q, v = self._halves(x)
        forces = np.zeros(len(self.names))
        if "contact" in modes:
            depth, rate = self.depths(q, v)
            for k, mode in enumerate(modes):
                if mode == "contact":
                    forces[k] = self.stiffness[k] * depth[k] + self.damping[k] * rate[k]
        return np.concatenate([v, self.acceleration(q, v, forces)])

    def _first(self, x: np.ndarray) -> list[str]:
        depth, _ = self.depths(*self._halves(x))
        assert (np.asarray(depth) < 0).all()  # every reference begins free
        return ["free"] * len(self.names)

    def _ends(self, k: int, mode: str) -> list[tuple[str, Callable[[np.ndarray], Any]]]:
        def depth(x: np.ndarray) -> Any:
            return self.depths(*self._halves(x))[0][k]

        def force(x: np.ndarray) -> Any:
            d, rate = self.depths(*self._halves(x))
            return self.stiffness[k] * d[k] + self.damping[k] * rate[k]

        if mode == "free":
            return [("contact", lambda x: -depth(x))]
        if self.damping[k] == 0.0:
            return [("free", depth)]
        return [("released", force)] if mode == "contact" else [("free", depth), ("contact", lambda x: -force(x))]

    @staticmethod
    def _falls(at: Callable[[Any], np.ndarray], guard: Callable[[np.ndarray], Any], end: float, points: int = 201):
        grid = np.linspace(0.0, end, points)
        values = np.asarray(guard(at(grid)))
        if abs(values[0]) <= 1e-12 * np.abs(values).max():  # the guard that has just been passed
            values[0] = values[1] if values[1] > 0 else 0.0
            if values[1] < 0:
                return 0.0
        for k in range(1, points):
            if values[k - 1] > 0 >= values[k]:
                return float(brentq(lambda t: float(guard(at(t))), grid[k - 1], grid[k], xtol=1e-16, rtol=1e-15))
            inside = 1 < k + 1 < points and values[k - 1] > values[k] < values[k + 1]
            if inside and values[k] < 0.1 * max(values[k - 1], values[k + 1]) + (values[k + 1] - values[k]):
                dip = minimize_scalar(
                    lambda t: float(guard(at(t))),
                    bounds=(grid[k - 1], grid[k + 1]),
                    method="bounded",
                    options={"xatol": 1e-12},
                )
                if dip.fun < 0:
                    return float(brentq(lambda t: float(guard(at(t))), grid[k - 1], dip.x, xtol=1e-16, rtol=1e-15))
        return np.inf


def pendulum_with_stops(
    length: float, mass: float, inertia: float, stops: Sequence[Stop], gravity: float = G
) -> Pressed:
    """One angle, from the horizontal, with stops on it."""
    whole = inertia + mass * length**2
    side = np.array([stop.side for stop in stops], dtype=float)
    limit = np.array([stop.limit for stop in stops])
    return Pressed(
        tuple(stop.name for stop in stops),
        tuple(stop.stiffness for stop in stops),
        tuple(stop.damping for stop in stops),
        lambda q, v, f: (-mass * gravity * length * np.cos(q) - side @ f) / whole,
        lambda q, v: ([s * (q[0] - l) for s, l in zip(side, limit)], [s * v[0] for s in side]),
        window=0.1,
    )


def double_pendulum_with_stops(
    length: Sequence[float], mass: Sequence[float], stops: Sequence[Stop], gravity: float = G
) -> Pressed:
    """Two uniform rods, angles from the horizontal; the first stop on the first angle, the others on the bend."""
    (l1, l2), (m1, m2) = length, mass
    a, b, c = m1 * l1**2 / 3 + m2 * l1**2, m2 * l2**2 / 3, m2 * l1 * l2 / 2
    side = [stop.side for stop in stops]

    def measured(q: np.ndarray) -> list[Any]:
        return [q[0] if k == 0 else q[1] - q[0] for k in range(len(stops))]

    def acceleration(q: np.ndarray, v: np.ndarray, f: np.ndarray) -> np.ndarray:
        cos, sin = np.cos(q[1] - q[0]), np.sin(q[1] - q[0])
        pushed = [-side[k] * f[k] for k in range(len(stops))]
        first = -(m1 / 2 + m2) * gravity * l1 * np.cos(q[0]) + c * sin * v[1] ** 2 + pushed[0] - sum(pushed[1:])
        second = -m2 * gravity * l2 / 2 * np.cos(q[1]) - c * sin * v[0] ** 2 + sum(pushed[1:])
        whole = a * b - (c * cos) ** 2
        return np.array([(b * first - c * cos * second) / whole, (a * second - c * cos * first) / whole])

    return Pressed(
        tuple(stop.name for stop in stops),
        tuple(stop.stiffness for stop in stops),
        tuple(stop.damping for stop in stops),
        acceleration,
        lambda q, v: (
            [s * (x - stop.limit) for s, x, stop in zip(side, measured(q), stops)],
            [s * x for s, x in zip(side, measured(v))],
        ),
        window=0.1,
    )


def passing(reduced: float, stop: Stop, r: np.ndarray, v: np.ndarray, end: float) -> Story:
    """Two points fly past each other, a stop keeping their distance; r and v are those of the second from the first.

    Outside of contact the way is straight, and where it meets the circle is a quadratic equation; there it begins.
    """
    half, square = r @ v, v @ v
    inside = half**2 - square * (r @ r - stop.limit**2)
    if inside <= 0 or half >= 0:
        return []
    touch = -(half + np.sqrt(inside)) / square
    before = 1e-3 * np.sqrt(inside) / square
    system = Pressed(
        (stop.name,),
        (stop.stiffness,),
        (stop.damping,),
        lambda q, _, f: f[0] / reduced * q / np.hypot(*q),
        lambda q, v: ([stop.limit - np.hypot(q[0], q[1])], [-(q[0] * v[0] + q[1] * v[1]) / np.hypot(q[0], q[1])]),
        window=np.sqrt(inside) / square / 2,
    )
    begin = touch - before
    after = system.story(r + begin * v, v, end - begin, once=True)
    return [(touch, stop.name, "contact")] + [(begin + t, name, mode) for t, name, mode in after[1:]]


def swings(name: str, amplitude: float, value: float, frequency: float, end: float) -> Story:
    """When a pendulum let go at an amplitude (from the lowest position) passes an angle, by elliptic integrals."""
    m = np.sin(amplitude / 2) ** 2
    quarter, part = ellipk(m), ellipkinc(np.arcsin(np.sin(value / 2) / np.sin(amplitude / 2)), m)
    story, turn = [], 0
    while True:
        for t, mode in (
            ((4 * turn * quarter + quarter - part) / frequency, "below"),
            ((4 * (turn + 1) * quarter - quarter + part) / frequency, "above"),
        ):
            if t > end:
                return story
            story.append((t, name, mode))
        turn += 1


def spins(name: str, start: float, speed: float, half: float, end: float) -> Story:
    """When a quantity that is lowest at angle 0 and even in it passes the value it has at +-half, at constant speed."""
    if not 0 < half < np.pi:
        return []
    first, last = sorted((start, start + speed * end))
    story = []
    for turn in range(int(np.floor(first / (2 * np.pi))) - 1, int(np.ceil(last / (2 * np.pi))) + 2):
        for angle, outwards in ((2 * np.pi * turn - half, speed < 0), (2 * np.pi * turn + half, speed > 0)):
            t = (angle - start) / speed
            if 0 < t < end:
                story.append((t, name, "above" if outwards else "below"))
    return sorted(story)


# --- comparison -----------------------------------------------------------------------------------------------------


def sequence(story: Story) -> list[tuple[str, str]]:
    return [(name, mode) for _, name, mode in story]


def contacts(story: Story) -> int:
    return sum(mode == "contact" for _, _, mode in story)


@dataclass(frozen=True)
class Truth:
    """What happens exactly, and what happens in motions that are off by as much as the tolerance allows."""

    exact: Story
    near: tuple[Story, ...] = ()

    @property
    def told(self) -> bool:
        """Whether all of them tell the same: else the tolerance cannot decide, and each of them is an answer."""
        return all(sequence(story) == sequence(self.exact) for story in self.near)

    def fault(self, found: Story, slack: float = 0.0) -> str:
        """What is wrong with the instants found; nothing where they are right.

        They may be off by twice what the near motions are off by, and by ``slack``; where those do not tell the same,
        any of their stories will do.
        """
        like = [story for story in (self.exact, *self.near) if sequence(story) == sequence(found)]
        if not like:
            return f"{_short(found)} instead of {_short(self.exact)}" + ("" if self.told else " (or nearly)")
        if not self.told:
            return ""
        times = np.array([[t for t, _, _ in story] for story in like]).reshape(len(like), -1)
        allowed = 2 * np.abs(times - times[0]).max(axis=0) + slack
        off = np.abs(np.array([t for t, _, _ in found]) - times[0]) - allowed
        if len(off) and off.max() > 0:
            k = int(off.argmax())
            t, name, mode = self.exact[k]
            return f"'{name}' {mode} at {found[k][0]:.12g} instead of {t:.12g}, only {allowed[k]:.1e} allowed"
        return ""


def _short(story: Story) -> str:
    told = ", ".join(f"{name} {mode} {t:.6g}" for t, name, mode in story[:8])
    return f"{len(story)} events [{told}{', ...' if len(story) > 8 else ''}]"


def truth(story: Callable[[float, float], Story], off: float, rate: float) -> Truth:
    """The truth of a motion whose start may be moved by ``off``, and its velocity by ``off * rate``."""
    signs = product((-1.0, 1.0), (-1.0, 1.0))
    return Truth(story(0.0, 0.0), tuple(story(a * off, b * off * rate) for a, b in signs))


def clear_end(story: Story, end: float, most: int = 12) -> float:
    """An end that is not next to an event: the given one, or the middle of the longest gap in the second half."""
    times = np.array([t for t, _, _ in story if t < end + 0.05])
    if len(times) <= most and (not len(times) or np.abs(times - end).min() > 0.02):
        return end
    times = np.concatenate([[0.0], times[: most + 1]])
    gaps = np.diff(times)
    k = len(gaps) // 2 + int(gaps[len(gaps) // 2 :].argmax())
    return float((times[k] + times[k + 1]) / 2)
