"""What there is to draw of a mechanism: parts as bars and plates through their joints, ground, guides, wheels, cams.

Signs of forces are in ``loads``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

import numpy as np

from kempe.elements import (
    Belt,
    Body,
    BumpStop,
    Bushing,
    CamFlat,
    Carrier,
    ClearanceRevolute,
    Curve,
    Driver,
    Element,
    Force,
    Friction,
    Gear,
    Ground,
    Inertia,
    Joint,
    Link,
    LooseRevolute,
    LooseTranslational,
    LubricatedRevolute,
    Marker,
    PinInSlot,
    Point,
    PointMass,
    RackAndPinion,
    Revolute,
    RigidLink,
    Spring,
    Stop,
    Torque,
    TorsionSpring,
    Translational,
    Weld,
)
from kempe.elements.base import Scalar
from kempe.elements.curves import Contact
from kempe.elements.quantities import Distance
from kempe.elements.surfaces import TwoSurfaces
from kempe.model import Model
from kempe.view import loads, surfaces, wheels
from kempe.view.drawing import Circle, Drawing, around
from kempe.view.stage import Stage, markers_in, markers_of

__all__ = ["Circle", "Drawing", "Sketch", "around", "drawing_of"]

#: What is drawn after the other joints, whose points say how large the mechanism is and where a slider's block fits.
_LATE = (
    Contact,
    Translational,
    LooseTranslational,
    PinInSlot,
    Gear,
    RackAndPinion,
    Driver,
    Spring,
    Force,
    TwoSurfaces,
)


class Sketch:
    """A drawing in the making: its points, and the points gathered for each body so far."""

    def __init__(self, model: Model, q: np.ndarray, parameters: Mapping[str, float] | None) -> None:
        self.model = model
        self.stage = Stage(model, q, parameters)
        self.drawing = Drawing(np.zeros((1, 0, 2)))
        self.on_body: dict[str, list[int]] = {p.name: [] for p in model.parts.values() if isinstance(p, Body)}
        #: Lines that are touched: carrier, direction and height -> the name of the first contact, and how far it goes.
        self.lines: dict[tuple[str, float, float, float], tuple[str, float, float]] = {}

    def attach(self, marker: Marker) -> int:
        """A marker as a point to draw, which its body reaches to."""
        index = self.stage.place(marker)
        self.reach(marker.carrier, index)
        return index

    def reach(self, carrier: Carrier, *indices: int) -> None:
        """Let a body reach to some points."""
        if isinstance(carrier, Body):
            self.on_body[carrier.name] += indices

    def owned(self, key: str | int, carrier: Carrier) -> None:
        """Note whose something is."""
        if not isinstance(carrier, Ground):
            self.drawing.owner[key] = carrier.name

    def segment(self, carrier: Carrier, origin: np.ndarray, angle: float, low: float, high: float) -> tuple[int, int]:
        """Two points fixed to a carrier, on a line through a point of it."""
        ends = [origin + s * np.array([np.cos(angle), np.sin(angle)]) for s in (low, high)]
        return self.stage.fix(carrier, *map(float, ends[0])), self.stage.fix(carrier, *map(float, ends[1]))


def drawing_of(model: Model, q: np.ndarray, parameters: Mapping[str, float] | None = None) -> Drawing:
    """Everything to draw of a mechanism in one or many poses."""
    scene = Sketch(model, q, parameters)
    drawing, stage = scene.drawing, scene.stage
    for part in model.parts.values():
        if isinstance(part, Point):
            _point(part, scene)
    corners = {c for e in model.elements.values() if isinstance(e, LooseTranslational) for c in e.corners}
    drawn = [e for e in model.elements.values() if e not in corners]
    late = [e for e in drawn if isinstance(e, _LATE) and not isinstance(e, wheels.LOOSE_PINS)]  # a loose pin is a pin
    for element in [e for e in drawn if e not in late]:
        _shape(element, scene)
    _guided_points(scene)
    for kind in _LATE:
        for element in [e for e in late if isinstance(e, kind)]:
            _shape(element, scene)
    for name in scene.on_body:
        _body(model.parts[name], scene)  # type: ignore[arg-type]
    drawing.size = stage.span()
    for element in model.elements.values():
        loads.sign(element, stage, drawing, drawing.size / loads.PAGE)
    drawing.points = stage.points()
    drawing.frames, drawing.fixed = stage.rigid()
    drawing.pins, drawing.anchors = list(dict.fromkeys(drawing.pins)), list(dict.fromkeys(drawing.anchors))
    used = {*drawing.pins, *drawing.anchors, *(rider for rider, _ in drawing.sliders)}
    drawing.dots = [k for name, k in drawing.labels.items() if isinstance(model.parts[name], Point) and k not in used]
    for name, indices in drawing.links.items():
        drawing.outlines[name] = around(drawing.points[0], indices)
    return drawing


def _body(body: Body, scene: Sketch) -> None:
    """A body through its joints, and to its own origin where that is nearby."""
    stage, drawing = scene.stage, scene.drawing
    origin = stage.fix(body, 0.0, 0.0)
    drawing.labels[body.name] = origin
    joints = list(dict.fromkeys(scene.on_body[body.name]))
    corners = np.array([stage.point(k)[0] for k in joints]).reshape(-1, 2)
    reach = float(np.linalg.norm(corners - stage.point(origin)[0], axis=1).min()) if joints else 0.0
    across = float(np.linalg.norm(np.ptp(corners, axis=0))) if joints else 0.0
    if reach <= across or across == 0.0:
        joints = list(dict.fromkeys([*joints, origin]))
    drawing.links[body.name] = joints


def _point(point: Point, scene: Sketch) -> None:
    """A point in natural coordinates: nailed down, guided along an axis, or free."""
    index = scene.drawing.labels[point.name] = scene.stage.place(point.at())
    if point.fixed == "xy":
        scene.drawing.anchors.append(index)
        scene.drawing.pins.append(index)


def _guided_points(scene: Sketch) -> None:
    for part in scene.model.parts.values():
        if isinstance(part, Point) and len(part.fixed) == 1:
            where = scene.stage.point(scene.drawing.labels[part.name])
            angle = 0.0 if part.fixed == "y" else np.pi / 2
            along = (where - where[0]) @ np.array([np.cos(angle), np.sin(angle)])
            _guide(scene, Ground(), where[0], angle, along, scene.drawing.labels[part.name])


# --- elements -------------------------------------------------------------------------------------------------------


@singledispatch
def _shape(element: Element, scene: Sketch) -> None:
    """What an element adds to the drawing: its points, if nothing better is known."""
    for marker in markers_of(element):
        if not isinstance(marker.carrier, Ground):
            scene.attach(marker)


@_shape.register(Inertia)
@_shape.register(PointMass)
@_shape.register(TorsionSpring)
@_shape.register(Torque)
@_shape.register(BumpStop)
@_shape.register(Stop)
@_shape.register(Friction)
def _nothing(element: Element, scene: Sketch) -> None:
    pass


@_shape.register
def _rigid_link(element: RigidLink, scene: Sketch) -> None:
    indices = [scene.drawing.labels[p.name] for p in element.points]
    scene.drawing.links[element.name] = indices
    scene.drawing.pins += indices


@_shape.register
def _surfaces(element: TwoSurfaces, scene: Sketch) -> None:
    surfaces.draw_surfaces(element, scene)


@_shape.register(Revolute)
@_shape.register(LooseRevolute)
@_shape.register(ClearanceRevolute)
@_shape.register(LubricatedRevolute)
def _revolute(element: Joint, scene: Sketch) -> None:
    i, j = (scene.attach(m) for m in element.markers)
    drawing = scene.drawing
    grounded = [isinstance(m.carrier, Ground) for m in element.markers]
    drawing.joints[element.name] = drawing_at = i if grounded[0] else j
    gap = np.abs(scene.stage.point(i) - scene.stage.point(j)).max()
    one = gap < 1e-6 * scene.stage.posed.size or isinstance(element, wheels.LOOSE_PINS)
    drawing.pins += [drawing_at] if one else [i, j]
    drawing.anchors += [drawing_at] if any(grounded) else []
    if isinstance(element, wheels.LOOSE_PINS):
        surfaces.draw_bearing(element, scene)


@_shape.register
def _weld(element: Weld, scene: Sketch) -> None:
    i, j = (scene.attach(m) for m in element.markers)
    drawing = scene.drawing
    grounded = [isinstance(m.carrier, Ground) for m in element.markers]
    if any(grounded):
        drawing.anchors.append(i if grounded[0] else j)
    drawing.joints[element.name] = j
    drawing.welds.append(j)


@_shape.register
def _link(element: Link, scene: Sketch) -> None:
    i, j = (scene.attach(m) for m in element.markers)
    scene.drawing.rods[element.name] = (i, j)
    scene.drawing.pins += [i, j]
    scene.drawing.anchors += [k for k, m in zip((i, j), element.markers, strict=True) if isinstance(m.carrier, Ground)]


@_shape.register
def _spring(element: Spring, scene: Sketch) -> None:
    """Its ends; the coil itself is drawn when the size of everything is known (see ``loads``)."""
    scene.drawing.pins += [scene.attach(m) for m in element.markers]


@_shape.register
def _force(element: Force, scene: Sketch) -> None:
    scene.attach(element.marker)


@_shape.register
def _bushing(element: Bushing, scene: Sketch) -> None:
    i, j = (scene.attach(m) for m in element.markers)
    scene.drawing.bushings.append(i)
    scene.drawing.pins.append(j)
    scene.drawing.anchors += [k for k, m in zip((i, j), element.markers, strict=True) if isinstance(m.carrier, Ground)]
    scene.drawing.joints[element.name] = i


@_shape.register(Translational)
@_shape.register(LooseTranslational)
def _translational(element: Translational | LooseTranslational, scene: Sketch) -> None:
    rail, rider = element.markers
    if isinstance(rider.carrier, Ground):  # the ground does not slide: the rail is its
        rail, rider = rider, rail
    stage = scene.stage
    x, y, turn = stage.local(rider)
    if isinstance(rider.carrier, Body):  # it does not turn on the rail, so its block may sit beside its other joints
        others = [stage.point(k) for k in scene.on_body[rider.carrier.name]]
        beside = np.mean(others, axis=0) if others else stage.world(rider.carrier, 0.0, 0.0)
        u = np.array([np.cos(turn), np.sin(turn)])
        stem = _stem(rider.carrier, beside, stage.axis(rider), scene)
        x, y = np.array([x, y]) + u * ((stage.seen_from(rider.carrier, beside)[0] - (x, y)) @ u + stem)
    index = stage.fix(rider.carrier, float(x), float(y))
    scene.reach(rider.carrier, index)
    _on_rail(element.name, rail, index, scene)


def _stem(body: Body, where: np.ndarray, axis: np.ndarray, scene: Sketch) -> float:
    """How far a cam follower's block is moved along its guide, away from the cam."""
    stage = scene.stage
    for contact in scene.model.elements.values():
        if isinstance(contact, Contact) and markers_in(contact.fields["follower"])[0].carrier is body:
            cam = stage.where(markers_in(contact.fields["base"])[0])
            return 0.25 * stage.span() * float(np.sign(((where - cam) * axis).sum(axis=1).mean()))
    return 0.0


