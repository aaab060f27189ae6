"""What an element exerts on each part: the work of all its equations on a small displacement of that part alone.

Every carrier an element touches (a body, point or bar, the ground too) is given three virtual coordinates of its own:
a displacement in x and y and a rotation about the element's point on it. The rows of the equations of motion that
belong to them are force and moment, whatever the element is made of: constraints, springs, inertia.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from kempe.elements import Body, Carrier, Component, Element, KernelSource, Marker, Part, Point, Table
from kempe.elements.base import Field, Group
from kempe.elements.planar import Placed, column, rotate
from kempe.elements.user import UserElement
from kempe.system.families import Family, shared
from kempe.system.measures import positions
from kempe.system.replay import Replay, States
from kempe.system.system import System


class VirtualSource(KernelSource):
    """Symbols for one element with virtual displacements of everything it touches."""

    def __init__(self, element: Element) -> None:
        super().__init__(element)
        self._moved: dict[str, tuple[ca.SX, ca.SX]] = {}

    def _displaced(self, name: str, centre: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The virtual displacement of a carrier and the centre of its rotation, which is where it was first seen."""
        if name not in self._moved:
            displacement = ca.SX.sym(f"moved {len(self._moved)}", 3)
            self.q = ca.vertcat(self.q, displacement)
            self.v = ca.vertcat(self.v, ca.SX.sym(f"moving {len(self._moved)}", 3))
            self.a = ca.vertcat(self.a, ca.SX.sym(f"accelerating {len(self._moved)}", 3))
            self._moved[name] = (displacement, centre)
        return self._moved[name]

    def placed(self, carrier: Any, placed: Placed) -> Placed:
        """A marker or frame displaced with its carrier; a point only shifts."""
        d, centre = self._displaced(carrier.name, placed.r)
        if isinstance(carrier, Point):
            return Placed(placed.name, placed.r + d[:2])
        r = centre + d[:2] + rotate(d[2], placed.r - centre)
        axis = None if placed.axis is None else rotate(d[2], placed.axis)
        return Placed(placed.name, r, axis, None if placed.turned is None else placed.turned + d[2])

    def component(self, part: Part, index: int) -> Any:
        """A coordinate displaced with its part."""
        if isinstance(part, Body):
            seen = self.placed(part, part.frame(self))
            return (seen.r[0], seen.r[1], seen.turned)[index]
        value = self.coordinates(part)[index]
        if isinstance(part, Point):
            value += self._displaced(part.name, column([0.0, 0.0]))[0]["xy".index(part.channels[index][0])]
        return value


class VirtualFamily(Family):
    """The equations of an element with virtual displacements, and the wrenches that follow from them."""

    def __init__(self, element: Element) -> None:
        source = VirtualSource(element)
        own = source.q.numel()
        super().__init__(element, source)
        #: Per carrier: force in x and y, moment.
        self.wrenches = -self.balance[own:]
        #: What a multiplier of one exerts: a column per row, as wrenches.
        self.pulls = -self.Phi_q[:, own:].T


def touched(element: Element) -> dict[str, Marker]:
    """The bodies, points and bars (and the ground) that an element acts on, each by its point on them, in order.

    An equation of one's own is known in coordinates only: it acts on bodies and on points that can move.
    """
    found: dict[str, Marker] = {}
    for field in element.fields.values():
        for marker in _markers(field):
            found.setdefault(marker.name, marker)
    if isinstance(element, UserElement):
        parts = {p.name: p.on((0.0, 0.0)) for p in element.parts() if isinstance(p, Carrier)}
        return {name: found.get(name, origin) for name, origin in parts.items()}
    return found


def _markers(field: Field) -> list[Marker]:
    if isinstance(field, Group):
        return [marker for item in field.fields for marker in _markers(item)]
    if isinstance(field, Component):
        field = field.part
    if isinstance(field, Marker):
        return [field]
    return [field.on((0.0, 0.0))] if isinstance(field, Carrier) else []


def second_part(element: Element) -> Marker | None:
    """The part whose load is meant when none is named: the second, or the only one that moves."""
    for key in ("j", "follower"):
        last = _markers(element.fields[key])[-1:] if key in element.fields else []
        if last and _moves(last[0]):
            return touched(element).get(last[0].name)
    moving = [marker for marker in touched(element).values() if _moves(marker)]
    return moving[min(1, len(moving) - 1)] if moving else None


