"""Forces: hand formulas, exact energies, action and reaction, dampers that only dissipate, stops that never pull."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import kempe as kp
from kempe import elements as el
from kempe.elements.readings import looked_up
from kempe.model import files
from kempe.system.families import family_of, family_with_tables

# --- an element at work -------------------------------------------------------------------------------------------


class Acting:
    """An element's equations as numbers: coordinates and rates are those of its parts, in order."""

    def __init__(self, element: el.Element, **parameters: float) -> None:
        self.element, (self.family, self.tables) = element, family_with_tables(element)
        old = {p: p.value for p in el.parameters_in(element.data())}
        for parameter in old:
            parameter.value = parameters.get(parameter.label, parameter.value)
        self.numbers = el.evaluate(element.data())
        for parameter, value in old.items():
            parameter.value = value
        self.start = el.evaluate([s for part in element.parts() for s in part.start])
        self.n = len(self.start)

    def inputs(self, q: Any, v: Any = None, t: float = 0.0, mode: str = "") -> np.ndarray:
        f = self.family
        given = {"q": q, "v": np.zeros(self.n) if v is None else v, "t": t, "p": self.numbers}
        if mode:
            given["z"] = self.element.modes.index(mode)
        x = np.zeros(f.x.numel())
        for name, value in given.items():
            values = np.atleast_1d(value)
            x[f.at[name] : f.at[name] + len(values)] = values
        arguments = np.array(ca.Function("a", [f.x], [ca.densify(f.arguments)])(x)).reshape(-1, 1)
        pieces = looked_up(self.tables, arguments).ravel()
        x[f.at["pieces"] : f.at["pieces"] + len(pieces)] = pieces
        return x

    def value(self, what: str, q: Any, v: Any = None, t: float = 0.0, mode: str = "") -> np.ndarray:
        """The family's expression of that name."""
        expression = ca.densify(ca.SX(getattr(self.family, what)))
        return np.array(ca.Function("e", [self.family.x], [expression])(self.inputs(q, v, t, mode))).ravel()

    def Q(self, q: Any, v: Any = None, t: float = 0.0, mode: str = "") -> np.ndarray:
        """The generalised force, from machine code."""
        kernel, (block, *_) = self.family.variant("explicit")
        out = np.zeros(self.n)
        out[block.rows] = -kernel(self.inputs(q, v, t, mode))[: len(block.rows)]
        return out

    def V(self, q: Any, mode: str = "") -> float:
        return float(self.value("potential", q, mode=mode)[0])

    def guards(self, q: Any, v: Any, mode: str) -> dict[tuple[str, str], float]:
        """(mode, next mode) -> guard, for the ways out of the present mode."""
        kernel, (block, *_) = self.family.variant("guards")
        found = np.zeros(len(self.family.switches))
        found[block.rows] = kernel(self.inputs(q, v, mode=mode))[: len(block.rows)]
        here = [(s, g) for s, g in zip(self.family.switches, found, strict=True) if s.source == mode]
        return {(s.source, s.target): float(g) for s, g in here}

    def first_mode(self, q: Any, v: Any) -> str:
        kernel, (block, *_) = self.family.variant("latches")
        number = kernel(self.inputs(q, v))[0] if len(block.rows) else 0.0
        return self.element.modes[int(number)]


def gradient(f: Callable[[np.ndarray], float], q: np.ndarray, h: float = 1e-3) -> np.ndarray:
    """Central differences of sixth order."""
    weights, places = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60, np.arange(-3, 4)
    return (
        np.array([sum(w * f(q + h * k * e) for w, k in zip(weights, places, strict=True)) for e in np.eye(len(q))]) / h
    )


