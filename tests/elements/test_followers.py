"""Cam followers that lift off and land, and contact with curves by a force, against closed forms and brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import kempe as kp

G = 9.81
#: A disk of radius R, eccentric by E; a follower of mass M with a spring K; a roller of radius A.
R, E, M, K, A = 0.05, 0.02, 0.5, 200.0, 0.01


def height(kind: str, t: Any, omega: float) -> Any:
    """The height of a follower that stays on the eccentric disk."""
    reach = {"flat": None, "roller": R + A, "point": R}[kind]
    across, up = E * np.cos(omega * t), E * np.sin(omega * t)
    return R + up if reach is None else up + np.sqrt(reach**2 - across**2)


def cam(kind: str, omega: float, **options: Any) -> kp.Mechanism:
    m = kp.Mechanism("cam", gravity=(0, -G))
    disk = m.body("disk", mass=1.0, inertia=1e-3)
    m.revolute("O", m.ground, disk, at=(0, 0))
    m.driver("motor", disk.angle, kp.constant_speed(omega))
    start = float(height(kind, 0.0, omega))
    follower = m.body("follower", mass=M, inertia=1e-3, at=(0.0, start))
    m.translational("guide", m.ground, follower, axis=(0, 1), at=(0.0, start))
    m.user_force("spring", lambda b: (0, -K * b.y, 0), follower)
    profile = kp.curve(lambda s: (E + R * kp.cos(s), R * kp.sin(s)))
    if kind == "flat":
        m.cam_flat("cam", disk, follower, profile=profile, axis=(1, 0), start=np.pi / 2, lift_off=True, **options)
    elif kind == "roller":
        m.cam_roller("cam", disk, follower, profile=profile, radius=A, lift_off=True, **options)
    else:
        m.point_on_curve("cam", disk, follower, curve=profile, lift_off=True, **options)
    return m


def brute(kind: str, omega: float, end: float, restitution: float = 0.0) -> list[tuple[float, str]]:
    """Lift-offs and landings by tight integration and root finding, without any of Kempe's machinery."""

    def y(t: Any) -> Any:
        return height(kind, np.asarray(t, dtype=np.longdouble), omega)

    h = 1e-5

    def speed(t: float) -> float:
        return float((8 * (y(t + h) - y(t - h)) - (y(t + 2 * h) - y(t - 2 * h))) / (12 * h))

    def force(t: float) -> float:
        second = (-y(t + 2 * h) + 16 * y(t + h) - 30 * y(t) + 16 * y(t - h) - y(t - 2 * h)) / (12 * h * h)
        return float(M * second + M * G + K * y(t))

    found: list[tuple[float, str]] = []
    t, free = 0.0, False
    state = [0.0, 0.0]
    while t < end:
        grid = np.linspace(t, end, 20000)
        if not free:
            pulls = np.flatnonzero(np.array([force(s) for s in grid]) < 0.0)
            if not len(pulls):
                break
            k = pulls[0]
            t = brentq(force, grid[k - 1], grid[k], xtol=1e-14) if k else t
            state, free = [float(y(t)), speed(t)], True
            found.append((t, "free"))
        else:
            touch: Any = lambda s, q: q[0] - float(y(s))  # noqa: E731
            touch.terminal, touch.direction = True, -1
            falls = G + K / M * state[0]
            ahead = [state[0] + state[1] * 1e-7 - falls * 0.5e-14, state[1] - falls * 1e-7]
            run = solve_ivp(
                lambda _, q: [q[1], -G - K / M * q[0]],
                (t + 1e-7, end),  # beyond the rounding of the start
                ahead,
                "DOP853",
                events=touch,
                rtol=1e-13,
                atol=1e-15,
            )
            if not len(run.t_events[0]):
                break
            t, q = float(run.t_events[0][0]), run.y_events[0][0]
            state = [float(y(t)), speed(t) - restitution * (q[1] - speed(t))]
            free = restitution > 0.0
            found.append((t, "free" if free else "touching"))
    return found


def lift_off_speed() -> float:
    """Of the flat face: N = M (g - E w^2 sin) + K (R + E sin) falls to zero first at the top."""
    return float(np.sqrt((K * (R + E) + M * G) / (M * E)))


def test_a_flat_face_lifts_off_beyond_the_speed_of_theory() -> None:
    speed = lift_off_speed()
    assert not cam("flat", speed * (1 - 1e-6)).simulate(6.0 / speed, tolerance=1e-11).events
    events = cam("flat", speed * (1 + 1e-4)).simulate(2 * np.pi / speed, tolerance=1e-11).events
    assert [e.mode for e in events] == ["free", "touching"]
    # the first instant without force, in closed form
    omega = 50.0
    angle = np.arcsin((K * R + M * G) / (E * (M * omega**2 - K)))
    first = cam("flat", omega).simulate(0.05, tolerance=1e-11).events[0]
    assert first.t == pytest.approx(angle / omega, abs=1e-12) and "lifts off" in first.message


