"""Statistics over periods: what single values mean nothing for, as in chaotic motions, and what settles in others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from kempe.analysis.sections import checked_span
from kempe.calling import explained
from kempe.elements import shown
from kempe.errors import ModelError
from kempe.results import Result
from kempe.simulation.batches import Runs

#: Where largest values may be off by more than this share, peaks may be missed.
COARSE = 0.02
#: What is counted per period.
KINDS = ("largest", "least", "magnitude", "mean", "rms")


@dataclass(frozen=True)
class Spread:
    """The median of some numbers, the quartiles around it, and their ends."""

    median: float
    lower: float
    upper: float
    least: float
    largest: float

    @classmethod
    def of(cls, numbers: np.ndarray) -> Spread:
        """The spread of numbers."""
        least, lower, median, upper, largest = np.quantile(numbers, (0.0, 0.25, 0.5, 0.75, 1.0)).tolist()
        return cls(median, lower, upper, least, largest)


@dataclass(frozen=True)
class PerPeriod:
    """A quantity in each period of each run: arrays with a row per run and a column per period.

    ``magnitude`` is the largest absolute value. ``doubt`` is the share by which it may be too small, at worst, since it
    is that of output points: what it loses when every other point is left out (at the top of a parabola, three times
    what it has lost).
    """

    largest: np.ndarray
    least: np.ndarray
    magnitude: np.ndarray
    mean: np.ndarray
    rms: np.ndarray
    doubt: float

    def over_periods(self, what: str = "magnitude") -> Spread:
        """The spread over all periods of all runs."""
        return Spread.of(getattr(self, _known(what)))

    def over_runs(self, what: str = "magnitude") -> Spread:
        """The spread over runs, each of which counts with its largest period (its least one for "least")."""
        values = getattr(self, _known(what))
        return Spread.of(values.min(axis=1) if what == "least" else values.max(axis=1))


@dataclass(frozen=True, repr=False)
class Statistics:
    """What quantities do in each period: ``found["slider.ax"].largest`` and so on; prints as a table."""

    period: float
    runs: int
    periods: int
    values: dict[str, PerPeriod]

    def __getitem__(self, name: str) -> PerPeriod:
        if name not in self.values:
            raise ModelError(f"there is no quantity '{name}' in these statistics; there are {', '.join(self.values)}")
        return self.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    @property
    def coarse(self) -> list[str]:
        """Quantities whose peaks may have been missed between output points."""
        return [name for name, found in self.values.items() if found.doubt > COARSE]

    def __str__(self) -> str:
        rows = [["", "per period", "median", "quartiles", "", "least", "largest"]]
        for name, found in self.values.items():
            for k, what in enumerate(KINDS):
                s = found.over_periods(what)
                numbers = [f"{x:.5g}" for x in (s.median, s.lower, s.upper, s.least, s.largest)]
                rows.append([name if k == 0 else "", what, *numbers])
        several = f" in each of {self.runs} runs" if self.runs > 1 else ""
        head = f"{self.periods} periods of {self.period:.6g}{several}, start-up left out"
        return "\n".join([head, *lined_up(rows), *self._warning()])

    def _warning(self) -> list[str]:
        if not self.coarse:
            return []
        worst = max(self.coarse, key=lambda name: self.values[name].doubt)
        return [
            f"peaks of {', '.join(repr(name) for name in self.coarse)} may lie between output points ('{worst}' may "
            f"be larger by {self.values[worst].doubt:.0%}): ask for more of them, as by contact_times()"
        ]

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def __repr__(self) -> str:
        return f"Statistics({self.runs} x {self.periods} periods of {self.period:.6g}; {', '.join(self.values)})"


def lined_up(rows: list[list[str]]) -> list[str]:
    """The lines of a table: two columns of words, then numbers."""
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    cells = [[x.ljust(w) if c < 2 else x.rjust(w) for c, (x, w) in enumerate(zip(row, widths))] for row in rows]
    return ["  ".join(row).rstrip() for row in cells]


@explained
def statistics(
    results: Result | Runs | Sequence[Result], names: Sequence[str] | str, period: float, *, skip: float = 0.0
) -> Statistics:
    """The largest, least, mean and root mean square value of quantities in each period.

    ``results`` is one motion, several (from different starts, say), or the runs of :func:`kempe.run_many`. ``skip`` is
    the time at the start that is left out; from there on whole periods are counted. The largest values are those of
    output points: ``doubt`` says how well they are known, and :func:`kempe.contact_times` gives times for which no peak
    of a contact is missed.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    if not wanted:
        raise ModelError("statistics: name at least one quantity")
    histories = _histories(results, wanted)
    edges = _edges(histories[0][0], period, skip)
    values = {
        name: _per_period([(t, columns[k]) for t, columns in histories], edges, name) for k, name in enumerate(wanted)
    }
    return Statistics(float(period), len(histories), len(edges) - 1, values)


