"""Quantities of one's own, shaking forces, results that stay what they were, and events by name."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import kempe as kp


def press() -> kp.Mechanism:
    """A slider-crank with all there is to measure."""
    m = kp.Mechanism("press", gravity=(0, -9.81))
    L = m.parameter("rod length", 2.0, bounds=(1.5, 3.0))
    crank = m.body("crank", 2.0, 0.4, at=(0.5, 0))
    rod = m.body("rod", 1.5 * L, 0.5 * L**3 / 4, at=(2.0, 0))
    slider = m.body("slider", 3.0, 0.1, at=(3, 0))
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-0.5, 0))
    m.revolute("A", crank, rod, on_i=(0.5, 0), on_j=(-L / 2, 0))
    m.revolute("B", rod, slider, on_i=(L / 2, 0), on_j=(0, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0), on_i=(0, 0))
    m.spring("coil", m.ground, slider, stiffness=40.0, length=1.0, on_i=(5.0, 0.0))
    return m


def test_a_measure_is_in_every_analysis() -> None:
    m = press()
    crank, slider = m["crank"], m["slider"]
    m.measure("gap", kp.distance(crank, slider))
    m.measure("power", lambda b: 40.0 * b.vx * b.omega, crank)
    m.measure("late", lambda b, t: b.x + t, slider)
    m.measure("long", "{rod length} * gap + t")
    m.measure("pull", "coil.force / O.force.x")
    m.driver("motor", crank.angle, kp.constant_speed(2.0))
    for res in (m.kinematics(1.0, steps=7), m.simulate(1.0, steps=7), m.inverse_dynamics(1.0, steps=7)):
        x = [res.array(n) for n in ("slider.x", "crank.x", "slider.y", "crank.y")]
        assert np.allclose(res["gap"], np.hypot(x[0] - x[1], x[2] - x[3]), rtol=1e-15)
        assert np.array_equal(res["power"], 40.0 * res.array("crank.vx") * res.array("crank.omega"))
        assert np.array_equal(res["late"], x[0] + res.t)
        assert np.array_equal(res["long"], 2.0 * res.array("gap") + res.t)
        known = res.provenance["analysis"] != "kinematics"
        assert ("pull" in res) is known
        if known:
            assert np.array_equal(res["pull"], res.array("coil.force") / res.array("O.force.x"))
        else:
            with pytest.raises(kp.ModelError, match=r"'pull' is made of 'O.force.x'"):
                res["pull"]
    runs = kp.run_many(m, {"rod length": [1.8, 2.2]}, ["long", "pull"], 1.0, steps=7)
    for k, value in enumerate((1.8, 2.2)):
        one = m.simulate(1.0, steps=7, parameters={"rod length": value})
        assert np.array_equal(runs["long"][k], one.array("long")) and np.array_equal(runs["pull"][k], one.array("pull"))


def test_measures_are_in_files(tmp_path) -> None:
    m = press()
    m.measure("gap", kp.distance(m["crank"], m["slider"].at((0.1, 0.2))))
    m.measure("swing", lambda a, b: a.omega - b.omega + a.velocity((1, 0))[1], m["crank"], m["rod"])
    m.measure("pull", "coil.force / B.force + gap")
    again = kp.load(m.save(tmp_path / "m.kempe.yaml"))
    one, two = m.simulate(0.5, steps=9), again.simulate(0.5, steps=9)
    assert one.names == two.names and list(again.measures) == ["gap", "swing", "pull"]
    assert all(np.array_equal(one.array(name), two.array(name)) for name in one)
    eq = kp.Equations("fall", ["x"], mass=lambda q, p: [[1.0]], force=lambda q, v, t, p: [-q.x])
    eq.measure("twice", "2 * x + x.v")
    back = kp.load(eq.save(tmp_path / "e.kempe.yaml"))
    assert np.array_equal(back.simulate(1.0)["twice"], eq.simulate(1.0)["twice"])


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("slidr.x", "did you mean 'slider.x'"),
        ("slider.x +", "not an expression"),
        (lambda b: [b.x, b.y], "one number, not 2"),
        (lambda a, b, c: a.x, r"yours takes .a, b, c."),
        (3.0, "measure 'new'"),
        ("nothing", "no quantity 'nothing'"),
    ],
)
def test_a_wrong_measure_is_told_at_once(what, says) -> None:
    m = press()
    with pytest.raises(kp.ModelError, match=says):
        m.measure("new", what, *([m["slider"]] if callable(what) else []))
    assert "new" not in m.measures
    with pytest.raises(kp.ModelError, match="already taken"):
        m.measure("slider", "slider.x")
    with pytest.raises(kp.ModelError, match="is not of"):
        m.measure("foreign", kp.Mechanism("other").body("b", 1, 1).x)


def test_a_quantity_is_defined_after_the_fact(tmp_path) -> None:
    res = press().simulate(0.5, steps=9)
    res.define("advantage", "B.force / O.force")
    res.define("double", lambda r: 2 * r["advantage"])
    res.define("given", res.t**2)
    res.define("scaled", "{rod length} * double + sin(t)")
    assert np.array_equal(res["double"], 2 * res.array("B.force") / res.array("O.force"))
    assert np.allclose(res["scaled"], 2.0 * res.array("double") + np.sin(res.t), rtol=1e-15)
    for again in (kp.Result.load(res.save(tmp_path / "r.nc")), pickle.loads(pickle.dumps(res)), copy.deepcopy(res)):
        assert again.names == res.names and dict(again).keys() == dict(res).keys()
        assert all(np.array_equal(again.array(name), res.array(name)) for name in res)
    for name, what, says in (
        ("B", "1", ""),
        ("double", "1", "already"),
        ("x", "B.forc", "did you mean 'B.force'"),
        ("x", [1.0], "one number for each"),
        ("x.y", "1", "dot"),
    ):
        if says:
            with pytest.raises(kp.ModelError, match=says):
                res.define(name, what)
    with pytest.warns(kp.AccuracyWarning, match="'one over' is not finite at 1 of 10 times, first at t = 0"):
        res.define("one over", "1 / t")


def test_the_shaking_force_is_the_rate_of_momentum() -> None:
    """Against momentum differentiated by hand, for bodies, points with mass and bars."""
    m = press()
    p, q = m.point("p", at=(0, 3), fixed="xy"), m.point("q", at=(1, 3), mass=0.7)
    m.bar("arm", p, q, mass=1.2, centre=(0.4, 0.0), inertia=0.3)
    res = m.simulate(1.0, steps=20, velocities={"crank.omega": 3.0, "q.vy": 1.0})
    masses = {"crank": (2.0, 0.4), "rod": (3.0, 1.0), "slider": (3.0, 0.1), "q": (0.7, 0.0)}
    force, moment = np.zeros((len(res), 2)), np.zeros(len(res))
    for name, (mass, inertia) in masses.items():
        x, y, ax, ay = (res.array(f"{name}.{c}") for c in ("x", "y", "ax", "ay"))
        force -= mass * np.column_stack([ax, ay])
        moment -= mass * (x * ay - y * ax) + (inertia * res.array(f"{name}.alpha") if inertia else 0.0)
    arm = res.point("arm", (0.4, 0.0))
    turn = np.arctan2(res.array("q.y") - 3, res.array("q.x"))
    u = np.column_stack([np.cos(turn), np.sin(turn)])
    alpha = u[:, 0] * res.array("q.ay") - u[:, 1] * res.array("q.ax")
    force -= 1.2 * arm.acceleration
    moment -= 1.2 * (arm.x * arm.acceleration[:, 1] - arm.y * arm.acceleration[:, 0]) + 0.3 * alpha
    assert np.allclose(np.column_stack([res["ground.shaking.x"], res["ground.shaking.y"]]), force, atol=1e-10)
    assert np.allclose(res["ground.shaking.moment"], moment, atol=1e-10)
    assert np.allclose(res["ground.shaking"], np.hypot(*force.T), atol=1e-10)


def test_a_result_stays_what_it_was(tmp_path) -> None:
    m = press()
    m.measure("gap", kp.distance(m["crank"], m["slider"]))
    res = m.simulate(0.5, steps=5)
    untouched = {name: values.values.copy() for name, values in dict(m.simulate(0.5, steps=5)).items()}
    lazy = m.simulate(0.5, steps=5)
    m.gravity = (1.0, 0.0)
    m.set({"rod length": 2.5})
    m.spring("more", m.ground, m["rod"], stiffness=10.0)
    m.body("stranger", 1.0, 1.0)
    m.measure("late", "slider.x")
    m.name = "another"
    for each in (res, lazy, pickle.loads(pickle.dumps(lazy)), kp.Result.load(lazy.save(tmp_path / "r.nc"))):
        assert dict(each).keys() == untouched.keys()
        assert all(np.array_equal(each.array(name), values) for name, values in untouched.items())
        assert np.array_equal(each.reaction("guide", on="ground").force, -each.reaction("guide").force)
        assert each.model.name == "press" and "more" not in each.model.elements
        assert each.point("rod", (0.1, 0)).x.shape == res.t.shape
    # what was loaded or sent elsewhere moves as it did
    again = pickle.loads(pickle.dumps(res)).model.simulate(0.5, steps=5)
    assert np.array_equal(again.q, res.q)


def test_names_work_as_in_a_dictionary() -> None:
    m = press()
    res, pose = m.simulate(0.5, steps=5), m.assemble()
    assert "slider.x" in res and "slider.z" not in res and list(res) == res.names
    assert {**res}["slider.x"].identical(res["slider.x"])
    assert "slider.x" in pose and list(pose)[:2] == ["crank.x", "crank.y"]
    runs = kp.run_many(m, {"rod length": [2.0]}, ["slider.x"], 0.5)
    assert "slider.x" in runs and "rod length" in runs and list(runs) == ["rod length", "slider.x"]


def test_events_have_the_state_by_name(tmp_path) -> None:
    m = kp.Mechanism("ball", gravity=(0, -9.81))
    ball = m.body("ball", 1.0, 0.1, at=(0, 1.0))
    m.bump_stop("floor", ball.y, 0.0, 1e5)
    res = m.simulate(2.0)
    assert res.events and res.events[0]["ball.y"] == pytest.approx(0.0, abs=1e-9)
    assert res.events[0]["ball.vy"] == pytest.approx(-np.sqrt(2 * 9.81), rel=1e-9)
    assert res.events[0].values.keys() == {"ball.x", "ball.y", "ball.angle"} and "ball.vx" in res.events[0]
    with pytest.raises(kp.ModelError, match=r"did you mean 'ball.vy'"):
        res.events[0]["ball.vvy"]
    for again in (kp.Result.load(res.save(tmp_path / "r.nc")), pickle.loads(pickle.dumps(res))):
        assert again.events == res.events
        assert all(np.array_equal(a.v, b.v) for a, b in zip(again.events, res.events, strict=True))
