"""Redundant constraints with stiffnesses share a load as the elastic structure does, whatever the method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from elastic import Hung, random_hung

import kempe as kp

FOUR = Hung(np.array([-0.5, 0.5, 0.1, 0.3]), 2.1e7 * np.array([1.0, 2.0, 4.0, 1.5]), 0.05)
TIMES = np.linspace(0.0, 0.8, 9)
METHODS: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("auto", "baumgarte", "penalty", "augmented", "canonical", "independent")},
    **{name: {} for name in ("radau", "bdf", "bdf3")},
    "alpha": {"step": 0.002},
    "ali3p": {"step": 0.002},
}


def pulls(result: kp.Result, count: int) -> np.ndarray:
    """What the rods pull with."""
    return np.column_stack([result.array(f"lambda.rod {k}.length") for k in range(count)])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_shares_as_the_rods_stretch(method: str) -> None:
    found = FOUR.mechanism().simulate(TIMES, method=method, **METHODS[method])
    exact = FOUR.forces(found.array("plate.x"), found.array("plate.vx"))
    assert np.abs(pulls(found, 4) - exact).max() < 1e-5 * np.abs(exact).max()
    assert found.stats["reactions"] == "elastic"
    assert np.allclose(found["rod 2.force"], exact[:, 2], rtol=1e-5)  # (and nothing warns)


@pytest.mark.parametrize("penalty", [1e7, 1e8, 1e9, 1e10, 1e11])
def test_ali3p_does_not_depend_on_the_penalty(penalty: float) -> None:
    m = FOUR.mechanism()
    one = m.simulate(TIMES, method="ali3p", step=0.002)
    other = m.simulate(TIMES, method="ali3p", step=0.002, penalty=penalty)
    assert np.abs(one.q - other.q).max() < 1e-8
    exact = FOUR.forces(other.array("plate.x"), other.array("plate.vx"))
    assert np.abs(pulls(other, 4) - exact).max() < 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize("method", ["ali3p", "augmented", "penalty"])
def test_penalties_by_row_are_stiffnesses(method: str) -> None:
    given = {f"rod {k}": 1e3 * value for k, value in enumerate(FOUR.stiffness)}
    given["rod 1.length"] = given.pop("rod 1")
    found = FOUR.mechanism(stiff=False).simulate(TIMES, method=method, penalty=given)
    exact = FOUR.forces(found.array("plate.x"), found.array("plate.vx"))
    assert np.abs(pulls(found, 4) - exact).max() < 1e-4 * np.abs(exact).max()
    assert found["rod 0.force"].min() > 0.0  # (told, so nothing warns)


def test_without_stiffnesses_the_smallest_are_given_with_a_warning() -> None:
    found = FOUR.mechanism(stiff=False).simulate(TIMES)
    exact = FOUR.forces(found.array("plate.x"), found.array("plate.vx"), np.ones(4))
    assert np.abs(pulls(found, 4) - exact).max() < 1e-6 * np.abs(exact).max()
    with pytest.warns(kp.AccuracyWarning, match="'rod 0', 'rod 1', 'rod 2', 'rod 3'.*stiffness="):
        assert np.allclose(found["rod 1.force"], exact[:, 1], rtol=1e-6)
    assert found["rod 2.force"].min() > 0.0  # it is said once
    smallest = FOUR.mechanism().simulate(TIMES, reactions="minimum norm")
    assert np.allclose(pulls(smallest, 4), pulls(found, 4), rtol=1e-6)
    with pytest.warns(kp.AccuracyWarning, match="minimum norm"):
        smallest.reaction("rod 0")


def test_what_is_unique_does_not_warn() -> None:
    m = FOUR.mechanism(stiff=False)
    bob = m.body("bob", 1.0, 0.1, at=(0.5, -2.0))
    m.revolute("pin", m["plate"], bob, at=(0.5, -1.5))
    found = m.simulate(TIMES)
    assert found.stats["redundant constraints"] == ["rod 3.length", "rod 2.length"]
    assert np.isfinite(found["pin.force"]).all() and np.isfinite(found.reaction("pin").force).all()


@pytest.mark.parametrize("seed", range(40))
def test_random_plates(seed: int) -> None:
    """Simulated, at rest and driven by inverse dynamics, and named alike by all."""
    hung = random_hung(np.random.default_rng(seed))
    m, count = hung.mechanism(), len(hung.places)
    found = m.simulate(np.linspace(0.0, 0.3, 4))
    exact = hung.forces(found.array("plate.x"), found.array("plate.vx"))
    assert np.abs(pulls(found, count) - exact).max() < 1e-5 * np.abs(exact).max()
    assert len(found.stats.get("redundant constraints", [])) == count - 2
    assert [d.row for d in m.mobility().redundant] == found.stats.get("redundant constraints", [])
    back = m.inverse_dynamics(found)
    assert np.abs(pulls(back, count) - exact).max() < 1e-6 * np.abs(exact).max()
    rest = m.equilibrium()
    exact = hung.forces(np.zeros(1), np.zeros(1))
    assert np.abs(pulls(rest.result(), count) - exact).max() < 1e-6 * np.abs(exact).max()


def test_bars_and_links_mean_the_same_stiffness() -> None:
    """(d.d - L^2)/2 and (d.d - L^2)/(2 L) have other multipliers, and the same forces."""
    rods = [(0.0, 1.0), (0.3, 0.7), (0.7, 0.7), (1.0, 1.3)]

    def mechanism(bars: bool) -> kp.Mechanism:
        m = kp.Mechanism("hung point", gravity=(0.0, -GRAVITY))
        foot = m.point("foot", at=(0.5, -1.0), mass=3.0)
        for k, (x, share) in enumerate(rods):
            member = kp.Member(E=2.1e11, A=1e-4 * share)
            if bars:
                m.bar(f"rod {k}", m.point(f"P{k}", at=(x, 0.0), fixed="xy"), foot, stiffness=member)
            else:
                m.link(f"rod {k}", m.ground, foot, on_i=(x, 0.0), stiffness=member)
        return m

    directions = np.array([(x - 0.5, 1.0) for x, _ in rods])
    lengths = np.linalg.norm(directions, axis=1)
    unit = directions / lengths[:, None]
    k = 2.1e7 * np.array([share for _, share in rods]) / lengths
    exact = k * (unit @ np.linalg.solve((unit.T * k) @ unit, [0.0, 3.0 * GRAVITY]))
    for bars in (False, True):
        rest = mechanism(bars).simulate([0.0, 0.1]) if bars else mechanism(bars).equilibrium().result()
        pulled = [rest.array(f"lambda.rod {i}.length")[0] * (lengths[i] if bars else 1.0) for i in range(4)]
        assert np.allclose(pulled, exact, rtol=1e-6)


GRAVITY = 9.81


def test_rigid_rows_carry_before_stiff_ones() -> None:
    """The limit of ever stiffer rods: two rigid ones carry all that they can."""
    far = Hung(FOUR.places, np.array([1e14, 1e14, 8.4e7, 3e7]), FOUR.drop)
    m = kp.Mechanism("plate", gravity=(0.0, -GRAVITY))
    tip = np.array([np.sin(far.angle), -np.cos(far.angle)])
    plate = m.body("plate", far.mass, far.inertia, at=tip + np.array([0.0, -far.drop]))
    for k, x in enumerate(far.places):
        stiffness = {"stiffness": far.stiffness[k]} if k > 1 else {}
        m.link(f"rod {k}", m.ground, plate, on_i=(x, 0.0), on_j=(x, far.drop), **stiffness)
    assert m.redundancy().left == {}
    found = m.simulate(TIMES)
    exact = far.forces(found.array("plate.x"), found.array("plate.vx"))
    assert np.abs(pulls(found, 4) - exact).max() < 1e-4 * np.abs(exact).max()
    exactly = pulls(m.inverse_dynamics(found), 4)
    assert np.abs(exactly - exact).max() < 1e-5 * np.abs(exact).max()


def test_stiffnesses_that_leave_something_open_say_so() -> None:
    """Three rigid rods and an elastic one: two of the rigid carry, but which?"""
    m = kp.Mechanism("plate", gravity=(0.0, -GRAVITY))
    plate = m.body("plate", 1.0, 0.1, at=(0.0, -1.0))
    for k, x in enumerate((-0.5, 0.0, 0.5, 0.25)):
        more = {"stiffness": 1e6} if k == 3 else {}
        m.link(f"rod {k}", m.ground, plate, on_i=(x, 0.0), on_j=(x, 0.0), **more)
    found = m.redundancy()
    assert set(found.left) == {"rod 0", "rod 1", "rod 2"} and "rod 3" in found.undetermined
    assert "stiffness=" in found.message
    result = m.simulate([0.0, 0.1])
    assert abs(result["rod 3.force"][0]) < 1e-3  # (told: rigid rods carry it all)
    with pytest.warns(kp.AccuracyWarning, match="'rod 0', 'rod 1', 'rod 2'"):
        result["rod 1.force"]
