"""
Parallelogram and antiparallelogram
===================================

A four-bar linkage with equal opposite sides can move as a parallelogram or, crossed, as the antiparallelogram with
which Kempe (1876) worked. Whenever all bars lie on one line the linkage can change from one motion to the other: a
bifurcation. Four such positions are met in two turns of the crank; the linkage is led from the parallelogram to the
antiparallelogram, on through the next flat position, back to the parallelogram, and on. The rocker angle and its rate
are compared with phi = theta on the one branch and tan(phi/2) = -(d + a)/(d - a) tan(theta/2) on the other, and the
flat positions with the exact multiples of half a turn.
"""

import numpy as np

import kempe as kp

CRANK, FRAME = 1.0, 2.0
START = np.pi / 4
FLAT = np.pi * np.arange(1, 5) - START  # times of the flat positions
CHOICE = [1, 0, 1, 0]  # at each of them: 0 to go on smoothly, 1 to change to the other motion
CROSSED = [False, True, True, False, False]  # before, between and after the flat positions
TIMES = np.linspace(0.0, 4.0 * np.pi, 241)  # with the flat positions among them
OPTIONS: dict = {"on_singular": "cross", "branch": CHOICE}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("parallelogram")
    u, v = np.cos(START), np.sin(START)
    crank = m.body("crank", at=(0.0, 0.0), angle=START)
    coupler = m.body("coupler", at=(CRANK * u, CRANK * v))
    rocker = m.body("rocker", at=(FRAME, 0.0), angle=START)
    m.revolute("O", m.ground, crank, at=(0.0, 0.0))
    m.revolute("A", crank, coupler, on_i=(CRANK, 0.0), on_j=(0.0, 0.0))
    m.revolute("B", coupler, rocker, on_i=(FRAME, 0.0), on_j=(CRANK, 0.0))
    m.revolute("C", m.ground, rocker, at=(FRAME, 0.0))
    m.driver("motor", crank.angle, kp.constant_speed(1.0))
    return m


def check(result: kp.Result) -> float:
    theta = START + result.t
    crossed = np.array(CROSSED)[np.searchsorted(FLAT - 1e-9, result.t)]
    ratio = (FRAME + CRANK) / (FRAME - CRANK)
    s, c = np.sin(theta / 2.0), np.cos(theta / 2.0)
    angle = np.where(crossed, -2.0 * np.arctan2(ratio * s, c), theta)
    omega = np.where(crossed, -ratio / (c**2 + (ratio * s) ** 2), 1.0)
    angle_error = np.exp(1j * (result.array("rocker.angle") - angle)) - 1.0  # full turns do not count
    omega_error = result.array("rocker.omega") - omega
    time_error = np.array([event.t for event in result.events]) - FLAT
    return float(max(np.abs(e).max() for e in (angle_error, omega_error, time_error)))


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    for event in result.events:
        print(event.message)
    print(f"Both motions followed through {len(result.events)} flat positions; largest error {check(result):.1e}")
    result.animate("out/antiparallelogram.gif")


if __name__ == "__main__":
    main()
