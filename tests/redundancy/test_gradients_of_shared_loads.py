"""Derivatives by design parameters where constraints are redundant: of motions, and of loads at rest and driven."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kempe as kp


def plate() -> kp.Mechanism:
    """A plate on four rods, of which a place, a section, the mass and the drop of its centre are parameters."""
    m = kp.Mechanism("plate", gravity=(0.0, -9.81))
    area, place = m.parameter("area", 1e-4), m.parameter("place", 0.1)
    mass, drop = m.parameter("mass", 20.0), m.parameter("drop", 0.05)
    body = m.body("plate", mass, 2.0, at=(0.5, -np.sqrt(0.75) - drop))
    for k, (x, stiffness) in enumerate([(-0.5, 2.1e7), (0.5, 4.2e7), (place, 8.4e11 * area), (0.3, 3.2e7)]):
        m.link(f"rod {k}", m.ground, body, on_i=(x, 0.0), on_j=(x, drop), stiffness=stiffness)
    return m


def fan(stiff: bool) -> kp.Mechanism:
    """A point on four bars of different lengths, which are elastic members or nobody knows what."""
    m = kp.Mechanism("fan", gravity=(0.0, -9.81))
    x, depth = m.parameter("x", 0.3), m.parameter("depth", 1.0)
    foot = m.point("foot", at=(0.5, -depth), mass=m.parameter("mass", 3.0))
    for k, (at, share) in enumerate([(0.0, 1.0), (x, 0.7), (0.7, 0.7), (1.0, 1.3)]):
        more = {"stiffness": kp.Member(E=2.1e11, A=1e-4 * share)} if stiff else {}
        m.bar(f"rod {k}", m.point(f"P{k}", at=(at, 0.0), fixed="xy"), foot, **more)
    return m


def differences(m: kp.Mechanism, value: Any) -> dict[str, float]:
    """Central differences of what a call with parameters gives."""
    found = {}
    for name, parameter in m.parameters.items():
        h = 1e-4 * parameter.value
        ends = [value({name: parameter.value + side * h}) for side in (1, -1)]
        found[name] = float(ends[0] - ends[1]) / (2 * h)
    return found


@pytest.mark.filterwarnings("ignore:the gradient is rough:kempe.AccuracyWarning")  # (of index 3, with fixed steps)
@pytest.mark.parametrize("gradient", ["direct", "adjoint"])
@pytest.mark.parametrize("method", ["projection", "alpha"])
def test_motions_have_the_derivatives_they_should_have(method: str, gradient: Any) -> None:
    options: dict[str, Any] = {"step": 2e-3} if method == "alpha" else {"tolerance": 1e-11}
    m, final = plate(), {"x": kp.final("plate.x")}
    m.spring("spring", m.ground, m["plate"], on_i=(1.0, 0.0), stiffness=30.0)
    found = m.sensitivity(0.4, final, gradient=gradient, method=method, **options).gradients["x"]
    exact = differences(
        m, lambda p: m.sensitivity(0.4, final, ["mass"], parameters=p, method=method, **options).values["x"]
    )
    assert abs(exact["mass"]) > 1e-4
    assert all(abs(found[p] - value) * m.parameters[p].value < 1e-7 for p, value in exact.items())


def test_loads_that_are_shared_are_refused_in_simulations() -> None:
    """How loads are shared changes with the directions of the rods, which runs do not follow."""
    with pytest.raises(kp.ModelError, match="share the load of 'rod 2'"):
        plate().sensitivity(0.4, kp.final("rod 2.force"))


@pytest.mark.parametrize("make", [plate, lambda: fan(True), lambda: fan(False)], ids=["plate", "fan", "unknown fan"])
def test_loads_at_rest(make: Any) -> None:
    """Elastic and smallest reactions, of links and of bars, whose multipliers are measured by their lengths."""
    m = make()
    for rod in ("rod 1", "rod 2"):
        name = f"lambda.{rod}.length"
        found = m.equilibrium_sensitivity(name)
        exact = differences(m, lambda p, name=name: m.equilibrium(parameters=p)[name])
        size = max(abs(value * m.parameters[p].value) for p, value in exact.items())
        assert size > 1.0
        for p, value in exact.items():
            own = float(np.ravel(found.gradients[name][p])[0])
            assert abs(own - value) * m.parameters[p].value < 1e-5 * size
