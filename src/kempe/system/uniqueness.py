"""Which reactions rigid-body mechanics determines: those that no multipliers which exert nothing could change.

Phi_q^T lambda is unique; lambda is not where constraints depend on each other, for any lambda with Phi_q^T lambda = 0
may be added. A component of what a joint exerts on a part is linear in its multipliers, so it is unique if and only if
that map takes all such lambda to zero. It may be unique although none of the multipliers is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from kempe.elements import Element
from kempe.system.dependence import NOTHING, idle_multipliers
from kempe.system.replay import Replay, States
from kempe.system.sharing import Sharing, sharing
from kempe.system.sizes import draw, new_sketch
from kempe.system.system import System
from kempe.system.wrenches import acts_on_carriers, pulls, second_part, touched


class Uniqueness:
    """A position of a system, and the multipliers that exert nothing there."""

    def __init__(self, system: System, parameters: np.ndarray, q: np.ndarray, t: float, on: np.ndarray) -> None:
        """``on`` says which rows are in force."""
        self.system, self.parameters, self.q, self.t = system, parameters, q, t
        x, drawn = system.inputs(parameters)
        sketch = new_sketch(system)
        draw(system, sketch, x, drawn)
        self._sizes = float(sketch.size), sketch.row_scale.copy()
        scaled = np.zeros((system.m, 0))
        if on.any():
            found = idle_multipliers(system.linear(x, q, t)[1][on], sketch.scale, sketch.row_scale[on])
            scaled = np.zeros((system.m, found.shape[1]))
            scaled[on] = np.where(np.abs(found) > NOTHING, found, 0.0)
        #: Multipliers that exert nothing, a column each, orthonormal in row sizes; and the same as they are.
        self.scaled, self.idle = scaled, scaled / sketch.row_scale[:, None]

    @cached_property
    def _replay(self) -> Replay:
        """The position as a motion of one instant."""
        q = np.atleast_2d(self.q)
        still = States(np.array([self.t]), q, np.zeros_like(q), np.zeros_like(q), np.zeros((1, self.system.m)))
        return Replay(self.system, self.parameters, still)

    def shared(self, kind: str | None = None, penalties: Mapping[int, float] | None = None) -> Sharing:
        """How loads are shared here."""
        return sharing(self.system, self.parameters, (self.q, self.t), self._sizes, kind, penalties)

    def open_components(self, k: int, idle: np.ndarray, on: str | None = None) -> list[str]:
        """What idle multipliers change of the reaction of element k: "force.x", "moment", or the efforts of a driver.

        Of an element that is known in coordinates only (a constraint of one's own) everything, if anything.
        """
        element, rows = self.system.elements[k], self.system.rows_of[k]
        changed = np.abs(idle[rows]).max(axis=1, initial=0.0) > 0.0
        part = second_part(element) if on is None else touched(element)[on]
        if not changed.any():
            return []
        if element.drives:
            return [effort for effort, yes in zip(efforts(element), changed, strict=True) if yes]
        if part is None or not acts_on_carriers(element):
            return [f"lambda.{row}" for row, yes in zip(element.rows, changed, strict=True) if yes]
        exerted = pulls(self._replay, k)[0, list(touched(element)).index(part.name)]
        names = components(len(exerted))
        # a moment is compared with that of the forces, too
        size = np.array([1.0 if name.startswith("force") else self._sizes[0] for name in names])[:, None]
        most = np.abs(exerted / size) @ np.abs(idle[rows])
        open_ = np.abs(exerted / size @ idle[rows]) > NOTHING * most.max(axis=0, initial=0.0)
        return [name for name, yes in zip(names, open_.any(axis=1), strict=True) if yes]


def efforts(element: Element) -> list[str]:
    """What the efforts of a driver are called."""
    return ["effort"] if len(element.rows) == 1 else [f"effort.{row}" for row in element.rows]


def components(moves: int) -> list[str]:
    """What the components of a wrench are called, in the plane and in space."""
    if moves == 3:
        return ["force.x", "force.y", "moment"]
    return [f"{what}.{letter}" for what in ("force", "moment") for letter in "xyz"]
