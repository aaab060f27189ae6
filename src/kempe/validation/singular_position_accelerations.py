"""Accelerations of a slider-crank in and out of its singular position (Garcia de Jalon and Bayo, Example 10.5).

Two uniform bars of 1 m and 1 kg, q = (x1, y1, x2), gravity -9.81. The augmented Lagrangian of eq. 10.91 is iterated
from zero multipliers with a penalty of 1e4. The truths were computed with 40 digits and share nothing with Kempe.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin
from typing import Any

import numpy as np

import kempe as kp
from kempe.simulation.posing import Posed
from kempe.validation.case import Row, compare

CASE = "singular-position-accelerations"
NAMES = ("1.ax", "1.ay", "2.ax")
#: Accelerations of the size of 7 are known in float64 to this much at best: a few units of their last digit.
FLOOR = 5e-15

MASS = ((4, 0, 1), (0, 4, 0), (1, 0, 2))  # times 1/6
EXACT = (2.377314575050761980479325, -5.205741699796952078082702, 4.754629150101523960958649)
MULTIPLIERS = (-6.163722609117367669142845, -2.801692095053348940519475)
ITERATES = (
    (2.377021395608400028131043, -5.2063201424083258516676, 4.754518211343259284908668),
    (2.377314552363786811662383, -5.205741737063053115801194, 4.754629147513013333364185),
    (2.377314575049176281758123, -5.205741699799406122629558, 4.754629150101463563786606),
    (2.377314575050761873062024, -5.205741699796952240970195, 4.754629150101523959549415),
)
#: Errors (2-norm) of these iterates in exact arithmetic, and as printed in Table 10.1.
ERRORS = (6.5791903e-4, 4.3705395e-8, 2.9224002e-12, 1.9512252e-16)
PRINTED_ERRORS = (6.5792e-4, 4.3705e-8, 2.9206e-12, 1.6107e-14)
#: The first error with a penalty of 1e7.
STIFF_ERROR = 6.579623e-7

#: y1'' in the singular position with the printed mass matrix.
SINGULAR = (-1.000457151428285723809206, -1.000000015237873013757002, -1.000000000000507912170053, -1.0)
SINGULAR_MULTIPLIERS = (-4.5715142828572380921, -4.5716666615873756621, -4.5716666666664973626, -4.571666666666666661)
PRINTED_SINGULAR = (-1.00047382543624272, None, None, -1.0)


def slider_crank(theta: float) -> kp.Mechanism:
    """The mechanism with its crank at an angle, from points and bars."""
    m = kp.Mechanism("slider-crank", gravity=(0, -9.81))
    pivot = m.point("0", at=(0, 0), fixed="xy")
    pin = m.point("1", at=(cos(theta), sin(theta)))
    slider = m.point("2", at=(2 * cos(theta), 0), fixed="y")
    m.bar("crank", pivot, pin, length=1, mass=1)
    m.bar("coupler", pin, slider, length=1, mass=1)
    return m


def rows() -> Iterator[Row]:
    """Every value of the case."""
    m = slider_crank(pi / 4)
    yield from _mass_matrix(m)
    yield from _regular(m)
    yield from _singular(slider_crank(pi / 2))


def _mass_matrix(m: kp.Mechanism) -> Iterator[Row]:
    posed = Posed(m)
    matrix = 6 * posed.system.mass_matrix(posed.x, posed.drawn, 0.0)
    for i, row in enumerate(MASS):
        for j, entry in enumerate(row):
            yield compare(CASE, f"6 M[{i + 1}, {j + 1}]", entry, float(matrix[i, j]), 1e-15, printed=entry)


def _values(found: kp.Accelerations) -> np.ndarray:
    return np.array([found[name] for name in NAMES])


def _regular(m: kp.Mechanism) -> Iterator[Row]:
    """The crank at 45 degrees, x2' = -2."""
    velocities = {"2.vx": -2.0}
    exact = m.accelerations(velocities)
    for name, truth in zip(NAMES, EXACT, strict=True):
        yield compare(CASE, f"45 degrees, multipliers: {name}", truth, exact[name], 1e-12)
    for name, truth in zip(("crank.length", "coupler.length"), MULTIPLIERS, strict=True):
        yield compare(CASE, f"45 degrees, multipliers: lambda of {name}", truth, exact[name], 1e-12)
    for k, iterate in enumerate(ITERATES, start=1):
        found = m.accelerations(velocities, penalty=1e4, iterations=k)
        for name, truth in zip(NAMES, iterate, strict=True):
            yield compare(CASE, f"45 degrees, alpha = 1e4, iteration {k}: {name}", truth, found[name], 1e-14)
        yield _error(f"45 degrees, alpha = 1e4: error of iteration {k}", k, found)
    first = float(np.linalg.norm(_values(m.accelerations(velocities, penalty=1e7, iterations=1)) - EXACT))
    note = "print says about 1e-12, which is what the second iteration leaves in 80-bit arithmetic"
    yield compare(
        CASE, "45 degrees, alpha = 1e7: error of iteration 1", STIFF_ERROR, first, 2e-7, printed=1e-12, note=note
    )
    second = float(np.linalg.norm(_values(m.accelerations(velocities, penalty=1e7, iterations=2)) - EXACT))
    yield compare(CASE, "45 degrees, alpha = 1e7: error of iteration 2", 4.3711228e-14, second, FLOOR / 4.37e-14)


