"""Pictures of a scene in space: its solids, their shadows on a floor with a grid, and the paths of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.colors import to_rgb

from kempe.view.camera import Camera
from kempe.view.meshes import moved
from kempe.view.raster import Canvas
from kempe.view.scene import Scene

#: Colours of the floor's lines and of shadows.
LINES, SHADOW = "0.88", "0.92"


@dataclass(frozen=True)
class Floor:
    """A level grid below everything: how high it is, the corner of its first square, how wide a square is, how many."""

    height: float
    start: np.ndarray
    pitch: float
    count: np.ndarray
    axes: np.ndarray  # rows right, back, up

    def at(self, right: float, back: float) -> np.ndarray:
        """A place of the world on the floor."""
        return np.array([right, back, self.height]) @ self.axes

    def lines(self) -> list[np.ndarray]:
        """The lines of the grid, each (2, 3)."""
        (x0, y0), (nx, ny), p = self.start, self.count, self.pitch
        rows = [np.stack([self.at(x0, y0 + k * p), self.at(x0 + nx * p, y0 + k * p)]) for k in range(ny + 1)]
        columns = [np.stack([self.at(x0 + k * p, y0), self.at(x0 + k * p, y0 + ny * p)]) for k in range(nx + 1)]
        return [*rows, *columns]

    def shadow(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) dropped on the floor."""
        up = self.axes[2]
        return points - ((points @ up) - self.height)[..., None] * up


def floor_of(scene: Scene, axes: np.ndarray, extent: np.ndarray) -> Floor:
    """A floor as large as everything needs, with squares of a round size."""
    seen = extent @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    side = max(float((high - low).max()), 1e-9 * scene.size)
    pitch = round_near(side / 8.0)
    start = np.floor((low[:2] - 0.04 * side) / pitch)
    count = np.ceil((high[:2] + 0.04 * side) / pitch) - start
    return Floor(float(low[2]) - 0.02 * side, start * pitch, pitch, count.astype(int), axes)


def round_near(value: float) -> float:
    """1, 2 or 5 times a power of ten, near to a value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda step: abs(np.log(value / (step * power)))))


@dataclass
class Photographer:
    """Takes pictures of a scene from one place; ``paths`` are lines (n, 3) of the world with their colours."""

    scene: Scene
    camera: Camera
    width: int
    height: int
    scale: float  # pixels of a unit of length
    floor: Floor | None = None
    paths: Sequence[tuple[np.ndarray, str]] = ()
    fine: int = 2  # how many samples a pixel has each way
    hair: float = 1.0  # width of a thin line in pixels

    def __post_init__(self) -> None:
        pieces = self.scene.pieces
        owners = {name: k + 1 for k, name in enumerate(dict.fromkeys(piece.owner for piece in pieces))}
        self._colours = np.array([to_rgb(piece.colour) for piece in pieces]).reshape(-1, 3)
        self._owners = np.array([owners[piece.owner] for piece in pieces])
        self._alphas = np.array([piece.alpha for piece in pieces])
        self._by_mesh = {name: [k for k, p in enumerate(pieces) if p.mesh == name] for name in self.scene.meshes}

    def pixels(self, points: np.ndarray) -> np.ndarray:
        """Points (..., 3) of the world in pixels from the upper left, with their depth."""
        seen = self.camera.seen(points) * np.array([self.scale, -self.scale, self.scale])
        return seen + np.array([self.width / 2.0, self.height / 2.0, 0.0])

    def take(self, row: int) -> np.ndarray:
        """The picture (height, width, 3) at one instant, in bytes."""
        batch = _Batch()
        if self.floor is not None:
            self._floor(batch, row)
        self._solids(batch, row)
        for line, colour in self.paths:
            self._line(batch, line, 2.0 * self.hair, colour)
        canvas = Canvas(self.width, self.height, self.fine)
        canvas.paint(*batch.arrays())
        return canvas.picture()

    def _solids(self, batch: _Batch, row: int) -> None:
        places = self.scene.places(row)
        for name, mine in self._by_mesh.items():
            mesh = self.scene.meshes[name]
            vertices, normals = moved(mesh, places[mine])
            look = self._colours[mine], self._owners[mine], self._alphas[mine]
            batch.add(self.pixels(vertices), normals @ self.camera.axes.T, mesh.triangles, *look)

    def _floor(self, batch: _Batch, row: int) -> None:
        """Thin lines, and where one looks from above, the shadow of all but arrows."""
        assert self.floor is not None
        for line in self.floor.lines():
            self._line(batch, line, self.hair, LINES)
        if self.camera.axes[2] @ self.floor.axes[2] <= 0.0:
            return
        places = self.scene.places(row)
        for name, mine in self._by_mesh.items():
            solid = [k for k in mine if self.scene.pieces[k].layer != "vector"]
            mesh, count = self.scene.meshes[name], len(solid)
            corners = self.pixels(self.floor.shadow(moved(mesh, places[solid])[0]))
            corners[..., 2] -= self.hair  # below the lines
            look = np.tile(to_rgb(SHADOW), (count, 1)), np.zeros(count, int), np.ones(count)
            batch.add(corners, np.zeros_like(corners), mesh.triangles, *look)

    def _line(self, batch: _Batch, line: np.ndarray, width: float, colour: str) -> None:
        """A line as a strip of some width on the picture."""
        at = self.pixels(line)
        ahead = np.diff(at[:, :2], axis=0)
        length = np.linalg.norm(ahead, axis=1)
        kept = length > 1e-9
        if not kept.any():
            return
        start, end, ahead = at[:-1][kept], at[1:][kept], ahead[kept] / length[kept, None]
        out = np.column_stack([-ahead[:, 1], ahead[:, 0], np.zeros(len(ahead))]) * width / 2.0
        on = np.column_stack([ahead, np.zeros(len(ahead))]) * width / 4.0  # a little longer, so that corners close
        quads = np.stack([start - on - out, start - on + out, end + on + out, end + on - out], axis=1)
        n = len(quads)
        corners = quads.reshape(1, -1, 3)
        triangles = (4 * np.arange(n)[:, None, None] + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)
        batch.add(corners, np.zeros_like(corners), triangles, np.array([to_rgb(colour)]), np.zeros(1, int), np.ones(1))


class _Batch:
    """Triangles side by side, until they are painted together."""

    def __init__(self) -> None:
        self._parts: list[tuple[np.ndarray, ...]] = []
        self._count = 0

    def add(
        self,
        corners: np.ndarray,
        normals: np.ndarray,
        triangles: np.ndarray,
        colours: np.ndarray,
        owners: np.ndarray,
        alphas: np.ndarray,
    ) -> None:
        """Surfaces (k, n, 3) with the same triangles (m, 3); of each a colour, an owner and how opaque it is."""
        k, n, _ = corners.shape
        m = len(triangles)
        numbered = triangles[None] + self._count + n * np.arange(k)[:, None, None]
        self._count += k * n
        self._parts.append(
            (
                corners.reshape(-1, 3),
                normals.reshape(-1, 3),
                numbered.reshape(-1, 3),
                np.repeat(colours, m, axis=0),
                np.repeat(owners, m),
                np.repeat(alphas, m),
            )
        )

    def arrays(self) -> list[np.ndarray]:
        """All of it, as it is painted."""
        kinds = (float, float, np.int64, float, np.int32, float)
        return [
            np.concatenate(part).astype(kind) for part, kind in zip(zip(*self._parts, strict=True), kinds, strict=True)
        ]
