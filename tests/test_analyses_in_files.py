"""Every analysis from a file and as a command: the numbers are those of Python, digit for digit."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import kempe as kp
from kempe import running
from kempe.cli import app
from kempe.simulation.checkpoints import write_checkpoint

MODEL = """\
kempe: 1
name: arm
gravity: [0, -9.81]
parameters: {k: 30, rod length: 0.5}
model:
- body: {name: arm, mass: 1, inertia: 0.1, at: ["{rod length}", 0]}
- revolute: {name: pin, i: ground, j: arm, on_i: [0, 0], on_j: ["-{rod length}", 0]}
- torsion_spring: {name: coil, i: ground, j: arm, stiffness: k, damping: 0.2}
"""
DRIVER = "- driver: {name: motor, quantity: arm.angle, motion: sin(t)}\n"
ENTRIES = """\
analyses:
- equilibrium: {name: rest, parameters: {k: 20}}
- modes: {about: rest}
- linearise: {about: rest, name: small}
- simulate: {times: {end: 1, steps: 20}, start: rest, velocities: {arm.omega: 1}, parameters: {k: 20}, checkpoint: true}
- sweep: {times: 1, steps: 10, designs: {k: {start: 10, end: 30, count: 3}}, quantities: [arm.angle, pin.force]}
- equilibrium: {name: held, hold: [arm.angle], start: rest}
outputs: {plots: [arm.angle, energy, pin.force], report: false, animation: false}
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.kempe.yaml").write_text(MODEL + ENTRIES)
    (tmp_path / "bare.kempe.yaml").write_text(MODEL)
    (tmp_path / "driven.kempe.yaml").write_text(MODEL + DRIVER)
    return tmp_path


