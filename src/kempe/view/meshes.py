"""Surfaces of triangles from which solids in space are put together, each of unit size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Mesh:
    """Vertices (n, 3) with their normals (n, 3), and triangles (m, 3) whose corners go round as seen from outside."""

    vertices: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray

    def __post_init__(self) -> None:
        for values in (self.vertices, self.normals, self.triangles):
            values.flags.writeable = False


def joined(*meshes: Mesh) -> Mesh:
    """Several surfaces as one."""
    firsts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    return Mesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.normals for mesh in meshes]),
        np.concatenate([mesh.triangles + first for mesh, first in zip(meshes, firsts, strict=False)]),
    )


def faceted(vertices: np.ndarray, triangles: np.ndarray) -> Mesh:
    """A surface of flat facets: every triangle has its own corners, with the normal of its plane."""
    corners = np.asarray(vertices, dtype=float)[np.asarray(triangles, dtype=int)]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.linalg.norm(normal, axis=1)
    kept = size > 0  # a triangle without area shows nothing
    normals = np.repeat(normal[kept] / size[kept, None], 3, axis=0)
    return Mesh(corners[kept].reshape(-1, 3), normals, np.arange(3 * int(kept.sum())).reshape(-1, 3))


def creased(vertices: np.ndarray, triangles: np.ndarray, sharp: float = 40.0) -> Mesh:
    """A surface that is smooth but for edges at which its triangles meet at more than some degrees."""
    size = max(float(np.ptp(vertices, axis=0).max(initial=0.0)), 1e-300)
    _, first, same = np.unique(np.round(vertices / size * 1e6), axis=0, return_index=True, return_inverse=True)
    places, corners = vertices[first], same.ravel()[triangles]
    normal = np.cross(places[corners[:, 1]] - places[corners[:, 0]], places[corners[:, 2]] - places[corners[:, 0]])
    area = np.linalg.norm(normal, axis=1)
    corners, normal, area = corners[area > 0], normal[area > 0], area[area > 0]
    count = 3 * len(corners)
    # corners that share a place: a sparse matrix of corners by corners
    at = sparse.csr_matrix((np.ones(count), (np.arange(count), corners.ravel())), shape=(count, len(places)))
    pairs = (at @ at.T).tocoo()
    mine, other = pairs.row // 3, pairs.col // 3
    smooth = np.einsum("ni,ni->n", normal[mine], normal[other]) > np.cos(np.radians(sharp)) * area[mine] * area[other]
    summed = np.zeros((count, 3))
    np.add.at(summed, pairs.row[smooth], normal[other[smooth]])
    summed /= np.fmax(np.linalg.norm(summed, axis=1, keepdims=True), 1e-300)
    keys = np.column_stack([corners.ravel(), np.round(1000.0 * summed)])
    _, first, shared = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return Mesh(places[corners.ravel()[first]], summed[first], shared.reshape(-1, 3))


def coarser(vertices: np.ndarray, triangles: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """A surface of at most so many triangles: vertices in one cell of a grid become one, ever larger cells."""
    low, size = vertices.min(axis=0), max(float(np.ptp(vertices, axis=0).max()), 1e-300)
    cells = 400.0
    while len(triangles) > most:
        cells *= 0.7
        _, first, cell = np.unique(
            np.floor((vertices - low) / size * cells), axis=0, return_index=True, return_inverse=True
        )
        triangles = cell.ravel()[triangles]
        triangles = triangles[(triangles != np.roll(triangles, 1, axis=1)).all(axis=1)]
        vertices = vertices[first]
    return vertices, triangles


def _grid(rows: int, columns: int) -> np.ndarray:
    """The triangles between points in rows and columns, numbered row by row."""
    first = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    lower = np.stack([first, first + 1, first + columns], axis=1)
    upper = np.stack([first + 1, first + columns + 1, first + columns], axis=1)
    return np.concatenate([lower, upper])


def _turned(profile: Sequence[tuple[float, float]], normal: Sequence[tuple[float, float]], sides: int) -> Mesh:
    """A profile of (radius, height) turned about the z axis, with the normals (outward, upward) of its points."""
    turn = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    c, s = np.cos(turn), np.sin(turn)

    def spun(pairs: Sequence[tuple[float, float]]) -> np.ndarray:
        return np.concatenate([np.stack([r * c, r * s, np.full_like(c, z)], axis=1) for r, z in pairs])

    return Mesh(spun(profile), spun(normal), _grid(len(profile), sides + 1))


@cache
def cylinder(sides: int = 24) -> Mesh:
    """Radius one, along z from 0 to 1, closed at both ends."""
    side = _turned([(1, 0), (1, 1)], [(1, 0), (1, 0)], sides)
    ends = [_turned([(0, 0), (1, 0)], [(0, -1), (0, -1)], sides), _turned([(1, 1), (0, 1)], [(0, 1), (0, 1)], sides)]
    return joined(side, *ends)


@cache
def cone(sides: int = 24) -> Mesh:
    """Radius one at z = 0, its tip at z = 1."""
    slope = (np.sqrt(0.5), np.sqrt(0.5))
    return joined(
        _turned([(1, 0), (0, 1)], [slope, slope], sides), _turned([(0, 0), (1, 0)], [(0, -1), (0, -1)], sides)
    )


@cache
def ball(sides: int = 32) -> Mesh:
    """Radius one about the origin."""
    up = np.linspace(-0.5 * np.pi, 0.5 * np.pi, sides // 2 + 1)
    rim = list(zip(np.cos(up), np.sin(up), strict=True))
    return _turned(rim, rim, sides)


@cache
def box() -> Mesh:
    """Sides of length one about the origin."""
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return faceted(corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]))


def prism(outline: np.ndarray, height: float) -> Mesh:
    """A plate: an outline without dents in the plane z = 0 (n, 2), counter-clockwise, from -height/2 to height/2."""
    n = len(outline)
    rims = [np.column_stack([outline, np.full(n, z)]) for z in (-0.5 * height, 0.5 * height)]
    fan = np.array([(0, k, k + 1) for k in range(1, n - 1)])
    sides = [t for k in range(n) for t in ((k, (k + 1) % n, n + k), ((k + 1) % n, n + (k + 1) % n, n + k))]
    return faceted(np.concatenate(rims), np.concatenate([fan[:, ::-1], fan + n, np.array(sides)]))


def tube(line: np.ndarray, radius: float | np.ndarray, sides: int = 8, height: float = 1.0) -> Mesh:
    """A round wire along a line that winds about the z axis; ``height`` is how much its section is squeezed along z."""
    out = np.column_stack([line[:, 0], line[:, 1], np.zeros(len(line))])
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    turn = np.linspace(0.0, 2.0 * np.pi, sides + 1)
    round_ = np.cos(turn)[None, :, None] * out[:, None] - np.sin(turn)[None, :, None] * np.array([0.0, 0.0, 1.0])
    where = line[:, None] + radius * round_ * np.array([1.0, 1.0, height])
    normals = round_ * np.array([1.0, 1.0, 1.0 / height])
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return Mesh(where.reshape(-1, 3), normals.reshape(-1, 3), _grid(len(line), sides + 1))


@cache
def helix(turns: int, wire: float, slender: float) -> Mesh:
    """A coil of radius one along z from 0 to 1; ``slender`` is its length by its radius, ``wire`` the wire's radius."""
    turn = np.linspace(0.0, 2.0 * np.pi * turns, 16 * turns + 1)
    line = np.column_stack([np.cos(turn), np.sin(turn), np.linspace(0.0, 1.0, len(turn))])
    return tube(line, wire, height=1.0 / slender)


