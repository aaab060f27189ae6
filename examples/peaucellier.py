"""
Peaucellier-Lipkin inversor
===========================

Charles-Nicolas Peaucellier (1864) and, independently, Lipman Lipkin (1871) found the first planar linkage that turns a
circular motion into an exact straight line. Two long arms and a rhombus keep the product of the distances OA and OP
constant, so that P is the inverse of A; the crank leads A on a circle through O, and the inverse of such a circle is a
straight line. The pen P is compared with the line and with its exact position on it.
"""

import numpy as np

import kempe as kp

ARM, SIDE, CRANK = 5.0, 3.0, 1.5
SWING = 1.2
TIMES = np.linspace(0.0, 2.0 * np.pi, 241)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("Peaucellier-Lipkin inversor")
    arm = m.parameter("arm", ARM)
    side = m.parameter("side", SIDE)
    origin = m.point("O", (0.0, 0.0), fixed="xy")
    pivot = m.point("C", (CRANK, 0.0), fixed="xy")
    a = m.point("A", (2.0 * CRANK, 0.0))
    upper = m.point("B", (4.0, 3.0))
    lower = m.point("D", (4.0, -3.0))
    pen = m.point("P", (5.0, 0.0))
    crank = m.bar("crank", pivot, a, length=CRANK)
    m.bar("upper arm", origin, upper, length=arm)
    m.bar("lower arm", origin, lower, length=arm)
    for name, first, second in (("AB", a, upper), ("BP", upper, pen), ("PD", pen, lower), ("DA", lower, a)):
        m.bar(name, first, second, length=side)
    m.driver("swing", kp.angle(m.ground, crank), kp.harmonic(SWING, 1.0))
    return m


def check(result: kp.Result) -> float:
    line = (ARM**2 - SIDE**2) / (2.0 * CRANK)
    half = SWING * np.sin(result.t) / 2.0  # seen from O, the point A turns by half the crank angle
    across = result.array("P.x") - line
    along = result.array("P.y") - line * np.tan(half)
    return float(np.abs([across, along]).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    y = result.array("P.y")
    print(f"Peaucellier-Lipkin: the pen draws a line of {np.ptp(y):.4f}; largest error {check(result):.1e}")
    result.animate("out/peaucellier.gif", trace=["P"])


if __name__ == "__main__":
    main()
