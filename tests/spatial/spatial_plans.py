"""Random mechanisms in space as numbers: built in Kempe, in the independent computation, and turned as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import kempe as kp
from kempe.benchmarks.rigid_bodies import RigidBodies, State
from kempe.benchmarks.turning import about

GROUND = -1
ROWS = {
    "spherical": 3,
    "revolute": 5,
    "prismatic": 5,
    "cylindrical": 4,
    "universal": 4,
    "planar": 3,
    "weld": 6,
    "screw": 5,
    "point_on_line": 2,
    "point_on_plane": 1,
    "link": 1,
}
"""Every kind of joint between two bodies, and how many equations it has."""
AXIAL = ("revolute", "prismatic", "cylindrical", "planar", "screw", "point_on_line", "point_on_plane")
CLOSING = ("link", "link", "point_on_plane", "point_on_line", "spherical", "cylindrical", "universal")
"""What closes loops."""
ILL = 0.02
"""Mechanisms whose constraints are nearer to dependent than this, in the metric of the masses, are drawn again."""
LETTERS = "xyz"


def unit(rng: np.random.Generator) -> np.ndarray:
    """A direction."""
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def turn(rng: np.random.Generator) -> np.ndarray:
    """A rotation matrix."""
    return about(unit(rng), rng.uniform(-3, 3))


def inertia_of(mass: float, rng: np.random.Generator) -> np.ndarray:
    """The inertia of some masses spread about the centre: any tensor that a body can have."""
    places = 0.4 * rng.normal(size=(5, 3))
    places -= places.mean(axis=0)
    return mass / 5 * ((places**2).sum() * np.eye(3) - places.T @ places)


@dataclass(frozen=True)
class Body:
    mass: float
    inertia: np.ndarray
    at: np.ndarray
    rotation: np.ndarray


@dataclass(frozen=True)
class Joint:
    """``end`` is where a link ends on j; ``rise`` belongs to screws, ``axis_j`` to universal joints."""

    kind: str
    i: int
    j: int
    at: np.ndarray
    axis: np.ndarray
    axis_j: np.ndarray
    end: np.ndarray
    rise: float

    @staticmethod
    def drawn(kind: str, i: int, j: int, at: np.ndarray, end: np.ndarray, rng: np.random.Generator) -> Joint:
        axis = unit(rng)
        axis_j = np.cross(axis, unit(rng))
        return Joint(kind, i, j, at, axis, axis_j / np.linalg.norm(axis_j), end, float(rng.uniform(-0.3, 0.3)))


@dataclass(frozen=True)
class Spring:
    i: int
    a: np.ndarray
    j: int
    b: np.ndarray
    stiffness: float
    length: float
    damping: float


@dataclass
class Plan:
    """A mechanism, and the velocities it begins with."""

    gravity: np.ndarray
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    springs: list[Spring] = field(default_factory=list)
    speeds: np.ndarray = field(default_factory=lambda: np.zeros((0, 6)))

    def reference(self) -> RigidBodies:
        m = RigidBodies(self.gravity)
        for body in self.bodies:
            m.body(body.mass, body.inertia, body.at, body.rotation)
        for n, joint in enumerate(self.joints):
            name, given = f"J{n}", [joint.i, joint.j, joint.at]
            if joint.kind == "link":
                m.rod(name, joint.i, joint.at, joint.j, joint.end)
            elif joint.kind == "universal":
                m.universal(name, *given, joint.axis, joint.axis_j)
            elif joint.kind == "screw":
                m.screw(name, *given, joint.axis, joint.rise)
            else:
                getattr(m, joint.kind)(name, *given, *([joint.axis] if joint.kind in AXIAL else []))
        for s in self.springs:
            m.spring(s.i, s.a, s.j, s.b, s.stiffness, s.length, s.damping)
        return m

    def start(self, m: RigidBodies) -> State:
        """The velocities nearest to those drawn that the joints allow."""
        return m.start(self.speeds[:, :3], self.speeds[:, 3:])

    def build(self, Q: np.ndarray | None = None, shift: Any = (0.0, 0.0, 0.0)) -> kp.SpatialMechanism:
        """In Kempe, the whole world turned by Q about the origin and shifted."""
        Q = np.eye(3) if Q is None else Q

        def placed(r: np.ndarray) -> np.ndarray:
            return Q @ r + np.asarray(shift)

        m = kp.Mechanism("random", dim=3, gravity=tuple(Q @ self.gravity))
        parts = [
            m.body(f"b{k}", b.mass, b.inertia, at=placed(b.at), rotation=kp.Rotation(Q @ b.rotation))
            for k, b in enumerate(self.bodies)
        ]
        of = {GROUND: m.ground, **dict(enumerate(parts))}
        for n, joint in enumerate(self.joints):
            name, i, j, at = f"J{n}", of[joint.i], of[joint.j], placed(joint.at)
            if joint.kind == "link":
                m.link(name, i.at_world(at), j.at_world(placed(joint.end)))
            elif joint.kind == "universal":
                m.universal(name, i, j, at=at, axis_i=Q @ joint.axis, axis_j=Q @ joint.axis_j)
            elif joint.kind == "screw":
                m.screw(name, i, j, at=at, axis=Q @ joint.axis, pitch=pitch_of(joint.rise))
            else:
                options = {"axis": Q @ joint.axis} if joint.kind in AXIAL else {}
                getattr(m, joint.kind)(name, i, j, at=at, **options)
        for n, s in enumerate(self.springs):
            ends = of[s.i].at_world(placed(s.a)), of[s.j].at_world(placed(s.b))
            m.spring(f"S{n}", *ends, stiffness=s.stiffness, length=s.length, damping=s.damping)
        return m

    def freedom(self) -> int:
        """Degrees of freedom, all equations being independent."""
        return 6 * len(self.bodies) - sum(ROWS[joint.kind] for joint in self.joints)


def pitch_of(rise: float) -> float:
    """A screw's pitch in Kempe: the way of a whole turn."""
    return 2 * np.pi * rise


