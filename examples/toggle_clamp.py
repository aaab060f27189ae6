"""
Toggle clamp
============

The handle of a clamp is a crank whose coupler comes into line with it: the nearer to that toggle, the more a pull at
the handle presses. With the crank a, the coupler b at the angle beta to it, and the rocker c at the angle gamma to the
coupler (both by the law of cosines), torques of crank and rocker are in the ratio a sin(beta) / (c sin(gamma)).
"""

import numpy as np

import kempe as kp

A, B, C, D = 0.04, 0.06, 0.05, 0.08  # m: crank, coupler, rocker, frame
HANDLE, ARM, PRESS = 0.16, 0.10, 1000.0  # m, m, N
OPEN, CLOSED = np.radians([115.0, 31.0])  # the angle of the crank; at 29.69 degrees lies the toggle
GRIP, PAD = np.radians([62.0, -84.0])  # from the crank to the grip, from the rocker to the pad
TOLERANCE = 1e-12


def polar(r: float, angle: float) -> tuple[float, float]:
    return r * np.cos(angle), r * np.sin(angle)


def build() -> kp.Mechanism:
    m = kp.Mechanism("toggle clamp", units="m, kg, s")
    handle, coupler = m.body("handle", at=(0, 0), angle=OPEN), m.body("coupler", at=(0.01, 0.035))
    arm = m.body("arm", at=(D, 0), angle=2.4)
    m.revolute("base", m.ground, handle, on_i=(0, 0), on_j=(0, 0))
    m.revolute("crank pin", handle, coupler, on_i=(A, 0), on_j=(-B / 2, 0))
    m.revolute("arm pin", coupler, arm, on_i=(B / 2, 0), on_j=(C, 0))
    m.revolute("pivot", m.ground, arm, on_i=(D, 0), on_j=(0, 0))
    m.revolute("grip", handle.on(polar(HANDLE, GRIP)), m.point("hand", at=polar(HANDLE, OPEN + GRIP)))
    m.force("workpiece", arm.on(polar(ARM, PAD), angle=PAD), (0, PRESS), frame="body")
    m.driver("pull", handle.angle, kp.polynomial345(CLOSED - OPEN, 2.0))
    return m


def motion() -> kp.Result:
    return build().inverse_dynamics(2.0)


def check(result: kp.Result) -> float:
    e2 = A**2 + D**2 - 2 * A * D * np.cos(result.array("handle.angle"))  # from the crank's pin to the pivot, squared
    beta = np.arccos((A**2 + e2 - D**2) / (2 * A * np.sqrt(e2))) + np.arccos((B**2 + e2 - C**2) / (2 * B * np.sqrt(e2)))
    gamma = np.arccos((B**2 + C**2 - e2) / (2 * B * C))
    torque = -PRESS * ARM * A * np.sin(beta) / (C * np.sin(gamma))
    return float(np.abs(result.array("pull.effort") / torque - 1).max())


def main() -> None:
    result = motion()
    advantage = -PRESS * HANDLE / result.array("pull.effort")
    print(f"Toggle clamp: presses {advantage[0]:.2f} times open, {advantage[-1]:.1f} closed; error {check(result):.1e}")
    result.animate("out/toggle_clamp.gif", trace=["hand"])


if __name__ == "__main__":
    main()
