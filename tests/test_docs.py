"""The documentation: the code of its pages runs, and the reference is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kempe as kp
from kempe import view

DOCS = Path(__file__).parents[1] / "docs"
RUN = (
    "installation.md",
    "tutorial.md",
    "extending.md",
    "index.md",
    "importing.md",
    "nonsmooth.md",
    "clearance.md",
    "response.md",
    "sensitivity.md",
    "optimisation.md",
    "static_sensitivity.md",
    "redundancy.md",
    "spatial.md",
)
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
    listed = f"`kp.{name}`" in REFERENCE or f"`kempe.{name}`" in REFERENCE  # CasADi's functions, tables
    assert listed or _documented(f"kempe.{name}")


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


# --- messages -------------------------------------------------------------------------------------------------------


def _crank(length: float) -> kp.Mechanism:
    """A slider-crank with a crank of length 1, and a rod that may be too short to let it turn."""
    m = kp.Mechanism("slider-crank")
    crank, rod, slider = m.body("crank", at=(0, 0)), m.body("rod", at=(1.2, 0)), m.body("slider", at=(1 + length, 0))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, on_i=(1, 0), on_j=(-length / 2, 0))
    m.revolute("B", rod, slider, on_i=(length / 2, 0), on_j=(0, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0), at=(0, 0))
    return m


def _driven(length: float) -> kp.Mechanism:
    m = _crank(length)
    m.driver("motor", m.parts["crank"].angle, kp.constant_speed(1.0))
    return m


def _door() -> kp.Mechanism:
    m = kp.Mechanism("door")
    door = m.body("door", at=(1, 0))
    for hinge in ("upper", "lower"):
        m.revolute(hinge, m.ground, door, at=(0, 0))
    return m


def _too_far() -> kp.Mechanism:
    m = kp.Mechanism("too short")
    rod = m.body("rod", at=(1, 0))
    m.revolute("left", m.ground, rod, on_i=(0, 0), on_j=(-1, 0))
    m.revolute("right", m.ground, rod, on_i=(5, 0), on_j=(1, 0))
    return m


class _Floor(kp.Element):
    """A floor without a limit: bounces follow each other for ever."""

    rows, row_modes, modes = ("gap",), {"gap": ()}, ("flight",)

    def __init__(self, name, point):
        super().__init__(name, height=point.y)

    def phi(self, x):
        return x.height

    def switches(self, x):
        return [kp.Switch("flight", x.height, "flight", jump={"gap": 0.5})]


def _ball() -> kp.Mechanism:
    m = kp.Mechanism("ball", gravity=(0, -9.81))
    m.add(_Floor("floor", m.point("ball", at=(0, 1.0), mass=1.0)))
    return m


MESSAGES = {
    "redundant constraints": lambda: str(_door().mobility()),
    "cannot assemble": lambda: _too_far().assemble(),
    "lock-up at t =": lambda: _driven(0.5).kinematics(3.0),
    "bifurcation at t =": lambda: _driven(1.0).kinematics(3.0),
    "is not fully driven": lambda: _crank(2.0).kinematics(1.0),
    "has no mass": lambda: _crank(2.0).simulate(1.0),
    "is due again and again": lambda: _ball().simulate(3.0),
}


def test_the_messages_that_are_explained_are_those_that_come():
    explained = re.findall(r'^"(.*)"$', (DOCS / "faq.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert explained == list(MESSAGES)


@pytest.mark.parametrize("words", MESSAGES)
def test_a_message_that_is_explained_comes(words):
    try:
        said = MESSAGES[words]()
    except kp.KempeError as error:
        said = str(error)
    assert words in said
