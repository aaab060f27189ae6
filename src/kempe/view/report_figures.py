"""The Bokeh figures of a report: the moving mechanism and the time plots, with their data and the player's inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kempe.view.geometry import Drawing
from kempe.view.report_page import PLAYER, PLOT_TAPPED
from kempe.view.style import FORCE, colour, tint

if TYPE_CHECKING:
    from bokeh.models import ColumnDataSource
    from bokeh.plotting import figure as Figure

INK, GREY = "#333333", "#8a8f98"


@dataclass
class Trace:
    """The path of a point or of a body's origin: whole, at the frames, and whether it is shown at first."""

    name: str
    colour: str
    path: np.ndarray
    at_frames: np.ndarray
    shown: bool


@dataclass
class Panel:
    """Curves that share an axis: each a name and the points (t, value) to draw, and its values at the frames."""

    title: str
    curves: dict[str, np.ndarray] = field(default_factory=dict)
    colours: dict[str, str] = field(default_factory=dict)
    at_frames: dict[str, list[float | None]] = field(default_factory=dict)


@dataclass
class Stage:
    """What the player moves: sources of shapes and dots, with the indices of their points in each frame."""

    figure: Any
    points: np.ndarray
    shapes: list[dict[str, Any]] = field(default_factory=list)
    dots: list[dict[str, Any]] = field(default_factory=list)
    traces: list[list[Any]] = field(default_factory=list)
    labels: dict[str, Any] = field(default_factory=dict)
    #: Signs made of strokes of a fixed size: supports and arrows of driven turns.
    signs: dict[str, Any] = field(default_factory=dict)


def embedded(
    t: np.ndarray, drawing: Drawing | None, traces: Sequence[Trace], panels: Sequence[Panel], events: Sequence[float]
) -> tuple[str, str, list[str]]:
    """The script of the figures (with Bokeh itself), the place of the mechanism and the places of the plots."""
    from bokeh.document import Document
    from bokeh.embed import components
    from bokeh.models import CustomJS
    from bokeh.resources import Resources

    stage = None if drawing is None else _stage(drawing, traces)
    plots, cursors, marks = _plots(t, panels, events)
    roots = [*([] if stage is None else [stage.figure]), *plots]
    if not roots:
        return "", "", []
    document = Document()
    for root in roots:
        document.add_root(root)
    given = dict(t=t.tolist(), cursors=cursors, marks=marks, values=[list(p.at_frames.values()) for p in panels])
    document.js_on_event("document_ready", CustomJS(args=given | _moved(stage), code=PLAYER))
    script, places = components(roots)
    library = Resources(mode="inline", components=["bokeh"]).render_js()
    return library + script, places[0] if stage else "", list(places[len(roots) - len(plots) :])


def _moved(stage: Stage | None) -> dict[str, Any]:
    """The player's inputs that belong to the mechanism."""
    if stage is None:
        return dict(stage=None, frames=None, shapes=[], dots=[], traces=[], labels=None, signs=None)
    flat = stage.points.astype(np.float32).reshape(len(stage.points), -1)
    frames = _source(name="frames", points=flat)
    return dict(
        stage=stage.figure,
        frames=frames,
        shapes=stage.shapes,
        dots=stage.dots,
        traces=stage.traces,
        labels=stage.labels,
        signs=stage.signs,
    )


def _source(name: str, **columns: Any) -> ColumnDataSource:
    from bokeh.models import ColumnDataSource

    return ColumnDataSource(data=columns, name=name)


# --- the mechanism -----------------------------------------------------------------------------------------------


def _stage(drawing: Drawing, traces: Sequence[Trace]) -> Stage:
    count = drawing.points.shape[1]
    points = np.concatenate([drawing.points, *(trace.at_frames[:, None] for trace in traces)], axis=1)
    stage = Stage(_stage_figure(drawing, traces), points)
    for trace in traces:
        path = stage.figure.line(*trace.path.T.astype(np.float32), color=trace.colour, line_width=1.5, alpha=0.8)
        stage.traces.append([path])
    _behind(stage, drawing)
    _circles(stage, drawing)
    _links(stage, drawing)
    _loads(stage, drawing)
    _joints(stage, drawing)
    for k, trace in enumerate(traces):
        look: dict[str, Any] = dict(marker="circle", size=8, fill_color=trace.colour, line_color="white")
        stage.traces[k].append(_dots(stage, f"trace {k}", [count + k], **look))
        for part in stage.traces[k]:
            part.visible = trace.shown
    _labels(stage, drawing)
    return stage


