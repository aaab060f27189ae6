"""Contact laws: the force between surfaces that are pressed into each other, from the depth, its rate and the approach.

Most are an elastic force f(d) with a loss in proportion to it, f(d) (1 + a d'/v), v being the velocity with which the
surfaces first met. ``restitution`` has what follows from a, exactly.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, ClassVar

import casadi as ca

from kempe.elements.contact_base import SLOWEST, ContactLaw, Surfaces
from kempe.elements.films import LongBearing, ShortBearing
from kempe.elements.laws import refuse_other
from kempe.elements.numbers import Number, evaluate, not_negative, number, positive, shown, unless_zero
from kempe.elements.own_contact import contact_law
from kempe.elements.restitution import loss_of, restitution_of
from kempe.errors import ModelError

#: The exponent of Hertz's law for surfaces that touch in a point.
HERTZ = 1.5


def _both(value: Any, what: str, check: Callable[[Any, str], Number]) -> tuple[Number, Number]:
    """A number of both surfaces, or a pair of numbers."""
    pair = tuple(value) if isinstance(value, (list, tuple)) else (value, value)
    if len(pair) != 2:
        raise ModelError(f"{what} is a number, or a pair of numbers for the two surfaces, not {shown(value)}")
    return check(pair[0], what), check(pair[1], what)


def contact_modulus(youngs: Any, poisson: Any) -> Number:
    """E* of two surfaces: 1/E* = (1 - nu_1^2)/E_1 + (1 - nu_2^2)/E_2; a number stands for both, a pair for each."""
    moduli = _both(youngs, "Young's modulus", positive)
    ratios = _both(poisson, "Poisson's ratio", number)
    for nu in evaluate(list(ratios)):
        if not -1.0 < nu <= 0.5:
            raise ModelError(f"Poisson's ratio is above -1 and at most 0.5, not {nu:g}")
    return 1.0 / sum((1.0 - nu**2) / e for e, nu in zip(moduli, ratios, strict=True))


def hertz_stiffness(youngs: Any, poisson: Any, radii: Any, *, inside: bool = False) -> Number:
    """K of Hertz's law K d^1.5 for two spheres, 4/3 E* sqrt(R), with 1/R = 1/R1 + 1/R2, or 1/R2 - 1/R1 ``inside``.

    Clearance joints use it too (Lankarani and Nikravesh, 1990; Zhang and others, 2014, eq. 5), although a pin in a hole
    touches along a line: give a stiffness where one is known.
    """
    first, second = (positive(r, "a radius") for r in _both(radii, "radii", positive))
    found = Surfaces(first, second, inside)
    if inside and evaluate([first - second])[0] <= 0.0:
        raise ModelError("the first radius must be larger than the one inside")
    return _hertz(contact_modulus(youngs, poisson), found)


def _hertz(modulus: Number, surfaces: Surfaces) -> Number:
    assert surfaces.radius is not None
    r = surfaces.radius  # of designs whose journal has no room it is below zero, which is said elsewhere
    root = ca.sqrt(ca.fmax(r, 0.0)) if isinstance(r, ca.SX) else math.sqrt(r)
    return 4.0 / 3.0 * modulus * root


def _power(law: Any, depth: Any) -> Any:
    """depth^n; None stands for Hertz's 1.5."""
    return depth * _root(depth) if law.exponent is None else depth**law.exponent


def _root(value: Any) -> Any:
    """The square root, whose derivative at zero is taken as zero: it is multiplied by zero there."""
    return ca.if_else(value > 0, ca.sqrt(value), 0.0)


def _exponent(value: Any, what: str) -> Number | None:
    n = positive(value, f"{what}: exponent")
    return None if not isinstance(n, ca.SX) and n == HERTZ else n


class KelvinVoigt(ContactLaw):
    """A spring and a damper side by side: force k d^n + c d', which never pulls."""

    def __init__(self, stiffness: Any, damping: Any = 0.0, exponent: Any = 1.0) -> None:
        given = {"stiffness": stiffness, "damping": damping, "exponent": exponent}
        what = "a spring and damper"
        n = positive(exponent, f"{what}: exponent")
        super().__init__(
            given,
            stiffness=positive(stiffness, f"{what}: stiffness"),
            damping=unless_zero(not_negative(damping, f"{what}: damping")),
            exponent=n if isinstance(n, ca.SX) or n != 1.0 else None,
        )

    def pressed(self, law: Any, depth: Any) -> Any:
        """A linear spring needs no guard against negative depths, and is smooth without."""
        return depth if law.exponent is None else ca.fmax(depth, 0.0)

    def elastic(self, law: Any, depth: Any) -> Any:
        return law.stiffness * (depth if law.exponent is None else depth**law.exponent)

    def stored(self, law: Any, depth: Any) -> Any:
        n = law.exponent
        return law.stiffness * (depth**2 / 2 if n is None else depth ** (n + 1) / (n + 1))

    def damper(self, law: Any, depth: Any, rate: Any, speed: Any) -> Any:
        return None if law.damping is None else law.damping * rate

    def presses(self, law: Any, depth: Any, rate: Any, speed: Any) -> Any:
        return None if law.damping is None else self.elastic(law, depth) + law.damping * rate


