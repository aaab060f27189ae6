"""Events against exact instants: a thrown stone, a pendulum, a driven crank."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipk

import kempe as kp

G = 9.81


def stone() -> tuple[kp.Mechanism, kp.elements.Body]:
    m = kp.Mechanism("stone", gravity=(0.0, -G))
    return m, m.body("stone", 1.0, 0.1, at=(0.0, 0.3))


def thrown(m: kp.Mechanism, method: str = "auto", **options) -> kp.Result:
    return m.simulate(2.0, velocities={"stone.vx": 1.5, "stone.vy": 7.0}, method=method, **options)


#: When a stone thrown from 0.3 passes the height 2, and comes back to the ground.
UP, DOWN = (7.0 + np.array([-1.0, 1.0]) * np.sqrt(49.0 - 2 * G * 1.7)) / G
GROUND = (7.0 + np.sqrt(49.0 + 2 * G * 0.3)) / G


@pytest.mark.parametrize(
    ("direction", "expected"), [("both", [UP, DOWN]), ("rising", [UP]), ("falling", [DOWN])], ids=str
)
@pytest.mark.parametrize("method", ["auto", "radau", "bdf", "canonical"])
def test_instants_are_exact(method, direction, expected):
    m, body = stone()
    m.event("at 2", body.y, 2.0, direction=direction)
    result = thrown(m, method, tolerance=1e-10)
    assert result.status == "complete"
    # a parabola is integrated exactly by every method but bdf, whose first steps are of order 1
    close = 1e-12 if method != "bdf" else 1e-7
    assert np.abs(np.array([e.t for e in result.events]) - expected).max() < close
    for event, t in zip(result.events, expected, strict=True):
        assert np.abs(event.q[:2] - [1.5 * t, 2.0]).max() < close
        assert np.abs(event.v[:2] - [1.5, 7.0 - G * t]).max() < 10 * close
        assert event.element == "at 2" and "at 2" in event.message


def test_a_turning_point_is_where_the_rate_vanishes():
    m, body = stone()
    m.event("top", body.y, rate=True)
    (event,) = thrown(m).events
    assert abs(event.t - 7.0 / G) < 1e-12


@pytest.mark.parametrize("times", [2.0, [0.0, 2.0], np.linspace(0.0, 2.0, 41)], ids=["default", "ends", "grid"])
def test_the_result_ends_where_an_event_stops_it(times):
    m, body = stone()
    m.event("landing", body.y, direction="falling", stop=True)
    result = m.simulate(times, velocities={"stone.vx": 1.5, "stone.vy": 7.0})
    assert result.status == "stopped" and result.success
    assert abs(result.t[-1] - GROUND) < 1e-12 and (np.diff(result.t) > 0).all()
    assert abs(result.array("stone.y")[-1]) < 1e-12
    assert abs(result.array("stone.x")[-1] - 1.5 * GROUND) < 1e-12
    assert abs(result.array("stone.ay")[-1] + G) < 1e-9
    assert np.abs(result.array("energy.balance")).max() < 1e-9


def test_an_event_at_an_output_point_is_written_once():
    m, body = stone()
    m.event("landing", body.y, direction="falling", stop=True)
    result = m.simulate([0.0, 0.5, GROUND, 2.0], velocities={"stone.vy": 7.0})
    assert len(result) == 3 and abs(result.t[-1] - GROUND) < 1e-12


def test_many_designs_keep_to_their_output_points():
    m = kp.Mechanism("stone", gravity=(0.0, -G))
    height = m.parameter("height", 0.3, bounds=(0.1, 1.0))
    body = m.body("stone", 1.0, 0.1, at=(0.0, height))
    m.event("landing", body.y, direction="falling", stop=True)
    runs = kp.run_many(m, {"height": [0.2, 0.5]}, ["stone.y"], np.linspace(0.0, 1.0, 101))
    for k, start in enumerate((0.2, 0.5)):
        y, t = runs["stone.y"][k], np.linspace(0.0, 1.0, 101)
        flying = t < np.sqrt(2 * start / G)
        assert np.abs(y[flying] - start + G * t[flying] ** 2 / 2).max() < 1e-9
        assert np.isnan(y[~flying]).all()


def test_passages_of_a_pendulum_come_at_half_periods():
    m = kp.Mechanism("pendulum", gravity=(0.0, -G))
    rod = m.body("rod", 1.0, 1.0 / 12, at=(0.5, 0.0))
    m.revolute("pin", m.ground, rod, at=(0, 0))
    m.event("down", rod.angle, -np.pi / 2)
    result = m.simulate(6.0, tolerance=1e-12)
    quarter = ellipk(0.5) / np.sqrt(1.5 * G)  # let go from the horizontal
    assert len(result.events) == int((6.0 / quarter + 1) // 2)
    exact = quarter * (1 + 2 * np.arange(len(result.events)))
    assert np.abs(np.array([e.t for e in result.events]) - exact).max() < 1e-10


def test_a_wrong_direction_is_told():
    m, body = stone()
    with pytest.raises(kp.ModelError, match=r"'x'.*'both', 'rising' or 'falling', not 'up'"):
        m.event("x", body.y, direction="up")
