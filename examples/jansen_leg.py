"""
Jansen's leg
============

Theo Jansen's beach animals (since 1990) walk on legs of eleven bars, the crank included. The lengths are the "holy
numbers" that he published, found with an evolutionary algorithm. Every joint of the leg is the corner of a triangle
whose other corners are known already, so that the whole leg can be computed by intersecting circles; this is the
independent computation that the linkage is compared with.
"""

import numpy as np

import kempe as kp

LENGTH = dict(b=41.5, c=39.3, d=40.1, e=55.8, f=39.4, g=36.7, h=65.7, i=49.0, j=50.0, k=61.9, m=15.0)
PIVOT = -38.0 - 7.8j
TIMES = np.linspace(0.0, 2.0 * np.pi, 181)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("Jansen's leg")
    centre = m.point("centre", (0.0, 0.0), fixed="xy")
    pivot = m.point("pivot", (-38.0, -7.8), fixed="xy")
    pin, top, heel = m.point("pin", (15.0, 0.0)), m.point("top", (-19.0, 29.0)), m.point("heel", (-28.0, -46.0))
    hip, knee, foot = m.point("hip", (-75.0, 8.0)), m.point("knee", (-65.0, -39.0)), m.point("foot", (-45.0, -85.0))
    ends = dict(m=(centre, pin), j=(pin, top), k=(pin, heel), b=(pivot, top), c=(pivot, heel), d=(pivot, hip))
    ends |= dict(e=(top, hip), f=(hip, knee), g=(heel, knee), h=(knee, foot), i=(heel, foot))
    bars = {name: m.bar(name, *points, length=LENGTH[name]) for name, points in ends.items()}
    m.driver("motor", kp.angle(m.ground, bars["m"]), kp.constant_speed(1.0))
    return m


def corner(first, second, from_first, from_second, side):
    """Where two circles meet, to the left (side = 1) or right (-1) of the way from the first centre to the second."""
    apart = np.abs(second - first)
    along = (from_first**2 - from_second**2 + apart**2) / (2.0 * apart)
    return first + (second - first) / apart * (along + 1j * side * np.sqrt(from_first**2 - along**2))


def check(result: kp.Result) -> float:
    n = LENGTH
    exact = {"pin": n["m"] * np.exp(1j * result.t)}
    exact["top"] = corner(PIVOT, exact["pin"], n["b"], n["j"], 1)
    exact["heel"] = corner(PIVOT, exact["pin"], n["c"], n["k"], -1)
    exact["hip"] = corner(PIVOT, exact["top"], n["d"], n["e"], 1)
    exact["knee"] = corner(exact["hip"], exact["heel"], n["f"], n["g"], -1)
    exact["foot"] = corner(exact["knee"], exact["heel"], n["h"], n["i"], -1)
    return float(max(np.abs(result.array(f"{p}.x") + 1j * result.array(f"{p}.y") - z).max() for p, z in exact.items()))


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    x, y = result.array("foot.x"), result.array("foot.y")
    print(f"Jansen's leg: step length {np.ptp(x):.2f}, step height {np.ptp(y):.2f}")
    print(f"largest error against intersected circles {check(result):.1e}")
    result.animate("out/jansen_leg.gif", trace=["foot"])


if __name__ == "__main__":
    main()
