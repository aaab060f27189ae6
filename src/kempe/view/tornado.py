"""Tornado plots: which design parameters matter most to a functional, and which way."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from kempe.design.account import Effect, Sensitivity
from kempe.elements.numbers import plain_number
from kempe.errors import ModelError
from kempe.view.style import (
    GREY,
    INK,
    SMALL,
    TEXT,
    THIN,
    TITLE,
    WIDTH,
    Picture,
    colour,
    folded,
    legend,
    page,
    plain,
    quiet,
)

#: Heights in inches: of a bar with its room, of a line of its label, of what stands around the bars.
ROW, LABEL, AROUND = 0.24, 0.125, 0.85


def tornado(
    sensitivity: Sensitivity,
    functionals: Any = None,
    *,
    change: float = 0.1,
    most: int = 15,
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Figure:
    """What design parameters do to functionals, the strongest on top.

    Bars show how a functional changes, to first order, when one parameter is larger or smaller by the share ``change``
    of its size (of the width of its bounds, where it is zero). Each functional has axes of its own, in percent of it
    where it is not zero; ``most`` parameters of each are shown.
    """
    share = plain_number(change, "tornado: change")
    if not share > 0:
        raise ModelError(f"tornado: change is a share above zero (0.1 is ten percent), not {change!r}")
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ModelError(f"tornado: most is how many parameters are shown, at least one, not {most!r}")
    names = sensitivity.chosen(functionals)
    shown = {name: [e for e in sensitivity.sensitivity_table(name) if e.rank][:most] for name in names}
    if not any(shown.values()):
        raise ModelError("tornado: all parameters are zero and have no bounds: nobody knows what a large change is")
    heights = [_height(effects) for effects in shown.values()]
    whole = sum(heights) + AROUND * len(names) + 0.3
    figure = Picture(figsize=page(0, False, size) if size else (WIDTH, whole), layout="constrained")
    panels = figure.subplots(len(names), 1, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (name, effects) in zip(panels, shown.items(), strict=True):
        left_out = len(sensitivity.parameters) - len(effects)
        _bars(axes, f"{name} = {sensitivity.values[name]:.6g}", effects, share, left_out)
    patches = [Patch(color=colour(0)), Patch(color=colour(1))]
    legend(panels[0], patches, [f"parameter {sign}{100 * share:g} %" for sign in ("+", "\u2212")])
    if title:
        figure.suptitle(folded(title, figure.get_figwidth(), TITLE), fontsize=TITLE)
    return figure


def _label(effect: Effect) -> str:
    return folded(f"{effect.parameter} = {effect.value:.4g}", 2.1)


def _height(effects: list[Effect]) -> float:
    """How high axes must be for so many bars with such labels."""
    lines = max((_label(effect).count("\n") + 1 for effect in effects), default=1)
    return max(ROW, LABEL * lines + 0.08) * max(2, len(effects))


def _bars(axes: Axes, heading: str, effects: list[Effect], share: float, left_out: int) -> None:
    """The bars of one functional."""
    relative = all(math.isfinite(effect.relative) for effect in effects)
    by = [100.0 * share * (effect.relative if relative else effect.percent) for effect in effects]
    places = list(range(len(effects)))
    axes.barh(places, by, height=0.68, color=colour(0))
    axes.barh(places, [-length for length in by], height=0.68, color=colour(1))
    axes.axvline(0.0, color=INK, linewidth=THIN)
    axes.set_yticks(places, [_label(effect) for effect in effects])
    axes.set_ylim(len(effects) - 0.4, -0.6)
    reach = max((abs(length) for length in by), default=0.0) or 1.0
    axes.set_xlim(-1.08 * reach, 1.08 * reach)
    axes.xaxis.set_major_locator(MaxNLocator(9, symmetric=True))
    quiet(axes)
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_title(folded(heading, 4.4, TEXT), fontsize=TEXT, loc="left")
    words = "change, in %" if relative else "change"
    more = f"; {left_out} more parameter{'s' if left_out > 1 else ''} not shown" if left_out > 0 else ""
    axes.set_xlabel(plain(words + more), fontsize=SMALL, color=INK if not more else GREY)
