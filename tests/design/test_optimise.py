"""Optimal designs of mechanisms whose optima are known in closed form, from Python, files and the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from closed_forms import METHODS
from typer.testing import CliRunner

import kempe as kp
from kempe.cli import app
from kempe.design.evaluating import Evaluator
from kempe.design.optimising import Simulated

#: A mass on a spring and a damper, released at 1: in units of its own, x'' + 2 d x' + w^2 x = 0.
MODEL = """\
kempe: 1
name: buffer
parameters: {damping: {value: 1.0, bounds: [0.2, 6]}, stiffness: {value: 9, bounds: [1, 40]}}
model:
- body: {name: mass, mass: 1, inertia: 1, at: [1, 0]}
- translational: {name: guide, i: ground, j: mass, axis: [1, 0], at: [0, 0]}
- spring:
    {name: coil, i: ground, j: mass, on_i: [-2, 0], on_j: [0, 0], length: 2, stiffness: stiffness, damping: damping}
"""
ENTRY = """\
analyses:
- optimise: {times: 12, minimise: integral(mass.x**2), by: [damping], subject_to: [], steps: 50}
outputs: {plots: [mass.x], traces: [mass]}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "buffer.kempe.yaml").write_text(MODEL + ENTRY)
    return tmp_path


@pytest.fixture(scope="module")
def buffer(tmp_path_factory: pytest.TempPathFactory) -> kp.Mechanism:
    path = tmp_path_factory.mktemp("model") / "buffer.kempe.yaml"
    path.write_text(MODEL)
    return kp.load(path)


@pytest.mark.parametrize("method", METHODS)
def test_the_best_damping_of_an_oscillator(buffer: kp.Mechanism, method: str) -> None:
    """The integral of x^2 of x'' + c x' + k x = 0 from rest at 1 is (c/k + 1/c) / 2: least at c = sqrt(k)."""
    best = buffer.optimise(12.0, kp.integral("mass.x**2"), by=["damping"], method=method, steps=50)
    assert best.success, best.message
    assert best.parameters["damping"] == pytest.approx(3.0, rel=1e-4)
    assert best.objective == pytest.approx(1 / 3, rel=1e-6)
    assert not best.active and best.values_before[best.minimise] == pytest.approx((1 / 9 + 1) / 2, rel=1e-4)
    before, after = best.results
    assert [motion.array("mass.x")[0] for motion in (before, after)] == [1.0, 1.0]
    assert before.array("mass.x")[5] < -0.3 and after.array("mass.x")[5] > -0.2  # (at 1.2: it swings less far)


@pytest.mark.parametrize("method", METHODS)
def test_a_requirement_on_the_motion_holds_the_optimum(buffer: kp.Mechanism, method: str) -> None:
    """The force at the start is k: k <= 16 holds (c/k + 1/c) / 2, which is least at c = sqrt(k), and is 1/sqrt(k)."""
    force = kp.initial("stiffness * mass.x", name="first force")
    best = buffer.optimise(12.0, kp.integral("mass.x**2"), [force <= 16.0], method=method, steps=50)
    assert best.success, best.message
    assert best.parameters == pytest.approx({"damping": 4.0, "stiffness": 16.0}, rel=1e-3)
    assert best.objective == pytest.approx(0.25, rel=1e-5)
    (held,) = best.active
    assert held.name == "first force <= 16"
    assert held.multiplier == pytest.approx(1 / (2 * 16**1.5), rel=1e-2)  # of 1/sqrt k by k


def test_text_says_the_same(buffer: kp.Mechanism) -> None:
    told = buffer.optimise(12.0, "integral(mass.x**2)", ["initial(stiffness * mass.x) <= 16"], steps=50)
    made = buffer.optimise(12.0, kp.integral("mass.x ** 2"), kp.initial("stiffness * mass.x") <= 16, steps=50)
    assert told.parameters == made.parameters and told.objective == made.objective


def test_requirements_that_contradict_each_other(buffer: kp.Mechanism) -> None:
    least, most = kp.integral("mass.x**2") <= 0.1, kp.initial("stiffness * mass.x") <= 16
    best = buffer.optimise(12.0, kp.final("mass.x"), [least, most], steps=50)
    assert best.status == "infeasible" and not best.feasible
    assert set(best.blocks) == {"integral of (mass.x**2) <= 0.1", "initial (stiffness * mass.x) <= 16"}
    assert "cannot be met together" in best.message


