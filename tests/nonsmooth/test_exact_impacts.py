"""Impacts against exact solutions: instants, velocities behind them, impulses and energy."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from routh import routh

import kempe as kp

G = 9.81
METHODS = {"auto": 1e-8, "projection": 1e-8, "augmented": 1e-8, "radau": 1e-8, "independent": 1e-8, "alpha": 1e-3}
METHODS |= {"bdf": 1e-5, "ali3p": 1e-3}


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_bounces_at_all_its_instants_and_comes_to_rest_at_their_limit(method):
    e, height = 0.6, 0.8
    m = kp.Mechanism("ball", gravity=(0, -G))
    ball = m.body("ball", 0.7, 0.01, at=(0, height + 0.1))
    m.circle_line_contact("floor", m.ground, ball, radius=0.1, restitution=e)
    first = math.sqrt(2 * height / G)
    limit = first * (1 + e) / (1 - e)
    result = m.simulate(limit + 0.5, method=method, tolerance=1e-9)
    times = [event.t for event in result.events]
    exact = [first + 2 * first * e * (1 - e**k) / (1 - e) for k in range(len(times) - 1)]
    assert len(times) > 25
    assert times[:-1] == pytest.approx(exact, abs=METHODS[method])
    assert times[-1] == pytest.approx(limit, abs=1e-7 + METHODS[method])
    assert result.events[-1].mode == "closed"
    lost = [event.lost for event in result.events[:20]]
    assert lost == pytest.approx([0.7 * G * height * (1 - e * e) * e ** (2 * k) for k in range(20)], rel=1e-3)
    assert result.array("ball.y")[-1] == pytest.approx(0.1, abs=1e-12)
    assert result.array("energy.dissipated")[-1] == pytest.approx(0.7 * G * height, rel=METHODS[method] * 10)


def row(masses: list[float], speeds: list[float], e: float = 1.0) -> tuple[kp.Mechanism, dict[str, float]]:
    """Balls in a row, one radius apart from touching, or touching where neighbours rest."""
    m = kp.Mechanism("row")
    balls, x = [], 0.0
    for k, (mass, speed) in enumerate(zip(masses, speeds, strict=True)):
        x += 1.0 if k == 0 or speeds[k - 1] == speed else 1.5
        balls.append(m.body(f"b{k}", mass, 0.1, at=(x, 0.0)))
    for k in range(1, len(balls)):
        m.circle_contact(f"c{k}", balls[k - 1], balls[k], radii=(0.5, 0.5), restitution=e)
    return m, {f"b{k}.vx": v for k, v in enumerate(speeds)}


@pytest.mark.parametrize(("count", "moving"), [(3, 1), (5, 1), (5, 2), (20, 1), (20, 3)])
def test_newtons_cradle(count, moving):
    m, velocities = row([1.0] * count, [2.0] * moving + [0.0] * (count - moving))
    result = m.simulate(1.0, velocities=velocities)
    behind = [result.array(f"b{k}.vx")[-1] for k in range(count)]
    assert behind == pytest.approx([0.0] * (count - moving) + [2.0] * moving, abs=1e-12)


def test_a_cradle_of_unequal_masses_passes_the_impact_on():
    """Masses that fall by a factor: each ball is hit once, and none catches up with another."""
    masses = [8.0, 4.0, 2.0, 1.0, 0.5]
    m, velocities = row(masses, [1.0, 0, 0, 0, 0])
    result = m.simulate(1.0, velocities=velocities)
    speeds = [1.0]
    for one, other in itertools.pairwise(masses):
        v = speeds.pop()
        speeds += [(one - other) / (one + other) * v, 2 * one / (one + other) * v]
    assert [result.array(f"b{k}.vx")[-1] for k in range(5)] == pytest.approx(speeds, abs=1e-12)


def test_a_tennis_ball_on_a_basketball():
    """Both elastic, the small one just above: it leaves with (3 M - m)/(M + m) times the speed of the fall."""
    big, small, height, gap = 0.6, 0.06, 1.0, 1e-6
    m = kp.Mechanism("drop", gravity=(0, -G))
    lower = m.body("lower", big, 0.01, at=(0, 0.12 + height))
    upper = m.body("upper", small, 0.001, at=(0, 0.24 + height + 0.03 + gap))
    m.circle_line_contact("floor", m.ground, lower, radius=0.12, restitution=1.0)
    m.circle_contact("balls", lower, upper, radii=(0.12, 0.03), restitution=1.0)
    result = m.simulate(0.6, tolerance=1e-10)
    hit = next(event for event in result.events if event.element == "balls")
    speed = math.sqrt(2 * G * height)
    assert hit["upper.vy"] == pytest.approx((3 * big - small) / (big + small) * speed, rel=1e-4)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_rod_falls_on_a_corner(e):
    """A level rod falls with v on a corner a distance d off its centre: p = (1 + e) v / (1/m + d^2/I)."""
    mass, inertia, d, height = 1.2, 0.3, 0.35, 0.5
    m = kp.Mechanism("corner", gravity=(0, -G))
    rod = m.body("rod", mass, inertia, at=(0, height))
    m.point_line_contact("corner", rod, m.ground, axis=(-1, 0), on_i=(0, 0), on_j=(d, 0.0), restitution=e)
    result = m.simulate(0.5, tolerance=1e-10)
    hit = result.events[0]
    v = math.sqrt(2 * G * height)
    p = (1 + e) * v / (1 / mass + d * d / inertia)
    assert hit.t == pytest.approx(v / G, abs=1e-9)
    assert (hit["rod.vy"], hit["rod.omega"]) == pytest.approx((-v + p / mass, p * d / inertia), abs=1e-9)
    assert hit.impulses["corner.normal"] == pytest.approx(-p, rel=1e-9)
    assert hit.lost == pytest.approx(p * (1 - e) * v / 2, abs=1e-9)


@pytest.mark.parametrize("off", [-0.1, 0.0, 0.1])
def test_the_sweet_spot_of_a_pendulum(off):
    """A ball hits a hanging rod at the centre of percussion I/(m l): its bearing feels nothing."""
    mass, length = 1.5, 1.0
    inertia = mass * length**2 / 12
    spot = (inertia + mass * length**2 / 4) / (mass * length / 2)
    m = kp.Mechanism("bat")
    rod = m.body("rod", mass, inertia, at=(0, -length / 2), angle=0.0)
    m.revolute("pin", m.ground, rod, at=(0, 0))
    ball = m.body("ball", 0.3, 0.001, at=(-1.0, -spot - off))
    m.circle_line_contact("hit", rod, ball, radius=0.05, axis=(0, 1), on_i=(0, 0), restitution=0.7)
    result = m.simulate(0.5, velocities={"ball.vx": 4.0})
    (hit,) = result.events
    assert hit.t == pytest.approx(0.95 / 4.0, abs=1e-12)
    bearing = hit.impulses["pin.x"]
    assert abs(bearing) < 1e-12 if off == 0.0 else abs(bearing) > 0.01
    d = spot + off
    about = inertia + mass * length**2 / 4
    push = 1.7 * 4.0 / (1 / 0.3 + d * d / about)
    assert hit["rod.omega"] == pytest.approx(push * d / about, rel=1e-12)
    assert abs(bearing) == pytest.approx(abs(push - mass * length / 2 * push * d / about), abs=1e-12)


def test_billiards_keep_momentum_and_energy():
    """Elastic balls without walls: momentum, moment of momentum and energy to the last digits through every impact."""
    rng = np.random.default_rng(3)
    for _ in range(4):
        m = kp.Mechanism("billiards")
        balls, velocities, masses = [], {}, rng.uniform(0.3, 3.0, 9)
        for k, mass in enumerate(masses):
            at = np.array([k % 3 - 1.0, k // 3 - 1.0]) + rng.uniform(-0.2, 0.2, 2)
            balls.append(m.body(f"b{k}", mass, 0.1, at=at))
            towards = -3.0 * at + rng.uniform(-0.5, 0.5, 2)
            velocities |= {f"b{k}.vx": float(towards[0]), f"b{k}.vy": float(towards[1])}
        for i in range(9):
            for j in range(i):
                m.circle_contact(f"c{j}{i}", balls[j], balls[i], radii=(0.2, 0.2), restitution=1.0)
        result = m.simulate(1.0, velocities=velocities, tolerance=1e-10)
        assert len(result.events) > 8
        v = np.array([[result.array(f"b{k}.{c}") for c in ("vx", "vy")] for k in range(9)])
        momentum = np.einsum("k,kct->ct", masses, v)
        kinetic = 0.5 * np.einsum("k,kct,kct->t", masses, v, v)
        assert np.ptp(momentum, axis=1).max() < 1e-12 * np.abs(masses[:, None, None] * v).sum(axis=(0, 1)).max()
        assert np.ptp(kinetic) < 1e-12 * kinetic[0]


def test_momentum_through_impacts_with_friction():
    """Free discs: what one gains in momentum and spin the other loses, through every impact."""
    rng = np.random.default_rng(5)
    m = kp.Mechanism("discs")
    masses, spins = rng.uniform(0.5, 2.0, 6), rng.uniform(0.005, 0.05, 6)
    velocities: dict[str, float] = {}
    discs = []
    for k in range(6):
        a = 2 * math.pi * k / 6
        at = np.array([math.cos(a), math.sin(a)]) + rng.uniform(-0.1, 0.1, 2)
        discs.append(m.body(f"b{k}", masses[k], spins[k], at=at))
        v = -2.0 * at + rng.uniform(-0.3, 0.3, 2)
        velocities |= {f"b{k}.vx": float(v[0]), f"b{k}.vy": float(v[1]), f"b{k}.omega": float(rng.uniform(-9, 9))}
    for i in range(6):
        for j in range(i):
            m.circle_contact(f"c{j}{i}", discs[j], discs[i], radii=(0.25, 0.25), restitution=0.7, friction=0.4)
    result = m.simulate(2.0, velocities=velocities, tolerance=1e-10)
    assert sum(event.lost > 0 for event in result.events) >= 5
    x, y, vx, vy, w = (np.array([result.array(f"b{k}.{c}") for k in range(6)]) for c in ("x", "y", "vx", "vy", "omega"))
    assert np.ptp(masses @ vx) < 1e-12 and np.ptp(masses @ vy) < 1e-12
    assert np.ptp(masses @ (x * vy - y * vx) + spins @ w) < 1e-11
    assert np.diff(0.5 * masses @ (vx**2 + vy**2) + 0.5 * spins @ w**2).max() < 1e-12


def test_a_plastic_impact_stays_and_lets_go():
    """A mass on a shaking table leaves it where the table falls faster than g, and lands again."""
    amplitude, omega = 0.1, 15.0
    m = kp.Mechanism("shaker", gravity=(0, -G))
    table = m.body("table", 1.0, 1.0)
    m.translational("guide", m.ground, table, axis=(0, 1))
    m.driver("shake", table.y, lambda t: amplitude * kp.sin(omega * t))
    mass = m.body("mass", 0.5, 0.1, at=(0, 0.25))
    m.translational("straight", m.ground, mass, axis=(0, 1))
    m.point_line_contact("touch", table, mass, axis=(1, 0), on_i=(0, 0), restitution=0.0)
    result = m.simulate(1.0, tolerance=1e-10)
    land, leave = result.events[0], result.events[1]
    assert (land.mode, leave.mode) == ("closed", "open")
    assert amplitude * math.sin(omega * land.t) == pytest.approx(0.25 - G * land.t**2 / 2, abs=1e-9)
    assert math.sin(omega * leave.t) * amplitude * omega**2 == pytest.approx(G, rel=1e-9)
    assert math.cos(omega * leave.t) > 0  # on its way up, where the table slows down
    again = result.events[2]
    s = again.t - leave.t
    flight = leave["mass.y"] + leave["mass.vy"] * s - G * s * s / 2
    assert flight == pytest.approx(amplitude * math.sin(omega * again.t), abs=1e-9)


def thrown(rng: np.random.Generator) -> dict[str, Any]:
    """A random body that will hit the floor with one point of it."""
    mass, l = rng.uniform(0.5, 2), rng.uniform(0.3, 1.0)
    inertia = mass * l * l * rng.uniform(0.1, 0.5)
    turn = rng.uniform(-1.5, 1.5) - math.pi / 2
    r = l * np.array([math.cos(turn), math.sin(turn)])
    u = np.array([rng.normal() * 2, -rng.uniform(0.3, 3.0)])
    w = rng.uniform(-3, 3)
    return {
        "mass": mass,
        "inertia": inertia,
        "r": r,
        "u": u,
        "w": w,
        "mu": rng.uniform(0.02, 3.0 if rng.random() < 0.3 else 1.0),
        "e": rng.uniform(0, 1),
    }


def hits(case: dict[str, Any], law: str) -> tuple[Any, np.ndarray]:
    """Kempe's impact of a body with the floor: it flies there freely, turning."""
    r, u, w, dt = case["r"], case["u"], case["w"], 1e-3
    v = np.array([u[0] + w * r[1], u[1] - w * r[0]])  # of the centre
    c, s = math.cos(-w * dt), math.sin(-w * dt)
    m = kp.Mechanism("thrown")
    body = m.body("body", case["mass"], case["inertia"], at=-r - v * dt, angle=-w * dt)
    given = {"restitution": case["e"], "friction": case["mu"], "law": law}
    m.point_line_contact("floor", m.ground, body, on_j=tuple(r), **given)
    start = -r - v * dt + np.array([c * r[0] - s * r[1], s * r[0] + c * r[1]])
    assert start[1] > 0
    result = m.simulate(2e-3, velocities={"body.vx": v[0], "body.vy": v[1], "body.omega": w}, steps=2)
    return result, v


