"""What was found about the influence of design parameters: gradients by name, as a table and as a picture."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, fields
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from kempe.calling import explained_methods, suggestion
from kempe.disk import write_whole
from kempe.errors import ModelError
from kempe.results import VIEWS, Result

#: So many parameters of each functional are printed.
SHOWN = 30
#: A functional below this share of what a parameter contributes to it is zero but for rounding.
ROUNDING = 1e-12
NAN = float("nan")


@dataclass(frozen=True)
class Effect:
    """What one parameter does to one functional.

    ``derivative`` is d functional / d parameter, ``percent`` the change of the functional when the parameter grows by
    one percent of its size (of the width of its bounds, where it is zero), and ``relative`` the same in percent of the
    functional's size: percent per percent. NaN where there is none. ``rank`` counts from the parameter with the largest
    ``percent``, 1; it is 0 where that is not known.
    """

    functional: str
    parameter: str
    value: float
    derivative: float
    percent: float
    relative: float
    rank: int


@explained_methods
class SensitivityTable(list[Effect]):
    """The effects of parameters on functionals, the strongest first; prints as a table, the first 30 of each."""

    HEAD = ("rank", "parameter", "value", "derivative", "per 1 %", "% per %")

    def __init__(self, effects: Iterable[Effect], values: Mapping[str, float]) -> None:
        super().__init__(effects)
        self.values = dict(values)

    def to_csv(self, path: str | Path) -> Path:
        """Write it with a header line, every digit kept."""
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        out.writerow([f.name for f in fields(Effect)])
        out.writerows(astuple(effect) for effect in self)
        return write_whole(path, text.getvalue().encode())

    def _blocks(self) -> list[tuple[str, list[list[str]], int]]:
        """Per functional: a heading, the cells of its rows, and how many rows are left out."""
        found = []
        for name, value in self.values.items():
            own = [effect for effect in self if effect.functional == name]
            rows = [
                [str(e.rank or "-"), e.parameter, *map(_digits, (e.value, e.derivative, e.percent, e.relative))]
                for e in own[:SHOWN]
            ]
            found.append((f"{name} = {value:.8g}", rows, max(0, len(own) - SHOWN)))
        return found

    def __str__(self) -> str:
        blocks = self._blocks()
        everything = [list(self.HEAD), *(row for _, rows, _ in blocks for row in rows)]
        wide = [max(len(row[k]) for row in everything) for k in range(len(self.HEAD))]
        lines: list[str] = []
        for heading, rows, more in blocks:
            lines += [*([""] if lines else []), heading]
            for row in [list(self.HEAD), *rows]:
                cells = [cell.ljust(w) if k == 1 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, wide))]
                lines.append("  " + "  ".join(cells).rstrip())
            lines += [f"  and {more} more"] if more else []
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in self.HEAD)
        parts = []
        for heading, rows, more in self._blocks():
            cells = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
            rest = f"<p>and {more} more</p>" if more else ""
            parts.append(f"<p><b>{escape(heading)}</b></p><table><tr>{head}</tr>{cells}</table>{rest}")
        return "".join(parts)

    def __repr__(self) -> str:
        return f"SensitivityTable({len(self)} effects on {', '.join(self.values)})"


@explained_methods
@dataclass(frozen=True, repr=False)
class Sensitivity:
    """Functionals of a motion and their derivatives by design parameters.

    ``values`` are the functionals by name, ``gradients[functional][parameter]`` the derivatives at the design
    ``parameters``. ``method`` says how they were found, ``result`` is the motion itself, and ``warnings`` say where a
    derivative is not what it seems (a graze, say, at which it jumps). ``bounds`` are those of parameters that have any.
    """

    values: dict[str, float]
    gradients: dict[str, dict[str, float]]
    parameters: dict[str, float]
    method: str = ""
    result: Result | None = None
    warnings: list[str] = field(default_factory=list)
    bounds: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def functionals(self) -> list[str]:
        """The names of the functionals."""
        return list(self.values)

    def gradient(self, functional: Any) -> np.ndarray:
        """The derivatives of a functional by all parameters, in the order of ``parameters``."""
        own = self.gradients[self._known(functional)]
        return np.array([own[name] for name in self.parameters])

    def __getitem__(self, functional: Any) -> dict[str, float]:
        """The derivatives of a functional by name of parameter."""
        return self.gradients[self._known(functional)]

    def _known(self, functional: Any) -> str:
        name = getattr(functional, "name", functional)
        if name not in self.values:
            hint = suggestion(str(name), self.values) or f"; there is {', '.join(map(repr, self.values))}"
            raise ModelError(f"there is no functional '{name}' in this sensitivity{hint}")
        return str(name)

    def chosen(self, functionals: Any) -> list[str]:
        """Functionals by name; all of them where none is named."""
        if functionals is None:
            return list(self.values)
        several = isinstance(functionals, Sequence) and not isinstance(functionals, str)
        return [self._known(f) for f in (functionals if several else [functionals])]

    def sensitivity_table(self, functionals: Any = None) -> SensitivityTable:
        """What each parameter does to each functional, or to the named ones, the strongest first."""
        names = self.chosen(functionals)
        effects = [effect for name in names for effect in self._effects(name)]
        return SensitivityTable(effects, {name: self.values[name] for name in names})

    def _effects(self, functional: str) -> list[Effect]:
        value, found = self.values[functional], []
        for name, at in self.parameters.items():
            slope = self.gradients[functional][name]
            change = slope * self.unit(name)
            zero = abs(value) <= ROUNDING * abs(100.0 * change) or not value
            found.append((name, at, slope, change, NAN if zero else 100.0 * change / abs(value)))
        found.sort(key=lambda row: -abs(row[3]) if math.isfinite(row[3]) else math.inf)
        ranks = [k + 1 if math.isfinite(row[3]) else 0 for k, row in enumerate(found)]
        return [Effect(functional, *row, rank=rank) for row, rank in zip(found, ranks, strict=True)]

    def unit(self, parameter: str) -> float:
        """One percent of a parameter: of its size or, where that is zero, of the width of its bounds; NaN without."""
        low, high = self.bounds.get(parameter, (NAN, NAN))
        return 0.01 * (abs(self.parameters[parameter]) or (high - low if math.isfinite(high - low) else NAN))

    def to_csv(self, path: str | Path) -> Path:
        """Write the whole table with a header line, every digit kept."""
        return self.sensitivity_table().to_csv(path)

    def plot(
        self,
        functionals: Any = None,
        *,
        change: float = 0.1,
        most: int = 15,
        title: str = "",
        size: tuple[float, float] | None = None,
    ) -> Any:
        """A tornado: what parameters do when they change by a share; see :func:`kempe.view.tornado`."""
        return VIEWS["tornado"](self, functionals, change=change, most=most, title=title, size=size)

    def __str__(self) -> str:
        notes = [f"warning: {text}" for text in self.warnings]
        return "\n".join([str(self.sensitivity_table()), *([""] if notes else []), *notes])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>warning: {escape(text)}</p>" for text in self.warnings)
        return self.sensitivity_table()._repr_html_() + notes

    def __repr__(self) -> str:
        by = f", {self.method}" if self.method else ""
        return f"Sensitivity(of {', '.join(self.values)} by {len(self.parameters)} parameters{by})"


def _digits(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "-"
