"""Pictures of an optimum: the way to it, and what changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kempe.design.optimum import Optimum
from kempe.errors import ModelError
from kempe.view.style import (
    COLOURS,
    GREY,
    INK,
    LINE,
    SMALL,
    TEXT,
    THIN,
    TITLE,
    Picture,
    colour,
    folded,
    legend,
    page,
    plain,
    quiet,
    tint,
)

#: Violations below this are drawn as this: met.
MET = 1e-9
#: Bars end there, whatever the value.
LONGEST = 4.0


def plot_history(optimum: Optimum, *, title: str = "", size: tuple[float, float] | None = None) -> Figure:
    """The objective, the largest violation and the parameters over the iterations.

    Parameters are shown as shares of their bounds, or as multiples of where they began.
    """
    if not optimum.history:
        raise ModelError("this search took no step, so there is no history to show")
    violations = np.array([it.violation for it in optimum.history])
    panels = 3 if violations.max() > 0 else 2
    figure = Picture(figsize=page(panels, False, size), layout="constrained")
    axes = list(figure.subplots(panels, 1, sharex=True, squeeze=False)[:, 0])
    numbers = [it.number for it in optimum.history]
    _objective(axes[0], optimum, numbers)
    if panels == 3:
        axes[1].semilogy(numbers, np.maximum(violations, MET), "o-", color=colour(1), linewidth=LINE, markersize=3)
        axes[1].set_ylabel("largest violation", fontsize=TEXT)
    _parameters(axes[-1], optimum, numbers)
    for each in axes:
        quiet(each)
        each.margins(x=0.02)
        each.xaxis.get_major_locator().set_params(integer=True)
        _phases(each, optimum)
    axes[-1].set_xlabel("iteration", fontsize=TEXT)
    figure.align_ylabels(axes)
    heading = title or f"{optimum.name or optimum.minimise}: {optimum.status} by {optimum.method}"
    figure.suptitle(folded(heading, figure.get_figwidth(), TITLE), fontsize=TITLE)
    return figure


def _objective(axes: Axes, optimum: Optimum, numbers: list[int]) -> None:
    values = np.array([it.objective for it in optimum.history])
    axes.plot(numbers, values, "o-", color=colour(0), linewidth=LINE, markersize=3)
    if (values > 0).all() and values.max() > 50 * values.min():
        axes.set_yscale("log")
    axes.set_ylabel(folded(optimum.minimise, 1.4, TEXT), fontsize=TEXT)


def _parameters(axes: Axes, optimum: Optimum, numbers: list[int]) -> None:
    bounded = all(np.isfinite(optimum.bounds[name]).all() for name in optimum.parameters)
    for k, name in enumerate(optimum.parameters):
        values = np.array([it.parameters[name] for it in optimum.history])
        low, high = optimum.bounds[name]
        first = optimum.before[name]
        shown = (values - low) / (high - low or 1.0) if bounded else values / (first or 1.0)
        style = "-" if k < len(COLOURS) else "--"
        axes.plot(numbers, shown, style, color=colour(k), linewidth=LINE, label=plain(name))
    if bounded:
        axes.set_ylim(-0.04, 1.04)
        axes.set_yticks([0, 0.5, 1], ["lower\nbound", "", "upper\nbound"])
    axes.set_ylabel("parameters" if bounded else "parameters / first", fontsize=TEXT)
    if len(optimum.parameters) <= 2 * len(COLOURS):
        legend(axes)


def _phases(axes: Axes, optimum: Optimum) -> None:
    """A line where the requirements were met first and the objective came into play."""
    phases = [it.phase for it in optimum.history]
    turns = [k for k in range(1, len(phases)) if phases[k] != phases[k - 1]]
    for k in turns:
        axes.axvline(k - 0.5, color=GREY, linewidth=THIN, linestyle="--")


@dataclass(frozen=True)
class _Bars:
    """One line of bars: two values in a unit, what is said of the second, and where the limit is."""

    name: str
    before: float
    after: float
    said: str
    limit: float | None = None

    @staticmethod
    def of(name: str, before: float, after: float, unit: float, limit: float | None = None) -> _Bars:
        """Values in a unit, cut where one is out of all proportion."""
        size = abs(unit) or max(abs(before), abs(after)) or 1.0
        old, new = (float(np.clip(value / size, -LONGEST, LONGEST)) for value in (before, after))
        return _Bars(name, old, new, f"{after:.5g}", None if limit is None else limit / size)


def plot_changes(optimum: Optimum, *, title: str = "", size: tuple[float, float] | None = None) -> Figure:
    """Bars of the objective, the parameters and what is required, before and after."""
    rows = _bars(optimum)
    figure = Picture(figsize=page(0.3 + 0.24 * len(rows), False, size), layout="constrained")
    axes = figure.subplots()
    places = np.arange(len(rows))[::-1]
    axes.barh(places + 0.2, [row.before for row in rows], 0.36, color=tint(colour(0), 0.4), label="before")
    axes.barh(places - 0.2, [row.after for row in rows], 0.36, color=colour(0), label="after")
    axes.set_yticks(places, [folded(row.name, 2.4) for row in rows], fontsize=SMALL)
    for place, row in zip(places, rows, strict=True):
        at = (max(row.after, 0.0), place - 0.2)
        axes.annotate(row.said, at, (4, 0), textcoords="offset points", va="center", fontsize=SMALL)
        if row.limit is not None:
            axes.plot([row.limit] * 2, [place - 0.45, place + 0.45], color=INK, linewidth=LINE)
    quiet(axes)
    axes.margins(x=0.12, y=0.02)
    axes.axvline(0.0, color=GREY, linewidth=THIN)
    axes.set_xlabel("as a multiple of the value before; of the limit, for requirements", fontsize=TEXT)
    legend(axes, below=True)
    heading = title or f"{optimum.name or optimum.minimise}: before and after"
    figure.suptitle(folded(heading, figure.get_figwidth(), TITLE), fontsize=TITLE)
    return figure


def _bars(optimum: Optimum) -> list[_Bars]:
    old = optimum.values_before[optimum.minimise]
    rows = [_Bars.of(optimum.minimise, old, optimum.objective, old)]
    rows += [_Bars.of(name, optimum.before[name], p, optimum.before[name]) for name, p in optimum.parameters.items()]
    rows += [_Bars.of(d.words, d.before, d.after, d.limit, d.limit) for d in optimum.demands]
    return rows