def resultant(element: el.Element, q: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Sum of the forces on bodies and points, and of their moments about the world's origin."""
    total, at = np.zeros(3), 0
    for part in element.parts():
        n = len(part.channels)
        r, push = q[at : at + n], Q[at : at + n]
        total += [push[0], push[1], r[0] * push[1] - r[1] * push[0] + (push[2] if n == 3 else 0.0)]
        at += n
    return total


# --- examples -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Example:
    build: Callable[[], el.Element]
    internal: bool  # acts between moving parts only, so that forces and moments cancel
    mode: str = ""


EXAMPLES: dict[str, Example] = {}


def example(internal: bool = True, mode: str = "") -> Callable[[Callable], Callable]:
    def register(build: Callable[[], el.Element]) -> Callable:
        EXAMPLES[build.__name__] = Example(build, internal, mode)
        return build

    return register


MACHINES: list[kp.Mechanism] = []  # kept alive: parameters end with their mechanism


def machine() -> kp.Mechanism:
    m = kp.Mechanism("machine")
    MACHINES.append(m)
    m.body("a", at=(0.3, 0.1), angle=0.4)
    m.body("b", at=(1.1, 0.7), angle=-0.3)
    points = [
        m.point(n, at) for n, at in {"O": (0.2, -0.1), "A": (0.6, 0.8), "E": (1.7, 0.3), "C": (1.2, -0.6)}.items()
    ]
    m.bar("OA", *points[:2])
    m.bar("EC", *points[2:])
    m.coordinate("z", 0.5)
    m.parameter("k", 3.0)
    return m


def carrier(m: kp.Mechanism, name: str) -> Any:
    return m[name].carrier if isinstance(m[name], el.RigidLink) else m[name]


TABLE = ([-0.6, -0.2, 0.0, 0.3, 0.8], [-4.0, -0.5, 0.2, 1.0, 6.0])


@example()
def spring() -> el.Element:
    m = machine()
    ends = {"on_i": (0.1, 0.2), "on_j": (-0.3, 0.1)}
    return m.spring("S", m["a"], m["b"], **ends, stiffness=7.0, length=0.4, damping=1.3, force=2.0)


@example()
def spring_of_no_free_length() -> el.Element:
    m = machine()
    return m.spring("S", m["a"].on((0.1, 0.2)), m["b"], stiffness=m["k"], length=0)


@example()
def spring_between_points() -> el.Element:
    m = machine()
    return m.spring("S", m["A"], m["E"], stiffness=-2.0, damping=m["k"])


@example()
def spring_between_bar_and_body() -> el.Element:
    m = machine()
    return m.spring("S", carrier(m, "OA"), m["b"], on_i=(0.3, 0.1), stiffness=7.0, damping=0.5)


@example(internal=False)
def spring_on_the_ground() -> el.Element:
    m = machine()
    return m.spring("S", m.ground, m["b"], on_i=(2.0, 1.0), stiffness=7.0, damping=0.5)


@example()
def spring_from_data() -> el.Element:
    m = machine()
    return m.spring("S", m["a"], m["b"], law=kp.spline(*TABLE), length=0.9, damping=0.1)


@example()
def spring_from_a_law() -> el.Element:
    m = machine()
    k = m["k"]
    return m.spring("S", m["a"], m["b"], law=lambda length, rate, t: k * length**3 + rate**3 + t)


@example()
def torsion_spring() -> el.Element:
    m = machine()
    return m.torsion_spring("S", m["a"], m["b"], stiffness=3.0, angle=0.2, damping=0.6, torque=-1.0)


@example()
def torsion_spring_between_bars() -> el.Element:
    m = machine()
    return m.torsion_spring("S", carrier(m, "OA"), carrier(m, "EC"), stiffness=3.0, damping=0.6)


@example()
def torsion_spring_from_data() -> el.Element:
    m = machine()
    return m.torsion_spring("S", m["a"], m["b"], law=kp.spline(*TABLE), angle=-0.5)


@example()
def bushing() -> el.Element:
    m = machine()
    soft = {"stiffness": (5.0, 2.0), "damping": (0.3, 0.7), "torsion": 1.1, "torsion_damping": 0.4}
    return m.bushing("S", m["a"], m["b"], at=(0.6, 0.4), axis=(1.0, 0.5), **soft)


@example()
def bushing_of_bars() -> el.Element:
    m = machine()
    return m.bushing("S", carrier(m, "OA"), carrier(m, "EC"), stiffness=5.0, damping=0.3, torsion=m["k"], at=(1, 0))


@example()
def bushing_of_a_point() -> el.Element:
    m = machine()
    return m.bushing("S", m["a"], m["E"], stiffness=(m["k"], 2.0), damping=0.3)


@example()
def torque_with_reaction() -> el.Element:
    m = machine()
    return m.torque("S", m["a"], 2.0, reaction=carrier(m, "EC"))


@example(mode="contact")
def stop_on_a_distance() -> el.Element:
    m = machine()
    return m.bump_stop("S", kp.distance(m["a"], m["b"]), 0.4, 30.0, damping=0.7, exponent=1.5, side="above")


@example(mode="contact")
def stop_on_the_angle_of_bars() -> el.Element:
    m = machine()
    return m.bump_stop("S", kp.angle(carrier(m, "OA"), carrier(m, "EC")), 1.0, 30.0, damping=0.7)


@example(internal=False, mode="contact")
def stop_on_a_coordinate() -> el.Element:
    m = machine()
    return m.bump_stop("S", m["b"].y, 1.5, m["k"], damping=m["k"])


class Placed(Acting):
    """An example in a random state near the drawn one."""

    def __init__(self, name: str) -> None:
        self.example = EXAMPLES[name]
        super().__init__(self.example.build())
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.q = self.start + 0.1 * rng.uniform(-1, 1, self.n)
        self.v, self.t = rng.normal(size=self.n), 0.37
        self.rng = rng


@pytest.fixture(params=EXAMPLES, scope="module")
def placed(request: pytest.FixtureRequest) -> Placed:
    return Placed(request.param)


def close(actual: Any, expected: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0.0)))


