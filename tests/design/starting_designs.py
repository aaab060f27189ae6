"""Mechanisms whose motions begin in a state of their own: sticking, pressing, closed, at a limit, at rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import kempe as kp

Asked = tuple[kp.Mechanism, float, list[Any], dict[str, Any]]
STARTS: dict[str, Callable[[], Asked]] = {}
G = 10.0


def starts(make: Callable[[], Asked]) -> Callable[[], Asked]:
    """One of them."""
    STARTS[make.__name__] = make
    return make


def model(**values: float) -> tuple[Any, ...]:
    """A mechanism under gravity, and its parameters."""
    m = kp.Mechanism("starts", gravity=(0, -G))
    return m, *(m.parameter(name, value) for name, value in values.items())


def sledge(m: kp.Mechanism, x: Any, mass: Any, **joint: Any) -> Any:
    """A block on a level guide."""
    b = m.body("b", mass, 0.1, at=(x, 0))
    m.translational("guide", m.ground, b, axis=(1, 0), at=(0, 0), **joint)
    return b


def lift(m: kp.Mechanism, y: Any, mass: Any) -> Any:
    """A block on an upright guide."""
    b = m.body("b", mass, 0.1, at=(0, y))
    m.translational("guide", m.ground, b, axis=(0, 1), at=(0, 0))
    return b


ALONG = [kp.final("b.x"), kp.integral("b.x"), kp.final("b.vx")]
UPRIGHT = [kp.final("b.y"), kp.integral("b.y"), kp.final("b.vy")]


@starts
def sticks_then_slides() -> Asked:
    m, x0, mass, mu, k, rate = model(x0=0.3, mass=1.5, mu=0.4, k=20.0, rate=8.0)
    b = sledge(m, x0, mass, friction=mu)
    m.force("pull", b, (lambda t: rate * t, 0))
    m.spring("s", m.ground.on((0, 0)), b, stiffness=k, length=0.25)
    return m, 1.0, ALONG, {}


@starts
def sticks_throughout() -> Asked:
    m, x0, mass, mu, k = model(x0=0.3, mass=1.5, mu=0.4, k=20.0)
    b = sledge(m, x0, mass, friction=mu)
    m.spring("s", m.ground.on((0, 0)), b, stiffness=k, length=0.25)
    return m, 0.5, [kp.initial("guide.friction"), kp.final("guide.friction"), kp.integral("b.x")], {}


@starts
def slides_backward() -> Asked:
    m, x0, mass, mu, v0, k = model(x0=0.3, mass=1.5, mu=0.2, v0=-1.0, k=30.0)
    b = sledge(m, x0, mass, friction=mu)
    m.spring("s", m.ground.on((0, 0)), b, stiffness=k, length=0.25)
    return m, 0.7, ALONG, {"velocities": {"b.vx": v0}}


@starts
def slips_at_once() -> Asked:
    m, x0, mass, mu, k = model(x0=0.3, mass=1.5, mu=0.4, k=30.0)
    m.force("pull", sledge(m, x0, mass, friction=mu), (k, 0))
    return m, 0.5, ALONG, {}


@starts
def rides_on_a_belt() -> Asked:
    m, x0, mass, mu, k, speed = model(x0=0.3, mass=1.5, mu=0.4, k=20.0, speed=0.5)
    b = sledge(m, x0, mass)
    m.friction("belt", b.x, friction=mu, normal=15.0, speed=speed)
    m.spring("s", m.ground.on((0, 0)), b, stiffness=k, length=0.25)
    return m, 1.2, ALONG, {"velocities": {"b.vx": speed}}


@starts
def a_hinge_that_sticks() -> Asked:
    m, L, mass, mu, rate = model(L=0.05, mass=1.0, mu=0.4, rate=6.0)
    b = m.body("b", mass, 0.1, at=(L, 0))
    m.revolute("O", m.ground, b, on_i=(0, 0), on_j=(-L, 0), friction=mu, radius=0.2)
    m.torque("t", b, lambda t: rate * t)
    return m, 0.5, [kp.final("b.angle"), kp.final("b.omega"), kp.final("b.x")], {}


@starts
def assembled_and_sticks() -> Asked:
    """The place that is kept is that of the assembled pose."""
    m, L, mass, mu, rate = model(L=0.5, mass=1.0, mu=0.4, rate=30.0)
    a, b = m.body("a", mass, 0.05, at=(0.2, 0.1), angle=0.5), m.body("b", mass, 0.05, at=(0.6, 0.12), angle=-0.4)
    s = m.body("s", mass, 0.1, at=(0.9, 0))
    m.revolute("O", m.ground, a, on_i=(0, 0), on_j=(-L / 2, 0))
    m.revolute("A", a, b, on_i=(L / 2, 0), on_j=(-L / 2, 0))
    m.revolute("B", b, s, on_i=(L / 2, 0), on_j=(0, 0))
    m.translational("guide", m.ground, s, axis=(1, 0), at=(0, 0), friction=mu)
    m.force("push", s, (lambda t: rate * t, 0))
    return m, 0.5, [kp.final("s.x"), kp.final("a.angle"), kp.integral("s.x")], {}


@starts
def presses() -> Asked:
    m, y0, k, c, mass = model(y0=-0.03, k=1e3, c=5.0, mass=1.2)
    m.bump_stop("stop", lift(m, y0, mass).y, 0.0, stiffness=k, damping=c)
    return m, 0.4, [*UPRIGHT, kp.maximum("b.vy"), kp.initial("stop.force")], {}


@starts
def is_released() -> Asked:
    m, y0, k, c, mass, v = model(y0=-0.03, k=1e3, c=50.0, mass=1.2, v=2.0)
    m.bump_stop("stop", lift(m, y0, mass).y, 0.0, stiffness=k, damping=c)
    return m, 0.4, UPRIGHT, {"velocities": {"b.vy": v}}


@starts
def touches_at_the_first_instant() -> Asked:
    m, k, c, mass, v = model(k=1e3, c=5.0, mass=1.2, v=-1.0)
    m.bump_stop("stop", lift(m, 0.0, mass).y, 0.0, stiffness=k, damping=c)
    return m, 0.3, UPRIGHT, {"velocities": {"b.vy": v}}


@starts
def keeps_the_speed_of_approach() -> Asked:
    m, y0, k, e, mass, v = model(y0=-0.003, k=1e5, e=0.6, mass=1.2, v=-0.5)
    m.bump_stop("stop", lift(m, y0, mass).y, 0.0, contact=kp.LankaraniNikravesh(e, k))
    return m, 0.2, UPRIGHT, {"velocities": {"b.vy": v}}


@starts
def rests_on_a_spring() -> Asked:
    """The motion does nothing, so that its steps are long; derivatives swing."""
    m, y0, k, c, mass = model(y0=-0.01, k=1e3, c=5.0, mass=1.0)
    m.bump_stop("stop", lift(m, y0, mass).y, 0.0, stiffness=k, damping=c)
    return m, 0.5, UPRIGHT, {}


@starts
def hangs_at_rest() -> Asked:
    m, L, mass, push = model(L=0.5, mass=1.0, push=0.0)
    b = m.body("b", mass, 0.1, at=(0, -L))
    m.revolute("O", m.ground, b, on_i=(0, 0), on_j=(0, L))
    m.torque("t", b, push)
    return m, 3.0, [kp.final("b.angle"), kp.integral("b.x"), kp.final("O.force.x")], {}


@starts
def lies_and_rolls() -> Asked:
    m, r, mu, mass, k = model(r=0.1, mu=0.3, mass=1.2, k=2.0)
    b = m.body("b", mass, 0.004, at=(0, r))
    m.circle_line_contact("floor", m.ground, b, radius=r, friction=mu)
    m.force("push", b, (k, 0))
    return m, 0.7, [*ALONG, kp.final("b.omega"), kp.integral("floor.normal")], {}


@starts
def lies_and_slides() -> Asked:
    m, r, mu, mass, v = model(r=0.1, mu=0.3, mass=1.2, v=1.0)
    m.circle_line_contact("floor", m.ground, m.body("b", mass, 0.004, at=(0, r)), radius=r, friction=mu)
    return m, 0.7, [*ALONG, kp.final("b.omega")], {"velocities": {"b.vx": v}}


@starts
def drawn_too_low() -> Asked:
    m, r, mu, mass, y0, x0 = model(r=0.1, mu=0.3, mass=1.2, y0=0.07, x0=0.2)
    b = m.body("b", mass, 0.004, at=(x0, y0))
    m.circle_line_contact("floor", m.ground, b, radius=r, friction=mu, restitution=0.5)
    m.force("push", b, (1.0, 0))
    return m, 0.7, [*ALONG, kp.final("b.y")], {}


@starts
def drawn_too_low_and_leaves() -> Asked:
    m, r, mass, y0, k = model(r=0.1, mass=1.2, y0=0.07, k=30.0)
    b = m.body("b", mass, 0.004, at=(0, y0))
    m.circle_line_contact("floor", m.ground, b, radius=r, restitution=0.5)
    m.force("lift", b, (0, k))
    return m, 0.5, UPRIGHT, {}


@starts
def drawn_into_a_bowl() -> Asked:
    m, R, r, mass, x0, y0 = model(R=0.5, r=0.1, mass=1.2, x0=0.25, y0=-0.45)
    b = m.body("b", mass, 0.004, at=(x0, y0))
    m.circle_contact("bowl", m.ground, b, radii=(R, r), inside=True, friction=0.6)
    return m, 0.6, [*ALONG, kp.final("b.y")], {}


@starts
def drawn_into_each_other() -> Asked:
    m, r, light, heavy, rate = model(r=0.1, light=1.0, heavy=2.0, rate=1.0)
    a, b = m.body("a", light, 0.004, at=(0, 0.09)), m.body("b", heavy, 0.01, at=(0.01, 0.27))
    m.circle_line_contact("floor", m.ground, a, radius=r, friction=0.5)
    m.circle_contact("between", a, b, radii=(r, r), friction=0.3)
    m.translational("guide", m.ground, b, axis=(0, 1), at=(0.01, 0))
    m.force("push", a, (lambda t: rate * t, 0))
    return m, 0.3, [kp.final("a.x"), kp.integral("b.y"), kp.final("a.omega")], {}


@starts
def drawn_too_low_on_a_hinge() -> Asked:
    """It sticks where it is moved to, which turns it."""
    m, r, mass, y0 = model(r=0.1, mass=1.2, y0=0.08)
    b, s = m.body("b", mass, 0.004, at=(0, y0)), m.body("s", 0.5, 0.01, at=(0, 0.3))
    m.revolute("hinge", b, s, on_i=(0, 0), on_j=(0.02, -0.2))
    m.circle_line_contact("floor", m.ground, b, radius=r, friction=0.5)
    return m, 0.2, [*ALONG, kp.final("s.angle")], {}


@starts
def thrown_at_the_floor() -> Asked:
    m, r, mass, e, v = model(r=0.1, mass=1.2, e=0.5, v=-1.0)
    m.circle_line_contact("floor", m.ground, m.body("b", mass, 0.004, at=(0, r)), radius=r, restitution=e)
    return m, 0.35, UPRIGHT, {"velocities": {"b.vy": v}}


@starts
def at_a_stop() -> Asked:
    m, x0, mass, k, rate = model(x0=0.3, mass=1.5, k=-2.0, rate=6.0)
    b = sledge(m, x0, mass)
    m.stop("stop", b.x, x0, side="below", restitution=0.5)
    m.force("push", b, (lambda t: k + rate * t, 0))
    return m, 0.8, ALONG, {}


@starts
def at_the_end_of_backlash() -> Asked:
    m, c, mass = model(c=0.01, mass=1.0)
    b = m.body("b", mass, 0.05, at=(0.2, -c))
    m.revolute("O", m.ground, b, on_i=(0, 0), on_j=(-0.2, 0), backlash=c, restitution=0.3)
    return m, 0.1, [kp.final("b.x"), kp.final("b.y"), kp.final("b.angle")], {}


@starts
def a_cam_drawn_open() -> Asked:
    m, y0, mass, w = model(y0=0.14, mass=0.5, w=3.0)
    disk, b = m.body("c", 1.0, 0.1, at=(0, 0)), lift(m, y0, mass)
    m.revolute("O", m.ground, disk, at=(0, 0))
    profile = kp.polar(lambda s: 0.1 + 0.02 * kp.cos(s))
    m.cam_roller("cam", disk, b, profile=profile, radius=0.02, lift_off=True)
    return m, 0.3, UPRIGHT, {"velocities": {"c.omega": w}}
