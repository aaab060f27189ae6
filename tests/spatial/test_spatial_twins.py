"""Planar mechanisms rebuilt in space move as their twins in the plane, by every method, and so do their gradients."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from spatial_twins import TWINS, Drawer

import kempe as kp

TIMES = np.linspace(0.0, 0.2, 5)
CLOSE = 1e-9
FIXED = {"alpha": 2e-4, "ali3p": 2e-4}
"""Methods of order 2 take steps of this length and half of it, and are extrapolated."""
TIGHT = {"radau": 1e-12, "bdf": 1e-12, "bdf3": 1e-12}
ROUGH = {"penalty": 1e-7, "ali3p": 2e-7}
"""Penalties give way by what depends on the coordinates; ALI3-P ends some 1e-8 from the truth with any step, in the
plane as in space. Both are held to 1e-9 where the coordinates are the same."""


def start(d: Drawer) -> dict[str, float]:
    """One body turns, the others follow; points begin at rest."""
    return {d.omega(d.bodies[0]): 1.5} if d.bodies else {}


def states(d: Drawer, **options: Any) -> np.ndarray:
    """Positions and velocities of all bodies or points over time."""
    result = d.m.simulate(TIMES, velocities=start(d), audit=False, **options)
    found = []
    for name in d.bodies:
        found += [result.array(f"{name}.{key}") for key in ("x", "y", "vx", "vy")]
        found += [d.angle(result, name), result.array(d.omega(name))]
    for name in d.points:
        found += [result.array(f"{name}.{key}") for key in ("x", "y", "vx", "vy")]
    return np.array(found)


@cache
def run(twin: str, dim: int, method: str) -> np.ndarray:
    d = TWINS[twin](dim)
    if method in FIXED:
        coarse, fine = (states(d, method=method, step=FIXED[method] / k, tolerance=1e-10) for k in (1, 2))
        return fine + (fine - coarse) / 3
    return states(d, method=method, tolerance=TIGHT.get(method, 1e-13))


@pytest.mark.filterwarnings("ignore::kempe.AccuracyWarning")  # of penalties, which give way
@pytest.mark.parametrize("method", kp.METHODS)
@pytest.mark.parametrize("twin", TWINS)
def test_twins_move_alike(twin, method):
    plane, space = (run(twin, dim, method) for dim in (2, 3))
    assert np.abs(plane - space).max() < ROUGH.get(method, CLOSE) * (1 + np.abs(plane).max())


@pytest.mark.filterwarnings("ignore::kempe.AccuracyWarning")
@pytest.mark.parametrize("method", ["alpha", "ali3p", "penalty", "baumgarte"])
def test_points_and_bars_are_the_same_equations(method):
    """In natural coordinates the plane is a part of space: not even the errors of a method differ."""
    options = {"step": 1e-3, "tolerance": 1e-10} if method in FIXED else {"tolerance": 1e-6}
    options["method"] = method
    plane, space = (states(TWINS["points"](dim), **options) for dim in (2, 3))
    assert np.abs(plane - space).max() < CLOSE


@pytest.mark.parametrize("twin", TWINS)
def test_twins_pull_alike(twin):
    """Reactions of all joints, and the energies."""
    plane, space = (
        TWINS[twin](dim).m.simulate(TIMES, velocities=start(TWINS[twin](dim)), tolerance=1e-12) for dim in (2, 3)
    )
    for part in ("kinetic", "potential", "elastic", "dissipated"):
        assert np.abs(plane.array(f"energy.{part}") - space.array(f"energy.{part}")).max() < 1e-8
    for name, element in TWINS[twin](2).m.elements.items():
        if element.rows and "." not in name and not name.startswith("bar"):
            one, other = plane.reaction(name), space.reaction(name)
            size = 1 + np.abs(one.force).max()
            assert one.on == other.on
            assert np.abs(one.force - other.force[:, :2]).max() < 1e-7 * size
            if name != "guide":  # in space the moment of a guide is about a point of its own
                assert np.abs(one.moment - other.moment[:, 2]).max() < 1e-7 * size


# --- gradients --------------------------------------------------------------------------------------------------------


def pendulum(dim: int) -> Drawer:
    """Masses, lengths, a stiffness and a damping are parameters."""
    d = Drawer("pendulum", dim)
    p = {key: d.m.parameter(key, value) for key, value in (("mass", 1.2), ("l", 0.9), ("k", 25.0), ("c", 0.5))}
    a = d.body("a", p["mass"], p["mass"] * p["l"] ** 2 / 12, (p["l"] / 2, 0.0), 0.0)
    b = d.body("b", 0.8, 0.07, (p["l"] + 0.3, 0.0), 0.0)
    d.hinge("O", d.m.ground, a, on_i=(0, 0), on_j=(-p["l"] / 2, 0))
    d.hinge("A", a, b, on_i=(p["l"] / 2, 0), on_j=(-0.3, 0))
    d.spring("s", d.m.ground, b, on_i=(1.0, 1.0), on_j=(0.1, 0.2), stiffness=p["k"], length=0.6, damping=p["c"])
    return d


def bars(dim: int) -> Drawer:
    """The same of points."""
    d = Drawer("bars", dim)
    p = {key: d.m.parameter(key, value) for key, value in (("mass", 1.2), ("l", 0.9), ("k", 25.0), ("c", 0.5))}
    P = [d.point("P0", (0, 0), fixed=True), d.point("P1", (p["l"], 0.0)), d.point("P2", (p["l"] + 0.4, 0.3))]
    d.m.bar("a", P[0], P[1], mass=p["mass"])
    d.m.bar("b", P[1], P[2], mass=0.8)
    d.spring("s", d.m.ground, P[2], on_i=(1.0, 1.0), on_j=(0, 0), stiffness=p["k"], length=0.6, damping=p["c"])
    return d


ASKED = {
    "pendulum": ["final(b.x)", "final(b.vy)", "integral(O.force.x**2 + O.force.y**2)", "maximum(s.length)"],
    "bars": ["final(P2.x)", "final(P2.vy)", "integral(P1.vx**2)", "maximum(s.length)"],
}


def functionals(name: str) -> list[Any]:
    makers = {"final": kp.final, "integral": kp.integral, "maximum": kp.maximum}
    found = []
    for asked in ASKED[name]:
        kind, of = asked[:-1].split("(", 1)
        found.append(makers[kind](of))
    return found


def slopes(sens: Any) -> np.ndarray:
    """Functionals by parameters."""
    return np.array([[*each.values()] for each in sens.gradients.values()])


@pytest.mark.parametrize("gradient", ["direct", "adjoint"])
@pytest.mark.parametrize("method", ["auto", "projection", "radau"])
@pytest.mark.parametrize("name", ["pendulum", "bars"])
def test_twins_have_the_same_gradients(name, method, gradient):
    build = {"pendulum": pendulum, "bars": bars}[name]
    found = []
    for dim in (2, 3):
        sens = build(dim).m.sensitivity(0.6, functionals(name), gradient=gradient, method=method, tolerance=1e-12)
        found.append((np.array([*sens.values.values()]), slopes(sens)))
    for plane, space in zip(*found, strict=True):
        assert np.abs(plane - space).max() < 1e-8 * (1 + np.abs(plane).max())


@pytest.mark.parametrize("gradient", ["direct", "adjoint"])
def test_points_have_the_same_gradients_by_alpha(gradient):
    found = []
    for dim in (2, 3):
        sens = bars(dim).m.sensitivity(0.3, functionals("bars"), gradient=gradient, method="alpha", step=1e-3)
        found.append(slopes(sens))
    assert np.abs(found[0] - found[1]).max() < CLOSE * (1 + np.abs(found[0]).max())
