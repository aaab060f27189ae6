"""Planar mechanisms that can be built in the plane and in space: the same numbers, given to either builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import kempe as kp

GRAVITY = 9.81
ACROSS = (0.7, 0.6)
"""Inertias of bodies about the axes in the plane, which no planar motion feels, in those about z."""


class Drawer:
    """Builds in the plane of x and y; in space hinges are about z."""

    def __init__(self, name: str, dim: int, gravity: Any = (0.0, -GRAVITY)) -> None:
        self.dim = dim
        self.bodies: list[str] = []
        self.points: list[str] = []
        self.m = kp.Mechanism(name, gravity=gravity) if dim == 2 else kp.Mechanism(name, dim=3, gravity=(*gravity, 0.0))

    def place(self, at: Any) -> tuple[Any, ...]:
        """A point of the plane."""
        return tuple(at) if self.dim == 2 else (*at, 0.0)

    def body(self, name: str, mass: Any, inertia: Any, at: Any, angle: Any) -> Any:
        self.bodies.append(name)
        if self.dim == 2:
            return self.m.body(name, mass, inertia, at=at, angle=angle)
        turn = kp.Rotation.about((0, 0, 1), angle)
        return self.m.body(
            name, mass, (ACROSS[0] * inertia, ACROSS[1] * inertia, inertia), at=self.place(at), rotation=turn
        )

    def hinge(self, name: str, i: Any, j: Any, kind: str = "revolute", **where: Any) -> Any:
        """A pin; in space of a kind that leaves other motions to the rest of a loop."""
        where = {key: self.place(value) for key, value in where.items()}
        if self.dim == 2:
            return self.m.revolute(name, i, j, **where)
        if kind == "spherical":
            return self.m.spherical(name, i, j, **where)
        return getattr(self.m, kind)(name, i, j, axis=(0, 0, 1), **where)

    def link(self, name: str, i: Any, a: Any, j: Any, b: Any) -> Any:
        return self.m.link(name, i.at_world(self.place(a)), j.at_world(self.place(b)))

    def spring(self, name: str, i: Any, j: Any, *, on_i: Any, on_j: Any, **given: Any) -> Any:
        return self.m.spring(name, i, j, on_i=self.place(on_i), on_j=self.place(on_j), **given)

    def point(self, name: str, at: Any, mass: Any = None, fixed: bool = False) -> Any:
        self.points += [] if fixed else [name]
        letters = "xyz"[: self.dim] if fixed else ("z" if self.dim == 3 else "")
        return self.m.point(name, at=self.place(at), mass=mass, fixed=letters)

    def guide(self, name: str, body: Any, at: Any) -> Any:
        """A slider on a line along x."""
        if self.dim == 2:
            return self.m.translational(name, self.m.ground, body, axis=(1, 0), at=at)
        return self.m.prismatic(name, self.m.ground, body, axis=(1, 0, 0), at=self.place(at))

    def omega(self, name: str) -> str:
        """The name of an angular velocity."""
        return f"{name}.omega" if self.dim == 2 else f"{name}.omega.z"

    def angle(self, result: kp.Result, name: str) -> np.ndarray:
        """Of a body, from its axes where it is in space."""
        if self.dim == 2:
            return result.array(f"{name}.angle")
        return np.unwrap(np.arctan2(result.array(f"{name}.e1.y"), result.array(f"{name}.e1.x")))


def double_pendulum(dim: int) -> Drawer:
    """Two bodies whose centres are off their lines, a spring and a damper."""
    d = Drawer("double pendulum", dim)
    a = d.body("a", 1.3, 0.12, (0.5, 0.1), 0.2)
    b = d.body("b", 0.8, 0.07, (1.3, -0.2), -0.4)
    d.hinge("O", d.m.ground, a, at=(0, 0))
    d.hinge("A", a, b, at=(0.9, 0.0))
    d.spring("s", d.m.ground, b, on_i=(1.0, 1.0), on_j=(0.1, 0.2), stiffness=30.0, length=0.6, damping=0.4)
    return d


def slider_crank(dim: int) -> Drawer:
    """Closed, with nothing redundant in space: the rod's ends are a hinge and a ball."""
    d = Drawer("slider-crank", dim)
    r, l, phi = 0.3, 0.8, 0.7
    A = np.array([r * np.cos(phi), r * np.sin(phi)])
    B = np.array([A[0] + np.sqrt(l**2 - A[1] ** 2), 0.0])
    crank = d.body("crank", 0.9, 0.02, A / 2, phi)
    rod = d.body("rod", 0.6, 0.03, (A + B) / 2, float(np.arctan2(*(B - A)[::-1])))
    slider = d.body("slider", 0.5, 0.01, B, 0.0)
    d.hinge("O", d.m.ground, crank, at=(0, 0))
    d.hinge("A", crank, rod, "revolute", at=tuple(A))
    d.hinge("B", rod, slider, "point_on_line" if dim == 3 else "revolute", at=tuple(B))
    d.guide("guide", slider, tuple(B))
    return d


def linked(dim: int) -> Drawer:
    """Two pendulums and a rod between them."""
    d = Drawer("linked", dim)
    a = d.body("a", 1.0, 0.1, (0.1, -0.5), -1.4)
    b = d.body("b", 1.4, 0.2, (1.2, -0.6), -1.7)
    d.hinge("O", d.m.ground, a, at=(0, 0))
    d.hinge("C", d.m.ground, b, at=(1, 0))
    d.link("L", a, (0.3, -0.8), b, (1.0, -0.9))
    return d


def chain_of_points(dim: int) -> Drawer:
    """Points and bars with masses: natural coordinates in the plane too."""
    d = Drawer("points", dim)
    P = [d.point(f"P{k}", at, None, fixed=k == 0) for k, at in enumerate([(0, 0), (0.5, 0.2), (1.0, -0.1), (1.3, 0.4)])]
    for k, mass in enumerate((0.5, 0.7, 0.4)):
        d.m.bar(f"bar {k}", P[k], P[k + 1], mass=mass)
    d.spring("s", d.m.ground, P[3], on_i=(1.0, 1.2), on_j=(0, 0), stiffness=15.0, length=0.5, damping=0.3)
    return d


TWINS: dict[str, Callable[[int], Drawer]] = {
    "double pendulum": double_pendulum,
    "slider-crank": slider_crank,
    "linked": linked,
    "points": chain_of_points,
}
