"""
Cardan gear
===========

A wheel that rolls inside a ring of twice its size moves every point of its rim on an exact straight line, a theorem of
Nasir al-Din al-Tusi (1247), taken up by Gerolamo Cardano and used by Matthew Murray in a steam engine (1805). A pen on
the rim runs along a diameter of the ring, harmonically in time; a second pen halfway to the wheel's centre draws an
ellipse. Both are compared with these exact curves.
"""

import numpy as np

import kempe as kp

RADIUS = 0.3
SPEED = 2.0
TIMES = np.linspace(0.0, np.pi, 181)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("Cardan gear")
    radius = m.parameter("wheel radius", RADIUS, bounds=(0.1, 1.0))
    ring, arm = m.body("ring"), m.body("arm")
    wheel = m.body("wheel", at=(radius, 0.0))
    rim_pen = m.point("rim pen", (2 * radius, 0.0))
    inner_pen = m.point("inner pen", (1.5 * radius, 0.0))
    m.weld("housing", m.ground, ring)
    m.revolute("arm shaft", m.ground, arm, at=(0.0, 0.0))
    m.revolute("wheel pin", arm, wheel, at=(radius, 0.0))
    m.revolute("rim", wheel, rim_pen, on_i=(radius, 0.0))
    m.revolute("halfway", wheel, inner_pen, on_i=(radius / 2, 0.0))
    m.gear("mesh", wheel, ring, teeth=(30, 60), internal=True, carrier=arm)
    m.driver("motor", arm.angle, kp.constant_speed(SPEED))
    return m


def check(result: kp.Result) -> float:
    phi = SPEED * result.t
    rim = result.array("rim pen.x") + 1j * result.array("rim pen.y")
    inner = result.array("inner pen.x") + 1j * result.array("inner pen.y")
    line = 2.0 * RADIUS * np.cos(phi)
    ellipse = RADIUS * (1.5 * np.cos(phi) + 0.5j * np.sin(phi))
    harmonic = result.array("rim pen.ax") + SPEED**2 * line
    return float(max(np.abs(rim - line).max(), np.abs(inner - ellipse).max(), np.abs(harmonic).max()))


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    across, stroke = np.abs(result.array("rim pen.y")).max(), np.ptp(result.array("rim pen.x"))
    print(f"Cardan gear: stroke {stroke:.4f}, {across:.1e} off the straight line; largest error {check(result):.1e}")
    result.animate("out/cardan_gear.gif", trace=["rim pen"])


if __name__ == "__main__":
    main()
