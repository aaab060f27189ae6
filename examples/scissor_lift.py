"""
Scissor lift
============

Three pairs of crossed arms carry a table, and one hydraulic cylinder spreads the lowest pair. Virtual work gives its
force F at rest: with n stages, arms of length L and mass m, and a load M, F dl/dtheta = (n M + n² m) g L cos(theta);
it reaches from c on the ground to s on the first arm, so that l² = s² + c² - 2 s c cos(theta).
"""

import numpy as np

import kempe as kp

STAGES, ARM, MASS, LOAD, G, S, C = 3, 2.0, 25.0, 400.0, 9.81, 1.35, 0.7  # -, m, kg, kg, m/s², m, m
ANGLES = np.radians([12.0, 52.0])  # of the arms, below and above
LENGTHS = np.sqrt(S**2 + C**2 - 2 * S * C * np.cos(ANGLES))
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("scissor lift", gravity=(0, -G), units="m, kg, s")
    middle, rise, inertia = ARM / 2 * np.cos(ANGLES[0]), ARM * np.sin(ANGLES[0]), MASS * ARM**2 / 12
    below = m.ground, m.ground
    for k in range(STAGES):
        centre = middle, (k + 0.5) * rise
        a, b = (m.body(f"arm {k}{c}", MASS, inertia, at=centre, angle=s * ANGLES[0]) for c, s in (("a", 1), ("b", -1)))
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
    force = (STAGES * LOAD + STAGES**2 * MASS) * G * ARM * LENGTHS / (S * C * np.tan(ANGLES))
    return float(np.abs(result.array("cylinder.effort")[[0, -1]] / force - 1).max())


def main() -> None:
    result = motion()
    low, high = result.array("cylinder.effort")[[0, -1]] / 1e3
    print(f"Scissor lift: the cylinder pushes with {low:.1f} kN below, {high:.1f} kN above; error {check(result):.1e}")
    result.animate("out/scissor_lift.gif")


if __name__ == "__main__":
    main()
