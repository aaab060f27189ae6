"""Wrong input: one clear ModelError in the user's names, when it is given, and the mechanism stays as it was."""

import math
import re
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
import pytest

import kempe as kp

Add = Callable[[kp.Mechanism], Any]
AddWith = Callable[[kp.Mechanism, Any], Any]


@pytest.fixture
def m() -> kp.Mechanism:
    """Two bodies, three points with a bar, a coordinate and a parameter."""
    m = kp.Mechanism("machine")
    m.body("a", at=(0.3, 0.1), angle=0.2)
    m.body("b", at=(1.0, 0.5))
    p, q = m.point("P", (0.0, 1.0)), m.point("Q", (1.0, 1.0))
    m.point("R", (2.0, 3.0))
    m.bar("PQ", p, q)
    m.coordinate("z", 0.5)
    m.parameter("L", 1.5, bounds=(1.0, 2.0))
    return m


OTHER = kp.Mechanism("other machine")
FOREIGN_BODY, FOREIGN_POINT, FOREIGN_NUMBER = OTHER.body("a"), OTHER.point("P"), OTHER.parameter("L", 2.0)
STRANGER = OTHER.body("stranger")


def circle() -> Any:
    return kp.polar(lambda s: 0.5 + 0 * s)


def content(m: kp.Mechanism) -> tuple:
    values = [(p.label, p.value, p.bounds) for p in m.parameters.values()]
    return m.version, dict(m.parts), dict(m.elements), values, dict(m._names)


def refused(m: kp.Mechanism, add: Add, says: str) -> None:
    """The addition raises one ModelError with these words in it, and nothing is left behind."""
    before = content(m)
    with pytest.raises(kp.ModelError, match=says) as caught:
        add(m)
    assert len(caught.value.findings) == 1 and "\n" not in str(caught.value)
    assert content(m) == before


# --- numbers ------------------------------------------------------------------------------------------------------

