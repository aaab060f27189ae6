"""
Quick-return mechanism of a shaper
==================================

The crank and slotted arm, an inversion of the chain that Joseph Whitworth used for the same purpose, lets the tool of
a shaping machine cut slowly and return quickly. The crank pin slides in the swinging arm, which pushes the ram by a
rod. The arm reverses where crank and arm are at right angles, so the times of cut and return are exactly as (pi + 2
asin(r/d)) to (pi - 2 asin(r/d)), which is 2 to 1 for d = 2 r. The ram is compared with its closed formula, and the
instants of reversal with that time ratio.
"""

import numpy as np

import kempe as kp

CRANK, DISTANCE, ARM, ROD, HEIGHT = 0.1, 0.2, 0.4, 0.15, 0.38
PERIOD = 3.0
SPEED = 2.0 * np.pi / PERIOD
BEGIN = -np.arcsin(CRANK / DISTANCE)  # crank angle at which the cut begins
CUT = PERIOD * (0.5 - BEGIN / np.pi)  # time from one reversal to the next
TIMES = np.union1d(np.linspace(0.0, PERIOD, 301), [CUT])
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("shaper")
    radius = m.parameter("crank radius", CRANK, bounds=(0.05, 0.15))
    distance = m.parameter("pivot distance", DISTANCE, bounds=(0.18, 0.3))
    crank = m.body("crank", at=(0.0, distance), angle=BEGIN)
    arm = m.body("arm", at=(0.0, 0.0), angle=np.pi / 3)
    ram = m.body("ram", at=(0.35, HEIGHT))
    m.revolute("crank shaft", m.ground, crank, on_i=(0.0, distance), on_j=(0.0, 0.0))
    m.revolute("arm pivot", m.ground, arm, at=(0.0, 0.0))
    m.pin_in_slot("slot", arm, crank, axis=(np.cos(np.pi / 3), np.sin(np.pi / 3)), on_i=(0.0, 0.0), on_j=(radius, 0.0))
    m.link("rod", arm, ram, on_i=(ARM, 0.0), length=ROD)
    m.translational("guide", m.ground, ram, axis=(1.0, 0.0))
    m.driver("motor", crank.angle, kp.constant_speed(SPEED, start=BEGIN))
    return m


def check(result: kp.Result) -> float:
    phi = BEGIN + SPEED * result.t
    pin = CRANK * np.exp(1j * phi) + 1j * DISTANCE
    end = ARM * pin / np.abs(pin)
    omega = (1j * SPEED * CRANK * np.exp(1j * phi) / pin).imag
    velocity = 1j * omega * end
    reach = np.sqrt(ROD**2 - (HEIGHT - end.imag) ** 2)
    x = end.real + reach
    vx = velocity.real + (HEIGHT - end.imag) * velocity.imag / reach
    reversals = result.array("arm.omega")[[0, np.searchsorted(result.t, CUT), -1]]
    ratio = CUT / (PERIOD - CUT) - 2.0
    errors = [result.array("ram.x") - x, result.array("ram.vx") - vx, result.array("arm.omega") - omega, reversals]
    return float(max(abs(ratio), *(np.abs(error).max() for error in errors)))


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    stroke = np.ptp(result.array("ram.x"))
    print(
        f"Shaper: stroke {stroke:.4f}, cut {CUT:.4f} s, return {PERIOD - CUT:.4f} s; largest error {check(result):.1e}"
    )
    result.animate("out/quick_return.gif")


if __name__ == "__main__":
    main()
