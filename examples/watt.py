"""
Watt's linkage
==============

James Watt (1784) guided the piston rod of his steam engine with two arms and a link between them, and was prouder of
it than of any other of his inventions. The middle of the link draws Watt's curve, in polar coordinates r^2 = b^2 - (a
sin(theta) +- sqrt(c^2 - a^2 cos(theta)^2))^2, with pivots at +-a, arms b and link 2c. Freed of its root this is a
polynomial of degree six, and the distance of the computed points from that curve is the error shown. Here a^2 = b^2 +
c^2, which makes the middle of the curve as straight as it can be.
"""

import numpy as np

import kempe as kp

A, B, C = 5.0, 4.0, 3.0
LEVEL = -np.arctan2(C, B)  # the left arm's angle in the middle position
TIMES = np.linspace(0.0, 4.0, 201)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("Watt's linkage")
    left = m.body("left arm", at=(-A + B / 2 * np.cos(LEVEL), B / 2 * np.sin(LEVEL)), angle=LEVEL)
    right = m.body("right arm", at=(A - B / 2 * np.cos(LEVEL), -B / 2 * np.sin(LEVEL)), angle=LEVEL)
    link = m.body("link", at=(0.0, 0.0), angle=LEVEL + np.pi / 2)
    m.revolute("left pivot", m.ground, left, on_i=(-A, 0.0), on_j=(-B / 2, 0.0))
    m.revolute("right pivot", m.ground, right, on_i=(A, 0.0), on_j=(B / 2, 0.0))
    m.revolute("left pin", left, link, on_i=(B / 2, 0.0), on_j=(-C, 0.0))
    m.revolute("right pin", right, link, on_i=(-B / 2, 0.0), on_j=(C, 0.0))
    swing = LEVEL + np.array([0.0, 0.7, 0.0, -0.7, 0.0])
    m.driver("beam", left.angle, kp.spline([0.0, 1.0, 2.0, 3.0, 4.0], swing, periodic=True))
    return m


def check(result: kp.Result) -> float:
    x, y = result.array("link.x"), result.array("link.y")
    square = x**2 + y**2
    inner = square - A**2 - B**2 + C**2
    value = square * inner**2 + 4.0 * A**2 * y**2 * (square - B**2)
    by_square = inner**2 + 2.0 * square * inner + 4.0 * A**2 * y**2
    slope = np.hypot(2.0 * x * by_square, 2.0 * y * by_square + 8.0 * A**2 * y * (square - B**2))
    distance = np.abs(value) / np.where(slope > 0.0, slope, 1.0)  # the centre is a double point of the curve
    return float(distance.max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    along = result.array("link.x") * np.sin(-LEVEL) + result.array("link.y") * np.cos(LEVEL)
    across = result.array("link.x") * np.cos(LEVEL) + result.array("link.y") * np.sin(LEVEL)
    print(f"Watt's linkage: {np.abs(across).max():.4f} off the straight line over a stroke of {np.ptp(along):.4f}")
    print(f"largest distance from Watt's curve {check(result):.1e}")
    result.animate("out/watt.gif", trace=["link"])


if __name__ == "__main__":
    main()
