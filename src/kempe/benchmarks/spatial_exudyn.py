"""Exudyn's side of ``kempe bench spatial``: generalised-alpha of index 3 at its fastest settings (``peers_exudyn``)."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from kempe.benchmarks.peers_exudyn import (
    DENSE,
    MAX_LOSS,
    MAX_VIOLATION,
    NEWTONS,
    SPARSE,
    Settings,
    exudyn_package,
    simulation_settings,
)
from kempe.benchmarks.rigid_joints import GROUND
from kempe.benchmarks.spatial_problems import GRAVITY, Joint, Problem
from kempe.benchmarks.timing import Contender, Run, Timed, interleaved

NODES = {"Euler parameters": "RotationEulerParameters", "Tait-Bryan angles": "RotationRxyz"}
"""How the turn of a body may be described, with Exudyn's name for it."""
DENSE_UP_TO = 5
"""Bodies up to which dense solvers are tried."""


@dataclass(frozen=True)
class SpatialSettings:
    """One way to run Exudyn's implicit solver on bodies in space."""

    nodes: str
    solver: Settings

    def __str__(self) -> str:
        return f"{self.nodes}, {self.solver}"


@dataclass(frozen=True)
class Ended:
    """What a run ended with."""

    seconds: float
    poses: np.ndarray
    violation: float
    error: float


def _build(exu: Any, problem: Problem, nodes: str) -> tuple[Any, list[Any], Any]:
    """The assembled system, its nodes, and the container that must outlive it."""
    import exudyn.itemInterface as items
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    container = exu.SystemContainer()
    system = container.AddSystem()
    ground, start = system.AddObject(items.ObjectGround()), problem.start()
    made = [
        system.CreateRigidBody(
            inertia=RigidBodyInertia(body.mass, np.diag(body.inertia)),
            nodeType=getattr(exu.NodeType, NODES[nodes]),
            referencePosition=list(body.at),
            referenceRotationMatrix=body.rotation,
            initialVelocity=list(start.v[k]),
            initialAngularVelocity=list(start.omega[k]),
            gravity=[0.0, 0.0, -GRAVITY],
            returnDict=True,
        )
        for k, body in enumerate(problem.bodies)
    ]

    def marker(body: int, at: Any, kind: str = "MarkerBodyRigid") -> Any:
        if body == GROUND:
            return system.AddMarker(getattr(items, kind)(bodyNumber=ground, localPosition=list(at)))
        given = problem.bodies[body]
        local = given.rotation.T @ (np.array(at) - given.at)
        return system.AddMarker(getattr(items, kind)(bodyNumber=made[body]["bodyNumber"], localPosition=list(local)))

    for joint in problem.joints:
        kind = "MarkerBodyPosition" if joint.kind == "spherical" else "MarkerBodyRigid"
        ends = [marker(body, joint.at, kind) for body in (joint.i, joint.j)]
        system.AddObject(_joint(items, problem, joint, ends))
    for leg in problem.legs:
        points = problem.reach(leg)
        ends = [
            marker(body, at, "MarkerBodyPosition") for body, at in zip((leg.joint.i, leg.joint.j), points, strict=True)
        ]
        length = float(np.linalg.norm(points[1] - points[0])) + leg.ease
        spring = items.ObjectConnectorSpringDamper(
            markerNumbers=ends, referenceLength=length, stiffness=leg.stiffness, damping=leg.damping
        )
        system.AddObject(spring)
    system.Assemble()
    return system, [each["nodeNumber"] for each in made], container


def _joint(items: Any, problem: Problem, joint: Joint, ends: list[Any]) -> Any:
    """A joint in Exudyn's words: frames of the joint in the axes of the two bodies."""
    if joint.kind == "spherical":
        return items.ObjectJointSpherical(markerNumbers=ends)
    axis = np.array(joint.axis) / np.linalg.norm(joint.axis)
    other = np.array(joint.axis_j) if joint.kind == "universal" else np.eye(3)[np.argmin(np.abs(axis))]
    other = other - (other @ axis) * axis
    other = other / np.linalg.norm(other)
    third = np.cross(axis, other)
    frame = np.column_stack([other, third, axis] if joint.kind == "revolute" else [axis, other, third])
    turns = [np.eye(3) if k == GROUND else problem.bodies[k].rotation for k in (joint.i, joint.j)]
    frames = {f"rotationMarker{k}": turn.T @ frame for k, turn in enumerate(turns)}
    if joint.kind == "revolute":
        return items.ObjectJointRevoluteZ(markerNumbers=ends, **frames)
    if joint.kind == "prismatic":
        return items.ObjectJointPrismaticX(markerNumbers=ends, **frames)
    return items.ObjectJointGeneric(markerNumbers=ends, constrainedAxes=[1, 1, 1, 0, 0, 1], **frames)


def exudyn_contender(problem: Problem, settings: SpatialSettings, step: float, steps: int) -> Contender:
    """One way to run a problem: the solver's call alone counts, each time on a fresh system."""
    exu = exudyn_package()

    def ready() -> Run:
        built = _build(exu, problem, settings.nodes)
        simulation = simulation_settings(exu, settings.solver, step, steps, 0.9)

        def run() -> tuple[Any, list[Any], Any]:
            built[0].SolveDynamic(simulation)
            return built

        return run

    return ready


def exudyn_poses(outcome: tuple[Any, list[Any], Any]) -> np.ndarray:
    """The poses of all bodies at the end of a run."""
    system, nodes, _container = outcome
    kind = exudyn_package().OutputVariableType
    r = np.array([system.GetNodeOutput(node, kind.Position) for node in nodes])
    R = np.array([system.GetNodeOutput(node, kind.RotationMatrix) for node in nodes]).reshape(-1, 3, 3)
    return np.concatenate([r[:, :, None], R], axis=2)


def exudyn_ended(problem: Problem, timed: Timed) -> Ended:
    """What a contender's run ended with."""
    poses = exudyn_poses(timed.outcome)
    return Ended(timed.seconds, poses, problem.violation(poses), problem.error(poses))


def exudyn_settings(problem: Problem) -> dict[str, list[SpatialSettings]]:
    """The settings worth timing with care: all those of a tight tolerance, and the three fastest that count at all."""
    exudyn_package()
    from exudyn import ExudynError

    linear_solvers = (*DENSE, *SPARSE) if len(problem.bodies) <= DENSE_UP_TO else SPARSE
    tight = SpatialSettings("Euler parameters", Settings(SPARSE[0], "full", 1e-8))
    choices = [
        SpatialSettings(nodes, Settings(linear_solver, newton, tolerance))
        for nodes in NODES
        for linear_solver in linear_solvers
        for newton in NEWTONS
        for tolerance in (1e-8, 1e-6, 1e-4)
    ]
    tries: dict[SpatialSettings, Ended] = {}
    for settings in choices:
        with contextlib.suppress(ExudynError):  # no convergence with these settings
            contender = exudyn_contender(problem, settings, problem.step, problem.steps)
            tries[settings] = exudyn_ended(problem, interleaved({settings: contender}, budget=0.0)[settings])
    kept = [
        settings
        for settings, run in tries.items()
        if settings == tight or (run.violation <= MAX_VIOLATION and run.error <= MAX_LOSS * tries[tight].error)
    ]
    kept.sort(key=lambda settings: tries[settings].seconds)
    strict = [settings for settings in kept if settings.solver.tolerance == tight.solver.tolerance]
    return {"same tolerance": strict[:3], "its fastest settings": kept[:3]}
