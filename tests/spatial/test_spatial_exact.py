"""Motions in space that are known exactly: tops, free bodies, pendulums, Hooke's joint, a path of one freedom."""

from __future__ import annotations

import numpy as np
import pytest
from spatial_motions import GRAVITY, CrankPath, FreeBody, HeavyTop, ripple, swing

import kempe as kp
from kempe.benchmarks import spatial_points as points
from kempe.benchmarks.spatial import build, poses, start_velocities
from kempe.benchmarks.spatial_problems import chain, double_pendulum, exact, slider_crank, stewart_platform
from kempe.benchmarks.turning import about

LETTERS = "xyz"


def spinning(name: str, omega: np.ndarray, v: np.ndarray | None = None) -> dict[str, float]:
    """Start velocities of a body."""
    found = {f"{name}.omega.{letter}": float(w) for letter, w in zip(LETTERS, omega, strict=True)}
    if v is not None:
        found |= {f"{name}.v{letter}": float(each) for letter, each in zip(LETTERS, v, strict=True)}
    return found


def vectors(result: kp.Result, name: str) -> np.ndarray:
    """A vector quantity over time."""
    return np.column_stack([result.array(f"{name}{letter}") for letter in LETTERS])


# --- tops -------------------------------------------------------------------------------------------------------------

TOPS = {
    "cusps": HeavyTop(1.3, 0.4, 0.5, 0.2, 25.0, 0.6, 0.0),
    "waves": HeavyTop(1.3, 0.4, 0.5, 0.2, 25.0, 0.6, 0.6),
    "loops": HeavyTop(1.3, 0.4, 0.5, 0.2, 25.0, 0.6, -0.8),
    "slow and flat": HeavyTop(0.7, 0.5, 0.4, 0.3, 14.0, 1.4, 0.2),
}


def on_its_point(top: HeavyTop) -> tuple[kp.SpatialMechanism, dict[str, float]]:
    """A top in a ball joint at the origin, and its start."""
    R, less = top.rotation(np.zeros(1))[0], top.mass * top.height**2
    m = kp.Mechanism("top", dim=3, gravity=(0, 0, -GRAVITY))
    inertia = (top.across - less, top.across - less, top.along)
    arm = R @ np.array([0, 0, top.height])
    body = m.body("top", mass=top.mass, inertia=inertia, at=tuple(arm), rotation=kp.Rotation(R))
    m.spherical("O", m.ground, body, at=(0, 0, 0))
    return m, spinning("top", top.omega())


@pytest.mark.parametrize("name", TOPS)
def test_a_heavy_top_precesses_and_nutates(name):
    top, times = TOPS[name], np.linspace(0.0, 5.0, 51)
    m, start = on_its_point(top)
    result = m.simulate(times, velocities=start, tolerance=1e-11)
    assert np.abs(result.rotation("top") - top.rotation(times)).max() < 1e-8
    assert np.abs(np.cos(result.euler("top", "ZXZ")[:, 1]) - top.cosine(times)).max() < 1e-8


@pytest.mark.parametrize("which", [0, 1])
def test_steady_precession_keeps_the_tilt(which):
    """Slow and fast: both are solutions, and the force on the point turns with them."""
    given = TOPS["cusps"]
    rate = given.steady()[which]
    top = HeavyTop(given.mass, given.height, given.across, given.along, given.spin, given.tilt, rate)
    m, start = on_its_point(top)
    times = np.linspace(0.0, 3.0, 31)
    result = m.simulate(times, velocities=start, tolerance=1e-12)
    assert np.abs(result.euler("top", "ZXZ")[:, 1] - top.tilt).max() < 1e-9
    along = top.rotation(times)[:, :, 2] * [1, 1, 0]
    pull = -top.mass * top.height * rate**2 * along + np.array([0, 0, top.mass * GRAVITY])
    assert np.abs(result.reaction("O").force - pull).max() < 1e-7 * np.abs(pull).max()
    assert np.abs(result.reaction("O").moment).max() < 1e-9 * np.abs(pull).max()


# --- free bodies ------------------------------------------------------------------------------------------------------

BODY = FreeBody((1.0, 2.0, 2.8), 1.2, 1.5)


def floating(truth: FreeBody) -> tuple[kp.SpatialMechanism, dict[str, float]]:
    R = truth.rotation(np.zeros(1))[0]
    m = kp.Mechanism("free", dim=3, gravity=(0, 0, 0))
    m.body("b", mass=1.0, inertia=truth.inertia, rotation=kp.Rotation(R))
    return m, spinning("b", R @ truth.omega(np.zeros(1))[0], np.array([0.1, -0.2, 0.3]))


def momentum(result: kp.Result, inertia: tuple[float, float, float]) -> np.ndarray:
    R = result.rotation("b")
    return np.einsum("tab,b,tcb,tc->ta", R, np.array(inertia), R, vectors(result, "b.omega."))


