"""Random machines with loose joints: what the sweep for missed contacts is run on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import kempe as kp

LAWS = (kp.LankaraniNikravesh, kp.HuntCrossley, kp.Flores, kp.Gonthier)
MACHINES = ("slider crank", "two loose pins", "four bar", "rubbing four bar")


@dataclass(frozen=True)
class Design:
    """A machine and its numbers."""

    machine: str
    law: int
    numbers: dict[str, float]

    @property
    def span(self) -> float:
        """A turn, or where that is shorter, as long as about twenty flights across the clearance take."""
        omega, c = self.numbers["omega"], self.numbers["clearance"]
        return min(2 * np.pi / omega, 20 * np.sqrt(2 * c / (0.05 * omega**2)))

    def run(self, **options: object) -> kp.Result:
        m = machine(self.machine, self.law)
        return m.simulate(parameters=self.numbers, progress=False, **options)  # type: ignore[arg-type]


@cache
def machine(name: str, law: int) -> kp.Mechanism:
    m = kp.Mechanism(name)
    omega, c, k = m.parameter("omega", 500.0), m.parameter("clearance", 5e-4), m.parameter("stiffness", 1e10)
    e, g = m.parameter("restitution", 0.9), m.parameter("gravity", 0.0)
    m.gravity = (0.0, -g)
    contact = LAWS[law](e, k)
    loose = {"clearance": c, "bearing_radius": 10e-3, "contact": contact}
    r, L = 0.05, 0.12
    crank = m.body("crank", 0.3, 1e-4, at=(r / 2, 0.0))
    rod = m.body("rod", 0.21, 2.5e-4, at=(r + L / 2, 0.0))
    main = m.revolute("O", m.ground, crank, at=(0.0, 0.0))
    m.driver("motor", main.angle, kp.constant_speed(omega))
    if "bar" in name:
        rubbing = kp.ModifiedCoulomb(0.1, 0.15, (0.02, 0.05)) if "rubbing" in name else None
        rocker = m.body("rocker", 0.3, 4e-4, at=(0.145, -0.06))
        m.revolute("A", crank, rod, at=(r, 0.0))
        m.revolute("C", m.ground, rocker, at=(0.12, -0.12))
        m.revolute("B", rod, rocker, at=(r + L, 0.0), **loose, friction=rubbing)
    else:
        slider = m.body("slider", 0.14, 1e-4, at=(r + L, 0.0))
        m.translational("guide", m.ground, slider)
        m.revolute("A", crank, rod, at=(r, 0.0), **(loose if "two" in name else {}))
        m.revolute("B", rod, slider, at=(r + L, 0.0), **loose)
    return m


def drawn(seed: int) -> Design:
    """A design by its number."""
    rng = np.random.default_rng(seed)

    def between(low: float, high: float) -> float:
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    numbers = {
        "omega": between(50.0, 5000.0) * np.pi / 30,
        "clearance": between(2e-5, 1e-3),
        "stiffness": between(3e8, 3e11),
        "restitution": float(rng.uniform(0.2, 0.98)),
        "gravity": 9.81 * float(rng.integers(0, 2)),
    }
    return Design(str(rng.choice(MACHINES)), int(rng.integers(len(LAWS))), numbers)