def _stage_figure(drawing: Drawing, traces: Sequence[Trace]) -> Figure:
    from bokeh.models import DataRange1d
    from bokeh.plotting import figure

    everything = np.concatenate([*drawing.box, *(trace.path.ravel() for trace in traces)]).reshape(-1, 2)
    low, high = everything.min(axis=0), everything.max(axis=0)
    width, height = np.maximum(high - low, 1e-9 * max(1.0, float(np.abs(everything).max())))
    ranges = DataRange1d(range_padding=0.05), DataRange1d(range_padding=0.05)
    stage = figure(
        name="mechanism",
        sizing_mode="scale_width",
        aspect_ratio=float(np.clip(width / height, 0.8, 3.2)),
        min_height=240,
        max_height=520,
        match_aspect=True,
        x_range=ranges[0],
        y_range=ranges[1],
        tools="pan,wheel_zoom,reset,save",
        active_drag=None,
        active_scroll=None,
        x_axis_label="x",
        y_axis_label="y",
    )
    corners = stage.scatter([low[0], high[0]], [low[1], high[1]], size=0, alpha=0)
    ranges[0].renderers = ranges[1].renderers = [corners]  # the ranges do not follow the motion
    _plain(stage)
    return stage


def _plain(plot: Any) -> None:
    """The look that all figures share."""
    plot.toolbar.autohide, plot.toolbar.logo = True, None
    plot.background_fill_color = plot.border_fill_color = "white"
    plot.outline_line_color = "#d5d9df"
    plot.grid.grid_line_color, plot.grid.grid_line_alpha = "#e6e8ec", 0.9
    plot.axis.axis_line_color = plot.axis.major_tick_line_color = "#b5bac3"
    plot.axis.minor_tick_line_color = None
    plot.axis.major_label_text_color = plot.axis.axis_label_text_color = "#5b616b"
    plot.axis.axis_label_text_font_style = "normal"


def _of(drawing: Drawing, key: str | int, nobody: str = INK) -> str:
    """The colour of the link to which something belongs."""
    links = list(drawing.links)
    return colour(links.index(drawing.owner[key])) if drawing.owner.get(key) in links else nobody


def _behind(stage: Stage, drawing: Drawing) -> None:
    """Rails, slots, profiles, belts and racks."""
    rails = [k for k in range(len(drawing.guides)) if k not in drawing.slots]
    slots = sorted(drawing.slots)
    ends = [list(guide) for guide in drawing.guides]
    _strokes(stage, "rails", [ends[k] for k in rails], [_of(drawing, k, GREY) for k in rails], 3, line_cap="butt")
    _strokes(stage, "slots", [ends[k] for k in slots], [_of(drawing, k) for k in slots], 13)
    _strokes(stage, "slots within", [ends[k] for k in slots], ["white"] * len(slots), 9.5)
    outlines = {name: at for name, at in drawing.curves.items() if _closed(drawing, at)}
    _areas(stage, "profiles", list(outlines.values()), [_of(drawing, name) for name in outlines], 0.15)
    others = {name: at for name, at in drawing.curves.items() if name not in outlines}
    for what, shapes, width in (
        ("curves", others, 2.0),
        ("faces", drawing.faces, 4.0),
        ("racks", drawing.racks, 2.0),
        ("spokes", drawing.spokes, 1.4),
    ):
        lines = {name: list(at) for name, at in shapes.items()}  # type: ignore[attr-defined]
        _strokes(stage, what, list(lines.values()), [_of(drawing, name) for name in lines], width)
    _strokes(stage, "belts", [list(strand) for strand in drawing.belts], ["#555555"] * len(drawing.belts), 2)


def _closed(drawing: Drawing, at: Sequence[int]) -> bool:
    return bool(np.hypot(*(drawing.points[0, at[-1]] - drawing.points[0, at[0]])) < 1e-6 * drawing.size)


def _circles(stage: Stage, drawing: Drawing) -> None:
    """Rollers, pulleys and pitch circles."""
    first, links = stage.points[0], list(drawing.links)
    for kind in dict.fromkeys(circle.kind for circle in drawing.circles):
        these = [circle for circle in drawing.circles if circle.kind == kind]
        at = [circle.centre for circle in these]
        colours = [colour(links.index(c.owner)) if c.owner in links else INK for c in these]
        radii = [float(circle.radius) for circle in these]
        place = dict(x=first[at, 0].tolist(), y=first[at, 1].tolist(), angle=[0.0] * len(at))
        source = _source(f"circles {kind}", **place, radius=radii, colour=colours)
        stage.dots.append(dict(source=source, at=at, toward=[]))
        fill = "white" if kind == "roller" else None
        dash = "solid" if kind in ("roller", "pulley") else "dashdot"
        look = dict(fill_color=fill, line_color="colour", line_dash=dash, line_width=1.6)
        stage.figure.circle("x", "y", radius="radius", source=source, **look)


