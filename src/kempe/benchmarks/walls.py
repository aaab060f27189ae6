"""Events per second: a mass between two stiff walls, beside Exudyn and MuJoCo, against the exact motion.

The mass flies freely between one-sided springs and leaves each as fast as it came: half a sine of ``sqrt(k/m)``.
Kempe ends a step at every touch and every release. The peers have no such events: they step across, with a force that
bends at the wall, and what they do not resolve there shows as an error of speed, which grows into one of position.
So each is given the longest step with which its error is comparable to Kempe's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import kempe as kp
from kempe.benchmarks.ours import simulating
from kempe.benchmarks.peers_exudyn import exudyn_package
from kempe.benchmarks.record import Record, more_is_better
from kempe.benchmarks.timing import Contender, Run, interleaved

HALF_GAP, SPEED, STIFFNESS, MASS = 5e-3, 1.0, 1e6, 1.0
IMPACTS = 100
TOLERANCE = 1e-8
OMEGA = float(np.sqrt(STIFFNESS / MASS))
FLIGHT, CONTACT = 2 * HALF_GAP / SPEED, np.pi / OMEGA
END = IMPACTS * (FLIGHT + CONTACT) + 0.3 * HALF_GAP / SPEED
"""From the middle, through all impacts, to a little beyond the middle."""
EVENTS = 2 * IMPACTS
COMPARABLE = 3.0
"""How many times Kempe's error a peer's may be."""
STEPS = (7e-6, 1e-5, 1.4e-5, 2e-5, 3e-5, 4e-5, 7e-5, 1e-4)
AROUND = (0.98, 0.99, 1.0, 1.01, 1.02)
"""An error is the median over runs with steps, or tolerances, so many times the given one: where steps end near a wall
is a matter of chance, and a single run may be a hundred times better than its neighbours."""


def exact(t: float) -> tuple[float, float]:
    """Position and velocity of the mass that leaves the middle to the right."""
    turns, s = divmod(t + HALF_GAP / SPEED, FLIGHT + CONTACT)  # each half period begins at a wall
    side = -1.0 if turns % 2 else 1.0
    if s < FLIGHT:
        return side * (SPEED * s - HALF_GAP), side * SPEED
    phase = OMEGA * (s - FLIGHT)
    return side * (HALF_GAP + SPEED / OMEGA * np.sin(phase)), side * SPEED * np.cos(phase)


def error(x: float, v: float) -> float:
    """Of the end: of the position, or what the error of the speed makes of it within the next flight (m)."""
    position, velocity = exact(END)
    off = max(abs(x - position), abs(v - velocity) * FLIGHT)
    return off if np.isfinite(off) else np.inf


def build() -> kp.Mechanism:
    """The mass and its walls."""
    m = kp.Mechanism("two walls", gravity=(0, 0))
    mass = m.point("mass", at=(0, 0), fixed="y", mass=MASS)
    m.bump_stop("left", mass.x, -HALF_GAP, STIFFNESS, side="below")
    m.bump_stop("right", mass.x, HALF_GAP, STIFFNESS, side="above")
    return m


@dataclass(frozen=True)
class Way:
    """One way to run a peer; its run returns a function that reads position and velocity."""

    words: str
    made: Callable[[int], Contender]
    """For a number of steps."""


def _exudyn_ways() -> Iterator[Way]:
    """Exudyn's compiled expressions of the walls, with an explicit and an implicit method of fixed step.

    Its limit stops keep their state of contact through a step. A spring with a symbolic force, which Exudyn evaluates
    without Python, has none to keep and is more accurate at the same step. Its method of variable step, DOPRI5, is left
    out: at tolerances that would be comparable it does not come past the bend of the force.
    """
    exu = exudyn_package()
    for wall in ("limit stops", "symbolic spring"):
        for method in ("RK44", "GeneralizedAlpha"):
            yield Way(f"{wall}, {method}", partial(_exudyn, exu, wall, method))


def _exudyn(exu: Any, wall: str, method: str, steps: int) -> Contender:
    import exudyn.itemInterface as items
    from exudyn.utilities import CreateSymbolicUserFunction

    def ready() -> Run:
        container = exu.SystemContainer()
        system = container.AddSystem()
        ground = system.AddNode(items.NodePointGround())
        node = system.AddNode(items.Node1D(referenceCoordinates=[0.0], initialVelocities=[SPEED]))
        system.AddObject(items.ObjectMass1D(mass=MASS, nodeNumber=node))
        ends = [system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=each, coordinate=0)) for each in (ground, node)]
        if wall == "limit stops":
            state = system.AddNode(items.NodeGenericData(initialCoordinates=[0] * 3, numberOfDataCoordinates=3))
            limits: dict[str, Any] = {
                "limitStopsUpper": HALF_GAP,
                "limitStopsLower": -HALF_GAP,
                "limitStopsStiffness": STIFFNESS,
            }
            kind = items.ObjectConnectorCoordinateSpringDamperExt
            system.AddObject(kind(markerNumbers=ends, nodeNumber=state, useLimitStops=True, **limits))
        else:

            def law(_system: Any, _t: Any, _item: Any, x: Any, _v: Any, stiffness: Any, _damping: Any, gap: Any) -> Any:
                return stiffness * (exu.symbolic.max(x - gap, 0.0) + exu.symbolic.min(x + gap, 0.0))

            spring = system.AddObject(
                items.ObjectConnectorCoordinateSpringDamper(markerNumbers=ends, stiffness=STIFFNESS, offset=HALF_GAP)
            )
            name = "springForceUserFunction"
            system.SetObjectParameter(spring, name, CreateSymbolicUserFunction(system, law, name, spring, verbose=0))
        system.Assemble()
        settings = exu.SimulationSettings()
        integration, solution = settings.timeIntegration, settings.solution
        integration.numberOfSteps, integration.endTime = steps, END
        integration.adaptiveStep = integration.automaticStepSize = False
        integration.verboseMode = integration.stepInformation = 0
        integration.generalizedAlpha.spectralRadius = 1.0
        solution.file.write = solution.sensors.active = False
        solution.solverInformationFileName = ""
        settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
        settings.parallel.numberOfThreads = 1
        output, solver = exu.OutputVariableType, getattr(exu.DynamicSolverType, method)

        def read() -> tuple[float, float]:
            kinds = (output.Coordinates, output.Coordinates_t)
            x, v = (float(np.ravel(system.GetNodeOutput(node, kind))[0]) for kind in kinds)
            return x, v

        def run() -> Callable[[], tuple[float, float]]:
            system.SolveDynamic(settings, solverType=solver)
            return read

        read.container = container  # type: ignore[attr-defined]  # the system does not outlive it
        return run

    return ready


_MODEL = """
<mujoco>
  <option timestep="{step!r}" gravity="0 0 0" integrator="{integrator}" jacobian="dense">
    <flag contact="disable" island="disable"/>
  </option>
  <worldbody><body>
    <joint type="slide" axis="1 0 0" limited="true" range="-{gap} {gap}"
           solreflimit="-{rate} 0" solimplimit="0.9999 0.9999 0.001"/>
    <inertial pos="0 0 0" mass="{mass}" diaginertia="1 1 1"/>
  </body></worldbody>
