"""Signs of joints in space: hinges, balls, sleeves on rails, crosses, plates."""

from __future__ import annotations

import numpy as np

from kempe.elements import (
    Cylindrical,
    CylindricalClearance,
    Element,
    Ground,
    Marker,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Screw,
    SpatialGear,
    SpatialRevolute,
    SpatialWeld,
    Spherical,
    SphericalClearance,
    Universal,
)
from kempe.elements.base import Scalar
from kempe.view.making import STONE, Maker, sign
from kempe.view.meshes import helix
from kempe.view.scene import Scene, along
from kempe.view.stage import markers_of
from kempe.view.style import DARK

#: How opaque a plane is on which something slides.
PANE = 0.3


class _Side:
    """A marker of a joint in its part's frame: its point, its axes, and the part's colour."""

    def __init__(self, marker: Marker, maker: Maker) -> None:
        self.marker, self.frame = marker, maker.stage.frame(marker.carrier)
        place = maker.stage.place(marker)
        self.u, self.v, self.w, self.at = place.T
        self.colour = maker.colour(marker.carrier)
        self.grounded = isinstance(marker.carrier, Ground)
        self.world = maker.stage.world(marker)

    def along(self, far: float) -> np.ndarray:
        """A place on the axis."""
        return self.at + far * self.w

    def seen(self, other: _Side) -> np.ndarray:
        """Where the other marker is in the axes of this one, over time (times, 3)."""
        return np.einsum("tij,ti->tj", self.world[:, :, :3], other.world[:, :, 3] - self.world[:, :, 3])


def _sides(element: Element, maker: Maker) -> tuple[_Side, _Side]:
    """The side that holds and the side that moves: the ground holds."""
    first, second = (_Side(marker, maker) for marker in markers_of(element)[:2])
    held, moving = (second, first) if second.grounded else (first, second)
    return held, moving


def _stand(side: _Side, maker: Maker, owner: str, far: float = 0.0) -> None:
    if side.grounded:
        maker.stand(side.frame, side.along(far), owner)


def _barrel(scene: Scene, side: _Side, long: float, wide: float, colour: str, owner: str) -> None:
    """A cylinder about a marker along its axis."""
    scene.rod(side.frame, side.along(-0.5 * long), side.along(0.5 * long), wide, colour, owner, layer="joint")


@sign.register
def _hinge(element: SpatialRevolute, maker: Maker) -> None:
    """A bush on the part that holds, and a longer pin in it on the other."""
    held, moving = _sides(element, maker)
    thick, scene = maker.scene.thick, maker.scene
    _barrel(scene, held, 4.6 * thick, 2.0 * thick, held.colour, f"{element.name} bush")
    _barrel(scene, moving, 6.2 * thick, 1.0 * thick, DARK, f"{element.name} pin")
    _stand(held, maker, element.name)


@sign.register
def _socket(element: Spherical, maker: Maker) -> None:
    """A ball."""
    held, moving = _sides(element, maker)
    maker.scene.globe(moving.frame, moving.at, 1.9 * maker.scene.thick, DARK, element.name, layer="joint")
    _stand(held, maker, element.name)


@sign.register
def _block(element: SpatialWeld, maker: Maker) -> None:
    """Two parts that are one: a cube."""
    held, moving = _sides(element, maker)
    place = np.column_stack([3.0 * maker.scene.thick * np.stack([moving.u, moving.v, moving.w], axis=1), moving.at])
    maker.scene.add("box", moving.frame, place, DARK, element.name, layer="joint")
    _stand(held, maker, element.name)


def _rail(element: Element, held: _Side, moving: _Side, maker: Maker, wide: float, spare: float) -> tuple[float, float]:
    """A rod on the part that holds, as long as the motion needs; where it begins and ends on the axis."""
    far = held.seen(moving)[:, 2]
    low, high = float(far.min()) - spare, float(far.max()) + spare
    maker.scene.rod(
        held.frame, held.along(low), held.along(high), wide, held.colour, f"{element.name} rail", layer="joint"
    )
    for end in (low, high):
        _stand(held, maker, element.name, end)
    return low, high


