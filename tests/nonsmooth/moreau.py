"""An independent computation of planar motion with impacts and dry friction, in NumPy only: Moreau's time stepping.

It shares nothing with Kempe. Bodies have coordinates (x, y, angle). One step of length h (Moreau 1988; Acary and
Brogliato 2008, chapter 10) goes by half a step with the old velocity, solves there for all impulses P of the step,

    M (v+ - v) = h f + W P,      u = U^T v+,
    joints:     u = prescribed rate,
    contacts:   0 <= P_n  orthogonal to  u_n + e u_n- >= 0      (where the gap is closed),
    friction:   |P_t| <= mu N,  P_t = -mu N sign(u_t) where it slides,

and goes on by half a step with the new velocity. N are the impulses that press: of a contact its own, of a pin the
length of its two, of a guide that of its one or two pads. W are the directions of all rows in the middle of the step,
U those at its end (by extrapolation), so that smooth motions are off by the square of the step only. Positions are then
brought back to the joints. Nothing is located, no mode is kept: impacts are off by as much as a step, and that is the
point of it.

The one-step problem is solved by Newton's method on the projected equations (Alart and Curnier 1991), from the
last step's impulses; where that fails, friction is raised from zero by degrees; where that fails too, as a sequence of
least squares with bounds, by projected Gauss-Seidel sweeps, and by Newton's method behind them.

An impact with friction is followed by small impulses (``_impact``): normal velocities go to their end in even parts,
and friction answers each part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from one_step import Problem, Unit, Unsolved, renumbered
from rigid import GROUND, Contact, Guide, Joint, Load, Motor, Pin, Pose, Row, Rub, Spring, Torsion, Vector

#: An impact this much faster than what a step's forces do is followed by small impulses.
FAST = 30.0
#: Of friction that sticks, as a share of the mobility of its row.
COMPLIANCE = 1e-8
#: A slower slip is none; one that is told as rest is slower than the second.
RESTS, CREEPS = 1e-9, 1e-6


@dataclass(frozen=True)
class Motion:
    """What was found: times, coordinates, velocities, and a row of modes by name for each time.

    Modes are "open" and "closed", "stick", "forward" and "backward".
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    modes: dict[str, list[str]]
    deepest: float
    unsolved: int


# --- a mechanism and its steps ----------------------------------------------------------------------------------------


@dataclass
class Bodies:
    """A mechanism: filled by ``body`` and by appending to its lists."""

    gravity: tuple[float, float] = (0.0, 0.0)
    mass: list[float] = field(default_factory=list)
    inertia: list[float] = field(default_factory=list)
    start: list[float] = field(default_factory=list)
    moving: list[float] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    rubs: list[Rub] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    springs: list[Spring] = field(default_factory=list)
    torsions: list[Torsion] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)

    def body(self, mass: float, inertia: float, pose: Vector, velocity: Vector = (0.0, 0.0, 0.0)) -> int:
        """A rigid body at its centre of mass, with its velocity; its number."""
        self.mass.append(mass)
        self.inertia.append(inertia)
        self.start += [float(c) for c in pose]
        self.moving += [float(c) for c in velocity]
        return len(self.mass) - 1

    def local(self, body: int, world: Vector) -> tuple[float, float]:
        """A world point of the start in a body's axes."""
        if body == GROUND:
            return (float(world[0]), float(world[1]))
        x, y, a = self.start[3 * body : 3 * body + 3]
        dx, dy, c, s = world[0] - x, world[1] - y, math.cos(a), math.sin(a)
        return c * dx + s * dy, -s * dx + c * dy

    def run(self, end: float, steps: int, every: int = 1) -> Motion:
        """The motion in even steps, kept at every so many of them."""
        return Stepper(self, end / steps).run(steps, every)


def _course(way: float, e: float) -> float:
    """What is left of a normal velocity along an impact: it is at rest half-way."""
    return 1 - way if way < 1 else e * (1 - way)


class Seen(NamedTuple):
    """A step's geometry: the mobility U^T M^-1 W, and its two sides."""

    G: np.ndarray
    U: np.ndarray
    W: np.ndarray


