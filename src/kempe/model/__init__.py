"""Containers a user fills: a mechanism of parts and joints, or a system of equations."""

from kempe.model import files
from kempe.model.equations import EquationsModel
from kempe.model.mechanism import MechanismModel
from kempe.model.model import Model
from kempe.model.spatial import SpatialModel

__all__ = ["EquationsModel", "MechanismModel", "Model", "SpatialModel", "files"]
