"""
Bearings of a hoist
===================

A motor drives a shaft by a belt, the shaft a drum by a pair of gears, and the drum lifts a load at constant speed. What
a bearing carries is not the torque that passes but the pull of both strands of the belt and the force of the teeth:
W = T/r across the line of centres, and W tan 20° that pushes the wheels apart. The force on the bearing of the shaft is
compared with that of a drawing on paper.
"""

import numpy as np

import kempe as kp

LOAD, DRUM = 400.0, 0.1
PINION, WHEEL = 0.05, 0.2
MOTOR, PULLEY, PRELOAD = 0.04, 0.12, 300.0
SPEED = 10.0
CENTRES = {"motor": (0.0, 0.0), "shaft": (0.6, 0.0), "drum": (0.6, 0.25)}
TOLERANCE = 1e-9


def build() -> kp.Mechanism:
    m = kp.Mechanism("hoist")
    wheels = {name: m.body(name, mass=1.0, inertia=0.01, at=at) for name, at in CENTRES.items()}
    for name, at in CENTRES.items():
        m.revolute(f"bearing of {name}", m.ground, wheels[name], at=at)
    centres = {"on_i": (0.0, 0.0), "on_j": (0.0, 0.0)}
    m.belt("belt", wheels["motor"], wheels["shaft"], radii=(MOTOR, PULLEY), preload=PRELOAD, **centres)
    m.gear("teeth", wheels["shaft"], wheels["drum"], radii=(PINION, WHEEL), **centres)
    m.torque("load", wheels["drum"], LOAD * DRUM)
    m.driver("current", wheels["motor"].angle, kp.constant_speed(SPEED))
    return m


def drawn() -> np.ndarray:
    """The force on the bearing of the shaft, as a drawing gives it."""
    teeth = LOAD * DRUM / WHEEL  # the drum stands above the shaft and pushes its teeth to the right
    mesh = teeth * np.array([1.0, -np.tan(np.radians(20.0))])
    difference = teeth * PINION / PULLEY
    lean = (PULLEY - MOTOR) / 0.6
    upper, lower = PRELOAD + difference / 2, PRELOAD - difference / 2  # the motor pulls at the upper strand
    pull = np.array([-(upper + lower) * np.sqrt(1.0 - lean**2), (lower - upper) * lean])
    return mesh + pull


def check() -> float:
    result = build().inverse_dynamics(1.0)
    force = result.reaction("bearing of shaft", on="ground").force
    return float(np.abs(force - drawn()).max())


def main() -> None:
    result = build().inverse_dynamics(1.0)
    print(f"Hoist: the motor turns with {result.array('current.effort')[-1]:.4f}")
    for name in CENTRES:
        x, y = result.reaction(f"bearing of {name}", on="ground").force[-1]
        print(f"  bearing of {name}: {np.hypot(x, y):.2f} ({x:.2f}, {y:.2f})")
    print(f"largest error of the shaft's {check():.1e}")
    result.animate("out/bearings_of_a_hoist.gif")


if __name__ == "__main__":
    main()
