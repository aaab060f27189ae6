"""A drawing painted with matplotlib: every shape is made once and moved from frame to frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from kempe.view.drawing import Drawing
from kempe.view.shapes import Shape, link_colours, shapes_of
from kempe.view.style import PAPER, TITLE, WIDTH, Picture, folded, quiet, tint

#: Pitch circles: long and short dashes.
DASHES = (0, (9, 2.5, 1.5, 2.5))


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


class Painter:
    """A drawing on some axes; ``show(frame)`` moves it to a frame, ``artists`` are all that move."""

    def __init__(self, axes: Axes, drawing: Drawing, unit: float, frame: int = 0, faint: bool = False) -> None:
        self.axes, self.drawing, self.unit = axes, drawing, unit
        self.colours = link_colours(drawing)
        self._alpha = 0.4 if faint else 1.0
        start = drawing.points[frame]
        self._moves = [(self._made(s, s.where(start, unit)), s) for s in shapes_of(drawing, unit, frame)]

    @property
    def artists(self) -> list[Any]:
        """Everything that moves."""
        return [artist for artist, _ in self._moves]

    def show(self, frame: int) -> None:
        """Move everything to where it is in a frame."""
        for artist, shape in self._moves:
            where = shape.where(self.drawing.points[frame], self.unit)
            if isinstance(artist, Line2D):
                artist.set_data(*where.T)
            else:
                artist.set_xy(where)

    def _made(self, shape: Shape, where: np.ndarray) -> Line2D | Polygon:
        """A shape as matplotlib has it."""
        edge = tint(shape.edge, shape.strong_edge)
        fill = tint(shape.fill, shape.strong_fill) if shape.fill else "none"
        common: dict[str, Any] = {"alpha": 1.0 if shape.edge == PAPER else self._alpha, "zorder": shape.order}
        if shape.kind == "area":
            look: dict[str, Any] = {
                "edgecolor": edge,
                "facecolor": fill,
                "linewidth": shape.width,
                "joinstyle": "round",
            }
            area = Polygon(where, closed=True, **look, **common)
            self.axes.add_patch(area)
            return area
        look = {"color": edge, "linewidth": shape.width, "solid_capstyle": "butt" if shape.blunt else "round"}
        if shape.dashed:
            look["linestyle"] = DASHES
        if shape.kind == "marks":
            look = {"linestyle": "none", "marker": shape.mark, "markersize": shape.size}
            look |= {"markeredgecolor": edge, "markerfacecolor": fill, "markeredgewidth": shape.width}
        return self.axes.plot(*where.T, snap=False, **look, **common)[0]
