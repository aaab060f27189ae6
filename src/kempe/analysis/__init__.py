"""Questions about one mechanism."""

from kempe.analysis.assembly import Pose, assemble
from kempe.analysis.check import Finding, check
from kempe.analysis.kinematics import kinematics
from kempe.analysis.mobility import Dependency, Mobility, mobility, ranks
from kempe.analysis.singular import Branch, SingularPosition

__all__ = [
    "Branch",
    "Dependency",
    "Finding",
    "Mobility",
    "Pose",
    "SingularPosition",
    "assemble",
    "check",
    "kinematics",
    "mobility",
    "ranks",
]