def _links(stage: Stage, drawing: Drawing) -> None:
    """Links of two points as bars, of more as plates; rods and actuators."""
    outlines = list(drawing.outlines.values())
    colours = [colour(list(drawing.links).index(name)) for name in drawing.outlines]
    flat = [k for k, around in enumerate(outlines) if len(around) > 2]
    thin = [k for k, around in enumerate(outlines) if len(around) == 2]
    _areas(stage, "plates", [outlines[k] for k in flat], [colours[k] for k in flat], 0.3)
    _strokes(stage, "bars", [outlines[k] for k in thin], [colours[k] for k in thin], 8)
    _strokes(stage, "bars within", [outlines[k] for k in thin], [tint(colours[k]) for k in thin], 4.5)
    rods = [*map(list, drawing.rods.values()), *([a[0], a[2]] for a in drawing.actuators.values())]
    _strokes(stage, "rods", rods, ["#555555"] * len(rods), 3)
    barrels = [[a[0], a[1]] for a in drawing.actuators.values()]
    _strokes(stage, "barrels", barrels, ["#555555"] * len(barrels), 11, line_cap="butt")
    alone = [around[0] for around in outlines if len(around) == 1]
    _dots(stage, "single points", alone, marker="circle", size=9, fill_color=INK)


def _loads(stage: Stage, drawing: Drawing) -> None:
    """Springs and dashpots, forces and torques, bushings, walls of stops."""
    walls = [list(ends) for ends in drawing.walls.values()]
    _strokes(stage, "walls", walls, [_of(drawing, name, GREY) for name in drawing.walls], 4, line_cap="butt")
    strokes = [stroke for strokes in drawing.strokes.values() for stroke in strokes]
    _strokes(stage, "springs", strokes, ["#555555"] * len(strokes), 1.6)
    _strokes(stage, "arrows", list(drawing.arrows.values()), [FORCE] * len(drawing.arrows), 2.2, line_cap="butt")
    _areas(stage, "arrow heads", [list(head) for head in drawing.heads.values()], [FORCE] * len(drawing.heads), 1.0)
    look: dict[str, Any] = dict(marker="circle", size=17, fill_color="#cccccc", line_color="#555555")
    _dots(stage, "bushings", sorted(set(drawing.bushings)), **look)


def _joints(stage: Stage, drawing: Drawing) -> None:
    """Sliders, supports, welds, pins and the sense of a driven turn."""
    riding = [(rider, guide) for rider, guide in drawing.sliders if guide not in drawing.slots]
    toward = [list(drawing.guides[guide]) for _, guide in riding]
    block = dict(width=30, height=18, width_units="screen", height_units="screen", line_color=INK, fill_color="#c9cdd4")
    _dots(stage, "sliders", [rider for rider, _ in riding], toward, glyph="rect", **block)
    for name in ("supports", "motors"):
        source = _source(name, xs=[], ys=[])
        stage.signs[name] = source
        stage.figure.multi_line("xs", "ys", source=source, line_color=INK, line_width=1.4)
    rings = {circle.centre for circle in drawing.circles if circle.fixed} - set(drawing.pins)
    stage.signs["supported"] = sorted(set(drawing.anchors) - rings)
    stage.signs["turned"] = [list(motor) for motor in drawing.motors.values()]
    welds = sorted(set(drawing.welds) - set(drawing.anchors))
    _dots(stage, "welds", welds, marker="square", size=8, fill_color=INK)
    _dots(stage, "pins", sorted(set(drawing.pins)), marker="circle", size=9, fill_color="white", line_color=INK)
    _dots(stage, "points", sorted(set(drawing.dots)), marker="circle", size=7, fill_color=INK)


def _strokes(stage: Stage, name: str, at: list[list[int]], colours: list[str], width: float, **look: Any) -> None:
    if at:
        look = dict(line_color="colour", line_width=width, line_cap="round", line_join="round") | look
        stage.figure.multi_line("xs", "ys", source=_moving(stage, name, at, colours), **look)


def _areas(stage: Stage, name: str, at: list[list[int]], colours: list[str], share: float) -> None:
    if at:
        source = _moving(stage, name, at, colours)
        source.add([tint(c, share) for c in colours], "fill")
        stage.figure.patches("xs", "ys", source=source, fill_color="fill", line_color="colour", line_width=2)


def _moving(stage: Stage, name: str, at: list[list[int]], colours: list[str]) -> ColumnDataSource:
    """A source of shapes as in the first frame, which the player will move."""
    x, y = ([stage.points[0, shape, k].tolist() for shape in at] for k in (0, 1))
    source = _source(name, xs=x, ys=y, colour=colours)
    stage.shapes.append(dict(source=source, at=at))
    return source