def command(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code, result.output
    return result.output


def told(*words: str) -> dict:
    return json.loads(command(*words, "--json"))


def same(one: kp.Result, two: kp.Result) -> None:
    assert one.names == two.names
    for name in one.names:
        assert np.array_equal(one.array(name), two.array(name)), name


def test_a_file_runs_all_of_its_analyses(here):
    rows = json.loads(command("run", "arm.kempe.yaml", "--json"))
    assert [row["kind"] for row in rows] == ["equilibrium", "modes", "linearise", "simulate", "sweep", "equilibrium"]
    assert all(Path(name).stat().st_size > 100 for row in rows for name in row["files"])
    rest, modes, small, simulated, sweep, held = rows
    m = kp.load("arm.kempe.yaml")

    pose = m.equilibrium(parameters={"k": 20})
    assert rest["pose"] == pose.pose.values and rest["status"] == "stable"
    assert json.loads(Path("out/arm/rest.json").read_text())["stiffness"] == pose.stiffness

    found = m.modes(pose)
    assert modes["modes"][0]["Hz"] == found.hertz[0] and modes["modes"][0]["shape"] == found.shape(0)
    linear = m.linearise(pose)
    assert small["K"] == linear.K.tolist()
    assert [complex(*pair) for pair in small["eigenvalues"]] == linear.eigenvalues.tolist()

    options = {"start": pose.pose, "velocities": {"arm.omega": 1}, "parameters": {"k": 20}}
    same(kp.Result.load("out/arm/simulate_4.nc"), m.simulate(np.linspace(0, 1, 21), **options))
    assert simulated["points"] == 21

    runs = kp.run_many(m, {"k": [10, 20, 30]}, ["arm.angle", "pin.force"], 1.0, steps=10)
    assert sweep["at the end"]["arm.angle"] == runs["arm.angle"][:, -1].tolist()
    with open("out/arm/sweep_5.csv", newline="") as file:
        table = list(csv.reader(file))
    assert table[0] == ["design", "k", "t", "arm.angle", "pin.force"] and len(table) == 1 + 3 * 11
    assert np.array_equal(np.array(table[1:], dtype=float)[:, 4], runs["pin.force"].ravel())
    import xarray

    with xarray.open_dataset("out/arm/sweep_5.nc", engine="h5netcdf") as stored:
        assert np.array_equal(stored["pin.force"].values, runs["pin.force"])

    assert held["holding"] == m.equilibrium(hold=["arm.angle"], start=pose.pose).holding


def test_the_response_of_a_file_is_that_of_python(here):
    m, start = kp.load("driven.kempe.yaml"), {"arm.omega": 1.0}
    turn = 2 * np.pi
    page = told("response", "driven.kempe.yaml", "--period", str(turn), "--periods", "6", "--steps", "20", "--out", "o")
    found = m.simulate(6 * turn, steps=120, tolerance=1e-10).response(turn)
    assert page["verdict"] == "periodic" and page["periods"] == 1
    assert page["drivers"]["motor.power"]["largest"] == found.drivers["motor.power"].largest[0].tolist()
    same(kp.Result.load("o/response.nc"), found.result)

    words = ["--velocity", "arm.omega=1", "--period", "1", "--periods", "5", "--skip", "2"]
    exponent = told("lyapunov", "bare.kempe.yaml", *words)
    assert exponent["growth"] == m_bare().lyapunov(1.0, 5, skip=2.0, velocities=start).growth.tolist()
    known = told("horizon", "bare.kempe.yaml", "--velocity", "arm.omega=1", "--end", "2", "--record", "arm.angle")
    assert known["t"] is None and known["until"] == {"arm.angle": None} and known["chaotic"] is False
    assert "agree to the end" in command("horizon", "bare.kempe.yaml", "--end", "2", "--out", "o")
    assert Path("o/horizon.png").exists()


def m_bare() -> kp.Mechanism:
    return kp.load("bare.kempe.yaml")


def test_what_is_said_to_people(here):
    said = command("run", "arm.kempe.yaml")
    for words in (
        "rest: stable equilibrium",
        "modes 2: 1 mode",
        "small motions in arm.angle",
        "3 of 3 designs complete",
    ):
        assert words in said
    assert command("run", "arm.kempe.yaml", "--quiet") == ""


def test_one_analysis_as_a_command(here):
    m = kp.load("bare.kempe.yaml")
    rest = told("equilibrium", "bare.kempe.yaml", "--set", "rod length=0.4")
    assert rest["pose"] == m.equilibrium(parameters={"rod length": 0.4}).pose.values
    held = told("equilibrium", "bare.kempe.yaml", "--hold", "arm.angle")
    assert held["holding"] == m.equilibrium(hold=["arm.angle"]).holding
    assert told("modes", "bare.kempe.yaml", "--count", "1")["modes"][0]["Hz"] == m.modes().hertz[0]
    linear = told("linearise", "bare.kempe.yaml", "--velocity", "arm.omega=2")
    assert linear["K"] == m.linearise(velocities={"arm.omega": 2}).K.tolist()
    assert not Path("out").exists()

    words = ["--end", "0.5", "--steps", "10", "--set", "rod length=0.4", "--velocity", "arm.omega=1.5"]
    words += ["--method", "alpha", "--option", "radius=0.8", "--tolerance", "1e-6", "--out", "o"]
    command("simulate", "bare.kempe.yaml", *words)
    given = {"velocities": {"arm.omega": 1.5}, "parameters": {"rod length": 0.4}, "tolerance": 1e-6}
    same(kp.Result.load("o/simulate.nc"), m.simulate(0.5, steps=10, method="alpha", radius=0.8, **given))

    words = ["--vary", "k=10,20", "--vary", "rod length=0.3:0.5:3", "--combine", "--record", "arm.y", "--end", "0.2"]
    swept = told("sweep", "bare.kempe.yaml", *words)
    k, length = np.repeat([10.0, 20.0], 3), np.tile(np.linspace(0.3, 0.5, 3), 2)
    runs = kp.run_many(m, {"k": k, "rod length": length}, ["arm.y"], 0.2)
    assert swept["designs"] == {"k": k.tolist(), "rod length": length.tolist()}
    assert swept["at the end"]["arm.y"] == runs["arm.y"][:, -1].tolist()


def test_driven_motions_as_commands(here):
    m = kp.load("driven.kempe.yaml")
    command("kinematics", "driven.kempe.yaml", "--end", "2", "--steps", "30", "--out", "o")
    same(kp.Result.load("o/kinematics.nc"), m.kinematics(2.0, steps=30))
    command("inverse-dynamics", "driven.kempe.yaml", "--end", "2", "--set", "k=7", "--out", "o")
    same(kp.Result.load("o/inverse_dynamics.nc"), m.inverse_dynamics(2.0, parameters={"k": 7}))


def test_a_command_begins_with_the_entry_of_the_file(here):
    m = kp.load("arm.kempe.yaml")
    command("simulate", "arm.kempe.yaml", "--out", "o", "--steps", "5", "--set", "rod length=0.4")
    changed = {"k": 20, "rod length": 0.4}
    pose = m.equilibrium(parameters=changed)
    expected = m.simulate(np.linspace(0, 1, 6), start=pose.pose, velocities={"arm.omega": 1}, parameters=changed)
    same(kp.Result.load("o/simulate.nc"), expected)
    swept = told("sweep", "arm.kempe.yaml", "--vary", "rod length=0.4,0.45", "--record", "arm.x")
    assert list(swept["designs"]) == ["rod length"] and list(swept["at the end"]) == ["arm.x"]


def checkpointed(path: Path) -> kp.Result:
    """A simulation written down half way; what it would have become."""
    from kempe.simulation.running import Record
    from kempe.simulation.starting import begun

    m = kp.load("bare.kempe.yaml")
    machine = begun(m, np.linspace(0, 3, 31), velocities={"arm.omega": 2.0})
    machine.advance(12)
    assert 0 < machine.course.now.t < 3
    write_checkpoint(machine, Record(), machine.initial(), path)
    return m.simulate(np.linspace(0, 3, 31), velocities={"arm.omega": 2.0})


def test_a_simulation_is_resumed_by_command_and_in_a_file(here):
    whole = checkpointed(here / "half.npz")
    command("resume", "bare.kempe.yaml", "half.npz", "--out", "o")
    same(kp.Result.load("o/resume.nc"), whole)
    checkpointed(here / "half.npz")
    (here / "more.kempe.yaml").write_text(MODEL + "analyses:\n- resume: {checkpoint: half.npz}\n")
    command("run", "more.kempe.yaml", "--out", str(here))
    same(kp.Result.load("resume.nc"), whole)
    said = command("run", "more.kempe.yaml", "--out", "empty", code=2)
    assert "more.kempe.yaml:10: there is no checkpoint file" in said


def test_an_interrupted_command_leaves_a_checkpoint(here, monkeypatch):
    monkeypatch.setattr("kempe.simulation.running.FIRST_CHUNK", 5)
    monkeypatch.setattr("kempe.simulation.running.LOOK_UP", 0.0)
    monkeypatch.setattr("kempe.simulation.running.SAVE_EVERY", -1.0)
    command("simulate", "bare.kempe.yaml", "--end", "3", "--checkpoint", "c.npz", "--out", "o")
    monkeypatch.undo()
    monkeypatch.chdir(here)
    command("resume", "bare.kempe.yaml", "c.npz", "--out", "o")
    same(kp.Result.load("o/resume.nc"), kp.load("bare.kempe.yaml").simulate(3.0))


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ("equilibrium: {hold: [arm.angel]}", "10: there is no coordinate 'arm.angel'; did you mean arm.angle?"),
        ("modes: {about: rest}", "10: there is no equilibrium before this entry called 'rest'"),
        ("linearise: {coordinates: [arm.z]}", "10: there is no coordinate 'arm.z'"),
        ("linearise: {velocities: {arm.omg: 1}}", "10: there is no velocity 'arm.omg'; did you mean arm.omega?"),
        ("sweep: {times: 1, designs: {kk: [1]}, quantities: [arm.x]}", "10: there is no parameter 'kk'"),
        ("sweep: {times: 1, designs: {k: [1]}, quantities: [pin.forces]}", "did you mean pin.force?"),
        ("sweep: {times: 1, designs: {k: [1, 2], rod length: [1]}, quantities: [arm.x]}", "10: .*equally long"),
        ("sweep: {times: 1, designs: {k: []}, quantities: [arm.x]}", "10: .*equally long"),
        ("inverse_dynamics: {times: 1}", "10: 'arm' is not fully driven"),
        ("simulate: {times: 1, tolerance: 5}", "10: tolerance must be"),
        ("equilibrium: {tolerance: 2}", "10: tolerance must be"),
        ("simulate: {times: 1, start: rest}", "10: there is no equilibrium before"),
        ("resume: {checkpoint: ../x}", "10: .*without a path"),
        ("modes: {count: 1.5}", "10: .*whole number"),
    ],
)
def test_mistakes_are_told_with_file_and_line(here, entry, line):
    import re

    (here / "x.kempe.yaml").write_text(f"{MODEL}analyses:\n- {entry}\n")
    said = command("run", "x.kempe.yaml", code=2)
    assert re.search(f"x.kempe.yaml:{line}" if line[0] == "1" else line, said), said
    assert not re.search("Traceback|ValidationError|pydantic", said)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["simulate", "bare.kempe.yaml"], "kempe simulate: times is missing, here and in the file"),
        (["simulate", "bare.kempe.yaml", "--end", "1", "--set", "kk=1"], "there is no parameter 'kk'; did you mean k?"),
        (["simulate", "bare.kempe.yaml", "--end", "1", "--set", "k"], "--set takes NAME=VALUE, not 'k'"),
        (["simulate", "bare.kempe.yaml", "--end", "1", "--set", "k=much"], "--set: 'much' is not a number"),
        (["simulate", "bare.kempe.yaml", "--end", "1", "--method", "radou"], "there is no method 'radou'"),
        (["simulate", "bare.kempe.yaml", "--end", "1", "--option", "x=1"], "has no option 'x'"),
        (["simulate", "bare.kempe.yaml", "--end", "-1"], "times must be above zero"),
        (["kinematics", "bare.kempe.yaml", "--end", "1"], "not fully driven"),
        (["kinematics", "driven.kempe.yaml", "--end", "1", "--on-singular", "jump"], "on_singular should be 'raise'"),
        (["sweep", "bare.kempe.yaml", "--end", "1"], "designs is missing"),
        (["sweep", "bare.kempe.yaml", "--end", "1", "--vary", "k=1:2", "--record", "arm.x"], "START:END:COUNT"),
        (["resume", "bare.kempe.yaml", "none.npz"], "there is no checkpoint file 'none.npz'"),
        (["equilibrium", "none.kempe.yaml"], "No such file"),
    ],
)
def test_mistakes_in_commands_are_sentences(here, words, says):
    said = command(*words, code=2)
    assert says in said and "Traceback" not in said


