"""How a pose at rest, and the forces that keep it there, change with design parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kempe.analysis import Equilibrium, Pose, equilibrium
from kempe.calling import explained
from kempe.design.account import Sensitivity
from kempe.design.chain import Chain, asked_parameters
from kempe.design.driven import Instant
from kempe.design.quantities import Quantities, named_quantities
from kempe.design.resting import Rest, rest
from kempe.design.static_account import static_account
from kempe.model import Model
from kempe.simulation.posing import Posed

#: What the efforts on held coordinates are called: "holding.crank.angle".
HOLDING = "holding."


@explained
def equilibrium_sensitivity(
    model: Model,
    of: Any = None,
    by: Any = None,
    *,
    start: Pose | None = None,
    time: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    hold: Any = (),
    stable: bool = True,
    tolerance: float = 1e-12,
) -> Sensitivity:
    """Derivatives of a static equilibrium by design parameters, exactly.

    ``of`` are quantities at rest: coordinates, loads of joints, forces of springs, measures, expressions of all these,
    and "holding.crank.angle", the effort on a coordinate that is held (default: all coordinates, and what holds).
    ``by`` are design parameters (default: all that have values of their own). The rest is as in
    :func:`kempe.equilibrium`.

    The derivatives are those of the equilibrium found, which moves along with the parameters; a held coordinate moves
    as it is drawn, or not at all where ``start`` is given. An indifferent equilibrium, and one in which friction holds,
    have no derivatives, and a ModelError says so.
    """
    names = asked_parameters(model, by)
    options = {"start": start, "time": time, "hold": hold, "stable": stable, "tolerance": tolerance}
    found = equilibrium(model, parameters=parameters, **options)  # type: ignore[arg-type]
    posed = Posed(model, parameters)
    wanted = named_quantities(default_quantities(posed, found) if of is None else of)
    measured = AtRest(posed, found, wanted)
    chain = Chain(posed.system, posed.parameters, names)
    drawn = chain.drawn if start is None else np.zeros_like(chain.drawn)
    values, slopes = measured.at(rest(posed, chain, found, drawn))
    return static_account(model, found, names, dict(zip(measured.names, zip(values, slopes, strict=True), strict=True)))


def default_quantities(posed: Posed, found: Equilibrium) -> list[str]:
    """The coordinates, and what holds."""
    return [*(names[0] for names in posed.system.names), *(HOLDING + name for name in found.holding)]


class AtRest:
    """Quantities of an equilibrium by name, efforts on held coordinates among them."""

    def __init__(self, posed: Posed, found: Equilibrium, wanted: Mapping[str, Any]) -> None:
        self.names, self.found, self._posed = list(wanted), found, posed
        holding = {HOLDING + name: k for k, name in enumerate(found.holding)}
        self._held = {name: holding[what] for name, what in wanted.items() if isinstance(what, str) and what in holding}
        self._others = Quantities(posed.system, {name: what for name, what in wanted.items() if name not in self._held})

    def at(self, here: Rest) -> tuple[np.ndarray, np.ndarray]:
        """Their values, and their derivatives, a row for each."""
        still, none = np.zeros(len(here.q)), np.zeros_like(here.q_p)
        instant = Instant(here.t, here.q, still, still, here.lam, here.q_p, none, none, here.lam_p, here.along)
        values, slopes = self._others.at(instant, self._posed.parameters)
        efforts = list(self.found.holding.values())
        found = dict(zip(self._others.names, zip(values, slopes, strict=True), strict=True))
        found |= {name: (efforts[k], here.holding_p[:, k]) for name, k in self._held.items()}
        chosen = [found[name] for name in self.names]
        return np.array([value for value, _ in chosen]), np.array([slope for _, slope in chosen])
