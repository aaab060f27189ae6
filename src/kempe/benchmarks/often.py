"""What a step calls, called many times in a row by compiled code, so that it can be timed by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kempe.kernels.call import call_vectors
from kempe.solvers import quasi_definite as qd
from kempe.solvers.jit import entry
from kempe.solvers.motion import explicit_values
from kempe.solvers.program import run


@entry
def _program(program: Any, x: Any, y: Any, out: Any, count: int) -> None:
    for _ in range(count):
        run(program, x, y, out)


@entry
def _four(address: int, a: Any, b: Any, c: Any, d: Any, count: int) -> None:
    for _ in range(count):
        call_vectors(address, (a, b, c, d))


@entry
def _factor(eq: Any, wk: Any, count: int) -> None:
    for _ in range(count):
        qd.factor(eq.plan, explicit_values(eq, wk), eq.shift, wk.lu, wk.sweep)


@entry
def _solve(eq: Any, wk: Any, count: int) -> None:
    for _ in range(count):
        qd.solve(eq.plan, wk.lu, wk.rhs, wk.correction, wk.sweep)


def _running(name: str) -> Callable[[Any, Any, Any, int], None]:
    return lambda eq, wk, al, count: _program(getattr(eq, name), wk.x, wk.y, wk.out, count)


def _calling(name: str, given: Callable[[Any, Any, Any], tuple]) -> Callable[[Any, Any, Any, int], None]:
    def call(eq: Any, wk: Any, al: Any, count: int) -> None:
        _four(int(eq.plan.kernels.address_of[getattr(eq.whole, name) - 1]), *given(eq, wk, al), count)

    return call


#: By name: with the equations, the working memory of a machine and room for accelerations, so many times.
OFTEN: dict[str, Callable[[Any, Any, Any, int], None]] = {
    **{name: _running(name) for name in ("residual", "tangent", "explicit")},
    "factor": lambda eq, wk, al, count: _factor(eq, wk, count),
    "solve": lambda eq, wk, al, count: _solve(eq, wk, count),
    "iterating": _calling("iterating", lambda eq, wk, al: (wk.x, wk.lu, eq.units, wk.told)),
    "stepping": _calling("stepping", lambda eq, wk, al: (wk.x, eq.step_shift, wk.out, wk.lu)),
    "accelerating": _calling("accelerating", lambda eq, wk, al: (wk.x, eq.shift, al, wk.told)),
}
