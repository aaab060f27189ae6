"""Oscillators whose response is known: by a closed form, by the contraction of areas, or from the literature."""

from __future__ import annotations

from typing import Any

import numpy as np

import kempe as kp

#: The period of a forcing cos(t).
TURN = 2 * np.pi


def linear(stiffness: float, damping: float, forcing: float = 1.0, at: float = 1.0) -> kp.Equations:
    """X'' + c x' + k x = f cos(t)."""
    return kp.Equations(
        "linear",
        {"x": at},
        mass=lambda q, p: [[1.0]],
        force=lambda q, v, t, p: [forcing * kp.cos(t) - damping * v.x - stiffness * q.x],
    )


def duffing(forcing: float) -> kp.Equations:
    """Two wells: x'' + 0.3 x' - x + x^3 = f cos(1.2 t), with its cascade of doubled periods."""
    return kp.Equations(
        "duffing",
        {"x": 1.0},
        mass=lambda q, p: [[1.0]],
        force=lambda q, v, t, p: [p.forcing * kp.cos(1.2 * t) - 0.3 * v.x + q.x - q.x**3],
        parameters={"forcing": forcing},
    )


def ueda() -> kp.Equations:
    """X'' + 0.05 x' + x^3 = 7.5 cos(t), whose largest exponent is 0.1034 (Sprott, Chaos and Time-Series Analysis)."""
    return kp.Equations(
        "ueda",
        {"x": 1.0},
        mass=lambda q, p: [[1.0]],
        force=lambda q, v, t, p: [7.5 * kp.cos(t) - 0.05 * v.x - q.x**3],
    )


def striking(
    stiffness: float = 0.2, phase: float = 0.0, restitution: float | None = None, contact: Any = None
) -> kp.Mechanism:
    """An undamped mass, x'' + k x = cos(t + phase), beside a wall at x = 0: rigid, or with a contact law."""
    m = kp.Mechanism("striking mass")
    mass = m.body("mass", 1.0, 1.0, at=(0.2, 0.0))
    m.translational("rail", m.ground, mass)
    m.user_force("drive", lambda b, t: (kp.cos(t + phase) - stiffness * b.x, 0, 0), mass)
    if contact is None:
        m.stop("wall", mass.x, 0.0, restitution=restitution)
    else:
        m.bump_stop("wall", mass.x, 0.0, contact=contact)
    return m


def loose_slider_crank(clearance: float, stiffness: float, rpm: float = 5000.0) -> tuple[kp.Mechanism, float, dict]:
    """The slider-crank with a loose pin of seed 002; with its period and start velocities."""
    omega, r, L = rpm * TURN / 60.0, 0.05, 0.12
    m = kp.Mechanism("slider-crank")
    crank = m.body("crank", 0.3, 1e-4, at=(r / 2, 0))
    rod = m.body("rod", 0.21, 2.5e-4, at=(r + L / 2, 0))
    slider = m.body("slider", 0.14, 1e-4, at=(r + L, 0))
    pin = m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=(r, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0))
    m.driver("motor", pin.angle, kp.constant_speed(omega))
    law = kp.LankaraniNikravesh(0.9, stiffness)
    m.revolute("B", rod, slider, on_i=(L / 2, 0), on_j=(0, 0), clearance=clearance, bearing_radius=10e-3, contact=law)
    return m, TURN / omega, {"slider.vx": 0.0, "rod.omega": -r * omega / L}
