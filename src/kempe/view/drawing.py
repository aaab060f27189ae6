"""A drawing as data: points over time, and which of them make which shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Circle(NamedTuple):
    """A circle about a point: a pitch circle, a pulley or a roller."""

    centre: int
    radius: float
    kind: str
    owner: str
    fixed: bool = False


@dataclass
class Drawing:
    """Points over time (frames, points, 2) and the shapes made of them, all as index lists.

    ``links`` are the points of each body, bar or plate, ``outlines`` the same as a stroke (two points) or a polygon
    without dents. ``guides`` are rails and slots as long as the motion needs, ``slots`` the numbers of those in which
    a pin runs, ``sliders`` what moves on which guide. ``owner`` says to which link a guide (by number), a curve, a
    face or a rack (by name) belongs; what it leaves out belongs to the ground.
    """

    points: np.ndarray
    #: Frames over time (frames, parts, origin and axis), and which points are fixed in one of them, and where in it.
    frames: np.ndarray = field(default_factory=lambda: np.zeros((1, 0, 4)))
    fixed: dict[int, tuple[int, float, float]] = field(default_factory=dict)
    links: dict[str, list[int]] = field(default_factory=dict)
    pins: list[int] = field(default_factory=list)
    anchors: list[int] = field(default_factory=list)
    guides: list[tuple[int, int]] = field(default_factory=list)
    sliders: list[tuple[int, int]] = field(default_factory=list)
    curves: dict[str, list[int]] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    size: float = 1.0
    outlines: dict[str, list[int]] = field(default_factory=dict)
    joints: dict[str, int] = field(default_factory=dict)
    slots: set[int] = field(default_factory=set)
    rods: dict[str, tuple[int, int]] = field(default_factory=dict)
    #: Foot, end of the barrel, end of the piston rod.
    actuators: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    circles: list[Circle] = field(default_factory=list)
    spokes: dict[str, tuple[int, int]] = field(default_factory=dict)
    faces: dict[str, tuple[int, int]] = field(default_factory=dict)
    racks: dict[str, tuple[int, int]] = field(default_factory=dict)
    belts: list[tuple[int, int]] = field(default_factory=list)
    dots: list[int] = field(default_factory=list)
    welds: list[int] = field(default_factory=list)
    #: Where a turn is driven, and in which sense it starts.
    motors: dict[str, tuple[int, int]] = field(default_factory=dict)
    owner: dict[str | int, str] = field(default_factory=dict)
    #: The ends of springs and dashpots, and the thin lines of which these and spirals consist.
    springs: dict[str, tuple[int, int]] = field(default_factory=dict)
    strokes: dict[str, list[list[int]]] = field(default_factory=dict)
    #: Forces and torques: straight or curved shafts, and the corners of their heads (the tip is the first).
    arrows: dict[str, list[int]] = field(default_factory=dict)
    heads: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    #: Colours of arrows that are not those of a load, and how long a unit of each kind of vector is drawn.
    hues: dict[str, str] = field(default_factory=dict)
    scales: dict[str, float] = field(default_factory=dict)
    #: Whether moments are arcs (in the plane) and no arrows.
    turned: bool = True
    bushings: list[int] = field(default_factory=list)
    #: Walls of stops, hatched on the right of their direction.
    walls: dict[str, tuple[int, int]] = field(default_factory=dict)

    def keep(self, rows: np.ndarray) -> None:
        """Keep some of the frames of time only."""
        self.points, self.frames = self.points[rows], self.frames[rows]

    @property
    def numbers(self) -> int:
        """How many numbers say where everything is in one frame."""
        return 2 * (self.points.shape[1] - len(self.fixed)) + 4 * self.frames.shape[1]

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower left and upper right corner of everything over all frames, with a margin."""
        corners = [self.points.reshape(-1, 2)]
        for circle in self.circles:
            corners += [self.points[:, circle.centre] + sign * circle.radius for sign in (-1, 1)]
        every = np.concatenate(corners)
        low, high = every.min(axis=0), every.max(axis=0)
        extent = float((high - low).max())
        margin = 0.06 * extent if extent > 1e-9 * self.size else 0.5 * self.size  # a single point has room around it
        return low - margin, high + margin


def around(points: np.ndarray, indices: Sequence[int]) -> list[int]:
    """The corners of the hull in order; the two ends when all are on one line; one point when there is no more."""
    indices = list(indices)
    corners = points[indices]
    spread = corners - corners.mean(axis=0)
    _, stretch, axes = np.linalg.svd(spread, full_matrices=False)
    along = spread @ axes[0]
    if stretch[0] <= 1e-9 * max(1e-300, float(np.abs(corners).max())):
        return indices[:1]
    if len(indices) < 3 or stretch[1] < 1e-6 * stretch[0]:
        return [indices[int(along.argmin())], indices[int(along.argmax())]]
    from scipy.spatial import ConvexHull

    return [indices[k] for k in ConvexHull(spread / stretch[0]).vertices]
