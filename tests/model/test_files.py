"""Model files: exact round trips, errors with file and line, all at once, within limits."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import kempe as kp
from kempe.model import files

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(p.stem for p in EXAMPLES.glob("*.py") if "\nTIMES = " in p.read_text())  # those of driven linkages


def example(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_every_example_says_the_same_in_python_and_in_yaml(name):
    module = example(name)
    expected = module.build().kinematics(module.TIMES, **module.OPTIONS)
    loaded = kp.load(EXAMPLES / f"{name}.kempe.yaml")
    got = loaded.kinematics(module.TIMES, **module.OPTIONS)
    for a, b in ((expected.q, got.q), (expected.v, got.v), (expected.a, got.a)):
        assert np.abs(a - b).max() <= 1e-12 * max(1.0, np.abs(a).max())
    assert got.names == expected.names


@pytest.mark.parametrize("name", NAMES)
def test_saving_what_was_loaded_changes_nothing(name, tmp_path):
    loaded = kp.load(EXAMPLES / f"{name}.kempe.yaml")
    loaded.save(tmp_path / "again.kempe.yaml")
    again = kp.load(tmp_path / "again.kempe.yaml")
    assert files.text_of(files.describe(again)) == files.text_of(files.describe(loaded))


def rich_mechanism() -> kp.Mechanism:
    """Everything a file can say, with parameters in all places and names that are no identifiers."""
    m = kp.Mechanism("rich: \"quoted\" 'name'", gravity=(0.0, -9.81))
    L = m.parameter("rod length", 1.5, bounds=(0.5, 2.5))
    k = m.parameter("lambda", 0.3)
    a = m.body("body one", mass=2 * L, inertia=L**3 / 12, at=(L / 2, kp.sin(k)), angle=k)
    b = m.body("b", at=(3.0, 0.5))
    P, Q = m.point("P", at=(0, 1), fixed="y", mass=0.5), m.point("Q", at=(1, 1.5))
    R = m.point("R", at=(0.5, 2.5))
    bar = m.bar("bar", P, Q, length=L, mass=1.0)
    m.plate("plate", P, R, Q, places=[(0.5, k)])
    s = m.coordinate("s", 0.2)
    turn = m.angle("turn", m.ground, bar)
    m.revolute("pin", m.ground, a, on_i=(0, 0), on_j=(-L / 2, 0))
    m.translational("guide", m.ground, b, axis=(1, k), at=(0, 0.5), angle=0.1)
    m.link("rod", a.on((L / 2, 0)), b, length=2.0)
    m.gear("gear", a, b, teeth=(20, 40), internal=True)
    m.belt("belt", a, b, radii=(1, 2 * k), crossed=True)
    m.gear("teeth", a, b, radii=(k, 2), on_i=(0, 0), on_j=(0.1, k), pressure_angle=k / 9)
    m.gear("teeth of markers", a.on((0, 0.1)), b, ratio=-k, on_j=(0.1, 0))
    m.belt("tight", a, b, radii=(0.1, 0.2), on_i=(0, 0), preload=10 * k)
    m.coupler("tie", [(1.0, s), (L, a.angle), (-k, turn)])
    m.rack_and_pinion("rack", a, b, radius=k)
    m.rack_and_pinion("rack beside", a, b, radius=k, on_i=(0.1, 0), pressure_angle=0)
    m.weld("weld", a, b, at=(1, 1))
    m.pin_in_slot("slot", b, Q, axis=(0, 1))
    m.point_on_curve("curve", m.ground, Q, curve=kp.curve(lambda u: (L * kp.cos(u), k * kp.sin(u) ** 2), span=(0, 3)))
    m.cam_roller("cam", a, b, profile=kp.curve_through([(1, 0), (0, 1), (-1, 0), (0, -1)], closed=True), radius=0.1)
    m.cam_flat("flat", a, b, profile=kp.polar(lambda u: 1 + 0.1 * kp.cos(u)), axis=(1, 0))
    m.constraint(
        "own", lambda p, q, t: [q.y - L * p.r[0] ** 2 - kp.if_else(t > 1, t, 1), q.angle], Q, b, rows=["u", "w"]
    )
    m.driver("law", a.angle, kp.cycloidal(L, 2.0, begin=k))
    m.driver("table", kp.distance(a, P), kp.spline([0, 1, 2.5], [1.0, 1.25, 0.1], ends="natural"))
    m.driver("function", m["pin"].angle, lambda t: L * kp.sin(3 * t) + kp.fmax(t, k))
    m.driver("held", b.x, 1.0 + k)
    m.point_driver("led", R, kp.harmonic(0.1, 2.0), lambda t: 1 + t)
    m.spring("coil", a, P, on_i=(L, 0), stiffness=k, length=L, damping=2, law=lambda length, rate: L * length**2 - rate)
    m.spring("data", a, Q, law=kp.spline([0, 1, 2.5], [1.0, 1.25, 4.1]), force=kp.cycloidal(1.0, 2.0))
    m.torsion_spring("twist", a, bar, stiffness=k, law=lambda angle, rate, t: L * angle * t)
    m.bushing("rubber", a, b, stiffness=(L, 2), damping=k, torsion=3, axis=(1, k))
    m.bump_stop("stop", kp.distance(a, P), L, 100, damping=k, exponent=1.5, side="above")
    m.force(b, (k, lambda t: L * t), on=(0.1, k), frame="body")
    m.torque(a, kp.harmonic(k, 2.0), reaction=bar)
    m.user_force("drag", lambda body, c, t: [(-k * body.vx, t, -body.omega), L * c.rate], a, s)
    return m


def test_everything_that_can_be_said_survives_a_round_trip(tmp_path):
    m = rich_mechanism()
    m.save(tmp_path / "rich.kempe.yaml")
    again = kp.load(tmp_path / "rich.kempe.yaml")
    assert again.name == m.name and again.gravity == m.gravity
    assert {n: (p.value, p.bounds) for n, p in again.parameters.items()} == {
        n: (p.value, p.bounds) for n, p in m.parameters.items()
    }
    from kempe.simulation.posing import Posed

    rng = np.random.default_rng(0)
    for change in ({}, {"rod length": 1.9, "lambda": 0.45}):
        one, two = Posed(m, change), Posed(again, change)
        assert one.system.names == two.system.names
        assert [r.label for r in one.system.rows] == [r.label for r in two.system.rows]
        assert np.array_equal(one.drawn, two.drawn)
        for t in (0.0, 1.7):
            q, v = rng.normal(size=(2, one.system.n))
            for a, b in zip(one.linear(q, t), two.linear(q, t), strict=True):
                assert np.abs(a - b).max() < 1e-13
            assert np.abs(one.gamma(q, t, v) - two.gamma(q, t, v)).max() < 1e-11
            force, again_force = (p.system.generalised_force(p.x, q, t, v) for p in (one, two))
            assert np.abs(force).max() > 1 and np.abs(force - again_force).max() < 1e-12 * np.abs(force).max()
        mass = [p.system.mass_matrix(p.x, q) for p in (one, two)]
        assert np.array_equal(*mass)


def test_equations_survive_a_round_trip(tmp_path):
    e = kp.Equations(
        "swing", {"a": 0.3, "b c": -0.2}, parameters={"m": 2.0, "rod length": 0.7},
        constraints=lambda q, t, p: {"loop": q[0] ** 2 - p.m * q[1] - kp.sin(t)},
        mass=lambda q, p: [[p.m, kp.cos(q.a)], [kp.cos(q.a), p[1] ** 2]],
        force=lambda q, v, t, p: [-p.m * 9.81 * kp.sin(q.a) - v[1], v.a * t],
    )  # fmt: skip
    e.save(tmp_path / "e.kempe.yaml")
    again = kp.load(tmp_path / "e.kempe.yaml")
    from kempe.simulation.posing import Posed

    one, two = Posed(e), Posed(again)
    q, v = np.array([0.4, -1.1]), np.array([0.3, 2.0])
    assert np.array_equal(one.Phi(q, 0.7), two.Phi(q, 0.7))
    assert np.array_equal(one.system.mass_matrix(one.x, q), two.system.mass_matrix(two.x, q))
    assert np.array_equal(*[p.system.generalised_force(p.x, q, 0.7, v) for p in (one, two)])


BROKEN = """\
kempe: 1
name: broken
parameters:
  L: 1.0
