"""Pictures of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from kempe.analysis import Sparsity
from kempe.view.style import GREY, PALE, SMALL, THIN, TITLE, WIDTH, Picture, colour

#: Up to this many rows each has its name.
NAMED = 80


def pattern(sparsity: Sparsity, *, elimination: bool = False, title: str = "") -> Figure:
    """The nonzeros of a model's linear system and what elimination adds, as modelled or in the order of elimination."""
    nonzero, added, names = sparsity.places(elimination)
    size = len(names)
    named = size <= NAMED
    small = SMALL if size <= 0.8 * NAMED else 0.85 * SMALL
    side = min(max(0.14 * size, 2.2), 8.5) if named else WIDTH - 0.6
    margin = 0.072 * max(map(len, names)) if named else 0.3
    figure = Picture(figsize=(max(side + margin, 2.8) + 0.2, side + margin + 0.85), layout="constrained")
    axes = figure.add_subplot()
    for places, hue, label in ((nonzero, colour(0), "nonzero"), (added, colour(1), "added by elimination")):
        squares = PolyCollection(
            list(_squares(places)), facecolor=hue, edgecolor="none", label=f"{label} ({len(places)})"
        )
        axes.add_collection(squares)
    if named:
        edges = np.arange(size + 1)
        axes.hlines(edges, 0, size, color=PALE, linewidth=0.4, zorder=0)
        axes.vlines(edges, 0, size, color=PALE, linewidth=0.4, zorder=0)
        ticks = edges[:-1] + 0.5
        axes.set_xticks(ticks, names, rotation=90)
        axes.set_yticks(ticks, names)
    if not elimination:  # coordinates and multipliers apart
        axes.hlines(sparsity.n, 0, size, color=GREY, linewidth=THIN)
        axes.vlines(sparsity.n, 0, size, color=GREY, linewidth=THIN)
    axes.set(xlim=(0, size), ylim=(size, 0), aspect="equal")
    axes.xaxis.tick_top()
    axes.tick_params(length=0 if named else 3, width=THIN, color=GREY, labelsize=small)
    for spine in axes.spines.values():
        spine.set(linewidth=THIN, color=GREY)
    below: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.01), "borderaxespad": 0.0}
    axes.legend(frameon=False, fontsize=SMALL, handlelength=1.0, handleheight=1.0, **below)
    figure.suptitle(title or f"{sparsity.model}: {100 * sparsity.density:.3g} % nonzero", fontsize=TITLE)
    return figure


def _squares(places: np.ndarray) -> np.ndarray:
    """Corners of the cells, (cells, 4, 2)."""
    corners = np.array([[0.06, 0.06], [0.94, 0.06], [0.94, 0.94], [0.06, 0.94]])
    return places[:, None, ::-1] + corners
