"""
An arm balanced by a spring
===========================

A lamp stays where it is put, because its spring balances its weight in every position. With a spring of free length
zero that can be had exactly: fixed to the arm at a distance b from the pivot, and to the frame at a height a right
above it, with k a b = m g l. Here the arm is turned slowly through its range, and the place at the frame is sought for
which the motor has nothing to do: the integral of its squared effort is minimised.
"""

import numpy as np

import kempe as kp

MASS, L, B, STIFFNESS, G = 2.0, 0.3, 0.2, 150.0, 9.81  # kg, m, m, N/m, m/s²
HEIGHT = MASS * G * L / (STIFFNESS * B)  # m
RANGE, TIME = np.radians(80), 4.0
TOLERANCE = 1e-8


def build() -> kp.Mechanism:
    m = kp.Mechanism("balanced arm", gravity=(0, -G), units="m, kg, s")
    x, y = m.parameter("x", 0.05, bounds=(-0.3, 0.3)), m.parameter("y", 0.1, bounds=(0.05, 0.5))
    arm = m.body("arm", MASS, 0.05, at=(L * np.cos(RANGE), -L * np.sin(RANGE)), angle=-RANGE)
    pivot = m.revolute("pivot", m.ground, arm, at=(0, 0))
    m.spring("spring", m.ground, arm, on_i=(x, y), on_j=(B - L, 0), stiffness=STIFFNESS, length=0)
    m.driver("motor", pivot.angle, kp.constant_speed(2 * RANGE / TIME))
    return m


def motion() -> kp.Optimum:
    return build().optimise(TIME, minimise=kp.integral("motor.effort**2"))


def check(best: kp.Optimum) -> float:
    return max(abs(best.parameters["x"]), abs(best.parameters["y"] - HEIGHT))


def main() -> None:
    best, m = motion(), build()
    before, after = m.simulate(TIME), m.simulate(TIME, parameters=best.parameters)
    print(best)
    print(f"Anchor at ({best.parameters['x']:.1e}, {best.parameters['y']:.9f}) m; m g l/(k b) = {HEIGHT:.9f} m")
    after.animate("out/balanced_arm.gif", vectors=["spring.force"])
    after.plot("motor.effort", beside={"before": before}, label="after").savefig("out/balanced_arm.png", dpi=110)


if __name__ == "__main__":
    main()
