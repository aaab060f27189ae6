"""Motions seen as a whole: orbits of journals, phase portraits, Poincaré maps, and how neighbours part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from kempe.analysis.horizon import Horizon
from kempe.analysis.lyapunov import Lyapunov
from kempe.analysis.sections import PoincareMap, checked_span, poincare, rate_name
from kempe.calling import suggestion
from kempe.elements import ClearanceRevolute, LooseRevolute, LubricatedRevolute
from kempe.errors import ModelError
from kempe.results import Result
from kempe.view.labels import label_of, shown_in, unit_of, with_unit
from kempe.view.stage import Stage
from kempe.view.style import (
    FORCE,
    GREY,
    INK,
    LINE,
    TEXT,
    THIN,
    TITLE,
    Picture,
    colour,
    filled,
    folded,
    legend,
    page,
    plain,
    quiet,
    tint,
)

#: Joints with a journal that has room to move.
JOURNALS = (ClearanceRevolute, LubricatedRevolute, LooseRevolute)
#: Line widths of what is drawn over itself again and again: flight and contact.
FLIGHT, PRESSED = 0.7, 1.1


def plot_orbit(
    result: Result, joint: Any, *, skip: float = 0.0, title: str = "", size: tuple[float, float] | None = None
) -> Figure:
    """The path of a journal's centre within the circle of its play, in the axes of the bearing.

    ``joint`` is a revolute joint with clearance, with a film, or with backlash. The path goes from output point to
    output point, and through the places where the journal meets the bearing and leaves it; where it touches the path is
    drawn heavily. ``skip`` is the time at the start that is left out.
    """
    name = _journal(filled(result), joint)
    t, ends, radius = _path(result, name, skip)
    figure, axes = _square(title or f"{result.provenance.get('model', '')}: orbit of '{name}'", size)
    axes.add_patch(Circle((0.0, 0.0), radius, fill=False, color=GREY, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1))
    pieces = np.stack([ends[:-1], ends[1:]], axis=1)
    apart = result.model.elements[name].modes[0]  # type: ignore[union-attr]
    touching = ~_within(t[:-1], t[1:], result.intervals(name, apart))
    free = "film" if apart == "film" else "flight"
    for where, hue, width, words in ((~touching, colour(0), FLIGHT, free), (touching, FORCE, PRESSED, "contact")):
        if where.any():
            axes.add_collection(
                LineCollection(list(pieces[where]), colors=hue, linewidths=width, label=words, zorder=2)
            )
    axes.plot([], [], color=GREY, linewidth=1.0, linestyle=(0, (4, 3)), label="play")
    reach = 1.08 * max(radius, float(np.abs(ends).max()))
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    axes.set_box_aspect(1.0)
    _label(axes, *(with_unit(f"{name}.{axis}", unit_of(result, "length")) for axis in ("x", "y")))
    legend(axes)
    return figure


def plot_phase(
    result: Result,
    names: Sequence[str] | str,
    *,
    skip: float = 0.0,
    period: float | None = None,
    degrees: bool = False,
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Figure:
    """The phase portrait of a motion: a coordinate and its rate, or any two quantities.

    ``skip`` is the time at the start that is left out; with ``period`` the points of the Poincaré map are shown too.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    if len(wanted) == 1:
        wanted += [rate_name(filled(result), wanted[0])]
    if len(wanted) != 2:
        raise ModelError("a phase portrait has two quantities: a coordinate and its rate, or any two")
    rows = _behind(filled(result), skip)
    x, y = (shown_in(result, name, result.array(name)[rows], degrees) for name in wanted)
    figure, axes = _square(title or f"{result.provenance.get('model', '')}: phase portrait", size)
    axes.plot(x, y, color=colour(0), linewidth=FLIGHT, zorder=2)
    if period is not None:
        points = poincare(result, wanted, period, skip=skip)
        px, py = (shown_in(result, name, points[name], degrees) for name in wanted)
        axes.plot(px, py, "o", color=FORCE, markersize=4, zorder=3, label="once a period")
        legend(axes)
    _label(axes, *(label_of(result, name, degrees) for name in wanted))
    return figure


def plot_poincare(
    points: PoincareMap, *, degrees: bool = False, title: str = "", size: tuple[float, float] | None = None
) -> Figure:
    """The points of a Poincaré map in the plane of its first two quantities."""
    result, (first, second) = points.result, list(points)[:2]
    if not len(points):
        raise ModelError("the map has no points: nothing is left behind the start-up")
    x, y = (shown_in(result, name, points[name], degrees) for name in (first, second))
    heading = f"{result.provenance.get('model', '')}: {len(points)} points, one every {points.period:.5g}"
    figure, axes = _square(title or heading, size)
    axes.plot(x, y, "o", color=colour(0), markersize=4.0 if len(points) < 500 else 1.5, markeredgewidth=0, zorder=2)
    for values, look in ((x, axes.set_xlim), (y, axes.set_ylim)):
        low, high = _room(values)
        look(low, high)
    _label(axes, *(label_of(result, name, degrees) for name in (first, second)))
    axes.ticklabel_format(useOffset=False)  # (points lie close together, far from zero)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    return figure


