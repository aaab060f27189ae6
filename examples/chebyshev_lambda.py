"""
Chebyshev's lambda linkage
==========================

Pafnuty Chebyshev's lambda linkage, shown in Paris in 1878, moves a foot almost straight and at almost constant speed
while the crank makes half a turn. Rocker and both halves of the coupler are equally long, so the foot, seen from the
rocker's pivot, is always at right angles to the crank pin, which gives its position in closed form. The foot passes
the height 4 exactly at the crank angles 90, 180 and 270 degrees, and rises above it by at most sqrt(1029)/8 - 4, where
the cosine of the crank angle is -5/8.
"""

import numpy as np

import kempe as kp

CRANK, FRAME, ROCKER = 1.0, 2.0, 2.5
HIGHEST = np.arccos(-5.0 / 8.0)
EXACT_ANGLES = np.array([np.pi / 2, HIGHEST, np.pi, 2 * np.pi - HIGHEST, 3 * np.pi / 2])
EXACT_HEIGHTS = np.array([4.0, np.sqrt(1029.0) / 8.0, 4.0, np.sqrt(1029.0) / 8.0, 4.0])
TIMES = np.union1d(np.linspace(0.0, 2.0 * np.pi, 181), EXACT_ANGLES)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("Chebyshev's lambda linkage")
    crank_pivot = m.point("O", (0.0, 0.0), fixed="xy")
    rocker_pivot = m.point("R", (FRAME, 0.0), fixed="xy")
    pin = m.point("A", (CRANK, 0.0))
    joint = m.point("B", (1.5, 2.4))
    foot = m.point("foot", (2.0, 4.9))
    crank = m.bar("crank", crank_pivot, pin, length=CRANK)
    m.bar("rocker", rocker_pivot, joint, length=ROCKER)
    m.plate("coupler", pin, joint, foot, length=ROCKER, places=[(2.0 * ROCKER, 0.0)])
    turn = m.angle("crank angle", m.ground, crank)
    m.driver("motor", turn, kp.constant_speed(1.0))
    return m


def check(result: kp.Result) -> float:
    to_pin = CRANK * np.exp(1j * result.t) - FRAME  # from the rocker's pivot, as complex numbers
    square = np.abs(to_pin) ** 2
    exact = FRAME - 1j * to_pin * np.sqrt(((2.0 * ROCKER) ** 2 - square) / square)
    foot = result.array("foot.x") + 1j * result.array("foot.y")
    heights = foot.imag[np.searchsorted(result.t, EXACT_ANGLES)]
    turned = result.array("crank angle") - result.t
    return float(max(np.abs(foot - exact).max(), np.abs(heights - EXACT_HEIGHTS).max(), np.abs(turned).max()))


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    working = (result.t >= np.pi / 2) & (result.t <= 3 * np.pi / 2)
    x, y = result.array("foot.x")[working], result.array("foot.y")[working]
    print(f"Chebyshev's lambda linkage: {np.ptp(y):.5f} off a straight line over a stroke of {np.ptp(x):.4f}")
    print(f"largest error against the closed form {check(result):.1e}")
    result.animate("out/chebyshev_lambda.gif", trace=["foot"])


if __name__ == "__main__":
    main()
