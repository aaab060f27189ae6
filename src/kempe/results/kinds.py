"""What each history of a result is, from what parts and elements declare."""

from __future__ import annotations

from kempe.elements.kinds import COORDINATE, EFFORTS, rate_of
from kempe.model import Model
from kempe.results.energy import PARTS

#: What the last part of a name says where nothing is declared.
_CHANNELS = {
    **dict.fromkeys(("x", "y", "z"), "position"),
    **dict.fromkeys(("vx", "vy", "vz"), "velocity"),
    **dict.fromkeys(("ax", "ay", "az"), "acceleration"),
    "omega": "angular velocity",
    "alpha": "angular acceleration",
    "torque": "moment",
    "v": rate_of(COORDINATE),
    "a": rate_of(rate_of(COORDINATE)),
}


def declared_kinds(model: Model) -> dict[str, str]:
    """History -> what it is, for all that parts and elements of a model declare."""
    found: dict[str, str] = {}
    for part in model.parts.values():
        for names, kind in zip(part.names(), part.kinds(), strict=True):
            rate = rate_of(kind)
            found |= dict(zip(names, (kind, rate, rate_of(rate)), strict=True))
    for element in model.elements.values():
        own = {row: EFFORTS.get(kind, "") for row, kind in element.row_kinds().items()}
        found |= {f"lambda.{element.row_label(row)}": kind or "multiplier" for row, kind in own.items()}
        if element.drives:
            alone = len(element.rows) == 1
            found |= {
                f"{element.name}.effort{'' if alone else f'.{row}'}": kind or "effort" for row, kind in own.items()
            }
            found[f"{element.name}.power"] = "power"
        found |= {f"{element.shown_as}.{output}": kind for output, kind in element.output_kinds().items()}
    return found | {name: name for name in model.measures}  # nobody knows what they measure


def kind_by_name(name: str) -> str:
    """What a history is, as its name alone says: "position" of "slider.x", "force" of "B.force.x"."""
    owner, dot, rest = name.partition(".")
    if not dot:
        return COORDINATE
    if owner == "energy" and rest in (*PARTS, "total", "balance"):
        return "balance" if rest == "balance" else "energy"
    if owner == "ground" and rest.startswith("shaking"):
        return "moment" if rest.startswith("shaking.moment") else "force"
    if owner in ("lambda", "power"):
        return "multiplier" if owner == "lambda" else "power"
    first, last = rest.partition(".")[0], name.rpartition(".")[2]
    return first if first in ("force", "effort", "moment") else _CHANNELS.get(last, last)
