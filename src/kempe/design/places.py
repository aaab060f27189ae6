"""Where along a run extremes lie, and where bounds are met: instants at which steps have to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.optimize import brentq

from kempe.solvers import motion as mo
from kempe.solvers.gauge import Gauge
from kempe.solvers.sweeping import push_point
from kempe.solvers.tape import SETTLED, take_state

if TYPE_CHECKING:
    from kempe.design.differentiating import Differentiated

#: So near the ends of a smooth piece of the run, as a share of it, what passes zero does so at its end.
EDGE = 1e-9
#: Within a step so many places are looked at besides its ends.
INSIDE = 3


@dataclass(frozen=True)
class Place:
    """An instant of a run; ``before`` and ``behind`` are the two sides of an instant of switching."""

    t: float
    side: Literal["start", "end", "within", "before", "behind"]


class Places:
    """Looks for extremes and for zeros of quantities along a run; the first of them are the extremes.

    Of the others, the kinks, the first ``sided`` are those of integrands, which have to know on which side they are.
    """

    def __init__(self, watched: Gauge, largest: Sequence[bool], kinks: int, sided: int) -> None:
        self.watched, self.largest, self.kinks, self.sided = watched, list(largest), kinks, sided

    @property
    def any(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.largest) or self.kinks > 0

    def look(self, run: Differentiated) -> tuple[list[Place], list[float], list[float]]:
        """The place of each extreme, and all zeros of the others: of integrands, and of forces."""
        samples = _Samples(Reader(run, self.watched))
        extremes = [samples.extreme(k, largest) for k, largest in enumerate(self.largest)]
        first, middle, last = np.cumsum([len(self.largest), self.sided, self.kinks - self.sided]).tolist()
        kinks, bent = (
            [t for k in range(*ends) for t in samples.zeros(k)] for ends in ((first, middle), (middle, last))
        )
        return extremes, kinks, bent

    def sides(self, run: Differentiated) -> np.ndarray:
        """Per row of the tape and kink of an integrand: 1 where it is above zero in it, 0 where it is below."""
        found = np.zeros((len(run.tape.kind), self.sided))
        if not self.sided:
            return found
        reader = Reader(run, self.watched)
        for k, row in enumerate(reader.steps):
            middle = reader.within(row, float(run.tape.t[row].mean()))
            own = middle[len(self.largest) :][: self.sided]
            found[row if k else 0 :] = own > 0.0  # (of instants: the side of the step before)
        return found


class Reader:
    """Reads quantities at any time of a run, from the states at the ends of its steps."""

    def __init__(self, run: Differentiated, watched: Gauge) -> None:
        self.run, self.tape, self.eq = run, run.tape, run.machine.eq
        self.slopes, self.work = run.slopes(1, 0, point=watched)
        self.state = mo.new_state(self.eq.n, self.eq.m)
        self._start, self._end = mo.new_state(self.eq.n, self.eq.m), mo.new_state(self.eq.n, self.eq.m)
        self.steps = [row for row in range(len(self.tape.kind)) if self.tape.t[row, 1] > self.tape.t[row, 0]]
        self._ends = self.tape.t[self.steps, 1]
        self._modes = run.modes_of_rows()
        self._row = -1

    def at(self, t: float) -> np.ndarray:
        """The quantities at a time within a step."""
        return self.within(self.steps[min(int(np.searchsorted(self._ends, t)), len(self.steps) - 1)], t)

    def within(self, row: int, t: float) -> np.ndarray:
        """The quantities at a time within the step of a row."""
        tape = self.tape
        take_state(tape.start[row], self._start)
        take_state(tape.end[row], self._end)
        first, h = float(tape.t[row, 0]), float(tape.t[row, 1] - tape.t[row, 0])
        mo.hermite((t - first) / h, h, self._start, self._end, self.state)
        self.state.al[self.eq.n :] = self._start.al[self.eq.n :]
        return self._read(row, t)

    def _read(self, row: int, t: float) -> np.ndarray:
        self.state.t = t
        if self._modes is not None and row != self._row:
            self.work.x[self.tape.z_at] = self._modes[row]
            mo.set_rows(self.eq, self.work)
            self._row = row
        slopes = self.slopes
        slopes.dq[0], slopes.dv[0], slopes.dt[0] = self.state.v, self.state.al[: self.eq.n], 1.0
        if push_point(self.eq, self.work, slopes, self.state) == 0:
            self.run.fail(row)
        return slopes.point.outputs[: slopes.point.size].copy()

    def rate(self, t: float) -> np.ndarray:
        """How fast the quantities change at a time within a step."""
        self.at(t)
        return self.slopes.dpoint[0].copy()


class _Samples:
    """Quantities at the ends of steps and between, piece by piece from one instant of switching to the next."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.pieces: list[tuple[list[float], list[np.ndarray]]] = []
        times: list[float] = []
        values: list[np.ndarray] = []
        for row in reader.steps:
            first, last = reader.tape.t[row]
            if times and row > 0 and reader.tape.kind[row - 1] == SETTLED:
                self.pieces.append((times, values))
                times, values = [], []
            for k in range(0 if not times else 1, INSIDE + 2):
                at = float(first + (last - first) * k / (INSIDE + 1))
                times.append(at)
                values.append(reader.within(row, at))
        self.pieces.append((times, values))

    def extreme(self, k: int, largest: bool) -> Place:
        """Where quantity k is largest, or least."""
        sign = 1.0 if largest else -1.0
        _, p, i = max(
            ((sign * v[k], p, i) for p, (_, values) in enumerate(self.pieces) for i, v in enumerate(values)),
            key=lambda found: found[0],
        )
        times, _ = self.pieces[p]
        low, high, t = max(i - 1, 0), min(i + 1, len(times) - 1), times[i]
        rates = [sign * self.reader.rate(times[j])[k] for j in (low, i, high)]
        for a, b, left, right in ((low, i, rates[0], rates[1]), (i, high, rates[1], rates[2])):
            if left > 0.0 > right:
                t = float(brentq(lambda at: self.reader.rate(at)[k], times[a], times[b], xtol=1e-15, rtol=1e-14))
        if t == times[0]:
            return Place(t, "start" if p == 0 else "behind")
        if t == times[-1]:
            return Place(t, "end" if p == len(self.pieces) - 1 else "before")
        return Place(t, "within")

    def zeros(self, k: int) -> list[float]:
        """Where quantity k passes zero."""
        found = []
        for times, values in self.pieces:
            edge = EDGE * (times[-1] - times[0])
            for i in range(len(times) - 1):
                if values[i][k] * values[i + 1][k] < 0.0:
                    at = float(brentq(lambda at: self.reader.at(at)[k], times[i], times[i + 1], xtol=1e-14))
                    if times[0] + edge < at < times[-1] - edge:
                        found.append(at)
        return found
