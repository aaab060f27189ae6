"""Dynamics beside Exudyn, MuJoCo, SciPy, scikit-sundae and CasADi: steps, digits, first result, batches."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import kempe as kp
from kempe.benchmarks import peers, walls
from kempe.benchmarks.ours import simulating
from kempe.benchmarks.record import Record, less_is_better, more_is_better
from kempe.benchmarks.timing import Contender, Run, Timed, again, interleaved

BENCH = "dynamics"
KEMPE = "Kempe"
CHAINS = (10, 100, 1000)
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
PRECISION = 1e-6
PICTURE = Path("out") / "bench_dynamics.png"


def build(problem: peers.Problem) -> kp.Mechanism:
    """The mechanism that the peers are given too."""
    m = kp.Mechanism(problem.name, gravity=(0.0, -peers.GRAVITY))
    bodies = [m.body(b.name, mass=b.mass, inertia=b.inertia, at=b.start[:2], angle=b.start[2]) for b in problem.bars]
    for pin in problem.pins:
        i = m.ground if pin.body_i == peers.GROUND else bodies[pin.body_i]
        j = m.ground if pin.body_j == peers.GROUND else bodies[pin.body_j]
        m.revolute(pin.name, i, j, on_i=pin.on_i, on_j=pin.on_j)
    if problem.slider is not None:
        m.translational("guide", m.ground, bodies[problem.slider], axis=(1, 0), at=(0, 0))
    if problem.torque:
        m.torque("motor", bodies[0], problem.torque)
    return m


def _ended(problem: peers.Problem, timed: Timed, end: float) -> tuple[float, float]:
    """The largest violation of one of our runs, and its error at the end."""
    q = timed.outcome.q[-1]
    return max(timed.outcome.stats["largest violation"], problem.violation(q)), peers.error(problem, q, end)


def _beside_exudyn() -> Iterator[Record]:
    cases = [(peers.slider_crank(), 1e-4, 10_000, "slider-crank")]
    cases += [(peers.chain(n), 1e-3, peers.chain_steps(n), f"chain of {n}") for n in CHAINS]
    for problem, step, count, name in cases:
        contenders: dict[str | peers.Settings, Contender] = {KEMPE: _stepping(problem, step, count)}
        try:
            settings = peers.exudyn_settings(problem, step, count)
        except ImportError:
            settings = {}
        for each in itertools.chain(*settings.values()):
            contenders[each] = peers.exudyn_contender(problem, each, step, count)
        times = interleaved(contenders)
        violated, error = _ended(problem, times[KEMPE], count * step)
        ours = times[KEMPE].seconds / count * 1e6
        us = f"generalised-alpha, radius 0.9, h = {step:g}; violation {violated:.1e}, error {error:.1e}"
        if not settings:
            yield less_is_better(BENCH, f"{name}: time per step", ours, "Exudyn", None, "us", us)
        for label, tried in settings.items():
            best = min(tried, key=lambda each: times[each].seconds)
            timing = peers.exudyn_timing(problem, best, step, count, times[best])
            about = f"{us}; peer: {best}: violation {timing.violation:.1e}, error {timing.error:.1e}"
            value = timing.seconds_per_step * 1e6
            yield less_is_better(BENCH, f"{name}: time per step", ours, f"Exudyn, {label}", value, "us", about)


def _stepping(problem: peers.Problem, step: float, count: int) -> Contender:
    """Fixed steps of generalised-alpha."""
    return simulating(build(problem), [0.0, count * step], method="alpha", step=step, audit=False)


def _growth() -> Iterator[Record]:
    """Ten times the bodies, ten times the time."""
    count = 20
    times = interleaved({bodies: _stepping(peers.chain(bodies), 1e-3, count) for bodies in (1000, 10_000)})
    small, large = (timed.seconds / count / bodies * 1e9 for bodies, timed in times.items())
    yield less_is_better(
        BENCH,
        "chain of 10000: time per step and body",
        large,
        "chain of 1000",
        small,
        "ns",
        f"generalised-alpha, {count} steps of 0.001; a ratio of 1 is linear growth",
    )


def _beside_mujoco() -> Iterator[Record]:
    problem, step, count = peers.slider_crank(), 1e-4, 10_000
    contenders: dict[str, Contender] = {KEMPE: _stepping(problem, step, count)}
    theirs: tuple[str, ...] = peers.INTEGRATORS
    try:
        contenders |= {each: peers.mujoco_contender(problem, each, step, count) for each in theirs}
    except ImportError:
        theirs = ()
    times = interleaved(contenders)
    violated, error = _ended(problem, times[KEMPE], count * step)
    ours = times[KEMPE].seconds / count * 1e6
    timings = [peers.mujoco_timing(problem, each, step, count, times[each]) for each in theirs]
    if not timings:
        yield less_is_better(BENCH, "slider-crank: time per step", ours, "MuJoCo", None, "us", "h = 1e-4")
        return
    fastest, finest = peers.mujoco_fastest(timings), next(each for each in timings if each.configuration == "RK4")
    for timing in (fastest, finest):
        about = f"h = 1e-4; error {error:.1e}, peer {timing.error:.1e}; {timing.configuration}"
        peer = f"MuJoCo, {timing.configuration}"
        value = timing.seconds_per_step * 1e6
        yield less_is_better(BENCH, "slider-crank: time per step", ours, peer, value, "us", about)
        yield less_is_better(
            BENCH, "slider-crank: largest violation", max(violated, 1e-16), peer, timing.violation, "m", about
        )


def kempe_curve(problem: str, method: str) -> peers.Curve:
    """Time and error over tolerances."""
    given = peers.PRECISION_PROBLEMS[problem]()
    model = build(given)

    def contender(tolerance: float) -> Contender:
        ready = simulating(model, [0.0, given.end_time], method=method, tolerance=tolerance, audit=False)

        def last_position() -> Run:
            run = ready()
            return lambda: run().q[-1]

        return last_position

    return peers.sweep(f"Kempe, {method}", given, contender, TOLERANCES)


def _work_precision() -> Iterator[Record]:
    everything: dict[str, list[peers.Curve]] = {}
    for problem in peers.PRECISION_PROBLEMS:
        ours = [kempe_curve(problem, method) for method in ("auto", "radau", "bdf")]
        theirs = peers.work_precision(problem)
        everything[problem] = [*ours, *theirs]
        families: dict[str, list[peers.Curve]] = {}
        for curve in theirs:
            families.setdefault(_family(curve), []).append(curve)
        families = {family: peers.best_of(curves, PRECISION) for family, curves in families.items()}
        seconds = peers.timed_in_turn([ours[0], *itertools.chain(*families.values())], PRECISION)
        for _, curves in sorted(families.items()):
            if not curves:
                continue
            best = min(curves, key=lambda curve: seconds[curve.peer])
            yield less_is_better(
                BENCH,
                f"{problem}: time at an error of 1e-6",
                seconds[ours[0].peer] * 1e3,
                best.peer,
                seconds[best.peer] * 1e3,
                "ms",
                "end of the motion against minimal coordinates; Kempe: auto; set-up of both left out",
            )
    _picture(everything)


def _picture(everything: dict[str, list[peers.Curve]]) -> None:
    """Work-precision curves, one panel per problem: Kempe in colour, the best of each peer in grey tones."""
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(everything), figsize=(5 * len(everything), 4.6), sharey=True, squeeze=False)
    greys = ["0.15", "0.35", "0.5", "0.62", "0.72"]
    for axes, (problem, curves) in zip(panels[0], everything.items(), strict=True):
        best: dict[str, peers.Curve] = {}
        for curve in curves:
            family = _family(curve)
            if family == "Kempe":
                axes.loglog(*_points(curve), "o-", lw=2, ms=4, label=curve.peer)
                continue
            known, new = best.get(family), curve.seconds_at(PRECISION)
            if new is not None and (known is None or new < (known.seconds_at(PRECISION) or np.inf)):
                best[family] = curve
        for grey, curve in zip(greys, best.values(), strict=False):
            axes.loglog(*_points(curve), "s--", lw=1.2, ms=3.5, color=grey, label=curve.peer)
        axes.set(title=problem, xlabel="error at the end")
        axes.invert_xaxis()
        axes.grid(True, which="major", color="0.92")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0][0].set_ylabel("seconds")
    entries = {label: line for axes in panels[0] for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.tight_layout(rect=(0, 0.14, 1, 1))
    figure.legend(entries.values(), entries.keys(), loc="lower center", ncols=4, fontsize=9, frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=150)
    plt.close(figure)


def _family(curve: peers.Curve) -> str:
    """The package, and the solver where it has several: the best settings of each are compared."""
    solver = curve.peer.split(",")[0]
    return solver.split()[0] if solver.startswith("SciPy") else solver


def _points(curve: peers.Curve) -> tuple[list[float], list[float]]:
    kept = [(error, seconds) for _, seconds, error in curve.points if 0 < error < 1]
    return [p[0] for p in kept], [p[1] for p in kept]


_NEW_MODEL = """
import time; begin = time.perf_counter()
import kempe as kp
n = {bodies}
m = kp.Mechanism("new", gravity=(0, -9.81))
previous = m.ground
for k in range(n):
    body = m.body(f"b{{k}}", mass=1 + 0.1 * k, inertia=0.1, at=(k + 0.5, 0))
    m.revolute(f"j{{k}}", previous, body, on_i=(0.5 if k else 0.0, 0), on_j=(-0.5, 0))
    previous = body
