"""Elimination by blocks against numpy and against the elimination of single unknowns."""

from __future__ import annotations

import pickle
from typing import NamedTuple

import numpy as np
import pytest

import kempe as kp
from kempe.simulation.methods import METHODS
from kempe.solvers import batching, ordering
from kempe.solvers import quasi_definite as qd
from kempe.solvers.program import Kernels
from kempe.system import compiled


class Linear(NamedTuple):
    """A linear system of parts and joints."""

    groups: list[np.ndarray]
    neighbours: list[set[int]]
    after: list[set[int]]
    rows: np.ndarray
    columns: np.ndarray
    places: np.ndarray
    values: np.ndarray
    shift: np.ndarray

    @property
    def full(self) -> np.ndarray:
        K = np.diag(self.shift).astype(self.values.dtype)
        np.add.at(K, (self.rows, self.columns), self.values[self.places])
        return K

    def plan(self) -> qd.Plan:
        entries = (self.rows, self.columns, self.places)
        return qd.planned(self.groups, self.neighbours, self.after, entries, Kernels(4))


def mechanical(
    parts: int, joints: list[tuple[int, int]], seed: int, symmetric: bool = True, soft: float = 1e-9
) -> Linear:
    """[Mhat, R; Phi_q, -C]: parts of one, three or twelve coordinates, joints between them, some with springs.

    Every eighth part is without inertia, every ninth joint has rows that are not in force. Parts of twelve coordinates
    have rows of their own. With ``symmetric`` false, Mhat and R are not. Some rows hold what others hold.
    """
    rng = np.random.default_rng(seed)
    kinds = rng.choice([1, 3, 12], parts, p=[0.2, 0.5, 0.3])
    light = np.arange(parts) % 8 == 5
    acting: list[tuple[int, ...]] = [*((k,) for k in range(parts) if kinds[k] == 12), *joints]
    counts = [6 if len(on) == 1 else int(min(rng.integers(1, 4), kinds[list(on)].max())) for on in acting]
    ends = np.cumsum([0, *kinds, *counts])
    groups = [np.arange(ends[k], ends[k + 1]) for k in range(len(ends) - 1)]
    links: list[set[int]] = [set() for _ in groups]
    waits: list[set[int]] = [set() for _ in groups]
    cells: dict[tuple[int, int], float] = {}
    shift = np.zeros(ends[-1])

    def enter(i: np.ndarray, j: np.ndarray, block: np.ndarray) -> None:
        for a, row in zip(i.tolist(), block, strict=True):
            for b, value in zip(j.tolist(), row, strict=True):
                if value != 0.0 or a == b:
                    cells[a, b] = cells.get((a, b), 0.0) + value
                    cells.setdefault((b, a), 0.0)

    for k in range(parts):
        n = kinds[k]
        if light[k]:
            shift[groups[k]] = 1e-2
            enter(groups[k], groups[k], np.zeros((n, n)))
        else:
            couplings = np.where(rng.random((n, n)) < 0.3, rng.uniform(-0.2, 0.2, (n, n)), 0.0)
            enter(groups[k], groups[k], couplings + couplings.T + np.diag(rng.uniform(6.0, 9.0, n)))
            if not symmetric:
                enter(groups[k], groups[k], 0.5 * couplings)
    for number, on in enumerate(acting):
        joint = parts + number
        in_force = number % 9 != 4 or len(on) == 1
        shift[groups[joint]] = -soft if in_force else -0.7
        for k in on:
            links[k].add(joint)
            links[joint].add(k)
            (waits[k] if light[k] else waits[joint]).add(joint if light[k] else k)
            phi = np.where(rng.random((counts[number], kinds[k])) < 0.7, rng.normal(size=(counts[number], kinds[k])), 0)
            phi[np.arange(counts[number]), np.arange(counts[number]) % kinds[k]] += 1.0
            enter(groups[joint], groups[k], phi * in_force)
            enter(groups[k], groups[joint], (phi if symmetric else phi * rng.uniform(0.9, 1.1, phi.shape)).T * in_force)
        if len(on) == 2 and number % 5 == 0 and not light[list(on)].any():  # and a spring
            i, j = on
            links[i].add(j)
            links[j].add(i)
            spring = rng.uniform(-0.1, 0.1, (kinds[i], kinds[j]))
            enter(groups[i], groups[j], spring)
            enter(groups[j], groups[i], spring.T)
    places = rng.permutation(len(cells))
    values = np.zeros(len(cells))
    values[places] = list(cells.values())
    rows, columns = np.array(list(cells), dtype=np.int64).T
    return Linear(groups, links, waits, rows, columns, places, values, shift)


def chain(n: int) -> list[tuple[int, int]]:
    return [(k, k + 1) for k in range(n - 1)]


