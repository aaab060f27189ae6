"""Positions of material points and values of quantities from coordinates, after the fact and for many poses at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import Part
from kempe.elements.numbers import Number
from kempe.elements.readings import Staged
from kempe.elements.sources import Source
from kempe.system.system import System


class _Whole(Source):
    """The coordinates of the whole system as symbols, numbers as expressions of the parameters."""

    def __init__(self, system: System) -> None:
        self.t = ca.SX.sym("t")
        self.q = ca.SX.sym("q", system.n)
        self._first = system.first

    def coordinates(self, part: Part) -> list[Any]:
        first = self._first[part.name]
        return [self.q[first + k] for k in range(len(part.channels))]

    def numbers(self, values: Sequence[Number]) -> list[Any]:
        return list(values)

    def rate(self, expression: Any) -> Any:
        raise TypeError("a measured point has no rate of its own; ask for its motion")


def positions(system: System, markers: Sequence[Any], parameters: np.ndarray, q: np.ndarray) -> np.ndarray:
    """World positions of markers or points for many poses: an array (poses, markers, 2 or 3)."""
    poses = np.atleast_2d(q)
    if not markers:
        return np.zeros((len(poses), 0, system.space.dim))
    source = _Whole(system)
    where = ca.vertcat(*[m.symbolic(source).r for m in markers])
    values = _evaluate(system, source, [where], [], parameters, poses)[0]
    return values.reshape(len(poses), len(markers), system.space.dim)


def frames(system: System, markers: Sequence[Any], parameters: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The axes of markers for many poses, as columns: an array (poses, markers, 2, 2) or (poses, markers, 3, 3)."""
    poses, dim = np.atleast_2d(q), system.space.dim
    if not markers:
        return np.zeros((len(poses), 0, dim, dim))
    source = _Whole(system)
    axes = ca.vertcat(*[ca.vec(ca.horzcat(*m.symbolic(source).directions).T) for m in markers])
    values = _evaluate(system, source, [axes], [], parameters, poses)[0]
    return values.reshape(len(poses), len(markers), dim, dim)


def motion(
    system: System, field: Any, parameters: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Value, rate and acceleration of a marker's position (2 or 3 columns) or a quantity (one), over time."""
    source = _Whole(system)
    seen = field.symbolic(source)
    value = ca.SX(seen.r if hasattr(seen, "r") else getattr(seen, "value", seen))
    velocity, acceleration = ca.SX.sym("v", system.n), ca.SX.sym("a", system.n)
    rate = ca.jtimes(value, source.q, velocity)
    second = ca.jtimes(rate, source.q, velocity) + ca.jtimes(value, source.q, acceleration)
    rest = [(velocity, v), (acceleration, a)]
    first, then, last = _evaluate(system, source, [value, rate, second], rest, parameters, q)
    return first, then, last


def _evaluate(
    system: System, source: _Whole, outputs: list[ca.SX], rest: list[tuple[ca.SX, np.ndarray]], parameters: Any, q: Any
) -> list[np.ndarray]:
    p = ca.vertcat(ca.SX(0, 1), *[ca.SX(s) for s in system.parameters])
    symbols = [source.q, *(symbol for symbol, _ in rest), p]
    given = [np.asarray(q).T, *(values.T for _, values in rest)]
    results = Staged(symbols, outputs)(*given, np.repeat(np.asarray(parameters, dtype=float)[:, None], len(q), axis=1))
    return [r.T for r in results]
