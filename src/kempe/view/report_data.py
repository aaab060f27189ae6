"""What the page of a report is given: the numbers of its runs in one packed block, and what is drawn of them."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kempe.elements import Inertia, PointMass, RigidBody
from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import Result
from kempe.results.events import hit_of
from kempe.simulation.batches import Runs
from kempe.view.drawing import Drawing
from kempe.view.geometry import drawing_of
from kempe.view.labels import label_of
from kempe.view.report_scene import scene_told
from kempe.view.scene import Scene
from kempe.view.shapes import Shape, link_colours, shapes_of
from kempe.view.spatial import scene_of
from kempe.view.sticking import held_by, sizes, sticking
from kempe.view.style import DARK, FORCE, GREY, INK, PALE, PAPER, RUBBER

#: Numbers of one run, and of a family together (four bytes each before packing); rows of a run at most and at least.
NUMBERS, FAMILY, ROWS, FEWEST = 1_000_000, 2_500_000, 2000, 60
#: Rows among which those of the page are chosen, and events that are told.
LOOKED_AT, EVENTS = 12_000, 200
#: Impacts that are marked.
IMPACTS = 2000
#: A drawing as wide as a page, in typographic points: hatchings are as dense as fits this.
PAGE = 440.0
#: What a colour is called where dark and light change places.
THEME = {INK: "ink", DARK: "dark", GREY: "grey", RUBBER: "rubber", PALE: "pale", PAPER: "paper", FORCE: "force"}


class Block:
    """Numbers side by side in one vector; whoever adds some is told where they lie."""

    def __init__(self) -> None:
        self._pieces: list[np.ndarray] = []
        self._length = 0

    def add(self, values: Any) -> list[int]:
        """Put numbers in, to seven digits; where they begin and how many they are."""
        with np.errstate(over="ignore"):  # what no page can show becomes infinite, and is left out there
            flat = np.asarray(values, dtype=np.float32).ravel()
        self._pieces.append(flat)
        self._length += len(flat)
        return [self._length - len(flat), len(flat)]

    def add_exact(self, values: Any) -> list[list[int]]:
        """Put numbers in as two parts, whose sum has fourteen digits."""
        high = np.asarray(values, dtype=np.float32)
        return [self.add(high), self.add(np.asarray(values, dtype=float) - high)]

    def packed(self) -> str:
        """All of it as text: the steps from number to number, their bytes of equal weight side by side, packed."""
        flat = np.concatenate([np.zeros(0, dtype=np.float32), *self._pieces]).astype("<f4")
        steps = np.diff(flat.view("<u4"), prepend=np.uint32(0)).astype("<u4")  # round the end where they are negative
        planes = steps.view(np.uint8).reshape(-1, 4).T.copy()
        packer = zlib.compressobj(6, wbits=31)  # with the head of a gzip file, which browsers can unpack
        return base64.b64encode(packer.compress(planes.tobytes()) + packer.flush()).decode("ascii")


def as_script(value: Any) -> str:
    """JSON that may stand in a script element, whatever users call their parts."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# --- runs -------------------------------------------------------------------------------------------------------------


class Take:
    """One run as the page knows it: the rows shown, the drawing, the arrows of loads, the events."""

    def __init__(
        self, model: Model, result: Result, label: str = "", forces: bool = True, quantities: bool = True
    ) -> None:
        self.model, self.result, self.label, self.forces = model, result, label, forces
        self.shown = result.names if quantities else []
        self.parameters: dict[str, float] = {}  # those by which it is chosen
        finite = np.flatnonzero(np.isfinite(result.q).all(axis=1) & np.isfinite(result.t))
        self.rows = spread(finite, LOOKED_AT)
        self.drawing = self._drawing()

    def _drawing(self) -> Drawing | Scene | None:
        """What is seen; None for a model without geometry."""
        if not len(self.rows):
            return None
        given = self.model, self.result.q[self.rows], self.result.provenance.get("parameters")
        if self.model.space.dim == 3:
            scene = scene_of(*given)
            return scene if scene.pieces and np.isfinite(scene.frames).all() else None
        drawing = drawing_of(*given)
        return drawing if drawing.points.shape[1] and np.isfinite(drawing.points).all() else None

    @property
    def numbers(self) -> int:
        """How many numbers a row has, at most."""
        if self.drawing is None:
            return len(self.shown)
        acting = [e for e in self.model.elements.values() if not isinstance(e, (Inertia, PointMass))]
        space = self.model.space
        loads = (space.dim + space.moves) * len(acting) if self.forces else 0
        return len(self.shown) + self.drawing.numbers + loads

    def thin(self, most: int, plotted: Sequence[str]) -> None:
        """Keep at most about so many rows: evenly chosen ones, those at events, and the extremes of what is plotted."""
        if len(self.rows) <= most:
            return
        t = self.result.t[self.rows]
        extremes = [pick(self.result.array(n)[self.rows]) for n in plotted for pick in (np.nanargmin, np.nanargmax)]
        met = [int(np.argmin(np.abs(t - event.t))) for event in timed(self.result)]
        kept = np.union1d(spread(np.arange(len(self.rows)), most), np.array([*extremes, *met], dtype=int))
        self.rows = self.rows[kept]
        if self.drawing is not None:
            self.drawing.keep(kept)

    def told(self, block: Block, pictures: list[dict[str, Any]]) -> dict[str, Any]:
        """The run for the page; its numbers go into the block, its picture into the list unless it is there already."""
        result = at_rows(self.result, self.rows)
        told: dict[str, Any] = {
            "label": self.label,
            "parameters": self.parameters,
            "success": bool(result.success),
            "message": result.message,
            "t": block.add_exact(result.t),
            "values": {name: block.add(result.array(name)) for name in self.shown} if len(result) else {},
            "events": [_event(event) for event in timed(result)],
            **_met(self.result),
        }
        if self.drawing is not None:
            picture = scene_told(self.drawing) if isinstance(self.drawing, Scene) else picture_of(self.drawing)
            if picture not in pictures:
                pictures.append(picture)
            told |= {"picture": pictures.index(picture), **_moving(self.drawing, block)}
            told["loads"] = [
                load | {key: block.add(_columns(load[key])) for key in ("at", "force", "moment")}
                for load in (loads_of(self.model, result) if self.forces else ())
            ]
        return told


