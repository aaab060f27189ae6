"""Surfaces that touch, as they are drawn: lines as long as they are touched, circles with a spoke to see them roll."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kempe.elements import ClearanceRevolute, Element, Ground, LooseRevolute, LubricatedRevolute, Marker
from kempe.elements.base import Scalar, Static
from kempe.elements.surfaces import CircleAndLine, TwoCircles, TwoSurfaces
from kempe.view.drawing import Circle

if TYPE_CHECKING:
    from kempe.view.geometry import Sketch


def draw_surfaces(element: TwoSurfaces, scene: Sketch) -> None:
    """The line or circle of i, and the point or circle of j."""
    i, j = element.markers
    if isinstance(element, TwoCircles):
        ring, inside = _number(element, "first", scene), element.fields["inside"]
        assert isinstance(inside, Static)
        _circle(i, ring, bool(inside.value), scene)
        _circle(j, _number(element, "second", scene), False, scene)
        return
    radius = 0.0
    if isinstance(element, CircleAndLine):
        radius = _number(element, "radius", scene)
        _circle(j, radius, False, scene)
    else:
        scene.attach(j)
    _line(element.name, i, j, radius, scene)


def draw_bearing(element: LooseRevolute | ClearanceRevolute | LubricatedRevolute, scene: Sketch) -> None:
    """The bearing and the journal of a joint with play to scale, where their radii are known."""
    if element.radii is not None:
        hole, pin = (float(scene.stage.values(radius)[0]) for radius in element.radii)
        i, j = element.markers
        _circle(i, hole, True, scene, spoke=False)
        _circle(j, pin, False, scene, spoke=False)


def _number(element: Element, key: str, scene: Sketch) -> float:
    field = element.fields[key]
    assert isinstance(field, Scalar)
    return float(scene.stage.values(field.value)[0])


def _line(name: str, line: Marker, rider: Marker, radius: float, scene: Sketch) -> None:
    """A wall along the line; one wall for all that touch the same line."""
    stage, drawing = scene.stage, scene.drawing
    x, y, turn = stage.local(line)
    u = np.array([np.cos(turn), np.sin(turn)])
    height = float(u[0] * y - u[1] * x)
    along = ((stage.where(rider) - stage.where(line)) * stage.axis(line)).sum(axis=1) + float(u @ (x, y))
    spare = 0.1 * max(stage.span(), float(np.ptp(along))) + radius
    low, high = float(along.min()) - spare, float(along.max()) + spare
    size = stage.posed.size
    key = (line.carrier.name, round(float(u[0]), 6), round(float(u[1]), 6), round(height / size, 6))
    first, *ends = scene.lines.get(key, (name, low, high))
    low, high = min(low, *ends), max(high, *ends)
    scene.lines[key] = (first, low, high)
    origin = height * np.array([-u[1], u[0]])
    drawing.walls[first] = scene.segment(line.carrier, origin, turn, low, high)
    scene.owned(first, line.carrier)


def _circle(centre: Marker, radius: float, hollow: bool, scene: Sketch, spoke: bool = True) -> None:
    """A disc, or a ring in which something runs, once for all that it touches."""
    stage, drawing = scene.stage, scene.drawing
    if isinstance(centre.carrier, Ground):
        place = stage.place(centre)
    else:
        place = scene.attach(centre)
    circle = Circle(place, radius, "pulley" if hollow else "roller", centre.name, isinstance(centre.carrier, Ground))
    if radius <= 0.0 or any(c.centre == place and np.isclose(c.radius, radius) for c in drawing.circles):
        return
    drawing.circles.append(circle if hollow else circle._replace(fixed=False))
    if spoke and not isinstance(centre.carrier, Ground):
        x, y, _ = stage.local(centre)
        key = f"{centre.name} {len(drawing.circles)}"
        drawing.spokes[key] = (place, stage.fix(centre.carrier, x + radius, y))
        drawing.owner[key] = centre.name
