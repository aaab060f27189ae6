"""What presses: contacts whose surfaces sink into each other a little, with a contact law and smooth friction.

Unlike rigid contacts (``Touching``) they have no constraints and no jumps: their force grows from zero as the surfaces
meet. They switch where the surfaces meet and part, to the last digit, and remember how fast they met.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from kempe.elements.base import Followed, Limit, Switch
from kempe.elements.bristles import BENT, Bristled
from kempe.elements.contact_laws import ContactLaw, KelvinVoigt, Surfaces, as_contact
from kempe.elements.friction import FrictionLaw, as_friction, refuse_unloaded
from kempe.elements.sources import Source
from kempe.errors import ModelError

#: The modes.
FREE, CONTACT, RELEASED = "free", "contact", "released"
#: What is kept from where the surfaces meet.
SPEED = "speed"


class Pressing(Bristled):
    """An element with a depth and a contact law; it pushes the depth back, and never pulls.

    While the law would pull it is *released*: the damper takes up just what the spring gives, so that no force is left
    and the energy that was stored is dissipated.

    A subclass calls ``_pressing`` before its fields are set, and defines ``depth`` and, for friction, ``slid`` (or
    ``slip`` and ``rub``).
    """

    modes = (FREE, CONTACT, RELEASED)

    def _pressing(self, name: str, what: str, law: Any, friction: Any = None) -> dict[str, Any]:
        """The fields of its law and its friction; ``law`` is fitted to its surfaces."""
        rubbing = as_smooth(friction, f"{what}: friction")
        bristles = self._bristles(name, rubbing)
        self.latches = ((SPEED,) if law.latched else ()) + ((BENT,) if bristles else ())  # type: ignore[misc]
        return {"contact": law, "friction": rubbing, "bristles": bristles}

    # --- what a subclass says ------------------------------------------------------------------------------------

    def depth(self, x: Any) -> Any:
        """How far the two sides are pressed into each other; below zero while they are apart."""
        raise NotImplementedError

    def clear(self, x: Any) -> Any:
        """What is watched for its surfaces to meet and part: it falls to zero as the depth rises to it."""
        return -x.depth

    def slid(self, x: Any) -> Any:
        """How far j has slid along i: its rate is the sliding velocity, and friction does work on it."""
        raise NotImplementedError

    def slip(self, x: Any) -> Any:
        """The sliding velocity of j along i."""
        return x.d(self.slid(x))

    def moved(self, x: Any) -> Any:
        """How fast the points move along each other at which friction acts: it does work on that."""
        return self.slip(x)

    def rub(self, x: Any, effort: Any) -> Any:
        """The generalised force of an effort on j along the way it slides."""
        return x.push(self.slid(x), effort)

    # --- what follows --------------------------------------------------------------------------------------------

    def view(self, source: Source) -> Any:
        x = super().view(source)
        law = x.contact
        x.depth = self.depth(x)
        x.approach = x.d(x.depth)
        x.pressed = law.pressed(x.depth)
        speed = ca.fmax(x.kept[SPEED], law.slowest) if SPEED in self.latches else None
        x.spring = law.elastic(x.pressed)
        damper = law.damper(x.pressed, x.approach, speed)
        x.damps = damper is not None
        x.damper = 0.0 if damper is None else damper
        x.presses = law.presses(x.pressed, x.approach, speed)
        if x.friction is not None:
            x.slip = self.slip(x)
        return x

    def normal(self, x: Any) -> Any:
        """The normal force in the present mode."""
        return x.mode(CONTACT, x.spring + x.damper)

    def potential(self, x: Any) -> Any:
        stored = x.contact.stored(x.pressed)
        return x.mode(CONTACT, stored) + x.mode(RELEASED, stored)

    def restoring(self, x: Any) -> Any:
        """The law's own force: its energy may be written such that a derivative of it loses digits."""
        return x.push(x.depth, -x.mode(CONTACT, x.spring) - x.mode(RELEASED, x.spring))

    def resisted(self, x: Any) -> Any:
        """What the damper takes, on the depth."""
        return x.mode(RELEASED, x.spring) - x.mode(CONTACT, x.damper)

    def rubbed(self, x: Any) -> Any:
        """The friction on j along the way it slides."""
        law, pressed = x.friction, self.normal(x)
        found = -(law.share(x.slip) * pressed if x.bristles is None else self.bent(x, pressed)[0])
        return found if law.viscous is None else found - x.mode(CONTACT, law.viscous * x.slip)

    def damping(self, x: Any) -> Any:
        found = x.push(x.depth, self.resisted(x)) if x.damps else 0.0
        found += 0.0 if x.friction is None else self.rub(x, self.rubbed(x))
        if x.bristles is None:
            return found
        bending = x.friction.inertia * self.bent(x, 0.0)[1]
        return found + x.push(x.bristles, x.mode(CONTACT, bending) + x.mode(RELEASED, bending))

    def switches(self, x: Any) -> list[Switch]:
        clear = self.clear(x)
        found = [
            Switch(FREE, clear, CONTACT, latch=self._met(x), note="touches"),
            Switch(CONTACT, -clear, FREE, note="lets go"),
        ]
        if x.presses is not None:
            found += [
                Switch(CONTACT, x.presses, RELEASED, note="is released"),
                Switch(RELEASED, -clear, FREE, note="lets go"),
                Switch(RELEASED, -x.presses, CONTACT, note="presses again"),
            ]
        return found

    def first_mode(self, x: Any) -> Any:
        """Resting or approaching at the limit itself counts as contact."""
        speed = self._met(x)[SPEED] if SPEED in self.latches else None
        presses = x.contact.presses(x.pressed, x.approach, speed)
        return ca.if_else(_inside(x), 1.0 if presses is None else ca.if_else(presses >= 0, 1.0, 2.0), 0.0)

    def _met(self, x: Any) -> dict[str, Any]:
        """What is kept from where the surfaces meet."""
        speed = {SPEED: ca.fmax(x.approach, x.contact.slowest)} if SPEED in self.latches else {}
        return speed | self.straightened(x)

    def followed(self, x: Any) -> Followed:
        """The largest force, the energy that the damper took, and that of friction."""
        lost = -self.resisted(x) * x.approach
        rubbed = 0.0 if x.friction is None else -self.rubbed(x) * self.moved(x)
        return Followed({"force": self.normal(x)}, {"lost": lost, "rubbed": rubbed})

    def limits(self) -> list[Limit]:
        laws = [self.fields[name] for name in ("contact", "friction")]
        said = [limit._replace(words=f"{self.told()}: {limit.words}") for law in laws for limit in law.limits()]
        return [limit for f in self.fields.values() if f not in laws for limit in f.limits()] + said

    def outputs(self, x: Any) -> dict[str, Any]:
        """The force follows from depth and approach: none outside, and never a pull."""
        pushed = ca.if_else(_inside(x), ca.fmax(x.spring + x.damper, 0.0), 0.0)
        found = {"penetration": ca.fmax(x.depth, 0.0), "approach": x.approach, "force": pushed}
        return found if x.friction is None else {**found, "friction": self.rubbed(x), "slip": x.slip}

    def output_kinds(self) -> Mapping[str, str]:
        forces = {"force": "force", "friction": "force"}
        return {"penetration": "length", "approach": "velocity", "slip": "velocity", **forces}


