"""
Four-bar linkage
================

The crank-rocker is the simplest closed linkage. Ferdinand Freudenstein (1954) wrote the relation between crank angle
theta and rocker angle psi as K1 cos(psi) - K2 cos(theta) + K3 = cos(theta - psi), with K1 = d/a, K2 = d/c and K3 =
(a^2 - b^2 + c^2 + d^2)/(2 a c), from which four-bar linkages are still synthesised. One turn of the crank from rest to
rest is compared with this equation and with its first and second derivatives.
"""

import numpy as np

import kempe as kp

CRANK, COUPLER, ROCKER, FRAME = 1.0, 3.0, 2.5, 3.2
DURATION = 2.0
TIMES = np.linspace(0.0, DURATION, 201)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("four-bar linkage")
    coupler_length = m.parameter("coupler length", COUPLER, bounds=(2.8, 3.4))
    crank = m.body("crank", at=(CRANK / 2, 0.0), angle=0.0)
    coupler = m.body("coupler", at=(2.0, 1.2), angle=0.9)
    rocker = m.body("rocker", at=(3.0, 1.2), angle=1.7)
    m.revolute("O", m.ground, crank, on_i=(0.0, 0.0), on_j=(-CRANK / 2, 0.0))
    m.revolute("A", crank, coupler, on_i=(CRANK / 2, 0.0), on_j=(-coupler_length / 2, 0.0))
    m.revolute("B", coupler, rocker, on_i=(coupler_length / 2, 0.0), on_j=(ROCKER / 2, 0.0))
    m.revolute("C", rocker, m.ground, on_i=(-ROCKER / 2, 0.0), on_j=(FRAME, 0.0))
    m.driver("motor", crank.angle, kp.polynomial345(2.0 * np.pi, DURATION))
    return m


def check(result: kp.Result) -> float:
    s = result.t / DURATION
    theta = 2.0 * np.pi * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    omega = 2.0 * np.pi / DURATION * 30.0 * s**2 * (1.0 - s) ** 2
    alpha = 2.0 * np.pi / DURATION**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
    k1, k2 = FRAME / CRANK, FRAME / ROCKER
    k3 = (CRANK**2 - COUPLER**2 + ROCKER**2 + FRAME**2) / (2.0 * CRANK * ROCKER)
    psi, psi_t, psi_tt = (result.array(f"rocker.{name}") for name in ("angle", "omega", "alpha"))
    difference, rate = theta - psi, omega - psi_t
    slope = -k1 * np.sin(psi) - np.sin(difference)  # derivative of the equation by psi
    value = k1 * np.cos(psi) - k2 * np.cos(theta) + k3 - np.cos(difference)
    first = -k1 * np.sin(psi) * psi_t + k2 * np.sin(theta) * omega + np.sin(difference) * rate
    second = -k1 * (np.sin(psi) * psi_tt + np.cos(psi) * psi_t**2)
    second += k2 * (np.sin(theta) * alpha + np.cos(theta) * omega**2)
    second += np.sin(difference) * (alpha - psi_tt) + np.cos(difference) * rate**2
    return float(np.abs(np.array([value, first, second]) / slope).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    swing = np.degrees(np.ptp(result.array("rocker.angle")))
    print(f"Four-bar linkage: the rocker swings by {swing:.3f} degrees")
    print(f"largest error of Freudenstein's equation and its derivatives {check(result):.1e}")
    result.animate("out/four_bar.gif", trace=["coupler"])


if __name__ == "__main__":
    main()
