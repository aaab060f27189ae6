"""Mechanisms in space beside Exudyn, MuJoCo and Pinocchio: time per step, and the same motion to 1e-6."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

import kempe as kp
from kempe.benchmarks import spatial_exudyn as exudyn
from kempe.benchmarks import spatial_points as points
from kempe.benchmarks import spatial_problems as problems
from kempe.benchmarks import spatial_trees as trees
from kempe.benchmarks.ours import simulating
from kempe.benchmarks.peers_exudyn import Settings
from kempe.benchmarks.peers_problems import chain_steps
from kempe.benchmarks.record import Record, less_is_better
from kempe.benchmarks.rigid_joints import GROUND
from kempe.benchmarks.spatial_problems import GRAVITY, Problem
from kempe.benchmarks.timing import Contender, interleaved

BENCH = "spatial"
KEMPE, SHARED = "Kempe", "Kempe, points and vectors"
OF = {KEMPE: "", SHARED: ", points and vectors shared"}
"""How a problem is built in Kempe: of bodies as the peers have them, or of what neighbours share."""
CHAINS = tuple(itertools.product((100, 1000), ("spherical", "universal")))
STABLE = 0.1
"""A peer's run with a larger error counts for nothing."""
TREES_UP_TO = 200
"""Bodies up to which peers in joint coordinates run: along a chain their steps grow with the square of its length."""
AGREED = 1e-6
FINE = 16
"""The step of Exudyn is so many times finer where motions are compared, and twice that to extrapolate."""


def build(problem: Problem) -> kp.SpatialMechanism:
    """The mechanism that the peers are given too."""
    m = kp.SpatialMechanism(problem.name, gravity=(0, 0, -GRAVITY))
    bodies = [
        m.body(body.name, mass=body.mass, inertia=body.inertia, at=body.at, rotation=kp.Rotation(body.rotation))
        for body in problem.bodies
    ]
    for joint in problem.joints:
        i, j = (m.ground if k == GROUND else bodies[k] for k in (joint.i, joint.j))
        axes: dict[str, Any] = {"axis": joint.axis} if joint.kind in ("revolute", "prismatic") else {}
        if joint.kind == "universal":
            axes = {"axis_i": joint.axis, "axis_j": joint.axis_j}
        getattr(m, joint.kind)(joint.name, i, j, at=joint.at, **axes)
    for k, leg in enumerate(problem.legs):
        foot, head = problem.reach(leg)
        m.spring(
            f"spring {k + 1}",
            bodies[leg.joint.i].at_world(foot),
            bodies[leg.joint.j].at_world(head),
            stiffness=leg.stiffness,
            damping=leg.damping,
            length=float(np.linalg.norm(head - foot)) + leg.ease,
        )
    return m


def start_velocities(problem: Problem) -> dict[str, float]:
    """The first body's; all others follow."""
    if not problem.spin:
        return {}
    omega = problem.start().omega[0]
    return {f"{problem.bodies[0].name}.omega.{axis}": float(value) for axis, value in zip("xyz", omega, strict=True)}


def poses(problem: Problem, result: kp.Result) -> np.ndarray:
    """The poses of all bodies at the end of a run."""
    found = []
    for body in problem.bodies:
        at = [result.array(f"{body.name}.{axis}")[-1] for axis in "xyz"]
        found.append(np.column_stack([at, result.rotation(body.name)[-1]]))
    return np.array(found)


def _stepping(problem: Problem, model: kp.SpatialMechanism, velocities: dict[str, float]) -> Contender:
    """Fixed steps of generalised-alpha."""
    times = [0.0, problem.end_time]
    return simulating(model, times, method="alpha", step=problem.step, velocities=velocities, audit=False)


def _of_bodies(problem: Problem) -> Contender:
    return _stepping(problem, build(problem), start_velocities(problem))


def cases() -> list[Problem]:
    """What is timed."""
    chains = [problems.chain(count, kind, chain_steps(count)) for count, kind in CHAINS]
    return [problems.slider_crank(), *chains, problems.stewart_platform()]


