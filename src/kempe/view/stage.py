"""Where things are: the frame of every part in every pose, and points that sit on parts or follow from others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements import Carrier, Curve, Element, Ground, Marker, Number, Point, RigidLink
from kempe.elements.base import Field, Group
from kempe.elements.readings import Staged
from kempe.model import Model
from kempe.simulation.posing import Posed
from kempe.system.measures import positions


def markers_in(part: Field) -> list[Marker]:
    """The markers of a field, in order."""
    if isinstance(part, Marker):
        return [part]
    return [m for f in part.fields for m in markers_in(f)] if isinstance(part, Group) else []


def markers_of(element: Element) -> list[Marker]:
    """The markers of an element, in the order of its fields."""
    return [m for f in element.fields.values() for m in markers_in(f)]


def values_at(model: Model, posed: Posed, numbers: Sequence[Number]) -> np.ndarray:
    """Numbers of a model at the parameter values of its poses."""
    if not any(isinstance(n, ca.SX) for n in numbers):
        return np.array(numbers, dtype=float)
    p = ca.vertcat(ca.SX(0, 1), *[ca.SX(s) for s in model.parameters.values()])
    function = ca.Function("values", [p], [ca.vertcat(*[ca.SX(n) for n in numbers])])
    return np.array(function(posed.parameters), dtype=float).ravel()


def _key(carrier: Carrier) -> Any:
    return "ground" if isinstance(carrier, Ground) else id(carrier)


class Stage:
    """World positions (frames, 2) of markers in given poses, and the growing list of points to draw."""

    def __init__(self, model: Model, q: np.ndarray, parameters: Mapping[str, float] | None = None) -> None:
        self.model = model
        self.posed = Posed(model, parameters)
        self.q = np.atleast_2d(q)
        self._frames = self._carriers()
        self._points: list[np.ndarray] = []
        self._seen: dict[Any, int] = {}
        self._fixed: dict[int, tuple[Any, float, float]] = {}

    def _carriers(self) -> dict[Any, tuple[np.ndarray, np.ndarray]]:
        """Origin and axis of the ground and of each body, point and bar."""
        model = self.model
        found: list[Carrier] = [p for p in model.parts.values() if isinstance(p, Carrier)]
        found += [e.carrier for e in model.elements.values() if isinstance(e, RigidLink)]
        found += [m.carrier for e in model.elements.values() for m in markers_of(e)]
        carriers = {_key(c): c for c in found if not isinstance(c, Ground)}
        ends = [c.at((x, 0.0)) for c in carriers.values() for x in (0.0, 0.0 if isinstance(c, Point) else 1.0)]
        where = positions(self.posed.system, ends, self.posed.parameters, self.q)
        count = len(self.q)
        east = np.tile([1.0, 0.0], (count, 1))
        frames: dict[Any, tuple[np.ndarray, np.ndarray]] = {"ground": (np.zeros((count, 2)), east)}
        for k, (key, carrier) in enumerate(carriers.items()):
            origin, tip = where[:, 2 * k], where[:, 2 * k + 1]
            frames[key] = (origin, east if isinstance(carrier, Point) else tip - origin)
        return frames

    # --- numbers and positions ------------------------------------------------------------------------------------

    def values(self, *numbers: Number) -> np.ndarray:
        """Numbers of the model at the parameter values of these poses."""
        return values_at(self.model, self.posed, numbers)

    def local(self, marker: Marker) -> tuple[float, float, float]:
        """Place and angle of a marker in its carrier's axes."""
        x, y, angle = self.values(*marker.point, marker.angle)
        return float(x), float(y), float(angle)

    def world(self, carrier: Carrier, x: Any, y: Any) -> np.ndarray:
        """World positions of a point given in a carrier's axes."""
        origin, u = self._frames[_key(carrier)]
        return origin + np.multiply(x, u.T).T + np.multiply(y, np.array([-u[:, 1], u[:, 0]])).T

    def where(self, marker: Marker) -> np.ndarray:
        """World positions of a marker."""
        x, y, _ = self.local(marker)
        return self.world(marker.carrier, x, y)

    def axis(self, marker: Marker) -> np.ndarray:
        """World directions of a marker's axis."""
        turn = self.local(marker)[2]
        return self.world(marker.carrier, np.cos(turn), np.sin(turn)) - self.world(marker.carrier, 0.0, 0.0)

    def seen_from(self, carrier: Carrier, where: np.ndarray) -> np.ndarray:
        """World positions in a carrier's own axes, (frames, 2)."""
        origin, u = self._frames[_key(carrier)]
        d = where - origin
        return np.column_stack([(d * u).sum(axis=1), d[:, 1] * u[:, 0] - d[:, 0] * u[:, 1]])

    def profile(self, base: Marker, curve: Curve, count: int = 241) -> tuple[np.ndarray, np.ndarray]:
        """Samples of a curve: parameter values, and points (count, 2) in the axes of the part that carries it."""
        s = np.linspace(*curve.span, count)
        at = [ca.SX(curve.at(value)[k]) for value in s for k in (0, 1)]
        symbols = [ca.SX(p) for p in self.posed.system.parameters]
        staged = Staged([ca.vertcat(ca.SX(0, 1), *symbols)], [ca.vertcat(*at)])
        local = staged(self.posed.parameters[: len(symbols)])[0].reshape(-1, 2)
        x, y, turn = self.local(base)
        c, n = np.cos(turn), np.sin(turn)
        return s, local @ np.array([[c, n], [-n, c]]) + (x, y)

    # --- points to draw -------------------------------------------------------------------------------------------

    def add(self, where: np.ndarray) -> int:
        """A point computed from others."""
        self._points.append(where)
        return len(self._points) - 1

    def fix(self, carrier: Carrier, x: float, y: float) -> int:
        """A point fixed to a carrier, kept once."""
        key = (_key(carrier), float(f"{x:.9g}"), float(f"{y:.9g}"))
        if key not in self._seen:
            self._seen[key] = self.add(self.world(carrier, x, y))
            self._fixed[self._seen[key]] = (_key(carrier), x, y)
        return self._seen[key]

    def beside(self, index: int, x: float, y: float) -> int:
        """A point that moves with another, but does not turn with anything."""
        frame = ("beside", index)
        self._frames.setdefault(frame, (self.point(index), np.tile([1.0, 0.0], (len(self.q), 1))))
        place = self.add(self.point(index) + np.array([x, y]))
        self._fixed[place] = (frame, float(x), float(y))
        return place

    def place(self, marker: Marker) -> int:
        """A marker as a point to draw."""
        return self.fix(marker.carrier, *self.local(marker)[:2])

    def point(self, index: int) -> np.ndarray:
        """The positions (frames, 2) of a point to draw."""
        return self._points[index]

    def points(self) -> np.ndarray:
        """All points to draw, (frames, points, 2)."""
        return np.stack(self._points, axis=1) if self._points else np.zeros((len(self.q), 0, 2))

    def rigid(self) -> tuple[np.ndarray, dict[int, tuple[int, float, float]]]:
        """Frames (poses, frames, origin and axis), and the points fixed in them by number of frame and place in it."""
        used = list(dict.fromkeys(frame for frame, _, _ in self._fixed.values()))
        frames = [np.column_stack(self._frames[frame]) for frame in used]
        fixed = {k: (used.index(frame), x, y) for k, (frame, x, y) in self._fixed.items()}
        return np.stack(frames, axis=1) if frames else np.zeros((len(self.q), 0, 4)), fixed

    def span(self) -> float:
        """The larger side of what is drawn so far; the mechanism's own size while that is nothing."""
        points = self.points()
        side = float(np.ptp(points.reshape(-1, 2), axis=0).max()) if points.size else 0.0
        return side if side > 1e-9 * self.posed.size else self.posed.size