#: Every argument that is a number, and the name the message must contain.
NUMBERS: dict[str, tuple[AddWith, str]] = {
    "mass of a body": (lambda m, x: m.body("n", mass=x, inertia=1), "'n'"),
    "inertia of a body": (lambda m, x: m.body("n", mass=1, inertia=x), "'n'"),
    "place of a body": (lambda m, x: m.body("n", at=(0, x)), "'n'"),
    "angle of a body": (lambda m, x: m.body("n", angle=x), "'n'"),
    "place of a point": (lambda m, x: m.point("n", (x, 0)), "'n'"),
    "place of a fixed point": (lambda m, x: m.point("n", (x, 0), fixed="xy"), "'n'"),
    "start of a coordinate": (lambda m, x: m.coordinate("n", x), "'n'"),
    "length of a bar": (lambda m, x: m.bar("n", m["P"], m["R"], length=x), "'n'"),
    "mass of a bar": (lambda m, x: m.bar("n", m["P"], m["R"], mass=x), "'n'"),
    "centre of a bar": (lambda m, x: m.bar("n", m["P"], m["R"], mass=1, centre=(x, 0)), "'n'"),
    "inertia of a bar": (lambda m, x: m.bar("n", m["P"], m["R"], mass=1, inertia=x), "'n'"),
    "place on a plate": (lambda m, x: m.plate("n", m["P"], m["Q"], m["R"], places=[(0, x)]), "'n'"),
    "place of a joint": (lambda m, x: m.revolute("n", m["a"], m["b"], at=(0, x)), "'[an]'"),
    "place on the first part": (lambda m, x: m.revolute("n", m["a"], m["b"], on_i=(0, x)), "'[an]'"),
    "place on the second part": (lambda m, x: m.revolute("n", m["a"], m["b"], on_j=(0, x)), "'[bn]'"),
    "axis of a guide": (lambda m, x: m.translational("n", m["a"], m["b"], axis=(1, x)), "'[an]'"),
    "angle of a guide": (lambda m, x: m.translational("n", m["a"], m["b"], angle=x), "'n'"),
    "angle of a weld": (lambda m, x: m.weld("n", m["a"], m["b"], angle=x), "'n'"),
    "axis of a slot": (lambda m, x: m.pin_in_slot("n", m["a"], m["b"], at=(0, 0), axis=(x, 1)), "'[an]'"),
    "length of a link": (lambda m, x: m.link("n", m["a"], m["b"], length=x), "'n'"),
    "ratio of a gear pair": (lambda m, x: m.gear("n", m["a"], m["b"], ratio=x), "'n'"),
    "teeth of a gear pair": (lambda m, x: m.gear("n", m["a"], m["b"], teeth=(20, x)), "'n'"),
    "radius of a pulley": (lambda m, x: m.belt("n", m["a"], m["b"], radii=(x, 1)), "'n'"),
    "radius of a pinion": (lambda m, x: m.rack_and_pinion("n", m["a"], m["b"], radius=x), "'n'"),
    "coefficient of a coupler": (lambda m, x: m.coupler("n", [(1, m["a"].angle), (x, m["z"])]), "'n'"),
    "constant of a coupler": (lambda m, x: m.coupler("n", [(1, m["a"].angle), (1, m["z"])], constant=x), "'n'"),
    "start on a curve": (lambda m, x: m.point_on_curve("n", m["a"], m["b"], curve=circle(), start=x), "'n'"),
    "radius of a roller": (lambda m, x: m.cam_roller("n", m["a"], m["b"], profile=circle(), radius=x), "'n'"),
    "axis of a flat face": (
        lambda m, x: m.cam_flat("n", m["a"], m["b"], profile=circle(), axis=(1, x)),
        "'[bn]'",
    ),
    "stiffness of a spring": (lambda m, x: m.spring("n", m["a"], m["b"], stiffness=x), "'n': stiffness"),
    "free length of a spring": (lambda m, x: m.spring("n", m["a"], m["b"], stiffness=1, length=x), "'n': length"),
    "damping of a spring": (lambda m, x: m.spring("n", m["a"], m["b"], damping=x), "'n': damping"),
    "force of a spring": (lambda m, x: m.spring("n", m["a"], m["b"], force=x), "'n': force"),
    "place of a spring": (lambda m, x: m.spring("n", m["a"], m["b"], stiffness=1, on_i=(x, 0)), "'[an]'"),
    "stiffness of a torsion spring": (
        lambda m, x: m.torsion_spring("n", m["a"], m["b"], stiffness=x),
        "'n': stiffness",
    ),
    "free angle of a torsion spring": (
        lambda m, x: m.torsion_spring("n", m["a"], m["b"], stiffness=1, angle=x),
        "'n': angle",
    ),
    "torque of a torsion spring": (lambda m, x: m.torsion_spring("n", m["a"], m["b"], torque=x), "'n': torque"),
    "stiffness of a bushing": (lambda m, x: m.bushing("n", m["a"], m["b"], stiffness=(1, x)), "'n': stiffness"),
    "damping of a bushing": (lambda m, x: m.bushing("n", m["a"], m["b"], stiffness=1, damping=(x, 1)), "'n': damping"),
    "torsion of a bushing": (lambda m, x: m.bushing("n", m["a"], m["b"], stiffness=1, torsion=x), "'n': torsion"),
    "component of a force": (lambda m, x: m.force("n", m["a"], (0, x)), "'n': force"),
    "place of a force": (lambda m, x: m.force("n", m["a"], (0, 1), on=(x, 0)), "'[an]'"),
    "torque": (lambda m, x: m.torque("n", m["a"], x), "'n': torque"),
    "limit of a stop": (lambda m, x: m.bump_stop("n", m["a"].x, x, 1), "'n': limit"),
    "stiffness of a stop": (lambda m, x: m.bump_stop("n", m["a"].x, 0, x), "'n': stiffness"),
    "damping of a stop": (lambda m, x: m.bump_stop("n", m["a"].x, 0, 1, damping=x), "'n': damping"),
    "exponent of a stop": (lambda m, x: m.bump_stop("n", m["a"].x, 0, 1, exponent=x), "'n': exponent"),
    "value to hold": (lambda m, x: m.driver("n", m["a"].x, x), "'n'"),
    "value to hold a point at": (lambda m, x: m.point_driver("n", m["a"], 0.0, x), "'n'"),
    "speed": (lambda m, x: m.driver("n", m["a"].x, kp.constant_speed(x)), "constant_speed: speed|'n'"),
    "acceleration": (lambda m, x: m.driver("n", m["a"].x, kp.constant_acceleration(x)), "acceleration|'n'"),
    "omega": (lambda m, x: m.driver("n", m["a"].x, kp.harmonic(1, x)), "harmonic: omega|'n'"),
    "rise": (lambda m, x: m.driver("n", m["a"].x, kp.cycloidal(x, 1)), "cycloidal: rise|'n'"),
    "duration": (lambda m, x: m.driver("n", m["a"].x, kp.polynomial345(1, x)), "polynomial345: duration|'n'"),
    "begin": (lambda m, x: m.driver("n", m["a"].x, kp.harmonic_rise(1, 1, x)), "harmonic_rise: begin|'n'"),
}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "wide", 2j, [1.0, 2.0]], ids=str)
@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_must_be_finite_and_a_number(m: kp.Mechanism, name: str, value: Any) -> None:
    add, says = NUMBERS[name]
    refused(m, lambda m: add(m, value), says)


@pytest.mark.parametrize("name", sorted(set(NUMBERS) - {"start on a curve"}))
def test_a_parameter_must_belong_to_the_model(m: kp.Mechanism, name: str) -> None:
    add, _ = NUMBERS[name]
    refused(m, lambda m: add(m, FOREIGN_NUMBER), "'n'.*'L'.*another model")
    refused(m, lambda m: add(m, 2 * FOREIGN_NUMBER - m["L"]), "'n'.*'L'.*another model")


@pytest.mark.parametrize("name", NUMBERS)
def test_an_expression_of_parameters_must_be_finite_now(m: kp.Mechanism, name: str) -> None:
    add, says = NUMBERS[name]
    refused(m, lambda m: add(m, 1 / (m["L"] - 1.5)), says)


POSITIVE = [
    "mass of a body",
    "inertia of a body",
    "length of a bar",
    "mass of a bar",
    "inertia of a bar",
    "length of a link",
    "teeth of a gear pair",
    "radius of a pulley",
    "radius of a roller",
    "duration",
]


@pytest.mark.parametrize("value", [0, 0.0, -1.0, -1e-300])
@pytest.mark.parametrize("name", POSITIVE)
def test_masses_and_lengths_must_be_above_zero(m: kp.Mechanism, name: str, value: float) -> None:
    add, says = NUMBERS[name]
    refused(m, lambda m: add(m, value), f"(?=.*above zero).*({says})")


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_mass_of_a_point_must_be_above_zero(m: kp.Mechanism, value: float) -> None:
    refused(m, lambda m: m.point("n", mass=value), "'n'")


def test_mass_and_inertia_come_together(m: kp.Mechanism) -> None:
    refused(m, lambda m: m.body("n", mass=1.0), "'n'.*both")
    refused(m, lambda m: m.body("n", inertia=1.0), "'n'.*both")
    refused(m, lambda m: m.bar("n", m["P"], m["R"], inertia=1.0), "'n'.*no mass")
    refused(m, lambda m: m.bar("n", m["P"], m["R"], centre=(1, 0)), "'n'.*no mass")