def pushing(
    what: str,
    contact: Any,
    surfaces: Surfaces | None,
    stiffness: Any = None,
    damping: Any = None,
    exponent: Any = None,
) -> ContactLaw:
    """A contact law, or a spring and a damper given by their numbers."""
    said = {"stiffness": stiffness, "damping": damping, "exponent": exponent}
    given = {key: value for key, value in said.items() if value is not None}
    if contact is not None:
        if given:
            raise ModelError(f"{what}: give contact=, or {' and '.join(f'{key}=' for key in given)}, but not both")
        return as_contact(contact, f"{what}: contact", surfaces)
    if stiffness is None:
        raise ModelError(f"{what}: stiffness must be given, or contact= with a contact law")
    try:
        return KelvinVoigt(**given)
    except ModelError as error:
        raise ModelError(str(error).replace("a spring and damper", what)) from None


def as_smooth(friction: Any, what: str) -> FrictionLaw | None:
    """A law of friction for a contact that presses: one that does not stick."""
    law = as_friction(friction, what)
    if law is None or not law.sticks:
        if law is not None:
            refuse_unloaded(law, what)
        return law
    raise ModelError(
        f"{what}: a contact with a law has smooth friction: say over which sliding velocity it builds up, as "
        "kp.RooneyDeravi(0.1, speed=1e-3), kp.ModifiedCoulomb(0.1, 0.1, speeds=(1e-3, 2e-3)), kp.Threlfall, "
        "kp.Stribeck or kp.LuGre(..., per_load=True); a friction that sticks is for joints with backlash= and contacts "
        "with restitution="
    )


def _inside(x: Any) -> Any:
    return ca.logic_or(x.depth > 0, ca.logic_and(x.depth == 0, x.approach >= 0))
