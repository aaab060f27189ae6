"""Parts in space as solids: a body by its joints, or by its inertia where these do not show it; bars and points."""

from __future__ import annotations

from itertools import combinations
from zlib import crc32

import numpy as np
from matplotlib.colors import to_hex
from scipy.spatial import ConvexHull

from kempe.elements import Look
from kempe.view.meshes import coarser, creased, prism
from kempe.view.scene import Scene, across
from kempe.view.style import INK

#: How opaque a solid is that stands for a body's inertia.
CLEAR = 0.45
#: An imported surface is shown with so many triangles at most.
FACETS = 20_000


def star(scene: Scene, frame: int, places: np.ndarray, colour: str, owner: str) -> list[int]:
    """A body through the places (n, 3) of its joints and its centre of mass, the origin; the points it goes through.

    Places in one plane make a plate, others rods from the centre of mass, or from their own middle where that is far.
    """
    thick = scene.thick
    if len(places) >= 3 and (flat := plane_of(places)) is not None:
        outline = _plate(scene, frame, places, flat, colour, owner)
        return [scene.point(frame, corner) for corner in outline]
    centre = np.zeros(3)
    spread = max((float(np.linalg.norm(a - b)) for a, b in combinations(places, 2)), default=0.0)
    if len(places) > 1 and np.linalg.norm(places, axis=1).min() > spread:
        centre = places.mean(axis=0)
    for place in places:
        scene.rod(frame, centre, place, thick, colour, owner)
        scene.globe(frame, place, thick, colour, owner)
    scene.globe(frame, centre, 1.25 * thick, colour, owner)
    through = [centre, *places] if len(places) == 1 else [*places[:1], centre, *places[1:]]
    apart = [place for k, place in enumerate(through) if not k or np.linalg.norm(place - through[k - 1]) > 0.1 * thick]
    return [scene.point(frame, place) for place in apart]


def plane_of(places: np.ndarray) -> np.ndarray | None:
    """Axes (rows; the last is the normal) of the plane in which at least three places lie; None where there is none."""
    off = places - places.mean(axis=0)
    _, sizes, axes = np.linalg.svd(off)
    if len(sizes) < 2 or sizes[1] < 0.05 * sizes[0] or (len(sizes) > 2 and sizes[2] > 1e-3 * sizes[0]):
        return None
    axes[2] = np.cross(axes[0], axes[1])
    return axes


def _plate(scene: Scene, frame: int, places: np.ndarray, axes: np.ndarray, colour: str, owner: str) -> np.ndarray:
    """A plate of the thickness of a rod over places in a plane; its corners."""
    middle = places.mean(axis=0)
    seen = (places - middle) @ axes[:2].T
    hull = ConvexHull(seen).vertices
    made = prism(seen[hull], 1.6 * scene.thick)
    name = f"plate {owner} {crc32(made.vertices.round(9).tobytes()):x}"  # another design has another plate
    scene.meshes[name] = made
    scene.add(name, frame, np.column_stack([axes.T, middle]), colour, owner)
    for place in places:
        scene.globe(frame, place, scene.thick, colour, owner)
    return places[hull]


def inertia_solid(scene: Scene, frame: int, mass: float, inertia: np.ndarray, colour: str, owner: str) -> None:
    """A solid of even density with a body's mass and inertia: a ball, a cylinder, or a box."""
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes = -axes
    alike = 1e-3 * moments[2]
    least = (0.6 * scene.thick) ** 2
    if moments[2] - moments[0] < alike:
        place = np.sqrt(2.5 * moments[0] / mass) * np.eye(3)
        scene.add("ball", frame, np.column_stack([place, np.zeros(3)]), colour, owner, CLEAR)
        return
    twin = next((k for k, (i, j) in enumerate(((1, 2), (0, 2), (0, 1))) if abs(moments[i] - moments[j]) < alike), None)
    if twin is None:
        squares = np.fmax(6.0 * (moments.sum() - 2.0 * moments) / mass, 4.0 * least)
        scene.add("box", frame, np.column_stack([axes * np.sqrt(squares), np.zeros(3)]), colour, owner, CLEAR)
        return
    w = axes[:, twin]
    u, v = across(w)
    square = 2.0 * moments[twin] / mass
    radius = np.sqrt(max(square, least))
    height = np.sqrt(max(12.0 * (moments[(twin + 1) % 3] / mass - square / 4.0), 4.0 * least))
    place = np.column_stack([radius * u, radius * v, height * w, -0.5 * height * w])
    scene.add("cylinder", frame, place, colour, owner, CLEAR)
    # a stripe along one side shows how it turns
    scene.rod(frame, -0.52 * height * w + radius * u, 0.52 * height * w + radius * u, 0.25 * scene.thick, INK, owner)


def look(scene: Scene, frame: int, number: int, shown: Look, colour: str, owner: str) -> None:
    """A surface that came with an imported body, in its own colour if it has one."""
    name = f"look {number} of {owner}"
    vertices, triangles = coarser(np.asarray(shown.vertices, float), np.asarray(shown.triangles, int), FACETS)
    scene.meshes[name] = creased(vertices, triangles)
    *own, alpha = shown.colour
    hue = colour if shown.colour == Look.colour else to_hex(tuple(float(np.clip(c, 0.0, 1.0)) for c in own))  # type: ignore[arg-type]
    place = np.column_stack([shown.rotation, shown.position])
    scene.add(name, frame, place, hue, owner, float(np.clip(alpha, 0.1, 1.0)))