def _error(quantity: str, k: int, found: kp.Accelerations) -> Row:
    """The error of an iterate; its own rounding error, relative to it, is what can be asked for."""
    computed = float(np.linalg.norm(_values(found) - EXACT))
    note = "print: 80-bit arithmetic" if k == 3 else ""
    if k == 4:
        note = "print: 80-bit arithmetic; the truth is below what float64 can show, and so is the computed one"
    return compare(
        CASE, quantity, ERRORS[k - 1], computed, 2e-8 + FLOOR / ERRORS[k - 1], printed=PRINTED_ERRORS[k - 1], note=note
    )


def _singular(m: kp.Mechanism) -> Iterator[Row]:
    """The crank upright, x2' = -2 and x1' = -1: the two constraints act in one direction."""
    start = kp.Pose({"1.x": 0.0, "1.y": 1.0, "2.x": 0.0})
    arguments: dict[str, Any] = {"velocities": {"1.vx": -1.0, "2.vx": -2.0}, "start": start}
    for k, truth in enumerate(SINGULAR, start=1):
        found = m.accelerations(penalty=1e4, iterations=k, **arguments)
        notes = {
            1: "print used M_yy = 1/3 instead of the printed 2/3",
            4: "print: after three iterations, to 14 digits",
        }
        printed, note = PRINTED_SINGULAR[k - 1], notes.get(k, "")
        yield compare(CASE, f"singular, iteration {k}: 1.ay", truth, found["1.ay"], 2e-15, printed=printed, note=note)
        for name in ("1.ax", "2.ax"):
            yield compare(CASE, f"singular, iteration {k}: {name}", 0.0, found[name], 1e-14, printed=0.0)
        for name in ("crank.length", "coupler.length"):
            quantity = f"singular, iteration {k}: lambda of {name}"
            yield compare(CASE, quantity, SINGULAR_MULTIPLIERS[k - 1], found[name], 1e-11)
    found = m.accelerations(**arguments)
    for name, truth in zip(NAMES, (0.0, -1.0, 0.0), strict=True):
        yield compare(CASE, f"singular, without penalty: {name}", truth, found[name], 1e-14, printed=truth)
    both = found["crank.length"] + found["coupler.length"]
    note = "only the sum is determined in the singular position"
    yield compare(CASE, "singular, without penalty: sum of lambdas", -9.1433333333333333333, both, 1e-12, note=note)
