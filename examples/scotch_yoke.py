"""
Scotch yoke
===========

In the Scotch yoke a crank pin runs in a straight slot across the slider, so that the slider takes over just one
coordinate of the pin. A crank that turns evenly then gives an exactly harmonic motion, unlike a slider-crank. Here a
motor drives the crank by a belt; position, velocity and acceleration of the yoke are compared with the cosine.
"""

import numpy as np

import kempe as kp

RADIUS = 0.08
MOTOR_PULLEY, CRANK_PULLEY = 0.05, 0.15
MOTOR_SPEED = 6.0
TIMES = np.linspace(0.0, 4.0, 201)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("Scotch yoke")
    radius = m.parameter("crank radius", RADIUS, bounds=(0.05, 0.1))
    motor = m.body("motor", at=(0.0, 0.4))
    crank = m.body("crank", at=(0.0, 0.0))
    yoke = m.body("yoke", at=(radius, 0.0))
    m.revolute("motor shaft", m.ground, motor, at=(0.0, 0.4))
    m.revolute("crank shaft", m.ground, crank, at=(0.0, 0.0))
    m.belt("belt", motor, crank, radii=(MOTOR_PULLEY, CRANK_PULLEY))
    m.pin_in_slot("slot", yoke, crank, axis=(0.0, 1.0), on_i=(0.0, 0.0), on_j=(radius, 0.0))
    m.translational("guide", m.ground, yoke, axis=(1.0, 0.0))
    m.driver("current", motor.angle, kp.constant_speed(MOTOR_SPEED))
    return m


def check(result: kp.Result) -> float:
    omega = MOTOR_SPEED * MOTOR_PULLEY / CRANK_PULLEY
    phase = omega * result.t
    position = result.array("yoke.x") - RADIUS * np.cos(phase)
    velocity = result.array("yoke.vx") + RADIUS * omega * np.sin(phase)
    acceleration = result.array("yoke.ax") + RADIUS * omega**2 * np.cos(phase)
    return float(np.abs([position, velocity, acceleration]).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    stroke = np.ptp(result.array("yoke.x"))
    print(f"Scotch yoke: stroke {stroke:.4f}; largest error against the harmonic motion {check(result):.1e}")
    result.animate("out/scotch_yoke.gif")


if __name__ == "__main__":
    main()
