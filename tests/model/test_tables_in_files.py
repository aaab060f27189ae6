"""Tables and parameters that follow from others in model files: read, refused with their line, written, read again."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kempe as kp

HEAD = "kempe: 1\nname: file\n"
MODEL = """
parameters: {c: "b + lift(a)", b: 2*a, a: 1.0}
tables:
  lift: {x: [0, 1, 2, 3], y: [1, 2, 3, 4]}
  damper curve: {x: [-5, 0, 5], y: [-2, 0, 4], kind: linear, outside: hold}
  map: {x: [-5, 0, 5], y: [-1, 0, 1, 2], z: [[1, 2, 3, 4], [1, 2, 2, 1], [0, 1, 0, 2]], outside: extrapolate}
  wave: {x: [0, 1, 2], y: [0.1, 0.2, 0.1], periodic: true}
model:
- body: {name: block, mass: c, inertia: 1.0, at: [0.5, 0]}
- translational: {name: guide, i: ground, j: block, axis: [1, 0]}
- user_force:
    name: f
    forces: {block.x: "-{damper curve}(block.vx) - 3 * block.x + 0.1 * map(-block.x, wave(t) + block.vx / 10)"}
- spring: {name: S, i: {on: ground, point: [-1, 0]}, j: block, length: 1.0, law: {table: lift}}
- spring: {name: R, i: {on: ground, point: [-2, 0]}, j: block, law: "wave(R.length) + {damper curve}(R.rate)"}
- point: {name: p, at: [0, 3], mass: 1.0}
- driver: {name: d, quantity: p.x, motion: wave(2 * t)}
- constraint: {name: k, equations: ["p.y - 3 - wave(p.x)"]}
- body: {name: disk, mass: 1, inertia: 1, at: [5, 5]}
- revolute: {name: O, i: ground, j: disk, at: [5, 5]}
- point: {name: tip, at: [5.0, 6.3], mass: 1.0}
- curve_contact:
    {name: rim, i: disk, j: tip, curve: {curve: {x: cos(s) * (1 + wave(s)), y: sin(s)}}, stiffness: 1e3, radius: 0.1}