# --- what holds for every one -------------------------------------------------------------------------------------


def test_machine_code_adds_elastic_dissipating_and_other_forces(placed: Placed) -> None:
    state = {"v": placed.v, "t": placed.t, "mode": placed.example.mode}
    stored = -gradient(lambda q: placed.V(q, placed.example.mode), placed.q)
    others = placed.value("damping", placed.q, **state) + placed.value("force", placed.q, **state)
    close(placed.Q(placed.q, **state), stored + others, 1e-8)
    assert np.abs(placed.Q(placed.q, **state)).max() > 0.01


def test_action_and_reaction(placed: Placed) -> None:
    if placed.example.internal:
        Q = placed.Q(placed.q, placed.v, placed.t, placed.example.mode)
        close(resultant(placed.element, placed.q, Q), np.zeros(3), 1e-13 * max(1.0, np.abs(Q).max()))


def test_damping_never_supplies_energy(placed: Placed) -> None:
    for _ in range(30):
        v = placed.rng.normal(size=placed.n)
        power = placed.value("damping", placed.q, v, placed.t, placed.example.mode) @ v
        assert power <= 1e-15
    if placed.example.mode:
        return
    at_rest = placed.value("damping", placed.q, np.zeros(placed.n), placed.t)
    assert not at_rest.any()


def test_tangent_is_the_derivative_of_the_force(placed: Placed) -> None:
    """c1 f_v + c2 f_q of machine code against differences of its own values."""
    kernel, blocks = placed.family.variant("tangent")
    at = np.cumsum([0, *(len(b.rows) for b in blocks)])
    state = {"t": placed.t, "mode": placed.example.mode}
    for weights, along in (((0, 1, 0), "v"), ((0, 0, 1), "q")):
        x = placed.inputs(placed.q, placed.v, **state)
        x[placed.family.at["c"] : placed.family.at["c"] + 3] = weights
        tangent = np.zeros((placed.n, placed.n))
        tangent[blocks[2].rows, blocks[2].columns] = kernel(x)[at[2] : at[3]]
        for k in range(placed.n):
            if along == "v":
                column = gradient(lambda v, k=k: placed.Q(placed.q, v, **state)[k], placed.v)
            else:
                column = gradient(lambda q, k=k: placed.Q(q, placed.v, **state)[k], placed.q)
            close(-tangent[k], column, 1e-7)


@pytest.mark.parametrize("name", EXAMPLES)
def test_two_of_a_kind_share_their_kernels(name: str) -> None:
    first, second = EXAMPLES[name].build(), EXAMPLES[name].build()
    assert first is not second and family_of(first) is family_of(second)


# --- springs ------------------------------------------------------------------------------------------------------


def rotated(angle: float, s: Any) -> np.ndarray:
    c, n = np.cos(angle), np.sin(angle)
    return np.array([c * s[0] - n * s[1], n * s[0] + c * s[1]])


def test_spring_of_haug_wehage_and_barman() -> None:
    """Equations 2.10 to 2.16, written out for two bodies."""
    p = Placed("spring")
    q, v = p.q.reshape(2, 3), p.v.reshape(2, 3)
    arms = [rotated(q[0, 2], (0.1, 0.2)), rotated(q[1, 2], (-0.3, 0.1))]
    ends = [q[k, :2] + arms[k] for k in (0, 1)]
    speeds = [v[k, :2] + v[k, 2] * np.array([-arms[k][1], arms[k][0]]) for k in (0, 1)]
    length = np.hypot(*(ends[1] - ends[0]))
    u = (ends[1] - ends[0]) / length
    tension = 7.0 * (length - 0.4) + 1.3 * u @ (speeds[1] - speeds[0]) + 2.0
    expected = [
        [*(s * tension * u), s * tension * (arms[k][0] * u[1] - arms[k][1] * u[0])] for k, s in ((0, 1), (1, -1))
    ]
    close(p.Q(p.q, p.v), np.ravel(expected))
    assert p.V(p.q) == pytest.approx(7.0 * (length - 0.4) ** 2 / 2, rel=1e-14)


def test_a_spring_is_free_as_drawn() -> None:
    m = machine()
    for e in (
        m.spring("S", m["a"].on((0.2, 0.1)), m["b"], stiffness=9.0),
        m.torsion_spring("T", m["a"], m["b"], stiffness=9.0),
        m.torsion_spring("T of bars", carrier(m, "OA"), carrier(m, "EC"), stiffness=9.0),
        m.bushing("B", m["a"], m["b"], stiffness=9.0, torsion=4.0, on_i=(0.1, 0.2), on_j=(0.5, 0.6)),
    ):
        acting = Acting(e)
        close(acting.Q(acting.start), np.zeros(acting.n), 1e-14)
        assert acting.V(acting.start) == pytest.approx(0.0, abs=1e-28)


