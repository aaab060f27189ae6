"""A scene while it is being made: whose places are where, in which colours, and what holds them on the ground."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import singledispatch
from typing import Any

import numpy as np

from kempe.elements import Carrier, Element, Ground, Marker, Point, RigidBody, RigidLink, SpatialBody
from kempe.model import Model
from kempe.view.scene import Scene, along
from kempe.view.space_stage import SpaceStage
from kempe.view.stage import markers_of
from kempe.view.style import DARK, GREY, colour

#: The colour of what is fixed to the ground.
STONE = "0.62"


class Maker:
    """Knows the stage, the scene that is made on it, and which places of each part are used."""

    def __init__(self, model: Model, q: np.ndarray, parameters: Mapping[str, float] | None = None) -> None:
        self.model = model
        self.stage = SpaceStage(model, q, parameters)
        self.scene: Scene = self.stage.scene
        self.reached: dict[int, list[np.ndarray]] = {}
        self._carriers: dict[int, Carrier] = {}
        solid = [part.name for part in model.parts.values() if isinstance(part, SpatialBody)]
        solid += [e.carrier.name for e in model.elements.values() if isinstance(e, RigidLink)]
        self.scene.colours = {name: colour(k) for k, name in enumerate(solid)}
        self.heavy = {e.shown_as: self._inertia(e) for e in model.elements.values() if _is_heavy(e)}
        self._stands: list[np.ndarray] = []
        held = [m.carrier for e in model.elements.values() if e.rows for m in markers_of(e)]
        #: How many joints hold each part.
        self.holds = Counter(id(carrier) for carrier in held)

    def _inertia(self, element: Any) -> tuple[float, np.ndarray]:
        """Mass, and inertia about the centre of mass in the body's axes."""
        mass, entries = element.fields["mass"].value, element.fields["euler"].inertia
        values = self.stage.values(mass, *(c for row in entries for c in row))
        return float(values[0]), values[1:].reshape(3, 3)

    @property
    def gravity(self) -> np.ndarray:
        """The acceleration of gravity."""
        return self.stage.values(*self.model.gravity)  # type: ignore[attr-defined]

    # --- places ---------------------------------------------------------------------------------------------------

    def reach(self, marker: Marker) -> None:
        """Note that a part is used at a marker's place."""
        place = self.stage.place(marker)[:, 3]
        mine = self.reached.setdefault(id(marker.carrier), [])
        self._carriers[id(marker.carrier)] = marker.carrier
        size = max([1e-12, *(float(np.abs(other).max()) for other in mine)])
        if not any(np.abs(place - other).max() < 1e-6 * size for other in mine):
            mine.append(place)

    def everywhere(self) -> np.ndarray:
        """All places that are used and the origins of all parts, in the first pose (n, 3)."""
        frames = self.scene.frames[0]
        found = [frames[k, :, 3] for k in range(1, len(frames))]
        for key, places in self.reached.items():
            frame = frames[self.stage.frame(self._carriers[key])]
            found += [frame[:, :3] @ place + frame[:, 3] for place in places]
        return np.array(found).reshape(-1, 3)

    def seen_from(self, carrier: Carrier, marker: Marker) -> np.ndarray:
        """Where a marker is in the axes of a part, in the first pose."""
        frame = self.scene.frames[0, self.stage.frame(carrier)]
        return frame[:, :3].T @ (self.stage.where(marker)[0] - frame[:, 3])

    def beside(self, marker: Marker) -> int:
        """A frame that moves with a marker, but does not turn with anything."""
        where = self.stage.where(marker)
        return self.scene.frame(np.concatenate([np.tile(np.eye(3), (len(where), 1, 1)), where[:, :, None]], axis=2))

    def free_side(self, element: Element) -> Marker:
        """The marker of an element that moves: the second, or the first where the second is on the ground."""
        i, *_, j = markers_of(element)
        return i if isinstance(j.carrier, Ground) else j

    # --- looks ----------------------------------------------------------------------------------------------------

    def colour(self, carrier: Carrier) -> str:
        """The colour of a part."""
        if isinstance(carrier, Ground):
            return STONE
        return DARK if isinstance(carrier, Point) else self.scene.colours.get(carrier.name, GREY)

    def stand(self, frame: int, place: np.ndarray, owner: str) -> None:
        """A cone on a disc below a place of the ground: what holds it; one is enough for a place."""
        at = self.scene.frames[0, frame, :, :3] @ place + self.scene.frames[0, frame, :, 3]
        thick = self.scene.thick
        if any(np.linalg.norm(at - other) < thick for other in self._stands):
            return
        self._stands.append(at)
        down = np.array([0.0, 0.0, -1.0]) if not np.any(self.gravity) else self.gravity / np.linalg.norm(self.gravity)
        foot = at + 4.6 * thick * down
        self.scene.add("cone", 0, along(foot, at, 2.3 * thick), STONE, f"{owner} stand", layer="joint")
        self.scene.rod(0, foot + 0.6 * thick * down, foot, 3.2 * thick, STONE, f"{owner} stand", layer="joint")


def _is_heavy(element: Element) -> bool:
    return isinstance(element, RigidBody) and element.has_inertia


@singledispatch
def sign(element: Element, maker: Maker) -> None:
    """What stands for an element in a scene; nothing where nothing better is known than the places it joins."""
