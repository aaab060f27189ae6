"""Design sensitivity: how functionals of a simulated motion change with design parameters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kempe.calling import explained
from kempe.design.account import Sensitivity
from kempe.design.evaluating import Evaluator, Gradient
from kempe.design.grazes import grazes
from kempe.errors import AccuracyWarning
from kempe.model import Model
from kempe.simulation.assembling import Pose


@explained
def sensitivity(
    model: Model,
    times: float | Sequence[float] | np.ndarray,
    functionals: Any,
    by: Sequence[str] | str | None = None,
    *,
    gradient: Gradient = "auto",
    parameters: Mapping[str, float] | None = None,
    method: str = "auto",
    steps: int = 200,
    tolerance: float = 1e-8,
    step: float | None = None,
    max_step: float | None = None,
    start: Pose | None = None,
    velocities: Mapping[str, Any] | None = None,
    radius: float | None = None,
    compile: str | None = None,
) -> Sensitivity:
    """Functionals of a simulated motion, and their derivatives by design parameters.

    ``functionals`` is one (``kp.final("crank.omega")``), a list of them or a mapping from names; ``by`` names design
    parameters (default: all that are free). ``gradient`` is "direct", which costs about as much as half a simulation
    per parameter, "adjoint", which costs one or two simulations per functional however many parameters there are, or
    "auto", the cheaper one. Both are derivatives of the discrete solution, its steps frozen, and agree to rounding.

    Everything else is as :func:`kempe.simulate` has it; ``method`` is one of "auto", "projection", "alpha", "radau".
    """
    evaluator = Evaluator(
        model,
        times,
        functionals,
        by,
        gradient=gradient,
        parameters=parameters,
        method=method,
        steps=steps,
        tolerance=tolerance,
        step=step,
        max_step=max_step,
        start=start,
        velocities=velocities,
        radius=radius,
        compile=compile,
    )
    at = dict(zip(model.parameters, evaluator.base.tolist(), strict=True))
    design = {name: at[name] for name in evaluator.parameters}
    values, gradients = evaluator.gradients(list(design.values()))
    told = [*evaluator.warnings, *grazes(evaluator.run)]
    for text in told:
        warnings.warn(text, AccuracyWarning, stacklevel=3)
    bounds = {name: model.parameters[name].bounds for name in design}
    return Sensitivity(
        values=dict(zip(evaluator.names, values.tolist(), strict=True)),
        gradients={
            name: dict(zip(design, row.tolist(), strict=True))
            for name, row in zip(evaluator.names, gradients, strict=True)
        },
        parameters=design,
        method=evaluator.used,
        result=evaluator.result,
        warnings=told,
        bounds={name: limits for name, limits in bounds.items() if limits is not None},
    )
