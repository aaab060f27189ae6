"""Contacts between rigid surfaces, and rigid stops: they close with an impact, hold, slide or stick, and open again.

Each is made of two surfaces (``surfaces``); all else is what touching means (``Touching``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from kempe.elements.base import Positive, Switch
from kempe.elements.friction import as_friction
from kempe.elements.geometry import column
from kempe.elements.kinds import EFFORTS
from kempe.elements.numbers import number
from kempe.elements.parts import Marker
from kempe.elements.planar import cross
from kempe.elements.quantities import as_quantity
from kempe.elements.surfaces import CircleAndLine, PointAndLine, TwoCircles, on_line
from kempe.elements.touching import STICKS, Restitution, Touching
from kempe.errors import ModelError


class RigidContact(Touching):
    """A contact with a restitution: by Newton's law a ratio of velocities, by Poisson's one of impulses."""

    def _bouncing(self, what: str, restitution: Any, law: str) -> dict[str, Any]:
        """The fields of its impacts."""
        if law not in ("newton", "poisson"):
            raise ModelError(f"{what}: law must be 'newton' or 'poisson', not {law!r}")
        self._poisson = law == "poisson"
        return {"restitution": Restitution(restitution, what)}

    def restitution(self, x: Any) -> Any:
        return x.restitution

    @property
    def poisson(self) -> bool:
        return self._poisson


class SurfaceContact(RigidContact):
    """A contact between two parts ``i`` and ``j``, with friction if there is any."""

    def _make(
        self,
        name: str,
        what: str,
        ends: tuple[Marker, Marker],
        restitution: Any,
        friction: Any,
        law: str,
        **fields: Any,
    ) -> None:
        rubbing = self._touching(name, closes=True, friction=as_friction(friction, f"{what}: friction"))
        bouncing = self._bouncing(what, restitution, law)
        super().__init__(name, i=ends[0], j=ends[1], **fields, **bouncing, **rubbing)


class PointLineContact(PointAndLine, SurfaceContact):
    """A point of j that stays on the left side of a line of i, or on the line.

    ``axis`` is the line's direction in the world, in the drawn pose: the x axis if not given, or that of a marker given
    as i; left is where it points after a quarter turn. ``at`` is a point of the line in the world, in the drawn pose;
    ``on_i`` gives it in the axes of i (their origin if neither is given). ``on_j`` is the point of j (its origin if not
    given).

    ``restitution`` says how it bounces, by ``law`` "newton" or "poisson"; ``friction`` is a coefficient or a law.
    """

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        axis: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        restitution: Any = 0.0,
        friction: Any = None,
        law: str = "newton",
    ) -> None:
        what = f"point line contact '{name}'"
        ends = on_line(what, i, j, axis, at, on_i, on_j)
        self._make(name, what, ends, restitution, friction, law)


class CircleLineContact(CircleAndLine, SurfaceContact):
    """A circle of j on the left side of a line of i: a wheel on a road, a ball on a table.

    ``on_j`` is the circle's centre (the origin of j if not given); the rest is as for a contact of point and line.
    Where it sticks, it rolls.
    """

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        radius: Any,
        axis: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        restitution: Any = 0.0,
        friction: Any = None,
        law: str = "newton",
    ) -> None:
        what = f"circle line contact '{name}'"
        ends = on_line(what, i, j, axis, at, on_i, on_j)
        size = Positive(radius, f"{what}: radius")
        self._make(name, what, ends, restitution, friction, law, radius=size)


class CircleContact(TwoCircles, SurfaceContact):
    """Two circles side by side, or with ``inside=True`` the circle of j within that of i: balls, wheels, rings.

    ``radii`` are those of i and j, ``on_i`` and ``on_j`` the centres in the parts' own axes (their origins if not
    given). ``restitution``, ``friction`` and ``law`` are as for a contact of point and line. Where the circles stick,
    they roll.
    """

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        radii: Any,
        on_i: Any = None,
        on_j: Any = None,
        inside: bool = False,
        restitution: Any = 0.0,
        friction: Any = None,
        law: str = "newton",
    ) -> None:
        what = f"circle contact '{name}'"
        ends, circles = self.circles(what, i, j, on_i, on_j, radii, inside)
        self._make(name, what, ends, restitution, friction, law, **circles)

    def _make(self, *args: Any, **fields: Any) -> None:
        super()._make(*args, **fields)
        if self.rubs:
            self.latches = ("place", "facing")  # type: ignore[misc]

    def facing(self, x: Any) -> Any:
        """The angle of the line of centres, counted from where it was kept: it wraps half a turn away from there."""
        d, kept = x.j.r - x.i.r, x.kept["facing"] if self.rubs else 0.0
        u = column([ca.cos(kept), ca.sin(kept)])
        return kept + ca.if_else(ca.dot(d, d) > 0, ca.atan2(cross(u, d), ca.dot(u, d)), 0.0)

    def slid(self, x: Any) -> Any:
        """What the point of contact has moved along the circle of j, less what it has along that of i."""
        angle = self.facing(x)
        other = -x.second if x.inside else x.second
        return x.first * (angle - x.i.angle) + other * (angle - x.j.angle)

    def here(self, x: Any) -> dict[str, Any]:
        return {**super().here(x), "facing": self.facing(x)}

    def switches(self, x: Any) -> list[Switch]:
        found = super().switches(x)
        if self.rubs:  # before the angle can wrap it is kept anew
            turned = self.facing(x) - x.kept["facing"]
            found.append(Switch(STICKS, TURNED**2 - turned**2, STICKS, latch=self.here(x), told=False))
        return found


#: By how much circles roll on each other before their place is kept anew.
TURNED = 2.0


class Stop(RigidContact):
    """A rigid stop of a quantity (joint.angle, body.x, ...) at a limit, with a restitution.

    With ``side="below"`` it holds the quantity above the limit, with "above" below it, as a bump stop does.
    """

    def __init__(
        self,
        name: str,
        quantity: Any,
        limit: Any,
        *,
        side: str = "below",
        restitution: Any = 0.0,
        law: str = "newton",
    ) -> None:
        what = f"stop '{name}'"
        if side not in ("below", "above"):
            raise ModelError(f"{what}: side must be 'below' or 'above', not {side!r}")
        rubbing = self._touching(name, closes=True, friction=None)
        super().__init__(
            name,
            quantity=as_quantity(quantity, f"{what}: the quantity it limits"),
            limit=number(limit, f"{what}: limit"),
            side=side,
            **self._bouncing(what, restitution, law),
            **rubbing,
        )

    def gap(self, x: Any) -> Any:
        beyond = x.quantity.above(x.limit)
        return -beyond if x.side == "above" else beyond

    def row_kinds(self) -> Mapping[str, str]:
        kind = self.fields["quantity"].kind  # type: ignore[attr-defined]
        return {"normal": "length" if kind == "position" else kind}

    def output_kinds(self) -> Mapping[str, str]:
        kind = self.row_kinds()["normal"]
        return {"gap": kind, "normal": EFFORTS.get(kind, "effort")}
