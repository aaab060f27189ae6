"""Hostile inputs, drawn at random: each kind is a function that draws one, tries it, and returns what came of it.

``fine`` and ``refused`` (a KempeError with a sentence) are what may come; anything else is an offence. What is drawn
follows from the random generator alone, so that an offender can be had again by its kind, seed and number.
"""

from __future__ import annotations

import copy
import inspect
import io
import itertools
import json
import os
import pickle
import random
import sys
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

import kempe as kp
from kempe.cli import main
from kempe.model.expressions import parse
from kempe.model.mechanism import MechanismModel

EXAMPLES = Path(__file__).parents[2] / "examples"


def tried(action: Any) -> str:
    """What came of an input; raises where it is an offence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            action()
        except kp.KempeError as error:
            assert str(error).strip(), "an error without words"
            assert all(len(line) < 4000 for line in str(error).splitlines()), "an endless sentence"
            return "refused"
    assert not Path("pwned").exists(), "something was executed"
    return "fine"


# --- expressions --------------------------------------------------------------------------------------------------

TOKENS = ["a", "b.x", "{rod length}", "1", "2.5e3", "-", "+", "*", "/", "**", "(", ")", ",", "<", ">=", "=="]
TOKENS += [" if ", " else ", " and ", " not ", "sin(", "max(", "if_else(", "pi", "lambda:0", "[", "]", "'", '"', "."]
TOKENS += ["__import__('os').system('touch pwned')", "\\", "\n", "\x00", "é", "9" * 50, "@", ":=", "await ", "{", "}"]
TOKENS += ["a.__class__", "0x1F", "1j", "None", "_0", "__name0__", "__0", "µ", "ﬁ", "\ud800", "(" * 300, "-" * 500]
TOKENS += [
    "not " * 200,
    "a**" * 100,
    "1e999",
    "1_000",
    "f'{a}'",
    "*a",
    "t",
    "{t}",
    "e",
    "0" * 5000,
    "\u202e",
    "++",
    "…",
]
NAMES = {name: ca.SX.sym("x") for name in ("a", "b.x", "rod length", "_0", "__name0__", "µ", "ﬁ")}


def grown(rng: random.Random, depth: int) -> str:
    """An expression that is one, but for a slip now and then."""
    if depth <= 0 or rng.random() < 0.2:
        return rng.choice(["a", "b.x", "{rod length}", "1", "2.5e3", "t", "pi", "µ", "_0", "1e308", "0"])
    one, other = grown(rng, depth - 1), grown(rng, depth - 1)
    if rng.random() < 0.05:
        return one + rng.choice(TOKENS) + other
    forms = [
        "({} + {})",
        "{} * {}",
        "({}) ** ({})",
        "{} / ({})",
        "atan2({}, {})",
        "({} if {} < 1 else 2)",
        "-({}) - {}",
    ]
    return rng.choice([*forms, "sqrt({})", "sin({})", "log({})", "(not {})", "if_else({}, {}, 3)"]).format(one, other)


def expression(rng: random.Random) -> str:
    text = "".join(rng.choice(TOKENS) for _ in range(rng.randint(1, 14)))
    if rng.random() < 0.5:
        text = grown(rng, rng.randint(1, 6))
    return tried(lambda: parse(text, NAMES, {"t": ca.SX.sym("t")}))


# --- model files --------------------------------------------------------------------------------------------------

PIECES = ["null", "true", "-1", "1e999", ".nan", "[]", "{}", "ground", "'", '"', "&a", "*a", "!!python/name:os.system"]
PIECES += ["%", "|", "[[[[[[", "\t", "\n", ": ", "- ", "kempe: 2", "é", "\x07", "a" * 300, "{rod length}", "x**x**x**x"]
PIECES += ["__import__('os').system('touch pwned')", "[" * 3000, "{a: " * 500, "- " * 300, "? " * 100, "\u2028", "#"]
PIECES += ["&a [*a, *a]", "<<: *a", "!!binary aGk=", "2001-01-01", "0x10", "1_0", "__name0__", "../../x", "a/b", "t"]
PIECES += ["\ud800", "\ufeff", "---", "...", "!!set {a}", "~", "1" * 400, "(" * 200, "-" * 3000, "[1, 2]", "{on: b}"]


@cache
def texts() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.kempe.yaml"))]


def mutated(text: str, rng: random.Random) -> str:
    """A few random edits of a file."""
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        lines = text.split("\n")
        k = rng.randrange(len(lines))
        kind = rng.randrange(8)
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
        elif kind == 5:
            lines[k] = lines[k].replace(str(rng.randint(0, 9)), rng.choice(["-0", "1e300", "''", "0", "5e-324"]))
        elif kind == 6:
            words = text.replace(":", " ").replace(",", " ").split()
            lines[k] = lines[k][:at] + (rng.choice(words) if words else "") + lines[k][at:]
        else:
            lines[k] = (
                lines[k][:at] + chr(rng.choice([0, 7, 0x85, 0xA0, 0x2028, 0x1F600, 0xFEFF, 0xD801])) + lines[k][at:]
            )
        text = "\n".join(lines)
    return text


def model_file(rng: random.Random) -> str:
    text = mutated(rng.choice(texts()), rng)
    content = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.1:  # bytes go wrong as well
        content = damaged(content, rng)

    def load() -> None:
        Path("x.kempe.yaml").write_bytes(content)
        model = kp.load("x.kempe.yaml")
        which = rng.random()
        if which < 0.1:
            model.save("y.kempe.yaml")
            same(model, kp.load("y.kempe.yaml"))
        elif which < 0.2:
            model.check()
        elif which < 0.3:
            model.simulate(0.001, steps=2, progress=impatient())

    return tried(load)


def damaged(content: bytes, rng: random.Random) -> bytes:
    """What a disk makes of a file."""
    if not content:
        return b"\x00"
    at, kind = rng.randrange(len(content)), rng.randrange(6)
    if kind == 0:
        return content[:at]
    if kind == 1:
        flipped = bytearray(content)
        for _ in range(rng.randint(1, 20)):
            flipped[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        return bytes(flipped)
    if kind == 2:
        return content[:at] + bytes(rng.randint(1, 5000)) + content[at:]
    if kind == 3:
        return rng.randbytes(rng.randint(0, 2000))
    if kind == 4:
        return content[:at] + rng.randbytes(rng.randint(1, 300)) + content[at + 300 :]
    return bytes(len(content))


# --- results and checkpoints on disk ------------------------------------------------------------------------------


def pendulum(mass: float = 1.0) -> kp.Mechanism:
    m = kp.Mechanism("pendulum", gravity=(0, -9.81))
    body = m.body("b", mass, 0.1, at=(0.5, 0))
    m.revolute("O", m.ground, body, at=(0, 0))
    m.bump_stop("stop", body.y, -0.2, 1e3)
    return m


@cache
def saved_result() -> bytes:
    return pendulum().simulate(0.5, steps=8).save("good.nc").read_bytes()


@cache
def saved_checkpoint() -> bytes:
    from kempe.simulation.checkpoints import write_checkpoint
    from kempe.simulation.running import Record
    from kempe.simulation.starting import begun

    machine = begun(pendulum(), 0.5, steps=8)
    machine.advance(3)
    return write_checkpoint(machine, Record(), machine.initial(), "good.npz").read_bytes()


def result_file(rng: random.Random) -> str:
    content = damaged(saved_result(), rng)
    if content == saved_result():
        return "fine"

    def load() -> None:
        Path("x.nc").write_bytes(content)
        kp.Result.load("x.nc")

    return tried(load)


def checkpoint_file(rng: random.Random) -> str:
    content = saved_checkpoint() if rng.random() < 0.15 else damaged(saved_checkpoint(), rng)
    if rng.random() < 0.1:  # a whole file with something else in it
        arrays: dict[str, Any] = dict(np.load(io.BytesIO(saved_checkpoint())))
        name = rng.choice([*arrays])
        arrays[name] = rng.choice([np.zeros(3), np.array("x"), np.array([[np.inf]]), np.array(5), np.zeros((0, 2))])
        if rng.random() < 0.3:
            about = json.loads(str(np.load(io.BytesIO(saved_checkpoint()))["about"]))
            about[rng.choice([*about])] = rng.choice([None, 5, "x", [], {}, [[1]]])
            arrays["about"] = np.array(json.dumps(about))
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        content = stream.getvalue()

    def resume() -> None:
        Path("x.npz").write_bytes(content)
        kp.resume(pendulum(), "x.npz", checkpoint=False)

    return tried(resume)


# --- command lines ------------------------------------------------------------------------------------------------

SMALL = """kempe: 1
name: small
model:
- body: {name: b, mass: 1, inertia: 1}
- revolute: {name: O, i: ground, j: b, at: [0, 0]}
analyses:
- simulate: {times: 0.01, steps: 2}
outputs: {animation: false, report: false}
"""
WORDS = [
    "run",
    "check",
    "draw",
    "animate",
    "schema",
    "examples",
    "small.kempe.yaml",
    "bad.kempe.yaml",
    "none.yaml",
    ".",
]
WORDS += [
    "--json",
    "--out",
    "--quiet",
    "-q",
    "--help",
    "--trace",
    "--all",
    "--",
    "-",
    "",
    " ",
    "--bogus",
    "-x",
    "=",
    "é",
]
WORDS += ["/dev/null", "/dev/zero", "a\nb", "\ud800", "x" * 5000, "--out=", "--out=/dev/null", "--out=small.kempe.yaml"]
WORDS += [
    "frob",
    "RUN",
    "o.png",
    "o.xyz",
    "folder",
    "slider_crank",
    "-1",
    "--version",
    "b",
    "{}",
    "%s",
    "*",
    "~",
    "$HOME",
]
ANALYSES = ["simulate", "kinematics", "inverse-dynamics", "equilibrium", "linearise", "modes", "sweep", "resume"]
FLAGS = [
    "--end",
    "--steps",
    "--set",
    "--velocity",
    "--method",
    "--option",
    "--tolerance",
    "--step",
    "--hold",
    "--time",
]
FLAGS += [
    "--vary",
    "--record",
    "--branch",
    "--on-singular",
    "--count",
    "--allow",
    "--nearest",
    "--combine",
    "--workers",
]
FLAGS += ["--checkpoint", "--json", "--coordinate"]
VALUES_GIVEN = [
    "0.01",
    "1e-3",
    "-1",
    "0",
    "nan",
    "inf",
    "1e400",
    "",
    "L=1",
    "L=",
    "=",
    "L=1:2:3",
    "L=1:2:0",
    "L=1,2",
    "b.x",
    "b.vx=1",
]
VALUES_GIVEN += [
    "auto",
    "alpha",
    "radius=0.5",
    "radius=True",
    "os",
    "x",
    "c.npz",
    "cross",
    "5",
    "b.omega=nan",
    "L=1:1e400:2",
    "L=\ud800",
]
ENDS = [["validate", "no-such-case"], ["bench", "no-such-bench"], ["validate", "--json", ""], ["bench", "--bogus"]]


def command_line(rng: random.Random) -> str:
    Path("small.kempe.yaml").write_text(SMALL)
    Path("bad.kempe.yaml").write_text(mutated(SMALL, rng), encoding="utf-8", errors="surrogatepass")
    words = [rng.choice(WORDS) for _ in range(rng.randint(0, 5))]
    if rng.random() < 0.4:
        words = [
            rng.choice(["run", "check", "draw", "animate"]),
            rng.choice(["small", "bad"]) + ".kempe.yaml",
            *words[:2],
        ]
    if rng.random() < 0.4:
        words = [rng.choice(ANALYSES), rng.choice(["small", "bad"]) + ".kempe.yaml"]
        for _ in range(rng.randint(0, 4)):
            words += [rng.choice(FLAGS), rng.choice(VALUES_GIVEN)]
    if rng.random() < 0.05:
        words = rng.choice(ENDS)
    out, err = io.StringIO(), io.StringIO()
    code: Any = None
    with warnings.catch_warnings(), redirect_stdout(out), redirect_stderr(err):
        warnings.simplefilter("ignore")
        try:
            main(words)
        except SystemExit as stop:
            code = stop.code
    said = err.getvalue()
    assert isinstance(code, int), f"exit code {code!r}"
    assert "Traceback" not in said and "mistake of Kempe" not in said, said[-1000:]
    if code == 2:
        assert said.strip() or out.getvalue().strip(), "failed without a word"
    for name in ("folder", "o.png"):
        if os.path.isfile(name):
            os.unlink(name)
    return "fine" if code == 0 else "refused"


# --- calls --------------------------------------------------------------------------------------------------------

ODD_NAMES: list[Any] = [
    "",
    " ",
    "a.b",
    "a/b",
    "a\nb",
    "x" * 500,
    "__class__",
    "__name0__",
    "é",
    "ground",
    "t",
    "{a}",
    "'",
]
ODD_NAMES += [
    '"',
    "self",
    "\ud800",
    5,
    None,
    "..",
    "nul\0",
    "µ",
    "name",
    "histories",
    " a",
    "a,b",
    "%s",
    "lambda",
    "pi",
]
ODD_NAMES += [
    "ok",
    "design",
    "energy",
    "x" * 150,
    "\u202eabc",
    "😀",
    "-",
    "1",
    "&a",
    "*a",
    "#",
    ": ",
    "null",
    "true",
    b"a",
]


#: How often an argument is a hostile one; drawn anew for every input.
hostility = 0.2


def numbers(rng: random.Random, m: kp.Mechanism) -> Any:
    """A number, mostly a good one."""
    if rng.random() > hostility:
        return rng.choice([0.0, 1.0, -1.0, 0.5, 2, 1e-3, 10.0, rng.uniform(-3, 3), np.float64(0.3)])
    hostile: list[Any] = [5e-324, 1e308, -1e308, float("nan"), float("inf"), True, None, "1", "", 1 + 2j, 10**400]
    hostile += [
        np.array([1.0, 2.0]),
        np.array(3.0),
        [],
        {},
        object(),
        lambda t: t,
        b"x",
        Fraction(1, 3),
        Decimal("1.5"),
    ]
    hostile += [ca.SX.sym("z"), ca.SX(2), ca.DM(3.0), ca.MX.sym("m"), np.float32(1), np.bool_(True), 1e-300, 1e150]
    hostile += [
        m.ground,
        *m.parameters.values(),
        *(2 * p for p in m.parameters.values()),
        kp.sqrt(ca.SX(-1.0)),
        range(3),
    ]
    return rng.choice(hostile)


def pairs(rng: random.Random, m: kp.Mechanism) -> Any:
    if rng.random() > hostility / 2:
        return (numbers(rng, m), numbers(rng, m))
    return rng.choice([None, 1.0, (), (1, 2, 3), "ab", np.zeros(2), np.zeros((2, 2)), {1: 2, 3: 4}, itertools.count()])


def parts(rng: random.Random, m: kp.Mechanism) -> Any:
    things: list[Any] = [m.ground, *m.parts.values()]
    if rng.random() > hostility:
        chosen = rng.choice(things)
        if rng.random() < 0.3 and hasattr(chosen, "at"):
            return chosen.on(pairs(rng, m))
        return chosen
    return rng.choice([None, "b", 5, m, kp.Mechanism("other").body("b"), object(), *m.elements.values()])


def quantities(rng: random.Random, m: kp.Mechanism) -> Any:
    things = list(m.parts.values())
    if things and rng.random() > hostility:
        chosen = rng.choice(things)
        name = rng.choice(["x", "y", "angle"])
        return getattr(chosen, name) if hasattr(type(chosen), name) else chosen
    return rng.choice([None, "b.x", 5, m.ground])


def laws(rng: random.Random, m: kp.Mechanism) -> Any:
    choices: list[Any] = [
        lambda: kp.constant_speed(numbers(rng, m)),
        lambda: kp.harmonic(numbers(rng, m), numbers(rng, m)),
        lambda: kp.spline([0, 1, 2], [0, numbers(rng, m), 1]),
        lambda: kp.cycloidal(numbers(rng, m), numbers(rng, m)),
        lambda: lambda t: kp.sin(t),
        lambda: lambda t: 1 / 0,
        lambda: lambda: 3,
        lambda: lambda t: "word",
        lambda: lambda t: ca.SX.sym("stranger") + t,
        lambda: numbers(rng, m),
        lambda: print,
    ]
    return rng.choice(choices)()


def curves(rng: random.Random, m: kp.Mechanism) -> Any:
    choices: list[Any] = [
        lambda: kp.polar(lambda s: 1 + 0.1 * kp.cos(s)),
        lambda: kp.curve(lambda s: (s, s**2)),
        lambda: kp.curve_through([(0, 0), (1, numbers(rng, m)), (2, 0)]),
        lambda: kp.curve(lambda s: numbers(rng, m)),
        lambda: numbers(rng, m),
    ]
    return rng.choice(choices)()


def argument(name: str, rng: random.Random, m: kp.Mechanism) -> Any:
    """Something for an argument of a builder method, by its name."""
    if name in ("at", "on_i", "on_j", "axis", "teeth", "radii", "centre"):
        return pairs(rng, m)
    if name in ("i", "j", "carrier", "frame", "point", "first", "second", "part", "reaction"):
        return parts(rng, m)
    if name in ("curve", "profile"):
        return curves(rng, m)
    if name in ("motion", "x", "y", "torque", "law"):
        return laws(rng, m)
    if name == "force":
        return (laws(rng, m), laws(rng, m)) if rng.random() < 0.8 else laws(rng, m)
    if name == "quantity":
        return quantities(rng, m)
    if name == "terms":
        return [(numbers(rng, m), quantities(rng, m)) for _ in range(rng.randint(0, 3))]
    if name == "function":
        return rng.choice([lambda b: b.x, lambda b, t: [b.y, t], lambda *a: 1 / 0, 5, lambda: 0, lambda b: None])
    if name in ("fixed", "side", "direction", "ends"):
        return rng.choice(["", "x", "xy", "below", "above", "both", "z", 5, None])
    if name in ("internal", "crossed", "rate", "stop"):
        return rng.choice([True, False, 0, "yes", None])
    return numbers(rng, m)


@cache
def verbs() -> dict[str, list[str]]:
    found = {name: method for name, method in vars(MechanismModel).items() if getattr(method, "recorded", False)}
    return {
        name: [p for p in inspect.signature(getattr(method, "__wrapped__", method)).parameters if p != "self"]
        for name, method in found.items()
    }


REQUIRED = ("i", "j", "first", "second", "part", "quantity", "motion", "terms", "function", "point", "x", "y", "force")
REQUIRED += ("torque", "curve", "profile", "radii", "radius", "axis", "limit", "stiffness")


def build(rng: random.Random, m: kp.Mechanism) -> None:
    """One builder call."""
    verb = rng.choice([*verbs(), "body", "body", "point", "revolute"])
    name: Any = rng.choice("abcdefgh") if rng.random() > hostility else rng.choice(ODD_NAMES)
    wanted = [p for p in verbs()[verb] if p not in ("name", "parts", "options", "points")]
    given = {p: argument(p, rng, m) for p in wanted if p in REQUIRED or rng.random() < 0.5}
    if verb == "plate":
        m.plate(name, *(parts(rng, m) for _ in range(rng.randint(0, 4))), mass=numbers(rng, m))
    elif verb in ("constraint", "user_force"):
        getattr(m, verb)(name, given.get("function"), *(parts(rng, m) for _ in range(rng.randint(0, 2))))
    elif verb == "body" and rng.random() < 0.8:
        m.body(name, 1.0, 0.1, at=(rng.uniform(-1, 1), rng.uniform(-1, 1)))
    else:
        getattr(m, verb)(name, **given)


TIMES: list[Any] = [0.01, 0.01, 0.01, 5e-324, 1e308, float("nan"), float("inf"), -1.0, 0, True, "1", 1j, None, [], [0]]
TIMES += [
    [0, 1e-3],
    [0, 0],
    [1, 0],
    np.zeros((2, 2)),
    [0, float("nan")],
    ["0", "1"],
    [True, False],
    [0, 1j],
    1e-300,
    1e99,
]
TIMES += [
    [1e15, 1e15 + 1],
    [-1e-3, 1e-3],
    range(2),
    np.array(0.01),
    10**400,
    object(),
    [0, 1e-320],
    [[0], [1, 2]],
    1e-99,
]
OPTIONS: dict[str, list[Any]] = {
    "steps": [1, 2, 5, 0, -1, 10**10, 10**30, True, 1.5, "2", None, np.int64(3)],
    "tolerance": [1e-6, 1e-3, 0, -1, 1e-300, float("nan"), "x", 1.0, None, True],
    "method": [*kp.METHODS, "", "x", None, 5, []],
    "step": [1e-3, 0, -1, 5e-324, 1e308, float("nan"), "x"],
    "max_step": [1e-3, 0, 1e-300, 1e308, "x"],
    "velocities": [{}, {"a.omega": 1.0}, {"a.omega": float("inf")}, {"z": 1}, {1: 2}, [1], "x", 5, {"a.vx": 1e308}],
    "parameters": [{}, {"L": 2.0}, {"L": "x"}, {"L": float("nan")}, {"z": 1}, [1], 5, {"L": 1e308}, {"L": -1}],
    "start": [5, "x", {}, kp.Pose({}), kp.Pose({"a.x": float("nan")})],
    "progress": [5, lambda *a: None, "x"],
    "checkpoint": ["c.npz", "", ".", "/dev/null", "no/such/c.npz", 5, "\0", "x" * 300],
    "audit": [True, False, 1, "x"],
    "penalty": [1e7, 0, -1, 1e308, 5e-324, "x"],
    "omega": [10.0, -1, 1e308, None],
    "radius": [0.5, 2.0, "x"],
    "iterations": [0, 3, -1, 2.5],
    "bogus": [1],
    "on_singular": ["raise", "stop", "cross", 5, "x"],
    "branch": [0, 1, -1, [], "x", [0, "x"], None],
}
OF_KINEMATICS = ("steps", "parameters", "start", "progress", "on_singular", "branch")


def impatient() -> Any:
    """A user who presses Ctrl-C after some seconds: a long run is no offence as long as that ends it."""
    begun = time.monotonic()

    def progress(*_: Any) -> None:
        if time.monotonic() - begun > 5.0:
            raise KeyboardInterrupt

    return progress


def analyse(rng: random.Random, m: kp.Mechanism) -> None:
    """One analysis with options of all kinds."""
    which = rng.randrange(12)
    chosen = rng.sample([*OPTIONS], rng.randint(0, 3) if rng.random() < 0.5 else 0)
    options = {key: rng.choice(OPTIONS[key]) for key in chosen}
    if which < 6:
        options = {key: value for key, value in options.items() if key not in ("on_singular", "branch")}
        times = rng.choice(TIMES) if rng.random() < 0.5 else 0.01
        result = m.simulate(times, **{"steps": 3, "progress": impatient(), **options})
        look(rng, result)
    elif which == 6:
        options = {key: value for key, value in options.items() if key in OF_KINEMATICS}
        m.kinematics(rng.choice(TIMES), **{"steps": 3, "progress": impatient(), **options})
    elif which == 7:
        designs = rng.choice(
            [{"L": [1.0, 2.0]}, {"L": []}, {"z": [1]}, [], [{"L": 1.0}], 5, {"L": ["x"]}, {"L": [np.nan]}]
        )
        options = {key: value for key, value in options.items() if key in ("steps", "tolerance", "method", "step")}
        kp.run_many(
            m, designs, rng.choice([["a.x"], ["z"], [], "a.x", [5], ["a.force"]]), 0.01, **{"steps": 2, **options}
        )
    else:
        {8: m.check, 9: m.mobility, 10: m.assemble, 11: m.equilibrium}[which]()


def look(rng: random.Random, result: kp.Result) -> None:
    """What one does with a result."""
    which = rng.randrange(7)
    if which == 0:
        again = kp.Result.load(result.save("r.nc"))
        for name in result.names:
            assert np.array_equal(again.array(name), result.array(name), equal_nan=True), name
    elif which == 1:
        result.to_csv("r.csv")
    elif which == 2:
        assert np.array_equal(pickle.loads(pickle.dumps(result)).q, result.q, equal_nan=True)
    elif which == 3:
        result.array(rng.choice(["a.x", "", "z.y", "t", "energy.total"]))
    elif which == 4:
        copy.deepcopy(result).names
    elif which == 5:
        result.save(rng.choice(["", ".", "/dev/null", "no/such/r.nc", "\0", "x" * 300, 5]))


CHANGES = [
    "del m.elements['{n}']", "m.elements['{n}'] = 5", "m.parts.clear()", "m.gravity = (0, {v})", "m.ground = 5",
    "m.name = {v}", "m['{n}'].name = 'x'", "m['{n}'].fields = {{}}", "m['{n}'].start = (1, 2)", "m.compiled = None",
    "m.parameters['L'].value = {v}", "m.set(L={v})", "m.set({v})", "m['{n}'].mass = 3", "m.anything = 3", "del m.parts",
    "m['{n}'].at = 5", "m.version = 3", "m.parameters['L'].bounds = {v}", "m.parameters['L'].label = 'z'", "m[{v}]",
]  # fmt: skip


def change(rng: random.Random, m: kp.Mechanism) -> None:
    """One change of a model from outside."""
    said = rng.choice(CHANGES).format(n=rng.choice("abcdefgh"), v="v")
    exec(said, {"m": m, "v": numbers(rng, m)})


def same(m: kp.Mechanism, other: kp.Mechanism) -> None:
    """A model that came back from a file has the same names."""
    assert [*m.parts] == [*other.parts] and [*m.elements] == [*other.elements]


def call(rng: random.Random) -> str:
    global hostility
    hostility = rng.choice([0.0, 0.02, 0.1, 0.3])
    m = kp.Mechanism("fuzz", gravity=(0, -9.81))
    m.parameter("L", 1.0)
    if rng.random() < 0.7:
        m.body("a", 1.0, m["L"], at=(1.0, 0.0))
    outcomes = [tried(lambda: build(rng, m)) for _ in range(rng.randint(1, 8))]
    for _ in range(rng.randint(0, 2)):
        outcomes.append(tried(lambda: change(rng, m)))
    which = rng.randrange(8)
    if which < 5:
        outcomes.append(tried(lambda: analyse(rng, m)))
    elif which == 5:
        outcomes.append(tried(lambda: same(m, kp.load(m.save("m.kempe.yaml")))))
    elif which == 6:
        outcomes.append(tried(lambda: copy.deepcopy(m).mobility()))
    else:
        outcomes.append(tried(lambda: pickle.loads(pickle.dumps(m)).mobility()))
    return outcomes[-1]


def death(rng: random.Random) -> str:
    """What an input must never do, for a test of those who watch."""
    which = rng.randrange(4)
    if which == 0:
        os.abort()
    if which == 1:
        time.sleep(1000.0)
    if which == 2:
        raise ValueError("raw")
    return "fine"


KINDS = {
    "deaths": death,
    "expressions": expression,
    "model files": model_file,
    "calls": call,
    "command lines": command_line,
    "result files": result_file,
    "checkpoints": checkpoint_file,
}


def one(kind: str, seed: int, number: int) -> str:
    """Draw and try one input."""
    return KINDS[kind](random.Random(f"{kind} {seed} {number}"))


if __name__ == "__main__":  # one input again, with its traceback
    print(one(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
