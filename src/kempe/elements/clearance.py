"""Joints with clearance and contact forces: a journal that is loose in its bearing, and presses where it touches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from kempe.elements.backlash import LooseTranslational, cornered
from kempe.elements.base import Limit, Positive, Scalar
from kempe.elements.contact_laws import Surfaces, as_contact
from kempe.elements.joints import Joint, attach
from kempe.elements.numbers import evaluate, positive
from kempe.elements.parts import Marker
from kempe.elements.planar import length_of
from kempe.elements.pressing import Pressing, as_smooth
from kempe.elements.pressing_contacts import PressingPointLineContact, RubbingCircles
from kempe.errors import ModelError


class ClearanceRevolute(RubbingCircles, Pressing, Joint):
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

    def surface(self, x: Any) -> Any:
        return x.journal

    def outputs(self, x: Any) -> dict[str, Any]:
        d = x.j.r - x.i.r
        place = {"x": ca.dot(x.i.u, d), "y": ca.dot(x.i.n, d), "eccentricity": x.depth + x.clearance}
        return {**super().outputs(x), **place}

    def output_kinds(self) -> Mapping[str, str]:
        return {**super().output_kinds(), **dict.fromkeys(("x", "y", "eccentricity"), "length")}


class ClearanceTranslational(LooseTranslational):
    """A slider of j between two lines of i, with play across and in its angle, whose corners press by a contact law.

    Corners, cases and outputs are those of a slider with backlash; each corner, "P A" to "P D" for a guide "P", has a
    force and a penetration of its own.
    """

    def __init__(
        self,
        name: str,
        ends: tuple[Marker, Marker],
        corners: tuple[PressingPointLineContact, ...],
        sizes: list[Positive],
    ) -> None:
        self.corners = corners  # type: ignore[assignment]
        touched = [list(corner.markers) for corner in corners]
        Joint.__init__(self, name, i=ends[0], j=ends[1], touched=touched, sizes=sizes)

    def held(self, x: Any) -> list[Any]:
        return [ca.dot(line.n, point.r - line.r) < 0 for line, point in x.touched]


def clearance_guide(
    name: str,
    i: Any,
    j: Any,
    *,
    clearance: Any,
    contact: Any,
    length: Any,
    width: Any = None,
    axis: Any = (1.0, 0.0),
    at: Any = None,
    on_i: Any = None,
    on_j: Any = None,
    friction: Any = None,
) -> ClearanceTranslational:
    """A slider in a guide with ``clearance`` on either side of it; ``length`` and ``width`` are the slider's."""
    what = f"translational joint '{name}'"
    play = Positive(clearance, f"{what}: clearance")
    law = as_contact(contact, f"{what}: contact")
    as_smooth(friction, f"{what}: friction")
    ends, size, places = cornered(what, i, j, play, "clearance", length, width, axis, at, on_i, on_j)
    corners = [
        PressingPointLineContact(f"{name} {corner}", line, point, contact=law, friction=friction)
        for corner, line, point in places
    ]
    return ClearanceTranslational(name, ends, tuple(corners), [play, size])
