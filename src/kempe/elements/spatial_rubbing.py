"""Friction in joints of space that slide in more than one direction, and joints in space with clearance.

Friction there opposes the sliding velocity of two surfaces, a vector: its law must be smooth. It acts at one point of
both surfaces, so that no moment is lost between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from kempe.elements.base import Element, Limit, Positive, Scalar
from kempe.elements.contact_laws import Surfaces, as_contact
from kempe.elements.geometry import length_of
from kempe.elements.numbers import Number, evaluate, positive
from kempe.elements.parts import Marker
from kempe.elements.pressing import Pressing, as_smooth
from kempe.elements.spatial_joints import (
    ACROSS,
    TILTED,
    TOGETHER,
    Sliding,
    SpatialJoint,
    Turning,
    across,
    fasten,
    on_two,
    tilted,
    together,
)
from kempe.elements.surfaces import smooth_gap
from kempe.errors import ModelError

#: A velocity below this has no direction.
LEAST = 1e-300


def as_vectorial(friction: Any, what: str) -> Any:
    """A law of friction for surfaces that slide in any direction: smooth, and without bristles."""
    law = as_smooth(friction, what)
    if law is not None and law.bristles:
        raise ModelError(f"{what}: bristles bend along one direction; here surfaces slide in any: take another law")
    return law


def sliding_at(x: Any, p: Any) -> Any:
    """How fast j moves at a point, seen from i."""
    moved = [end.omega(x.d) for end in (x.i, x.j)]
    arms = [p - end.r for end in (x.i, x.j)]
    return x.d(x.j.r) + ca.cross(moved[1], arms[1]) - x.d(x.i.r) - ca.cross(moved[0], arms[0])


def pushed_at(x: Any, p: Any, force: Any) -> Any:
    """The generalised force of a force on j at a point, and its opposite on i at the same."""
    arms = [p - end.r for end in (x.i, x.j)]
    on_j = x.push(x.j.r, force) + x.j.turned_by(x, ca.cross(arms[1], force))
    return on_j - x.push(x.i.r, force) - x.i.turned_by(x, ca.cross(arms[0], force))


class Spherical(SpatialJoint):
    """A ball and socket: a point of i and a point of j coincide.

    With ``friction``, a smooth law, a torque mu R F opposes the relative turning, whatever its axis: R is the ball's
    ``radius`` and F the force it bears.
    """

    rows = TOGETHER

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
        radius: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"spherical joint '{name}'"
        mi, mj = fasten(what, i, j, at, on_i, on_j, turned=False)
        super().__init__(name, i=mi, j=mj, stiffness=stiffness, **rubbing(what, friction, radius))

    def phi(self, x: Any) -> list[Any]:
        return together(x)

    def _torque(self, x: Any) -> tuple[Any, Any]:
        """The friction's torque on j, and how fast its surfaces slide."""
        turning = x.j.omega(x.d) - x.i.omega(x.d)
        fast = length_of(*ca.vertsplit(turning))
        borne = length_of(*(x.lam[row] for row in TOGETHER))
        size = resisting(x.friction, x.radius * fast, borne) * x.radius
        return -size * turning / ca.fmax(fast, LEAST), x.radius * fast

    def damping(self, x: Any) -> Any:
        if x.friction is None:
            return 0.0
        torque, _ = self._torque(x)
        return x.j.turned_by(x, torque) - x.i.turned_by(x, torque)

    def outputs(self, x: Any) -> dict[str, Any]:
        if x.friction is None:
            return {}
        torque, slip = self._torque(x)
        return {"friction": length_of(*ca.vertsplit(torque)), "slip": slip}

    def output_kinds(self) -> Mapping[str, str]:
        return {"friction": "moment", "slip": "velocity"}


