"""Questions about a family of mechanisms: sensitivity and optimal design."""

from kempe.design.optimum import Active, Optimum
from kempe.design.problem import DesignProblem
from kempe.design.solving import solve_design

__all__ = ["Active", "DesignProblem", "Optimum", "solve_design"]
