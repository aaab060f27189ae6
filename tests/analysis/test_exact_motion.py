"""Motions whose exact course is known: pendulum, oscillators, flight, rolling, collisions, loads in time."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import kempe as kp

G = 9.81
#: Methods with the tolerance and the error (in sizes) that they reach in a moment.
REACH = {
    "auto": (1e-12, 1e-9),
    "projection": (1e-12, 1e-9),
    "baumgarte": (1e-12, 1e-9),
    "augmented": (1e-12, 1e-9),
    "independent": (1e-12, 1e-9),
    "radau": (1e-11, 1e-9),
    "bdf3": (1e-13, 1e-7),
    "alpha": (1e-10, 1e-5),
    "ali3p": (1e-10, 1e-5),
}
ACCURATE = [method for method, (_, reach) in REACH.items() if reach <= 1e-9]


def off(result: kp.Result, name: str, exact: Any) -> float:
    """The largest error in units of the largest value."""
    return float(np.abs(result.array(name) - exact).max() / max(np.abs(exact).max(), 1e-300))


# --- the pendulum ---------------------------------------------------------------------------------------------------


def pendulum(angle: float, length: float = 0.8) -> kp.Mechanism:
    """A uniform rod hung at its end, drawn at an angle from the hanging position."""
    m = kp.Mechanism("pendulum", gravity=(0, -G))
    way = length * np.array([np.sin(angle), -np.cos(angle)])
    rod = m.body("rod", 2.0, 2.0 * length**2 / 12, at=way / 2, angle=angle)
    m.revolute("O", m.ground, rod, on_i=(0, 0), on_j=(0, length / 2))
    return m


def swing(amplitude: float, t: np.ndarray, length: float = 0.8) -> tuple[np.ndarray, np.ndarray]:
    """Angle and speed after release at rest: theta = 2 asin(k sn(K - w t, k)), k = sin(amplitude / 2)."""
    w, k = np.sqrt(1.5 * G / length), np.sin(amplitude / 2)
    sn, cn, _, _ = ellipj(ellipk(k * k) - w * t, k * k)
    return 2 * np.arcsin(k * sn), -2 * k * w * cn


@pytest.mark.parametrize(
    ("method", "amplitude"),
    [(method, amplitude) for method in REACH for amplitude in (0.1, 1.5, 3.0)],
)
def test_pendulum_by_elliptic_functions(method, amplitude):
    tolerance, reach = REACH[method]
    t = np.linspace(0.0, 3.0, 61)
    result = pendulum(amplitude).simulate(t, method=method, tolerance=tolerance)
    angle, speed = swing(amplitude, t)
    # near the top a small error of the start grows like exp(w t) until the pendulum falls
    worse = 20 if amplitude > 2 else 1
    assert np.abs(result.array("rod.angle") - angle).max() < worse * reach
    assert np.abs(result.array("rod.omega") - speed).max() < 10 * worse * reach


def test_reaction_of_the_pendulum():
    t = np.linspace(0.0, 2.0, 41)
    result = pendulum(2.0).simulate(t, tolerance=1e-12)
    angle, speed = swing(2.0, t)
    alpha = -1.5 * G / 0.8 * np.sin(angle)
    ax = 0.4 * (alpha * np.cos(angle) - speed**2 * np.sin(angle))
    ay = 0.4 * (alpha * np.sin(angle) + speed**2 * np.cos(angle))
    # the force on the second body of a revolute joint is +lambda
    assert np.abs(result.array("lambda.O.x") - 2.0 * ax).max() < 1e-8
    assert np.abs(result.array("lambda.O.y") - 2.0 * (ay + G)).max() < 1e-8


def test_rotating_pendulum_turns_over():
    """Enough energy to go round: theta = 2 am(w t / k, k), counted over full turns."""
    w, k = np.sqrt(1.5 * G / 0.8), 0.9
    t = np.linspace(0.0, 3.0, 31)
    result = pendulum(0.0).simulate(t, velocities={"rod.omega": 2 * w / k}, tolerance=1e-12)
    amplitude = ellipj(w * t / k, k * k)[3]
    assert amplitude[-1] > 2 * np.pi
    assert np.abs(result.array("rod.angle") - 2 * amplitude).max() < 1e-9


def test_gravity_can_be_a_parameter():
    """A rod released at a quarter turn from the direction of gravity."""
    m = kp.Mechanism("pendulum")
    m.gravity = (m.parameter("gx", 0.0), m.parameter("gy", -G))
    down = m.parameter("down", -np.pi / 2)
    angle = down + np.pi / 2
    rod = m.body("rod", 1.0, 1.0 / 12, at=(kp.cos(angle) / 2, kp.sin(angle) / 2), angle=angle)
    m.revolute("O", m.ground, rod, on_i=(0, 0), on_j=(-0.5, 0))
    t = np.linspace(0.0, 2.0, 21)
    for gx, gy in ((0.0, -G), (0.0, -1.62), (3.0, -4.0), (-5.0, 0.5)):
        along = np.arctan2(gy, gx)
        result = m.simulate(t, tolerance=1e-12, parameters={"gx": gx, "gy": gy, "down": along})
        theta = 2 * np.arcsin(np.sqrt(0.5) * ellipj(ellipk(0.5) - np.sqrt(1.5 * np.hypot(gx, gy)) * t, 0.5)[0])
        assert np.abs(result.array("rod.angle") - (along + theta)).max() < 1e-9


# --- free flight and rolling ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", kp.METHODS)
def test_projectile_that_spins(method):
    m = kp.Mechanism("projectile", gravity=(0, -G))
    m.body("stone", 0.3, 0.002, at=(1, 2), angle=0.5)
    t = np.linspace(0.0, 2.0, 21)
    velocities = {"stone.vx": 7.0, "stone.vy": 9.0, "stone.omega": 30.0}
    result = m.simulate(t, method=method, velocities=velocities)
    close = 1e-8 if method.startswith("bdf") else 1e-13  # a parabola is exact from order 2 on; bdf starts with order 1
    exact = {"stone.x": 1 + 7 * t, "stone.y": 2 + 9 * t - G * t**2 / 2, "stone.angle": 0.5 + 30 * t}
    for name, value in exact.items():
        assert off(result, name, value) < close
    assert off(result, "stone.ay", -G + 0 * t) < 1e-12


@pytest.mark.parametrize("method", ACCURATE)
def test_disc_that_rolls_down_an_incline(method):
    """A disc pinned to a carriage that slides on the incline, meshed with it: a = m g sin / (m + I / r^2)."""
    slope, r, mass, inertia, carried = 0.4, 0.25, 3.0, 0.12, 0.5
    m = kp.Mechanism("rolling disc", gravity=(0, -G))
    along = (np.cos(slope), -np.sin(slope))
    disc, carriage = m.body("disc", mass, inertia), m.body("carriage", carried, 0.01)
    m.translational("incline", m.ground, carriage, at=(0, 0), axis=along)
    m.revolute("axle", carriage, disc, at=(0, 0))
    m.rack_and_pinion("teeth", disc, m.ground, radius=r, axis=along, frame=carriage)
    t = np.linspace(0.0, 3.0, 31)
    result = m.simulate(t, method=method, tolerance=REACH[method][0])
    a = (mass + carried) * G * np.sin(slope) / (mass + carried + inertia / r**2)
    assert off(result, "disc.x", a * t**2 / 2 * along[0]) < 1e-9
    assert off(result, "disc.y", a * t**2 / 2 * along[1]) < 1e-9
    assert off(result, "disc.angle", -a * t**2 / 2 / r) < 1e-9
    # the friction that turns the disc is what the mesh transmits
    assert np.abs(np.abs(result.array("lambda.teeth.ratio")) - inertia * a / r**2).max() < 1e-9


# --- oscillators ----------------------------------------------------------------------------------------------------


def oscillator(stiffness: float = 20.0, **options: Any) -> kp.Mechanism:
    """A mass of 1.3 on a line, at rest 3 away from a spring's foot, which is its free length; drawn 0.5 further out."""
    m = kp.Mechanism("oscillator")
    mass = m.point("P", at=(3.5, 0), fixed="y", mass=1.3)
    m.spring("S", m.ground, mass, on_i=(0, 0), stiffness=stiffness, length=3.0, **options)
    return m


