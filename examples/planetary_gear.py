"""
Planetary gear
==============

A sun wheel, a planet on an arm and a fixed ring: Robert Willis (1841) gave the rule that counts the turns of all of
them. With 24, 24 and 72 teeth the arm turns at exactly a quarter of the sun's speed and the planet at minus half. As
the planet rolls in a ring three times its size, a pen on its rim draws the deltoid, the hypocycloid with three cusps
that Leonhard Euler studied in 1745. Angles and pen are compared with these exact results.
"""

import numpy as np

import kempe as kp

SUN, PLANET, RING = 24, 24, 72
MODULE = 0.01
SUN_RADIUS, PLANET_RADIUS = SUN * MODULE / 2, PLANET * MODULE / 2
SPEED = 8.0
TIMES = np.linspace(0.0, np.pi, 241)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("planetary gear")
    reach = SUN_RADIUS + PLANET_RADIUS
    sun, ring = m.body("sun"), m.body("ring")
    arm = m.body("arm")
    planet = m.body("planet", at=(reach, 0.0))
    pen = m.body("pen", at=(reach + PLANET_RADIUS, 0.0))
    m.weld("housing", m.ground, ring)
    m.revolute("sun shaft", m.ground, sun, at=(0.0, 0.0))
    m.revolute("arm shaft", m.ground, arm, at=(0.0, 0.0))
    m.revolute("planet pin", arm, planet, at=(reach, 0.0))
    m.weld("pen holder", planet, pen)
    m.gear("sun to planet", sun, planet, teeth=(SUN, PLANET), carrier=arm)
    m.gear("planet to ring", planet, ring, teeth=(PLANET, RING), internal=True, carrier=arm)
    m.driver("motor", sun.angle, kp.cycloidal(SPEED * np.pi, np.pi))
    return m


def check(result: kp.Result) -> float:
    turn = SPEED * (result.t - np.sin(2.0 * result.t) / 2.0)
    angles = [result.array("arm.angle") - turn / 4.0, result.array("planet.angle") + turn / 2.0]
    deltoid = PLANET_RADIUS * (2.0 * np.exp(1j * turn / 4.0) + np.exp(-1j * turn / 2.0))
    pen = result.array("pen.x") + 1j * result.array("pen.y")
    return float(max(np.abs(angles).max(), np.abs(pen - deltoid).max()))


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    turns = [result.array(f"{wheel}.angle")[-1] / (2.0 * np.pi) for wheel in ("sun", "arm", "planet")]
    print("Planetary gear: turns of sun, arm and planet " + ", ".join(f"{n:.6f}" for n in turns))
    print(f"largest error of angles and deltoid {check(result):.1e}")
    result.animate("out/planetary_gear.gif", trace=["pen"])


if __name__ == "__main__":
    main()
