"""
Pantograph
==========

Christoph Scheiner (1603) copied and enlarged drawings with four bars that form a parallelogram. The fixed point O, the
stylus P and the pen Q stay on one line, and OQ is always the same multiple of OP. The stylus is led along a rosette,
and the pen is compared with the exactly magnified rosette.
"""

import numpy as np

import kempe as kp

MAGNIFICATION = 2.5
FIRST, SECOND = 3.0, 2.5
TIMES = np.linspace(0.0, 2.0 * np.pi, 201)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def stylus_x(t):
    return 3.5 + 0.8 * kp.cos(5 * t) * kp.cos(t)


def stylus_y(t):
    return 0.8 * kp.cos(5 * t) * kp.sin(t)


def build() -> kp.Mechanism:
    m = kp.Mechanism("pantograph")
    k = m.parameter("magnification", MAGNIFICATION, bounds=(1.2, 5.0))
    origin = m.point("O", (0.0, 0.0), fixed="xy")
    a = m.point("A", (2.5, 1.7))
    b = m.point("B", (2.5 * k, 1.7 * k))
    c = m.point("C", (2.5 * k + 1.8, 1.7 * (k - 1)))
    stylus = m.point("P", (4.3, 0.0))
    pen = m.point("Q", (4.3 * k, 0.0))
    m.plate("first long bar", origin, b, a, length=FIRST * k, places=[(FIRST, 0.0)])
    m.plate("second long bar", b, pen, c, length=SECOND * k, places=[(SECOND, 0.0)])
    m.bar("first short bar", a, stylus, length=SECOND)
    m.bar("second short bar", stylus, c, length=FIRST * (k - 1))
    m.point_driver("hand", stylus, stylus_x, stylus_y)
    return m


def check(result: kp.Result) -> float:
    rosette = 3.5 + 0.8 * np.cos(5 * result.t) * np.exp(1j * result.t)
    pen = result.array("Q.x") + 1j * result.array("Q.y")
    return float(np.abs(pen - MAGNIFICATION * rosette).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    size = np.ptp(result.array("Q.x")) / np.ptp(result.array("P.x"))
    print(f"Pantograph: the copy is {size:.12f} times as large; largest error {check(result):.1e}")
    result.animate("out/pantograph.gif", trace=["P", "Q"])


if __name__ == "__main__":
    main()
