"""Derivatives of driven motions: closed forms, differences of motions, random mechanisms, and what has none."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from driven_mechanisms import DRIVEN
from richardson import agree, richardson

import kempe as kp

TIMES = np.array([0.0, 0.13, 0.31, 0.58, 0.83])


# --- closed forms ---------------------------------------------------------------------------------------------------


def exact(expression: ca.SX, theta: ca.SX, p: ca.SX, values: list[float], angles: np.ndarray, w: float) -> list[Any]:
    """Position, velocity and acceleration of an expression of an angle that grows by w, differentiated by p."""
    rate = ca.jacobian(expression, theta) * w
    second = ca.jacobian(rate, theta) * w
    found = [ca.Function("f", [theta, p], [ca.jacobian(e, p)]) for e in (expression, rate, second)]
    return [np.array([np.array(f(angle, values)).ravel() for angle in angles]) for f in found]


def test_a_slider_crank_has_the_derivatives_of_its_formula() -> None:
    m = DRIVEN["slider_crank"]()
    sens = m.kinematic_sensitivity(TIMES, ["slider.x", "slider.vx", "slider.ax"], ["r", "L", "e"])
    theta, p, t = ca.SX.sym("theta"), ca.SX.sym("p", 3), ca.SX.sym("t")
    r, L, e = p[0], p[1], p[2]
    turned = 0.3 + 3.0 * t + 0.5 * r * t**2  # the law has a length in it
    x = r * ca.cos(theta) + ca.sqrt(L**2 - (r * ca.sin(theta) - e) ** 2)
    x = ca.substitute(x, theta, turned)
    for name, order in (("slider.x", 0), ("slider.vx", 1), ("slider.ax", 2)):
        value = x
        for _ in range(order):
            value = ca.jacobian(value, t)
        f = ca.Function("f", [t, p], [value, ca.jacobian(value, p)])
        for k, time in enumerate(TIMES):
            v, true = (np.array(part).ravel() for part in f(time, [0.1, 0.3, 0.02]))
            assert sens.values[name][k] == pytest.approx(v[0], rel=1e-12)
            assert sens.derivatives[name][k] == pytest.approx(true, rel=1e-11, abs=1e-11)


def test_a_four_bar_has_the_derivatives_of_its_formula() -> None:
    """Freudenstein's equation solved for the rocker: tan(psi/2) from A cos psi + B sin psi = C."""
    m = DRIVEN["four_bar"]()
    sens = m.kinematic_sensitivity(TIMES, ["rocker.angle", "rocker.omega", "rocker.alpha"], ["a", "b", "c", "d"])
    theta, p = ca.SX.sym("theta"), ca.SX.sym("p", 4)
    a, b, c, d = (p[k] for k in range(4))
    A, B = 2 * c * (d - a * ca.cos(theta)), -2 * a * c * ca.sin(theta)
    C = b**2 - a**2 - c**2 - d**2 + 2 * a * d * ca.cos(theta)
    psi = ca.atan2(B, A) + ca.acos(C / ca.sqrt(A**2 + B**2))
    lengths = [0.3, 0.9, 0.7, 1.0]
    angles = 0.7 + 2 * TIMES
    truth = exact(psi, theta, p, lengths, angles, 2.0)
    shown = np.array(ca.Function("f", [theta, p], [psi])(angles[0], lengths)).ravel()
    assert np.cos(shown) == pytest.approx(np.cos(sens.values["rocker.angle"][:1]), rel=1e-12)
    for name, true in zip(("rocker.angle", "rocker.omega", "rocker.alpha"), truth, strict=True):
        assert sens.derivatives[name] == pytest.approx(true, rel=1e-10, abs=1e-10)


def test_a_similar_mechanism_moves_similarly() -> None:
    """All lengths times s: positions grow by themselves, angles stay (Euler's theorem on homogeneous functions)."""
    m = DRIVEN["four_bar"]()
    sens = m.kinematic_sensitivity(TIMES, by=["a", "b", "c", "d"])
    lengths = np.array([0.3, 0.9, 0.7, 1.0])
    for name in ("coupler.x", "coupler.vy", "rocker.ax"):
        assert sens.derivatives[name] @ lengths == pytest.approx(sens.values[name], rel=1e-10, abs=1e-10)
    for name in ("coupler.angle", "rocker.omega", "coupler.alpha"):
        assert sens.derivatives[name] @ lengths == pytest.approx(0.0, abs=1e-10)