def test_a_gear_ratio_must_not_be_zero(m: kp.Mechanism) -> None:
    refused(m, lambda m: m.gear("n", m["a"], m["b"], ratio=0), "'n'.*zero")


# --- vectors ------------------------------------------------------------------------------------------------------

VECTORS: dict[str, tuple[AddWith, str]] = {
    "place of a body": (lambda m, x: m.body("n", at=x), "'n'"),
    "place of a point": (lambda m, x: m.point("n", x), "'n'"),
    "centre of a bar": (lambda m, x: m.bar("n", m["P"], m["R"], mass=1, centre=x), "'n'"),
    "place on a plate": (lambda m, x: m.plate("n", m["P"], m["Q"], m["R"], places=[x]), "'n'"),
    "place of a joint": (lambda m, x: m.revolute("n", m["a"], m["b"], at=x), "'[an]'"),
    "place on a part": (lambda m, x: m.link("n", m["a"], m["b"], on_j=x), "'[bn]'"),
    "place of a marker": (lambda m, x: m["a"].on(x), "'a'"),
    "axis of a guide": (lambda m, x: m.translational("n", m["a"], m["b"], axis=x), "'[an]'"),
    "axis of a rack": (lambda m, x: m.rack_and_pinion("n", m["a"], m["b"], radius=1, axis=x), "'ground'|'n'"),
    "place on a follower": (lambda m, x: m.point_on_curve("n", m["a"], m["b"], curve=circle(), on_j=x), "'[bn]'"),
    "place of a spring": (lambda m, x: m.spring("n", m["a"], m["b"], stiffness=1, on_i=x), "'[an]'"),
    "place of a force": (lambda m, x: m.force("n", m["a"], (0, 1), at=x), "'[an]'"),
    "force": (lambda m, x: m.force("n", m["a"], x), "'n'"),
    "axis of a bushing": (lambda m, x: m.bushing("n", m["a"], m["b"], stiffness=1, axis=x), "'[an]'"),
    "gravity": (lambda m, x: kp.Mechanism("n", gravity=x), "'n'.*gravity"),
}


@pytest.mark.parametrize("value", [(1.0,), (1.0, 2.0, 3.0), 5.0, np.eye(3)], ids=["one", "three", "scalar", "matrix"])
@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_has_two_numbers(m: kp.Mechanism, name: str, value: Any) -> None:
    add, says = VECTORS[name]
    refused(m, lambda m: add(m, value), f"(?=.*must be 2 numbers).*({says})")


@pytest.mark.parametrize("name", ["axis of a guide", "axis of a rack", "axis of a bushing"])
def test_an_axis_must_not_vanish(m: kp.Mechanism, name: str) -> None:
    add, says = VECTORS[name]
    refused(m, lambda m: add(m, (0, 0.0)), f"(?=.*zero vector).*({says})")


# --- names --------------------------------------------------------------------------------------------------------

NAMED: dict[str, AddWith] = {
    "body": lambda m, n: m.body(n),
    "body with mass": lambda m, n: m.body(n, mass=1, inertia=1),
    "point": lambda m, n: m.point(n),
    "bar": lambda m, n: m.bar(n, m["P"], m["R"]),
    "coordinate": lambda m, n: m.coordinate(n),
    "angle": lambda m, n: m.angle(n, m["a"], m["b"]),
    "parameter": lambda m, n: m.parameter(n, 1.0),
    "revolute": lambda m, n: m.revolute(n, m["a"], m["b"], at=(0, 0)),
    "gear": lambda m, n: m.gear(n, m["a"], m["b"], ratio=2),
    "cam": lambda m, n: m.cam_roller(n, m["a"], m["b"], profile=circle(), radius=0.1),
    "driver": lambda m, n: m.driver(n, m["a"].x, 0.0),
    "constraint": lambda m, n: m.constraint(n, lambda a: a.x, m["a"]),
    "spring": lambda m, n: m.spring(n, m["a"], m["b"], stiffness=1),
    "torsion spring": lambda m, n: m.torsion_spring(n, m["a"], m["b"], stiffness=1),
    "bushing": lambda m, n: m.bushing(n, m["a"], m["b"], stiffness=1),
    "force": lambda m, n: m.force(n, m["a"], (0, 1)),
    "torque": lambda m, n: m.torque(n, m["a"], 1.0),
    "stop": lambda m, n: m.bump_stop(n, m["a"].x, 0.0, 1.0),
    "user force": lambda m, n: m.user_force(n, lambda a: (0, 0, a.x), m["a"]),
}


@pytest.mark.parametrize("name", ["", "  ", "x.y", ".", None, 3, b"n"], ids=repr)
@pytest.mark.parametrize("kind", NAMED)
def test_a_name_is_a_word_without_dots(m: kp.Mechanism, kind: str, name: Any) -> None:
    refused(
        m, lambda m: NAMED[kind](m, name), "contains a dot" if isinstance(name, str) and "." in name else "needs a name"
    )


@pytest.mark.parametrize("taken", ["a", "P", "PQ", "z", "L", "ground"])
@pytest.mark.parametrize("kind", NAMED)
def test_a_name_is_given_once(m: kp.Mechanism, kind: str, taken: str) -> None:
    refused(m, lambda m: NAMED[kind](m, taken), f"'{taken}' is already taken")