def decay(t: np.ndarray, k: float, c: float, v0: float, mass: float = 1.3) -> np.ndarray:
    """The deformation of a damped oscillator that starts at 0.5 with a velocity."""
    s = np.roots([mass, c, k]).astype(complex)
    if abs(s[0] - s[1]) < 1e-6 * abs(s[0]):
        rate = -c / (2 * mass)
        return (0.5 + (v0 - rate * 0.5) * t) * np.exp(rate * t)
    b = (v0 - s[0] * 0.5) / (s[1] - s[0])
    return ((0.5 - b) * np.exp(s[0] * t) + b * np.exp(s[1] * t)).real


@pytest.mark.parametrize("method", REACH)
@pytest.mark.parametrize("damping", [0.0, 0.4, 2 * np.sqrt(1.3 * 20.0), 25.0])
def test_oscillator_undamped_damped_critical_and_creeping(method, damping):
    t = np.linspace(0.0, 4.0, 41)
    tolerance, reach = REACH[method]
    result = oscillator(damping=damping).simulate(t, method=method, velocities={"P.vx": -2.0}, tolerance=tolerance)
    assert np.abs(result.array("P.x") - 3.0 - decay(t, 20.0, damping, -2.0)).max() < 10 * reach
    if damping and method in ACCURATE:
        # everything not dissipated is still there
        left = result.array("energy.kinetic")[-1] + result.array("energy.elastic")[-1]
        lost = 1.3 * 2.0 + 20 * 0.5**2 / 2 - left
        assert result.array("energy.dissipated")[-1] == pytest.approx(lost, rel=1e-9)


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_stiff_oscillator_is_followed(method):
    """A damper so strong that explicit steps are held back: 'auto' goes over to an implicit method."""
    t = np.linspace(0.0, 4.0, 41)
    result = oscillator(damping=1e6).simulate(t, method=method, velocities={"P.vx": 0.0}, tolerance=1e-10)
    assert np.abs(result.array("P.x") - 3.5 + 20 * 0.5 / 1e6 * t).max() < 1e-8
    assert result.stats["steps"] < 5000
    if method == "auto":
        assert result.stats["method"] == "auto: radau"


