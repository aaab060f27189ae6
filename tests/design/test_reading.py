"""Functionals and requirements as text: what they mean, and what is refused."""

from __future__ import annotations

import pytest

import kempe as kp
from kempe.design.reading import quantities_in, read_functional, read_requirement


@pytest.fixture(scope="module")
def parameters() -> dict:
    m = kp.Mechanism("m")
    return {"k": m.parameter("k", 2.0), "rod length": m.parameter("rod length", 3.0), "e1": m.parameter("e1", 1.0)}


@pytest.mark.parametrize(
    "text, same",
    [
        ("final(crank.omega)", lambda p: kp.final("crank.omega")),
        ("integral(slider.x**2)", lambda p: kp.integral("slider.x ** 2")),
        ("-maximum(B.force) / 3", lambda p: -kp.maximum("B.force") / 3.0),
        ("2 * integral(motor.power) + k", lambda p: 2.0 * kp.integral("motor.power") + p["k"]),
        ("final(a.x)**2 * {rod length}", lambda p: kp.final("a.x") ** 2.0 * p["rod length"]),
        ("value_at(a.x, 0.5)", lambda p: kp.value_at("a.x", 0.5)),
        ("violation(O.force.y, at_most=10)", lambda p: kp.violation("O.force.y", at_most=10.0)),
        ("violation(O.force.y, at_least=-k * 2)", lambda p: kp.violation("O.force.y", at_least="-k * 2")),
        ("smooth_maximum(a.x, sharpness=50, around=1)", lambda p: kp.smooth_maximum("a.x", sharpness=50.0, around=1.0)),
        ("mean({my part}.x + {rod length})", lambda p: kp.mean("{my part}.x + {rod length}")),
        ("k", lambda p: 1.0 * p["k"]),
    ],
)
def test_a_functional_is_what_python_makes_of_it(text: str, same, parameters: dict) -> None:
    read = read_functional(text, parameters)
    made = same(parameters)
    if isinstance(made, kp.Functional):
        assert str(read) == str(made)
        assert [leaf.text for leaf in read.leaves] == [leaf.text for leaf in made.leaves]
    else:
        assert str(read) == "k" and not read.leaves


@pytest.mark.parametrize(
    "text, low, high",
    [
        ("final(a.x) <= 0.3", None, 0.3),
        ("final(a.x) >= -1", -1.0, None),
        ("0.3 >= final(a.x)", None, 0.3),
        ("1 < final(a.x)", 1.0, None),
        ("final(a.x) == 2", 2.0, 2.0),
        ("1 <= final(a.x) <= 2", 1.0, 2.0),
        ("2 >= final(a.x) >= 1", 1.0, 2.0),
        ("final(a.x) <= 2 * 3 - 1", None, 5.0),
    ],
)
def test_a_requirement_has_its_limits(text: str, low: float | None, high: float | None, parameters: dict) -> None:
    read = read_requirement(text, parameters)
    assert read.name == "final a.x"
    assert read.low == (-float("inf") if low is None else low)
    assert read.high == (float("inf") if high is None else high)


def test_two_functionals_are_compared(parameters: dict) -> None:
    read = read_requirement("final(a.x) <= 2 * initial(a.x) + k", parameters)
    assert read.high == 0.0 and len(read.functional.leaves) == 2
    assert quantities_in(read.functional) == ["a.x"]


def test_the_quantities_in_it(parameters: dict) -> None:
    read = read_functional("violation(a.x + {my part}.y, at_most=b.x) + final(c.z)", parameters)
    assert quantities_in(read) == ["a.x", "my part.y", "b.x", "c.z"]


@pytest.mark.parametrize(
    "text, words",
    [
        ("maximun(B.force)", "did you mean 'maximum'"),
        ("crank.omega", "there is no design parameter 'crank.omega'"),
        ("kk", "did you mean 'k'|of a quantity write"),
        ("final()", "of which quantity"),
        ("final(a.x) <= 0.3", "is a requirement"),
        ("final(a.x", "is not an expression"),
        ("a = 3; final(a.x)", "is not one expression"),
        ("[final(a.x)]", "cannot stand outside"),
        ("final(a.x) if k else 3", "cannot stand outside"),
        ("final(a.x).real", "there is no|cannot stand outside"),
        ("__import__('os').system('ls')", "there is no functional"),
        ("final(a.x, b.x)", "there is no design parameter|too many"),
        ("final(a.x, colour=3)", "there is no colour="),
        ("value_at(a.x)", "t must be given|must be given"),
        ("final(a.x) + 1e300 ** 1e300", "not a finite number"),
        ("final(a.x) / 0", "finite|zero"),
        ("(" * 100 + "final(a.x)" + ")" * 100, "reasonable"),
    ],
)
def test_what_is_no_functional(text: str, words: str, parameters: dict) -> None:
    with pytest.raises(kp.ModelError, match=words):
        read_functional(text, parameters)


@pytest.mark.parametrize(
    "text, words",
    [
        ("final(a.x)", "has no limit"),
        ("final(a.x) != 2", "<=, >= or =="),
        ("1 <= final(a.x) >= 2", "two limits"),
        ("1 <= 2 <= final(a.x)", "two limits"),
        ("2 <= final(a.x) <= 1", "at least 2 and at most 1"),
    ],
)
def test_what_is_no_requirement(text: str, words: str, parameters: dict) -> None:
    with pytest.raises(kp.ModelError, match=words):
        read_requirement(text, parameters)
