"""Calls as users write them: one that does not fit is refused in their words, with the name that was likely meant."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

from kempe.errors import ModelError

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K", bound=type)

#: What other programs and books call an argument -> what it may be called here.
SYNONYMS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("pos", "position", "loc", "location", "xy", "point", "origin", "r"), ("at", "on", "radius")),
    **dict.fromkeys(("theta", "phi", "rotation", "orientation", "rot"), ("angle",)),
    **dict.fromkeys(("m", "weight"), ("mass",)),
    **dict.fromkeys(("I", "J", "Izz", "moment_of_inertia"), ("inertia",)),
    **dict.fromkeys(("k", "spring_constant", "rate"), ("stiffness",)),
    **dict.fromkeys(("c", "d", "viscosity", "damper"), ("damping",)),
    **dict.fromkeys(("l", "L", "l0", "free_length", "rest_length", "natural_length"), ("length",)),
    **dict.fromkeys(("tol", "rtol", "atol", "accuracy", "eps"), ("tolerance",)),
    **dict.fromkeys(("dt", "h", "step_size", "timestep", "time_step"), ("step", "steps")),
    **dict.fromkeys(("n", "num", "n_steps", "frames", "points"), ("steps", "count")),
    **dict.fromkeys(("end", "t_end", "tend", "tmax", "duration", "T", "time", "t"), ("times",)),
    **dict.fromkeys(("solver", "integrator", "formulation"), ("method",)),
    **dict.fromkeys(("v0", "velocity", "initial_velocities", "speeds"), ("velocities",)),
    **dict.fromkeys(("q0", "initial", "pose", "x0"), ("start",)),
    **dict.fromkeys(("params", "values", "p"), ("parameters",)),
    **dict.fromkeys(("g",), ("gravity",)),
    **dict.fromkeys(("direction", "dir"), ("axis", "direction")),
    **dict.fromkeys(("frequency", "freq", "w"), ("omega",)),
    **dict.fromkeys(("A", "amp"), ("amplitude",)),
    **dict.fromkeys(("velocity", "v"), ("speed",)),
    **dict.fromkeys(("limits", "range", "minmax"), ("bounds",)),
    **dict.fromkeys(("function", "func", "f"), ("law", "motion", "function")),
    **dict.fromkeys(("mu", "coefficient", "cof", "friction_coefficient"), ("friction", "kinetic")),
    **dict.fromkeys(("mu_s", "stiction", "static_friction"), ("static", "friction")),
    **dict.fromkeys(("mu_k", "mu_d", "dynamic"), ("kinetic", "friction")),
    **dict.fromkeys(("e", "cor", "bounce", "elasticity"), ("restitution",)),
    **dict.fromkeys(("clearance", "play", "gap", "slack"), ("backlash",)),
    **dict.fromkeys(("load", "normal_force", "N"), ("normal",)),
    **dict.fromkeys(("impact", "blow", "kick"), ("impulse",)),
    **dict.fromkeys(("hinge", "pin", "joint", "rotational", "pivot"), ("revolute",)),
    **dict.fromkeys(("prismatic", "slider", "slide", "guide", "translation"), ("translational",)),
    **dict.fromkeys(("damper", "dashpot", "actuator", "cylinder"), ("spring",)),
    **dict.fromkeys(("motor", "drive", "motion"), ("driver",)),
    **dict.fromkeys(("fixed", "fix", "rigid"), ("weld", "hold", "fixed")),
    **dict.fromkeys(("run", "solve", "integrate", "dynamics"), ("simulate",)),
    **dict.fromkeys(("statics", "balance"), ("equilibrium",)),
    **dict.fromkeys(("eigenmodes", "frequencies", "modal"), ("modes",)),
    **dict.fromkeys(("linearize",), ("linearise",)),
    **dict.fromkeys(("link", "rod", "mass"), ("body", "bar")),
}


def meant(name: str, known: Iterable[str]) -> str | None:
    """The known name that was likely meant: spelled alike, or the same thing in other words."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.75)
    if near:
        return near[0]
    same = {n.lower(): n for n in names}.get(name.lower())
    other = [n for n in SYNONYMS.get(name, ()) if n in names]
    far = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    return same or next(iter(other + far), None)


def suggestion(name: str, known: Iterable[str], mark: str = "'") -> str:
    """The end of a sentence that suggests a name; nothing where none is near."""
    found = meant(name, known)
    return "" if found is None else f"; did you mean {mark}{found}{mark}?"


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """The same function; a call that does not fit its arguments raises a ModelError that says what is wrong with it."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError:
            refuse_misfit(_called(function, signature, args, kwargs), signature, args, kwargs)
            raise  # the mistake is another one

    return wrapper


def explained_methods(kind: K) -> K:
    """The same class; calls of its public methods that do not fit are explained."""
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and (not name.startswith("_") or name == "__init__"):
            setattr(kind, name, explained(method))
    return kind


def refuse_misfit(what: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Raise a ModelError where a call does not fit a signature."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        raise ModelError([f"{what}: {finding}" for finding in _misfits(signature, args, kwargs)]) from None


def _called(function: Any, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """What a user called: a method by its name, a class by its own, each with the name of what is made."""
    kind = function.__name__.replace("_", " ")
    if kind == "  init  ":
        kind = re.sub(r"(?<!^)(?=[A-Z])", " ", type(args[0]).__name__).lower()
    first = list(signature.parameters)[1:2]
    name = args[1] if first == ["name"] and len(args) > 1 else kwargs.get("name")
    return f"{kind} '{name}'" if isinstance(name, str) else str(kind)


def _misfits(signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
    """What is wrong with the arguments of a call."""
    parameters = [p for p in signature.parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    by_place = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    names = [p.name for p in parameters if p.name not in ("self", "model", "result")]
    unknown = [key for key in kwargs if key not in names]
    findings = [f"there is no {key}={_hint(key, names, kwargs)}" for key in unknown]
    if len(args) > len(by_place):
        places = ", ".join(p.name for p in by_place if p.name in names) or "nothing"
        keywords = [f"{p.name}=" for p in parameters if p.kind is p.KEYWORD_ONLY]
        others = ", ".join(keywords[:6]) + (", ..." if len(keywords) > 6 else "")
        findings.append(f"too many values: it takes {places}" + (f", and by name {others}" if others else ""))
    findings += [f"{p.name}= is given twice" for p in by_place[: len(args)] if p.name in kwargs]
    guessed = {meant(key, names) for key in unknown}
    absent = [p.name for p in by_place[len(args) :] + [p for p in parameters if p.kind is p.KEYWORD_ONLY]]
    needed = [n for n in absent if signature.parameters[n].default is inspect.Parameter.empty]
    missing = [n for n in needed if n not in kwargs and n not in guessed]
    first = args[len(by_place) - len([p for p in by_place if p.name in names]) :][:1]
    if missing and names[:1] == ["name"] and first and not isinstance(first[0], str):
        findings.append("a name comes first, a short text of your choice")
    elif missing:
        findings.append(f"{', '.join(missing)} must be given; it takes {', '.join(names)}")
    return findings


def _hint(key: str, names: list[str], given: Mapping[str, Any]) -> str:
    """What to write instead of a keyword that is not there."""
    if key == "at" and {"on_i", "on_j"} <= set(names):
        return ": it has two ends; give on_i= and on_j= in the parts' own axes, or parts as part.at_world((x, y))"
    found = meant(key, [n for n in names if n not in given] or names)
    return f"; did you mean {found}=?" if found else f"; it takes {', '.join(names) or 'nothing'}"