def test_what_does_not_come_to_an_end_has_its_exit_code(here):
    falls = "kempe: 1\nname: x\ngravity: [0, -1]\nmodel:\n- body: {name: b, mass: 1, inertia: 1}\n"
    (here / "x.kempe.yaml").write_text(falls + "analyses:\n- equilibrium: {name: rest}\n- simulate: {times: 1}\n")
    said = command("run", "x.kempe.yaml", code=1)
    assert "rest ended early" in said and "simulate 2: complete" in said  # the others are run all the same
    command("equilibrium", "x.kempe.yaml", code=1)
    (here / "y.kempe.yaml").write_text(falls.replace("mass: 1", "mass: w") + "parameters: {w: 1}\n")
    said = command("sweep", "y.kempe.yaml", "--vary", "w=1,-1", "--record", "b.y", "--end", "1", "--out", "o", code=1)
    assert "1 of 2 designs failed; number 1 (w = -1): " in said and "mass" in said
    assert Path("o/sweep.csv").exists() and Path("o/sweep.png").exists()


def test_elements_of_ones_own_are_allowed_by_name(here):
    (here / "own_leaf.py").write_text(
        "import kempe as kp\n\nclass Leaf(kp.Element):\n    def __init__(self, name, part, k):\n"
        "        super().__init__(name, part=part, k=k)\n"
        "    def potential(self, x):\n        return x.k * x.part.x**2\n"
    )
    entry = "- add: {element: own_leaf.Leaf, name: leaf, arguments: {part: {part: arm}, k: {expression: 2*k}}}\n"
    (here / "own.kempe.yaml").write_text(MODEL + entry)
    assert "own.kempe.yaml:9: 'leaf' is a Leaf of the module own_leaf" in command("modes", "own.kempe.yaml", code=2)
    program = [sys.executable, "-m", "kempe", "modes", "own.kempe.yaml", "--allow", "own_leaf", "--json"]
    done = subprocess.run(program, capture_output=True, text=True, check=True, cwd=here)
    m = kp.load("bare.kempe.yaml")
    m.user_force("leaf", lambda arm: (-4 * m["k"] * arm.x, 0, 0), m["arm"])
    hertz = json.loads(done.stdout)["modes"][0]["Hz"]
    assert abs(hertz - m.modes().hertz[0]) < 1e-12 * hertz