# --- differences ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRIVEN)
def test_motions_and_efforts_have_the_derivatives_of_differences(name: str) -> None:
    m = DRIVEN[name]()
    motion = [full for triple in m.kinematics(TIMES).columns for full in triple]
    efforts = [n for n in m.inverse_dynamics(TIMES).names if n.rpartition(".")[2] in ("effort", "power", "kinetic")]
    shaking = ["ground.shaking.x", "ground.shaking.moment"]
    names = [*motion, *efforts, *shaking]
    sens = m.inverse_dynamics_sensitivity(TIMES, names)
    plain = m.kinematic_sensitivity(TIMES)
    for p in sens.parameters:
        value = m.parameters[p].value

        def run(x: float, p: str = p) -> np.ndarray:
            found = m.inverse_dynamics(TIMES, parameters={p: x})
            return np.column_stack([found.array(n) for n in names])

        true, doubt = richardson(run, value, 0.02 * abs(value))
        found = np.column_stack([sens.derivative(n, p) for n in names])
        agree(found, true, doubt, np.abs(run(value)).max(axis=0) / abs(value), p)
        for n in motion:
            assert plain.derivative(n, p) == pytest.approx(sens.derivative(n, p), rel=1e-9, abs=1e-9)


@pytest.mark.filterwarnings("ignore:.*does not determine the reactions.*:kempe.AccuracyWarning")  # (the smallest)
def test_reactions_have_the_derivatives_of_differences() -> None:
    """All of them without redundant constraints; with them sums, and the smallest where all rows are of one size."""
    for name, quantities in (
        ("slider_crank", ["B.force", "guide.moment", "A.force.x", "spring.force"]),
        ("quick_return", ["slot.force", "Q.force.y"]),
        ("own_joint", ["L.force", "motor.effort"]),
        ("rubbing", ["O.force", "motor.effort", "stop.force", "soft.force"]),
        ("three_cranks", ["O0.force.y + O1.force.y + O2.force.y", "motor.effort", "O1.force.x", "A2.force.y"]),
    ):
        m = DRIVEN[name]()
        sens = m.inverse_dynamics_sensitivity(TIMES, quantities)
        for p in sens.parameters:
            value = m.parameters[p].value

            def run(x: float, p: str = p) -> np.ndarray:
                found = m.inverse_dynamics(TIMES, parameters={p: x})  # noqa: B023
                return np.column_stack(
                    [found.array(n) if n in found else found.define("sum", n).values for n in quantities]  # noqa: B023
                )

            true, doubt = richardson(run, value, 0.02 * abs(value))
            found = np.column_stack([sens.derivative(n, p) for n in quantities])
            agree(found, true, doubt, np.abs(run(value)).max(axis=0) / value, f"{name} by {p}")


def test_friction_counts_for_nothing_where_a_driven_joint_stands_still() -> None:
    """At the end of its swing a joint may stick, but what is driven is not held by friction."""
    m = kp.Mechanism("swing", gravity=(0, -9.81))
    mu, A, M = m.parameter("mu", 0.2), m.parameter("A", 0.4), m.parameter("M", 2.0)
    arm = m.body("arm", M, 0.1, at=(0.5, 0.0))
    m.revolute("O", m.ground, arm, on_i=(0, 0), on_j=(-0.5, 0), friction=mu, radius=0.05)
    m.driver("motor", arm.angle, lambda t: A * kp.cos(3.0 * t))
    sens = m.inverse_dynamics_sensitivity([0.0, 0.3], ["motor.effort", "O.force"])
    assert sens.derivative("motor.effort", "mu")[0] == 0.0 and sens.derivative("motor.effort", "mu")[1] != 0.0
    angle, alpha = 0.4, -9 * 0.4
    exact = (0.1 + 0.25 * 2.0) * alpha + 2.0 * 9.81 * 0.5 * np.cos(angle)
    by_A = (0.1 + 0.25 * 2.0) * -9.0 - 2.0 * 9.81 * 0.5 * np.sin(angle)
    assert sens.values["motor.effort"][0] == pytest.approx(exact)
    assert sens.derivative("motor.effort", "A")[0] == pytest.approx(by_A)
    assert sens.derivative("motor.effort", "M")[0] == pytest.approx(0.25 * alpha + 9.81 * 0.5 * np.cos(angle))


# --- what it says ---------------------------------------------------------------------------------------------------


def test_expressions_have_their_own_dependence_on_parameters() -> None:
    m = DRIVEN["slider_crank"]()
    sens = m.kinematic_sensitivity(TIMES, {"way": "slider.x - r - L", "x": "slider.x", "twice": "double * slider.x"})
    assert sens.derivative("way", "r") == pytest.approx(sens.derivative("x", "r") - 1)
    expected = 0.2 * sens.derivative("x", "r") + 2 * sens.values["x"]  # 'double' follows from r
    assert sens.derivative("twice", "r") == pytest.approx(expected)
    assert sens["x"].sel(parameter="L").values == pytest.approx(sens.derivative("x", "L"))


