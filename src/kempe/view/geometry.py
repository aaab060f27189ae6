"""What there is to draw of a mechanism: each part as a stroke or a polygon through its joints, ground marks, guides."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kempe.analysis.posing import Posed
from kempe.elements import Body, Curve, Element, Ground, Marker, Point, RigidLink
from kempe.elements.base import Field, Group
from kempe.elements.curves import _Contact
from kempe.elements.joints import PinInSlot, Translational
from kempe.model import Model
from kempe.system.measures import positions


@dataclass
class Drawing:
    """Points over time (frames, points, 2) and the shapes made of them, all as index lists."""

    points: np.ndarray
    links: dict[str, list[int]] = field(default_factory=dict)
    pins: list[int] = field(default_factory=list)
    anchors: list[int] = field(default_factory=list)
    guides: list[tuple[int, int]] = field(default_factory=list)
    sliders: list[tuple[int, int]] = field(default_factory=list)
    curves: dict[str, list[int]] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    size: float = 1.0

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower left and upper right corner of everything over all frames, with a margin."""
        low, high = self.points.min(axis=(0, 1)), self.points.max(axis=(0, 1))
        margin = 0.08 * max(float((high - low).max()), 1e-12)
        return low - margin, high + margin


class _Collector:
    """Gathers markers once each and remembers which shape they belong to."""

    def __init__(self) -> None:
        self.markers: list[Marker | Point] = []
        self._seen: dict[object, int] = {}

    def add(self, marker: Marker | Point) -> int:
        carrier = marker.carrier if isinstance(marker, Marker) else marker
        key = (id(carrier), *map(str, marker.point)) if isinstance(marker, Marker) else (id(carrier),)
        if key not in self._seen:
            self._seen[key] = len(self.markers)
            self.markers.append(marker)
        return self._seen[key]


def _markers_in(part: Field) -> list[Marker]:
    if isinstance(part, Marker):
        return [part]
    return [m for f in part.fields for m in _markers_in(f)] if isinstance(part, Group) else []


def drawing_of(model: Model, q: np.ndarray, parameters: dict[str, float] | None = None) -> Drawing:
    """Everything to draw of a mechanism in one or many poses."""
    posed = Posed(model, parameters)
    collected = _Collector()
    drawing = Drawing(np.zeros((1, 0, 2)), size=posed.size)
    on_body: dict[str, list[int]] = {p.name: [] for p in model.parts.values() if isinstance(p, Body)}
    for element in model.elements.values():
        _element(element, collected, drawing, on_body)
    for name, indices in on_body.items():
        body = model.parts[name]
        assert isinstance(body, Body)
        centre = collected.add(body.at((0.0, 0.0)))
        drawing.labels[name] = centre
        drawing.links[name] = list(dict.fromkeys(indices)) or [centre]
        if len(drawing.links[name]) == 1 and drawing.links[name] != [centre]:
            drawing.links[name].append(centre)
    drawing.points = positions(posed.system, collected.markers, posed.parameters, q)
    return drawing


def _element(element: Element, collected: _Collector, drawing: Drawing, on_body: dict[str, list[int]]) -> None:
    if isinstance(element, RigidLink):
        drawing.links[element.name] = [collected.add(p) for p in element.points]
        drawing.pins += drawing.links[element.name]
        drawing.anchors += [collected.add(p) for p in element.points if p.fixed == "xy"]
        return
    markers = [m for f in element.fields.values() for m in _markers_in(f)]
    if element.drives or isinstance(element, _Contact):
        if isinstance(element, _Contact):
            _profile(element, collected, drawing)
        markers = [m for m in markers if not isinstance(m.carrier, Ground)]
        for marker in markers if isinstance(element, _Contact) else []:
            _attach(marker, collected, on_body)
        return
    slides = isinstance(element, (Translational, PinInSlot))
    for marker in markers:
        index = _attach(marker, collected, on_body) if not slides else collected.add(marker)
        if not slides:
            drawing.pins.append(index)
            if isinstance(marker.carrier, Ground):
                drawing.anchors.append(index)
    if slides:
        rail, rider = markers[0], markers[1]
        reach = 0.25 * drawing.size
        angle = float(np.asarray(_present(rail.angle)))
        x, y = (float(np.asarray(_present(c))) for c in rail.point)
        ends = [
            collected.add(rail.carrier.at((x + s * reach * np.cos(angle), y + s * reach * np.sin(angle))))
            for s in (-1, 1)
        ]
        drawing.guides.append((ends[0], ends[1]))
        drawing.sliders.append((_attach(rider, collected, on_body), len(drawing.guides) - 1))
        if isinstance(rail.carrier, Body):
            on_body[rail.carrier.name] += ends


def _attach(marker: Marker, collected: _Collector, on_body: dict[str, list[int]]) -> int:
    index = collected.add(marker)
    if isinstance(marker.carrier, Body):
        on_body[marker.carrier.name].append(index)
    return index


def _present(value: object) -> float:
    from kempe.elements import evaluate

    return float(evaluate([value])[0])  # type: ignore[list-item]


def _profile(element: _Contact, collected: _Collector, drawing: Drawing) -> None:
    base, profile = element.fields["base"], element.fields["profile"]
    assert isinstance(base, Marker) and isinstance(profile, Curve)
    samples = np.linspace(*profile.span, 121)
    points = [tuple(_present(c) for c in (profile.at(s)[0], profile.at(s)[1])) for s in samples]
    drawing.curves[element.name] = [collected.add(base.carrier.at(p)) for p in points]
