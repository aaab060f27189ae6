"""The factorisation of every formulation against numpy: values, shifts, refinement, transposed and complex systems."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from kempe.solvers import quasi_definite as qd
from kempe.solvers.program import Kernels

SIZES = [1, 2, 3, 7, 20, 60, 200]


class Matrix(NamedTuple):
    """Entries of a matrix of symmetric pattern whose values are found at places of an array, in any order."""

    n: int  # coordinates
    m: int  # multipliers
    rows: np.ndarray
    columns: np.ndarray
    places: np.ndarray
    values: np.ndarray

    @property
    def full(self) -> np.ndarray:
        """The matrix itself; what stands in one cell is added up."""
        K = np.zeros((self.n + self.m,) * 2)
        np.add.at(K, (self.rows, self.columns), self.values[self.places])
        return K


def random_matrix(size: int, seed: int, symmetric: bool, repeated: bool = False) -> Matrix:
    """[Mhat, R; Phi_q, 0] with a dominant diagonal in Mhat; R = Phi_q^T where it is symmetric, near it otherwise.

    In a symmetric matrix, an entry and its mirror image share one value, as Phi_q and Phi_q^T do.
    """
    rng = np.random.default_rng(seed)
    m = size // 3
    n = size - m
    upper = {(int(i), int(j)) for i, j in rng.integers(0, n, (2 * n, 2)) if i > j}
    # each multiplier acts on a coordinate of its own and on one or two others
    lower = {(n + k, k) for k in range(m)} | {(n + k, int(j)) for k in range(m) for j in rng.integers(0, n, 2)}
    rows, columns, places, values = [], [], [], []

    def enter(i: int, j: int, place: int) -> None:
        rows.append(i)
        columns.append(j)
        places.append(place)

    def value(v: float) -> int:
        values.append(v)
        return len(values) - 1

    for i in range(n):
        enter(i, i, value(rng.uniform(4, 6) + 2 * sum(i in cell for cell in upper)))
    for i, j in sorted(upper | lower):
        v = rng.uniform(0.5, 1.0) * rng.choice([-1, 1])
        place = value(v)
        enter(i, j, place)
        enter(j, i, place if symmetric else value(v + 0.2 * rng.uniform(-1, 1)))
        if repeated:
            enter(i, j, value(0.1 * v))
            enter(j, i, len(values) - 1)
    moved = rng.permutation(len(values))
    scattered = np.zeros(len(values))
    scattered[moved] = values
    return Matrix(n, m, *(np.array(a, np.int64) for a in (rows, columns)), moved[np.array(places)], scattered)


def order_of(a: Matrix) -> np.ndarray:
    """An order of little fill in which multipliers wait for their coordinates."""
    links: list[set[int]] = [set() for _ in range(a.n + a.m)]
    for i, j in zip(a.rows.tolist(), a.columns.tolist(), strict=True):
        if i != j:
            links[i].add(j)
    after = [set() if k < a.n else {j for j in links[k] if j < a.n} for k in range(a.n + a.m)]
    return qd.safe_order([np.array([k]) for k in range(a.n + a.m)], links, after)


def plan_of(a: Matrix, order: np.ndarray | None = None) -> qd.Plan:
    return qd.plan(a.n + a.m, a.rows, a.columns, a.places, order_of(a) if order is None else order, Kernels(4))


def shift_of(a: Matrix, size: float) -> np.ndarray:
    return np.concatenate([np.zeros(a.n), np.full(a.m, -size)])


@pytest.fixture(params=["written out", "in loops"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether factorisations of every size are written out, or none."""
    monkeypatch.setattr(qd, "WRITTEN_OUT", 10**9 if request.param == "written out" else -1)
    return request.param


