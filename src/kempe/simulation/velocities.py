"""Start velocities that depend on design parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.numbers import number, parameters_in, shown
from kempe.elements.readings import Staged
from kempe.errors import ModelError
from kempe.simulation.wording import no_velocity
from kempe.system import System


def rates(system: System, given: Mapping[str, float], q: np.ndarray) -> dict[int, float]:
    """Given velocities by coordinate: rates by name, and angular velocities as rates of a part's axes in a position.

    Components of an angular velocity that are not named are zero.
    """
    place = {names[1]: k for k, names in enumerate(system.names)}
    found: dict[int, float] = {}
    spins: dict[int, np.ndarray] = {}
    for name, value in given.items():
        if name in place:
            found[place[name]] = value
            continue
        if name not in system.spins:
            raise ModelError(no_velocity(system, name))
        first, own, k = system.spins[name]
        along = q[first + 3 * k : first + 3 * k + 3] if own else np.eye(3)[k]
        spins[first] = spins.get(first, np.zeros(3)) + value * along
    for first, omega in spins.items():
        turned = np.cross(omega, q[first : first + 9].reshape(3, 3)).ravel()
        found |= {first + k: float(rate) for k, rate in enumerate(turned)}
    return found


class Velocities:
    """Given start velocities by name: numbers, design parameters or expressions of them."""

    def __init__(self, system: System, given: Mapping[str, Any] | None) -> None:
        if given is not None and not isinstance(given, Mapping):
            raise ModelError(f"velocities are given by name, as a mapping, not {shown(given)}")
        self.system = system
        self.given = {name: number(value, f"velocity '{name}'") for name, value in (given or {}).items()}
        expressions = [value for value in self.given.values() if isinstance(value, ca.SX)]
        own = {p.element_hash() for p in system.parameters}
        for p in parameters_in(expressions):
            if p.element_hash() not in own:
                raise ModelError(f"a start velocity uses parameter '{p.label}', which is not of '{system.model.name}'")
        everything = ca.vertcat(ca.SX(0, 1), *map(ca.SX, system.parameters))
        self._staged = Staged([everything], [ca.vertcat(ca.SX(0, 1), *map(ca.SX, self.given.values()))])
        self._place = {names[1]: k for k, names in enumerate(system.names)}

    def at(self, parameters: np.ndarray) -> dict[str, float]:
        """The velocities at values of the parameters."""
        return dict(zip(self.given, self._staged(parameters)[0].ravel().tolist(), strict=True))

    def slopes(self, parameters: np.ndarray) -> np.ndarray:
        """How the given velocity of each coordinate changes with the parameters, a row per coordinate."""
        found = np.zeros((self.system.n, len(parameters)))
        if self.given:
            rows = self._staged.slopes(parameters).toarray()
            found[[self._place[name] for name in self.given]] = rows
        return found
