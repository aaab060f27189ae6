"""The reference itself, held to exact solutions: its error is in proportion to the step."""

from __future__ import annotations

import math

import numpy as np
import pytest
from moreau import Bodies
from rigid import GROUND, Circles, Friction, Guide, Limit, Load, Motor, OnLine, Pin, Rub, Spring

G = 9.81


def falls(errors: list[float], least: float = 1e-9) -> None:
    """The errors of steps h, h/4, h/16 fall; where events lie within a step makes them uneven."""
    assert errors[2] < max(0.4 * max(errors[:2]), least), errors


def block_on_incline(angle: float, friction: Friction, v: float) -> Bodies:
    m = Bodies((G * math.sin(angle), -G * math.cos(angle)))
    b = m.body(2.0, 0.1, (0, 0, 0), (v, 0, 0))
    m.joints.append(Guide(GROUND, (0, 0), (1, 0), b, (0, 0), friction=friction, name="guide"))
    return m


def test_a_block_thrown_up_an_incline_stops_and_stays_or_comes_back():
    slope, mu = 0.5, 0.4
    up = G * (math.sin(slope) + mu * math.cos(slope))
    down = G * (math.sin(slope) - mu * math.cos(slope))
    stop = 3.0 / up
    errors = []
    for steps in (100, 400, 1600):
        motion = block_on_incline(slope, Friction(mu), -3.0).run(1.0, steps)
        errors.append(abs(motion.q[-1, 0] - (-4.5 / up + down * (1 - stop) ** 2 / 2)))
        assert set(motion.modes["guide"][5:]) <= {"backward", "forward", "stick"}
    falls(errors)
    held = block_on_incline(slope, Friction(mu, static=0.6), -3.0).run(1.0, 400)
    assert abs(held.q[-1, 0] + 4.5 / up) < 1e-2
    assert held.modes["guide"][-1] == "stick"
    assert np.ptp(held.q[-100:, 0]) < 1e-9


def test_a_mass_on_a_spring_stops_where_it_should():
    """Half cycles about k x = +-mu m g: it loses 2 mu m g / k of amplitude in each."""
    k, mu, x0 = 100.0, 0.3, 0.5
    lost = mu * G / k
    x, half = x0, 0
    while abs(x) > lost:
        x, half = -(abs(x) - 2 * lost) * math.copysign(1, x), half + 1
    errors = []
    for steps in (500, 2000, 8000):
        m = Bodies((0.0, -G))
        b = m.body(1.0, 0.1, (x0, 0, 0))
        m.joints.append(Guide(GROUND, (0, 0), (1, 0), b, (0, 0), friction=Friction(mu), name="guide"))
        m.loads.append(Load(b, lambda t: (0, 0, 0)))
        m.springs.append(Spring(GROUND, (-10.0, 0), b, (0, 0), k, 10.0))
        errors.append(abs(m.run((half + 0.5) * math.pi / 10, steps).q[-1, 0] - x))
    falls(errors)


@pytest.mark.parametrize("e", [0.0, 0.7, 1.0])
def test_a_ball_bounces(e):
    def exact(t: float) -> float:
        y, v, left = 1.0, 0.0, t
        while True:
            hit = (v + math.sqrt(v * v + 2 * G * y)) / G
            if left <= hit or hit < 1e-9:
                return y + v * left - G * left**2 / 2 if left <= hit else 0.0
            left, y, v = left - hit, 0.0, e * (G * hit - v)

    errors = []
    for steps in (500, 2000, 8000):
        m = Bodies((0.0, -G))
        b = m.body(1.0, 0.1, (0, 1.1, 0))
        m.contacts.append(OnLine(GROUND, (0, 0), (1, 0), b, (0, 0), radius=0.1, restitution=e, name="floor"))
        motion = m.run(3.0, steps)
        errors.append(max(abs(y - 0.1 - exact(t)) for t, y in zip(motion.t, motion.q[:, 1], strict=True)))
    falls(errors)


def test_a_pendulum_with_pin_friction():
    """In one coordinate: I w' = -m g l sin(a) - mu R |F| sign(w), |F| with friction's own share in it."""
    mass, inertia, length, mu, radius = 2.0, 0.3, 0.8, 0.3, 0.2

    def rate(a: float, w: float) -> float:
        """By a fixed point: the pin's force follows from the accelerations, friction from the force."""
        dw = 0.0
        for _ in range(60):
            fx = mass * length * (dw * math.cos(a) - w * w * math.sin(a))
            fy = mass * length * (dw * math.sin(a) + w * w * math.cos(a)) + mass * G
            torque = mu * radius * math.hypot(fx, fy) * math.copysign(1, w)
            dw = (-mass * G * length * math.sin(a) - torque) / (inertia + mass * length**2)
        return dw

    a, w, n, end = 1.2, -1e-9, 4000, 1.0
    h = end / n
    for _ in range(n):
        k1 = rate(a, w)
        k2 = rate(a + h / 2 * w, w + h / 2 * k1)
        k3 = rate(a + h / 2 * w + h * h / 4 * k1, w + h / 2 * k2)
        k4 = rate(a + h * w + h * h / 2 * k2, w + h * k3)
        a, w = a + h * w + h * h / 6 * (k1 + k2 + k3), w + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        if w > 0:
            break
    errors = []
    for steps in (200, 800, 3200):
        m = Bodies((0.0, -G))
        b = m.body(mass, inertia, (length * math.sin(1.2), -length * math.cos(1.2), 1.2))
        m.joints.append(Pin(GROUND, (0, 0), b, (0, length), Friction(mu, radius=radius), name="pin"))
        motion = m.run(end, steps)
        errors.append(abs(motion.q[-1, 2] - a))
    falls(errors)


