"""
Scissor lift
============

Three pairs of crossed arms carry a table, and one hydraulic cylinder spreads the lowest pair. Everything rises with the
sine of one angle, so that virtual work gives the force F of the cylinder at once: with n stages, arms of length L and
mass m, and a load M on the table, F dl/dtheta = (n M + n² m) g L cos(theta). The cylinder reaches from c on the ground
to s on the first arm: l² = s² + c² - 2 s c cos(theta), dl/dtheta = s c sin(theta) / l. The lift starts and ends at
rest, and there the effort that inverse dynamics finds is this force.
"""

import numpy as np

import kempe as kp

STAGES, ARM, MASS, LOAD, G = 3, 2.0, 25.0, 400.0, 9.81  # -, m, kg, kg, m/s²
S, C = 1.35, 0.7  # m: where the cylinder is pinned to arm and ground
ANGLES = np.radians([12.0, 52.0])  # of the arms, below and above
LENGTHS = np.sqrt(S**2 + C**2 - 2 * S * C * np.cos(ANGLES))
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("scissor lift", gravity=(0, -G), units="m, kg, s")
    middle, rise, inertia = ARM / 2 * np.cos(ANGLES[0]), ARM * np.sin(ANGLES[0]), MASS * ARM**2 / 12
    below = m.ground, m.ground
    for k in range(STAGES):
        centre = middle, (k + 0.5) * rise
        a = m.body(f"arm {k}a", MASS, inertia, at=centre, angle=ANGLES[0])
        b = m.body(f"arm {k}b", MASS, inertia, at=centre, angle=-ANGLES[0])
        m.revolute(f"cross {k}", a, b, at=centre)
        m.revolute(f"left {k}", below[1], a, at=(0, k * rise))
        if k == 0:
            m.pin_in_slot("wheel", m.ground, b, axis=(1, 0), at=(2 * middle, 0))
            stroke = kp.distance(m.ground.on((C, 0)), a.on((S - ARM / 2, 0)))
        else:
            m.revolute(f"right {k}", below[0], b, at=(2 * middle, k * rise))
        below = a, b
    table = m.body("table", LOAD, 50.0, at=(middle, STAGES * rise))
    m.revolute("hinge", below[1], table, at=(0, STAGES * rise))
    m.pin_in_slot("shoe", table, below[0], axis=(1, 0), at=(2 * middle, STAGES * rise))
    m.driver("cylinder", stroke, kp.polynomial345(np.ptp(LENGTHS), 8.0))
    return m


def motion() -> kp.Result:
    return build().inverse_dynamics(8.0)


def check(result: kp.Result) -> float:
    work = (STAGES * LOAD + STAGES**2 * MASS) * G * ARM * np.cos(ANGLES)
    force = work * LENGTHS / (S * C * np.sin(ANGLES))
    return float(np.abs(result.array("cylinder.effort")[[0, -1]] / force - 1).max())


def main() -> None:
    result = motion()
    low, high = result.array("cylinder.effort")[[0, -1]] / 1e3
    print(f"Scissor lift: the cylinder pushes with {low:.1f} kN below, {high:.1f} kN above; error {check(result):.1e}")
    result.animate("out/scissor_lift.gif")


if __name__ == "__main__":
    main()
