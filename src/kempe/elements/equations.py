"""A whole system written by the user in coordinates of their own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca

from kempe.elements.base import Element
from kempe.elements.functions import digest
from kempe.elements.parts import Coordinate
from kempe.elements.readings import pieces_of, places_of, readings_in, substituted


class SystemEquations(Element):
    """M(q) a + Phi_q^T lambda = Q(q, v, t) and Phi(q, t) = 0, with parameters in each.

    The equations are taken as written: where M varies, the velocity terms belong into Q.
    """

    newtonian = True

    def __init__(
        self, name: str, coordinates: Sequence[Coordinate], rows: Sequence[str], numbers: Sequence[Any], symbols: Any
    ) -> None:
        """``symbols`` is (q, v, t, p, Phi, M, Q): the symbols and the expressions made of them (None: not given)."""
        self._q, self._v, self._t, self._p, self._phi, self._mass, self._force = symbols
        self.expressions = symbols
        self.rows = tuple(rows)
        super().__init__(name, coordinates=list(coordinates), numbers=list(numbers))

    @property
    def has_inertia(self) -> bool:
        return self._mass is not None

    def structure(self) -> Any:
        return (SystemEquations, self._written_out)

    @cached_property
    def _written_out(self) -> tuple[Any, ...]:
        given = [e is not None for e in (self._phi, self._mass, self._force)]
        outputs = [e for e in (self._phi, self._mass, self._force) if e is not None]
        readings = readings_in(outputs)
        symbols = [self._q, self._v, self._t, self._p, pieces_of(readings)]
        said = digest(ca.Function("f", symbols, [*outputs, places_of(readings)]))
        return (*given, said, *(reading.table.structure() for reading in readings))

    def drives_rows(self) -> list[bool]:
        return [bool(ca.depends_on(self._phi[k], self._t)) for k in range(len(self.rows))]

    def row_label(self, row: str) -> str:
        return row

    def row_owner(self, row: str) -> str:
        return row

    def _written(self, expression: ca.SX, x: Any) -> ca.SX:
        q, p = ca.vertcat(*x.coordinates), ca.vertcat(ca.SX(0, 1), *x.numbers)
        v = ca.vertcat(*[x.d(c) for c in x.coordinates])
        return substituted([expression], [self._q, self._v, self._t, self._p], [q, v, ca.SX(x.t), p])[0]

    def phi(self, x: Any) -> Any:
        return self._written(self._phi, x)

    def mass(self, x: Any) -> Any:
        return self._written(self._mass, x)

    def force(self, x: Any) -> Any:
        return 0.0 if self._force is None else self._written(self._force, x)
