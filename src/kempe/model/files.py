"""Model files: ``.kempe.yaml`` read, checked, built and written. A file says what the builder methods say."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import yaml
from pydantic import BaseModel, ValidationError

from kempe import elements as el
from kempe.elements.curves import curve, curve_through
from kempe.elements.motions import Law, spline, traced
from kempe.elements.quantities import Angle, Displacement, Distance, Measure
from kempe.elements.user import UserConstraint
from kempe.errors import ModelError
from kempe.model.equations import EquationsModel
from kempe.model.expressions import parse, write
from kempe.model.mechanism import MechanismModel
from kempe.model.model import Model
from kempe.model.schema import ROLES, VERSION, ParameterSpec, document_model
from kempe.model.yaml_lines import Lines, load_yaml

# --- reading -----------------------------------------------------------------------------------------------------


class Document:
    """A checked file: its data, and where each entry stands."""

    def __init__(self, data: Any, lines: Lines, where: str) -> None:
        self.data, self.lines, self.where = data, lines, where

    def line(self, *path: Any) -> str:
        """File and line of an entry, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.where}:{self.lines.get(path, 1)}"


def read(path: str | Path) -> Document:
    """Read and check a file; raises ModelError with all findings, each with its line."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror or 'cannot be read'}") from None
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
    try:
        checked.data = document_model().model_validate(data)
    except ValidationError as error:
        raise ModelError(_validation_findings(error, checked)) from None
    return checked


def _validation_findings(error: ValidationError, document: Document) -> list[str]:
    found: dict[tuple[Any, ...], str] = {}
    for item in error.errors():
        path = tuple(item["loc"])
        while path and path not in document.lines and item["type"] != "missing":
            path = path[:-1]  # pydantic appends which member of a union it tried
        words = {"missing": "is missing", "extra_forbidden": "is not known here"}.get(
            item["type"], item["msg"].removeprefix("Value error, ")
        )
        found.setdefault(path, f"{document.line(*path)}: {_shown(path)} {words}")
    return list(found.values())


def _shown(path: tuple[Any, ...]) -> str:
    return ".".join(str(p) for p in path) or "the file"


def build(document: Document, mechanism: Callable[..., Any], equations: Callable[..., Any]) -> Any:
    """The model a document describes, made with the given classes; all findings at once."""
    data = document.data
    if data.equations is not None:
        if data.model:
            raise ModelError(f"{document.line('equations')}: a file has either a model or equations, not both")
        return _build_equations(document, equations)
    findings: list[str] = []
    try:
        model = mechanism(data.name, gravity=tuple(data.gravity or (0.0, 0.0)))
    except ModelError as error:
        raise ModelError([f"{document.line('name')}: {finding}" for finding in error.findings]) from None
    for name, given in data.parameters.items():
        _collect(findings, document, ("parameters", name), partial(_add_parameter, model, name, given))
    failed: set[str] = set()
    for k, item in enumerate(data.model):
        chosen = {verb: arguments for verb, arguments in item if arguments is not None}
        if len(chosen) != 1:
            findings.append(f"{document.line('model', k)}: an entry has exactly one key, such as body or revolute")
            continue
        verb, arguments = next(iter(chosen.items()))
        if not _collect(findings, document, ("model", k, verb), partial(_Builder(model, failed).call, verb, arguments)):
            failed.add(arguments.name)
    if findings:
        raise ModelError(findings)
    return model


class _Consequence(ModelError):
    """A mistake that follows from one already found."""


def _collect(findings: list[str], document: Document, path: tuple[Any, ...], action: Callable[[], Any]) -> bool:
    """Do something, or note why it cannot be done (unless that is the consequence of something noted before)."""
    try:
        action()
    except _Consequence:
        return False
    except ModelError as error:
        findings += [f"{document.line(*path)}: {finding}" for finding in error.findings]
        return False
    return True


def _add_parameter(model: Model, name: str, given: Any) -> None:
    if isinstance(given, ParameterSpec):
        model.parameter(name, given.value, given.bounds)
    else:
        model.parameter(name, given)


class _Builder:
    """Turns the data of a file into arguments of builder methods."""

    def __init__(self, model: MechanismModel, failed: set[str]) -> None:
        self.model, self.failed = model, failed
        self.names: dict[str, Any] = dict(model.parameters)

    def call(self, verb: str, arguments: BaseModel) -> Any:
        given = {name: value for name, value in arguments if value is not None}
        if verb == "constraint":
            return self._constraint(**given)
        made = {name: self._argument(name, value) for name, value in given.items()}
        if verb == "plate":
            return self.model.plate(made.pop("name"), *made.pop("points"), **made)
        return getattr(self.model, verb)(**made)

    def _argument(self, name: str, value: Any) -> Any:
        return getattr(self, f"_{ROLES.get(name, 'number')}")(value)

    def _text(self, value: Any) -> Any:
        return value

    _flag = _texts = _text

    def _number(self, value: Any) -> Any:
        return parse(value, self.names) if isinstance(value, str) else value

    def _vector(self, value: Any) -> Any:
        return tuple(self._number(item) for item in value)

    def _vectors(self, value: Any) -> Any:
        return [self._vector(item) for item in value]

    def _part(self, value: Any) -> Any:
        if isinstance(value, dict):
            carrier = self._carrier(value["on"])
            return carrier.at(self._vector(value.get("point", [0.0, 0.0])), self._number(value.get("angle", 0.0)))
        return self._carrier(value)

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
        raise ModelError(f"there is no part '{name}'; there are {', '.join(self.model.parts) or 'none'} and ground")

    def _quantity(self, value: Any) -> Any:
        if isinstance(value, dict):
            kind, ends = next(iter(value.items()))
            make = {"angle": Angle, "distance": Distance, "displacement": Displacement}[kind]
            markers = [self._part(end) for end in ends]
            return make(*[m if isinstance(m, el.Marker) else m.at((0.0, 0.0)) for m in markers])
        owner, _, quantity = value.partition(".")
        if not quantity:
            return self._carrier(value)
        if owner in self.failed:
            raise _Consequence(f"'{owner}' has a mistake of its own")
        found = self.model.parts.get(owner) or self.model.elements.get(owner)
        if found is None:
            raise ModelError(f"there is no part or joint '{owner}'")
        if quantity not in ("x", "y", "angle", "displacement", "distance") or not hasattr(found, quantity):
            raise ModelError(f"'{owner}' has no quantity '{quantity}'")
        return getattr(found, quantity)

    def _terms(self, value: Any) -> Any:
        return [(self._number(c), self._quantity(q)) for c, q in value]

    def _law(self, value: Any) -> Any:
        if isinstance(value, str):
            t = ca.SX.sym("t")
            expression = parse(value, {**self.names, "t": t})
            return lambda time: ca.substitute([expression], [t], [ca.SX(time)])[0]
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

    def _curve(self, value: Any) -> Any:
        name, data = next(iter(value.items()))
        if name == "curve_through":
            return curve_through(**data)
        s = ca.SX.sym("s")
        point = [parse(str(data[c]), {**self.names, "s": s}) for c in ("x", "y")]
        low, high = (el.plain_number(x, "the span of a curve") for x in data.get("span", (0.0, 2 * np.pi)))
        return curve(lambda u: ca.substitute(point, [s], [ca.SX(u)]), span=(low, high))

    def _constraint(self, name: str, equations: list[str], rows: list[str] | None = None) -> Any:
        coordinates = {n[0]: (part, k) for part in self.model.parts.values() for k, n in enumerate(part.names())}
        symbols = {full: ca.SX.sym(full) for full in coordinates}
        t = ca.SX.sym("t")
        try:
            written = [parse(text, {**self.names, **symbols, "t": t}) for text in equations]
        except ModelError as error:
            raise ModelError(f"constraint '{name}': {error}") from None
        hashes = {s.element_hash() for e in written for s in ca.symvar(e)}
        used = [full for full, symbol in symbols.items() if symbol.element_hash() in hashes]
        fields = [el.Component(*coordinates[full]) for full in used]
        own = [*[symbols[full] for full in used], t]

        def function(*values: Any) -> Any:
            return ca.substitute(written, own, [ca.SX(v) for v in values])

        return self.model.constraint(name, function, *fields, rows=rows)


def _build_equations(document: Document, make: Callable[..., Any]) -> Any:
    data = document.data
    spec = data.equations
    parameters = {n: v.value if isinstance(v, ParameterSpec) else v for n, v in data.parameters.items()}

    def expression(text: Any, q: Any, p: Any, extra: Mapping[str, Any]) -> Any:
        named = {**dict(zip(spec.coordinates, q, strict=True)), **dict(zip(parameters, p, strict=True)), **extra}
        return parse(text, named) if isinstance(text, str) else text

    def rates(v: Any) -> dict[str, Any]:
        return {f"{name}.v": value for name, value in zip(spec.coordinates, v, strict=True)}

    options: dict[str, Any] = {}
    if spec.constraints:
        options["constraints"] = lambda q, t, p: {k: expression(e, q, p, {"t": t}) for k, e in spec.constraints.items()}
    if spec.mass is not None:
        options["mass"] = lambda q, p: [[expression(e, q, p, {}) for e in row] for row in spec.mass]
    if spec.force is not None:
        options["force"] = lambda q, v, t, p: [expression(e, q, p, {"t": t, **rates(v)}) for e in spec.force]
    try:
        return make(data.name, spec.coordinates, parameters=parameters, **options)
    except ModelError as error:
        raise ModelError([f"{document.line('equations')}: {finding}" for finding in error.findings]) from None


# --- writing -----------------------------------------------------------------------------------------------------


def describe(model: Model) -> dict[str, Any]:
    """A model as the data of a file."""
    data: dict[str, Any] = {"kempe": VERSION, "name": model.name}
    if model.parameters:
        data["parameters"] = {
            name: p.value if p.bounds is None else {"value": p.value, "bounds": list(p.bounds)}
            for name, p in model.parameters.items()
        }
    if isinstance(model, EquationsModel):
        return {**data, "equations": _describe_equations(model)}
    assert isinstance(model, MechanismModel)
    said = {arguments["name"] for _, arguments in model.recipe}
    said |= {part.name for element in model.elements.values() for part in element.auxiliary}
    unsaid = [n for n in (*model.parts, *model.elements) if n.split(".")[0] not in said]
    if unsaid:
        raise ModelError(f"'{unsaid[0]}' was added as an object of its own, which a file cannot describe")
    writer = _Writer(model)
    if any(isinstance(g, ca.SX) or g != 0 for g in model.gravity):
        data["gravity"] = writer.value(model.gravity)
    data["model"] = [{verb: writer.call(verb, arguments)} for verb, arguments in model.recipe]
    return data


class _Writer:
    """Turns arguments of builder methods into the data of a file."""

    def __init__(self, model: MechanismModel) -> None:
        self.model = model
        self.symbols = [ca.SX(p) for p in model.parameters.values()]
        self.names = list(model.parameters)

    def call(self, verb: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if verb == "constraint":
            return self._constraint(arguments["name"])
        return {name: self.argument(name, value) for name, value in arguments.items() if value is not None}

    def argument(self, name: str, value: Any) -> Any:
        if ROLES.get(name) == "law" and callable(value) and not isinstance(value, ca.SX):
            value = traced(value, name)
        return self.value(value)

    def value(self, value: Any) -> Any:
        if value is None or isinstance(value, (str, bool)):
            return value
        if isinstance(value, ca.SX):
            return float(value) if value.is_constant() else write(value, self.symbols, self.names)
        if isinstance(value, (int, float, np.number)):
            return value.item() if isinstance(value, np.number) else value
        if isinstance(value, (tuple, list, np.ndarray)):
            return [self.value(item) for item in value]
        return self._object(value)

    def _object(self, value: Any) -> Any:
        if isinstance(value, el.Marker):
            data = {"on": value.name, "point": self.value(value.point)}
            return (
                data
                if not isinstance(value.angle, ca.SX) and value.angle == 0
                else {**data, "angle": self.value(value.angle)}
            )
        if isinstance(value, Measure):
            return self._object(value.fields[0])
        for kind in (Angle, Distance, Displacement):
            if isinstance(value, kind):
                return {kind.__name__.lower(): [self.value(end) for end in value.fields]}
        if isinstance(value, traced):
            return write(value.value, [value.t, *self.symbols], ["t", *self.names])
        if isinstance(value, spline):
            return {"spline": {key: self.value(v) for key, v in value.given.items()}}
        if isinstance(value, Law):
            return {type(value).__name__: {k: self.value(v) for k, v in value.numbers.items() if v is not None}}
        if isinstance(value, curve_through):
            return {"curve_through": {key: self.value(v) for key, v in value.given.items()}}
        if isinstance(value, curve):
            x, y = (write(value.point[k], [value.s, *self.symbols], ["s", *self.names]) for k in (0, 1))
            return {"curve": {"x": x, "y": y, "span": list(value.span)}}
        if hasattr(value, "name"):
            return value.name
        raise ModelError(f"{value!r} cannot be written to a file")

    def _constraint(self, name: str) -> dict[str, Any]:
        element = self.model.elements[name]
        assert isinstance(element, UserConstraint)
        source = el.KernelSource(element)
        phi = element.phi(element.view(source))
        values = [ca.SX(v) for v in element.data()]
        written = ca.substitute([phi], [source.p], [ca.vertcat(ca.SX(0, 1), *values)])[0] if values else phi
        names = [full[0] for part in element.parts() for full in part.names()]
        symbols = [*[source.q[k] for k in range(source.q.numel())], source.t, *self.symbols]
        rows = [write(written[k], symbols, [*names, "t", *self.names]) for k in range(written.numel())]
        return {"name": name, "equations": rows, "rows": list(element.rows)}


def _describe_equations(model: EquationsModel) -> dict[str, Any]:
    element = model.elements["equations"]
    assert isinstance(element, el.SystemEquations)
    names = list(model.parts)
    q, v, t, p, phi, mass, force = element.expressions
    symbols = [*ca.vertsplit(q), *ca.vertsplit(v), t, *(ca.vertsplit(p) if p.numel() else [])]
    labels = [*names, *(f"{n}.v" for n in names), "t", *model.parameters]
    data: dict[str, Any] = {"coordinates": {n: float(part.start[0]) for n, part in model.parts.items()}}
    if phi is not None:
        data["constraints"] = {row: write(phi[k], symbols, labels) for k, row in enumerate(element.rows)}
    if mass is not None:
        data["mass"] = [[write(mass[i, j], symbols, labels) for j in range(len(names))] for i in range(len(names))]
    if force is not None:
        data["force"] = [write(force[k], symbols, labels) for k in range(len(names))]
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


def save(model: Model, path: str | Path, **more: Any) -> Path:
    """Write a model to a file (whole or not at all); ``more`` may hold analyses and outputs."""
    target = Path(path)
    text = text_of({**describe(model), **more})
    handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    return target
