"""Motions computed with fused programs, without, and with programs that are fused on the way: one and the same."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from machines import MACHINES
from random_touching import FIRST_IMPACT, draw
from rubbing import ball, belt
from test_redundant import parallelogram
from touching_plans import mechanism

import kempe as kp
from kempe.kernels import compiler
from kempe.kernels.beside import BESIDE
from kempe.simulation import checkpoints, running
from kempe.simulation.machine import Machine
from kempe.simulation.starting import begun
from kempe.system import compiled, fusion

EXAMPLES = Path(__file__).parents[2] / "examples"


def assert_same_motion(one: kp.Result, other: kp.Result) -> None:
    """Every digit of states, multipliers, energies and events, and every step."""
    for name in ("t", "q", "v", "a"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert one.series.keys() == other.series.keys()
    for name in one.series:
        assert np.array_equal(one.series[name], other.series[name], equal_nan=True), name
    assert [(e.t, e.message) for e in one.events] == [(e.t, e.message) for e in other.events]
    assert one.message == other.message
    counted = ("steps", "rejected", "evaluations", "factorisations", "largest violation", "method")
    assert [one.stats[name] for name in counted] == [other.stats[name] for name in counted]


def both_ways(simulate: Callable[..., kp.Result]) -> kp.Result:
    """A motion without and with fused programs, whose digits are the same; with them."""

    def outcome(choice: str) -> tuple[kp.Result, str]:
        try:
            return simulate(compile=choice), ""
        except kp.ConvergenceError as error:
            return error.result, str(error)

    (apart, why), (fused, why_not) = outcome("never"), outcome("always")
    assert why == why_not
    assert apart.provenance["compiled"] == "nothing" and fused.provenance["compiled"] != "nothing"
    assert_same_motion(apart, fused)
    return fused


# --- models of every kind -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", kp.METHODS)
@pytest.mark.parametrize("name", MACHINES)
def test_machines_by_every_method(name: str, method: str) -> None:
    machine = MACHINES[name]()
    both_ways(lambda **choice: machine.simulate(method=method, tolerance=1e-5, **choice))


@pytest.mark.parametrize("seed", [*range(0, 24, 3), *range(FIRST_IMPACT, FIRST_IMPACT + 24, 3)])
@pytest.mark.filterwarnings("ignore::kempe.AccuracyWarning")
def test_friction_and_impacts(seed: int) -> None:
    plan = draw(seed)
    m = mechanism(plan)
    both_ways(lambda **choice: m.simulate(0.4, steps=20, velocities=plan.start_names(), tolerance=1e-6, **choice))


@pytest.mark.parametrize("method", ["auto", "radau", "alpha", "bdf"])
def test_switching_elements_of_a_users_own(method: str) -> None:
    both_ways(lambda **choice: belt().simulate(2.0, steps=40, method=method, tolerance=1e-6, **choice))
    both_ways(lambda **choice: ball().simulate(2.0, steps=40, method=method, tolerance=1e-6, **choice))


@pytest.mark.parametrize("reactions", ["minimum norm", None])
def test_redundant_constraints(reactions: str | None) -> None:
    m = parallelogram()
    both_ways(lambda **choice: m.simulate(0.5, velocities={"crank 1.omega": 1.0}, reactions=reactions, **choice))


@pytest.mark.parametrize("method", ["auto", "alpha", "radau"])
def test_tables_one_within_the_other_and_forces_of_loads(method: str) -> None:
    m = kp.Mechanism("press", gravity=(0, -9.81))
    slider = m.body("slider", mass=2.0, inertia=0.1, at=(0, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0), friction=0.2)
    bend, ease = kp.table([-2, -1, 0, 1, 2], [0.4, 0.1, 0.0, 0.2, 0.5]), kp.table([-1, 0, 1, 2], [1, 3, 2, 4])
    m.force("push", slider, (lambda t: 10 * ease(bend(kp.sin(5 * t)) + 0.1 * t), -30.0))
    m.spring("buffer", m.ground, slider, on_i=(-2, 0), stiffness=40.0)
    both_ways(lambda **choice: m.simulate(1.0, method=method, tolerance=1e-7, velocities={"slider.vx": 1.0}, **choice))


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.kempe.yaml")), ids=lambda file: file.name.split(".")[0])
@pytest.mark.filterwarnings("ignore::kempe.AccuracyWarning")
def test_examples(file: Path) -> None:
    m = kp.load(file)
    if not any(family.kinetic is not None for family in compiled(m).families):
        pytest.skip("no mass")
    try:
        both_ways(lambda **choice: m.simulate(0.05, steps=5, tolerance=1e-6, **choice))
    except kp.ModelError as error:  # (a mechanism for kinematics only)
        assert "inertia" in str(error) or "not in this model" in str(error), error


# --- when -----------------------------------------------------------------------------------------------------------


def crank(name: str = "crank") -> kp.Mechanism:
    """A pendulum on a spring, with a stop that it hits and a parameter."""
    m = kp.Mechanism(name, gravity=(0, -9.81))
    length = m.parameter("length", 0.4, bounds=(0.2, 0.8))
    rod = m.body("rod", mass=1.0, inertia=0.05, at=(0.4, 0.1))
    m.revolute("O", m.ground, rod, on_i=(0, 0), on_j=(-length, 0))
    m.spring("spring", m.ground, rod, on_i=(0, 1), stiffness=30.0, damping=0.1)
    m.bump_stop("stop", rod.angle, -0.5, stiffness=200.0, damping=1.0, side="below")
    return m


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """Nothing is kept on disk yet; the process looks up every few steps."""
    BESIDE.finish()
    monkeypatch.setenv("KEMPE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler, "_loaded", type(compiler._loaded)())
    monkeypatch.setattr(running, "FIRST_CHUNK", 5)
    monkeypatch.setattr(running, "LOOK_UP", 1e-4)
    yield monkeypatch
    BESIDE.finish()


LONG = {"steps": 50, "tolerance": 1e-9, "velocities": {"rod.omega": 2.0}}


def test_programs_are_switched_on_while_steps_run(patience: pytest.MonkeyPatch) -> None:
    apart = crank().simulate(20.0, compile="never", **LONG)
    for bound in ("READING", "LEAST", "COST"):
        patience.setattr(fusion, bound, -1.0)
    m = crank()
    found = m.simulate(20.0, compile="auto", progress=lambda t, end: BESIDE.finish(), **LONG)
    assert found.provenance["compiled"].startswith("everything from step")
    assert found.provenance["compile seconds"] > 0
    assert_same_motion(apart, found)
    again = m.simulate(20.0, compile="auto", **LONG)
    assert again.provenance["compiled"] == "everything"
    assert_same_motion(apart, again)


@pytest.mark.parametrize("method", ["auto", "alpha", "radau", "bdf", "canonical", "augmented", "independent"])
def test_each_function_switched_on_midway_changes_no_digit(patience: pytest.MonkeyPatch, method: str) -> None:
    """One function after the other, at every look-up one more: all mixtures that the order allows."""
    given = {**LONG, "tolerance": 1e-6, "method": method}
    apart = crank().simulate(5.0, compile="never", **given)
    patience.setattr(fusion, "LEAST", np.inf)
    patience.setattr(fusion, "READING", np.inf)
    for turned in (False, True):
        m = crank()
        one = compiled(m).fusion
        spend = one.spend

        def more(seconds: float, names: tuple[str, ...], _: float = 0.0, one: Any = one, turned: bool = turned) -> None:
            left = [name for name in one.worth(names) if name not in one.ready]
            one.make(left[-1:] if turned else left[:1])

        one.spend = more
        found = m.simulate(5.0, compile="auto", **given)
        assert len(one.ready) > 3
        assert_same_motion(apart, found)
        one.spend = spend


def test_a_short_run_compiles_nothing(patience: pytest.MonkeyPatch, tmp_path: Path) -> None:
    m = crank()
    first = m.simulate(0.5, compile="auto", **LONG)
    assert first.provenance["compiled"] == "nothing" and not compiled(m).fusion.ready
    assert "compile seconds" not in first.provenance


def test_many_short_runs_are_one_long_one(patience: pytest.MonkeyPatch) -> None:
    m = crank()
    patience.setattr(fusion, "LEAST", 0.05)
    runs = []
    while (not runs or runs[-1].provenance["compiled"] != "everything") and len(runs) < 2000:
        runs.append(m.simulate(0.5, compile="auto", **LONG))
        assert_same_motion(runs[0], runs[-1])
    assert runs[-1].provenance["compiled"] == "everything"


def test_what_another_process_compiled_is_found(patience: pytest.MonkeyPatch) -> None:
    """By content: a model of other numbers finds it too, one of another topology does not, and nothing is written."""
    crank().simulate(0.2, compile="always", **LONG)
    patience.setattr(compiler, "_loaded", type(compiler._loaded)())  # (as another process would begin)
    patience.setattr(fusion, "READING", 0.0)
    patience.setattr(fusion.fusing, "outputs_of", None)  # nobody writes a sheet
    m = crank("another name")
    found = m.simulate(0.2, parameters={"length": 0.45}, compile="auto", **LONG)
    assert found.provenance["compiled"].startswith("everything") and "compile seconds" not in found.provenance
    other = crank()
    other.spring("more", other.ground, other.parts["rod"], on_i=(1, 0), stiffness=3.0)
    assert other.simulate(0.2, compile="auto", **LONG).provenance["compiled"] != "everything"


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "off", "unwritable"])
def test_a_damaged_cache_costs_a_compilation(patience: pytest.MonkeyPatch, tmp_path: Path, damage: str) -> None:
    apart = crank().simulate(0.2, compile="always", **LONG)
    patience.setattr(compiler, "_loaded", type(compiler._loaded)())
    for file in (tmp_path / "cache").iterdir():
        whole = file.read_bytes()
        if damage in ("cut", "garbage", "empty"):
            file.write_bytes({"cut": whole[: len(whole) // 2], "garbage": whole[::-1], "empty": b""}[damage])
    if damage == "off":
        patience.setenv("KEMPE_CACHE", "")
    if damage == "unwritable":
        (tmp_path / "file").write_text("no folder")
        patience.setenv("KEMPE_CACHE", str(tmp_path / "file" / "cache"))
    again = crank().simulate(0.2, compile="always", **LONG)
    assert again.provenance["compile seconds"] > 0
    assert_same_motion(apart, again)


def test_an_edit_of_what_writes_functions_makes_them_stale(patience: pytest.MonkeyPatch) -> None:
    crank().simulate(0.2, compile="always", **LONG)
    patience.setattr(fusion, "sources", lambda: b"edited")
    assert crank().simulate(0.2, compile="always", **LONG).provenance["compile seconds"] > 0


def test_a_failure_to_compile_is_logged_and_the_run_goes_on(
    patience: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no memory")

    for bound in ("READING", "LEAST", "COST"):
        patience.setattr(fusion, bound, -1.0)
    patience.setattr(fusion.fusing, "outputs_of", fail)
    apart, m = crank().simulate(2.0, compile="never", **LONG), crank()
    found = m.simulate(2.0, compile="auto", **LONG)
    BESIDE.finish()
    assert_same_motion(apart, found)
    assert "no memory" in caplog.text


def test_a_function_that_is_too_long_is_not_written_out(patience: pytest.MonkeyPatch) -> None:
    size = compiled(crank()).fusion.job("accelerating").size
    patience.setattr(fusion, "LONGEST", size - 1)
    m = crank()
    found = m.simulate(0.2, compile="always", **LONG)
    assert found.provenance["compiled"] == "everything"  # (that is worth it)
    assert "energy" in compiled(m).fusion.ready and "accelerating" not in compiled(m).fusion.ready


# --- who asks -------------------------------------------------------------------------------------------------------


def test_threads_share_what_is_compiled(patience: pytest.MonkeyPatch) -> None:
    m = crank()
    lengths = np.linspace(0.3, 0.6, 48)
    apart = kp.run_many(m, {"length": lengths}, "all", 1.0, compile="never", **LONG)
    for choice in ("auto", "always"):
        found = kp.run_many(crank(), {"length": lengths}, "all", 1.0, compile=choice, workers=4, **LONG)
        for name in apart.values:
            assert np.array_equal(apart[name], found[name], equal_nan=True), name
    one = m.simulate(1.0, parameters={"length": lengths[7]}, compile="always", **LONG)
    assert np.array_equal(one.array("rod.angle"), apart["rod.angle"][7])
    with ThreadPoolExecutor(4) as pool:  # on one system: with and without at the same time
        choices = ["always", "never", "auto"] * 8
        runs = list(pool.map(lambda choice: m.simulate(1.0, compile=choice, **LONG), choices))
    for run in runs[1:]:
        assert_same_motion(runs[0], run)


def test_sensitivities_and_optima_are_the_same() -> None:
    def asked(choice: str) -> tuple[kp.Sensitivity, kp.Optimum]:
        m, functionals = crank(), [kp.final("rod.angle"), kp.integral("rod.y")]
        slopes = m.sensitivity(0.5, functionals, compile=choice)
        return slopes, m.optimise(0.5, kp.final("rod.y"), by="length", max_iterations=4, compile=choice)

    (slopes, best), (others, other) = asked("never"), asked("always")
    assert slopes.gradients == others.gradients and slopes.values == others.values
    assert best.parameters == other.parameters


@pytest.mark.parametrize(("first", "then"), [("never", "always"), ("always", "never"), ("auto", "always")])
def test_a_checkpoint_does_not_care(first: str, then: str, tmp_path: Path) -> None:
    m, path = crank(), tmp_path / "run.npz"
    whole = m.simulate(3.0, compile="never", **LONG)
    machine, record = under_way(m, first)
    checkpoints.write_checkpoint(machine, record, machine.initial(), path)
    assert_same_motion(whole, kp.resume(crank(), path, compile=then))


def under_way(m: kp.Mechanism, choice: str) -> tuple[Machine, running.Record]:
    """A machine in the middle of its run."""
    machine, record = begun(m, 3.0, compile=choice, **LONG), running.Record()
    machine.advance(100)
    record.collect(machine)
    return machine, record


def test_a_model_that_was_fused_travels() -> None:
    m = crank()
    here = m.simulate(1.0, compile="always", **LONG)
    there = pickle.loads(pickle.dumps(m)).simulate(1.0, compile="never", **LONG)
    assert_same_motion(here, there)


def test_a_run_under_way_travels_without_its_fused_programs() -> None:
    """Frames are plain data: numbers of functions that are in this process only stay here."""
    machine, _ = under_way(crank(), "always")
    eq = pickle.loads(pickle.dumps(machine.eq))
    assert machine.eq.energy.fused > 0 and eq.energy.fused == 0
    assert not any(eq.whole.fields().values())


LEAVING = """
import os, sys
import kempe as kp
from kempe.system import fusion
fusion.LEAST = fusion.COST = fusion.READING = 0.0
m = kp.Mechanism("chain", gravity=(0, -9.81))
last = m.ground
for k in range(12):
    body = m.body(f"b{k}", mass=1.0, inertia=0.1, at=(k + 0.5, 0))
    m.revolute(f"j{k}", last, body, at=(k, 0))
    last = body
