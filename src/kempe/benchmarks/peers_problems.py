"""The mechanisms that Kempe and its peers are all given, and their exact motion from minimal coordinates.

Every body is a bar: its reference point is its centre of mass, its pins lie at ``(-length / 2, 0)`` and
``(length / 2, 0)`` of its own frame. Coordinates are absolute, ``(x, y, angle)`` per body, body after body.

The exact motion shares no code with any peer: a mechanism of one degree of freedom is the path ``q(theta)`` that its
coordinates follow, written out by trigonometry, and a chain is known by the angles of its bars, so neither can drift.
Both are integrated by SciPy's DOP853 near the limit of double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

GROUND = -1
GRAVITY = 9.81
"""Acceleration of gravity; it acts along ``-y``."""

Point = tuple[float, float]
Path = Callable[[float], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""The coordinates of all bodies as a function of the crank's angle, with their first and second derivatives."""


@dataclass(frozen=True)
class Bar:
    """A rigid bar, its centre of mass in the middle; a slider is a bar of length zero."""

    name: str
    mass: float
    inertia: float
    length: float
    start: tuple[float, float, float]
    """Coordinates ``(x, y, angle)`` at the start, where the bar is at rest."""


@dataclass(frozen=True)
class Pin:
    """A revolute joint between points of two bodies, numbered from 0; ``GROUND`` is the frame of the world."""

    name: str
    body_i: int
    on_i: Point
    body_j: int
    on_j: Point


@dataclass(frozen=True)
class Problem:
    """A planar mechanism released at rest, moved by gravity and by a constant torque on its first body."""

    name: str
    bars: tuple[Bar, ...]
    pins: tuple[Pin, ...]
    slider: int | None = None
    """The body that a guide keeps on the x axis, upright: ``y = 0`` and ``angle = 0``."""
    torque: float = 0.0
    end_time: float = 1.0
    path: Path | None = None
    """The coordinates over the crank's angle; without it the problem is a chain of equal bars hung from the origin."""

    @property
    def start(self) -> np.ndarray:
        """The coordinates at the start."""
        return np.array([value for bar in self.bars for value in bar.start])

    @property
    def masses(self) -> np.ndarray:
        """The diagonal of the mass matrix."""
        return np.array([value for bar in self.bars for value in (bar.mass, bar.mass, bar.inertia)])

    @property
    def forces(self) -> np.ndarray:
        """The applied forces, all of them constant: weights, and the torque on the first body."""
        applied = np.array([value for bar in self.bars for value in (0.0, -GRAVITY * bar.mass, 0.0)])
        applied[2] += self.torque
        return applied

    def violation(self, q: np.ndarray) -> float:
        """The largest constraint error of a position: of the pins in metres, of the guide in metres or radians."""
        frames = np.vstack([np.reshape(q, (-1, 3)), np.zeros(3)])  # the last one, index -1, is the ground
        gaps = [
            abs(a - b)
            for pin in self.pins
            for a, b in zip(_point(frames[pin.body_i], pin.on_i), _point(frames[pin.body_j], pin.on_j), strict=True)
        ]
        if self.slider is not None:
            gaps += [abs(frames[self.slider, 1]), abs(frames[self.slider, 2])]
        return float(max(gaps))


@dataclass(frozen=True)
class StepTiming:
    """What one peer needs for one time step, and what its run ended with."""

    peer: str
    configuration: str
    seconds_per_step: float
    step: float
    steps: int
    coordinates: np.ndarray
    """Rows ``(x, y, angle)``, one per body, at the end of the run."""
    violation: float
    """The largest constraint error: at the end, or over the whole run where the peer's constraints are soft."""
    error: float
    """Of the last position against the exact motion, relative to the largest coordinate."""


def _point(frame: np.ndarray, local: Point) -> Point:
    """The world place of a body's point."""
    x, y, angle = frame
    cos, sin = np.cos(angle), np.sin(angle)
    return x + cos * local[0] - sin * local[1], y + sin * local[0] + cos * local[1]


def _along(length: float, angle: float, rate: float, change: float) -> np.ndarray:
    """A vector of given length and direction with its two derivatives (rows), the angle's own being given."""
    cos, sin = np.cos(angle), np.sin(angle)
    ahead, across = length * np.array([cos, sin]), length * np.array([-sin, cos])
    return np.array([ahead, rate * across, change * across - rate**2 * ahead])


