"""A plate on five rods, of which two are redundant (Gonzalez and Koevecses, Use of Penalty Formulations).

The paper publishes no data of its spatial parallelogram. Settled: a rigid plate of 20 kg hangs on five massless rods of
1 m with spherical ends, made of steel, with sections of their own; its centre of mass is 0.05 m below the plane of the
rods' ends. It starts at rest, displaced along +x by 30 degrees, and translates: theta'' = -(g/L) sin theta. The rods
pull with N = m (g cos theta + L theta'^2) together, and their moment about the centre of mass vanishes; how they share
N is decided by how they stretch, N_i = k_i (a + b x_i + c y_i). Both are worked out here apart from Kempe: theta by an
explicit Runge-Kutta method with thirteen digits, a, b and c from three equations.

What the paper shows: the scaling of the penalties decides about the forces, their size does not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.integrate import solve_ivp

import kempe as kp
from kempe.validation.case import Row, compare, match

CASE = "redundant-plate"
FORCES, MOTION = 1e-4, 1e-8
MASS, GRAVITY, LENGTH, E, DROP, ANGLE = 20.0, 9.81, 1.0, 2.1e11, 0.05, np.pi / 6
INERTIA = tuple(MASS / 12 * np.array([0.6**2 + 0.02**2, 1.0 + 0.02**2, 1.36]))
#: Rod: where it is, and its section in square centimetres.
RODS = {
    "A": (-0.5, -0.3, 1.0),
    "B": (0.5, -0.3, 2.0),
    "C": (0.5, 0.3, 1.5),
    "D": (-0.5, 0.3, 1.0),
    "G": (0.1, 0.0, 4.0),
}
TIMES = np.array([0.0, 0.25, 0.5, 1.0])
#: Penalties over four decades, and the step that ALI3-P takes.
PENALTIES, STEP = (1e7, 1e8, 1e9, 1e10, 1e11), 5e-5
MISSING = "the paper publishes no data"


def plate(stiff: bool = True) -> kp.Mechanism:
    """The plate where it starts, its rods elastic members or nothing but constraints."""
    m = kp.Mechanism("plate on five rods", dim=3, gravity=(0.0, 0.0, -GRAVITY), units="m, kg, s")
    moved = LENGTH * np.array([np.sin(ANGLE), 0.0, -np.cos(ANGLE)])
    body = m.body("plate", mass=MASS, inertia=INERTIA, at=tuple(moved - (0.0, 0.0, DROP)))
    for name, (x, y, section) in RODS.items():
        member = kp.Member(E=E, A=1e-4 * section) if stiff else None
        m.link(name, m.ground, body, on_i=(x, y, 0.0), on_j=(x, y, DROP), stiffness=member)
    return m


def swing(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The angle of the rods and its rate, from the equation of a pendulum."""

    def rate(_: float, y: np.ndarray) -> list[float]:
        return [y[1], -GRAVITY / LENGTH * np.sin(y[0])]

    ends = (float(times[0]), float(times[-1]))
    found = solve_ivp(rate, ends, [ANGLE, 0.0], method="DOP853", t_eval=times, rtol=3e-14, atol=1e-15)
    return found.y[0], found.y[1]


def pulls(theta: np.ndarray, omega: np.ndarray, stiffness: np.ndarray) -> np.ndarray:
    """What each rod pulls with, (times, rods): a heave and two turns of the plate stretch them all."""
    stretch = np.array([[1.0, x, y] for x, y, _ in RODS.values()])
    total = MASS * (GRAVITY * np.cos(theta) + LENGTH * omega**2)
    wanted = np.vstack([total, -DROP * np.tan(theta) * total, np.zeros_like(total)])
    moved = np.linalg.solve((stretch.T * stiffness) @ stretch, wanted)
    return np.asarray((stiffness[:, None] * (stretch @ moved)).T)


def stiffnesses() -> np.ndarray:
    """E A / L of the rods."""
    return np.array([E * 1e-4 * section / LENGTH for _, _, section in RODS.values()])


def rows() -> Iterator[Row]:
    """Every value of the case."""
    m = plate()
    theta, omega = swing(TIMES)
    exact = pulls(theta, omega, stiffnesses())
    found = m.simulate(TIMES, tolerance=1e-11)
    yield from _account(m, found)
    yield from _table(found, theta, exact)
    for penalty in PENALTIES:
        soft = m.simulate(TIMES, method="ali3p", penalty=penalty, step=STEP, tolerance=1e-11)
        yield from _worst(f"ali3p, alpha = {penalty:.0e}", soft, theta, exact)
    yield from _worst("penalties by row", _by_row(), theta, exact)
    equal = plate(stiff=False).simulate(TIMES, reactions="minimum norm")
    alone = float(pulls(theta, omega, np.ones(len(RODS)))[0, -1])
    note = "equal penalties: the scaling is what matters"
    yield compare(CASE, "G at t = 0, all rods alike", alone, _forces(equal)[0, -1], FORCES, note=note)


def _by_row() -> kp.Result:
    """The same with penalties that are given, k_i for (d.d - L^2)/(2 L), to rods that nothing else is known of."""
    given = {f"{name}.length": float(k) for name, k in zip(RODS, stiffnesses(), strict=True)}
    return plate(stiff=False).simulate(TIMES, method="ali3p", penalty=given, step=STEP, tolerance=1e-11)


def _forces(result: kp.Result) -> np.ndarray:
    return np.column_stack([result.array(f"lambda.{name}.length") for name in RODS])


def _angle(result: kp.Result) -> np.ndarray:
    return np.asarray(np.arcsin(result.array("plate.x") / LENGTH))


def _account(m: kp.Mechanism, found: kp.Result) -> Iterator[Row]:
    """What is said about the redundancy."""
    said = m.redundancy()
    yield match(CASE, "redundant constraints", "2", str(said.degree), note=MISSING)
    yield match(CASE, "rods that rigid-body mechanics leaves open", ", ".join(RODS), ", ".join(said.undetermined))
    yield match(CASE, "rods that stiffnesses leave open", "none", ", ".join(said.left) or "none")
    named = [d.row for d in m.mobility().redundant]
    simulated = found.stats.get("redundant constraints", [])
    yield match(CASE, "redundant rows, by mobility and by simulate", ", ".join(named), ", ".join(simulated))


def _table(found: kp.Result, theta: np.ndarray, exact: np.ndarray) -> Iterator[Row]:
    angle, forces = _angle(found), _forces(found)
    for k, t in enumerate(TIMES):
        yield compare(CASE, f"theta at t = {t:g}", float(theta[k]), float(angle[k]), MOTION / abs(float(theta[k])))
        for i, name in enumerate(RODS):
            yield compare(CASE, f"{name} at t = {t:g}", float(exact[k, i]), float(forces[k, i]), FORCES)


def _worst(words: str, found: kp.Result, theta: np.ndarray, exact: np.ndarray) -> Iterator[Row]:
    """The largest errors of a run: of the angle, and relative ones of the rods."""
    yield compare(CASE, f"{words}: motion", 0.0, float(np.abs(_angle(found) - theta).max()), MOTION)
    yield compare(CASE, f"{words}: forces", 0.0, float(np.abs(_forces(found) / exact - 1.0).max()), FORCES)
