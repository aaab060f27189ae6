"""What a contact law is: a force from how deep surfaces are pressed into each other, its rate, and the approach."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import casadi as ca

from kempe.elements.base import Limit
from kempe.elements.laws import NumberedLaw
from kempe.elements.numbers import Number
from kempe.elements.sources import Source

#: Surfaces that meet more slowly than this are taken to meet at this velocity, unless a law says otherwise.
SLOWEST = 1e-3


@dataclass(frozen=True)
class Surfaces:
    """The radii of two surfaces that touch, None for a flat one or a point; ``inside``: the second within the first."""

    first: Number | None = None
    second: Number | None = None
    inside: bool = False

    @property
    def clearance(self) -> Number | None:
        """By how much the outer radius is larger."""
        if not self.inside or self.first is None or self.second is None:
            return None
        return self.first - self.second

    @property
    def radius(self) -> Number | None:
        """The radius of a sphere on a plane that touches alike: R1 R2 / (R1 + R2), with a minus where one is inside."""
        if self.first is None or self.second is None:
            return self.first if self.second is None else self.second
        if not isinstance(self.second, ca.SX) and self.second == 0.0:
            return None
        return self.first * self.second / (self.first - self.second if self.inside else self.first + self.second)


class ContactLaw(NumberedLaw):
    """A law of contact. Its equations are those of ``elastic``, ``stored``, ``damper`` and ``presses``.

    Where it is used it is ``fitted`` to the surfaces: a stiffness that follows from them is found then.
    """

    #: Whether it depends on the velocity with which the surfaces first met.
    latched: ClassVar[bool] = False

    def __init__(self, given: dict[str, Any], **numbers: Number | None) -> None:
        super().__init__(**numbers)
        self._said = {key: value for key, value in given.items() if value is not None}

    @property
    def given(self) -> dict[str, Any]:
        return dict(self._said)

    def fitted(self, what: str, surfaces: Surfaces | None) -> ContactLaw:
        """The law with all its numbers, between these surfaces; None where nothing is known of them."""
        return self

    def limits(self) -> Iterable[Limit]:
        """Stiffnesses and scales are above zero, losses not below it."""
        found = []
        for key, value in self.numbers.items():
            if value is not None:
                low = key in ("loss", "damping")
                words = f"{key} of its contact must {'not be below' if low else 'be above'} zero"
                found.append(Limit(value, words, value, strict=not low))
        return found

    def symbolic(self, source: Source) -> Any:
        law = super().symbolic(source)
        for name in ("pressed", "elastic", "stored", "damper", "presses"):
            setattr(law, name, _bound(getattr(self, name), law))
        law.latched = self.latched
        return law

    def pressed(self, law: Any, depth: Any) -> Any:
        """The depth as the law sees it: steps end beyond a switch, where a power of it has no value."""
        return ca.fmax(depth, 0.0)

    def elastic(self, law: Any, depth: Any) -> Any:
        """The elastic force at a depth as the law sees it."""
        raise NotImplementedError

    def stored(self, law: Any, depth: Any) -> Any:
        """The energy of the elastic force."""
        raise NotImplementedError

    def damper(self, law: Any, depth: Any, rate: Any, speed: Any) -> Any:
        """What is added to the elastic force; None where nothing ever is."""
        return None

    def presses(self, law: Any, depth: Any, rate: Any, speed: Any) -> Any:
        """Positive while the whole force is: None for a law that never pulls."""
        return None


def _bound(method: Callable[..., Any], law: Any) -> Callable[..., Any]:
    return lambda *args: method(law, *args)
