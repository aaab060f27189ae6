"""Signs of forces in space: coils, dashpots, cylinders, arrows; and vectors of a motion to scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kempe.elements import (
    Driver,
    Element,
    Force,
    Ground,
    Link,
    SpatialBushing,
    SpatialTorque,
    Spring,
    TorsionSpring,
)
from kempe.elements.base import Group, Static
from kempe.elements.quantities import Angle, Distance
from kempe.view.loads import first_value, given
from kempe.view.making import Maker, sign
from kempe.view.meshes import bow, helix
from kempe.view.scene import Label, Scene, across, between
from kempe.view.stage import markers_of
from kempe.view.style import DARK, FORCE, INK, RUBBER
from kempe.view.vectors import HUES, LONGEST, Vector, scale_of


def _ends(element: Element, maker: Maker) -> tuple[np.ndarray, np.ndarray]:
    """The two moving ends of an element (times, 3); a stand where one is on the ground."""
    i, j = markers_of(element)[:2]
    for marker in (i, j):
        frame, place = maker.stage.frame(marker.carrier), maker.stage.place(marker)[:, 3]
        maker.scene.globe(frame, place, 1.3 * maker.scene.thick, DARK, f"{element.name} end", "joint")
        if isinstance(marker.carrier, Ground):
            maker.stand(frame, place, element.name)
    return maker.stage.where(i), maker.stage.where(j)


def _name_between(element: Element, maker: Maker) -> None:
    scene = maker.scene
    points = [scene.point(maker.stage.frame(m.carrier), maker.stage.place(m)[:, 3]) for m in markers_of(element)[:2]]
    scene.labels.append(Label(element.name, points, DARK, "load"))


@sign.register
def _link(element: Link, maker: Maker) -> None:
    """A rod of constant length."""
    a, b = _ends(element, maker)
    frame = maker.scene.frame(between(a, b))
    maker.scene.rod(
        frame,
        np.zeros(3),
        np.array([0.0, 0.0, np.linalg.norm(b[0] - a[0])]),
        0.8 * maker.scene.thick,
        DARK,
        element.name,
    )
    _name_between(element, maker)


@sign.register
def _spring(element: Spring, maker: Maker) -> None:
    """A coil, with a dashpot in it where it damps too; a dashpot alone; else a cylinder that pushes."""
    a, b = _ends(element, maker)
    elastic = any(given(element, key) for key in ("stiffness", "table", "law"))
    if elastic:
        coil(maker.scene, a, b, element.name)
    if given(element, "damping") or not elastic:
        cylinder(maker.scene, a, b, element.name, 0.9 if elastic else 1.2)
    _name_between(element, maker)


def coil(scene: Scene, a: np.ndarray, b: np.ndarray, owner: str) -> None:
    """A coil between two moving places, on a frame that is stretched with it."""
    length = np.linalg.norm(b - a, axis=1)
    wide, usual = 2.4 * scene.thick, float(length.mean())
    turns = int(np.clip(round(usual / (2.4 * wide)), 4, 14))
    slender = float(f"{max(usual / wide, 1e-3):.2g}")
    name = f"coil {turns} {slender}"
    scene.meshes[name] = helix(turns, 0.2, slender)
    frame = scene.frame(between(a, b, stretched=True))
    scene.add(name, frame, np.column_stack([np.diag([wide, wide, 1.0]), np.zeros(3)]), DARK, owner, layer="sign")


def cylinder(scene: Scene, a: np.ndarray, b: np.ndarray, owner: str, wide: float) -> None:
    """A barrel at the first end, and a piston's rod at the second, that slides in it."""
    length = np.linalg.norm(b - a, axis=1)
    first, second = scene.frame(between(a, b)), scene.frame(between(b, a))
    barrel = 0.62 * float(length.min())
    rod = max(float(length.max()) - 0.85 * barrel, 0.0)
    scene.rod(first, np.zeros(3), np.array([0.0, 0.0, barrel]), wide * scene.thick, RUBBER, f"{owner} barrel", "sign")
    scene.rod(second, np.zeros(3), np.array([0.0, 0.0, rod]), 0.5 * wide * scene.thick, DARK, f"{owner} rod", "sign")


@sign.register
def _bushing(element: SpatialBushing, maker: Maker) -> None:
    """A ball of rubber about a pin."""
    i, j = markers_of(element)[:2]
    frame, place, thick = maker.stage.frame(i.carrier), maker.stage.place(i)[:, 3], maker.scene.thick
    rubber = np.column_stack([2.8 * thick * np.eye(3), place])
    maker.scene.add("ball", frame, rubber, RUBBER, element.name, 0.6, "joint")
    maker.scene.globe(
        maker.stage.frame(j.carrier), maker.stage.place(j)[:, 3], 1.2 * thick, DARK, f"{element.name} pin", "joint"
    )
    for marker in (i, j):
        if isinstance(marker.carrier, Ground):
            maker.stand(0, maker.stage.place(marker)[:, 3], element.name)


@sign.register
def _torsion_spring(element: TorsionSpring, maker: Maker) -> None:
    """A short coil about the axis."""
    i = markers_of(element)[0]
    u, v, w, at = maker.stage.place(i).T
    wide, long = 3.0 * maker.scene.thick, 2.4 * maker.scene.thick
    maker.scene.meshes["wound"] = helix(3, 0.16, 0.8)
    place = np.stack([wide * u, wide * v, long * w, at - 0.5 * long * w], axis=1)
    maker.scene.add("wound", maker.stage.frame(i.carrier), place, DARK, element.name, layer="sign")


