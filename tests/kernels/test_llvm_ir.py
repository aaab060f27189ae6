"""Machine code of an expression says what CasADi and the C library say."""

import math
import os
from collections.abc import Callable, Iterator
from itertools import product

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erf

import kempe as kp
from kempe.kernels import UnsupportedOperation, compile_function, emit
from kempe.kernels.llvm_ir import ARITHMETIC, COMPARISONS
from kempe.kernels.steps import steps_of

FORWARD = {"allow_reverse": False}  # as kempe.system.families differentiates

#: (CasADi, NumPy) of each operation of one argument.
UNARY: dict[str, tuple[Callable, Callable]] = {
    "negative": (lambda a: -a, np.negative),
    "square": (lambda a: a**2, np.square),
    "twice": (lambda a: 2 * a, lambda a: a + a),
    "inverse": (lambda a: 1 / a, np.reciprocal),
    "cube": (lambda a: a**3, lambda a: np.power(a, 3.0)),
    "power 1.5": (lambda a: a**1.5, lambda a: np.power(a, 1.5)),
    "power -2": (lambda a: a**-2, lambda a: np.power(a, -2.0)),
    "sqrt": (ca.sqrt, np.sqrt),
    "fabs": (ca.fabs, np.fabs),
    "sign": (ca.sign, np.sign),
    "floor": (ca.floor, np.floor),
    "ceil": (ca.ceil, np.ceil),
    "sin": (ca.sin, np.sin),
    "cos": (ca.cos, np.cos),
    "tan": (ca.tan, np.tan),
    "asin": (ca.asin, np.arcsin),
    "acos": (ca.acos, np.arccos),
    "atan": (ca.atan, np.arctan),
    "sinh": (ca.sinh, np.sinh),
    "cosh": (ca.cosh, np.cosh),
    "tanh": (ca.tanh, np.tanh),
    "asinh": (ca.asinh, np.arcsinh),
    "acosh": (ca.acosh, np.arccosh),
    "atanh": (ca.atanh, np.arctanh),
    "exp": (ca.exp, np.exp),
    "expm1": (ca.expm1, np.expm1),
    "log": (ca.log, np.log),
    "log1p": (ca.log1p, np.log1p),
    "erf": (ca.erf, erf),
    "not": (ca.logic_not, lambda a: float(a == 0)),
}


def _remainder(a: float, b: float) -> float:
    return math.nan if math.isinf(a) or b == 0 else math.remainder(a, b)


def _power(a: float, b: float) -> float:
    return math.inf if (a, b) == (-math.inf, 0.5) else np.power(a, b)  # NumPy takes a square root there, C does not


#: (CasADi, NumPy) of each operation of two arguments.
BINARY: dict[str, tuple[Callable, Callable]] = {
    "add": (lambda a, b: a + b, np.add),
    "subtract": (lambda a, b: a - b, np.subtract),
    "multiply": (lambda a, b: a * b, np.multiply),
    "divide": (lambda a, b: a / b, np.divide),
    "power": (lambda a, b: a**b, _power),
    "atan2": (ca.atan2, np.arctan2),
    "hypot": (ca.hypot, np.hypot),
    "copysign": (ca.copysign, np.copysign),
    "fmod": (ca.fmod, np.fmod),
    "remainder": (ca.remainder, _remainder),
    "fmin": (ca.fmin, np.fmin),
    "fmax": (ca.fmax, np.fmax),
}

COMPARE: dict[str, tuple[Callable, Callable]] = {
    "less": (lambda a, b: a < b, np.less),
    "less or equal": (lambda a, b: a <= b, np.less_equal),
    "equal": (lambda a, b: a == b, np.equal),
    "different": (lambda a, b: a != b, np.not_equal),
}

LOGIC: dict[str, tuple[Callable, Callable]] = {
    "and": (ca.logic_and, lambda a, b: a != 0 and b != 0),
    "or": (ca.logic_or, lambda a, b: a != 0 or b != 0),
    "if": (lambda a, b: ca.if_else(a, b, 0), lambda a, b: b if a != 0 else 0.0),
    "if else": (lambda a, b: ca.if_else(a, b, 1 - b), lambda a, b: b if a != 0 else 1 - b),
}

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 1e300, -1e300, 1e-300, -5e-324, math.inf, -math.inf, math.nan]


