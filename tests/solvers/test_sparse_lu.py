"""Fixed-pattern LU against numpy, with good pivots, with poor ones, and its determinant's sign."""

from __future__ import annotations

import numpy as np
import pytest

from kempe.solvers.sparse_lu import FULL, GROWTH, determinant_sign, factor, plan_lu, size_lu, solve, solve_transposed


def pattern(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A random pattern with a full transversal."""
    cells = {(i, int(j)) for i, j in enumerate(rng.permutation(n))}
    cells |= {(int(i), int(j)) for i, j in rng.integers(0, n, (3 * n, 2))}
    rows, columns = np.array(sorted(cells, key=lambda c: (c[1], c[0]))).T
    return rows, columns


@pytest.mark.parametrize("n", [1, 2, 5, 9, 30, 90])
@pytest.mark.parametrize("seed", range(5))
def test_solves_both_ways_and_knows_the_sign_of_the_determinant(n, seed):
    rng = np.random.default_rng(seed)
    rows, columns = pattern(n, rng)
    plan = plan_lu(n, rows, columns, rng.normal(size=len(rows)))  # pivots of another matrix
    lu, work, x, b = np.zeros(size_lu(plan)), np.zeros(n), np.zeros(n), rng.normal(size=n)
    values = rng.normal(size=len(rows))
    A = np.zeros((n, n))
    A[rows, columns] = values
    if not factor(plan, values, lu, work) < GROWTH:
        assert n > FULL  # the caller must plan again
        return
    solve(plan, lu, b, x, work)
    assert np.abs(A @ x - b).max() < 1e-9 * np.abs(x).max()
    solve_transposed(plan, lu, b, x, work)
    assert np.abs(A.T @ x - b).max() < 1e-9 * np.abs(x).max()
    assert determinant_sign(plan, lu) == np.linalg.slogdet(A)[0]


def test_poor_pivots_are_replaced_in_a_small_matrix_and_reported_in_a_large_one():
    rng = np.random.default_rng(0)
    for n in (6, FULL + 10):
        grid = np.arange(n)
        rows, columns = np.concatenate([grid, grid[1:], grid[:-1]]), np.concatenate([grid, grid[:-1], grid[1:]])
        first = np.concatenate([np.full(n, 5.0), rng.uniform(0.5, 1, 2 * n - 2)])
        plan = plan_lu(n, rows, columns, first)
        lu, work, x, b = np.zeros(size_lu(plan)), np.zeros(n), np.zeros(n), rng.normal(size=n)
        values = first.copy()
        values[:n:2] = 0.0  # the chosen pivots vanish
        A = np.zeros((n, n))
        A[rows, columns] = values
        growth = factor(plan, values, lu, work)
        if n > FULL:
            assert not growth < GROWTH
            continue
        assert growth < GROWTH
        solve(plan, lu, b, x, work)
        assert np.abs(A @ x - b).max() < 1e-12
        solve_transposed(plan, lu, b, x, work)
        assert np.abs(A.T @ x - b).max() < 1e-12
        assert determinant_sign(plan, lu) == np.linalg.slogdet(A)[0]


def test_a_singular_matrix_is_reported():
    rows, columns = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    plan = plan_lu(2, rows, columns, np.array([1.0, 2.0, 3.0, 4.0]))
    assert factor(plan, np.array([1.0, 1.0, 1.0, 1.0]), np.zeros(size_lu(plan)), np.zeros(2)) == np.inf
