"""Quantities of results over time, or over each other: of one result, of several side by side, of a whole family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kempe.elements.kinds import ANGULAR
from kempe.elements.pressing import Pressing
from kempe.errors import ModelError
from kempe.results import Result
from kempe.results.energy import PARTS
from kempe.simulation.batches import Runs
from kempe.view.family import plot_family
from kempe.view.labels import axis_label, label_of, shown_in
from kempe.view.sticking import mark_impulses, shade
from kempe.view.style import (
    GREY,
    INK,
    LINE,
    SMALL,
    TEXT,
    TITLE,
    Picture,
    colour,
    events,
    filled,
    folded,
    legend,
    page,
    plain,
    quiet,
    steady,
)

#: So many events are named in a plot; more are only marked.
NAMED = 12
#: Rows of their names above the axes.
ROWS = 3


def plot(
    results: Result | Runs | Sequence[Result],
    names: Sequence[str] | str,
    *,
    x: str | None = None,
    twin: Sequence[str] | str = (),
    labels: Sequence[str] | None = None,
    by: str | None = None,
    events: bool | None = None,
    degrees: bool = False,
    title: str = "",
    size: tuple[float, float] | None = None,
) -> Figure:
    """Quantities over time, or over another one (``x``).

    Of one result, quantities of one kind (position, velocity, force ...) share axes, and ``"energy"`` stands for all
    energies together. Several results are laid over each other, each quantity on axes of its own, and called by
    ``labels`` (their models' names if not given). The runs of ``run_many`` are a family, coloured by the parameter
    ``by`` (the first that varies).

    With ``twin`` there is one pair of axes: ``names`` belong to the left scale and ``twin`` to the right one. Events
    are marked where there is one result; ``events=True`` marks those of several too, ``False`` none. ``degrees=True``
    shows angles and their rates in degrees; no data are changed. ``size`` is width and height in inches.
    """
    if isinstance(results, Runs):
        if labels is not None or len(twin):
            raise ModelError("plot: runs are told apart by the colour of their parameter; leave labels and twin out")
        return plot_family(results, names, x=x, by=by, events=bool(events), degrees=degrees, title=title, size=size)
    if by is not None:
        raise ModelError("plot: by= names the parameter that colours a family of runs (kp.run_many), not results")
    overlay = Overlay(results, labels, degrees)
    left, right = overlay.known(names, "plot"), overlay.known(twin, "")
    if right and not overlay.alone and len(left) + len(right) > 2:
        raise ModelError("plot: several results share a twin scale with one quantity on each side; name one and one")
    over = None if x is None or (x == "t" and x not in overlay.first.names) else overlay.known(x, "x")[0]
    return overlay.drawn(left, right, over, overlay.alone if events is None else events, title, size)


def orbit(result: Result, a: str, b: str, *, title: str = "", degrees: bool = False) -> Figure:
    """One quantity over another (the phase plane, a force over a displacement); equal axes for two positions."""
    return plot(result, b, x=a, title=title, degrees=degrees)


class Overlay:
    """Results laid over each other, by what they are called."""

    def __init__(self, results: Any, labels: Sequence[str] | None, degrees: bool) -> None:
        listed = [results] if isinstance(results, Result) else list(results) if isinstance(results, Sequence) else []
        if not listed or not all(isinstance(result, Result) for result in listed):
            raise ModelError(f"plot: give a result, a list of results, or runs, not {results!r}")
        self.results = {called: filled(r) for called, r in zip(_called(listed, labels), listed, strict=True)}
        self.degrees = degrees
        self.first = listed[0]
        self.alone = len(listed) == 1
        self.met = events(self.first)

    def known(self, names: Any, what: str) -> list[str]:
        """Names of histories, each once, that every result has."""
        found = spelled_out(self.first, names)
        if what and not found:
            raise ModelError(f"{what}: name at least one quantity; there are {', '.join(self.first.names)}")
        for name in found:
            for called, result in self.results.items():
                try:
                    result.array(name)
                except ModelError as error:
                    raise ModelError(str(error) if self.alone else f"'{called}': {error}") from None
        return found

    def values(self, result: Result, name: str | None) -> np.ndarray:
        """A history as it is shown; the time where there is no name."""
        return result.t if name is None else shown_in(result, name, result.array(name), self.degrees)

    def panels(self, left: list[str], right: list[str]) -> Iterator[list[str]]:
        """Which quantities share axes: all of them beside a twin scale, those of one kind, or none."""
        if right:
            yield left
        elif self.alone:
            kinds: dict[str, list[str]] = {}
            for name in left:
                kinds.setdefault(self.first.kind(name), []).append(name)
            yield from kinds.values()
        else:
            yield from ([name] for name in left)

    def drawn(self, left: list[str], right: list[str], x: str | None, marked: bool, title: str, size: Any) -> Figure:
        """The whole figure."""
        shared = list(self.panels(left, right))
        square = x is not None and len(shared) == 1 and self.alone and not right
        figure = Picture(figsize=page(len(shared) + 0.6 * bool(right), square, size), layout="constrained")
        axes = list(figure.subplots(len(shared), 1, sharex=True, squeeze=False)[:, 0])
        height = figure.get_figheight() / len(shared) - 0.2
        hues = self._hues([*left, *right], each=bool(right))
        for ax, names in zip(axes, shared, strict=True):
            self._lines(ax, names, x, hues, marked)
            _finish(ax, axis_label(self.first, names, self.degrees), height, self._angles(names))
        figure.align_ylabels(axes)
        over_time = marked and self.alone and x is None
        shaded = [self._shade(ax, names, hues) if over_time else [] for ax, names in zip(axes, shared, strict=True)]
        if over_time:
            mark_impulses(axes[-1], self.first.impacts)
            _name_events(axes, self.first, {owner for owners in shaded for owner in owners})
        if right:
            self._twin(axes[0], left, right, x, hues, marked)
        elif self.alone:
            hit = over_time and bool(self.first.impacts)
            for ax, names, owners in zip(axes, shared, shaded, strict=True):
                if len(names) > 1 or owners or (hit and ax is axes[-1]) or (x is not None and marked and self.met):
                    legend(ax)
        if not self.alone:
            handles = [next(line for line in axes[0].lines if line.get_gid() == called) for called in self.results]
            legend(axes[0], handles, list(self.results), below=bool(right))
        self._abscissa(axes, x, shared if square else [])
        heading = title or str(self.first.provenance.get("model", ""))
        figure.suptitle(folded(heading, figure.get_figwidth() - 0.5, TITLE), fontsize=TITLE)
        return figure

    def _hues(self, names: list[str], each: bool) -> dict[tuple[str, str], str]:
        """The colour of each quantity of each result: by result where there are several, else by what it belongs to.

        ``each`` gives every quantity a colour of its own.
        """
        if not self.alone:
            return {(called, name): colour(k) for k, called in enumerate(self.results) for name in names}
        order: dict[str, int] = {}
        (called,) = self.results
        return {
            (called, name): energy_colour(name) or colour(order.setdefault(name if each else _family(name), len(order)))
            for name in names
        }

    def _lines(self, axes: Axes, names: list[str], x: str | None, hues: Any, marked: bool, style: str = "-") -> None:
        for name in names:
            for called, result in self.results.items():
                where = np.column_stack([self.values(result, x), self.values(result, name)])
                dashed = "--" if name == "energy.total" and self.alone else style
                look: dict[str, Any] = {"color": hues[called, name], "linewidth": LINE, "gid": called}
                axes.plot(*where.T, "o" if len(result) == 1 else dashed, label=folded(name, 1.8), **look)
                if x is not None and len(result) > 1:
                    axes.plot(*where[:1].T, "o", color=hues[called, name], markersize=4)
                if marked and (x is not None or not self.alone):
                    mark_events(axes, result, where)
        steady(axes, [self.values(r, name) for name in names for r in self.results.values()], self._size(names))

    def _shade(self, axes: Axes, names: list[str], hues: Any) -> list[str]:
        """Shade where the quantities of a single result are held; by what."""
        (called,) = self.results
        return shade(axes, self.first, {name: hues[called, name] for name in names})

    def _size(self, names: list[str]) -> float:
        """How large quantities of a kind are in the whole result: what is tiny beside that is rounding."""
        name, first = names[0], self.first
        if self.degrees and first.kind(name) in ANGULAR:
            return 0.0
        column = [k for triple in first.columns for k, n in enumerate(triple) if n == name]
        if column:
            alike = [n[column[0]] for n in first.columns if first.kind(n[column[0]]) == first.kind(name)]
            return max(float(np.abs(first.array(n)).max(initial=0.0, where=np.isfinite(first.array(n)))) for n in alike)
        whole = name.rpartition(".")[0]
        return float(np.abs(first.array(whole)).max()) if whole.endswith(".force") and whole in first.names else 0.0

    def _twin(self, axes: Axes, left: list[str], right: list[str], x: str | None, hues: Any, marked: bool) -> None:
        """A second scale on the right; each scale has the colour of its only quantity, or there is a legend."""
        other = axes.twinx()
        self._lines(other, right, x, hues, marked, "-" if self.alone else "--")
        words = axis_label(self.first, right, self.degrees)
        words = words if self.alone else f"{words}, dashed"
        _finish(other, words, _inches(axes)[1] - 0.3, self._angles(right))
        other.grid(False)
        other.spines["right"].set_visible(True)
        other.spines["left"].set_visible(False)
        if not self.alone:
            return
        if len(left) == len(right) == 1:
            for ax, (name,) in ((axes, left), (other, right)):
                ax.yaxis.label.set_color(next(hues[key] for key in hues if key[1] == name))
            return
        lines = [line for ax in (axes, other) for line in ax.lines if line.get_gid()]
        legend(axes, lines, [*left, *right], below=True)

    def _angles(self, names: list[str]) -> bool:
        """Whether all are angles in degrees, which have ticks of their own."""
        return self.degrees and all(self.first.kind(name) == "angle" for name in names)

    def _abscissa(self, axes: list[Axes], x: str | None, square: list[list[str]]) -> None:
        """The common axis below."""
        bottom = axes[-1]
        words = label_of(self.first, x or "t", self.degrees)
        bottom.set_xlabel(folded(words, _inches(bottom)[0] - 1.0, TEXT), fontsize=TEXT)
        if x is not None:
            if self._angles([x]):
                bottom.xaxis.set_major_locator(_in_degrees(*bottom.get_xlim()))
            names = [x, *(name for names in square for name in names)]
            if square and all(self.first.kind(name) == "position" for name in names):
                bottom.set_aspect("equal", adjustable="datalim")


def _called(results: Sequence[Result], labels: Sequence[str] | None) -> list[str]:
    """What results are called in a legend."""
    if labels is None:
        names = [str(result.provenance.get("model", "")) for result in results]
        return names if len(set(names)) == len(names) else [f"{name} {k + 1}" for k, name in enumerate(names)]
    given = [labels] if isinstance(labels, str) else list(labels)
    if len(given) != len(results) or len({str(label) for label in given}) != len(given):
        raise ModelError(f"plot: {len(results)} results need {len(results)} different labels, not {given!r}")
    return [str(label) for label in given]


def _finish(axes: Axes, words: str, height: float, angular: bool) -> None:
    axes.set_ylabel(folded(words, height, TEXT), fontsize=TEXT)
    axes.margins(x=0.01)
    if angular:
        axes.yaxis.set_major_locator(_in_degrees(*axes.get_ylim()))
    quiet(axes)


def _figure(axes: Axes) -> Figure:
    figure = axes.figure.get_figure(root=True)
    assert figure is not None
    return figure


def _inches(axes: Axes) -> tuple[float, float]:
    """Width and height of the whole figure."""
    width, height = _figure(axes).get_size_inches()
    return float(width), float(height)


def _in_degrees(low: float, high: float) -> MaxNLocator:
    """Ticks at 15, 30, 45, 90 ... degrees, over many turns at whole turns."""
    steps = [1.0, 1.5, 3.0, 4.5, 6.0, 9.0, 10.0] if high - low < 1000.0 else [1.0, 1.8, 3.6, 7.2, 10.0]
    return MaxNLocator("auto", steps=steps, min_n_ticks=3)


def spelled_out(result: Result, names: Sequence[str] | str) -> list[str]:
    """The names of histories, each once; "energy" stands for the energies that are not always zero."""
    wanted = [names] if isinstance(names, str) else list(names)
    found: list[str] = []
    for name in wanted:
        if name == "energy" and name not in result.names:
            parts = [row[0] for row in result.energy.table() if row[0] != "balance"]
            found += [f"energy.{part}" for part in sorted(parts, key=lambda part: part == "total")]
        else:
            found.append(name)
    return list(dict.fromkeys(found))


def channel_of(name: str) -> str:
    """The part of a quantity's name that says what is measured: "x", "force", "energy"; empty for a coordinate."""
    owner, dot, rest = name.partition(".")
    if owner == "energy" and rest in (*PARTS, "total"):
        return "energy"
    if owner == "lambda" and dot:
        return "multiplier"
    first = rest.partition(".")[0]
    return first if first in ("force", "effort", "moment", "omega", "alpha") else name.rpartition(".")[2] if dot else ""


def energy_colour(name: str) -> str | None:
    """The colour that an energy always has; None for anything else."""
    owner, _, part = name.partition(".")
    if owner != "energy" or part not in (*PARTS, "total"):
        return None
    return "#262626" if part == "total" else colour(PARTS.index(part))


def _family(name: str) -> str:
    """Position, velocity and acceleration of one coordinate share a colour."""
    part, dot, channel = name.rpartition(".")
    if not dot:
        return name
    same = {"vx": "x", "ax": "x", "vy": "y", "ay": "y", "omega": "angle", "alpha": "angle", "v": "", "a": ""}
    return f"{part}.{same.get(channel, channel)}".rstrip(".")


# --- events ---------------------------------------------------------------------------------------------------------


def _name_events(panels: Sequence[Axes], result: Result, shaded: set[str]) -> None:
    """Lines at the times of events, and above the uppermost axes what they are, in rows where they would overlap.

    Of very many those are left out that are seen anyway: the ends of what is shaded, impacts, and contacts that press.
    """
    few = len(events(result)) <= NAMED
    elements = {} if result.model is None else result.model.elements
    seen = shaded | {name for name, element in elements.items() if isinstance(element, Pressing)}
    for axes in panels:
        for event in events(result):
            if few or not (getattr(event, "element", "") in seen or getattr(event, "struck", False)):
                axes.axvline(event.t, color=GREY, linestyle=(0, (4, 3)), linewidth=0.8 if few else 0.3, zorder=1)
    if few:
        _write_above(
            panels[0], [(e.t, getattr(e, "mode", "") or e.kind) for e in sorted(events(result), key=lambda e: e.t)]
        )


def _write_above(axes: Axes, said: Sequence[tuple[float, str]]) -> None:
    """Words above axes at some places, in up to three rows; nothing where that is not enough."""
    low, high = axes.get_xlim()
    letter = 0.085 / _inches(axes)[0] * (high - low)
    ends: list[float] = []
    rows: list[int] = []
    for t, words in said:
        begin = t - letter * len(words) / 2
        row = next((k for k, end in enumerate(ends) if end < begin), len(ends))
        ends[row : row + 1] = [begin + letter * len(words)]
        rows.append(row)
    for (t, words), row in zip(said, rows, strict=True) if len(ends) <= ROWS else ():
        axes.annotate(
            plain(words), (t, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 3 + 9 * row),
            textcoords="offset points", ha="center", va="bottom", fontsize=SMALL, color="0.35",
        )  # fmt: skip


def mark_events(axes: Axes, result: Result, where: np.ndarray) -> None:
    """A cross where an event lies on a path."""
    met = events(result)
    if met:
        kinds = ", ".join(dict.fromkeys(event.kind for event in met))
        times = [event.t for event in met]
        x, y = (np.interp(times, result.t, where[:, k]) for k in (0, 1))
        axes.plot(x, y, "x", color=INK, markersize=6, markeredgewidth=1.3, zorder=5.5, label=plain(kinds))
