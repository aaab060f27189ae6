"""What is asked of a simulation, checked: a plain value that set-up reads and a checkpoint keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kempe.elements import plain_number, shown
from kempe.errors import ModelError
from kempe.simulation.assembling import Pose
from kempe.simulation.methods import Method, method_named
from kempe.simulation.times import time_grid
from kempe.system.fusion import compile_named
from kempe.system.sharing import reactions_named


@dataclass(frozen=True)
class Task:
    """A simulation as it was asked for."""

    grid: np.ndarray
    method: Method
    options: dict[str, Any]
    tolerance: float
    step: float
    max_step: float
    audit: bool
    #: When programs are fused: "auto", "never" or "always".
    compile: str = "auto"
    start: Pose | None = None
    velocities: dict[str, float] = field(default_factory=dict)
    #: How joints share a load that rigid-body mechanics leaves open: "elastic", "minimum norm", or as there is.
    reactions: str | None = None
    #: Where steps have to end, for a run that is written on tape.
    stops: tuple[float, ...] | None = None
    #: How it was called, but for times and start: a checkpoint keeps this.
    arguments: dict[str, Any] = field(default_factory=dict)

    @property
    def begun(self) -> float:
        """Where it begins."""
        return float(self.grid[0])

    @property
    def span(self) -> float:
        """How long it lasts."""
        return float(self.grid[-1] - self.grid[0])


def new_task(
    times: Any,
    *,
    method: str = "auto",
    steps: int = 200,
    tolerance: float = 1e-8,
    step: float | None = None,
    max_step: float | None = None,
    start: Pose | None = None,
    velocities: Mapping[str, float] | None = None,
    audit: bool = True,
    reactions: str | None = None,
    options: Mapping[str, Any] | None = None,
    compile: str | None = None,
) -> Task:
    """A task from what a user gave; raises ModelError where it makes no sense."""
    if start is not None and not isinstance(start, Pose):
        raise ModelError(f"a start must be a pose, as m.assemble() returns it, not {shown(start)}")
    if velocities is not None and not isinstance(velocities, Mapping):
        raise ModelError(f"velocities are given by name, as a mapping, not {shown(velocities)}")
    if not isinstance(audit, (bool, np.bool_)):
        raise ModelError(f"audit must be True or False, not {shown(audit)}")
    given: dict[str, Any] = {"method": method, "audit": bool(audit), "reactions": reactions}
    given |= {"tolerance": tolerance, "step": step, "max_step": max_step}
    grid = time_grid(times, steps)
    chosen, checked = method_named(method, dict(options or {}))
    wanted = dict(start.rates) if start is not None else {}
    wanted.update(velocities or {})
    return Task(
        grid=grid,
        method=chosen,
        options=checked,
        tolerance=within(tolerance, "tolerance", 1e-14, 0.1),
        step=0.0 if step is None else step_within(step, "step", grid),
        max_step=float(grid[-1] - grid[0]) if max_step is None else step_within(max_step, "max_step", grid),
        audit=audit,
        compile=compile_named(compile),
        reactions=reactions_named(reactions),
        start=start,
        velocities={name: plain_number(value, f"velocity '{name}'") for name, value in wanted.items()},
        arguments={**given, "options": dict(options or {})},
    )


#: A run of more steps than this is a mistake: it takes the better part of an hour for the smallest mechanism.
MOST_STEPS = 1e9


def step_within(value: Any, what: str, grid: np.ndarray) -> float:
    """A step with which a run comes to an end."""
    step = within(value, what, 0.0, np.inf)
    if float(grid[-1] - grid[0]) / MOST_STEPS > step:
        raise ModelError(f"{what} = {step:g} is too small: the run would take more than {MOST_STEPS:g} steps")
    return step


def within(value: Any, what: str, low: float, high: float) -> float:
    """A number in a range that excludes its lower end."""
    number = plain_number(value, what)
    if not low < number <= high:
        raise ModelError(
            f"{what} must be above {low:g}" + (f" and at most {high:g}" if high < np.inf else "") + f", not {number:g}"
        )
    return number