def test_a_free_length_follows_the_drawing() -> None:
    m = kp.Mechanism("m")
    d = m.parameter("d", 2.0)
    a = m.point("a", (0, 0))
    s = m.spring("S", a, m.point("b", (d, 0)), stiffness=3.0)
    assert Acting(s).V([0, 0, 2.5, 0]) == pytest.approx(3.0 * 0.5**2 / 2)
    assert Acting(s, d=1.0).V([0, 0, 2.5, 0]) == pytest.approx(3.0 * 1.5**2 / 2)


def test_a_spring_of_no_free_length_is_smooth_at_length_zero() -> None:
    m = kp.Mechanism("m")
    a, b = m.point("a", (0, 0)), m.point("b", (1, 0))
    acting = Acting(m.spring("S", a, b, stiffness=3.0, length=0))
    close(acting.Q([1, 2, 1, 2]), np.zeros(4))
    close(acting.Q([0, 0, 1e-9, -2e-9]), 3e-9 * np.array([1, -2, -1, 2]), 1e-24)
    drawn_together = m.spring("S2", a, m.point("c", (0, 0)), stiffness=3.0)
    close(Acting(drawn_together).Q([0, 0, 0, 0.5]), [0, 1.5, 0, -1.5])


def test_a_spring_at_length_zero_has_no_direction_and_no_force() -> None:
    m = kp.Mechanism("m")
    a, b = m.point("a", (0, 0)), m.point("b", (1, 0))
    acting = Acting(m.spring("S", a, b, stiffness=3.0, length=0.5, damping=1.0, force=2.0))
    close(acting.Q([1, 2, 1, 2], [1, 0, 0, 1]), np.zeros(4))
    close(acting.Q([0, 0, 1e-9, 0]), np.array([0.5, 0, -0.5, 0]), 1e-8)


def test_data_of_a_spring_are_an_elastic_energy() -> None:
    m = machine()
    acting = Acting(m.spring("S", m["A"], m["E"], law=kp.spline(*TABLE), length=1.0))
    fit = CubicSpline(*TABLE)
    whole = fit.antiderivative()
    for stretch in (*np.linspace(-0.95, 1.2, 23), *TABLE[0]):
        q = np.array([0.0, 0.0, 1.0 + stretch, 0.0])
        close(acting.Q(q), fit(stretch) * np.array([1, 0, -1, 0]), 1e-12)
        assert acting.V(q) == pytest.approx(whole(stretch) - whole(0.0), abs=1e-13)
    assert not acting.value("force", [0, 0, 1.3, 0]).any()
    torsion = Acting(m.torsion_spring("T", m["a"], m["b"], law=kp.spline(*TABLE), angle=-0.5))
    close(torsion.Q([0, 0, 0.2, 0, 0, 0.1]), fit(0.4) * np.array([0, 0, 1, 0, 0, -1]))


def test_data_and_a_force_in_time_may_both_be_tables() -> None:
    m = machine()
    both = m.spring("S", m["A"], m["E"], force=kp.spline([0, 1, 2], [5.0, 6.0, 9.0]), law=kp.spline(*TABLE), length=1)
    tension = CubicSpline(*TABLE)(0.25) + CubicSpline([0, 1, 2], [5.0, 6.0, 9.0])(1.3)
    close(Acting(both).Q([0, 0, 1.25, 0], t=1.3), tension * np.array([1, 0, -1, 0]))


def test_laws_of_springs_and_actuators() -> None:
    m = machine()
    k, A, B = m["k"], m["A"], m["E"]
    q, v, t = [0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.5, 0.7], 0.8
    cases = {
        "law": ({"law": lambda length, rate: k * length**2 + 4 * rate}, 3.0 * 4.0 + 2.0),
        "law in time": ({"law": lambda length, rate, t: length * t}, 1.6),
        "law of any number": ({"law": lambda *x: x[0] * x[1] * x[2]}, 0.8),
        "number": ({"force": k}, 3.0),
        "harmonic": ({"force": kp.harmonic(2.0, 1.5)}, 2.0 * np.sin(1.2)),
        "ramp": ({"force": kp.constant_speed(2.0, start=1.0)}, 2.6),
        "function": ({"force": lambda t: k * kp.exp(-t)}, 3.0 * np.exp(-0.8)),
        "all": ({"force": 1.0, "law": lambda length, rate: length, "stiffness": 2.0, "length": 0.5}, 1.0 + 2.0 + 3.0),
    }
    for name, (options, tension) in cases.items():
        close(Acting(m.spring(name, A, B, **options)).Q(q, v, t), tension * np.array([1, 0, -1, 0]))
    twist = m.torsion_spring("twist", m["a"], m["b"], torque=lambda t: k * t, law=lambda angle, rate: angle**2 - rate)
    torque = 2.4 + 0.25 - 0.2
    close(Acting(twist).Q([0, 0, 0.1, 0, 0, 0.6], [0, 0, 0.1, 0, 0, 0.3], t), torque * np.array([0, 0, 1, 0, 0, -1]))


