"""The slider-crank with a loose piston pin of Zhang and others (2014): what the benchmark ``clearance`` is about."""

from __future__ import annotations

from typing import Any

import numpy as np

import kempe as kp

CRANK, ROD = 0.05, 0.12
MASSES, INERTIAS = (0.3, 0.21, 0.14), (1e-4, 2.5e-4, 1e-4)
"""Of crank, rod and slider; their centres of mass are at their middles."""
OMEGA = 5000 * np.pi / 30
TURN = 2 * np.pi / OMEGA
CLEARANCE, STIFFNESS = 0.5e-3, 9.4e9
DAMPING = 0.05
"""Of the force K d^1.5 (1 + c d'), in s/m: a loss that does not remember how fast surfaces met, for peers cannot."""
END = 1.5e-3
ENDS = (0.150408973124, -0.29788308144)
"""Where the slider and the rod's angle are then, after three contacts (``tests/benchmarks`` computes it anew)."""
SPEEDS = {"slider.vx": 0.0, "rod.omega": -CRANK * OMEGA / ROD}


def slider_crank(contact: Any, clearance: Any = CLEARANCE, m: kp.Mechanism | None = None) -> kp.Mechanism:
    """Drawn in line, the journal in the middle of its bearing; nothing weighs."""
    m = kp.Mechanism("slider crank with a loose pin") if m is None else m
    places = (CRANK / 2, CRANK + ROD / 2, CRANK + ROD)
    described = zip(("crank", "rod", "slider"), MASSES, INERTIAS, places, strict=True)
    crank, rod, slider = (m.body(name, mass, inertia, at=(x, 0.0)) for name, mass, inertia, x in described)
    main = m.revolute("O", m.ground, crank, at=(0.0, 0.0))
    m.revolute("A", crank, rod, at=(CRANK, 0.0))
    m.translational("guide", m.ground, slider)
    m.driver("motor", main.angle, kp.constant_speed(OMEGA))
    m.revolute("B", rod, slider, at=(CRANK + ROD, 0.0), clearance=clearance, contact=contact)
    return m


def designs() -> kp.Mechanism:
    """The same with clearance and stiffness as parameters."""
    m = kp.Mechanism("slider crank with a loose pin")
    play, stiffness = m.parameter("clearance", CLEARANCE), m.parameter("stiffness", STIFFNESS)
    return slider_crank(kp.LankaraniNikravesh(0.9, stiffness), play, m)


def remembered() -> kp.Mechanism:
    """With the law of Lankarani and Nikravesh."""
    return slider_crank(kp.LankaraniNikravesh(0.9, STIFFNESS))


def plain() -> kp.Mechanism:
    """With the law that peers can be given."""
    return slider_crank(kp.contact_law(lambda depth, rate, speed: STIFFNESS * depth**1.5 * (1 + DAMPING * rate)))
