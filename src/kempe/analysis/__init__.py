"""Questions about one mechanism."""

from kempe.analysis.accelerations import Accelerations, accelerations
from kempe.analysis.assembly import assemble
from kempe.analysis.check import Finding, check
from kempe.analysis.contact_times import contact_times
from kempe.analysis.dynamics import simulate
from kempe.analysis.horizon import Horizon, horizon
from kempe.analysis.inverse import inverse_dynamics
from kempe.analysis.kinematics import kinematics
from kempe.analysis.linear import Linearised, linearise
from kempe.analysis.lyapunov import Lyapunov, lyapunov
from kempe.analysis.many import run_many
from kempe.analysis.mobility import Dependency, Mobility, mobility, ranks
from kempe.analysis.modes import Modes, modes
from kempe.analysis.periodicity import Periodicity, periodicity
from kempe.analysis.redundancy import Redundancy, SharedLoad, redundancy
from kempe.analysis.response import Response, response
from kempe.analysis.sections import PoincareMap, poincare
from kempe.analysis.singular import Branch, SingularPosition
from kempe.analysis.sparsity import Sparsity, sparsity
from kempe.analysis.statics import Equilibrium, equilibrium
from kempe.analysis.statistics import PerPeriod, Spread, Statistics, statistics
from kempe.simulation.assembling import Pose
from kempe.simulation.batches import Runs
from kempe.simulation.checkpoints import resume
from kempe.simulation.methods import METHODS

__all__ = [
    "METHODS",
    "Accelerations",
    "Branch",
    "Dependency",
    "Equilibrium",
    "Finding",
    "Horizon",
    "Linearised",
    "Lyapunov",
    "Mobility",
    "Modes",
    "PerPeriod",
    "Periodicity",
    "PoincareMap",
    "Pose",
    "Redundancy",
    "Response",
    "Runs",
    "SharedLoad",
    "SingularPosition",
    "Sparsity",
    "Spread",
    "Statistics",
    "accelerations",
    "assemble",
    "check",
    "contact_times",
    "equilibrium",
    "horizon",
    "inverse_dynamics",
    "kinematics",
    "linearise",
    "lyapunov",
    "mobility",
    "modes",
    "periodicity",
    "poincare",
    "ranks",
    "redundancy",
    "response",
    "resume",
    "run_many",
    "simulate",
    "sparsity",
    "statistics",
]
