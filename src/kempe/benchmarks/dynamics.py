"""Dynamics beside Exudyn, MuJoCo, SciPy, scikit-sundae and CasADi: steps, digits, first result, batches."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import kempe as kp
from kempe.analysis.dynamics import Simulation
from kempe.benchmarks import peers
from kempe.benchmarks.record import Record, less_is_better, more_is_better

BENCH = "dynamics"
CHAINS = (10, 100, 1000)
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11)
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


def _steps(problem: peers.Problem, step: float, count: int, repeats: int = 5) -> tuple[float, float, float]:
    """Seconds per step of generalised-alpha, final violation and final error."""
    model, best = build(problem), np.inf
    for _ in range(repeats):
        run = Simulation(model, [0.0, count * step], method="alpha", step=step, audit=False)
        begin = time.perf_counter()
        result = run.run()
        best = min(best, time.perf_counter() - begin)
    q = result.q[-1]
    violated = max(result.stats["largest violation"], problem.violation(q))
    return best / count, violated, peers.error(problem, q, count * step)


def _beside_exudyn() -> Iterator[Record]:
    cases = [(peers.slider_crank(), 1e-4, 10_000, "slider-crank")]
    cases += [(peers.chain(n), 1e-3, peers.chain_steps(n), f"chain of {n}") for n in CHAINS]
    for problem, step, count, name in cases:
        ours, violated, error = _steps(problem, step, count)
        us = f"generalised-alpha, radius 0.9, h = {step:g}; violation {violated:.1e}, error {error:.1e}"
        try:
            sparse = ("EigenSparse",) if len(problem.bars) > 20 else ("EXUdense", "EigenSparse")
            strict = min(
                (
                    peers.exudyn_run(problem, peers.Settings(solver, newton, 1e-8), step, count)
                    for solver in sparse
                    for newton in ("full", "modified")
                ),
                key=lambda timing: timing.seconds_per_step,
            )
            free = peers.exudyn_fastest(problem, step, count, linear_solvers=sparse)
        except ImportError:
            yield less_is_better(BENCH, f"{name}: time per step", ours * 1e6, "Exudyn", None, "us", us)
            continue
        for label, timing in (("Exudyn, same tolerance", strict), ("Exudyn, its fastest settings", free)):
            them = f"{timing.configuration}: violation {timing.violation:.1e}, error {timing.error:.1e}"
            value = timing.seconds_per_step * 1e6
            yield less_is_better(BENCH, f"{name}: time per step", ours * 1e6, label, value, "us", f"{us}; peer: {them}")


def _growth() -> Iterator[Record]:
    """Ten times the bodies, ten times the time."""
    small, large = (_steps_only(peers.chain(n), 1e-3, 20) for n in (1000, 10_000))
    yield less_is_better(
        BENCH,
        "chain of 10000: time per step and body",
        large / 10_000 * 1e9,
        "chain of 1000",
        small / 1000 * 1e9,
        "ns",
        "generalised-alpha, 20 steps of 0.001; a ratio of 1 is linear growth",
    )


def _steps_only(problem: peers.Problem, step: float, count: int) -> float:
    model, best = build(problem), np.inf
    for _ in range(3):
        run = Simulation(model, [0.0, count * step], method="alpha", step=step, audit=False)
        begin = time.perf_counter()
        run.run()
        best = min(best, time.perf_counter() - begin)
    return best / count


def _beside_mujoco() -> Iterator[Record]:
    problem = peers.slider_crank()
    ours, violated, error = _steps(problem, 1e-4, 10_000)
    try:
        timings = [peers.mujoco_slider_crank(), peers.mujoco_slider_crank("RK4")]
    except ImportError:
        yield less_is_better(BENCH, "slider-crank: time per step", ours * 1e6, "MuJoCo", None, "us", "h = 1e-4")
        return
    for timing in timings:
        about = f"h = 1e-4; error {error:.1e}, peer {timing.error:.1e}; {timing.configuration}"
        peer = f"MuJoCo, {timing.configuration}"
        yield less_is_better(
            BENCH, "slider-crank: time per step", ours * 1e6, peer, timing.seconds_per_step * 1e6, "us", about
        )
        yield less_is_better(
            BENCH, "slider-crank: largest violation", max(violated, 1e-16), peer, timing.violation, "m", about
        )


def kempe_curve(problem: str, method: str) -> peers.Curve:
    """Time and error over tolerances."""
    given = peers.PRECISION_PROBLEMS[problem]()
    model, points, violations = build(given), [], []
    for tolerance in TOLERANCES:
        best = np.inf
        for _ in range(7):
            run = Simulation(model, [0.0, given.end_time], method=method, tolerance=tolerance, audit=False)
            begin = time.perf_counter()
            result = run.run()
            best = min(best, time.perf_counter() - begin)
        points.append((tolerance, best, peers.error(given, result.q[-1])))
        violations.append(given.violation(result.q[-1]))
    return peers.Curve(f"Kempe, {method}", points, violations)


def _work_precision() -> Iterator[Record]:
    everything: dict[str, list[peers.Curve]] = {}
    for problem in peers.PRECISION_PROBLEMS:
        ours = [kempe_curve(problem, method) for method in ("auto", "radau", "bdf")]
        try:
            theirs = peers.work_precision(problem)
        except ImportError:
            theirs = []
        everything[problem] = [*ours, *theirs]
        best = min(c.seconds_at(1e-6) or np.inf for c in ours[:1])
        families: dict[str, tuple[float, str]] = {}
        for curve in theirs:
            seconds, family = curve.seconds_at(1e-6), _family(curve)
            if seconds is not None and seconds < families.get(family, (np.inf, ""))[0]:
                families[family] = (seconds, curve.peer)
        for _, (seconds, peer) in sorted(families.items()):
            yield less_is_better(
                BENCH,
                f"{problem}: time at an error of 1e-6",
                best * 1e3,
                peer,
                seconds * 1e3,
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
            known, new = best.get(family), curve.seconds_at(1e-6)
            if new is not None and (known is None or new < (known.seconds_at(1e-6) or np.inf)):
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


_COLD = """
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


