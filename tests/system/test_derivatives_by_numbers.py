"""What gradients and switching are made of: derivatives by an element's numbers, rates of guards, forces by loads."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import kempe as kp
from kempe.elements import Element
from kempe.elements.base import Load, Switch
from kempe.simulation.posing import Posed
from kempe.simulation.starting import begun
from kempe.solvers import motion as mo
from kempe.system import compiled, families
from kempe.system.families import Family, Variant, family_of

sys.path.insert(0, str(Path(__file__).parents[1] / "elements"))

import test_every_element
import test_forces

#: Weights of central differences of sixth order at -3 ... 3.
PLACES = np.arange(-3, 4)
FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180


# --- elements of their own ------------------------------------------------------------------------------------------


class Latch(Element):
    """Switches of every kind: by place, rate, time, kept values, multipliers, accelerations; jumps and kicks."""

    rows = ("hook", "guide")
    modes = ("open", "held", "gone")
    latches = ("speed", "place")
    row_modes = {"hook": ("held",)}

    def __init__(self, name: str, body: Any, other: Any) -> None:
        super().__init__(name, body=body, other=other, gap=0.3, strength=2.0, bounce=0.6, period=1.7)

    def phi(self, x: Any) -> list[Any]:
        gap = x.body.r - x.other.r
        return [x.strength * (ca.dot(gap, gap) - x.gap**2), x.body.angle - x.gap * kp.sin(x.other.angle * x.bounce)]

    def switches(self, x: Any) -> list[Switch]:
        across = kp.sqrt(ca.dot(x.body.r - x.other.r, x.body.r - x.other.r))
        speed = x.d(across)
        return [
            Switch(
                "open", across - x.gap + 0.1 * kp.sin(x.period * x.t), "held", latch={"speed": speed, "place": across}
            ),
            Switch("open", x.strength - speed**2 * x.kept["place"] + x.t**3, "gone", jump={"guide": x.bounce * x.gap}),
            Switch(
                "held",
                x.strength - x.lam["hook"] * speed + x.kept["speed"] * x.gap,
                "open",
                jump={"hook": x.bounce**2, "guide": 0.0},
                kick=x.push(across, x.strength * speed * x.gap),
            ),
            Switch("gone", x.gap + x.dd(across) * x.bounce + across**3, "open"),
        ]

    def first_mode(self, x: Any) -> Any:
        return 0.0


class Brake(Element):
    """A force that depends on what its own row carries, and on the load of a joint."""

    rows = ("hold",)

    def __init__(self, name: str, i: Any, j: Any, joint: Element) -> None:
        super().__init__(name, i=i, j=j, load=Load(joint), friction=0.3, arm=0.2)

    def phi(self, x: Any) -> list[Any]:
        return [x.j.angle - x.i.angle + x.arm * kp.sin(x.j.angle) - 0.2]

    def force(self, x: Any) -> Any:
        pressed = kp.sqrt(x.load["x"] ** 2 + x.load["y"] ** 2 + 0.5)
        turned = x.j.angle - x.i.angle
        along = x.j.r[0] * kp.cos(x.i.angle)
        return x.push(turned, -x.friction * x.arm * pressed * kp.tanh(x.d(turned))) + x.push(
            along, x.friction * x.lam["hold"] * x.load["x"]
        )

    def damping(self, x: Any) -> Any:
        return x.push(x.i.angle, -x.friction * x.d(x.i.angle) * x.lam["hold"] ** 2)


def bodies(**masses: float) -> tuple[kp.Mechanism, Any, Any]:
    m = kp.Mechanism("two bodies", gravity=(0.3, -9.81))
    a = m.body("a", at=(0.3, 0.1), angle=0.4, **masses)
    b = m.body("b", at=(1.1, 0.7), angle=-0.3, **masses)
    return m, a, b


def latch() -> Element:
    m, a, b = bodies()
    return m.add(Latch("latch", a, b))


def brake() -> Element:
    m, a, b = bodies()
    return m.add(Brake("brake", a, b, m.revolute("pin", a, b, at=(0.7, 0.4))))


def events() -> Iterator[tuple[str, Element]]:
    m, a, b = bodies()
    yield "event", m.event("event", kp.distance(a, b), 0.9)
    yield "event of a rate", m.event("rate", kp.angle(a, b), 0.2, rate=True, direction="rising")


def inertias() -> Iterator[tuple[str, Element]]:
    """Everything that has mass."""
    m = kp.Mechanism("masses", gravity=(1.0, -9.81))
    m.body("body", mass=2.0, inertia=0.3, at=(0.3, 0.1), angle=0.4)
    places = [(0.1, 0.2), (1.2, 0.4), (0.7, 1.1), (-0.3, 0.8), (2.0, 0.3)]
    points = [m.point(f"P{k}", at, mass=0.4 if k == 4 else None) for k, at in enumerate(places)]
    m.plate("plate", *points[:4], mass=2.0, centre=(0.5, 0.2), inertia=0.3)
    m.bar("bar", points[3], points[4], mass=1.5)
    for name, element in m.elements.items():
        if element.has_inertia:
            yield f"mass of {name}", element


# --- an element at work, in numbers ---------------------------------------------------------------------------------


class Working:
    """An element with random rates, accelerations, multipliers and kept values, near where it is drawn."""

    def __init__(self, name: str, element: Element, inputs: np.ndarray | None = None) -> None:
        self.element, self.family = element, family_of(element)
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        f, rng = self.family, self.rng
        self.x = test_forces.Acting(element).inputs(self._near(element), t=0.37) if inputs is None else inputs
        self.put("v", rng.uniform(-1, 1, f.v.numel()))
        self.put("a", rng.uniform(-1, 1, f.a.numel()))
        self.put("lam", rng.uniform(0.5, 1.5, f.lam.numel()))
        self.put("z", np.append([0.0], np.ones(f.z.numel()))[: f.z.numel()] * rng.uniform(0.5, 1.0))
        self.put("c", rng.uniform(0.5, 1.0, 3))
        if element.modes:
            self.mode(element.modes[0])

    def _near(self, element: Element) -> np.ndarray:
        start = np.array([float(s) for part in element.parts() for s in part.start])
        return start + 0.1 * self.rng.uniform(-1, 1, len(start))

    def place(self, name: str) -> slice:
        return slice(self.family.at[name], self.family.at[name] + getattr(self.family, name).numel())

    def put(self, name: str, values: np.ndarray) -> None:
        self.x[self.place(name)] = values

    def mode(self, name: str) -> None:
        """Enter a mode, with the rows that are in force there."""
        e, at = self.element, self.family.at["z"]
        self.x[at] = e.modes.index(name)
        for k, row in enumerate(e.conditional_rows()):
            self.x[at + 1 + len(e.latches) + k] = name in e.row_modes[row]

    def vector(self, variant: str, block: int = 0) -> Callable[[np.ndarray], np.ndarray]:
        """A block of a variant, from machine code, as a function of the inputs."""
        made = self.family.variant(variant)
        sizes = {
            "residual": [self.family.q.numel(), self.family.n_rows],
            "velocity": [self.family.n_rows] * 2,
            "explicit": [self.family.q.numel()],
            "guards": [len(self.family.switches)] * 3,
            "jumps": [self.family.jumps.numel()],
        }[variant]
        first = sum(len(b.rows) for b in made.blocks[:block])
        rows = made.blocks[block].rows

        def at(x: np.ndarray) -> np.ndarray:
            out = np.zeros(sizes[block])
            out[rows] = made.kernel(x)[first : first + len(rows)]
            return out

        return at

    def matrix(self, made: Variant, block: int, shape: tuple[int, int]) -> np.ndarray:
        first = sum(len(b.rows) for b in made.blocks[:block])
        rows, columns = made.blocks[block]
        out = np.zeros(shape)
        out[rows, columns] = made.kernel(self.x)[first : first + len(rows)]
        return out

    def differences(self, f: Callable[[np.ndarray], np.ndarray], name: str) -> np.ndarray:
        """The derivative of f by a part of the inputs, by differences of sixth order."""
        columns = []
        for k in range(*self.place(name).indices(len(self.x))):
            h = 2e-3 * max(abs(self.x[k]), 0.5)
            moved = np.repeat(self.x[None, :], 7, axis=0)
            moved[:, k] += h * PLACES
            columns.append(FIRST @ np.array([f(x) for x in moved]) / h)
        return np.array(columns).T if columns else np.zeros((len(f(self.x)), 0))

    def momentum(self, x: np.ndarray) -> np.ndarray:
        f: Family = self.family
        return np.array(ca.Function("momentum", [f.x], [ca.densify(f.momentum)])(x)).ravel()


def every_element() -> dict[str, Callable[[], Working]]:
    found: dict[str, Callable[[], Working]] = {}
    for name in test_every_element.EXAMPLES:

        def constraint(name: str = name) -> Working:
            placed = test_every_element.Placed(name, test_every_element.TURNED)
            return Working(name, placed.element, placed.inputs)

        found[name] = constraint
    for name, example in test_forces.EXAMPLES.items():

        def force(name: str = name, example: Any = example) -> Working:
            working = Working(name, example.build())
            if example.mode:
                working.mode(example.mode)
            return working

        found[name] = force
    for name, element in [*events(), *inertias(), ("latch", latch()), ("brake", brake())]:
        found[name] = lambda name=name, element=element: Working(name, element)
    return found


EVERY = every_element()


@pytest.fixture(params=EVERY, scope="module")
def working(request: pytest.FixtureRequest) -> Working:
    return EVERY[request.param]()


SWITCHING = [name for name, example in test_forces.EXAMPLES.items() if example.mode] + ["latch", *dict(events())]


@pytest.fixture(params=SWITCHING, scope="module")
def switching(request: pytest.FixtureRequest) -> Working:
    return EVERY[request.param]()


def close(actual: Any, expected: Any, tolerance: float = 1e-9) -> None:
    size = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance * size)


# --- by numbers -----------------------------------------------------------------------------------------------------


def test_balance_and_constraints_by_numbers(working: Working) -> None:
    f = working.family
    for variant, sizes in (("residual", (f.q.numel(), f.n_rows)), ("velocity", (f.n_rows, f.n_rows))):
        made = f.variant(f"{variant}_p")
        for block, size in enumerate(sizes):
            exact = working.matrix(made, block, (size, f.p.numel()))
            close(exact, working.differences(working.vector(variant, block), "p"))


def test_momenta_by_numbers(working: Working) -> None:
    f = working.family
    exact = working.matrix(f.variant("momentum_p"), 0, (f.q.numel(), f.p.numel()))
    close(exact, working.differences(working.momentum, "p"))
    if f.kinetic is not None:
        assert exact.any()  # it has a mass, and its momentum depends on it


def test_guards_and_jumps_by_numbers(switching: Working) -> None:
    working, f = switching, switching.family
    for mode in f.modes:
        working.mode(mode)
        for variant in ("guards", "jumps"):
            value = working.vector(variant)
            exact = working.matrix(f.variant(f"{variant}_p"), 0, (len(value(working.x)), f.p.numel()))
            close(exact, working.differences(value, "p"))
            if variant == "guards" and f.p.numel():
                assert exact.any()


# --- guards along a motion ------------------------------------------------------------------------------------------


def test_rates_of_guards_along_a_motion(switching: Working) -> None:
    """Q = q0 + v0 s + a0 s^2 / 2 + j0 s^3 / 6 at t = t0 + s; second rates are those for accelerations that stay."""
    working, f, rng = switching, switching.family, np.random.default_rng(5)
    q, v, a, t = (working.x[working.place(name)].copy() for name in ("q", "v", "a", "t"))
    j, h = rng.uniform(-1, 1, len(q)), 2e-3

    def along(s: float, jerk: np.ndarray) -> np.ndarray:
        x = working.x.copy()
        x[working.place("q")] = q + s * v + s**2 / 2 * a + s**3 / 6 * jerk
        x[working.place("v")] = v + s * a + s**2 / 2 * jerk
        x[working.place("t")] = t + s
        return x

    for mode in f.modes:
        working.mode(mode)
        guards, rates, second = (working.vector("guards", block) for block in range(3))
        close(rates(working.x), FIRST @ np.array([guards(along(h * k, j)) for k in PLACES]) / h)
        close(second(working.x), SECOND @ np.array([guards(along(h * k, 0 * j)) for k in PLACES]) / h**2, 1e-8)
        close(second(working.x), FIRST @ np.array([rates(along(h * k, 0 * j)) for k in PLACES]) / h)
        here = [s.source == mode for s in f.switches]
        assert (guards(working.x)[np.logical_not(here)] == 1.0).all()  # those of other modes say nothing
        assert not rates(working.x)[np.logical_not(here)].any()


# --- forces that depend on multipliers ------------------------------------------------------------------------------


@pytest.mark.parametrize("by_columns", [False, True])
def test_applied_forces_by_multipliers(by_columns: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last block of ``explicit`` and ``tangent`` is -Q_lambda, however the tangent is written."""
    working = Working("brake", brake())
    f = Family(working.element)
    if by_columns:
        monkeypatch.setattr(families, "LONG", 0)
    shape = (f.q.numel(), f.lam.numel())
    expected = working.differences(working.vector("explicit"), "lam")  # of -Q
    assert shape == (6, 3) and np.abs(expected).max(axis=0).min() > 1e-3  # every multiplier counts
    assert f.loaded
    for name in ("explicit", "tangent"):
        made = f.variant(name)
        close(working.matrix(made, len(made.blocks) - 1, shape), expected)
    tangent = f.variant("tangent")
    c = working.x[working.place("c")]
    by = [working.differences(working.vector("residual"), name) for name in ("a", "v", "q")]
    close(working.matrix(tangent, 2, (6, 6)), sum(w * part for w, part in zip(c, by, strict=True)))


