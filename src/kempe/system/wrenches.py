"""What an element exerts on each part: the work of all its equations on a small displacement of that part alone.

Every carrier an element touches (a body, point or bar, the ground too) is given virtual coordinates of its own: a shift
and a turn about the element's point on it, three numbers in the plane and six in space. The rows of the equations of
motion that belong to them are force and moment, whatever the element is made of: constraints, springs, inertia.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from kempe.elements import Carrier, Component, Element, KernelSource, Marker, Part, Point, Table
from kempe.elements.base import Field, Group
from kempe.elements.geometry import Placed
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

    def _displaced(self, carrier: Carrier, centre: ca.SX) -> tuple[ca.SX, ca.SX]:
        """The virtual displacement of a carrier and the centre of its rotation, which is where it was first seen."""
        name = carrier.name
        if name not in self._moved:
            moves = carrier.space.moves
            displacement = ca.SX.sym(f"moved {len(self._moved)}", moves)
            self.q = ca.vertcat(self.q, displacement)
            self.v = ca.vertcat(self.v, ca.SX.sym(f"moving {len(self._moved)}", moves))
            self.a = ca.vertcat(self.a, ca.SX.sym(f"accelerating {len(self._moved)}", moves))
            self._moved[name] = (displacement, centre)
        return self._moved[name]

    def placed(self, carrier: Any, placed: Placed) -> Placed:
        """A marker or frame displaced with its carrier; a point only shifts."""
        return placed.displaced(*self._displaced(carrier, placed.r))

    def component(self, part: Part, index: int) -> Any:
        """A coordinate displaced with its part."""
        value = self.coordinates(part)[index]
        if not isinstance(part, Carrier):
            return value
        origin = ca.SX.zeros(part.space.dim) if isinstance(part, Point) else part.frame(self).r  # (a point only shifts)
        d, centre = self._displaced(part, origin)
        moved = part.virtual(self.coordinates(part))[index, :]
        shift = d[: part.space.dim] + part.space.swept(d[part.space.dim :], origin - centre)
        return value + ca.mtimes(moved, ca.vertcat(shift, d[part.space.dim :]))


class VirtualFamily(Family):
    """The equations of an element with virtual displacements, and the wrenches that follow from them."""

    def __init__(self, element: Element) -> None:
        source = VirtualSource(element)
        own = source.q.numel()
        super().__init__(element, source)
        #: Per carrier: the components of the force, then those of the moment.
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
        parts = {p.name: p.on() for p in element.parts() if isinstance(p, Carrier)}
        return {name: found.get(name, origin) for name, origin in parts.items()}
    return found


def _markers(field: Field) -> list[Marker]:
    if isinstance(field, Group):
        return [marker for item in field.fields for marker in _markers(item)]
    if isinstance(field, Component):
        field = field.part
    if isinstance(field, Marker):
        return [field]
    return [field.on()] if isinstance(field, Carrier) else []


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
    """Force (times, 2 or 3) and moment (times, 1 or 3) that element k exerts on a part, about its point on it.

    Both are in world axes.
    """
    element = replay.system.elements[k]
    if isinstance(element, UserElement):
        return _of_coordinates(replay, k, touched(element)[name])
    family, tables = virtual(replay.system, k)
    values = replay.evaluate(k, family, "wrenches", family.wrenches, tables)
    space = touched(element)[name].carrier.space
    at = space.moves * list(touched(element)).index(name)
    return values[:, at : at + space.dim], values[:, at + space.dim : at + space.moves]


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


def loads_on(element: Element, part: Part, loads: ca.SX, q: ca.SX) -> ca.SX:
    """The wrench about a part's origin of an element that is known in coordinates only, from its generalised forces."""
    assert isinstance(part, Carrier)
    parts = element.parts()
    before = sum(len(p.channels) for p in parts[: parts.index(part)])
    own = slice(before, before + len(part.channels))
    return ca.mtimes(part.virtual(ca.vertsplit(q[own])).T, loads[own])


def _of_coordinates(replay: Replay, k: int, marker: Marker) -> tuple[np.ndarray, np.ndarray]:
    """The wrench of an element that is known in coordinates only, moved from the part's origin to a marker."""
    system, part = replay.system, marker.carrier
    assert isinstance(part, Part)
    family, space = system.families[k], part.space
    about_origin = loads_on(system.elements[k], part, -family.balance, family.q)
    which = system.elements[k].parts().index(part)
    values = replay.evaluate(k, family, f"loads {which}", about_origin)
    force, moment = values[:, : space.dim], values[:, space.dim :]
    if isinstance(part, Point):
        return force, moment
    where = positions(system, [part.on(), marker], replay.parameters, replay.states.q)  # type: ignore[attr-defined]
    return force, moment - moments(where[:, 1] - where[:, 0], force)


def moments(arms: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """The moments of forces with arms over time, (times, 1) in the plane and (times, 3) in space."""
    if arms.shape[1] == 3:
        return np.cross(arms, forces)
    return (arms[:, 0] * forces[:, 1] - arms[:, 1] * forces[:, 0])[:, None]


def heavy(system: System) -> list[int]:
    """The elements with inertia whose parts are known as bodies, points and bars."""
    known = enumerate(system.elements)
    return [k for k, element in known if element.has_inertia and touched(element)]


def shaking(replay: Replay) -> tuple[np.ndarray, np.ndarray]:
    """The resultant of all inertia forces over time: force, and moment about the origin of the world.

    It is what the motion of the masses adds to the load of the ground: their weight, and forces between parts and the
    ground, are not in it.
    """
    s, system = replay.states, replay.system
    still = States(s.t, s.q, s.v, np.zeros_like(s.a), s.multipliers)
    resting = Replay(system, replay.parameters, still, replay.events)
    force, moment = np.zeros((len(s.t), system.space.dim)), np.zeros((len(s.t), system.space.turns))
    for k in heavy(system):
        for name, marker in touched(system.elements[k]).items():
            (f, m), (g, n) = wrench(replay, k, name), wrench(resting, k, name)
            at = positions(system, [marker], replay.parameters, s.q)[:, 0]
            force += f - g
            moment += m - n + moments(at, f - g)
    return force, moment
