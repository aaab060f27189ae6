"""Joints with clearance and contact forces: a journal that is loose in its bearing, and presses where it touches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from kempe.elements.base import Limit, Positive, Scalar
from kempe.elements.contact_laws import Surfaces, as_contact
from kempe.elements.joints import Joint, attach
from kempe.elements.numbers import evaluate, positive
from kempe.elements.planar import length_of, perpendicular
from kempe.elements.pressing import Pressing
from kempe.errors import ModelError


class ClearanceRevolute(Pressing, Joint):
    """A journal of j in a bearing of i that is wider by ``clearance`` in radius: it flies, strikes, presses and slides.

    ``contact`` is the contact law. ``bearing_radius`` is needed for friction, and where the stiffness follows from the
    materials; the journal's is smaller by the clearance. ``friction`` is a smooth law.

    Friction acts where the journal's surface is, on both sides, so that no moment is lost between them. Results have
    the journal's centre in the axes of i ("B.x", "B.y"), the force and the penetration.
    """

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        clearance: Any,
        contact: Any,
        bearing_radius: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
    ) -> None:
        what = f"revolute joint '{name}'"
        ends = attach(what, i, j, at, on_i, on_j)
        play = Positive(clearance, f"{what}: clearance")
        bearing = None if bearing_radius is None else positive(bearing_radius, f"{what}: bearing_radius")
        if bearing is not None and evaluate([bearing - play.value])[0] <= 0.0:
            raise ModelError(f"{what}: the clearance must be smaller than the bearing's radius")
        surfaces = None if bearing is None else Surfaces(bearing, bearing - play.value, inside=True)
        if surfaces is None:
            surfaces = Surfaces(play.value, 0.0, inside=True)  # a clearance, and no radius
        pressing = self._pressing(what, as_contact(contact, f"{what}: contact", surfaces), friction)
        if pressing["friction"] is not None and bearing is None:
            raise ModelError(f"{what}: friction acts on the surface of the journal: give bearing_radius= too")
        journal = None if bearing is None else bearing - play.value
        super().__init__(name, i=ends[0], j=ends[1], clearance=play, journal=journal, **pressing)

    def limits(self) -> list[Limit]:
        journal = self.fields["journal"]
        if not isinstance(journal, Scalar):
            return super().limits()
        words = f"{self.told()}: the clearance must be smaller than the bearing's radius"
        return [*super().limits(), Limit(journal.value, words, journal.value, strict=True)]

    def depth(self, x: Any) -> Any:
        d = x.j.r - x.i.r
        return length_of(d[0], d[1]) - x.clearance

    def _way(self, x: Any) -> tuple[Any, Any]:
        """The direction along the surfaces, and how far the journal's surface is from the bearing's centre."""
        d = x.j.r - x.i.r
        apart = length_of(d[0], d[1])
        return perpendicular(d) / ca.fmax(apart, 1e-300), apart + x.journal

    def slip(self, x: Any) -> Any:
        """How fast the journal's surface moves along the bearing's, both of them with the radii they have unpressed."""
        along, _ = self._way(x)
        d = x.j.r - x.i.r
        moved = x.d(d[0]) * along[0] + x.d(d[1]) * along[1]
        return moved + x.journal * x.d(x.j.angle) - (x.journal + x.clearance) * x.d(x.i.angle)

    def rub(self, x: Any, effort: Any) -> Any:
        along, reach = self._way(x)
        turned = x.push(x.j.angle, effort * x.journal) - x.push(x.i.angle, effort * reach)
        return x.push(x.j.r - x.i.r, effort * along) + turned

    def outputs(self, x: Any) -> dict[str, Any]:
        d = x.j.r - x.i.r
        place = {"x": ca.dot(x.i.u, d), "y": ca.dot(x.i.n, d), "eccentricity": x.depth + x.clearance}
        return {**super().outputs(x), **place}

    def output_kinds(self) -> Mapping[str, str]:
        return {**super().output_kinds(), **dict.fromkeys(("x", "y", "eccentricity"), "length")}
