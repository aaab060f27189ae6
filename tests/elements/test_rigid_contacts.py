"""Contacts and stops against motions that are known."""

from typing import Any

import numpy as np
import pytest

import kempe as kp

G = 9.81


def body(m: Any, name: str, radius: float = 0.1, **more: Any) -> Any:
    """A disc of a kilogram."""
    return m.body(name, mass=1.0, inertia=radius**2 / 2, **more)


@pytest.mark.parametrize("slope", [0.2, -0.2])
def test_a_disc_rolls_down_an_incline_or_slides(slope: float) -> None:
    """Rolling it has two thirds of the acceleration of sliding freely, and the friction is a third of the pull."""
    for mu in (0.3, 0.02):
        m = kp.Mechanism("incline", gravity=(0, -G))
        u, n = np.array([np.cos(slope), np.sin(slope)]), np.array([-np.sin(slope), np.cos(slope)])
        disc = body(m, "disc", at=tuple(0.1 * n))
        m.circle_line_contact("road", m.ground, disc, axis=tuple(u), radius=0.1, friction=mu)
        res = m.simulate(1.0)
        pull, press = -G * np.sin(slope), G * np.cos(slope)
        rolls = abs(pull) / 3 <= mu * press
        friction = pull / 3 if rolls else mu * press * np.sign(pull)
        along = res.array("disc.x") * u[0] + res.array("disc.y") * u[1]
        assert along == pytest.approx((pull - friction) * res.t**2 / 2, abs=1e-9)
        assert res.array("disc.omega") == pytest.approx(-friction * 0.1 / 0.005 * res.t, abs=1e-7)
        assert res.array("road.normal") == pytest.approx(press, rel=1e-9)
        assert res.array("road.friction") == pytest.approx(-friction, rel=1e-7)
        assert np.abs(res.array("road.gap")).max() < 1e-9
        assert res.array("road.force") == pytest.approx(np.hypot(press, friction), rel=1e-7)
        if rolls:
            assert np.abs(res.array("road.slip")).max() < 1e-9


@pytest.mark.parametrize("inside", [False, True])
def test_a_circle_rolls_round_another_for_many_turns(inside: bool) -> None:
    """The arcs that two rims have rolled on are equal, however often the line of centres has turned."""
    m = kp.Mechanism("planet")
    distance = 0.2 if inside else 0.4
    planet = body(m, "planet", at=(distance, 0))
    m.circle_contact("rims", m.ground, planet, radii=(0.3, 0.1), inside=inside, friction=0.5)
    m.spring("pull", m.ground, planet, stiffness=1.0 if inside else 400.0, length=0.5 if inside else 0.1)
    speed = 2.0  # of the centre, counter-clockwise
    spin = -speed / 0.1 if inside else speed / 0.1
    res = m.simulate(8.0, velocities={"planet.vy": speed, "planet.omega": spin})
    turned = np.unwrap(np.arctan2(res.array("planet.y"), res.array("planet.x")))
    assert turned[-1] > 6 * 2 * np.pi
    assert turned == pytest.approx(speed / distance * res.t, rel=1e-7, abs=1e-8)
    assert res.array("planet.angle") == pytest.approx(spin * res.t, rel=1e-7, abs=1e-7)
    assert not res.events or all(event.t == 0.0 for event in res.events)  # keeping its place anew is no event
    assert np.abs(res.array("rims.slip")).max() < 1e-8


