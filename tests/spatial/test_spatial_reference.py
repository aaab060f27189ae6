"""The independent computation of spatial motion, held to exact solutions, to differences and to other codes."""

from __future__ import annotations

import numpy as np
import pytest
from spatial_motions import GRAVITY, CrankPath, FreeBody, HeavyTop, about_x, about_z, swing
from spatial_plans import GROUND, ROWS, drawn

from kempe.benchmarks.rigid_bodies import RigidBodies, State
from kempe.benchmarks.spatial_problems import chain, double_pendulum, exact, slider_crank, stewart_platform
from kempe.benchmarks.turning import about, turned

TIMES = np.linspace(0.0, 4.0, 9)
TOPS = [HeavyTop(1.3, 0.4, 0.5, 0.2, 25.0, 0.6, precession) for precession in (0.0, 0.4, -0.8)]


def test_a_free_body_turns_as_jacobi_says():
    truth = FreeBody((1.0, 2.0, 2.8), 1.2, 1.5)
    m, R = RigidBodies((0, 0, 0)), truth.rotation(TIMES)
    m.body(1.0, np.array(truth.inertia), (0, 0, 0), R[0])
    states = m.motion(m.start(np.zeros((1, 3)), (R[0] @ truth.omega(TIMES)[0])[None]), TIMES)
    for state, turn, omega in zip(states, R, truth.omega(TIMES), strict=True):
        assert np.abs(state.R[0] - turn).max() < 1e-10
        assert np.abs(turn.T @ state.omega[0] - omega).max() < 1e-10


@pytest.mark.parametrize("top", TOPS)
def test_a_heavy_top_nutates_as_jacobi_says(top):
    R, arm = top.rotation(TIMES), np.array([0.0, 0.0, top.height])
    m, less = RigidBodies((0, 0, -GRAVITY)), top.mass * top.height**2
    m.body(top.mass, np.array([top.across - less, top.across - less, top.along]), R[0] @ arm, R[0])
    m.spherical("O", GROUND, 0, (0, 0, 0))
    states = m.motion(m.start(np.cross(top.omega(), R[0] @ arm)[None], top.omega()[None]), TIMES)
    for state, turn in zip(states, R, strict=True):
        assert np.abs(state.R[0] - turn).max() < 1e-10


def test_a_pendulum_about_a_skew_axis():
    axis, mass, amplitude, lean = np.array([0.0, np.sin(0.5), np.cos(0.5)]), 1.7, 2.2, 0.5
    down = np.array([0.0, np.cos(lean), -np.sin(lean)])  # in the plane of the swing, as low as it goes
    arm = 0.6
    J = np.array([[0.3, 0.05, -0.04], [0.05, 0.4, 0.02], [-0.04, 0.02, 0.2]])
    m = RigidBodies((0, 0, -GRAVITY))
    start = about(axis, amplitude)
    m.body(mass, J, start @ (arm * down), start)
    m.revolute("O", GROUND, 0, (0, 0, 0), axis)
    states = m.motion(m.start(), TIMES)
    inertia = axis @ J @ axis + mass * arm**2
    rate = np.sqrt(mass * GRAVITY * np.sin(lean) * arm / inertia)
    for state, angle in zip(states, swing(TIMES, amplitude, rate), strict=True):
        assert np.abs(state.R[0] - about(axis, angle)).max() < 1e-10


def test_the_spatial_slider_crank_follows_its_path():
    problem = slider_crank()
    assert np.abs(exact(problem, 0.5)[1:] - CrankPath(problem).poses(0.5)).max() < 1e-9


FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180