def test_many_starts_give_what_one_thread_gives(buffer: kp.Mechanism) -> None:
    options = {"by": ["damping"], "starts": 4, "steps": 50, "seed": 3}
    side_by_side = buffer.optimise(12.0, kp.integral("mass.x**2"), workers=2, **options)
    one_by_one = buffer.optimise(12.0, kp.integral("mass.x**2"), workers=1, **options)
    assert side_by_side.starts == one_by_one.starts and side_by_side.success
    assert {round(start.objective, 6) for start in side_by_side.starts} == {round(1 / 3, 6)}


def test_an_optimum_is_where_the_next_search_begins(buffer: kp.Mechanism) -> None:
    first = buffer.optimise(12.0, kp.integral("mass.x**2"), by=["damping"], max_iterations=1, steps=50)
    second = buffer.optimise(12.0, kp.integral("mass.x**2"), by=["damping"], parameters=first.parameters, steps=50)
    assert second.before == first.parameters and second.success


def test_gradients_of_the_last_motion_are_those_of_a_new_one(buffer: kp.Mechanism) -> None:
    functionals = [kp.integral("mass.x**2"), kp.maximum("-mass.vx")]
    p = np.array([1.5, 8.0])
    for gradient in ("direct", "adjoint"):
        known = Simulated(buffer, 3.0, functionals, ["damping", "stiffness"], gradient=gradient)
        known.values(p)
        for ours, fresh in zip(known.gradients(p), Evaluator.gradients(known.twin(), p), strict=True):
            assert np.array_equal(ours, fresh)


def four_bar() -> kp.Mechanism:
    """A coupler that is too long or short for its frame cannot be assembled."""
    m = kp.Mechanism("four-bar", gravity=(0, -9.81))
    length = m.parameter("coupler", 4.0, bounds=(1.0, 9.0))
    crank = m.body("crank", mass=1.0, inertia=0.1, at=(0, 0.5), angle=np.pi / 2)
    coupler = m.body("coupler bar", mass=1.0, inertia=1.0, at=(2, 1.5))
    rocker = m.body("rocker", mass=1.0, inertia=0.5, at=(4, 1.0), angle=np.pi / 2)
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-0.5, 0))
    m.revolute("A", crank, coupler, on_i=(0.5, 0), on_j=(-length / 2, 0))
    m.revolute("B", coupler, rocker, on_i=(length / 2, 0), on_j=(1.0, 0))
    m.revolute("C", m.ground, rocker, on_i=(4, 0), on_j=(-1.0, 0))
    return m


@pytest.mark.filterwarnings("ignore::kempe.AccuracyWarning")  # (where the linkage is stretched)
def test_designs_that_cannot_be_assembled_are_a_wall() -> None:
    """The objective falls with the coupler's length as far as the linkage closes, which is at 1 + 4 + 2 = 7."""
    m = four_bar()
    best = m.optimise(0.02, -1.0 * kp.initial("coupler + 0 * crank.angle", name="length"), method="slsqp", steps=2)
    assert best.status == "stopped" and best.walls
    assert 6.5 < best.parameters["coupler"] <= 7.0 + 1e-9
    assert "a wall was met" in best.message