@pytest.mark.parametrize("law", ["newton", "poisson"])
def test_a_rod_hits_the_floor_with_friction_as_routh_says(law):
    """Sliding through, sticking, reversing, pressed until its sliding stops: as in closed form, without more energy."""
    rng, ways = np.random.default_rng(17), Counter()
    for _ in range(150):
        case = thrown(rng)
        r, mass, inertia, u = case["r"], case["mass"], case["inertia"], case["u"]
        A = (1 / mass + r[1] ** 2 / inertia, -r[0] * r[1] / inertia, 1 / mass + r[0] ** 2 / inertia)
        exact = routh(A, (u[0], u[1]), case["mu"], case["e"], law == "poisson")
        result, v = hits(case, law)
        hit = result.events[0]
        assert hit.t == pytest.approx(1e-3, abs=1e-9)
        found = np.array([hit["body.vx"] - v[0], hit["body.vy"] - v[1]]) * mass
        assert found == pytest.approx([exact.pt, exact.pn], rel=1e-6, abs=1e-8), (case, exact)
        assert hit["body.omega"] - case["w"] == pytest.approx((r[0] * exact.pn - r[1] * exact.pt) / inertia, abs=1e-6)
        assert hit.lost >= -1e-12
        ways["-".join(exact.ways)] += 1
        ways["capped"] += exact.capped
        ways["pressed"] += A[2] - case["mu"] * math.copysign(1, u[0]) * A[1] < 0
    assert ways["sliding"] > 20 and ways["sliding-sticking"] > 20 and ways["sliding-reversed-sliding"] > 5, ways
    assert ways["pressed"] > 3 and (law == "poisson" or ways["capped"] > 0), ways


