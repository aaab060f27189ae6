"""Model files of mechanisms in space: every builder verb written and read back to the last bit, and mistakes told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import kempe as kp
from kempe.model.files import read_text
from kempe.model.schema import json_schema, verbs
from kempe.running import run_file

ROUND = (0.1, 0.12, 0.15)


def _empty(name: str) -> kp.SpatialMechanism:
    m = kp.Mechanism(name, dim=3, gravity=(0, 0.1, -9.81), units="m, kg, s")
    m.parameter("L", 0.5, bounds=(0.1, 2.0))
    m.parameter("tilt", 0.2)
    return m


def _body(m: kp.SpatialMechanism, name: str, *at: float, **more) -> kp.elements.SpatialBody:
    return m.body(name, mass=1.0, inertia=ROUND, at=at, **more)


def rotations() -> kp.SpatialMechanism:
    """Bodies that are turned in every way that can be said, and markers on them."""
    m = _empty("rotations")
    L, tilt = m.parameters["L"], m.parameters["tilt"]
    turns = [
        kp.Rotation.euler("ZXZ", (0.1, tilt, 0.3)),
        kp.Rotation.euler("xyz", (0.4, -0.2, L)),
        kp.Rotation.about((1, 1, 0), tilt) @ kp.Rotation.about("z", 0.3),
        kp.Rotation.quaternion((1, tilt, 0.2, -0.3)),
        kp.Rotation(kp.Rotation.about((1, 2, 3), 0.7).matrix),
        np.array(kp.Rotation.about("x", 0.3).matrix),
        {"euler": "XYZ", "angles": [0.1, L, 0.3]},
        {"axis": [0, 1, 1], "angle": tilt},
        {"axis": "y", "angle": 0.3},
    ]
    inertia = [[0.2, 0.01 * L, 0], [0.01 * L, 0.2, 0.02], [0, 0.02, 0.3]]
    before = m.ground
    for k, turn in enumerate(turns):
        body = m.body(f"b{k}", mass=1 + L, inertia=inertia, at=(k + 1.0, 0.2 * k, L), rotation=turn)
        here = body.on((-0.5, 0.1, L), rotation=kp.Rotation.about((0, 1, 2), tilt))
        m.spherical(f"S{k}", before, here)
        before = body.at_world((k + 1.5, 0.2, 0.1), axis=(1, 0, 1))
    return m


def joints() -> kp.SpatialMechanism:
    m = _empty("joints")
    a, b, c, d, e, f, g, h, i, j = (_body(m, name, 0.5 + k, 0.1 * k, 0.2) for k, name in enumerate("abcdefghij"))
    R = m.revolute("R", m.ground, a, at=(0, 0, 0.2), axis=(0, 1, 1), friction=0.1, radius=0.02)
    C = m.cylindrical("C", a, b, at=(1.0, 0, 0.2), axis=(1, 0, 0))
    m.universal("U", b, c, at=(2, 0.2, 0.2), axis_i=(0, 1, 0), axis_j=(0, 0, 1))
    m.spherical("S", c, d, at=(3, 0.3, 0.2))
    m.planar("F", m.ground, d, at=(3.2, 0, 0), axis=(0, 0, 1))
    m.weld("W", d, e)
    P = m.prismatic("P", e, f, axis=(1, 0, 0.2))
    m.screw("H", f, g, axis=(0, 0, 1), pitch=0.01)
    m.point_on_line("PL", m.ground, h, at=(7.5, 0.7, 0.2), axis=(1, 0, 0))
    m.point_on_plane("PP", m.ground, i, axis=(0, 1, 1))
    m.link("L1", h, i, on_i=(0.1, 0, 0), on_j=(0, 0.1, 0))
    T = m.revolute("T", m.ground, j, at=(9.2, 0.9, 0.2), axis=(0, 0, 1))
    m.gear("G", R, T, ratio=-2.0)
    m.coupler("K", [(1.0, P.displacement), (0.5, f.z)], constant=-0.1)
    m.angle("turns", C)
    own = m.coordinate("own", 0.1)
    m.constraint("mine", lambda s, x: s - x.z * 0.5, own, h)
    m.driver("motor", T.angle, kp.harmonic(0.2, 3.0))
    m.stop("limit", C.displacement, -0.5, restitution=0.5)
    m.friction("brake", C.angle, friction=0.2, normal=3.0)
    m.event("level", a.z, 0.1, direction="falling")
    m.measure("height", lambda x: x.z * 2, b)
    return m


def forces() -> kp.SpatialMechanism:
    m = _empty("forces")
    L = m.parameters["L"]
    a, b = _body(m, "a", 0.5, 0, 0), _body(m, "b", 1.5, 0, 0, rotation=kp.Rotation.about("z", 0.2))
    R = m.revolute("R", m.ground, a, at=(0, 0, 0), axis=(0, 1, 0))
    m.torsion_spring("coil", R, stiffness=3.0, damping=0.1, angle=0.1)
    m.torsion_spring("wire", a, b, axis=(1, 0, 0), stiffness=3 * L)
    m.joint_spring("joint", R.angle, stiffness=2.0, rest=0.1, damping=L)
    m.armature("rotor", R.angle, 0.3)
    m.spring("k", m.ground, b, on_i=(5, 5, 0), stiffness=10.0, law=lambda s, rate: 3 * s**3 + rate)
    m.bushing("soft", a, b, stiffness=(1, 2, 3), torsion=0.1, damping=0.1, axis=(1, 0, 0))
    m.bushing("matrix", a, b, stiffness=(np.eye(6) + 0.1).tolist())
    m.force("push", b, (0, 1.0, lambda t: kp.sin(t)), on=(0.1, 0, 0), frame="body")
    m.torque("twist", b, (0, L, lambda t: t), reaction=a)
    m.bump_stop("bump", b.z, -0.2, 1e3, damping=2.0)
    m.impulse("kick", b, 0.05, force=(0, 0.1, 0), torque=(0, 0, 0.01))
    m.user_force("air", lambda x, t: (-0.1 * x.vx, 0, 0.1 * kp.cos(t), 0, 0, -0.01 * x.omega[2]), b)
    return m


def natural() -> kp.SpatialMechanism:
    m = _empty("points and vectors")
    p, q = m.point("p", at=(0, 0, 2), fixed="xyz"), m.point("q", at=(0, 1, 2), mass=0.3)
    r, n = m.point("r", at=(1, 1, 2), mass=0.2), m.vector("n", along=(0, 0, 1))
    m.bar("pq", p, q, mass=0.5)
    m.solid("plate", q, r, n, mass=1.0, centre=(0.5, 0, 0), inertia=ROUND)
    m.point_driver("lead", r, lambda t: 1 + 0.1 * kp.sin(t), 1.0, 2.0)
    return m


MECHANISMS: dict[str, Callable[[], kp.SpatialMechanism]] = {
    made.__name__: made for made in (rotations, joints, forces, natural)
}
#: What only another verb makes, or what needs a module of one's own.
ELSEWHERE = {"add"}


def test_every_verb_of_space_is_among_the_mechanisms():
    said = {verb for make in MECHANISMS.values() for verb, _ in make().recipe}
    assert said >= set(verbs(3)) - ELSEWHERE


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_file_says_the_same_when_it_is_read_and_written_again(name, tmp_path):
    m = MECHANISMS[name]()
    first, second = m.save(tmp_path / "a.kempe.yaml"), tmp_path / "b.kempe.yaml"
    read = kp.load(first)
    assert isinstance(read, kp.SpatialMechanism)
    read.save(second)
    assert first.read_text() == second.read_text()
    assert "dim: 3" in first.read_text().splitlines()


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_model_that_was_read_moves_the_same_to_the_last_bit(name, tmp_path):
    m = MECHANISMS[name]()
    read = kp.load(m.save(tmp_path / "a.kempe.yaml"))
    one, other = (model.simulate(0.1, steps=4) for model in (m, read))
    assert one.names == other.names
    assert [n for n in one if not np.array_equal(one.array(n), other.array(n), equal_nan=True)] == []
    assert one.events == other.events


HEAD = "kempe: 1\nname: m\ndim: 3\nmodel:\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("- body: {name: b, at: [1, 2]}", 5, "body 'b': at must be a list of three numbers"),
        ("- body: {name: b, rotation: {angle: 1}}", 5, "rotation must be a matrix of three rows, or one of {axis"),
        ("- body: {name: b, rotation: {euler: ZZX, angles: [1, 2, 3]}}", 5, "Euler angles are named by their axes"),
        ("- body: {name: b, rotation: {axis: [0, 0, 0], angle: 1}}", 5, "axis must not be the zero vector"),
        ("- body: {name: b, rotaton: 3}", 5, "is not known here; did you mean rotation"),
        ("- body: {name: b, angle: 3}", 5, "is not known here"),
        ("- translational: {name: b}", 5, "it is of planar mechanisms"),
        ("- body: {name: b}\n- revolute: {name: R, i: ground, j: b, at: [0, 0, 0]}", 6, "say how its axis is"),
        ("- body: {name: b}\n- spherical: {name: S, i: ground, j: {on: b, point: [0, 0]}}", 6, "list of three numbers"),
        ("- body: {name: b}\n- spherical: {name: S, i: ground, j: bb}", 6, "there is no part 'bb'; did you mean 'b'?"),
        ("- torsion_spring: {name: T, i: R, stiffness: 1}", 5, "there is no part 'R'"),
        ("- gear: {name: G, i: R, j: S, ratio: 2}", 5, "there is no joint 'R'"),
    ],
)
def test_mistakes_are_told_with_their_line(text, line, words, tmp_path):
    with pytest.raises(kp.ModelError) as error:
        kp.load(_file(tmp_path, HEAD + text))
    assert f":{line}: " in str(error.value) and words in str(error.value), str(error.value)


def _file(folder: Path, text: str) -> Path:
    path = folder / "m.kempe.yaml"
    path.write_text(text)
    return path


def test_a_planar_file_is_told_of_space(tmp_path):
    with pytest.raises(kp.ModelError, match="it is of mechanisms in space, which say dim: 3"):
        read_text("kempe: 1\nname: m\nmodel:\n- spherical: {name: S, i: ground, j: b}\n")
    with pytest.raises(kp.ModelError, match=r"m\.yaml:3: dim is 2, for a planar mechanism, or 3, not 4"):
        read_text("kempe: 1\nname: m\ndim: 4\n", "m.yaml")
    with pytest.raises(kp.ModelError, match="leave dim out"):
        kp.load(
            _file(tmp_path, "kempe: 1\nname: m\ndim: 3\nequations: {coordinates: {x: 0}, constraints: {a: x - t}}\n")
        )


def test_the_schema_has_both():
    schema = json_schema()
    assert {"revolute", "revolute_in_space", "solid_in_space"} <= set(schema["$defs"])
    assert [option["$ref"] for option in schema["anyOf"]] == ["#/$defs/KempeModel", "#/$defs/KempeModelInSpace"]
    at = schema["$defs"]["body_in_space"]["properties"]["at"]
    assert at["anyOf"][0]["minItems"] == 3 if "anyOf" in at else at["minItems"] == 3
    json.dumps(schema)


def test_the_example_of_the_documentation_runs(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
    start = page.index("    kempe: 1\n    name: gyroscope")
    block = page[start : page.index("\nA rotation is", start)]
    path = _file(tmp_path, "\n".join(line[4:] for line in block.splitlines()))
    run = run_file(path, tmp_path / "out", progress=False)[0]
    spin = run.result["top.omega.3"]
    np.testing.assert_allclose(spin, 100.0, rtol=1e-6)  # no torque acts about the axis of the top