def test_the_coordinate_of_a_cam_must_have_a_free_name_too(m: kp.Mechanism) -> None:
    m.parameter("n s", 1.0)
    refused(m, lambda m: NAMED["cam"](m, "n"), "'n s' is already taken")


def test_a_name_nobody_gave_is_unknown(m: kp.Mechanism) -> None:
    refused(m, lambda m: m["nobody"], "'nobody'")


# --- parts --------------------------------------------------------------------------------------------------------


def turn(part: Any) -> Any:
    """The angle of a body; anything else as it is."""
    return getattr(part, "angle", part)


PARTS: dict[str, AddWith] = {
    "revolute": lambda m, x: m.revolute("n", m["b"], x, at=(0, 0)),
    "revolute, first": lambda m, x: m.revolute("n", x, m["b"], at=(0, 0)),
    "translational": lambda m, x: m.translational("n", m["b"], x),
    "weld": lambda m, x: m.weld("n", m["b"], x),
    "pin in slot": lambda m, x: m.pin_in_slot("n", m["b"], x, at=(0, 0), axis=(1, 0)),
    "link": lambda m, x: m.link("n", m["b"], x),
    "gear": lambda m, x: m.gear("n", m["b"], x, ratio=2),
    "belt": lambda m, x: m.belt("n", m["b"], x, radii=(1, 2)),
    "rack": lambda m, x: m.rack_and_pinion("n", m["b"], x, radius=1),
    "coupler": lambda m, x: m.coupler("n", [(1, m["b"].angle), (1, turn(x))]),
    "curve": lambda m, x: m.point_on_curve("n", x, m["b"], curve=circle()),
    "point on curve": lambda m, x: m.point_on_curve("n", m["b"], x, curve=circle()),
    "cam": lambda m, x: m.cam_roller("n", x, m["b"], profile=circle(), radius=0.1),
    "flat follower": lambda m, x: m.cam_flat("n", m["b"], x, profile=circle(), axis=(1, 0)),
    "angle": lambda m, x: m.angle("n", m["b"], x),
    "driver": lambda m, x: m.driver("n", turn(x), 0.0),
    "constraint": lambda m, x: m.constraint("n", lambda b, x: b.x - x.x, m["b"], x),
    "spring": lambda m, x: m.spring("n", m["b"], x, stiffness=1),
    "spring, first": lambda m, x: m.spring("n", x, m["b"], stiffness=1),
    "torsion spring": lambda m, x: m.torsion_spring("n", m["b"], x, stiffness=1),
    "bushing": lambda m, x: m.bushing("n", m["b"], x, stiffness=1),
    "force": lambda m, x: m.force("n", x, (0, 1)),
    "torque": lambda m, x: m.torque("n", x, 1.0),
    "reaction of a torque": lambda m, x: m.torque("n", m["b"], 1.0, reaction=x),
    "stop": lambda m, x: m.bump_stop("n", turn(x), 0.0, 1.0),
    "user force": lambda m, x: m.user_force("n", lambda b, x: [(x.x, 0, 0), (0, 0, b.x)], m["b"], x),
}


@pytest.mark.parametrize("part", [FOREIGN_BODY, STRANGER], ids=["same name", "other name"])
@pytest.mark.parametrize("kind", [*PARTS, "point driver", "gear carrier", "rack frame", "distance", "marker"])
def test_a_part_must_belong_to_the_mechanism(m: kp.Mechanism, kind: str, part: Any) -> None:
    more: dict[str, AddWith] = {
        "point driver": lambda m, x: m.point_driver("n", x, 0.0, 0.0),
        "gear carrier": lambda m, x: m.gear("n", m["a"], m["b"], ratio=2, carrier=x),
        "rack frame": lambda m, x: m.rack_and_pinion("n", m["a"], m["b"], radius=1, frame=x),
        "distance": lambda m, x: m.driver("n", kp.distance(m["b"], x.on((1, 0))), 2.0),
        "marker": lambda m, x: m.revolute("n", m["b"].on((1, 0)), x.on((0, 1))),
    }
    refused(m, lambda m: (PARTS | more)[kind](m, part), f"'n' uses '{part.name}', which is not a part of 'machine'")


def test_points_must_belong_to_the_mechanism(m: kp.Mechanism) -> None:
    refused(m, lambda m: m.bar("n", m["Q"], FOREIGN_POINT), "'n' uses 'P', which is not a part of 'machine'")
    refused(m, lambda m: m.plate("n", m["P"], m["Q"], FOREIGN_POINT), "'n' uses 'P'")
    refused(m, lambda m: m.bar("n", m["P"], m["a"]), "'n'.*point 2")
    refused(m, lambda m: m.plate("n", m["P"]), "'n'.*at least two points")
    refused(m, lambda m: m.plate("n", m["P"], m["Q"], m["R"], places=[]), "'n'.*places")


@pytest.mark.parametrize("value", ["a", 3.0, (0.0, 0.0), [], len], ids=repr)
@pytest.mark.parametrize("kind", PARTS)
def test_a_part_must_be_a_part(m: kp.Mechanism, kind: str, value: Any) -> None:
    refused(m, lambda m: PARTS[kind](m, value), "'n'")


ALONE = {"coupler", "driver", "constraint", "angle", "flat follower", "force", "torque", "stop", "user force"}


@pytest.mark.parametrize("kind", sorted(set(PARTS) - ALONE - {"reaction of a torque"}))
def test_a_joint_connects_two_parts(m: kp.Mechanism, kind: str) -> None:
    refused(m, lambda m: PARTS[kind](m, m["b"]), "'n' connects 'b' with itself")


