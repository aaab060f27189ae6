"""One impact by itself: a free journal flies into the wall of its bearing and back."""

from __future__ import annotations

import kempe as kp
from kempe.elements.contact_laws import ContactLaw
from kempe.results.contacts import Contact


def isolated_impact(
    law: ContactLaw, *, mass: float = 1.0, speed: float = 1.0, clearance: float = 0.5e-3, radius: float = 10e-3
) -> Contact:
    """The contact of a journal that starts in the middle of a bearing, under a contact law."""
    m = kp.Mechanism("a journal in its bearing")
    journal = m.body("journal", mass=mass, inertia=1.0, at=(0, 0))
    m.revolute("B", m.ground, journal, at=(0, 0), clearance=clearance, bearing_radius=radius, contact=law)
    flight = clearance / speed
    result = m.simulate([0.0, 4 * flight], velocities={"journal.vx": speed}, method="radau", tolerance=1e-13)
    return result.contacts("B")[0]
