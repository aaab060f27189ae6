"""
A loose piston pin
==================

The slider-crank of Zhang and others (2014): the pin between rod and slider flies across its bearing, strikes, bounces.
Figures 6 to 11 of the paper are drawn again: the slider's acceleration, the force in the pin and the moment that keeps
the crank at its speed, for four clearances and four speeds; grey is the ideal joint. Impacts come in bursts, and where
they do the motion is chaotic: another start gives other bursts of the same size. Until it is struck first the slider
rests, and what the contacts lose is what the machine dissipates: both are compared.
"""

import matplotlib.pyplot as plt
import numpy as np

import kempe as kp

CRANK, ROD = 0.05, 0.12  # m
FAMILIES = {  # mm, rpm
    "clearance": [(0.05, 2000), (0.1, 2000), (0.2, 2000), (0.5, 2000)],
    "speed": [(0.1, 200), (0.1, 1000), (0.1, 2000), (0.1, 5000)],
}
SHOWN = {"slider.ax": "slider acceleration, m/s²", "B.force": "pin force, N", "motor.effort": "crank moment, N m"}
TOLERANCE = 1e-6


def build(clearance: float = 0.2, rpm: float = 2000) -> kp.Mechanism:
    m = kp.Mechanism("loose piston pin", units="m, kg, s")
    crank = m.body("crank", 0.30, 1e-4, at=(CRANK / 2, 0))
    rod = m.body("rod", 0.21, 2.5e-4, at=(CRANK + ROD / 2, 0))
    slider = m.body("slider", 0.14, 1e-4, at=(CRANK + ROD, 0))
    shaft = m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=(CRANK, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0))
    m.driver("motor", shaft.angle, kp.constant_speed(rpm * np.pi / 30))
    law = kp.LankaraniNikravesh(0.9, youngs=207e9, poisson=0.3)
    loose = {"clearance": clearance * 1e-3, "bearing_radius": 10e-3, "contact": law} if clearance else {}
    m.revolute("B", rod, slider, at=(CRANK + ROD, 0), **loose)
    return m


def motion(clearance: float = 0.2, rpm: float = 2000, turns: int = 2) -> kp.Result:
    at_rest = {"slider.vx": 0.0, "rod.omega": -CRANK / ROD * rpm * np.pi / 30} if clearance else {}
    return build(clearance, rpm).simulate(turns * 60 / rpm, steps=1500 * turns, velocities=at_rest, tolerance=1e-10)


def check(result: kp.Result) -> float:
    contacts = result.contacts("B")
    moved = result.array("slider.x")[result.t < contacts[0].begin] - CRANK - ROD
    return float(max(np.abs(moved).max(), abs(contacts.array("lost").sum() / result.energy.dissipated[-1] - 1)))


def main() -> None:
    result = motion()
    print(f"Loose pin: {len(result.contacts('B'))} contacts in two turns; error {check(result):.1e}")
    result.animate("out/loose_pin.gif")
    for family, designs in FAMILIES.items():
        runs = [(motion(c, rpm, turns=10), motion(0, rpm, turns=10)) for c, rpm in designs]
        for name, label in SHOWN.items():
            figure, axes = plt.subplots(2, 2, figsize=(7.4, 5), sharex=True, layout="constrained")
            for ax, (c, rpm), (loose, ideal) in zip(axes.flat, designs, runs, strict=True):
                late = (turns := loose.t * rpm / 60) > 4
                ax.plot(turns[late], loose.array(name)[late], lw=0.5)
                ax.plot(turns[late], ideal.array(name)[late], color="0.55", lw=1.5)
                ax.set_title(f"{c:g} mm, {rpm} rpm", fontsize=10)
            figure.supxlabel("turns of the crank", fontsize=10)
            figure.supylabel(label, fontsize=10)
            figure.savefig(f"out/loose_pin_{family}_{name}.png", dpi=110)
            plt.close(figure)


if __name__ == "__main__":
    main()