def test_a_joint_connects_two_parts_also_when_given_by_markers(m: kp.Mechanism) -> None:
    refused(m, lambda m: m.revolute("n", m["a"].on((1, 0)), m["a"].on((0, 1))), "'n' connects 'a' with itself")
    refused(m, lambda m: m.revolute("n", m.ground, m.ground, at=(0, 0)), "'n' connects 'ground' with itself")
    refused(m, lambda m: m.bar("n", m["P"], m["P"]), "'n'.*twice.*'P'")


def test_a_point_has_no_direction(m: kp.Mechanism) -> None:
    refused(m, lambda m: m.translational("n", m["a"], m["P"]), "'P'.*no direction")
    refused(m, lambda m: m.weld("n", m["P"], m["a"]), "'P'.*no direction")
    refused(m, lambda m: m.driver("n", kp.angle(m["a"], m["P"]), 0.0), "'P'.*no direction")
    refused(m, lambda m: m.revolute("n", m["P"], m["a"], on_i=(1, 0)), "'P'.*point")
    refused(m, lambda m: m.constraint("n", lambda p: p.angle, m["P"]), "'P' has no angle")


def test_a_joint_must_be_somewhere(m: kp.Mechanism) -> None:
    refused(m, lambda m: m.revolute("n", m["a"], m["b"]), "'n'.*say where")
    refused(m, lambda m: m.revolute("n", m["a"], m["b"], at=(0, 0), on_i=(0, 0), on_j=(0, 0)), "'n'.*not all three")
    refused(m, lambda m: m.link("n", m["a"], m["a"].on((0, 0))), "'n'")
    m.point("P again", (0.0, 1.0))
    refused(m, lambda m: m.bar("n", m["P"], m["P again"]), "'n': its points 'P' and 'P again' are drawn at one place")


def test_a_fixed_coordinate_cannot_be_driven(m: kp.Mechanism) -> None:
    point = m.point("F", fixed="x")
    refused(m, lambda m: m.driver("n", point.x, 1.0), "'F': x is fixed")
    refused(m, lambda m: m.point("n", fixed="z"), "'n': fixed must be")


def test_a_gear_pair_has_a_ratio_or_teeth(m: kp.Mechanism) -> None:
    refused(m, lambda m: m.gear("n", m["a"], m["b"]), "'n'.*either ratio= or teeth=")
    refused(m, lambda m: m.gear("n", m["a"], m["b"], ratio=2, teeth=(1, 2)), "'n'.*either ratio= or teeth=")
    refused(m, lambda m: m.coupler("n", [(1, m["a"])]), "'n'.*at least two")


# --- forces -------------------------------------------------------------------------------------------------------


def test_a_force_must_do_something_and_have_a_place(m: kp.Mechanism) -> None:
    a, b = m["a"], m["b"]
    refused(m, lambda m: m.spring("n", a, b), "spring 'n' does nothing: give it stiffness=, damping=, force= or law=")
    refused(m, lambda m: m.torsion_spring("n", a, b), "torsion spring 'n' does nothing.*torque= or law=")
    refused(m, lambda m: m.spring("n", a.on((1, 0)), b, on_i=(1, 1), stiffness=1), "'n': the first part.*on_i=")
    refused(m, lambda m: m.force("n", a.on((1, 0)), (0, 1), at=(1, 1)), "'n'.*marker.*at=")
    refused(m, lambda m: m.torque("n", a, 1.0, reaction=a), "'n' acts between 'a' and itself")
    refused(m, lambda m: m.force("n", m.ground, (0, 1)), "'n' touches no moving part")


def test_nothing_that_dissipates_may_be_negative(m: kp.Mechanism) -> None:
    a, b = m["a"], m["b"]
    says = "'n': .*damping must not be below zero, not -1.0"
    refused(m, lambda m: m.spring("n", a, b, damping=-1), says)
    refused(m, lambda m: m.torsion_spring("n", a, b, damping=-1), says)
    refused(m, lambda m: m.bushing("n", a, b, stiffness=1, damping=(0, -1)), says)
    refused(m, lambda m: m.bushing("n", a, b, stiffness=1, torsion_damping=-1), says)
    refused(m, lambda m: m.bump_stop("n", a.x, 0, 1, damping=0.5 - m["L"]), says)
    refused(m, lambda m: m.spring("n", a, b, stiffness=1, length=-1), "'n': length must not be below zero")


def test_words_and_powers_of_forces(m: kp.Mechanism) -> None:
    a = m["a"]
    refused(m, lambda m: m.force("n", a, (0, 1), frame="car"), "force 'n': frame must be 'world' or 'body', not 'car'")
    refused(m, lambda m: m.force("n", m["P"], (0, 1), frame="body"), "'P' is a point and has no direction")
    refused(m, lambda m: m.bump_stop("n", a.x, 0, 1, side="left"), "'n': side must be 'below' or 'above', not 'left'")
    for wrong in (0, -1.5):
        refused(m, lambda m, w=wrong: m.bump_stop("n", a.x, 0, 1, exponent=w), "'n': exponent must be above zero")
        refused(m, lambda m, w=wrong: m.bump_stop("n", a.x, 0, w), "'n': stiffness must be above zero")


