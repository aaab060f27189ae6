"""Kempe's side of the benchmarks: the one place that knows more of Kempe than its users do."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

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
