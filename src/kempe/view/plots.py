"""Quantities of a result over time, or over each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kempe.errors import ModelError
from kempe.results import Result
from kempe.results.energy import PARTS
from kempe.view.style import GREY, INK, LINE, SMALL, TEXT, TITLE, WIDTH, Picture, colour, events, filled, legend, quiet

#: So many events are named in a plot; more are only marked.
NAMED = 12
#: What the last part of a quantity's name measures.
KINDS = {
    "x": "position",
    "y": "position",
    "angle": "angle (rad)",
    "vx": "velocity",
    "vy": "velocity",
    "omega": "angular velocity",
    "ax": "acceleration",
    "ay": "acceleration",
    "alpha": "angular acceleration",
    "v": "rate",
    "a": "second derivative",
}


def channel_of(name: str) -> str:
    """The part of a quantity's name that says what is measured: "x", "force", "energy"; empty for a coordinate."""
    owner, dot, rest = name.partition(".")
    if owner == "energy" and rest in (*PARTS, "total"):
        return "energy"
    if owner == "lambda" and dot:
        return "multiplier"
    first = rest.partition(".")[0]
    return first if first in ("force", "effort") else name.rpartition(".")[2] if dot else ""


def kind_of(name: str) -> str:
    """What a quantity measures: quantities of one kind share axes."""
    channel = channel_of(name)
    return KINDS.get(channel, channel) or "coordinate"


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


def plot(result: Result, names: Sequence[str] | str, *, title: str = "") -> Figure:
    """Time histories, quantities of one kind (position, velocity, force ...) on axes of their own, events marked.

    ``"energy"`` stands for all energies together.
    """
    wanted = spelled_out(result, names)
    if not wanted:
        raise ModelError(f"plot: name at least one quantity; there are {', '.join(result.names)}")
    kinds: dict[str, list[str]] = {}
    for name in wanted:
        filled(result).array(name)  # an unknown name is an error before anything is drawn
        kinds.setdefault(kind_of(name), []).append(name)
    figure = Picture(figsize=(WIDTH, 0.9 + 1.7 * len(kinds)), layout="constrained")
    panels = figure.subplots(len(kinds), 1, sharex=True, squeeze=False)[:, 0]
    order: dict[str, int] = {}
    for axes, (kind, members) in zip(panels, kinds.items(), strict=True):
        for name in members:
            hue = energy_colour(name) or colour(order.setdefault(_family(name), len(order)))
            style = "o" if len(result) == 1 else "--" if name == "energy.total" else "-"
            axes.plot(result.t, result.array(name), style, label=name, color=hue, linewidth=LINE)
        few = len(events(result)) <= NAMED
        for event in events(result):
            axes.axvline(event.t, color=GREY, linestyle=(0, (4, 3)), linewidth=0.8 if few else 0.3, zorder=1)
        axes.set_ylabel(members[0] if len(members) == 1 else kind, fontsize=TEXT)
        axes.margins(x=0.01)
        quiet(axes)
        if len(members) > 1:
            legend(axes)
    figure.align_ylabels(panels)
    panels[-1].set_xlabel("t", fontsize=TEXT)
    _name_events(panels[0], result)
    figure.suptitle(title or result.provenance.get("model", ""), fontsize=TITLE)
    return figure


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


def _name_events(axes: Axes, result: Result) -> None:
    """What the events are above the uppermost axes, in rows where they would overlap; nothing where they are many."""
    low, high = axes.get_xlim()
    ends: list[float] = []
    for event in sorted(events(result), key=lambda e: e.t) if len(events(result)) <= NAMED else ():
        said = getattr(event, "mode", "") or event.kind
        width = 0.0125 * len(said) * (high - low)
        begin = event.t - width / 2
        row = next((k for k, end in enumerate(ends) if end < begin), len(ends))
        ends[row : row + 1] = [begin + width]
        axes.annotate(
            said, (event.t, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 3 + 9 * row),
            textcoords="offset points", ha="center", va="bottom", fontsize=SMALL, color="0.35",
        )  # fmt: skip


def orbit(result: Result, a: str, b: str, *, title: str = "") -> Figure:
    """One quantity over another (the phase plane, a force over a displacement); equal axes for two positions."""
    where = np.column_stack([filled(result).array(a), result.array(b)])
    figure = Picture(figsize=(0.75 * WIDTH, 0.65 * WIDTH), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(*where.T, color=colour(0), linewidth=LINE)
    axes.plot(*where[:1].T, "o", color=colour(0), markersize=4)
    mark_events(axes, result, where)
    if events(result):
        legend(axes)
    if kind_of(a) == kind_of(b) == "position":
        axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel(a, fontsize=TEXT)
    axes.set_ylabel(b, fontsize=TEXT)
    axes.set_title(title or result.provenance.get("model", ""), fontsize=TITLE)
    quiet(axes)
    return figure


def mark_events(axes: Axes, result: Result, where: np.ndarray) -> None:
    """A cross where an event lies on a path."""
    met = events(result)
    if met:
        kinds = ", ".join(dict.fromkeys(event.kind for event in met))
        times = [event.t for event in met]
        x, y = (np.interp(times, result.t, where[:, k]) for k in (0, 1))
        axes.plot(x, y, "x", color=INK, markersize=6, markeredgewidth=1.3, zorder=5.5, label=kinds)
