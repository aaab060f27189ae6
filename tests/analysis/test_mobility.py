"""Degrees of freedom and redundant constraints, by name, and singular positions told from permanent redundancy."""

from __future__ import annotations

import numpy as np
import pytest
from linkages import four_bar, parallelogram

import kempe as kp


def test_four_bar():
    info = four_bar(1, 2, 2.2, 2.5).mobility()
    assert (info.coordinates, info.constraints, info.gruebler, info.dof, info.drivers) == (9, 8, 1, 1, 1)
    assert not info.redundant and not info.singular_position


def test_a_third_parallel_crank_is_a_permanent_redundancy():
    for side in (0.0, 0.5):
        info = parallelogram(3, side=side).mobility()
        assert (info.gruebler, info.dof) == (0, 1)
        assert [d.permanent for d in info.redundant] == [True]
        assert info.redundant[0].row.startswith("A3")  # the last one added is the one too many
        assert {"A1", "A2", "A3"} <= set(info.redundant[0].elements)
        assert not info.singular_position
        assert info.gap > 1e6
        assert "redundant" in str(info)


def test_a_joint_given_twice_is_named():
    m = four_bar(1, 2, 2.2, 2.5)
    m.revolute("B again", m["coupler"], m["rocker"], on_i=(1, 0), on_j=(1.1, 0))
    info = m.mobility()
    assert info.dof == 1 and len(info.redundant) == 2
    for dependency in info.redundant:
        assert dependency.elements == ["B", "B again"]
        assert str(dependency) in ("B again.x = +1 B.x", "B again.y = +1 B.y")


def test_a_flat_parallelogram_is_a_singular_position_not_a_redundancy():
    info = parallelogram(2, theta=0.0).mobility()
    assert (info.dof, info.instantaneous, info.singular_position, info.shaky) == (1, 2, True, False)
    assert [d.permanent for d in info.redundant] == [False]


def test_a_flattened_triangle_is_shaky():
    """Two bars in line between fixed points: the middle joint moves infinitesimally and not at all."""
    m = kp.Mechanism("flat triangle")
    a, b = m.point("a", at=(0, 0), fixed="xy"), m.point("b", at=(2, 0), fixed="xy")
    c = m.point("c", at=(1, 0))
    m.bar("left", a, c)
    m.bar("right", c, b)
    info = m.mobility()
    assert info.shaky and info.instantaneous == 1 and info.dof == 0
    assert "infinitesimally" in str(info)


def test_a_truss_and_free_bodies():
    m = kp.Mechanism("truss")
    a, b, c = (m.point(n, at=p) for n, p in (("a", (0, 0)), ("b", (1, 0)), ("c", (0.4, 0.8))))
    for name, ends in (("ab", (a, b)), ("bc", (b, c)), ("ca", (c, a))):
        m.bar(name, *ends)
    assert m.mobility().dof == 3  # a rigid triangle floats
    m.body("loose")
    assert m.mobility().dof == 6


@pytest.mark.parametrize("collinear", [False, True])
def test_a_plate_is_rigid_also_when_its_points_are_in_line(collinear):
    m = kp.Mechanism("plate")
    points = [m.point(n, at=p) for n, p in (("a", (0, 0)), ("b", (1, 0)), ("c", (0.4, 0.0 if collinear else 0.8)))]
    m.plate("plate", *points)
    info = m.mobility()
    assert info.dof == 3 and not info.redundant


def test_ranks_of_the_lecture_example():
    system = kp.Equations(
        "slider",
        ["x2", "f1", "f2"],
        constraints=lambda q, t, p: [
            -q.x2 + kp.cos(q.f1) + 0.5 * kp.sin(q.f2),
            kp.sin(q.f1) - 0.5 * kp.cos(q.f2),
            q.f1 - kp.pi / 12 * t,
        ],
    )
    pose = {"x2": np.sqrt(3) / 2, "f1": np.pi / 6, "f2": 0.0}
    assert system.ranks(pose, time=2.0)[:2] == (2, 3)


def test_size_does_not_matter():
    for scale in (1e-4, 1e4):
        m = kp.Mechanism("scaled")
        a, b = m.point("a", at=(0, 0), fixed="xy"), m.point("b", at=(2 * scale, 0), fixed="xy")
        c = m.point("c", at=(scale, 0.7 * scale))
        m.bar("left", a, c)
        m.bar("right", c, b)
        assert m.mobility().dof == 0 and not m.mobility().singular_position


# --- what is not redundant ------------------------------------------------------------------------------------------


def led_point(m):
    m.link("rod", m.point("P", (0, 0)), m.point("B", (0, -1), mass=1.0))
    m.point_driver("lead", m["P"], lambda t: 0.1 * kp.sin(5 * t), 0.0)


def driven_body(m):
    a, b = m.body("a"), m.body("b", 1.0, 0.1, at=(0, -1))
    for name, quantity in {"x": a.x, "y": a.y, "turn": a.angle}.items():
        m.driver(name, quantity, 0.0)
    m.revolute("pin", a, b, at=(0, 0))


def flat_slider_crank(m):
    crank, slider = m.body("crank", 1.0, 0.1, at=(0.1, 0)), m.body("slider", at=(0.6, 0))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0))
    m.link("rod", crank, slider, on_i=(0.1, 0), on_j=(0, 0))
    m.driver("motor", crank.angle, kp.constant_speed(3.0))


def flat_parallelogram(m):
    O, C = m.point("O", (0, 0), fixed="xy"), m.point("C", (2, 0), fixed="xy")
    A, B = m.point("A", (1, 0)), m.point("B", (3, 0))
    for name, ends in {"OA": (O, A), "AB": (A, B), "CB": (C, B)}.items():
        m.bar(name, *ends)


@pytest.mark.parametrize("build", [led_point, driven_body, flat_slider_crank, flat_parallelogram])
def test_parts_without_mass_and_flat_starts_are_not_redundant(build):
    m = kp.Mechanism("m", gravity=(0, -9.81))
    build(m)
    info = m.mobility()
    assert not [d for d in info.redundant if d.permanent] and "redundant" not in str(info)
    assert info.singular_position == (build is flat_parallelogram)
    assert not [finding for finding in m.check() if "redundant" in str(finding)]