def test_a_four_bar_hit_by_a_known_impulse():
    """In one independent coordinate (10.36): m(phi) dphi' = r_phi . P, by differences of the position problem."""
    lengths, D = (0.3, 0.8, 0.6), np.array([0.9, 0.1])
    masses = (0.5, 1.2, 0.9)
    spins = tuple(mass * length**2 / 12 for mass, length in zip(masses, lengths, strict=True))

    def pose(phi: float) -> np.ndarray:
        """Centres and angles of crank, coupler and rocker."""
        A = lengths[0] * np.array([math.cos(phi), math.sin(phi)])
        d = D - A
        reach = math.hypot(*d)
        along = (lengths[1] ** 2 - lengths[2] ** 2 + reach**2) / (2 * reach)
        across = math.sqrt(lengths[1] ** 2 - along**2)
        B = A + (along * d + across * np.array([-d[1], d[0]])) / reach
        rod, rocker = math.atan2(*(B - A)[::-1]), math.atan2(*(B - D)[::-1])
        return np.array([*A / 2, phi, *(A + B) / 2, rod, *(D + B) / 2, rocker])

    phi, P, on, h = 1.1, np.array([0.7, -1.3]), np.array([0.1, 0.2]), 1e-3
    slope = (8 * (pose(phi + h) - pose(phi - h)) - pose(phi + 2 * h) + pose(phi - 2 * h)) / (12 * h)
    q = pose(phi)
    c, s = math.cos(q[5]), math.sin(q[5])
    arm = np.array([c * on[0] - s * on[1], s * on[0] + c * on[1]])
    push = P @ (slope[3:5] + slope[5] * np.array([-arm[1], arm[0]])) + 0.2 * slope[5]
    inertia = np.array([v for mass, spin in zip(masses, spins, strict=True) for v in (mass, mass, spin)])
    jump = push / (slope**2 @ inertia)

    m = kp.Mechanism("hit four-bar")
    bodies = [
        m.body(name, masses[k], spins[k], at=q[3 * k : 3 * k + 2], angle=q[3 * k + 2])
        for k, name in enumerate(("crank", "coupler", "rocker"))
    ]
    crank, coupler, rocker = bodies
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, coupler, on_i=(lengths[0] / 2, 0), on_j=(-lengths[1] / 2, 0))
    m.revolute("B", coupler, rocker, on_i=(lengths[1] / 2, 0), on_j=(lengths[2] / 2, 0))
    m.revolute("D", m.ground, rocker, at=D)
    m.impulse("hammer", coupler, 0.1, force=tuple(P), torque=0.2, on=tuple(on))
    result = m.simulate(0.2)
    hit = next(event for event in result.events if event.element == "hammer")
    assert hit.t == pytest.approx(0.1, abs=1e-12)
    for k, name in enumerate(("crank", "coupler", "rocker")):
        found = [hit[f"{name}.vx"], hit[f"{name}.vy"], hit[f"{name}.omega"]]
        assert found == pytest.approx(jump * slope[3 * k : 3 * k + 3], abs=1e-9)
    # the pin O: crank and pin A alone
    ox, oy = hit.impulses["O.x"], hit.impulses["O.y"]
    ax, ay = hit.impulses["A.x"], hit.impulses["A.y"]
    gained = masses[0] * jump * slope[:2]
    assert [ox - ax, oy - ay] == pytest.approx(list(gained), abs=1e-9)
    assert result.array("energy.kinetic")[-1] == pytest.approx(0.5 * jump * push, rel=1e-9)


def test_an_impulse_before_the_start_is_told() -> None:
    m = kp.Mechanism()
    body = m.body("body", 1.0, 1.0)
    m.impulse("early", body, -1.0, force=(1.0, 0.0))
    m.impulse("now", body, 0.5, force=(1.0, 0.0))
    result = m.simulate(1.0)
    assert "before the start, so that it did not act: impulse 'early'" in result.message
    assert "'now'" not in result.message and result["body.vx"][-1] == pytest.approx(1.0)