def tree(n: int, seed: int) -> list[tuple[int, int]]:
    rng = np.random.default_rng(seed)
    return [(int(rng.integers(max(0, k - 9), k)), k) for k in range(1, n)]


def loops(n: int) -> list[tuple[int, int]]:
    """A ladder: every rung closes a loop."""
    return [*((k, k + 2) for k in range(n - 2)), *((k, k + 1) for k in range(0, n - 1, 6))]


GRAPHS = {"chain": chain(60), "tree": tree(70, 1), "loops": loops(48), "star": [(0, k) for k in range(1, 30)]}


@pytest.fixture(params=["machine code", "loops"])
def by_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Systems of every size go by blocks, all shapes with machine code or none."""
    monkeypatch.setattr(qd, "LARGE", 0)
    monkeypatch.setattr(qd, "SIDE_BY_SIDE", 0.0)
    monkeypatch.setattr(batching, "WRITTEN_OUT", 10**9 if request.param == "machine code" else 0)
    monkeypatch.setattr(batching, "LONG", 2000)
    return str(request.param)


def residuals(a: Linear, plan: qd.Plan) -> np.ndarray:
    """What is left of a right-hand side: of the system, of the transposed one, in loops; relative to the solution."""
    K, size = a.full, len(a.shift)
    lu, work, b = np.zeros(qd.size(plan)), np.zeros(size), np.random.default_rng(3).normal(size=size)
    assert qd.factor(plan, a.values, a.shift, lu, work)
    left = []
    for solve, matrix in ((qd.solve, K), (qd.solve_transposed, K.T), (qd.solve_in_loops, K)):
        x, own = np.zeros(size), b.copy()
        solve(plan, lu, b, x, work)
        left.append(np.abs(matrix @ x - b).max() / np.abs(x).max())
        solve(plan, lu, own, own, work)  # the solution may replace the right-hand side
        assert np.array_equal(own, x)
    return np.array(left)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("graph", GRAPHS)
def test_blocks_solve_as_single_unknowns_do(
    graph: str, symmetric: bool, by_blocks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    joints = GRAPHS[graph]
    a = mechanical(1 + max(max(pair) for pair in joints), joints, 7, symmetric)
    K = a.full
    assert np.array_equal(K, K.T) == symmetric
    assert np.array_equal(K != 0, (K != 0).T) or not symmetric
    plan = a.plan()
    assert plan.large == 1
    assert bool((plan.blocks.kernel[1::3] >= 0).all()) == (by_blocks == "machine code")
    monkeypatch.setattr(qd, "LARGE", 10**9)
    single = a.plan()
    assert single.large == 0
    assert (residuals(a, plan) <= 30 * residuals(a, single).max() + 1e-13).all()


@pytest.mark.parametrize("graph", GRAPHS)
def test_pivots_are_those_of_an_elimination_in_the_same_order(graph: str, by_blocks: str) -> None:
    joints = GRAPHS[graph]
    a = mechanical(1 + max(max(pair) for pair in joints), joints, 8, symmetric=False, soft=1e-2)
    plan = a.plan()
    lu, work = np.zeros(qd.size(plan)), np.zeros(len(a.shift))
    assert qd.factor(plan, a.values, a.shift, lu, work)
    entries = (a.rows, a.columns, a.places)
    single = qd.plan(len(a.shift), *entries, plan.order, Kernels(4))
    other = np.zeros(qd.size(single))
    assert qd.factor(single, a.values, a.shift, other, work)
    np.testing.assert_allclose(lu[plan.diagonal], other[single.diagonal], rtol=1e-9)


@pytest.mark.parametrize("graph", ["chain", "loops"])
def test_complex_numbers_go_by_blocks_too(graph: str, by_blocks: str) -> None:
    joints = GRAPHS[graph]
    a = mechanical(1 + max(max(pair) for pair in joints), joints, 9, symmetric=False, soft=1e-2)
    rng = np.random.default_rng(4)
    a = a._replace(values=a.values * (1.0 + 0.1j * rng.uniform(-1, 1, len(a.values))))
    plan, size = a.plan(), len(a.shift)
    lu, work, x = (np.zeros(k, dtype=complex) for k in (qd.size(plan), size, size))
    b = rng.normal(size=size) + 1j * rng.normal(size=size)
    assert qd.factor_in_loops(plan, a.values, a.shift, lu, work)
    for solve, K in ((qd.solve_in_loops, a.full), (qd.solve_transposed, a.full.T)):
        solve(plan, lu, b, x, work)
        exact = np.linalg.solve(K, b)
        np.testing.assert_allclose(x, exact, rtol=0, atol=1e-10 * np.abs(exact).max())


def test_a_pivot_that_vanishes_or_is_not_finite_is_reported(by_blocks: str) -> None:
    a = mechanical(40, chain(40), 10, soft=1e-2)
    plan = a.plan()
    lu, work = np.zeros(qd.size(plan)), np.zeros(len(a.shift))
    on_diagonal = a.places[a.rows == a.columns]
    for bad in (np.nan, np.inf):
        for place in on_diagonal[::17]:
            values = a.values.copy()
            values[place] = bad
            assert not qd.factor(plan, values, a.shift, lu, work)
    assert not qd.factor(plan, 0.0 * a.values, 0.0 * a.shift, lu, work)
    assert qd.factor(plan, a.values, a.shift, lu, work)  # and the next one is fine
    assert (residuals(a, plan) < 1e-9).all()


def test_a_plan_travels(by_blocks: str) -> None:
    a = mechanical(40, chain(40), 11, soft=1e-2)
    x = []
    for plan in (a.plan(), pickle.loads(pickle.dumps(a.plan()))):
        lu, work, found = np.zeros(qd.size(plan)), np.zeros(len(a.shift)), np.zeros(len(a.shift))
        assert qd.factor(plan, a.values, a.shift, lu, work)
        qd.solve(plan, lu, np.ones(len(a.shift)), found, work)
        x.append(found)
    assert np.array_equal(*x)


def test_blocks_of_one_shape_are_taken_side_by_side() -> None:
    """A chain of equal parts: nearly all lanes are taken, and there is a handful of shapes."""
    n = 400
    groups = [
        *(np.arange(3 * k, 3 * k + 3) for k in range(n)),
        *(3 * n + np.arange(2 * k, 2 * k + 2) for k in range(n)),
    ]
    links: list[set[int]] = [set() for _ in groups]
    for k in range(n):
        for part in (k - 1, k):
            if part >= 0:
                links[part].add(n + k)
                links[n + k].add(part)
    after = [set() if k < n else set(links[k]) for k in range(2 * n)]
    order, ends = ordering.wide_order(groups, links, after, 3.0)
    assert sorted(order.tolist()) == list(range(5 * n))
    place = np.argsort(order)
    for k in range(n, 2 * n):
        for j in after[k]:
            assert place[groups[j]].max() < place[groups[k]].min()
    pairs = [(i, j) for k, s in enumerate(links) for j_ in (k, *s) for i in groups[k] for j in groups[j_]]
    rows, columns = np.array(pairs).T
    fill = qd._filled(order, rows, columns)
    by = batching.Elimination.of(order, fill, ends)
    assert len(by.steps.shapes) < 10
    assert len(fill.column) > 0.85 * 8 * by.numbers
    assert len(fill.column) < 1.5 * len(qd._filled(ordering.safe_order(groups, links, after), rows, columns).column)


def test_blocks_are_not_taken_where_few_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clique has no two unknowns that do not depend on each other."""
    monkeypatch.setattr(qd, "LARGE", 10)
    n = 40
    rows, columns = (a.ravel() for a in np.indices((n, n)))
    links = [set(range(n)) - {k} for k in range(n)]
    given = ([np.array([k]) for k in range(n)], links, [set[int]() for _ in range(n)])
    assert qd.planned(*given, (rows, columns, np.arange(n * n)), Kernels(4)).large == 0


