"""Laws of friction: what resists sliding, as a share of the normal force.

``Coulomb`` sticks exactly: surfaces at rest are held by a constraint. The others are smooth: forces that depend on the
sliding velocity alone, or, in LuGre's law, on the deflection of bristles too. They creep where Coulomb's law holds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, ClassVar

import casadi as ca

from kempe.elements.base import Limit
from kempe.elements.laws import NumberedLaw, refuse_other
from kempe.elements.numbers import Number, evaluate, not_negative, positive, shown, unless_zero, vector
from kempe.elements.sources import Source
from kempe.errors import ModelError

#: Bristles that are bent less are straight: so they are finite where nothing presses.
STRAIGHT = 1e-12
#: The inertia that stands for bristles whose energy is not counted: their equation is divided by it.
UNCOUNTED = 1e-9
#: Numbers of laws that must not vanish.
SCALES = ("stribeck", "speed", "smooth", "stiffness", "first", "second")


class FrictionLaw(NumberedLaw):
    """A law of friction."""

    #: Whether it sticks: surfaces at rest hold exactly, by a constraint.
    sticks: ClassVar[bool] = False
    #: Whether it has bristles, whose deflection is a state.
    bristles: ClassVar[bool] = False

    def limits(self) -> Iterable[Limit]:
        """No coefficient is below zero, or the static one below the kinetic; scales are above it."""
        given = [(key, value) for key, value in self.numbers.items() if value is not None]
        found = [
            Limit(value, f"{key} of its friction must be above zero", value, strict=True)
            if key in SCALES
            else Limit(value, f"{key} of its friction must not be below zero", value)
            for key, value in given
        ]
        low, high = self.numbers["kinetic"], self.numbers.get("static")
        if low is not None and high is not None:
            words = "the static coefficient of its friction must not be below the kinetic one"
            found.append(Limit(high - low, words, high))
        return found

    def symbolic(self, source: Source) -> Any:
        law = super().symbolic(source)
        vars(law).setdefault("viscous", None)
        vars(law).update(bristles=self.bristles, share=lambda slip: self.share(law, slip))
        return law

    def share(self, law: Any, slip: Any) -> Any:
        """The share of the normal force at a sliding velocity: of a law that sticks its size, else signed."""
        raise NotImplementedError


def _coefficients(what: str, kinetic: Any, static: Any) -> tuple[Number, Number | None]:
    """The coefficients of sliding and of sticking, the second not below the first."""
    low = not_negative(kinetic, f"{what}: kinetic")
    high = None if static is None else not_negative(static, f"{what}: static")
    if high is not None and evaluate([high])[0] < evaluate([low])[0]:
        raise ModelError(
            f"{what}: the static coefficient ({evaluate([high])[0]:g}) must not be below the kinetic one "
            f"({evaluate([low])[0]:g})"
        )
    return low, high


class Coulomb(FrictionLaw):
    """Dry friction: sliding it is ``kinetic`` times the normal force, sticking at most ``static`` times (10.1, 10.2).

    Without ``static`` both coefficients are the same. With ``stribeck``, a sliding velocity, the coefficient falls from
    the static one to the kinetic one as sliding grows: mu_k + (mu_s - mu_k) exp(-(v/v_s)^2). ``viscous`` adds a force
    of so much per sliding velocity, whatever the load.
    """

    sticks = True

    def __init__(self, kinetic: Any, static: Any = None, *, stribeck: Any = None, viscous: Any = 0.0) -> None:
        what = "Coulomb friction"
        low, high = _coefficients(what, kinetic, static)
        falls = None if stribeck is None else positive(stribeck, f"{what}: stribeck")
        if falls is not None and high is None:
            raise ModelError(f"{what}: with stribeck= give static= too, from which the coefficient falls")
        super().__init__(
            kinetic=low,
            static=high,
            stribeck=falls,
            viscous=unless_zero(not_negative(viscous, f"{what}: viscous")),
        )

    def symbolic(self, source: Source) -> Any:
        law = super().symbolic(source)
        law.static = law.kinetic if law.static is None else law.static
        return law

    def share(self, law: Any, slip: Any) -> Any:
        return law.kinetic if law.stribeck is None else _falling(law.kinetic, law.static, slip / law.stribeck)


def _falling(kinetic: Any, static: Any, speed: Any) -> Any:
    """Stribeck's curve, from the static coefficient to the kinetic one."""
    return kinetic + (static - kinetic) * ca.exp(-(speed**2))


