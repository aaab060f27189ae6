"""How pictures look: colours, widths, text sizes, and writing them whole or not at all."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from kempe.disk import as_path, write_whole
from kempe.errors import ModelError
from kempe.results import Result

#: Colours that stay apart for most colour-blind readers (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
INK, GREY, PALE = "0.15", "0.55", "0.85"
FORCE, HASTE = "#A3003A", "#5B2A86"  # of forces and accelerations: unlike any link
TITLE, TEXT, SMALL = 10.0, 8.5, 7.5
LINE, THIN = 1.4, 0.7
WIDTH = 6.8  # of a picture, in inches


def tint(colour: str, share: float = 0.3) -> str:
    """A colour thinned with white."""
    return to_hex(tuple(1.0 - share * (1.0 - c) for c in to_rgb(colour)))  # type: ignore[arg-type]


def shade(colour: str) -> str:
    """A colour dark enough for text."""
    return to_hex(tuple(0.78 * c for c in to_rgb(colour)))  # type: ignore[arg-type]


def colour(k: int) -> str:
    """The k-th colour, over and over."""
    return COLOURS[k % len(COLOURS)]


def quiet(axes: Axes, grid: bool = True) -> None:
    """Thin axes, small ticks."""
    axes.tick_params(labelsize=SMALL, width=THIN, length=3, color=GREY)
    for axis in (axes.xaxis, axes.yaxis):
        axis.get_offset_text().set_fontsize(SMALL)
        formatter = axis.get_major_formatter()
        if isinstance(formatter, ScalarFormatter):
            formatter.set_useMathText(True)
    for side, spine in axes.spines.items():
        spine.set(linewidth=THIN, color=GREY, visible=side in ("left", "bottom"))
    if grid:
        axes.grid(True, linewidth=0.4, color=PALE)
        axes.set_axisbelow(True)


def legend(axes: Axes, handles: Sequence[Any] | None = None, words: Sequence[str] = (), below: bool = False) -> None:
    """What is what, beside the axes so that nothing is covered, or below where a second scale is beside them."""
    if handles is None:
        found = dict(zip(*axes.get_legend_handles_labels()[::-1], strict=True))  # each label once
        handles, words = list(found.values()), list(found)
    else:
        words = [folded(word, 1.8) for word in words]
    style: dict[str, Any] = {"frameon": False, "fontsize": SMALL, "handlelength": 1.5}
    figure = axes.figure.get_figure(root=True)
    if below and figure is not None:
        columns = max(1, min(len(words), int(figure.get_figwidth() / 2.2)))
        figure.legend(handles, words, loc="outside lower center", ncols=columns, **style)
    else:
        axes.legend(handles, words, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0, **style)


def plain(text: str) -> str:
    """Text as it stands: dollars begin no formula, and an underscore in front hides nothing from a legend."""
    return ("\u2009" if text.startswith("_") else "") + text.replace("$", r"\$")


def folded(text: str, inches: float, size: float = SMALL) -> str:
    """Plain text on about three lines of some length; what is longer keeps its two ends, which tell it apart."""
    letters = max(8, int(72.0 * inches / (0.62 * size)))
    half = (3 * letters - 4) // 2
    short = text if len(text) <= 3 * letters else f"{text[:half].rstrip()} … {text[-half:].lstrip()}"
    return plain("\n".join(textwrap.wrap(short, letters)) or short)


def page(panels: float, square: bool, size: Any) -> tuple[float, float]:
    """Width and height of a figure with some panels above each other."""
    if size is None:
        return (0.75 * WIDTH, 0.65 * WIDTH) if square else (WIDTH, 0.9 + 1.7 * panels)
    try:
        width, height = (float(side) for side in size)
    except (TypeError, ValueError):
        width = height = float("nan")
    if not (1.0 <= width <= 100.0 and 1.0 <= height <= 100.0):
        raise ModelError(f"size is width and height in inches, from 1 to 100 each, not {size!r}")
    return width, height


def steady(axes: Axes, histories: Sequence[np.ndarray], size: float) -> None:
    """Show what varies by rounding alone as the constant it is; ``size`` is how large such quantities are elsewhere."""
    values = np.concatenate(histories)
    values = values[np.isfinite(values)]  # a quantity of the user's may divide by zero here and there
    if not len(values):
        raise ModelError("plot: a quantity has no finite value, so there is nothing to show")
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high), size)
    if high - low < 1e-10 * size:
        middle = 0.5 * (low + high)
        axes.set_ylim(middle - 0.05 * size, middle + 0.05 * size)


def filled(result: Result) -> Result:
    """A result with at least one time in it, or an error."""
    if len(result) == 0:
        reason = f" ({result.message})" if result.message else ""
        raise ModelError(f"the result is empty: there is nothing to show{reason}")
    return result


def events(result: Result) -> list[Any]:
    """The events whose time is known (those of a stored result are only messages)."""
    return [event for event in result.events if hasattr(event, "t")]


class Picture(Figure):
    """A figure that a notebook shows without any set-up."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()


def save(figure: Figure, path: str | Path, *, dpi: float = 160) -> Path:
    """Write a figure as a picture; the suffix says which kind (png, pdf, svg, ...)."""
    target = as_path(path)
    known = figure.canvas.get_supported_filetypes()
    if target.suffix[1:].lower() not in known:
        raise ModelError(f"cannot write '{target.name}': a picture's name must end in one of .{', .'.join(known)}")
    image = io.BytesIO()  # in memory first: not every writer survives a full disk
    figure.savefig(image, dpi=dpi, format=target.suffix[1:].lower())
    return write_whole(target, image.getvalue())
