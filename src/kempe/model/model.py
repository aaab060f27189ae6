"""What every model is: parameters, parts with coordinates, and elements with equations, all under unique names."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import casadi as ca
import numpy as np

from kempe.calling import explained_methods, suggestion
from kempe.elements import (
    Element,
    KernelSource,
    Parameter,
    Part,
    check_name,
    parameters_in,
    plain_number,
    shown,
    trace,
)
from kempe.elements.geometry import Geometry
from kempe.elements.numbers import LARGEST
from kempe.elements.planar import PLANE
from kempe.elements.readings import Staged
from kempe.elements.sealing import Shelf, seal
from kempe.errors import ModelError, NoAttribute
from kempe.model.measures import Definition, measured, written
from kempe.model.travelling import copied, packed, unpacked
from kempe.model.units import Units, as_units

E = TypeVar("E", bound=Element)
P = TypeVar("P", bound=Part)


def _shown_by(element: Element, space: Geometry) -> set[str]:
    """What results may have of an element: its outputs, and its load or effort."""
    loads = {"force", "moment", *space.loads, "effort", *(f"effort.{row}" for row in element.rows)}
    return {*loads, *element.outputs(element.view(KernelSource(element)))}


def _own_copy(value: Any) -> Any:
    """A list or shelf of a model's, so that what is put into one is not in the other."""
    if isinstance(value, Shelf):
        return Shelf(value, what=value.what)
    return type(value)(value) if type(value) in (dict, list) else value


