"""
Toggle press
============

A toggle joint multiplies force without limit as its two links come into line; it has served in printing presses since
the Washington press of Samuel Rust (1821). A hydraulic cylinder pushes the knee, and the ram hangs below it in a
vertical guide. The knee is the intersection of two circles, the ram follows by Pythagoras, and the mechanical
advantage is the ratio of the exact velocities of piston and ram; positions and velocities are compared.
"""

import numpy as np

import kempe as kp

UPPER, LOWER = 0.30, 0.35
ANCHOR = -0.5 - 0.28j
SHORTEST, STROKE, DURATION = 0.36, 0.12, 1.5
TIMES = np.linspace(0.0, DURATION, 151)
OPTIONS: dict = {}
TOLERANCE = 1e-12


def build() -> kp.Mechanism:
    m = kp.Mechanism("toggle press")
    upper = m.parameter("upper link", UPPER, bounds=(0.25, 0.35))
    lower = m.parameter("lower link", LOWER, bounds=(0.30, 0.40))
    crown = m.point("crown", (0.0, 0.0), fixed="xy")
    anchor = m.point("anchor", (ANCHOR.real, ANCHOR.imag), fixed="xy")
    knee = m.point("knee", (-0.14, -0.27))
    ram = m.point("ram", (0.0, -0.59), fixed="x")
    m.bar("upper", crown, knee, length=upper)
    m.bar("lower", knee, ram, length=lower)
    m.driver("cylinder", kp.distance(anchor, knee), kp.cycloidal(STROKE, DURATION, start=SHORTEST))
    return m


def check(result: kp.Result) -> float:
    s = result.t / DURATION
    length = SHORTEST + STROKE * (s - np.sin(2.0 * np.pi * s) / (2.0 * np.pi))
    speed = STROKE / DURATION * (1.0 - np.cos(2.0 * np.pi * s))
    apart = np.abs(ANCHOR)
    along = (UPPER**2 - length**2 + apart**2) / (2.0 * apart)
    half_chord = np.sqrt(UPPER**2 - along**2)
    knee = ANCHOR / apart * (along + 1j * half_chord)
    knee_velocity = ANCHOR / apart * (-length / apart) * speed * (1.0 - 1j * along / half_chord)
    drop = np.sqrt(LOWER**2 - knee.real**2)
    ram = knee.imag - drop
    ram_velocity = knee_velocity.imag + knee.real * knee_velocity.real / drop
    knee_error = result.array("knee.x") + 1j * result.array("knee.y") - knee
    errors = [knee_error, result.array("ram.y") - ram, result.array("ram.vy") - ram_velocity]
    return float(np.abs(errors).max())


def main() -> None:
    result = build().kinematics(TIMES, **OPTIONS)
    s = result.t / DURATION
    piston = STROKE / DURATION * (1.0 - np.cos(2.0 * np.pi * s))
    advantage = piston[1:-1] / np.abs(result.array("ram.vy")[1:-1])
    stroke = np.ptp(result.array("ram.y"))
    print(f"Toggle press: ram stroke {stroke:.4f}, force multiplied by {advantage[0]:.2f} to {advantage[-1]:.2f}")
    print(f"largest error of knee and ram {check(result):.1e}")
    result.animate("out/toggle_press.gif")


if __name__ == "__main__":
    main()
