"""Exudyn beside Kempe: seconds per step of generalised-alpha with position constraints, at its fastest settings.

Exudyn is given every advantage: its build without range checks, no output of any kind, one thread (it has none to
spare on small systems), and whichever linear solver, Newton method and tolerance is fastest while the result keeps the
constraints and is as accurate as with tight tolerances.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kempe.benchmarks.peers_problems import GRAVITY, GROUND, Point, Problem, StepTiming, error
from kempe.benchmarks.timing import Contender, Run, Timed, interleaved

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
DENSE_UP_TO = 20
"""Bodies up to which dense solvers are tried."""


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


def exudyn_package() -> Any:
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


def simulation_settings(exu: Any, settings: Settings, step: float, steps: int, spectral_radius: float) -> Any:
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


def exudyn_contender(
    problem: Problem, settings: Settings, step: float, steps: int, spectral_radius: float = 0.9
) -> Contender:
    """One way to run a problem: the solver's call alone counts, each time on a fresh system."""
    exu = exudyn_package()

    def ready() -> Run:
        built = _build(exu, problem)
        simulation = simulation_settings(exu, settings, step, steps, spectral_radius)

        def run() -> tuple[Any, list[Any], Any]:
            built[0].SolveDynamic(simulation)
            return built

        return run

    return ready


def exudyn_timing(problem: Problem, settings: Settings, step: float, steps: int, timed: Timed) -> StepTiming:
    """What a contender's run ended with."""
    system, nodes, _container = timed.outcome
    kind = exudyn_package().OutputVariableType.Coordinates
    q = problem.start + np.ravel([system.GetNodeOutput(node, kind) for node in nodes])
    return StepTiming(
        "Exudyn",
        str(settings),
        timed.seconds / steps,
        step,
        steps,
        q.reshape(-1, 3),
        problem.violation(q),
        error(problem, q, steps * step),
    )


def exudyn_settings(problem: Problem, step: float, steps: int) -> dict[str, list[Settings]]:
    """The settings worth timing with care: all those of a tight tolerance, and the three fastest that count at all."""
    exudyn_package()
    from exudyn import ExudynError

    # dense solvers take 10 ms a step at 100 bodies
    linear_solvers = (*DENSE, *SPARSE) if len(problem.bars) <= DENSE_UP_TO else SPARSE
    tries: dict[Settings, StepTiming] = {}
    for settings in settings_to_try(linear_solvers):
        with contextlib.suppress(ExudynError):  # no convergence with these settings
            once = interleaved({settings: exudyn_contender(problem, settings, step, steps)}, budget=0.0)
            tries[settings] = exudyn_timing(problem, settings, step, steps, once[settings])
    tight = tries[settings_to_try(linear_solvers)[0]]
    kept = [
        settings
        for settings, run in tries.items()
        if run is tight or (run.violation <= MAX_VIOLATION and run.error <= MAX_LOSS * tight.error)
    ]
    kept.sort(key=lambda settings: tries[settings].seconds_per_step)
    strict = [settings for settings in kept if settings.tolerance == 1e-8]
    return {"same tolerance": strict[:3], "its fastest settings": kept[:3]}
