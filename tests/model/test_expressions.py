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
