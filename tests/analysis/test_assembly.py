"""Assembly: closes rough sketches, keeps what is held, finds the nearest pose, explains what cannot be closed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linkages import four_bar, parallelogram

import kempe as kp
from kempe.simulation.posing import Posed


def residual(m: kp.Mechanism, pose: kp.Pose) -> float:
    return float(np.abs(Posed(m).Phi(pose.q, 0.0)).max())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_sketches_thirty_percent_off_are_closed(seed):
    rng = np.random.default_rng(seed)
    good = four_bar(1, 2, 2.2, 2.5)
    true = good.assemble()
    off = {k: v + rng.uniform(-0.3, 0.3) * (1.0 if "angle" in k else 2.0) for k, v in true.values.items()}
    pose = good.assemble(start=kp.Pose(off))
    assert residual(good, pose) < 1e-12
    assert pose["crank.angle"] == pytest.approx(0.7, abs=1e-12)  # what the driver asks for


def test_a_sketch_that_is_right_is_left_alone():
    m = four_bar(1, 2, 2.2, 2.5)
    assert max(map(abs, m.assemble().moved.values())) < 1e-14


def test_the_pose_is_the_nearest_one():
    """A pendulum drawn too long at 30 degrees: the nearest point of its circle lies on the ray through the drawing."""
    m = kp.Mechanism("pendulum")
    pivot, bob = m.point("pivot", fixed="xy"), m.point("bob", at=(1.3 * np.cos(0.5), 1.3 * np.sin(0.5)))
    m.bar("rod", pivot, bob, length=1.0)
    pose = m.assemble()
    assert np.arctan2(pose["bob.y"], pose["bob.x"]) == pytest.approx(0.5, abs=1e-9)
    assert np.hypot(pose["bob.x"], pose["bob.y"]) == pytest.approx(1.0, abs=1e-14)


def test_held_coordinates_stay_and_weights_share_the_movement():
    m = kp.Mechanism("rod")
    a, b = m.point("a", at=(0, 0)), m.point("b", at=(3, 0))
    m.bar("rod", a, b, length=2.0)
    held = m.assemble(hold=["a.x", "a.y"])
    assert held["a.x"] == 0.0 and held["b.x"] == pytest.approx(2.0, abs=1e-12)
    free = m.assemble()
    assert free["a.x"] == pytest.approx(0.5, abs=1e-9) and free["b.x"] == pytest.approx(2.5, abs=1e-9)
    weighted = m.assemble(weights={"a.x": 3.0})
    assert weighted["a.x"] == pytest.approx(0.25, abs=1e-9) and weighted["b.x"] == pytest.approx(2.25, abs=1e-9)
    with pytest.raises(kp.ModelError, match=r"no coordinate 'c\.x'"):
        m.assemble(hold=["c.x"])


def test_what_cannot_be_closed_is_explained():
    m = kp.Mechanism("triangle")
    a, b = m.point("a", at=(0, 0), fixed="xy"), m.point("b", at=(4, 0), fixed="xy")
    c = m.point("c", at=(2, 1))
    m.bar("left", a, c, length=1.5)
    m.bar("right", c, b, length=1.5)
    with pytest.raises(kp.AssemblyError, match=r"'left' by .*'right' by") as caught:
        m.assemble()
    assert set(caught.value.gaps) == {"left", "right"}
    assert caught.value.pose["c.x"] == pytest.approx(2.0, abs=0.05)  # about half way


def test_a_crank_drawn_in_another_turn_is_drawn_right():
    m = four_bar(1, 2, 2.2, 2.5, theta=-1.0, law=kp.constant_speed(1.0, start=2 * np.pi - 1.0))
    moved = m.assemble().moved
    assert moved["crank.angle"] == pytest.approx(0.0, abs=1e-12)


def test_consistent_velocities_keep_what_is_given():
    m = parallelogram()
    pose = m.assemble(velocities={"crank 1.omega": 2.0})
    assert pose["crank 1.omega"] == pytest.approx(2.0, abs=1e-9)
    assert pose["crank 2.omega"] == pytest.approx(2.0, abs=1e-9)
    assert pose["coupler.omega"] == pytest.approx(0.0, abs=1e-9)
    assert pose["coupler.vy"] == pytest.approx(2.0 * np.cos(0.7), abs=1e-9)


def test_parameters_change_the_assembly_without_rebuilding():
    m = kp.Mechanism("slider")
    L = m.parameter("rod length", 2.0)
    A, B = m.point("A", at=(0, 1), fixed="xy"), m.point("B", at=(1.7, 0), fixed="y")
    m.bar("rod", A, B, length=L)
    compiled = None
    for length in (2.0, 1.5, 3.0):
        pose = m.assemble(parameters={"rod length": length})
        assert pose["B.x"] == pytest.approx(np.sqrt(length**2 - 1), abs=1e-12)
        assert compiled is None or m.compiled is compiled
        compiled = m.compiled
    m.set({"rod length": 1.25})
    assert m.assemble()["B.x"] == pytest.approx(0.75, abs=1e-12)
