"""Expressions: values as Python's, written back to the same, and nothing but arithmetic."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kempe as kp
from kempe.model.expressions import FUNCTIONS, parse, write, written_name

A, B = ca.SX.sym("a"), ca.SX.sym("b")
NAMES = {"a": A, "rod length": B}

leaf = st.sampled_from(["a", "{rod length}", "2", "0.5", "1e-3", "pi", "-3"])
tree = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", " - ", " * ", " / "]), inner).map(lambda t: f"({t[0]}{t[1]}{t[2]})"),
        inner.map(lambda e: f"({e})**2"),
        inner.map(lambda e: f"-{e}"),
        st.tuples(st.sampled_from([f for f, (_, n) in FUNCTIONS.items() if n == 1]), inner).map(
            lambda t: f"{t[0]}({t[1]})"
        ),
        st.tuples(st.sampled_from(["atan2", "min", "max", "hypot", "copysign"]), inner, inner).map(
            lambda t: f"{t[0]}({t[1]}, {t[2]})"
        ),
        st.tuples(inner, inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} < {t[2]} else {t[3]})"),
    ),
    max_leaves=12,
)


def value(expression: ca.SX, a: float, b: float) -> float:
    return float(ca.Function("f", [A, B], [expression])(a, b))


@settings(max_examples=300, deadline=None)
@given(tree, st.floats(-3, 3), st.floats(-3, 3))
def test_what_is_written_reads_back_to_the_same(text, a, b):
    try:
        expression = parse(text, NAMES)
    except kp.ModelError as error:
        assert "not finite" in str(error)  # asin(2), 1/0
        return
    again = parse(write(expression, NAMES), NAMES)
    first, second = value(expression, a, b), value(again, a, b)
    assert first == second or (math.isnan(first) and math.isnan(second)) or abs(first - second) <= 1e-14 * abs(first)


def test_values_are_those_of_python():
    for text in ("2**3**2", "-2**2", "1 - 2 - 3", "8 / 4 / 2", "3 if 2 > 1 else 4", "not 0", "1 < 2 and 2 < 1", "+5"):
        assert value(parse(text, {}), 0, 0) == float(eval(text))
    assert value(parse("hypot(3, 4) + mod(7, 4) + abs(-2) + if_else(1, 5, 6)", {}), 0, 0) == 15.0
    assert value(parse("sin(pi / 6) * {rod length}", NAMES), 0, 4) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not an expression"),
        ("a +", "not an expression"),
        ("c + 1", "unknown name 'c'"),
        ("{rod  length}", "unknown name 'rod  length'"),
        ("a.b.c", "unknown name 'a.b.c'"),
        ("(a + 1).b", "part.coordinate"),
        ("a[0]", "Subscript is not allowed"),
        ("open('x')", "only these functions"),
        ("sin(1, 2)", "takes 1 argument"),
        ("sin(x=1)", "only these functions"),
        ("1 < 2 < 3", "one comparison"),
        ("a & 1", "operator BitAnd"),
        ("asin(2)", "not finite"),
        ("a * (1 / 0)", "not finite"),
        ("'text'", "not a number"),
        ("1" + "+1" * 3000, "too long|nested"),
        ("(" * 90 + "1" + ")" * 90 + "+" + "-" * 90 + "1", "nested"),
        ("(a := 1)", "NamedExpr is not allowed"),
        ("[x for x in a]", "ListComp is not allowed"),
        ("u = a", "Assign is not allowed"),
        ("u = v = a; u", "only names"),
        ("a.x = 1; a", "only names"),
        ("a; a", "only names"),
        ("import os; a", "only names"),
        ("u = u + 1; u", "unknown name 'u'"),
        ("del a", "Delete is not allowed"),
        (";", "not an expression"),
    ],
)
def test_anything_else_is_refused(text, says):
    with pytest.raises(kp.ModelError, match=says):
        parse(text, NAMES)


def test_names_are_quoted_where_needed():
    assert [written_name(n) for n in ("a", "rod length", "crank.angle", "lambda", "pi", "b c.x", "été")] == [
        "a", "{rod length}", "crank.angle", "{lambda}", "{pi}", "{b c.x}", "{été}",
    ]  # fmt: skip
    assert np.isclose(value(parse("{a}*2", NAMES), 1.5, 0), 3.0)


def test_terms_may_be_named_first():
    assert value(parse("u = a + 1; v = u * u; v - u", NAMES), 2.0, 0) == 6.0
    assert value(parse("a = 5; a + {a}", NAMES), 2.0, 0) == 7.0  # the user's own stands in braces


def grown(seed: int, size: int) -> ca.SX:
    """A random expression of many operations, in which terms are used again and again."""
    rng = np.random.default_rng(seed)
    terms = [A, B, ca.SX(0.5)]
    join = [lambda x, y: x + y, lambda x, y: x * ca.cos(y), lambda x, y: x - y / 3, ca.atan2, ca.fmax]
    for _ in range(size):
        x, y = (terms[-1 - int(k)] for k in rng.integers(0, min(len(terms), 6), 2))
        terms.append(ca.tanh(join[int(rng.integers(len(join)))](x, y)))
    return terms[-1]


@pytest.mark.parametrize("size", [30, 300, 3000])
def test_long_expressions_are_written_and_read(size):
    for seed in range(5):
        expression = grown(seed, size)
        text = write(expression, {**NAMES, "_1": ca.SX.sym("x"), "_2": ca.SX.sym("y")})
        again = parse(text, {**NAMES, "_1": ca.SX(7.0), "_2": ca.SX(8.0)})
        for a, b in ((0.3, -1.2), (2.0, 0.1)):
            assert value(again, a, b) == value(expression, a, b)
        assert len(text) < 40 * size


def test_sums_and_nests_of_any_depth():
    total, nest = ca.SX(0.0), A
    for k in range(1, 2000):
        total = total + k * A
        nest = ca.sin(nest) + B
    for expression in (total, nest):
        assert value(parse(write(expression, NAMES), NAMES), 0.7, 0.2) == value(expression, 0.7, 0.2)


def test_what_is_too_long_to_be_read_is_not_written():
    with pytest.raises(kp.ModelError, match="too long to be written"):
        write(grown(0, 30_000), NAMES)


def test_names_of_the_user_are_never_taken_for_those_of_terms():
    names = {"_1": A, "_2": B}
    expression = grown(3, 60)
    again = parse(write(expression, names), names)
    assert value(again, 0.4, 1.1) == value(expression, 0.4, 1.1)
