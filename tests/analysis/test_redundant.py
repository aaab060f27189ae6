"""Redundant constraints: the motion is that of the same mechanism without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from machines import GRAVITY, link

import kempe as kp

#: Options of the methods that are compared. Those of order 2 take the same fixed steps with and without redundancy;
#: the tolerance then says how well each step is solved.
METHODS: dict[str, dict[str, Any]] = {
    "auto": {"tolerance": 1e-12},
    "augmented": {"tolerance": 1e-12},
    "independent": {"tolerance": 1e-12},
    "radau": {"tolerance": 1e-10},
    "bdf": {"tolerance": 1e-10},
    "alpha": {"step": 0.005, "tolerance": 1e-11},
    "ali3p": {"step": 0.005, "tolerance": 1e-11},
}
#: ALI3-P projects in a metric that depends on how the multipliers share the load: the ninth digit of doubled joints.
SAME = {"ali3p": 1e-8}
#: Constraints that depend on each other only where all hold: what Newton's method leaves of one moves the others.
CURVED = {"radau": 3e-7, "bdf": 3e-8, "ali3p": 1e-5}
START = -1.2
TIMES = np.linspace(0.0, 1.5, 16)


def parallelogram(pinned: bool = True) -> kp.Mechanism:
    """Three parallel cranks with a heavy coupler; the pin of the third is redundant, or a gear pair takes its place.

    The cranks swing below their pivots and never reach the position where all lie on one line.
    """
    m = kp.Mechanism("parallelogram", gravity=GRAVITY)
    tip = np.array([np.cos(START), np.sin(START)])
    coupler = m.body("coupler", 2.0, 0.5, at=tip + np.array([1.0, 0.0]))
    for k, pivot in enumerate(((0.0, 0.0), (2.0, 0.0), (1.0, 0.6)), start=1):
        crank = link(m, f"crank {k}", pivot, pivot + tip)
        m.revolute(f"O{k}", m.ground, crank, at=pivot)
        if k < 3 or pinned:
            m.revolute(f"A{k}", crank, coupler, at=pivot + tip)
        else:
            m.gear("parallel", m["crank 1"], crank, ratio=1.0)
    m.spring("spring", m.ground, coupler, on_i=(1, 3), stiffness=5.0, length=1.0, damping=0.3)
    return m


def one_crank() -> kp.Mechanism:
    """The same motion in one body: three cranks turn as one, the coupler's mass sits at their tips."""
    m = kp.Mechanism("parallelogram as one", gravity=GRAVITY)
    tip = np.array([np.cos(START), np.sin(START)])
    mass, inertia = 3.0, 3.0 / 12
    crank = m.body("crank 1", mass, inertia, at=tip / 2, angle=START)
    bob = m.body("coupler", 2.0, 0.5, at=tip + np.array([1.0, 0.0]))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, bob, at=tip)
    m.constraint("level", lambda b: b.angle, bob)
    m.spring("spring", m.ground, bob, on_i=(1, 3), stiffness=5.0, length=1.0, damping=0.3)
    return m


def common(one: kp.Result, other: kp.Result) -> float:
    """The largest difference of what both results have."""
    names = {n for triple in one.columns for n in triple[:2]} & {n for triple in other.columns for n in triple[:2]}
    assert len(names) > 2
    return float(max(np.abs(one.array(n) - other.array(n)).max() for n in names))


@pytest.mark.parametrize("method", ["auto", "augmented", "radau"])
def test_third_crank_of_a_parallelogram_changes_only_the_mass(method):
    three, velocities = parallelogram(), {"crank 1.omega": 1.0}
    assert three.mobility().dof == 1 and len(three.mobility().redundant) > 0
    exact = one_crank().simulate(TIMES, velocities=velocities, tolerance=1e-13)
    result = three.simulate(TIMES, velocities=velocities, method=method, **METHODS[method])
    assert common(result, exact) < 1e-9
    # how the bearings share the load is not determined, but what they carry together is
    for row in "xy":
        carried = sum(result.array(f"lambda.O{k}.{row}") for k in (1, 2, 3))
        alone = exact.array(f"lambda.O.{row}")
        assert np.abs(carried - alone).max() < 1e-6 * np.abs(alone).max()


@pytest.mark.parametrize("method", METHODS)
def test_third_crank_pinned_or_geared(method):
    """The pin does what a gear pair does without redundancy."""
    options: dict[str, Any] = {"velocities": {"crank 1.omega": 1.0}, "method": method, **METHODS[method]}
    one, other = (parallelogram(pinned).simulate(TIMES, **options) for pinned in (False, True))
    assert common(one, other) < SAME.get(method, 1e-9)


def slider_crank(extra: str = "") -> kp.Mechanism:
    """A slider-crank, plain or with constraints that say the same again."""
    m = kp.Mechanism(f"slider-crank {extra}", gravity=GRAVITY)
    A = 0.4 * np.array([np.cos(0.8), np.sin(0.8)])
    B = np.array([A[0] + np.sqrt(1.0 - A[1] ** 2), 0.0])
    crank, rod, slider = link(m, "crank", (0, 0), A), link(m, "rod", A, B), m.body("slider", 0.5, 0.01, at=B)
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=A)
    m.revolute("B", rod, slider, at=B)
    m.translational("guide", m.ground, slider, at=(0, 0), axis=(1, 0))
    m.spring("spring", m.ground, slider, on_i=(3, 0), stiffness=12.0, length=1.5, damping=0.4)
    if extra == "joint twice":
        m.revolute("A again", crank, rod, at=A)
    elif extra == "guide twice":
        m.translational("second guide", m.ground, slider, at=(0, 0.2), on_j=(0, 0.2), axis=(1, 0))
    elif extra == "everything twice":
        for name, i, j, at in (("O", m.ground, crank, (0, 0)), ("A", crank, rod, A), ("B", rod, slider, B)):
            m.revolute(f"{name} again", i, j, at=at)
        m.translational("second guide", m.ground, slider, at=(0, 0.2), on_j=(0, 0.2), axis=(1, 0))
    elif extra == "rod of constant length":
        m.link("link", crank, slider, on_i=(0.2, 0), on_j=(0, 0))
    return m


DOUBLED = ["joint twice", "guide twice", "everything twice"]


@pytest.mark.parametrize("extra", [*DOUBLED, "rod of constant length"])
@pytest.mark.parametrize("method", METHODS)
def test_constraints_that_say_the_same_again_change_nothing(method, extra):
    plain, again = slider_crank(), slider_crank(extra)
    assert len(again.mobility().redundant) > 0 and again.mobility().dof == 1
    options: dict[str, Any] = {"velocities": {"crank.omega": 4.0}, "method": method, **METHODS[method]}
    one, other = plain.simulate(TIMES, **options), again.simulate(TIMES, **options)
    assert common(one, other) < (SAME if extra in DOUBLED else CURVED).get(method, 1e-9)
    assert other.stats["largest violation"] < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_doubled_joints_share_the_reaction(method):
    options: dict[str, Any] = {"velocities": {"crank.omega": 4.0}, "method": method, **METHODS[method]}
    one, other = slider_crank().simulate(TIMES, **options), slider_crank("joint twice").simulate(TIMES, **options)
    for row in "xy":
        alone = one.array(f"lambda.A.{row}")
        first, second = other.array(f"lambda.A.{row}"), other.array(f"lambda.A again.{row}")
        assert np.abs(first + second - alone).max() < 1e-6 * np.abs(alone).max()
        if method != "independent":  # which leaves dependent rows without a multiplier
            assert np.abs(first - second).max() < 1e-4 * np.abs(alone).max()
