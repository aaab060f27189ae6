"""A chain of links with ten design parameters each: what the benchmark ``sensitivity`` is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import kempe as kp

GRAVITY, END, LEAN, OMEGA = 9.81, 1.0, 0.3, 5.0
KINDS = ("mass", "inertia", "above", "below", "stiffness", "angle", "damping", "fx", "fy", "torque")
"""Of a link: its inertia, how far its joints are above and below its centre, the spring and damper in the upper joint,
a force on its centre, and a torque times sin(OMEGA t)."""
USUAL = (0.2, 1.5e-3, 0.14, 0.16, 0.5, 0.05, 0.02, 0.03, -0.02, 0.01)


def values(links: int) -> np.ndarray:
    """A design: parameters of the first link, then of the second, and so on; no two links are alike."""
    vary = 1 + 0.2 * np.sin(1.0 + np.arange(links * len(KINDS)))
    return np.tile(USUAL, links) * vary


def names(links: int) -> Iterator[str]:
    """Of the parameters, in the same order."""
    return (f"{kind} {k}" for k in range(links) for kind in KINDS)


def chain(links: int) -> kp.Mechanism:
    """Hung up at the origin and drawn straight, LEAN away from hanging down, at rest."""
    m = kp.Mechanism(f"chain of {links}", gravity=(0, -GRAVITY))
    numbers = iter([m.parameter(name, value) for name, value in zip(names(links), values(links), strict=True)])
    turn = LEAN - np.pi / 2
    along = (np.cos(turn), np.sin(turn))
    last: Any = m.ground
    far: Any = 0.0
    below: Any = None
    for k in range(links):
        mass, inertia, above, after, stiffness, angle, damping, fx, fy, torque = (next(numbers) for _ in KINDS)
        centre = far + above
        body = m.body(f"link{k}", mass, inertia, at=(centre * along[0], centre * along[1]), angle=turn)
        on = (0.0, 0.0) if below is None else (below, 0.0)
        m.revolute(f"joint{k}", last, body, on_i=on, on_j=(-above, 0.0))
        free = angle + turn if below is None else angle
        m.torsion_spring(f"spring{k}", last, body, stiffness=stiffness, angle=free, damping=damping)
        m.force(f"load{k}", body, (fx, fy))
        m.torque(f"torque{k}", body, lambda t, torque=torque: torque * kp.sin(OMEGA * t))
        last, far, below = body, centre + after, after
    return m


def integrand(links: int) -> str:
    """How far the last link is from where it hung, squared."""
    return f"link{links - 1}.x**2"