def _moving(drawing: Drawing | Scene, block: Block) -> dict[str, Any]:
    """What moves: in the plane frames and free points; in space frames other than the world, column by column."""
    if isinstance(drawing, Scene):
        return {"frames": block.add(_columns(np.swapaxes(drawing.frames[:, 1:], 2, 3)))}
    free = [k for k in range(drawing.points.shape[1]) if k not in drawing.fixed]
    return {"free": block.add(_columns(drawing.points[:, free])), "frames": block.add(_columns(drawing.frames))}


def _event(event: Any) -> dict[str, Any]:
    told = {"t": event.t, "kind": event.kind, "message": event.message, "element": getattr(event, "element", "")}
    impulses, lost = hit_of(event)
    told |= {"impulses": impulses} if impulses else {}
    return told | {key: value for key, value in (("struck", getattr(event, "struck", False)), ("lost", lost)) if value}


def _met(result: Result) -> dict[str, Any]:
    """When what sticks, which quantities show it, and how large impacts are beside the largest."""
    sticks, hits = sticking(result), result.impacts[:IMPACTS]
    held = {name: held_by(result, name, sticks) for name in result.names} if sticks else {}
    return {
        "sticks": sticks,
        "held": {name: owners for name, owners in held.items() if owners},
        "impacts": [[impact.t, float(size)] for impact, size in zip(hits, sizes(hits), strict=True)],
    }


def at_rows(result: Result, rows: np.ndarray) -> Result:
    """A result at some of its times, so that only there what is derived from it is computed."""
    found = replace(
        result,
        t=result.t[rows],
        q=result.q[rows],
        v=result.v[rows],
        a=result.a[rows],
        series={name: values[rows] for name, values in result.series.items()},
    )
    found.derived |= {name: values[rows] for name, values in result.derived.items()}
    return found


def _columns(rows: np.ndarray) -> np.ndarray:
    """Each number of a row over time, one after the other: what changes little lies side by side."""
    return rows.reshape(len(rows), -1).T