@pytest.mark.parametrize("method", ACCURATE)
def test_spring_with_a_tabulated_characteristic(method):
    """Duffing: k x + b x^3 from a spline through five points; x = A cn(w t, m)."""
    s = np.linspace(-1.0, 1.0, 5)
    m = oscillator(stiffness=0.0, law=kp.spline(s, 20.0 * s + 60.0 * s**3))
    t = np.linspace(0.0, 3.0, 61)
    result = m.simulate(t, method=method, tolerance=REACH[method][0])
    w = np.sqrt((20.0 + 60.0 * 0.25) / 1.3)
    exact = 0.5 * ellipj(w * t, 60.0 * 0.25 / (2 * (20.0 + 60.0 * 0.25)))[1]
    assert np.abs(result.array("P.x") - 3.0 - exact).max() < 1e-9
    assert np.abs(result.array("energy.balance")).max() < 1e-9


def test_torsional_oscillator():
    m = kp.Mechanism("balance wheel")
    wheel = m.body("wheel", 1.0, 0.02, angle=1.0)
    m.revolute("O", m.ground, wheel, at=(0, 0))
    m.torsion_spring("hair spring", m.ground, wheel, stiffness=0.5, angle=0.0, damping=0.01)
    t = np.linspace(0.0, 5.0, 51)
    result = m.simulate(t, tolerance=1e-12)
    d, w = 0.25, np.sqrt(25.0 - 0.25**2)
    assert np.abs(result.array("wheel.angle") - np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))).max() < 1e-9


# --- loads in time --------------------------------------------------------------------------------------------------


def loaded(force: Any, stiffness: float = 0.0) -> kp.Mechanism:
    m = kp.Mechanism("loaded mass")
    mass = m.point("P", at=(1.0, 0), fixed="y", mass=2.0)
    m.force(mass, (force, 0.0))
    if stiffness:
        m.spring("S", m.ground, mass, on_i=(-1, 0), stiffness=stiffness, length=2.0)
    return m


