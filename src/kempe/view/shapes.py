"""The strokes, areas and marks of which a drawing consists, as data: what matplotlib paints, a report paints too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kempe.view.drawing import Circle, Drawing
from kempe.view.style import DARK, FORCE, GREY, INK, LINE, PALE, PAPER, RUBBER, THIN, colour

#: One vertex of a sketch: share of the line, along and across it in typographic points, offset in the plane.
Vertex = tuple[float, float, float, float, float]
_GAP: Vertex = (np.nan,) * 5
_TURN = np.linspace(0.0, 2.0 * np.pi, 97)


@dataclass(frozen=True)
class Shape:
    """A line, a filled area, or marks, and how it looks; what is higher in ``order`` covers what is lower.

    Without a sketch it goes through ``points``. Else its vertices are those of the sketch, about its one point:
    point + share (end - start) + unit (along u + across n) + offset, where ``line`` is (start, end), u its direction
    and n the normal on its left (the axes of the plane where there is no line).
    """

    kind: str  # "line", "area" or "marks"
    points: Sequence[int]
    sketch: Sequence[Vertex] = ()
    line: tuple[int, int] | None = None
    edge: str = INK
    width: float = LINE
    fill: str = ""
    #: How strong edge and fill are; the rest is paper.
    strong_edge: float = 1.0
    strong_fill: float = 1.0
    order: float = 2.0
    mark: str = "o"
    size: float = 0.0
    dashed: bool = False
    blunt: bool = False

    @cached_property
    def _sketch(self) -> np.ndarray:
        return np.array(self.sketch)

    def where(self, points: np.ndarray, unit: float) -> np.ndarray:
        """Its vertices, from the points of one frame; ``unit`` is the length of a typographic point."""
        place = points[list(self.points)]
        if not self.sketch:
            return place
        share, along, across = self._sketch[:, :3].T
        ahead, u = np.zeros(2), np.array([1.0, 0.0])
        if self.line is not None:
            ahead = points[self.line[1]] - points[self.line[0]]
            u = ahead / max(float(np.hypot(*ahead)), 1e-300)
        n = np.array([-u[1], u[0]])
        signs = np.outer(share, ahead) + unit * (np.outer(along, u) + np.outer(across, n))
        return place + signs + self._sketch[:, 3:]


def link_colours(drawing: Drawing) -> dict[str, str]:
    """The colour of each link."""
    return {name: colour(k) for k, name in enumerate(drawing.links)}


def shapes_of(drawing: Drawing, unit: float, frame: int = 0) -> list[Shape]:
    """Everything to paint of a drawing, lowest first; hatchings are as dense as looks right in one frame."""
    artist = _Artist(drawing, unit, drawing.points[frame])
    kinds = (artist.guides, artist.curves, artist.circles, artist.belts, artist.links, artist.rods, artist.loads)
    found = [shape for kind in (*kinds, artist.joints) for shape in kind()]
    return sorted(found, key=lambda shape: shape.order)


class _Artist:
    """Knows a drawing, its colours, and how large things are in one frame."""

    def __init__(self, drawing: Drawing, unit: float, start: np.ndarray) -> None:
        self.drawing, self.unit, self.start = drawing, unit, start
        self.colours = link_colours(drawing)

    def of(self, key: str | int) -> str:
        """The colour of the link to which something belongs."""
        return self.colours.get(self.drawing.owner.get(key, ""), INK)

    def length(self, start: int, end: int) -> float:
        """How far two points are apart, in typographic points."""
        return float(np.hypot(*(self.start[end] - self.start[start]))) / self.unit

    # --- the kinds of shapes --------------------------------------------------------------------------------------

    def guides(self) -> Iterator[Shape]:
        for number, ends in enumerate(self.drawing.guides):
            if number in self.drawing.slots:
                yield Shape("line", ends, edge=self.of(number), width=8.5, order=2.4)
                yield Shape("line", ends, edge=PAPER, width=6.5, order=2.4)
                continue
            edge = self.of(number) if number in self.drawing.owner else GREY
            yield Shape("line", ends, edge=edge, width=2.2, blunt=True, order=1.6)
            if number not in self.drawing.owner:
                yield self.hatched(ends, self._below(*ends), edge=GREY, order=1.6)

    def _below(self, start: int, end: int) -> float:
        """On which side of a line the ground is: 1 on its left, -1 on its right."""
        return -1.0 if self.start[start][0] - self.start[end][0] < 1e-9 * self.length(start, end) * self.unit else 1.0

    def hatched(self, ends: tuple[int, int], side: float, edge: str, order: float) -> Shape:
        """Short strokes along a line on one side, leaning as on every ground line."""
        strokes = hatching(max(2, round(self.length(*ends) / 4.5)), side)
        return Shape("line", ends[:1], strokes, ends, edge=edge, width=THIN, order=order)

    def curves(self) -> Iterator[Shape]:
        for name, indices in self.drawing.curves.items():
            edge = self.of(name)
            gap = np.hypot(*(self.start[indices[-1]] - self.start[indices[0]]))
            if gap < 1e-6 * self.drawing.size and name in self.drawing.owner:
                yield Shape("area", indices, edge=edge, fill=edge, strong_fill=0.15, order=1.5)
            else:
                yield Shape("line", indices, edge=edge, order=1.5)
        for name, ends in self.drawing.faces.items():
            yield Shape("line", ends, edge=self.of(name), width=3.0, order=2.2)

    def circles(self) -> Iterator[Shape]:
        for circle in self.drawing.circles:
            edge = self.colours.get(circle.owner, INK)
            rim = Shape("line", [circle.centre], ring(circle.radius), edge=edge, order=1.7)
            if circle.kind == "roller":
                yield replace(rim, kind="area", fill=edge, strong_fill=0.15, order=1.55)
            else:
                yield rim if circle.kind == "pulley" else replace(rim, width=1.0, dashed=True)
            if circle.fixed:
                yield self._ground_ring(circle)
        for name, ends in self.drawing.spokes.items():
            yield Shape("line", ends, edge=self.of(name), width=1.0, order=1.7)

    def _ground_ring(self, circle: Circle) -> Shape:
        """Hatching around a circle that stands still."""
        count = max(12, round(2.0 * np.pi * circle.radius / (6.0 * self.unit)))
        strokes: list[Vertex] = []
        for c, s in ((np.cos(a), np.sin(a)) for a in 2.0 * np.pi * np.arange(count) / count):
            rim = (circle.radius * c, circle.radius * s)
            strokes += [(0.0, 0.0, 0.0, *rim), (0.0, 4.5 * (c + 0.7 * s), 4.5 * (s - 0.7 * c), *rim), _GAP]
        return Shape("line", [circle.centre], strokes, edge=GREY, width=THIN, order=1.2)

    def belts(self) -> Iterator[Shape]:
        for strand in self.drawing.belts:
            yield Shape("line", strand, edge=DARK, width=1.6, order=1.6)
        for name, ends in self.drawing.racks.items():
            count = max(2, round(self.length(*ends) / 2.5))
            teeth = [vertex(k / count, across=1.6 if k % 2 else -1.6) for k in range(count + 1)]
            yield Shape("line", ends[:1], teeth, ends, edge=self.of(name), width=1.0, order=2.4)

    def links(self) -> Iterator[Shape]:
        slotted = {self.drawing.owner.get(k) for k in self.drawing.slots}  # below their slots; pins are above them
        ringed = {circle.owner for circle in self.drawing.circles if circle.fixed}
        for name, outline in self.drawing.outlines.items():
            edge = self.colours[name]
            if len(outline) == 2:
                tube = Shape("line", outline, edge=edge, width=5.5, order=2.3 if name in slotted else 2.5)
            elif len(outline) > 2:
                tube = Shape("area", outline, edge=edge, width=5.5, fill=edge, strong_fill=0.3, order=2.0)
            elif name not in ringed:
                yield Shape("marks", outline, edge=edge, width=1.0, fill=edge, size=8.0, order=2.5)
                continue
            else:
                continue
            yield tube
            yield replace(tube, width=3.7, strong_edge=0.3)

    def rods(self) -> Iterator[Shape]:
        for ends in self.drawing.rods.values():
            yield Shape("line", ends, edge=DARK, width=1.8, order=2.8)
        for foot, barrel, tip in self.drawing.actuators.values():
            yield Shape("line", (foot, tip), edge=DARK, width=2.4, order=2.7)
            yield Shape("area", [foot], bar(3.5), (foot, barrel), edge=DARK, width=1.0, fill=PALE, order=2.8)

    def loads(self) -> Iterator[Shape]:
        drawing = self.drawing
        for name, ends in drawing.walls.items():
            edge = self.of(name) if name in drawing.owner else GREY
            yield Shape("line", ends, edge=edge, width=2.2, blunt=True, order=2.2)
            yield self.hatched(ends, -1.0, edge=edge, order=2.2)
        for stroke in [stroke for strokes in drawing.strokes.values() for stroke in strokes]:
            yield Shape("line", stroke, edge=DARK, width=1.1, order=2.9)
        for name, shaft in drawing.arrows.items():
            hue = drawing.hues.get(name, FORCE)
            yield Shape("line", shaft, edge=hue, width=1.5, blunt=True, order=4.3)
            yield Shape("area", drawing.heads[name], edge=hue, width=0.5, fill=hue, order=4.3)
        if drawing.bushings:
            yield Shape("marks", drawing.bushings, edge=DARK, width=1.0, fill=RUBBER, size=11.0, order=3.8)

    def joints(self) -> Iterator[Shape]:
        drawing = self.drawing
        for rider, guide in drawing.sliders:
            if guide not in drawing.slots:
                edge = next((self.colours[n] for n, k in drawing.links.items() if rider in k), INK)
                look = Shape("area", [rider], block(), drawing.guides[guide], edge=edge, width=1.1, order=3.0)
                yield replace(look, fill=edge, strong_fill=0.45)
        for place in sorted(set(drawing.anchors) - self._on_fixed_rings()):
            yield Shape("line", [place], support(), width=1.0, order=3.1)
        if drawing.pins:
            yield Shape("marks", drawing.pins, width=1.0, fill=PAPER, size=5.0, order=4.0)
        if drawing.dots:
            yield Shape("marks", drawing.dots, width=1.0, fill=INK, size=4.5, order=4.0)
        loose = [k for k in drawing.welds if k not in drawing.anchors]
        if loose:
            yield Shape("marks", loose, width=1.0, fill=INK, mark="s", size=4.5, order=3.9)
        for index, sense in drawing.motors.values():
            yield Shape("line", [index], turning(sense), edge=DARK, width=1.1, order=4.2)

    def _on_fixed_rings(self) -> set[int]:
        """Supports of rings that are hatched themselves."""
        rings = [c.centre for c in self.drawing.circles if c.fixed]
        return set(rings) - {k for k in self.drawing.pins if k in self.drawing.anchors}


# --- sketches ---------------------------------------------------------------------------------------------------------


def vertex(share: float = 0.0, along: float = 0.0, across: float = 0.0) -> Vertex:
    """A place on a line, and so many typographic points along and across it from there."""
    return (share, float(along), float(across), 0.0, 0.0)


def ring(radius: float) -> list[Vertex]:
    """A circle in the measure of the plane."""
    return [(0.0, 0.0, 0.0, radius * float(np.cos(a)), radius * float(np.sin(a))) for a in _TURN]


def hatching(count: int, side: float) -> list[Vertex]:
    """Strokes that lean back, on one side of a line."""
    strokes: list[Vertex] = []
    for share in (np.arange(count) + 0.6) / count:
        strokes += [vertex(share), vertex(share, -3.15, 4.5 * side), _GAP]
    return strokes


def bar(half: float) -> list[Vertex]:
    """The corners of a rectangle about a line."""
    return [vertex(0.0, 0.0, -half), vertex(1.0, 0.0, -half), vertex(1.0, 0.0, half), vertex(0.0, 0.0, half)]


def block() -> list[Vertex]:
    """The corners of a slider's block."""
    return [vertex(0.0, x, y) for x, y in ((-11.0, -6.5), (11.0, -6.5), (11.0, 6.5), (-11.0, 6.5))]


