"""Reactions and outputs of elements: Newton's laws on every part, action and reaction, and hand formulas."""

from __future__ import annotations

import importlib.util
import pickle
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import kempe as kp
from kempe import elements as el
from kempe.elements.base import Switch
from kempe.simulation.posing import Posed
from kempe.system.measures import positions
from kempe.system.replay import Replay, States
from kempe.system.wrenches import moments, second_part, touched, wrench

G = 9.81


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def vector(result: kp.Result, name: str, letters: str = "xy") -> np.ndarray:
    return np.column_stack([result.array(f"{name}.{letters[k] if len(letters) == 2 else letters + c}")
                            for k, c in enumerate("xy")])  # fmt: skip


def close(a: Any, b: Any, tolerance: float = 1e-9) -> bool:
    return bool(np.abs(np.asarray(a) - b).max() <= tolerance * max(1.0, float(np.abs(b).max())))


# --- every element -----------------------------------------------------------------------------------------------


def every_element() -> dict[str, Any]:
    path = Path(__file__).parents[1] / "elements" / "test_every_element.py"
    spec = importlib.util.spec_from_file_location("every_element", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    drawn = module.Drawing(turn=0.3, shift=(0.2, -0.4))
    return {name: (example.build, drawn, example.world) for name, example in module.EXAMPLES.items()}


EXAMPLES = every_element()


def posed(name: str) -> tuple[Any, el.Element, int, np.ndarray]:
    """An example assembled, without inertia: the model, the element, its number and the coordinates."""
    build, drawn, _ = EXAMPLES[name]
    model, element = build(drawn)
    here = Posed(model)
    pose = kp.assemble(model)
    q = np.array([pose[full[0]] for full in here.system.names])
    return model, element, here.system.elements.index(element), q


def loaded(model: Any, q: np.ndarray, rng: np.random.Generator) -> Replay:
    """Two states with the same coordinates, at rest, and multipliers drawn at random."""
    system = Posed(model).system
    q2, rest = np.tile(q, (2, 1)), np.zeros((2, system.n))
    states = States(np.zeros(2), q2, rest, rest, rng.normal(size=(2, system.m)))
    return Replay(system, model.parameter_vector(), states)


@pytest.mark.parametrize("name", EXAMPLES)
def test_wrenches_do_the_work_of_the_multipliers(name):
    """On bodies and points the wrenches are Q - Phi_q^T lambda, from code that shares only symbols with them."""
    model, element, k, q = posed(name)
    if not touched(element) or element.has_inertia:
        pytest.skip("acts on coordinates only, or has inertia")
    if any(isinstance(marker.carrier, (el.Bar, el.Solid)) for marker in touched(element).values()):
        pytest.skip("a wrench on a bar cannot be shared out between its points")
    replay = loaded(model, q, np.random.default_rng(1))
    system = replay.system
    replay.states.multipliers[:, np.setdiff1d(np.arange(system.m), system.rows_of[k])] = 0.0
    x, _ = system.inputs(replay.parameters)
    family = system.families[k]
    at = system.x_at[k] + family.at["z"]
    x[at : at + family.z.numel()] = replay._modes(k, family, system.tables_of[k])[:, 0]
    rest, residual = np.zeros(system.n), system.dynamics.residual
    system.dynamics.put_first_modes(x, q, 0.0, rest)
    expected = np.array(
        [-system.evaluate(residual, x, q, 0.0, rest, lam, rest)[: system.n] for lam in replay.states.multipliers]
    )
    assert np.abs(expected).max() > 1e-3
    for name, marker in touched(element).items():
        part: Any = marker.carrier
        if name not in system.first:
            continue
        own = slice(system.first[name], system.first[name] + len(part.channels))
        virtual = np.array(ca.evalf(part.virtual([ca.SX(c) for c in q[own]])))  # what rigid motions of it are
        where = positions(system, [part.on(), marker], replay.parameters, replay.states.q)
        force, moment = wrench(replay, k, name)
        turned = moment + (0.0 if isinstance(part, el.Point) else moments(where[:, 1] - where[:, 0], force))
        assert (
            np.abs(np.hstack([force, turned]) - expected[:, own] @ virtual)[:, np.abs(virtual).any(axis=0)].max(
                initial=0.0
            )
            < 1e-12 * np.abs(expected).max()
        )


@pytest.mark.parametrize("name", [name for name in EXAMPLES if not EXAMPLES[name][2]])
def test_action_is_reaction(name):
    """Forces on all parts, ground and fixed points included, cancel, and so do their moments about the origin."""
    model, element, k, q = posed(name)
    if not touched(element) or element.has_inertia or isinstance(element, (el.UserConstraint, el.UserForce)):
        pytest.skip("acts on coordinates only, has inertia, or may push against nothing")
    if any(isinstance(p, el.Coordinate) and p not in element.auxiliary for p in element.parts()):
        pytest.skip("acts on a coordinate of the user's too")
    if (
        isinstance(element, el.Gear)
        and element.fields["arm"].structure() is None
        and not element.fields["centres"].fields
    ):
        pytest.skip("leans on the ground without naming it")
    replay = loaded(model, q, np.random.default_rng(2))
    total, turning, largest = np.zeros((2, model.space.dim)), np.zeros((2, model.space.turns)), 0.0
    for part, marker in touched(element).items():
        force, moment = wrench(replay, k, part)
        where = positions(replay.system, [marker], replay.parameters, replay.states.q)[:, 0]
        total += force
        turning += moment + moments(where, force)
        largest = max(largest, float(np.abs(force).max()), float(np.abs(moment).max()))
    assert largest > 1e-3
    assert np.abs(total).max() < 1e-9 * largest and np.abs(turning).max() < 1e-9 * largest


# --- one body ----------------------------------------------------------------------------------------------------


def test_the_tension_of_a_pendulum():
    m = kp.Mechanism("pendulum", gravity=(0, -G))
    bob = m.point("bob", at=(1.2, 0), mass=0.7)
    m.link("rod", m.ground, bob)
    m.bar("idle", m.point("P", (3, 0), fixed="xy"), m.point("Q", (4, 0), mass=0.1))
    res = m.simulate(2.0)
    x, y = res.array("bob.x"), res.array("bob.y")
    speed2 = res.array("bob.vx") ** 2 + res.array("bob.vy") ** 2
    tension = 0.7 * (-G * y / 1.2 + speed2 / 1.2)  # m (g cos + l w^2)
    assert close(res.array("rod.force"), np.abs(tension))
    assert close(res.reaction("rod").force, -tension[:, None] * np.column_stack([x, y]) / 1.2)
    assert close(res.array("lambda.rod.length"), tension)
    on_ground = res.reaction("rod", on=m.ground)
    assert close(on_ground.force, -res.reaction("rod").force) and np.abs(on_ground.point).max() == 0.0
    fall = -np.column_stack([res.array("Q.x") - 3, res.array("Q.y")])
    pull = 0.1 * (G * fall[:, 1] + res.array("Q.vx") ** 2 + res.array("Q.vy") ** 2)  # the bar is one long
    assert close(res.reaction("idle").force, pull[:, None] * fall)
    assert close(res.reaction("idle", on="P").force, -pull[:, None] * fall)


def slider_crank(driven: bool) -> kp.Mechanism:
    m = kp.Mechanism("slider-crank", gravity=(0.3, -G))
    L = m.parameter("rod length", 0.3)
    crank = m.body("crank", mass=0.4, inertia=2e-3, at=(0.05, 0))
    rod = m.body("rod", mass=0.5 * L, inertia=0.5 * L**3 / 12, at=(0.25, 0.05), angle=-0.1)
    slider = m.body("slider", mass=0.6, inertia=1e-3, at=(0.4, 0))
    m.revolute("O", m.ground, crank, on_i=(0, 0), on_j=(-0.05, 0))
    m.revolute("A", crank, rod, on_i=(0.05, 0), on_j=(-L / 2, 0))
    m.revolute("B", slider, rod, on_i=(0.01, 0.02), on_j=(L / 2, 0))
    m.translational("guide", m.ground, slider, axis=(1, 0.1), at=(0, 0), on_j=(0.02, -0.01))
    m.spring("coil", m.ground, slider, on_i=(0.7, 0.1), on_j=(0, 0.01), stiffness=40, length=0.2, damping=0.8)
    m.torsion_spring("twist", crank, rod, stiffness=0.3, damping=0.02, torque=lambda t: 0.1 * kp.sin(7 * t))
    m.bushing("rubber", rod, slider, on_i=(0.1, 0), on_j=(0, 0), stiffness=(3, 5), damping=0.2, torsion=0.2)
    m.force("push", rod, (0.2, lambda t: 0.5 * t), on=(0.02, 0.01), frame="body")
    if driven:
        m.driver("motor", crank.angle, kp.harmonic(0.8, 5.0))
    else:
        m.torque("twisting", crank, 0.4)
    return m


@pytest.fixture(scope="module")
def moving() -> kp.Result:
    return slider_crank(False).simulate(1.5, parameters={"rod length": 0.35})


@pytest.fixture(scope="module")
def driven() -> kp.Result:
    return slider_crank(True).simulate(1.5)


@pytest.mark.parametrize("which", ["moving", "driven"])
def test_forces_on_each_body_are_its_mass_times_its_acceleration(which, request):
    res = request.getfixturevalue(which)
    length = res.provenance["parameters"]["rod length"]
    masses = {"crank": (0.4, 2e-3), "rod": (0.5 * length, 0.5 * length**3 / 12), "slider": (0.6, 1e-3)}
    for body, (mass, inertia) in masses.items():
        force, moment = np.tile([0.3 * mass, -G * mass], (len(res), 1)), np.zeros(len(res))
        for name, element in res.model.elements.items():
            if body in touched(element) and not element.has_inertia:
                load = res.reaction(name, on=body)
                force = force + load.force
                moment = moment + load.moment + cross(load.point - vector(res, body), load.force)
        assert close(force, mass * vector(res, body, "a"))
        assert close(moment, inertia * res.array(f"{body}.alpha"))


@pytest.mark.parametrize("which", ["moving", "driven"])
def test_each_joint_of_a_mechanism_pushes_back(which, request):
    res = request.getfixturevalue(which)
    for name in ("O", "A", "B", "guide", "coil", "twist", "rubber"):
        first, second = (res.reaction(name, on=part) for part in touched(res.model.elements[name]))
        assert close(first.force, -second.force)
        turned = first.moment + second.moment + cross(second.point - first.point, second.force)
        assert np.abs(turned).max() < 1e-9


def test_named_histories_are_the_reactions_on_the_second_part(moving):
    assert {"B.force", "B.force.x", "B.force.y", "B.moment", "guide.moment"} <= set(moving.names)
    for name, part in (("O", "crank"), ("A", "rod"), ("B", "rod"), ("guide", "slider")):
        load = moving.reaction(name)
        assert load.on == part
        assert np.array_equal(moving.array(f"{name}.force"), load.magnitude)
        assert np.array_equal(moving.array(f"{name}.force.x"), load.x)
        assert np.array_equal(moving.array(f"{name}.force.y"), load.y)
        assert np.array_equal(moving.array(f"{name}.moment"), load.moment)
    assert np.abs(moving.array("A.moment")).max() == 0.0 < np.abs(moving.array("guide.moment")).max()
    assert moving["B.force"].dims == ("t",)


def test_forces_in_the_axes_of_the_part(moving):
    here, there = moving.reaction("A"), moving.reaction("A", axes="body")
    angle = moving.array("rod.angle")
    along = here.x * np.cos(angle) + here.y * np.sin(angle)
    assert close(there.x, along, 1e-12) and close(there.magnitude, here.magnitude, 1e-12)
    across = moving.reaction("guide", on="ground", axes="body")
    assert close(across.force, moving.reaction("guide", on="ground").force, 1e-14)


def test_a_driver_supplies_what_the_mechanism_gains(driven):
    """Torque times speed of the motor is the rate of all energies, from accelerations and forces by hand."""
    res, length = driven, 0.3
    masses = {"crank": (0.4, 2e-3), "rod": (0.5 * length, 0.5 * length**3 / 12), "slider": (0.6, 1e-3)}
    power = np.zeros(len(res))
    for body, (mass, inertia) in masses.items():
        lifted = mass * (vector(res, body, "a") - [0.3, -G])
        power += (lifted * vector(res, body, "v")).sum(axis=1)
        power += inertia * res.array(f"{body}.alpha") * res.array(f"{body}.omega")
        for name in ("coil", "twist", "rubber", "push"):
            if body in touched(res.model.elements[name]):
                load = res.reaction(name, on=body)
                omega = res.array(f"{body}.omega")
                arm = load.point - vector(res, body)
                speed = vector(res, body, "v") + omega[:, None] * np.column_stack([-arm[:, 1], arm[:, 0]])
                power -= (load.force * speed).sum(axis=1) + load.moment * omega
    assert close(res.array("motor.effort") * res.array("crank.omega"), power)
    assert close(res.reaction("motor").moment, res.array("motor.effort"), 1e-15)
    assert np.array_equal(res.array("motor.effort"), -res.array("lambda.motor.motion"))


def test_springs_and_bushings_show_their_forces(moving):
    res = moving
    coil = res.model["coil"]
    length = res.measure(coil.distance)
    assert close(res.array("coil.length"), length.x, 1e-14) and close(res.array("coil.rate"), length.velocity[:, 0])
    tension = 40 * (length.x - 0.2) + 0.8 * length.velocity[:, 0]
    assert close(res.array("coil.force"), tension, 1e-12)
    load = res.reaction("coil")
    pulled = np.array([0.7, 0.1]) - load.point
    assert close(load.force, tension[:, None] * pulled / length.position, 1e-12) and np.abs(load.moment).max() < 1e-14
    turned = res.array("rod.angle") - res.array("crank.angle")
    rate = res.array("rod.omega") - res.array("crank.omega")
    drawn = -0.1
    torque = 0.3 * (turned - drawn) + 0.02 * rate + 0.1 * np.sin(7 * res.t)
    assert close(res.array("twist.angle"), turned, 1e-14) and close(res.array("twist.rate"), rate, 1e-14)
    assert close(res.array("twist.torque"), torque, 1e-12) and close(res.reaction("twist").moment, -torque, 1e-12)
    rubber = res.reaction("rubber")
    assert close(rubber.x, res.array("rubber.force.x"), 1e-12) and close(rubber.y, res.array("rubber.force.y"), 1e-12)
    assert close(rubber.moment, res.array("rubber.torque"), 1e-12)
    assert close(rubber.magnitude, res.array("rubber.force"), 1e-12)


def test_a_tabulated_spring_shows_the_tension_of_its_table():
    m = kp.Mechanism("table", gravity=(0, -G))
    ball = m.point("ball", at=(0, -1.1), mass=0.3)
    data = np.array([-0.6, -0.1, 0.3, 1.0]), np.array([-9.0, -1.0, 4.0, 30.0])
    m.spring("S", m.ground, ball, length=1.0, law=kp.spline(*data))
    res = m.simulate(1.0, velocities={"ball.vx": 0.4})
    from scipy.interpolate import CubicSpline

    length = np.hypot(res.array("ball.x"), res.array("ball.y"))
    assert close(res.array("S.force"), CubicSpline(*data)(length - 1.0), 1e-12)
    assert close(res.reaction("S").force, 0.3 * (vector(res, "ball", "a") - [0, -G]))


# --- bars and points ---------------------------------------------------------------------------------------------


def four_bar_of_bars() -> kp.Mechanism:
    m = kp.Mechanism("bars", gravity=(0, -G))
    O, C = m.point("O", (0, 0), fixed="xy"), m.point("C", (2.2, 0.1), fixed="xy")
    A, B = m.point("A", (0.3, 0.95)), m.point("B", (2.0, 1.6))
    first = m.bar("crank", O, A, length=1.0, mass=0.8)
    coupler = m.bar("coupler", A, B, length=1.8, mass=1.1)
    m.bar("rocker", C, B, length=1.5, mass=0.9)
    m.torsion_spring("twist", first, coupler, stiffness=2.0, angle=-0.5)
    return m


def four_bar_of_bodies() -> kp.Mechanism:
    pose = four_bar_of_bars().assemble()
    at = {"O": (0.0, 0.0), "C": (2.2, 0.1), **{p: (pose[f"{p}.x"], pose[f"{p}.y"]) for p in "AB"}}
    m = kp.Mechanism("bodies", gravity=(0, -G))
    made = {}
    for name, first, second, length, mass in (
        ("crank", "O", "A", 1.0, 0.8), ("coupler", "A", "B", 1.8, 1.1), ("rocker", "C", "B", 1.5, 0.9),
    ):  # fmt: skip
        (x, y), (u, v) = at[first], at[second]
        centre, angle = ((x + u) / 2, (y + v) / 2), float(np.arctan2(v - y, u - x))
        made[name] = m.body(name, mass=mass, inertia=mass * length**2 / 12, at=centre, angle=angle)
    m.revolute("O", m.ground, made["crank"], on_i=at["O"], on_j=(-0.5, 0))
    m.revolute("A", made["crank"], made["coupler"], on_i=(0.5, 0), on_j=(-0.9, 0))
    m.revolute("B", made["rocker"], made["coupler"], on_i=(0.75, 0), on_j=(0.9, 0))
    m.revolute("C", m.ground, made["rocker"], on_i=at["C"], on_j=(-0.75, 0))
    m.torsion_spring("twist", made["crank"], made["coupler"], stiffness=2.0, angle=-0.5)
    return m


def test_heavy_bars_and_bodies_have_the_same_pin_forces():
    """Two descriptions without a common equation: natural coordinates, and bodies with joints."""
    bars, bodies = (m.simulate(1.2, tolerance=1e-12) for m in (four_bar_of_bars(), four_bar_of_bodies()))
    assert close(bars.array("B.x"), bodies.point("rocker", (0.75, 0)).x, 1e-8)
    # the force of the crank on the pin O (with what the spring puts into the bar) is that on the ground
    for pin, bar in (("O", "crank"), ("C", "rocker")):
        load = bars.reaction(bar, on=pin)
        fixed = bodies.reaction(pin, on="ground")
        spring = bars.reaction("twist", on="crank").moment if bar == "crank" else np.zeros(len(bars))
        arm = vector(bars, "A") if bar == "crank" else np.ones((len(bars), 2))
        # a couple on a bar in natural coordinates is a pair of forces at its ends
        couple = (-spring / (arm**2).sum(axis=1))[:, None] * np.column_stack([-arm[:, 1], arm[:, 0]])
        assert close(load.force + couple, fixed.force, 1e-7)
    at_B = [bars.reaction(bar, on="B").force for bar in ("coupler", "rocker")]
    assert np.abs(bodies.array("B.force")).max() > 1.0
    twist = bars.reaction("twist", on="coupler").moment
    d = vector(bars, "B") - vector(bars, "A")
    pair = (twist / 1.8**2)[:, None] * np.column_stack([-d[:, 1], d[:, 0]])
    assert close(at_B[0] + at_B[1] + pair, 0.0 * at_B[0], 1e-9)
    assert close(at_B[1], bodies.reaction("B").force, 1e-7)


def test_a_torsion_spring_between_bars_that_share_a_pin():
    res = four_bar_of_bars().simulate(0.5)
    on_crank, on_coupler = res.reaction("twist", on="crank"), res.reaction("twist")
    assert on_coupler.on == "coupler" and np.abs(res.array("twist.torque")).max() > 0.1
    assert close(on_coupler.moment, -res.array("twist.torque"), 1e-12)
    assert close(on_crank.moment, res.array("twist.torque"), 1e-12)
    assert np.abs(on_crank.force).max() < 1e-12


def test_a_pin_on_a_fixed_point_and_a_guided_point():
    m = kp.Mechanism("mixed", gravity=(0, -G))
    P = m.point("P", (0.1, 0.2), fixed="xy")
    S = m.point("S", (1.1, 0.2), fixed="y", mass=0.5)
    body = m.body("body", mass=1.0, inertia=0.1, at=(0.6, 0.2))
    m.revolute("nail", body, P, on_i=(-0.5, 0))
    m.spring("band", body, S, on_i=(0.5, 0), stiffness=60, length=0.0)
    m.driver("pull", S.x, kp.harmonic(0.2, 4.0))
    res = m.simulate(1.0)
    on_body = res.reaction("nail")
    assert on_body.on == "body"  # the only one that moves
    assert close(res.reaction("nail", on=P).force, -on_body.force, 1e-14)
    lifted = vector(res, "body", "a") - [0, -G]
    assert close(on_body.force + res.reaction("band", on="body").force, lifted)
    on_point = res.reaction("band", on="S")
    assert close(on_point.y, 60 * (res.point("body", (0.5, 0)).y - 0.2), 1e-12)  # along the fixed coordinate too
    assert close(res.array("pull.effort"), 0.5 * res.array("S.ax") - on_point.x)
    assert "nail.moment" in res.names and close(res.reaction("pull").x, res.array("pull.effort"), 1e-15)


def test_a_led_point_feels_two_efforts():
    m = kp.Mechanism("led", gravity=(0, -G))
    body = m.body("body", mass=2.0, inertia=0.3)
    m.point_driver("lead", body.on((0, 0)), lambda t: kp.sin(t), lambda t: t**2)
    res = m.simulate(1.0)
    assert close(res.array("lead.effort.x"), -2.0 * np.sin(res.t)) and close(res.array("lead.effort.y"), 2 * (2 + G))
    assert "lead.effort" not in res.names and "lead.force" not in res.names


# --- equations of one's own --------------------------------------------------------------------------------------


def test_a_pin_of_ones_own_carries_what_a_pin_carries():
    def pendulum(own: bool) -> kp.Result:
        m = kp.Mechanism("pendulum", gravity=(0, -G))
        hook = m.body("hook", mass=1.0, inertia=0.2, at=(0.0, 0.5))
        m.translational("rail", m.ground, hook, axis=(1, 0))
        bob = m.body("bob", mass=0.7, inertia=0.1, at=(0.6, 0.3), angle=0.2)
        if own:
            m.constraint("J", lambda i, j: i.r - j.r, hook.on((0.1, -0.2)), bob.on((-0.5, 0)), rows=["x", "y"])
        else:
            m.revolute("J", hook, bob, on_i=(0.1, -0.2), on_j=(-0.5, 0))
        m.user_force("wind", lambda p, t: (1.0 - p.vx, kp.sin(t)), bob.on((0.1, 0.2)))
        return m.simulate(1.0)

    one, two = pendulum(True), pendulum(False)
    assert {"J.force", "J.moment"} <= set(one.names)
    for part in ("hook", "bob"):
        a, b = one.reaction("J", on=part), two.reaction("J", on=part)
        assert close(a.force, b.force) and close(a.point, b.point) and np.abs(a.moment).max() < 1e-9
    blown = one.reaction("wind")
    speed = one.point("bob", (0.1, 0.2)).velocity
    assert close(blown.force, np.column_stack([1.0 - speed[:, 0], np.sin(one.t)]), 1e-12)
    assert np.abs(blown.moment).max() < 1e-12


def test_a_bead_on_a_wire_of_ones_own():
    m = kp.Mechanism("bead", gravity=(0, -G))
    bead = m.point("bead", at=(1.0, 1.0), mass=0.4)
    m.constraint("wire", lambda p: p.r[1] - p.r[0] ** 2, bead)
    res = m.simulate(1.0)
    load = res.reaction("wire")
    assert close(load.force, 0.4 * (vector(res, "bead", "a") - [0, -G]))
    assert np.abs(load.moment).max() == 0.0 and "wire.moment" not in res.names
    normal = np.column_stack([-2 * res.array("bead.x"), np.ones(len(res))])
    assert np.abs(cross(load.force, normal)).max() < 1e-12


# --- what switches -----------------------------------------------------------------------------------------------


def bouncing(damping: float) -> kp.Result:
    m = kp.Mechanism("drop", gravity=(0, -G))
    ball = m.body("ball", mass=0.5, inertia=0.01, at=(0, 0.4))
    m.bump_stop("floor", ball.y, 0.0, 2000, damping=damping, exponent=1.5)
    return m.simulate(1.5, steps=3000)


@pytest.mark.parametrize("damping", [0.0, 5.0])
def test_a_stop_pushes_and_never_pulls(damping):
    res = bouncing(damping)
    push, depth = res.array("floor.force"), res.array("floor.penetration")
    assert {e.mode for e in res.events} >= ({"contact", "released"} if damping else {"contact", "free"})
    assert (push >= 0).all() and (push[depth == 0] == 0).all() and push.max() > 10
    assert np.array_equal(depth, np.fmax(-res.array("ball.y"), 0.0))
    assert close(push, 0.5 * (res.array("ball.ay") + G))
    assert close(res.reaction("floor").y, push, 1e-12)  # which knows the modes from the events


class Softening(el.Element):
    """A contact with the force k d (1 + d'/v_0), v_0 being the speed of approach, latched at the touch."""

    modes = ("free", "contact")
    latches = ("approach",)

    def __init__(self, name: str, body: Any, stiffness: float) -> None:
        super().__init__(name, body=body, stiffness=stiffness)

    def force(self, x: Any) -> Any:
        depth = -x.body.y
        push = x.stiffness * depth * (1 + 0.5 * x.d(depth) / x.kept["approach"])
        return x.push(x.body.y, x.mode("contact", push))

    def switches(self, x: Any) -> list[Switch]:
        return [
            Switch("free", x.body.y, "contact", {"approach": -x.d(x.body.y)}),
            Switch("contact", -x.body.y, "free"),
        ]


def test_latched_values_are_known_afterwards(tmp_path):
    m = kp.Mechanism("latched", gravity=(0, -G))
    ball = m.body("ball", mass=0.5, inertia=0.01, at=(0, 0.4))
    m.add(Softening("floor", ball, 3000.0))
    res = m.simulate(2.0, steps=2000)
    assert sum(e.mode == "contact" for e in res.events) >= 3
    load = res.reaction("floor")
    assert load.y.max() > 10 and close(load.y, 0.5 * (res.array("ball.ay") + G), 1e-8)
    again = kp.Result.load(res.save(tmp_path / "r.nc"))
    assert again.model is None  # the contact is an object of its own
    assert [(e.t, e.element, e.mode) for e in again.events] == [(e.t, e.element, e.mode) for e in res.events]
    again.model = m
    assert np.array_equal(again.reaction("floor").force, load.force)


# --- files, names, refusals --------------------------------------------------------------------------------------


def test_a_file_keeps_what_reactions_need(moving, tmp_path):
    again = kp.Result.load(moving.save(tmp_path / "r.nc"))
    assert again.names == moving.names and list(again.series) == list(moving.series)
    for name in moving.names:
        assert np.array_equal(again.array(name), moving.array(name)), name
    one, two = (r.reaction("guide", on="ground", axes="body") for r in (moving, again))
    assert np.array_equal(one.force, two.force) and np.array_equal(one.moment, two.moment)
    assert again.stats == moving.stats and again.initial.moved == moving.initial.moved
    assert str(again.initial) == str(moving.initial) and "moved to assemble" in str(again.initial)


def test_a_file_without_its_model_keeps_the_histories(tmp_path):
    class Pin(el.Revolute):  # a class that no other program can import
        pass

    m = kp.Mechanism("own", gravity=(0, -G))
    body = m.body("bob", mass=1.0, inertia=0.1, at=(1, 0))
    m.add(Pin("pin", m.ground, body, at=(0, 0)))
    res = m.simulate(1.0)
    again = kp.Result.load(res.save(tmp_path / "r.nc"))
    assert again.model is None and set(again.names) == set(res.names)
    assert np.array_equal(again.array("pin.force"), res.array("pin.force"))
    assert np.array_equal(again.energy.total, res.energy.total)
    with pytest.raises(kp.ModelError, match="does not know its model"):
        again.reaction("pin")


def test_a_file_of_many_histories_is_written_as_one_table(tmp_path):
    import xarray

    m = kp.Mechanism("chain", gravity=(0, -G))
    last = m.ground
    for k in range(20):
        body = m.body(f"b{k}", mass=1.0, inertia=0.1, at=(k + 0.5, 0))
        m.revolute(f"J{k}", last, body, at=(k, 0))
        last = body
    res = m.simulate(0.1, steps=5)
    path = res.save(tmp_path / "r.nc")
    again = kp.Result.load(path)
    assert again.names == res.names and np.array_equal(again.q, res.q) and np.array_equal(again.a, res.a)
    assert all(np.array_equal(again.array(name), res.array(name)) for name in res.names)
    with xarray.open_dataset(path, engine="h5netcdf") as dataset:
        assert np.array_equal(dataset["histories"].sel(name="J3.force").values, res.array("J3.force"))


def test_a_table_has_the_loads(moving, tmp_path):
    import csv

    path = moving.to_csv(tmp_path / "r.csv", ["B.force", "coil.length", "energy.total"])
    with path.open() as file:
        rows = list(csv.DictReader(file))
    assert [float(r["B.force"]) for r in rows] == moving.array("B.force").tolist()
    whole = moving.to_csv(tmp_path / "all.csv").read_text().splitlines()[0]
    assert whole.split(",") == ["t", *moving.names]


def test_a_driven_motion_shows_outputs_but_no_reactions():
    m = slider_crank(True)
    res = m.kinematics(1.0)
    length = res.measure(m["coil"].distance).x
    assert close(res.array("coil.length"), length, 1e-14) and "coil.force" in res.names
    assert not {"B.force", "motor.effort", "energy.total"} & set(res.names)
    with pytest.raises(kp.ModelError, match="simulate and inverse_dynamics find"):
        res.reaction("B")
    assert res.reaction("coil").magnitude.max() > 0
    with pytest.raises(kp.ModelError, match="no energies"):
        res.energy


def test_mistakes_are_explained(moving):
    with pytest.raises(kp.ModelError, match="no joint, force or driver 'guid' in 'slider-crank'; there is 'guide'"):
        moving.reaction("guid")
    with pytest.raises(kp.ModelError, match="'A' does not act on 'slider'; there is 'crank', 'rod'"):
        moving.reaction("A", on="slider")
    with pytest.raises(kp.ModelError, match="axes must be"):
        moving.reaction("A", axes="local")
    with pytest.raises(kp.ModelError, match=r"no quantity 'B\.froce'.*did you mean 'B\.force"):
        moving.array("B.froce")
    m = kp.Mechanism("dot", gravity=(0, -G))
    dot = m.point("dot", at=(1, 0), mass=1.0)
    m.link("rod", m.ground, dot)
    m.coordinate("s")
    m.coordinate("u")
    m.coupler("tie", [(1.0, m["s"]), (1.0, m["u"])])
    m.driver("held", m["s"], 1.0)
    res = m.simulate(0.1)
    with pytest.raises(kp.ModelError, match="'dot' is a point and has no axes"):
        res.reaction("rod", axes="body")
    with pytest.raises(kp.ModelError, match="coupler 'tie' acts on no body"):
        res.reaction("tie")
    assert "force up to" in repr(res.reaction("rod")) and "on 'dot'" in repr(res.reaction("rod"))


def test_a_result_answers_for_the_model_it_was_computed_with(tmp_path):
    m = kp.Mechanism("m", gravity=(0, -G))
    bob = m.body("bob", mass=1.0, inertia=0.1, at=(1, 0))
    m.revolute("pin", m.ground, bob, at=(0, 0))
    res = m.simulate(0.2)
    before = res.array("pin.force").copy()
    m.spring("S", m.ground, bob, on_i=(1, 1), stiffness=1.0)
    m.gravity, more = (0, -1.0), m.parameter("more", 2.0)
    m.body("other", mass=more, inertia=1.0)
    for same in (res, kp.Result.load(res.save(tmp_path / "r.nc")), pickle.loads(pickle.dumps(res))):
        assert np.array_equal(same.array("pin.force"), before) and "S.length" not in same.names
    assert np.array_equal(np.hypot(*res.reaction("pin").force.T), before)
    assert np.allclose(res.point("bob").x, res.array("bob.x"))


def test_the_second_part_is_the_one_that_is_meant():
    expected = {
        "revolute": "b", "revolute_on_the_ground": "a", "revolute_of_bar_and_body": "body", "gear": "b",
        "rack_and_pinion": "b", "rack_and_pinion_on_a_carriage": "b", "cam_roller": "b", "cam_flat": "b",
        "link_of_a_point": "a", "bar": "A", "weld_of_two_bars": "BC", "planetary_gear": "b",
    }  # fmt: skip
    for name, part in expected.items():
        build, drawn, _ = EXAMPLES[name]
        kept = build(drawn)
        marker = second_part(kept[1])
        assert marker is not None and marker.name == part, name


def test_loads_of_equations_are_their_multipliers():
    system = kp.Equations(
        "pendulum", {"x": 1.0, "y": 0.0}, parameters={"m": 2.0},
        constraints=lambda q, t, p: {"rod": (q.x**2 + q.y**2 - 1) / 2},
        mass=lambda q, p: [[p.m, 0], [0, p.m]], force=lambda q, v, t, p: [0, -p.m * G],
    )  # fmt: skip
    res = system.simulate(1.0)
    tension = 2.0 * (res.array("x.v") ** 2 + res.array("y.v") ** 2 - G * res.array("y"))
    assert close(res.array("lambda.rod"), tension)
    assert not [name for name in res.names if name.endswith(".force")]


def test_tables_are_read_as_the_engine_reads_them():
    """A cam on a closed spline, turned past its end: the played-back force is that of the simulation."""
    m = kp.Mechanism("cam", gravity=(0, -G))
    cam = m.body("cam", mass=1.0, inertia=0.1)
    follower = m.body("follower", mass=0.4, inertia=0.1, at=(0, 0.65))
    m.revolute("O", m.ground, cam, at=(0, 0))
    m.translational("guide", m.ground, follower, axis=(0, 1))
    ring = [(0.5, 0.0), (0.0, 0.55), (-0.45, 0.0), (0.0, -0.5)]
    m.cam_roller("roll", cam, follower, profile=kp.curve_through(ring, closed=True), radius=0.1)
    m.driver("motor", cam.angle, kp.spline([0, 1, 2, 3], [0.0, 3.0, 5.0, 9.0]))
    res = m.simulate(3.0, steps=300)
    force = res.reaction("roll").force + res.reaction("guide").force
    assert close(force, 0.4 * (vector(res, "follower", "a") - [0, -G]))
    on_cam = res.reaction("roll", on="cam")
    about = on_cam.moment + cross(on_cam.point, on_cam.force)
    effort = 0.1 * res.array("cam.alpha") - about
    assert close(res.array("motor.effort"), effort)
