"""Random linkages driven through full turns: closure, rates, branches and limit positions against exact geometry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kempe as kp
from kempe.simulation.posing import Posed

LENGTH = st.floats(0.2, 3.0)
ANGLE = st.floats(0.0, 2 * np.pi)
SIDE = st.sampled_from([-1.0, 1.0])
GRID = st.sampled_from([0.003, 0.02, 0.11, 0.5, 1.3, 3.1])


def direction(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


def elbow(start: np.ndarray, end: np.ndarray, first: float, second: float, side: float) -> np.ndarray:
    """Where two links of given lengths from two points meet, to the left (side 1) or right of the way between."""
    way = end - start
    length = np.hypot(*way)
    along = (first**2 - second**2 + length**2) / (2 * length)
    across = np.sqrt(first**2 - along**2) * side
    return start + (along * way + across * np.array([-way[1], way[0]])) / length


def link(m: kp.Mechanism, name: str, start: np.ndarray, end: np.ndarray) -> kp.elements.Body:
    way = end - start
    return m.body(name, at=(start + end) / 2, angle=np.arctan2(way[1], way[0]))


def four_bar(a: float, b: float, c: float, d: float, theta: float, side: float) -> kp.Mechanism:
    A, D = a * direction(theta), np.array([d, 0.0])
    B = elbow(A, D, b, c, side)
    m = kp.Mechanism("four-bar")
    crank, coupler, rocker = link(m, "crank", A * 0, A), link(m, "coupler", A, B), link(m, "rocker", D, B)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-a / 2, 0))
    m.revolute("A", crank, coupler, on_i=(a / 2, 0), on_j=(-b / 2, 0))
    m.revolute("B", coupler, rocker, on_i=(b / 2, 0), on_j=(c / 2, 0))
    m.revolute("C", m.ground, rocker, on_i=(d, 0), on_j=(-c / 2, 0))
    m.driver("motor", crank.angle, kp.constant_speed(1.0, start=theta))
    return m


def differentiated(f: Callable[[float], np.ndarray], t: float, h: float = 2e-3) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivative by eighth-order central differences."""
    first = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    second = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560])
    values = np.array([f(t + k * h) for k in range(-4, 5)])
    return first @ values / h, second @ values / h**2


def closed(m: kp.Mechanism, result: kp.Result) -> float:
    posed = Posed(m)
    return max(np.abs(posed.Phi(q, t)).max() for q, t in zip(result.q, result.t, strict=True))


def limit_angle(a: float, b: float, c: float, d: float, theta: float) -> float | None:
    """How far the crank can turn before coupler and rocker are in line; None when it turns fully."""
    cosines = [(a * a + d * d - s * s) / (2 * a * d) for s in (b + c, b - c)]
    limits = [sign * np.arccos(x) for x in cosines if abs(x) <= 1 for sign in (-1, 1)]
    return min(((x - theta) % (2 * np.pi) for x in limits), default=None)


