"""Contact laws of one's own: a Python function of the depth, its rate and the approach."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import casadi as ca
import numpy as np

from kempe.elements.contact_base import SLOWEST, ContactLaw
from kempe.elements.functions import Expression, arguments_of, scalar_expression, signature_of
from kempe.elements.numbers import Number, evaluate, positive, shown
from kempe.elements.readings import substituted
from kempe.elements.sources import Source
from kempe.errors import ModelError

#: What the function of a contact law is called with, as far as it asks for them.
ARGUMENTS = ("depth", "rate", "speed")
#: Nodes and weights of Gauss's quadrature from 0 to 1.
NODES, WEIGHTS = ((1.0 + np.polynomial.legendre.leggauss(16)[0]) / 2, np.polynomial.legendre.leggauss(16)[1] / 2)
#: The least depth at which a law is computed: a user's roots have derivatives there.
LEAST = 1e-30
#: The depth at which a law is asked whether it presses, where there is none.
TOUCH = 1e-14


class contact_law(ContactLaw):
    """A contact law of one's own: ``force(depth, rate, speed)``, written with CasADi operations.

    ``rate`` is that of the depth and ``speed`` the velocity with which the surfaces first met; a function may take the
    depth alone, or depth and rate. Design parameters may stand in it; further arguments need a default, which they
    keep. The force is positive where it pushes, and none where there is neither depth nor rate. Where it would pull,
    nothing acts.

    What acts at the rate zero is elastic, and must not depend on the speed; its energy is integrated. With ``stored``,
    a function of the depth, that is the elastic energy. All else is lost. Surfaces that meet more slowly than
    ``slowest`` are taken to meet at that velocity.
    """

    def __init__(
        self, force: Callable[..., Any], stored: Callable[[Any], Any] | None = None, *, slowest: Any = SLOWEST
    ) -> None:
        what = "contact_law: the force"
        if not callable(force) or isinstance(force, ca.SX):
            raise ModelError(
                f"contact_law needs a function, lambda depth, rate: 1e6 * depth + 10 * rate, not {shown(force)}"
            )
        #: The force, as an expression of depth, rate and speed.
        self.whole = scalar_expression(_of_all(force, what), ARGUMENTS, what)
        #: The elastic energy, where it was given, and its slope, as expressions of the depth.
        self.energy = self.slope = None
        if stored is not None:
            if not callable(stored) or isinstance(stored, ca.SX):
                raise ModelError(f"contact_law: stored must be a function of the depth, not {shown(stored)}")
            self.energy = scalar_expression(stored, ["depth"], "contact_law: the energy stored")
            (depth,) = self.energy.own
            self.slope = Expression(ca.jacobian(self.energy.value, depth), [depth], what)
        self.latched = ca.depends_on(self.whole.value, self.whole.own[2])  # type: ignore[misc]
        self._damps = stored is not None or ca.depends_on(self.whole.value, self.whole.own[1])
        bent = ca.jacobian(ca.jacobian(self.whole.value, self.whole.own[0]), self.whole.own[0])
        self._linear = bent.nnz() == 0 and stored is None and not self.whole.tables
        self._refuse_odd()
        given = {"force": self.whole, "stored": self.energy, "slowest": slowest if self.latched else None}
        low = positive(slowest, "contact_law: slowest")
        super().__init__(given, slowest=low if self.latched else None)

    def _refuse_odd(self) -> None:
        """What no contact does."""
        depth, _, speed = self.whole.own
        still = self._at_rest(depth)
        if self.slope is None and ca.depends_on(still, speed):
            raise ModelError(
                "contact_law: the force at the rate zero is the elastic one and must not depend on the speed: "
                "multiply what does by the rate, or say what is elastic with stored="
            )
        if self.slope is not None:
            still = substituted([self.slope.value], self.slope.own, [depth])[0]
        none, little = (float(evaluate([substituted([still], [depth], [ca.SX(d)])[0]])[0]) for d in (0.0, 1e-6))
        if none != 0.0:
            raise ModelError(f"contact_law: the elastic force must be zero at the depth 0, and is {none:g}")
        if not little >= 0.0:
            raise ModelError(
                f"contact_law: the force is positive where it pushes, and at the depth 1e-6 it is {little:g}"
            )

    def _at_rest(self, depth: Any) -> Any:
        return substituted([self.whole.value], self.whole.own, [ca.SX(depth), ca.SX(0.0), self.whole.own[2]])[0]

    def data(self) -> Iterable[Number]:
        parts = [part.data() for part in (self.whole, self.energy, self.slope) if part is not None]
        return [*super().data(), *(value for part in parts for value in part)]

    def structure(self) -> Hashable:
        parts = (self.whole, self.energy)
        return (*super().structure(), *(None if part is None else part.structure() for part in parts))  # type: ignore[misc]

    def symbolic(self, source: Source) -> Any:
        law = super().symbolic(source)
        for name in ("whole", "energy", "slope"):
            part = getattr(self, name)
            setattr(law, name, None if part is None else part.symbolic(source))
        return law

    def pressed(self, law: Any, depth: Any) -> Any:
        """A linear spring needs no guard against negative depths, and is smooth without."""
        return depth if self._linear else ca.fmax(depth, LEAST)

    def elastic(self, law: Any, depth: Any) -> Any:
        return law.whole(depth, 0.0, 1.0) if law.slope is None else law.slope(depth)

    def stored(self, law: Any, depth: Any) -> Any:
        """The integral from 0 to the depth; nodes at d w^4, with which it is exact for powers like d^1.5."""
        if law.energy is not None:
            return law.energy(depth) - law.energy(0.0)
        parts = zip(NODES, WEIGHTS, strict=True)
        return sum(4 * w**3 * weight * depth * self.elastic(law, depth * w**4) for w, weight in parts)

    def damper(self, law: Any, depth: Any, rate: Any, speed: Any) -> Any:
        if not self._damps:
            return None
        return law.whole(depth, rate, 1.0 if speed is None else speed) - self.elastic(law, depth)

    def presses(self, law: Any, depth: Any, rate: Any, speed: Any) -> Any:
        """The force, in sizes of its parts: so it has a sign where the depth, and with it the force, is zero."""
        if not self._damps:
            return None
        deep = ca.fmax(depth, TOUCH)
        spring, damper = self.elastic(law, deep), self.damper(law, deep, rate, speed)
        return (spring + damper) / ca.sqrt(spring**2 + damper**2 + 1e-300)


def _of_all(function: Callable[..., Any], what: str) -> Callable[..., Any]:
    """A function of the first one, two or three arguments as one of all."""
    try:
        takes = signature_of(function)
    except (TypeError, ValueError):  # written in C, perhaps
        takes = len(ARGUMENTS)
    takes = len(ARGUMENTS) if takes == -1 else takes
    if not 1 <= takes <= len(ARGUMENTS):
        arguments_of(function, ARGUMENTS, (), what)  # which says so
    return lambda depth, rate, speed: function(*(depth, rate, speed)[:takes])
