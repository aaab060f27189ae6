"""Functionals: what they mean, how they are combined, differentiated and read."""

import operator
from typing import Any

import casadi as ca
import numpy as np
import pytest

import kempe as kp
from kempe.design.functionals import FUNCTIONALS, Functionals, as_functional, named
from kempe.design.leaves import Excess
from kempe.design.requirements import as_requirement
from kempe.errors import ModelError
from kempe.system import compiled
from kempe.system.expressing import Expressions, gauge

# --- a thrown ball: everything is known ---------------------------------------------------------------------------

END, G, UP = 1.2, 9.81, 5.0
#: Nodes and weights of Gauss and Legendre on many pieces of [0, END].
PIECES = 600
_x, _w = (values * END / PIECES / 2 for values in np.polynomial.legendre.leggauss(4))
NODES = (END / PIECES * (np.arange(PIECES) + 0.5)[:, None] + _x).ravel()
WEIGHTS = np.tile(_w, PIECES)


def thrown() -> kp.Mechanism:
    m = kp.Mechanism("thrown ball", gravity=(0.0, -G))
    limit = m.parameter("limit", 0.8)
    m.parameter("twice", 2 * limit)
    m.body("ball", mass=2.0, inertia=1.0)
    return m


def height(t: np.ndarray) -> np.ndarray:
    return UP * t - G * t**2 / 2


def supplied(m: kp.Mechanism, leaf: Any) -> float:
    """What a run would say, from the equations of a ball."""
    system = compiled(m)
    expressions = Expressions(system, m.measures)
    watched, first = gauge([leaf.expression(expressions)], expressions.symbols), expressions.symbols.first

    X, p, k = np.zeros(expressions.symbols.size), m.parameter_vector(), system.index("ball.y")
    X[: system.x_at[-1]], X[first["parameters"] :] = system.inputs(p)[0], p

    def at(t: float) -> float:
        X[first["q"] + k], X[first["v"] + k], X[first["a"] + k], X[first["t"]] = height(t), UP - G * t, -G, t
        return watched.kernels.held[watched.value](X[watched.place])[0]

    if leaf.kind == "integral":
        return float(WEIGHTS @ [at(t) for t in NODES])
    if leaf.kind == "point":
        return at({"start": 0.0, "end": END}.get(leaf.at, leaf.at))
    return (max if leaf.largest else min)(at(t) for t in np.linspace(0.0, END, 20_001))


def value(m: kp.Mechanism, functional: Any) -> float:
    several = Functionals(named(functional), list(m.parameters.values()))
    leaves = np.array([supplied(m, leaf) for leaf in several.leaves])
    return several.values(leaves, m.parameter_vector())[0]


def close(found: float, true: float, tolerance: float = 1e-12) -> None:
    assert abs(found - true) <= tolerance * max(1.0, abs(true)), (found, true)


def test_what_functionals_of_a_thrown_ball_are() -> None:
    m = thrown()
    top = UP**2 / (2 * G)
    close(value(m, kp.integral("ball.y")), UP * END**2 / 2 - G * END**3 / 6)
    close(value(m, kp.integral("ball.vy * t")), UP * END**2 / 2 - G * END**3 / 3)
    close(value(m, kp.integral("energy.kinetic + energy.potential")), UP**2 * END)
    close(value(m, kp.integral("limit")), 0.8 * END)
    close(value(m, kp.final("ball.vy")), UP - G * END)
    close(value(m, kp.initial(m["ball"].y)), 0.0)
    close(value(m, kp.value_at("ball.y", 0.5)), height(0.5))
    close(value(m, kp.maximum("ball.y")), top, 1e-7)
    close(value(m, kp.minimum("ball.y")), height(END))
    close(value(m, kp.mean("ball.vy")), UP - G * END / 2)
    close(value(m, kp.rms("ball.ay")), G)
    squares = (UP**2 * END - UP * G * END**2 + G**2 * END**3 / 3) / END
    close(value(m, kp.rms("ball.vy")), np.sqrt(squares))


