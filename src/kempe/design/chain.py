"""Which design parameters are asked about, and how all numbers of a model change with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from kempe.elements import Parameter, shown
from kempe.errors import ModelError
from kempe.model import Model
from kempe.solvers.directions import Directions
from kempe.system import System
from kempe.system.directions import directions_of


def asked_parameters(model: Model, by: Any = None) -> list[str]:
    """The names of the parameters that derivatives are wanted by: all that have values of their own, or those given."""
    free = [name for name, p in model.parameters.items() if p.formula is None]
    if not free:
        raise ModelError(f"'{model.name}' has no design parameters: make numbers of it with m.parameter(name, value)")
    if by is None:
        return free
    given = [by] if isinstance(by, (str, Parameter)) else list(by) if isinstance(by, Iterable) else [by]
    names = [p.label if isinstance(p, Parameter) else p for p in given]
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise ModelError(f"by= names design parameters, which {shown(wrong[0])} is not")
    model.check_parameters(names)
    known = {name: p.element_hash() for name, p in model.parameters.items()}
    strange = [p.label for p in given if isinstance(p, Parameter) and p.element_hash() != known[p.label]]
    if strange:
        raise ModelError(f"parameter '{strange[0]}' belongs to another model, not to '{model.name}'")
    for name in names:
        if model.parameters[name].formula is not None:
            raise ModelError(f"parameter '{name}' {model.parameters[name].follows}")
    if not names:
        raise ModelError("by= names no parameter; leave it out to get derivatives by all of them")
    return list(dict.fromkeys(names))


class Chain:
    """The first links of every chain rule: numbers by design parameters, a row for each of ``names``.

    ``x`` are the derivatives of the inputs of all kernels, ``drawn`` those of the sketch, ``parameters`` those of all
    parameters (of which some follow from others).
    """

    def __init__(self, system: System, values: np.ndarray, names: list[str]) -> None:
        self.names, self._system = names, system
        self._directions: dict[str, Directions] = {}
        self.parameters = system.model.parameter_slopes(values, names).T
        x, drawn = system.number_slopes(values)
        self.x, self.drawn = (self.parameters @ slopes.T.toarray() for slopes in (x, drawn))
        sound = np.isfinite(self.x).all(axis=1) & np.isfinite(self.drawn).all(axis=1)
        if not sound.all():
            name = names[int(np.argmin(sound))]
            raise ModelError(f"a number of '{system.model.name}' has no derivative by parameter '{name}' at its value")

    def directions(self, what: str) -> Directions:
        """What differentiates along directions, with memory of its own: chains may be used side by side."""
        if what not in self._directions:
            self._directions[what] = directions_of(self._system, what)
        return self._directions[what]

    def __len__(self) -> int:
        return len(self.names)
