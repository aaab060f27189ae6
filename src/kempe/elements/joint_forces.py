"""What acts along one quantity of a joint: a spring with a damper, and the inertia of what turns behind it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kempe.elements.base import Element, Positive
from kempe.elements.kinds import EFFORTS, rate_of
from kempe.elements.numbers import not_negative, number, unless_zero
from kempe.elements.quantities import as_quantity
from kempe.errors import ModelError


class JointSpring(Element):
    """A spring and damper along a quantity (joint.angle, joint.displacement, ...): effort -k (s - s_0) - c ds/dt.

    ``rest`` is s_0, zero unless given. The spring of an angle that is not counted over full turns gives way half a turn
    from its rest.
    """

    def __init__(self, name: str, quantity: Any, *, stiffness: Any = 0.0, rest: Any = 0.0, damping: Any = 0.0) -> None:
        what = f"joint spring '{name}'"
        fields = {
            "stiffness": unless_zero(not_negative(stiffness, f"{what}: stiffness")),
            "damping": unless_zero(not_negative(damping, f"{what}: damping")),
        }
        if all(value is None for value in fields.values()):
            raise ModelError(f"{what} does nothing: give it stiffness= or damping=")
        along = as_quantity(quantity, f"{what}: the quantity it acts along")
        super().__init__(name, quantity=along, rest=number(rest, f"{what}: rest"), **fields)

    def potential(self, x: Any) -> Any:
        return 0.0 if x.stiffness is None else x.stiffness * x.quantity.above(x.rest) ** 2 / 2

    def damping(self, x: Any) -> Any:
        s = x.quantity.value
        return 0.0 if x.damping is None else x.push(s, -x.damping * x.d(s))

    def outputs(self, x: Any) -> dict[str, Any]:
        rate = x.d(x.quantity.value)
        pull = 0.0 if x.stiffness is None else -x.stiffness * x.quantity.above(x.rest)
        return {"rate": rate, "effort": pull if x.damping is None else pull - x.damping * rate}

    def output_kinds(self) -> Mapping[str, str]:
        kind = self.fields["quantity"].kind  # type: ignore[attr-defined]
        return {"rate": rate_of(kind), "effort": EFFORTS.get(kind, "effort")}


class Armature(Element):
    """Inertia that moves with a quantity (joint.angle, ...): a rotor behind a gearbox, as the joint feels it.

    Its ``inertia`` is that of the rotor times the square of the gear ratio; its kinetic energy is J (ds/dt)^2 / 2.
    """

    def __init__(self, name: str, quantity: Any, inertia: Any) -> None:
        what = f"armature '{name}'"
        along = as_quantity(quantity, f"{what}: the quantity it moves with")
        super().__init__(name, quantity=along, inertia=Positive(inertia, f"{what}: inertia"))

    def kinetic(self, x: Any) -> Any:
        return x.inertia * x.d(x.quantity.value) ** 2 / 2
