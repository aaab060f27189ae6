"""The peers of ``kempe bench dynamics``: what each needs for a step, or for a precision, on common problems.

Each function imports its peer when called and raises ``ImportError`` where it is not installed.
"""

from __future__ import annotations

from kempe.benchmarks.peers_exudyn import Settings, exudyn_contender, exudyn_settings, exudyn_timing
from kempe.benchmarks.peers_mujoco import INTEGRATORS, mujoco_contender, mujoco_fastest, mujoco_timing
from kempe.benchmarks.peers_precision import Curve, best_of, sweep, timed_in_turn, work_precision
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
    "INTEGRATORS",
    "PRECISION_PROBLEMS",
    "Bar",
    "Curve",
    "Pin",
    "Problem",
    "Settings",
    "StepTiming",
    "best_of",
    "chain",
    "chain_steps",
    "double_pendulum",
    "error",
    "exact",
    "exudyn_contender",
    "exudyn_settings",
    "exudyn_timing",
    "four_bar",
    "mujoco_contender",
    "mujoco_fastest",
    "mujoco_timing",
    "slider_crank",
    "sweep",
    "timed_in_turn",
    "work_precision",
]
