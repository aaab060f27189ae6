"""How Exudyn and MuJoCo are given impacts and dry friction: as limits, springs and friction of joint coordinates.

Neither has impacts with a restitution or exact sticking. An impact is a stiff spring with a damper, whose restitution
follows from their ratio (Schwager and Poeschel, 2007); the stiffer it is, the nearer to an impact and the shorter the
steps. Friction is MuJoCo's soft constraint ``frictionloss``, and in Exudyn a bristle or a
zone of velocities around zero. Each is tried over its stiffnesses and steps, and the fastest within the error counts.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import brentq

from kempe.benchmarks import nonsmooth_problems as given
from kempe.benchmarks.nonsmooth_problems import GRAVITY, Problem
from kempe.benchmarks.peers_exudyn import exudyn_package
from kempe.benchmarks.timing import Contender, Run


@dataclass(frozen=True)
class Way:
    """One way to run a peer, for a number of steps; its run returns a function that reads the joint coordinates."""

    words: str
    made: Callable[[int], Contender]
    steps: tuple[int, ...]
    """From coarse to fine."""


def damping_ratio(restitution: float, pulls: bool) -> float:
    """The damping ratio of a spring and damper that throws back with a restitution.

    MuJoCo's limits never pull, so that a contact ends before the spring is relaxed; Exudyn's do.
    """
    if pulls:
        loss = -np.log(restitution)
        return float(loss / np.hypot(np.pi, loss))

    def thrown(ratio: float) -> float:
        swing = np.sqrt(1 - ratio**2)
        return float(np.exp(-2 * ratio / swing * np.arctan2(swing, ratio)))

    return float(brentq(lambda ratio: thrown(ratio) - restitution, 1e-9, 0.7))


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """What peers print where a run breaks down would spoil output in JSON; MuJoCo writes it to a file besides."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as aside, contextlib.redirect_stdout(io.StringIO()):
        os.chdir(aside)
        try:
            yield
        finally:
            os.chdir(here)


def _steps(problem: Problem, lengths: tuple[float, ...]) -> tuple[int, ...]:
    return tuple(round(problem.end_time / h) for h in lengths)


#: Frequencies of the stiff spring of an impact (rad/s), and steps within the half swing of one.
FREQUENCIES, WITHIN = (1e3, 3e3, 1e4), (4, 8, 16, 32, 64)
FRICTION_STEPS = (2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5)


def _impact_steps(problem: Problem, frequency: float) -> tuple[int, ...]:
    return tuple(round(problem.end_time * frequency / np.pi * within) for within in WITHIN)


# --- MuJoCo ---------------------------------------------------------------------------------------------------------

_OPTIONS = """<mujoco><option timestep="{step!r}" gravity="0 {gravity} 0" integrator="{integrator}" jacobian="dense">
<flag contact="disable" island="disable"/></option><worldbody>{bodies}</worldbody></mujoco>"""
_INERTIA = '<inertial pos="{x} 0 0" mass="{mass}" diaginertia="1e-9 1e-9 1e-9"/>'
_RIGID = "0.9999 0.9999 0.001"


def _mujoco(bodies: Callable[[float], str], integrator: str, problem: Problem, gravity: float, steps: int) -> Contender:
    import mujoco

    step = problem.end_time / steps
    text = _OPTIONS.format(step=step, gravity=-gravity, integrator=integrator, bodies=bodies(step))
    model = mujoco.MjModel.from_xml_string(text)

    def ready() -> Run:
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:] = problem.start, problem.velocity

        def run() -> Callable[[], np.ndarray]:
            mujoco.mj_step(model, data, steps)
            return lambda: np.array(data.qpos)

        return run

    return ready


def _balls(frequency: float, _: float) -> str:
    """The box as limits of slides, in direct form: stiffness and damping per mass."""
    bounce = f'solreflimit="{-(frequency**2)} {-2 * damping_ratio(given.RESTITUTION, False) * frequency}"'
    rigid = f'limited="true" {bounce} solimplimit="{_RIGID}"'
    one = (
        f'<body><joint type="slide" axis="1 0 0" range="0 {given.WIDE}" {rigid}/>'
        f'<joint type="slide" axis="0 1 0" range="0 1000" {rigid}/>{_INERTIA.format(x=0, mass=1)}</body>'
    )
    return one * given.BALLS


