"""Elements of one's own that switch, jump, act in some modes only, or feel a joint's load, against exact solutions."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import kempe as kp

G = 9.81
#: How far the methods may be off in position at a tolerance of 1e-9.
CLOSE = {"bdf": 3e-6, "bdf3": 3e-6, "alpha": 1e-4, "ali3p": 1e-4, "penalty": 1e-5, "baumgarte": 1e-6, "radau": 1e-6}
METHODS = list(kp.METHODS)
#: Those that can carry forces that depend on multipliers.
LOADED = [method for method in METHODS if method != "canonical"]


def close(method: str) -> float:
    return CLOSE.get(method, 1e-8)


class Floor(kp.Element):
    """A floor under a point that throws it back with a restitution, and carries it when it has come to rest."""

    rows = ("gap",)
    row_modes = {"gap": ("resting",)}
    modes = ("flying", "resting")

    def __init__(self, name: str, point: Any, restitution: Any, height: Any = 0.0) -> None:
        super().__init__(name, point=point, restitution=restitution, height=height)

    def phi(self, x: Any) -> Any:
        return x.point.r[1] - x.height

    def switches(self, x: Any) -> list[kp.Switch]:
        gap = x.point.r[1] - x.height
        bounce = kp.Switch("flying", gap, "flying", jump={"gap": x.restitution}, limit="resting", note="bounces")
        return [bounce, kp.Switch("resting", -x.lam["gap"], "flying", note="lifts off")]


@pytest.mark.parametrize("restitution", [0.3, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("method", METHODS)
def test_a_ball_bounces_to_rest_at_the_limit_of_its_bounces(method, restitution):
    m = kp.Mechanism("ball", gravity=(0, -G))
    point = m.point("p", at=(0.3, 1.0), mass=2.0)
    m.add(Floor("floor", point, restitution))
    first, speed = np.sqrt(2 / G), np.sqrt(2 * G)
    limit = first + 2 * speed / G * restitution / (1 - restitution)
    result = m.simulate(1.2 * limit, method=method, tolerance=1e-9, steps=24)
    n = np.arange(len(result.events))
    exact = first + 2 * speed / G * restitution * (1 - restitution**n) / (1 - restitution)
    assert np.abs(np.array([e.t for e in result.events]) - exact).max() < 1e-10
    assert [e.mode for e in result.events] == ["flying"] * (len(n) - 1) + ["resting"]
    assert abs(result.events[-1].t - limit) < 1e-9 * limit
    for k, event in enumerate(result.events[:12]):
        hit = speed * restitution**k
        assert event.impulses["floor.gap"] == pytest.approx(-2.0 * hit * (1 + restitution), rel=1e-8)
        assert event.lost == pytest.approx(hit**2 * (1 - restitution**2), rel=1e-8)
    rest = result.t > limit
    force = result.array("floor.force")
    assert force[rest] == pytest.approx(2.0 * G) and not force[result.t < 0.999 * limit].any()
    assert np.abs(result.array("p.y")[rest]).max() < 1e-12
    assert result.array("lambda.floor.gap")[rest] == pytest.approx(-2.0 * G)
    assert np.abs(result.array("energy.balance")).max() < 1e-8
    assert "redundant" not in result.message


def test_a_resting_ball_is_carried_and_then_thrown():
    """On a floor that moves up and down it lifts off where the floor would have to pull, and lands plastically."""

    class Shaker(Floor):
        def phi(self, x: Any) -> Any:
            return x.point.r[1] - 0.1 * kp.sin(12.0 * x.t)

        def switches(self, x: Any) -> list[kp.Switch]:
            gap = x.point.r[1] - 0.1 * kp.sin(12.0 * x.t)
            landing = kp.Switch("flying", gap, "resting", jump={"gap": 0.0}, note="lands")
            return [landing, kp.Switch("resting", -x.lam["gap"], "flying", note="lifts off")]

        def first_mode(self, x: Any) -> Any:
            return 1.0

    m = kp.Mechanism("shaker", gravity=(0, -G))
    point = m.point("p", at=(0.0, 0.0), mass=3.0)
    m.add(Shaker("table", point, 0.0))
    result = m.simulate(1.0, tolerance=1e-11, velocities={"p.vy": 1.2})
    up = np.arcsin(G / (0.1 * 144)) / 12  # where the table's acceleration is -g
    leave = result.events[0]
    assert leave.mode == "flying" and abs(leave.t - up) < 1e-9
    y, v = 0.1 * np.sin(12 * up), 1.2 * np.cos(12 * up)
    from scipy.optimize import brentq

    def gap(t: float) -> float:
        return y + v * (t - up) - G * (t - up) ** 2 / 2 - 0.1 * np.sin(12 * t)

    back = brentq(gap, up + 0.2, up + 0.6)
    land = result.events[1]
    assert land.mode == "resting" and abs(land.t - back) < 1e-9
    jump = 1.2 * np.cos(12 * back) - (v - G * (back - up))
    assert land.impulses["table.gap"] == pytest.approx(-3.0 * jump, rel=1e-7)
    assert land.lost == pytest.approx(1.5 * jump**2, rel=1e-7)
    assert np.abs(result.array("energy.balance")).max() < 1e-8


class Catch(kp.Element):
    """Two points on a line that stay together once they meet."""

    rows = ("join",)
    row_modes = {"join": ("joined",)}
    modes = ("apart", "joined")

    def __init__(self, name: str, a: Any, b: Any) -> None:
        super().__init__(name, a=a, b=b)

    def phi(self, x: Any) -> Any:
        return x.b.r[0] - x.a.r[0]

    def switches(self, x: Any) -> list[kp.Switch]:
        return [kp.Switch("apart", x.b.r[0] - x.a.r[0], "joined", jump={"join": 0.0}, note="meet")]


@pytest.mark.parametrize("method", METHODS)
def test_a_plastic_catch_keeps_momentum(method):
    m = kp.Mechanism("train")
    masses, at = (2.0, 0.5, 1.5), (0.0, 1.0, 3.0)
    points = [
        m.point(f"p{k}", at=(x, 0.0), fixed="y", mass=mass) for k, (x, mass) in enumerate(zip(at, masses, strict=True))
    ]
    for k in range(2):
        m.add(Catch(f"c{k}", points[k], points[k + 1]))
    result = m.simulate(4.0, method=method, velocities={"p0.vx": 2.0}, tolerance=1e-9)
    first, second = result.events
    assert abs(first.t - 0.5) < close(method) and abs(second.t - (0.5 + 2.0 / 1.6)) < 10 * close(method)
    speeds = [result.array(f"p{k}.vx")[-1] for k in range(3)]
    assert speeds == pytest.approx([1.0, 1.0, 1.0], abs=close(method))
    assert first.lost == pytest.approx(0.5 * 2 * 4 - 0.5 * 2.5 * 1.6**2, rel=1e-5)
    assert first.impulses["c0.join"] == pytest.approx(-0.5 * 1.6, rel=1e-5)
    assert second.impulses["c0.join"] == pytest.approx(2.0 * (1.0 - 1.6), rel=1e-5)
    assert result.array("energy.dissipated")[-1] == pytest.approx(4.0 - 2.0, rel=1e-5)
    assert "redundant" not in result.message


class Rubbing(kp.Element):
    """Dry friction along x from the load of a guide, with a constraint that holds while it sticks (a belt may move)."""

    rows = ("hold",)
    row_modes = {"hold": ("stick",)}
    modes = ("back", "stick", "forth")
    latches = ("place",)

    def __init__(self, name: str, guide: Any, body: Any, friction: Any, *, static: Any = None, belt: Any = 0.0) -> None:
        static = friction if static is None else static
        super().__init__(name, body=body, load=kp.Load(guide), friction=friction, static=static, belt=belt)

    def view(self, source: Any) -> Any:
        x = super().view(source)
        x.travel = x.body.r[0] - x.belt * x.t
        x.slip = x.d(x.body.r[0]) - x.belt
        x.normal = kp.fabs(x.load["normal"])
        return x

    def phi(self, x: Any) -> Any:
        return x.travel - x.kept["place"]

    def force(self, x: Any) -> Any:
        rubs = x.friction * x.normal
        return x.push(x.body.r[0], x.mode("back", rubs) - x.mode("forth", rubs))

    def switches(self, x: Any) -> list[kp.Switch]:
        hold, most = x.lam["hold"], x.static * x.normal
        keep = {"place": x.travel}
        return [
            kp.Switch("forth", x.slip, "stick", latch=keep, note="sticks"),
            kp.Switch("back", -x.slip, "stick", latch=keep, note="sticks"),
            kp.Switch("stick", most + hold, "back", note="slips back"),
            kp.Switch("stick", most - hold, "forth", note="slips"),
        ]

    def first_mode(self, x: Any) -> Any:
        return kp.if_else(x.slip > 0, 2.0, kp.if_else(x.slip < 0, 0.0, 1.0))


def block(mass: float = 2.0, **options: Any) -> tuple[kp.Mechanism, Any, Any]:
    m = kp.Mechanism("block", gravity=(0, -G))
    body = m.body("b", mass, 0.1)
    guide = m.translational("guide", m.ground, body, axis=(1, 0), at=(0, 0))
    m.add(Rubbing("dry", guide, body, 0.3, **options))
    return m, body, guide


@pytest.mark.parametrize("method", LOADED)
def test_a_block_slides_to_rest_and_stays(method):
    m, _, _ = block()
    result = m.simulate(2.0, method=method, velocities={"b.vx": 2.0}, tolerance=1e-9)
    assert [e.mode for e in result.events] == ["stick"]
    assert abs(result.events[0].t - 2.0 / (0.3 * G)) < 10 * close(method)
    slides = result.t < result.events[0].t
    force = result.reaction("dry", on="b")
    assert force.x[slides] == pytest.approx(-0.3 * 2.0 * G) and np.abs(force.x[~slides]).max() < 1e-6
    assert result.array("b.x")[-1] == pytest.approx(4.0 / (2 * 0.3 * G), abs=10 * close(method))
    assert np.abs(result.array("b.vx")[result.t > 1.0]).max() < 1e-9


@pytest.mark.parametrize("method", LOADED)
def test_sliding_back_to_rest_and_forth_at_one_instant(method):
    """The pull grows while it slides back; where it comes to rest the pull is more than friction holds."""
    m, body, _ = block()
    m.force("pull", body, (lambda t: 4.0 + 6.0 * t, 0.0))
    result = m.simulate(2.0, method=method, velocities={"b.vx": -6.0}, tolerance=1e-9)
    mu, mass = 0.3, 2.0
    a, b = 4.0 / mass + mu * G, 3.0 / mass  # v = -6 + a t + b t^2 while it slides back
    rest = (-a + np.sqrt(a * a + 24.0 * b)) / (2 * b)
    assert 4.0 + 6.0 * rest > mu * mass * G
    assert [e.mode for e in result.events] == ["stick", "forth"]
    assert all(abs(e.t - rest) < 10 * close(method) for e in result.events)
    assert result.events[0].t == result.events[1].t
    x = -6 * rest + a * rest**2 / 2 + b * rest**3 / 3
    t, c = 2.0 - rest, (4.0 + 6.0 * rest) / mass - mu * G
    assert result.array("b.x")[-1] == pytest.approx(x + c * t**2 / 2 + b * t**3 / 3, abs=20 * close(method))


@pytest.mark.parametrize("method", ["auto", "radau", "bdf", "alpha", "augmented", "independent"])
def test_a_block_on_a_belt_sticks_and_slips(method):
    """Carried by the belt until the spring is stronger than static friction, then sliding until it is as fast again."""
    mass, k, static, mu, belt = 1.5, 60.0, 0.5, 0.3, 0.7
    m, body, _ = block(mass, static=static, belt=belt)
    m.user_force("spring", lambda b: (-k * b.x, 0.0, 0.0), body)
    result = m.simulate(3.0, method=method, velocities={"b.vx": belt}, tolerance=1e-10)
    omega, reach = np.sqrt(k / mass), static * mass * G / k
    first = reach / belt
    # sliding: x = c + (reach - c) cos + belt / omega sin, until the speed is that of the belt again
    c = mu * mass * G / k
    slide = 2 * np.pi - 2 * np.arctan2((reach - c) * omega, belt)
    period = slide / omega + 2 * (reach - c) / belt
    times = [e.t for e in result.events]
    exact = [first]
    while exact[-1] < 3.0:
        exact.append(exact[-1] + (slide / omega if len(exact) % 2 else period - slide / omega))
    exact = [t for t in exact if t < 3.0]
    assert len(times) == len(exact) >= 4
    assert np.abs(np.array(times) - exact).max() < (3e-3 if method in ("alpha", "bdf") else 1e-6)
    assert [e.mode for e in result.events] == (["back", "stick"] * 20)[: len(exact)]


def test_friction_that_loads_its_own_guide():
    """Friction along x on an inclined guide is not along the guide, and so changes the load that it comes from."""
    slope, mu, mass = 0.6, 0.25, 1.3
    m = kp.Mechanism("incline", gravity=(0, -G))
    body = m.body("b", mass, 0.1)
    guide = m.translational("guide", m.ground, body, axis=(np.cos(slope), np.sin(slope)), at=(0, 0))
    m.add(Rubbing("dry", guide, body, mu))
    for method in LOADED:
        up = m.simulate(0.1, method=method, velocities={"b.vx": 2.0}, tolerance=1e-9)
        # the balance across the guide: N + across . (-mu N, 0) = m g cos
        across = np.array([-np.sin(slope), np.cos(slope)])
        pushed = np.array([-mu, 0.0])
        exact = mass * G * np.cos(slope) / (1 + across @ pushed)
        assert np.abs(up.array("lambda.guide.normal")) == pytest.approx(exact, rel=1e-6), method
        along = -G * np.sin(slope) - mu * exact * np.cos(slope) / mass
        assert up.array("b.ax") == pytest.approx(along * np.cos(slope), rel=1e-5), method


class Blow(kp.Element):
    """A known impulse on a body at a given time."""

    modes = ("before", "after")

    def __init__(self, name: str, body: Any, when: Any, impulse: Any) -> None:
        super().__init__(name, body=body, when=when, impulse=list(impulse))

    def switches(self, x: Any) -> list[kp.Switch]:
        return [kp.Switch("before", x.when - x.t, "after", kick=x.push(x.body.r, ca.vertcat(*x.impulse)))]


def test_known_impulses_act_together_with_joints():
    """A rod that hangs from a pin is struck at its centre of percussion: the pin feels nothing."""
    mass, length = 1.2, 0.9
    for strike, share in ((2 / 3, 0.0), (0.5, -0.25), (1.0, 0.5)):
        m = kp.Mechanism("rod", gravity=(0, -G))
        rod = m.body("rod", mass, mass * length**2 / 12, at=(0, -length / 2), angle=-np.pi / 2)
        m.revolute("pin", m.ground, rod, at=(0, 0))
        m.add(Blow("blow", rod.on((length * (strike - 0.5), 0.0)), 0.25, (0.7, 0.0)))
        result = m.simulate(0.5, tolerance=1e-10)
        (event,) = result.events
        assert abs(event.t - 0.25) < 1e-15
        assert event.impulses.get("pin.x", 0.0) == pytest.approx(0.7 * share, abs=1e-12)
        omega = 0.7 * strike * length / (mass * length**2 / 3)
        assert event.v[2] == pytest.approx(omega, rel=1e-12)
        assert result.array("energy.supplied")[-1] == pytest.approx(mass * length**2 / 6 * omega**2, rel=1e-9)
        assert np.abs(result.array("energy.balance")).max() < 1e-9


def test_values_latch_at_the_start_as_well():
    """A block that starts at rest on its guide sticks where it is."""
    m, body, _ = block()
    m.force("pull", body, (lambda t: 3.0 * t, 0.0))
    result = m.simulate(3.0, start=None, velocities={"b.vx": 0.0}, tolerance=1e-10)
    slip = 0.3 * 2.0 * G / 3.0
    assert [e.mode for e in result.events] == ["forth"] and abs(result.events[0].t - slip) < 1e-9
    assert np.abs(result.array("b.x")[result.t < slip]).max() < 1e-12


def test_many_bounce_at_one_instant_and_each_has_its_own_impulse():
    m = kp.Mechanism("rain", gravity=(0, -G))
    for k in range(25):
        m.add(Floor(f"f{k}", m.point(f"p{k}", at=(k, 1.0), mass=1.0 + k), 0.1 * (k % 9)))
    result = m.simulate(0.6, tolerance=1e-9)
    first = [e for e in result.events if abs(e.t - np.sqrt(2 / G)) < 1e-12]
    assert len(first) == 25 and len({e.t for e in first}) == 1
    speed = np.sqrt(2 * G)
    for k, event in enumerate(sorted(first, key=lambda e: int(e.element[1:]))):
        assert event.impulses[f"f{k}.gap"] == pytest.approx(-(1.0 + k) * speed * (1 + 0.1 * (k % 9)), rel=1e-9)
    total = sum((1.0 + k) * speed**2 / 2 * (1 - (0.1 * (k % 9)) ** 2) for k in range(25))
    assert sum(e.lost for e in first) == pytest.approx(total, rel=1e-9)


def test_a_sequence_without_a_limit_is_explained():
    class Endless(Floor):
        def switches(self, x: Any) -> list[kp.Switch]:
            return [kp.Switch("flying", x.point.r[1], "flying", jump={"gap": x.restitution})]

    m = kp.Mechanism("ball", gravity=(0, -G))
    m.add(Endless("floor", m.point("p", at=(0, 1.0), mass=1.0), 0.5))
    with pytest.raises(kp.ConvergenceError, match="'floor'"):
        m.simulate(6.0)


def test_modes_that_contradict_each_other_are_explained():
    class Torn(kp.Element):
        modes = ("a", "b")

        def __init__(self, name: str, point: Any) -> None:
            super().__init__(name, point=point)

        def switches(self, x: Any) -> list[kp.Switch]:
            return [kp.Switch("a", x.point.r[1], "b"), kp.Switch("b", x.point.r[1] + 0.0, "a")]

    m = kp.Mechanism("torn", gravity=(0, -G))
    m.add(Torn("torn", m.point("p", at=(0, 1.0), mass=1.0)))
    with pytest.raises(kp.ConvergenceError, match=r"no set of modes is consistent.*'torn'"):
        m.simulate(1.0)


def test_canonical_momenta_cannot_carry_a_force_that_feels_a_load():
    with pytest.raises(kp.ModelError, match="'canonical' cannot carry forces that depend on a joint's load: 'dry'"):
        block()[0].simulate(1.0, method="canonical")


def test_rows_not_in_force_are_not_called_redundant():
    m, _, _ = block(belt=0.5)
    assert m.mobility().dof == 1 and not m.mobility().redundant
    rest, _, _ = block()
    assert rest.mobility().dof == 0 and not rest.mobility().redundant  # at rest it sticks
    assert not [finding for finding in m.check() if "redundant" in str(finding)]
    ball = kp.Mechanism("ball", gravity=(0, -G))
    ball.add(Floor("floor", ball.point("p", at=(0, 1.0), mass=1.0), 0.5))
    assert ball.mobility().dof == 2 and not ball.mobility().redundant


def test_a_ball_that_lies_on_its_floor_rests_there():
    m = kp.Mechanism("ball", gravity=(0, -G))
    m.add(Floor("floor", m.point("p", at=(0, 0.0), mass=1.0), 0.5))
    result = m.simulate(1.0)
    assert result.events[-1].mode == "resting" and np.abs(result.array("p.y")).max() < 1e-12


def test_velocities_not_given_are_those_of_least_kinetic_energy():
    m = kp.Mechanism("pair")
    a, b = (m.point(f"p{k}", at=(k, 0.0), fixed="y", mass=mass) for k, mass in enumerate((1.0, 3.0)))
    m.constraint("sum", lambda p, q, t: p.r[0] + q.r[0] - 1.0 - t, a, b)
    result = m.simulate(1.0)
    assert result.array("p0.vx")[0] == pytest.approx(0.75, abs=1e-13)
    assert result.array("p1.vx")[0] == pytest.approx(0.25, abs=1e-13)


# --- forces that feel a load, in other questions --------------------------------------------------------------------


def test_a_belt_carries_a_block_until_its_spring_is_strong_enough():
    """In equilibrium the belt slides below: k x = mu N, and N is less by what the spring lifts: N = m g - c x."""
    mass, k, lift, mu = 2.0, 60.0, 25.0, 0.3
    m, body, _ = block(mass, belt=0.5)
    m.user_force("springs", lambda b: (-k * b.x, lift * b.x, 0), body)
    rest = m.equilibrium()
    x = mu * mass * G / (k + mu * lift)
    assert rest["b.x"] == pytest.approx(x, rel=1e-12)
    assert abs(rest["guide.normal"]) == pytest.approx(mass * G - lift * x, rel=1e-12)
    assert rest.stable
    # m x'' = -k x + mu N: the load's slope stiffens it
    assert m.modes().frequencies == pytest.approx([np.sqrt((k + mu * lift) / mass)], rel=1e-10)


def test_friction_that_feels_a_load_couples_two_modes():
    """A block rubs on a guide that springs carry: neither K nor M is symmetric, for springs and inertia load it."""
    m = kp.Mechanism("squeal", gravity=(0, -G))
    body, slide = m.body("b", 2.0, 0.1), m.body("slide", 0.7, 0.1)
    m.translational("lift", m.ground, slide, axis=(0, 1), at=(0, 0))
    guide = m.translational("guide", slide, body, axis=(1, 0), at=(0, 0))
    m.add(Rubbing("dry", guide, body, 0.4, belt=0.5))
    m.user_force("springs", lambda b, s: [(-60 * b.x + 15 * b.y, 15 * b.x, 0), (0, -90 * s.y, 0)], body, slide)
    m.user_force("dampers", lambda b, s: [(-0.3 * b.vx, 0, 0), (0, -0.5 * s.vy, 0)], body, slide)
    rest = m.equilibrium()
    linear = m.linearise(rest, coordinates=["b.x", "b.y"])
    assert abs(linear.M[0, 1] - linear.M[1, 0]) > 0.1 and abs(linear.K[0, 1] - linear.K[1, 0]) > 1.0

    def accelerations(x, y, vx, vy):
        pose = kp.Pose({**rest.pose.values, "b.x": x, "b.y": y, "slide.y": y})
        found = m.accelerations({"b.vx": vx, "b.vy": vy}, start=pose)
        return np.array([found["b.ax"], found["b.ay"]])

    at, h = np.array([rest["b.x"], rest["b.y"], 0.0, 0.0]), 1e-5
    slopes = [(accelerations(*(at + h * e)) - accelerations(*(at - h * e))) / (2 * h) for e in np.eye(4)]
    assert accelerations(*at) == pytest.approx(0.0, abs=1e-9)
    assert linear.A[2:] == pytest.approx(np.array(slopes).T, rel=1e-7, abs=1e-7)
    moving = m.linearise(rest.pose, velocities={"b.vx": 0.2, "b.vy": -0.1}, coordinates=["b.x", "b.y"])
    assert moving.a[:2] == pytest.approx(accelerations(at[0], at[1], 0.2, -0.1), rel=1e-9)


@pytest.mark.parametrize("slope", [0.25, 0.35])
def test_a_block_rests_where_friction_holds_it(slope):
    m = kp.Mechanism("slope", gravity=(G * np.sin(slope), -G * np.cos(slope)))
    body = m.body("b", 2.0, 0.1)
    guide = m.translational("guide", m.ground, body, axis=(1, 0), at=(0, 0))
    m.add(Rubbing("dry", guide, body, 0.3))
    if np.tan(slope) < 0.3:
        assert m.equilibrium()["dry.hold"] == pytest.approx(2.0 * G * np.sin(slope), rel=1e-12)
    else:
        with pytest.raises(kp.ConvergenceError, match=r"'dry' does not hold \(slips\)"):
            m.equilibrium()


def test_a_motor_overcomes_friction_that_feels_a_load():
    """Friction mu N with N from gravity and a force that presses in time, while a motor moves the block."""
    m, body, _ = block()
    m.force("press", body, (0.0, lambda t: -5.0 * kp.sin(3 * t)))
    m.driver("motor", body.x, kp.harmonic(0.4, 2.0))
    t = np.linspace(0.0, 0.7, 12)
    result = m.inverse_dynamics(m.simulate(t, velocities={"b.vx": 0.8}))
    moving = 0.3 * (2.0 * G + 5.0 * np.sin(3 * t))
    assert result.array("b.vx").min() > 0
    assert result.array("motor.effort") == pytest.approx(2.0 * result.array("b.ax") + moving, rel=1e-11)


@pytest.mark.parametrize(
    ("switch", "says"),
    [
        (lambda g: kp.Switch("flyin", g, "flying"), "a mode 'flyin'; it has 'flying', 'resting'"),
        (lambda g: kp.Switch("flying", g, "rest"), "a mode 'rest'"),
        (lambda g: kp.Switch("flying", g, "flying", limit="rest"), "a mode 'rest'"),
        (lambda g: kp.Switch("flying", g, "flying", jump={"gpa": 0.5}), "a row 'gpa'; it has 'gap'"),
        (lambda g: kp.Switch("flying", g, "flying", latch={"speed": g}), "a latch 'speed'; it has none"),
    ],
)
def test_misspelt_names_in_switches_are_told_when_the_element_is_added(switch, says):
    class Misspelt(Floor):
        def switches(self, x: Any) -> list[kp.Switch]:
            return [switch(x.point.r[1])]

    m = kp.Mechanism("ball", gravity=(0, -G))
    with pytest.raises(kp.ModelError, match=f"misspelt 'floor'.*{says}"):
        m.add(Misspelt("floor", m.point("p", at=(0, 1.0), mass=1.0), 0.5))


def test_of_two_ways_out_of_a_mode_at_one_instant_one_is_taken():
    class Fork(kp.Element):
        modes = ("start", "left", "right")

        def __init__(self, name: str, point: Any) -> None:
            super().__init__(name, point=point)

        def switches(self, x: Any) -> list[kp.Switch]:
            return [kp.Switch("start", x.point.r[1], "left"), kp.Switch("start", 2.0 * x.point.r[1], "right")]

    m = kp.Mechanism("fork", gravity=(0, -G))
    m.add(Fork("fork", m.point("p", at=(0, 1.0), mass=1.0)))
    assert [event.mode for event in m.simulate(1.0).events] == ["left"]
