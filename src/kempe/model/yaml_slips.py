"""What is wrong with a text that is not YAML, in words for those who wrote it: tabs, colons, brackets, indentation."""

from __future__ import annotations

import re

#: A line that says "key value", or "key:value": a word and something behind it, without a colon and a space.
_NO_COLON = re.compile(r"(- +)?([A-Za-z_][\w ]*?)(:(?=[^\s:])| +(?=[\d.{\[+-])|$)")


def slip(text: str, at: int, problem: str) -> tuple[int, str]:
    """The line (from 1) of the mistake that a reader of YAML noticed in line ``at`` (from 0), and what it is."""
    lines = text.splitlines()
    near = [k for k in (at, at - 1) if 0 <= k < len(lines)]
    for k in near:
        if "\t" in lines[k][: len(lines[k]) - len(lines[k].lstrip())]:
            return k + 1, "there is a tab at the beginning of the line; indent with spaces"
    for k in near:
        word = _without_colon(lines[k])
        if word:
            return k + 1, f"'{word}' needs a colon and a space behind it, as in '{word}: 1'"
    opened = _never_closed(lines, at)
    if opened is not None:
        bracket = "{" if "{" in lines[opened] and lines[opened].count("{") > lines[opened].count("}") else "["
        return opened + 1, f"a bracket '{bracket}' is opened here and never closed, in {_quoted(lines[opened])}"
    moved = _moved(lines, at)
    if moved:
        return at + 1, moved
    return at + 1, f"this is not YAML: {problem}" + (f", in {_quoted(lines[at])}" if at < len(lines) else "")


def _quoted(line: str) -> str:
    text = line.strip()
    return f"'{text if len(text) <= 60 else text[:57] + '...'}'"


def _without_colon(line: str) -> str:
    """The word of a line that lacks its colon, or the space behind it."""
    found = _NO_COLON.match(line.strip())
    return found[2].strip() if found and line.strip() and not line.strip().startswith("#") else ""


def _never_closed(lines: list[str], at: int) -> int | None:
    """The last line up to here on which more brackets are opened than closed, if they are not closed by then."""
    depth, opened = 0, None
    for k, line in enumerate(lines[: at + 1]):
        plain = re.sub(r"'[^']*'|\"[^\"]*\"|(^|\s)#.*", "", line)
        here = sum(plain.count(c) for c in "{[") - sum(plain.count(c) for c in "}]")
        if here > 0 and depth == 0:
            opened = k
        depth = max(0, depth + here)
    return opened if depth else None


def _moved(lines: list[str], at: int) -> str:
    """What to say of a line that stands neither with the line before it nor with one around it."""
    if at >= len(lines):
        return ""
    before = [line for line in lines[:at] if line.strip() and not line.lstrip().startswith("#")]
    if not before:
        return ""
    here, last = _indent(lines[at]), _indent(before[-1])
    inner = last + 2 if re.match(r"\s*- +\w+:\s*\S", before[-1]) else last
    wanted = sorted({last, inner, *(_indent(line) for line in before)})
    if here in wanted and here == last:
        return ""
    return (
        f"{_quoted(lines[at])} is indented by {here} spaces, the line before it by {last}: "
        "entries of one thing begin in one column"
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
