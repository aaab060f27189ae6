"""Tables called on anything, against scipy and against solve_ivp: values, motions, what holds beyond their data."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline, RectBivariateSpline, RegularGridInterpolator

import kempe as kp

X = np.array([-2.0, -1.2, -0.5, 0.1, 0.4, 1.1, 2.0])
Y = np.array([1.0, -0.5, 0.3, 0.9, -0.2, 0.4, 1.0])
W = np.array([-3.0, -1.0, 0.0, 0.7, 2.0, 3.0])
Z = np.sin(X)[:, None] * np.cos(0.7 * W) + 0.1 * X[:, None] * W


def slider(push: Callable[..., Any], x: float = 0.3) -> kp.Mechanism:
    """A block of mass 2 on a guide, pushed along it."""
    m = kp.Mechanism("slider")
    block = m.body("b", mass=2.0, inertia=1.0, at=(x, 0.0))
    m.translational("guide", m.ground, block, axis=(1, 0))
    m.user_force("push", lambda b: (push(b.x, b.vx), 0, 0), block)
    return m


def reference(push: Callable[..., Any], t: np.ndarray, x: float = 0.3, v: float = 0.0) -> np.ndarray:
    return solve_ivp(
        lambda _, s: [s[1], float(push(s[0], s[1])) / 2.0],
        (0.0, t[-1]),
        [x, v],
        method="DOP853",
        rtol=1e-12,
        atol=1e-13,
        t_eval=t,
        max_step=0.01,
    ).y[0]


def test_values_are_those_of_scipy() -> None:
    x, w = np.random.default_rng(0).uniform(-2, 2, 200), np.random.default_rng(1).uniform(-3, 3, 200)
    for ends in ("not-a-knot", "natural", "clamped"):
        assert np.abs(kp.table(X, Y, ends=ends)(x) - CubicSpline(X, Y, bc_type=ends)(x)).max() < 1e-14
    assert np.abs(kp.table(X, Y, kind="linear")(x) - np.interp(x, X, Y)).max() < 1e-15
    periodic = CubicSpline(X, Y, bc_type="periodic")
    assert np.abs(kp.table(X, Y, periodic=True)(3 * x) - periodic(3 * x)).max() < 1e-13
    assert np.abs(kp.table(X, W, Z)(x, w) - RectBivariateSpline(X, W, Z, s=0).ev(x, w)).max() < 1e-13
    bilinear = RegularGridInterpolator((X, W), Z)
    assert np.abs(kp.table(X, W, Z, kind="linear")(x, w) - bilinear(np.column_stack([x, w]))).max() < 1e-14
    assert isinstance(kp.table(X, Y)(0.3), float)


@pytest.mark.parametrize("kind", ["cubic", "linear"])
def test_beyond_the_data_it_holds_extrapolates_or_refuses(kind: str) -> None:
    beyond = np.array([-9.0, -2.0, 2.0, 2.5])
    held = kp.table(X, Y, kind=kind, outside="hold")
    assert np.abs(held(beyond) - Y[[0, 0, -1, -1]]).max() < 1e-14
    going_on = kp.table(X, Y, kind=kind, outside="extrapolate")
    if kind == "cubic":
        assert np.abs(going_on(beyond) - CubicSpline(X, Y)(beyond)).max() < 1e-11
    else:
        assert going_on(2.5) == pytest.approx(Y[-1] + 0.5 * (Y[-1] - Y[-2]) / (X[-1] - X[-2]))
    with pytest.raises(kp.ModelError, match=r"table 'lift' is read at 2.5; its data go from -2 to 2"):
        kp.table(X, Y, kind=kind, name="lift")(2.5)
    flat = kp.table(X, W, Z, kind=kind, outside="hold")
    for x, w in [(-5.0, 0.3), (0.2, 9.0), (7.0, -8.0), (1.0, 1.0)]:
        assert flat(x, w) == pytest.approx(flat(np.clip(x, -2, 2), np.clip(w, -3, 3)), abs=1e-13)
    with pytest.raises(kp.ModelError, match=r"read at 9 in its argument 2; its data go from -3 to 3"):
        kp.table(X, W, Z)(0.0, 9.0)


@pytest.mark.parametrize("method", kp.METHODS)
def test_a_motion_is_that_of_solve_ivp_with_every_method(method: str) -> None:
    """A force from tables of position and of rate, one within the other, and one of both."""
    spring, damper = CubicSpline(X, -3 * X + 0.3 * Y), CubicSpline(W, -0.4 * W + 0.02 * W**3)
    both = RectBivariateSpline(X, W, Z, s=0)
    S, D, B = kp.table(X, -3 * X + 0.3 * Y), kp.table(W, -0.4 * W + 0.02 * W**3), kp.table(X, W, Z)
    m = slider(lambda x, v: S(x) + D(v + 0.1 * S(x)) + 0.2 * B(x, v))
    tolerance = 1e-9 if method not in ("alpha", "ali3p") else 1e-8
    result = m.simulate(2.0, steps=20, method=method, tolerance=tolerance)
    exact = reference(lambda x, v: spring(x) + damper(v + 0.1 * spring(x)) + 0.2 * both.ev(x, v), result.t)
    close = {"alpha": 1e-4, "ali3p": 1e-4, "bdf": 3e-6, "bdf3": 3e-6, "penalty": 1e-5, "baumgarte": 1e-5}
    assert np.abs(result.array("b.x") - exact).max() < close.get(method, 2e-6)


def test_a_linear_table_bends_the_force_and_the_motion_follows() -> None:
    bent = kp.table(X, -3 * X + Y, kind="linear")
    result = slider(lambda x, v: bent(x)).simulate(1.5, steps=15, tolerance=1e-10)
    exact = reference(lambda x, v: np.interp(x, X, -3 * X + Y), result.t)
    assert np.abs(result.array("b.x") - exact).max() < 1e-7


# --- the end of the data ---------------------------------------------------------------------------------------------


def test_a_run_ends_where_its_table_does() -> None:
    """Constant acceleration 4 from rest at 0.3: x = 2 is reached at sqrt(2 * 1.7 / 4)."""
    T = kp.table(X, np.full(len(X), 8.0), name="thrust")
    with pytest.raises(kp.ConvergenceError, match=r"user force 'push': table 'thrust'.* from -2 to 2") as caught:
        slider(lambda x, v: T(x)).simulate(5.0)
    result = caught.value.result
    assert result.status == "failed" and result.t[-1] == pytest.approx(np.sqrt(2 * 1.7 / 4), rel=1e-8)
    assert result.array("b.x")[-1] == pytest.approx(2.0, rel=1e-8)
    assert result.events[-1].kind == "outside" and result.events[-1].element == "push"


def test_a_short_way_out_and_back_is_noticed() -> None:
    """A ball that rises above the data for a thousandth of a second, within long steps."""
    m = kp.Mechanism("ball", gravity=(0, -10.0))
    p = m.point("p", at=(0.0, 0.0), mass=1.0)
    top = 0.5 - 10.0 * 0.0005**2 / 2
    T = kp.table([-1.0, 0.0, top], [1.0, 1.0, 1.0], name="air")
    m.user_force("drag", lambda p: (T(p.y), 0), p)
    with pytest.raises(kp.ConvergenceError, match="'air'") as caught:
        m.simulate(0.5, velocities={"p.vy": np.sqrt(10.0)}, steps=2)
    assert caught.value.result.t[-1] == pytest.approx(np.sqrt(0.1) - 0.0005, abs=2e-6)


def test_a_run_that_stays_inside_is_not_disturbed() -> None:
    """It swings to the very ends of its data; trial steps may look beyond."""
    inside = kp.table([-0.3, -0.1, 0.1, 0.3], [0.6, 0.2, -0.2, -0.6])
    result = slider(lambda x, v: inside(x)).simulate(20.0, tolerance=1e-11)
    assert np.abs(result.array("b.x") - 0.3 * np.cos(result.t)).max() < 1e-8 and result.status == "complete"
    assert not result.events


@pytest.mark.parametrize("ask", ["simulate", "kinematics", "inverse_dynamics"])
def test_a_law_from_a_table_ends_with_it(ask: str) -> None:
    m = slider(lambda x, v: 0.0)
    m.driver("drive", m["b"].x, kp.table([0.0, 1.0, 2.0], [0.3, 0.5, 0.4], name="way"))
    assert getattr(m, ask)(2.0).success
    with pytest.raises(kp.ConvergenceError, match=r"driver 'drive': table 'way' is read at 2.*from 0 to 2") as caught:
        getattr(m, ask)(3.0, steps=30)
    assert caught.value.result.t[-1] == pytest.approx(2.0, abs=1e-6)


def test_states_beyond_the_data_are_refused_by_every_question() -> None:
    T = kp.table(X, -X, name="pull")
    m = slider(lambda x, v: T(x + 5.0))
    pose = m.assemble()
    for question in (lambda: m.simulate(1.0), m.accelerations, lambda: m.linearise(pose)):
        with pytest.raises(kp.ModelError, match=r"'push': table 'pull' is read at 5.3; its data go from -2 to 2"):
            question()
    held = kp.table([0.0, 1.0, 2.0], [1.0, 1.0, 3.0], kind="linear", name="push up")
    m = slider(lambda x, v: held(x + 1.0) - 4.0 * (x - 5.0))
    with pytest.raises(kp.KempeError, match="push up"):
        m.equilibrium()


def test_a_spline_says_what_holds_beyond_its_data() -> None:
    def driven(**options: Any) -> kp.Mechanism:
        m = slider(lambda x, v: 0.0)
        m.driver("d", m["b"].x, kp.spline([0, 1, 2], [0.0, 1.0, 0.5], **options))
        return m

    assert driven(outside="hold").kinematics(4.0).array("b.x")[-1] == pytest.approx(0.5, abs=1e-14)
    assert driven().kinematics(4.0).array("b.x")[-1] == pytest.approx(CubicSpline([0, 1, 2], [0.0, 1.0, 0.5])(4.0))
    with pytest.raises(kp.ConvergenceError, match=r"driver 'd'.*from 0 to 2"):
        driven(outside="error").kinematics(4.0)


# --- everywhere an expression may stand ------------------------------------------------------------------------------


class Hill(kp.Element):
    """A potential from a table that is an attribute, or a field."""

    def __init__(self, name: str, b: Any, table: Any, field: bool) -> None:
        super().__init__(name, b=b, **({"shape": table} if field else {}))
        if not field:
            self.table = table

    def potential(self, x: Any) -> Any:
        return x.shape(x.b.x) if "shape" in self.fields else self.table(x.b.x)


@pytest.mark.parametrize("field", [True, False])
def test_own_elements_call_tables(field: bool) -> None:
    m = kp.Mechanism("hill")
    for k, stiffness in enumerate((2.0, 8.0)):  # two of a kind with other tables share kernels, not tables
        b = m.body(f"b{k}", mass=2.0, inertia=1.0, at=(0.3, 0.0))
        m.add(Hill(f"hill {k}", b, kp.table(X, stiffness * X**2 / 2), field))
    for model in (m, copy.deepcopy(m)):
        result = model.simulate(3.0, tolerance=1e-11)
        for k, omega in enumerate((1.0, 2.0)):
            assert np.abs(result.array(f"b{k}.x") - 0.3 * np.cos(omega * result.t)).max() < 1e-8
        assert np.abs(result.array("energy.balance")).max() < 1e-10


def test_equations_call_tables() -> None:
    T = kp.table(X, -2.0 * X)
    e = kp.Equations("e", {"x": 0.3}, mass=lambda q, p: [[p.m]], force=lambda q, v, t, p: [T(q.x)], parameters={"m": 2})
    for model in (e, pickle.loads(pickle.dumps(e)), copy.deepcopy(e)):
        result = model.simulate(3.0, tolerance=1e-11)
        assert np.abs(result.array("x") - 0.3 * np.cos(result.t)).max() < 1e-8


def test_numbers_are_read_from_tables_of_parameters() -> None:
    m = kp.Mechanism("p")
    L = m.parameter("L", 1.0)
    weight = kp.table([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], name="weight of a length")
    b = m.body("b", mass=weight(L), inertia=1.0)
    m.force("pull", b, (1.0, 0.0))
    for model in (m, pickle.loads(pickle.dumps(m)), copy.deepcopy(m)):
        for length in (0.5, 1.0, 2.5):
            model.set(L=length)
            assert model.simulate(1.0).array("b.x")[-1] == pytest.approx(0.5 / (1.0 + length), rel=1e-10)
        with pytest.raises(kp.ModelError, match="'weight of a length' is read at 5; its data go from 0 to 3"):
            model.simulate(1.0, parameters={"L": 5.0})


def test_a_constraint_from_a_table_has_exact_accelerations() -> None:
    """A point led along y = f(x) at constant speed in x: its acceleration is f''(x) v^2, its reaction that of m f''."""
    f = CubicSpline(X, Y)
    T = kp.table(X, Y)
    m = kp.Mechanism("track")
    p = m.point("p", at=(-1.5, float(f(-1.5))), mass=3.0)
    m.constraint("track", lambda p: p.r[1] - T(p.r[0]), p)
    m.driver("drive", p.x, kp.constant_speed(2.0))
    result = m.kinematics(1.6, steps=33)
    assert np.abs(result.array("p.vy") - 2.0 * f(result.array("p.x"), 1)).max() < 1e-12
    assert np.abs(result.array("p.ay") - 4.0 * f(result.array("p.x"), 2)).max() < 1e-11
    loads = m.inverse_dynamics(1.6, steps=33)
    assert np.abs(loads.array("lambda.track.value") + 3.0 * 4.0 * f(loads.array("p.x"), 2)).max() < 1e-9


def test_a_cam_profile_from_a_table() -> None:
    """A flat face on a profile given by its support function h: it stands at h(angle), at every angle."""
    turn = np.linspace(0.0, 2 * np.pi, 73)
    h = kp.table(turn, 1.0 + 0.2 * np.cos(turn) * 1.0, periodic=True)
    radius = kp.polar(lambda s: h(s))
    m = kp.Mechanism("cam")
    disk = m.body("disk", mass=1.0, inertia=1.0)
    m.revolute("O", m.ground, disk, at=(0, 0))
    m.driver("motor", disk.angle, kp.constant_speed(1.0))
    tip = m.body("tip", mass=1.0, inertia=1.0, at=(0.0, float(h(np.pi / 2))))
    m.translational("guide", m.ground, tip, axis=(0, 1), at=(0.0, 1.0))
    m.point_on_curve("cam", disk, tip, curve=radius)
    result = m.kinematics(6.0, steps=60)
    assert np.abs(result.array("tip.y") - h(np.pi / 2 - result.t)).max() < 1e-11


def test_a_spring_from_a_table_stores_its_energy() -> None:
    for kind in ("cubic", "linear"):
        force = kp.table([-0.5, -0.1, 0.0, 0.2, 0.6], [-2.0, -0.3, 0.0, 0.9, 4.0], kind=kind, outside="hold")
        m = kp.Mechanism("spring")
        b = m.body("b", mass=1.0, inertia=1.0, at=(1.9, 0.0))
        m.translational("guide", m.ground, b, axis=(1, 0))
        m.spring("S", m.ground.at((-3.0, 0.0)), b, length=4.0, law=force)
        result = m.simulate(3.0, tolerance=1e-10)
        assert np.abs(result.array("S.force") - force(result.array("b.x") - 1.0)).max() < 1e-12
        assert np.abs(result.array("energy.balance")).max() < 1e-7
        assert not result.array("energy.supplied").any()


def test_what_a_table_refuses() -> None:
    for words, make in {
        "increase": lambda: kp.table([0, 0, 1], [1, 2, 3]),
        "same length": lambda: kp.table([0, 1], [1, 2, 3]),
        "finite": lambda: kp.table([0, 1], [1, np.nan]),
        "kind must be": lambda: kp.table([0, 1], [1, 2], kind="cube"),
        "outside must be": lambda: kp.table([0, 1], [1, 2], outside="wrap"),
        "periodic data must end": lambda: kp.table([0, 1, 2], [1, 2, 3], periodic=True),
        "ends must be": lambda: kp.table([0, 1, 2], [1, 2, 3], ends="loose"),
        "takes 1 argument, not 2": lambda: kp.table([0, 1], [1, 2])(0.5, 0.5),
        "takes 2 arguments, not 1": lambda: kp.table(X, W, Z)(0.5),
        "z is a row for each x": lambda: kp.table([0, 1], [0, 1], np.zeros((2, 2, 2))),
        "must be numbers": lambda: kp.table([0, 1], [1, 2])("x"),
    }.items():
        with pytest.raises(kp.ModelError, match=words):
            make()


# --- a default is a default ------------------------------------------------------------------------------------------


def test_a_default_argument_is_never_the_time() -> None:
    """Loops that bind a number by ``k=k`` mean that number, wherever a function may stand."""
    for k in (2.0, 8.0):
        e = kp.Equations(
            "e",
            {"x": 0.3},
            mass=lambda q, p, k=k: [[k]],
            force=lambda q, v, t, p, k=k: [-k * q.x],
        )
        assert e.simulate(1.0, tolerance=1e-11).array("x")[-1] == pytest.approx(0.3 * np.cos(1.0), abs=1e-9)
        m = kp.Mechanism("m")
        b = m.body("b", mass=1.0, inertia=1.0)
        m.driver("d", b.x, lambda t, k=k: k * t)
        m.constraint("c", lambda b, k=k: b.y - k, b)
        m.constraint("turn", lambda b, t, k=k: b.angle - k * t, b)
        result = m.kinematics(1.0)
        assert [result.array(f"b.{n}")[-1] for n in ("x", "y", "angle")] == pytest.approx([k, k, k])
    with pytest.raises(kp.ModelError, match=r"force: the function is called with \(q, v, t, p\); yours takes"):
        kp.Equations("e", ["x"], mass=lambda q, p: [[1.0]], force=lambda q, v, t=0.0, p=None: [t])
