"""Quantities by name, or as expressions of names, in one instant, with their derivatives by design parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kempe.design.driven import Instant
from kempe.design.leaves import Leaf
from kempe.elements import shown
from kempe.elements.quantities import as_quantity
from kempe.errors import ModelError
from kempe.model.measures import Definition
from kempe.system import System
from kempe.system.expressing import Expressions, gauge


def named_quantities(of: Any) -> dict[str, Any]:
    """What was asked for, each under the name it goes by."""
    if isinstance(of, Mapping):
        return dict(of)
    single = isinstance(of, (str, Definition)) or not isinstance(of, Iterable)
    found: dict[str, Any] = {}
    for what in [of] if single else of:
        name = what if isinstance(what, str) else getattr(what, "name", "")
        if not isinstance(what, (str, Definition)):
            name = as_quantity(what, "of=").name
        if name == "quantity":
            raise ModelError(f"of=: {shown(what)} needs a name; write of={{'its name': ...}}, or m.measure(...)")
        found[name] = what
    if not found:
        raise ModelError("of= names no quantity")
    return found


class Quantities:
    """Named quantities, or what functionals watch, as compiled functions of an instant."""

    def __init__(self, system: System, of: Mapping[str, Any]) -> None:
        self.names = list(of)
        made = Expressions(system, system.model.measures)
        seen = [
            what.expression(made) if isinstance(what, Leaf) else made.of(what, f"quantity '{name}'")
            for name, what in of.items()
        ]
        self._gauge = gauge(seen, made.symbols)
        first = made.symbols.first["lam"]
        felt = (self._gauge.place >= first) & (self._gauge.place < first + system.m)
        #: Whether some of them depend on multipliers.
        self.loaded = bool(felt.any())

    def at(self, here: Instant, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Their values in an instant, and their derivatives, a row for each."""
        held, place, along = self._gauge.kernels.held, self._gauge.place, here.along
        X = np.concatenate([along.x, here.q, here.v, here.a, here.lam, [here.t], parameters])[place]
        none = np.zeros((len(along.dx), 1))
        dX = np.hstack([along.dx, here.q_p, here.v_p, here.a_p, here.lam_p, none, along.chain.parameters])[:, place]
        values = held[self._gauge.value](X)
        slopes = [held[self._gauge.push](np.concatenate([X, row])) for row in dX]
        return values, np.array(slopes).T.reshape(len(values), len(dX))
