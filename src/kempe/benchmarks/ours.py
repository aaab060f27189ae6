"""Kempe's side of the benchmarks: the one place that knows more of Kempe than its users do."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

import kempe as kp
from kempe.benchmarks.timing import Contender


class Prepared(Protocol):
    """A simulation that is set up and not yet run."""

    def run(self) -> kp.Result:
        """Integrate to the end."""


class _Begun:
    """A machine at the start of its run."""

    def __init__(self, model: kp.Mechanism | kp.SpatialMechanism, times: Any, options: dict[str, Any]) -> None:
        from kempe.simulation.starting import begun

        self.machine = begun(model, times, **options)
        self.initial = self.machine.initial()

    def run(self) -> kp.Result:
        """Integrate to the end."""
        from kempe.simulation.checkpoints import run_to_the_end
        from kempe.simulation.running import Record

        return run_to_the_end(self.machine, Record(), self.initial)


def prepared(model: kp.Mechanism | kp.SpatialMechanism, times: Any, **options: Any) -> Prepared:
    """What ``model.simulate(times, **options)`` sets up before it integrates."""
    return _Begun(model, times, options)


def simulating(model: kp.Mechanism | kp.SpatialMechanism, times: Any, **options: Any) -> Contender:
    """A contender that simulates, with its set-up left out; it has run once, so that all it uses is compiled."""
    options = {"compile": "always", **options}
    prepared(model, times, **options).run()
    return lambda: prepared(model, times, **options).run


def compile_seconds(element: Any) -> float:
    """Seconds from an element's equations to the machine code of its constraints, with nothing cached."""
    from kempe.system.families import Family

    with _nothing_cached():
        begin = time.perf_counter()
        family = Family(element)
        family.variant("position")
        family.variant("acceleration")
        return time.perf_counter() - begin


@dataclass(frozen=True)
class WrittenOut:
    """All functions that a run uses fused: how many, how long together, and the seconds it takes to make them."""

    functions: int
    steps: int
    lines: int
    size: int  # of the machine code, in bytes
    seconds: float


def written_out(model: kp.Mechanism | kp.SpatialMechanism, times: Any, **options: Any) -> WrittenOut:
    """What is written out for a run, with nothing cached."""
    from kempe.kernels import compiler, emitting
    from kempe.simulation.starting import begun

    machine = begun(model, times, compile="never", **options)
    own, made, begin = machine.system.fusion, [], time.process_time()
    for name in own.worth(machine.integrator.functions_fused):
        steps = compiler.in_order(own.job(name).sheet())
        ir = emitting.emit(steps)
        made.append((len(steps), ir.count("\n"), len(compiler.machine_code(ir, changed=False))))
    steps, lines, size = (sum(each) for each in zip(*made, strict=True))
    return WrittenOut(len(made), steps, lines, size, time.process_time() - begin)


@contextmanager
def _nothing_cached() -> Iterator[None]:
    """No disk cache and no memory of machine code while inside."""
    from kempe.kernels import compiler

    given, known = os.environ.get("KEMPE_CACHE"), dict(compiler._loaded)
    os.environ["KEMPE_CACHE"] = ""
    compiler._loaded.clear()
    try:
        yield
    finally:
        compiler._loaded.update(known)
        if given is None:
            del os.environ["KEMPE_CACHE"]
        else:
            os.environ["KEMPE_CACHE"] = given


@dataclass(frozen=True)
class Shares:
    """Where the time of a step goes, in seconds."""

    equations: float  # programs, or fused functions with all that is in them
    elimination: float  # factors and solutions by themselves
    rest: float  # prediction, error, bookkeeping, output

    @property
    def total(self) -> float:
        """All of it."""
        return self.equations + self.elimination + self.rest


def shares(model: kp.Mechanism | kp.SpatialMechanism, run: kp.Result, a_step: float, **options: Any) -> Shares:
    """Where the seconds of ``a_step`` go: what it calls, each timed by itself, as often as the run called it."""
    from kempe.benchmarks.often import OFTEN
    from kempe.simulation.starting import begun

    machine = begun(model, [run.t[0], run.t[-1]], **options)
    machine.advance(50)
    eq, wk = machine.eq, machine.wk
    wk.rhs[:] = np.random.default_rng(0).uniform(0.5, 1.5, len(wk.rhs))
    for name in ("explicit", "factor"):  # (numbers as they occur)
        OFTEN[name](eq, wk, wk.told, 1)
    of = functools.partial(_seconds, eq, wk, machine.course.now.al.copy())
    solutions, factors = (run.stats[name] / run.stats["steps"] for name in ("evaluations", "factorisations"))
    implicit = options.get("method") == "alpha"
    whole = ("iterating", "stepping") if implicit else ("accelerating",)
    again = max(solutions - factors, 0.0)  # with the factors of an earlier step
    if all(getattr(eq.whole, name) for name in whole):
        first = "stepping" if implicit else "accelerating"
        equations = factors * of(first) + (again * of("iterating") if implicit else 0.0)
        elimination = factors * of("solve") if implicit else 0.0
    else:
        first = "tangent" if implicit else "explicit"
        equations = factors * of(first) + (again * of("residual") if implicit else 0.0)
        elimination = factors * of("factor") + solutions * of("solve")
    return Shares(equations, elimination, max(a_step - equations - elimination, 0.0))


def _seconds(eq: Any, wk: Any, al: Any, name: str) -> float:
    """The best time of one call, of many in a row."""
    from kempe.benchmarks.often import OFTEN

    count, best = 10, 1.0
    OFTEN[name](eq, wk, al, 1)  # (compiled, or read from disk)
    while True:
        begin = time.perf_counter()
        OFTEN[name](eq, wk, al, count)
        taken = time.perf_counter() - begin
        if taken > 2e-3:
            break
        count *= 2
    for _ in range(20):
        begin = time.perf_counter()
        OFTEN[name](eq, wk, al, count)
        best = min(best, (time.perf_counter() - begin) / count)
    return best