def test_a_ball_in_a_bowl_swings_as_a_pendulum_of_seven_fifths() -> None:
    """A rolling ball: (R - r) (1 + I/(m r^2)) theta'' = -g sin theta."""
    m = kp.Mechanism("bowl", gravity=(0, -G))
    ball = m.body("ball", mass=2.0, inertia=2 / 5 * 2.0 * 0.1**2, at=(0.5 * np.sin(0.3), -0.5 * np.cos(0.3)))
    m.circle_contact("bowl", m.ground, ball, radii=(0.6, 0.1), inside=True, friction=0.4)
    res = m.simulate(3.0, tolerance=1e-10)
    pendulum = kp.Mechanism("pendulum", gravity=(0, -G))
    bob = pendulum.point("bob", at=(0.7 * np.sin(0.3), -0.7 * np.cos(0.3)), mass=1.0)
    pendulum.link("rod", pendulum.ground, bob)
    ref = pendulum.simulate(3.0, tolerance=1e-10)
    assert res.array("ball.x") / 0.5 == pytest.approx(ref.array("bob.x") / 0.7, abs=1e-7)


def test_a_stop_of_an_angle_and_of_a_distance() -> None:
    """A pendulum meets a stop with what it has, and keeps the share that the restitution says."""
    m = kp.Mechanism("door")
    door = m.body("door", mass=3.0, inertia=1.0, at=(0.5, 0))
    hinge = m.revolute("hinge", m.ground, door, at=(0, 0))
    m.stop("stop", hinge.angle, 1.0, side="above", restitution=0.5)
    res = m.simulate(2.0, velocities={"door.omega": 2.0})
    assert [event.t for event in res.events] == pytest.approx([0.5], abs=1e-10)
    assert res.array("door.omega")[[0, -1]] == pytest.approx([2.0, -1.0])
    inertia = 1.0 + 3.0 * 0.5**2
    assert res.events[0].impulses["stop.normal"] == pytest.approx(-inertia * 3.0)
    assert res.events[0].lost == pytest.approx(0.5 * inertia * (4 - 1))
    assert res.array("stop.gap").min() >= -1e-12

    m = kp.Mechanism("rope")
    a, b = body(m, "a"), body(m, "b", at=(1, 0))
    m.stop("rope", kp.distance(a, b), 2.0, side="above", restitution=1.0)
    res = m.simulate(2.0, velocities={"a.vx": -1.0, "b.vx": 1.0})
    assert res.array("a.vx")[-1] == pytest.approx(1.0) and res.array("b.vx")[-1] == pytest.approx(-1.0)


def test_a_point_slides_on_a_line_that_moves() -> None:
    """A block on a plate that is pulled away under it: friction moves it, and no more."""
    m = kp.Mechanism("table cloth", gravity=(0, -G))
    cloth, cup = m.body("cloth", mass=1.0, inertia=1.0), m.point("cup", at=(0, 0), mass=0.5)
    m.translational("table", m.ground, cloth)
    m.driver("pull", cloth.x, kp.constant_acceleration(5.0))
    m.point_line_contact("lies", cloth, cup, friction=kp.Coulomb(0.2, 0.3))
    res = m.simulate(1.0)
    assert res.array("cup.x") == pytest.approx(0.2 * G * res.t**2 / 2, abs=1e-9)
    assert res.array("lies.slip") == pytest.approx((0.2 * G - 5.0) * res.t, abs=1e-9)
    m = kp.Mechanism("table cloth", gravity=(0, -G))
    cloth, cup = m.body("cloth", mass=1.0, inertia=1.0), m.point("cup", at=(0, 0), mass=0.5)
    m.translational("table", m.ground, cloth)
    m.driver("pull", cloth.x, kp.constant_acceleration(0.29 * G))
    m.point_line_contact("lies", cloth, cup, friction=kp.Coulomb(0.2, 0.3))
    held = m.simulate(1.0)
    assert held.array("cup.x") == pytest.approx(0.29 * G * held.t**2 / 2, abs=1e-9)


def test_a_line_of_a_marker_runs_along_its_axis() -> None:
    m = kp.Mechanism("marker")
    ball = m.point("ball", at=(1.0, 1.0), mass=1.0)
    m.point_line_contact("wall", m.ground.on((2.0, 0.0), np.pi / 2), ball, restitution=1.0)
    res = m.simulate(2.0, velocities={"ball.vx": 1.0})
    assert res.array("ball.x") == pytest.approx(np.where(res.t < 1, 1 + res.t, 3 - res.t), abs=1e-9)


