"""The reference held to closed forms, to differences and to itself: it has to be right before Kempe is held to it."""

from __future__ import annotations

import numpy as np
import pytest
from drawing import draw, scaled
from planar import CONTACT, FREE, GROUND, Accuracy, Law, Planar, Run, Stop
from plans import Driver, Reference
from scipy.special import ellipj, ellipk
from truths import truth

G = 9.81


def pendulum(amplitude: float) -> Planar:
    """A uniform rod of one metre, let go at an angle from the lowest position."""
    p = Planar(np.array([0.0, -G]))
    angle = amplitude - np.pi / 2
    rod = p.body(1.0, 1 / 12, np.cos(angle) / 2, np.sin(angle) / 2, angle)
    p.pin(p.marker(GROUND, np.zeros(2)), p.marker(rod, np.zeros(2)))
    p.ready()
    return p


@pytest.mark.parametrize("stiff", [False, True])
def test_a_pendulum_swings_as_jacobi_says(stiff):
    amplitude, times = 2.0, np.linspace(0, 1.5, 4)
    p = pendulum(amplitude)
    tolerance = 1e-9 if stiff else 1e-11
    q, _ = p.motion(p.q0, np.zeros(3), times, Accuracy(tolerance, stiff), 3.0)
    k = np.sin(amplitude / 2)
    sn = ellipj(ellipk(k**2) - np.sqrt(1.5 * G) * times, k**2)[0]
    assert np.abs(q[0, :, 2] + np.pi / 2 - 2 * np.arcsin(k * sn)).max() < 10 * tolerance


def test_a_mass_leaves_a_spring_it_meets_after_half_a_swing():
    p = Planar(np.zeros(2))
    mass = p.body(2.0, 1.0, 0.0, 0.0, 0.0)
    p.linear({(mass, 1): 1.0})
    p.stops.append(Stop(p.component(mass, 0), 0.5, 800.0, 0.0, 1.0))
    p.ready()
    run = Run(p, p.q0[None], np.array([[1.0, 0.0, 0.0]]), np.array([0.0, 1.0]), Accuracy(1e-12), 1.0)
    q, v = run.outputs()
    contact = np.pi / np.sqrt(800 / 2)
    assert [mode for _, _, mode in run.switches] == [CONTACT, FREE]
    assert [t for t, _, _ in run.switches] == pytest.approx([0.5, 0.5 + contact], abs=1e-12)
    assert (q[0, -1, 0], v[0, -1, 0]) == pytest.approx((0.5 - (1.0 - 0.5 - contact), -1.0), abs=1e-11)


@pytest.mark.parametrize("seed", range(12))
def test_rows_agree_with_differences(seed):
    """Phi_q and nu are the rates of Phi, gamma is that of Phi_q v, in any pose and at any speed."""
    _, p = draw(seed)
    if not p.m:
        pytest.skip("nothing is held")
    rng = np.random.default_rng(seed)
    q, v = p.q0 + 0.1 * p.unit * rng.uniform(-1, 1, p.n), rng.uniform(-1, 1, p.n) * p.unit
    a, t, h = rng.uniform(-1, 1, p.n) * p.unit, 0.1, 1e-4

    def at(s: float):
        return p.rows(t + s, (q + s * v + s * s / 2 * a)[None], (v + s * a)[None])

    Phi, J, nu, gamma = (x[0] for x in at(0.0))
    ahead, behind = (at(s)[0][0] for s in (h, -h))
    rows = np.abs(J * p.unit).max(axis=1)
    assert np.abs((ahead - behind) / (2 * h) - (J @ v - nu)).max(initial=0.0) < 1e-6 * rows.max()
    second = (ahead - 2 * Phi + behind) / h**2
    assert np.abs(second - (J @ a - gamma)).max(initial=0.0) < 1e-4 * rows.max()


@pytest.mark.parametrize("seed", [0, 24])
def test_it_knows_its_own_error(seed):
    """At its best it keeps its bound: that of a run with a hundred times the tolerance."""
    plan, p = draw(seed)
    true = truth(plan, p, seed)
    q, v = p.motion(p.q0, p.v0, true.times, Accuracy(1e-13, plan.stiff), plan.pace)
    assert not true.failed and true.bound[-1] < 1e-8
    assert (true.error(*p.seen(q[0], v[0])) <= true.bound).all()
    assert true.drift < 1e-9


def test_other_units_are_the_same_motion():
    plan, p = draw(8)
    L, M, T = 1e-2, 1e3, 0.1
    small = Reference(scaled(plan, L, M, T))
    size = np.tile([L, L, 1.0], p.nb)
    times = np.linspace(0, plan.end / 2, 3)
    q, _ = p.motion(p.q0, p.v0, times, Accuracy(1e-11), plan.pace)
    other, _ = small.motion(small.q0, p.v0 * size / T, times * T, Accuracy(1e-11), plan.pace / T)
    assert np.abs(other[0] / size - q[0]).max() < 1e-7 * p.unit.max()


def test_a_law_has_the_rates_it_says():
    h = 1e-4
    for law in (Law("speed", (2.0,)), Law("harmonic", (0.3, 2.0, 0.4)), Law("rise", (0.5, 2.0, 0.2))):
        (before, _, _), (value, rate, second), (after, _, _) = (law(t) for t in (0.9 - h, 0.9, 0.9 + h))
        assert rate == pytest.approx((after - before) / (2 * h), abs=1e-6)
        assert second == pytest.approx((after - 2 * value + before) / h**2, abs=1e-5)


def test_a_driver_is_followed():
    plan, p = next((plan, p) for plan, p in map(draw, range(400)) if plan.of(Driver))
    (driver,) = plan.of(Driver)
    q, _ = p.motion(p.q0, p.v0, np.array([0.0, plan.end / 3]), Accuracy(1e-10, plan.stiff), plan.pace)
    turned = q[0, :, 3 * p.bodies[driver.body] + 2]
    assert turned[1] - turned[0] == pytest.approx(driver.law(plan.end / 3)[0], abs=1e-12)
