"""What every model is: parameters, parts with coordinates, and elements with equations, all under unique names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from kempe.elements import Element, Parameter, Part, check_name, parameters_in, plain_number, trace
from kempe.errors import ModelError

E = TypeVar("E", bound=Element)
P = TypeVar("P", bound=Part)


class Model:
    """Parameters, parts and elements. Analyses read it and never change it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parameters: dict[str, Parameter] = {}
        self.parts: dict[str, Part] = {}
        self.elements: dict[str, Element] = {}
        self._names: dict[str, str] = {"ground": "the ground"}
        #: Grows with every addition; a compiled system of an older version is stale.
        self.version = 0
        self.compiled: Any = None

    def parameter(self, name: str, value: float, bounds: tuple[float, float] | None = None) -> Parameter:
        """A named design parameter, usable wherever a number is, and in expressions."""
        self._claim(name, "parameter")
        parameter = Parameter(name, value, bounds)
        self.parameters[name] = parameter
        self._accept(name, "parameter")
        return parameter

    def set(self, values: Mapping[str, float] | None = None, **more: float) -> None:
        """Change parameter values by name; nothing is changed when one of them is wrong."""
        given = {**(values or {}), **more}
        self.parameter_vector(given)
        for name, value in given.items():
            self.parameters[name].value = value

    def parameter_vector(self, changes: Mapping[str, float] | None = None) -> np.ndarray:
        """The values of all parameters, some of them replaced."""
        changes = changes or {}
        unknown = [f"'{name}'" for name in changes if name not in self.parameters]
        if unknown:
            known = ", ".join(f"'{name}'" for name in self.parameters) or "none"
            raise ModelError(f"unknown parameter {', '.join(unknown)}; the parameters of this model: {known}")
        values = {name: plain_number(value, f"parameter '{name}'") for name, value in changes.items()}
        return np.array([float(values.get(name, p.value)) for name, p in self.parameters.items()])

    def add(self, element: E) -> E:
        """Add an element; names must be new, and its parts and parameters must belong to this model."""
        what = f"{element.kind} '{element.name}'"
        self._claim(element.name, element.kind)
        for part in element.auxiliary:
            if part.name != element.name:
                self._claim(part.name, "coordinate")
        foreign = [p.name for p in element.parts() if self.parts.get(p.name) is not p and p not in element.auxiliary]
        if foreign:
            raise ModelError(f"{what} uses '{foreign[0]}', which is not a part of '{self.name}'")
        numbers = [*element.data(), *(s for part in element.auxiliary for s in part.start)]
        self._own_parameters(numbers, what)
        if not element.parts():
            raise ModelError(f"{what} touches no moving part")
        trace(element)
        for part in element.auxiliary:
            self.parts[part.name] = part
            self._names.setdefault(part.name, "a coordinate")
        self.elements[element.name] = element
        self._accept(element.name, element.kind)
        return element

    def add_part(self, part: P, kind: str) -> P:
        """Add something that owns coordinates."""
        self._claim(part.name, kind)
        self._own_parameters([*part.start, *part.data()], f"{kind} '{part.name}'")
        self.parts[part.name] = part
        self._accept(part.name, kind)
        return part

    def _own_parameters(self, numbers: Any, what: str) -> None:
        for parameter in parameters_in(numbers):
            if self.parameters.get(parameter.label) is not parameter:
                raise ModelError(f"{what} uses parameter '{parameter.label}', which belongs to another model")

    def _claim(self, name: Any, kind: str) -> None:
        check_name(name, kind)
        if name in self._names:
            raise ModelError(f"the name '{name}' is already taken by {self._names[name]}")

    def free_name(self, name: str) -> str:
        """A name that is not taken: the given one, or with a number behind it."""
        count, free = 1, name
        while free in self._names:
            count += 1
            free = f"{name} {count}"
        return free

    def _accept(self, name: str, kind: str) -> None:
        self._names[name] = f"a {kind}" if kind[0] not in "aeiou" else f"an {kind}"
        self.version += 1

    def __getitem__(self, name: str) -> Any:
        """A part, element or parameter by its name."""
        for shelf in (self.parts, self.elements, self.parameters):
            if name in shelf:
                return shelf[name]
        raise ModelError(f"there is no part, joint or parameter called '{name}' in '{self.name}'")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}: {len(self.parts)} parts, {len(self.elements)} elements)"
