"""What is legal in a model and probably not meant: degrees for radians, millimetres for metres, no gravity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kempe.elements import Body, Carrier, ClearanceRevolute, Force, LubricatedRevolute, Marker, Part, Point, SpatialBody
from kempe.elements.numbers import evaluate
from kempe.elements.sources import DrawnSource
from kempe.model.building import Builder
from kempe.system import System

#: A part so many times farther away than the mechanism is large is drawn in another unit.
FAR = 1000.0
#: So many parts are not looked at pair by pair.
MANY = 300
#: A force so many times farther from its part's origin than the part's joints acts beside it.
BESIDE = 10.0

#: A doubt: whom it is about, and the question.
Doubt = tuple[str, str]


def doubts(system: System) -> list[Doubt]:
    """All of them."""
    found = [*_degrees(system), *_far_away(system), *_beside(system), *_outside(system)]
    if isinstance(system.model, Builder):
        found += [*_weightless(system, system.model), *_slack(system.model)]
    return found


def _degrees(system: System) -> Iterator[Doubt]:
    for part in system.parts:
        angle = float(evaluate(part.start)[2]) if isinstance(part, Body) else 0.0
        if abs(angle) > 2 * np.pi * (1 + 1e-9):
            yield (
                part.name,
                f"'{part.name}' is drawn at an angle of {angle:g}, more than a turn: angles are in radians; "
                f"if these are degrees, write np.radians({angle:g})",
            )


def _weightless(system: System, model: Builder) -> Iterator[Doubt]:
    down = "(0, -9.81)" if model.space.dim == 2 else "(0, 0, -9.81)"
    heavy = any(element.has_inertia for element in system.elements)
    if heavy and not np.any(evaluate(model.gravity)):
        yield (
            model.name,
            f"'{model.name}' has masses and no gravity; if they have weight: gravity={down}, in your units",
        )


def _slack(model: Builder) -> Iterator[Doubt]:
    """Springs that were given a stiffness of zero."""
    for verb, given in model.recipe:
        stiffness = np.atleast_1d(np.array(given.get("stiffness", 1.0), dtype=object)).ravel().tolist()
        if verb in ("spring", "torsion_spring", "bushing") and not np.any(evaluate(stiffness)):
            what = f"{verb.replace('_', ' ')} '{given['name']}'"
            yield given["name"], f"{what} has a stiffness of zero: it does not spring back"


def _far_away(system: System) -> Iterator[Doubt]:
    """Parts far from all others and from the origin, for the size of the parts."""
    drawn = {part.name: _place(part) for part in system.parts}
    places = {name: np.array(place) for name, place in drawn.items() if place is not None}
    joined = [e for e in system.elements if not isinstance(e, Force)]
    arms = [arm for element in joined for marker in _markers(element) if (arm := _arm(marker)) > 0]
    if not arms or len(places) > MANY:
        return
    size = float(np.median(arms))
    for name, place in places.items():
        others = [np.zeros(len(place)), *(other for key, other in places.items() if key != name)]
        distance = min(float(np.linalg.norm(place - other)) for other in others)
        if distance > FAR * size:
            yield (
                name,
                f"'{name}' is drawn {distance:.4g} away from everything else, where parts are about {size:.2g} large: "
                "are these the same units?",
            )


def _beside(system: System) -> Iterator[Doubt]:
    """Forces far outside of their part, as one in the part's own axes is when it is taken for a place in the world."""
    forces = [e for e in system.elements if isinstance(e, Force)]
    for force in forces:
        others = [m for e in system.elements if e is not force for m in _markers(e) if m.name == force.marker.name]
        reach = max(map(_arm, others), default=0.0)
        if reach > 0 and _arm(force.marker) > BESIDE * reach:
            yield (
                force.name,
                f"force '{force.name}' acts {_arm(force.marker):.3g} away from the origin of '{force.marker.name}', "
                f"whose joints are within {reach:.3g}: at= is a point in the world, on= one in the part's own axes",
            )


def _outside(system: System) -> Iterator[Doubt]:
    """Journals that are drawn outside of their bearings, which nothing assembles."""
    for element in system.elements:
        if not isinstance(element, (ClearanceRevolute, LubricatedRevolute)):
            continue
        i, j = (marker.symbolic(DrawnSource()).r for marker in element.markers)
        apart, play = (
            np.hypot(*evaluate([j[0] - i[0], j[1] - i[1]])),
            float(evaluate(list(element.fields["clearance"].data()))[0]),
        )
        if apart > 2 * play:
            yield (
                element.name,
                f"the journal of '{element.name}' is drawn {apart:.3g} away from the centre of its bearing, and its "
                f"clearance is {play:.3g}: a joint with clearance is no constraint that would bring it there",
            )


def _place(part: Part) -> list[float] | None:
    """Where a part is drawn."""
    if isinstance(part, (Body, SpatialBody)):
        return [float(c) for c in evaluate(part.start)[: part.space.dim]]
    return [float(c) for c in evaluate(part.location)] if isinstance(part, Point) else None


def _markers(element: object) -> list[Marker]:
    fields = getattr(element, "fields", {})
    return [f for f in fields.values() if isinstance(f, Marker) and isinstance(f.carrier, Carrier) and list(f.parts())]


def _arm(marker: Marker) -> float:
    """How far a marker is from the origin of its part."""
    return float(np.linalg.norm(evaluate(marker.point)))
