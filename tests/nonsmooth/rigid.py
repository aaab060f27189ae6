"""Bodies, joints, contacts and forces of the reference (``moreau.py``): rows and values by hand, in plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

GROUND = -1
Vector = Sequence[float]
#: On j and, reversed, on i: a force of direction (nx, ny) through (px, py), and a couple.
Row = tuple[int, int, float, float, float, float, float]


class Pose:
    """Where all bodies are, in plain numbers."""

    def __init__(self, q: np.ndarray) -> None:
        self.x, self.y, self.a = [*q[0::3].tolist(), 0.0], [*q[1::3].tolist(), 0.0], [*q[2::3].tolist(), 0.0]
        self.c, self.s = [math.cos(a) for a in self.a], [math.sin(a) for a in self.a]

    def turned(self, body: int, d: Vector) -> tuple[float, float]:
        """A direction of a body in the world."""
        c, s = self.c[body], self.s[body]
        return c * d[0] - s * d[1], s * d[0] + c * d[1]

    def point(self, body: int, on: Vector) -> tuple[float, float]:
        """A point of a body in the world."""
        dx, dy = self.turned(body, on)
        return self.x[body] + dx, self.y[body] + dy


@dataclass(frozen=True)
class Friction:
    """Coefficients, sliding and sticking; of a pin its ``radius``, of a guide with two pads their distance."""

    kinetic: float
    static: float = -1.0
    radius: float = 1.0
    pads: float = 0.0

    @property
    def largest(self) -> float:
        return max(self.kinetic, self.static)


# --- joints -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pin:
    """A point of i and a point of j coincide."""

    i: int
    a: Vector
    j: int
    b: Vector
    friction: Friction | None = None
    name: str = ""

    def values(self, at: Pose, t: float) -> list[float]:
        (ax, ay), (bx, by) = at.point(self.i, self.a), at.point(self.j, self.b)
        return [bx - ax, by - ay]

    def rows(self, at: Pose) -> list[Row]:
        px, py = at.point(self.j, self.b)
        return [(self.i, self.j, 1.0, 0.0, px, py, 0.0), (self.i, self.j, 0.0, 1.0, px, py, 0.0)]

    def slides(self, at: Pose) -> Row:
        return (self.i, self.j, 0.0, 0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class Guide:
    """A point of j stays on a line of i, through a along u; j does not turn in it unless it is a slot (``keeps``)."""

    i: int
    a: Vector
    u: Vector
    j: int
    b: Vector
    turn: float = 0.0
    friction: Friction | None = None
    keeps: bool = True
    name: str = ""

    def _normal(self, at: Pose) -> tuple[float, float]:
        ux, uy = at.turned(self.i, self.u)
        return -uy, ux

    def values(self, at: Pose, t: float) -> list[float]:
        (ax, ay), (bx, by), (nx, ny) = at.point(self.i, self.a), at.point(self.j, self.b), self._normal(at)
        across = nx * (bx - ax) + ny * (by - ay)
        return [across, at.a[self.j] - at.a[self.i] - self.turn] if self.keeps else [across]

    def rows(self, at: Pose) -> list[Row]:
        (px, py), (nx, ny) = at.point(self.j, self.b), self._normal(at)
        across = (self.i, self.j, nx, ny, px, py, 0.0)
        return [across, (self.i, self.j, 0.0, 0.0, 0.0, 0.0, 1.0)] if self.keeps else [across]

    def slides(self, at: Pose) -> Row:
        (px, py), (ux, uy) = at.point(self.j, self.b), at.turned(self.i, self.u)
        return (self.i, self.j, ux, uy, px, py, 0.0)


@dataclass(frozen=True)
class Motor:
    """The angle of j as seen from i follows a law of time: its value and its rate."""

    i: int
    j: int
    law: Callable[[float], tuple[float, float]]
    friction = None
    name: str = ""

    def values(self, at: Pose, t: float) -> list[float]:
        return [at.a[self.j] - at.a[self.i] - self.law(t)[0]]

    def rows(self, at: Pose) -> list[Row]:
        return [(self.i, self.j, 0.0, 0.0, 0.0, 0.0, 1.0)]


Joint = Pin | Guide | Motor


@dataclass(frozen=True)
class Rub:
    """Friction of given size against the motion of a body along d, beside a surface of given speed."""

    j: int
    d: Vector
    friction: Friction
    normal: float
    speed: float = 0.0
    name: str = ""

    def slides(self, at: Pose) -> Row:
        return (GROUND, self.j, self.d[0], self.d[1], at.x[self.j], at.y[self.j], 0.0)


# --- contacts ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OnLine:
    """A point of j, or a circle about it, stays to the left of a line of i, through a along u."""

    i: int
    a: Vector
    u: Vector
    j: int
    b: Vector
    radius: float = 0.0
    restitution: float = 0.0
    friction: Friction | None = None
    name: str = ""

    def look(self, at: Pose) -> tuple[float, Row, Row]:
        """Gap, normal and tangent."""
        (ax, ay), (bx, by), (ux, uy) = at.point(self.i, self.a), at.point(self.j, self.b), at.turned(self.i, self.u)
        nx, ny = -uy, ux
        px, py = bx - self.radius * nx, by - self.radius * ny
        gap = nx * (bx - ax) + ny * (by - ay) - self.radius
        return gap, (self.i, self.j, nx, ny, px, py, 0.0), (self.i, self.j, ux, uy, px, py, 0.0)


@dataclass(frozen=True)
class Circles:
    """Two circles that stay apart, or the second within the first."""

    i: int
    a: Vector
    j: int
    b: Vector
    radii: tuple[float, float]
    inside: bool = False
    restitution: float = 0.0
    friction: Friction | None = None
    name: str = ""

    def look(self, at: Pose) -> tuple[float, Row, Row]:
        """Gap, normal and tangent."""
        (ax, ay), (bx, by) = at.point(self.i, self.a), at.point(self.j, self.b)
        distance = math.hypot(bx - ax, by - ay)
        ex, ey = ((bx - ax) / distance, (by - ay) / distance) if distance else (1.0, 0.0)
        sign = -1.0 if self.inside else 1.0
        nx, ny, px, py = sign * ex, sign * ey, ax + self.radii[0] * ex, ay + self.radii[0] * ey
        gap = self.radii[0] - self.radii[1] - distance if self.inside else distance - sum(self.radii)
        return gap, (self.i, self.j, nx, ny, px, py, 0.0), (self.i, self.j, -ey, ex, px, py, 0.0)


@dataclass(frozen=True)
class Limit:
    """The angle of j as seen from i, or the motion of j along d, does not pass a limit; ``side`` is the free one."""

    i: int
    j: int
    limit: float
    side: float
    d: Vector | None = None
    restitution: float = 0.0
    friction = None
    name: str = ""

    def look(self, at: Pose) -> tuple[float, Row, Row]:
        """Gap, normal, and the normal again."""
        if self.d is None:
            row = (self.i, self.j, 0.0, 0.0, 0.0, 0.0, self.side)
            return self.side * (at.a[self.j] - at.a[self.i] - self.limit), row, row
        x, y = at.x[self.j], at.y[self.j]
        row = (GROUND, self.j, self.side * self.d[0], self.side * self.d[1], x, y, 0.0)
        return self.side * (self.d[0] * x + self.d[1] * y - self.limit), row, row


Contact = OnLine | Circles | Limit

# --- forces -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spring:
    """A spring and damper between two points."""

    i: int
    a: Vector
    j: int
    b: Vector
    stiffness: float
    length: float
    damping: float = 0.0


@dataclass(frozen=True)
class Torsion:
    """A spring and damper between two angles."""

    i: int
    j: int
    stiffness: float
    angle: float
    damping: float = 0.0


@dataclass(frozen=True)
class Load:
    """A force on a body's centre and a torque, given over time."""

    j: int
    at: Callable[[float], tuple[float, float, float]]
