"""The problems of the benchmark ``nonsmooth``: their ends are right, and Kempe and its peers are given the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kempe.benchmarks import nonsmooth, nonsmooth_peers
from kempe.benchmarks import nonsmooth_problems as given


def test_a_ball_bounces_as_the_geometric_series_says() -> None:
    e, g, h = given.RESTITUTION, given.GRAVITY, 0.7
    fall = np.sqrt(2 * h / g)
    for n in range(1, 8):
        landing = fall * (1 + 2 * sum(e**k for k in range(1, n + 1)))
        assert given.flight(h, 0.0, landing - 1e-6, g)[1] == n and given.flight(h, 0.0, landing + 1e-6, g)[1] == n + 1
        top = landing - fall * e**n
        assert given.flight(h, 0.0, top, g)[0] == pytest.approx(h * e ** (2 * n), abs=1e-12)
    # between walls: a fifth of the speed is lost at each
    assert given.flight(0.5, 1.0, 0.5 + 1 / e + 0.25 / e**2, 0.0, 1.0) == (pytest.approx(0.25), 2)


def test_kempe_meets_every_bounce_and_ends_where_it_should() -> None:
    problem, count = given.balls()
    speeds = nonsmooth._velocities(nonsmooth._histories(nonsmooth.box()), problem)
    result = nonsmooth.box().simulate([0.0, problem.end_time], velocities=speeds)
    met = [event for event in result.events if event.t < problem.end_time - 1e-9]  # (one more is due at the end itself)
    assert len(met) == count and len(result.events) == len(result.impacts)
    ends = np.array([result.array(name)[-1] for name in nonsmooth._histories(nonsmooth.box())])
    assert problem.error(ends) < 1e-12


def test_the_block_stops_where_the_closed_form_says() -> None:
    problem = given.block()
    result = nonsmooth.block().simulate([0.0, problem.end_time], tolerance=1e-10)
    assert problem.error(result.array("block.x")[-1:]) < 1e-9
    ((begin, _),) = result.intervals("rubbing")
    assert begin == pytest.approx(9 * np.pi / 10, abs=1e-9)


# --- the double pendulum, computed with nothing of Kempe ------------------------------------------------------------


def accelerations(q, v, modes, held=()):
    """Of slide, absolute and relative angle, with friction in each joint that slides and others held: and the holds."""
    m, L, g = given.LOAD, given.LENGTH, given.GRAVITY
    a, b = q[1], q[1] + q[2]
    first = np.array([[1.0, -L * np.sin(a), 0.0], [0.0, L * np.cos(a), 0.0]])
    second = first + np.array([[0.0, -L * np.sin(b), -L * np.sin(b)], [0.0, L * np.cos(b), L * np.cos(b)]])
    wa, wb = v[1], v[1] + v[2]
    bias1 = -(wa**2) * L * np.array([np.cos(a), np.sin(a)])
    bias2 = bias1 - wb**2 * L * np.array([np.cos(b), np.sin(b)])
    M = m * (np.diag([1.0, 0.0, 0.0]) + first.T @ first + second.T @ second)
    weight = np.array([0.0, -m * g])
    force = first.T @ (weight - m * bias1) + second.T @ (weight - m * bias2) - np.array(given.TORQUES) * modes
    held = list(held)
    K = np.block([[M, -np.eye(3)[:, held]], [np.eye(3)[held], np.zeros((len(held),) * 2)]])
    solved = np.linalg.solve(K, np.concatenate([force, np.zeros(len(held))]))
    return solved[:3], dict(zip(held, solved[3:], strict=True))


def chosen(q, v, let_go):
    """The modes in which sliding agrees with its direction and no hold is larger than friction: by trying all.

    ``let_go`` are those that have just reached the largest hold, and which way they go on.
    """
    found = []
    ways = [let_go.get(k) or ([np.sign(s)] if abs(s) > 1e-9 else [-1.0, 0.0, 1.0]) for k, s in enumerate(v)]
    for modes in itertools.product(*ways):
        held = [k for k in range(3) if modes[k] == 0.0]
        a, holds = accelerations(q, v, np.array(modes), held)
        starts = all(a[k] * modes[k] > -1e-9 for k in range(3) if modes[k] and abs(v[k]) <= 1e-9)
        if starts and all(abs(hold) <= given.TORQUES[k] * (1 + 1e-12) for k, hold in holds.items()):
            found.append(modes)
    return max(found, key=lambda modes: sum(m == 0.0 for m in modes))


def test_the_pendulum_ends_where_an_independent_computation_ends() -> None:
    q, v, t, problem = np.zeros(3), np.zeros(3), 0.0, given.pendulum()
    let_go: dict[int, list[float]] = {}
    while t < problem.end_time:
        modes = chosen(q, v, let_go)
        held = [k for k in range(3) if modes[k] == 0.0]

        def rates(_, y, modes=modes, held=held):
            return np.concatenate([y[3:], accelerations(y[:3], y[3:], np.array(modes), held)[0]])

        def crossing(k, modes=modes, held=held, begun=t):
            def guard(at, y):
                if modes[k]:
                    return y[3 + k] * modes[k] if at > begun + 1e-7 else 1.0
                return given.TORQUES[k] - abs(accelerations(y[:3], y[3:], np.array(modes), held)[1][k])

            guard.terminal, guard.direction = True, -1
            return guard

        guards = [crossing(k) for k in range(3)]
        settings = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13, "events": guards}
        run = solve_ivp(rates, (t, problem.end_time), np.concatenate([q, v]), **settings)
        t, q, v = run.t[-1], run.y[:3, -1], run.y[3:, -1].copy()
        let_go, (_, holds) = {}, accelerations(q, v, np.array(modes), held)
        for k in range(3):
            if modes[k] == 0.0 and len(run.t_events[k]):
                let_go[k] = [-np.sign(holds[k])]
            if modes[k] == 0.0 or len(run.t_events[k]):
                v[k] = 0.0
    assert problem.error(q) < 1e-8
    result = nonsmooth.pendulum().simulate([0.0, problem.end_time], tolerance=1e-11)
    assert problem.error(np.array([result.array(name)[-1] for name in result.model.measures])) < 1e-9


# --- the peers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ways", [nonsmooth_peers.mujoco_ways, nonsmooth_peers.exudyn_ways], ids=["mujoco", "exudyn"])
@pytest.mark.parametrize(("problem", "way", "steps", "bound"), [("block", 0, 3, 1e-5), ("pendulum", 0, 4, 5e-3)])
def test_peers_are_given_the_same_problem(ways, problem, way, steps, bound) -> None:
    pytest.importorskip("exudyn")
    pytest.importorskip("mujoco")
    asked = getattr(given, problem)()
    tried = list(ways(asked))[way]
    with nonsmooth_peers.silence():
        assert asked.error(tried.made(tried.steps[steps])()()()) < bound


@pytest.mark.parametrize("pulls", [True, False])
def test_the_damping_ratio_gives_the_restitution(pulls: bool) -> None:
    ratio = nonsmooth_peers.damping_ratio(0.8, pulls)

    def left(_, y):
        return y[0] if pulls else -(y[0] + 2 * ratio * y[1])

    left.terminal, left.direction = True, 1 if pulls else -1
    run = solve_ivp(lambda _, y: [y[1], -y[0] - 2 * ratio * y[1]], (0, 10), [-1e-12, -1.0], events=left,
                    rtol=1e-10, atol=1e-12)  # fmt: skip
    assert run.y[1, -1] == pytest.approx(0.8, abs=1e-6)