def test_a_free_body_turns_as_jacobi_says():
    times = np.linspace(0.0, 20.0, 101)
    m, start = floating(BODY)
    result = m.simulate(times, velocities=start, tolerance=1e-12)
    R = BODY.rotation(times)
    assert np.abs(result.rotation("b") - R).max() < 1e-8
    own = np.column_stack([result.array(f"b.omega.{k}") for k in (1, 2, 3)])
    assert np.abs(own - BODY.omega(times)).max() < 1e-8
    turning = np.einsum("tab,tb->ta", R, BODY.omega(times))
    assert np.abs(vectors(result, "b.omega.") - turning).max() < 1e-8
    assert np.abs(vectors(result, "b.") - np.outer(times, [0.1, -0.2, 0.3])).max() < 1e-8


def test_three_hundred_revolutions_keep_energy_and_momentum():
    """Ten thousand of them: ``python tests/spatial/spatial_sweep.py revolutions``."""
    end = 300 * 2 * np.pi / BODY.omega_3
    m, start = floating(BODY)
    result = m.simulate(np.linspace(0.0, end, 301), velocities=start, tolerance=1e-12)
    L, energy = momentum(result, BODY.inertia), result.array("energy.kinetic")
    assert np.abs(L - [0, 0, BODY.momentum]).max() < 1e-8 * BODY.momentum
    assert np.abs(energy / energy[0] - 1).max() < 1e-8
    assert np.abs(result.rotation("b") - BODY.rotation(result.t)).max() < 1e-6


def test_the_middle_axis_is_unstable():
    """Dzhanibekov: a turn about it, disturbed by 1e-3, tips over within the time that the exponent gives."""
    I1, I2, I3 = 1.0, 2.0, 2.8
    m = kp.Mechanism("free", dim=3, gravity=(0, 0, 0))
    m.body("b", mass=1.0, inertia=(I1, I2, I3))
    speed = 2.0
    growth = speed * np.sqrt((I3 - I2) * (I2 - I1) / (I1 * I3))
    result = m.simulate(10 / growth + 2, velocities=spinning("b", np.array([1e-3, speed, 0.0])), tolerance=1e-10)
    assert np.abs(result.array("b.e2.y")[result.t < 3 / growth] - 1).max() < 1e-3
    assert result.array("b.e2.y").min() < -0.9


# --- pendulums --------------------------------------------------------------------------------------------------------


def test_a_pendulum_about_a_skew_axis_and_its_hinge():
    lean, mass, amplitude, arm = 0.5, 1.7, 2.2, 0.6
    axis, down = np.array([0.0, np.sin(lean), np.cos(lean)]), np.array([0.0, np.cos(lean), -np.sin(lean)])
    J = np.array([[0.3, 0.05, -0.04], [0.05, 0.4, 0.02], [-0.04, 0.02, 0.2]])
    R0 = about(axis, amplitude)
    m = kp.Mechanism("skew", dim=3, gravity=(0, 0, -GRAVITY))
    body = m.body("b", mass=mass, inertia=J, at=tuple(R0 @ (arm * down)), rotation=kp.Rotation(R0))
    m.revolute("O", m.ground, body, at=(0, 0, 0), axis=tuple(axis))
    times = np.linspace(0.0, 4.0, 41)
    result = m.simulate(times, tolerance=1e-12)
    rate = np.sqrt(mass * GRAVITY * np.sin(lean) * arm / (axis @ J @ axis + mass * arm**2))
    angle = swing(times, amplitude, rate)
    R = np.array([about(axis, a) for a in angle])
    assert np.abs(result.rotation("b") - R).max() < 1e-9
    assert np.abs(np.exp(1j * result.array("O.angle")) - np.exp(1j * (angle - amplitude))).max() < 1e-9
    # Newton and Euler about the origin, from the exact motion
    square = 2 * rate**2 * (np.cos(angle) - np.cos(amplitude))
    alpha, omega = -np.outer(rate**2 * np.sin(angle), axis), np.outer(np.sqrt(np.maximum(square, 0.0)), axis)
    r, inertia = R @ (arm * down), R @ J @ np.swapaxes(R, 1, 2)
    a = np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
    weight = np.array([0, 0, -mass * GRAVITY])
    spin = np.einsum("tab,tb->ta", inertia, omega)
    moment = np.einsum("tab,tb->ta", inertia, alpha) + np.cross(omega, spin) + np.cross(r, mass * a - weight)
    found = result.reaction("O")
    assert np.abs(found.force - (mass * a - weight)).max() < 1e-7
    assert np.abs(found.moment - moment).max() < 1e-7
    along = result.reaction("O", axes="joint")
    assert np.abs(along.moment[:, 2]).max() < 1e-9  # a hinge holds nothing about its axis


