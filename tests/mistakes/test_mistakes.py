"""Mistakes as beginners, students and tired experts make them: each is answered in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bench import make
from file_mistakes import MISTAKES as IN_FILES
from file_mistakes import SOUND
from python_mistakes import MISTAKES as IN_PYTHON

import kempe as kp
from kempe import running

#: What nobody who only uses Kempe can know: classes, modules and messages of what it is built on.
INTERNAL = re.compile(
    r"casadi|\bSX|pydantic|numpy\.|ndarray|NoneType|Moving|Placed|Component\b|\bMarker|[A-Z]\w+Spec\b|object at 0x|"
    r"\.cpp|\b(Body|Point|Bar|Revolute|Ground|Driver)\(|Input should|valid (number|list|integer)|"
    r"analyses\.\d|lambda>|Traceback"
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("code", "words"), IN_PYTHON, ids=[code[:70] for code, _ in IN_PYTHON])
def test_a_mistake_in_python_is_answered(code: str, words: list[str], tmp_path: Path) -> None:
    answer = make(code, tmp_path)
    assert isinstance(answer, kp.KempeError), answer
    for part in words:
        assert part in str(answer)
    assert not INTERNAL.search(str(answer)), str(answer)


@pytest.mark.parametrize(("old", "new", "words"), IN_FILES, ids=[new[:60] for _, new, _ in IN_FILES])
def test_a_mistake_in_a_file_is_answered_with_its_line(
    old: str, new: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert SOUND.count(old)
    Path("press.kempe.yaml").write_text(SOUND.replace(old, new, 1))
    findings, _ = running.check_file("press.kempe.yaml")
    assert findings[0].startswith("error: press.kempe.yaml")
    for part in words:
        assert part in findings[0]
    assert not any(INTERNAL.search(finding) for finding in findings), findings


def test_the_file_is_sound_without_mistakes(tmp_path: Path) -> None:
    (tmp_path / "press.kempe.yaml").write_text(SOUND)
    assert running.check_file(tmp_path / "press.kempe.yaml")[0] == []


def test_there_are_as_many_as_were_asked_for() -> None:
    assert len(IN_PYTHON) >= 150
    assert len(IN_FILES) >= 50
