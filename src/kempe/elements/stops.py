"""Stops: one-sided springs, which touch and let go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kempe.elements.kinds import EFFORTS, rate_of
from kempe.elements.numbers import number
from kempe.elements.pressing import Pressing, pushing
from kempe.elements.quantities import as_quantity
from kempe.errors import ModelError


class BumpStop(Pressing):
    """A one-sided spring and damper on a quantity: force k d^n + c d', d > 0 being how far the limit is passed.

    With ``side="below"`` the stop acts where the quantity is below its limit (d = limit - quantity), with "above" where
    it is above. It never pulls: while k d^n + c d' is below zero the stop is *released*, and the damper takes up just
    what the spring gives, so that no force is left and the energy that was stored is dissipated.

    ``contact`` is a contact law (``kp.LankaraniNikravesh(...)``) in the place of the spring and the damper.
    """

    def __init__(
        self,
        name: str,
        quantity: Any,
        limit: Any,
        stiffness: Any = None,
        *,
        damping: Any = None,
        exponent: Any = None,
        side: str = "below",
        contact: Any = None,
    ) -> None:
        what = f"bump stop '{name}'"
        if side not in ("below", "above"):
            raise ModelError(f"{what}: side must be 'below' or 'above', not {side!r}")
        super().__init__(
            name,
            quantity=as_quantity(quantity, f"{what}: the quantity it limits"),
            limit=number(limit, f"{what}: limit"),
            side=side,
            **self._pressing(name, what, pushing(what, contact, None, stiffness, damping, exponent)),
        )

    def depth(self, x: Any) -> Any:
        beyond = x.quantity.above(x.limit)
        return beyond if x.side == "above" else -beyond

    def output_kinds(self) -> Mapping[str, str]:
        kind = self.fields["quantity"].kind  # type: ignore[attr-defined]
        depth = "length" if kind == "position" else kind
        return {"penetration": depth, "approach": rate_of(depth), "force": EFFORTS.get(kind, "effort")}
