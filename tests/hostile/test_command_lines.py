"""Every bad command line ends with a sentence and an exit code that is not zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kempe import cli

MODEL = """kempe: 1
name: small
model:
- body: {name: b, mass: 1, inertia: 1}
analyses:
- simulate: {name: NAME, times: 0.01, steps: 2}
- simulate: {name: NAME, times: 0.01, steps: 3}
outputs: {animation: false, report: false}
"""


def ended(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[Any, str, str]:
    with pytest.raises(SystemExit) as stopped:
        cli.main(words)
    said = capsys.readouterr()
    return stopped.value.code, said.out, said.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["frob"], "No such command 'frob'"),
        (["run"], "(?i)missing argument 'file'"),
        (["run", "none.kempe.yaml"], "none.kempe.yaml: No such file"),
        (["run", "."], "not a file|directory"),
        (["run", "/dev/zero"], "not a file"),
        (["run", "x.kempe.yaml", "--frob"], "No such option"),
        (["run", "x.kempe.yaml", "--out"], "requires an argument"),
        (["draw", "a\0b"], "NUL|null"),
        (["check", "\ud800"], "."),
        (["examples", "none"], "there is no example 'none'"),
        (["validate", "none"], "none"),
        (["bench", "none"], "none"),
        (["-x"], "No such option"),
    ],
)
def test_mistakes_are_one_sentence(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import re

    monkeypatch.chdir(tmp_path)
    code, out, err = ended(capsys, *words)
    assert code in (1, 2)
    said = err.strip() or out.strip()
    assert re.search(says, said) and len(said.splitlines()) == 1, said
    assert "Traceback" not in err and "mistake of Kempe" not in err


def test_a_mistake_of_the_programs_own_is_a_sentence_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kempe.model import schema

    def broken() -> Any:
        raise RuntimeError("out of\norder")

    monkeypatch.setattr(schema, "json_schema", broken)
    code, _, err = ended(capsys, "schema")
    assert code == 2 and "RuntimeError: out of" in err and len(err.strip().splitlines()) == 1
    monkeypatch.setenv("KEMPE_DEBUG", "1")
    with pytest.raises(RuntimeError):
        cli.main(["schema"])


@pytest.mark.parametrize("name", ["../../out", "a/b", "..", "mechanism", "/tmp/x", "é" * 150, "''"])
def test_files_of_an_analysis_stay_in_their_folder(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "deep" / "home"
    home.mkdir(parents=True)
    monkeypatch.chdir(home)
    Path("small.kempe.yaml").write_text(MODEL.replace("NAME", name), encoding="utf-8")
    code, _, err = ended(capsys, "run", "small.kempe.yaml")
    assert code == 0, err
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "small.kempe.yaml"]
    assert {path.parent for path in written} == {home / "out" / "small"}
    assert len([path for path in written if path.suffix == ".nc"]) == 2  # none has taken another's place