@pytest.mark.parametrize("omega", [30.0, 47.0, 55.0, 80.0])
@pytest.mark.parametrize("kind", ["flat", "roller", "point"])
def test_lift_offs_and_landings_are_those_of_brute_force(kind: str, omega: float) -> None:
    end = 0.3
    result = cam(kind, omega).simulate(end, tolerance=1e-11, steps=100)
    expected = brute(kind, omega, end)
    assert [e.mode for e in result.events] == [mode for _, mode in expected]
    assert np.abs(np.array([e.t for e in result.events]) - [t for t, _ in expected]).max(initial=0.0) < 2e-8
    assert np.abs(result.array("energy.balance")).max() < 1e-8
    assert result.array("cam.gap").min() > -1e-10


@pytest.mark.parametrize("kind", ["flat", "roller"])
def test_landings_with_a_restitution(kind: str) -> None:
    result = cam(kind, 80.0, restitution=0.4).simulate(0.5, tolerance=1e-11)
    expected = brute(kind, 80.0, 0.5, restitution=0.4)
    pairs = list(zip(result.events, expected, strict=False))[:8]
    assert len(pairs) >= 3
    for event, (t, _) in pairs:
        assert event.t == pytest.approx(t, abs=1e-7)
    assert np.abs(result.array("energy.balance")).max() < 1e-8
    landing = next(e for e in result.events if "lands" in e.message)
    assert landing.impulses["cam.contact"] < 0.0 and landing.lost > 0.0
    assert abs(landing.impulses.get("cam.tangent", 0.0)) < 1e-12


def test_while_it_touches_it_is_the_cam_that_never_opens() -> None:
    """The same motion and the same force of contact, from other equations."""
    omega = 0.9 * lift_off_speed()
    for kind, verb, shape in (("flat", "cam_flat", {"axis": (1, 0)}), ("roller", "cam_roller", {"radius": A})):
        lifting = cam(kind, omega).simulate(0.2, tolerance=1e-11)
        m = kp.Mechanism("cam", gravity=(0, -G))
        disk = m.body("disk", mass=1.0, inertia=1e-3)
        m.revolute("O", m.ground, disk, at=(0, 0))
        m.driver("motor", disk.angle, kp.constant_speed(omega))
        start = float(height(kind, 0.0, omega))
        follower = m.body("follower", mass=M, inertia=1e-3, at=(0.0, start))
        m.translational("guide", m.ground, follower, axis=(0, 1), at=(0.0, start))
        m.user_force("spring", lambda b: (0, -K * b.y, 0), follower)
        profile = kp.curve(lambda s: (E + R * kp.cos(s), R * kp.sin(s)))
        getattr(m, verb)("cam", disk, follower, profile=profile, **shape)
        closed = m.simulate(0.2, tolerance=1e-11)
        assert not lifting.events
        assert np.abs(lifting.array("follower.y") - height(kind, lifting.t, omega)).max() < 1e-9
        assert np.abs(closed.array("cam.force") - lifting.array("cam.force")).max() < 1e-6
        assert np.abs(closed.array("motor.effort") - lifting.array("motor.effort")).max() < 1e-7


@pytest.mark.parametrize("method", kp.METHODS)
def test_every_method_lifts_off_and_lands(method: str) -> None:
    tolerance = 1e-8 if method in ("alpha", "ali3p") else 1e-9
    result = cam("flat", 55.0).simulate(0.12, method=method, tolerance=tolerance)
    expected = brute("flat", 55.0, 0.12)
    assert [e.mode for e in result.events][:2] == ["free", "touching"]
    for event, (t, _) in zip(result.events[:2], expected, strict=False):
        assert event.t == pytest.approx(t, abs=2e-4)


def test_a_bead_bounces_along_a_parabola_of_air() -> None:
    """A point thrown off a hill of radius 1 at speed v leaves at once where v^2 > g r, and flies on a parabola."""
    m = kp.Mechanism("hill", gravity=(0, -G))
    p = m.point("p", at=(0.0, 1.0), mass=2.0)
    hill = kp.curve(lambda s: (kp.cos(s), kp.sin(s)), span=(0.0, np.pi))
    m.point_on_curve("hill", m.ground, p, curve=hill, lift_off=True)
    slow, fast = 0.5, 3.5
    result = m.simulate(1.0, velocities={"p.vx": slow}, tolerance=1e-11)
    # leaves where v^2 = g cos(angle): from energy, cos = 2/3 + v0^2 / (3 g)
    leave = next(e for e in result.events if e.mode == "free")
    x, y = (float(leave.q[k]) for k in (0, 1))
    assert y == pytest.approx(2 / 3 + slow**2 / (3 * G), abs=1e-9) and np.hypot(x, y) == pytest.approx(1.0)
    flying = m.simulate(0.4, velocities={"p.vx": fast}, tolerance=1e-11)
    assert np.abs(flying.array("p.y") - (1.0 - G * flying.t**2 / 2)).max() < 1e-9
    assert np.abs(flying.array("p.x") - fast * flying.t).max() < 1e-9


