"""The largest Lyapunov exponent: how fast neighbouring motions part, or come together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from kempe.calling import explained
from kempe.elements import plain_number, shown
from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import VIEWS
from kempe.simulation.assembling import Pose
from kempe.simulation.machine import Machine
from kempe.simulation.progress import Progress, reporting
from kempe.simulation.running import Record, finished, go
from kempe.simulation.starting import begun
from kempe.simulation.task import within
from kempe.solvers import course as co

#: So many tolerances apart two neighbours start: far enough for their difference not to be one of errors.
APART = 1e4
#: With a larger tolerance neighbours cannot be told from errors.
LOOSEST = 1e-7
#: A difference of so few tolerances says nothing but that it is small.
LOST = 30.0
#: A difference of less than this, in sizes, is none.
ROUNDING = 1e-15
#: A difference larger than this, in sizes, is none of neighbours any more.
FAR = 1e-2
#: An exponent is told from zero where it is so many times its error.
SURE = 3.0
#: The error is found from stretches of the motion, at least so many, or as many as each has periods.
STRETCHES = 10


@dataclass(frozen=True, repr=False)
class Lyapunov:
    """The largest Lyapunov exponent of a motion.

    ``per_time`` is the rate at which the distance of neighbouring motions grows (below zero: shrinks), ``per_period``
    the same for a period; each has its statistical error beside it (``per_time_error``, ``per_period_error``).
    ``growth`` has the logarithm of the growth in each period, of which ``per_period`` is the mean. ``lost`` says
    in how many periods the neighbours came so near to each other that only an upper bound is known, ``far`` in how many
    they went so far apart that they were no neighbours any more, so that only a lower bound is.
    """

    period: float
    growth: np.ndarray
    separation: float
    tolerance: float
    lost: int = 0
    far: int = 0
    model: str = ""

    @property
    def per_period(self) -> float:
        """The exponent per period."""
        return float(np.mean(self.growth))

    @property
    def per_period_error(self) -> float:
        """The standard error of the exponent per period, from stretches of the motion that hardly know each other."""
        count = min(max(STRETCHES, isqrt(len(self.growth))), len(self.growth))
        if count < 2 or not np.isfinite(self.growth).all():
            return np.nan
        means = [float(np.mean(part)) for part in np.array_split(self.growth, count)]
        return float(np.std(means, ddof=1) / np.sqrt(count))

    @property
    def per_time(self) -> float:
        """The exponent per unit of time."""
        return self.per_period / self.period

    @property
    def per_time_error(self) -> float:
        """The standard error of the exponent per unit of time."""
        return self.per_period_error / self.period

    @property
    def verdict(self) -> str:
        """In a word: "chaotic", "regular" (neighbours come together), or "undecided"."""
        if self.per_period == -np.inf:
            return "regular"
        if not abs(self.per_period) > SURE * self.per_period_error:
            return "undecided"
        return "chaotic" if self.per_period > 0 else "regular"

    def plot(self, *, title: str = "", size: tuple[float, float] | None = None) -> Any:
        """How the exponent settles down over the periods, with its error; see :func:`kempe.view.plot_exponent`."""
        return VIEWS["plot_exponent"](self, title=title, size=size)

    def __str__(self) -> str:
        if self.per_period == -np.inf:
            return "regular: neighbouring motions fall together within a period"
        most = "at most " if self.lost else "at least " if self.far else ""
        found = f"{most}{self.per_period:.4g} ± {self.per_period_error:.2g} per period"
        found += f", {self.per_time:.5g} ± {self.per_time_error:.2g} per time, over {len(self.growth)} periods"
        if self.verdict == "undecided":
            return f"undecided: the exponent of {found} cannot be told from zero"
        parts = "part" if self.per_period > 0 else "come together"
        times = np.exp(abs(self.per_period))
        return f"{self.verdict}: neighbouring motions {parts} by a factor of {times:.3g} a period (exponent {found})"

    def __repr__(self) -> str:
        return f"Lyapunov({self})"


@explained
def lyapunov(
    model: Model,
    period: float,
    periods: int = 200,
    *,
    skip: float | None = None,
    separation: float | None = None,
    tolerance: float = 1e-11,
    method: str = "auto",
    max_step: float | None = None,
    start: Pose | None = None,
    velocities: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    progress: Progress = None,
) -> Lyapunov:
    """The largest Lyapunov exponent, from two neighbouring motions over so many periods (Benettin, Galgani, Strelcyn).

    The two run on their own, with all their switches; after every ``period`` their distance is measured and the second
    is moved to the old distance from the first, along the line between them. It goes on in the modes of the first, and
    values that elements keep from their switches are moved with the rest.

    ``skip`` is the start-up that is left out (default: 20 periods); the neighbours part half-way through it, so that
    their difference has turned to where it grows fastest. ``separation`` is their distance, in mechanism sizes (radians
    for angles; velocities by the fastest motion of late), by default ten thousand tolerances. Of a system without a
    period, any time will do for one. Ctrl-C returns what exists. Everything else is as in :func:`kempe.simulate`.
    """
    T, first, last = _counted(period, periods, skip)
    tolerance = within(tolerance, "tolerance", 1e-14, LOOSEST)
    distance = APART * tolerance if separation is None else within(separation, "separation", LOST * tolerance, FAR)
    settings: dict[str, Any] = {"method": method, "tolerance": tolerance, "max_step": max_step, "audit": False}
    settings |= {"start": start, "velocities": velocities, "parameters": parameters}
    growth: list[float] = []
    with reporting(progress, f"'{model.name}': lyapunov") as report:
        one, other = (begun(model, [0.0, last * T], **settings) for _ in range(2))
        pair = Neighbours(one, other, distance, tolerance)
        try:
            pair.begin(first // 2 * T)
            for k in range(first // 2 + 1, last + 1):
                grown = pair.until(k * T)
                growth += [grown] if k > first or grown == -np.inf else []
                if grown == -np.inf:
                    break
                if report:
                    report(k * T, last * T)
        except KeyboardInterrupt:
            if not growth:
                raise
    return Lyapunov(T, np.array(growth), distance, tolerance, pair.lost, pair.far, model.name)


def _counted(period: Any, periods: Any, skip: Any) -> tuple[float, int, int]:
    """The period, and the numbers of the period after which growth counts and of the last one."""
    T = plain_number(period, "period")
    if not T > 0.0:
        raise ModelError(f"period must be above zero, not {T:g}")
    if isinstance(periods, bool) or not isinstance(periods, (int, np.integer)) or periods < 1:
        raise ModelError(f"periods must be a whole number of at least 1, not {shown(periods)}")
    left_out = 20.0 * T if skip is None else plain_number(skip, "skip")
    if not left_out >= 0.0:
        raise ModelError(f"skip must be a time of at least zero, not {left_out:g}")
    first = int(np.ceil(left_out / T - 1e-9))
    return T, first, first + int(periods)


class Walker:
    """A machine that is taken from instant to instant."""

    def __init__(self, machine: Machine) -> None:
        self.machine, self.record = machine, Record()

    def until(self, t: float) -> None:
        """Go on to a time; raises where the motion ends before it."""
        self.machine.course.end = t
        code = go(self.machine, self.record)
        self.record.events.clear()
        if code != co.REACHED:
            ended = finished(self.machine, self.record, code, None)
            raise ModelError(f"the motion ends at t = {self.machine.course.now.t:.6g}: {ended.message}")

    @property
    def state(self) -> np.ndarray:
        """Position and velocities."""
        now = self.machine.course.now
        return np.concatenate([now.q, now.v])


class Neighbours:
    """Two motions next to each other, and the logarithm of how far their distance grows."""

    def __init__(self, first: Machine, second: Machine, distance: float, tolerance: float) -> None:
        self.first, self.second = Walker(first), Walker(second)
        self.distance, self.tolerance = distance, tolerance
        self.unit = np.ones(2 * first.eq.n)
        #: How often they came so near that nothing but a bound is known, and so far that they were no neighbours.
        self.lost = self.far = 0

    def begin(self, t: float) -> None:
        """Part at a time, into some direction."""
        self.first.until(t)
        scale, course = self.first.machine.eq.scale, self.first.machine.course
        self.unit = np.concatenate([scale, scale * course.rate])
        difference = np.random.default_rng(1).normal(size=len(self.unit)) * self.unit
        for _ in range(3):  # (the joints let only a part of it stand)
            self._place(difference * (self.distance / self._size(difference)), 0.0)
            difference = self.second.state - self.first.state
            if not self._size(difference) > 1e-3 * self.distance:
                raise ModelError(f"no part is free to move at t = {t:.6g}: neighbouring motions are one and the same")

    def until(self, t: float) -> float:
        """Go on to a time; the logarithm of how far the distance has grown. Then they are as near as at first."""
        self.first.until(t)
        self.second.until(t)
        difference = self.second.state - self.first.state
        size = self._size(difference)
        self.lost += size < LOST * self.tolerance
        self.far += size > FAR
        if size < ROUNDING:
            return -np.inf
        self._place(difference * (self.distance / size), self.distance / size)
        return float(np.log(size / self.distance))

    def _size(self, difference: np.ndarray) -> float:
        return float(np.sqrt(np.mean((difference / self.unit) ** 2)))

    def _place(self, difference: np.ndarray, share: float) -> None:
        """Put the second beside the first."""
        q, v = np.split(self.first.state + difference, 2)
        self.second.machine.go_on_beside(self.first.machine, q, v, share)
