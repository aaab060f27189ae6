"""What a design has to meet: a functional that lies between two bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

from kempe.elements.numbers import plain_number, shown
from kempe.errors import ModelError

if TYPE_CHECKING:
    from kempe.design.functionals import Functional


class Requirement:
    """``low <= functional <= high``; where both bounds are the same, the functional has to equal them.

    Requirements are written as comparisons: ``kp.final("crank.omega") <= 0.3``, ``kp.mean("motor.power") >= limit``,
    ``functional == value`` (or ``functional.equals(value)``), ``functional.between(low, high)``.
    """

    def __init__(self, functional: Functional, low: float = -math.inf, high: float = math.inf, text: str = "") -> None:
        self.functional, self.low, self.high = functional, float(low), float(high)
        if math.isnan(self.low + self.high) or self.low > self.high:
            raise ModelError(f"{functional}: nothing is at least {low:g} and at most {high:g}")
        if self.low == -math.inf and self.high == math.inf:
            raise ModelError(f"{functional}: a requirement needs a bound")
        self.text = text or self._written()

    @property
    def name(self) -> str:
        """What its functional is called."""
        return self.functional.name

    @property
    def is_equality(self) -> bool:
        """Whether the functional has to equal a number."""
        return self.low == self.high

    def excess(self, value: float) -> float:
        """How far a value of the functional is beyond the bounds; zero where the requirement is met."""
        return max(self.low - value, value - self.high, 0.0)

    def _written(self) -> str:
        if self.is_equality:
            return f"{self.functional} = {self.low:g}"
        low = f"{self.low:g} <= " if self.low > -math.inf and self.high < math.inf else ""
        return f"{low}{self.functional} " + (f"<= {self.high:g}" if self.high < math.inf else f">= {self.low:g}")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Requirement({self.text})"

    def __bool__(self) -> NoReturn:
        raise ModelError(
            f"'{self.text}' is a requirement, neither true nor false; for two bounds: functional.between(low, high)"
        )


def between(functional: Functional, low: Any, high: Any) -> Requirement:
    """A requirement with two plain bounds."""
    what = f"a bound of '{functional}'"
    return Requirement(functional, plain_number(low, what), plain_number(high, what))


def as_requirement(value: Any, what: str) -> Requirement:
    """A requirement as it is; anything else is explained."""
    if isinstance(value, Requirement):
        return value
    hint = "; for an equality write functional.equals(value)" if isinstance(value, bool) else ""
    raise ModelError(f"{what} must be a requirement such as kp.final('crank.omega') <= 0.3, not {shown(value)}{hint}")