@pytest.mark.parametrize(("method", "speed"), [(m, 0.3) for m in ACCURATE] + [pytest.param(m, 0.0) for m in ACCURATE])
def test_harmonic_force(method, speed):
    """5 sin 4 t on a mass of 2, in motion or at rest before."""
    t = np.linspace(0.0, 3.0, 31)
    m = loaded(kp.harmonic(5.0, 4.0))
    result = m.simulate(t, method=method, velocities={"P.vx": speed}, tolerance=REACH[method][0])
    assert np.abs(result.array("P.x") - 1.0 - speed * t - 2.5 / 4.0 * (t - np.sin(4.0 * t) / 4.0)).max() < 1e-9
    supplied = result.array("energy.supplied")
    assert np.abs(supplied - (result.array("P.vx") ** 2 - speed**2)).max() < 1e-8


def test_a_mass_waits_until_it_is_pushed():
    m = loaded(kp.cycloidal(5.0, 1.0, begin=0.5))
    t = np.linspace(0.0, 3.0, 31)
    result = m.simulate(t, tolerance=1e-10)
    s = np.clip(t - 0.5, 0.0, 1.0)
    during = s**3 / 6 - (s - np.sin(2 * np.pi * s) / (2 * np.pi)) / (4 * np.pi**2)
    late = np.clip(t - 1.5, 0.0, None)
    exact = 2.5 * (during + (0.5 * late + late**2 / 2))
    assert np.abs(result.array("P.x") - 1.0 - exact).max() < 1e-8


@pytest.mark.parametrize("method", ACCURATE)
def test_resonance_grows_without_limit(method):
    """2 x'' + 32 x = cos 4 t: x = t sin(4 t) / 16."""
    t = np.linspace(0.0, 6.0, 61)
    m = loaded(lambda t: kp.cos(4.0 * t), stiffness=32.0)
    result = m.simulate(t, method=method, tolerance=REACH[method][0])
    assert np.abs(result.array("P.x") - 1.0 - t * np.sin(4.0 * t) / 16.0).max() < 2e-9


@pytest.mark.parametrize("method", ACCURATE)
def test_force_from_a_table(method):
    """A spline through the values of a cubic is that cubic, so the motion is a polynomial of degree 5."""
    knots = np.linspace(0.0, 2.0, 6)
    m = loaded(kp.spline(knots, 3.0 - knots + 2.0 * knots**3))
    t = np.linspace(0.0, 2.0, 21)
    result = m.simulate(t, method=method, tolerance=REACH[method][0])
    assert np.abs(result.array("P.x") - 1.0 - (1.5 * t**2 - t**3 / 6.0 + t**5 / 10.0) / 2.0).max() < 1e-9


def test_force_from_a_table_with_a_kink_in_its_third_derivative():
    """A natural spline: three pieces, joined with two continuous derivatives."""
    from scipy.interpolate import CubicSpline

    knots, values = [0.0, 0.7, 1.1, 2.0], [1.0, -4.0, 5.0, 0.0]
    fit = CubicSpline(knots, values, bc_type="natural")
    twice = fit.antiderivative().antiderivative()
    t = np.linspace(0.0, 2.0, 41)
    result = loaded(kp.spline(knots, values, ends="natural")).simulate(t, tolerance=1e-12)
    assert np.abs(result.array("P.x") - 1.0 - twice(t) / 2.0).max() < 1e-9


@pytest.mark.parametrize("method", ACCURATE)
def test_a_force_across_the_velocity_makes_circles(method):
    """A charge in a magnetic field, as a user's own force."""
    m = kp.Mechanism("charge")
    charge = m.point("P", at=(0, 0), mass=0.5)
    m.user_force("field", lambda p: (3.0 * p.vy, -3.0 * p.vx), charge)
    t = np.linspace(0.0, 5.0, 51)
    result = m.simulate(t, method=method, velocities={"P.vx": 2.0, "P.vy": 0.0}, tolerance=REACH[method][0])
    radius = 2.0 / 6.0
    assert np.abs(result.array("P.x") - radius * np.sin(6.0 * t)).max() < 1e-9
    assert np.abs(result.array("P.y") + radius * (1.0 - np.cos(6.0 * t))).max() < 1e-9
    assert np.abs(result.array("energy.supplied")).max() < 1e-12


