"""Every joint in space: motion, reactions, power, and the balance of every body, against Newton and Euler."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from spatial_plans import GROUND, LETTERS, ROWS, Plan, drawn, poses, rates, velocities

import kempe as kp
from kempe.benchmarks.rigid_bodies import State
from kempe.benchmarks.turning import about, quaternion_of

TIMES = np.linspace(0.0, 0.4, 5)
SEEDS = (1, 2)


@cache
def run(kind: str, seed: int) -> tuple[Plan, kp.Result, list[State]]:
    """A body on the ground, another on the first, both by joints of one kind; Kempe's motion and the reference's."""
    plan = drawn(seed, 2, kinds=(kind,), loops=0, springs=2, serial=True)
    m = plan.reference()
    start = plan.start(m)
    result = plan.build().simulate(TIMES, velocities=velocities(start), tolerance=1e-11)
    return plan, result, m.motion(start, TIMES)


EACH = pytest.mark.parametrize(("kind", "seed"), [(kind, seed) for kind in ROWS for seed in SEEDS])


@EACH
def test_mobility_is_six_each_less_the_rows(kind, seed):
    plan, _, _ = run(kind, seed)
    mobility = plan.build().mobility()
    assert mobility.dof == plan.freedom() == 12 - 2 * ROWS[kind]
    assert not mobility.redundant


@EACH
def test_the_motion_is_that_of_newton_and_euler(kind, seed):
    _, result, truth = run(kind, seed)
    r, R = poses(result, 2)
    v, omega = rates(result, 2)
    for k, state in enumerate(truth):
        assert np.abs(r[k] - state.r).max() < 1e-8
        assert np.abs(R[k] - state.R).max() < 1e-8
        assert np.abs(v[k] - state.v).max() < 1e-7
        assert np.abs(omega[k] - state.omega).max() < 1e-7


@EACH
def test_the_joint_stays_whole(kind, seed):
    """By the other computation's equations."""
    plan, result, _ = run(kind, seed)
    m = plan.reference()
    m.start()
    r, R = poses(result, 2)
    for k in range(len(TIMES)):
        quaternion = np.array([quaternion_of(each) for each in R[k]])
        assert m.violation(0.0, State(r[k], quaternion, np.zeros((2, 3)), np.zeros((2, 3)))) < 1e-9
        assert np.abs(R[k] @ np.swapaxes(R[k], 1, 2) - np.eye(3)).max() < 1e-9


@EACH
def test_reactions_are_those_of_newton_and_euler(kind, seed):
    plan, result, truth = run(kind, seed)
    m = plan.reference()
    m.start()
    for k, state in enumerate(truth):
        for name, (force, moment) in m.reactions(0.0, state).items():
            found = result.reaction(name)
            size = 1 + np.abs(force).max() + np.abs(moment).max()
            assert found.on == f"b{plan.joints[int(name[1:])].j}"
            assert np.abs(found.force[k] - force).max() < 1e-6 * size
            assert np.abs(found.moment[k] - moment).max() < 1e-6 * size


@EACH
def test_what_a_joint_does_to_one_side_it_does_to_the_other(kind, seed):
    """Equal and opposite, moments taken about the same point; and no work is done on the two together."""
    _, result, _ = run(kind, seed)
    r, _ = poses(result, 2)
    v, omega = rates(result, 2)
    on_i, on_j = (result.reaction("J1", on=f"b{k}") for k in (0, 1))
    size = 1 + np.abs(on_j.force).max() + np.abs(on_j.moment).max()
    assert np.abs(on_i.force + on_j.force).max() < 1e-9 * size
    about = on_i.moment + on_j.moment + np.cross(on_i.point - on_j.point, on_i.force)
    assert np.abs(about).max() < 1e-8 * size
    power = np.zeros(len(TIMES))
    for body, reaction in ((0, on_i), (1, on_j)):
        at = v[:, body] + np.cross(omega[:, body], reaction.point - r[:, body])
        power += (reaction.force * at).sum(axis=1) + (reaction.moment * omega[:, body]).sum(axis=1)
    speed = 1 + np.abs(v).max() + np.abs(omega).max()
    assert np.abs(power).max() < 1e-8 * size * speed


def lacking(plan: Plan, result: kp.Result) -> tuple[np.ndarray, float]:
    """Forces and moments on every body less what its motion takes, and the size of the largest."""
    count = len(plan.bodies)
    r, R = poses(result, count)
    _, omega = rates(result, count)
    a, alpha = rates(result, count, ("a{}", "alpha.{}"))
    left = np.zeros((len(result), count, 6))
    size = 1.0
    pulls = [(f"J{n}", joint.i, joint.j) for n, joint in enumerate(plan.joints)]
    pulls += [(f"S{n}", spring.i, spring.j) for n, spring in enumerate(plan.springs)]
    for name, *sides in pulls:
        for body in sides:
            if body == GROUND:
                continue
            found = result.reaction(name, on=f"b{body}")
            left[:, body, :3] += found.force
            left[:, body, 3:] += found.moment + np.cross(found.point - r[:, body], found.force)
            size = max(size, np.abs(found.force).max(), np.abs(found.moment).max())
    for k, body in enumerate(plan.bodies):
        J = R[:, k] @ body.inertia @ np.swapaxes(R[:, k], 1, 2)
        spin = np.einsum("tab,tb->ta", J, omega[:, k])
        left[:, k, :3] -= body.mass * (a[:, k] - plan.gravity)
        left[:, k, 3:] -= np.einsum("tab,tb->ta", J, alpha[:, k]) + np.cross(omega[:, k], spin)
    return left, size


