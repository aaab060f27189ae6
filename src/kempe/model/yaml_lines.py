"""YAML to plain data with the line of every entry, within limits, refusing duplicate keys and all but plain data."""

from __future__ import annotations

from typing import Any

import yaml

from kempe.errors import ModelError
from kempe.model.yaml_slips import slip

LARGEST = 2_000_000
DEEPEST = 30
MOST_NODES = 400_000

Lines = dict[tuple[Any, ...], int]


def load_yaml(text: str, where: str) -> tuple[Any, Lines]:
    """The data of a YAML text and, for every path in it, the line on which it stands."""
    if len(text) > LARGEST:
        raise ModelError(f"{where}: {len(text)} characters are too many (at most {LARGEST})")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_size(text, where, loader)
        node = yaml.compose(text, Loader=loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        if mark is None:
            raise ModelError(f"{where}: this is not YAML") from None
        line, words = slip(text, mark.line, getattr(error, "problem", None) or "this is not YAML")
        raise ModelError(f"{where}:{line}: {words}") from None
    except ModelError:
        raise
    except (RecursionError, ValueError):
        raise ModelError(f"{where}: this is not YAML that can be read") from None
    lines: Lines = {}
    return _Reader(where, lines, loader).read(node, (), 0), lines


def _check_size(text: str, where: str, loader: Any) -> None:
    """Stop at the first entry that is too deep or one too many, before nodes are made of them, which recurses."""
    depth = count = 0
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, yaml.NodeEvent):
            count += 1
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST + 1 or count > MOST_NODES:
            raise ModelError(f"{where}:{event.start_mark.line + 1}: too deeply nested or too large")


class _Reader:
    """Turns nodes into plain data, noting lines and keeping count."""

    def __init__(self, where: str, lines: Lines, loader: Any) -> None:
        self.where, self.lines, self.loader = where, lines, loader
        self.count = 0
        self.scalars = yaml.SafeLoader("")

    def read(self, node: Any, path: tuple[Any, ...], depth: int) -> Any:
        if node is None:
            return None
        self.count += 1
        line = node.start_mark.line + 1
        if depth > DEEPEST or self.count > MOST_NODES:
            raise ModelError(f"{self.where}:{line}: too deeply nested or too large")
        self.lines[path] = line
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(child, (*path, k), depth + 1) for k, child in enumerate(node.value)]
        return self._scalar(node, line)

    def _mapping(self, node: Any, path: tuple[Any, ...], depth: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise ModelError(f"{self.where}:{line}: a key must be a word")
            key = key_node.value  # as written: 'on' and 'no' are names here, not truth values
            if key in found:
                raise ModelError(f"{self.where}:{line}: '{key}' is given twice")
            found[key] = self.read(value_node, (*path, key), depth + 1)
            self.lines[(*path, key)] = line
        return found

    def _scalar(self, node: Any, line: int) -> Any:
        tag = node.tag.rsplit(":", 1)[-1]
        if tag not in ("str", "int", "float", "bool", "null"):
            if tag == "timestamp":
                return node.value
            raise ModelError(f"{self.where}:{line}: only plain text, numbers, true, false and null are allowed")
        if tag == "str":
            return node.value
        try:
            return self.scalars.construct_object(node)
        except (ValueError, OverflowError, yaml.YAMLError):
            raise ModelError(f"{self.where}:{line}: '{node.value[:40]}' cannot be read as a number") from None
