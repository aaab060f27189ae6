"""Signs of forces, sized to the drawing: springs, dashpots, arrows, spirals, walls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from kempe.elements import (
    Bar,
    Body,
    BumpStop,
    Carrier,
    Component,
    Element,
    Force,
    Ground,
    Marker,
    Point,
    Spring,
    Stop,
    Torque,
    TorsionSpring,
    Translational,
)
from kempe.elements.base import Field, Group, Scalar, Static
from kempe.elements.quantities import Displacement, Measure
from kempe.elements.sources import DrawnSource
from kempe.model import Model
from kempe.view.drawing import Drawing
from kempe.view.space_stage import SpaceStage
from kempe.view.stage import Stage, markers_of
from kempe.view.wheels import PINS, hub

#: A drawing as wide as a page, in typographic points: how large one of them is follows from it.
PAGE = 385.0


@singledispatch
def sign(element: Element, stage: Stage, drawing: Drawing, pt: float) -> None:
    """What stands for a force in a drawing; ``pt`` is about one typographic point."""


# --- springs and dampers --------------------------------------------------------------------------------------------


@sign.register
def _spring(element: Spring, stage: Stage, drawing: Drawing, pt: float) -> None:
    """A zigzag; a dashpot instead where there is only damping, beside it where there are both; else a cylinder."""
    i, j = (stage.place(m) for m in element.markers)
    a, b = stage.point(i), stage.point(j)
    elastic = any(given(element, key) for key in ("stiffness", "table", "law"))
    line = _Line(stage, a, b)
    for place, marker, away in zip((i, j), element.markers, (-line.u[0], line.u[0]), strict=True):
        if isinstance(marker.carrier, Ground):
            _foot(f"{element.name} foot", place, away, stage, drawing, pt)
    if elastic or given(element, "damping"):
        drawing.springs[element.name] = (i, j)
        drawing.strokes[element.name] = _spring_and_dashpot(line, elastic, given(element, "damping"), pt)
    else:
        drawing.actuators[element.name] = (i, stage.add(line.at(0.6 * float(line.length.min()))), j)


def given(element: Element, key: str) -> bool:
    """Whether a number or a law of an element was given."""
    field = element.fields[key]
    return not (isinstance(field, Static) and field.value is None)


class _Line:
    """The line between two moving points, on which places are given along and across."""

    def __init__(self, stage: Stage, a: np.ndarray, b: np.ndarray) -> None:
        self.stage, self.a = stage, a
        self.length = np.linalg.norm(b - a, axis=1)
        self.u = (
            np.where(self.length[:, None] > 0, b - a, [1.0, 0.0]) / np.where(self.length > 0, self.length, 1.0)[:, None]
        )
        self.n = np.column_stack([-self.u[:, 1], self.u[:, 0]])

    def at(self, along: np.ndarray | float, across: float = 0.0) -> np.ndarray:
        """World positions of a place on the line."""
        return self.a + np.multiply(along, self.u.T).T + across * self.n

    def stroke(self, *places: tuple[np.ndarray | float, float]) -> list[int]:
        """A broken line through such places."""
        return [self.stage.add(self.at(*place)) for place in places]


def _spring_and_dashpot(line: _Line, elastic: bool, damped: bool, pt: float) -> list[list[int]]:
    """Straight leads, and between them the coil, the dashpot, or both side by side."""
    both = elastic and damped
    start = float(line.length[0])
    lead = np.minimum(0.5 * (start - min(0.76 * start, 130.0 * pt)), 0.3 * line.length)
    first, last, side = lead, line.length - lead, 8.0 * pt if both else 0.0
    strokes = [line.stroke((0.0, 0.0), (first, 0.0)), line.stroke((last, 0.0), (line.length, 0.0))]
    if elastic:
        strokes.append(_coil(line, first, last, side, pt))
    if damped:
        strokes += _dashpot(line, first, last, -side, pt)
    if both:
        strokes += [line.stroke((at, -side), (at, side)) for at in (first, last)]
    return strokes


def _coil(line: _Line, first: np.ndarray, last: np.ndarray, side: float, pt: float) -> list[int]:
    """A zigzag with as many turns as look right in the first frame."""
    count = 2 * int(np.clip(round(float(last[0] - first[0]) / (9.0 * pt)), 3, 16))
    turns = [(first + (last - first) * (k + 0.5) / count, side + (5.0 if k % 2 else -5.0) * pt) for k in range(count)]
    return line.stroke((first, side), *turns, (last, side))


def _dashpot(line: _Line, first: np.ndarray, last: np.ndarray, side: float, pt: float) -> list[list[int]]:
    """A cup held by the second end and a piston held by the first, which moves in it as far as the cup is deep."""
    room = last - first
    usual = min(float(room.mean()), 130.0 * pt)
    size = np.minimum(usual, room)
    bottom, mouth = last - 0.32 * size, last - 0.68 * size
    piston = np.clip(first + float(room.mean()) - 0.5 * usual, mouth + 0.04 * size, bottom - 0.04 * size)
    wide, narrow = 5.0 * pt, 3.4 * pt
    return [
        line.stroke((mouth, side + wide), (bottom, side + wide), (bottom, side - wide), (mouth, side - wide)),
        line.stroke((bottom, side), (last, side)),
        line.stroke((first, side), (piston, side)),
        line.stroke((piston, side + narrow), (piston, side - narrow)),
    ]


def _foot(name: str, place: int, away: np.ndarray, stage: Stage, drawing: Drawing, pt: float) -> None:
    """A wall that holds the end of a spring, unless something is supported there anyway."""
    if place not in drawing.anchors:
        across = 9.0 * pt * np.array([-away[1], away[0]])
        ends = [stage.add(stage.point(place) + s * across) for s in (-1.0, 1.0)]
        drawing.walls[name] = (ends[0], ends[1])


@sign.register
def _torsion_spring(element: TorsionSpring, stage: Stage, drawing: Drawing, pt: float) -> None:
    """A spiral about the pin of the two parts."""
    centre = stage.place(pivot(stage.model, *element.markers))
    turn = np.linspace(0.0, 4.5 * np.pi, 46)
    radius = np.linspace(3.0, 11.0, 46) * pt
    drawing.strokes[element.name] = [_around(stage, centre, radius, turn + np.pi / 2)]
    drawing.joints.setdefault(element.name, centre)


def _around(stage: Stage, centre: int, radius: np.ndarray, turn: np.ndarray) -> list[int]:
    """Points about another, which do not turn with anything."""
    return [stage.beside(centre, r * np.cos(a), r * np.sin(a)) for r, a in zip(radius, turn, strict=True)]


# --- loads ----------------------------------------------------------------------------------------------------------


@sign.register
def _force(element: Force, stage: Stage, drawing: Drawing, pt: float) -> None:
    """An arrow from the point in the direction in which the force acts first; all arrows are equally long."""
    components, frame = element.fields["components"], element.fields["frame"]
    assert isinstance(components, Group) and isinstance(frame, Static)
    push = first_value(stage, components.fields)
    if not np.any(push):
        return
    foot = stage.place(element.marker)
    along = np.tile(push / np.hypot(*push), (len(stage.q), 1))
    if frame.value == "body":
        u = stage.axis(element.marker)
        along = along[:, :1] * u + along[:, 1:] * np.column_stack([-u[:, 1], u[:, 0]])
    tip = stage.point(foot) + 34.0 * pt * along
    drawing.arrows[element.name] = [foot, stage.add(tip - 6.0 * pt * along)]
    drawing.heads[element.name] = _head(stage, tip, along, pt)


def _head(stage: Stage, tip: np.ndarray, along: np.ndarray, pt: float) -> tuple[int, int, int]:
    """The three corners of an arrow's head."""
    across = np.column_stack([-along[:, 1], along[:, 0]])
    barbs = [stage.add(tip - 8.0 * pt * along + side * 3.2 * pt * across) for side in (1.0, -1.0)]
    return stage.add(tip), barbs[0], barbs[1]


