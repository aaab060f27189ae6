"""Mass, centre and inertia of rigid bodies: of simple solids, of what triangles enclose, and of several together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from kempe.importing.placing import Placement


@dataclass(frozen=True)
class Inertial:
    """A mass, where its centre is, and its inertia about the centre, in one frame's axes."""

    mass: float
    centre: np.ndarray
    inertia: np.ndarray

    def seen_from(self, frame: Placement) -> Inertial:
        """The same body as the frame's surroundings see it."""
        turned = frame.rotation @ self.inertia @ frame.rotation.T
        return Inertial(self.mass, frame.point(self.centre), (turned + turned.T) / 2)

    def scaled(self, factor: float) -> Inertial:
        """The same body of another density."""
        return Inertial(factor * self.mass, self.centre, factor * self.inertia)


def together(parts: Iterable[Inertial]) -> Inertial | None:
    """Several bodies as one; None where they have no mass."""
    found = list(parts)
    mass = sum(part.mass for part in found)
    if not mass > 0:
        return None
    if len(found) == 1:
        return found[0]
    centre = sum((part.mass * part.centre for part in found), np.zeros(3)) / mass
    inertia = sum((part.inertia + part.mass * _about(part.centre - centre) for part in found), np.zeros((3, 3)))
    return Inertial(mass, centre, inertia)


def _about(arm: np.ndarray) -> np.ndarray:
    """The inertia of a unit mass at the end of an arm."""
    return arm @ arm * np.eye(3) - np.outer(arm, arm)


# --- simple solids of density one, at their own centres; of a shell, the mass is the surface --------------------------


def box(half: np.ndarray) -> Inertial:
    """A box by its half lengths."""
    mass = 8.0 * float(np.prod(half))
    return _diagonal(mass, [mass / 3.0 * (half @ half - h * h) for h in half])


def ellipsoid(half: np.ndarray) -> Inertial:
    """An ellipsoid by its half axes; a sphere has three equal ones."""
    mass = 4.0 / 3.0 * np.pi * float(np.prod(half))
    return _diagonal(mass, [mass / 5.0 * (half @ half - h * h) for h in half])


def cylinder(radius: float, half: float) -> Inertial:
    """A cylinder along the third axis by its radius and half length."""
    mass = 2.0 * half * np.pi * radius**2
    across = mass * (3.0 * radius**2 + 4.0 * half**2) / 12.0
    return _diagonal(mass, [across, across, mass * radius**2 / 2.0])


def capsule(radius: float, half: float) -> Inertial:
    """A cylinder along the third axis with half balls at its ends."""
    middle, ball = cylinder(radius, half), 4.0 / 3.0 * np.pi * radius**3
    # A half ball's centre is 3/8 of the radius from its flat side.
    across = ball * (2.0 / 5.0 * radius**2 + half**2 + 3.0 / 4.0 * half * radius)
    ends = np.diag([across, across, 2.0 / 5.0 * ball * radius**2])
    return Inertial(middle.mass + ball, np.zeros(3), middle.inertia + ends)


def _diagonal(mass: float, moments: list[float]) -> Inertial:
    return Inertial(float(mass), np.zeros(3), np.diag(moments))


# --- what triangles enclose -------------------------------------------------------------------------------------------


def enclosed(vertices: np.ndarray, triangles: np.ndarray, way: str = "exact") -> Inertial | None:
    """A body of density one inside of a surface; None where it encloses nothing.

    ``way`` is "exact", "convex" (of the hull), "shell" (the surface itself), or "legacy": every tetrahedron between a
    triangle and the middle of the surface counts as full, whichever way the triangle looks.
    """
    corners = vertices[hull(vertices) if way == "convex" else triangles]
    areas = np.linalg.norm(_normals(corners), axis=1) / 2.0
    if not areas.sum() > 0:
        return None
    middle = (areas[:, None] * corners.mean(axis=1)).sum(axis=0) / areas.sum()
    if way == "shell":
        return _of_pieces(corners - middle, areas, middle)
    pieces, weights = _tetrahedra(corners - middle, way)
    if not weights.sum() > 0:
        return None
    centre = middle + np.einsum("k,kai->i", weights, pieces) / (4.0 * weights.sum())
    return _of_pieces(*_tetrahedra(corners - centre, way), centre)


def _normals(corners: np.ndarray) -> np.ndarray:
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _tetrahedra(corners: np.ndarray, way: str) -> tuple[np.ndarray, np.ndarray]:
    """The tetrahedra between triangles and the origin, and their volumes."""
    volumes = np.einsum("ki,ki->k", corners[:, 0], _normals(corners)) / 6.0
    pieces = np.concatenate([corners, np.zeros((len(corners), 1, 3))], axis=1)
    return pieces, np.abs(volumes) if way == "legacy" else volumes


def _of_pieces(pieces: np.ndarray, weights: np.ndarray, centre: np.ndarray) -> Inertial:
    """Triangles or tetrahedra about their common centre, as one body of which they are parts by their weights."""
    count = pieces.shape[1]  # the mean of x x^T is that over all pairs of corners
    sums = pieces.sum(axis=1)
    pairs = np.einsum("k,kai,kaj->ij", weights, pieces, pieces) + np.einsum("k,ki,kj->ij", weights, sums, sums)
    second = pairs / (count * (count + 1))
    return Inertial(float(weights.sum()), centre, np.trace(second) * np.eye(3) - second)


def hull(vertices: np.ndarray) -> np.ndarray:
    """The triangles of the convex hull of points, which look outwards; none where it is flat."""
    try:
        found = ConvexHull(vertices)
    except (QhullError, ValueError):
        return np.zeros((0, 3), dtype=int)
    triangles = found.simplices.copy()
    inward = np.einsum("ki,ki->k", _normals(vertices[triangles]), found.equations[:, :3]) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return triangles
