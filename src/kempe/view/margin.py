"""What stands below a drawing: the time, and how long arrows are."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation, Transform, blended_transform_factory

from kempe.model import Model
from kempe.results import Result
from kempe.view.drawing import Drawing
from kempe.view.labels import unit_of
from kempe.view.style import INK, SMALL, plain
from kempe.view.vectors import HUES, LONGEST, ROUND

#: The first line below the axes and its ticks, and the distance to the next, in points.
_BELOW, _NEXT = 24.0, 11.0


def room(drawing: Drawing, clock: bool) -> float:
    """How much room the margin of a drawing takes, in points."""
    return _NEXT * max(int(clock), sum(scale > 0 for scale in drawing.scales.values()))


class Clock:
    """The time at the left edge below a drawing, with as many digits as tell its times apart."""

    def __init__(self, axes: Axes, result: Result) -> None:
        span = float(np.ptp(result.t)) if len(result) > 1 else abs(float(result.t[0])) if len(result) else 0.0
        self._digits = int(np.clip(2 - np.floor(np.log10(span)), 0, 12)) if span > 0 else 3
        self._unit = unit_of(result, "time")
        self.text: Text = axes.annotate(
            "", (8.0, 0.0), xycoords=("figure points", "axes fraction"), xytext=(0.0, -_BELOW),
            textcoords="offset points", va="center", fontsize=SMALL, color=INK, annotation_clip=False,
        )  # fmt: skip

    def show(self, t: float) -> None:
        """Show a time."""
        number = f"{t:.{self._digits}f}" if self._digits <= 6 and abs(t) < 1e7 else f"{t:.6g}"
        self.text.set_text(plain(f"t = {number} {self._unit}".rstrip()))


def write_scales(axes: Axes, drawing: Drawing, result: Result) -> None:
    """For each kind of arrow one of a round size, at the right below a drawing; for moments how large they get."""
    right = axes.get_xlim()[1]
    for row, (kind, scale) in enumerate((kind, scale) for kind, scale in drawing.scales.items() if scale > 0):
        unit = unit_of(result, kind)
        place = _line(axes, row)
        if kind == "moment" and drawing.turned:
            words = f"¾ turn = {ROUND / scale:.3g} {unit}".rstrip()
            axes.text(right, 0.0, plain(words), transform=place, ha="right", va="center", fontsize=SMALL, color=INK)
            continue
        value = round_below(0.75 * LONGEST * drawing.size / scale)
        left = right - scale * value
        style = {"arrowstyle": "-|>,head_length=0.55,head_width=0.22", "color": HUES[kind], "linewidth": 1.5}
        axes.annotate(
            "", (right, 0.0), (left, 0.0), xycoords=place, textcoords=place, annotation_clip=False,
            arrowprops={**style, "shrinkA": 0.0, "shrinkB": 0.0, "mutation_scale": 11.0},
        )  # fmt: skip
        words = f"{value:g} {unit}" if unit else f"{kind} {value:g}"
        axes.annotate(
            plain(words), (left, 0.0), xycoords=place, xytext=(-4.0, 0.0), textcoords="offset points",
            ha="right", va="center", fontsize=SMALL, color=INK, annotation_clip=False,
        )  # fmt: skip


def write_length(axes: Axes, model: Model) -> None:
    """The unit of length at the end of the lower axis, where it is known."""
    unit = "" if model.units is None else model.units.label("length")
    if unit:
        axes.annotate(
            plain(unit), (1.0, 0.0), xycoords="axes fraction", xytext=(4.0, 0.0), textcoords="offset points",
            va="center", fontsize=SMALL, color="0.35", annotation_clip=False,
        )  # fmt: skip


def _line(axes: Axes, row: int) -> Transform:
    """A line of the margin: along the axes in their own unit, below them in points."""
    figure = axes.figure.get_figure(root=True)
    assert figure is not None
    down = ScaledTranslation(0.0, -(_BELOW + _NEXT * row) / 72.0, figure.dpi_scale_trans)
    return blended_transform_factory(axes.transData, axes.transAxes + down)


def round_below(value: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above a value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * next(step for step in (5.0, 2.0, 1.0) if step * power <= value * (1.0 + 1e-9)))
