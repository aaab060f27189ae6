"""Derivatives computed with fused functions, without, and with some that are fused on the way: one and the same."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from designs import Design, functional
from gradient_references import DESIGNS

from kempe.design.differentiating import DIRECTIONS, RARELY, Differentiated
from kempe.design.evaluating import Evaluator
from kempe.kernels.beside import BESIDE
from kempe.solvers.directions import Directions, pulled, pushed
from kempe.system import System, compiled, fusion
from kempe.system.directions import directions_of

NAMES = (*DIRECTIONS, *RARELY)


def both(system: System, name: str) -> tuple[Directions, Directions]:
    """Directional derivatives without and with fused functions."""
    system.fusion.make([f"push {name}", f"pull {name}"])
    return system.fusion.directions(name, fused=False), system.fusion.directions(name)


def inputs(system: System, rng: np.random.Generator) -> np.ndarray:
    """Inputs of all kernels in a state drawn at random, at times at rest or in a mode of its own."""
    x = system.inputs(system.model.parameter_vector(None))[0].copy()
    head = system.layout.head
    x[:head] = rng.normal(size=head) * rng.choice([0.0, 1e-3, 1.0], head)
    modes = system.dynamics.hybrids.mode_at
    x[modes] = rng.integers(0, 3, len(modes))
    x[system.dynamics.hybrids.row_at] = rng.integers(0, 2, len(system.dynamics.hybrids.row_at))
    return x


@pytest.mark.parametrize("design", DESIGNS)
@np.errstate(all="ignore")
def test_directions_and_weights(design: str) -> None:
    """Pushed and pulled in one go, digit for digit; what is not finite in a call that has no weight never shows."""
    system, rng = compiled(DESIGNS[design]().model), np.random.default_rng(1)
    for name in NAMES:
        apart, fused = both(system, name)
        assert (fused.fused.push > 0) == (len(fused.push) > 0) and apart.fused.push == 0
        for _ in range(20):
            x = inputs(system, rng)
            dx, xbar = (rng.normal(size=len(x)) * rng.choice([0.0, 1.0], len(x)) for _ in range(2))
            weights = rng.normal(size=apart.size + 1) * (rng.random(apart.size + 1) < rng.choice([0.1, 0.5, 1.0]))
            out, bar = [], []
            for d in (apart, fused):
                out.append(np.full(d.size + 1, 77.0))
                pushed(d, x, dx, out[-1])
                bar.append(xbar.copy())
                pulled(d, x, weights, bar[-1])
            assert np.array_equal(*out, equal_nan=True), name
            assert np.array_equal(*bar, equal_nan=True), name


def test_they_travel_without_fused_functions() -> None:
    _, fused = both(compiled(DESIGNS["four_bar"]().model), "motion")
    there = pickle.loads(pickle.dumps(fused))
    assert fused.fused.push > 0 and not any(there.fused.fields().values())


def test_runs_side_by_side_have_memory_of_their_own() -> None:
    system = compiled(DESIGNS["four_bar"]().model)
    one, other = (system.fusion.directions("motion") for _ in range(2))
    assert not np.shares_memory(one.scratch, other.scratch) and one.fused is other.fused
    assert directions_of(system, "motion").fused.push == 0


def evaluator(design: Design, gradient: Any, choice: str, **options: Any) -> Evaluator:
    asked = [functional(each) for each in design.asked]
    given = {**design.options, "tolerance": 1e-7, **options}
    return Evaluator(design.model, design.end, asked, gradient=gradient, compile=choice, **given)


def both_ways(name: str, gradient: Any, **options: Any) -> None:
    """Values and gradients without and with fused functions, digit for digit."""
    design = DESIGNS[name]()
    at = np.array([*design.parameters.values()])
    apart, fused = (evaluator(design, gradient, choice, **options) for choice in ("never", "always"))
    (values, slopes), (same, others) = apart.gradients(at), fused.gradients(at)
    np.testing.assert_array_equal(values, same)
    np.testing.assert_array_equal(slopes, others)
    used, unused = fused.run.directions["velocity"].fused, apart.run.directions["velocity"].fused
    assert not any(unused.fields().values())
    if options.get("method") != "alpha" and compiled(design.model).m:
        assert used.push > 0 and (used.pull > 0) == (gradient == "adjoint")


@pytest.mark.parametrize("gradient", ["direct", "adjoint"])
@pytest.mark.parametrize("name", DESIGNS)
def test_gradients(name: str, gradient: str) -> None:
    both_ways(name, gradient)


@pytest.mark.parametrize("gradient", ["direct", "adjoint"])
@pytest.mark.parametrize("name", ["four_bar", "driven", "tables", "bump_stop", "stick_slip", "lift_off"])
@pytest.mark.parametrize("options", [{"method": "radau"}, {"method": "alpha", "step": 2e-3}], ids=["radau", "alpha"])
def test_gradients_by_implicit_methods(name: str, gradient: str, options: dict[str, Any]) -> None:
    both_ways(name, gradient, **options)


@pytest.mark.parametrize("method", ["auto", "radau"])
def test_functions_switched_on_midway_change_no_digit(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """One function more before every sweep: all mixtures that the order allows."""
    monkeypatch.setattr(fusion, "READING", np.inf)
    design = DESIGNS["rubbing_crank"]()
    at = np.array([*design.parameters.values()])
    expected = evaluator(design, "adjoint", "never", method=method).gradients(at)[1]
    asked, one = evaluator(design, "adjoint", "auto", method=method), compiled(design.model).fusion

    def more(seconds: float, names: tuple[str, ...], _: float = 0.0) -> None:
        one.make([name for name in one.worth(names) if name not in one.ready][:1])

    monkeypatch.setattr(one, "spend", more)
    for _ in range(8):
        np.testing.assert_array_equal(asked.gradients(at)[1], expected)
    assert {"push motion", "pull motion", "solving_transposed"} <= one.ready.keys()


def test_what_takes_long_is_fused_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for bound in ("READING", "LEAST", "COST"):
        monkeypatch.setattr(fusion, bound, -1.0)
    design = DESIGNS["four_bar"]()
    at = np.array([*design.parameters.values()])
    asked = evaluator(design, "adjoint", "auto")
    first = asked.gradients(at)[1]
    BESIDE.finish()
    assert {"pull motion", "pull velocity", "refining_transposed"} <= compiled(design.model).fusion.ready.keys()
    np.testing.assert_array_equal(asked.gradients(at)[1], first)


def test_many_designs_expect_their_derivatives() -> None:
    design = DESIGNS["double_pendulum"]()
    evaluator(design, "direct", "always").expect_many()
    assert "push motion" in compiled(design.model).fusion.ready
    assert "pull motion" not in compiled(design.model).fusion.ready
    evaluator(design, "adjoint", "always").expect_many()
    assert "pull motion" in compiled(design.model).fusion.ready


def test_threads_with_and_without_on_one_system() -> None:
    design = DESIGNS["stick_slip"]()
    at = np.array([*design.parameters.values()])

    def found(choice: str) -> np.ndarray:
        return evaluator(design, "adjoint", choice).gradients(at)[1]

    with ThreadPoolExecutor(4) as pool:
        gradients = list(pool.map(found, ["always", "never", "auto"] * 4))
    for gradient in gradients[1:]:
        np.testing.assert_array_equal(gradients[0], gradient)


def test_a_tape_in_a_sweep_asks_for_what_its_steps_need() -> None:
    design = DESIGNS["four_bar"]()
    at = np.array([*design.parameters.values()])
    run: Differentiated = evaluator(design, "adjoint", "always", method="alpha", step=2e-3).run
    run.run(at)
    run.too_long()
    assert run.directions["residual"].fused.push > 0 and run.directions["stages"].fused.push == 0
