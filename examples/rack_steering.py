"""
Rack-and-pinion steering
========================

Rudolph Ackermann (1818, after Georg Lankensperger) let the two front wheels of a carriage turn by different angles, so
that the axes of all wheels meet in one point. In a car a pinion moves a rack, and tie rods turn the steering arms.
Given the rack's travel, each wheel angle follows from one triangle; the linkage is compared with that closed form and
with the mirror symmetry of left and right. How far it is from Ackermann's ideal is printed.
"""

import numpy as np

import kempe as kp

TRACK, WHEELBASE = 1.4, 2.6
ARM, ARM_ANGLE = 0.14, np.radians(-108.0)
RACK, RACK_OFFSET, PINION = 0.74, -0.12, 0.008
# the length with which both wheels point ahead when the rack is in the middle
TIE_ROD = np.hypot((TRACK - RACK) / 2 + ARM * np.cos(ARM_ANGLE), RACK_OFFSET - ARM * np.sin(ARM_ANGLE))
TURN = 2.0 * np.pi
TIMES = np.linspace(0.0, 2.0 * np.pi, 181)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("rack-and-pinion steering")
    tie_rod = m.parameter("tie rod", TIE_ROD, bounds=(0.28, 0.33))
    pinion = m.body("pinion", at=(0.0, RACK_OFFSET))
    rack = m.body("rack", at=(0.0, RACK_OFFSET))
    m.revolute("column", m.ground, pinion, at=(0.0, RACK_OFFSET))
    m.translational("housing", m.ground, rack, axis=(1.0, 0.0))
    m.rack_and_pinion("teeth", pinion, rack, radius=PINION)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        arm = (sign * ARM * np.cos(ARM_ANGLE), ARM * np.sin(ARM_ANGLE))
        wheel = m.body(f"{side} wheel", at=(sign * TRACK / 2, 0.0))
        m.revolute(f"{side} king pin", m.ground, wheel, at=(sign * TRACK / 2, 0.0))
        m.link(f"{side} tie rod", rack, wheel, on_i=(sign * RACK / 2, 0.0), on_j=arm, length=tie_rod)
    m.driver("steering wheel", pinion.angle, kp.harmonic(TURN, 1.0))
    return m


def right_wheel(travel):
    """The angle of the right wheel from the triangle of king pin, rack end and arm end."""
    rack_end = RACK / 2 + travel - TRACK / 2 + 1j * RACK_OFFSET
    reach = np.abs(rack_end)
    corner = np.arccos((reach**2 + ARM**2 - TIE_ROD**2) / (2.0 * reach * ARM))
    return np.angle(rack_end * np.exp(1j * (corner - ARM_ANGLE)))


def check(result: kp.Result) -> float:
    travel = PINION * TURN * np.sin(result.t)
    right = result.array("right wheel.angle") - right_wheel(travel)
    left = result.array("left wheel.angle") + right_wheel(-travel)
    return float(np.abs([right, left]).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    left, right = result.array("left wheel.angle"), result.array("right wheel.angle")
    turning = np.abs(left) > 0.05
    ideal = np.arctan(1.0 / (1.0 / np.tan(left[turning]) + TRACK / WHEELBASE))
    off = np.degrees(np.abs(right[turning] - ideal).max())
    print(
        f"Steering: wheels turn by up to {np.degrees(np.abs(left).max()):.2f} degrees, {off:.2f} off Ackermann's rule"
    )
    print(f"largest error of the wheel angles {check(result):.1e}")
    result.animate("out/rack_steering.gif")


if __name__ == "__main__":
    main()