class ElasticContact(ContactLaw):
    """A law that is elastic, or elastic with a loss in proportion, f(d) (1 + a d'/v).

    ``_restitution`` is what the law is told, and ``_loss`` says which loss it makes of that; the true restitution
    differs from what is told but for laws that are exact.
    """

    latched = True
    #: What is said of the law.
    what: ClassVar[str] = "a contact law"
    #: Whether a restitution of zero can be told.
    plastic: ClassVar[bool] = True

    def _losing(self, restitution: Any, slowest: Any) -> dict[str, Number | None]:
        """The numbers of the loss."""
        e = not_negative(restitution, f"{self.what}: restitution")
        value = evaluate([e])[0]
        if value > 1.0 or (value == 0.0 and not self.plastic):
            low = "from" if self.plastic else "above"
            raise ModelError(f"{self.what}: its restitution is {low} 0 to 1, not {value:g}")
        self._told = e
        return {
            "loss": unless_zero(self._loss(e)),
            "slowest": positive(slowest, f"{self.what}: slowest"),
        }

    @classmethod
    def _loss(cls, restitution: Number) -> Number:
        raise NotImplementedError

    @property
    def loss(self) -> float:
        """The loss a, with the parameters as they are now."""
        loss = self.numbers.get("loss")
        return 0.0 if loss is None else float(evaluate([loss])[0])

    @property
    def true_restitution(self) -> float:
        """The restitution of an impact between free bodies under this law, exactly (its own number is only near it)."""
        return restitution_of(self.loss)

    @classmethod
    def nominal_for(cls, restitution: float) -> float:
        """What this law has to be told so that impacts have a wanted restitution."""
        from scipy.optimize import brentq

        wanted = float(loss_of(restitution))
        if wanted == 0.0:
            return 1.0
        low = 0.0 if cls.plastic else 1e-12
        most = float(cls._loss(low))
        if wanted > most:
            raise ModelError(
                f"{cls.what} has no restitution below {restitution_of(most):.6g}, so not {restitution:g}; "
                "kp.Gonthier is exact for every one"
            )
        return float(brentq(lambda e: float(cls._loss(e)) - wanted, low, 1.0, xtol=1e-15, rtol=1e-15))

    def damper(self, law: Any, depth: Any, rate: Any, speed: Any) -> Any:
        return None if law.loss is None else self.elastic(law, depth) * law.loss * rate / speed

    def presses(self, law: Any, depth: Any, rate: Any, speed: Any) -> Any:
        return None if law.loss is None else speed + law.loss * rate


class Hertzian(ElasticContact):
    """Laws with Hertz's elastic force K d^n: K is given, or follows from the materials and the radii."""

    def __init__(
        self, restitution: Any, stiffness: Any, youngs: Any, poisson: Any, exponent: Any, slowest: Any
    ) -> None:
        given = {"stiffness": stiffness, "youngs": youngs, "poisson": poisson}
        if restitution is not None:
            given |= {"restitution": restitution, "slowest": slowest}
        material = youngs is not None or poisson is not None
        if material == (stiffness is not None) or (material and (youngs is None or poisson is None)):
            raise ModelError(f"{self.what}: give its stiffness=, or youngs= and poisson= of the surfaces")
        k = contact_modulus(youngs, poisson) if material else positive(stiffness, f"{self.what}: stiffness")
        #: Whether the stiffness is still to be found from the surfaces.
        self.of_material = material
        n = _exponent(exponent, self.what)
        if material and n is not None:
            raise ModelError(
                f"{self.what}: a stiffness from the materials is that of the exponent 1.5: leave exponent= out"
            )
        losing = {"loss": None} if restitution is None else self._losing(restitution, slowest)
        super().__init__({**given, "exponent": exponent}, stiffness=k, exponent=n, **losing)

    def fitted(self, what: str, surfaces: Surfaces | None) -> ContactLaw:
        if not self.of_material:
            return self
        if surfaces is None or surfaces.radius is None:
            raise ModelError(f"{what}: {self.told()} needs a stiffness= here, where there are no radii")
        found = copy.copy(self)
        vars(found)["of_material"] = False
        vars(found)["numbers"] = {**self.numbers, "stiffness": _hertz(self.numbers["stiffness"], surfaces)}  # type: ignore[arg-type]
        return found

    def elastic(self, law: Any, depth: Any) -> Any:
        return law.stiffness * _power(law, depth)

    def stored(self, law: Any, depth: Any) -> Any:
        n = HERTZ if law.exponent is None else law.exponent
        return law.stiffness * _power(law, depth) * depth / (n + 1)


