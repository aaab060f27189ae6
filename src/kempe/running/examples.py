"""The examples that come with Kempe: what there is, and a line about each."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from pathlib import Path

from kempe.errors import KempeError


@dataclass
class Example:
    """An example: its title, a line about it, and its files (a model file, a Python program, or both)."""

    name: str
    title: str = ""
    about: str = ""
    files: list[Path] = field(default_factory=list)


def examples() -> dict[str, Example]:
    """All examples by name."""
    found: dict[str, Example] = {}
    for path in sorted(_folder().iterdir()):
        name = path.name.removesuffix(".kempe.yaml").removesuffix(".py")
        if name == path.name or name.startswith("_"):
            continue
        example = found.setdefault(name, Example(name))
        example.files.append(path)
        if path.suffix == ".py":
            example.title, example.about = _described(path)
    return found


def _described(path: Path) -> tuple[str, str]:
    """The title of a program and the first sentence about it; nothing of it is run."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    title, _, rest = text.partition("\n")
    body = " ".join(rest.strip("=\n ").split())
    end = next((k for k in range(len(body)) if body[k] in ".:" and body[k + 1 : k + 2] in ("", " ")), len(body))
    return title, body[:end] + "."


def _folder() -> Path:
    """Where the examples are: in the source tree, or installed beside the program."""
    for folder in (Path(__file__).parents[3] / "examples", Path(sys.prefix) / "share" / "kempe" / "examples"):
        if any(folder.glob("*.kempe.yaml")):
            return folder
    raise KempeError("the examples are not installed with this copy of Kempe")
