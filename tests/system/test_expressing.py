"""Names as expressions of an instant: along a motion they give what its result says, with exact derivatives."""

import sys
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import kempe as kp
from kempe.elements.readings import looked_up
from kempe.errors import ModelError
from kempe.model.expressions import parse
from kempe.results import Result
from kempe.solvers.gauge import Gauge
from kempe.system import compiled, expressing
from kempe.system.expressing import ADDED_UP, Expressions, gauge
from kempe.system.walking import split, with_lengths

sys.path.insert(0, str(Path(__file__).parents[1] / "elements"))

import test_every_element
import test_forces

EXAMPLES = Path(__file__).parents[2] / "examples"


# --- instants of a motion -----------------------------------------------------------------------------------------


def instants(result: Result) -> np.ndarray:
    """X = [x | q | v | a | lambda | t | parameters] at every time of a result, one row each."""
    replay = result._loads().replay
    system, states = replay.system, replay.states
    rows = []
    for k, (family, tables) in enumerate(zip(system.families, system.tables_of, strict=True)):
        x = replay._inputs(k, family, states)
        x[family.at["z"] :] = replay._modes(k, family, tables)
        arguments = ca.Function("f", [family.x], [ca.densify(family.arguments)])
        for _ in range(family.levels):
            at = slice(family.at["pieces"], family.at["lam"])
            x[at] = looked_up(tables, np.array(arguments(x)))
        rows.append(x)
    fixed = np.repeat(replay.parameters[:, None], len(states.t), axis=1)
    rest = [states.q.T, states.v.T, states.a.T, states.multipliers.T, states.t[None], fixed]
    head = np.zeros((system.layout.head, len(states.t)))  # (nothing is read there)
    return np.vstack([head, *rows, *rest]).T


def values(made: Gauge, X: np.ndarray) -> np.ndarray:
    return made.kernels.held[made.value](X[made.place])


def pushed(made: Gauge, X: np.ndarray, dX: np.ndarray) -> np.ndarray:
    return made.kernels.held[made.push](np.concatenate([X[made.place], dX[made.place]]))