def test_torsion_spring_of_haug_wehage_and_barman() -> None:
    """Equation 2.11, with full turns counted."""
    p = Placed("torsion_spring")
    q = p.q + np.array([0, 0, 0, 0, 0, 4 * np.pi])
    angle, rate = q[5] - q[2], p.v[5] - p.v[2]
    close(p.Q(q, p.v), (3.0 * (angle - 0.2) + 0.6 * rate - 1.0) * np.array([0, 0, 1, 0, 0, -1]))


def test_a_torsion_spring_of_bars_is_smooth_around_its_free_angle() -> None:
    m = kp.Mechanism("m")
    o = m.point("O", (0, 0), fixed="xy")
    bar = m.bar("bar", o, m.point("A", (-1, 0)))
    acting = Acting(m.torsion_spring("T", m.ground, bar, stiffness=5.0, angle=np.pi))
    for turned in (-0.02, 0.01):  # the angle itself jumps from pi to -pi between these
        tip = -np.array([np.cos(turned), np.sin(turned)])
        close(acting.Q(tip), -5.0 * turned * np.array([-tip[1], tip[0]]), 1e-12)


def test_bushing_by_hand() -> None:
    m = machine()
    acting = Acting(m.bushing("B", m.ground, m["a"], stiffness=(5.0, 2.0), damping=(0.3, 0.7), axis=(0.6, 0.8)))
    u, n = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
    moved, v = np.array([0.02, -0.05]), np.array([0.4, 0.9, 3.0])
    force = -u * (5.0 * u @ moved + 0.3 * u @ v[:2]) - n * (2.0 * n @ moved + 0.7 * n @ v[:2])
    close(acting.Q(acting.start + np.array([*moved, 0.3]), v), [*force, 0.0])
    turning = Acting(m.bushing("B2", m.ground, m["a"], stiffness=0.0, torsion=3.0, torsion_damping=0.5))
    close(turning.Q(turning.start + np.array([0.1, 0.2, 0.3]), v), [0, 0, -0.9 - 1.5])


# --- loads --------------------------------------------------------------------------------------------------------


def test_a_force_does_work_on_its_point() -> None:
    m = machine()
    q, v = np.array([0.3, 0.5, 0.7]), np.array([1.0, -2.0, 0.4])
    arm = rotated(0.7, (0.2, -0.1))
    for frame, push in (("world", np.array([2.0, -3.0])), ("body", rotated(0.7, (2.0, -3.0)))):
        acting = Acting(m.force(frame, m["a"], (2.0, -3.0), on=(0.2, -0.1), frame=frame))
        Q = acting.Q(q, v)
        close(Q, [*push, arm[0] * push[1] - arm[1] * push[0]])
        assert Q @ v == pytest.approx(push @ (v[:2] + v[2] * np.array([-arm[1], arm[0]])), rel=1e-13)
        close(acting.value("force", q, v), Q)
    turned = Acting(m.force("marker", m["a"].on((0.2, -0.1), angle=np.pi / 2), (2.0, -3.0), frame="body"))
    close(turned.Q(q)[:2], rotated(0.7 + np.pi / 2, (2.0, -3.0)))


def test_a_force_in_time_and_on_other_parts() -> None:
    m = machine()
    laws = (kp.harmonic(2.0, 3.0), lambda t: m["k"] * t)
    close(Acting(m.force("F", m["A"], laws)).Q([0, 0], t=0.5), [2.0 * np.sin(1.5), 1.5])
    close(Acting(m.force("G", m["A"], ca.vertcat(m["k"], 1.0)), k=4.0).Q([0, 0]), [4.0, 1.0])
    bar = Acting(m.force("H", carrier(m, "OA"), np.array([0.0, 1.0]), on=(0.3, 0.0)))
    share = 0.3 / np.hypot(0.4, 0.9)
    close(bar.Q(bar.start), [0, 1 - share, 0, share])