@pytest.fixture(autouse=True, scope="module")
def no_disk_cache() -> Iterator[None]:
    """Random expressions are not worth keeping."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(os.environ, "KEMPE_CACHE", "")
        yield


def same_double(a: float, b: float) -> bool:
    """Equal as C programs see it: NaN equals NaN, and the sign of a zero counts."""
    return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def near(a: float, b: float, slack: float = 0.0) -> bool:
    return same_double(a, b) or a == b or abs(a - b) <= 1e-13 * abs(b) + slack


# --- each operation alone ---------------------------------------------------------------------------------------


def test_the_tables_here_cover_every_operation_that_is_supported() -> None:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    expressions = [f(a) for f, _ in UNARY.values()]
    expressions += [f(a, b) for f, _ in (BINARY | COMPARE | LOGIC).values()]
    function = ca.Function("all", [a, b], expressions)
    covered = {function.instruction_id(k) for k in range(function.n_instructions())}
    assert set(ARITHMETIC) | set(COMPARISONS) <= covered
    assert {ca.OP_NOT, ca.OP_AND, ca.OP_OR, ca.OP_IF_ELSE_ZERO, ca.OP_SIGN} <= covered


@pytest.mark.parametrize("name", UNARY)
def test_operation_of_one_argument_on_special_values(name: str) -> None:
    symbolic, numeric = UNARY[name]
    x = ca.SX.sym("x")
    kernel, function = compile_function(x, symbolic(x)), ca.Function("f", [x], [symbolic(x)])
    for a in SPECIAL:
        value, expected = kernel(np.array([a]))[0], float(function(a))
        if name in ("sin", "cos") and math.isfinite(expected):  # (its own: see test_trigonometry)
            assert abs(value - expected) <= np.spacing(abs(expected)), a
        else:
            assert same_double(value, expected), a
        with np.errstate(all="ignore"):
            assert near(value, float(numeric(np.float64(a)))), a


@pytest.mark.parametrize("name", BINARY | COMPARE | LOGIC)
def test_operation_of_two_arguments_on_special_values(name: str) -> None:
    symbolic, numeric = (BINARY | COMPARE | LOGIC)[name]
    x = ca.SX.sym("x", 2)
    expression = symbolic(x[0], x[1])
    kernel, function = compile_function(x, expression), ca.Function("f", [x], [expression])
    for a, b in product(SPECIAL, SPECIAL):
        value = kernel(np.array([a, b]))[0]
        assert same_double(value, float(function([a, b]))), (a, b)
        with np.errstate(all="ignore"):
            assert near(value, float(numeric(np.float64(a), np.float64(b)))), (a, b)


def test_constants_keep_every_bit() -> None:
    values = [*(v for v in SPECIAL if v != 0), 0.0, math.pi, 0.1, -1e-310, 1.7976931348623157e308]
    x = ca.SX.sym("x")
    kernel = compile_function(x, ca.vertcat(*[ca.SX(v) for v in values]))
    assert all(map(same_double, kernel(np.zeros(1)), values))


def test_outputs_and_inputs_keep_their_order() -> None:
    x = ca.SX.sym("x", 5)
    kernel = compile_function(x, ca.vertcat(x[3], 7.0, x[0], x[3], 0.0, x[4]))  # x[1] and x[2] are not used
    np.testing.assert_array_equal(kernel(np.arange(5.0) + 10), [13, 7, 10, 13, 0, 14])


# --- random expressions -----------------------------------------------------------------------------------------

NUMBERS = sorted(set(UNARY) - {"not"}) + sorted(BINARY) + ["choose", "count"]
TRUTHS = [*sorted(COMPARE), "and", "or", "not"]


def built(program: list[tuple[str, int, int, int]], x: ca.SX) -> list[ca.SX]:
    """The results of a list of operations, each on earlier results (the operands are counted backwards)."""
    numbers = [ca.SX(c) for c in (0.5, -1.25, 2.0, 1e-3, -40.0)] + ca.vertsplit(x)
    truths = [x[0] < 1, x[1] == x[2]]
    for name, *places in program:
        pool = truths if name in ("and", "or", "not") else numbers
        a, b = (pool[-1 - k % len(pool)] for k in places[:2])
        truth = truths[-1 - places[2] % len(truths)]
        if name == "choose":
            numbers.append(ca.if_else(truth, a, b))
        elif name == "count":  # not as a factor: a product with a truth value is a choice here, even beside a NaN
            numbers.append(truth + 0.25)
        elif name in UNARY:
            (truths if name == "not" else numbers).append(UNARY[name][0](a))
        else:
            (truths if name in TRUTHS else numbers).append((BINARY | COMPARE | LOGIC)[name][0](a, b))
    return numbers[8:]


operations = st.tuples(st.sampled_from(NUMBERS + TRUTHS), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
coordinates = st.floats(-3, 3) | st.sampled_from(SPECIAL)


@settings(max_examples=300, deadline=None, derandomize=True, database=None)
@given(
    program=st.lists(operations, min_size=5, max_size=40),
    points=st.lists(st.tuples(coordinates, coordinates, coordinates), min_size=4, max_size=4),
)
def test_random_expressions_agree_with_casadi(program: list, points: list) -> None:
    x = ca.SX.sym("x", 3)
    y = ca.densify(ca.vertcat(x, *built(program, x)))
    kernel, function = compile_function(x, y), ca.Function("f", [x], [y])
    for point in map(np.array, points):
        expected = np.array(function(point)).ravel()
        # what rounding the inputs does to the value is how well conditioned it is
        moved = np.array([np.array(function(point * (1 + k * 2.0**-52))).ravel() for k in (-2, -1, 1, 2)])
        with np.errstate(invalid="ignore"):
            spread = np.nan_to_num(np.abs(moved - expected).max(axis=0), nan=0.0, posinf=0.0)
        for value, truth, slack in zip(kernel(point), expected, spread, strict=True):
            assert near(value, truth, 10 * slack), (str(y), point)


# --- the untaken side of a choice -------------------------------------------------------------------------------

#: expression, and where: (x, value, first derivative, second derivative), derivatives of the side that is taken.
CHOICES: dict[str, tuple[Callable, list[tuple[float, float, float, float]]]] = {
    "sqrt or nothing": (
        lambda x: ca.if_else(x > 0, ca.sqrt(x), 0),
        [(-1, 0, 0, 0), (0, 0, 0, 0), (-0.0, 0, 0, 0), (4, 2, 1 / 4, -1 / 32)],
    ),
    "a multiple of it": (
        lambda x: 3 * ca.if_else(x > 0, ca.sqrt(x), 0) / 2,
        [(-1, 0, 0, 0), (0, 0, 0, 0), (4, 3, 3 / 8, -3 / 64)],
    ),
    "inside other functions": (
        lambda x: ca.exp(ca.if_else(x > 0, ca.log(x), 0)) * ca.cos(ca.if_else(x > 0, 0, x)),
        [(-1, math.cos(1), math.sin(1), -math.cos(1)), (0, 1, 0, -1), (2, 2, 1, 0)],
    ),
    "inverse": (lambda x: ca.if_else(x != 0, 1 / x, 0), [(0, 0, 0, 0), (-2, -1 / 2, -1 / 4, -1 / 4)]),
    "sin(x)/x": (
        lambda x: ca.if_else(ca.fabs(x) < 1e-4, 1 - x**2 / 6, ca.sin(x) / x),
        [(0, 1, 0, -1 / 3), (math.pi, 0, -1 / math.pi, 2 / math.pi**2)],
    ),
    "nested": (
        lambda x: ca.if_else(
            x > 0, ca.if_else(x > 1, ca.log(x - 1), ca.sqrt(x)), ca.if_else(x < -1, ca.sqrt(-1 - x), x**3)
        ),
        [(-5, 2, -1 / 4, -1 / 32), (-1, -1, 3, -6), (0, 0, 0, 0), (1, 1, 1 / 2, -1 / 4), (2, 0, 1, -1)],
    ),
    "and": (
        lambda x: ca.if_else(ca.logic_and(x > 0, x < 2), ca.sqrt(x) * ca.sqrt(2 - x), 0),
        [(-1, 0, 0, 0), (0, 0, 0, 0), (1, 1, 0, -1), (2, 0, 0, 0), (3, 0, 0, 0)],
    ),
    "a condition that is itself undefined": (
        lambda x: ca.if_else(ca.sqrt(x) > 1, ca.sqrt(x), x**2),
        [(-3, 9, -6, 2), (0, 0, 0, 2), (4, 2, 1 / 4, -1 / 32)],
    ),
    "the choice made inside": (
        lambda x: ca.if_else(x > 0, x, 0) ** 1.5,
        [(-1, 0, 0, 0), (0, 0, 0, 0), (4, 8, 3, 3 / 8)],
    ),
    "greatest": (lambda x: ca.fmax(x, 0) ** 1.5, [(4, 8, 3, 3 / 8), (-1, 0, 0, 0)]),
    "smallest": (lambda x: ca.fmin(x, 0) ** 2, [(-3, 9, -6, 2), (0, 0, 0, 0.5), (2, 0, 0, 0)]),
}


@pytest.mark.parametrize("name", CHOICES)
def test_the_untaken_side_of_a_choice_leaves_no_trace(name: str) -> None:
    expression, expected = CHOICES[name]
    x = ca.SX.sym("x")
    value = expression(x)
    first = ca.jacobian(value, x, FORWARD)
    second = ca.jacobian(first, x, FORWARD)
    kernel = compile_function(x, ca.vertcat(value, first, second))
    for at, *truth in expected:
        np.testing.assert_allclose(kernel(np.array([at])), truth, rtol=1e-14, atol=1e-15, err_msg=f"at {at}")


# --- what has no machine code -----------------------------------------------------------------------------------


def test_an_unsupported_operation_is_named() -> None:
    x = ca.SX.sym("x")
    with pytest.raises(UnsupportedOperation, match="'erfinv'"):
        emit(steps_of(ca.Function("f", [x], [ca.erfinv(x)])))
    with pytest.raises(UnsupportedOperation, match="'printme'"):
        compile_function(x, x.printme(0))


def test_an_unsupported_operation_in_a_constraint_names_the_constraint() -> None:
    m = kp.Mechanism("probit")
    body = m.body("body")
    m.constraint("quantile", lambda b: ca.erfinv(b.x) - 0.3, body)
    with pytest.raises(kp.ModelError, match=r"'quantile'.*'erfinv'"):
        m.assemble()


def test_a_stray_symbol_is_named() -> None:
    x, stray = ca.SX.sym("x"), ca.SX.sym("stray")
    with pytest.raises(ValueError, match="stray"):
        compile_function(x, x * stray)


def test_a_kernel_refuses_a_vector_of_the_wrong_length() -> None:
    x = ca.SX.sym("x", 2)
    with pytest.raises(ValueError, match="expects 2"):
        compile_function(x, x[0] + x[1])(np.zeros(3))
