"""How gradients are held to each other and to references: direct, adjoint, differences, Taylor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from designs import Design, functional

TOLERANCE = 1e-11
"""Of the runs that are differentiated."""
EQUAL, TRUE = 1e-9, 1e-7
"""Direct and adjoint; either and the reference."""
STEPS = (4e-3, 2e-3, 1e-3)
"""Of Taylor's test, in shares of all parameters."""


def differentiated(design: Design, gradient: str, tolerance: float = TOLERANCE) -> tuple[np.ndarray, np.ndarray]:
    """Values (F,) and gradients (F, P) by a method."""
    asked = [functional(each) for each in design.asked]
    found = design.model.sensitivity(
        design.end, asked, gradient=gradient, tolerance=tolerance, progress=False, **design.options
    )
    rows = [[found.gradients[name][p] for p in design.parameters] for name in found.values]
    return np.array([*found.values.values()]), np.array(rows)


def moved_values(design: Design, changed: Mapping[str, float], tolerance: float = TOLERANCE) -> np.ndarray:
    """Values alone, at other parameters."""
    asked: list[Any] = [functional(each) for each in design.asked]
    found = design.model.sensitivity(
        design.end, asked, by=[], parameters=changed, tolerance=tolerance, progress=False, **design.options
    )
    return np.array([*found.values.values()])


def taylor(design: Design, gradient: np.ndarray, along: np.ndarray) -> np.ndarray:
    """What a linear prediction misses, by steps (a row each) and functional: of order two if the gradient is right."""
    at = design.parameters
    size = np.array([abs(p) or 1.0 for p in at.values()])
    base = moved_values(design, at)
    rows = []
    for h in STEPS:
        change = h * along * size
        moved = moved_values(design, {name: p + c for (name, p), c in zip(at.items(), change, strict=True)})
        rows.append(np.abs(moved - base - gradient @ change))
    return np.array(rows)
