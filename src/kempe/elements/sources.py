"""Where the symbolic view of a field takes coordinates and numbers from: kernel symbols, or the drawn pose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from kempe.elements.numbers import Number

if TYPE_CHECKING:
    from kempe.elements.base import Element, Part


class Source:
    """Where a symbolic view takes coordinates and numbers from: kernel symbols, or the drawn pose."""

    t: Any

    def rate(self, expression: Any) -> Any:
        """The rate of an expression of the coordinates."""
        raise NotImplementedError

    def push(self, expression: Any, effort: Any) -> Any:
        """The generalised force of an effort that does work on the change of an expression of the coordinates."""
        raise NotImplementedError

    def coordinates(self, part: Part) -> list[Any]:
        """The coordinates of a part."""
        raise NotImplementedError

    def numbers(self, values: Sequence[Number]) -> list[Any]:
        """The given numbers as the equations see them."""
        raise NotImplementedError

    def placed(self, carrier: Any, placed: Any) -> Any:
        """A marker or frame on a carrier as the equations see it (a source that asks for forces displaces it)."""
        return placed

    def component(self, part: Part, index: int) -> Any:
        """One coordinate of a part as the equations see it."""
        return self.coordinates(part)[index]

    def second_rate(self, expression: Any) -> Any:
        """The second derivative in time of an expression of the coordinates."""
        raise NotImplementedError

    def multipliers(self, element: Element) -> dict[str, Any]:
        """The multipliers of an element's rows, by row name."""
        raise NotImplementedError

    def hybrid(self, element: Element) -> tuple[Any, dict[str, Any]]:
        """How a switching element sees its mode (a function of a mode's name and an expression) and latched values."""
        raise NotImplementedError


class KernelSource(Source):
    """Fresh symbols for one element: coordinates by part, numbers in order of use."""

    def __init__(self, element: Element) -> None:
        self.t = ca.SX.sym("t")
        parts = element.parts()
        ends = np.cumsum([0, *(len(part.channels) for part in parts)]).tolist()
        self.q = ca.SX.sym("q", ends[-1])  # one name for all: what parts are called makes no difference
        self._parts = dict(zip(parts, ca.vertsplit(self.q, ends), strict=True))
        self.v = ca.SX.sym("v", self.q.numel())
        self.a = ca.SX.sym("a", self.q.numel())
        #: Mode, latched values and, per row that is not always in force, whether it is, of an element that switches.
        self.z = ca.SX.sym("z", 1 + len(element.latches) + len(element.conditional_rows()) if element.modes else 0)
        sizes = [len(e.rows) for e in (element, *element.loads())]
        #: Multipliers of its own rows, then of the elements whose load it uses.
        self.lam = ca.SX.sym("lam", sum(sizes))
        firsts = np.cumsum([0, *sizes])
        self._first = {e: int(at) for e, at in zip((element, *element.loads()), firsts, strict=False)}
        self._p: list[ca.SX] = []

    def push(self, expression: Any, effort: Any) -> ca.SX:
        """(de/dq)^T effort; differentiated forward, so that nothing undefined leaks from an untaken side."""
        return ca.mtimes(ca.jacobian(ca.SX(expression), self.q, {"allow_reverse": False}).T, ca.SX(effort))

    def hybrid(self, element: Element) -> tuple[Any, dict[str, Any]]:
        def mode(name: str, expression: Any) -> ca.SX:
            return ca.if_else(self.z[0] == element.modes.index(name), expression, 0.0)

        return mode, {name: self.z[1 + k] for k, name in enumerate(element.latches)}

    def multipliers(self, element: Element) -> dict[str, Any]:
        first = self._first[element]
        return {row: self.lam[first + k] for k, row in enumerate(element.rows)}

    def active(self, element: Element) -> list[Any]:
        """Per row of an element: 1, or a symbol that is 1 where the row is in force and 0 where it is not."""
        conditional, first = element.conditional_rows(), 1 + len(element.latches)
        return [self.z[first + conditional.index(row)] if row in conditional else 1.0 for row in element.rows]

    def coordinates(self, part: Part) -> list[Any]:
        symbols = self._parts[part]
        return [symbols[k] for k in range(symbols.numel())]

    def rate(self, expression: Any) -> ca.SX:
        """How fast an expression of the coordinates changes when they change at the rates ``v``."""
        return ca.jtimes(ca.SX(expression), self.q, self.v)

    def second_rate(self, expression: Any) -> ca.SX:
        """The second derivative of an expression of the coordinates, with their rates ``v`` and accelerations ``a``."""
        along = self.rate(expression)
        return ca.jtimes(ca.SX(expression), self.q, self.a) + ca.jtimes(along, self.q, self.v)

    def numbers(self, values: Sequence[Number]) -> list[Any]:
        fresh = [ca.SX.sym(f"p{len(self._p) + k}") for k in range(len(values))]
        self._p += fresh
        return fresh

    @property
    def p(self) -> ca.SX:
        """The numbers handed out so far."""
        return ca.vertcat(ca.SX(0, 1), *self._p)


class DrawnSource(Source):
    """The pose as the user drew it: start values and numbers themselves, parameters left symbolic."""

    t = 0.0

    def coordinates(self, part: Part) -> list[Any]:
        return list(part.start)

    def numbers(self, values: Sequence[Number]) -> list[Any]:
        return list(values)

    def multipliers(self, element: Element) -> dict[str, Any]:
        return dict.fromkeys(element.rows, 0.0)
