"""Systems given as equations: mass, force and constraints come out as written, and mistakes are explained."""

from __future__ import annotations

import numpy as np
import pytest

import kempe as kp
from kempe.elements import Element
from kempe.kernels import compiler, emit
from kempe.simulation.posing import Posed
from kempe.system import families
from kempe.system.families import Family, family_of


def double_pendulum() -> kp.Equations:
    """Two points of mass m1, m2 on rods l1, l2 in absolute angles, with viscous pivots."""
    return kp.Equations(
        "double pendulum",
        {"a": 0.3, "b": -0.2},
        parameters={"m1": 1.0, "m2": 2.0, "l1": 0.7, "l2": 0.4, "c": 0.1},
        mass=lambda q, p: [
            [(p.m1 + p.m2) * p.l1**2, p.m2 * p.l1 * p.l2 * kp.cos(q.a - q.b)],
            [p.m2 * p.l1 * p.l2 * kp.cos(q.a - q.b), p.m2 * p.l2**2],
        ],
        force=lambda q, v, t, p: [
            -(p.m1 + p.m2) * 9.81 * p.l1 * kp.sin(q.a) - p.m2 * p.l1 * p.l2 * kp.sin(q.a - q.b) * v.b**2 - p.c * v.a,
            -p.m2 * 9.81 * p.l2 * kp.sin(q.b) + p.m2 * p.l1 * p.l2 * kp.sin(q.a - q.b) * v.a**2 + t,
        ],
    )


def test_mass_and_force_are_those_written():
    posed = Posed(double_pendulum())
    q, v, t = np.array([0.3, -0.2]), np.array([1.5, -0.7]), 0.25
    M = posed.system.mass_matrix(posed.x, q)
    coupling = 2 * 0.7 * 0.4 * np.cos(0.5)
    assert np.abs(M - [[3 * 0.49, coupling], [coupling, 2 * 0.16]]).max() < 1e-15
    Q = posed.system.generalised_force(posed.x, q, t, v)
    swing = 2 * 0.7 * 0.4 * np.sin(0.5)
    exact = [-3 * 9.81 * 0.7 * np.sin(0.3) - swing * 0.49 - 0.15, 2 * 9.81 * 0.4 * np.sin(0.2) + swing * 2.25 + 0.25]
    assert np.abs(Q - exact).max() < 1e-14


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mass": lambda q, p: [[1, 0], [0.5, 1]]}, "not symmetric"),
        ({"mass": lambda q, p: [[1, 0, 0], [0, 1, 0]]}, "2 coordinates"),
        ({"mass": lambda q, p: [[1, 0], [0]]}, "mass matrix"),
        ({"force": lambda q, v, t, p: [q.a]}, "1 entries for 2 coordinates"),
        ({"force": lambda q, v, t: [q.a, q.b]}, r"force: the function is called with \(q, v, t, p\)"),
        ({"constraints": lambda q, t, p: [q.c]}, "constraints: there is no 'c'; there are a, b"),
        ({"constraints": lambda q, t, p: [None]}, "must be an expression"),
        ({"constraints": lambda q, t, p: [q.a + np.nan]}, "NaN"),
    ],
)
def test_mistakes_are_explained(options, says):
    with pytest.raises(kp.ModelError, match=says):
        kp.Equations("e", ["a", "b"], **options)


def test_coordinates_are_a_list_of_names():
    with pytest.raises(kp.ModelError, match="not one string"):
        kp.Equations("e", "ab")
    with pytest.raises(kp.ModelError, match="named twice"):
        kp.Equations("e", ["a", "a"])
    with pytest.raises(kp.ModelError, match="at least one coordinate"):
        kp.Equations("e", [])


# --- many coordinates with a full mass matrix -----------------------------------------------------------------------


def chain(n: int) -> kp.Equations:
    """Points of mass 1 on rods of length 1/n, in joint angles: M is the sum of J^T J over the points."""

    def placed(q, p):
        angles, x, y = [], [0.0], [0.0]
        for k in range(n):
            angles.append(q[k] + (angles[-1] if angles else 0.0))
            x.append(x[-1] + p.l * kp.sin(angles[-1]))
            y.append(y[-1] - p.l * kp.cos(angles[-1]))
        arms = [[(y[i] - y[k + 1], x[k + 1] - x[i]) for i in range(k + 1)] for k in range(n)]
        return angles, arms

    def mass(q, p):
        _, arms = placed(q, p)
        return [
            [sum(a[i][0] * a[j][0] + a[i][1] * a[j][1] for a in arms[max(i, j) :]) for j in range(n)] for i in range(n)
        ]

    def force(q, v, t, p):
        angles, arms = placed(q, p)
        turning, ax, ay, pushed = 0.0, 0.0, 0.0, [0.0] * n
        for k, arm in enumerate(arms):
            turning = turning + v[k]
            ax = ax - p.l * kp.sin(angles[k]) * turning**2
            ay = ay + p.l * kp.cos(angles[k]) * turning**2
            for i, (jx, jy) in enumerate(arm):
                pushed[i] = pushed[i] - jx * ax - jy * (ay + 9.81)
        return pushed

    starts = {f"q{k}": 0.9 if k == 0 else 0.2 * (-1) ** k for k in range(n)}
    return kp.Equations("chain", starts, parameters={"l": 1.0 / n}, mass=mass, force=force)


