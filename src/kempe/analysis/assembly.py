"""Putting a mechanism together from a rough sketch, and giving it consistent velocities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kempe.calling import explained
from kempe.elements import plain_number
from kempe.model import Model
from kempe.simulation.assembling import Pose, assembled, consistent_velocity, named_pose, pose_array
from kempe.simulation.posing import Posed


@explained
def assemble(
    model: Model,
    *,
    time: float = 0.0,
    hold: Iterable[str] = (),
    weights: Mapping[str, float] | None = None,
    velocities: Mapping[str, float] | None = None,
    start: Pose | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Pose:
    """Assemble: close every joint to 1e-12, in the pose nearest to the sketch.

    ``hold`` names coordinates ("crank.angle") that must stay as drawn; ``weights`` (default 1) says how much a
    coordinate resists being moved, lengths counted in mechanism sizes and angles in radians. ``velocities`` names
    rates ("crank.omega") that are kept as far as the joints allow; the others follow. Raises AssemblyError with the
    closest pose and the open joints when there is no such pose.
    """
    time = plain_number(time, "the time")
    posed = Posed(model, parameters)
    if start is not None:
        posed.drawn = pose_array(posed.system, start)
    q = assembled(posed, time, hold, weights)
    v = None if velocities is None else consistent_velocity(posed, q, time, velocities)
    return named_pose(posed, q, v)
