"""
A four-bar with a loose joint
=============================

The drag-link of Bai and Zhao (2013), whose coupler has play in the follower's bearing. Their Figures 14 to 18 are drawn
again: the orbit of the journal around the clearance circle, the follower's acceleration and the moment that keeps the
crank at 600 rpm, for four clearances and four coefficients of friction; grey is the ideal joint. After start-up the
journal never leaves the wall, friction calms it, and the motion repeats itself turn by turn: how closely is compared.
"""

import matplotlib.pyplot as plt
import numpy as np

import kempe as kp

LINKS = {  # length, mass, inertia, angle at first
    "crank": (0.55, 3.6235, 0.10214, np.pi / 2),
    "coupler": (0.36, 2.4394, 0.031428, 0.206962535),
    "follower": (0.64, 4.1894, 0.15796, 1.346550618),
}
BEGINS = {"crank": (0, 0), "coupler": (0, 0.55), "follower": (0.21, 0)}
TURN, POINTS = 0.1, 6000  # s; output points per turn
SHOWN = {
    "orbit": ("journal in the bearing, along the follower, mm", "across the follower, mm"),
    "follower.alpha": ("turns of the crank", "follower acceleration, rad/s²"),
    "motor.effort": ("turns of the crank", "crank moment, N m"),
}
FAMILIES = {  # mm, coefficient of friction
    "clearance": [(0.5, 0.1), (0.25, 0.1), (0.1, 0.1), (0.01, 0.1)],
    "friction": [(0.5, 0.05), (0.5, 0.1), (0.5, 0.15), (0.5, 0.2)],
}
TOLERANCE = 1e-6


def build(clearance: float = 0.5, mu: float = 0.1) -> kp.Mechanism:
    m = kp.Mechanism("four-bar with a loose joint", units="m, kg, s")
    for name, (length, mass, inertia, angle) in LINKS.items():
        middle = np.array(BEGINS[name]) + length / 2 * np.array([np.cos(angle), np.sin(angle)])
        m.body(name, mass, inertia, at=middle, angle=angle)
    shaft = m.revolute("O", m.ground, m["crank"], at=(0, 0))
    m.revolute("A", m["crank"], m["coupler"], at=BEGINS["coupler"])
    m.revolute("C", m.ground, m["follower"], at=BEGINS["follower"])
    m.driver("motor", shaft.angle, kp.constant_speed(2 * np.pi / TURN))
    law = kp.PrintedHybrid(0.9, youngs=207e9, poisson=0.3)
    friction = kp.ModifiedCoulomb(mu, mu, speeds=(1e-3, 2e-3))
    loose = dict(clearance=clearance * 1e-3, bearing_radius=10e-3, contact=law, friction=friction) if clearance else {}
    m.revolute("B", m["follower"], m["coupler"], on_i=(0.32, 0), on_j=(0.18, 0), **loose)
    return m


def motion(clearance: float = 0.5, mu: float = 0.1) -> kp.Result:
    ideal = build(clearance=0).kinematics([0.0])
    start = {name: float(ideal.array(name)[0]) for name in ("coupler.omega", "follower.omega")} if clearance else {}
    return build(clearance, mu).simulate(7 * TURN, steps=7 * POINTS, velocities=start, tolerance=1e-9)


def check(result: kp.Result) -> float:
    last, before = (result.array("follower.omega")[k : k + POINTS] for k in (6 * POINTS, 5 * POINTS))
    assert result.contacts("B")[-1].begin < TURN  # and it is not over
    return float(np.abs(last - before).max() / np.abs(last).max())


def draw(ax: plt.Axes, name: str, run: kp.Result, ideal: kp.Result, clearance: float) -> None:
    if name == "orbit":
        x, y = (1e3 * run.array(f"B.{way}")[-POINTS:] for way in "xy")
        ax.add_patch(plt.Circle((0, 0), clearance, color="0.9"))
        ax.plot(x, y, lw=0.8)
        ax.set_aspect("equal")
    else:
        for result, look in ((ideal, {"color": "0.7", "lw": 2.5}), (run, {"lw": 0.7})):
            ax.plot(np.arange(2 * POINTS) / POINTS, result.array(name)[-2 * POINTS :], **look)
    ax.locator_params(nbins=4 if name == "orbit" else 6)


def main() -> None:
    result, ideal = motion(), motion(clearance=0)
    print(f"Loose four-bar: {len(result.contacts('B'))} contacts, the last for good; error {check(result):.1e}")
    result.animate("out/loose_four_bar.gif")
    for family, designs in FAMILIES.items():
        runs = [motion(*design) for design in designs]
        for name, labels in SHOWN.items():
            if (family, name) == ("friction", "orbit"):
                continue  # (they look all alike)
            figure, axes = plt.subplots(2, 2, figsize=(7.4, 5), layout="constrained")
            for ax, run, (clearance, mu) in zip(axes.flat, runs, designs, strict=True):
                draw(ax, name, run, ideal, clearance)
                ax.set_title(f"{clearance:g} mm, friction {mu:g}", fontsize=10)
            figure.supxlabel(labels[0], fontsize=10)
            figure.supylabel(labels[1], fontsize=10)
            figure.savefig(f"out/loose_four_bar_{family}_{name}.png", dpi=110)
            plt.close(figure)


if __name__ == "__main__":
    main()
