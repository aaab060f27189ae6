"""Model files: ``.kempe.yaml`` read, checked, built and written. A file says what the builder methods say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from pydantic import BaseModel, ValidationError

from kempe import elements as el
from kempe.calling import suggestion
from kempe.disk import read_whole, write_whole
from kempe.elements.curves import curve, curve_through
from kempe.elements.motions import spline
from kempe.elements.numbers import named_symbol, unit_hint
from kempe.elements.quantities import Angle, AxialDisplacement, Displacement, Distance, choices_of, either
from kempe.elements.readings import readings_in, substituted
from kempe.errors import FileError, ModelError
from kempe.model import own_elements
from kempe.model.declared import add_parameters, parameters_as_functions, tables_of
from kempe.model.documents import Document, validation_findings
from kempe.model.equations import EquationsModel
from kempe.model.expressions import mentioned, parse
from kempe.model.mechanism import MechanismModel
from kempe.model.model import Model
from kempe.model.schema import MEASURED, VERSION, document_model, role
from kempe.model.spatial import SpatialModel
from kempe.model.writing import describe, plain, text_of
from kempe.model.yaml_lines import LARGEST, load_yaml

#: Dimension -> the container that is filled.
MODELS: dict[int, Callable[..., Any]] = {2: MechanismModel, 3: SpatialModel}


__all__ = ["Document", "build", "describe", "read", "read_text", "save", "text_of"]


def bare(name: str, dim: int = 2) -> Any:
    """A mechanism without analyses, for those who only read it."""
    return MODELS[dim](name)


def save(model: Model, path: str | Path, **more: Any) -> Path:
    """Write a model to a file (whole or not at all) that can be read; ``more`` may hold analyses and outputs."""
    text = text_of({**describe(model), **plain(more)})
    read_text(text, str(path))
    return write_whole(path, text.encode())


def read(path: str | Path) -> Document:
    """Read and check a file; raises ModelError with all findings, each with its line."""
    try:
        text = read_whole(path, LARGEST).decode("utf-8")
    except FileError as error:
        raise ModelError(str(error)) from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: this is not a text file in UTF-8") from None
    return read_text(text, str(path))


def read_text(text: str, where: str = "model") -> Document:
    """Check the text of a file."""
    data, lines = load_yaml(text, where)
    if not isinstance(data, dict):
        raise ModelError(f"{where}: a model file is a mapping that begins with 'kempe: {VERSION}'")
    if data.get("kempe") != VERSION:
        raise ModelError(f"{where}: a model file of this version says 'kempe: {VERSION}'")
    checked = Document(None, lines, where)
    if data.get("dim", 2) not in (2, 3) or isinstance(data.get("dim"), bool):
        raise ModelError(f"{checked.line('dim')}: dim is 2, for a planar mechanism, or 3, not {el.shown(data['dim'])}")
    try:
        checked.data = document_model(data.get("dim", 2)).model_validate(data)
    except ValidationError as error:
        findings = validation_findings(error, data, checked)
        raise ModelError([*findings, *_findings_in_the_rest(error, data, checked)]) from None
    return checked


def _findings_in_the_rest(error: ValidationError, data: Any, document: Document) -> list[str]:
    """Mistakes in those entries of the model that are well formed, so that all show at once."""
    items = data.get("model")
    if not isinstance(items, list):
        return []
    broken = {item["loc"][1] for item in error.errors() if item["loc"][0] == "model" and len(item["loc"]) > 1}
    rest = {key: data[key] for key in ("kempe", "name", "dim", "gravity", "parameters", "tables") if key in data}
    kept = [k for k in range(len(items)) if k not in broken]
    try:
        partial_data = document_model(data.get("dim", 2)).model_validate({**rest, "model": [items[k] for k in kept]})
    except ValidationError:
        return []
    names = [arguments.get("name") for k in broken for arguments in _mappings(items[int(k)])]
    place = {k: i for i, k in enumerate(kept)}
    own = {path: line for path, line in document.lines.items() if path[:1] == ("model",) and path[1:2]}
    lines = {("model", place[path[1]], *path[2:]): line for path, line in own.items() if path[1] in place}
    try:
        rest_of_it = Document(partial_data, {**document.lines, **lines}, document.where)
        build(rest_of_it, MODELS[partial_data.dim], EquationsModel, names, trust=None)  # type: ignore[attr-defined]
    except ModelError as found:
        return found.findings
    return []


def _mappings(item: Any) -> list[dict[str, Any]]:
    return [value for value in item.values() if isinstance(value, dict)] if isinstance(item, dict) else []


def build(
    document: Document,
    mechanism: Callable[..., Any],
    equations: Callable[..., Any],
    broken: Iterable[Any] = (),
    trust: str | Iterable[str] | None = (),
) -> Any:
    """The model a document describes, made with the given classes; all findings at once.

    ``broken`` names parts that have mistakes of their own; what merely follows from them is not reported. ``trust``
    names modules whose classes of elements may be used; with None such elements are left out.
    """
    data, findings = document.data, list[str]()
    if data.equations is not None:
        if data.model:
            raise ModelError(f"{document.line('equations')}: a file has either a model or equations, not both")
        if data.dim != 2:
            raise ModelError(f"{document.line('dim')}: equations have coordinates of their own: leave dim out")
        model = _build_equations(document, equations)
        _collect(findings, document, ("units",), partial(setattr, model, "units", data.units))
        tables = tables_of(data, Path(document.where).parent, partial(_collect, [], document))  # (told before)
        findings += _add_measures(model, document, set(), tables)
        if findings:
            raise ModelError(findings)
        return model
    try:
        model = mechanism(data.name, dim=data.dim)
    except ModelError as error:
        raise ModelError([f"{document.line('name')}: {finding}" for finding in error.findings]) from None
    attempt = partial(_collect, findings, document)
    tables = tables_of(data, Path(document.where).parent, attempt)
    add_parameters(data.parameters, model, tables, attempt)
    _collect(findings, document, ("units",), partial(setattr, model, "units", data.units))
    if data.gravity is not None:
        _collect(findings, document, ("gravity",), partial(_set_gravity, model, data.gravity))
    failed = {name for name in broken if isinstance(name, str)}
    for k, item in enumerate(data.model):
        chosen = {verb: arguments for verb, arguments in item if arguments is not None}
        if len(chosen) != 1:
            findings.append(f"{document.line('model', k)}: an entry has exactly one key, such as body or revolute")
            continue
        verb, arguments = next(iter(chosen.items()))
        builder = _Builder(model, failed, tables, trust)
        if not _collect(findings, document, ("model", k, verb), partial(builder.call, verb, arguments)):
            failed.add(arguments.name)
    findings += _add_measures(model, document, failed, tables)
    if findings:
        raise ModelError(findings)
    return model


def _add_measures(model: Model, document: Document, failed: set[str], tables: Mapping[str, el.Table]) -> list[str]:
    """Add the measures of a file; what is wrong with them, unless it follows from what was found before."""
    findings: list[str] = []
    for name, text in document.data.measures.items():
        action = partial(_add_measure, model, name, str(text), failed, tables)
        _collect(findings, document, ("measures", name), action)
    return findings


def _add_measure(model: Model, name: str, text: str, failed: set[str], tables: Mapping[str, el.Table]) -> None:
    if not failed.isdisjoint(full.partition(".")[0] for full in mentioned(text)):
        raise _Consequence(f"measure '{name}' is made of something that has a mistake of its own")
    model.measure(name, text, *tables.values())


def may_be_built(document: Document, trust: str | Iterable[str]) -> bool:
    """Whether all classes of elements that a document names are of trusted modules."""
    own = [item.add for item in document.data.model if item.add is not None]
    return all(own_elements.trusted(entry.element, trust) for entry in own)


#: What a quantity of a part or joint may be called behind its name.
QUANTITIES = ("x", "y", "z", "angle", "displacement", "distance")
#: Verbs whose method takes some of its arguments one by one, and what they are called in a file.
LISTED = {"plate": "points", "solid": "items"}


class _Consequence(ModelError):
    """A mistake that follows from one already found."""


def _collect(findings: list[str], document: Document, path: tuple[Any, ...], action: Callable[[], Any]) -> bool:
    """Do something, or note why it cannot be done (unless that is the consequence of something noted before)."""
    try:
        action()
    except _Consequence:
        return False
    except ModelError as error:
        findings += [f"{document.line(*path, *_argument_in(finding))}: {finding}" for finding in error.findings]
        return False
    return True


def _argument_in(finding: str) -> tuple[str, ...]:
    """The argument that a finding is about, as messages name it: "body 'rod': mass must be above zero"."""
    found = re.match(r"[\w ]+ '[^']*': (\w+)\b", finding)
    return (found[1],) if found else ()


def _set_gravity(model: MechanismModel, given: Any) -> None:
    model.gravity = _Builder(model, set())._vector(given)


class _Builder:
    """Turns the data of a file into arguments of builder methods."""

    def __init__(
        self,
        model: MechanismModel,
        failed: set[str],
        tables: Mapping[str, el.Table] | None = None,
        trust: str | Iterable[str] | None = (),
    ) -> None:
        self.model, self.failed, self.tables, self.trust = model, failed, dict(tables or {}), trust
        self.names: dict[str, Any] = {**self.tables, **model.parameters}
        self.dim = model.space.dim

    def call(self, verb: str, arguments: BaseModel) -> Any:
        given = {name: value for name, value in arguments if value is not None}
        if verb in ("constraint", "user_force"):
            return getattr(self, f"_{verb}")(**given)
        if verb == "add":
            return self._own_element(**given)
        made = {name: self._named_argument(verb, name, value, given["name"]) for name, value in given.items()}
        if verb in LISTED:
            return getattr(self.model, verb)(made.pop("name"), *made.pop(LISTED[verb]), **made)
        return getattr(self.model, verb)(**made)

    def _named_argument(self, verb: str, name: str, value: Any, owner: str) -> Any:
        """An argument; what is wrong with it is said with the user's names for both."""
        try:
            return self._argument(verb, name, value, owner)
        except _Consequence:
            raise
        except ModelError as error:
            words = f"{verb.replace('_', ' ')} '{owner}': {name}"
            raise ModelError([f"{words}: {finding}" for finding in error.findings]) from None

    def _argument(self, verb: str, name: str, value: Any, owner: str) -> Any:
        kind = role(verb, name, self.dim)
        if kind == "characteristic":
            return self._characteristic(value, owner, MEASURED[verb])
        return getattr(self, f"_{kind}")(value)

    def _text(self, value: Any) -> Any:
        return value

    _flag = _texts = _text

    def _number(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return parse(value, self.names)
        except ModelError as error:
            if unit_hint(value):
                raise ModelError(f"'{value}' is not a number{unit_hint(value)}") from None
            if "is not an expression" in str(error) and re.search(r"[A-Za-z]\w* +[A-Za-z]", value):
                raise ModelError(f"{error}; a name with a space in it stands in braces, {{rod length}} say") from None
            raise

    def _stiffness(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._number(item) for key, item in value.items()}
        return self._number(value)

    def _vector(self, value: Any) -> Any:
        return tuple(self._number(item) for item in value)

    _two = _vector

    def _numbers(self, value: Any) -> Any:
        return [self._numbers(item) for item in value] if isinstance(value, list) else self._number(value)

    def _rotation(self, value: Any) -> Any:
        if isinstance(value, list):
            return self._numbers(value)
        said = ("euler",) if not isinstance(value.get("axis"), str) else ("euler", "axis")
        return {key: item if key in said else self._numbers(item) for key, item in value.items()}

    def _pair(self, value: Any) -> Any:
        return self._vector(value) if isinstance(value, list) else self._number(value)

    def _vectors(self, value: Any) -> Any:
        return [self._vector(item) for item in value]

    def _part(self, value: Any) -> Any:
        if isinstance(value, dict):
            point = self._vector(value["point"]) if "point" in value else None
            turn = {"angle": self._number(value["angle"])} if "angle" in value else {}
            turn |= {"rotation": self._rotation(value["rotation"])} if "rotation" in value else {}
            return self._carrier(value["on"]).on(point, **turn)
        return self._carrier(value)

    def _side(self, value: Any) -> Any:
        """A joint, or what a joint is attached to."""
        return self._joint(value) if isinstance(value, str) and value in self.model.elements else self._part(value)

    def _parts(self, value: Any) -> Any:
        return [self._part(item) for item in value]

    def _carrier(self, name: str) -> Any:
        if name == "ground":
            return self.model.ground
        if name.partition(".")[0] in self.failed:
            raise _Consequence(f"'{name}' has a mistake of its own")
        part = self.model.parts.get(name)
        if part is not None:
            return part
        element = self.model.elements.get(name)
        if isinstance(element, el.RigidLink):
            return element.carrier
        if "." in name:
            return self._quantity(name)
        links = [n for n, e in self.model.elements.items() if isinstance(e, el.RigidLink)]
        known = [*self.model.parts, *links, "ground"]
        raise ModelError(
            f"there is no part '{name}'{suggestion(name, known) or '; there are ' + ', '.join(known[:20])}"
        )

    def _quantity(self, value: Any) -> Any:
        if isinstance(value, dict):
            kind, ends = next(iter(value.items()))
            along = Displacement if self.dim == 2 else AxialDisplacement
            make = {"angle": Angle, "distance": Distance, "displacement": along}[kind]
            markers = [self._part(end) for end in ends]
            return make(*[m if isinstance(m, el.Marker) else m.on() for m in markers])
        owner, _, quantity = value.partition(".")
        if not quantity:
            return self._carrier(value)
        if owner in self.failed:
            raise _Consequence(f"'{owner}' has a mistake of its own")
        found = self.model.parts.get(owner) or self.model.elements.get(owner)
        if found is None:
            known = (*self.model.parts, *self.model.elements)
            raise ModelError(f"there is no part or joint '{owner}'{suggestion(owner, known)}")
        if quantity not in QUANTITIES or not hasattr(found, quantity):
            choices = choices_of(found)
            raise ModelError(
                f"'{owner}' has no quantity '{quantity}'" + (f"; choose {either(choices)}" if choices else "")
            )
        return getattr(found, quantity)

    def _terms(self, value: Any) -> Any:
        return [(self._number(c), self._quantity(q)) for c, q in value]

    def _law(self, value: Any) -> Any:
        if isinstance(value, str):
            t = ca.SX.sym("t")
            expression = parse(value, self.names, {"t": t})
            return lambda time: substituted([expression], [t], [ca.SX(time)])[0]
        if not isinstance(value, dict):
            return value
        name, arguments = next(iter(value.items()))
        law = getattr(el.motions, name)
        try:
            if law is spline:
                return law(**arguments)
            return law(**{key: self._number(v) for key, v in arguments.items()})
        except TypeError as error:
            raise ModelError(f"{name}: {error}") from None

    def _friction(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return self._number(value)
        name, arguments = next(iter(value.items()))
        return el.LAWS[name](**{key: self._pair(item) for key, item in arguments.items()})

    def _contact(self, value: Any) -> Any:
        name, arguments = next(iter(value.items()))
        law: Any = el.CONTACT_LAWS[name]
        return law(**{key: self._of_contact(key, item) for key, item in arguments.items()})

    def _of_contact(self, key: str, value: Any) -> Any:
        """An argument of a contact law."""
        functions = {"force": ("depth", "rate", "speed"), "stored": ("depth",)}
        if key in functions:
            return self._function(value, functions[key])
        return value if key == "film" else self._pair(value)

    def _function(self, text: Any, names: tuple[str, ...]) -> Callable[..., Any]:
        """An expression of some names of its own as a function of them."""
        own = {name: ca.SX.sym(name) for name in names}
        expression = parse(str(text), self.names, own)

        def function(*values: Any) -> Any:
            return substituted([expression], list(own.values()), [ca.SX(value) for value in values])[0]

        return function

    def _load(self, value: Any) -> Any:
        if not isinstance(value, dict) or "load" not in value:
            return self._law(value)
        return self._joint(value["load"])

    def _joint(self, name: str) -> Any:
        if name in self.failed:
            raise _Consequence(f"'{name}' has a mistake of its own")
        if name not in self.model.elements:
            raise ModelError(f"there is no joint '{name}'{suggestion(name, self.model.elements)}")
        return self.model.elements[name]

    def _laws(self, value: Any) -> Any:
        return [self._law(item) for item in value]

    def _characteristic(self, value: Any, name: str, measured: str) -> Any:
        if isinstance(value, dict) and "table" in value:
            return self._table(value["table"])
        if isinstance(value, dict):
            return self._law(value)
        own = {full: named_symbol(full) for full in (f"{name}.{measured}", f"{name}.rate", "t")}
        expression = parse(value, self.names, own)
        return lambda *now: substituted([expression], list(own.values()), [ca.SX(v) for v in now])[0]

    def _table(self, name: str) -> el.Table:
        if name not in self.tables:
            near = get_close_matches(name, list(self.tables), n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.tables) or 'none'}"
            raise ModelError(f"there is no table '{name}'; {hint}")
        return self.tables[name]

    def _curve(self, value: Any) -> Any:
        name, data = next(iter(value.items()))
        if name == "curve_through":
            return curve_through(**data)
        s = ca.SX.sym("s")
        point = [parse(str(data[c]), self.names, {"s": s}) for c in ("x", "y")]
        low, high = (el.plain_number(x, "the span of a curve") for x in data.get("span", (0.0, 2 * np.pi)))
        return curve(lambda u: substituted(point, [s], [ca.SX(u)]), span=(low, high))

    def _constraint(
        self, name: str, equations: list[str], rows: list[str] | None = None, parts: list[Any] | None = None
    ) -> Any:
        """A constraint in coordinates; ``parts`` are those it acts on, in order, where its reaction is told."""
        _, fields, function = self._own_function(f"constraint '{name}'", equations)
        acts_on = self._parts(parts or [])
        return self.model.constraint(name, lambda *seen: function(*seen[len(acts_on) :]), *acts_on, *fields, rows=rows)

    def _user_force(self, name: str, forces: dict[str, Any], parts: list[Any] | None = None) -> Any:
        what = f"user force '{name}'"
        for full in forces:
            if full.partition(".")[0] in self.failed:
                raise _Consequence(f"'{full}' has a mistake of its own")
            if full not in self._coordinates():
                raise ModelError(f"{what}: there is no coordinate '{full}'")
        used, fields, function = self._own_function(what, map(str, forces.values()), forces, rates=True)
        acts_on = self._parts(parts or [])

        def efforts(*seen: Any) -> list[Any]:
            *values, t = seen[len(acts_on) :]
            found = dict(zip(forces, function(*(c.value for c in values), *(c.rate for c in values), t), strict=True))
            return [*(0.0 for _ in acts_on), *(found.get(full, 0.0) for full in used)]

        return self.model.user_force(name, efforts, *acts_on, *fields)

    def _own_element(self, element: str, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        if self.trust is None:
            raise _Consequence(f"'{name}' is not looked at")
        return own_elements.built(self, self.trust, element, name, arguments or {})

    def _coordinates(self) -> dict[str, tuple[Any, int, str]]:
        """Coordinate -> the part it belongs to, its place there, and the name of its rate."""
        parts = self.model.parts.values()
        return {names[0]: (part, k, names[1]) for part in parts for k, names in enumerate(part.names())}

    def _own_function(
        self, what: str, texts: Iterable[str], always: Iterable[str] = (), rates: bool = False
    ) -> tuple[list[str], list[Any], Callable[..., Any]]:
        """Expressions of coordinates (and their rates) as a function: of which, as fields, and the function itself.

        The function takes the values of those coordinates, then their rates if these are allowed, then the time.
        """
        coordinates = self._coordinates()
        values = {full: named_symbol(full) for full in coordinates}
        speeds = {rate: named_symbol(rate) for _, _, rate in coordinates.values()} if rates else {}
        t = ca.SX.sym("t")
        try:
            written = [parse(text, {**self.names, **values, **speeds}, {"t": t}) for text in texts]
        except ModelError as error:
            raise ModelError(f"{what}: {error}") from None
        read = [argument for reading in readings_in(written) for argument in reading.arguments]
        hashes = {s.element_hash() for e in [*written, *read] for s in ca.symvar(e)}
        known = {full for full, symbol in {**values, **speeds}.items() if symbol.element_hash() in hashes}
        used = [full for full, (*_, rate) in coordinates.items() if full in always or {full, rate} & known]
        own = [values[full] for full in used]
        own += [speeds[coordinates[full][2]] for full in used] if rates else []

        def function(*numbers: Any) -> Any:
            return substituted(written, [*own, t], [ca.SX(v) for v in numbers])

        return used, [el.Component(*coordinates[full][:2]) for full in used], function


def _build_equations(document: Document, make: Callable[..., Any]) -> Any:
    data = document.data
    spec = data.equations
    findings: list[str] = []
    attempt = partial(_collect, findings, document)
    tables = tables_of(data, Path(document.where).parent, attempt)
    parameters = parameters_as_functions(data.parameters, tables, attempt)
    if findings:
        raise ModelError(findings)

    def expression(text: Any, q: Any, p: Any, own: Mapping[str, Any], **more: Any) -> Any:
        known = {**dict(zip(spec.coordinates, q, strict=True)), **dict(zip(parameters, p, strict=True))}
        named = {**tables, **known, **more}
        return parse(text, named, own) if isinstance(text, str) else text

    def rates(v: Any) -> dict[str, Any]:
        return {f"{name}.v": value for name, value in zip(spec.coordinates, v, strict=True)}

    options: dict[str, Any] = {}
    if spec.constraints:
        options["constraints"] = lambda q, t, p: {k: expression(e, q, p, {"t": t}) for k, e in spec.constraints.items()}
    if spec.mass is not None:
        options["mass"] = lambda q, p: [[expression(e, q, p, {}) for e in row] for row in spec.mass]
    if spec.force is not None:
        options["force"] = lambda q, v, t, p: [expression(e, q, p, {"t": t}, **rates(v)) for e in spec.force]
    try:
        return make(data.name, spec.coordinates, parameters=parameters, **options)
    except ModelError as error:
        raise ModelError([f"{document.line('equations')}: {finding}" for finding in error.findings]) from None
