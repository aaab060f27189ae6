"""Values and gradients of something that does not move in time, as a user reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kempe.calling import explained_methods, suggestion
from kempe.errors import ModelError


@explained_methods
@dataclass(frozen=True, repr=False)
class StaticSensitivity:
    """Quantities of a pose at rest, or of vibrations about it, with their derivatives by design parameters.

    ``sens["arm.angle", "k"]`` is one derivative, ``gradients["arm.angle"]["k"]`` the same. ``without`` says of
    quantities that have no derivatives why; ``of`` is the equilibrium or the modes they belong to.
    """

    values: dict[str, float]
    gradients: dict[str, dict[str, float]]
    parameters: dict[str, float]
    of: Any
    without: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The quantities."""
        return list(self.values)

    def gradient(self, name: str) -> np.ndarray:
        """The derivatives of a quantity, in the order of ``parameters``."""
        return np.array(list(self._of(name).values()))

    def __getitem__(self, key: tuple[str, Any]) -> float:
        name, by = key if isinstance(key, tuple) and len(key) == 2 else (key, None)
        found, parameter = self._of(name), getattr(by, "label", by)
        if parameter not in found:
            hint = suggestion(str(parameter), found)
            raise ModelError(f"there is no derivative by {parameter!r}; write sens['{name}', 'parameter']{hint}")
        return found[parameter]

    def _of(self, name: Any) -> dict[str, float]:
        if name in self.without:
            raise ModelError(f"'{name}' has no derivatives: {self.without[name]}")
        if name not in self.gradients:
            raise ModelError(f"'{name}' was not asked for{suggestion(str(name), self.names)}")
        return self.gradients[name]

    def table(self) -> str:
        """Values, derivatives, and what one percent more of a parameter changes in percent, as text."""
        rows = [("quantity", "value", "by", "at", "derivative", "% per %")]
        for name, value in self.values.items():
            if name in self.without:
                rows.append((name, f"{value:.6g}", "-", "-", "none", "-"))
                continue
            for p, slope in self.gradients[name].items():
                relative = f"{slope * self.parameters[p] / value:.4g}" if value else "-"
                rows.append((name, f"{value:.6g}", p, f"{self.parameters[p]:.6g}", f"{slope:.6g}", relative))
        notes = [f"{name}: {reason}" for name, reason in self.without.items()]
        return "\n".join([*columns(rows, {1, 3, 4, 5}), *notes])

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self.table())}</pre>"

    def __repr__(self) -> str:
        return f"StaticSensitivity({', '.join(self.names[:8])} by {', '.join(map(repr, self.parameters))})"


def columns(rows: Sequence[Sequence[str]], right: set[int]) -> list[str]:
    """Rows of words as lines, in columns; some of them have their words to the right."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    padded = [
        [cell.rjust(w) if c in right else cell.ljust(w) for c, (cell, w) in enumerate(zip(row, widths, strict=True))]
        for row in rows
    ]
    return ["  ".join(cells).rstrip() for cells in padded]


def account(
    names: Sequence[str], values: np.ndarray, slopes: np.ndarray, parameters: Mapping[str, float], of: Any
) -> StaticSensitivity:
    """Arrays by name, all of them finite."""
    for name, slope in zip(names, slopes, strict=True):
        for p, value in zip(parameters, slope, strict=True):
            if not np.isfinite(value):
                raise ModelError(f"'{name}' has no derivative by '{p}' here")
    gradients = {n: dict(zip(parameters, slope.tolist(), strict=True)) for n, slope in zip(names, slopes, strict=True)}
    return StaticSensitivity(dict(zip(names, values.tolist(), strict=True)), gradients, dict(parameters), of)
