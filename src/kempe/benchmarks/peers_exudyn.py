"""Exudyn beside Kempe: seconds per step of generalised-alpha with position constraints, at its fastest settings.

Exudyn is given every advantage: its build without range checks, no output of any kind, one thread (it has none to
spare on small systems), and whichever linear solver, Newton method and tolerance is fastest while the result keeps the
constraints and is as accurate as with tight tolerances.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kempe.benchmarks.peers_problems import (
    GRAVITY,
    GROUND,
    Point,
    Problem,
    StepTiming,
    chain,
    chain_steps,
    error,
    slider_crank,
)

MAX_VIOLATION = 1e-11
"""Constraint errors (m) up to which a run counts."""
MAX_LOSS = 3.0
"""How many times the error of the tight run a faster one may have and still count."""


@dataclass(frozen=True)
class Settings:
    """One way to run Exudyn's implicit solver."""

    linear_solver: str
    newton: str
    """``full``; ``modified`` (a Jacobian is kept while it contracts); ``once-a-step`` (modified, renewed each step)."""
    tolerance: float
    """Relative; the absolute one is a hundredth of it, as in Exudyn's defaults."""

    def __str__(self) -> str:
        return f"{self.linear_solver}, {self.newton} Newton, tolerance {self.tolerance:g}"


NEWTONS = ("full", "modified", "once-a-step")
DENSE, SPARSE = ("EXUdense", "EigenDense"), ("EigenSparse",)


def settings_to_try(linear_solvers: Sequence[str]) -> tuple[Settings, ...]:
    """The tight settings that all others are judged by, then the rest."""
    tight = Settings(linear_solvers[-1], "full", 1e-8)
    rest = (
        Settings(linear_solver, newton, tolerance)
        for linear_solver in linear_solvers
        for newton in NEWTONS
        for tolerance in (1e-8, 1e-6, 1e-5, 1e-4)
    )
    return (tight, *(settings for settings in rest if settings != tight))


def _exudyn() -> Any:
    """The package, in its build without range checks unless another one was imported before."""
    sys.exudynFast = True  # type: ignore[attr-defined]
    with contextlib.redirect_stdout(io.StringIO()):  # it announces itself, which would spoil output in JSON
        import exudyn
    return exudyn


def _build(exu: Any, problem: Problem) -> tuple[Any, list[Any], Any]:
    """The assembled system, its nodes, and the container that must outlive it."""
    import exudyn.itemInterface as items

    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.AddObject(items.ObjectGround())
    nodes, bodies = [], []
    for bar in problem.bars:
        node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=list(bar.start)))
        body = system.AddObject(items.ObjectRigidBody2D(mass=bar.mass, inertia=bar.inertia, nodeNumber=node))
        mass = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=[0.0, -GRAVITY, 0.0]))
        nodes.append(node)
        bodies.append(body)

    def marker(body: int, point: Point) -> Any:
        number = ground if body == GROUND else bodies[body]
        return system.AddMarker(items.MarkerBodyPosition(bodyNumber=number, localPosition=[*point, 0.0]))

    for pin in problem.pins:
        ends = [marker(pin.body_i, pin.on_i), marker(pin.body_j, pin.on_j)]
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=ends))
    if problem.slider is not None:
        frames = [
            system.AddMarker(items.MarkerBodyRigid(bodyNumber=number)) for number in (ground, bodies[problem.slider])
        ]
        guide = items.ObjectJointPrismatic2D(
            markerNumbers=frames, axisMarker0=[1.0, 0.0, 0.0], normalMarker1=[0.0, 1.0, 0.0]
        )
        system.AddObject(guide)
    if problem.torque:
        frame = system.AddMarker(items.MarkerBodyRigid(bodyNumber=bodies[0]))
        system.AddLoad(items.LoadTorqueVector(markerNumber=frame, loadVector=[0.0, 0.0, problem.torque]))
    system.Assemble()
    return system, nodes, container