@sign.register
def _slide(element: Prismatic, maker: Maker) -> None:
    """A square sleeve on a rail."""
    held, moving = _sides(element, maker)
    thick = maker.scene.thick
    _rail(element, held, moving, maker, 0.8 * thick, 7.0 * thick)
    axes = np.stack([3.4 * thick * moving.u, 3.4 * thick * moving.v, 6.5 * thick * moving.w, moving.at], axis=1)
    maker.scene.add("box", moving.frame, axes, moving.colour, f"{element.name} sleeve", layer="joint")


@sign.register
def _sleeve(element: Cylindrical, maker: Maker) -> None:
    """A round sleeve on a rail."""
    held, moving = _sides(element, maker)
    thick = maker.scene.thick
    _rail(element, held, moving, maker, 0.8 * thick, 7.0 * thick)
    _barrel(maker.scene, moving, 6.5 * thick, 1.9 * thick, moving.colour, f"{element.name} sleeve")


@sign.register
def _spindle(element: Screw, maker: Maker) -> None:
    """A nut on a threaded rail."""
    held, moving = _sides(element, maker)
    thick, scene = maker.scene.thick, maker.scene
    low, high = _rail(element, held, moving, maker, 0.8 * thick, 7.0 * thick)
    turns = int(np.clip(round((high - low) / (1.6 * thick)), 4, 60))
    slender = round((high - low) / thick)
    name = f"thread {turns} {slender}"
    scene.meshes[name] = helix(turns, 0.3, slender)
    scene.add(
        name, held.frame, along(held.along(low), held.along(high), thick), held.colour,
        f"{element.name} rail", layer="joint",
    )  # fmt: skip
    _barrel(scene, moving, 4.5 * thick, 2.3 * thick, moving.colour, f"{element.name} nut")


@sign.register
def _cross(element: Universal, maker: Maker) -> None:
    """The two pins of a universal joint, each on its part."""
    held, moving = _sides(element, maker)
    thick, scene = maker.scene.thick, maker.scene
    for side, name in ((held, "first"), (moving, "second")):
        _barrel(scene, side, 5.6 * thick, 0.9 * thick, DARK, f"{element.name} {name} pin")
        for end in (-2.4, 2.4):
            scene.globe(
                side.frame, side.along(end * thick), 1.35 * thick, side.colour, f"{element.name} {name} {end}", "joint"
            )
    _stand(held, maker, element.name)


@sign.register
def _pane(element: Planar, maker: Maker) -> None:
    """A disc that slides on a plane."""
    moving = _plane(element, maker)
    _barrel(
        maker.scene, moving, 0.8 * maker.scene.thick, 3.0 * maker.scene.thick, moving.colour, f"{element.name} foot"
    )


def _plane(element: Element, maker: Maker) -> _Side:
    """A plane as large as the motion on it needs; the side that moves."""
    held, moving = _sides(element, maker)
    thick, scene = maker.scene.thick, maker.scene
    seen = held.seen(moving)[:, :2]
    low, high = seen.min(axis=0) - 6.0 * thick, seen.max(axis=0) + 6.0 * thick
    middle, wide = (low + high) / 2.0, high - low
    below = held.at + middle[0] * held.u + middle[1] * held.v - 0.55 * thick * held.w
    axes = np.stack([wide[0] * held.u, wide[1] * held.v, 0.3 * thick * held.w, below], axis=1)
    scene.add("box", held.frame, axes, STONE if held.grounded else held.colour, f"{element.name} plane", PANE, "joint")
    return moving


@sign.register
def _touch(element: PointOnPlane, maker: Maker) -> None:
    """A ball that touches a plane."""
    moving = _plane(element, maker)
    maker.scene.globe(moving.frame, moving.at, 1.5 * maker.scene.thick, DARK, f"{element.name} ball", "joint")


