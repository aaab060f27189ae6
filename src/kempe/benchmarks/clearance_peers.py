"""How Exudyn and MuJoCo are given a loose pin: by a force of one's own, and by the limit of a tendon's length.

Exudyn has no journal in a bearing, but a connector with a function of one's own, which its symbols turn into code that
runs without Python. MuJoCo has neither: what is nearest is a tendon between the two centres that must not grow longer
than the clearance, whose limit is a linear spring and damper per mass. So Exudyn solves the same equations, and MuJoCo
others that look alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kempe.benchmarks import clearance_problems as given
from kempe.benchmarks.clearance_problems import CLEARANCE, CRANK, DAMPING, INERTIAS, MASSES, OMEGA, ROD, STIFFNESS
from kempe.benchmarks.nonsmooth_peers import fixed_steps
from kempe.benchmarks.timing import Contender, Run

#: Where crank, rod and slider are at the start, and how they move: x, y, angle of each.
PLACES = ((CRANK / 2, 0.0, 0.0), (CRANK + ROD / 2, 0.0, 0.0), (CRANK + ROD, 0.0, 0.0))
TURNING = -CRANK * OMEGA / ROD
RATES = ((0.0, OMEGA * CRANK / 2, OMEGA), (0.0, OMEGA * CRANK + TURNING * ROD / 2, TURNING), (0.0, 0.0, 0.0))


def _force(exu: Any) -> Callable[..., Any]:
    """The contact force as Exudyn's symbols."""
    symbolic = exu.symbolic

    def force(_: Any, __: Any, ___: Any, u: Any, v: Any, *____: Any) -> Any:
        apart = symbolic.sqrt(u[0] * u[0] + u[1] * u[1] + 1e-300)
        depth, rate = symbolic.max(apart - CLEARANCE, 0.0), (u[0] * v[0] + u[1] * v[1]) / apart
        pressed = STIFFNESS * depth * symbolic.sqrt(depth) * (1 + DAMPING * rate) / apart
        return symbolic.Vector([pressed * u[0], pressed * u[1], 0.0])

    def springForce(mbs: Any, t: Any, itemNumber: Any, u: Any, v: Any, k: Any, d: Any, off: Any) -> Any:
        return force(mbs, t, itemNumber, u, v)

    return springForce


def exudyn_run(exu: Any, end: float, steps: int) -> Contender:
    """Exudyn's generalised-alpha method with fixed steps; a run returns what reads slider and rod's angle."""
    import exudyn.itemInterface as items
    from exudyn.advancedUtilities import CreateSymbolicUserFunction

    def ready() -> Run:
        container = exu.SystemContainer()
        system = container.AddSystem()
        ground, fixed = system.AddObject(items.ObjectGround()), system.AddNode(items.NodePointGround())
        nodes, bodies = [], []
        for place, rate, mass, inertia in zip(PLACES, RATES, MASSES, INERTIAS, strict=True):
            node = items.NodeRigidBody2D(referenceCoordinates=list(place), initialVelocities=list(rate))
            nodes.append(system.AddNode(node))
            bodies.append(system.AddObject(items.ObjectRigidBody2D(nodeNumber=nodes[-1], mass=mass, inertia=inertia)))

        def at(body: int, x: float) -> int:
            return int(system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[x, 0, 0])))

        def coordinate(node: int, k: int) -> int:
            return int(system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=k)))

        joint, hold = items.ObjectJointRevolute2D, items.ObjectConnectorCoordinate
        system.AddObject(joint(markerNumbers=[at(ground, 0.0), at(bodies[0], -CRANK / 2)]))
        system.AddObject(joint(markerNumbers=[at(bodies[0], CRANK / 2), at(bodies[1], -ROD / 2)]))
        zero = coordinate(fixed, 0)
        driven = [zero, coordinate(nodes[0], 2)]
        system.AddObject(hold(markerNumbers=driven, velocityLevel=True, offset=OMEGA))
        for k in (1, 2):
            system.AddObject(hold(markerNumbers=[zero, coordinate(nodes[2], k)]))
        pins = [at(bodies[1], ROD / 2), at(bodies[2], 0.0)]
        pin = system.AddObject(items.ObjectConnectorCartesianSpringDamper(markerNumbers=pins))
        force = CreateSymbolicUserFunction(system, _force(exu), "springForceUserFunction", pin)
        system.SetObjectParameter(pin, "springForceUserFunction", force)
        system.Assemble()
        settings = fixed_steps(exu, end, steps)

        def read() -> np.ndarray:
            told = [system.GetNodeOutput(node, exu.OutputVariableType.Coordinates) for node in nodes]
            return np.array([PLACES[2][0] + float(told[2][0]), float(told[1][2])])

        def run() -> Callable[[], np.ndarray]:
            system.SolveDynamic(settings)
            return read

        read.kept = (container, force)  # type: ignore[attr-defined]  # the system does not outlive them
        return run

    return ready


_MUJOCO = """<mujoco><option timestep="{step!r}" gravity="0 0 0" integrator="implicitfast" jacobian="dense">
<flag contact="disable" island="disable"/></option><worldbody>
<body><joint name="crank" type="hinge" axis="0 0 1" armature="1e3"/>
<inertial pos="{half_crank} 0 0" mass="{masses[0]}" diaginertia="{inertias[0]} {inertias[0]} {inertias[0]}"/>
<body pos="{crank} 0 0"><joint name="rod" type="hinge" axis="0 0 1"/>
<inertial pos="{half_rod} 0 0" mass="{masses[1]}" diaginertia="{inertias[1]} {inertias[1]} {inertias[1]}"/>
<site name="bearing" pos="{rod} 0 0"/></body></body>
<body pos="{both} 0 0"><joint name="slider" type="slide" axis="1 0 0"/>
<inertial pos="0 0 0" mass="{masses[2]}" diaginertia="{inertias[2]} {inertias[2]} {inertias[2]}"/>
<site name="journal"/></body></worldbody>
<tendon><spatial limited="true" range="0 {clearance}" solreflimit="{stiffness} {damping}"
solimplimit="0.9999 0.9999 0.001"><site site="bearing"/><site site="journal"/></spatial></tendon></mujoco>"""


def mujoco_run(end: float, steps: int, frequency: float, ratio: float) -> Contender:
    """MuJoCo with a limited tendon of a frequency and a damping ratio, and a crank too heavy to be slowed down."""
    import mujoco

    text = _MUJOCO.format(
        step=end / steps,
        crank=CRANK,
        rod=ROD,
        both=CRANK + ROD,
        half_crank=CRANK / 2,
        half_rod=ROD / 2,
        masses=MASSES,
        inertias=INERTIAS,
        clearance=CLEARANCE,
        stiffness=-(frequency**2),
        damping=-2 * ratio * frequency,
    )
    model = mujoco.MjModel.from_xml_string(text)

    def ready() -> Run:
        data = mujoco.MjData(model)
        data.qvel[:] = [OMEGA, given.SPEEDS["rod.omega"] - OMEGA, 0.0]

        def run() -> Callable[[], np.ndarray]:
            mujoco.mj_step(model, data, steps)
            return lambda: np.array([CRANK + ROD + data.qpos[2], data.qpos[0] + data.qpos[1]])

        return run

    return ready