def test_the_law_of_a_spring_is_a_function_or_a_table(m: kp.Mechanism) -> None:
    def add(law: Any) -> Add:
        return lambda m: m.spring("n", m["a"], m["b"], law=law)

    for wrong in (3.0, "x", kp.harmonic(1, 2), [(0, 0), (1, 1)]):
        refused(m, add(wrong), r"spring 'n': law must be a function law\(length, rate\).*kp.table")
    refused(
        m,
        add(lambda length: length),
        r"'n': the law is called with \(length, rate\), or with \(length, rate, t\); yours takes \(length\)",
    )
    refused(
        m, add(lambda length, rate: length if rate > 0 else 0), "'n': the law asks whether something holds.*kp.if_else"
    )
    refused(m, add(lambda length, rate: (length, rate)), "'n': the law")
    refused(m, add(lambda length, rate: length * FOREIGN_NUMBER), "'n'.*'L'.*another model")
    refused(m, add(kp.spline([0, 1, 2], [0, 1, 0], periodic=True)), "'n'.*must not be periodic")
    refused(
        m, lambda m: m.torsion_spring("n", m["a"], m["b"], law=1), r"'n': law must be a function law\(angle, rate\)"
    )


def test_a_user_force_must_work_on_symbols_and_return_what_its_parts_take(m: kp.Mechanism) -> None:
    says, a, p, z = "user force 'n'", m["a"], m["P"], m["z"]
    refused(m, lambda m: m.user_force("n", lambda: 0), f"{says} needs the parts")
    refused(m, lambda m: m.user_force("n", 3, a), f"{says} needs a function")
    refused(
        m,
        lambda m: m.user_force("n", lambda b, c, d: 0, a),
        rf"{says}.*called with \(a\), or with \(a, t\); yours takes \(.*, .*, .*\)",
    )
    refused(m, lambda m: m.user_force("n", lambda b: (b.height, 0, 0), a), f"{says}.*'a' has no 'height'")
    refused(m, lambda m: m.user_force("n", lambda b: (1, 2), a), rf"{says}.*\(Fx, Fy, M\) for 'a', not 2 numbers")
    refused(m, lambda m: m.user_force("n", lambda b: (1, 2, 3), p), rf"{says}.*\(Fx, Fy\) for 'P', not 3 numbers")
    refused(m, lambda m: m.user_force("n", lambda c: (1, 2), z), f"{says}.*one number for 'z', not 2 numbers")
    refused(m, lambda m: m.user_force("n", lambda b, c: (1, 2, 3), a, z), f"{says}.*one entry for each of its 2 parts")
    refused(m, lambda m: m.user_force("n", lambda b, c: 0, a, z), f"{says}.*one entry for each of its 2 parts")
    refused(m, lambda m: m.user_force("n", lambda c: c.rate * FOREIGN_NUMBER, z), "'n'.*'L'.*another model")


# --- functions and curves -----------------------------------------------------------------------------------------


def test_a_function_of_time_must_work_on_symbols(m: kp.Mechanism) -> None:
    says = "driver 'n': the function of time"
    refused(m, lambda m: m.driver("n", m["a"].x, lambda t: 1.0 if t > 0 else 0.0), says)
    refused(m, lambda m: m.driver("n", m["a"].x, lambda t: 1 / 0), says)
    refused(m, lambda m: m.driver("n", m["a"].x, lambda t, u: t), says)
    refused(m, lambda m: m.driver("n", m["a"].x, lambda t: ca.vertcat(t, t)), f"{says} must return one number")
    refused(m, lambda m: m.driver("n", m["a"].x, lambda t: t + FOREIGN_NUMBER), "'n'.*'L'.*another model")


def test_a_constraint_must_work_on_symbols(m: kp.Mechanism) -> None:
    says = "constraint 'n'"
    refused(m, lambda m: m.constraint("n", lambda a: a.x if a.x > 0 else 0, m["a"]), says)
    refused(m, lambda m: m.constraint("n", lambda a: a.height, m["a"]), says)
    refused(
        m,
        lambda m: m.constraint("n", lambda a, b, c: a.x, m["a"]),
        rf"{says}.*called with \(a\), or with \(a, t\); yours takes \(.*, .*, .*\)",
    )
    refused(m, lambda m: m.constraint("n", lambda a: [], m["a"]), f"{says}.*no equation")
    refused(m, lambda m: m.constraint("n", lambda a: a.x, m["a"], rows=("u", "w")), f"{says}.*row names")
    refused(m, lambda m: m.constraint("n", 3, m["a"]), f"{says} needs a function")
    refused(m, lambda m: m.constraint("n", lambda a: a.x - FOREIGN_NUMBER, m["a"]), "'n'.*'L'.*another model")
    refused(m, lambda m: m.constraint("n", lambda a: a.x - ca.SX.sym("stray"), m["a"]), "'stray'")


@pytest.mark.parametrize(
    ("times", "values", "says"),
    [
        ([0, 2, 1], [0, 1, 2], "increase"),
        ([0, 1, 1], [0, 1, 2], "increase"),
        ([0, 1, 2], [0, 1], "same length"),
        ([0], [0], "at least 2"),
        ([[0, 1]], [[0, 1]], "same length"),
        ([0, 1, 2], [0, math.nan, 2], "finite"),
        ([0, 1, math.inf], [0, 1, 2], "finite"),
    ],
)
def test_data_of_a_spline_must_increase_and_be_finite(m: kp.Mechanism, times: Any, values: Any, says: str) -> None:
    refused(m, lambda m: m.driver("n", m["a"].x, kp.spline(times, values)), f"spline.*{says}")


def test_a_periodic_spline_must_close(m: kp.Mechanism) -> None:
    refused(m, lambda m: m.driver("n", m["a"].x, kp.spline([0, 1, 2], [0, 1, 2], periodic=True)), "periodic data")


