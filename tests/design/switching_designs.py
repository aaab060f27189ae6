"""Mechanisms that switch, with design parameters of what switches among others."""

from __future__ import annotations

from designs import Design

import kempe as kp

GRAVITY = 9.81


def bump_stop() -> Design:
    """A pendulum that swings against a stop with a damper."""
    m = kp.Mechanism("bump stop", gravity=(0, -GRAVITY))
    L, stop, k, c = m.parameter("L", 0.5), m.parameter("stop", -0.2), m.parameter("k", 90.0), m.parameter("c", 0.4)
    mass = m.parameter("mass", 1.0)
    arm = m.body("arm", mass, mass * L**2 / 12, at=(L / 2, 0))
    m.revolute("O", m.ground, arm, at=(0, 0))
    m.bump_stop("bump", arm.angle, -1.5 + stop, k, damping=c)
    asked = (
        ("integral", "arm.omega**2"),
        ("final", "arm.angle"),
        ("maximum", "bump.force"),
        ("integral", "O.force**2"),
        ("violation", "arm.omega", 1.0),
    )
    return Design(m, 1.2, asked)


def stick_slip() -> Design:
    """A block on a belt that sticks and slips."""
    m = kp.Mechanism("stick and slip", gravity=(0, -GRAVITY))
    mass, k, speed = m.parameter("mass", 1.0), m.parameter("k", 100.0), m.parameter("speed", 0.1)
    static, kinetic = m.parameter("static", 0.4), m.parameter("kinetic", 0.3)
    block = m.body("block", mass, 0.01, at=(0, 0))
    guide = m.translational("guide", m.ground, block, axis=(1, 0), at=(0, 0))
    m.spring("spring", m.ground, block, on_i=(-0.3, 0), stiffness=k, damping=0.2)
    m.friction("belt", block.x, friction=kp.Coulomb(kinetic, static), normal=guide, speed=speed)
    asked = (("integral", "block.x**2"), ("final", "block.x"), ("integral", "belt.friction**2"), ("maximum", "block.x"))
    return Design(m, 1.7, asked)


def rubbing_crank() -> Design:
    """A slider-crank that comes to rest by the friction of its joints."""
    m = kp.Mechanism("rubbing slider-crank", gravity=(0, -GRAVITY))
    r, rod, mu, pin = m.parameter("r", 0.1), m.parameter("rod", 0.3), m.parameter("mu", 0.2), m.parameter("pin", 0.02)
    mass = m.parameter("mass", 0.5)
    crank = m.body("crank", 0.4, 4e-4, at=(0, r / 2), angle=kp.pi / 2)
    far = kp.sqrt(rod**2 - r**2)
    coupler = m.body("coupler", 0.3, 0.3 * rod**2 / 12, at=(far / 2, r / 2), angle=kp.atan2(-r, far))
    slider = m.body("slider", mass, 0.01, at=(far, 0.0))
    m.revolute("O", m.ground, crank, at=(0, 0), friction=mu, radius=pin)
    m.revolute("A", crank, coupler, at=(0.0, r))
    m.revolute("B", coupler, slider, at=(far, 0.0))
    m.translational("guide", m.ground, slider, axis=(1, 0), at=(0, 0), friction=mu)
    m.spring("spring", m.ground, slider, on_i=(0.6, 0), stiffness=60.0, length=0.2)
    asked = (("integral", "slider.vx**2"), ("final", "crank.angle"), ("integral", "O.friction**2"))
    return Design(m, 0.6, asked)


def bouncing() -> Design:
    """A mass that bounces on a floor, three times."""
    m = kp.Mechanism("bouncing ball")
    g, e, high, low = (
        m.parameter("g", GRAVITY),
        m.parameter("e", 0.8),
        m.parameter("high", 1.0),
        m.parameter("low", 0.1),
    )
    drag, slope = m.parameter("drag", 0.1), m.parameter("slope", 0.1)
    m.gravity = (0, -g)
    ball = m.body("ball", 1.0, 0.01, at=(0, high))
    m.user_force("air", lambda b: (-drag * b.vx, -drag * b.vy, 0), ball)
    m.point_line_contact("floor", m.ground, ball, axis=(1, slope), on_i=(0, low), restitution=e)
    asked = (("integral", "ball.y"), ("final", "ball.vy"), ("final", "ball.x"), ("integral", "ball.vx**2"))
    return Design(m, 1.5, asked)


