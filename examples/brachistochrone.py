"""
The fastest slide
=================

On which wire does a bead get from one point to another in the shortest time? On a cycloid, as Johann Bernoulli showed
in 1697. Here the wire is a spline through twenty points whose places are design parameters, and the time at which the
bead arrives is minimised by its gradient: the instant at which an event ends a run depends on the design, too. The
spline is a function of depth, for the best wire begins vertically; its points are closer where it bends more. The best
one is slower than the cycloid by less than a millionth.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import kempe as kp

WIDTH, DEPTH, G = 1.0, 1.0, 9.81  # m, m, m/s²
POINTS = 20
NODES = DEPTH * (np.arange(POINTS + 2) / (POINTS + 1)) ** 2
#: The cycloid x = r (f - sin f), depth r (1 - cos f), and how long the bead needs.
END = brentq(lambda f: (f - np.sin(f)) / (1 - np.cos(f)) - WIDTH / DEPTH, 1e-3, 6.0)
R = DEPTH / (1 - np.cos(END))
FASTEST = np.sqrt(R / G) * END
TOLERANCE = 1.5e-6


def build() -> kp.Mechanism:
    m = kp.Mechanism("brachistochrone", gravity=(0, -G), units="m, kg, s")
    inner = [m.parameter(f"x{k}", WIDTH * NODES[k] / DEPTH, bounds=(-0.5, 1.5)) for k in range(1, POINTS + 1)]
    places = [0.0, *inner, WIDTH]
    shapes = [kp.table(NODES, row, outside="extrapolate") for row in np.eye(POINTS + 2)]  # a spline is a sum of these
    wire = kp.curve(lambda s: (sum(x * shape(s) for x, shape in zip(places, shapes, strict=True)), -s), (0.0, DEPTH))
    bead = m.point("bead", at=(0, 0), mass=1.0)
    m.point_on_curve("wire", m.ground, bead, curve=wire)
    m.event("arrival", bead.y, -DEPTH, direction="falling", stop=True)
    return m


def motion() -> kp.Optimum:
    return build().optimise(2.0, minimise=kp.final("t"), tolerance=1e-8)


def check(best: kp.Optimum) -> float:
    return abs(best.objective / FASTEST - 1)


def main() -> None:
    best, m = motion(), build()
    straight, curved = m.simulate(2.0), m.simulate(2.0, parameters=best.parameters)
    print(best)
    print(f"Straight {straight.t[-1]:.6f} s, spline {best.objective:.9f} s, cycloid {FASTEST:.9f} s")
    curved.animate("out/brachistochrone.gif")
    f = np.linspace(0, END, 200)
    figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
    ax.plot(R * (f - np.sin(f)), -R * (1 - np.cos(f)), color="0.6", lw=5, label="cycloid")
    ax.plot(curved.array("bead.x"), curved.array("bead.y"), label="best spline")
    ax.plot(straight.array("bead.x"), straight.array("bead.y"), "--", label="where the search began")
    ax.set(xlabel="x, m", ylabel="y, m", aspect="equal")
    ax.legend()
    figure.savefig("out/brachistochrone.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
