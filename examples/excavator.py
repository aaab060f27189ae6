"""
Excavator
=========

Boom, stick and bucket are moved by three hydraulic cylinders: lengths that are driven. The machine digs, lifts and
dumps. What each cylinder has to push follows from one balance of moments about the pin of the part it moves: the sum of
r x m (a - g) + J alpha over all parts beyond that pin is the force times its lever arm. The efforts that inverse
dynamics finds are compared with it at every instant.
"""

import numpy as np

import kempe as kp

PARTS = {  # kg, kg m²; as drawn (m): centre, pin, foot and head of its cylinder, and what that extends by, every 3 s
    "boom": (1500.0, 4000.0, (2.4, 3.5), (0.0, 1.6), (0.7, 1.2), (2.1, 3.3), (0.0, -0.15, 0.35, 0.45)),
    "stick": (700.0, 700.0, (5.9, 2.9), (5.0, 3.4), (2.3, 4.1), (4.6, 4.2), (0.0, 0.6, 0.4, -0.2)),
    "bucket": (900.0, 250.0, (7.2, 0.3), (7.2, 1.2), (5.1, 4.1), (7.65, 1.45), (0.0, 0.1, 0.28, -0.4)),
}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("excavator", gravity=(0, -9.81), units="m, kg, s")
    before = m.ground
    for name, (mass, inertia, centre, pin, foot, head, strokes) in PARTS.items():
        part = m.body(name, mass, inertia, at=centre)
        m.revolute(f"{name} joint", before, part, at=pin)
        for key, owner, place in (("pin", part, pin), ("foot", before, foot), ("head", part, head)):
            m.revolute(f"{name} {key} eye", owner, m.point(f"{name} {key}", at=place), at=place)
        lengths = np.hypot(*np.subtract(head, foot)) + np.array([*strokes, 0.0])
        law = kp.spline(np.arange(0, 15, 3), lengths, periodic=True)
        m.driver(f"{name} cylinder", kp.distance(m.parts[f"{name} foot"], m.parts[f"{name} head"]), law)
        before = part
    m.revolute("teeth eye", before, m.point("teeth", at=(6.1, -0.2)), at=(6.1, -0.2))
    return m


def motion() -> kp.Result:
    return build().inverse_dynamics(12.0)


def check(result: kp.Result) -> float:
    worst, at = 0.0, {p: result.point(p).position @ [1, 1j] for p in result.model.parts}
    for k, name in enumerate(PARTS):
        pin, rod = at[f"{name} pin"], at[f"{name} head"] - at[f"{name} foot"]
        moment = sum(
            (np.conj(at[p] - pin) * PARTS[p][0] * (result.point(p).acceleration @ [1, 1j] + 9.81j)).imag
            + PARTS[p][1] * result.array(f"{p}.alpha")
            for p in list(PARTS)[k:]
        )
        arm = (np.conj(at[f"{name} head"] - pin) * rod).imag / abs(rod)
        force = result.array(f"{name} cylinder.effort")
        worst = max(worst, np.abs(force - moment / arm).max() / np.abs(force).max())
    return worst


def main() -> None:
    result = motion()
    most = ", ".join(f"{name} {np.abs(result.array(f'{name} cylinder.effort')).max() / 1e3:.0f} kN" for name in PARTS)
    print(f"Excavator: largest forces of the cylinders: {most}; error {check(result):.1e}")
    result.animate("out/excavator.gif", trace=["teeth"], vectors=["boom joint.force"], seconds=5)


if __name__ == "__main__":
    main()
