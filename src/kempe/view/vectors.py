"""Vectors of a motion by name: forces, moments, velocities and accelerations as arrows that move with it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kempe.elements import (
    Carrier,
    Driver,
    Element,
    Joint,
    RigidLink,
    SpatialJoint,
    SpatialTorque,
    Torque,
    TorsionSpring,
)
from kempe.elements.kinds import EFFORTS
from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import Reaction, Result
from kempe.system.wrenches import touched
from kempe.view.drawing import Drawing
from kempe.view.loads import PAGE, pivot
from kempe.view.stage import Stage
from kempe.view.style import FORCE, HASTE, INK
from kempe.view.wheels import pivot_of

#: What arrows of a kind look like.
HUES = {"force": FORCE, "moment": FORCE, "velocity": INK, "acceleration": HASTE}
#: The longest arrow of a kind as a share of the mechanism; the largest moment as a share of a turn.
LONGEST, ROUND = 0.3, 0.75
_WORDS = {"velocity": "velocity", "v": "velocity", "acceleration": "acceleration", "a": "acceleration"}


@dataclass(frozen=True)
class Vector:
    """A vector over time (times, 2 or 3) at a moving point, or in the plane a moment (times,) about it."""

    name: str
    owner: str
    kind: str
    foot: np.ndarray
    value: np.ndarray

    def at(self, row: int, name: str) -> Vector:
        """The vector at one time alone, under another name."""
        return Vector(name, self.owner, self.kind, self.foot[row : row + 1], self.value[row : row + 1])

    @property
    def size(self) -> np.ndarray:
        """How large it is at every time."""
        return np.abs(self.value) if self.value.ndim == 1 else np.linalg.norm(self.value, axis=1)


def vectors_of(model: Model, result: Result, names: Sequence[str] | str) -> list[Vector]:
    """The vectors with these names.

    "B.force" is what joint (spring, load, driver) B exerts on its second part, at its point there, "B.moment" the
    moment; "foot" or "foot.velocity" is the velocity of a point, body or joint, "foot.acceleration" its acceleration.
    """
    return [_vector(model, result, name) for name in dict.fromkeys([names] if isinstance(names, str) else names)]


def _vector(model: Model, result: Result, name: str) -> Vector:
    owner, what = (name, "") if _owner(model, name) else str(name).rpartition(".")[::2]
    thing = _owner(model, owner)
    if thing is None or what not in ("", *_means(thing)):
        near = difflib.get_close_matches(str(name), list(_every(model)), n=3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise ModelError(f"there is no vector '{name}' in '{model.name}'{hint}")
    kind = _means(thing)[what or next(iter(_means(thing)))]
    if kind in ("velocity", "acceleration"):
        marker = thing.markers[1] if isinstance(thing, (Joint, SpatialJoint)) else getattr(thing, "carrier", thing).on()
        motion = result.point(marker)
        along = np.where(np.isnan(result.v).any(axis=1)[:, None], 0.0, getattr(motion, kind))  # (none in a lock-up)
        return Vector(name, owner, kind, motion.position, along)
    load = _load(result, thing, kind)
    if not what and kind == "force" and not load.force.any():  # a name alone means whatever the element does
        turning = _load(result, thing, "moment")
        load, kind = (turning, "moment") if turning.moment.any() else (load, kind)
    if kind == "force":
        return Vector(name, owner, kind, load.point, load.force)
    return Vector(name, owner, kind, _centre(model, result, thing, load.point), load.moment)


def _load(result: Result, thing: Element, kind: str) -> Reaction:
    """What an element does to its second part; if that is nothing, to the first part to which it does something."""
    load = result.reaction(thing)
    for part in touched(thing):
        if getattr(load, kind).any():
            break
        load = result.reaction(thing, on=part)
    return load if getattr(load, kind).any() else result.reaction(thing)


def _owner(model: Model, name: Any) -> Any:
    """A part or element that can have vectors; None for anything else."""
    found = model.parts.get(name) or model.elements.get(name)
    return found if isinstance(found, (Carrier, Element)) else None


def _means(thing: Any) -> dict[str, str]:
    """What may follow a thing's name, and the kind that it stands for; the first is meant when nothing follows."""
    if isinstance(thing, Carrier):
        return _WORDS
    if isinstance(thing, Driver):
        kind = EFFORTS.get(thing.row_kinds()["motion"], "force")
        return {"effort": kind, "force": "force", "moment": "moment"}
    if isinstance(thing, (SpatialTorque, Torque, TorsionSpring)):
        return {"torque": "moment", "moment": "moment"}
    loads = {"force": "force", "moment": "moment", "torque": "moment"}
    return {**loads, **_WORDS} if isinstance(thing, (Joint, SpatialJoint, RigidLink)) else loads


def _every(model: Model) -> list[str]:
    """Every vector that can be asked for."""
    things = [(name, thing) for shelf in (model.parts, model.elements) for name, thing in shelf.items()]
    named = [(name, thing) for name, thing in things if "." not in name]  # (inertias have no name of the user's)
    known = [(name, thing) for name, thing in named if isinstance(thing, (Carrier, Element))]
    return [full for name, thing in known for full in (name, *(f"{name}.{what}" for what in _means(thing)))]


