"""
Stick and slip
==============

A belt drags a block against a spring: the reason why brakes squeal and violins sound. The block sticks to the belt
until the spring pulls with the static friction mu_s N, slides back under the smaller kinetic friction mu_k N, and
sticks again where it is as fast as the belt. With u = (mu_s - mu_k) N / k and w² = k/m it sticks for 2 u/v and slides
for 2 (pi - atan(w u/v)) / w, v being the belt's speed: both are compared, and how the block swings.
"""

import numpy as np

import kempe as kp

MASS, STIFFNESS, G = 1.0, 100.0, 9.81  # kg, N/m, m/s²
STATIC, KINETIC, SPEED = 0.4, 0.3, 0.1  # m/s
U, W = (STATIC - KINETIC) * MASS * G / STIFFNESS, np.sqrt(STIFFNESS / MASS)
STICKS, SLIDES = 2 * U / SPEED, 2 * (np.pi - np.arctan(W * U / SPEED)) / W  # s
TOLERANCE = 1e-8


def build() -> kp.Mechanism:
    m = kp.Mechanism("stick and slip", gravity=(0, -G), units="m, kg, s")
    block = m.body("block", MASS, 0.01, at=(0, 0))
    guide = m.translational("guide", m.ground, block, axis=(1, 0), at=(0, 0))
    m.spring("spring", m.ground, block, on_i=(-0.3, 0), stiffness=STIFFNESS)
    m.friction("belt", block.x, friction=kp.Coulomb(KINETIC, STATIC), normal=guide, speed=SPEED)
    return m


def motion() -> kp.Result:
    return build().simulate(4.0, steps=800, tolerance=1e-10)


def check(result: kp.Result) -> float:
    stuck = np.array(result.intervals("belt", "stick"))[1:]  # without the start
    lasts, between = stuck[:-1, 1] - stuck[:-1, 0], stuck[1:, 0] - stuck[:-1, 1]
    assert len(lasts) >= 3
    off = [np.abs(lasts - STICKS).max(), np.abs(between - SLIDES).max()]
    for left, caught in zip(stuck[:-1, 1], stuck[1:, 0], strict=True):
        slides = (result.t > left) & (result.t < caught)
        t, middle = result.t[slides] - left, KINETIC * MASS * G / STIFFNESS  # where kinetic friction would hold it
        swing = middle + U * np.cos(W * t) + SPEED / W * np.sin(W * t)
        off.append(np.abs(result.array("block.x")[slides] - swing).max() / U)
    return float(max(off))


def main() -> None:
    result = motion()
    print(f"Stick and slip: {STICKS:.4f} s and {SLIDES:.4f} s in turn; error {check(result):.1e}")
    result.animate("out/stick_slip.gif", vectors=["belt.force"])
    result.plot(["block.x", "block.vx", "belt.friction"]).savefig("out/stick_slip.png", dpi=110)


if __name__ == "__main__":
    main()