"""


def built(text: str, folder: Path) -> Any:
    path = folder / "m.kempe.yaml"
    path.write_text(HEAD + text)
    return kp.load(path)


def test_a_model_with_tables_moves_alike_however_it_travels(tmp_path: Path) -> None:
    m = built(MODEL, tmp_path)
    result = m.simulate(1.0, steps=20)
    again = kp.load(m.save(tmp_path / "again.kempe.yaml"))
    third = kp.load(again.save(tmp_path / "third.kempe.yaml"))
    for model in (again, third, pickle.loads(pickle.dumps(m)), copy.deepcopy(again)):
        assert np.array_equal(model.simulate(1.0, steps=20).q, result.q)
        assert model.parameters["c"].value == 4.0
    assert (tmp_path / "again.kempe.yaml").read_text() == (tmp_path / "third.kempe.yaml").read_text()
    assert "c: b + lift(a)" in (tmp_path / "again.kempe.yaml").read_text()


def test_parameters_follow_others(tmp_path: Path) -> None:
    m = built(MODEL, tmp_path)
    m.set(a=2.0)
    assert {n: p.value for n, p in m.parameters.items()} == {"a": 2.0, "b": 4.0, "c": 7.0}
    result = m.simulate(1.0, steps=5)
    m.set(a=1.0)
    assert np.array_equal(m.simulate(1.0, steps=5, parameters={"a": 2.0}).q, result.q)
    runs = kp.run_many(m, {"a": [1.0, 2.0, 9.0]}, ["block.x"], 1.0, steps=5)
    assert np.array_equal(runs.values["block.x"][1], result.array("block.x"))
    assert list(runs.ok) == [True, True, False] and "'lift' is read at 9" in runs.reasons[2]
    with pytest.raises(kp.ModelError, match="'b' follows from 'a'"):
        kp.run_many(m, {"b": [1.0]}, ["block.x"], 1.0)
    with pytest.raises(kp.ModelError, match="parameter 'b' follows from 'a'; change that"):
        m.set(b=3.0)
    with pytest.raises(kp.ModelError, match="parameter 'b' follows from 'a'"):
        m["b"].value = 3.0
    with pytest.raises(kp.ModelError, match="'lift' is read at 9; its data go from 0 to 3"):
        m.set(a=9.0)
    assert m["a"].value == 1.0


def test_parameters_follow_others_in_python() -> None:
    m = kp.Mechanism("m")
    a = m.parameter("a", 1.0)
    b = m.parameter("b", 2 * a)
    c = m.parameter("c", kp.sqrt(b) * a)
    body = m.body("x", mass=c, inertia=b)
    m.force("pull", body, (1.0, 0.0))
    for value in (1.0, 4.0):
        m.set(a=value)
        assert c.value == pytest.approx(np.sqrt(2 * value) * value)
        assert m.simulate(1.0).array("x.x")[-1] == pytest.approx(0.5 / c.value)
    twin = pickle.loads(pickle.dumps(m))
    twin.set(a=9.0)
    assert twin["b"].value == 18.0 and b.value == 8.0


def test_long_rows_of_followers(tmp_path: Path) -> None:
    """Each the sum of the two before it: Fibonacci's numbers, in no time."""
    row = ", ".join(f"p{k}: p{k - 1} + p{k - 2}" for k in range(79, 1, -1))
    m = built(f"parameters: {{{row}, p0: 0.0, p1: 1.0}}\n", tmp_path)
    assert m["p79"].value == 14472334024676221.0
    m.set(p1=2.0)
    assert m["p79"].value == 2 * 14472334024676221.0 and m.parameter_vector({"p1": 1.0}).max() == 14472334024676221.0
    with pytest.raises(kp.ModelError, match="over too many others"):
        long = "parameters: {p0: 1.0, " + ", ".join(f"p{k}: p{k + 1}" for k in range(1, 3000)) + ", p3000: 1}"
        built(long, tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("parameters: {a: 2*b, b: 3*c, c: a}", r":3: .*a circle: a -> b -> c -> a"),
        ("parameters: {a: a + 1}", r":3: .*a circle: a -> a"),
        ("parameters: {a: 2*lenght, length: 1.0}", r"parameter 'a': unknown name 'lenght'; did you mean length"),
        ("parameters: {a: 1 / 0}", r"parameter 'a'.*not finite"),
        ("parameters: {a: {value: 2*b, bounds: [0, 1]}, b: 1}", r"'a' follows from others"),
        ("parameters:\n  a: 1\n  b: 1/(a - 1)", r":5: parameter 'b'.*not finite"),
        ("tables: {T: {x: [0, 0], y: [1, 2]}}", r":3: table 'T': the arguments must increase"),
        ("tables: {T: {x: [0, 1], y: [1, 2, 3]}}", r"table 'T'.*same length"),
        ("tables: {sin: {x: [0, 1], y: [1, 2]}}", r"cannot be called 'sin'"),
        ("parameters: {T: 1}\ntables: {T: {x: [0, 1], y: [1, 2]}}", r"'T' is already taken by a parameter"),
        ("tables: {T: {x: [0, 1], y: [1, 2]}}\nparameters: {a: T}", r"'T' is a table"),
        ("tables: {T: {x: [0, 1], y: [1, 2]}}\nparameters: {a: 'T(1, 2)'}", r"T takes 1 argument, not 2"),
        ("tables: {lift: {x: [0, 1], y: [1, 2]}}\nparameters: {a: lfit(1)}", r"did you mean lift"),
        ("tables: {T: {x: [0, 1], y: [1, 2]}}\nparameters: {a: T(7)}", r"'T' is read at 7; its data go from 0 to 1"),
        ("tables: {T: {x: time, y: lift}}", r"columns of a file"),
        ("tables: {T: {file: no.csv, x: time, y: lift}}", r"no.csv"),
        ("tables: {T: {file: d.csv, x: tme, y: lift}}", r"no column 'tme'; did you mean 'time'"),
        ("tables: {T: {file: d.csv, x: time, y: remark}}", r"row 3: 'late' in column 'remark' is no number"),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("time, lift,remark\n0,1,1\n1,2,late\n")
    with pytest.raises(kp.ModelError, match=says):
        built(text + "\n", tmp_path)


def test_columns_of_a_data_file(tmp_path: Path) -> None:
    t = np.linspace(0.0, 1.0, 6)
    (tmp_path / "d.csv").write_text("time,lift of valve\n" + "\n".join(f"{float(s)!r},{float(s**2)!r}" for s in t))
    text = """
tables: {lift: {file: d.csv, x: time, y: lift of valve}}
model:
- point: {name: p, fixed: y, mass: 1.0}
- driver: {name: d, quantity: p.x, motion: lift(t)}
"""
    m = built(text, tmp_path)
    result = m.kinematics(1.0, steps=10)
    assert np.abs(result.array("p.x") - result.t**2).max() < 1e-14
    (tmp_path / "d.csv").unlink()  # a saved model has the data in it
    saved = kp.load(m.save(tmp_path / "saved.kempe.yaml"))
    assert np.array_equal(saved.kinematics(1.0, steps=10).q, result.q)


def test_the_derivative_of_a_table_cannot_be_written(tmp_path: Path) -> None:
    T = kp.table([0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
    m = kp.Mechanism("m")
    p = m.point("p", at=(1.0, 0.0), mass=1.0)
    import casadi as ca

    m.user_force("f", lambda p: (ca.jacobian(T(p.x), p.x), 0.0), p)
    assert m.accelerations()["p.ax"] == pytest.approx(2.0)
    with pytest.raises(kp.ModelError, match="derivative of a table"):
        m.save(tmp_path / "m.kempe.yaml")


def test_equations_in_files(tmp_path: Path) -> None:
    text = """
parameters: {k: 2*m, m: 1.5}
tables: {T: {x: [-2, -1, 0, 1, 2], y: [4, 1, 0, 1, 4]}}
equations:
  coordinates: {x: 0.5}
  mass: [[m]]
  force: ["-k * x * T(T(x) + 1) - 0.1 * T(x.v)"]
"""
    m = built(text, tmp_path)
    result = m.simulate(1.0, steps=10)
    again = kp.load(m.save(tmp_path / "again.kempe.yaml"))
    assert np.array_equal(again.simulate(1.0, steps=10).q, result.q)
    again.set(m=3.0)
    assert again["k"].value == 6.0