@_shape.register
def _pin_in_slot(element: PinInSlot, scene: Sketch) -> None:
    rail, rider = element.markers
    index = scene.attach(rider)
    scene.drawing.slots.add(_on_rail(element.name, rail, index, scene))
    scene.drawing.pins.append(index)
    scene.drawing.joints[element.name] = index
    scene.drawing.anchors += [index] if isinstance(rider.carrier, Ground) else []


def _on_rail(name: str, rail: Marker, rider: int, scene: Sketch) -> int:
    x, y, turn = scene.stage.local(rail)
    along = ((scene.stage.point(rider) - scene.stage.where(rail)) * scene.stage.axis(rail)).sum(axis=1)
    guide = _guide(scene, rail.carrier, np.array([x, y]), turn, along, rider)
    scene.drawing.joints[name] = scene.drawing.guides[guide][1]
    return guide


def _guide(scene: Sketch, carrier: Carrier, origin: np.ndarray, angle: float, along: np.ndarray, rider: int) -> int:
    """A guide on a carrier that holds a rider at every place it takes along it; its number."""
    span = scene.stage.span()
    low, high = float(along.min()), float(along.max())
    spare = (0.05 if high - low > 0.05 * span else 0.12) * span
    ends = scene.segment(carrier, origin, angle, low - spare, high + spare)
    scene.reach(carrier, *ends)
    number = len(scene.drawing.guides)
    scene.owned(number, carrier)
    scene.drawing.guides.append(ends)
    scene.drawing.sliders.append((rider, number))
    return number


