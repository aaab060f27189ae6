"""Contacts with a contact law: momentum, energy, restitution and closed forms of single impacts."""

import math
from typing import Any

import numpy as np
import pytest

import kempe as kp
from kempe import elements as el

SMOOTH = kp.RooneyDeravi(0.3, speed=0.05)
TIGHT = {"tolerance": 1e-12, "steps": 20}


def two_discs(contact: Any, friction: Any = None, inside: bool = False) -> tuple[kp.Mechanism, dict[str, float]]:
    """Two free discs that strike each other off their centres, both turning; or one that flies within the other."""
    m = kp.Mechanism("discs")
    a = m.body("a", 2.0, 0.3, at=(0.0, 0.0), angle=0.2)
    b = m.body("b", 0.7, 0.05, at=(0.1, 0.05) if inside else (1.0, 0.15), angle=-0.4)
    radii = (0.6, 0.3) if inside else (0.5, 0.3)
    m.circle_contact("c", a, b, radii=radii, inside=inside, contact=contact, friction=friction)
    return m, {"a.vx": 0.4, "a.vy": 0.1, "a.omega": 3.0, "b.vx": -1.5, "b.vy": 0.2, "b.omega": -5.0}


def momenta(res: Any, masses: dict[str, tuple[float, float]]) -> np.ndarray:
    """Linear momentum, and angular momentum about the origin, over time."""
    found = np.zeros((3, len(res.t)))
    for name, (m, inertia) in masses.items():
        x, y, vx, vy, w = (res[f"{name}.{c}"] for c in ("x", "y", "vx", "vy", "omega"))
        found += [m * vx, m * vy, m * (x * vy - y * vx) + inertia * w]
    return found


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("friction", [None, SMOOTH, kp.Stribeck(0.2, 0.4, 0.1, viscous=0.5)])
def test_circles_keep_momentum_and_close_the_energy_balance(inside: bool, friction: Any) -> None:
    m, rates = two_discs(kp.LankaraniNikravesh(0.7, 1e6), friction, inside)
    res = m.simulate(1.0, velocities=rates, **TIGHT)
    assert len(res.events) >= 2
    found = momenta(res, {"a": (2.0, 0.3), "b": (0.7, 0.05)})
    np.testing.assert_allclose(found, found[:, :1] @ np.ones((1, len(res.t))), rtol=0, atol=1e-10)
    assert abs(res.energy.balance[-1]) < 1e-9 * res.energy.total[0]
    if friction is not None:
        assert abs(res["b.omega"][-1] - res["b.omega"][0]) > 0.1


def test_circles_slide_as_their_surfaces_do() -> None:
    """The sliding velocity is that of two material points at one place, whatever the depth."""
    m, rates = two_discs(kp.Hertz(1e3), SMOOTH)
    res = m.simulate(0.5, velocities=rates, steps=200)
    a, b = (np.array([res[f"{n}.x"], res[f"{n}.y"]]).T for n in "ab")
    n = (b - a) / np.linalg.norm(b - a, axis=1)[:, None]
    t = np.column_stack([-n[:, 1], n[:, 0]])
    place = b - 0.3 * n

    def velocity(name: str, centre: np.ndarray) -> np.ndarray:
        arm = place - centre
        spin = res[f"{name}.omega"].values[:, None] * np.column_stack([-arm[:, 1], arm[:, 0]])
        return np.array([res[f"{name}.vx"], res[f"{name}.vy"]]).T + spin

    np.testing.assert_allclose(res["c.slip"], ((velocity("b", b) - velocity("a", a)) * t).sum(axis=1), atol=1e-9)
    assert res["c.penetration"].max() > 0.01


@pytest.mark.parametrize("friction", [None, SMOOTH])
@pytest.mark.parametrize("wheel", [False, True])
def test_lines_keep_momentum(friction: Any, wheel: bool) -> None:
    m = kp.Mechanism("plank")
    plank = m.body("plank", 3.0, 0.5, at=(0.0, 0.0), angle=0.1)
    ball = m.body("ball", 0.5, 0.01, at=(0.3, 0.4))
    size = {"radius": 0.1} if wheel else {"on_j": (0.05, -0.1)}
    add = m.circle_line_contact if wheel else m.point_line_contact
    add("c", plank, ball, contact=kp.HuntCrossley(0.6, 1e6), friction=friction, **size)
    rates = {"plank.vy": 0.3, "plank.omega": 0.4, "ball.vx": 1.0, "ball.vy": -2.0, "ball.omega": 4.0}
    res = m.simulate(0.4, velocities=rates, **TIGHT)
    assert len(res.events) >= 2
    found = momenta(res, {"plank": (3.0, 0.5), "ball": (0.5, 0.01)})
    np.testing.assert_allclose(found, found[:, :1] @ np.ones((1, len(res.t))), rtol=0, atol=1e-10)
    assert abs(res.energy.balance[-1]) < 1e-9 * res.energy.total[0]


