"""The spatial mechanisms that Kempe and its peers are all given, and their exact motion (``rigid_bodies.py``).

Places and directions are those of the drawn pose, in world axes. A joint of kind ``universal`` has an axis in each of
its bodies; all other kinds have one or none. The joints that are no ``loop`` make a tree in which ``i`` carries ``j``,
for peers that work in joint coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from kempe.benchmarks.rigid_bodies import RigidBodies, State
from kempe.benchmarks.rigid_joints import GROUND
from kempe.benchmarks.turning import about

GRAVITY = 9.81
"""Acceleration of gravity; it acts along ``-z``."""

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Body:
    """A body by its principal inertias, in axes through its centre of mass; ``axes`` has these as rows."""

    name: str
    mass: float
    inertia: Vector
    at: Vector
    axes: tuple[Vector, Vector, Vector] = ((1, 0, 0), (0, 1, 0), (0, 0, 1))

    @property
    def rotation(self) -> np.ndarray:
        """The axes as columns."""
        return np.array(self.axes).T


@dataclass(frozen=True)
class Joint:
    """kind: spherical, revolute, prismatic or universal."""

    kind: str
    name: str
    i: int
    j: int
    at: Vector
    axis: Vector = (0, 0, 1)
    axis_j: Vector = (1, 0, 0)
    loop: bool = False


@dataclass(frozen=True)
class Leg:
    """A spring and damper along a prismatic joint, at ease when this is ``ease`` longer than drawn."""

    joint: Joint
    stiffness: float
    damping: float
    ease: float


@dataclass(frozen=True)
class Problem:
    """A mechanism, its velocities at the start where it is not at rest, and the steps it is timed with."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    step: float
    steps: int
    legs: tuple[Leg, ...] = ()
    spin: float = 0.0
    """The angular velocity of the first body about the axis of the first joint at the start."""

    @property
    def end_time(self) -> float:
        """The end of the run that is timed."""
        return self.step * self.steps

    def reference(self) -> RigidBodies:
        """The mechanism in the independent computation."""
        m = RigidBodies(gravity=(0, 0, -GRAVITY))
        for body in self.bodies:
            m.body(body.mass, np.array(body.inertia), body.at, body.rotation)
        for joint in self.joints:
            given = {"revolute": (joint.axis,), "prismatic": (joint.axis,), "universal": (joint.axis, joint.axis_j)}
            getattr(m, joint.kind)(joint.name, joint.i, joint.j, joint.at, *given.get(joint.kind, ()))
        for leg in self.legs:
            foot, head = self.reach(leg)
            length = float(np.linalg.norm(head - foot)) + leg.ease
            m.spring(leg.joint.i, foot, leg.joint.j, head, leg.stiffness, length, leg.damping)
        return m

    def reach(self, leg: Leg) -> tuple[np.ndarray, np.ndarray]:
        """The two points of its joint's line between which a leg's spring acts: a metre before and behind the joint."""
        along, middle = np.array(leg.joint.axis), np.array(leg.joint.at)
        return middle - along / 2, middle + along / 2

    def start(self) -> State:
        """The state at the start."""
        return _started(self)

    def violation(self, poses: np.ndarray) -> float:
        """The largest constraint error of poses, see :func:`error`: metres, or cosines between directions."""
        return _violation(self, poses)

    def error(self, poses: np.ndarray) -> float:
        """The largest deviation of a centre of mass, in sizes of the mechanism, or of a direction cosine.

        A pose is the centre of mass and the matrix of the axes beside each other, 3 by 4, for each body.
        """
        true = exact(self, self.end_time)
        scale = np.array([1.0 / np.abs(true[:, :, 0]).max(), 1.0, 1.0, 1.0])
        return float(np.abs((poses - true) * scale).max())


def poses_of(state: State) -> np.ndarray:
    """The poses of all bodies, 3 by 4 each."""
    return np.concatenate([state.r[:, :, None], state.R], axis=2)


@cache
def _referred(problem: Problem) -> tuple[RigidBodies, State]:
    """The mechanism in the independent computation, and its state at the start."""
    m = problem.reference()
    still = m.start()
    if not problem.spin:
        return m, still
    # one degree of freedom: a motor at the first joint knows the velocities of all bodies
    driven, first = problem.reference(), problem.joints[0]
    driven.driver("spin", first.i, first.j, first.axis, lambda t: (problem.spin * t, problem.spin, 0.0))
    moving = driven.start()
    return m, State(still.r, still.quaternion, moving.v, moving.omega)


def _started(problem: Problem) -> State:
    return _referred(problem)[1]


def _violation(problem: Problem, poses: np.ndarray) -> float:
    from scipy.spatial.transform import Rotation

    m, start = _referred(problem)
    quaternion = Rotation.from_matrix(poses[:, :, 1:]).as_quat(scalar_first=True)
    return m.violation(0.0, State(poses[:, :, 0], quaternion, start.v, start.omega))


@cache
def exact(problem: Problem, time: float, tolerance: float = 1e-12) -> np.ndarray:
    """The poses of all bodies at a time."""
    m, start = _referred(problem)
    return poses_of(m.motion(start, [0.0, time], tolerance)[-1])


def _three(v: np.ndarray) -> Vector:
    return float(v[0]), float(v[1]), float(v[2])


