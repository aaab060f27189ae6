"""Models written as files: the recorded builder calls, with expressions as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np
import yaml

from kempe import elements as el
from kempe.elements.base import Group
from kempe.elements.curves import curve, curve_through
from kempe.elements.functions import Expression
from kempe.elements.laws import NumberedLaw
from kempe.elements.motions import Law, spline, traced
from kempe.elements.numbers import number
from kempe.elements.quantities import Angle, Displacement, Distance, Measure, Quantity
from kempe.elements.readings import substituted
from kempe.elements.rotations import Rotation
from kempe.elements.tables import Table
from kempe.elements.user import UserConstraint, UserElement, UserForce
from kempe.errors import ModelError
from kempe.model import own_elements
from kempe.model.building import Builder
from kempe.model.equations import EquationsModel
from kempe.model.expressions import CONSTANTS, FUNCTIONS, write, written_name
from kempe.model.model import Model
from kempe.model.schema import MEASURED, VERSION, role


def describe(model: Model, values: Mapping[str, float] | None = None) -> dict[str, Any]:
    """A model as the data of a file; the present values of its parameters, or the given ones."""
    now = {name: p.value for name, p in model.parameters.items()} | dict(values or {})
    data: dict[str, Any] = {"kempe": VERSION, "name": model.name}
    if model.space.dim == 3:
        data["dim"] = 3
    names = _TableNames(model)
    if model.units is not None:
        data["units"] = model.units.given
    if model.parameters:
        data["parameters"] = {name: _parameter(model, p, now[name], names) for name, p in model.parameters.items()}
    measures = {name: measure.text(model.parameters, names) for name, measure in model.measures.items()}
    more = {"measures": measures} if measures else {}
    if isinstance(model, EquationsModel):
        equations = _describe_equations(model, names)
        return {**data, **names.data(), "equations": equations, **more}
    assert isinstance(model, Builder)
    said = {arguments["name"] for _, arguments in model.recipe}
    for element in model.elements.values():  # what came with an element is said with it
        said |= {part.name for part in element.auxiliary}
        said |= {corner.name for corner in element.corners} if isinstance(element, el.LooseTranslational) else set()
    unsaid = [n for n in (*model.parts, *model.elements) if n.split(".")[0] not in said]
    if unsaid:
        raise ModelError(f"'{unsaid[0]}' was added as an object of its own, which a file cannot describe")
    writer = _Writer(model, names)
    if any(isinstance(g, ca.SX) or g != 0 for g in model.gravity):
        data["gravity"] = writer.value(model.gravity)
    items = [{verb: writer.call(verb, arguments)} for verb, arguments in model.recipe]
    return {**data, **writer.tables.data(), "model": items, **more}


def _parameter(model: Model, parameter: el.Parameter, value: float, tables: _TableNames) -> Any:
    if parameter.formula is not None:
        return write(parameter.formula, {name: ca.SX(p) for name, p in model.parameters.items()}, None, tables)
    bounds = parameter.bounds
    return value if bounds is None else {"value": value, "bounds": list(bounds)}


class _TableNames:
    """The tables of a model by the names that a file calls them by."""

    def __init__(self, model: Model) -> None:
        self._taken = {*model.parameters, *model.parts, *CONSTANTS, *FUNCTIONS, "t", "s"}
        self._named: dict[str, tuple[str, Table]] = {}

    def __call__(self, table: Table) -> str:
        """The name of a table: its own, with a number behind it where that is taken."""
        if not isinstance(table, el.table):
            raise ModelError(f"{table.called} is part of an element, and cannot be written by itself")
        if table.key not in self._named:
            stem, count = table.name or "table", 1
            name = stem
            while name in self._taken:
                count += 1
                name = f"{stem} {count}"
            self._taken.add(name)
            self._named[table.key] = (name, table)
        return self._named[table.key][0]

    def data(self) -> dict[str, Any]:
        """The tables met, as the data of a file."""
        plain = {"kind": "cubic", "periodic": False, "ends": "not-a-knot", "outside": "error"}
        found = {
            name: {key: _listed(value) for key, value in table.given.items() if plain.get(key) != value}  # type: ignore[attr-defined]
            for name, table in sorted(self._named.values(), key=lambda entry: entry[0])
        }
        return {"tables": found} if found else {}


class _Writer:
    """Turns arguments of builder methods into the data of a file."""

    def __init__(self, model: Builder, tables: _TableNames) -> None:
        self.model, self.tables = model, tables
        self.names = {name: ca.SX(p) for name, p in model.parameters.items()}

    def call(self, verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        name = arguments["name"]
        if verb == "constraint":
            return self._constraint(name)
        if verb == "user_force":
            return self._user_force(name)
        if verb == "add":
            return own_elements.described(self, self.model.elements[name], arguments["arguments"])
        return {key: self.argument(verb, key, value, name) for key, value in arguments.items() if value is not None}

    def argument(self, verb: str, key: str, value: Any, name: str) -> Any:
        kind = role(verb, key, self.model.space.dim)
        if kind == "characteristic":
            return self._characteristic(value, name, MEASURED[verb])
        if kind == "load" and isinstance(value, el.Element):
            return {"load": value.name}
        return self.value(value)

    def _characteristic(self, law: Any, name: str, measured: str) -> Any:
        if isinstance(law, Table):
            return {"table": self.tables(law)}
        if not isinstance(law, Expression):
            return self.value(law)
        function = law
        own = dict(zip((f"{name}.{measured}", f"{name}.rate", "t"), function.own, strict=True))
        return self._text(function.value, own)

    def value(self, value: Any) -> Any:
        if value is None or isinstance(value, (str, bool)):
            return value
        if isinstance(value, ca.SX):
            return float(value) if value.is_constant() else self._text(value)
        if isinstance(value, np.number):
            return value.item()
        if isinstance(value, (int, float)):
            return value
        if isinstance(value, (tuple, list, np.ndarray)):
            return [self.value(item) for item in value]
        if isinstance(value, Mapping):
            return {key: self.value(item) for key, item in value.items()}
        return self._object(value)

    def _turn(self, marker: el.Marker) -> dict[str, Any]:
        """How a marker is turned on its part: an angle in the plane, a matrix of its axes as columns in space."""
        if not marker.turn:
            return {}
        if len(marker.turn) == 1:
            return {"angle": self.value(marker.turn[0])}
        return {"rotation": {"matrix": [[self.value(marker.turn[3 * k + i]) for k in range(3)] for i in range(3)]}}

    def _object(self, value: Any) -> Any:
        if isinstance(value, el.Marker):
            return {"on": value.name, "point": self.value(value.point), **self._turn(value)}
        if isinstance(value, Rotation):
            return self.value(value.given)
        if isinstance(value, Measure):
            return self._object(value.fields[0])
        for kind in (Angle, Distance, Displacement):
            if isinstance(value, kind):
                word = kind.__name__.lower()
                owner = self._owner(value, word)
                return owner or {word: [self.value(end) for end in value.fields]}
        if isinstance(value, traced):
            return self._text(value.expression.value, {"t": value.expression.own[0]})
        if isinstance(value, Table):
            return f"{written_name(self.tables(value))}(t)"
        if isinstance(value, spline):
            return {"spline": {key: self.value(v) for key, v in value.given.items()}}
        if isinstance(value, Law):
            return {type(value).__name__: {k: self.value(v) for k, v in value.numbers.items() if v is not None}}
        if isinstance(value, Expression):
            return self._text(value.value, {symbol.name(): symbol for symbol in value.own})
        if isinstance(value, NumberedLaw):
            return {value.word(): {key: self.value(v) for key, v in value.given.items()}}
        if isinstance(value, curve_through):
            return {"curve_through": {key: self.value(v) for key, v in value.given.items()}}
        if isinstance(value, curve):
            x, y = (self._text(value.point[k], {"s": value.s}) for k in (0, 1))
            return {"curve": {"x": x, "y": y, "span": list(value.span)}}
        if isinstance(getattr(value, "name", None), str):
            return value.name
        return number(value, "what is written to a file")

    def _owner(self, quantity: Quantity, word: str) -> str:
        """What a quantity of a joint is called; empty where it is of two markers by themselves."""
        ends = [id(end) for end in quantity.fields]
        for name, element in self.model.elements.items():
            own = getattr(element, word, None) if word in dir(type(element)) else None
            if isinstance(own, type(quantity)) and [id(end) for end in own.fields] == ends:
                return f"{name}.{word}"
        return ""

    def _text(self, expression: Any, own: Mapping[str, ca.SX] | None = None) -> str:
        return write(expression, self.names, own, self.tables)

    def _constraint(self, name: str) -> dict[str, Any]:
        element = self.model.elements[name]
        assert isinstance(element, UserConstraint)
        equations = self._written(element, element.phi)
        return {"name": name, "equations": equations, "rows": list(element.rows), "parts": self._acts_on(element)}

    def _user_force(self, name: str) -> dict[str, Any]:
        element = self.model.elements[name]
        assert isinstance(element, UserForce)
        coordinates = [full[0] for part in element.parts() for full in part.names()]
        pushes = zip(coordinates, self._written(element, element.force), strict=True)
        forces = {full: text for full, text in pushes if text != "0.0"} or {coordinates[0]: "0.0"}
        return {"name": name, "forces": forces, "parts": self._acts_on(element)}

    def _acts_on(self, element: UserElement) -> list[Any]:
        """The parts and points that a user's function was given, in order: where its reaction is told."""
        found: dict[str, Any] = {}
        for field in (end for given in element.given for end in _ends(given)):
            found.setdefault(field.name, self.value(field))
        return list(found.values())

    def _written(self, element: el.Element, equation: Callable[[Any], Any]) -> list[str]:
        """The rows of an element's equation in coordinates, rates, time and parameters."""
        source = el.KernelSource(element)
        result = equation(element.view(source))
        values = [ca.SX(v) for v in element.data()]
        written = substituted([result], [source.p], [ca.vertcat(ca.SX(0, 1), *values)])[0] if values else result
        names = [full for part in element.parts() for full in part.names()]
        symbols = [*ca.vertsplit(source.q), *ca.vertsplit(source.v)]
        labels = [*(full[0] for full in names), *(full[1] for full in names)]
        known = {**dict(zip(labels, symbols, strict=True)), **self.names}
        return [write(written[k], known, {"t": source.t}, self.tables) for k in range(written.numel())]


