"""
Excavator
=========

Boom, stick and bucket are moved by three hydraulic cylinders: lengths that are driven. What each has to push follows
from one balance of moments about the pin of the part it moves, at every instant: the sum of r x m (a - g) + J alpha
over all parts beyond that pin is the force times its lever arm.
"""

import numpy as np

import kempe as kp

PARTS = {  # kg, kg m²; as drawn (m): centre, pin, foot and head of its cylinder, and what that extends by, every 3 s
    "boom": (1500.0, 4000.0, (2.4, 3.5), (0.0, 1.6), (0.7, 1.2), (2.1, 3.3), (0.0, -0.15, 0.35, 0.45)),
    "stick": (700.0, 700.0, (5.9, 2.9), (5.0, 3.4), (2.3, 4.1), (4.6, 4.2), (0.0, 0.6, 0.4, -0.2)),
    "bucket": (900.0, 250.0, (7.2, 0.3), (7.2, 1.2), (5.1, 4.1), (7.65, 1.45), (0.0, 0.1, 0.28, -0.4)),
}
TIMES, TOLERANCE = np.arange(0, 15, 3), 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("excavator", gravity=(0, -9.81), units="m, kg, s")
    before = m.ground
    for name, (mass, inertia, centre, pin, foot, head, strokes) in PARTS.items():
        part = m.body(name, mass, inertia, at=centre)
        m.revolute(f"{name} joint", before, part, at=pin)
        for key, owner, place in (("pin", part, pin), ("foot", before, foot), ("head", part, head)):
            m.revolute(f"{name} {key} eye", owner, m.point(f"{name} {key}", at=place), at=place)
        law = kp.spline(TIMES, np.hypot(*np.subtract(head, foot)) + np.array([*strokes, 0.0]), periodic=True)
        m.driver(f"{name} cylinder", kp.distance(m[f"{name} foot"], m[f"{name} head"]), law)
        before = part
    m.revolute("teeth eye", before, m.point("teeth", at=(6.1, -0.2)), at=(6.1, -0.2))
    return m


def check() -> float:
    result = build().inverse_dynamics(12.0)
    worst, at = 0.0, {p: result.point(p).position @ [1, 1j] for p in result.model.parts}
    for k, name in enumerate(PARTS):
        pin, rod, moment = at[f"{name} pin"], at[f"{name} head"] - at[f"{name} foot"], 0.0
        for p, (mass, inertia, *_) in list(PARTS.items())[k:]:
            push = mass * (result.point(p).acceleration @ [1, 1j] + 9.81j)
            moment = moment + (np.conj(at[p] - pin) * push).imag + inertia * result.array(f"{p}.alpha")
        lever = (np.conj(at[f"{name} head"] - pin) * rod).imag / abs(rod)
        force = result.array(f"{name} cylinder.effort")
        worst = max(worst, np.abs(force - moment / lever).max() / np.abs(force).max())
    return worst


def main() -> None:
    result = build().inverse_dynamics(12.0)
    most = [round(np.abs(result.array(f"{name} cylinder.effort")).max() / 1e3) for name in PARTS]
    print(f"Excavator: largest forces of the cylinders in kN: {most}; error {check():.1e}")
    result.animate("out/excavator.gif", trace=["teeth"], vectors=["boom joint.force"], seconds=5)


if __name__ == "__main__":
    main()
