"""Sine and cosine are within a unit of the last digit, and the same for one angle and for several side by side."""

import math
import os
from collections.abc import Iterator

import casadi as ca
import numpy as np
import pytest

from kempe.kernels import compile_function
from kempe.kernels.trigonometry import FAR


@pytest.fixture(autouse=True, scope="module")
def no_disk_cache() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "KEMPE_CACHE", "")
        yield


def both(count: int) -> ca.SX:
    x = ca.SX.sym("x", count)
    return compile_function(x, ca.vertcat(ca.sin(x), ca.cos(x)))


def exact(x: float) -> tuple[np.longdouble, np.longdouble]:
    """Sine and cosine of a number, to more digits than it has."""
    long = np.longdouble(x)
    return np.sin(long), np.cos(long)


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no numbers of more digits here")
@pytest.mark.parametrize("size", [1e-300, 1e-9, 0.1, 0.8, 2.0, 7.0, 1e3, 1e6, 1e9])
def test_they_are_within_a_unit_of_the_last_digit(size: float) -> None:
    kernel = both(1)
    for x in np.random.default_rng(1).uniform(-size, size, 3000):
        for value, truth in zip(kernel(np.array([x])), exact(x), strict=True):
            assert abs(np.longdouble(value) - truth) <= 0.85 * np.spacing(abs(float(truth))), x


def test_next_to_their_zeros_they_are_as_small_as_they_should_be() -> None:
    kernel, right = both(1), 1.5707963267948966
    left = 6.123233995736766e-17  # what the number nearest to a right angle leaves of it
    for quarter in (1, 2, 3, 4):
        sine, cosine = kernel(np.array([quarter * right]))
        small = cosine if quarter % 2 else sine
        assert abs(abs(small) - quarter * left) < 1e-28
        assert abs(sine if quarter % 2 else cosine) == 1.0


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 9, 20])
def test_side_by_side_they_have_the_same_digits(count: int) -> None:
    one, many = both(1), both(count)
    rng = np.random.default_rng(count)
    for _ in range(200):
        x = rng.normal(size=count) * 10.0 ** rng.uniform(-3, 8, count)
        expected = np.array([one(x[k : k + 1]) for k in range(count)]).T.ravel()
        assert np.array_equal(many(x), expected)


@pytest.mark.parametrize("far", [FAR, 1.0000001 * FAR, 1e15, 1e22, 1e300, -1e300])
def test_too_large_to_be_reduced_they_are_those_of_the_c_library(far: float) -> None:
    many = both(3)(np.array([0.25, far, -3.0]))
    assert many[1] == math.sin(far) and many[4] == math.cos(far)
    assert np.array_equal(many[[0, 2, 3, 5]], both(2)(np.array([0.25, -3.0])))  # the others are as they were


def test_zeros_keep_their_sign_and_what_is_no_number_stays() -> None:
    kernel = both(2)
    values = kernel(np.array([0.0, -0.0]))
    assert np.array_equal(np.signbit(values), [False, True, False, False]) and np.array_equal(values, [0, 0, 1, 1])
    assert np.isnan(kernel(np.array([np.inf, np.nan]))).all()


def test_they_are_sines_of_expressions_too() -> None:
    x = ca.SX.sym("x", 2)
    kernel = compile_function(x, ca.sin(x[0] * x[1]) ** 2 + ca.cos(x[0] * x[1]) ** 2 - 1)
    for point in np.random.default_rng(3).normal(size=(100, 2)) * 30:
        assert abs(kernel(point)[0]) <= 4e-16
