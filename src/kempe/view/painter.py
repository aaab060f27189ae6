"""A drawing painted with matplotlib: every shape is made once and moved from frame to frame."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from kempe.view.drawing import Drawing
from kempe.view.style import FORCE, GREY, INK, LINE, PALE, THIN, TITLE, WIDTH, Picture, colour, folded, quiet, tint

_TURN = np.linspace(0.0, 2.0 * np.pi, 97)
_ROUND = np.column_stack([np.cos(_TURN), np.sin(_TURN)])
_GAP = np.full((1, 2), np.nan)
Where = Callable[[np.ndarray], np.ndarray]


def canvas(
    drawing: Drawing, title: str, extra: np.ndarray | None = None, below: float = 0.0
) -> tuple[Figure, Axes, float]:
    """A figure that fits a drawing (and extra points), its axes, and the length of one typographic point in it.

    ``below`` is the room under the axes, in points, for what stands there.
    """
    low, high = drawing.box
    if extra is not None and len(extra):
        low, high = np.fmin(low, np.nanmin(extra, axis=0)), np.fmax(high, np.nanmax(extra, axis=0))
    return sheet(low, high, title, below)


def sheet(low: np.ndarray, high: np.ndarray, title: str, below: float = 0.0) -> tuple[Figure, Axes, float]:
    """A figure with equal axes for a part of the plane; also the length of one typographic point in it."""
    width, height = np.fmax(high - low, 1e-9 * max(float((high - low).max()), 1e-300))
    inches = min((WIDTH - 0.7) / width, 6.0 / height)
    unit = 1.0 / (72.0 * inches)
    low, high = low - 14.0 * unit, high + 14.0 * unit  # room for ground marks and names at the rim
    width, height = high - low
    size = (max(width * inches + 0.7, 3.6), max(height * inches + 0.8, 1.8) + below / 72.0)
    figure = Picture(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.set_title(folded(title, size[0] - 0.5, TITLE), fontsize=TITLE)
    quiet(axes, grid=False)
    return figure, axes, unit


def at(*indices: int) -> Where:
    """Some points, as they are in a frame."""
    chosen = list(indices)
    return lambda points: points[chosen]


def made(make: Callable[..., np.ndarray], *indices: int) -> Where:
    """A shape made of some points, as they are in a frame."""
    return lambda points: make(*(points[k] for k in indices))


class Painter:
    """A drawing on some axes; ``show(frame)`` moves it to a frame, ``artists`` are all that move."""

    def __init__(self, axes: Axes, drawing: Drawing, unit: float, frame: int = 0, faint: bool = False) -> None:
        self.axes, self.drawing, self.unit = axes, drawing, unit
        self._alpha = 0.4 if faint else 1.0
        self._moves: list[tuple[Any, Where]] = []
        self._start = drawing.points[frame]
        self.colours = {name: colour(k) for k, name in enumerate(drawing.links)}
        for paint in (self._guides, self._curves, self._circles, self._belts, self._links, self._rods, self._loads):
            paint()
        self._joints()

    @property
    def artists(self) -> list[Any]:
        """Everything that moves."""
        return [artist for artist, _ in self._moves]

    def show(self, frame: int) -> None:
        """Move everything to where it is in a frame."""
        points = self.drawing.points[frame]
        for artist, where in self._moves:
            if isinstance(artist, Line2D):
                artist.set_data(*where(points).T)
            else:
                artist.set_xy(where(points))

    def of(self, key: str | int) -> str:
        """The colour of the link to which something belongs."""
        return self.colours.get(self.drawing.owner.get(key, ""), INK)

    # --- strokes and areas ----------------------------------------------------------------------------------------

    def _line(self, where: Where, **style: Any) -> None:
        style = {
            "color": INK,
            "linewidth": LINE,
            "solid_capstyle": "round",
            "alpha": self._alpha,
            "snap": False,
            **style,
        }
        (line,) = self.axes.plot(*where(self._start).T, **style)
        self._moves.append((line, where))

    def _area(self, where: Where, **style: Any) -> None:
        patch = Polygon(where(self._start), closed=True, **{"joinstyle": "round", "alpha": self._alpha, **style})
        self.axes.add_patch(patch)
        self._moves.append((patch, where))

    def _tube(self, where: Where, edge: str, width: float, zorder: float) -> None:
        """A stroke with an outline."""
        self._line(where, color=edge, linewidth=width, zorder=zorder)
        self._line(where, color=tint(edge), linewidth=width - 1.8, zorder=zorder)

    def _hatch(self, start: np.ndarray, end: np.ndarray, away: np.ndarray, step: float = 4.5) -> np.ndarray:
        """Short strokes along a line on the side ``away``, leaning as on every ground line."""
        length = float(np.hypot(*(end - start)))
        count = max(2, round(length / (step * self.unit)))
        along = (end - start) / max(length, 1e-300)
        feet = start + np.outer((np.arange(count) + 0.6) / count * length, along)
        tips = feet + 4.5 * self.unit * (away - 0.7 * along)
        return np.stack([feet, tips, np.full_like(feet, np.nan)], axis=1).reshape(-1, 2)

    # --- the kinds of shapes --------------------------------------------------------------------------------------

    def _guides(self) -> None:
        for number, ends in enumerate(self.drawing.guides):
            if number in self.drawing.slots:
                self._line(at(*ends), color=self.of(number), linewidth=8.5, zorder=2.4)
                self._line(at(*ends), color="white", linewidth=6.5, zorder=2.4, alpha=1.0)
                continue
            edge = self.of(number) if number in self.drawing.owner else GREY
            self._line(at(*ends), color=edge, linewidth=2.2, solid_capstyle="butt", zorder=1.6)
            if number not in self.drawing.owner:
                self._line(made(self._ground_line, *ends), color=GREY, linewidth=THIN, zorder=1.6)

    def _ground_line(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        away = np.array([end[1] - start[1], start[0] - end[0]])
        away = away / max(float(np.hypot(*away)), 1e-300)
        return self._hatch(start, end, away if away[1] < 1e-9 else -away)

    def _curves(self) -> None:
        for name, indices in self.drawing.curves.items():
            edge = self.of(name)
            gap = np.hypot(*(self._start[indices[-1]] - self._start[indices[0]]))
            if gap < 1e-6 * self.drawing.size and name in self.drawing.owner:
                style = {"facecolor": tint(edge, 0.15), "edgecolor": edge, "linewidth": LINE, "zorder": 1.5}
                self._area(at(*indices), **style)
            else:
                self._line(at(*indices), color=edge, zorder=1.5)
        for name, ends in self.drawing.faces.items():
            self._line(at(*ends), color=self.of(name), linewidth=3.0, zorder=2.2)

    def _circles(self) -> None:
        for circle in self.drawing.circles:
            edge = self.colours.get(circle.owner, INK)
            rim = made(partial(self._rim, circle.radius), circle.centre)
            if circle.kind == "roller":
                self._area(rim, facecolor=tint(edge, 0.15), edgecolor=edge, linewidth=LINE, zorder=1.55)
            elif circle.kind == "pulley":
                self._line(rim, color=edge, linewidth=LINE, zorder=1.7)
            else:
                self._line(rim, color=edge, linewidth=1.0, linestyle=(0, (9, 2.5, 1.5, 2.5)), zorder=1.7)
            if circle.fixed:
                around = made(partial(self._ground_ring, circle.radius), circle.centre)
                self._line(around, color=GREY, linewidth=THIN, zorder=1.2)
        for name, ends in self.drawing.spokes.items():
            self._line(at(*ends), color=self.of(name), linewidth=1.0, zorder=1.7)

    def _rim(self, radius: float, centre: np.ndarray) -> np.ndarray:
        return centre + radius * _ROUND

    def _ground_ring(self, radius: float, centre: np.ndarray) -> np.ndarray:
        """Hatching around a circle that stands still."""
        count = max(12, round(2.0 * np.pi * radius / (6.0 * self.unit)))
        turn = 2.0 * np.pi * np.arange(count) / count
        feet = np.column_stack([np.cos(turn), np.sin(turn)])
        lean = feet - 0.7 * np.column_stack([-feet[:, 1], feet[:, 0]])
        rim = centre + radius * feet
        return np.stack([rim, rim + 4.5 * self.unit * lean, np.full_like(rim, np.nan)], axis=1).reshape(-1, 2)

    def _belts(self) -> None:
        for strand in self.drawing.belts:
            self._line(at(*strand), linewidth=1.6, color="0.3", zorder=1.6)
        for name, ends in self.drawing.racks.items():
            self._line(made(self._toothed, *ends), color=self.of(name), linewidth=1.0, zorder=2.4)

    def _toothed(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """A zigzag about a rack's pitch line."""
        along = end - start
        length = float(np.hypot(*along))
        count = max(2, round(length / (2.5 * self.unit)))
        across = np.array([-along[1], along[0]]) / max(length, 1e-300) * 1.6 * self.unit
        side = np.where(np.arange(count + 1) % 2, 1.0, -1.0)
        return start + np.outer(np.arange(count + 1) / count, along) + np.outer(side, across)

    def _links(self) -> None:
        slotted = {self.drawing.owner.get(k) for k in self.drawing.slots}  # below their slots; pins are above them
        ringed = {circle.owner for circle in self.drawing.circles if circle.fixed}
        for name, outline in self.drawing.outlines.items():
            edge = self.colours[name]
            if len(outline) == 2:
                self._tube(at(*outline), edge, 5.5, 2.3 if name in slotted else 2.5)
            elif len(outline) > 2:
                style = {"facecolor": tint(edge), "zorder": 2.0}
                self._area(at(*outline), edgecolor=edge, linewidth=5.5, **style)
                self._area(at(*outline), edgecolor=tint(edge), linewidth=3.7, **style)
            elif name not in ringed:
                self._line(at(*outline), color=edge, marker="o", markersize=8, zorder=2.5)

    def _rods(self) -> None:
        for ends in self.drawing.rods.values():
            self._line(at(*ends), linewidth=1.8, color="0.3", zorder=2.8)
        style = {"facecolor": PALE, "edgecolor": "0.3", "linewidth": 1.0, "zorder": 2.8}
        for foot, barrel, tip in self.drawing.actuators.values():
            self._line(at(foot, tip), linewidth=2.4, color="0.3", zorder=2.7)
            self._area(made(partial(self._bar, 3.5), foot, barrel), **style)

    def _loads(self) -> None:
        drawing = self.drawing
        for name, ends in drawing.walls.items():
            edge = self.of(name) if name in drawing.owner else GREY
            self._line(at(*ends), color=edge, linewidth=2.2, solid_capstyle="butt", zorder=2.2)
            self._line(made(self._wall, *ends), color=edge, linewidth=THIN, zorder=2.2)
        for strokes in drawing.strokes.values():
            for stroke in strokes:
                self._line(at(*stroke), linewidth=1.1, color="0.3", zorder=2.9)
        for name, shaft in drawing.arrows.items():
            hue = drawing.hues.get(name, FORCE)
            self._line(at(*shaft), linewidth=1.5, color=hue, solid_capstyle="butt", zorder=4.3)
            self._area(at(*drawing.heads[name]), facecolor=hue, edgecolor=hue, linewidth=0.5, zorder=4.3)
        if drawing.bushings:
            rubber = {"markerfacecolor": "0.8", "markeredgecolor": "0.3", "markeredgewidth": 1.0}
            self._line(at(*drawing.bushings), marker="o", markersize=11.0, linestyle="none", zorder=3.8, **rubber)

    def _wall(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Strokes on the right of a wall."""
        along = (end - start) / max(float(np.hypot(*(end - start))), 1e-300)
        return self._hatch(start, end, np.array([along[1], -along[0]]))

    def _joints(self) -> None:
        drawing = self.drawing
        for rider, guide in drawing.sliders:
            if guide not in drawing.slots:
                edge = next((self.colours[n] for n, k in drawing.links.items() if rider in k), INK)
                style = {"facecolor": tint(edge, 0.45), "edgecolor": edge, "linewidth": 1.1, "zorder": 3.0}
                self._area(made(self._block, rider, *drawing.guides[guide]), **style)
        still = sorted(set(drawing.anchors) - self._on_fixed_rings())
        if still:
            self._line(made(self._supports, *still), linewidth=1.0, zorder=3.1)
        if drawing.pins:
            ring = {"markerfacecolor": "white", "markeredgecolor": INK, "markeredgewidth": 1.0}
            self._line(at(*drawing.pins), marker="o", markersize=5.0, linestyle="none", zorder=4.0, **ring)
        if drawing.dots:
            self._line(at(*drawing.dots), marker="o", markersize=4.5, linestyle="none", zorder=4.0)
        loose = [k for k in drawing.welds if k not in drawing.anchors]
        if loose:
            self._line(at(*loose), marker="s", markersize=4.5, linestyle="none", zorder=3.9)
        for index, sense in drawing.motors.values():
            self._line(made(partial(self._turning, sense), index), linewidth=1.1, color="0.3", zorder=4.2)

    def _on_fixed_rings(self) -> set[int]:
        """Supports of rings that are hatched themselves."""
        rings = [c.centre for c in self.drawing.circles if c.fixed]
        others = [k for k in self.drawing.pins if k in self.drawing.anchors]
        return set(rings) - set(others)

    def _block(self, centre: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
        """The corners of a slider's block on its guide."""
        half = (last - first) / max(float(np.hypot(*(last - first))), 1e-300) * 11.0 * self.unit
        return self._bar(6.5, centre - half, centre + half)

    def _bar(self, half: float, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The corners of a rectangle about a line."""
        along = end - start
        n = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-300) * half * self.unit
        return np.array([start - n, end - n, end + n, start + n])

    def _supports(self, *places: np.ndarray) -> np.ndarray:
        """Pins' supports on the ground: triangles on hatched lines."""
        feet = self.unit * np.array([[-5.5, -10.0], [0.0, 0.0], [5.5, -10.0]])
        base = self.unit * np.array([[-9.5, -10.0], [9.5, -10.0]])
        strokes = self._hatch(base[0] + self.unit * np.array([2.0, 0.0]), base[1], np.array([0.0, -1.0]), 4.0)
        support = np.concatenate([feet, _GAP, base, _GAP, strokes])
        return np.concatenate([place + support for place in places])

    def _turning(self, sense: int, place: np.ndarray) -> np.ndarray:
        """An arrow round a driven pin."""
        turn = np.radians(np.linspace(20.0, 160.0, 25))[::sense]
        arc = 10.0 * self.unit * np.column_stack([np.cos(turn), np.sin(turn)])
        ahead = arc[-1] - arc[-2]
        ahead = 4.0 * self.unit * ahead / np.hypot(*ahead)
        barbs = [arc[-1] - ahead @ np.array([[c, s], [-s, c]]) for c, s in ((0.87, 0.5), (0.87, -0.5))]
        return place + np.concatenate([arc, _GAP, barbs[:1], arc[-1:], barbs[1:]])
