"""Questions about a family of mechanisms: sensitivity and optimal design."""

from kempe.design.account import Effect, Sensitivity, SensitivityTable
from kempe.design.equilibrium_sensitivity import equilibrium_sensitivity
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
from kempe.design.histories import SensitivityHistory
from kempe.design.kinematic_sensitivity import inverse_dynamics_sensitivity, kinematic_sensitivity
from kempe.design.modal_sensitivity import modal_sensitivity
from kempe.design.requirements import Requirement
from kempe.design.static_evaluators import EquilibriumEvaluator, KinematicEvaluator, ModalEvaluator

__all__ = [
    "Effect",
    "EquilibriumEvaluator",
    "Functional",
    "KinematicEvaluator",
    "ModalEvaluator",
    "Requirement",
    "Sensitivity",
    "SensitivityHistory",
    "SensitivityTable",
    "equilibrium_sensitivity",
    "final",
    "initial",
    "integral",
    "inverse_dynamics_sensitivity",
    "kinematic_sensitivity",
    "maximum",
    "mean",
    "minimum",
    "modal_sensitivity",
    "rms",
    "smooth_maximum",
    "value_at",
    "violation",
]
