"""The formulations and integrators that simulate offers, by name. A new one is a solver and a line in this table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kempe.calling import suggestion
from kempe.elements import plain_number, shown
from kempe.errors import ModelError


@dataclass(frozen=True)
class Method:
    """A formulation with its integrator: which solver runs it, how, and what it can be told."""

    name: str
    solver: str
    summary: str
    options: dict[str, Any] = field(default_factory=dict)
    order: int = 2
    #: Whether it has multipliers within its steps, on which forces may depend.
    multipliers: bool = True


METHODS: dict[str, Method] = {
    m.name: m
    for m in (
        Method("auto", "auto", "'projection', and 'radau' from where the motion turns out to be stiff", order=8),
        Method(
            "projection",
            "runge-kutta",
            "Lagrange multipliers (index 1), explicit Runge-Kutta of order 8, projected to the constraints every step",
            options={"project": True},
            order=8,
        ),
        Method(
            "baumgarte",
            "runge-kutta",
            "Lagrange multipliers with Baumgarte's stabilisation, explicit Runge-Kutta of order 8",
            options={"project": False, "omega": 10.0, "damping": 1.0},
            order=8,
        ),
        Method(
            "penalty",
            "runge-kutta",
            "penalty forces instead of multipliers, explicit Runge-Kutta of order 8",
            options={"project": False, "penalty": None, "omega": 10.0, "damping": 1.0, "iterations": 0},
            order=8,
        ),
        Method(
            "augmented",
            "runge-kutta",
            "augmented Lagrangian in accelerations (eq. 10.91), explicit Runge-Kutta of order 8",
            options={"project": True, "penalty": None, "omega": 10.0, "damping": 1.0, "iterations": 5},
            order=8,
        ),
        Method(
            "canonical",
            "canonical",
            "augmented Lagrangian in canonical momenta (eq. 10.92), explicit Runge-Kutta of order 8",
            options={"project": True, "penalty": None, "omega": 10.0, "damping": 1.0, "iterations": 5},
            order=8,
            multipliers=False,
        ),
        Method(
            "independent",
            "independent",
            "independent coordinates by the R matrix (eq. 10.90), chosen again when needed, Runge-Kutta of order 8",
            order=8,
        ),
        Method(
            "alpha",
            "newmark",
            "generalised-alpha on index 3, order 2",
            options={"radius": 0.9},
        ),
        Method(
            "radau",
            "radau",
            "Radau IIA of order 5, constraints at velocity level, positions projected: for stiff systems",
            order=5,
        ),
        Method(
            "bdf",
            "bdf",
            "backward differentiation of order 1 to 5, stabilised index 2 (Gear, Gupta, Leimkuhler)",
            options={"order": 5},
            order=5,
        ),
        Method(
            "bdf3",
            "bdf",
            "backward differentiation of order 1 to 5 on index 3, as in DADS",
            options={"order": 5},
            order=5,
        ),
        Method(
            "ali3p",
            "newmark",
            "augmented Lagrangian of index 3, trapezoidal rule, velocities and accelerations projected, order 2",
            options={"penalty": None},
        ),
    )
}


def _flag(value: Any) -> Any:
    if not isinstance(value, (bool, np.bool_)):
        raise ModelError("must be True or False")
    return bool(value)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ModelError("must be a whole number of at least 0")
    return int(value)


def _number(low: float, high: float = np.inf, *, above: bool = False) -> Callable[[Any], float]:
    def checked(value: Any) -> float:
        number = plain_number(value, "the value")
        if not (low < number if above else low <= number) or not number <= high:
            limit = f" and at most {high:g}" if high < np.inf else ""
            raise ModelError(f"must be {'above' if above else 'at least'} {low:g}{limit}")
        return number

    return checked


def _penalty(value: Any) -> Any:
    """One number, or numbers by row or joint."""
    if value is None:
        return None
    above = _number(0.0, above=True)
    if not isinstance(value, Mapping):
        return above(value)
    try:
        return {str(name): above(one) for name, one in value.items()}
    except ModelError as error:
        raise ModelError(f"by row or joint {error}") from None


#: What each option may be.
OPTIONS: dict[str, Callable[[Any], Any]] = {
    "project": _flag,
    "iterations": _count,
    "penalty": _penalty,
    "omega": _number(0.0),
    "damping": _number(0.0),
    "radius": _number(0.0, 1.0),
    "order": lambda value: int(_number(1, 5)(_count(value))),
}


def given_options(**options: Any) -> dict[str, Any]:
    """The options that were given; what is None stays as the method has it."""
    return {key: value for key, value in options.items() if value is not None}


def method_named(name: str, options: dict[str, Any]) -> tuple[Method, dict[str, Any]]:
    """A method and its options, the given ones in place of the defaults."""
    if not isinstance(name, str) or name not in METHODS:
        hint = suggestion(name, METHODS) if isinstance(name, str) else ""
        raise ModelError(f"there is no method {shown(name)}{hint or '; the methods are ' + ', '.join(METHODS)}")
    method = METHODS[name]
    checked: dict[str, Any] = {}
    for key, value in options.items():
        if key not in method.options:
            known = ", ".join(method.options) or "none"
            having = [m.name for m in METHODS.values() if key in m.options]
            others = f"; methods that have it: {', '.join(having)}" if having else ""
            raise ModelError(f"method '{name}' has no option '{key}'; its options: {known}{others}")
        try:
            checked[key] = OPTIONS[key](value)
        except ModelError as error:
            raise ModelError(f"method '{name}': option '{key}' {error}, not {shown(value)}") from None
    return method, {**method.options, **checked}
