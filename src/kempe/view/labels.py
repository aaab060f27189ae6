"""What stands at an axis: the name of a quantity with its unit, and its numbers in radians or degrees."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from kempe.elements.kinds import ANGULAR
from kempe.model.units import Units

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Told(Protocol):
    """What knows kinds and units of its quantities: a result, or a family of runs."""

    @property
    def units(self) -> Units:
        """The units of its model."""

    def kind(self, name: str) -> str:
        """What a quantity is."""


def label_of(told: Told, name: str, degrees: bool = False) -> str:
    """A quantity's name with its unit, "B.force (N)"; the name alone where the unit is not known."""
    return with_unit(name, unit_of(told, told.kind(name), degrees))


def unit_of(told: Told, kind: str, degrees: bool = False) -> str:
    """The unit of a kind of quantity as it is written, "m/s²"; angles and their rates in degrees on request."""
    unit = told.units.degrees(kind) if degrees and kind in ANGULAR else told.units.label(kind)
    return re.sub(r"\^(-?\d+)", lambda power: power[1].translate(_RAISED), unit)


def with_unit(words: str, unit: str) -> str:
    """Words and, in brackets behind them, a unit where there is one."""
    return f"{words} ({unit})" if unit else words


def axis_label(told: Told, names: Sequence[str], degrees: bool = False) -> str:
    """What an axis shows: its only quantity, or what its quantities have in common, or all of them."""
    kinds = list(dict.fromkeys(told.kind(name) for name in names))
    if len(names) == 1:
        return label_of(told, names[0], degrees)
    return ", ".join(with_unit(kind, unit_of(told, kind, degrees)) for kind in kinds)


def shown_in(told: Told, name: str, values: np.ndarray, degrees: bool) -> np.ndarray:
    """The numbers to show: as they are, or angles and their rates in degrees."""
    return np.degrees(values) if degrees and told.kind(name) in ANGULAR else values
