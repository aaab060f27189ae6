"""XML as nodes that know their line. Entities and document types are refused: no description of a robot needs them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

import numpy as np

from kempe.calling import suggestion
from kempe.disk import read_whole
from kempe.errors import FileError, ModelError

#: The largest description that is read, in bytes.
LARGEST = 50_000_000
#: The largest number, of which products must still be numbers.
LARGEST_NUMBER = 1e40
#: The most elements within elements.
DEEPEST = 500


@dataclass
class Node:
    """An element of an XML file."""

    tag: str
    given: dict[str, str]
    where: str
    line: int
    children: list[Node] = field(default_factory=list)

    def child(self, tag: str) -> Node | None:
        """The first child of that name."""
        return next(self.all(tag), None)

    def all(self, *tags: str) -> Iterator[Node]:
        """The children of those names, in order."""
        return (child for child in self.children if child.tag in tags)

    def everything(self) -> Iterator[Node]:
        """The element and all within it."""
        yield self
        for child in self.children:
            yield from child.everything()

    def wrong(self, words: str) -> NoReturn:
        """Say what is wrong here."""
        name = f" '{self.given['name']}'" if "name" in self.given else ""
        raise ModelError(f"{self.where}:{self.line}: {self.tag}{name}: {words}")

    def text(self, key: str, default: str | None = None) -> str:
        """An attribute that must be there unless it has a default."""
        if key in self.given:
            return self.given[key].strip()
        if default is None:
            self.wrong(f"{key} is missing")
        return default

    def numbers(self, key: str, count: int | None = None, default: object = None) -> np.ndarray:
        """An attribute that is a list of numbers, so many of them."""
        if key not in self.given and default is not None:
            return np.array(default, dtype=float)
        words = self.text(key).split()
        if not words:
            self.wrong(f"{key} is empty")
        try:
            found = np.array([float(word) for word in words])
        except ValueError:
            self.wrong(f"{key} is not made of numbers: '{self.given[key]}'")
        if not np.isfinite(found).all():
            self.wrong(f"{key} is not finite: '{self.given[key]}'")
        if len(found) and np.abs(found).max() > LARGEST_NUMBER:
            self.wrong(f"{key} is far too large: '{self.given[key]}'")
        if count is not None and len(found) != count:
            self.wrong(f"{key} has {count} number{'s' * (count > 1)}, not {len(found)}: '{self.given[key]}'")
        return found

    def number(self, key: str, default: float | None = None) -> float:
        """An attribute that is one number."""
        return float(self.numbers(key, 1, None if default is None else [default])[0])

    def positive(self, key: str, default: float | None = None) -> float:
        """An attribute that is a number and not below zero."""
        found = self.number(key, default)
        if found < 0 or math.isnan(found):
            self.wrong(f"{key} must not be below zero: '{self.given[key]}'")
        return found

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """An attribute that is one of some words."""
        found = self.text(key, default)
        if found not in choices:
            self.wrong(f"{key} must be one of {', '.join(choices)}, not '{found}'{suggestion(found, choices)}")
        return found

    def flag(self, key: str, default: bool) -> bool:
        """An attribute that is true or false."""
        return self.choice(key, ("true", "false"), str(default).lower()) == "true"


def is_text(source: str | Path) -> bool:
    """Whether a description was given itself, and not the file that has it."""
    return isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")


def read_xml(source: str | Path) -> Node:
    """The outermost element of a file, or of the text itself."""
    if is_text(source):
        return parsed(str(source).lstrip("\ufeff \t\r\n"), "text")
    try:
        return parsed(read_whole(source, LARGEST), str(source))
    except FileError as error:
        raise ModelError(str(error)) from None


def parsed(content: str | bytes, where: str) -> Node:
    """The outermost element of some XML."""
    parser = expat.ParserCreate()
    open_nodes = [Node("", {}, where, 1)]

    def begin(tag: str, given: dict[str, str]) -> None:
        node = Node(tag, given, where, parser.CurrentLineNumber)
        if len(open_nodes) > DEEPEST:
            node.wrong(f"elements lie within each other more than {DEEPEST} deep")
        open_nodes[-1].children.append(node)
        open_nodes.append(node)

    def refuse(*_: object) -> None:
        line = parser.CurrentLineNumber
        raise ModelError(f"{where}:{line}: document types and entities are not read; write out what they stand for")

    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: open_nodes.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise ModelError(f"{where}:{error.lineno}: this is not XML: {expat.ErrorString(error.code)}") from None
    except (ValueError, LookupError) as error:
        raise ModelError(f"{where}: this is not XML: {error}") from None
    return open_nodes[0].children[0]