@EACH
def test_forces_and_moments_balance_every_body(kind, seed):
    """With Kempe's own accelerations: Newton for the centre of mass, Euler about it."""
    plan, result, _ = run(kind, seed)
    left, size = lacking(plan, result)
    assert np.abs(left).max() < 1e-8 * size


@EACH
def test_axes_of_reactions_are_turns_of_one_vector(kind, seed):
    _, result, _ = run(kind, seed)
    R = result.rotation("b1")
    world, body = (result.reaction("J1", on="b1", axes=axes) for axes in ("global", "body"))
    for part in ("force", "moment"):
        turned = np.einsum("tab,tb->ta", R, getattr(body, part))
        assert np.abs(turned - getattr(world, part)).max() < 1e-9 * (1 + np.abs(turned).max())
    if kind != "link":
        joint = result.reaction("J1", on="b1", axes="joint")
        for part in ("force", "moment"):
            one, other = (np.linalg.norm(getattr(each, part), axis=1) for each in (world, joint))
            assert np.abs(one - other).max() < 1e-9 * (1 + one.max())


FREE = {
    "revolute": ("moment", 2),
    "cylindrical": ("moment", 2),
    "prismatic": ("force", 2),
    "point_on_line": ("force", 2),
}


@pytest.mark.parametrize("kind", FREE)
def test_a_joint_holds_nothing_along_its_freedom(kind):
    """In the axes of its marker on the first body, which carries the axis."""
    _, result, _ = run(kind, 1)
    part, which = FREE[kind]
    found = result.reaction("J1", on="b0", axes="joint")
    assert np.abs(getattr(found, part)[:, which]).max() < 1e-9 * (1 + np.abs(found.force).max())


def test_histories_of_a_reaction_are_its_components():
    _, result, _ = run("revolute", 1)
    found = result.reaction("J1")
    for k, letter in enumerate(LETTERS):
        assert np.array_equal(result.array(f"J1.force.{letter}"), found.force[:, k])
        assert np.array_equal(result.array(f"J1.moment.{letter}"), found.moment[:, k])
    assert np.abs(result.array("J1.force") - np.linalg.norm(found.force, axis=1)).max() < 1e-12
    assert np.abs(result.array("J1.moment") - np.linalg.norm(found.moment, axis=1)).max() < 1e-12


# --- drivers and gears ------------------------------------------------------------------------------------------------


def test_a_driven_hinge_needs_the_torque_of_euler():
    """A body with products of inertia about a fixed axis: what the motor gives is what its motion takes."""
    plan = drawn(5, 2, kinds=("revolute",), loops=0, springs=0, serial=True)
    m = plan.build()
    angle = m.elements["J0"].angle
    m.driver("motor", angle, lambda t: 0.3 * kp.sin(4 * t))
    reference = plan.reference()
    joint = plan.joints[0]

    def law(t: float) -> tuple[float, float, float]:
        return 0.3 * np.sin(4 * t), 1.2 * np.cos(4 * t), -4.8 * np.sin(4 * t)

    reference.driver("motor", joint.i, joint.j, joint.axis, law)
    start = reference.start()
    result = m.simulate(TIMES, velocities=velocities(start), tolerance=1e-11)
    truth = reference.motion(start, TIMES)
    r, R = poses(result, 2)
    for k, state in enumerate(truth):
        assert np.abs(r[k] - state.r).max() < 1e-8
        assert np.abs(R[k] - state.R).max() < 1e-8
        torque = reference.reactions(TIMES[k], state)["motor"][1] @ joint.axis  # the first hinge is on the ground
        assert result.array("motor.effort")[k] == pytest.approx(torque, abs=1e-6)


def test_gears_between_skew_shafts():
    """Two shafts in bearings about skew axes: they turn in the ratio, and share the torque by it."""
    m = kp.Mechanism("gears", dim=3, gravity=(0, 0, 0))
    axes, places, J = [(1, 2, 0), (0, 1, 3)], [(0, 0, 0), (1, 1, 0)], np.diag([0.3, 0.2, 0.4])
    wheels = [m.body(f"b{k}", mass=1.0, inertia=J, at=places[k]) for k in range(2)]
    hinges = [m.revolute(f"J{k}", m.ground, wheels[k], at=places[k], axis=axes[k]) for k in range(2)]
    m.gear("G", *hinges, ratio=-2.5)
    m.torque("T", wheels[0], tuple(1.4 * np.array(axes[0]) / np.linalg.norm(axes[0])))
    result = m.simulate(np.linspace(0, 6, 31), tolerance=1e-11)
    units = [np.array(axis) / np.linalg.norm(axis) for axis in axes]
    first, second = (n @ J @ n for n in units)
    acceleration = 1.4 / (first + 2.5**2 * second)
    angle = acceleration * result.t**2 / 2
    assert angle[-1] > 2 * np.pi  # over full turns
    assert np.abs(result.rotation("b0") - np.array([about(units[0], a) for a in angle])).max() < 1e-8
    assert np.abs(result.rotation("b1") - np.array([about(units[1], -2.5 * a) for a in angle])).max() < 1e-8
