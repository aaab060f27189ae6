"""Random tables: values and derivatives against scipy, motions against solve_ivp, files and copies digit for digit."""

from __future__ import annotations

import copy
import pickle
import tempfile
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline, RectBivariateSpline

import kempe as kp
from kempe.elements.readings import Staged

SEED = st.integers(0, 2**31)
COUNT = st.integers(4, 12)


def places(rng: np.random.Generator, count: int) -> np.ndarray:
    """Increasing places from -1 to 1, unevenly spaced."""
    steps = np.cumsum(rng.uniform(0.2, 1.0, count))
    return 2.0 * (steps - steps[0]) / (steps[-1] - steps[0]) - 1.0


def derivatives(T: Any, *at: np.ndarray) -> list[np.ndarray]:
    """Value, gradient and second derivatives of a table by CasADi, at many places."""
    x = [ca.SX.sym("x") for _ in at]
    value = T(*x)
    gradient = ca.jacobian(value, ca.vertcat(*x))
    hessian = ca.jacobian(gradient, ca.vertcat(*x))
    return [r.T for r in Staged(x, [value, gradient.T, ca.vec(hessian)])(*(a[None] for a in at))]


@settings(max_examples=60)
@given(seed=SEED, count=COUNT, ends=st.sampled_from(["not-a-knot", "natural", "clamped", "periodic"]))
def test_a_spline_and_its_derivatives_are_those_of_scipy(seed: int, count: int, ends: str) -> None:
    rng = np.random.default_rng(seed)
    x, y = places(rng, count), rng.normal(size=count)
    y[-1] = y[0] if ends == "periodic" else y[-1]
    options: dict[str, Any] = {"periodic": True} if ends == "periodic" else {"ends": ends, "outside": "extrapolate"}
    T, exact = kp.table(x, y, **options), CubicSpline(x, y, bc_type=ends)
    at = rng.uniform(-1.5, 1.5, 50)
    size = np.abs(exact(at)).max() + np.abs(y).max()
    assert np.abs(T(at) - exact(at)).max() < 1e-11 * size
    value, slope, bend = derivatives(T, at)
    for found, order in ((value, 0), (slope, 1), (bend, 2)):
        there = exact(at, order)
        assert np.abs(found[:, 0] - there).max() < 1e-9 * (size + np.abs(there).max())


@settings(max_examples=40)
@given(seed=SEED, first=COUNT, second=COUNT)
def test_a_bicubic_table_and_its_derivatives_are_those_of_scipy(seed: int, first: int, second: int) -> None:
    rng = np.random.default_rng(seed)
    x, y, z = places(rng, first), places(rng, second), rng.normal(size=(first, second))
    T, exact = kp.table(x, y, z), RectBivariateSpline(x, y, z, s=0)
    at = rng.uniform(-1, 1, (2, 50))
    value, slope, bend = derivatives(T, *at)
    pairs = [(value[:, 0], (0, 0)), (slope[:, 0], (1, 0)), (slope[:, 1], (0, 1))]
    pairs += [(bend[:, 0], (2, 0)), (bend[:, 1], (1, 1)), (bend[:, 2], (1, 1)), (bend[:, 3], (0, 2))]
    for found, (dx, dy) in pairs:
        there = exact.ev(*at, dx=dx, dy=dy)
        assert np.abs(found - there).max() < 1e-8 * (1.0 + np.abs(there).max())


