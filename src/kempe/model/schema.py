"""The schema of model files, version 1, as pydantic models made from the signatures of the builder methods.

What an argument may be is decided by its name (``ROLES``), so that a new joint needs no entry here as long as it calls
its arguments as the others do; ``OTHER_ROLES`` has the exceptions.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, TypeAdapter, create_model

from kempe.model.analyses import AnalysisSpec, OutputsSpec, Strict
from kempe.model.arguments import Arguments
from kempe.model.mechanism import MechanismModel
from kempe.model.spatial import SpatialModel

VERSION = 1

#: Argument name -> what it may be; any other argument is a number.
ROLES: dict[str, str] = {
    **dict.fromkeys(("name", "fixed", "ends", "side", "direction"), "text"),
    **dict.fromkeys(("internal", "crossed", "closed", "periodic", "rate", "stop", "lift_off", "inside"), "flag"),
    **dict.fromkeys(("at", "on", "on_i", "on_j", "axis", "centre"), "vector"),
    **dict.fromkeys(("axis_i", "axis_j", "along"), "vector"),
    **dict.fromkeys(("teeth", "radii", "span"), "two"),
    **dict.fromkeys(("i", "j", "carrier", "frame", "point", "first", "second", "part", "reaction"), "part"),
    **dict.fromkeys(("motion", "x", "y", "z", "force", "torque", "surface"), "law"),
    **dict.fromkeys(("curve", "profile"), "curve"),
    **dict.fromkeys(("rows", "equations"), "texts"),
    **dict.fromkeys(("points", "parts", "items"), "parts"),
    "places": "vectors",
    "rotation": "rotation",
    "quantity": "quantity",
    "joint": "joint",
    "terms": "terms",
    "law": "characteristic",
    "forces": "forces",
    "friction": "friction",
    "contact": "contact",
    "normal": "load",
    "stiffness": "stiffness",
    "element": "text",
    "arguments": "arguments",
}
#: Verbs of what bounces, by a law of impact.
BOUNCING = ("point_line_contact", "circle_line_contact", "circle_contact", "stop", "revolute", "translational")
#: Verb -> arguments that are something else there.
OTHER_ROLES: dict[str, dict[str, str]] = {
    "force": {"force": "laws", "frame": "text"},
    "bushing": {"stiffness": "pair", "damping": "pair"},
    **{verb: {"stiffness": "number"} for verb in ("spring", "torsion_spring", "bump_stop", "curve_contact")},
    "impulse": {"force": "vector", "torque": "number"},
    **{verb: {"law": "text"} for verb in BOUNCING},
}
#: The same for mechanisms in space, where these differ.
SPATIAL_ROLES: dict[str, dict[str, str]] = {
    **{verb: {"inertia": "numbers"} for verb in ("body", "solid")},
    "bar": {"centre": "number"},
    "vector": {"fixed": "flag"},
    "torque": {"torque": "laws", "frame": "text"},
    "impulse": {"torque": "vector"},
    "torsion_spring": {"i": "side"},
    "gear": {"i": "joint", "j": "joint"},
    "bushing": dict.fromkeys(("stiffness", "damping", "torsion", "torsion_damping"), "numbers"),
}
#: Verb -> what the law of a spring is a function of, besides its rate and the time.
MEASURED = {"spring": "length", "torsion_spring": "angle"}


def role(verb: str, argument: str, dim: int = 2) -> str:
    """What an argument of a builder method may be."""
    own = {**OTHER_ROLES.get(verb, {}), **(SPATIAL_ROLES.get(verb, {}) if dim == 3 else {})}
    return own.get(argument) or ROLES.get(argument, "number")


#: Builder methods that a file can call, with the arguments they take there where these differ from the method's.
_LINK = {"length": False, "mass": False, "centre": False, "inertia": False, "stiffness": False}
SPECIAL: dict[str, dict[str, bool]] = {
    "bar": {"name": True, "first": True, "second": True, **_LINK},
    "plate": {"name": True, "points": True, "places": False, **_LINK},
    "solid": {"name": True, "items": True, "mass": False, "centre": False, "inertia": False},
    "constraint": {"name": True, "equations": True, "rows": False, "parts": False},
    "user_force": {"name": True, "forces": True, "parts": False},
    "add": {"element": True, "name": True, "arguments": False},
}


@cache
def verbs(dim: int = 2) -> dict[str, type[BaseModel]]:
    """Verb -> the model of its arguments, for mechanisms in the plane or in space."""
    found: dict[str, type[BaseModel]] = {}
    types, model = Arguments(dim).types(), MechanismModel if dim == 2 else SpatialModel
    for verb in dir(model):
        method = getattr(model, verb)
        if not getattr(method, "recorded", False) and verb not in SPECIAL:
            continue
        if verb in SPECIAL:
            needed = SPECIAL[verb]
        else:
            signature = inspect.signature(method).parameters
            needed = {name: p.default is p.empty for name, p in signature.items() if name != "self"}
        fields: dict[str, Any] = {
            name: (types[role(verb, name, dim)], ... if required else None) for name, required in needed.items()
        }
        summary = (method.__doc__ or verb).strip().splitlines()[0]
        found[verb] = create_model(verb if dim == 2 else f"{verb}_in_space", __base__=Strict, __doc__=summary, **fields)
    return found


def _no_flag(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number or an expression")
    return value


_Value = Annotated[float | str, BeforeValidator(_no_flag)]


class ParameterSpec(Strict):
    """A design parameter: its value (or an expression of others) and, optionally, its bounds."""

    value: _Value
    bounds: tuple[float, float] | None = None


class TableSpec(Strict):
    """A table: what ``kp.table`` takes, or two columns of a CSV ``file``. Expressions call it by its name."""

    x: list[float] | str
    y: list[float] | str
    file: str | None = None
    z: list[list[float]] | None = None
    kind: Literal["cubic", "linear"] = "cubic"
    periodic: bool | list[bool] = False
    ends: Literal["not-a-knot", "natural", "clamped"] = "not-a-knot"
    outside: Literal["error", "hold", "extrapolate"] = "error"


class EquationsSpec(Strict):
    """A whole system in coordinates of its own."""

    coordinates: dict[str, float]
    constraints: dict[str, str | float] = Field(default_factory=dict)
    mass: list[list[str | float]] | None = None
    force: list[str | float] | None = None


@cache
def document_model(dim: int = 2) -> type[BaseModel]:
    """The model of a whole file."""
    word, types = "" if dim == 2 else "InSpace", Arguments(dim).types()
    optional: dict[str, Any] = {verb: (arguments | None, None) for verb, arguments in verbs(dim).items()}
    about = "One part, joint or driver: exactly one key."
    item = create_model(f"Item{word}", __base__=Strict, __doc__=about, **optional)
    fields: dict[str, Any] = {
        "kempe": (Literal[1], ...),
        "name": (types["text"], ...),
        "dim": (Literal[2], 2) if dim == 2 else (Literal[3], ...),
        "gravity": (types["vector"], None),
        "units": (types["units"], None),
        "parameters": (dict[str, _Value | ParameterSpec], Field(default_factory=dict)),
        "tables": (dict[str, TableSpec], Field(default_factory=dict)),
        "model": (list[item], Field(default_factory=list)),  # type: ignore[valid-type]
        "equations": (EquationsSpec | None, None),
        "measures": (dict[str, str | float], Field(default_factory=dict)),
        "analyses": (list[AnalysisSpec], Field(default_factory=list)),  # type: ignore[valid-type]
        "outputs": (OutputsSpec, Field(default_factory=OutputsSpec)),
    }
    return create_model(f"KempeModel{word}", __base__=Strict, __doc__="A Kempe model file.", **fields)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of model files, for editors: those of planar mechanisms, and those with ``dim: 3``."""
    either = TypeAdapter[Any](document_model(2) | document_model(3))  # type: ignore[arg-type]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "KempeModel", **either.json_schema()}