class Stepper:
    """A mechanism on its way."""

    def __init__(self, bodies: Bodies, h: float) -> None:
        self.m, self.h, self.t = bodies, h, 0.0
        self.n = len(bodies.mass)
        self.q, self.v = np.array(bodies.start), np.array(bodies.moving)
        masses = np.column_stack([bodies.mass, bodies.mass, bodies.inertia]).ravel()
        self.inverse = 1.0 / masses
        self.masses = masses
        self.size = [len(joint.values(Pose(self.q), 0.0)) for joint in bodies.joints]
        self.bilateral = sum(self.size)
        self.rubbing: list[tuple[Pin | Guide | Rub, Unit]] = []
        self._units()
        self.normals = [self.bilateral + len(self.rubbing) + k for k in range(len(bodies.contacts))]
        self._contact_units()
        self.rows = self.bilateral + len(self.rubbing) + len(self.normals) + len(self.touching)
        self.P = np.zeros(self.rows)
        self.units = [unit for _, unit in self.rubbing] + self.touching
        self.stuck = [True] * len(self.units)
        self.sliding = [0] * len(self.units)
        self.closed = [False] * len(self.normals)
        self.deepest, self.unsolved = 0.0, 0
        self.swing: Any = 0.0
        self.mean = self.v
        self.speeds: dict[int, float] = {}

    def _units(self) -> None:
        row = 0
        for joint, size in zip(self.m.joints, self.size, strict=True):
            friction = joint.friction
            if friction is not None and not isinstance(joint, Motor):
                forms, scale = [[(row, 1.0)]], 1.0
                if isinstance(joint, Pin):
                    forms, scale = [[(row, 1.0)], [(row + 1, 1.0)]], friction.radius
                elif friction.pads:
                    forms = [[(row, 0.5), (row + 1, s / friction.pads)] for s in (1.0, -1.0)]
                unit = Unit(self.bilateral + len(self.rubbing), forms, scale, friction)
                self.rubbing.append((joint, unit))
            row += size
        for rub in self.m.rubs:
            given = rub.normal * self.h
            row = self.bilateral + len(self.rubbing)
            self.rubbing.append((rub, Unit(row, [], 0.0, rub.friction, given, rub.speed)))

    def _contact_units(self) -> None:
        self.touching: list[Unit] = []
        first = self.bilateral + len(self.rubbing) + len(self.normals)
        for k, contact in enumerate(self.m.contacts):
            if contact.friction is not None:
                row = first + len(self.touching)
                self.touching.append(Unit(row, [[(self.normals[k], 1.0)]], 1.0, contact.friction, contact=k))

    # --- what the step sees -------------------------------------------------------------------------------------------

    def _jacobian(self, pose: Pose) -> tuple[np.ndarray, list[float]]:
        """The rows of joints, friction in them, contacts, friction in those; and the gaps."""
        rows: list[Row] = [row for joint in self.m.joints for row in joint.rows(pose)]
        rows += [joint.slides(pose) for joint, _ in self.rubbing]
        looks = [contact.look(pose) for contact in self.m.contacts]
        rows += [look[1] for look in looks]
        rows += [looks[unit.contact][2] for unit in self.touching]
        W = np.zeros((len(rows), 3 * self.n))
        for k, (i, j, nx, ny, px, py, couple) in enumerate(rows):
            if j != GROUND:
                W[k, 3 * j : 3 * j + 3] = nx, ny, (px - pose.x[j]) * ny - (py - pose.y[j]) * nx + couple
            if i != GROUND:
                W[k, 3 * i : 3 * i + 3] = -nx, -ny, -(px - pose.x[i]) * ny + (py - pose.y[i]) * nx - couple
        return W, [look[0] for look in looks]

    def directions(self, pose: Pose) -> np.ndarray:
        """The rows of all joints, contacts and their friction, in the order of impulses."""
        return self._jacobian(pose)[0]

    def _forces(self, pose: Pose, t: float) -> np.ndarray:
        m, self.mean = self.m, self.v + self.swing
        f = np.zeros(3 * self.n)
        f[0::3], f[1::3] = m.gravity[0] * self.masses[0::3], m.gravity[1] * self.masses[1::3]
        for spring in m.springs:
            (ax, ay), (bx, by) = pose.point(spring.i, spring.a), pose.point(spring.j, spring.b)
            dx, dy = bx - ax, by - ay
            length = math.hypot(dx, dy)
            ex, ey = dx / length, dy / length
            rate = 0.0
            if spring.damping:
                (va, vb) = (self._speed(pose, b, p) for b, p in ((spring.i, (ax, ay)), (spring.j, (bx, by))))
                rate = ex * (vb[0] - va[0]) + ey * (vb[1] - va[1])
            pull = spring.stiffness * (length - spring.length) + spring.damping * rate
            for body, sign, px, py in ((spring.i, 1.0, ax, ay), (spring.j, -1.0, bx, by)):
                if body != GROUND:
                    fx, fy = sign * pull * ex, sign * pull * ey
                    f[3 * body : 3 * body + 3] += (
                        fx,
                        fy,
                        (px - pose.x[body]) * fy - (py - pose.y[body]) * fx,
                    )
        for torsion in m.torsions:
            spin = self._spin(torsion.j) - self._spin(torsion.i)
            turn = pose.a[torsion.j] - pose.a[torsion.i] - torsion.angle
            torque = torsion.stiffness * turn + torsion.damping * spin
            for body, sign in ((torsion.i, 1.0), (torsion.j, -1.0)):
                if body != GROUND:
                    f[3 * body + 2] += sign * torque
        for load in m.loads:
            f[3 * load.j : 3 * load.j + 3] += load.at(t)
        return f

    def _spin(self, body: int) -> float:
        return 0.0 if body == GROUND else float(self.mean[3 * body + 2])

    def _speed(self, pose: Pose, body: int, p: Vector) -> tuple[float, float]:
        if body == GROUND:
            return 0.0, 0.0
        vx, vy, w = self.mean[3 * body : 3 * body + 3].tolist()
        return vx - w * (p[1] - pose.y[body]), vy + w * (p[0] - pose.x[body])

    # --- a step -------------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """One step on."""
        h = self.h
        middle = self.q + 0.5 * h * self.v
        pose = Pose(middle)
        W, gaps = self._jacobian(pose)
        U = self._jacobian(Pose(self.q + h * self.v))[0]
        rates = np.zeros(self.rows)
        row = 0
        for joint, size in zip(self.m.joints, self.size, strict=True):
            if isinstance(joint, Motor):
                rates[row] = joint.law(self.t + h)[1]
            row += size
        pushed = self.inverse * (h * self._forces(pose, self.t + 0.5 * h))
        before = U @ self.v
        active = [k for k, gap in enumerate(gaps) if gap <= 0.0]
        G = (U * self.inverse) @ W.T
        for unit in self.units:  # more of them may stick than the mechanism has freedoms
            G[unit.row, unit.row] *= 1 + COMPLIANCE
        seen = Seen(G, U, W)
        fast = self._fast(seen, self.v + pushed, rates, active, before)
        if fast and (self.units or len(fast) > 1):
            slow = [k for k in active if k not in fast]
            v = self._solve(seen, self.v + pushed, rates, slow)
            self._keep_modes()
            v = self._impact(seen, v, rates, active)
        else:
            for k in active:
                n = self.normals[k]
                rates[n] = -self.m.contacts[k].restitution * min(before[n], 0.0)
            v = self._solve(seen, self.v + pushed, rates, active)
            self._keep_modes()
        self.swing = 0.0 if fast else 0.5 * (v - self.v)
        self.v = v
        self.q = middle + 0.5 * h * v
        self.t += h
        self.closed = [k in active and self.P[n] > 0.0 for k, n in enumerate(self.normals)]
        self._project(W, G)

    def _fast(self, seen: Seen, v: np.ndarray, rates: np.ndarray, active: list[int], before: np.ndarray) -> list[int]:
        """The contacts that approach much faster than the forces of a step would make them."""
        approach = [k for k in active if before[self.normals[k]] < 0.0]
        if not approach:
            return []
        kept = self.stuck.copy(), self.sliding.copy(), self.P
        change = seen.U @ self._solve(seen, v, rates, [k for k in active if k not in approach]) - before
        self.stuck, self.sliding, self.P = kept
        rows = self.normals
        return [k for k in approach if before[rows[k]] < -FAST * abs(change[rows[k]]) - 1e-9]

    def _solve(self, seen: Seen, v: np.ndarray, rates: np.ndarray, active: list[int]) -> np.ndarray:
        """New velocities; impulses are left in P. What sticks has its static coefficient, what slides its other one."""
        contacts = [self.normals[k] for k in active]
        at = [k for k, unit in enumerate(self.units) if unit.contact < 0 or unit.contact in active]
        units = [self.units[k] for k in at]
        used = np.r_[0 : self.bilateral, contacts, [unit.row for unit in units]].astype(int)
        if not len(used):
            self.P, self._slips, self.speeds = np.zeros(self.rows), {}, {}
            return v
        small = np.full(self.rows, -1)
        small[used] = np.arange(len(used))
        units = [renumbered(unit, small) for unit in units]
        G, free = seen.G, seen.U @ v
        static = [self.stuck[k] for k in at]
        for _ in range(6):
            mu = [u.friction.largest if s else u.friction.kinetic for u, s in zip(units, static, strict=True)]
            problem = Problem(
                G[np.ix_(used, used)],
                free[used],
                rates[used],
                self.bilateral,
                [int(small[n]) for n in contacts],
                units,
                mu,
            )
            try:
                P = problem.solved(self.P[used])
            except Unsolved:
                self.unsolved += 1
                P = problem.sweeps(self.P[used], 2000)
            u = problem.free + problem.G @ P
            slip = [self._slip(P, u, unit, c) for unit, c in zip(units, mu, strict=True)]
            again = False
            for k, unit in enumerate(units):
                if unit.friction.largest == unit.friction.kinetic:
                    continue
                if static[k] and slip[k] != 0:  # it gets loose
                    static[k], again = False, True
                    self.stuck[at[k]], self.sliding[at[k]] = False, slip[k]
                elif not static[k] and slip[k] * self.sliding[at[k]] < 0 and not self.stuck[at[k]]:  # it comes to rest
                    static[k], again = True, True
                    self.sliding[at[k]] = slip[k]
            if not again:
                break
        self.P = np.zeros(self.rows)
        self.P[used] = P
        self._slips = dict(zip(at, slip, strict=True))
        self.speeds = {k: float(u[unit.row] - unit.speed) for k, unit in zip(at, units, strict=True)}
        return v + self.inverse * (seen.W.T @ self.P)

    @staticmethod
    def _slip(P: np.ndarray, u: np.ndarray, unit: Unit, mu: float) -> int:
        """Forward 1, backward -1, and 0 where it sticks, or gives way to others that do."""
        r, slip = unit.row, u[unit.row] - unit.speed
        bound = mu * unit.pressed(P)[0]
        if abs(P[r]) < bound * (1 - 1e-9) or (bound > 0 and abs(slip) < RESTS):
            return 0
        return 1 if slip > 0 else -1

    def _keep_modes(self) -> None:
        for k, slip in self._slips.items():
            self.stuck[k] = slip == 0
            if slip:
                self.sliding[k] = slip

    def _impact(self, seen: Seen, v: np.ndarray, rates: np.ndarray, active: list[int]) -> np.ndarray:
        """An impact in small parts: normal velocities go evenly to minus e times what they were, if no energy comes."""
        parts = max(16, round(0.02 / self.h))
        begin = seen.U @ v
        approach = {k: min(begin[self.normals[k]], 0.0) for k in active}
        energy = float(v @ (self.masses * v))
        given = [unit.given for unit in self.units]
        for unit in self.units:
            unit.given = 0.0
        total, least = np.zeros(self.rows), energy
        for part in range(1, parts + 1):
            for k, u in approach.items():
                rates[self.normals[k]] = u * _course(2 * part / parts, self.m.contacts[k].restitution)
            after = self._solve(seen, v, rates, active)
            now = float(after @ (self.masses * after))
            if now > energy * (1 + 1e-9) and now > least:
                break
            least = min(least, now)
            v, total = after, total + self.P
            self._keep_modes()
        for unit, size in zip(self.units, given, strict=True):
            unit.given = size
        self.P = total
        return v

    def _project(self, W: np.ndarray, G: np.ndarray) -> None:
        nb = self.bilateral
        if nb == 0:
            return
        pose = Pose(self.q)
        off = np.array([value for joint in self.m.joints for value in joint.values(pose, self.t)])
        self.q = self.q - self.inverse * (W[:nb].T @ np.linalg.solve(G[:nb, :nb], off))

    def run(self, steps: int, every: int = 1) -> Motion:
        """All steps."""
        names = [joint.name for joint, _ in self.rubbing] + [self.m.contacts[u.contact].name for u in self.touching]
        modes: dict[str, list[str]] = {name: [] for name in names}
        modes |= {contact.name: [] for contact in self.m.contacts}
        t, q, v = [0.0], [self.q.copy()], [self.v.copy()]
        for name in modes:
            modes[name].append("")
        for k in range(1, steps + 1):
            self.step()
            if k % every == 0:
                t.append(self.t)
                q.append(self.q.copy())
                v.append(self.v.copy())
                for name, mode in self._modes(names).items():
                    modes[name].append(mode)
        return Motion(np.array(t), np.array(q), np.array(v), modes, self.deepest, self.unsolved)

    def _modes(self, names: list[str]) -> dict[str, str]:
        words = {0: "stick", 1: "forward", -1: "backward"}
        found = {
            c.name: "closed" if is_closed else "open" for c, is_closed in zip(self.m.contacts, self.closed, strict=True)
        }
        for k, (name, unit) in enumerate(zip(names, self.units, strict=True)):
            if unit.contact >= 0 and not self.closed[unit.contact]:
                continue
            creeps = abs(self.speeds.get(k, 0.0)) < CREEPS
            found[name] = words[0 if self.stuck[k] or creeps else self.sliding[k]]
        return found