def test_violation_is_the_integral_of_the_square_beyond_a_bound() -> None:
    """In speeds it is a cubic: vy falls by g t."""
    m = thrown()
    over = (UP - 2.0) ** 3 / (3 * G)
    close(value(m, kp.violation("ball.vy", at_most=2.0)), over, 1e-6)
    under = (G * END - UP - 1.0) ** 3 / (3 * G)
    close(value(m, kp.violation("ball.vy", at_least=-1.0)), under, 1e-6)
    close(value(m, kp.violation("ball.vy", at_least=-1.0, at_most=2.0)), over + under, 1e-6)
    close(value(m, kp.violation("ball.vy", at_most=m["limit"])), (UP - 0.8) ** 3 / (3 * G), 1e-6)
    close(value(m, kp.violation("ball.vy", at_most="2 * limit")), (UP - 1.6) ** 3 / (3 * G), 1e-6)
    assert value(m, kp.violation("ball.vy", at_most=UP + 1e-9)) == 0.0


def test_a_violation_has_two_sides() -> None:
    m = thrown()
    expressions = Expressions(compiled(m), {})
    v, side = expressions.symbols.at("v", compiled(m).index("ball.y")), expressions.symbols.at("sides", 0)
    leaf = Excess("ball.vy", 2.0, below=False)
    both = ca.Function("f", [v, side], [leaf.expression(expressions), leaf.integrand(expressions), *expressions.sides])
    for speed, on in ((0.0, 0), (2.0, 0), (2.0, 1), (3.5, 1)):
        whole, part, eta = map(float, both(speed, on))
        assert eta == speed - 2.0 and whole == part == max(0.0, eta) ** 2
    below = Excess("ball.vy", 2.0, below=True)
    below.integrand(expressions)
    assert len(expressions.sides) == 2


def test_a_smooth_maximum_comes_close_from_below() -> None:
    m, top = thrown(), UP**2 / (2 * G)
    found = [value(m, kp.smooth_maximum("ball.y", sharpness=s)) for s in (1.0, 10.0, 100.0)]
    found.append(value(m, kp.smooth_maximum("ball.y", sharpness=1000.0, around=1.27)))
    assert np.all(np.diff(found) > 0) and found[-1] < top
    # Laplace: the mean of exp(s y) near the peak is exp(s top) sqrt(2 pi / (s g)) / END
    laplace = top + np.log(np.sqrt(2 * np.pi / (1000.0 * G)) / END) / 1000.0
    close(found[-1], laplace, 1e-7)
    moved = value(m, kp.smooth_maximum("ball.y", sharpness=100.0, around=1.3))
    close(moved, found[2], 1e-13)


def test_exponentials_that_are_too_large_are_explained() -> None:
    m = thrown()
    with (
        np.errstate(over="ignore"),
        pytest.raises(ModelError, match=r"'smooth maximum of ball\.y': its value is not finite.*say around="),
    ):
        value(m, kp.smooth_maximum("ball.y", sharpness=1e5))
    assert abs(value(m, kp.smooth_maximum("ball.y", sharpness=1e5, around=1.27)) - UP**2 / (2 * G)) < 1e-3


# --- combined -----------------------------------------------------------------------------------------------------


def combined(m: kp.Mechanism) -> list[kp.Functional]:
    """Functionals of every kind, joined in every way."""
    limit, twice = m["limit"], m["twice"]
    a, b, c = kp.integral("ball.y"), kp.final("ball.vy"), kp.rms("ball.y")
    return [
        a + b,
        1.5 - a * limit,
        limit * a / (2 + b**2),
        (a - b) / (c + twice) - 3 * kp.mean("ball.y"),
        2.0**a - limit**2,
        abs(b) ** 0.5 * -a,
        as_functional(limit * 3 + twice),
        kp.smooth_maximum("ball.y", sharpness=2.0) / kp.maximum("ball.y"),
        -(+a),
        1 / (kp.violation("ball.y", at_most=limit, at_least=-1) + 1),
    ]


def test_gradients_follow_the_chain_rule() -> None:
    """Leaves that depend on parameters in known ways, and differences of the whole."""
    m = thrown()
    parameters = list(m.parameters.values())
    several = Functionals({str(k): f for k, f in enumerate(combined(m))}, parameters)
    random = np.random.default_rng(0)
    A, p = random.normal(size=(len(several.leaves), len(parameters))), np.array([0.8, 1.6])

    def leaves(p: np.ndarray) -> np.ndarray:
        return 1.5 + 0.1 * np.sin(A @ p)

    slopes = 0.1 * np.cos(A @ p)[:, None] * A
    values, gradients = several.gradients(leaves(p), slopes, p)
    np.testing.assert_array_equal(values, several.values(leaves(p), p))

    def difference(h: float, k: int) -> np.ndarray:
        ahead, behind = (several.values(leaves(q), q) for q in (p + h * np.eye(2)[k], p - h * np.eye(2)[k]))
        return (ahead - behind) / (2 * h)

    for k in range(2):
        true = (4 * difference(1e-3, k) - difference(2e-3, k)) / 3
        np.testing.assert_allclose(gradients[:, k], true, rtol=1e-9, atol=1e-10)