def _known(what: str) -> str:
    if what not in KINDS:
        raise ModelError(f"there is no '{what}' of a period; there are {', '.join(KINDS)}")
    return what


def _histories(results: object, names: list[str]) -> list[tuple[np.ndarray, list[np.ndarray]]]:
    """Times and quantities of each run."""
    if isinstance(results, Runs):
        if results.reasons:
            number, reason = next(iter(results.reasons.items()))
            raise ModelError(f"statistics: design {number} did not run to the end: {reason}")
        return [(results.t, [results[name][k] for name in names]) for k in range(len(results))]
    listed = [results] if isinstance(results, Result) else list(results) if isinstance(results, Sequence) else []
    if not listed or not all(isinstance(result, Result) and len(result) > 1 for result in listed):
        raise ModelError(f"statistics: give a result, a list of results, or runs, not {shown(results)}")
    if len({(float(r.t[0]), float(r.t[-1])) for r in listed}) > 1:
        raise ModelError("statistics: motions that are counted together must cover the same time")
    return [(result.t, [result.array(name) for name in names]) for result in listed]


def _edges(t: np.ndarray, period: float, skip: float) -> np.ndarray:
    """Where periods begin and end behind the start-up."""
    T, begin = checked_span(t, period, skip)
    count = int(np.floor((float(t[-1]) - begin) / T * (1.0 + 1e-12) + 1e-9))
    if count < 1:
        raise ModelError(f"no whole period of {T:g} is left behind the start-up")
    return begin + T * np.arange(count + 1)


def _per_period(runs: list[tuple[np.ndarray, np.ndarray]], edges: np.ndarray, name: str) -> PerPeriod:
    found = np.array([[_counted(t, values, a, b) for a, b in pairwise(edges)] for t, values in runs])
    if not np.isfinite(found).all():
        raise ModelError(f"statistics: '{name}' is not finite everywhere")
    largest, least, magnitude, mean, rms, doubt = np.moveaxis(found, 2, 0)
    return PerPeriod(largest, least, magnitude, mean, rms, float(doubt.max()))


def _counted(t: np.ndarray, values: np.ndarray, a: float, b: float) -> tuple[float, ...]:
    """Largest, least, largest magnitude, mean and rms in a period, and how well the magnitude is known."""
    slack = 1e-9 * (b - a)
    inner = (t > a + slack) & (t < b - slack)
    times = np.concatenate([[a], t[inner], [b]])
    x = np.interp(times, t, values)
    size, weight = np.abs(x), np.diff(times)
    mean = float(np.sum(weight * (x[1:] + x[:-1])) / 2.0 / (b - a))
    square = float(np.sum(weight * (x[1:] ** 2 + x[1:] * x[:-1] + x[:-1] ** 2)) / 3.0 / (b - a))
    whole = float(size.max())
    fewer = min(float(size[::2].max()), float(size[1::2].max()))
    doubt = 1.0 - fewer / whole if whole > 0.0 else 0.0
    return float(x.max()), float(x.min()), whole, mean, float(np.sqrt(square)), doubt