def _odd(curve: Callable[[Any], Any], slip: Any) -> Any:
    """A curve of speeds as an odd function of the velocity, whose slope at zero is the curve's."""
    return ca.if_else(slip >= 0, curve(slip), -curve(-slip))


class Threlfall(FrictionLaw):
    """Smooth friction after Threlfall (1978): mu (1 - exp(-3 v/v_r)) / (1 - exp(-3)) below the speed v_r, then mu."""

    def __init__(self, kinetic: Any, speed: Any) -> None:
        what = "Threlfall's friction"
        super().__init__(kinetic=not_negative(kinetic, f"{what}: kinetic"), speed=positive(speed, f"{what}: speed"))

    def share(self, law: Any, slip: Any) -> Any:
        def curve(v: Any) -> Any:
            s = v / law.speed
            return ca.if_else(s < 1, (1 - ca.exp(-3 * s)) / (1 - ca.exp(-3.0)), 1.0)

        return law.kinetic * _odd(curve, slip)


class RooneyDeravi(FrictionLaw):
    """Friction after Rooney and Deravi (1982): in proportion to the velocity below ``speed``, mu above it."""

    def __init__(self, kinetic: Any, speed: Any) -> None:
        what = "Rooney and Deravi's friction"
        super().__init__(kinetic=not_negative(kinetic, f"{what}: kinetic"), speed=positive(speed, f"{what}: speed"))

    def share(self, law: Any, slip: Any) -> Any:
        return law.kinetic * _odd(lambda v: ca.if_else(v < law.speed, v / law.speed, 1.0), slip)


class ModifiedCoulomb(FrictionLaw):
    """Smooth friction after Bai and Zhao (2013): up to mu_s at the first of two ``speeds``, down to mu_k at the second.

    mu = mu_s (3 s - s^3)/2 with s = v/v_s below v_s; mu_s + (mu_k - mu_s) x^2 (3 - 2 x) with x = (v - v_s)/(v_d - v_s)
    below v_d; mu_k above: equation (20) of the paper with its signs mended.
    """

    def __init__(self, kinetic: Any, static: Any, speeds: Any) -> None:
        what = "modified Coulomb friction"
        low, high = _coefficients(what, kinetic, static)
        first, second = (positive(v, f"{what}: speeds") for v in vector(speeds, f"{what}: speeds"))
        if evaluate([second])[0] <= evaluate([first])[0]:
            raise ModelError(f"{what}: the second of the speeds must be above the first")
        super().__init__(kinetic=low, static=high, first=first, second=second)

    @property
    def given(self) -> dict[str, Any]:
        n = self.numbers
        return {"kinetic": n["kinetic"], "static": n["static"], "speeds": (n["first"], n["second"])}

    def share(self, law: Any, slip: Any) -> Any:
        def curve(v: Any) -> Any:
            s, x = v / law.first, (v - law.first) / (law.second - law.first)
            down = law.static + (law.kinetic - law.static) * x**2 * (3 - 2 * x)
            return ca.if_else(s < 1, law.static * (3 * s - s**3) / 2, ca.if_else(x < 1, down, law.kinetic))

        return _odd(curve, slip)


class Stribeck(FrictionLaw):
    """Smooth Stribeck friction: tanh(v/v_0) (mu_k + (mu_s - mu_k) exp(-(v/v_s)^2)), and a viscous force.

    ``speed`` is v_s; ``smooth`` is v_0, a tenth of it unless given. Coulomb's law with ``stribeck`` has the same curve
    and sticks.
    """

    def __init__(self, kinetic: Any, static: Any, speed: Any, *, smooth: Any = None, viscous: Any = 0.0) -> None:
        what = "Stribeck friction"
        low, high = _coefficients(what, kinetic, static)
        falls = positive(speed, f"{what}: speed")
        rises = falls / 10 if smooth is None else positive(smooth, f"{what}: smooth")
        resisting = unless_zero(not_negative(viscous, f"{what}: viscous"))
        super().__init__(kinetic=low, static=high, speed=falls, smooth=rises, viscous=resisting)

    def share(self, law: Any, slip: Any) -> Any:
        return ca.tanh(slip / law.smooth) * _falling(law.kinetic, law.static, slip / law.speed)


