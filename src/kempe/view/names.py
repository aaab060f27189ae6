"""Names in a drawing, each put where it hides least: beside its bar, around its joint, inside its plate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from kempe.view.drawing import Drawing
from kempe.view.style import FORCE, GREY, INK, SMALL, TEXT, plain, shade

_COMPASS = [(np.cos(a), np.sin(a)) for a in np.radians([35, 145, -35, -145, 90, 0, 180, -90, 60, 120, -60, -120])]


@dataclass
class _Name:
    """A name, how it is written, and the places (point, direction, gap) it may take, best first; in pixels."""

    text: str
    colour: str
    size: float
    places: list[tuple[np.ndarray, np.ndarray, float]]
    style: str = "normal"


class _Ground:
    """What names should not hide: a cloud of weighted points, in pixels."""

    def __init__(self, low: np.ndarray, high: np.ndarray) -> None:
        self._low, self._high = low, high
        self._clouds: list[tuple[np.ndarray, float]] = []
        self._merged: tuple[np.ndarray, np.ndarray] | None = None

    def add(self, points: np.ndarray, weight: float) -> None:
        self._clouds.append((points, weight))
        self._merged = None

    def stroke(self, corners: np.ndarray, weight: float = 1.0) -> None:
        """A broken line, as a point every few pixels."""
        for a, b in pairwise(corners):
            count = 2 + int(np.hypot(*(b - a)) / 3.0)
            self.add(a + np.linspace(0.0, 1.0, count)[:, None] * (b - a), weight)

    def block(self, low: np.ndarray, high: np.ndarray, weight: float) -> None:
        """A rectangle, as a grid of points."""
        x, y = (np.linspace(low[k], high[k], 2 + int((high[k] - low[k]) / 4.0)) for k in (0, 1))
        self.add(np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2), weight)

    def cost(self, low: np.ndarray, high: np.ndarray) -> float:
        """How much a rectangle hides, and how far it sticks out of the axes."""
        if self._merged is None:
            weights = [np.full(len(points), weight) for points, weight in self._clouds]
            self._merged = np.concatenate([c for c, _ in self._clouds]), np.concatenate(weights)
        points, weight = self._merged
        inside = ((points > low) & (points < high)).all(axis=1)
        outside = np.fmax(self._low - low, 0.0).sum() + np.fmax(high - self._high, 0.0).sum()
        return float(weight[inside].sum() + 2.0 * outside)


def write_names(axes: Axes, drawing: Drawing, colours: Mapping[str, str], frame: int = 0) -> list[Text]:
    """Write the names of parts and joints; returns the texts."""
    figure = axes.figure.get_figure(root=True)
    assert figure is not None
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw_without_rendering()
    pixel = figure.dpi / 72.0
    at = axes.transData.transform(drawing.points[frame])
    ground = _obstacles(axes, drawing, at, pixel)
    texts = []
    scale = float(axes.transData.transform((1.0, 0.0))[0] - axes.transData.transform((0.0, 0.0))[0])
    for name in _names(drawing, colours, at, scale):
        written = axes.text(0, 0, plain(name.text), fontsize=name.size, fontstyle=name.style)
        box = written.get_window_extent(renderer)
        written.remove()
        half = np.array([box.width, box.height]) / 2.0
        spots = [_spot(place, half, rank, pixel) for rank, place in enumerate(name.places)]
        best = min(spots, key=lambda s: s[2] + ground.cost(s[1] - half - 1.0, s[1] + half + 1.0))
        ground.block(best[1] - half - (4.0, 0.0), best[1] + half + (4.0, 0.0), 5.0)
        texts.append(_write(axes, name, best[0], (best[1] - best[0]) / pixel, far=best[3] > 20.0))
    return texts


def _spot(place: tuple, half: np.ndarray, rank: int, pixel: float) -> tuple:
    """Anchor and centre of a name in one of its places, and how unwelcome that place is."""
    anchor, direction, gap = place
    away = np.abs(direction) @ half + gap * pixel if np.any(direction) else 0.0
    return anchor, anchor + direction * away, 0.12 * rank + 0.25 * gap, gap


def _write(axes: Axes, name: _Name, anchor: np.ndarray, offset: np.ndarray, far: bool) -> Text:
    leader = {"arrowstyle": "-", "linewidth": 0.5, "color": GREY, "shrinkA": 0.0, "shrinkB": 3.0}
    return axes.annotate(
        plain(name.text),
        tuple(axes.transData.inverted().transform(anchor)),
        xytext=tuple(offset),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=name.size,
        fontstyle=name.style,
        color=name.colour,
        zorder=6,
        arrowprops=leader if far else None,
    )


def _obstacles(axes: Axes, drawing: Drawing, at: np.ndarray, pixel: float) -> _Ground:
    frame = axes.get_window_extent()
    ground = _Ground(np.array(frame.min), np.array(frame.max))
    for outline in drawing.outlines.values():
        ground.stroke(at[[*outline, outline[0]]])
    pairs = [*drawing.rods.values(), *drawing.belts, *drawing.faces.values(), *drawing.racks.values()]
    pairs += [(foot, tip) for foot, _, tip in drawing.actuators.values()]
    pairs += drawing.walls.values()
    for first, last in pairs:
        ground.stroke(at[[first, last]])
    for first, last in drawing.guides:
        along = (at[last] - at[first]) / max(float(np.hypot(*(at[last] - at[first]))), 1e-300)
        across = np.array([-along[1], along[0]]) * 5.0 * pixel
        for side in (-1, 0, 1):
            ground.stroke(at[[first, last]] + side * across)
    for curve in [*drawing.curves.values(), *drawing.arrows.values(), *drawing.heads.values()]:
        ground.stroke(at[list(curve)])
    for stroke in [stroke for strokes in drawing.strokes.values() for stroke in strokes]:
        ground.stroke(at[stroke], 1.5)
    scale = float(axes.transData.transform((1.0, 0.0))[0] - axes.transData.transform((0.0, 0.0))[0])
    turn = np.linspace(0.0, 2.0 * np.pi, 73)
    for circle in drawing.circles:
        rim = np.column_stack([np.cos(turn), np.sin(turn)])
        for out in (0.0, 4.0 * pixel) if circle.fixed else (0.0,):
            ground.stroke(at[circle.centre] + (circle.radius * scale + out) * rim, 0.6)
    for index in {*drawing.pins, *drawing.dots, *drawing.welds, *drawing.bushings}:
        ground.block(at[index] - 3.5 * pixel, at[index] + 3.5 * pixel, 5.0)
    for index in drawing.anchors:
        corner = np.array([10.0, 15.0]) * pixel
        ground.block(at[index] - corner, at[index] + corner * (1.0, 0.0), 2.5)
    for index, _ in drawing.sliders:
        ground.block(at[index] - 9.0 * pixel, at[index] + 9.0 * pixel, 3.0)
    for index, _ in drawing.motors.values():
        ground.block(at[index] + np.array([-10, 3]) * pixel, at[index] + np.array([10, 11]) * pixel, 4.0)
    return ground


def _names(drawing: Drawing, colours: Mapping[str, str], at: np.ndarray, scale: float) -> Iterator[_Name]:
    """Names in the order in which they choose their places: points, links, joints, then rods."""
    rings = {c.owner: c for c in drawing.circles}
    for name, index in drawing.labels.items():
        if name not in drawing.links:
            yield _Name(name, INK, TEXT, _round(at[index]))
    for name, outline in drawing.outlines.items():
        beside = _beside(at[outline])
        if len(outline) == 1 and name in rings:  # a wheel has its name at the rim
            beside = _round(at[outline[0]], rings[name].radius * scale + (8.0 if rings[name].fixed else 0.0))
        yield _Name(name, shade(colours[name]), TEXT, beside)
    standing = {c.centre for c in drawing.circles if c.fixed} & set(drawing.welds)
    for name, index in drawing.joints.items():
        if index not in standing:
            yield _Name(name, "0.35", SMALL, _round(at[index]), "italic")
    for name, ends in [*drawing.rods.items(), *((n, (a, c)) for n, (a, _, c) in drawing.actuators.items())]:
        yield _Name(name, "0.25", TEXT, _beside(at[list(ends)]))
    for name, ends in drawing.springs.items():
        yield _Name(name, "0.25", TEXT, _beside(at[list(ends)], 8.0))
    for name, (tip, *_) in drawing.heads.items():
        yield _Name(name, drawing.hues.get(name, FORCE), SMALL, _round(at[tip]))


def _round(point: np.ndarray, radius: float = 0.0) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Places around a point or outside a circle."""
    gaps = (3.0, 8.0, 12.0, 17.0, 24.0, 36.0)
    return [(point + radius * np.array(way), np.array(way), gap) for gap in gaps for way in _COMPASS]


def _beside(corners: np.ndarray, spare: float = 0.0) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Places beside a bar, inside or along the edges of a plate, around a single point; ``spare`` for what is wide."""
    if len(corners) == 1:
        return _round(corners[0])
    places = [] if len(corners) == 2 else [(corners.mean(axis=0), np.zeros(2), 0.0)]
    edges = list(zip(corners, np.roll(corners, -1, axis=0), strict=True))
    for gap in (2.5, 7.0, 13.0, 22.0):
        for share in (0.5, 0.35, 0.65, 0.2, 0.8):
            for a, b in edges:
                along = (b - a) / max(float(np.hypot(*(b - a))), 1e-300)
                for side in (1.0, -1.0):
                    places.append((a + share * (b - a), side * np.array([-along[1], along[0]]), gap + 2.0 + spare))
    return places
