"""Mechanisms in space that move although they have more constraints than they could."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import kempe as kp

GRAVITY = 9.81


@dataclass(frozen=True)
class Door:
    """A body on hinges along one axis: where they are along it, their stiffnesses, and where the centre of mass is."""

    axis: np.ndarray
    places: np.ndarray
    straight: np.ndarray
    tilting: np.ndarray
    centre: np.ndarray
    mass: float = 30.0
    inertia: float = 4.0  # (the same about every axis)

    def mechanism(self, stiff: bool = True) -> kp.Mechanism:
        """The door as it is drawn."""
        m = kp.Mechanism(f"door on {len(self.places)} hinges", dim=3, gravity=(0.0, 0.0, -GRAVITY))
        door = m.body("door", mass=self.mass, inertia=(self.inertia,) * 3, at=tuple(self.centre))
        for k, place in enumerate(self.places):
            given = {"length": float(self.straight[k]), "angle": float(self.tilting[k])} if stiff else None
            at = tuple(place * self.axis)
            m.revolute(f"hinge {k}", m.ground, door, at=at, axis=tuple(self.axis), stiffness=given)
        return m

    def reactions(self) -> tuple[np.ndarray, np.ndarray]:
        """Force and moment of each hinge on the door when it is let go, if it and the hinges give a little.

        A small shift u and turn theta of the door strain hinge k by u + theta x r_k, and by theta across the axis.
        """
        n, c, g = self.axis, self.centre, np.array([0.0, 0.0, -GRAVITY])
        out = c - (c @ n) * n
        alpha = n @ np.cross(c, self.mass * g) / (self.inertia + self.mass * out @ out)
        force = self.mass * (alpha * np.cross(n, c) - g)
        moment = self.inertia * alpha * n
        across = np.eye(3) - np.outer(n, n)
        K = np.zeros((6, 6))
        for place, k, tilt in zip(self.places, self.straight, self.tilting, strict=True):
            arm = _skew(place * n - c)
            strain = np.hstack([np.eye(3), -arm])
            K += k * strain.T @ strain
            K[3:, 3:] += tilt * across
        moved = np.linalg.lstsq(K, np.concatenate([force, moment]), rcond=1e-12)[0]
        strained = [moved[:3] + np.cross(moved[3:], place * n - c) for place in self.places]
        return self.straight[:, None] * strained, np.array([tilt * across @ moved[3:] for tilt in self.tilting])


def _skew(r: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def random_door(rng: np.random.Generator) -> Door:
    """Two to five hinges of stiffnesses over two decades, on an axis that is anywhere."""
    count = int(rng.integers(2, 6))
    axis = rng.normal(size=3)
    return Door(
        axis / np.linalg.norm(axis),
        np.cumsum(rng.uniform(0.2, 0.8, count)),
        10.0 ** rng.uniform(6.0, 8.0, count),
        10.0 ** rng.uniform(5.0, 7.0, count),
        rng.normal(size=3),
    )


def upright(count: int) -> Door:
    """A door as in a house, on equal hinges."""
    return Door(
        np.array([0.0, 0.0, 1.0]),
        np.linspace(0.2, 1.8, count),
        np.full(count, 1e8),
        np.full(count, 1e5),
        np.array([0.4, 0.0, 1.0]),
    )


def _denavit(theta: float, length: float, twist: float) -> np.ndarray:
    c, s, ct, st = np.cos(theta), np.sin(theta), np.cos(twist), np.sin(twist)
    return np.array(
        [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0.0, st, ct, 0.0], [0.0, 0.0, 0.0, 1.0]]
    )


def bennett(theta: float = 1.0, **options: Any) -> kp.Mechanism:
    """Bennett's linkage: opposite links alike, sin(alpha)/a = sin(beta)/b, and no offsets; four hinges in a loop."""
    a, alpha, beta = 1.0, np.pi / 3, np.pi / 4
    b = a * np.sin(beta) / np.sin(alpha)
    other = 2.0 * np.arctan(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(theta / 2))
    frames = [np.eye(4)]
    for turn, length, twist in (
        (theta, a, alpha),
        (other, b, beta),
        (2 * np.pi - theta, a, alpha),
        (2 * np.pi - other, b, beta),
    ):
        frames.append(frames[-1] @ _denavit(turn, length, twist))
    assert np.allclose(frames[-1], np.eye(4), atol=1e-12)
    m = kp.Mechanism("Bennett linkage", dim=3, gravity=(0.0, 0.0, -GRAVITY))
    links: list[Any] = [m.ground]
    for k in range(1, 4):
        middle = (frames[k][:3, 3] + frames[k - 1][:3, 3]) / 2
        links.append(m.body(f"link {k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=tuple(middle)))
    # frame k carries the axis between link k and link k + 1; the ground is link 0 and 4
    for k in range(4):
        i, j = links[k], links[(k + 1) % 4]
        m.revolute(f"R{k}", i, j, at=tuple(frames[k][:3, 3]), axis=tuple(frames[k][:3, 2]), **options)
    return m


#: The corners of a four-bar linkage in its plane.
CORNERS = np.array([[0.0, 0.0], [0.3, 0.4], [1.4, 0.9], [1.2, 0.0]])
SIZES: dict[str, Any] = {"mass": 2.0}


def four_bar(dim: int, **options: Any) -> kp.Mechanism:
    """A four-bar linkage in the plane, or of hinges in space."""
    flat = dim == 2
    m = kp.Mechanism("four-bar", dim=dim, gravity=(0.0, -GRAVITY) if flat else (0.0, -GRAVITY, 0.0))
    bodies: list[Any] = [m.ground]
    for k, name in enumerate(("crank", "coupler", "rocker")):
        at = (CORNERS[k] + CORNERS[k + 1]) / 2
        inertia: Any = 0.2 if flat else (0.1, 0.15, 0.2)
        bodies.append(m.body(name, mass=2.0, inertia=inertia, at=tuple(at) if flat else (*at, 0.0)))
    for k, name in enumerate("OABC"):
        more = {} if flat else {"axis": (0, 0, 1), **options}
        at = tuple(CORNERS[k]) if flat else (*CORNERS[k], 0.0)
        m.revolute(name, bodies[k], bodies[(k + 1) % 4], at=at, **more)
    return m
