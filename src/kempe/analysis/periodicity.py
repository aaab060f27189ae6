"""Whether a motion repeats itself after some periods, by the points of its Poincaré map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kempe.analysis.sections import near, section_rows
from kempe.calling import explained
from kempe.elements import shown
from kempe.errors import ModelError
from kempe.results import Result
from kempe.simulation.posing import Posed
from kempe.simulation.task import within as number_within

#: So many tolerances a motion may be off its limit cycle (as much as the audit of energies allows), and no more than
#: this, in sizes, however large the tolerance.
EXPLAINED, LARGEST = 1e4, 1e-5
#: Groups of points that are wider than is explained, but no wider than this, may be those of a limit cycle yet.
SEEMING = 1e-3
#: Of several n whose groups are about as narrow the smallest is told.
ALIKE = 3.0
#: A distance that has fallen by this much on the way still falls.
FALLEN = 0.03
#: Each point of a cycle must have been passed so often.
VISITS = 3


@dataclass(frozen=True, repr=False)
class Periodicity:
    """Whether a motion is periodic, and what that rests on.

    The points of the Poincaré map, one per period, fall into n groups where every n-th belongs to the same; ``widths``
    has the width of the widest group for n = 1, 2, 3 ..., in mechanism sizes, or shares of the way a coordinate goes
    where that is longer (radians for angles; velocities by the fastest motion). ``verdict`` is "periodic" where for
    some n the groups are no wider than ``limit``, which is what the tolerance of the run explains; ``periods`` is that
    n (0 where there is none). It is "undecided" where groups are narrow, but not so narrow, and "not periodic"
    otherwise. ``widest`` names the coordinate or rate that is off most; ``settling`` is the factor by which points of a
    group come nearer to each other every time, should they (else 1).
    """

    period: float
    verdict: str
    periods: int
    widths: np.ndarray
    widest: str
    limit: float
    points: int
    since: float
    settling: float
    #: Whether the limit was given.
    allowed: bool = False

    @property
    def periodic(self) -> bool:
        """Whether the motion repeats itself, as far as its tolerance can tell."""
        return self.verdict == "periodic"

    @property
    def width(self) -> float:
        """The width of the widest group, for the number of periods found, or that seems nearest to one."""
        return float(self.widths[_fewest(self.widths, self.limit) - 1])

    def __str__(self) -> str:
        n = _fewest(self.widths, self.limit)
        every = "every period" if n == 1 else f"every {n} periods"
        if self.periodic:
            return (
                f"periodic: the motion repeats itself {every}, to within {self.width:.2g} sizes over {self.points} "
                f"periods from t = {self.since:.6g} on ({self._limit})"
            )
        if self.verdict == "undecided":
            advice = (
                f"it still settles, by a factor of {self.settling:.2g} each time: leave more of the start out"
                if self.settling < 1.0
                else "a smaller tolerance would tell"
            )
            return (
                f"undecided: the motion comes back {every} to within {self.width:.2g} sizes ('{self.widest}'), and "
                f"{self._limit}; {advice}"
            )
        most = "one period" if len(self.widths) == 1 else f"up to {len(self.widths)} periods"
        return (
            f"not periodic with {most}: even {every} it comes back no nearer than "
            f"{self.width:.2g} sizes ('{self.widest}')"
        )

    @property
    def _limit(self) -> str:
        return f"{self.limit:.2g} {'is allowed' if self.allowed else 'is what the tolerance explains'}"

    def __repr__(self) -> str:
        return f"Periodicity({self})"


@explained
def periodicity(
    result: Result, period: float, *, skip: float | None = None, most: int = 16, within: float | None = None
) -> Periodicity:
    """Whether a motion repeats itself every ``period``, or every so many of them (up to ``most``).

    ``skip`` is the time at the start that is left out (default: half of the motion). All coordinates and velocities are
    compared at whole periods, which must be output times; angles count without their whole turns. ``within`` is how far
    apart, in mechanism sizes, points of one motion may be; by default what the tolerance of the run explains.
    """
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or most < 1:
        raise ModelError(f"most must be a whole number of at least 1, not {shown(most)}")
    span = float(np.ptp(result.t)) if isinstance(result, Result) and len(result) else 0.0
    rows = section_rows(result, period, 0.5 * span if skip is None else skip)
    if len(rows) < VISITS:
        raise ModelError(
            f"only {len(rows)} whole periods begin or end behind the start-up: {VISITS} at least are needed"
        )
    limit = _explained(result) if within is None else number_within(within, "within", 0.0, np.inf)
    points = _Points(result, rows)
    widths = np.array([points.width(n) for n in range(1, min(int(most), len(rows) // VISITS) + 1)])
    best = _fewest(widths, limit)
    n = best if widths[best - 1] <= limit else 0
    verdict = "periodic" if n else "undecided" if widths.min() <= SEEMING else "not periodic"
    return Periodicity(
        float(period),
        verdict,
        n,
        widths,
        points.widest(best),
        limit,
        len(rows) - 1,
        float(result.t[rows[0]]),
        points.settling(best),
        within is not None,
    )


def _fewest(widths: np.ndarray, limit: float) -> int:
    """The fewest periods after which a motion comes back near enough, or about as near as after more.

    Widths below the limit are not compared: errors may repeat themselves less often than the motion.
    """
    narrow = widths[widths <= limit]
    return int(np.argmax(widths <= ALIKE * (narrow[0] if len(narrow) else widths.min()))) + 1


def _explained(result: Result) -> float:
    """How far apart points of one motion may be."""
    tolerance, step = result.provenance.get("tolerance"), result.provenance.get("step")
    if tolerance is None or step:
        why = "has fixed steps" if step else "does not say its tolerance"
        raise ModelError(f"this motion {why}: say within= how many sizes of each other points count as the same")
    return min(EXPLAINED * float(tolerance), LARGEST)


class _Points:
    """The points of a Poincaré map in sizes, one row each: all coordinates and velocities."""

    def __init__(self, result: Result, rows: np.ndarray) -> None:
        if result.model is None:
            raise ModelError("this result does not know its model any more, so the size of its mechanism is not known")
        scale = Posed(result.model, result.provenance.get("parameters")).scale
        self.names = [names[0] for names in result.columns] + [names[1] for names in result.columns]
        self.angles = np.array([result.kind(name) == "angle" for name in self.names])
        turns = self.angles[: len(scale)]
        reach = np.where(turns, scale, np.maximum(scale, np.ptp(result.q, axis=0)))
        pace = float(np.abs(result.v / reach).max(initial=0.0)) or 1.0
        self.unit = np.concatenate([reach, pace * reach])
        self.values = np.hstack([result.q[rows], result.v[rows]])

    def _apart(self, n: int) -> np.ndarray:
        """The width of the widest of n groups, per coordinate."""
        return np.max([np.ptp(self._near(self.values[k::n], k), axis=0) for k in range(n)], axis=0) / self.unit

    def _near(self, values: np.ndarray, k: int) -> np.ndarray:
        """Points with their angles next to those of the k-th."""
        return np.where(self.angles, near(values, self.values[k]), values)

    def width(self, n: int) -> float:
        """The width of the widest of n groups."""
        return float(self._apart(n).max())

    def widest(self, n: int) -> str:
        """What is off most."""
        return self.names[int(self._apart(n).argmax())]

    def settling(self, n: int) -> float:
        """By which factor the distance of a point from the next of its group falls from one to the next; 1 if not."""
        apart = self.values[n:] - self.values[:-n]
        apart = np.where(self.angles, near(apart, 0.0), apart) / self.unit
        distance = np.abs(apart).max(axis=1)
        first = float(distance[:n].max())
        fallen = np.flatnonzero(np.maximum.accumulate(distance[::-1])[::-1] < FALLEN * first)  # for good
        if not len(fallen) or distance[fallen[0]] == 0.0:
            return 1.0
        return float((distance[fallen[0]] / first) ** (n / fallen[0]))
