"""One meaning per word: at= is in the world, on= in a part's own axes, a quantity arrives the same way everywhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kempe as kp

PLACES = [(0.3, -0.2), (0.0, 0.0), (-1.4, 2.5)]


def rod(**force: Any) -> tuple[kp.Mechanism, Any]:
    """A free body that is drawn aside and turned, with a force on it."""
    m = kp.Mechanism("rod")
    body = m.body("rod", mass=2.0, inertia=0.3, at=(0.7, -0.4), angle=0.9)
    m.force("F", body, (3.0, -1.0), **force)
    return m, body


@pytest.mark.parametrize("world", PLACES)
@pytest.mark.parametrize("frame", ["world", "body"])
def test_a_force_at_a_world_point_turns_its_part_by_the_moment_about_it(world: Any, frame: str) -> None:
    m, _ = rod(at=world, frame=frame)
    c, s = math.cos(0.9), math.sin(0.9)
    force = (3.0, -1.0) if frame == "world" else (3.0 * c + s, 3.0 * s - c)
    arm = world[0] - 0.7, world[1] + 0.4
    found = m.accelerations()
    assert found["rod.ax"] == pytest.approx(force[0] / 2)
    assert found["rod.ay"] == pytest.approx(force[1] / 2)
    assert found["rod.alpha"] == pytest.approx((arm[0] * force[1] - arm[1] * force[0]) / 0.3)


@pytest.mark.parametrize("world", PLACES)
def test_at_and_on_say_the_same_place_in_two_ways(world: Any) -> None:
    m, body = rod(at=world)
    own = body.at_world(world).point
    other, _ = rod(on=own)
    assert other.accelerations()["rod.alpha"] == pytest.approx(m.accelerations()["rod.alpha"], rel=1e-13)
    pinned = m.revolute("J", m.ground, body, at=world).markers[1].point
    np.testing.assert_allclose(pinned, own, atol=1e-15)


def test_a_force_in_a_file_has_both_words(tmp_path: Any) -> None:
    m, body = rod(at=(0.3, -0.2))
    m.force("G", body, (0.0, 1.0), on=(0.1, 0.0))
    again = kp.load(m.save(tmp_path / "rod.kempe.yaml"))
    assert again.accelerations()["rod.alpha"] == m.accelerations()["rod.alpha"]


def test_a_force_on_a_point_is_where_the_point_is() -> None:
    m = kp.Mechanism("dot")
    dot = m.point("P", at=(1.0, 2.0), mass=1.0)
    m.force("F", dot, (0.0, 4.0), at=(1.0, 2.0))
    assert m.accelerations()["P.ay"] == pytest.approx(4.0)
    with pytest.raises(kp.ModelError, match="force 'G': 'P' is a point, drawn elsewhere"):
        m.force("G", dot, (0.0, 4.0), at=(1.0, 2.1))


def test_a_place_is_said_once() -> None:
    with pytest.raises(kp.ModelError, match=r"give at=, a world point .* or on=, in the part's own axes, not both"):
        rod(at=(0, 0), on=(0, 0))


@pytest.mark.parametrize(
    "own",
    [
        lambda c: c - 0.25,
        lambda c: c.value - 0.25,
        lambda c: kp.sin(c) - kp.sin(0.25),
        lambda c: 2 * c.value - c - 0.25,
        lambda c: [c**2 - 0.0625],
    ],
)
def test_a_coordinate_in_a_constraint_is_a_number_with_a_value(own: Any) -> None:
    m = kp.Mechanism("one")
    c = m.coordinate("c", 0.2)
    m.constraint("held", own, c)
    assert m.assemble()["c"] == pytest.approx(0.25, abs=1e-10)


@pytest.mark.parametrize(
    "law", [lambda a: -4 * a.value - a.rate, lambda a: -4 * a - a.rate, lambda a: -2 * a - 2 * a.value - a.rate]
)
def test_a_quantity_in_a_force_is_a_number_with_a_rate(law: Any) -> None:
    """A torsion pendulum of inertia 1: a'' = -4 a - a'."""
    m = kp.Mechanism("pendulum")
    body = m.body("b", 1.0, 1.0, angle=0.3)
    joint = m.revolute("O", m.ground, body, at=(0, 0))
    m.user_force("spring", law, joint.angle)
    t, w = 1.7, math.sqrt(3.75)
    # the joint's angle counts from the axis of the ground, so it is the body's
    exact = 0.3 * math.exp(-t / 2) * (math.cos(w * t) + math.sin(w * t) / (2 * w))
    assert m.simulate(t).array("b.angle")[-1] == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("own", [lambda b: b.vx, lambda b: b.omega - 2, lambda b: b.velocity((1, 0))[0]])
