"""Mutated model files and expressions: each loads or gives a short error; none hangs, crashes or executes anything."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import casadi as ca
import pytest

import kempe as kp
from kempe.model import files
from kempe.model.expressions import parse

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.kempe.yaml"))
TOKENS = ["a", "b.x", "{rod length}", "1", "2.5e3", "-", "+", "*", "/", "**", "(", ")", ",", "<", ">=", "=="]
TOKENS += [" if ", " else ", " and ", " not ", "sin(", "max(", "if_else(", "pi", "lambda:0", "[", "]", "'", '"', "."]
TOKENS += ["__import__('os').system('touch pwned')", "\\", "\n", "\x00", "é", "9" * 50, "@", ":=", "await ", "{", "}"]
TOKENS += ["a.__class__", "0x1F", "1j", "None"]
PIECES = ["null", "true", "-1", "1e999", ".nan", "[]", "{}", "ground", "'", '"', "&a", "*a", "!!python/name:os.system"]
PIECES += ["%", "|", "[[[[[[", "\t", "\n", ": ", "- ", "kempe: 2", "é", "\x07", "a" * 300, "{rod length}", "x**x**x**x"]
PIECES += ["__import__('os').system('touch pwned')"]


def outcome(action) -> str:
    """'fine' or the error's text; anything but a ModelError is a failure of the test."""
    signal.alarm(60)  # a hang ends the test
    try:
        action()
        text = "fine"
    except kp.ModelError as error:
        text = str(error)
        assert text.strip() and all(len(finding) < 2000 for finding in error.findings)
    finally:
        signal.alarm(0)
    return text


@pytest.mark.parametrize("seed", range(4))
def test_fifteen_thousand_random_expressions(seed):
    rng = random.Random(seed)
    names = {"a": ca.SX.sym("a"), "b.x": ca.SX.sym("b"), "rod length": ca.SX.sym("L")}
    good = 0
    for _ in range(3750):
        text = "".join(rng.choice(TOKENS) for _ in range(rng.randint(1, 12)))
        good += outcome(lambda text=text: parse(text, names)) == "fine"
    assert 0 < good < 3750
    assert not Path("pwned").exists()


def mutated(text: str, rng: random.Random) -> str:
    """A few random edits of a file."""
    for _ in range(rng.randint(1, 4)):
        lines = text.split("\n")
        k = rng.randrange(len(lines))
        kind = rng.randrange(6)
        at = rng.randint(0, len(lines[k]))
        if kind == 0:
            lines[k] = lines[k][:at] + rng.choice(PIECES) + lines[k][at:]
        elif kind == 1:
            del lines[k]
        elif kind == 2:
            lines.insert(k, lines[rng.randrange(len(lines))])
        elif kind == 3:
            head, colon, _ = lines[k].partition(":")
            lines[k] = head + colon + " " + rng.choice(PIECES)
        elif kind == 4:
            lines[k] = lines[k][:at] + lines[k][at + 1 + rng.randint(0, 3) :]
        else:
            lines[k] = lines[k].replace(str(rng.randint(0, 9)), rng.choice(["-0", "1e300", "''", "0"]))
        text = "\n".join(lines)
    return text


@pytest.mark.parametrize("seed", range(5))
def test_five_thousand_mutated_files(seed):
    rng = random.Random(seed)
    texts = [path.read_text() for path in EXAMPLES]
    good = 0
    for _ in range(1000):
        text = mutated(rng.choice(texts), rng)

        def load(text=text):
            return files.build(files.read_text(text, "fuzz.yaml"), kp.Mechanism, kp.Equations)

        good += outcome(load) == "fine"
    assert 0 < good < 1000
    assert not Path("pwned").exists()
