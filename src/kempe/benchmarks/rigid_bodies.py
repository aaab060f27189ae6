"""An independent computation of spatial motion, in NumPy and SciPy only: what Kempe and its peers are held to.

It shares nothing with Kempe: a body is the place of its centre of mass, a quaternion, a velocity and an angular
velocity in world axes; Newton's and Euler's equations, every Jacobian derived by hand. Constraints are solved for at
the level of accelerations, in the metric of the masses, by a truncated singular value decomposition (so that redundant
rows are no problem) or, where there are many, by sparse factors. SciPy's DOP853 integrates, and positions and
velocities are brought back to the constraints after every step. Slow, and about as accurate as double precision allows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.integrate import DOP853
from scipy.sparse import coo_matrix, csc_matrix
from scipy.sparse.linalg import splu

from kempe.benchmarks.rigid_joints import GROUND, JoinedBodies
from kempe.benchmarks.turning import Vector, cross, dot, product, quaternion_of, rotation_of, turned

MANY_ROWS = 60
"""From so many rows on, factors are sparse, and no row may be redundant."""
TRUNCATED = 1e-9
"""Singular values below this part of the largest belong to redundant rows."""


@dataclass
class State:
    """Places, quaternions, velocities and angular velocities (world axes) of all bodies, one row each."""

    r: np.ndarray
    quaternion: np.ndarray
    v: np.ndarray
    omega: np.ndarray

    @property
    def R(self) -> np.ndarray:
        """The bodies' axes as columns."""
        return rotation_of(self.quaternion)

    def packed(self) -> np.ndarray:
        """All numbers in a row."""
        return np.concatenate([part.ravel() for part in (self.r, self.quaternion, self.v, self.omega)])

    @staticmethod
    def unpacked(y: np.ndarray) -> State:
        """The state that was packed."""
        n = y.size // 13
        r, quaternion, v, omega = np.split(y, [3 * n, 7 * n, 10 * n])
        return State(r.reshape(n, 3), quaternion.reshape(n, 4), v.reshape(n, 3), omega.reshape(n, 3))


