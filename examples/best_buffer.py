"""
The best buffer
===============

A mass is let go on a spring and a damper. Which stiffness and damping bring it to rest with the least unrest, the
integral of x^2, if the spring may pull with no more than 16 at the start? In closed form the integral is
(c/k + 1/c)/2, least at c = sqrt(k), where it is 1/sqrt(k): so the limit holds it, k = 16, c = 4 and the unrest is 1/4.
Its multiplier, by how much the unrest falls for each unit of force, is 1/(2 k^1.5). All four methods find it.
"""

import kempe as kp

TOLERANCE = 1e-5
LIMIT, END = 16.0, 12.0
METHODS = ("slsqp", "ipopt", "steepest-descent", "trust-constr")


def build() -> kp.Mechanism:
    m = kp.Mechanism("buffer")
    stiffness = m.parameter("stiffness", 9.0, bounds=(1, 40))
    damping = m.parameter("damping", 1.0, bounds=(0.2, 6))
    mass = m.body("mass", mass=1.0, inertia=1.0, at=(1, 0))
    m.translational("guide", m.ground, mass, axis=(1, 0), at=(0, 0))
    m.spring("coil", m.ground.on((-2, 0)), mass, stiffness=stiffness, damping=damping, length=2.0)
    return m


def optimum(method: str = "slsqp") -> kp.Optimum:
    unrest = kp.integral("mass.x**2", name="unrest")
    force = kp.initial("stiffness * mass.x", name="first force")
    return build().optimise(END, unrest, [force <= LIMIT], method=method, steps=120)


def check() -> float:
    errors = []
    for best in map(optimum, METHODS):
        rate = best.active[0].multiplier * 2 * LIMIT**1.5
        errors += [best.objective * 4 - 1, best.parameters["stiffness"] / LIMIT - 1, (rate - 1) / 100]
        errors += [(best.parameters["damping"] / 4 - 1) / 10]
    return max(map(abs, errors))


def main() -> None:
    best = optimum("steepest-descent")
    print(best)
    print(best.account())
    print(f"largest error of four methods {check():.1e}")
    before, after = best.results
    after.animate("out/best_buffer.gif")
    after.plot("mass.x", beside={"before": before}, label="after").savefig("out/best_buffer.png", dpi=110)
    best.plot().savefig("out/best_buffer_history.png", dpi=110)
    best.report("out/best_buffer.html", plots=["mass.x", "coil.force"])


if __name__ == "__main__":
    main()
