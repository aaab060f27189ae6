"""Joints with backlash: a pin that is loose in its hole, a slider that is loose in its guide."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import casadi as ca

from kempe.elements.base import Load, Positive, Scalar
from kempe.elements.contacts import CircleContact, PointLineContact
from kempe.elements.friction import as_friction
from kempe.elements.geometry import column, plain
from kempe.elements.joints import Joint, attach
from kempe.elements.numbers import Number, not_negative, positive
from kempe.elements.parts import Carrier, Marker
from kempe.elements.planar import relative_angle, rotate
from kempe.elements.quantities import Displacement
from kempe.elements.touching import NORMAL
from kempe.errors import ModelError


class LooseRevolute(CircleContact, Joint):
    """A pin of j in a hole of i that is wider by ``backlash`` in radius: it flies, touches, rolls and slides (10.37).

    Contacts begin with an impact, plastic unless there is a ``restitution``. ``friction`` needs the pin's ``radius``.
    """

    tight = "backlash must be above zero"

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        backlash: Any,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
        radius: Any = None,
        restitution: Any = 0.0,
        law: str = "newton",
    ) -> None:
        what = f"revolute joint '{name}'"
        play = positive(backlash, f"{what}: backlash")
        if as_friction(friction, f"{what}: friction") is not None and radius is None:
            raise ModelError(f"{what}: friction acts on the surface of the pin: give its radius= too")
        pin: Number = 0.0 if radius is None else positive(radius, f"{what}: radius")
        ends = attach(what, i, j, at, on_i, on_j)
        self._make(name, what, ends, restitution, friction, law, first=pin + play, second=pin, inside=True)

    @property
    def radii(self) -> tuple[Number, Number] | None:
        """The radii of hole and pin, where that of the pin is known."""
        hole, pin = self.fields["first"], self.fields["second"]
        assert isinstance(hole, Scalar) and isinstance(pin, Scalar)
        return None if not isinstance(pin.value, ca.SX) and pin.value == 0.0 else (hole.value, pin.value)


class LooseTranslational(Joint):
    """A slider of j between two lines of i, with play across and in its angle (10.39 to 10.53).

    It has four corners: A and B touch the line on the right of the axis, behind and in front; C and D that on the left.
    Each is a contact of its own, "P A" to "P D" for a guide "P". The output ``case`` says which hold: 0 none, 1 one
    corner, 2 two on one side, 3 two on opposite sides, where the slider is wedged; ``cases`` lists them in time.
    """

    aside = Joint.aside | {"corners"}

    def __init__(
        self, name: str, ends: tuple[Marker, Marker], corners: tuple[PointLineContact, ...], sizes: list[Positive]
    ) -> None:
        #: The contacts at A, B, C and D.
        self.corners = corners
        super().__init__(name, i=ends[0], j=ends[1], loads=[Load(corner) for corner in corners], sizes=sizes)

    @property
    def displacement(self) -> Displacement:
        """How far the point of j is along the guide from its point: something to drive or measure."""
        return Displacement(*self.markers)

    def cases(self, result: Any) -> list[tuple[float, float, str]]:
        """When which corners touched in a result: begin, end, and the corners ("", "A", "AB", "AD", ...), in order."""
        touching = {corner.name[-1]: result.intervals(corner, corner.modes[1:]) for corner in self.corners}
        ends = {end for spans in touching.values() for span in spans for end in span}
        ends |= {float(result.t[0]), float(result.t[-1])}
        found: list[tuple[float, float, str]] = []
        for begin, end in pairwise(sorted(ends)):
            middle = (begin + end) / 2
            held = "".join(name for name, spans in touching.items() if any(a <= middle <= b for a, b in spans))
            same = found and found[-1][2] == held
            found[-1:] = [(found[-1][0], end, held)] if same else [*found[-1:], (begin, end, held)]
        return found

    def held(self, x: Any) -> list[Any]:
        """Which corners hold."""
        return [load[NORMAL] < 0 for load in x.loads]  # a contact pushes

    def outputs(self, x: Any) -> dict[str, Any]:
        a, b, c, d = self.held(x)
        right, left = a + b, c + d
        case = ca.if_else(right * left > 0, 3.0, right + left)
        offset = x.j.r - x.i.r
        return {
            "case": case,
            "displacement": ca.dot(x.i.u, offset),
            "offset": ca.dot(x.i.n, offset),
            "tilt": relative_angle(x.i, x.j),
        }

    def output_kinds(self) -> Mapping[str, str]:
        return {"case": "case", "displacement": "length", "offset": "length", "tilt": "angle"}


def loose_guide(
    name: str,
    i: Any,
    j: Any,
    *,
    backlash: Any,
    length: Any,
    width: Any = 0.0,
    axis: Any = (1.0, 0.0),
    at: Any = None,
    on_i: Any = None,
    on_j: Any = None,
    friction: Any = None,
    restitution: Any = 0.0,
    law: str = "newton",
) -> LooseTranslational:
    """A slider in a guide with ``backlash`` on either side of it; ``length`` and ``width`` are the slider's."""
    what = f"translational joint '{name}'"
    play = Positive(backlash, f"{what}: backlash")
    ends, size, places = cornered(what, i, j, play, "backlash", length, width, axis, at, on_i, on_j)
    corners = [
        PointLineContact(f"{name} {corner}", line, point, restitution=restitution, friction=friction, law=law)
        for corner, line, point in places
    ]
    return LooseTranslational(name, ends, tuple(corners), [play, size])


def cornered(
    what: str,
    i: Any,
    j: Any,
    play: Positive,
    word: str,
    length: Any,
    width: Any,
    axis: Any,
    at: Any,
    on_i: Any,
    on_j: Any,
) -> tuple[tuple[Marker, Marker], Positive, list[tuple[str, Marker, Marker]]]:
    """The ends of a guide with play, its length, and its corners: their letters, lines on i and points on j."""
    if length is None:
        raise ModelError(f"{what}: a slider with {word} touches with its corners: give its length= too")
    size = Positive(length, f"{what}: length")
    along, across = size.value / 2, not_negative(0.0 if width is None else width, f"{what}: width") / 2
    if on_j is None and not isinstance(j, Marker):
        on_j = (0.0, 0.0)
    ends = attach(what, i, j, at, on_i, on_j, axis)
    places = []
    for corner, x, side in (("A", -1, -1), ("B", 1, -1), ("C", -1, 1), ("D", 1, 1)):
        line = _beside(ends[0], (0.0, side * (across + play.value)), 0.0 if side < 0 else ca.pi)
        places.append((corner, line, _beside(ends[1], (x * along, side * across))))
    return ends, size, places


def _beside(marker: Marker, offset: tuple[Any, Any], turn: float = 0.0) -> Marker:
    """A marker on the same carrier, beside another by an offset in its axes and turned."""
    moved = rotate(marker.angle, column(offset)) + column(marker.point)
    carrier: Carrier = marker.carrier
    return carrier.on((plain(moved[0]), plain(moved[1])), marker.angle + turn)
