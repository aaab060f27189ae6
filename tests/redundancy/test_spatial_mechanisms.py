"""Doors, shafts, Bennett's linkage and flat linkages in space: they move, and which reactions are open is said."""

from __future__ import annotations

import numpy as np
import pytest
from hinged import bennett, four_bar, random_door, upright

import kempe as kp


@pytest.mark.parametrize("count", [2, 3])
def test_a_door_on_hinges_is_movable_and_explained(count: int) -> None:
    m = upright(count).mechanism(stiff=False)
    info, said = m.mobility(), m.redundancy()
    assert info.dof == 1 and len(info.redundant) == said.degree == 5 * (count - 1)
    assert said.unique == [] and set(said.undetermined) == {f"hinge {k}" for k in range(count)}
    assert len(said.shared) == 1 and len(said.shared[0].combinations) == said.degree
    assert "door.unit" not in str(info) and "door.unit" not in str(said)
    found = m.simulate(2.0, velocities={"door.omega.z": 1.5}, tolerance=1e-11)
    assert np.abs(found.array("door.omega.z") - 1.5).max() < 1e-9
    assert found.stats["redundant constraints"] == [d.row for d in info.redundant]
    with pytest.warns(kp.AccuracyWarning, match="'hinge 0', 'hinge 1'"):
        carried = sum(found[f"hinge {k}.force.z"] for k in range(count))
    assert np.allclose(carried, 30.0 * 9.81, rtol=1e-6)


@pytest.mark.parametrize("seed", range(25))
def test_random_doors_share_as_an_elastic_structure(seed: int) -> None:
    door = random_door(np.random.default_rng(seed))
    m = door.mechanism()
    assert m.redundancy().left == {}
    found = m.simulate([0.0, 1e-3])
    forces, moments = door.reactions()
    for k in range(len(door.places)):
        reaction = found.reaction(f"hinge {k}", on="door")
        assert np.abs(reaction.force[0] - forces[k]).max() < 1e-4 * np.abs(forces).max()
        assert np.abs(reaction.moment[0] - moments[k]).max() < 1e-4 * max(np.abs(moments).max(), np.abs(forces).max())


def shaft(second: str) -> kp.Mechanism:
    """A rotor in a fixed bearing and another one."""
    m = kp.Mechanism("shaft", dim=3, gravity=(0.0, 0.0, -9.81))
    rotor = m.body("rotor", mass=5.0, inertia=(0.02, 0.1, 0.1), at=(0.3, 0.0, 0.0))
    m.revolute("left", m.ground, rotor, at=(0.0, 0.0, 0.0), axis=(1, 0, 0))
    getattr(m, second)("right", m.ground, rotor, at=(1.0, 0.0, 0.0), axis=(1, 0, 0))
    return m


def test_a_shaft_in_two_fixed_bearings() -> None:
    """Bearings as they are fitted: one fixed, and one that leaves what the first holds."""
    fixed = shaft("revolute")
    assert fixed.mobility().dof == 1 and fixed.redundancy().degree == 5
    spun = fixed.simulate(0.5, velocities={"rotor.omega.x": 30.0}, tolerance=1e-11)
    assert np.abs(spun.array("rotor.omega.x") - 30.0).max() < 1e-8
    m = kp.Mechanism("shaft", dim=3, gravity=(0.0, 0.0, -9.81))
    rotor = m.body("rotor", mass=5.0, inertia=(0.02, 0.1, 0.1), at=(0.3, 0.0, 0.0))
    m.spherical("left", m.ground, rotor, at=(0.0, 0.0, 0.0))
    m.point_on_line("right", m.ground, rotor, at=(1.0, 0.0, 0.0), axis=(1, 0, 0))
    assert m.mobility().dof == 1
    said = m.redundancy()
    assert said.degree == 0 and said.unique == ["left", "right"]
    found = m.simulate(0.2, velocities={"rotor.omega.x": 30.0})
    assert np.allclose(found["right.force.z"], 5.0 * 9.81 * 0.3, rtol=1e-7)


def test_what_is_open_of_two_bearings_is_what_both_hold() -> None:
    """A hinge and a sleeve: the force along the axis is the hinge's alone, and nothing else is told."""
    said = shaft("cylindrical").redundancy()
    assert said.degree == 4
    assert said.undetermined["left"] == ["force.y", "force.z", "moment.y", "moment.z"]
    assert said.undetermined["right"] == ["force.y", "force.z", "moment.y", "moment.z"]


def test_bennett_linkage_moves() -> None:
    """Three moving links and four hinges: 18 - 20 = -2 by counting, 1 by its geometry, in every position."""
    m = bennett()
    info, said = m.mobility(), m.redundancy()
    assert info.gruebler == -2 and info.dof == info.instantaneous == 1 and not info.singular_position
    assert len([d for d in info.redundant if d.permanent]) == said.degree == 3
    found = m.simulate(2.0, tolerance=1e-10)
    moved = np.abs(found.q - found.q[0]).max()
    assert moved > 0.3 and found.stats["largest violation"] < 1e-9
    energy = found.energy.kinetic + found.energy.potential
    assert np.ptp(energy) < 1e-6 * found.energy.kinetic.max()
    assert len(found.stats["redundant constraints"]) == 3


def test_a_linkage_that_is_not_bennetts_does_not_move() -> None:
    """The same with a hinge turned a little: then it is rigid, which counting says of both."""
    m = kp.Mechanism("nearly", dim=3)
    links = [m.ground, *(m.body(f"link {k}", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(k, 0.0, 0.0)) for k in range(3))]
    rng = np.random.default_rng(0)
    for k in range(4):
        at, axis = rng.normal(size=3), rng.normal(size=3)
        m.revolute(f"R{k}", links[k], links[(k + 1) % 4], at=tuple(at), axis=tuple(axis))
    assert m.mobility().dof == 0


def test_a_flat_four_bar_in_space_bears_in_its_plane_what_the_planar_one_bears() -> None:
    flat, deep = four_bar(2), four_bar(3)
    info, said = deep.mobility(), deep.redundancy()
    assert info.gruebler == -2 and info.dof == 1 and said.degree == 3
    for joint in "OABC":  # across the plane, and tilting, is open; in the plane it is not
        assert said.undetermined[joint] == ["force.z", "moment.x", "moment.y"]
    times = np.linspace(0.0, 1.0, 6)
    one, other = (m.simulate(times, tolerance=1e-11) for m in (flat, deep))
    assert np.abs(one.array("coupler.x") - other.array("coupler.x")).max() < 1e-8
    for joint in "OABC":
        for way in "xy":  # (and nothing warns)
            assert np.allclose(one[f"{joint}.force.{way}"], other[f"{joint}.force.{way}"], atol=1e-5)
    with pytest.warns(kp.AccuracyWarning, match="'O', 'A', 'B', 'C'"):
        other["A.force"]