@explained_methods
class Model:
    """Parameters, parts and elements. Analyses read it and never change it.

    What was added stays as it was described (``elements/sealing.py``). Parameters change at any time.
    """

    #: Where its parts are.
    space: Geometry = PLANE
    parameters: dict[str, Parameter]
    measures: dict[str, Definition]
    parts: dict[str, Part]
    elements: dict[str, Element]
    #: Grows with every addition; a compiled system of an older version is stale.
    version: int
    #: The system made of it last, which ``kempe.system`` keeps here.
    compiled: Any

    def __init__(self, name: str) -> None:
        shelves = {what: Shelf(what=f"{what} of a model") for what in ("parameters", "measures", "parts", "elements")}
        vars(self).update(shelves, version=0, compiled=None)
        self._names: dict[str, str] = {"ground": "the ground"}
        #: Models that stay as this one was, which results hold.
        self._kept: list[weakref.ref[Model]] = []
        self.name = name
        self._units: Units | None = None

    @property
    def name(self) -> str:
        """What the model is called in results and messages."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        if not isinstance(name, str) or not name.isprintable() or len(name) > 200:
            raise ModelError(f"a model's name is a short line of text, not {shown(name)}")
        self._name = name

    @property
    def units(self) -> Units | None:
        """What the model's numbers are given in, for labels; it may be assigned to, and changes no number."""
        return self._units

    @units.setter
    def units(self, units: Any) -> None:
        self._units = as_units(units, f"'{self.name}'")

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
        return {**vars(self), "compiled": None, "_kept": []}

    def kept(self, values: Mapping[str, float] | None = None) -> Model:
        """The model as it is now, with the given values of parameters: what is added or changed later is not in it.

        What was added cannot change, so that shelves and parameters of its own are all it needs.
        """
        made: Model = object.__new__(type(self))
        vars(made).update({name: _own_copy(value) for name, value in vars(self).items()}, _kept=[])
        now = {**{name: p.value for name, p in self.parameters.items() if p.formula is None}, **(values or {})}
        still = {name: p.still(now.get(name, 0.0)) for name, p in self.parameters.items()}
        vars(made)["parameters"] = Shelf(still, what="parameters of a model")
        if self.compiled is not None and self.compiled.version == self.version:
            made.compiled = self.compiled.of(made)
        self._kept = [*(each for each in self._kept if each() is not None), weakref.ref(made)]
        return made

    def _let_go(self) -> None:
        """Before something changes that kept models share: each gets one of its own."""
        for made in (each() for each in self._kept):
            if made is not None:
                made._let_go()
                compiled, contents = made.compiled, copied(made._contents(), f"'{self.name}'")
                vars(made).update(vars(unpacked(type(made), contents)), compiled=compiled, _kept=[])
        self._kept = []

    # --- what it holds -------------------------------------------------------------------------------------------

    def parameter(self, name: str, value: Any, bounds: tuple[float, float] | None = None) -> Parameter:
        """A named design parameter, usable wherever a number is, and in expressions; of others, it follows them."""
        self._claim(name, "parameter")
        self._own_parameters([value], f"parameter '{name}'")
        parameter = Parameter(name, value, bounds)
        self._put("parameters", name, parameter)
        self._accept(name, "parameter")
        return parameter

    def measure(self, name: str, what: Any, *parts: Any) -> Definition:
        """A named output of one's own, in every analysis: a quantity, an expression, or a function of parts.

        ``what`` is a quantity (``joint.angle``, ``kp.distance(a, b)``); a text in the names that results have
        ("output.force / input.force", other measures and parameters included; tables that it calls by name are given
        behind it); or a function of the ``parts`` (and, if it takes one argument more, of time), which get it as a
        user's force does. A measure that is made of reactions is there in those analyses that know them.
        """
        self._claim(name, "measure")
        if isinstance(what, str):
            rates = [full for part in self.parts.values() for names in part.names() for full in names]
            loads = [f"{e.shown_as}.{what}" for e in self.elements.values() for what in _shown_by(e, self.space)]
            names = [*rates, *loads, *self.measures]
            made = written(name, what, self.parameters, self._may_be_measured, names, parts)
        else:
            made = measured(name, what, parts)
            self._own_parameters(made.foreign(), f"measure '{name}'")
            strange = [n for n in made.needs if not self._may_be_measured(n)]
            if strange:
                raise ModelError(f"measure '{name}' uses '{strange[0]}', which is not of '{self.name}'")
        self._put("measures", name, made)
        self._accept(name, "measure")
        return made

    def _may_be_measured(self, name: str) -> bool:
        """Whether a name may be that of a quantity (which analyses have it shows when it is computed)."""
        owner, _, quantity = name.partition(".")
        own = {full for part in self.parts.values() for names in part.names() for full in names}
        if name in self.measures or name in own:
            return True
        if owner in ("energy", "lambda", "ground", "power"):
            return bool(quantity)
        shown_so = (element for element in self.elements.values() if element.shown_as == owner)
        return any(quantity in _shown_by(element, self.space) for element in shown_so)

    def set(self, values: Mapping[str, float] | None = None, **more: float) -> None:
        """Change parameter values by name; nothing is changed when one of them is wrong."""
        if values is not None and not isinstance(values, Mapping):
            raise ModelError(f"parameters are given by name, as a mapping, not {shown(values)}")
        given = {**(values or {}), **more}
        self.parameter_vector(given)
        for name, value in given.items():
            if self.parameters[name].formula is None:
                self.parameters[name].value = value

    def check_parameters(self, names: Iterable[str]) -> None:
        """Refuse names that no parameter of this model has."""
        unknown = [name for name in names if name not in self.parameters]
        if unknown:
            known = ", ".join(f"'{name}'" for name in self.parameters) or "none"
            listed = ", ".join(f"'{name}'" for name in unknown)
            hint = suggestion(str(unknown[0]), self.parameters) or f"; the parameters of this model: {known}"
            raise ModelError(f"unknown parameter {listed}{hint}")

    def parameter_vector(self, changes: Mapping[str, float] | None = None) -> np.ndarray:
        """The values of all parameters, some of them replaced; those that follow from others do so."""
        changes = {} if changes is None else changes
        if not isinstance(changes, Mapping):
            raise ModelError(f"parameters are given by name, as a mapping, not {shown(changes)}")
        self.check_parameters(changes)
        values = {name: plain_number(value, f"parameter '{name}'") for name, value in changes.items()}
        derived = [k for k, p in enumerate(self.parameters.values()) if p.formula is not None]
        if not derived:
            return np.array([float(values.get(name, p.value)) for name, p in self.parameters.items()])
        return self._derived(values)

    def parameter_slopes(self, vector: np.ndarray, by: Sequence[str]) -> np.ndarray:
        """How all parameters change with some free ones: those that follow from others do so."""
        self.check_parameters(by)
        everything = list(self.parameters.values())
        free = [p for p in everything if p.formula is None]
        labels = [p.label for p in free]
        bound = [name for name in by if name not in labels]
        if bound:
            raise ModelError(f"parameter '{bound[0]}' is no free choice: it {self.parameters[bound[0]].follows}")
        if len(free) == len(everything):
            return np.eye(len(free))[:, [labels.index(name) for name in by]]
        staged = Staged([ca.vertcat(ca.SX(0, 1), *map(ca.SX, free))], [ca.vertcat(*(p.unfolded for p in everything))])
        numbers = np.array([value for value, p in zip(vector, everything, strict=True) if p.formula is None])
        return staged.slopes(numbers).toarray()[:, [labels.index(name) for name in by]]

    def _derived(self, values: Mapping[str, float]) -> np.ndarray:
        """The values of all parameters where some follow from others."""
        everything = list(self.parameters.values())
        free = [p for p in everything if p.formula is None]
        staged = Staged([ca.vertcat(ca.SX(0, 1), *map(ca.SX, free))], [ca.vertcat(*(p.unfolded for p in everything))])
        numbers = np.array([float(values.get(p.label, p.value)) for p in free])
        wrong = staged.outside(numbers)
        if wrong:
            raise ModelError(wrong)
        found = staged(numbers)[0].ravel()
        for p, value in zip(everything, found, strict=True):
            if not abs(value) <= LARGEST:
                raise ModelError(f"parameter '{p.label}' is not finite at these values; it {p.follows}")
            if p.label in values and not abs(values[p.label] - value) <= 1e-12 * abs(value):
                raise ModelError(f"parameter '{p.label}' {p.follows}")
        return found

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
        numbers = [*element.data(), *element.stiffnesses.values()]
        numbers += [s for part in element.auxiliary for s in part.start]
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
        vars(thing).pop("_given", None)
        vars(self)[shelf].put(name, seal(thing, self.name))

    def _own_parameters(self, numbers: Any, what: str) -> None:
        for parameter in parameters_in(numbers):
            known = self.parameters.get(parameter.label)
            if known is None or known.element_hash() != parameter.element_hash():
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
            for shelf in (self.parts, self.elements, self.parameters, self.measures):
                if name in shelf:
                    return shelf[name]
        known = (*self.parts, *self.elements, *self.parameters)
        hint = suggestion(name, known) if isinstance(name, str) else ""
        raise ModelError(f"there is no part, joint or parameter called {shown(name)} in '{self.name}'{hint}")

    def __iter__(self) -> Any:
        raise ModelError("a model is no list; go through its parts, elements or parameters")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}: {len(self.parts)} parts, {len(self.elements)} elements)"
