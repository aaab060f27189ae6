"""Positions of material points and values of quantities from coordinates, after the fact and for many poses at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.base import Part, Source, Table, cubic
from kempe.elements.numbers import Number
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

    def table(self, table: Table, argument: Any) -> Any:
        """The table as one expression (slow to evaluate, but this is not a time loop)."""
        x = argument
        if table.period:
            x = x - ca.floor((x - table.breaks[0]) / table.period) * table.period
        value = cubic([table.breaks[0], *table.coefficients[0]], x)
        for left, coefficients in zip(table.breaks[1:-1], table.coefficients[1:], strict=True):
            value = ca.if_else(x >= left, cubic([left, *coefficients], x), value)
        return value

    def rate(self, expression: Any) -> Any:
        raise TypeError("a measured point has no rate of its own; differentiate its history")


def positions(system: System, markers: Sequence[Any], parameters: np.ndarray, q: np.ndarray) -> np.ndarray:
    """World positions of markers or points for many poses: an array (poses, markers, 2)."""
    source = _Whole(system)
    where = [m.symbolic(source).r for m in markers]
    p = ca.vertcat(ca.SX(0, 1), *[ca.SX(s) for s in system.model.parameters.values()])
    function = ca.Function("where", [source.q, p], [ca.vertcat(ca.SX(0, 1), *where)])
    poses = np.atleast_2d(q)
    values = np.array(function(poses.T, parameters)) if len(where) else np.zeros((0, len(poses)))
    return values.T.reshape(len(poses), len(where), 2)
