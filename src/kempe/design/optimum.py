"""What an optimisation returns: the design, how it was reached, and what holds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from kempe.design.problem import MetWall
from kempe.design.trail import Iteration
from kempe.results import VIEWS, Result


@dataclass(frozen=True)
class Active:
    """A requirement or bound that holds an optimum.

    ``multiplier`` is by how much the objective falls for each unit by which the limit is relaxed (for an equation: by
    which its value is raised), to first order; ``words`` say it for a small change.
    """

    name: str
    limit: float
    multiplier: float
    words: str


@dataclass(frozen=True)
class Start:
    """One of several starts and what it led to; the status "wall" is that of a design that cannot be evaluated."""

    parameters: dict[str, float]
    status: str
    objective: float | None
    violation: float | None
    iterations: int


@dataclass(frozen=True)
class Demand:
    """A requirement before and after: the values, by how much of its unit each misses the limit, and its words."""

    words: str
    limit: float
    before: float
    after: float
    missed_before: float
    missed_after: float


@dataclass(frozen=True, repr=False)
class Optimum:
    """The best design that was found, and how.

    ``status`` is "optimal" where requirements and first-order conditions were verified to hold; "infeasible" where the
    least violation is that of the design returned, and ``blocks`` says which requirements hold it up, in shares;
    "interrupted"; or "stopped", where the search ended without either, as ``message`` says. ``feasible`` says whether
    the requirements are met, ``violation`` by how much the worst is missed in units of its limit, and ``residual`` what
    the first-order conditions leave as a share of the steepest slope of the objective.

    ``parameters`` and ``values`` (of all functionals) are those of the design, ``before`` and ``values_before`` those
    of the start. ``active`` lists what holds the optimum, ``history`` every iteration, ``walls`` the designs that could
    not be evaluated, ``starts`` where each start led, ``counts`` the runs. ``results`` are the motions before and
    after, where a mechanism was optimised.
    """

    status: str
    message: str
    feasible: bool
    violation: float
    residual: float | None
    method: str
    minimise: str
    objective: float
    parameters: dict[str, float]
    values: dict[str, float]
    before: dict[str, float]
    values_before: dict[str, float]
    bounds: dict[str, tuple[float, float]]
    demands: list[Demand]
    active: list[Active]
    blocks: dict[str, float]
    history: list[Iteration]
    walls: list[MetWall]
    starts: list[Start]
    counts: dict[str, int]
    name: str = ""
    results: tuple[Result, Result] | None = field(default=None, compare=False)

    @property
    def success(self) -> bool:
        """Whether it is an optimum that meets the requirements."""
        return self.status == "optimal"

    def __str__(self) -> str:
        title = f"'{self.name}': " if self.name else ""
        lines = [f"{title}{self.message}", "", *self._table()]
        if self.active:
            lines += ["", "held by", *(f"  {active.words}" for active in self.active)]
        if len(self.starts) > 1:
            lines += ["", *self._starts()]
        return "\n".join(lines)

    def _table(self) -> list[str]:
        old, new = self.values_before[self.minimise], self.objective
        rows = [
            ["", "", "before", "after", ""],
            ["minimise", self.minimise, f"{old:.6g}", f"{new:.6g}", _gain(old, new)],
        ]
        for k, (name, value) in enumerate(self.parameters.items()):
            low, high = self.bounds[name]
            within = "" if (low, high) == (-float("inf"), float("inf")) else f"within {low:.6g} .. {high:.6g}"
            rows.append(["parameters" if k == 0 else "", name, f"{self.before[name]:.6g}", f"{value:.6g}", within])
        for k, demand in enumerate(self.demands):
            numbers = [f"{demand.before:.6g}", f"{demand.after:.6g}"]
            verdict = "met" if demand.missed_after <= 0 else f"missed by {abs(demand.after - demand.limit):.3g}"
            rows.append(["requirements" if k == 0 else "", demand.words, *numbers, verdict])
        return _lines(rows)

    def _starts(self) -> list[str]:
        rows = [["start", "", self.minimise, "iterations"]]
        for k, start in enumerate(self.starts):
            value = "" if start.objective is None else f"{start.objective:.6g}"
            rows.append([str(k), start.status, value, str(start.iterations)])
        return _lines(rows)

    def account(self) -> str:
        """Every iteration in a line, with what the method tells of it."""
        rows = [["", "phase", self.minimise, "violation", ""]]
        for it in self.history:
            missed = f"{it.violation:.2g}" if it.violation > 0 else "none"
            told = "" if it.account is None else str(it.account)
            rows.append([str(it.number), it.phase, f"{it.objective:.8g}", missed, told])
        return "\n".join(_lines(rows))

    def report(
        self,
        path: str | Path,
        *,
        results: tuple[Result, Result] | None = None,
        traces: Sequence[str] = (),
        plots: Sequence[str] = (),
        title: str = "",
    ) -> Path:
        """A page with before and after overlaid in motion; see :func:`kempe.view.optimum_report`."""
        made: Path = VIEWS["optimum_report"](self, path, results=results, traces=traces, plots=plots, title=title)
        return made

    def plot(self, *, title: str = "", size: tuple[float, float] | None = None) -> Any:
        """Objective, violations and parameters over the iterations; see :func:`kempe.view.plot_history`."""
        return VIEWS["plot_history"](self, title=title, size=size)

    def plot_changes(self, *, title: str = "", size: tuple[float, float] | None = None) -> Any:
        """Bars of what changed; see :func:`kempe.view.plot_changes`."""
        return VIEWS["plot_changes"](self, title=title, size=size)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def __repr__(self) -> str:
        return f"Optimum({self.status}: {self.minimise} = {self.objective:.8g})"


def _lines(rows: list[list[str]]) -> list[str]:
    """The lines of a table: two columns of words, two of numbers, and words again."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    cells = [[x.rjust(w) if c in (2, 3) else x.ljust(w) for c, (x, w) in enumerate(zip(row, widths))] for row in rows]
    return ["  ".join(row).rstrip() for row in cells]


def _gain(old: float, new: float) -> str:
    """A change in percent."""
    return "" if not old else f"{100 * (new - old) / abs(old):+.3g} %"