def support() -> list[Vertex]:
    """A pin's support on the ground: a triangle on a hatched line."""
    feet = [vertex(0.0, -5.5, -10.0), vertex(), vertex(0.0, 5.5, -10.0), _GAP]
    base = [vertex(0.0, -9.5, -10.0), vertex(0.0, 9.5, -10.0), _GAP]
    strokes: list[Vertex] = []
    for x in -7.5 + 17.0 * (np.arange(4) + 0.6) / 4.0:
        strokes += [vertex(0.0, x, -10.0), vertex(0.0, x - 3.15, -14.5), _GAP]
    return feet + base + strokes


def turning(sense: int) -> list[Vertex]:
    """An arrow round a driven pin."""
    turn = np.radians(np.linspace(20.0, 160.0, 25))[::sense]
    arc = 10.0 * np.column_stack([np.cos(turn), np.sin(turn)])
    ahead = 4.0 * (arc[-1] - arc[-2]) / np.hypot(*(arc[-1] - arc[-2]))
    barbs = [arc[-1] - ahead @ np.array([[c, s], [-s, c]]) for c, s in ((0.87, 0.5), (0.87, -0.5))]
    head = [vertex(0.0, *barbs[0]), vertex(0.0, *arc[-1]), vertex(0.0, *barbs[1])]
    return [vertex(0.0, *place) for place in arc] + [_GAP] + head