Piece = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Rows, bodies and gradients by velocity and angular velocity (six numbers) of some terms."""


class RigidBodies(JoinedBodies):
    """A mechanism in space with its equations of motion."""

    def start(self, v: np.ndarray | None = None, omega: np.ndarray | None = None) -> State:
        """The drawn pose, with the velocities nearest to those given that the constraints allow."""
        n = len(self.mass)
        quaternion = np.array([quaternion_of(R) for R in self.rotation])
        none = np.zeros((n, 3))
        state = State(np.array(self.at), quaternion, none if v is None else v, none if omega is None else omega)
        self._freeze()
        self._angles = np.zeros(len(self._kinds["angle"].row))
        self._offset = np.zeros(self.rows)
        self._offset = self.constraints(0.0, state)[0]
        return self.projected(0.0, state)

    def _freeze(self) -> None:
        """Terms as arrays, once."""
        self._bodies, self._vectors, self._rows, self._factors = {}, {}, {}, {}
        for kind, terms in self._kinds.items():
            if terms.row:
                self._rows[kind], self._factors[kind] = np.array(terms.row), np.array(terms.factor)
                self._bodies[kind] = np.array(terms.bodies).T
                self._vectors[kind] = [np.array(each) for each in zip(*terms.vectors, strict=True)]
        self._masses, self._inertias = np.array(self.mass), np.array(self.inertia)
        self._flexibilities = np.linalg.inv(self._inertias)

    def _moved(self, state: State) -> tuple[np.ndarray, ...]:
        """Places, axes and velocities with those of the ground behind them, where index -1 finds them."""
        none = np.zeros((1, 3))
        R = np.concatenate([state.R, np.eye(3)[None]])
        return np.vstack([state.r, none]), R, np.vstack([state.v, none]), np.vstack([state.omega, none])

    def constraints(self, t: float, state: State) -> tuple[np.ndarray, np.ndarray, list[Piece]]:
        """The values of all rows, what their second rates are without accelerations, and their gradients."""
        moved = self._moved(state)
        Phi, rest = np.zeros(self.rows), np.zeros(self.rows)
        pieces: list[Piece] = []
        for kind, row in self._rows.items():
            value, second, gradients = getattr(self, f"_{kind}_terms")(moved)
            factor = self._factors[kind]
            np.add.at(Phi, row, factor * value)
            np.add.at(rest, row, factor * second)
            pieces += [(row, body, factor[:, None] * gradient) for body, gradient in gradients]
        assert self._offset is not None
        Phi -= self._offset
        for driven, law in self.laws.items():
            asked, _, change = law(t)
            Phi[driven] -= asked
            rest[driven] -= change
        return Phi, rest, pieces

    def _ends(self, kind: str, moved: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """Of two points on bodies: arms, difference, its rate and its second rate without accelerations."""
        r, R, v, omega = moved
        (i, j), (a, b) = self._bodies[kind][:2], self._vectors[kind][:2]
        si, sj = np.einsum("kab,kb->ka", R[i], a), np.einsum("kab,kb->ka", R[j], b)
        turning_i, turning_j = cross(omega[i], si), cross(omega[j], sj)
        d, rate = r[j] + sj - r[i] - si, v[j] + turning_j - v[i] - turning_i
        return si, sj, d, rate, cross(omega[j], turning_j) - cross(omega[i], turning_i)

    def _along_terms(self, moved: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray, list]:
        _, R, _, omega = moved
        si, sj, d, rate, bend = self._ends("along", moved)
        i, j, c = self._bodies["along"]
        a = np.einsum("kab,kb->ka", R[c], self._vectors["along"][2])
        da = cross(omega[c], a)
        second = dot(cross(omega[c], da), d) + 2 * dot(da, rate) + dot(a, bend)
        none = np.zeros_like(a)
        gradients = [
            (i, np.hstack([-a, -cross(si, a)])),
            (j, np.hstack([a, cross(sj, a)])),
            (c, np.hstack([none, cross(a, d)])),
        ]
        return dot(a, d), second, gradients

    def _cosine_terms(self, moved: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray, list]:
        _, R, _, omega = moved
        i, j = self._bodies["cosine"]
        a, b = (np.einsum("kab,kb->ka", R[k], e) for k, e in zip((i, j), self._vectors["cosine"], strict=True))
        da, db = cross(omega[i], a), cross(omega[j], b)
        second = dot(cross(omega[i], da), b) + 2 * dot(da, db) + dot(a, cross(omega[j], db))
        square = np.hstack([np.zeros_like(a), cross(a, b)])
        return dot(a, b), second, [(i, square), (j, -square)]

    def _distance_terms(self, moved: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray, list]:
        si, sj, d, rate, bend = self._ends("distance", moved)
        i, j = self._bodies["distance"]
        gradients = [(i, np.hstack([-d, -cross(si, d)])), (j, np.hstack([d, cross(sj, d)]))]
        return dot(d, d) / 2, dot(rate, rate) + dot(d, bend), gradients

    def _angle_terms(self, moved: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray, list]:
        _, R, _, omega = moved
        i, j = self._bodies["angle"]
        u, v, e = (np.einsum("kab,kb->ka", R[k], x) for k, x in zip((i, i, j), self._vectors["angle"], strict=True))
        n = cross(u, v)
        value = np.arctan2(dot(v, e), dot(u, e))
        assert self._angles is not None
        value += 2 * np.pi * np.round((self._angles - value) / (2 * np.pi))
        row = np.hstack([np.zeros_like(n), n])
        return value, dot(cross(omega[i], n), omega[j] - omega[i]), [(i, -row), (j, row)]

    def forces(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Applied forces and torques (about the centres of mass) of all bodies."""
        r, R, v, omega = self._moved(state)
        force, torque = np.zeros_like(r), np.zeros_like(r)
        force[:-1] = self._masses[:, None] * self.gravity
        for i, a, j, b, stiffness, length, damping in self._springs:
            si, sj = R[i] @ a, R[j] @ b
            d = r[j] + sj - r[i] - si
            rate = v[j] + cross(omega[j], sj) - v[i] - cross(omega[i], si)
            now = np.sqrt(d @ d)
            pull = (stiffness * (now - length) + damping * (d @ rate) / now) / now * d
            for body, arm, sign in ((i, si, 1.0), (j, sj, -1.0)):
                force[body] += sign * pull
                torque[body] += sign * cross(arm, pull)
        for i, a, b, j, c, stiffness, damping in self._twists:
            u, across_, e = R[i] @ a, R[i] @ b, R[j] @ c
            n = cross(u, across_)
            back = stiffness * np.arctan2(across_ @ e, u @ e) + damping * (n @ (omega[j] - omega[i]))
            torque[i] += back * n
            torque[j] -= back * n
        for body, push, turn in self._loads:
            force[body] += push
            torque[body] += turn
        return force[:-1], torque[:-1]

    def _free(self, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations without constraints, six for each body, and inverse inertias in world axes."""
        force, torque = self.forces(state)
        R = state.R
        spin = np.einsum("kab,kbc,kdc,kd->ka", R, self._inertias, R, state.omega)
        flexibility = np.einsum("kab,kbc,kdc->kad", R, self._flexibilities, R)
        turning = np.einsum("kab,kb->ka", flexibility, torque - cross(state.omega, spin))
        return np.hstack([force / self._masses[:, None], turning]), flexibility

    def _held(
        self, pieces: list[Piece], needed: Callable[[np.ndarray | csc_matrix], np.ndarray], flexibility: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Of all changes, six for each body, with ``J change = needed`` the smallest in the metric; its multipliers."""
        n = len(self.mass)
        rows, bodies = (np.concatenate([piece[k] for piece in pieces]) for k in (0, 1))
        gradients = np.concatenate([piece[2] for piece in pieces])
        moving = bodies != GROUND
        rows, bodies, gradients = rows[moving], bodies[moving], gradients[moving]
        if self.rows < MANY_ROWS:
            J = np.zeros((self.rows, n, 6))
            np.add.at(J, (rows, bodies), gradients)
            turn = np.linalg.cholesky(flexibility)
            B = np.concatenate(
                [J[:, :, :3] / np.sqrt(self._masses)[:, None], np.einsum("rka,kab->rkb", J[:, :, 3:], turn)], axis=2
            )
            U, s, Vt = np.linalg.svd(B.reshape(self.rows, -1), full_matrices=False)
            kept = s > TRUNCATED * s[0]
            along = (U[:, kept].T @ needed(J.reshape(self.rows, -1))) / s[kept]
            change = (along @ Vt[kept]).reshape(n, 6)
            change[:, :3] /= np.sqrt(self._masses)[:, None]
            change[:, 3:] = np.einsum("kab,kb->ka", turn, change[:, 3:])
            return change, U[:, kept] @ (along / s[kept])
        columns = 6 * bodies[:, None] + np.arange(6)
        entries = (gradients.ravel(), (np.repeat(rows, 6), columns.ravel()))
        J = coo_matrix(entries, shape=(self.rows, 6 * n)).tocsc()
        k, three = np.arange(n), np.arange(3)
        line, column = np.broadcast_arrays(
            6 * k[:, None, None] + 3 + three[:, None], 6 * k[:, None, None] + 3 + three[None, :]
        )
        places = (6 * k[:, None] + three).ravel()
        values = np.concatenate([np.repeat(1 / self._masses, 3), flexibility.ravel()])
        where = np.concatenate([places, line.ravel()]), np.concatenate([places, column.ravel()])
        W = coo_matrix((values, where), shape=(6 * n, 6 * n)).tocsc()
        lam = splu((J @ W @ J.T).tocsc(), permc_spec="NATURAL", diag_pivot_thresh=0.0).solve(needed(J))
        return (W @ (J.T @ lam)).reshape(n, 6), lam

    def accelerations(self, t: float, state: State) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations and angular accelerations in a row for each body, and the multipliers of all rows."""
        free, flexibility = self._free(state)
        if not self.rows:
            return free, np.zeros(0)
        _, rest, pieces = self.constraints(t, state)
        change, lam = self._held(pieces, lambda J: -rest - J @ free.ravel(), flexibility)
        return free + change, lam

    def projected(self, t: float, state: State) -> State:
        """The nearest positions and velocities that the constraints allow."""
        quaternion = state.quaternion / np.linalg.norm(state.quaternion, axis=1, keepdims=True)
        state = State(state.r, quaternion, state.v, state.omega)
        if not self.rows:
            return state
        flexibility = self._free(state)[1]
        for _ in range(3):
            Phi, _, pieces = self.constraints(t, state)
            change, _ = self._held(pieces, lambda J, Phi=Phi: -Phi, flexibility)  # type: ignore[misc]
            places, turns = state.r + change[:, :3], turned(state.quaternion, change[:, 3:])
            state = State(places, turns, state.v, state.omega)
            if np.abs(change).max() < 1e-14:
                break
        if "angle" in self._rows:
            self._angles = self._angle_terms(self._moved(state))[0]
        pieces = self.constraints(t, state)[2]
        rates = np.zeros(self.rows)
        for row, law in self.laws.items():
            rates[row] = law(t)[1]
        u = np.hstack([state.v, state.omega])
        change, _ = self._held(pieces, lambda J: rates - J @ u.ravel(), self._free(state)[1])
        u = u + change
        return State(state.r, state.quaternion, u[:, :3], u[:, 3:])

    def violation(self, t: float, state: State) -> float:
        """The largest value of a row."""
        return float(np.abs(self.constraints(t, state)[0]).max(initial=0.0))

    def reactions(self, t: float, state: State) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Of every joint the force on body j at the joint's point and the moment about that, in world axes."""
        lam = self.accelerations(t, state)[1]
        R = np.concatenate([state.R, np.eye(3)[None]])
        pieces = self.constraints(t, state)[2]
        found = {}
        for name, joint in self.joints.items():
            wrench = np.zeros(6)
            for row, body, gradient in pieces:
                wrench += lam[row] * np.isin(row, joint.rows) * (body == joint.j) @ gradient
            force = wrench[:3]
            found[name] = (force, wrench[3:] - cross(R[joint.j] @ joint.point, force))
        return found

    def energy(self, state: State) -> float:
        """Kinetic, of gravity and of springs (torsion springs: within half a turn)."""
        r, R, _, _ = self._moved(state)
        spin = np.einsum("kab,kb->ka", np.swapaxes(state.R, 1, 2), state.omega)
        total = (self._masses * dot(state.v, state.v)).sum() / 2 - self._masses @ (state.r @ self.gravity)
        total += np.einsum("ka,kab,kb->", spin, self._inertias, spin) / 2
        for i, a, j, b, stiffness, length, _ in self._springs:
            total += stiffness * (np.linalg.norm(r[j] + R[j] @ b - r[i] - R[i] @ a) - length) ** 2 / 2
        for i, a, b, j, c, stiffness, _ in self._twists:
            total += stiffness * np.arctan2(R[i] @ b @ (R[j] @ c), R[i] @ a @ (R[j] @ c)) ** 2 / 2
        return float(total)

    # --- motion -----------------------------------------------------------------------------------------------------

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        """The rate of a packed state."""
        state = State.unpacked(y)
        a, _ = self.accelerations(t, state)
        spin = np.hstack([np.zeros((len(self.mass), 1)), state.omega])
        return State(state.v, product(spin, state.quaternion) / 2, a[:, :3], a[:, 3:]).packed()

    def motion(self, state: State, times: Vector, tolerance: float = 1e-12) -> list[State]:
        """States at the given times, the first of them being the start."""
        found = [state]
        step = None
        for begin, end in pairwise(times):
            solver = DOP853(self.rate, begin, found[-1].packed(), end, rtol=tolerance, atol=tolerance, first_step=step)
            while solver.status == "running":
                message = solver.step()
                if solver.status == "failed":
                    raise ArithmeticError(f"the reference stops at t = {solver.t}: {message}")
                step = min(solver.h_abs, *(np.diff(times)))
                solver.y = self.projected(solver.t, State.unpacked(solver.y)).packed()
                solver.f = self.rate(solver.t, solver.y)
            found.append(State.unpacked(solver.y))
        return found
