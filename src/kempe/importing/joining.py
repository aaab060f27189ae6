"""Several joints of one link that are, taken together, one joint of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kempe.importing.tree import Joint

#: How near directions and places must be to what they are taken for.
NEAR = 1e-9


@dataclass(frozen=True)
class Combined:
    """The builder method of a joint and its arguments; without one the link is free."""

    verb: str
    arguments: dict[str, Any] = field(default_factory=dict)


def combined(joints: Sequence[Joint]) -> Combined | None:
    """One joint that allows what several do, one after the other; None where there is no such joint.

    Places and axes are those of the world in the drawn pose.
    """
    slides = [joint for joint in joints if joint.kind == "slide"]
    hinges = [joint for joint in joints if joint.kind == "hinge"]
    balls = [joint for joint in joints if joint.kind == "ball"]
    axes = [joint.axis for joint in hinges]
    at = tuple(map(float, (hinges or balls or slides)[0].place))
    turns = 3 if balls or (len(hinges) == 3 and _independent(axes)) else len(hinges)
    if len(balls) + len(slides) + len(hinges) != len(joints) or (balls and hinges) or len(balls) > 1:
        return None
    if len(slides) == 3 and _independent([joint.axis for joint in slides]) and turns == 3:
        return Combined("")
    if not slides and len(hinges) == 3 and turns == 3 and _meet(hinges):
        return Combined("spherical", {"at": at})
    if not slides and len(hinges) == 2 and _meet(hinges) and abs(axes[0] @ axes[1]) < NEAR:
        return Combined("universal", {"at": at, "axis_i": _tuple(axes[0]), "axis_j": _tuple(axes[1])})
    if len(slides) == 1 and len(hinges) == 1 and np.linalg.norm(np.cross(slides[0].axis, axes[0])) < NEAR:
        return Combined("cylindrical", {"at": at, "axis": _tuple(axes[0])})
    flat = len(slides) == 2 and len(hinges) == 1 and all(abs(joint.axis @ axes[0]) < NEAR for joint in slides)
    if flat and np.linalg.norm(np.cross(slides[0].axis, slides[1].axis)) > 0.1:
        return Combined("planar", {"at": at, "axis": _tuple(axes[0])})
    return None


def _independent(axes: Sequence[np.ndarray]) -> bool:
    """Whether axes are well apart from lying in a plane."""
    return abs(float(np.linalg.det(np.array(axes)))) > 0.1


def _meet(hinges: Sequence[Joint]) -> bool:
    """Whether hinges have one place; axes that meet elsewhere are not looked for."""
    return all(np.linalg.norm(joint.place - hinges[0].place) < NEAR for joint in hinges)


def _tuple(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
