"""Where along a run extremes lie, and where bounds are met: instants at which steps have to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from kempe.solvers import motion as mo
from kempe.solvers.gauge import Gauge
from kempe.solvers.sweeping import push_point
from kempe.solvers.tape import SETTLED, take_state

if TYPE_CHECKING:
    from kempe.design.differentiating import Differentiated

#: An instant moves no more where it stays within this share of the run.
STAYS = 1e-7
#: Within a step so many places are looked at besides its ends.
INSIDE = 3


@dataclass(frozen=True)
class Place:
    """An instant of a run; ``before`` and ``behind`` are the two sides of an instant of switching."""

    t: float
    side: Literal["start", "end", "within", "before", "behind"]


class Places:
    """Looks for extremes and for zeros of quantities along a run; the first of them are the extremes."""

    def __init__(self, watched: Gauge, largest: Sequence[bool], kinks: int) -> None:
        self.watched, self.largest, self.kinks = watched, list(largest), kinks

    @property
    def any(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.largest) or self.kinks > 0

    def moved(self, before: list[Place], now: list[Place]) -> bool:
        """Whether places are others than they were."""
        if len(before) != len(now):
            return bool(now)
        span = max((abs(place.t) for place in now), default=1.0) + 1e-300
        pairs = zip(before, now, strict=True)
        return any(a.side != b.side or abs(a.t - b.t) > STAYS * span for a, b in pairs)

    def look(self, run: Differentiated) -> tuple[list[Place], list[float]]:
        """The place of each extreme, and all zeros of the others."""
        samples = _Samples(Reader(run, self.watched))
        extremes = [samples.extreme(k, largest) for k, largest in enumerate(self.largest)]
        first = len(self.largest)
        kinks = [t for k in range(first, first + self.kinks) for t in samples.zeros(k)]
        return extremes, kinks


class Reader:
    """Reads quantities at any time of a run, from the states at the ends of its steps."""

    def __init__(self, run: Differentiated, watched: Gauge) -> None:
        self.run, self.tape, self.eq = run, run.tape, run.machine.eq
        self.slopes, self.work = run.slopes(0, 0, point=watched)
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

    def here(self, row: int) -> np.ndarray:
        """The quantities at the state that a row begins with."""
        take_state(self.tape.start[row], self.state)
        return self._read(row, float(self.tape.t[row, 0]))

    def _read(self, row: int, t: float) -> np.ndarray:
        self.state.t = t
        if self._modes is not None and row != self._row:
            self.work.x[self.tape.z_at] = self._modes[row]
            mo.set_rows(self.eq, self.work)
            self._row = row
        if push_point(self.eq, self.work, self.slopes, self.state) == 0:
            self.run.fail(row)
        return self.slopes.point.outputs[: self.slopes.point.size].copy()


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
        times, values = self.pieces[p]
        low, high, t = times[max(i - 1, 0)], times[min(i + 1, len(times) - 1)], times[i]
        found = minimize_scalar(
            lambda at: -sign * self.reader.at(at)[k], bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        )
        if -found.fun > sign * values[i][k]:
            t = float(found.x)
        edge = 1e-6 * max(high - low, 1e-300)
        if t <= times[0] + edge:
            return Place(times[0], "start" if p == 0 else "behind")
        if t >= times[-1] - edge:
            return Place(times[-1], "end" if p == len(self.pieces) - 1 else "before")
        return Place(t, "within")

    def zeros(self, k: int) -> list[float]:
        """Where quantity k passes zero."""
        found = []
        for times, values in self.pieces:
            for i in range(len(times) - 1):
                if values[i][k] * values[i + 1][k] < 0.0:
                    found.append(float(brentq(lambda at: self.reader.at(at)[k], times[i], times[i + 1], xtol=1e-13)))
        return found
