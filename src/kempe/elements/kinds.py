"""What a quantity is: a position, an angle, a force. Quantities of one kind share axes and have one unit."""

from __future__ import annotations

#: Kind -> the powers of length, mass and time in it. Angles are in radians, which are numbers.
KINDS: dict[str, tuple[int, int, int]] = {
    "length": (1, 0, 0),
    "mass": (0, 1, 0),
    "time": (0, 0, 1),
    "position": (1, 0, 0),
    "velocity": (1, 0, -1),
    "acceleration": (1, 0, -2),
    "angle": (0, 0, 0),
    "angular velocity": (0, 0, -1),
    "angular acceleration": (0, 0, -2),
    "force": (1, 1, -2),
    "moment": (2, 1, -2),
    "energy": (2, 1, -2),
    "balance": (2, 1, -2),
    "power": (2, 1, -3),
}
#: Kinds that have the unit of another, and axes of their own.
ALIKE = {"position": "length", "balance": "energy"}
#: Kinds that are counted in radians.
ANGULAR = ("angle", "angular velocity", "angular acceleration")
#: What does work on the change of a quantity.
EFFORTS = {"position": "force", "length": "force", "angle": "moment"}
#: What a coordinate of one's own is, of which nothing is known.
COORDINATE = "coordinate"
_RATES = {
    "position": "velocity",
    "length": "velocity",
    "velocity": "acceleration",
    "angle": "angular velocity",
    "angular velocity": "angular acceleration",
    COORDINATE: "rate",
    "rate": "second derivative",
}


def rate_of(kind: str) -> str:
    """What the rate of a quantity is; empty where that is not known."""
    return _RATES.get(kind, "")
