"""
Geneva wheel
============

The Geneva wheel of the Swiss watchmakers turns a steady rotation into steps; it has advanced the film in nearly every
cinema projector. The pin of the driving crank enters a slot of the four-slotted wheel, turns it by a quarter and
leaves it at rest. The motion while the pin is in the slot is compared with the exact index law tan(psi) = r
sin(phi)/(d - r cos(phi)) and its first two derivatives, and the whole step with a quarter turn.
"""

import numpy as np

import kempe as kp

SLOTS = 4
DISTANCE = 1.0
RADIUS = DISTANCE * np.sin(np.pi / SLOTS)
HALF = np.pi / 2 - np.pi / SLOTS  # crank angle on either side of the line of centres
SPEED = 2.0
TIMES = np.linspace(0.0, 2.0 * HALF / SPEED, 181)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("Geneva wheel")
    distance = m.parameter("centre distance", DISTANCE)
    radius = distance * np.sin(np.pi / SLOTS)  # the pin must enter along the slot
    crank = m.body("crank", at=(0.0, 0.0), angle=-HALF)
    wheel = m.body("wheel", at=(distance, 0.0), angle=np.pi / SLOTS)
    m.revolute("crank shaft", m.ground, crank, at=(0.0, 0.0))
    m.revolute("wheel shaft", m.ground, wheel, at=(distance, 0.0))
    slot = (-np.cos(np.pi / SLOTS), -np.sin(np.pi / SLOTS))
    m.pin_in_slot("slot", wheel, crank, axis=slot, on_i=(0.0, 0.0), on_j=(radius, 0.0))
    m.driver("motor", crank.angle, kp.constant_speed(SPEED))
    return m


def check(result: kp.Result) -> float:
    phi, k = SPEED * result.t - HALF, RADIUS / DISTANCE
    nearness = 1.0 - 2.0 * k * np.cos(phi) + k**2
    angle = -np.arctan2(k * np.sin(phi), 1.0 - k * np.cos(phi))
    omega = -SPEED * k * (np.cos(phi) - k) / nearness
    alpha = SPEED**2 * k * (1.0 - k**2) * np.sin(phi) / nearness**2
    step = result.array("wheel.angle")[-1] - result.array("wheel.angle")[0] + 2.0 * np.pi / SLOTS
    exact = {"wheel.angle": angle, "wheel.omega": omega, "wheel.alpha": alpha}
    return float(max(abs(step), *(np.abs(result.array(name) - value).max() for name, value in exact.items())))


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    fastest = np.abs(result.array("wheel.omega")).max() / SPEED
    print(f"Geneva wheel: a step of 90 degrees, at most {fastest:.4f} times as fast as the crank")
    print(f"largest error of angle, velocity and acceleration {check(result):.1e}")
    result.animate("out/geneva_wheel.gif")


if __name__ == "__main__":
    main()
