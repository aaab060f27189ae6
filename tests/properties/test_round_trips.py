"""Saved, loaded, pickled, copied: a mechanism moves, and a result says, the same to the last bit."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import kempe as kp


def random_mechanism(seed: int) -> kp.Mechanism:
    """A chain or loop with parameters, laws, tables, forces, constraints and measures of one's own."""
    rng = np.random.default_rng(seed)
    m = kp.Mechanism(f"machine {seed}", gravity=(0, -m_g) if (m_g := rng.choice([0.0, 9.81])) else (0, 0))
    L = m.parameter("arm length", float(rng.uniform(0.5, 1.5)), bounds=(0.1, 3.0))
    k = m.parameter("k", float(rng.uniform(1, 50)))
    bodies = _chain(m, rng, L)
    last = bodies[-1]
    if rng.random() < 0.5 and not (len(bodies) == 2 and "rail" in m.elements):
        m.driver("motor", bodies[0].angle, _law(rng))
    if rng.random() < 0.5:
        m.spring("coil", m.ground, last, on_i=(1.0, 2.0), stiffness=k / L, length=0.3 * L, damping=0.1)
    if rng.random() < 0.4:
        m.torsion_spring("wind", m.ground, bodies[0], stiffness=k, damping=0.02 * k)
    if rng.random() < 0.5:
        m.user_force("drag", lambda b, t: (-0.3 * b.vx * abs_(b.vx), -0.1 * k * b.y * kp.sin(t), 0.01 * b.omega), last)
    if rng.random() < 0.4:
        m.force("push", last, (kp.cos(0.3) * k, 1.0))
    if rng.random() < 0.4:
        m.bump_stop("stop", last.y, float(rng.uniform(-2.0, -0.5)), 1e3 * k)
    if rng.random() < 0.4:
        c = m.coordinate("angle sum", 0.0)
        m.constraint("sum", lambda s, a, b: s - (a.angle + b.angle * L) / 3, c, bodies[0], last)
        m.user_force("heavy sum", lambda s: -0.1 * s.rate, c)
    _measures(m, rng, bodies)
    return m


def abs_(x: Any) -> Any:
    return kp.if_else(x < 0, -x, x)


def _law(rng: np.random.Generator) -> Any:
    t = np.linspace(0, 2, 6)
    return [
        kp.constant_speed(float(rng.uniform(-2, 2))),
        kp.harmonic(0.3, float(rng.uniform(1, 4))),
        lambda s: 0.2 * kp.sin(2 * s) + 0.1 * s**2,
        kp.spline(t, rng.uniform(-0.2, 0.2, 6).cumsum()),
    ][rng.integers(4)]


def _chain(m: kp.Mechanism, rng: np.random.Generator, L: Any) -> list[Any]:
    bodies, before, end = [], m.ground, (0.0, 0.0)
    for number in range(int(rng.integers(1, 4))):
        body = m.body(f"arm {number}", 1.0 + L**2, 0.1 * kp.sqrt(L), at=(end[0] + 0.5, end[1]), angle=0.1 * number)
        m.revolute(f"J{number}", before, body, on_i=end if number == 0 else (L / 2, 0), on_j=(-L / 2, 0))
        bodies.append(body)
        before, end = body, (end[0] + 1.0, end[1])
    kind = rng.integers(3)
    if kind == 1:
        slider = m.body("slider", 2.0, 0.2, at=(end[0] + 0.2, -0.3))
        m.revolute("wrist", before, slider, on_i=(L / 2, 0), on_j=(0, 0))
        m.translational("rail", m.ground, slider, axis=(1, 0), on_i=(0, -0.3), on_j=(0, 0))
        bodies.append(slider)
    elif kind == 2:
        a, b = m.point("a", at=(3, 0), fixed="xy"), m.point("b", at=(4, 0.5), mass=0.4)
        m.bar("rod", a, b, mass=0.6)
        m.spring("tie", before, b, stiffness=20.0, length=1.0)
    return bodies


def _measures(m: kp.Mechanism, rng: np.random.Generator, bodies: list[Any]) -> None:
    m.measure("lift", lambda b, t: b.point((0.1, 0.2))[1] * t + b.omega, bodies[-1])
    m.measure("gap", kp.distance(m.ground, bodies[-1].at((0.2, 0.0))))
    m.measure("load", "J0.force.x * {arm length} + lift / (1 + gap)")


def _analysed(m: kp.Mechanism, seed: int) -> kp.Result:
    info = m.mobility()
    driven = info.drivers == info.dof
    if driven and seed % 3 == 0:
        return m.kinematics(0.6, steps=8, on_singular="stop")
    if driven and seed % 3 == 1:
        return m.inverse_dynamics(0.6, steps=8, on_singular="stop")
    method = list(kp.METHODS)[seed % len(kp.METHODS)] if seed % 4 == 0 else "auto"
    options = {"step": 0.002} if method in ("alpha", "ali3p", "penalty") else {}
    try:
        return m.simulate(0.3, steps=6, method=method, tolerance=1e-6, **options)
    except kp.ConvergenceError as error:
        assert isinstance(error.result, kp.Result)
        return error.result


def _ways(tmp_path: Any) -> Iterator[tuple[str, Callable[[Any], Any]]]:
    yield "pickle", lambda x: pickle.loads(pickle.dumps(x))
    yield "deepcopy", copy.deepcopy
    yield (
        "file",
        lambda x: (
            kp.load(x.save(tmp_path / "m.kempe.yaml"))
            if isinstance(x, kp.Mechanism)
            else kp.Result.load(x.save(tmp_path / "r.nc"))
        ),
    )


def _same(one: kp.Result, other: kp.Result, words: str) -> None:
    assert one.names == other.names, words
    different = [n for n in one if not np.array_equal(one.array(n), other.array(n), equal_nan=True)]
    assert not different, (words, different[:5])
    assert (one.status, one.message, one.stats) == (other.status, other.message, other.stats), words
    assert one.events == other.events, words
    for a, b in zip(one.events, other.events, strict=True):
        assert np.array_equal(a.q, b.q) and a.values == b.values, words


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.filterwarnings("ignore::kempe.AccuracyWarning")
def test_everything_comes_back_to_the_last_bit(seed, tmp_path) -> None:
    m = random_mechanism(seed)
    result = _analysed(m, seed)
    for words, way in _ways(tmp_path):
        _same(result, _analysed(way(m), seed), f"{words} of the model")
        again = way(result)
        _same(result, again, f"{words} of the result")
        for element in ("J0", "sum", "drag"):
            if element in m.elements and "lambda.J0.x" in result:
                for axes in ("global", "body"):
                    one, other = result.reaction(element, axes=axes), again.reaction(element, axes=axes)
                    assert np.array_equal(one.force, other.force) and np.array_equal(one.moment, other.moment), words
                    assert one.on == other.on and np.array_equal(one.point, other.point), words
        _same(way(result), result, words)
