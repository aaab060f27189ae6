"""
Over-constrained
================

A load hangs on four rods of which two would do, and a door on three hinges. Both move as if the rest were not there,
but what each rod and hinge carries no rigid-body mechanics can tell: forces that cancel each other may be added at
will. The program says so, and by name. With the sections of the rods known it is decided: they share the load as they
stretch, while the motion stays that of rigid parts. The shares are compared with those of an elastic structure worked
out apart.
"""

import numpy as np

import kempe as kp

MASS, LENGTH, DROP, ANGLE, GRAVITY = 20.0, 1.0, 0.25, np.pi / 6, 9.81
STEEL = 2.1e11
#: Rod: where it is, and its section.
RODS = {"A": (-0.6, 1e-4), "B": (-0.2, 4e-4), "C": (0.2, 1e-4), "D": (0.6, 2e-4)}
TOLERANCE = 1e-5


def build(elastic: bool = True) -> kp.Mechanism:
    m = kp.Mechanism("hung on four rods", gravity=(0, -GRAVITY), units="m, kg, s")
    tip = LENGTH * np.array([np.sin(ANGLE), -np.cos(ANGLE)])
    load = m.body("load", MASS, 2.0, at=tip - (0.0, DROP))
    for name, (x, section) in RODS.items():
        member = kp.Member(E=STEEL, A=section) if elastic else None
        m.link(name, m.ground, load, on_i=(x, 0.0), on_j=(x, DROP), stiffness=member)
    return m


def door() -> kp.Mechanism:
    m = kp.Mechanism("door on three hinges", dim=3, gravity=(0, 0, -GRAVITY))
    leaf = m.body("leaf", mass=30.0, inertia=(10.0, 8.0, 2.0), at=(0.4, 0.0, 1.0))
    for name, height in {"bottom": 0.2, "middle": 1.0, "top": 1.8}.items():
        m.revolute(name, m.ground, leaf, at=(0, 0, height), axis=(0, 0, 1), stiffness={"length": 1e8, "angle": 1e5})
    return m


def motion() -> kp.Result:
    return build().simulate(2.0)


def shares(result: kp.Result) -> np.ndarray:
    """What each rod pulls with if it is a spring: a heave and a turn of the load stretch them all."""
    x, section = np.array(list(RODS.values())).T
    theta = np.arcsin(result.array("load.x") / LENGTH)
    total = MASS * (GRAVITY * np.cos(theta) + (result.array("load.vx") / np.cos(theta)) ** 2 / LENGTH)
    k = STEEL * section / LENGTH
    stretched = np.linalg.solve(
        [[k.sum(), k @ x], [k @ x, k @ x**2]], np.vstack([total, -DROP * np.tan(theta) * total])
    )
    return k * (stretched[0][:, None] + stretched[1][:, None] * x)


def check(result: kp.Result) -> float:
    found = np.column_stack([result.array(f"lambda.{name}.length") for name in RODS])
    exact = shares(result)
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def main() -> None:
    print(build(elastic=False).redundancy())
    result = motion()
    rods = ", ".join(f"{name} {result[f'{name}.force'].values.max():.1f}" for name in RODS)
    print(f"largest pulls with the sections known: {rods}; error of the shares {check(result):.1e}")
    swung = door().simulate(1.0, velocities={"leaf.omega.z": 1.0})
    hinges = ", ".join(f"{name} {swung[f'{name}.force'].values[0]:.1f}" for name in ("bottom", "middle", "top"))
    print(f"\n{door().mobility().message.splitlines()[0]}; its hinges bear {hinges}")
    result.animate("out/over_constrained.gif", vectors=[f"{name}.force" for name in RODS])


if __name__ == "__main__":
    main()