def test_a_curve_that_is_a_circle_is_a_circle() -> None:
    """A roller on a curve, with friction, moves as a circle on a circle does."""
    found = []
    for curved in (False, True):
        m, rates = two_discs(kp.Hertz(1e5), None if curved else SMOOTH)
        if curved:
            m = kp.Mechanism("curve")
            a = m.body("a", 2.0, 0.3, at=(0.0, 0.0), angle=0.2)
            b = m.body("b", 0.7, 0.05, at=(1.0, 0.15), angle=-0.4)
            ring = kp.curve(lambda s: (0.5 * kp.cos(s), 0.5 * kp.sin(s)))
            m.curve_contact("c", a, b, curve=ring, radius=0.3, contact=kp.Hertz(1e5), friction=SMOOTH)
        res = m.simulate(0.6, velocities=rates, **TIGHT)
        found.append([res[name][-1] for name in ("b.x", "b.y", "b.angle", "b.omega", "a.omega")])
        assert len(res.events) == 2
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("law", [kp.LankaraniNikravesh, kp.HuntCrossley, kp.Flores, kp.Gonthier])
@pytest.mark.parametrize("c", np.arange(1, 11) / 10)
def test_single_impacts_have_the_true_restitution(law: Any, c: float) -> None:
    """Restitution, energy lost and momentum of an isolated impact between free bodies, whatever K, n and the masses."""
    for stiffness, exponent, speed in ((1e6, 1.5, 0.3), (3e4, 2.2, 2.0)):
        contact = law(c, stiffness, exponent=exponent, slowest=1e-6)
        m = kp.Mechanism("impact")
        a = m.body("a", 2.0, 1.0)
        b = m.body("b", 0.5, 1.0, at=(1.001, 0.0))
        m.circle_contact("c", a, b, radii=(0.5, 0.5), contact=contact)
        res = m.simulate(0.5, velocities={"a.vx": speed}, **TIGHT)
        assert [e.mode for e in res.events] == ["contact", "free"]
        parted = res["b.vx"][-1] - res["a.vx"][-1]
        assert parted / speed == pytest.approx(contact.true_restitution, abs=1e-9)
        reduced = 2.0 * 0.5 / 2.5
        lost = reduced * speed**2 / 2 * (1 - contact.true_restitution**2)
        assert res.energy.kinetic[0] - res.energy.kinetic[-1] == pytest.approx(lost, abs=1e-9 * reduced * speed**2)
        assert res.energy.dissipated[-1] == pytest.approx(lost, abs=1e-6 * reduced * speed**2)  # (a quadrature)
        assert 2.0 * res["a.vx"][-1] + 0.5 * res["b.vx"][-1] == pytest.approx(2.0 * speed, abs=1e-12)


@pytest.mark.parametrize("c", np.arange(1, 11) / 10)
@pytest.mark.parametrize("law", [kp.Hybrid, kp.PrintedHybrid])
def test_impacts_in_a_hole_have_the_true_restitution(law: Any, c: float) -> None:
    """The laws for a pin in a hole, between free bodies."""
    more = {"width": 0.02} if law is kp.Hybrid else {}
    contact = law(c, youngs=2e5, poisson=0.3, slowest=1e-9, **more)
    m = kp.Mechanism("pin in a hole")
    a, b = m.body("a", 2.0, 1.0), m.body("b", 0.5, 1.0)
    m.circle_contact("c", a, b, radii=(0.101, 0.1), inside=True, contact=contact)
    res = m.simulate(0.2, velocities={"b.vx": 0.2}, tolerance=1e-13, steps=20)
    ends = [e for e in res.events if e.mode == "free"]
    parted = ends[0]["b.vx"] - ends[0]["a.vx"]
    assert -parted / 0.2 == pytest.approx(contact.true_restitution, abs=1e-9)


