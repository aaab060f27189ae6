"""Sensitivities and optimal designs of the DADS slider-crank (Haug, Wehage and Barman, 1981, Tables 6.2 to 6.4).

The truths are from the one equation of motion and its sensitivities, integrated at 1e-13, which share nothing with Kempe.
The printed gradients (Table 6.2b) are 14 to 36 % off the printed differences (Table 6.2a).
"""

from __future__ import annotations

from collections.abc import Iterator

import kempe as kp
from kempe.validation.case import Row, compare

CASE = "dads-slider-crank"
TOLERANCE = 1e-6
METHODS = ("direct", "adjoint")
FREE_LENGTH, FORCE_LIMIT, SPEED_LIMIT = 15.68, 10.0, 0.3
ENERGY = f"b1 * (spring.length - {FREE_LENGTH})**2"
"""Twice what the spring stores."""

#: By interval: b4, then psi0 (the largest energy), psi3, psi4 at the design of Table 6.2a.
VALUES = {2.0: (14.5, (15.935826640255868, 1.6850824746022e-4, 0.24493247007098468)),
          1.0: (1.2417, (1.2386359850914757, 0.0, -0.0686227018163352))}  # fmt: skip
#: By interval: derivatives of psi0, psi3, psi4 by b1, b2, b3, b4.
GRADIENTS = {
    2.0: {
        "psi0": (13.6106042736784, 0.0, 3.57071733881911, 0.0),
        "psi3": (4.6834703349e-3, 0.0, 1.22282509336e-3, -3.7720681493e-4),
        "psi4": (-0.10649957874443, 0.0, 0.29400970508736, 0.0),
    },
    1.0: {
        "psi0": (1.19033440043822, 0.0, 0.24105795426092, 0.0),
        "psi3": (0.0, 0.0, 0.0, 0.0),
        "psi4": (-0.00956981509969, 0.0, 0.06464906653573, 0.0),
    },
}
#: Table 6.2b.
PRINTED_GRADIENTS = {"psi3": (0.6115e-2, 0.0, 0.1395e-2, -0.4626e-3), "psi4": (-0.850e-1, 0.0, 0.1872, 0.0)}
#: Table 6.2a: a parameter and its change; then for psi3 and psi4 the true change, that printed and that predicted there.
CHANGES = (
    ("b1", 1e-3, (4.725242464e-6, 4.6e-6, 6.1e-6), (-1.0649074957e-4, -1e-4, -9e-5)),
    ("b3", 1e-3, (1.226009546e-6, 1.160e-6, 1.395e-6), (2.9417305511e-4, 2e-4, 2e-4)),
    ("b4", 0.0145, (-5.406638121e-6, -5.3e-6, -6.4e-6), (0.0, 0.0, 0.0)),
    ("b1", 1e-2, (5.110337347e-5, 4.933e-5, 6.115e-5), (-1.0641134024e-3, -1.0e-3, -9e-4)),
    ("b3", 1e-2, (1.254982893e-5, 1.182e-5, 1.395e-5), (2.9565129025e-3, 2.8e-3, 2.0e-3)),
    ("b4", 0.145, (-4.867606412e-5, -4.78e-5, -6.47e-5), (0.0, 0.0, 0.0)),
)


def psi() -> dict[str, kp.Functional]:
    """Equations 6.1 and 6.6 to 6.9, the integrands divided as the report does for its tables."""
    force = "{lambda.12.y}"
    return {
        "psi0": kp.maximum(ENERGY, name="psi0"),
        "psi1": kp.violation(f"-{force}", at_most=FORCE_LIMIT, name="psi1") / FORCE_LIMIT,
        "psi2": kp.violation(force, at_most=FORCE_LIMIT, name="psi2") / FORCE_LIMIT,
        "psi3": kp.violation(f"{ENERGY} / b4", at_most=1.0, name="psi3"),
        "psi4": kp.final("crank.omega") - SPEED_LIMIT,
    }


def sensitivities(m: kp.Mechanism) -> Iterator[Row]:
    """psi0 to psi4 and their gradients by both methods, and what Table 6.2a makes of changes."""
    for end, (b4, values) in VALUES.items():
        given = {"b4": b4}
        for method in METHODS:
            found = m.sensitivity(end, list(psi().values()), gradient=method, parameters=given, tolerance=1e-11)
            yield from _gradients(found, end, method, values)
    base = m.sensitivity(2.0, list(psi().values()), gradient="adjoint", tolerance=1e-11)
    for parameter, change, *told in CHANGES:
        yield from _change(m, base, parameter, change, told)
