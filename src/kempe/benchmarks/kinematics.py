"""Kinematics: full solutions per second beside pylinkage, compile time per element type, import time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

import numpy as np

import kempe as kp
from kempe.benchmarks.ours import compile_seconds
from kempe.benchmarks.record import Record, less_is_better, more_is_better
from kempe.benchmarks.timing import Contender, again, interleaved

BENCH = "kinematics"
SAMPLES = 100_000
PER_TURN = 1000


def four_bar_of_bodies() -> kp.Mechanism:
    """Three bodies, four pins: nine coordinates."""
    m = kp.Mechanism("four-bar of bodies")
    crank = m.body("crank", at=(0.5, 0.0))
    coupler = m.body("coupler", at=(2.4, 1.5), angle=0.8)
    rocker = m.body("rocker", at=(3.9, 1.5), angle=1.6)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-0.5, 0))
    m.revolute("A", crank, coupler, on_i=(0.5, 0), on_j=(-2, 0))
    m.revolute("B", coupler, rocker, on_i=(2, 0), on_j=(1.5, 0))
    m.revolute("D", m.ground, rocker, on_i=(4, 0), on_j=(-1.5, 0))
    m.driver("motor", crank.angle, kp.constant_speed(2 * np.pi))
    return m


def four_bar_of_points() -> kp.Mechanism:
    """Two free points, three bars: four coordinates."""
    m = kp.Mechanism("four-bar of points")
    O, D = m.point("O", at=(0, 0), fixed="xy"), m.point("D", at=(4, 0), fixed="xy")
    A, B = m.point("A", at=(1, 0)), m.point("B", at=(3.8, 3.0))
    crank = m.bar("crank", O, A, length=1)
    m.bar("coupler", A, B, length=4)
    m.bar("rocker", D, B, length=3)
    m.driver("motor", kp.angle(m.ground, crank), kp.constant_speed(2 * np.pi))
    return m


def _pylinkage() -> Contender | None:
    """The four-bar by pylinkage's compiled stepping with velocities and accelerations."""
    try:
        from pylinkage.actuators import Crank
        from pylinkage.components import Ground
        from pylinkage.dyads import RRRDyad
        from pylinkage.simulation import Linkage
    except ImportError:
        return None
    O, D = Ground(0.0, 0.0, name="O"), Ground(4.0, 0.0, name="D")
    crank = Crank(anchor=O, radius=1.0, angular_velocity=2 * np.pi / PER_TURN, name="A")
    rocker = RRRDyad(anchor1=crank.output, anchor2=D, distance1=4.0, distance2=3.0, name="B")
    linkage = Linkage([O, D, crank, rocker], name="four-bar")
    linkage.set_input_velocity(crank, omega=2 * np.pi)
    linkage.step_fast_with_kinematics(PER_TURN, 1.0)  # compiles
    return again(lambda: linkage.step_fast_with_kinematics(SAMPLES, 1.0))


def _rates() -> Iterator[Record]:
    grid = np.arange(SAMPLES) / PER_TURN
    conditions = (
        f"four-bar 1, 4, 3, 4; {SAMPLES} samples, {PER_TURN} per turn; position, velocity, acceleration; one core"
    )
    contenders = {model.name: _solving(model, grid) for model in (four_bar_of_bodies(), four_bar_of_points())}
    peer = _pylinkage()
    if peer is not None:
        contenders["pylinkage"] = peer
    rates = {name: SAMPLES / timed.seconds for name, timed in interleaved(contenders).items()}
    theirs = rates.pop("pylinkage", None)
    for model_name, rate in rates.items():
        name = f"{model_name}: solutions"
        if theirs is not None:
            note = conditions + "; the peer has a closed form for this linkage and no check of branch or singularity"
            yield more_is_better(BENCH, name, rate, "pylinkage", theirs, "1/s", note)
        yield more_is_better(BENCH, name, rate, "target", 200_000.0, "1/s", conditions)


def _solving(model: kp.Mechanism, grid: np.ndarray) -> Contender:
    model.kinematics(grid[:PER_TURN])  # compiles
    return again(partial(model.kinematics, grid))


def _compile_times() -> Iterator[Record]:
    """Machine code of each element type from nothing: derivatives, LLVM IR, optimisation, object code."""
    times: dict[str, float] = {}
    for model in (four_bar_of_bodies(), four_bar_of_points(), _zoo()):
        for element in model.elements.values():
            if element.rows and element.kind not in times:
                times[element.kind] = 1e3 * compile_seconds(element)
    conditions = "position and acceleration kernels with all derivatives, no cache; element types: " + ", ".join(
        f"{kind} {ms:.0f}" for kind, ms in sorted(times.items(), key=lambda item: -item[1])
    )
    yield less_is_better(
        BENCH, "compile time of the slowest element type", max(times.values()), "target", 50.0, "ms", conditions
    )
    median = float(np.median(list(times.values())))
    yield less_is_better(BENCH, "compile time, median over element types", median, "target", 50.0, "ms", conditions)


def _zoo() -> kp.Mechanism:
    """One of each further element type (never solved, only compiled)."""
    m = kp.Mechanism("zoo")
    a, b = m.body("a", at=(0, 0)), m.body("b", at=(1, 0.5))
    m.translational("guide", a, b, axis=(1, 0))
    m.weld("weld", a, b)
    m.pin_in_slot("slot", a, b, axis=(1, 0), at=(1, 0.5))
    m.link("rod", a, b)
    m.gear("gear", a, b, ratio=-2)
    m.rack_and_pinion("rack", a, b, radius=0.5)
    m.coupler("tie", [(1, a.x), (2, b.angle)])
    m.point_on_curve("curve", a, b, curve=kp.curve(lambda s: (kp.cos(s), 2 * kp.sin(s))))
    m.cam_roller("cam", a, b, profile=kp.polar(lambda s: 1 + 0.1 * kp.cos(s)), radius=0.1)
    m.cam_flat("flat", a, b, profile=kp.polar(lambda s: 1 + 0.1 * kp.cos(s)), axis=(1, 0))
    return m


def _import_time() -> Iterator[Record]:
    processes = {code: again(partial(_process, code)) for code in ("import kempe", "pass")}
    times = interleaved(processes, elsewhere=True)
    seconds = times["import kempe"].seconds - times["pass"].seconds
    about = "fresh process, less an empty one; the best of each, in turn"
    yield less_is_better(BENCH, "time of import kempe", seconds, "target", 1.0, "s", about)


def _process(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


def records() -> Iterator[Record]:
    """All comparisons of this benchmark."""
    yield from _rates()
    yield from _compile_times()
    yield from _import_time()