@pytest.mark.parametrize("kind", ROWS)
def test_rows_against_differences_of_sixth_order(kind):
    """Along a motion of constant velocities and angular velocities, which violates the rows."""
    plan, h = drawn(7, 2, kinds=(kind,), loops=0), 1e-2
    m = plan.reference()
    state = m.start()
    rng = np.random.default_rng(3)
    v, omega = rng.normal(size=(2, 2, 3))
    moved = State(state.r + 0.1 * v, turned(state.quaternion, 0.1 * omega), v, omega)
    _, rest, pieces = m.constraints(0.0, moved)
    rates = np.zeros(m.rows)
    for row, body, gradient in pieces:
        u = np.vstack([np.hstack([v, omega]), np.zeros(6)])[body]
        np.add.at(rates, row, (gradient * u).sum(axis=1))
    values = np.array(
        [
            m.constraints(0.0, State(moved.r + h * k * v, turned(moved.quaternion, h * k * omega), v, omega))[0]
            for k in range(-3, 4)
        ]
    )
    free = (
        kind == "screw"
    )  # the angle's rate is that about an axis that stays parallel, which these motions do not keep
    rows = slice(0, 4) if free else slice(None)
    assert np.abs(FIRST @ values / h - rates)[rows].max() < 1e-8
    assert np.abs(SECOND @ values / h**2 - rest)[rows].max() < 1e-6


def test_energy_and_momentum_are_kept():
    plan = drawn(11, 4, floating=True, damped=False, gravity=(0, 0, 0))
    m = plan.reference()
    states = m.motion(plan.start(m), np.linspace(0, 0.5, 4))
    mass, J = np.array([b.mass for b in plan.bodies]), np.array([b.inertia for b in plan.bodies])

    def momenta(s: State) -> np.ndarray:
        spin = np.einsum("kab,kbc,kdc,kd->ka", s.R, J, s.R, s.omega) + mass[:, None] * np.cross(s.r, s.v)
        return np.concatenate([(mass[:, None] * s.v).sum(axis=0), spin.sum(axis=0)])

    for state in states:
        assert abs(m.energy(state) - m.energy(states[0])) < 1e-9
        assert np.abs(momenta(state) - momenta(states[0])).max() < 1e-9


PROBLEMS = {
    "double pendulum": double_pendulum(),
    "chain of 5": chain(5, "spherical", 500),
    "Stewart": stewart_platform(),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_exudyn_tends_to_it(name):
    pytest.importorskip("exudyn")
    from kempe.benchmarks.peers_exudyn import Settings
    from kempe.benchmarks.spatial_exudyn import SpatialSettings, exudyn_contender, exudyn_poses

    problem = PROBLEMS[name]
    settings = SpatialSettings("Euler parameters", Settings("EigenSparse", "full", 1e-10))
    time, ends = 0.2, []
    for steps in (1600, 3200):
        ends.append(exudyn_poses(exudyn_contender(problem, settings, time / steps, steps)()()))
    assert np.abs(ends[1] + (ends[1] - ends[0]) / 3 - exact(problem, time)).max() < 1e-7


@pytest.mark.parametrize("name", ["double pendulum", "chain of 5"])
def test_mujoco_tends_to_it(name):
    pytest.importorskip("mujoco")
    from kempe.benchmarks.spatial_trees import mujoco_contender

    problem = PROBLEMS[name]
    assert np.abs(mujoco_contender(problem, "RK4", 2.5e-4, 800)()()() - exact(problem, 0.2)).max() < 1e-10


def test_sparse_and_dense_factors_agree(monkeypatch):
    problem = stewart_platform()
    m = problem.reference()
    state = m.start()
    sparse = m.accelerations(0.0, state)
    monkeypatch.setattr("kempe.benchmarks.rigid_bodies.MANY_ROWS", 1000)
    for one, other in zip(sparse, m.accelerations(0.0, state), strict=True):
        assert np.abs(one - other).max() < 1e-9 * np.abs(one).max()


def test_turns_compose():
    a, b = 0.3, -1.1
    assert np.abs(about_z(np.array(a)) @ about_x(np.array(b)) - about((0, 0, 1), a) @ about((1, 0, 0), b)).max() < 1e-15
