"""Names and numbers that nobody would expect."""

from __future__ import annotations

import os
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import kempe as kp
from kempe.model.expressions import parse
from kempe.model.yaml_lines import load_yaml
from kempe.simulation import patience

GOOD = [
    "arm L/R",
    "a b",
    "é",
    "µ",
    "ﬁ",
    "__class__",
    "__name0__",
    "_0",
    "self",
    "name",
    "histories",
    "a,b",
    "'",
    '"',
    "😀",
]
GOOD += [
    "lambda",
    "pi",
    "e",
    "s",
    "ok",
    "design",
    "-1",
    "#",
    "&a",
    "*a",
    "null",
    "true",
    "%s",
    "\\",
]
GOOD += ["x" * 200, "a:b", "[a", "<b>"]
BAD: list[Any] = [
    "",
    " ",
    "a.b",
    "a\nb",
    "a\tb",
    "x" * 201,
    "{a",
    "a}",
    "\ud800",
    "nul\0",
    " a",
    "a ",
    "\u202ea",
    5,
    None,
]
BAD += [b"a", ["a"], True]


def swinging(name: str) -> kp.Mechanism:
    m = kp.Mechanism("m", gravity=(0, -9.81))
    size = m.parameter(f"{name[:190]} size", 0.5)
    body = m.body(name, 1.0, 0.1, at=(size, 0))
    m.revolute(f"{name[:190]} pin", m.ground, body, at=(0, 0))
    m.constraint(f"{name[:190]} rule", lambda c, t: c - size * t, m.coordinate(f"{name[:190]} c"), rows=[name])
    m.driver(f"{name[:190]} motor", body.angle, lambda t: t * size)
    return m


@pytest.mark.parametrize("name", GOOD)
def test_odd_names_work_everywhere(name: str, tmp_path: Path) -> None:
    m = swinging(name)
    result = m.kinematics(0.1, steps=2)
    again = kp.Result.load(result.save(tmp_path / "r.nc"))
    assert again.names == result.names
    for quantity in result.names:
        assert np.array_equal(again.array(quantity), result.array(quantity)), quantity
    assert np.array_equal(kp.load(m.save(tmp_path / "m.kempe.yaml")).kinematics(0.1, steps=2).q, result.q)
    header = result.to_csv(tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()[0]
    assert len(header) > len(name)


@pytest.mark.parametrize("name", BAD)
def test_names_that_could_not_be_written_are_refused_at_once(name: Any) -> None:
    m = kp.Mechanism("m")
    body = m.body("b", 1.0, 1.0)
    for make in (
        lambda: m.body(name),
        lambda: m.point(name),
        lambda: m.parameter(name, 1.0),
        lambda: m.coordinate(name),
        lambda: m.revolute(name, m.ground, body, at=(0, 0)),
        lambda: m.constraint("c", lambda b: b.x, body, rows=[name]),
        lambda: kp.Equations("e", [name]),
    ):
        with pytest.raises(kp.ModelError):
            make()
    assert [*m.parts] == ["b"] and [*m.elements] == ["b.inertia"] and not m.parameters


def test_the_time_is_no_name_for_what_has_a_history() -> None:
    for make in (lambda: kp.Mechanism("m").coordinate("t"), lambda: kp.Equations("e", ["t"])):
        with pytest.raises(kp.ModelError, match="which is the time"):
            make()


def test_names_of_a_place_come_first_and_braces_mean_the_users(tmp_path: Path) -> None:
    own, users = ca.SX.sym("s"), ca.SX.sym("s")
    value = parse("s + 10 * {s}", {"s": users}, {"s": own})
    assert float(ca.Function("f", [own, users], [value])(1.0, 2.0)) == 21.0
    m = kp.Mechanism("cam")
    s = m.parameter("s", 0.3)
    disk, dot = m.body("disk"), m.point("dot", at=(1.3, 0))
    m.point_on_curve("on", disk, dot, curve=kp.polar(lambda u: 1 + s * kp.cos(u)))
    again = kp.load(m.save(tmp_path / "m.kempe.yaml"))
    assert again["on"].fields["profile"].data()[0].label == "s"


def test_words_like_internal_ones_are_only_words() -> None:
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    with pytest.raises(kp.ModelError, match="unknown name '__name0__'"):
        parse("{a} + __name0__", {"a": a})
    value = parse("{a b} + _0 + __name0__", {"a b": a, "_0": b, "__name0__": 3 * b})
    assert float(ca.Function("f", [a, b], [value])(1.0, 10.0)) == 41.0


@pytest.mark.parametrize(
    "text", ["(" * 5000, "[" * 1500 + "]" * 1500, "-" * 3900 + "1", "not " * 900 + "1", "1" + "+1" * 1900]
)
def test_deep_expressions_are_refused(text: str) -> None:
    with pytest.raises(kp.ModelError):
        parse(text, {})


@pytest.mark.parametrize(
    "text",
    ["a: " + "[" * 50_000 + "]" * 50_000, '{"a": ' * 50_000, "- " * 50_000, "[" * 900_000, "? " * 5000, "a: {b: " * 40],
)
def test_deep_files_are_refused_while_they_are_read(text: str, tmp_path: Path) -> None:
    program = (
        "import sys, kempe as kp\ntry: kp.load(sys.argv[1])\nexcept kp.ModelError as error: print(str(error)[:200])"
    )
    path = tmp_path / "x.kempe.yaml"
    path.write_text(text)
    process = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=60)
    assert process.returncode == 0 and "x.kempe.yaml" in process.stdout, process.stderr[-500:]