def test_every_command_helps_and_has_a_version():
    assert command("--version") == f"kempe {kp.__version__}\n"
    names = [c.name or c.callback.__name__ for c in app.registered_commands]
    assert {"run", "simulate", "equilibrium", "modes", "sweep", "resume", "doctor", "examples"} <= set(names)
    for name in names:
        assert command(name, "-h") == command(name, "--help") != ""


def test_the_module_is_the_program(here):
    done = subprocess.run([sys.executable, "-m", "kempe", "--version"], capture_output=True, text=True, cwd=here)
    assert (done.returncode, done.stdout) == (0, f"kempe {kp.__version__}\n")


def test_every_example_is_listed_and_can_be_copied(here):
    folder = Path(__file__).parents[1] / "examples"
    files = {p.name for p in folder.iterdir() if p.name.endswith((".py", ".kempe.yaml"))}
    listed = json.loads(command("examples", "--json"))
    assert {row["name"] for row in listed} == {name.removesuffix(".py").removesuffix(".kempe.yaml") for name in files}
    for row in listed:
        assert row["title"] and row["about"].endswith(".") and len(row["about"]) > 20, row
        command("examples", row["name"])
    assert {p.name for p in here.iterdir()} >= files
    assert "single_cylinder_engine" in command("examples")
    assert "did you mean four_bar?" in command("examples", "fourbar", code=2)


