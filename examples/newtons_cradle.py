"""
Newton's cradle
===============

Five steel balls on threads of equal length, touching each other. One is lifted and let go; it comes to rest where it
hits, and the last one flies off. Each impact passes through the row from ball to ball at one instant, so that only the
two outer balls ever move: the first and the last in turn swing as pendulums of their amplitude, and the impacts are
half a period apart, 2 sqrt(L/g) K(sin(a/2)) with the complete elliptic integral K. Impulse and energy are those that
go in.
"""

import numpy as np
from scipy.special import ellipk

import kempe as kp

BALLS, RADIUS, LENGTH, MASS, G = 5, 0.05, 0.5, 0.5, 9.81  # -, m, m, kg, m/s²
LIFT = np.radians(40)
HALF = 2 * np.sqrt(LENGTH / G) * ellipk(np.sin(LIFT / 2) ** 2)  # s: half a period
TOLERANCE = 1e-8


def build() -> kp.Mechanism:
    m = kp.Mechanism("Newton's cradle", gravity=(0, -G), units="m, kg, s")
    balls = []
    for k in range(BALLS):
        angle = LIFT if k == 0 else 0.0
        hook = m.point(f"hook {k + 1}", at=(2 * RADIUS * k, 0), fixed="xy")
        at = (2 * RADIUS * k - LENGTH * np.sin(angle), -LENGTH * np.cos(angle))
        balls.append(m.point(f"ball {k + 1}", at=at, mass=MASS))
        m.bar(f"thread {k + 1}", hook, balls[k], length=LENGTH)
    for k in range(BALLS - 1):
        m.circle_contact(f"contact {k + 1}", balls[k], balls[k + 1], radii=(RADIUS, RADIUS), restitution=1.0)
    return m


def motion() -> kp.Result:
    return build().simulate(4.5 * HALF, steps=450, tolerance=1e-10)


def check(result: kp.Result) -> float:
    times = sorted({impact.t for impact in result.impacts})
    assert len(times) == 4
    late = np.abs(np.array(times) / HALF - 0.5 - np.arange(4)).max()
    still = max(np.abs(result.array(f"ball {k}.x") - 2 * RADIUS * (k - 1)).max() for k in range(2, BALLS)) / RADIUS
    speed = 2 * np.sqrt(G * LENGTH) * np.sin(LIFT / 2)
    pushed = [abs(impact.impulses[f"{impact.elements[0]}.normal"]) / (MASS * speed) for impact in result.impacts]
    return float(max(late, still, np.abs(np.array(pushed) - 1).max(), result.energy.error))


def main() -> None:
    result = motion()
    print(f"Cradle: an impact every {HALF:.6f} s, {len(result.impacts)} in all; error {check(result):.1e}")
    result.animate("out/newtons_cradle.gif")
    result.plot(["ball 1.x", "ball 3.x", "ball 5.x"]).savefig("out/newtons_cradle.png", dpi=110)


if __name__ == "__main__":
    main()
