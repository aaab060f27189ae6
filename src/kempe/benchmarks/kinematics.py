"""Kinematics: full solutions per second beside pylinkage, compile time per element type, import time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import kempe as kp
from kempe.benchmarks.record import Record, less_is_better, more_is_better
from kempe.kernels import compiler

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


def _best(function: Callable[[], Any], repeats: int = 5) -> float:
    """The shortest of several run times, in seconds."""
    function()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def _pylinkage() -> tuple[float, np.ndarray] | None:
    """Solutions per second of pylinkage's compiled stepping with velocities and accelerations, and its last joint B."""
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
    seconds = _best(lambda: linkage.step_fast_with_kinematics(SAMPLES, 1.0))
    positions = linkage.step_fast_with_kinematics(PER_TURN, 1.0)[0]
    return SAMPLES / seconds, positions[-1, 3]


def _rates() -> Iterator[Record]:
    peer = _pylinkage()
    grid = np.arange(SAMPLES) / PER_TURN
    conditions = (
        f"four-bar 1, 4, 3, 4; {SAMPLES} samples, {PER_TURN} per turn; position, velocity, acceleration; one core"
    )
    for model in (four_bar_of_bodies(), four_bar_of_points()):
        seconds = _best(partial(model.kinematics, grid))
        rate = SAMPLES / seconds
        name = f"{model.name}: solutions"
        if peer is not None:
            note = conditions + "; the peer has a closed form for this linkage and no check of branch or singularity"
            yield more_is_better(BENCH, name, rate, "pylinkage", peer[0], "1/s", note)
        yield more_is_better(BENCH, name, rate, "target", 200_000.0, "1/s", conditions)


def _compile_times() -> Iterator[Record]:
    """Machine code of each element type from nothing: derivatives, LLVM IR, optimisation, object code."""
    from kempe.system.families import Family

    times = {}
    for model in (four_bar_of_bodies(), four_bar_of_points(), _zoo()):
        for element in model.elements.values():
            if not element.rows or element.kind in times:
                continue
            with _cold_cache():
                begin = time.perf_counter()
                family = Family(element)
                family.variant("position")
                family.variant("acceleration")
                times[element.kind] = 1e3 * (time.perf_counter() - begin)
    conditions = "position and acceleration kernels with all derivatives, no cache; element types: " + ", ".join(
        f"{kind} {ms:.0f}" for kind, ms in sorted(times.items(), key=lambda item: -item[1])
    )
    yield less_is_better(
        BENCH, "compile time of the slowest element type", max(times.values()), "target", 50.0, "ms", conditions
    )
    median = float(np.median(list(times.values())))
    yield less_is_better(BENCH, "compile time, median over element types", median, "target", 50.0, "ms", conditions)


class _cold_cache:
    """No disk cache and no memory of machine code while inside."""

    def __enter__(self) -> None:
        import os

        self.given = os.environ.get("KEMPE_CACHE")
        os.environ["KEMPE_CACHE"] = ""
        self.known = dict(compiler._loaded)
        compiler._loaded.clear()

    def __exit__(self, *_: object) -> None:
        import os

        compiler._loaded.update(self.known)
        if self.given is None:
            del os.environ["KEMPE_CACHE"]
        else:
            os.environ["KEMPE_CACHE"] = self.given


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
    command = [sys.executable, "-c", "import kempe"]
    nothing = [sys.executable, "-c", "pass"]
    seconds = _best(lambda: subprocess.run(command, check=True)) - _best(lambda: subprocess.run(nothing, check=True))
    yield less_is_better(
        BENCH, "time of import kempe", seconds, "target", 1.0, "s", "fresh process, less an empty one; best of 5"
    )


def records() -> Iterator[Record]:
    """All comparisons of this benchmark."""
    yield from _rates()
    yield from _compile_times()
    yield from _import_time()
