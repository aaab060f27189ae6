"""Problems of ``kempe bench spatial`` built of points and unit vectors that neighbours share: fewer unknowns.

The same mechanisms: a bar of a chain on ball joints does not turn about itself, and a slider does not turn at all, so
that two points and one say all about them. Exudyn has no such description of bodies; it is given bodies.
"""

from __future__ import annotations

import numpy as np

import kempe as kp
from kempe.benchmarks import spatial_problems as given
from kempe.benchmarks.spatial_problems import GRAVITY, Problem


def chain_of_bars(problem: Problem) -> kp.SpatialMechanism:
    """A chain on ball joints: a point for each joint and the end, a bar between two of them."""
    m = kp.SpatialMechanism(f"{problem.name}, of bars", gravity=(0, 0, -GRAVITY))
    places = [joint.at for joint in problem.joints]
    last = problem.bodies[-1]
    places.append(tuple(np.array(last.at) + last.rotation[:, 0] / 2))
    points = [m.point(f"P{k}", at=at, fixed="" if k else "xyz") for k, at in enumerate(places)]
    for k, body in enumerate(problem.bodies):
        m.bar(body.name, points[k], points[k + 1], mass=body.mass, inertia=body.inertia[1])
    return m


def slider_crank_of_solids(problem: Problem) -> kp.SpatialMechanism:
    """The crank's pin and the slider are points, the arm of the cross in the rod a vector."""
    m = kp.SpatialMechanism(f"{problem.name}, of solids", gravity=(0, 0, -GRAVITY))
    crank, rod, slider = problem.bodies
    cross, ball = problem.joints[2], problem.joints[3]
    hub, along = m.point("hub", at=given.HUB, fixed="xyz"), m.vector("along", (1, 0, 0), fixed=True)
    pin, end = m.point("pin", at=ball.at), m.point("slider", at=slider.at, fixed="yz", mass=slider.mass)
    m.solid("crank", hub, along, pin, mass=crank.mass, inertia=crank.inertia)
    arm = m.vector("arm", cross.axis_j)
    inertia = rod.rotation @ np.diag(rod.inertia) @ rod.rotation.T
    centre = tuple(np.array(rod.at) - ball.at)
    m.solid("rod", pin, end, arm, mass=rod.mass, centre=centre, inertia=inertia)
    m.constraint("cross", lambda n: n[1], arm)
    return m


def velocities(problem: Problem) -> dict[str, float]:
    """Of the crank's pin, where the problem does not begin at rest."""
    if not problem.spin:
        return {}
    arm = np.array(problem.joints[3].at) - given.HUB
    v = problem.spin * np.cross((1.0, 0.0, 0.0), arm)
    return {f"pin.v{axis}": float(each) for axis, each in zip("xyz", v, strict=True)}


def of_points(problem: Problem) -> kp.SpatialMechanism | None:
    """A problem built that way, where it gains by it."""
    if problem.name.endswith("spherical"):
        return chain_of_bars(problem)
    return slider_crank_of_solids(problem) if problem.spin else None


def error(problem: Problem, result: kp.Result) -> float:
    """How far centres of mass (of the bars, of the slider) are off at the end, in sizes of the mechanism."""
    true = given.exact(problem, problem.end_time)[:, :, 0]
    if problem.spin:
        found, true = np.array([result.array("slider.x")[-1], 0.0, 0.0]), true[2]
    else:
        moving = [[result.array(f"P{k + 1}.{axis}")[-1] for axis in "xyz"] for k in range(len(problem.bodies))]
        points = np.vstack([np.zeros(3), moving])
        found = (points[1:] + points[:-1]) / 2
    return float(np.abs(found - true).max() / np.abs(true).max())