# --- contact by a force -----------------------------------------------------------------------------------------------


def test_a_ball_on_a_soft_floor_is_a_bump_stop() -> None:
    """A straight curve is a floor: the same motion as with a stop on the height, event by event."""

    def drop(kind: str) -> Any:
        m = kp.Mechanism("ball", gravity=(0, -G))
        p = m.point("p", at=(0.3, 1.0), mass=2.0)
        if kind == "curve":  # run from right to left, the outside is above
            floor = kp.curve(lambda s: (-s, 0.1), span=(-2.0, 2.0))
            m.curve_contact("floor", m.ground, p, curve=floor, stiffness=5e3, damping=20.0, exponent=1.5, radius=0.2)
        else:
            m.bump_stop("floor", p.y, 0.3, 5e3, damping=20.0, exponent=1.5)
        return m.simulate(1.5, tolerance=1e-11)

    soft, stop = drop("curve"), drop("stop")
    assert [e.mode for e in soft.events] == [e.mode for e in stop.events] and len(soft.events) > 4
    assert [e.t for e in soft.events] == pytest.approx([e.t for e in stop.events], abs=1e-8)
    assert np.abs(soft.array("p.y") - stop.array("p.y")).max() < 1e-8
    assert np.abs(soft.array("floor.force") - stop.array("floor.force")).max() < 1e-3
    assert np.abs(soft.array("energy.balance")).max() < 1e-7


def test_a_ball_in_a_bowl_swings_with_a_small_dent() -> None:
    """Inside a circle (run clockwise) a roller swings like a pendulum; its contact force is m g cos + m v^2 / r."""
    stiff, radius, ball = 1e6, 1.0, 0.1
    m = kp.Mechanism("bowl", gravity=(0, -G))
    r = radius - ball
    p = m.point("p", at=(r * np.sin(0.4), -r * np.cos(0.4)), mass=1.0)
    with pytest.raises(kp.ModelError, match="span"):  # to run the other way, turn the function round
        kp.curve(lambda s: (radius * kp.sin(s), -radius * kp.cos(s)), span=(np.pi / 2, -np.pi / 2))
    bowl = kp.curve(lambda s: (-radius * kp.sin(s), -radius * kp.cos(s)), span=(-np.pi / 2, np.pi / 2))
    m.curve_contact("bowl", m.ground, p, curve=bowl, stiffness=stiff, damping=2e3, radius=ball)
    result = m.simulate(1.5, tolerance=1e-9)
    pendulum = solve_ivp(
        lambda _, q: [q[1], -G / r * np.sin(q[0])], (0, 1.5), [0.4, 0.0], t_eval=result.t, rtol=1e-11, atol=1e-12
    )
    exact = r * np.sin(pendulum.y[0])
    assert np.abs(result.array("p.x") - exact).max() < 2e-4
    late = result.t > 0.2
    force = G * np.cos(pendulum.y[0]) + r * pendulum.y[1] ** 2
    assert np.abs(result.array("bowl.force") - force)[late].max() < 0.05


def test_what_is_refused() -> None:
    m = kp.Mechanism("m")
    a, b = m.body("a", mass=1.0, inertia=1.0), m.body("b", mass=1.0, inertia=1.0, at=(1, 0))
    disk = kp.polar(lambda s: 1.0)
    for words, options in {
        "restitution needs lift_off": {"restitution": 0.5},
        "between 0 and 1": {"restitution": 1.5, "lift_off": True},
        "must not be below zero": {"restitution": -0.5, "lift_off": True},
        "lift_off must be True or False": {"lift_off": "yes"},
    }.items():
        with pytest.raises(kp.ModelError, match=words):
            m.cam_roller("c", a, b, profile=disk, radius=0.1, **options)
    with pytest.raises(kp.ModelError, match="stiffness must be above zero"):
        m.curve_contact("c", a, b, curve=disk, stiffness=0.0)
    with pytest.raises(kp.ModelError, match="the curve must be"):
        m.curve_contact("c", a, b, curve=5, stiffness=1.0)
