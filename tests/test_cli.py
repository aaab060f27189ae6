"""The command line: what it prints for people and for programs, and its exit codes."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from kempe.cli import app

ROW = {"case", "quantity", "printed", "truth", "computed", "error", "tolerance", "ok", "note"}


def test_every_published_value_is_reproduced():
    result = CliRunner().invoke(app, ["validate", "--json"])
    rows = json.loads(result.output)
    assert result.exit_code == 0
    assert {row["case"] for row in rows} == {"singular-configurations"}
    assert all(set(row) == ROW for row in rows)
    assert [row["quantity"] for row in rows if not row["ok"]] == []


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
    result = CliRunner().invoke(app, ["validate"])
    assert result.exit_code == 1 and "FAILED" in result.output