def test_hertz_in_closed_form() -> None:
    """Largest depth, largest force and duration of an elastic impact (Timoshenko and Goodier, article 142)."""
    mass, speed, k = 0.4, 1.5, 1e7
    m = kp.Mechanism("ball")
    ball = m.body("ball", mass, 1.0, at=(0.0, 0.11))
    m.circle_line_contact("c", m.ground, ball, radius=0.1, contact=kp.Hertz(k))
    res = m.simulate(0.02, velocities={"ball.vy": -speed}, tolerance=1e-12, steps=4000)
    meets, parts = res.events
    depth = (1.25 * mass * speed**2 / k) ** 0.4
    lasts = 2 * depth / speed * math.sqrt(math.pi) * math.gamma(1.4) / math.gamma(0.9)
    assert parts.t - meets.t == pytest.approx(lasts, rel=1e-9)
    assert float(res["ball.vy"][-1]) == pytest.approx(speed, rel=1e-10)
    middle = m.simulate((meets.t + parts.t) / 2, velocities={"ball.vy": -speed}, tolerance=1e-12)
    assert middle["c.penetration"][-1] == pytest.approx(depth, rel=1e-10)
    assert middle["c.force"][-1] == pytest.approx(k * depth**1.5, rel=1e-10)


def test_materials_of_circles_and_of_a_circle_on_a_line() -> None:
    """K follows from both radii, from one where the other surface is flat; and needs at least one."""
    law = kp.Hertz(youngs=207e9, poisson=0.3)
    m = kp.Mechanism()
    a, b = m.body("a"), m.body("b", at=(1, 0))

    def stiffness(contact: Any) -> float:
        return float(contact.fields["contact"].numbers["stiffness"])

    side = m.circle_contact("side", a, b, radii=(0.03, 0.02), contact=law)
    within = m.circle_contact("within", a, b, radii=(0.03, 0.02), inside=True, contact=law)
    flat = m.circle_line_contact("flat", a, b, radius=0.02, contact=law)
    assert stiffness(side) == pytest.approx(kp.hertz_stiffness(207e9, 0.3, (0.03, 0.02)), rel=1e-15)
    assert stiffness(within) == pytest.approx(kp.hertz_stiffness(207e9, 0.3, (0.03, 0.02), inside=True), rel=1e-15)
    assert stiffness(flat) == pytest.approx(4 / 3 * 207e9 / (2 * 0.91) * math.sqrt(0.02), rel=1e-14)
    for make in (
        lambda: m.point_line_contact("p", a, b, contact=law),
        lambda: m.curve_contact("k", a, b, curve=kp.polar(lambda s: 0.2), radius=0.1, contact=law),
    ):
        with pytest.raises(kp.ModelError, match="needs a stiffness= here, where there are no radii"):
            make()


def test_the_builders_choose_and_refuse() -> None:
    m = kp.Mechanism()
    a, b = m.body("a"), m.body("b", at=(1, 0))
    law = kp.Hertz(1e6)
    assert type(m.point_line_contact("p", a, b, contact=law)) is el.PressingPointLineContact
    assert type(m.circle_line_contact("w", a, b, radius=0.1, contact=law)) is el.PressingCircleLineContact
    assert type(m.circle_contact("c", a, b, radii=(0.1, 0.1), contact=law)) is el.PressingCircleContact
    assert type(m.circle_contact("r", a, b, radii=(0.1, 0.1))) is el.CircleContact
    for word, value in (("restitution", 0.5), ("restitution", 0.0), ("law", "newton")):
        with pytest.raises(kp.ModelError, match=f"'x': {word}= does not go with contact="):
            m.circle_contact("x", a, b, radii=(0.1, 0.1), contact=law, **{word: value})
    with pytest.raises(kp.ModelError, match="'x': contact must be a law"):
        m.circle_contact("x", a, b, radii=(0.1, 0.1), contact=1e6)
    with pytest.raises(kp.ModelError, match="smooth friction: say over which sliding velocity"):
        m.circle_contact("x", a, b, radii=(0.1, 0.1), contact=law, friction=0.3)
    with pytest.raises(kp.ModelError, match=r"write kp\.Hertz\("):
        m.point_line_contact("x", a, b, contact=kp.Hertz)
    with pytest.raises(kp.ModelError, match="is for a pin in a hole, with a clearance"):
        m.circle_contact("x", a, b, radii=(0.1, 0.1), contact=kp.Hybrid(0.9, youngs=1e9, poisson=0.3, width=0.1))


# --- a slider with clearance -----------------------------------------------------------------------------------------


