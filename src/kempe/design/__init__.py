"""Questions about a family of mechanisms: sensitivity and optimal design."""

from kempe.design.account import Effect, Sensitivity, SensitivityTable
from kempe.design.equilibrium_sensitivity import equilibrium_sensitivity
from kempe.design.evaluating import Evaluator
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
from kempe.design.optimising import optimise
from kempe.design.optimum import Active, Optimum
from kempe.design.problem import DesignProblem
from kempe.design.requirements import Requirement
from kempe.design.sensitivity import sensitivity
from kempe.design.solving import solve_design
from kempe.design.static_evaluators import EquilibriumEvaluator, KinematicEvaluator, ModalEvaluator

__all__ = [
    "Active",
    "DesignProblem",
    "Effect",
    "EquilibriumEvaluator",
    "Evaluator",
    "Functional",
    "KinematicEvaluator",
    "ModalEvaluator",
    "Optimum",
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
    "optimise",
    "rms",
    "sensitivity",
    "smooth_maximum",
    "solve_design",
    "value_at",
    "violation",
]