def test_a_curve_needs_points_that_make_one(m: kp.Mechanism) -> None:
    def add(points: Any) -> Add:
        return lambda m: m.point_on_curve("n", m["a"], m["b"], curve=kp.curve_through(points))

    refused(m, add([(0, 0), (1, 1)]), "curve_through.*three points")
    refused(m, add([(0, 0, 0), (1, 1, 1), (2, 0, 1)]), "curve_through.*three points")
    refused(m, add([(0, 0), (1, 1), (1, 1), (2, 0)]), "curve_through.*increase")
    refused(m, add([(0, 0), (math.nan, 1), (2, 0)]), "curve_through.*finite")
    refused(m, lambda m: m.point_on_curve("n", m["a"], m["b"], curve=lambda s: (s, s)), "'n'.*kp.curve")
    refused(m, lambda m: kp.curve(lambda s: (s, s, s)), "curve.*two numbers, not 3")
    refused(m, lambda m: kp.curve(lambda s: (s, s if s > 0 else 0)), "curve: the function asks whether something holds")


# --- parameters ---------------------------------------------------------------------------------------------------


def test_a_parameter_is_finite_and_its_bounds_are_in_order(m: kp.Mechanism) -> None:
    other = kp.Mechanism("other").parameter("L", 1.0)
    for value in (math.nan, math.inf, -math.inf, 2 * other, 1 / (m["L"] - m["L"].value)):
        refused(m, lambda m, v=value: m.parameter("n", v), "'n'")
    refused(m, lambda m: m.parameter("n", 2 * m["L"], bounds=(0.0, 9.0)), "'n' follows from others")
    refused(m, lambda m: m.parameter("n", 1.0, bounds=(2.0, 0.0)), "'n'.*lower bound 2.0 is above the upper bound 0.0")
    refused(m, lambda m: m.parameter("n", 1.0, bounds=(math.nan, 0.0)), "'n'")


def test_only_known_parameters_can_be_set(m: kp.Mechanism) -> None:
    refused(m, lambda m: m.set(width=1.0), "unknown parameter 'width'.*'L'")
    refused(m, lambda m: m.set({"L": 1.7, "width": 1.0}), "unknown parameter 'width'.*'L'")
    for value in (math.nan, math.inf, "long", 2 * m["L"], None):
        refused(m, lambda m, v=value: m.set(L=v), "'L'")
    refused(m, lambda m: m.assemble(parameters={"width": 1.0}), "unknown parameter 'width'")


def test_mechanisms_have_two_dimensions_or_three() -> None:
    with pytest.raises(kp.ModelError, match=r"'n'.*2.*3, not 4"):
        kp.Mechanism("n", dim=4)


def test_equations_say_what_is_wrong() -> None:
    def wrong(says: str, coordinates: Any = ("x", "y"), **options: Any) -> None:
        with pytest.raises(kp.ModelError, match=says):
            kp.Equations("n", coordinates, **options)

    wrong("'n'.*at least one coordinate", coordinates=[])
    wrong("'n'.*twice", coordinates=["x", "x"])
    wrong("'x.y' contains a dot", coordinates=["x.y"])
    wrong("'x': start must be finite", coordinates={"x": math.nan})
    wrong("'x' is already taken", parameters={"x": 1.0})
    wrong("'k'", parameters={"k": math.inf})
    wrong("'n': constraints: there is no 'z'; there are x, y", constraints=lambda q, t, p: [q.z])
    wrong("'n': constraints: your function asks whether", constraints=lambda q, t, p: [q.x if q.x > 0 else 0])
    wrong("'n': constraints.*'stray'", constraints=lambda q, t, p: [q.x - ca.SX.sym("stray")])
    wrong(r"'n': the mass matrix is \(1, 1\), but there are 2", mass=lambda q, p: [[1.0]])


# --- what only an analysis can see --------------------------------------------------------------------------------


def slider(**drivers: Any) -> kp.Mechanism:
    """A slider on a guide along x, with drivers by name: (quantity, law)."""
    m = kp.Mechanism("press")
    body = m.body("slider", at=(1, 0))
    m.translational("guide", m.ground, body, axis=(1, 0))
    for name, (quantity, law) in drivers.items():
        m.driver(name, getattr(body, quantity), law)
    return m


FORWARD = ("x", kp.constant_speed(1.0))


def test_too_few_drivers_are_reported_with_what_is_free() -> None:
    with pytest.raises(kp.ModelError, match=r"'press' is not fully driven: 1 degree.*0 driven.*slider\.x"):
        slider().kinematics(1.0)


def test_too_many_drivers_are_reported_by_name() -> None:
    for law in (kp.constant_speed(1.0), kp.constant_speed(2.0)):
        with pytest.raises(kp.ModelError, match=r"'press' has too many drivers: 1 degree.*2 driven.*'one', 'two'"):
            slider(one=FORWARD, two=("x", law)).kinematics(1.0)
    with pytest.raises(kp.ModelError, match=r"too many drivers.*'guide', 'lift'"):
        slider(push=FORWARD, lift=("y", kp.constant_speed(1.0))).kinematics(1.0)


def test_a_driver_that_contradicts_a_joint_is_reported_with_the_joint() -> None:
    with pytest.raises(kp.KempeError, match=r"(?=.*'lift')(?=.*'guide')"):
        slider(lift=("y", kp.constant_speed(1.0))).kinematics(1.0)
    with pytest.raises(kp.AssemblyError, match=r"(?=.*'lift')(?=.*'guide')") as caught:
        slider(lift=("y", 0.3)).kinematics(1.0)
    assert set(caught.value.gaps) == {"lift", "guide"}
    assert caught.value.pose["slider.y"] == pytest.approx(0.15)  # half way between the two


def test_a_mechanism_without_parts_is_reported() -> None:
    for ask in (lambda m: m.assemble(), lambda m: m.mobility(), lambda m: m.kinematics(1.0)):
        with pytest.raises(kp.ModelError, match="'empty' has no moving part"):
            ask(kp.Mechanism("empty"))