def test_a_torque_turns_bodies_and_bars() -> None:
    m = machine()
    close(Acting(m.torque("T", m["a"], 2.5)).Q([1, 2, 3]), [0, 0, 2.5])
    close(Acting(m.torque("T2", m["a"], 2.5, reaction=m["b"])).Q(np.arange(6.0)), [0, 0, -2.5, 0, 0, 2.5])
    close(Acting(m.torque("T3", m["a"], lambda t: t**2)).Q([1, 2, 3], t=3.0), [0, 0, 9])
    bar = Acting(m.torque("T4", carrier(m, "OA"), 2.0))
    q, omega = bar.start, 1.7
    d = q[2:] - q[:2]
    v = np.array([0.3, -0.2, 0.3 - omega * d[1], -0.2 + omega * d[0]])
    assert bar.Q(q) @ v == pytest.approx(2.0 * omega, rel=1e-13)


def test_loads_need_no_name() -> None:
    m = machine()
    a, b = m["a"], m["b"]
    loads = [m.torque(a, 0.1), m.torque(a, 0.2), m.force(a, (0, -1)), m.force(b.on((1, 0)), (0, 1))]
    loads += [m.force(part=m["A"], force=(1, 0)), m.torque("own", a, 1.0), m.torque(name="T", part=a, torque=1)]
    expected = ["torque on a", "torque on a 2", "force on a", "force on b", "force on A", "own", "T"]
    assert [e.name for e in loads] == expected
    assert [said["name"] for verb, said in m.recipe if verb in ("torque", "force")] == expected


# --- forces of one's own ------------------------------------------------------------------------------------------


def test_a_user_force_can_be_a_spring_and_damper() -> None:
    m = machine()
    k = m["k"]
    built_in = Acting(m.spring("S", m["a"].on((0.1, 0.2)), m["E"], stiffness=k, length=0.4, damping=1.3))

    def pull(i: Any, j: Any) -> Any:
        d = j.r - i.r
        length = kp.sqrt(ca.dot(d, d))
        tension = k * (length - 0.4) + 1.3 * ca.dot(d, j.v - i.v) / length
        return [tension * d / length, -tension * d / length]

    own = Acting(m.user_force("U", pull, m["a"].on((0.1, 0.2)), m["E"]))
    rng = np.random.default_rng(1)
    for _ in range(5):
        q, v = rng.normal(size=(2, 5))
        close(own.Q(q, v), built_in.Q(q, v), 1e-12)
    close(own.value("force", q, v), own.Q(q, v))


def test_what_a_user_force_sees_and_returns() -> None:
    m = machine()
    k, a, z = m["k"], m["a"], m["z"]
    q, v, t = np.array([0.3, 0.5, 0.7]), np.array([1.0, -2.0, 0.4]), 0.9
    drag = Acting(m.user_force("drag", lambda b: (-k * b.vx, -k * b.vy * kp.fabs(b.vy), -b.omega), a))
    close(drag.Q(q, v), [-3.0, 12.0, -0.4])
    wrapped = Acting(m.user_force("wrapped", lambda b: [(b.x, b.y, b.angle)], a))
    close(wrapped.Q(q, v), q)
    with_time = Acting(m.user_force("with time", lambda b, t: [-b.velocity((0.2, 0.1)), t * b.point((0.2, 0.1))[0]], a))
    arm = rotated(0.7, (0.2, 0.1))
    speed = v[:2] + v[2] * np.array([-arm[1], arm[0]])
    close(with_time.Q(q, v, t), [*-speed, t * (0.3 + arm[0])])
    coordinate = Acting(m.user_force("coordinate", lambda c: -2.0 * c.value - c.rate**3, z))
    close(coordinate.Q([0.5], [2.0]), [-9.0])
    several = m.user_force("several", lambda i, j, c: [0, (1.0, 2.0), c.value], a, m["A"], z)
    close(Acting(several).Q(np.arange(6.0)), [0, 0, 0, 1, 2, 5])
    geared = Acting(m.user_force("quantity", lambda angle: -k * angle.rate, kp.angle(a, m["b"])))
    close(geared.Q(np.zeros(6), [0, 0, 1, 0, 0, 3]), [0, 0, 6, 0, 0, -6])
    bar = Acting(m.user_force("bar", lambda b, p: [0, (b.omega, b.u[0])], carrier(m, "OA"), m["E"]))
    d = bar.start[2:4] - bar.start[:2]
    turning = np.array([0, 0, -1.5 * d[1], 1.5 * d[0], 0, 0])
    close(bar.Q(bar.start, turning), [0, 0, 0, 0, 1.5, d[0] / np.hypot(*d)])


def test_parameters_of_a_user_force_are_numbers_of_its_kernel() -> None:
    m = machine()
    acting = [Acting(m.user_force(f"U{n}", lambda b: (m["k"] * b.x, 0, 0), m[n])) for n in "ab"]
    assert acting[0].family is acting[1].family
    close(Acting(m["Ua"], k=5.0).Q([2.0, 0, 0]), [10.0, 0, 0])


# --- stops --------------------------------------------------------------------------------------------------------