def loaded_machine() -> kp.Mechanism:
    m, a, b = bodies(mass=2.0, inertia=0.3)
    pin = m.revolute("pin", a, b, at=(0.7, 0.4))
    m.revolute("foot", m.ground, a, at=(0, 0))
    m.add(Brake("brake", a, b, pin))
    return m


def test_the_matrix_of_a_system_has_the_loads_in_it() -> None:
    """The block to the right is f_lambda = Phi_q^T - Q_lambda, in the explicit and in the implicit program."""
    posed = Posed(loaded_machine())
    system, d, rng = posed.system, posed.system.dynamics, np.random.default_rng(3)
    n, m = system.n, system.m
    q, v, a, lam = posed.drawn, rng.normal(size=n), rng.normal(size=n), rng.uniform(0.5, 1.5, m)

    def balance(multipliers: np.ndarray) -> np.ndarray:
        return system.evaluate(d.residual, posed.x, q, 0.2, v, multipliers, a)[:n]

    h = 1e-3
    expected = np.array([FIRST @ np.array([balance(lam + h * k * e) for k in PLACES]) / h for e in np.eye(m)]).T
    Phi_q = system.linear(posed.x, q, 0.2)[1]
    assert np.abs(expected - Phi_q.T).max() > 0.01  # forces do depend on loads
    for program, before in ((d.explicit, n + 3 * m), (d.tangent, n + m)):
        out = system.evaluate(program, posed.x, q, 0.2, v, lam, a, weights=[1.0, 0.0, 0.0])
        rows, columns, places = d.entries
        K = np.zeros((n + m, n + m))
        np.add.at(K, (rows, columns), out[before:][places])
        close(K[:n, n:], expected)
        close(K[n:, :n], Phi_q, 1e-14)
        close(K[:n, :n], system.mass_matrix(posed.x, q), 1e-14)
        assert not K[n:, n:].any()


def test_accelerations_and_multipliers_balance_forces_that_depend_on_them() -> None:
    model = loaded_machine()
    machine = begun(model, 0.5, method="alpha", velocities={"a.omega": 1.3})
    now, eq, wk = machine.course.now, machine.eq, machine.wk
    assert eq.loaded == 1 and mo.solve_state(eq, wk, now, 4) == 1
    mo.place_all(eq, wk, now)
    mo.run_program(eq.residual, wk)
    assert np.abs(wk.out[: eq.n]).max() < 1e-11 * np.abs(now.al).max()
    gamma = compiled(model).gamma(wk.x.copy(), now.q, now.t, now.v)
    Phi_q = compiled(model).linear(wk.x.copy(), now.q, now.t)[1]
    assert np.abs(Phi_q @ now.al[: eq.n] - gamma).max() < 1e-11 * np.abs(now.al).max()
