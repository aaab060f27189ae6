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
from kempe.design.requirements import Requirement

__all__ = [
    "Effect",
    "Functional",
    "Requirement",
    "Sensitivity",
    "SensitivityTable",
    "final",
    "initial",
    "integral",
    "maximum",
    "mean",
    "minimum",
    "rms",
    "smooth_maximum",
    "value_at",
    "violation",
]