@pytest.mark.parametrize("kind", ["universal", "spherical"])
def test_a_conical_pendulum_goes_round(kind):
    """A bar that turns about the vertical with its tilt kept: (m l^2 + I - I3) W^2 cos(tilt) = m g l."""
    tilt, mass, length, across, along = 0.7, 1.2, 0.8, 0.05, 0.01
    speed = np.sqrt(mass * GRAVITY * length / ((mass * length**2 + across - along) * np.cos(tilt)))
    R = about((1, 0, 0), tilt)
    m = kp.Mechanism("conical", dim=3, gravity=(0, 0, -GRAVITY))
    at = R @ np.array([0, 0, -length])
    bar = m.body("bar", mass=mass, inertia=(across, across, along), at=tuple(at), rotation=kp.Rotation(R))
    axes = {"axis_i": (0, 0, 1), "axis_j": (1, 0, 0)} if kind == "universal" else {}
    getattr(m, kind)("O", m.ground, bar, at=(0, 0, 0), **axes)
    times = np.linspace(0.0, 3.0, 31)
    result = m.simulate(times, velocities=spinning("bar", np.array([0, 0, speed])), tolerance=1e-12)
    there = np.array([about((0, 0, 1), speed * t) for t in times])
    assert np.abs(result.rotation("bar") - there @ R).max() < 1e-8
    assert np.abs(vectors(result, "bar.") - there @ at).max() < 1e-8
    pull = np.linalg.norm(result.reaction("O").force, axis=1)
    assert np.abs(pull - mass * np.hypot(GRAVITY, speed**2 * length * np.sin(tilt))).max() < 1e-7


# --- Hooke's joint ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bend", [0.2, 0.7, 1.2])
def test_hookes_joint_ripples(bend):
    """Between two shafts at an angle; the second is held by a point of its axis, so that nothing is redundant."""
    out = np.array([np.cos(bend), np.sin(bend), 0.0])
    m = kp.Mechanism("Hooke", dim=3, gravity=(0, 0, 0))
    first = m.body("first", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(-0.5, 0, 0))
    second = m.body("second", mass=1.0, inertia=(0.1, 0.1, 0.1), at=tuple(0.5 * out))
    hinge = m.revolute("in", m.ground, first, at=(-0.5, 0, 0), axis=(1, 0, 0))
    m.universal("cross", first, second, at=(0, 0, 0), axis_i=(0, 0, 1), axis_j=(-out[1], out[0], 0.0))
    m.point_on_line("out", m.ground, second, at=tuple(out), axis=tuple(out))
    m.driver("motor", hinge.angle, lambda t: 3.0 * t)
    times = np.linspace(0.0, 4.0, 201)
    result = m.kinematics(times)
    angle = 3.0 * times
    turned = ripple(angle, bend)
    R = result.rotation("second")
    assert np.abs(R - np.array([about(out, a) for a in turned])).max() < 1e-9
    speed = 3.0 * np.cos(bend) / (1 - np.sin(bend) ** 2 * np.sin(angle) ** 2)
    assert np.abs(vectors(result, "second.omega.") @ out - speed).max() < 1e-8 * speed.max()
    change = 9.0 * np.cos(bend) * np.sin(bend) ** 2 * np.sin(2 * angle)
    change /= (1 - np.sin(bend) ** 2 * np.sin(angle) ** 2) ** 2
    assert np.abs(vectors(result, "second.alpha.") @ out - change).max() < 1e-7 * np.abs(change).max()


# --- mechanisms -------------------------------------------------------------------------------------------------------


def test_the_spatial_slider_crank_follows_its_path():
    problem = slider_crank()
    result = build(problem).simulate([0.0, 0.5], velocities=start_velocities(problem), tolerance=1e-12)
    assert np.abs(poses(problem, result)[1:] - CrankPath(problem).poses(0.5)).max() < 1e-8


@pytest.mark.parametrize(
    "problem",
    [double_pendulum(), stewart_platform(), chain(10, "spherical", 1), chain(10, "universal", 1)],
    ids=lambda problem: problem.name,
)
def test_problems_of_the_benchmark_move_as_newton_and_euler_say(problem):
    result = build(problem).simulate([0.0, 0.1], tolerance=1e-12)
    assert np.abs(poses(problem, result) - exact(problem, 0.1)).max() < 1e-9


@pytest.mark.parametrize("problem", [slider_crank(), chain(10, "spherical", 100)], ids=lambda problem: problem.name)
def test_points_and_vectors_shared_are_the_same_mechanism(problem):
    model = points.of_points(problem)
    times = [0.0, problem.end_time]
    result = model.simulate(times, tolerance=1e-12, velocities=points.velocities(problem))
    assert model.mobility().dof == build(problem).mobility().dof - (0 if problem.spin else 10)  # turns about the bars
    assert points.error(problem, result) < 1e-8
