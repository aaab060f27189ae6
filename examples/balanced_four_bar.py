"""
A four-bar without shaking force
================================

A driven four-bar shakes its frame, because the common centre of mass of its links moves. Two counterweights, on the
crank and on the rocker, can keep it at rest: Berkof and Lowen (1969) give the places. Here nobody tells Kempe: the
integral of the squared shaking force over a turn of the crank is minimised, by gradients with respect to the four
coordinates of the counterweights. What comes out is the closed solution, and no shaking force is left.
"""

import numpy as np

import kempe as kp

GROUND, CRANK, COUPLER, ROCKER = 0.4, 0.1, 0.35, 0.25  # m
MASSES = (0.5, 1.2, 0.8)  # kg: crank, coupler, rocker
CENTRES = (0.04 + 0.01j, 0.18 + 0.05j, 0.11 - 0.02j)  # m: along and across each link, from its first joint
WEIGHTS = (2.0, 1.5)  # kg: on the crank, on the rocker
TURN = 0.5  # s
TOLERANCE = 1e-6

#: The centre of mass rests where the factors of exp(i crank angle) and exp(i rocker angle) vanish.
LEFT = MASSES[0] * CENTRES[0] + MASSES[1] * CRANK * (1 - CENTRES[1] / COUPLER)
RIGHT = MASSES[2] * CENTRES[2] + MASSES[1] * CENTRES[1] * ROCKER / COUPLER
EXACT = {"x2": -LEFT.real / 2.0, "y2": -LEFT.imag / 2.0, "x4": -RIGHT.real / 1.5, "y4": -RIGHT.imag / 1.5}


def pose(crank: float = 0.5) -> dict[str, tuple[complex, float]]:
    """Where each link begins, and its angle."""
    tip, foot = CRANK * np.exp(1j * crank), GROUND + 0j
    reach, towards = abs(foot - tip), np.angle(foot - tip)
    coupler = towards + np.arccos((COUPLER**2 + reach**2 - ROCKER**2) / (2 * COUPLER * reach))
    top = tip + COUPLER * np.exp(1j * coupler)
    return {"crank": (0j, crank), "coupler": (tip, coupler), "rocker": (foot, float(np.angle(top - foot)))}


def build() -> kp.Mechanism:
    m = kp.Mechanism("balanced four-bar", units="m, kg, s")
    drawn, links = pose(), {}
    for (name, (first, angle)), mass, centre in zip(drawn.items(), MASSES, CENTRES, strict=True):
        at = first + centre * np.exp(1j * angle)
        links[name] = m.body(name, mass, 0.003, at=(at.real, at.imag), angle=angle)
    tip, foot = drawn["coupler"][0], drawn["rocker"][0]
    top = tip + COUPLER * np.exp(1j * drawn["coupler"][1])
    shaft = m.revolute("O", m.ground, links["crank"], at=(0, 0))
    m.revolute("A", links["crank"], links["coupler"], at=(tip.real, tip.imag))
    m.revolute("B", links["coupler"], links["rocker"], at=(top.real, top.imag))
    m.revolute("C", m.ground, links["rocker"], at=(foot.real, foot.imag))
    m.driver("motor", shaft.angle, kp.constant_speed(2 * np.pi / TURN))
    for number, name, mass in ((2, "crank", WEIGHTS[0]), (4, "rocker", WEIGHTS[1])):
        x, y = (m.parameter(f"{axis}{number}", 0.01, bounds=(-0.5, 0.5)) for axis in "xy")
        first, angle = drawn[name]
        c, s, centre = np.cos(angle), np.sin(angle), CENTRES[0 if number == 2 else 2]
        weight = m.point(f"weight {number}", at=(first.real + c * x - s * y, first.imag + s * x + c * y), mass=mass)
        m.revolute(f"screw {number}", links[name], weight, on_i=(x - centre.real, y - centre.imag))
    return m


def motion() -> kp.Optimum:
    shaking = kp.integral("ground.shaking.x**2 + ground.shaking.y**2")
    return build().optimise(TURN, minimise=shaking)


def check(best: kp.Optimum) -> float:
    return max(abs(best.parameters[name] - value) for name, value in EXACT.items())


def main() -> None:
    best, m = motion(), build()
    before, after = m.simulate(TURN), m.simulate(TURN, parameters=best.parameters)
    print(best)
    print(f"Shaking force: {before['ground.shaking'].max():.1f} N before, {after['ground.shaking'].max():.1e} N after")
    after.animate("out/balanced_four_bar.gif", vectors=["O.force", "C.force"])
    after.plot("ground.shaking", beside={"before": before}, label="after").savefig("out/balanced_four_bar.png", dpi=110)


if __name__ == "__main__":
    main()
