"""The published cases, one module each: what was printed, what is true, what is computed now."""

from __future__ import annotations

from collections.abc import Iterable

from kempe.errors import ModelError
from kempe.validation import (
    clearance_slider_crank,
    coulomb_double_pendulum,
    dads_slider_crank,
    hybrid_contact,
    redundant_plate,
    singular_configurations,
    singular_position_accelerations,
    singular_position_simulation,
)
from kempe.validation.case import Case, Row

CASES: dict[str, Case] = {
    module.CASE: module.rows
    for module in (
        singular_configurations,
        singular_position_accelerations,
        singular_position_simulation,
        coulomb_double_pendulum,
        dads_slider_crank,
        clearance_slider_crank,
        hybrid_contact,
        redundant_plate,
    )
}


def validate(names: Iterable[str] = ()) -> list[Row]:
    """Compute the named cases (all when none is named) and compare every value."""
    chosen = list(names) or list(CASES)
    unknown = [name for name in chosen if name not in CASES]
    if unknown:
        raise ModelError(f"unknown case '{unknown[0]}'; the cases are {', '.join(CASES)}")
    return [row for name in chosen for row in CASES[name]()]


__all__ = ["CASES", "Row", "validate"]