def velocities(state: State, Q: np.ndarray | None = None) -> dict[str, float]:
    """What ``simulate`` is given to begin with."""
    Q = np.eye(3) if Q is None else Q
    found = {}
    for k, (v, omega) in enumerate(zip(state.v, state.omega, strict=True)):
        found |= {f"b{k}.v{letter}": float(value) for letter, value in zip(LETTERS, Q @ v, strict=True)}
        found |= {f"b{k}.omega.{letter}": float(value) for letter, value in zip(LETTERS, Q @ omega, strict=True)}
    return found


def drawn(
    seed: int,
    count: int,
    *,
    kinds: tuple[str, ...] = tuple(ROWS),
    loops: int | None = None,
    springs: int | None = None,
    damped: bool = True,
    floating: bool = False,
    serial: bool = False,
    gravity: Any = (0.5, -0.3, -9.81),
) -> Plan:
    """A random tree (a chain if ``serial``) with loops where they leave it movable, springs and dampers."""
    rng = np.random.default_rng(seed)
    for _ in range(100):
        plan = _tried(rng, count, kinds, loops, springs, damped, floating, serial, gravity)
        m = plan.reference()
        if m.rows == 0 or independence(plan, m) > ILL:
            return plan
    raise AssertionError("no mechanism found")


def independence(plan: Plan, m: RigidBodies) -> float:
    """The smallest singular value of the Jacobian in the metric of the masses, over the largest."""
    state = m.start()
    rows = np.zeros((m.rows, len(plan.bodies), 6))
    for row, body, gradient in m.constraints(0.0, state)[2]:
        moving = body != GROUND
        np.add.at(rows, (row[moving], body[moving]), gradient[moving])
    values = np.linalg.svd(rows.reshape(m.rows, -1), compute_uv=False)
    return float(values[-1] / values[0]) if len(values) == m.rows else 0.0


def _tried(
    rng: np.random.Generator,
    count: int,
    kinds: tuple[str, ...],
    loops: int | None,
    springs: int | None,
    damped: bool,
    floating: bool,
    serial: bool,
    gravity: Any,
) -> Plan:
    plan = Plan(np.asarray(gravity, dtype=float))
    for k in range(count):
        mass, parent = rng.uniform(0.5, 2.0), k - 1 if floating or serial else int(rng.integers(-1, k))
        near = plan.bodies[parent].at if parent >= 0 else np.zeros(3)
        at = near + rng.uniform(-1, 1, 3)
        plan.bodies.append(Body(mass, inertia_of(mass, rng), at, turn(rng)))
        if k or not floating:
            kind, middle = str(rng.choice(kinds)), (near + at) / 2 + rng.uniform(-0.3, 0.3, 3)
            plan.joints.append(Joint.drawn(kind, parent, k, middle, middle + rng.uniform(0.3, 0.8) * unit(rng), rng))
    for _ in range(int(rng.integers(0, count + 1)) if loops is None else loops):
        kind = str(rng.choice(CLOSING))
        if count < 2 or plan.freedom() - ROWS[kind] < (7 if floating else 1):
            continue
        i, j = (int(b) for b in rng.choice(count, 2, replace=False))
        at = plan.bodies[i].at + rng.uniform(-0.5, 0.5, 3)
        end = plan.bodies[j].at + rng.uniform(-0.5, 0.5, 3)
        plan.joints.append(Joint.drawn(kind, i, j, at, end, rng))
    for _ in range(int(rng.integers(0, count + 1)) if springs is None else springs):
        i = int(rng.integers(-1, count)) if not floating else int(rng.integers(count))
        j = int(rng.integers(count))
        if i == j:
            continue
        a = (plan.bodies[i].at if i >= 0 else np.zeros(3)) + rng.uniform(-0.5, 0.5, 3)
        b = plan.bodies[j].at + rng.uniform(-0.5, 0.5, 3)
        length = float(np.linalg.norm(b - a))
        if length > 0.3:
            damping = float(rng.uniform(0.0, 0.5)) if damped else 0.0
            plan.springs.append(
                Spring(i, a, j, b, float(rng.uniform(1, 20)), length * float(rng.uniform(0.3, 0.9)), damping)
            )
    plan.speeds = rng.uniform(-1.0, 1.0, (count, 6))
    return plan


def poses(result: kp.Result, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Centres of mass (times, bodies, 3) and axes (times, bodies, 3, 3)."""
    r = np.array([[result.array(f"b{k}.{letter}") for letter in LETTERS] for k in range(count)])
    R = np.array([result.rotation(f"b{k}") for k in range(count)])
    return np.moveaxis(r, 2, 0), np.moveaxis(R, 1, 0)


def rates(result: kp.Result, count: int, names: tuple[str, str] = ("v{}", "omega.{}")) -> tuple[np.ndarray, np.ndarray]:
    """Velocities and angular velocities (times, bodies, 3), or the accelerations by their names."""
    found = [
        [[result.array(f"b{k}.{name.format(letter)}") for letter in LETTERS] for k in range(count)] for name in names
    ]
    return np.moveaxis(np.array(found[0]), 2, 0), np.moveaxis(np.array(found[1]), 2, 0)
