"""Generalised steepest descent: its two parts have the properties that define them."""

from __future__ import annotations

import numpy as np
import pytest
from closed_forms import HOCK_SCHITTKOWSKI

import kempe as kp
from kempe.design.problem import Scales
from kempe.design.program import Program
from kempe.design.steepest_descent import Account, Rows
from kempe.design.trail import Trail


def rows_at(number: str, seed: int) -> tuple[Rows, np.ndarray]:
    known = HOCK_SCHITTKOWSKI[number]
    problem = known.problem()
    rng = np.random.default_rng(seed)
    point = problem.slopes(np.clip(problem.start + rng.normal(size=len(problem.start)), problem.lower, problem.upper))
    program = Program(Trail(problem, Scales.at(problem, point), 1e-6, 1.0), point)
    found = program.slopes(program.start)
    return Rows(program, program.start, found), found.df


@pytest.mark.parametrize("number", ["24", "35", "43", "71"])
def test_the_two_parts(number: str) -> None:
    """Reduction along the active rows, correction of what they miss, at right angles (eqs. 4.18 to 4.23)."""
    for seed in range(20):
        rows, L0 = rows_at(number, seed)
        for a in (1e-3, 0.1, 1.0):
            change = rows.change(L0, a)
            held = np.flatnonzero(change.multipliers)
            L, c = rows.L[held], rows.c[held]
            assert L @ change.reduction == pytest.approx(np.zeros(len(held)), abs=1e-10)
            assert change.reduction @ change.correction == pytest.approx(0.0, abs=1e-10)
            assert change.step == pytest.approx(-a * change.reduction + change.correction)
            assert L0 @ change.reduction >= -1e-12
            if np.linalg.matrix_rank(L) == len(held):
                assert L @ change.correction == pytest.approx(-c, abs=1e-8)


@pytest.mark.parametrize("number", ["24", "35", "43", "71"])
def test_the_step_solves_the_quadratic_problem(number: str) -> None:
    """No row is passed, multipliers have their signs, and no feasible step is better (against SciPy's SLSQP)."""
    from scipy.optimize import minimize

    for seed in range(20):
        rows, L0 = rows_at(number, seed)
        a = 0.1
        change = rows.change(L0, a)
        low = np.where(rows.equal, 0.0, -np.inf)
        left = rows.c + rows.L @ change.step
        if (left > 1e-6).any():
            continue  # (rows that contradict each other are corrected as far as they go)
        assert (left >= low - 1e-6).all()
        assert (change.multipliers[~rows.equal] >= -1e-8).all()
        value = lambda d: L0 @ d + d @ d / (2 * a)  # noqa: E731, B023
        rules = [
            {"type": "eq", "fun": lambda d: (rows.c + rows.L @ d)[rows.equal]},  # noqa: B023
            {"type": "ineq", "fun": lambda d: -(rows.c + rows.L @ d)[~rows.equal]},  # noqa: B023
        ]
        best = minimize(value, change.step, constraints=rules[0 if rows.equal.any() else 1 :], options={"ftol": 1e-14})
        assert value(change.step) <= best.fun + 1e-7


def test_every_iteration_is_told() -> None:
    found = kp.solve_design(HOCK_SCHITTKOWSKI["43"].problem(), method="steepest-descent")
    accounts = [it.account for it in found.history]
    assert all(isinstance(account, Account) for account in accounts)
    last = accounts[-1]
    assert set(last.active) == {"g1 <= 8", "g3 <= 5"} and not last.violated
    assert last.reduction < 1e-5 and last.correction < 1e-5
    assert "held by g1 <= 8" in found.account()


def test_the_first_step_is_the_reduction_ratio() -> None:
    """The first step lowers the objective by three percent, to first order."""
    known = HOCK_SCHITTKOWSKI["1"]
    found = kp.solve_design(known.problem(), method="steepest-descent")
    first = found.history[0]
    problem = known.problem()
    scale = Scales.at(problem, problem.slopes(problem.start)).objective
    assert first.account.length * first.account.reduction**2 * scale == pytest.approx(0.03 * first.objective, rel=1e-6)