def _axes(R: np.ndarray) -> tuple[Vector, Vector, Vector]:
    return _three(R[:, 0]), _three(R[:, 1]), _three(R[:, 2])


def _frame(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Right-handed axes, the first along x, the second in the half plane of x and y."""
    x = x / np.linalg.norm(x)
    z = np.cross(x, y)
    z = z / np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


CRANK, ROD, HUB = 0.08, 0.3, (0.0, 0.1, 0.12)


def slider_crank() -> Problem:
    """A crank in the plane of y and z, a rod between a ball and a universal joint, a slider on the x axis.

    The lengths are Haug's (Computer Aided Kinematics and Dynamics of Mechanical Systems, 1989); it begins with 6 rad/s.
    """
    hub = np.array(HUB)
    pin = hub + np.array([0.0, 0.0, CRANK])
    end = np.array([np.sqrt(ROD**2 - pin[1] ** 2 - pin[2] ** 2), 0.0, 0.0])
    rod = _frame(end - pin, np.array([0.0, 1.0, 0.0]))
    cross = np.array([0.0, 1.0, 0.0])  # the universal joint's axis on the slider
    across = np.cross(cross, rod[:, 0])
    bodies = (
        Body("crank", 0.12, (1e-4, 1e-4, 1e-5), HUB),
        Body("rod", 0.5, (4e-4, 4e-3, 4e-3), _three((pin + end) / 2), _axes(rod)),
        Body("slider", 2.0, (1e-4, 1e-4, 1e-4), _three(end)),
    )
    joints = (
        Joint("revolute", "hub", GROUND, 0, HUB, (1, 0, 0)),
        Joint("prismatic", "guide", GROUND, 2, _three(end), (1, 0, 0)),
        Joint("universal", "cross", 2, 1, _three(end), _three(cross), _three(across / np.linalg.norm(across))),
        Joint("spherical", "ball", 0, 1, _three(pin), loop=True),
    )
    return Problem("spatial slider-crank", bodies, joints, 2e-4, 5000, spin=6.0)


def chain(count: int, kind: str, steps: int) -> Problem:
    """Uniform bars of 1 m and 1 kg from end to end, drawn as a rising helix and let go."""
    bodies, joints = [], []
    R, end = np.eye(3), np.zeros(3)
    axis_i, before = np.array([0.0, 1.0, 0.0]), GROUND
    for k in range(count):
        across = np.cross(axis_i, R[:, 0])
        name = f"joint {k + 1}"
        axis_j = _three(across / np.linalg.norm(across))
        joints.append(Joint(kind, name, before, k, _three(end), _three(axis_i), axis_j))
        bodies.append(Body(f"bar {k + 1}", 1.0, (0.01, 1 / 12, 1 / 12), _three(end + R[:, 0] / 2), _axes(R)))
        before, end, axis_i = k, end + R[:, 0], R[:, 1]
        R = R @ about((0.3, 0.2, 1.0), 0.3)
    return Problem(f"chain of {count}, {kind}", tuple(bodies), tuple(joints), 1e-3, steps)


def double_pendulum() -> Problem:
    """Two bars on universal joints, let go: its motion is chaotic, and its first two seconds are not yet."""
    return Problem("spatial double pendulum", *_parts(chain(2, "universal", 1)), 1e-3, 1000)


def _parts(problem: Problem) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    return problem.bodies, problem.joints


def stewart_platform() -> Problem:
    """A platform on six legs, each of a cylinder on a universal joint and a piston with a ball at its top; springs and
    dampers in the legs, which begin too short, each by another length.
    """
    bodies = [Body("platform", 20.0, (0.8, 0.9, 1.6), (0.02, -0.03, 1.0))]
    joints, legs = [], []
    for k in range(6):
        low = np.pi / 3 * (k - k % 2) + (0.25 if k % 2 else -0.25)
        high = np.pi / 3 * (k + k % 2 - 1) + (-0.25 if k % 2 else 0.25)
        foot = np.array([np.cos(low), np.sin(low), 0.0])
        head = np.array([0.02 + 0.5 * np.cos(high), -0.03 + 0.5 * np.sin(high), 1.0])
        R = _frame(head - foot, np.array([0.0, 0.0, 1.0]))
        along, cylinder, piston = R[:, 0], 2 * k + 1, 2 * k + 2
        middle = (foot + head) / 2
        bodies.append(Body(f"cylinder {k + 1}", 2.0, (2e-3, 0.05, 0.05), _three(foot + 0.3 * along), _axes(R)))
        bodies.append(Body(f"piston {k + 1}", 1.0, (5e-4, 0.03, 0.03), _three(head - 0.3 * along), _axes(R)))
        across = np.cross((0.0, 0.0, 1.0), along)
        across = across / np.linalg.norm(across)
        turn = _three(np.cross(across, along))
        joints.append(Joint("universal", f"foot {k + 1}", GROUND, cylinder, _three(foot), _three(across), turn))
        joints.append(Joint("prismatic", f"leg {k + 1}", cylinder, piston, _three(middle), _three(along)))
        legs.append(Leg(joints[-1], 4000.0, 20.0, 0.02 * (k - 1)))
        joints.append(Joint("spherical", f"head {k + 1}", piston, 0, _three(head), loop=True))
    return Problem("Stewart platform", tuple(bodies), tuple(joints), 1e-3, 1000, tuple(legs))
