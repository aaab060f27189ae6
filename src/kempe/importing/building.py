"""A tree of links made a mechanism: bodies at their centres of mass, joints between them, loops closed."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from kempe.elements.base import LONGEST_NAME
from kempe.elements.looks import Look
from kempe.errors import ModelWarning
from kempe.importing.inertias import Inertial, together
from kempe.importing.joining import combined
from kempe.importing.placing import Placement
from kempe.importing.tree import WORLD, Coupling, Joint, Link, Loop, Tree

#: How many names a warning has.
NAMED = 8
#: What a frame between two joints of one link, or a link without mass, weighs, in parts of what it carries.
LIGHT = 1e-9


def build(tree: Tree, make: Callable[..., Any], *, gravity: Any = None, limits: bool = False) -> Any:
    """The mechanism of a tree, made with the given class; what it does not represent is told by warnings.

    ``gravity`` is the tree's unless another one is given. With ``limits`` the limits of joints become rigid stops.
    """
    if not limits:
        for link in tree.links.values():
            for joint in link.joints:
                if joint.limits is not None:
                    tree.leave_out("limits of joints (limits=True makes stops of them)", joint.name)
    acting = _numbers(tree.gravity) if gravity is None else gravity
    built = _Builder(tree, make(_clean(tree.name), dim=3, gravity=acting), limits).mechanism()
    for what, names in tree.left_out.items():
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        warnings.warn(f"'{tree.name}': not represented: {what}: {', '.join(names[:NAMED])}{more}", ModelWarning, 4)
    return built


class _Builder:
    """Calls the builder methods of a mechanism."""

    def __init__(self, tree: Tree, mechanism: Any, limits: bool) -> None:
        self.tree, self.m, self.limits = tree, mechanism, limits
        self.placed = tree.placed()
        self.parts: dict[str, Any] = {WORLD: self.m.ground}
        self.centres: dict[str, Placement] = {WORLD: Placement.none()}  # the frames of parts in the drawn pose
        self.root = self._roots()
        self.moving = [link for link in tree.links.values() if link.joints]
        self.wholes = {link.name: self._whole(link) for link in self.moving}
        self.carried = self._carried()
        self.measured: dict[str, Any] = {}
        self.coupled = {name for c in tree.couplings for name in (c.joint, c.other) if name is not None}

    def mechanism(self) -> Any:
        """The mechanism; bodies first, so that names of links stay as they are."""
        self.m.ground.looks = self._looks(WORLD, Placement.none())
        for link in self.moving:
            self._body(link)
        for link in self.moving:
            self._join(link)
        for loop in self.tree.loops:
            self._close(loop)
        for coupling in self.tree.couplings:
            self._couple(coupling)
        return self.m

    def _roots(self) -> dict[str, str]:
        """Link -> the link it is part of: itself, or the nearest one above that moves."""
        found = {WORLD: WORLD}
        for link in self.tree.links.values():
            found[link.name] = link.name if link.joints else found[link.parent]
        return found

    def _members(self, root: str) -> list[Link]:
        return [link for link in self.tree.links.values() if self.root[link.name] == root]

    def _name(self, name: str) -> str:
        return self.m.free_name(_clean(name))

    # --- bodies -------------------------------------------------------------------------------------------------

    def _whole(self, link: Link) -> Inertial | None:
        """What a link weighs with all that is fixed to it, in its own frame."""
        back = self.placed[link.name].inverse()
        members = [member for member in self._members(link.name) if member.inertial is not None]
        return together(m.inertial.seen_from(back @ self.placed[m.name]) for m in members if m.inertial is not None)

    def _carried(self) -> dict[str, Inertial]:
        """What each link weighs, or where it weighs nothing, the lightest of what hangs on it."""
        found: dict[str, Inertial] = {}
        for link in reversed(self.moving):
            whole = self.wholes[link.name] or found.get(link.name)
            if whole is None:
                self.tree.leave_out("masses of links that have none (they move in kinematics only)", link.name)
                continue
            above = self.root[link.parent]
            found[link.name] = whole
            found[above] = min(whole, found.get(above, whole), key=lambda inertial: inertial.mass)
        return found

    def _body(self, link: Link) -> None:
        """A body with the axes of its link's frame, at the centre of mass of all that is fixed to it."""
        frame, whole = self.placed[link.name], self.wholes[link.name]
        place = frame if whole is None else frame @ Placement(whole.centre, np.eye(3))
        body = self._rigid(self._name(link.name), link, place, whole)
        self.centres[link.name], self.parts[link.name] = place, body
        body.looks = self._looks(link.name, place)
        for member in self._members(link.name):
            self._lift(member)

    def _looks(self, root: str, place: Placement) -> tuple[Look, ...]:
        """How a link looks with all that is fixed to it, seen from a place."""
        back, members = place.inverse(), self._members(root)
        return tuple(_moved(look, back @ self.placed[m.name]) for m in members for look in m.looks)

    def _rigid(self, name: str, link: Link, place: Placement, whole: Inertial | None) -> Any:
        """A body that weighs what is given, or next to nothing; a point mass has next to no inertia."""
        at, axes = _numbers(place.position), _rows(place.rotation)
        carried = self.carried.get(link.name)
        if whole is None and carried is None:
            return self.m.body(name, at=at, rotation=axes)
        if whole is not None and whole.inertia.any():
            return self.m.body(name, mass=whole.mass, inertia=_rows(whole.inertia), at=at, rotation=axes)
        assert carried is not None
        arm = float(np.linalg.norm(carried.centre - link.joints[-1].place)) or 1.0
        moment = LIGHT * (float(np.trace(carried.inertia)) / 3 or carried.mass * arm**2)
        mass = LIGHT * carried.mass if whole is None else whole.mass
        return self.m.body(name, mass=mass, inertia=(moment,) * 3, at=at, rotation=axes)

    def _lift(self, link: Link) -> None:
        """The force that compensates a share of a link's weight."""
        if link.lift and link.inertial is not None:
            force = tuple(-link.lift * link.inertial.mass * g for g in self.m.gravity)
            place = Placement(link.inertial.centre, np.eye(3))
            self.m.force(self._name(f"{link.name} lift"), self._marker(link.name, place), force)

    # --- joints -------------------------------------------------------------------------------------------------

    def _join(self, link: Link) -> None:
        """The joints from a link's parent to the link; between two joints there is a light frame."""
        parent, child = self.parts[self.root[link.parent]], self.parts[link.name]
        frame = self.placed[link.name]
        joints = [self._in_the_world(joint, frame) for joint in link.joints]
        if len(joints) > 1 and not any(self._needs_its_own(joint) for joint in joints):
            one = combined(joints)
            if one is not None:
                if one.verb:
                    getattr(self.m, one.verb)(self._name(f"{link.name} joint"), parent, child, **one.arguments)
                return
        for number, joint in enumerate(joints, start=1):
            last = number == len(joints)
            name = self._name(f"{link.name} frame {number}")
            next_part = child if last else self._rigid(name, link, frame, None)
            self._joint(joint, parent, next_part)
            parent = next_part

    def _in_the_world(self, joint: Joint, frame: Placement) -> Joint:
        return replace(joint, place=frame.point(joint.place), axis=frame.rotation @ joint.axis)

    def _needs_its_own(self, joint: Joint) -> bool:
        """Whether something acts on this joint alone."""
        return not joint.plain or joint.name in self.coupled or (self.limits and joint.limits is not None)

    def _joint(self, joint: Joint, parent: Any, child: Any) -> None:
        if joint.kind == "free":
            return
        name, at, axis = self._name(joint.name), _numbers(joint.place), _numbers(joint.axis)
        if joint.kind == "ball":
            self.m.spherical(name, parent, child, at=at)
        elif joint.kind == "planar":
            self.m.planar(name, parent, child, at=at, axis=axis)
        else:
            turning = joint.kind == "hinge"
            made = (self.m.revolute if turning else self.m.prismatic)(name, parent, child, at=at, axis=axis)
            self.measured[joint.name] = made.angle if turning else made.displacement
            self._act(joint, name)

    def _act(self, joint: Joint, name: str) -> None:
        """What resists the motion of a joint."""
        along = self.measured[joint.name]
        if joint.stiffness or joint.damping:
            spring = {"stiffness": joint.stiffness, "rest": joint.rest, "damping": joint.damping}
            self.m.joint_spring(self._name(f"{name} spring"), along, **spring)
        if joint.armature:
            self.m.armature(self._name(f"{name} armature"), along, joint.armature)
        if joint.friction:
            self.m.friction(self._name(f"{name} friction"), along, friction=1.0, normal=joint.friction)
        if self.limits and joint.limits is not None:
            for limit, side in zip(joint.limits, ("below", "above"), strict=True):
                self.m.stop(self._name(f"{name} limit {side}"), along, limit, side=side)

    # --- loops and couplings ------------------------------------------------------------------------------------

    def _close(self, loop: Loop) -> None:
        ends = [self._marker(loop.first, loop.on_first), self._marker(loop.second, loop.on_second)]
        (self.m.weld if loop.turned else self.m.spherical)(self._name(loop.name), *ends)

    def _marker(self, link: str, place: Placement) -> Any:
        root = self.root[link]
        within = self.centres[root].inverse() @ self.placed[link] @ place
        return self.parts[root].on(_numbers(within.position), rotation=_rows(within.rotation))

    def _couple(self, coupling: Coupling) -> None:
        """The polynomial that a joint's motion is of another's; a straight one is a coupler."""
        name, first = self._name(coupling.name), self.measured[coupling.joint]
        offset, *powers = coupling.coefficients
        if coupling.other is None:
            self.m.constraint(name, lambda q: q - offset, first)
            return
        second = self.measured[coupling.other]

        def follows(q: Any, r: Any) -> Any:
            return q - offset - sum(c * r**k for k, c in enumerate(powers, start=1))

        self.m.constraint(name, follows, first, second)


def _moved(look: Look, frame: Placement) -> Look:
    place = frame @ Placement(look.position, look.rotation)
    return replace(look, position=place.position, rotation=place.rotation)


def _clean(name: str) -> str:
    """A name that Kempe takes: dots separate names there, and braces enclose them."""
    kept = "".join(c if c.isprintable() and c not in "{}." else "_" for c in name).strip()
    return re.sub(r"\s+", " ", kept)[:LONGEST_NAME].strip() or "robot"


def _numbers(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)


def _rows(matrix: np.ndarray) -> list[list[float]]:
    return [[float(value) for value in row] for row in matrix]
