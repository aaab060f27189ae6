"""What the analyses share: a model's system with its numbers, sizes and scales at given parameter values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from kempe.errors import ModelError
from kempe.model import Model
from kempe.system import System, compiled


class Posed:
    """A system at parameter values: inputs x, the drawn coordinates, and what counts as size one."""

    def __init__(self, model: Model, parameters: Mapping[str, float] | None = None) -> None:
        self.model = model
        self.system: System = compiled(model)
        if self.system.n == 0:
            raise ModelError(f"'{model.name}' has no moving part yet: add a body or a point")
        self.parameters = model.parameter_vector(parameters)
        self.x, self.drawn = self.system.inputs(self.parameters)
        if not (np.isfinite(self.x).all() and np.isfinite(self.drawn).all()):
            raise ModelError(_not_finite(self.system, self.x, self.drawn))
        wrong = self.system.not_positive(self.parameters)
        if wrong:
            raise ModelError(wrong)
        self.size = self._size()
        #: Per coordinate: a movement of this much counts as one.
        self.scale = np.where(np.isnan(self.system.natural_scale), self.size, self.system.natural_scale)

    def _size(self) -> float:
        """A characteristic length: the spread of the drawn lengths and the geometry's own numbers."""
        natural = self.system.natural_scale
        is_length = np.isnan(natural)
        lengths = np.abs(self.drawn[is_length])
        rows, columns, values = self.system.jacobian(self.x, self.drawn, 0.0)
        # in a row that also has lengths, the derivative by an angle is a lever arm, which is a length
        has_length = np.zeros(self.system.m, dtype=bool)
        has_length[rows[is_length[columns] & (values != 0)]] = True
        levers = np.abs(values * natural[columns])[has_length[rows] & ~is_length[columns]]
        candidates = np.concatenate([lengths, levers[np.isfinite(levers)]])
        largest = float(candidates.max(initial=0.0))
        return largest if largest > 0 else 1.0

    def Phi(self, q: Any, t: float) -> np.ndarray:
        """Constraint residuals."""
        return self.system.Phi(self.x, q, t)

    def linear(self, q: Any, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Phi, Phi_q, nu."""
        return self.system.linear(self.x, q, t)

    def gamma(self, q: Any, t: float, v: Any) -> np.ndarray:
        """The right-hand side of the acceleration equations."""
        return self.system.gamma(self.x, q, t, v)

    @cached_property
    def row_scale(self) -> np.ndarray:
        """Per row: the violation that a movement of size one makes, seen around the drawn pose (never zero)."""
        rng = np.random.default_rng(0)
        largest = np.zeros(self.system.m)
        for spread in (0.0, 0.1, 0.3):
            q = self.drawn + spread * self.scale * rng.uniform(-1, 1, self.system.n)
            rows, columns, values = self.system.jacobian(self.x, q, 0.0)
            norms = np.zeros(self.system.m)
            np.maximum.at(norms, rows, np.abs(values * self.scale[columns]))
            largest = np.fmax(largest, np.where(np.isfinite(norms), norms, 0.0))
        return np.where(largest > 0, largest, 1.0)


def _not_finite(system: System, x: np.ndarray, drawn: np.ndarray) -> str:
    for k, names in enumerate(system.names):
        if not np.isfinite(drawn[k]):
            return f"the drawn value of '{names[0]}' is not finite at these parameter values"
    for k, element in enumerate(system.elements):
        if not np.isfinite(x[system.x_at[k] : system.x_at[k + 1]]).all():
            return f"{element.kind} '{element.name}': a number is not finite at these parameter values"
    return "a number of the model is not finite at these parameter values"
