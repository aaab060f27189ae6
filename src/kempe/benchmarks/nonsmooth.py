"""Impacts and dry friction beside Exudyn and MuJoCo: time at equal error, events per second.

Kempe ends a step at every impact, stick and slip, and has no error but that of its smooth motions between. The peers
step across with stiff springs and soft friction, whose error falls with the step. So every contender is given the
coarsest settings with which its error is within the same bound, and where a peer reaches it with none, that is said.
Siconos, which has events of its own, is not on PyPI, so that it cannot be a part of the ``bench`` extra.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import kempe as kp
from kempe.benchmarks import nonsmooth_peers as peers
from kempe.benchmarks import nonsmooth_problems as given
from kempe.benchmarks.nonsmooth_problems import GRAVITY, Problem
from kempe.benchmarks.ours import simulating
from kempe.benchmarks.record import Record, less_is_better, more_is_better
from kempe.benchmarks.timing import Contender, interleaved

BENCH = "nonsmooth"
KEMPE = "Kempe"
TOLERANCES = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)
AROUND = (0.97, 0.985, 1.0, 1.015, 1.03)
"""An error is the median over runs with tolerances, or steps, so many times the given one: where steps end near an
impact is a matter of chance, and a single run may be a hundred times better than its neighbours."""
LONGEST, NEAR = 1.0, 5.0
"""A peer's setting that takes longer than so many seconds is the last that is tried; one whose error is more than so
many times the bound is not looked at more closely."""


# --- Kempe's side -----------------------------------------------------------------------------------------------------


def box() -> kp.Mechanism:
    """The balls in their box."""
    m, (problem, _) = kp.Mechanism("balls in a box", gravity=(0, -GRAVITY)), given.balls()
    for k, place in enumerate(problem.start.reshape(-1, 2)):
        ball = m.point(f"ball {k}", at=tuple(place), mass=1.0)
        m.stop(f"left {k}", ball.x, 0.0, restitution=given.RESTITUTION)
        m.stop(f"right {k}", ball.x, given.WIDE, side="above", restitution=given.RESTITUTION)
        m.stop(f"floor {k}", ball.y, 0.0, restitution=given.RESTITUTION)
    return m


def block() -> kp.Mechanism:
    """The block on its spring."""
    m = kp.Mechanism("block on a spring")
    mass = m.point("block", at=(given.OUT, 0), fixed="y", mass=given.MASS)
    m.spring("spring", m.ground, mass, on_i=(-1, 0), stiffness=given.STIFFNESS, length=1.0)
    m.friction("rubbing", mass.x, friction=given.FRICTION, normal=given.MASS * GRAVITY)
    return m


def pendulum() -> kp.Mechanism:
    """The double pendulum on its slider."""
    m = kp.Mechanism("double pendulum on a slider", gravity=(0, -GRAVITY))
    slider = m.point("slider", at=(0, 0), fixed="y", mass=given.LOAD)
    ends = [m.point(f"end {k}", at=(k * given.LENGTH, 0), mass=given.LOAD) for k in (1, 2)]
    first, second = m.bar("first", slider, ends[0]), m.bar("second", *ends)
    quantities = (slider.x, kp.angle(m.ground, first), kp.angle(first, second))
    for name, quantity, friction in zip(("slide", "pin 1", "pin 2"), quantities, given.TORQUES, strict=True):
        m.friction(name, quantity, friction=1.0, normal=friction)
        m.measure(f"q {name}", quantity)
    return m


def loaded_pendulum(law: Callable[[float], Any] = lambda mu: mu) -> kp.Mechanism:
    """The pendulum of Garcia de Jalon and Bayo's Example 10.2: friction of what the joints carry, by some law."""
    m = kp.Mechanism("double pendulum with loaded joints", gravity=(0, -GRAVITY))
    slider = m.body("slider", mass=given.LOAD, inertia=1.0, at=(0, 0))
    links = [m.body(name, at=(k * given.LENGTH, 0)) for k, name in enumerate(("first", "second"))]
    for k, link in enumerate(links, start=1):
        end = m.point(f"end {k}", at=(k * given.LENGTH, 0), mass=given.LOAD)
        m.revolute(f"end of {link.name}", link, end, on_i=(given.LENGTH, 0))
    m.translational("slide", m.ground, slider, axis=(1, 0), at=(0, 0), friction=law(0.25))
    m.revolute("pin 1", slider, links[0], at=(0, 0), friction=law(0.14), radius=1.0)
    pin = m.revolute("pin 2", *links, at=(given.LENGTH, 0), friction=law(0.11), radius=1.0)
    for name, quantity in (("slide", slider.x), ("pin 1", links[0].angle), ("pin 2", pin.angle)):
        m.measure(f"q {name}", quantity)
    return m


