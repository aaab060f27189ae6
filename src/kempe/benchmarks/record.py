"""What a benchmark reports: Kempe's figure, a peer's figure from the same run, and their ratio."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Record:
    """One comparison; ``ratio`` above 1 means that Kempe is better (or, against a target, that the target is met)."""

    bench: str
    quantity: str
    kempe: float
    peer: str
    peer_value: float | None
    unit: str
    ratio: float | None
    conditions: str

    def as_dict(self) -> dict[str, Any]:
        """The record with the keys of the command line's JSON output."""
        return asdict(self)


def more_is_better(
    bench: str, quantity: str, kempe: float, peer: str, value: float | None, unit: str, conditions: str
) -> Record:
    """A comparison of rates."""
    return Record(bench, quantity, kempe, peer, value, unit, None if not value else kempe / value, conditions)


def less_is_better(
    bench: str, quantity: str, kempe: float, peer: str, value: float | None, unit: str, conditions: str
) -> Record:
    """A comparison of times."""
    return Record(bench, quantity, kempe, peer, value, unit, None if value is None else value / kempe, conditions)