def _dots(
    stage: Stage, name: str, at: list[int], toward: list[list[int]] | None = None, glyph: str = "scatter", **look: Any
) -> Any:
    """Signs of a fixed size at some points, turned along the line between two others."""
    if not at:
        return None
    first = stage.points[0]
    directions = [first[j] - first[i] for i, j in toward or []]
    angles = [float(np.arctan2(d[1], d[0])) for d in directions] or [0.0] * len(at)
    source = _source(name, x=first[at, 0].tolist(), y=first[at, 1].tolist(), angle=angles)
    stage.dots.append(dict(source=source, at=at, toward=toward or []))
    return getattr(stage.figure, glyph)("x", "y", angle="angle", source=source, **({"line_color": None} | look))


def _labels(stage: Stage, drawing: Drawing) -> None:
    """Names of the links; the player puts each where it is free."""
    from bokeh.core.properties import value

    names = [name if len(name) <= 24 else name[:23] + "…" for name in drawing.outlines]
    empty: list[float] = [0.0] * len(names)
    colours = [colour(list(drawing.links).index(name)) for name in drawing.outlines]
    source = _source("names", x=empty, y=empty, text=[""] * len(names), colour=colours)
    font = dict(text_font_size="12px", text_font=value("Helvetica, Arial, sans-serif"), text_color="colour")
    font |= dict(text_baseline="middle", name="names text")
    text = stage.figure.text("x", "y", text="text", source=source, **font)
    around = [list(indices) for indices in drawing.outlines.values()]
    stage.labels = dict(source=source, glyphs=text, names=names, at=around, avoid=_avoided(stage, drawing))


def _avoided(stage: Stage, drawing: Drawing) -> list[list[int]]:
    """Where no name may stand: a point, and left, lower edge, width and height of a box about it, in pixels."""
    boxes = [[k, -6, -6, 12, 12] for k in sorted({*drawing.pins, *drawing.dots, *drawing.welds})]
    boxes += [[rider, -15, -15, 30, 30] for rider, guide in drawing.sliders if guide not in drawing.slots]
    boxes += [[k, -14, -20, 28, 20] for k in stage.signs["supported"]]
    return boxes + [[k, -16, 0, 32, 17] for k, _ in stage.signs["turned"]]


# --- the time plots ----------------------------------------------------------------------------------------------


def _plots(t: np.ndarray, panels: Sequence[Panel], events: Iterable[float]) -> tuple[list[Any], list[Any], list[Any]]:
    """One figure per panel on a common time axis, the cursor of each and the dots on the curves at the cursor."""
    from bokeh.models import CustomJS, Range1d
    from bokeh.models.annotations import Span

    if not len(t):
        return [], [], []
    margin = 0.01 * float(t[-1] - t[0]) or 1.0
    shared = Range1d(start=float(t[0]) - margin, end=float(t[-1]) + margin)
    tapped = CustomJS(args=dict(t=t.tolist()), code=PLOT_TAPPED)
    plots, cursors, marks = [], [], []
    for k, panel in enumerate(panels):
        plot = _plot(panel, shared, f"plot {k}", last=k == len(panels) - 1)
        for moment in events:
            plot.add_layout(Span(location=moment, dimension="height", line_color=GREY, line_dash="dotted"))
        cursor = Span(location=float(t[0]), dimension="height", line_color="#c0392b", line_width=1.5, name="cursor")
        plot.add_layout(cursor)
        mark = _source(f"marks {k}", x=[], y=[], colour=[])
        plot.scatter("x", "y", source=mark, size=7, fill_color="colour", line_color="white")
        plot.js_on_event("tap", tapped)
        plots.append(plot)
        cursors.append(cursor)
        marks.append(dict(source=mark, colours=list(panel.colours.values())))
    return plots, cursors, marks


def _plot(panel: Panel, times: Any, name: str, last: bool) -> Figure:
    from bokeh.models import BasicTicker
    from bokeh.plotting import figure

    plot = figure(
        name=name,
        height=196 if last else 172,
        sizing_mode="stretch_width",
        x_range=times,
        tools="xpan,xwheel_zoom,box_zoom,reset,save",
        active_drag=None,
        active_scroll=None,
        min_border_left=62,
        x_axis_label="t" if last else None,
    )
    for name_, points in panel.curves.items():
        x, y = points.T.astype(np.float32)
        if len(points) > 1:
            plot.line(x, y, color=panel.colours[name_], line_width=1.8)
        else:
            plot.scatter(x, y, color=panel.colours[name_], size=6)
    plot.yaxis.ticker = BasicTicker(desired_num_ticks=4)
    _plain(plot)
    return plot
