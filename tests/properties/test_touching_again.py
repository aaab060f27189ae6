"""What sticks, slides and collides comes out the same to the last bit: copied, from files, resumed, among many runs."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kempe as kp
from kempe.simulation.checkpoints import write_checkpoint
from kempe.simulation.running import Record
from kempe.simulation.starting import begun
from kempe.solvers import course as co

END = 1.2
START: dict[str, dict[str, float]] = {"chain": {"slider.vx": -1.5}, "heap": {}}


def rubbing_chain(seed: int) -> kp.Mechanism:
    """A pendulum of some links on a slider, with friction in all joints, against a stop."""
    rng = np.random.default_rng(seed)
    m = kp.Mechanism(f"chain {seed}", gravity=(0, -9.81))
    mu, static = m.parameter("mu", float(rng.uniform(0.02, 0.1))), float(rng.uniform(1.0, 1.5))
    slider = m.body("slider", mass=2.0, inertia=0.3, at=(0, 0))
    law = kp.Coulomb(mu, static * mu, **({"stribeck": 0.3} if seed % 2 else {}))
    m.translational(
        "guide", m.ground, slider, axis=(1, 0), at=(0, 0), friction=law, **({"length": 0.4} if seed % 3 else {})
    )
    before, x = slider, 0.0
    for k in range(int(rng.integers(1, 4))):
        link = m.body(f"link {k}", mass=1.0 + k, inertia=0.1, at=(x + 0.5, 0))
        m.revolute(f"pin {k}", before, link, at=(x, 0), friction=kp.Coulomb(mu, static * mu), radius=0.1)
        before, x = link, x + 1.0
    m.stop("buffer", slider.x, -0.05, restitution=0.6)
    m.friction("brake", slider.x, friction=mu, normal=20.0)
    return m


def falling_things(seed: int) -> kp.Mechanism:
    """Balls and a rod that fall on a floor and on each other."""
    rng = np.random.default_rng(seed)
    m = kp.Mechanism(f"heap {seed}", gravity=(0.5, -9.81))
    e, law = m.parameter("restitution", float(rng.uniform(0.2, 0.9))), ("newton", "poisson")[seed % 2]
    friction = float(rng.uniform(0.1, 0.6))
    balls = [m.body(f"ball {k}", mass=1.0 + k, inertia=0.004, at=(0.02 * k, 0.3 + 0.35 * k)) for k in range(2)]
    for k, ball in enumerate(balls):
        rough = {"restitution": e, "friction": friction, "law": law}
        m.circle_line_contact(f"floor {k}", m.ground, ball, radius=0.1, axis=(1, 0), at=(0, 0), **rough)
    m.circle_contact("balls", *balls, radii=(0.1, 0.1), restitution=e, law=law)
    rod = m.body("rod", mass=1.0, inertia=0.03, at=(2.0, 0.4), angle=float(rng.uniform(0.2, 0.6)))
    for k, end in enumerate((-0.3, 0.3)):
        corner = {"axis": (1, 0), "at": (0, 0), "on_j": (end, 0), "restitution": 0.3 * k, "friction": friction}
        m.point_line_contact(f"corner {k}", m.ground, rod, **corner)
    return m


BUILT: dict[str, Callable[[int], kp.Mechanism]] = {"chain": rubbing_chain, "heap": falling_things}
CASES = [(name, seed) for name in BUILT for seed in range(6)]


def told(result: kp.Result) -> list[tuple[Any, ...]]:
    """Everything an event says."""
    return [
        (e.t, e.message, e.element, e.mode, e.impulses, e.lost, e.q.tobytes(), e.v.tobytes()) for e in result.events
    ]


def same(one: kp.Result, other: kp.Result, words: str) -> None:
    assert one.names == other.names, words
    different = [n for n in one if not np.array_equal(one.array(n), other.array(n), equal_nan=True)]
    assert not different, (words, different[:5])
    assert (one.status, one.stats, one.first_modes) == (other.status, other.stats, other.first_modes), words
    assert told(one) == told(other), words
    for name, mode in one.first_modes.items():
        assert one.intervals(name, mode) == other.intervals(name, mode), words


@pytest.mark.parametrize(("name", "seed"), CASES)
def test_copies_and_files_move_alike(name, seed, tmp_path) -> None:
    m = BUILT[name](seed)
    result = m.simulate(END, steps=40, velocities=START[name])
    assert len(result.events) > 3 and len({event.mode for event in result.events}) > 1
    assert name != "heap" or len(result.impacts) > 3
    for words, way in (
        ("pickle", lambda x: pickle.loads(pickle.dumps(x))),
        ("deepcopy", copy.deepcopy),
        ("file", lambda x: kp.load(x.save(tmp_path / "m.kempe.yaml"))),
    ):
        same(result, way(m).simulate(END, steps=40, velocities=START[name]), f"{words} of the model")
    for words, way in (
        ("pickle", lambda x: pickle.loads(pickle.dumps(x))),
        ("deepcopy", copy.deepcopy),
        ("file", lambda x: kp.Result.load(x.save(tmp_path / "r.nc"))),
    ):
        same(result, way(result), f"{words} of the result")


@pytest.mark.parametrize("share", [0.2, 0.6])
@pytest.mark.parametrize("method", ["auto", "augmented", "independent", "radau", "bdf"])
@pytest.mark.parametrize(("name", "seed"), [("chain", 1), ("heap", 2)])
def test_a_run_is_continued_digit_for_digit(name, seed, method, share, tmp_path) -> None:
    options = {"method": method, "tolerance": 1e-6, "steps": 40, "velocities": START[name]}
    whole = BUILT[name](seed).simulate(END, **options)
    machine, record = begun(BUILT[name](seed), END, **options), Record()
    initial = machine.initial()
    while machine.course.now.t < share * END:
        assert machine.advance(1) in (co.PAUSE, co.EVENTS_FULL)
        record.collect(machine)
    assert machine.course.now.t < END and (name != "heap" or record.events)
    write_checkpoint(machine, record, initial, tmp_path / "run.npz")
    same(whole, kp.resume(BUILT[name](seed), tmp_path / "run.npz"), "resumed")


@pytest.mark.parametrize("method", ["auto", "radau"])
@pytest.mark.parametrize(("name", "seed", "parameter"), [("chain", 3, "mu"), ("heap", 4, "restitution")])
def test_many_runs_are_single_runs(name, seed, parameter, method) -> None:
    values = [0.05, 0.35, 0.2, 0.15, 0.3, 0.25, 0.45, 0.12, 0.4, 0.1]
    options = {"steps": 20, "method": method, "tolerance": 1e-6, "velocities": START[name]}
    runs = kp.run_many(BUILT[name](seed), {parameter: values}, "all", END, workers=2, **options)
    assert runs.ok.all(), runs.reasons
    for k, value in enumerate(values):
        alone, among = BUILT[name](seed).simulate(END, parameters={parameter: value}, **options), runs.result(k)
        for quantity in runs.values:
            assert np.array_equal(runs[quantity][k], alone.array(quantity)), (value, quantity)
        assert told(among) == told(alone) and among.first_modes == alone.first_modes
        assert [impact.impulses for impact in among.impacts] == [impact.impulses for impact in alone.impacts]
