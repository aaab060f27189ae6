"""Values and gradients of something that does not move in time, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kempe.analysis import Equilibrium
from kempe.design.account import Sensitivity
from kempe.errors import ModelError
from kempe.model import Model


def static_account(
    model: Model,
    found: Equilibrium,
    by: Sequence[str],
    named: Mapping[str, tuple[float, np.ndarray]],
    warnings: Sequence[str] = (),
) -> Sensitivity:
    """Quantities with their derivatives, all of them finite."""
    for name, (_, slopes) in named.items():
        wrong = [p for p, slope in zip(by, slopes, strict=True) if not np.isfinite(slope)]
        if wrong:
            raise ModelError(f"'{name}' has no derivative by '{wrong[0]}' here")
    bounds = {p: model.parameters[p].bounds for p in by}
    return Sensitivity(
        values={name: float(value) for name, (value, _) in named.items()},
        gradients={n: dict(zip(by, (slopes + 0.0).tolist(), strict=True)) for n, (_, slopes) in named.items()},
        parameters={p: found.parameters[p] for p in by},
        method="exact derivatives of the equilibrium",
        result=found.result(),
        warnings=list(warnings),
        bounds={p: given for p, given in bounds.items() if given is not None},
    )