DYNAMIC = ("single_cylinder_engine", "suspension_over_a_bump", "modes_of_a_frame", "bearings_of_a_hoist")
MACHINES = ("scissor_lift", "toggle_clamp", "excavator", "cam_lift_off", "v_twin_engine")


@pytest.mark.parametrize("name", DYNAMIC + MACHINES)
def test_dynamic_examples_say_the_same_in_python_and_in_yaml(name):
    import importlib.util

    from kempe.model import files

    folder = Path(__file__).parents[1] / "examples"
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    loaded = running.model_from(folder / f"{name}.kempe.yaml")
    assert files.describe(loaded) == files.describe(module.build())
    assert files.read(folder / f"{name}.kempe.yaml").data.analyses


def test_the_doctor_finds_this_installation_well():
    rows = json.loads(command("doctor", "--json"))
    assert {row["verdict"] for row in rows} <= {"ok", "note"}
    subjects = [row["subject"] for row in rows]
    assert {"versions", "compiler", "caches", "simulate", "result files", "pictures", "method radau"} <= set(subjects)


def test_the_doctor_finds_what_is_wrong(monkeypatch):
    monkeypatch.setattr("kempe.results.Result.load", lambda path: kp.load("nothing"))
    monkeypatch.setattr("kempe.doctor.shutil.which", lambda name: None)
    rows = {row["subject"]: row for row in json.loads(command("doctor", "--json", "--quick", code=1))}
    assert rows["result files"]["verdict"] == "FAILED" and rows["browser"]["verdict"] == "note"
    assert rows["simulate"]["verdict"] == "ok" and "method bdf" not in rows