@settings(max_examples=150, deadline=None)
@given(LENGTH, LENGTH, LENGTH, LENGTH, ANGLE, SIDE, GRID)
def test_four_bar_turns_fully_or_locks_at_its_true_limit(a, b, c, d, theta, side, step):
    reach = np.sqrt(a * a + d * d - 2 * a * d * np.cos(theta))
    assume(abs(b - c) + 0.02 < reach < b + c - 0.02)
    limit = limit_angle(a, b, c, d, theta)
    nearly = [abs(abs((a * a + d * d - s * s) / (2 * a * d)) - 1) for s in (b + c, b - c)]
    assume(min(nearly) > 1e-9)  # an exact change point is a test of its own
    m = four_bar(a, b, c, d, theta, side)
    grid = np.arange(0.0, 2 * np.pi + step, step)
    result = m.kinematics(grid, on_singular="stop")
    if limit is None or limit > grid[-1]:
        assert result.status == "complete" and len(result) == len(grid)
        reached = np.inf
    else:
        assert result.status == "lock-up"
        assert abs(result.events[0].t - limit) < 1e-10
        assert result.events[0].ranks == (8, 9, 9)
        assert len(result) == np.count_nonzero(grid < limit - 1e-8) + 1 and result.t[-1] == result.events[0].t
        assert np.array_equal(result.q[-1], result.events[0].q) and np.isfinite(result.a[:-1]).all()
        reached = limit
    assert closed(m, result) < 1e-12

    def joint(t: float) -> np.ndarray:
        A, D = a * direction(theta + t), np.array([d, 0.0])
        return elbow(A, D, b, c, side)

    for t, q, v, acc in list(zip(result.t, result.q, result.v, result.a, strict=True))[:: max(1, len(result) // 5)]:
        if t > reached - 0.05:
            continue
        u = direction(q[5])
        n = np.array([-u[1], u[0]])
        assert np.abs(q[3:5] + b / 2 * u - joint(t)).max() < 1e-9  # always the same branch
        speed, acceleration = differentiated(joint, t)
        scale = 1 + np.abs(acceleration).max() ** 3
        assert np.abs(v[3:5] + b / 2 * v[5] * n - speed).max() < 1e-8 * scale
        assert np.abs(acc[3:5] + b / 2 * (acc[5] * n - v[5] ** 2 * u) - acceleration).max() < 1e-6 * scale


@settings(max_examples=75, deadline=None)
@given(st.floats(0.2, 2.0), LENGTH, st.floats(-1.0, 1.0), ANGLE, SIDE, GRID)
def test_slider_crank_turns_fully_or_locks_at_its_true_limit(r, rod, offset, theta, side, step):
    height = r * np.sin(theta) - offset
    assume(abs(height) < rod - 0.02)
    limits = [(x - theta) % (2 * np.pi) for s in ((offset + rod) / r, (offset - rod) / r) if abs(s) <= 1
              for x in (np.arcsin(s), np.pi - np.arcsin(s))]  # fmt: skip
    assume(all(abs(abs(s) - 1) > 1e-9 for s in ((offset + rod) / r, (offset - rod) / r)))
    A = r * direction(theta)
    B = np.array([A[0] + side * np.sqrt(rod**2 - height**2), offset])
    m = kp.Mechanism("slider-crank")
    crank, coupler, slider = link(m, "crank", A * 0, A), link(m, "rod", A, B), m.body("slider", at=B)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-r / 2, 0))
    m.revolute("A", crank, coupler, on_i=(r / 2, 0), on_j=(-rod / 2, 0))
    m.revolute("B", coupler, slider, on_i=(rod / 2, 0), on_j=(0, 0))
    m.translational("guide", m.ground, slider, at=(0, offset), axis=(1, 0))
    m.driver("motor", crank.angle, kp.constant_speed(1.0, start=theta))
    grid = np.arange(0.0, 2 * np.pi + step, step)
    result = m.kinematics(grid, on_singular="stop")
    limit = min(limits, default=np.inf)
    if limit > grid[-1]:
        assert result.status == "complete"
    else:
        assert result.status == "lock-up" and abs(result.events[0].t - limit) < 1e-10
    assert closed(m, result) < 1e-12
    far = result.t < limit - 1e-3
    angle = theta + result.t[far]
    exact = r * np.cos(angle) + side * np.sqrt(rod**2 - (r * np.sin(angle) - offset) ** 2)
    assert np.abs(result.array("slider.x")[far] - exact).max(initial=0.0) < 1e-9


@settings(max_examples=50, deadline=None)
@given(st.floats(0.2, 0.6), st.floats(1.2, 2.5), st.floats(1.2, 2.5), st.floats(0.8, 2.0), st.floats(0.8, 2.0),
       st.floats(0.3, 1.0), ANGLE, SIDE, SIDE, GRID)  # fmt: skip
def test_watt_six_bar_follows_its_two_loops(a, b, c, e, f, reach, theta, side, other, step):
    """A four-bar whose rocker, extended, drives a dyad; all six links as points and bars."""
    d = 2.0
    assume(abs(b - c) + 0.05 < d - a and d + a < b + c - 0.05)  # the crank turns fully
    O, D, G = np.zeros(2), np.array([d, 0.0]), np.array([d + 1.0, 0.5])

    def pose(angle: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        A = a * direction(angle)
        B = elbow(A, D, b, c, side)
        E = D + reach * (B - D)
        return A, B, E

    spread = [np.hypot(*(pose(x)[2] - G)) for x in np.linspace(0, 2 * np.pi, 400)]
    assume(abs(e - f) + 0.05 < min(spread) and max(spread) < e + f - 0.05)  # so does the second loop
    A, B, E = pose(theta)
    F = elbow(E, G, e, f, other)
    m = kp.Mechanism("six-bar")
    points = {name: m.point(name, at=p) for name, p in {"A": A, "B": B, "E": E, "F": F}.items()}
    fixed = {name: m.point(name, at=p, fixed="xy") for name, p in {"O": O, "D": D, "G": G}.items()}
    crank = m.bar("crank", fixed["O"], points["A"], length=a)
    m.bar("coupler", points["A"], points["B"], length=b)
    m.plate("rocker", fixed["D"], points["B"], points["E"], length=c, places=[(reach * c, 0.0)])
    m.bar("dyad 1", points["E"], points["F"], length=e)
    m.bar("dyad 2", points["F"], fixed["G"], length=f)
    turn = m.angle("turn", m.ground, crank)
    m.driver("motor", turn, kp.constant_speed(1.0))
    result = m.kinematics(np.arange(0.0, 2 * np.pi + step, step))
    assert closed(m, result) < 1e-12
    turned = result.array("turn")
    for k in range(0, len(result), max(1, len(result) // 20)):
        _, B, E = pose(turned[k])
        F = elbow(E, G, e, f, other)
        got = np.array([result.array(f"{p}.{x}")[k] for p in "BEF" for x in "xy"])
        assert np.abs(got - np.concatenate([B, E, F])).max() < 1e-10
