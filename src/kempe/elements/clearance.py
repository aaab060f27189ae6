"""Joints with clearance and contact forces: a journal that is loose in its bearing, and presses where it touches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from kempe.elements.backlash import LooseTranslational, cornered
from kempe.elements.base import Limit, Positive, Scalar, Switch
from kempe.elements.contact_laws import Surfaces, as_contact
from kempe.elements.films import THINNEST, Film
from kempe.elements.geometry import column, length_of
from kempe.elements.joints import Joint, attach
from kempe.elements.numbers import Number, evaluate, positive, shown
from kempe.elements.parts import Marker
from kempe.elements.planar import cross, perpendicular
from kempe.elements.pressing import Pressing, as_smooth
from kempe.elements.pressing_contacts import PressingPointLineContact, RubbingCircles
from kempe.elements.sources import Source
from kempe.elements.surfaces import smooth_gap
from kempe.errors import ModelError


class ClearanceRevolute(RubbingCircles, Pressing, Joint):
    """A journal of j in a bearing of i that is wider by ``clearance`` in radius: it flies, strikes, presses and slides.

    ``contact`` is the contact law. ``bearing_radius`` is needed for friction, and where the stiffness follows from the
    materials; the journal's is smaller by the clearance. ``friction`` is a smooth law.

    Friction acts where the journal's surface is, on both sides, so that no moment is lost between them; it is told how
    fast the surfaces slide with the radii they have unpressed. Results have
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
        pressing = self._pressing(name, what, as_contact(contact, f"{what}: contact", surfaces), friction)
        if pressing["friction"] is not None and bearing is None:
            raise ModelError(f"{what}: friction acts on the surface of the journal: give bearing_radius= too")
        journal = None if bearing is None else bearing - play.value
        super().__init__(name, i=ends[0], j=ends[1], clearance=play, journal=journal, **pressing)

    @property
    def radii(self) -> tuple[Number, Number] | None:
        """The radii of bearing and journal, where they are known."""
        journal, play = self.fields["journal"], self.fields["clearance"]
        assert isinstance(play, Scalar)
        return (journal.value + play.value, journal.value) if isinstance(journal, Scalar) else None

    def limits(self) -> list[Limit]:
        journal = self.fields["journal"]
        if not isinstance(journal, Scalar):
            return super().limits()
        words = f"{self.told()}: the clearance must be smaller than the bearing's radius"
        return [Limit(journal.value, words, journal.value, strict=True), *super().limits()]

    def depth(self, x: Any) -> Any:
        d = x.j.r - x.i.r
        return length_of(d[0], d[1]) - x.clearance

    def clear(self, x: Any) -> Any:
        return smooth_gap(x.j.r - x.i.r, x.clearance)

    def surface(self, x: Any) -> Any:
        return x.journal

    def slip(self, x: Any) -> Any:
        """Of the surfaces with the radii they have unpressed, as the literature has it: v_t + R_j w_j - R_i w_i."""
        turning = cross(x.i.u, x.d(x.i.u)) if x.i.turned is None else x.d(x.i.turned)
        return self.moved(x) + x.depth * turning

    def outputs(self, x: Any) -> dict[str, Any]:
        d = x.j.r - x.i.r
        place = {"x": ca.dot(x.i.u, d), "y": ca.dot(x.i.n, d), "eccentricity": x.depth + x.clearance}
        return {**super().outputs(x), **place}

    def output_kinds(self) -> Mapping[str, str]:
        return {**super().output_kinds(), **dict.fromkeys(("x", "y", "eccentricity"), "length")}


class LubricatedRevolute(Joint):
    """A journal of j in a bearing of i that is wider by ``clearance`` in radius, both kept apart by a film.

    ``contact`` is the film, ``kp.ShortBearing(...)`` or ``kp.LongBearing(...)``; ``bearing_radius`` stands for both
    radii. The film pushes the journal, drags both parts, and does not let it reach the wall; a run ends where it would
    be thinner than 1e-4 clearances, where nothing that is real is a film.
    """

    modes = ("film", "wall")

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        clearance: Any,
        contact: Film,
        bearing_radius: Any,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
    ) -> None:
        what = f"revolute joint '{name}'"
        if not isinstance(contact, Film):
            raise ModelError(
                f"{what}: contact must be kp.ShortBearing(...) or kp.LongBearing(...), not {shown(contact)}"
            )
        if bearing_radius is None:
            raise ModelError(f"{what}: a film lies around the journal: give bearing_radius= too")
        ends = attach(what, i, j, at, on_i, on_j)
        play, radius = Positive(clearance, f"{what}: clearance"), Positive(bearing_radius, f"{what}: bearing_radius")
        if evaluate([radius.value - play.value])[0] <= 0.0:
            raise ModelError(f"{what}: the clearance must be smaller than the bearing's radius")
        super().__init__(name, i=ends[0], j=ends[1], clearance=play, radius=radius, contact=contact)

    @property
    def radii(self) -> tuple[Number, Number]:
        """The radii of bearing and journal."""
        radius, play = self.fields["radius"], self.fields["clearance"]
        assert isinstance(radius, Scalar) and isinstance(play, Scalar)
        return radius.value, radius.value - play.value

    def limits(self) -> list[Limit]:
        law = self.fields["contact"]
        said = [limit._replace(words=f"{self.told()}: {limit.words}") for limit in law.limits()]
        return [limit for f in self.fields.values() if f is not law for limit in f.limits()] + said

    def view(self, source: Source) -> Any:
        x = super().view(source)
        x.apart = x.j.r - x.i.r
        x.turning = [x.d(end.angle) for end in (x.i, x.j)]
        moved = column([x.d(x.apart[0]), x.d(x.apart[1])])
        squeezed = moved - (x.turning[0] + x.turning[1]) / 2 * perpendicular(x.apart)
        x.pushed, x.drag = x.contact.acts(x.clearance, x.radius, x.apart, squeezed)
        return x

    def damping(self, x: Any) -> Any:
        """Force and drag; half of the moment between force and counterforce is borne by either surface."""
        dragged = x.drag * (x.turning[1] - x.turning[0])
        half = cross(x.apart, x.pushed) / 2
        turned = x.push(x.j.angle, -dragged - half) + x.push(x.i.angle, dragged - half)
        return x.push(x.apart, x.pushed) + turned

    def _left(self, x: Any) -> Any:
        """What is left of the film until it is too thin, in clearances."""
        return smooth_gap(x.apart / x.clearance, 1.0 - THINNEST)

    def switches(self, x: Any) -> list[Switch]:
        return [Switch("film", self._left(x), "wall", stops=True, note="has no film left")]

    def first_mode(self, x: Any) -> Any:
        return ca.if_else(self._left(x) > 0, 0.0, 1.0)

    def outputs(self, x: Any) -> dict[str, Any]:
        eccentric = length_of(x.apart[0], x.apart[1])
        place = {"x": ca.dot(x.i.u, x.apart), "y": ca.dot(x.i.n, x.apart), "eccentricity": eccentric}
        return {"force": length_of(x.pushed[0], x.pushed[1]), **place, "film": x.clearance - eccentric}

    def output_kinds(self) -> Mapping[str, str]:
        return {"force": "force", **dict.fromkeys(("x", "y", "eccentricity", "film"), "length")}


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
