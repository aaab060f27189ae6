"""Which design parameters are asked about, and how all numbers of a model change with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements import Parameter, shown
from kempe.elements.readings import Staged
from kempe.errors import ModelError
from kempe.model import Model
from kempe.system import System


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
        self.names = names
        everything = system.parameters
        free = [p for p in everything if p.formula is None]
        own = {p.label: k for k, p in enumerate(everything)}
        unfolded = Staged([_column(free)], [ca.vertcat(ca.SX(0, 1), *(p.unfolded for p in everything))])
        by_free = unfolded.slope(values[[own[p.label] for p in free]])
        place = {p.label: k for k, p in enumerate(free)}
        self.parameters = by_free.T[[place[name] for name in names]]
        self.x = np.zeros((len(names), len(system.template)))
        self.drawn = np.zeros((len(names), system.n))
        numbers, start = system.places_of_numbers
        if len(numbers) + len(start):
            moved = self.parameters @ system.numbers_of_parameters.slope(values).T
            self.x[:, numbers] = moved[:, : len(numbers)]
            self.drawn[:, start] = moved[:, len(numbers) :]
        sound = np.isfinite(self.x).all(axis=1) & np.isfinite(self.drawn).all(axis=1)
        if not sound.all():
            name = names[int(np.argmin(sound))]
            raise ModelError(f"a number of '{system.model.name}' has no derivative by parameter '{name}' at its value")

    def __len__(self) -> int:
        return len(self.names)


def _column(symbols: list[Any]) -> ca.SX:
    return ca.vertcat(ca.SX(0, 1), *map(ca.SX, symbols))