def chain_of_points(n: int) -> kp.Mechanism:
    """The same chain as points held by rods."""
    m = kp.Mechanism("points", gravity=(0, -9.81))
    last, angle, place = m.point("o", at=(0, 0), fixed="xy"), 0.0, np.zeros(2)
    for k in range(n):
        angle += 0.9 if k == 0 else 0.2 * (-1) ** k
        place = place + np.array([np.sin(angle), -np.cos(angle)]) / n
        point = m.point(f"p{k}", at=tuple(place), mass=1.0)
        m.link(f"r{k}", last, point)
        last = point
    return m


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_a_chain_in_joint_angles_moves_as_one_of_points_and_rods(method):
    n = 8
    angles = chain(n).simulate(0.6, method=method)
    points = chain_of_points(n).simulate(0.6)
    turned = np.cumsum([angles.array(f"q{k}")[-1] for k in range(n)])
    assert np.sin(turned).sum() / n == pytest.approx(points.array(f"p{n - 1}.x")[-1], abs=2e-6)
    assert -np.cos(turned).sum() / n == pytest.approx(points.array(f"p{n - 1}.y")[-1], abs=2e-6)
    assert angles.array("energy.kinetic")[-1] == pytest.approx(points.array("energy.kinetic")[-1], rel=1e-5)
    # gravity is part of Q here: what it gives is supplied energy, and the balance closes
    assert np.abs(angles.energy.error).max() < 1e-5


def test_the_tangent_of_a_chain_against_differences():
    """C0 f_a + c1 f_v + c2 f_q of eight joint angles (computed column by column) against central differences of f."""
    family = family_of(chain(8).elements["equations"])
    assert family._long
    x = np.random.default_rng(1).normal(size=family.x.numel())
    at, n = family.at, family.q.numel()
    c = x[at["c"] : at["c"] + 3]
    kernel, blocks = family.variant("tangent")
    found = kernel(x)
    residual = family.variant("residual").kernel
    assert np.abs(found[: len(blocks[0].rows)] - residual(x)).max() < 1e-12
    K = np.zeros((n, n))
    K[blocks[2].rows, blocks[2].columns] = found[len(blocks[0].rows) : len(blocks[0].rows) + len(blocks[2].rows)]
    h = 1e-3
    for k in range(n):
        column = np.zeros(n)
        for weight, which in zip(c[::-1], ("q", "v", "a"), strict=True):
            step = np.zeros_like(x)
            step[at[which] + k] = h
            near, far = (residual(x + s * step) - residual(x - s * step) for s in (1, 2))
            column += weight * (8 * near - far) / (12 * h)
        assert np.abs(K[:, k] - column).max() < 1e-7 * np.abs(K).max()


def test_both_ways_to_the_tangent_agree(monkeypatch):
    element = chain(6).elements["equations"]
    kernels = []
    for limit in (0, 10**9):
        monkeypatch.setattr(families, "LONG", limit)
        kernels.append(Family(element).variant("tangent"))
    by_columns, written_out = kernels
    for one, other in zip(by_columns.blocks, written_out.blocks, strict=True):
        assert np.array_equal(one.rows, other.rows) and np.array_equal(one.columns, other.columns)
    x = np.random.default_rng(2).normal(size=by_columns.kernel.n_in)
    np.testing.assert_allclose(by_columns.kernel(x), written_out.kernel(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("variant", ["explicit", "residual", "tangent", "energy"])
def test_kernels_of_a_chain_grow_no_faster_than_the_cube_of_its_length(variant, monkeypatch):
    counts = []

    def counted(steps, *rest):
        counts.append(len(steps))
        return emit(steps, *rest)

    monkeypatch.setattr(compiler, "emit", counted)
    for n in (6, 12, 24):
        Family(chain(n).elements["equations"]).variant(variant)
    assert counts[1] < 8 * counts[0] and counts[2] < 8 * counts[1]


def test_an_element_may_give_its_mass_matrix_instead_of_its_kinetic_energy():
    """A double pendulum in absolute angles: centrifugal forces follow from M(q) as they do from the energy."""

    class Pendulum(Element):
        def __init__(self, name, angles):
            super().__init__(name, angles=angles)

        def mass(self, x):
            coupling = kp.cos(x.angles[0] - x.angles[1])
            return [[2.0, coupling], [coupling, 1.0]]

        def weight(self, x):
            return -9.81 * (2 * kp.cos(x.angles[0]) + kp.cos(x.angles[1]))

    class ByEnergy(Pendulum):
        def mass(self, x):
            return None

        def kinetic(self, x):
            a, b = x.d(x.angles[0]), x.d(x.angles[1])
            return a**2 + b**2 / 2 + a * b * kp.cos(x.angles[0] - x.angles[1])

    def moved(kind):
        m = kp.Mechanism("pendulum")
        m.add(kind("p", [m.coordinate("a", 1.0), m.coordinate("b", -0.5)]))
        return m.simulate(1.0, method="radau")

    given, derived = moved(Pendulum), moved(ByEnergy)
    for name in ("a", "b", "energy.kinetic"):
        assert given.array(name)[-1] == pytest.approx(derived.array(name)[-1], rel=1e-9)
    assert np.ptp(given.energy.total) < 1e-6