def _centre(model: Model, result: Result, thing: Any, otherwise: np.ndarray) -> np.ndarray:
    """Where a moment is shown: at the pin about which its part turns, else at the element's own point."""
    place = None
    if model.space.dim == 3:
        return otherwise
    if isinstance(thing, (Torque, TorsionSpring)):
        place = pivot(model, *thing.markers)
    elif isinstance(thing, Driver):
        place = pivot_of(model, thing.fields["quantity"])
    if place is None:
        return otherwise
    return Stage(model, result.q, result.provenance.get("parameters")).where(place)


# --- as shapes of a drawing -----------------------------------------------------------------------------------------


def add_vectors(drawing: Drawing, vectors: Sequence[Vector], scale: Mapping[str, float] | None = None) -> None:
    """Put arrows into a drawing, at most :data:`LONGEST` of its size unless ``scale`` says how long a unit is.

    They stand in for the signs of the same loads.
    """
    longest = {"moment": ROUND}
    drawing.scales = {
        kind: scale_of(longest.get(kind, LONGEST * drawing.size), kind, vectors, scale or {})
        for kind in {v.kind: 0 for v in vectors}
    }
    pt = drawing.size / PAGE
    for vector in vectors:
        if vector.owner in drawing.arrows and vector.kind in EFFORTS.values():
            del drawing.arrows[vector.owner], drawing.heads[vector.owner]
    for vector in vectors:
        shape = _bent if vector.value.ndim == 1 else _straight
        shaft, head = shape(vector, drawing.scales[vector.kind], pt)
        first, count = drawing.points.shape[1], shaft.shape[1]
        drawing.points = np.concatenate([drawing.points, shaft, head], axis=1)
        drawing.arrows[vector.name] = list(range(first, first + count))
        drawing.heads[vector.name] = (first + count, first + count + 1, first + count + 2)
        drawing.hues[vector.name] = HUES[vector.kind]


def scale_of(longest: float, kind: str, vectors: Sequence[Vector], given: Mapping[str, float]) -> float:
    """How long one unit of a kind is drawn; for moments in the plane, which share of a turn."""
    unknown = [k for k in given if k not in HUES]
    if unknown or any(not (np.isfinite(s) and s > 0) for s in given.values()):
        raise ModelError(
            f"scale gives for {', '.join(HUES)} how long one unit is drawn, above zero, not {dict(given)!r}"
        )
    largest = max((float(v.size.max(initial=0.0)) for v in vectors if v.kind == kind), default=0.0)
    if not np.isfinite(largest):
        raise ModelError(f"the {kind} of {' or '.join(v.name for v in vectors if v.kind == kind)} is not finite")
    if kind in given:
        return float(given[kind])
    return 0.0 if largest == 0.0 else longest / largest


def _straight(vector: Vector, scale: float, pt: float) -> tuple[np.ndarray, np.ndarray]:
    """Shaft (times, 2, 2) and head (times, 3, 2) of an arrow from the foot."""
    length = scale * vector.size
    along = vector.value / np.where(vector.size > 0, vector.size, 1.0)[:, None]
    tip = vector.foot + length[:, None] * along
    return np.stack([vector.foot, tip - _head_length(length, pt) * 0.75 * along], axis=1), _head(tip, along, length, pt)


def _bent(vector: Vector, scale: float, pt: float) -> tuple[np.ndarray, np.ndarray]:
    """An arc about the foot, as much of a turn as the moment is large, in its sense."""
    sweep = np.clip(2.0 * np.pi * scale * vector.value, -1.9 * np.pi, 1.9 * np.pi)
    turn = np.radians(-60.0) * np.sign(sweep)[:, None] + np.linspace(0.0, 1.0, 41) * sweep[:, None]
    turn = np.where(sweep[:, None] < 0, np.pi + turn, turn)
    arc = vector.foot[:, None] + 15.0 * pt * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    end, length = turn[:, -1], 15.0 * pt * np.abs(sweep)
    ahead = end + 0.35 * np.sign(sweep)  # a head follows the arc when it is turned in a little
    along = np.sign(sweep)[:, None] * np.column_stack([-np.sin(ahead), np.cos(ahead)])
    tip = arc[:, -1] + 0.6 * _head_length(length, pt) * along
    return arc, _head(tip, along, length, pt)


def _head_length(length: np.ndarray, pt: float) -> np.ndarray:
    """Heads are alike, but no longer than most of a short arrow."""
    return np.fmin(8.0 * pt, 0.6 * length)[:, None]


def _head(tip: np.ndarray, along: np.ndarray, length: np.ndarray, pt: float) -> np.ndarray:
    back = _head_length(length, pt)
    across = np.column_stack([-along[:, 1], along[:, 0]])
    return np.stack([tip, *(tip - back * (along - side * 0.4 * across) for side in (1.0, -1.0))], axis=1)