def pulled(made: Gauge, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
    found = np.zeros(len(X))
    found[made.place] = made.kernels.held[made.pull](np.concatenate([X[made.place], weights]))
    return found


def all_names(result: Result) -> tuple[list[str], Expressions, list[ca.SX]]:
    system = result._compiled()
    expressions = Expressions(system, result.model.measures)
    names = [name for name in result.names if name not in ADDED_UP]
    return names, expressions, [expressions.of(name, "a quantity") for name in names]


def check_values(result: Result) -> None:
    """Every name a result has is an expression that gives its history."""
    names, expressions, made = all_names(result)
    watched, X = gauge(made, expressions.symbols), instants(result)
    found = np.array([values(watched, row) for row in X]).T
    for name, history in zip(names, found, strict=True):
        true = result.array(name)
        # what is a difference of large loads has their rounding
        np.testing.assert_allclose(history, true, rtol=1e-12, atol=1e-12 * (1 + np.abs(true).max()), err_msg=name)


def check_derivatives(result: Result, times: int = 3) -> None:
    """Push is pull turned around, both are finite where they are, and differences agree a little beside the motion.

    (Beside it, because on it a load may be just zero, where its size has a kink.)
    """
    names, expressions, made = all_names(result)
    watched, X = gauge(made, expressions.symbols), instants(result)
    random, held = np.random.default_rng(len(names)), not_moved(result)
    for row in X[:: max(1, len(X) // times)]:
        size = np.maximum(1e-3, np.abs(row))
        dX, weights = size * random.normal(size=len(row)), random.normal(size=len(names))
        dX[held] = 0.0
        dy, wbar = pushed(watched, row, dX), pulled(watched, row, weights)
        assert np.isfinite(dy).all() and np.isfinite(wbar).all()
        assert abs(dy @ weights - wbar @ dX) <= 1e-11 * (np.abs(dy * weights).sum() + np.abs(wbar * dX).sum())
        aside = 1e-3 * size * random.normal(size=len(row))
        aside[held] = 0.0
        differences_agree(watched, names, row + aside, dX)


def differences_agree(watched: Gauge, names: list[str], X: np.ndarray, dX: np.ndarray) -> None:
    """Central differences of some step, extrapolated, are what is pushed."""

    def slope(h: float) -> np.ndarray:
        coarse, fine = (values(watched, X + k * h * dX) - values(watched, X - k * h * dX) for k in (2, 1))
        return (8 * fine - coarse) / (12 * h)

    dy = pushed(watched, X, dX)
    off = np.array([np.abs(slope(h) - dy) for h in 10.0 ** np.arange(-8, -2)]).min(axis=0)
    for name, found, error in zip(names, dy, off, strict=True):
        assert error <= 1e-6 * abs(found) + 1e-9, name


def not_moved(result: Result) -> np.ndarray:
    """The places of modes, kept values and pieces of tables."""
    system = result._compiled()
    found = []
    for k, family in enumerate(system.families):
        for name in ("pieces", "z"):
            first = system.x_at[k] + family.at[name]
            found.append(first + np.arange(getattr(family, name).numel()))
    return np.concatenate(found).astype(int)


# --- every element, anywhere --------------------------------------------------------------------------------------


def anywhere(m: Any, name: str, count: int = 4) -> Result:
    """States that nobody moved through, with multipliers that nobody solved for: expressions do not mind."""
    system, random = compiled(m), np.random.default_rng(zlib.crc32(name.encode()))
    parameters = {key: p.value for key, p in m.parameters.items()}
    q = system.inputs(m.parameter_vector())[1] + 0.2 * random.normal(size=(count, system.n))
    v, a = random.normal(size=(2, count, system.n))
    multipliers = {f"lambda.{row.label}": random.normal(size=count) for row in system.rows}
    t = np.sort(random.uniform(0.1, 1.0, count))
    told = {"parameters": parameters}
    return Result(t, q, v, a, list(system.names), model=m, series=multipliers, provenance=told)


@pytest.mark.parametrize("name", test_every_element.EXAMPLES)
def test_what_results_have_of_every_element(name: str) -> None:
    m, _ = test_every_element.EXAMPLES[name].build(test_every_element.Drawing())
    found = anywhere(m, name)
    check_values(found)
    check_derivatives(found)


@pytest.mark.parametrize("name", test_forces.EXAMPLES)
def test_what_results_have_of_every_force(name: str) -> None:
    test_forces.EXAMPLES[name].build()
    found = anywhere(test_forces.MACHINES[-1], name)
    check_values(found)
    check_derivatives(found)


# --- motions ------------------------------------------------------------------------------------------------------

#: Examples with inertia, and how long they are watched: springs, drivers, tables, contacts, friction, clearance.
MOTIONS = {
    "bearings_of_a_hoist": 0.5,
    "cam_lift_off": 0.1,
    "excavator": 0.5,
    "loose_pin": 0.02,
    "modes_of_a_frame": 0.1,
    "newtons_cradle": 0.6,
    "scissor_lift": 0.5,
    "single_cylinder_engine": 0.05,
    "stick_slip": 2.0,
    "suspension_over_a_bump": 1.0,
    "v_twin_engine": 0.05,
}


@pytest.mark.parametrize("name", MOTIONS)
def test_what_results_have_of_motions(name: str) -> None:
    found = kp.load(EXAMPLES / f"{name}.kempe.yaml").simulate(np.linspace(0.0, MOTIONS[name], 30))
    check_values(found)
    check_derivatives(found)


def test_inverse_dynamics_has_powers() -> None:
    found = kp.load(EXAMPLES / "scissor_lift.kempe.yaml").inverse_dynamics([0.0, 0.1, 0.2])
    assert {"power.dissipated", "power.supplied"} <= set(found)
    check_values(found)


def machine() -> kp.Mechanism:
    """A crank that pulls a spring, with parameters, tables and measures of every kind."""
    m = kp.Mechanism("machine", gravity=(0.3, -9.81))
    r = m.parameter("crank length", 0.3)
    half = m.parameter("half", r / 2)
    k = m.parameter("k", 40.0)
    crank = m.body("crank", mass=2.0 * r, inertia=0.1 + r**3, at=(half, 0.0))
    block = m.body("block", mass=1.2, inertia=0.2, at=(1.1, 0.1))
    m.revolute("O", m.ground, crank, at=(0.0, 0.0))
    m.translational("guide", m.ground, block, at=(1.1, 0.1), axis=(1.0, 0.0))
    m.spring("coil", crank.on((half, 0.0)), block, stiffness=k, length=0.5, damping=1.5)
    m.driver("motor", m["O"].angle, kp.table([0.0, 0.4, 0.9, 2.0], [0.0, 0.5, 0.9, 2.5]))
    m.measure("turn", m["O"].angle)
    m.measure("reach", kp.distance(crank.on((half, 0.0)), block))
    m.measure("slower", "crank.omega")
    m.measure("share", "{coil.force} / ({k} * reach) + t * half + O.force.y * O.force.y")
    m.measure("rate", lambda b, c, t: b.v[0] * kp.cos(c.angle) + k * t, block, crank)
    return m


def test_measures_and_parameters() -> None:
    m = machine()
    found = m.simulate(np.linspace(0.0, 0.8, 9), parameters={"k": 55.0, "crank length": 0.35})
    assert {"turn", "reach", "slower", "share", "rate"} <= set(found)
    check_values(found)
    check_derivatives(found)


def test_a_system_of_equations() -> None:
    m = kp.Equations(
        "two swings",
        {"a": 0.3, "b": -0.2},
        parameters={"m": 2.0, "l": 0.7},
        mass=lambda q, p: [[p.m, p.l * kp.cos(q.a - q.b)], [p.l * kp.cos(q.a - q.b), p.m]],
        force=lambda q, v, t, p: [-p.m * kp.sin(q.a) + t, -p.l * kp.sin(q.b) - v.b],
        constraints=lambda q, t, p: [q.a + p.l * q.b**2 - 0.1 * kp.sin(t)],
    )
    m.measure("sum", "a + l * b.v ** 2")
    check_values(found := m.simulate(np.linspace(0.0, 1.0, 7)))
    check_derivatives(found)


# --- texts and quantities -----------------------------------------------------------------------------------------


def test_texts_and_quantities_are_what_their_measures_are() -> None:
    m = machine()
    expressions = Expressions(compiled(m), m.measures)
    pairs = [
        ("turn", m["O"].angle),
        ("reach", kp.distance(m["crank"].on((m["half"], 0.0)), m["block"])),
        ("crank.omega", m.measures["slower"]),
        ("share", "{coil.force} / ({k} * reach) + t * half + O.force.y ** 2"),
        ("{crank length} * block.x", "block.x * {crank length}"),
        ("k", m["k"]),
        ("2 * half", 2 * m["half"]),
        ("3.5", 3.5),
        ("energy.total", "energy.kinetic + energy.potential + energy.elastic"),
    ]
    made = [[expressions.of(side, "a side") for side in pair] for pair in pairs]
    found = m.simulate([0.0, 0.4])
    for X in instants(found):
        left, right = (values(gauge(list(side), expressions.symbols), X) for side in zip(*made, strict=True))
        np.testing.assert_allclose(left, right, rtol=1e-14)


def test_symbols_are_made_for_what_is_used() -> None:
    expressions = Expressions(compiled(machine()), {})
    made = gauge([expressions.of("block.x * crank.omega", "it")], expressions.symbols)
    first, system = expressions.symbols.first, expressions.system
    assert made.place.tolist() == [first["q"] + system.index("block.x"), first["v"] + system.index("crank.angle")]
    assert expressions.symbols.size == system.x_at[-1] + 3 * system.n + system.m + 1 + len(system.parameters)


def test_a_constant_has_no_inputs() -> None:
    expressions = Expressions(compiled(machine()), {})
    made = gauge([expressions.of("2 + 1", "it")], expressions.symbols)
    assert values(made, np.zeros(0)) == 3.0 and len(made.place) == 0
    assert pushed(made, np.zeros(0), np.zeros(0)) == 0.0


def test_forces_that_are_just_zero_have_derivatives() -> None:
    """The size of a force has a kink where it vanishes: its derivative is taken to be zero there."""
    m = kp.Mechanism("at rest")
    body = m.body("body", mass=1.0, inertia=1.0)
    m.revolute("O", m.ground, body, at=(0.0, 0.0))
    m.bushing("soft", m.ground, body, at=(0.0, 0.0), stiffness=3.0)
    found = m.simulate([0.0, 1.0])
    names, expressions, made = all_names(found)
    watched, X = gauge(made, expressions.symbols), instants(found)[-1]
    zero = ["O.force", "soft.force", "ground.shaking"]
    assert all(values(watched, X)[names.index(name)] == 0.0 for name in zero)
    dy = pushed(watched, X, np.ones(len(X)))
    assert np.isfinite(dy).all() and all(dy[names.index(name)] == 0.0 for name in zero)
    assert np.isfinite(pulled(watched, X, np.ones(len(names)))).all()


def test_hypot_has_derivatives_at_zero() -> None:
    """In a text too, and whatever else stands in it."""
    m = kp.Mechanism("at rest")
    m.body("body", mass=1.0, inertia=1.0)
    expressions = Expressions(compiled(m), {})
    text = "hypot(body.vx, 2 * body.vy) + if_else(body.x < 1, sin(body.x)**3, 2) * abs(body.y) / (1 + body.y**2)"
    made = gauge([expressions.of(text, "it")], expressions.symbols)
    X = np.zeros(expressions.symbols.size)
    assert values(made, X) == 0.0 and not pushed(made, X, np.ones(len(X))).any()
    assert not pulled(made, X, np.ones(1)).any()
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    given = ca.hypot(a, ca.exp(b)) ** 2.5 + ca.fmax(a, b) * ca.atan2(a, b) - ca.if_else(a > b, 1, 2) + ca.fmod(a, 0.7)
    both = ca.Function("f", [a, b], [given, with_lengths(given), with_lengths(a * b) - a * b])
    for at in np.random.default_rng(0).normal(size=(20, 2)):
        before, after, nothing = (float(e) for e in both(*at))
        assert abs(before - after) <= 1e-14 * (1 + abs(before)) and nothing == 0.0


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("abs(u - 0.3)", [0.3]),
        ("max(u, 0.2) + min(u, 0.7)", [0.2, 0.7]),
        ("sign(u - 0.1) * 2 + u", [0.1]),
        ("1 + u if u < 0.4 and not u > 0.2 else u", [0.4, 0.2]),
        ("if_else(u <= 0.5, 1 - u, u**2)", [0.5]),
        ("sin(u)**2 + hypot(u, 1) * u", []),
        ("copysign(u - 2, 0.25 - u) + copysign(u**2 - 0.16, u)", [0.25, 0.4]),
        ("abs(abs(u - 0.5) - 0.2)", [0.5, 0.3, 0.7]),
        ("max(abs(u - 0.5), 0.1)**2", [0.5, 0.4, 0.6]),
    ],
)
def test_kinks_are_taken_apart(text: str, at: list[float]) -> None:
    """With its sides told an expression is what it was, and smooth: beyond a kink it goes on as it was before."""
    u, sides = ca.SX.sym("u"), ca.SX.sym("side", 5)
    kinks: list[ca.SX] = []

    def side(kink: ca.SX) -> ca.SX:
        kinks.append(kink)
        return sides[len(kinks) - 1]

    given = parse(text, {"u": u})
    parted = split(given, side)
    whole, part = ca.Function("f", [u], [given]), ca.Function("f", [u, sides], [parted])
    seen = ca.Function("f", [u], [ca.vertcat(ca.SX(0, 1), *kinks)])

    def told(place: float) -> np.ndarray:
        return np.append(np.array(seen(place)).ravel() > 0, np.zeros(5))[:5].astype(float)

    edges = [0.0, *sorted(at), 1.0]
    for low, high in pairwise(edges):
        inside = np.linspace(low, high, 9)[1:-1]
        assert all((told(place) == told(inside[0])).all() for place in inside)
        for place in inside:
            assert abs(float(whole(place)) - float(part(place, told(place)))) <= 1e-15
        samples = [float(part(place, told(inside[0]))) for place in np.linspace(low - 0.1, high + 0.1, 30)]
        assert np.isfinite(samples).all() and np.abs(np.diff(samples, 4)).max() < 1e-3  # no kink on the way


def test_sides_of_measures_are_those_of_what_they_are_made_of() -> None:
    m = machine()
    m.measure("size", "abs(block.vx) + abs(k)")
    m.measure("more", "max(size, 2 * t) + O.force")
    expressions = Expressions(compiled(m), m.measures)
    smooth = expressions.sided("3 * more + size", "it")
    assert len(expressions.sides) == 2  # block.vx once, size - 2 t; a parameter does not change on the way
    plain, first = expressions.of("3 * more + size", "it"), expressions.symbols.first
    watched = gauge([plain, *expressions.sides], expressions.symbols)
    both = gauge([smooth], expressions.symbols)
    found = m.simulate(np.linspace(0.0, 0.8, 9))
    for X in instants(found):
        value, *kinks = values(watched, X)
        Y = np.concatenate([X, np.array(kinks) > 0])
        assert abs(values(both, Y)[0] - value) <= 1e-13 * abs(value)
    assert first["sides"] == expressions.symbols.size
    before = len(expressions.sides)
    for same in ("O.force", m["block"].x, "k", 3.0):
        assert ca.is_equal(expressions.sided(same, "it"), expressions.of(same, "it"), 100)
    assert len(expressions.sides) == before


@pytest.mark.parametrize("name", ["floor", "ceil"])
def test_stairs_have_too_many_sides(name: str) -> None:
    m = machine()
    expressions = Expressions(compiled(m), m.measures)
    assert expressions.sided(f"{name}(k) * block.x", "the goal") is not None
    with pytest.raises(ModelError, match=f"the goal: '{name}' jumps again and again"):
        expressions.sided(f"{name}(block.x)", "the goal")
    with pytest.raises(ModelError, match="the goal: 'mod' jumps again and again"):
        expressions.sided("mod(crank.angle, 2 * pi)", "the goal")


def test_names_of_any_letters() -> None:
    m = kp.Mechanism("odd names")
    for name in ("my body", "rod-2", "b (old) + 1", "größe", "if", "_1"):
        m.body(name, mass=1.0, inertia=1.0)
    m.measure("twice as far", "{my body}.x * 2")
    found = anywhere(m, "odd")
    check_values(found)
    expressions = Expressions(compiled(m), m.measures)
    pairs = [("my body.x", "{my body}.x"), ("twice as far", "{my body.x} * 2"), ("rod-2.vy", "{rod-2}.vy")]
    for left, right in [*pairs, ("b (old) + 1.angle", "{b (old) + 1}.angle"), ("größe.x", "{größe.x}")]:
        made = gauge([expressions.of(left, "it") - expressions.of(right, "it")], expressions.symbols)
        assert all(values(made, X) == 0.0 for X in instants(found))
    with pytest.raises(ModelError, match=r"did you mean 'my body\.x'"):
        expressions.of("my bdy.x", "the goal")


def test_backward_and_forward_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many inputs quantities are differentiated backward, whatever they consist of."""
    found = kp.load(EXAMPLES / "newtons_cradle.kempe.yaml").simulate(np.linspace(0.0, 0.5, 4))
    names, expressions, made = all_names(found)
    weights = np.random.default_rng(1).normal(size=len(names))
    ways = []
    for broad in (0, 10**6):
        monkeypatch.setattr(expressing, "BROAD", broad)
        watched = gauge(made, expressions.symbols)
        ways.append([pulled(watched, X, weights) for X in instants(found)])
    np.testing.assert_allclose(*ways, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("block.xx", "the goal: there is no quantity 'block.xx'; did you mean 'block.x'"),
        ("block.x +", "is not an expression"),
        ("sinn(block.x)", "only these functions are allowed"),
        ("energy.dissipated", "take the integral of 'power.dissipated'"),
        ("2 * energy.supplied", "take the integral of 'power.supplied'"),
        ("bent", "the goal reads the table 'T' itself"),
        (None, "the goal must be a quantity"),
    ],
)
def test_what_is_no_quantity_is_said(what: Any, says: str) -> None:
    m = machine()
    m.measure("bent", "T(block.x)", kp.table([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], name="T"))
    with pytest.raises(ModelError, match=says.replace("(", r"\(")):
        Expressions(compiled(m), m.measures).of(what, "the goal")


def test_parts_and_parameters_of_others_are_refused() -> None:
    m, other = machine(), kp.Mechanism("other")
    stranger, p = other.body("stranger", mass=1.0, inertia=1.0), other.parameter("p", 1.0)
    expressions = Expressions(compiled(m), {})
    with pytest.raises(ModelError, match="'stranger' is not a part of 'machine'"):
        expressions.of(stranger.x, "the goal")
    with pytest.raises(ModelError, match="the goal uses parameter 'p', which is not of 'machine'"):
        expressions.of(p * 2, "the goal")
