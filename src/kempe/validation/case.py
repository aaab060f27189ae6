"""A published case: rows that compare what was printed, what is true and what is computed now."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Row:
    """One compared value. ``error`` is relative to the truth, or absolute where the truth is zero."""

    case: str
    quantity: str
    printed: float | str | None
    truth: float | str
    computed: float | str
    error: float
    tolerance: float
    ok: bool
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The row with the keys of the command line's JSON output."""
        return asdict(self)


def compare(
    case: str,
    quantity: str,
    truth: float,
    computed: float,
    tolerance: float,
    *,
    printed: float | None = None,
    note: str = "",
) -> Row:
    """A numeric row."""
    truth, computed, tolerance = float(truth), float(computed), float(tolerance)  # (plain ones, for JSON)
    error = abs(computed - truth) / (abs(truth) if truth != 0 else 1.0)
    ok = math.isfinite(error) and error <= tolerance
    return Row(case, quantity, printed, truth, computed, error, tolerance, ok, note)


def match(case: str, quantity: str, truth: str, computed: str, *, printed: str | None = None, note: str = "") -> Row:
    """A row that compares words or whole numbers."""
    same = truth == computed
    return Row(case, quantity, printed, truth, computed, 0.0 if same else 1.0, 0.0, same, note)


Case = Callable[[], Iterator[Row]]