@_shape.register
def _contact(element: Contact, scene: Sketch) -> None:
    """A curve on the part that carries it, and the follower's knife edge, roller or face."""
    base, profile, follower = (element.fields[key] for key in ("base", "profile", "follower"))
    assert isinstance(base, Marker) and isinstance(profile, Curve) and isinstance(follower, Marker)
    stage, drawing = scene.stage, scene.drawing
    s, local = stage.profile(base, profile)
    drawing.curves[element.name] = [stage.fix(base.carrier, float(x), float(y)) for x, y in local[::2]]
    scene.owned(element.name, base.carrier)
    if isinstance(element, CamFlat):
        contact = stage.q[:, stage.posed.system.first[f"{element.name} s"]]
        wrapped = s[0] + np.mod(contact - s[0], s[-1] - s[0])
        touched = stage.world(base.carrier, np.interp(wrapped, s, local[:, 0]), np.interp(wrapped, s, local[:, 1]))
        _face(f"{element.name} face", follower, touched, float(np.ptp(local, axis=0).max()), scene)
        return
    index = scene.attach(follower)
    drawing.pins.append(index)
    radius = element.fields.get("radius")
    if isinstance(radius, Scalar):
        drawing.circles.append(Circle(index, float(stage.values(radius.value)[0]), "roller", follower.name))


