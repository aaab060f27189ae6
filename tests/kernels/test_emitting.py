"""Long functions cut into pieces, and Jacobians computed column by column, say the same as those written out."""

import os
from collections.abc import Iterator

import casadi as ca
import numpy as np
import pytest

from kempe.kernels import Columns, UnsupportedOperation, compile_columns, compile_function, compiler, emit, emitting
from kempe.kernels.steps import steps_of

FORWARD = {"allow_reverse": False}


@pytest.fixture(autouse=True, scope="module")
def no_disk_cache() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "KEMPE_CACHE", "")
        yield


def long_expression(seed: int, length: int = 400) -> tuple[ca.SX, ca.SX]:
    """Forty values made of five, with choices whose untaken side is undefined."""
    rng = np.random.default_rng(seed)
    x = ca.SX.sym("x", 5)
    made = ca.vertsplit(x)
    for _ in range(length):
        a, b = (made[int(rng.integers(max(0, len(made) - 30), len(made)))] for _ in range(2))
        choices = (
            lambda a, b: ca.sin(a) * b,
            lambda a, b: a - b,
            lambda a, b: ca.if_else(a > 0, ca.sqrt(a), b),
            ca.fmax,
            lambda a, b: a / (2 + b * b),
            lambda a, b: ca.cos(a) + (b < 0.1) * a,
        )
        made.append(choices[int(rng.integers(6))](a, b))
    return x, ca.vertcat(*made[-40:])


@pytest.mark.parametrize("piece", [2, 7, 60])
@pytest.mark.parametrize("seed", [0, 1])
def test_pieces_give_the_same_digits_as_the_whole(piece: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = long_expression(seed)
    whole = compile_function(x, y)
    monkeypatch.setattr(emitting, "WHOLE", piece)
    monkeypatch.setattr(emitting, "PIECE", piece)
    cut = compile_function(x, y)
    assert cut.address != whole.address
    for point in np.random.default_rng(seed).normal(size=(20, 5)):
        np.testing.assert_array_equal(cut(point), whole(point))


@pytest.mark.parametrize("piece", [3, 50, 2000])
def test_columns_are_those_of_the_jacobian(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emitting, "WHOLE", piece)
    monkeypatch.setattr(emitting, "PIECE", piece)
    x, y = long_expression(3)
    s = ca.SX.sym("s", 5)
    rows, columns = (np.array(places) for places in ca.Sparsity.dense(40, 5).get_triplet())
    by_columns = compile_columns(x, y, s, ca.jtimes(y, x, s), Columns(rows, columns, np.arange(5), at=7))
    jacobian = ca.densify(ca.jacobian(y, x, FORWARD))
    written_out = compile_function(x, ca.vertcat(y[:7], ca.vec(jacobian), y[7:]))
    for point in np.random.default_rng(piece).normal(size=(20, 5)):
        np.testing.assert_allclose(by_columns(point), written_out(point), rtol=1e-12, atol=1e-13)


def test_variables_that_share_no_row_move_together() -> None:
    """A band of three diagonals in 30 variables: three directions give all."""
    n = 30
    x, s = ca.SX.sym("x", n), ca.SX.sym("s", n)
    y = ca.vertcat(*[ca.sin(x[k]) * (x[k - 1] if k else 1.0) + (x[k + 1] ** 2 if k < n - 1 else 0.0) for k in range(n)])
    jacobian = ca.jacobian(y, x)
    rows, columns = (np.array(places) for places in jacobian.sparsity().get_triplet())
    pattern = Columns(rows, columns, np.arange(n) % 3, at=0)
    assert pattern.rounds == 1
    kernel = compile_columns(x, ca.SX(0, 1), s, ca.jtimes(y, x, s), pattern)
    point = np.linspace(-1, 2, n)
    expected = np.array(ca.Function("J", [x], [jacobian])(point))
    np.testing.assert_allclose(kernel(point), expected[rows, columns], rtol=1e-15)


def test_rows_that_no_direction_changes_have_their_place_too() -> None:
    """All rows of a derivative are written, so there must be room for those behind the last non-zero one."""
    x, s = ca.SX.sym("x", 2), ca.SX.sym("s", 2)
    along = ca.vertcat(2 * x[0] * s[0], ca.SX.zeros(400))
    pattern = Columns(np.array([0]), np.array([0]), np.array([0, 0]), at=0)
    text = emit(steps_of(ca.Function("f", [x, s], [ca.SX(0, 1), ca.densify(along)])), "f", pattern)
    assert "%r = alloca <8 x double>, i64 401" in text
    kernel = compile_columns(x, ca.SX(0, 1), s, along, pattern)
    np.testing.assert_array_equal(kernel(np.array([3.0, 1.0])), [6.0])


@pytest.mark.parametrize("limits", [(0, 10**9), (0, 0)])
def test_however_little_is_optimised_the_values_are_the_same(limits: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = long_expression(5)
    expected = compile_function(x, y)
    monkeypatch.setattr(compiler, "UNCHANGED", limits[0])
    monkeypatch.setattr(compiler, "SIMPLEST", limits[1])
    monkeypatch.setattr(emitting, "WHOLE", 100)  # another text, so that it is compiled again
    kernel = compile_function(x, y)
    for point in np.random.default_rng(5).normal(size=(20, 5)):
        np.testing.assert_array_equal(kernel(point), expected(point))


def test_a_derivative_that_is_not_linear_in_the_direction_is_refused() -> None:
    x, s = ca.SX.sym("x"), ca.SX.sym("s")
    one = np.zeros(1, dtype=np.int64)
    with pytest.raises(UnsupportedOperation, match="'sin' is not linear"):
        emit(steps_of(ca.Function("f", [x, s], [x, ca.sin(s) * x])), "f", Columns(one, one, one, 0))
