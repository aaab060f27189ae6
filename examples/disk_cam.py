"""
Disk cams with flat and roller followers
========================================

Cams have moved the hammers of mills for a thousand years and open the valves of engines today. A flat face is lifted
by exactly the support function h of the profile, so a profile drawn as h n + h' n' (n the normal, n' its derivative)
gives any lift that is wanted; here h has a rise and a return twice in a turn. On the same shaft an eccentric disk
moves a roller, whose centre stays at the distance R + rho from the disk's centre. Both followers are compared with
these laws, the flat one also in its velocity and acceleration.
"""

import numpy as np

import kempe as kp

BASE, LIFT = 0.04, 0.006
DISK, ECCENTRICITY, ROLLER = 0.03, 0.01, 0.008
SPEED = 3.0
TIMES = np.linspace(0.0, 2.0 * np.pi / SPEED, 241)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def profile(s):
    h = BASE + LIFT * (1 - kp.cos(2 * s)) / 2
    slope = LIFT * kp.sin(2 * s)
    return h * kp.cos(s) - slope * kp.sin(s), h * kp.sin(s) + slope * kp.cos(s)


def build() -> kp.Mechanism:
    m = kp.Mechanism("camshaft")
    eccentricity = m.parameter("eccentricity", ECCENTRICITY, bounds=(0.0, 0.02))
    disk = kp.curve(lambda s: (eccentricity + DISK * kp.cos(s), DISK * kp.sin(s)))
    shaft = m.body("shaft", at=(0.0, 0.0))
    tappet = m.body("tappet", at=(0.0, BASE + LIFT))
    slide = m.body("slide", at=(DISK + ROLLER + eccentricity, 0.0))
    m.revolute("bearing", m.ground, shaft, at=(0.0, 0.0))
    m.translational("tappet guide", m.ground, tappet, axis=(0.0, 1.0))
    m.translational("slide guide", m.ground, slide, axis=(1.0, 0.0))
    m.cam_flat("flat face", shaft, tappet, profile=kp.curve(profile), axis=(1.0, 0.0))
    m.cam_roller("roller", shaft, slide, profile=disk, radius=ROLLER)
    m.driver("motor", shaft.angle, kp.constant_speed(SPEED))
    return m


def check(result: kp.Result) -> float:
    theta = SPEED * result.t
    lift = BASE + LIFT * (1.0 + np.cos(2.0 * theta)) / 2.0
    exact = {
        "tappet.y": lift,
        "tappet.vy": -LIFT * SPEED * np.sin(2.0 * theta),
        "tappet.ay": -2.0 * LIFT * SPEED**2 * np.cos(2.0 * theta),
        "slide.x": ECCENTRICITY * np.cos(theta) + np.sqrt((DISK + ROLLER) ** 2 - (ECCENTRICITY * np.sin(theta)) ** 2),
    }
    return float(max(np.abs(result.array(name) - value).max() for name, value in exact.items()))


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    lift, stroke = np.ptp(result.array("tappet.y")), np.ptp(result.array("slide.x"))
    print(f"Camshaft: flat tappet lifted by {lift:.4f}, roller slide moved by {stroke:.4f}; error {check(result):.1e}")
    result.animate("out/disk_cam.gif")


if __name__ == "__main__":
    main()