def _face(name: str, follower: Marker, touched: np.ndarray, width: float, scene: Sketch) -> None:
    """A flat face as long as the contact point wanders on it."""
    stage = scene.stage
    x, y, turn = stage.local(follower)
    along = ((touched - stage.where(follower)) * stage.axis(follower)).sum(axis=1)
    low, high = min(0.0, float(along.min())) - 0.12 * width, max(0.0, float(along.max())) + 0.12 * width
    scene.drawing.faces[name] = scene.segment(follower.carrier, np.array([x, y]), turn, low, high)
    scene.owned(name, follower.carrier)
    scene.attach(follower)


@_shape.register
def _driver(element: Driver, scene: Sketch) -> None:
    """An actuator for a distance, a sense of turning for an angle."""
    quantity, stage, drawing = element.fields["quantity"], scene.stage, scene.drawing
    if isinstance(quantity, Distance):
        i, j = (scene.attach(m) for m in markers_of(element))
        d = stage.point(j) - stage.point(i)
        length = np.linalg.norm(d, axis=1, keepdims=True)
        barrel = stage.add(stage.point(i) + d / length * 0.6 * float(length.min()))
        drawing.actuators[element.name] = (i, barrel, j)
        drawing.pins += [i, j]
        return
    pivot = wheels.pivot_of(scene.model, quantity)
    if pivot is not None:
        drawing.motors[element.name] = (stage.place(pivot), _sense(element, scene))


def _sense(element: Driver, scene: Sketch) -> int:
    """In which sense a driver starts to turn."""
    posed = scene.stage.posed
    row = int(posed.system.rows_of[posed.system.elements.index(element)][0])
    rates = [float(posed.linear(scene.stage.q[0], t)[2][row]) for t in (0.0, 1e-3, 0.1)]
    return int(next((np.sign(rate) for rate in rates if abs(rate) > 1e-9), 1))


@_shape.register
def _gear(element: Gear, scene: Sketch) -> None:
    """Two pitch circles that touch, or a belt over two pulleys."""
    pair = wheels.pair_of(element, scene.stage)
    if pair is None:
        return
    kind = "pulley" if isinstance(element, Belt) else "pitch"
    for wheel in pair:
        _wheel(wheel, kind, scene)
    if isinstance(element, Belt):
        strands = wheels.strands(element, pair, scene.stage)
        scene.drawing.belts += [(scene.stage.add(a), scene.stage.add(b)) for a, b in strands]


def _wheel(wheel: wheels.Wheel, kind: str, scene: Sketch) -> None:
    """A wheel's circle, and a spoke on it to show how it turns."""
    stage, drawing, carrier = scene.stage, scene.drawing, wheel.centre.carrier
    fixed = isinstance(carrier, Ground) or wheels.is_welded(scene.model, carrier)
    circle = Circle(stage.place(wheel.centre), wheel.radius, kind, carrier.name, fixed)
    if any(c.centre == circle.centre and np.isclose(c.radius, circle.radius) for c in drawing.circles):
        return
    drawing.circles.append(circle)
    if not fixed:
        x, y, _ = stage.local(wheel.centre)
        drawing.spokes[f"{carrier.name} {len(drawing.circles)}"] = (
            circle.centre,
            stage.fix(carrier, x + wheel.radius, y),
        )
        drawing.owner[f"{carrier.name} {len(drawing.circles)}"] = carrier.name


@_shape.register
def _rack(element: RackAndPinion, scene: Sketch) -> None:
    """The pinion's pitch circle, and the rack as long as it is rolled on."""
    wheel, rack, touched, axis = wheels.rack_of(element, scene.stage)
    _wheel(wheel, "pitch", scene)
    seen = scene.stage.seen_from(rack, touched)
    direction = scene.stage.seen_from(rack, scene.stage.world(rack, 0.0, 0.0) + axis)[0]
    along = (seen - seen[0]) @ direction
    spare = max(2.0 * wheel.radius, 0.04 * scene.stage.span())
    ends = scene.segment(rack, seen[0], float(np.arctan2(*direction[::-1])), along.min() - spare, along.max() + spare)
    scene.drawing.racks[element.name] = ends
    scene.owned(element.name, rack)
