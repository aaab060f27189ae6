"""Where things are in space: the frame of every part in every pose, and where markers sit in it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kempe.elements import Carrier, Ground, Marker, Number, RigidLink
from kempe.elements.sources import DrawnSource
from kempe.model import Model
from kempe.simulation.posing import Posed
from kempe.system.measures import frames, positions
from kempe.view.scene import Scene, between
from kempe.view.stage import markers_of, values_at


class SpaceStage:
    """The carriers of a model in given poses as frames of a scene that is still empty."""

    def __init__(self, model: Model, q: np.ndarray, parameters: Mapping[str, float] | None = None) -> None:
        self.model = model
        self.posed = Posed(model, parameters)
        self.q = np.atleast_2d(q)
        self.scene = Scene(np.tile(np.eye(3, 4), (len(self.q), 1, 1, 1)))
        self._numbers: dict[int, int] = {}
        self._carriers()

    def _carriers(self) -> None:
        """The ground is the world; a body has its own axes, a bar one along itself, a point those of the world."""
        model = self.model
        found: list[Carrier] = [part for part in model.parts.values() if isinstance(part, Carrier)]
        found += [e.carrier for e in model.elements.values() if isinstance(e, RigidLink)]
        found += [marker.carrier for e in model.elements.values() for marker in markers_of(e)]
        carriers = {id(c): c for c in found if not isinstance(c, Ground)}
        axes = {key: len(carrier.frame(DrawnSource()).axes) for key, carrier in carriers.items()}
        origins = self._positions([carrier.on() for carrier in carriers.values()])
        solid = [key for key in carriers if axes[key] == 3]
        turned = frames(self.posed.system, [carriers[key].on() for key in solid], self.posed.parameters, self.q)
        bars = [key for key in carriers if axes[key] == 1]
        tips = self._positions([carriers[key].on((1.0, 0.0, 0.0)) for key in bars])
        made = [self.scene.frames[:, 0]]
        for k, key in enumerate(carriers):
            where = np.tile(np.eye(3, 4), (len(self.q), 1, 1))
            where[:, :, 3] = origins[:, k]
            if key in solid:
                where[:, :, :3] = turned[:, solid.index(key)]
            elif key in bars:
                where = between(origins[:, k], tips[:, bars.index(key)])[:, :, [2, 0, 1, 3]]  # the first is the bar's
            self._numbers[key] = len(made)
            made.append(where)
        self.scene.frames = np.stack(made, axis=1)

    def _positions(self, markers: list[Marker]) -> np.ndarray:
        return positions(self.posed.system, markers, self.posed.parameters, self.q)

    def frame(self, carrier: Carrier) -> int:
        """The frame of a part; that of the world for the ground."""
        return 0 if isinstance(carrier, Ground) else self._numbers[id(carrier)]

    def values(self, *numbers: Number) -> np.ndarray:
        """Numbers of the model at the parameter values of these poses."""
        return values_at(self.model, self.posed, numbers)

    def place(self, marker: Marker) -> np.ndarray:
        """Where a marker is in its carrier's frame (3, 4): its axes, and its point in the last column."""
        axes = self.values(*marker.turn).reshape(3, 3).T if marker.turn else np.eye(3)
        return np.column_stack([axes, self.values(*marker.point)])

    def world(self, marker: Marker) -> np.ndarray:
        """Axes and point of a marker over time (times, 3, 4)."""
        frame, place = self.scene.frames[:, self.frame(marker.carrier)], self.place(marker)
        there = frame[:, :, :3] @ place
        there[:, :, 3] += frame[:, :, 3]
        return there

    def where(self, marker: Marker) -> np.ndarray:
        """World positions of a marker (times, 3)."""
        return self.world(marker)[:, :, 3]