def hanging(count: int) -> kp.Mechanism:
    """A chain with a spring across, a damper and a driven end: Mhat is not symmetric."""
    m = kp.Mechanism("hanging", gravity=(0, -9.81))
    before, bodies = m.ground, []
    for k in range(count):
        body = m.body(f"link {k}", mass=1.0 + 0.1 * k, inertia=0.1, at=(k + 0.5, 0.1 * k))
        m.revolute(f"pin {k}", before, body, at=(k, 0.1 * k - 0.05))
        before = body
        bodies.append(body)
    m.spring("spring", bodies[2].at_world((2.5, 0.2)), bodies[7].at_world((7.5, 0.7)), stiffness=200.0, damping=3.0)
    m.torque("motor", bodies[0], 5.0)
    return m


@pytest.mark.parametrize("method", METHODS)
def test_motions_are_the_same_by_every_method(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"method": method, "tolerance": 1e-8, "audit": False}
    one = hanging(9).simulate([0.0, 0.2, 0.4], **options)
    monkeypatch.setattr(qd, "LARGE", 20)
    monkeypatch.setattr(qd, "SIDE_BY_SIDE", 0.0)
    m = hanging(9)
    other = m.simulate([0.0, 0.2, 0.4], **options)
    assert np.abs(other.q - one.q).max() < 1e-6
    assert compiled(m).dynamics.plan.large == 1
