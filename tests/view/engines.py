"""A machine with every kind of load, for plots and arrows."""

import kempe as kp


def engine(rod: float = 0.2, units: str | None = "m, kg, s", name: str = "engine") -> kp.Mechanism:
    """A slider-crank under a torque, with a spring, a stop and a weight on it."""
    m = kp.Mechanism(name, gravity=(0, -9.81), units=units)
    length = m.parameter("rod length", rod)
    crank = m.body("crank", mass=0.5, inertia=0.01, at=(0.05, 0))
    link = m.body("rod", mass=0.3, inertia=0.005, at=(0.1 + length / 2, 0))
    slider = m.body("slider", mass=0.4, inertia=0.001, at=(0.1 + length, 0))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, link, at=(0.1, 0))
    m.revolute("B", link, slider, at=(0.1 + length, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0))
    m.spring("coil", m.ground.at((0.6, 0)), slider, stiffness=1000.0, damping=1.0)
    m.torque("load", crank, 0.5)
    m.force("push", link, (3.0, 4.0))
    m.torsion_spring("clock", m.ground, crank, stiffness=0.1)
    m.bump_stop("wall", slider.x, 0.28, 1e4, side="above")
    return m


START = {"crank.omega": 15.0}
