"""Impulses of known size: a hammer's blow."""

from __future__ import annotations

from typing import Any

import casadi as ca

from kempe.elements.base import Element, Switch
from kempe.elements.forces import acting_on
from kempe.elements.geometry import column
from kempe.elements.numbers import number, unless_zero, vector
from kempe.elements.parts import Ground, Marker
from kempe.errors import ModelError


class Impulse(Element):
    """A known impulse on a part at a given time: velocities jump, and all joints feel it (10.20).

    ``force`` is the impulse of a force, two numbers in world directions, ``torque`` that of a torque; in space both
    have three. ``at`` is the point in the world, in the drawn pose; ``on`` gives it in the part's own axes (its origin
    if neither is given).
    """

    modes = ("before", "after")

    def __init__(
        self,
        name: str,
        part: Any,
        time: Any,
        *,
        force: Any = None,
        torque: Any = None,
        at: Any = None,
        on: Any = None,
    ) -> None:
        what = f"impulse '{name}'"
        marker = acting_on(what, part, at, on)
        space = marker.carrier.space
        blow = space.origin if force is None else space.vector(force, f"{what}: force")
        given = (0.0,) * space.turns if torque is None else (torque,) if space.turns == 1 else torque
        turns = vector(given, f"{what}: torque", space.turns)
        turning = None if all(unless_zero(component) is None for component in turns) else list(turns)
        if turning is None and all(unless_zero(component) is None for component in blow):
            raise ModelError(f"{what} does nothing: give it force= or torque=")
        super().__init__(
            name,
            base=Ground(space),
            on=marker,
            time=number(time, f"{what}: time"),
            force=list(blow),
            torque=turning,
        )

    @property
    def marker(self) -> Marker:
        """Where it acts."""
        return self.fields["on"]  # type: ignore[return-value]

    def switches(self, x: Any) -> list[Switch]:
        blow = x.push(x.on.r, column(x.force))
        if x.torque is not None:
            torque = column(x.torque)
            blow += x.on.turned_by(x, torque) + x.base.turned_by(x, -torque)
        return [Switch("before", x.time - x.t, "after", kick=blow, note="strikes")]

    def first_mode(self, x: Any) -> Any:
        return ca.if_else(x.t > x.time, 1.0, 0.0)
