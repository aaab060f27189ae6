"""Two free bodies with any contact law and friction between any surfaces: what holds whatever they are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import kempe as kp

MASSES = {"a": (2.0, 0.3), "b": (0.7, 0.05)}


@dataclass(frozen=True)
class Drawn:
    """A drawing that is turned and shifted."""

    turn: float = 0.0
    shift: tuple[float, float] = (0.0, 0.0)

    def __call__(self, x: float, y: float) -> np.ndarray:
        return self.shift + self.along(x, y)

    def along(self, x: float, y: float) -> np.ndarray:
        c, s = np.cos(self.turn), np.sin(self.turn)
        return np.array([c * x - s * y, s * x + c * y])


def law_of(rng: np.random.Generator, inside: bool) -> Any:
    k, e = 10 ** rng.uniform(4, 7), rng.uniform(0.2, 0.95)
    laws: list[Callable[[], Any]] = [
        lambda: kp.KelvinVoigt(k / 10, rng.uniform(0, 80)),
        lambda: kp.Hertz(k),
        lambda: kp.LankaraniNikravesh(e, k),
        lambda: kp.HuntCrossley(e, k, exponent=rng.uniform(1.1, 2.5)),
        lambda: kp.Flores(e, k),
        lambda: kp.Gonthier(e, k),
        lambda: kp.contact_law(lambda d, rate, speed: k * d**1.5 * (1 + 0.5 * rate / speed) + k * d**2),
        lambda: kp.contact_law(lambda d, rate: k / 10 * d + 20 * rate),
    ]
    if inside:
        laws += [
            lambda: kp.Hybrid(e, youngs=k, poisson=0.3, width=0.5),
            lambda: kp.PrintedHybrid(e, youngs=k, poisson=0.3),
        ]
    return laws[rng.integers(len(laws))]()


def friction_of(rng: np.random.Generator) -> Any:
    mu = rng.uniform(0.05, 0.6)
    laws: list[Callable[[], Any]] = [
        lambda: None,
        lambda: kp.RooneyDeravi(mu, speed=0.05),
        lambda: kp.Threlfall(mu, 0.1),
        lambda: kp.ModifiedCoulomb(mu, 1.3 * mu, speeds=(0.05, 0.2)),
        lambda: kp.Stribeck(mu, 1.5 * mu, 0.2, viscous=0.3),
        lambda: kp.LuGre(mu, 1.2 * mu, 0.1, 500.0, damping=1.0, viscous=0.2, per_load=True),
    ]
    return laws[rng.integers(len(laws))]()


SURFACES = ("circles", "ring", "wheel on a line", "point on a line", "roller on a curve", "point on a curve", "journal")


def pair(seed: int, drawn: Drawn) -> tuple[kp.Mechanism, dict[str, float]]:
    """Two bodies that meet, drawn somewhere, and their velocities."""
    rng = np.random.default_rng(seed)
    kind = SURFACES[seed % len(SURFACES)]
    within = kind in ("ring", "journal")
    m = kp.Mechanism(kind)
    a = m.body("a", *MASSES["a"], at=drawn(0.0, 0.0), angle=drawn.turn + 0.2)
    at = (0.02, 0.01) if within else (0.1, 0.7) if "line" in kind else (0.95, rng.uniform(-0.3, 0.3))
    b = m.body("b", *MASSES["b"], at=drawn(*at), angle=drawn.turn - 0.4)
    touching = {"contact": law_of(rng, within), "friction": friction_of(rng)}
    oval = kp.polar(lambda s: 0.5 + 0.05 * kp.cos(2 * s))
    line = {"axis": drawn.along(1.0, 0.1), "at": drawn(0.0, 0.05)}
    if kind == "circles":
        m.circle_contact("c", a, b, radii=(0.5, 0.3), on_j=(0.05, 0.0), **touching)
    elif kind == "ring":
        m.circle_contact("c", a, b, radii=(0.6, 0.5), inside=True, **touching)
    elif kind == "wheel on a line":
        m.circle_line_contact("c", a, b, radius=0.3, **line, **touching)
    elif kind == "point on a line":
        m.point_line_contact("c", a, b, on_j=(0.1, -0.3), **line, **touching)
    elif kind == "journal":
        m.revolute("c", a, b, on_i=(0.1, 0.0), on_j=(0.1, 0.05), clearance=0.1, bearing_radius=0.6, **touching)
    else:
        m.curve_contact("c", a, b, curve=oval, radius=0.3 if "roller" in kind else 0.0, **touching)
    mean = (0.0, 0.0, 0.0, 0.3, -2.0, 1.0) if "line" in kind else (0.0, 0.0, 2.0, -2.0, 0.2, -4.0)
    fast = rng.uniform(-0.5, 0.5, 6) + np.array(mean)
    (ax, ay), (bx, by) = drawn.along(*fast[:2]), drawn.along(*fast[3:5])
    rates = {"a.vx": ax, "a.vy": ay, "a.omega": fast[2], "b.vx": bx, "b.vy": by, "b.omega": fast[5]}
    return m, rates


def momenta(res: Any) -> np.ndarray:
    """Linear momentum, and angular momentum about the origin, over time."""
    found = np.zeros((3, len(res.t)))
    for name, (mass, inertia) in MASSES.items():
        x, y, vx, vy, w = (res.array(f"{name}.{c}") for c in ("x", "y", "vx", "vy", "omega"))
        found += [mass * vx, mass * vy, mass * (x * vy - y * vx) + inertia * w]
    return found


@pytest.mark.parametrize("seed", range(42))
def test_momentum_energy_reactions_and_drawings(seed: int) -> None:
    m, rates = pair(seed, Drawn())
    res = m.simulate(0.6, velocities=rates, tolerance=1e-10, steps=60)
    assert res.events, "they meet"
    kept = momenta(res)
    np.testing.assert_allclose(kept, np.repeat(kept[:, :1], len(res.t), axis=1), rtol=0, atol=1e-9)
    assert np.abs(res.energy.balance).max() < 1e-6 * res.energy.total[0]
    assert res.energy.dissipated[-1] > -1e-9
    here, there = (res.reaction("c", on=part) for part in "ab")
    np.testing.assert_allclose(here.force, -there.force, rtol=0, atol=1e-9 * (1 + there.magnitude.max()))
    assert there.x == pytest.approx(res.array("c.force.x")) and there.y == pytest.approx(res.array("c.force.y"))
    free = res.array("c.penetration") == 0
    assert (
        there.magnitude[free].max(initial=0.0) < 1e-20
    )  # (what holds a curve's parameter is not zero to the last digit)
    turned = Drawn(1.1, (0.3, -0.8))
    m, rates = pair(seed, turned)
    again = m.simulate(0.6, velocities=rates, tolerance=1e-10, steps=60)
    place = turned(*(res.array(f"b.{c}")[-1] for c in "xy"))
    assert [again.array(f"b.{c}")[-1] for c in "xy"] == pytest.approx(place, abs=1e-6)
    assert again.array("b.omega")[-1] == pytest.approx(res.array("b.omega")[-1], abs=1e-5)