def factored(a: Matrix, shift: np.ndarray, plan: qd.Plan) -> tuple[np.ndarray, np.ndarray]:
    lu, work = np.zeros(qd.size(plan)), np.zeros(a.n + a.m)
    assert qd.factor(plan, a.values, shift, lu, work)
    return lu, work


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_factors_solve_the_shifted_system(size: int, symmetric: bool) -> None:
    a = random_matrix(size, size, symmetric)
    plan = plan_of(a)
    operations = qd.count_operations(plan.start, plan.diagonal, plan.column)
    assert plan.written_out[0] == (operations <= qd.WRITTEN_OUT)
    assert (size <= 20) <= plan.written_out[0] <= (size < 200)  # both kinds are met here
    rng = np.random.default_rng(1)
    shift = np.concatenate([rng.uniform(0, 1, a.n), -rng.uniform(0.1, 1, a.m)])
    lu, work = factored(a, shift, plan)
    b, x = rng.normal(size=size), np.zeros(size)
    K = a.full + np.diag(shift)
    assert np.array_equal(K, K.T) == (symmetric or size == 1)
    qd.solve(plan, lu, b, x, work)
    np.testing.assert_allclose(x, np.linalg.solve(K, b), rtol=0, atol=1e-11 * np.abs(x).max())
    qd.solve_transposed(plan, lu, b, x, work)
    np.testing.assert_allclose(x, np.linalg.solve(K.T, b), rtol=0, atol=1e-11 * np.abs(x).max())
    for solve in (qd.solve, qd.solve_transposed):  # the solution may replace the right-hand side
        solve(plan, lu, b, x, work)
        own = b.copy()
        solve(plan, lu, own, own, work)
        assert np.array_equal(own, x)


@pytest.mark.parametrize("seed", range(4))
def test_a_quasi_definite_matrix_can_be_factored_in_any_order(seed: int) -> None:
    a = random_matrix(30, seed, symmetric=True)
    rng = np.random.default_rng(seed)
    shift, b, x = shift_of(a, 0.5), rng.normal(size=30), np.zeros(30)
    plan = plan_of(a, rng.permutation(30).astype(np.int64))
    lu, work = factored(a, shift, plan)
    qd.solve(plan, lu, b, x, work)
    np.testing.assert_allclose(x, np.linalg.solve(a.full + np.diag(shift), b), rtol=0, atol=1e-10 * np.abs(x).max())


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("size", [3, 20, 200])
def test_refinement_with_the_true_matrix_takes_a_small_shift_away(size: int, symmetric: bool) -> None:
    a = random_matrix(size, 10 + size, symmetric)
    K, plan, shift = a.full, plan_of(a), shift_of(a, 1e-6)
    lu, work = factored(a, shift, plan)
    b = np.random.default_rng(2).normal(size=size)
    exact, x, r, d = np.linalg.solve(K, b), np.zeros(size), np.zeros(size), np.zeros(size)
    qd.solve(plan, lu, b, x, work)
    gaps = [np.abs(x - exact).max()]
    for _ in range(3):
        r[:] = b
        qd.subtract_product(plan, a.values, x, r)
        np.testing.assert_allclose(r, b - K @ x, rtol=0, atol=1e-13 * np.abs(b).max() * size)
        qd.solve(plan, lu, r, d, work)
        x += d
        gaps.append(np.abs(x - exact).max())
    size_x = np.abs(exact).max()
    assert gaps[0] > 1e-9 * size_x  # the shift was felt
    assert gaps[1] < 1e-3 * gaps[0]
    assert gaps[-1] < 1e-12 * size_x


@pytest.mark.parametrize("size", [1, 5, 20, 60])
@pytest.mark.parametrize("symmetric", [True, False])
def test_machine_code_does_the_arithmetic_of_the_loops(
    size: int, symmetric: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qd, "WRITTEN_OUT", 10**9)
    a = random_matrix(size, 20 + size, symmetric)
    plan, shift = plan_of(a), shift_of(a, 0.3)
    assert plan.written_out[0] == 1
    lu, work = factored(a, shift, plan)
    looped = np.zeros(qd.size(plan))
    assert qd.factor_in_loops(plan, a.values, shift, looped, work)
    entries = len(plan.column)
    largest = np.abs(looped).max()
    np.testing.assert_allclose(lu[:entries], looped[:entries], rtol=1e-13, atol=1e-15 * largest)  # up to rounding
    b = np.random.default_rng(3).normal(size=size)
    x, y = np.zeros(size), np.zeros(size)
    qd.solve(plan, lu, b, x, work)
    qd.solve_in_loops(plan, looped, b, y, work)
    np.testing.assert_allclose(x, y, rtol=0, atol=1e-14 * np.abs(y).max())


def test_values_that_share_a_cell_are_added(way: str) -> None:
    a = random_matrix(12, 5, symmetric=False, repeated=True)
    assert len(set(zip(a.rows.tolist(), a.columns.tolist(), strict=True))) < len(a.rows)
    plan, shift = plan_of(a), shift_of(a, 0.2)
    assert plan.written_out[0] == (way == "written out")
    lu, work = factored(a, shift, plan)
    b, x = np.arange(1.0, 13.0), np.zeros(12)
    qd.solve(plan, lu, b, x, work)
    np.testing.assert_allclose((a.full + np.diag(shift)) @ x, b, rtol=1e-12)