def _first_result() -> Iterator[Record]:
    """A fresh process, a model it has not seen, its first result."""
    took = []
    for bodies in (4, 5, 6):
        run = subprocess.run(
            [sys.executable, "-c", _COLD.format(bodies=bodies)], capture_output=True, text=True, check=True
        )
        took.append(float(run.stdout))
    about = "import, a chain of 4 to 6 bodies with a spring, one second simulated; element kernels and solvers cached"
    yield less_is_better(BENCH, "cold process to first result", float(np.median(took)), "target", 2.0, "s", about)


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
    m, rng, count, end = four_bar(), np.random.default_rng(0), 1000, 5.0
    designs = {"crank length": rng.uniform(0.8, 1.2, count), "coupler length": rng.uniform(3.5, 4.5, count)}
    grid = [0.0, end]
    kp.run_many(m, {k: v[:16] for k, v in designs.items()}, ["rocker.angle"], grid)
    seconds = {}
    for workers in (1, 2):
        best = np.inf
        for _ in range(3):
            begin = time.perf_counter()
            runs = kp.run_many(m, designs, ["rocker.angle"], grid, workers=workers)
            best = min(best, time.perf_counter() - begin)
        seconds[workers] = best
    begin = time.perf_counter()
    for k in range(100):
        single = m.simulate(grid, parameters={name: values[k] for name, values in designs.items()})
        assert abs(single.q[-1, 8] - runs["rocker.angle"][k, -1]) < 1e-4
    alone = (time.perf_counter() - begin) / 100
    about = f"1000 four-bars of random lengths, 5 s each, tolerance 1e-8, {int(runs.ok.sum())} complete"
    each = seconds[2] / count * 1e3
    yield less_is_better(BENCH, "run_many: time per design", each, "simulate, one by one", alone * 1e3, "ms", about)
    gain = seconds[1] / seconds[2]
    where = f"{about}; {os.cpu_count()} cores"
    yield more_is_better(BENCH, "run_many: gain of the second core", gain, "target", 1.8, "", where)


def records() -> Iterator[Record]:
    """All comparisons."""
    yield from _beside_exudyn()
    yield from _growth()
    yield from _beside_mujoco()
    yield from _work_precision()
    yield from _first_result()
    yield from _many()
