"""Units are labels: they follow from each other, must fit together, travel with everything, and change no number."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import kempe as kp
from kempe.elements.kinds import KINDS
from kempe.model.units import _KNOWN, Units, _parsed
from kempe.simulation.posing import Posed


def engine(units=None):
    """A machine that shows every kind of quantity."""
    m = kp.Mechanism("engine", gravity=(0, -9.81), units=units)
    crank = m.body("crank", mass=0.5, inertia=0.01, at=(0.05, 0))
    rod = m.body("rod", mass=0.3, inertia=0.005, at=(0.2, 0))
    slider = m.body("slider", mass=0.4, inertia=0.001, at=(0.3, 0))
    m.revolute("O", m.ground, crank, at=(0, 0))
    m.revolute("A", crank, rod, at=(0.1, 0))
    m.revolute("B", rod, slider, at=(0.3, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0))
    m.spring("coil", m.ground.at((0.6, 0)), slider, stiffness=100.0, damping=1.0)
    m.torsion_spring("clock", m.ground, crank, stiffness=0.1)
    m.bump_stop("wall", slider.x, 0.32, 1e4, side="above")
    m.bump_stop("catch", crank.angle, 9.0, 1e2, side="above")
    return m


EXPECTED = {
    "t": "s", "slider.x": "m", "rod.vy": "m/s", "rod.ay": "m/s^2", "crank.angle": "rad", "crank.omega": "rad/s",
    "crank.alpha": "rad/s^2", "B.force": "N", "B.force.x": "N", "B.moment": "N m", "guide.moment": "N m",
    "coil.length": "m", "coil.rate": "m/s", "coil.force": "N", "clock.angle": "rad", "clock.rate": "rad/s",
    "clock.torque": "N m", "wall.penetration": "m", "wall.force": "N", "catch.penetration": "rad", "catch.force": "N m",
    "energy.kinetic": "J", "energy.total": "J", "energy.balance": "J", "lambda.B.x": "N",
    "lambda.guide.rotation": "N m",
}  # fmt: skip


def test_every_quantity_has_its_unit():
    res = engine("m, kg, s").simulate(0.05)
    assert {name: res.unit(name) for name in EXPECTED} == EXPECTED
    assert not [name for name in res.names if not res.unit(name)]


def test_efforts_are_of_what_is_driven():
    m = kp.Mechanism("lift", units="mm, N, s")
    a, b = m.body("a", mass=1, inertia=1, at=(0, 0)), m.body("b", mass=1, inertia=1, at=(2, 0))
    m.driver("turn", a.angle, kp.constant_speed(1.0))
    m.driver("push", b.x, kp.constant_speed(1.0))
    m.driver("hold", kp.distance(m.ground.at((2, 5)), b), 5.0)
    m.point_driver("lead", a, 0.0, 0.0)
    res = m.simulate(0.1)
    units = {"turn.effort": "N mm", "push.effort": "N", "hold.effort": "N", "lead.effort.x": "N", "lead.effort.y": "N"}
    assert {name: res.unit(name) for name in units} == units


def test_units_change_no_digit():
    bare, labelled = engine().simulate(0.05), engine("mm, t, s").simulate(0.05)
    assert bare.names == labelled.names
    for name in bare.names:
        np.testing.assert_array_equal(bare.array(name), labelled.array(name))
    assert (bare.unit("B.force"), bare.unit("crank.angle"), labelled.unit("B.force")) == ("", "rad", "N")


@pytest.mark.parametrize(
    "base",
    [*itertools.product(("m", "mm", "km", "in", "ft"), ("kg", "g", "t", "slug", "N", "lbf"), ("s", "ms", "min"))],
)
def test_derived_units_are_coherent(base):
    """A label parsed back is exactly the product of the base units, whatever name it got."""
    units = Units(", ".join(base))
    size = {kind: _KNOWN[units.label(kind)][0] for kind in ("length", "time")}
    size["mass"] = _parsed(units.label("mass"))[0]
    for kind, powers in KINDS.items():
        parsed = _parsed(units.label(kind))
        assert parsed is not None and parsed[1] == powers, kind
        coherent = np.prod([size[b] ** p for b, p in zip(("length", "mass", "time"), powers, strict=True)])
        assert parsed[0] == pytest.approx(coherent, rel=1e-6), kind


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("m, kilo, s", "'kilo' is no unit"),
        ("m, kgg, s", "did you mean 'kg'"),
        ("m, mm, s", "'m' and 'mm' are both units of length"),
        ({"lenght": "m"}, "did you mean 'length'"),
        ({"length": "kg"}, "'kg' is no unit of length"),
        ({"length": "mm", "mass": "kg", "time": "s", "force": "N"}, "kg mm/s^2, which is 0.001 N"),
        ({"length": "mm", "force": "N", "moment": "N m"}, "N mm, which is 0.001 N m"),
        ({"length": "m", "time": "s", "velocity": "km/h"}, "which is 3.6 km/h"),
        ({"angle": "deg"}, "degrees=True"),
        (3, "units are like 'm, kg, s'"),
        ({"length": 3}, "not 3"),
        ("", "units are like"),
    ],
)
def test_units_that_cannot_be_are_refused(given, words):
    with pytest.raises(kp.ModelError) as caught:
        kp.Mechanism("press", units=given)
    assert words in str(caught.value)
    assert "press" in str(caught.value)


@pytest.mark.parametrize("given", ["m, kg, s", {"length": "mm", "force": "N", "time": "s"}, {"length": "furlong"}])
def test_units_travel(given, tmp_path):
    m = engine(given)
    again = kp.load(m.save(tmp_path / "engine.kempe.yaml"))
    for other in (again, copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert other.units == m.units
    res = m.simulate(0.01)
    loaded = kp.Result.load(res.save(tmp_path / "engine.nc"))
    m.units = "km, kg, h"  # a result keeps what held when it was made
    for other in (res, loaded, pickle.loads(pickle.dumps(res))):
        for name in ("t", *res.names):
            assert other.unit(name) == Units(given).label(res.kind(name))


def test_arrays_carry_their_units():
    res = engine("m, kg, s").simulate(0.01)
    assert res["B.force"].attrs == {"units": "N"}
    data = res.to_dataset()
    assert (data["slider.ax"].attrs["units"], data["t"].attrs["units"]) == ("m/s^2", "s")
    assert engine().simulate(0.01)["B.force"].attrs == {}


def test_mistaken_units_in_a_file_have_their_line(tmp_path):
    path = tmp_path / "bad.kempe.yaml"
    for text, words in (("[m]", "must be like m, kg, s"), ("{length: 3}", "must be like"), ("m, kilo", "no unit")):
        path.write_text(f"kempe: 1\nname: bad\nunits: {text}\nmodel:\n  - body: {{name: a}}\n")
        with pytest.raises(kp.ModelError, match=r"bad.kempe.yaml:3: .*" + words):
            kp.load(path)
    path.write_text("kempe: 1\nname: bad\nunits: m, kilo\nequations: {coordinates: {x: 1.0}}\n")
    with pytest.raises(kp.ModelError, match=r"bad.kempe.yaml:3: "):
        kp.load(path)


def test_an_element_of_ones_own_declares_what_it_shows():
    class Meter(kp.Element):
        def __init__(self, name, body):
            super().__init__(name, body=body)

        def outputs(self, x):
            return {"speed": x.d(x.body.x), "odd": x.body.x, "force": x.body.x}

        def output_kinds(self):
            return {"speed": "velocity"}

    m = kp.Mechanism("own", units="m, kg, s")
    m.add(Meter("meter", m.body("b", mass=1, inertia=1)))
    res = m.simulate(0.1, velocities={"b.vx": 1.0})
    assert [res.unit(f"meter.{n}") for n in ("speed", "odd", "force")] == ["m/s", "", "N"]
    with pytest.raises(kp.ModelError, match=r"meter\.speed"):
        res.unit("meter.sped")


def scaled(s):
    """Every element that says what its rows measure, drawn in a size of one's choice."""
    m = kp.Mechanism("sizes")
    a, b = m.body("a", at=(0.3 * s, 0.1 * s), angle=0.4), m.body("b", at=(1.1 * s, 0.7 * s), angle=-0.3)
    o, p, q = (m.point(n, (x * s, y * s)) for n, x, y in (("o", 0.2, -0.1), ("p", 0.6, 0.8), ("q", 1.7, 0.3)))
    first, second = m.bar("op", o, p), m.bar("pq", p, q)
    m.revolute("pin", a, b, at=(0.8 * s, 0.2 * s))
    m.translational("guide", a, b, axis=(1, 2))
    m.weld("weld", a, b, at=(0.7 * s, 0.3 * s))
    m.pin_in_slot("slot", a, b, axis=(1, 0.5), on_j=(0.1 * s, 0.2 * s))
    m.link("link", a, b, on_i=(0.1 * s, 0.0))
    m.gear("gear", a, b, ratio=-2.0)
    m.rack_and_pinion("rack", a, b, radius=0.3 * s)
    m.angle("turn", first, second)
    m.driver("motor", a.angle, kp.constant_speed(1.0))
    m.driver("ram", kp.distance(a, b), kp.constant_speed(1.0))
    m.point_driver("lead", b, 0.0, 0.0)
    return m


