"""A model file as checked data: form first, with the line of every mistake."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from kempe.calling import suggestion
from kempe.elements import shown
from kempe.elements.numbers import unit_hint
from kempe.model.analyses import ANALYSES, OutputsSpec, TimesSpec
from kempe.model.schema import ParameterSpec, document_model, verbs
from kempe.model.yaml_lines import Lines

#: So many mistakes of form are told; who made more has made one of another kind.
MOST_FINDINGS = 200


class Document:
    """A checked file: its data, and where each entry stands."""

    def __init__(self, data: Any, lines: Lines, where: str) -> None:
        self.data, self.lines, self.where = data, lines, where

    def line(self, *path: Any) -> str:
        """File and line of an entry, or of the nearest one around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return f"{self.where}:{self.lines.get(path, 1)}"


def validation_findings(error: ValidationError, data: Any, document: Document) -> list[str]:
    """Each mistake of form once, with its line and the user's name for the thing."""
    found: dict[tuple[Any, ...], str] = {}
    choices: dict[tuple[Any, ...], list[str]] = {}
    for item in error.errors(include_url=False):
        if len(found) >= MOST_FINDINGS:
            found[()] = f"{document.where}: and more of the kind; correct these first"
            break
        path, other = _place(tuple(item["loc"]), data)
        if other:
            choices.setdefault(path, []).append(other)
            continue
        missing = path[-1:] if item["type"] == "missing" else ()
        path = path[:-1] if missing else path
        while path and path not in document.lines:
            path = path[:-1]
        words = _words(item, path, data)
        found.setdefault((*path, *missing), f"{document.line(*path)}: {_shown((*path, *missing), data)} {words}")
    for path in sorted(choices, key=len, reverse=True):  # where nothing that is known fits, all that would is told
        if not any(place[: len(path)] == path for place in found):
            found[path] = f"{document.line(*path)}: {_shown(path, data)} must be {_either(choices[path])}"
    return list(found.values())


def _either(kinds: list[str]) -> str:
    """What may stand in a place, of the members of a union."""
    words = {"float": "a number", "int": "a whole number", "bool": "true or false"}
    words |= dict.fromkeys(("str", "constrained-str"), "an expression")
    told = [words.get(kind, "a list" if kind.startswith("list[") else "a mapping") for kind in kinds]
    return " or ".join(dict.fromkeys(told))


def _place(path: tuple[Any, ...], data: Any) -> tuple[tuple[Any, ...], str]:
    """What a complaint is about, and the kind it asks for where another kind stands there (all kinds are tried)."""
    place: list[Any] = []
    for k, key in enumerate(path):
        known = isinstance(data, dict) and key in data
        if known or (isinstance(data, list) and isinstance(key, int) and key < len(data)):
            place.append(key)
            data = data[key]
        elif isinstance(key, str) and (key in _UNIONS or key.endswith("Spec") or key.startswith("list[")):
            kinds = list if key.startswith("list[") else _UNIONS.get(key, dict)
            if not isinstance(data, kinds):
                return tuple(place), key
        elif k == len(path) - 1:
            place.append(key)  # what is missing
    return tuple(place), ""


#: What pydantic calls a member of a union -> what it is in a file.
_UNIONS: dict[str, Any] = {"float": (int, float, str), "int": (int, float, str), "str": (str, int, float)}
_UNIONS |= {"bool": (bool, str), "constrained-str": str}


#: Kind of mistake -> what must stand there.
_KINDS = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "true or false"),
    "string_type": "text",
    "list_type": "a list: in brackets, or lines that begin with '- '",
    "tuple_type": "a list of two numbers",
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a mapping: 'key: value', one to a line"),
}


def _words(item: Any, path: tuple[Any, ...], data: Any) -> str:
    """What is wrong, in words that need no knowledge of the checker's."""
    kind, limits = item["type"], item.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return f"is not known here{_other_key(path, data.get('dim', 2))}"
    if item["input"] is None:
        return "is empty"
    given = f", not {shown(item['input'])}" if not isinstance(item["input"], (dict, list)) else ""
    if kind in _KINDS:
        return f"must be {_KINDS[kind]}{given}{unit_hint(item['input']) if _KINDS[kind] == 'a number' else ''}"
    if kind in ("greater_than_equal", "less_than_equal"):
        return f"must be at {'least' if 'ge' in limits else 'most'} {limits.get('ge', limits.get('le'))}{given}"
    if kind == "literal_error":
        return f"must be {limits['expected']}{given}"
    words = str(item["msg"]).removeprefix("Value error, ")
    if kind == "value_error":
        return words + (given if words.startswith("must be") else "")
    return words.replace("Input should", "should")


def _other_key(path: tuple[Any, ...], dim: int) -> str:
    """What to write instead of a key that is not known."""
    key, known = str(path[-1]), _known_keys(path, dim)
    if path[0] == "model" and len(path) == 3 and key in verbs(5 - dim):
        return ": it is of mechanisms in space, which say dim: 3" if dim == 2 else ": it is of planar mechanisms"
    if key == "at" and {"on_i", "on_j"} <= set(known):
        return ": it has two ends; give on_i and on_j in the parts' own axes"
    return suggestion(key, known, mark="") or (f"; known are {', '.join(known)}" if len(known) < 15 else "")


def _known_keys(path: tuple[Any, ...], dim: int) -> list[str]:
    """What may stand where an unknown key stood."""
    if len(path) == 4 and path[0] == "model" and path[2] in verbs(dim):
        return list(verbs(dim)[path[2]].model_fields)
    if path[0] == "analyses" and path[3:4] == ("times",) and len(path) == 5:
        return list(TimesSpec.model_fields)
    if path[0] == "analyses" and len(path) > 2:
        return list(ANALYSES) if len(path) == 3 else list(ANALYSES[path[2]].model_fields)
    if path[0] == "parameters" and len(path) == 3:
        return list(ParameterSpec.model_fields)
    if path[0] == "outputs" and len(path) == 2:
        return list(OutputsSpec.model_fields)
    return list(verbs(dim)) if path[0] == "model" else list(document_model().model_fields)


def _shown(path: tuple[Any, ...], data: Any) -> str:
    """A place in a file, with the user's name for the thing."""
    if len(path) > 3 and path[0] == "model":
        arguments = data["model"][path[1]][path[2]]
        name = arguments.get("name") if isinstance(arguments, dict) else None
        owner = f"{path[2]} '{name}'" if name is not None else str(path[2])
        return f"{owner}: {' '.join(map(str, path[3:]))}"
    if len(path) > 1 and path[0] == "parameters":
        return f"parameter '{path[1]}'" + (f": {path[2]}" if len(path) > 2 else "")
    if path[:1] == ("analyses",) and len(path) == 2:
        return "an entry of analyses"
    if path[:1] == ("analyses",) and len(path) > 2:
        return f"{path[2]}: {' '.join(map(str, path[3:]))}" if len(path) > 3 else str(path[2])
    return " ".join(str(p) for p in (path[2:] if path[:1] == ("model",) and len(path) > 2 else path)) or "the file"