def loose_slider(friction: Any = None, **more: Any) -> kp.Mechanism:
    m = kp.Mechanism("slider", gravity=(0.0, -9.81))
    block = m.body("block", 2.0, 0.02, at=(0.0, 0.0))
    law = kp.LankaraniNikravesh(0.5, 1e8)
    size = {"length": 0.2, "width": 0.1, "clearance": 1e-3, "contact": law, "friction": friction}
    m.translational("P", m.ground, block, **{**size, **more})
    return m


def test_a_slider_with_clearance_rests_on_two_corners() -> None:
    m = loose_slider(kp.RooneyDeravi(0.2, speed=1e-3))
    res = m.simulate(2.0, velocities={"block.vx": 1.0, "block.omega": 0.05}, steps=400)
    guide = m["P"]
    cases = [held for _, _, held in guide.cases(res)]
    assert cases[0] == "" and cases[-1] == "AB" and {"A", "B"} & set(cases)
    assert res["P A.force"][-1] + res["P B.force"][-1] == pytest.approx(2.0 * 9.81, rel=1e-6)
    assert res["P.case"][-1] == 2
    assert res["P.offset"][-1] == pytest.approx(-1e-3 - (9.81 / 1e8) ** (2 / 3), rel=1e-5)
    assert res["block.vx"][-1] == pytest.approx(0.0, abs=1e-6)  # mu g t stops it, and then it creeps
    assert abs(res.energy.balance).max() < 1e-6 * res.energy.total.max()


def test_a_wedged_slider_bears_a_couple() -> None:
    """Turned by a moment, a slider without weight is held by two opposite corners, a couple F L."""
    m = kp.Mechanism("wedged")
    block = m.body("block", 2.0, 0.02, at=(0.0, 0.0))
    m.translational("P", m.ground, block, length=0.2, clearance=1e-3, contact=kp.KelvinVoigt(1e6, 2e3))
    m.torque("T", block, 3.0)
    res = m.simulate(3.0, steps=50)
    assert m["P"].cases(res)[-1][2] == "AD" and res["P.case"][-1] == 3
    tilt = res["P.tilt"][-1]
    assert res["P A.force"][-1] * 0.2 * math.cos(tilt) == pytest.approx(3.0, rel=1e-6)
    assert res["P D.force"][-1] == pytest.approx(float(res["P A.force"][-1]), rel=1e-6)


def test_a_guide_with_clearance_round_trips(tmp_path: Any) -> None:
    m = loose_slider(kp.RooneyDeravi(0.2, speed=1e-3))
    ring = m.body("ring", 1.0, 1.0, at=(0.0, 0.5))
    m.circle_contact("c", ring, m["block"], radii=(0.3, 0.1), contact=kp.Gonthier(0.5, 1e5), friction=SMOOTH)
    path = tmp_path / "slider.kempe.yaml"
    m.save(path)
    again = kp.load(path)
    rates = {"block.vx": 1.0, "ring.vy": -1.0}
    first, second = (x.simulate(0.3, velocities=rates, steps=30) for x in (m, again))
    assert len(first.events) > 4
    for name in ("block.x", "block.omega", "ring.y", "P A.force", "c.slip"):
        np.testing.assert_array_equal(first[name], second[name])


def test_mistakes_with_a_guide() -> None:
    m = kp.Mechanism()
    block, law = m.body("block"), kp.Hertz(1e6)
    size = {"length": 0.1, "clearance": 1e-3, "contact": law}
    for change, words in (
        ({"length": None}, "a slider with clearance touches with its corners: give its length= too"),
        ({"clearance": 0.0}, "translational joint 'P': clearance must be above zero"),
        ({"clearance": None}, "contact= is for joints with clearance: give clearance= too"),
        ({"contact": None}, "a joint with clearance= has a contact law"),
        ({"backlash": 0.1}, "backlash= does not go with clearance="),
        ({"restitution": 0.1}, "restitution= does not go with clearance="),
        ({"angle": 0.1}, "a slider with play is free to turn"),
        ({"friction": 0.1}, "translational joint 'P': friction: a contact with a law has smooth friction"),
        ({"contact": kp.Hertz(youngs=1e9, poisson=0.3)}, "translational joint 'P': contact: the law kp.Hertz needs a"),
    ):
        with pytest.raises(kp.ModelError, match=words):
            m.translational("P", m.ground, block, **{**size, **change})
        assert not m.elements


# --- a journal with clearance ---------------------------------------------------------------------------------------