def ball_on_a_plate(end: float = 0.24) -> Design:
    """A ball thrown up by a plate that is driven up and down."""
    m = kp.Mechanism("ball on a plate", gravity=(0, -GRAVITY))
    e, speed, r, mass = (
        m.parameter("e", 0.5),
        m.parameter("speed", 9.0),
        m.parameter("r", 0.06),
        m.parameter("mass", 0.3),
    )
    plate = m.body("plate", 1.0, 0.01, at=(0, 0))
    guide = m.translational("guide", m.ground, plate, axis=(0, 1), at=(0, 0))
    m.driver("motor", guide.displacement, lambda t: r * kp.sin(speed * t))
    ball = m.body("ball", mass, 0.001, at=(0, 0.02))
    m.translational("rail", m.ground, ball, axis=(0, 1), at=(0, 0))
    m.point_line_contact("touch", plate, ball, axis=(1, 0), on_i=(0, 0), restitution=e)
    asked = (("integral", "ball.y**2"), ("final", "ball.vy"), ("integral", "motor.effort**2"))
    return Design(m, end, asked)


def comes_to_rest() -> Design:
    """The same until it has come to rest on the plate, by ever shorter jumps."""
    return ball_on_a_plate(0.5)


def caught() -> Design:
    """An arm that falls on a rigid stop, which keeps it, while what hangs on it swings on and lifts it off."""
    m = kp.Mechanism("caught", gravity=(0, -GRAVITY))
    L, at, k, mass = m.parameter("L", 0.5), m.parameter("at", -0.4), m.parameter("k", 6.0), m.parameter("mass", 0.8)
    arm = m.body("arm", mass, mass * L**2 / 12, at=(L / 2, 0.0))
    bob = m.body("bob", 0.9, 4e-3, at=(L, -0.2))
    m.revolute("O", m.ground, arm, at=(0, 0))
    m.revolute("A", arm, bob, at=(L, 0.0))
    m.torsion_spring("spring", m.ground, bob, stiffness=k, angle=0.8)
    m.stop("stop", arm.angle, at, side="below")
    asked = (("integral", "bob.omega**2"), ("final", "arm.angle"), ("final", "bob.omega"), ("integral", "O.force**2"))
    return Design(m, 0.7, asked)


def backlash() -> Design:
    """A slider-crank whose pin has play, until it has touched some times."""
    m = kp.Mechanism("backlash", gravity=(0, -GRAVITY))
    play, e, mass = m.parameter("play", 2e-3), m.parameter("e", 0.4), m.parameter("mass", 0.4)
    speed, L = m.parameter("speed", 12.0), m.parameter("L", 0.3)
    arm = m.body("arm", 0.5, 4e-3, at=(L / 2, 0.0))
    pin = m.revolute("O", m.ground, arm, at=(0, 0))
    m.driver("motor", pin.angle, lambda t: 0.3 * kp.sin(speed * t))
    bob = m.body("bob", mass, 2e-3, at=(L, -0.05))
    m.revolute("P", arm, bob, on_i=(L / 2, 0), on_j=(0, 0.05), backlash=play, restitution=e)
    asked = (("integral", "bob.omega**2"), ("final", "bob.y"), ("integral", "motor.effort**2"))
    return Design(m, 0.11, asked)


def clearance() -> Design:
    """A loose piston pin, before its motion is chaotic."""
    m = kp.Mechanism("clearance")
    play, K, loss = m.parameter("play", 0.5e-3), m.parameter("K", 5e8), m.parameter("restitution", 0.8)
    mass, heavy = m.parameter("mass", 0.14), m.parameter("heavy", 0.21)
    r, speed = 0.05, 100.0
    crank = m.body("crank", 0.3, 1e-4, at=(r / 2, 0.0))
    rod = m.body("rod", heavy, 2.5e-4, at=(r + 0.06, 0.0))
    slider = m.body("slider", mass, 1e-4, at=(r + 0.12, 0.0))
    main = m.revolute("O", m.ground, crank, at=(0.0, 0.0))
    m.revolute("A", crank, rod, at=(r, 0.0))
    m.translational("guide", m.ground, slider)
    m.driver("motor", main.angle, kp.constant_speed(speed))
    law = kp.LankaraniNikravesh(loss, K)
    m.revolute("B", rod, slider, at=(r + 0.12, 0.0), clearance=play, contact=law)
    asked = (("integral", "slider.ax**2"), ("final", "slider.vx"), ("maximum", "B.force"))
    return Design(m, 0.012, asked, {"velocities": {"slider.vx": 0.0, "rod.omega": -0.05 * speed / 0.12}})