def _rubbing(friction: float, step: float) -> str:
    """Friction of a joint, as rigid as a step allows."""
    return f'frictionloss="{friction}" solreffriction="{2 * step} 1" solimpfriction="{_RIGID}"'


def _block(step: float) -> str:
    friction = _rubbing(given.FRICTION * given.MASS * GRAVITY, step)
    slide = f'<joint type="slide" axis="1 0 0" stiffness="{given.STIFFNESS}" {friction}/>'
    return f"<body>{slide}{_INERTIA.format(x=0, mass=given.MASS)}</body>"


def _pendulum(step: float) -> str:
    slide, first, second = (_rubbing(friction, step) for friction in given.TORQUES)
    end = _INERTIA.format(x=given.LENGTH, mass=given.LOAD)
    link = f'<body pos="{given.LENGTH} 0 0"><joint type="hinge" axis="0 0 1" {second}/>{end}</body>'
    upper = f'<body><joint type="hinge" axis="0 0 1" {first}/>{end}{link}</body>'
    top = f'<joint type="slide" axis="1 0 0" {slide}/>{_INERTIA.format(x=0, mass=given.LOAD)}'
    return f"<body>{top}{upper}</body>"


def mujoco_ways(problem: Problem) -> Iterator[Way]:
    """MuJoCo with its semi-implicit and its fourth-order method."""
    for integrator in ("Euler", "RK4"):
        if problem.name == "balls in a box":
            for frequency in FREQUENCIES:
                words = f"{integrator}, limits of {frequency:g} rad/s"
                made = partial(_mujoco, partial(_balls, frequency), integrator, problem, GRAVITY)
                yield Way(words, made, _impact_steps(problem, frequency))
        else:
            bodies, gravity = (_block, 0.0) if problem.name == "block on a spring" else (_pendulum, GRAVITY)
            made = partial(_mujoco, bodies, integrator, problem, gravity)
            yield Way(f"{integrator}, frictionloss", made, _steps(problem, FRICTION_STEPS))


# --- Exudyn ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Box:
    """Limit stops of coordinates."""

    frequency: float

    def settings(self, coordinate: int) -> dict[str, Any]:
        """Of the connector of a coordinate: x is between two walls, y above a floor."""
        damping = 2 * damping_ratio(given.RESTITUTION, True) * self.frequency
        upper = given.WIDE if coordinate % 2 == 0 else 1000.0
        stiff = {"limitStopsStiffness": self.frequency**2, "limitStopsDamping": damping}
        return {"useLimitStops": True, "limitStopsLower": 0.0, "limitStopsUpper": upper, **stiff}


@dataclass(frozen=True)
class _Rubbing:
    """Friction of coordinates: bristles of a stiffness, or a zone of velocities."""

    friction: tuple[float, ...]
    stiffness: float
    bristles: float
    zone: float

    def settings(self, coordinate: int) -> dict[str, Any]:
        """Of the connector of a coordinate."""
        force = self.friction[coordinate]
        found = {"dynamicFrictionForce": force, "stiffness": self.stiffness, "frictionProportionalZone": self.zone}
        critical = {"stickingStiffness": self.bristles * force, "stickingDamping": 2 * np.sqrt(self.bristles * force)}
        return found if self.zone else found | critical


def _exudyn(exu: Any, connect: _Box | _Rubbing, method: str, problem: Problem, steps: int) -> Contender:
    import exudyn.itemInterface as items

    def ready() -> Run:
        container = exu.SystemContainer()
        system = container.AddSystem()
        ground = system.AddNode(items.NodePointGround())
        fixed = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=ground, coordinate=0))
        nodes = _tree(exu, items, system, problem) if len(problem.start) == 3 else _masses(items, system, problem)
        for k, (node, coordinate) in enumerate(nodes):
            end = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=coordinate))
            given_to = connect.settings(k)
            if not given_to.get("frictionProportionalZone"):
                data = items.NodeGenericData(initialCoordinates=[1, 0, 0], numberOfDataCoordinates=3)
                given_to["nodeNumber"] = system.AddNode(data)
            kind = items.ObjectConnectorCoordinateSpringDamperExt
            system.AddObject(kind(markerNumbers=[fixed, end], **given_to))
        system.Assemble()
        settings, solver = fixed_steps(exu, problem.end_time, steps), getattr(exu.DynamicSolverType, method)

        def read() -> np.ndarray:
            told = [(system.GetNodeOutput(node, exu.OutputVariableType.Coordinates), k) for node, k in nodes]
            return np.array([float(np.ravel(values)[k]) for values, k in told])

        def run() -> Callable[[], np.ndarray]:
            system.SolveDynamic(settings, solverType=solver)
            return read

        read.container = container  # type: ignore[attr-defined]  # the system does not outlive it
        return run

    return ready


