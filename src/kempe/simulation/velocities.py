"""Start velocities that depend on design parameters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from scipy.sparse import coo_matrix

from kempe.elements.numbers import number, parameters_in, shown
from kempe.elements.readings import Staged
from kempe.errors import ModelError
from kempe.simulation.wording import no_velocity
from kempe.system import System


def rates(system: System, given: Mapping[str, float], q: np.ndarray) -> dict[int, float]:
    """Given velocities by coordinate: rates by name, and angular velocities as rates of a part's axes in a position.

    Components of an angular velocity that are not named are zero.
    """
    found: dict[int, float] = {}
    if not given:
        return found
    place = {names[1]: k for k, names in enumerate(system.names)}
    for name, value in given.items():
        if name in place:
            found[place[name]] = value
        elif name not in system.spins:
            raise ModelError(no_velocity(system, name))
    for first, (world, own) in _spins(system, given).items():
        axes = q[first : first + 9].reshape(3, 3)
        turned = np.cross(world + own @ axes, axes).ravel()
        found |= {first + k: float(rate) for k, rate in enumerate(turned)}
    return found


def rate_slopes(system: System, given: Mapping[str, float], q: np.ndarray) -> Any:
    """How the rates that given angular velocities make change with the position: a sparse matrix."""
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for first, (world, own) in _spins(system, given).items():
        axes = q[first : first + 9].reshape(3, 3)
        for k in range(9):
            moved = np.zeros((3, 3))
            moved[k // 3, k % 3] = 1.0
            change = np.cross(own @ moved, axes) + np.cross(world + own @ axes, moved)
            rows += range(first, first + 9)
            columns += [first + k] * 9
            values += change.ravel().tolist()
    return coo_matrix((values, (rows, columns)), shape=(system.n, system.n)).tocsr()


def _spins(system: System, given: Mapping[str, float]) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Per part whose angular velocity is given, by the first coordinate of its axes: along the world's and its own."""
    found: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for name, value in given.items():
        if name in system.spins:
            first, own, k = system.spins[name]
            found.setdefault(first, (np.zeros(3), np.zeros(3)))[own][k] += value
    return found


class Velocities:
    """Given start velocities by name: numbers, design parameters or expressions of them."""

    def __init__(self, system: System, given: Mapping[str, Any] | None) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise ModelError(f"velocities are given by name, as a mapping, not {shown(given)}")
        self.system = system
        self.given = {name: number(value, f"velocity '{name}'") for name, value in (given or {}).items()}
        #: Those that depend on parameters, and those that do not.
        self._moving = {name: value for name, value in self.given.items() if isinstance(value, ca.SX)}
        self._still = {name: value for name, value in self.given.items() if not isinstance(value, ca.SX)}
        own = {p.element_hash() for p in system.parameters} if self._moving else set()
        for p in parameters_in(self._moving.values()):
            if p.element_hash() not in own:
                raise ModelError(f"a start velocity uses parameter '{p.label}', which is not of '{system.model.name}'")

    @cached_property
    def _staged(self) -> Staged:
        everything = ca.vertcat(ca.SX(0, 1), *map(ca.SX, self.system.parameters))
        return Staged([everything], [ca.vertcat(ca.SX(0, 1), *map(ca.SX, self.given.values()))])

    def at(self, parameters: np.ndarray) -> dict[str, float]:
        """The velocities at values of the parameters."""
        if not self._moving:
            return dict(self._still)
        return dict(zip(self.given, self._staged(parameters)[0].ravel().tolist(), strict=True))

    def slopes(self, parameters: np.ndarray, q: np.ndarray) -> np.ndarray:
        """How the given velocity of each coordinate changes with the parameters in a position, a row per coordinate."""
        found = np.zeros((self.system.n, len(parameters)))
        if self.given:
            by = self._staged.slopes(parameters).toarray()
            for k in np.flatnonzero(by.any(axis=0)):  # (the rates are linear in what is given)
                for row, value in rates(self.system, dict(zip(self.given, by[:, k], strict=True)), q).items():
                    found[row, k] = value
        return found
