"""The table of mistakes and their messages in the documentation is what Kempe says today.

``python tests/mistakes/test_page.py`` writes it anew.
"""

from __future__ import annotations

import os
import re
import tempfile
import warnings
from pathlib import Path

import pytest
from bench import make
from file_mistakes import SOUND

from kempe import running

PAGE = Path(__file__).parents[2] / "docs" / "mistakes.md"
DOUBLE = """m.driver("a", crank.angle, kp.constant_speed(1.0))
m.driver("b", crank.angle, kp.constant_speed(2.0))
m.simulate(0.1)"""
FAR = """m.driver("a", slider.x, lambda t: 0.39 + 0.05 * t)
m.simulate(1.0, method="{}")"""
STICKY = """new.body("bob", mass=1.0, inertia=0.1, at=(0, -1))
new.driver("a", new["bob"].x, lambda t: kp.sqrt(0.1 - t))
new.simulate(1.0, method="radau")"""
FREE = """new.body("crank")
new.body("arm", at=(1, 0))
new.revolute("O", new.ground, new["crank"], at=(0, 0))
new.revolute("A", new["crank"], new["arm"], at=(1, 0))
new.driver("motor", new["crank"].angle, kp.constant_speed(1.0))
new.kinematics(1.0)"""
ODD = """tall = new.body("tall", mass=1.0, inertia=0.1, at=(0, 1), angle=45)
new.body("far", mass=1.0, inertia=0.1, at=(5000, 0))
new.revolute("O", new.ground, tall, at=(0, 0))
new.spring("s", new.ground, tall, stiffness=0.0, damping=1.0)
new.spring("t", new.ground, new["far"], stiffness=1.0)
new.force("F", tall, (1, 0), at=(50, 50))
new.check()"""

#: What is wrong, and the code.
IN_PYTHON = [
    ("Two drivers of one coordinate", DOUBLE),
    ("A misspelt option", "m.simulate(1.0, tolernace=1e-6)"),
    ("A misspelt number", 'm.spring("coil", ground, crank, stiffness=100, lenght=0.1)'),
    ("A word of another program", 'm.spring("coil", ground, crank, k=100)'),
    ("A force of a motion without forces", 'kin["B.force"]'),
    ("Something to hold that is no coordinate", "m.equilibrium(hold=crank)"),
    ("A driver that its joints cannot follow", FAR.format("auto")),
    ("The same with another method", FAR.format("alpha")),
    ("A law that ends, with `radau`", STICKY),
    ("Fewer drivers than degrees of freedom", FREE),
    ("A body as something to drive", 'm.driver("motor", crank, kp.constant_speed(5.0))'),
    ("A law with the wrong arguments", 'm.spring("coil", ground, crank, law=lambda x: 100 * x)'),
    ("A place said in two ways", 'm.force("F", crank, (0, 1), at=(0, 0), on=(0, 0))'),
    ("A rate in a constraint", 'm.constraint("c", lambda b: b.vx, crank)'),
    ("A choice by `if` in a function", 'm.user_force("u", lambda b: (0, 0, -1 if b.omega > 0 else 1), crank)'),
    ("A misspelt name", 'm["crnak"]'),
    ("Friction without a lever", 'm.revolute("P", crank, rod, at=(0, 0), friction=0.3)'),
    ("A clearance without a contact law", 'm.revolute("P", crank, rod, at=(0, 0), clearance=0.001)'),
    ("Coefficients the wrong way round", "kp.Coulomb(0.3, 0.2)"),
    ("A contact that would gain energy", 'm.point_line_contact("c", ground, slider, restitution=1.5)'),
    ("URDF that is still xacro", "kp.load_urdf(\"<robot name='r'><xacro:arm/></robot>\")"),
    ("What is legal and hardly meant, by `check()`", ODD),
]
#: What is wrong, what stood there, and what is written instead.
IN_FILES = [
    ("A tab", "      mass: 0.6", "\tmass: 0.6"),
    ("Wrong indentation", "      mass: 0.6", "     mass: 0.6"),
    ("A comma in a number", "mass: 0.6", "mass: 1,5"),
    ("A unit", "mass: 0.6", "mass: 1.0 kg"),
    ("No space behind a colon", "mass: 0.6", "mass:0.6"),
    ("No steps", "steps: 10", "steps: 0"),
    ("An end before the start", "times: 1.0", "times: {end: -1}"),
    ("Parameters that follow from each other", "rod length: 0.3", "rod length: 2 * half\n  half: '{rod length} / 2'"),
    ("A misspelt key", "mass: 0.6", "mas: 0.6"),
    ("A misspelt part", "j: crank, at: [0, 0]", "j: crnak, at: [0, 0]"),
    ("A bracket that stays open", "j: crank, at: [0, 0]}", "j: crank, at: [0, 0]"),
    ("A body as something to drive", "quantity: crank.angle", "quantity: crank"),
    ("A joint of space in the plane", "revolute: {name: A,", "spherical: {name: A,"),
]


def row(what: str, written: str, answer: str) -> str:
    code = "<br>".join(f"`{line}`" for line in written.splitlines()).replace("|", "\\|").replace("\t", "→")
    answer = re.sub(r"\d+\.\d{5,}", lambda number: f"{float(number[0]):.3g}", answer)  # not the last digits
    said = "<br>".join(answer.splitlines()).replace("|", "\\|").replace("{", "&#123;")
    return f"| {what} | {code} | {said} |"


def page(folder: Path) -> str:
    """The whole page."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        python = [row(what, code, str(make(code, folder))) for what, code in IN_PYTHON]
    files = [row(what, new, in_a_file(folder, old, new)) for what, old, new in IN_FILES]
    head = "| | written | what Kempe says |\n|---|---|---|\n"
    return "\n".join(
        [
            "# Mistakes and what is said of them",
            "",
            "A message says what is wrong in your words, where, and what to do. The tables are made by the tests from",
            "what Kempe says; `m` is a slider-crank of `crank`, `rod` and `slider`, `kin` its driven kinematics, `new`",
            "an empty mechanism. All errors are `kp.KempeError`; mistakes in a description are `kp.ModelError`, whose",
            "`findings` lists each.",
            "",
            "## In Python",
            "",
            head + "\n".join(python),
            "",
            "## In model files",
            "",
            "`kempe check press.kempe.yaml` lists all findings at once, each with its line.",
            "",
            head + "\n".join(files),
            "",
        ]
    )


def in_a_file(folder: Path, old: str, new: str) -> str:
    """The first finding about a file with one mistake."""
    assert old in SOUND
    before = Path.cwd()
    os.chdir(folder)
    try:
        Path("press.kempe.yaml").write_text(SOUND.replace(old, new, 1))
        return running.check_file("press.kempe.yaml")[0][0].removeprefix("error: ")
    finally:
        os.chdir(before)


@pytest.mark.filterwarnings("ignore")
def test_the_page_is_what_is_said(tmp_path: Path) -> None:
    assert PAGE.read_text() == page(tmp_path), "python tests/mistakes/test_page.py writes it anew"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PAGE.write_text(page(Path(scratch)))