@sign.register
def _bead(element: PointOnLine, maker: Maker) -> None:
    """A ball on a rail."""
    held, moving = _sides(element, maker)
    thick = maker.scene.thick
    _rail(element, held, moving, maker, 0.6 * thick, 5.0 * thick)
    maker.scene.globe(moving.frame, moving.at, 1.7 * thick, DARK, element.name, layer="joint")


# --- clearance --------------------------------------------------------------------------------------------------------


def _radii(element: Element, maker: Maker) -> tuple[float, float]:
    """The radii of what surrounds and of what is inside; as large as other joints where they are not given."""
    inner, play = (element.fields[key] for key in ("inner", "clearance"))
    assert isinstance(play, Scalar)
    gap = float(maker.stage.values(play.value)[0])
    radius = float(maker.stage.values(inner.value)[0]) if isinstance(inner, Scalar) else 0.0
    return max(radius, 1.9 * maker.scene.thick) + gap, max(radius, 1.9 * maker.scene.thick)


@sign.register
def _loose_ball(element: SphericalClearance, maker: Maker) -> None:
    """A ball in a clear socket, with the play it has."""
    held, moving = (_Side(marker, maker) for marker in element.markers)
    outer, inner = _radii(element, maker)
    maker.scene.globe(moving.frame, moving.at, inner, DARK, element.name, "joint")
    socket = np.column_stack([outer * np.eye(3), held.at])
    maker.scene.add("ball", held.frame, socket, held.colour, f"{element.name} socket", PANE, "joint")
    _stand(held, maker, element.name)


@sign.register
def _loose_journal(element: CylindricalClearance, maker: Maker) -> None:
    """A journal in a clear bearing, with the play it has."""
    held, moving = (_Side(marker, maker) for marker in element.markers)
    first, second = (_Side(rim.markers[1], maker) for rim in element.rims)
    outer, inner = _radii(element.rims[0], maker)
    half = float(np.linalg.norm(second.at - first.at)) / 2.0
    maker.scene.rod(moving.frame, first.at, second.at, inner, moving.colour, element.name, layer="joint")
    bearing = along(held.along(-half), held.along(half), outer)
    maker.scene.add("cylinder", held.frame, bearing, held.colour, f"{element.name} bearing", PANE, "joint")
    _stand(held, maker, element.name)


# --- gears ------------------------------------------------------------------------------------------------------------


@sign.register
def _gear(element: SpatialGear, maker: Maker) -> None:
    """The two pitch circles of wheels with parallel axes, each a pane with a spoke that turns with its wheel."""
    wheels = [_Side(marker, maker) for marker in markers_of(element)[1::2]]
    axis = wheels[0].world[0, :, 2]
    apart = (wheels[1].world - wheels[0].world)[0, :, 3]
    apart = apart - (apart @ axis) * axis
    ratio = float(maker.stage.values(element.fields["ratio"].value)[0])  # type: ignore[attr-defined]
    way = ratio * float(np.sign(axis @ wheels[1].world[0, :, 2]))  # below zero: they roll on each other outside
    parallel = abs(axis @ wheels[1].world[0, :, 2]) > 0.999
    if not parallel or np.linalg.norm(apart) < 1e-6 * maker.scene.size or way == 1.0:
        return
    second = float(np.linalg.norm(apart)) / abs(1.0 - way)
    for wheel, radius in zip(wheels, (abs(way) * second, second), strict=True):
        owner, thick = f"{element.name} {wheel.marker.name}", 1.2 * maker.scene.thick
        rim = along(wheel.along(-0.5 * thick), wheel.along(0.5 * thick), radius)
        maker.scene.add("cylinder", wheel.frame, rim, wheel.colour, owner, 0.5, "joint")
        spoke = wheel.at + radius * wheel.u
        maker.scene.rod(wheel.frame, wheel.at, spoke, 0.4 * maker.scene.thick, wheel.colour, owner, layer="joint")
