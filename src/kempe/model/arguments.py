"""What an argument of a builder method may be in a file, of planar and of spatial mechanisms: checks of form."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from kempe.calling import suggestion
from kempe.elements import CONTACT_LAWS, LAWS, motions
from kempe.elements.rotations import FORMS

#: How many numbers a vector has, in words.
COUNTS = {2: "two", 3: "three"}


# --- what does not depend on the dimension ----------------------------------------------------------------------------


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError("must be a number or an expression")
    return value


def _numbers(value: Any) -> Any:
    """A number, a list of them, or a matrix."""
    return [_numbers(item) for item in value] if isinstance(value, list) else _number(value)


def _stiffness(value: Any) -> Any:
    if isinstance(value, dict) and value and all(isinstance(key, str) for key in value):
        return {key: _number(item) for key, item in value.items()}
    if isinstance(value, dict):
        raise ValueError("must be a number, or numbers by row or of a member, like {E: 2.1e11, A: 1.0e-4}")
    return _number(value)


def _pair(value: Any) -> Any:
    return _two(value) if isinstance(value, list) else _number(value)


def _two(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise ValueError("must be a list of two numbers")
    return [_number(item) for item in value]


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


def _flag(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _rotation(value: Any) -> Any:
    if isinstance(value, list):
        return _numbers(value)
    for keys in FORMS:
        if isinstance(value, dict) and set(value) == set(keys):
            return {key: item if key in ("axis", "euler") else _numbers(item) for key, item in value.items()}
    forms = ", ".join("{" + ", ".join(f"{key}: ..." for key in keys) + "}" for keys in FORMS)
    raise ValueError(f"must be a matrix of three rows, or one of {forms}")


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


def units(value: Any) -> Any:
    """Units of a file."""
    entries = [value] if isinstance(value, str) else [*value, *value.values()] if isinstance(value, dict) else [None]
    if not all(isinstance(entry, str) for entry in entries):
        raise ValueError("must be like m, kg, s, or a mapping like {length: mm, force: N}")
    return value


def _list_of(check: Callable[[Any], Any], words: str) -> Callable[[Any], Any]:
    def checked(value: Any) -> Any:
        if not isinstance(value, list):
            raise ValueError(words)
        return [check(item) for item in value]

    return checked


def _keys(value: Any, needed: set[str], allowed: set[str], words: str) -> None:
    if not isinstance(value, dict) or not needed <= set(value) <= needed | allowed:
        raise ValueError(words)


# --- what does --------------------------------------------------------------------------------------------------------


class Arguments:
    """Checks of arguments whose form depends on the dimension of the mechanism."""

    def __init__(self, dim: int) -> None:
        self.dim = dim
        #: How a marker is turned.
        self.turn = "angle" if dim == 2 else "rotation"
        #: What an argument of an element of one's own may say that it is.
        self.own_kinds: dict[str, Callable[[Any], Any]] = {
            "part": self.part,
            "expression": _text,
            "quantity": self.quantity,
            "measure": self.quantity,
            "law": _law,
            "friction": _friction,
            "contact": _contact,
            "curve": self.curve,
            "element": _text,
            "load": _text,
            "mapping": self.arguments,
        }

    def vector(self, value: Any) -> Any:
        """As many numbers as there are dimensions."""
        if not isinstance(value, list) or len(value) != self.dim:
            raise ValueError(f"must be a list of {COUNTS[self.dim]} numbers")
        return [_number(item) for item in value]

    def laws(self, value: Any) -> Any:
        """As many laws of time as there are dimensions."""
        if not isinstance(value, list) or len(value) != self.dim:
            raise ValueError(f"must be a list of {COUNTS[self.dim]} numbers, expressions of t, or laws")
        return [_law(item) for item in value]

    def part(self, value: Any) -> Any:
        """A part by its name, or a marker on it."""
        if isinstance(value, str):
            return value
        point = "[x, y], angle: a" if self.dim == 2 else "[x, y, z], rotation: {...}"
        _keys(value, {"on"}, {"point", self.turn}, f"must be the name of a part, or {{on: part, point: {point}}}")
        _text(value["on"])
        if "point" in value:
            self.vector(value["point"])
        if self.turn in value:
            (_number if self.dim == 2 else _rotation)(value[self.turn])
        return value

    def quantity(self, value: Any) -> Any:
        """A scalar by its name, or between two markers."""
        if isinstance(value, str):
            return value
        words = "must be like crank.angle, or {angle: [i, j]}, {distance: [i, j]}, {displacement: [i, j]}"
        kinds = ("angle", "distance", "displacement")
        if not isinstance(value, dict) or len(value) != 1 or next(iter(value)) not in kinds:
            raise ValueError(words)
        ends = next(iter(value.values()))
        if not isinstance(ends, list) or len(ends) != 2:
            raise ValueError(words)
        return {key: [self.part(end) for end in ends] for key in value}

    def curve(self, value: Any) -> Any:
        """A curve by expressions of s, or through points."""
        words = "must be {curve: {x: ..., y: ..., span: [a, b]}} or {curve_through: {points: [...], closed: true}}"
        if not isinstance(value, dict) or len(value) != 1:
            raise ValueError(words)
        name, data = next(iter(value.items()))
        if name == "curve":
            _keys(data, {"x", "y"}, {"span"}, words)
            _number(data["x"]), _number(data["y"])
            if "span" in data:
                _two(data["span"])
        elif name == "curve_through":
            _keys(data, {"points"}, {"closed"}, words)
            if not isinstance(data["points"], list):
                raise ValueError(words)
            data = {**data, "points": [self.vector(p) for p in data["points"]]}
        else:
            raise ValueError(words)
        return {name: data}

    def terms(self, value: Any) -> Any:
        """A sum of quantities with coefficients."""
        if not isinstance(value, list) or not all(isinstance(t, list) and len(t) == 2 for t in value):
            raise ValueError("must be a list of [coefficient, quantity] pairs")
        return [[_number(c), self.quantity(q)] for c, q in value]

    def arguments(self, value: Any) -> Any:
        """Arguments of an element of one's own, by name."""
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            raise ValueError("must be arguments by name, like {part: {part: crank}, size: 0.1}")
        return {name: self._own(item) for name, item in value.items()}

    def _own(self, value: Any) -> Any:
        """An argument of an element of one's own: a plain value, or what it is."""
        if isinstance(value, list):
            return [self._own(item) for item in value]
        if not isinstance(value, dict):
            return value
        kind, said = next(iter(value.items()), ("", None))
        if len(value) != 1 or kind not in self.own_kinds:
            kinds = ", ".join(self.own_kinds)
            raise ValueError(f"must be plain arguments, or such that say what they are by one of {kinds}")
        return {kind: self.own_kinds[kind](said)}

    def types(self) -> dict[str, Any]:
        """What an argument may be -> its type for a model of pydantic's."""
        number: dict[str, Any] = {"type": ["number", "string"], "description": "a number or an expression"}
        vector: dict[str, Any] = {"type": "array", "items": number, "minItems": self.dim, "maxItems": self.dim}
        pair: dict[str, Any] = {"type": "array", "items": number, "minItems": 2, "maxItems": 2}
        turn = number if self.dim == 2 else {"type": ["object", "array"]}
        marker = {"type": "object", "properties": {"on": {"type": "string"}, "point": vector, self.turn: turn}}
        part: dict[str, Any] = {"anyOf": [{"type": "string"}, marker]}
        text, law = {"type": "string"}, {"type": ["number", "string", "object"]}
        listed: dict[str, Any] = {"type": "array"}
        vectors = _list_of(self.vector, "must be a list of pairs" if self.dim == 2 else "must be a list of vectors")
        checks: dict[str, tuple[Callable[[Any], Any], dict[str, Any]]] = {
            "number": (_number, number),
            "stiffness": (_stiffness, {"type": ["number", "string", "object"]}),
            "numbers": (_numbers, {"anyOf": [number, listed]}),
            "vector": (self.vector, vector),
            "vectors": (vectors, {"type": "array", "items": vector}),
            "pair": (_pair, {"anyOf": [number, pair]}),
            "two": (_two, pair),
            "text": (_text, text),
            "texts": (_list_of(_text, "must be a list of texts"), {"type": "array", "items": text}),
            "flag": (_flag, {"type": "boolean"}),
            "part": (self.part, part),
            "parts": (_list_of(self.part, "must be a list of parts"), {"type": "array", "items": part}),
            "side": (self.part, part),
            "joint": (_text, text),
            "quantity": (self.quantity, {"type": ["string", "object"]}),
            "rotation": (_rotation, {"type": ["object", "array"]}),
            "law": (_law, law),
            "laws": (self.laws, {"type": "array", "minItems": self.dim, "maxItems": self.dim}),
            "characteristic": (_characteristic, {"type": ["string", "object"]}),
            "friction": (_friction, law),
            "contact": (_contact, {"type": "object"}),
            "load": (_load, law),
            "forces": (_forces, {"type": "object", "additionalProperties": number, "minProperties": 1}),
            "units": (units, {"type": ["string", "object"]}),
            "arguments": (self.arguments, {"type": "object"}),
            "curve": (self.curve, {"type": "object"}),
            "terms": (self.terms, listed),
        }
        return {
            kind: Annotated[Any, BeforeValidator(check), WithJsonSchema(schema)]
            for kind, (check, schema) in checks.items()
        }