def _masses(items: Any, system: Any, problem: Problem) -> list[tuple[int, int]]:
    """A node with a mass for each coordinate; gravity on every second one of a box."""
    found = []
    for k, (x, v) in enumerate(zip(problem.start, problem.velocity, strict=True)):
        start = {"initialCoordinates": [x], "initialVelocities": [v]}
        node = system.AddNode(items.Node1D(referenceCoordinates=[0.0], **start))
        system.AddObject(items.ObjectMass1D(mass=1.0, nodeNumber=node))
        if len(problem.start) > 1 and k % 2:
            marker = system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=0))
            system.AddLoad(items.LoadCoordinate(markerNumber=marker, load=-GRAVITY))
        found.append((node, 0))
    return found


def _tree(exu: Any, items: Any, system: Any, problem: Problem) -> list[tuple[int, int]]:
    """The double pendulum in joint coordinates."""
    ends, zero, one = [[0, 0, 0], [given.LENGTH, 0, 0], [given.LENGTH, 0, 0]], np.zeros((3, 3)), np.eye(3)
    node = system.AddNode(
        items.NodeGenericODE2(
            referenceCoordinates=[0.0] * 3,
            initialCoordinates=list(problem.start),
            initialCoordinates_t=list(problem.velocity),
            numberOfODE2Coordinates=3,
        )
    )
    system.AddObject(
        items.ObjectKinematicTree(
            nodeNumber=node,
            gravity=[0, -GRAVITY, 0],
            jointTypes=[exu.JointType.PrismaticX, exu.JointType.RevoluteZ, exu.JointType.RevoluteZ],
            linkParents=[-1, 0, 1],
            jointTransformations=exu.Matrix3DList([one] * 3),
            jointOffsets=exu.Vector3DList([[0, 0, 0], [0, 0, 0], [given.LENGTH, 0, 0]]),
            linkInertiasCOM=exu.Matrix3DList([zero] * 3),
            linkCOMs=exu.Vector3DList(ends),
            linkMasses=[given.LOAD] * 3,
        )
    )
    return [(node, k) for k in range(3)]


def fixed_steps(exu: Any, end: float, steps: int) -> Any:
    """Fixed steps and no output of any kind."""
    settings = exu.SimulationSettings()
    integration, solution = settings.timeIntegration, settings.solution
    integration.numberOfSteps, integration.endTime = steps, end
    integration.adaptiveStep = integration.automaticStepSize = False
    integration.verboseMode = integration.stepInformation = 0
    integration.generalizedAlpha.spectralRadius = 0.9
    integration.newton.useModifiedNewton = True
    solution.file.write = solution.sensors.active = False
    solution.solverInformationFileName = ""
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    settings.parallel.numberOfThreads = 1
    return settings


def exudyn_ways(problem: Problem) -> Iterator[Way]:
    """Exudyn with an explicit and an implicit method of fixed step."""
    exu = exudyn_package()
    for method in ("RK44", "GeneralizedAlpha"):
        if problem.name == "balls in a box":
            for frequency in FREQUENCIES:
                words = f"{method}, limit stops of {frequency:g} rad/s"
                yield Way(
                    words, partial(_exudyn, exu, _Box(frequency), method, problem), _impact_steps(problem, frequency)
                )
            continue
        alone = problem.name == "block on a spring"
        friction = (given.FRICTION * given.MASS * GRAVITY,) if alone else given.TORQUES
        spring = given.STIFFNESS if alone else 0.0
        for bristles, zone in ((1e6, 0.0), (0.0, 1e-3), (0.0, 1e-4)):
            words = f"{method}, friction over {zone:g} /s" if zone else f"{method}, bristles of {1 / bristles:g}"
            connect = _Rubbing(friction, spring, bristles, zone)
            yield Way(words, partial(_exudyn, exu, connect, method, problem), _steps(problem, FRICTION_STEPS))
