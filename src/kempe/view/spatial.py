"""What is drawn of a mechanism in space: solids for its parts, signs of its joints and forces, names."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kempe.elements import Element, Inertia, Point, PointMass, RigidBody, RigidLink, SpatialBody, SpatialJoint
from kempe.model import Model
from kempe.model.building import Builder
from kempe.view import space_joints, space_loads  # noqa: F401 (they say what elements look like)
from kempe.view.making import STONE, Maker, sign
from kempe.view.meshes import ball, cone, cylinder
from kempe.view.scene import Label, Scene
from kempe.view.space_parts import inertia_solid, look, star
from kempe.view.stage import markers_of
from kempe.view.style import DARK, INK

#: Links are as thick as this share of the mechanism, and of a usual link at most.
THICK, STOUT = 0.011, 0.1
#: From so many solids on they have fewer facets.
MANY = 300


def scene_of(model: Model, q: np.ndarray, parameters: Mapping[str, float] | None = None) -> Scene:
    """Everything to draw of a mechanism in space in one or many poses."""
    maker = Maker(model, q, parameters)
    scene = maker.scene
    acting = [e for e in model.elements.values() if not isinstance(e, (Inertia, PointMass, RigidBody))]
    for element in acting:
        for marker in markers_of(element):
            maker.reach(marker)
    _measure(maker)
    for k, shown in enumerate(model.ground.looks if isinstance(model, Builder) else ()):
        look(scene, 0, k, shown, STONE, "ground")
    for part in model.parts.values():
        if isinstance(part, SpatialBody):
            _body(part, maker)
        elif isinstance(part, Point):
            _point(part, maker)
    for element in model.elements.values():
        if isinstance(element, RigidLink):
            _bar(element, maker)
    for element in acting:
        if not any(getattr(marker.carrier, "looks", ()) for marker in markers_of(element)):
            sign(element, maker)
        if isinstance(element, SpatialJoint):
            _name_joint(element, maker)
    gravity = maker.gravity
    if np.any(gravity):
        scene.up = -gravity / np.linalg.norm(gravity)
    if len(scene.pieces) > MANY:  # each is small then
        sides = 20 if len(scene.pieces) < 5 * MANY else 12
        scene.meshes |= {"ball": ball(sides), "cylinder": cylinder(sides), "cone": cone(sides)}
    return scene


def _measure(maker: Maker) -> None:
    """How large the mechanism is in its first pose, and how thick links are then."""
    scene, places = maker.scene, maker.everywhere()
    span = float(np.linalg.norm(np.ptp(places, axis=0))) if len(places) else 0.0
    sizes = [np.sqrt(np.trace(inertia) / mass) for mass, inertia in maker.heavy.values()]
    if span <= 1e-9 * maker.stage.posed.size:
        span = max([4.0 * float(size) for size in sizes], default=maker.stage.posed.size)
    links = [np.linalg.norm(place) for places in maker.reached.values() for place in places]
    usual = float(np.median([float(length) for length in links if length > 1e-6 * span] or [span]))
    scene.size, scene.thick = span, min(THICK * span, STOUT * 2.0 * usual)


def _body(body: SpatialBody, maker: Maker) -> None:
    """A body by what was imported with it, by its joints, or by a solid with its inertia where these are too few."""
    scene, frame, shade = maker.scene, maker.stage.frame(body), maker.colour(body)
    places = np.array(maker.reached.get(id(body), [])).reshape(-1, 3)
    through = [scene.point(frame, np.zeros(3))]
    for k, shown in enumerate(body.looks):
        look(scene, frame, k, shown, shade, body.name)
    if not body.looks:
        through = star(scene, frame, places, shade, body.name)
        if maker.holds[id(body)] < 2 and body.name in maker.heavy:
            inertia_solid(scene, frame, *maker.heavy[body.name], shade, body.name)
    scene.labels.append(Label(body.name, through, shade))
    scene.paths[body.name] = scene.point(frame, np.zeros(3))


def _point(point: Point, maker: Maker) -> None:
    """A ball, on a stand where it is held fast."""
    scene, frame = maker.scene, maker.stage.frame(point)
    scene.globe(frame, np.zeros(3), 1.5 * scene.thick, DARK, point.name, layer="joint")
    if point.fixed == "xyz":
        maker.stand(frame, np.zeros(3), point.name)
    index = scene.point(frame, np.zeros(3))
    scene.paths[point.name] = index
    scene.labels.append(Label(point.name, [index], INK, "joint"))


def _bar(element: RigidLink, maker: Maker) -> None:
    """A rod between two points, a plate or rods where a solid has more."""
    scene, frame = maker.scene, maker.stage.frame(element.carrier)
    ends = [maker.seen_from(element.carrier, point.on()) for point in element.points]
    shade = maker.colour(element.carrier)
    if len(ends) == 2:
        scene.rod(frame, ends[0], ends[1], scene.thick, shade, element.name)
        through = [scene.point(frame, end) for end in ends]
    else:
        through = star(scene, frame, np.array(ends), shade, element.name)
    scene.labels.append(Label(element.name, through, shade))


def _name_joint(element: Element, maker: Maker) -> None:
    marker = maker.free_side(element)
    place = maker.stage.place(marker)
    index = maker.scene.point(maker.stage.frame(marker.carrier), place[:, 3])
    maker.scene.labels.append(Label(element.name, [index], DARK, "joint"))
    maker.scene.paths.setdefault(element.name, index)
