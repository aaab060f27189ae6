"""How gradients are held to each other and to references: direct, adjoint, differences, Taylor."""

from __future__ import annotations

import numpy as np
from designs import Design, functional

from kempe.design.evaluating import Evaluator

TOLERANCE = 1e-11
"""Of the runs that are differentiated."""
EQUAL, TRUE = 1e-9, 1e-7
"""Direct and adjoint; either and the reference."""
STEPS = (1e-3, 5e-4, 2.5e-4)
"""Of Taylor's test, in shares of all parameters."""


def evaluator(design: Design, gradient: str = "auto", tolerance: float = TOLERANCE) -> Evaluator:
    """All that is asked of a design as functions of its parameters."""
    asked = [functional(each) for each in design.asked]
    return Evaluator(design.model, design.end, asked, gradient=gradient, tolerance=tolerance, **design.options)


def differentiated(design: Design, gradient: str, tolerance: float = TOLERANCE) -> tuple[np.ndarray, np.ndarray]:
    """Values (F,) and gradients (F, P) by a method."""
    return evaluator(design, gradient, tolerance).gradients([*design.parameters.values()])


def taylor(design: Design, gradient: np.ndarray, along: np.ndarray) -> np.ndarray:
    """What a linear prediction misses, by steps (a row each) and functional: of order two if the gradient is right."""
    at, found = np.array([*design.parameters.values()]), evaluator(design)
    changes = [h * along * np.where(at == 0.0, 1.0, np.abs(at)) for h in STEPS]
    base = found.values(at)
    return np.array([np.abs(found.values(at + change) - base - gradient @ change) for change in changes])
