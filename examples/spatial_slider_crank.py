"""
Slider-crank in space
=====================

A crank that turns in one plane drives a slider on a line at right angles to that plane. The rod hangs in a ball at the
crank and in a universal joint at the slider, so that it cannot spin about itself. With the crank's pin at (0, y, z) and
a rod of length L the slider is at x = sqrt(L^2 - y^2 - z^2), which is what the motion is compared with.
"""

import numpy as np

import kempe as kp

CRANK, ROD = 0.08, 0.3
PIVOT = np.array([0.0, 0.1, 0.12])
TIMES = np.linspace(0.0, 2.0, 121)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def pin(angle: np.ndarray) -> np.ndarray:
    """The crank's pin at some angles."""
    return PIVOT + CRANK * np.stack([0.0 * angle, np.cos(angle), np.sin(angle)], axis=-1)


def reach(angle: np.ndarray) -> np.ndarray:
    """Where the slider is."""
    _, y, z = pin(angle).T
    return np.sqrt(ROD**2 - y**2 - z**2)


def build() -> kp.Mechanism:
    m = kp.Mechanism("slider-crank in space", dim=3, gravity=(0.0, 0.0, -9.81))
    a, b = pin(np.array(0.0)), np.array([float(reach(np.array(0.0))), 0.0, 0.0])
    crank = m.body("crank", mass=0.12, inertia=(1e-4, 1e-4, 1e-4), at=(PIVOT + a) / 2)
    rod = m.body("rod", mass=0.5, inertia=(4e-3, 4e-3, 4e-4), at=(a + b) / 2)
    slider = m.body("slider", mass=2.0, inertia=(1e-3, 1e-3, 1e-3), at=b)
    hinge = m.revolute("O", m.ground, crank, at=PIVOT, axis=(1, 0, 0))
    m.spherical("A", crank, rod, at=a)
    across = np.cross(b - a, (0.0, 0.0, 1.0))
    m.universal("B", rod, slider, at=b, axis_i=across, axis_j=np.cross(b - a, across))
    m.prismatic("guide", m.ground, slider, axis=(1, 0, 0))
    m.driver("motor", hinge.angle, kp.constant_speed(np.pi))
    return m


def check(result: kp.Result) -> float:
    return float(np.abs(result.array("slider.x") - reach(np.pi * result.t)).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    print(f"slider-crank in space: a stroke of {np.ptp(result.array('slider.x')):.4f}")
    print(f"largest distance from x = sqrt(L^2 - y^2 - z^2) {check(result):.1e}")
    result.animate("out/spatial_slider_crank.gif", trace=["A"])
    result.animate("out/spatial_slider_crank.html", trace=["A"])


if __name__ == "__main__":
    main()
