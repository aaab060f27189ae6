"""The schema of model files, version 1, as pydantic models made from the signatures of the builder methods.

What an argument may be is decided by its name (``ROLES``), so that a new joint needs no entry here as long as it calls
its arguments as the others do; ``OTHER_ROLES`` has the exceptions.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, create_model

from kempe.calling import suggestion
from kempe.elements import CONTACT_LAWS, LAWS, motions
from kempe.model.analyses import AnalysisSpec, OutputsSpec, Strict
from kempe.model.mechanism import MechanismModel

VERSION = 1

#: Argument name -> what it may be; any other argument is a number.
ROLES: dict[str, str] = {
    **dict.fromkeys(("name", "fixed", "ends", "side", "direction"), "text"),
    **dict.fromkeys(("internal", "crossed", "closed", "periodic", "rate", "stop", "lift_off", "inside"), "flag"),
    **dict.fromkeys(("at", "on", "on_i", "on_j", "axis", "teeth", "radii", "centre", "span"), "vector"),
    **dict.fromkeys(("i", "j", "carrier", "frame", "point", "first", "second", "part", "reaction"), "part"),
    **dict.fromkeys(("motion", "x", "y", "force", "torque", "surface"), "law"),
    **dict.fromkeys(("curve", "profile"), "curve"),
    **dict.fromkeys(("rows", "equations"), "texts"),
    **dict.fromkeys(("points", "parts"), "parts"),
    "places": "vectors",
    "quantity": "quantity",
    "terms": "terms",
    "law": "characteristic",
    "forces": "forces",
    "friction": "friction",
    "contact": "contact",
    "normal": "load",
    "stiffness": "numbers",
    "element": "text",
    "arguments": "arguments",
}
#: Verbs of what bounces, by a law of impact.
BOUNCING = ("point_line_contact", "circle_line_contact", "circle_contact", "stop", "revolute", "translational")
#: Verb -> arguments that are something else there.
OTHER_ROLES: dict[str, dict[str, str]] = {
    "force": {"force": "laws", "frame": "text"},
    "bushing": {"stiffness": "pair", "damping": "pair"},
    **{verb: {"stiffness": "number"} for verb in ("spring", "torsion_spring", "bump_stop", "curve_contact")},
    "impulse": {"force": "vector", "torque": "number"},
    **{verb: {"law": "text"} for verb in BOUNCING},
}
#: Verb -> what the law of a spring is a function of, besides its rate and the time.
MEASURED = {"spring": "length", "torsion_spring": "angle"}


def role(verb: str, argument: str) -> str:
    """What an argument of a builder method may be."""
    return OTHER_ROLES.get(verb, {}).get(argument) or ROLES.get(argument, "number")


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError("must be a number or an expression")
    return value


def _vector(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("must be a list of two numbers")
    return [_number(item) for item in value]


def _pair(value: Any) -> Any:
    return _vector(value) if isinstance(value, list) else _number(value)


def _numbers(value: Any) -> Any:
    if isinstance(value, dict) and value and all(isinstance(key, str) for key in value):
        return {key: _number(item) for key, item in value.items()}
    if isinstance(value, dict):
        raise ValueError("must be a number, or numbers by row or of a member, like {E: 2.1e11, A: 1.0e-4}")
    return _number(value)


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


def _flag(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _part(value: Any) -> Any:
    if isinstance(value, str):
        return value
    _keys(value, {"on"}, {"point", "angle"}, "must be the name of a part, or {on: part, point: [x, y], angle: a}")
    _text(value["on"])
    if "point" in value:
        _vector(value["point"])
    if "angle" in value:
        _number(value["angle"])
    return value


def _quantity(value: Any) -> Any:
    if isinstance(value, str):
        return value
    words = "must be like crank.angle, or {angle: [i, j]}, {distance: [i, j]}, {displacement: [i, j]}"
    if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in ("angle", "distance", "displacement"):
        raise ValueError(words)
    ends = next(iter(value.values()))
    if not isinstance(ends, list) or len(ends) != 2:
        raise ValueError(words)
    return {key: [_part(end) for end in ends] for key in value}


@cache
def law_arguments() -> dict[str, list[str]]:
    """Law of motion -> the names of its arguments."""
    return {
        name: list(inspect.signature(law).parameters)
        for name, law in vars(motions).items()
        if inspect.isclass(law) and issubclass(law, motions.Law) and name[0].islower() and name != "traced"
    }


def _law(value: Any) -> Any:
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return value
    known = law_arguments()
    if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in known:
        raise ValueError(f"must be a number, an expression of t, or one of {', '.join(known)}")
    name, arguments = next(iter(value.items()))
    if not isinstance(arguments, dict) or not set(arguments) <= set(known[name]):
        raise ValueError(f"{name} takes {', '.join(known[name])}")
    return value


def _laws(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("must be a list of two numbers, expressions of t, or laws")
    return [_law(item) for item in value]


def _characteristic(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and list(value) == ["table"]:
        return {"table": _text(value["table"])}
    if not isinstance(value, dict) or list(value) != ["spline"]:
        words = "must be an expression like 100 * S.length**3 + S.rate, S being the spring, {table: name} or a spline"
        raise ValueError(words)
    return _law(value)


@cache
def numbered_arguments(kind: str) -> dict[str, list[str]]:
    """Law of friction, or of contact -> the names of its arguments."""
    laws = LAWS if kind == "friction" else CONTACT_LAWS
    return {word: list(inspect.signature(law).parameters) for word, law in laws.items()}


def _numbered(value: Any, kind: str, plain: str = "") -> Any:
    known = numbered_arguments(kind)
    if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in known:
        near = suggestion(str(next(iter(value), "")), known) if isinstance(value, dict) else ""
        raise ValueError(f"must be {plain}a law with its numbers: one of {', '.join(known)}{near}")
    name, arguments = next(iter(value.items()))
    if not isinstance(arguments, dict) or not set(arguments) <= set(known[name]):
        odd = [key for key in arguments if key not in known[name]] if isinstance(arguments, dict) else []
        near = suggestion(str(odd[0]), known[name]) if odd else ""
        raise ValueError(f"{name} takes {', '.join(known[name])}{near}")
    return {name: {key: item if isinstance(item, bool) else _pair(item) for key, item in arguments.items()}}


def _friction(value: Any) -> Any:
    if isinstance(value, (int, float, str)) and not isinstance(value, bool):
        return value
    return _numbered(value, "friction", "a coefficient, or ")


def _contact(value: Any) -> Any:
    return _numbered(value, "contact")


def _load(value: Any) -> Any:
    if isinstance(value, dict) and list(value) == ["load"]:
        return {"load": _text(value["load"])}
    try:
        return _law(value)
    except ValueError as error:
        raise ValueError(f"{error}, or {{load: joint}}") from None


def _forces(value: Any) -> Any:
    if not isinstance(value, dict) or not value or not all(isinstance(name, str) for name in value):
        raise ValueError("must be expressions by coordinate, like {crank.angle: -0.1 * crank.omega}")
    return {name: _number(item) for name, item in value.items()}


def _curve(value: Any) -> Any:
    words = "must be {curve: {x: ..., y: ..., span: [a, b]}} or {curve_through: {points: [...], closed: true}}"
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError(words)
    name, data = next(iter(value.items()))
    if name == "curve":
        _keys(data, {"x", "y"}, {"span"}, words)
        _number(data["x"]), _number(data["y"])
        if "span" in data:
            _vector(data["span"])
    elif name == "curve_through":
        _keys(data, {"points"}, {"closed"}, words)
        if not isinstance(data["points"], list):
            raise ValueError(words)
        data = {**data, "points": [_vector(p) for p in data["points"]]}
    else:
        raise ValueError(words)
    return {name: data}


def _terms(value: Any) -> Any:
    if not isinstance(value, list) or not all(isinstance(t, list) and len(t) == 2 for t in value):
        raise ValueError("must be a list of [coefficient, quantity] pairs")
    return [[_number(c), _quantity(q)] for c, q in value]


def _units(value: Any) -> Any:
    entries = [value] if isinstance(value, str) else [*value, *value.values()] if isinstance(value, dict) else [None]
    if not all(isinstance(entry, str) for entry in entries):
        raise ValueError("must be like m, kg, s, or a mapping like {length: mm, force: N}")
    return value


def _arguments(value: Any) -> Any:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise ValueError("must be arguments by name, like {part: {part: crank}, size: 0.1}")
    return {name: _own(item) for name, item in value.items()}


def _own(value: Any) -> Any:
    """An argument of an element of one's own: a plain value, or what it is."""
    if isinstance(value, list):
        return [_own(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind, said = next(iter(value.items()), ("", None))
    if len(value) != 1 or kind not in OWN_KINDS:
        raise ValueError(f"must be plain arguments, or such that say what they are by one of {', '.join(OWN_KINDS)}")
    return {kind: OWN_KINDS[kind](said)}


#: What an argument of an element of one's own may say that it is.
OWN_KINDS: dict[str, Any] = {
    "part": _part,
    "expression": _text,
    "quantity": _quantity,
    "measure": _quantity,
    "law": _law,
    "friction": _friction,
    "contact": _contact,
    "curve": _curve,
    "element": _text,
    "load": _text,
    "mapping": _arguments,
}


def _list_of(check: Any, words: str) -> Any:
    def checked(value: Any) -> Any:
        if not isinstance(value, list):
            raise ValueError(words)
        return [check(item) for item in value]

    return checked


def _keys(value: Any, needed: set[str], allowed: set[str], words: str) -> None:
    if not isinstance(value, dict) or not needed <= set(value) <= needed | allowed:
        raise ValueError(words)


_NUMBER_JSON: dict[str, Any] = {"type": ["number", "string"], "description": "a number or an expression"}
_VECTOR_JSON: dict[str, Any] = {"type": "array", "items": _NUMBER_JSON, "minItems": 2, "maxItems": 2}
_PART_JSON: dict[str, Any] = {
    "anyOf": [
        {"type": "string"},
        {"type": "object", "properties": {"on": {"type": "string"}, "point": _VECTOR_JSON, "angle": _NUMBER_JSON}},
    ]
}
_TYPES: dict[str, Any] = {
    "number": Annotated[Any, BeforeValidator(_number), WithJsonSchema(_NUMBER_JSON)],
    "numbers": Annotated[Any, BeforeValidator(_numbers), WithJsonSchema({"type": ["number", "string", "object"]})],
    "vector": Annotated[Any, BeforeValidator(_vector), WithJsonSchema(_VECTOR_JSON)],
    "vectors": Annotated[
        Any,
        BeforeValidator(_list_of(_vector, "must be a list of pairs")),
        WithJsonSchema({"type": "array", "items": _VECTOR_JSON}),
    ],
    "text": Annotated[Any, BeforeValidator(_text), WithJsonSchema({"type": "string"})],
    "texts": Annotated[
        Any,
        BeforeValidator(_list_of(_text, "must be a list of texts")),
        WithJsonSchema({"type": "array", "items": {"type": "string"}}),
    ],
    "flag": Annotated[Any, BeforeValidator(_flag), WithJsonSchema({"type": "boolean"})],
    "part": Annotated[Any, BeforeValidator(_part), WithJsonSchema(_PART_JSON)],
    "parts": Annotated[
        Any,
        BeforeValidator(_list_of(_part, "must be a list of parts")),
        WithJsonSchema({"type": "array", "items": _PART_JSON}),
    ],
    "quantity": Annotated[Any, BeforeValidator(_quantity), WithJsonSchema({"type": ["string", "object"]})],
    "law": Annotated[Any, BeforeValidator(_law), WithJsonSchema({"type": ["number", "string", "object"]})],
    "laws": Annotated[Any, BeforeValidator(_laws), WithJsonSchema({"type": "array", "minItems": 2, "maxItems": 2})],
    "pair": Annotated[Any, BeforeValidator(_pair), WithJsonSchema({"anyOf": [_NUMBER_JSON, _VECTOR_JSON]})],
    "characteristic": Annotated[Any, BeforeValidator(_characteristic), WithJsonSchema({"type": ["string", "object"]})],
    "friction": Annotated[Any, BeforeValidator(_friction), WithJsonSchema({"type": ["number", "string", "object"]})],
    "contact": Annotated[Any, BeforeValidator(_contact), WithJsonSchema({"type": "object"})],
    "load": Annotated[Any, BeforeValidator(_load), WithJsonSchema({"type": ["number", "string", "object"]})],
    "forces": Annotated[
        Any,
        BeforeValidator(_forces),
        WithJsonSchema({"type": "object", "additionalProperties": _NUMBER_JSON, "minProperties": 1}),
    ],
    "units": Annotated[Any, BeforeValidator(_units), WithJsonSchema({"type": ["string", "object"]})],
    "arguments": Annotated[Any, BeforeValidator(_arguments), WithJsonSchema({"type": "object"})],
    "curve": Annotated[Any, BeforeValidator(_curve), WithJsonSchema({"type": "object"})],
    "terms": Annotated[Any, BeforeValidator(_terms), WithJsonSchema({"type": "array"})],
}


#: Builder methods that a file can call, with the arguments they take there where these differ from the method's.
_LINK = {"length": False, "mass": False, "centre": False, "inertia": False, "stiffness": False}
SPECIAL: dict[str, dict[str, bool]] = {
    "bar": {"name": True, "first": True, "second": True, **_LINK},
    "plate": {"name": True, "points": True, "places": False, **_LINK},
    "constraint": {"name": True, "equations": True, "rows": False, "parts": False},
    "user_force": {"name": True, "forces": True, "parts": False},
    "add": {"element": True, "name": True, "arguments": False},
}


@cache
def verbs() -> dict[str, type[BaseModel]]:
    """Verb -> the model of its arguments."""
    found: dict[str, type[BaseModel]] = {}
    for verb, method in vars(MechanismModel).items():
        if not getattr(method, "recorded", False) and verb not in SPECIAL:
            continue
        if verb in SPECIAL:
            needed = SPECIAL[verb]
        else:
            signature = inspect.signature(method).parameters
            needed = {name: p.default is p.empty for name, p in signature.items() if name != "self"}
        fields: dict[str, Any] = {
            name: (_TYPES[role(verb, name)], ... if required else None) for name, required in needed.items()
        }
        summary = (method.__doc__ or verb).strip().splitlines()[0]
        found[verb] = create_model(verb, __base__=Strict, __doc__=summary, **fields)
    return found


def _no_flag(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number or an expression")
    return value


_Value = Annotated[float | str, BeforeValidator(_no_flag)]


class ParameterSpec(Strict):
    """A design parameter: its value (or an expression of others) and, optionally, its bounds."""

    value: _Value
    bounds: tuple[float, float] | None = None


class TableSpec(Strict):
    """A table: what ``kp.table`` takes, or two columns of a CSV ``file``. Expressions call it by its name."""

    x: list[float] | str
    y: list[float] | str
    file: str | None = None
    z: list[list[float]] | None = None
    kind: Literal["cubic", "linear"] = "cubic"
    periodic: bool | list[bool] = False
    ends: Literal["not-a-knot", "natural", "clamped"] = "not-a-knot"
    outside: Literal["error", "hold", "extrapolate"] = "error"


class EquationsSpec(Strict):
    """A whole system in coordinates of its own."""

    coordinates: dict[str, float]
    constraints: dict[str, str | float] = Field(default_factory=dict)
    mass: list[list[str | float]] | None = None
    force: list[str | float] | None = None


@cache
def document_model() -> type[BaseModel]:
    """The model of a whole file."""
    optional: dict[str, Any] = {verb: (arguments | None, None) for verb, arguments in verbs().items()}
    item = create_model("Item", __base__=Strict, __doc__="One part, joint or driver: exactly one key.", **optional)
    fields: dict[str, Any] = {
        "kempe": (Literal[1], ...),
        "name": (_TYPES["text"], ...),
        "gravity": (_TYPES["vector"], None),
        "units": (_TYPES["units"], None),
        "parameters": (dict[str, _Value | ParameterSpec], Field(default_factory=dict)),
        "tables": (dict[str, TableSpec], Field(default_factory=dict)),
        "model": (list[item], Field(default_factory=list)),  # type: ignore[valid-type]
        "equations": (EquationsSpec | None, None),
        "measures": (dict[str, str | float], Field(default_factory=dict)),
        "analyses": (list[AnalysisSpec], Field(default_factory=list)),  # type: ignore[valid-type]
        "outputs": (OutputsSpec, Field(default_factory=OutputsSpec)),
    }
    return create_model("KempeModel", __base__=Strict, __doc__="A Kempe model file.", **fields)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of model files, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **document_model().model_json_schema()}
