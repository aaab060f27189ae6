"""
Elliptic trammel
================

The trammel of Archimedes draws an exact ellipse: two blocks slide in grooves at right angles, and a rod pinned to both
carries the pen. (The oval chuck ascribed to Leonardo is its inversion.) The semi-axes are the distances from the pen
to the two pins. One block is pushed to and fro harmonically by the full distance of the pins, so that at either end of
its stroke the rod can turn back or go on round; it goes on. The pen is compared with the ellipse and with its exact
place on it.
"""

import numpy as np

import kempe as kp

SPAN, BEYOND = 0.3, 0.2  # between the two pins; from the second pin to the pen
TIMES = np.linspace(0.0, 2.0 * np.pi, 201)
OPTIONS: dict = {"on_singular": "cross"}  # go on smoothly at both ends of the stroke
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("elliptic trammel")
    across = m.body("block across", at=(0.0, 0.0))
    upright = m.body("block upright", at=(0.0, SPAN))
    rod = m.body("rod", at=(0.0, SPAN + BEYOND), angle=np.pi / 2)
    groove = m.translational("groove across", m.ground, across, axis=(1.0, 0.0))
    m.translational("groove upright", m.ground, upright, axis=(0.0, 1.0))
    m.revolute("first pin", across, rod, on_i=(0.0, 0.0), on_j=(-SPAN - BEYOND, 0.0))
    m.revolute("second pin", upright, rod, on_i=(0.0, 0.0), on_j=(-BEYOND, 0.0))
    m.driver("push", groove.displacement, kp.harmonic(SPAN, 1.0))
    return m


def check(result: kp.Result) -> float:
    x, y = result.array("rod.x"), result.array("rod.y")
    ellipse = np.hypot(x / BEYOND, y / (SPAN + BEYOND)) - 1.0
    place = np.hypot(x + BEYOND * np.sin(result.t), y - (SPAN + BEYOND) * np.cos(result.t))
    return float(np.abs([ellipse, place]).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    width, height = np.ptp(result.array("rod.x")), np.ptp(result.array("rod.y"))
    print(f"Elliptic trammel: an ellipse {width:.4f} wide and {height:.4f} high; largest error {check(result):.1e}")
    result.animate("out/elliptic_trammel.gif", trace=["rod"])


if __name__ == "__main__":
    main()