def test_a_constraint_has_no_rates(own: Any) -> None:
    m = kp.Mechanism("one")
    body = m.body("b", 1.0, 1.0)
    with pytest.raises(kp.ModelError, match=r"constraint 'c': a constraint holds between positions.*m.driver\(...\)"):
        m.constraint("c", own, body)
    with pytest.raises(kp.ModelError, match="holds between positions"):
        m.constraint("c", lambda a: a.rate - 1, body.angle)


@pytest.mark.parametrize(
    "add",
    [
        lambda m, x: m.driver("n", x, 1.0),
        lambda m, x: m.event("n", x, 1.0),
        lambda m, x: m.bump_stop("n", x, 1.0, 5.0),
        lambda m, x: m.coupler("n", [(1, x), (1, x)]),
    ],
)
def test_what_is_no_number_is_refused_with_the_choices(add: Any) -> None:
    m = kp.Mechanism("crank")
    crank, dot = m.body("crank"), m.point("dot", at=(1, 1), fixed="x")
    joint = m.revolute("O", m.ground, crank, at=(0, 0))
    guide = m.translational("guide", m.ground, m.body("ram"), axis=(1, 0))
    for part, choices in (
        (crank, "'crank'; choose crank.x, crank.y or crank.angle"),
        (dot, "'dot'; choose dot.y"),
        (joint, "'O'; choose O.angle"),
        (guide, "'guide'; choose guide.angle or guide.displacement"),
    ):
        with pytest.raises(kp.ModelError, match="'n'.*must be one number, not all of " + choices + "$"):
            add(m, part)


@pytest.mark.parametrize(
    ("add", "says"),
    [
        (lambda m, b: m.spring("s", m.ground, b, law=lambda x: x), r"\(length, rate\), .*\(length, rate, t\).*\(x\)"),
        (lambda m, b: m.spring("s", m.ground, b, law=lambda: 1), r"\(length, rate\).*yours takes \(\)"),
        (lambda m, b: m.torsion_spring("s", m.ground, b, law=lambda a, b, c, d: a), r"\(angle, rate\).*\(a, b, c, d\)"),
        (lambda m, b: m.spring("s", m.ground, b, force=lambda l, v: l), r"force: .*called with \(t\); yours.*\(l, v\)"),
        (lambda m, b: m.torque("s", b, lambda a, w: a), r"torque: .*called with \(t\); yours takes \(a, w\)"),
        (lambda m, b: m.driver("s", b.x, lambda: 1.0), r"called with \(t\); yours takes \(\)"),
        (lambda m, b: m.user_force("s", lambda: 0, b), r"called with \(bob\), or with \(bob, t\); yours takes \(\)"),
        (lambda m, b: m.user_force("s", lambda a, b, c: 0, b.angle), r"called with \(bob.angle\), or"),
        (lambda m, b: m.constraint("s", lambda a, b, c: 0, b), r"called with \(bob\), or with \(bob, t\)"),
        (lambda m, b: m.point_on_curve("s", m.ground, b, curve=kp.curve(lambda: (0, 0))), r"called with \(s\); yours"),
    ],
)
def test_a_function_is_told_which_arguments_it_gets(add: Any, says: str) -> None:
    m = kp.Mechanism("one")
    with pytest.raises(kp.ModelError, match=says):
        add(m, m.body("bob", 1.0, 1.0, at=(1, 0)))
