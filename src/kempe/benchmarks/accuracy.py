"""What a tolerance buys: global errors of every method in tolerances, their steps, and the energy after a long time.

**Global error** of a run is the largest, over ``OUTPUTS`` equal intervals of the run and all coordinates, of: a
position's error in sizes of the mechanism (its largest extent as drawn; radians for angles), and a velocity's error in
the same per time of the fastest motion of the run. It is given over the tolerance, which bounds *local* errors: what is
made of them depends on how many steps there are, and on how the mechanism lets a disturbance grow.

**The truth** is a closed form, SciPy's DOP853 on equations in two angles, or Kempe's own ``auto`` at 1e-13. The last is
compared with ``augmented``, another formulation: their difference says how far it can be trusted.

Every run has a budget of seconds. A method that needs more at a tolerance is not tried at a smaller one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import kempe as kp
from kempe.benchmarks.record import Record

BENCH = "accuracy"
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
OUTPUTS = 20
GRAVITY = 9.81
TARGET = 100.0
"""A global error of so many tolerances is what a user may expect of a method at the most."""
PERIODS = 10_000
BUDGET, LONG_BUDGET = 1.0, 6.0
"""Seconds of processor time for one run of a few periods, and of ten thousand."""
TRUE = 1e-13
SEEDS = {"tree": (0, 2, 4), "four-bar": (0, 4), "slider-crank": (0, 1, 4)}

Truth = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Positions and velocities at times, one row per time, in the order of the model's coordinates."""


@dataclass(frozen=True)
class Problem:
    """A mechanism with its start and its duration, and a truth where one is known that does not come from Kempe."""

    name: str
    model: kp.Mechanism
    end: float
    velocities: dict[str, float]
    truth: Truth | None = None


# --- problems --------------------------------------------------------------------------------------------------------