@sign.register
def _driver(element: Driver, maker: Maker) -> None:
    """A cylinder for a distance, an arrow about the axis for an angle."""
    quantity = element.fields["quantity"]
    markers = markers_of(element)
    if len(markers) < 2:
        return
    if isinstance(quantity, Distance):
        cylinder(maker.scene, *_ends(element, maker), element.name, 1.5)
        _name_between(element, maker)
    elif isinstance(quantity, Angle):
        place = maker.stage.place(markers[0])
        turning(maker, maker.stage.frame(markers[0].carrier), place[:, 3], place[:, 2], element.name, INK)


def turning(
    maker: Maker, frame: int, at: np.ndarray, w: np.ndarray, owner: str, colour: str, layer: str = "sign"
) -> None:
    """An arrow about an axis through a place of a frame."""
    u, v = across(w)
    size = 5.2 * maker.scene.thick
    maker.scene.meshes["bow"] = bow()
    maker.scene.add("bow", frame, np.stack([size * u, size * v, size * w, at], axis=1), colour, owner, layer=layer)


@sign.register
def _force(element: Force, maker: Maker) -> None:
    """An arrow from the point in the direction in which the force acts first; all such arrows are equally long."""
    components, frame = element.fields["components"], element.fields["frame"]
    assert isinstance(components, Group) and isinstance(frame, Static)
    push = first_value(maker.stage, components.fields)
    if not np.any(push):
        return
    marker = element.marker
    foot, way = maker.stage.where(marker), np.tile(push / np.linalg.norm(push), (maker.scene.times, 1))
    if frame.value == "body":
        way = np.einsum("tij,j->ti", maker.stage.world(marker)[:, :, :3], way[0])
    arrow(maker.scene, foot, 0.16 * maker.scene.size * way, element.name, FORCE, "load")
    tip = maker.scene.frames.shape[1] - 1
    maker.scene.labels.append(Label(element.name, [maker.scene.point(tip, np.zeros(3))], FORCE, "joint"))


@sign.register
def _torque(element: SpatialTorque, maker: Maker) -> None:
    """An arrow about the axis of the torque, in the sense in which it acts first."""
    components, frame = element.fields["components"], element.fields["frame"]
    assert isinstance(components, Group) and isinstance(frame, Static)
    twist = first_value(maker.stage, components.fields)
    if not np.any(twist):
        return
    marker, axis = element.markers[1], twist / np.linalg.norm(twist)
    if frame.value == "body":
        place = maker.stage.place(marker)
        turning(maker, maker.stage.frame(marker.carrier), place[:, 3], place[:, :3] @ axis, element.name, FORCE, "load")
    else:
        turning(maker, maker.beside(marker), np.zeros(3), axis, element.name, FORCE, "load")


# --- vectors to scale -------------------------------------------------------------------------------------------------


def arrow(
    scene: Scene, foot: np.ndarray, vector: np.ndarray, owner: str, colour: str, layer: str, heads: int = 1
) -> None:
    """An arrow over time, as long as a vector (times, 3) is; one for a moment has two heads."""
    length = np.linalg.norm(vector, axis=1)
    wide = 0.55 * scene.thick
    head = np.fmin(6.0 * wide, 0.6 * length)
    way = between(foot, foot + vector)
    shaft = way.copy()
    shaft[:, :, 2] *= (length - head)[:, None]
    shaft[:, :, :2] *= (length > 0)[:, None, None]
    frame = scene.frame(shaft)
    scene.add("cylinder", frame, np.column_stack([np.diag([wide, wide, 1.0]), np.zeros(3)]), colour, owner, layer=layer)
    tip = way.copy()
    tip[:, :, :3] *= head[:, None, None]
    tip[:, :, 3] += way[:, :, 2] * length[:, None]
    frame = scene.frame(tip)
    for k in range(heads):
        place = np.column_stack([np.diag([0.42, 0.42, 1.0]), [0.0, 0.0, -1.0 - 0.8 * k]])
        scene.add("cone", frame, place, colour, owner, layer=layer)


def add_space_vectors(scene: Scene, vectors: Sequence[Vector], scale: Mapping[str, float] | None = None) -> None:
    """Put arrows into a scene; they stand in for the signs of the same loads."""
    scene.scales = {
        kind: scale_of(LONGEST * scene.size, kind, vectors, scale or {}) for kind in {v.kind: 0 for v in vectors}
    }
    shown = {vector.owner for vector in vectors if vector.kind in ("force", "moment")}
    scene.pieces = [piece for piece in scene.pieces if not (piece.layer == "load" and piece.owner in shown)]
    scene.labels = [label for label in scene.labels if not (label.text in shown and label.colour == FORCE)]
    for vector in vectors:
        along_it = vector.value * scene.scales[vector.kind]
        heads = 2 if vector.kind == "moment" else 1
        arrow(scene, vector.foot, along_it, vector.name, HUES[vector.kind], "vector", heads)
        tip = scene.point(scene.frames.shape[1] - 1, np.zeros(3))
        scene.labels.append(Label(vector.name, [tip], HUES[vector.kind], "vector"))
