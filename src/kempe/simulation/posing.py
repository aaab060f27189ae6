"""What the analyses share: a model's system with its numbers, sizes and scales at given parameter values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kempe.elements.numbers import LARGEST
from kempe.errors import ModelError
from kempe.model import Model
from kempe.system import System, compiled
from kempe.system.sizes import draw, new_sketch


class Posed:
    """A system at parameter values: inputs x, the drawn coordinates, and what counts as size one."""

    def __init__(self, model: Model, parameters: Mapping[str, float] | None = None) -> None:
        self.model = model
        self.system: System = compiled(model)
        if self.system.n == 0:
            raise ModelError(f"'{model.name}' has no moving part yet: add a body or a point")
        self.parameters = model.parameter_vector(parameters)
        self.x, self.drawn = checked_inputs(self.system, self.parameters)
        sketch = new_sketch(self.system)
        draw(self.system, sketch, self.x, self.drawn)
        self.size = sketch.size
        #: Per coordinate: a movement of this much counts as one.
        self.scale = sketch.scale
        #: Per row: the violation that a movement of size one makes, seen around the drawn pose (never zero).
        self.row_scale = sketch.row_scale

    def Phi(self, q: Any, t: float) -> np.ndarray:
        """Constraint residuals."""
        return self.system.Phi(self.x, q, t)

    def linear(self, q: Any, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Phi, Phi_q, nu."""
        return self.system.linear(self.x, q, t)

    def gamma(self, q: Any, t: float, v: Any) -> np.ndarray:
        """The right-hand side of the acceleration equations."""
        return self.system.gamma(self.x, q, t, v)

    def within_data(self, q: Any, t: float, v: Any = None) -> None:
        """Refuse a state in which a table is read beyond its data though it does not allow it."""
        wrong = self.system.outside_data(self.x.copy(), q, t, v) if self.system.watches else []
        if wrong:
            raise ModelError(wrong)


def checked_inputs(system: System, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers and the sketch at parameter values, all of them finite and, where they must be, above zero."""
    x, drawn = system.inputs(parameters)
    if not ((np.abs(x) <= LARGEST).all() and (np.abs(drawn) <= LARGEST).all()):
        raise ModelError(_not_finite(system, x, drawn))
    wrong = system.beyond_limits(parameters)
    if wrong:
        raise ModelError(wrong)
    return x, drawn


def _not_finite(system: System, x: np.ndarray, drawn: np.ndarray) -> str:
    for k, names in enumerate(system.names):
        if not abs(drawn[k]) <= LARGEST:
            return f"the drawn value of '{names[0]}' is not finite, or far too large, at these parameter values"
    for k, element in enumerate(system.elements):
        if not (np.abs(x[system.x_at[k] : system.x_at[k + 1]]) <= LARGEST).all():
            return (
                f"{element.kind} '{element.name}': a number is not finite, or far too large, at these parameter values"
            )
    return "a number of the model is not finite at these parameter values"
