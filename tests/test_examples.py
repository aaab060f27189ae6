"""Every example of the gallery runs, shows its exact property and draws a picture."""

import functools
import importlib.util
from pathlib import Path

import numpy as np
import pytest

from kempe import view
from kempe.results import VIEWS
from kempe.simulation.posing import Posed

EVERY = sorted(p for p in (Path(__file__).parent.parent / "examples").glob("*.py") if p.name != "demo.py")
FILES = [p for p in EVERY if "\nTIMES = " in p.read_text()]  # a driven linkage, followed over these times
OTHERS = [p for p in EVERY if p not in FILES]  # anything else: motion() is what check() judges
SHORT = ("scissor_lift", "toggle_clamp", "excavator", "cam_lift_off", "v_twin_engine")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own_with_short_films(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(VIEWS, "animate", lambda *args, **options: view.animate(*args, **{**options, "frames": 2}))


@functools.cache
def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def runs_and_draws(example, capsys):
    example.main()
    assert capsys.readouterr().out.strip()
    assert [path for path in Path("out").iterdir() if path.suffix == ".gif"]


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
    runs_and_draws(example, capsys)


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_example_of_another_kind_shows_its_exact_property(path, capsys):
    example = load(path)
    judged = [example.motion()] if hasattr(example, "motion") else []
    assert example.check(*judged) <= example.TOLERANCE
    runs_and_draws(example, capsys)


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_example_has_a_gallery_title(path):
    title, underline, blank, *text = load(path).__doc__.strip().splitlines()
    assert underline == "=" * len(title)
    assert not blank
    assert text


@pytest.mark.parametrize("name", SHORT)
def test_a_machine_takes_less_than_sixty_lines(name):
    source = next(p for p in EVERY if p.stem == name).read_text()
    assert len(source.splitlines()) < 60