def test_a_hundred_million_entries_by_reference_are_too_many() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 9)]
    with pytest.raises(kp.ModelError, match="too deeply nested or too large"):
        load_yaml("\n".join(lines), "bomb")


@pytest.mark.parametrize("what", ["/dev/zero", "fifo", "folder", "large"])
def test_what_is_no_file_is_not_read(what: str, tmp_path: Path) -> None:
    path = Path(what) if what.startswith("/") else tmp_path / what
    if what == "fifo":
        os.mkfifo(path)
    if what == "folder":
        path.mkdir()
    if what == "large":
        with open(path, "wb") as file:
            file.truncate(10**12)  # takes no room
    with pytest.raises(kp.ModelError, match=r"not a file|too large|directory"):
        kp.load(path)


TIMES: list[Any] = [
    5e-324,
    1e308,
    float("nan"),
    float("inf"),
    -1.0,
    0,
    True,
    "1",
    1j,
    None,
    [],
    [0, 0],
    [1, 0],
    [0, 1j],
]
TIMES += [np.zeros((2, 2)), ["0", "1"], [True, False], [[0], [1, 2]], 10**400, object(), [0, 1e-320], [1e15, 1e15 + 1]]
TIMES += [np.bool_(True), {0: 1}, b"1", range(0), ca.SX.sym("t")]


@pytest.mark.parametrize("times", TIMES, ids=range(len(TIMES)))
def test_times_that_make_no_sense_are_refused(times: Any) -> None:
    m = kp.Mechanism("m")
    m.body("b", 1.0, 1.0)
    for analysis in (m.simulate, m.kinematics):
        with pytest.raises(kp.ModelError):
            analysis(times)


@pytest.mark.parametrize(
    "options",
    [
        {"steps": 10**10}, {"steps": 0}, {"steps": True}, {"steps": 2.5}, {"steps": "2"}, {"tolerance": 0},
        {"tolerance": float("nan")}, {"tolerance": "x"}, {"step": 5e-324}, {"step": 0}, {"step": -1},
        {"max_step": 1e-300}, {"method": []}, {"method": "x"}, {"velocities": [1]}, {"velocities": {"b.vx": "x"}},
        {"parameters": [1]},
        {"start": 5}, {"audit": "x"}, {"progress": 5}, {"bogus": 1}, {"velocities": {"b.vx": 1e308}},
    ],
    ids=repr,
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    m = kp.Mechanism("m")
    m.body("b", 1.0, 1.0)
    with pytest.raises(kp.KempeError):
        m.simulate(1.0, **options)


def test_more_histories_than_memory_are_refused_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    from kempe.simulation import times

    monkeypatch.setattr(times, "_memory", lambda: 1e6)
    m = kp.Mechanism("m")
    m.body("b", m.parameter("mass", 1.0), 1.0)
    with pytest.raises(kp.ModelError, match="GiB, more than this machine has"):
        m.simulate(1.0, steps=10_000)
    with pytest.raises(kp.ModelError, match="2000 designs"):
        kp.run_many(m, {"mass": np.ones(2000)}, ["b.x"], 1.0)


@pytest.mark.parametrize(
    "value", [Fraction(1, 2), Decimal("0.5"), np.float32(0.5), np.array(0.5), ca.DM(0.5), ca.SX(0.5)]
)
def test_numbers_of_all_kinds_are_numbers(value: Any, tmp_path: Path) -> None:
    m = kp.Mechanism("m")
    m.body("b", value, value, at=(value, 0))
    assert kp.load(m.save(tmp_path / "m.kempe.yaml")).parts["b"].start[0] == 0.5


@pytest.mark.parametrize(
    "value", [True, np.bool_(True), "1", b"1", 1j, None, [], {}, object(), 10**400, float("nan"), ca.MX.sym("x")]
)
def test_what_is_no_number_is_none(value: Any) -> None:
    m = kp.Mechanism("m")
    with pytest.raises(kp.ModelError, match=r"number|finite|large"):
        m.body("b", 1.0, 1.0, at=(value, 0))
    if value is not None:
        with pytest.raises(kp.ModelError):
            m.parameter("p", value)


def test_a_run_that_would_never_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "WINDOW", 20_000)
    m = kp.Mechanism("m")
    m.torsion_spring("rock", m.ground, m.body("b", m.parameter("mass", 1.0), 1.0), stiffness=1e90, angle=1.0)
    with pytest.raises(kp.ConvergenceError, match="too fast for this time span") as raised:
        m.simulate(1.0, method="projection")
    assert raised.value.result is not None and raised.value.result.status == "failed"
    runs = kp.run_many(m, {"mass": [1.0]}, ["b.x"], 1.0, method="projection")
    assert "too fast" in runs.reasons[0]
