"""The peers of ``kempe bench dynamics``: what each needs for a step, or for a precision, on common problems.

Each function imports its peer when called and raises ``ImportError`` where it is not installed.
"""

from __future__ import annotations

from kempe.benchmarks.peers_exudyn import Settings, exudyn_chain, exudyn_fastest, exudyn_run, exudyn_slider_crank
from kempe.benchmarks.peers_mujoco import mujoco_chain, mujoco_slider_crank
from kempe.benchmarks.peers_precision import Curve, casadi_curves, scipy_curves, sundae_curves, work_precision
from kempe.benchmarks.peers_problems import (
    GRAVITY,
    GROUND,
    PRECISION_PROBLEMS,
    Bar,
    Pin,
    Problem,
    StepTiming,
    chain,
    chain_steps,
    double_pendulum,
    error,
    exact,
    four_bar,
    slider_crank,
)

__all__ = [
    "GRAVITY",
    "GROUND",
    "PRECISION_PROBLEMS",
    "Bar",
    "Curve",
    "Pin",
    "Problem",
    "Settings",
    "StepTiming",
    "casadi_curves",
    "chain",
    "chain_steps",
    "double_pendulum",
    "error",
    "exact",
    "exudyn_chain",
    "exudyn_fastest",
    "exudyn_run",
    "exudyn_slider_crank",
    "four_bar",
    "mujoco_chain",
    "mujoco_slider_crank",
    "scipy_curves",
    "slider_crank",
    "sundae_curves",
    "work_precision",
]
