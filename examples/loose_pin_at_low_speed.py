"""
A loose pin at low speed
========================

The slider-crank of Bai and Zhao (2013) turns slowly, and weight keeps the rod's pin on the wall of its bearing: after
start-up it hardly ever flies, but it shakes. Figures 8 to 11 of the paper are drawn again: the slider's acceleration
and the force in the pin, for four clearances and four speeds; grey is the ideal joint, and at 100 rpm the loose one is
nearly that. The paper does not speak of gravity, which decides all of it. What damping and friction of the contacts
take is what the machine dissipates: that is compared.
"""

import matplotlib.pyplot as plt
import numpy as np

import kempe as kp

CRANK, ROD = 0.05, 0.3  # m
FAMILIES = {  # mm, rpm
    "clearance": [(0.1, 200), (0.25, 200), (0.5, 200), (1.0, 200)],
    "speed": [(0.25, 100), (0.25, 150), (0.25, 200), (0.25, 250)],
}
SHOWN = {"slider.ax": "slider acceleration, m/s²", "B.force": "pin force, N"}
TOLERANCE = 1e-5


def build(clearance: float = 0.5, rpm: float = 200) -> kp.Mechanism:
    m = kp.Mechanism("loose pin at low speed", gravity=(0, -9.81), units="m, kg, s")
    crank = m.body("crank", 17.9, 0.460327, at=(CRANK / 2, 0))
    rod = m.body("rod", 1.13, 0.0153, at=(CRANK + ROD / 2, 0))
    slider = m.body("slider", 1.013, 0.000772, at=(CRANK + ROD, 0))
    shaft = m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=(CRANK, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0))
    m.driver("motor", shaft.angle, kp.constant_speed(rpm * np.pi / 30))
    law = kp.PrintedHybrid(0.46, youngs=207e9, poisson=0.3)
    friction = kp.ModifiedCoulomb(0.01, 0.01, speeds=(1e-3, 2e-3))
    loose = dict(clearance=clearance * 1e-3, bearing_radius=10e-3, contact=law, friction=friction) if clearance else {}
    m.revolute("B", slider, rod, at=(CRANK + ROD, 0), **loose)
    return m


def motion(clearance: float = 0.5, rpm: float = 200, turns: int = 2) -> kp.Result:
    at_rest = {"slider.vx": 0.0, "rod.omega": -CRANK / ROD * rpm * np.pi / 30} if clearance else {}
    return build(clearance, rpm).simulate(turns * 60 / rpm, steps=3000 * turns, velocities=at_rest, tolerance=1e-10)


def check(result: kp.Result) -> float:
    contacts = result.contacts("B")
    taken = contacts.array("lost").sum() + contacts.array("rubbed").sum()
    return float(abs(taken / result.energy.dissipated[-1] - 1))


def main() -> None:
    result = motion()
    print(f"Loose pin at low speed: {len(result.contacts('B'))} contacts in two turns; error {check(result):.1e}")
    result.animate("out/loose_pin_at_low_speed.gif")
    for family, designs in FAMILIES.items():
        runs = [(motion(c, rpm, turns=10), motion(0, rpm, turns=10)) for c, rpm in designs]
        for name, label in SHOWN.items():
            figure, axes = plt.subplots(2, 2, figsize=(7.4, 5), sharex=True, layout="constrained")
            for ax, (c, rpm), (loose, ideal) in zip(axes.flat, designs, runs, strict=True):
                late = (turns := loose.t * rpm / 60) > 8
                ax.plot(turns[late], loose.array(name)[late], lw=0.7)
                ax.plot(turns[late], ideal.array(name)[late], color="0.55", lw=1.5)
                ax.set_title(f"{c:g} mm, {rpm} rpm", fontsize=10)
            figure.supxlabel("turns of the crank", fontsize=10)
            figure.supylabel(label, fontsize=10)
            figure.savefig(f"out/loose_pin_at_low_speed_{family}_{name}.png", dpi=110)
            plt.close(figure)


if __name__ == "__main__":
    main()