def test_rows_measure_what_they_say():
    """Rows of lengths grow with the drawing, rows of angles do not: so do their derivatives by either."""
    small, large = (Posed(scaled(s)) for s in (1.0, 3.0))
    J, K = (posed.linear(posed.drawn, 0.0)[1] for posed in (small, large))
    model = small.system.model
    columns = [kind for part in model.parts.values() for kind in part.kinds()]
    power = {"length": 1, "position": 1, "angle": 0}
    told = {f"{e.name}.{row}": kind for e in model.elements.values() for row, kind in e.row_kinds().items()}
    assert len(told) == 16
    for k, row in enumerate(small.system.rows):
        if row.label in told:
            factor = [3.0 ** (power[told[row.label]] - power[column]) for column in columns]
            np.testing.assert_allclose(K[k], J[k] * factor, atol=1e-12, err_msg=row.label)
            assert np.abs(J[k]).max() > 0.01


def test_shaking_forces_and_measures(tmp_path):
    m = engine("m, kg, s")
    m.measure("stroke", m["slider"].x)
    res = m.simulate(0.01, steps=4)
    units = {"": "N", ".x": "N", ".y": "N", ".moment": "N m"}
    assert {end: res.unit(f"ground.shaking{end}") for end in units} == units
    with pytest.warns(kp.AccuracyWarning):  # the spring is unloaded at the start
        res.define("ratio", "B.force / coil.force")
    assert [res.unit(name) for name in ("stroke", "ratio")] == ["m", ""]
    assert len(res.plot(["stroke", "ratio"]).axes) == 2  # what is not known to be alike shares no axes


def test_contact_with_a_curve_has_units():
    m = kp.Mechanism("ball", gravity=(0, -10.0), units="m, kg, s")
    ball = m.body("ball", mass=1.0, inertia=0.1, at=(0, 0.5))
    ground = kp.curve(lambda s: (s, 0.0 * s), span=(-3, 3))
    m.curve_contact("floor", m.ground, ball, curve=ground, stiffness=1e4)
    res = m.simulate(0.1, steps=4)
    assert (res.unit("floor.force"), res.unit("floor.penetration")) == ("N", "m")
