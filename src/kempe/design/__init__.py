"""Questions about a family of mechanisms: sensitivity and optimal design."""

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
    "Functional",
    "Requirement",
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
