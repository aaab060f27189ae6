"""An elastic structure worked out apart: a rigid plate on springs, with forces from equilibrium and stretches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import kempe as kp

GRAVITY = 9.81


@dataclass(frozen=True)
class Hung:
    """A plate on parallel rods: where they are fixed to it, how stiff each is, and how far its centre is below them."""

    places: np.ndarray
    stiffness: np.ndarray
    drop: float
    mass: float = 20.0
    inertia: float = 2.0
    length: float = 1.0
    angle: float = np.pi / 6

    def mechanism(self, stiff: bool = True, **options: object) -> kp.Mechanism:
        """The plate between rods that are links, as it hangs at the angle."""
        m = kp.Mechanism("plate", gravity=(0.0, -GRAVITY))
        tip = self.length * np.array([np.sin(self.angle), -np.cos(self.angle)])
        plate = m.body("plate", self.mass, self.inertia, at=tip + np.array([0.0, -self.drop]))
        for k, (x, stiffness) in enumerate(zip(self.places, self.stiffness, strict=True)):
            more = {"stiffness": stiffness} if stiff else {}
            m.link(f"rod {k}", m.ground, plate, on_i=(x, 0.0), on_j=(x, self.drop), **more)
        return m

    def forces(self, x: np.ndarray, vx: np.ndarray, stiffness: np.ndarray | None = None) -> np.ndarray:
        """The pull of each rod where the plate is: a small heave a and turn b of it stretch rod k by a + b x_k.

        The plate only translates, on circles: the rods together pull with m (g cos + v^2 / L) along themselves, and
        their moment about the centre of mass vanishes.
        """
        k = self.stiffness if stiffness is None else stiffness
        theta = np.arcsin(x / self.length)
        total = self.mass * (GRAVITY * np.cos(theta) + (vx / np.cos(theta)) ** 2 / self.length)
        held = np.array([[k.sum(), k @ self.places], [k @ self.places, k @ self.places**2]])
        moved = np.linalg.solve(held, np.vstack([total, -self.drop * np.tan(theta) * total]))
        return (k * (moved[0][:, None] + moved[1][:, None] * self.places)).astype(float)


def random_hung(rng: np.random.Generator) -> Hung:
    """Two to seven rods of stiffnesses over two decades."""
    count = int(rng.integers(2, 8))
    places = np.sort(rng.uniform(-1.0, 1.0, count))
    places += np.linspace(-0.3, 0.3, count)  # (never all in one place)
    stiffness = 10.0 ** rng.uniform(6.0, 8.0, count)
    return Hung(places, stiffness, float(rng.uniform(0.0, 0.4)), angle=float(rng.uniform(0.05, 0.6)))
