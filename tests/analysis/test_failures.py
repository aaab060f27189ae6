"""What simulate says when it cannot go on: in the user's names, with the time, and with what was computed before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import beta

import kempe as kp


def pendulum() -> kp.Mechanism:
    m = kp.Mechanism("pendulum", gravity=(0, -9.81))
    rod = m.body("rod", 1.0, 0.1, at=(0.5, 0))
    m.revolute("O", m.ground, rod, at=(0, 0))
    return m


def on_a_spring(law: Callable[..., Any]) -> kp.Mechanism:
    """A mass on a line, one away from the foot of a spring with a law of its own."""
    m = kp.Mechanism("mass")
    mass = m.point("P", (1, 0), fixed="y", mass=1.0)
    m.spring("S", m.ground, mass, on_i=(0, 0), law=law)
    return m


def patience(chunks: int = 60) -> Callable[[float, float], None]:
    """Something to report progress to that gives up."""
    seen: list[float] = []

    def report(t: float, end: float) -> None:
        seen.append(t)
        assert len(seen) < chunks, f"still at t = {t} of {end}"

    return report


def finite(result: kp.Result) -> bool:
    return all(np.isfinite(x).all() for x in (result.t, result.q, result.v, result.a, *result.series.values()))


def failure(model: Any, times: Any, **options: Any) -> kp.ConvergenceError:
    """The error that a run ends with, its partial result looked at."""
    with pytest.raises(kp.ConvergenceError) as caught:
        model.simulate(times, progress=patience(), **options)
    partial = caught.value.result
    if partial is not None:
        assert partial.status == "failed" and not partial.success and partial.message == str(caught.value)
        assert finite(partial) and len(partial.q) == len(partial.t) >= 1
    return caught.value


# --- the model cannot move ------------------------------------------------------------------------------------------


def test_no_mass_anywhere():
    m = kp.Mechanism("dry linkage")
    m.body("a")
    with pytest.raises(kp.ModelError, match="'dry linkage' has no mass: give its bodies mass and inertia"):
        m.simulate(1.0)


@pytest.mark.parametrize(
    "method",
    [name for name, method in kp.METHODS.items()],
)
def test_a_part_without_inertia_in_a_free_direction_is_named(method):
    m = pendulum()
    arm = m.body("arm", at=(1.5, 0))
    m.revolute("A", m["rod"], arm, at=(1, 0))
    with pytest.raises(kp.ModelError, match=r"no inertia resists the motion of 'arm\.angle'"):
        m.simulate(1.0, method=method)


def test_a_loose_body_without_mass_is_named():
    m = pendulum()
    m.body("ghost", at=(1, 1))
    with pytest.raises(kp.KempeError, match="'ghost"):
        m.simulate(1.0)


def test_a_massless_part_that_joints_hold_is_no_mistake():
    """A massless connecting rod moves a piston all the same."""
    m = pendulum()
    rod, piston = m.body("link", at=(1.5, 0)), m.body("piston", 2.0, 0.1, at=(2, 0))
    m.revolute("A", m["rod"], rod, at=(1, 0))
    m.revolute("B", rod, piston, at=(2, 0))
    m.translational("guide", m.ground, piston, at=(0, 0), axis=(1, 0))
    result = m.simulate(0.5, velocities={"rod.omega": 3.0}, tolerance=1e-10)
    assert result.success and np.abs(result.array("energy.balance")).max() < 1e-6


# --- the motion goes wrong ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    list(kp.METHODS),
)
def test_negative_damping_that_runs_away(method):
    m = on_a_spring(lambda length, rate: length - 50 * rate)
    said = str(failure(m, 100.0, method=method, velocities={"P.vx": 1.0}))
    assert "grow without bound at t = 0." in said and "'P.vx'" in said and "negative damping" in said


@pytest.mark.parametrize("method", kp.METHODS)
def test_a_motion_that_ends_in_a_finite_time(method):
    """From x' = 1, x'' = 5 x'^2 reaches infinite speed at t = 0.2."""
    m = on_a_spring(lambda length, rate: -5 * rate * kp.fabs(rate))
    error = failure(m, 10.0, method=method, velocities={"P.vx": 1.0})
    assert "t = 0.2" in str(error) or "t = 0.19999" in str(error)
    assert 3 <= len(error.result) <= 5 and error.result.t[-1] <= 0.2


@pytest.mark.parametrize("method", kp.METHODS)
def test_a_law_that_stops_having_values(method):
    """The root of a length that becomes too short: x'' = -10 sqrt(x - 0.5) from rest at x = 1."""
    error = failure(on_a_spring(lambda length, rate: 10 * kp.sqrt(length - 0.5)), 3.0, method=method)
    exact = 0.5 / np.sqrt(40 / 3 * 0.5**1.5) * beta(2 / 3, 1 / 2) / 1.5  # where x = 0.5
    said = float(str(error).split("t = ")[1].split(";")[0])
    assert said == pytest.approx(exact, abs=3e-6)
    assert len(error.result) == 27 and error.result.t[-1] < exact


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_a_law_that_stops_having_values_is_named(method):
    said = str(failure(on_a_spring(lambda length, rate: 10 * kp.sqrt(length - 0.5)), 3.0, method=method))
    assert "'S'" in said


def test_a_force_without_a_value_at_the_start_is_named():
    said = str(failure(on_a_spring(lambda length, rate: kp.sqrt(length - 5.0)), 3.0))
    assert "t = 0" in said and "'S'" in said


def test_advice_is_not_to_do_the_same_again():
    said = str(failure(on_a_spring(lambda length, rate: 10 * kp.sqrt(length - 0.5)), 3.0, method="radau"))
    assert "radau" not in said


@pytest.mark.parametrize("method", kp.METHODS)
def test_a_fixed_step_that_is_too_large(method):
    """Ten turns in a step."""
    error = failure(pendulum(), 20.0, step=3.0, method=method, velocities={"rod.omega": 20.0})
    assert "try a smaller step" in str(error)
    assert len(error.result) == 1  # nothing but the start is known


def test_a_fixed_step_that_is_small_enough_is_taken():
    result = pendulum().simulate(1.0, step=0.01, method="projection")
    assert result.success and result.stats["steps"] == 100


# --- mistakes in the call -------------------------------------------------------------------------------------------


def refused(says: str, times: Any = 1.0, **options: Any) -> None:
    with pytest.raises(kp.ModelError, match=says):
        pendulum().simulate(times, **options)


def test_unknown_methods_and_options():
    refused("no method 'euler'; the methods are auto, projection", method="euler")
    refused("there is no radios=; did you mean radius=", method="alpha", radios=0.5)
    refused("method 'alpha' has no option 'omega'; its options: radius", method="alpha", omega=0.5)
    refused("method 'auto' has no option 'penalty'; its options: none", penalty=1e7)


@pytest.mark.parametrize("value", [0.0, -1.0, 0.2, 1e-15, float("nan"), float("inf"), "fine", None, True])
def test_tolerance_out_of_range(value):
    refused("tolerance must be", tolerance=value)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), "fine"])
@pytest.mark.parametrize("name", ["step", "max_step"])
def test_steps_out_of_range(name, value):
    refused(f"{name} must be", **{name: value})


@pytest.mark.parametrize("value", [0.0, -1e7, float("nan"), "stiff"])
def test_penalties_out_of_range(value):
    refused("option 'penalty'", method="augmented", penalty=value)


@pytest.mark.parametrize(
    ("method", "name", "value"),
    [
        ("alpha", "radius", -0.5),
        ("alpha", "radius", 1.5),
        ("alpha", "radius", "large"),
        ("bdf", "order", 0),
        ("bdf", "order", 6),
        ("bdf", "order", 2.5),
        ("bdf3", "order", "high"),
        ("augmented", "iterations", -1),
        ("augmented", "iterations", "many"),
        ("augmented", "project", "yes"),
        ("baumgarte", "omega", -10.0),
        ("baumgarte", "omega", float("nan")),
        ("baumgarte", "damping", -1.0),
    ],
)
def test_other_options_out_of_range(method, name, value):
    refused(name, method=method, **{name: value})


@pytest.mark.parametrize("times", [0, -1, [0, 0], [1, 0], [], [0, float("nan")], "long", [[0, 1]], float("inf")])
def test_times_that_are_none(times):
    refused("time", times)


def test_velocities_that_are_none():
    refused("no velocity 'rod.w'; choose rod.vx, rod.vy or rod.omega", velocities={"rod.w": 1.0})
    refused("velocity 'rod.omega' must be finite", velocities={"rod.omega": float("nan")})
    refused("velocity 'rod.omega' must be a number", velocities={"rod.omega": "fast"})


# --- contradictory velocities ---------------------------------------------------------------------------------------


def test_contradictory_velocities_are_reconciled_and_the_changes_named():
    """The pin allows vx = 0, vy = omega / 2; what was asked for is met as nearly as possible."""
    result = pendulum().simulate(0.1, velocities={"rod.omega": 1.0, "rod.vy": 7.0, "rod.vx": 3.0})
    assert result.v[0, 0] == 0.0 and result.v[0, 1] == pytest.approx(result.v[0, 2] / 2, rel=1e-12)
    assert 1.0 < result.v[0, 2] < 14.0
    changed = result.initial.changed
    assert set(changed) == {"rod.vx", "rod.vy", "rod.omega"}
    assert changed["rod.omega"] == pytest.approx(result.v[0, 2] - 1.0)
    assert "velocity changed" in str(result.initial) and "rod.vx" in str(result.initial)


def test_a_velocity_against_a_driver_gives_way():
    m = pendulum()
    m.driver("motor", m["rod"].angle, kp.constant_speed(2.0))
    result = m.simulate(0.1, velocities={"rod.omega": 5.0})
    assert result.v[0] == pytest.approx([0.0, 1.0, 2.0], abs=1e-14)
    assert result.initial.changed == {"rod.omega": pytest.approx(-3.0)}


def test_consistent_velocities_are_kept():
    result = pendulum().simulate(0.1, velocities={"rod.omega": 4.0})
    assert result.v[0] == pytest.approx([0.0, 2.0, 4.0], abs=1e-14)
    assert result.initial.changed == {} and str(result.initial) == "as given"


# --- interruptions --------------------------------------------------------------------------------------------------


def test_an_interrupted_run_keeps_what_it_has():
    def interrupt(t: float, end: float) -> None:
        raise KeyboardInterrupt

    result = pendulum().simulate(1e5, steps=1000, method="alpha", progress=interrupt)
    assert result.status == "interrupted" and not result.success
    assert "interrupted at t = " in result.message
    assert finite(result) and len(result) < 1000


@pytest.mark.filterwarnings("ignore::kempe.errors.AccuracyWarning")
@pytest.mark.parametrize("method", ["auto", "augmented", "radau", "bdf", "alpha", "independent"])
def test_drivers_that_contradict_each_other_are_no_success(method):
    m = kp.Mechanism("two drivers")
    body = m.body("b", mass=1, inertia=1)
    m.revolute("O", m.ground, body, at=(0, 0))
    m.driver("one", body.angle, lambda t: t)
    m.driver("two", body.angle, lambda t: t + kp.if_else(t > 0.5, (t - 0.5) ** 3, 0.0))
    try:
        result = m.simulate(1.0, method=method)
    except kp.ConvergenceError as error:
        result = error.result
    assert not result.success and result.status in ("violated", "failed")