def test_the_same_is_asked_of_a_run_once() -> None:
    m = thrown()
    a = kp.integral("ball.y")
    several = Functionals(named([a, 2 * a, kp.mean("ball.y"), kp.rms("ball.y"), kp.final("ball.y")]), [m["limit"]])
    assert len(several.leaves) == 4  # the integral, the length of the run, the integral of the square, the end
    assert several.names == [f"{what} ball.y" for what in ("integral of", "2 * integral of", "mean", "rms", "final")]


def test_nothing_that_is_not_finite_comes_out() -> None:
    m = thrown()
    parameters = list(m.parameters.values())
    p = m.parameter_vector()
    root = Functionals(named(kp.final("ball.y") ** 0.5), parameters)
    for slopes in (lambda: root.gradients(np.zeros(1), np.ones((1, 2)), p), lambda: root.weights(np.zeros(1), p)):
        with pytest.raises(ModelError, match=r"'\(final ball.y\)\*\*0.5': its gradient is not finite at this design"):
            slopes()
    with pytest.raises(ModelError, match=r"its value is not finite: the final ball\.y is nan"):
        root.values(np.array([np.nan]), p)
    still = Functionals(named(kp.rms("ball.y")), parameters)
    values, gradients = still.gradients(np.array([0.0, 1.0]), np.zeros((2, 2)), p)
    assert abs(values[0]) < 1e-100 and not gradients.any()


def test_parameters_of_another_model_are_refused() -> None:
    m, other = thrown(), thrown()
    with pytest.raises(ModelError, match="uses parameter 'limit', which belongs to another model"):
        Functionals(named(kp.final("ball.y") * other["limit"]), list(m.parameters.values()))


# --- as they are read ---------------------------------------------------------------------------------------------


def test_functionals_read_well() -> None:
    m = thrown()
    limit, a, b = m["limit"], kp.final("ball.y"), kp.integral("ball.vy**2")
    said = {
        str(a): "final ball.y",
        str(b): "integral of (ball.vy**2)",
        str(kp.value_at(m["ball"].x, 0.25)): "value of ball.x at t = 0.25",
        str(kp.violation("O.force", at_most=limit)): "violation of O.force <= limit",
        str(kp.violation("O.force", at_least=-1, at_most=2)): "violation of -1 <= O.force <= 2",
        str(2 * a + limit * b**2 / (a - 1)): (
            "2 * final ball.y + limit * (integral of (ball.vy**2))**2 / (final ball.y - 1)"
        ),
        str(1 - (a - 3)): "1 - (final ball.y - 3)",
        str((limit + 2) * a): "(limit + 2.0) * final ball.y",
        str(3 * limit**2 * a - (1 - limit)): "3.0 * (limit**2) * final ball.y - (1.0 - limit)",
        str(a / (2 * limit)): "final ball.y / (2 * limit)",
        str(a**-2 * limit): "(final ball.y)**(-2) * limit",
        str((a * -2).called("twice down")): "twice down",
        repr((a * -2).called("twice down")): "Functional(twice down: final ball.y * (-2))",
        str(kp.rms("ball.y", name="rough") ** 2): "rough**2",
        str(a <= 0.3): "final ball.y <= 0.3",
        str(a >= 0.3): "final ball.y >= 0.3",
        str(a.between(0, 1)): "0 <= final ball.y <= 1",
        str(a.equals(2.0)): "final ball.y = 2",
        str(a == limit): "final ball.y = limit",
        str(sum([a, b])): "final ball.y + integral of (ball.vy**2)",
        str(limit >= a): "final ball.y <= limit",
        str(kp.final("crank.omega", name="speed") <= 0.3): "speed <= 0.3",
    }
    for found, expected in said.items():
        assert found == expected


