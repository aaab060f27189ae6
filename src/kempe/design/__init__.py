"""Questions about a family of mechanisms: sensitivity and optimal design."""

from kempe.design.account import Effect, Sensitivity, SensitivityTable
from kempe.design.functionals import (
    Functional,
    final,
    initial,
    integral,
    maximum,
    mean,
    minimum,
    rms,
    smooth_maximum,
    value_at,
    violation,
)
from kempe.design.optimising import optimise
from kempe.design.optimum import Active, Optimum
from kempe.design.problem import DesignProblem
from kempe.design.requirements import Requirement
from kempe.design.sensitivity import sensitivity
from kempe.design.solving import solve_design

__all__ = [
    "Active",
    "DesignProblem",
    "Effect",
    "Functional",
    "Optimum",
    "Requirement",
    "Sensitivity",
    "SensitivityTable",
    "final",
    "initial",
    "integral",
    "maximum",
    "mean",
    "minimum",
    "optimise",
    "rms",
    "sensitivity",
    "smooth_maximum",
    "solve_design",
    "value_at",
    "violation",
]
