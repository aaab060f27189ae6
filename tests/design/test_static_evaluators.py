"""Functionals of motions, equilibria and vibrations at any design: their gradients, and designs that are known best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from driven_mechanisms import DRIVEN, mechanism
from resting_mechanisms import RESTING, G, chain_of_masses, repeated
from richardson import agree, richardson
from scipy.optimize import least_squares, minimize

import kempe as kp


def gradients_agree(evaluator: Any, p: list[float], step: float = 0.02) -> None:
    """Those of differences, by every parameter; and values are the same with gradients and without."""
    values, found = evaluator.gradients(p)
    assert values == pytest.approx(evaluator.values(p), rel=1e-12, abs=1e-14)
    for k, value in enumerate(p):

        def run(x: float, k: int = k) -> np.ndarray:
            return evaluator.values([*p[:k], x, *p[k + 1 :]])[None]

        true, doubt = richardson(run, value, step * abs(value))
        agree(found[:, k][None], true, doubt, np.abs(values) / abs(value), evaluator.parameters[k])


def test_every_functional_of_a_driven_motion_has_its_gradient() -> None:
    m = DRIVEN["slider_crank"]()
    functionals = {
        "integral": kp.integral("slider.vx**2"),
        "final": kp.final("slider.x"),
        "initial": kp.initial("rod.angle"),
        "value": kp.value_at("slider.ax", 0.1234),
        "largest": kp.maximum("motor.effort"),
        "least": kp.minimum("slider.vx"),
        "violation": kp.violation("B.force", at_most=30.0),
        "mean": kp.mean("motor.power"),
        "rms": kp.rms("motor.effort"),
        "smooth": kp.smooth_maximum("B.force", sharpness=0.3),
        "mixed": kp.final("slider.x") * m["r"] / kp.rms("motor.effort") + m["double"] ** 2,
    }
    evaluator = kp.KinematicEvaluator(m, 0.8, functionals, ["r", "L", "M"], steps=40)
    assert evaluator.names == list(functionals) and evaluator.parameters == ["r", "L", "M"]
    gradients_agree(evaluator, [0.1, 0.3, 2.0], step=0.002)
    assert 0.1234 in evaluator.times


def test_integrals_and_extremes_are_those_of_the_motion() -> None:
    """Of a crank that turns steadily: exact integrals and peaks of its sine."""
    m, r, w = mechanism("crank", r=0.5, w=2.0)
    crank = m.body("crank", 1.0, 0.1, at=(r, 0))
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-r, 0))
    m.driver("motor", crank.angle, lambda t: w * t)
    both = {"area": kp.integral("crank.y"), "top": kp.maximum("crank.y"), "low": kp.minimum("crank.vy")}
    evaluator = kp.KinematicEvaluator(m, 2.0, both)
    values, slopes = evaluator.gradients([0.5, 2.0])
    area = 0.5 * (1 - np.cos(4.0)) / 2.0
    assert values == pytest.approx([area, 0.5, -1.0], rel=1e-8)
    by_w = 0.5 * (2.0 * np.sin(4.0) / 2.0 - (1 - np.cos(4.0)) / 4.0)
    assert slopes == pytest.approx(np.array([[area / 0.5, by_w], [1.0, 0.0], [-2.0, -0.5]]), abs=1e-4)
    assert slopes[0] == pytest.approx([area / 0.5, by_w], rel=1e-7)


def test_equilibria_and_vibrations_have_their_gradients() -> None:
    m = RESTING["hanging_chain"].build()
    functionals = {"off": (kp.final("a.angle") + 1.0) ** 2 + m["L"], "load": kp.final("O.force * k")}
    gradients_agree(kp.EquilibriumEvaluator(m, functionals, ["k", "L"]), [30.0, 0.5])
    gradients_agree(
        kp.ModalEvaluator(m, {"gap": kp.final("mode1.hertz") - kp.final("mode0.hertz")}, ["k", "M"]), [30, 2]
    )
    held = RESTING["held_arm"].build()
    effort = kp.final("holding.arm.angle", name="effort")
    gradients_agree(kp.EquilibriumEvaluator(held, effort, hold="arm.angle"), [0.4, 2.0, 100.0])


# --- known answers --------------------------------------------------------------------------------------------------


def test_a_path_is_met_by_the_lengths_it_was_drawn_with() -> None:
    """A slider-crank whose slider is to move as another one does: its lengths are found again."""
    m = DRIVEN["slider_crank"]()
    other = {"r": 0.12, "L": 0.35, "e": 0.03}
    times = np.linspace(0, 2.0, 25)
    target = m.kinematics(times, parameters=other).array("slider.x")
    misses = {f"x{k}": kp.value_at("slider.x", t) - target[k] for k, t in enumerate(times)}
    evaluator = kp.KinematicEvaluator(m, times, misses, list(other))
    found = least_squares(
        evaluator.values, [0.1, 0.3, 0.02], lambda p: evaluator.gradients(p)[1], xtol=1e-15, gtol=1e-15
    )
    assert found.x == pytest.approx(list(other.values()), rel=1e-10)


def test_an_arm_is_balanced_exactly_by_a_spring_without_free_length() -> None:
    """The moment of the weight m g l cos(angle) is that of a spring k a b cos(angle) in every position."""
    m, k, b = mechanism("balanced arm", k=50.0, b=0.4)
    m.gravity = (0, -G)
    arm = m.body("arm", 3.0, 0.2, at=(0.7, 0))
    m.revolute("O", m.ground, arm, on_i=(0, 0), on_j=(-0.7, 0))
    m.spring("spring", m.ground.on((0, 0.5)), arm.on((b - 0.7, 0)), stiffness=k, length=0.0)
    m.driver("slow", arm.angle, lambda t: -1.0 + 2 * t)
    evaluator = kp.KinematicEvaluator(m, 1.0, kp.integral("slow.effort**2", name="work"), "k", steps=20)
    found = minimize(
        lambda p: evaluator.values(p)[0], [50.0], jac=lambda p: evaluator.gradients(p)[1][0], tol=1e-14, method="BFGS"
    )
    assert found.x[0] == pytest.approx(3.0 * G * 0.7 / (0.5 * 0.4), rel=1e-8)
    assert abs(m.inverse_dynamics(1.0, parameters={"k": found.x[0]}).array("slow.effort")).max() < 1e-6
    values, slopes = evaluator.gradients([3.0 * G * 0.7 / (0.5 * 0.4)])
    assert abs(values[0]) < 1e-20 and abs(slopes[0, 0]) < 1e-10


def test_a_frequency_is_tuned() -> None:
    """The second of three masses on springs is to vibrate at 1 Hz: omega_2 = sqrt(2 k / M)."""
    m = chain_of_masses(3)
    evaluator = kp.ModalEvaluator(m, {"off": kp.final("mode1.hertz") - 1.0}, "k")
    found = least_squares(evaluator.values, [100.0], lambda p: evaluator.gradients(p)[1], xtol=1e-15, gtol=1e-15)
    assert found.x[0] == pytest.approx((2 * np.pi) ** 2 * 2.0 / 2, rel=1e-10)


def test_an_arm_is_made_to_rest_where_it_should() -> None:
    m = RESTING["hanging_chain"].build()
    evaluator = kp.EquilibriumEvaluator(m, {"off": kp.final("b.angle") - 0.3}, "k")
    found = least_squares(evaluator.values, [30.0], lambda p: evaluator.gradients(p)[1], xtol=1e-15, gtol=1e-15)
    assert m.equilibrium(parameters={"k": found.x[0]})["b.angle"] == pytest.approx(0.3, abs=1e-12)


def test_a_problem_of_synthesis_is_solved_by_every_start() -> None:
    """The stroke of a slider-crank is 2 r: to be 0.3 with the least acceleration, the rod in its bounds."""
    m = DRIVEN["slider_crank"]()
    turn = 2 * np.pi / 3.0
    stroke = kp.maximum("slider.x", name="far") - kp.minimum("slider.x", name="near")
    given = {"stroke": stroke, "push": kp.rms("slider.ax")}
    evaluator = kp.KinematicEvaluator(m, turn, given, ["r", "L"], steps=60, parameters={"e": 0.0, "w": 3.0})
    bounds = {"r": (0.05, 0.25), "L": (0.3, 0.8)}
    problem = kp.DesignProblem(evaluator, "push", [("stroke", 0.3, 0.3)], start={"r": 0.1, "L": 0.4}, bounds=bounds)
    best = kp.solve_design(problem, starts=3, workers=2)
    assert best.success
    assert best.parameters["r"] == pytest.approx(0.15, rel=1e-4)
    assert best.parameters["L"] == pytest.approx(0.8, rel=1e-5)  # the longer the rod, the gentler the motion


# --- what is said ---------------------------------------------------------------------------------------------------


def test_designs_that_fail_raise_and_questions_that_make_no_sense_are_answered() -> None:
    m = DRIVEN["slider_crank"]()
    evaluator = kp.KinematicEvaluator(m, 0.5, kp.final("slider.x"), ["r", "L"], steps=10)
    for ask in (evaluator.values, evaluator.gradients):
        with pytest.raises(kp.KempeError):
            ask([0.5, 0.05])  # the rod is too short
        with pytest.raises(kp.ModelError, match="a design has 2 numbers: r, L"):
            ask([0.1])
    with pytest.raises(kp.ModelError, match="not within the motion"):
        kp.KinematicEvaluator(m, 0.5, kp.value_at("slider.x", 0.7))
    with pytest.raises(kp.ModelError, match="an equilibrium has no duration"):
        kp.EquilibriumEvaluator(RESTING["hanging_chain"].build(), kp.mean("a.angle"))
    twins = kp.ModalEvaluator(repeated(2), kp.final("mode0.hertz"))
    assert twins.values([0.5])[0] > 0
    with pytest.raises(kp.ModelError, match="modes 0 and 1 are equal"):
        twins.gradients([0.5])
