"""Wheels to draw: which circle a gear, belt or rack means, from its ratio and the distance of the centres."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kempe.elements import (
    AngleCoordinate,
    Belt,
    Body,
    Carrier,
    ClearanceRevolute,
    Component,
    Coordinate,
    Gear,
    Ground,
    LooseRevolute,
    LubricatedRevolute,
    Marker,
    Point,
    RackAndPinion,
    Revolute,
    Weld,
)
from kempe.elements.base import Scalar
from kempe.elements.quantities import Angle, Measure
from kempe.model import Model
from kempe.view.stage import Stage, markers_in


class Wheel(NamedTuple):
    """The centre of a wheel as a marker on it, and its radius."""

    centre: Marker
    radius: float


#: Pins that are loose in their holes, and all pins.
LOOSE_PINS = (LooseRevolute, ClearanceRevolute, LubricatedRevolute)
PINS = (Revolute, *LOOSE_PINS)


def pivot_of(model: Model, quantity: Any, about: Carrier | None = None) -> Marker | None:
    """The point about which the part turns whose angle a quantity is; None when it is no angle of a part."""
    if isinstance(quantity, Angle):
        return markers_in(quantity)[1]
    if not isinstance(quantity, Measure):
        return None
    (coordinate,) = quantity.fields
    if isinstance(coordinate, Coordinate):
        owner = coordinate.owner
        return markers_in(owner.fields["j"])[0] if isinstance(owner, AngleCoordinate) else None
    if isinstance(coordinate, Component) and isinstance(coordinate.part, Body) and coordinate.index == 2:
        return hub(model, coordinate.part, about)
    return None


def hub(model: Model, body: Body, about: Carrier | None = None) -> Marker:
    """Where a body is pinned to a carrier, else to the ground, else to anything; its origin when it is not."""
    hubs: dict[str, Marker] = {}
    for joint in model.elements.values():
        if isinstance(joint, PINS) and body in [m.carrier for m in joint.markers]:
            mine, other = joint.markers if joint.markers[0].carrier is body else joint.markers[::-1]
            hubs.setdefault(other.carrier.name, mine)
    wanted = [*([about.name] if about is not None else []), "ground", *hubs]
    return next((hubs[name] for name in wanted if name in hubs), body.at((0.0, 0.0)))


def is_welded(model: Model, carrier: Carrier) -> bool:
    """Whether a part is welded to the ground."""
    welds = [[m.carrier for m in e.markers] for e in model.elements.values() if isinstance(e, Weld)]
    return any(carrier in pair and any(isinstance(c, Ground) for c in pair) for pair in welds)


def pair_of(element: Gear, stage: Stage) -> tuple[Wheel, Wheel] | None:
    """The two wheels of a gear pair or belt; None when their radii do not follow from ratio and distance."""
    i, j, arm, ratio = (element.fields[key] for key in ("i", "j", "arm", "ratio"))
    assert isinstance(ratio, Scalar)
    a, b = markers_in(element.fields["centres"]) or _pivots(stage, i, j, arm) or (None, None)
    if a is None or b is None:
        return None
    apart = np.linalg.norm(stage.where(b) - stage.where(a), axis=1)
    distance, k = float(apart[0]), float(stage.values(ratio.value)[0])
    if distance <= 1e-9 * stage.posed.size or np.ptp(apart) > 1e-6 * distance:
        return None
    radii = _belt_radii(element, k, distance, stage) if isinstance(element, Belt) else _gear_radii(k, distance)
    return None if radii is None else (Wheel(a, radii[0]), Wheel(b, radii[1]))


def _pivots(stage: Stage, i: Any, j: Any, arm: Any) -> tuple[Marker, Marker] | None:
    """The centres of wheels that do not say where they are: where they are pinned."""
    turning = arm.fields[0] if isinstance(arm, Measure) else None
    carrier = turning.part if isinstance(turning, Component) and isinstance(turning.part, Body) else Ground()
    centres = [pivot_of(stage.model, q, carrier) for q in (i, j)]
    if None in centres:  # the ground is a wheel: it is centred where the arm turns
        hub = pivot_of(stage.model, arm)
        if hub is None:
            return None
        fixed = Ground().at(tuple(map(float, stage.where(hub)[0])))
        centres = [c or fixed for c in centres]
    a, b = (c for c in centres if c is not None)
    return a, b


def _gear_radii(ratio: float, distance: float) -> tuple[float, float] | None:
    """Radii r_i = |ratio| r_j whose sum (external teeth, ratio < 0) or difference is the distance of the centres."""
    if abs(1.0 - ratio) < 1e-9:
        return None
    r_j = distance / abs(1.0 - ratio)
    return abs(ratio) * r_j, r_j


def _belt_radii(element: Belt, ratio: float, distance: float, stage: Stage) -> tuple[float, float]:
    """The pulleys' radii; in the right proportion, together half the distance, where the belt does not tell them."""
    given = getattr(element, "radii", None)
    if given is not None:
        r_i, r_j = stage.values(*given)
        return float(r_i), float(r_j)
    r_j = 0.5 * distance / (1.0 + abs(ratio))
    return abs(ratio) * r_j, r_j


def strands(element: Belt, pair: tuple[Wheel, Wheel], stage: Stage) -> list[tuple[np.ndarray, np.ndarray]]:
    """The straight parts of a belt: two common tangents of the pulleys, inner ones when it is crossed."""
    ratio = element.fields["ratio"]
    assert isinstance(ratio, Scalar)
    side = float(np.sign(stage.values(ratio.value)[0]))
    (a, r_a), (b, r_b) = ((stage.where(w.centre), w.radius) for w in pair)
    apart = np.linalg.norm(b - a, axis=1, keepdims=True)
    along = (b - a) / apart
    across = np.column_stack([-along[:, 1], along[:, 0]])
    lean = (r_a - side * r_b) / apart
    if np.any(np.abs(lean) >= 1.0):
        return []
    normals = [lean * along + sign * np.sqrt(1.0 - lean**2) * across for sign in (1.0, -1.0)]
    return [(a + r_a * n, b + side * r_b * n) for n in normals]


def rack_of(element: RackAndPinion, stage: Stage) -> tuple[Wheel, Carrier, np.ndarray, np.ndarray]:
    """The pinion, the rack's carrier, the world positions of their contact, and the rack's direction."""
    pinion, rack, frame, radius = (element.fields[key] for key in ("i", "j", "frame", "radius"))
    assert isinstance(pinion, Marker) and isinstance(rack, Marker) and isinstance(radius, Scalar)
    r = float(stage.values(radius.value)[0])
    axis = stage.axis(frame if isinstance(frame, Marker) and isinstance(rack.carrier, Point) else rack)
    # a rim point on the right of the axis moves along it when the pinion turns counter-clockwise
    touched = stage.where(pinion) + r * np.column_stack([axis[:, 1], -axis[:, 0]])
    return Wheel(pinion, abs(r)), rack.carrier, touched, axis