@pytest.mark.parametrize("size", [1, 4, 60])
def test_complex_numbers_are_factored_in_loops(size: int) -> None:
    a = random_matrix(size, 30 + size, symmetric=False)
    rng = np.random.default_rng(4)
    values = a.values + 1j * rng.uniform(-1, 1, len(a.values))
    shift = shift_of(a, 0.4)
    K = a._replace(values=values.real).full + 1j * a._replace(values=values.imag).full + np.diag(shift)
    plan = plan_of(a)
    lu, work, x = (np.zeros(k, dtype=complex) for k in (qd.size(plan), size, size))
    b = rng.normal(size=size) + 1j * rng.normal(size=size)
    assert qd.factor_in_loops(plan, values, shift, lu, work)
    qd.solve_in_loops(plan, lu, b, x, work)
    np.testing.assert_allclose(x, np.linalg.solve(K, b), rtol=0, atol=1e-12 * np.abs(x).max())


@pytest.mark.parametrize(
    "values",
    [[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], [1.0, np.nan, 1.0, 1.0], [np.inf, 1.0, 1.0, 2.0], [1, 2, 2, np.inf]],
    ids=["first pivot", "second pivot", "nan", "infinite first", "infinite second"],
)
def test_a_pivot_that_vanishes_or_is_not_finite_is_reported(way: str, values: list[float]) -> None:
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int64)
    plan = qd.plan(2, *cells.T, np.arange(4), np.arange(2), Kernels(4))
    assert plan.written_out[0] == (way == "written out")
    lu, work = np.zeros(qd.size(plan)), np.zeros(2)
    assert not qd.factor(plan, np.array(values, dtype=float), np.zeros(2), lu, work)
    assert qd.factor(plan, np.array([2.0, 1.0, 1.0, 2.0]), np.zeros(2), lu, work)  # and the next one is fine


def test_a_shift_makes_a_singular_matrix_factorable(way: str) -> None:
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.int64)
    plan = qd.plan(2, *cells.T, np.arange(4), np.array([1, 0]), Kernels(4))
    lu, work, x = np.zeros(qd.size(plan)), np.zeros(2), np.zeros(2)
    shift = np.array([0.5, 0.25])
    assert qd.factor(plan, np.ones(4), shift, lu, work)
    qd.solve(plan, lu, np.array([1.0, 3.0]), x, work)
    np.testing.assert_allclose(x, np.linalg.solve(np.ones((2, 2)) + np.diag(shift), [1.0, 3.0]), rtol=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_a_safe_order_is_a_permutation_that_waits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, 25)
    ends = np.cumsum([0, *sizes])
    numbers = rng.permutation(ends[-1])
    groups = [numbers[ends[k] : ends[k + 1]] for k in range(25)]
    links: list[set[int]] = [set() for _ in groups]
    for i, j in rng.integers(0, 25, (40, 2)).tolist():
        if i != j:
            links[i].add(j)
            links[j].add(i)
    rank = rng.permutation(25)
    after = [{j for j in links[k] if rank[j] < rank[k] and rng.random() < 0.6} for k in range(25)]
    order = qd.safe_order(groups, links, after)
    assert sorted(order.tolist()) == list(range(ends[-1]))
    place = np.argsort(order)
    for k, group in enumerate(groups):
        assert np.array_equal(order[place[group[0]] :][: len(group)], group)  # groups stay together
        for j in after[k]:
            assert place[groups[j]].max() < place[group].min()


def test_groups_that_wait_for_each_other_are_ordered_all_the_same() -> None:
    groups = [np.array([k]) for k in range(4)]
    order = qd.safe_order(groups, [{1}, {0, 2}, {1, 3}, {2}], [set(), {2}, {1}, set()])
    assert sorted(order.tolist()) == [0, 1, 2, 3]
    assert sorted(order[:2].tolist()) == [0, 3]  # those that wait for nothing come first


def test_the_order_avoids_fill() -> None:
    """An arrow matrix has none where its shaft comes last."""
    n = 30
    i = np.arange(1, n)
    rows, columns = np.concatenate([np.arange(n), i, 0 * i]), np.concatenate([np.arange(n), 0 * i, i])
    order = qd.safe_order(
        [np.array([k]) for k in range(n)], [set(range(1, n)), *[{0} for _ in i]], [set() for _ in range(n)]
    )
    plan = qd.plan(n, rows, columns, np.arange(len(rows)), order, Kernels(4))
    assert len(plan.column) == len(rows)
    assert order[-1] == 0 or order[-2] == 0
