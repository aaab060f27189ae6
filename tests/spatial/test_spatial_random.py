"""Random trees and loops in space: the same motion as other codes, energy, momentum, and the world moved as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spatial_plans import Plan, drawn, poses, rates, turn, velocities
from test_spatial_joints import lacking

import kempe as kp
from kempe.benchmarks.rigid_bodies import State

SEED = st.integers(0, 2**31)
ACCURATE = st.sampled_from(["auto", "augmented", "radau"])
TIMES = np.linspace(0.0, 0.3, 4)


def simulated(plan: Plan, start: State, times: np.ndarray = TIMES, **options) -> kp.Result:
    given = {"tolerance": 1e-11, "velocities": velocities(start), **options}
    return plan.build().simulate(times, **given)


def apart(result: kp.Result, states: list[State]) -> float:
    """The largest difference in positions and direction cosines."""
    r, R = poses(result, len(states[0].r))
    return max(max(np.abs(r[k] - s.r).max(), np.abs(R[k] - s.R).max()) for k, s in enumerate(states))


@settings(max_examples=40)
@given(SEED, st.integers(1, 6))
def test_random_mechanisms_move_as_newton_and_euler_say(seed, count):
    plan = drawn(seed, count)
    m = plan.reference()
    start = plan.start(m)
    assert apart(simulated(plan, start), m.motion(start, TIMES)) < 1e-7


@settings(max_examples=25)
@given(SEED, st.integers(2, 6))
def test_reactions_of_random_mechanisms(seed, count):
    """Equal to the reference's in every joint, and in balance with every body's motion."""
    plan = drawn(seed, count)
    m = plan.reference()
    start = plan.start(m)
    result = simulated(plan, start)
    left, size = lacking(plan, result)
    assert np.abs(left).max() < 1e-7 * size
    states = m.motion(start, TIMES)
    for k, state in enumerate(states):
        for name, (force, moment) in m.reactions(0.0, state).items():
            found = result.reaction(name)
            assert np.abs(found.force[k] - force).max() < 1e-5 * size
            assert np.abs(found.moment[k] - moment).max() < 1e-5 * size


@settings(max_examples=25)
@given(SEED, st.integers(2, 6), ACCURATE)
def test_momentum_of_what_floats_is_kept(seed, count, method):
    plan = drawn(seed, count, floating=True, gravity=(0, 0, 0))
    result = simulated(plan, plan.start(plan.reference()), method=method, tolerance=1e-9)
    r, R = poses(result, count)
    v, omega = rates(result, count)
    mass = np.array([b.mass for b in plan.bodies])
    J = np.array([b.inertia for b in plan.bodies])
    linear = np.einsum("k,tka->ta", mass, v)
    spin = np.einsum("k,tka->ta", mass, np.cross(r, v))
    spin += np.einsum("tkab,kbc,tkdc,tkd->ta", R, J, R, omega)
    size = 1.0 + np.abs(linear).max() + np.abs(spin).max()
    assert np.abs(linear - linear[0]).max() < 1e-7 * size
    assert np.abs(spin - spin[0]).max() < 1e-7 * size


@settings(max_examples=25)
@given(SEED, st.integers(2, 8), st.sampled_from(["auto", "augmented", "radau", "canonical", "bdf", "alpha", "ali3p"]))
def test_energy_is_balanced(seed, count, method):
    plan = drawn(seed, count)
    accurate = method in ("auto", "augmented", "radau")
    start = plan.start(plan.reference())
    result = simulated(plan, start, method=method, tolerance=1e-9 if accurate else 1e-8)
    parts = ("kinetic", "potential", "elastic")
    size = 1.0 + sum(float(np.ptp(result.array(f"energy.{part}"))) for part in parts)
    assert np.abs(result.array("energy.balance")).max() < (1e-6 if accurate else 1e-2) * size


@settings(max_examples=25)
@given(SEED, st.integers(2, 6))
def test_the_world_turned_and_shifted_changes_nothing(seed, count):
    """Energies stay, positions and reactions turn along; reactions in the joints' own axes stay as they are."""
    plan = drawn(seed, count)
    rng = np.random.default_rng(seed)
    Q, shift = turn(rng), rng.uniform(-2, 2, 3)
    start = plan.start(plan.reference())
    here = simulated(plan, start)
    there = plan.build(Q, shift).simulate(TIMES, velocities=velocities(start, Q), tolerance=1e-11)
    (r0, R0), (r1, R1) = poses(here, count), poses(there, count)
    assert np.abs(r0 @ Q.T + shift - r1).max() < 1e-7
    assert np.abs(Q @ R0 - R1).max() < 1e-7
    for part in ("kinetic", "elastic", "dissipated"):
        one, other = (each.array(f"energy.{part}") for each in (here, there))
        assert np.abs(one - other).max() < 1e-7 * (1 + np.abs(one).max())
    for n, joint in enumerate(plan.joints):
        one, other = here.reaction(f"J{n}"), there.reaction(f"J{n}")
        size = 1 + np.abs(one.force).max() + np.abs(one.moment).max()
        assert np.abs(one.force @ Q.T - other.force).max() < 1e-5 * size
        assert np.abs(one.moment @ Q.T - other.moment).max() < 1e-5 * size
        own = [each.reaction(f"J{n}", axes="body") for each in (here, there)]
        assert np.abs(own[0].force - own[1].force).max() < 1e-5 * size, joint.kind