def plot_exponent(found: Lyapunov, *, title: str = "", size: tuple[float, float] | None = None) -> Figure:
    """The Lyapunov exponent per period, as it settles with the number of periods, and the growth in each period."""
    count = np.arange(1, len(found.growth) + 1)
    if not np.isfinite(found.growth).all():
        raise ModelError("neighbouring motions fall together: there is no exponent to show")
    figure = Picture(figsize=page(1.2, False, size), layout="constrained")
    axes = figure.subplots()
    axes.plot(count, found.growth, ".", color=tint(colour(0), 0.45), markersize=3, label="each period")
    axes.plot(count, np.cumsum(found.growth) / count, color=colour(0), linewidth=LINE, label="mean so far")
    axes.axhline(0.0, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    low, high = found.per_period - found.per_period_error, found.per_period + found.per_period_error
    if np.isfinite(low):
        axes.axhspan(low, high, color=tint(FORCE, 0.25), linewidth=0, zorder=0.5, label="mean with its error")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _finish(figure, axes, title or f"{found.model}: {found.verdict}", "periods", "exponent per period")
    legend(axes)
    return figure


def plot_horizon(found: Horizon, *, title: str = "", size: tuple[float, float] | None = None) -> Figure:
    """How far runs with different tolerances are apart over time, each from the next, and until when they agree."""
    result = found.result
    figure = Picture(figsize=page(1.2, False, size), layout="constrained")
    axes = figure.subplots()
    t, last = found.t_points, len(found.distances) - 1
    for k, apart in enumerate(found.distances):
        hue = colour(0) if k == last else tint(colour(0), 0.5)
        words = f"tolerance {found.tolerances[k]:g}"
        axes.semilogy(t[apart > 0], apart[apart > 0], color=hue, linewidth=THIN if k < last else LINE, label=words)
    axes.axhline(found.agreement, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), label="agreement")
    axes.set_xlim(float(t[0]), float(t[-1]))
    axes.set_ylim(bottom=max(axes.get_ylim()[0], 0.1 * found.tolerances[-1]))
    if np.isfinite(found.t):
        end = found.again if np.isfinite(found.again) else float(t[-1])
        axes.axvspan(found.t, end, color=tint(FORCE, 0.12), linewidth=0, zorder=0.5, label="not known")
    words = f"{result.provenance.get('model', '')}: how far runs with smaller tolerances differ"
    _finish(figure, axes, title or words, with_unit("t", result.unit("t")), "share of the motion")
    legend(axes)
    return figure


def _journal(result: Result, joint: Any) -> str:
    """The name of a joint with clearance."""
    name = str(getattr(joint, "name", joint))
    elements = {} if result.model is None else result.model.elements
    loose = [n for n, element in elements.items() if n in result.first_modes and isinstance(element, JOURNALS)]
    if name in loose:
        return name
    if not loose:
        raise ModelError("there is no revolute joint with play in this result, so no journal has an orbit")
    listed = f"; there is {', '.join(repr(n) for n in loose)}"
    raise ModelError(f"'{name}' is no revolute joint with play{suggestion(name, loose) or listed}")


def _path(result: Result, name: str, skip: Any) -> tuple[np.ndarray, np.ndarray, float]:
    """Where a journal's centre is in its bearing at output times, and where it met and left it; and its play."""
    assert result.model is not None
    rows = _behind(result, skip)
    first, last = result.t[rows[0]], result.t[-1]
    met = [e for e in result.events if getattr(e, "element", "") == name and first <= e.t <= last and len(e.q)]
    times = np.concatenate([result.t[rows], [e.t for e in met]])
    order = np.argsort(times, kind="stable")
    poses = np.vstack([result.q[rows], *(e.q for e in met)])[order]
    joint = result.model.elements[name].fields
    stage = Stage(result.model, poses, result.provenance.get("parameters"))
    apart, u = stage.where(joint["j"]) - stage.where(joint["i"]), stage.axis(joint["i"])  # type: ignore[arg-type]
    place = np.column_stack([(apart * u).sum(axis=1), u[:, 0] * apart[:, 1] - u[:, 1] * apart[:, 0]])
    wide = [joint["clearance"]] if "clearance" in joint else [joint["first"], joint["second"]]
    numbers = stage.values(*(field.value for field in wide))  # type: ignore[attr-defined]
    return times[order], place, float(numbers[0] - numbers[1:].sum())


def _behind(result: Result, skip: Any) -> np.ndarray:
    """Which points lie behind the start-up."""
    _, begin = checked_span(result.t, float(np.ptp(result.t)), skip) if len(result) > 1 else (0.0, -np.inf)
    return np.flatnonzero(result.t >= begin - 1e-12 * abs(begin))


def _within(begin: np.ndarray, end: np.ndarray, spans: Sequence[tuple[float, float]]) -> np.ndarray:
    """Whether the middle of each short time lies within one of some spans."""
    t, found = 0.5 * (begin + end), np.zeros(len(begin), dtype=bool)
    for first, last in spans:
        found[np.searchsorted(t, first) : np.searchsorted(t, last, side="right")] = True
    return found


def _square(title: str, size: Any) -> tuple[Figure, Axes]:
    figure = Picture(figsize=page(1, True, size), layout="constrained")
    figure.suptitle(folded(title, figure.get_figwidth() - 0.5, TITLE), fontsize=TITLE)
    return figure, figure.subplots()


def _label(axes: Axes, x: str, y: str) -> None:
    quiet(axes)
    for axis, words in ((axes.xaxis, x), (axes.yaxis, y)):
        axis.set_label_text(plain(words), fontsize=TEXT)
        if isinstance(axis.get_major_formatter(), ScalarFormatter):
            axis.get_major_formatter().set_powerlimits((-2, 4))  # type: ignore[attr-defined]


def _finish(figure: Figure, axes: Axes, title: str, x: str, y: str) -> None:
    _label(axes, x, y)
    figure.suptitle(folded(title, figure.get_figwidth() - 0.5, TITLE), fontsize=TITLE)


def _room(values: np.ndarray) -> tuple[float, float]:
    """Limits of an axis that show what varies by rounding alone as one point."""
    low, high = float(values.min()), float(values.max())
    least = 1e-6 * max(abs(low), abs(high)) or 1.0
    margin = max(0.06 * (high - low), least)
    return low - margin, high + margin
