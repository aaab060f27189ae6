"""
Slider-crank
============

The slider-crank of every piston engine was known to the Romans (the sawmill of Hierapolis, third century). With crank
r, rod l and crank angle theta the piston is at x = r cos(theta) + sqrt(l^2 - r^2 sin(theta)^2). The crank is run up
with constant acceleration, and position, velocity and acceleration of the piston are compared with this formula and
its derivatives.
"""

import numpy as np

import kempe as kp

CRANK, ROD = 0.0765, 0.306
SPEED, ACCELERATION = 4.0, 3.0
TIMES = np.linspace(0.0, 2.0, 201)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("slider-crank")
    length = m.parameter("rod length", ROD, bounds=(0.2, 0.5))
    crank = m.body("crank", at=(0.0, 0.0))
    rod = m.body("rod", at=(CRANK + length / 2, 0.0))
    piston = m.body("piston", at=(CRANK + length, 0.0))
    m.revolute("main bearing", m.ground, crank, at=(0.0, 0.0))
    m.revolute("crank pin", crank, rod, on_i=(CRANK, 0.0), on_j=(-length / 2, 0.0))
    m.revolute("piston pin", rod, piston, on_i=(length / 2, 0.0), on_j=(0.0, 0.0))
    m.translational("cylinder", m.ground, piston, axis=(1.0, 0.0))
    m.driver("starter", crank.angle, kp.constant_acceleration(ACCELERATION, speed=SPEED))
    return m


def check(result: kp.Result) -> float:
    theta = SPEED * result.t + ACCELERATION * result.t**2 / 2.0
    omega = SPEED + ACCELERATION * result.t
    s, c = np.sin(theta), np.cos(theta)
    root = np.sqrt(ROD**2 - (CRANK * s) ** 2)
    x = CRANK * c + root
    by_angle = -CRANK * s - CRANK**2 * s * c / root
    twice = -CRANK * c - CRANK**2 * (c**2 - s**2) / root - CRANK**4 * (s * c) ** 2 / root**3
    position = result.array("piston.x") - x
    velocity = result.array("piston.vx") - by_angle * omega
    acceleration = result.array("piston.ax") - (twice * omega**2 + by_angle * ACCELERATION)
    return float(np.abs([position, velocity, acceleration]).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    largest = np.abs(result.array("piston.ax")).max()
    print(f"Slider-crank: piston acceleration up to {largest:.3f} m/s^2; largest error {check(result):.1e}")
    result.animate("out/slider_crank.gif", trace=["rod"])


if __name__ == "__main__":
    main()
