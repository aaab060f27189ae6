"""Pictures with matplotlib, without a screen: a mechanism with names, time plots, paths, animations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kempe.analysis import Pose
from kempe.analysis.assembly import pose_array
from kempe.analysis.posing import Posed
from kempe.model import Model
from kempe.results import Result
from kempe.view.geometry import Drawing, drawing_of

#: Colours that stay apart for most colour-blind readers (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def _axes(drawing: Drawing, title: str) -> tuple[Figure, Axes]:
    low, high = drawing.box
    width, height = high - low
    across = 7.0
    figure = Figure(figsize=(across, min(max(across * height / width, 2.5), 9.0)), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", title=title)
    axes.grid(True, linewidth=0.3, alpha=0.5)
    axes.tick_params(labelsize=8)
    return figure, axes


def _paint(axes: Axes, drawing: Drawing, frame: int, names: bool) -> list[Any]:
    """Draw one frame; returns the artists, so that an animation can remove them."""
    points = drawing.points[frame]
    artists: list[Any] = []
    for first, last in drawing.guides:
        artists += axes.plot(*points[[first, last]].T, color="0.6", linewidth=5, solid_capstyle="butt", zorder=1)
    for k, (name, indices) in enumerate(drawing.links.items()):
        colour = COLOURS[k % len(COLOURS)]
        outline = _around(points[indices], indices)
        corners = points[outline]
        if len(outline) > 2:
            artists += axes.fill(*corners.T, facecolor=colour, alpha=0.18, edgecolor=colour, linewidth=2, zorder=2)
        else:
            artists += axes.plot(*corners.T, color=colour, linewidth=3.5, solid_capstyle="round", zorder=2)
        if names:
            centre = corners.mean(axis=0)
            artists.append(
                axes.annotate(
                    name, centre, xytext=(4, 6), textcoords="offset points", fontsize=8, color=colour, zorder=6
                )
            )
    for name, indices in drawing.curves.items():
        artists += axes.plot(*points[indices].T, color="0.25", linewidth=1.5, label=name, zorder=2)
    if drawing.pins:
        artists += axes.plot(
            *points[drawing.pins].T, "o", color="white", markeredgecolor="0.15", markersize=6, zorder=4
        )
    for rider, guide in drawing.sliders:
        angle = np.degrees(np.arctan2(*(points[drawing.guides[guide][1]] - points[drawing.guides[guide][0]])[::-1]))
        artists += axes.plot(
            *points[[rider]].T, marker=(4, 0, angle + 45), color="0.35", markersize=13, zorder=3, linestyle="none"
        )
    if drawing.anchors:
        below = points[sorted(set(drawing.anchors))]
        artists += axes.plot(*below.T, "^", color="0.15", markersize=9, zorder=3, linestyle="none")
    return artists


def _around(corners: np.ndarray, indices: Sequence[int]) -> list[int]:
    """Corners in the order of their angle about the middle, so that a polygon does not cross itself."""
    if len(indices) < 3:
        return list(indices)
    from scipy.spatial import ConvexHull, QhullError

    try:
        return [indices[k] for k in ConvexHull(corners).vertices]
    except QhullError:  # all on one line
        spread = corners - corners.mean(axis=0)
        along = spread @ np.linalg.svd(spread)[2][0]
        order = np.argsort(along)
        return [indices[order[0]], indices[order[-1]]]


def draw(model: Model, pose: Pose | None = None, *, names: bool = True) -> Figure:
    """A mechanism in one pose (assembled from the sketch by default), with the names of its parts."""
    from kempe.analysis import assemble

    pose = assemble(model) if pose is None else pose
    drawing = drawing_of(model, pose_array(Posed(model), pose))
    figure, axes = _axes(drawing, model.name)
    _paint(axes, drawing, 0, names)
    return figure


def plot(result: Result, names: Sequence[str] | str, *, title: str = "") -> Figure:
    """Time histories, quantities of one kind (x, v, angle ...) sharing an axis of their own."""
    wanted = [names] if isinstance(names, str) else list(names)
    kinds: dict[str, list[str]] = {}
    for name in wanted:
        result.array(name)  # an unknown name is an error before anything is drawn
        kinds.setdefault(name.rsplit(".", 1)[-1], []).append(name)
    figure = Figure(figsize=(7.0, 1.2 + 1.9 * len(kinds)), layout="constrained")
    panels = figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (kind, members) in zip(panels, kinds.items(), strict=True):
        for k, name in enumerate(members):
            axes.plot(result.t, result.array(name), label=name, color=COLOURS[k % len(COLOURS)], linewidth=1.5)
        for event in result.events:
            axes.axvline(event.t, color="0.5", linestyle=":", linewidth=1)
        axes.set_ylabel(members[0] if len(members) == 1 else kind)
        axes.grid(True, linewidth=0.3, alpha=0.6)
        if len(members) > 1:
            axes.legend(frameon=False, fontsize=8)
    panels[-1].set_xlabel("t")
    figure.suptitle(title or result.provenance.get("model", ""), fontsize=11)
    return figure


def animate(
    model: Model, result: Result, path: str | Path, *, trace: Sequence[str] = (), frames: int = 90, seconds: float = 3.0
) -> Path:
    """An animated GIF of a motion; ``trace`` names points or bodies whose paths are drawn."""
    chosen = np.unique(np.linspace(0, len(result) - 1, min(frames, len(result))).astype(int))
    parameters = result.provenance.get("parameters")
    drawing = drawing_of(model, result.q[chosen], parameters)
    figure, axes = _axes(drawing, model.name)
    for k, name in enumerate(trace):
        axes.plot(
            result.array(f"{name}.x"),
            result.array(f"{name}.y"),
            color=COLOURS[k % len(COLOURS)],
            linewidth=0.9,
            alpha=0.7,
        )
    shown: list[Any] = []

    def show(frame: int) -> list[Any]:
        while shown:
            shown.pop().remove()
        shown.extend(_paint(axes, drawing, frame, names=False))
        return shown

    target = Path(path)
    animation = FuncAnimation(figure, show, frames=len(chosen), init_func=lambda: [])
    animation.save(target, writer=PillowWriter(fps=max(1, round(len(chosen) / seconds))), dpi=80)
    return target


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure as a picture."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=130)
    return target
