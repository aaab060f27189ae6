"""What a user's function is given: its parts, the time if it asks for it, and never anything for a default."""

from __future__ import annotations

import numpy as np
import pytest

import kempe as kp
from kempe.elements.functions import signature_of


def rotor(law) -> float:
    """The speed after 2 s of a rotor of inertia 1 that starts at speed 1, under a torque."""
    m = kp.Mechanism("rotor")
    body = m.body("b", 1.0, 1.0)
    m.revolute("O", m.ground, body, at=(0, 0))
    m.user_force("T", law, body)
    return float(m.simulate(2.0, velocities={"b.omega": 1.0}).array("b.omega")[-1])


def with_default_and_more(b, k=0.5, *rest):
    assert not rest
    return (0, 0, -k * b.omega)


@pytest.mark.parametrize(
    ("law", "exact"),
    [
        (lambda b, k=0.5: (0, 0, -k * b.omega), np.exp(-1.0)),
        (lambda b, *, k=0.5: (0, 0, -k * b.omega), np.exp(-1.0)),
        (with_default_and_more, np.exp(-1.0)),
        (lambda b, t: (0, 0, -t * b.omega), np.exp(-2.0)),
        (lambda b, t, k=0.5: (0, 0, -k * t * b.omega), np.exp(-1.0)),
        (lambda *given: (0, 0, -given[1] * given[0].omega), np.exp(-2.0)),
    ],
)
def test_defaults_of_a_force_are_kept(law, exact):
    assert rotor(law) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    "law",
    [
        lambda length, rate, k=4.0: k * (length - 0.5),
        lambda length, rate, t, k=4.0: k * (length - 0.5) + 0 * t,
        lambda length, rate, *, k=4.0: k * (length - 0.5),
    ],
)
def test_defaults_of_a_spring_law_are_kept(law):
    """A mass 1 on a spring of stiffness 4 oscillates about 0.5 with the frequency 2."""
    m = kp.Mechanism("spring")
    mass = m.point("b", at=(1.0, 0), fixed="y", mass=1.0)
    m.spring("S", m.point("o", at=(0, 0), fixed="xy"), mass, law=law)
    assert m.simulate(1.0).array("b.x")[-1] == pytest.approx(0.5 + 0.5 * np.cos(2.0), abs=1e-7)


def test_defaults_of_a_constraint_are_kept():
    m = kp.Mechanism("line")
    point = m.point("p", at=(0.3, 1.0))
    m.constraint("on", lambda p, slope=2.0: p.r[1] - slope * p.r[0], point)
    m.constraint("moves", lambda p, t, speed=3.0: p.r[0] - 0.3 - speed * t, point)
    motion = m.kinematics(1.0)
    assert motion.array("p.x")[-1] == pytest.approx(3.3)
    assert motion.array("p.y")[-1] == pytest.approx(6.6)


def test_defaults_of_a_motion_and_of_a_curve_are_kept():
    m = kp.Mechanism("bead")
    bead = m.point("bead", at=(1.0, 1.0))
    m.point_on_curve("wire", m.ground, bead, curve=kp.curve(lambda s, p=2: (s, s**p)))
    m.driver("d", bead.x, lambda t, speed=0.5: 1.0 + speed * t)
    motion = m.kinematics(2.0)
    assert motion.array("bead.x")[-1] == pytest.approx(2.0)
    assert motion.array("bead.y")[-1] == pytest.approx(4.0)


def test_a_part_is_not_given_for_a_default():
    m = kp.Mechanism("two")
    a, b = m.body("a", 1.0, 1.0), m.body("b", 1.0, 1.0)
    with pytest.raises(kp.ModelError, match=r"called with \(a, b\), or with \(a, b, t\); yours takes \(i, k=0.5\)"):
        m.user_force("n", lambda i, k=0.5: (0, 0, 0), a, b)


def test_what_counts_as_given():
    assert signature_of(lambda a, b: 0) == 2
    assert signature_of(lambda a, b=1, *, c: 0) == 1
    assert signature_of(lambda *a: 0) == -1
    assert signature_of(lambda a, *b, c=1: 0) == -1
    assert signature_of(with_default_and_more) == 1
