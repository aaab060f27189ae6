"""How a body looks: surfaces that pictures show and that no equation knows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True, eq=False)
class Look:
    """A surface of triangles: ``vertices`` (n, 3) in its own frame, ``triangles`` (m, 3) of their numbers.

    ``position`` and ``rotation`` place it in the frame of its body; the colour is red, green, blue and opacity.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    colour: tuple[float, float, float, float] = (0.7, 0.7, 0.7, 1.0)
    position: np.ndarray = field(default_factory=lambda: np.zeros(3))
    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