def test_what_is_asked_wrongly_is_answered_in_words(tmp_path) -> None:
    m = DRIVEN["slider_crank"]()
    with pytest.raises(kp.ModelError, match="unknown parameter 'R'"):
        m.kinematic_sensitivity(TIMES, by="R")
    with pytest.raises(kp.ModelError, match="'double' follows from 'r'"):
        m.kinematic_sensitivity(TIMES, by=["double"])
    with pytest.raises(kp.ModelError, match=r"did you mean 'slider\.x'"):
        m.kinematic_sensitivity(TIMES, "slidr.x")
    with pytest.raises(kp.ModelError, match="kinematics knows no forces"):
        m.kinematic_sensitivity(TIMES, "B.force")
    with pytest.raises(kp.ModelError, match="no design parameters"):
        kp.Mechanism("empty").kinematic_sensitivity(1.0)
    sens = m.kinematic_sensitivity(TIMES, "slider.x", "L")
    with pytest.raises(kp.ModelError, match="no derivative by 'r'"):
        sens.derivative("slider.x", "r")
    read = np.genfromtxt(sens.to_csv(tmp_path / "s.csv"), delimiter=",", skip_header=1)
    assert (read[:, 2] == sens.derivative("slider.x", "L")).all()
    assert "slider.x" in str(sens) and list(sens.to_dataset()) == ["slider.x"]


def test_a_singular_position_has_no_derivatives() -> None:
    """A slider-crank driven by its slider, at its dead centre; beside it there are some, and they are large."""
    m = kp.Mechanism("dead centre")
    r, L = m.parameter("r", 1.0), m.parameter("L", 2.0)
    crank, rod = m.body("crank", at=(0.5, 0.1), angle=0.3), m.body("rod", at=(1.9, 0.1), angle=-0.2)
    slider = m.body("slider", at=(2.8, 0))
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-r / 2, 0))
    m.revolute("A", crank, rod, on_i=(r / 2, 0), on_j=(-L / 2, 0))
    m.revolute("B", rod, slider, on_i=(L / 2, 0), on_j=(0, 0))
    m.translational("way", m.ground.on((0, 0)), slider.on((0, 0)), axis=(1, 0))
    m.driver("push", slider.x, lambda t: 2.9 + t)
    before = m.kinematic_sensitivity([0.0, 0.09, 0.1 - 1e-9], "crank.angle", "r", on_singular="stop")
    slopes = before.derivative("crank.angle", "r")
    assert np.all(np.diff(np.abs(slopes)) > 0) and abs(slopes[-1]) > 1e3
    stopped = m.kinematic_sensitivity([0.0, 0.05, 0.2], "crank.angle", "r", on_singular="stop")
    assert len(stopped.t) == 2 and not stopped.result.success
    with pytest.raises(kp.SingularPositionError):
        m.kinematic_sensitivity([0.0, 0.05, 0.2])


def test_a_flat_parallelogram_has_no_derivatives_and_says_when() -> None:
    m = kp.Mechanism("parallelogram")
    r = m.parameter("r", 1.0)
    tip = (r * kp.cos(0.7), r * kp.sin(0.7))
    coupler = m.body("coupler", at=(tip[0] + 1, tip[1]))
    for k, x in enumerate((0.0, 2.0)):
        crank = m.body(f"crank {k}", at=(x + tip[0] / 2, tip[1] / 2), angle=0.7)
        m.revolute(f"O{k}", m.ground, crank, on_i=(x, 0), on_j=(-r / 2, 0))
        m.revolute(f"A{k}", crank, coupler, on_i=(r / 2, 0), on_j=(x - 1, 0))
    m.driver("motor", m["crank 0"].angle, lambda t: 0.7 + t)
    flat = np.pi - 0.7
    sens = m.kinematic_sensitivity([0.0, flat - 0.1, flat + 0.1], "coupler.y", on_singular="cross")
    assert sens.derivative("coupler.y", "r") == pytest.approx(np.sin(0.7 + sens.t), abs=1e-9)
    with pytest.raises(kp.ModelError, match=r"singular position at t = 2\.44159"):
        m.kinematic_sensitivity([0.0, 1.0, flat, 3.0], on_singular="cross")


def test_redundant_constraints_that_would_contradict_each_other_are_named() -> None:
    m = kp.Mechanism("three cranks")
    r, other = m.parameter("r", 1.0), m.parameter("other", 1.0)
    tip = (r * kp.cos(0.7), r * kp.sin(0.7))
    coupler = m.body("coupler", at=(tip[0] + 1, tip[1]))
    for k, length in enumerate((r, r, other)):
        crank = m.body(f"crank {k}", at=(k + tip[0] / 2, tip[1] / 2), angle=0.7)
        m.revolute(f"O{k}", m.ground, crank, on_i=(k, 0), on_j=(-length / 2, 0))
        m.revolute(f"A{k}", crank, coupler, on_i=(length / 2, 0), on_j=(k - 1, 0))
    m.driver("motor", m["crank 0"].angle, lambda t: 0.7 + t)
    with pytest.raises(kp.ModelError, match=r"another value of 'r'.*'A0'.*contradict") as error:
        m.kinematic_sensitivity([0.0, 0.2])
    assert "share their numbers" in str(error.value)
