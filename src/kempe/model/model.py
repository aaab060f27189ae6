"""What every model is: parameters, parts with coordinates, and elements with equations, all under unique names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from kempe.calling import explained_methods, suggestion
from kempe.elements import Element, Parameter, Part, check_name, parameters_in, plain_number, shown, trace
from kempe.elements.sealing import Shelf, seal
from kempe.errors import ModelError, NoAttribute
from kempe.model.travelling import copied, packed, unpacked

E = TypeVar("E", bound=Element)
P = TypeVar("P", bound=Part)


@explained_methods
class Model:
    """Parameters, parts and elements. Analyses read it and never change it.

    What was added stays as it was described (``elements/sealing.py``). Parameters change at any time.
    """

    parameters: dict[str, Parameter]
    parts: dict[str, Part]
    elements: dict[str, Element]
    #: Grows with every addition; a compiled system of an older version is stale.
    version: int
    #: The system made of it last, which ``kempe.system`` keeps here.
    compiled: Any

    def __init__(self, name: str) -> None:
        shelves = {what: Shelf(what=f"{what} of a model") for what in ("parameters", "parts", "elements")}
        vars(self).update(shelves, version=0, compiled=None)
        self._names: dict[str, str] = {"ground": "the ground"}
        self.name = name

    @property
    def name(self) -> str:
        """What the model is called in results and messages."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        if not isinstance(name, str) or not name.isprintable() or len(name) > 200:
            raise ModelError(f"a model's name is a short line of text, not {shown(name)}")
        self._name = name

    def __setattr__(self, name: str, value: Any) -> None:
        known = getattr(type(self), name, None)
        if name.startswith("_") or name == "compiled" or (isinstance(known, property) and known.fset):
            object.__setattr__(self, name, value)
        elif known is not None or name in vars(self):
            raise ModelError(f"'{name}' of a model cannot be assigned to; use its methods to add what it needs")
        elif type(self).__module__.startswith("kempe."):
            hint = suggestion(name, (n for n in dir(self) if not n.startswith("_")))
            raise ModelError(f"a model has no attribute '{name}', so that to assign to it does nothing{hint}")
        else:  # a class of the user's may keep what it likes
            object.__setattr__(self, name, value)

    if not TYPE_CHECKING:  # to a type checker it has the attributes it has

        def __getattr__(self, name: str) -> NoReturn:
            """What a model does not have; a part or parameter is asked for in brackets."""
            if name.startswith("_"):
                raise AttributeError(name)
            if name in vars(self).get("_names", ()):
                raise NoAttribute(f"'{name}' is asked of the model by m[{name!r}]")
            known = (n for n in dir(type(self)) if not n.startswith("_"))
            raise NoAttribute(f"a model has no '{name}'{suggestion(name, known)}")

    def __delattr__(self, name: str) -> None:
        raise ModelError(f"'{name}' of a model cannot be taken away")

    # --- travelling ----------------------------------------------------------------------------------------------

    def __reduce_ex__(self, _: Any) -> tuple[Any, ...]:
        """Pickled with all expressions; compiled again where it arrives."""
        return unpacked, (type(self), packed(self._contents(), f"'{self.name}'"))

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        made = memo[id(self)] = unpacked(type(self), copied(self._contents(), f"'{self.name}'"))
        return made

    def __copy__(self) -> Model:
        """A model of its own: two that share their shelves would change each other."""
        return self.__deepcopy__({})

    def _contents(self) -> dict[str, Any]:
        return {**vars(self), "compiled": None}

    # --- what it holds -------------------------------------------------------------------------------------------

    def parameter(self, name: str, value: float, bounds: tuple[float, float] | None = None) -> Parameter:
        """A named design parameter, usable wherever a number is, and in expressions."""
        self._claim(name, "parameter")
        parameter = Parameter(name, value, bounds)
        self._put("parameters", name, parameter)
        self._accept(name, "parameter")
        return parameter

    def set(self, values: Mapping[str, float] | None = None, **more: float) -> None:
        """Change parameter values by name; nothing is changed when one of them is wrong."""
        if values is not None and not isinstance(values, Mapping):
            raise ModelError(f"parameters are given by name, as a mapping, not {shown(values)}")
        given = {**(values or {}), **more}
        self.parameter_vector(given)
        for name, value in given.items():
            self.parameters[name].value = value

    def parameter_vector(self, changes: Mapping[str, float] | None = None) -> np.ndarray:
        """The values of all parameters, some of them replaced."""
        changes = {} if changes is None else changes
        if not isinstance(changes, Mapping):
            raise ModelError(f"parameters are given by name, as a mapping, not {shown(changes)}")
        unknown = [f"'{name}'" for name in changes if name not in self.parameters]
        if unknown:
            known = ", ".join(f"'{name}'" for name in self.parameters) or "none"
            first = next(name for name in changes if name not in self.parameters)
            hint = suggestion(first, self.parameters) if isinstance(first, str) else ""
            raise ModelError(
                f"unknown parameter {', '.join(unknown)}{hint or '; the parameters of this model: ' + known}"
            )
        values = {name: plain_number(value, f"parameter '{name}'") for name, value in changes.items()}
        return np.array([float(values.get(name, p.value)) for name, p in self.parameters.items()])

    def add(self, element: E) -> E:
        """Add an element; names must be new, and its parts and parameters must belong to this model."""
        if not isinstance(element, Element):
            raise ModelError(f"what is added must be an element, not {shown(element)}")
        what = f"{element.kind} '{element.name}'"
        self._claim(element.name, element.kind)
        for row in element.rows:
            check_name(row, f"row of {what}")
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
            self._put("parts", part.name, part)
            self._names.setdefault(part.name, "a coordinate")
        self._put("elements", element.name, element)
        self._accept(element.name, element.kind)
        return element

    def add_part(self, part: P, kind: str) -> P:
        """Add something that owns coordinates."""
        self._claim(part.name, kind)
        self._own_parameters([*part.start, *part.data()], f"{kind} '{part.name}'")
        self._put("parts", part.name, part)
        self._accept(part.name, kind)
        return part

    def _put(self, shelf: str, name: str, thing: Any) -> None:
        """Put something on a shelf, as it is from now on."""
        vars(self)[shelf].put(name, seal(thing, self.name))

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
        self._changed()

    def _changed(self) -> None:
        vars(self)["version"] += 1

    def __getitem__(self, name: str) -> Any:
        """A part, element or parameter by its name."""
        if isinstance(name, str):
            for shelf in (self.parts, self.elements, self.parameters):
                if name in shelf:
                    return shelf[name]
        known = (*self.parts, *self.elements, *self.parameters)
        hint = suggestion(name, known) if isinstance(name, str) else ""
        raise ModelError(f"there is no part, joint or parameter called {shown(name)} in '{self.name}'{hint}")

    def __iter__(self) -> Any:
        raise ModelError("a model is no list; go through its parts, elements or parameters")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}: {len(self.parts)} parts, {len(self.elements)} elements)"