@settings(max_examples=15)
@given(SEED, st.integers(2, 5), ACCURATE)
def test_without_losses_the_way_back_is_the_way(seed, count, method):
    plan = drawn(seed, count, damped=False)
    m = plan.build()
    start = plan.start(plan.reference())
    options = {"method": method, "tolerance": 1e-11}
    out = m.simulate(TIMES, velocities=velocities(start), **options)
    names = [triple[0] for triple in out.columns]
    end = kp.Pose(dict(zip(names, out.q[-1].tolist(), strict=True)))
    (_, omega), (v, _) = (rates(out, count) for _ in range(2))
    quaternion = np.tile([1.0, 0, 0, 0], (count, 1))
    reversed_ = velocities(State(np.zeros((count, 3)), quaternion, -v[-1], -omega[-1]))
    back = m.simulate(TIMES, start=end, velocities=reversed_, **options)
    (r0, R0), (r1, R1) = poses(out, count), poses(back, count)
    assert np.abs(r1[::-1] - r0).max() < 1e-6
    assert np.abs(R1[::-1] - R0).max() < 1e-6


# --- MuJoCo -----------------------------------------------------------------------------------------------------------

HINGES = {"revolute": "hinge", "prismatic": "slide", "spherical": "ball"}


def mjcf(plan: Plan) -> str:
    """A tree of hinges, slides and balls in MuJoCo's words."""
    from kempe.benchmarks.turning import quaternion_of

    def numbers(values: np.ndarray) -> str:
        return " ".join(repr(float(value)) for value in values)

    def body(k: int, parent: int) -> str:
        own, joint = plan.bodies[k], next(joint for joint in plan.joints if joint.j == k)
        base = (np.zeros(3), np.eye(3)) if parent < 0 else (plan.bodies[parent].at, plan.bodies[parent].rotation)
        J, R = own.inertia, own.rotation
        full = numbers([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
        axis = "" if joint.kind == "spherical" else f'axis="{numbers(R.T @ joint.axis)}"'
        inside = "".join(body(other.j, k) for other in plan.joints if other.i == k)
        return (
            f'<body name="b{k}" pos="{numbers(base[1].T @ (own.at - base[0]))}" '
            f'quat="{numbers(quaternion_of(base[1].T @ R))}">'
            f'<joint type="{HINGES[joint.kind]}" pos="{numbers(R.T @ (joint.at - own.at))}" {axis}/>'
            f'<inertial pos="0 0 0" mass="{own.mass}" fullinertia="{full}"/>{inside}</body>'
        )

    trees = "".join(body(joint.j, -1) for joint in plan.joints if joint.i < 0)
    gravity = numbers(plan.gravity)
    return (
        f'<mujoco><option timestep="2.5e-4" gravity="{gravity}" integrator="RK4"><flag contact="disable"/></option>'
        f"<worldbody>{trees}</worldbody></mujoco>"
    )


@settings(max_examples=25)
@given(SEED, st.integers(1, 6))
def test_random_trees_move_as_in_mujoco(seed, count):
    mujoco = pytest.importorskip("mujoco")
    plan = drawn(seed, count, kinds=tuple(HINGES), loops=0, springs=0)
    start = plan.start(plan.reference())
    model = mujoco.MjModel.from_xml_string(mjcf(plan))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rows = []
    for k in range(count):
        jacobian = np.zeros((2, 3, model.nv))
        mujoco.mj_jacBodyCom(model, data, jacobian[0], jacobian[1], k_of(mujoco, model, k))
        rows.append(jacobian.reshape(6, -1))
    data.qvel[:] = np.linalg.lstsq(np.vstack(rows), np.hstack([start.v, start.omega]).ravel())[0]
    mujoco.mj_step(model, data, 1200)
    mujoco.mj_kinematics(model, data)
    numbers = [k_of(mujoco, model, k) for k in range(count)]
    result = simulated(plan, start)
    r, R = poses(result, count)
    assert np.abs(r[-1] - data.xpos[numbers]).max() < 1e-7
    assert np.abs(R[-1] - data.xmat[numbers].reshape(-1, 3, 3)).max() < 1e-7


def k_of(mujoco, model, k: int) -> int:
    return int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, f"b{k}"))