class Cylindrical(Turning, Sliding):
    """A shaft in a sleeve: an axis of j is one of i; j turns and slides along it.

    With ``friction``, a smooth law, and the shaft's ``radius`` R, mu N opposes the velocity (ds/dt, R omega) of the
    surfaces, so that a shaft that turns fast slides easily. N is the force across; with a ``length`` the sleeve bears
    that force and its bending moment on two ends, half of the length to either side, and both rub.
    """

    rows = (*ACROSS, *TILTED)

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
        friction: Any = None,
        radius: Any = None,
        length: Any = None,
        stiffness: Any = None,
    ) -> None:
        what = f"cylindrical joint '{name}'"
        mi, mj = fasten(what, i, j, at, on_i, on_j, axis, default="j")
        if length is not None and friction is None:
            raise ModelError(f"{what}: a length is that of a sleeve with friction: give friction= too")
        ends = None if length is None else Positive(length, f"{what}: length")
        super().__init__(name, i=mi, j=mj, length=ends, stiffness=stiffness, **rubbing(what, friction, radius))

    def phi(self, x: Any) -> list[Any]:
        return [*across(x), *tilted(x)]

    def _friction(self, x: Any) -> tuple[Any, Any, Any, Any, Any]:
        """How far it has slid and turned, what opposes both, and how fast the surfaces slide."""
        along, turn = ca.dot(x.i.w, x.j.r - x.i.r), x.i.angle_to(x.j)
        speeds = [x.d(along), x.radius * x.d(turn)]
        fast = length_of(*speeds)
        force = ca.vertcat(x.lam["across 1"], x.lam["across 2"])
        tipping = ca.vertcat(-x.lam["tilt 2"], x.lam["tilt 1"])
        borne = length_of(*ca.vertsplit(force)) if x.length is None else on_two(force, tipping / x.length)
        size = resisting(x.friction, fast, borne) / ca.fmax(fast, LEAST)
        return along, turn, -size * speeds[0], -size * speeds[1] * x.radius, fast

    def damping(self, x: Any) -> Any:
        if x.friction is None:
            return 0.0
        along, turn, force, torque, _ = self._friction(x)
        return x.push(along, force) + x.push(turn, torque)

    def outputs(self, x: Any) -> dict[str, Any]:
        found = super().outputs(x)
        if x.friction is None:
            return found
        _, _, force, torque, slip = self._friction(x)
        return {**found, "friction": force, "friction torque": torque, "slip": slip}

    def output_kinds(self) -> Mapping[str, str]:
        kinds = {"friction": "force", "friction torque": "moment", "slip": "velocity"}
        return {**super().output_kinds(), **kinds}


def rubbing(what: str, friction: Any, radius: Any) -> dict[str, Any]:
    """The fields of a joint's friction, which is a smooth law on a surface of a radius."""
    law = as_vectorial(friction, f"{what}: friction")
    if law is not None and radius is None:
        raise ModelError(f"{what}: friction acts on a surface: give its radius= too")
    if friction is None and radius is not None:
        raise ModelError(f"{what}: a radius is that of a surface with friction: give friction= too")
    return {"friction": law, "radius": None if law is None else Positive(radius, f"{what}: radius")}


def resisting(law: Any, speed: Any, load: Any) -> Any:
    """The size of friction at a sliding speed under a load."""
    size = law.share(speed) * load
    return size if law.viscous is None else size + law.viscous * speed


class PressingInSpace(Pressing):
    """A contact in space with a contact law: a subclass says where j presses on i, and in which direction."""

    def facing(self, x: Any) -> tuple[Any, Any]:
        """The direction from i to j in which they press, and the point where they do."""
        raise NotImplementedError

    def _sliding(self, x: Any) -> Any:
        n, p = self.facing(x)
        moved = sliding_at(x, p)
        return moved - ca.dot(moved, n) * n

    def slip(self, x: Any) -> Any:
        return length_of(*ca.vertsplit(self._sliding(x)))

    def rub(self, x: Any, effort: Any) -> Any:
        along = self._sliding(x) / ca.fmax(x.slip, LEAST)
        return pushed_at(x, self.facing(x)[1], effort * along)


class SphericalClearance(PressingInSpace, SpatialJoint):
    """A ball of j in a socket of i that is wider by ``clearance`` in radius: it flies, strikes, presses and slides.

    ``contact`` is the contact law. ``socket_radius`` is needed for friction, and where the stiffness follows from the
    materials; the ball's is smaller by the clearance. ``friction`` is a smooth law, and acts on the ball's surface.
    Results have the ball's centre in the axes of i ("S.x", "S.y", "S.z"), the force and the penetration.
    """

    called = "spherical"

    def __init__(
        self,
        name: str,
        i: Any,
        j: Any,
        *,
        clearance: Any,
        contact: Any,
        socket_radius: Any = None,
        at: Any = None,
        on_i: Any = None,
        on_j: Any = None,
        friction: Any = None,
    ) -> None:
        what = f"spherical joint '{name}'"
        ends = fasten(what, i, j, at, on_i, on_j, turned=False)
        fields = loose(self, name, what, clearance, contact, socket_radius, friction, "socket_radius")
        super().__init__(name, i=ends[0], j=ends[1], **fields)

    def limits(self) -> list[Limit]:
        return [*inner_limit(self), *super().limits()]

    def depth(self, x: Any) -> Any:
        return length_of(*ca.vertsplit(x.j.r - x.i.r)) - x.clearance

    def clear(self, x: Any) -> Any:
        return smooth_gap(x.j.r - x.i.r, x.clearance)

    def facing(self, x: Any) -> tuple[Any, Any]:
        d = x.j.r - x.i.r
        n = d / ca.fmax(length_of(*ca.vertsplit(d)), LEAST)
        return n, x.j.r + x.inner * n

    def outputs(self, x: Any) -> dict[str, Any]:
        seen = x.i.local(x.j.r - x.i.r)
        place = {c: seen[k] for k, c in enumerate("xyz")}
        return {**super().outputs(x), **place, "eccentricity": x.depth + x.clearance}

    def output_kinds(self) -> Mapping[str, str]:
        return {**super().output_kinds(), **dict.fromkeys(("x", "y", "z", "eccentricity"), "length")}