def spread(rows: np.ndarray, most: int) -> np.ndarray:
    """At most so many of some rows, evenly chosen."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(int))]


def timed(result: Result) -> list[Any]:
    """The events whose time is known; of very many the first."""
    return [e for e in result.events if hasattr(e, "t")][:EVENTS]


def thinned(takes: Sequence[Take], plotted: Sequence[str]) -> None:
    """Leave so many rows in all runs of a page that it stays small."""
    most = (NUMBERS if len(takes) == 1 else FAMILY) // max(1, sum(take.numbers for take in takes))
    for take in takes:
        take.thin(int(np.clip(most, FEWEST, ROWS)), [name for name in plotted if name in take.result.names])


def loads_of(model: Model, result: Result) -> list[dict[str, Any]]:
    """What joints, drivers, springs and forces do to the parts, wherever it is known and not always nothing."""
    found = []
    for name, element in model.elements.items():
        if isinstance(element, (Inertia, PointMass, RigidBody)):
            continue
        try:
            load = result.reaction(name)
        except ModelError:  # of kinematics nothing is known, and some elements act on no part
            continue
        finite = np.isfinite(np.column_stack([load.force, load.moment])).all(axis=1)
        if not finite.any() or not (load.force[finite].any() or load.moment[finite].any()):
            continue
        group = "reactions" if element.rows else "loads"
        arrays = {"at": load.point, "force": load.force, "moment": load.moment}
        found.append({"name": name, "kind": element.kind, "on": load.on, "group": group, **arrays})
    return found


# --- pictures ---------------------------------------------------------------------------------------------------------


def picture_of(drawing: Drawing) -> dict[str, Any]:
    """The shapes of a drawing, its names, and what can be traced."""
    unit = float(np.ptp(drawing.points[0], axis=0).max()) / PAGE or drawing.size / PAGE
    low, high = drawing.box
    return {
        "box": [*low.tolist(), *high.tolist()],
        "places": [_rounded(drawing.fixed[k]) if k in drawing.fixed else 0 for k in range(drawing.points.shape[1])],
        "shapes": [_shape(shape) for shape in shapes_of(drawing, unit)],
        "names": list(_names(drawing)),
        "traces": {name: k for name, k in {**drawing.joints, **drawing.labels}.items() if _moves(drawing, k)},
        "pins": sorted({*drawing.pins, *drawing.dots, *drawing.welds}),
        "supports": sorted(set(drawing.anchors)),
        "blocks": sorted({rider for rider, guide in drawing.sliders if guide not in drawing.slots}),
        "colours": link_colours(drawing),
    }


def _moves(drawing: Drawing, index: int) -> bool:
    return float(np.ptp(drawing.points[:, index], axis=0).max()) > 1e-9 * drawing.size


def _shape(shape: Shape) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": shape.kind, "points": [int(k) for k in shape.points], "width": shape.width}
    told |= {"edge": THEME.get(shape.edge, shape.edge), "strong": shape.strong_edge}
    if shape.fill:
        told |= {"fill": THEME.get(shape.fill, shape.fill), "filled": shape.strong_fill}
    if shape.sketch:
        told |= {"sketch": [_vertex(v) for v in shape.sketch], "line": shape.line}
    if shape.kind == "marks":
        told |= {"mark": shape.mark, "size": shape.size}
    return told | {key: True for key in ("dashed", "blunt") if getattr(shape, key)}


def _rounded(numbers: Iterable[float]) -> list[float]:
    return [float(f"{value:.7g}") for value in numbers]


def _vertex(vertex: Sequence[float]) -> list[float] | None:
    """A vertex without the zeros at its end; None for a gap."""
    if np.isnan(vertex[0]):
        return None
    numbers = _rounded(vertex)
    while numbers and numbers[-1] == 0.0:
        numbers.pop()
    return numbers


def _names(drawing: Drawing) -> Iterable[dict[str, Any]]:
    """The names in a drawing in the order in which they choose their places: parts first, then joints."""
    colours = link_colours(drawing)
    for name, index in drawing.labels.items():
        if name not in drawing.links:
            yield {"text": name, "at": [index], "colour": "ink"}
    for name, outline in drawing.outlines.items():
        yield {"text": name, "at": list(outline), "colour": colours[name]}
    pairs: Mapping[str, Sequence[int]] = {
        **drawing.rods,
        **{name: (foot, tip) for name, (foot, _, tip) in drawing.actuators.items()},
    }
    for name, ends in pairs.items():
        yield {"text": name, "at": list(ends), "colour": "dark"}
    for name, ends in drawing.springs.items():
        yield {"text": name, "at": list(ends), "colour": "dark", "wide": 16}
    for name, index in drawing.joints.items():
        yield {"text": name, "at": [index], "colour": "dark", "joint": True}


# --- quantities -------------------------------------------------------------------------------------------------------


def quantities_of(result: Result) -> list[dict[str, str]]:
    """Every quantity that can be plotted, with its unit and what it measures."""
    return [{"name": name, "label": label_of(result, name), "kind": result.kind(name)} for name in result.names]


def family_of(family: Runs | Sequence[Result] | None) -> list[Result]:
    """The results of a family: those given, or those of the designs of runs."""
    if isinstance(family, Runs):
        return [family.result(k) for k in range(len(family))]
    found = list(family or ())
    if not all(isinstance(one, Result) for one in found):
        raise ModelError("family must be what run_many(..., quantities='all') returns, or a list of results")
    return found


def parameters_of(model: Model, results: Sequence[Result]) -> list[dict[str, float]]:
    """The parameters in which the results of a family differ, with their values in each."""
    standing = {name: float(p.value) for name, p in model.parameters.items()}
    values = [standing | dict(result.provenance.get("parameters") or {}) for result in results]
    free = [name for name, p in model.parameters.items() if p.formula is None]
    varied = [name for name in free if len({row[name] for row in values}) > 1]
    return [{name: row[name] for name in varied} for row in values]