def _simulation(exu: Any, settings: Settings, step: float, steps: int, spectral_radius: float) -> Any:
    """Exudyn's own settings object: generalised-alpha of index 3, fixed steps, silent."""
    simulation = exu.SimulationSettings()
    integration, solution = simulation.timeIntegration, simulation.solution
    integration.numberOfSteps, integration.endTime = steps, steps * step
    integration.adaptiveStep = False
    integration.verboseMode = integration.stepInformation = 0
    integration.generalizedAlpha.spectralRadius = spectral_radius
    integration.generalizedAlpha.useIndex2Constraints = False
    integration.newton.useModifiedNewton = settings.newton != "full"
    integration.newton.modifiedNewtonJacUpdatePerStep = settings.newton == "once-a-step"
    integration.newton.relativeTolerance = settings.tolerance
    integration.newton.absoluteTolerance = settings.tolerance / 100
    solution.file.write = solution.sensors.active = False
    solution.solverInformationFileName = ""
    simulation.linearSolver.solverType = getattr(exu.LinearSolverType, settings.linear_solver)
    simulation.linearSolver.reuseAnalyzedPattern = True
    simulation.parallel.numberOfThreads = 1
    return simulation


def exudyn_run(
    problem: Problem, settings: Settings, step: float, steps: int, spectral_radius: float = 0.9, repeats: int = 3
) -> StepTiming:
    """Time one way to run a problem: the solver's call alone, the shortest of several, each on a fresh system."""
    exu = _exudyn()
    seconds = []
    for _ in range(repeats):
        system, nodes, _container = _build(exu, problem)
        simulation = _simulation(exu, settings, step, steps, spectral_radius)
        begin = time.perf_counter()
        system.SolveDynamic(simulation)
        seconds.append(time.perf_counter() - begin)
    displacements = [system.GetNodeOutput(node, exu.OutputVariableType.Coordinates) for node in nodes]
    q = problem.start + np.ravel(displacements)
    return StepTiming(
        "Exudyn",
        str(settings),
        min(seconds) / steps,
        step,
        steps,
        q.reshape(-1, 3),
        problem.violation(q),
        error(problem, q, steps * step),
    )


def exudyn_fastest(
    problem: Problem,
    step: float,
    steps: int,
    linear_solvers: Sequence[str] = (*DENSE, *SPARSE),
    spectral_radius: float = 0.9,
    max_violation: float = MAX_VIOLATION,
) -> StepTiming:
    """The fastest way to run a problem: all are tried once, the best three of those that count are timed with care."""
    _exudyn()
    from exudyn import ExudynError

    tries: dict[Settings, StepTiming] = {}
    for settings in settings_to_try(linear_solvers):
        with contextlib.suppress(ExudynError):  # no convergence with these settings
            tries[settings] = exudyn_run(problem, settings, step, steps, spectral_radius, repeats=1)
    tight = tries[settings_to_try(linear_solvers)[0]]
    kept = [
        settings
        for settings, run in tries.items()
        if run is tight or (run.violation <= max_violation and run.error <= MAX_LOSS * tight.error)
    ]
    kept.sort(key=lambda settings: tries[settings].seconds_per_step)
    runs = [exudyn_run(problem, settings, step, steps, spectral_radius, repeats=4) for settings in kept[:3]]
    return min(runs, key=lambda run: run.seconds_per_step)


def exudyn_slider_crank(
    step: float = 1e-4, steps: int = 10_000, spectral_radius: float = 0.9, max_violation: float = MAX_VIOLATION
) -> StepTiming:
    """The slider-crank at Exudyn's fastest settings."""
    return exudyn_fastest(slider_crank(), step, steps, (*DENSE, *SPARSE), spectral_radius, max_violation)


def exudyn_chain(
    count: int,
    step: float = 1e-3,
    steps: int | None = None,
    spectral_radius: float = 0.9,
    max_violation: float = MAX_VIOLATION,
) -> StepTiming:
    """The chain of pendulums at Exudyn's fastest settings; by default fewer steps the longer the chain."""
    solvers = (*DENSE, *SPARSE) if count <= 10 else SPARSE  # dense solvers take 10 ms a step at 100 bodies
    return exudyn_fastest(chain(count), step, steps or chain_steps(count), solvers, spectral_radius, max_violation)
