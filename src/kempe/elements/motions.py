"""Laws of motion: what a driver asks a quantity to do in time.

A law is constant speed, harmonic, a rise with dwells on both sides (cycloidal, 3-4-5 polynomial, harmonic), a spline
through data, or any Python function of time. The numbers of the built-in laws are data of the driver, so that they
may be design parameters and changing them compiles nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import casadi as ca

from kempe.elements.base import Field
from kempe.elements.functions import scalar_expression
from kempe.elements.numbers import Number, number, positive, shown
from kempe.elements.sources import Source
from kempe.elements.tables import table
from kempe.errors import ModelError


class Law(Field):
    """A function of time with numbers of its own. A ``start`` of None means: from the drawn value."""

    def __init__(self, **numbers: Any) -> None:
        self.numbers: dict[str, Any] = {
            key: value if key == "start" and value is None else number(value, f"{type(self).__name__}: {key}")
            for key, value in numbers.items()
        }

    def starting(self, drawn: Number) -> Law:
        """The same law with a missing start filled in."""
        if "start" in self.numbers and self.numbers["start"] is None:
            return type(self)(**{**self.numbers, "start": drawn})
        return self

    def data(self) -> Iterable[Number]:
        return self.numbers.values()

    def told(self) -> str:
        return f"the law kp.{type(self).__name__}"

    def at(self, t: Any, **numbers: Any) -> Any:
        """The value at time t."""
        raise NotImplementedError

    def symbolic(self, source: Source) -> Any:
        values = source.numbers(list(self.numbers.values()))
        return self.at(source.t, **dict(zip(self.numbers, values, strict=True)))


class constant_speed(Law):
    """start + speed * t."""

    def __init__(self, speed: Any, start: Any = None) -> None:
        super().__init__(speed=speed, start=start)

    def at(self, t: Any, *, speed: Any, start: Any) -> Any:  # type: ignore[override]
        return start + speed * t


class constant_acceleration(Law):
    """start + speed * t + acceleration * t^2 / 2."""

    def __init__(self, acceleration: Any, speed: Any = 0.0, start: Any = None) -> None:
        super().__init__(acceleration=acceleration, speed=speed, start=start)

    def at(self, t: Any, *, acceleration: Any, speed: Any, start: Any) -> Any:  # type: ignore[override]
        return start + t * (speed + acceleration * t / 2)


class harmonic(Law):
    """start + amplitude * (sin(omega t + phase) - sin(phase)): begins at ``start``."""

    def __init__(self, amplitude: Any, omega: Any, phase: Any = 0.0, start: Any = None) -> None:
        super().__init__(amplitude=amplitude, omega=omega, phase=phase, start=start)

    def at(self, t: Any, *, amplitude: Any, omega: Any, phase: Any, start: Any) -> Any:  # type: ignore[override]
        return start + amplitude * (ca.sin(omega * t + phase) - ca.sin(phase))


class Rise(Law):
    """A rise by ``rise`` that begins at time ``begin`` and takes ``duration``, with dwells before and after."""

    def __init__(self, rise: Any, duration: Any, begin: Any = 0.0, start: Any = None) -> None:
        super().__init__(
            rise=rise, duration=positive(duration, f"{type(self).__name__}: duration"), begin=begin, start=start
        )

    def shape(self, s: Any) -> Any:
        """The fraction of the rise reached at the fraction s of the duration."""
        raise NotImplementedError

    def at(self, t: Any, *, rise: Any, duration: Any, begin: Any, start: Any) -> Any:  # type: ignore[override]
        s = (t - begin) / duration
        return start + rise * ca.if_else(s <= 0, 0.0, ca.if_else(s >= 1, 1.0, self.shape(s)))


class cycloidal(Rise):
    """s - sin(2 pi s)/(2 pi): velocity and acceleration vanish at both ends."""

    def shape(self, s: Any) -> Any:
        return s - ca.sin(2 * ca.pi * s) / (2 * ca.pi)


class polynomial345(Rise):
    """10 s^3 - 15 s^4 + 6 s^5: velocity and acceleration vanish at both ends."""

    def shape(self, s: Any) -> Any:
        return s**3 * (10 + s * (-15 + 6 * s))


class harmonic_rise(Rise):
    """(1 - cos(pi s))/2: velocity vanishes at both ends, acceleration jumps there."""

    def shape(self, s: Any) -> Any:
        return (1 - ca.cos(ca.pi * s)) / 2


class spline(Law):
    """A C2 cubic spline through (times, values); beyond the data its end pieces go on, unless ``outside`` says else.

    It is ``kp.table(times, values)`` read at the time. ``outside`` is "extrapolate", "hold" or "error".
    """

    def __init__(
        self, times: Any, values: Any, periodic: bool = False, ends: str = "not-a-knot", outside: str = "extrapolate"
    ) -> None:
        super().__init__()
        self.table = table(times, values, periodic=periodic, ends=ends, outside=outside, name="spline")
        #: As given, for files.
        given = self.table.given
        self.given = {"times": given["x"], "values": given["y"], "periodic": given["periodic"], "ends": ends}
        self.given |= {} if outside == "extrapolate" else {"outside": outside}

    def structure(self) -> Hashable:
        return (spline, self.table.structure())

    def symbolic(self, source: Source) -> Any:
        return self.table(source.t)


class traced(Law):
    """A user's Python function of time, written with CasADi operations (``lambda t: kp.sin(3 * t) + L``).

    It is given the time and nothing else; further arguments need a default, which they keep.
    """

    def __init__(self, function: Callable[[Any], Any], what: str) -> None:
        super().__init__()
        self.expression = scalar_expression(function, ["t"], f"{what}: the function of time")

    def data(self) -> Iterable[Number]:
        return self.expression.data()

    def structure(self) -> Hashable:
        return (traced, self.expression.structure())

    def symbolic(self, source: Source) -> Any:
        return self.expression.symbolic(source)(source.t)


def as_law(value: Any, what: str) -> Law:
    """A law as it is; a function of time traced; a number held."""
    if isinstance(value, Law):
        return value
    if isinstance(value, type) and issubclass(value, Law):
        takes = ", ".join(inspect.signature(value).parameters)
        raise ModelError(f"{what}: a law has numbers of its own: write kp.{value.__name__}({takes})")
    if isinstance(value, str):
        raise ModelError(
            f"{what}: a motion is a law such as kp.constant_speed(2.0), a function of time, or a number to hold, "
            f"not {shown(value)}"
        )
    if callable(value) and not isinstance(value, ca.SX):
        return traced(value, what)
    return constant_speed(0.0, start=number(value, f"{what}: the value to hold"))
