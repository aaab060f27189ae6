"""kp.check names everything suspicious at once."""

from __future__ import annotations

import pytest
from linkages import four_bar, parallelogram

import kempe as kp


def test_a_sound_mechanism_has_no_findings():
    assert four_bar(1, 2, 2.2, 2.5).check() == []


def test_all_findings_come_at_once():
    m = parallelogram(3, side=0.5)
    L = m.parameter("L", 1.0, bounds=(0.5, 1.5))
    L.value = 2.0
    m.body("loose")
    kink = m.point("kink", at=(0.0, 3.0))
    m.constraint("edge", lambda p: p.r[1] - 3 - kp.fabs(p.r[0]), kink)
    found = {f.about: f for f in m.check()}
    assert set(found) == {"L", "loose", "A3", "edge"}
    assert "outside its bounds" in found["L"].message
    assert "connected to nothing" in found["loose"].message
    assert "adds nothing" in found["A3"].message
    assert "not smooth" in found["edge"].message
    assert not any(f.grave for f in found.values())


def test_what_forces_hold_is_not_loose():
    m = kp.Mechanism("swing")
    load = m.body("load", 1.0, 0.1, at=(0.0, -1.0))
    m.body("free", 1.0, 0.1, at=(1.0, -1.0))
    m.spring("rope", m.ground, load, on_i=(0.0, 1.0), stiffness=100.0)
    assert [f.about for f in m.check()] == ["free", "swing"]  # and the swing has masses, but no gravity


def test_grave_findings():
    flat = parallelogram(2, theta=0.0)
    assert any(f.grave and "singular position" in f.message for f in flat.check())
    open_ = four_bar(1, 1, 1, 3.5, theta=0.1)
    assert any(f.grave and "cannot assemble" in f.message for f in open_.check())


@pytest.mark.parametrize("mass", [None, 1.0])
@pytest.mark.parametrize("known", [True, False])
def test_a_mesh_that_bearings_do_not_feel_is_noted_where_forces_matter(mass, known):
    m = kp.Mechanism("m")
    a, b = m.body("a", mass, mass), m.body("b", mass, mass, at=(0.3, 0))
    m.revolute("A", m.ground, a, at=(0, 0))
    m.revolute("B", m.ground, b, at=(0.3, 0))
    m.gear("mesh", a, b, ratio=-0.5, **({"on_i": (0, 0)} if known else {}))
    noted = [f for f in m.check() if f.about == "mesh"]
    assert bool(noted) == (mass is not None and not known)
    assert all(not f.grave and "on_i=, on_j=" in f.message for f in noted)
