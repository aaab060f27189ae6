"""A mechanism with design parameters and what is asked of its motion: what tests of sensitivities share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import kempe as kp

Asked = tuple[Any, ...]
"""A kind of functional ("integral", "final", "maximum", "minimum", "violation") and an expression; of a violation the
largest value that is allowed besides."""


@dataclass(frozen=True)
class Design:
    """A model, until when it runs and how, what is asked, and the instants at which its laws are less smooth."""

    model: kp.Mechanism | kp.Equations
    end: float
    asked: tuple[Asked, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    breaks: tuple[float, ...] = ()
    panels: int = 30
    """Polynomials that a reference takes for it."""

    @property
    def parameters(self) -> dict[str, float]:
        """The design as drawn."""
        return {name: p.value for name, p in self.model.parameters.items()}


def functional(asked: Asked) -> Any:
    """The same in Kempe's words."""
    kind, what, *bound = asked
    return kp.violation(what, at_most=bound[0]) if kind == "violation" else getattr(kp, kind)(what)
