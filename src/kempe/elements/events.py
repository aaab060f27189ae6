"""Events: instants a user wants to know, or to stop at."""

from __future__ import annotations

from typing import Any

import casadi as ca

from kempe.elements.base import Element, Switch
from kempe.elements.numbers import number
from kempe.elements.quantities import as_quantity
from kempe.errors import ModelError


class Event(Element):
    """The instants at which a quantity passes a value: listed in the result, with the state there.

    ``direction`` is "both", "rising" or "falling"; ``rate=True`` watches the quantity's rate instead (a turning point
    is a rate that passes zero); with ``stop=True`` the simulation ends there.
    """

    modes = ("below", "above")

    def __init__(
        self,
        name: str,
        quantity: Any,
        value: Any = 0.0,
        *,
        direction: str = "both",
        rate: bool = False,
        stop: bool = False,
    ) -> None:
        what = f"event '{name}'"
        if direction not in ("both", "rising", "falling"):
            raise ModelError(f"{what}: direction must be 'both', 'rising' or 'falling', not {direction!r}")
        super().__init__(
            name,
            quantity=as_quantity(quantity, f"{what}: what it watches"),
            value=number(value, f"{what}: value"),
            direction=direction,
            rate=bool(rate),
            stop=bool(stop),
        )

    def _beyond(self, x: Any) -> Any:
        return x.d(x.quantity.value) - x.value if x.rate else x.quantity.above(x.value)

    def switches(self, x: Any) -> list[Switch]:
        beyond, up, down = self._beyond(x), x.direction != "falling", x.direction != "rising"
        return [
            Switch("below", -beyond, "above", note="rises past its value", stops=x.stop and up, told=up),
            Switch("above", beyond, "below", note="falls past its value", stops=x.stop and down, told=down),
        ]

    def first_mode(self, x: Any) -> Any:
        return ca.if_else(self._beyond(x) > 0, 1.0, 0.0)
