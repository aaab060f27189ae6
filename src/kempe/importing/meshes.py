"""Surfaces of triangles: STL and OBJ files read, and simple solids made, each as vertices and triangles."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from kempe.disk import read_whole
from kempe.errors import FileError, ModelError

#: The largest mesh that is read, in bytes.
LARGEST = 500_000_000
#: Into how many straight pieces a circle is cut.
SIDES = 24


class Mesh(NamedTuple):
    """Vertices (n, 3) and the numbers of those that make triangles (m, 3), which look outwards."""

    vertices: np.ndarray
    triangles: np.ndarray

    def scaled(self, scale: np.ndarray) -> Mesh:
        """The mesh stretched along its axes; where that mirrors it, its triangles still look outwards."""
        mirrored = float(np.prod(scale)) < 0
        return Mesh(self.vertices * scale, self.triangles[:, ::-1] if mirrored else self.triangles)


def read_mesh(path: Path) -> Mesh:
    """A mesh from a file; raises ModelError where it cannot be read."""
    readers = {".stl": _stl, ".obj": _obj}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise ModelError(f"{path}: meshes are read from {' and '.join(readers)} files")
    try:
        mesh = reader(read_whole(path, LARGEST))
    except FileError as error:
        raise ModelError(str(error)) from None
    except (ValueError, IndexError) as error:
        raise ModelError(f"{path}: this mesh is damaged: {error}") from None
    if not len(mesh.triangles):
        raise ModelError(f"{path}: there are no triangles in this mesh")
    if not np.isfinite(mesh.vertices).all():
        raise ModelError(f"{path}: a vertex of this mesh is not finite")
    return mesh


def _stl(content: bytes) -> Mesh:
    """Binary STL has 80 bytes, a count and 50 bytes a triangle; anything else is the text format."""
    count = int.from_bytes(content[80:84], "little")
    if len(content) >= 84 and len(content) >= 84 + 50 * count and not _is_text(content, count):
        rows = np.frombuffer(content, np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]), count, 84)
        return _merged(rows["v"].astype(float).reshape(-1, 3))
    words = content.decode("ascii", errors="replace").split()
    places = [k for k, word in enumerate(words) if word.lower() == "vertex"]
    found = np.array([[float(word) for word in words[k + 1 : k + 4]] for k in places]).reshape(-1, 3)
    if not len(found):
        raise ValueError("it is neither binary nor text STL")
    return _merged(found)


def _is_text(content: bytes, count: int) -> bool:
    """A text file may be long enough for what stands at the place of the count; a binary one may begin with "solid"."""
    return content[:5].lower() == b"solid" and len(content) != 84 + 50 * count


def _merged(corners: np.ndarray) -> Mesh:
    """Triangles that have their corners each for itself, with equal ones made one."""
    if len(corners) % 3:
        raise ValueError("its last triangle is not complete")
    vertices, numbers = np.unique(corners, axis=0, return_inverse=True)
    return Mesh(vertices, numbers.reshape(-1, 3))


def _obj(content: bytes) -> Mesh:
    """Vertices and faces of an OBJ file; a face with many corners becomes a fan of triangles."""
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in content.decode("utf-8", errors="replace").splitlines():
        words = line.split()
        if not words:
            continue
        if words[0] == "v":
            vertices.append([float(word) for word in words[1:4]])
        elif words[0] == "f":
            numbers = [int(word.partition("/")[0]) for word in words[1:]]
            corners = [n - 1 if n > 0 else len(vertices) + n for n in numbers]
            triangles += [(corners[0], corners[k], corners[k + 1]) for k in range(1, len(corners) - 1)]
    found = np.array(triangles, dtype=int).reshape(-1, 3)
    if len(found) and not 0 <= found.min() <= found.max() < len(vertices):
        raise ValueError("a face names a vertex that is not there")
    return Mesh(np.array(vertices, dtype=float).reshape(-1, 3), found)


# --- simple solids ----------------------------------------------------------------------------------------------------


def box(half: np.ndarray) -> Mesh:
    """A box by its half lengths."""
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return Mesh(signs * half, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]))


def ellipsoid(half: np.ndarray) -> Mesh:
    """An ellipsoid by its half axes."""
    height = np.linspace(-np.pi / 2, np.pi / 2, SIDES // 2 + 1)
    mesh = _turned(np.cos(height), np.sin(height))
    return Mesh(mesh.vertices * half, mesh.triangles)


def cylinder(radius: float, half: float) -> Mesh:
    """A cylinder along the third axis; its flat ends have edges of their own."""
    return _turned(np.array([0.0, radius, radius, 0.0]), np.array([-half, -half, half, half]))


def capsule(radius: float, half: float) -> Mesh:
    """A cylinder along the third axis with half balls at its ends."""
    height = np.linspace(-np.pi / 2, 0.0, SIDES // 4 + 1)
    r, z = radius * np.cos(height), radius * np.sin(height)
    return _turned(np.concatenate([r, r[::-1]]), np.concatenate([z - half, half - z[::-1]]))


def _turned(radii: np.ndarray, heights: np.ndarray) -> Mesh:
    """The surface that a line makes when it is turned about the third axis, from below to above."""
    angles = np.arange(SIDES) * 2 * np.pi / SIDES
    circle = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(SIDES)])
    rings = [r * circle + [0.0, 0.0, z] for r, z in zip(radii, heights, strict=True)]
    around = np.arange(SIDES)
    beside = (around + 1) % SIDES
    triangles = []
    for k in range(len(rings) - 1):
        low, high = k * SIDES, (k + 1) * SIDES
        triangles += [np.column_stack([low + around, low + beside, high + beside])]
        triangles += [np.column_stack([low + around, high + beside, high + around])]
    return _without_slivers(Mesh(np.concatenate(rings), np.concatenate(triangles)))


def _without_slivers(mesh: Mesh) -> Mesh:
    """The mesh without triangles that have no area, as there are at poles."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return Mesh(mesh.vertices, mesh.triangles[areas > 1e-9 * areas.max()])
