"""Impulses of known size: a hammer's blow."""

from __future__ import annotations

from typing import Any

import casadi as ca

from kempe.elements.base import Element, Switch
from kempe.elements.forces import acting_on
from kempe.elements.geometry import column
from kempe.elements.numbers import number, unless_zero, vector
from kempe.elements.parts import Ground, Marker
from kempe.elements.planar import relative_angle
from kempe.errors import ModelError


class Impulse(Element):
    """A known impulse on a part at a given time: velocities jump, and all joints feel it (10.20).

    ``force`` is the impulse of a force, two numbers in world directions, ``torque`` that of a torque. ``at`` is the
    point in the world, in the drawn pose; ``on`` gives it in the part's own axes (its origin if neither is given).
    """

    modes = ("before", "after")

    def __init__(
        self,
        name: str,
        part: Any,
        time: Any,
        *,
        force: Any = (0.0, 0.0),
        torque: Any = 0.0,
        at: Any = None,
        on: Any = None,
    ) -> None:
        what = f"impulse '{name}'"
        blow = vector(force, f"{what}: force")
        turning = unless_zero(number(torque, f"{what}: torque"))
        if turning is None and all(unless_zero(component) is None for component in blow):
            raise ModelError(f"{what} does nothing: give it force= or torque=")
        super().__init__(
            name,
            base=Ground(),
            on=acting_on(what, part, at, on),
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
            blow += x.push(relative_angle(x.base, x.on), x.torque)
        return [Switch("before", x.time - x.t, "after", kick=blow, note="strikes")]

    def first_mode(self, x: Any) -> Any:
        return ca.if_else(x.t > x.time, 1.0, 0.0)