first = m.simulate(0.05, steps=2)
second = m.simulate(0.05, steps=2)
if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        third = m.simulate(0.05, steps=2)
        os._exit(0 if (third.q == first.q).all() else 3)
    assert os.waitpid(child, 0)[1] == 0
assert (second.q == first.q).all()
"""


@pytest.mark.parametrize("how", ["end", "fork"])
def test_a_process_may_end_or_fork_while_it_compiles(how: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAVING, how],
        env={**os.environ, "KEMPE_CACHE": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_what_cannot_be_asked_for_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(kp.ModelError, match=r"compile must be 'auto', 'never' or 'always', not 'allways'.*'always'"):
        crank().simulate(0.1, compile="allways")
    for wrong in (True, 1, ["auto"]):
        with pytest.raises(kp.ModelError, match="compile must be"):
            crank().simulate(0.1, compile=wrong)
    monkeypatch.setenv("KEMPE_COMPILE", "sometimes")
    with pytest.raises(kp.ModelError, match="KEMPE_COMPILE must be"):
        crank().simulate(0.1)
    monkeypatch.setenv("KEMPE_COMPILE", "never")
    assert crank().simulate(0.1).provenance["compiled"] == "nothing"
    monkeypatch.setenv("KEMPE_COMPILE", "always")
    assert crank().simulate(0.1).provenance["compiled"] == "everything"
    assert crank().simulate(0.1, compile="never").provenance["compiled"] == "nothing"