def _histories(model: kp.Mechanism) -> list[str]:
    """The joint coordinates, in the order of the problems."""
    balls = [f"ball {k}.{axis}" for k in range(given.BALLS) for axis in "xy"]
    return balls if model.name == "balls in a box" else list(model.measures) or ["block.x"]


def _velocities(names: Sequence[str], problem: Problem) -> dict[str, float]:
    return {name.replace(".", ".v"): float(v) for name, v in zip(names, problem.velocity, strict=True)}


@dataclass(frozen=True)
class Choice:
    """A contender with the error it ends with, and how many events it met on the way."""

    words: str
    contender: Contender
    off: float
    events: int = 0
    seconds: float = 0.0


def ours(model: kp.Mechanism, problem: Problem, bound: float, **options: Any) -> Choice:
    """The coarsest tolerance within a bound; the finest where none is."""
    names = _histories(model)
    if problem.velocity.any():
        options["velocities"] = _velocities(names, problem)
    for tolerance in TOLERANCES:
        runs = {
            factor: simulating(model, [0.0, problem.end_time], tolerance=factor * tolerance, **options)
            for factor in AROUND
        }
        results = [timed.outcome for timed in interleaved(runs, budget=0.0).values()]
        errors = [problem.error(np.array([each.array(name)[-1] for name in names])) for each in results]
        found = Choice(f"tolerance {tolerance:g}", runs[1.0], float(np.median(errors)), len(results[2].events))
        if found.off <= bound:
            break
    return found


# --- the peers' -------------------------------------------------------------------------------------------------------


def _tried(way: peers.Way, problem: Problem, steps: int, bound: float) -> Choice:
    """One setting: its error, and where that may be within a bound, the median over its neighbours."""
    made = way.made(steps)
    timed = interleaved({steps: made}, rounds=1, budget=0.0)[steps]
    errors = [problem.error(timed.outcome())]
    if errors[0] <= NEAR * bound:
        others = {factor: way.made(round(steps * factor)) for factor in AROUND if factor != 1.0}
        errors += [problem.error(each.outcome()) for each in interleaved(others, budget=0.0).values()]
    words = f"{way.words}, h = {problem.end_time / steps:.1e}"
    return Choice(words, made, float(np.median(errors)), 0, timed.seconds)


def theirs(ways: Iterable[peers.Way], problem: Problem, bound: float) -> tuple[list[Choice], Choice | None]:
    """The two fastest settings of a peer within a bound; and, where none is, the most accurate one.

    Each way is tried with shorter and shorter steps until it is within, or slower than what is known to be.
    """
    within: list[Choice] = []
    others: list[Choice] = []
    for way in ways:
        for steps in way.steps:
            with contextlib.suppress(RuntimeError, ValueError), peers.silence():
                choice = _tried(way, problem, steps, bound)
                (within if choice.off <= bound else others).append(choice)
                if choice.off <= bound or choice.seconds > min([LONGEST, *(1.5 * each.seconds for each in within)]):
                    break
    best = min(others, key=lambda choice: choice.off) if others and not within else None
    return sorted(within, key=lambda choice: choice.seconds)[:2], best