# --- contact --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ACCURATE)
@pytest.mark.parametrize("masses", [(1.0, 1.0), (3.0, 1.0), (0.2, 5.0)])
def test_elastic_collision_through_a_bump_stop(method, masses):
    """The stop is a spring while it is pressed: half an oscillation of the reduced mass."""
    stiffness, gap, limit, speed = 4e3, 0.9, 0.3, 2.0
    m = kp.Mechanism("collision")
    a = m.point("a", at=(0, 0), fixed="y", mass=masses[0])
    b = m.point("b", at=(limit + gap, 0), fixed="y", mass=masses[1])
    m.bump_stop("buffer", kp.distance(a, b), limit, stiffness)
    velocities = {"a.vx": speed, "b.vx": 0.0}
    result = m.simulate([0.0, 0.2, 1.0], method=method, velocities=velocities, tolerance=REACH[method][0])
    reduced = masses[0] * masses[1] / sum(masses)
    touch, go = (event.t for event in result.events)
    assert [event.mode for event in result.events] == ["contact", "free"]
    assert touch == pytest.approx(gap / speed, rel=1e-12)
    assert go - touch == pytest.approx(np.pi * np.sqrt(reduced / stiffness), rel=1e-9)
    after = (speed * (masses[0] - masses[1]) / sum(masses), 2 * speed * masses[0] / sum(masses))
    assert result.v[-1] == pytest.approx(after, abs=1e-9)
    assert result.v[-1] @ np.array(masses) == pytest.approx(masses[0] * speed, rel=1e-10)
    assert np.abs(result.array("energy.balance")).max() < 1e-9


def bounce(height: float, stiffness: float, mass: float) -> tuple[float, float]:
    """How long a ball falls, and how long it then presses a linear stop, its weight included."""
    fall, w = np.sqrt(2 * height / G), np.sqrt(stiffness / mass)
    return fall, 2 * (np.pi - np.arctan(w * fall)) / w


@pytest.mark.parametrize("method", ACCURATE)
def test_ball_that_bounces_twenty_times(method):
    stiffness, mass = 1e6, 0.5
    m = kp.Mechanism("ball", gravity=(0, -G))
    ball = m.point("ball", at=(0, 1), fixed="x", mass=mass)
    m.bump_stop("floor", ball.y, 0.0, stiffness)
    fall, press = bounce(1.0, stiffness, mass)
    touches = fall + np.arange(20) * (2 * fall + press)
    result = m.simulate(np.linspace(0.0, touches[-1] + fall, 101), method=method, tolerance=REACH[method][0])
    times = np.array([event.t for event in result.events])
    assert len(times) == 40
    assert times[0] == pytest.approx(fall, rel=1e-12)
    close = 1e-6 if method == "radau" else 1e-8  # forty restarts of a method of order 5
    assert np.abs(times[::2] - touches).max() < close
    assert np.abs(times[1::2] - touches - press).max() < close
    assert np.abs(result.array("energy.balance")).max() < close
    assert result.events[-1].v[0] == pytest.approx(G * fall, rel=close)


def damped_bounces() -> kp.Result:
    m = kp.Mechanism("ball", gravity=(0, -G))
    ball = m.point("ball", at=(0, 1), fixed="x", mass=0.5)
    m.bump_stop("floor", ball.y, 0.0, 1e5, damping=40.0)
    return m.simulate(3.0, steps=3000, tolerance=1e-11)


def test_damped_stop_never_pulls_and_each_bounce_is_lower():
    result = damped_bounces()
    assert (0.5 * (result.array("ball.ay") + G)).min() > -1e-9
    touches = [event for event in result.events if event.mode == "contact"]
    assert len(touches) == 8 and max(abs(event.q[0]) for event in touches) < 1e-14
    speeds = [-event.v[0] for event in touches]
    assert all(0 < later < earlier for earlier, later in pairwise(speeds))


