"""
V-twin engine
=============

Two pistons at right angles share one crank pin. The first-order parts of their inertia forces turn with the crank, so
that a counterweight balances them for good. What is left is m w² times the curvature of q = sqrt(l² - r² sin²(f)) along
each cylinder, f being the crank's angle from its axis. The gas pressure, a table over two turns, shakes nothing.
"""

import numpy as np

import kempe as kp

CRANK, ROD, PISTON, WEIGHT, AREA = 0.045, 0.15, 0.6, 2.0, 60e-4  # m, m, kg, kg, m²
SPEED, AXES = 100 * np.pi, {"left": 0.75 * np.pi, "right": 0.25 * np.pi}  # 3000 turns a minute; of the cylinders
DEGREES = [0, 15, 30, 60, 90, 130, 180, 540, 600, 640, 680, 700, 720]  # from firing
PRESSURE = 1e5 * np.array([30, 45, 32, 12, 6, 3, 1, 1, 1.5, 3, 8, 16, 30])  # Pa
TOLERANCE = 1e-10


def build() -> kp.Mechanism:
    m = kp.Mechanism("V-twin engine", units="m, kg, s")
    gas = kp.table(np.radians(DEGREES), PRESSURE, kind="linear", periodic=True, name="pressure")
    offset = m.parameter("balance", 1.0) * CRANK * PISTON / WEIGHT  # of the crank's centre of mass from the shaft
    crank = m.body("crank", WEIGHT, 0.01, at=(0, -offset), angle=np.pi / 2)
    m.revolute("shaft", m.ground, crank, on_i=(0, 0), on_j=(offset, 0))
    for side, axis in AXES.items():
        along = np.array([np.cos(axis), np.sin(axis)])
        rod = m.body(f"{side} rod", at=ROD / 2 * along, angle=axis)
        piston = m.body(f"{side} piston", PISTON, 1e-3, at=ROD * along, angle=axis)
        m.revolute(f"{side} big end", crank, rod, on_i=(offset + CRANK, 0), on_j=(-ROD / 2, 0))
        m.revolute(f"{side} small end", rod, piston, on_i=(ROD / 2, 0), on_j=(0, 0))
        guide = m.translational(f"{side} cylinder", m.ground, piston, axis=along, at=(0, 0))
        m.user_force(f"{side} gas", lambda c, s, axis=axis: [0, -AREA * gas(c.angle - axis)], crank, guide.displacement)
    m.driver("speed", crank.angle, kp.constant_speed(SPEED))
    return m


def check() -> float:
    result, left = build().inverse_dynamics(4 * np.pi / SPEED), 0.0
    for axis in AXES.values():
        f = result.array("crank.angle") - axis
        q = np.sqrt(ROD**2 - CRANK**2 * np.sin(f) ** 2)
        bend = -(CRANK**2 * np.cos(2 * f)) / q - (CRANK**2 * np.sin(f) * np.cos(f)) ** 2 / q**3
        left = left - PISTON * SPEED**2 * np.outer(bend, [np.cos(axis), np.sin(axis)])
    shaking = np.column_stack([result.array(f"ground.shaking.{axis}") for axis in "xy"])
    return float(np.abs(shaking - left).max() / np.abs(left).max())


def main() -> None:
    m = build()
    bare, result = (m.inverse_dynamics(4 * np.pi / SPEED, parameters={"balance": b}) for b in (0.0, 1.0))
    shaking = [round(r.array("ground.shaking").max() / 1e3, 2) for r in (bare, result)]
    print(f"V-twin: shakes with {shaking} kN without and with a counterweight; error {check():.1e}")
    result.animate("out/v_twin_engine.gif", vectors=["shaft.force"])


if __name__ == "__main__":
    main()
