"""
Single-cylinder engine
======================

A two-stroke engine under its own gas pressure: crank with flywheel, connecting rod and piston, a pressure that follows
the stroke (polytropic, higher after ignition than before) and a load that grows with the square of the speed. The speed
settles and ripples within a turn; the bearings carry gas and inertia forces. The motion is compared with the equation
of Eksergian, whose only coordinate is the crank angle: J(theta) theta'' + J'(theta) theta'^2 / 2 = Q, integrated by
SciPy.
"""

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import kempe as kp
from kempe import view

CRANK, ROD = 0.04, 0.13  # m; the centre of mass of the rod is a third of its length from the crank pin
FLYWHEEL, ROD_MASS, ROD_INERTIA, PISTON = 0.1, 0.4, 8e-4, 0.35  # kg m^2, kg, kg m^2, kg
BORE, CLEARANCE, AMBIENT, BOOST = 0.003, 0.012, 1e5, 1.6  # m^2, m, Pa, and how much ignition adds to the pressure
LOAD = 9e-4  # N m s^2
START = 100.0  # rad/s
DURATION = 1.0
TOLERANCE = 1e-7
OUT = Path("out")


def pressure(angle, x, functions):
    """Of the gas above ambient, from the crank angle and the distance of the piston from the crankshaft."""
    space = CLEARANCE + CRANK + ROD - x
    ignited = 0.5 * (1 + functions.tanh(6 * functions.sin(angle)))
    return AMBIENT * ((CLEARANCE + 2 * CRANK) / space) ** 1.3 * (1 + BOOST * ignited) - AMBIENT


def build() -> kp.Mechanism:
    m = kp.Mechanism("single-cylinder engine")
    crank = m.body("crank", mass=5.0, inertia=FLYWHEEL, at=(0, 0), angle=0.5)
    rod = m.body("rod", mass=ROD_MASS, inertia=ROD_INERTIA, at=(0.08, 0.01), angle=-0.15)
    piston = m.body("piston", mass=PISTON, inertia=2e-4, at=(0.16, 0))
    m.revolute("shaft", m.ground, crank, at=(0, 0))
    m.revolute("crank pin", crank, rod, on_i=(CRANK, 0), on_j=(-ROD / 3, 0))
    m.revolute("piston pin", rod, piston, on_i=(2 * ROD / 3, 0), on_j=(0, 0))
    m.translational("cylinder", m.ground, piston, axis=(1, 0), at=(0, 0), angle=0)
    m.user_force("gas", lambda p, c: [(-BORE * pressure(c.angle, p.x, kp), 0, 0), 0], piston, crank)
    m.user_force("load", lambda c: (0, 0, -LOAD * c.omega * kp.fabs(c.omega)), crank)
    return m


def reduced(t: float, state: np.ndarray) -> np.ndarray:
    """Eksergian's equation for the crank angle and its rate."""
    theta, omega = state

    def inertia(angle: float) -> float:
        s = CRANK / ROD * np.sin(angle)
        c = np.sqrt(1 - s**2)
        turn = -CRANK / ROD * np.cos(angle) / c  # of the rod, per turn of the crank
        stroke = -CRANK * np.sin(angle) + ROD * s * turn
        along = -CRANK * np.sin(angle) + ROD / 3 * s * turn
        across = CRANK * np.cos(angle) + ROD / 3 * c * turn
        return FLYWHEEL + ROD_INERTIA * turn**2 + ROD_MASS * (along**2 + across**2) + PISTON * stroke**2

    s = CRANK / ROD * np.sin(theta)
    x = CRANK * np.cos(theta) + ROD * np.sqrt(1 - s**2)
    stroke = -CRANK * np.sin(theta) * (1 + CRANK / ROD * np.cos(theta) / np.sqrt(1 - s**2))
    h = 1e-4  # differences of fourth order
    slope = (8 * (inertia(theta + h) - inertia(theta - h)) - inertia(theta + 2 * h) + inertia(theta - 2 * h)) / (12 * h)
    moment = -BORE * pressure(theta, x, np) * stroke - LOAD * omega * abs(omega)
    return np.array([omega, (moment - 0.5 * slope * omega**2) / inertia(theta)])


def simulate() -> kp.Result:
    return build().simulate(DURATION, steps=2000, velocities={"crank.omega": START}, tolerance=1e-11)


def check(result: kp.Result | None = None) -> float:
    """The largest difference in the crank angle."""
    result = result or simulate()
    angle = result.array("crank.angle")
    start = [angle[0], result.array("crank.omega")[0]]
    exact = solve_ivp(reduced, (0, DURATION), start, "DOP853", result.t, rtol=1e-12, atol=1e-12).y
    return float(np.abs(exact[0] - angle).max())


def main() -> None:
    result = simulate()
    late = result.t > 0.8 * DURATION
    speed, bearing = result.array("crank.omega")[late], result.array("shaft.force")
    turns, ripple = speed.mean() * 30 / np.pi, np.ptp(speed) / speed.mean()
    print(f"Single-cylinder engine: {turns:.0f} turns a minute with a ripple of {ripple:.1%}")
    balance = np.abs(result.array("energy.balance")).max()
    print(f"largest load of the main bearing {bearing.max():.0f} N; the energy balances to {balance:.1e} J")
    print(f"largest difference from Eksergian's equation {check(result):.1e} rad")
    build().simulate(0.06, velocities={"crank.omega": START}).animate(OUT / "engine.gif")
    view.save(view.plot(result, ["crank.omega", "shaft.force", "cylinder.force"]), OUT / "engine.png")


if __name__ == "__main__":
    main()