@settings(max_examples=30)
@given(seed=SEED, count=COUNT, kind=st.sampled_from(["cubic", "linear"]))
def test_what_is_held_stays_within_and_beyond_is_the_end(seed: int, count: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    x, y = places(rng, count), rng.normal(size=count)
    held, free = (kp.table(x, y, kind=kind, outside=outside) for outside in ("hold", "extrapolate"))
    at = rng.uniform(-3, 3, 80)
    assert np.abs(held(at) - free(np.clip(at, -1, 1))).max() < 1e-12 * (1 + np.abs(y).max())
    assert np.abs(derivatives(held, at)[1][np.abs(at) > 1]).max(initial=0.0) == 0.0


def random_model(seed: int) -> tuple[kp.Mechanism, Any]:
    """A swinging block with a spring, a damper and a push from random tables; and its acceleration by scipy."""
    rng = np.random.default_rng(seed)
    x, v, t = (scale * places(rng, int(rng.integers(4, 9))) for scale in (2.0, 6.0, 2.0))
    stiff, damp = -4.0 * x + rng.normal(size=len(x)), -0.4 * v + 0.1 * rng.normal(size=len(v))
    push = rng.normal(size=len(t))
    both = 0.5 * rng.normal(size=(len(x), len(v)))
    S, D, P = kp.table(x, stiff, name="S"), kp.table(v, damp, name="damper curve"), kp.table(t, push)
    B = kp.table(x, v, both, kind="linear")
    m = kp.Mechanism("random")
    b = m.body("b", mass=1.5, inertia=1.0, at=(0.3, 0.0))
    m.translational("guide", m.ground, b, axis=(1, 0))
    m.user_force("f", lambda b, t: (S(b.x) + D(b.vx + 0.1 * S(b.x)) + P(t - 1.0), 0, 0), b)
    m.spring("s", m.ground.at((-10.0, 0.0)), b, law=lambda length, rate: -B(length - 10.0, rate))
    s, d, p = CubicSpline(x, stiff), CubicSpline(v, damp), CubicSpline(t, push)

    def acceleration(time: float, q: float, w: float) -> float:
        i, j = np.clip(np.searchsorted(x, q) - 1, 0, len(x) - 2), np.clip(np.searchsorted(v, w) - 1, 0, len(v) - 2)
        a, c = (q - x[i]) / (x[i + 1] - x[i]), (w - v[j]) / (v[j + 1] - v[j])
        corner = both[i : i + 2, j : j + 2]
        bent = float(np.array([1 - a, a]) @ corner @ np.array([1 - c, c]))
        return float(s(q) + d(w + 0.1 * s(q)) + p(time - 1.0) + bent) / 1.5

    return m, acceleration


@settings(max_examples=15)
@given(seed=SEED)
def test_motions_with_random_tables_are_those_of_solve_ivp(seed: int) -> None:
    m, acceleration = random_model(seed)
    try:
        result = m.simulate(1.5, steps=15, tolerance=1e-10)
    except kp.ConvergenceError as error:
        assert "table" in str(error)  # it ran out of its data: so does the reference, at that time
        result = error.result
    t = result.t
    run = solve_ivp(
        lambda s, y: [y[1], acceleration(s, *y)],
        (0.0, 1.5),
        [0.3, 0.0],
        t_eval=t,
        rtol=1e-10,
        atol=1e-11,
        max_step=0.01,
    )
    assert np.abs(result.array("b.x") - run.y[0]).max() < 1e-6 * (1 + np.abs(run.y[0]).max())


@settings(max_examples=10)
@given(seed=SEED)
def test_saved_pickled_and_copied_models_move_alike(seed: int) -> None:
    m, _ = random_model(seed)
    with tempfile.TemporaryDirectory() as folder:
        twins = [kp.load(m.save(Path(folder) / "m.kempe.yaml")), pickle.loads(pickle.dumps(m)), copy.deepcopy(m)]
    expected = ended(m)
    for twin in twins:
        for one, other in zip(ended(twin), expected, strict=True):
            assert one == other if isinstance(one, str) else one == pytest.approx(other, rel=1e-12, abs=1e-12)


def ended(m: kp.Mechanism) -> tuple[str, np.ndarray, np.ndarray]:
    """How a run ends, and its motion."""
    try:
        result = m.simulate(1.0, steps=5)
    except kp.ConvergenceError as error:
        return "failed", error.result.t, error.result.q
    return "complete", result.t, result.q