class Hertz(Hertzian):
    """Hertz's elastic contact, K d^n without loss (Zhang and others, 2014, eq. 4): impacts have the restitution 1.

    ``stiffness`` is K, or follows from ``youngs`` and ``poisson`` (numbers for both surfaces, or pairs) and the radii.
    """

    what = "Hertz's contact"
    latched = False

    def __init__(
        self, stiffness: Any = None, *, youngs: Any = None, poisson: Any = None, exponent: Any = HERTZ
    ) -> None:
        super().__init__(None, stiffness, youngs, poisson, exponent, None)


class _Lossy(Hertzian):
    """Hertz's contact with a loss."""

    def __init__(
        self,
        restitution: Any,
        stiffness: Any = None,
        *,
        youngs: Any = None,
        poisson: Any = None,
        exponent: Any = HERTZ,
        slowest: Any = SLOWEST,
    ) -> None:
        super().__init__(restitution, stiffness, youngs, poisson, exponent, slowest)


class LankaraniNikravesh(_Lossy):
    """Lankarani and Nikravesh (1990): K d^n (1 + 3/4 (1 - c^2) d'/v), c being the ``restitution`` told (eq. 7).

    It is made for c near 1: the true restitution is 0.91318 for c = 0.9, 0.72524 for 0.5, and never below 0.66296.
    ``stiffness`` is K, or follows from ``youngs`` and ``poisson`` (numbers for both surfaces, or pairs) and the radii.
    Surfaces that meet more slowly than ``slowest`` are taken to meet at that velocity: the law divides by it.
    """

    what = "Lankarani and Nikravesh's contact"

    @classmethod
    def _loss(cls, restitution: Number) -> Number:
        return 0.75 * (1.0 - restitution**2)


class HuntCrossley(_Lossy):
    """Hunt and Crossley (1975): K d^n (1 + 3/2 (1 - c) d'/v); the numbers are as for Lankarani and Nikravesh."""

    what = "Hunt and Crossley's contact"

    @classmethod
    def _loss(cls, restitution: Number) -> Number:
        return 1.5 * (1.0 - restitution)


class Flores(_Lossy):
    """Flores and others (2011): K d^n (1 + 8/5 (1 - c)/c d'/v), near the truth for small c as well."""

    what = "Flores's contact"
    plastic = False

    @classmethod
    def _loss(cls, restitution: Number) -> Number:
        return 1.6 * (1.0 - restitution) / restitution


class Gonthier(_Lossy):
    """A loss that gives exactly the ``restitution`` told, whatever it is (Gonthier and others, 2004).

    They solve the equation for it approximately; here it is solved to the last digit. The numbers are as for Lankarani
    and Nikravesh.
    """

    what = "Gonthier's contact"
    plastic = False

    @classmethod
    def nominal_for(cls, restitution: float) -> float:
        return restitution_of(float(loss_of(float(restitution))))

    @classmethod
    def _loss(cls, restitution: Number) -> Number:
        return loss_of(restitution)


