"""What sticks and what bounces, written as a user would: a block on a belt, a ball on a floor, with closed forms."""

from __future__ import annotations

import math

import kempe as kp

GRAVITY, STIFFNESS, SPEED, STICKING, SLIDING = 9.81, 100.0, 0.1, 0.4, 0.3


class BeltFriction(kp.Element):
    """Friction of a belt that moves below a block."""

    rows, row_modes = ("grip",), {"grip": ("stick",)}
    modes, latches = ("stick", "slower", "faster"), ("place", "time")

    def __init__(self, name, block, guide, speed, sticking, sliding):
        super().__init__(name, at=block.x, load=kp.Load(guide), speed=speed, sticking=sticking, sliding=sliding)

    def view(self, source):
        x = super().view(source)
        x.slip, x.pressed = x.d(x.at) - x.speed, kp.fabs(x.load["normal"])
        return x

    def phi(self, x):
        return x.at - x.kept["place"] - x.speed * (x.t - x.kept["time"])

    def force(self, x):
        slides = x.sliding * x.pressed
        return x.push(x.at, x.mode("slower", slides) - x.mode("faster", slides))

    def outputs(self, x):
        return {"slip": x.slip}

    def switches(self, x):
        most, here = x.sticking * x.pressed, {"place": x.at, "time": x.t}
        return [
            kp.Switch("stick", most + x.lam["grip"], "slower", note="slips back"),
            kp.Switch("stick", most - x.lam["grip"], "faster", note="slips ahead"),
            kp.Switch("slower", -x.slip, "stick", latch=here, note="sticks"),
            kp.Switch("faster", x.slip, "stick", latch=here, note="sticks"),
        ]

    def first_mode(self, x):
        return kp.if_else(x.slip < 0, 1.0, kp.if_else(x.slip > 0, 2.0, 0.0))


def belt(speed: float = SPEED) -> kp.Mechanism:
    """A block that a belt drags against a spring; with the belt at rest it sticks where it stops."""
    m = kp.Mechanism("block on a belt", gravity=(0, -GRAVITY))
    v = m.parameter("speed", speed)
    block = m.body("block", mass=1.0, inertia=0.1, at=(0, 0))
    guide = m.translational("guide", m.ground, block, axis=(1, 0), at=(0, 0))
    m.spring("spring", m.ground, block, on_i=(-1, 0), stiffness=STIFFNESS)
    m.add(BeltFriction("belt", block, guide, speed=v, sticking=STICKING, sliding=SLIDING))
    return m


def stick_and_slip() -> tuple[float, float]:
    """How long the block sticks and slides in turn: mass 1, so that omega^2 is the stiffness.

    It slides from u = (mu_s - mu_d) g / omega^2 off the sliding balance, with the belt's speed, until it has that speed
    again at -u.
    """
    omega = math.sqrt(STIFFNESS)
    u = (STICKING - SLIDING) * GRAVITY / omega**2
    return 2 * u / SPEED, 2 * (math.pi - math.atan(omega * u / SPEED)) / omega


class Floor(kp.Element):
    """A floor that throws a point back until it lies still."""

    rows, row_modes = ("gap",), {"gap": ("rest",)}
    modes = ("flight", "rest")

    def __init__(self, name, point, restitution):
        super().__init__(name, height=point.y, restitution=restitution)

    def phi(self, x):
        return x.height

    def switches(self, x):
        return [
            kp.Switch("flight", x.height, "flight", jump={"gap": x.restitution}, limit="rest", note="bounces"),
            kp.Switch("rest", -x.lam["gap"], "flight", note="lifts off"),
        ]

    def first_mode(self, x):
        return kp.if_else(kp.logic_and(x.height <= 0, x.d(x.height) == 0), 1.0, 0.0)


def ball(restitution: float = 0.5, height: float = 1.0, mass: float = 2.0) -> kp.Mechanism:
    """A ball that falls on a floor."""
    m = kp.Mechanism("ball", gravity=(0, -GRAVITY))
    e = m.parameter("restitution", restitution)
    point = m.point("ball", at=(0, height), mass=mass)
    m.add(Floor("floor", point, restitution=e))
    return m