def test_first_bounce_on_a_damped_stop():
    """Pressed: m x'' + c x' + k x = -m g from x = 0; released where k x + c x' = 0, and free to fall from there."""
    first = damped_bounces().events[:3]
    assert [event.mode for event in first] == ["contact", "released", "free"]
    rate, w0 = 40.0, np.sqrt(1e5 / 0.5)
    w, sag, v0 = np.sqrt(w0**2 - rate**2), -0.5 * G / 1e5, -np.sqrt(2 * G)
    t = first[1].t - first[0].t
    b = (v0 - rate * sag) / w
    x = sag + np.exp(-rate * t) * (-sag * np.cos(w * t) + b * np.sin(w * t))
    v = np.exp(-rate * t) * ((rate * sag + w * b) * np.cos(w * t) + (w * sag - rate * b) * np.sin(w * t))
    assert first[1].q[0] == pytest.approx(x, rel=1e-8) and first[1].v[0] == pytest.approx(v, rel=1e-8)
    assert 1e5 * x + 40.0 * v == pytest.approx(0.0, abs=1e-6)
    assert first[2].v[0] ** 2 == pytest.approx(v**2 + 2 * G * x, rel=1e-9)


def test_what_a_damped_stop_takes_is_dissipated():
    result = damped_bounces()
    assert np.abs(result.array("energy.balance")).max() < 1e-7


# --- long runs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "tolerance", "close"), [("auto", 1e-10, 1e-5), ("radau", 1e-6, 1e-3)])
def test_four_bar_keeps_its_energy_for_a_thousand_turns(method, tolerance, close):
    """No gravity: the crank turns on, faster and slower."""
    m = kp.Mechanism("four-bar")
    O, C = m.point("O", (0, 0), fixed="xy"), m.point("C", (2.0, 0), fixed="xy")
    A, B = m.point("A", (0.5, 0)), m.point("B", (1.9, 1.2))
    crank = m.bar("crank", O, A, length=0.5, mass=2.0)
    m.bar("coupler", A, B, length=2.0, mass=1.0)
    m.bar("rocker", C, B, length=1.5, mass=1.0)
    m.angle("turn", m.ground, crank)
    result = m.simulate(np.linspace(0.0, 1000.0, 501), method=method, velocities={"A.vy": 3.5}, tolerance=tolerance)
    assert result.array("turn")[-1] > 1000 * 2 * np.pi
    energy = result.array("energy.kinetic")
    assert np.abs(energy / energy[0] - 1).max() < close
    assert result.stats["largest violation"] < 1e-12


def test_a_pinion_rolls_down_a_rack_that_is_the_ground():
    slope = np.radians(30)
    along = (np.cos(slope), -np.sin(slope))
    m = kp.Mechanism("rolling", gravity=(0, -9.81))
    disk = m.body("disk", 2.0, 0.5 * 2.0 * 0.3**2)
    m.pin_in_slot("line", m.ground, disk, axis=along, at=(0, 0))
    m.rack_and_pinion("teeth", disk, m.ground, radius=0.3, axis=along)
    result = m.simulate(1.0)
    down = 2 / 3 * 9.81 * np.sin(slope)
    assert np.hypot(result.array("disk.ax"), result.array("disk.ay")) == pytest.approx(down, rel=1e-12)
    assert np.abs(result.array("disk.alpha")) == pytest.approx(down / 0.3, rel=1e-12)


@pytest.mark.parametrize("s", [-1.7, -0.33, 0.0, 0.41, 1.5, 1.9])
def test_a_bead_drawn_on_its_wire_stays_there(s):
    m = kp.Mechanism("bead", gravity=(0, -9.81))
    bead = m.point("bead", at=(s, s * s / 2), mass=0.7)
    m.point_on_curve("wire", m.ground, bead, curve=kp.curve(lambda u: (u, u * u / 2), span=(-2.0, 2.0)))
    assert m.simulate(0.1).array("bead.x")[0] == pytest.approx(s, abs=1e-12)
