"""Questions about a family of mechanisms: sensitivity and optimal design."""

from kempe.design.equilibrium_sensitivity import equilibrium_sensitivity
from kempe.design.histories import SensitivityHistory
from kempe.design.kinematic_sensitivity import inverse_dynamics_sensitivity, kinematic_sensitivity
from kempe.design.modal_sensitivity import modal_sensitivity
from kempe.design.static_account import StaticSensitivity

__all__ = [
    "SensitivityHistory",
    "StaticSensitivity",
    "equilibrium_sensitivity",
    "inverse_dynamics_sensitivity",
    "kinematic_sensitivity",
    "modal_sensitivity",
]
