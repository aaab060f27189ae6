"""Gears, racks and belts put their forces on the bearings: hand calculations of the textbooks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kempe as kp

ALPHA = np.radians(20.0)
LOADED = [method for method in kp.METHODS if method != "canonical"]
CENTRES = {"on_i": (0, 0), "on_j": (0, 0)}


def on(result: kp.Result, joint: str, part: str) -> tuple[np.ndarray, np.ndarray]:
    load = result.reaction(joint, on=part)
    return load.force[-1], load.moment[-1]


def wheel(m: kp.Mechanism, name: str, at: Any, **options: Any) -> Any:
    """A wheel on a bearing of its own in the ground."""
    body = m.body(name, 1.0, 0.1, at=at, **options)
    m.revolute(f"bearing of {name}", m.ground, body, at=at)
    return body


def held(m: kp.Mechanism, body: Any) -> None:
    """A brake that holds a wheel where it is drawn."""
    m.driver(f"brake of {body.name}", body.angle, 0.0)


# --- gear pairs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("torque", [6.0, -6.0])
@pytest.mark.parametrize("line", [0.0, 0.7, 2.5])
@pytest.mark.parametrize("how", ["teeth", "radii", "ratio"])
def test_the_bearings_of_a_pair_carry_the_tooth_force(torque, line, how):
    """W_t = T / r across the line of centres, W_t tan(alpha) along it, away from the mesh whichever flank is loaded."""
    e, t = np.array([np.cos(line), np.sin(line)]), np.array([-np.sin(line), np.cos(line)])
    m = kp.Mechanism("pair")
    a, b = wheel(m, "a", (0, 0)), wheel(m, "b", 0.3 * e)
    sizes = {"teeth": (20, 40), "radii": (0.1, 0.2), "ratio": -0.5}
    m.gear("mesh", a, b, **{how: sizes[how]}, **CENTRES)
    m.torque(a, torque)
    held(m, b)
    result = m.simulate(0.1)
    W = torque / 0.1
    on_b = W * t + abs(W) * np.tan(ALPHA) * e
    force, moment = on(result, "mesh", "b")
    assert force == pytest.approx(on_b, rel=1e-12) and moment == pytest.approx(-2 * torque, rel=1e-12)
    force, moment = on(result, "mesh", "a")
    assert force == pytest.approx(-on_b, rel=1e-12) and moment == pytest.approx(-torque, rel=1e-12)
    assert on(result, "bearing of a", "ground")[0] == pytest.approx(-on_b, rel=1e-12)
    assert on(result, "bearing of b", "ground")[0] == pytest.approx(on_b, rel=1e-12)


def test_without_centres_a_gear_passes_on_a_torque_only():
    m = kp.Mechanism("pair")
    a, b = wheel(m, "a", (0, 0)), wheel(m, "b", (0.3, 0))
    m.gear("mesh", a, b, teeth=(20, 40))
    m.torque(a, 6.0)
    held(m, b)
    result = m.simulate(0.1)
    assert result.array("brake of b.effort") == pytest.approx(12.0)
    assert np.abs(result.array("bearing of a.force")).max() < 1e-12


def test_the_pressure_angle_may_be_a_parameter():
    m = kp.Mechanism("pair")
    alpha = m.parameter("pressure angle", 0.0)
    a, b = wheel(m, "a", (0, 0)), wheel(m, "b", (0.3, 0))
    m.gear("mesh", a, b, teeth=(20, 40), pressure_angle=alpha, **CENTRES)
    m.torque(a, 6.0)
    held(m, b)
    for value in (0.0, 0.3, np.radians(25)):
        rest = m.equilibrium(parameters={"pressure angle": value})
        assert rest["bearing of b.x"] == pytest.approx(-60 * np.tan(value), abs=1e-12)
        assert rest["bearing of b.y"] == pytest.approx(-60, rel=1e-12)


@pytest.mark.parametrize("torque", [5.0, -5.0])
def test_an_idler_carries_the_force_of_both_meshes(torque):
    """In line, the tangential forces add up to 2 W_t and the separating ones cancel (Shigley, section 13-14)."""
    m = kp.Mechanism("idler")
    a, idler, b = wheel(m, "a", (0, 0)), wheel(m, "idler", (0.25, 0)), wheel(m, "b", (0.5, 0))
    m.gear("first", a, idler, radii=(0.1, 0.15), **CENTRES)
    m.gear("second", idler, b, radii=(0.15, 0.1), **CENTRES)
    m.torque(a, torque)
    held(m, b)
    rest = m.equilibrium()
    W = torque / 0.1
    assert [rest[f"bearing of idler.{c}"] for c in "xy"] == pytest.approx([0.0, -2 * W], abs=1e-10)
    assert [rest[f"bearing of a.{c}"] for c in "xy"] == pytest.approx([abs(W) * np.tan(ALPHA), W], rel=1e-12)
    assert [rest[f"bearing of b.{c}"] for c in "xy"] == pytest.approx([-abs(W) * np.tan(ALPHA), W], rel=1e-12)


@pytest.mark.parametrize("torque", [5.0, -5.0])
def test_internal_teeth_push_the_pinion_inwards(torque):
    m = kp.Mechanism("ring")
    ring, pinion = wheel(m, "ring", (0, 0)), wheel(m, "pinion", (0.2, 0))
    m.gear("mesh", pinion, ring, teeth=(20, 60), internal=True, **CENTRES)  # radii 0.1 and 0.3, pitch point at x = 0.3
    m.torque(pinion, torque)
    held(m, ring)
    rest = m.equilibrium()
    W = torque / 0.1
    # the pinion's tooth at x = 0.3 pushes the ring up; the ring pushes the pinion down, and to the left
    assert [rest[f"bearing of ring.{c}"] for c in "xy"] == pytest.approx([-abs(W) * np.tan(ALPHA), -W], rel=1e-12)
    assert [rest[f"bearing of pinion.{c}"] for c in "xy"] == pytest.approx([abs(W) * np.tan(ALPHA), W], rel=1e-12)
    assert rest["brake of ring.motion"] == pytest.approx(3 * torque, rel=1e-12)


# --- planets --------------------------------------------------------------------------------------------------------


def planetary(ring_is_ground: bool, **options: Any) -> kp.Mechanism:
    """A sun with 20 teeth, a planet with 15 on an arm, a ring with 50 that stands still."""
    m = kp.Mechanism("planetary set")
    sun, arm = m.body("sun", 1.0, 0.02), m.body("arm", 0.5, 0.01, at=(0.05, 0))
    planet = m.body("planet", 0.4, 0.005, at=(0.35, 0))
    m.revolute("sun shaft", m.ground, sun, at=(0, 0))
    m.revolute("arm shaft", m.ground, arm, at=(0, 0))
    m.revolute("planet pin", arm, planet, at=(0.35, 0))
    ring = m.ground
    if not ring_is_ground:
        ring = m.body("ring", 1.0, 0.3)
        m.weld("housing", m.ground, ring)
    m.gear("inner", sun, planet, teeth=(20, 15), carrier=arm, **CENTRES, **options)
    m.gear("outer", planet, ring, teeth=(15, 50), internal=True, carrier=arm, **CENTRES, **options)
    return m


@pytest.mark.parametrize("ring_is_ground", [True, False])
@pytest.mark.parametrize("torque", [4.0, -4.0])
def test_torques_and_pin_force_of_a_planetary_set(torque, ring_is_ground):
    """T_ring = T_sun z_r / z_s, T_arm = -T_sun (1 + z_r / z_s); the pin carries 2 W_t, and radial forces cancel."""
    m = planetary(ring_is_ground)
    m.torque(m["sun"], torque)
    m.driver("load", m["arm"].angle, 0.0)
    rest = m.inverse_dynamics(0.1)
    W = torque / 0.2
    assert rest.array("load.effort")[-1] == pytest.approx(-torque * (1 + 50 / 20), rel=1e-12)
    assert on(rest, "planet pin", "arm")[0] == pytest.approx([0.0, 2 * W], abs=1e-10)
    assert on(rest, "outer", "planet")[0] == pytest.approx([-abs(W) * np.tan(ALPHA), W], rel=1e-12)
    force, moment = on(rest, "outer", "ground" if ring_is_ground else "ring")
    assert force == pytest.approx([abs(W) * np.tan(ALPHA), -W], rel=1e-12)
    assert moment == pytest.approx(-torque * 50 / 20, rel=1e-12)  # the sum of the three torques is zero
    if not ring_is_ground:
        assert on(rest, "housing", "ring")[1] == pytest.approx(torque * 50 / 20, rel=1e-12)


def test_planets_turn_as_before_over_many_turns():
    """Willis: (n_planet - n_arm) z_p = (0 - n_arm) z_r and (n_planet - n_arm) z_p = -(n_sun - n_arm) z_s."""
    m = planetary(True)
    m.driver("motor", m["sun"].angle, kp.constant_speed(2 * np.pi))
    result = m.kinematics(14.0, steps=400)
    assert result.array("arm.angle")[-1] == pytest.approx(14 * 2 * np.pi * 20 / 70, rel=1e-11)
    assert result.array("planet.angle")[-1] == pytest.approx(-14 * 2 * np.pi * 20 / 70 * 35 / 15, rel=1e-11)


def test_the_work_of_a_planetary_train_is_its_energy():
    m = planetary(False)
    m.torque(m["sun"], 3.0)
    m.torsion_spring("drag", m.ground, m["arm"], damping=0.4)
    result = m.simulate(6.0, tolerance=1e-10)
    assert result.array("arm.angle")[-1] > 2 * np.pi
    supplied = result.array("energy.supplied")[-1]
    assert supplied == pytest.approx(3.0 * result.array("sun.angle")[-1], rel=1e-8)  # the teeth supply nothing
    assert np.abs(result.energy.balance).max() < 1e-8 * supplied


@pytest.mark.parametrize("method", LOADED)
def test_every_method_finds_the_same_bearing_forces(method):
    """A torque that reverses: the separating force does not, and the motion does not feel it."""
    m = kp.Mechanism("reversing")
    a, b = wheel(m, "a", (0, 0)), wheel(m, "b", (0.3, 0))
    m.gear("mesh", a, b, radii=(0.1, 0.2), **CENTRES)
    m.torque("shaker", a, lambda t: 2.0 * kp.cos(6 * t))
    result = m.simulate(1.0, method=method, tolerance=1e-9)
    alpha = 2.0 * np.cos(6 * result.t) / (0.1 + 0.1 / 4)
    W = 0.1 * alpha / 2 / 0.2
    near = 1e-5 if method.startswith("bdf") else 1e-6
    assert result.array("a.alpha") == pytest.approx(alpha, abs=100 * near)
    assert result.array("bearing of b.force.y") == pytest.approx(-W, abs=10 * near)
    assert result.array("bearing of b.force.x") == pytest.approx(-np.abs(W) * np.tan(ALPHA), abs=10 * near)


# --- rack -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("force", [30.0, -30.0])
@pytest.mark.parametrize("radius", [0.1, -0.1])
def test_a_rack_on_its_rail_is_pushed_away_and_tilted(force, radius):
    """At the pitch point, radius below the centre (above it if negative), W along the rack and W tan(alpha) across."""
    m = kp.Mechanism("rack")
    pinion = m.body("pinion", 1.0, 0.1, at=(0.4, 0.07))
    rack = m.body("rack", 2.0, 0.1, at=(0.1, -0.3))
    m.revolute("bearing", m.ground, pinion, on_i=(0.4, 0.05), on_j=(0, -0.02))
    m.translational("rail", m.ground, rack, axis=(1, 0))
    m.rack_and_pinion("teeth", pinion, rack, radius=radius, on_i=(0, -0.02))
    m.force("push", rack, (force, 0))
    held(m, pinion)
    rest = m.inverse_dynamics(0.1)
    away = -np.sign(radius) * abs(force) * np.tan(ALPHA)  # on the rack
    pitch = np.array([0.4, 0.05 - radius]) - [0.1, -0.3]
    teeth = np.array([-force, away])
    assert on(rest, "teeth", "rack")[0] == pytest.approx(teeth, rel=1e-12)
    assert on(rest, "bearing", "ground")[0] == pytest.approx(-teeth, rel=1e-12)
    rail, tilting = on(rest, "rail", "ground")
    assert rail == pytest.approx([0, away], abs=1e-10)
    assert tilting == pytest.approx(pitch[0] * teeth[1] - pitch[1] * teeth[0], rel=1e-11)
    assert rest.array("brake of pinion.effort")[-1] == pytest.approx(-radius * force, rel=1e-12)


def test_a_rack_that_swings_is_rolled_on_in_its_own_axes():
    """A pinion fixed in the ground, a rack that rocks on it: its end unwinds an involute."""
    m = kp.Mechanism("rocking")
    rack = m.body("rack", 1.0, 0.1, at=(0.0, 0.2))
    pinion = m.body("pinion", 1.0, 0.1)
    m.weld("fixed", m.ground, pinion)
    m.constraint("height", lambda r: -kp.sin(r.angle) * r.x + kp.cos(r.angle) * r.y - 0.2, rack)
    m.rack_and_pinion("teeth", pinion, rack, radius=-0.2, pressure_angle=0)
    m.driver("tilt", rack.angle, lambda t: 0.8 * t)
    result = m.kinematics(1.0)
    angle = result.array("rack.angle")
    exact = 0.2 * np.exp(1j * angle) * (1j + angle)  # ahead of the point of contact by as much as it has rolled
    assert result.array("rack.x") + 1j * result.array("rack.y") == pytest.approx(exact, abs=1e-12)


# --- belts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("torque", [3.0, -3.0])
@pytest.mark.parametrize("preload", [0.0, 10.0, 50.0])
def test_strands_pull_on_both_shafts(torque, crossed, preload):
    """T_1 - T_2 = T / r; T_1 + T_2 = 2 T_0 unless the slack strand is loose; both along the common tangents."""
    (r, R), c = (0.1, 0.25), 0.8
    m = kp.Mechanism("belt")
    a, b = wheel(m, "a", (0, 0)), wheel(m, "b", (c, 0))
    m.belt("belt", a, b, radii=(r, R), crossed=crossed, preload=preload, **CENTRES)
    m.torque(a, torque)
    held(m, b)
    rest = m.inverse_dynamics(0.1)
    difference = abs(torque) / r
    total = max(2 * preload, difference)
    tight, slack = (total + difference) / 2, (total - difference) / 2
    assert slack >= 0
    side = -1.0 if crossed else 1.0
    total_on_b = np.zeros(2)
    for which in (1.0, -1.0):  # normals of the two common tangents
        lean = (r - side * R) / c
        normal = np.array([lean, which * np.sqrt(1 - lean**2)])
        strand = np.array([c, 0]) + side * R * normal - r * normal
        strand /= np.hypot(*strand)
        turning = normal[0] * strand[1] - normal[1] * strand[0]  # what a pull on wheel a at r normal turns it by
        pull = tight if turning * torque < 0 else slack  # the tight strand holds the driven wheel back
        total_on_b -= pull * strand
    assert on(rest, "belt", "b")[0] == pytest.approx(total_on_b, rel=1e-11, abs=1e-10)
    assert on(rest, "bearing of b", "ground")[0] == pytest.approx(total_on_b, rel=1e-11, abs=1e-10)
    assert on(rest, "bearing of a", "ground")[0] == pytest.approx(-total_on_b, rel=1e-11, abs=1e-10)
    assert rest.array("brake of b.effort")[-1] == pytest.approx(-side * torque * R / r, rel=1e-12)


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("add", "says"),
    [
        (lambda m, a, b: m.gear("n", a, b, ratio=-2, pressure_angle=0.3), "'n'.*needs the wheels' centres"),
        (lambda m, a, b: m.gear("n", a, b, ratio=-2, pressure_angle=20, **CENTRES), "'n'.*in radians"),
        (lambda m, a, b: m.gear("n", a, b, ratio=-2, pressure_angle=-0.1, **CENTRES), "'n'.*must not be below zero"),
        (lambda m, a, b: m.gear("n", a, b, ratio=-2, on_j=(-0.3, 0)), "'n'.*the same centre"),
        (lambda m, a, b: m.gear("n", a.angle, b, ratio=-2, **CENTRES), "'n'.*only a body or the ground"),
        (lambda m, a, b: m.gear("n", a, b, ratio=-2, radii=(1, 2)), "'n'.*either ratio= or teeth= or radii="),
        (lambda m, a, b: m.belt("n", a, b, radii=(0.1, 0.1), preload=3), "'n'.*needs the wheels' centres"),
        (lambda m, a, b: m.belt("n", a, b, radii=(0.1, 0.1), preload=-3, **CENTRES), "'n'.*must not be below zero"),
        (lambda m, a, b: m.belt("n", a, b, radii=(0.2, 0.2), crossed=True, **CENTRES), "'n'.*too near"),
        (lambda m, a, b: m.rack_and_pinion("n", a, b, radius=0.1, pressure_angle=20), "'n'.*in radians"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(add, says):
    m = kp.Mechanism("m")
    a, b = m.body("a", at=(0, 0)), m.body("b", at=(0.3, 0))
    with pytest.raises(kp.ModelError, match=says):
        add(m, a, b)


@pytest.mark.parametrize("kind", ["gear", "gear with centres", "rack"])
def test_whole_turns_of_a_driven_wheel_mean_something(kind):
    """Drawn at zero and driven from one turn on, the other wheel (the rack) has moved along."""
    m = kp.Mechanism("turns")
    a = wheel(m, "a", (0, 0))
    b = m.body("rack", at=(0, -0.1)) if kind == "rack" else wheel(m, "b", (0.3, 0))
    if kind == "rack":
        m.translational("rail", m.ground, b, axis=(1, 0))
        m.rack_and_pinion("mesh", a, b, radius=0.1)
    else:
        m.gear("mesh", a, b, ratio=-0.5, **(CENTRES if "centres" in kind else {}))
    m.driver("motor", a.angle, kp.constant_speed(1.0, start=2 * np.pi))
    pose = m.assemble()
    assert pose["a.angle"] == pytest.approx(2 * np.pi)
    moved = pose["rack.x"] / 0.1 if kind == "rack" else -pose["b.angle"] / 0.5
    assert moved == pytest.approx(2 * np.pi, rel=1e-9)
