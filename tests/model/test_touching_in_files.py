"""Friction, contacts, backlash and impulses in model files: what was said is read back, and moves the same."""

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kempe as kp

LAWS = [
    0.2,
    kp.Coulomb(0.2, 0.3),
    kp.Coulomb(0.2, 0.3, stribeck=0.1, viscous=2.0),
    kp.Threlfall(0.2, 0.01),
    kp.RooneyDeravi(0.2, 0.01),
    kp.ModifiedCoulomb(0.2, 0.3, (0.01, 0.02)),
    kp.Stribeck(0.2, 0.3, 0.01, viscous=0.1),
    kp.LuGre(0.2, 0.3, 0.01, 1e4, damping=20.0, viscous=0.1),
]


def everything() -> Any:
    """A model with every new element and argument, which is not meant to move."""
    m = kp.Mechanism("everything", gravity=(0, -9.81))
    mu = m.parameter("mu", 0.2, bounds=(0.0, 1.0))
    a, b, c = (m.body(name, mass=1.0, inertia=0.1, at=(k, 0)) for k, name in enumerate("abc"))
    pin = m.revolute("pin", m.ground, a, at=(0, 0), friction=mu, radius=0.1)
    m.revolute("loose", a, c, at=(0.1, 0), backlash=0.01, friction=0.2, radius=0.05, restitution=0.1, law="poisson")
    m.translational("guide", m.ground, c, friction=kp.Coulomb(mu, 2 * mu, stribeck=0.1), length=0.4)
    m.translational("play", m.ground, b, backlash=0.01, length=0.2, width=0.05, restitution=mu, friction=0.1)
    m.pin_in_slot("slot", m.ground, b, axis=(1, 0), at=(1, 0), friction=kp.Threlfall(0.2, 0.01))
    m.point_line_contact("point", m.ground.on((0, -1), 0.1), b, on_j=(0.1, 0), restitution=0.5, friction=0.2)
    m.circle_line_contact("wheel", m.ground, b, axis=(1, 0.2), at=(0, -1), radius=0.1, friction=mu)
    m.circle_contact("balls", a, b, radii=(0.5, 0.4), on_i=(0.1, 0))
    m.circle_contact("ring", a, b, radii=(0.5, 0.4), inside=True, friction=0.2, law="poisson")
    m.stop("stop", pin.angle, 1.0 + mu, side="above", restitution=0.2)
    m.friction("brake", a.angle, friction=0.2, normal=lambda t: 3 + kp.sin(t) * mu)
    m.friction("band", kp.distance(b, c), friction=0.2, normal=pin)
    m.friction("belt", b.x, friction=0.2, normal=3.0, speed=mu)
    m.friction("tray", b.x, friction=0.2, normal=kp.constant_speed(1.0), surface=kp.harmonic(0.1, 2.0))
    m.impulse("hit", a, 1.5, force=(1, 2 * mu), torque=0.1, on=(0.1, 0))
    return m


def test_every_element_is_written_and_read_back(tmp_path: Path) -> None:
    m = everything()
    first = m.save(tmp_path / "first.kempe.yaml")
    again = kp.load(first)
    assert list(again.elements) == list(m.elements)
    assert again.save(tmp_path / "again.kempe.yaml").read_text() == first.read_text()
    for other in (pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
        assert other.save(tmp_path / "other.kempe.yaml").read_text() == first.read_text()


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_a_law_from_a_file_gives_the_same_motion(law: Any, tmp_path: Path) -> None:
    m = kp.Mechanism("block", gravity=(0, -10))
    b = m.body("b", mass=1.0, inertia=0.1, at=(0.1, 0))
    m.translational("guide", m.ground, b, friction=law)
    m.spring("spring", m.ground, b, on_i=(-1, 0), stiffness=100.0, length=1.0)
    loaded = kp.load(m.save(tmp_path / "block.kempe.yaml"))
    assert np.array_equal(m.simulate(0.5).q, loaded.simulate(0.5).q)


def test_contacts_from_a_file_give_the_same_motion(tmp_path: Path) -> None:
    m = kp.Mechanism("bounce", gravity=(0, -10))
    ball = m.body("ball", mass=1.0, inertia=0.004, at=(0, 0.5))
    m.circle_line_contact("floor", m.ground, ball, radius=0.1, restitution=0.5, friction=0.3)
    m.impulse("hit", ball, 0.1, force=(1.0, 0.0), on=(0.0, 0.05))
    loaded = kp.load(m.save(tmp_path / "bounce.kempe.yaml"))
    here, there = m.simulate(1.0), loaded.simulate(1.0)
    assert len(here.events) > 3 and [e.t for e in here.events] == [e.t for e in there.events]
    assert np.array_equal(here.q, there.q)


def test_a_guide_with_backlash_is_all_or_nothing() -> None:
    m = kp.Mechanism("taken")
    b = m.body("b", mass=1.0, inertia=0.1)
    m.body("P C")
    with pytest.raises(kp.ModelError, match="'P C' is already taken"):
        m.translational("P", m.ground, b, backlash=0.1, length=0.2)
    assert "P" not in m.elements and "P A" not in m.elements
    m.translational("Q", m.ground, b, backlash=0.1, length=0.2)
    assert [name for name in m.elements if name.startswith("Q")] == ["Q A", "Q B", "Q C", "Q D", "Q"]


def test_elements_made_by_hand_are_written_as_their_builders(tmp_path: Path) -> None:
    m = kp.Mechanism("hand")
    b = m.body("b", mass=1.0, inertia=0.1)
    m.add(kp.elements.Revolute("pin", m.ground, b, at=(0, 0), friction=0.1, radius=0.2))
    m.add(kp.elements.Stop("stop", b.angle, 1.0))
    text = m.save(tmp_path / "hand.kempe.yaml").read_text()
    assert "- revolute:" in text and "- stop:" in text and "- add:" not in text
    law = kp.LuGre(0.1, 0.2, 0.1, 1e4)
    m.add(
        kp.elements.LooseRevolute("loose", m.ground, b, at=(0, 0), backlash=0.1, friction=kp.Coulomb(0.1), radius=0.1)
    )
    m.add(kp.elements.Translational("guide", m.ground, b, friction=law))
    text = m.save(tmp_path / "hand.kempe.yaml").read_text()
    assert kp.load(tmp_path / "hand.kempe.yaml").save(tmp_path / "again.kempe.yaml").read_text() == text