def ball(**options: Any) -> Acting:
    """A particle above a stop at height 1."""
    m = kp.Mechanism("ball")
    return Acting(m.bump_stop("stop", m.point("P", (0, 2), fixed="x").y, 1.0, 50.0, **options))


def test_force_of_a_stop_in_each_mode() -> None:
    stop = ball(damping=2.0, exponent=1.5)
    spring = 50.0 * 0.1**1.5
    for v in (0.3, -0.3):
        close(stop.Q([0.9], [v], mode="contact"), [spring - 2.0 * v])  # d' = -v
        close(stop.Q([0.9], [v], mode="free"), [0.0])
        close(stop.Q([0.9], [v], mode="released"), [0.0], 1e-15)
    assert stop.V([0.9], "contact") == stop.V([0.9], "released") == pytest.approx(50.0 * 0.1**2.5 / 2.5)
    assert stop.V([0.9], "free") == stop.V([1.1], "contact") == 0.0
    close(stop.Q([1.1], [0.0], mode="contact"), [0.0])
    mirrored = ball(side="above")
    close(mirrored.Q([1.2], [0.3], mode="contact"), [-10.0])
    close(mirrored.Q([0.8], [0.3], mode="free"), [0.0])


def test_guards_of_a_stop_are_positive_while_the_mode_lasts() -> None:
    stop = ball(damping=2.0)
    assert stop.guards([1.1], [-1.0], "free") == {("free", "contact"): pytest.approx(0.1)}
    assert stop.guards([0.9], [-1.0], "free")[("free", "contact")] < 0
    pressed = stop.guards([0.9], [2.0], "contact")
    assert pressed == {("contact", "free"): pytest.approx(0.1), ("contact", "released"): pytest.approx(1.0)}
    assert stop.guards([0.9], [3.0], "contact")[("contact", "released")] == pytest.approx(-1.0)
    leaving = stop.guards([0.9], [3.0], "released")
    assert leaving == {("released", "free"): pytest.approx(0.1), ("released", "contact"): pytest.approx(1.0)}
    assert stop.guards([1.1], [3.0], "released")[("released", "free")] < 0
    assert stop.guards([0.9], [2.0], "released")[("released", "contact")] < 0
    assert set(ball().guards([0.9], [3.0], "contact")) == {("contact", "free")}


def test_first_mode_of_a_stop() -> None:
    stop = ball(damping=2.0)
    assert stop.first_mode([1.1], [-5.0]) == "free"
    assert stop.first_mode([0.9], [2.0]) == "contact"
    assert stop.first_mode([0.9], [3.0]) == "released"
    assert stop.first_mode([1.0], [-1.0]) == "contact"
    assert stop.first_mode([1.0], [1.0]) == "free"
    assert stop.first_mode([1.0], [0.0]) == "contact"


def falling(stop: Acting, mode: str, k: int) -> Any:
    """The fall of the k-th guard of a mode through zero, as an event for SciPy."""

    def event(_: float, y: np.ndarray) -> float:
        return list(stop.guards(y[:1], y[1:2], mode).values())[k]

    event.terminal, event.direction = True, -1  # type: ignore[attr-defined]
    return event


@pytest.mark.parametrize("options", [{}, {"damping": 2.0}, {"damping": 2.0, "exponent": 1.5}, {"damping": 8.0}])
def test_a_bounce_keeps_the_balance_of_energy(options: dict) -> None:
    """A particle of unit mass and no weight flies into the stop; the guards end each mode."""
    stop, mode, y = ball(**options), "free", np.array([1.5, -3.0, 0.0])
    modes, pulls = [], 0.0

    def rates(_: float, y: np.ndarray) -> list[float]:
        state = {"q": y[:1], "v": y[1:2], "mode": mode}
        return [y[1], stop.Q(**state)[0], -float(stop.value("damping", **state)[0] * y[1])]

    for _ in range(4):
        ways = [s for s in stop.family.switches if s.source == mode]
        modes.append(mode)
        guards = [falling(stop, mode, k) for k in range(len(ways))]
        run = solve_ivp(rates, (0, 1.0), y, events=guards, rtol=1e-9, atol=1e-12, max_step=0.01)
        pulls = min(pulls, *(stop.Q(q, v, mode=mode)[0] for q, v in zip(run.y[:1].T, run.y[1:2].T, strict=True)))
        y = run.y[:, -1]
        if run.status != 1:
            break
        mode = ways[int(np.argmax([len(t) for t in run.t_events]))].target
    assert modes == (["free", "contact", "free"] if not options else ["free", "contact", "released", "free"])
    assert y[0] > 1.0 and y[1] > 0.0 and pulls > -1e-6
    assert y[1] ** 2 / 2 + y[2] == pytest.approx(4.5, rel=1e-7)
    assert (y[2] == 0.0) if not options else (0.1 < y[2] < 4.5)