def _moves(marker: Marker) -> bool:
    return any(part.channels for part in marker.parts())


def wrench(replay: Replay, k: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Force (times, 2) and moment (times) that element k exerts on a part, about its point on it, in world axes."""
    element = replay.system.elements[k]
    if isinstance(element, UserElement):
        return _of_coordinates(replay, k, touched(element)[name])
    family, tables = virtual(replay.system, k)
    values = replay.evaluate(k, family, "wrenches", family.wrenches, tables)
    at = 3 * list(touched(element)).index(name)
    return values[:, at : at + 2], values[:, at + 2]


def acts_on_carriers(element: Element) -> bool:
    """Whether what an element exerts is known as forces and moments on bodies, points and bars."""
    return not isinstance(element, UserElement) and bool(touched(element))


def pulls(replay: Replay, k: int) -> np.ndarray:
    """What a multiplier of one exerts, per row of element k: (times, carriers, force and moment, rows), world axes."""
    family, tables = virtual(replay.system, k)
    values = replay.evaluate(k, family, "pulls", ca.vec(family.pulls), tables)
    carriers = len(touched(replay.system.elements[k]))
    return np.moveaxis(values.reshape(len(values), family.n_rows, carriers, -1), 1, 3)


def virtual(system: System, k: int) -> tuple[VirtualFamily, list[Table]]:
    """The equations of element k with virtual displacements, and the tables they read."""
    element, held = system.elements[k], system.virtual
    if k not in held:
        carriers, structure = list(touched(element)), element.structure()
        seen = [carriers.index(marker.name) for field in element.fields.values() for marker in _markers(field)]
        shortcut = None if structure is None else (VirtualFamily, structure, tuple(seen))
        held[k] = shared(shortcut, lambda: VirtualFamily(element))
    return held[k]  # type: ignore[return-value]


def _of_coordinates(replay: Replay, k: int, marker: Marker) -> tuple[np.ndarray, np.ndarray]:
    """The wrench of an element that is known in coordinates only, moved from the part's origin to a marker."""
    system, part = replay.system, marker.carrier
    assert isinstance(part, Part)
    family, parts = system.families[k], system.elements[k].parts()
    loads = replay.evaluate(k, family, "loads", -family.balance)
    before = sum(len(p.channels) for p in parts[: parts.index(part)])
    named = {channel[0]: loads[:, before + i] for i, channel in enumerate(part.channels)}
    none = np.zeros(len(loads))
    force = np.column_stack([named.get("x", none), named.get("y", none)])
    if isinstance(part, Point):
        return force, none
    where = positions(system, [part.on((0.0, 0.0)), marker], replay.parameters, replay.states.q)  # type: ignore[attr-defined]
    arm = where[:, 1] - where[:, 0]
    return force, named["angle"] - (arm[:, 0] * force[:, 1] - arm[:, 1] * force[:, 0])


def heavy(system: System) -> list[int]:
    """The elements with inertia whose parts are known as bodies, points and bars."""
    known = enumerate(system.elements)
    return [k for k, element in known if element.has_inertia and touched(element)]


def shaking(replay: Replay) -> tuple[np.ndarray, np.ndarray]:
    """The resultant of all inertia forces over time: force (times, 2), and moment about the origin of the world.

    It is what the motion of the masses adds to the load of the ground: their weight, and forces between parts and the
    ground, are not in it.
    """
    s, system = replay.states, replay.system
    still = States(s.t, s.q, s.v, np.zeros_like(s.a), s.multipliers)
    resting = Replay(system, replay.parameters, still, replay.events)
    force, moment = np.zeros((len(s.t), 2)), np.zeros(len(s.t))
    for k in heavy(system):
        for name, marker in touched(system.elements[k]).items():
            (f, m), (g, n) = wrench(replay, k, name), wrench(resting, k, name)
            at = positions(system, [marker], replay.parameters, s.q)[:, 0]
            push = f - g
            force += push
            moment += m - n + at[:, 0] * push[:, 1] - at[:, 1] * push[:, 0]
    return force, moment
