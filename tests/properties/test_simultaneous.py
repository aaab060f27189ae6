"""Many switches at one instant: none lost, none counted twice.

Bodies that fall together meet their stops together: each touches once and lets go once, however many they are, and
however the same instant is written: heights that differ in their last digit, other places, masses, stiffnesses, speeds.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from contacts import G, Stop, ball, pendulum_with_stops, spins

import kempe as kp

#: Stop, fall and rise again within this: the fall from 1 m takes 0.45 s.
END = 1.0
#: What instants may be off by, in s at speeds of some m/s: 1e3 tolerances; 3e4 with backward differentiation, which
#: begins with order 1 after each switch, and 1e5 for order 2.
CLOSE = dict.fromkeys(kp.METHODS, 1e-6) | {"alpha": 1e-4, "ali3p": 1e-4, "bdf": 3e-5, "bdf3": 3e-5}


def told(result: kp.Result) -> dict[str, list[tuple[str, float]]]:
    """What each element met, in order."""
    found: dict[str, list[tuple[str, float]]] = {}
    for event in result.events:
        found.setdefault(event.element, []).append((event.mode, event.t))
    return found


def exactly(result: kp.Result, expected: dict[str, list[tuple[str, float]]], close: float) -> None:
    """Each element told what it should have, at its instants."""
    assert result.success, result.message
    times = [event.t for event in result.events]
    assert times == sorted(times)
    found = told(result)
    wrong = {
        name: ([mode for mode, _ in found.get(name, [])], [mode for mode, _ in should])
        for name, should in expected.items()
        if [mode for mode, _ in found.get(name, [])] != [mode for mode, _ in should]
    }
    counted = Counter(f"{found} instead of {should}" for found, should in wrong.values())
    assert not wrong, f"{len(wrong)} of {len(expected)} contacts wrong: {dict(counted)}"
    assert set(found) <= set(expected)
    for name, should in expected.items():
        for (mode, t), (_, at) in zip(found[name], should, strict=True):
            assert abs(t - at) < close, f"'{name}' {mode} at {t:.12g} instead of {at:.12g}"


def story(stop: Stop, height: float, speed: float, mass: float) -> list[tuple[str, float]]:
    return [(mode, t) for t, _, mode in ball([stop], height, speed, END, mass)]


# --- the same, many times -------------------------------------------------------------------------------------------


def rain(count: int) -> kp.Mechanism:
    m = kp.Mechanism("rain", gravity=(0.0, -G))
    for k in range(count):
        part = m.point(f"p{k}", at=(k / count, 1.0), mass=1.0)
        m.bump_stop(f"s{k}", part.y, 0.0, stiffness=1e4)
    return m


SMALL = ("projection", "augmented", "canonical", "independent", "ali3p", "baumgarte", "penalty", "bdf3")


@pytest.mark.parametrize(
    ("method", "count"),
    [(method, count) for method in ("auto", "radau", "bdf", "alpha") for count in (1, 8, 16, 40, 120)]
    + [(method, count) for method in SMALL for count in (1, 8, 16)],
)
def test_equal_balls(method, count):
    result = rain(count).simulate([0.0, END], method=method)
    expected = story(Stop("s", 0.0, 1e4), 1.0, 0.0, 1.0)
    assert [mode for mode, _ in expected] == ["contact", "free"]
    exactly(result, {f"s{k}": expected for k in range(count)}, 10 * CLOSE[method])
    touches, leaves = ([e.t for e in result.events if e.mode == mode] for mode in ("contact", "free"))
    assert np.ptp(touches) < 1e-9 and np.ptp(leaves) < 1e-9  # equal balls stay equal
    assert np.ptp(result.q[-1].reshape(count, 2)[:, 1]) < 1e-9


# --- the same instant through other arithmetic ----------------------------------------------------------------------

TOUCH = 0.3
#: How far above its floor a ball of this speed is TOUCH before it gets there, in ways that differ by rounding.
ABOVE = (
    lambda v: -(v * 0.3 - G * 0.09 / 2),
    lambda v: 0.3 * (G * 0.15 - v),
    lambda v: (0.5 * G * (0.1 + 0.2) - v) * (0.1 + 0.2),
    lambda v: sum(G * 0.1**2 * (2 * i + 1) / 2 - v * 0.1 for i in range(3)),
    lambda v: (1 + 1e-14) * (G * 0.045 - v * 0.3),
)


def falling(m: kp.Mechanism, rng: np.random.Generator, k: int, speed: float | None = None) -> tuple[dict, dict]:
    """One more ball that touches its floor at TOUCH; its velocities, and what it meets."""
    floor, mass, stiffness = rng.uniform(-1.0, 1.0), rng.uniform(0.2, 5.0), 10 ** rng.uniform(3, 6)
    if speed is None:
        speed = rng.uniform(-2.0, -1.0)
    else:  # the same speed and the same k / m: they leave together as well
        stiffness = mass * 1e4
    height = floor + ABOVE[int(rng.integers(len(ABOVE)))](speed)
    part = m.point(f"p{k}", at=(rng.uniform(-1.0, 1.0), height), mass=mass)
    m.bump_stop(f"s{k}", part.y, floor, stiffness=stiffness)
    met = story(Stop("s", floor, stiffness), height, speed, mass)
    assert [mode for mode, _ in met] == ["contact", "free"] and abs(met[0][1] - TOUCH) < 1e-13
    return {f"p{k}.vy": speed, f"p{k}.vx": rng.uniform(-1.0, 1.0)}, {f"s{k}": met}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("method", "count"),
    [(method, count) for method in ("auto", "radau", "bdf", "alpha") for count in (1, 8, 16, 40)]
    + [(method, 8) for method in SMALL],
)
def test_unequal_balls_that_touch_at_once(method, count, seed):
    """Other masses, stiffnesses, floors and speeds; for odd seeds all leave together, too."""
    rng = np.random.default_rng(seed)
    m = kp.Mechanism("unequal", gravity=(0.0, -G))
    velocities, expected = {}, {}
    for k in range(count):
        given, met = falling(m, rng, k, -1.5 if seed % 2 else None)
        velocities |= given
        expected |= met
    result = m.simulate([0.0, END], method=method, velocities=velocities, tolerance=1e-9)
    exactly(result, expected, CLOSE[method])


@pytest.mark.parametrize("apart", [0.0, 1e-15, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8])
@pytest.mark.parametrize("method", kp.METHODS)
def test_nearly_the_same_instant(method, apart):
    """From the same instant to instants that are clearly two."""
    m = kp.Mechanism("nearly", gravity=(0.0, -G))
    expected = {}
    for k in range(6):
        height = 1.0 + k * apart
        part = m.point(f"p{k}", at=(0.1 * k, height), mass=1.0 + k)
        m.bump_stop(f"s{k}", part.y, 0.0, stiffness=1e4 * (1.0 + k))
        expected[f"s{k}"] = story(Stop("s", 0.0, 1e4 * (1.0 + k)), height, 0.0, 1.0 + k)
    exactly(m.simulate([0.0, END], method=method, tolerance=1e-9), expected, CLOSE[method])


@pytest.mark.parametrize("method", kp.METHODS)
def test_several_stops_on_one_body(method):
    """Three stops with one limit are one stop with the sum of their stiffnesses."""
    m = kp.Mechanism("several", gravity=(0.0, -G))
    part = m.point("p", at=(0.2, 1.3), mass=2.0)
    for k, (limit, stiffness) in enumerate(((0.3, 3e3), (0.1 + 0.2, 4e3), (0.9 / 3, 5e3))):
        m.bump_stop(f"s{k}", part.y, limit, stiffness=stiffness)
    met = story(Stop("s", 0.3, 12e3), 1.3, 0.0, 2.0)
    result = m.simulate([0.0, END], method=method, tolerance=1e-9)
    exactly(result, {f"s{k}": met for k in range(3)}, CLOSE[method])


@pytest.mark.parametrize("method", kp.METHODS)
def test_walls_floors_and_a_buffer_at_one_instant(method):
    """Two balls fall side by side to their floors and against each other, both at 0.3 s.

    Across, the buffer is half an oscillation of the reduced mass; the heights stay equal, since k / m is the same.
    """
    m = kp.Mechanism("corner", gravity=(0.0, -G))
    masses, omega, height = (1.0, 3.0), 200.0, G * 0.09 / 2
    a = m.point("a", at=(0.0, height), mass=masses[0])
    b = m.point("b", at=(0.5, height), mass=masses[1])
    m.bump_stop("floor a", a.y, 0.0, stiffness=masses[0] * omega**2)
    m.bump_stop("floor b", b.y, 0.0, stiffness=masses[1] * omega**2)
    m.bump_stop("buffer", kp.distance(a, b), 0.2, stiffness=0.75 * 300.0**2)
    velocities = {"a.vx": 0.4, "b.vx": -0.6}
    met = story(Stop("s", 0.0, omega**2), height, 0.0, 1.0)[:2]
    expected = dict.fromkeys(("floor a", "floor b"), met)
    expected["buffer"] = [("contact", 0.3), ("free", 0.3 + np.pi / 300.0)]
    result = m.simulate([0.0, 0.5], method=method, velocities=velocities, tolerance=1e-9)
    exactly(result, expected, CLOSE[method])


# --- joints ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "count"),
    [(method, count) for method in ("auto", "radau", "bdf", "alpha") for count in (2, 16)]
    + [(method, 4) for method in SMALL],
)
def test_pendulums_that_swing_together(method, count):
    """Equal pendulums on pivots of their own, let go level, each with a stop in its angle a little past the lowest."""
    m = kp.Mechanism("pendulums", gravity=(0.0, -G))
    rng = np.random.default_rng(count)
    stop = Stop("s", -np.pi / 2 - 0.2, 2e3)
    for k in range(count):
        x, y, mass = *rng.uniform(-1.0, 1.0, 2), rng.uniform(0.5, 2.0)
        body = m.body(f"b{k}", mass, 0.05 * mass, at=(x + 0.5, y))
        m.revolute(f"O{k}", m.ground, body, on_i=(x, y), on_j=(-0.5, 0.0))
        m.bump_stop(f"s{k}", body.angle, stop.limit, stiffness=stop.stiffness * mass)
    end = 0.8
    met = [(mode, t) for t, _, mode in pendulum_with_stops(0.5, 1.0, 0.05, [stop]).story([0.0], [0.0], end)]
    assert [mode for mode, _ in met] == ["contact", "free"]
    result = m.simulate([0.0, end], method=method, tolerance=1e-9)
    # a penalty leaves an error of its own
    exactly(result, {f"s{k}": met for k in range(count)}, {"penalty": 1e-4}.get(method, 2 * CLOSE[method]))


# --- events ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", kp.METHODS)
def test_many_events_at_one_instant(method):
    """Values written differently, two coordinates that pass theirs together, directions, a stop at the same place.

    The stone falls from 1 with -1.2 m/s; at 0.3 s it is at 0.64 - 0.045 G.
    """
    m = kp.Mechanism("events", gravity=(0.0, -G))
    stone = m.body("stone", 2.0, 0.1, at=(0.0, 1.0))
    other = m.body("other", 1.0, 0.1, at=(0.5, 3.0))
    y = 1.0 - 1.2 * 0.3 - G * 0.045
    values = (y, 0.64 - G * 0.09 / 2, 0.64 - 0.5 * G * (0.1 + 0.2) ** 2, 1.0 - 0.3 * (1.2 + 0.15 * G))
    for k, value in enumerate(values):
        m.event(f"y{k}", stone.y, value)
    m.event("x", stone.x, 0.7 * (0.1 + 0.2))
    m.event("other y", other.y, 3.0 - 0.36 - G * 0.045)
    m.event("angle", stone.angle, 2.5 * 0.3)
    m.event("falling", stone.y, y, direction="falling")
    m.event("rising", stone.y, y, direction="rising")
    m.bump_stop("stop", other.x, 0.5 - 0.3 * 0.3, stiffness=1e3)
    velocities = {"stone.vx": 0.7, "stone.vy": -1.2, "stone.omega": 2.5, "other.vx": -0.3, "other.vy": -1.2}
    result = m.simulate([0.0, 0.35], method=method, velocities=velocities, tolerance=1e-9)
    below, above = [("below", 0.3)], [("above", 0.3)]
    expected = {f"y{k}": below for k in range(4)} | {"x": above, "other y": below, "angle": above, "falling": below}
    exactly(result, expected | {"stop": [("contact", 0.3)]}, CLOSE[method])


@pytest.mark.parametrize("method", kp.METHODS)
def test_rotors_that_meet_now_and_then(method):
    """Rotors of 1, 2, 3 and 5 turns a second: each crosses 1 m from its mark twice a turn, some of them together."""
    m = kp.Mechanism("rotors")
    expected, velocities, end = {}, {}, 3.1
    half = np.arccos(0.5 * 0.4)  # (1 - 0.4 cos)^2 + (0.4 sin)^2 = 1
    for k, turns in enumerate((1, 2, 3, 5)):
        body = m.body(f"r{k}", 1.0, 0.1, at=(0.3 * k, 0.0), angle=half)
        m.revolute(f"O{k}", m.ground, body, at=(0.3 * k, 0.0))
        m.event(f"e{k}", kp.distance(m.ground.on((0.3 * k + 1.0, 0.0)), body.on((0.4, 0.0))), 1.0)
        velocities[f"r{k}.omega"] = 2 * np.pi * turns
        met = spins("e", half + 1e-6, 2 * np.pi * turns, half, end)
        expected[f"e{k}"] = [(mode, t + 1e-6 / (2 * np.pi * turns)) for t, _, mode in met]
    result = m.simulate([0.0, end], method=method, velocities=velocities, tolerance=1e-9)
    # they begin on their value, going up: told or not, that is one event at most
    result.events[:] = [event for event in result.events if event.t > 1e-9]
    exactly(result, expected, CLOSE[method])


@pytest.mark.parametrize("method", ["auto", "radau", "bdf", "alpha"])
def test_a_stop_among_others_ends_the_run_once(method):
    """Where one of several events at an instant ends the run, the others of that instant are still told."""
    m = kp.Mechanism("end", gravity=(0.0, -G))
    for k in range(5):
        part = m.point(f"p{k}", at=(0.1 * k, 1.0), mass=1.0)
        m.event(f"e{k}", part.y, 0.5, stop=k == 2)
    result = m.simulate([0.0, 1.0], method=method, tolerance=1e-9)
    assert result.status == "stopped"
    at = np.sqrt(1.0 / G)
    assert result.t[-1] == pytest.approx(at, abs=CLOSE[method])
    exactly(result, {f"e{k}": [("below", at)] for k in range(5)}, CLOSE[method])
