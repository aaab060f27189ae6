"""MuJoCo's and Pinocchio's side of ``kempe bench spatial``: joint coordinates of a tree, loops closed by constraints.

MuJoCo closes loops by soft constraints, as stiff as it allows. Pinocchio has algorithms and no integrators: it is given
the step that is usual with it, its own accelerations and semi-implicit Euler, from Python, whose overhead is some
microseconds a step. It runs the chains; for loops it has accelerations too, and leaves the drift to the user. Its
articulated bodies lose all digits on long chains of balls, where composite bodies and a factorisation serve.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kempe.benchmarks.rigid_joints import GROUND
from kempe.benchmarks.spatial_problems import GRAVITY, Joint, Problem
from kempe.benchmarks.timing import Contender, Run
from kempe.benchmarks.turning import quaternion_of

INTEGRATORS = ("Euler", "implicitfast", "RK4")
ALGORITHMS = ("articulated bodies", "composite bodies")

_MODEL = """
<mujoco>
  <compiler angle="radian" inertiafromgeom="false" balanceinertia="false"/>
  <option timestep="{step}" gravity="0 0 -{gravity}" integrator="{integrator}" solver="Newton" jacobian="{jacobian}">
    <flag contact="disable" island="disable" eulerdamp="disable"/>
  </option>
  <worldbody>{bodies}</worldbody>
  <equality>{loops}</equality>
</mujoco>
"""
_BODY = """
<body name="{name}" pos="{at}" quat="{turn}">
  {joints}
  <inertial pos="0 0 0" mass="{mass}" diaginertia="{inertia}"/>
  {carried}
</body>
"""
_LOOP = '<connect body1="{i}" body2="{j}" anchor="{at}" solref="{time_constant} 1" solimp="0.9999 0.9999 0.001"/>'


def _numbers(values: Any) -> str:
    return " ".join(repr(float(value)) for value in values)


def _frame(problem: Problem, body: int) -> tuple[np.ndarray, np.ndarray]:
    """A body's centre of mass and axes as drawn."""
    if body == GROUND:
        return np.zeros(3), np.eye(3)
    return np.array(problem.bodies[body].at), problem.bodies[body].rotation


def _hinges(problem: Problem, joint: Joint) -> str:
    """A joint of the tree in MuJoCo's words: places and axes in the axes of the body that it carries."""
    r, R = _frame(problem, joint.j)
    at = _numbers(R.T @ (np.array(joint.at) - r))
    if joint.kind == "spherical":
        return f'<joint type="ball" pos="{at}"/>'
    kind = "slide" if joint.kind == "prismatic" else "hinge"
    axes = [joint.axis, joint.axis_j] if joint.kind == "universal" else [joint.axis]
    leg = next((leg for leg in problem.legs if leg.joint == joint), None)
    spring = "" if leg is None else f' stiffness="{leg.stiffness}" damping="{leg.damping}" springref="{leg.ease}"'
    return "".join(f'<joint type="{kind}" pos="{at}" axis="{_numbers(R.T @ axis)}"{spring}/>' for axis in axes)


def _body(problem: Problem, body: int, parent: int, hinges: str) -> str:
    """A body with all that it carries."""
    given, (base, turn), (r, R) = problem.bodies[body], _frame(problem, parent), _frame(problem, body)
    carried = [
        _body(problem, joint.j, body, _hinges(problem, joint))
        for joint in problem.joints
        if joint.i == body and not joint.loop
    ]
    return _BODY.format(
        name=given.name,
        at=_numbers(turn.T @ (r - base)),
        turn=_numbers(quaternion_of(turn.T @ R)),
        joints=hinges,
        mass=given.mass,
        inertia=_numbers(given.inertia),
        carried="".join(carried),
    )


def mjcf(problem: Problem, integrator: str, step: float) -> str:
    """A problem as an MJCF model."""
    carried = {joint.j for joint in problem.joints if not joint.loop}
    bodies = [
        _body(problem, joint.j, GROUND, _hinges(problem, joint))
        for joint in problem.joints
        if joint.i == GROUND and not joint.loop
    ]
    free = [k for k in range(len(problem.bodies)) if k not in carried]
    bodies += [_body(problem, k, GROUND, "<freejoint/>") for k in free]
    loops = []
    for joint in problem.joints:
        if joint.loop:
            names = (problem.bodies[k].name for k in (joint.i, joint.j))
            r, R = _frame(problem, joint.i)
            anchor = _numbers(R.T @ (np.array(joint.at) - r))
            loops.append(_LOOP.format(**dict(zip("ij", names, strict=True)), at=anchor, time_constant=2 * step))
    jacobian = "dense" if len(problem.bodies) < 20 else "sparse"
    return _MODEL.format(
        step=step,
        gravity=GRAVITY,
        integrator=integrator,
        jacobian=jacobian,
        bodies="".join(bodies),
        loops="".join(loops),
    )