def contact_laws() -> Design:
    """Three balls that fall on three floors: Hertz, Hunt and Crossley, one's own law."""
    m = kp.Mechanism("contact laws", gravity=(0, -GRAVITY))
    K, e, mass, high = m.parameter("K", 2e5), m.parameter("e", 0.7), m.parameter("mass", 0.3), m.parameter("high", 0.15)
    c = m.parameter("c", 0.2)
    laws = (kp.Hertz(K), kp.HuntCrossley(e, K), kp.contact_law(lambda d, rate: 3e3 * d + 1e5 * c * d**1.5 * rate))
    for k, law in enumerate(laws):
        ball = m.body(f"ball{k}", mass, 1e-3, at=(k, high + 0.02 * k))
        m.translational(f"rail {k}", m.ground, ball, axis=(0, 1), at=(k, 0))
        m.circle_line_contact(f"floor{k}", m.ground, ball, radius=0.05, axis=(1, 0), on_i=(0, 0), contact=law)
    asked = (
        ("final", "ball0.vy"),
        ("final", "ball1.y"),
        ("final", "ball2.y"),
        ("integral", "floor1.force**2"),
        ("maximum", "floor2.force"),
    )
    return Design(m, 0.35, asked)


def struck() -> Design:
    """A double pendulum that is struck, at a time and with an impulse that are parameters."""
    m = kp.Mechanism("struck", gravity=(0, -GRAVITY))
    strength, when, L, mass = (
        m.parameter("strength", 0.8),
        m.parameter("when", 0.3),
        m.parameter("L", 0.4),
        m.parameter("mass", 0.9),
    )
    upper = m.body("upper", mass, mass * L**2 / 12, at=(0.0, -L / 2), angle=-kp.pi / 2)
    lower = m.body("lower", 0.5, 0.006, at=(0.2, -L))
    m.revolute("O", m.ground, upper, at=(0, 0))
    m.revolute("A", upper, lower, at=(0.0, -L))
    m.impulse("blow", lower, when, force=(0, strength), on=(0.1, 0))
    asked = (("integral", "upper.angle**2"), ("final", "lower.omega"), ("integral", "A.force**2"))
    return Design(m, 0.8, asked)


def lift_off() -> Design:
    """A cam that runs so fast that its follower leaves it and lands again."""
    m = kp.Mechanism("lift off", gravity=(0, -GRAVITY))
    lift, speed, k = m.parameter("lift", 0.02), m.parameter("speed", 40.0), m.parameter("k", 20.0)
    mass = m.parameter("mass", 0.3)
    disk = m.body("disk", 1.0, 2e-3, at=(0, 0))
    pin = m.revolute("O", m.ground, disk, at=(0, 0))
    m.driver("motor", pin.angle, kp.constant_speed(speed))
    follower = m.body("follower", mass, 1e-3, at=(0, 0.06))
    m.translational("guide", m.ground, follower, axis=(0, 1), at=(0, 0))
    profile = kp.polar(lambda s: 0.05 + lift * (1 - kp.cos(s - kp.pi / 2)) / 2)
    m.cam_roller("cam", disk, follower, profile=profile, radius=0.01, lift_off=True)
    m.spring("spring", m.ground, follower, on_i=(0, 0.3), stiffness=k, length=0.25)
    asked = (("integral", "follower.y"), ("final", "follower.vy"), ("integral", "motor.effort**2"))
    return Design(m, 0.2, asked)


SWITCHING = (
    bump_stop,
    stick_slip,
    rubbing_crank,
    bouncing,
    ball_on_a_plate,
    comes_to_rest,
    caught,
    backlash,
    clearance,
    contact_laws,
    struck,
    lift_off,
)
