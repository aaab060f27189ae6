"""What broke results once: gravity after a rename, shared parameters, names that are constants, tables in measures."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import kempe as kp


def pendulum() -> kp.Mechanism:
    m = kp.Mechanism("pendulum", gravity=(0, -9.81))
    k = m.parameter("k", 10.0)
    a, b = m.point("a", at=(0, 0), fixed="xy"), m.point("b", at=(1, 0), mass=1.0)
    m.bar("bar", a, b, mass=2.0)
    m.spring("coil", m.ground, b, on_i=(0, 3), stiffness=k, length=1.0)
    return m


@pytest.mark.parametrize("touch", ["rename", "measure", "parameter", "body", "nothing"])
def test_gravity_never_reaches_into_a_result(touch, tmp_path) -> None:
    m = pendulum()
    first, runs = m.simulate(0.5, steps=5), m.run_many({"k": [5.0, 10.0]}, "all", 0.5, steps=5)
    rest, force = m.equilibrium(), first.array("bar.force.y").copy()
    again = m.simulate(0.5, steps=5)
    if touch == "rename":
        m.name = "other"
    elif touch == "measure":
        m.measure("twice", "b.x * 2")
    elif touch == "parameter":
        m.parameter("g", -3.0)
    elif touch == "body":
        m.body("more", 1.0, 1.0)
    m.gravity = (0, m["g"]) if touch == "parameter" else (0, 0)
    for res in (first, again, runs.result(1)):
        saved = kp.Result.load(res.save(tmp_path / "r.nc"))
        for one in (res, pickle.loads(pickle.dumps(res)), copy.deepcopy(res), copy.copy(res), saved):
            assert one.model.gravity == (0.0, -9.81)
            assert np.array_equal(one.array("bar.force.y"), force)
            assert np.array_equal(kp.simulate(one.model, 0.5, steps=5).q, first.q)
    assert pickle.loads(pickle.dumps(runs)).result(1).model.gravity == (0.0, -9.81)
    assert pickle.loads(pickle.dumps(rest)).result().model.gravity == (0.0, -9.81)


def test_parameters_of_a_result_are_its_own() -> None:
    m = pendulum()
    res = m.simulate(0.5, steps=5, parameters={"k": 20.0})
    m.set(k=99.0)
    copy.copy(res)
    assert m["k"].value == 99.0 and res.model["k"].value == 20.0
    assert np.array_equal(res.model.simulate(0.5, steps=5).q, res.q)
    res.model.set(k=5.0)
    assert m["k"].value == 99.0


@pytest.mark.parametrize("name", ["e", "pi", "sin", "_1", "if", "größe"])
def test_names_that_mean_something_else_come_back(name, tmp_path) -> None:
    m = kp.Mechanism("m")
    q = m.coordinate(name, 0.3)
    m.body("b", mass=1, inertia=1)
    m.driver("d", q, kp.constant_speed(2.0))
    m.measure("one", q)
    m.measure("two", f"{{{name}}} * 2 + {{one}}")
    res = m.simulate(0.4, steps=2)
    assert np.allclose(res["two"], 3 * res.array(name), rtol=1e-15)
    assert kp.Result.load(res.save(tmp_path / "r.nc")).names == res.names
    assert np.array_equal(kp.load(m.save(tmp_path / "m.kempe.yaml")).simulate(0.4, steps=2)["two"], res["two"])
    with pytest.raises(kp.ModelError, match="cannot be called 't'"):
        m.measure("t", "b.x")


def test_a_measure_beyond_its_table_says_so() -> None:
    T = kp.table([0, 1, 2], [0, 1.0, 4.0], name="T")
    m = kp.Mechanism("x")
    b = m.body("b", mass=1, inertia=1)
    m.force("f", b, (2.0, 0))
    m.measure("mt", "{T}(b.x)", T)
    res = m.simulate(2.0, steps=4)
    with pytest.warns(kp.AccuracyWarning) as told:
        values = res.array("mt")
    assert np.array_equal(np.isnan(values), res.array("b.x") > 2)
    assert "table 'T' is read at 2.25; its data go from 0 to 2, first at t = 1.5" in str(told[0].message)


def test_measures_know_what_they_are_where_that_is_known() -> None:
    m = kp.Mechanism("x", units="m, kg, s")
    b = m.body("b", 1, 1)
    m.revolute("O", m.ground, b, on_i=(0, 0), on_j=(-1, 0))
    m.measure("turn", m["O"].angle)
    m.measure("far", kp.distance(m.ground, b))
    m.measure("load", "O.force")
    m.measure("angle", "1000 * b.x")
    res = m.simulate(0.1)
    assert [res.unit(n) for n in ("turn", "far", "load", "angle")] == ["rad", "m", "N", ""]
    for wrong, meant in (("b.angel", "b.angle"), ("O.frce", "O.force")):
        with pytest.raises(kp.ModelError, match=f"did you mean '{meant}'"):
            m.measure("new", wrong)


def test_a_design_that_an_event_stopped_says_so() -> None:
    m = kp.Mechanism("fall", gravity=(0, -9.81))
    p = m.point("p", at=(0, 1), mass=m.parameter("M", 1.0), fixed="x")
    m.event("low", p.y, 0.5, stop=True)
    one, other = m.simulate(1.0, steps=10), m.run_many({"M": [1.0, 2.0]}, "all", 1.0, steps=10)
    assert (other.result(0).status, other.result(0).message) == (one.status, one.message)
    assert one.message == "'low' at t = 0.3192754284: falls past its value" and list(other.stopped) == [0, 1]


def test_far_targets_and_empty_results(tmp_path) -> None:
    m = kp.Mechanism("far")
    b = m.body("piston", mass=1, inertia=1)
    g = m.translational("g", m.ground, b, axis=(1, 0), at=(0, 0))
    m.driver("d", g.displacement, kp.spline([0, 1, 2], [250.0, 300.0, 250.0]))
    res = m.kinematics(1.0, steps=2)
    assert np.allclose(res["piston.x"], [250, 287.5, 300], rtol=1e-14)
    none = replace(res, t=res.t[:0], q=res.q[:0], v=res.v[:0], a=res.a[:0])
    assert len(kp.Result.load(none.save(tmp_path / "none.nc"))) == 0


def test_a_cam_with_a_measured_profile_is_drawn(tmp_path) -> None:
    lift = kp.table([0, 1, 2, 3, 2 * np.pi], [0, 0.01, 0.02, 0.01, 0], periodic=True)
    m = kp.Mechanism("cam")
    cam, f = m.body("cam", mass=1, inertia=1), m.body("f", mass=1, inertia=1, at=(0, 0.12))
    m.revolute("O", m.ground, cam, at=(0, 0))
    m.translational("g", m.ground, f, axis=(0, 1), at=(0, 0))
    m.cam_roller("c", cam, f, profile=kp.polar(lambda s: 0.1 + lift(s)), radius=0.01)
    m.driver("d", cam.angle, kp.constant_speed(1.0))
    res = m.kinematics(1.0, steps=4)
    assert res.report(tmp_path / "r.html").exists() and m.draw() is not None


def test_an_equilibrium_answers_for_all_a_result_has() -> None:
    m = kp.Mechanism("y", gravity=(0, -9.81))
    b = m.body("b", 1, 1, at=(0.5, 0))
    m.revolute("O", m.ground, b, at=(0, 0))
    m.torsion_spring("s", m.ground, b, stiffness=50.0)
    m.measure("droop", "-b.y")
    rest = m.equilibrium()
    assert rest["O.force"] == pytest.approx(9.81) and rest["droop"] == -rest["b.y"]
    assert rest["s.torque"] == pytest.approx(-9.81 * rest["b.x"])
