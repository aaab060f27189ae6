"""An independent computation of planar motion, in NumPy and SciPy only: what Kempe's motions are held to.

It shares nothing with Kempe: bodies have coordinates (x, y, angle), every Jacobian is derived by hand, accelerations
follow from Gauss's principle (a truncated singular value decomposition in the metric of the masses, so that redundant
rows are no problem), SciPy integrates (DOP853; Radau for stiff motions), and positions and velocities are brought back
to the constraints after every step. Slow, and as accurate as double precision allows.

All functions work on a batch: q and v have one row for each copy of the mechanism.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import DOP853, Radau
from scipy.optimize import brentq

GROUND = -1
CONTACT, FREE, RELEASED = 1, 0, 2
VIOLATED = 1e-9
"""Constraints that stay open by more, in sizes of the mechanism, cannot be met."""
SHORTEST = 1e-11
"""Steps that are shorter than this part of a run lead to a position that cannot be passed."""


@dataclass(frozen=True)
class Law:
    """A function of time that begins at zero, with its first two derivatives."""

    kind: str = "hold"
    numbers: tuple[float, ...] = ()

    def __call__(self, t: float) -> tuple[float, float, float]:
        if self.kind == "hold":
            return 0.0, 0.0, 0.0
        if self.kind == "speed":
            (speed,) = self.numbers
            return speed * t, speed, 0.0
        if self.kind == "harmonic":
            a, w, phase = self.numbers
            s, c = np.sin(w * t + phase), np.cos(w * t + phase)
            return a * (s - np.sin(phase)), a * w * c, -a * w * w * s
        if self.kind == "rise":  # 10 s^3 - 15 s^4 + 6 s^5
            rise, duration, begin = self.numbers
            s = min(max((t - begin) / duration, 0.0), 1.0)
            value = s**3 * (10 + s * (-15 + 6 * s))
            rate = 30 * s**2 * (1 - s) ** 2
            return rise * value, rise / duration * rate, rise / duration**2 * 60 * s * (1 - s) * (1 - 2 * s)
        raise ValueError(self.kind)

    @property
    def corners(self) -> list[float]:
        """The times at which a derivative jumps."""
        return [self.numbers[2], self.numbers[2] + self.numbers[1]] if self.kind == "rise" else []


HOLD = Law()


@dataclass(frozen=True)
class Stop:
    """A one-sided spring and damper on a quantity; ``side`` is +1 where it acts above its limit, -1 below."""

    quantity: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
    """Of extended q and v: value, rate, and the gradient by all coordinates."""
    limit: float
    stiffness: float
    damping: float
    side: float


@dataclass(frozen=True)
class Accuracy:
    """How a run is made: relative error per step, and by which method."""

    tolerance: float
    stiff: bool = False


@dataclass
class Planar:
    """A mechanism in maximal coordinates, filled by ``marker`` and the methods below it."""

    gravity: np.ndarray
    mass: list[float] = field(default_factory=list)
    inertia: list[float] = field(default_factory=list)
    start: list[tuple[float, float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._markers: list[tuple[int, float, float]] = []
        self._pins: list[tuple[int, int]] = []
        self._distances: list[tuple[int, int, float, Law]] = []
        self._slots: list[tuple[int, int, float, float, float, Law]] = []
        self._linear: list[tuple[dict[tuple[int, int], float], Law]] = []
        self._springs: list[tuple[int, int, float, float, float, float]] = []
        self._torsions: list[tuple[int, int, float, float, float, float]] = []
        self._loads: list[tuple[int, float, float, bool, float]] = []
        self._torques: list[tuple[int, float, float]] = []
        self._drags: list[tuple[int, float]] = []
        self._cubics: list[tuple[int, float, float]] = []
        self.stops: list[Stop] = []
        self.rank = 0

    # --- description ------------------------------------------------------------------------------------------------

    def body(self, mass: float, inertia: float, x: float, y: float, angle: float) -> int:
        """A rigid body at its centre of mass; its number."""
        self.mass.append(mass)
        self.inertia.append(inertia)
        self.start.append((x, y, angle))
        return len(self.mass) - 1

    def local(self, body: int, world: np.ndarray) -> np.ndarray:
        """A world point of the start in a body's own axes."""
        if body == GROUND:
            return np.asarray(world, dtype=float)
        x, y, angle = self.start[body]
        c, s = np.cos(angle), np.sin(angle)
        return np.array([[c, s], [-s, c]]) @ (np.asarray(world) - (x, y))

    def marker(self, body: int, world: np.ndarray) -> int:
        """A point of a body, given where it is at the start; its number."""
        self._markers.append((body, *self.local(body, world)))
        return len(self._markers) - 1

    def pin(self, i: int, j: int) -> None:
        """Two markers coincide."""
        self._pins.append((i, j))

    def distance(self, i: int, j: int, length: float, law: Law = HOLD) -> None:
        """Two markers keep a distance, or one that follows a law."""
        self._distances.append((i, j, length, law))

    def slide(self, i: int, j: int, direction: np.ndarray, value: float = 0.0, law: Law = HOLD) -> None:
        """Marker j as seen from marker i along a direction of i's body (given at the start) is a value plus a law."""
        turn = self.start[self._markers[i][0]][2] if self._markers[i][0] != GROUND else 0.0
        c, s = np.cos(turn), np.sin(turn)
        ux, uy = np.array([[c, s], [-s, c]]) @ np.asarray(direction)
        self._slots.append((i, j, ux, uy, value, law))

    def linear(self, terms: dict[tuple[int, int], float], law: Law = HOLD) -> None:
        """A sum of coefficient times coordinate (body, 0 to 2) keeps its value of the start, plus a law."""
        self._linear.append(({key: c for key, c in terms.items() if key[0] != GROUND}, law))

    def spring(self, i: int, j: int, stiffness: float, length: float, damping: float, force: float) -> None:
        """Tension k (l - l_0) + c dl/dt + F between two markers."""
        self._springs.append((i, j, stiffness, length, damping, force))

    def torsion(self, i: int, j: int, stiffness: float, angle: float, damping: float, torque: float) -> None:
        """Torque k (phi - phi_0) + c dphi/dt + T that turns body j back towards body i."""
        self._torsions.append((i, j, stiffness, angle, damping, torque))

    def load(self, marker: int, force: np.ndarray, follows: bool, omega: float) -> None:
        """A force times cos(omega t) on a marker, in world axes or in those of its body."""
        self._loads.append((marker, *force, follows, omega))

    def torque(self, body: int, torque: float, omega: float) -> None:
        """A torque times cos(omega t) on a body."""
        self._torques.append((body, torque, omega))

    def drag(self, body: int, c: float) -> None:
        """A force -c |v| v on a body."""
        self._drags.append((body, c))

    def cubic(self, body: int, k: float) -> None:
        """A torque -k (angle - that of the start)^3 on a body."""
        self._cubics.append((body, k, self.start[body][2]))

    def ready(self) -> None:
        """Turn the lists into arrays; to be called once, before anything below."""
        nb = len(self.mass)
        self.nb, self.n = nb, 3 * nb
        self.M = np.array([self.mass, self.mass, self.inertia]).T.ravel()
        self.root = 1 / np.sqrt(self.M)
        self.q0 = np.array(self.start).ravel()
        mk = np.array(self._markers or np.zeros((0, 3)))
        self.mb = mk[:, 0].astype(int) % (nb + 1)  # the ground is the last body
        self.ms = mk[:, 1:]
        self.pins = np.array(self._pins, dtype=int).reshape(-1, 2)
        self.di = np.array([(i, j) for i, j, *_ in self._distances], dtype=int).reshape(-1, 2)
        self.dl = np.array([length for _, _, length, _ in self._distances])
        self.si = np.array([(i, j) for i, j, *_ in self._slots], dtype=int).reshape(-1, 2)
        self.su = np.array([(ux, uy) for _, _, ux, uy, _, _ in self._slots]).reshape(-1, 2)
        self.sv = np.array([value for *_, value, _ in self._slots])
        self.W = np.zeros((len(self._linear), self.n))
        for row, (terms, _) in enumerate(self._linear):
            for (body, k), c in terms.items():
                self.W[row, 3 * body + k] += c
        self.W0 = self.W @ self.q0
        self.sp = np.array([(i, j) for i, j, *_ in self._springs], dtype=int).reshape(-1, 2)
        self.spn = np.array([numbers for _, _, *numbers in self._springs]).reshape(-1, 4)
        self.to = np.array([(i, j) for i, j, *_ in self._torsions], dtype=int).reshape(-1, 2) % (nb + 1)
        self.ton = np.array([numbers for _, _, *numbers in self._torsions]).reshape(-1, 4)
        counts = 2 * len(self.pins), len(self.di), len(self.si), len(self.W)
        self.first = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self.m = int(self.first[-1])
        self.constant = np.zeros((1, self.m, 3 * (nb + 1)))  # the entries of Phi_q that never change
        for k, ends in enumerate(self.pins):
            for sign, end in zip((1.0, -1.0), ends, strict=True):
                for axis in (0, 1):
                    self.constant[0, 2 * k + axis, 3 * self.mb[end] + axis] = sign
        self.constant[0, self.first[3] :, : self.n] = self.W
        extent = self.q0.reshape(-1, 3)[:, :2]
        ends = self._places(self.q0[None])[0][0]
        everything = np.vstack([extent, ends])
        self.size = float(np.ptp(everything, axis=0).max()) or 1.0
        #: What counts as one per coordinate: the size of the mechanism, and a radian.
        self.unit = np.tile([self.size, self.size, 1.0], nb)
        if self.m:
            s = np.linalg.svd(self._scaled(*self.rows(0.0, self.q0[None], np.zeros((1, self.n)))[:2])[0][0])[1]
            self.rank = int((s > 1e-9 * s[0]).sum())
            self.condition = float(s[0] / s[self.rank - 1])
        else:
            self.condition = 1.0

    # --- equations ----------------------------------------------------------------------------------------------------

    def _extended(self, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x, np.zeros((len(x), 3))], axis=1).reshape(len(x), self.nb + 1, 3)

    def _places(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of every marker: where it is, its arm from the body's origin, and the derivative of that by the angle."""
        e = self._extended(q)[:, self.mb]
        c, s = np.cos(e[..., 2]), np.sin(e[..., 2])
        arm = np.stack([c * self.ms[:, 0] - s * self.ms[:, 1], s * self.ms[:, 0] + c * self.ms[:, 1]], axis=-1)
        return e[..., :2] + arm, arm, np.stack([-arm[..., 1], arm[..., 0]], axis=-1)

    def rows(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        """Phi, Phi_q, nu and gamma: Phi_q v = nu, Phi_q a = gamma."""
        B = len(q)
        Phi, J = np.zeros((B, self.m)), np.repeat(self.constant, B, axis=0)
        nu, gamma = np.zeros((B, self.m)), np.zeros((B, self.m))
        P, arm, A = self._places(q)
        e = self._extended(v)[:, self.mb]
        w = e[..., 2:]
        V, C = e[..., :2] + w * A, -(w**2) * arm
        a, b, c, d, _ = self.first
        if b > a:
            i, j = self.pins.T
            k = np.arange(len(i))
            for sign, side in ((1.0, i), (-1.0, j)):
                for axis in (0, 1):
                    J[:, a + 2 * k + axis, 3 * self.mb[side] + 2] = sign * A[:, side, axis]
            Phi[:, a:b] = (P[:, i] - P[:, j]).reshape(B, -1)
            gamma[:, a:b] = (C[:, j] - C[:, i]).reshape(B, -1)
        if c > b:
            i, j = self.di.T
            laws = np.array([law(t) for *_, law in self._distances])
            length, l0 = self.dl + laws[:, 0], self.dl
            D, rate = P[:, j] - P[:, i], V[:, j] - V[:, i]
            k = b + np.arange(len(i))
            for sign, side in ((-1.0, i), (1.0, j)):
                body = 3 * self.mb[side]
                J[:, k, body] = sign * D[..., 0] / l0
                J[:, k, body + 1] = sign * D[..., 1] / l0
                J[:, k, body + 2] = sign * (D * A[:, side]).sum(-1) / l0
            Phi[:, b:c] = ((D**2).sum(-1) - length**2) / (2 * l0)
            nu[:, b:c] = length * laws[:, 1] / l0
            second = laws[:, 1] ** 2 + length * laws[:, 2]
            gamma[:, b:c] = (second - (rate**2).sum(-1) - (D * (C[:, j] - C[:, i])).sum(-1)) / l0
        if d > c:
            i, j = self.si.T
            laws = np.array([law(t) for *_, law in self._slots])
            turn = self._extended(q)[:, self.mb[i], 2]
            spin = w[:, i, 0]
            cos, sin = np.cos(turn), np.sin(turn)
            u = np.stack([cos * self.su[:, 0] - sin * self.su[:, 1], sin * self.su[:, 0] + cos * self.su[:, 1]], -1)
            n = np.stack([-u[..., 1], u[..., 0]], axis=-1)
            D, rate = P[:, j] - P[:, i], V[:, j] - V[:, i]
            k = c + np.arange(len(i))
            for sign, side in ((-1.0, i), (1.0, j)):
                body = 3 * self.mb[side]
                J[:, k, body] = sign * u[..., 0]
                J[:, k, body + 1] = sign * u[..., 1]
                J[:, k, body + 2] = sign * (u * A[:, side]).sum(-1)
            J[:, k, 3 * self.mb[i] + 2] += (n * D).sum(-1)
            Phi[:, c:d] = (u * D).sum(-1) - self.sv - laws[:, 0]
            nu[:, c:d] = laws[:, 1]
            curved = (u * (C[:, j] - C[:, i])).sum(-1) + 2 * spin * (n * rate).sum(-1) - spin**2 * (u * D).sum(-1)
            gamma[:, c:d] = laws[:, 2] - curved
        if self.m > d:
            laws = np.array([law(t) for _, law in self._linear])
            Phi[:, d:] = q @ self.W.T - self.W0 - laws[:, 0]
            nu[:, d:] = laws[:, 1]
            gamma[:, d:] = laws[:, 2]
        return Phi, J[:, :, : self.n], nu, gamma

    def _scaled(self, Phi: np.ndarray, J: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Phi_q M^(-1/2) with rows of length one, and what the rows were divided by."""
        A = J * self.root
        length = np.sqrt((A**2).sum(-1))
        return A / length[..., None], length

    def _least(self, J: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The x of least x.M x with J x = right, by the singular values that are not zero at the start."""
        A, length = self._scaled(right, J)
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        r = self.rank
        y = (np.swapaxes(U, 1, 2)[:, :r] @ (right / length)[..., None])[..., 0] / s[:, :r]
        return self.root * (np.swapaxes(Vt, 1, 2)[:, :, :r] @ y[..., None])[..., 0]

    def forces(self, t: float, q: np.ndarray, v: np.ndarray, modes: tuple[int, ...] = ()) -> np.ndarray:
        """Generalised forces."""
        B = len(q)
        Q = np.zeros((B, self.nb + 1, 3))
        Q[:, : self.nb, :2] += np.asarray(self.mass)[:, None] * self.gravity
        qe, ve = self._extended(q), self._extended(v)
        if len(self.sp) or self._loads:
            P, _, A = self._places(q)
            e = ve[:, self.mb]
            V = e[..., :2] + e[..., 2:] * A
        if len(self.sp):
            i, j = self.sp.T
            k, l0, c, f = self.spn.T
            D = P[:, j] - P[:, i]
            length = np.sqrt((D**2).sum(-1))
            u = D / length[..., None]
            tension = k * (length - l0) + c * (u * (V[:, j] - V[:, i])).sum(-1) + f
            F = tension[..., None] * u
            for sign, side in ((1.0, i), (-1.0, j)):
                wrench = np.concatenate([F, (F * A[:, side]).sum(-1, keepdims=True)], axis=-1)
                np.add.at(Q, (slice(None), self.mb[side]), sign * wrench)
        if len(self.to):
            i, j = self.to.T
            k, phi0, c, f = self.ton.T
            T = k * (qe[:, j, 2] - qe[:, i, 2] - phi0) + c * (ve[:, j, 2] - ve[:, i, 2]) + f
            np.add.at(Q, (slice(None), i, 2), T)
            np.add.at(Q, (slice(None), j, 2), -T)
        for marker, fx, fy, follows, omega in self._loads:
            body, swing = self.mb[marker], np.cos(omega * t)
            F = np.tile([fx * swing, fy * swing], (B, 1))
            if follows:
                c, s = np.cos(qe[:, body, 2]), np.sin(qe[:, body, 2])
                F = np.stack([c * F[:, 0] - s * F[:, 1], s * F[:, 0] + c * F[:, 1]], axis=-1)
            Q[:, body, :2] += F
            Q[:, body, 2] += (F * A[:, marker]).sum(-1)
        for body, torque, omega in self._torques:
            Q[:, body, 2] += torque * np.cos(omega * t)
        for body, c in self._drags:
            u = ve[:, body, :2]
            Q[:, body, :2] -= c * np.sqrt((u**2).sum(-1, keepdims=True)) * u
        for body, k, angle in self._cubics:
            Q[:, body, 2] -= k * (qe[:, body, 2] - angle) ** 3
        for stop, mode in zip(self.stops, modes, strict=False):
            if mode == CONTACT:
                depth, rate, gradient = self.depth(stop, q, v)
                pushed = stop.stiffness * depth + stop.damping * rate
                Q[:, : self.nb] -= (pushed[:, None] * gradient).reshape(B, self.nb, 3)
        return Q[:, : self.nb].reshape(B, self.n)

    def depth(self, stop: Stop, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How far a stop is passed, its rate, its gradient."""
        value, rate, gradient = stop.quantity(q, v)
        return stop.side * (value - stop.limit), stop.side * rate, stop.side * gradient

    def separation(self, i: int, j: int) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]]:
        """The distance of two markers as a quantity for a stop."""

        def quantity(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            P, _, A = self._places(q)
            D = P[:, j] - P[:, i]
            length = np.sqrt((D**2).sum(-1))
            u = D / length[:, None]
            gradient = np.zeros((len(q), 3 * (self.nb + 1)))
            for sign, side in ((-1.0, i), (1.0, j)):
                at = 3 * self.mb[side]
                gradient[:, at : at + 2] += sign * u
                gradient[:, at + 2] += sign * (u * A[:, side]).sum(-1)
            gradient = gradient[:, : self.n]
            return length, (gradient * v).sum(-1), gradient

        return quantity

    def component(self, body: int, k: int) -> Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, ...]]:
        """A coordinate of a body as a quantity for a stop."""

        def quantity(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            gradient = np.zeros((len(q), self.n))
            gradient[:, 3 * body + k] = 1.0
            return q[:, 3 * body + k], v[:, 3 * body + k], gradient

        return quantity

    def accelerations(self, t: float, q: np.ndarray, v: np.ndarray, modes: tuple[int, ...] = ()) -> np.ndarray:
        """Gauss: of all accelerations that the constraints allow, those next to the free ones."""
        free = self.forces(t, q, v, modes) / self.M
        if not self.m:
            return free
        _, J, _, gamma = self.rows(t, q, v)
        return free + self._least(J, gamma - (J @ free[..., None])[..., 0])

    def projected(self, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest positions and velocities that the constraints allow."""
        if not self.m:
            return q, v
        for _ in range(3):
            Phi, J, _, _ = self.rows(t, q, v)
            change = self._least(J, Phi)
            q = q - change
            if np.abs(change / self.unit).max() < 1e-14:
                break
        _, J, nu, _ = self.rows(t, q, v)
        return q, v - self._least(J, (J @ v[..., None])[..., 0] - nu)

    def violation(self, t: float, q: np.ndarray) -> float:
        """The largest distance by which a constraint is open, in sizes of the mechanism or radians."""
        Phi, J, _, _ = self.rows(t, q, np.zeros_like(q))
        return float((np.abs(Phi) / np.abs(J * self.unit).max(axis=-1)).max())

    def energy(self, q: np.ndarray, v: np.ndarray, modes: tuple[int, ...] = ()) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic energy, and that of gravity, springs, cubic springs and stops."""
        kinetic = (self.M * v**2).sum(-1) / 2
        qe = self._extended(q)
        potential = -(np.asarray(self.mass) * (qe[:, : self.nb, :2] @ self.gravity)).sum(-1)
        P = self._places(q)[0]
        for (i, j), (k, l0, _, f) in zip(self.sp, self.spn, strict=True):
            length = np.sqrt(((P[:, j] - P[:, i]) ** 2).sum(-1))
            potential = potential + k * (length - l0) ** 2 / 2 + f * length
        for (i, j), (k, phi0, _, f) in zip(self.to, self.ton, strict=True):
            phi = qe[:, j, 2] - qe[:, i, 2]
            potential = potential + k * (phi - phi0) ** 2 / 2 + f * phi
        for body, k, angle in self._cubics:
            potential = potential + k * (qe[:, body, 2] - angle) ** 4 / 4
        for stop in self.stops:
            depth = self.depth(stop, q, v)[0]
            potential = potential + stop.stiffness * np.maximum(depth, 0) ** 2 / 2
        return kinetic, potential

    @property
    def conservative(self) -> bool:
        """Whether nothing dissipates or drives."""
        laws = [law for *_, law in (*self._distances, *self._slots, *self._linear)]
        damped = any(s.damping for s in self.stops) or self.spn[:, 2].any() or self.ton[:, 2].any()
        return not (damped or self._loads or self._torques or self._drags) and all(law == HOLD for law in laws)

    @property
    def corners(self) -> list[float]:
        """The times at which some law has a corner."""
        laws = [law for *_, law in (*self._distances, *self._slots, *self._linear)]
        return [t for law in laws for t in law.corners]

    # --- motion -----------------------------------------------------------------------------------------------------

    def tangent(self, t: float, q: np.ndarray, v: np.ndarray, modes: tuple[int, ...], pace: float) -> np.ndarray:
        """The derivative of (v, a) by (q, v) at one state, by central differences."""
        n = self.n
        steps = np.concatenate([self.unit, self.unit * pace]) * 1e-6
        y = np.concatenate([q, v]) + np.vstack([np.diag(steps), -np.diag(steps)])
        a = self.accelerations(t, y[:, :n], y[:, n:], modes)
        found = np.zeros((2 * n, 2 * n))
        found[:n, n:] = np.eye(n)
        found[n:] = ((a[: 2 * n] - a[2 * n :]) / (2 * steps[:, None])).T
        return found

    def motion(
        self, q: np.ndarray, v: np.ndarray, times: np.ndarray, accuracy: Accuracy, pace: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities of all copies at the given times, the first of them being the start.

        ``pace`` is a rate: what counts as a velocity of one is the unit of a coordinate times it.
        """
        return Run(self, np.atleast_2d(q), np.atleast_2d(v), np.asarray(times), accuracy, pace).outputs()


class Run:
    """One integration; what changes from step to step."""

    def __init__(
        self, system: Planar, q: np.ndarray, v: np.ndarray, times: np.ndarray, accuracy: Accuracy, pace: float
    ) -> None:
        assert len(q) == 1 or not (system.stops or accuracy.stiff)  # copies meet stops at different instants
        self.system, self.times, self.accuracy, self.pace = system, times, accuracy, pace
        self.B, self.n = q.shape
        self.absolute = accuracy.tolerance * np.concatenate(
            [np.tile(system.unit, self.B), np.tile(system.unit * pace, self.B)]
        )
        self.t, self.y = float(times[0]), self.packed(q, v)
        self.modes = tuple(self.mode_at_rest(k) for k in range(len(system.stops)))
        self.step: float | None = None
        self.fresh = True
        self.steps = 0
        self.switches: list[tuple[float, int, int]] = []

    def packed(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate([q.ravel(), v.ravel()])

    def halves(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        half = self.B * self.n
        return y[:half].reshape(self.B, self.n), y[half:].reshape(self.B, self.n)

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        q, v = self.halves(y)
        return self.packed(v, self.system.accelerations(t, q, v, self.modes))

    def outputs(self) -> tuple[np.ndarray, np.ndarray]:
        found = [self.halves(self.y)]
        corners = sorted(set(self.system.corners))
        for end in self.times[1:]:
            for corner in corners:
                if self.t < corner < end:
                    self.advance(corner)
            self.advance(float(end))
            found.append(self.halves(self.y))
        q, v = (np.stack(part, axis=1) for part in zip(*found, strict=True))
        return q, v

    def solver(self, t: float, y: np.ndarray, end: float, step: float | None):
        """A SciPy integrator from a state to an end."""
        step = None if step is None else min(step, abs(end - t))
        options = {"rtol": max(self.accuracy.tolerance, 3e-14), "atol": self.absolute, "first_step": step}
        if self.accuracy.stiff:

            def jac(t, y):
                return self.system.tangent(t, y[: self.n], y[self.n :], self.modes, self.pace)

            return Radau(self.rate, t, y, end, jac=jac, **options)
        return DOP853(self.rate, t, y, end, **options)

    def advance(self, end: float) -> None:
        """Go to a time, through all switches on the way."""
        while self.t < end:
            solver = self.solver(self.t, self.y, end, self.step)
            while solver.status == "running":
                before = solver.t, solver.y.copy(), solver.h_abs
                message = solver.step()
                if solver.status == "failed":
                    raise ArithmeticError(f"the reference stops at t = {solver.t}: {message}")
                self.steps += 1
                if solver.status == "running" and solver.t - before[0] < SHORTEST * self.times[-1]:
                    raise ArithmeticError(f"the reference stops at t = {solver.t}: its steps become ever shorter")
                if self.system.stops and (switch := self.first_switch(solver)):
                    self.meet(*before, *switch)
                    break
                self.fresh = False
                q, v = self.system.projected(solver.t, *self.halves(solver.y))
                if self.system.m and self.system.violation(solver.t, q) > VIOLATED:
                    raise ArithmeticError(f"the reference stops at t = {solver.t}: constraints contradict each other")
                solver.y = self.packed(q, v)
                solver.f = self.rate(solver.t, solver.y)
                self.t, self.y = solver.t, solver.y
                if solver.status == "running" or self.step is None:
                    self.step = solver.h_abs

    # --- stops ------------------------------------------------------------------------------------------------------

    def pressed(self, k: int, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Depth, its rate, and what spring and damper of a stop would push with, per row of y."""
        stop = self.system.stops[k]
        depth, rate, _ = self.system.depth(stop, y[:, : self.n], y[:, self.n :])
        return depth, rate, stop.stiffness * depth + stop.damping * rate

    def mode_at_rest(self, k: int) -> int:
        depth, rate, force = (float(x[0]) for x in self.pressed(k, self.y[None]))
        if depth < 0 or (depth == 0 and rate < 0):
            return FREE
        return CONTACT if force >= 0 else RELEASED

    def guards(self, y: np.ndarray) -> list[tuple[np.ndarray, int, int]]:
        """Of every way out of the present modes: its guard, positive as long as it is not taken; stop; new mode.

        The guard is an array with one value for each row of y.
        """
        found = []
        for k, mode in enumerate(self.modes):
            depth, _, force = self.pressed(k, np.atleast_2d(y))
            if mode == FREE:
                found.append((-depth, k, CONTACT))
            elif mode == CONTACT:
                found.append((force, k, RELEASED if self.system.stops[k].damping else FREE))
            else:
                found += [(depth, k, FREE), (-force, k, CONTACT)]
        return found

    def first_switch(self, solver) -> tuple[float, int] | None:
        """The instant of the last step at which the first guard falls through zero, and which."""
        dense = solver.dense_output()
        grid = np.linspace(solver.t_old, solver.t, 17)
        values = [g for g, _, _ in self.guards(dense(grid).T)]
        best = None
        for which, g in enumerate(values):

            def guard(t: float, which: int = which) -> float:
                return float(self.guards(dense(t))[which][0][0])

            for k in range(1, len(grid)):
                lower = grid[k - 1]
                if self.fresh and k == 1 and abs(g[0]) < 1e-9 * np.abs(g).max():
                    continue  # the guard of the switch just taken
                if g[k - 1] > 0 >= g[k]:
                    at = brentq(guard, lower, grid[k], xtol=1e-15 * max(abs(solver.t), 1e-300), rtol=1e-14)
                elif k + 1 < len(grid) and 0 < g[k] < min(g[k - 1], g[k + 1]):
                    at = self.dip(guard, grid[k - 1 : k + 2], g[k - 1 : k + 2])
                    if at is None:
                        continue
                else:
                    continue
                if best is None or at < best[0]:
                    best = (at, which)
                break
        return best

    @staticmethod
    def dip(guard: Callable[[float], float], t: np.ndarray, g: np.ndarray) -> float | None:
        """Where a guard that is lowest at the middle of three times falls through zero between them."""
        bottom = np.polynomial.Polynomial.fit(t, g, 2)
        lowest = float(bottom.deriv().roots()[0].real)
        value = guard(lowest)
        return None if value > 0 else float(brentq(guard, t[0], lowest))

    def meet(self, t: float, y: np.ndarray, step: float, at: float, which: int) -> None:
        """Integrate once more up to the instant of a switch, close in on it, and take it."""
        for _ in range(6):
            solver = self.solver(t, y, at, None if step is None else min(step, at - t)) if at > t else None
            while solver is not None and solver.status == "running":
                solver.step()
            here = self.packed(*self.system.projected(at, *self.halves(y if solver is None else solver.y)))
            value = float(self.guards(here)[which][0][0])
            ahead = 1e-7 * (at - t) or 1e-12 / self.pace
            slope = (float(self.guards(here + ahead * self.rate(at, here))[which][0][0]) - value) / ahead
            change = -value / slope
            if abs(change) > 0.1 * (at - t) or abs(change) < 4e-16 * at:
                break
            at += change
        _, stop, mode = self.guards(here)[which]
        self.modes = (*self.modes[:stop], mode, *self.modes[stop + 1 :])
        self.switches.append((at, stop, mode))
        self.t, self.y, self.step, self.fresh = at, here, None, True
        if len(self.switches) > 400:
            raise ArithmeticError("the reference meets more than 400 switches")
