"""Systems given as equations: mass, force and constraints come out as written, and mistakes are explained."""

from __future__ import annotations

import numpy as np
import pytest

import kempe as kp
from kempe.analysis.posing import Posed


def double_pendulum() -> kp.Equations:
    """Two points of mass m1, m2 on rods l1, l2 in absolute angles, with viscous pivots."""
    return kp.Equations(
        "double pendulum",
        {"a": 0.3, "b": -0.2},
        parameters={"m1": 1.0, "m2": 2.0, "l1": 0.7, "l2": 0.4, "c": 0.1},
        mass=lambda q, p: [
            [(p.m1 + p.m2) * p.l1**2, p.m2 * p.l1 * p.l2 * kp.cos(q.a - q.b)],
            [p.m2 * p.l1 * p.l2 * kp.cos(q.a - q.b), p.m2 * p.l2**2],
        ],
        force=lambda q, v, t, p: [
            -(p.m1 + p.m2) * 9.81 * p.l1 * kp.sin(q.a) - p.m2 * p.l1 * p.l2 * kp.sin(q.a - q.b) * v.b**2 - p.c * v.a,
            -p.m2 * 9.81 * p.l2 * kp.sin(q.b) + p.m2 * p.l1 * p.l2 * kp.sin(q.a - q.b) * v.a**2 + t,
        ],
    )


def test_mass_and_force_are_those_written():
    posed = Posed(double_pendulum())
    q, v, t = np.array([0.3, -0.2]), np.array([1.5, -0.7]), 0.25
    M = posed.system.mass_matrix(posed.x, q)
    coupling = 2 * 0.7 * 0.4 * np.cos(0.5)
    assert np.abs(M - [[3 * 0.49, coupling], [coupling, 2 * 0.16]]).max() < 1e-15
    Q = posed.system.generalised_force(posed.x, q, t, v)
    swing = 2 * 0.7 * 0.4 * np.sin(0.5)
    exact = [-3 * 9.81 * 0.7 * np.sin(0.3) - swing * 0.49 - 0.15, 2 * 9.81 * 0.4 * np.sin(0.2) + swing * 2.25 + 0.25]
    assert np.abs(Q - exact).max() < 1e-14


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mass": lambda q, p: [[1, 0], [0.5, 1]]}, "not symmetric"),
        ({"mass": lambda q, p: [[1, 0, 0], [0, 1, 0]]}, "2 coordinates"),
        ({"mass": lambda q, p: [[1, 0], [0]]}, "mass matrix"),
        ({"force": lambda q, v, t, p: [q.a]}, "1 entries for 2 coordinates"),
        ({"force": lambda q, v, t: [q.a, q.b]}, "force: your function failed"),
        ({"constraints": lambda q, t, p: [q.c]}, "constraints: your function failed"),
        ({"constraints": lambda q, t, p: [None]}, "must be an expression"),
        ({"constraints": lambda q, t, p: [q.a + np.nan]}, "NaN"),
    ],
)
def test_mistakes_are_explained(options, says):
    with pytest.raises(kp.ModelError, match=says):
        kp.Equations("e", ["a", "b"], **options)


def test_coordinates_are_a_list_of_names():
    with pytest.raises(kp.ModelError, match="not one string"):
        kp.Equations("e", "ab")
    with pytest.raises(kp.ModelError, match="named twice"):
        kp.Equations("e", ["a", "a"])
    with pytest.raises(kp.ModelError, match="at least one coordinate"):
        kp.Equations("e", [])
