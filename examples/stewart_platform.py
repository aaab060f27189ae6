"""
Stewart's platform
==================

Six legs whose lengths are driven hold a platform (Gough 1947, Stewart 1965). From a motion of the platform the lengths
of the legs follow at once; here the legs are driven by these lengths and the platform must come out as it was wished: a
circle while it nods and sways. The distance from the wish is the error shown.
"""

import casadi as ca
import numpy as np

import kempe as kp

BASE = np.array([(np.cos(a), np.sin(a), 0.0) for a in np.radians([-12, 12, 108, 132, 228, 252])])
TOP = 0.6 * np.array([(np.cos(a), np.sin(a), 0.0) for a in np.radians([-48, 48, 72, 168, 192, 288])])
TIMES = np.linspace(0.0, 2.0, 121)
OPTIONS: dict = {}
TOLERANCE = 1e-11


def wish(t: float | ca.SX) -> tuple[ca.SX, ca.SX]:
    """Where the platform shall be, and how it shall be turned."""
    w = np.pi * t
    middle = ca.vertcat(0.2 * ca.sin(w), 0.2 * (1 - ca.cos(w)), 1.1)
    a, b = 0.2 * ca.sin(w), 0.2 * ca.sin(2 * w)
    nod = ca.vertcat(ca.horzcat(1, 0, 0), ca.horzcat(0, ca.cos(a), -ca.sin(a)), ca.horzcat(0, ca.sin(a), ca.cos(a)))
    sway = ca.vertcat(ca.horzcat(ca.cos(b), 0, ca.sin(b)), ca.horzcat(0, 1, 0), ca.horzcat(-ca.sin(b), 0, ca.cos(b)))
    return middle, nod @ sway


def length(k: int, t: float | ca.SX) -> ca.SX:
    """How long a leg is then."""
    middle, turned = wish(t)
    return ca.norm_2(middle + turned @ ca.DM(TOP[k]) - ca.DM(BASE[k]))


def build() -> kp.Mechanism:
    m = kp.Mechanism("Stewart's platform", dim=3, gravity=(0.0, 0.0, -9.81), units="m, kg, s")
    platform = m.body("platform", mass=50.0, inertia=(5.0, 5.0, 9.0), at=(0.0, 0.0, 1.1))
    for k in range(6):
        m.driver(
            f"leg {k + 1}",
            kp.distance(m.ground.on(BASE[k]), platform.on(TOP[k])),
            lambda t, k=k: length(k, t),
        )
    return m


def check(result: kp.Result) -> float:
    wished = np.array([np.array(ca.DM(wish(float(t))[0])).ravel() for t in result.t])
    found = np.column_stack([result.array(f"platform.{c}") for c in "xyz"])
    return float(np.abs(found - wished).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    print(f"Stewart's platform: {check(result):.1e} off its wish")
    result.animate("out/stewart_platform.gif", trace=["platform"])
    result.report("out/stewart_platform.html", traces=["platform"])


if __name__ == "__main__":
    main()
