"""Friction against the change of any quantity, under a given load or that of a joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from kempe.elements.base import Element, Field, Load
from kempe.elements.forces import effort
from kempe.elements.friction import as_friction
from kempe.elements.geometry import length_of
from kempe.elements.kinds import EFFORTS, rate_of
from kempe.elements.motions import Law, as_law
from kempe.elements.numbers import not_negative, number, shown
from kempe.elements.quantities import as_quantity
from kempe.elements.touching import NORMAL, STICK, Touching
from kempe.errors import ModelError


class Friction(Touching):
    """Friction against the change of a quantity (body.x, joint.angle, ...): a brake, a clutch, a block on a belt.

    ``friction`` is a coefficient or a law. ``normal`` is what presses: a number, a law or function of time, or a joint,
    contact or link whose force it is (for an angle: that times a radius, which the coefficient must include).

    The surface may move: at a constant ``speed``, or by ``surface``, a law or function of time that says how far it has
    moved. What the friction of a moving surface does counts as supplied energy.
    """

    def __init__(
        self, name: str, quantity: Any, *, friction: Any, normal: Any, speed: Any = None, surface: Any = None
    ) -> None:
        what = f"friction '{name}'"
        law = as_friction(friction, f"{what}: friction")
        if law is None:
            raise ModelError(f"{what} does nothing: friction must be above zero")
        if speed is not None and surface is not None:
            raise ModelError(f"{what}: give speed= or surface=, not both")
        if isinstance(speed, Law) or (callable(speed) and not isinstance(speed, ca.SX)):
            raise ModelError(f"{what}: speed is a number; with surface= give how far the surface has moved, in time")
        moved = None if surface is None else as_law(surface, f"{what}: surface").starting(0.0)
        #: The rows of the joint that press, where a joint does.
        self.pressing = pressing_rows(normal) if isinstance(normal, Element) else ()
        rubbing = self._touching(name, closes=False, friction=law)
        super().__init__(
            name,
            quantity=as_quantity(quantity, f"{what}: the quantity it resists"),
            normal=_pressing(what, normal),
            speed=None if speed is None else number(speed, f"{what}: speed"),
            surface=moved,
            **rubbing,
        )

    def moved(self, x: Any) -> Any:
        """How far the surface has moved."""
        return 0.0 if not self._moves(x) else x.surface if x.speed is None else x.speed * x.t

    @staticmethod
    def _moves(x: Any) -> bool:
        return x.speed is not None or x.surface is not None

    def slid(self, x: Any) -> Any:
        return x.quantity.value - self.moved(x)

    def held(self, x: Any, place: Any) -> Any:
        return x.quantity.above(place + self.moved(x))

    def slip(self, x: Any) -> Any:
        along = x.d(x.quantity.value)
        return along - ca.jacobian(self.moved(x), x.t) if self._moves(x) else along

    def pressed(self, x: Any) -> Any:
        if not self.pressing:
            return ca.fmax(x.normal, 0.0)
        loads = [x.normal[row] for row in self.pressing]
        return ca.fabs(loads[0]) if len(loads) == 1 else length_of(*loads)

    def damping(self, x: Any) -> Any:
        return 0.0 if self._moves(x) else super().damping(x)

    def force(self, x: Any) -> Any:
        return self.rubbed(x) if self._moves(x) else 0.0

    def row_kinds(self) -> Mapping[str, str]:
        kind = self.fields["quantity"].kind  # type: ignore[attr-defined]
        return {STICK: "length" if kind == "position" else kind}

    def output_kinds(self) -> Mapping[str, str]:
        kind = self.row_kinds()[STICK]
        return {"friction": EFFORTS.get(kind, "effort"), "slip": rate_of(kind)}


def _pressing(what: str, normal: Any) -> Any:
    """The load: that of an element, or one in time."""
    if isinstance(normal, Element):
        rows = pressing_rows(normal)
        if not 1 <= len(rows) <= 2:
            raise ModelError(f"{what}: normal is the force of a joint, contact or link, and {normal.told()} has none")
        return Load(normal)
    if isinstance(normal, str):
        raise ModelError(f"{what}: normal must be a number, a law of time or a joint, not {shown(normal)}")
    pressing = effort(normal, f"{what}: normal")
    if pressing is None:
        raise ModelError(f"{what} does nothing: normal must be above zero")
    return pressing if isinstance(pressing, Field) else not_negative(pressing, f"{what}: normal")


def pressing_rows(element: Element) -> tuple[str, ...]:
    """The rows whose multipliers press an element's parts on each other."""
    if NORMAL in element.rows:
        return (NORMAL,)
    kinds = element.row_kinds()
    return tuple(row for row in element.rows if kinds.get(row) == "length" and row != STICK)
