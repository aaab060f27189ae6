"""One HTML file that tells a run: the moving mechanism, linked time plots, mobility, events, model and settings.

It opens from disk without a network. Whatever a user named reaches the page as escaped text or as data of a figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kempe.analysis.mobility import mobility
from kempe.disk import write_whole
from kempe.elements import Body, Carrier, Element, Marker, Part, Point
from kempe.elements.base import Field, Group, Scalar
from kempe.errors import KempeError, ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.simulation.posing import Posed
from kempe.system.measures import positions
from kempe.view.geometry import Drawing, drawing_of
from kempe.view.plots import channel_of, energy_colour, spelled_out
from kempe.view.report_figures import Panel, Trace, embedded
from kempe.view.report_page import PAGE, POLICY, STYLE, TIME_BAR
from kempe.view.style import COLOURS, colour

#: Frames of the animation, numbers in all its frames, points of a curve, of a trace, and rows of a list of events.
FRAMES, NUMBERS, POINTS, TRACE_POINTS, EVENTS = 300, 240_000, 2000, 600, 100
#: Without a choice of the user: curves in a panel, panels, and traces that can be switched on.
CURVES, PANELS, TRACES = 5, 8, 10


def report(
    model: Model,
    result: Result,
    path: str | Path,
    *,
    traces: Sequence[str] = (),
    plots: Sequence[str] = (),
    title: str = "",
) -> Path:
    """Write the report of a result into one HTML file; see :func:`report_html`.

    The file is there whole or not at all.
    """
    text = report_html(model, result, traces=traces, plots=plots, title=title)
    return write_whole(path, text.encode("utf-8", "replace"))


def report_html(
    model: Model, result: Result, *, traces: Sequence[str] = (), plots: Sequence[str] = (), title: str = ""
) -> str:
    """The report of a result as the text of an HTML page.

    ``traces`` names points and bodies whose paths are shown, ``plots`` the quantities to plot over time (by default
    the coordinates that move most and their rates); quantities of one kind share a panel.
    """
    _one_word("traces", traces)
    _one_word("plots", plots)
    frames = _frames(result)
    drawing, frames = _drawing(model, result, frames)
    ranks = _ranks(model, drawing)
    paths = [] if drawing is None else _traces(model, result, frames, traces, ranks)
    wanted = spelled_out(result, list(plots) or _default_plots(model, result, traces))
    panels = _panels(result, frames, wanted, ranks)
    moments = _moments(result) if len(frames) else []
    script, place, places = embedded(result.t[frames], drawing, paths, panels, moments)
    parts = [
        _head(title or model.name, result),
        _mechanism(place, paths) if place else "",
        _time_bar(len(frames)) if script else "",
        _time_plots(places, panels) if places else "",
        _energy(result),
        _mobility(model, result),
        _events(result),
        _model(model, result),
        _solver(result),
        _run(result),
    ]
    body = "\n".join(part for part in parts if part)
    return PAGE.substitute(policy=POLICY, title=escape(title or model.name), style=STYLE, body=body, script=script)


def _one_word(what: str, names: Sequence[str]) -> None:
    if isinstance(names, str):
        raise ModelError(f"{what} must be a list of names, not the single word {names!r}")


# --- what is shown -----------------------------------------------------------------------------------------------


def _frames(result: Result) -> np.ndarray:
    """The rows to show: evenly chosen, and those nearest to the events."""
    finite = np.flatnonzero(np.isfinite(result.q).all(axis=1) & np.isfinite(result.t))
    if not len(finite):
        return finite
    even = np.linspace(0, len(finite) - 1, min(FRAMES, len(finite))).round().astype(int)
    met = [int(np.argmin(np.abs(result.t[finite] - t))) for t in _moments(result)]
    return finite[np.union1d(even, np.array(met, dtype=int))]


def _moments(result: Result) -> list[float]:
    """The times of the events; one that was read back from a file is only its message."""
    return [float(e.t) for e in result.events[:EVENTS] if not isinstance(e, str)]


def _ranks(model: Model, drawing: Drawing | None) -> dict[str, int]:
    """Which colour belongs to a part: that of its link, else by its place in the model."""
    others = [name for name, part in model.parts.items() if part.channels and not isinstance(part, Body)]
    links = [] if drawing is None else list(drawing.links)
    return {name: k for k, name in enumerate(others)} | {name: k for k, name in enumerate(links)}


def _drawing(model: Model, result: Result, frames: np.ndarray) -> tuple[Drawing | None, np.ndarray]:
    """The shapes, with fewer frames where there are many points; none for a model without geometry."""
    if not len(frames):
        return None, frames
    parameters = result.provenance.get("parameters")
    drawing = drawing_of(model, result.q[frames], parameters)
    if not drawing.points.shape[1]:
        return None, frames
    most = max(2, NUMBERS // (2 * drawing.points.shape[1]))
    if len(frames) > most:
        kept = np.unique(np.linspace(0, len(frames) - 1, most).round().astype(int))
        drawing.points, frames = drawing.points[kept], frames[kept]
    return drawing, frames


def _traces(
    model: Model, result: Result, frames: np.ndarray, wanted: Sequence[str], ranks: Mapping[str, int]
) -> list[Trace]:
    """The paths that were asked for, and some more that can be switched on."""
    known = {name: p for name, p in model.parts.items() if isinstance(p, (Body, Point)) and p.channels}
    for name in wanted:
        if name not in known:
            raise ModelError(f"there is no moving point or body '{name}' to trace; there are {_quoted(known)}")
    others = [name for name in known if name not in wanted]
    names = list(dict.fromkeys([*wanted, *others[: max(0, TRACES - len(wanted))]]))
    posed = Posed(model, result.provenance.get("parameters"))
    rows = np.flatnonzero(np.isfinite(result.q).all(axis=1))
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(TRACE_POINTS, len(rows))).round().astype(int))]
    markers = [known[name].at((0.0, 0.0)) for name in names]
    at_rows, at_frames = (positions(posed.system, markers, posed.parameters, result.q[k]) for k in (rows, frames))
    return [
        Trace(name, colour(ranks.get(name, k)), at_rows[:, k], at_frames[:, k], name in wanted)
        for k, name in enumerate(names)
    ]


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"


def _default_plots(model: Model, result: Result, traces: Sequence[str]) -> list[str]:
    """The coordinates of what is traced, or those that move most, and their rates; energies if they are known."""
    if len(result) == 0:
        return []
    kinds: dict[str, list[tuple[str, str, str]]] = {}
    spread = {triple: _spread(result.array(triple[0])) for triple in result.columns}
    own = {p.name for e in model.elements.values() for p in e.auxiliary}
    for triple in sorted(spread, key=lambda names: -spread[names]):
        owner = triple[0].rsplit(".", 1)[0]
        wanted = owner in traces if traces else owner not in own
        if wanted and spread[triple] > 1e-9 * max(1.0, max(spread.values())):
            kinds.setdefault(channel_of(triple[0]) or triple[0], []).append(triple)
    kinds = {kind: members[:CURVES] for kind, members in list(kinds.items())[: PANELS - 1]}
    order = sorted(kinds, key=lambda kind: ("x", "y", "angle").index(kind) if kind in ("x", "y", "angle") else 3)
    energy = ["energy"] if "energy.kinetic" in result.series else []
    return [*(triple[k] for k in (0, 1) for kind in order for triple in kinds[kind]), *energy]


def _spread(values: np.ndarray) -> float:
    """How far a quantity moves, rounded so that what moves alike stays in the order of the model."""
    finite = values[np.isfinite(values)]
    return float(f"{np.ptp(finite):.6e}") if len(finite) else 0.0


def _panels(result: Result, frames: np.ndarray, names: Sequence[str], ranks: Mapping[str, int]) -> list[Panel]:
    """Quantities of one kind share a panel."""
    panels: dict[str, Panel] = {}
    for name in dict.fromkeys(names):
        values = result.array(name)
        points = thinned(result.t, values, POINTS)
        if len(points):
            kind = channel_of(name) or name
            panel = panels.setdefault(kind, Panel(kind))
            panel.curves[name] = points
            panel.colours[name] = energy_colour(name) or _free_colour(panel, ranks.get(name.rsplit(".", 1)[0], 0))
            panel.at_frames[name] = [float(v) if np.isfinite(v) else None for v in values[frames]]
    return list(panels.values()) if len(frames) else []


def _free_colour(panel: Panel, rank: int) -> str:
    """The colour of a part, or the next one that is not in the panel yet."""
    colours = [colour(rank + k) for k in range(len(COLOURS))]
    return next((c for c in colours if c not in panel.colours.values()), colours[len(panel.colours) % len(colours)])


def thinned(t: np.ndarray, values: np.ndarray, most: int) -> np.ndarray:
    """At most so many finite points (t, value) of a history: the lowest and the highest of each stretch of it."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(values.astype(np.float32)) & np.isfinite(t)
    points = np.column_stack([t, values])[finite]
    if len(points) <= most:
        return points
    bounds = np.linspace(0, len(points), most // 2).astype(int)
    stretches = list(pairwise(bounds))
    low = [a + int(np.argmin(points[a:b, 1])) for a, b in stretches]
    high = [a + int(np.argmax(points[a:b, 1])) for a, b in stretches]
    return points[np.unique([0, *low, *high, len(points) - 1])]


# --- the sections ------------------------------------------------------------------------------------------------


def _head(title: str, result: Result) -> str:
    span = f"t = {result.t[0]:.6g} … {result.t[-1]:.6g}" if len(result) else "no time covered"
    analysis = result.provenance.get("analysis", "result")
    facts = f"{analysis}, {len(result)} point{'s' * (len(result) != 1)}, {span}"
    look = "pill" if result.success else "pill short"
    said = f'<p class="said">{escape(result.message)}</p>' if result.message and not result.success else ""
    return (
        f'<header><h1>{escape(title)}</h1><p><span class="{look}">{escape(result.status)}</span>'
        f'<span class="soft">{escape(facts)}</span></p>{said}</header>'
    )


def _mechanism(place: str, traces: Sequence[Trace]) -> str:
    boxes = [
        f'<label><input type="checkbox" data-trace="{k}"{" checked" if trace.shown else ""}>{_swatch(trace.colour)}'
        f"{escape(trace.name)}</label>"
        for k, trace in enumerate(traces)
    ]
    names = '<label><input type="checkbox" id="names" checked>names</label>'
    title = '<span class="soft">traces:</span>' if boxes else ""
    return _section("Mechanism", f'{place}<div class="chips">{names}{title}{"".join(boxes)}</div>')


def _time_bar(frames: int) -> str:
    return TIME_BAR.substitute(last=max(frames - 1, 0), disabled=" disabled" if frames < 2 else "")


def _time_plots(places: Sequence[str], panels: Sequence[Panel]) -> str:
    rows = []
    for k, (place, panel) in enumerate(zip(places, panels, strict=True)):
        keys = [_key(name, panel.colours[name], f"{k}-{j}") for j, name in enumerate(panel.curves)]
        rows.append(f'<div class="keys">{"".join(keys)}</div>{place}')
    hint = '<p class="soft">Click in a plot to go to that time.</p>'
    return _section("Time plots", hint + "".join(rows))


def _key(name: str, shade: str, place: str) -> str:
    """A curve's colour and name, and room for its value at the cursor."""
    value = f'<span class="value" data-curve="{place}"></span>'
    return f'<span class="key">{_swatch(shade)}<b>{escape(name)}</b>{value}</span>'


def _swatch(shade: str) -> str:
    return f'<span class="swatch" style="background:{shade}"></span>'


def _mobility(model: Model, result: Result) -> str:
    time = float(result.t[0]) if len(result) else 0.0
    try:
        info = mobility(model, time=time, parameters=result.provenance.get("parameters"))
    except (KempeError, np.linalg.LinAlgError) as error:
        return _section("Mobility", f'<p class="said">{escape(str(error))}</p>')
    facts = {
        "degrees of freedom": info.dof,
        "driven": info.drivers,
        "coordinates": info.coordinates,
        "constraints": info.constraints,
        "Gruebler count": info.gruebler,
        "redundant": sum(d.permanent for d in info.redundant),
    }
    tiles = "".join(f"<div><b>{value}</b>{name}</div>" for name, value in facts.items())
    return _section("Mobility", f'<div class="tiles">{tiles}</div><p class="said soft">{escape(str(info))}</p>')


def _events(result: Result) -> str:
    if not result.events:
        none = (
            "Nothing switched." if result.provenance.get("analysis") == "simulate" else "No singular position was met."
        )
        return _section("Events", f'<p class="soft">{none}</p>')
    rows = [("", e) if isinstance(e, str) else (_go_to(e.t), e.message) for e in result.events[:EVENTS]]
    more = len(result.events) - len(rows)
    note = f'<p class="soft">and {more} more</p>' if more > 0 else ""
    return _section("Events", _table(("t", "what happens"), rows) + note)


def _go_to(t: float) -> _Markup:
    return _Markup(f'<button class="at" type="button" data-t="{float(t)!r}">{t:.6g}</button>')


def _model(model: Model, result: Result) -> str:
    values = result.provenance.get("parameters") or {n: p.value for n, p in model.parameters.items()}
    parameters = [(n, values.get(n, p.value), _bounds(p.bounds)) for n, p in model.parameters.items()]
    parts = [(name, type(p).__name__.lower(), _coordinates(p)) for name, p in model.parts.items()]
    elements = [(name, e.kind, _connected(e), _numbers(e)) for name, e in model.elements.items()]
    lists = [
        _list("Parameters", ("name", "value", "bounds"), parameters),
        _list("Parts", ("name", "kind", "coordinates"), parts),
        _list("Joints, links and drivers", ("name", "kind", "connects", "numbers"), elements),
    ]
    return _section("Model", "".join(lists) or '<p class="soft">empty</p>')


def _bounds(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f"{bounds[0]:.6g} … {bounds[1]:.6g}"


def _coordinates(part: Part) -> str:
    names = [triple[0] for triple in part.names()]
    return ", ".join(name.removeprefix(f"{part.name}.") for name in names) or "fixed"


def _connected(element: Element) -> str:
    names = [name for f in element.fields.values() for name in _named(f)]
    return ", ".join(name for name in dict.fromkeys(names) if name not in {p.name for p in element.auxiliary})


def _named(f: Field) -> list[str]:
    """The names of the parts in a field, those that stand still too."""
    if isinstance(f, Group):
        return [name for item in f.fields for name in _named(item)]
    return [f.name] if isinstance(f, (Marker, Carrier)) else [part.name for part in f.parts()]


def _numbers(element: Element) -> str:
    """The plain numbers of an element; those made of parameters as their expression."""
    return ", ".join(f"{key} = {_text(f.value)}" for key, f in element.fields.items() if isinstance(f, Scalar))


def _energy(result: Result) -> str:
    """First, last and largest value of each energy, and how well they balance."""
    if "energy.kinetic" not in result.series or not len(result):
        return ""
    energy = result.energy
    rows = [(name, *(f"{value:.6g}" for value in values)) for name, *values in energy.table()]
    said = "" if energy.error is None else f"out of balance by at most {energy.error:.2g} of the largest energy"
    return _section("Energy", _table(("", "first", "last", "largest"), rows) + f'<p class="soft said">{said}</p>')


def _solver(result: Result) -> str:
    """What the solver counted."""
    if not result.stats:
        return ""
    tiles = "".join(f"<div><b>{escape(_count(value))}</b>{escape(name)}</div>" for name, value in result.stats.items())
    return _section("Solver", f'<div class="tiles">{tiles}</div>')


def _count(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _run(result: Result) -> str:
    shown: dict[str, Any] = {"status": result.status, "message": result.message, "points": len(result)}
    shown |= {k: v for k, v in result.provenance.items() if k != "parameters"}
    if result.initial is not None:
        shown["start"] = str(result.initial)
    return _section("Run", _table(("", ""), [(k, v) for k, v in shown.items() if v not in ("", None)]))


# --- HTML --------------------------------------------------------------------------------------------------------


class _Markup(str):
    """Text that is HTML already."""


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def _list(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table that can be folded away; long ones are at first. A column without entries is left out."""
    if not rows:
        return ""
    used = [k for k in range(len(head)) if any(row[k] != "" for row in rows)]
    head, rows = [head[k] for k in used], [[row[k] for k in used] for row in rows]
    opened = " open" if len(rows) <= 40 else ""
    return f"<details{opened}><summary>{escape(title)} ({len(rows)})</summary>{_table(head, rows)}</details>"


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    top = f"<thead><tr>{''.join(f'<th>{escape(h)}</th>' for h in head)}</tr></thead>" if any(head) else ""
    lines = "".join(f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row)}</tr>" for row in rows)
    return f'<div class="wide"><table>{top}<tbody>{lines}</tbody></table></div>'


def _cell(value: Any) -> str:
    return str(value) if isinstance(value, _Markup) else escape(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.10g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{k}: {_text(v)}" for k, v in value.items())
    text = str(value)
    return text if len(text) <= 600 else text[:599] + "…"