m.spring("s", m.ground, previous, on_i=(n, 1), on_j=(0.5, 0), stiffness=20, damping=1)
m.simulate(1.0)
print(time.perf_counter() - begin)
"""
_FIRST_USE = """
import time
import kempe as kp
m = kp.Mechanism("slider-crank", gravity=(0, -9.81))
crank = m.body("crank", mass=0.038, inertia=7.4e-5, at=(0.0765, 0))
rod = m.body("rod", mass=0.076, inertia=5.9e-4, at=(0.306, 0))
slider = m.body("slider", mass=0.455, inertia=2.7e-6, at=(0.459, 0))
m.revolute("O", m.ground, crank, at=(0, 0))
m.revolute("A", crank, rod, at=(0.153, 0))
m.revolute("B", rod, slider, at=(0.459, 0))
m.translational("guide", m.ground, slider, axis=(1, 0))
m.torque("motor", crank, 0.1)
m.simulate(1.0)
print(time.time())
"""


def _printed(code: str, **environment: str) -> float:
    """The number that a fresh process prints."""
    command, given = [sys.executable, "-c", code], {**os.environ, **environment}
    return float(subprocess.run(command, env=given, capture_output=True, text=True, check=True).stdout)


def _first_result() -> Iterator[Record]:
    """A fresh process, a model it has not seen, its first result; and the very first use after installation."""
    took = [_printed(_NEW_MODEL.format(bodies=bodies)) for bodies in (4, 5, 6, 4, 5, 6)]
    about = "import, a chain of 4 to 6 bodies with a spring, one second simulated; element kernels and solvers cached"
    yield less_is_better(BENCH, "cold process to first result", min(took), "target", 2.0, "s", f"{about}; best of 6")
    with tempfile.TemporaryDirectory() as empty:
        caches = {name: str(Path(empty) / name) for name in ("NUMBA_CACHE_DIR", "KEMPE_CACHE")}
        begin = time.time()
        seconds = _printed(_FIRST_USE, **caches) - begin
    about = "fresh process with empty caches, a slider-crank, one second simulated; from the start of the process; once"
    yield less_is_better(BENCH, "first use to first result", seconds, "target", 12.0, "s", about)


def four_bar() -> kp.Mechanism:
    """A four-bar whose lengths are parameters and whose masses follow them."""
    m = kp.Mechanism("four-bar", gravity=(0, -9.81))
    a, b = m.parameter("crank length", 1.0), m.parameter("coupler length", 4.0)
    crank = m.body("crank", mass=a, inertia=a**3 / 12, at=(0.27, 0.42), angle=1.0)
    coupler = m.body("coupler", mass=b, inertia=b**3 / 12, at=(2.4, 1.9), angle=0.5)
    rocker = m.body("rocker", mass=3, inertia=2.25, at=(4.0, 1.5), angle=1.6)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-a / 2, 0))
    m.revolute("A", crank, coupler, on_i=(a / 2, 0), on_j=(-b / 2, 0))
    m.revolute("B", coupler, rocker, on_i=(b / 2, 0), on_j=(1.5, 0))
    m.revolute("D", m.ground, rocker, on_i=(4, 0), on_j=(-1.5, 0))
    return m


def _many() -> Iterator[Record]:
    m, rng, count, few, end = four_bar(), np.random.default_rng(0), 1000, 25, 5.0
    designs = {"crank length": rng.uniform(0.8, 1.2, count), "coupler length": rng.uniform(3.5, 4.5, count)}
    grid = [0.0, end]

    def one_by_one() -> list[float]:
        given = [{name: float(values[k]) for name, values in designs.items()} for k in range(few)]
        return [float(m.simulate(grid, parameters=each)["rocker.angle"][-1]) for each in given]

    def together(workers: int) -> Contender:
        return again(lambda: kp.run_many(m, designs, ["rocker.angle"], grid, workers=workers))

    kp.run_many(m, {k: v[:16] for k, v in designs.items()}, ["rocker.angle"], grid)  # compiles
    times = interleaved({"two": together(2), "one": together(1), "alone": again(one_by_one)})
    runs = times["two"].outcome
    apart = np.abs(np.array(times["alone"].outcome) - runs["rocker.angle"][:few, -1]).max()
    about = (
        f"{count} four-bars of random lengths, 5 s each, tolerance 1e-8, {int(runs.ok.sum())} complete; "
        f"one by one: the first {few}, ends differ by {apart:.0e}"
    )
    each, alone = times["two"].seconds / count * 1e3, times["alone"].seconds / few * 1e3
    yield less_is_better(BENCH, "run_many: time per design", each, "simulate, one by one", alone, "ms", about)
    single = times["one"].seconds / count * 1e3
    on_one = "run_many: time per design, one worker"
    yield less_is_better(BENCH, on_one, single, "simulate, one by one", alone, "ms", about)
    gain = times["one"].seconds / times["two"].seconds
    where = f"{about}; {os.cpu_count()} cores, which must be free of other work"
    yield more_is_better(BENCH, "run_many: gain of the second core", gain, "target", 1.8, "", where)


def records() -> Iterator[Record]:
    """All comparisons."""
    yield from _beside_exudyn()
    yield from _growth()
    yield from _beside_mujoco()
    yield from walls.records(BENCH)
    yield from _work_precision()
    yield from _first_result()
    yield from _many()
