"""The horizon of a motion: until when runs with different tolerances agree, and single values mean something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from kempe.analysis.dynamics import simulate
from kempe.calling import explained
from kempe.elements import plain_array, shown
from kempe.errors import ModelError
from kempe.model import Model
from kempe.results import VIEWS, Result
from kempe.simulation.assembling import Pose
from kempe.simulation.posing import Posed
from kempe.simulation.progress import Progress
from kempe.simulation.task import within as number_within
from kempe.simulation.times import time_grid

#: What moves by less than this share of its size stands still.
STILL = 1e-9
#: Errors that grow like a power of time, up to this one, take most of it for their last decades; those that grow by so
#: much in less time grow exponentially.
POWER, DECADES = 3.0, 2.0
#: Runs have come together again where they agree over the last share of the time.
AGAIN = 0.2


@dataclass(frozen=True, repr=False)
class Horizon:
    """Until when runs with ever smaller tolerances agree.

    Each run is compared with the next: ``horizons`` has the last output time until which all quantities looked at agree
    within ``agreement`` of how far each of them moves, for each tolerance but the last; it is infinite where they agree
    to the end. ``t`` is the last of these, and ``until`` says the same by quantity. Beyond it nothing is known but
    statistics. ``chaotic`` says whether all runs part for good, and exponentially.
    ``again`` is when the last two runs had come together again, should they (NaN where not).

    ``results`` are the runs, ``result`` is the best of them. ``distances`` has the largest difference of all, in those
    shares, over ``t_points``: a row for each tolerance but the last.
    """

    horizons: tuple[float, ...]
    until: dict[str, float]
    agreement: float
    tolerances: tuple[float, ...]
    distances: np.ndarray
    again: float
    results: list[Result] = field(compare=False)

    @property
    def t(self) -> float:
        """Until when the motion is known."""
        return self.horizons[-1]

    @property
    def result(self) -> Result:
        """The run with the smallest tolerance."""
        return self.results[-1]

    @property
    def t_points(self) -> np.ndarray:
        """The times of the distances."""
        return self.result.t[: self.distances.shape[1]]

    @property
    def chaotic(self) -> bool:
        """Whether every pair of runs parts for good, the last of them faster than by any power of time."""
        if not all(np.isfinite(self.horizons)) or np.isfinite(self.again):
            return False
        t, begin = self.t_points, float(self.result.t[0])
        small = _until(t, self.distances[-1], self.agreement / 10.0**DECADES)
        return small - begin > (self.t - begin) / 10.0 ** (DECADES / POWER)

    @property
    def first(self) -> str:
        """The quantity that parts first."""
        return min(self.until, key=lambda name: self.until[name])

    def plot(self, *, title: str = "", size: tuple[float, float] | None = None) -> Any:
        """How far the runs are apart over time; see :func:`kempe.view.plot_horizon`."""
        return VIEWS["plot_horizon"](self, title=title, size=size)

    def __str__(self) -> str:
        a, b = self.tolerances[-2:]
        runs = f"runs with tolerances {a:g} and {b:g}"
        if self.t == np.inf:
            most = float(self.distances[-1].max(initial=0.0))
            return f"{runs} agree to the end, to {most:.2g} of how far quantities move"
        parts = f"{runs} part there by more than {self.agreement:.2g} of how far a quantity moves, '{self.first}' first"
        if np.isfinite(self.again):
            return f"single values are not known between t = {self.t:.6g} and {self.again:.6g}: {parts}"
        meaning = f"single values mean nothing beyond t = {self.t:.6g}, only statistics do: {parts}"
        if not self.chaotic:
            return meaning
        gain = [f"; {a:g} instead of {c:g} has gained {self.t - h:.3g}" for c, h in self._before]
        return "".join([f"chaotic: {meaning}", *gain])

    @property
    def _before(self) -> list[tuple[float, float]]:
        """The tolerance before the last two, with its horizon."""
        return list(zip(self.tolerances, self.horizons, strict=False))[-2:-1]

    def __repr__(self) -> str:
        return f"Horizon({self})"


@explained
def horizon(
    model: Model,
    times: float | Sequence[float] | np.ndarray,
    quantities: Sequence[str] | str | None = None,
    *,
    tolerances: Sequence[float] = (1e-8, 1e-10, 1e-12),
    agreement: float = 1e-3,
    steps: int = 200,
    method: str = "auto",
    max_step: float | None = None,
    start: Pose | None = None,
    velocities: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    progress: Progress = None,
) -> Horizon:
    """Until when a motion is known: runs with ever smaller ``tolerances`` are compared, each with the next.

    ``quantities`` are what is compared (default: all coordinates and velocities); they agree where they differ by no
    more than ``agreement`` times how far they move in the whole run, from their least value to their largest.
    Everything else is as in :func:`kempe.simulate`. The output times should be close enough to see the runs part.
    """
    share = number_within(agreement, "agreement", 0.0, 1.0)
    given = plain_array(tolerances, "tolerances")
    if given.ndim != 1 or len(given) < 2 or not (np.diff(given) < 0).all():
        raise ModelError(f"tolerances must be two or more, each smaller than the one before, not {shown(tolerances)}")
    settings: dict[str, Any] = {"method": method, "max_step": max_step, "start": start, "velocities": velocities}
    settings |= {"parameters": parameters, "progress": progress, "audit": False}
    grid = time_grid(times, steps)
    results = []
    for each in given.tolist():
        results.append(simulate(model, grid, tolerance=each, **settings))
        if results[-1].status == "interrupted":
            raise KeyboardInterrupt
    names = _names(results[-1], quantities)
    count = min(len(result) for result in results)  # (an event may have ended one of them sooner)
    t, still = results[-1].t[:count], _still(results[-1], names)
    apart = np.array([[_apart(a, b, name, count, still) for name in names] for a, b in pairwise(results)])
    distances = apart.max(axis=1)
    return Horizon(
        tuple(_until(t, row, share) for row in distances),
        {name: _until(t, row, share) for name, row in zip(names, apart[-1], strict=True)},
        share,
        tuple(given.tolist()),
        distances,
        _again(t, distances[-1], share),
        results,
    )


def _names(result: Result, quantities: Sequence[str] | str | None) -> list[str]:
    if quantities is None:
        return [name for triple in result.columns for name in triple[:2]]
    names = [quantities] if isinstance(quantities, str) else list(quantities)
    if not names:
        raise ModelError("horizon: name at least one quantity")
    return names


def _still(result: Result, names: list[str]) -> set[str]:
    """The quantities that move by rounding alone."""
    assert result.model is not None
    scale = Posed(result.model, result.provenance["parameters"]).scale
    pace = float(np.abs(result.v / scale).max(initial=0.0))
    sizes = {name: s * rate for n, s in zip(result.columns, scale, strict=True) for name, rate in zip(n, (1.0, pace))}
    moved = {name: result.array(name) for name in names}
    return {n for n, x in moved.items() if np.ptp(x) <= STILL * max(float(np.abs(x).max()), sizes.get(n, 0.0))}


def _apart(a: Result, b: Result, name: str, count: int, still: set[str]) -> np.ndarray:
    """How far a quantity differs, as a share of how far it moves."""
    if name in still:
        return np.zeros(count)
    return np.abs(a.array(name)[:count] - b.array(name)[:count]) / np.ptp(b.array(name))


def _until(t: np.ndarray, apart: np.ndarray, share: float) -> float:
    """The last time up to which a difference is within its share; infinite where it is to the end."""
    beyond = np.flatnonzero(~(apart <= share))
    return np.inf if not len(beyond) else float(t[max(beyond[0] - 1, 0)])


def _again(t: np.ndarray, apart: np.ndarray, share: float) -> float:
    """From when on a difference that was too large is within its share to the end, if that is for a good while."""
    beyond = np.flatnonzero(~(apart <= share))
    if not len(beyond) or beyond[-1] + 1 >= len(t):
        return np.nan
    when = float(t[beyond[-1] + 1])
    return when if t[-1] - when >= AGAIN * (t[-1] - t[0]) else np.nan
