"""Model files with simulations: what is checked before anything runs, what is run, told and written."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import kempe as kp
from kempe import running
from kempe.cli import app
from kempe.model.analyses import ANALYSES

DROP = """\
kempe: 1
name: drop
gravity: [0, -9.81]
parameters: {k: 2000}
model:
- body: {name: ball, mass: 0.5, inertia: 0.01, at: [0, 0.4]}
- body: {name: arm, mass: 0.2, inertia: 0.01, at: [1, 0.1]}
- revolute: {name: pin, i: ground, j: arm, on_i: [0.5, 0], on_j: [-0.5, 0]}
- bump_stop: {name: floor, quantity: ball.y, limit: 0, stiffness: k}
analyses:
- simulate:
    times: {end: 1.0, steps: 100}
    tolerance: 1.0e-9
    velocities: {ball.vx: 0.5, arm.omega: 2, arm.vy: 3}
    parameters: {k: 3000}
outputs: {plots: [ball.y, pin.force, floor.force, energy], animation: false}
"""


@pytest.fixture
def drop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drop.kempe.yaml").write_text(DROP)
    return tmp_path


def run(*arguments: str):
    return CliRunner().invoke(app, list(arguments))


def test_a_simulation_is_run_and_written(drop):
    result = run("run", "drop.kempe.yaml")
    assert result.exit_code == 0, result.output
    assert "simulate: complete, 101 points" in result.output
    assert "at the start: moved to assemble: arm.x by" in result.output
    assert "velocity changed: arm." in result.output and "arm.omega by" in result.output
    assert "'floor' at t = 0.28" in result.output and "energy: out of balance by at most" in result.output
    names = {path.name for path in (drop / "out" / "drop").iterdir()}
    assert names == {"simulate.nc", "simulate.csv", "simulate.png", "simulate.html", "mechanism.png"}
    kept = kp.Result.load(drop / "out" / "drop" / "simulate.nc")
    assert kept.provenance["parameters"] == {"k": 3000.0} and kept.provenance["tolerance"] == 1e-9
    expected = kp.load("drop.kempe.yaml").simulate(
        np.linspace(0, 1, 101), tolerance=1e-9, parameters={"k": 3000},
        velocities={"ball.vx": 0.5, "arm.omega": 2, "arm.vy": 3},
    )  # fmt: skip
    assert np.array_equal(kept.array("pin.force"), expected.array("pin.force"))
    assert [(e.kind, e.t, e.element, e.mode, e.message) for e in kept.events] == [
        (e.kind, e.t, e.element, e.mode, e.message) for e in expected.events
    ]
    assert str(kept.initial) == str(expected.initial)
    header = (drop / "out" / "drop" / "simulate.csv").read_text().splitlines()[0].split(",")
    assert {"ball.y", "pin.force", "floor.penetration", "energy.balance"} <= set(header)
    page = (drop / "out" / "drop" / "simulate.html").read_text()
    assert "<h2>Energy</h2>" in page and "<h2>Solver</h2>" in page and "velocity changed" in page


def test_programs_learn_the_same(drop):
    (row,) = json.loads(run("run", "drop.kempe.yaml", "--json").output)
    assert row["status"] == "complete" and "velocity changed" in row["start"]
    assert 0 <= row["energy_error"] < 1e-4 and row["stats"]["steps"] > 0


def test_nothing_is_said_of_a_start_that_was_kept(drop):
    text = DROP.replace(", arm.omega: 2, arm.vy: 3", "").replace("at: [1, 0.1]", "at: [1, 0]")
    (drop / "drop.kempe.yaml").write_text(text)
    result = run("run", "drop.kempe.yaml")
    assert result.exit_code == 0 and "at the start" not in result.output


def test_names_are_checked_before_anything_runs(drop):
    wrong = (
        DROP.replace("tolerance: 1.0e-9", "method: radou")
        .replace("ball.vx", "ball.wx")
        .replace("{k: 3000}", "{q: 1}")
        .replace("pin.force,", "pin.froce,")
    )
    (drop / "drop.kempe.yaml").write_text(wrong)
    result = run("run", "drop.kempe.yaml")
    assert result.exit_code == 2 and not (drop / "out").exists()
    assert "drop.kempe.yaml:13: there is no method 'radou'; did you mean 'radau'?" in result.output
    assert "drop.kempe.yaml:14: there is no velocity 'ball.wx'; did you mean ball.vx?" in result.output
    assert "drop.kempe.yaml:15: there is no parameter 'q'" in result.output
    assert "drop.kempe.yaml:16: plots: there is no 'pin.froce'; did you mean pin.force?" in result.output
    checked = run("check", "drop.kempe.yaml")
    assert checked.exit_code == 1 and "radou" in checked.output and "ball.wx" in checked.output


def test_options_belong_to_a_method(drop):
    text = DROP.replace("tolerance: 1.0e-9", "method: alpha\n    options: {radius: 0.8}\n    step: 1.0e-3")
    (drop / "drop.kempe.yaml").write_text(text)
    result = run("run", "drop.kempe.yaml")
    assert result.exit_code == 0, result.output
    assert kp.Result.load("out/drop/simulate.nc").provenance["method"] == "alpha"
    (drop / "drop.kempe.yaml").write_text(text.replace("radius", "radios"))
    result = run("run", "drop.kempe.yaml")
    assert result.exit_code == 2 and "drop.kempe.yaml:14: method 'alpha' has no option 'radios'" in result.output


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ("- {}", ":11: an entry of analyses must have exactly one key: kinematics, simulate, equilibrium,"),
        ("- simulate: {times: 1}\n  kinematics: {times: 1}", ":11: an entry of analyses must have exactly one key"),
        ("- simulat: {times: 1}", ":11: simulat is not known here; did you mean simulate?"),
        ("- simulate: {times: 1, toleranc: 1}", "toleranc is not known here; did you mean tolerance?"),
        ("- simulate: {tolerance: 1}", "times is missing"),
        ("- simulate: {times: 1, velocities: {ball.vx: fast}}", "ball.vx must be a number, not 'fast'"),
    ],
)
def test_entries_are_judged_by_their_form(drop, entry, says):
    head, _, rest = DROP.partition("- simulate:")
    (drop / "x.kempe.yaml").write_text(head + entry + "\noutputs:" + rest.partition("outputs:")[2])
    result = run("run", "x.kempe.yaml")
    assert result.exit_code == 2 and says in result.output, result.output


def test_two_analyses_in_one_file(drop):
    driven = {
        "motor": ("pin.angle", "t"),
        "hold": ("ball.x", 0),
        "lift": ("ball.y", "cos(t)"),
        "turn": ("ball.angle", 0),
    }
    drivers = [f"- driver: {{name: {n}, quantity: {q}, motion: {law}}}\n" for n, (q, law) in driven.items()]
    text = DROP.replace("- simulate:", "- kinematics: {times: 1.0, name: first}\n- simulate:")
    text = text.replace("- bump_stop", "".join(drivers) + "- bump_stop")
    text = text.replace("velocities: {ball.vx: 0.5, arm.omega: 2, arm.vy: 3}", "")
    (drop / "drop.kempe.yaml").write_text(text.replace("pin.force", "motor.effort"))
    result = run("run", "drop.kempe.yaml", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.output)
    assert [row["analysis"] for row in rows] == ["first", "simulate 2"]
    assert all(any(f.endswith(".png") and "mechanism" not in f for f in row["files"]) for row in rows)
    kinematics, simulated = (kp.Result.load(f"out/drop/{name}.nc") for name in ("first", "simulate_2"))
    assert np.abs(kinematics.array("ball.y")[-1] - simulated.array("ball.y")[-1]) < 1e-9
    assert "motor.effort" in simulated.names and "motor.effort" not in kinematics.names


def test_the_first_analysis_can_be_animated(drop):
    result = run("animate", "drop.kempe.yaml", "--out", "drop.gif")
    assert result.exit_code == 0 and (drop / "drop.gif").stat().st_size > 1000


def test_progress_is_told(drop, monkeypatch):
    monkeypatch.setattr("kempe.simulation.running.FIRST_CHUNK", 5)
    monkeypatch.setattr("kempe.simulation.running.LOOK_UP", 0.0)
    seen = []
    running.run_file("drop.kempe.yaml", progress=lambda *now: seen.append(now))
    assert seen and all(0 < done <= wanted == 1.0 for done, wanted in seen)


def test_a_simulation_that_fails_leaves_what_exists(drop, monkeypatch):
    from kempe.solvers import course as co

    text = DROP.replace("tolerance: 1.0e-9", "method: projection\n    max_step: 0.01")
    (drop / "drop.kempe.yaml").write_text(text)
    from kempe.simulation.machine import Machine

    advance = Machine.advance

    def breaks(self, budget):
        code = advance(self, budget)
        return co.FAILED if self.course.now.t > 0.5 else code

    monkeypatch.setattr(Machine, "advance", breaks)
    monkeypatch.setattr("kempe.simulation.running.FIRST_CHUNK", 10)
    monkeypatch.setattr("kempe.simulation.running.LOOK_UP", 0.0)
    result = run("run", "drop.kempe.yaml")
    assert result.exit_code == 1 and "simulate ended early" in result.output, result.output
    kept = kp.Result.load("out/drop/simulate.nc")
    assert kept.status == "failed" and 40 < len(kept) < 101 and kept.array("pin.force").max() > 0


def test_the_schema_knows_simulations():
    schema = json.loads(run("schema").output)
    assert set(schema["$defs"]["AnalysisSpec"]["properties"]) == set(ANALYSES)
    assert schema["$defs"]["AnalysisSpec"]["maxProperties"] == 1
    wanted = {"times", "method", "tolerance", "step", "velocities", "parameters", "options"}
    assert wanted <= set(schema["$defs"]["SimulateSpec"]["properties"])
