"""Poincaré sections: a motion looked at once a period, always at the same instant of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kempe.calling import explained
from kempe.elements import plain_number
from kempe.errors import ModelError
from kempe.results import VIEWS, Result

#: An output time is that of a section where it differs by no more than this share of the period, or by rounding.
SAME, ROUNDING = 1e-12, 8.0


@dataclass(frozen=True, repr=False)
class PoincareMap:
    """Quantities at the same instant of every period: ``points["slider.x"]`` has a number for each of the times ``t``.

    Angles that turn on and on are given within half a turn of the first.
    """

    t: np.ndarray
    values: dict[str, np.ndarray]
    period: float
    result: Result = field(compare=False)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.values:
            raise ModelError(f"there is no quantity '{name}' in this map; there are {', '.join(self.values)}")
        return self.values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.t)

    def plot(self, *, degrees: bool = False, title: str = "", size: tuple[float, float] | None = None) -> Any:
        """The points in the plane of the first two quantities; see :func:`kempe.view.plot_poincare`."""
        return VIEWS["plot_poincare"](self, degrees=degrees, title=title, size=size)

    def __repr__(self) -> str:
        return f"PoincareMap({len(self)} points, one every {self.period:.6g}; {', '.join(self.values)})"


@explained
def poincare(
    result: Result, names: Sequence[str] | str, period: float, *, skip: float = 0.0, phase: float = 0.0
) -> PoincareMap:
    """The Poincaré map of a motion: quantities once every ``period``.

    ``names`` is a coordinate, which is seen with its rate, or two or more quantities. ``skip`` is the time at the start
    that is left out, ``phase`` the instant within the period, as a share of it. The instants must be output times, as
    they are with ``m.simulate(60 * period, steps=60 * 100)``.
    """
    wanted = [names] if isinstance(names, str) else list(names)
    if not wanted:
        raise ModelError("poincare: name a coordinate, or two quantities")
    if len(wanted) == 1:
        wanted += [rate_name(result, wanted[0])]
    rows = section_rows(result, period, skip, phase)
    values = {name: unturned(result, name, result.array(name)[rows]) for name in wanted}
    return PoincareMap(result.t[rows], values, float(period), result)


def rate_name(result: Result, name: str) -> str:
    """The name of the rate of a coordinate or velocity."""
    result.array(name)  # says what there is instead
    for triple in result.columns:
        if name in triple[:2]:
            return triple[triple.index(name) + 1]
    raise ModelError(
        f"'{name}' is no coordinate, and its rate not among the histories; name the two quantities to show"
    )


def unturned(result: Result, name: str, values: np.ndarray) -> np.ndarray:
    """Angles brought to within half a turn of the first; anything else as it is."""
    return near(values, values[0]) if len(values) and result.kind(name) == "angle" else values


def near(angles: np.ndarray, middle: Any) -> np.ndarray:
    """The same angles within half a turn of some."""
    return middle + (angles - middle + np.pi) % (2 * np.pi) - np.pi


def section_rows(result: Result, period: Any, skip: Any = 0.0, phase: Any = 0.0) -> np.ndarray:
    """Which points of a result are at the same instant of each period behind the start-up."""
    if not isinstance(result, Result) or len(result) < 2:
        raise ModelError("a motion of at least two points is needed, as simulate returns it")
    T, begin = checked_span(result.t, period, skip)
    share = plain_number(phase, "phase")
    if not 0.0 <= share < 1.0:
        raise ModelError(f"phase is a share of the period, from 0 up to 1, not {share:g}")
    t0 = float(result.t[0]) + share * T
    slack = 1e-9 * T
    first = int(np.ceil((begin - t0 - slack) / T))
    last = int(np.floor((float(result.t[-1]) - t0 + slack) / T))
    times = t0 + T * np.arange(max(first, 0), last + 1)
    rows = np.clip(np.searchsorted(result.t, times - 0.5 * slack), 0, len(result.t) - 1)
    off = np.abs(result.t[rows] - times) > SAME * T + ROUNDING * np.spacing(np.abs(times))
    if off.any():
        raise ModelError(
            f"the motion has no point at t = {times[off][0]:.10g}: whole periods must be output times, as with "
            f"simulate(n * {T:.10g}, steps=n * 100)"
        )
    return rows


def checked_span(t: np.ndarray, period: Any, skip: Any) -> tuple[float, float]:
    """The period, and when the start-up that is left out is over."""
    T, left_out = plain_number(period, "period"), plain_number(skip, "skip")
    span = float(t[-1] - t[0])
    if not 0.0 < T <= span * (1.0 + 1e-9):
        raise ModelError(f"period must be above zero and within the motion, which lasts {span:g}, not {T:g}")
    if not 0.0 <= left_out <= span:
        raise ModelError(f"skip must be a time within the motion, which lasts {span:g}, not {left_out:g}")
    return T, float(t[0]) + left_out