class Conformal(ElasticContact):
    """Laws for a pin in a hole by the improved elastic foundation (Liu and others, 2007), for a clearance c:

    P(d) = pi/2 E* d sqrt(d / (2 (c + d))) is its force for one unit of ``width`` (Bai and Zhao, 2013, eq. 13).
    """

    def __init__(self, restitution: Any, youngs: Any, poisson: Any, width: Any, slowest: Any) -> None:
        given = {"youngs": youngs, "poisson": poisson, "width": width}
        if restitution is not None:
            given |= {"restitution": restitution, "slowest": slowest}
        modulus = contact_modulus(youngs, poisson)
        k = modulus if width is None else modulus * positive(width, f"{self.what}: width")
        losing = {"loss": None} if restitution is None else self._losing(restitution, slowest)
        super().__init__(given, modulus=k, clearance=None, **losing)

    def fitted(self, what: str, surfaces: Surfaces | None) -> ContactLaw:
        if surfaces is None or surfaces.clearance is None:
            raise ModelError(f"{what}: {self.told()} is for a pin in a hole, with a clearance")
        found = copy.copy(self)
        vars(found)["numbers"] = {**self.numbers, "clearance": surfaces.clearance}
        return found

    def elastic(self, law: Any, depth: Any) -> Any:
        return ca.pi / 2 * law.modulus * depth * _root(depth / (2 * (law.clearance + depth)))

    def stored(self, law: Any, depth: Any) -> Any:
        """The integral of d^1.5 (c + d)^-0.5 in closed form."""
        c, d = law.clearance, depth
        integral = ca.sqrt(d * (d + c)) * (2 * d - 3 * c) / 4 + 0.75 * c**2 * ca.asinh(ca.sqrt(d / c))
        return ca.pi / (2 * math.sqrt(2.0)) * law.modulus * integral


class ElasticFoundation(Conformal):
    """A pin in a hole by the improved elastic foundation, without loss: width * P(d) (Bai and Zhao, 2013, eq. 13).

    ``youngs`` and ``poisson`` are numbers for both surfaces, or pairs; ``width`` is that of the bearing.
    """

    what = "the elastic foundation"
    latched = False

    def __init__(self, *, youngs: Any, poisson: Any, width: Any) -> None:
        super().__init__(None, youngs, poisson, width, None)


class Hybrid(Conformal):
    """Bai and Zhao's hybrid contact (2013) as forces are: width * P(d) (1 + 3/4 (1 - c^2) exp(2 (1 - c)) d'/v).

    P is the force of the elastic foundation for one unit of width. The paper's own formula (18), whose numbers are no
    forces, is :class:`PrintedHybrid`. The true restitution is 0.8959 for c = 0.9 and 0.2175 for 0.1.
    """

    what = "the hybrid contact"

    def __init__(self, restitution: Any, *, youngs: Any, poisson: Any, width: Any, slowest: Any = SLOWEST) -> None:
        super().__init__(restitution, youngs, poisson, width, slowest)

    @classmethod
    def _loss(cls, restitution: Number) -> Number:
        growth = ca.exp(2.0 * (1.0 - restitution)) if isinstance(restitution, ca.SX) else math.exp(2 - 2 * restitution)
        return 0.75 * (1.0 - restitution**2) * growth


class PrintedHybrid(Hybrid):
    """Bai and Zhao's hybrid contact (2013) as printed, eq. (18): K_n d^1.5 (1 + loss), K_n the slope of P(d).

    K_n is a stiffness for one unit of width, so that this is no force: it is here to compare numbers with the paper, in
    metres, kilograms and seconds.
    """

    what = "the hybrid contact as printed"

    def __init__(self, restitution: Any, *, youngs: Any, poisson: Any, slowest: Any = SLOWEST) -> None:
        super().__init__(restitution, youngs=youngs, poisson=poisson, width=None, slowest=slowest)

    def elastic(self, law: Any, depth: Any) -> Any:
        c, d = law.clearance, depth
        return ca.pi * math.sqrt(2.0) / 8 * law.modulus * d**2 * (3 * c + 2 * d) / (c + d) ** 1.5

    def stored(self, law: Any, depth: Any) -> Any:
        c, u = law.clearance, law.clearance + depth

        def at(u: Any) -> Any:
            return 0.8 * u**2.5 - 2 * c * u**1.5 - 2 * c**3 / ca.sqrt(u)

        return ca.pi * math.sqrt(2.0) / 8 * law.modulus * (at(u) - at(c))


#: The laws by the words that files have for them.
CONTACT_LAWS: dict[str, type[ContactLaw]] = {
    "kelvin_voigt": KelvinVoigt,
    "hertz": Hertz,
    "lankarani_nikravesh": LankaraniNikravesh,
    "hunt_crossley": HuntCrossley,
    "flores": Flores,
    "gonthier": Gonthier,
    "elastic_foundation": ElasticFoundation,
    "hybrid": Hybrid,
    "printed_hybrid": PrintedHybrid,
    "contact_law": contact_law,
    "short_bearing": ShortBearing,
    "long_bearing": LongBearing,
}
ContactLaw.words = CONTACT_LAWS


def as_contact(value: Any, what: str, surfaces: Surfaces | None = None) -> ContactLaw:
    """A contact law as it is between these surfaces."""
    if not isinstance(value, ContactLaw):
        refuse_other(value, what, ContactLaw)
    return value.fitted(what, surfaces)  # type: ignore[no-any-return]