# --- model files --------------------------------------------------------------------------------------------------


def loaded_machine() -> kp.Mechanism:
    """Every force, with parameters named like what springs measure."""
    m = machine()
    k, L = m["k"], m.parameter("length", 0.4)
    a, b, A, bar = m["a"], m["b"], m["A"], carrier(m, "EC")
    m.spring("S 1", m.ground, a, on_i=(L, 0), stiffness=10 * k, law=lambda length, rate: L * length**3 - k * rate)
    m.spring("S2", a.on((0.1, 0.2)), b, law=kp.spline(*TABLE), damping=k, length=L, force=kp.harmonic(1, 2))
    m.spring("S3", A, bar, on_j=(0.1, L), force=lambda t: k * kp.sin(t), damping=2.0)
    m.torsion_spring("T", a, bar, stiffness=2, angle=L, damping=k, law=lambda angle, rate, t: angle * rate * t)
    m.torsion_spring("T2", a, b, law=kp.spline(*TABLE), torque=kp.constant_speed(2.0))
    m.bushing("B", a, b, stiffness=(1, k), damping=3, torsion=1, torsion_damping=L, at=(0.5, 0.5), axis=(1, k))
    m.bump_stop("stop", a.x, L, 1e2, damping=k, exponent=1.5, side="above")
    m.bump_stop("angle stop", kp.angle(a, b), 0.1, 5.0)
    m.force(a, (0, k), on=(0.1, L), frame="body")
    m.force("F", b, (kp.harmonic(1, 2), lambda t: k * t))
    m.torque(a, 0.1)
    m.torque(bar, lambda t: L * kp.sin(t), reaction=a)
    m.user_force(
        "drag", lambda i, j, p, c, s, t: [(-i.vx * t, 0, L), -k * j.v, 0, 2 * c.rate, -s.rate],
        a, b.on((0.1, 0)), A, m["z"], kp.angle(a, b),
    )  # fmt: skip
    return m


def test_forces_survive_a_round_trip_through_a_file(tmp_path: Any) -> None:
    m = loaded_machine()
    m.save(tmp_path / "loaded.kempe.yaml")
    again = kp.load(tmp_path / "loaded.kempe.yaml")
    assert files.text_of(files.describe(again)) == files.text_of(files.describe(m))
    rng = np.random.default_rng(3)
    where = {p.name: (rng.normal(size=len(p.channels)), rng.normal(size=len(p.channels))) for p in m.parts.values()}
    forces = [e for e in m.elements.values() if not isinstance(e, el.RigidLink)]
    assert len(forces) == 13
    for one in forces:
        for parameters in ({}, {"k": 2.0, "length": 0.7}):
            pushes = []
            for acting in (Acting(one, **parameters), Acting(again.elements[one.name], **parameters)):
                q, v = (np.concatenate([where[p.name][k] for p in acting.element.parts()]) for k in (0, 1))
                Q = acting.Q(q, v, 0.7, "contact" if one.modes else "")
                names = [n[0] for p in acting.element.parts() for n in p.names()]
                pushes.append({n: push for n, push in zip(names, Q, strict=True) if push != 0.0})
            assert pushes[0] == pytest.approx(pushes[1], rel=1e-12), one.name


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("spring: {name: S, i: ground, j: a, law: 5}", "S.length"),
        ("spring: {name: S, i: ground, j: a, law: 3 * length}", "unknown name 'length'"),
        ("spring: {name: S, i: ground, j: a, stiffness: [1, 2]}", "must be a number"),
        ("spring: {name: S, i: ground, j: a}", "'S' does nothing"),
        ("bushing: {name: B, i: ground, j: a, stiffness: [1, 2, 3]}", "two numbers"),
        ("force: {name: F, part: a, force: 3}", "list of two"),
        ("force: {name: F, part: a, force: [1, 2], frame: car}", "'F'.*'car'"),
        ("bump_stop: {name: P, quantity: a.x, limit: 0, stiffness: 1, side: left}", "'P'.*'left'"),
        ("user_force: {name: U, forces: {a.w: 3}}", "'U'.*no coordinate 'a.w'"),
        ("user_force: {name: U, forces: {a.x: 3 * a.wx}}", "'U'.*unknown name 'a.wx'"),
        ("user_force: {name: U, forces: [1, 2]}", "by coordinate"),
    ],
)
def test_mistakes_in_files_are_explained(line: str, says: str) -> None:
    text = f"kempe: 1\nname: x\nmodel:\n- body: {{name: a}}\n- {line}"
    with pytest.raises(kp.ModelError, match=f":5: .*{says}"):
        files.build(files.read_text(text, "x.yaml"), kp.Mechanism, kp.Equations)
