"""Stops: one-sided springs, which touch and let go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from kempe.elements.base import Element, Positive, Source, Switch
from kempe.elements.kinds import EFFORTS
from kempe.elements.numbers import not_negative, number, unless_zero
from kempe.elements.quantities import as_quantity
from kempe.errors import ModelError


class OneSided(Element):
    """A spring and damper that push and never pull: force k d^n + c d' where a depth d is above zero.

    While k d^n + c d' is below zero it is *released*: the damper takes up just what the spring gives, so that no force
    is left and the energy that was stored is dissipated.
    """

    modes = ("free", "contact", "released")

    @staticmethod
    def pushing(what: str, stiffness: Any, damping: Any, exponent: Any) -> dict[str, Any]:
        """The fields of the spring and the damper."""
        power = Positive(exponent, f"{what}: exponent")
        return {
            "stiffness": Positive(stiffness, f"{what}: stiffness"),
            "damping": unless_zero(not_negative(damping, f"{what}: damping")),
            "exponent": power if isinstance(power.value, ca.SX) or power.value != 1.0 else None,
        }

    def depth(self, x: Any) -> Any:
        """How far the two sides are pressed into each other."""
        raise NotImplementedError

    def view(self, source: Source) -> Any:
        x = super().view(source)
        x.depth = self.depth(x)
        x.approach = x.d(x.depth)
        # a linear spring needs no guard against negative depths and is smooth without: steps end beyond a switch
        n = x.exponent
        pressed = x.depth if n is None else ca.fmax(x.depth, 0.0)
        x.spring = x.stiffness * (pressed if n is None else pressed**n)
        x.stored = x.stiffness * (pressed**2 / 2 if n is None else pressed ** (n + 1) / (n + 1))
        x.damper = 0.0 if x.damping is None else x.damping * x.approach
        return x

    def potential(self, x: Any) -> Any:
        return x.mode("contact", x.stored) + x.mode("released", x.stored)

    def damping(self, x: Any) -> Any:
        if x.damping is None:
            return 0.0
        return x.push(x.depth, x.mode("contact", -x.damper) + x.mode("released", x.spring))

    def switches(self, x: Any) -> list[Switch]:
        found = [
            Switch("free", -x.depth, "contact", note="touches"),
            Switch("contact", x.depth, "free", note="lets go"),
        ]
        if x.damping is not None:
            force = x.spring + x.damper
            found += [
                Switch("contact", force, "released", note="is released"),
                Switch("released", x.depth, "free", note="lets go"),
                Switch("released", -force, "contact", note="presses again"),
            ]
        return found

    def outputs(self, x: Any) -> dict[str, Any]:
        """The force follows from depth and approach alone: none outside, and never a pull."""
        pushed = ca.if_else(_inside(x), ca.fmax(x.spring + x.damper, 0.0), 0.0)
        return {"penetration": ca.fmax(x.depth, 0.0), "force": pushed}

    def output_kinds(self) -> Mapping[str, str]:
        return {"penetration": "length", "force": "force"}

    def first_mode(self, x: Any) -> Any:
        presses = x.spring + x.damper >= 0
        return ca.if_else(_inside(x), ca.if_else(presses, 1.0, 2.0), 0.0)


class BumpStop(OneSided):
    """A one-sided spring and damper on a quantity: force k d^n + c d', d > 0 being how far the limit is passed.

    With ``side="below"`` the stop acts where the quantity is below its limit (d = limit - quantity), with "above" where
    it is above. It never pulls: while k d^n + c d' is below zero the stop is *released*, and the damper takes up just
    what the spring gives, so that no force is left and the energy that was stored is dissipated.
    """

    def __init__(
        self,
        name: str,
        quantity: Any,
        limit: Any,
        stiffness: Any,
        *,
        damping: Any = 0.0,
        exponent: Any = 1.0,
        side: str = "below",
    ) -> None:
        what = f"bump stop '{name}'"
        if side not in ("below", "above"):
            raise ModelError(f"{what}: side must be 'below' or 'above', not {side!r}")
        super().__init__(
            name,
            quantity=as_quantity(quantity, f"{what}: the quantity it limits"),
            limit=number(limit, f"{what}: limit"),
            **self.pushing(what, stiffness, damping, exponent),
            side=side,
        )

    def depth(self, x: Any) -> Any:
        beyond = x.quantity.above(x.limit)
        return beyond if x.side == "above" else -beyond

    def output_kinds(self) -> Mapping[str, str]:
        kind = self.fields["quantity"].kind  # type: ignore[attr-defined]
        depth = "length" if kind == "position" else kind
        return {"penetration": depth, "force": EFFORTS.get(kind, "effort")}


def _inside(x: Any) -> Any:
    """Resting or approaching at the limit itself counts as contact."""
    return ca.logic_or(x.depth > 0, ca.logic_and(x.depth == 0, x.approach >= 0))