def _slider_crank_path(theta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Crank of length r, rod of length l: ``r sin(theta) + l sin(phi) = 0``."""
    r, l = CRANK, ROD
    sin = -r * np.sin(theta) / l
    phi, cos = np.arcsin(sin), np.sqrt(1.0 - sin**2)
    rate = -r * np.cos(theta) / (l * cos)
    change = (r * np.sin(theta) / l + sin * rate**2) / cos
    crank, rod = _along(r, theta, 1.0, 0.0), _along(l, phi, rate, change)
    angles = np.array([[theta, phi], [1.0, rate], [0.0, change]])
    slider = np.hstack([(crank + rod)[:, :1], np.zeros((3, 2))])
    q = np.hstack([crank / 2, angles[:, :1], crank + rod / 2, angles[:, 1:], slider])
    return q[0], q[1], q[2]


def _four_bar_path(theta: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The open four-bar: ``a e(theta) + b e(phi) = (d, 0) + c e(psi)``, the coupler's pin above the ground."""
    a, b, c, d = FOUR_BAR
    A = a * np.array([np.cos(theta), np.sin(theta)])
    AD = np.array([d, 0.0]) - A
    reach = np.hypot(*AD)
    along = (b**2 - c**2 + reach**2) / (2 * reach)  # from A towards D, to the foot of B's height
    B = A + (along * AD + np.sqrt(b**2 - along**2) * np.array([-AD[1], AD[0]])) / reach
    phi, psi = np.arctan2(B[1] - A[1], B[0] - A[0]), np.arctan2(B[1], B[0] - d)
    # b e'(phi) phi' - c e'(psi) psi' = -a e'(theta), and the same once more differentiated
    matrix = np.array([[-b * np.sin(phi), c * np.sin(psi)], [b * np.cos(phi), -c * np.cos(psi)]])
    phi1, psi1 = np.linalg.solve(matrix, a * np.array([np.sin(theta), -np.cos(theta)]))
    bend = A + b * phi1**2 * _along(1.0, phi, 0.0, 0.0)[0] - c * psi1**2 * _along(1.0, psi, 0.0, 0.0)[0]
    phi2, psi2 = np.linalg.solve(matrix, bend)
    crank, coupler, rocker = _along(a, theta, 1.0, 0.0), _along(b, phi, phi1, phi2), _along(c, psi, psi1, psi2)
    angles = np.array([[theta, phi, psi], [1.0, phi1, psi1], [0.0, phi2, psi2]])
    foot = np.array([[d, 0.0], [0.0, 0.0], [0.0, 0.0]])
    q = np.hstack([crank / 2, angles[:, :1], crank + coupler / 2, angles[:, 1:2], foot + rocker / 2, angles[:, 2:]])
    return q[0], q[1], q[2]


def _triple(q: np.ndarray, body: int) -> tuple[float, float, float]:
    return float(q[3 * body]), float(q[3 * body + 1]), float(q[3 * body + 2])


CRANK, ROD = 0.153, 0.306
FOUR_BAR = (1.0, 4.0, 3.0, 4.0)
"""Crank, coupler, rocker, ground."""


def slider_crank() -> Problem:
    """A crank under constant torque, a rod and a slider without offset; two seconds are 3.2 turns."""
    q = _slider_crank_path(0.5)[0]
    return Problem(
        "slider-crank",
        (
            Bar("crank", 0.038, 7.4e-5, CRANK, _triple(q, 0)),
            Bar("rod", 0.076, 5.9e-4, ROD, _triple(q, 1)),
            Bar("slider", 0.455, 2.7e-6, 0.0, _triple(q, 2)),
        ),
        (
            Pin("O", GROUND, (0.0, 0.0), 0, (-CRANK / 2, 0.0)),
            Pin("A", 0, (CRANK / 2, 0.0), 1, (-ROD / 2, 0.0)),
            Pin("B", 1, (ROD / 2, 0.0), 2, (0.0, 0.0)),
        ),
        slider=2,
        torque=0.1,
        end_time=2.0,
        path=_slider_crank_path,
    )


def four_bar() -> Problem:
    """A crank-rocker of uniform bars of 1 kg/m, let go at a crank angle of 1 rad."""
    q = _four_bar_path(1.0)[0]
    names = ("crank", "coupler", "rocker")
    bars = tuple(Bar(name, l, l**3 / 12, l, _triple(q, k)) for k, (name, l) in enumerate(zip(names, FOUR_BAR[:3])))
    a, b, c, d = FOUR_BAR
    pins = (
        Pin("O", GROUND, (0.0, 0.0), 0, (-a / 2, 0.0)),
        Pin("A", 0, (a / 2, 0.0), 1, (-b / 2, 0.0)),
        Pin("B", 1, (b / 2, 0.0), 2, (c / 2, 0.0)),
        Pin("D", GROUND, (d, 0.0), 2, (-c / 2, 0.0)),
    )
    return Problem("four-bar", bars, pins, end_time=10.0, path=_four_bar_path)


def chain(count: int, end_time: float = 1.0) -> Problem:
    """Uniform bars of 1 m and 1 kg, pinned end to end to the origin and let go from the horizontal."""
    bars = tuple(Bar(f"bar {k + 1}", 1.0, 1 / 12, 1.0, (k + 0.5, 0.0, 0.0)) for k in range(count))
    first = Pin("pin 1", GROUND, (0.0, 0.0), 0, (-0.5, 0.0))
    others = (Pin(f"pin {k + 1}", k - 1, (0.5, 0.0), k, (-0.5, 0.0)) for k in range(1, count))
    return Problem(f"chain of {count}", bars, (first, *others), end_time=end_time)


def chain_steps(count: int) -> int:
    """How many steps of a chain are timed: fewer the longer it is."""
    return int(np.clip(30_000 // count, 100, 1000))


def double_pendulum() -> Problem:
    """Two bars let go from the horizontal: the chain of 2."""
    pendulum = chain(2, end_time=3.0)
    return Problem("double pendulum", pendulum.bars, pendulum.pins, end_time=pendulum.end_time)


PRECISION_PROBLEMS: dict[str, Callable[[], Problem]] = {
    "slider-crank": slider_crank,
    "four-bar": four_bar,
    "double pendulum": double_pendulum,
}
"""The smooth problems of the comparison of work and precision, by name."""


@lru_cache(maxsize=32)
def _exact(problem: Problem, time: float, tolerance: float) -> tuple[float, ...]:
    from scipy.integrate import solve_ivp

    if problem.path is not None:
        rate, start, count = _path_equation(problem, problem.path), np.array([problem.bars[0].start[2], 0.0]), 1
    else:
        count = len(problem.bars)
        rate, start = _chain_equation(problem), np.zeros(2 * count)
    end = solve_ivp(rate, (0.0, time), start, method="DOP853", rtol=tolerance, atol=tolerance).y[:count, -1]
    if problem.path is not None:
        return tuple(problem.path(end[0])[0])
    ahead = problem.bars[0].length * np.column_stack([np.cos(end), np.sin(end)])
    return tuple(np.column_stack([np.cumsum(ahead, axis=0) - ahead / 2, end]).ravel())


def exact(problem: Problem, time: float | None = None, tolerance: float = 1e-13) -> np.ndarray:
    """The coordinates at a time (its end time unless given), from minimal coordinates."""
    return np.array(_exact(problem, problem.end_time if time is None else time, tolerance))


def error(problem: Problem, q: np.ndarray, time: float | None = None, tolerance: float = 1e-13) -> float:
    """The largest deviation of any coordinate from the exact motion, relative to the largest coordinate."""
    truth = exact(problem, time, tolerance)
    return float(np.abs(np.ravel(q) - truth).max() / np.abs(truth).max())


Rate = Callable[[float, np.ndarray], np.ndarray]


def _path_equation(problem: Problem, path: Path) -> Rate:
    """Lagrange's equation on a path: ``(q'.M q') theta'' + (q'.M q'') theta'^2 = q'.Q``."""
    masses, forces = problem.masses, problem.forces

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        theta, omega = state
        q1, q2 = path(theta)[1:]
        return np.array([omega, (forces @ q1 - masses @ (q1 * q2) * omega**2) / (masses @ q1**2)])

    return rate


def _chain_equation(problem: Problem) -> Rate:
    """Equal bars in absolute angles; the forces in the pins follow from a block tridiagonal system.

    With ``F_k`` the force of pin k on bar k, ``n`` across the bar, ``u`` half its length and ``w = u^2 / J``:
    ``J theta_k'' = -u n_k.(F_k + F_k+1)``, and pin k holds the two ends together,
    ``(S_k + S_k-1) F_k - D_k F_k+1 - D_k-1 F_k-1 = -u (omega_k^2 e_k + omega_k-1^2 e_k-1)``, where
    ``S = 1/m + w n n^T`` and ``D = 1/m - w n n^T``; at the first pin the weight takes the place of bar k-1.
    """
    from scipy.linalg import solveh_banded

    count, bar = len(problem.bars), problem.bars[0]
    u, w = bar.length / 2, (bar.length / 2) ** 2 / bar.inertia

    def rate(_: float, state: np.ndarray) -> np.ndarray:
        theta, omega = state[:count], state[count:]
        e = np.column_stack([np.cos(theta), np.sin(theta)])
        n = np.column_stack([-e[:, 1], e[:, 0]])
        P = w * n[:, :, None] * n[:, None, :]
        S, D = np.eye(2) / bar.mass + P, np.eye(2) / bar.mass - P
        S[1:] += S[:-1].copy()
        pull = u * omega[:, None] ** 2 * e
        load = -pull
        load[1:] -= pull[:-1]
        load[0, 1] += GRAVITY
        band = np.zeros((4, 2 * count))  # row r, column c of the lower triangle at band[r - c, c]
        band[0, 0::2], band[0, 1::2], band[1, 0::2] = S[:, 0, 0], S[:, 1, 1], S[:, 1, 0]
        band[2, 0:-2:2], band[2, 1:-2:2], band[3, 0:-2:2] = -D[:-1, 0, 0], -D[:-1, 1, 1], -D[:-1, 1, 0]
        band[1, 1:-2:2] = -D[:-1, 0, 1]
        F = solveh_banded(band, load.ravel(), lower=True).reshape(-1, 2)
        F[:-1] += F[1:].copy()
        return np.concatenate([omega, -u / bar.inertia * np.sum(n * F, axis=1)])

    return rate