def test_the_moment_of_a_journal_is_that_of_its_friction() -> None:
    """About its centre the shaft feels the normal force not at all, and friction at the journal's radius."""
    m = kp.Mechanism("journal")
    shaft = m.body("shaft", 0.3, 1e-4)
    law = {"contact": kp.LankaraniNikravesh(0.6, 1e9), "friction": kp.Stribeck(0.1, 0.2, 0.01)}
    m.revolute("B", m.ground, shaft, at=(0, 0), clearance=1e-3, bearing_radius=0.02, **law)
    m.force("load", shaft, (0.0, -500.0))
    res = m.simulate(0.02, velocities={"shaft.vx": 0.2, "shaft.omega": 50.0}, steps=500)
    load = res.reaction("B")
    assert np.abs(load.moment).max() > 0.1
    np.testing.assert_allclose(load.moment, 0.019 * res.array("B.friction"), atol=1e-12)
    np.testing.assert_allclose(load.magnitude, np.hypot(res.array("B.force"), res.array("B.friction")), atol=1e-9)
    place = np.column_stack([res.array("B.x"), res.array("B.y")])
    normal = place / res.array("B.eccentricity")[:, None].clip(1e-300)
    np.testing.assert_allclose((load.force * normal).sum(axis=1), -res.array("B.force"), atol=1e-6)


def test_clearance_between_bars_is_clearance_between_bodies() -> None:
    """Bars have no angle that counts turns: friction in their joint is the same."""
    found = []
    for bars in (True, False):
        m = kp.Mechanism("pair")
        if bars:
            ends = [m.point(f"P{k}", at) for k, at in enumerate([(0, 0), (1, 0), (1, 0.0003), (2, 0.0003)])]
            one, two = m.bar("one", *ends[:2], mass=1.0), m.bar("two", *ends[2:], mass=1.0)
            places = {"on_i": (1.0, 0.0), "on_j": (0.0, 0.0)}
            rates = {"P1.vy": 0.4, "P2.vy": 0.0, "P0.vx": 0.0, "P2.vx": 0.2, "P0.vy": 0.0, "P3.vy": 1.5}
        else:
            one = m.body("one", 1.0, 1 / 12, at=(0.5, 0.0))
            two = m.body("two", 1.0, 1 / 12, at=(1.5, 0.0003))
            places = {"on_i": (0.5, 0.0), "on_j": (-0.5, 0.0)}
            rates = {"one.vx": 0.0, "one.vy": 0.2, "one.omega": 0.4, "two.vx": 0.2, "two.vy": 0.75, "two.omega": 1.5}
        law = {"contact": kp.HuntCrossley(0.7, 1e7), "friction": kp.RooneyDeravi(0.4, 0.05)}
        m.revolute("B", one, two, clearance=1e-3, bearing_radius=0.2, **places, **law)
        res = m.simulate(0.05, velocities=rates, tolerance=1e-11, steps=50)
        assert len(res.events) >= 2
        found.append([res.array(f"B.{c}") for c in ("x", "y", "slip")])
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=1e-6)


def test_every_joint_of_a_machine_may_be_loose() -> None:
    """A slider crank with play in two pins and in its guide: the energy balance closes, and all of them touch."""
    m = kp.Mechanism("worn out", gravity=(0.0, -9.81))
    crank = m.body("crank", 0.3, 1e-4, at=(0.025, 0.0))
    rod = m.body("rod", 0.21, 2.5e-4, at=(0.11, 0.0))
    slider = m.body("slider", 0.14, 1e-4, at=(0.17, 0.0))
    law = {"contact": kp.LankaraniNikravesh(0.7, 1e9), "friction": kp.RooneyDeravi(0.05, 0.01)}
    pin = {"clearance": 2e-4, "bearing_radius": 0.01, **law}
    motor = m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, on_i=(0.025, 0), on_j=(-0.06, 0), **pin)
    m.revolute("B", rod, slider, on_i=(0.06, 0), on_j=(0, 0), **pin)
    m.translational("guide", m.ground, slider, clearance=1e-4, length=0.04, width=0.02, **law)
    m.driver("motor", motor.angle, kp.constant_speed(60.0))
    res = m.simulate(2 * math.pi / 60.0, tolerance=1e-9, steps=100, velocities={"rod.omega": -25.0, "slider.vx": 0.0})
    touched = {contact.element for contact in res.contacts()}
    assert {"A", "B"} <= touched and len(touched) >= 4
    assert np.abs(res.energy.balance).max() < 1e-5 * res.energy.total.max()
    assert m["guide"].cases(res)[0][2] == ""
    deepest = max(res.array(f"guide {corner}.penetration").max() for corner in "ABCD")
    assert 1e-4 < np.abs(res.array("guide.offset")).max() <= 1e-4 + deepest