@pytest.mark.parametrize("method", METHODS)
def test_interrupted(buffer: kp.Mechanism, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the middle of a run returns the best design so far."""
    whole, seen = Evaluator.gradients, []

    def gradients(self: Evaluator, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = whole(self, p)
        seen.append(found[0][0])
        if len(seen) == 4:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(Evaluator, "gradients", gradients)
    best = buffer.optimise(12.0, kp.integral("mass.x**2"), by=["damping"], method=method, accuracy=1e-10, steps=50)
    assert best.status == "interrupted" and best.objective <= min(seen[:3]) and best.results is not None


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"minimise": "integral(mass.x**2"}, "is not an expression"),
        ({"minimise": kp.integral("mas.x")}, "mas.x"),
        ({"minimise": "mass.x"}, "of a quantity write"),
        ({"subject_to": [True]}, "must be a requirement"),
        ({"by": ["dampin"]}, "did you mean 'damping'"),
        ({"by": ["damping", "damping"]}, "twice"),
        ({"bounds": {"damping": (3, 1)}}, "must not cross"),
        ({"formulation": "bdf"}, "projection"),
        ({"methode": "ipopt"}, "did you mean method="),
        ({"subject_to": [kp.final("mass.x", name="a") <= 1, kp.initial("mass.x", name="a") <= 1]}, "two functionals"),
    ],
)
def test_what_cannot_be_asked_for(buffer: kp.Mechanism, arguments: dict, words: str) -> None:
    given = {"minimise": kp.integral("mass.x**2")} | arguments
    with pytest.raises(kp.ModelError, match=words):
        buffer.optimise(1.0, **given)


# --- files and the command line -----------------------------------------------------------------------------------


def command(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code, result.output
    return result.output


def test_the_optimum_of_a_file_is_that_of_python(here: Path) -> None:
    told = json.loads(command("optimise", "buffer.kempe.yaml", "--json"))
    best = kp.load("buffer.kempe.yaml").optimise(12.0, kp.integral("mass.x ** 2"), by=["damping"], steps=50)
    assert told["status"] == "optimal" and told["parameters"] == best.parameters
    assert [it["objective"] for it in told["history"]] == [it.objective for it in best.history]


def test_a_file_writes_pictures_and_a_report(here: Path) -> None:
    said = command("run", "buffer.kempe.yaml", "--out", "o")
    assert "optimal (by slsqp" in said and "damping" in said
    written = {path.name for path in Path("o").iterdir()}
    assert written >= {"optimise.json", "optimise_history.png", "optimise_changes.png", "optimise.html"}


def test_the_command_line_changes_the_entry(here: Path) -> None:
    words = ["--method", "steepest-descent", "--subject-to", "final(mass.x) <= -5", "--max-iterations", "30"]
    said = command("optimise", "buffer.kempe.yaml", *words, code=1)
    assert "infeasible (by steepest-descent" in said
    assert "'final mass.x <= -5' cannot be met" in said


def test_mistakes_in_a_file_are_told_with_their_lines(here: Path) -> None:
    entry = "analyses:\n- optimise:\n    times: 1\n    minimise: integral(mas.x)\n    method: slsq\n    by: [dampin]\n"
    entry += "    subject_to:\n    - final(mass.x)\n"
    Path("wrong.kempe.yaml").write_text(MODEL + entry)
    said = command("check", "wrong.kempe.yaml", code=1)
    for line, words in (
        (12, "there is no quantity 'mas.x'; did you mean mass.x?"),
        (13, "there is no method 'slsq'; did you mean slsqp?"),
        (14, "there is no parameter 'dampin'; did you mean damping?"),
        (16, "'final(mass.x)' has no limit"),
    ):
        assert f"wrong.kempe.yaml:{line}: {words}" in said, said


def test_a_design_at_rest() -> None:
    """The softest spring that a weight pulls out by no more than 0.1 has k = m g / 0.1."""
    m = kp.Mechanism("scale", gravity=(0, -9.81))
    k = m.parameter("stiffness", 300.0, bounds=(10, 1000))
    pan = m.body("pan", mass=2.0, inertia=1.0, at=(0, -0.3))
    m.translational("guide", m.ground, pan, axis=(0, 1), at=(0, 0))
    m.spring("coil", m.ground, pan, stiffness=k, length=0.3)
    drop = kp.final("-0.3 - pan.y", name="drop")
    evaluator = kp.EquilibriumEvaluator(m, [1.0 * kp.final("stiffness + 0 * pan.y", name="k"), drop])
    first, second = evaluator.names
    problem = kp.DesignProblem(evaluator, first, [(second, None, 0.1)], start={"stiffness": 300.0})
    for method in METHODS:
        found = kp.solve_design(problem.twin(), method=method)
        assert found.success, found.message
        assert found.parameters["stiffness"] == pytest.approx(2 * 9.81 / 0.1, rel=1e-4)
        assert found.active[0].multiplier == pytest.approx(2 * 9.81 / 0.1**2, rel=1e-3)