def first_value(stage: Stage | SpaceStage, fields: Sequence[Field]) -> np.ndarray:
    """The values of some numbers or laws of time at the first of a few early times at which they do not vanish."""
    source = DrawnSource()
    values = np.zeros(len(fields))
    for t in (0.0, 1e-3, 0.1, 1.0):
        source.t = t
        values = stage.values(*[f.symbolic(source) or 0.0 for f in fields])
        if np.abs(values).max() > 1e-12:
            break
    return values


@sign.register
def _torque(element: Torque, stage: Stage, drawing: Drawing, pt: float) -> None:
    """A curved arrow about the part's pin, in the sense in which the torque acts first."""
    sense = float(np.sign(first_value(stage, [element.fields["torque"]])[0]))
    if sense == 0.0:
        return
    centre = stage.place(pivot(stage.model, *element.markers))
    turn = np.radians(np.linspace(-60.0, 225.0, 33))[:: int(sense)]
    arc = _around(stage, centre, np.full(33, 15.0 * pt), turn)
    end = turn[-1] + sense * 0.35  # a head follows the arc when it is turned in a little
    along = np.tile(sense * np.array([-np.sin(end), np.cos(end)]), (len(stage.q), 1))
    drawing.arrows[element.name] = arc
    drawing.heads[element.name] = _head(stage, stage.point(arc[-1]) + 5.0 * pt * along, along, pt)


