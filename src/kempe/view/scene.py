"""A scene in space as data: solids and lines on moving frames, whoever paints them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kempe.view.meshes import Mesh, ball, box, cone, cylinder

#: The surfaces that every scene knows.
MESHES = {"cylinder": cylinder(), "cone": cone(), "ball": ball(), "box": box()}


@dataclass(frozen=True, eq=False)
class Piece:
    """A surface by its name, where it sits in its frame (3, 4), and how it looks.

    ``place`` has the three axes of the surface, which may be long, and its origin in the last column. ``layer`` says
    what it shows: a "part" or "joint", the "sign" of a spring or driver, that of a "load" for which an arrow to scale
    may stand, or such an arrow, a "vector".
    """

    mesh: str
    frame: int
    place: np.ndarray
    colour: str
    owner: str
    alpha: float = 1.0
    layer: str = "part"


@dataclass(frozen=True)
class Label:
    """A name and the points by which it stands: of a "part", a "joint" or a "load"."""

    text: str
    points: list[int]
    colour: str
    kind: str = "part"


@dataclass
class Scene:
    """Frames over time (times, frames, 3, 4), each axes and origin, and what sits on them; frame 0 is the world.

    Axes of a frame may be stretched: a spring is a coil of unit length on a frame whose third axis is as long as the
    spring. ``points`` are places with a meaning, each by its frame and where it is in it; names stand by them, and
    ``paths`` says which can be traced. ``up`` is the direction against gravity.
    """

    frames: np.ndarray
    meshes: dict[str, Mesh] = field(default_factory=lambda: dict(MESHES))
    pieces: list[Piece] = field(default_factory=list)
    points: list[tuple[int, np.ndarray]] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    paths: dict[str, int] = field(default_factory=dict)
    colours: dict[str, str] = field(default_factory=dict)
    up: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    #: How large the mechanism is, how thick links are drawn, and how long a unit of each kind of vector is.
    size: float = 1.0
    thick: float = 0.01
    scales: dict[str, float] = field(default_factory=dict)

    @property
    def times(self) -> int:
        """How many instants it has."""
        return len(self.frames)

    @property
    def numbers(self) -> int:
        """How many numbers say where everything is at one instant."""
        return 12 * (self.frames.shape[1] - 1)

    def keep(self, rows: np.ndarray) -> None:
        """Keep some of the instants only."""
        self.frames = self.frames[rows]

    def frame(self, where: np.ndarray) -> int:
        """Add a frame over time (times, 3, 4); its number."""
        self.frames = np.concatenate([self.frames, where[:, None]], axis=1)
        return self.frames.shape[1] - 1

    def point(self, frame: int, at: np.ndarray) -> int:
        """Add a point; its number."""
        self.points.append((frame, np.asarray(at, dtype=float)))
        return len(self.points) - 1

    def where(self, point: int) -> np.ndarray:
        """World positions (times, 3) of a point."""
        frame, at = self.points[point]
        axes = self.frames[:, frame]
        return axes[:, :, :3] @ at + axes[:, :, 3]

    def places(self, row: int) -> np.ndarray:
        """Where each piece is at one instant, (pieces, 3, 4)."""
        frames = self.frames[row, [piece.frame for piece in self.pieces]]
        own = np.array([piece.place for piece in self.pieces]).reshape(-1, 3, 4)
        there = frames[:, :, :3] @ own
        there[:, :, 3] += frames[:, :, 3]
        return there

    @property
    def extent(self) -> np.ndarray:
        """The outermost corners (n, 3) of boxes about all pieces at all instants, or at many of them."""
        ends = {name: _box(mesh.vertices) for name, mesh in self.meshes.items()}
        own = np.array([ends[piece.mesh] for piece in self.pieces]).reshape(-1, 8, 3)
        found = []
        for row in np.unique(np.linspace(0, self.times - 1, 100).round().astype(int)):
            there = self.places(int(row))
            corners = np.einsum("kij,knj->kni", there[:, :, :3], own) + there[:, None, :, 3]
            found.append(outermost(corners.reshape(-1, 3)))
        return outermost(np.concatenate(found))

    # --- solids between and at places -----------------------------------------------------------------------------

    def add(
        self,
        mesh: str,
        frame: int,
        place: np.ndarray,
        colour: str,
        owner: str,
        alpha: float = 1.0,
        layer: str = "part",
    ) -> None:
        """Put a surface somewhere."""
        self.pieces.append(Piece(mesh, frame, np.asarray(place, dtype=float), colour, owner, alpha, layer))

    def rod(
        self, frame: int, a: np.ndarray, b: np.ndarray, radius: float, colour: str, owner: str, layer: str = "part"
    ) -> None:
        """A round rod from one place of a frame to another; nothing where they are the same."""
        if np.linalg.norm(np.subtract(b, a)) > 1e-9 * self.size:
            self.add("cylinder", frame, along(a, b, radius), colour, owner, layer=layer)

    def globe(self, frame: int, at: np.ndarray, radius: float, colour: str, owner: str, layer: str = "part") -> None:
        """A ball at a place of a frame."""
        self.add("ball", frame, np.column_stack([radius * np.eye(3), at]), colour, owner, layer=layer)


def _directions(count: int) -> np.ndarray:
    """Directions even over the sphere, by a spiral, and those of the axes."""
    turn = np.pi * (1.0 + np.sqrt(5.0)) * np.arange(count)
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    round_ = np.sqrt(1.0 - height**2)
    spiral = np.column_stack([round_ * np.cos(turn), round_ * np.sin(turn), height])
    return np.concatenate([np.eye(3), -np.eye(3), spiral])


_OUT = _directions(160)


def outermost(points: np.ndarray) -> np.ndarray:
    """Those of some points (n, 3) that are farthest out in one of many directions: all lie nearly between them."""
    return points[np.unique((points @ _OUT.T).argmax(axis=0))] if len(points) else points


def _box(points: np.ndarray) -> np.ndarray:
    """The eight corners (8, 3) of the box in which points lie."""
    low, high = points.min(axis=0), points.max(axis=0)
    return np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def across(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two directions that make a right-handed frame with a third one (..., 3)."""
    other = np.where(np.abs(w[..., :1]) < 0.8, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    u = np.cross(other, w)
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    return u, np.cross(w, u)


def along(a: np.ndarray, b: np.ndarray, radius: float) -> np.ndarray:
    """The place (3, 4) of a surface that lies along z from 0 to 1, so that it reaches from a to b."""
    a, d = np.asarray(a, dtype=float), np.subtract(b, a)
    u, v = across(d / np.linalg.norm(d))
    return np.column_stack([radius * u, radius * v, d, a])


def between(a: np.ndarray, b: np.ndarray, stretched: bool = False) -> np.ndarray:
    """Frames over time (times, 3, 4) at a with their third axis towards b, of unit length or as long as the way.

    The two axes across are carried along from instant to instant, so that nothing on the frame jumps about.
    """
    d = b - a
    length = np.linalg.norm(d, axis=1)
    w = np.where(length[:, None] > 0, d, [0.0, 0.0, 1.0]) / np.where(length > 0, length, 1.0)[:, None]
    u = np.empty_like(w)
    u[0] = across(w[0])[0]
    for k in range(1, len(w)):
        u[k] = u[k - 1] - (u[k - 1] @ w[k]) * w[k]
        size = np.linalg.norm(u[k])
        u[k] = u[k] / size if size > 1e-6 else across(w[k])[0]
    third = w * length[:, None] if stretched else w
    return np.stack([u, np.cross(w, u), third, a], axis=2)
