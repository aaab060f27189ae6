"""The runs of many designs in one plot, each in the colour of its parameter."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from kempe.errors import ModelError
from kempe.simulation.batches import Runs
from kempe.view.labels import label_of, shown_in
from kempe.view.style import INK, LINE, SMALL, TEXT, THIN, TITLE, Picture, colour, folded, page, quiet

#: So many runs have lines as thick as those of one result.
FEW = 25


def plot_family(
    runs: Runs,
    names: Sequence[str] | str,
    *,
    x: str | None,
    by: str | None,
    events: bool,
    degrees: bool,
    title: str,
    size: tuple[float, float] | None,
) -> Figure:
    """Each quantity on axes of its own, a line per design; see :func:`kempe.view.plot`."""
    wanted = list(dict.fromkeys([names] if isinstance(names, str) else names))
    if not wanted:
        raise ModelError(f"plot: name at least one quantity; there are {', '.join(runs.values)}")
    over = None if x in (None, "t") else x
    for name in [*wanted, *([over] if over else [])]:
        _check(runs, name)
    family = _Family(runs, over, _parameter(runs, by), degrees)
    figure = Picture(figsize=page(len(wanted), False, size), layout="constrained")
    panels = list(figure.subplots(len(wanted), 1, sharex=True, squeeze=False)[:, 0])
    for axes, name in zip(panels, wanted, strict=True):
        family.draw(axes, name, events)
        words = label_of(runs, name, degrees)
        axes.set_ylabel(folded(words, figure.get_figheight() / len(wanted) - 0.3, TEXT), fontsize=TEXT)
    figure.align_ylabels(panels)
    panels[-1].set_xlabel(
        folded(label_of(runs, over or "t", degrees), figure.get_figwidth() - 2.0, TEXT), fontsize=TEXT
    )
    if family.parameter is not None:
        bar = figure.colorbar(ScalarMappable(family.norm, family.map), ax=panels, pad=0.02, aspect=20 * len(wanted))
        bar.set_label(folded(family.parameter, figure.get_figheight() - 0.6, TEXT), fontsize=TEXT)
        bar.ax.tick_params(labelsize=SMALL, width=THIN, length=3)
        bar.outline.set_linewidth(THIN)  # type: ignore[operator]
    figure.suptitle(folded(title or _heading(runs), figure.get_figwidth(), TITLE), fontsize=TITLE)
    return figure


def _check(runs: Runs, name: str) -> None:
    """A recorded history in which at least one design got somewhere."""
    if name not in runs.values:
        runs[name]  # says what there is instead
        raise ModelError(f"plot: '{name}' is a parameter, which has no history; colour the runs with by='{name}'")
    if not np.isfinite(runs.values[name]).any():
        reason = next(iter(runs.reasons.values()), "no design was run")
        raise ModelError(f"plot: none of these designs ran, so there is nothing to show ({reason})")


def _parameter(runs: Runs, by: str | None) -> str | None:
    """The parameter that gives the colour: the named one, or the first that varies."""
    if by is None:
        return next((name for name, values in runs.designs.items() if np.ptp(values) > 0), None)
    if by not in runs.designs:
        near = difflib.get_close_matches(str(by), list(runs.designs), n=1)
        hint = f"; did you mean '{near[0]}'?" if near else f"; there is {', '.join(map(repr, runs.designs))}"
        raise ModelError(f"plot: there is no parameter '{by}' in these runs{hint}")
    return by


def _heading(runs: Runs) -> str:
    missing = len(runs) - int(runs.ok.sum())
    return f"{len(runs)} designs" + (f", {missing} not run to the end" if missing else "")


class _Family:
    """The lines of a family: where they are, and their colours."""

    def __init__(self, runs: Runs, x: str | None, parameter: str | None, degrees: bool) -> None:
        self.runs, self.x, self.parameter, self.degrees = runs, x, parameter, degrees
        self.shade = np.zeros(len(runs)) if parameter is None else np.asarray(runs.designs[parameter], dtype=float)
        low, high = float(self.shade.min()), float(self.shade.max())
        self.norm = Normalize(low, high if high > low else low + max(abs(low), 1.0))
        self.map: Colormap = (
            _legible() if parameter is not None else LinearSegmentedColormap.from_list("", [colour(0)] * 2)
        )

    def _values(self, name: str) -> np.ndarray:
        return shown_in(self.runs, name, self.runs.values[name], self.degrees)

    def draw(self, axes: Axes, name: str, events: bool) -> None:
        """One quantity of all designs; a design that stopped ends where it stopped."""
        across = np.broadcast_to(self.runs.t, (len(self.runs), len(self.runs.t)))
        paths = np.stack([across if self.x is None else self._values(self.x), self._values(name)], axis=-1)
        there = np.isfinite(paths).all(axis=-1)
        kept = [k for k in np.argsort(self.shade, kind="stable") if there[k].any()]
        lines = [paths[k][there[k]] for k in kept]
        style: dict[str, Any] = {"cmap": self.map, "norm": self.norm, "linewidths": LINE if len(lines) <= FEW else THIN}
        axes.add_collection(LineCollection(lines, array=self.shade[kept], **style))
        for k, line in zip(kept, lines, strict=True):
            if len(line) == 1:
                axes.plot(*line.T, "o", color=self.map(self.norm(self.shade[k])), markersize=4)
            if events and self.runs.events[k]:
                times = [event.t for event in self.runs.events[k]]
                at = [np.interp(times, self.runs.t[there[k]], line[:, i]) for i in (0, 1)]
                axes.plot(*at, "x", color=INK, markersize=4, markeredgewidth=0.9, zorder=5)
        axes.autoscale_view()
        axes.margins(x=0.01)
        quiet(axes)


def _legible() -> Colormap:
    """Viridis without its yellow end, which cannot be seen on white."""
    return LinearSegmentedColormap.from_list("legible", colormaps["viridis"](np.linspace(0.0, 0.9, 64)))