# --- stops ----------------------------------------------------------------------------------------------------------


@sign.register(BumpStop)
@sign.register(Stop)
def _stop(element: BumpStop | Stop, stage: Stage, drawing: Drawing, pt: float) -> None:
    """A wall across the direction of a displacement or a coordinate; nothing for other quantities."""
    quantity, limit, side = (element.fields[key] for key in ("quantity", "limit", "side"))
    assert isinstance(limit, Scalar) and isinstance(side, Static)
    at = float(stage.values(limit.value)[0])
    if isinstance(quantity, Displacement):
        base, rider = markers_of(element)
        x, y, turn = stage.local(base)
        carrier, origin, along = base.carrier, np.array([x, y]), np.array([np.cos(turn), np.sin(turn)])
    elif isinstance(quantity, Measure):
        (coordinate,) = quantity.fields
        if not isinstance(coordinate, Component) or coordinate.part.is_angle()[coordinate.index]:
            return
        part = coordinate.part
        if not isinstance(part, (Body, Point)):
            return
        carrier, rider = Ground(), part.at((0.0, 0.0))
        along = np.array([1.0, 0.0]) if coordinate.name.endswith(".x") else np.array([0.0, 1.0])
        origin = stage.where(rider)[0] * along[::-1]
    else:
        return
    away = along if side.value == "above" else -along
    world = (stage.world(carrier, *away) - stage.world(carrier, 0.0, 0.0))[0]
    held = origin + at * along + _reach(stage, drawing, rider, world, pt) * away
    across = 12.0 * pt * np.array([-away[1], away[0]])
    ends = [stage.fix(carrier, *map(float, held + s * across)) for s in (-1.0, 1.0)]
    drawing.walls[element.name] = (ends[0], ends[1])
    if not isinstance(carrier, Ground):
        drawing.owner[element.name] = carrier.name


@sign.register
def _pads(element: Translational, stage: Stage, drawing: Drawing, pt: float) -> None:
    """The two pads on which a guide with friction bears, where its length is given."""
    length, rider = element.fields["length"], element.markers[1]
    if not isinstance(length, Scalar) or isinstance(rider.carrier, Ground):
        return
    half = float(stage.values(length.value)[0]) / 2
    x, y, turn = stage.local(rider)
    for side in (-1.0, 1.0):
        along = [side * half - 5.0 * pt, side * half + 5.0 * pt]
        ends = [stage.fix(rider.carrier, x + s * float(np.cos(turn)), y + s * float(np.sin(turn))) for s in along]
        name = f"{element.name} pad {side:+.0f}"
        drawing.faces[name], drawing.owner[name] = (ends[0], ends[1]), rider.carrier.name


def _reach(stage: Stage, drawing: Drawing, rider: Marker, away: np.ndarray, pt: float) -> float:
    """How far beyond a point of a part the block ends with which the part is drawn on its guide."""
    name = rider.carrier.name
    mine = {*drawing.links.get(name, ()), drawing.labels.get(name, -1)}
    for place, guide in drawing.sliders:
        if place in mine and guide not in drawing.slots:
            return float((stage.point(place) - stage.where(rider))[0] @ away) + 11.0 * pt
    return 0.0


# --- where parts turn -----------------------------------------------------------------------------------------------


def pivot(model: Model, i: Marker, j: Marker) -> Marker:
    """The point about which j turns in i: their pin, a point they share, or failing that the hub or origin of j."""
    for joint in model.elements.values():
        if isinstance(joint, PINS) and {m.name for m in joint.markers} == {i.name, j.name}:
            return joint.markers[1]
    shared = [p for p in _points(j.carrier) if p in _points(i.carrier)]
    if isinstance(i.carrier, Ground):
        shared = [p for p in _points(j.carrier) if p.fixed == "xy"]
    if shared:
        return shared[0].at()
    if isinstance(j.carrier, Body):
        return hub(model, j.carrier, i.carrier)
    return j


def _points(carrier: Carrier) -> list[Point]:
    if isinstance(carrier, Bar):
        return [carrier.first, carrier.second]
    return [carrier] if isinstance(carrier, Point) else []