def state(res: Any, name: str) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Place, velocity, angle and rate of a body at the start of a result."""
    x, y, vx, vy, angle, omega = (res.array(f"{name}.{c}")[0] for c in ("x", "y", "vx", "vy", "angle", "omega"))
    return np.array([x, y]), np.array([vx, vy]), angle, omega


def velocity(res: Any, name: str, place: np.ndarray) -> np.ndarray:
    """The velocity of what is at a place of a body."""
    r, v, _, omega = state(res, name)
    arm = place - r
    return v + omega * np.array([-arm[1], arm[0]])


@pytest.mark.parametrize("kind", ["point", "wheel", "circles", "ring"])
def test_slip_and_forces_are_those_of_the_points_that_touch(kind: str) -> None:
    """Between two bodies in any position: from the velocities and the moments of the points of contact themselves."""
    rng = np.random.default_rng(7)
    for _ in range(25):
        angles = rng.uniform(-3, 3, 2)
        a = rng.uniform(-1, 1, 2)
        face = rng.uniform(-np.pi, np.pi)
        u, n = np.array([np.cos(face), np.sin(face)]), np.array([-np.sin(face), np.cos(face)])
        m = kp.Mechanism("pair", gravity=tuple(rng.uniform(-5, 5, 2)))
        first = m.body("a", mass=1.0, inertia=0.2, at=tuple(a), angle=angles[0])
        big, small = rng.uniform(0.5, 1.0), rng.uniform(0.1, 0.4)
        touch = a + rng.uniform(-1, 1, 2)
        centre = touch + small * n
        if kind in ("circles", "ring"):
            centre = a + (big + small if kind == "circles" else big - small) * n
            touch = a + big * n
        tip = rng.uniform(-0.5, 0.5, 2)
        turn = np.array([[np.cos(angles[1]), -np.sin(angles[1])], [np.sin(angles[1]), np.cos(angles[1])]])
        at = touch - turn @ tip if kind == "point" else centre
        second = m.body("b", mass=0.5, inertia=0.1, at=tuple(at), angle=angles[1])
        more: dict[str, Any] = {"friction": rng.uniform(0.1, 0.5)}
        if kind == "point":
            m.point_line_contact("c", first, second, axis=tuple(u), at=tuple(touch), on_j=tuple(tip), **more)
        elif kind == "wheel":
            m.circle_line_contact("c", first, second, axis=tuple(u), at=tuple(touch), radius=small, **more)
        else:
            m.circle_contact("c", first, second, radii=(big, small), inside=kind == "ring", **more)
        pull = rng.uniform(1, 20)  # together, in any case
        away = -n if kind == "ring" else n
        m.force("press", second, tuple(-pull * away), on=tuple(turn.T @ (touch - at)))
        names = ("vx", "vy", "omega")
        given = {f"{part}.{name}": v for part in "ab" for name, v in zip(names, rng.uniform(-1, 1, 3), strict=True)}
        res = m.simulate([0.0, 1e-9], velocities=given)
        # along the line of i; for circles along the rim of i, counter-clockwise
        along = -u if kind in ("circles", "ring") else u
        assert abs(res.array("c.gap")[0]) < 1e-12
        slip = (velocity(res, "b", touch) - velocity(res, "a", touch)) @ along
        assert res.array("c.slip")[0] == pytest.approx(slip, abs=1e-9)
        force = res.array("c.normal")[0] * away + res.array("c.friction")[0] * along
        on = res.reaction("c", on="b")
        assert on.force[0] == pytest.approx(force, abs=1e-9 * pull)
        arm = touch - on.point[0]
        assert on.moment[0] == pytest.approx(arm[0] * force[1] - arm[1] * force[0], abs=1e-9 * pull)
        assert res.reaction("c", on="a").force[0] == pytest.approx(-force, abs=1e-9 * pull)
        assert res.array("c.normal")[0] >= 0.0
