"""Films of lubricant between a journal and its bearing: Reynolds's equation, solved for short and for long bearings.

With d the journal's centre seen from the bearing's, c the clearance and w the mean of both angular velocities, the film
only feels v = d' - w x d, how the journal squeezes it as seen from axes that turn with it (Booker, 1965). In units of c
the film is h = 1 - m cos(psi) - q sin(psi) thick, psi being counted from v, m and q the components of d/c along v and
across. A half film has pressure on the half -pi/2 < psi < pi/2, where it is squeezed, and none on the other (Guembel).
All integrals over it are derivatives of that of 1/h.
"""

from __future__ import annotations

from typing import Any, ClassVar

import casadi as ca

from kempe.elements.contact_base import ContactLaw, Surfaces
from kempe.elements.geometry import length_of
from kempe.elements.numbers import positive, shown
from kempe.elements.planar import perpendicular
from kempe.errors import ModelError

#: The thinnest film, in clearances.
THINNEST = 1e-4


def _moments() -> ca.Function:
    """Of m and q: the integrals over the half film of 1/h, and of 1, cos, sin, cos^2, cos sin and sin^2 over h^3."""
    a, m, q = (ca.SX.sym(name) for name in "amq")
    s = ca.sqrt(a**2 - m**2 - q**2)
    whole = 2 / s * (ca.atan((a + m - q) / s) + ca.atan((a + m + q) / s))
    bent, _ = ca.hessian(whole, ca.vertcat(a, m, q))
    found = [whole, bent[0, 0] / 2, -bent[0, 1] / 2, -bent[0, 2] / 2, bent[1, 1] / 2, bent[1, 2] / 2, bent[2, 2] / 2]
    return ca.Function("moments", [m, q], [ca.substitute(e, a, 1.0) for e in found])


_HALF = _moments()


class Film(ContactLaw):
    """The film of a journal bearing: a force on the journal from where it is and how it moves, and a drag."""

    #: What is said of it.
    what: ClassVar[str] = "a film"

    def __init__(self, viscosity: Any, width: Any, *, film: str = "half") -> None:
        if film not in ("half", "full"):
            raise ModelError(f"{self.what}: film must be 'half' or 'full', not {shown(film)}")
        self.full = film == "full"
        numbers = {
            "viscosity": positive(viscosity, f"{self.what}: viscosity"),
            "width": positive(width, f"{self.what}: width"),
        }
        super().__init__({**numbers, "film": film}, **numbers)

    def structure(self) -> Any:
        return (super().structure(), self.full)

    def fitted(self, what: str, surfaces: Surfaces | None) -> ContactLaw:
        raise ModelError(
            f"{what}: {self.told()} is a film between a journal and its bearing: it is for revolute joints with "
            "clearance= and bearing_radius="
        )

    def symbolic(self, source: Any) -> Any:
        law = super().symbolic(source)
        law.acts = lambda *state: self.acts(law, *state)
        return law

    def acts(self, law: Any, clearance: Any, radius: Any, apart: Any, squeezed: Any) -> tuple[Any, Any]:
        """The force on the journal, and the moment of drag for one unit of difference of the angular velocities.

        ``apart`` is the journal's centre as seen from the bearing's, ``squeezed`` its velocity as the film feels it.
        """
        ratio = apart / clearance
        most = 1.0 - THINNEST
        ratio = ratio * (most / ca.fmax(length_of(ratio[0], ratio[1]), most))
        speed = ca.sqrt(ca.dot(squeezed, squeezed) + 1e-300)
        along, across = ca.dot(ratio, squeezed) / speed, ca.dot(ratio, perpendicular(squeezed)) / speed
        drag = law.viscosity * law.width * radius**3 / clearance
        size = self.size(law, radius) / clearance**3
        rest = 1.0 - ca.dot(ratio, ratio)
        if self.full:
            plain, more = self.whole(rest)
            force = plain * squeezed + more * ca.dot(ratio, squeezed) * ratio
            return -size * ca.pi * force, drag * 2 * ca.pi / ca.sqrt(rest)
        thinness, *moments = _HALF(along, across)
        back, aside = self.half(*moments)
        return -size * (back * squeezed + aside * perpendicular(squeezed)), drag * thinness

    def size(self, law: Any, radius: Any) -> Any:
        """What all forces are in proportion to, times c^3."""
        raise NotImplementedError

    def whole(self, rest: Any) -> tuple[Any, Any]:
        """Of a full film, with ``rest`` = 1 - e^2: the resistance to v, and what e e^T adds to it, over pi."""
        raise NotImplementedError

    def half(self, one: Any, c: Any, s: Any, cc: Any, cs: Any, ss: Any) -> tuple[Any, Any]:
        """Of a half film: the resistance against v, and across."""
        raise NotImplementedError


class ShortBearing(Film):
    """The film of a short journal bearing (Ocvirk, 1952): lubricant flows out of the sides, and not around.

    ``viscosity`` is the dynamic one, ``width`` that of the bearing: for widths below the diameter. A ``film`` is "half"
    (it cavitates: no pressure below that of the surroundings; Guembel) or "full".
    """

    what = "a short bearing"

    def size(self, law: Any, radius: Any) -> Any:
        return law.viscosity * radius * law.width**3

    def whole(self, rest: Any) -> tuple[Any, Any]:
        return rest**-1.5, 3 * rest**-2.5

    def half(self, one: Any, c: Any, s: Any, cc: Any, cs: Any, ss: Any) -> tuple[Any, Any]:
        return cc, cs


class LongBearing(Film):
    """The film of a long journal bearing (Sommerfeld, 1904): lubricant flows around, and not out of the sides.

    ``viscosity`` is the dynamic one, ``width`` that of the bearing: for widths above some diameters. A ``film`` is
    "half" (it cavitates: pressure begins and ends at that of the surroundings, half a turn apart; Guembel) or "full".
    """

    what = "a long bearing"

    def size(self, law: Any, radius: Any) -> Any:
        return 12 * law.viscosity * radius**3 * law.width

    def whole(self, rest: Any) -> tuple[Any, Any]:
        around = 3.0 - rest  # 2 + e^2
        return 2 / (around * ca.sqrt(rest)), 3 / (around * rest**1.5)

    def half(self, one: Any, c: Any, s: Any, cc: Any, cs: Any, ss: Any) -> tuple[Any, Any]:
        flow = -s / one  # with it the pressure ends where it began
        return ss + flow * s, -(cs + flow * c)