def _beside_exudyn(problem: Problem) -> Iterator[Record]:
    contenders: dict[str | exudyn.SpatialSettings, Contender] = {KEMPE: _of_bodies(problem)}
    shared = points.of_points(problem)
    if shared is not None:
        contenders[SHARED] = _stepping(problem, shared, points.velocities(problem))
    settings: dict[str, list[exudyn.SpatialSettings]] = {}
    with contextlib.suppress(ImportError):
        settings = exudyn.exudyn_settings(problem)
    for each in itertools.chain(*settings.values()):
        contenders[each] = exudyn.exudyn_contender(problem, each, problem.step, problem.steps)
    times = interleaved(contenders)
    told = {KEMPE: _told(problem, poses(problem, times[KEMPE].outcome))}
    if shared is not None:
        told[SHARED] = f"error {points.error(problem, times[SHARED].outcome):.1e}"
    for kempe, figures in told.items():
        quantity = f"{problem.name}{OF[kempe]}: time per step"
        ours = times[kempe].seconds / problem.steps * 1e6
        us = f"generalised-alpha, radius 0.9, h = {problem.step:g}; {figures}"
        if not settings:
            yield less_is_better(BENCH, quantity, ours, "Exudyn", None, "us", us)
        for label, tried in settings.items():
            best = min(tried, key=lambda each: times[each].seconds)
            end = exudyn.exudyn_ended(problem, times[best])
            about = f"{us}; peer: {best}: violation {end.violation:.1e}, error {end.error:.1e}"
            value = end.seconds / problem.steps * 1e6
            yield less_is_better(BENCH, quantity, ours, f"Exudyn, {label}", value, "us", about)


def _told(problem: Problem, ended: np.ndarray) -> str:
    return f"violation {problem.violation(ended):.1e}, error {problem.error(ended):.1e}"


def _beside_trees(problem: Problem) -> Iterator[Record]:
    """The peers that work in joint coordinates: each at its fastest that is stable, and MuJoCo at its finest."""
    contenders: dict[str, Contender] = {KEMPE: _of_bodies(problem)}
    with contextlib.suppress(ImportError):
        for each in trees.INTEGRATORS:
            contenders[f"MuJoCo, {each}"] = trees.mujoco_contender(problem, each, problem.step, problem.steps)
    if not any(joint.loop for joint in problem.joints):
        with contextlib.suppress(ImportError):
            for each in trees.ALGORITHMS:
                ready = trees.pinocchio_contender(problem, each, problem.step, problem.steps)
                contenders[f"Pinocchio, {each}"] = ready
    times = interleaved(contenders)
    ours = times.pop(KEMPE)
    us = f"h = {problem.step:g}; {_told(problem, poses(problem, ours.outcome))}"
    ends = {name: timed.outcome() for name, timed in times.items()}
    stable = {name for name, end in ends.items() if np.isfinite(end).all() and problem.error(end) < STABLE}
    for peer in ("MuJoCo", "Pinocchio"):
        mine = [name for name in stable if name.startswith(peer)]
        fastest = min(mine, key=lambda name: times[name].seconds, default=None)
        chosen = {fastest, "MuJoCo, RK4"} if peer == "MuJoCo" else {fastest}
        for name in sorted(name for name in chosen if name in stable and name):
            quantity, value = f"{problem.name}: time per step", times[name].seconds / problem.steps * 1e6
            about = f"{us}; peer: {_told(problem, ends[name])}"
            yield less_is_better(BENCH, quantity, ours.seconds / problem.steps * 1e6, name, value, "us", about)


def extrapolated(problem: Problem) -> np.ndarray:
    """Where Exudyn ends with steps that tend to zero: its method is of order 2."""
    settings = exudyn.SpatialSettings("Euler parameters", Settings("EigenSparse", "full", 1e-10))
    ends = []
    for finer in (FINE, 2 * FINE):
        contender = exudyn.exudyn_contender(problem, settings, problem.step / finer, problem.steps * finer)
        ends.append(exudyn.exudyn_poses(contender()()))
    return ends[1] + (ends[1] - ends[0]) / 3


def _same_motion(problem: Problem) -> Iterator[Record]:
    result = build(problem).simulate([0.0, problem.end_time], tolerance=1e-10, velocities=start_velocities(problem))
    ended = poses(problem, result)
    about = f"{problem.end_time:g} s, tolerance 1e-10; {_told(problem, ended)}; Exudyn: steps that tend to zero"
    try:
        apart = float(np.abs(ended - extrapolated(problem)).max())
    except ImportError:
        return
    yield less_is_better(BENCH, f"{problem.name}: difference from Exudyn", apart, "target", AGREED, "", about)


def records() -> Iterator[Record]:
    """All comparisons."""
    for problem in (problems.double_pendulum(), problems.slider_crank()):
        yield from _same_motion(problem)
    for problem in cases():
        yield from _beside_exudyn(problem)
        if len(problem.bodies) <= TREES_UP_TO:
            yield from _beside_trees(problem)