def loose(
    element: Pressing, name: str, what: str, clearance: Any, contact: Any, outer: Any, friction: Any, key: str
) -> dict[str, Any]:
    """The fields of a joint with clearance: play, inner radius, contact law and friction."""
    play = Positive(clearance, f"{what}: clearance")
    radius = None if outer is None else positive(outer, f"{what}: {key}")
    if radius is not None and evaluate([radius - play.value])[0] <= 0.0:
        raise ModelError(f"{what}: the clearance must be smaller than {key}")
    inner: Number = 0.0 if radius is None else radius - play.value
    surfaces = Surfaces(play.value if radius is None else radius, inner, inside=True)
    rubbing = as_vectorial(friction, f"{what}: friction")
    if rubbing is not None and radius is None:
        raise ModelError(f"{what}: friction acts on a surface: give {key}= too")
    pressing = element._pressing(name, what, as_contact(contact, f"{what}: contact", surfaces), rubbing)
    return {"clearance": play, "inner": None if radius is None else inner, **pressing}


def inner_limit(element: Element) -> list[Limit]:
    """The clearance leaves something of the inner radius."""
    inner = element.fields["inner"]
    if not isinstance(inner, Scalar):
        return []
    words = f"{element.told()}: the clearance must be smaller than the radius around it"
    return [Limit(inner.value, words, inner.value, strict=True)]


class Rim(PressingInSpace, SpatialJoint):
    """One end of a journal of j in a cylindrical bearing of i that is wider by ``clearance`` in radius."""

    def __init__(self, name: str, what: str, ends: tuple[Marker, Marker], **play: Any) -> None:
        super().__init__(name, i=ends[0], j=ends[1], **loose(self, name, what, **play, key="bearing_radius"))

    def limits(self) -> list[Limit]:
        return [*inner_limit(self), *super().limits()]

    def _apart(self, x: Any) -> Any:
        d = x.j.r - x.i.r
        return d - ca.dot(d, x.i.w) * x.i.w

    def depth(self, x: Any) -> Any:
        return length_of(*ca.vertsplit(self._apart(x))) - x.clearance

    def clear(self, x: Any) -> Any:
        return smooth_gap(self._apart(x), x.clearance)

    def facing(self, x: Any) -> tuple[Any, Any]:
        d = self._apart(x)
        n = d / ca.fmax(length_of(*ca.vertsplit(d)), LEAST)
        return n, x.j.r + x.inner * n


class CylindricalClearance(SpatialJoint):
    """A journal of j in a bearing of i that is wider by ``clearance`` in radius, and presses with both its ends.

    The journal, ``length`` long, is free to turn, slide and tilt in it; its ends, "C 1" and "C 2" of a joint "C", are
    contacts with a contact law, forces and penetrations of their own. ``bearing_radius`` is needed for friction, which
    opposes turning and sliding together, and where the stiffness follows from the materials.
    """

    called = "cylindrical"

    def __init__(self, name: str, ends: tuple[Marker, Marker], rims: tuple[Rim, Rim]) -> None:
        self.rims = rims
        super().__init__(name, i=ends[0], j=ends[1])

    aside = Element.aside | {"rims"}

    def outputs(self, x: Any) -> dict[str, Any]:
        d = x.i.local(x.j.r - x.i.r)
        tilt = ca.atan2(length_of(ca.dot(x.i.u, x.j.w), ca.dot(x.i.n, x.j.w)), ca.dot(x.i.w, x.j.w))
        return {"x": d[0], "y": d[1], "displacement": d[2], "tilt": tilt}

    def output_kinds(self) -> Mapping[str, str]:
        return {**dict.fromkeys(("x", "y", "displacement"), "length"), "tilt": "angle"}


def loose_journal(
    name: str,
    i: Any,
    j: Any,
    *,
    clearance: Any,
    contact: Any,
    length: Any,
    bearing_radius: Any = None,
    axis: Any = None,
    at: Any = None,
    on_i: Any = None,
    on_j: Any = None,
    friction: Any = None,
) -> CylindricalClearance:
    """A journal in a bearing with ``clearance`` in radius, which presses with both ends of its ``length``."""
    what = f"cylindrical joint '{name}'"
    mi, mj = fasten(what, i, j, at, on_i, on_j, axis, default="j")
    half = positive(length, f"{what}: length") / 2
    along = mj.turn[6:9] if mj.turn else (0.0, 0.0, 1.0)
    play = {"clearance": clearance, "contact": contact, "outer": bearing_radius, "friction": friction}
    rims = []
    for k, side in enumerate((-half, half)):
        end = Marker(mj.carrier, tuple(c + side * e for c, e in zip(mj.point, along, strict=True)), mj.turn)
        rims.append(Rim(f"{name} {k + 1}", what, (mi, end), **play))
    return CylindricalClearance(name, (mi, mj), (rims[0], rims[1]))