def _ends(field: Any) -> list[Any]:
    """The parts and markers that a quantity is made of."""
    if isinstance(field, Group):
        return [end for item in field.fields for end in _ends(item)]
    return [field.part if isinstance(field, el.Component) else field]


def _listed(value: Any) -> Any:
    """Plain lists in place of those that are sealed."""
    return [_listed(item) for item in value] if isinstance(value, list) else value


def _describe_equations(model: EquationsModel, called: _TableNames) -> dict[str, Any]:
    element = model.elements["equations"]
    assert isinstance(element, el.SystemEquations)
    added = [name for name in model.elements if name != "equations"]
    if added:
        raise ModelError(f"'{added[0]}' was added to a system of equations, which a file cannot describe")
    names = list(model.parts)
    q, v, t, p, phi, mass, force = element.expressions
    symbols = [*ca.vertsplit(q), *ca.vertsplit(v), *(ca.vertsplit(p) if p.numel() else [])]
    labels = [*names, *(f"{n}.v" for n in names), *model.parameters]
    known, own = dict(zip(labels, symbols, strict=True)), {"t": t}
    data: dict[str, Any] = {"coordinates": {n: float(part.start[0]) for n, part in model.parts.items()}}
    if phi is not None:
        data["constraints"] = {row: write(phi[k], known, own, called) for k, row in enumerate(element.rows)}
    if mass is not None:
        data["mass"] = [[write(mass[i, j], known, own, called) for j in range(len(names))] for i in range(len(names))]
    if force is not None:
        data["force"] = [write(force[k], known, own, called) for k in range(len(names))]
    return data


class _Dumper(yaml.SafeDumper):
    """Short lists and flat mappings on one line, every digit of a number kept."""


def _represent_sequence(dumper: yaml.SafeDumper, value: list[Any]) -> Any:
    flat = all(not isinstance(item, (list, dict)) for item in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=flat)


def _represent_float(dumper: yaml.SafeDumper, value: float) -> Any:
    return dumper.represent_scalar(
        "tag:yaml.org,2002:float", repr(value) if "e" not in repr(value) else _exponent(value)
    )


def _exponent(value: float) -> str:
    digits, _, power = repr(value).partition("e")
    return f"{digits if '.' in digits else digits + '.0'}e{power}"


_Dumper.add_representer(list, _represent_sequence)
_Dumper.add_representer(float, _represent_float)


def text_of(data: Mapping[str, Any]) -> str:
    """The data of a file as YAML."""
    return yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def plain(value: Any) -> Any:
    """Analyses and outputs as they are given in Python, as the data of a file."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list, np.ndarray)):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
