"""Every example of the gallery runs and shows its exact property."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from kempe.simulation.posing import Posed

EVERY = sorted(p for p in (Path(__file__).parent.parent / "examples").glob("*.py") if p.name != "demo.py")
FILES = [p for p in EVERY if "\nTIMES = " in p.read_text()]  # a driven linkage, followed over these times
OTHERS = [p for p in EVERY if p not in FILES]  # anything else: check() and main() stand alone


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_a_gallery():
    assert len(FILES) >= 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_example_shows_its_exact_property(path, capsys):
    example = load(path)
    model = example.build()
    result = model.kinematics(example.TIMES, **example.OPTIONS)
    assert result.success, result.message
    assert len(result) == len(example.TIMES)
    assert example.check(result) <= example.TOLERANCE

    posed = Posed(model)
    residual = max(np.abs(posed.Phi(q, t)).max() for q, t in zip(result.q, result.t, strict=True))
    assert residual < 1e-12 * posed.size

    example.main()
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_example_of_another_kind_shows_its_exact_property(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = load(path)
    assert example.check() <= example.TOLERANCE
    example.main()
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_example_has_a_gallery_title(path):
    title, underline, blank, *text = load(path).__doc__.strip().splitlines()
    assert underline == "=" * len(title)
    assert not blank
    assert text
