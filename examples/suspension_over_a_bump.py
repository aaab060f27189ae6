"""
Suspension over a bump
======================

A quarter of a car runs over a bump in the road, once slowly and once so fast that the suspension hits its rubber stop.
Body and wheel move on vertical guides; coil spring and damper are between them, the tyre between wheel and road, and
the stop acts where body and wheel come too close. It switches exactly: the times of contact are found, not stepped
over. The same four equations, integrated in many small steps by SciPy, must give the same motion.
"""

from pathlib import Path

import numpy as np
from scipy.integrate import solve_ivp

import kempe as kp
from kempe import view

BODY, WHEEL = 300.0, 40.0  # kg
COIL, DAMPER, TYRE = 20e3, 1500.0, 180e3  # N/m, N s/m, N/m
STOP, GAP = 300e3, 0.05  # N/m, and how far the coil can be compressed before it acts
HEIGHT, LENGTH, AHEAD = 0.09, 1.2, 0.3  # m: the bump, and where it begins
DURATION = 1.5
TOLERANCE = 1e-8
OUT = Path("out")


def road(t, speed: float, functions):
    """Height of the road under the wheel: a smooth bump."""
    s = functions.fmin(functions.fmax((speed * t - AHEAD) / LENGTH, 0), 1)
    return HEIGHT * (16 * s**2 * (1 - s) ** 2) ** 2


def build(speed: float = 6.0) -> kp.Mechanism:
    m = kp.Mechanism(f"quarter car at {speed:g} m/s")
    ground = m.point("road", at=(0, 0), fixed="x")
    wheel = m.body("wheel", mass=WHEEL, inertia=1.0, at=(0, 0.3))
    body = m.body("body", mass=BODY, inertia=10.0, at=(0, 0.8))
    for name, part in (("wheel", wheel), ("body", body)):
        m.translational(f"guide of the {name}", m.ground, part, axis=(0, 1), at=(0, 0))
    m.driver("bump", ground.y, lambda t: road(t, speed, kp))
    m.spring("tyre", ground, wheel, stiffness=TYRE, length=0.3)
    m.spring("coil", wheel, body, stiffness=COIL, length=0.5, damping=DAMPER)
    m.bump_stop("rubber", kp.distance(wheel, body), 0.5 - GAP, stiffness=STOP, side="below")
    return m


def simulate(speed: float) -> kp.Result:
    return build(speed).simulate(DURATION, steps=1500, tolerance=1e-11)


def by_scipy(speed: float, t: np.ndarray) -> np.ndarray:
    """The heights of wheel and body above their rest, and their rates."""

    def rate(t: float, z: np.ndarray) -> list[float]:
        tyre = TYRE * (road(t, speed, np) - z[0])
        coil = COIL * (z[0] - z[1]) + DAMPER * (z[2] - z[3])
        stop = STOP * max(z[0] - z[1] - GAP, 0.0)
        return [z[2], z[3], (tyre - coil - stop) / WHEEL, (coil + stop) / BODY]

    return solve_ivp(rate, (0, DURATION), np.zeros(4), "DOP853", t, rtol=1e-12, atol=1e-14, max_step=1e-3).y


def check() -> float:
    """The largest difference in height, in metres, slowly and fast."""
    worst = 0.0
    for speed in (1.5, 6.0):
        result = simulate(speed)
        wheel, body = by_scipy(speed, result.t)[:2]
        worst = max(worst, np.abs(result.array("wheel.y") - 0.3 - wheel).max())
        worst = max(worst, np.abs(result.array("body.y") - 0.8 - body).max())
    return float(worst)


def main() -> None:
    for speed in (1.5, 6.0):
        result = simulate(speed)
        print(f"at {speed:g} m/s the body rises by {result.array('body.y').max() - 0.8:.3f} m", end="; ")
        touches = [event for event in result.events if event.mode == "contact"]
        print(f"the stop is hit at t = {touches[0].t:.12f} s" if touches else "the stop is not reached")
    result.animate(OUT / "suspension.gif")
    view.save(view.plot(result, ["wheel.y", "body.y", "coil.force", "rubber.force"]), OUT / "suspension.png")
    print(f"largest difference from SciPy {check():.1e} m")


if __name__ == "__main__":
    main()
