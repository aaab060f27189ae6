"""
Cam with lift-off
=================

A spring presses a flat tappet on an eccentric disk. The lift is e sin(theta), so the cam has to push with
N = m g + P + k e + (k - m w²) e sin(theta), P being the spring's force at the lowest position. N vanishes first at the
top, at the speed w² = (m g + P + 2 k e) / (m e); faster, the tappet leaves the cam where N is zero, flies and lands.
Just below that speed nothing may happen; above it, instant and flight are compared with their closed forms.
"""

import numpy as np

import kempe as kp

DISK, E, MASS, STIFFNESS, PRELOAD, G = 0.03, 0.01, 0.2, 4000.0, 20.0, 9.81  # m, m, kg, N/m, N, m/s²
LOWEST, STEM, TOP = DISK - E, 0.035, 0.11  # m: the face, where the spring stands on it, and where it is held
LIMIT = np.sqrt((MASS * G + PRELOAD + 2 * STIFFNESS * E) / (MASS * E))  # rad/s: the tappet lifts off above it
TOLERANCE = 1e-7


def build(speed: float = 1.2 * LIMIT) -> kp.Mechanism:
    m = kp.Mechanism("cam with lift-off", gravity=(0, -G), units="m, kg, s")
    shaft = m.body("shaft", 1.0, 1e-3, at=(0, 0), angle=-np.pi / 2)
    tappet = m.body("tappet", MASS, 1e-4, at=(0, LOWEST))
    m.revolute("bearing", m.ground, shaft, at=(0, 0))
    m.translational("guide", m.ground, tappet, axis=(0, 1), at=(0, 0))
    disk = kp.curve(lambda s: (E + DISK * kp.cos(s), DISK * kp.sin(s)))
    m.cam_flat("face", shaft, tappet, profile=disk, axis=(1, 0), lift_off=True)
    free = TOP - STEM - LOWEST + PRELOAD / STIFFNESS
    m.spring("spring", m.ground, tappet, on_i=(0, TOP), on_j=(0, STEM), stiffness=STIFFNESS, length=free)
    m.driver("motor", shaft.angle, kp.constant_speed(speed))
    return m


def motion(share: float = 1.2) -> kp.Result:
    return build(share * LIMIT).simulate(3 * np.pi / (share * LIMIT), steps=600, tolerance=1e-10)


def check(result: kp.Result) -> float:
    assert not motion(0.999).events and motion(1.001).events
    speed, rest, w = 1.2 * LIMIT, MASS * G + PRELOAD + STIFFNESS * E, np.sqrt(STIFFNESS / MASS)
    theta = np.arcsin(rest / (E * (MASS * speed**2 - STIFFNESS)))
    left, landed = (event.t for event in result.events[:2])
    flying = (result.t > left) & (result.t < landed)
    t, hung = result.t[flying] - left, DISK - rest / STIFFNESS  # where weight and spring alone would hold it
    flight = (DISK + E * np.sin(theta) - hung) * np.cos(w * t) + E * speed * np.cos(theta) / w * np.sin(w * t)
    off = np.abs(result.array("tappet.y")[flying] - hung - flight) / E
    return float(max(abs(speed * left - np.pi / 2 - theta), off.max()))


def main() -> None:
    result = motion()
    left = np.degrees(1.2 * LIMIT * result.events[0].t) - 90
    print(f"Cam: lifts off above {LIMIT * 30 / np.pi:.0f}/min, at {left:.3f} degrees; error {check(result):.1e}")
    result.animate("out/cam_lift_off.gif")


if __name__ == "__main__":
    main()