@cache
def bow(sweep: float = 285.0, wire: float = 0.09) -> Mesh:
    """Part of a ring of radius one about z, through so many degrees, with an arrow's head at its end."""
    turn = np.radians(np.linspace(0.0, sweep, 49))
    ring = tube(np.column_stack([np.cos(turn), np.sin(turn), np.zeros(49)]), wire)
    end, head = turn[-1], cone(12)
    along, across = np.array([-np.sin(end), np.cos(end), 0.0]), np.array([np.cos(end), np.sin(end), 0.0])
    axes = np.column_stack([3.0 * wire * across, -3.0 * wire * np.array([0.0, 0.0, 1.0]), 6.0 * wire * along])
    return joined(ring, placed(head, np.column_stack([axes, across])))


def placed(mesh: Mesh, place: np.ndarray) -> Mesh:
    """A surface moved, turned and stretched by a place (3, 4): axes and, in the last column, origin."""
    vertices, normals = moved(mesh, place[None])
    return Mesh(vertices[0], normals[0], mesh.triangles)


def moved(mesh: Mesh, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and normals (k, n, 3) of a surface at many places (k, 3, 4)."""
    axes = places[:, :, :3]
    vertices = np.einsum("kij,nj->kni", axes, mesh.vertices) + places[:, None, :, 3]
    # normals go with the cofactors, which are the inverse transposed but for a factor, and exist for flat things too
    cofactors = np.stack([np.cross(axes[:, :, (k + 1) % 3], axes[:, :, (k + 2) % 3]) for k in range(3)], axis=2)
    normals = np.einsum("kij,nj->kni", cofactors, mesh.normals)
    return vertices, normals / np.fmax(np.linalg.norm(normals, axis=2, keepdims=True), 1e-300)