class LuGre(FrictionLaw):
    """LuGre's law (Canudas de Wit and others, 1995): bristles of a ``stiffness`` that bend, slip and are damped.

    Their deflection z follows z' = v - s0 abs(v) z / (N g(v)) with Stribeck's curve g(v) = mu_k + (mu_s - mu_k)
    exp(-(v/v_s)^2); the friction is s0 z + s1 z' + s2 v, s0 being ``stiffness``, s1 ``damping``, s2 ``viscous``. The
    energy of the bristles, s0 z^2/2, is counted. ``speed`` is v_s.

    With ``per_load`` the bristles are as stiff as they are pressed, which contacts that open need: z' = v - s0 abs(v) z
    / g(v), and the friction is N (s0 z + s1 z') + s2 v, so that s0 is one over a length and s1 one over a velocity.
    Bristles are straight where surfaces meet. Their energy follows the load, and is not counted: what friction takes is
    lost at once.
    """

    bristles = True

    def __init__(
        self,
        kinetic: Any,
        static: Any,
        speed: Any,
        stiffness: Any,
        *,
        damping: Any = 0.0,
        viscous: Any = 0.0,
        per_load: bool = False,
    ) -> None:
        what = "LuGre friction"
        if not isinstance(per_load, bool):
            raise ModelError(f"{what}: per_load must be True or False, not {shown(per_load)}")
        #: Whether the bristles are as stiff as they are pressed.
        self.per_load = per_load
        low, high = _coefficients(what, kinetic, static)
        super().__init__(
            kinetic=low,
            static=high,
            speed=positive(speed, f"{what}: speed"),
            stiffness=positive(stiffness, f"{what}: stiffness"),
            damping=unless_zero(not_negative(damping, f"{what}: damping")),
            viscous=unless_zero(not_negative(viscous, f"{what}: viscous")),
        )
        if evaluate([low])[0] == 0.0:
            raise ModelError(f"{what}: kinetic must be above zero: bristles that bear nothing do not bend")

    @property
    def given(self) -> dict[str, Any]:
        return super().given | ({"per_load": True} if self.per_load else {})

    def structure(self) -> Hashable:
        return (super().structure(), self.per_load)

    def symbolic(self, source: Source) -> Any:
        law = super().symbolic(source)
        law.inertia = UNCOUNTED if self.per_load else law.stiffness
        law.bristling = lambda *state: self.bristling(law, *state)
        return law

    def share(self, law: Any, slip: Any) -> Any:
        return _falling(law.kinetic, law.static, slip / law.speed)

    def bristling(self, law: Any, slip: Any, pressed: Any, bent: Any) -> tuple[Any, Any]:
        """The force of bent bristles, and how fast they bend further: z, or s0 z where they are per load."""
        if self.per_load:
            bending = law.stiffness * (slip - ca.fabs(slip) * bent / self.share(law, slip))
            force = bent if law.damping is None else bent + law.damping / law.stiffness * bending
            return pressed * force, bending
        borne = ca.fmax(self.share(law, slip) * pressed, STRAIGHT * law.stiffness)
        bending = slip - law.stiffness * ca.fabs(slip) * bent / borne
        force = law.stiffness * bent
        return force if law.damping is None else force + law.damping * bending, bending


def refuse_unloaded(law: FrictionLaw, what: str) -> None:
    """Refuse bristles that keep their force where nothing presses, in a contact that opens."""
    if isinstance(law, LuGre) and not law.per_load:
        raise ModelError(
            f"{what}: LuGre's bristles need surfaces that stay pressed; this contact opens: give kp.LuGre "
            "per_load=True, and stiffness and damping for one unit of load"
        )


#: The laws by the words that files have for them.
LAWS: dict[str, type[FrictionLaw]] = {
    "coulomb": Coulomb,
    "threlfall": Threlfall,
    "rooney_deravi": RooneyDeravi,
    "modified_coulomb": ModifiedCoulomb,
    "stribeck": Stribeck,
    "lugre": LuGre,
}
FrictionLaw.words = LAWS


def as_friction(value: Any, what: str) -> FrictionLaw | None:
    """A law of friction as it is; a coefficient as Coulomb's; None for none."""
    if value is None or isinstance(value, FrictionLaw):
        return value
    refuse_other(value, what, FrictionLaw, "a coefficient or ")
    coefficient = unless_zero(not_negative(value, what))
    return None if coefficient is None else Coulomb(coefficient)
