"""The slider-crank with a loose piston pin, on its own: two coordinates, extended precision, no code of Kempe's.

The crank turns at a constant speed. The rod's angle and the slider's place move by Newton's laws under the contact
force of Lankarani and Nikravesh. Steps are of the eighth order (Dormand and Prince, with SciPy's coefficients), in
numpy's long double; a contact begins and ends where a step of just the right length does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate._ivp import dop853_coefficients as dop

Real = np.longdouble
_A = dop.A[:12, :12].astype(Real)
_B, _C = dop.B.astype(Real), dop.C[:12].astype(Real)
_E5, _E3 = dop.E5.astype(Real), dop.E3.astype(Real)


@dataclass
class SliderCrank:
    """Lengths, masses and inertia; the centre of mass of the rod at its middle."""

    speed: float
    clearance: float
    stiffness: float
    restitution: float = 0.9
    crank: float = 0.05
    rod: float = 0.12
    rod_mass: float = 0.21
    rod_inertia: float = 2.5e-4
    slider_mass: float = 0.14
    met: Real | None = None  # the approach velocity while in contact

    def pin(self, t: Real, y: np.ndarray) -> tuple[Real, ...]:
        """Offset of the slider's pin from the rod's end, and its rate."""
        r, L, w = Real(self.crank), Real(self.rod), Real(self.speed)
        a = w * t
        f, x, df, dx = y
        d = (x - r * np.cos(a) - L * np.cos(f), -r * np.sin(a) - L * np.sin(f))
        v = (dx + r * w * np.sin(a) + L * df * np.sin(f), -r * w * np.cos(a) - L * df * np.cos(f))
        return (*d, *v)

    def depth(self, t: Real, y: np.ndarray) -> tuple[Real, Real]:
        """How deep the journal is in the bearing, and how fast it goes deeper."""
        dx, dy, vx, vy = self.pin(t, y)
        e = np.sqrt(dx * dx + dy * dy)
        return e - Real(self.clearance), (dx * vx + dy * vy) / e

    def rate(self, t: Real, y: np.ndarray) -> np.ndarray:
        r, L, w, m = Real(self.crank), Real(self.rod), Real(self.speed), Real(self.rod_mass)
        f, _, df, dx = y
        fx = fy = Real(0)
        if self.met is not None:
            ex, ey, _, _ = self.pin(t, y)
            d, v = self.depth(t, y)
            e = d + Real(self.clearance)
            loss = Real(3) / 4 * (1 - Real(self.restitution) ** 2)
            force = Real(self.stiffness) * max(d, Real(0)) ** Real(1.5) * (1 + loss * v / self.met)
            fx, fy = force * ex / e, force * ey / e  # on the rod; the slider feels the opposite
        ax, ay = -r * w * w * np.cos(w * t), -r * w * w * np.sin(w * t)
        turning = L * (-np.sin(f) * fx + np.cos(f) * fy)
        carried = m * L / 2 * (-np.sin(f) * ax + np.cos(f) * ay)
        return np.array(
            [df, dx, (turning - carried) / (m * L * L / 4 + Real(self.rod_inertia)), -fx / self.slider_mass]
        )


def _step(rate: Callable[..., np.ndarray], t: Real, y: np.ndarray, h: Real) -> tuple[np.ndarray, Real]:
    """One step, and its error in units that do not matter: sizes of about one."""
    k = np.zeros((13, len(y)), dtype=Real)
    for s in range(12):
        k[s] = rate(t + _C[s] * h, y + h * (_A[s, :s] @ k[:s]))
    new = y + h * (_B @ k[:12])
    k[12] = rate(t + h, new)
    scale = np.array([1.0, 0.1, 500.0, 50.0], dtype=Real)
    five, three = np.linalg.norm((_E5 @ k) / scale), np.linalg.norm((_E3 @ k) / scale)
    below = np.hypot(five, Real(0.1) * three)
    return new, Real(0) if below == 0 else abs(h) * five * five / below


def first_contacts(
    machine: SliderCrank, count: int, tolerance: float = 1e-17
) -> list[tuple[float, float, float, float]]:
    """Begin, approach, end and departure of the first contacts."""
    t, h = Real(0), Real(1e-6)
    r, L, w = Real(machine.crank), Real(machine.rod), Real(machine.speed)
    y = np.array([0, r + L, -r * w / L, 0], dtype=Real)
    found: list[tuple[float, ...]] = []
    begun: tuple[Real, Real] | None = None
    while len(found) < count:
        new, error = _step(machine.rate, t, y, h)
        if error > tolerance:
            h *= max(Real(0.2), Real(0.9) * (Real(tolerance) / error) ** (Real(1) / 8))
            continue
        sign = 1 if machine.met is None else -1
        if sign * machine.depth(t + h, new)[0] > 0 and not (begun and t == begun[0]):
            length = h
            for _ in range(60):  # the step that ends at the instant
                d, v = machine.depth(t + length, new)
                change = d / v
                length -= change
                new, _ = _step(machine.rate, t, y, length)
                if abs(change) < 1e-24:
                    break
            t, y = t + length, new
            _, v = machine.depth(t, y)
            if machine.met is None:
                machine.met, begun, h = v, (t, v), Real(1e-8)
            else:
                found.append((float(begun[0]), float(begun[1]), float(t), float(-v)))
                machine.met, begun, h = None, None, Real(1e-6)
            continue
        t, y = t + h, new
        h *= min(Real(3), Real(0.9) * (Real(tolerance) / max(error, Real(1e-30))) ** (Real(1) / 8))
        h = min(h, Real(2e-5) if machine.met is None else Real(1e-6))
    return found
