"""A model file as checked data: form first, with the line of every mistake."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import ValidationError

from kempe.model.analyses import ANALYSES, OutputsSpec
from kempe.model.schema import document_model, verbs
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
    for item in error.errors(include_url=False, include_context=False):
        if len(found) >= MOST_FINDINGS:
            found[()] = f"{document.where}: and more of the kind; correct these first"
            break
        path = tuple(item["loc"])
        while path and path not in document.lines and item["type"] != "missing":
            path = path[:-1]  # pydantic appends which member of a union it tried
        words = item["msg"].removeprefix("Value error, ").replace("Input should", "should")
        if item["type"] == "missing":
            words = "is missing"
        elif item["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(path[-1]), _known_keys(path), n=1)
            words = "is not known here" + (f"; did you mean {near[0]}?" if near else "")
        found.setdefault(path, f"{document.line(*path)}: {_shown(path, data)} {words}")
    return list(found.values())


def _known_keys(path: tuple[Any, ...]) -> list[str]:
    """What may stand where an unknown key stood."""
    if len(path) == 4 and path[0] == "model" and path[2] in verbs():
        return list(verbs()[path[2]].model_fields)
    if path[0] == "analyses" and len(path) > 2:
        return list(ANALYSES) if len(path) == 3 else list(ANALYSES[path[2]].model_fields)
    if path[0] == "outputs" and len(path) == 2:
        return list(OutputsSpec.model_fields)
    return list(verbs()) if path[0] == "model" else list(document_model().model_fields)


def _shown(path: tuple[Any, ...], data: Any) -> str:
    """A place in a file, with the user's name for the thing."""
    if len(path) > 3 and path[0] == "model":
        arguments = data["model"][path[1]][path[2]]
        name = arguments.get("name") if isinstance(arguments, dict) else None
        return f"{path[2]} '{name}': {'.'.join(map(str, path[3:]))}"
    return ".".join(str(p) for p in (path[2:] if path[:1] == ("model",) and len(path) > 2 else path)) or "the file"