model:
- body: {name: crank, at: [0, zero]}
- body: {name: rod, mass: -1, inertia: 1}
- revolute: {name: A, i: nowhere, j: crank, at: [0, 0]}
- revolute: {name: A2, i: ground, j: crank, at: [0, 0]}
- revolute: {name: B, i: ground, j: ground, at: [0, 0]}
- driver: {name: motor, quantity: L.angle, motion: sin(x)}
"""


def test_all_mistakes_are_shown_at_once_with_their_lines(tmp_path):
    path = tmp_path / "broken.kempe.yaml"
    path.write_text(BROKEN)
    with pytest.raises(kp.ModelError) as caught:
        kp.load(path)
    lines = [f.split(": ")[0].rsplit(":", 1)[1] for f in caught.value.findings]
    assert lines == ["6", "7", "8", "10", "11"]  # line 9 follows from line 6
    for finding, word in zip(caught.value.findings, ["'zero'", "'rod'", "'nowhere'", "'ground'", "'L'"], strict=True):
        assert word in finding


SLOPPY = """\
kempe: 1
name: sloppy
model:
- body: {name: crank, angel: 0.1}
- revolut: {name: O, i: ground, j: crank, at: [0, 0]}
- revolute: {name: P, i: ground, j: crank, at: [0, 0]}
- revolute: {name: Q, i: ground, j: nowhere, at: [0, 0]}
- weld: {name: R, i: ground, j: rod}
- body: {name: rod, mass: 1, inertia: 0}
analyses:
- kinematics: {times: soon}
"""


def test_form_and_content_are_judged_together():
    with pytest.raises(kp.ModelError) as caught:
        files.read_text(SLOPPY, "x.yaml")
    found = {int(f.split(":")[1]): f for f in caught.value.findings}
    assert sorted(found) == [4, 5, 7, 8, 9, 11]  # line 6 follows from line 4
    assert "body 'crank': angel is not known here; did you mean angle?" in found[4]
    assert "did you mean revolute?" in found[5]
    assert "'nowhere'" in found[7] and "inertia must be above zero" in found[9]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "begins with 'kempe: 1'"),
        ("kempe: 2\nname: x", "says 'kempe: 1'"),
        ("kempe: 1", "name is missing"),
        ("kempe: 1\nname: x\nmodell: []", ":3: modell is not known here"),
        ("kempe: 1\nname: x\nmodel:\n- body: {name: a, at: [1]}", ":4: .*two numbers"),
        ("kempe: 1\nname: x\nmodel:\n- body: {name: a}\n  point: {name: b}", ":4: .*exactly one key"),
        ("kempe: 1\nname: x\nname: y", ":3: 'name' is given twice"),
        ("kempe: 1\nname: [", "x.yaml:"),
        ("kempe: 1\nname: !!python/object/apply:os.system [ls]", "x.yaml"),
        ("kempe: 1\nname: &a [*a]", "nested|text|begins|while"),
        ("a: " + "[" * 100 + "]" * 100, "nested|begins"),
        ("kempe: 1\nname: x\nmodel:\n- body: {name: a, angle: 1e400}", "finite|number"),
        ("kempe: 1\nname: x\nmodel:\n- driver: {name: d, quantity: {length: [a, b]}, motion: 1}", ":4: .*crank.angle"),
    ],
)
def test_mistakes_in_files_are_explained(text, says):
    with pytest.raises(kp.ModelError, match=says):
        files.build(files.read_text(text, "x.yaml"), kp.Mechanism, kp.Equations)


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(kp.ModelError, match="No such file"):
        kp.load(tmp_path / "nothing.yaml")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(kp.ModelError, match="UTF-8"):
        kp.load(tmp_path / "binary")
