"""Questions about one mechanism."""

from kempe.analysis.accelerations import Accelerations, accelerations
from kempe.analysis.assembly import Pose, assemble
from kempe.analysis.check import Finding, check
from kempe.analysis.checkpoints import resume
from kempe.analysis.dynamics import simulate
from kempe.analysis.kinematics import kinematics
from kempe.analysis.many import Runs, run_many
from kempe.analysis.methods import METHODS
from kempe.analysis.mobility import Dependency, Mobility, mobility, ranks
from kempe.analysis.singular import Branch, SingularPosition

__all__ = [
    "METHODS",
    "Accelerations",
    "Branch",
    "Dependency",
    "Finding",
    "Mobility",
    "Pose",
    "Runs",
    "SingularPosition",
    "accelerations",
    "assemble",
    "check",
    "kinematics",
    "mobility",
    "ranks",
    "resume",
    "run_many",
    "simulate",
]