def _joint_rates(mujoco: Any, model: Any, data: Any, problem: Problem) -> np.ndarray:
    """Rates of the joint coordinates at which the bodies have the velocities of the start."""
    start, rows, wanted = problem.start(), [], []
    for k, body in enumerate(problem.bodies):
        jacobian = np.zeros((2, 3, model.nv))
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body.name)
        mujoco.mj_jacBodyCom(model, data, jacobian[0], jacobian[1], number)
        rows.append(jacobian.reshape(6, -1))
        wanted += [start.v[k], start.omega[k]]
    return np.linalg.lstsq(np.vstack(rows), np.concatenate(wanted))[0]


def mujoco_contender(problem: Problem, integrator: str, step: float, steps: int) -> Contender:
    """One integrator on a problem; a run returns what reads the poses at its end."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(mjcf(problem, integrator, step))

    def ready() -> Run:
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        if problem.spin:
            data.qvel[:] = _joint_rates(mujoco, model, data, problem)

        def run() -> Any:
            mujoco.mj_step(model, data, steps)
            return lambda: _mujoco_poses(mujoco, model, data, problem)

        return run

    return ready


def _mujoco_poses(mujoco: Any, model: Any, data: Any, problem: Problem) -> np.ndarray:
    mujoco.mj_kinematics(model, data)
    numbers = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body.name) for body in problem.bodies]
    r, R = data.xpos[numbers], data.xmat[numbers].reshape(-1, 3, 3)
    return np.concatenate([r[:, :, None], R], axis=2)


def pinocchio_contender(problem: Problem, algorithm: str, step: float, steps: int) -> Contender:
    """Semi-implicit Euler steps on a chain; a run returns what reads the poses at its end."""
    import pinocchio as pin

    model, numbers = pin.Model(), {GROUND: 0}
    model.gravity.linear = np.array([0.0, 0.0, -GRAVITY])
    frames: dict[int, tuple[np.ndarray, np.ndarray]] = {GROUND: (np.zeros(3), np.eye(3))}
    for joint in problem.joints:
        (base, turn), (r, R) = frames[joint.i], _frame(problem, joint.j)
        place, frame = np.array(joint.at), R
        if joint.kind == "universal":  # its axes are those of the joint's frame
            first, second = np.array(joint.axis), np.array(joint.axis_j)
            frame = np.column_stack([first, second, np.cross(first, second)])
            made = pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
        else:
            made = pin.JointModelSpherical()
        placement = pin.SE3(turn.T @ frame, turn.T @ (place - base))
        number = model.addJoint(numbers[joint.i], made, placement, joint.name)
        body = problem.bodies[joint.j]
        local = pin.SE3(frame.T @ R, frame.T @ (r - place))
        model.appendBodyToJoint(number, pin.Inertia(body.mass, np.zeros(3), np.diag(body.inertia)), local)
        numbers[joint.j], frames[joint.j] = number, (place, frame)
    places = [
        (numbers[k], frames[k][1].T @ (np.array(body.at) - frames[k][0]), frames[k][1].T @ body.rotation)
        for k, body in enumerate(problem.bodies)
    ]

    def ready() -> Run:
        data, q, v = model.createData(), pin.neutral(model), np.zeros(model.nv)
        none = np.zeros(model.nv)

        def acceleration() -> np.ndarray:
            if algorithm == "articulated bodies":
                return pin.aba(model, data, q, v, none)
            pin.crba(model, data, q)
            pin.cholesky.decompose(model, data)
            return -pin.cholesky.solve(model, data, pin.nonLinearEffects(model, data, q, v))

        def run() -> Any:
            nonlocal q, v
            for _ in range(steps):
                v = v + step * acceleration()
                q = pin.integrate(model, q, step * v)
            return poses

        def poses() -> np.ndarray:
            pin.forwardKinematics(model, data, q)
            found = []
            for number, local, turn in places:
                frame = data.oMi[number]
                found.append(np.column_stack([frame.translation + frame.rotation @ local, frame.rotation @ turn]))
            return np.array(found)

        return run

    return ready
