"""Where things are in space: the frame of every part in every pose, and where markers sit in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kempe.elements import Carrier, Element, Ground, Marker, Number, RigidLink
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
        kinds = {key: len(carrier.frame(DrawnSource()).axes) for key, carrier in carriers.items()}
        origins = self._positions([carrier.on() for carrier in carriers.values()])
        where = dict(zip(carriers, np.moveaxis(origins, 1, 0), strict=True))
        solid = [key for key in carriers if kinds[key] == 3]
        turned = frames(self.posed.system, [carriers[key].on() for key in solid], self.posed.parameters, self.q)
        axes = dict(zip(solid, np.moveaxis(turned, 1, 0), strict=True))
        for key, carrier in carriers.items():
            if kinds[key] == 1:
                tip = self._positions([carrier.on((1.0, 0.0, 0.0))])[:, 0]
                axes[key] = between(where[key], tip)[:, :, [2, 0, 1]]  # the first axis is the bar's
            self._numbers[key] = self.scene.frame(_frame(axes.get(key), where[key]))

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

    def everything(self) -> list[tuple[Element, Marker]]:
        """Every marker with the element whose it is."""
        return [(e, marker) for e in self.model.elements.values() for marker in markers_of(e)]


def _frame(axes: Any, origin: np.ndarray) -> np.ndarray:
    turned = np.tile(np.eye(3), (len(origin), 1, 1)) if axes is None else axes
    return np.concatenate([turned, origin[:, :, None]], axis=2)