def test_unknown_coordinates_and_velocities_are_reported_with_the_known_ones() -> None:
    m = slider(push=FORWARD)
    for options in ({"hold": ["crank.x"]}, {"weights": {"crank.x": 2.0}}, {"hold": ["slider.vx"]}):
        with pytest.raises(
            kp.ModelError, match=r"no coordinate '.*'; (there are slider\.x, slider\.y|did you mean|choose)"
        ):
            m.assemble(**options)
    for name in ("crank.vx", "slider.x"):
        with pytest.raises(
            kp.ModelError, match=rf"no velocity '{name}'; (there are slider\.vx, slider\.vy|did you mean)"
        ):
            m.assemble(velocities={name: 1.0})
    for weight in (0.0, -1.0, math.nan):
        with pytest.raises(kp.ModelError, match=r"weight of 'slider\.x'"):
            m.assemble(weights={"slider.x": weight})
    with pytest.raises(kp.ModelError, match=r"lacks slider\.y, slider\.angle"):
        m.ranks({"slider.x": 1.0})


@pytest.mark.parametrize(
    ("times", "says"),
    [
        ([0, 1, 1], "increase"),
        ([0, 2, 1], "increase"),
        ([0, math.nan, 1], "finite"),
        ([0, 1, math.inf], "finite"),
        ([], "a list of times"),
        ([[0, 1]], "list"),
        (math.nan, "finite"),
        (math.inf, "finite"),
        (0.0, "above zero"),
        (-1.0, "above zero"),
    ],
)
def test_times_must_increase_and_be_finite(times: Any, says: str) -> None:
    with pytest.raises(kp.ModelError, match=says):
        slider(push=FORWARD).kinematics(times)


def test_options_of_kinematics_are_checked() -> None:
    m = slider(push=FORWARD)
    with pytest.raises(kp.ModelError, match="on_singular must be 'raise', 'stop' or 'cross', not 'jump'"):
        m.kinematics(1.0, on_singular="jump")
    with pytest.raises(kp.ModelError, match="steps must be a whole number"):
        m.kinematics(1.0, steps=0)
    with pytest.raises(kp.ModelError, match="unknown parameter 'width'"):
        m.kinematics(1.0, parameters={"width": 1.0})


def test_an_unknown_quantity_of_a_result_is_reported_with_near_ones() -> None:
    with pytest.raises(kp.ModelError, match=r"no quantity 'slider\.xx'.*'slider\.x'"):
        slider(push=FORWARD).kinematics(1.0, steps=2)["slider.xx"]


# --- friction and contacts whose numbers are parameters ---------------------------------------------------------------


LIMITED: dict[str, tuple[Callable[[Any, Any, Any], Any], float, float, str]] = {
    "coefficient": (
        lambda m, a, p: m.translational("J", m.ground, a, friction=p),
        0.2,
        -0.1,
        "translational 'J': kinetic of its friction must not be below zero, not -0.1",
    ),
    "static coefficient": (
        lambda m, a, p: m.translational("J", m.ground, a, friction=kp.Coulomb(0.2, p)),
        0.3,
        0.1,
        "translational 'J': the static coefficient of its friction must not be below the kinetic one, not 0.1",
    ),
    "speed of a law": (
        lambda m, a, p: m.friction("J", a.x, friction=kp.Threlfall(0.2, p), normal=1.0),
        0.1,
        0.0,
        "friction 'J': speed of its friction must be above zero, not 0",
    ),
    "radius of a pin": (
        lambda m, a, p: m.revolute("J", m.ground, a, at=(0, 0), friction=0.1, radius=p),
        0.1,
        0.0,
        "revolute joint 'J': radius must be above zero, not 0",
    ),
    "restitution": (
        lambda m, a, p: m.point_line_contact("J", m.ground, a, restitution=p),
        0.5,
        1.5,
        "point line contact 'J': a restitution is between 0 and 1, not 1.5",
    ),
    "restitution below zero": (
        lambda m, a, p: m.stop("J", a.x, -1.0, restitution=p),
        0.5,
        -0.5,
        "stop 'J': a restitution is between 0 and 1, not -0.5",
    ),
    "backlash of a pin": (
        lambda m, a, p: m.revolute("J", m.ground, a, at=(0, 0), backlash=p),
        0.1,
        -0.1,
        "loose revolute 'J': backlash must be above zero, not -0.1",
    ),
    "backlash of a guide": (
        lambda m, a, p: m.translational("J", m.ground, a, backlash=p, length=1.0),
        0.1,
        0.0,
        "translational joint 'J': backlash must be above zero, not 0",
    ),
    "a ring": (
        lambda m, a, p: m.circle_contact("J", m.ground, a, radii=(1.0, p), inside=True),
        0.5,
        1.5,
        "circle contact 'J': the circle of i, the first radius, must be larger than the one inside, not -0.5",
    ),
}


@pytest.mark.parametrize("what", LIMITED)
def test_a_parameter_beyond_a_limit_is_refused_and_a_design_fails_alone(what: str) -> None:
    make, good, bad, says = LIMITED[what]
    m = kp.Mechanism("limits")
    make(m, m.body("a", mass=1.0, inertia=1.0), m.parameter("p", good))
    with pytest.raises(kp.ModelError, match=f"^{re.escape(says)}$"):
        m.simulate(0.1, parameters={"p": bad})
    runs = m.run_many({"p": [good, bad, good]}, ["a.x"], 0.1)
    assert runs.ok.tolist() == [True, False, True] and says in runs.reasons[1]
