"""Laws of friction: what resists sliding, as a share of the normal force."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from types import SimpleNamespace
from typing import Any

from kempe.elements.base import Field, Source
from kempe.elements.numbers import Number, evaluate, not_negative
from kempe.errors import ModelError


class Coulomb(Field):
    """Dry friction: sliding it is ``kinetic`` times the normal force, sticking at most ``static`` times (10.1, 10.2).

    Without ``static`` both coefficients are the same.
    """

    #: Whether it sticks: surfaces at rest hold exactly, by a constraint.
    sticks = True

    def __init__(self, kinetic: Any, static: Any = None) -> None:
        self.kinetic = not_negative(kinetic, "Coulomb friction: kinetic")
        self.static = self.kinetic if static is None else not_negative(static, "Coulomb friction: static")
        below = evaluate([self.static])[0] < evaluate([self.kinetic])[0]
        if below:
            raise ModelError("Coulomb friction: the static coefficient must not be below the kinetic one")

    def data(self) -> Iterable[Number]:
        return (self.kinetic, self.static)

    def structure(self) -> Hashable:
        return (Coulomb,)

    def symbolic(self, source: Source) -> Any:
        kinetic, static = source.numbers([self.kinetic, self.static])
        return SimpleNamespace(static=static, kinetic=lambda slip: kinetic)
