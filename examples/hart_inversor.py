"""
Hart's inversor
===============

Harry Hart (1874) needed only four bars instead of Peaucellier's six to invert a curve. The bars form a crossed
parallelogram; three points O, P and Q that divide three of the bars in the same ratio stay on a line parallel to its
diagonals, and the product OP * OQ is constant. A fifth bar leads P on a circle through O, so that Q draws an exact
straight line. Line and position on it are compared with the inverse of the circle.
"""

import numpy as np

import kempe as kp

SHORT, LONG, SHARE, CRANK = 2.0, 4.0, 0.4, 0.6
TIMES = np.linspace(0.0, 2.0, 201)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def crank_angle(t):
    return 0.9 * kp.sin(np.pi * t) + 0.3 * t


def build() -> kp.Mechanism:
    m = kp.Mechanism("Hart's inversor")
    origin = m.point("O", (0.0, 0.0), fixed="xy")
    pivot = m.point("E", (CRANK, 0.0), fixed="xy")
    p = m.point("P", (2.0 * CRANK, 0.0))
    pen = m.point("Q", (2.4, 0.0))
    a, b = m.point("A", (-0.4, -0.6)), m.point("B", (0.5, 1.0))
    c, d = m.point("C", (3.6, -0.6)), m.point("D", (3.0, 1.0))
    m.plate("AB", a, b, origin, length=SHORT, places=[(SHARE * SHORT, 0.0)])
    m.plate("AD", a, d, p, length=LONG, places=[(SHARE * LONG, 0.0)])
    m.plate("CB", c, b, pen, length=LONG, places=[(SHARE * LONG, 0.0)])
    m.bar("CD", c, d, length=SHORT)
    crank = m.bar("crank", pivot, p, length=CRANK)
    m.driver("swing", kp.angle(m.ground, crank), crank_angle)
    return m


def check(result: kp.Result) -> float:
    power = SHARE * (1.0 - SHARE) * (LONG**2 - SHORT**2)
    line = power / (2.0 * CRANK)
    half = (0.9 * np.sin(np.pi * result.t) + 0.3 * result.t) / 2.0
    across = result.array("Q.x") - line
    along = result.array("Q.y") - line * np.tan(half)
    return float(np.abs([across, along]).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    y = result.array("Q.y")
    print(f"Hart's inversor: Q draws a line of {np.ptp(y):.4f}; largest error {check(result):.1e}")
    result.animate("out/hart_inversor.gif", trace=["Q"])


if __name__ == "__main__":
    main()
