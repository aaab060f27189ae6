"""MuJoCo beside Kempe: seconds per step in joint coordinates, the slider-crank's loop closed by a soft constraint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kempe.benchmarks.peers_problems import GRAVITY, Problem, StepTiming, error
from kempe.benchmarks.timing import Contender, Run, Timed

INTEGRATORS = ("Euler", "implicitfast", "RK4")
STABLE = 1e-3
"""The loop may open by this much (m), and a chain's error be this much, in a run that counts as stable."""

_MODEL = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="{step}" gravity="0 -{gravity} 0" integrator="{integrator}" solver="Newton" jacobian="{jacobian}">
    <flag contact="disable" island="disable"/>
  </option>
  <worldbody>{bodies}</worldbody>
  {equality}
</mujoco>
"""
_LINK = """
<body name="{name}" pos="{x} 0 0" euler="0 0 {turn}">
  <joint type="hinge" axis="0 0 1"/>
  <inertial pos="{middle} 0 0" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>
  {child}
</body>
"""
_SLIDER = """
<body name="slider" pos="{x} 0 0">
  <joint type="slide" axis="1 0 0"/>
  <inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia} {inertia} {inertia}"/>
</body>
"""
# The stiffest loop that MuJoCo allows: a time constant of two steps, an impedance near 1. Its defaults (0.02 s, 0.9 to
# 0.95) open the loop of the slider-crank by 0.24 mm at the same speed.
_LOOP = """
<equality>
  <connect body1="rod" body2="slider" anchor="{reach} 0 0" solref="{time_constant} 1" solimp="0.9999 0.9999 0.001"/>
</equality>
"""


def _links(problem: Problem, count: int) -> str:
    """The first bars as a tree of hinges, each hung on the one before."""
    text = ""
    for k in reversed(range(count)):
        bar, before = problem.bars[k], problem.bars[k - 1] if k else None
        text = _LINK.format(
            name=bar.name,
            x=before.length if before else 0.0,
            turn=repr(bar.start[2] - (before.start[2] if before else 0.0)),
            middle=bar.length / 2,
            mass=bar.mass,
            inertia=bar.inertia,
            child=text,
        )
    return text


def mjcf(problem: Problem, integrator: str, step: float) -> str:
    """A chain, or the slider-crank, as an MJCF model."""
    bodies, equality, jacobian = _links(problem, len(problem.bars)), "", "sparse"
    if problem.slider is not None:
        slider, rod = problem.bars[problem.slider], problem.bars[1]
        bodies = _links(problem, 2) + _SLIDER.format(x=repr(slider.start[0]), mass=slider.mass, inertia=slider.inertia)
        equality, jacobian = _LOOP.format(reach=rod.length, time_constant=2 * step), "dense"
    return _MODEL.format(
        step=step, gravity=GRAVITY, integrator=integrator, jacobian=jacobian, bodies=bodies, equality=equality
    )


def _reset(mujoco: Any, model: Any, data: Any, problem: Problem) -> None:
    mujoco.mj_resetData(model, data)
    data.qfrc_applied[0] = problem.torque


def _coordinates(problem: Problem, data: Any) -> np.ndarray:
    """Rows ``(x, y, angle)`` of all bodies, from the joint positions."""
    joints = np.array(data.qpos)
    hinges = joints.size if problem.slider is None else 2
    angles = np.array([bar.start[2] for bar in problem.bars])
    angles[:hinges] += np.cumsum(joints[:hinges])
    lengths = np.array([bar.length for bar in problem.bars[:hinges]])
    along = lengths[:, None] * np.column_stack([np.cos(angles[:hinges]), np.sin(angles[:hinges])])
    places = np.cumsum(along, axis=0) - along / 2
    if problem.slider is not None:
        places = np.vstack([places, [problem.bars[problem.slider].start[0] + joints[2], 0.0]])
    return np.column_stack([places, angles])


def mujoco_contender(problem: Problem, integrator: str, step: float, steps: int) -> Contender:
    """One integrator on a problem, timed without a look at the result on the way."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(problem, integrator, step))

    def ready() -> Run:
        data = mujoco.MjData(model)
        _reset(mujoco, model, data, problem)

        def run() -> tuple[Any, Any]:
            mujoco.mj_step(model, data, steps)
            return model, data

        return run

    return ready


def mujoco_timing(problem: Problem, integrator: str, step: float, steps: int, timed: Timed) -> StepTiming:
    """What a contender's run ended with; it is run again to see how far the loop ever opens."""
    import mujoco

    model, data = timed.outcome
    coordinates = _coordinates(problem, data)
    violation = 0.0
    if problem.slider is not None:
        _reset(mujoco, model, data, problem)
        for _ in range(steps):
            mujoco.mj_step(model, data)
            violation = max(violation, problem.violation(_coordinates(problem, data)))
    off = error(problem, coordinates, steps * step) if np.isfinite(coordinates).all() else np.inf
    return StepTiming("MuJoCo", integrator, timed.seconds / steps, step, steps, coordinates, violation, float(off))


def mujoco_fastest(timings: Sequence[StepTiming]) -> StepTiming:
    """The fastest that is stable."""
    stable = [run for run in timings if run.violation <= STABLE and run.error <= STABLE]
    return min(stable or timings, key=lambda run: run.seconds_per_step)
