"""
Bennett's linkage
=================

Four bars and four hinges in space have, by count, two freedoms less than none, and yet G. T. Bennett (1903) found one
that moves: opposite bars are alike, and their lengths are as the sines of the angles by which they twist their hinges.
The angles at neighbouring hinges then satisfy tan(theta/2) tan(phi/2) = sin((beta + alpha)/2) / sin((beta - alpha)/2),
which is what the motion is compared with.
"""

import numpy as np

import kempe as kp

ALPHA, BETA = np.radians(35.0), np.radians(70.0)  # how much the bars twist their hinges
A, B = 1.0, float(np.sin(BETA) / np.sin(ALPHA))
CONSTANT = float(np.sin((BETA + ALPHA) / 2) / np.sin((BETA - ALPHA) / 2))
START = 1.2
TIMES = np.linspace(0.0, 1.0, 101)
OPTIONS: dict = {}
TOLERANCE = 1e-10


def step(theta: float, twist: float, length: float) -> np.ndarray:
    """A hinge's frame in that of the one before: a turn about the hinge, then along the bar, and the bar's twist."""
    c, s, ct, st = np.cos(theta), np.sin(theta), np.cos(twist), np.sin(twist)
    rows = [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]]
    return np.array(rows)


def opposite(theta: float) -> float:
    """The angle at the second hinge that goes with one at the first."""
    return float(2 * np.arctan(CONSTANT / np.tan(theta / 2)))


def hinges(theta: float) -> list[np.ndarray]:
    """The frames of the four hinges at an angle of the first; the loop closes by itself."""
    frames = [np.eye(4)]
    for turn, twist, length in ((theta, ALPHA, A), (opposite(theta), BETA, B), (-theta, ALPHA, A)):
        frames.append(frames[-1] @ step(turn, twist, length))
    return frames


def build() -> kp.Mechanism:
    m = kp.Mechanism("Bennett's linkage", dim=3)
    places = [frame[:3, 3] for frame in hinges(START)]
    axes = [frame[:3, 2] for frame in hinges(START)]
    bars = [m.ground]
    for k, name in enumerate(("crank", "coupler", "rocker")):
        middle = (places[k] + places[k + 1]) / 2
        bars.append(m.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), at=middle))
    joints = [m.revolute(f"H{k + 1}", bars[k], bars[(k + 1) % 4], at=places[k], axis=axes[k]) for k in range(4)]
    m.driver("motor", joints[0].angle, lambda t: 2 * np.pi * t)
    return m


def check(result: kp.Result) -> float:
    theta, phi = START + result.array("H1.angle"), opposite(START) + result.array("H2.angle")
    both = np.sin(theta / 2) * np.sin(phi / 2), np.cos(theta / 2) * np.cos(phi / 2)
    return float(np.abs(both[0] - CONSTANT * both[1]).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    print(f"Bennett's linkage: largest error of Bennett's equation {check(result):.1e}")
    result.animate("out/bennett_linkage.gif", trace=["H2", "H3"])


if __name__ == "__main__":
    main()
