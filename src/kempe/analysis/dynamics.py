"""Simulation: the motion of a mechanism under forces, by any of the formulations of the literature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from kempe.calling import explained
from kempe.model import Model
from kempe.results import Result
from kempe.simulation.assembling import Pose
from kempe.simulation.checkpoints import run_to_the_end
from kempe.simulation.methods import given_options
from kempe.simulation.progress import Progress, reporting
from kempe.simulation.running import Record
from kempe.simulation.starting import begun
from kempe.simulation.times import time_grid


@explained
def simulate(
    model: Model,
    times: float | Sequence[float] | np.ndarray,
    *,
    method: str = "auto",
    steps: int = 200,
    tolerance: float = 1e-8,
    step: float | None = None,
    max_step: float | None = None,
    start: Pose | None = None,
    velocities: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    audit: bool = True,
    reactions: str | None = None,
    compile: str | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress = None,
    project: bool | None = None,
    omega: float | None = None,
    damping: float | None = None,
    penalty: float | Mapping[str, float] | None = None,
    iterations: int | None = None,
    radius: float | None = None,
    order: int | None = None,
) -> Result:
    """Simulate: the motion from assembled initial conditions, with reactions and an energy audit.

    ``times`` is an increasing grid of output times, or an end time (then the grid has ``steps`` equal steps from 0).
    ``method`` names a formulation; ``project``, ``omega``, ``damping``, ``penalty``, ``iterations``, ``radius`` and
    ``order`` are options of some of them (``kempe.METHODS`` has their defaults). ``tolerance`` bounds the
    local error of positions in mechanism sizes (radians for angles) and of velocities in the same by the fastest
    motion so far; multipliers are left out of the test. ``step`` takes fixed steps instead.

    ``start`` is where assembly begins (default: the sketch); ``velocities`` names rates ("crank.omega") to start with,
    kept as far as the joints allow; ``result.initial`` says what was changed. ``audit=False`` leaves out the work of
    forces and drivers (``energy.dissipated``, ``energy.supplied``), which saves a little time.

    ``reactions`` says how joints share a load that rigid-body mechanics leaves open, where constraints are redundant:
    "elastic" by the stiffnesses of joints (so unless said, where they are given) or of "minimum norm", which is one of
    many answers. See :func:`kempe.redundancy`.

    ``compile`` says when the equations of this very mechanism are compiled into single functions, in which one step
    takes a fraction of the time: "auto" uses what was compiled before, and compiles beside a run that takes longer than
    some tenths of a second; "always" does so before the run, "never" not at all (the variable ``KEMPE_COMPILE`` says
    what holds unless given). The digits are the same.

    Memory is bounded by the output grid, not by the number of steps. Ctrl-C returns what exists, with the status
    "interrupted". ``checkpoint`` names a file that is kept up to date (every half minute, and on Ctrl-C), from which
    :func:`kempe.resume` goes on.

    Progress is shown in a terminal and in a notebook once the work takes longer than a second; ``progress`` may be True
    or False, or a function that is called now and then with the time reached and the end.
    """
    grid = time_grid(times, steps)
    with reporting(progress, f"'{model.name}': simulate", float(grid[0])) as report:
        machine = begun(
            model,
            grid,
            parameters=parameters,
            method=method,
            tolerance=tolerance,
            step=step,
            max_step=max_step,
            start=start,
            velocities=velocities,
            audit=audit,
            reactions=reactions,
            compile=compile,
            options=given_options(
                project=project,
                omega=omega,
                damping=damping,
                penalty=penalty,
                iterations=iterations,
                radius=radius,
                order=order,
            ),
        )
        return run_to_the_end(machine, Record(), machine.initial(), report, checkpoint)