@pytest.mark.parametrize(
    ("requirement", "bounds", "met", "missed"),
    [
        (lambda a, p: a <= 2, (-np.inf, 2.0), 1.0, (2.5, 0.5)),
        (lambda a, p: a >= 2, (2.0, np.inf), 3.0, (0.5, 1.5)),
        (lambda a, p: a.equals(2), (2.0, 2.0), 2.0, (1.0, 1.0)),
        (lambda a, p: a == np.float64(2), (2.0, 2.0), 2.0, (1.0, 1.0)),
        (lambda a, p: a.between(1, 2), (1.0, 2.0), 1.5, (0.0, 1.0)),
        (lambda a, p: a <= p, (-np.inf, 0.0), -1.0, (0.25, 0.25)),
        (lambda a, p: 3 * p <= a, (0.0, np.inf), 1.0, (-0.5, 0.5)),
        (lambda a, p: a.equals(kp.mean("ball.y")), (0.0, 0.0), 0.0, (-2.0, 2.0)),
    ],
)
def test_requirements_have_bounds(requirement: Any, bounds: Any, met: float, missed: Any) -> None:
    found = requirement(kp.final("ball.y"), thrown()["limit"])
    assert (found.low, found.high) == bounds and found.is_equality == (bounds[0] == bounds[1])
    assert found.excess(met) == 0.0 and found.excess(missed[0]) == missed[1]
    assert as_requirement(found, "it") is found


def refused(make: Any) -> str:
    with pytest.raises(ModelError) as error:
        make()
    return str(error.value)


def test_slips_are_explained() -> None:
    m = thrown()
    a = kp.final("ball.y")
    assert "neither true nor false; for two bounds" in refused(lambda: 0.1 <= a <= 2)
    assert "known only after a run" in refused(lambda: bool(a))
    assert "final: the text is empty" in refused(lambda: kp.final(" "))
    assert "choose ball.x, ball.y or ball.angle" in refused(lambda: kp.integral(m["ball"]))
    assert "kp.final('b')" in refused(lambda: a + "b")
    assert "must be a number, not None" in refused(lambda: a * None)
    assert "must be finite" in refused(lambda: a <= float("nan"))
    assert "give at_most= or at_least=" in refused(lambda: kp.violation("ball.y"))
    assert "must be above zero" in refused(lambda: kp.smooth_maximum("ball.y", sharpness=0))
    assert "sharpness must be given" in refused(lambda: kp.smooth_maximum("ball.y"))
    assert "did you mean name=" in refused(lambda: kp.final("ball.y", nam="q"))
    assert "write 2, without a unit" in refused(lambda: kp.value_at("ball.y", "2 s"))
    assert "nothing is at least 2 and at most 1" in refused(lambda: a.between(2, 1))
    assert "'final ball.y' is there twice" in refused(lambda: named([a, kp.final("ball.y")]))
    assert "at least one" in refused(lambda: named([]))
    assert "must be a requirement such as" in refused(lambda: as_requirement(a, "subject_to"))
    assert "neither true nor false" in refused(lambda: a == 2 and a)
    assert "reads a table" in refused(lambda: a + kp.table([0, 1, 2], [0, 1, 4])(m["limit"]))


def test_functionals_are_still_told_apart() -> None:
    """Though == makes a requirement: in lists, sets and as keys."""
    a, b = kp.final("ball.y"), kp.final("ball.y")
    assert a in [a, b] and {a: 1, b: 2}[b] == 2 and len({a, b, a}) == 2
    assert a != "final ball.y"


def test_a_mapping_gives_names() -> None:
    found = named({"height": kp.final("ball.y"), "cost": kp.integral("ball.vy")})
    assert list(found) == ["height", "cost"] and str(found["height"] <= 2) == "height <= 2"
    assert list(named(kp.final("ball.y") <= 2)) == ["final ball.y"]


def test_every_functional_is_known_by_its_name() -> None:
    assert all(getattr(kp, name) is made for name, made in FUNCTIONALS.items())


def test_parameters_and_numbers_stand_on_either_side() -> None:
    """CasADi's expressions leave operations with functionals to them."""
    m = thrown()
    parameters = list(m.parameters.values())
    for join in (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow):
        for left, right in (("limit", "leaf"), ("leaf", "limit"), ("two", "leaf"), ("leaf", "two")):
            plain = {"limit": 0.8, "leaf": 1.7, "two": np.float64(2.0)}
            meant = {**plain, "limit": m["limit"], "leaf": kp.final("ball.y")}
            found = Functionals(named(join(meant[left], meant[right])), parameters)
            close(found.values(np.array([1.7]), m.parameter_vector())[0], join(plain[left], plain[right]), 1e-15)