def _beside(model: kp.Mechanism, problem: Problem, bound: float, count: int = 0) -> Iterator[Record]:
    """Seconds to an error, and where ``count`` says how many impacts there are, those per second."""
    kempe = ours(model, problem, bound)
    choices: dict[str, tuple[list[Choice], Choice | None]] = {}
    for peer, ways in (("Exudyn", peers.exudyn_ways), ("MuJoCo", peers.mujoco_ways)):
        with contextlib.suppress(ImportError):
            choices[peer] = theirs(ways(problem), problem, bound)
    contenders: dict[str, Contender] = {KEMPE: kempe.contender}
    contenders |= {f"{peer}{each.words}": each.contender for peer, (found, _) in choices.items() for each in found}
    with peers.silence():
        times = interleaved(contenders, budget=10.0)
    seconds = times[KEMPE].seconds
    about = f"{problem.about}; Kempe: {kempe.words}, {kempe.events} events, error {kempe.off:.1e}"
    for peer in ("Exudyn", "MuJoCo"):
        found, failed = choices.get(peer, ([], None))
        best = min(found, key=lambda each: times[f"{peer}{each.words}"].seconds, default=None)
        value = None if best is None else times[f"{peer}{best.words}"].seconds
        told = f"; peer: {best.words}, error {best.off:.1e}" if best else f"; peer: {_never(failed)}"
        name = f"{problem.name}: time at an error of {bound:g}"
        peer_value = None if value is None else value * 1e3
        yield less_is_better(BENCH, name, seconds * 1e3, peer, peer_value, "ms", about + told)
        if count:
            rate = None if value is None else count / value
            yield more_is_better(BENCH, f"{problem.name}: impacts", count / seconds, peer, rate, "1/s", about + told)


def _never(failed: Choice | None) -> str:
    if failed is None:
        return "not installed"
    return f"no setting reaches it within {LONGEST:g} s; the best: {failed.words}, error {failed.off:.1e}"


# --- what no peer can be given ----------------------------------------------------------------------------------------


def _to_rest() -> Iterator[Record]:
    """The balls until they lie still on the floor: each bounces ever faster, to the limit of the sequence."""
    problem, _ = given.balls()
    speeds = _velocities(_histories(box()), problem)
    run = interleaved({KEMPE: simulating(box(), [0.0, 6.0], velocities=speeds)}, budget=5.0)[KEMPE]
    events, seconds = len(run.outcome.events), run.seconds
    about = f"{given.BALLS} balls, 6 s, tolerance 1e-8, {events} impacts until all lie still; no peer has the limit"
    yield more_is_better(BENCH, "balls to rest: impacts", events / seconds, "target", 2000.0, "1/s", about)


def _smooth(bound: float = 2e-4) -> Iterator[Record]:
    """Friction of what joints carry, which neither peer knows: beside the smooth law that others would take."""
    ends = np.array([-0.45693026724866376, -1.7640325319330616, 0.22329194163897462])
    problem = Problem("double pendulum", np.zeros(3), np.zeros(3), 2.0, ends, "2 s of Example 10.2 (kempe validate)")
    kempe = ours(loaded_pendulum(), problem, bound)
    smooth = ours(loaded_pendulum(lambda mu: kp.Threlfall(mu, 1e-4)), problem, bound, method="radau")
    times = interleaved({KEMPE: kempe.contender, "smooth": smooth.contender}, budget=10.0)
    about = (
        f"{problem.about}, friction of the joints' own loads; sticking exactly: {kempe.words}, error {kempe.off:.1e}; "
        f"Threlfall's law below 1e-4 m/s, by radau: {smooth.words}, error {smooth.off:.1e}; "
        "Exudyn and MuJoCo have no friction of a joint's load"
    )
    name = f"{problem.name} with loaded joints: time at an error of {bound:g}"
    yield less_is_better(
        BENCH, name, times[KEMPE].seconds * 1e3, "smooth friction in Kempe", times["smooth"].seconds * 1e3, "ms", about
    )


CASES: Sequence[tuple[Callable[[], kp.Mechanism], Callable[[], Problem], float]] = (
    (block, given.block, 1e-6),
    (pendulum, given.pendulum, 1e-3),
)


def records() -> Iterator[Record]:
    """All comparisons."""
    problem, count = given.balls()
    yield from _beside(box(), problem, 1e-2, count)
    for build, problem_of, bound in CASES:
        yield from _beside(build(), problem_of(), bound)
    yield from _to_rest()
    yield from _smooth()