def test_a_mass_on_a_belt():
    """It is carried until the spring pulls with the static friction, slides, and is caught again where speeds agree."""
    k, speed, static, kinetic = 40.0, 0.3, 0.6, 0.35
    omega, x1, x0 = math.sqrt(k), static * G / k, kinetic * G / k
    amplitude = math.hypot(x1 - x0, speed / omega)
    phase = math.atan2(speed / omega, x1 - x0)  # x = x0 + A cos(w t - phase), until w t = pi + 2 phase
    slip = (math.pi + 2 * phase) / omega
    period = slip + (2 * (x1 - x0)) / speed
    errors = []
    for steps in (1000, 4000, 16000):
        m = Bodies((0.0, -G))
        b = m.body(1.0, 0.1, (x1, 0, 0), (speed, 0, 0))
        m.joints.append(Guide(GROUND, (0, 0), (1, 0), b, (0, 0)))
        m.rubs.append(Rub(b, (1, 0), Friction(kinetic, static), G, speed, name="belt"))
        m.springs.append(Spring(GROUND, (-10.0, 0), b, (0, 0), k, 10.0))
        motion = m.run(period, steps)
        errors.append(abs(motion.q[-1, 0] - x1) + abs(motion.q[:, 0].min() - (x0 - amplitude)))
    falls(errors)


def test_two_balls_and_a_stop():
    """Elastic balls of unequal mass exchange momentum; a stop turns one of them round."""
    for e, m1, m2 in ((1.0, 1.0, 3.0), (0.5, 2.0, 1.0)):
        errors = []
        for steps in (101, 404, 1616):
            m = Bodies()
            a = m.body(m1, 0.1, (0, 0, 0), (2.0, 0, 0))
            b = m.body(m2, 0.1, (1.0, 0, 0), (0, 0, 0))
            m.contacts.append(Circles(a, (0, 0), b, (0, 0), (0.1, 0.2), restitution=e, name="hit"))
            m.contacts.append(Limit(GROUND, b, 1.4, -1.0, (1, 0), restitution=e, name="stop"))
            motion = m.run(0.6, steps)
            v1 = (m1 - e * m2) / (m1 + m2) * 2.0
            v2 = (1 + e) * m1 / (m1 + m2) * 2.0
            t2 = 0.35 + 0.4 / v2
            at = 1.4 - e * v2 * (0.6 - t2) if t2 < 0.6 else 1.0 + v2 * 0.25
            errors.append(abs(motion.q[-1, 0] - 0.7 - v1 * 0.25) + abs(motion.q[-1, 3] - at))
        falls(errors)


@pytest.mark.parametrize("mu", [0.1, 0.6])
def test_a_spinning_ball_hits_the_floor(mu):
    """Sliding: the tangential impulse is mu (1 + e) m v_n; else what stops the contact point."""
    mass, r, e = 1.5, 0.2, 0.6
    inertia = 0.4 * mass * r * r
    u = 1.0 + 8.0 * r
    push = min(mu * (1 + e) * mass * 3.0, u / (1 / mass + r * r / inertia))
    v, w = 1.0 - push / mass, 8.0 - push * r / inertia
    m = Bodies()
    b = m.body(mass, inertia, (0, 1.0, 0), (1.0, -3.0, 8.0))
    m.contacts.append(
        OnLine(GROUND, (0, 0), (1, 0), b, (0, 0), radius=r, restitution=e, friction=Friction(mu), name="floor")
    )
    motion = m.run(0.5, 500)
    assert motion.v[-1] == pytest.approx([v, 1.8, w], abs=1e-9)


def test_a_four_bar_turned_by_a_motor_stays_together():
    m = Bodies((0, -G))
    crank = m.body(1.0, 0.05, (0.1, 0, 0))
    coupler = m.body(1.0, 0.05, (0.55, 0.15, math.atan2(0.3, 0.7)))
    rocker = m.body(1.0, 0.05, (0.9, -0.1, 0))
    m.joints += [
        Pin(GROUND, (0, 0), crank, m.local(crank, (0, 0))),
        Pin(crank, m.local(crank, (0.2, 0)), coupler, m.local(coupler, (0.2, 0)), Friction(0.2, radius=0.05), name="A"),
        Pin(
            coupler,
            m.local(coupler, (0.9, 0.3)),
            rocker,
            m.local(rocker, (0.9, 0.3)),
            Friction(0.2, radius=0.05),
            name="B",
        ),
        Pin(GROUND, (0.9, -0.5), rocker, m.local(rocker, (0.9, -0.5))),
        Motor(GROUND, crank, lambda t: (0.0 if t <= 0 else 2.0 * t, 2.0)),
    ]
    motion = m.run(1.0, 400)
    assert motion.q[-1, 2] == pytest.approx(2.0, abs=1e-6)
    A = motion.q[-1, :2] + 0.1 * np.array([math.cos(2.0), math.sin(2.0)])
    on = m.local(coupler, (0.2, 0))
    c, s = math.cos(motion.q[-1, 5]), math.sin(motion.q[-1, 5])
    assert motion.q[-1, 3:5] + [c * on[0] - s * on[1], s * on[0] + c * on[1]] == pytest.approx(A, abs=1e-6)
