"""How a mechanism is told to the independent computation of spatial motion: bodies, joints, springs, loads.

Every row of a constraint is a sum of terms, each of them one of four functions of two bodies: how far a point is from
another along a direction, the cosine between two directions, half the square of a distance, the angle about an axis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kempe.benchmarks.turning import Vector, across

GROUND = -1

Law = Callable[[float], tuple[float, float, float]]
"""A function of time that begins at zero, with its first two derivatives."""


@dataclass
class Terms:
    """Terms of one kind: their rows and factors, bodies and what is fixed in these."""

    row: list[int] = field(default_factory=list)
    factor: list[float] = field(default_factory=list)
    bodies: list[tuple[int, ...]] = field(default_factory=list)
    vectors: list[tuple[np.ndarray, ...]] = field(default_factory=list)

    def put(self, row: int, factor: float, bodies: tuple[int, ...], *vectors: np.ndarray) -> None:
        """Add a term."""
        self.row.append(row)
        self.factor.append(factor)
        self.bodies.append(bodies)
        self.vectors.append(vectors)


@dataclass
class Joint:
    """Rows of a constraint, and the point of body j at which its reaction is taken."""

    i: int
    j: int
    point: np.ndarray
    rows: list[int]


class JoinedBodies:
    """A mechanism in space, filled by the methods below; places and directions are those of the drawn pose."""

    def __init__(self, gravity: Vector = (0.0, 0.0, -9.81)) -> None:
        self.gravity = np.asarray(gravity, dtype=float)
        self.mass: list[float] = []
        self.inertia: list[np.ndarray] = []
        self.at: list[np.ndarray] = []
        self.rotation: list[np.ndarray] = []
        self.joints: dict[str, Joint] = {}
        self.laws: dict[int, Law] = {}
        self.rows = 0
        self._kinds = {kind: Terms() for kind in ("along", "cosine", "distance", "angle")}
        self._springs: list[tuple[int, np.ndarray, int, np.ndarray, float, float, float]] = []
        self._twists: list[tuple[int, np.ndarray, np.ndarray, int, np.ndarray, float, float]] = []
        self._loads: list[tuple[int, np.ndarray, np.ndarray]] = []
        self._offset: np.ndarray | None = None
        self._angles: np.ndarray | None = None

    def body(self, mass: float, inertia: np.ndarray, at: Vector, rotation: np.ndarray | None = None) -> int:
        """A body by its mass, its inertia in its own axes, its centre of mass and its axes; returns its number."""
        given = np.asarray(inertia, dtype=float)
        self.mass.append(float(mass))
        self.inertia.append(np.diag(given) if given.ndim == 1 else given)
        self.at.append(np.asarray(at, dtype=float))
        self.rotation.append(np.eye(3) if rotation is None else np.asarray(rotation, dtype=float))
        return len(self.mass) - 1

    def _point(self, body: int, at: Vector) -> np.ndarray:
        """A world point in a body's axes."""
        at = np.asarray(at, dtype=float)
        return at if body == GROUND else self.rotation[body].T @ (at - self.at[body])

    def _direction(self, body: int, along: Vector) -> np.ndarray:
        """A world direction in a body's axes."""
        along = np.asarray(along, dtype=float)
        return along if body == GROUND else self.rotation[body].T @ along

    def _row(self) -> int:
        self.rows += 1
        return self.rows - 1

    def _along(self, row: int, i: int, j: int, at: Vector, body: int, direction: Vector, factor: float = 1.0) -> None:
        """How far the point of j is from that of i along a direction of a body."""
        points = self._point(i, at), self._point(j, at)
        self._kinds["along"].put(row, factor, (i, j, body), *points, self._direction(body, direction))

    def _cosine(self, i: int, a: Vector, j: int, b: Vector) -> int:
        row = self._row()
        self._kinds["cosine"].put(row, 1.0, (i, j), self._direction(i, a), self._direction(j, b))
        return row

    def _angle(self, row: int, i: int, j: int, axis: Vector, factor: float = 1.0) -> None:
        """By how much j has turned about an axis of i since it was drawn."""
        u, v = across(axis)
        vectors = self._direction(i, u), self._direction(i, v), self._direction(j, u)
        self._kinds["angle"].put(row, factor, (i, j), *vectors)

    def _joined(self, name: str, i: int, j: int, at: Vector, rows: list[int]) -> Joint:
        self.joints[name] = Joint(i, j, self._point(j, at), rows)
        return self.joints[name]

    def _coincident(self, i: int, j: int, at: Vector) -> list[int]:
        rows = [self._row() for _ in range(3)]
        for row, e in zip(rows, np.eye(3), strict=True):
            self._along(row, i, j, at, GROUND, e)
        return rows

    def _in_line(self, i: int, j: int, at: Vector, *normals: Vector) -> list[int]:
        rows = [self._row() for _ in normals]
        for row, normal in zip(rows, normals, strict=True):
            self._along(row, i, j, at, i, normal)
        return rows

    def _parallel(self, i: int, j: int, axis: Vector) -> list[int]:
        return [self._cosine(i, e, j, axis) for e in across(axis)]

    def spherical(self, name: str, i: int, j: int, at: Vector) -> Joint:
        """A ball in its socket."""
        return self._joined(name, i, j, at, self._coincident(i, j, at))

    def revolute(self, name: str, i: int, j: int, at: Vector, axis: Vector) -> Joint:
        """A hinge."""
        return self._joined(name, i, j, at, self._coincident(i, j, at) + self._parallel(i, j, axis))

    def cylindrical(self, name: str, i: int, j: int, at: Vector, axis: Vector) -> Joint:
        """A rod in a sleeve: it turns and slides."""
        return self._joined(name, i, j, at, self._in_line(i, j, at, *across(axis)) + self._parallel(i, j, axis))

    def prismatic(self, name: str, i: int, j: int, at: Vector, axis: Vector) -> Joint:
        """A slider in its guide."""
        joint = self.cylindrical(name, i, j, at, axis)
        u, v = across(axis)
        joint.rows.append(self._cosine(i, u, j, v))
        return joint

    def universal(self, name: str, i: int, j: int, at: Vector, axis_i: Vector, axis_j: Vector) -> Joint:
        """Hooke's joint: an axis in each body, square to the other."""
        return self._joined(name, i, j, at, [*self._coincident(i, j, at), self._cosine(i, axis_i, j, axis_j)])

    def planar(self, name: str, i: int, j: int, at: Vector, axis: Vector) -> Joint:
        """A plane of j that slides on a plane of i."""
        return self._joined(name, i, j, at, self._in_line(i, j, at, axis) + self._parallel(i, j, axis))

    def weld(self, name: str, i: int, j: int, at: Vector) -> Joint:
        """One body made of two."""
        joint = self.revolute(name, i, j, at, (0, 0, 1))
        u, v = across((0, 0, 1))
        joint.rows.append(self._cosine(i, u, j, v))
        return joint

    def screw(self, name: str, i: int, j: int, at: Vector, axis: Vector, rise: float) -> Joint:
        """A nut on its bolt: it rises by so much for every radian."""
        joint = self.cylindrical(name, i, j, at, axis)
        row = self._row()
        self._along(row, i, j, at, i, np.asarray(axis) / np.linalg.norm(axis))
        self._angle(row, i, j, axis, -rise)
        joint.rows.append(row)
        return joint

    def point_on_line(self, name: str, i: int, j: int, at: Vector, axis: Vector) -> Joint:
        """A point of j on a line of i."""
        return self._joined(name, i, j, at, self._in_line(i, j, at, *across(axis)))

    def point_on_plane(self, name: str, i: int, j: int, at: Vector, axis: Vector) -> Joint:
        """A point of j in a plane of i."""
        return self._joined(name, i, j, at, self._in_line(i, j, at, axis))

    def rod(self, name: str, i: int, a: Vector, j: int, b: Vector) -> Joint:
        """A distance that stays."""
        row = self._row()
        self._kinds["distance"].put(row, 1.0, (i, j), self._point(i, a), self._point(j, b))
        return self._joined(name, i, j, b, [row])

    def gear(self, name: str, first: tuple[int, int, Vector], second: tuple[int, int, Vector], ratio: float) -> Joint:
        """Two angles about axes, each of a body j in a body i: the second turns ``ratio`` times as far as the first."""
        row = self._row()
        self._angle(row, *second)
        self._angle(row, *first, -ratio)
        i, j, _ = second
        return self._joined(name, i, j, np.zeros(3), [row])

    def driver(self, name: str, i: int, j: int, axis: Vector, law: Law) -> Joint:
        """A motor that turns j about an axis of i."""
        row = self._row()
        self._angle(row, i, j, axis)
        self.laws[row] = law
        return self._joined(name, i, j, np.zeros(3), [row])

    def spring(self, i: int, a: Vector, j: int, b: Vector, stiffness: float, length: float, damping: float) -> None:
        """A spring and damper between two points."""
        self._springs.append((i, self._point(i, a), j, self._point(j, b), stiffness, length, damping))

    def torsion(self, i: int, j: int, axis: Vector, stiffness: float, damping: float) -> None:
        """A torsion spring about the axis of a hinge, at ease as drawn."""
        u, v = across(axis)
        frame = self._direction(i, u), self._direction(i, v)
        self._twists.append((i, *frame, j, self._direction(j, u), stiffness, damping))

    def load(self, body: int, force: Vector, torque: Vector) -> None:
        """A force at the centre of mass and a torque, both in world axes."""
        self._loads.append((body, np.asarray(force, dtype=float), np.asarray(torque, dtype=float)))
