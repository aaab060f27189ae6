"""The command line: what it prints for people and for programs, and its exit codes."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from kempe.cli import app
from kempe.validation import CASES

ROW = {"case", "quantity", "printed", "truth", "computed", "error", "tolerance", "ok", "note"}


@pytest.mark.parametrize("case", CASES)
def test_every_published_value_is_reproduced(case):
    result = CliRunner().invoke(app, ["validate", case, "--json"])
    rows = json.loads(result.output)
    assert result.exit_code == 0
    assert {row["case"] for row in rows} == {case}
    assert all(set(row) == ROW for row in rows)
    assert [row["quantity"] for row in rows if not row["ok"]] == []


def test_these_are_the_published_cases():
    assert set(CASES) == {
        "singular-configurations",
        "singular-position-accelerations",
        "singular-position-simulation",
        "dads-slider-crank",
        "coulomb-double-pendulum",
        "clearance-slider-crank",
        "hybrid-contact",
        "redundant-plate",
    }


def test_a_case_is_shown_as_a_table():
    result = CliRunner().invoke(app, ["validate", "singular-configurations"])
    assert result.exit_code == 0
    assert "-10.83795211380501" in result.output and "FAILED" not in result.output


def test_unknown_names_are_explained():
    for command in ("validate", "bench"):
        result = CliRunner().invoke(app, [command, "nonsense"])
        assert result.exit_code == 2
        assert "unknown" in result.output and "nonsense" in result.output


def test_a_wrong_value_fails_the_command(monkeypatch):
    from kempe import validation
    from kempe.validation.case import compare

    monkeypatch.setitem(validation.CASES, "singular-configurations", lambda: iter([compare("c", "q", 1.0, 1.1, 1e-3)]))
    result = CliRunner().invoke(app, ["validate", "singular-configurations"])
    assert result.exit_code == 1 and "FAILED" in result.output


def test_the_schema_is_one():
    schema = json.loads(CliRunner().invoke(app, ["schema"]).output)
    assert schema["title"] == "KempeModel" and "revolute" in schema["$defs"]


def test_examples_are_listed_and_copied(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = CliRunner().invoke(app, ["examples"]).output.split()
    assert "slider_crank" in names and len(names) >= 10
    assert CliRunner().invoke(app, ["examples", "slider_crank"]).exit_code == 0
    assert (tmp_path / "slider_crank.kempe.yaml").exists()
    again = CliRunner().invoke(app, ["examples", "slider_crank"])
    assert again.exit_code == 2 and "exists already" in again.output


def test_a_model_file_is_run_checked_and_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(app, ["examples", "slider_crank"])
    result = CliRunner().invoke(app, ["run", "slider_crank.kempe.yaml", "--json"])
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.output)
    assert row["status"] == "complete"
    suffixes = {name.rsplit(".", 1)[1] for name in row["files"]}
    assert suffixes == {"nc", "csv", "png", "gif", "html"}
    assert all((tmp_path / name).stat().st_size > 100 for name in row["files"])
    checked = CliRunner().invoke(app, ["check", "slider_crank.kempe.yaml"])
    assert checked.exit_code == 0 and "degrees of freedom 1" in checked.output
    drawn = CliRunner().invoke(app, ["draw", "slider_crank.kempe.yaml", "--out", "m.png"])
    assert drawn.exit_code == 0 and (tmp_path / "m.png").exists()


LOCKED = """\
kempe: 1
name: locked
model:
- point: {name: O, fixed: xy}
- point: {name: D, at: [2.6, 0], fixed: xy}
- point: {name: A, at: [0.98, 0.2]}
- point: {name: B, at: [1.8, 0.8]}
- bar: {name: crank, first: O, second: A, length: 1}
- bar: {name: coupler, first: A, second: B, length: 1.2}
- bar: {name: rocker, first: D, second: B, length: 1.1}
- driver: {name: motor, quantity: {angle: [ground, crank]}, motion: {constant_speed: {speed: 1}}}
analyses:
- kinematics: {times: 3}
outputs: {animation: false, report: false}
"""


def test_an_analysis_that_ends_early_says_so_and_keeps_what_exists(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "locked.kempe.yaml").write_text(LOCKED)
    result = CliRunner().invoke(app, ["run", "locked.kempe.yaml"])
    assert result.exit_code == 1
    assert "lock-up at t = 0.87" in result.output
    from kempe import Result

    kept = Result.load(tmp_path / "out" / "locked" / "kinematics.nc")
    assert kept.status == "lock-up" and 50 < len(kept) < 70


def test_names_of_outputs_are_checked_before_anything_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = LOCKED.replace("{animation: false", "{plots: [A.x, A.vz], traces: [Q], animation: false")
    (tmp_path / "typo.kempe.yaml").write_text(text)
    result = CliRunner().invoke(app, ["run", "typo.kempe.yaml"])
    assert result.exit_code == 2 and not (tmp_path / "out").exists()
    assert "typo.kempe.yaml:14: plots: there is no 'A.vz'; did you mean A.v" in result.output
    assert "typo.kempe.yaml:14: traces: there is no 'Q'" in result.output
    assert CliRunner().invoke(app, ["check", "typo.kempe.yaml"]).exit_code == 1


def test_a_broken_file_is_explained(tmp_path):
    path = tmp_path / "broken.kempe.yaml"
    path.write_text(
        "kempe: 1\nname: x\nmodel:\n- body: {name: a, mass: 0, inertia: 1}\n- weld: {name: w, i: a, j: b}\n"
    )
    for command in ("run", "draw"):
        result = CliRunner().invoke(app, [command, str(path)])
        assert result.exit_code == 2
        assert "broken.kempe.yaml:4" in result.output and "mass must be above zero" in result.output
    assert CliRunner().invoke(app, ["check", str(path)]).exit_code == 1
