"""Columns of numbers from a CSV file, for tables in model files."""

from __future__ import annotations

import csv
import io
from difflib import get_close_matches
from pathlib import Path

from kempe.disk import read_whole
from kempe.errors import FileError, ModelError

#: The largest data file, in bytes.
LARGEST = 50_000_000


def columns(path: Path, names: list[str]) -> list[list[float]]:
    """The columns of a CSV file by the names in its first line."""
    try:
        text = read_whole(path, LARGEST).decode("utf-8-sig")
    except FileError as error:
        raise ModelError(str(error)) from None
    except UnicodeDecodeError:
        raise ModelError(f"{path}: this is not a text file in UTF-8") from None
    rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    heads = [head.strip() for head in rows[0]] if rows else []
    return [_column(path, rows, heads, name) for name in names]


def _column(path: Path, rows: list[list[str]], heads: list[str], name: str) -> list[float]:
    if name not in heads:
        near = get_close_matches(name, heads, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(heads) or 'none'}"
        raise ModelError(f"{path} has no column '{name}'; {hint}")
    place, found = heads.index(name), []
    for number, row in enumerate(rows[1:], start=2):
        try:
            found.append(float(row[place]))
        except (ValueError, IndexError):
            cell = row[place] if place < len(row) else ""
            raise ModelError(f"{path}, row {number}: '{cell}' in column '{name}' is no number") from None
    return found
