"""Functions written on one sheet: nothing computed twice, nothing lost, the same digits."""

import os
from collections.abc import Iterator

import casadi as ca
import numpy as np
import pytest

from kempe.kernels import compile_function
from kempe.kernels.compiler import call_address, compile_sheet
from kempe.kernels.sheet import Sheet


@pytest.fixture(autouse=True, scope="module")
def no_disk_cache() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "KEMPE_CACHE", "")
        yield


def called(sheet: Sheet, *vectors: np.ndarray) -> None:
    kernel = compile_sheet(sheet)  # (kept while its machine code runs)
    call_address(kernel.address, *(vector.ctypes.data for vector in vectors))


def test_what_several_functions_need_is_computed_once() -> None:
    x = ca.SX.sym("x", 2)
    f = compile_function(x, ca.vertcat(ca.sin(x[0]) * x[1], ca.cos(x[0]) + 1))
    g = compile_function(x, ca.sin(x[0]) ** 2)
    sheet = Sheet()
    values = [v for k in (f, g, f) for v in sheet.put_in(k.steps, lambda place: sheet.read(0, place), k.n_out)]
    for k, value in enumerate(values):
        sheet.write(1, k, value)
    assert sum(step.op == ca.OP_SIN for step in sheet.steps) == 1
    at, out = np.array([0.7, -1.3]), np.zeros(5)
    called(sheet, at, out)
    assert np.array_equal(out, np.concatenate([f(at), g(at), f(at)]))


def test_a_vector_may_be_read_and_written() -> None:
    sheet = Sheet()
    a, b = sheet.read(0, 0), sheet.read(0, 1)
    sheet.write(0, 0, sheet.add(a, b))
    sheet.write(0, 1, sheet.subtract(a, b))  # of what was given, not of what was written
    x = np.array([3.0, 5.0])
    called(sheet, x)
    assert np.array_equal(x, [8.0, -2.0])


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8])
def test_the_largest_is_what_is_no_number_where_there_is_such(count: int) -> None:
    sheet = Sheet()
    sheet.write(1, 0, sheet.largest([sheet.read(0, k) for k in range(count)]))
    x, out = np.random.default_rng(count).uniform(0, 9, count), np.zeros(1)
    called(sheet, x, out)
    assert out[0] == x.max()
    for k in range(count):
        y = x.copy()
        y[k] = np.nan
        called(sheet, y, out)
        assert np.isnan(out[0])
        y[k] = np.inf
        called(sheet, y, out)
        assert out[0] == np.inf