</mujoco>
"""


def _mujoco_ways() -> Iterator[Way]:
    """MuJoCo's walls as limits of the joint, with an explicit method of order 1 and one of order 4.

    In direct form, and with an impedance that does not vary, a limit is a spring of a given stiffness per mass. A
    spring with a dead band moves the mass alike, at the same speed of computation.
    """
    import mujoco

    for integrator in ("Euler", "RK4"):
        yield Way(f"joint limits, {integrator}", partial(_mujoco, mujoco, integrator))


def _mujoco(mujoco: Any, integrator: str, steps: int) -> Contender:
    text = _MODEL.format(step=float(END / steps), integrator=integrator, mass=MASS, gap=HALF_GAP, rate=STIFFNESS / MASS)
    model = mujoco.MjModel.from_xml_string(text)

    def ready() -> Run:
        data = mujoco.MjData(model)
        data.qvel[0] = SPEED

        def run() -> Callable[[], tuple[float, float]]:
            mujoco.mj_step(model, data, steps)
            return lambda: (float(data.qpos[0]), float(data.qvel[0]))

        return run

    return ready


@dataclass(frozen=True)
class Choice:
    """A way to run a peer with its number of steps, and the error it ends with."""

    words: str
    contender: Contender
    seconds: float
    off: float


def _tried(way: Way, step: float) -> Choice:
    runs = {factor: way.made(round(END / step / factor)) for factor in AROUND}
    times = interleaved(runs, budget=0.0)
    off = float(np.median([error(*timed.outcome()) for timed in times.values()]))
    return Choice(f"{way.words}, h = {step:.1e}", runs[1.0], times[1.0].seconds, off)


def _comparable(ways: Sequence[Way], bound: float) -> list[Choice]:
    """The two fastest choices within a bound of the error; where none is, the most accurate one."""
    within: list[Choice] = []
    others: list[Choice] = []
    for way in ways:
        for step in STEPS:
            choice = _tried(way, step)
            if choice.off > bound:
                others.append(choice)
                break
            within.append(choice)
    if not within:
        return [min(others, key=lambda choice: choice.off)]
    return sorted(within, key=lambda choice: choice.seconds)[:2]


def records(bench: str) -> Iterator[Record]:
    """Events per second, touches and releases both counted."""
    model, velocities = build(), {"mass.vx": SPEED}
    ours = {
        factor: simulating(model, [0.0, END], tolerance=factor * TOLERANCE, velocities=velocities) for factor in AROUND
    }
    results = [timed.outcome for timed in interleaved(ours, budget=0.0).values()]
    off = float(np.median([error(float(each["mass.x"][-1]), float(each["mass.vx"][-1])) for each in results]))
    events = min(len(each.events) for each in results)
    choices: dict[str, list[Choice]] = {}
    for peer, ways in (("Exudyn", _exudyn_ways), ("MuJoCo", _mujoco_ways)):
        try:
            choices[peer] = _comparable(list(ways()), COMPARABLE * off)
        except ImportError:
            choices[peer] = []
    contenders = {"Kempe": ours[1.0]}
    contenders |= {f"{peer}{each.words}": each.contender for peer, found in choices.items() for each in found}
    times = interleaved(contenders, budget=10.0)
    rate = events / times["Kempe"].seconds
    about = (
        f"{IMPACTS} impacts of 1 kg at 1 m/s in a gap of {2e3 * HALF_GAP:g} mm, stiffness {STIFFNESS:g}, exact motion "
        f"known; Kempe: auto, tolerance {TOLERANCE:g}, {events} events of {EVENTS}, {_accuracy(off)}"
    )
    for peer, found in choices.items():
        if not found:
            yield more_is_better(bench, "two stiff walls: events", rate, peer, None, "events/s", about)
            continue
        best = min(found, key=lambda each: times[f"{peer}{each.words}"].seconds)
        value = EVENTS / times[f"{peer}{best.words}"].seconds
        conditions = f"{about}; peer: {best.words}, {_accuracy(best.off)}"
        yield more_is_better(bench, "two stiff walls: events", rate, peer, value, "events/s", conditions)


def _accuracy(off: float) -> str:
    return f"position off by {off:.1e} m at the end, the period by {off / SPEED / END:.0e} of itself"
