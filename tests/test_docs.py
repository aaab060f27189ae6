"""The documentation: the code of its pages runs, and the reference is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kempe as kp
from kempe import view

DOCS = Path(__file__).parents[1] / "docs"
RUN = ("installation.md", "tutorial.md", "extending.md", "index.md")
REFERENCE = "\n".join(page.read_text(encoding="utf-8") for page in sorted((DOCS / "api").glob("*.md")))


def blocks(page: str) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL))


@pytest.mark.parametrize("page", RUN)
def test_the_code_of_a_page_runs_as_it_stands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = blocks(page)
    assert code
    exec(compile(code, page, "exec"), {"__name__": page})


def test_pictures_of_the_tutorial_are_written_by_its_code():
    shown = re.findall(r"\(tutorial_out/(.*?)\)", (DOCS / "tutorial.md").read_text(encoding="utf-8"))
    assert len(shown) >= 5
    assert [name for name in shown if f'"{name}"' not in blocks("tutorial.md")] == []


def _documented(name: str) -> bool:
    return bool(re.search(rf"^\.\. auto(?!summary)\w+:: {re.escape(name)}$", REFERENCE, flags=re.MULTILINE))


@pytest.mark.parametrize("name", kp.__all__)
def test_every_public_name_is_in_the_reference(name):
    from_casadi = not (getattr(getattr(kp, name), "__module__", "") or "").startswith("kempe")
    assert (
        _documented(f"kempe.{name}") or (from_casadi and f"`kp.{name}`" in REFERENCE) or f"`kempe.{name}`" in REFERENCE
    )


VERBS = [name for name in dir(kp.Mechanism) if getattr(getattr(kp.Mechanism, name), "recorded", False)]


@pytest.mark.parametrize("verb", VERBS)
def test_every_builder_verb_is_in_the_reference(verb):
    assert _documented(f"kempe.Mechanism.{verb}")
    assert getattr(kp.Mechanism, verb).__doc__


@pytest.mark.parametrize("name", [name for name in view.__all__ if name.islower()])
def test_every_view_is_in_the_reference(name):
    assert _documented(f"kempe.view.{name}")


def test_the_moving_mechanism_of_the_front_page_is_small():
    assert 0 < (DOCS / "_static" / "walker.gif").stat().st_size < 600_000