def pendulum_motion(amplitude: float, frequency: float, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The angle from the lowest position, and its rate, of a pendulum let go at an amplitude: Jacobi's functions."""
    from scipy.special import ellipj, ellipk

    k = np.sin(amplitude / 2)
    sn, cn, dn, _ = ellipj(ellipk(k**2) - frequency * t, k**2)
    return 2 * np.arcsin(k * sn), -2 * k * frequency * cn * dn / np.sqrt(1 - (k * sn) ** 2)


def pendulum(amplitude: float = 2.0) -> Problem:
    """A uniform rod of one metre; its motion is known in closed form."""
    m = kp.Mechanism("pendulum", gravity=(0.0, -GRAVITY))
    angle = amplitude - np.pi / 2
    rod = m.body("rod", mass=1.0, inertia=1 / 12, at=(np.cos(angle) / 2, np.sin(angle) / 2), angle=angle)
    m.revolute("pin", m.ground, rod, on_i=(0, 0), on_j=(-0.5, 0))

    def truth(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        swing, rate = pendulum_motion(amplitude, np.sqrt(1.5 * GRAVITY), t)
        turn = swing - np.pi / 2
        c, s = np.cos(turn) / 2, np.sin(turn) / 2
        return np.column_stack([c, s, turn]), np.column_stack([-s * rate, c * rate, rate])

    return Problem("pendulum", m, 5.0, {}, truth)


def double_pendulum() -> Problem:
    """Two uniform rods of one metre; SciPy integrates its two angles."""
    start = np.array([-0.8, -1.9])
    m = kp.Mechanism("double pendulum", gravity=(0.0, -GRAVITY))
    corner = np.array([np.cos(start[0]), np.sin(start[0])])
    tip = np.array([np.cos(start[1]), np.sin(start[1])])
    upper = m.body("upper", mass=1.0, inertia=1 / 12, at=corner / 2, angle=start[0])
    lower = m.body("lower", mass=1.0, inertia=1 / 12, at=corner + tip / 2, angle=start[1])
    m.revolute("O", m.ground, upper, on_i=(0, 0), on_j=(-0.5, 0))
    m.revolute("A", upper, lower, on_i=(0.5, 0), on_j=(-0.5, 0))

    def rate(_t: float, y: np.ndarray) -> np.ndarray:
        c, s = np.cos(y[1] - y[0]), np.sin(y[1] - y[0])
        mass = np.array([[4 / 3, c / 2], [c / 2, 1 / 3]])
        force = [-1.5 * GRAVITY * np.cos(y[0]) + s / 2 * y[3] ** 2, -GRAVITY / 2 * np.cos(y[1]) - s / 2 * y[2] ** 2]
        return np.concatenate([y[2:], np.linalg.solve(mass, force)])

    def truth(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        from scipy.integrate import solve_ivp

        y = solve_ivp(rate, (0.0, t[-1]), [*start, 0.0, 0.0], "DOP853", t, rtol=3e-14, atol=1e-14).y
        (c1, c2), (s1, s2), (w1, w2) = np.cos(y[:2]), np.sin(y[:2]), y[2:]
        q = [c1 / 2, s1 / 2, y[0], c1 + c2 / 2, s1 + s2 / 2, y[1]]
        v = [-s1 / 2 * w1, c1 / 2 * w1, w1, -s1 * w1 - s2 / 2 * w2, c1 * w1 + c2 / 2 * w2, w2]
        return np.column_stack(q), np.column_stack(v)

    return Problem("double pendulum", m, 3.0, {}, truth)


class _Drawing:
    """A random mechanism under its weight, with springs and dampers, of about one metre."""

    def __init__(self, kind: str, seed: int) -> None:
        self.rng = np.random.default_rng([len(kind), seed])
        self.m = kp.Mechanism(f"{kind} {seed}", gravity=(0.0, -GRAVITY))
        self.bodies: list[tuple[Any, np.ndarray]] = []
        getattr(self, "_" + kind.replace("-", "_"))()
        for k in range(int(self.rng.integers(1, 3))):
            body, at = self.bodies[int(self.rng.integers(len(self.bodies)))]
            foot = at + np.array([0.7, 0.7]) * np.sign(self.rng.uniform(-1, 1, 2))
            stiffness, damping = float(self.rng.uniform(5, 60)), float(self.rng.choice([0.0, 0.5]))
            self.m.spring(f"spring {k}", self.m.ground.on(foot), body, stiffness=stiffness, damping=damping)

    def _rod(self, a: Any, b: Any) -> Any:
        """A uniform rod between two places."""
        a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
        d, mass = b - a, float(self.rng.uniform(0.5, 2.0))
        name, angle = f"rod {len(self.bodies)}", float(np.arctan2(d[1], d[0]))
        body = self.m.body(name, mass=mass, inertia=mass * float(d @ d) / 12, at=(a + b) / 2, angle=angle)
        self.bodies.append((body, (a + b) / 2))
        return body

    def _pin(self, i: Any, j: Any, at: Any) -> None:
        self.m.revolute(f"pin {len(self.m.elements)}", i, j, at=at)

    def _tree(self) -> None:
        for k in range(int(self.rng.integers(2, 5))):
            parent, near = (self.m.ground, np.zeros(2)) if k == 0 else self.bodies[int(self.rng.integers(k))]
            turn = float(self.rng.uniform(-2.6, -0.5))
            self._pin(parent, self._rod(near, near + 0.5 * np.array([np.cos(turn), np.sin(turn)])), near)

    def _four_bar(self) -> None:
        turn = float(self.rng.uniform(0.3, 1.2))
        O, D = np.zeros(2), np.array([1.0, 0.0])
        A, B = 0.4 * np.array([np.cos(turn), np.sin(turn)]), np.array([1.1, float(self.rng.uniform(0.6, 0.9))])
        crank, coupler, rocker = self._rod(O, A), self._rod(A, B), self._rod(B, D)
        for i, j, at in (
            (self.m.ground, crank, O),
            (crank, coupler, A),
            (coupler, rocker, B),
            (rocker, self.m.ground, D),
        ):
            self._pin(i, j, at)

    def _slider_crank(self) -> None:
        turn = float(self.rng.uniform(0.3, 2.0))
        A = 0.3 * np.array([np.cos(turn), np.sin(turn)])
        B = np.array([A[0] + 0.9, 0.0])
        crank, rod = self._rod((0, 0), A), self._rod(A, B)
        block = self.m.body("block", mass=1.0, inertia=0.01, at=B)
        self._pin(self.m.ground, crank, (0, 0))
        self._pin(crank, rod, A)
        self._pin(rod, block, B)
        self.m.translational("guide", self.m.ground, block, axis=(1, 0), at=(0, 0))
        self.m.torque("motor", crank, float(self.rng.uniform(0.5, 2.0)))


def problems() -> list[Problem]:
    """Two with a truth from elsewhere, and the random ones."""
    drawn = [(kind, seed) for kind, seeds in SEEDS.items() for seed in seeds]
    random = [Problem(f"{kind} {seed}", _Drawing(kind, seed).m, 3.0, {}) for kind, seed in drawn]
    return [pendulum(), double_pendulum(), *random]


# --- global errors ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A problem with its motion and how far that can be trusted."""

    problem: Problem
    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    unit: np.ndarray
    doubt: float

    def error(self, q: np.ndarray, v: np.ndarray) -> float:
        """The global error, as the top of this module defines it."""
        rate = float(np.abs(self.v / self.unit).max())
        return max(float(np.abs((q - self.q) / self.unit).max()), float(np.abs((v - self.v) / self.unit).max()) / rate)


def known(problem: Problem) -> Known:
    """Find the truth of a problem."""
    t = np.linspace(0.0, problem.end, OUTPUTS + 1)
    first, second = (
        problem.model.simulate(t, method=method, tolerance=TRUE, velocities=problem.velocities)
        for method in ("auto", "augmented")
    )
    lengths = np.array([not name.endswith(".angle") for name, *_ in first.columns])
    places = first.q[0][lengths].reshape(-1, 2)
    size = float(np.ptp(np.vstack([places, np.zeros(2)]), axis=0).max())  # every mechanism here is held at the origin
    unit = np.where(lengths, size, 1.0)
    q, v = problem.truth(t) if problem.truth else (first.q, first.v)
    other = first if problem.truth else second
    return Known(problem, t, q, v, unit, Known(problem, t, q, v, unit, 0.0).error(other.q, other.v))


@dataclass(frozen=True)
class Sample:
    """One method on one problem at one tolerance."""

    error: float
    steps: int
    seconds: float


def sample(case: Known, method: str, tolerance: float, budget: float = BUDGET) -> Sample | str:
    """Run it; or why there is nothing to tell."""
    problem, begin = case.problem, time.process_time()

    def watch(_t: float, _end: float) -> None:
        if time.process_time() - begin > budget:
            raise KeyboardInterrupt  # simulate then returns what there is

    try:
        result = problem.model.simulate(
            case.t, method=method, tolerance=tolerance, velocities=problem.velocities, progress=watch
        )
    except kp.KempeError as error:
        return str(error)
    if result.status == "interrupted":
        return "takes too long"
    if not result.success:
        return result.message
    return Sample(case.error(result.q, result.v), int(result.stats["steps"]), time.process_time() - begin)


@dataclass(frozen=True)
class Row:
    """A method at a tolerance, over all problems."""

    method: str
    tolerance: float
    median: float | None
    largest: float | None
    steps: float | None
    failures: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether every problem was solved."""
        return not self.failures


def rows(cases: list[Known]) -> Iterator[Row]:
    """Every method at every tolerance that it reaches within the budget."""
    for method in kp.METHODS:
        sample(cases[0], method, 1e-3)  # compiled
        for tolerance in TOLERANCES:
            found, failures = [], []
            for case in cases:
                one = sample(case, method, tolerance)
                if isinstance(one, Sample):
                    found.append(one)
                else:
                    failures.append(f"{case.problem.name}: {one}")
                    if one == "takes too long":
                        break
            errors = [one.error / tolerance for one in found]
            whole = not failures
            yield Row(
                method,
                tolerance,
                float(np.median(errors)) if whole else None,
                max(errors) if whole else None,
                float(np.median([one.steps for one in found])) if whole else None,
                tuple(failures),
            )
            if any("takes too long" in each for each in failures):
                break


# --- energy after a long time ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drift:
    """The energy of a motion without losses after many periods."""

    mechanism: str
    method: str
    periods: float
    drift: float
    steps: float
    """Per period."""
    words: str


@dataclass(frozen=True)
class Swing:
    """A mechanism that repeats its motion for ever, and its period."""

    name: str
    model: kp.Mechanism
    velocities: dict[str, float]
    period: float
    parallel: tuple[str, ...] = ()
    """Angles that stay alike as long as the motion keeps to its branch."""


def swinging_pendulum() -> Swing:
    """The pendulum of one metre, let go at two radians."""
    from scipy.special import ellipk

    problem = pendulum(2.0)
    return Swing("pendulum", problem.model, {}, float(4 * ellipk(np.sin(1.0) ** 2) / np.sqrt(1.5 * GRAVITY)))


def double_parallelogram() -> Swing:
    """Three cranks and two couplers of one metre and one kilogram; turns over, through its singular positions.

    All cranks turn by the same angle: a pendulum with kinetic energy 3/2 w^2 and potential energy 7/2 g sin(angle),
    started upright with 1 rad/s. The constraints are dependent whenever the cranks lie flat, twice in every turn.
    """
    from scipy.integrate import quad

    m = kp.Mechanism("double parallelogram", gravity=(0.0, -GRAVITY))
    tips = []
    for k in range(3):
        crank = m.body(f"crank {k}", mass=1.0, inertia=1 / 12, at=(k, 0.5), angle=np.pi / 2)
        m.revolute(f"foot {k}", m.ground, crank, at=(k, 0))
        tips.append(crank)
    for k in range(2):
        coupler = m.body(f"coupler {k}", mass=1.0, inertia=1 / 12, at=(k + 0.5, 1.0), angle=0.0)
        m.revolute(f"tip {k}", tips[k], coupler, at=(k, 1))
        m.revolute(f"end {k}", coupler, tips[k + 1], at=(k + 1, 1))
    period = quad(lambda a: 1 / np.sqrt(1.0 + 7 / 3 * GRAVITY * (1 - np.cos(a))), 0, 2 * np.pi, epsabs=1e-13)[0]
    cranks = tuple(f"crank {k}" for k in range(3))
    speeds = {f"{name}.omega": 1.0 for name in cranks}
    return Swing("double parallelogram", m, speeds, float(period), tuple(f"{name}.angle" for name in cranks))


def drift(swing: Swing, method: str, budget: float = LONG_BUDGET) -> Drift:
    """The largest change of energy over ten thousand periods, in the largest kinetic energy."""
    begin = time.process_time()

    def watch(_t: float, _end: float) -> None:
        if time.process_time() - begin > budget:
            raise KeyboardInterrupt  # simulate then returns what there is

    try:
        end, start = PERIODS * swing.period, swing.velocities
        # 997: at ever other places of a period
        result = swing.model.simulate(end, steps=997, audit=False, method=method, velocities=start, progress=watch)
        words = "" if result.success else result.message
        words = "" if result.status == "interrupted" else words
    except kp.ConvergenceError as error:
        result, words = error.result, str(error)
    if result is None:
        return Drift(swing.name, method, 0.0, np.nan, np.nan, words)
    kinetic = result.array("energy.kinetic")
    total = kinetic + result.array("energy.potential")
    reached = len(result.t)
    if swing.parallel:
        angles = np.column_stack([result.array(name) for name in swing.parallel])
        apart = np.flatnonzero(np.ptp(angles, axis=1) > 1e-2)
        if len(apart):
            reached = int(apart[0])
            words = f"leaves its branch before t = {result.t[reached]:.4g}"
    t = float(result.t[max(reached - 1, 0)])
    periods = t / swing.period
    change = float(np.abs(total[:reached] - total[0]).max() / kinetic[:reached].max()) if reached else np.nan
    steps = float(result.stats["steps"]) / max(float(result.t[-1]) / swing.period, 1e-300)
    return Drift(swing.name, method, periods, change, steps, words)


def drifts() -> Iterator[Drift]:
    """Every method on both mechanisms."""
    for swing in (swinging_pendulum(), double_parallelogram()):
        for method in kp.METHODS:
            yield drift(swing, method)


# --- what is reported ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    """All that was measured."""

    cases: list[Known]
    rows: list[Row]
    drifts: list[Drift]


@cache
def measured() -> Report:
    """Measure everything, once."""
    cases = [known(problem) for problem in problems()]
    return Report(cases, list(rows(cases)), list(drifts()))


def records() -> Iterator[Record]:
    """One record for each figure; the peer is a target."""
    report = measured()
    doubt = max(case.doubt for case in report.cases)
    about = (
        f"{len(report.cases)} mechanisms over 3 to 5 s, errors in mechanism sizes, radians, and those per time of the "
        f"fastest motion; the truth is known to {doubt:.1e}"
    )
    for row in report.rows:
        name = f"{row.method} at {row.tolerance:g}: global error over tolerance"
        if row.median is None or row.largest is None or row.steps is None:
            continue
        steps = f"{about}; {row.steps:.0f} steps in the median"
        for which, value in (("median", row.median), ("largest", row.largest)):
            ratio = TARGET / value if value > 0 else None
            yield Record(BENCH, f"{name}, {which}", value, "target", TARGET, "tolerances", ratio, steps)
    for one in report.drifts:
        about = f"{one.periods:.0f} periods, {one.steps:.0f} steps each, tolerance 1e-8"
        about += f"; {one.words}" if one.words else ""
        quantity = f"{one.method}: drift of energy, {one.mechanism}"
        yield Record(BENCH, quantity, one.drift, "target", None, "largest kinetic energies", None, about)


def markdown() -> str:
    """The tables of the documentation."""
    report = measured()
    methods = list(dict.fromkeys(row.method for row in report.rows))
    cells = {(row.method, row.tolerance): row for row in report.rows}
    heads = [f"{tolerance:.0e}".replace("e-0", "e-") for tolerance in TOLERANCES]

    def table(first: str, show: Callable[[Row], str]) -> list[str]:
        lines = [f"| {first} | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
        for method in methods:
            entries = [cells.get((method, tolerance)) for tolerance in TOLERANCES]
            lines.append(f"| `{method}` | " + " | ".join("-" if e is None else show(e) for e in entries) + " |")
        return lines

    def errors(row: Row) -> str:
        if row.median is None or row.largest is None:
            late = any("takes too long" in words for words in row.failures)
            return "-" if late else f"{len(row.failures)} stop"
        return f"{row.median:.2g} / {row.largest:.2g}"

    lines = table("median / largest error", errors)
    lines += ["", *table("steps", lambda row: "-" if row.steps is None else f"{row.steps:.0f}")]
    swings = list(dict.fromkeys(one.mechanism for one in report.drifts))
    long = {(one.mechanism, one.method): one for one in report.drifts}
    lines += ["", "| drift of energy | " + " | ".join(swings) + " |", "|---" * (len(swings) + 1) + "|"]
    for method in methods:
        shown = [_shown(long[swing, method]) for swing in swings]
        lines.append(f"| `{method}` | " + " | ".join(shown) + " |")
    doubt = max(case.doubt for case in report.cases)
    lines += ["", f"{len(report.cases)} mechanisms; their true motions are known to {doubt:.1e}."]
    return "\n".join(lines)


def _shown(one: Drift) -> str:
    """A drift with the number of periods it was reached in, and what ended it."""
    ended = "leaves its branch" if "branch" in one.words else "stops" if one.words else ""
    reached = f" in {one.periods:.0f} periods" if one.periods < PERIODS - 1 else ""
    return f"{one.drift:.1e}{reached}" + (f"; {ended}" if ended else "")
