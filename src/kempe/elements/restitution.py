"""The exact restitution of contact laws that damp in proportion to their elastic force.

Where a force f(d) (1 + a d'/v) acts on an impact that begins with the approach velocity v, the velocities on the way
follow from v' dv' / (1 + a v'/v) = -f dd / m, whatever f and m are. Both phases take the same elastic work, so that the
restitution e depends on the loss a alone:

    a - ln(1 + a) = -a e - ln(1 - a e).
"""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
from scipy.optimize import brentq

from kempe.elements.numbers import Number, evaluate
from kempe.errors import ModelError

#: Below this, power series take the place of differences that cancel.
SMALL = 0.1
#: So many terms of them, and so many steps of Newton's method where a restitution is an expression.
TERMS, NEWTON = 18, 12


def _series(x: Any, terms: list[float]) -> Any:
    total: Any = 0.0
    for c in reversed(terms):
        total = total * x + c
    return total


#: x - ln(1 + x), and w - 1 + exp(-w), over x^2 and w^2.
_LOSS = [(-1.0) ** k / (k + 2) for k in range(TERMS)]
_RETURN = [(-1.0) ** k / math.factorial(k + 2) for k in range(TERMS)]


def _lost(a: Any) -> Any:
    """(a - ln(1 + a)) / a^2."""
    if not isinstance(a, ca.SX):
        return _series(a, _LOSS) if a < SMALL else (a - math.log1p(a)) / a**2
    away = ca.fmax(a, SMALL)
    return ca.if_else(a < SMALL, _series(a, _LOSS), (away - ca.log1p(away)) / away**2)


def _returned(w: Any) -> Any:
    """(w - 1 + exp(-w)) / w^2."""
    if not isinstance(w, ca.SX):
        return _series(w, _RETURN) if w < SMALL else (w + math.expm1(-w)) / w**2
    away = ca.fmax(w, SMALL)
    return ca.if_else(w < SMALL, _series(w, _RETURN), (away + ca.expm1(-away)) / away**2)


def restitution_of(loss: float) -> float:
    """The restitution that a loss a of a force f(d) (1 + a d'/v) leads to, whatever the elastic force and the masses.

    With w = -ln(1 - a e) the exact relation is w - 1 + exp(-w) = a - ln(1 + a), which has one solution.
    """
    a = float(loss)
    if not a >= 0.0 or math.isinf(a):
        raise ModelError(f"a loss is a number that is not below zero, not {loss!r}")
    if a < 1e-8:  # the beginning of its power series, to the last digit
        return 1.0 - 2.0 / 3.0 * a
    wanted = a * a * _lost(a) if a < SMALL else a - math.log1p(a)
    # the left side is below w and w^2/2, above w - 1, and above w^2/3 up to w = 1
    low, high = max(wanted, math.sqrt(2.0 * wanted)), math.sqrt(3.0 * wanted) if 3.0 * wanted < 1.0 else wanted + 1.0

    def beyond(w: float) -> float:
        return float((w * w * _returned(w) if w < SMALL else w + math.expm1(-w)) - wanted)

    w = brentq(beyond, 0.999 * low, 1.001 * high, xtol=1e-300, rtol=1e-15)
    return -math.expm1(-w) / a


def loss_of(restitution: Number) -> Number:
    """The loss a with which a force f(d) (1 + a d'/v) has exactly this restitution, above 0 and at most 1.

    An expression of parameters gives an expression: Newton's method, written out.
    """
    if not isinstance(restitution, ca.SX):
        return _exact_loss(float(restitution))
    _exact_loss(float(evaluate([restitution])[0]))  # a mistake shows now
    w, e = ca.SX.sym("w"), ca.SX(restitution)
    loss = -ca.expm1(-w) / e
    # both sides over w^2, without the double root at zero
    gap = _lost(loss) * (loss / w) ** 2 - _returned(w)
    better = ca.Function("better", [w, e], [ca.fmax(w - gap / ca.jacobian(gap, w), 0.2 * w)])
    d = 1.0 - e**2
    found: Any = ca.if_else(e < 0.5, d / e + d - ca.log1p(d / e), 1.5 * ca.fmax(1.0 - e, 1e-12))
    for _ in range(NEWTON):
        found = better(found, e)
    return ca.SX(-ca.expm1(-found) / e)


def _exact_loss(e: float) -> float:
    if not 0.0 < e <= 1.0:
        raise ModelError(f"a restitution is above 0 and at most 1, not {e:g}")
    if 1.0 - e < 1e-8:  # the beginning of its power series, to the last digit
        return 1.5 * (1.0 - e) * (2.0 - e)
    # a e / (1 - e) falls from 3/2, where little is lost, to 1, where all is
    scale = (1.0 - e) / e
    return float(brentq(lambda a: restitution_of(a) - e, 0.999 * scale, 1.501 * scale, xtol=1e-300, rtol=1e-15))
