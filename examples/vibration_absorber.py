"""
A vibration absorber
====================

A machine on a spring rings for ever after a blow. A small mass on a spring and a damper of its own takes the motion
away, if both are tuned: too soft or too stiff, it does not move; with too much damping it moves along. For the smallest
integral of x² after an impulse (which is also the smallest mean square under noise) the optimum is known in closed
form (Crandall and Mark, 1963; Asami and others, 2002). With the mass ratio mu and w² = K/M,

    absorber's frequency = w sqrt(1 + mu/2) / (1 + mu),    damping ratio = sqrt(mu (4 + 3 mu) / (8 (1 + mu) (2 + mu))).

Kempe finds stiffness and damping by gradients of the simulated integral.
"""

import numpy as np

import kempe as kp

M, K, MU = 1.0, 1.0, 0.1
BLOW, TIME = 1.0, 250.0  # what is left of the motion then is rounding
FREQUENCY = np.sqrt(1 + MU / 2) / (1 + MU)
RATIO = np.sqrt(MU * (4 + 3 * MU) / (8 * (1 + MU) * (2 + MU)))
EXACT = {"stiffness": MU * M * FREQUENCY**2, "damping": 2 * RATIO * MU * M * FREQUENCY}
TOLERANCE = 1e-6


def build() -> kp.Mechanism:
    m = kp.Mechanism("vibration absorber")
    stiffness = m.parameter("stiffness", 0.06, bounds=(0.02, 0.3))
    damping = m.parameter("damping", 0.01, bounds=(0.002, 0.2))
    machine, absorber = m.body("machine", M, 1.0, at=(0, 0)), m.body("absorber", MU * M, 1.0, at=(10, 0))
    for body in (machine, absorber):
        m.translational(f"guide of {body.name}", m.ground, body, axis=(1, 0), at=(0, 0))
    m.spring("foundation", m.ground, machine, on_i=(-10, 0), stiffness=K)
    m.spring("spring", machine, absorber, stiffness=stiffness, damping=damping)
    return m


def motion() -> kp.Optimum:
    blow = {"machine.vx": BLOW / M, "absorber.vx": 0.0}
    return build().optimise(TIME, minimise=kp.integral("machine.x**2"), velocities=blow, accuracy=1e-9)


def check(best: kp.Optimum) -> float:
    return max(abs(best.parameters[name] / value - 1) for name, value in EXACT.items())


def main() -> None:
    best, m = motion(), build()
    blow = {"machine.vx": BLOW / M, "absorber.vx": 0.0}
    before, after = (m.simulate(60.0, steps=600, velocities=blow, parameters=p) for p in (None, best.parameters))
    print(best)
    for name, value in EXACT.items():
        print(f"{name}: {best.parameters[name]:.8f}, exactly {value:.8f}")
    after.animate("out/vibration_absorber.gif")
    after.plot("machine.x", beside={"before": before}, label="after").savefig("out/vibration_absorber.png", dpi=110)


if __name__ == "__main__":
    main()
