"""A loose joint: time for a turn of the crank, at equal error beside Exudyn, and designs per second.

Kempe ends a step where surfaces meet and part, remembers how fast they met, and takes long steps between. A peer with
fixed steps must resolve every contact with all of them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import numpy as np

import kempe as kp
from kempe.benchmarks import clearance_peers as peers
from kempe.benchmarks import clearance_problems as given
from kempe.benchmarks.nonsmooth_peers import silence
from kempe.benchmarks.ours import simulating
from kempe.benchmarks.peers_exudyn import exudyn_package
from kempe.benchmarks.record import Record, less_is_better, more_is_better
from kempe.benchmarks.timing import Contender, again, interleaved

BENCH = "clearance"
KEMPE = "Kempe"
AIM = 5.0
"""Milliseconds for a turn."""
BOUND = 1e-7
"""The error that contenders are given, in metres and radians; steps and tolerances from coarse to fine."""
STEPS = (375, 750, 1500, 3000, 6000, 12000)
TOLERANCES = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
DESIGNS = 1000


def _error(found: np.ndarray) -> float:
    off = float(np.abs(found - np.array(given.ENDS)).max())
    return off if np.isfinite(off) else np.inf


def _turns() -> Iterator[Record]:
    """One turn at 5000 rpm, by the law of Lankarani and Nikravesh, set-up left out."""
    times = [0.0, given.TURN]
    runs = {
        tolerance: simulating(given.remembered(), times, velocities=given.SPEEDS, tolerance=tolerance)
        for tolerance in (1e-8, 1e-10)
    }
    for tolerance, timed in interleaved(runs, budget=10.0).items():
        res = timed.outcome
        about = (
            f"one turn at 5000 rpm, c = {given.CLEARANCE * 1e3:g} mm, K = {given.STIFFNESS:g} N/m^1.5, tolerance "
            f"{tolerance:g}: {len(res.contacts('B'))} contacts, {res.stats['steps']} steps"
        )
        name = f"one turn, tolerance {tolerance:g}"
        yield less_is_better(BENCH, name, timed.seconds * 1e3, "target", AIM, "ms", about)


def _ours() -> tuple[float, Contender, float]:
    """The coarsest tolerance within the bound."""
    for tolerance in TOLERANCES:
        run = simulating(given.plain(), [0.0, given.END], velocities=given.SPEEDS, tolerance=tolerance)
        res = interleaved({KEMPE: run}, budget=0.0)[KEMPE].outcome
        off = _error(np.array([res.array("slider.x")[-1], res.array("rod.angle")[-1]]))
        if off <= BOUND:
            break
    return tolerance, run, off


def _exudyn() -> Iterator[Record]:
    """The first three contacts at equal error, with a law that both know."""
    tolerance, ours, off = _ours()
    about = (
        f"{given.END * 1e3:g} ms, three contacts, K d^1.5 (1 + c d'); Kempe: tolerance {tolerance:g}, error {off:.1e}"
    )
    contenders, told = {KEMPE: ours}, "not installed"
    with contextlib.suppress(ImportError), silence():
        exu = exudyn_package()
        for steps in STEPS:
            run = peers.exudyn_run(exu, given.END, steps)
            off = _error(interleaved({0: run}, budget=0.0)[0].outcome())
            told = f"generalised alpha, h = {given.END / steps:.1e} s, off {off:.1e}"
            if off <= BOUND:
                contenders["Exudyn"] = run
                break
        else:
            told = f"no step reaches it; {told}"
    with silence():
        times = interleaved(contenders, budget=10.0)
    theirs = times["Exudyn"].seconds * 1e3 if "Exudyn" in times else None
    name = f"three contacts, to {BOUND:g}"
    yield less_is_better(BENCH, name, times[KEMPE].seconds * 1e3, "Exudyn", theirs, "ms", f"{about}; peer: {told}")


def _mujoco(within: int = 30) -> Iterator[Record]:
    """A turn with the contact that MuJoCo has: a linear spring, of a frequency like that of the contacts."""
    frequency, ratio = 3e4, 0.03
    stiffness = frequency**2 * 0.07  # half of the slider's mass is about what a contact moves
    law = kp.KelvinVoigt(stiffness, 2 * ratio * frequency * 0.07)
    run = simulating(given.slider_crank(law), [0.0, given.TURN], velocities=given.SPEEDS, tolerance=1e-6)
    contenders, steps = {KEMPE: run}, round(given.TURN * frequency / np.pi * within)
    told = "not installed"
    with contextlib.suppress(ImportError):
        contenders["MuJoCo"] = peers.mujoco_run(given.TURN, steps, frequency, ratio)
        told = f"a limited tendon, implicitfast, {within} steps in a contact"
    with silence():
        times = interleaved(contenders, budget=10.0)
    theirs = times["MuJoCo"].seconds * 1e3 if "MuJoCo" in times else None
    about = (
        f"one turn with a linear contact of {frequency:g} rad/s, Kempe's tolerance 1e-6; peer: {told}; not one motion"
    )
    yield less_is_better(BENCH, "one turn, linear contact", times[KEMPE].seconds * 1e3, "MuJoCo", theirs, "ms", about)


def _many() -> Iterator[Record]:
    """Designs per second, over the clearances and stiffnesses of the paper's second example."""
    low, high = np.array([0.02e-3, 3.3e8]), np.array([1e-3, 3.3e11])
    table = low * (high / low) ** np.random.default_rng(1).random((DESIGNS, 2))
    m, times = given.designs(), [0.0, given.TURN]

    def run(count: int) -> kp.Runs:
        columns = {"clearance": table[:count, 0], "stiffness": table[:count, 1]}
        return kp.run_many(m, columns, ["slider.x"], times, velocities=given.SPEEDS, progress=False)

    run(2)
    timed = interleaved({KEMPE: again(lambda: run(DESIGNS))}, rounds=1, budget=0.0, elsewhere=True)[KEMPE]
    contacts = sum(len(events) for events in timed.outcome.events) / 2
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    about = (
        f"{DESIGNS} designs, one turn at 5000 rpm, tolerance 1e-8, {contacts:.0f} contacts, {cores} cores, "
        f"{int(timed.outcome.ok.sum())} complete"
    )
    yield more_is_better(BENCH, "designs by run_many", DESIGNS / timed.seconds, "", None, "1/s", about)


def records() -> Iterator[Record]:
    """All comparisons."""
    yield from _turns()
    yield from _exudyn()
    yield from _mujoco()
    yield from _many()
