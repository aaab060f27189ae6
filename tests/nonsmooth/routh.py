"""A single impact with friction by Routh's method, in closed form (Routh 1860; Wang and Mason 1992).

With u = (u_t, u_n) the velocity of the point of contact, p = (p_t, p_n) its impulse and u = u0 + [[a, b], [b, c]] p,
the impulse grows along a path: while it slides, p_t grows by -mu times p_n; where the sliding stops it sticks, if |b|
is at most mu a, or slides the other way. Compression ends where u_n = 0. Restitution ends where u_n = -e u_n0
(Newton), or where p_n is 1 + e times what it was (Poisson); by Newton's law it ends before the energy is more than it
was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Impact:
    """The impulses, what the contact did ("sliding", "sticking", "reversed"), and whether energy ended it."""

    pt: float
    pn: float
    ways: tuple[str, ...]
    capped: bool = False


def routh(A: tuple[float, float, float], u0: tuple[float, float], mu: float, e: float, poisson: bool) -> Impact:
    """The impulses of an impact; A is (a, b, c)."""
    a, b, c = A
    pt = pn = 0.0
    ways: list[str] = []
    held = False
    pc = math.inf

    def speeds() -> tuple[float, float]:
        return u0[0] + a * pt + b * pn, u0[1] + b * pt + c * pn

    for phase in (1, 2):
        while True:
            ut, un = speeds()
            sliding = not held and abs(ut) > 1e-14 * (abs(u0[0]) + abs(u0[1]))
            if sliding:
                k, way = -mu * math.copysign(1.0, ut), "sliding"
            elif abs(b) <= mu * a:
                k, way, held = -b / a, "sticking", True
            else:
                k, way = -mu * math.copysign(1.0, b), "reversed"
            if not ways or ways[-1] != way:
                ways.append(way)
            dut, dun = a * k + b, b * k + c
            stops = -ut / dut if sliding and ut * dut < 0 else math.inf
            if phase == 1:
                ends = -un / dun if dun > 0 else math.inf
            elif poisson:
                ends = (1 + e) * pc - pn
            else:
                ends = (-e * u0[1] - un) / dun if dun > 0 else math.inf
            step = min(stops, ends)
            if phase == 2 and not poisson:
                # energy given back so far: p.(u0 + u)/2; a quadratic along the step
                w0 = 0.5 * (pt * (u0[0] + ut) + pn * (u0[1] + un))
                w1, w2 = ut * k + un, 0.5 * (dut * k + dun)
                roots = _roots(w2, w1, w0)
                early = [r for r in roots if 0 <= r < step * (1 - 1e-12)]
                if early and w0 + w1 * step + w2 * step**2 > 1e-14 * abs(w0):
                    return Impact(pt + k * early[-1], pn + early[-1], tuple(ways), True)
            pt, pn = pt + k * step, pn + step
            if step == ends:
                break
            if step == stops:  # to the last digit
                pt -= speeds()[0] / a
        if phase == 1:
            pc = pn
    return Impact(pt, pn, tuple(ways))


def _roots(a: float, b: float, c: float) -> list[float]:
    if a == 0:
        return [-c / b] if b else []
    d = b * b - 4 * a * c
    return sorted([(-b - math.sqrt(d)) / (2 * a), (-b + math.sqrt(d)) / (2 * a)]) if d >= 0 else []
